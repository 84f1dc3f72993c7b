/* select.h: shared code of the verbs that evaluate and select (cv, tune): splits, metrics, ranges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "cli.h"

typedef struct cli_splitting {
    int64_t folds, repeats;
    int loo, ordered, plain, balance;
    const char *groups, *metric, *scale, *search, *relevance, *positive;
} cli_splitting;

const char *cli_metric_name(int64_t number); /* NULL: past the last */
/* Sets the positive class of the data; for detection, the anomaly. */
int cli_choose_positive(cli *c, const char *positive, mcr_data **data);

/* The options of both verbs; m is a member cli_splitting of the verb's struct S. */
#define CLI_SPLIT_OPTIONS(S, m)                                                                    \
    {.name = "folds",                                                                              \
     .type = CLI_INT,                                                                              \
     .offset = offsetof(S, m.folds),                                                               \
     .argument = "N",                                                                              \
     .min = 2,                                                                                     \
     .max = 1e6,                                                                                   \
     .help = "number of folds (default 5)"},                                                       \
        {.name = "repeats",                                                                        \
         .type = CLI_INT,                                                                          \
         .offset = offsetof(S, m.repeats),                                                         \
         .argument = "N",                                                                          \
         .min = 1,                                                                                 \
         .max = 1e6,                                                                               \
         .help = "repeat the cross-validation N times, with new folds each time"},                 \
        {.name = "loo",                                                                            \
         .type = CLI_FLAG,                                                                         \
         .offset = offsetof(S, m.loo),                                                             \
         .help = "leave-one-out: each object is a fold"},                                          \
        {.name = "ordered",                                                                        \
         .type = CLI_FLAG,                                                                         \
         .offset = offsetof(S, m.ordered),                                                         \
         .help = "objects are in order of time: train only on earlier objects"},                   \
        {.name = "plain",                                                                          \
         .type = CLI_FLAG,                                                                         \
         .offset = offsetof(S, m.plain),                                                           \
         .help = "do not stratify the folds by class"},                                            \
        {.name = "balance",                                                                        \
         .type = CLI_FLAG,                                                                         \
         .offset = offsetof(S, m.balance),                                                         \
         .help = "errors of rare classes cost more (--class-weight balanced)"},                    \
        {.name = "groups",                                                                         \
         .type = CLI_TEXT,                                                                         \
         .offset = offsetof(S, m.groups),                                                          \
         .argument = "NAME",                                                                       \
         .help = "keep groups in one fold: a column, or a file with one word per line"},           \
        {.name = "metric",                                                                         \
         .type = CLI_TEXT,                                                                         \
         .offset = offsetof(S, m.metric),                                                          \
         .argument = "NAME",                                                                       \
         .words = cli_metric_name,                                                                 \
         .help = "; separate several with commas"},                                                \
        {.name = "positive",                                                                       \
         .type = CLI_TEXT,                                                                         \
         .offset = offsetof(S, m.positive),                                                        \
         .argument = "CLASS",                                                                      \
         .help = "the positive class for precision, recall and curves; or the anomaly"},           \
        {.name = "scale",                                                                          \
         .type = CLI_TEXT,                                                                         \
         .offset = offsetof(S, m.scale),                                                           \
         .argument = "none|minmax|standard",                                                       \
         .help = "scale vectors; the scaling is learnt from the training objects"},                \
        {.name = "relevance",                                                                      \
         .type = CLI_TEXT,                                                                         \
         .offset = offsetof(S, m.relevance),                                                       \
         .argument = "yes|no",                                                                     \
         .help = "fit one gamma per column at the end (tune without -k and ranges: yes)"},         \
        {.name = "weigh", /* the former name */                                                    \
         .type = CLI_TEXT,                                                                         \
         .offset = offsetof(S, m.relevance),                                                       \
         .argument = "yes|no"},                                                                    \
    {                                                                                              \
        .name = "search", .type = CLI_TEXT, .offset = offsetof(S, m.search),                       \
        .argument = "grid|adaptive",                                                               \
        .help = "try all points of the ranges, or search from coarse to fine"                      \
    }

typedef struct cli_selection {
    mcr_options *options;
    mcr_search search; /* with its kernels and ranges, and `split` for its splits */
    mcr_split_plan split;
    int ranged;   /* the call has ranges */
    int searches; /* or several kernels to choose from */
    const char **option, **range;
    int64_t *group;
} cli_selection;

/* The learner's options and the ranges of the call; kernels are the call's expressions. Returns the
 * exit status. */
int cli_selection_open(cli *c, cli_selection *s, const cli_splitting *how, const cli_list *kernels);
/* Reads the data and sets up the splits; a column of groups is removed. *kernel, if not set, may
 * become one that suits the data. Call it after all checks that need no data. */
int cli_selection_read(cli *c, cli_selection *s, const cli_splitting *how, mcr_data **data,
                       mcr_kernel **kernel);
void cli_selection_close(cli_selection *s);

#endif
