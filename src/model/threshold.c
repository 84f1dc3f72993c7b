/* threshold.c: the operating point of a two-class model: the decision value, or probability, from
 * which an object is predicted positive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/sized.h"
#include "model/model.h"

bool mcr_model_decides_by_score(const mcr_model *m)
{
    mcr_rule rule = m->fitted->rule;
    return m->fitted->outputs == 1 &&
           (rule == MCR_RULE_BINARY || rule == MCR_RULE_SOFTMAX || rule == MCR_RULE_LARGEST);
}

mcr_status mcr_model_check_threshold(mcr *ctx, const mcr_model *m)
{
    if (m->report.task != MCR_CLASSIFY || m->classes != 2)
        return mcr_fail(ctx, MCR_BAD_CALL, "a threshold is for models of two classes");
    return mcr_model_decides_by_score(m) || mcr_model_has_probability(m)
               ? MCR_OK
               : mcr_fail(ctx, MCR_BAD_CALL,
                          "a threshold needs decision values or probabilities, and a model of %s "
                          "has neither",
                          m->learner);
}

mcr_status mcr_model_set_threshold(mcr *ctx, mcr_model *m, const mcr_threshold *given)
{
    mcr_threshold t;
    mcr_status s = MCR_SIZED_READ(mcr_threshold, &t, ctx, given);
    if (!s)
        s = mcr_model_check_threshold(ctx, m);
    if (s)
        return s;
    if (!isfinite(t.value) || (t.probability && !(t.value >= 0 && t.value <= 1)))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "threshold %g: a threshold of probabilities is between 0 and 1, of "
                        "decision values it is finite",
                        t.value);
    if (t.probability && !mcr_model_has_probability(m))
        return mcr_fail(ctx, MCR_BAD_CALL, "the model has no probabilities for a threshold");
    if (!t.probability && !mcr_model_decides_by_score(m))
        return mcr_fail(ctx, MCR_BAD_CALL, "the model has no single decision value");
    const double kept[] = {t.value, t.probability != 0};
    return mcr_fitted_keep(m->fitted, MCR_EXTRA_THRESHOLD, kept, 2);
}

mcr_status mcr_model_threshold(const mcr_model *m, mcr_threshold *out)
{
    int64_t count;
    const double *kept = mcr_fitted_find(m->fitted, MCR_EXTRA_THRESHOLD, &count);
    mcr_threshold t = {.value = NAN};
    bool good = kept && count == 2 && isfinite(kept[0]) && (kept[1] == 0 || kept[1] == 1) &&
                m->report.task == MCR_CLASSIFY && m->classes == 2;
    if (good && (kept[1] != 0 ? mcr_model_has_probability(m) : mcr_model_decides_by_score(m))) {
        t.value = kept[0];
        t.probability = kept[1] != 0;
    }
    return MCR_SIZED_WRITE(mcr_threshold, out, m->ctx, &t);
}

void mcr_threshold_decide(const mcr_model *m, const mcr_threshold *t, const double *score,
                          const double *proba, int64_t n, double *value)
{
    int64_t positive = mcr_model_positive(m);
    double other = (double)(1 - positive), sign = positive == 1 ? 1 : -1;
    for (int64_t i = 0; i < n; i++) {
        bool is = t->probability ? proba[2 * i + positive] >= t->value : sign * score[i] > t->value;
        value[i] = is ? (double)positive : other;
    }
}
