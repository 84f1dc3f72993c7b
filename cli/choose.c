/* choose.c: automatic choice of kernel and options for a table if the call does not set them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "learner.h"
#include "text.h"

int cli_choose_is_wanted(const cli *c, const char *learner, int kernel_given, const mcr_data *data)
{
    enum { LEAST = 50 }; /* fewer objects cannot show which point is better */
    /* If all targets are equal, the learner says why it refuses them. */
    return !kernel_given && cli_learner_can_choose(learner) && !cli_learner_given(c, "C") &&
           !cli_learner_given(c, "lambda") && mcr_data_count(data) >= LEAST &&
           cli_advise_is_mixed(data) && mcr_data_classes(data) != 1;
}

const char *cli_choose_metric(const cli *c, int balance)
{
    return balance || cli_learner_given(c, "class-weight") ? "balanced_accuracy" : NULL;
}

/* The next "C=4" of the options of a point; 0: no more. */
static int next_option(const char **at, char name[32], char value[64])
{
    size_t length = strcspn(*at, " "), named = strcspn(*at, "=");
    if (!**at || named >= length)
        return 0;
    snprintf(name, 32, "%.*s", (int)named, *at);
    snprintf(value, 64, "%.*s", (int)(length - named - 1), *at + named + 1);
    *at += length + strspn(*at + length, " ");
    return 1;
}

int cli_choose_take(cli *c, const mcr_tune_report *report, mcr_options *options,
                    mcr_kernel **kernel)
{
    const mcr_point *best = report->point[report->best];
    const char *at = best->options;
    char name[32], value[64];
    int bad = cli_read_kernel(c, kernel, best->kernel);
    while (!bad && next_option(&at, name, value))
        bad = cli_fail(c, mcr_options_set(options, name, value));
    return bad;
}

void cli_choose_say(const mcr_tune_report *r, int64_t n)
{
    const mcr_point *best = r->point[r->best];
    const char *at = best->options;
    char name[32], value[64], options[160] = "";
    size_t used = 0;
    while (next_option(&at, name, value) && used < sizeof options)
        used += (size_t)snprintf(options + used, sizeof options - used, " %s%s %s",
                                 name[1] ? "--" : "-", name, value);
    cli_say("chosen", "-k '%s'%s", best->kernel, options);
    char drawn[64] = "";
    if (r->objects < n)
        snprintf(drawn, sizeof drawn, ", drawn from all %" PRId64, n);
    cli_say("",
            "the best of %" PRId64 " points: %s %.4g +- %.2g in %" PRId64 " folds of %" PRId64
            " objects%s",
            r->points, r->metric, best->score, best->std, best->splits, r->objects, drawn);
}

void cli_choose_json(cli_json *j, const mcr_tune_report *r)
{
    const mcr_point *best = r->point[r->best];
    const char *at = best->options;
    char name[32], value[64];
    cli_json_object(j, "chosen");
    cli_json_text(j, "kernel", best->kernel);
    cli_json_object(j, "options");
    while (next_option(&at, name, value)) {
        char *end;
        double number = strtod(value, &end);
        if (*end)
            cli_json_text(j, name, value);
        else
            cli_json_real(j, name, number);
    }
    cli_json_end(j);
    cli_json_real(j, "score", best->score);
    cli_json_real(j, "std", best->std);
    cli_json_text(j, "metric", r->metric);
    cli_json_integer(j, "objects", r->objects);
    cli_json_integer(j, "points", r->points);
    cli_json_integer(j, "fits", r->fits);
    cli_json_real(j, "seconds", r->seconds);
    cli_json_end(j);
}
