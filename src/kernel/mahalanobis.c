/* mahalanobis.c: x'Qz for a symmetric positive semidefinite Q (some texts call it the affine
 * kernel).
 *
 * Q comes from a file, as its numbers, or as its diagonal. The canonical form has the numbers, so
 * that a model needs no file. A diagonal scales the features; any other Q is factored, Q = L L',
 * and the kernel is the inner product of L'x and L'z, exactly symmetric: these are its features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/parts.h"
#include "kernel/vectors.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/threads.h"
#include "linalg/blas.h"

typedef struct mahalanobis_params {
    mcr_reals q, diag;
    char *file;
} mahalanobis_params;

static const mcr_param params[] = {
    {.name = "file",
     .type = MCR_TEXT,
     .offset = offsetof(mahalanobis_params, file),
     .flags = MCR_NAMES_FILE,
     .help = "Q as a square .npy or .csv matrix; its numbers are then part of the kernel"},
    MCR_FINITE_PARAM(mahalanobis_params, q, MCR_REALS, NULL,
                     "the numbers of Q, row by row: [2, 1, 1, 2]"),
    MCR_FINITE_PARAM(mahalanobis_params, diag, MCR_REALS, NULL,
                     "a diagonal Q: one number, or a list: one per feature"),
    {.name = NULL},
};

/* ---- reading and checking Q -------------------------------------------------------------------*/

static mcr_status read_file(mcr *ctx, mahalanobis_params *p)
{
    mcr_read_options options = {.size = sizeof options, .target = "none"};
    mcr_data *data = NULL;
    mcr_field_info info = MCR_INIT(mcr_field_info);
    mcr_status s = mcr_data_read(&data, ctx, p->file, &options);
    if (!s)
        s = mcr_data_field_info(data, 0, &info);
    if (s)
        goto done;
    int64_t n = mcr_data_count(data);
    bool vectors = (info.kind & (MCR_DENSE | MCR_SPARSE)) && mcr_data_fields(data) == 1;
    if (!vectors || n != info.cols || n < 1) {
        s = mcr_fail_at(ctx, MCR_BAD_DATA, p->file, 0,
                        "mahalanobis: needs a square matrix of numbers, not %" PRId64
                        " rows of %" PRId64,
                        n, info.cols);
        goto done;
    }
    p->q.values = mcr_alloc(ctx, (uint64_t)n * (uint64_t)n, sizeof *p->q.values);
    if (!p->q.values) {
        s = MCR_NO_MEMORY;
        goto done;
    }
    p->q.count = n * n;
    for (int64_t i = 0; i < n && !s; i++)
        s = mcr_data_vector(data, 0, i, p->q.values + i * n);
    if (!s) {
        mcr_free(ctx, p->file);
        p->file = NULL;
    }
done:
    mcr_data_free(data);
    return s;
}

/* Six digits are enough for people. */
static void print_rounded(char text[MCR_REAL_TEXT], double value)
{
    double digits = value != 0 ? 5 - floor(log10(fabs(value))) : 0, unit = pow(10, fabs(digits));
    if (fabs(digits) <= 22)
        value = digits > 0 ? round(value * unit) / unit : round(value / unit) * unit;
    mcr_print_real(text, value);
}

static mcr_status refuse(mcr *ctx, double eigenvalue)
{
    char text[MCR_REAL_TEXT];
    print_rounded(text, eigenvalue);
    return mcr_fail(ctx, MCR_BAD_CALL,
                    "mahalanobis: Q is not positive semidefinite: its smallest eigenvalue is %s",
                    text);
}

/* The order of the square matrix; 0: not a square number. */
static int64_t side_of(int64_t count)
{
    int64_t n = (int64_t)sqrt((double)count);
    while (n * n > count)
        n--;
    while ((n + 1) * (n + 1) <= count)
        n++;
    return n * n == count ? n : 0;
}

/* Removes asymmetry due to rounding. */
static mcr_status make_symmetric(mcr *ctx, double *q, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(q[i]));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double a = q[i * n + j], b = q[j * n + i];
            if (fabs(a - b) > 1e-12 * largest) {
                char ta[MCR_REAL_TEXT], tb[MCR_REAL_TEXT];
                mcr_print_real(ta, a);
                mcr_print_real(tb, b);
                return mcr_fail(ctx, MCR_BAD_CALL,
                                "mahalanobis: Q is not symmetric: row %" PRId64 " column %" PRId64
                                " is %s, but row %" PRId64 " column %" PRId64 " is %s",
                                i + 1, j + 1, ta, j + 1, i + 1, tb);
            }
            q[i * n + j] = q[j * n + i] = a + (b - a) / 2;
        }
    return MCR_OK;
}

