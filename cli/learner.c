/* learner.c: the options of the learners, generated from their tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"

static int find_learner(const char *name, mcr_learner_info *info)
{
    for (int64_t i = 0; i < mcr_learner_count(); i++)
        if (mcr_learner_describe(i, info) == MCR_OK && strcmp(info->name, name) == 0)
            return 1;
    return 0;
}

int cli_learner_exists(const char *name)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    return find_learner(name, &info);
}

int cli_learner_task(const char *name)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    return find_learner(name, &info) ? (int)info.task : -1;
}

int cli_learner_can_start(const char *name)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    return find_learner(name, &info) && info.can_start;
}

int cli_learner_can_resume(const char *name)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    return find_learner(name, &info) && info.can_resume;
}

int cli_learner_can_choose(const char *name)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    return find_learner(name, &info) && info.can_choose;
}

int cli_learner_detects(const char *name)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    return find_learner(name, &info) && info.task == MCR_DETECT;
}

static const mcr_param *find_param(const mcr_param *table, const char *name)
{
    for (const mcr_param *p = table; p && p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

int cli_learner_has(const char *name, const char *option)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    return find_learner(name, &info) && find_param(info.params, option) != NULL;
}

/* Examples for the help of a learner; other learners have those of their verb. */
static const char *const examples[][2] = {
    {"nu-svm", "mercer sample moons -n 500 -o moons.csv\n"
               "mercer fit nu-svm moons.csv -k 'rbf(gamma=2)' --nu 0.2 -o moons.mercer"},
    {"one-class", "mercer sample moons -n 500 -o moons.csv\n"
                  "mercer fit one-class moons.csv -k 'rbf(gamma=2)' --nu 0.05 -o inside.mercer\n"
                  "mercer predict inside.mercer moons.csv --target none -o sides.txt"},
    {"l1-svm", "mercer sample moons -n 200 -o moons.csv\n"
               "mercer fit l1-svm moons.csv -k 'rbf(gamma=2)' -C 10 -o few.mercer"},
    {"svr", "mercer sample sinc -n 200 -o sinc.csv\n"
            "mercer fit svr sinc.csv --epsilon 0.05 --tol 1e-6 -o sinc.mercer\n"
            "mercer fit svr sinc.csv -k 'matern(nu=1.5)' -C 10 --max-steps 50 -o part.mercer\n"
            "mercer fit svr sinc.csv -k 'matern(nu=1.5)' -C 10 --start part.mercer"},
    {"logistic", "mercer sample blobs -n 300 -o blobs.csv\n"
                 "mercer fit logistic blobs.csv -k 'rbf(gamma=0.5)' --lambda 0.1 -o p.mercer\n"
                 "mercer predict p.mercer blobs.csv --proba -o proba.csv"},
    {"ridge", "mercer sample sinc -n 200 -o sinc.csv\n"
              "mercer fit ridge sinc.csv -k 'rbf(gamma=0.5)' --lambda 0.1 --loo\n"
              "mercer fit ridge sinc.csv -k 'rbf(gamma=0.5)' --lambda 1e-6:1e3:log20\n"
              "mercer sample friedman -n 200 -o friedman.csv\n"
              "mercer fit ridge friedman.csv --target target,x5 -o both.mercer\n"
              "mercer sample blobs -n 300 -o blobs.csv\n"
              "mercer fit ridge blobs.csv --task classify -o blobs.mercer"},
    {"erm", "mercer sample sinc -n 200 -o sinc.csv\n"
            "mercer fit erm sinc.csv -k 'rbf(gamma=0.5) + 1' --loss quantile --quantile 0.9\n"
            "mercer sample moons -n 200 -o moons.csv\n"
            "mercer fit erm moons.csv --task classify --loss squared-hinge --lambda 0.01"},
    {"knn", "mercer sample moons -n 500 -o moons.csv\n"
            "mercer fit knn moons.csv --task classify --neighbors 9 --loo -o near.mercer\n"
            "mercer predict near.mercer moons.csv --proba -o shares.csv"},
    {"kmeans", "mercer sample blobs -n 300 -o blobs.csv\n"
               "mercer fit kmeans blobs.csv -k 'rbf(gamma=0.5)' --clusters 3 -o c.mercer\n"
               "mercer predict c.mercer blobs.csv -o clusters.txt"},
    {"nu-svr", "mercer sample sinc -n 200 -o sinc.csv\n"
               "mercer fit nu-svr sinc.csv --nu 0.3 -o sinc.mercer"},
    {"gp", "mercer sample sinc -n 200 -o sinc.csv\n"
           "mercer fit gp sinc.csv -k 'rbf(gamma=1)' -o sinc.mercer\n"
           "mercer predict sinc.mercer sinc.csv --std -o values.csv\n"
           "mercer sample moons -n 200 -o moons.csv\n"
           "mercer fit gp moons.csv -k '2*rbf(gamma=2)' --task classify -o moons.mercer\n"
           "mercer predict moons.mercer moons.csv --proba -o proba.csv"},
    {"cca", "mercer sample mixed -n 300 -o mixed.jsonl\n"
            "mercer fit cca mixed.jsonl -k 'rbf(x, gamma=0.1)' "
            "--kernel2 'wl(molecule, h=1)' -o mixed.mercer\n"
            "mercer sample mixed -n 300 --seed 2 -o new.jsonl\n"
            "mercer transform mixed.mercer new.jsonl -o coordinates.csv"},
    {"fisher", "mercer sample blobs -n 300 -o blobs.csv\n"
               "mercer fit fisher blobs.csv -k 'rbf(gamma=1)' --lambda 0.01 -o blobs.mercer\n"
               "mercer predict blobs.mercer blobs.csv -o labels.txt\n"
               "mercer transform blobs.mercer blobs.csv -o coordinates.csv"},
    {"perceptron",
     "mercer sample blobs -n 300 -o blobs.csv\n"
     "mercer fit perceptron blobs.csv -k 'rbf(gamma=0.5)' --variant averaged -o p.mercer\n"
     "mercer sample blobs -n 200 --seed 2 -o more.csv\n"
     "mercer fit --resume p.mercer more.csv --budget 50 -o p.mercer\n"
     "mercer predict p.mercer blobs.csv -o classes.txt"},
    {"pegasos", "mercer sample moons -n 500 -o moons.csv\n"
                "mercer fit pegasos moons.csv -k 'rbf(gamma=2)' -C 10 -o moons.mercer\n"
                "mercer fit pegasos moons.csv -k 'poly(degree=3, c=1)' --batch 10 --form primal\n"
                "mercer sample moons -n 500 --seed 2 -o more.csv\n"
                "mercer fit --resume moons.mercer more.csv --passes 1 -o moons.mercer"},
    {"pca", "mercer sample rings -n 300 -o rings.csv\n"
            "mercer fit pca rings.csv -k 'rbf(gamma=1)' -n 3 -o rings.mercer\n"
            "mercer transform rings.mercer rings.csv -o coordinates.csv"},
};

