/* zoo.h: objects of every kind, made at random, and expressions of every registered kernel on them.
 *
 * Object number i of a breed is always the same, in whatever data set it stands: parts of a data
 * set can be made apart and compared with the whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFORM_ZOO_H
#define CONFORM_ZOO_H

#include "helpers.h"

#include <mercer/mercer.h>

/* ---- objects ----------------------------------------------------------------------------------*/

/* Every data set has the field "it" of the breed's kind, and the field "other" of 2 dense
 * columns. */
typedef struct zoo_breed {
    const char *name;
    mcr_kind kind;    /* of x */
    mcr_kind against; /* of z, where x and z are not the same data set */
    int64_t cols;     /* vectors */
    double density;   /* vectors: share of values that are not 0 */
    bool negative;    /* vectors: some values are below 0 */
    int labels;       /* graphs: 0 none, 1 of nodes, 2 of nodes and edges */
} zoo_breed;

extern const zoo_breed zoo_breeds[]; /* ends with a NULL name */

enum { ZOO_MOST = 640 }; /* there are so many objects of a breed */

/* Objects first .. first+count-1 as data for one side (0: x, 1: z). On failure *out is NULL. */
mcr_status zoo_data(mcr_data **out, mcr *ctx, const zoo_breed *breed, int64_t first, int64_t count,
                    int side);

/* ---- kernels ----------------------------------------------------------------------------------*/

/* One expression on one breed. */
typedef struct zoo_trial {
    const mcr_kernel_type *extra; /* a kernel that contexts must know besides; NULL: none */
    bool leaf, indefinite;
    const zoo_breed *breed;
    const char *text;
    void *user;
} zoo_trial;
typedef void zoo_with(const zoo_trial *trial);

/* A context that knows the trial's kernel; closed with test_close. */
mcr *zoo_open(const zoo_trial *trial, int threads);
void zoo_forget(mcr *ctx); /* the registered kernels: sweeps of allocations want them gone */

/* Calls `with` for the expressions that the kernel is tried with, on every breed that it accepts:
 * its lines of the table in zoo.c, or else its default parameters. Fails the test if these do not
 * do. The kernel is `extra`, or number `number` of the registry if that is NULL. */
void zoo_try(int64_t number, const mcr_kernel_type *extra, zoo_with *with, void *user);

/* Runs a test for every registered kernel, named after it, and then those of `more`. For main. The
 * variable CONFORM_ONLY in the environment names the only one to run. */
int zoo_run(const char *group, zoo_with *with, const struct CMUnitTest *more, size_t count);

#endif