static mcr_status check_eigenvalues(mcr *ctx, const double *q, int64_t n)
{
    double *a = mcr_alloc(ctx, (uint64_t)(n * n), sizeof *a);
    double *value = mcr_alloc(ctx, (size_t)n, sizeof *value);
    mcr_status s = a && value ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        memcpy(a, q, (size_t)(n * n) * sizeof *a);
        s = mcr_blas_eigen(ctx, n, a, n, false, value);
    }
    if (!s) {
        double bound = 8 * (double)n * DBL_EPSILON * fmax(fabs(value[0]), fabs(value[n - 1]));
        if (value[0] < -bound)
            s = refuse(ctx, value[0]);
    }
    mcr_free_all(ctx, a, value);
    return s;
}

static mcr_status check(mcr *ctx, void *values)
{
    mahalanobis_params *p = values;
    int given = (p->file != NULL) + (p->q.count > 0) + (p->diag.count > 0);
    if (given != 1)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "mahalanobis: give %s of file, q and diag, such as "
                        "mahalanobis(diag=[1, 0.5])",
                        given ? "only one" : "one");
    if (p->diag.count > 0) {
        double least = INFINITY;
        for (int64_t k = 0; k < p->diag.count; k++)
            least = fmin(least, p->diag.values[k]);
        return least < 0 ? refuse(ctx, least) : MCR_OK;
    }
    if (p->file) {
        mcr_status s = read_file(ctx, p);
        if (s)
            return s;
    }
    int64_t n = side_of(p->q.count);
    if (n == 0)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "mahalanobis: q has %" PRId64 " numbers, which make no square matrix",
                        p->q.count);
    mcr_status s = make_symmetric(ctx, p->q.values, n);
    return s ? s : check_eigenvalues(ctx, p->q.values, n);
}

/* ---- the factor -------------------------------------------------------------------------------*/

/* Q = L L' by Cholesky factorisation with pivoting, which also handles a singular Q: L is n x rank
 * with rows n apart. `left` is a workspace of n numbers. Returns the rank. */
static int64_t factor(double *l, double *left, const double *q, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        left[i] = q[i * n + i];
        largest = fmax(largest, left[i]);
    }
    for (int64_t j = 0; j < n; j++) {
        int64_t p = 0;
        for (int64_t i = 1; i < n; i++)
            p = left[i] > left[p] ? i : p;
        if (left[p] <= (double)n * DBL_EPSILON * largest)
            return j;
        double root = sqrt(left[p]);
        for (int64_t i = 0; i < n; i++) {
            double sum = q[i * n + p];
            for (int64_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[p * n + k];
            l[i * n + j] = sum / root;
        }
        for (int64_t i = 0; i < n; i++)
            left[i] -= l[i * n + j] * l[i * n + j];
        left[p] = -INFINITY;
    }
    return n;
}

mcr_status mcr_mahalanobis_factor(double **l, int64_t *n, int64_t *rank, const mcr_kernel *kernel)
{
    const mahalanobis_params *p = kernel->params;
    mcr *ctx = kernel->ctx;
    *l = NULL;
    *n = *rank = 0;
    if (p->diag.count > 0)
        return MCR_OK;
    *n = side_of(p->q.count);
    *l = mcr_alloc_zero(ctx, (size_t)p->q.count, sizeof **l);
    double *left = mcr_alloc(ctx, (size_t)*n, sizeof *left);
    mcr_status s = *l && left ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        *rank = factor(*l, left, p->q.values, *n);
    } else {
        mcr_free(ctx, *l);
        *l = NULL;
    }
    mcr_free(ctx, left);
    return s;
}

typedef struct project_job {
    const mcr_field *from;
    mcr_store *to;
    const double *l;
    int64_t n;
} project_job;

enum { CHUNK = 64 };

static mcr_status project_chunk(void *arg, int64_t first, int64_t end)
{
    const project_job *job = arg;
    int64_t rank = job->to->cols;
    for (int64_t i = first; i < end; i++) {
        mcr_vector x = mcr_field_vector(job->from, i);
        double *y = job->to->dense + i * rank;
        memset(y, 0, (size_t)rank * sizeof *y);
        for (int64_t e = 0; e < x.count; e++) {
            const double *row = job->l + job->n * mcr_vector_column(&x, e);
            double value = mcr_vector_value(&x, e);
            for (int64_t j = 0; j < rank; j++)
                y[j] += value * row[j];
        }
    }
    return MCR_OK;
}

