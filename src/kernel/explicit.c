/* explicit.c: explicit feature maps of bound expressions, and their closure rules: the features of
 * a sum are those of all terms, the features of a product all products of a feature of one factor
 * and a feature of the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/explicit.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/poly.h"

/* ---- names ------------------------------------------------------------------------------------*/

mcr_status mcr_names_open(mcr_names **out, mcr *ctx)
{
    mcr_names *n = *out = mcr_alloc_zero(ctx, 1, sizeof *n);
    if (!n)
        return MCR_NO_MEMORY;
    n->ctx = ctx;
    mcr_text_init(&n->text, ctx);
    return MCR_OK;
}

void mcr_names_close(mcr_names *n)
{
    if (!n)
        return;
    mcr_text_free(&n->text);
    mcr_free_all(n->ctx, n->begin, n);
}

/* So many features or names between two checks of the limits. */
enum { BETWEEN = 1 << 14 };

static mcr_status over_budget(mcr *ctx, double bytes)
{
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_OVER_BUDGET,
                               "the explicit features need %.1f GB, which is more than the memory "
                               "budget: allow more, or use the kernel as it is",
                               bytes / 1e9),
                      "memory");
}

static mcr_status check_names(const mcr_names *n)
{
    size_t bytes = (size_t)n->text.length + (size_t)n->count * sizeof *n->begin;
    if (bytes > mcr_budget_left(n->ctx))
        return over_budget(n->ctx, (double)bytes);
    return mcr_part_done(n->ctx, "features", NAN, NAN);
}

mcr_status mcr_names_end(mcr_names *n)
{
    mcr_text_add(&n->text, "", 1);
    mcr_status s = n->text.status;
    if (!s && n->count % BETWEEN == BETWEEN - 1)
        s = check_names(n);
    if (!s)
        s = mcr_reserve(n->ctx, &n->begin, &n->capacity, n->count + 2, sizeof *n->begin);
    if (s)
        return s;
    if (n->count == 0)
        n->begin[0] = 0;
    n->begin[++n->count] = (int64_t)n->text.length;
    return MCR_OK;
}

void mcr_names_bytes(mcr_names *n, const char *bytes, int64_t length)
{
    bool text = mcr_utf8_valid(bytes, (size_t)length);
    for (int64_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i],
                      next = (unsigned char)(i + 1 < length ? bytes[i + 1] : 0);
        bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && next < 0xa0);
        if (control || (c >= 0x80 && !text))
            mcr_text_format(&n->text, "\\x%02x", c);
        else if (c == '\\')
            mcr_text_string(&n->text, "\\\\");
        else
            mcr_text_add(&n->text, bytes + i, 1);
    }
}

const char *mcr_names_at(const mcr_names *n, int64_t i)
{
    return n->text.bytes + n->begin[i];
}

/* ---- making a map -----------------------------------------------------------------------------*/

static mcr_status make(mcr_features **out, const mcr_bound *bound)
{
    mcr *ctx = bound->ctx;
    mcr_features *f = *out = mcr_alloc_zero(ctx, 1, sizeof *f);
    if (!f)
        return MCR_NO_MEMORY;
    f->ctx = ctx;
    f->most_entries = bound->binding->most_entries;
    for (int side = 0; side < mcr_features_sides(bound); side++) {
        f->objects[side] = mcr_bound_count(bound, side);
        f->start[side] = mcr_alloc_zero(ctx, (size_t)f->objects[side] + 1, sizeof **f->start);
        if (!f->start[side])
            return MCR_NO_MEMORY;
    }
    return bound->binding->named ? mcr_names_open(&f->names, ctx) : MCR_OK;
}

/* Default names: numbers from 1. */
static mcr_status number_rest(mcr_features *f)
{
    mcr_status s = MCR_OK;
    while (f->names && f->names->count < f->count && !s) {
        mcr_text_int(&f->names->text, f->names->count + 1);
        s = mcr_names_end(f->names);
    }
    return s;
}

