/* select.c: the columns that a leaf names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/select.h"

#include <fnmatch.h>
#include <string.h>

#include "base/number.h"

enum { VECTORS = MCR_DENSE | MCR_SPARSE, ITEM_MAX = 4096 };

bool mcr_takes_columns(const mcr_kernel_type *type)
{
    return type == &mcr_kernel_equal || type == &mcr_kernel_ordinal;
}

bool mcr_selects(const mcr_kernel *k, const mcr_data *data)
{
    if (mcr_takes_columns(k->type) || k->columns || k->field == NULL)
        return mcr_takes_columns(k->type) || k->columns;
    int64_t at = mcr_data_find(data, k->field, strlen(k->field));
    return at < 0 || (data->store[at]->role == MCR_CATEGORY && (k->type->kinds & MCR_SPARSE) &&
                      !(k->type->kinds & MCR_STRINGS));
}

void mcr_selection_close(mcr_selection *s)
{
    if (s == NULL)
        return;
    mcr_store_free(s->made[0]);
    mcr_store_free(s->made[1]);
    mcr_free_all(s->ctx, s->part, s);
}

void mcr_selection_mark(const mcr_selection *s, const mcr_data *data, bool *wanted)
{
    for (int64_t p = 0; p < s->parts; p++)
        for (int64_t f = 0; f < data->fields; f++)
            wanted[f] |= data->store[f] == s->part[p].store[0];
}

const char *mcr_selected_name(const mcr_selection *s, int64_t part)
{
    const mcr_selected *p = &s->part[part];
    return p->column[0] >= 0 && p->store[0]->column != NULL ? p->store[0]->column[p->column[0]]
                                                            : p->store[0]->name;
}

/* ---- finding ----------------------------------------------------------------------------------*/

static mcr_status add(mcr_bound *bound, const mcr_store *store, int64_t column)
{
    mcr_selection *s = bound->selection;
    for (int64_t p = 0; p < s->parts; p++) {
        const mcr_selected *old = &s->part[p];
        if (old->store[0] == store &&
            (old->column[0] == column || old->column[0] < 0 || column < 0))
            return mcr_fail(bound->ctx, MCR_BAD_CALL, "%s: column \"%.100s\" is named twice",
                            bound->kernel->type->name,
                            column >= 0 ? store->column[column] : mcr_selected_name(s, p));
    }
    mcr_status status = mcr_reserve(s->ctx, &s->part, &s->capacity, s->parts + 1, sizeof *s->part);
    if (status == MCR_OK)
        s->part[s->parts++] = (mcr_selected){.store = {store}, .column = {column}};
    return status;
}

/* Finds the fields and columns of a name, pattern or role; *found: their number. */
static mcr_status add_matches(mcr_bound *bound, const char *name, bool pattern, int64_t *found)
{
    const mcr_data *data = bound->data[0];
    mcr_role role = pattern ? MCR_ROLE_NONE : mcr_role_find(name, strlen(name));
    mcr_status status = MCR_OK;
    *found = 0;
    for (int64_t f = 0; f < data->fields && status == MCR_OK; f++) {
        const mcr_store *s = data->store[f];
        bool columns = s->kind == MCR_DENSE && s->column != NULL && s->role != MCR_DATE;
        bool whole = pattern ? !columns && fnmatch(name, s->name, 0) == 0
                             : strcmp(name, s->name) == 0;
        if (whole) {
            status = add(bound, s, -1);
            ++*found;
        }
        for (int64_t c = 0; columns && !whole && c < s->cols && status == MCR_OK; c++)
            if (pattern ? fnmatch(name, s->column[c], 0) == 0 : strcmp(name, s->column[c]) == 0) {
                status = add(bound, s, c);
                ++*found;
            }
    }
    bool by_role = *found == 0 && role != MCR_ROLE_NONE;
    for (int64_t f = 0; f < data->fields && status == MCR_OK && by_role; f++)
        if (data->store[f]->role == role) {
            status = add(bound, data->store[f], -1);
            ++*found;
        }
    return status;
}

