/* smo_inner.h (internal): the working set's own problem, solved in the caches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SMO_INNER_H
#define MCR_SOLVE_SMO_INNER_H

#include <stdint.h>

/* min 1/2 b'Kb - z'b + epsilon |b|_1 over the members of a working set, lo <= b <= hi, the sum of
 * each group kept. "real" is float or double by the kit. All arrays have space for `members`
 * rounded up to MCR_SMO_PAD; places without a member have lo = hi = b. */
typedef struct mcr_smo_block {
    int64_t members;
    const void *k; /* real: row m at k + m * ld; finite up to the padding */
    int64_t ld;
    const void *diagonal; /* real */
    void *g;              /* real: gradient (Kb - z)_m, minus any constant */
    int groups;
    const unsigned char *group; /* of each member, if there are two */
    /* real, for each group: what must be added to g for a step up or down, see smo_inner.c;
     * infinite for members of the other group. */
    void *up[2], *down[2];
    double *b;
    const double *lo, *hi;
    double epsilon;
    double tolerance;
    double tau; /* curvature where it is not positive */
    int64_t most_steps;
    /* Rows that are computed when they are first used: called with a member whose row is not
     * `there`. NULL: all rows are there. */
    unsigned char *there;
    void (*make_row)(void *arg, int64_t member);
    void *arg;
    /* Where rows are made one behind the other, instead of k and `there`: row m, or NULL: make_row
     * puts it there. NULL: they are in k. */
    const void **row;
} mcr_smo_block;

enum { MCR_SMO_PAD = 16 };

/* Runs to the tolerance or most_steps; b and g are updated. Returns the steps taken. */
typedef int64_t mcr_smo_run(mcr_smo_block *block);

/* For an instruction set by its name in linalg/tiles.h. */
mcr_smo_run *mcr_smo_inner(const char *tiles_name, int precise);

#endif