/* Subsequences and gapped words have very many features: only listed on request. */
static bool is_for_learners(const mcr_kernel *k)
{
    if (k->type == &mcr_kernel_poly)
        return mcr_monomials_are_few(k);
    return k->type->features && k->type != &mcr_kernel_ssk && k->type != &mcr_kernel_gkm;
}

bool mcr_kernel_has_features(const mcr_kernel *k)
{
    bool has = is_for_learners(k);
    for (int c = 0; c < k->children && has; c++)
        has = mcr_kernel_has_features(k->child[c]);
    return has;
}

mcr_status mcr_features_of(mcr_features **out, const mcr_bound *bound)
{
    const mcr_kernel *k = bound->kernel;
    *out = NULL;
    if (!k->type->features)
        return mcr_advise(
            bound->ctx,
            mcr_fail(bound->ctx, MCR_BAD_CALL, "%.100s has no finite feature map", k->text),
            "kernels");
    mcr_status s = make(out, bound);
    if (!s)
        s = k->type->features(bound, *out);
    if (!s)
        s = number_rest(*out);
    for (int side = 0; side < 2 && !s; side++)
        if ((*out)->rows[side] != (*out)->objects[side])
            s = mcr_fail(bound->ctx, MCR_BAD_CALL, "%s: features for %lld of %lld objects",
                         k->type->name, (long long)(*out)->rows[side],
                         (long long)(*out)->objects[side]);
    if (s) {
        mcr_features_close(*out);
        *out = NULL;
    }
    return s;
}

static mcr_status open_map(mcr_features **out, mcr *ctx, const mcr_kernel *kernel,
                           const mcr_data *x, const mcr_data *z, bool names, double most_entries)
{
    *out = NULL;
    mcr_binding *binding = NULL;
    mcr_status s = mcr_binding_open_listing(&binding, ctx, kernel, x, z, names);
    if (!s) {
        binding->most_entries = most_entries;
        s = mcr_features_of(out, binding->root);
    }
    if (!s)
        (*out)->error = mcr_features_error(binding->root);
    mcr_binding_close(binding);
    return s;
}

mcr_status mcr_features_open(mcr_features **out, mcr *ctx, const mcr_kernel *kernel,
                             const mcr_data *x, const mcr_data *z, int names)
{
    return open_map(out, ctx, kernel, x, z, names != 0, 0);
}

mcr_status mcr_features_open_few(mcr_features **out, mcr *ctx, const mcr_kernel *kernel,
                                 const mcr_data *x, double most_entries)
{
    return open_map(out, ctx, kernel, x, NULL, false, most_entries);
}

static void clear(mcr_features *f)
{
    for (int side = 0; side < 2; side++)
        mcr_free_all(f->ctx, f->start[side], f->index[side], f->value[side]);
    mcr_names_close(f->names);
    *f = (mcr_features){.ctx = f->ctx};
}

void mcr_features_close(mcr_features *f)
{
    if (!f)
        return;
    clear(f);
    mcr_free(f->ctx, f);
}

void mcr_features_move(mcr_features *out, mcr_features *from)
{
    clear(out);
    *out = *from;
    *from = (mcr_features){.ctx = out->ctx};
}

mcr_status mcr_features_resize(mcr_features *f, int64_t count)
{
    if (count > INT32_MAX)
        return mcr_fail(f->ctx, MCR_BAD_DATA, "there are %lld features, and %d are possible",
                        (long long)count, INT32_MAX);
    f->count = count;
    return MCR_OK;
}

/* The work of one thread. */
static mcr_status allow_work(const mcr_features *f, double count, double entries, double letters)
{
    enum { STEPS_AN_ENTRY = 6, STEPS_A_NAME = 20 };
    double steps = entries * STEPS_AN_ENTRY + (f->names ? count * (STEPS_A_NAME + letters) : 0);
    return mcr_work_allow(f->ctx, steps * f->ctx->config.threads, "the explicit features");
}

