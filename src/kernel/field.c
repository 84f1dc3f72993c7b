/* field.c: how a leaf finds and reads its field of the data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

enum { VECTORS = MCR_DENSE | MCR_SPARSE, LIST_MAX = 400, NAMES_MAX = 256 };

static bool is_of(const mcr_store *store, int kinds)
{
    return ((int)store->kind & kinds) != 0;
}

/* ---- words ------------------------------------------------------------------------------------*/

static const char *wanted_words(int kinds)
{
    switch (kinds) {
    case VECTORS: return "a vector field";
    case MCR_DENSE: return "a field of dense vectors";
    case MCR_SPARSE: return "a field of sparse vectors";
    case MCR_STRINGS: return "a field of strings";
    case MCR_GRAPHS: return "a field of graphs";
    case MCR_PRECOMPUTED: return "a precomputed kernel matrix";
    default: return "another kind of field";
    }
}

static const char *kind_word(mcr_kind kind)
{
    switch (kind) {
    case MCR_DENSE:
    case MCR_SPARSE: return "vectors";
    case MCR_STRINGS: return "strings";
    case MCR_GRAPHS: return "graphs";
    case MCR_PRECOMPUTED: return "precomputed";
    }
    return "?";
}

typedef struct word_list {
    char text[LIST_MAX];
    size_t length;
} word_list;

/* Appends "word (remark)"; if the list is full, ends it with dots. */
static void list_add(word_list *list, const char *word, const char *remark)
{
    char one[LIST_MAX];
    int length = snprintf(one, sizeof one, "%s%.100s%s%s%s", list->length > 0 ? ", " : "", word,
                          remark != NULL ? " (" : "", remark != NULL ? remark : "",
                          remark != NULL ? ")" : "");
    if (length < 0 || list->length + (size_t)length + 5 > sizeof list->text) {
        if (list->length > 0 && list->text[list->length - 1] != '.') {
            memcpy(list->text + list->length, "...", 4);
            list->length += 3;
        }
        return;
    }
    memcpy(list->text + list->length, one, (size_t)length + 1);
    list->length += (size_t)length;
}

/* The fields of the kinds; with_kinds: each with its kind. */
static word_list list_fields(const mcr_data *data, int kinds, bool with_kinds)
{
    word_list list = {.length = 0};
    for (int64_t i = 0; i < data->fields; i++) {
        const mcr_store *store = data->store[i];
        if (is_of(store, kinds))
            list_add(&list, store->name, with_kinds ? kind_word(store->kind) : NULL);
    }
    return list;
}

/* ---- choosing ---------------------------------------------------------------------------------*/

static mcr_status choose_named(mcr_field *out, mcr *ctx, const char *owner, int kinds,
                               const char *name, const mcr_data *data)
{
    int64_t found = mcr_data_find(data, name, strlen(name));
    if (found >= 0) {
        *out = mcr_data_field(data, found);
        if (is_of(out->store, kinds))
            return MCR_OK;
        return mcr_fail(ctx, MCR_BAD_DATA, "%s needs %s, but \"%.100s\" holds %s", owner,
                        wanted_words(kinds), name, kind_word(out->store->kind));
    }
    const char *names[NAMES_MAX + 1];
    int64_t count = 0;
    for (; count < data->fields && count < NAMES_MAX; count++)
        names[count] = data->store[count]->name;
    names[count] = NULL;
    const char *near = mcr_nearest(name, names);
    if (near != NULL)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "%s: the data have no field \"%.100s\" (did you mean \"%.100s\"?)", owner,
                        name, near);
    word_list list = list_fields(data, ~0, true);
    return mcr_fail(ctx, MCR_BAD_CALL, "%s: the data have no field \"%.100s\", but: %s", owner,
                    name, list.length > 0 ? list.text : "none at all");
}

mcr_status mcr_field_choose(mcr_field *out, mcr *ctx, const char *owner, int kinds,
                            const char *name, const char *wanted, const mcr_data *data)
{
    if (name != NULL)
        return choose_named(out, ctx, owner, kinds, name, data);
    int64_t found = -1, count = 0;
    for (int64_t i = 0; i < data->fields; i++) {
        if (!is_of(data->store[i], kinds))
            continue;
        found = i;
        count++;
    }
    int64_t preferred = wanted != NULL ? mcr_data_find(data, wanted, strlen(wanted)) : -1;
    if (count > 1 && preferred >= 0 && is_of(data->store[preferred], kinds)) {
        found = preferred;
        count = 1;
    }
    if (count == 1) {
        *out = mcr_data_field(data, found);
        return MCR_OK;
    }
    word_list list = list_fields(data, count > 1 ? kinds : ~0, count == 0);
    if (count == 0) {
        mcr_status s = mcr_fail(ctx, MCR_BAD_DATA, "%s needs %s, but the data have: %s", owner,
                                wanted_words(kinds), list.length > 0 ? list.text : "no fields");
        return kinds == MCR_PRECOMPUTED ? mcr_advise(ctx, s, "precomputed") : s;
    }
    const char *first = data->store[found]->name;
    for (int64_t i = data->fields; i-- > 0;)
        if (is_of(data->store[i], kinds))
            first = data->store[i]->name;
    const char *quote = mcr_kernel_name_valid(first, strlen(first)) ? "" : "\"";
    return mcr_fail(ctx, MCR_BAD_CALL, "%s: which field? %s (write %s(%s%.100s%s, ...))", owner,
                    list.text, owner, quote, first, quote);
}

/* ---- reading ----------------------------------------------------------------------------------*/

int64_t mcr_bound_cols(const mcr_bound *bound)
{
    if (bound->field[0].store == NULL)
        return 0;
    int64_t x = bound->field[0].store->cols, z = bound->field[1].store->cols;
    return x > z ? x : z;
}

void mcr_bound_vector(const mcr_bound *bound, int side, int64_t i, double *values)
{
    mcr_vector x = mcr_field_vector(&bound->field[side], i);
    mcr_vector_to_dense(&x, values, mcr_bound_cols(bound));
}

void mcr_bound_string(const mcr_bound *bound, int side, int64_t i, const char **bytes,
                      int64_t *length)
{
    const mcr_store *store = bound->field[side].store;
    int64_t row = mcr_field_at(&bound->field[side], i);
    *bytes = store->bytes + store->start[row];
    *length = store->start[row + 1] - store->start[row];
}
