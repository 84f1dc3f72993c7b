/* onnx_decide.c: scores, labels, probabilities and standard deviations as ONNX operators. The rules
 * are those of learn/fitted.c and of learners with their own predictor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "export/onnx_graph.h"
#include "learn/gp.h"
#include "learn/online.h"

static mcr_tensor flatten(mcr_onnx *g, mcr_tensor a)
{
    return mcr_onnx_2(g, "Reshape", a, mcr_onnx_ints(g, (const int64_t[]){-1}, 1));
}

/* ---- scores -----------------------------------------------------------------------------------*/

/* Coefficients of the segments from `first` to `end`, basis x outputs. */
static mcr_tensor put_coefficients(mcr_onnx *g, int64_t first, int64_t end)
{
    const mcr_portable *p = g->p;
    int64_t outputs = p->fitted->outputs;
    double *c = mcr_onnx_zeros(g, p->basis, outputs);
    for (int64_t s = first; c && s < end; s++)
        for (int64_t t = 0; t < p->segment[s].outputs; t++)
            for (int64_t i = 0; i < p->segment[s].count; i++)
                c[(p->segment[s].first + i) * outputs + p->segment[s].output[t]] =
                    p->segment[s].coef[t * p->segment[s].count + i];
    return mcr_onnx_matrix(g, c, p->basis, outputs);
}

static mcr_tensor put_scores(mcr_onnx *g, const mcr_onnx_parts *parts, mcr_tensor k)
{
    const mcr_portable *p = g->p;
    int64_t outputs = p->fitted->outputs, own = p->second ? 1 : p->segments;
    mcr_tensor offset = mcr_onnx_reals(g, p->fitted->offset, (const int64_t[]){1, outputs, -1});
    if (p->basis == 0) /* a column of zeros for each object */
        return mcr_onnx_2(g, "Add", mcr_onnx_times(g, mcr_onnx_sum(g, 0, 1, true), 0), offset);
    mcr_tensor sum = mcr_onnx_2(g, "MatMul", k, put_coefficients(g, 0, own));
    if (p->second)
        sum = mcr_onnx_2(g, "Add", sum,
                         mcr_onnx_2(g, "MatMul", mcr_onnx_kernel(g, parts, p->second),
                                    put_coefficients(g, 1, p->segments)));
    return mcr_onnx_2(g, "Add", sum, offset);
}

/* ---- neighbours and votes ---------------------------------------------------------------------*/

/* Weights of the nearest neighbours in the vote, objects x neighbours. */
static mcr_tensor put_shares(mcr_onnx *g, mcr_tensor distance, mcr_tensor weight)
{
    mcr_tensor one = mcr_onnx_number(g, 1), far = mcr_onnx_positive(g, distance);
    mcr_tensor at = mcr_onnx_2(g, "Sub", one, far);
    mcr_tensor safe = mcr_onnx_2(g, "Add", mcr_onnx_2(g, "Mul", distance, far), at);
    mcr_tensor any = mcr_onnx_positive(g, mcr_onnx_sum(g, at, 1, true));
    mcr_tensor near = mcr_onnx_2(g, "Mul", weight, at);
    far = mcr_onnx_2(g, "Div", weight, mcr_onnx_1(g, "Sqrt", safe));
    return mcr_onnx_2(g, "Add", mcr_onnx_2(g, "Mul", any, near),
                      mcr_onnx_2(g, "Mul", mcr_onnx_2(g, "Sub", one, any), far));
}

static mcr_tensor put_neighbours(mcr_onnx *g, const mcr_onnx_parts *parts, mcr_tensor k)
{
    const mcr_fitted *f = g->p->fitted;
    int64_t n = f->basis, outputs = f->outputs;
    mcr_knn knn;
    mcr_status s = mcr_knn_find(&knn, f);
    if (s) {
        g->status = s;
        return 0;
    }
    mcr_tensor own = mcr_onnx_reals(g, knn.diagonal, (const int64_t[]){1, n, -1});
    mcr_tensor d = mcr_onnx_2(g, "Add", mcr_onnx_times(g, k, -2), own);
    mcr_onnx_set_int(g, "largest", 0);
    mcr_onnx_set_int(g, "axis", 1);
    mcr_tensor near = mcr_onnx_top(g, d, knn.neighbors), who = near + 1;
    mcr_tensor weight = mcr_onnx_reals(g, knn.weight, (const int64_t[]){n, -1});
    mcr_tensor share = mcr_onnx_2(g, "Gather", weight, who);
    if (knn.by_distance)
        share = put_shares(g, mcr_onnx_2(g, "Add", near, mcr_onnx_self(g, parts, g->p->kernel)),
                           share);
    double *of = mcr_onnx_zeros(g, n, outputs);
    for (int64_t i = 0; of && i < n; i++)
        if (f->task == MCR_CLASSIFY)
            of[i * outputs + (int64_t)knn.target[i]] = 1;
        else
            of[i] = knn.target[i];
    mcr_tensor vote = mcr_onnx_2(g, "Gather", mcr_onnx_matrix(g, of, n, outputs), who);
    vote = mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", vote, mcr_onnx_add_axis(g, share, 2)), 1, false);
    return mcr_onnx_2(g, "Div", vote, mcr_onnx_sum(g, share, 1, true));
}

