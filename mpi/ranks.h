/* ranks.h: the processes of a job, and messages between them.
 *
 * Every exchange begins with an agreement: what it is, how much, and whether a rank has failed.
 * So a fault in one rank ends the work in all of them, with the message of the one that failed, and
 * ranks that do different things are found out instead of waiting for each other. Nothing waits
 * longer than the time limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MPI_RANKS_H
#define MPI_RANKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/team.h"

typedef struct ranks {
    mcr_team team; /* as the library sees it */
    bool tasks;    /* trainings are spread, not rows */
    MPI_Comm comm;
    double limit;   /* seconds that an exchange may wait */
    bool ended;     /* a rank has failed: there are no more exchanges */
    int failed;     /* which */
    char why[1024]; /* its message */
    double waited;  /* seconds in exchanges */
    double messages, bytes;
} ranks;

void ranks_open(ranks *r, double limit);
/* Of a rank that ends: its exit status and, if that is not 0, its message. Returns the status that
 * the job has; r->failed and r->why say who has failed, and why. */
int ranks_end(ranks *r, int status, const char *message);

/* What all ranks have, one after the other: *all (to be freed by mcr_free) and where the bytes of
 * each begin (count + 1 places, part of the same block). */
mcr_status ranks_gather(ranks *r, mcr *ctx, const void *bytes, size_t count, char **all,
                        size_t **place);
/* Rank 0 gets the others' bytes in their order, each by one call of put; the others send theirs. */
mcr_status ranks_collect(ranks *r, mcr *ctx, const char *bytes, size_t count,
                         bool (*put)(void *arg, const char *bytes, size_t count), void *arg);
/* Whether a number is the same in all ranks. */
mcr_status ranks_same(ranks *r, mcr *ctx, double x, bool *same);

/* In place of the library's loops (solvers.c). */
mcr_status ranks_conjugate(mcr_team *team, const struct mcr_conjugate *problem, const double *b,
                           double *x, double *norm, int64_t *steps);
/* The same for eigenvectors (leading.c), where SLEPc is there. */
mcr_status ranks_leading(mcr_team *team, mcr *ctx, const struct mcr_leading *problem, double *value,
                         double *vector, struct mcr_leading_result *result);
/* Objects of other ranks (objects.c). */
mcr_status ranks_objects(mcr_team *team, struct mcr_data **out, const struct mcr_data *data,
                         mcr_rows rows);

#endif
