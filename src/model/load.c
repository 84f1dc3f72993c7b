/* load.c: reads model files written by save.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/limits.h"
#include "model/container.h"
#include "model/foreign.h"
#include "model/model.h"
#include "model/objects.h"
#include "model/save_table.h"

/* ---- reading ----------------------------------------------------------------------------------*/

/* Reads `want` reals with their count into `to`. */
static void get_numbers(mcr_reader *r, double *to, int64_t want)
{
    int64_t count;
    double *v = mcr_get_reals(r, &count);
    if (v && count == want)
        memcpy(to, v, sizeof *v * (size_t)want);
    else
        r->bad = true;
    mcr_free(r->ctx, v);
}

static mcr_status get_info(mcr_model **out, mcr_reader *r, const mcr_kernel *kernel)
{
    char *learner = mcr_get_text(r), *options = mcr_get_text(r), *version = mcr_get_text(r);
    r->bad |= !learner || !options || !version || !mcr_learner_names(learner);
    uint64_t seed = (uint64_t)mcr_get_i64(r);
    int64_t n = mcr_get_i64(r), features = mcr_get_i64(r);
    double number[4];
    get_numbers(r, number, 4);
    r->bad |= n < 0 || features < 0;
    mcr_status s = mcr_reader_end(r);
    if (!s)
        s = mcr_model_new(out, r->ctx, kernel, learner, options);
    if (!s) {
        mcr_report_fit *report = &(*out)->report;
        (*out)->version = version;
        report->version = *version ? version : NULL;
        report->seed = seed;
        version = NULL;
        report->n = n;
        report->features = features;
        report->seconds = number[0];
        report->accuracy = number[1];
        report->mse = number[2];
        report->r2 = number[3];
    }
    mcr_free_all(r->ctx, learner, options, version);
    return s;
}

static mcr_status get_kernel(mcr_kernel **out, mcr_reader *r)
{
    char *text = mcr_get_text(r);
    r->bad |= !text;
    mcr_status s = mcr_reader_end(r);
    if (!s) {
        s = mcr_kernel_parse_foreign(out, r->ctx, text);
        if (s == MCR_BAD_DATA) /* a model is self-contained */
            s = mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, 0,
                            "the model's kernel names a file, which is not allowed in a model: it "
                            "is not loaded");
        if (s == MCR_BAD_CALL)
            s = mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, 0,
                            "this version of Mercer does not know the model's kernel");
    }
    mcr_free(r->ctx, text);
    return s;
}

static mcr_status get_second(mcr_model *m, mcr_reader *r)
{
    return get_kernel(&m->fitted->second, r);
}

/* Reads the remainder of a section, a list of names. */
static mcr_status get_names(char ***out, int64_t *count, mcr_reader *r)
{
    *count = mcr_get_count(r, 8);
    *out = mcr_get_texts(r, *count);
    return mcr_reader_end(r);
}

static mcr_status get_classes(mcr_model *m, mcr_reader *r)
{
    char **name = NULL;
    int64_t count = 0;
    mcr_status s = get_names(&name, &count, r);
    if (!s)
        s = mcr_model_set_classes(m, (const char *const *)name, count);
    mcr_free_each(r->ctx, name, count);
    return s;
}

static mcr_status get_targets(mcr_model *m, mcr_reader *r)
{
    char **name = NULL;
    int64_t count = 0;
    mcr_status s = get_names(&name, &count, r);
    if (!s && count != m->fitted->outputs)
        s = mcr_reader_damaged(r, "targets and coefficients do not fit");
    if (!s)
        s = mcr_model_name_targets(m, (const char *const *)name);
    mcr_free_each(r->ctx, name, count);
    return s;
}