/* The scores of all perceptrons are prefix sums. */
static mcr_tensor put_voted(mcr_onnx *g, mcr_tensor k)
{
    mcr_voted voted = {0};
    mcr_status s = mcr_votes_find(&voted, g->p->fitted);
    int64_t m = voted.count, outputs = g->p->fitted->outputs;
    const double *const *list = voted.list;
    int64_t *object = s ? NULL : mcr_alloc(g->ctx, (size_t)m + 1, sizeof *object);
    double all = 0, *sign = s ? NULL : mcr_onnx_zeros(g, m, outputs),
           *share = s ? NULL : mcr_onnx_zeros(g, m, 1);
    if (s || !object || !sign || !share) {
        g->status = s ? s : MCR_NO_MEMORY;
        mcr_free_all(g->ctx, object, sign, share);
        return 0;
    }
    for (int64_t i = 0; i < m; i++) {
        object[i] = (int64_t)list[MCR_VOTE_OBJECT][i];
        sign[i * outputs + (int64_t)list[MCR_VOTE_UP][i]] += list[MCR_VOTE_SIZE][i];
        if (list[MCR_VOTE_DOWN][i] >= 0)
            sign[i * outputs + (int64_t)list[MCR_VOTE_DOWN][i]] -= list[MCR_VOTE_SIZE][i];
        all += list[MCR_VOTE_LIVES][i];
    }
    for (int64_t i = 0; i < m; i++)
        share[i] = list[MCR_VOTE_LIVES][i]; /* integers: sums are exact, and so are ties */
    mcr_onnx_set_int(g, "axis", 1);
    mcr_tensor at = mcr_onnx_2(g, "Gather", k, mcr_onnx_ints(g, object, m));
    at = mcr_onnx_add_axis(g, mcr_onnx_plus(g, at, *voted.bias), 2);
    mcr_free(g->ctx, object);
    mcr_tensor step = mcr_onnx_2(g, "Mul", at, mcr_onnx_matrix(g, sign, m, outputs));
    mcr_tensor score = mcr_onnx_2(g, "CumSum", step, mcr_onnx_ints(g, (const int64_t[]){1}, 1));
    mcr_tensor vote;
    if (outputs == 1) { /* +1 or -1 */
        vote = mcr_onnx_plus(g, mcr_onnx_times(g, mcr_onnx_positive(g, score), 2), -1);
    } else {
        mcr_tensor best = mcr_onnx_add_axis(g, mcr_onnx_largest(g, score, 2), 2);
        vote = mcr_onnx_cast(g, mcr_onnx_2(g, "Equal", best, mcr_onnx_range(g, 0, outputs)),
                             mcr_onnx_real(g));
    }
    vote = mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", vote, mcr_onnx_matrix(g, share, m, 1)), 1, false);
    return mcr_onnx_2(g, "Div", vote, mcr_onnx_number(g, fmax(all, 1)));
}

/* ---- Gaussian processes -----------------------------------------------------------------------*/

/* The variance of the latent value of output o, a column. */
static mcr_tensor put_variance(mcr_onnx *g, const mcr_onnx_parts *parts, mcr_tensor k, int64_t o)
{
    int64_t n = g->p->basis;
    double *root = NULL, *a = mcr_onnx_zeros(g, n, n);
    mcr_status s = a ? mcr_portable_posterior(&root, g->p, o) : MCR_NO_MEMORY;
    for (int64_t i = 0, at = 0; i < n && !s; i++)
        for (int64_t j = 0; j <= i; j++)
            a[j * n + i] = root[at++]; /* transposed */
    mcr_free(g->ctx, root);
    if (s)
        g->status = s;
    mcr_tensor v = mcr_onnx_2(g, "MatMul", k, mcr_onnx_matrix(g, a, n, n));
    v = mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", v, v), 1, true);
    v = mcr_onnx_2(g, "Sub", mcr_onnx_self(g, parts, g->p->kernel), v);
    return mcr_onnx_2(g, "Max", v, mcr_onnx_number(g, 0));
}

