/* graphs.c: the graphs of both sides in one numbering, and counts of their patterns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/graphs.h"

#include <string.h>

#include "base/threads.h"
#include "kernel/tuples.h"
#include "kernel/words.h"

/* ---- both sides in one numbering --------------------------------------------------------------*/

/* Either both sides have labels or neither. */
static mcr_status check_sides(const mcr_bound *bound, const char *what, const void *x,
                              const void *z)
{
    if (bound->same || (x == NULL) == (z == NULL))
        return MCR_OK;
    return mcr_fail(bound->ctx, MCR_BAD_DATA,
                    "%s: the graphs of one data set have %s labels, those of the other have none",
                    bound->kernel->type->name, what);
}

static void measure_side(mcr_graphs *g, const mcr_field *f, int64_t *links)
{
    const mcr_store *s = f->store;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t r = mcr_field_at(f, i);
        g->nodes += s->start[r + 1] - s->start[r];
        *links += s->link[s->start[r + 1]] - s->link[s->start[r]];
    }
    g->count += f->count;
}

/* Appends after graph `first`, whose start is set. */
static void copy_side(mcr_graphs *g, const mcr_field *f, int64_t first)
{
    const mcr_store *s = f->store;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t r = mcr_field_at(f, i), from = s->start[r], to = s->start[r + 1];
        int64_t base = g->start[first + i], at = g->link[base], links = s->link[to] - s->link[from];
        for (int64_t v = from; v < to; v++)
            g->link[base + v - from + 1] = at + s->link[v + 1] - s->link[from];
        g->start[first + i + 1] = base + to - from;
        if (links == 0)
            continue;
        memcpy(g->adjacent + at, s->adjacent + s->link[from], (size_t)links * sizeof(int32_t));
        if (g->bond)
            memcpy(g->bond + at, s->link_label + s->link[from], (size_t)links * sizeof(int32_t));
    }
}

