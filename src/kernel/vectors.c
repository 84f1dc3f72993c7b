/* vectors.c: joining, norms, diagonals, single pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors_impl.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/threads.h"

/* ---- joining ----------------------------------------------------------------------------------*/

static bool same_field(const mcr_field *a, const mcr_field *b)
{
    return a->store == b->store && a->rows == b->rows && a->first == b->first &&
           a->count == b->count;
}

static bool same_scale(const mcr_vectors *v, const double *scale)
{
    if (!v->scale || !scale)
        return v->scale == scale;
    if (v->cols != v->origin[0].store->cols && v->cols != v->origin[1].store->cols)
        return false; /* renumbered: not compared */
    return memcmp(v->scale, scale, (size_t)v->cols * sizeof *scale) == 0;
}

/* Dot products and distances are computed from one product; sums of other kinds are separate,
 * because they are shifted differently or not at all. */
static bool same_work(int a, int b)
{
    const int products = MCR_NEEDS_DOT | MCR_NEEDS_DISTANCE;
    return (a & products) ? (b & products) != 0 : a == b;
}

static void free_one(mcr_vectors *v)
{
    mcr *ctx = v->ctx;
    for (int p = 0; p < 2; p++) {
        mcr_free(ctx, v->panels[p].values);
        if (v->side[0].norms[p] != v->side[1].norms[p])
            mcr_free(ctx, v->side[0].norms[p]);
        mcr_free(ctx, v->side[1].norms[p]);
    }
    for (int s = 0; s < 2; s++) {
        if (s == 1 && v->same)
            break;
        mcr_free_all(ctx, v->side[s].norm2, v->side[s].lift);
        mcr_store_free(v->made[s]);
    }
    mcr_free_all(ctx, v->scale, v->shift);
    mcr_budget_give(ctx, v->budget);
    mcr_free(ctx, v);
}

/* Copies the scale of the remaining features, or of all (feature NULL). */
static mcr_status set_scale(mcr_vectors *v, const double *scale, const int32_t *feature)
{
    v->scale = mcr_alloc(v->ctx, (size_t)v->cols, sizeof *scale);
    for (int64_t k = 0; k < v->cols && v->scale; k++)
        v->scale[k] = scale[feature ? feature[k] : k];
    return v->scale ? MCR_OK : MCR_NO_MEMORY;
}

/* Keeps only the features that occur, for vectors of a billion features with few of them. */
static mcr_status drop_absent(mcr_vectors *v, const double *scale)
{
    int32_t *feature = NULL;
    int64_t features = 0;
    const mcr_store *from[2] = {v->side[0].field.store, v->side[1].field.store};
    mcr_status s = mcr_store_features(&feature, &features, v->ctx, from, v->same ? 1 : 2);
    for (int side = 0; side < 2 && !s; side++) {
        if (side == 1 && v->same) {
            v->side[1].field.store = v->made[0];
            break;
        }
        s = mcr_store_renumber(&v->made[side], from[side], feature, features);
        v->side[side].field.store = v->made[side];
    }
    if (!s)
        v->cols = features > 0 ? features : 1;
    if (!s && scale)
        s = set_scale(v, scale, features > 0 ? feature : NULL);
    mcr_free(v->ctx, feature);
    return s;
}

static mcr_status make_one(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                           const mcr_field field[2], const double *scale)
{
    enum { MANY = 1 << 20, TIMES = 8 };
    mcr_vectors *v = mcr_alloc_zero(bound->ctx, 1, sizeof *v);
    if (!v)
        return MCR_NO_MEMORY;
    v->ctx = bound->ctx;
    v->binding = binding;
    v->same = bound->same;
    v->side[0].field = field[0];
    v->side[1].field = field[1];
    v->product_slot = v->distance_slot = -1;
    /* Sparse sides may end before features that no object has (bind.c has checked the others). */
    int64_t x = field[0].store->cols, z = field[1].store->cols;
    v->cols = x > z ? x : z;
    v->origin[0] = field[0];
    v->origin[1] = field[1];
    bool absent = v->cols > MANY && !mcr_vectors_dense(v, 0) && !mcr_vectors_dense(v, 1) &&
                  v->cols / TIMES > field[0].store->start[field[0].store->count] +
                                        field[1].store->start[field[1].store->count];
    mcr_status s = absent ? drop_absent(v, scale) : scale ? set_scale(v, scale, NULL) : MCR_OK;
    if (s)
        free_one(v);
    else
        *out = v;
    return s;
}

