/* labels.c: targets from files; the list of classes.
 *
 * Labels are collected both as text and as numbers: whether they are words is only known at the
 * end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/order.h"
#include "data/builder.h"
#include "data/format/collect.h"

struct mcr_labels {
    mcr *ctx;
    int64_t count;
    char *text; /* concatenated */
    int64_t text_length, text_capacity;
    int64_t *end; /* label i is text[end[i-1] .. end[i]-1] */
    int64_t end_workspace;
    double *value; /* valid as long as all are numbers, or "nan" and "inf" */
    int64_t value_capacity;
    bool words;        /* at least one is not a number */
    bool named;        /* numbers name classes */
    int64_t nonfinite; /* first "nan" or "inf" (from 0), -1: none */
};

mcr_status mcr_labels_open(mcr_labels **out, mcr *ctx)
{
    *out = mcr_alloc_zero(ctx, 1, sizeof **out);
    if (*out == NULL)
        return MCR_NO_MEMORY;
    (*out)->ctx = ctx;
    (*out)->nonfinite = -1;
    return MCR_OK;
}

void mcr_labels_close(mcr_labels *l)
{
    if (l == NULL)
        return;
    mcr *ctx = l->ctx;
    mcr_free_all(ctx, l->text, l->end, l->value, l);
}

/* Makes space for one more label of so many bytes. */
static mcr_status reserve(mcr_labels *l, size_t length)
{
    int64_t bytes = l->text_length + (int64_t)length;
    mcr_status status = MCR_OK;
    if (bytes > l->text_capacity)
        status = mcr_reserve(l->ctx, &l->text, &l->text_capacity, bytes, sizeof *l->text);
    if (status == MCR_OK && l->count == l->end_workspace)
        status = mcr_reserve(l->ctx, &l->end, &l->end_workspace, l->count + 1, sizeof *l->end);
    if (status == MCR_OK && !l->words && l->count == l->value_capacity)
        status = mcr_reserve(l->ctx, &l->value, &l->value_capacity, l->count + 1, sizeof *l->value);
    return status;
}

mcr_status mcr_labels_add(mcr_labels *l, const char *text, size_t length)
{
    if (length == 0)
        return mcr_fail(l->ctx, MCR_BAD_DATA, "object %" PRId64 " has an empty label",
                        l->count + 1);
    if (memchr(text, '\0', length) != NULL)
        return mcr_fail(l->ctx, MCR_BAD_DATA, "object %" PRId64 ": the label contains a NUL byte",
                        l->count + 1);
    mcr_status status = reserve(l, length);
    if (status != MCR_OK)
        return status;
    double value = 0;
    if (!l->words) {
        if (mcr_parse_real(text, text + length, &value) != text + length)
            l->words = true;
        else if (!isfinite(value) && l->nonfinite < 0)
            l->nonfinite = l->count;
        if (!l->words)
            l->value[l->count] = value;
    }
    memcpy(l->text + l->text_length, text, length);
    l->text_length += (int64_t)length;
    l->end[l->count++] = l->text_length;
    return MCR_OK;
}

void mcr_labels_name_classes(mcr_labels *l)
{
    l->named = true;
}

int64_t mcr_labels_not_finite(const mcr_labels *l)
{
    return l->nonfinite;
}

/* The classes of labels that are words, in the order of first appearance. */
static mcr_status classes_of_words(mcr_classes **out, const mcr_labels *l, int32_t *class_of)
{
    mcr_words words = {0};
    mcr_status status = MCR_OK;
    for (int64_t i = 0; i < l->count && status == MCR_OK; i++) {
        int64_t from = i > 0 ? l->end[i - 1] : 0;
        status = mcr_words_number(&words, l->ctx, l->text + from, (size_t)(l->end[i] - from),
                                  &class_of[i]);
    }
    if (status == MCR_OK)
        status = mcr_classes_of_names(out, l->ctx, (const char *const *)words.word, words.count);
    mcr_words_free(&words, l->ctx);
    return status;
}

static mcr_status hand_over(mcr_builder *b, mcr_labels *l)
{
    mcr_status status = mcr_builder_expect(b, l->count);
    if (status != MCR_OK)
        return status;
    int32_t *class_of = mcr_alloc(b->ctx, (size_t)l->count, sizeof *class_of);
    mcr_classes *classes = NULL;
    if (class_of == NULL)
        return MCR_NO_MEMORY;
    if (!l->words && l->nonfinite >= 0) {
        int64_t i = l->nonfinite, from = i > 0 ? l->end[i - 1] : 0;
        status = mcr_fail(b->ctx, MCR_BAD_DATA, "object %" PRId64 ": the target %.*s is not finite",
                          i + 1, (int)(l->end[i] - from), l->text + from);
    } else if (l->words) {
        status = classes_of_words(&classes, l, class_of);
        mcr_free(b->ctx, l->value);
        l->value = NULL;
    } else {
        status = mcr_classes_of_reals(&classes, b->ctx, l->value, l->count, class_of);
    }
    if (status != MCR_OK) {
        mcr_free(b->ctx, class_of);
        return status;
    }
    if (l->named) {
        mcr_free(b->ctx, l->value);
        l->value = NULL;
    }
    mcr_builder_set_targets(b, l->words || l->named ? MCR_WORD_TARGETS : MCR_REAL_TARGETS, l->value,
                            class_of, classes);
    l->value = NULL;
    return MCR_OK;
}

