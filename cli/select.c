/* select.c: splits, metrics and ranges on the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "learner.h"
#include "tables.h"

/* ---- options ----------------------------------------------------------------------------------*/

const char *cli_metric_name(int64_t number)
{
    mcr_metric_info info = MCR_INIT(mcr_metric_info);
    if (number >= mcr_metric_count() || mcr_metric_describe(number, &info) != MCR_OK)
        return NULL;
    return info.name;
}

static int has_range(const char *text)
{
    const char *equal = strchr(text, '='), *colon = equal ? strchr(equal, ':') : NULL;
    return colon != NULL;
}

static int set_search(cli *c, cli_selection *s, const cli_splitting *how)
{
    if (how->search && strcmp(how->search, "grid") != 0 && strcmp(how->search, "adaptive") != 0)
        return cli_refuse(c, "--search %s: there are grid and adaptive", how->search);
    if (how->relevance && strcmp(how->relevance, "yes") != 0 && strcmp(how->relevance, "no") != 0)
        return cli_refuse(c, "--relevance %s: there are yes and no", how->relevance);
    s->search.adaptive = how->search ? how->search[0] == 'a' : !s->ranged;
    s->search.relevance = how->relevance ? how->relevance[0] == 'y'
                                         : !s->ranged && !s->search.kernels;
    return 0;
}

int cli_selection_open(cli *c, cli_selection *s, const cli_splitting *how, const cli_list *kernels)
{
    *s = (cli_selection){.search = {.size = sizeof s->search}};
    size_t most = 0;
    while (c->learning.options[most].name)
        most++;
    s->option = cli_alloc(most + 1, sizeof *s->option);
    s->range = cli_alloc(most + 1, sizeof *s->range);
    int bad = cli_learner_ranges(c, &s->options, cli_word(c, 0), s->option, s->range,
                                 &s->search.ranges);
    if (!bad && how->balance)
        bad = cli_learner_balance(c, s->options, cli_word(c, 0));
    if (!bad && how->scale)
        bad = cli_fail(c, mcr_options_set(s->options, "scale", how->scale));
    s->ranged = s->search.ranges > 0;
    for (int64_t k = 0; k < kernels->count; k++)
        s->ranged |= has_range(kernels->item[k]);
    s->search.option = s->option;
    s->search.range = s->range;
    s->search.kernel = kernels->item;
    s->search.kernels = kernels->count;
    s->search.metric = how->metric;
    s->searches = s->ranged || kernels->count > 1;
    return bad ? bad : set_search(c, s, how);
}

void cli_selection_close(cli_selection *s)
{
    mcr_options_close(s->options);
    free(s->option);
    free(s->range);
    free(s->group);
}

/* ---- groups -----------------------------------------------------------------------------------*/

typedef struct named {
    char *word;
    int64_t at, number;
} named;

static int by_word(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int order = strcmp(x->word, y->word);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Equal words get equal numbers. */
static void number_words(named *list, int64_t n, int64_t *group)
{
    qsort(list, (size_t)n, sizeof *list, by_word);
    for (int64_t i = 0; i < n; i++) {
        list[i].number = i && strcmp(list[i].word, list[i - 1].word) == 0 ? list[i - 1].number : i;
        group[list[i].at] = list[i].number;
    }
}

static void take_word(named *list, int64_t i, const char *bytes, int64_t length)
{
    list[i] = (named){.word = cli_alloc((size_t)length + 1, 1), .at = i};
    memcpy(list[i].word, bytes, (size_t)length);
}

static int read_lines(cli *c, const char *path, named *list, int64_t n)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return cli_refuse(c, "--groups %s: there is no column of that name, and no such file",
                          path);
    char *line = NULL;
    size_t capacity = 0;
    int64_t count = 0;
    for (ssize_t got; (got = getline(&line, &capacity, file)) >= 0; count++) {
        while (got > 0 && strchr("\r\n", line[got - 1]))
            got--;
        if (count < n)
            take_word(list, count, line, got);
    }
    free(line);
    fclose(file);
    return count == n ? 0
                      : cli_fault(c, path,
                                  "%" PRId64 " lines for %" PRId64 " objects: one word per object",
                                  count, n);
}