static void take_slot(int *slot, mcr_binding *binding)
{
    if (*slot < 0)
        *slot = binding->shared_slots++;
}

static mcr_status add_needs(mcr_vectors *v, mcr_binding *binding, int needs, double sharpness)
{
    assert(!v->planned);
    v->dot_leaves += (needs & MCR_NEEDS_DOT) != 0;
    v->distance_leaves += (needs & MCR_NEEDS_DISTANCE) != 0;
    v->needs |= needs;
    v->sharpness = fmax(v->sharpness, sharpness);
    if (v->dot_leaves > 1 || (v->dot_leaves && v->distance_leaves))
        take_slot(&v->product_slot, binding);
    if (v->distance_leaves > 1)
        take_slot(&v->distance_slot, binding);
    mcr_status s = MCR_OK;
    for (int side = 0; side < 2 && (needs & MCR_NEEDS_DOT) && !s; side++) {
        if (v->side[side].norm2)
            continue;
        void *norm2 = NULL;
        if (side == 1 && v->same)
            norm2 = v->side[0].norm2;
        else
            s = mcr_vectors_norms(&norm2, v, side, true, false);
        v->side[side].norm2 = norm2;
    }
    return s;
}

mcr_status mcr_vectors_join(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding, int needs,
                            const double *scale, double sharpness)
{
    *out = NULL;
    mcr_vectors *v = binding->vectors;
    while (v && !(same_field(&v->origin[0], &bound->field[0]) &&
                  same_field(&v->origin[1], &bound->field[1]) && same_scale(v, scale) &&
                  same_work(v->needs, needs)))
        v = v->next;
    mcr_status s = MCR_OK;
    if (!v) {
        s = make_one(&v, bound, binding, bound->field, scale);
        if (s)
            return s;
        v->next = binding->vectors;
        binding->vectors = v;
    }
    s = add_needs(v, binding, needs, sharpness);
    if (!s)
        *out = v;
    return s;
}

mcr_status mcr_vectors_join_made(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                                 mcr_store *const store[2], size_t bytes, int needs,
                                 const double *scale, double sharpness)
{
    *out = NULL;
    mcr_store *z = bound->same ? store[0] : store[1];
    mcr_field field[2] = {{store[0], NULL, 0, store[0]->count}, {z, NULL, 0, z->count}};
    mcr_vectors *v = NULL;
    mcr_status s = mcr_budget_take(bound->ctx, bytes, bound->kernel->type->name);
    if (!s) {
        s = make_one(&v, bound, binding, field, scale);
        if (s)
            mcr_budget_give(bound->ctx, bytes);
    }
    if (s) {
        mcr_store_free(store[0]);
        if (!bound->same)
            mcr_store_free(store[1]);
        return s;
    }
    v->budget = bytes;
    v->made[0] = store[0];
    v->made[1] = bound->same ? NULL : store[1];
    v->next = binding->vectors;
    binding->vectors = v;
    s = add_needs(v, binding, needs, sharpness);
    if (!s)
        *out = v;
    return s;
}

void mcr_vectors_free(mcr_vectors *list)
{
    while (list) {
        mcr_vectors *next = list->next;
        free_one(list);
        list = next;
    }
}

mcr_status mcr_vectors_check_norm(const mcr_vectors *v, int side, int64_t i, double norm,
                                  bool precise)
{
    if (norm <= v->reach[precise])
        return MCR_OK;
    const char *of = v->same     ? ""
                     : side == 0 ? " of the first data set"
                                 : " of the second data set";
    return mcr_fail(v->ctx, MCR_NUMERIC,
                    "%s: object %" PRId64 "%s is so long that its values are too large for %s "
                    "numbers; scale the data",
                    v->owner, i + 1, of, precise ? "double" : "float");
}

