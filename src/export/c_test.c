/* c_test.c: a test within the C file: a few objects with their expected results.
 *
 * The objects are midpoints of support vectors, or support strings, in the units of the input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "export/c_text.h"

enum { OBJECTS = 8 };

typedef struct trial {
    int64_t count;
    double *x;        /* count x inputs */
    int64_t *first;   /* which object of the basis it begins at, count */
    double *score;    /* count x outputs */
    double *value;    /* count */
    double tolerance; /* of the scores */
} trial;

/* ---- objects ----------------------------------------------------------------------------------*/

static double raw(const mcr_port *port, int64_t k, double scaled)
{
    const mcr_scaled_field *by = port->scaling;
    return !by ? scaled : by->factor[k] != 0 ? scaled / by->factor[k] + by->shift[k] : by->shift[k];
}

static mcr_status make_vectors(mcr_c_writer *w, trial *t)
{
    const mcr_portable *p = w->p;
    int64_t basis = mcr_data_count(p->model->basis);
    double *z = mcr_alloc(w->ctx, 2 * (uint64_t)p->inputs + 2, sizeof *z);
    mcr_status s = z ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < t->count && !s; i++) {
        t->first[i] = i * basis / t->count;
        for (int64_t f = 0; f < p->ports && !s; f++) {
            const mcr_port *port = &p->port[f];
            if (port->text)
                continue;
            s = mcr_data_vector(p->model->basis, port->number, t->first[i], z);
            if (!s)
                s = mcr_data_vector(p->model->basis, port->number, (t->first[i] + 1) % basis,
                                    z + p->inputs);
            for (int64_t k = 0; k < port->cols && !s; k++) {
                double x = raw(port, k, z[k] / 2 + z[p->inputs + k] / 2);
                t->x[i * p->inputs + port->first + k] = w->precise ? x : (double)(float)x;
            }
        }
    }
    mcr_free(w->ctx, z);
    return s;
}

static mcr_status add_strings(mcr_c_writer *w, mcr_builder *b, const mcr_port *port, const trial *t)
{
    mcr_text all;
    int64_t start[OBJECTS + 1];
    mcr_text_init(&all, w->ctx);
    for (int64_t i = 0; i < t->count; i++) {
        int64_t r = mcr_field_at(&port->field, t->first[i]);
        const mcr_store *s = port->field.store;
        start[i] = all.length;
        mcr_text_add(&all, s->bytes + s->start[r], (size_t)(s->start[r + 1] - s->start[r]));
    }
    start[t->count] = all.length;
    mcr_status s = all.status ? all.status
                              : mcr_builder_strings(b, port->field.store->name, start,
                                                    all.bytes ? all.bytes : "");
    mcr_text_free(&all);
    return s;
}

static mcr_status make_data(mcr_c_writer *w, mcr_data **out, const trial *t)
{
    const mcr_portable *p = w->p;
    mcr_builder *b = NULL;
    mcr_status s = mcr_builder_open(&b, w->ctx, t->count);
    for (int64_t f = 0; f < p->ports && !s; f++) {
        const mcr_port *port = &p->port[f];
        if (port->text)
            s = add_strings(w, b, port, t);
        else if (port->scaling ? port->scaling->dense : port->field.store->kind == MCR_DENSE)
            s = mcr_builder_dense(b, port->field.store->name, t->x + port->first, port->cols,
                                  p->inputs);
        else
            s = mcr_builder_sparse_of(b, port->field.store->name, t->x + port->first, port->cols,
                                      p->inputs);
    }
    return mcr_builder_finish_filled(out, b, s);
}

/* ---- what is expected -------------------------------------------------------------------------*/

static mcr_status largest_self(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data,
                               double *most)
{
    mcr_gram *gram = NULL;
    int64_t n = mcr_data_count(data);
    double *k = mcr_alloc(ctx, (size_t)n + 1, sizeof *k);
    mcr_status s = k ? mcr_gram_open(&gram, ctx, kernel, data, NULL) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(gram, 0, k);
    for (int64_t i = 0; i < n && !s; i++)
        *most = fmax(*most, fabs(k[i]));
    mcr_gram_close(gram);
    mcr_free(ctx, k);
    return s;
}

/* A fraction of the largest possible sum of |coefficient| K of a score. */
static mcr_status find_tolerance(mcr_c_writer *w, trial *t)
{
    const mcr_model *m = w->p->model;
    const mcr_fitted *f = m->fitted;
    double most = 1, sum = 0;
    mcr_status s = largest_self(w->ctx, m->kernel, m->basis, &most);
    if (!s && f->second)
        s = largest_self(w->ctx, f->second, m->basis, &most);
    for (int64_t g = 0; g < f->segments && !s; g++)
        for (int64_t i = 0; i < f->segment[g].outputs * f->segment[g].count; i++)
            sum += fabs(f->segment[g].coef[i]);
    for (int64_t o = 0; o < f->outputs; o++)
        sum += fabs(f->offset[o]);
    t->tolerance = (w->precise ? 1e-11 : 1e-5) * (1 + sum * most) +
                   w->call->report->error * sqrt(most);
    /* Votes change abruptly if a comparison is within rounding. */
    if (!w->precise && (w->p->finish == MCR_FINISH_VOTED || w->p->finish == MCR_FINISH_KNN))
        t->tolerance = 0.1;
    return s;
}