/* 1 / (1 + exp(-a)) */
static mcr_tensor put_logistic(mcr_onnx *g, mcr_tensor a)
{
    mcr_tensor e = mcr_onnx_1(g, "Exp", mcr_onnx_1(g, "Neg", a));
    return mcr_onnx_2(g, "Div", mcr_onnx_number(g, 1), mcr_onnx_plus(g, e, 1));
}

/* The mean of the logistic function of a normal number, as in learn/gp_predict.c; with more points
 * if variances may exceed 16. */
static mcr_tensor put_mean_logistic(mcr_onnx *g, mcr_tensor mean, mcr_tensor variance)
{
    bool few = mcr_portable_self(g->p->kernel) <= 16;
    double h = few ? 1.0 / 4 : 1.0 / 64, all = 0;
    int64_t half = (int64_t)(8 / h), count = 2 * half + 1;
    double *z = mcr_onnx_zeros(g, 1, count), *weight = mcr_onnx_zeros(g, count, 1);
    for (int64_t t = 0; z && weight && t < count; t++) {
        z[t] = h * (double)(t - half);
        all += weight[t] = exp(-0.5 * z[t] * z[t]);
    }
    for (int64_t t = 0; weight && t < count; t++)
        weight[t] /= all;
    mcr_tensor at = mcr_onnx_2(g, "Mul", mcr_onnx_1(g, "Sqrt", variance),
                               mcr_onnx_matrix(g, z, 1, count));
    return mcr_onnx_2(g, "MatMul", put_logistic(g, mcr_onnx_2(g, "Add", mean, at)),
                      mcr_onnx_matrix(g, weight, count, 1));
}

static mcr_tensor put_column(mcr_onnx *g, mcr_tensor a, int64_t column)
{
    mcr_onnx_set_int(g, "axis", 1);
    return mcr_onnx_2(g, "Gather", a, mcr_onnx_range(g, column, 1));
}

static mcr_tensor put_side_by_side(mcr_onnx *g, mcr_tensor a, mcr_tensor b)
{
    mcr_onnx_set_int(g, "axis", 1);
    return mcr_onnx_2(g, "Concat", a, b);
}

/* Divides each number by the sum of its row. */
static mcr_tensor put_share(mcr_onnx *g, mcr_tensor p)
{
    return mcr_onnx_2(g, "Div", p, mcr_onnx_sum(g, p, 1, true));
}

static mcr_tensor put_gp_probability(mcr_onnx *g, const mcr_onnx_parts *parts, mcr_tensor k,
                                     mcr_tensor score)
{
    int64_t outputs = g->p->fitted->outputs;
    mcr_tensor all = 0;
    for (int64_t o = 0; o < outputs; o++) {
        mcr_tensor p = put_mean_logistic(g, put_column(g, score, o), put_variance(g, parts, k, o));
        all = o ? put_side_by_side(g, all, p) : p;
    }
    if (outputs == 1)
        return put_side_by_side(g, mcr_onnx_2(g, "Sub", mcr_onnx_number(g, 1), all), all);
    return put_share(g, all);
}

static mcr_status put_std(mcr_onnx *g, const mcr_onnx_parts *parts, mcr_tensor k)
{
    const double *scale;
    mcr_status s = mcr_fitted_need(&scale, g->p->fitted, MCR_GP_SCALE, 1);
    if (s)
        return s;
    mcr_tensor std = mcr_onnx_1(g, "Sqrt", put_variance(g, parts, k, 0));
    mcr_onnx_output(g, "std", flatten(g, mcr_onnx_times(g, std, *scale)), mcr_onnx_real(g), 0);
    return MCR_OK;
}

/* ---- probabilities from scores ----------------------------------------------------------------*/

