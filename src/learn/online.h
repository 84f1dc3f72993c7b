/* online.h (internal): learners that see one object after the other and change a few coefficients
 * where they were wrong: perceptron, pegasos.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_ONLINE_H
#define MCR_LEARN_ONLINE_H

#include "base/random.h"
#include "base/resume.h"
#include "learn/form.h"

/* ---- scores (online_scores.c) -----------------------------------------------------------------*/

/* f_o(x_i) = sum of coef K(x, x_i) for all objects, kept up to date while coefficients change. In
 * the dual form the scores themselves are kept: all of K where there is space, else blocks of
 * coming objects have their own part of K, and what changed goes to all others at the block's end.
 * In the primal form weight vectors are kept. */
enum { MCR_ONLINE_KEPT = 6000 }; /* objects, at most, where all of K is kept; more if it is slow */
typedef struct mcr_scores {
    mcr *ctx;
    int64_t n, outputs;
    bool bias;      /* every object has one more feature, 1 */
    bool precise;   /* of kernel values for objects outside of the block */
    double *square; /* n: K(x,x), with the bias */
    double *offset; /* outputs: the weights of the feature 1 */
    mcr_form form;
    /* The primal form. */
    int64_t wide;             /* features */
    const mcr_factor *sparse; /* NULL: they are dense */
    double *weight;           /* outputs x features */
    double *phi;              /* dense features of the block's objects; NULL: they are sparse */
    /* The dual form. */
    double *f; /* outputs x n, without offset */
    bool whole;
    double *k;     /* all of K, or the block's rows x its objects */
    size_t taken;  /* of the budget */
    int64_t block; /* objects of a block, at most */
    const int64_t *object;
    int64_t count;     /* of this block */
    double *local;     /* outputs x count */
    int64_t *row;      /* objects of the block's rows */
    int32_t *row_of;   /* n: row of an object in the block, -1: none */
    int64_t rows;      /* 0: the block needs no values */
    int64_t most_rows; /* space for them */
    double *change;    /* n x outputs: what all others are to learn of */
    int64_t *changed;
    unsigned char *is_changed;
    int64_t changes;
    double pace;  /* seconds of a row of K; 0: not known */
    double *lane; /* coefficients of a pass, by output */
    int64_t lane_capacity;
} mcr_scores;

typedef struct mcr_scores_plan {
    int64_t outputs;
    bool bias, precise;
    const mcr_form_options *form;
    int64_t passes;   /* about */
    bool often;       /* objects are seen several times: all of K may be worth it */
    int64_t together; /* objects that are scored before any of them changes coefficients */
    int64_t others;   /* objects outside of the block that may change during it */
} mcr_scores_plan;

mcr_status mcr_scores_open(mcr_scores *s, const mcr_learning *in, const mcr_scores_plan *plan);
void mcr_scores_close(mcr_scores *s); /* also after a failure of open */
/* All scores from coefficients, n x outputs. */
mcr_status mcr_scores_set(mcr_scores *s, const double *coef);
/* A block of coming objects, at most s->block. steady: none of them needs to see changes made
 * during the block. others: objects that may change, too. */
mcr_status mcr_scores_begin(mcr_scores *s, const int64_t *object, int64_t count, bool steady,
                            const int64_t *others, int64_t other_count);
/* The scores (outputs) of object d of the block. */
void mcr_scores_at(const mcr_scores *s, int64_t d, double *score);
/* Adds to the coefficients of an object of the block, or of the others (not with an approximate
 * map). */
void mcr_scores_add(mcr_scores *s, int64_t object, const double *coef);
mcr_status mcr_scores_end(mcr_scores *s);
/* f (lanes x n) from coefficients (n x lanes), from scratch, with the bias; precise: in double. */
mcr_status mcr_scores_fresh(mcr_scores *s, const double *coef, int64_t lanes, double *f,
                            bool precise);

/* ---- coefficients (online.c) ------------------------------------------------------------------*/

enum { MCR_ORDER_GIVEN, MCR_ORDER_SHUFFLE, MCR_ORDER_RANDOM };

typedef struct mcr_online_plan {
    const char *learner, *class_weight;
    mcr_scores_plan scores;
    int order;
    int64_t budget;    /* support vectors, at most; INT64_MIN: any number */
    double time_limit; /* NAN: none */
} mcr_online_plan;

/* Numbers that go on from one call to the next, in the model's extras. */
typedef struct mcr_clock {
    double steps;
    double own[4]; /* the learner's */
} mcr_clock;

