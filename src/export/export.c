/* export.c: the table of targets, and the call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "export/export.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "kernel/select.h"

static const mcr_export_type *const targets[] = {
#define EXPORT(name) &mcr_export_##name,
#include "export/exports.def"
#undef EXPORT
};
enum { TARGETS = sizeof targets / sizeof *targets };

int64_t mcr_export_count(void)
{
    return TARGETS;
}

mcr_status mcr_export_describe(int64_t number, mcr_export_info *out)
{
    if (number < 0 || number >= TARGETS)
        return MCR_BAD_CALL;
    mcr_export_info info = {.size = sizeof info,
                            .name = targets[number]->name,
                            .summary = targets[number]->summary,
                            .numbers = targets[number]->numbers};
    return MCR_SIZED_WRITE(mcr_export_info, out, NULL, &info);
}

/* ---- what the call says -----------------------------------------------------------------------*/

static mcr_status find_target(const mcr_export_type **out, mcr *ctx, const char *name)
{
    for (int i = 0; i < TARGETS; i++)
        if (strcmp(targets[i]->name, name) == 0) {
            *out = targets[i];
            return MCR_OK;
        }
    return mcr_fail(ctx, MCR_BAD_CALL, "models cannot be exported to \"%.100s\"", name);
}

/* One of "float|double|int8"; *out is NULL where the target has no choice. */
static mcr_status choose_numbers(char out[16], mcr *ctx, const mcr_export_type *type,
                                 const char *wanted)
{
    const char *list = type->numbers;
    out[0] = '\0';
    if (!list && wanted)
        return mcr_fail(ctx, MCR_BAD_CALL, "%s has one kind of numbers; omit \"%.100s\"",
                        type->name, wanted);
    for (const char *at = list; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        size_t length = strcspn(at, "|");
        if (wanted && (strlen(wanted) != length || strncmp(wanted, at, length) != 0))
            continue;
        memcpy(out, at, length);
        out[length] = '\0';
        return MCR_OK;
    }
    return list ? mcr_fail(ctx, MCR_BAD_CALL, "%s has no numbers \"%.100s\" (there is: %s)",
                           type->name, wanted, list)
                : MCR_OK;
}

static mcr_status check_name(mcr *ctx, const char *name)
{
    bool good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *c = name; *c; c++)
        good = good && (isalnum((unsigned char)*c) || *c == '_') && (unsigned char)*c < 128;
    return good && strlen(name) <= 60 ? MCR_OK
                                      : mcr_fail(ctx, MCR_BAD_CALL,
                                                 "\"%.100s\" cannot begin names in C: use up to 60 "
                                                 "letters, digits and _, no digit first",
                                                 name);
}

static bool names_columns(const mcr_kernel *k, const mcr_data *basis)
{
    bool found = k->type->kinds && mcr_selects(k, basis);
    for (int c = 0; c < k->children && !found; c++)
        found = names_columns(k->child[c], basis);
    return found;
}

static mcr_status check_threshold(mcr *ctx, const mcr_model *model)
{
    mcr_threshold t = MCR_INIT(mcr_threshold);
    mcr_status s = mcr_model_threshold(model, &t);
    return s || isnan(t.value)
               ? s
               : mcr_fail(ctx, MCR_BAD_CALL,
                          "a model with a threshold cannot be exported: compare its scores with "
                          "%g in your program",
                          t.value);
}

/* Only Mercer's own models support columns by name, categories and missing values. */
static mcr_status check_table(mcr *ctx, const mcr_model *model)
{
    const mcr_scaling *s = model->scaling;
    bool table = names_columns(model->kernel, model->basis);
    for (int64_t f = 0; s && f < s->fields && !table; f++)
        table = s->field[f].fill != NULL;
    return table
               ? mcr_fail(ctx, MCR_BAD_CALL,
                          "a model that names columns of a table, or fills missing values, cannot "
                          "be exported")
               : MCR_OK;
}

mcr_status mcr_model_export(mcr *ctx, const mcr_model *model, const char *to,
                            const mcr_export_options *options, const char *path,
                            mcr_export_report *report)
{
    const mcr_export_type *type = NULL;
    mcr_export_report own;
    char numbers[16];
    mcr_export_options how;
    mcr_status s = MCR_SIZED_READ(mcr_export_options, &how, ctx, options);
    if (!s && report)
        s = MCR_SIZED_CHECK(mcr_export_report, ctx, report);
    if (s)
        return s;
    own = (mcr_export_report){
        .size = sizeof own, .support = model->fitted->basis, .self = NAN, .largest = NAN};
    const char *name = how.name ? how.name : "model";
    s = find_target(&type, ctx, to);
    if (!s)
        s = choose_numbers(numbers, ctx, type, how.numbers);
    if (!s)
        s = check_name(ctx, name);
    if (!s)
        s = check_table(ctx, model);
    if (!s)
        s = check_threshold(ctx, model);
    if (!s)
        s = type->write(&(mcr_exporting){.ctx = ctx,
                                         .model = model,
                                         .name = name,
                                         .numbers = numbers[0] ? numbers : NULL,
                                         .path = path,
                                         .report = &own});
    if (!s && report)
        s = MCR_SIZED_WRITE(mcr_export_report, report, ctx, &own);
    return s;
}
