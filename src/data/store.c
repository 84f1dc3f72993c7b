/* store.c: one field's values: making, sharing, checking, freeing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/builder.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

mcr_status mcr_store_new(mcr_store **out, mcr *ctx, const char *name, mcr_kind kind)
{
    *out = NULL;
    mcr_store *s = mcr_alloc_zero(ctx, 1, sizeof *s);
    if (s == NULL)
        return MCR_NO_MEMORY;
    s->ctx = ctx;
    s->owners = 1;
    s->kind = kind;
    s->name = mcr_copy_text(ctx, name, strlen(name));
    if (s->name == NULL) {
        mcr_free(ctx, s);
        return MCR_NO_MEMORY;
    }
    *out = s;
    return MCR_OK;
}

mcr_status mcr_store_give(mcr_store **out, mcr_store *store, mcr_status status)
{
    if (status)
        mcr_store_free(store);
    else
        *out = store;
    return status;
}

mcr_status mcr_store_alloc_dense(mcr_store *s)
{
    size_t cells;
    if (!mcr_size_mul((size_t)s->count, (size_t)s->cols, &cells))
        return mcr_fail(s->ctx, MCR_NO_MEMORY, "field \"%s\" is too large", s->name);
    s->dense = mcr_alloc(s->ctx, cells, sizeof *s->dense);
    return s->dense != NULL ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_store_alloc_sparse(mcr_store *s, int64_t entries)
{
    s->start = mcr_alloc(s->ctx, (size_t)s->count + 1, sizeof *s->start);
    s->index = mcr_alloc(s->ctx, (size_t)entries, sizeof *s->index);
    s->value = mcr_alloc(s->ctx, (size_t)entries, sizeof *s->value);
    if (s->start == NULL || s->index == NULL || s->value == NULL)
        return MCR_NO_MEMORY;
    s->start[0] = 0;
    return MCR_OK;
}

mcr_store *mcr_store_retain(mcr_store *store)
{
    __atomic_add_fetch(&store->owners, 1, __ATOMIC_RELAXED);
    return store;
}

mcr_status mcr_store_copy_names(mcr_store *to, const mcr_store *from)
{
    if (!from->column)
        return MCR_OK;
    to->column = mcr_alloc_zero(to->ctx, (size_t)to->cols, sizeof *to->column);
    for (int64_t c = 0; to->column && c < to->cols; c++) {
        const char *name = c < from->cols ? from->column[c] : "";
        if (!(to->column[c] = mcr_copy_text(to->ctx, name, strlen(name))))
            return MCR_NO_MEMORY;
    }
    return to->column ? MCR_OK : MCR_NO_MEMORY;
}

void mcr_store_free(mcr_store *s)
{
    if (s == NULL || __atomic_sub_fetch(&s->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    mcr *ctx = s->ctx;
    mcr_free_each(ctx, s->column, s->cols);
    mcr_free_each(ctx, s->label_name, s->label_names);
    if (!s->lent_start)
        mcr_free(ctx, s->start);
    if (!s->borrowed)
        mcr_free_all(ctx, s->dense, s->index, s->value, s->bytes);
    mcr_free_all(ctx, s->name, s->id, s->link, s->adjacent, s->node_label, s->link_label);
    if (s->release != NULL)
        s->release(s->user);
    mcr_free(ctx, s);
}

/* ---- vectors ----------------------------------------------------------------------------------*/

void mcr_vector_to_dense(const mcr_vector *x, double *to, int64_t cols)
{
    if (x->index == NULL && mcr_vector_plain(x) && x->count <= cols) {
        memcpy(to, x->value, (size_t)x->count * sizeof *to);
        memset(to + x->count, 0, (size_t)(cols - x->count) * sizeof *to);
        return;
    }
    memset(to, 0, (size_t)cols * sizeof *to);
    for (int64_t e = 0; e < x->count && mcr_vector_column(x, e) < cols; e++)
        to[mcr_vector_column(x, e)] = mcr_vector_value(x, e);
}

void mcr_vector_copy(const mcr_vector *x, double *value, int32_t *column)
{
    for (int64_t e = 0; e < x->count; e++)
        value[e] = mcr_vector_value(x, e);
    for (int64_t e = 0; column != NULL && e < x->count; e++)
        column[e] = (int32_t)mcr_vector_column(x, e);
}

/* ---- invariants ------------------------------------------------------------------------------*/

