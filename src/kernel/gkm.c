/* gkm.c: gapped k-mers: words of l letters, compared on k of their places.
 *
 * filter=none: the inner product of counts of gapped words, that is of the letters on each choice of
 * k places out of l; a pair of words that differ in d places counts choose(l - d, k).
 *
 * filter=full and truncated: instead of the gapped words, the counts of whole words are estimated from
 * them (Ghandi, Lee, Mohammad-Noori and Beer, 2014). The least-norm estimate is the projection onto
 * functions of at most k letters at a time, so a word that differs in d places from one that occurs
 * once is estimated as a sum of Krawtchouk polynomials over letters^l. `full` takes this as it is: a
 * projection, whose square is itself. `truncated` drops the estimates from the first that is not
 * positive on, and the kernel is the inner product of what is left. In both, pairs that differ in more
 * than d places are left out. That is what ls-gkm computes; its default options are
 * normalize(gkm(l=11, k=7, d=3)), with both strands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/number.h"
#include "kernel/keys.h"
#include "kernel/mismatches.h"

typedef enum filter { TRUNCATED, FULL, NONE } filter;

typedef struct gkm_params {
    int64_t l, k, d, letters, strands;
    int filter;
} gkm_params;

static const mcr_param params[] = {
    {.name = "l",
     .type = MCR_INT,
     .offset = offsetof(gkm_params, l),
     .standard = "11",
     .min = 1,
     .max = MCR_MISMATCHES_LENGTH_MAX,
     .help = "length of the words, gaps included"},
    {.name = "k",
     .type = MCR_INT,
     .offset = offsetof(gkm_params, k),
     .standard = "7",
     .min = 1,
     .max = MCR_MISMATCHES_LENGTH_MAX,
     .help = "letters of a word that count"},
    {.name = "d",
     .type = MCR_INT,
     .offset = offsetof(gkm_params, d),
     .standard = "3",
     .min = 0,
     .max = MCR_MISMATCHES_LENGTH_MAX,
     .help = "pairs of words that differ in more places are left out (filter=none: l-k)"},
    {.name = "filter",
     .type = MCR_CHOICE,
     .offset = offsetof(gkm_params, filter),
     .standard = "truncated",
     .choices = "truncated|full|none",
     .help = "truncated, full: counts of whole words estimated from the gapped ones; none: gapped "
             "words themselves"},
    {.name = "strands",
     .type = MCR_INT,
     .offset = offsetof(gkm_params, strands),
     .standard = "2",
     .min = 1,
     .max = 2,
     .help = "2: DNA is also read from its other strand; 1: strings as they are, any letters"},
    {.name = "letters",
     .type = MCR_INT,
     .offset = offsetof(gkm_params, letters),
     .standard = "4",
     .min = 2,
     .max = 256,
     .help = "size of the alphabet: 4 for DNA, 20 for proteins (filter=none: not used)"},
    {.name = NULL},
};

static mcr_status check(mcr *ctx, void *values)
{
    gkm_params *p = values;
    if (p->k > p->l)
        return mcr_fail(ctx, MCR_BAD_CALL, "gkm: k must be at most l (%lld)", (long long)p->l);
    if (p->d > p->l)
        p->d = p->l;
    if (p->filter == NONE)
        p->d = p->l - p->k;
    if (p->strands == 2 && p->letters != 4)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "gkm: letters=%lld, but only DNA has two strands: say strands=1",
                        (long long)p->letters);
    return MCR_OK;
}

/* The estimate of a word from one that differs in d places. */
static double estimate(const gkm_params *p, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j <= p->k; j++)
        for (int64_t s = 0; s <= j; s++)
            sum += (s % 2 ? -1 : 1) * pow((double)(p->letters - 1), (double)(j - s)) *
                   mcr_choose(d, s) * mcr_choose(p->l - d, j - s);
    return sum / pow((double)p->letters, (double)p->l);
}

/* The inner product of the estimates from two words that differ in d places; w[e]: the estimate at a
 * distance e. A word has, of the d places, the first one's letter in `first`, the second one's in
 * `second` and another in the rest; of the other places it differs in e. */
static double product_of(const gkm_params *p, const double *w, int64_t d)
{
    double sum = 0, others = 1, b = (double)p->letters;
    for (int64_t rest = 0; rest <= d; rest++, others *= b - 2)
        for (int64_t first = 0; first + rest <= d; first++) {
            int64_t second = d - rest - first;
            double ways = mcr_choose(d, rest) * mcr_choose(d - rest, first) * others, power = 1;
            for (int64_t e = 0; e <= p->l - d; e++, power *= b - 1)
                sum += ways * mcr_choose(p->l - d, e) * power * w[second + rest + e] *
                       w[first + rest + e];
        }
    return sum;
}

static void find_h(mcr_mismatches *what, const gkm_params *p)
{
    double w[MCR_MISMATCHES_LENGTH_MAX + 1];
    bool positive = true;
    for (int64_t d = 0; d <= p->l; d++) {
        w[d] = estimate(p, d);
        positive = positive && w[d] > 0;
        if (p->filter == TRUNCATED && !positive)
            w[d] = 0;
    }
    for (int64_t d = 0; d <= p->d; d++)
        what->h[d] = p->filter == NONE   ? mcr_choose(p->l - d, p->k)
                     : p->filter == FULL ? w[d]
                                         : product_of(p, w, d);
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    (void)binding;
    const gkm_params *p = mcr_bound_params(bound);
    mcr_alphabet a = mcr_alphabet_of(bound);
    mcr_mismatches what = {.length = p->l, .most = p->d, .both_strands = p->strands == 2};
    if (p->strands == 1 && p->filter != NONE && a.count > p->letters)
        return mcr_fail(
            bound->ctx, MCR_BAD_DATA,
            "gkm: the strings have %d different letters: say letters=%d or more (20 for "
            "proteins), or filter=none",
            a.count, a.count);
    find_h(&what, p);
    return mcr_mismatches_bind(bound, &what);
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    const gkm_params *p = values;
    (void)child;
    (void)children;
    if (p->filter == NONE || p->d == p->l) {
        *rule = "an inner product of gapped words";
        return MCR_PSD;
    }
    *rule = "words that differ in more than d places are left out: PSD in practice, not by a rule";
    return MCR_DEFINITE_UNKNOWN;
}

const mcr_kernel_type mcr_kernel_gkm = {
    .size = sizeof(mcr_kernel_type),
    .name = "gkm",
    .summary = "gapped k-mers: words of l letters compared on k of them, as ls-gkm does",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(gkm_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .unbind = mcr_mismatches_unbind,
    .block = mcr_mismatches_block,
    .diagonal = mcr_mismatches_diagonal,
};
