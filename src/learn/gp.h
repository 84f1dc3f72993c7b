/* gp.h (internal): shared by the parts of the Gaussian process learner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_GP_H
#define MCR_LEARN_GP_H

#include <math.h>

#include "base/resume.h"
#include "learn/goal.h"
#include "linalg/system.h"
#include "solve/descent.h"

typedef struct mcr_gp_params {
    double noise, tol, time_limit;
    int64_t restarts, max_steps;
    int task, optimize, standardize, loo;
    int approx, landmarks; /* MCR_GP_EXACT, MCR_GP_SGPR; an mcr_landmarks */
    int64_t rank;
} mcr_gp_params;

enum { MCR_GP_EXACT, MCR_GP_SGPR };

/* Numbers that models keep: variance of the noise of each basis object, jitter included
 * (regression); the scale of the targets. */
#define MCR_GP_NOISE "noise"
#define MCR_GP_SCALE "scale"
/* Of a sparse process, whose basis is its landmarks: the jitter of their kernel matrix as a share
 * of the mean of its diagonal, the variance of the noise of standardised targets, both bounds of
 * the log likelihood, their rounding error; and the lower triangle, row by row, of R with which the
 * variance is K(x,x) - |R k|^2. */
#define MCR_GP_SPARSE    "sparse"
#define MCR_GP_POSTERIOR "posterior"
enum { MCR_GP_SPARSE_COUNT = 5 };
/* Of a process that was solved without its kernel matrix: how many rows R has, here whole rows of
 * one number per basis object; both bounds of the log likelihood; how much too large variances of a
 * sample of the objects are, the most and the mean, in units of K(x,x). */
#define MCR_GP_LARGE "large"
enum { MCR_GP_LARGE_COUNT = 5 };
#define MCR_SPARSE_JITTER 1e-8
/* Classification: square roots of the curvature of each output's likelihood, outputs x basis. */
#define MCR_GP_CURVATURE "curvature"

/* ---- the likelihood and its scales (gp_tune.c) ------------------------------------------------*/

struct mcr_gp;

/* A likelihood computed from the matrix K of kernel values, in gp->k. */
typedef struct mcr_gp_method {
    mcr_status (*open)(struct mcr_gp *gp); /* for gp->n, y, weight, parts: gp->method */
    /* -log likelihood from K, INFINITY where there is none; may destroy K. */
    mcr_status (*value)(struct mcr_gp *gp, double *f);
    /* After value: adds the slope against log of extra to *slope, and makes ready for row; once for
     * each of gp->parts likelihoods whose product is the whole. From the second part on K is there
     * again. */
    mcr_status (*prepare)(struct mcr_gp *gp, int64_t part, double *slope);
    /* After prepare: row i of a symmetric matrix D, from column i on, with the slope against a
     * scale being the sum of D_ij dK_ij over i <= j. */
    void (*row)(const struct mcr_gp *gp, int64_t i, double *d);
    mcr_walk_state *walk; /* for a checkpoint: what a value begins with, of gp; NULL: nothing */
    void (*close)(struct mcr_gp *gp); /* also after a failure of open */
} mcr_gp_method;

/* A method without a matrix of all objects: it computes its own values for gp->kernel and
 * gp->extra, from landmarks that are chosen at the start of a search. */
typedef struct mcr_gp_own {
    mcr_status (*choose)(struct mcr_gp *gp);
    mcr_status (*value)(struct mcr_gp *gp, double *f);
    mcr_status (*slope)(struct mcr_gp *gp, double *g); /* after value; adds to zeros */
    void (*keep)(struct mcr_gp *gp); /* the landmarks there are belong to the best value so far */
    void (*restore)(struct mcr_gp *gp); /* and are wanted again */
} mcr_gp_own;

/* The search for the scales of a kernel (and one more number, if there is one) that make the data
 * most likely. */
