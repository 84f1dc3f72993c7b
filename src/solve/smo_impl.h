/* smo_impl.h (internal): the internals of smo*.c; see smo.h.
 *
 * smo.c         the rounds, limits, verification
 * smo_active.c  slopes and gradient
 * smo_shrink.c  the active set
 * smo_certify.c the gradient that the certificate rests on
 * smo_interior.c  small problems on which steps make no progress
 * smo_set.c     the working set and its block of K
 * smo_rows.c    rows of K made when they are used, where the set is everything
 * smo_newton.c  the working set's own problem: when all free coefficients step at once
 * smo_inner.c   ... and steps of two coefficients
 * smo_resume.c  the state between two rounds, for a checkpoint
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SMO_IMPL_H
#define MCR_SOLVE_SMO_IMPL_H

#include <math.h>

#include "base/resume.h"
#include "gram/cache.h"
#include "gram/stored.h"
#include "solve/smo.h"
#include "solve/smo_inner.h"
#include "solve/smo_rows.h"

enum { MCR_SMO_MOST_SLOTS = 2048 }; /* of a working set */

/* Coefficients that left the active set together: their gradient then, and all coefficients
 * then. */
typedef struct mcr_smo_rest {
    struct mcr_smo_rest *next;
    int64_t count;
    int64_t *object;
    double *g, *b;
} mcr_smo_rest;

typedef struct mcr_smo_candidate {
    double key;
    int64_t at;
} mcr_smo_candidate;

/* What the rounds go by, beside the coefficients. */
typedef struct mcr_smo_trend {
    bool on;            /* rounds have begun, and have not come to an end */
    double sum, lowest; /* changes of the objective so far */
    double before;      /* the violation a round ago; where the set is everything: the objective */
    int64_t fruitless;  /* rounds that gained nothing */
    double enough;      /* the violation at which columns come back that were set aside */
    bool back;          /* they just did */
    bool last;          /* the certificate brings them back */
} mcr_smo_trend;

typedef struct mcr_smo {
    mcr *ctx;
    const mcr_qp *p;
    int64_t n;
    int groups;
    double *b;
    bool precise;

    mcr_gram *full, *gram; /* gram: against the active columns; == full when all are */
    mcr_cache *cache;
    void *arrays; /* one block: those of all objects and of the working set */
    int64_t active;
    int64_t *act;        /* active column -> object */
    double *g;           /* (K b) of the active columns */
    unsigned char *in;   /* 1: in the working set */
    unsigned char *idle; /* looks at which it was sure to stay */
    mcr_smo_rest *rests;
    double work; /* kernel values of rows since the last whole gradient */
    /* An object's gradient errs by its `error` at most, when all were last checked (NULL: it is not
     * asked for), and by rough.absolute * moved times the root of its K(x,x) since. */
    double *error;
    mcr_error rough; /* of kernel values (mcr_gram_error), the largest of all Grams */
    double moved;    /* changes of coefficients since, each times the root of K(x,x) */

    /* The working set: slot -> active column (-1: empty). */
    bool whole;         /* it is everything: slot = object */
    bool may_be_whole;  /* it may become that, if many coefficients are free */
    const float *given; /* all of K in float, if the Gram holds it; else NULL */
    int64_t given_ld;
    bool trial;                /* those floats are all there is */
    bool stored;               /* so it is, and the set is not everything */
    int64_t members;           /* in it */
    unsigned char *there;      /* rows of the block that are made */
    int64_t *made;             /* in which round, if at all */
    int64_t slots, most_slots; /* there is space for now; at most */
    int64_t *member, *age;
    unsigned char *slot_group;
    int64_t wanted; /* size that it should have */
    mcr_smo_block block;
    size_t real;
    char *k;
    size_t taken; /* of the budget, for k and fresh */
    double *slot_b, *before, *slot_lo, *slot_hi;
    double *diagonal; /* K(x,x) of all objects */
    double largest;   /* absolute value there */
    mcr_smo_run *run;
    double rent;        /* for steps of two since the last Newton step (smo_newton.c) */
    double newton;      /* how many times its price the next one must be worth; 0: there was none */
    mcr_row_pool *pool; /* of rows that are made when they are used (block.row) */
    mcr_status row_status; /* of those, and of Newton steps */

    mcr_smo_candidate *candidate, *violator[2]; /* those that could go up, down */
    int64_t *slot_list, *object_list, *new_slot, *new_object;
    double *coef;
    char *fresh; /* K of new members against all */

    double low[2], high[2], middle[2];
    int64_t places; /* slots and the null object, rounded up */
    mcr_qp_result *result;
    int64_t patience; /* steps that it may take without reaching the tolerance */
    double began, reported;
    bool interrupted;               /* by the user */
    double pace;                    /* mean seconds of a kernel value in a row; 0: not known */
    double row_seconds, row_values; /* of which it is the mean */
    double looked;                  /* when the limits were looked at last; 0: never */
    mcr_smo_trend trend;
    int tries;                /* rounds to the end, and verified */
    bool tried;               /* the other method */
    bool done;                /* what a checkpoint holds is the result */
    char part[MCR_PART_NAME]; /* of a checkpoint; "": none is kept */
} mcr_smo;