/* x - x is 0 for finite x and NaN otherwise, and can be summed without branches. */
static bool all_finite(const mcr_vector *x)
{
    double sum = 0;
    float single = 0;
    if (mcr_vector_plain(x))
        for (int64_t e = 0; e < x->count; e++)
            sum += ((const double *)x->value)[e] - ((const double *)x->value)[e];
    else if (x->step == 1)
        for (int64_t e = 0; e < x->count; e++)
            single += ((const float *)x->value)[e] - ((const float *)x->value)[e];
    else
        for (int64_t e = 0; e < x->count; e++)
            sum += mcr_vector_value(x, e) - mcr_vector_value(x, e);
    return sum == 0 && single == 0;
}

static mcr_status fail_object(const mcr_store *s, int64_t object, const char *what)
{
    return mcr_fail(s->ctx, MCR_BAD_DATA, "field \"%s\", object %" PRId64 ": %s", s->name,
                    object + 1, what);
}

/* Every value of an object must be a finite number; the message names the first that is not. */
static mcr_status check_finite(const mcr_store *s, int64_t object, const mcr_vector *x)
{
    if (all_finite(x))
        return MCR_OK;
    int64_t e = 0;
    while (isfinite(mcr_vector_value(x, e)))
        e++;
    int64_t column = mcr_vector_column(x, e);
    const char *name = s->column != NULL ? s->column[column] : "";
    return mcr_fail(s->ctx, MCR_BAD_DATA,
                    "field \"%s\", row %" PRId64 ", column %" PRId64
                    "%s%.100s%s: the value is not finite",
                    s->name, object + 1, column + 1, *name ? " (\"" : "", name, *name ? "\")" : "");
}

static mcr_status check_dense(const mcr_store *s)
{
    bool numbers_only = s->kind == MCR_PRECOMPUTED && s->id != NULL && s->cols == 0;
    if (s->cols < 1 && !numbers_only)
        return mcr_fail(s->ctx, MCR_BAD_DATA, "field \"%s\" has no columns", s->name);
    mcr_status status = MCR_OK;
    for (int64_t i = 0; i < s->count && !numbers_only && status == MCR_OK; i++) {
        mcr_vector x = mcr_store_vector(s, i);
        status = check_finite(s, i, &x);
    }
    if (status != MCR_OK)
        return status;
    if (s->kind != MCR_PRECOMPUTED || s->id == NULL)
        return MCR_OK;
    for (int64_t i = 0; i < s->count; i++)
        if (s->id[i] < -1 || (s->cols > 0 && s->id[i] >= s->cols))
            return fail_object(s, i, "its id is none of the reference objects");
    return MCR_OK;
}

mcr_status mcr_store_check_starts(const mcr_store *s)
{
    if (s->start[0] != 0)
        return mcr_fail(s->ctx, MCR_BAD_DATA, "field \"%s\": the first object must start at 0",
                        s->name);
    for (int64_t i = 0; i < s->count; i++)
        if (s->start[i + 1] < s->start[i])
            return fail_object(s, i, "it ends before it starts");
    return MCR_OK;
}

static mcr_status check_sparse(const mcr_store *s)
{
    if (s->cols < 1 || s->cols > INT32_MAX)
        return mcr_fail(s->ctx, MCR_BAD_DATA,
                        "field \"%s\" has %" PRId64 " columns; 1 to %" PRId32 " are possible",
                        s->name, s->cols, INT32_MAX);
    mcr_status status = MCR_OK;
    for (int64_t i = 0; i < s->count && status == MCR_OK; i++) {
        mcr_vector x = mcr_store_vector(s, i);
        int64_t before = -1;
        for (int64_t e = 0; e < x.count; e++) {
            if (mcr_vector_column(&x, e) <= before)
                return fail_object(s, i, "indices must be ascending");
            before = mcr_vector_column(&x, e);
        }
        if (before >= s->cols)
            return fail_object(s, i, "an index is too large");
        status = check_finite(s, i, &x);
    }
    return status;
}

static mcr_status check_graphs(const mcr_store *s)
{
    if (s->link[0] != 0)
        return mcr_fail(s->ctx, MCR_BAD_DATA, "field \"%s\": links must start at 0", s->name);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t nodes = s->start[i + 1] - s->start[i];
        if (nodes > INT32_MAX)
            return fail_object(s, i, "a graph cannot have so many nodes");
        for (int64_t v = s->start[i]; v < s->start[i + 1]; v++) {
            if (s->link[v + 1] < s->link[v])
                return fail_object(s, i, "links end before they start");
            int32_t before = -1;
            for (int64_t k = s->link[v]; k < s->link[v + 1]; k++) {
                if (s->adjacent[k] <= before || s->adjacent[k] >= nodes)
                    return fail_object(s, i, "an edge leads to a node that does not exist");
                before = s->adjacent[k];
            }
        }
    }
    return MCR_OK;
}

