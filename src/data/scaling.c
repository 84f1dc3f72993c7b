/* scaling.c: scales vectors, with parameters learnt from the training objects.
 *
 * x becomes (x - shift) * factor, column by column. minmax: to 0 .. 1; standard: mean 0 and
 * standard deviation 1. A constant column becomes 0, whatever its value in new objects: nothing was
 * learnt about it. Sparse vectors with few entries keep their zeros: they are not shifted (minmax
 * divides by the largest |x|). Vectors with more than half of all entries become dense.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/scaling.h"

#include <math.h>
#include <string.h>

#include "base/stream.h"
#include "base/team.h"

/* ---- learning ---------------------------------------------------------------------------------*/

/* Values are divided by a power of two, so that neither squares nor differences overflow or
 * underflow, whatever the unit. */
typedef struct column {
    double low, high; /* of the stored values */
    double unit;      /* 2^-e for the largest |x| = 0.5 .. 1 times 2^e */
    double mean, squares, seen;
} column;

static void set_unit(column *c)
{
    double largest = c->low <= c->high ? fmax(fabs(c->low), fabs(c->high)) : 0;
    int e = 0;
    (void)frexp(largest, &e);
    c->unit = ldexp(1, e < -1021 ? 1021 : e > 1022 ? -1022 : -e);
}

/* Mean and sum of squared differences from it in one pass (Welford, 1962), in the column's unit. */
static void note(column *c, double value)
{
    double x = value * c->unit, d = x - c->mean;
    c->seen++;
    c->mean += d / c->seen;
    c->squares += d * (x - c->mean);
}

/* Accounts for the zeros that a sparse field does not store. */
static void note_zeros(column *c, double zeros)
{
    if (zeros <= 0)
        return;
    double all = c->seen + zeros;
    c->squares += c->mean * c->mean * c->seen * zeros / all;
    c->mean *= c->seen / all;
    c->seen = all;
    c->low = fmin(c->low, 0);
    c->high = fmax(c->high, 0);
}

/* Combines the ranges of all processes. */
static mcr_status share_ranges(mcr *ctx, column *c, int64_t cols)
{
    double *end = mcr_alloc(ctx, (size_t)cols, 2 * sizeof *end);
    for (int64_t k = 0; k < cols && end; k++) {
        end[2 * k] = -c[k].low;
        end[2 * k + 1] = c[k].high;
    }
    mcr_status s = end ? mcr_team_largest(ctx, end, 2 * cols) : MCR_NO_MEMORY;
    for (int64_t k = 0; k < cols && !s; k++) {
        c[k].low = -end[2 * k];
        c[k].high = end[2 * k + 1];
    }
    mcr_free(ctx, end);
    return s;
}

/* Combines the means and squares of all processes. */
static mcr_status share_moments(mcr *ctx, column *c, int64_t cols)
{
    double *sum = mcr_alloc(ctx, (size_t)cols, 2 * sizeof *sum);
    for (int64_t k = 0; k < cols && sum; k++) {
        sum[2 * k] = c[k].seen;
        sum[2 * k + 1] = c[k].seen * c[k].mean;
    }
    mcr_status s = sum ? mcr_team_sum(ctx, sum, 2 * cols) : MCR_NO_MEMORY;
    for (int64_t k = 0; k < cols && !s; k++) {
        double seen = sum[2 * k], mean = seen > 0 ? sum[2 * k + 1] / seen : 0;
        double off = c[k].mean - mean;
        sum[k] = c[k].squares + c[k].seen * off * off;
        c[k].seen = seen;
        c[k].mean = mean;
    }
    if (!s)
        s = mcr_team_sum(ctx, sum, cols);
    for (int64_t k = 0; k < cols && !s; k++)
        c[k].squares = sum[k];
    mcr_free(ctx, sum);
    return s;
}

/* False: the column's values are so close together that no factor separates them. */
static bool set_column(mcr_scaled_field *to, int64_t k, const column *c, mcr_scale kind)
{
    double low = c->low * c->unit, high = c->high * c->unit;
    double range = to->dense ? high - low : fmax(fabs(low), fabs(high));
    double width = kind == MCR_SCALE_MINMAX ? range : sqrt(c->squares / c->seen);
    /* A constant whose mean was rounded has a tiny standard deviation. */
    bool constant = !(high > low) || !(width > 1e-14 * fmax(fabs(low), fabs(high)));
    to->factor[k] = constant ? 0 : 1 / width * c->unit;
    to->shift[k] = !to->dense ? 0 : kind == MCR_SCALE_MINMAX ? c->low : c->mean / c->unit;
    return isfinite(to->factor[k]) && (constant || to->factor[k] > 0);
}

