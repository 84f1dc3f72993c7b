/* fitted.c: the result of a learner, and how decision values become predictions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/learner.h"

#include <math.h>
#include <string.h>

mcr_status mcr_fitted_new(mcr_fitted **out, mcr *ctx, int64_t outputs)
{
    *out = NULL;
    mcr_fitted *f = mcr_alloc_zero(ctx, 1, sizeof *f);
    if (!f)
        return MCR_NO_MEMORY;
    f->ctx = ctx;
    f->outputs = outputs;
    f->objective = f->value = f->tolerance = f->primal = f->dual = f->gap = NAN;
    f->offset = mcr_alloc_zero(ctx, (size_t)outputs, sizeof *f->offset);
    if (!f->offset) {
        mcr_free(ctx, f);
        return MCR_NO_MEMORY;
    }
    *out = f;
    return MCR_OK;
}

void mcr_fitted_clear(mcr_fitted *f)
{
    for (int64_t s = 0; s < f->segments; s++)
        mcr_free_all(f->ctx, f->segment[s].output, f->segment[s].coef);
    mcr_free_all(f->ctx, f->segment, f->object);
    f->segment = NULL;
    f->object = NULL;
    f->segments = f->basis = f->segment_capacity = f->object_capacity = 0;
}

void mcr_fitted_free(mcr_fitted *f)
{
    if (!f)
        return;
    mcr_fitted_clear(f);
    mcr_free_all(f->ctx, f->offset, f->slope, f->curve);
    for (int64_t e = 0; e < f->extras; e++)
        mcr_free_all(f->ctx, f->extra[e].name, f->extra[e].value);
    mcr_free_all(f->ctx, f->extra, f->right, f->trained, f->left_out, f->held_out, f->loss_slope);
    mcr_free_each(f->ctx, f->sum, f->outputs);
    mcr_kernel_free(f->kernel);
    mcr_kernel_free(f->second);
    mcr_free_all(f->ctx, f->remark, f->why, f);
}

mcr_status mcr_fitted_open_slope(mcr_fitted *f, mcr_gram *gram, double mu)
{
    if (!gram || mcr_gram_width(gram) == 0)
        return MCR_OK;
    f->mu = mu;
    f->loss_slope = mcr_alloc_zero(f->ctx, (size_t)mcr_gram_rows(gram),
                                   (size_t)f->outputs * sizeof *f->loss_slope);
    return f->loss_slope ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_fitted_give(mcr_fitted **out, mcr_fitted *f, mcr_status status)
{
    if (status)
        mcr_fitted_free(f);
    *out = status ? NULL : f;
    return status;
}

static bool used(const double *coef, int64_t outputs, int64_t count, int64_t i)
{
    for (int64_t o = 0; o < outputs; o++)
        if (coef[o * count + i] != 0)
            return true;
    return outputs == 0;
}

static mcr_status reserve_segment(mcr_fitted *f)
{
    return mcr_reserve(f->ctx, &f->segment, &f->segment_capacity, f->segments + 1,
                       sizeof *f->segment);
}

mcr_status mcr_fitted_add(mcr_fitted *f, const int64_t *object, int64_t count,
                          const int32_t *output, int64_t outputs, const double *coef)
{
    mcr *ctx = f->ctx;
    int64_t keep = 0;
    for (int64_t i = 0; i < count; i++)
        keep += used(coef, outputs, count, i);
    mcr_status status = reserve_segment(f);
    if (!status)
        status = mcr_reserve(ctx, &f->object, &f->object_capacity, f->basis + keep,
                             sizeof *f->object);
    if (status)
        return status;
    mcr_segment s = {f->basis, keep, outputs, mcr_alloc(ctx, (size_t)outputs, sizeof *s.output),
                     mcr_alloc(ctx, (uint64_t)outputs * (uint64_t)keep, sizeof *s.coef)};
    if (!s.output || !s.coef) {
        mcr_free_all(ctx, s.output, s.coef);
        return MCR_NO_MEMORY;
    }
    for (int64_t o = 0; o < outputs; o++)
        s.output[o] = output ? output[o] : (int32_t)o;
    int64_t to = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!used(coef, outputs, count, i))
            continue;
        f->object[f->basis + to] = object ? object[i] : i;
        for (int64_t o = 0; o < outputs; o++)
            s.coef[o * keep + to] = coef[o * count + i];
        to++;
    }
    f->segment[f->segments++] = s;
    f->basis += keep;
    return MCR_OK;
}

mcr_status mcr_fitted_add_table(mcr_fitted *f, const int64_t *object, int64_t count,
                                const double *coef)
{
    int64_t k = f->outputs;
    double *transposed = mcr_alloc(f->ctx, (size_t)count, (size_t)k * sizeof *transposed);
    if (!transposed)
        return MCR_NO_MEMORY;
    for (int64_t o = 0; o < k; o++)
        for (int64_t i = 0; i < count; i++)
            transposed[o * count + i] = coef[i * k + o];
    mcr_status s = mcr_fitted_add(f, object, count, NULL, k, transposed);
    mcr_free(f->ctx, transposed);
    return s;
}

/* A segment of all n objects for outputs first, first + 1, ... */
static mcr_status add_whole(mcr_fitted *f, int64_t n, int64_t first, int64_t outputs,
                            const double *coef)
{
    mcr *ctx = f->ctx;
    mcr_status status = reserve_segment(f);
    if (status)
        return status;
    mcr_segment *g = &f->segment[f->segments++];
    *g = (mcr_segment){0, n, outputs, mcr_alloc(ctx, (size_t)outputs, sizeof *g->output),
                       mcr_alloc(ctx, (size_t)outputs, (size_t)n * sizeof *g->coef)};
    if (!g->output || !g->coef)
        return MCR_NO_MEMORY;
    for (int64_t o = 0; o < outputs; o++)
        g->output[o] = (int32_t)(first + o);
    memcpy(g->coef, coef, sizeof *coef * (size_t)(outputs * n));
    return MCR_OK;
}

