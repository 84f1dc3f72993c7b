/* fill.c: imputation of missing values from the training objects; known categories.
 *
 * A number that is missing becomes the mean, the median or the most frequent value (the smallest of
 * several) of its column. With the indicator, an additional column is 1 where the value was missing
 * and 0 elsewhere, for each numeric column with missing values in training. For distances
 * (MCR_MISSING_KERNEL) the value is the mean, and the additional column is the standard deviation
 * of the values: the squared distance to an observed value x is then (x - mean)^2 + variance, its
 * expectation for a value drawn from the column. These are distances between points, so every
 * kernel on vectors stays positive semi-definite; distances over the observed columns only would
 * not be. A column without any value in training becomes 0. A missing word is the empty string: a
 * category of its own, or the most frequent one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "data/scaling.h"

/* ---- numbers ----------------------------------------------------------------------------------*/

static double mean_of(const double *v, int64_t count)
{
    double mean = 0;
    for (int64_t i = 0; i < count; i++)
        mean += (v[i] - mean) / (double)(i + 1);
    return mean;
}

/* The substitute, from sorted values. */
static double choose_value(const double *v, int64_t count, mcr_missing missing)
{
    if (count == 0)
        return 0;
    if (missing == MCR_MISSING_MEAN || missing == MCR_MISSING_KERNEL)
        return mean_of(v, count);
    if (missing != MCR_MISSING_MODE)
        return count % 2 ? v[count / 2] : v[count / 2 - 1] / 2 + v[count / 2] / 2;
    int64_t best = 0, most = 0;
    for (int64_t i = 0, first = 0; i < count; i++) {
        first = v[i] == v[first] ? first : i;
        if (i - first + 1 > most) {
            most = i - first + 1;
            best = i;
        }
    }
    return v[best];
}

static mcr_status copy_names(mcr_scaled_field *to, mcr *ctx, const mcr_store *from)
{
    if (from->column == NULL)
        return MCR_OK;
    to->column = mcr_copy_texts(ctx, (const char *const *)from->column, to->in);
    return to->column != NULL ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_fill_learn(mcr_scaled_field *to, mcr *ctx, const mcr_field *f, mcr_missing missing)
{
    const mcr_store *s = f->store;
    bool flags = missing == MCR_MISSING_KERNEL ||
                 (s->role == MCR_NUMBER &&
                  (missing == MCR_MISSING_INDICATOR || missing == MCR_MISSING_AUTO));
    double *value = mcr_alloc(ctx, (size_t)f->count, sizeof *value);
    to->in = s->cols;
    to->fill = mcr_alloc_zero(ctx, (size_t)s->cols, sizeof *to->fill);
    to->flag = mcr_alloc(ctx, (size_t)s->cols, sizeof *to->flag);
    mcr_status status = value && to->fill && to->flag ? copy_names(to, ctx, s) : MCR_NO_MEMORY;
    for (int64_t c = 0; c < s->cols && status == MCR_OK; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < f->count; i++) {
            double x = s->dense[mcr_field_at(f, i) * s->cols + c];
            value[count] = x;
            count += !isnan(x);
        }
        qsort(value, (size_t)count, sizeof *value, mcr_reals_rising);
        to->fill[c] = choose_value(value, count, missing);
        if (flags && count < f->count)
            to->flag[to->flags++] = c;
    }
    mcr_free(ctx, value);
    return status;
}

double mcr_fill_spread(const mcr_field *f, int64_t column, double mean)
{
    const mcr_store *s = f->store;
    double unit = 0, sum = 0, count = 0;
    for (int64_t i = 0; i < f->count; i++) {
        double off = fabs(s->dense[mcr_field_at(f, i) * s->cols + column] - mean);
        unit = off > unit ? off : unit;
    }
    for (int64_t i = 0; i < f->count; i++) {
        double off = (s->dense[mcr_field_at(f, i) * s->cols + column] - mean) / unit;
        sum += isnan(off) ? 0 : off * off;
        count += !isnan(off);
    }
    return count > 0 && unit > 0 ? unit * sqrt(sum / count) : 0;
}

/* "age is missing" */
static char *flag_name(mcr *ctx, const char *name)
{
    static const char behind[] = " is missing";
    size_t length = strlen(name);
    char *text = mcr_alloc(ctx, length + sizeof behind, 1);
    if (text != NULL) {
        memcpy(text, name, length);
        memcpy(text + length, behind, sizeof behind);
    }
    return text;
}