/* From a column, which is removed from the data, or from a file. */
static int read_groups(cli *c, cli_selection *s, const char *name, mcr_data **data)
{
    int64_t n = mcr_data_count(*data);
    mcr_data *rest = NULL;
    s->group = cli_alloc((size_t)n + 1, sizeof *s->group);
    int bad = cli_fail_words(c, mcr_data_take_groups(&rest, *data, name, s->group), 1);
    if (bad)
        return bad;
    if (rest) {
        mcr_data_free(*data);
        *data = rest;
        return 0;
    }
    named *list = cli_alloc((size_t)n + 1, sizeof *list);
    bad = read_lines(c, name, list, n);
    if (!bad)
        number_words(list, n, s->group);
    for (int64_t i = 0; i < n; i++)
        free(list[i].word);
    free(list);
    return bad;
}

static int set_splits(cli *c, cli_selection *s, const cli_splitting *how, mcr_data **data)
{
    if (how->loo && how->ordered)
        return cli_refuse(c, "--loo and --ordered exclude each other");
    if (how->loo && how->folds > 0)
        return cli_refuse(c, "--loo makes each object a fold: omit --folds");
    int bad = how->groups ? read_groups(c, s, how->groups, data) : 0;
    s->split = (mcr_split_plan){
        .size = sizeof s->split,
        .kind = how->loo       ? MCR_SPLIT_LEAVE_ONE_OUT
                : how->ordered ? MCR_SPLIT_ORDERED
                               : MCR_SPLIT_FOLDS,
        .folds = how->folds > 0 ? how->folds : 0,
        .repeats = how->repeats > 0 ? how->repeats : 0,
        .plain = how->plain,
        .group = s->group,
    };
    s->search.split = &s->split;
    return bad;
}

int cli_choose_positive(cli *c, const char *positive, mcr_data **data)
{
    mcr_data *marked = NULL;
    int bad = cli_fail(c, cli_learner_detects(cli_word(c, 0))
                              ? mcr_data_mark(&marked, *data, positive)
                              : mcr_data_choose_positive(&marked, *data, positive));
    if (!bad) {
        mcr_data_free(*data);
        *data = marked;
    }
    return bad;
}

/* Targets of detection are -1 and +1; otherwise it is unknown which is the anomaly. */
static int check_marks(cli *c, const mcr_data *data)
{
    const double *target = mcr_data_targets(data);
    int marked = mcr_data_target_kind(data) == MCR_REAL_TARGETS;
    for (int64_t i = 0; marked && i < mcr_data_count(data); i++)
        marked = target[i] == 1 || target[i] == -1;
    if (marked || !cli_learner_detects(cli_word(c, 0)))
        return 0;
    return cli_fault(c, c->words.count == 2 ? cli_word(c, 1) : NULL,
                     "%s is evaluated by targets of -1 for an anomaly and +1 for others, and the "
                     "data have others or none: name the class of anomalies (--positive CLASS)",
                     cli_word(c, 0));
}

int cli_selection_read(cli *c, cli_selection *s, const cli_splitting *how, mcr_data **data,
                       mcr_kernel **kernel)
{
    int given = s->search.kernels > 0;
    int bad = cli_read_words(c, data, 1);
    if (!bad)
        cli_tables_remark(c, *data, NULL);
    if (!bad && how->positive)
        bad = cli_choose_positive(c, how->positive, data);
    else if (!bad)
        bad = check_marks(c, *data);
    if (!bad)
        bad = set_splits(c, s, how, data);
    for (int64_t k = 0; k < s->search.kernels && !bad; k++)
        if (cli_advise_is_default(s->search.kernel[k]))
            bad = cli_advise_gamma(c, s->search.kernel[k], *data);
    /* For one field of vectors a search has defaults. */
    if (!bad && !given && (!s->searches || mcr_data_fields(*data) > 1))
        bad = cli_advise_kernel(c, kernel, *data);
    /* Vectors in unknown units are scaled, unless the call sets the scaling. */
    s->search.scales = !how->scale && !given;
    if (!bad && !given && !how->scale && !s->searches && cli_advise_is_mixed(*data))
        bad = cli_fail(c, mcr_options_set(s->options, "scale", "standard"));
    if (!bad)
        bad = cli_advise_targets(c, cli_word(c, 0), *data);
    return bad;
}
