/* multiclass_impl.h (internal to multiclass*.c): the two-class problems of one training.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_MULTICLASS_IMPL_H
#define MCR_LEARN_MULTICLASS_IMPL_H

#include "gram/pairs.h"
#include "learn/multiclass.h"

typedef struct mcr_class_job {
    const mcr_learning *in;
    const mcr_multiclass *how;
    int64_t n, classes, problems;
    const double *weight;
    /* Where a training before this one has coefficients of a problem: places of it, from
     * start_first[problem] on; NULL: there is no such training. */
    struct mcr_start_place {
        int64_t segment, row;
    } * start_place;
    int64_t *start_first;
    int64_t *start_at; /* one-vs-one: of each object, its number within its class */
    mcr_rule rule;
    mcr_form form;
    const mcr_fold *fold; /* of many trainings that are only compared; NULL: it is meant to last */
    mcr_gram *whole;      /* of all objects, where problems are solved one after the other */
    mcr_binary *result;
    double *coef;         /* of all problems, one after the other */
    unsigned char *right; /* of each object: see mcr_fitted */
    double *curve;        /* 2 per problem; NULL: no probabilities */
    double began, deadline;
    bool stopped;      /* by the user: what has not begun is left out */
    int64_t solved;    /* problems */
    int64_t ticks;     /* when progress was reported last */
    bool uncalibrated; /* a curve is missing for want of time or of decision values */
    /* One-vs-one: objects by class; first of each class, classes + 1 values. A pair has the objects
     * of its first class, then those of its second. */
    int64_t *member, *first;
    int64_t *place;             /* first of each class in `sorted` */
    mcr_data *sorted;           /* objects by class, each class from a whole panel on */
    mcr_gram **across;          /* one per worker */
    mcr_gram_pairs *pairs;      /* K of pairs; NULL: not worth it */
    struct mcr_row_pool **pool; /* one per worker: for rows of pairs that share nothing */
    size_t taken;
    double bound; /* bytes of the budget that binding the objects took */
    float *k;     /* one-vs-rest: K of all objects, shared by all problems; NULL: not worth it */
    int64_t k_ld;
    bool rough; /* certificates are no more exact than a shared K */
} mcr_class_job;

/* Which problems there are, and until when; fails if there are not two classes. */
mcr_status mcr_class_begin(mcr_class_job *j, const mcr_learning *in, const mcr_multiclass *how);
/* The classes of a problem of one-vs-one, the number of objects of one. */
void mcr_class_pair(int64_t classes, int64_t problem, int64_t *a, int64_t *b);
int64_t mcr_class_size(const mcr_class_job *j, int64_t c);
int64_t mcr_class_objects(const mcr_class_job *j, int64_t problem); /* of any */
/* Lists them with their sides, +1 and -1; returns how many there are. */
int64_t mcr_class_list_objects(const mcr_class_job *j, int64_t problem, int64_t *row, double *y);
/* One-vs-one: fills member and first. */
mcr_status mcr_class_list(mcr_class_job *j);
/* *easy: pairs may need so few rows of K that sharing blocks of it does not pay. Then some of them
 * are solved first, and mcr_class_is_easy tells from these. Where all are so small that a solver
 * makes rows when it uses them, the pairs of a worker share the memory for rows. */
mcr_status mcr_class_may_be_easy(mcr_class_job *j, bool *easy);
bool mcr_class_is_easy(const mcr_class_job *j);
void mcr_class_forget_rows(mcr_class_job *j); /* that memory is given back */
/* K of a pair as a view of all objects, which are bound (j->across). */
mcr_status mcr_class_pair_gram(mcr_gram **out, const mcr_class_job *j, int64_t problem, int worker);
/* Computes what pairs share if all are small enough and the budget allows; else j->pairs is
 * NULL. */
mcr_status mcr_class_share(mcr_class_job *j);
/* Where the values of a problem's objects are stored: a Gram of them, of which `exact` knows the
 * values in double. NULL: they are not. */
mcr_status mcr_class_stored(mcr_gram **out, const mcr_class_job *j, int64_t problem, int worker,
                            mcr_rows rows, mcr_gram *exact);
/* One-vs-rest: whether one K is to be shared by all problems; computes it. */
bool mcr_class_shares_all(const mcr_class_job *j);
/* Where time is over or training is cancelled, no problem will begin: K is not complete then. */
mcr_status mcr_class_share_all(mcr_class_job *j);
/* Bytes that must be left for each problem that is solved at the same time as others, for all to
 * take the way they would take alone. */
double mcr_class_needs(const mcr_class_job *j);
void mcr_class_unshare(mcr_class_job *j); /* frees what was shared */

/* Lists the places of coefficients in the training before, if it had the same problems; reads those
 * of a problem, one for each of its objects. */
mcr_status mcr_class_index_start(mcr_class_job *j);
void mcr_class_read_start(const mcr_class_job *j, int64_t problem, double *coef);

/* A problem, with its curve, out of a checkpoint; and into it, in place of what led to it. */
mcr_status mcr_class_find_result(mcr_class_job *j, int64_t problem, bool *found);
mcr_status mcr_class_keep_result(mcr_class_job *j, int64_t problem);

/* Whether to begin something more, by the user. Problems may be too short to ask for themselves.
 * Called by all workers; one of them asks. */
bool mcr_class_stopped(mcr_class_job *j);
/* Whether the time limit is over. What was not begun then is left out. */
bool mcr_class_is_late(const mcr_class_job *j);

/* The curve of a solved problem's probabilities, from decision values of objects that were held
 * out. Where time is over, training is cancelled or a fold has no solution, they stay as they are:
 * half of the folds would tell the wrong thing. data: the problem's objects. */
mcr_status mcr_class_calibrate(mcr_class_job *j, const mcr_binary *of, const mcr_data *data,
                               int64_t problem);

#endif
