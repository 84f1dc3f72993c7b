/* gkm.c: gapped k-mers: words of l letters, compared at k of their positions.
 *
 * filter=none: the inner product of counts of gapped words, that is, of the letters at each choice
 * of k positions out of l; a pair of words with d mismatches contributes choose(l - d, k).
 *
 * filter=full and truncated: instead of the gapped words, the counts of whole words are estimated
 * from them (Ghandi, Lee, Mohammad-Noori and Beer, 2014). The least-norm estimate is the projection
 * onto functions of at most k letters at a time, so the estimate of a word with d mismatches to one
 * that occurs once is a sum of Krawtchouk polynomials over letters^l. `full` uses this estimate,
 * which is a projection (its square is itself). `truncated` drops all estimates from the first that
 * is not positive on, and the kernel is the inner product of the others: pairs with more than twice
 * as many mismatches as the last estimate then contribute 0.
 *
 * Pairs with more than d mismatches are dropped, as in ls-gkm, whose default options are
 * normalize(gkm(l=11, k=7, d=3)) with both strands. The result need not be positive semi-definite:
 * on all words h has the eigenvalues sum_d h(d) P_d(j), j = 0 .. l, with Krawtchouk polynomials P
 * (Delsarte, 1973), which decide. Without d no pair is dropped, and it is an inner product.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "kernel/explicit.h"
#include "kernel/keys.h"
#include "kernel/mismatches.h"
#include "kernel/parts.h"
#include "kernel/patterns.h"

typedef enum filter { TRUNCATED, FULL, NONE } filter;

typedef struct gkm_params {
    int64_t l, k, d, letters, strands;
    int filter;
} gkm_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(gkm_params, l, MCR_INT, "11", 1, MCR_MISMATCHES_LENGTH_MAX,
                    "length of the words, gaps included"),
    MCR_RANGE_PARAM(gkm_params, k, MCR_INT, "7", 1, MCR_MISMATCHES_LENGTH_MAX,
                    "letters of a word that count"),
    MCR_RANGE_PARAM(
        gkm_params, d, MCR_INT, NULL, 0, MCR_MISMATCHES_LENGTH_MAX,
        "pairs of words that differ in more places are ignored; default: no limit. ls-gkm has 3: "
        "faster, and not always positive semidefinite"),
    {.name = "filter",
     .type = MCR_CHOICE,
     .offset = offsetof(gkm_params, filter),
     .standard = "truncated",
     .choices = "truncated|full|none",
     .help = "truncated, full: counts of whole words estimated from the gapped ones; none: gapped "
             "words themselves"},
    MCR_RANGE_PARAM(
        gkm_params, strands, MCR_INT, "2", 1, 2,
        "2: DNA is also read from its other strand; 1: strings as they are, any letters"),
    MCR_RANGE_PARAM(gkm_params, letters, MCR_INT, "4", 2, 256,
                    "size of the alphabet: 4 for DNA, 20 for proteins (filter=none: not used)"),
    {.name = NULL},
};

/* The estimate of a word with d mismatches to one that occurs. */
static double estimate(const gkm_params *p, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j <= p->k; j++)
        for (int64_t s = 0; s <= j; s++)
            sum += (s % 2 ? -1 : 1) * pow((double)(p->letters - 1), (double)(j - s)) *
                   mcr_choose(d, s) * mcr_choose(p->l - d, j - s);
    return sum / pow((double)p->letters, (double)p->l);
}

/* The largest number of mismatches that contributes if no pair is dropped. */
static int64_t farthest(const gkm_params *p)
{
    if (p->filter == FULL)
        return p->l;
    if (p->filter == NONE)
        return p->l - p->k;
    int64_t last = 0;
    while (last < p->l && estimate(p, last + 1) > 0)
        last++;
    return 2 * last < p->l ? 2 * last : p->l;
}

static int64_t most_of(const gkm_params *p)
{
    return p->d == INT64_MIN ? farthest(p) : p->d;
}

static mcr_status check(mcr *ctx, void *values)
{
    gkm_params *p = values;
    if (p->k > p->l)
        return mcr_fail(ctx, MCR_BAD_CALL, "gkm: k must be at most l (%lld)", (long long)p->l);
    if (p->filter == NONE || p->d >= farthest(p))
        p->d = INT64_MIN; /* the canonical form */
    if (p->strands == 2 && p->letters != 4)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "gkm: letters=%lld, but only DNA has two strands: set strands=1",
                        (long long)p->letters);
    return MCR_OK;
}

