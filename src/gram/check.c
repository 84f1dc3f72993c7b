/* check.c: is it a kernel? The closure rules first, then the data.
 *
 * On data a matrix G counts as not positive semidefinite when t'Gt < -bound for a unit vector t,
 * with bound = n eps max(8 |G_ii|, |eigenvalues|) allowing for the rounding of G and of the
 * eigensolver, whose errors are relative to the largest eigenvalue. The counter-example is made
 * small: one object with G_ii < 0; two that violate Cauchy-Schwarz; else the objects with the
 * largest entries of the eigenvector, dropped one by one as long as t'Gt stays negative. For many
 * objects the smallest eigenvalue is computed by the Lanczos method, and a Cholesky factor of G +
 * bound I proves that none is below -bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/gram.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "linalg/lapack.h"
#include "linalg/smallest.h"

enum {
    DEFAULT_OBJECTS = 500,
    MADE_OBJECTS = 60,
    SHOWN_VALUES = 6,
    SHOWN_BYTES = 40,
    MANY_OBJECTS = 512,
    LINE_OBJECTS = 40
};

typedef struct trial {
    mcr *ctx;
    mcr_check_report *report;
    const mcr_data *data;
    int64_t n;
    int64_t *object; /* numbers of the tested objects in data */
    double *g, *work, *value;
    double bound;
} trial;

/* ---- counter-examples -------------------------------------------------------------------------*/

/* Smallest eigenvalue of G on the objects in `pick`, and its unit vector, by LAPACK. *size (may be
 * NULL): the largest absolute eigenvalue. */
static mcr_status smallest(trial *t, const int64_t *pick, int64_t count, double *value,
                           double *vector, double *size)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            t->work[i * count + j] = t->g[pick[i] * t->n + pick[j]];
    mcr_status s = mcr_blas_eigen(t->ctx, count, t->work, count, true, t->value);
    if (s)
        return s;
    *value = t->value[0];
    memcpy(vector, t->work, sizeof(double) * (size_t)count);
    if (size)
        *size = fmax(fabs(t->value[0]), fabs(t->value[count - 1]));
    return MCR_OK;
}

/* The smallest eigenvalue of G, its unit vector, and the bound; if computing all eigenvalues would
 * take long, a sum of absolute values bounds them. */
static mcr_status smallest_of_all(trial *t, const int64_t *all, double *value, double *vector)
{
    double size = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < t->n; j++)
            sum += fabs(t->g[i * t->n + j]);
        size = fmax(size, sum);
    }
    /* Squares must not overflow. */
    bool many = t->n > MANY_OBJECTS && size > 1e-100 && size < 1e100;
    mcr_status s = many ? MCR_OK : smallest(t, all, t->n, value, vector, &size);
    t->bound = fmax(t->bound, (double)t->n * DBL_EPSILON * size);
    if (many) {
        mcr_smallest found;
        s = mcr_smallest_eigen(t->ctx, t->n, t->g, t->bound, t->work, vector, &found);
        *value = found.value;
    }
    return s;
}

static void show_vector(mcr_text *to, const double *x, int64_t cols)
{
    mcr_text_string(to, "(");
    for (int64_t k = 0; k < cols && k < SHOWN_VALUES; k++) {
        mcr_text_string(to, k ? ", " : "");
        mcr_text_real(to, x[k]);
    }
    mcr_text_string(to, cols > SHOWN_VALUES ? ", ...)" : ")");
}

