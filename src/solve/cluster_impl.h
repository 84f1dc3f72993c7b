/* cluster_impl.h (internal to cluster*.c): the state of k-means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_CLUSTER_IMPL_H
#define MCR_SOLVE_CLUSTER_IMPL_H

#include "base/resume.h"
#include "gram/factor.h"
#include "solve/cluster.h"

enum { FEW_CANDIDATES = 8, MCR_CLUSTER_BLOCK = 1024 };
enum { MCR_CLUSTER_SEEDS, MCR_CLUSTER_LLOYD, MCR_CLUSTER_HARTIGAN }; /* stages of a start */

typedef struct mcr_cluster_state {
    mcr *ctx;
    mcr_gram *gram;
    int64_t wide; /* features; 0: kernel values */
    const mcr_cluster_problem *p;
    int64_t n, k;
    double *diagonal;
    double total;   /* sum of w_i |K(x_i, x_i)|: the scale of rounding errors */
    double *values; /* all of K, or space for some rows */
    bool whole;
    size_t taken;
    int64_t rows; /* of K at a time, where it is not kept whole */
    /* The current start. */
    int32_t *of, *next; /* -1: none yet */
    double *s;          /* k x n; from features n x k */
    double *weight, *q; /* of each cluster: sum of w, sum of w_i S_c(i) */
    int64_t *count;
    double *near; /* n: squared distance to the nearest seed */
    int64_t *row; /* n: objects to move */
    int64_t steps;
    double began;
    bool uncut; /* moves go on although time is over */
    mcr_stop stop;
    /* Where it is, for a checkpoint. */
    struct {
        int64_t start; /* number */
        int stage;     /* MCR_CLUSTER_SEEDS ... */
        int again;     /* so often Hartigan's steps have begun */
        int64_t last;  /* steps when this stage began */
        double before; /* the objective a step ago */
        bool goes_on;  /* the state was read, and has not been taken up yet */
    } at;
    mcr_clusters *best; /* of the starts before */
    char part[MCR_PART_NAME];
    /* From features. */
    const mcr_factor *sparse; /* NULL: dense */
    double *sum;              /* features x k: sums of w_j phi(x_j) */
    double *phi;  /* space for the features of one object, or of those of a block if dense */
    int64_t held; /* the first object of the block that phi holds; -1: none */
} mcr_cluster_state;

/* ---- checkpoints (cluster_resume.c) -----------------------------------------------------------*/

/* Between two steps of a start. */
mcr_status mcr_cluster_offer(mcr_cluster_state *t);
/* Takes up the state that an earlier run has left, if there is one. */
mcr_status mcr_cluster_go_on(mcr_cluster_state *t);

/* ---- from features (cluster_features.c) -------------------------------------------------------*/

mcr_status mcr_cluster_features_open(mcr_cluster_state *t);
/* Rows of K of at most FEW_CANDIDATES and k objects, before anything is placed. */
mcr_status mcr_cluster_features_rows(mcr_cluster_state *t, const int64_t *object, int64_t count,
                                     const double **row);
/* All sums, from scratch. */
mcr_status mcr_cluster_features_place(mcr_cluster_state *t);
/* S of the objects of a block, from the sums of features as they are. */
mcr_status mcr_cluster_features_block(mcr_cluster_state *t, int64_t first);
/* Object i went to another cluster: its features, and S of the objects behind it in its block. */
mcr_status mcr_cluster_features_move(mcr_cluster_state *t, int64_t i, int64_t from, int64_t to);

#endif
