/* tu.c: graph sets in the form of the TU Dortmund collection.
 *
 * A directory with DS_A.txt (one edge "a, b" per line, nodes from 1 through all graphs),
 * DS_graph_indicator.txt (one line per node: its graph, from 1, rising) and DS_graph_labels.txt
 * (one line per graph); DS_node_labels.txt and DS_edge_labels.txt (integers) where there are any.
 * DS is any prefix; each file may be gzip with the extension .gz. Edges are undirected: most data
 * sets list both directions, some repeat each. If an edge has several labels, the first counts.
 * Without graph labels DS_graph_attributes.txt, if it has one column, gives real targets. Other
 * attribute files are not used, which is logged. The field is called "graph".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/tu.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/system.h"
#include "data/format/collect.h"

typedef struct reader {
    mcr *ctx;
    mcr_store *store;
    int64_t start_capacity;
    int32_t *graph_of; /* a node's graph, from 0 */
    int64_t nodes, node_capacity;
    int32_t (*edge)[2]; /* global node numbers from 0, in file order; later local ones by graph */
    int32_t *edge_label;
    int64_t edges, edge_capacity;
    int64_t *edge_start;
    int32_t *label;  /* of the next line of a file of labels */
    bool attributes; /* targets are numbers */
    mcr_labels *labels;
} reader;

/* ---- lines ---------------------------------------------------------------------------------- */

/* The next line without blanks at its ends; *p = NULL at the end. Blank lines are only allowed at
 * the end, because the files are matched line by line. */
static mcr_status next_line(mcr_input *in, const char **p, const char **end)
{
    int64_t blank = 0;
    for (;;) {
        size_t length;
        mcr_status status = mcr_input_line(in, p, &length);
        if (status != MCR_OK || !*p)
            return status;
        *end = *p + length;
        while (*p < *end && mcr_is_blank(**p))
            ++*p;
        while (*p < *end && mcr_is_blank((*end)[-1]))
            --*end;
        if (*p < *end && blank)
            return mcr_input_fail(in, "line %lld before it is blank", (long long)blank);
        if (*p < *end)
            return MCR_OK;
        if (!blank)
            blank = mcr_input_line_number(in);
    }
}

/* An integer at p, then blanks; NULL: none. */
static const char *parse_int(const char *p, const char *end, int64_t *value)
{
    p = mcr_parse_int(p, end, value);
    while (p && p < end && mcr_is_blank(*p))
        p++;
    return p;
}

/* Takes every line of a file; if count >= 0, exactly so many `what`, one for each of `of`. */
static mcr_status
each_line(reader *r, mcr_input *in, int64_t count, const char *what, const char *of,
          mcr_status (*take)(reader *r, mcr_input *in, const char *p, const char *end))
{
    for (int64_t i = 0;; i++) {
        const char *p, *end;
        mcr_status status = next_line(in, &p, &end);
        if (status != MCR_OK)
            return status;
        if (!p && i < count)
            return mcr_input_fail(in, "%lld %s for %lld %s", (long long)i, what, (long long)count,
                                  of);
        if (!p)
            return MCR_OK;
        if (i == count)
            return mcr_input_fail(in, "more %s than the %lld %s", what, (long long)count, of);
        status = take(r, in, p, end);
        if (status != MCR_OK)
            return status;
    }
}

static mcr_status take_label(reader *r, mcr_input *in, const char *p, const char *end)
{
    int64_t value;
    const char *stop = parse_int(p, end, &value);
    if (stop && stop < end && *stop == ',')
        return mcr_input_fail(in, "several labels in a line; one is supported");
    if (stop != end)
        return mcr_input_fail(in, "\"%.*s\" is not an integer label", (int)(end - p), p);
    if (value < INT32_MIN || value > INT32_MAX)
        return mcr_input_fail(in, "the label %lld does not fit 32 bits", (long long)value);
    *r->label++ = (int32_t)value;
    return MCR_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

static mcr_status add_node(reader *r, mcr_input *in, const char *p, const char *end)
{
    mcr_store *s = r->store;
    int64_t graph;
    if (parse_int(p, end, &graph) != end)
        return mcr_input_fail(in, "\"%.*s\" is not a graph number", (int)(end - p), p);
    if (graph < s->count || graph < 1)
        return mcr_input_fail(in, "graph %lld after graph %lld: the numbers must ascend from 1",
                              (long long)graph, (long long)s->count);
    if (graph > s->count + 1)
        return mcr_input_fail(in, "graph %lld has no nodes: the numbers jump from %lld to %lld",
                              (long long)s->count + 1, (long long)s->count, (long long)graph);
    if (r->nodes == INT32_MAX)
        return mcr_input_fail(in, "more than 2147483647 nodes");
    mcr_status status = mcr_reserve(r->ctx, &s->start, &r->start_capacity, graph + 1,
                                    sizeof *s->start);
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &r->graph_of, &r->node_capacity, r->nodes + 1,
                             sizeof *r->graph_of);
    if (status != MCR_OK)
        return status;
    s->count = graph;
    r->graph_of[r->nodes++] = (int32_t)(graph - 1);
    s->start[0] = 0;
    s->start[graph] = r->nodes;
    return MCR_OK;
}

