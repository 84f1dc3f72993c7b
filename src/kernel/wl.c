/* wl.c: the Weisfeiler-Lehman subtree kernel (Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and
 * Borgwardt, JMLR 12, 2011).
 *
 * Every node starts with its label (its degree where the graphs have none). h times, each node gets a
 * new label that stands for its own one and the sorted ones of its neighbours, with the edge labels
 * where there are any. K is the inner product of the counts of all labels of all rounds, the first
 * included. Labels that were words in the files are compared as words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "kernel/vectors.h"
#include "kernel/words.h"

typedef struct wl_params {
    int64_t h;
} wl_params;

static const mcr_param params[] = {
    {.name = "h",
     .type = MCR_INT,
     .offset = offsetof(wl_params, h),
     .standard = "3",
     .min = 0,
     .max = 100,
     .help = "rounds of relabelling: how far a node sees"},
    {.name = NULL},
};

/* One side's part of all nodes. */
typedef struct side {
    const mcr_field *field;
    int64_t first_node, first_object;
} side;

typedef struct work {
    mcr *ctx;
    side side[2];
    int sides;
    int64_t nodes;
    bool edge_labels;
    int32_t *label; /* of every node, both sides */
    mcr_word *word;
    int32_t *id;
    int64_t distinct;
    char *text; /* what the words point into */
    int64_t text_room;
} work;

static int64_t node_count(const mcr_field *f)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t r = mcr_field_at(f, i);
        sum += f->store->start[r + 1] - f->store->start[r];
    }
    return sum;
}

/* ---- labels as words ---------------------------------------------------------------------------*/

/* The words are written one behind the other; their places are kept as offsets until the text has
 * stopped growing. */
typedef struct writer {
    work *w;
    int64_t used, words;
    int64_t *offset;
} writer;

static void begin_word(writer *to, int64_t object)
{
    to->offset[to->words] = to->used;
    to->w->word[to->words++] = (mcr_word){NULL, 0, (int32_t)object};
}

static mcr_status write_bytes(writer *to, const void *bytes, size_t count)
{
    work *w = to->w;
    mcr_status s = mcr_reserve(w->ctx, &w->text, &w->text_room, to->used + (int64_t)count, 1);
    if (s)
        return s;
    memcpy(w->text + to->used, bytes, count);
    to->used += (int64_t)count;
    if (to->used - to->offset[to->words - 1] > INT32_MAX)
        return mcr_fail(w->ctx, MCR_BAD_DATA, "wl: a node has too many neighbours");
    return MCR_OK;
}

/* First labels: names where there are any, else numbers, else degrees; all as text. A name may be
 * empty, but no word is: relabel tells nodes by where their words begin. */
static mcr_status write_first(writer *to, const side *of, int64_t v, int64_t object)
{
    const mcr_store *s = of->field->store;
    begin_word(to, object);
    mcr_status st = write_bytes(to, ":", 1);
    if (st)
        return st;
    if (s->node_label && s->label_name && s->node_label[v] >= 0 &&
        s->node_label[v] < s->label_names) {
        const char *name = s->label_name[s->node_label[v]];
        return write_bytes(to, name, strlen(name));
    }
    int64_t number = s->node_label ? s->node_label[v] : s->link[v + 1] - s->link[v];
    char digits[24];
    int length = 0;
    uint64_t rest = number < 0 ? (uint64_t)-number : (uint64_t)number;
    do
        digits[sizeof digits - 1 - (size_t)length++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0)
        digits[sizeof digits - 1 - (size_t)length++] = '-';
    return write_bytes(to, digits + sizeof digits - (size_t)length, (size_t)length);
}

static int by_value(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* A node's own label and the sorted pairs (edge label, neighbour's label). `base`: number of the
 * graph's first node among all; `pairs`: room for the node's neighbours. */
static mcr_status write_round(writer *to, const side *of, int64_t v, int64_t local, int64_t base,
                              int64_t object, int32_t (*pairs)[2])
{
    const mcr_store *s = of->field->store;
    int64_t degree = s->link[v + 1] - s->link[v];
    for (int64_t e = 0; e < degree; e++) {
        int64_t at = s->link[v] + e;
        pairs[e][0] = to->w->edge_labels ? s->link_label[at] : 0;
        pairs[e][1] = to->w->label[base + s->adjacent[at]];
    }
    qsort(pairs, (size_t)degree, sizeof *pairs, by_value);
    begin_word(to, object);
    mcr_status st = write_bytes(to, &to->w->label[base + local], sizeof(int32_t));
    return st ? st : write_bytes(to, pairs, sizeof *pairs * (size_t)degree);
}

/* ---- rounds ------------------------------------------------------------------------------------*/

static int64_t largest_degree(const work *w)
{
    int64_t most = 0;
    for (int t = 0; t < w->sides; t++) {
        const mcr_field *f = w->side[t].field;
        for (int64_t i = 0; i < f->count; i++) {
            int64_t r = mcr_field_at(f, i);
            for (int64_t v = f->store->start[r]; v < f->store->start[r + 1]; v++)
                if (f->store->link[v + 1] - f->store->link[v] > most)
                    most = f->store->link[v + 1] - f->store->link[v];
        }
    }
    return most;
}