mcr_status mcr_features_expect(const mcr_features *f, double count, double entries, double letters)
{
    double names = f->names ? count : 0, bytes = entries * (sizeof(int32_t) + sizeof(double));
    if (count > INT32_MAX)
        return mcr_fail(f->ctx, MCR_BAD_DATA,
                        "there are more features than the %d that are possible", INT32_MAX);
    if (f->most_entries > 0 && entries > f->most_entries)
        return mcr_fail(f->ctx, MCR_OVER_BUDGET, "there are more features than wanted");
    bytes += names * (sizeof(int64_t) + letters + 1);
    if (bytes > (double)mcr_budget_left(f->ctx))
        return over_budget(f->ctx, bytes);
    return allow_work(f, count, entries, letters);
}

mcr_status mcr_features_put(mcr_features *f, int side, int64_t feature, double value)
{
    if (f->rows[side] >= f->objects[side] || feature < 0 || feature >= f->count)
        return mcr_fail(
            f->ctx, MCR_BAD_CALL,
            "features: value for feature %lld of object %lld, and there are %lld of %lld",
            (long long)feature, (long long)f->rows[side], (long long)f->count,
            (long long)f->objects[side]);
    int64_t at = f->start[side][f->rows[side] + 1];
    mcr_status s = ++f->puts % BETWEEN == 0 ? mcr_part_done(f->ctx, "features", NAN, NAN) : MCR_OK;
    if (s || value == 0)
        return s;
    s = mcr_reserve(f->ctx, &f->index[side], &f->capacity[side][0], at + 1, sizeof(int32_t));
    if (!s)
        s = mcr_reserve(f->ctx, &f->value[side], &f->capacity[side][1], at + 1, sizeof(double));
    if (s)
        return s;
    f->index[side][at] = (int32_t)feature;
    f->value[side][at] = value;
    f->start[side][f->rows[side] + 1] = at + 1;
    return MCR_OK;
}

void mcr_features_next(mcr_features *f, int side)
{
    int64_t row = ++f->rows[side];
    if (row < f->objects[side])
        f->start[side][row + 1] = f->start[side][row];
}

/* ---- leaves -----------------------------------------------------------------------------------*/

static mcr_status copy_store(mcr_features *f, int side, const mcr_store *s, const mcr_field *field)
{
    mcr_status st = MCR_OK;
    for (int64_t i = 0; i < f->objects[side] && !st; i++) {
        mcr_vector x = mcr_store_vector(s, field ? mcr_field_at(field, i) : i);
        for (int64_t e = 0; e < x.count && !st; e++)
            st = mcr_features_put(f, side, mcr_vector_column(&x, e), mcr_vector_value(&x, e));
        mcr_features_next(f, side);
    }
    return st;
}

mcr_status mcr_features_listed(const mcr_bound *bound, mcr_features *out)
{
    mcr_status s = mcr_features_resize(out, bound->listed_count);
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        s = copy_store(out, side, bound->listed[side], NULL);
    for (int64_t i = 0; out->names && bound->names && i < bound->names->count && !s; i++) {
        mcr_text_string(&out->names->text, mcr_names_at(bound->names, i));
        s = mcr_names_end(out->names);
    }
    return s;
}

void mcr_features_column(mcr_names *names, const mcr_bound *bound, int64_t column)
{
    const mcr_store *s = bound->field[0].store;
    if (bound->data[0]->fields > 1) {
        mcr_names_bytes(names, s->name, (int64_t)strlen(s->name));
        mcr_text_string(&names->text, ":");
    }
    if (s->column && column < s->cols && s->column[column][0])
        mcr_names_bytes(names, s->column[column], (int64_t)strlen(s->column[column]));
    else
        mcr_text_format(&names->text, "x%lld", (long long)column + 1);
}

static double count_nonzeros(const mcr_bound *bound)
{
    int64_t count = 0;
    for (int side = 0; side < mcr_features_sides(bound); side++) {
        const mcr_field *f = &bound->field[side];
        for (int64_t i = 0; i < f->count; i++) {
            mcr_vector x = mcr_store_vector(f->store, mcr_field_at(f, i));
            for (int64_t e = 0; e < x.count; e++)
                count += mcr_vector_value(&x, e) != 0;
        }
    }
    return (double)count;
}

