/* model_file.c: models from files: what they are, and their support vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine_impl.h"

/* Reads the model of `from` and keeps its text, so that the same model is not read again. *found 0:
 * the bytes are no model. */
static mcr_status read_model(studio *s, const studio_value *from, int *found)
{
    const studio_value *v = from && from->type == STUDIO_OBJECT ? studio_file(s, from) : NULL;
    const char *bytes;
    unsigned char *plain;
    size_t count;
    mcr_model *model = NULL;
    *found = 0;
    if (!v)
        return MCR_OK;
    if (s->shown && s->shown_count == v->count && memcmp(s->shown_text, v->text, v->count) == 0) {
        *found = 1;
        return MCR_OK;
    }
    mcr_status status = studio_file_bytes(s, from, v, &bytes, &count, &plain);
    *found = !status && mcr_model_recognise(bytes, count);
    if (*found)
        status = mcr_model_load_memory(&model, s->ctx, studio_text(from, "name", "model"), bytes,
                                       count);
    free(plain);
    char *kept = model ? malloc(v->count + 1) : NULL;
    if (model && !kept) {
        mcr_model_free(model);
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the model");
    }
    if (model) {
        memcpy(kept, v->text, v->count);
        mcr_model_free(s->shown);
        free(s->shown_text);
        s->shown = model;
        s->shown_text = kept;
        s->shown_count = v->count;
    }
    return status;
}

mcr_status studio_model_file(studio *s, const mcr_model **out)
{
    const studio_value *from = studio_find(s->call, "model");
    *out = NULL;
    if (!from)
        return MCR_OK;
    if (from->type == STUDIO_TEXT) {
        *out = s->config.model;
        return *out ? MCR_OK : studio_refuse(s, MCR_BAD_CALL, "no model was given");
    }
    int found;
    mcr_status status = read_model(s, from, &found);
    if (!status && !found)
        status = studio_refuse(s, MCR_BAD_CALL, "that is not a model file");
    if (!status)
        *out = s->shown;
    return status;
}

mcr_status studio_model_objects(studio *s, const mcr_data **out)
{
    const mcr_model *model;
    mcr_status status = studio_model_file(s, &model);
    *out = NULL;
    if (!status && !model)
        status = studio_refuse(s, MCR_BAD_CALL, "a model is needed");
    if (!status && mcr_model_scales(model))
        status = studio_refuse(
            s, MCR_BAD_CALL,
            "the model scales its vectors: drop data on the page, too, and it is "
            "drawn with them");
    if (!status)
        *out = mcr_model_objects(model);
    return status;
}

static void model_json(studio *s, const mcr_model *model, const char *name)
{
    const mcr_report_fit *r = mcr_model_report(model);
    cli_json *j = &s->j;
    cli_json_object(j, "model");
    cli_json_text(j, "name", name);
    cli_json_text(j, "learner", r->learner);
    cli_json_text(j, "kernel", r->kernel);
    cli_json_text(j, "options", r->options);
    cli_json_text(j, "task", r->task == MCR_REGRESS ? "regress" : NULL);
    cli_json_integer(j, "support", r->support);
    cli_json_integer(j, "features", r->features);
    cli_json_integer(j, "classes", r->classes);
    cli_json_flag(j, "scales", mcr_model_scales(model));
    cli_json_end(j);
}

/* Targets that the file does not have: of two classes by the sign of the coefficient, of numbers
 * what the model says itself. */
static void guess_targets(const mcr_model *model, mcr_coefficient *row, int64_t n)
{
    int64_t positive = -1, negative = -1;
    int numbers = mcr_model_report(model)->task == MCR_REGRESS;
    if (mcr_model_outputs(model) == 1 && mcr_model_classes(model) == 2)
        mcr_model_sides(model, 0, &positive, &negative);
    for (int64_t i = 0; i < n; i++) {
        if (isfinite(row[i].target))
            continue;
        if (positive >= 0 && negative >= 0)
            row[i].target = (double)(row[i].coef > 0 ? positive : negative);
        else if (numbers)
            row[i].target = row[i].value;
    }
}

/* Targets of the support vectors, where the model knows them. */
static mcr_status targets_json(studio *s, const mcr_model *model)
{
    int64_t n = mcr_model_support(model), shown = studio_shown(n, STUDIO_SHOWN);
    int classes = mcr_model_classes(model) > 0;
    double offset, square;
    mcr_coefficient *row = malloc((size_t)(n > 0 ? n : 1) * sizeof *row);
    if (!row)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the coefficients");
    mcr_status status = n > 0 ? mcr_model_dual(s->ctx, model, 0, row, &offset, &square) : MCR_OK;
    int known = status == MCR_OK;
    if (known)
        guess_targets(model, row, n);
    for (int64_t i = 0; i < n && known; i++)
        known = isfinite(row[i].target);
    cli_json_text(&s->j, "targets", !known ? "none" : classes ? "words" : "numbers");
    cli_json_list(&s->j, "classes");
    for (int64_t c = 0; c < mcr_model_classes(model) && c < 64; c++)
        cli_json_text(&s->j, NULL, mcr_model_class_name(model, c));
    cli_json_end(&s->j);
    for (int list = 0; list < 2; list++) {
        cli_json_list(&s->j, list == 0 ? "target" : "class");
        for (int64_t r = 0; r < shown && known && (list == 0 || classes); r++)
            cli_json_real(&s->j, NULL, row[studio_shown_object(r, shown, n)].target);
        cli_json_end(&s->j);
    }
    free(row);
    /* Some learners have no coefficients: that is no fault. */
    return status == MCR_BAD_CALL ? MCR_OK : status;
}

/* The support vectors in the place of data, for models that can be drawn without any. */
static mcr_status objects_json(studio *s, const mcr_model *model, const char *name)
{
    const mcr_data *objects = mcr_model_objects(model);
    if (!objects || mcr_model_scales(model))
        return MCR_OK;
    studio_fields_json(s, objects, name);
    mcr_status status = targets_json(s, model);
    return status ? status : studio_points_json(s, objects);
}

mcr_status studio_load_model(studio *s, const studio_value *from, int *found)
{
    mcr_status status = read_model(s, from, found);
    if (status || !*found)
        return status;
    const char *name = studio_text(from, "name", "model");
    model_json(s, s->shown, name);
    return objects_json(s, s->shown, name);
}

mcr_status studio_given_model(studio *s)
{
    model_json(s, s->config.model, s->config.name);
    if (s->config.data)
        return MCR_OK;
    cli_json_object(&s->j, "objects");
    mcr_status status = objects_json(s, s->config.model, s->config.name);
    cli_json_end(&s->j);
    return status;
}
