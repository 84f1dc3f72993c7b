/* libsvm.c: model files of LIBSVM.
 *
 * LIBSVM lists its labels in an order of its own; for two classes a positive value means the first
 * of them, which becomes our class 1. For more classes its order is kept: votes are counted the
 * same way, ties included. Its probability coefficients are ignored: they can contradict the
 * decision, ours cannot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/foreign.h"

#include "kernel/select.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/stream.h"
#include "kernel/parts.h"
#include "model/fourier.h"

typedef mcr_foreign header;
typedef mcr_foreign_vectors vectors;

static const char *const type_name[] = {"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};
static const char *const kernel_name[] = {"linear", "polynomial", "rbf", "sigmoid", "precomputed"};

bool mcr_libsvm_recognise(const void *bytes, size_t count)
{
    static const char start[] = "svm_type ";
    return count >= sizeof start - 1 && memcmp(bytes, start, sizeof start - 1) == 0;
}

/* ---- reading: the header ----------------------------------------------------------------------*/

/* All numbers up to the end of the line. */
static mcr_status get_list(mcr_input *in, mcr *ctx, const char *p, const char *end, double **list,
                           int64_t *count)
{
    int64_t capacity = 0;
    mcr_free(ctx, *list);
    *list = NULL;
    *count = 0;
    for (;;) {
        while (p < end && *p == ' ')
            p++;
        if (p == end)
            return MCR_OK;
        mcr_status s = mcr_reserve(ctx, list, &capacity, *count + 1, sizeof **list);
        if (s)
            return s;
        p = mcr_parse_real(p, end, &(*list)[*count]);
        if (!p || !isfinite((*list)[*count]))
            return mcr_input_fail(in, "a number is expected here");
        ++*count;
    }
}

static int find_word(const char *const *words, int count, const char *p, const char *end)
{
    while (end > p && end[-1] == ' ')
        end--;
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == (size_t)(end - p) && memcmp(words[i], p, (size_t)(end - p)) == 0)
            return i;
    return -1;
}

static mcr_status header_line(header *h, mcr_input *in, mcr *ctx, const char *key, size_t length,
                              const char *p, const char *end)
{
    double *one = NULL;
    int64_t count = 0;
#define KEY(word) (length == sizeof(word) - 1 && memcmp(key, word, sizeof(word) - 1) == 0)
    if (KEY("svm_type")) {
        h->type = find_word(type_name, MCR_FOREIGN_LEARNERS, p, end);
        return h->type < 0 ? mcr_input_fail(in, "an svm_type that is not known") : MCR_OK;
    }
    if (KEY("kernel_type")) {
        h->kernel = find_word(kernel_name, MCR_FOREIGN_KERNELS, p, end);
        return h->kernel < 0 ? mcr_input_fail(in, "a kernel_type that is not known") : MCR_OK;
    }
    if (KEY("rho"))
        return get_list(in, ctx, p, end, &h->rho, &h->rhos);
    if (KEY("label"))
        return get_list(in, ctx, p, end, &h->label, &h->labels);
    if (KEY("nr_sv"))
        return get_list(in, ctx, p, end, &h->of_class, &h->of_classes);
    if (KEY("probA") || KEY("probB") || KEY("prob_density_marks")) {
        h->remark = "LIBSVM's probability coefficients are ignored";
        return MCR_OK;
    }
    mcr_status s = get_list(in, ctx, p, end, &one, &count);
    double value = count == 1 ? one[0] : NAN;
    mcr_free(ctx, one);
    if (s)
        return s;
    if (isnan(value))
        return mcr_input_fail(in, "one number is expected here");
    if (KEY("degree"))
        h->degree = value;
    else if (KEY("gamma"))
        h->gamma = value;
    else if (KEY("coef0"))
        h->coef0 = value;
    else if (KEY("nr_class") && value >= 1 && value <= 1e6 && value == floor(value))
        h->classes = (int64_t)value;
    else if (KEY("total_sv") && value >= 0 && value < 1e12 && value == floor(value))
        h->support = (int64_t)value;
    else
        return mcr_input_fail(in, "\"%.*s\" does not belong in a LIBSVM model", (int)length, key);
#undef KEY
    return MCR_OK;
}