static bool outputs_fit(const mcr_fitted *f, const mcr_learner_type *type)
{
    int64_t k = f->classes;
    bool classify = f->task == MCR_CLASSIFY;
    switch (f->rule) {
    case MCR_RULE_VALUE:
        return (f->outputs == 1 || (f->outputs > 1 && type && type->several_targets)) && k == 0 &&
               f->task == MCR_REGRESS;
    case MCR_RULE_SIGN: return f->outputs == 1 && k == 0 && f->task == MCR_DETECT;
    case MCR_RULE_BINARY: return f->outputs == 1 && k == 2 && classify;
    case MCR_RULE_PAIRS: /* k (k - 1) / 2, which may overflow */
        return k > 2 && 2 * f->outputs / k == k - 1 && 2 * f->outputs % k == 0 && classify;
    case MCR_RULE_LARGEST:
        return f->task == MCR_CLUSTER ? k == 0 && f->outputs > 0
                                      : k > 2 && f->outputs == k && classify;
    case MCR_RULE_SOFTMAX: return k > 1 && f->outputs == (k == 2 ? 1 : k) && classify;
    case MCR_RULE_OWN:
        return type && type->predictor && (classify ? k > 1 : k == 0 && f->task == MCR_REGRESS);
    case MCR_RULE_COORDINATES:
        return k == 0 && f->task == MCR_TRANSFORM && f->outputs > 0 &&
               !(f->second && f->outputs % 2);
    }
    return false;
}

static void get_segment(mcr_reader *r, mcr_fitted *f)
{
    mcr_segment s = {.first = mcr_get_i64(r), .count = mcr_get_i64(r)};
    int64_t coefs = 0;
    s.output = mcr_get_i32s(r, &s.outputs);
    s.coef = mcr_get_reals(r, &coefs);
    r->bad |= s.outputs > f->outputs ||
              (s.count ? coefs / s.count != s.outputs || coefs % s.count : coefs != 0);
    for (int64_t o = 0; o < s.outputs && !r->bad; o++)
        r->bad |= s.output[o] < 0 || s.output[o] >= f->outputs;
    r->bad = r->bad || !mcr_all_finite(s.coef, coefs);
    f->segment[f->segments++] = s;
}

/* Whether each object is in one segment, in order; with a second kernel, each is in two. */
static bool segments_fit(const mcr_fitted *f)
{
    int64_t next = 0;
    if (f->second)
        return f->segments == 2 && f->segment[0].first == 0 && f->segment[0].count == f->basis &&
               f->segment[1].first == 0 && f->segment[1].count == f->basis;
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *s = &f->segment[g];
        if (s->first != next || s->count < 0 || s->count > f->basis - next)
            return false;
        next += s->count;
    }
    return next == f->basis;
}

static mcr_status get_coefficients(mcr_model *m, mcr_reader *r)
{
    mcr_fitted *f = m->fitted;
    mcr_free(r->ctx, f->offset);
    f->classes = m->classes;
    f->task = (mcr_task)mcr_get_u32(r);
    f->rule = (mcr_rule)mcr_get_u32(r);
    f->object = mcr_get_i64s(r, &f->basis);
    f->offset = mcr_get_reals(r, &f->outputs);
    int64_t segments = mcr_get_count(r, 32), slopes = 0;
    r->bad |= !outputs_fit(f, m->type);
    f->segment = mcr_alloc_zero(r->ctx, (size_t)segments, sizeof *f->segment);
    if (!f->segment)
        r->bad = r->short_of_memory = true;
    for (int64_t g = 0; g < segments && !r->bad; g++)
        get_segment(r, f);
    r->bad = r->bad || !mcr_all_finite(f->offset, f->outputs) || !segments_fit(f);
    double *slope = mcr_get_reals(r, &slopes);
    r->bad = r->bad || (slopes > 0 && slopes != 2 * f->outputs) || !mcr_all_finite(slope, slopes);
    if (slopes > 0)
        f->slope = slope;
    else
        mcr_free(r->ctx, slope);
    return MCR_OK;
}

