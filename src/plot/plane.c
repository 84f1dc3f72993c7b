/* plane.c: the columns of vectors on the axes of a picture, in the user's units.
 *
 * A model that scales its data stores scaled objects; here they are scaled back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "plot/plotting.h"

enum { MOST_COLUMNS = 2000000 };

/* The only field of vectors, dense or sparse; -1: none, or several. */
static int64_t vector_field(const mcr_data *data)
{
    int64_t found = -1;
    for (int64_t i = 0; data && i < data->fields; i++)
        if (data->store[i]->kind == MCR_DENSE || data->store[i]->kind == MCR_SPARSE) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

static const mcr_data *likeness(const mcr_plotting *p)
{
    return p->model ? p->model->basis : p->data;
}

int64_t mcr_plane_columns(const mcr_plotting *p)
{
    const mcr_data *like = likeness(p);
    int64_t field = vector_field(like);
    return field >= 0 && like->fields == 1 ? like->store[field]->cols : 0;
}

const char *mcr_plane_name(mcr_plotting *p, const mcr_plane *plane, int64_t column)
{
    const mcr_store *s = plane->like->store[plane->field];
    if (s->column && s->column[column][0])
        return mcr_blocks_text(&p->f->pool, s->column[column]);
    return mcr_blocks_format(&p->f->pool, "x%lld", (long long)column + 1);
}

/* The column with this name; -1: none. */
static int64_t column_named(const mcr_plane *plane, const char *word)
{
    const mcr_store *s = plane->like->store[plane->field];
    for (int64_t c = 0; s->column && c < plane->cols; c++)
        if (strcmp(s->column[c], word) == 0)
            return c;
    int64_t number;
    const char *end = word + strlen(word);
    const char *digits = *word == 'x' && !s->column ? word + 1 : word;
    if (mcr_parse_int(digits, end, &number) == end && number >= 1 && number <= plane->cols)
        return number - 1;
    return -1;
}

static mcr_status find_column(mcr_plotting *p, const mcr_plane *plane, const char *word,
                              int64_t *to)
{
    if (!word)
        return MCR_OK;
    *to = column_named(plane, word);
    if (*to >= 0)
        return MCR_OK;
    return mcr_fail(p->ctx, MCR_BAD_CALL,
                    "there is no column \"%.100s\" among the %lld; name one, or give its number "
                    "from 1",
                    word, (long long)plane->cols);
}

static double back(const mcr_plane *plane, int64_t c, double v)
{
    const mcr_scaled_field *s = plane->scale;
    return !s ? v : s->factor[c] != 0 ? v / s->factor[c] + s->shift[c] : s->shift[c];
}

/* ---- values --------------------------------------------------------------------------------- */

/* A buffer for a vector of the data and of the model: a file of sparse vectors may have fewer or
 * more columns than the model. Missing columns are 0. */
static double *row_buffer(mcr_plotting *p, const mcr_plane *plane, const mcr_data *data,
                          int64_t field)
{
    int64_t own = data->store[field]->cols;
    return mcr_blocks_reals(&p->scratch, own > plane->cols ? own : plane->cols);
}

/* Some columns of all objects. */
static mcr_status read_columns(mcr_plotting *p, const mcr_plane *plane, const mcr_data *data,
                               const int64_t *column, int columns, double **to)
{
    int64_t field = data == plane->like ? plane->field : vector_field(data);
    double *row = row_buffer(p, plane, data, field);
    mcr_status s = row ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < mcr_data_count(data) && !s; i++) {
        s = mcr_data_vector(data, field, i, row);
        for (int k = 0; k < columns && !s; k++)
            to[k][i] = back(plane, column[k], row[column[k]]);
    }
    return s;
}

mcr_status mcr_plane_column(mcr_plotting *p, const mcr_plane *plane, int64_t column, double *to)
{
    return read_columns(p, plane, plane->seen ? plane->seen : plane->like, &column, 1, &to);
}