static mcr_status show_field(trial *t, int64_t field, int64_t i, mcr_text *to)
{
    mcr_field_info info = MCR_INIT(mcr_field_info);
    mcr_status s = mcr_data_field_info(t->data, field, &info);
    if (s)
        return s;
    mcr_field f = mcr_data_field(t->data, field);
    int64_t at = mcr_field_at(&f, i);
    mcr_text_format(to, "%s%s = ", to->length ? ", " : "", info.name);
    if (info.kind & (MCR_DENSE | MCR_SPARSE)) {
        double *x = mcr_alloc(t->ctx, (size_t)info.cols, sizeof *x);
        if (!x)
            return MCR_NO_MEMORY;
        s = mcr_data_vector(t->data, field, i, x);
        if (!s)
            show_vector(to, x, info.cols);
        mcr_free(t->ctx, x);
    } else if (info.kind == MCR_STRINGS) {
        const char *bytes;
        int64_t length;
        s = mcr_data_string(t->data, field, i, &bytes, &length);
        mcr_text_string(to, "\"");
        for (int64_t b = 0; b < length && b < SHOWN_BYTES && !s; b++) {
            unsigned char c = (unsigned char)bytes[b];
            mcr_text_add(to, c < 32 || c == 127 || c == '"' ? "?" : bytes + b, 1);
        }
        mcr_text_string(to, length > SHOWN_BYTES ? "...\"" : "\"");
    } else if (info.kind == MCR_GRAPHS) {
        const mcr_store *st = f.store;
        mcr_text_format(to, "a graph of %lld nodes and %lld edge ends",
                        (long long)(st->start[at + 1] - st->start[at]),
                        (long long)(st->link[st->start[at + 1]] - st->link[st->start[at]]));
    } else {
        mcr_text_format(to, "row %lld", (long long)at + 1);
    }
    return s;
}

static mcr_status show_object(trial *t, int64_t i, char **out)
{
    mcr_text text;
    mcr_text_init(&text, t->ctx);
    mcr_status s = MCR_OK;
    for (int64_t f = 0; f < mcr_data_fields(t->data) && !s; f++)
        s = show_field(t, f, i, &text);
    if (!s)
        s = text.status;
    if (!s && !(*out = mcr_copy_text(t->ctx, text.bytes ? text.bytes : "", (size_t)text.length)))
        s = MCR_NO_MEMORY;
    mcr_text_free(&text);
    return s;
}

/* Writes the counter-example on `pick` with vector v into the report. */
static mcr_status keep(trial *t, const int64_t *pick, int64_t count, const double *v)
{
    mcr_check_report *r = t->report;
    size_t m = (size_t)count;
    r->object = mcr_alloc(t->ctx, m, sizeof *r->object);
    r->gram = mcr_alloc(t->ctx, (uint64_t)m * m, sizeof *r->gram);
    r->t = mcr_alloc(t->ctx, m, sizeof *r->t);
    r->shown = mcr_alloc_zero(t->ctx, m, sizeof *r->shown);
    if (!r->object || !r->gram || !r->t || !r->shown)
        return MCR_NO_MEMORY;
    r->objects = count;
    r->value = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < count && !s; i++) {
        r->object[i] = t->object[pick[i]];
        r->t[i] = v[i];
        for (int64_t j = 0; j < count; j++) {
            r->gram[i * count + j] = t->g[pick[i] * t->n + pick[j]];
            r->value += v[i] * v[j] * r->gram[i * count + j];
        }
        s = show_object(t, r->object[i], &r->shown[i]);
    }
    return s;
}

static mcr_status one_object(trial *t, bool *found)
{
    int64_t worst = 0;
    for (int64_t i = 1; i < t->n; i++)
        if (t->g[i * t->n + i] < t->g[worst * t->n + worst])
            worst = i;
    *found = t->g[worst * t->n + worst] < -t->bound;
    return *found ? keep(t, &worst, 1, &(double){1}) : MCR_OK;
}

/* The pair whose 2 x 2 matrix has the most negative eigenvalue. */
static mcr_status two_objects(trial *t, bool *found)
{
    int64_t pick[2] = {0, 0};
    double lowest = -t->bound, vector[2];
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double a = t->g[i * t->n + i], b = t->g[j * t->n + j], c = t->g[i * t->n + j];
            double low = 0.5 * (a + b) - hypot(0.5 * (a - b), c);
            if (low < lowest) {
                lowest = low;
                pick[0] = j;
                pick[1] = i;
            }
        }
    *found = pick[1] > pick[0];
    if (!*found)
        return MCR_OK;
    mcr_status s = smallest(t, pick, 2, &lowest, vector, NULL);
    return s ? s : keep(t, pick, 2, vector);
}

/* Whether G on the objects has an eigenvalue below -4 bound, by a Cholesky factorisation, which is
 * much faster than eigenvalues. *first: the smallest number of leading objects that show it. */
static mcr_status has_negative(trial *t, const int64_t *pick, int64_t count, bool *negative,
                               int64_t *first)
{
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j <= i; j++)
            t->work[i * count + j] = t->g[pick[i] * t->n + pick[j]];
        t->work[i * count + i] += 4 * t->bound;
    }
    *first = count;
    mcr_status s = mcr_lapack_cholesky(t->ctx, count, t->work, count, NULL, first);
    *negative = s == MCR_NUMERIC;
    return *negative ? MCR_OK : s;
}