/* |x.z| is at most |x||z|: the longest objects decide. */
static mcr_status check_products(const mcr_vectors *v, bool precise)
{
    double largest[2] = {0, 0};
    int64_t where[2] = {0, 0};
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < v->side[side].field.count; i++)
            if (!(v->side[side].norm2[i] <= largest[side])) {
                largest[side] = v->side[side].norm2[i];
                where[side] = i;
            }
    int side = largest[1] > largest[0];
    return mcr_vectors_check_norm(v, side, where[side], sqrt(largest[0]) * sqrt(largest[1]),
                                  precise);
}

mcr_status mcr_vectors_prepare(mcr_vectors *list, bool precise, bool lists)
{
    for (mcr_vectors *v = list; v; v = v->next) {
        mcr_status s = v->planned ? MCR_OK : mcr_vectors_plan(v);
        if (!s && (v->needs & MCR_NEEDS_DOT))
            s = check_products(v, precise);
        const mcr_vector_panels *panels = &v->panels[precise];
        if (!s && (!panels->ready || (panels->lists && !lists)))
            s = mcr_vectors_pack(v, precise, lists);
        if (s)
            return s;
    }
    return MCR_OK;
}

/* Distances are sums of four products. */
static void limit_reach(mcr_vectors *v, const mcr_fused *fused, const char *owner)
{
    const double most[2] = {FLT_MAX / 4, DBL_MAX / 4};
    for (int precise = 0; precise < 2; precise++) {
        double reach = most[precise];
        if (fused->op == MCR_TILE_POLY)
            reach = (pow(reach, 1.0 / fused->degree) - fused->offset) / fused->scale;
        if (!v->owner || reach < v->reach[precise])
            v->reach[precise] = reach;
    }
    if (!v->owner || fused->op == MCR_TILE_POLY)
        v->owner = owner;
}

mcr_status mcr_vectors_offer(mcr_bound *bound, const mcr_fused *fused)
{
    limit_reach(fused->v, fused, bound->kernel->type->name);
    mcr_fused *copy = mcr_bound_alloc(bound, 1, sizeof *copy);
    if (!copy)
        return MCR_NO_MEMORY;
    *copy = *fused;
    bound->fused = copy;
    mcr_bound_set_state(bound, copy);
    return MCR_OK;
}

mcr_status mcr_vectors_spread(double **scale, const mcr_bound *bound, const char *parameter,
                              const mcr_reals *values)
{
    const mcr_store *x = bound->field[0].store, *z = bound->field[1].store;
    int64_t cols = mcr_bound_cols(bound);
    bool sparse = x->kind == MCR_SPARSE && z->kind == MCR_SPARSE;
    *scale = NULL;
    if (values->count != 1 && values->count != cols && !(sparse && values->count > cols))
        return mcr_fail(bound->ctx, MCR_BAD_DATA,
                        "%s: %s has %" PRId64 " values, but field \"%s\" has %" PRId64
                        " features; give one value, or one per feature",
                        bound->kernel->type->name, parameter, values->count, x->name, cols);
    *scale = mcr_alloc(bound->ctx, (size_t)cols, sizeof **scale);
    if (!*scale)
        return MCR_NO_MEMORY;
    for (int64_t k = 0; k < cols; k++)
        (*scale)[k] = values->values[values->count == 1 ? 0 : k];
    return MCR_OK;
}

mcr_status mcr_vectors_join_each(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                                 int needs, const char *parameter, const mcr_reals *values,
                                 double (*scale_of)(double), double sharpness)
{
    *out = NULL;
    double *scale;
    mcr_status s = mcr_vectors_spread(&scale, bound, parameter, values);
    if (s)
        return s;
    int64_t cols = mcr_bound_cols(bound);
    for (int64_t k = 0; k < cols; k++)
        scale[k] = scale_of(scale[k]);
    s = mcr_vectors_join(out, bound, binding, needs, scale, sharpness);
    mcr_free(bound->ctx, scale);
    return s;
}

mcr_status mcr_vectors_join_scaled(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                                   int needs, const char *parameter, const mcr_reals *values,
                                   double (*scale_of)(double), double sharpness)
{
    if (values->count == 1)
        return mcr_vectors_join(out, bound, binding, needs, NULL, sharpness);
    return mcr_vectors_join_each(out, bound, binding, needs, parameter, values, scale_of,
                                 sharpness);
}

