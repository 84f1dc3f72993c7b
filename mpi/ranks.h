/* ranks.h: the processes of a job, and the messages between them.
 *
 * Every exchange begins with an agreement on its kind and size, and on whether a rank has failed.
 * So a failure in one rank ends the work in all of them, with the message of the failed rank, and
 * ranks that do different things are detected instead of waiting for each other. No wait exceeds
 * the time limit.
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
    mcr_team team; /* the library's interface */
    bool tasks;    /* trainings are distributed, not rows */
    MPI_Comm comm;
    double limit;   /* longest wait in an exchange, in seconds */
    bool ended;     /* a rank has failed: no more exchanges */
    int failed;     /* its number */
    char why[1024]; /* its message */
    double waited;  /* seconds in exchanges */
    double messages, bytes;
} ranks;

void ranks_open(ranks *r, double limit);
/* To be called at the end of a rank: its exit status and, if that is not 0, its message. Returns
 * the status of the job; r->failed and r->why say which rank failed, and why. */
int ranks_end(ranks *r, int status, const char *message);

/* The bytes of all ranks, concatenated: *all (to be freed by mcr_free), and the offset of each
 * rank's bytes (count + 1 values, part of the same block). */
mcr_status ranks_gather(ranks *r, mcr *ctx, const void *bytes, size_t count, char **all,
                        size_t **place);
/* Rank 0 receives the other ranks' bytes in order, with one call of put for each; the others send
 * theirs. */
mcr_status ranks_collect(ranks *r, mcr *ctx, const char *bytes, size_t count,
                         bool (*put)(void *arg, const char *bytes, size_t count), void *arg);
/* Whether a number is the same in all ranks. */
mcr_status ranks_same(ranks *r, mcr *ctx, double x, bool *same);

/* Replaces the library's loop (solvers.c). */
mcr_status ranks_conjugate(mcr_team *team, const struct mcr_conjugate *problem, const double *b,
                           double *x, double *norm, int64_t *steps);
/* The same for eigenvectors (leading.c), if SLEPc is available. */
mcr_status ranks_leading(mcr_team *team, mcr *ctx, const struct mcr_leading *problem, double *value,
                         double *vector, struct mcr_leading_result *result);
/* Objects of other ranks (objects.c). */
mcr_status ranks_objects(mcr_team *team, struct mcr_data **out, const struct mcr_data *data,
                         mcr_rows rows);

#endif
