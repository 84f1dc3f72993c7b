/* foreign.c: support vector machines of other programs as models.
 *
 * For two classes a positive value means the first of a file's classes, which becomes our class 1.
 * For more classes the file's order is kept: votes are counted the same way, ties included.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/foreign.h"

#include <string.h>

#include "base/number.h"
#include "base/stream.h"

const char *const mcr_foreign_learner[] = {"svm", "nu-svm", "one-class", "svr", "nu-svr"};

void mcr_foreign_free(mcr *ctx, mcr_foreign *h, mcr_foreign_vectors *v)
{
    mcr_free_each(ctx, h->name, h->names);
    mcr_free_all(ctx, h->rho, h->label, h->of_class);
    mcr_scaling_free(h->scaling);
    mcr_free_all(ctx, v->coef, v->start, v->index, v->value, v->dense);
}

mcr_status mcr_foreign_kernel(mcr_kernel **out, mcr *ctx, const mcr_foreign *h)
{
    mcr_text t;
    mcr_text_init(&t, ctx);
    if (h->kernel == MCR_FOREIGN_POLY) {
        mcr_text_format(&t, "poly(degree=%d,c=", (int)h->degree);
        mcr_text_real(&t, h->coef0);
        mcr_text_string(&t, ",scale=");
        mcr_text_real(&t, h->gamma);
    } else if (h->kernel == MCR_FOREIGN_RBF) {
        mcr_text_string(&t, "rbf(gamma=");
        mcr_text_real(&t, h->gamma);
    } else if (h->kernel == MCR_FOREIGN_SIGMOID) {
        mcr_text_string(&t, "sigmoid(a=");
        mcr_text_real(&t, h->gamma);
        mcr_text_string(&t, ",b=");
        mcr_text_real(&t, h->coef0);
    } else {
        mcr_text_string(&t, h->kernel == MCR_FOREIGN_LINEAR ? "linear(" : "precomputed(");
    }
    mcr_text_string(&t, ")");
    mcr_status s = t.status ? t.status : mcr_kernel_parse(out, ctx, t.bytes);
    mcr_text_free(&t);
    return s;
}

static mcr_status make_basis(mcr_data **out, mcr *ctx, const mcr_foreign_vectors *v,
                             const mcr_foreign *h)
{
    mcr_builder *b = NULL;
    mcr_status s = mcr_builder_open(&b, ctx, v->rows);
    if (s)
        return s;
    if (h->kernel == MCR_FOREIGN_PRECOMPUTED) {
        int64_t *id = mcr_alloc(ctx, (size_t)v->rows, sizeof *id);
        for (int64_t i = 0; id && i < v->rows; i++)
            id[i] = v->start[i] < v->start[i + 1] ? (int64_t)v->value[v->start[i]] - 1 : -1;
        s = id ? mcr_builder_precomputed(b, "k", NULL, 0, id) : MCR_NO_MEMORY;
        mcr_free(ctx, id);
    } else if (v->dense) {
        s = mcr_builder_dense(b, "x", v->dense, v->cols, v->cols);
    } else {
        int32_t none_index = 0;
        double none_value = 0;
        s = mcr_builder_sparse(b, "x", v->cols ? v->cols : 1, v->start,
                               v->index ? v->index : &none_index,
                               v->value ? v->value : &none_value);
    }
    return mcr_builder_finish_filled(out, b, s);
}

/* Coefficients of rows first .. first+count-1, column t of each, output by output. */
static mcr_status add_rows(mcr_fitted *f, const mcr_foreign_vectors *v, int64_t first,
                           int64_t count, const int32_t *output, int64_t outputs)
{
    mcr *ctx = f->ctx;
    mcr_segment s = {first, count, outputs, mcr_alloc(ctx, (size_t)outputs, sizeof *s.output),
                     mcr_alloc(ctx, (uint64_t)outputs * (uint64_t)count, sizeof *s.coef)};
    f->segment[f->segments++] = s;
    if (!s.output || !s.coef)
        return MCR_NO_MEMORY;
    memcpy(s.output, output, sizeof *output * (size_t)outputs);
    for (int64_t t = 0; t < outputs; t++)
        for (int64_t i = 0; i < count; i++)
            s.coef[t * count + i] = v->coef[(first + i) * v->coefs + t];
    return MCR_OK;
}

