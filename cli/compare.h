/* compare.h: two models on the same objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include <stdio.h>

#include "cli.h"

/* Whether the models differ by more than chance: McNemar's exact test of classes, and the paired
 * bootstrap of the first metric (of numbers: the mean squared error). */
typedef struct cli_comparison {
    double only[2];      /* objects that only the one predicts rightly */
    double p;            /* of McNemar's test; NAN: of numbers */
    double difference;   /* of the metric: the second's less the first's */
    double lower, upper; /* 95 % interval */
} cli_comparison;

cli_comparison cli_compare(cli *c, const mcr_evaluated *a, const mcr_evaluated *b);
/* As a table of a page. Returns the exit status. */
int cli_compare_put(cli *c, FILE *to, const mcr_evaluated *a, const mcr_evaluated *b);

#endif
