/* json.c: a model as one JSON object: everything that predictions need, by name, for programs in
 * any language. docs/interop.md describes it; members are added, never changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/json.h"
#include "base/params.h"
#include "data/write.h"
#include "export/export.h"
#include "model/fourier.h"

enum { VERSION = 1 };

/* A line break, for readability. */
static void next_line(mcr_json_writer *w)
{
    mcr_text_string(w->to, "\n");
}

/* ---- kernels ----------------------------------------------------------------------------------*/

static void put_choice(mcr_json_writer *w, const char *choices, int number)
{
    for (; number > 0 && strchr(choices, '|'); number--)
        choices = strchr(choices, '|') + 1;
    mcr_json_write_string(w, choices, strcspn(choices, "|"));
}

static void put_param(mcr_json_writer *w, const mcr_param *p, const void *values)
{
    const void *at = (const char *)values + p->offset;
    if (!mcr_params_given(p, values))
        return;
    mcr_json_write_key(w, p->name);
    switch (p->type) {
    case MCR_REAL: mcr_json_write_real(w, *(const double *)at); break;
    case MCR_INT: mcr_json_write_int(w, *(const int64_t *)at); break;
    case MCR_FLAG: mcr_json_write_bool(w, *(const int *)at != 0); break;
    case MCR_CHOICE: put_choice(w, p->choices, *(const int *)at); break;
    case MCR_TEXT: mcr_json_write_text(w, *(char *const *)at); break;
    case MCR_REALS:
        mcr_json_write_reals(w, ((const mcr_reals *)at)->values, ((const mcr_reals *)at)->count);
        break;
    }
}

static mcr_status put_kernel(mcr_json_writer *w, const mcr_model *m, const mcr_kernel *k)
{
    mcr_field field;
    mcr_status s = MCR_OK;
    mcr_json_write_object(w);
    mcr_json_put_text(w, "type", k->type->name);
    if (k->type->kinds != 0) {
        s = mcr_field_choose(&field, m->ctx, k->type->name, k->type->kinds, k->field, NULL,
                             m->basis);
        if (!s)
            mcr_json_put_text(w, "field", field.store->name);
    }
    mcr_json_put_object(w, "params");
    for (const mcr_param *p = k->type->params; p && p->name; p++)
        put_param(w, p, k->params);
    mcr_json_write_end_object(w);
    mcr_json_put_array(w, "children");
    for (int c = 0; c < k->children && !s; c++)
        s = put_kernel(w, m, k->child[c]);
    mcr_json_write_end_array(w);
    mcr_json_write_end_object(w);
    return s;
}

/* ---- support vectors --------------------------------------------------------------------------*/

static void put_graph(mcr_json_writer *w, const mcr_store *s, int64_t r)
{
    int64_t first = s->start[r], end = s->start[r + 1];
    mcr_json_write_object(w);
    mcr_json_put_int(w, "nodes", end - first);
    if (s->node_label) {
        mcr_json_put_array(w, "labels");
        for (int64_t v = first; v < end; v++)
            mcr_json_write_int(w, s->node_label[v]);
        mcr_json_write_end_array(w);
    }
    mcr_write_edges(w, s, r);
    mcr_json_write_end_object(w);
}

static void put_bytes(mcr_json_writer *w, const char *bytes, int64_t length)
{
    if (mcr_utf8_valid(bytes, (size_t)length)) {
        mcr_json_write_string(w, bytes, (size_t)length);
        return;
    }
    mcr_json_write_array(w);
    for (int64_t b = 0; b < length; b++)
        mcr_json_write_int(w, (unsigned char)bytes[b]);
    mcr_json_write_end_array(w);
}

static void put_vector(mcr_json_writer *w, const mcr_vector *x)
{
    if (!x->index) {
        mcr_write_values(w, x);
        return;
    }
    mcr_json_write_object(w);
    mcr_write_columns(w, "index", x);
    mcr_json_write_key(w, "value");
    mcr_write_values(w, x);
    mcr_json_write_end_object(w);
}