mcr_status mcr_fitted_whole(mcr_fitted **out, mcr *ctx, int64_t n, int64_t outputs,
                            const double *coef)
{
    mcr_fitted *f = NULL;
    mcr_status s = mcr_fitted_new(&f, ctx, outputs);
    if (!s && !(f->object = mcr_alloc(ctx, (size_t)n, sizeof *f->object)))
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        f->object[i] = i;
    if (!s) {
        f->basis = n;
        s = add_whole(f, n, 0, outputs, coef);
    }
    return mcr_fitted_give(out, f, s);
}

mcr_status mcr_fitted_add_second(mcr_fitted *f, const mcr_kernel *kernel, int64_t outputs,
                                 const double *coef)
{
    int64_t first = f->outputs;
    double *offset = mcr_resize(f->ctx, f->offset, (size_t)(first + outputs), sizeof *offset);
    if (!offset)
        return MCR_NO_MEMORY;
    memset(offset + first, 0, sizeof *offset * (size_t)outputs);
    f->offset = offset;
    f->outputs += outputs;
    f->second = mcr_kernel_retain(kernel);
    return add_whole(f, f->basis, first, outputs, coef);
}

/* ---- numbers of the learner's own -------------------------------------------------------------*/

static mcr_extra *find_extra(const mcr_fitted *f, const char *name)
{
    for (int64_t e = 0; e < f->extras; e++)
        if (strcmp(f->extra[e].name, name) == 0)
            return &f->extra[e];
    return NULL;
}

mcr_status mcr_fitted_keep(mcr_fitted *f, const char *name, const double *value, int64_t count)
{
    mcr_extra *to = find_extra(f, name);
    double *copy = mcr_alloc(f->ctx, (size_t)count, sizeof *copy);
    if (!copy)
        return MCR_NO_MEMORY;
    memcpy(copy, value, sizeof *copy * (size_t)count);
    if (!to) {
        mcr_extra *list = mcr_resize(f->ctx, f->extra, (size_t)f->extras + 1, sizeof *list);
        char *text = list ? mcr_copy_text(f->ctx, name, strlen(name)) : NULL;
        if (list)
            f->extra = list;
        if (!text) {
            mcr_free(f->ctx, copy);
            return MCR_NO_MEMORY;
        }
        to = &f->extra[f->extras++];
        *to = (mcr_extra){.name = text};
    }
    mcr_free(f->ctx, to->value);
    to->value = copy;
    to->count = count;
    return MCR_OK;
}

