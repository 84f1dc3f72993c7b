/* gp.h (internal): what the parts of the Gaussian process learner share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_GP_H
#define MCR_LEARN_GP_H

#include "learn/goal.h"
#include "linalg/system.h"

typedef struct mcr_gp_params {
    double noise, tol, time_limit;
    int64_t restarts, max_steps;
    int task, optimize, standardize, loo;
} mcr_gp_params;

/* Numbers that models keep: variance of the noise of each basis object, jitter included
 * (regression); what targets were divided by. */
#define MCR_GP_NOISE "noise"
#define MCR_GP_SCALE "scale"
/* Classification: square roots of the curvature of each output's likelihood, outputs x basis. */
#define MCR_GP_CURVATURE "curvature"

/* ---- the likelihood and its scales (gp_tune.c) ------------------------------------------------*/

/* The search for the scales of a kernel (and one more number, if there is one) that make the data
 * most likely. A method fills in value and gradient for one matrix K of kernel values. */
typedef struct mcr_gp {
    mcr *ctx;
    const mcr_gp_params *params;
    const mcr_kernel *given, *start; /* start: with scales to begin from, NULL: the given ones */
    const mcr_data *data;
    mcr_gram *gram; /* K of the given kernel, where the caller has it; NULL */
    int64_t n, scales;
    double extra;       /* noise, for regression; NAN: the method has no such number */
    bool begun;         /* there is a value: what follows is not cut short, or it would be lost */
    mcr_kernel *kernel; /* with the scales of the last value */
    double *at;         /* their logarithms, and that of extra, while it is looked for them */
    mcr_system k;       /* K of the last value, for the method */
    /* -log likelihood from K, INFINITY where there is none; may destroy K. */
    mcr_status (*value)(struct mcr_gp *gp, double *f);
    /* After value: adds the slope against log of extra to *slope, and makes ready for row; once for
     * each of `parts` likelihoods whose product is the whole. From the second part on K is there
     * again. */
    mcr_status (*prepare)(struct mcr_gp *gp, int64_t part, double *slope);
    int64_t parts;
    /* After prepare: row i of a symmetric matrix D, from column i on, with the slope against a
     * scale being the sum of D_ij dK_ij over i <= j. */
    void (*row)(const struct mcr_gp *gp, int64_t i, double *d);
    void *method;
    /* What was found. */
    double f, slope; /* -log likelihood; largest slope left, over n */
    double gained;   /* by the last steps, over n, if the search ended because of that; else NAN */
    int64_t steps;
    mcr_stop stop;
} mcr_gp;

/* Under which name a factorisation reports, and may be stopped; NULL: neither. */
static inline const char *mcr_gp_phase(const mcr_gp *gp)
{
    return gp->begun ? NULL : "gp";
}

/* Finds the scales if the options ask for that, else takes the given ones; then value was called
 * for the best ones last: kernel and all that the method keeps belong to them, and so does K unless
 * scales were looked for. */
mcr_status mcr_gp_tune(mcr_gp *gp);
/* A search ends where its last steps gained less than this share of what the slope must be below.
 */
#define MCR_GP_FLAT 0.02
void mcr_gp_close(mcr_gp *gp);

/* Adds the sums of D_ij dK_ij / d(log of a scale), i <= j, after prepare (gp_slope.c). */
mcr_status mcr_gp_slope(mcr_gp *gp, double *g);
/* The given kernel with other scales, x being their logarithms. */
mcr_status mcr_gp_kernel_at(mcr_kernel **out, const mcr_gp *gp, const double *x);

/* ---- the methods ------------------------------------------------------------------------------*/

mcr_status mcr_gp_classify(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal);
mcr_status mcr_gp_regress(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal);

extern const mcr_predictor mcr_gp_predictor; /* gp_predict.c */

/* Fills a fitted: stop, certificate and so on, and the kernel. */
mcr_status mcr_gp_finish(mcr_fitted *fitted, mcr_gp *gp);

#endif
