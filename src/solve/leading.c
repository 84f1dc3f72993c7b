/* leading.c: leading eigenpairs by a block Krylov method with thick restarts, or by LAPACK.
 *
 * Rayleigh-Ritz on a growing orthonormal basis V (rows), which each step extends by the residuals
 * of the Ritz pairs that are not yet good enough: without a preconditioner these span the block
 * Krylov space (Saad, Numerical Methods for Large Eigenvalue Problems, 2011, ch. 6 to 8), and no
 * recurrence can lose orthogonality. A V is stored with V, so a step multiplies A only by the new
 * vectors: A is read once for a whole block of them, which takes most of the time. When the space
 * is full, the best Ritz vectors become the new basis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/leading.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/random.h"
#include "base/team.h"
#include "linalg/shared.h"

/* Vectors of a block: a product with fewer takes as long, because A must be read anyway. Additional
 * Ritz pairs, so that the last wanted pair converges as fast as the others. */
enum { LEAST_BLOCK = 16, MOST_BLOCK = 48, GUARDS = 6 };
/* Below this many objects, or with more than a 12th of all vectors wanted, LAPACK takes less
 * time. */
enum { LEAST_OBJECTS = 300, LEAST_RATIO = 12 };
/* Rows of a product if the method does not prescribe them. */
enum { ROWS = 64 };

/* A direction with a smaller share of its length left is rounding error. */
static const double lost = 1e-10;

typedef struct krylov {
    mcr *ctx;
    const mcr_leading *p;
    int64_t n, block, most; /* vectors of a step, of the basis */
    int64_t size;           /* of the basis now */
    int64_t pairs;          /* looked at: wanted ones and guards */
    double *v, *av;         /* most x n each: basis, A times basis */
    double *r;              /* (pairs or kept) x n: residuals, space for rotations */
    double *h;              /* most x most: V A V' */
    double *y, *theta;      /* its eigenvectors (rows), values, ascending */
    double *s;              /* block x most: small products */
    double *length;         /* of the residuals */
} krylov;

bool mcr_leading_by_lapack(int64_t n, int64_t count)
{
    return n < LEAST_OBJECTS || count > n / LEAST_RATIO;
}

static void sizes(krylov *k, int64_t n, int64_t count)
{
    k->n = n;
    k->block = count + GUARDS;
    k->block = k->block < LEAST_BLOCK ? LEAST_BLOCK : mcr_least(k->block, MOST_BLOCK);
    k->pairs = count + GUARDS;
    k->most = count + count / 2 + 5 * k->block;
}

/* Rows of n: residuals, the block that joins the basis, and what a restart keeps. */
static int64_t buffer_rows(const krylov *k)
{
    return 2 * (k->pairs + k->block);
}

double mcr_leading_bytes(int64_t n, int64_t count, bool matrix)
{
    krylov k;
    sizes(&k, n, count);
    int64_t rows = mcr_leading_by_lapack(n, count) ? 40 + (matrix ? 0 : n)
                                                   : 2 * k.most + buffer_rows(&k);
    return (double)sizeof(double) * (double)rows * (double)n;
}

/* av = v A. */
static mcr_status multiply(mcr *ctx, const mcr_leading *p, int64_t rows, const double *v,
                           double *av)
{
    if (p->multiply)
        return p->multiply(p->arg, rows, v, av);
    return mcr_shared_gemm(ctx, MCR_AS_IS, MCR_TRANSPOSED, rows, p->n, p->n, 1, v, p->n, p->a,
                           p->lda, 0, av, p->n);
}

/* to = factor by from + keep to: rows of n, where those of `by` are k->most apart. */
static mcr_status combine(const krylov *k, int64_t rows, int64_t depth, double factor,
                          const double *by, const double *from, double keep, double *to)
{
    return mcr_shared_gemm(k->ctx, MCR_AS_IS, MCR_AS_IS, rows, k->n, depth, factor, by, k->most,
                           from, k->n, keep, to, k->n);
}

/* ---- a step -----------------------------------------------------------------------------------*/

