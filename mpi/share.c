/* share.c: classes and columns of all ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "share.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "data/data.h"

/* Numbers with more distinct values than this are not classes. */
enum { MANY = 10000 };

/* ---- classes ----------------------------------------------------------------------------------*/

/* Different names, and a hash table of their numbers in the list; -1: an empty slot. */
typedef struct list {
    mcr *ctx;
    const char **name;
    int64_t count;
    int64_t *slot;
    uint64_t mask;
} list;

static double number_of(const char *name)
{
    double value = 0;
    mcr_parse_real(name, name + strlen(name), &value);
    return value;
}

static int by_number(const void *a, const void *b)
{
    double x = number_of(*(const char *const *)a), y = number_of(*(const char *const *)b);
    return (x > y) - (x < y);
}

/* The slot with the number of a name, or the empty slot for it. */
static int64_t *find(const list *l, const char *name)
{
    uint64_t s = mcr_hash_bytes(l->ctx, 0, name, strlen(name)) & l->mask;
    while (l->slot[s] >= 0 && strcmp(l->name[l->slot[s]], name) != 0)
        s = (s + 1) & l->mask;
    return &l->slot[s];
}

/* Names, NUL-terminated and concatenated; in the order of the ranks, each once. */
static mcr_status merge(list *l, const char *bytes, size_t count)
{
    int64_t names = 0, slots = 2;
    for (size_t at = 0; at < count; at++)
        names += bytes[at] == 0;
    while (slots < 2 * names)
        slots *= 2;
    l->mask = (uint64_t)slots - 1;
    l->name = mcr_alloc(l->ctx, (size_t)names + 1, sizeof *l->name);
    l->slot = mcr_alloc(l->ctx, (size_t)slots, sizeof *l->slot);
    if (!l->name || !l->slot)
        return MCR_NO_MEMORY;
    memset(l->slot, -1, (size_t)slots * sizeof *l->slot);
    for (size_t at = 0; at < count; at += strlen(bytes + at) + 1) {
        int64_t *slot = find(l, bytes + at);
        if (*slot < 0) {
            *slot = l->count;
            l->name[l->count++] = bytes + at;
        }
    }
    return MCR_OK;
}

static void sort_numbers(list *l)
{
    qsort(l->name, (size_t)l->count, sizeof *l->name, by_number);
    memset(l->slot, -1, ((size_t)l->mask + 1) * sizeof *l->slot);
    for (int64_t c = 0; c < l->count; c++)
        *find(l, l->name[c]) = c;
}

static mcr_status join_names(ranks *r, const mcr_data *own, char **all, list *l)
{
    mcr *ctx = own->ctx;
    size_t *place;
    mcr_text text;
    mcr_text_init(&text, ctx);
    for (int64_t c = 0; c < mcr_data_classes(own) && own->count; c++)
        mcr_text_add(&text, own->classes->name[c], strlen(own->classes->name[c]) + 1);
    mcr_status s = text.status;
    if (!s)
        s = ranks_gather(r, ctx, text.bytes, (size_t)text.length, all, &place);
    mcr_text_free(&text);
    if (s)
        return s;
    const char *bytes = *all + sizeof *place * ((size_t)r->team.count + 1);
    return merge(l, bytes, place[r->team.count]);
}

/* Of two names the rarer one is positive, as with all rows in one process. */
static mcr_status set_positive(ranks *r, mcr_data *d)
{
    double count[2] = {0, 0};
    for (int64_t i = 0; i < d->count; i++)
        count[d->class_of[i]]++;
    mcr_status s = r->team.sum(&r->team, d->ctx, count, 2);
    if (!s && count[0] != count[1])
        d->positive = 1 + (count[1] < count[0]);
    else if (!s)
        d->positive = 1 + (strcmp(d->classes->name[1], d->classes->name[0]) > 0);
    return s;
}