static mcr_status check_header(const header *h, mcr_input *in)
{
    bool classify = h->type == 0 || h->type == 1;
    if (h->type < 0 || h->kernel < 0 || h->classes < 1 || h->support < 0 || h->rhos < 1)
        return mcr_input_fail(in, "the model's header is not complete");
    int64_t pairs = h->classes * (h->classes - 1) / 2;
    if (classify && (h->classes < 2 || h->rhos != pairs || h->labels != h->classes ||
                     h->of_classes != h->classes))
        return mcr_input_fail(in, "the model's numbers of classes, labels and rho do not fit");
    double sum = 0;
    for (int64_t c = 0; classify && c < h->classes; c++) {
        if (h->of_class[c] < 0 || h->of_class[c] != floor(h->of_class[c]))
            return mcr_input_fail(in, "nr_sv must be whole numbers");
        sum += h->of_class[c];
    }
    if (classify && sum != (double)h->support)
        return mcr_input_fail(in, "nr_sv and total_sv do not fit");
    for (int64_t c = 0; classify && c < h->classes; c++)
        for (int64_t t = 0; t < c; t++)
            if (h->label[c] == h->label[t])
                return mcr_input_fail(in, "a label occurs twice in the model's header");
    if (!classify && h->rhos != 1)
        return mcr_input_fail(in, "one rho is expected in such a model");
    if (h->kernel == MCR_FOREIGN_POLY &&
        !(h->degree >= 1 && h->degree <= 1000000 && h->degree == floor(h->degree)))
        return mcr_input_fail(in, "the degree of a polynomial must be a whole number from 1");
    return MCR_OK;
}

static mcr_status read_header(header *h, mcr_input *in, mcr *ctx)
{
    for (;;) {
        const char *line;
        size_t length;
        mcr_status s = mcr_input_line(in, &line, &length);
        if (s)
            return s;
        if (!line)
            return mcr_input_fail(in, "the model ends before its support vectors");
        const char *end = line + length, *space = memchr(line, ' ', length);
        if (length >= 2 && memcmp(line, "SV", 2) == 0 && (length == 2 || line[2] == ' '))
            return check_header(h, in);
        if (!space)
            return mcr_input_fail(in, "a name and a value are expected here");
        s = header_line(h, in, ctx, line, (size_t)(space - line), space + 1, end);
        if (s)
            return s;
    }
}

/* ---- reading: the support vectors -------------------------------------------------------------*/

/* Index and value pairs after the coefficients; indices from 1 (precomputed: one pair 0:number). */
static mcr_status read_pairs(vectors *v, mcr_input *in, mcr *ctx, const char *p, const char *end,
                             bool precomputed)
{
    int64_t before = 0;
    while (p < end) {
        if (*p == ' ') {
            p++;
            continue;
        }
        int64_t index;
        double value;
        p = mcr_parse_int(p, end, &index);
        if (!p || p == end || *p != ':')
            return mcr_input_fail(in, "index:value is expected here");
        p = mcr_parse_real(p + 1, end, &value);
        if (!p || (p < end && *p != ' ') || !isfinite(value))
            return mcr_input_fail(in, "index:value is expected here");
        if (precomputed ? index != 0 || value < 1 || value != floor(value) || value > 1e12
                        : index <= before || index > INT32_MAX)
            return mcr_input_fail(in,
                                  "the indices must be ascending from 1 (precomputed: 0:number)");
        before = index;
        mcr_status s = mcr_reserve(ctx, &v->index, &v->index_capacity, v->entries + 1,
                                   sizeof *v->index);
        if (!s)
            s = mcr_reserve(ctx, &v->value, &v->value_capacity, v->entries + 1, sizeof *v->value);
        if (s)
            return s;
        v->index[v->entries] = (int32_t)(precomputed ? 0 : index - 1);
        v->value[v->entries++] = value;
        if (index > v->cols)
            v->cols = index;
    }
    v->start[v->rows] = v->entries;
    if (precomputed && v->entries != v->start[v->rows - 1] + 1)
        return mcr_input_fail(in,
                              "a support vector of a precomputed kernel has one number, 0:number");
    return MCR_OK;
}

static mcr_status read_vectors(vectors *v, const header *h, mcr_input *in, mcr *ctx)
{
    v->coefs = h->type < 2 ? h->classes - 1 : 1;
    /* Allocates only what the file can hold: row by row. */
    int64_t coef_capacity = 0, start_capacity = 0, coefs = 0;
    mcr_status s = mcr_reserve(ctx, &v->start, &start_capacity, 1, sizeof *v->start);
    if (s)
        return s;
    v->start[0] = 0;
    for (;;) {
        const char *line, *end;
        size_t length;
        if ((s = mcr_input_line(in, &line, &length)))
            return s;
        if (!line || length == 0)
            break;
        if (v->rows == h->support)
            return mcr_input_fail(in, "more support vectors than total_sv says");
        end = line + length;
        if ((s = mcr_reserve(ctx, &v->coef, &coef_capacity, coefs + v->coefs, sizeof *v->coef)) ||
            (s = mcr_reserve(ctx, &v->start, &start_capacity, v->rows + 2, sizeof *v->start)))
            return s;
        for (int64_t c = 0; c < v->coefs; c++) {
            while (line < end && *line == ' ')
                line++;
            line = mcr_parse_real(line, end, &v->coef[coefs]);
            if (!line || (line < end && *line != ' ') || !isfinite(v->coef[coefs]))
                return mcr_input_fail(in, "a coefficient is expected here");
            coefs++;
        }
        v->rows++;
        if ((s = read_pairs(v, in, ctx, line, end, h->kernel == MCR_FOREIGN_PRECOMPUTED)))
            return s;
    }
    return v->rows == h->support ? MCR_OK
                                 : mcr_input_fail(in, "fewer support vectors than total_sv says");
}