static int32_t write_number(char *to, int32_t number)
{
    char digits[12];
    int32_t length = 0, sign = number < 0;
    int64_t rest = number < 0 ? -(int64_t)number : number;
    do
        digits[length++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (sign)
        to[0] = '-';
    for (int32_t i = 0; i < length; i++)
        to[sign + i] = digits[length - 1 - i];
    return sign + length;
}

/* Numbers the labels of each side by first appearance. */
static mcr_status list_labels(mcr_graphs *g, const mcr_bound *bound, mcr_tuples *list)
{
    int64_t at = 0;
    mcr_status st = MCR_OK;
    for (uint32_t side = 0; side < (bound->same ? 1 : 2); side++) {
        const mcr_field *f = &bound->field[side];
        for (int64_t i = 0; i < f->count; i++) {
            int64_t r = mcr_field_at(f, i);
            for (int64_t v = f->store->start[r]; v < f->store->start[r + 1] && !st; v++) {
                uint32_t key[2] = {side, (uint32_t)f->store->node_label[v]};
                st = mcr_tuples_number(&g->label[at++], list, key, 2);
            }
        }
    }
    return st;
}

/* The text of each label: its name if it has one, else its digits. */
static void write_labels(const mcr_bound *bound, const mcr_tuples *list, mcr_word *word,
                         char (*digits)[12])
{
    for (int64_t i = 0; i < mcr_tuples_count(list); i++) {
        int64_t length;
        const uint32_t *key = mcr_tuples_at(list, i, &length);
        const mcr_store *s = bound->field[key[0]].store;
        int32_t label = (int32_t)key[1];
        if (s->label_name && label >= 0 && label < s->label_names)
            word[i] = (mcr_word){s->label_name[label], (int32_t)strlen(s->label_name[label]),
                                 (int32_t)i};
        else
            word[i] = (mcr_word){digits[i], write_number(digits[i], label), (int32_t)i};
    }
}

static mcr_status keep_names(mcr_graphs *g, const mcr_word *word, const int32_t *id, size_t n)
{
    g->label_name = mcr_alloc_zero(g->ctx, (size_t)g->labels, sizeof *g->label_name);
    if (!g->label_name)
        return MCR_NO_MEMORY;
    for (size_t w = 0; w < n; w++)
        if (!g->label_name[id[w]] &&
            !(g->label_name[id[w]] = mcr_copy_text(g->ctx, word[w].bytes, (size_t)word[w].length)))
            return MCR_NO_MEMORY;
    return MCR_OK;
}

static mcr_status number_labels(mcr_graphs *g, const mcr_bound *bound)
{
    mcr *ctx = g->ctx;
    mcr_tuples *list = NULL;
    mcr_word *word = NULL;
    char(*digits)[12] = NULL;
    int32_t *id = NULL, *rank = NULL;
    mcr_status st = mcr_tuples_open(&list, ctx);
    if (!st)
        st = list_labels(g, bound, list);
    if (st)
        goto done;
    size_t n = (size_t)mcr_tuples_count(list);
    st = mcr_alloc_arrays(ctx, MCR_ARRAY(word, n), /* the block to free */ MCR_ARRAY(digits, n),
                          MCR_ARRAY(id, n), MCR_ARRAY(rank, n))
             ? MCR_OK
             : MCR_NO_MEMORY;
    if (st)
        goto done;
    write_labels(bound, list, word, digits);
    st = mcr_words_sort(ctx, word, (int64_t)n, id, &g->labels);
    for (size_t w = 0; w < n && !st; w++)
        rank[word[w].object] = id[w];
    if (!st)
        st = keep_names(g, word, id, n);
    for (int64_t v = 0; v < g->nodes && !st; v++)
        g->label[v] = rank[g->label[v]];
done:
    mcr_free(ctx, word);
    mcr_tuples_close(list);
    return st;
}

static mcr_status fill(mcr_graphs *g, const mcr_bound *bound, bool bonds)
{
    const mcr_store *x = bound->field[0].store, *z = bound->field[1].store;
    mcr_status s = check_sides(bound, "node", x->node_label, z->node_label);
    if (!s && bonds)
        s = check_sides(bound, "edge", x->link_label, z->link_label);
    if (s)
        return s;
    int64_t links = 0;
    measure_side(g, &bound->field[0], &links);
    if (!bound->same)
        measure_side(g, &bound->field[1], &links);
    if (g->count > INT32_MAX || g->nodes > INT32_MAX)
        return mcr_fail(g->ctx, MCR_BAD_DATA, "%s: more than %d graphs or nodes",
                        bound->kernel->type->name, INT32_MAX);
    g->start = mcr_alloc_zero(g->ctx, (size_t)g->count + 1, sizeof *g->start);
    g->link = mcr_alloc_zero(g->ctx, (size_t)g->nodes + 1, sizeof *g->link);
    g->adjacent = mcr_alloc(g->ctx, (size_t)links, sizeof *g->adjacent);
    bool ok = g->start && g->link && g->adjacent;
    if (ok && x->node_label)
        ok = (g->label = mcr_alloc(g->ctx, (size_t)g->nodes, sizeof *g->label)) != NULL;
    if (ok && bonds && x->link_label)
        ok = (g->bond = mcr_alloc(g->ctx, (size_t)links, sizeof *g->bond)) != NULL;
    if (!ok)
        return MCR_NO_MEMORY;
    copy_side(g, &bound->field[0], 0);
    if (!bound->same)
        copy_side(g, &bound->field[1], bound->field[0].count);
    return g->label ? number_labels(g, bound) : MCR_OK;
}

mcr_status mcr_graphs_open(mcr_graphs **out, const mcr_bound *bound, bool bonds)
{
    *out = NULL;
    mcr_graphs *g = mcr_alloc_zero(bound->ctx, 1, sizeof *g);
    if (!g)
        return MCR_NO_MEMORY;
    g->ctx = bound->ctx;
    mcr_status s = fill(g, bound, bonds);
    if (s)
        mcr_graphs_close(g);
    else
        *out = g;
    return s;
}

void mcr_graphs_close(mcr_graphs *g)
{
    if (!g)
        return;
    mcr_free_each(g->ctx, g->label_name, g->labels);
    mcr_free_all(g->ctx, g->start, g->link, g->adjacent, g->label, g->bond, g);
}

/* ---- counting graph by graph ------------------------------------------------------------------*/

/* Each worker numbers the patterns that it finds, and counts them in its graph. */
struct mcr_tally {
    mcr *ctx;
    mcr_tuples *tuples;
    int64_t *times; /* by number; 0 between graphs */
    int64_t times_capacity;
    int32_t *met; /* numbers with times > 0, in the order of discovery */
    int64_t mets, met_capacity;
    int32_t *global; /* by number: the global number; -1: not assigned yet */
};

typedef struct found {
    int32_t number; /* the worker's number */
    int64_t times;
} found;

typedef struct result { /* of one graph */
    int worker;
    int64_t count;
    found *list;
} result;

typedef struct counting {
    const mcr_graphs *graphs;
    mcr_graphs_measure *measure;
    void *arg;
    mcr_tally *tally; /* one per worker */
    result *result;   /* one per graph */
} counting;

mcr_status mcr_tally_add(mcr_tally *t, const uint32_t *tuple, int64_t length, int64_t times)
{
    int32_t number;
    mcr_status s = mcr_tuples_number(&number, t->tuples, tuple, length);
    if (s)
        return s;
    if (number >= t->times_capacity) {
        int64_t before = t->times_capacity;
        s = mcr_reserve(t->ctx, &t->times, &t->times_capacity, number + 1, sizeof *t->times);
        if (s)
            return s;
        memset(t->times + before, 0, (size_t)(t->times_capacity - before) * sizeof *t->times);
    }
    if (t->times[number] == 0 && times > 0) {
        s = mcr_reserve(t->ctx, &t->met, &t->met_capacity, t->mets + 1, sizeof *t->met);
        if (s)
            return s;
        t->met[t->mets++] = number;
    }
    t->times[number] += times;
    return MCR_OK;
}

static mcr_status count_graph(void *arg, int64_t graph, int worker)
{
    counting *c = arg;
    mcr_tally *t = &c->tally[worker];
    mcr_status s = c->measure(c->arg, c->graphs, graph, worker, t);
    result *r = &c->result[graph];
    if (!s && !(r->list = mcr_alloc(t->ctx, (size_t)t->mets, sizeof *r->list)))
        s = MCR_NO_MEMORY;
    r->worker = worker;
    for (int64_t i = 0; i < t->mets && !s; i++)
        r->list[r->count++] = (found){t->met[i], t->times[t->met[i]]};
    for (int64_t i = 0; i < t->mets; i++)
        t->times[t->met[i]] = 0;
    t->mets = 0;
    return s;
}

/* Assigns global numbers in the order of the graphs, independent of the workers. */
static mcr_status number_found(mcr_feature *list, const counting *c, mcr_tuples *all, bool presence)
{
    int64_t at = 0;
    for (int64_t g = 0; g < c->graphs->count; g++) {
        const result *r = &c->result[g];
        mcr_tally *t = &c->tally[r->worker];
        for (int64_t i = 0; i < r->count; i++) {
            int32_t number = r->list[i].number;
            if (t->global[number] < 0) {
                int64_t length;
                const uint32_t *tuple = mcr_tuples_at(t->tuples, number, &length);
                mcr_status s = mcr_tuples_number(&t->global[number], all, tuple, length);
                if (s)
                    return s;
            }
            list[at++] = (mcr_feature){(int32_t)g, t->global[number],
                                       presence ? 1 : (double)r->list[i].times};
        }
    }
    return MCR_OK;
}

void mcr_graphs_put_label(mcr_names *names, const mcr_graphs *g, int64_t label)
{
    mcr_names_bytes(names, g->label_name[label], (int64_t)strlen(g->label_name[label]));
}

static mcr_status name_all(mcr_bound *bound, const mcr_graphs *g, const mcr_tuples *all,
                           mcr_graphs_name *name)
{
    mcr_status s = mcr_names_open(&bound->names, bound->ctx);
    for (int64_t i = 0; i < mcr_tuples_count(all) && !s; i++) {
        int64_t length;
        const uint32_t *tuple = mcr_tuples_at(all, i, &length);
        name(bound->names, g, tuple, length);
        s = mcr_names_end(bound->names);
    }
    return s;
}

static mcr_status join_found(mcr_bound *bound, mcr_binding *binding, counting *c, int workers,
                             mcr_graphs_name *name, bool presence)
{
    mcr *ctx = bound->ctx;
    int64_t total = 0;
    for (int64_t g = 0; g < c->graphs->count; g++)
        total += c->result[g].count;
    mcr_tuples *all = NULL;
    mcr_feature *list = mcr_alloc(ctx, (size_t)total, sizeof *list);
    mcr_status s = list ? mcr_tuples_open(&all, ctx) : MCR_NO_MEMORY;
    for (int w = 0; w < workers && !s; w++) {
        mcr_tally *t = &c->tally[w];
        size_t n = (size_t)mcr_tuples_count(t->tuples);
        t->global = mcr_alloc(ctx, n, sizeof *t->global);
        if (!t->global)
            s = MCR_NO_MEMORY;
        else
            memset(t->global, 0xff, n * sizeof *t->global);
    }
    if (!s)
        s = number_found(list, c, all, presence);
    if (!s && binding->named)
        s = name_all(bound, c->graphs, all, name);
    if (!s)
        s = mcr_features_offer(bound, binding, list, total, mcr_tuples_count(all));
    mcr_tuples_close(all);
    mcr_free(ctx, list);
    return s;
}

mcr_status mcr_graphs_count(mcr_bound *bound, mcr_binding *binding, const mcr_graphs *graphs,
                            mcr_graphs_measure *measure, void *arg, mcr_graphs_name *name,
                            bool presence)
{
    mcr *ctx = bound->ctx;
    int workers = mcr_workers(ctx);
    counting c = {.graphs = graphs, .measure = measure, .arg = arg};
    c.tally = mcr_alloc_zero(ctx, (size_t)workers, sizeof *c.tally);
    c.result = mcr_alloc_zero(ctx, (size_t)graphs->count, sizeof *c.result);
    mcr_status s = c.tally && c.result ? MCR_OK : MCR_NO_MEMORY;
    for (int w = 0; w < workers && !s; w++) {
        c.tally[w].ctx = ctx;
        s = mcr_tuples_open(&c.tally[w].tuples, ctx);
    }
    if (!s)
        s = mcr_parallel_reported(ctx, bound->kernel->type->name, 0, 1, graphs->count, count_graph,
                                  &c);
    if (!s)
        s = join_found(bound, binding, &c, workers, name, presence);
    for (int w = 0; w < workers && c.tally; w++) {
        mcr_tuples_close(c.tally[w].tuples);
        mcr_free_all(ctx, c.tally[w].times, c.tally[w].met, c.tally[w].global);
    }
    for (int64_t g = 0; g < graphs->count && c.result; g++)
        mcr_free(ctx, c.result[g].list);
    mcr_free_all(ctx, c.tally, c.result);
    return s;
}