static mcr_status get_curves(mcr_model *m, mcr_reader *r)
{
    int64_t count = 0;
    mcr_fitted *f = m->fitted;
    f->curve = mcr_get_reals(r, &count);
    r->bad |= !f->curve || count != 2 * f->outputs || !mcr_all_finite(f->curve, count);
    for (int64_t o = 0; o < f->outputs && !r->bad; o++)
        r->bad = !(f->curve[2 * o] > 0);
    return MCR_OK;
}

/* Targets of the basis are numbers of classes, if the model has classes. */
static bool extra_fits(const mcr_model *m, const char *name, const double *value, int64_t count)
{
    if (!mcr_all_finite(value, count))
        return false;
    if (m->classes == 0 || strcmp(name, MCR_EXTRA_TARGET) != 0)
        return true;
    for (int64_t i = 0; i < count; i++)
        if (!(value[i] >= 0 && value[i] < (double)m->classes && value[i] == floor(value[i])))
            return false;
    return true;
}

static mcr_status get_extras(mcr_model *m, mcr_reader *r)
{
    enum { MOST = 1000 }; /* names are searched linearly */
    mcr_status s = MCR_OK;
    int64_t extras = mcr_get_count(r, 16);
    if (extras > MOST) {
        r->bad = true;
        extras = 0;
    }
    for (int64_t e = 0; e < extras && !s; e++) {
        int64_t count = 0;
        char *name = mcr_get_text(r);
        double *value = mcr_get_reals(r, &count);
        if (!name || !value || !extra_fits(m, name, value, count))
            r->bad = true;
        else
            s = mcr_fitted_keep(m->fitted, name, value, count);
        mcr_free_all(r->ctx, name, value);
    }
    return s;
}

static void get_scaled_field(mcr_reader *r, mcr_scaling *s)
{
    int64_t factors = 0;
    mcr_scaled_field *f = &s->field[s->fields++];
    f->name = mcr_get_text(r);
    uint32_t dense = mcr_get_u32(r);
    f->shift = mcr_get_reals(r, &f->cols);
    f->factor = mcr_get_reals(r, &factors);
    f->dense = dense == 1;
    if (r->bad || !f->name || dense > 1 || factors != f->cols ||
        !mcr_all_finite(f->shift, f->cols) || !mcr_all_finite(f->factor, factors))
        r->bad = true;
}

static mcr_status get_scaling(mcr_model *m, mcr_reader *r)
{
    int64_t fields = mcr_get_count(r, 28);
    mcr_status s = mcr_scaling_open(&m->scaling, r->ctx, fields);
    for (int64_t f = 0; f < fields && !s; f++)
        get_scaled_field(r, m->scaling);
    return s;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether the columns and names of the roles (names: none or as many) are valid; both are
 * sorted. */
static bool roles_fit(const mcr_layout *l, int64_t *column, const char **name, int64_t names)
{
    bool fits = l->targets >= 0 && l->roles < l->columns &&
                (l->roles - l->targets == 0 || l->roles - l->targets == 1) &&
                (names == 0 || names == l->roles);
    qsort(column, (size_t)l->roles, sizeof *column, mcr_int64_rising);
    qsort(name, (size_t)names, sizeof *name, by_text);
    for (int64_t r = 0; r < l->roles && fits; r++)
        fits = column[r] >= 0 && column[r] < l->columns && (r == 0 || column[r] > column[r - 1]);
    for (int64_t r = 0; r < names && fits; r++)
        fits = name[r][0] != '\0' && (r == 0 || strcmp(name[r], name[r - 1]) != 0);
    return fits;
}

static mcr_status check_layout(const mcr_layout *l, char *const *name, int64_t names,
                               const mcr_reader *r)
{
    int64_t *column = mcr_alloc(r->ctx, (size_t)l->roles, sizeof *column);
    const char **text = mcr_alloc(r->ctx, (size_t)names, sizeof *text);
    mcr_status s = column && text ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < l->roles && !s; i++)
        column[i] = l->column[i];
    for (int64_t i = 0; i < names && !s; i++)
        text[i] = name[i];
    if (!s && !roles_fit(l, column, text, names))
        s = mcr_reader_damaged(r, r->what);
    mcr_free_all(r->ctx, column, text);
    return s;
}