/* a f + b of each output, or its slope times f. */
static mcr_tensor put_odds(mcr_onnx *g, mcr_tensor score)
{
    const mcr_fitted *f = g->p->fitted;
    const double *from = f->curve ? f->curve : f->slope;
    double *half[2] = {mcr_onnx_zeros(g, 1, f->outputs), mcr_onnx_zeros(g, 1, f->outputs)};
    for (int64_t o = 0; half[0] && half[1] && o < f->outputs; o++) {
        half[0][o] = from[2 * o];
        half[1][o] = from[2 * o + 1];
    }
    mcr_tensor a = mcr_onnx_matrix(g, half[0], 1, f->outputs),
               b = mcr_onnx_matrix(g, half[1], 1, f->outputs);
    if (f->curve)
        return mcr_onnx_2(g, "Add", mcr_onnx_2(g, "Mul", score, a), b);
    mcr_tensor zero = mcr_onnx_number(g, 0); /* slopes above and below 0 */
    return mcr_onnx_2(g, "Add", mcr_onnx_2(g, "Mul", mcr_onnx_2(g, "Max", score, zero), a),
                      mcr_onnx_2(g, "Mul", mcr_onnx_2(g, "Min", score, zero), b));
}

static mcr_tensor put_first(mcr_onnx *g, mcr_tensor score)
{
    mcr_tensor p = put_logistic(g, put_odds(g, score));
    p = mcr_onnx_2(g, "Max", p, mcr_onnx_number(g, 1e-7));
    return mcr_onnx_2(g, "Min", p, mcr_onnx_number(g, 1 - 1e-7));
}

/* One elimination step: subtracts row j from the others, so that column j becomes 0 there. */
static void eliminate(mcr_onnx *g, int64_t k, int64_t j, mcr_tensor *q, mcr_tensor *y)
{
    double *mask = mcr_onnx_zeros(g, 1, k);
    for (int64_t c = 0; mask && c < k; c++)
        mask[c] = c != j;
    mcr_tensor at = mcr_onnx_ints(g, &j, 1);
    mcr_onnx_set_int(g, "axis", 1);
    mcr_tensor row = mcr_onnx_2(g, "Gather", *q, at); /* objects x 1 x k */
    mcr_onnx_set_int(g, "axis", 2);
    mcr_tensor column = mcr_onnx_sum(g, mcr_onnx_2(g, "Gather", *q, at), 2, false);
    mcr_tensor pivot = put_column(g, column, j), own = put_column(g, *y, j);
    mcr_tensor factor = mcr_onnx_2(g, "Div", column, pivot);
    factor = mcr_onnx_2(g, "Mul", factor, mcr_onnx_matrix(g, mask, 1, k));
    *q = mcr_onnx_2(g, "Sub", *q, mcr_onnx_2(g, "Mul", mcr_onnx_add_axis(g, factor, 2), row));
    *y = mcr_onnx_2(g, "Sub", *y, mcr_onnx_2(g, "Mul", factor, own));
}

/* Pairwise coupling: the p that minimises p'Qp with sum 1 is Q^-1 e divided by its sum (Wu, Lin and
 * Weng, 2004). Q is positive semi-definite: elimination needs no pivoting. */
static mcr_tensor put_couple(mcr_onnx *g, mcr_tensor score)
{
    int64_t k = g->p->fitted->classes, pairs = g->p->fitted->outputs;
    double *m[3] = {mcr_onnx_zeros(g, pairs, k * k), mcr_onnx_zeros(g, pairs, k * k),
                    mcr_onnx_zeros(g, pairs, k * k)};
    double *eye = mcr_onnx_zeros(g, k, k), *one = mcr_onnx_zeros(g, 1, k);
    for (int64_t i = 0, o = 0; m[0] && m[1] && m[2] && eye && one && i < k; i++) {
        eye[i * k + i] = one[i] = 1;
        for (int64_t j = i + 1; j < k; j++, o++) {
            m[0][o * k * k + i * k + i] = 1;
            m[1][o * k * k + j * k + j] = 1;
            m[2][o * k * k + i * k + j] = m[2][o * k * k + j * k + i] = -1;
        }
    }
    mcr_tensor a = put_first(g, score), b = mcr_onnx_2(g, "Sub", mcr_onnx_number(g, 1), a);
    mcr_tensor q = mcr_onnx_2(g, "MatMul", mcr_onnx_2(g, "Mul", b, b),
                              mcr_onnx_matrix(g, m[0], pairs, k * k));
    q = mcr_onnx_2(g, "Add", q,
                   mcr_onnx_2(g, "MatMul", mcr_onnx_2(g, "Mul", a, a),
                              mcr_onnx_matrix(g, m[1], pairs, k * k)));
    q = mcr_onnx_2(g, "Add", q,
                   mcr_onnx_2(g, "MatMul", mcr_onnx_2(g, "Mul", a, b),
                              mcr_onnx_matrix(g, m[2], pairs, k * k)));
    q = mcr_onnx_2(g, "Reshape", q, mcr_onnx_ints(g, (const int64_t[]){-1, k, k}, 3));
    mcr_tensor unit = mcr_onnx_matrix(g, eye, k, k);
    q = mcr_onnx_2(g, "Add", q, mcr_onnx_times(g, unit, 1e-15)); /* singular if all pairs agree */
    mcr_tensor y = mcr_onnx_2(g, "Add", mcr_onnx_times(g, put_column(g, score, 0), 0),
                              mcr_onnx_matrix(g, one, 1, k));
    for (int64_t j = 0; j < k; j++)
        eliminate(g, k, j, &q, &y);
    q = mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", q, unit), 2, false);
    return put_share(g, mcr_onnx_2(g, "Div", y, q));
}