static void put_object(mcr_json_writer *w, const mcr_field *f, int64_t i)
{
    const mcr_store *s = f->store;
    int64_t r = mcr_field_at(f, i);
    mcr_vector x;
    next_line(w);
    switch (s->kind) {
    case MCR_DENSE:
    case MCR_SPARSE:
        x = mcr_field_vector(f, i);
        put_vector(w, &x);
        break;
    case MCR_STRINGS: put_bytes(w, s->bytes + s->start[r], s->start[r + 1] - s->start[r]); break;
    case MCR_GRAPHS: put_graph(w, s, r); break;
    case MCR_PRECOMPUTED: mcr_json_write_int(w, s->id ? s->id[r] : r); break;
    }
}

static const char *kind_name(mcr_kind kind)
{
    return kind == MCR_DENSE     ? "dense"
           : kind == MCR_SPARSE  ? "sparse"
           : kind == MCR_STRINGS ? "strings"
           : kind == MCR_GRAPHS  ? "graphs"
                                 : "precomputed";
}

static void put_scaling(mcr_json_writer *w, const mcr_model *m, const char *name)
{
    for (int64_t f = 0; m->scaling && f < m->scaling->fields; f++) {
        const mcr_scaled_field *by = &m->scaling->field[f];
        if (strcmp(by->name, name) != 0)
            continue;
        mcr_json_put_object(w, "scaling");
        mcr_json_put_reals(w, "shift", by->shift, by->cols);
        mcr_json_put_reals(w, "factor", by->factor, by->cols);
        mcr_json_write_end_object(w);
    }
}

static void put_fields(mcr_json_writer *w, const mcr_model *m)
{
    mcr_json_put_array(w, "fields");
    for (int64_t i = 0; i < mcr_data_fields(m->basis); i++) {
        mcr_field f = mcr_data_field(m->basis, i);
        const mcr_store *s = f.store;
        next_line(w);
        mcr_json_write_object(w);
        mcr_json_put_text(w, "name", s->name);
        mcr_json_put_text(w, "kind", kind_name(s->kind));
        if (s->kind == MCR_DENSE || s->kind == MCR_SPARSE)
            mcr_json_put_int(w, "features", s->cols);
        if (s->column)
            mcr_json_put_texts(w, "columns", s->column, s->cols);
        if (s->label_name)
            mcr_json_put_texts(w, "label_names", s->label_name, s->label_names);
        put_scaling(w, m, s->name);
        mcr_json_put_array(w, "support");
        for (int64_t o = 0; o < f.count; o++)
            put_object(w, &f, o);
        mcr_json_write_end_array(w);
        mcr_json_write_end_object(w);
    }
    mcr_json_write_end_array(w);
}

/* ---- coefficients, decisions ------------------------------------------------------------------*/

static void put_segments(mcr_json_writer *w, const mcr_fitted *f)
{
    mcr_json_put_array(w, "segments");
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *s = &f->segment[g];
        next_line(w);
        mcr_json_write_object(w);
        mcr_json_put_text(w, "kernel", f->second && g ? "kernel2" : "kernel");
        mcr_json_put_int(w, "first", s->first);
        mcr_json_put_int(w, "count", s->count);
        mcr_json_put_array(w, "outputs");
        for (int64_t t = 0; t < s->outputs; t++)
            mcr_json_write_int(w, s->output[t]);
        mcr_json_write_end_array(w);
        mcr_json_put_array(w, "coef");
        for (int64_t t = 0; t < s->outputs; t++)
            mcr_json_write_reals(w, s->coef + t * s->count, s->count);
        mcr_json_write_end_array(w);
        mcr_json_write_end_object(w);
    }
    mcr_json_write_end_array(w);
}

static void put_probability(mcr_json_writer *w, const mcr_fitted *f)
{
    const double *from = f->curve ? f->curve : f->slope;
    mcr_json_write_key(w, "probability");
    if (!from) {
        mcr_json_write_null(w);
        return;
    }
    mcr_json_write_object(w);
    for (int64_t half = 0; half < 2; half++) {
        mcr_json_write_key(w, f->curve ? (half ? "b" : "a") : half ? "below" : "above");
        mcr_json_write_array(w);
        for (int64_t o = 0; o < f->outputs; o++)
            mcr_json_write_real(w, from[2 * o + half]);
        mcr_json_write_end_array(w);
    }
    mcr_json_write_end_object(w);
}