static mcr_status get_layout(mcr_model *m, mcr_reader *r)
{
    char **name = NULL;
    int64_t names = 0;
    mcr_layout l = {.columns = mcr_get_i64(r)};
    l.targets = mcr_get_i64(r);
    l.usual = mcr_get_u32(r);
    l.column = mcr_get_i64s(r, &l.roles);
    mcr_status s = get_names(&name, &names, r);
    if (!s)
        s = check_layout(&l, name, names, r);
    if (!s)
        s = mcr_layout_new(&m->layout, r->ctx, &l, names ? (const char *const *)name : NULL);
    mcr_free_each(r->ctx, name, names);
    mcr_free(r->ctx, l.column);
    return s;
}

static mcr_status get_tuning(mcr_model *m, mcr_reader *r)
{
    m->tuning = mcr_get_text(r);
    return MCR_OK;
}

static mcr_status get_certificate(mcr_model *m, mcr_reader *r)
{
    mcr_fitted *f = m->fitted;
    m->certificate = mcr_get_text(r);
    f->certificate = m->certificate;
    f->remark = mcr_get_text(r);
    f->iterations = mcr_get_i64(r);
    uint32_t stop = mcr_get_u32(r);
    r->bad |= stop > MCR_STOP_LOCAL;
    f->stop = r->bad ? MCR_STOP_OPTIMAL : (mcr_stop)stop;
    double number[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
    get_numbers(r, number, 6);
    f->objective = number[0];
    f->value = number[1];
    f->tolerance = number[2];
    f->primal = number[3];
    f->dual = number[4];
    f->gap = number[5];
    return MCR_OK;
}

static mcr_status get_basis(mcr_model *m, mcr_reader *r)
{
    mcr_status s = mcr_get_objects(&m->basis, r);
    if (!s && mcr_data_count(m->basis) != m->fitted->basis)
        s = mcr_reader_damaged(r, "objects and coefficients do not fit");
    return s;
}

static mcr_status get_columns(mcr_model *m, mcr_reader *r)
{
    mcr_get_columns(r, m->basis);
    return MCR_OK;
}

/* The model's objects are scaled: each field must match the output of its scaling. */
static bool scaling_fits(const mcr_model *m)
{
    for (int64_t f = 0; m->scaling && f < m->scaling->fields; f++) {
        const mcr_scaled_field *by = &m->scaling->field[f];
        int64_t at = mcr_data_find(m->basis, by->name, strlen(by->name));
        const mcr_store *store = at < 0 ? NULL : m->basis->store[at];
        if (store &&
            (store->kind != (by->dense ? MCR_DENSE : MCR_SPARSE) || store->cols != by->cols))
            return false;
    }
    return true;
}

enum presence { ALWAYS, SOMETIMES, WITH_TARGETS };

/* In this order: some depend on others. */
static const struct section {
    char tag[5];
    enum presence when;
    const char *what;
    mcr_status (*get)(mcr_model *m, mcr_reader *r);
} sections[] = {
    {"CLAS", ALWAYS, "its classes", get_classes},
    {"KER2", SOMETIMES, "its kernel", get_second},
    {"COEF", ALWAYS, "its coefficients", get_coefficients},
    {"TARG", WITH_TARGETS, "its targets", get_targets},
    {"PROB", SOMETIMES, "its probabilities", get_curves},
    {"MORE", SOMETIMES, "its numbers", get_extras},
    {"CERT", ALWAYS, "its certificate", get_certificate},
    {"SCAL", SOMETIMES, "its scaling", get_scaling},
    {"FILL", SOMETIMES, "its missing values", mcr_get_fill},
    {"TUNE", SOMETIMES, "its search", get_tuning},
    {"TABL", SOMETIMES, "its table", get_layout},
    {"OBJS", ALWAYS, "its objects", get_basis},
    {"COLS", SOMETIMES, "its columns", get_columns},
    {"ROLE", SOMETIMES, "its columns", mcr_get_roles},
    {"JOIN", SOMETIMES, "its columns", mcr_get_join},
};

static mcr_status get_section(mcr_model *m, const mcr_container *c, const struct section *part)
{
    mcr_reader r;
    if (part->when == WITH_TARGETS && mcr_model_targets(m) < 2)
        return MCR_OK;
    if (part->when == SOMETIMES && !mcr_container_has(c, part->tag, part->what, &r))
        return MCR_OK;
    mcr_status s = mcr_container_find(c, part->tag, part->what, &r);
    if (!s)
        s = part->get(m, &r);
    return s ? s : mcr_reader_end(&r);
}

static mcr_status read_mercer(mcr_model **out, const mcr_container *c)
{
    mcr_kernel *kernel = NULL;
    mcr_model *m = NULL;
    mcr_reader r;
    mcr_status s = mcr_container_check(c);
    if (!s)
        s = mcr_container_find(c, "KERN", "its kernel", &r);
    if (!s)
        s = get_kernel(&kernel, &r);
    if (!s)
        s = mcr_container_find(c, "INFO", "how it was made", &r);
    if (!s)
        s = get_info(&m, &r, kernel);
    mcr_kernel_free(kernel);
    if (!s)
        s = mcr_fitted_new(&m->fitted, c->ctx, 0);
    for (size_t p = 0; p < sizeof sections / sizeof *sections && !s; p++)
        s = get_section(m, c, &sections[p]);
    if (!s && !scaling_fits(m))
        s = mcr_reader_damaged(&r, "objects and scaling do not fit");
    if (!s) {
        mcr_model_set_roles(m);
        s = mcr_model_complete(m);
    }
    return mcr_model_give(out, m, s);
}

int mcr_model_recognise(const void *bytes, size_t count)
{
    return (count >= MCR_MODEL_MAGIC_BYTES &&
            memcmp(bytes, mcr_model_magic, MCR_MODEL_MAGIC_BYTES) == 0) ||
           mcr_libsvm_recognise(bytes, count) || mcr_onnx_recognise(bytes, count);
}

mcr_status mcr_model_load_memory(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                                 size_t count)
{
    *out = NULL;
    mcr_reading_begin(ctx, name, count);
    mcr_status s = mcr_libsvm_recognise(bytes, count)
                       ? mcr_libsvm_read(out, ctx, name, bytes, count)
                   : mcr_onnx_recognise(bytes, count)
                       ? mcr_onnx_read(out, ctx, name, bytes, count)
                       : read_mercer(out, &(mcr_container){ctx, name, bytes, count});
    mcr_reading_end(ctx);
    if (!s)
        (*out)->loaded = true;
    return s;
}

/* Reads the whole file, unpacked if it is gzip. */
static mcr_status slurp(mcr_input *in, mcr_text *to)
{
    char window[65536];
    size_t got;
    mcr_status s;
    do { /* fewer bytes come at the end, or on an error */
        s = mcr_input_some(in, window, sizeof window, &got);
        mcr_text_add(to, window, got);
    } while (got == sizeof window);
    return s ? s : to->status;
}

mcr_status mcr_model_load(mcr_model **out, mcr *ctx, const char *path)
{
    *out = NULL;
    mcr_input *in = NULL;
    mcr_text file;
    mcr_text_init(&file, ctx);
    mcr_reading_begin(ctx, path, 0);
    mcr_status s = mcr_input_open(&in, ctx, path);
    if (!s)
        s = slurp(in, &file);
    if (!s)
        s = mcr_model_load_memory(out, ctx, path, file.bytes ? file.bytes : "",
                                  (size_t)file.length);
    mcr_input_close(in);
    mcr_text_free(&file);
    mcr_reading_end(ctx);
    return s;
}
