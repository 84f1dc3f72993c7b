/* mismatches.c: pairs of words by their number of mismatches.
 *
 * Two words agree on a set of positions if their letters there are equal; sorting the words by
 * these letters finds all such pairs. Over all sets that omit i positions, a pair with d <= i
 * mismatches is found choose(length - d, i - d) times, so the desired sum over pairs is a sum of
 * such counts with weights that follow from h by back substitution from the largest i. (The idea of
 * counting by sets of positions: Kuksa, Huang and Pavlovic, 2008; Blakely, Collins, Singh and Qi,
 * 2020.) Counts are exact integers, so the result does not depend on how the sets are divided among
 * threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/mismatches.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/threads.h"
#include "kernel/keys.h"
#include "kernel/vectors.h"

typedef struct mismatches_state {
    double *k;           /* n[0] x n[1], or packed upper rows when symmetric */
    double *diagonal[2]; /* of the sides */
    int64_t n[2];
    size_t taken; /* of the budget */
} mismatches_state;

/* Start of the row of object i: element j >= i is at row + j. */
static int64_t row_at(int64_t i, int64_t n)
{
    return i * n - i * (i + 1) / 2;
}

/* ---- words ------------------------------------------------------------------------------------*/

/* Letters are numbered and words packed. Sides: x is forward; z is forward, and backwards with
 * both_strands. In the symmetric case one object is both. object = 2 * number + strand. */
typedef struct word_list {
    mcr_keys words;
    int64_t objects, of_x;
    int letter_bits;
} word_list;

static const signed char *dna_numbers(void)
{
    static const signed char number[256] = {
        ['A'] = 1, ['a'] = 1, ['C'] = 2, ['c'] = 2, ['G'] = 3, ['g'] = 3, ['T'] = 4, ['t'] = 4,
    };
    return number;
}

/* Lists the words of a string; returns their number. backwards: of its other strand. */
static int64_t list_words(mcr_keys *to, int64_t at, const char *s, int64_t n, int64_t length,
                          const mcr_alphabet *a, bool dna, bool backwards, int32_t object)
{
    const signed char *number = dna_numbers();
    uint64_t word = 0, mask = to->bits < 64 ? ((uint64_t)1 << to->bits) - 1 : UINT64_MAX;
    int64_t good = 0, count = 0;
    for (int64_t t = 0; t < n; t++) {
        unsigned char letter = (unsigned char)s[backwards ? n - 1 - t : t];
        int code = dna ? number[letter] - 1 : a->number[letter];
        good = code < 0 ? 0 : good + 1;
        word = (word << a->bits | (uint64_t)(code < 0 ? 0 : backwards ? 3 - code : code)) & mask;
        if (good < length)
            continue;
        if (to->key) {
            to->key[at + count] = word;
            to->object[at + count] = object;
        }
        count++;
    }
    return count;
}

static int64_t list_all(mcr_keys *to, const mcr_bound *bound, const mcr_mismatches *what,
                        const mcr_alphabet *a)
{
    int64_t count = 0, object = 0;
    for (int side = 0; side < (bound->same ? 1 : 2); side++) {
        const mcr_field *f = &bound->field[side];
        for (int64_t i = 0; i < f->count; i++, object++)
            for (int strand = 0; strand < (what->both_strands ? 2 : 1); strand++) {
                int64_t r = mcr_field_at(f, i), begin = f->store->start[r];
                count += list_words(to, count, f->store->bytes + begin,
                                    f->store->start[r + 1] - begin, what->length, a,
                                    what->both_strands, strand == 1,
                                    (int32_t)(2 * object + strand));
            }
    }
    return count;
}