static inline int mcr_smo_group(const mcr_smo *s, int64_t object)
{
    return s->p->group ? s->p->group[object] : 0;
}

/* What a step up (down) of the objective costs at active column i; +-infinity: at the bound. */
static inline double mcr_smo_slope_up(const mcr_smo *s, int64_t object, double g)
{
    double b = s->b[object], e = s->p->epsilon;
    if (b >= s->p->hi[object])
        return INFINITY;
    return g - s->p->z[object] + (b >= 0 ? e : -e);
}

static inline double mcr_smo_slope_down(const mcr_smo *s, int64_t object, double g)
{
    double b = s->b[object], e = s->p->epsilon;
    if (b <= s->p->lo[object])
        return -INFINITY;
    return g - s->p->z[object] + (b > 0 ? e : -e);
}

/* All are active, in one group, and slopes are the same up and down: loops can do without
 * branches. */
static inline bool mcr_smo_is_plain(const mcr_smo *s)
{
    return s->active == s->n && s->groups == 1 && s->p->epsilon == 0;
}

/* Extremes of the slopes of each group into low and high; returns the violation. */
double mcr_smo_look(mcr_smo *s);
/* All objects are active; the gradient and the working set are left as they are. */
void mcr_smo_all_active(mcr_smo *s);
/* Lists objects whose coefficient differs from `then` (NULL: from 0) in object_list, with the
 * difference in coef; returns how many. */
int64_t mcr_smo_list_changes(mcr_smo *s, const double *then);
/* f += K(columns of gram, x) coef, in batches; object lists x. first: NULL, or whose first gradient
 * it is. */
mcr_status mcr_smo_add_rows(mcr_gram *gram, bool precise, const int64_t *object, const double *coef,
                            int64_t count, mcr_smo *first, double *f);
/* The full gradient from scratch. All become active; the working set must be translated or dropped
 * by the caller. */
mcr_status mcr_smo_fresh_gradient(mcr_smo *s);
/* The same of a trial that begins near p->from: g is K times that. */
mcr_status mcr_smo_known_gradient(mcr_smo *s, const double *g);
/* The gradient in double wherever its error in float could show in the violation, the primal or the
 * dual objective. All become active, as in mcr_smo_fresh_gradient. */
mcr_status mcr_smo_exact_gradient(mcr_smo *s);
mcr_status mcr_smo_final_error(mcr_smo *s);
/* A Gram whose values the gradient gets from now on: its rounding counts. */
mcr_status mcr_smo_count_error(mcr_smo *s, mcr_gram *gram);
/* Root of K(x,x). */
static inline double mcr_smo_length(const mcr_smo *s, int64_t object)
{
    double square = s->diagonal[object];
    return square > 0 ? sqrt(square) : 0;
}
/* g += K times the coefficients of some objects, from a K that is there. */
mcr_status mcr_smo_add_stored(mcr_smo *s, const int64_t *object, const double *coef, int64_t count,
                              double *g);