typedef struct mcr_online {
    mcr *ctx;
    mcr_online_plan plan;
    mcr_scores scores;
    int64_t n, first; /* objects; those before `first` are of an older model only */
    int64_t classes, outputs;
    const int32_t *class_of;
    double *weight; /* n; 0 before first */
    double *coef;   /* n x outputs: now */
    double *sum;    /* n x outputs: of each change times its moment: what averages need */
    unsigned char *used;
    int64_t *support; /* of a budget: the objects, by age */
    int64_t supports, dropped;
    int64_t *order; /* of a pass */
    int64_t visits; /* in a pass */
    bool resumed;
    mcr_clock clock;
    double size; /* sum of all |change| |Phi(x)|: what rounding errors are measured by */
    double *minus;
    double began;
    mcr_stop stop;
    int64_t at;               /* the next place of the order */
    bool goes_on;             /* a pass was read from a checkpoint, and has not been taken up yet */
    char part[MCR_PART_NAME]; /* of a checkpoint */
} mcr_online;

/* For what goes by objects, where the kernel is approximate: "LEARNER: WHAT works on objects". */
mcr_status mcr_online_refuse_approx(mcr *ctx, const char *learner, const char *what);
/* Targets, weights, scores; and the coefficients of a start. */
mcr_status mcr_online_open(mcr_online *o, const mcr_learning *in, const mcr_online_plan *plan);
void mcr_online_close(mcr_online *o); /* also after a failure of open */
/* For a checkpoint: between two blocks of objects. A learner that keeps one adds its own state. */
mcr_status mcr_online_walk(mcr_online *o, mcr_walk *w);
/* A pass begins: its objects in their order, and at = 0; unless one that a checkpoint has goes on,
 * which is true then. */
bool mcr_online_order(mcr_online *o);
/* The block of the order that begins at o->at, at most `most` objects; sets how many. */
mcr_status mcr_online_begin(mcr_online *o, int64_t most, bool steady, int64_t *count);
/* Adds to the coefficients of an object at a moment; drops one if there are too many. */
void mcr_online_change(mcr_online *o, int64_t object, const double *change, double moment);
/* After so many passes, of `most`: true: to end, by the user or by time; o->stop says which. */
bool mcr_online_is_over(mcr_online *o, int64_t passes, int64_t most, int64_t step, double objective,
                        double violation);
/* What is below this is 0 but for rounding, for scores of an object. */
double mcr_online_rounding(const mcr_online *o, int64_t object);
/* How a learner ends: what it adds to the fitted made of its coefficients (n x outputs). */
typedef mcr_status mcr_online_ending(void *self, mcr_fitted *fitted, const double *coef);
/* A fitted with the coefficients coef_of(self, object * outputs + output) and all that going on
 * needs, then `ending`, and the remarks that all have: which form was taken, and what was
 * dropped. */
mcr_status mcr_online_finish(mcr_fitted **out, mcr_online *o,
                             double (*coef_of)(const void *self, int64_t at),
                             mcr_online_ending *ending, void *self);
/* Which training objects are right, by the scores f (outputs x n) of what predicts; score: space
 * for outputs. */
mcr_status mcr_online_answer(mcr_fitted *fitted, const mcr_online *o, const double *f,
                             double *score);
/* Which of fitted's basis objects an object is; -1: none. To be freed; n numbers. */
int64_t *mcr_online_places(const mcr_online *o, const mcr_fitted *fitted);

/* ---- voted perceptrons (perceptron_vote.c) ----------------------------------------------------*/

/* The mistakes in their order: each makes a new perceptron, which votes as often as it was
 * right. */
typedef struct mcr_votes {
    mcr *ctx;
    int64_t count;
    int64_t *object;
    int32_t *up, *down; /* outputs that got `size` more and less; down -1: none */
    double *size, *at;  /* at: the step */
    int64_t capacity[5];
} mcr_votes;

mcr_status mcr_votes_add(mcr_votes *v, int64_t object, int32_t up, int32_t down, double size,
                         double at);
void mcr_votes_close(mcr_votes *v);
mcr_status mcr_votes_keep(const mcr_votes *v, mcr_fitted *fitted, const mcr_online *o);
/* For a checkpoint. */
mcr_status mcr_votes_walk(mcr_votes *v, const mcr_online *o, mcr_walk *w);
/* Those of a start. */
mcr_status mcr_votes_read(mcr_votes *v, const mcr_fitted *start, const mcr_online *o);
/* The votes that a model keeps, checked: lists of one number per mistake. *out is zeroed before. */
enum {
    MCR_VOTE_OBJECT, /* of the basis */
    MCR_VOTE_UP,
    MCR_VOTE_DOWN, /* -1: none */
    MCR_VOTE_SIZE,
    MCR_VOTE_LIVES,
    MCR_VOTE_LISTS
};
typedef struct mcr_voted {
    const double *list[MCR_VOTE_LISTS];
    const double *bias; /* 1 or 0: what is added to each kernel value */
    int64_t count;
} mcr_voted;
mcr_status mcr_votes_find(mcr_voted *out, const mcr_fitted *fitted);
extern const mcr_predictor mcr_votes_predictor;

#endif
