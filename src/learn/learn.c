/* learn.c: running a learner, on each object once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "learn/form.h"

mcr_status mcr_learning_gram(mcr_gram **out, const mcr_learning *in)
{
    *out = NULL;
    if (mcr_team_of_rows(in->ctx))
        return mcr_advise(
            in->ctx,
            mcr_fail(in->ctx, MCR_BAD_CALL,
                     "%s: kernel values of all pairs of objects are not available when rows are "
                     "spread over several processes: approximate the kernel",
                     in->type ? in->type->name : "learner"),
            "option approx=falkon");
    return in->gram ? mcr_gram_share(out, in->gram)
                    : mcr_gram_open(out, in->ctx, in->kernel, in->data, NULL);
}

double mcr_learning_weight(const mcr_data *data)
{
    const double *weight = mcr_data_weights(data);
    int64_t n = mcr_data_count(data);
    double sum = 0;
    for (int64_t i = 0; i < n && weight; i++)
        sum += weight[i];
    return weight ? sum : (double)n;
}

/* A start whose objects are numbered as in the merged data. */
static mcr_status merge_start(mcr_fitted *merged, const mcr_fitted *start, const int64_t *where,
                              int64_t n)
{
    *merged = *start;
    merged->object = mcr_alloc(start->ctx, (size_t)start->basis, sizeof *merged->object);
    if (!merged->object)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < start->basis; i++) {
        int64_t at = start->object[i];
        merged->object[i] = at >= 0 && at < n ? where[at] : -1;
    }
    return MCR_OK;
}

/* Expands the results for merged objects to all n. */
static mcr_status keep_duplicates(mcr_fitted *f, const int64_t *where, const int64_t *first,
                                  int64_t n)
{
    unsigned char *right = f->right ? mcr_alloc(f->ctx, (size_t)n, sizeof *right) : NULL;
    int64_t k = f->outputs;
    double *trained = f->trained ? mcr_alloc(f->ctx, (uint64_t)(n * k), sizeof *trained) : NULL;
    mcr_status s = !f->right == !right && !f->trained == !trained ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < f->basis; i++)
        f->object[i] = first[f->object[i]];
    for (int64_t i = 0; i < n && right; i++)
        right[i] = f->right[where[i]];
    for (int64_t i = 0; i < n && trained; i++)
        memcpy(trained + i * k, f->trained + where[i] * k, sizeof *trained * (size_t)k);
    mcr_free_all(f->ctx, f->right, f->trained);
    f->right = right;
    f->trained = trained;
    return s;
}

static mcr_status learn_merged(mcr_fitted **out, const mcr_learner_type *type,
                               const mcr_learning *in, const mcr_data *data, const int64_t *where)
{
    mcr *ctx = in->ctx;
    int64_t n = mcr_data_count(in->data);
    mcr_fitted start = {0};
    mcr_learning part = *in;
    part.data = data;
    int64_t *first = mcr_alloc(ctx, (size_t)n, sizeof *first);
    mcr_status s = first ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = n - 1; i >= 0 && !s; i--)
        first[where[i]] = i;
    if (!s && in->start) {
        s = merge_start(&start, in->start, where, n);
        part.start = &start;
    }
    if (!s)
        s = type->fit(out, &part);
    if (!s)
        s = keep_duplicates(*out, where, first, n);
    mcr_free_all(ctx, start.object, first);
    return s;
}

/* Learners that do not use targets accept several. */
static mcr_status check_targets(const mcr_learner_type *type, const mcr_learning *in)
{
    int64_t targets = mcr_data_target_count(in->data);
    bool learns = type->task == MCR_CLASSIFY || type->task == MCR_REGRESS ||
                  type->task == MCR_EITHER;
    if (targets < 2 || !learns || type->several_targets)
        return MCR_OK;
    return mcr_advise(in->ctx,
                      mcr_fail(in->ctx, MCR_BAD_DATA,
                               "%s learns one target, and the data have %lld: name one of them, or "
                               "use ridge, which learns all at once",
                               type->name, (long long)targets),
                      "target");
}

/* If numbers overflowed during training, model and certificate are meaningless: the call fails. */
static mcr_status check_finite(const mcr_fitted *f, const mcr_learner_type *type)
{
    bool fine = mcr_all_finite(f->offset, f->outputs) &&
                (!f->slope || mcr_all_finite(f->slope, 2 * f->outputs));
    for (int64_t g = 0; g < f->segments && fine; g++)
        fine = mcr_all_finite(f->segment[g].coef, f->segment[g].outputs * f->segment[g].count);
    for (int64_t e = 0; e < f->extras && fine; e++)
        fine = mcr_all_finite(f->extra[e].value, f->extra[e].count);
    const double sums[] = {f->objective, f->primal, f->dual, f->value};
    for (size_t i = 0; i < sizeof sums / sizeof *sums && f->stop == MCR_STOP_OPTIMAL; i++)
        fine = fine && !isinf(sums[i]);
    if (fine)
        return MCR_OK;
    return mcr_fail(f->ctx, MCR_NUMERIC,
                    "%s: numbers became too large for double precision: scale the targets or the "
                    "data, or choose less extreme parameters",
                    type->name);
}