void mcr_smo_free_rests(mcr_smo *s);
/* One with space for so many coefficients, in no list yet; NULL: there is no memory. */
mcr_smo_rest *mcr_smo_new_rest(mcr_smo *s, int64_t count);
/* What depends on float or double: block, cache, inner solver. */
mcr_status mcr_smo_open_precision(mcr_smo *s, bool precise);
/* Continues where an earlier run ended; *found: there was a state (s->done: it is the result). */
mcr_status mcr_smo_go_on(mcr_smo *s, bool *found);
/* Between two rounds: the state for a checkpoint; and the end. */
mcr_status mcr_smo_offer(mcr_smo *s);
mcr_status mcr_smo_keep_result(mcr_smo *s, mcr_stop stop);
/* The same problem by an interior point method, in double, for few objects: its solution goes to b,
 * of which s->b has the sums, if it is *found. */
mcr_status mcr_smo_interior(mcr_smo *s, double *b, bool *found);
/* Seconds that the certificate is likely to take. */
double mcr_smo_closing_time(const mcr_smo *s);
/* Whether rounding of the kernel values is likely to be more in the gradient of these coefficients
 * than the tolerance allows for. */
bool mcr_smo_is_rough(const mcr_smo *s, const double *b, int64_t n);
/* Whether time is over or the user wants to stop. */
bool mcr_smo_is_over(mcr_smo *s);
/* Shrinks if it pays. */
mcr_status mcr_smo_consider_shrinking(mcr_smo *s, double violation);
/* Back to the whole set: the shrunk columns get the gradient of all changes since they left. */
mcr_status mcr_smo_unshrink(mcr_smo *s);
/* The same without their gradient, which is marked as not known. */
void mcr_smo_bring_back(mcr_smo *s);

/* Places and stride of a block for as many slots as there are. */
void mcr_smo_lay_out(mcr_smo *s);
/* If the set is everything: rows of K are computed when they are used; the listed ones, now. */
mcr_status mcr_smo_open_rows(mcr_smo *s);
void mcr_smo_close_rows(mcr_smo *s);
mcr_status mcr_smo_need_rows(mcr_smo *s, const int64_t *object, int64_t count);

/* The block, and space for new members' values; what they take for so many slots. */
size_t mcr_smo_block_bytes(const mcr_smo *s, int64_t slots);
mcr_status mcr_smo_open_block(mcr_smo *s);
/* The working set grows with the number of free coefficients. */
mcr_status mcr_smo_resize_set(mcr_smo *s);
int64_t mcr_smo_count_free(const mcr_smo *s);
/* From now on it is everything; mcr_smo_open_precision must follow. */
static inline void mcr_smo_take_whole(mcr_smo *s)
{
    s->whole = true;
    s->slots = s->most_slots = s->n;
}
/* Renews half of the working set; returns how many members are new. was: space for all slots. */
int64_t mcr_smo_renew_set(mcr_smo *s, mcr_smo_candidate *was);
/* K of the new members against all members, into their slots. */
mcr_status mcr_smo_fill_block(mcr_smo *s, int64_t added);
void mcr_smo_free_block(mcr_smo *s);
/* Solves the working set's problem; s->before keeps the old coefficients. Returns the steps. */
int64_t mcr_smo_solve_block(mcr_smo *s, double tolerance, int64_t most_steps);
/* Steps of two coefficients, and of all free ones, on the block as it stands, to its tolerance or
 * its most_steps. */
mcr_status mcr_smo_run_block(mcr_smo *s, int64_t *steps);
/* Adopts the new coefficients and updates the gradient; *changed: how many; *change: of the
 * objective. */
mcr_status mcr_smo_take_over(mcr_smo *s, int64_t *changed, double *change);

#endif
