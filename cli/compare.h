/* compare.h: comparison of two models on the same objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include <stdio.h>

#include "cli.h"

/* Whether the difference between the models is significant: McNemar's exact test for classes, and
 * the paired bootstrap of the first metric (for numbers: the mean squared error). */
typedef struct cli_comparison {
    double only[2];      /* objects that only one of them predicts correctly */
    double p;            /* of McNemar's test; NAN: for numbers */
    double difference;   /* of the metric: second minus first */
    double lower, upper; /* 95 % interval */
} cli_comparison;

cli_comparison cli_compare(cli *c, const mcr_evaluated *a, const mcr_evaluated *b);
/* Writes a table for a page. Returns the exit status. */
int cli_compare_put(cli *c, FILE *to, const mcr_evaluated *a, const mcr_evaluated *b);

#endif
