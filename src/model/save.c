/* save.c: writes model files, which load.c reads. container.h describes the layout of the file; the
 * contents of each section are documented here, next to the code that writes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kernel/select.h"
#include "model/container.h"
#include "model/model.h"
#include "model/objects.h"
#include "model/save_table.h"

/* ---- sections ---------------------------------------------------------------------------------*/

/* INFO: how the model was trained. */
static void put_info(mcr_text *t, const mcr_model *m)
{
    const mcr_report_fit *r = &m->report;
    mcr_put_text(t, r->learner);
    mcr_put_text(t, r->options);
    mcr_put_text(t, r->version ? r->version : "");
    mcr_put_i64(t, (int64_t)r->seed);
    mcr_put_i64(t, r->n);
    mcr_put_i64(t, r->features);
    /* The first was the training time: without it the same call writes the same file. */
    const double number[] = {NAN, r->accuracy, r->mse, r->r2};
    mcr_put_reals(t, number, sizeof number / sizeof *number);
}

/* KERN: the kernel. */
static void put_kernel(mcr_text *t, const mcr_model *m)
{
    mcr_put_text(t, mcr_kernel_text(m->kernel));
}

/* KER2: the kernel on other fields of the same objects. */
static void put_second(mcr_text *t, const mcr_model *m)
{
    if (m->fitted->second)
        mcr_put_text(t, mcr_kernel_text(m->fitted->second));
}

/* CERT: the certificate. */
static void put_certificate(mcr_text *t, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    mcr_put_text(t, f->certificate);
    mcr_put_text(t, f->remark);
    mcr_put_i64(t, f->iterations);
    mcr_put_u32(t, (uint32_t)f->stop);
    const double number[] = {f->objective, f->value, f->tolerance, f->primal, f->dual, f->gap};
    mcr_put_reals(t, number, sizeof number / sizeof *number);
}

/* CLAS: the class names. */
static void put_classes(mcr_text *t, const mcr_model *m)
{
    mcr_put_texts(t, (const char *const *)m->class_name, m->classes);
}

/* TARG: names of the outputs, if there are several targets. */
static void put_targets(mcr_text *t, const mcr_model *m)
{
    if (mcr_model_targets(m) > 1)
        mcr_put_texts(t, (const char *const *)m->output_name, m->fitted->outputs);
}

/* COEF: rule, offsets, coefficients, calibration. */
static void put_coefficients(mcr_text *t, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    mcr_put_u32(t, (uint32_t)f->task);
    mcr_put_u32(t, (uint32_t)f->rule);
    mcr_put_i64s(t, f->object, f->basis);
    mcr_put_reals(t, f->offset, f->outputs);
    mcr_put_i64(t, f->segments);
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *s = &f->segment[g];
        mcr_put_i64(t, s->first);
        mcr_put_i64(t, s->count);
        mcr_put_i32s(t, s->output, s->outputs);
        mcr_put_reals(t, s->coef, s->outputs * s->count);
    }
    mcr_put_reals(t, f->slope, f->slope ? 2 * f->outputs : 0);
}

/* PROB: the curves of probabilities, two numbers per output. */
static void put_curves(mcr_text *t, const mcr_model *m)
{
    if (m->fitted->curve)
        mcr_put_reals(t, m->fitted->curve, 2 * m->fitted->outputs);
}

/* MORE: numbers specific to the learner. */
static void put_extras(mcr_text *t, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    if (f->extras)
        mcr_put_i64(t, f->extras);
    for (int64_t e = 0; e < f->extras; e++) {
        mcr_put_text(t, f->extra[e].name);
        mcr_put_reals(t, f->extra[e].value, f->extra[e].count);
    }
}

static void mark_fields(const mcr_bound *node, const mcr_data *data, bool *wanted)
{
    for (int64_t f = 0; f < data->fields; f++)
        if (data->store[f] == node->field[0].store)
            wanted[f] = true;
    if (node->selection)
        mcr_selection_mark(node->selection, data, wanted);
    for (int c = 0; c < node->children; c++)
        mark_fields(node->child[c], data, wanted);
}

/* The fields that the kernels read: one flag per field, to be freed. */
static mcr_status choose_fields(bool **out, const mcr_model *m)
{
    mcr_binding *binding = NULL;
    const mcr_kernel *kernel[] = {m->kernel, m->fitted->second};
    bool loaded = mcr_data_numbers_only(m->basis); /* then it has only the fields that are needed */
    bool *wanted = mcr_alloc_zero(m->ctx, (size_t)m->basis->fields, sizeof *wanted);
    mcr_data *one = NULL; /* one object suffices: some kernels do all their work in bind */
    mcr_status s = wanted ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t f = 0; f < m->basis->fields && loaded && !s; f++)
        wanted[f] = true;
    if (!s && !loaded)
        s = mcr_data_select(&one, m->basis, (mcr_rows){NULL, 0, mcr_data_count(m->basis) > 0});
    for (int k = 0; k < 2 && kernel[k] && !loaded && !s; k++) {
        s = mcr_binding_open(&binding, m->ctx, kernel[k], one, NULL);
        if (!s)
            mark_fields(binding->root, one, wanted);
        mcr_binding_close(binding);
        binding = NULL;
    }
    /* A constant kernel reads no field: one is kept, because objects need a field. */
    bool any = false;
    for (int64_t f = 0; f < m->basis->fields && !s; f++)
        any |= wanted[f];
    if (!s && !any && m->basis->fields > 0)
        wanted[0] = true;
    mcr_data_free(one);
    *out = wanted;
    return s;
}

