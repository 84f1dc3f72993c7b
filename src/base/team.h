/* team.h (internal): several processes that work on one problem.
 *
 * Each process runs the same code on its own rows of the data. Sums over all objects are added up
 * over the processes; everything else (landmarks, weights, decisions) is the same in all of them.
 * The library does not know how messages are sent: a program with several processes (mpi/) fills
 * the table and sets it in the context. Without a team the functions here have no effect and no
 * cost.
 *
 * Instead of rows, tasks may be distributed (the trainings of cv and tune): then each process has
 * all rows and runs every P-th task, and results are exchanged after each round. The functions for
 * rows then behave as with one process.
 *
 * All processes must make the calls in the same order. A failure in one process is a failure in
 * all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_TEAM_H
#define MCR_BASE_TEAM_H

#include "base/context.h"
#include "base/rows.h"

struct mcr_data;
struct mcr_conjugate;
struct mcr_leading;
struct mcr_leading_result;

typedef struct mcr_team mcr_team;
struct mcr_team {
    int rank, count;
    bool spread; /* each process has its own rows; otherwise all processes have all rows */
    /* Replaces x by the sum, or by the maximum, over all processes. */
    mcr_status (*sum)(mcr_team *team, mcr *ctx, double *x, int64_t count);
    mcr_status (*largest)(mcr_team *team, mcr *ctx, double *x, int64_t count);
    /* Gathers objects, given by their numbers among those of all processes, with targets and
     * weights, in every process. */
    mcr_status (*objects)(mcr_team *team, struct mcr_data **out, const struct mcr_data *data,
                          mcr_rows rows);
    /* Replaces the library's own loop; NULL: the library's is used. See solve/conjugate.h. */
    mcr_status (*conjugate)(mcr_team *team, const struct mcr_conjugate *problem, const double *b,
                            double *x, double *norm, int64_t *steps);
    /* The same for eigenvectors of a matrix by which every process can multiply. See
     * solve/leading.h. */
    mcr_status (*leading)(mcr_team *team, mcr *ctx, const struct mcr_leading *problem,
                          double *value, double *vector, struct mcr_leading_result *result);
};

/* The team must outlive its use by the context; NULL: one process. */
void mcr_team_set(mcr *ctx, mcr_team *team);
/* The team that shares the rows; NULL: this process has all rows. */
mcr_team *mcr_team_of_rows(const mcr *ctx);
mcr_status mcr_team_sum(mcr *ctx, double *x, int64_t count);
mcr_status mcr_team_largest(mcr *ctx, double *x, int64_t count);
/* The team that shares tasks; NULL: this process runs all tasks. */
mcr_team *mcr_team_of_tasks(const mcr *ctx);
/* Whether this process runs the task. */
bool mcr_team_owns(const mcr *ctx, int64_t task);
/* Distributes results that one process has and that are 0 in the others. */
mcr_status mcr_team_share(mcr *ctx, double *x, int64_t count);
/* The text of the first process with one (text[0] != 0), truncated to capacity - 1 bytes. */
mcr_status mcr_team_share_text(mcr *ctx, char *text, int64_t capacity);
/* MCR_BAD_DATA if processes that share tasks have read different data; sum: their checksum. */
mcr_status mcr_team_check_data(mcr *ctx, uint32_t sum);
/* Of this process's `count` objects: the number of the first among all, and the total. */
mcr_status mcr_team_place(mcr *ctx, int64_t count, int64_t *first, int64_t *all);

#endif