/* Row i of r minus its part in V. */
static mcr_status remove_basis(krylov *k, double *r, int64_t rows)
{
    mcr_status s = mcr_shared_gemm(k->ctx, MCR_AS_IS, MCR_TRANSPOSED, rows, k->size, k->n, 1, r,
                                   k->n, k->v, k->n, 0, k->s, k->most);
    return s ? s : combine(k, rows, k->size, -1, k->s, k->v, 1, r);
}

/* The rows of r become orthonormal rows of `to`, fewer where they depend on each other: through the
 * eigenvectors of their Gram matrix (Stathopoulos and Wu, 2002). *rows: how many, before and
 * after. */
static mcr_status orthonormal_rows(krylov *k, double *r, double *to, int64_t *rows)
{
    int64_t from = 0, count = 0, b = *rows;
    double value[MOST_BLOCK];
    for (int64_t i = 0; i < b; i++) {
        double length = mcr_norm(r + i * k->n, k->n);
        if (!(length > 0))
            continue;
        if (from < i)
            memmove(r + from * k->n, r + i * k->n, sizeof *r * (size_t)k->n);
        mcr_scale_by(r + from++ * k->n, k->n, 1 / length);
    }
    mcr_status s = mcr_shared_gemm(k->ctx, MCR_AS_IS, MCR_TRANSPOSED, from, from, k->n, 1, r, k->n,
                                   r, k->n, 0, k->s, k->most);
    if (!s && from)
        s = mcr_shared_eigen(k->ctx, from, k->s, k->most, value);
    for (int64_t i = 0; i < from && !s; i++) {
        if (!(value[i] > lost * value[from - 1]))
            continue;
        if (count < i)
            memmove(k->s + count * k->most, k->s + i * k->most, sizeof *k->s * (size_t)from);
        mcr_scale_by(k->s + count++ * k->most, from, 1 / sqrt(value[i]));
    }
    *rows = count;
    return s ? s : combine(k, count, from, 1, k->s, r, 0, to);
}

/* The rows of r, made orthonormal to V and to each other, join it; *added: how many. */
static mcr_status extend(krylov *k, double *r, int64_t rows, int64_t *added)
{
    double *end = k->v + k->size * k->n;
    mcr_status s = MCR_OK;
    *added = rows;
    for (int turn = 0; turn < 2 && !s && *added; turn++) {
        if (k->size)
            s = remove_basis(k, r, *added);
        if (!s)
            s = orthonormal_rows(k, r, end, added);
        if (!s && turn == 0)
            memcpy(r, end, sizeof *r * (size_t)(*added * k->n));
    }
    if (s || !*added)
        return s;
    double *product = k->av + k->size * k->n;
    s = multiply(k->ctx, k->p, *added, end, product);
    int64_t before = k->size;
    k->size += *added;
    if (!s)
        s = mcr_shared_gemm(k->ctx, MCR_AS_IS, MCR_TRANSPOSED, *added, k->size, k->n, 1, product,
                            k->n, k->v, k->n, 0, k->h + before * k->most, k->most);
    for (int64_t i = before; i < k->size && !s; i++)
        for (int64_t j = 0; j < i; j++)
            k->h[j * k->most + i] = k->h[i * k->most + j];
    return s;
}

/* Eigenvectors of H, and the residuals of the first pairs: y'(AV) - theta y'V. */
static mcr_status project(krylov *k, int64_t *pairs)
{
    *pairs = mcr_least(k->pairs, k->size);
    for (int64_t i = 0; i < k->size; i++)
        memcpy(k->y + i * k->most, k->h + i * k->most, sizeof *k->y * (size_t)k->size);
    mcr_status s = mcr_shared_eigen(k->ctx, k->size, k->y, k->most, k->theta);
    const double *y = k->y + (k->size - *pairs) * k->most; /* in ascending order */
    if (!s)
        s = combine(k, *pairs, k->size, 1, y, k->v, 0, k->r);
    for (int64_t i = 0; i < *pairs && !s; i++)
        mcr_scale_by(k->r + i * k->n, k->n, -k->theta[k->size - *pairs + i]);
    if (!s)
        s = combine(k, *pairs, k->size, 1, y, k->av, 1, k->r);
    for (int64_t i = 0; i < *pairs && !s; i++)
        k->length[*pairs - 1 - i] = mcr_norm(k->r + i * k->n, k->n);
    return s;
}