static mcr_status no_column(const mcr_bound *bound, const char *name, bool pattern)
{
    enum { MOST = 1000 };
    const char *names[MOST + 1];
    int64_t count = 0;
    const mcr_data *data = bound->data[0];
    const char *owner = bound->kernel->type->name;
    for (int64_t f = 0; f < data->fields; f++) {
        const mcr_store *s = data->store[f];
        if (count < MOST)
            names[count++] = s->name;
        for (int64_t c = 0; s->kind == MCR_DENSE && s->column && c < s->cols && count < MOST; c++)
            names[count++] = s->column[c];
    }
    names[count] = NULL;
    if (!pattern && mcr_role_find(name, strlen(name)) != MCR_ROLE_NONE)
        return mcr_fail(bound->ctx, MCR_BAD_DATA, "%s: the data have no column of the role %s",
                        owner, name);
    const char *near = pattern ? NULL : mcr_nearest(name, names);
    mcr_field none;
    if (near != NULL)
        return mcr_fail(bound->ctx, MCR_BAD_CALL,
                        "%s: the data have no field \"%.100s\" (did you mean \"%.100s\"?)", owner,
                        name, near);
    if (pattern)
        return mcr_fail(bound->ctx, MCR_BAD_CALL,
                        "%s: the data have no field or column like %.100s", owner, name);
    return mcr_field_choose(&none, bound->ctx, owner, bound->kernel->type->kinds, name, NULL, data);
}

/* The next item of a canonical list: a quoted or plain name, or a pattern. NULL: too long. */
static const char *next_item(const char *p, char item[ITEM_MAX], bool *pattern)
{
    size_t length = 0;
    bool quoted = *p == '"';
    *pattern = false;
    for (p += quoted; *p != '\0' && (quoted ? *p != '"' : *p != ','); p++) {
        p += quoted && *p == '\\';
        *pattern |= !quoted && *p == '*';
        if (length + 1 == ITEM_MAX)
            return NULL;
        item[length++] = *p;
    }
    item[length] = '\0';
    p += quoted;
    return *p == ',' ? p + 2 : p;
}

static mcr_status find_first(mcr_bound *bound)
{
    const mcr_kernel *k = bound->kernel;
    mcr_status status = MCR_OK;
    int64_t found = 0;
    if (k->field == NULL) {
        mcr_field only;
        status = add_matches(bound, mcr_role_name(MCR_CATEGORY), false, &found);
        if (status != MCR_OK || found > 0)
            return status;
        status = mcr_field_choose(&only, bound->ctx, k->type->name, k->type->kinds, NULL, NULL,
                                  bound->data[0]);
        return status == MCR_OK ? add(bound, only.store, -1) : status;
    }
    if (!k->columns) {
        status = add_matches(bound, k->field, false, &found);
        return status == MCR_OK && found == 0 ? no_column(bound, k->field, false) : status;
    }
    for (const char *p = k->field; status == MCR_OK && *p != '\0';) {
        char item[ITEM_MAX];
        bool pattern;
        p = next_item(p, item, &pattern);
        if (p == NULL)
            return mcr_fail(bound->ctx, MCR_BAD_CALL, "%s: the name of a column is too long",
                            k->type->name);
        status = add_matches(bound, item, pattern, &found);
        if (status == MCR_OK && found == 0)
            status = no_column(bound, item, pattern);
    }
    return status;
}

