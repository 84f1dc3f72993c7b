/* neighbours.c: counts the words within m mismatches of those of a string.
 *
 * Letters of the alphabet that do not occur are equivalent: one additional letter represents them.
 * A word with e such letters represents (their number)^e words, with that weight in an inner
 * product: its value is multiplied by the square root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/neighbours.h"

#include <math.h>

#include "base/number.h"
#include "base/threads.h"
#include "kernel/explicit.h"
#include "kernel/features.h"
#include "kernel/keys.h"
#include "kernel/mismatches.h"

/* Limits of the number of words: up to the first, products of listed vectors are faster than
 * comparing words; up to the second they are listed on request. */
enum { FAST_WORDS = 4096, MOST_WORDS = 1 << 22 };

/* The entries of one object. */
typedef struct row {
    int32_t *word;
    double *value;
    int64_t count;
} row;

typedef struct worker {
    double *value; /* of all words, 0 between objects */
    int32_t *met;  /* words with a value */
    int64_t mets;
} worker;

typedef struct listing {
    const mcr_bound *bound;
    mcr_alphabet alphabet;
    int64_t k, m, base; /* base: number of distinguished letters */
    double others;      /* square root of the number of letters the last one represents; 0: none */
    int64_t power[MCR_MISMATCHES_LENGTH_MAX]; /* powers of base, by position from the left */
    worker *worker;
    row *row; /* one per object, of x and then of z */
} listing;

/* Adds to all words that agree with this one before `place` and have up to `left` mismatches from
 * there on. */
static void add_neighbours(const listing *l, worker *w, int64_t word, const unsigned char *letter,
                           int64_t place, int64_t left, double value)
{
    if (w->value[word] == 0)
        w->met[w->mets++] = (int32_t)word;
    w->value[word] += value;
    for (int64_t p = place; p < l->k && left > 0; p++)
        for (int64_t c = 0; c < l->base; c++) {
            int64_t now = letter[p];
            if (c != now)
                add_neighbours(l, w, word + (c - now) * l->power[p], letter, p + 1, left - 1,
                               l->others > 0 && c == l->base - 1 ? value * l->others : value);
        }
}

static mcr_status list_object(void *arg, int64_t object, int number)
{
    const listing *l = arg;
    worker *w = &l->worker[number];
    int64_t of_x = l->bound->field[0].count;
    const mcr_field *f = &l->bound->field[object >= of_x];
    int64_t r = mcr_field_at(f, object >= of_x ? object - of_x : object);
    const char *s = f->store->bytes + f->store->start[r];
    int64_t n = f->store->start[r + 1] - f->store->start[r];
    unsigned char letter[MCR_MISMATCHES_LENGTH_MAX];
    for (int64_t t = 0; t + l->k <= n; t++) {
        int64_t word = 0;
        for (int64_t p = 0; p < l->k; p++) {
            letter[p] = l->alphabet.number[(unsigned char)s[t + p]];
            word += letter[p] * l->power[p];
        }
        add_neighbours(l, w, word, letter, 0, l->m, 1);
    }
    row *to = &l->row[object];
    to->word = mcr_alloc(l->bound->ctx, (size_t)w->mets, sizeof *to->word);
    to->value = mcr_alloc(l->bound->ctx, (size_t)w->mets, sizeof *to->value);
    bool ok = to->word && to->value;
    to->count = ok ? w->mets : 0;
    for (int64_t i = 0; i < w->mets; i++) {
        if (ok) {
            to->word[i] = w->met[i];
            to->value[i] = w->value[w->met[i]];
        }
        w->value[w->met[i]] = 0;
    }
    w->mets = 0;
    return ok ? MCR_OK : MCR_NO_MEMORY;
}

/* "AC?GT": ? is a letter that does not occur in the strings. */
static mcr_status name_words(const listing *l, mcr_bound *bound, int64_t words)
{
    char byte[256];
    for (int b = 0; b < 256; b++)
        if (l->alphabet.seen[b])
            byte[l->alphabet.number[b]] = (char)b;
    if (l->others > 0)
        byte[l->base - 1] = '?';
    mcr_status s = mcr_names_open(&bound->names, bound->ctx);
    for (int64_t w = 0; w < words && !s; w++) {
        char text[MCR_MISMATCHES_LENGTH_MAX];
        for (int64_t p = 0; p < l->k; p++)
            text[p] = byte[w / l->power[p] % l->base];
        mcr_names_bytes(bound->names, text, l->k);
        s = mcr_names_end(bound->names);
    }
    return s;
}

