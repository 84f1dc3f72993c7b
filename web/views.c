/* views.c: kernels themselves: the matrix, whether it is a kernel, what two objects share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "engine_impl.h"

static mcr_status need_kernel(studio *s, mcr_kernel **kernel)
{
    mcr_status status = studio_kernel(s, kernel);
    return status || *kernel ? status : studio_refuse(s, MCR_BAD_CALL, "a kernel is needed");
}

/* ---- the matrix -------------------------------------------------------------------------------*/

mcr_status studio_gram(studio *s)
{
    const mcr_data *data;
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    double *k = NULL;
    mcr_status status = studio_data(s, &data);
    if (!status)
        status = need_kernel(s, &kernel);
    if (!status)
        status = mcr_gram_open(&gram, s->ctx, kernel, data, NULL);
    if (status)
        goto done;
    int64_t n = mcr_data_count(data), shown = studio_shown(n, STUDIO_GRAM), index[STUDIO_GRAM];
    for (int64_t r = 0; r < shown; r++)
        index[r] = studio_shown_object(r, shown, n);
    mcr_rows rows = {index, 0, shown};
    k = malloc((size_t)(shown * shown) * sizeof *k);
    status = k ? mcr_gram_block(gram, rows, rows, k, shown)
               : studio_refuse(s, MCR_NO_MEMORY, "no memory for the kernel matrix");
    if (!status) {
        cli_json_integer(&s->j, "n", shown);
        cli_json_integers(&s->j, "object", index, shown);
        status = studio_put_floats(s, "k", k, shown * shown);
    }
done:
    free(k);
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    return status;
}

/* ---- is it a kernel? --------------------------------------------------------------------------*/

static void check_json(cli_json *j, const mcr_check_report *r)
{
    static const char *const verdict[] = {
        [MCR_VALID_UNKNOWN] = "unknown", [MCR_VALID_YES] = "yes", [MCR_VALID_NO] = "no"};
    cli_json_text(j, "valid", verdict[r->valid]);
    cli_json_text(j, "reason", r->reason);
    cli_json_list(j, "rules");
    for (int64_t i = 0; i < r->rules; i++)
        cli_json_text(j, NULL, r->rule[i]);
    cli_json_end(j);
    cli_json_integer(j, "tested", r->tested);
    cli_json_real(j, "min_eigenvalue", r->min_eigenvalue);
    if (r->objects == 0)
        return;
    cli_json_object(j, "counterexample");
    cli_json_integers(j, "objects", r->object, r->objects);
    cli_json_reals(j, "gram", r->gram, r->objects * r->objects);
    cli_json_reals(j, "t", r->t, r->objects);
    cli_json_real(j, "value", r->value);
    cli_json_list(j, "shown");
    for (int64_t i = 0; i < r->objects; i++)
        cli_json_text(j, NULL, r->shown[i]);
    cli_json_end(j);
    cli_json_end(j);
}

mcr_status studio_check(studio *s)
{
    const mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_check_report *report = NULL;
    mcr_status status = studio_flag(s->call, "bare") ? MCR_OK : studio_data(s, &data);
    if (!status)
        status = need_kernel(s, &kernel);
    if (!status)
        status = mcr_kernel_check(&report, s->ctx, kernel, data,
                                  studio_whole(s->call, "objects", 200, 1, 1000));
    if (!status) {
        cli_json_text(&s->j, "kernel", mcr_kernel_text(kernel));
        check_json(&s->j, report);
        mcr_check_free(s->ctx, report);
    }
    mcr_kernel_free(kernel);
    return status;
}

/* ---- what two objects share -------------------------------------------------------------------*/

enum { MOST_LETTERS = 200, MOST_NODES = 40, MOST_EDGES = 400, MOST_FEATURES = 400 };

static mcr_status two_strings(studio *s, const studio_value *a, const studio_value *b,
                              mcr_builder *to)
{
    char bytes[2 * MOST_LETTERS];
    if (a->count > MOST_LETTERS || b->count > MOST_LETTERS)
        return studio_refuse(s, MCR_BAD_CALL, "words have at most 200 bytes");
    memcpy(bytes, a->text, a->count);
    memcpy(bytes + a->count, b->text, b->count);
    int64_t start[3] = {0, (int64_t)a->count, (int64_t)(a->count + b->count)};
    return mcr_builder_strings(to, "text", start, bytes);
}

typedef struct two_graphs {
    int64_t node_start[3], edge_start[3];
    int32_t label[2 * MOST_NODES], edge[2 * MOST_EDGES][2];
} two_graphs;