/* Drops objects that are not needed for a negative value: halves, quarters and so on, finally
 * single ones, for at most some seconds. */
static mcr_status drop_needless(trial *t, int64_t *pick, int64_t *count, int64_t *saved)
{
    static const double most_work = 4e9;
    double work = 0;
    mcr_status s = MCR_OK;
    for (int64_t part = *count / 2; part >= 1 && work < most_work && !s; part /= 2)
        for (int64_t end = *count; end > 0 && *count > 3 && work < most_work && !s; end -= part) {
            int64_t begin = end > part ? end - part : 0, gone = end - begin, first;
            bool negative = false;
            if (*count - gone < 3)
                continue;
            memcpy(saved, pick, sizeof *pick * (size_t)*count);
            memmove(pick + begin, pick + end, sizeof *pick * (size_t)(*count - end));
            work += pow((double)(*count - gone), 3) / 3 + 1e4;
            s = has_negative(t, pick, *count - gone, &negative, &first);
            if (negative)
                *count = first;
            else
                memcpy(pick, saved, sizeof *pick * (size_t)*count);
            end = end > *count + part ? *count + part : end;
        }
    return s;
}

/* Adds objects in the order of their weight in the eigenvector until a negative value appears, then
 * drops those that are not needed. */
static mcr_status few_objects(trial *t, const double *eigenvector)
{
    int64_t n = t->n, count = n;
    mcr_ranked *order = mcr_alloc(t->ctx, (size_t)n, sizeof *order);
    int64_t *pick = mcr_alloc(t->ctx, 2 * (uint64_t)n, sizeof *pick);
    double *v = mcr_alloc(t->ctx, (size_t)n, sizeof *v), value = 0;
    bool negative = false;
    mcr_status s = order && pick && v ? MCR_OK : MCR_NO_MEMORY;
    if (s)
        goto done;
    for (int64_t i = 0; i < n; i++)
        order[i] = (mcr_ranked){fabs(eigenvector[i]), i};
    qsort(order, (size_t)n, sizeof *order, mcr_ranked_falling);
    for (int64_t i = 0; i < n; i++)
        pick[i] = order[i].number;
    s = has_negative(t, pick, n, &negative, &count);
    if (!s && negative && count <= MANY_OBJECTS) {
        s = drop_needless(t, pick, &count, pick + n);
        if (!s)
            s = smallest(t, pick, count, &value, v, NULL);
    }
    /* Very many are needed, or the eigenvalue is too close to 0 for fewer than all. */
    if (!s && !(value < -t->bound)) {
        count = n;
        for (int64_t i = 0; i < n; i++)
            pick[i] = i;
        memcpy(v, eigenvector, sizeof *v * (size_t)n);
    }
    if (!s)
        s = keep(t, pick, count, v);
done:
    mcr_free_all(t->ctx, order, pick, v);
    return s;
}

/* ---- the data test ----------------------------------------------------------------------------*/

/* NULL: symmetric and finite; else what is wrong. Makes G symmetric within rounding. */
static const char *look(trial *t, int64_t where[2])
{
    double most = 0;
    for (int64_t i = 0; i < t->n; i++)
        most = fmax(most, fabs(t->g[i * t->n + i]));
    t->bound = 8 * (double)t->n * DBL_EPSILON * most;
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double a = t->g[i * t->n + j], b = t->g[j * t->n + i];
            where[0] = i;
            where[1] = j;
            if (!isfinite(a) || !isfinite(b))
                return "is not finite";
            if (fabs(a - b) > 64 * DBL_EPSILON * fmax(fabs(a), fmax(fabs(b), most)))
                return "is not symmetric";
        }
    return NULL;
}