/* The basis becomes the `keep` best Ritz vectors. */
static mcr_status restart(krylov *k, int64_t keep, double *buffer)
{
    double *both[] = {k->v, k->av};
    mcr_status s = MCR_OK;
    for (int t = 0; t < 2 && !s; t++) {
        s = combine(k, keep, k->size, 1, k->y + (k->size - keep) * k->most, both[t], 0, buffer);
        if (!s)
            memcpy(both[t], buffer, sizeof *buffer * (size_t)(keep * k->n));
    }
    for (int64_t i = 0; i < keep; i++) {
        memset(k->h + i * k->most, 0, sizeof *k->h * (size_t)k->most);
        k->h[i * k->most + i] = k->theta[k->size - keep + i];
    }
    k->size = keep;
    return s;
}

/* ---- the whole --------------------------------------------------------------------------------*/

static double largest_size(const krylov *k)
{
    return fmax(fabs(k->theta[0]), fabs(k->theta[k->size - 1]));
}

/* Copies the residuals that are still too long behind the others, those of the largest pairs first;
 * gives how many, at most a block. */
static int64_t choose_residuals(krylov *k, int64_t pairs, double limit)
{
    int64_t count = 0;
    for (int64_t c = 0; c < pairs && count < k->block; c++)
        if (k->length[c] > limit)
            memcpy(k->r + (k->pairs + count++) * k->n, k->r + (pairs - 1 - c) * k->n,
                   sizeof *k->r * (size_t)k->n);
    return count;
}

static bool must_stop(const krylov *k, mcr_leading_result *result, double began, double worst)
{
    const mcr_leading *p = k->p;
    mcr_progress now = {.phase = p->phase,
                        .fraction = NAN,
                        .seconds = mcr_now() - began,
                        .step = result->steps,
                        .objective = NAN,
                        .violation = worst,
                        .active = k->size,
                        .total = k->n};
    if (p->phase && mcr_report(k->ctx, &now))
        result->stop = MCR_STOP_INTERRUPTED;
    else if (p->most_steps && result->steps >= p->most_steps)
        result->stop = MCR_STOP_STEPS;
    else if (p->deadline > 0 && mcr_now() > p->deadline)
        result->stop = MCR_STOP_TIME;
    else
        return false;
    return true;
}

/* Steps until all wanted pairs are within the tolerance. At the end theta and y are those of the
 * basis. */
static mcr_status iterate(krylov *k, mcr_leading_result *result)
{
    int64_t added = 0, pairs = 0, rows = 0, wanted = k->p->count;
    int64_t since = 0; /* steps without progress */
    double began = mcr_now(), best = INFINITY;
    double *fresh = k->r + k->pairs * k->n;
    mcr_random random = mcr_random_stream(mcr_seed(k->ctx), "leading", 0);
    for (result->steps = 1;; result->steps++) {
        /* At the start, and if a matrix of low rank leaves no direction to continue with. */
        for (int64_t i = 0; rows == 0 && i < k->block * k->n; i++)
            fresh[i] = mcr_random_normal(&random);
        rows = rows ? rows : k->block;
        mcr_status s = extend(k, fresh, rows, &added);
        if (!s)
            s = project(k, &pairs);
        if (s)
            return s;
        double worst = k->size < wanted ? INFINITY : mcr_largest_of(k->length, wanted);
        /* Slightly less than requested: the certificate is recomputed, with other rounding
         * errors. */
        double limit = 0.9 * k->p->tolerance * largest_size(k);
        if (worst <= limit) {
            result->stop = MCR_STOP_OPTIMAL;
            return MCR_OK;
        }
        since = worst < 0.9 * best ? 0 : since + 1;
        best = fmin(best, worst);
        if (must_stop(k, result, began, isfinite(worst) ? worst / largest_size(k) : NAN))
            return MCR_OK;
        if (!added || since > 200) {
            result->stop = MCR_STOP_STUCK;
            return MCR_OK;
        }
        rows = choose_residuals(k, pairs, 0.1 * limit);
        if (k->size + rows > k->most)
            s = restart(k, mcr_least(k->pairs + k->block, k->size), fresh + k->block * k->n);
        if (s)
            return s;
    }
}