static mcr_status make_model(mcr_model **out, mcr *ctx, const header *h, const vectors *v,
                             mcr_input *in)
{
    mcr_kernel *kernel = NULL;
    mcr_status s = mcr_foreign_kernel(&kernel, ctx, h);
    if (s == MCR_BAD_CALL)
        s = mcr_input_fail(in, "the kernel's parameters are not possible here (a polynomial needs "
                               "gamma > 0 and coef0 >= 0)");
    if (!s)
        s = mcr_foreign_model(out, ctx, kernel, h, v);
    mcr_kernel_free(kernel);
    return s;
}

mcr_status mcr_libsvm_read(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                           size_t count)
{
    *out = NULL;
    header h = {.type = -1, .kernel = -1, .degree = 3, .support = -1};
    vectors v = {0};
    mcr_input *in = NULL;
    mcr_status s = mcr_input_memory(&in, ctx, name, bytes, count);
    if (!s)
        s = read_header(&h, in, ctx);
    if (!s)
        s = read_vectors(&v, &h, in, ctx);
    if (!s)
        s = make_model(out, ctx, &h, &v, in);
    mcr_input_close(in);
    mcr_foreign_free(ctx, &h, &v);
    return s;
}

/* ---- writing ----------------------------------------------------------------------------------*/

static void put_number(mcr_text *t, const char *key, double value)
{
    mcr_text_format(t, "%s ", key);
    mcr_text_real(t, value);
    mcr_text_string(t, "\n");
}

static mcr_status put_kernel(mcr_text *t, mcr *ctx, const mcr_kernel *k)
{
    const char *name = k->type->name;
    if (strcmp(name, "linear") == 0 || strcmp(name, "precomputed") == 0) {
        mcr_text_format(t, "kernel_type %s\n", name);
    } else if (strcmp(name, "poly") == 0) {
        mcr_text_string(t, "kernel_type polynomial\n");
        put_number(t, "degree", mcr_kernel_number(k, "degree"));
        put_number(t, "gamma", mcr_kernel_number(k, "scale"));
        put_number(t, "coef0", mcr_kernel_number(k, "c"));
    } else if (strcmp(name, "rbf") == 0 && !isnan(mcr_kernel_number(k, "gamma"))) {
        mcr_text_string(t, "kernel_type rbf\n");
        put_number(t, "gamma", mcr_kernel_number(k, "gamma"));
    } else if (strcmp(name, "sigmoid") == 0) {
        mcr_text_string(t, "kernel_type sigmoid\n");
        put_number(t, "gamma", mcr_kernel_number(k, "a"));
        put_number(t, "coef0", mcr_kernel_number(k, "b"));
    } else {
        return mcr_fail(
            ctx, MCR_BAD_CALL,
            "LIBSVM has no kernel like %s; it has only linear, poly, rbf, sigmoid and precomputed",
            mcr_kernel_text(k));
    }
    return MCR_OK;
}

static void put_object(mcr_text *t, const mcr_field *f, int64_t i)
{
    const mcr_store *s = f->store;
    int64_t r = mcr_field_at(f, i);
    if (s->kind == MCR_PRECOMPUTED) {
        mcr_text_format(t, " 0:%lld", (long long)(s->id ? s->id[r] : r) + 1);
        return;
    }
    mcr_vector x = mcr_store_vector(s, r);
    for (int64_t e = 0; e < x.count; e++) {
        double value = mcr_vector_value(&x, e);
        if (value == 0)
            continue;
        mcr_text_format(t, " %lld:", (long long)mcr_vector_column(&x, e) + 1);
        mcr_text_real(t, value);
    }
}

static int type_of(const mcr_model *m)
{
    for (int i = 0; i < MCR_FOREIGN_LEARNERS; i++)
        if (strcmp(m->learner, mcr_foreign_learner[i]) == 0)
            return i;
    return -1;
}

/* One line per object: its coefficients, then its values. */
static void put_rows(mcr_text *t, const mcr_fitted *f, const mcr_field *field, int only)
{
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *s = &f->segment[g];
        for (int64_t i = 0; i < s->count; i++) {
            if (only && (s->coef[i] > 0) != (only > 0))
                continue;
            for (int64_t o = 0; o < s->outputs; o++) {
                mcr_text_string(t, o ? " " : "");
                mcr_text_real(t, s->coef[o * s->count + i]);
            }
            put_object(t, field, s->first + i);
            mcr_text_string(t, "\n");
        }
    }
}