/* L'x for every object of a side, as dense vectors; one zero column if Q is zero. */
static mcr_status project(mcr_store **out, size_t *bytes, const mcr_bound *bound, int side,
                          const double *l, int64_t n, int64_t rank)
{
    mcr *ctx = bound->ctx;
    const mcr_field *from = &bound->field[side];
    mcr_store *to;
    *out = NULL;
    mcr_status s = mcr_store_new(&to, ctx, from->store->name, MCR_DENSE);
    if (s)
        return s;
    to->count = from->count;
    to->cols = rank > 0 ? rank : 1;
    project_job job = {from, to, l, n};
    if (mcr_store_alloc_dense(to))
        s = mcr_fail(ctx, MCR_NO_MEMORY, "mahalanobis: out of memory for the projected vectors");
    else
        s = mcr_parallel_chunks(ctx, from->count, CHUNK, project_chunk, &job);
    if (!s)
        *bytes += (size_t)from->count * (size_t)to->cols * sizeof *to->dense;
    return mcr_store_give(out, to, s);
}

static mcr_status check_size(const mcr_bound *bound, int64_t n)
{
    const mcr_store *x = bound->field[0].store, *z = bound->field[1].store;
    int64_t cols = mcr_bound_cols(bound);
    bool sparse = x->kind == MCR_SPARSE && z->kind == MCR_SPARSE;
    if (cols == n || (sparse && cols < n))
        return MCR_OK;
    return mcr_fail(bound->ctx, MCR_BAD_DATA,
                    "mahalanobis: Q is %" PRId64 " x %" PRId64 ", but field \"%s\" has %" PRId64
                    " features",
                    n, n, x->name, cols);
}

static mcr_status join_factored(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                                const mcr_reals *q)
{
    mcr *ctx = bound->ctx;
    int64_t n = 0, rank = 0;
    mcr_store *store[2] = {NULL, NULL};
    double *l = NULL;
    size_t bytes = 0;
    mcr_status s = check_size(bound, side_of(q->count));
    if (!s)
        s = mcr_mahalanobis_factor(&l, &n, &rank, bound->kernel);
    for (int side = 0; side < (bound->same ? 1 : 2) && !s; side++)
        s = project(&store[side], &bytes, bound, side, l, n, rank);
    if (s) {
        mcr_store_free(store[0]);
        mcr_store_free(store[1]);
    } else {
        bound->listed[0] = store[0];
        bound->listed[1] = store[1];
        bound->listed_count = store[0]->cols;
        s = mcr_vectors_join_made(out, bound, binding, store, bytes, MCR_NEEDS_DOT, NULL, 0);
    }
    mcr_free(ctx, l);
    return s;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const mahalanobis_params *p = mcr_bound_params(bound);
    mcr_fused f = {.op = MCR_TILE_DOT};
    mcr_status s = p->diag.count > 0 ? mcr_vectors_join_each(&f.v, bound, binding, MCR_NEEDS_DOT,
                                                             "diag", &p->diag, sqrt, 0)
                                     : join_factored(&f.v, bound, binding, &p->q);
    return s ? s : mcr_vectors_offer(bound, &f);
}

/* The columns times the square root of the diagonal. */
static mcr_status scaled_features(const mcr_bound *bound, mcr_features *out, const mcr_reals *diag)
{
    double *scale;
    mcr_status s = mcr_vectors_spread(&scale, bound, "diag", diag);
    if (!s)
        s = mcr_features_vectors(bound, out);
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        for (int64_t e = 0; e < out->start[side][out->objects[side]]; e++)
            out->value[side][e] *= sqrt(scale[out->index[side][e]]);
    mcr_free(bound->ctx, scale);
    return s;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    const mahalanobis_params *p = mcr_bound_params(bound);
    if (p->diag.count > 0)
        return scaled_features(bound, out, &p->diag);
    mcr_status s = mcr_features_listed(bound, out);
    for (int64_t i = 0; out->names && i < out->count && !s; i++) {
        mcr_text_format(&out->names->text, "(L'x)%lld", (long long)i + 1);
        s = mcr_names_end(out->names);
    }
    return s;
}

MCR_ALWAYS_PSD(definite, "an inner product through a positive semidefinite matrix")

const mcr_kernel_type mcr_kernel_mahalanobis = {
    .name = "mahalanobis",
    .summary = "x'Qz for a symmetric positive semidefinite matrix Q, from a file or a diagonal",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(mahalanobis_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .features = features,
};
