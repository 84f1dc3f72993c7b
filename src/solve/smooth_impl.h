/* smooth_impl.h (internal to smooth*.c): the state of Newton's method on a smoothed hinge, and what
 * its products do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SMOOTH_IMPL_H
#define MCR_SOLVE_SMOOTH_IMPL_H

#include "linalg/system.h"
#include "solve/linear.h"
#include "solve/sampled.h"

enum { MCR_HINGE_CHUNK = 16384, MCR_HINGE_FOUND = 4 }; /* objects of a part, and its sums */
#define MCR_HINGE_STALE 0.2 /* of h: what floats may have left before all is computed again */

typedef struct mcr_hinge {
    mcr *ctx;
    mcr_gram *d; /* of all objects */
    int64_t n, wide;
    int64_t first, every; /* the first object's number among those of all processes; all of these */
    const mcr_qp *p;
    mcr_qp_result *result;
    double began, wanted; /* sum of b */
    /* Some of the objects, or all: */
    mcr_rows at;
    int64_t some; /* of these in all processes */
    double *z, *lo, *hi, *s, *ds, *b, *change;
    int64_t *row;
    /* Those within the width, or changed: */
    int64_t *list, *list_source, count;
    double *weight;
    double *found; /* MCR_HINGE_FOUND a part */
    /* Those that take part in steps: their places, rising. Some of the others are looked at, too:
     * they say when more should. */
    int64_t *close, *guard;
    unsigned char *held; /* 1: came near while it was left out, and is not left out again */
    struct {
        int64_t count;      /* -1: all, in every process */
        int64_t guards;     /* of the others */
        double border, gap; /* |s| of the others, at first; how far most went in the last step */
        double least;       /* of the border */
    } near;
    double h, bias, dbias, step;
    double reach;                       /* length of a row, at most or nearly so */
    bool floats;                        /* passes over many objects may take floats */
    double off, off_step;               /* what these leave in s and D'b, about; in ds */
    double *w, *sum, *u, *edge, *right; /* p; sum: D'b; right: p x 2 */
    mcr_system m;
    mcr_sampled sampled; /* of many objects within the width; uses m */
    struct {             /* where it is, for a checkpoint */
        bool all;        /* objects, after the samples */
        uint64_t number; /* of the sample */
        int64_t size;
        double end, last; /* widths: of the sample, of all */
        int tries, steps, idle;
    } place;
    bool goes_on; /* the state was read, and has not been taken up yet */
    char part[MCR_PART_NAME];
} mcr_hinge;

/* The objects that take part in products, by their number among these. */
static inline int64_t mcr_hinge_members(const mcr_hinge *t)
{
    return t->near.count < 0 ? t->at.count : t->near.count;
}

static inline int64_t mcr_hinge_member(const mcr_hinge *t, int64_t k)
{
    return t->near.count < 0 ? k : t->close[k];
}

/* The best b for a slope. */
static inline double mcr_hinge_best(const mcr_hinge *t, int64_t i, double s)
{
    double share = 0.5 - s / t->h, lo = t->lo[i], hi = t->hi[i];
    return share <= 0 ? lo : share >= 1 ? hi : lo + share * (hi - lo);
}

/* smooth_rows.c */

/* What the parts found is added up in order; of this process. */
typedef void mcr_hinge_work(mcr_hinge *t, int64_t first, int64_t end, double *found);
void mcr_hinge_over(mcr_hinge *t, int64_t objects, mcr_hinge_work *work,
                    double sum[MCR_HINGE_FOUND]);
/* The listed objects, by their number among all. */
mcr_rows mcr_hinge_listed(mcr_hinge *t);
/* The weights are changes of the listed coefficients: what they are to D'b. */
mcr_status mcr_hinge_add_changes(mcr_hinge *t);
/* b for the slopes and the width, and D'b. */
mcr_status mcr_hinge_renew(mcr_hinge *t);
/* Leaves out objects that the next steps will not bring near the width, if these are most of
 * them. */
mcr_status mcr_hinge_leave_out(mcr_hinge *t);
/* Whether one of the objects that were left out came near: then others did, unseen. */
mcr_status mcr_hinge_is_crossed(mcr_hinge *t, bool *yes);
/* ds = D u + dbias of the objects that take part, and of the guards. */
mcr_status mcr_hinge_expand_members(mcr_hinge *t);
/* What the coefficients of the others, which stay as they are, give to the derivative along the
 * direction: all of D'b there is, without those that take part. */
mcr_status mcr_hinge_slope_of_others(mcr_hinge *t, double *slope);
/* Guards move with the others; how far most objects have gone. */
mcr_status mcr_hinge_watch(mcr_hinge *t);
/* Keeps objects that were left out and have another b now; *some: there is one. */
mcr_status mcr_hinge_hold(mcr_hinge *t, bool *some);
/* s, b and D'b of all objects for the weights that there are. */
mcr_status mcr_hinge_start(mcr_hinge *t, bool precise);

#endif
