/* conform_gradients.c: every kernel that has scales knows its derivatives by them: compared with
 * central differences of whole matrices, for each kernel on all the data it accepts, and for
 * combinations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <math.h>
#include <stdlib.h>

#include "gram/slope.h"
#include "kernel/gradient.h"
#include "kernel/scales.h"

enum { N = 60, SCALES_MOST = 64 };

/* Some D that is not symmetric in any simple way; row i from column i on. */
static double weight(int64_t i, int64_t j)
{
    return sin(1.7 * (double)i + 0.3 * (double)j * (double)j) + 0.2;
}

static void row(const void *arg, int64_t i, double *d)
{
    int64_t n = *(const int64_t *)arg;
    for (int64_t j = i; j < n; j++)
        d[j - i] = weight(i, j);
}

/* The sum of D_ij K_ij over i <= j, and of |D_ij K_ij|. */
static double contract(mcr *ctx, const mcr_kernel *k, const mcr_data *data, double *size)
{
    int64_t n = mcr_data_count(data);
    double *g = calloc((size_t)(n * n), sizeof *g), sum = 0;
    mcr_gram *gram;
    test_ok(ctx, mcr_gram_open(&gram, ctx, k, data, NULL));
    test_ok(ctx, mcr_gram_matrix(gram, g, n));
    mcr_gram_close(gram);
    *size = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            sum += weight(i, j) * g[i * n + j];
            *size += fabs(weight(i, j) * g[i * n + j]);
        }
    free(g);
    return sum;
}

/* By differences of fourth order. */
static double difference(mcr *ctx, const mcr_kernel *k, const mcr_data *data, const double *scale,
                         int64_t count, int64_t s, double *size)
{
    static const double step = 1e-4, at[4] = {-2, -1, 1, 2}, part[4] = {1, -8, 8, -1};
    double moved[SCALES_MOST], sum = 0;
    for (int t = 0; t < 4; t++) {
        mcr_kernel *other;
        for (int64_t i = 0; i < count; i++)
            moved[i] = scale[i] * (i == s ? exp(at[t] * step) : 1);
        test_ok(ctx, mcr_kernel_rescaled(&other, k, moved));
        sum += part[t] / (12 * step) * contract(ctx, other, data, size);
        mcr_kernel_free(other);
    }
    return sum;
}

static void compare(mcr *ctx, const char *text, const mcr_data *data)
{
    mcr_kernel *k;
    double scale[SCALES_MOST], slope[SCALES_MOST] = {0}, size;
    int64_t n = mcr_data_count(data);
    test_ok(ctx, mcr_kernel_parse(&k, ctx, text));
    int64_t count = mcr_kernel_scales(k, NULL);
    if (!mcr_kernel_has_gradient(k))
        fail_msg("%s has scales and no gradient", text);
    if (count > 0 && count <= SCALES_MOST) {
        mcr_gram *gram;
        mcr_kernel_scales(k, scale);
        test_ok(ctx, mcr_gram_open(&gram, ctx, k, data, NULL));
        test_ok(ctx, mcr_gram_slope(gram, row, &n, slope));
        mcr_gram_close(gram);
        for (int64_t s = 0; s < count; s++) {
            double wanted = difference(ctx, k, data, scale, count, s, &size);
            double most = 1e-7 * fmax(fabs(wanted), 1e-2 * size) + 1e-11 * size;
            if (!(fabs(slope[s] - wanted) <= most))
                fail_msg("%s, scale %d: slope %.12g, by differences %.12g", text, (int)s + 1,
                         slope[s], wanted);
        }
    }
    mcr_kernel_free(k);
}

static void has_gradient(const zoo_trial *trial)
{
    mcr *ctx = zoo_open(trial, 2);
    mcr_data *data;
    test_ok(ctx, zoo_data(&data, ctx, trial->breed, 0, N, 0));
    compare(ctx, trial->text, data);
    mcr_data_free(data);
    test_close(ctx);
}

/* Lists of scales, every combinator, sums and products of several. */
static void test_expressions(void **state)
{
    static const char *const text[] = {
        "rbf(x, gamma=[0.1, 0.5, 1, 0.02, 0.3])",
        "laplace(x, gamma=[0.1, 0.5, 1, 0.02, 0.3])",
        "matern(x, nu=0.5, length=[1, 2, 0.5, 3, 1])",
        "matern(x, nu=1.5, length=[1, 2, 0.5, 3, 1])",
        "matern(x, nu=2.5, length=[1, 2, 0.5, 3, 1])",
        "matern(x, nu=2.5, length=0.7)",
        "matern(x, nu=0.5, length=0.7)",
        "rq(x, alpha=0.7, length=2)",
        "rq(x, alpha=3, length=[1, 2, 0.5, 3, 1])",
        "periodic(x, period=1.3, length=2)",
        "periodic(x, period=[1.3, 2, 3, 0.9, 5], length=1.5)",
        "periodic(x, period=2, length=[1.3, 2, 3, 0.9, 5])",
        "poly(x, degree=4, c=0.5, scale=0.2)",
        "poly(x, degree=2, c=0, scale=0.2)",
        "3",
        "2*rbf(x, gamma=0.2) + 0.5*periodic(x, period=3, length=2)*rbf(x, gamma=0.01) + 0.1",
        "3*linear(x)*rbf(x, gamma=0.2)*rq(x, alpha=2, length=1.5)",
        "-2*rbf(x, gamma=0.2) + linear(x)",
        "(rbf(x, gamma=0.3) + 0.5)^3",
        "exp(0.2*linear(x) + rbf(x, gamma=0.4))",
        "normalize(poly(x, degree=3, c=0.7, scale=0.3))",
        "normalize(2*rbf(x, gamma=0.3) + 0.1*linear(x))",
        "normalize(exp(0.3*linear(x)))*matern(x, length=2)",
        "conformal(rbf(x, gamma=0.3), f=x:norm)",
        "0.3*spectrum(sequence, p=3) + 2*normalize(wl(molecule, h=1))*rbf(x, gamma=0.5)",
    };
    (void)state;
    mcr *ctx = test_open(2);
    mcr_data *data;
    test_ok(ctx, mcr_data_sample(&data, ctx, "mixed", N, -1));
    for (size_t t = 0; t < sizeof text / sizeof *text; t++)
        compare(ctx, text[t], data);
    mcr_data_free(data);
    test_close(ctx);
}

int main(void)
{
    static const struct CMUnitTest more[] = {cmocka_unit_test(test_expressions)};
    return zoo_run("gradients", has_gradient, more, 1);
}