static mcr_status set_classes(ranks *r, mcr_data *d, const mcr_data *own, const list *l)
{
    mcr_classes *classes = NULL;
    mcr_status s = mcr_classes_of_names(&classes, d->ctx, l->name, l->count);
    if (s)
        return s;
    int32_t *match = mcr_alloc(d->ctx, (size_t)mcr_data_classes(own), sizeof *match);
    mcr_classes_free(d->ctx, d->classes);
    d->classes = classes;
    for (int64_t c = 0; c < mcr_data_classes(own) && match; c++)
        match[c] = (int32_t)*find(l, own->classes->name[c]);
    for (int64_t i = 0; i < d->count && match; i++) {
        d->class_of[i] = match[own->class_of[i]];
        if (d->target_kind == MCR_WORD_TARGETS)
            d->target[i] = d->class_of[i];
    }
    mcr_free(d->ctx, match);
    if (!match)
        return MCR_NO_MEMORY;
    return d->target_kind == MCR_WORD_TARGETS && l->count == 2 && !d->positive ? set_positive(r, d)
                                                                               : MCR_OK;
}

static mcr_status share_classes(ranks *r, mcr_data *d, const mcr_data *own)
{
    mcr *ctx = own->ctx;
    char *all = NULL;
    list l = {.ctx = ctx};
    double kind[3] = {own->count ? own->target_kind : MCR_NO_TARGETS,
                      own->count ? -(double)own->target_kind : -1e9, (double)mcr_data_classes(own)};
    mcr_status s = r->team.largest(&r->team, ctx, kind, 3);
    if (!s && kind[0] != -kind[1])
        s = mcr_fail(ctx, MCR_BAD_DATA,
                     "the targets are numbers in some rows and words in others: name the classes "
                     "by words in all of them");
    if (s || kind[0] == MCR_NO_TARGETS || (kind[0] == MCR_REAL_TARGETS && kind[2] > MANY))
        return s;
    d->target_kind = (mcr_targets)kind[0];
    s = join_names(r, own, &all, &l);
    if (!s && kind[0] == MCR_REAL_TARGETS)
        sort_numbers(&l);
    if (!s)
        s = set_classes(r, d, own, &l);
    mcr_free_all(ctx, (void *)l.name, l.slot);
    mcr_free(ctx, all);
    return s;
}

/* ---- columns ----------------------------------------------------------------------------------*/

/* Compares names, kinds and columns of the fields: ranks with different data would compute
 * nonsense. */
static mcr_status check_fields(ranks *r, const mcr_data *own)
{
    mcr_text text;
    bool same = true;
    mcr_text_init(&text, own->ctx);
    for (int64_t f = 0; f < own->fields; f++) {
        const mcr_store *s = own->store[f];
        mcr_text_format(&text, "%s %d %lld\n", s->name, (int)s->kind,
                        s->kind == MCR_SPARSE ? 0 : (long long)s->cols);
        for (int64_t c = 0; c < s->cols && s->column; c++)
            mcr_text_format(&text, "%s\n", s->column[c]);
    }
    mcr_text_format(&text, "%lld", (long long)mcr_data_target_count(own));
    mcr_status s = text.status;
    if (!s)
        s = ranks_same(r, own->ctx, (double)mcr_checksum(text.bytes, (size_t)text.length), &same);
    mcr_text_free(&text);
    if (!s && !same)
        s = mcr_fail(own->ctx, MCR_BAD_DATA,
                     "the rows of different ranks are of different columns: give the roles of the "
                     "columns");
    return s;
}

/* Sparse vectors are as long as the longest in any rank. */
static mcr_status share_columns(ranks *r, mcr_data *d)
{
    mcr_status s = MCR_OK;
    for (int64_t f = 0; f < d->fields && !s; f++) {
        double cols = (double)d->store[f]->cols;
        if (d->store[f]->kind != MCR_SPARSE)
            continue;
        s = r->team.largest(&r->team, d->ctx, &cols, 1);
        d->store[f]->cols = (int64_t)cols; /* just read here: not shared yet */
    }
    return s;
}

mcr_status ranks_share(ranks *r, mcr_data **out, const mcr_data *own)
{
    mcr_data *d = NULL;
    mcr_status s = mcr_data_select(&d, own, (mcr_rows){NULL, 0, own->count});
    if (!s)
        s = check_fields(r, own);
    if (!s)
        s = share_columns(r, d);
    if (!s)
        s = share_classes(r, d, own);
    if (s)
        mcr_data_free(d);
    else
        *out = d;
    return s;
}