static mcr_status evaluate(trial *t, mcr_text *reason, bool *broken)
{
    int64_t where[2];
    const char *odd = look(t, where);
    if (odd) {
        *broken = true;
        mcr_text_format(reason, "K %s: objects %lld and %lld give ", odd,
                        (long long)t->object[where[0]] + 1, (long long)t->object[where[1]] + 1);
        mcr_text_real(reason, t->g[where[0] * t->n + where[1]]);
        mcr_text_string(reason, " and ");
        mcr_text_real(reason, t->g[where[1] * t->n + where[0]]);
        return MCR_OK;
    }
    double *vector = mcr_alloc(t->ctx, (size_t)t->n, sizeof *vector);
    int64_t *all = mcr_alloc(t->ctx, (size_t)t->n, sizeof *all);
    mcr_status s = vector && all ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < t->n && !s; i++)
        all[i] = i;
    if (!s)
        s = smallest_of_all(t, all, &t->report->min_eigenvalue, vector);
    t->report->bound = t->bound;
    bool found = false;
    if (!s)
        s = one_object(t, &found);
    if (!s && found)
        mcr_text_string(reason, "one object has K(x,x) < 0");
    if (!s && !found) {
        s = two_objects(t, &found);
        if (!s && found)
            mcr_text_string(reason, "two objects break K(x,z)^2 <= K(x,x) K(z,z)");
    }
    if (!s && !found && t->report->min_eigenvalue < -t->bound) {
        found = true;
        s = few_objects(t, vector);
        if (!s)
            mcr_text_format(reason, "%lld objects have a Gram matrix with a negative eigenvalue",
                            (long long)t->report->objects);
    }
    *broken = found;
    mcr_free_all(t->ctx, vector, all);
    return s;
}

/* Tests up to `most` objects, spread evenly over the data. */
static mcr_status test_data(mcr *ctx, mcr_check_report *r, const mcr_kernel *kernel,
                            const mcr_data *data, int64_t most, mcr_text *reason, bool *broken)
{
    int64_t total = mcr_data_count(data);
    if (total == 0)
        return mcr_fail(ctx, MCR_BAD_DATA, "check: the data have no objects");
    trial t = {.ctx = ctx, .report = r, .data = data, .n = total < most ? total : most};
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, ctx, kernel, data, NULL);
    if (s)
        goto done;
    size_t n = (size_t)t.n;
    if (!mcr_alloc_arrays(ctx, MCR_ARRAY(t.object, n), /* the block to free */
                          MCR_ARRAY(t.g, (uint64_t)n * n), MCR_ARRAY(t.work, (uint64_t)n * n),
                          MCR_ARRAY(t.value, n))) {
        s = MCR_NO_MEMORY;
        goto done;
    }
    for (int64_t i = 0; i < t.n; i++)
        t.object[i] = t.n == total ? i : (int64_t)((double)i * (double)total / (double)t.n);
    mcr_rows rows = {t.object, 0, t.n};
    s = mcr_gram_block(gram, rows, rows, t.g, t.n);
    if (!s)
        s = evaluate(&t, reason, broken);
    if (!s)
        r->tested = t.n;
done:
    mcr_gram_close(gram);
    mcr_free(ctx, t.object);
    return s;
}

/* Points on a line, `step` apart, in a field "x" of one feature: the best test for functions of the
 * inner product or of the distance that are not kernels. */
static mcr_status make_line(mcr_data **out, mcr *ctx, double step)
{
    double x[LINE_OBJECTS];
    mcr_builder *builder = NULL;
    for (int i = 0; i < LINE_OBJECTS; i++)
        x[i] = (i - (LINE_OBJECTS - 1) * 0.5) * step;
    *out = NULL;
    mcr_status s = mcr_builder_open(&builder, ctx, LINE_OBJECTS);
    if (s)
        return s;
    if ((s = mcr_builder_dense(builder, "x", x, 1, 1))) {
        mcr_builder_close(builder);
        return s;
    }
    return mcr_builder_finish(out, builder);
}

static mcr_status test_lines(mcr *ctx, mcr_check_report *r, const mcr_kernel *kernel,
                             mcr_text *reason, bool *broken)
{
    static const double step[] = {0.05, 0.3, 1, 4};
    mcr_status s = MCR_OK;
    for (size_t t = 0; t < sizeof step / sizeof *step && !s && !*broken; t++) {
        mcr_check_report before = *r;
        mcr_data *line = NULL;
        s = make_line(&line, ctx, step[t]);
        if (!s)
            s = test_data(ctx, r, kernel, line, LINE_OBJECTS, reason, broken);
        mcr_data_free(line);
        if (s == MCR_BAD_CALL || s == MCR_BAD_DATA || s == MCR_NUMERIC)
            s = MCR_OK;
        if (!*broken)
            *r = before;
    }
    return s;
}