/* Medians of all columns, over an evenly spaced selection of the objects. */
static mcr_status find_medians(mcr_plotting *p, mcr_plane *plane)
{
    const mcr_data *data = plane->seen ? plane->seen : plane->like;
    int64_t field = plane->seen ? vector_field(data) : plane->field, count;
    int64_t most = 4000000 / (plane->cols > 0 ? plane->cols : 1);
    int64_t *row = mcr_plot_thin(p, mcr_data_count(data), most < 2000 ? most + 1 : 2000, &count);
    double *all = mcr_blocks_reals(&p->scratch, plane->cols * count);
    double *one = mcr_blocks_reals(&p->scratch, count), *vector = row_buffer(p, plane, data, field);
    if (!row || !all || !one || !vector)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        mcr_status s = mcr_data_vector(data, field, row[i], vector);
        if (s)
            return s;
        memcpy(all + i * plane->cols, vector, sizeof *all * (size_t)plane->cols);
    }
    for (int64_t c = 0; c < plane->cols; c++) {
        for (int64_t i = 0; i < count; i++)
            one[i] = all[i * plane->cols + c];
        plane->base[c] = back(plane, c, mcr_plot_median(one, count));
    }
    return MCR_OK;
}

static void find_range(mcr_plane *plane, int axis)
{
    double low = INFINITY, high = -INFINITY;
    if (plane->at[axis])
        mcr_plot_widen(&low, &high, plane->at[axis], plane->n);
    if (plane->support[axis])
        mcr_plot_widen(&low, &high, plane->support[axis], plane->supports);
    if (!(high > low)) {
        low = isfinite(low) ? low - 0.5 : 0;
        high = low + 1;
    }
    double margin = 0.06 * (high - low);
    plane->low[axis] = low - margin;
    plane->high[axis] = high + margin;
}

static mcr_status take_values(mcr_plotting *p, mcr_plane *plane)
{
    int columns = (plane->x >= 0) + (plane->y >= 0);
    int64_t column[2] = {plane->x, plane->y};
    plane->supports = p->model ? mcr_data_count(p->model->basis) : 0;
    plane->n = plane->seen ? mcr_data_count(plane->seen) : 0;
    for (int k = 0; k < columns; k++) {
        plane->support[k] = mcr_blocks_reals(&p->scratch, plane->supports);
        plane->at[k] = plane->seen ? mcr_blocks_reals(&p->scratch, plane->n) : NULL;
        if (!plane->support[k] || (plane->seen && !plane->at[k]))
            return MCR_NO_MEMORY;
    }
    mcr_status s = MCR_OK;
    if (plane->supports)
        s = read_columns(p, plane, p->model->basis, column, columns, plane->support);
    if (!s && plane->seen)
        s = read_columns(p, plane, plane->seen, column, columns, plane->at);
    for (int k = 0; k < columns && !s; k++)
        find_range(plane, k);
    return s;
}

/* ---- opening -------------------------------------------------------------------------------- */

static void find_scale(mcr_plotting *p, mcr_plane *plane)
{
    const mcr_scaling *all = p->model ? p->model->scaling : NULL;
    const char *name = plane->like->store[plane->field]->name;
    for (int64_t i = 0; all && i < all->fields; i++)
        if (strcmp(all->field[i].name, name) == 0 && all->field[i].cols >= plane->cols)
            plane->scale = &all->field[i];
}

mcr_status mcr_plane_open(mcr_plane *plane, mcr_plotting *p, int dims)
{
    *plane = (mcr_plane){.like = likeness(p), .x = 0, .y = -1};
    plane->field = vector_field(plane->like);
    if (plane->field < 0 || (p->model && plane->like->fields != 1))
        return mcr_plot_refuse(p, MCR_BAD_CALL,
                               "a picture over columns needs objects that are vectors");
    plane->cols = plane->like->store[plane->field]->cols;
    if (plane->cols < 1 || plane->cols > MOST_COLUMNS)
        return mcr_fail(p->ctx, MCR_BAD_DATA,
                        "the vectors have %lld columns: a picture over columns takes 1 to %d",
                        (long long)plane->cols, MOST_COLUMNS);
    find_scale(p, plane);
    mcr_status s = MCR_OK;
    if (p->model && p->data)
        s = mcr_model_prepare(&plane->seen, p->ctx, p->model, p->data);
    else if (p->data)
        plane->seen = mcr_data_retain(p->data);
    if (!s)
        s = find_column(p, plane, p->how->x, &plane->x);
    if (!s && dims > 1 && plane->cols > 1) {
        plane->y = plane->x == 0 ? 1 : 0;
        s = find_column(p, plane, p->how->y, &plane->y);
    }
    if (!s && plane->y == plane->x)
        s = mcr_fail(p->ctx, MCR_BAD_CALL, "x and y are the same column: choose two");
    plane->base = s ? NULL : mcr_blocks_reals(&p->scratch, plane->cols);
    if (!s && !plane->base)
        s = MCR_NO_MEMORY;
    if (!s)
        s = find_medians(p, plane);
    if (!s)
        s = take_values(p, plane);
    if (s)
        mcr_plane_close(plane);
    return s;
}

