/* prediction.h (internal): a call of mcr_predict and its parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_PREDICTION_H
#define MCR_MODEL_PREDICTION_H

#include "kernel/poly.h"
#include "model/fourier.h"

/* Objects of a worker's item when it goes through their scores: these stay in its cache. */
enum { MCR_PREDICTION_CHUNK = 64 };

/* Errors of float decision values are below this, in units of |coef| * largest K. Single values are
 * off by a few 1e-7 as a rule; they add up like a random walk. */
#define MCR_FLOAT_ERROR 1e-5

typedef struct mcr_prediction {
    mcr *ctx;
    const mcr_model *model;
    const mcr_predictor *predictor; /* NULL: the scores and the rule are all */
    void *state;                    /* the predictor's */
    bool opened;
    mcr_gram *across;      /* of training objects x all new ones, where it is stored; NULL */
    mcr_gram *gram;        /* of the block */
    const mcr_data *basis; /* the model's, or its weight vectors */
    const mcr_segment *segment;
    int64_t segments;
    int64_t block;          /* objects of a block, at most */
    int64_t count;          /* objects of this one */
    double done;            /* share of all objects before it */
    float **rough;          /* coefficients of each segment in float; NULL: of none */
    int64_t ld;             /* of f */
    double *f;              /* outputs of a segment x ld */
    int64_t held;           /* objects that have scores at once */
    double *score;          /* held x outputs */
    double *error;          /* of each output, in units of the largest K */
    double *proba, *couple; /* scratch of each worker */
    int64_t *unsure;
    int64_t *tally; /* scratch of each worker */
    /* of pairs of classes, where votes are all that is wanted */
    struct mcr_pair_votes *votes; /* NULL: not counted without scores */
    double *class;                /* of each object of the block */
    /* of a linear model */
    mcr_data *weights;
    mcr_segment *weight_segment;
    /* of a polynomial one */
    mcr_monomials monomials;
    double *polynomial; /* outputs x monomials.count; NULL: not one */
    mcr_map *map;       /* of one on random Fourier features; NULL: another, or not yet opened */
} mcr_prediction;

/* votes.c: classes by the votes of pairs, in float and without scores.
 *
 * Opens *out for a prediction with w->rough; leaves it NULL where votes are no gain. */
mcr_status mcr_pair_votes_open(struct mcr_pair_votes **out, const mcr_prediction *w);
/* Classes of the gram's columns; unsure: whether float's errors could change the class. `largest`
 * bounds the kernel values. MCR_NUMERIC: values are too large for float. */
mcr_status mcr_pair_votes_count(struct mcr_pair_votes *v, mcr_gram *gram, double largest,
                                double *class, int64_t *unsure);
void mcr_pair_votes_close(struct mcr_pair_votes *v);

/* weights.c: models that are weights. */

/* The weight vectors of a model with a linear kernel on one field; left NULL where they would not
 * be less work than the support vectors. */
mcr_status mcr_prediction_collapse(mcr_prediction *w);
/* The same for a polynomial; where it is not less work, w->polynomial is left NULL. */
mcr_status mcr_prediction_expand(mcr_prediction *w);
/* Scores of a block from w->polynomial. */
mcr_status mcr_prediction_polynomial(mcr_prediction *w, const mcr_data *part);

#endif
