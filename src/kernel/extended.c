/* extended.c: kernel values in extended precision, for certificates that double cannot decide.
 *
 * Computes single pairs from differences and sums in long double, if that has 64 bits or more.
 * Slow, so only for few objects and simple kernels: dot products, polynomials, Gaussian and
 * Laplacian ones, and sums, products, powers and normalisations of these.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "base/threads.h"
#include "kernel/built_in.h"
#include "kernel/vectors_impl.h"

#define MOST_WORK 1e9 /* features of pairs: about a second */

/* ---- single pairs ----------------------------------------------------------------------------*/

typedef enum pair_sum { SUM_PRODUCTS, SUM_SQUARES, SUM_ABSOLUTE } pair_sum;

static inline long double term(pair_sum kind, long double x, long double z)
{
    return kind == SUM_PRODUCTS ? x * z : kind == SUM_SQUARES ? (x - z) * (x - z) : fabsl(x - z);
}

static long double sum_pair(const mcr_vectors *v, int64_t i, int64_t j, pair_sum kind)
{
    mcr_vector x = mcr_vectors_object(v, 0, i), z = mcr_vectors_object(v, v->same ? 0 : 1, j);
    long double sum = 0;
    if (!x.index && !z.index && mcr_vector_plain(&x) && mcr_vector_plain(&z)) {
        const double *a = x.value, *b = z.value;
        for (int64_t e = 0; e < x.count && e < z.count; e++)
            sum += term(kind, a[e], b[e]);
        return sum;
    }
    for (int64_t e = 0, g = 0; e < x.count || g < z.count;) {
        int64_t p = e < x.count ? mcr_vector_column(&x, e) : INT64_MAX;
        int64_t q = g < z.count ? mcr_vector_column(&z, g) : INT64_MAX;
        double a = p <= q ? mcr_vector_value(&x, e) : 0, b = q <= p ? mcr_vector_value(&z, g) : 0;
        sum += term(kind, a, b);
        e += p <= q;
        g += q <= p;
    }
    return sum;
}

static long double power_of(long double value, int64_t degree)
{
    long double power = 1;
    for (; degree > 0; degree /= 2, value *= value)
        power *= degree % 2 ? value : 1;
    return power;
}

/* exp(x), x <= 0, with an absolute error of a few units of extended precision. Uses double if the
 * value is below one unit: expl raises underflow for tiny values, which is slow. */
static long double decay(long double x)
{
    return x < -700 ? 0 : x < -46 ? (long double)exp((double)x) : expl(x);
}

static long double leaf_value(const mcr_fused *f, int64_t i, int64_t j)
{
    switch (f->op) {
    case MCR_TILE_DOT: return sum_pair(f->v, i, j, SUM_PRODUCTS);
    case MCR_TILE_POLY:
        return power_of((long double)f->scale * sum_pair(f->v, i, j, SUM_PRODUCTS) +
                            (long double)f->offset,
                        f->degree);
    case MCR_TILE_RBF: return decay(-(long double)f->gamma * sum_pair(f->v, i, j, SUM_SQUARES));
    default: return decay(-(long double)f->gamma * sum_pair(f->v, i, j, SUM_ABSOLUTE));
    }
}

static long double value_of(const mcr_bound *b, int64_t i, int64_t j)
{
    double constant;
    if (b->fused)
        return leaf_value(b->fused, i, j);
    if (mcr_kernel_is_constant(b->kernel, &constant))
        return constant;
    long double first = value_of(b->child[0], i, j);
    if (b->kernel->type == &mcr_kernel_power)
        return power_of(first, mcr_kernel_degree(b->kernel));
    if (b->kernel->type == &mcr_kernel_normalize) {
        long double size = sqrtl(value_of(b->child[0], i, i) * value_of(b->child[0], j, j));
        return size > 0 ? first / size : 0;
    }
    for (int c = 1; c < b->children; c++) {
        long double next = value_of(b->child[c], i, j);
        first = b->kernel->type == &mcr_kernel_sum ? first + next : first * next;
    }
    return first;
}

/* Whether the kernel is supported; *work: per value. */
static bool suits(const mcr_bound *b, double *work)
{
    const mcr_kernel_type *type = b->kernel->type;
    double constant;
    if (b->fused) {
        mcr_tile_op op = b->fused->op;
        *work += 64 + (double)b->fused->v->cols;
        return !b->fused->map && !b->fused->v->scale &&
               (op == MCR_TILE_DOT || op == MCR_TILE_POLY || op == MCR_TILE_RBF ||
                op == MCR_TILE_EXP_L1);
    }
    if (mcr_kernel_is_constant(b->kernel, &constant))
        return true;
    bool fine = type == &mcr_kernel_sum || type == &mcr_kernel_product ||
                type == &mcr_kernel_power || type == &mcr_kernel_normalize;
    for (int c = 0; c < b->children && fine; c++)
        fine = suits(b->child[c], work);
    return fine && b->children > 0;
}

/* ---- sums ------------------------------------------------------------------------------------*/

/* Objects that are listed several times, as in nu-svr, are computed once. */
typedef struct extended_job {
    const mcr_bound *root;
    const mcr_extended *to;
    int64_t *next;  /* for each position the next one with the same object; -1: none */
    int64_t *used;  /* first positions of objects with coefficients, at most n */
    int64_t *first; /* first positions of all objects, `rows` */
    long double *a; /* n x outputs: sums of the coefficients, at first positions */
    int64_t count, rows;
    int64_t terms, wanted; /* positions with coefficients; objects requested */
    bool apart;            /* each position is an object: rows are too far apart for a table */
} extended_job;