static double count_entries(const mcr_field *f)
{
    const mcr_store *s = f->store;
    double entries = 0;
    for (int64_t i = 0; i < f->count && s->kind == MCR_SPARSE; i++) {
        int64_t r = mcr_field_at(f, i);
        entries += (double)(s->start[r + 1] - s->start[r]);
    }
    return entries;
}

bool mcr_stays_sparse(const mcr_field *f)
{
    return f->store->kind == MCR_SPARSE &&
           count_entries(f) <= 0.5 * (double)f->count * (double)f->store->cols;
}

static mcr_status learn_field(mcr_scaled_field *to, mcr *ctx, const mcr_field *f, mcr_scale kind)
{
    const mcr_store *s = f->store;
    to->cols = s->cols;
    to->shift = mcr_alloc_zero(ctx, (size_t)s->cols, sizeof *to->shift);
    to->factor = mcr_alloc_zero(ctx, (size_t)s->cols, sizeof *to->factor);
    column *c = mcr_alloc(ctx, (size_t)s->cols, sizeof *c);
    if (!to->shift || !to->factor || !c) {
        mcr_free(ctx, c);
        return MCR_NO_MEMORY;
    }
    for (int64_t k = 0; k < s->cols; k++)
        c[k] = (column){.low = INFINITY, .high = -INFINITY};
    bool team = mcr_team_of_rows(ctx) != NULL;
    mcr_status status = MCR_OK;
    for (int pass = 0; pass < 2 && status == MCR_OK; pass++) {
        for (int64_t i = 0; i < f->count; i++) {
            mcr_vector row = mcr_field_vector(f, i);
            for (int64_t e = 0; e < row.count; e++) {
                column *of = &c[mcr_vector_column(&row, e)];
                double x = mcr_vector_value(&row, e);
                if (pass == 1) {
                    note(of, x);
                } else {
                    of->low = fmin(of->low, x);
                    of->high = fmax(of->high, x);
                }
            }
        }
        if (team)
            status = pass ? share_moments(ctx, c, s->cols) : share_ranges(ctx, c, s->cols);
        for (int64_t k = 0; k < s->cols && pass == 0; k++)
            set_unit(&c[k]);
    }
    double count[2] = {(double)f->count, count_entries(f)};
    if (status == MCR_OK)
        status = mcr_team_sum(ctx, count, 2);
    to->dense = s->kind != MCR_SPARSE || count[1] > 0.5 * count[0] * (double)s->cols;
    for (int64_t k = 0; k < s->cols && status == MCR_OK; k++) {
        note_zeros(&c[k], count[0] - c[k].seen);
        if (!set_column(to, k, &c[k], kind))
            status = mcr_fail(
                ctx, MCR_NUMERIC,
                "field %s, column %lld: its values are too small to be scaled in double "
                "precision: multiply the column",
                s->name, (long long)k + 1);
    }
    mcr_free(ctx, c);
    return status;
}

mcr_status mcr_scaling_open(mcr_scaling **out, mcr *ctx, int64_t fields)
{
    *out = mcr_alloc_zero(ctx, 1, sizeof **out);
    if (!*out)
        return MCR_NO_MEMORY;
    (*out)->ctx = ctx;
    (*out)->field = mcr_alloc_zero(ctx, (size_t)fields, sizeof *(*out)->field);
    if ((*out)->field)
        return MCR_OK;
    mcr_scaling_free(*out);
    *out = NULL;
    return MCR_NO_MEMORY;
}

/* Leaves the values unscaled. */
static mcr_status learn_nothing(mcr_scaled_field *to, mcr *ctx, int64_t cols)
{
    to->cols = cols;
    to->dense = true;
    to->shift = mcr_alloc_zero(ctx, (size_t)cols, sizeof *to->shift);
    to->factor = mcr_alloc(ctx, (size_t)cols, sizeof *to->factor);
    for (int64_t k = 0; to->factor && k < cols; k++)
        to->factor[k] = 1;
    return to->shift && to->factor ? MCR_OK : MCR_NO_MEMORY;
}

/* Learns the substitutes for missing values first, then the scale of the filled values. */
static mcr_status learn_filled(mcr_scaled_field *to, mcr *ctx, const mcr_field *f,
                               const mcr_data *data, mcr_scale kind)
{
    mcr_store *filled = NULL;
    mcr_status s = mcr_fill_learn(to, ctx, f, data->missing);
    if (!s && kind == MCR_SCALE_NONE)
        s = learn_nothing(to, ctx, to->in + to->flags);
    else if (!s)
        s = mcr_fill_apply(&filled, f->store, to);
    mcr_field field = {filled, f->rows, f->first, f->count};
    if (!s && filled)
        s = learn_field(to, ctx, &field, kind);
    for (int64_t k = 0; k < to->flags && data->missing == MCR_MISSING_KERNEL && !s; k++) {
        int64_t c = to->flag[k];
        to->shift[to->in + k] = 0;
        to->factor[to->in + k] = to->factor[c] * mcr_fill_spread(f, c, to->fill[c]);
    }
    mcr_store_free(filled);
    return s;
}