static mcr_status make_words(word_list *out, const mcr_bound *bound, const mcr_mismatches *what)
{
    const char *name = bound->kernel->type->name;
    mcr_alphabet a = mcr_alphabet_of(bound);
    if (what->both_strands)
        a.bits = 2;
    *out = (word_list){.letter_bits = a.bits, .of_x = bound->field[0].count};
    mcr_status s = mcr_keys_objects(&out->objects, bound);
    if (!s && out->objects > INT32_MAX / 2)
        s = mcr_fail(bound->ctx, MCR_BAD_DATA, "%s: more than %d objects", name, INT32_MAX / 2);
    if (!s && what->length * a.bits > 64)
        s = mcr_fail(bound->ctx, MCR_BAD_DATA,
                     "%s: words of %lld letters are too long for %d different letters: at most %d",
                     name, (long long)what->length, a.count, 64 / a.bits);
    if (s)
        return s;
    mcr_keys none = {.bits = (int)what->length * a.bits};
    int64_t count = list_all(&none, bound, what, &a);
    if (count > INT32_MAX)
        return mcr_fail(bound->ctx, MCR_BAD_DATA, "%s: more than %d words", name, INT32_MAX);
    s = mcr_keys_alloc(&out->words, bound->ctx, count);
    out->words.bits = none.bits;
    if (!s)
        list_all(&out->words, bound, what, &a);
    return s;
}

/* ---- one set of places ------------------------------------------------------------------------*/

/* An object's words in a group of equal ones: forward ones, and all. */
typedef struct share {
    int32_t object, forward, all;
} share;

/* An x object's part in such a group, and the shares it is paired with. */
typedef struct meeting {
    int32_t object, forward, first, end;
} meeting;

typedef struct worker {
    mcr_keys keys, other;
    share *share;
    meeting *meeting, *sorted;
    int64_t *start; /* of each object's meetings */
    void *count;    /* like the state's values, integers: int32_t, or double if wide */
    double *diagonal;
} worker;

typedef struct level_job {
    const mismatches_state *state;
    const word_list *list;
    const mcr_mismatches *what;
    worker *worker;
    const uint64_t *set; /* kept letters, as bits of a word */
    bool same, wide;
    /* For progress: the kernel, the fraction done, and that of one more set. */
    const char *phase;
    double done, share;
} level_job;

/* Extracts the letters of the set. */
static void take_letters(mcr_keys *to, const mcr_keys *from, uint64_t set)
{
    int shift[MCR_MISMATCHES_LENGTH_MAX], parts = 0, width = 0;
    uint64_t part[MCR_MISMATCHES_LENGTH_MAX];
    for (int b = 0; b < from->bits;) {
        if (!(set >> b & 1)) {
            b++;
            continue;
        }
        int end = b;
        while (end < from->bits && (set >> end & 1))
            end++;
        uint64_t ones = end - b < 64 ? ((uint64_t)1 << (end - b)) - 1 : UINT64_MAX;
        part[parts] = ones << b;
        shift[parts++] = b - width;
        width += end - b;
        b = end;
    }
    to->count = from->count;
    to->bits = width;
    memset(to->key, 0, sizeof *to->key * (size_t)from->count);
    for (int p = 0; p < parts; p++)
        for (int64_t i = 0; i < from->count; i++)
            to->key[i] |= (from->key[i] & part[p]) >> shift[p];
    memcpy(to->object, from->object, sizeof *to->object * (size_t)from->count);
}

/* Words first .. end - 1 agree. Adds a share for each of their objects and a meeting for each x
 * object among them. */
static void add_group(const level_job *job, worker *w, int64_t first, int64_t end, int64_t *shares,
                      int64_t *meetings)
{
    int64_t begin = *shares, n = *shares - 1, of_x = job->list->of_x;
    for (int64_t i = first; i < end; i++) {
        int32_t object = w->keys.object[i] / 2;
        if (n < begin || w->share[n].object != object)
            w->share[++n] = (share){object, 0, 0};
        w->share[n].forward += w->keys.object[i] % 2 == 0;
        w->share[n].all++;
    }
    *shares = n + 1;
    for (int64_t p = begin; p <= n; p++)
        w->diagonal[w->share[p].object] += (double)w->share[p].forward * w->share[p].all;
    int64_t z = begin;
    while (!job->same && z <= n && w->share[z].object < of_x)
        z++;
    for (int64_t p = begin; p < (job->same ? n + 1 : z) && z <= n; p++)
        if (w->share[p].forward > 0) {
            int64_t meets = job->same ? p : z;
            w->meeting[(*meetings)++] = (meeting){w->share[p].object, w->share[p].forward,
                                                  (int32_t)meets, (int32_t)(n + 1)};
            w->start[w->share[p].object + 1]++;
        }
}

/* The counts of one object. The positions of the next meetings and their counts are known, so they
 * are prefetched. */
