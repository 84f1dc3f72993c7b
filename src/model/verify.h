/* verify.h (internal): recomputing a certificate from a model and its training data.
 *
 * Nothing here is shared with the solvers. What a model file holds (coefficients, offsets, options,
 * numbers of its own) and the training data are all there is; kernel values are computed in double,
 * sums are compensated, and every result has a bound on its error.
 *
 * The error of a kernel value is a unit times sqrt(K(x,x) K(z,z)): the worst case, where that is
 * known of the kernel (mcr_gram_error). Else it is measured: float and double values of the same
 * formula differ by float's rounding errors, and double's are 2^29 times smaller; a factor of 16 is
 * added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_VERIFY_H
#define MCR_MODEL_VERIFY_H

#include "base/sum.h"
#include "model/model.h"

/* A number and a bound on its error. */
typedef struct mcr_sure {
    double value, error;
} mcr_sure;

/* A sum whose rounding errors are collected. */
typedef struct mcr_exact_sum {
    double sum, rest, size; /* size: of |terms| */
} mcr_exact_sum;

static inline void mcr_exact_add(mcr_exact_sum *s, double term)
{
    mcr_add_exactly(&s->sum, &s->rest, term);
    s->size += term < 0 ? -term : term;
}

static inline double mcr_exact_total(const mcr_exact_sum *s)
{
    return s->sum + s->rest;
}

typedef struct mcr_verify {
    mcr *ctx;
    const mcr_model *model;
    const mcr_fitted *fitted;
    const mcr_verify_given *given; /* what a file of another program does not hold; NULL: nothing */
    mcr_options *options;          /* of the training; NULL: another program did it */
    mcr_data *data;           /* as the learner saw it: scaled, without what was held out, merged */
    int64_t n;                /* objects of it */
    int64_t *where;           /* of each training object: its number in data */
    int64_t objects;          /* training objects */
    int64_t *basis;           /* of each basis object of the model: its number in data */
    int32_t *class_of;        /* by the model's classes; NULL: it has none */
    double *target;           /* first target; NULL: there is none */
    double *weight;           /* of the objects, times that of their class */
    double *own;              /* of the objects alone */
    bool values;              /* the data are kernel values themselves */
    mcr_gram *gram;           /* data x data */
    const mcr_kernel *kernel; /* its kernel */
    double *diagonal;         /* K(x,x) */
    double *length;           /* sqrt of it, or what bounds |K| */
    double unit;              /* error of a kernel value, in units of the lengths */
    mcr_verification *out;
    char open[sizeof((mcr_verification *)0)->fault]; /* what is undecided; "": nothing */
} mcr_verify;

/* Finds the model's own objects among those of the data. */
mcr_status mcr_verify_place_basis(mcr_verify *v);
/* The message that the data are not those of the training, and why. */
mcr_status mcr_verify_other_data(const mcr_verify *v, const char *what);

/* An option of the training by its name; NAN: there is no such number. */
double mcr_verify_option(const mcr_verify *v, const char *name);
/* The same of a flag or a choice. */
int mcr_verify_choice(const mcr_verify *v, const char *name);

/* The coefficients of output o, of all objects of the data (n values). */
void mcr_verify_coefficients(const mcr_verify *v, int64_t o, double *coef);
/* f = K c for `cols` vectors c, one after the other, n values each; error: bounds, likewise.
 * second: with the model's second kernel. */
mcr_status mcr_verify_multiply(mcr_verify *v, const double *c, int64_t cols, double *f,
                               double *error);
/* The kernel values between other objects of the same data; the caller restores gram and
 * lengths. */
mcr_status mcr_verify_bind(mcr_verify *v, const mcr_kernel *kernel);

/* sum of a_i b_i, where b_i is known up to error_i (NULL: exactly). */
mcr_sure mcr_sure_dot(const double *a, const double *b, const double *error, int64_t n);

/* What output o should be for an object: two classes are one output, numbers are what they are. */
double mcr_verify_goal(const mcr_verify *v, int64_t o, int64_t i);
/* Adds the loss of logistic regression at f (outputs x n), which is known up to `error`; slope: its
 * derivatives, slip: their errors. Returns the error of the sum. */
double mcr_verify_logistic(const mcr_verify *v, const double *f, const double *error, double *slope,
                           double *slip, mcr_exact_sum *losses);

/* Compares what the model says with what was found. */
void mcr_verify_value(mcr_verify *v, mcr_sure found); /* of the certificate */
void mcr_verify_primal(mcr_verify *v, mcr_sure found);
void mcr_verify_dual(mcr_verify *v, mcr_sure found);
void mcr_verify_gap(mcr_verify *v, mcr_sure found);
void mcr_verify_objective(mcr_verify *v, mcr_sure found);
/* Something else is wrong; the first such message is kept. */
void mcr_verify_fault(mcr_verify *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One for each kind of certificate. */
mcr_status mcr_verify_machines(mcr_verify *v); /* svm, nu-svm, l1-svm, one-class, svr, nu-svr */
mcr_status mcr_verify_losses(mcr_verify *v);   /* logistic, erm */
mcr_status mcr_verify_pegasos(mcr_verify *v);
mcr_status mcr_verify_perceptron(mcr_verify *v);
mcr_status mcr_verify_ridge(mcr_verify *v);
mcr_status mcr_verify_restricted(mcr_verify *v); /* ridge, logistic on the span of landmarks */
mcr_status mcr_verify_gp(mcr_verify *v);
mcr_status mcr_verify_sparse(mcr_verify *v); /* gp on landmarks */
mcr_status mcr_verify_pca(mcr_verify *v);
mcr_status mcr_verify_fisher(mcr_verify *v);
mcr_status mcr_verify_cca(mcr_verify *v);
mcr_status mcr_verify_kmeans(mcr_verify *v);
mcr_status mcr_verify_knn(mcr_verify *v);

#endif