/* {"nodes": [0, 1, 0], "edges": [[0, 1], ...]}: graph number g of the two. */
static mcr_status read_graph(studio *s, const studio_value *from, two_graphs *to, int g)
{
    const studio_value *nodes = studio_find(from, "nodes"), *edges = studio_find(from, "edges");
    if (!nodes || nodes->type != STUDIO_LIST || nodes->count > MOST_NODES || !edges ||
        edges->type != STUDIO_LIST || edges->count > MOST_EDGES)
        return studio_refuse(s, MCR_BAD_CALL, "a graph has up to 40 nodes and 400 edges");
    int64_t node = to->node_start[g], edge = to->edge_start[g];
    const studio_value *at = nodes + 1;
    for (size_t i = 0; i < nodes->count; i++, at = studio_next(at)) {
        if (at->type != STUDIO_NUMBER || !(at->number >= 0 && at->number < 1000))
            return studio_refuse(s, MCR_BAD_CALL, "labels of nodes are numbers from 0 to 999");
        to->label[node++] = (int32_t)at->number;
    }
    at = edges + 1;
    for (size_t i = 0; i < edges->count; i++, at = studio_next(at)) {
        if (at->type != STUDIO_LIST || at->count != 2)
            return studio_refuse(s, MCR_BAD_CALL, "an edge is a pair of nodes");
        for (int e = 0; e < 2; e++) {
            const studio_value *end = at + 1 + e;
            if (end->type != STUDIO_NUMBER || !(end->number >= 0) ||
                end->number >= (double)nodes->count)
                return studio_refuse(s, MCR_BAD_CALL, "an edge is a pair of nodes");
            to->edge[edge][e] = (int32_t)end->number;
        }
        edge++;
    }
    to->node_start[g + 1] = node;
    to->edge_start[g + 1] = edge;
    return MCR_OK;
}

static mcr_status build_graphs(studio *s, const studio_value *a, const studio_value *b,
                               mcr_builder *to)
{
    two_graphs g = {0};
    mcr_status status = read_graph(s, a, &g, 0);
    if (!status)
        status = read_graph(s, b, &g, 1);
    if (status)
        return status;
    int labelled = 0;
    for (int64_t i = 0; i < g.node_start[2]; i++)
        labelled |= g.label[i] != g.label[0];
    return mcr_builder_graphs(to, "graph", g.node_start, labelled ? g.label : NULL, g.edge_start,
                              (const int32_t(*)[2])g.edge, NULL);
}

/* The features that either object has: name, and the values of both. A kernel without a finite map
 * has none. */
static mcr_status features_json(studio *s, const mcr_kernel *kernel, const mcr_data *data)
{
    mcr_features *f = NULL;
    mcr_status status = mcr_features_open(&f, s->ctx, kernel, data, NULL, 1);
    if (status == MCR_BAD_CALL)
        return MCR_OK;
    if (status)
        return status;
    const int32_t *index[2];
    const double *value[2];
    int64_t count[2], at[2] = {0, 0};
    for (int o = 0; o < 2; o++)
        count[o] = mcr_features_row(f, 0, o, &index[o], &value[o]);
    cli_json_list(&s->j, "features");
    for (int shown = 0; shown < MOST_FEATURES && (at[0] < count[0] || at[1] < count[1]); shown++) {
        int32_t a = at[0] < count[0] ? index[0][at[0]] : INT32_MAX;
        int32_t b = at[1] < count[1] ? index[1][at[1]] : INT32_MAX, first = a < b ? a : b;
        cli_json_object(&s->j, NULL);
        cli_json_text(&s->j, "name", mcr_features_name(f, first));
        cli_json_real(&s->j, "a", a == first ? value[0][at[0]++] : 0);
        cli_json_real(&s->j, "b", b == first ? value[1][at[1]++] : 0);
        cli_json_end(&s->j);
    }
    cli_json_end(&s->j);
    mcr_features_close(f);
    return MCR_OK;
}

static mcr_status pair_json(studio *s, const mcr_kernel *kernel, const mcr_data *data)
{
    mcr_gram *gram = NULL;
    double k[4];
    mcr_status status = mcr_gram_open(&gram, s->ctx, kernel, data, NULL);
    if (!status)
        status = mcr_gram_matrix(gram, k, 2);
    mcr_gram_close(gram);
    if (status)
        return status;
    cli_json_reals(&s->j, "k", k, 4);
    return features_json(s, kernel, data);
}

mcr_status studio_pair(studio *s)
{
    const studio_value *a = studio_find(s->call, "a"), *b = studio_find(s->call, "b");
    mcr_kernel *kernel = NULL;
    mcr_builder *builder = NULL;
    mcr_data *data = NULL;
    if (!a || !b || a->type != b->type || (a->type != STUDIO_TEXT && a->type != STUDIO_OBJECT))
        return studio_refuse(s, MCR_BAD_CALL, "two words or two graphs, a and b, are needed");
    mcr_status status = need_kernel(s, &kernel);
    if (!status)
        status = mcr_builder_open(&builder, s->ctx, 2);
    if (!status)
        status = a->type == STUDIO_TEXT ? two_strings(s, a, b, builder)
                                        : build_graphs(s, a, b, builder);
    if (status)
        mcr_builder_close(builder);
    else
        status = mcr_builder_finish(&data, builder);
    if (!status)
        status = pair_json(s, kernel, data);
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    return status;
}