#define COUNT_ROW(type)                                                                            \
    static void count_row_##type(type *row, const meeting *m, const meeting *end,                  \
                                 const share *list)                                                \
    {                                                                                              \
        for (; m < end; m++) {                                                                     \
            if (m + 2 * AHEAD < end)                                                               \
                __builtin_prefetch(list + m[2 * AHEAD].first);                                     \
            if (m + AHEAD < end)                                                                   \
                for (int32_t q = m[AHEAD].first; q < m[AHEAD].end && q < m[AHEAD].first + 4; q++)  \
                    __builtin_prefetch(row + list[q].object, 1);                                   \
            type forward = (type)m->forward;                                                       \
            for (int32_t q = m->first; q < m->end; q++)                                            \
                row[list[q].object] += forward * (type)list[q].all;                                \
        }                                                                                          \
    }
enum { AHEAD = 8 };
COUNT_ROW(int32_t)
COUNT_ROW(double)

/* Object by object, so that the counts of one stay in the cache. */
static void count_meetings(const level_job *job, worker *w, int64_t meetings)
{
    int64_t objects = job->list->objects, n = job->state->n[1], first = 0;
    for (int64_t o = 0; o < objects; o++)
        w->start[o + 1] += w->start[o];
    for (int64_t m = 0; m < meetings; m++)
        w->sorted[w->start[w->meeting[m].object]++] = w->meeting[m];
    while (first < meetings) {
        int64_t object = w->sorted[first].object, end = w->start[object];
        int64_t at = job->same ? row_at(object, n) : object * n - job->list->of_x;
        if (job->wide)
            count_row_double((double *)w->count + at, w->sorted + first, w->sorted + end, w->share);
        else
            count_row_int32_t((int32_t *)w->count + at, w->sorted + first, w->sorted + end,
                              w->share);
        first = end;
    }
}

static mcr_status count_set(void *arg, int64_t item, int number)
{
    const level_job *job = arg;
    worker *w = &job->worker[number];
    int64_t shares = 0, meetings = 0;
    take_letters(&w->keys, &job->list->words, job->set[item]);
    mcr_keys_sort(&w->keys, &w->other);
    memset(w->start, 0, sizeof *w->start * (size_t)(job->list->objects + 1));
    for (int64_t first = 0, i = 1; i <= w->keys.count; i++)
        if (i == w->keys.count || w->keys.key[i] != w->keys.key[first]) {
            add_group(job, w, first, i, &shares, &meetings);
            first = i;
        }
    count_meetings(job, w, meetings);
    return MCR_OK;
}

/* ---- all sets ---------------------------------------------------------------------------------*/

/* All sets of positions that omit `out` of them, as bit masks of words. Returns their number. */
static int64_t list_sets(uint64_t *set, int64_t length, int64_t out, int letter_bits)
{
    int64_t gap[MCR_MISMATCHES_LENGTH_MAX + 1], count = 0;
    for (int64_t g = 0; g < out; g++)
        gap[g] = g;
    for (;;) {
        int bits = (int)length * letter_bits;
        uint64_t keep = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
        for (int64_t g = 0; g < out; g++)
            keep &= ~((((uint64_t)1 << letter_bits) - 1) << (gap[g] * letter_bits));
        set[count++] = keep;
        int64_t g = out - 1;
        while (g >= 0 && gap[g] == length - out + g)
            g--;
        if (g < 0)
            return count;
        for (gap[g]++; g + 1 < out; g++)
            gap[g + 1] = gap[g] + 1;
    }
}

static int64_t values_of(const mismatches_state *s, bool same)
{
    return same ? s->n[1] * (s->n[1] + 1) / 2 : s->n[0] * s->n[1];
}

static void close_workers(mcr *ctx, worker *w, int count)
{
    for (int i = 0; w && i < count; i++) {
        mcr_keys_free(ctx, &w[i].keys);
        mcr_keys_free(ctx, &w[i].other);
        mcr_free(ctx, w[i].share);
    }
    mcr_free(ctx, w);
}