const char *cli_learner_examples(const char *name)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i][0], name) == 0)
            return examples[i][1];
    return NULL;
}

/* ---- the table --------------------------------------------------------------------------------*/

static int has_option(const cli_option *options, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(options[i].name, name) == 0)
            return 1;
    return 0;
}

static const char *argument_of(const mcr_param *p)
{
    switch (p->type) {
    case MCR_REAL: return "X";
    case MCR_REALS: return "X,...";
    case MCR_INT: return "N";
    case MCR_FLAG: return "yes|no";
    case MCR_CHOICE: return p->choices;
    case MCR_TEXT: return "TEXT";
    }
    return "VALUE";
}

/* Names of one letter are short options; one long name has a letter, too. */
static char letter_of(const mcr_param *p)
{
    return !p->name[1] ? p->name[0] : strcmp(p->name, "components") == 0 ? 'n' : '\0';
}

static cli_option make_option(const mcr_param *p, int at, int with_default)
{
    return (cli_option){
        .name = p->name,
        .letter = letter_of(p),
        .type = p->type == MCR_FLAG ? CLI_SWITCH : CLI_TEXT,
        .offset = (size_t)at * sizeof(const char *),
        .argument = argument_of(p),
        .standard = with_default ? p->standard : NULL,
        .help = p->flags & MCR_OLD_NAME ? NULL : p->help,
    };
}

void cli_learner_open(cli *c, const char *learner)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    size_t most = 0;
    int count = 0;
    for (int64_t i = 0; i < mcr_learner_count(); i++)
        if (mcr_learner_describe(i, &info) == MCR_OK)
            for (const mcr_param *p = info.params; p && p->name; p++)
                most++;
    c->learning.title = "Options of the learner";
    c->learning.learner = learner;
    c->learning.options = cli_alloc(most + 1, sizeof *c->learning.options);
    c->learning.values = cli_alloc(most + 1, sizeof *c->learning.values);
    for (int64_t i = 0; i < mcr_learner_count(); i++) {
        if (mcr_learner_describe(i, &info) != MCR_OK ||
            (learner && strcmp(info.name, learner) != 0))
            continue;
        for (const mcr_param *p = info.params; p && p->name; p++)
            if (!has_option(c->learning.options, count, p->name)) {
                c->learning.options[count] = make_option(p, count, learner != NULL);
                count++;
            }
    }
}