mcr_status mcr_features_vectors(const mcr_bound *bound, mcr_features *out)
{
    int64_t cols = bound->field[0].store->cols, other = bound->field[1].store->cols;
    mcr_status s = mcr_features_resize(out, cols > other ? cols : other);
    if (!s)
        s = mcr_features_expect(out, (double)out->count, count_nonzeros(bound), 1);
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        s = copy_store(out, side, bound->field[side].store, &bound->field[side]);
    for (int64_t c = 0; out->names && c < out->count && !s; c++) {
        mcr_features_column(out->names, bound, c);
        s = mcr_names_end(out->names);
    }
    return s;
}

/* ---- rules ------------------------------------------------------------------------------------*/

/* Appends the features of part to those of out, for the same objects. */
static mcr_status append_side(mcr_features *out, int side, const mcr_features *part, int64_t before)
{
    int64_t n = out->objects[side];
    int64_t had = out->start[side][n], more = part->start[side][n];
    if (had + more == 0)
        return MCR_OK;
    mcr_status s = mcr_reserve(out->ctx, &out->index[side], &out->capacity[side][0], had + more,
                               sizeof(int32_t));
    if (!s)
        s = mcr_reserve(out->ctx, &out->value[side], &out->capacity[side][1], had + more,
                        sizeof(double));
    /* From the last object to the first: each moves up by the entries added before it. */
    for (int64_t i = n - 1; i >= 0 && !s; i--) {
        int64_t first = out->start[side][i], count = out->start[side][i + 1] - first;
        int64_t from = part->start[side][i], add = part->start[side][i + 1] - from;
        int32_t *index = out->index[side] + first + from;
        double *value = out->value[side] + first + from;
        if (count > 0) {
            memmove(index, out->index[side] + first, sizeof *index * (size_t)count);
            memmove(value, out->value[side] + first, sizeof *value * (size_t)count);
        }
        for (int64_t e = 0; e < add; e++) {
            index[count + e] = (int32_t)(before + part->index[side][from + e]);
            value[count + e] = part->value[side][from + e];
        }
        out->start[side][i + 1] += part->start[side][i + 1];
    }
    return s;
}

mcr_status mcr_features_append(mcr_features *out, const mcr_features *part)
{
    int64_t before = out->count;
    mcr_status s = mcr_features_resize(out, before + part->count);
    for (int side = 0; side < 2 && !s; side++) {
        out->rows[side] = out->objects[side];
        if (out->start[side])
            s = append_side(out, side, part, before);
    }
    for (int64_t i = 0; out->names && i < part->count && !s; i++) {
        mcr_text_string(&out->names->text, mcr_names_at(part->names, i));
        s = mcr_names_end(out->names);
    }
    return s;
}

/* Bytes of a name, on average. */
static double letters_of(const mcr_features *f)
{
    return f->count > 0 ? (double)f->names->text.length / (double)f->count : 0;
}

mcr_status mcr_features_expect_power(const mcr_features *f, int64_t degree)
{
    double entries = 0, d = (double)degree, all = f->count > 1 ? 2 : d; /* all powers up to it */
    double letters = f->names ? (letters_of(f) + 3) * d : 0;
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < f->objects[side]; i++)
            entries += fmax(1, pow((double)(f->start[side][i + 1] - f->start[side][i]), d));
    mcr_status s = mcr_features_expect(f, pow((double)f->count, d), entries, letters);
    return s ? s : allow_work(f, all * pow((double)f->count, d), all * entries, letters);
}