/* ---- objects ----------------------------------------------------------------------------------*/

mcr_tile_source mcr_vectors_source(const mcr_vectors *v, int side, bool shifted, int64_t *offset)
{
    const mcr_field *f = &v->side[side].field;
    *offset = f->rows ? 0 : f->first;
    mcr_tile_source source = {
        .dims = v->cols,
        .rows = f->rows,
        .scale = v->scale,
        .shift = shifted ? v->shift : NULL,
    };
    const mcr_store *s = f->store;
    bool lent = s->lent.value != NULL;
    source.single = s->lent.single;
    source.wide = s->lent.wide;
    if (s->kind == MCR_DENSE) {
        source.dense = lent ? s->lent.value : s->dense;
        source.ld = lent ? s->lent.row_step : s->cols;
        source.step = lent ? s->lent.col_step : 1;
    } else {
        source.start = s->start;
        source.feature = lent ? s->lent.index : s->index;
        source.value = lent ? s->lent.value : s->value;
    }
    return source;
}

typedef struct smallest_job {
    const mcr_vectors *v;
    int side;
    double *value; /* of each chunk, with its place */
    int64_t *object, *feature;
} smallest_job;

enum { OBJECT_CHUNK = 256 };

/* The first feature that a sparse object lacks. */
static int64_t first_gap(const mcr_vector *x)
{
    int64_t k = 0;
    while (k < x->count && mcr_vector_column(x, k) == k)
        k++;
    return k;
}

static void smallest_of_object(const smallest_job *job, int64_t item, int64_t i)
{
    mcr_vector x = mcr_vectors_object(job->v, job->side, i);
    for (int64_t e = 0; e < x.count; e++)
        if (mcr_vector_value(&x, e) < job->value[item]) {
            job->value[item] = mcr_vector_value(&x, e);
            job->object[item] = i;
            job->feature[item] = mcr_vector_column(&x, e);
        }
    if (x.count < job->v->cols && job->value[item] > 0) {
        job->value[item] = 0;
        job->object[item] = i;
        job->feature[item] = first_gap(&x);
    }
}

static mcr_status smallest_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const smallest_job *job = arg;
    int64_t n = job->v->side[job->side].field.count, first = item * OBJECT_CHUNK;
    int64_t end = first + OBJECT_CHUNK < n ? first + OBJECT_CHUNK : n;
    job->value[item] = INFINITY;
    for (int64_t i = first; i < end; i++)
        smallest_of_object(job, item, i);
    return MCR_OK;
}

/* The smallest value on both sides (0 if sparse rows have gaps), and its position. */
static mcr_status find_smallest(const mcr_vectors *v, double *value, int *side, int64_t *object,
                                int64_t *feature)
{
    *value = INFINITY;
    *side = 0;
    *object = *feature = -1;
    mcr_status s = MCR_OK;
    for (int side_now = 0; side_now < (v->same ? 1 : 2) && !s; side_now++) {
        int64_t chunks = mcr_parts(v->side[side_now].field.count, OBJECT_CHUNK);
        smallest_job job = {v, side_now, mcr_alloc(v->ctx, (size_t)chunks, sizeof(double)),
                            mcr_alloc(v->ctx, (size_t)chunks, sizeof(int64_t)),
                            mcr_alloc(v->ctx, (size_t)chunks, sizeof(int64_t))};
        if (job.value && job.object && job.feature)
            s = mcr_parallel(v->ctx, chunks, smallest_chunk, &job);
        else
            s = MCR_NO_MEMORY;
        for (int64_t c = 0; c < chunks && !s; c++)
            if (job.value[c] < *value) {
                *value = job.value[c];
                *side = side_now;
                *object = job.object[c];
                *feature = job.feature[c];
            }
        mcr_free_all(v->ctx, job.value, job.object, job.feature);
    }
    return s;
}

