/* calibrate.c: decision values to probabilities.
 *
 * P(first class | f) = 1 / (1 + exp(-s f)) with one slope s for f > 0 and another for f < 0. Unlike
 * Platt's sigmoid with an offset it is 1/2 at f = 0, so that probabilities never contradict the
 * decision; the two slopes allow for classes of different spread. Each slope is fitted by maximum
 * likelihood to decision values of objects that were held out, with Platt's targets (N+ + 1)/(N+ + 2)
 * and 1/(N- + 2) against overfitting: a convex problem in one variable, solved by Newton's method
 * with bisection as a guard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "learn/svm_common.h"

/* Derivatives of the negative log likelihood on one side at slope s. */
static void derivatives(const double *f, const unsigned char *y, const double *weight, int64_t n,
                        int side, const double target[2], double s, double *first, double *second)
{
    *first = *second = 0;
    for (int64_t i = 0; i < n; i++) {
        if ((f[i] < 0) != side || f[i] == 0)
            continue;
        double w = weight ? weight[i] : 1, p = 1 / (1 + exp(-s * f[i]));
        *first += w * (p - target[y[i]]) * f[i];
        *second += w * p * (1 - p) * f[i] * f[i];
    }
}

static double fit_side(const double *f, const unsigned char *y, const double *weight, int64_t n,
                       int side, const double target[2])
{
    double first, second, low = 0, high = 1;
    derivatives(f, y, weight, n, side, target, 0, &first, &second);
    if (second == 0)
        return NAN;
    if (first >= 0)
        return 0; /* no better than a coin on this side */
    for (int t = 0; t < 60; t++, high *= 2) {
        derivatives(f, y, weight, n, side, target, high, &first, &second);
        if (first >= 0)
            break;
        low = high;
    }
    double s = 0.5 * (low + high);
    for (int t = 0; t < 100 && high - low > 1e-12 * high; t++) {
        derivatives(f, y, weight, n, side, target, s, &first, &second);
        if (first < 0)
            low = s;
        else
            high = s;
        double newton = second > 0 ? s - first / second : low;
        s = newton > low && newton < high ? newton : 0.5 * (low + high);
    }
    return s;
}

void mcr_calibrate(const double *f, const unsigned char *y, const double *weight, int64_t n,
                   double slope[2])
{
    double count[2] = {0, 0};
    for (int64_t i = 0; i < n; i++)
        count[y[i]] += weight ? weight[i] : 1;
    double target[2] = {1 / (count[0] + 2), (count[1] + 1) / (count[1] + 2)};
    for (int side = 0; side < 2; side++)
        slope[side] = fit_side(f, y, weight, n, side, target);
    for (int side = 0; side < 2; side++)
        if (isnan(slope[side]))
            slope[side] = isnan(slope[!side]) ? 1 : slope[!side];
}
