/* team.h (internal): several processes that work on one problem.
 *
 * Each process runs the same code on its own rows of the data. What is summed over all objects is
 * then added up over the processes; everything else (landmarks, weights, decisions) is the same in
 * all of them. How messages travel is not the library's business: a program that has several
 * processes (mpi/) fills the table and sets it in the context. Without one all functions here do
 * nothing and cost nothing.
 *
 * In place of rows, tasks may be spread (the trainings of cv and tune): then each process has all
 * rows, does every P-th task, and results are shared after a round of them. What the functions for
 * rows say is as with one process.
 *
 * All processes must call in the same order. A fault in one of them is a fault in all.
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
    bool spread; /* each process has its own rows; else all have all of them */
    /* x becomes the sum, or the largest, of all processes' x. */
    mcr_status (*sum)(mcr_team *team, mcr *ctx, double *x, int64_t count);
    mcr_status (*largest)(mcr_team *team, mcr *ctx, double *x, int64_t count);
    /* Objects by their numbers among those of all processes, with targets and weights, in all. */
    mcr_status (*objects)(mcr_team *team, struct mcr_data **out, const struct mcr_data *data,
                          mcr_rows rows);
    /* In place of the library's own loop; NULL: that one. See solve/conjugate.h. */
    mcr_status (*conjugate)(mcr_team *team, const struct mcr_conjugate *problem, const double *b,
                            double *x, double *norm, int64_t *steps);
    /* The same for eigenvectors, of a matrix that every process can multiply by. See
     * solve/leading.h. */
    mcr_status (*leading)(mcr_team *team, mcr *ctx, const struct mcr_leading *problem,
                          double *value, double *vector, struct mcr_leading_result *result);
};

/* Outlives the context's last use of it; NULL: there is one process. */
void mcr_team_set(mcr *ctx, mcr_team *team);
/* The team that shares the rows; NULL: this process has all of them. */
mcr_team *mcr_team_of_rows(const mcr *ctx);
mcr_status mcr_team_sum(mcr *ctx, double *x, int64_t count);
mcr_status mcr_team_largest(mcr *ctx, double *x, int64_t count);
/* The team that shares tasks; NULL: this process does all of them. */
mcr_team *mcr_team_of_tasks(const mcr *ctx);
/* Whether a task is this process's. */
bool mcr_team_owns(const mcr *ctx, int64_t task);
/* Results that one process has and the others have as 0. */
mcr_status mcr_team_share(mcr *ctx, double *x, int64_t count);
/* The text of the first process that has one (text[0] != 0), cut off at capacity - 1 bytes. */
mcr_status mcr_team_share_text(mcr *ctx, char *text, int64_t capacity);
/* MCR_BAD_DATA where processes that share tasks have not read the same data: a sum of those. */
mcr_status mcr_team_check_data(mcr *ctx, uint32_t sum);
/* The number that the first of so many own objects has among all, and how many there are. */
mcr_status mcr_team_place(mcr *ctx, int64_t count, int64_t *first, int64_t *all);

#endif