mcr_status mcr_features_expect_product(mcr_features *const *part, int parts)
{
    double count = 1, entries = 0, letters = 0;
    for (int p = 0; p < parts; p++) {
        count *= (double)part[p]->count;
        letters += part[p]->names ? letters_of(part[p]) + 3 : 0;
    }
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < part[0]->objects[side]; i++) {
            double all = 1;
            for (int p = 0; p < parts; p++)
                all *= (double)(part[p]->start[side][i + 1] - part[p]->start[side][i]);
            entries += all;
        }
    return mcr_features_expect(part[0], count, entries, letters);
}

static mcr_status multiply_names(mcr_features *out, const mcr_features *a, const mcr_features *b)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < a->count && !s; i++)
        for (int64_t j = 0; j < b->count && !s; j++) {
            const char *left = mcr_names_at(a->names, i), *right = mcr_names_at(b->names, j);
            mcr_text_format(&out->names->text, "%s%s%s", left, *left && *right ? " * " : "", right);
            s = mcr_names_end(out->names);
        }
    return s;
}

/* Reserves memory for the products of all features of a and b, if the limits allow them. */
static mcr_status open_product(mcr_features *out, const mcr_features *a, const mcr_features *b)
{
    double entries[2] = {0, 0}, letters = out->names ? letters_of(a) + letters_of(b) + 3 : 0;
    mcr_status s = a->count > INT32_MAX / (b->count > 0 ? b->count : 1)
                       ? mcr_fail(out->ctx, MCR_BAD_DATA,
                                  "the product has %lld x %lld features, and %d are possible",
                                  (long long)a->count, (long long)b->count, INT32_MAX)
                       : mcr_features_resize(out, a->count * b->count);
    for (int side = 0; side < 2 && !s; side++)
        for (int64_t i = 0; i < out->objects[side]; i++)
            entries[side] += (double)(a->start[side][i + 1] - a->start[side][i]) *
                             (double)(b->start[side][i + 1] - b->start[side][i]);
    if (!s)
        s = mcr_features_expect(out, (double)out->count, entries[0] + entries[1], letters);
    for (int side = 0; side < 2 && !s && out->start[side]; side++) {
        s = mcr_reserve(out->ctx, &out->index[side], &out->capacity[side][0],
                        (int64_t)entries[side], sizeof(int32_t));
        if (!s)
            s = mcr_reserve(out->ctx, &out->value[side], &out->capacity[side][1],
                            (int64_t)entries[side], sizeof(double));
    }
    return s;
}

static mcr_status multiply(mcr_features *out, const mcr_features *a, const mcr_features *b)
{
    mcr_status s = open_product(out, a, b);
    for (int side = 0; side < 2 && !s; side++)
        for (int64_t i = 0; i < out->objects[side] && !s; i++) {
            for (int64_t p = a->start[side][i]; p < a->start[side][i + 1] && !s; p++)
                for (int64_t q = b->start[side][i]; q < b->start[side][i + 1] && !s; q++)
                    s = mcr_features_put(out, side,
                                         a->index[side][p] * b->count + b->index[side][q],
                                         a->value[side][p] * b->value[side][q]);
            mcr_features_next(out, side);
        }
    return s || !out->names ? s : multiply_names(out, a, b);
}

mcr_status mcr_features_times(mcr_features *f, const mcr_bound *bound, const mcr_features *by)
{
    mcr_features *product;
    mcr_status s = make(&product, bound);
    if (!s)
        s = mcr_part_done(f->ctx, "features", NAN, NAN);
    if (!s)
        s = multiply(product, f, by);
    if (!s)
        mcr_features_move(f, product);
    mcr_features_close(product);
    return s;
}

static void scale(mcr_features *f, int side, const double *factor)
{
    for (int64_t i = 0; i < f->objects[side]; i++)
        for (int64_t e = f->start[side][i]; e < f->start[side][i + 1]; e++)
            f->value[side][e] *= factor[i];
}

mcr_status mcr_features_scaled_child(const mcr_bound *bound, mcr_features *out,
                                     double *const factor[2])
{
    mcr_features *part;
    mcr_status s = mcr_features_of(&part, bound->child[0]);
    if (!s)
        mcr_features_move(out, part);
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        scale(out, side, factor[side]);
    mcr_features_close(part);
    return s;
}