mcr_status mcr_store_check(const mcr_store *s)
{
    mcr_status status = MCR_OK;
    if (s->kind == MCR_DENSE || s->kind == MCR_PRECOMPUTED)
        return check_dense(s);
    status = mcr_store_check_starts(s);
    if (status == MCR_OK && s->kind == MCR_SPARSE)
        status = check_sparse(s);
    if (status == MCR_OK && s->kind == MCR_GRAPHS)
        status = check_graphs(s);
    return status;
}

/* ---- graphs: from an edge list to adjacency -----------------------------------------------------
 *
 * Every edge gives two arcs (a loop gives one). Sorted by head, then by tail, with two stable
 * bucket passes in O(nodes + edges): neighbours are ascending, and repeats keep their order. */

typedef struct arcs {
    int64_t *first; /* first[v] .. first[v+1]-1: arcs with head v, all nodes numbered through */
    int64_t *tail;
    int32_t *label;
} arcs;

static mcr_status check_edges(const mcr_store *s, const int64_t *edge_start,
                              const int32_t (*edge)[2])
{
    if (edge_start[0] != 0)
        return mcr_fail(s->ctx, MCR_BAD_DATA, "field \"%s\": the first edge must be number 0",
                        s->name);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t nodes = s->start[i + 1] - s->start[i];
        if (nodes > INT32_MAX)
            return fail_object(s, i, "a graph cannot have so many nodes");
        if (edge_start[i + 1] < edge_start[i])
            return fail_object(s, i, "its edges end before they start");
        for (int64_t e = edge_start[i]; e < edge_start[i + 1]; e++)
            for (int end = 0; end < 2; end++)
                if (edge[e][end] < 0 || edge[e][end] >= nodes)
                    return mcr_fail(s->ctx, MCR_BAD_DATA,
                                    "field \"%s\", object %" PRId64 ": edge (%" PRId32 ", %" PRId32
                                    ") leads to a node that does not exist; it has %" PRId64
                                    " nodes, from 0",
                                    s->name, i + 1, edge[e][0], edge[e][1], nodes);
    }
    return MCR_OK;
}

/* Turns counts at first[v + 1] into starts at first[v]. */
static void accumulate(int64_t *first, int64_t nodes)
{
    for (int64_t v = 0; v < nodes; v++)
        first[v + 1] += first[v];
}

/* Fills `by_head`; meanwhile first[v] runs from v's start to the next one's, so that the array must
 * be shifted by one afterwards. */
static void sort_by_head(arcs *a, const mcr_store *s, const int64_t *edge_start,
                         const int32_t (*edge)[2], const int32_t *edge_label)
{
    int64_t nodes = s->start[s->count];
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t e = edge_start[i]; e < edge_start[i + 1]; e++) {
            int64_t u = s->start[i] + edge[e][0], v = s->start[i] + edge[e][1];
            a->first[v + 1]++;
            if (u != v)
                a->first[u + 1]++;
        }
    accumulate(a->first, nodes);
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t e = edge_start[i]; e < edge_start[i + 1]; e++) {
            int64_t u = s->start[i] + edge[e][0], v = s->start[i] + edge[e][1];
            for (int end = 0; end < (u == v ? 1 : 2); end++) {
                int64_t k = a->first[end == 0 ? v : u]++;
                a->tail[k] = end == 0 ? u : v;
                if (edge_label != NULL)
                    a->label[k] = edge_label[e];
            }
        }
    memmove(a->first + 1, a->first, (size_t)nodes * sizeof *a->first);
    a->first[0] = 0;
}

/* Visits the heads in order and appends each to the lists of its tails, which are therefore sorted;
 * then drops duplicates. A node has as many outgoing as incoming arcs, so the starts are those of
 * `a`. */
