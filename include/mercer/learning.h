/* learning.h: for people who add learners in C.
 *
 * A learner receives a kernel and data, gets kernel values from a Gram (gram.h), and returns
 * coefficients and offsets: f_o(x) = offset_o + sum_i coef_oi K(x_i, x). Mercer does everything
 * else: options, merging of duplicates, scores, prediction, model files, cross-validation and
 * tuning. A program registers its learner with mcr_learner_register; docs/extending.md and
 * examples/own_learner.c show how.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_LEARNING_H
#define MERCER_LEARNING_H

#include <mercer/data.h>
#include <mercer/kernel.h>
#include <mercer/learner.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_learning mcr_learning; /* the input of a learner */
typedef struct mcr_fitted mcr_fitted;     /* its result */

typedef struct mcr_learner_spec {
    size_t size; /* sizeof(mcr_learner_spec) */
    const char *name, *summary;
    /* The kind of prediction, and how it follows from the outputs:
     *   MCR_CLASSIFY   one output: class 1 where it is positive, else class 0; one per class: the
     *                  largest
     *   MCR_REGRESS    one output: the value
     *   MCR_DETECT     one output: +1 where it is not negative, else -1
     *   MCR_CLUSTER    one per cluster: the largest
     *   MCR_TRANSFORM  coordinates */
    mcr_task task;
    const mcr_param *params; /* its options; NULL: none */
    size_t params_size;      /* of the value struct */
    int weights_count;       /* 1: a weight of 2 means two objects, so duplicates may be merged */
    /* Checks the options together; may be NULL. Its message begins with the learner's name. */
    mcr_status (*check)(mcr *ctx, const void *params);
    /* Trains; makes *out with mcr_fitted_open. The library frees *out, also on failure. */
    mcr_status (*fit)(mcr_fitted **out, const mcr_learning *in);
    void *user; /* mcr_learning_user */
} mcr_learner_spec;

/* The struct is copied; its texts, tables and functions must outlive the context. A name that is
 * taken is refused. In this context mcr_options_open and model files then accept the learner. Its
 * models can also predict in contexts where it is not registered. */
MCR_API mcr_status mcr_learner_register(mcr *ctx, const mcr_learner_spec *spec);
/* A learner by its name, built in or registered in this context; MCR_BAD_CALL if there is none. */
MCR_API mcr_status mcr_learner_lookup(const mcr *ctx, const char *name, mcr_learner_info *info);

/* ---- inside fit -------------------------------------------------------------------------------*/

MCR_API mcr *mcr_learning_context(const mcr_learning *in);
MCR_API void *mcr_learning_user(const mcr_learning *in);
MCR_API const void *mcr_learning_params(const mcr_learning *in);
MCR_API const mcr_kernel *mcr_learning_kernel(const mcr_learning *in);
/* The training data with targets and weights, scaled if the options say so. */
MCR_API const mcr_data *mcr_learning_data(const mcr_learning *in);
/* Reports progress. If it returns nonzero, stop and return the best result so far with
 * MCR_STOP_INTERRUPTED. */
MCR_API int mcr_learning_report(const mcr_learning *in, const mcr_progress *now);

/* A result with this number of outputs, offsets 0 and no coefficients. */
MCR_API mcr_status mcr_fitted_open(mcr_fitted **out, const mcr_learning *in, int64_t outputs);
/* Sets the coefficients of all outputs (outputs x objects, row by row) and the offsets; objects
 * whose coefficients are all 0 are not support vectors. Call it once. */
MCR_API mcr_status mcr_fitted_set(mcr_fitted *fitted, const double *coef, const double *offset);
/* Keeps finite numbers in the model under a name: see mcr_model_number and facts.h. A second call
 * with the same name replaces them. Names that built-in learners use (loo, variance, target, ...)
 * keep their meaning: reports and predictions read them. */
MCR_API mcr_status mcr_fitted_keep(mcr_fitted *fitted, const char *name, const double *value,
                                   int64_t count);

/* How training ended. */
typedef struct mcr_outcome {
    size_t size; /* sizeof(mcr_outcome) */
    mcr_stop stop;
    int64_t iterations;
    double objective;
    /* The condition that was tested at the end, a constant text, with its value and tolerance.
     * NULL: none, and the objective is not known either. */
    const char *certificate;
    double value, tolerance;
} mcr_outcome;
MCR_API mcr_status mcr_fitted_end(mcr_fitted *fitted, const mcr_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