static const char *rule_name(mcr_rule rule)
{
    static const char *const name[] = {
        [MCR_RULE_VALUE] = "value",     [MCR_RULE_SIGN] = "sign",
        [MCR_RULE_BINARY] = "binary",   [MCR_RULE_PAIRS] = "pairs",
        [MCR_RULE_LARGEST] = "largest", [MCR_RULE_SOFTMAX] = "softmax",
        [MCR_RULE_OWN] = "own",         [MCR_RULE_COORDINATES] = "coordinates",
    };
    return name[rule];
}

static void put_decisions(mcr_json_writer *w, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    next_line(w);
    mcr_json_put_texts(w, "outputs", m->output_name, f->outputs);
    mcr_json_put_reals(w, "offset", f->offset, f->outputs);
    put_segments(w, f);
    next_line(w);
    mcr_json_put_text(w, "rule", rule_name(f->rule));
    mcr_json_put_texts(w, "classes", m->class_name, m->classes);
    put_probability(w, f);
    next_line(w);
    mcr_json_put_object(w, "numbers");
    for (int64_t e = 0; e < f->extras; e++)
        mcr_json_put_reals(w, f->extra[e].name, f->extra[e].value, f->extra[e].count);
    mcr_json_write_end_object(w);
}

/* ---- a model ----------------------------------------------------------------------------------*/

static void put_report(mcr_json_writer *w, const mcr_model *m)
{
    const mcr_report_fit *r = &m->report;
    mcr_json_put_object(w, "report");
    mcr_json_put_int(w, "n", r->n);
    mcr_json_put_int(w, "features", r->features);
    mcr_json_put_real(w, "objective", r->objective);
    mcr_json_put_text(w, "stop", mcr_stop_name(r->stop));
    mcr_json_put_text(w, "certificate", r->certificate);
    mcr_json_put_real(w, "value", r->value);
    mcr_json_put_real(w, "tolerance", r->tolerance);
    mcr_json_write_end_object(w);
}

static mcr_status put_model(mcr_json_writer *w, const mcr_exporting *e)
{
    static const char *const task[] = {[MCR_CLASSIFY] = "classification",
                                       [MCR_REGRESS] = "regression",
                                       [MCR_DETECT] = "detection",
                                       [MCR_CLUSTER] = "clustering",
                                       [MCR_TRANSFORM] = "coordinates"};
    const mcr_model *m = e->model;
    mcr_json_write_object(w);
    mcr_json_put_text(w, "format", "mercer-model");
    mcr_json_put_int(w, "version", VERSION);
    mcr_json_put_text(w, "made_by", m->version);
    mcr_json_put_text(w, "learner", m->learner);
    mcr_json_put_text(w, "options", m->options);
    mcr_json_put_text(w, "task", task[m->fitted->task]);
    next_line(w);
    mcr_json_put_text(w, "kernel_text", mcr_kernel_text(m->kernel));
    mcr_json_write_key(w, "kernel");
    mcr_status s = put_kernel(w, m, m->kernel);
    if (!s && m->fitted->second) {
        mcr_json_write_key(w, "kernel2");
        s = put_kernel(w, m, m->fitted->second);
    }
    if (s)
        return s;
    next_line(w);
    put_fields(w, m);
    put_decisions(w, m);
    next_line(w);
    put_report(w, m);
    mcr_json_write_end_object(w);
    next_line(w);
    return MCR_OK;
}

static mcr_status write(const mcr_exporting *e)
{
    mcr_text t;
    mcr_json_writer w;
    if (mcr_fourier_is(e->model->fitted))
        return mcr_fail(e->ctx, MCR_BAD_CALL,
                        "JSON cannot express models on random Fourier features, whose frequencies "
                        "only Mercer can draw again: train with nystrom instead of rff");
    mcr_text_init(&t, e->ctx);
    mcr_json_write_init(&w, &t);
    mcr_status s = put_model(&w, e);
    if (!s)
        s = mcr_text_save(&t, e->path);
    mcr_text_free(&t);
    return s;
}

const mcr_export_type mcr_export_json = {
    .name = "json",
    .summary = "everything that predictions need, as one JSON object",
    .write = write,
};
