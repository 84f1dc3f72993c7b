/* calibrate.c: decision values as probabilities.
 *
 * P(y = 1 | f) = 1 / (1 + exp(-(a f + b))) (Platt, 2000), with a > 0: the order of the decision
 * values is that of the probabilities. The offset b matters if classes have weights: both classes
 * are then not equally probable at f = 0. Both are fitted by maximum likelihood to decision values
 * of objects that were held out, with Platt's targets (N+ + 1)/(N+ + 2) and 1/(N- + 2) against
 * overfitting: a convex problem in two variables, solved by Newton's method with a line search
 * (Lin, Lin and Weng, 2007). Decision values are divided by their size first, so that no scale is
 * special.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "learn/svm_problem.h"

typedef struct sample {
    const double *f, *weight;
    const unsigned char *y;
    int64_t n;
    double unit, target[2];
} sample;

/* log(1 + exp(t)) */
static double softplus(double t)
{
    return t > 0 ? t + log1p(exp(-t)) : log1p(exp(t));
}

static double weight_of(const sample *s, int64_t i)
{
    return s->weight ? s->weight[i] : 1;
}

static double loss(const sample *s, double a, double b)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double t = a * s->f[i] / s->unit + b;
        sum += weight_of(s, i) * (softplus(t) - s->target[s->y[i]] * t);
    }
    return sum;
}

/* Newton's step; false: the gradient is small. */
static bool newton(const sample *s, double a, double b, double step[2], double *slope)
{
    double g[2] = {0, 0}, h[3] = {1e-12, 0, 1e-12}, total = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double f = s->f[i] / s->unit, t = a * f + b, w = weight_of(s, i);
        double p = t > 0 ? 1 / (1 + exp(-t)) : exp(t) / (1 + exp(t)), q = w * p * (1 - p);
        double d = w * (p - s->target[s->y[i]]);
        g[0] += d * f;
        g[1] += d;
        h[0] += q * f * f;
        h[1] += q * f;
        h[2] += q;
        total += w;
    }
    double det = h[0] * h[2] - h[1] * h[1];
    if (!(det > 0)) { /* all decision values are equal: the offset alone counts */
        step[0] = 0;
        step[1] = -g[1] / h[2];
    } else {
        step[0] = -(h[2] * g[0] - h[1] * g[1]) / det;
        step[1] = -(h[0] * g[1] - h[1] * g[0]) / det;
    }
    *slope = g[0] * step[0] + g[1] * step[1];
    return fmax(fabs(g[0]), fabs(g[1])) > 1e-10 * total;
}

static void maximise(const sample *s, double start, double *a, double *b)
{
    double value, step[2], slope;
    *a = 0;
    *b = start;
    value = loss(s, *a, *b);
    for (int t = 0; t < 100 && newton(s, *a, *b, step, &slope); t++) {
        double length = 1;
        for (; length > 1e-10; length /= 2) {
            double next = loss(s, *a + length * step[0], *b + length * step[1]);
            if (next <= value + 1e-4 * length * slope) {
                value = next;
                break;
            }
        }
        if (length <= 1e-10)
            break;
        *a += length * step[0];
        *b += length * step[1];
    }
}

void mcr_calibrate(const double *f, const unsigned char *y, const double *weight, int64_t n,
                   double curve[2])
{
    /* Scores that are no better than chance keep their order, with probabilities close to equal. */
    const double least = 1e-6;
    double count[2] = {0, 0};
    sample s = {.f = f, .weight = weight, .y = y, .n = n};
    for (int64_t i = 0; i < n; i++) {
        count[y[i]] += weight_of(&s, i);
        s.unit = fmax(s.unit, fabs(f[i]));
    }
    s.unit = s.unit > 0 ? s.unit : 1;
    s.target[0] = 1 / (count[0] + 2);
    s.target[1] = (count[1] + 1) / (count[1] + 2);
    double prior = log((count[1] + 1) / (count[0] + 1)), a, b;
    maximise(&s, prior, &a, &b);
    if (!(a >= least) || !isfinite(a + b)) {
        a = least;
        b = prior;
    }
    curve[0] = a / s.unit;
    curve[1] = b;
}
