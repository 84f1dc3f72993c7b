/* falkon_impl.h (internal to falkon*.c): the state of a solution, and what its sample does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_FALKON_IMPL_H
#define MCR_SOLVE_FALKON_IMPL_H

#include "base/resume.h"
#include "gram/factor.h"
#include "gram/round.h"
#include "linalg/blas.h"
#include "linalg/system.h"
#include "solve/conjugate.h"
#include "solve/falkon.h"

enum { MCR_FALKON_PROBES = 256 }; /* rows that say how large slopes and curvatures are */

typedef struct mcr_falkon {
    mcr *ctx;
    mcr_gram *gram;
    const mcr_smooth *p;
    int64_t n, width, columns, size; /* size: width x columns */
    int64_t first, all;              /* the first row's number among those of all processes */
    double *w, *f;                   /* n x columns: f = D w */
    double *g, *step;                /* size: the gradient, a Newton step */
    double *df, *dp;                 /* n x columns: D step, and D times a direction */
    mcr_gram *sample;                /* some rows of D */
    int64_t samples;
    int64_t *row;  /* their numbers */
    double *share; /* how many rows each of them stands for */
    double *dense; /* their features, where these are kept; NULL: not */
    size_t taken;
    double *h, *sf, *sg; /* of the sample: weights; samples x columns */
    mcr_system m;        /* the preconditioner */
    bool whole;          /* the sample is all rows */
    bool joint;          /* it has all columns, not one curvature for each of them */
    bool quick;          /* the preconditioner takes the sample's kernel values, not features */
    bool rough;          /* passes of conjugate gradients take floats */
    bool plain;          /* and so may gradients that are large against the error */
    bool blunt;          /* the last one did */
    double square;       /* |w|^2; in double that of the function which a model stores */
    bool polishes;       /* a step is to be exact: what follows is the certificate */
    bool polished;       /* the slopes of the certificate are those at df, not at f */
    double above;        /* of the gap: what is not |g|^2 / (2 mu) */
    double began;
    mcr_falkon_result *r;
    int64_t steps, in_vain; /* of the last step: of conjugate gradients; without much gain */
    double fall;            /* of the gradient's norm in it */
    bool renewed;           /* the preconditioner is that of f = D renewal */
    bool renewed_blunt;     /* by floats */
    double *renewal;        /* size; NULL: no checkpoint is kept */
    char part[MCR_PART_NAME], steps_part[MCR_PART_NAME];
} mcr_falkon;

/* falkon.c: whether to end, by time or the user. If one of several processes does, all do. */
mcr_status mcr_falkon_is_over(mcr_falkon *t, bool *yes);
/* hv = (D'HD + mu) v of all rows or of the sample, with a pass of this work; y: D v, or NULL. */
mcr_status mcr_falkon_hessian(mcr_falkon *t, mcr_gram *gram, mcr_round_work *work, const double *v,
                              double *y, double *hv);

/* A step by conjugate gradients; df: D step, if there is space for it. */
mcr_status mcr_falkon_find_step(mcr_falkon *t, double *norm);

/* falkon_certify.c */

/* Where rounding allows no more steps: a better point of the dual problem. */
mcr_status mcr_falkon_polish(mcr_falkon *t);
/* What rounding leaves of the certificate, in the end. */
mcr_status mcr_falkon_certify(mcr_falkon *t);

/* falkon_sample.c */

/* The curvature of a row's loss at f, as one number for all columns; unit: 2 columns. */
double mcr_falkon_curvature(const mcr_falkon *t, int64_t row, const double *f, double *unit);
/* Some of all rows, whoever has them; *row: its number among the own ones, if it is one of
 * these. */
bool mcr_falkon_probe(const mcr_falkon *t, int64_t i, int64_t *row);
mcr_status mcr_falkon_open_sample(mcr_falkon *t);
/* m = mu + the sample's Hessian at f (samples x columns): all of it, or one curvature for all
 * columns; step: by one of so many rows. */
mcr_status mcr_falkon_factorise(mcr_falkon *t, const double *f, int64_t step);
mcr_status mcr_falkon_precondition(void *self, const double *r, double *z);
/* Newton's method on the sample's own problem: the start, and the preconditioner there. */
mcr_status mcr_falkon_solve_sample(mcr_falkon *t);

#endif