static mcr_tensor put_two(mcr_onnx *g, mcr_tensor t)
{
    return put_side_by_side(g, put_logistic(g, mcr_onnx_1(g, "Neg", t)), put_logistic(g, t));
}

static mcr_tensor put_probability(mcr_onnx *g, mcr_tensor score)
{
    const mcr_fitted *f = g->p->fitted;
    if (f->rule == MCR_RULE_SOFTMAX && f->classes > 2) {
        mcr_onnx_set_int(g, "axis", 1);
        return mcr_onnx_1(g, "Softmax", score);
    }
    if (f->rule == MCR_RULE_SOFTMAX || f->rule == MCR_RULE_BINARY)
        return put_two(g, f->rule == MCR_RULE_SOFTMAX ? score : put_odds(g, score));
    return f->rule == MCR_RULE_PAIRS ? put_couple(g, score) : put_share(g, put_first(g, score));
}

/* ---- labels -----------------------------------------------------------------------------------*/

bool mcr_onnx_whole_labels(const mcr_model *m)
{
    bool whole = true;
    for (int64_t c = 0; c < m->classes; c++)
        whole = whole && m->class_value[c] == floor(m->class_value[c]) &&
                fabs(m->class_value[c]) < 1e15;
    return whole;
}

/* The labels for class numbers as the output `label`: integers if all class names are, else
 * strings. */
static void put_labels(mcr_onnx *g, mcr_tensor number)
{
    const mcr_model *m = g->p->model;
    bool whole = mcr_onnx_whole_labels(m);
    int64_t *value = mcr_alloc(g->ctx, (size_t)m->classes + 1, sizeof *value);
    for (int64_t c = 0; value && c < m->classes && whole; c++)
        value[c] = (int64_t)m->class_value[c];
    if (!value)
        g->status = MCR_NO_MEMORY;
    mcr_tensor names = !value  ? 0
                       : whole ? mcr_onnx_ints(g, value, m->classes)
                               : mcr_onnx_strings(g, m->class_name, m->classes);
    mcr_free(g->ctx, value);
    mcr_onnx_output(g, "label", mcr_onnx_2(g, "Gather", names, number),
                    whole ? MCR_ONNX_INT64 : MCR_ONNX_STRING, 0);
}

void mcr_onnx_sign(mcr_onnx *g, mcr_tensor score)
{
    mcr_tensor zero = mcr_onnx_number(g, 0);
    mcr_tensor up = mcr_onnx_cast(g, mcr_onnx_2(g, "GreaterOrEqual", score, zero), MCR_ONNX_INT64);
    up = mcr_onnx_2(g, "Sub", mcr_onnx_2(g, "Add", up, up),
                    mcr_onnx_ints(g, (const int64_t[]){1}, 1));
    mcr_onnx_output(g, "label", flatten(g, up), MCR_ONNX_INT64, 0);
}

static mcr_tensor put_votes(mcr_onnx *g, mcr_tensor score)
{
    int64_t k = g->p->fitted->classes, pairs = g->p->fitted->outputs;
    double *first = mcr_onnx_zeros(g, pairs, k), *second = mcr_onnx_zeros(g, pairs, k);
    for (int64_t i = 0, o = 0; first && second && i < k; i++)
        for (int64_t j = i + 1; j < k; j++, o++)
            first[o * k + i] = second[o * k + j] = 1;
    mcr_tensor up = mcr_onnx_positive(g, score);
    mcr_tensor down = mcr_onnx_2(g, "Sub", mcr_onnx_number(g, 1), up);
    up = mcr_onnx_2(g, "MatMul", up, mcr_onnx_matrix(g, first, pairs, k));
    down = mcr_onnx_2(g, "MatMul", down, mcr_onnx_matrix(g, second, pairs, k));
    return mcr_onnx_largest(g, mcr_onnx_2(g, "Add", up, down), 1);
}

