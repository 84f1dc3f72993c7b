/* cluster.h (internal): clusters around centres in feature space.
 *
 *   min  sum_i w_i |Phi(x_i) - c(x_i)|^2,   c the weighted mean of the objects of a cluster
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_CLUSTER_H
#define MCR_SOLVE_CLUSTER_H

#include "gram/gram.h"

typedef struct mcr_cluster_problem {
    int64_t clusters, starts;
    const double *weight; /* n, >= 0, not all 0 */
    const int32_t *begin; /* n clusters that the first start begins with; NULL: all are seeded */
    double
        tolerance; /* largest gain that moving one object may still bring, by mcr_clusters.gain */
    int64_t most_steps; /* sweeps over the objects, of a start; 0: no limit */
    double seconds;     /* 0: no limit */
    const char *phase;  /* for progress and messages */
} mcr_cluster_problem;

typedef struct mcr_clusters {
    int32_t *of;    /* n: the cluster of each object */
    double *weight; /* of each cluster, > 0 */
    double *square; /* |c|^2 of each cluster */
    int64_t *count; /* objects of each cluster */
    double *centre; /* features x clusters, of a Gram with a factor; else NULL */
    int64_t steps;  /* in all starts */
    int64_t starts; /* that were finished */
    /* From scratch, at the end: the objective, and the most that it would fall if one object moved
     * to another cluster (centres included), as a share of it. */
    double objective, gain;
    mcr_stop stop;
} mcr_clusters;

/* With or without a factor of the Gram, the same seeds are drawn and the same steps taken, up to
 * rounding. MCR_BAD_DATA if there are fewer different objects than clusters. Deterministic for any
 * number of threads; random numbers come from the context's seed. */
mcr_status mcr_cluster(mcr_clusters *out, mcr_gram *gram, const mcr_cluster_problem *problem);
void mcr_clusters_close(mcr *ctx, mcr_clusters *clusters); /* also after a failure */

#endif