const double *mcr_fitted_find(const mcr_fitted *f, const char *name, int64_t *count)
{
    const mcr_extra *e = find_extra(f, name);
    *count = e ? e->count : 0;
    return e ? e->value : NULL;
}

double mcr_fitted_number(const mcr_fitted *f, const char *name)
{
    const mcr_extra *e = find_extra(f, name);
    return e && e->count == 1 ? *e->value : NAN;
}

mcr_status mcr_fitted_need(const double **out, const mcr_fitted *f, const char *name, int64_t count)
{
    int64_t found;
    *out = mcr_fitted_find(f, name, &found);
    if (*out && found == count)
        return MCR_OK;
    *out = NULL;
    return mcr_fail(f->ctx, MCR_BAD_DATA,
                    "the model is damaged (its numbers \"%s\" do not fit); train it again", name);
}

/* ---- decisions --------------------------------------------------------------------------------*/

/* The log odds of the first class of output o. */
static double log_odds(const mcr_fitted *f, int64_t o, double score)
{
    return f->curve ? f->curve[2 * o] * score + f->curve[2 * o + 1]
                    : f->slope[2 * o + (score < 0)] * score;
}

/* Its probability, clipped away from 0 and 1 so that couplings exist. */
static double first_probability(const mcr_fitted *f, int64_t o, double score)
{
    double p = 1 / (1 + exp(-log_odds(f, o, score)));
    return p < 1e-7 ? 1e-7 : p > 1 - 1e-7 ? 1 - 1e-7 : p;
}

/* Of two classes: each probability to all its digits, so that different scores stay different.
 * Models with slopes predict as they always have. */
static void both_probabilities(const mcr_fitted *f, double score, double *proba)
{
    double t = f->curve ? log_odds(f, 0, score) : 0;
    proba[1] = f->curve ? 1 / (1 + exp(-t)) : first_probability(f, 0, score);
    proba[0] = f->curve ? 1 / (1 + exp(t)) : 1 - proba[1];
}

/* Pairwise coupling: the p that minimises sum_{i<j} (r_ji p_i - r_ij p_j)^2 = p'Qp, with Q_ii the
 * sum of r_ji^2 and Q_ij = -r_ji r_ij (Wu, Lin and Weng, JMLR 5, 2004, second method): each step
 * makes (Qp)_t equal to p'Qp and normalises. q: space for k x k + k. */
static void couple(const mcr_fitted *f, const double *score, double *p, double *q)
{
    int64_t k = f->classes;
    double *qp = q + k * k;
    for (int64_t i = 0; i < k; i++) {
        p[i] = 1.0 / (double)k;
        q[i * k + i] = 0;
    }
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i + 1; j < k; j++) {
            int64_t o = mcr_pair_output(k, i, j);
            double r_ij = first_probability(f, o, score[o]), r_ji = 1 - r_ij;
            q[i * k + i] += r_ji * r_ji;
            q[j * k + j] += r_ij * r_ij;
            q[i * k + j] = q[j * k + i] = -r_ji * r_ij;
        }
    for (int sweep = 0; sweep < 100; sweep++) {
        double pqp = 0, worst = 0;
        for (int64_t i = 0; i < k; i++) {
            qp[i] = 0;
            for (int64_t j = 0; j < k; j++)
                qp[i] += q[i * k + j] * p[j];
            pqp += p[i] * qp[i];
        }
        for (int64_t i = 0; i < k; i++)
            worst = fmax(worst, fabs(qp[i] - pqp));
        if (worst < 1e-9 / (double)k)
            return;
        for (int64_t t = 0; t < k; t++) {
            double d = (pqp - qp[t]) / q[t * k + t];
            p[t] += d;
            pqp = (pqp + d * (d * q[t * k + t] + 2 * qp[t])) / ((1 + d) * (1 + d));
            for (int64_t j = 0; j < k; j++) {
                qp[j] = (qp[j] + d * q[t * k + j]) / (1 + d);
                p[j] /= 1 + d;
            }
        }
    }
}

