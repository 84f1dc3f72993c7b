/* gp.c: Gaussian processes (Rasmussen and Williams, 2006): options, and which method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/gp.h"

#include <math.h>
#include <stddef.h>

static const mcr_param table[] = {
    MCR_TASK_PARAM(mcr_gp_params),
    {"noise", MCR_REAL, offsetof(mcr_gp_params, noise), "0.1", 0, INFINITY,
     MCR_MIN_OPEN | MCR_MAX_OPEN, NULL, "variance of the noise; where the search begins"},
    {"optimize", MCR_FLAG, offsetof(mcr_gp_params, optimize), "yes", 0, 0, 0, NULL,
     "choose the scales of the kernel and the noise by maximum likelihood"},
    {"restarts", MCR_INT, offsetof(mcr_gp_params, restarts), "2", 0, 1000, 0, NULL,
     "additional searches from random values"},
    {"standardize", MCR_FLAG, offsetof(mcr_gp_params, standardize), "yes", 0, 0, 0, NULL,
     "standardise targets to mean 0 and standard deviation 1"},
    {MCR_OPTION_LOO, MCR_FLAG, offsetof(mcr_gp_params, loo), "no", 0, 0, 0, NULL,
     "compute the leave-one-out error at the final scales (regression only)"},
    {"tol", MCR_REAL, offsetof(mcr_gp_params, tol), "1e-5", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "largest slope of the log likelihood per object"},
    {"time-limit", MCR_REAL, offsetof(mcr_gp_params, time_limit), NULL, 0, INFINITY, MCR_MIN_OPEN,
     NULL, "seconds after which the best model so far is kept"},
    {"max-steps", MCR_INT, offsetof(mcr_gp_params, max_steps), NULL, 1, INFINITY, 0, NULL,
     "largest number of likelihood evaluations per search; then the best so far is kept"},
    {0},
};

mcr_status mcr_gp_finish(mcr_fitted *f, mcr_gp *gp)
{
    f->objective = -gp->f;
    f->iterations = gp->steps;
    f->stop = f->value <= f->tolerance ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    if (!isnan(gp->slope)) {
        f->certificate = "slope of the likelihood";
        f->value = gp->slope;
        f->value_error = 0;
        f->tolerance = gp->params->tol;
        f->stop = gp->stop;
    }
    if (!isnan(gp->gained)) {
        f->certificate = "gain of the last 5 steps per object";
        f->value = gp->gained;
        f->value_error = 0;
        f->tolerance = MCR_GP_FLAT * gp->params->tol;
    }
    f->kernel = mcr_kernel_retain(gp->kernel);
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, gp->ctx, gp->kernel, gp->data, NULL);
    if (!s)
        s = mcr_fitted_remark_zero(f, gram);
    mcr_gram_close(gram);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    const mcr_gp_params *o = in->params;
    mcr_goal goal;
    mcr_status s = mcr_goal_open(&goal, in, "gp", o->task, NULL);
    if (!s)
        s = goal.task == MCR_CLASSIFY ? mcr_gp_classify(out, in, &goal)
                                      : mcr_gp_regress(out, in, &goal);
    if (!s && o->loo && goal.task == MCR_CLASSIFY)
        s = mcr_fitted_remark(*out, "the leave-one-out error of gp is there for numbers only");
    if (s) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    mcr_goal_close(&goal);
    return s;
}

const mcr_learner_type mcr_learner_gp = {
    .name = "gp",
    .summary = "Gaussian process: regression with standard deviations, or classes; fits the "
               "kernel's scales",
    .task = MCR_EITHER,
    .params = table,
    .params_size = sizeof(mcr_gp_params),
    .fit = fit,
    .kernel_search = "optimize",
    .no_primal =
        "its search for scales needs the slopes of kernel values, and its standard deviations "
        "need those between the training objects",
    .dense = true,
    .own_kernel = true,
    .leaves_out = true,
    .predictor = &mcr_gp_predictor,
};