static int64_t object_at(const extended_job *job, int64_t i)
{
    return job->to->object ? job->to->object[i] : i;
}

/* The stored row of the object at a position: positions of a view with repeated rows have the same
 * object if these are equal. */
static int64_t key_at(const extended_job *job, int64_t i)
{
    const int64_t *rows = job->root->data[0]->rows;
    return job->apart ? i : rows ? rows[object_at(job, i)] : object_at(job, i);
}

/* The number of keys from the smallest to the largest. */
static int64_t span_of(const extended_job *job, int64_t *least)
{
    int64_t most = 0;
    *least = job->to->n > 0 ? key_at(job, 0) : 0;
    for (int64_t i = 0; i < job->to->n; i++) {
        int64_t key = key_at(job, i);
        *least = key < *least ? key : *least;
        most = key > most ? key : most;
    }
    return most - *least + 1;
}

/* Copies the sums of an object to all its positions that are requested. */
static void write_sums(const extended_job *job, int64_t i, int64_t first, int64_t k,
                       const long double *sum)
{
    const mcr_extended *to = job->to;
    for (; i >= 0; i = job->next[i]) {
        if (to->wanted && !to->wanted[i])
            continue;
        for (int64_t o = 0; o < k; o++) {
            double high = (double)sum[o];
            to->f[i * to->outputs + first + o] = high;
            to->low[i * to->outputs + first + o] = (double)(sum[o] - (long double)high);
        }
    }
}

static bool is_wanted(const extended_job *job, int64_t i)
{
    const bool *wanted = job->to->wanted;
    while (wanted && i >= 0 && !wanted[i])
        i = job->next[i];
    return i >= 0;
}

static mcr_status sum_row(void *arg, int64_t item, int worker)
{
    (void)worker;
    const extended_job *job = arg;
    enum { MOST = 64 };
    long double sum[MOST];
    int64_t i = job->first[item], outputs = job->to->outputs;
    if (!is_wanted(job, i))
        return MCR_OK;
    for (int64_t first = 0; first < outputs; first += MOST) {
        int64_t k = outputs - first < MOST ? outputs - first : MOST;
        for (int64_t o = 0; o < k; o++)
            sum[o] = 0;
        for (int64_t u = 0; u < job->count; u++) {
            int64_t j = job->used[u];
            long double value = value_of(job->root, object_at(job, i), object_at(job, j));
            for (int64_t o = 0; o < k; o++)
                sum[o] += value * job->a[j * outputs + first + o];
        }
        write_sums(job, i, first, k, sum);
    }
    return MCR_OK;
}

/* Fills next, first, used and a; last: one number for each key from the smallest on. */
static void list_objects(extended_job *job, int64_t *last, int64_t least, int64_t span)
{
    const mcr_extended *to = job->to;
    int64_t k = to->outputs;
    for (int64_t i = 0; i < span; i++)
        last[i] = -1;
    for (int64_t i = to->n - 1; i >= 0; i--) { /* so that chains begin at the first place */
        int64_t *before = &last[key_at(job, i) - least];
        job->next[i] = *before;
        for (int64_t o = 0; o < k; o++)
            job->a[i * k + o] = (long double)to->a[i * k + o] +
                                (*before >= 0 ? job->a[*before * k + o] : 0);
        *before = i;
    }
    for (int64_t i = 0; i < to->n; i++) {
        bool any = false, own = false;
        for (int64_t o = 0; o < k; o++) {
            any |= job->a[i * k + o] != 0;
            own |= to->a[i * k + o] != 0;
        }
        job->terms += own;
        if (last[key_at(job, i) - least] != i)
            continue;
        job->first[job->rows++] = i;
        job->wanted += is_wanted(job, i);
        job->used[job->count] = i;
        job->count += any;
    }
}

mcr_status mcr_binding_extended(mcr_binding *binding, mcr_extended *to)
{
    const mcr_bound *root = binding->root;
    enum { FAR = 64 };
    size_t n = (size_t)to->n;
    double work = 0;
    to->share = INFINITY;
    if (LDBL_MANT_DIG < 64 || !root->same || !suits(root, &work))
        return MCR_OK;
    extended_job job = {.root = root, .to = to};
    int64_t least, span = span_of(&job, &least);
    job.apart = span > FAR * (to->n + 1);
    span = job.apart ? span_of(&job, &least) : span;
    job.next = mcr_alloc(binding->ctx, 3 * n + (uint64_t)span, sizeof *job.next);
    job.a = mcr_alloc(binding->ctx, n, (size_t)to->outputs * sizeof *job.a);
    mcr_status s = job.next && job.a ? MCR_OK : MCR_NO_MEMORY;
    mcr_error r = {INFINITY, INFINITY};
    if (!s) {
        job.used = job.next + n;
        job.first = job.used + n;
        list_objects(&job, job.first + n, least, span);
    }
    if (!s && work * (double)job.count * (double)job.wanted <= MOST_WORK)
        s = mcr_binding_extended_error(binding, &r);
    if (!s && isfinite(r.absolute)) {
        s = mcr_parallel(binding->ctx, job.rows, sum_row, &job);
        /* Rounding of products and sums, including those of coefficients, and the part that f and
         * low lose. */
        to->share = r.absolute + ((double)job.terms + 4) * MCR_EXTENDED_UNIT;
    }
    mcr_free_all(binding->ctx, job.next, job.a);
    return s;
}