/* The same column on the other side. */
static mcr_status find_other(mcr_bound *bound, mcr_selected *p)
{
    const mcr_store *x = p->store[0];
    int64_t at = mcr_data_find(bound->data[1], x->name, strlen(x->name));
    const mcr_store *z = at >= 0 ? bound->data[1]->store[at] : NULL;
    const char *name = p->column[0] >= 0 ? x->column[p->column[0]] : x->name;
    p->column[1] = p->column[0];
    p->store[1] = z;
    if (z == NULL && p->column[0] < 0 && x->column != NULL && x->cols > 0)
        name = x->column[0]; /* users know columns, not the field of numbers */
    bool fits = z != NULL && (z->kind == x->kind || (z->kind & x->kind & VECTORS));
    if (fits && p->column[0] < 0)
        return z->cols == x->cols
                   ? MCR_OK
                   : mcr_fail(bound->ctx, MCR_BAD_DATA,
                              "field \"%.100s\" has %lld columns, the model has %lld", x->name,
                              (long long)z->cols, (long long)x->cols);
    for (int64_t c = 0; fits && z->column != NULL && c < z->cols; c++)
        if (strcmp(z->column[c], name) == 0) {
            p->column[1] = c;
            return MCR_OK;
        }
    return fits && z->column == NULL && p->column[0] < z->cols
               ? MCR_OK
               : mcr_fail(bound->ctx, MCR_BAD_DATA,
                          "there is no column \"%.100s\", which the model needs", name);
}

/* ---- vectors ----------------------------------------------------------------------------------*/

static int64_t width(const mcr_selected *p)
{
    return p->store[0]->kind == MCR_STRINGS ? 0 : p->column[0] >= 0 ? 1 : p->store[0]->cols;
}

static mcr_field side_field(const mcr_bound *bound, const mcr_selected *p, int side)
{
    const mcr_data *d = bound->data[side];
    return (mcr_field){p->store[side], d->rows, d->first, d->count};
}

static mcr_status name_columns(mcr_store *to, const mcr_bound *bound, const mcr_words *words,
                               int64_t words_count)
{
    const mcr_selection *s = bound->selection;
    int64_t at = 0;
    to->column = mcr_alloc_zero(to->ctx, (size_t)to->cols, sizeof *to->column);
    if (to->column == NULL)
        return MCR_NO_MEMORY;
    for (int64_t p = 0; p < s->parts; p++)
        for (int64_t c = 0; c < width(&s->part[p]); c++) {
            const mcr_store *from = s->part[p].store[0];
            int64_t k = s->part[p].column[0] >= 0 ? s->part[p].column[0] : c;
            const char *name = from->column != NULL ? from->column[k] : from->name;
            if ((to->column[at++] = mcr_copy_text(to->ctx, name, strlen(name))) == NULL)
                return MCR_NO_MEMORY;
        }
    for (int64_t w = 0; w < words_count; w++)
        if ((to->column[at++] = mcr_copy_text(to->ctx, words->word[w], strlen(words->word[w]))) ==
            NULL)
            return MCR_NO_MEMORY;
    return MCR_OK;
}

static mcr_status make_dense(mcr_bound *bound, int side, int64_t cols)
{
    mcr_selection *s = bound->selection;
    mcr_store *to = NULL;
    mcr_status status = mcr_store_new(&to, bound->ctx, "x", MCR_DENSE);
    if (status != MCR_OK)
        return status;
    s->made[side] = to;
    to->count = bound->data[side]->count;
    to->cols = cols;
    status = mcr_store_alloc_dense(to);
    if (status != MCR_OK)
        return status;
    for (int64_t i = 0, at = 0; i < to->count; i++)
        for (int64_t p = 0; p < s->parts; p++) {
            mcr_field f = side_field(bound, &s->part[p], side);
            mcr_vector row = mcr_field_vector(&f, i);
            int64_t column = s->part[p].column[side];
            for (int64_t c = 0; c < width(&s->part[p]); c++)
                to->dense[at++] = mcr_vector_value(&row, column >= 0 ? column : c);
        }
    return name_columns(to, bound, NULL, 0);
}

static void sort_few(int32_t *index, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        for (int64_t k = i; k > 0 && index[k - 1] > index[k]; k--) {
            int32_t swap = index[k];
            index[k] = index[k - 1];
            index[k - 1] = swap;
        }
}

