/* problems.h: small problems for the tests of libsvm.so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_COMPAT_PROBLEMS_H
#define TESTS_COMPAT_PROBLEMS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "svm.h"

enum { MOST = 400, COLS = 4 };

typedef struct problem {
    struct svm_problem prob;
    struct svm_node *row[MOST];
    struct svm_node node[MOST][COLS + 1];
    double y[MOST];
} problem;

/* Numbers in 0 .. 1, the same everywhere. */
static inline double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / 16777216;
}

/* n objects around `classes` corners; y is the class in `label`, or a smooth function (label
 * NULL). */
static inline void make_problem(problem *p, int n, int classes, const int *label)
{
    uint64_t state = 7;
    p->prob = (struct svm_problem){n, p->y, p->row};
    for (int i = 0; i < n; i++) {
        int c = i * 7 % classes;
        double sum = 0;
        p->row[i] = p->node[i];
        for (int k = 0; k < COLS; k++) {
            double v = 1.5 * draw(&state) + (c >> k & 1);
            p->node[i][k] = (struct svm_node){k + 1, v};
            sum += sin(v + k);
        }
        p->node[i][COLS] = (struct svm_node){-1, 0};
        p->y[i] = label ? label[c] : sum;
    }
}

static inline struct svm_parameter make_parameter(int type, int kernel)
{
    return (struct svm_parameter){.svm_type = type,
                                  .kernel_type = kernel,
                                  .degree = 2,
                                  .gamma = 0.7,
                                  .coef0 = 0.5,
                                  .cache_size = 10,
                                  .eps = 1e-4,
                                  .C = 2,
                                  .nu = 0.3,
                                  .p = 0.05,
                                  .shrinking = 1};
}

#define check_near(got, wanted, tolerance) check_numbers(got, wanted, tolerance, __FILE__, __LINE__)
static inline void check_numbers(double got, double wanted, double tolerance, const char *file,
                                 int line)
{
    if (!(fabs(got - wanted) <= tolerance)) {
        print_error("%.17g is not %.17g within %g\n", got, wanted, tolerance);
        _fail(file, line);
    }
}

static inline void say_nothing(const char *text)
{
    (void)text;
}

#endif
