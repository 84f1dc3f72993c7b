/* known.c: rounding errors of the numbers of a certificate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "learn/learner.h"
#include "solve/newton.h"

/* What the bounds are made of. */
typedef struct known {
    double *error;    /* of f, at most; n x outputs */
    double *gradient; /* of the loss at f; n x outputs */
    double *rest;     /* what K makes of mu a + gradient errs by so much; n x outputs */
    double *root;     /* sqrt(K_ii) of each object */
    double gap;       /* the gap errs by so much */
} known;

static double weight_of(const mcr_known_loss *loss, int64_t i)
{
    return loss->of->weight[i / loss->of->columns];
}

/* Outputs of an object may share a loss: the largest error is used for all of them. */
static void join_outputs(const mcr_known_loss *loss, double *error)
{
    for (int64_t i = 0; i < loss->n && loss->of->columns > 1; i++) {
        double *e = error + i * loss->of->columns, most = 0;
        for (int64_t o = 0; o < loss->of->columns; o++)
            most = fmax(most, e[o]);
        for (int64_t o = 0; o < loss->of->columns; o++)
            e[o] = most;
    }
}

/* The largest second derivative of an object's loss within the error of f. That of a logistic loss
 * is p (1 - p), which a change of f by e multiplies by exp(4 e) at most; gradients are w (p - 1) or
 * w p. */
static double bend_at(const mcr_known_loss *loss, const known *k, int64_t i)
{
    double weight = weight_of(loss, i), most = 0;
    if (!loss->logistic || !(weight > 0))
        return weight * loss->of->bend;
    for (int64_t first = i - i % loss->of->columns, o = 0; o < loss->of->columns; o++) {
        double p = fmin(fabs(k->gradient[first + o]) / weight, 1);
        most = fmax(most, p * (1 - p));
    }
    return weight * fmin(loss->of->bend, 2 * (most + DBL_EPSILON) * exp(4 * k->error[i]));
}

/* The objective is mu / 2 a'f and the loss. The gap is |rest|^2 / (2 mu) in the feature space, with
 * rest = mu a + gradient: an error of rest, divided by a small mu, may be most of it, and so may
 * the rounding of K rest. */
static void set_errors(mcr_fitted *f, const mcr_known_loss *loss, known *k)
{
    int64_t all = loss->n * loss->of->columns;
    double most = 0, sum = 0, off = 0, rounded = 0, heaviest = 0;
    for (int64_t i = 0; i < all; i++) {
        double weight = weight_of(loss, i), bend = bend_at(loss, k, i), e = k->error[i];
        double pull = loss->of->mu * loss->a[i], push = k->gradient[i];
        double rest = bend * e + 4 * DBL_EPSILON * (fabs(pull) + fabs(push));
        most = fmax(most, rest);
        heaviest = fmax(heaviest, weight);
        off += rest * k->root[i / loss->of->columns];
        sum += (0.5 * fabs(pull) + fabs(push) + 0.5 * bend * e) * e;
        rounded += fabs(pull + push) * k->rest[i];
    }
    double square = off * off / (2 * loss->of->mu);
    double least = DBL_EPSILON * sqrt((double)all), size = fmax(fabs(f->objective), DBL_MIN);
    double slack = rounded / (2 * loss->of->mu); /* of the gap itself */
    k->gap = square + 2 * sqrt((fmax(f->gap, 0) + slack) * square) + slack;
    f->value_error = loss->relative ? (k->gap + fmax(f->value, 1) * sum) / size + least
                                    : most / fmax(heaviest, DBL_MIN);
    if (loss->relative || k->gap <= size)
        sum += k->gap;
    f->objective_error = sum + least * size;
}

/* The bound is for the worst case. Where it leaves the verdict in doubt, products in extended
 * precision show how far f is off. */
