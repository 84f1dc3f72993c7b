/* subsequence.c: the string subsequence kernel (Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins,
 * JMLR 2, 2002), one string against several, one in each lane of a vector; see simd.h for how it is
 * compiled.
 *
 * With P_i(k, j) the sum over common subsequences of length i of s[0..k) and t[0..j), each weighted by
 * lambda to the number of letters from its first letter to the end in both strings:
 *
 *     P_0 = 1,   P_i(k+1, j+1) = lambda P_i(k, j+1) + Q_i(k+1, j+1)
 *     Q_i(k+1, j+1) = lambda Q_i(k+1, j) + [s_k = t_j] lambda^2 P_{i-1}(k, j)
 *     K = sum over k, j with s_k = t_j of lambda^2 P_{p-1}(k, j)
 *
 * All i of one place are computed together, which keeps several independent chains of multiply-adds
 * going; P stands in memory by j, then i.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/subsequence.h"

#include "linalg/simd.h"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* in the general case the loops stay loops */
#endif

/* One letter of s along t. levels = p - 1: P_1 .. P_levels are kept. */
INLINE void take_letter(const mcr_subsequence_job *job, vreal *p, int levels, whole letter,
                        vreal *sum)
{
    vreal lambda = splat((real)job->lambda), square = splat((real)(job->lambda * job->lambda));
    vreal q[MCR_SUBSEQUENCE_MOST], before[MCR_SUBSEQUENCE_MOST];
    UNROLL for (int i = 0; i < levels; i++) q[i] = before[i] = splat(0);
    for (int64_t j = 0; j < job->t_length; j++, p += levels) {
        vwhole t = ((const vwhole *)job->t)[j];
        vreal match = (vreal)((vbits)(t == letter) & (vbits)square);
        /* before[i] is P_{i+1}(k, j): the place to the left, not yet touched by this letter. */
        *sum = levels ? multiply_add(match, before[levels - 1], *sum) : *sum + match;
        UNROLL for (int i = 0; i < levels; i++)
            q[i] = multiply_add(lambda, q[i], i ? match * before[i - 1] : match);
        UNROLL for (int i = 0; i < levels; i++)
        {
            before[i] = p[i];
            p[i] = multiply_add(lambda, before[i], q[i]);
        }
    }
}

INLINE void run_levels(const mcr_subsequence_job *job, int levels)
{
    vreal *p = (vreal *)(void *)job->room, sum = splat(0);
    for (int64_t i = 0; i < job->t_length * levels; i++)
        p[i] = splat(0);
    for (int64_t k = 0; k < job->s_length; k++)
        take_letter(job, p, levels, job->s[k], &sum);
    store(job->k, sum);
}

static void pack(void *t, int64_t t_length, int64_t lane, const unsigned char *string,
                 int64_t length)
{
    whole *to = (whole *)t + lane;
    for (int64_t j = 0; j < t_length; j++)
        to[j * LANES] = j < length ? string[j] : -1;
}

/* Short ones unrolled. */
static void run(const mcr_subsequence_job *job)
{
    switch (job->p) {
    case 1: run_levels(job, 0); break;
    case 2: run_levels(job, 1); break;
    case 3: run_levels(job, 2); break;
    case 4: run_levels(job, 3); break;
    case 5: run_levels(job, 4); break;
    case 6: run_levels(job, 5); break;
    default: run_levels(job, (int)job->p - 1); break;
    }
}

extern const mcr_subsequence_kit SYMBOL(mcr_subsequence_kit_);
const mcr_subsequence_kit SYMBOL(mcr_subsequence_kit_) = {.lanes = LANES, .pack = pack, .run = run};
