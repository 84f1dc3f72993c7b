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
     MCR_MIN_OPEN | MCR_MAX_OPEN, NULL, "variance of the noise; the start of the search"},
    {"optimize", MCR_FLAG, offsetof(mcr_gp_params, optimize), "yes", 0, 0, 0, NULL,
     "choose the scales of the kernel and the noise by maximum likelihood"},
    {"restarts", MCR_INT, offsetof(mcr_gp_params, restarts), "2", 0, 1000, 0, NULL,
     "additional searches from random values"},
    {"standardize", MCR_FLAG, offsetof(mcr_gp_params, standardize), "yes", 0, 0, 0, NULL,
     "standardise targets to mean 0 and standard deviation 1"},
    {MCR_OPTION_LOO, MCR_FLAG, offsetof(mcr_gp_params, loo), "no", 0, 0, 0, NULL,
     "compute the leave-one-out error at the final scales (regression only)"},
    {MCR_OPTION_APPROX, MCR_CHOICE, offsetof(mcr_gp_params, approx), "none", 0, 0, 0, "none|sgpr",
     "sgpr: a sparse process on landmarks, whose likelihood is bounded from both sides "
     "(regression only)"},
    {"rank", MCR_INT, offsetof(mcr_gp_params, rank), "500", 1, 1e6, 0, NULL,
     "number of landmarks of sgpr; without the kernel matrix, largest number of directions for "
     "variances"},
    {"landmarks", MCR_CHOICE, offsetof(mcr_gp_params, landmarks), "greedy", 0, 0, 0,
     "uniform|kmeans|leverage|greedy", "how sgpr chooses landmarks"},
    {"tol", MCR_REAL, offsetof(mcr_gp_params, tol), "1e-5", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "largest slope of the log likelihood per object"},
    MCR_TIME_LIMIT_PARAM(mcr_gp_params, "seconds after which the best model so far is kept"),
    MCR_MAX_STEPS_PARAM(
        mcr_gp_params,
        "largest number of likelihood evaluations per search; then the best so far is kept"),
    {0},
};

mcr_status mcr_gp_describe(mcr_fitted *f, double mean, double scale, double noise)
{
    double variance = noise * scale * scale;
    f->task = MCR_REGRESS;
    f->rule = MCR_RULE_VALUE;
    f->offset[0] = mean;
    mcr_status s = mcr_fitted_keep(f, MCR_GP_SCALE, &scale, 1);
    return s ? s : mcr_fitted_keep(f, MCR_EXTRA_NOISE, &variance, 1);
}

mcr_status mcr_gp_finish(mcr_fitted *f, mcr_gp *gp, const mcr_data *data)
{
    f->objective = -gp->f;
    f->iterations = gp->steps;
    f->stop = f->value <= f->tolerance ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    if (!isnan(gp->slope)) {
        f->certificate = gp->own ? "slope of the lower bound" : "slope of the likelihood";
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
    mcr_status s = mcr_gram_open(&gram, gp->ctx, gp->kernel, data, NULL);
    if (!s && gp->sample > 0)
        s = mcr_fitted_remark(f, "the scales were searched on up to %lld of the objects first",
                              (long long)gp->sample);
    if (!s)
        s = mcr_fitted_remark_zero(f, gram);
    mcr_gram_close(gram);
    return s;
}

/* Fails for what needs the matrix of all objects. */
static mcr_status check_sparse(const mcr_learning *in, const mcr_goal *goal)
{
    const mcr_gp_params *o = in->params;
    const char *what = goal->task == MCR_CLASSIFY ? "gp for classes" : o->loo ? "gp: loo" : NULL;
    return what ? mcr_advise(in->ctx,
                             mcr_fail(in->ctx, MCR_BAD_CALL,
                                      "%s needs the kernel matrix of all objects: omit approx=sgpr",
                                      what),
                             "option approx=none")
                : MCR_OK;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const mcr_gp_params *o = in->params;
    mcr_goal goal;
    mcr_status s = o->approx == MCR_GP_EXACT
                       ? mcr_data_need_memory(in->data, "gp without approx=sgpr")
                       : MCR_OK;
    if (s)
        return s;
    s = mcr_goal_open(&goal, in, "gp", o->task, NULL);
    if (!s && o->approx == MCR_GP_SGPR)
        s = check_sparse(in, &goal);
    if (!s)
        s = goal.task == MCR_CLASSIFY    ? mcr_gp_classify(out, in, &goal)
            : o->approx == MCR_GP_SGPR   ? mcr_gp_regress_sparsely(out, in, &goal)
            : mcr_gp_is_large(in, &goal) ? mcr_gp_regress_largely(out, in, &goal)
                                         : mcr_gp_regress(out, in, &goal);
    if (!s && o->loo && goal.task == MCR_CLASSIFY)
        s = mcr_fitted_remark(*out,
                              "the leave-one-out error of gp is available for regression only");
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
        "its search for scales needs derivatives of kernel values, and its standard deviations "
        "need kernel values between training objects (approx=sgpr is a sparse process)",
    .dense = true,
    .own_kernel = true,
    .leaves_out = true,
    .predictor = &mcr_gp_predictor,
};
