/* subsequence.c: the string subsequence kernel (Lodhi, Saunders, Shawe-Taylor, Cristianini and
 * Watkins, JMLR 2, 2002), one string against several in the lanes of vectors; see simd.h for how it
 * is compiled.
 *
 * With P_i(k, j) the sum over common subsequences of length i of s[0..k) and t[0..j), each weighted
 * by lambda to the number of letters from its first letter to the end in both strings:
 *
 *     P_0 = 1,   P_i(k+1, j+1) = lambda P_i(k, j+1) + Q_i(k+1, j+1)
 *     Q_i(k+1, j+1) = lambda Q_i(k+1, j) + [s_k = t_j] lambda^2 P_{i-1}(k, j)
 *     K = sum over k, j with s_k = t_j of lambda^2 P_{p-1}(k, j)
 *
 * All i of one position are computed together, which gives several independent chains of sums.
 *
 * P and Q are stored divided by lambda^(k + j): then P_i(k+1, j+1) = P_i(k, j+1) + Q_i(k+1, j+1),
 * and Q_i(k+1, j+1) = Q_i(k+1, j) + [s_k = t_j] P_{i-1}(k, j), sums without products. To keep these
 * powers small, k and j are counted from the last multiple of some number. This is also the width
 * of a tile of t, which all of s is run along: its P stays in L1; the state of each letter of s at
 * the end of a tile is carried over to the next one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/subsequence.h"

#include <math.h>

#include "linalg/simd.h"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* the general case is not unrolled */
#endif

/* Bits for the powers of lambda within a tile, and from one rescaling of P to the next: both, and P
 * itself, must fit the exponent. */
enum { SCALE_BITS = BY_REAL(30, 300), EXPONENT_BITS = BY_REAL(120, 1000), ROWS_MOST = 512 };

typedef struct scales {
    int64_t columns, rows;           /* columns of a tile; rows between two rescalings */
    real up[MCR_SUBSEQUENCE_TILE];   /* lambda^-j */
    real down[MCR_SUBSEQUENCE_TILE]; /* lambda^j */
    real by_columns, by_rows;        /* lambda^columns, lambda^rows */
} scales;

/* How many factors of lambda fit; P_i grows up to (lambda / (1 - lambda))^2i. */
static int64_t within(int64_t p, double lambda, int64_t most)
{
    double growth = 2 * (double)(p - 1) * fmax(0, log2(lambda / fmax(1 - lambda, 1e-300)));
    double kept = fmin(SCALE_BITS, 0.5 * (EXPONENT_BITS - growth));
    double count = kept / fmax(-log2(lambda), 1e-3);
    return count < (double)most ? (int64_t)fmax(count, 1) : most;
}

static int64_t columns_of(int64_t p, double lambda)
{
    return within(p, lambda, MCR_SUBSEQUENCE_TILE);
}

static scales choose_scales(const mcr_subsequence_job *job)
{
    scales s = {.columns = job->columns, .rows = within(job->p, job->lambda, ROWS_MOST)};
    double up = 1, down = 1;
    for (int64_t j = 0; j < s.columns; j++) {
        s.up[j] = (real)up;
        s.down[j] = (real)down;
        up /= job->lambda;
        down *= job->lambda;
    }
    s.by_columns = (real)down;
    s.by_rows = (real)pow(job->lambda, (double)s.rows);
    return s;
}

INLINE vreal where(vwhole mask, vreal x)
{
    return (vreal)((vbits)mask & (vbits)x);
}

/* One letter of s at one letter of t. before[i] is P_{i+1}(k, j): the position to the left, before
 * this letter of s. */
INLINE vreal meet(vwhole match, int levels, vreal *p, vreal *q, vreal *before, vreal first,
                  vreal down, vreal sum)
{
    sum = multiply_add(where(match, before[levels - 1]), down, sum);
    UNROLL for (int i = levels - 1; i > 0; i--) q[i] += where(match, before[i - 1]);
    q[0] += where(match, first);
    UNROLL for (int i = 0; i < levels; i++)
    {
        before[i] = p[i];
        p[i] = before[i] + q[i];
    }
    return sum;
}

/* One letter of s along a tile of t; up: lambda^-k. levels = p - 1: P_1 .. P_levels are stored.
 * carry: Q and P at the left end, then at the right end. Returns the sum of K divided by lambda^(2
 * + k). Two partial sums hide the latency of the addition. */
