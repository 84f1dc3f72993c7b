/* predict.h: shared code of the parts of mercer predict.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PREDICT_H
#define CLI_PREDICT_H

#include "apply.h"
#include "evaluate.h"

typedef struct predict_call {
    const char *output, *calibration, *metric, *positive, *threshold;
    int scores, proba, std;
    double interval; /* per cent; NAN: not given */
    int64_t sample;  /* INT64_MIN: not given */
} predict_call;

typedef struct predict_job {
    cli_apply
        apply; /* its buffer: scores, probabilities, samples, or values and standard deviations */
    const predict_call *call;
    int64_t targets;            /* numbers predicted per object; else 1 */
    double *value;              /* n x targets: class numbers or values */
    double *std;                /* standard deviations of a block */
    double *end[2];             /* interval ends: n values each */
    unsigned char *set;         /* sets of classes: n x classes */
    const char **word;          /* classes of a block, as names */
    mcr_metrics metrics, *each; /* several targets: mean metrics, and those of each */
    cli_evaluation evaluation;
    double *score, *proba; /* for all objects, for metrics; NULL: not needed */
    double *weight;        /* the same, with several processes; else the data's */
    int has_metrics;
} predict_job;

/* The results of the rows so far. */
typedef struct cli_seen {
    int64_t n, compared, unknown;
    int weighted;
    double *value, *target, *weight; /* of the rows that can be evaluated */
} cli_seen;

/* Names of the output columns, and their number. */
void cli_predict_name(predict_job *job);
/* Predicts objects, and writes the predictions (apply.h). */
mcr_status cli_predict_compute(void *arg, const mcr_data *part, int64_t first, int64_t rows);
int cli_predict_put(void *arg, int64_t first, int64_t rows);
/* Predicts a table as it is read; so_far then holds the values to be compared with targets; its
 * lists must be freed. */
int cli_predict_stream(predict_job *job, cli_seen *so_far);

#endif
