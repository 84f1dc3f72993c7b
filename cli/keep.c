/* keep.c: saving a trained model, and protecting the file that it would replace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "team.h"

/* A local optimum counts: some learners cannot reach more. */
static int is_optimal(const mcr_model *model)
{
    mcr_stop stop = mcr_model_report(model)->stop;
    return stop == MCR_STOP_OPTIMAL || stop == MCR_STOP_LOCAL;
}

static int is_same(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

/* Whether the file holds a model of the same call that is not optimal either: a later interrupt of
 * the same work may replace it. */
static int is_earlier(cli *c, const mcr_model *model, const char *path)
{
    mcr_model *old = NULL;
    if (mcr_model_load(&old, c->ctx, path) != MCR_OK)
        return 0;
    const mcr_report_fit *a = mcr_model_report(model), *b = mcr_model_report(old);
    int same = !is_optimal(old) && a->n == b->n && a->features == b->features &&
               a->seed == b->seed && is_same(a->learner, b->learner) &&
               is_same(a->kernel, b->kernel) && is_same(a->options, b->options);
    mcr_model_free(old);
    return same;
}

int cli_keep_refused(cli *c, const mcr_model *model, const cli_keeping *keep)
{
    if (!keep->require || is_optimal(model))
        return 0;
    cli_fault(c, NULL, "not optimal, although --require optimal was given: %s%s",
              keep->path ? keep->path : "nothing", keep->path ? " is left as it was" : " is kept");
    return CLI_NOT_OPTIMAL;
}

int cli_keep_check(cli *c, const cli_keeping *keep)
{
    if (keep->require && strcmp(keep->require, "optimal") != 0)
        return cli_refuse(c, "--require: unknown value \"%s\"; the only one is optimal",
                          keep->require);
    return 0;
}

int cli_keep_model(cli *c, const mcr_model *model, cli_keeping *keep)
{
    struct stat there;
    const char *path = keep->path;
    int bad = cli_keep_refused(c, model, keep);
    if (bad || !path || !cli_is_first(c))
        return bad;
    if (mcr_model_report(model)->stop == MCR_STOP_INTERRUPTED && strcmp(path, "-") != 0 &&
        stat(path, &there) == 0 && S_ISREG(there.st_mode) && !is_earlier(c, model, path)) {
        size_t capacity = strlen(path) + sizeof ".interrupted";
        keep->beside = cli_alloc(capacity, 1);
        snprintf(keep->beside, capacity, "%s.interrupted", path);
        path = keep->beside;
    }
    return cli_fail(c, cli_save_model(c, model, path));
}

int cli_keep_status(const mcr_model *model)
{
    return mcr_model_report(model)->stop == MCR_STOP_INTERRUPTED ? CLI_INTERRUPTED : 0;
}

void cli_keep_close(cli_keeping *keep)
{
    free(keep->beside);
    keep->beside = NULL;
}
