/* compare.c: two models on the same objects: McNemar (1947), in its exact form, and the paired
 * bootstrap (Efron and Tibshirani, 1993).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "page.h"

enum { RESAMPLES = 2000 };

/* splitmix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The two-sided binomial test with p = 1/2: the probability of a count at most that of the
 * rarer. */
static double exact_test(double few, double many)
{
    double n = few + many, sum = 0;
    for (double k = 0; k <= fmin(few, many); k++)
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
    return fmin(1, 2 * sum);
}

/* An object's contribution to the metric: whether its class is correct, or its squared error. */
static double share(const mcr_evaluated *w, int64_t i)
{
    double error = w->target[i] - w->value[i];
    return w->task == MCR_CLASSIFY ? error == 0 : error * error;
}

cli_comparison cli_compare(cli *c, const mcr_evaluated *a, const mcr_evaluated *b)
{
    cli_comparison r = {.p = NAN};
    int64_t n = a->n;
    uint64_t state = c->common.seed ? c->common.seed : 1;
    double *each = cli_alloc((size_t)n + 1, sizeof *each);
    double *drawn = cli_alloc(RESAMPLES, sizeof *drawn);
    for (int64_t i = 0; i < n; i++) {
        each[i] = share(b, i) - share(a, i);
        r.difference += each[i] / (double)n;
        r.only[0] += each[i] < 0;
        r.only[1] += each[i] > 0;
    }
    if (a->task == MCR_CLASSIFY)
        r.p = exact_test(r.only[0], r.only[1]);
    for (int k = 0; k < RESAMPLES; k++)
        for (int64_t i = 0; i < n; i++)
            drawn[k] += each[next_bits(&state) % (uint64_t)n] / (double)n;
    qsort(drawn, RESAMPLES, sizeof *drawn, rising);
    r.lower = drawn[RESAMPLES / 40];
    r.upper = drawn[RESAMPLES - 1 - RESAMPLES / 40];
    free(each);
    free(drawn);
    return r;
}

int cli_compare_put(cli *c, FILE *to, const mcr_evaluated *a, const mcr_evaluated *b)
{
    cli_comparison r = cli_compare(c, a, b);
    int classes = a->task == MCR_CLASSIFY;
    int differ = r.lower > 0 || r.upper < 0;
    fprintf(to, "<table id=\"comparison\">\n");
    if (classes) {
        cli_page_row(to, "only the first is right", "%.0f objects", r.only[0]);
        cli_page_row(to, "only the second is right", "%.0f objects", r.only[1]);
        cli_page_row(to, "McNemar's test", "p = %.4g (exact, two-sided)", r.p);
    }
    cli_page_row(to, classes ? "accuracy, second less first" : "mse, second less first",
                 "%.5g, 95 %% interval %.5g to %.5g (paired bootstrap, %d resamples)", r.difference,
                 r.lower, r.upper, RESAMPLES);
    fprintf(to, "</table>\n<p>%s</p>\n",
            differ ? "The interval does not contain 0: the difference is significant."
                   : "The interval contains 0: the difference may be due to chance.");
    return 0;
}