static mcr_status name_filled(mcr_store *to, const mcr_store *from, const mcr_scaled_field *by)
{
    if (from->column == NULL)
        return MCR_OK;
    to->column = mcr_alloc_zero(to->ctx, (size_t)to->cols, sizeof *to->column);
    for (int64_t c = 0; to->column != NULL && c < to->cols; c++) {
        const char *name = from->column[c < by->in ? c : by->flag[c - by->in]];
        to->column[c] = c < by->in ? mcr_copy_text(to->ctx, name, strlen(name))
                                   : flag_name(to->ctx, name);
        if (to->column[c] == NULL)
            return MCR_NO_MEMORY;
    }
    return to->column != NULL ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_fill_apply(mcr_store **out, const mcr_store *from, const mcr_scaled_field *by)
{
    *out = NULL;
    if (from->kind != MCR_DENSE || from->cols != by->in)
        return mcr_fail(from->ctx, MCR_BAD_DATA,
                        "field \"%s\" does not fit the model: %lld columns there, %lld here",
                        from->name, (long long)by->in, (long long)from->cols);
    mcr_store *to = NULL;
    mcr_status status = mcr_store_new(&to, from->ctx, from->name, MCR_DENSE);
    if (status != MCR_OK)
        return status;
    int64_t cols = by->in + by->flags;
    to->count = from->count;
    to->role = from->role;
    to->dense = mcr_alloc(from->ctx, (uint64_t)(from->count * cols), sizeof *to->dense);
    to->cols = to->dense != NULL ? cols : 0;
    for (int64_t i = 0; i < from->count && to->dense != NULL; i++) {
        const double *x = from->dense + i * by->in;
        double *row = to->dense + i * cols;
        for (int64_t c = 0; c < by->in; c++)
            row[c] = isnan(x[c]) ? by->fill[c] : x[c];
        for (int64_t k = 0; k < by->flags; k++)
            row[by->in + k] = isnan(x[by->flag[k]]);
    }
    status = to->dense != NULL ? name_filled(to, from, by) : MCR_NO_MEMORY;
    return mcr_store_give(out, to, status);
}

/* ---- categories -------------------------------------------------------------------------------*/

enum { MOST_KNOWN = 100000 }; /* with more values a column is hardly a category */

mcr_status mcr_known_add(mcr_known **out, mcr_scaling *s, const char *name)
{
    mcr_status status = mcr_reserve(s->ctx, &s->known, &s->known_capacity, s->knowns + 1,
                                    sizeof *s->known);
    if (status != MCR_OK)
        return status;
    *out = &s->known[s->knowns++];
    **out = (mcr_known){.name = mcr_copy_text(s->ctx, name, strlen(name)), .mode = -1};
    return (*out)->name != NULL ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status learn_words(mcr_known *to, mcr *ctx, const mcr_field *f, bool mode)
{
    int64_t capacity = 0, *times = NULL;
    mcr_status status = MCR_OK;
    for (int64_t i = 0; i < f->count && status == MCR_OK; i++) {
        const int64_t *start = f->store->start + mcr_field_at(f, i);
        const char *word = f->store->bytes + start[0];
        size_t length = strnlen(word, (size_t)(start[1] - start[0]));
        int64_t before = to->words.count;
        int32_t number;
        if (mode && length == 0)
            continue;
        status = mcr_words_number(&to->words, ctx, word, length, &number);
        if (status == MCR_OK && to->words.count > before && mode) {
            status = mcr_reserve(ctx, &times, &capacity, to->words.count, sizeof *times);
            if (status == MCR_OK)
                times[number] = 0;
        }
        if (status == MCR_OK && mode)
            times[number]++;
        if (to->words.count > MOST_KNOWN && !mode)
            break;
    }
    for (int64_t w = 0; mode && status == MCR_OK && w < to->words.count; w++)
        if (to->mode < 0 || times[w] > times[to->mode])
            to->mode = w;
    mcr_free(ctx, times);
    return status;
}

mcr_status mcr_known_learn(mcr_scaling *s, const mcr_data *data)
{
    mcr_status status = MCR_OK;
    for (int64_t f = 0; f < data->fields && status == MCR_OK; f++) {
        mcr_field field = mcr_data_field(data, f);
        bool mode = data->missing == MCR_MISSING_MODE && field.store->holes;
        if (field.store->kind != MCR_STRINGS || field.store->role != MCR_CATEGORY)
            continue;
        mcr_known *known;
        status = mcr_known_add(&known, s, field.store->name);
        if (status == MCR_OK)
            status = learn_words(known, s->ctx, &field, mode);
        if (status == MCR_OK && known->words.count > MOST_KNOWN && !mode)
            mcr_words_free(&known->words, s->ctx);
    }
    return status;
}

/* A copy of the strings with empty ones replaced by a word. */
static mcr_status fill_words(mcr_store **out, const mcr_store *from, const char *word)
{
    size_t length = strlen(word);
    mcr_strings to = {0};
    mcr_status status = mcr_strings_open(&to, from->ctx, from->name);
    for (int64_t i = 0; i < from->count && status == MCR_OK; i++) {
        int64_t first = from->start[i], own = from->start[i + 1] - first;
        status = own > 0 ? mcr_strings_add(&to, from->bytes + first, (size_t)own)
                         : mcr_strings_add(&to, word, length);
    }
    if (status != MCR_OK) {
        mcr_strings_close(&to);
        return status;
    }
    to.store->role = from->role;
    *out = to.store;
    return MCR_OK;
}

mcr_status mcr_known_apply(mcr_data *view, const mcr_scaling *s)
{
    mcr_status status = MCR_OK;
    for (int64_t k = 0; k < s->knowns && status == MCR_OK; k++) {
        const mcr_known *known = &s->known[k];
        int64_t at = mcr_data_find(view, known->name, strlen(known->name));
        mcr_store *made = NULL;
        if (known->mode < 0 || at < 0 || view->store[at]->kind != MCR_STRINGS)
            continue;
        status = fill_words(&made, view->store[at], known->words.word[known->mode]);
        mcr_data_replace(view, at, made);
    }
    return status;
}

/* ---- both -------------------------------------------------------------------------------------*/

bool mcr_scaling_needed(const mcr_data *data, mcr_scale kind)
{
    bool needed = kind != MCR_SCALE_NONE;
    for (int64_t f = 0; f < data->fields && !needed; f++)
        needed = data->store[f]->holes || data->store[f]->role == MCR_CATEGORY;
    return needed;
}

/* A field without objects, with the input columns. */
static mcr_status make_pattern(mcr_store **out, mcr *ctx, const mcr_scaled_field *by)
{
    mcr_store *to = NULL;
    mcr_status status = mcr_store_new(&to, ctx, by->name, MCR_DENSE);
    if (status != MCR_OK)
        return status;
    to->column = mcr_copy_texts(ctx, (const char *const *)by->column, by->in);
    to->cols = by->in;
    return mcr_store_give(out, to, to->column != NULL ? MCR_OK : MCR_NO_MEMORY);
}

mcr_status mcr_scaling_like(mcr_data **out, const mcr_scaling *s, const mcr_data *like)
{
    mcr_data *view = NULL;
    mcr_status status = mcr_data_select(&view, like, (mcr_rows){NULL, 0, 0});
    *out = NULL;
    for (int64_t f = 0; s != NULL && f < s->fields && status == MCR_OK; f++) {
        const mcr_scaled_field *by = &s->field[f];
        int64_t at = mcr_data_find(view, by->name, strlen(by->name));
        mcr_store *made = NULL;
        if (by->fill == NULL || by->column == NULL || at < 0)
            continue;
        status = make_pattern(&made, s->ctx, by);
        mcr_data_replace(view, at, made);
    }
    return mcr_data_give(out, view, status);
}

mcr_status mcr_scaling_check(const mcr_data *data)
{
    for (int64_t k = 0; k < data->fields; k++) {
        mcr_field f = mcr_data_field(data, k);
        const mcr_store *s = f.store;
        for (int64_t i = 0; s->kind == MCR_DENSE && s->holes && i < f.count; i++)
            for (int64_t c = 0; c < s->cols; c++)
                if (isnan(s->dense[mcr_field_at(&f, i) * s->cols + c]))
                    return mcr_advise(
                        data->ctx,
                        mcr_fail(data->ctx, MCR_BAD_DATA,
                                 "object %" PRId64 ": the value of \"%.100s\" is missing, and the "
                                 "model was trained without missing values: train it with a rule "
                                 "for them",
                                 i + 1, s->column != NULL ? s->column[c] : s->name),
                        "option missing=median");
    }
    return MCR_OK;
}

mcr_status mcr_data_fill(mcr_data **out, const mcr_data *data)
{
    mcr_scaling *s = NULL;
    *out = NULL;
    if (!mcr_data_has_holes(data)) {
        *out = mcr_data_retain(data);
        return MCR_OK;
    }
    mcr_status status = mcr_scaling_learn(&s, data, MCR_SCALE_NONE);
    if (status == MCR_OK)
        status = mcr_scaling_apply(out, s, data);
    mcr_scaling_free(s);
    return status;
}
