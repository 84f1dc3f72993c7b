/* predict.h: what the parts of mercer predict share.
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
        apply; /* its buffer: scores, probabilities, draws, or values and standard deviations */
    const predict_call *call;
    int64_t targets;            /* numbers that are predicted of an object; else 1 */
    double *value;              /* n x targets: class numbers or values */
    double *std;                /* standard deviations of a block */
    double *end[2];             /* of intervals: n values each */
    unsigned char *set;         /* of classes: n x classes */
    const char **word;          /* classes of a block, as words */
    mcr_metrics metrics, *each; /* of several targets: their means, and each */
    cli_evaluation evaluation;
    double *score, *proba; /* of all objects, for metrics; NULL: not wanted */
    double *weight;        /* the same, where several processes have them; else the data's */
    int has_metrics;
} predict_job;

/* What is known of the rows so far. */
typedef struct cli_seen {
    int64_t n, compared, unknown;
    int weighted;
    double *value, *target, *weight; /* of those compared */
} cli_seen;

/* Names of the columns that are written, and their number. */
void cli_predict_name(predict_job *job);
/* Predicts objects, and writes what was predicted for them (apply.h). */
mcr_status cli_predict_compute(void *arg, const mcr_data *part, int64_t first, int64_t rows);
int cli_predict_put(void *arg, int64_t first, int64_t rows);
/* Predicts a table as it comes; what its targets are compared with is then in so_far, whose lists
 * are to be freed. */
int cli_predict_stream(predict_job *job, cli_seen *so_far);

#endif