/* Numbers first, then one feature per value of each category. */
static mcr_status make_sparse(mcr_bound *bound, int side, int64_t cols, int64_t categories,
                              mcr_words *words)
{
    mcr_selection *s = bound->selection;
    int64_t n = bound->data[side]->count, at = 0;
    mcr_store *to = NULL;
    mcr_status status = mcr_store_new(&to, bound->ctx, "x", MCR_SPARSE);
    if (status != MCR_OK)
        return status;
    s->made[side] = to;
    to->count = n;
    status = mcr_store_alloc_sparse(to, n * (cols + categories));
    for (int64_t i = 0; i < n && status == MCR_OK; i++) {
        int64_t number = 0;
        for (int64_t p = 0; p < s->parts; p++) {
            if (s->part[p].store[side]->kind == MCR_STRINGS)
                continue;
            mcr_field f = side_field(bound, &s->part[p], side);
            mcr_vector row = mcr_field_vector(&f, i);
            int64_t column = s->part[p].column[side];
            for (int64_t c = 0; c < width(&s->part[p]); c++, number++) {
                double value = mcr_vector_value(&row, column >= 0 ? column : c);
                if (value == 0)
                    continue;
                to->index[at] = (int32_t)number;
                to->value[at++] = value;
            }
        }
        int64_t first = at;
        for (int64_t p = 0; p < s->parts && status == MCR_OK; p++) {
            if (s->part[p].store[side]->kind != MCR_STRINGS)
                continue;
            /* "city=Paris" */
            status = mcr_selected_number(&to->index[at], bound, words, mcr_selected_name(s, p), p,
                                         side, i);
            to->index[at] += (int32_t)cols;
            to->value[at++] = 1;
        }
        sort_few(to->index + first, at - first);
        to->start[i + 1] = at;
    }
    return status;
}

static mcr_status make_vectors(mcr_bound *bound)
{
    mcr_selection *s = bound->selection;
    const char *owner = bound->kernel->type->name;
    int sides = bound->same ? 1 : 2;
    int64_t cols = 0, categories = 0;
    for (int64_t p = 0; p < s->parts; p++) {
        const mcr_store *store = s->part[p].store[0];
        if (store->kind == MCR_STRINGS && store->role == MCR_CATEGORY)
            categories++;
        else if (store->kind != MCR_DENSE)
            return mcr_fail(bound->ctx, MCR_BAD_DATA,
                            "%s needs numbers or categories, and \"%.100s\" is neither", owner,
                            mcr_selected_name(s, p));
        cols += width(&s->part[p]);
    }
    if (categories > 0 && !(bound->kernel->type->kinds & MCR_SPARSE))
        return mcr_fail(bound->ctx, MCR_BAD_DATA,
                        "%s needs numbers, and some columns are categories", owner);
    mcr_words words = {0};
    mcr_status status = MCR_OK;
    for (int side = 0; side < sides && status == MCR_OK; side++)
        status = categories > 0 ? make_sparse(bound, side, cols, categories, &words)
                                : make_dense(bound, side, cols);
    for (int side = 0; side < sides && status == MCR_OK && categories > 0; side++) {
        s->made[side]->cols = cols + words.count;
        status = name_columns(s->made[side], bound, &words, words.count);
    }
    mcr_words_free(&words, bound->ctx);
    for (int side = 0; side < 2 && status == MCR_OK; side++) {
        const mcr_store *made = s->made[bound->same ? 0 : side];
        bound->field[side] = (mcr_field){made, NULL, 0, made->count};
    }
    return status;
}

/* ---- words ------------------------------------------------------------------------------------*/

const char *mcr_selected_word(const mcr_bound *bound, int64_t part, int side, int64_t i,
                              char text[MCR_NUMBER_TEXT], size_t *length)
{
    const mcr_selected *p = &bound->selection->part[part];
    mcr_field f = side_field(bound, p, bound->same ? 0 : side);
    int64_t row = mcr_field_at(&f, i);
    if (f.store->kind == MCR_STRINGS) {
        *length = (size_t)(f.store->start[row + 1] - f.store->start[row]);
        return f.store->bytes + f.store->start[row];
    }
    mcr_vector x = mcr_store_vector(f.store, row);
    *length = (size_t)mcr_print_real(
        text, mcr_vector_value(&x, p->column[side] >= 0 ? p->column[side] : 0));
    return text;
}

