/* squares_path.c: least squares with a penalty for many lambdas.
 *
 * With the eigenvectors V of W^1/2 K W^1/2 = V' diag(value) V, B = V' diag(1 / (value + lambda)) V.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/squares.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/shared.h"

mcr_status mcr_squares_decompose(mcr_squares *q)
{
    int64_t n = q->n, k = q->outputs;
    q->value = mcr_alloc(q->ctx, (size_t)n, sizeof *q->value);
    q->turn = mcr_alloc(q->ctx, (size_t)n, (size_t)k * sizeof *q->turn);
    mcr_status s = q->value && q->turn ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_system_eigen(&q->m, "ridge: the eigenvectors of the kernel matrix", q->value);
    return s ? s
             : mcr_shared_gemm(q->ctx, MCR_AS_IS, MCR_AS_IS, n, k, n, 1, q->m.a, q->m.ld, q->b, k,
                               0, q->turn, k);
}

mcr_status mcr_squares_eigen(mcr_squares *q)
{
    mcr_status s = mcr_squares_fill(q, true);
    if (!s && !(q->inverse = mcr_alloc(q->ctx, (size_t)q->n, sizeof *q->inverse)))
        s = MCR_NO_MEMORY;
    return s ? s : mcr_squares_decompose(q);
}

typedef struct path_job {
    const mcr_squares *q;
    double lambda;
} path_job;

enum { CHUNK = 256 };

static mcr_status path_chunk(void *arg, int64_t first, int64_t end)
{
    const path_job *j = arg;
    const mcr_squares *q = j->q;
    int64_t n = q->n, k = q->outputs;
    memset(q->inverse + first, 0, sizeof *q->inverse * (size_t)(end - first));
    memset(q->x + first * k, 0, sizeof *q->x * (size_t)((end - first) * k));
    for (int64_t e = 0; e < n; e++) {
        const double *v = q->m.a + e * q->m.ld;
        double d = 1 / (q->value[e] + j->lambda);
        for (int64_t i = first; i < end; i++)
            q->inverse[i] += v[i] * v[i] * d;
        for (int64_t o = 0; o < k; o++) {
            double c = q->turn[e * k + o] * d;
            for (int64_t i = first; i < end; i++)
                q->x[i * k + o] += v[i] * c;
        }
    }
    return MCR_OK;
}

mcr_status mcr_squares_at(mcr_squares *q, double lambda, bool *exists)
{
    int64_t n = q->n;
    double least = fmax(fabs(q->value[0]), fabs(q->value[n - 1])) * DBL_EPSILON * (double)n;
    path_job j = {q, lambda};
    *exists = q->value[0] + lambda > least;
    return *exists ? mcr_parallel_chunks(q->ctx, n, CHUNK, path_chunk, &j) : MCR_OK;
}
