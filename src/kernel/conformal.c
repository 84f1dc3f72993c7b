/* conformal.c: f(x) K(x,z) f(z) for a function f of the object: a column, a norm, a callback.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

enum { VECTORS = MCR_DENSE | MCR_SPARSE, NAMES_MAX = 256, FIELD_MAX = 256 };

typedef struct conformal_params {
    char *f;
} conformal_params;

typedef struct conformal_state {
    double *factor[2]; /* f of each object of a side */
} conformal_state;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(
        conformal_params, f, MCR_TEXT, "norm", -INFINITY, INFINITY,
        "norm (length of the vector), a column from 1 (2), both with a field before them "
        "(\"dose:2\", \"dose:norm\"), or a function registered in C"),
    {.name = NULL},
};

/* ---- what f means -----------------------------------------------------------------------------*/

typedef struct function {
    const char *field; /* before ":"; NULL: the only vector field */
    int64_t column;    /* from 1; 0: the norm */
    bool is_user;
    mcr_function user; /* a copy, because the list may grow during the call */
    char buffer[FIELD_MAX];
} function;

/* "norm" or a number from 1. */
static bool read_column(const char *text, int64_t *column)
{
    const char *end = text + strlen(text);
    *column = 0;
    if (strcmp(text, "norm") == 0)
        return true;
    return mcr_parse_int(text, end, column) == end && *column >= 1;
}

static mcr_status read_function(function *out, mcr *ctx, const char *text)
{
    *out = (function){.field = NULL};
    const char *colon = strrchr(text, ':');
    if (read_column(colon != NULL ? colon + 1 : text, &out->column)) {
        size_t length = colon != NULL ? (size_t)(colon - text) : 0;
        if (colon == NULL)
            return MCR_OK;
        if (length > 0 && length < sizeof out->buffer) {
            memcpy(out->buffer, text, length);
            out->field = out->buffer;
            return MCR_OK;
        }
    }
    const char *names[NAMES_MAX + 2] = {"norm"};
    int64_t count = 1;
    for (int64_t i = 0; i < ctx->extra_function_count; i++) {
        if (strcmp(ctx->extra_functions[i].name, text) == 0) {
            out->is_user = true;
            out->user = ctx->extra_functions[i];
            return MCR_OK;
        }
        if (count <= NAMES_MAX)
            names[count++] = ctx->extra_functions[i].name;
    }
    const char *near = mcr_nearest(text, names);
    if (near != NULL)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "conformal: unknown function f=%.100s (did you mean \"%s\"?)", text, near);
    return mcr_fail(ctx, MCR_BAD_CALL,
                    "conformal: unknown function f=%.100s (write f=norm, a column such as f=2 or "
                    "f=\"field:2\", or a name that the program registers)",
                    text);
}

static mcr_status check(mcr *ctx, void *values)
{
    const conformal_params *p = values;
    if (p->f == NULL || p->f[0] == '\0')
        return mcr_fail(ctx, MCR_BAD_CALL, "conformal: f is empty (write f=norm or f=2)");
    return MCR_OK;
}

/* ---- its values -------------------------------------------------------------------------------*/

static double norm(const mcr_store *store, int64_t row)
{
    mcr_vector x = mcr_store_vector(store, row);
    double sum = 0;
    for (int64_t e = 0; e < x.count; e++)
        sum += mcr_vector_value(&x, e) * mcr_vector_value(&x, e);
    return sqrt(sum);
}

static double entry(const mcr_store *store, int64_t row, int64_t column)
{
    if (column >= store->cols)
        return 0;
    mcr_vector x = mcr_store_vector(store, row);
    if (!x.index)
        return mcr_vector_value(&x, column);
    for (int64_t e = 0; e < x.count; e++)
        if (mcr_vector_column(&x, e) == column)
            return mcr_vector_value(&x, e);
    return 0;
}

static mcr_status column_side(const mcr_bound *bound, const function *f, const mcr_field *field,
                              double *values)
{
    const mcr_store *store = field->store;
    if (store->kind != MCR_SPARSE && f->column > store->cols)
        return mcr_fail(bound->ctx, MCR_BAD_DATA,
                        "conformal: there is no column %lld, \"%.100s\" has %lld",
                        (long long)f->column, store->name, (long long)store->cols);
    for (int64_t i = 0; i < field->count; i++) {
        int64_t row = mcr_field_at(field, i);
        values[i] = f->column == 0 ? norm(store, row) : entry(store, row, f->column - 1);
    }
    return MCR_OK;
}