static mcr_status take_buffers(krylov *k)
{
    size_t n = (size_t)k->n, most = (size_t)k->most;
    uint64_t long_count = (uint64_t)most * n, square = (uint64_t)most * most;
    void *block = mcr_alloc_arrays(
        k->ctx, MCR_ARRAY(k->v, long_count), /* the block to free */ MCR_ARRAY(k->av, long_count),
        MCR_ARRAY(k->r, (uint64_t)buffer_rows(k) * n), MCR_ARRAY(k->h, square),
        MCR_ARRAY(k->y, square), MCR_ARRAY(k->s, (uint64_t)k->block * most),
        MCR_ARRAY(k->theta, most), MCR_ARRAY(k->length, (uint64_t)k->pairs));
    return block ? MCR_OK : MCR_NO_MEMORY;
}

/* From rising to falling values. */
static void reverse(int64_t count, int64_t n, double *value, double *vector)
{
    for (int64_t c = 0; c < count / 2; c++) {
        int64_t d = count - 1 - c;
        double t = value[c];
        value[c] = value[d];
        value[d] = t;
        for (int64_t i = 0; i < n; i++) {
            t = vector[c * n + i];
            vector[c * n + i] = vector[d * n + i];
            vector[d * n + i] = t;
        }
    }
}

static mcr_status by_krylov(mcr *ctx, const mcr_leading *p, double *value, double *vector,
                            mcr_leading_result *result)
{
    krylov k = {.ctx = ctx, .p = p};
    sizes(&k, p->n, p->count);
    mcr_status s = take_buffers(&k);
    if (!s)
        s = iterate(&k, result);
    if (!s && k.size < p->count)
        s = mcr_fail(ctx, MCR_STOPPED, "interrupted before there were %lld eigenvectors",
                     (long long)p->count);
    if (!s)
        s = combine(&k, p->count, k.size, 1, k.y + (k.size - p->count) * k.most, k.v, 0, vector);
    if (!s) {
        memcpy(value, k.theta + k.size - p->count, sizeof *value * (size_t)p->count);
        reverse(p->count, p->n, value, vector);
    }
    mcr_free(k.ctx, k.v);
    return s;
}

/* All values by divide and conquer, in a copy: where very many are equal, LAPACK may find fewer of
 * the largest ones than there are. */
static mcr_status by_all(mcr *ctx, const mcr_leading *p, const double *a, int64_t lda,
                         double *value, double *vector)
{
    int64_t n = p->n, first = n - p->count;
    double *copy = mcr_alloc(ctx, (size_t)n, (size_t)(n + 1) * sizeof *copy);
    if (!copy)
        return MCR_NO_MEMORY;
    double *all = copy + n * n;
    for (int64_t i = 0; i < n; i++)
        memcpy(copy + i * n, a + i * lda, sizeof *copy * (size_t)n);
    mcr_status s = mcr_shared_eigen(ctx, n, copy, n, all);
    if (!s) {
        memcpy(value, all + first, sizeof *value * (size_t)p->count);
        memcpy(vector, copy + first * n, sizeof *copy * (size_t)(p->count * n));
    }
    mcr_free(ctx, copy);
    return s;
}