static mcr_status add_edge(reader *r, mcr_input *in, const char *p, const char *end)
{
    int64_t node[2] = {0, 0};
    const char *stop = parse_int(p, end, &node[0]);
    if (stop && stop < end && *stop == ',')
        stop++;
    while (stop && stop < end && mcr_is_blank(*stop))
        stop++;
    stop = stop ? parse_int(stop, end, &node[1]) : NULL;
    if (stop != end)
        return mcr_input_fail(in, "\"%.*s\" is not an edge: two node numbers with a comma",
                              (int)(end - p), p);
    for (int i = 0; i < 2; i++)
        if (node[i] < 1 || node[i] > r->nodes)
            return mcr_input_fail(in, "node %lld is out of range: there are nodes 1 to %lld",
                                  (long long)node[i], (long long)r->nodes);
    int32_t graph[2] = {r->graph_of[node[0] - 1], r->graph_of[node[1] - 1]};
    if (graph[0] != graph[1])
        return mcr_input_fail(in, "an edge joins node %lld of graph %d and node %lld of graph %d",
                              (long long)node[0], graph[0] + 1, (long long)node[1], graph[1] + 1);
    mcr_status status = mcr_reserve(r->ctx, &r->edge, &r->edge_capacity, r->edges + 1,
                                    sizeof *r->edge);
    if (status != MCR_OK)
        return status;
    r->edge[r->edges][0] = (int32_t)(node[0] - 1);
    r->edge[r->edges][1] = (int32_t)(node[1] - 1);
    r->edges++;
    return MCR_OK;
}

/* One integer per line, for each of `count`. */
static mcr_status read_labels(reader *r, mcr_input *in, int64_t count, const char *of,
                              int32_t **out)
{
    *out = r->label = mcr_alloc(r->ctx, (size_t)count, sizeof **out);
    return *out ? each_line(r, in, count, "labels", of, take_label) : MCR_NO_MEMORY;
}

/* Targets: labels as written, or attributes, which must be single numbers. */
static mcr_status add_target(reader *r, mcr_input *in, const char *p, const char *end)
{
    double value;
    if (memchr(p, ',', (size_t)(end - p)))
        return mcr_input_fail(in, "several targets in a line; one is supported");
    if (r->attributes && mcr_parse_real(p, end, &value) != end)
        return mcr_input_fail(in, "\"%.*s\" is not a number", (int)(end - p), p);
    return mcr_label_take(r->labels, in, p, (size_t)(end - p));
}

/* ---- the set -------------------------------------------------------------------------------- */

/* Sorts the edges by graph, in file order within each (counting sort: the order decides which of
 * two labels counts), and converts their node numbers to local ones. */