mcr_status mcr_scaling_learn(mcr_scaling **out, const mcr_data *data, mcr_scale kind)
{
    mcr *ctx = data->ctx;
    bool team = mcr_team_of_rows(ctx) != NULL;
    *out = NULL;
    mcr_status s = kind ? mcr_data_need_memory(data, "scaling") : MCR_OK;
    if (!s)
        s = mcr_scaling_open(out, ctx, data->fields);
    for (int64_t f = 0; f < data->fields && !s; f++) {
        mcr_field field = mcr_data_field(data, f);
        bool fills = field.store->kind == MCR_DENSE && field.store->holes;
        if (!(field.store->kind & (MCR_DENSE | MCR_SPARSE)) || (field.count == 0 && !team) ||
            (!kind && !fills))
            continue;
        if (team && fills) {
            s = mcr_fail(ctx, MCR_BAD_DATA,
                         "values are missing, and cannot be filled when rows are spread over "
                         "several processes: fill them first");
            break;
        }
        mcr_scaled_field *to = &(*out)->field[(*out)->fields++];
        to->name = mcr_copy_text(ctx, field.store->name, strlen(field.store->name));
        s = !to->name ? MCR_NO_MEMORY
            : fills   ? learn_filled(to, ctx, &field, data, kind)
                      : learn_field(to, ctx, &field, kind);
    }
    if (!s)
        s = mcr_known_learn(*out, data);
    if (!s && kind && (*out)->fields == 0)
        s = mcr_fail(ctx, MCR_BAD_CALL, "there are no vectors to scale in these data");
    if (s) {
        mcr_scaling_free(*out);
        *out = NULL;
    }
    return s;
}

static mcr_status copy_fill(mcr_scaled_field *to, mcr *ctx, const mcr_scaled_field *old)
{
    if (!old->fill)
        return MCR_OK;
    to->in = old->in;
    to->flags = old->flags;
    to->fill = mcr_alloc(ctx, (size_t)old->in, sizeof *to->fill);
    to->flag = mcr_alloc(ctx, (size_t)old->in, sizeof *to->flag);
    to->column = old->column ? mcr_copy_texts(ctx, (const char *const *)old->column, old->in)
                             : NULL;
    if (!to->fill || !to->flag || !to->column != !old->column)
        return MCR_NO_MEMORY;
    memcpy(to->fill, old->fill, sizeof *to->fill * (size_t)old->in);
    memcpy(to->flag, old->flag, sizeof *to->flag * (size_t)old->flags);
    return MCR_OK;
}

static mcr_status copy_known(mcr_scaling *to, const mcr_known *old)
{
    mcr_known *known;
    int32_t number;
    mcr_status s = mcr_known_add(&known, to, old->name);
    for (int64_t w = 0; w < old->words.count && !s; w++)
        s = mcr_words_number(&known->words, to->ctx, old->words.word[w], strlen(old->words.word[w]),
                             &number);
    if (!s)
        known->mode = old->mode;
    return s;
}

mcr_status mcr_scaling_copy(mcr_scaling **out, const mcr_scaling *from)
{
    mcr *ctx = from->ctx;
    mcr_status s = mcr_scaling_open(out, ctx, from->fields);
    for (int64_t f = 0; f < from->fields && !s; f++) {
        const mcr_scaled_field *old = &from->field[f];
        mcr_scaled_field *to = &(*out)->field[(*out)->fields++];
        size_t cols = (size_t)old->cols;
        *to = (mcr_scaled_field){.name = mcr_copy_text(ctx, old->name, strlen(old->name)),
                                 .dense = old->dense,
                                 .cols = old->cols,
                                 .shift = mcr_alloc(ctx, cols, sizeof *to->shift),
                                 .factor = mcr_alloc(ctx, cols, sizeof *to->factor)};
        if (!to->name || !to->shift || !to->factor) {
            s = MCR_NO_MEMORY;
            continue;
        }
        memcpy(to->shift, old->shift, sizeof *to->shift * cols);
        memcpy(to->factor, old->factor, sizeof *to->factor * cols);
        s = copy_fill(to, ctx, old);
    }
    for (int64_t k = 0; k < from->knowns && !s; k++)
        s = copy_known(*out, &from->known[k]);
    if (s) {
        mcr_scaling_free(*out);
        *out = NULL;
    }
    return s;
}

