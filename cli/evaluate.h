/* evaluate.h: predictions beside what is true: metrics, confusion matrix, scores of each class.
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
    const char **name; /* of the classes, with those that the model does not know; owned */
    int64_t names;
    const char
        *metrics;   /* those that are wanted, with commas between them; NULL: all that there are */
    double *target; /* owned; NULL: the caller's */
    /* By cli_evaluation_compute, owned: each metric by its number, and the classes. */
    double *value;
    double *confusion; /* NULL: there are very many classes */
    mcr_class_score *each;
} cli_evaluation;

/* The options of verbs that compare predictions with targets; metric and positive are members of
 * the verb's struct S. cli_metric_name is in select.h. */
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

/* Whether two names are of one class: equal texts, or decimal numbers of equal value. */
int cli_same_class(const char *a, const char *b);

/* The data against a model: targets, weights, names, positive class (positive NULL: the model's).
 * what.target is NULL where the targets cannot be compared. Returns the exit status. */
int cli_evaluation_open(cli_evaluation *e, cli *c, const mcr_model *model, const mcr_data *data,
                        const char *positive);
void cli_evaluation_close(cli_evaluation *e);

/* Whether a metric can be computed, and is wanted. */
int cli_evaluation_has(const cli_evaluation *e, const mcr_metric_info *metric);
/* Whether a metric that is wanted is of scores or probabilities. */
int cli_evaluation_ranks(const cli_evaluation *e);
/* Refuses names that no metric has, before anything is predicted. */
int cli_evaluation_check_names(cli *c, const cli_evaluation *e);
/* That all of them exist. */
int cli_evaluation_check(cli *c, const cli_evaluation *e);

/* Computes all that is printed; then nothing can fail in the middle of an object. Metrics are left
 * out where the caller has its own (metrics 0). Returns the exit status. */
int cli_evaluation_compute(cli *c, cli_evaluation *e, int metrics);
/* Lines for a person: the metrics, then a table of the classes. */
void cli_evaluation_say(FILE *to, const cli_evaluation *e);
/* The positive class, as it is printed beside metrics of it; NULL: none. */
const char *cli_evaluation_positive(const cli_evaluation *e);
/* The keys of all metrics that there are, positive, classes and confusion. */
void cli_evaluation_json(cli_json *j, const cli_evaluation *e);

/* The threshold of a model, if it has one: "threshold  0.31 of the decision value for yes". */
void cli_evaluation_say_threshold(FILE *to, const mcr_model *model);
void cli_evaluation_threshold_json(cli_json *j, const mcr_model *model);

#endif