bool mcr_all_finite(const double *v, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

int64_t mcr_largest(const double *v, int64_t count)
{
    int64_t best = 0;
    for (int64_t c = 1; c < count; c++)
        if (v[c] > v[best])
            best = c;
    return best;
}

/* The first of those with most votes. No branch depends on a score, because such branches cannot be
 * predicted. */
static int64_t most_votes(const mcr_fitted *f, const double *score)
{
    enum { AT_ONCE = 64 };
    int64_t k = f->classes, best = 0, best_votes = -1;
    for (int64_t from = 0; from < k; from += AT_ONCE) {
        int64_t votes[AT_ONCE] = {0}, to = from + AT_ONCE < k ? from + AT_ONCE : k;
        for (int64_t a = 0, o = 0; a < to; o += k - 1 - a, a++) { /* o: of the pair a, a + 1 */
            const double *of = score + o;
            int64_t own = 0, b = a + 1 > from ? a + 1 : from;
            for (int64_t j = 0; a >= from && j < k - 1 - a; j++)
                own += of[j] > 0;
            if (a >= from)
                votes[a - from] += own;
            for (; b < to; b++)
                votes[b - from] += !(of[b - a - 1] > 0);
        }
        for (int64_t c = from; c < to; c++)
            if (votes[c - from] > best_votes) {
                best = c;
                best_votes = votes[c - from];
            }
    }
    return best;
}

/* One-vs-rest: each class's own probability, made to sum to 1. */
static void normalise(const mcr_fitted *f, const double *score, double *p)
{
    double sum = 0;
    for (int64_t c = 0; c < f->classes; c++)
        sum += p[c] = first_probability(f, c, score[c]);
    for (int64_t c = 0; c < f->classes; c++)
        p[c] /= sum;
}

/* Shifted by the largest, so that no exp overflows. */
static void softmax(const mcr_fitted *f, const double *score, double *p)
{
    bool two = f->classes == 2;
    double most = two ? 0 : score[0], sum = 0;
    for (int64_t o = 0; o < f->outputs; o++)
        most = fmax(most, score[o]);
    for (int64_t c = 0; c < f->classes; c++)
        sum += p[c] = exp((two ? (c ? score[0] : 0) : score[c]) - most);
    for (int64_t c = 0; c < f->classes; c++)
        p[c] /= sum;
}

bool mcr_fitted_has_probability(const mcr_fitted *f, const mcr_predictor *predictor)
{
    return mcr_fitted_is_calibrated(f) || f->rule == MCR_RULE_SOFTMAX ||
           (f->task == MCR_CLASSIFY && predictor && (predictor->gives & MCR_GIVES_PROBA));
}

double mcr_fitted_decide(const mcr_fitted *f, const double *score, double *proba, double *work)
{
    switch (f->rule) {
    case MCR_RULE_VALUE: return score[0];
    case MCR_RULE_SIGN: return score[0] >= 0 ? 1 : -1;
    case MCR_RULE_BINARY:
        if (mcr_fitted_is_calibrated(f) && proba)
            both_probabilities(f, score[0], proba);
        return (f->curve ? log_odds(f, 0, score[0]) : score[0]) > 0;
    case MCR_RULE_PAIRS:
        if (!mcr_fitted_is_calibrated(f) || !proba)
            return (double)most_votes(f, score);
        couple(f, score, proba, work);
        return (double)mcr_largest(proba, f->classes);
    case MCR_RULE_LARGEST:
        if (!mcr_fitted_is_calibrated(f) || !proba)
            return (double)mcr_largest(score, f->outputs);
        normalise(f, score, proba);
        return (double)mcr_largest(proba, f->classes);
    case MCR_RULE_SOFTMAX:
        if (proba)
            softmax(f, score, proba);
        return f->classes == 2 ? score[0] > 0 : (double)mcr_largest(score, f->classes);
    case MCR_RULE_OWN:
    case MCR_RULE_COORDINATES: break;
    }
    return NAN;
}
