/* verb_learners.c: mercer learners: lists the learners, with options and defaults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "help.h"
#include "json.h"
#include "registry.h"
#include "report.h"
#include "suggest.h"
#include "text.h"

/* All learners, or the one named `only`. */
static void print_json(const char *only)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_list(&j, "learners");
    for (int64_t i = 0; i < mcr_learner_count(); i++) {
        mcr_learner_info l = MCR_INIT(mcr_learner_info);
        if (mcr_learner_describe(i, &l) == MCR_OK && (!only || strcmp(l.name, only) == 0))
            cli_learner_json(&j, &l);
    }
    cli_json_end(&j);
    cli_json_end(&j);
}

static void print_list(void)
{
    static const struct heading {
        mcr_task task;
        const char *text;
    } headings[] = {{MCR_CLASSIFY, "Classes"},          {MCR_REGRESS, "Numbers"},
                    {MCR_EITHER, "Classes or numbers"}, {MCR_DETECT, "Outliers"},
                    {MCR_CLUSTER, "Clusters"},          {MCR_TRANSFORM, "Coordinates"}};
    mcr_learner_info l = MCR_INIT(mcr_learner_info);
    int width = 0;
    for (int64_t i = 0; i < mcr_learner_count(); i++)
        if (mcr_learner_describe(i, &l) == MCR_OK && (int)strlen(l.name) > width)
            width = (int)strlen(l.name);
    for (size_t h = 0; h < sizeof headings / sizeof *headings; h++) {
        int begun = 0;
        for (int64_t i = 0; i < mcr_learner_count(); i++) {
            if (mcr_learner_describe(i, &l) != MCR_OK || l.task != headings[h].task)
                continue;
            if (!begun)
                printf("%s%s%s:%s\n", h ? "\n" : "", cli_style_code(stdout, CLI_BOLD),
                       headings[h].text, cli_style_code(stdout, CLI_PLAIN));
            begun = 1;
            printf("  %-*s  %s\n", width, l.name, l.summary);
        }
    }
    puts("\nmercer learners NAME shows the options of one learner.");
}

static void print_one(const mcr_learner_info *l)
{
    static const char *const predicts[] = {
        [MCR_CLASSIFY] = "a class",
        [MCR_REGRESS] = "a number",
        [MCR_DETECT] = "1 for an object like the training objects, else -1",
        [MCR_CLUSTER] = "the number of a cluster, from 1",
        [MCR_TRANSFORM] = "nothing: it gives coordinates (mercer transform)",
        [MCR_EITHER] = "a class or a number (--task)",
    };
    cli_say("learner", "%s", l->name);
    cli_say("method", "%s", l->summary);
    cli_say("predicts", "%s", predicts[l->task]);
    if (!l->params || !l->params->name) {
        cli_say("options", "none");
        return;
    }
    putchar('\n');
    cli_help_params(l->params);
}

static int refuse_name(cli *c, const char *name)
{
    cli_suggestion near = {name, NULL, 0};
    mcr_learner_info l = MCR_INIT(mcr_learner_info);
    for (int64_t i = 0; i < mcr_learner_count(); i++)
        if (mcr_learner_describe(i, &l) == MCR_OK)
            cli_suggest(&near, l.name);
    if (near.nearest)
        return cli_refuse(c, "unknown learner \"%s\" (did you mean \"%s\"?)", name, near.nearest);
    return cli_refuse(c, "unknown learner \"%s\" (mercer learners lists them)", name);
}

static int run(cli *c, const void *values)
{
    (void)values;
    const char *name = cli_word(c, 0);
    mcr_learner_info l = MCR_INIT(mcr_learner_info);
    int64_t at = 0;
    while (name && at < mcr_learner_count() &&
           (mcr_learner_describe(at, &l) != MCR_OK || strcmp(l.name, name) != 0))
        at++;
    if (name && at == mcr_learner_count())
        return refuse_name(c, name);
    if (c->common.json)
        print_json(name);
    else if (name)
        print_one(&l);
    else
        print_list();
    return 0;
}

static const char *const words[] = {"NAME", NULL};

const cli_verb cli_verb_learners = {
    .name = "learners",
    .summary = "list the learners, with options and defaults",
    .usage = "[NAME]",
    .about = "Lists the learners, or shows one with its options. Every learner works with every\n"
             "kernel, on every kind of object.",
    .examples = "mercer learners\n"
                "mercer learners svm\n"
                "mercer learners one-class --json",
    .traits = CLI_NO_CONTEXT,
    .words = words,
    .run = run,
};