static mcr_status sort_edges(reader *r)
{
    mcr *ctx = r->ctx;
    int64_t graphs = r->store->count;
    size_t capacity = (size_t)r->edges;
    r->edge_start = mcr_alloc_zero(ctx, (size_t)graphs + 2, sizeof *r->edge_start);
    int32_t(*edge)[2] = mcr_alloc(ctx, capacity, sizeof *edge);
    int32_t *label = r->edge_label ? mcr_alloc(ctx, capacity, sizeof *label) : NULL;
    if (!r->edge_start || !edge || (r->edge_label && !label)) {
        mcr_free_all(ctx, edge, label);
        return MCR_NO_MEMORY;
    }
    /* next[g] = edge_start[g + 1] is the index of graph g's next edge, in the end its end. */
    int64_t *next = r->edge_start + 1;
    for (int64_t e = 0; e < r->edges; e++)
        next[r->graph_of[r->edge[e][0]] + 1]++;
    for (int64_t g = 0; g < graphs; g++)
        next[g + 1] += next[g];
    for (int64_t e = 0; e < r->edges; e++) {
        int64_t g = r->graph_of[r->edge[e][0]], first = r->store->start[g], to = next[g]++;
        edge[to][0] = (int32_t)(r->edge[e][0] - first);
        edge[to][1] = (int32_t)(r->edge[e][1] - first);
        if (label)
            label[to] = r->edge_label[e];
    }
    mcr_free_all(ctx, r->edge, r->edge_label);
    r->edge = edge;
    r->edge_label = label;
    return MCR_OK;
}

static mcr_status read_parts(reader *r, const mcr_tu_parts *parts)
{
    mcr_status status = mcr_store_new(&r->store, r->ctx, "graph", MCR_GRAPHS);
    if (status == MCR_OK)
        status = each_line(r, parts->indicator, -1, "", "", add_node);
    if (status == MCR_OK && r->nodes == 0)
        status = mcr_input_fail(parts->indicator, "no graphs: the file is empty");
    if (status == MCR_OK)
        status = each_line(r, parts->edges, -1, "", "", add_edge);
    if (status == MCR_OK && parts->node_labels)
        status = read_labels(r, parts->node_labels, r->nodes, "nodes", &r->store->node_label);
    if (status == MCR_OK && parts->edge_labels)
        status = read_labels(r, parts->edge_labels, r->edges, "edges", &r->edge_label);
    mcr_input *targets = parts->graph_labels ? parts->graph_labels : parts->graph_targets;
    if (status == MCR_OK && targets)
        status = mcr_labels_open(&r->labels, r->ctx);
    r->attributes = !parts->graph_labels;
    if (status == MCR_OK && targets)
        status = each_line(r, targets, r->store->count, "lines", "graphs", add_target);
    return status;
}

mcr_status mcr_tu_read(mcr_builder *builder, mcr *ctx, const mcr_tu_parts *parts)
{
    reader r = {.ctx = ctx};
    mcr_status status = read_parts(&r, parts);
    if (status == MCR_OK)
        status = sort_edges(&r);
    if (status == MCR_OK)
        status = mcr_store_link(r.store, r.edge_start, (const int32_t(*)[2])r.edge, r.edge_label);
    if (status == MCR_OK)
        status = mcr_store_check(r.store);
    status = mcr_builder_give(builder, r.store, r.labels, status);
    mcr_free_all(ctx, r.graph_of, r.edge, r.edge_label, r.edge_start);
    return status;
}

/* ---- the directory -------------------------------------------------------------------------- */

/* Length of DS if the file is named DS_A.txt or DS_A.txt.gz, else 0. */
static size_t prefix_length(const char *file)
{
    static const char *const ends[] = {"_A.txt", "_A.txt.gz"};
    size_t length = strlen(file);
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(ends[i]);
        if (length > n && strcmp(file + length - n, ends[i]) == 0)
            return length - n;
    }
    return 0;
}

/* The set's prefix, "PATH/DS". */
static mcr_status find_prefix(mcr_text *prefix, mcr *ctx, const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        char capacity[128];
        return mcr_fail_at(ctx, MCR_IO, path, 0, "cannot be opened: %s",
                           mcr_system_error(errno, capacity, sizeof capacity));
    }
    mcr_status status = MCR_OK;
    struct dirent *entry;
    size_t base = 0;
    while (status == MCR_OK && (entry = readdir(dir))) {
        size_t n = prefix_length(entry->d_name);
        if (n == 0)
            continue;
        if (prefix->length > 0 && ((size_t)prefix->length != base + n ||
                                   memcmp(prefix->bytes + base, entry->d_name, n) != 0)) {
            status = mcr_fail_at(ctx, MCR_BAD_DATA, path, 0,
                                 "two graph sets in one directory: \"%s\" and \"%.*s\"",
                                 prefix->bytes + base, (int)n, entry->d_name);
        } else if (prefix->length == 0) {
            mcr_text_string(prefix, path);
            mcr_text_string(prefix, "/");
            base = (size_t)prefix->length;
            mcr_text_add(prefix, entry->d_name, n);
            status = prefix->status;
        }
    }
    closedir(dir);
    if (status == MCR_OK && prefix->length == 0)
        status = mcr_fail_at(ctx, MCR_BAD_DATA, path, 0,
                             "no file ending in _A.txt: this is not a TU graph set");
    return status;
}