static void sort_by_tail(mcr_store *s, const arcs *a, int64_t *fill)
{
    int64_t nodes = s->start[s->count];
    memcpy(fill, a->first, ((size_t)nodes + 1) * sizeof *fill);
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t v = s->start[i]; v < s->start[i + 1]; v++)
            for (int64_t k = a->first[v]; k < a->first[v + 1]; k++) {
                int64_t to = fill[a->tail[k]]++;
                s->adjacent[to] = (int32_t)(v - s->start[i]);
                if (s->link_label != NULL)
                    s->link_label[to] = a->label[k];
            }
    int64_t kept = 0;
    for (int64_t v = 0; v < nodes; v++) {
        int64_t begin = kept;
        for (int64_t k = a->first[v]; k < a->first[v + 1]; k++) {
            if (kept > begin && s->adjacent[kept - 1] == s->adjacent[k])
                continue;
            s->adjacent[kept] = s->adjacent[k];
            if (s->link_label != NULL)
                s->link_label[kept] = s->link_label[k];
            kept++;
        }
        s->link[v] = begin;
    }
    s->link[nodes] = kept;
}

mcr_status mcr_store_link(mcr_store *s, const int64_t *edge_start, const int32_t (*edge)[2],
                          const int32_t *edge_label)
{
    assert(s->kind == MCR_GRAPHS && s->start != NULL && s->link == NULL);
    mcr *ctx = s->ctx;
    mcr_status status = check_edges(s, edge_start, edge);
    if (status != MCR_OK)
        return status;
    size_t nodes = (size_t)s->start[s->count], most = 2 * (size_t)edge_start[s->count];
    arcs a = {0};
    int64_t *fill = mcr_alloc(ctx, nodes + 1, sizeof *fill);
    a.first = mcr_alloc_zero(ctx, nodes + 1, sizeof *a.first);
    a.tail = mcr_alloc(ctx, most, sizeof *a.tail);
    s->link = mcr_alloc(ctx, nodes + 1, sizeof *s->link);
    s->adjacent = mcr_alloc(ctx, most, sizeof *s->adjacent);
    if (edge_label != NULL) {
        a.label = mcr_alloc(ctx, most, sizeof *a.label);
        s->link_label = mcr_alloc(ctx, most, sizeof *s->link_label);
    }
    status = MCR_NO_MEMORY;
    if (fill == NULL || a.first == NULL || a.tail == NULL || s->link == NULL ||
        s->adjacent == NULL || (edge_label != NULL && (a.label == NULL || s->link_label == NULL)))
        goto done;
    sort_by_head(&a, s, edge_start, edge, edge_label);
    sort_by_tail(s, &a, fill);
    status = MCR_OK;
done:
    mcr_free_all(ctx, fill, a.first, a.tail, a.label);
    return status;
}

/* ---- features that occur ----------------------------------------------------------------------*/

mcr_status mcr_store_features(int32_t **out, int64_t *count, mcr *ctx,
                              const mcr_store *const *store, int stores)
{
    int64_t all = 0, at = 0;
    *count = 0;
    for (int s = 0; s < stores; s++)
        all += store[s]->start[store[s]->count];
    int32_t *list = mcr_alloc(ctx, (size_t)all, sizeof *list);
    *out = list;
    if (list == NULL)
        return MCR_NO_MEMORY;
    for (int s = 0; s < stores; s++)
        for (int64_t i = 0; i < store[s]->count; i++) {
            mcr_vector x = mcr_store_vector(store[s], i);
            for (int64_t e = 0; e < x.count; e++)
                list[at++] = (int32_t)mcr_vector_column(&x, e);
        }
    qsort(list, (size_t)all, sizeof *list, mcr_int32_rising);
    for (int64_t e = 0; e < all; e++)
        if (e == 0 || list[e] != list[e - 1])
            list[(*count)++] = list[e];
    return MCR_OK;
}

mcr_status mcr_store_renumber(mcr_store **out, const mcr_store *from, const int32_t *feature,
                              int64_t count)
{
    mcr_store *to;
    mcr_status status = mcr_store_new(&to, from->ctx, from->name, MCR_SPARSE);
    if (status != MCR_OK)
        return status;
    int64_t entries = from->start[from->count];
    to->count = from->count;
    to->cols = count > 0 ? count : 1;
    status = mcr_store_alloc_sparse(to, entries);
    if (status != MCR_OK) {
        mcr_store_free(to);
        return status;
    }
    memcpy(to->start, from->start, ((size_t)from->count + 1) * sizeof *to->start);
    for (int64_t i = 0; i < from->count; i++) {
        mcr_vector x = mcr_store_vector(from, i);
        mcr_vector_copy(&x, to->value + from->start[i], to->index + from->start[i]);
    }
    for (int64_t e = 0; e < entries; e++) {
        const int32_t *found = bsearch(&to->index[e], feature, (size_t)count, sizeof *feature,
                                       mcr_int32_rising);
        assert(found != NULL);
        to->index[e] = (int32_t)(found - feature);
    }
    *out = to;
    return MCR_OK;
}
