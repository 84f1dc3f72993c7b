/* multiclass.h (internal): classification by two-class problems, and calibrated probabilities.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_MULTICLASS_H
#define MCR_LEARN_MULTICLASS_H

#include "base/resume.h"
#include "learn/form.h"
#include "solve/smo.h"

/* One two-class problem: objects of a Gram, y = +1 or -1, weight >= 0. */
typedef struct mcr_binary {
    mcr *ctx;
    mcr_gram *gram;
    double *w;            /* one weight per feature, to be filled; NULL: the Gram has no factor */
    const mcr_form *form; /* an approximate one, of rows of the data; NULL: it is exact */
    const mcr_data *data;
    mcr_rows object;
    int64_t n;
    int64_t all;  /* objects, in all processes that share the rows */
    double count; /* the same by their weight in the data, without that of their class */
    const double *y, *weight;
    const double *start;         /* coefficients to start from, NULL: none */
    const char *phase;           /* for progress, NULL: none */
    size_t cache_share;          /* each of several problems gets such a part of the cache */
    double deadline;             /* of mcr_now(); 0: none */
    bool rough;                  /* a stored K in float is all that the certificate rests on */
    const double *start_f;       /* of a Gram of floats: K times start; NULL: not known */
    struct mcr_row_pool *pool;   /* memory for rows of K, of the worker; NULL: none */
    struct mcr_row_pool *blocks; /* memory for blocks of a stored K; NULL: none */
    char part[MCR_PART_NAME];    /* of a checkpoint; "": its state is not kept */
    bool fold; /* most of a problem, to calibrate by: options that do not fit it are dropped */
    /* Filled by the solver; coef is n values, zero at first. */
    double *coef, bias;
    double *f; /* n values, from the solver: f(x_i) without bias */
    /* Of a solver whose dual variables are not the coefficients: the point of the dual that bounds
     * the optimum, n values. NULL: not kept. */
    double *price;
    double objective, primal, dual, gap, violation, tolerance;
    double error, violation_error; /* of primal and dual, and of the violation, at most */
    double slope;                  /* of the loss of an object of weight 1, at most; 0: not known */
    int64_t steps;
    int64_t rows; /* of K, computed by the solver in its last call */
    mcr_stop stop;
} mcr_binary;

typedef mcr_status mcr_binary_solver(const void *params, mcr_binary *problem);

typedef struct mcr_multiclass {
    const char *learner;
    const char *class_weight; /* NULL: all 1 */
    bool one_vs_rest, probability;
    double time_limit; /* seconds for all problems together; NAN: none */
    mcr_binary_solver *solve;
    const void *params;
    const char *certificate;
    double (*bytes)(int64_t n);   /* of the budget, for n objects, at most; NULL: as mcr_qp */
    bool share_k;                 /* problems on the same objects may share a K in float */
    const mcr_form_options *form; /* NULL: kernel values only */
    bool prices;                  /* the solver fills in `price`: models keep it */
} mcr_multiclass;

/* The problem's share of time and memory, and its K, for the solver. */
void mcr_binary_limits(const mcr_binary *problem, mcr_qp *qp);
/* What is left of time and steps (most_steps: in all, 0: no limit) for another call of the
 * solver. */
void mcr_binary_go_on(const mcr_binary *problem, int64_t most_steps, mcr_qp *qp);

mcr_status mcr_multiclass_fit(mcr_fitted **out, const mcr_learning *in, const mcr_multiclass *how);
/* The same where in->gram is a fold of floats (mcr_gram_is_float): fills held_out. */
mcr_status mcr_multiclass_fold(mcr_fitted **out, const mcr_learning *in, const mcr_multiclass *how);
/* What the buffer of a fold holds at most, for any split of the data. */
mcr_status mcr_multiclass_fold_bytes(size_t *bytes, mcr *ctx, bool one_vs_rest,
                                     const mcr_data *data);

#endif
