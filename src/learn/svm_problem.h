/* svm_problem.h (internal): shared by the support vector machines: options, bounds, solving one
 * problem, bias, certificate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_SVM_PROBLEM_H
#define MCR_LEARN_SVM_PROBLEM_H

#include "learn/learner.h"
#include "solve/linear.h"

/* Options that all of them have: first in each learner's own struct. */
typedef struct mcr_svm_limits {
    double tol, time_limit, cache_mb;
    int64_t max_steps;
} mcr_svm_limits;

#define MCR_SVM_LIMIT_PARAMS(S)                                                                    \
    {"tol",        MCR_REAL, offsetof(S, limits.tol),                                              \
     "0.001",      0,        INFINITY,                                                             \
     MCR_MIN_OPEN, NULL,     "largest violation of the optimality conditions"},                    \
        {"time-limit", MCR_REAL, offsetof(S, limits.time_limit),                                   \
         NULL,         0,        INFINITY,                                                         \
         MCR_MIN_OPEN, NULL,     "seconds after which the best model so far is kept"},             \
        {"max-steps", MCR_INT, offsetof(S, limits.max_steps),                                      \
         NULL,        1,       INFINITY,                                                           \
         0,           NULL,    "steps after which the best model so far is kept"},                 \
    {                                                                                              \
        "cache", MCR_REAL, offsetof(S, limits.cache_mb), "256", 0, INFINITY, 0, NULL,              \
            "kernel rows kept, in MB (within the memory budget)"                                   \
    }

/* One problem and its solution. */
typedef struct mcr_svm {
    mcr_qp qp;
    double *z, *lo, *hi, *b, *g;
    unsigned char *group;
    mcr_qp_result result;
    double bias;
} mcr_svm;

/* Space for n objects: z, lo, hi, b, g zeroed; two groups if `groups` is 2. */
mcr_status mcr_svm_open(mcr_svm *svm, mcr *ctx, int64_t n, int groups, const mcr_svm_limits *limits,
                        const char *phase);
void mcr_svm_close(mcr_svm *svm, mcr *ctx);
/* Solves, and sets the bias of each group's free coefficients (bias: their mean for one group). w:
 * one weight per column of the Gram's factor, to be filled; NULL: from kernel values. */
mcr_status mcr_svm_solve(mcr_svm *svm, mcr_gram *gram, double *w);
/* Minus the mean slope of the free coefficients of a group, or the middle of its range. */
double mcr_svm_level(const mcr_svm *svm, int group);
double mcr_svm_square(const mcr_svm *svm); /* b'Kb, of this process's rows */
/* The coefficients are multiplied by a number and rounded once more: adds what that may change to
 * the errors of the result. */
void mcr_svm_round_again(mcr_svm *svm);
/* The error of the objectives of the problem, times `unit`. */
double mcr_svm_error(const mcr_svm *svm, double unit, double primal, double dual);
/* What it needs of the objects, which may be spread over several processes: their number, and the
 * weights of losses that are not certain. */
void mcr_svm_error_sums(const mcr_svm *svm, double sum[2]);
double mcr_svm_error_of(const mcr_svm *svm, const double sum[2], double unit, double primal,
                        double dual);
/* The gap of primal and dual, and the errors of all of them. */
void mcr_svm_keep_error(mcr_fitted *fitted, double error);
mcr_stop mcr_svm_stop(const mcr_svm *svm);

/* Weights of the objects: sample weights times class weights ("1=2.5,3=1", "balanced" or NULL).
 * weight: n values. Fails if a class is unknown or all weights are 0. */
mcr_status mcr_svm_weights(mcr *ctx, const char *learner, const mcr_data *data,
                           const char *class_weight, double *weight);
/* A remark for kernels that the closure rules do not know to be PSD. */
mcr_status mcr_svm_remark(mcr_fitted *fitted, const mcr_kernel *kernel);
/* At least two classes; else fails with a message that lists the classes. */
mcr_status mcr_svm_need_classes(mcr *ctx, const char *learner, const mcr_data *data);
/* Numbers as targets, and weights that are not all 0. */
mcr_status mcr_svm_need_numbers(mcr *ctx, const char *learner, const mcr_data *data);

/* A fitted with one output, coefficients b and bias, and all that the solver reported; the caller
 * adds objective, primal and dual. */
mcr_status mcr_svm_finish(mcr_fitted **out, const mcr_learning *in, const mcr_svm *svm,
                          const double *b, int64_t n, double bias);

/* The a > 0 and b of the probability 1 / (1 + exp(-(a f + b))) that fits decision values f to
 * whether the object is of the first class (y = 1) or not (0): calibrate.c. */
void mcr_calibrate(const double *f, const unsigned char *y, const double *weight, int64_t n,
                   double curve[2]);

#endif