static mcr_status make_trial(mcr_c_writer *w, trial *t)
{
    const mcr_portable *p = w->p;
    int64_t basis = mcr_data_count(p->model->basis);
    mcr_data *data = NULL;
    size_t outputs = (size_t)p->fitted->outputs;
    t->count = basis < OBJECTS ? basis : OBJECTS;
    t->x = mcr_alloc_zero(w->ctx, OBJECTS * ((uint64_t)p->inputs + 1), sizeof *t->x);
    t->first = mcr_alloc_zero(w->ctx, OBJECTS, sizeof *t->first);
    t->score = mcr_alloc(w->ctx, (uint64_t)OBJECTS * outputs, sizeof *t->score);
    t->value = mcr_alloc(w->ctx, OBJECTS, sizeof *t->value);
    mcr_status s = t->x && t->first && t->score && t->value ? make_vectors(w, t) : MCR_NO_MEMORY;
    if (!s)
        s = make_data(w, &data, t);
    if (!s)
        s = mcr_predict(w->ctx, p->model, data,
                        p->fitted->rule == MCR_RULE_COORDINATES ? NULL : t->value, t->score, NULL);
    if (!s)
        s = find_tolerance(w, t);
    mcr_data_free(data);
    return s;
}

/* ---- as C -------------------------------------------------------------------------------------*/

static void put_string(mcr_c_writer *w, int64_t string, const trial *t)
{
    const mcr_field *f = &mcr_portable_text(w->p, string)->field;
    mcr_c_put(w, "static const long test_length%lld[%lld] = {", (long long)string,
              (long long)t->count);
    for (int64_t i = 0; i < t->count; i++) {
        int64_t r = mcr_field_at(f, t->first[i]);
        mcr_c_put(w, "%s%lld", i ? ", " : "",
                  (long long)(f->store->start[r + 1] - f->store->start[r]));
    }
    mcr_c_put(w, "};\nstatic const char *const test_text%lld[%lld] = {\n", (long long)string,
              (long long)t->count);
    for (int64_t i = 0; i < t->count; i++) {
        int64_t r = mcr_field_at(f, t->first[i]);
        mcr_text_string(&w->text, "    \"");
        for (int64_t b = f->store->start[r]; b < f->store->start[r + 1]; b++)
            mcr_text_format(&w->text, "\\%03o", (unsigned char)f->store->bytes[b]);
        mcr_text_string(&w->text, "\",\n");
    }
    mcr_c_put(w, "};\n");
}

static void put_numbers(mcr_c_writer *w, const char *type, const char *name, const double *value,
                        int64_t count, bool whole)
{
    mcr_c_put(w, "static const %s %s[%lld] = {", type, name, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        mcr_text_string(&w->text, i % 6 ? ", " : i ? ",\n    " : "\n    ");
        if (whole)
            mcr_text_int(&w->text, (int64_t)value[i]);
        else
            mcr_c_real(w, value[i]);
    }
    mcr_c_put(w, "\n};\n");
}

static void put_main(mcr_c_writer *w, const trial *t, bool labels)
{
    const mcr_portable *p = w->p;
    mcr_c_put(w,
              "int main(void)\n{\n"
              "    const @_real tolerance = %s;\n"
              "    int good = 0;\n"
              "    for (int i = 0; i < %lld; i++) {\n"
              "        @_real out[$_OUTPUTS];\n"
              "        int same = 1;\n"
              "        @_scores(",
              mcr_c_number(w, t->tolerance), (long long)t->count);
    mcr_text arguments;
    mcr_text_init(&arguments, w->ctx);
    if (p->inputs > 0)
        mcr_text_format(&arguments, "test_x + i * %lld", (long long)p->inputs);
    for (int64_t g = 0; g < p->strings; g++)
        mcr_text_format(&arguments, "%stest_text%lld[i], test_length%lld[i]",
                        arguments.length ? ", " : "", (long long)g, (long long)g);
    mcr_text_add(&w->text, arguments.bytes, (size_t)arguments.length);
    mcr_c_put(w, ", out);\n"
                 "        for (int o = 0; o < $_OUTPUTS; o++) {\n"
                 "            @_real off = out[o] - test_score[i * $_OUTPUTS + o];\n"
                 "            same &= off <= tolerance && off >= -tolerance;\n"
                 "        }\n");
    if (labels) {
        mcr_c_put(w, "        same &= @_predict(");
        mcr_text_add(&w->text, arguments.bytes, (size_t)arguments.length);
        mcr_c_put(w, ") == test_label[i];\n");
    }
    mcr_c_put(w,
              "        good += same;\n"
              "    }\n"
              "    printf(\"@: %%d of %lld objects as expected\\n\", good);\n"
              "    return good != %lld;\n"
              "}\n",
              (long long)t->count, (long long)t->count);
    if (arguments.status)
        w->status = arguments.status;
    mcr_text_free(&arguments);
}

mcr_status mcr_c_test(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    trial t = {0};
    mcr_status s = MCR_OK;
    /* No label is expected if a score is within the tolerance of a decision. */
    bool labels = mcr_c_has_label(p) && p->fitted->rule != MCR_RULE_COORDINATES && !w->int8.q;
    if (mcr_data_count(p->model->basis) == 0)
        return MCR_OK;
    if ((s = make_trial(w, &t)))
        goto done;
    mcr_c_put(w, "#ifdef $_TEST\n#include <stdio.h>\n\n");
    if (p->inputs > 0)
        put_numbers(w, "@_real", "test_x", t.x, t.count * p->inputs, false);
    for (int64_t g = 0; g < p->strings; g++)
        put_string(w, g, &t);
    put_numbers(w, "@_real", "test_score", t.score, t.count * p->fitted->outputs, false);
    if (labels)
        put_numbers(w, "int", "test_label", t.value, t.count, true);
    mcr_c_put(w, "\n");
    put_main(w, &t, labels);
    mcr_c_put(w, "#endif\n");
    s = w->status;
done:
    mcr_free_all(w->ctx, t.x, t.first, t.score, t.value);
    return s;
}
