/* learner.h: algorithms, their options, and training.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_LEARNER_H
#define MERCER_LEARNER_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/data.h>
#include <mercer/facts.h>
#include <mercer/kernel.h>
#include <mercer/params.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_model mcr_model; /* model.h */

typedef enum mcr_task {
    MCR_CLASSIFY = 1, /* predicts a class */
    MCR_REGRESS,      /* predicts a number */
    MCR_DETECT,       /* predicts +1 (like the training objects) or -1 */
    MCR_CLUSTER,      /* predicts the number of a cluster, from 0 */
    MCR_TRANSFORM,    /* gives coordinates, and predicts nothing */
    MCR_EITHER        /* of a learner only: classes or numbers, by its option `task` */
} mcr_task;

/* "classification", "regression", "detection", "clustering", "transformation"; never NULL. */
MCR_API const char *mcr_task_name(mcr_task task);

/* What there is. Borrowed. */
typedef struct mcr_learner_info {
    size_t size; /* sizeof(mcr_learner_info) */
    const char *name, *summary;
    mcr_task task;
    const mcr_param *params; /* ends with a NULL name */
    int dense;               /* 1: it factorises matrices of all n x n kernel values */
    int can_start;           /* 1: it can go on from a model */
    int can_resume;          /* 1: and with more data: mcr_fit_more */
} mcr_learner_info;
MCR_API int64_t mcr_learner_count(void);
MCR_API mcr_status mcr_learner_describe(int64_t number, mcr_learner_info *info);

/* A learner with its options. Options are set by name and text, as on the command line ("C", "10");
 * an unknown name or a value out of range is MCR_BAD_CALL. */
typedef struct mcr_options mcr_options;
MCR_API mcr_status mcr_options_open(mcr_options **out, mcr *ctx, const char *learner);
MCR_API void mcr_options_close(mcr_options *options); /* NULL allowed */
MCR_API mcr_status mcr_options_set(mcr_options *options, const char *name, const char *value);
/* Every option with its value, in the order of the learner's table, those that all learners have last
 * (facts.h). One that has neither a value nor a default is MCR_FACT_NONE; a choice is a text. Texts are
 * borrowed until the next call. mcr_options_of has those that a model was trained with. */
MCR_API int64_t mcr_options_fact_count(const mcr_options *options);
MCR_API mcr_status mcr_options_fact(mcr_options *options, int64_t number, mcr_fact *fact);

/* Why training ended. None of them is an error: the model is the best so far. Optimal is what is proved
 * to be: a global optimum, within the tolerance. */
typedef enum mcr_stop {
    MCR_STOP_OPTIMAL = 0,
    MCR_STOP_STEPS,
    MCR_STOP_TIME,
    MCR_STOP_INTERRUPTED,
    MCR_STOP_STUCK, /* rounding or a kernel that is not PSD allows no more progress */
    MCR_STOP_LOCAL  /* within the tolerance, but a better optimum elsewhere is not excluded */
} mcr_stop;
/* "optimal", "steps", "time", "interrupted", "stuck", "local". */
MCR_API const char *mcr_stop_name(mcr_stop stop);

/* What training found. Numbers that do not apply are NAN. Borrowed from the model. */
typedef struct mcr_report_fit {
    size_t size;                  /* of what the library made */
    const char *learner, *kernel; /* kernel: canonical text */
    const char *options;          /* those that are not defaults: "C=10 tol=1e-06" */
    mcr_task task;
    int64_t n, features, classes, support, iterations;
    int64_t targets; /* numbers that are predicted of an object; 0: it predicts none */
    double seconds, objective;
    mcr_stop stop;
    /* The certificate, recomputed from scratch at the end: what was tested ("KKT violation"), its
     * value and the tolerance; primal and dual objective and their gap. Of several subproblems (one-
     * vs-one) the worst violation, and the sums of the others. */
    const char *certificate;
    double value, tolerance, primal, dual, gap;
    double accuracy, mse, r2;  /* on the training data; of several targets the means */
    double loo;                /* leave-one-out error: mean square, or share of wrong classes */
    int64_t variances;         /* components whose variance is known */
    const double *variance;    /* along each of them */
    double total_variance;     /* of the objects in feature space */
    double noise;              /* gp: variance of the noise in the targets */
    const char *second_kernel; /* of cca: that of the other fields; NULL otherwise */
    int64_t correlations;      /* pairs of coordinates: the k-th of either half */
    const double *correlation;
    const char *form;       /* "dual" (kernel values) or "primal" (features) */
    const char *side;       /* the same in older words: "kernel" or "features" */
    const char *why;        /* and why; NULL: there was no choice, or the model is from a file */
    const char *approx;     /* "nystrom" or "rff"; NULL: exact */
    int64_t map_features;   /* of the primal form */
    double kernel_error[3]; /* of an approximate kernel: mean, root mean square, largest */
    const char *remark;     /* what the user should know; NULL: nothing */
    const char *version;    /* of the Mercer that trained it; NULL: another program did */
    uint64_t seed;
} mcr_report_fit;

/* Trains. kernel NULL: rbf with gamma = 1 / (features * variance) where the data are vectors. start:
 * a model of the same learner and data to start from (warm start), or NULL. When the progress
 * callback asks to stop, the best model so far is returned, and the numbers on the training data may
 * be NAN. */
MCR_API mcr_status mcr_fit(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                           const mcr_data *data, const mcr_model *start);

/* The options that a model was trained with, to be changed or not. */
MCR_API mcr_status mcr_options_of(mcr_options **out, mcr *ctx, const mcr_model *model);
/* Goes on with more data, from a model of an online learner (can_resume): its support vectors and the
 * new ones are all that is needed. kernel: NULL or the model's, no other. The classes must be among the model's; one of
 * them is enough. The report counts all objects so far; its numbers are those of the new ones. */
MCR_API mcr_status mcr_fit_more(mcr_model **out, const mcr_options *options,
                                const mcr_kernel *kernel, const mcr_data *data,
                                const mcr_model *model);

#ifdef __cplusplus
}
#endif
#endif