static mcr_status user_side(const mcr_bound *bound, const function *f, int side, double *values)
{
    mcr_fail(bound->ctx, MCR_OK, "%s", ""); /* so that a message set by f is recognised */
    for (int64_t i = 0; i < mcr_bound_count(bound, side); i++) {
        values[i] = NAN;
        mcr_status status = f->user.call(f->user.user, bound->data[side], i, &values[i]);
        if (status != MCR_OK && mcr_message(bound->ctx)[0] != '\0')
            return status;
        if (status != MCR_OK)
            return mcr_fail(bound->ctx, status, "conformal: f=%s fails for object %lld (%s)",
                            f->user.name, (long long)i + 1, mcr_status_name(status));
    }
    return MCR_OK;
}

static mcr_status bind_side(mcr_bound *bound, conformal_state *state, const function *f, int side,
                            const mcr_field *field)
{
    int64_t n = mcr_bound_count(bound, side);
    double *values = mcr_bound_alloc(bound, (size_t)n, sizeof *values);
    if (values == NULL)
        return MCR_NO_MEMORY;
    mcr_status status = f->is_user ? user_side(bound, f, side, values)
                                   : column_side(bound, f, field, values);
    for (int64_t i = 0; i < n && status == MCR_OK; i++)
        if (!isfinite(values[i]))
            status = mcr_fail(bound->ctx, MCR_NUMERIC, "conformal: f is not finite for object %lld",
                              (long long)i + 1);
    state->factor[side] = values;
    return status;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    (void)binding;
    const conformal_params *p = mcr_bound_params(bound);
    function f;
    mcr_field field[2] = {{.store = NULL}, {.store = NULL}};
    conformal_state *state = mcr_bound_alloc(bound, 1, sizeof *state);
    mcr_status status = state != NULL ? read_function(&f, bound->ctx, p->f) : MCR_NO_MEMORY;
    for (int side = 0; side < 2 && status == MCR_OK && !f.is_user; side++)
        status = mcr_field_choose(&field[side], bound->ctx, "conformal", VECTORS, f.field,
                                  side == 1 ? field[0].store->name : NULL, bound->data[side]);
    if (status == MCR_OK)
        status = bind_side(bound, state, &f, 0, &field[0]);
    if (status == MCR_OK && bound->same)
        state->factor[1] = state->factor[0];
    else if (status == MCR_OK)
        status = bind_side(bound, state, &f, 1, &field[1]);
    bound->field[0] = field[0]; /* it is read, so models must store it */
    bound->field[1] = field[1];
    bound->state = state;
    return status;
}

/* ---- the kernel -------------------------------------------------------------------------------*/

MCR_PSD_AS_CHILD(definite, "a kernel times f(x) and f(z)",
                 "f(x) and f(z) times something that is not known to be a kernel")

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    const conformal_state *state = bound->state;
    mcr_status status = mcr_bound_child_block(bound, 0, tile);
    return status != MCR_OK ? status : mcr_tile_scale(tile, state->factor[0], state->factor[1]);
}

static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    const conformal_state *state = bound->state;
    mcr_status status = mcr_bound_child_diagonal(bound, 0, side, rows, k);
    for (int64_t i = 0; i < rows.count && status == MCR_OK; i++) {
        double f = state->factor[side][mcr_rows_at(rows, i)];
        k[i] *= f * f;
    }
    return status;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    const conformal_state *state = bound->state;
    return mcr_features_scaled_child(bound, out, state->factor);
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const conformal_state *state = bound->state;
    mcr_tile part;
    mcr_status s = mcr_tile_like(&part, tile, true);
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        double *k = mcr_tile_row(&part, i), x = state->factor[0][mcr_rows_at(tile->x, i)];
        for (int64_t j = 0; j < tile->z.count; j++)
            k[j] = d[i * ld + j] * x * state->factor[1][mcr_rows_at(tile->z, j)];
    }
    return s ? s : mcr_bound_child_gradient(bound, 0, tile, part.k, part.ld, slope);
}

const mcr_kernel_type mcr_kernel_conformal = {
    .name = "conformal",
    .summary = "f(x) K(x,z) f(z) for a function f of the object: a column, a norm, C code",
    .min_children = 1,
    .max_children = 1,
    .params = params,
    .params_size = sizeof(conformal_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .block = block,
    .diagonal = diagonal,
    .features = features,
    .gradient = gradient,
};
