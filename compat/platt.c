/* platt.c: probabilities from decision values, by LIBSVM's methods.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "platt.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "text.h"

/* ---- two classes ------------------------------------------------------------------------------*/

/* log(1 + exp(u)) and 1 / (1 + exp(u)) without overflow. */
static double log_plus(double u)
{
    return u > 0 ? u + log1p(exp(-u)) : log1p(exp(u));
}

static double logistic(double u)
{
    return u >= 0 ? exp(-u) / (1 + exp(-u)) : 1 / (1 + exp(u));
}

typedef struct curve {
    const double *f, *y;
    int n;
    double high, low; /* targets of the two classes */
} curve;

static double target(const curve *c, int i)
{
    return c->y[i] > 0 ? c->high : c->low;
}

/* The negative log-likelihood: of t log p + (1 - t) log(1 - p), p = 1 / (1 + e^u), u = a f + b. */
static double cost(const curve *c, double a, double b)
{
    double sum = 0;
    for (int i = 0; i < c->n; i++) {
        double u = a * c->f[i] + b;
        sum += log_plus(-u) + target(c, i) * u;
    }
    return sum;
}

/* Gradient g and Hessian h (aa, ab, bb). */
static void derive(const curve *c, double a, double b, double *g, double *h)
{
    g[0] = g[1] = h[1] = 0;
    h[0] = h[2] = 1e-12; /* positive definite whatever the values */
    for (int i = 0; i < c->n; i++) {
        double p = logistic(a * c->f[i] + b), slope = target(c, i) - p, bend = p * (1 - p);
        g[0] += c->f[i] * slope;
        g[1] += slope;
        h[0] += c->f[i] * c->f[i] * bend;
        h[1] += c->f[i] * bend;
        h[2] += bend;
    }
}

/* Halves the step until the cost falls by 1e-4 of what the slope promises. false: it never does. */
static bool search_line(const curve *c, double *a, double *b, const double *step, double slope,
                        double *now)
{
    for (double size = 1; size >= 1e-10; size /= 2) {
        double next = cost(c, *a + size * step[0], *b + size * step[1]);
        if (next < *now + 1e-4 * size * slope) {
            *a += size * step[0];
            *b += size * step[1];
            *now = next;
            return true;
        }
    }
    return false;
}

void compat_platt_fit(const double *f, const double *y, int n, double *a, double *b)
{
    double positive = 0;
    for (int i = 0; i < n; i++)
        positive += y[i] > 0;
    curve c = {f, y, n, (positive + 1) / (positive + 2), 1 / (n - positive + 2)};
    *a = 0;
    *b = log((n - positive + 1) / (positive + 1));
    double now = cost(&c, *a, *b);
    for (int round = 0; round < 100; round++) {
        double g[2], h[3];
        derive(&c, *a, *b, g, h);
        if (fabs(g[0]) < 1e-5 && fabs(g[1]) < 1e-5)
            return;
        double det = h[0] * h[2] - h[1] * h[1];
        double step[2] = {(h[1] * g[1] - h[2] * g[0]) / det, (h[1] * g[0] - h[0] * g[1]) / det};
        if (!search_line(&c, a, b, step, g[0] * step[0] + g[1] * step[1], &now)) {
            compat_info("Line search fails in two-class probability estimates\n");
            return;
        }
    }
    compat_info("Reaching maximal iterations in two-class probability estimates\n");
}

/* ---- several classes --------------------------------------------------------------------------*/

size_t compat_couple_memory(int classes)
{
    size_t k = classes > 0 ? (size_t)classes : 1;
    return k * k + k;
}

/* Q of the quadratic form p'Qp from the probabilities of pairs. */
static void fill_form(int k, const double *value, const double *a, const double *b, double *q)
{
    int64_t p = 0;
    for (int i = 0; i < k; i++)
        q[(size_t)i * (size_t)k + (size_t)i] = 0;
    for (int i = 0; i < k; i++)
        for (int j = i + 1; j < k; j++, p++) {
            double r = fmin(fmax(logistic(a[p] * value[p] + b[p]), 1e-7), 1 - 1e-7);
            size_t row = (size_t)i * (size_t)k, other = (size_t)j * (size_t)k;
            q[row + (size_t)i] += (1 - r) * (1 - r);
            q[other + (size_t)j] += r * r;
            q[row + (size_t)j] = q[other + (size_t)i] = -r * (1 - r);
        }
}