/* SCAL: the scaling of vectors before the kernel. */
static void put_scaling(mcr_text *t, const mcr_model *m)
{
    const mcr_scaling *s = m->scaling;
    if (!s || s->fields == 0)
        return;
    mcr_put_i64(t, s->fields);
    for (int64_t f = 0; f < s->fields; f++) {
        mcr_put_text(t, s->field[f].name);
        mcr_put_u32(t, s->field[f].dense);
        mcr_put_reals(t, s->field[f].shift, s->field[f].cols);
        mcr_put_reals(t, s->field[f].factor, s->field[f].cols);
    }
}

/* TUNE: the table of the search for its parameters. */
static void put_tuning(mcr_text *t, const mcr_model *m)
{
    if (m->tuning)
        mcr_put_text(t, m->tuning);
}

/* TABL: the training table: columns, and which of them were targets and weights. */
static void put_layout(mcr_text *t, const mcr_model *m)
{
    const mcr_layout *l = m->layout;
    if (!l)
        return;
    mcr_put_i64(t, l->columns);
    mcr_put_i64(t, l->targets);
    mcr_put_u32(t, l->usual);
    mcr_put_i64s(t, l->column, l->roles);
    mcr_put_texts(t, l->name ? (const char *const *)l->name->name : NULL, l->name ? l->roles : 0);
}

/* ---- the file ---------------------------------------------------------------------------------*/

/* A section without content is left out. */
static void finish_section(mcr_text *file, int64_t start, int64_t content)
{
    if (file->length > content)
        mcr_section_end(file, start);
    else
        file->length = start;
}

/* COLS: names of columns, if known; OBJS: the objects. */
static mcr_status put_basis(mcr_text *file, const mcr_model *m)
{
    bool *wanted = NULL;
    mcr_status s = choose_fields(&wanted, m);
    if (!s) {
        int64_t start = mcr_section_begin(file, "COLS"), content = file->length;
        mcr_put_columns(file, m->basis, wanted);
        finish_section(file, start, content);
        start = mcr_section_begin(file, "OBJS");
        mcr_put_objects(file, m->basis, wanted);
        mcr_section_end(file, start);
    }
    mcr_free(m->ctx, wanted);
    return s;
}

static mcr_status write_all(mcr_text *file, const mcr_model *m)
{
    static const struct section {
        char tag[5];
        void (*put)(mcr_text *t, const mcr_model *m);
    } sections[] = {
        {"INFO", put_info},        {"KERN", put_kernel},    {"KER2", put_second},
        {"CERT", put_certificate}, {"CLAS", put_classes},   {"COEF", put_coefficients},
        {"TARG", put_targets},     {"PROB", put_curves},    {"MORE", put_extras},
        {"SCAL", put_scaling},     {"FILL", mcr_put_fill},  {"TUNE", put_tuning},
        {"TABL", put_layout},      {"ROLE", mcr_put_roles}, {"JOIN", mcr_put_join},
    };
    mcr_text_add(file, mcr_model_magic, MCR_MODEL_MAGIC_BYTES);
    mcr_put_u32(file, MCR_MODEL_VERSION);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        int64_t start = mcr_section_begin(file, sections[i].tag), content = file->length;
        sections[i].put(file, m);
        finish_section(file, start, content);
    }
    mcr_status s = put_basis(file, m);
    mcr_put_section(file, "END ", NULL);
    return s ? s : file->status;
}

/* The file must be loadable: this is checked before it replaces another. */
static mcr_status read_back(mcr *ctx, const mcr_text *file, const char *path)
{
    mcr_model *copy = NULL;
    mcr_status s = mcr_model_load_memory(&copy, ctx, path, file->bytes, (size_t)file->length);
    mcr_model_free(copy);
    if (!s || s == MCR_NO_MEMORY)
        return s;
    return mcr_fail_at(ctx, s, path, 0,
                       "the model is not saved, because it could not be read back: this is a bug "
                       "in Mercer, please report it");
}

mcr_status mcr_model_save(mcr *ctx, const mcr_model *m, const char *path)
{
    mcr_text file;
    mcr_output *out = NULL;
    mcr_text_init(&file, ctx);
    mcr_status s = write_all(&file, m);
    if (!s)
        s = mcr_output_open(&out, ctx, path);
    if (!s)
        s = mcr_output_write(out, file.bytes, (size_t)file.length);
    if (!s)
        s = mcr_output_start_sync(out);
    if (!s)
        s = read_back(ctx, &file, path); /* while the disk writes */
    if (!s)
        s = mcr_output_commit(out);
    else
        mcr_output_abandon(out);
    mcr_text_free(&file);
    return s;
}

mcr_status mcr_model_save_memory(void **bytes, size_t *count, mcr *ctx, const mcr_model *m)
{
    mcr_text file;
    *bytes = NULL;
    *count = 0;
    mcr_text_init(&file, ctx);
    mcr_status s = write_all(&file, m);
    if (!s)
        s = read_back(ctx, &file, "model");
    if (s) {
        mcr_text_free(&file);
        return s;
    }
    *bytes = file.bytes;
    *count = (size_t)file.length;
    return MCR_OK;
}