static mcr_status add_classes(mcr_fitted *f, const mcr_foreign_vectors *v, const mcr_foreign *h)
{
    int64_t k = h->classes, first = 0;
    int32_t *output = mcr_alloc(f->ctx, (size_t)k, sizeof *output);
    mcr_status s = output ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < k && !s; c++) {
        for (int64_t t = 0; t < k - 1; t++)
            output[t] = (int32_t)(t < c ? mcr_pair_output(k, t, c) : mcr_pair_output(k, c, t + 1));
        s = add_rows(f, v, first, (int64_t)h->of_class[c], output, k - 1);
        first += (int64_t)h->of_class[c];
    }
    mcr_free(f->ctx, output);
    return s;
}

static mcr_status make_fitted(mcr_model *m, const mcr_foreign_vectors *v, const mcr_foreign *h)
{
    mcr *ctx = m->ctx;
    bool classify = h->type < 2, many = classify && h->classes > 2;
    mcr_status s = mcr_fitted_new(&m->fitted, ctx, h->rhos);
    if (s)
        return s;
    mcr_fitted *f = m->fitted;
    f->task = classify ? MCR_CLASSIFY : h->type == MCR_FOREIGN_ONE_CLASS ? MCR_DETECT : MCR_REGRESS;
    f->rule = many                    ? MCR_RULE_PAIRS
              : classify              ? MCR_RULE_BINARY
              : f->task == MCR_DETECT ? MCR_RULE_SIGN
                                      : MCR_RULE_VALUE;
    f->classes = classify ? h->classes : 0;
    f->basis = v->rows;
    f->object = mcr_alloc(ctx, (size_t)v->rows, sizeof *f->object);
    f->segment = mcr_alloc_zero(ctx, (size_t)h->classes + 1, sizeof *f->segment);
    if (!f->object || !f->segment)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < v->rows; i++)
        f->object[i] = -1;
    for (int64_t o = 0; o < h->rhos; o++)
        f->offset[o] = -h->rho[o];
    return many ? add_classes(f, v, h) : add_rows(f, v, 0, v->rows, &(int32_t){0}, 1);
}

static mcr_status name_classes(mcr_model *m, const mcr_foreign *h)
{
    int64_t k = h->classes;
    mcr_status s = MCR_NO_MEMORY;
    char(*text)[MCR_REAL_TEXT] = mcr_alloc(m->ctx, (size_t)k, sizeof *text);
    const char **name = mcr_alloc(m->ctx, (size_t)k, sizeof *name);
    if (text && name) {
        for (int64_t c = 0; c < k; c++) {
            int64_t from = k == 2 ? 1 - c : c;
            if (!h->name)
                mcr_print_real(text[c], h->label[from]);
            name[c] = h->name ? h->name[from] : text[c];
        }
        s = mcr_model_set_classes(m, name, k);
    }
    mcr_free_all(m->ctx, text, name);
    return s;
}

mcr_status mcr_foreign_model(mcr_model **out, mcr *ctx, const mcr_kernel *kernel,
                             const mcr_foreign *h, const mcr_foreign_vectors *v)
{
    mcr_model *m = NULL;
    mcr_status s = mcr_model_new(&m, ctx, kernel, mcr_foreign_learner[h->type], "");
    if (!s && h->type < MCR_FOREIGN_ONE_CLASS)
        s = name_classes(m, h);
    if (!s)
        s = make_fitted(m, v, h);
    if (!s && h->remark && !(m->fitted->remark = mcr_copy_text(ctx, h->remark, strlen(h->remark))))
        s = MCR_NO_MEMORY;
    if (!s && h->scaling)
        s = mcr_scaling_copy(&m->scaling, h->scaling);
    if (!s)
        s = make_basis(&m->basis, ctx, v, h);
    if (!s)
        s = mcr_model_complete(m);
    if (!s)
        m->report.features = v->cols;
    return mcr_model_give(out, m, s);
}