static mcr_status open_workers(worker **out, mcr *ctx, int count, const word_list *list,
                               int64_t values, bool wide)
{
    worker *w = *out = mcr_alloc_zero(ctx, (size_t)count, sizeof *w);
    mcr_status s = w ? MCR_OK : MCR_NO_MEMORY;
    for (int i = 0; i < count && !s; i++) {
        s = mcr_keys_alloc(&w[i].keys, ctx, list->words.count);
        if (!s)
            s = mcr_keys_alloc(&w[i].other, ctx, list->words.count);
        size_t words = (size_t)list->words.count, objects = (size_t)list->objects;
        size_t number = wide ? sizeof(double) : sizeof(int32_t);
        if (!s && !mcr_alloc_arrays(ctx, MCR_ARRAY(w[i].share, words), /* the block to free */
                                    MCR_ARRAY(w[i].meeting, words), MCR_ARRAY(w[i].sorted, words),
                                    MCR_ARRAY(w[i].start, objects + 1),
                                    (mcr_array){&w[i].count, (size_t)values, number, false},
                                    MCR_ARRAY(w[i].diagonal, objects)))
            s = MCR_NO_MEMORY;
    }
    return s;
}

/* Adds weight times the counts of all sets that omit this many positions. */
static mcr_status add_level(level_job *job, mcr *ctx, mismatches_state *state, int64_t out,
                            double weight, int workers)
{
    int64_t length = job->what->length, values = values_of(state, job->same);
    int64_t sets = (int64_t)mcr_choose(length, out);
    uint64_t *set = mcr_alloc(ctx, (size_t)sets, sizeof *set);
    if (!set)
        return MCR_NO_MEMORY;
    list_sets(set, length, out, job->list->letter_bits);
    job->set = set;
    size_t size = job->wide ? sizeof(double) : sizeof(int32_t);
    for (int w = 0; w < workers; w++) {
        memset(job->worker[w].count, 0, size * (size_t)values);
        memset(job->worker[w].diagonal, 0, sizeof(double) * (size_t)job->list->objects);
    }
    mcr_status s = mcr_parallel_reported(ctx, job->phase, job->done, job->share * (double)sets,
                                         sets, count_set, job);
    job->done += job->share * (double)sets;
    for (int64_t i = 0; i < values && !s; i++) {
        double sum = 0;
        for (int w = 0; w < workers; w++)
            sum += job->wide ? ((const double *)job->worker[w].count)[i]
                             : (double)((const int32_t *)job->worker[w].count)[i];
        state->k[i] += weight * sum;
    }
    for (int64_t i = 0; i < job->list->objects && !s; i++) {
        double sum = 0;
        for (int w = 0; w < workers; w++)
            sum += job->worker[w].diagonal[i];
        state->diagonal[0][i] += weight * sum;
    }
    mcr_free(ctx, set);
    return s;
}

/* The weights of the levels: h(d) = sum over i >= d of weight(i) choose(length - d, i - d). */
static void find_weights(double weight[], const mcr_mismatches *what)
{
    for (int64_t d = what->most; d >= 0; d--) {
        weight[d] = what->h[d];
        for (int64_t i = d + 1; i <= what->most; i++)
            weight[d] -= weight[i] * mcr_choose(what->length - d, i - d);
    }
}

/* An upper bound of the number of pairs of words of two objects. */
static double most_pairs(const word_list *list, const mcr_mismatches *what)
{
    double most = 0, sets = 0;
    for (int64_t first = 0, i = 1; i <= list->words.count; i++)
        if (i == list->words.count || list->words.object[i] / 2 != list->words.object[first] / 2) {
            most = fmax(most, (double)(i - first));
            first = i;
        }
    for (int64_t out = 0; out <= what->most; out++)
        sets = fmax(sets, mcr_choose(what->length, out));
    return most * most * sets;
}

/* For each set of positions all words are sorted and equal ones compared. */
static mcr_status allow_work(mcr_bound *bound, const word_list *list, const mcr_mismatches *what)
{
    enum { STEPS_A_WORD = 20 };
    double sets = 0;
    for (int64_t out = 0; out <= what->most; out++)
        sets += mcr_choose(what->length, out);
    return mcr_work_allow(bound->ctx, sets * (double)list->words.count * STEPS_A_WORD,
                          bound->kernel->type->name);
}