static mcr_status look_closer(mcr_fitted *f, mcr_gram *gram, const mcr_known_loss *loss, known *k)
{
    int64_t all = loss->n * loss->of->columns;
    double *exact = mcr_alloc(f->ctx, 2 * (uint64_t)all, sizeof *exact);
    double *low = exact ? exact + all : NULL;
    mcr_extended to = {
        .n = loss->n, .outputs = loss->of->columns, .a = loss->a, .f = exact, .low = low};
    mcr_status s = exact ? mcr_gram_extended(gram, &to) : MCR_NO_MEMORY;
    if (!s && isfinite(to.share)) {
        s = mcr_gram_product_error_of(gram, k->root, loss->a, loss->of->columns, to.share,
                                      k->error);
        for (int64_t i = 0; i < all && !s; i++)
            k->error[i] += fabs(loss->f[i] - exact[i] - low[i]);
        if (!s) {
            join_outputs(loss, k->error);
            set_errors(f, loss, k);
        }
    }
    mcr_free(f->ctx, exact);
    return s;
}

/* Where mu is small, the coefficients are the better point of the dual problem: errors of f are not
 * divided by mu. */
static void take_coefficients(mcr_fitted *f, const mcr_known_loss *loss, const known *k)
{
    int64_t all = loss->n * loss->of->columns;
    double slip, gap = loss->gap(loss->of->self, k->root, k->error, &slip), sum = slip;
    double size = fmax(fabs(f->objective), DBL_MIN), rounding = DBL_EPSILON * sqrt((double)all);
    if (!(gap + slip < f->gap + f->value_error * size))
        return;
    for (int64_t i = 0; i < all; i++)
        sum += (0.5 * loss->of->mu * fabs(loss->a[i]) + fabs(k->gradient[i]) +
                0.5 * weight_of(loss, i) * loss->of->bend * k->error[i]) *
               k->error[i];
    f->gap = gap;
    f->dual = f->primal - gap;
    f->value = gap / size;
    f->value_error = (slip + f->value * sum) / size + rounding;
    if (f->stop == MCR_STOP_OPTIMAL && f->value > f->tolerance)
        f->stop = MCR_STOP_STUCK;
    f->objective_error = sum + rounding * size;
}

/* Space for n x outputs numbers three times, and for n. */
static mcr_status open_known(known *k, mcr *ctx, mcr_gram *gram, const mcr_known_loss *loss)
{
    int64_t all = loss->n * loss->of->columns;
    *k = (known){.error = mcr_alloc(ctx, (uint64_t)(3 * all + loss->n), sizeof *k->error)};
    if (!k->error)
        return MCR_NO_MEMORY;
    k->gradient = k->error + all;
    k->rest = k->gradient + all;
    k->root = k->rest + all;
    (void)loss->of->loss(loss->of->self, 0, loss->n, loss->f, k->gradient);
    for (int64_t i = 0; i < all; i++)
        k->error[i] = loss->of->mu * loss->a[i] + k->gradient[i];
    mcr_status s = mcr_gram_lengths(gram, k->root);
    if (!s)
        s = mcr_gram_product_error_of(gram, k->root, k->error, loss->of->columns, NAN, k->rest);
    if (!s)
        s = mcr_gram_product_error_of(gram, k->root, loss->a, loss->of->columns, NAN, k->error);
    if (!s)
        join_outputs(loss, k->error);
    return s;
}

mcr_status mcr_known_smooth(mcr_fitted *f, mcr_gram *gram, const mcr_known_loss *loss)
{
    known k;
    mcr_status s = open_known(&k, f->ctx, gram, loss);
    if (!s)
        set_errors(f, loss, &k);
    bool proved = f->value + f->value_error <= f->tolerance;
    if (!s && f->stop == MCR_STOP_OPTIMAL && !proved)
        s = look_closer(f, gram, loss, &k);
    if (!s && f->value_error > f->tolerance && loss->gap)
        take_coefficients(f, loss, &k);
    proved = f->value + f->value_error <= f->tolerance;
    if (f->stop == MCR_STOP_OPTIMAL && !proved && mcr_gram_width(gram) > 0)
        f->stop = MCR_STOP_STUCK;
    if (!s && !loss->relative && k.gap > fabs(f->objective)) /* only the objective is known */
        f->primal = f->dual = f->gap = NAN;
    mcr_free(f->ctx, k.error);
    return s;
}