/* The inner product of the estimates from two words with d mismatches; w[e]: the estimate at
 * distance e. At these d positions a word has the first one's letter in `first`, the second one's
 * in `second` and another letter in the others; at the remaining positions it has e mismatches. */
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

static void find_h(double *h, const gkm_params *p)
{
    double w[MCR_MISMATCHES_LENGTH_MAX + 1];
    bool positive = true;
    for (int64_t d = 0; d <= p->l; d++) {
        w[d] = estimate(p, d);
        positive = positive && w[d] > 0;
        if (p->filter == TRUNCATED && !positive)
            w[d] = 0;
    }
    for (int64_t d = 0; d <= most_of(p); d++)
        h[d] = p->filter == NONE   ? mcr_choose(p->l - d, p->k)
               : p->filter == FULL ? w[d]
                                   : product_of(p, w, d);
}

void mcr_gkm_pairs(mcr_mismatches *what, const mcr_kernel *kernel)
{
    const gkm_params *p = kernel->params;
    *what = (mcr_mismatches){.length = p->l, .most = most_of(p), .both_strands = p->strands == 2};
    find_h(what->h, p);
}

/* ---- explicit features: gapped words ----------------------------------------------------------*/

/* A feature's word: the set of positions, as a number, and the letters, 0 at gaps. */
enum { SET_BYTES = sizeof(uint64_t), MOST_BYTES = SET_BYTES + MCR_MISMATCHES_LENGTH_MAX };

static void put_word(unsigned char *to, const unsigned char *letter, int64_t l, uint64_t set)
{
    for (int b = 0; b < SET_BYTES; b++)
        to[b] = (unsigned char)(set >> (8 * (SET_BYTES - 1 - b)) & 255);
    for (int64_t i = 0; i < l; i++)
        to[SET_BYTES + i] = set >> i & 1 ? letter[i] : 0;
}

static void name_word(mcr_names *names, const unsigned char *word, int64_t width)
{
    uint64_t set = 0;
    for (int b = 0; b < SET_BYTES; b++)
        set = set << 8 | word[b];
    for (int64_t i = 0; i < width - SET_BYTES; i++)
        if (set >> i & 1)
            mcr_names_bytes(names, (const char *)word + SET_BYTES + i, 1);
        else
            mcr_text_string(&names->text, ".");
}