typedef struct mcr_gp {
    mcr *ctx;
    const mcr_gp_params *params;
    const mcr_kernel *given, *start; /* start: with scales to begin from, NULL: the given ones */
    const mcr_data *data;
    mcr_gram *gram; /* K of the given kernel, where the caller has it; NULL */
    int64_t n, scales;
    double extra;       /* noise, for regression; NAN: the method has no such number */
    bool begun;         /* there is a value: later work is not interrupted, or it would be lost */
    mcr_kernel *kernel; /* with the scales of the last value */
    double *at;         /* their logarithms, and that of extra, during the search */
    mcr_system k;       /* K of the last value, for the method */
    const mcr_gp_method *type; /* NULL: own */
    const double *y, *weight;  /* n x parts, n */
    int64_t parts;
    const mcr_gp_own *own; /* in place of all that; NULL: as above */
    void *method;
    struct mcr_gp_values {
        double *x; /* scales, their value and its slope so far, in the order of the search */
        int64_t count, capacity;
        int64_t at; /* that were replayed from an earlier run; == count: all were */
        bool again; /* the last value was: the kernel is not that of `at` */
        char part[MCR_PART_NAME];
    } values;
    /* What was found. */
    int64_t sample;  /* objects of the last search before the one on all objects; 0: there was
                      * none */
    double f, slope; /* -log likelihood; largest slope left, over n */
    double gained;   /* by the last steps, over n, if the search ended because of that; else NAN */
    int64_t steps;
    mcr_stop stop;
} mcr_gp;

/* The name under which a factorisation reports progress and may be cancelled; NULL: neither. */
static inline const char *mcr_gp_phase(const mcr_gp *gp)
{
    return gp->begun ? NULL : "gp";
}

/* Optimises the scales if the options request it, else uses the given ones. The last call of value
 * is then for the best scales: the kernel and the method's state belong to them, and so does K
 * unless scales were optimised. */
mcr_status mcr_gp_tune(mcr_gp *gp, const mcr_learning *in);
/* A search ends when its last steps gained less than this share of the tolerance of the slope.
 */
#define MCR_GP_FLAT 0.02
void mcr_gp_close(mcr_gp *gp);

/* Between mcr_gp_tune and the searches (gp_search.c): the value at logarithms of scales and of
 * extra, as mcr_descent asks for it. arg: an mcr_gp, whose `at` has the place for these. */
mcr_status mcr_gp_value_at(void *arg, const double *x, double *f);
static inline int64_t mcr_gp_variables(const mcr_gp *gp)
{
    return gp->scales + !isnan(gp->extra);
}
/* From the given scales to the best, within the limits. goes_on: the given scales are those of a
 * model, and nothing else is tried first. Sets gp->f and the results; f is INFINITY if no
 * likelihood is finite. */
mcr_status mcr_gp_search(mcr_gp *gp, const mcr_descent *problem, const double *given, bool goes_on,
                         double *best);

/* Adds the sums of D_ij dK_ij / d(log of a scale), i <= j, after prepare (gp_slope.c). */
mcr_status mcr_gp_slope(mcr_gp *gp, double *g);
/* The given kernel with other scales, x being their logarithms. */
mcr_status mcr_gp_kernel_at(mcr_kernel **out, const mcr_gp *gp, const double *x);
/* Kernel and extra of the logarithms x. */
mcr_status mcr_gp_set(mcr_gp *gp, const double *x);

/* ---- the methods ------------------------------------------------------------------------------*/

mcr_status mcr_gp_classify(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal);
mcr_status mcr_gp_regress(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal);

mcr_status mcr_gp_regress_sparsely(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal);
/* Without the kernel matrix, if it does not fit into memory and no scales are optimised. */
bool mcr_gp_is_large(const mcr_learning *in, const mcr_goal *goal);
mcr_status mcr_gp_regress_largely(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal);

extern const mcr_predictor mcr_gp_predictor; /* gp_predict.c */

/* Targets for regression: with mean 0 and standard deviation 1, if yes. */
void mcr_gp_standardise(const mcr_goal *goal, bool yes, double *y, double *mean, double *scale);
/* The initial noise: that of the start model, if there is one. */
double mcr_gp_start_noise(const mcr_learning *in);

/* Task, rule and offset of a regression, and the numbers that all of them keep. noise: of
 * standardised targets. */
mcr_status mcr_gp_describe(mcr_fitted *fitted, double mean, double scale, double noise);
/* Fills a fitted: stop, certificate and so on, and the kernel. data: some of the objects. */
mcr_status mcr_gp_finish(mcr_fitted *fitted, mcr_gp *gp, const mcr_data *data);

#endif