/* qp = Qp; returns p'Qp, and the largest difference of an entry of Qp from it. */
static double multiply(int k, const double *q, const double *p, double *qp, double *off)
{
    double form = 0;
    for (int i = 0; i < k; i++) {
        qp[i] = 0;
        for (int j = 0; j < k; j++)
            qp[i] += q[(size_t)i * (size_t)k + (size_t)j] * p[j];
        form += p[i] * qp[i];
    }
    *off = 0;
    for (int i = 0; i < k; i++)
        *off = fmax(*off, fabs(qp[i] - form));
    return form;
}

/* One sweep of the fixed-point iteration: p_i moves to where its own condition holds, then all are
 * scaled to sum 1. */
static void sweep(int k, const double *q, double *p, double *qp, double form)
{
    for (int i = 0; i < k; i++) {
        const double *row = q + (size_t)i * (size_t)k;
        double move = (form - qp[i]) / row[i], scale = 1 + move;
        form = (form + move * (move * row[i] + 2 * qp[i])) / (scale * scale);
        p[i] += move;
        for (int j = 0; j < k; j++) {
            qp[j] = (qp[j] + move * row[j]) / scale;
            p[j] /= scale;
        }
    }
}

int compat_couple(int classes, const double *value, const double *a, const double *b, double *proba,
                  double *memory)
{
    double *q = memory, *qp = memory + (size_t)classes * (size_t)classes;
    int most = classes > 100 ? classes : 100, best = 0;
    for (int i = 0; i < classes; i++)
        proba[i] = 1.0 / classes;
    if (classes == 2) {
        proba[0] = fmin(fmax(logistic(a[0] * value[0] + b[0]), 1e-7), 1 - 1e-7);
        proba[1] = 1 - proba[0];
    } else if (classes > 2) {
        fill_form(classes, value, a, b, q);
        int round = 0;
        for (double off; round < most; round++) {
            double form = multiply(classes, q, proba, qp, &off);
            if (off < 0.005 / classes)
                break;
            sweep(classes, q, proba, qp, form);
        }
        if (round == most)
            compat_info("Exceeds max_iter in multiclass_prob\n");
    }
    for (int i = 1; i < classes; i++)
        if (proba[i] > proba[best])
            best = i;
    return best;
}

/* ---- one class --------------------------------------------------------------------------------*/

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool compat_density_fit(double *value, int n, double *marks)
{
    enum { HALF = COMPAT_MARKS / 2 };
    qsort(value, (size_t)n, sizeof *value, by_size);
    int64_t below = 0;
    while (below < n && value[below] < 0)
        below++;
    if (below == n) /* none is above: LIBSVM then counts none below */
        below = 0;
    int64_t above = n - below;
    if (below < HALF || above < HALF)
        return false;
    double edge[COMPAT_MARKS + 1];
    edge[HALF] = 0;
    for (int i = 0; i < HALF; i++) {
        edge[i] = value[i * below / HALF];
        edge[HALF + 1 + i] = value[below - 1 + (i + 1) * above / HALF];
    }
    for (int i = 0; i < COMPAT_MARKS; i++)
        marks[i] = (edge[i] + edge[i + 1]) / 2;
    return true;
}

double compat_density(const double *marks, double value)
{
    if (value < marks[0])
        return 0.001;
    if (value > marks[COMPAT_MARKS - 1])
        return 0.999;
    for (int i = 1; i < COMPAT_MARKS; i++)
        if (value < marks[i])
            return (double)i / COMPAT_MARKS;
    return 0;
}

/* ---- numbers ----------------------------------------------------------------------------------*/

double compat_laplace_fit(const double *residual, int n)
{
    double mean = 0, kept = 0;
    int outliers = 0;
    for (int i = 0; i < n; i++)
        mean += fabs(residual[i]);
    mean /= n;
    for (int i = 0; i < n; i++)
        if (fabs(residual[i]) > 5 * sqrt(2 * mean * mean))
            outliers++;
        else
            kept += fabs(residual[i]);
    return kept / (n - outliers);
}