mcr_status mcr_builder_labels(mcr_builder *b, mcr_labels *l)
{
    if (l == NULL)
        return MCR_OK;
    mcr_status status = hand_over(b, l);
    mcr_labels_close(l);
    return status;
}

/* ---- classes ---------------------------------------------------------------------------------*/

mcr_classes *mcr_classes_retain(mcr_classes *classes)
{
    __atomic_add_fetch(&classes->owners, 1, __ATOMIC_RELAXED);
    return classes;
}

void mcr_classes_free(mcr *ctx, mcr_classes *c)
{
    if (c == NULL || __atomic_sub_fetch(&c->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    mcr_free_all(ctx, c->name, c->text, c);
}

/* A hash table of distinct keys with open addressing: slot -> key number, -1: free. It is at most
 * half full. Keys are numbered in order of insertion; hash[key] avoids most comparisons. */
typedef struct table {
    mcr *ctx;
    int32_t *slot;
    uint64_t mask;
    int64_t keys, key_capacity;
    uint64_t *hash;  /* per key */
    int64_t *sample; /* an object with this key */
    int64_t hash_capacity;
} table;

static mcr_status table_open(table *t, mcr *ctx)
{
    enum { START = 64 };
    *t = (table){.ctx = ctx, .mask = START - 1};
    t->slot = mcr_alloc(ctx, START, sizeof *t->slot);
    if (t->slot == NULL)
        return MCR_NO_MEMORY;
    memset(t->slot, -1, START * sizeof *t->slot);
    return MCR_OK;
}

static void table_close(table *t)
{
    mcr_free_all(t->ctx, t->slot, t->hash, t->sample);
}

static mcr_status table_grow(table *t)
{
    uint64_t slots = 2 * (t->mask + 1);
    int32_t *slot = mcr_alloc(t->ctx, slots, sizeof *slot);
    if (slot == NULL)
        return MCR_NO_MEMORY;
    memset(slot, -1, slots * sizeof *slot);
    for (int64_t k = 0; k < t->keys; k++) {
        uint64_t s = t->hash[k] & (slots - 1);
        while (slot[s] >= 0)
            s = (s + 1) & (slots - 1);
        slot[s] = (int32_t)k;
    }
    mcr_free(t->ctx, t->slot);
    t->slot = slot;
    t->mask = slots - 1;
    return MCR_OK;
}

static mcr_status table_add(table *t, uint64_t slot, uint64_t hash, int64_t object)
{
    if (t->keys == INT32_MAX)
        return mcr_fail(t->ctx, MCR_BAD_DATA, "there are more than %d classes", INT32_MAX);
    mcr_status status = mcr_reserve(t->ctx, &t->hash, &t->hash_capacity, t->keys + 1,
                                    sizeof *t->hash);
    if (status == MCR_OK)
        status = mcr_reserve(t->ctx, &t->sample, &t->key_capacity, t->keys + 1, sizeof *t->sample);
    if (status != MCR_OK)
        return status;
    t->hash[t->keys] = hash;
    t->sample[t->keys] = object;
    t->slot[slot] = (int32_t)t->keys++;
    return (uint64_t)t->keys * 2 > t->mask ? table_grow(t) : MCR_OK;
}

/* Reserves space for `count` names in `bytes` bytes, including NULs. */
static mcr_status classes_new(mcr_classes **out, mcr *ctx, int64_t count, size_t bytes)
{
    mcr_classes *c = mcr_alloc_zero(ctx, 1, sizeof *c);
    if (c == NULL)
        return MCR_NO_MEMORY;
    c->owners = 1;
    c->count = count;
    c->name = mcr_alloc(ctx, (size_t)count, sizeof *c->name);
    c->text = mcr_alloc(ctx, bytes, 1);
    if (c->name == NULL || c->text == NULL) {
        mcr_classes_free(ctx, c);
        return MCR_NO_MEMORY;
    }
    *out = c;
    return MCR_OK;
}

mcr_status mcr_classes_of_names(mcr_classes **out, mcr *ctx, const char *const *name, int64_t count)
{
    *out = NULL;
    size_t bytes = 0;
    for (int64_t i = 0; i < count; i++)
        bytes += strlen(name[i]) + 1;
    mcr_status status = classes_new(out, ctx, count, bytes);
    char *to = status == MCR_OK ? (*out)->text : NULL;
    for (int64_t i = 0; i < count && to != NULL; i++) {
        size_t length = strlen(name[i]) + 1;
        (*out)->name[i] = memcpy(to, name[i], length);
        to += length;
    }
    return status;
}

typedef struct ranked {
    double value;
    int32_t key;
} ranked;

/* Renumbers the keys in ascending order and names them. */
static mcr_status rank_reals(mcr_classes **out, mcr *ctx, const table *t, const double *value,
                             int64_t count, int32_t *class_of)
{
    ranked *order = mcr_alloc(ctx, (size_t)t->keys, sizeof *order);
    int32_t *rank = mcr_alloc(ctx, (size_t)t->keys, sizeof *rank);
    mcr_status status = MCR_NO_MEMORY;
    if (order == NULL || rank == NULL)
        goto done;
    char text[MCR_REAL_TEXT];
    size_t bytes = 0;
    for (int32_t k = 0; k < t->keys; k++) {
        order[k] = (ranked){value[t->sample[k]] + 0.0, k};
        bytes += (size_t)mcr_print_real(text, order[k].value) + 1;
    }
    if (t->keys > 1)
        qsort(order, (size_t)t->keys, sizeof *order, mcr_reals_rising);
    status = classes_new(out, ctx, t->keys, bytes);
    if (status != MCR_OK)
        goto done;
    char *to = (*out)->text;
    for (int32_t r = 0; r < t->keys; r++) {
        rank[order[r].key] = r;
        int length = mcr_print_real(text, order[r].value);
        (*out)->name[r] = memcpy(to, text, (size_t)length + 1);
        to += length + 1;
    }
    for (int64_t i = 0; i < count; i++)
        class_of[i] = rank[class_of[i]];
done:
    mcr_free_all(ctx, order, rank);
    return status;
}

mcr_status mcr_classes_of_reals(mcr_classes **out, mcr *ctx, const double *value, int64_t count,
                                int32_t *class_of)
{
    *out = NULL;
    table t;
    mcr_status status = table_open(&t, ctx);
    for (int64_t i = 0; i < count && status == MCR_OK; i++) {
        uint64_t bits = mcr_real_bits(value[i]), hash = mcr_hash_word(ctx, 0, bits);
        uint64_t s = hash & t.mask;
        while (t.slot[s] >= 0 && mcr_real_bits(value[t.sample[t.slot[s]]]) != bits)
            s = (s + 1) & t.mask;
        class_of[i] = t.slot[s] >= 0 ? t.slot[s] : (int32_t)t.keys;
        if (t.slot[s] < 0)
            status = table_add(&t, s, hash, i);
    }
    if (status == MCR_OK)
        status = rank_reals(out, ctx, &t, value, count, class_of);
    table_close(&t);
    return status;
}

/* ---- labels and the classes of a model --------------------------------------------------------*/

/* A model may have as many classes as a file has labels, so none is searched for one by one. */
mcr_status mcr_labels_are_known(const mcr_labels *l, const char *const *known, bool *are)
{
    int64_t count = 0, numbers = 0;
    while (known[count] != NULL)
        count++;
    *are = count == 0 && !l->words;
    if (count == 0)
        return MCR_OK;
    mcr_words words = {0};
    double *value = mcr_alloc(l->ctx, (size_t)count, sizeof *value);
    mcr_status status = value != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t k = 0; k < count && status == MCR_OK; k++) {
        const char *end = known[k] + strlen(known[k]);
        int32_t number;
        if (l->words)
            status = mcr_words_number(&words, l->ctx, known[k], (size_t)(end - known[k]), &number);
        else if (mcr_parse_real(known[k], end, &value[numbers]) == end && !isnan(value[numbers]))
            numbers++; /* others are words, which no number is equal to */
    }
    if (numbers > 0)
        qsort(value, (size_t)numbers, sizeof *value, mcr_reals_rising);
    for (int64_t i = 0; i < l->count && status == MCR_OK && !*are; i++) {
        int64_t from = i > 0 ? l->end[i - 1] : 0;
        *are = l->words ? mcr_words_find(&words, l->text + from, (size_t)(l->end[i] - from)) >= 0
                        : !isnan(l->value[i]) && bsearch(&l->value[i], value, (size_t)numbers,
                                                         sizeof *value, mcr_reals_rising) != NULL;
    }
    mcr_words_free(&words, l->ctx);
    mcr_free(l->ctx, value);
    return status;
}
