/* evaluate.h: evaluation of predictions against targets: metrics, confusion matrix, scores per
 * class.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_EVALUATE_H
#define CLI_EVALUATE_H

#include "cli.h"
#include "json.h"
#include "select.h"

typedef struct cli_evaluation {
    mcr_evaluated what;
    const char **name; /* names of the classes, including those unknown to the model; owned */
    int64_t names;
    const char *metrics; /* requested metrics, comma-separated; NULL: all available */
    double *target;      /* owned; NULL: the caller's */
    /* Set by cli_evaluation_compute, owned: each metric by its number, and the classes. */
    double *value;
    double *confusion; /* NULL: too many classes */
    mcr_class_score *each;
} cli_evaluation;

/* The options of verbs that evaluate predictions; metric and positive are members of the verb's
 * struct S. cli_metric_name is in select.h. */
#define CLI_EVALUATION_OPTIONS(S, metric_, positive_)                                              \
    {.name = "metric",                                                                             \
     .type = CLI_TEXT,                                                                             \
     .offset = offsetof(S, metric_),                                                               \
     .argument = "NAME",                                                                           \
     .words = cli_metric_name,                                                                     \
     .help = "; separate several with commas"},                                                    \
    {                                                                                              \
        .name = "positive", .type = CLI_TEXT, .offset = offsetof(S, positive_),                    \
        .argument = "CLASS",                                                                       \
        .help = "the positive class for precision, recall and curves; or the anomaly"              \
    }

/* Whether two names denote the same class: equal texts, or decimal numbers of equal value. */
int cli_same_class(const char *a, const char *b);

/* The data against a model: targets, weights, names, positive class (positive NULL: the model's).
 * what.target is NULL if the targets cannot be compared. Returns the exit status. */
int cli_evaluation_open(cli_evaluation *e, cli *c, const mcr_model *model, const mcr_data *data,
                        const char *positive);
void cli_evaluation_close(cli_evaluation *e);

/* Whether a metric is available and requested. */
int cli_evaluation_has(const cli_evaluation *e, const mcr_metric_info *metric);
/* Whether a requested metric uses scores or probabilities. */
int cli_evaluation_ranks(const cli_evaluation *e);
/* Refuses unknown names of metrics before anything is predicted. */
int cli_evaluation_check_names(cli *c, const cli_evaluation *e);
/* Checks that all requested metrics are available. */
int cli_evaluation_check(cli *c, const cli_evaluation *e);

/* Computes everything that is printed, so that nothing can fail in the middle of a JSON object.
 * metrics 0: skips the metrics, for callers that have their own. Returns the exit status. */
int cli_evaluation_compute(cli *c, cli_evaluation *e, int metrics);
/* Lines for people: the metrics, then a table of the classes. */
void cli_evaluation_say(FILE *to, const cli_evaluation *e);
/* The positive class, to be printed with its metrics; NULL: none. */
const char *cli_evaluation_positive(const cli_evaluation *e);
/* The keys of all available metrics, positive, classes and confusion. */
void cli_evaluation_json(cli_json *j, const cli_evaluation *e);

/* The threshold of a model, if it has one: "threshold  0.31 of the decision value for yes". */
void cli_evaluation_say_threshold(FILE *to, const mcr_model *model);
void cli_evaluation_threshold_json(cli_json *j, const mcr_model *model);

#endif