static mcr_status learn(mcr_fitted **out, const mcr_learner_type *type, const mcr_learning *in)
{
    if (!type->weights_count || in->gram || mcr_data_on_disk(in->data) || mcr_team_of_rows(in->ctx))
        return type->fit(out, in);
    int64_t *where = mcr_alloc(in->ctx, (size_t)mcr_data_count(in->data), sizeof *where);
    mcr_data *merged = NULL;
    mcr_status s = where ? mcr_data_merge(&merged, in->data, type->task == MCR_CLASSIFY, where)
                         : MCR_NO_MEMORY;
    if (!s)
        s = merged ? learn_merged(out, type, in, merged, where) : type->fit(out, in);
    mcr_data_free(merged);
    mcr_free(in->ctx, where);
    return s;
}

/* What a learner certifies on the Gram of an approximate map. */
static const char *approximate(const char *certificate)
{
    static const char *const known[][2] = {
        {"KKT violation", "KKT violation of the approximate problem"},
        {"relative gap", "relative gap of the approximate problem"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (certificate && strcmp(certificate, known[i][0]) == 0)
            return known[i][1];
    return certificate;
}

/* A learner without forms of its own, on the Gram of the features if these are requested. */
static mcr_status learn_form(mcr_fitted **out, const mcr_learner_type *type, const mcr_learning *in)
{
    const mcr_form_options *o = (const void *)((const char *)in->params + type->form);
    mcr_form form = {0};
    mcr_learning part = *in;
    mcr_form_work work = {MCR_WORK_VALUES, 1, (double)mcr_data_count(in->data), 1};
    mcr_status s = mcr_form_open(&form, in, o, &work);
    part.gram = form.gram;
    if (!s)
        s = form.features ? type->fit(out, &part) : learn(out, type, in);
    if (!s && form.map) {
        s = mcr_form_rebase(&form, in->data, *out);
        (*out)->certificate = approximate((*out)->certificate);
    }
    if (!s && form.features)
        s = mcr_form_report(&form, *out);
    mcr_form_close(&form);
    return s;
}

/* Predictions of the training objects that were computed with approximate features: ties may be
 * decided differently by the function that the model stores, so that one predicts them again. */
static void leave_to_prediction(mcr_fitted *f)
{
    int64_t count;
    const double *form = mcr_fitted_find(f, MCR_EXTRA_FORM, &count);
    if (!form || form[0] == MCR_APPROX_NONE || f->of_stored)
        return;
    mcr_free_all(f->ctx, f->right, f->trained);
    f->right = NULL;
    f->trained = NULL;
}

mcr_status mcr_learn(mcr_fitted **out, const mcr_learner_type *type, const mcr_learning *given)
{
    mcr_learning with = *given;
    const mcr_learning *in = &with;
    with.type = type;
    *out = NULL;
    mcr_status s = check_targets(type, in);
    if (!s && mcr_team_of_rows(in->ctx) && !type->spreads)
        s = mcr_fail(in->ctx, MCR_BAD_CALL,
                     "%s cannot be trained when rows are spread over several processes: ridge, "
                     "logistic, svm and pca can",
                     type->name);
    if (!s)
        s = type->form ? learn_form(out, type, in) : learn(out, type, in);
    mcr_fitted *f = *out;
    /* If the value and its rounding error exceed the tolerance together, nothing is proved. */
    if (!s && f && f->stop == MCR_STOP_OPTIMAL && !f->as_computed &&
        f->value + f->value_error > f->tolerance)
        f->stop = MCR_STOP_STUCK;
    if (!s && f)
        leave_to_prediction(f);
    if (!s && f && (f->value_error > 0 || f->objective_error > 0))
        s = mcr_fitted_keep(f, MCR_EXTRA_ERRORS,
                            (const double[]){f->value_error, f->objective_error}, 2);
    if (!s && *out)
        s = check_finite(*out, type);
    /* Optimality conditions prove an optimum only if the problem is convex. */
    if (!s && *out && type->convex && (*out)->stop == MCR_STOP_OPTIMAL &&
        mcr_kernel_definite(in->kernel, NULL) != MCR_PSD)
        (*out)->stop = MCR_STOP_LOCAL;
    if (s) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    return s;
}