static mcr_status count_pairs(mcr_bound *bound, mismatches_state *state, const word_list *list,
                              const mcr_mismatches *what)
{
    int workers = mcr_workers(bound->ctx);
    double weight[MCR_MISMATCHES_LENGTH_MAX + 1];
    level_job job = {.state = state, .list = list, .what = what, .same = bound->same};
    job.wide = most_pairs(list, what) > INT32_MAX;
    mcr_status s = open_workers(&job.worker, bound->ctx, workers, list,
                                values_of(state, bound->same), job.wide);
    find_weights(weight, what);
    job.phase = bound->kernel->type->name;
    double sets = 0;
    for (int64_t out = 0; out <= what->most; out++)
        sets += weight[out] != 0 ? mcr_choose(what->length, out) : 0;
    job.share = 1 / fmax(sets, 1);
    for (int64_t out = 0; out <= what->most && !s; out++)
        if (weight[out] != 0 && list->words.count > 0)
            s = add_level(&job, bound->ctx, state, out, weight[out], workers);
    close_workers(bound->ctx, job.worker, workers);
    return s;
}

/* ---- binding ----------------------------------------------------------------------------------*/

/* All values, and a worker's counts of them. */
static mcr_status take_memory(mcr_bound *bound, mismatches_state *s)
{
    size_t values, bytes, copies = (size_t)mcr_workers(bound->ctx) + 1;
    if (!mcr_size_mul((size_t)s->n[0], (size_t)s->n[1], &values) ||
        !mcr_size_mul(values / (bound->same ? 2 : 1) + (size_t)s->n[1], sizeof(double) * copies,
                      &bytes))
        return mcr_fail(bound->ctx, MCR_OVER_BUDGET, "%s: too many strings",
                        bound->kernel->type->name);
    mcr_status st = mcr_budget_take(bound->ctx, bytes, "the pairs of strings");
    if (!st)
        s->taken = bytes;
    return st;
}

mcr_status mcr_mismatches_bind(mcr_bound *bound, const mcr_mismatches *what)
{
    mcr *ctx = bound->ctx;
    word_list list = {0};
    mismatches_state *state = mcr_bound_alloc(bound, 1, sizeof *state);
    if (!state)
        return MCR_NO_MEMORY;
    *state = (mismatches_state){
        .n = {bound->field[0].count, bound->field[bound->same ? 0 : 1].count}};
    mcr_bound_set_state(bound, state);
    mcr_status s = take_memory(bound, state);
    if (!s)
        s = make_words(&list, bound, what);
    if (!s)
        s = allow_work(bound, &list, what);
    if (!s) {
        state->k = mcr_alloc_zero(ctx, (size_t)values_of(state, bound->same), sizeof *state->k);
        state->diagonal[0] = mcr_alloc_zero(ctx, (size_t)list.objects, sizeof(double));
        s = state->k && state->diagonal[0] ? MCR_OK : MCR_NO_MEMORY;
    }
    if (!s) {
        state->diagonal[1] = state->diagonal[0] + (bound->same ? 0 : state->n[0]);
        s = count_pairs(bound, state, &list, what);
    }
    mcr_keys_free(ctx, &list.words);
    return s;
}

void mcr_mismatches_unbind(mcr_bound *bound)
{
    mismatches_state *s = mcr_bound_state(bound);
    if (bound->listed[0])
        return;
    mcr_free_all(bound->ctx, s->k, s->diagonal[0]);
    mcr_budget_give(bound->ctx, s->taken);
}

mcr_status mcr_mismatches_block(const mcr_bound *bound, const mcr_tile *tile)
{
    if (bound->listed[0])
        return mcr_vectors_block(bound, tile);
    const mismatches_state *s = mcr_bound_state(bound);
    for (int64_t i = 0; i < tile->x.count; i++) {
        int64_t x = mcr_rows_at(tile->x, i);
        for (int64_t j = 0; j < tile->z.count; j++) {
            int64_t z = mcr_rows_at(tile->z, j);
            double k = bound->same ? s->k[x < z ? row_at(x, s->n[1]) + z : row_at(z, s->n[1]) + x]
                                   : s->k[x * s->n[1] + z];
            mcr_tile_put(tile, i, j, k);
        }
    }
    return MCR_OK;
}

mcr_status mcr_mismatches_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    if (bound->listed[0])
        return mcr_vectors_diagonal(bound, side, rows, k);
    const mismatches_state *s = mcr_bound_state(bound);
    for (int64_t i = 0; i < rows.count; i++)
        k[i] = s->diagonal[side][mcr_rows_at(rows, i)];
    return MCR_OK;
}
