/* registry.c: kernels and learners with their parameters, as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "registry.h"

#include <math.h>
#include <stdlib.h>

static int is_number(const mcr_param *p)
{
    return p->type == MCR_REAL || p->type == MCR_INT || p->type == MCR_REALS;
}

static void default_json(cli_json *j, const mcr_param *p)
{
    char *end = NULL;
    double number = p->standard && is_number(p) ? strtod(p->standard, &end) : NAN;
    if (end && end != p->standard && !*end && isfinite(number))
        cli_json_real(j, "default", number);
    else
        cli_json_text(j, "default", p->standard);
}

static void params_json(cli_json *j, const mcr_param *params)
{
    static const char *const types[] = {
        [MCR_REAL] = "real",     [MCR_INT] = "integer", [MCR_FLAG] = "flag",
        [MCR_CHOICE] = "choice", [MCR_TEXT] = "text",   [MCR_REALS] = "reals"};
    cli_json_list(j, "params");
    for (const mcr_param *p = params; p && p->name; p++) {
        if (p->flags & MCR_OLD_NAME)
            continue;
        cli_json_object(j, NULL);
        cli_json_text(j, "name", p->name);
        cli_json_text(j, "type", types[p->type]);
        default_json(j, p);
        cli_json_real(j, "min", is_number(p) ? p->min : NAN);
        cli_json_real(j, "max", is_number(p) ? p->max : NAN);
        cli_json_flag(j, "min_open", is_number(p) && (p->flags & MCR_MIN_OPEN));
        cli_json_flag(j, "max_open", is_number(p) && (p->flags & MCR_MAX_OPEN));
        cli_json_text(j, "choices", p->type == MCR_CHOICE ? p->choices : NULL);
        cli_json_text(j, "help", p->help);
        cli_json_end(j);
    }
    cli_json_end(j);
}

void cli_kernel_json(cli_json *j, const mcr_kernel_info *k)
{
    static const struct kind {
        int bit;
        const char *name;
    } kinds[] = {{MCR_DENSE, "dense"},
                 {MCR_SPARSE, "sparse"},
                 {MCR_STRINGS, "strings"},
                 {MCR_GRAPHS, "graphs"},
                 {MCR_PRECOMPUTED, "precomputed"}};
    cli_json_object(j, NULL);
    cli_json_text(j, "name", k->name);
    cli_json_text(j, "summary", k->summary);
    cli_json_list(j, "kinds");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (k->kinds & kinds[i].bit)
            cli_json_text(j, NULL, kinds[i].name);
    cli_json_end(j);
    cli_json_flag(j, "combines", k->kinds == 0);
    cli_json_flag(j, "features", k->has_features);
    cli_json_flag(j, "indefinite", k->indefinite);
    params_json(j, k->params);
    cli_json_end(j);
}

void cli_learner_json(cli_json *j, const mcr_learner_info *l)
{
    cli_json_object(j, NULL);
    cli_json_text(j, "name", l->name);
    cli_json_text(j, "summary", l->summary);
    cli_json_text(j, "task", mcr_task_name(l->task));
    params_json(j, l->params);
    cli_json_end(j);
}
