/* prediction.h (internal): the state of a call of mcr_predict.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_PREDICTION_H
#define MCR_MODEL_PREDICTION_H

#include "kernel/poly.h"
#include "model/fourier.h"

/* Objects per item when workers process scores: these stay in the cache. */
enum { MCR_PREDICTION_CHUNK = 64 };

/* A bound of the error of float decision values, in units of |coef| * largest K. Single values
 * usually err by a few 1e-7; the errors add up like a random walk. */
#define MCR_FLOAT_ERROR 1e-5

typedef struct mcr_prediction {
    mcr *ctx;
    const mcr_model *model;
    const mcr_predictor *predictor; /* NULL: scores and the rule suffice */
    void *state;                    /* state of the predictor */
    bool opened;
    mcr_gram *across;      /* training objects x all new ones, if stored; NULL: not stored */
    mcr_gram *gram;        /* of the current block */
    const mcr_data *basis; /* the model's basis, or its weight vectors */
    const mcr_segment *segment;
    int64_t segments;
    int64_t block;          /* maximum size of a block */
    int64_t count;          /* objects of this block */
    double done;            /* fraction of all objects before it */
    float **rough;          /* coefficients of each segment in float; NULL: not used */
    int64_t ld;             /* leading dimension of f */
    double *f;              /* outputs of a segment x ld */
    int64_t held;           /* objects with scores at a time */
    double *score;          /* held x outputs */
    double *error;          /* per output, in units of the largest K */
    double *proba, *couple; /* scratch per worker */
    int64_t *unsure;
    int64_t *tally; /* scratch per worker */
    /* votes of pairs of classes, if only votes are needed */
    struct mcr_pair_votes *votes; /* NULL: scores are computed */
    double *class;                /* per object of the block */
    /* for a linear model */
    mcr_data *weights;
    mcr_segment *weight_segment;
    /* for a polynomial model */
    mcr_monomials monomials;
    double *polynomial; /* outputs x monomials.count; NULL: not one */
    mcr_map *map;       /* for random Fourier features; NULL: not used, or not opened yet */
} mcr_prediction;

/* votes.c: classes by votes of pairs, in float and without scores.
 *
 * Opens *out for a prediction with w->rough; leaves it NULL if that does not pay. */
mcr_status mcr_pair_votes_open(struct mcr_pair_votes **out, const mcr_prediction *w);
/* Classes of the gram's columns; unsure: whether float errors could change the class. `largest`
 * bounds the kernel values. MCR_NUMERIC: values are too large for float. */
mcr_status mcr_pair_votes_count(struct mcr_pair_votes *v, mcr_gram *gram, double largest,
                                double *class, int64_t *unsure);
void mcr_pair_votes_close(struct mcr_pair_votes *v);

/* weights.c: models that reduce to weights. */

/* The weight vectors of a model with a linear kernel on one field; left NULL if they would not be
 * less work than the support vectors. */
mcr_status mcr_prediction_collapse(mcr_prediction *w);
/* The same for a polynomial; w->polynomial is left NULL if it would not be less work. */
mcr_status mcr_prediction_expand(mcr_prediction *w);
/* Scores of a block from w->polynomial. */
mcr_status mcr_prediction_polynomial(mcr_prediction *w, const mcr_data *part);

#endif