mcr_status mcr_vectors_refuse_negative(const mcr_vectors *v, const mcr_bound *bound)
{
    double value;
    int side;
    int64_t object, feature;
    mcr_status s = find_smallest(v, &value, &side, &object, &feature);
    if (s || value >= 0 || object < 0)
        return s;
    char text[MCR_REAL_TEXT];
    mcr_print_real(text, value);
    const char *of = v->same     ? ""
                     : side == 0 ? " of the first data set"
                                 : " of the second data set";
    return mcr_fail(v->ctx, MCR_BAD_DATA,
                    "%s: object %" PRId64 "%s has the value %s in feature %" PRId64
                    " (both counted from 1), but this kernel accepts no negative values; scale the "
                    "data to start at 0, or use another kernel",
                    bound->kernel->type->name, object + 1, of, text, feature + 1);
}

/* ---- norms ------------------------------------------------------------------------------------*/

typedef struct norms_job {
    const mcr_vectors *v;
    const mcr_tile_kit *kit;
    int side;
    bool panel; /* through a dense panel: sums without branches; else through sparse rows */
    mcr_tile_source source;
    int64_t offset;
    char *out, *buffer;
    size_t buffer_bytes; /* of a worker */
    int64_t entries;     /* sparse: most in a chunk */
} norms_job;

static mcr_status norms_chunk(void *arg, int64_t item, int worker)
{
    const norms_job *job = arg;
    int32_t width = job->kit->width;
    int64_t first = item * width, left = job->v->side[job->side].field.count - first;
    int64_t count = left < width ? left : width;
    size_t real = (size_t)job->kit->bytes;
    char *buffer = job->buffer + (size_t)worker * job->buffer_bytes;
    void *out = job->out + (size_t)first * real;
    if (job->panel) {
        job->kit->pack(buffer, width, &job->source, job->offset + first, count);
        job->kit->norms(out, buffer, width, job->v->cols);
        if (count < width)
            memset((char *)out + (size_t)count * real, 0, (size_t)(width - count) * real);
        return MCR_OK;
    }
    int64_t *start = (int64_t *)(void *)buffer;
    void *value = start + width + 1;
    int32_t *index = (int32_t *)(void *)((char *)value + (size_t)job->entries * real);
    job->kit->pack_sparse(start, index, value, &job->source, job->offset + first, count);
    job->kit->norms_sparse(out, start, value, count);
    memset((char *)out + (size_t)count * real, 0, (size_t)(width - count) * real);
    return MCR_OK;
}

/* The largest number of entries of `width` consecutive objects. */
static int64_t most_entries(const mcr_vectors *v, int side, int32_t width)
{
    int64_t most = 0, sum = 0, n = v->side[side].field.count;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = mcr_vectors_object(v, side, i).count;
        sum = i % width ? sum + count : count;
        most = sum > most ? sum : most;
    }
    return most;
}

mcr_status mcr_vectors_norms(void **out, const mcr_vectors *v, int side, bool precise, bool shifted)
{
    *out = NULL;
    norms_job job = {.v = v, .kit = mcr_vectors_kit(precise), .side = side};
    int32_t width = job.kit->width;
    size_t real = (size_t)job.kit->bytes, workers = (size_t)mcr_workers(v->ctx);
    job.source = mcr_vectors_source(v, side, shifted, &job.offset);
    job.panel = mcr_vectors_dense(v, side) || job.source.shift;
    if (job.panel) {
        job.buffer_bytes = (size_t)v->cols * (size_t)width * real;
    } else {
        job.entries = most_entries(v, side, width);
        job.buffer_bytes = (size_t)(width + 1) * sizeof(int64_t) +
                           (size_t)job.entries * (real + sizeof(int32_t));
    }
    job.buffer_bytes = (job.buffer_bytes + 63) / 64 * 64;
    int64_t panels = mcr_tile_panels(v->side[side].field.count, width);
    job.out = mcr_alloc(v->ctx, (uint64_t)(panels * width), real);
    job.buffer = mcr_alloc(v->ctx, workers, job.buffer_bytes);
    mcr_status s = MCR_NO_MEMORY;
    if (job.out && job.buffer)
        s = mcr_parallel(v->ctx, panels, norms_chunk, &job);
    mcr_free(v->ctx, job.buffer);
    if (s)
        mcr_free(v->ctx, job.out);
    else
        *out = job.out;
    return s;
}

/* ---- single pairs -----------------------------------------------------------------------------*/

static double scaled_square(const mcr_vectors *v, int64_t k, double difference)
{
    if (v->scale)
        difference *= v->scale[k];
    return difference * difference;
}

