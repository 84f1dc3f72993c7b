/* mismatch.c: words of k letters with up to m mismatches (Leslie, Eskin, Weston and Noble, 2003).
 *
 * The feature of every possible word is the number of words of the string within m mismatches of
 * it. K is the inner product, so a pair of words with d mismatches contributes the number of words
 * within m of both. Features are listed if there are few words (neighbours.h); otherwise pairs of
 * words are compared (mismatches.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/mismatches.h"

#include "base/number.h"
#include "kernel/explicit.h"
#include "kernel/keys.h"
#include "kernel/neighbours.h"
#include "kernel/parts.h"

typedef struct mismatch_params {
    int64_t k, m, letters;
} mismatch_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(mismatch_params, k, MCR_INT, "5", 1, MCR_MISMATCHES_LENGTH_MAX,
                    "length of the words, in bytes"),
    MCR_RANGE_PARAM(mismatch_params, m, MCR_INT, "1", 0, 8, "mismatches allowed"),
    MCR_RANGE_PARAM(mismatch_params, letters, MCR_INT, "4", 1, 256,
                    "size of the alphabet: 4 for DNA, 20 for proteins, 256 for any bytes"),
    {.name = NULL},
};

static mcr_status check(mcr *ctx, void *values)
{
    const mismatch_params *p = values;
    if (p->m >= p->k)
        return mcr_fail(ctx, MCR_BAD_CALL, "mismatch: m must be less than k (%lld)",
                        (long long)p->k);
    return MCR_OK;
}

/* The number of words within m of two words with d mismatches: at these d positions the word has
 * the first's letter in `first`, the second's in `second`, another letter in the others; at the
 * remaining positions it has e mismatches. */
static double within(int64_t k, int64_t m, int64_t letters, int64_t d)
{
    double sum = 0, others = 1;
    for (int64_t rest = 0; rest <= d; rest++, others *= (double)(letters - 2)) {
        for (int64_t first = 0; first + rest <= d; first++) {
            int64_t second = d - rest - first, most = first > second ? first : second;
            double ways = mcr_choose(d, rest) * mcr_choose(d - rest, first) * others, power = 1;
            for (int64_t e = 0; e <= k - d && e + most + rest <= m; e++) {
                sum += ways * mcr_choose(k - d, e) * power;
                power *= (double)(letters - 1);
            }
        }
    }
    return sum;
}

void mcr_mismatch_pairs(mcr_mismatches *what, const mcr_kernel *kernel)
{
    const mismatch_params *p = kernel->params;
    *what = (mcr_mismatches){.length = p->k, .most = 2 * p->m < p->k ? 2 * p->m : p->k};
    for (int64_t d = 0; d <= what->most; d++)
        what->h[d] = within(p->k, p->m, p->letters, d);
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const mismatch_params *p = mcr_bound_params(bound);
    bool listed = false;
    mcr_alphabet a = mcr_alphabet_of(bound);
    mcr_mismatches what;
    if (a.count > p->letters)
        return mcr_fail(bound->ctx, MCR_BAD_DATA,
                        "mismatch: the strings have %d different letters (upper and lower case "
                        "differ): set letters=%d or more in the kernel, for a model when it is "
                        "trained (20 for proteins, 256 for any bytes)",
                        a.count, a.count);
    mcr_status s = mcr_neighbours_bind(bound, binding, p->k, p->m, p->letters, &listed);
    if (s || listed)
        return s;
    mcr_mismatch_pairs(&what, bound->kernel);
    return mcr_mismatches_bind(bound, &what);
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    if (!bound->listed[0])
        return mcr_fail(bound->ctx, MCR_BAD_CALL,
                        "mismatch: the words within m mismatches are too many to list");
    return mcr_features_listed(bound, out);
}

MCR_ALWAYS_PSD(definite, "an inner product of counts of words with mismatches")

const mcr_kernel_type mcr_kernel_mismatch = {
    .name = "mismatch",
    .summary = "words of k letters that two strings have in common, up to m mismatches",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(mismatch_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .unbind = mcr_mismatches_unbind,
    .block = mcr_mismatches_block,
    .diagonal = mcr_mismatches_diagonal,
    .features = features,
};