static mcr_status write_all(writer *to, bool first, int32_t (*pairs)[2])
{
    work *w = to->w;
    mcr_status s = MCR_OK;
    for (int t = 0; t < w->sides; t++) {
        const side *of = &w->side[t];
        int64_t base = of->first_node;
        for (int64_t i = 0; i < of->field->count && !s; i++) {
            int64_t r = mcr_field_at(of->field, i), object = of->first_object + i;
            int64_t begin = of->field->store->start[r], end = of->field->store->start[r + 1];
            for (int64_t v = begin; v < end && !s; v++)
                s = first ? write_first(to, of, v, object)
                          : write_round(to, of, v, v - begin, base, object, pairs);
            base += end - begin;
        }
    }
    return s;
}

/* Writes the words of a round, numbers them, and gives every node its new label. */
static mcr_status relabel(work *w, bool first, int64_t *offset, int32_t (*pairs)[2])
{
    writer to = {.w = w, .offset = offset};
    mcr_status s = write_all(&to, first, pairs);
    if (s)
        return s;
    for (int64_t v = 0; v < w->nodes; v++) {
        int64_t end = v + 1 < w->nodes ? offset[v + 1] : to.used;
        w->word[v].bytes = w->text ? w->text + offset[v] : "";
        w->word[v].length = (int32_t)(end - offset[v]);
    }
    s = mcr_words_sort(w->ctx, w->word, w->nodes, w->id, &w->distinct);
    /* The words are sorted now; a word's place in the text tells its node. */
    for (int64_t t = 0; t < w->nodes && !s; t++) {
        int64_t low = 0, high = w->nodes - 1, at = w->text ? w->word[t].bytes - w->text : 0;
        while (low < high) {
            int64_t middle = low + (high - low + 1) / 2;
            if (offset[middle] <= at)
                low = middle;
            else
                high = middle - 1;
        }
        w->label[low] = w->id[t];
    }
    return s;
}

static mcr_status run(work *w, int64_t h, mcr_counts *counts)
{
    size_t n = (size_t)w->nodes;
    int64_t *offset = mcr_alloc(w->ctx, n, sizeof *offset);
    int32_t(*pairs)[2] = mcr_alloc(w->ctx, (size_t)largest_degree(w), sizeof *pairs);
    w->label = mcr_alloc(w->ctx, n, sizeof *w->label);
    w->word = mcr_alloc(w->ctx, n, sizeof *w->word);
    w->id = mcr_alloc(w->ctx, n, sizeof *w->id);
    mcr_status s = offset && pairs && w->label && w->word && w->id ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t round = 0; round <= h && !s; round++) {
        s = relabel(w, round == 0, offset, pairs);
        if (!s)
            s = mcr_counts_add(counts, w->word, w->id, w->nodes, w->distinct, false);
    }
    mcr_free(w->ctx, offset);
    mcr_free(w->ctx, pairs);
    mcr_free(w->ctx, w->label);
    mcr_free(w->ctx, w->word);
    mcr_free(w->ctx, w->id);
    mcr_free(w->ctx, w->text);
    return s;
}

/* Either both sides have labels or neither has. */
static mcr_status check_sides(const mcr_bound *bound, const char *what, const void *x,
                              const void *z)
{
    if (bound->same || (x == NULL) == (z == NULL))
        return MCR_OK;
    return mcr_fail(bound->ctx, MCR_BAD_DATA,
                    "wl: the graphs of one data set have %s labels, those of the other have none",
                    what);
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const wl_params *p = mcr_bound_params(bound);
    const mcr_store *x = bound->field[0].store;
    const mcr_store *z = bound->same ? x : bound->field[1].store;
    work w = {.ctx = bound->ctx, .sides = bound->same ? 1 : 2};
    mcr_status s = check_sides(bound, "node", x->node_label, z->node_label);
    if (!s)
        s = check_sides(bound, "edge", x->link_label, z->link_label);
    if (s)
        return s;
    w.edge_labels = x->link_label != NULL;
    int64_t objects = 0;
    for (int t = 0; t < w.sides; t++) {
        w.side[t] = (side){&bound->field[t], w.nodes, objects};
        w.nodes += node_count(&bound->field[t]);
        objects += bound->field[t].count;
    }
    if (objects > INT32_MAX || w.nodes > INT32_MAX)
        return mcr_fail(bound->ctx, MCR_BAD_DATA, "wl: more than %d graphs or nodes", INT32_MAX);
    mcr_counts *counts = NULL;
    s = mcr_counts_open(&counts, bound);
    if (!s)
        s = run(&w, p->h, counts);
    if (s) {
        mcr_counts_close(counts);
        return s;
    }
    return mcr_counts_offer(counts, binding);
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)values;
    (void)child;
    (void)children;
    *rule = "an inner product of label counts";
    return MCR_PSD;
}

const mcr_kernel_type mcr_kernel_wl = {
    .size = sizeof(mcr_kernel_type),
    .name = "wl",
    .summary = "Weisfeiler-Lehman subtrees that two graphs have in common",
    .kinds = MCR_GRAPHS,
    .params = params,
    .params_size = sizeof(wl_params),
    .definite = definite,
    .bind = bind,
    .block = mcr_vectors_block,
    .diagonal = mcr_vectors_diagonal,
    .has_features = 1,
};