/* The triangle that LAPACK overwrites is restored from the other one. */
static mcr_status by_lapack(mcr *ctx, const mcr_leading *p, double *a, int64_t lda, double *value,
                            double *vector)
{
    int64_t n = p->n;
    double *diagonal = mcr_alloc(ctx, (size_t)n, sizeof *diagonal);
    if (!diagonal)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        diagonal[i] = a[i * lda + i];
    mcr_status s = mcr_shared_eigen_largest(ctx, n, a, lda, p->count, value, vector, n);
    mcr_shared_mend(n, a, lda, diagonal);
    if (s == MCR_NUMERIC)
        s = by_all(ctx, p, a, lda, value, vector);
    if (!s)
        reverse(p->count, n, value, vector);
    mcr_free(ctx, diagonal);
    return s;
}

/* A as a matrix, some rows of the identity at a time. */
static mcr_status write_out(mcr *ctx, const mcr_leading *p, double *a)
{
    int64_t n = p->n;
    double *unit = mcr_alloc(ctx, ROWS, (size_t)n * sizeof *unit);
    mcr_status s = unit ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t first = 0; first < n && !s; first += ROWS) {
        int64_t rows = mcr_least(ROWS, n - first);
        memset(unit, 0, sizeof *unit * (size_t)(rows * n));
        for (int64_t i = 0; i < rows; i++)
            unit[i * n + first + i] = 1;
        s = p->multiply(p->arg, rows, unit, a + first * n);
    }
    mcr_free(ctx, unit);
    return s;
}

static mcr_status directly(mcr *ctx, const mcr_leading *p, double *value, double *vector,
                           mcr_leading_result *result)
{
    *result = (mcr_leading_result){.stop = MCR_STOP_OPTIMAL, .steps = 1};
    if (!p->multiply)
        return by_lapack(ctx, p, p->a, p->lda, value, vector);
    double *a = mcr_alloc(ctx, (size_t)p->n, (size_t)p->n * sizeof *a);
    mcr_status s = a ? write_out(ctx, p, a) : MCR_NO_MEMORY;
    if (!s)
        s = by_lapack(ctx, p, a, p->n, value, vector);
    mcr_free(ctx, a);
    return s;
}

/* The certificate: from A, values and vectors alone. */
static mcr_status certify(mcr *ctx, const mcr_leading *p, const double *value, const double *vector,
                          mcr_leading_result *result)
{
    int64_t n = p->n;
    double worst = 0, largest = mcr_largest_of(value, p->count);
    double *product = mcr_alloc(ctx, (size_t)mcr_least(ROWS, p->count),
                                (size_t)n * sizeof *product);
    mcr_status s = product ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t first = 0; first < p->count && !s; first += ROWS) {
        int64_t rows = mcr_least(ROWS, p->count - first);
        s = multiply(ctx, p, rows, vector + first * n, product);
        for (int64_t c = 0; c < rows && !s; c++) {
            for (int64_t i = 0; i < n; i++)
                product[c * n + i] -= value[first + c] * vector[(first + c) * n + i];
            worst = fmax(worst, mcr_norm(product + c * n, n));
        }
    }
    result->residual = largest > 0 ? worst / largest : worst;
    mcr_free(ctx, product);
    return s;
}

mcr_status mcr_leading_solve(mcr *ctx, const mcr_leading *p, double *value, double *vector,
                             mcr_leading_result *result)
{
    *result = (mcr_leading_result){.residual = NAN};
    if (p->count < 1 || p->count > p->n)
        return mcr_fail(ctx, MCR_BAD_CALL, "%lld eigenvectors were requested, there are %lld",
                        (long long)p->count, (long long)p->n);
    mcr_team *team = mcr_team_of_rows(ctx);
    mcr_status s = team && team->leading && p->multiply
                       ? team->leading(team, ctx, p, value, vector, result)
                   : mcr_leading_by_lapack(p->n, p->count)
                       ? directly(ctx, p, value, vector, result)
                       : by_krylov(ctx, p, value, vector, result);
    return s ? s : certify(ctx, p, value, vector, result);
}

double mcr_leading_choose_sign(double *u, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabs(u[i]) > fabs(most) * (1 + 1e-9))
            most = u[i];
    for (int64_t i = 0; i < n && most < 0; i++)
        u[i] = -u[i];
    return most < 0 ? -1 : 1;
}