/* PREFIX_part.txt or PREFIX_part.txt.gz into `name`; false: neither exists, or out of memory. */
static bool find_part(mcr_text *name, const mcr_text *prefix, const char *part)
{
    struct stat info;
    name->length = 0;
    mcr_text_format(name, "%s_%s.txt", prefix->bytes, part);
    if (name->status == MCR_OK && stat(name->bytes, &info) == 0)
        return true;
    mcr_text_string(name, ".gz");
    return name->status == MCR_OK && stat(name->bytes, &info) == 0;
}

static mcr_status fail_missing(mcr_text *name, const mcr_text *prefix, const char *part,
                               const char *advice)
{
    name->length = 0;
    mcr_text_format(name, "%s_%s.txt", prefix->bytes, part);
    if (name->status != MCR_OK)
        return name->status;
    return mcr_fail_at(name->ctx, MCR_BAD_DATA, name->bytes, 0,
                       "this file is missing from the graph set%s", advice);
}

static mcr_status open_part(mcr_input **in, mcr_text *name, const mcr_text *prefix,
                            const char *part, bool needed)
{
    *in = NULL;
    if (find_part(name, prefix, part))
        return mcr_input_open(in, name->ctx, name->bytes);
    if (name->status != MCR_OK || !needed)
        return name->status;
    return fail_missing(name, prefix, part, "");
}

static void log_unused(mcr_text *name, const mcr_text *prefix)
{
    static const char *const parts[] = {"node_attributes", "edge_attributes"};
    for (int i = 0; i < 2; i++)
        if (find_part(name, prefix, parts[i]))
            mcr_log(name->ctx, MCR_LOG_WARNING, "%s: %s are not used", name->bytes,
                    i == 0 ? "node attributes" : "edge attributes");
}

static mcr_status open_parts(mcr_tu_parts *parts, mcr_text *name, const mcr_text *prefix,
                             bool targets)
{
    mcr_status status = open_part(&parts->edges, name, prefix, "A", true);
    if (status == MCR_OK)
        status = open_part(&parts->indicator, name, prefix, "graph_indicator", true);
    if (status == MCR_OK)
        status = open_part(&parts->node_labels, name, prefix, "node_labels", false);
    if (status == MCR_OK)
        status = open_part(&parts->edge_labels, name, prefix, "edge_labels", false);
    if (status != MCR_OK || !targets)
        return status;
    if (find_part(name, prefix, "graph_labels"))
        return mcr_input_open(&parts->graph_labels, name->ctx, name->bytes);
    status = open_part(&parts->graph_targets, name, prefix, "graph_attributes", false);
    if (status == MCR_OK && !parts->graph_targets)
        status = fail_missing(name, prefix, "graph_labels",
                              "; without labels set the target to \"none\"");
    return status;
}

static mcr_status tu_read_path(mcr_builder *builder, mcr *ctx, const char *path,
                               const mcr_read_options *options)
{
    mcr_text prefix, name;
    mcr_tu_parts parts = {0};
    mcr_text_init(&prefix, ctx);
    mcr_text_init(&name, ctx);
    mcr_status status = find_prefix(&prefix, ctx, path);
    if (status == MCR_OK)
        status = open_parts(&parts, &name, &prefix, !mcr_target_is_none(options));
    if (status == MCR_OK)
        log_unused(&name, &prefix);
    if (status == MCR_OK)
        status = mcr_tu_read(builder, ctx, &parts);
    mcr_input_close(parts.edges);
    mcr_input_close(parts.indicator);
    mcr_input_close(parts.graph_labels);
    mcr_input_close(parts.graph_targets);
    mcr_input_close(parts.node_labels);
    mcr_input_close(parts.edge_labels);
    mcr_text_free(&name);
    mcr_text_free(&prefix);
    return status;
}

const mcr_format mcr_format_tu = {
    .name = "tu",
    .summary = "graphs: a directory with DS_A.txt, DS_graph_indicator.txt, DS_graph_labels.txt ...",
    .read_path = tu_read_path,
};