/* The class whose mean is nearest. */
static mcr_tensor put_nearest(mcr_onnx *g, mcr_tensor score)
{
    const mcr_fitted *f = g->p->fitted;
    int64_t classes = 0, number[1] = {0};
    const double *of = mcr_fitted_find(f, "class", &classes), *mean = NULL;
    g->status = mcr_fitted_need(&mean, f, "means", classes * f->outputs);
    int64_t *whole = mcr_alloc(g->ctx, (size_t)classes + 1, sizeof *whole);
    if (g->status || !whole) {
        g->status = g->status ? g->status : MCR_NO_MEMORY;
        return mcr_onnx_ints(g, number, 1);
    }
    for (int64_t c = 0; c < classes; c++)
        whole[c] = (int64_t)of[c];
    mcr_tensor d = mcr_onnx_2(
        g, "Sub", mcr_onnx_add_axis(g, score, 1),
        mcr_onnx_reals(g, mean, (const int64_t[]){1, classes, f->outputs, -1}));
    d = mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", d, d), 2, false);
    d = mcr_onnx_largest(g, mcr_onnx_1(g, "Neg", d), 1);
    d = mcr_onnx_2(g, "Gather", mcr_onnx_ints(g, whole, classes), d);
    mcr_free(g->ctx, whole);
    return d;
}

static void put_label(mcr_onnx *g, mcr_tensor score, mcr_tensor proba)
{
    const mcr_fitted *f = g->p->fitted;
    mcr_tensor zero = mcr_onnx_number(g, 0), number;
    if (f->task == MCR_DETECT) {
        mcr_onnx_sign(g, score);
        return;
    }
    if (mcr_portable_by_probability(g->p))
        number = mcr_onnx_largest(g, proba, 1);
    else if (g->p->finish == MCR_FINISH_MEANS)
        number = put_nearest(g, score);
    else if (f->rule == MCR_RULE_PAIRS)
        number = put_votes(g, score);
    else if (f->outputs > 1 || f->rule == MCR_RULE_LARGEST)
        number = mcr_onnx_largest(g, score, 1);
    else
        number = flatten(
            g,
            mcr_onnx_cast(g, mcr_onnx_2(g, "Greater", f->curve ? put_odds(g, score) : score, zero),
                          MCR_ONNX_INT64));
    if (f->task == MCR_CLUSTER)
        mcr_onnx_output(g, "label", number, MCR_ONNX_INT64, 0);
    else
        put_labels(g, number);
}

mcr_status mcr_onnx_decide(mcr_onnx *g, const mcr_onnx_parts *parts)
{
    const mcr_portable *p = g->p;
    const mcr_fitted *f = p->fitted;
    mcr_tensor proba = 0, k = p->basis ? mcr_onnx_kernel(g, parts, p->kernel) : 0;
    mcr_tensor score = p->finish == MCR_FINISH_KNN     ? put_neighbours(g, parts, k)
                       : p->finish == MCR_FINISH_VOTED ? put_voted(g, k)
                                                       : put_scores(g, parts, k);
    if (f->task == MCR_REGRESS || f->rule == MCR_RULE_COORDINATES) {
        mcr_onnx_output(g, f->task == MCR_REGRESS ? "value" : "coordinates", score,
                        mcr_onnx_real(g), f->outputs);
        return mcr_model_has_std(p->model) ? put_std(g, parts, k) : MCR_OK;
    }
    bool has = mcr_model_has_probability(p->model);
    if (has)
        proba = p->finish == MCR_FINISH_GP    ? put_gp_probability(g, parts, k, score)
                : p->finish == MCR_FINISH_KNN ? score
                                              : put_probability(g, score);
    put_label(g, score, proba);
    mcr_onnx_output(g, "scores", score, mcr_onnx_real(g), f->outputs);
    if (has)
        mcr_onnx_output(g, "probabilities", proba, mcr_onnx_real(g), f->classes);
    return g->status;
}