void mcr_scaling_free(mcr_scaling *s)
{
    if (!s)
        return;
    for (int64_t f = 0; s->field && f < s->fields; f++) {
        mcr_free_all(s->ctx, s->field[f].name, s->field[f].shift, s->field[f].factor,
                     s->field[f].fill, s->field[f].flag);
        mcr_free_each(s->ctx, s->field[f].column, s->field[f].in);
    }
    for (int64_t k = 0; k < s->knowns; k++) {
        mcr_free(s->ctx, s->known[k].name);
        mcr_words_free(&s->known[k].words, s->ctx);
    }
    mcr_free_all(s->ctx, s->known, s->field, s);
}

/* ---- applying ---------------------------------------------------------------------------------*/

static double scaled(const mcr_scaled_field *by, int64_t k, double x)
{
    double d = x - by->shift[k]; /* may overflow although the product does not */
    return isfinite(d) ? d * by->factor[k] : x * by->factor[k] - by->shift[k] * by->factor[k];
}

static mcr_status make_dense(mcr_store *to, const mcr_store *from, const mcr_scaled_field *by)
{
    to->cols = by->cols;
    mcr_status s = mcr_store_alloc_dense(to);
    if (s)
        return s;
    for (int64_t r = 0; r < from->count; r++) {
        double *row = to->dense + r * by->cols;
        mcr_vector x = mcr_store_vector(from, r);
        mcr_vector_to_dense(&x, row, by->cols); /* further columns were not seen in training */
        for (int64_t k = 0; k < by->cols; k++)
            row[k] = scaled(by, k, row[k]);
    }
    return MCR_OK;
}

static mcr_status make_sparse(mcr_store *to, const mcr_store *from, const mcr_scaled_field *by)
{
    int64_t at = 0;
    to->cols = from->cols;
    mcr_status s = mcr_store_alloc_sparse(to, from->start[from->count]);
    if (s)
        return s;
    for (int64_t r = 0; r < from->count; r++) {
        to->start[r] = at;
        mcr_vector x = mcr_store_vector(from, r);
        for (int64_t e = 0; e < x.count; e++) {
            int64_t k = mcr_vector_column(&x, e);
            if (k >= by->cols || by->factor[k] == 0)
                continue;
            to->index[at] = (int32_t)k;
            to->value[at++] = mcr_vector_value(&x, e) * by->factor[k];
        }
    }
    to->start[from->count] = at;
    return MCR_OK;
}

static mcr_status scale_store(mcr_store **out, const mcr_store *from, const mcr_scaled_field *by)
{
    *out = NULL;
    if (by->fill) {
        mcr_store *filled = NULL;
        mcr_scaled_field plain = *by;
        plain.fill = NULL;
        mcr_status s = mcr_fill_apply(&filled, from, by);
        if (!s)
            s = scale_store(out, filled, &plain);
        mcr_store_free(filled);
        return s;
    }
    if (!(from->kind & (MCR_DENSE | MCR_SPARSE)) ||
        (from->kind == MCR_DENSE && (from->cols != by->cols || !by->dense)))
        return mcr_fail(from->ctx, MCR_BAD_DATA,
                        "field \"%s\" does not fit the model's scaling: %lld features there, %lld "
                        "here",
                        from->name, (long long)by->cols, (long long)from->cols);
    mcr_store *to = NULL;
    mcr_status s = mcr_store_new(&to, from->ctx, from->name, by->dense ? MCR_DENSE : MCR_SPARSE);
    if (s)
        return s;
    to->count = from->count;
    to->role = from->role;
    to->holes = from->holes;
    s = by->dense ? make_dense(to, from, by) : make_sparse(to, from, by);
    if (!s)
        s = mcr_store_copy_names(to, from);
    if (!s && !to->holes)
        s = mcr_store_check(to); /* a number may have become too large */
    return mcr_store_give(out, to, s);
}

mcr_status mcr_scaling_apply(mcr_data **out, const mcr_scaling *scaling, const mcr_data *data)
{
    *out = NULL;
    if (!scaling) {
        *out = mcr_data_retain(data);
        return MCR_OK;
    }
    mcr_data *view = NULL;
    mcr_status s = mcr_data_need_memory(data, "scaling");
    if (!s)
        s = mcr_data_select(&view, data, (mcr_rows){NULL, 0, mcr_data_count(data)});
    for (int64_t f = 0; f < scaling->fields && !s; f++) {
        const mcr_scaled_field *by = &scaling->field[f];
        int64_t at = mcr_data_find(view, by->name, strlen(by->name));
        mcr_store *made = NULL;
        if (at < 0)
            continue; /* the kernel reports a missing field */
        s = scale_store(&made, view->store[at], by);
        mcr_data_replace(view, at, made);
    }
    if (!s)
        s = mcr_known_apply(view, scaling);
    return mcr_data_give(out, view, s);
}