mcr_status mcr_selected_number(int32_t *out, const mcr_bound *bound, mcr_words *words,
                               const char *before, int64_t part, int side, int64_t i)
{
    char number[MCR_NUMBER_TEXT];
    size_t length;
    mcr_text text;
    mcr_text_init(&text, bound->ctx);
    const char *word = mcr_selected_word(bound, part, side, i, number, &length);
    mcr_text_string(&text, before);
    mcr_text_string(&text, "=");
    mcr_text_add(&text, word, length);
    mcr_status status = text.status;
    if (status == MCR_OK)
        status = mcr_words_number(words, bound->ctx, text.bytes,
                                  strnlen(text.bytes, (size_t)text.length), out);
    mcr_text_free(&text);
    return status;
}

/* ---- binding ----------------------------------------------------------------------------------*/

/* Whether the field itself can be used: one name refers to a whole field that the kernel
 * accepts. */
static bool is_whole(const mcr_bound *bound)
{
    const mcr_selection *s = bound->selection;
    return s->parts == 1 && s->part[0].column[0] < 0 &&
           ((int)s->part[0].store[0]->kind & bound->kernel->type->kinds) != 0;
}

/* Splits fields into columns, so that numbers are processed one by one. */
static mcr_status split_fields(mcr_bound *bound)
{
    mcr_selection *s = bound->selection;
    mcr_status status = MCR_OK;
    int64_t parts = s->parts;
    for (int64_t p = 0; p < parts && status == MCR_OK; p++) {
        mcr_selected whole = s->part[p];
        if (whole.store[0]->kind == MCR_STRINGS || whole.column[0] >= 0)
            continue;
        if (whole.store[0]->kind != MCR_DENSE)
            return mcr_fail(bound->ctx, MCR_BAD_DATA,
                            "%s needs columns of a table, and \"%.100s\" is not one",
                            bound->kernel->type->name, whole.store[0]->name);
        s->part[p].column[0] = s->part[p].column[1] = 0;
        for (int64_t c = 1; c < whole.store[0]->cols && status == MCR_OK; c++) {
            status = mcr_reserve(s->ctx, &s->part, &s->capacity, s->parts + 1, sizeof *s->part);
            if (status == MCR_OK)
                s->part[s->parts++] = (mcr_selected){{whole.store[0], whole.store[1]}, {c, c}};
        }
    }
    return status;
}

static mcr_status check_holes(const mcr_bound *bound, const mcr_selected *p)
{
    bool holes = p->store[0]->kind == MCR_DENSE && (p->store[0]->holes || p->store[1]->holes);
    return holes ? mcr_fail(bound->ctx, MCR_BAD_DATA,
                            "%s: values of the field \"%.100s\" may be missing: fill them first",
                            bound->kernel->type->name, p->store[0]->name)
                 : MCR_OK;
}

mcr_status mcr_selection_bind(mcr_bound *bound)
{
    mcr_selection *s = bound->selection = mcr_alloc_zero(bound->ctx, 1, sizeof *s);
    if (s == NULL)
        return MCR_NO_MEMORY;
    s->ctx = bound->ctx;
    mcr_status status = find_first(bound);
    for (int64_t p = 0; p < s->parts && status == MCR_OK; p++) {
        s->part[p].store[1] = s->part[p].store[0];
        s->part[p].column[1] = s->part[p].column[0];
        if (!bound->same)
            status = find_other(bound, &s->part[p]);
        if (status == MCR_OK)
            status = check_holes(bound, &s->part[p]);
    }
    if (status != MCR_OK)
        return status;
    if (mcr_takes_columns(bound->kernel->type))
        status = split_fields(bound);
    else if (!is_whole(bound))
        return make_vectors(bound);
    for (int side = 0; side < 2 && status == MCR_OK; side++)
        bound->field[side] = side_field(bound, &s->part[0], side);
    return status;
}
