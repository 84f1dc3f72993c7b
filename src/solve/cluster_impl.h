/* cluster_impl.h (internal to cluster*.c): the state of k-means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_CLUSTER_IMPL_H
#define MCR_SOLVE_CLUSTER_IMPL_H

#include <math.h>

#include "base/random.h"
#include "base/resume.h"
#include "gram/factor.h"
#include "solve/cluster.h"

enum { FEW_CANDIDATES = 8, MCR_CLUSTER_BLOCK = 1024 };
enum { MCR_CLUSTER_SEEDS, MCR_CLUSTER_LLOYD, MCR_CLUSTER_HARTIGAN }; /* stages of a start */

/* A result that starts are crossed from. */
typedef struct mcr_cluster_parent {
    int32_t *of;
    double *s; /* laid out like that of the state */
    double *weight, *q;
    double objective; /* infinite: there is none */
} mcr_cluster_parent;

typedef struct mcr_cluster_centre {
    int parent;
    int64_t cluster;
} mcr_cluster_centre;

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
    /* Crossed starts. */
    size_t crosses;               /* bytes for them, of the budget; 0: there are none */
    mcr_cluster_parent parent[2]; /* the best two results that differ, the better one first */
    mcr_cluster_centre *centre;   /* k: where such a start begins */
    /* From features. */
    const mcr_factor *sparse; /* NULL: dense */
    double *sum;              /* features x k: sums of w_j phi(x_j) */
    double *phi;  /* space for the features of one object, or of those of a block if dense */
    int64_t held; /* the first object of the block that phi holds; -1: none */
} mcr_cluster_state;

/* ---- steps (cluster.c) ------------------------------------------------------------------------*/

/* Rows of K of some objects (at most 256; for seeds FEW_CANDIDATES); valid until the next call. */
mcr_status mcr_cluster_fetch(mcr_cluster_state *t, const int64_t *object, int64_t count,
                             const double **row);
/* Whether to end, by time or the user. */
bool mcr_cluster_is_over(mcr_cluster_state *t, double at, double gain);
/* The reference for shares of the objective; at least the rounding error. */
static inline double mcr_cluster_scale(const mcr_cluster_state *t, double at)
{
    return fmax(at, 1e-9 * t->total);
}
/* Of cluster c at object i, in sums laid out like those of the state. */
static inline double mcr_cluster_sum(const mcr_cluster_state *t, const double *s, int64_t c,
                                     int64_t i)
{
    return t->wide ? s[i * t->k + c] : s[c * t->n + i];
}
/* The rounding error of a distance of object i. Smaller differences are ignored, so that kernel
 * values and features, which round differently, make the same choices. */
static inline double mcr_cluster_rounding(const mcr_cluster_state *t, int64_t i, double distance)
{
    return 1e-13 * (fabs(t->diagonal[i]) + fabs(distance));
}

/* ---- where a start begins (cluster_seed.c) ----------------------------------------------------*/

/* Fills next by seeds. */
mcr_status mcr_cluster_seed(mcr_cluster_state *t, int64_t start);
/* Fills next by centres of earlier results; where one of them is left out, a seed takes its
 * place. */
mcr_status mcr_cluster_cross(mcr_cluster_state *t, int64_t start);

/* ---- checkpoints (cluster_resume.c) -----------------------------------------------------------*/

/* Between two steps of a start. */
mcr_status mcr_cluster_offer(mcr_cluster_state *t);
/* Restores the state of an earlier run, if there is one. */
mcr_status mcr_cluster_go_on(mcr_cluster_state *t);

/* ---- crossed starts (cluster_cross.c) ---------------------------------------------------------*/

mcr_status mcr_cluster_cross_open(mcr_cluster_state *t);
void mcr_cluster_cross_close(mcr_cluster_state *t);
/* The current result, with all its sums. */
void mcr_cluster_cross_keep(mcr_cluster_state *t, double objective);
/* How many starts are crossed after the others, as long as two results differ. */
int64_t mcr_cluster_crossed(const mcr_cluster_state *t);
bool mcr_cluster_can_cross(const mcr_cluster_state *t);
/* Fills next by k centres, or by k - 1 of them (one_less), and near with the distances. */
mcr_status mcr_cluster_mix(mcr_cluster_state *t, mcr_random *random, bool one_less);

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