/* Without data: small synthetic data with one field of each kind. An expression that does not fit
 * them is left to the rules. */
static mcr_status test_made(mcr *ctx, mcr_check_report *r, const mcr_kernel *kernel,
                            mcr_text *reason, bool *broken)
{
    mcr_data *made = NULL;
    mcr_status s = mcr_data_sample(&made, ctx, "mixed", MADE_OBJECTS, -1);
    if (!s)
        s = test_data(ctx, r, kernel, made, MADE_OBJECTS, reason, broken);
    mcr_data_free(made);
    if (s == MCR_BAD_CALL || s == MCR_BAD_DATA || s == MCR_NUMERIC)
        s = MCR_OK;
    return s || *broken ? s : test_lines(ctx, r, kernel, reason, broken);
}

/* ---- the verdict ------------------------------------------------------------------------------*/

static mcr_status split_rules(mcr *ctx, mcr_check_report *r, const mcr_text *rules)
{
    const char *p = rules->bytes, *end = p + rules->length;
    int64_t lines = 0;
    for (const char *q = p; q < end; q++)
        lines += *q == '\n';
    r->rule = mcr_alloc_zero(ctx, (size_t)lines, sizeof *r->rule);
    if (!r->rule)
        return MCR_NO_MEMORY;
    for (; r->rules < lines; r->rules++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!(r->rule[r->rules] = mcr_copy_text(ctx, p, (size_t)(stop - p))))
            return MCR_NO_MEMORY;
        p = stop + 1;
    }
    return MCR_OK;
}

static void conclude(mcr_check_report *r, mcr_definite by_rules, bool broken, bool given,
                     mcr_text *reason)
{
    if (broken) {
        r->valid = MCR_VALID_NO;
    } else if (by_rules == MCR_PSD) {
        r->valid = MCR_VALID_YES;
        mcr_text_string(reason, "the closure rules make it a kernel");
        if (given)
            mcr_text_format(reason, ", and %lld objects agree", (long long)r->tested);
    } else if (by_rules == MCR_NSD || by_rules == MCR_INDEFINITE) {
        r->valid = MCR_VALID_NO;
        mcr_text_string(reason, "the closure rules exclude it");
    } else {
        r->valid = MCR_VALID_UNKNOWN;
        mcr_text_string(reason, "the closure rules do not decide");
        if (r->tested)
            mcr_text_format(reason, ", and %lld objects%s give no counter-example",
                            (long long)r->tested, given ? "" : " made at random");
    }
}

mcr_status mcr_kernel_check(mcr_check_report **out, mcr *ctx, const mcr_kernel *kernel,
                            const mcr_data *data, int64_t max_objects)
{
    *out = NULL;
    mcr_text rules, reason;
    mcr_text_init(&rules, ctx);
    mcr_text_init(&reason, ctx);
    bool broken = false;
    mcr_status s = MCR_NO_MEMORY;
    mcr_check_report *r = mcr_alloc_zero(ctx, 1, sizeof *r);
    if (!r)
        goto done;
    r->size = sizeof *r;
    r->min_eigenvalue = r->bound = NAN;
    mcr_definite by_rules = mcr_kernel_definite(kernel, &rules);
    s = rules.status ? rules.status : split_rules(ctx, r, &rules);
    if (!s && data)
        s = test_data(ctx, r, kernel, data, max_objects > 0 ? max_objects : DEFAULT_OBJECTS,
                      &reason, &broken);
    else if (!s && by_rules != MCR_PSD)
        s = test_made(ctx, r, kernel, &reason, &broken);
    if (s)
        goto done;
    conclude(r, by_rules, broken, data != NULL, &reason);
    s = reason.status;
    if (!s && !(r->reason = mcr_copy_text(ctx, reason.bytes, (size_t)reason.length)))
        s = MCR_NO_MEMORY;
done:
    mcr_text_free(&rules);
    mcr_text_free(&reason);
    if (s)
        mcr_check_free(ctx, r);
    else
        *out = r;
    return s;
}

void mcr_check_free(mcr *ctx, mcr_check_report *r)
{
    if (!r)
        return;
    mcr_free_each(ctx, r->rule, r->rules);
    mcr_free_each(ctx, r->shown, r->objects);
    mcr_free_all(ctx, r->reason, r->object, r->gram, r->t, r);
}