mcr_status mcr_features_normalize(mcr_features *f, int side)
{
    double *factor = mcr_alloc(f->ctx, (size_t)f->objects[side], sizeof *factor);
    if (!factor)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < f->objects[side]; i++) {
        double square = 0;
        for (int64_t e = f->start[side][i]; e < f->start[side][i + 1]; e++)
            square += f->value[side][e] * f->value[side][e];
        factor[i] = square > 0 ? 1 / sqrt(square) : 0;
    }
    scale(f, side, factor);
    mcr_free(f->ctx, factor);
    return MCR_OK;
}

/* ---- looking ----------------------------------------------------------------------------------*/

int64_t mcr_features_count(const mcr_features *f)
{
    return f->count;
}

int64_t mcr_features_objects(const mcr_features *f, int side)
{
    return f->objects[f->start[side] ? side : 0];
}

int64_t mcr_features_row(const mcr_features *f, int side, int64_t object, const int32_t **index,
                         const double **value)
{
    side = f->start[side] ? side : 0; /* both sides are the same */
    int64_t first = f->start[side][object];
    *index = f->index[side] ? f->index[side] + first : NULL;
    *value = f->value[side] ? f->value[side] + first : NULL;
    return f->start[side][object + 1] - first;
}

const char *mcr_features_name(const mcr_features *f, int64_t feature)
{
    const char *name = f->names ? mcr_names_at(f->names, feature) : NULL;
    return name && !*name ? "1" : name; /* the constant: an empty product */
}

mcr_status mcr_features_targets(mcr_builder *b, mcr *ctx, const mcr_data *like)
{
    int64_t n = mcr_data_count(like);
    mcr_status s = MCR_OK;
    if (mcr_data_target_kind(like) == MCR_WORD_TARGETS) {
        const char **word = mcr_alloc(ctx, (size_t)n, sizeof *word);
        for (int64_t i = 0; i < n && word; i++)
            word[i] = mcr_data_class_name(like, mcr_data_class_of(like)[i]);
        s = word ? mcr_builder_words(b, word) : MCR_NO_MEMORY;
        mcr_free(ctx, word);
    } else if (mcr_data_target_kind(like) != MCR_NO_TARGETS) {
        s = mcr_builder_targets(b, mcr_data_targets(like));
    }
    if (!s && mcr_data_weights(like))
        s = mcr_builder_weights(b, mcr_data_weights(like));
    return s;
}

static mcr_status name_columns(mcr_store *s, const mcr_features *f)
{
    s->column = mcr_alloc_zero(f->ctx, (size_t)s->cols, sizeof *s->column);
    mcr_status status = s->column ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < s->cols && !status; c++) {
        const char *name = c < f->count ? mcr_features_name(f, c) : NULL;
        if (!name)
            name = "none";
        if (!(s->column[c] = mcr_copy_text(f->ctx, name, strlen(name))))
            status = MCR_NO_MEMORY;
    }
    return status;
}

mcr_status mcr_features_data(mcr_data **out, const mcr_features *f, const mcr_data *like)
{
    mcr_builder *b = NULL;
    *out = NULL;
    if (mcr_data_count(like) != f->objects[0])
        return mcr_fail(f->ctx, MCR_BAD_CALL, "features: these data have %lld objects, not %lld",
                        (long long)mcr_data_count(like), (long long)f->objects[0]);
    mcr_status s = mcr_builder_open(&b, f->ctx, f->objects[0]);
    if (s)
        return s;
    s = mcr_builder_sparse(b, "features", f->count > 0 ? f->count : 1, f->start[0], f->index[0],
                           f->value[0]);
    if (!s)
        s = mcr_features_targets(b, f->ctx, like);
    s = mcr_builder_finish_filled(out, b, s);
    if (!s && f->names && (s = name_columns((*out)->store[0], f))) {
        mcr_data_free(*out);
        *out = NULL;
    }
    return s;
}