INLINE vreal take_letter(const scales *by, const vwhole *t, vwhole goes, vreal *p, int levels,
                         whole letter, real up, vreal *carry)
{
    vreal q[MCR_SUBSEQUENCE_MOST], before[MCR_SUBSEQUENCE_MOST], sum = splat(0), other = splat(0);
    vreal row = splat(up);
    int64_t j = 0, columns = by->columns;
    UNROLL for (int i = 0; i < levels; i++)
    {
        q[i] = where(goes, carry[i]);
        before[i] = where(goes, carry[levels + i]);
    }
    for (; j + 2 <= columns; j += 2, p += 2 * levels) {
        sum = meet(t[j] == letter, levels, p, q, before, row * splat(by->up[j]), splat(by->down[j]),
                   sum);
        other = meet(t[j + 1] == letter, levels, p + levels, q, before, row * splat(by->up[j + 1]),
                     splat(by->down[j + 1]), other);
    }
    if (j < columns)
        sum = meet(t[j] == letter, levels, p, q, before, row * splat(by->up[j]), splat(by->down[j]),
                   sum);
    UNROLL for (int i = 0; i < levels; i++)
    {
        carry[i] = q[i] * splat(by->by_columns);
        carry[levels + i] = before[i] * splat(by->by_columns);
    }
    return sum + other;
}

/* All of s along one tile. goes: 0 in lanes where a string begins. */
INLINE vreal take_string(const mcr_subsequence_job *job, const scales *by, const vwhole *t,
                         vwhole goes, int levels)
{
    vreal *p = (vreal *)(void *)job->buffer, *carry = p + MCR_SUBSEQUENCE_TILE * levels;
    vreal sum = splat(0);
    double up = 1, down = 1; /* rounded once, not per letter */
    for (int64_t i = 0; i < by->columns * levels; i++)
        p[i] = splat(0);
    for (int64_t k = 0, since = 0; k < job->s_length; k++, since++, carry += 2 * levels) {
        if (since == by->rows) {
            for (int64_t i = 0; i < by->columns * levels; i++)
                p[i] *= splat(by->by_rows);
            since = 0;
            up = down = 1;
        }
        vreal part = take_letter(by, t, goes, p, levels, job->s[k], (real)up, carry);
        sum = multiply_add(part, splat((real)down), sum);
        up /= job->lambda;
        down *= job->lambda;
    }
    return sum;
}

INLINE void run_levels(const mcr_subsequence_job *job, int levels)
{
    const scales by = choose_scales(job);
    const vwhole *t = job->t, *goes = job->goes;
    vreal *carry = (vreal *)(void *)job->buffer + MCR_SUBSEQUENCE_TILE * levels;
    for (int64_t i = 0; i < job->s_length * 2 * levels; i++)
        carry[i] = splat(0);
    for (int64_t i = 0; i < job->tiles; i++, t += by.columns) {
        vreal sum = take_string(job, &by, t, goes[i], levels);
        store((real *)job->k + i * LANES, sum * splat((real)(job->lambda * job->lambda)));
    }
}

/* p = 1: the number of common letters. */
static void run_letters(const mcr_subsequence_job *job)
{
    const vwhole *t = job->t;
    for (int64_t i = 0; i < job->tiles; i++, t += job->columns) {
        vwhole count = {0};
        for (int64_t k = 0; k < job->s_length; k++)
            for (int64_t j = 0; j < job->columns; j++)
                count -= t[j] == (whole)job->s[k];
        for (int l = 0; l < LANES; l++)
            ((real *)job->k)[i * LANES + l] = (real)((double)count[l] * job->lambda * job->lambda);
    }
}

static void pack(void *t, void *goes, int64_t columns, int64_t lane, int64_t first, int64_t tiles,
                 const unsigned char *string, int64_t length)
{
    whole *to = (whole *)t + first * columns * LANES + lane;
    for (int64_t j = 0; j < tiles * columns; j++)
        to[j * LANES] = j < length ? string[j] : -1;
    for (int64_t i = 0; i < tiles; i++)
        ((whole *)goes)[(first + i) * LANES + lane] = i ? -1 : 0;
}

/* Small p have unrolled code. */
static void run(const mcr_subsequence_job *job)
{
    switch (job->p) {
    case 1: run_letters(job); break;
    case 2: run_levels(job, 1); break;
    case 3: run_levels(job, 2); break;
    case 4: run_levels(job, 3); break;
    case 5: run_levels(job, 4); break;
    case 6: run_levels(job, 5); break;
    default: run_levels(job, (int)job->p - 1); break;
    }
}

extern const mcr_subsequence_kit SYMBOL(mcr_subsequence_kit_);
const mcr_subsequence_kit SYMBOL(mcr_subsequence_kit_) = {
    .lanes = LANES, .columns = columns_of, .pack = pack, .run = run};