/* A, C, G, T in upper case; 0: another letter. */
static unsigned char base_of(unsigned char c)
{
    unsigned char big = (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return big == 'A' || big == 'C' || big == 'G' || big == 'T' ? big : 0;
}

static unsigned char other_base(unsigned char c)
{
    return c == 'A' ? 'T' : c == 'T' ? 'A' : c == 'C' ? 'G' : 'C';
}

/* One gapped word of an object. With both strands a word and its reverse complement are the same
 * feature; if they are equal it counts sqrt(2), so that products agree with the kernel. */
static mcr_status add_gapped(mcr_patterns *to, const gkm_params *p, int64_t object,
                             const unsigned char *letter, uint64_t set)
{
    unsigned char word[2][MOST_BYTES], across[MCR_MISMATCHES_LENGTH_MAX];
    put_word(word[0], letter, p->l, set);
    if (p->strands == 1)
        return mcr_patterns_add(to, object, word[0], 1);
    uint64_t turned = 0;
    for (int64_t i = 0; i < p->l; i++) {
        across[i] = other_base(letter[p->l - 1 - i]);
        turned |= (set >> (p->l - 1 - i) & 1) << i;
    }
    put_word(word[1], across, p->l, turned);
    int order = memcmp(word[0], word[1], (size_t)to->width);
    return mcr_patterns_add(to, object, word[order > 0], order == 0 ? sqrt(2) : 1);
}

/* Enumerates all sets of k positions out of l (Gosper's hack). */
static mcr_status add_window(mcr_patterns *to, const gkm_params *p, int64_t object,
                             const unsigned char *letter)
{
    mcr_status s = MCR_OK;
    double sets = mcr_choose(p->l, p->k);
    uint64_t set = p->k == 64 ? UINT64_MAX : ((uint64_t)1 << p->k) - 1;
    for (double done = 0; done < sets && !s; done++) {
        s = add_gapped(to, p, object, letter, set);
        uint64_t low = set & (0 - set), high = set + low;
        set = high ? (((high ^ set) >> 2) / low) | high : 0;
    }
    return s;
}

static mcr_status expect_gapped(const mcr_patterns *list, const gkm_params *p)
{
    double words = (double)mcr_keys_count_substrings(list->bound, p->l) * mcr_choose(p->l, p->k);
    return mcr_patterns_expect(list, words, 4 * words * (double)(p->strands * p->l));
}

static mcr_status list_gapped(mcr_bound *bound, mcr_binding *binding)
{
    const gkm_params *p = mcr_bound_params(bound);
    mcr_patterns list = {.bound = bound, .width = SET_BYTES + p->l, .name = name_word};
    int64_t object = 0;
    mcr_status s = mcr_keys_objects(&object, bound);
    if (!s)
        s = expect_gapped(&list, p);
    object = 0;
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        for (int64_t i = 0; i < bound->field[side].count && !s; i++, object++) {
            const char *bytes;
            unsigned char letter[MCR_MISMATCHES_LENGTH_MAX];
            int64_t length;
            mcr_bound_string(bound, side, i, &bytes, &length);
            for (int64_t at = 0; at + p->l <= length && !s; at++) {
                bool good = true;
                for (int64_t j = 0; j < p->l; j++) {
                    unsigned char c = (unsigned char)bytes[at + j];
                    letter[j] = p->strands == 2 ? base_of(c) : c;
                    good = good && (p->strands == 1 || letter[j]);
                }
                if (good)
                    s = add_window(&list, p, object, letter);
            }
        }
    if (!s)
        s = mcr_patterns_offer(&list, binding);
    mcr_patterns_free(&list);
    return s;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    if (!bound->listed[0])
        return mcr_fail(bound->ctx, MCR_BAD_CALL,
                        "gkm: the estimated counts of all words are too many to list; use the "
                        "gapped words themselves (filter=none)");
    return mcr_features_listed(bound, out);
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const gkm_params *p = mcr_bound_params(bound);
    if (binding->listing && p->filter == NONE)
        return list_gapped(bound, binding);
    mcr_alphabet a = mcr_alphabet_of(bound);
    mcr_mismatches what;
    if (p->strands == 1 && p->filter != NONE && a.count > p->letters)
        return mcr_fail(bound->ctx, MCR_BAD_DATA,
                        "gkm: the strings have %d different letters: set letters=%d or more (20 "
                        "for proteins), or filter=none",
                        a.count, a.count);
    mcr_gkm_pairs(&what, bound->kernel);
    return mcr_mismatches_bind(bound, &what);
}

/* Eigenvalue j of h on all words, with a bound of its rounding error. */
static double eigenvalue(const gkm_params *p, const double *h, int64_t j, double *rounding)
{
    double sum = 0, size = 0;
    for (int64_t d = 0; d <= p->d; d++)
        for (int64_t s = 0; s <= d; s++) {
            double part = h[d] * mcr_choose(j, s) * mcr_choose(p->l - j, d - s) *
                          pow((double)(p->letters - 1), (double)(d - s));
            sum += s % 2 ? -part : part;
            size += fabs(part);
        }
    *rounding = 64 * (double)p->l * DBL_EPSILON * size;
    return sum;
}

/* With both strands the eigenvalues are doubled, on functions that agree on a word and its reverse
 * complement; every j has such functions. */
static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    const gkm_params *p = values;
    double h[MCR_MISMATCHES_LENGTH_MAX + 1], lowest = INFINITY, rounding;
    (void)child;
    (void)children;
    if (p->d == INT64_MIN) {
        *rule = p->filter == NONE ? "an inner product of gapped words"
                                  : "an inner product of estimated counts of words";
        return MCR_PSD;
    }
    find_h(h, p);
    for (int64_t j = 0; j <= p->l; j++) {
        double value = eigenvalue(p, h, j, &rounding);
        lowest = fmin(lowest, fabs(value) <= rounding ? 0 : value);
    }
    *rule = lowest > 0   ? "all eigenvalues on words are above 0 (Krawtchouk's polynomials)"
            : lowest < 0 ? "an eigenvalue on words is negative (Krawtchouk's polynomials), because "
                           "words that differ in more than d places are ignored"
                         : "an eigenvalue on words cannot be distinguished from 0";
    return lowest > 0 ? MCR_PSD : lowest < 0 ? MCR_INDEFINITE : MCR_DEFINITE_UNKNOWN;
}

const mcr_kernel_type mcr_kernel_gkm = {
    .name = "gkm",
    .summary = "gapped k-mers: words of l letters compared on k of them, as ls-gkm does",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(gkm_params),
    .indefinite = 1,
    .check = check,
    .definite = definite,
    .bind = bind,
    .unbind = mcr_mismatches_unbind,
    .block = mcr_mismatches_block,
    .diagonal = mcr_mismatches_diagonal,
    .features = features,
};