static inline double difference(const mcr_vector *x, const mcr_vector *z, int64_t k, bool plain)
{
    return plain ? ((const double *)x->value)[k] - ((const double *)z->value)[k]
                 : mcr_vector_value(x, k) - mcr_vector_value(z, k);
}

/* plain is a compile-time constant in each call, so that the common loop has no branch. */
static inline double exact_dense(const mcr_vectors *v, const mcr_vector *x, const mcr_vector *z,
                                 bool plain)
{
    double sum[4] = {0};
    int64_t k = 0;
    for (; k + 4 <= v->cols; k += 4)
        for (int64_t q = 0; q < 4; q++)
            sum[q] += scaled_square(v, k + q, difference(x, z, k + q, plain));
    for (; k < v->cols; k++)
        sum[0] += scaled_square(v, k, difference(x, z, k, plain));
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double exact_mixed(const mcr_vectors *v, const mcr_vector *dense, const mcr_vector *sparse)
{
    double sum = 0;
    int64_t e = 0;
    for (int64_t k = 0; k < v->cols; k++) {
        bool has = e < sparse->count && mcr_vector_column(sparse, e) == k;
        double other = has ? mcr_vector_value(sparse, e++) : 0;
        sum += scaled_square(v, k, mcr_vector_value(dense, k) - other);
    }
    return sum;
}

static double exact_sparse(const mcr_vectors *v, const mcr_vector *a, const mcr_vector *b)
{
    double sum = 0;
    int64_t p = 0, q = 0;
    while (p < a->count || q < b->count) {
        int64_t kp = p < a->count ? mcr_vector_column(a, p) : INT32_MAX;
        int64_t kq = q < b->count ? mcr_vector_column(b, q) : INT32_MAX;
        int64_t k = kp < kq ? kp : kq;
        double x = kp == k ? mcr_vector_value(a, p++) : 0;
        double z = kq == k ? mcr_vector_value(b, q++) : 0;
        sum += scaled_square(v, k, x - z);
    }
    return sum;
}

double mcr_vectors_exact(const mcr_vectors *v, int64_t i, int64_t j)
{
    mcr_vector x = mcr_vectors_object(v, 0, i), z = mcr_vectors_object(v, 1, j);
    if (!x.index && !z.index)
        return mcr_vector_plain(&x) && mcr_vector_plain(&z) ? exact_dense(v, &x, &z, true)
                                                            : exact_dense(v, &x, &z, false);
    if (!x.index)
        return exact_mixed(v, &x, &z);
    if (!z.index)
        return exact_mixed(v, &z, &x);
    return exact_sparse(v, &x, &z);
}

/* ---- diagonals --------------------------------------------------------------------------------*/

/* sum min(x, x), in the order of the features like the tiles. */
static double sum_of_object(const mcr_vectors *v, int side, int64_t i)
{
    mcr_vector x = mcr_vectors_object(v, side, i);
    double sum = 0;
    for (int64_t e = 0; e < x.count; e++)
        sum += v->scale ? mcr_vector_value(&x, e) * v->scale[mcr_vector_column(&x, e)]
                        : mcr_vector_value(&x, e);
    return sum;
}

mcr_status mcr_vectors_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    const mcr_fused *f = bound->fused;
    const mcr_vectors *v = f->v;
    const mcr_vmath *math = mcr_tiles_best()->f64->math;
    bool dots = f->op == MCR_TILE_DOT || f->op == MCR_TILE_POLY;
    for (int64_t t = 0; t < rows.count; t++) {
        int64_t i = mcr_rows_at(rows, t);
        double xx = dots ? v->side[side].norm2[i] : 0;
        k[t] = f->op == MCR_TILE_MIN ? sum_of_object(v, side, i) : xx;
        if (f->map)
            f->map(f, math, k + t, 1, xx, &xx);
    }
    if (f->op == MCR_TILE_POLY) {
        math->affine(k, f->scale, f->offset, rows.count);
        math->power(k, f->degree, rows.count);
    } else if (f->op == MCR_TILE_RBF || f->op == MCR_TILE_EXP_L1 || f->op == MCR_TILE_EXP_CHI2) {
        math->fill(k, 1, rows.count);
    }
    return MCR_OK;
}