void cli_learner_close(cli *c)
{
    free(c->learning.options);
    free(c->learning.values);
    c->learning = (cli_learning){0};
}

/* ---- the values -------------------------------------------------------------------------------*/

/* Refuses an option that belongs to other learners. */
static int refuse_option(cli *c, const char *learner, const cli_option *o)
{
    char others[256] = "";
    size_t used = 0;
    for (int64_t i = 0; i < mcr_learner_count(); i++) {
        mcr_learner_info info = MCR_INIT(mcr_learner_info);
        if (mcr_learner_describe(i, &info) == MCR_OK && find_param(info.params, o->name) &&
            used < sizeof others)
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "",
                                     info.name);
    }
    return cli_refuse(c, "%s has no option %s%s (it is one of %s; see mercer %s %s --help)",
                      learner, o->name[1] ? "--" : "-", o->name, others, c->verb->name, learner);
}

const char *cli_learner_given(const cli *c, const char *option)
{
    for (int i = 0; c->learning.options && c->learning.options[i].name; i++)
        if (strcmp(c->learning.options[i].name, option) == 0)
            return c->learning.values[i];
    return NULL;
}

int cli_learner_balance(cli *c, mcr_options *options, const char *learner)
{
    if (!cli_learner_has(learner, "class-weight"))
        return cli_refuse(c, "--balance: %s has no class weights", learner);
    if (cli_learner_given(c, "class-weight"))
        return cli_refuse(c, "--balance is --class-weight balanced: give one of them");
    return cli_fail(c, mcr_options_set(options, "class-weight", "balanced"));
}

/* Called after the options are set, so that the value of --approx is valid. */
static int check_approx(cli *c)
{
    const char *word = cli_learner_given(c, "approx");
    int approx = !word || strcmp(word, "none") == 0 ? MCR_APPROX_NONE
                 : strcmp(word, "rff") == 0         ? MCR_APPROX_RFF
                 : strcmp(word, "nystrom") == 0     ? MCR_APPROX_NYSTROM
                                                    : MCR_APPROX_FALKON; /* or auto, sgpr */
    return cli_advise_approx(c, approx, cli_learner_given(c, "rank") != NULL,
                             cli_learner_given(c, "landmarks") != NULL);
}

/* Sets the options given in the call; ranges are listed, if there is a list for them. */
static int set_options(cli *c, mcr_options *options, const char *learner, const char **name,
                       const char **range, int64_t *count)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    int bad = !find_learner(learner, &info);
    for (int i = 0; !bad && c->learning.options[i].name; i++) {
        const cli_option *o = &c->learning.options[i];
        const char *value = c->learning.values[i];
        const mcr_param *p = find_param(info.params, o->name);
        if (!value)
            continue;
        int form = strcmp(o->name, "form") == 0 || strcmp(o->name, "side") == 0 ||
                   strcmp(o->name, "approx") == 0; /* the learner reports why it has none */
        if (!p && !form) {
            bad = refuse_option(c, learner, o);
        } else if (p && name && strchr(value, ':') &&
                   (p->type == MCR_REAL || p->type == MCR_INT ||
                    (c->learning.searches && (p->flags & MCR_MAY_RANGE)))) {
            name[*count] = o->name;
            range[(*count)++] = value;
        } else {
            bad = cli_fail(c, mcr_options_set(options, o->name, value));
        }
    }
    return bad ? bad : check_approx(c);
}

int cli_learner_set(cli *c, mcr_options *options, const char *learner)
{
    return set_options(c, options, learner, NULL, NULL, NULL);
}

int cli_learner_options(cli *c, mcr_options **out, const char *learner)
{
    return cli_learner_ranges(c, out, learner, NULL, NULL, NULL);
}

int cli_learner_ranges(cli *c, mcr_options **out, const char *learner, const char **name,
                       const char **range, int64_t *count)
{
    int bad = cli_fail(c, mcr_options_open(out, c->ctx, learner));
    if (!bad)
        bad = set_options(c, *out, learner, name, range, count);
    if (bad) {
        mcr_options_close(*out);
        *out = NULL;
    }
    return bad;
}
