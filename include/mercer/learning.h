/* learning.h: for people who add learners in C.
 *
 * A learner is given a kernel and data, asks a Gram (gram.h) for values of the kernel, and gives back
 * coefficients and offsets: f_o(x) = offset_o + sum_i coef_oi K(x_i, x). Mercer does the rest: options,
 * merging of duplicates, scores, prediction, model files, cross-validation and tuning. A program registers
 * its own with mcr_learner_register; docs/extending.md and examples/own_learner.c show one.
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

typedef struct mcr_learning mcr_learning; /* what a learner is given */
typedef struct mcr_fitted mcr_fitted;     /* what it gives back */

typedef struct mcr_learner_spec {
    size_t size; /* sizeof(mcr_learner_spec) */
    const char *name, *summary;
    /* What it predicts, and from which outputs:
     *   MCR_CLASSIFY   one output: class 1 where it is positive, else class 0; one per class: the
     *                  largest
     *   MCR_REGRESS    one output: the value
     *   MCR_DETECT     one output: +1 where it is not negative, else -1
     *   MCR_CLUSTER    one per cluster: the largest
     *   MCR_TRANSFORM  coordinates */
    mcr_task task;
    const mcr_param *params; /* its options; NULL: none */
    size_t params_size;      /* of the value struct */
    int weights_count; /* 1: a weight of 2 is the same as two objects: duplicates are merged */
    /* Options together; NULL: fine. Fails with a message that begins with the learner's name. */
    mcr_status (*check)(mcr *ctx, const void *params);
    /* Trains; *out by mcr_fitted_open. On failure *out is freed by the caller. */
    mcr_status (*fit)(mcr_fitted **out, const mcr_learning *in);
    void *user; /* mcr_learning_user */
} mcr_learner_spec;

/* The struct is copied; its texts, tables and functions must outlive the context. A name that exists is
 * refused. mcr_options_open and model files then know the learner in this context. A model of it predicts
 * also where it is not registered. */
MCR_API mcr_status mcr_learner_register(mcr *ctx, const mcr_learner_spec *spec);
/* A learner by its name, built in or registered in this context; MCR_BAD_CALL if there is none. */
MCR_API mcr_status mcr_learner_lookup(const mcr *ctx, const char *name, mcr_learner_info *info);

/* ---- inside fit --------------------------------------------------------------------------------*/

MCR_API mcr *mcr_learning_context(const mcr_learning *in);
MCR_API void *mcr_learning_user(const mcr_learning *in);
MCR_API const void *mcr_learning_params(const mcr_learning *in);
MCR_API const mcr_kernel *mcr_learning_kernel(const mcr_learning *in);
/* The training data, scaled if that was asked for; targets and weights are in it. */
MCR_API const mcr_data *mcr_learning_data(const mcr_learning *in);
/* Reports progress; nonzero: stop, and give back the best so far with MCR_STOP_INTERRUPTED. */
MCR_API int mcr_learning_report(const mcr_learning *in, const mcr_progress *now);

/* A result with so many outputs, offsets 0 and no coefficients. */
MCR_API mcr_status mcr_fitted_open(mcr_fitted **out, const mcr_learning *in, int64_t outputs);
/* Coefficients of all outputs (outputs x objects, row by row) and offsets; objects without a
 * coefficient are no support vectors. To be called once. */
MCR_API mcr_status mcr_fitted_set(mcr_fitted *fitted, const double *coef, const double *offset);
/* Finite numbers to keep in the model under a name: mcr_model_number, and facts. */
MCR_API mcr_status mcr_fitted_keep(mcr_fitted *fitted, const char *name, const double *value,
                                   int64_t count);

/* How it ended. */
typedef struct mcr_outcome {
    size_t size; /* sizeof(mcr_outcome) */
    mcr_stop stop;
    int64_t iterations;
    double objective;
    /* What was tested at the end, a constant text, with its value and tolerance; NULL: nothing, and
     * the objective is not known either. */
    const char *certificate;
    double value, tolerance;
} mcr_outcome;
MCR_API mcr_status mcr_fitted_end(mcr_fitted *fitted, const mcr_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