void mcr_plane_close(mcr_plane *plane)
{
    mcr_data_free(plane->seen);
    plane->seen = NULL;
}

/* ---- objects at places ---------------------------------------------------------------------- */

/* The form that the model, or its scaling, expects. */
static bool is_dense(const mcr_plane *plane)
{
    return plane->scale ? plane->scale->dense : plane->like->store[plane->field]->kind == MCR_DENSE;
}

/* Dense rows equal to the medians except in one or two columns. */
static mcr_status place_dense(mcr_builder *b, mcr_plotting *p, const mcr_plane *plane,
                              int64_t count, const double *x, const double *y)
{
    int64_t cols = plane->cols;
    double *all = mcr_alloc(p->ctx, (uint64_t)count * (uint64_t)cols, sizeof *all);
    if (!all)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        memcpy(all + i * cols, plane->base, (size_t)cols * sizeof *all);
        all[i * cols + plane->x] = x[i];
        if (y && plane->y >= 0)
            all[i * cols + plane->y] = y[i];
    }
    const char *name = plane->like->store[plane->field]->name;
    mcr_status s = mcr_builder_dense(b, name, all, cols, cols);
    mcr_free(p->ctx, all);
    return s;
}

/* The same as sparse rows, most of whose medians are usually 0. */
static mcr_status place_sparse(mcr_builder *b, mcr_plotting *p, const mcr_plane *plane,
                               int64_t count, const double *x, const double *y)
{
    int64_t used = 0, cols = plane->cols;
    int64_t *start = mcr_alloc(p->ctx, (size_t)count + 1, sizeof *start);
    for (int64_t c = 0; c < cols; c++)
        used += plane->base[c] != 0 || c == plane->x || c == plane->y;
    int32_t *index = mcr_alloc(p->ctx, (uint64_t)count * (uint64_t)used, sizeof *index);
    double *value = mcr_alloc(p->ctx, (uint64_t)count * (uint64_t)used, sizeof *value);
    mcr_status s = start && index && value ? MCR_OK : MCR_NO_MEMORY;
    int64_t at = 0;
    for (int64_t i = 0; i < count && !s; i++) {
        start[i] = at;
        for (int64_t c = 0; c < cols; c++)
            if (plane->base[c] != 0 || c == plane->x || c == plane->y) {
                index[at] = (int32_t)c;
                value[at++] = c == plane->x ? x[i] : c == plane->y && y ? y[i] : plane->base[c];
            }
        start[i + 1] = at;
    }
    const char *name = plane->like->store[plane->field]->name;
    if (!s)
        s = mcr_builder_sparse(b, name, cols, start, index, value);
    mcr_free_all(p->ctx, value, index, start);
    return s;
}

mcr_status mcr_plane_objects(mcr_data **out, mcr_plotting *p, const mcr_plane *plane, int64_t count,
                             const double *x, const double *y)
{
    mcr_builder *builder = NULL;
    *out = NULL;
    mcr_status s = mcr_builder_open(&builder, p->ctx, count);
    if (!s)
        s = is_dense(plane) ? place_dense(builder, p, plane, count, x, y)
                            : place_sparse(builder, p, plane, count, x, y);
    return mcr_builder_finish_filled(out, builder, s);
}

int64_t mcr_plane_at_once(const mcr_plane *plane)
{
    const int64_t numbers = 4000000;
    int64_t count = numbers / (plane->cols > 0 ? plane->cols : 1);
    return count > 64 ? count : 64;
}