static mcr_status offer(const listing *l, mcr_bound *bound, mcr_binding *binding, int64_t objects,
                        int64_t words)
{
    int64_t total = 0, at = 0;
    for (int64_t o = 0; o < objects; o++)
        total += l->row[o].count;
    mcr_feature *list = mcr_alloc(bound->ctx, (size_t)total, sizeof *list);
    mcr_status s = list ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t o = 0; o < objects && !s; o++)
        for (int64_t i = 0; i < l->row[o].count; i++)
            list[at++] = (mcr_feature){(int32_t)o, l->row[o].word[i], l->row[o].value[i]};
    if (!s && binding->named)
        s = name_words(l, bound, words);
    if (!s)
        s = mcr_features_offer(bound, binding, list, total, words);
    mcr_free(bound->ctx, list);
    return s;
}

static mcr_status list_all(listing *l, mcr_bound *bound, mcr_binding *binding, int64_t objects,
                           int64_t words)
{
    mcr *ctx = bound->ctx;
    int workers = mcr_workers(ctx);
    l->worker = mcr_alloc_zero(ctx, (size_t)workers, sizeof *l->worker);
    l->row = mcr_alloc_zero(ctx, (size_t)objects, sizeof *l->row);
    mcr_status s = l->worker && l->row ? MCR_OK : MCR_NO_MEMORY;
    for (int w = 0; w < workers && !s; w++) {
        l->worker[w].value = mcr_alloc_zero(ctx, (size_t)words, sizeof(double));
        l->worker[w].met = mcr_alloc(ctx, (size_t)words, sizeof(int32_t));
        s = l->worker[w].value && l->worker[w].met ? MCR_OK : MCR_NO_MEMORY;
    }
    if (!s)
        s = mcr_parallel_reported(ctx, "mismatch", 0, 1, objects, list_object, l);
    if (!s)
        s = offer(l, bound, binding, objects, words);
    for (int w = 0; w < workers && l->worker; w++)
        mcr_free_all(ctx, l->worker[w].value, l->worker[w].met);
    for (int64_t o = 0; o < objects && l->row; o++)
        mcr_free_all(ctx, l->row[o].word, l->row[o].value);
    mcr_free_all(ctx, l->worker, l->row);
    return s;
}

/* Entries of all objects, at most. */
static double count_entries(const listing *l, double words)
{
    double near = 0, total = 0, power = 1;
    for (int64_t d = 0; d <= l->m; d++, power *= (double)(l->base - 1))
        near += mcr_choose(l->k, d) * power;
    for (int side = 0; side < (l->bound->same ? 1 : 2); side++)
        for (int64_t i = 0; i < l->bound->field[side].count; i++) {
            const mcr_field *f = &l->bound->field[side];
            int64_t r = mcr_field_at(f, i), n = f->store->start[r + 1] - f->store->start[r];
            total += fmin(words, n >= l->k ? (double)(n - l->k + 1) * near : 0);
        }
    return total;
}

mcr_status mcr_neighbours_bind(mcr_bound *bound, mcr_binding *binding, int64_t k, int64_t m,
                               int64_t letters, bool *done)
{
    listing l = {.bound = bound, .alphabet = mcr_alphabet_of(bound), .k = k, .m = m};
    int64_t objects, others = letters - l.alphabet.count;
    *done = false;
    mcr_status s = mcr_keys_objects(&objects, bound);
    if (s)
        return s;
    l.others = others > 0 ? sqrt((double)others) : 0;
    l.base = l.alphabet.count + (others > 0);
    double words = pow((double)l.base, (double)k);
    double bytes = count_entries(&l, words) * (sizeof(mcr_feature) + sizeof(double)) +
                   mcr_workers(bound->ctx) * words * (sizeof(int32_t) + sizeof(double));
    if (!(words <= (binding->listing ? MOST_WORDS : FAST_WORDS)) ||
        bytes > 0.5 * (double)mcr_budget_left(bound->ctx))
        return MCR_OK;
    l.power[k - 1] = 1;
    for (int64_t p = k - 1; p > 0; p--)
        l.power[p - 1] = l.power[p] * l.base;
    *done = true;
    return list_all(&l, bound, binding, objects, (int64_t)words);
}