static mcr_status put_labels(mcr_text *t, mcr *ctx, const mcr_model *m)
{
    mcr_text_string(t, "label");
    for (int64_t c = 0; c < m->classes; c++) {
        double value = m->class_value[m->classes == 2 ? 1 - c : c];
        if (!(value == floor(value)) || fabs(value) > INT32_MAX)
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "LIBSVM's labels are whole numbers; \"%s\" is not one",
                            m->class_name[m->classes == 2 ? 1 - c : c]);
        mcr_text_format(t, " %ld", (long)value);
    }
    mcr_text_string(t, "\n");
    return MCR_OK;
}

static void put_counts(mcr_text *t, const mcr_fitted *f)
{
    mcr_text_string(t, "nr_sv");
    if (f->rule == MCR_RULE_BINARY) {
        int64_t positive = 0;
        for (int64_t i = 0; i < f->basis; i++)
            positive += f->segment[0].coef[i] > 0;
        mcr_text_format(t, " %lld %lld", (long long)positive, (long long)(f->basis - positive));
    } else {
        for (int64_t g = 0; g < f->segments; g++)
            mcr_text_format(t, " %lld", (long long)f->segment[g].count);
    }
    mcr_text_string(t, "\n");
}

bool mcr_segments_are_libsvm(const mcr_fitted *f)
{
    bool many = f->rule == MCR_RULE_PAIRS;
    int64_t k = f->classes;
    if (f->rule == MCR_RULE_LARGEST || f->segments != (many ? k : 1))
        return false;
    for (int64_t c = 0; c < f->segments; c++) {
        const mcr_segment *s = &f->segment[c];
        if (s->outputs != (many ? k - 1 : 1))
            return false;
        for (int64_t t = 0; t < k - 1 && many; t++)
            if (s->output[t] != (t < c ? mcr_pair_output(k, t, c) : mcr_pair_output(k, c, t + 1)))
                return false;
    }
    return true;
}

static mcr_status put_model(mcr_text *t, mcr *ctx, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    int type = type_of(m);
    if (mcr_fourier_is(f))
        return mcr_advise(
            ctx,
            mcr_fail(
                ctx, MCR_BAD_CALL,
                "LIBSVM has no models on random Fourier features: use the approximation nystrom"),
            "option approx=nystrom");
    if (type < 0 || !mcr_segments_are_libsvm(f))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "LIBSVM has no such model (%s%s); it has svm, nu-svm (one-vs-one), "
                        "one-class, svr and nu-svr",
                        m->learner, f->rule == MCR_RULE_LARGEST ? " one-vs-rest" : "");
    if (m->scaling && m->scaling->fields > 0)
        return mcr_advise(ctx,
                          mcr_fail(ctx, MCR_BAD_CALL,
                                   "LIBSVM's models do not scale: scale the data first "
                                   "(svm-scale), and train without the option scale"),
                          "option scale=none");
    mcr_text_format(t, "svm_type %s\n", type_name[type]);
    mcr_status s = mcr_selects(m->kernel, m->basis)
                       ? mcr_fail(ctx, MCR_BAD_CALL,
                                  "LIBSVM has no kernel like %s: its kernels read all features",
                                  mcr_kernel_text(m->kernel))
                       : put_kernel(t, ctx, m->kernel);
    if (s)
        return s;
    mcr_text_format(t, "nr_class %lld\ntotal_sv %lld\nrho",
                    (long long)(m->classes ? m->classes : 2), (long long)f->basis);
    for (int64_t o = 0; o < f->outputs; o++) {
        mcr_text_string(t, " ");
        mcr_text_real(t, -f->offset[o]);
    }
    mcr_text_string(t, "\n");
    if (m->classes) {
        if ((s = put_labels(t, ctx, m)))
            return s;
        put_counts(t, f);
    }
    mcr_text_string(t, "SV\n");
    mcr_field field = mcr_data_field(m->basis, 0);
    if (mcr_data_fields(m->basis) != 1)
        return mcr_fail(ctx, MCR_BAD_CALL, "LIBSVM's objects have one field, these have %lld",
                        (long long)mcr_data_fields(m->basis));
    if (f->rule == MCR_RULE_BINARY) {
        put_rows(t, f, &field, 1);
        put_rows(t, f, &field, -1);
    } else {
        put_rows(t, f, &field, 0);
    }
    return t->status;
}

mcr_status mcr_model_save_libsvm(mcr *ctx, const mcr_model *m, const char *path)
{
    mcr_text t;
    mcr_text_init(&t, ctx);
    mcr_status s = put_model(&t, ctx, m);
    if (!s)
        s = mcr_text_save(&t, path);
    mcr_text_free(&t);
    return s;
}
