/* foreign.h (internal): support vector machines from the files of other programs: LIBSVM's, and
 * ONNX files with SVMClassifier or SVMRegressor of ai.onnx.ml, optionally preceded by scaling.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_FOREIGN_H
#define MCR_MODEL_FOREIGN_H

#include "data/scaling.h"
#include "model/model.h"

/* The property of an ONNX model in which Mercer's own files store the learner. */
#define MCR_ONNX_LEARNER "mercer.learner"

bool mcr_onnx_recognise(const void *bytes, size_t count);
mcr_status mcr_onnx_read(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                         size_t count);
bool mcr_libsvm_recognise(const void *bytes, size_t count); /* starts with "svm_type " */
mcr_status mcr_libsvm_read(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                           size_t count);
/* Whether the coefficients have LIBSVM's layout: one segment, or one per class with the outputs of
 * its pairs in order. */
bool mcr_segments_are_libsvm(const mcr_fitted *fitted);

/* ---- for the readers --------------------------------------------------------------------------*/

enum { MCR_FOREIGN_ONE_CLASS = 2, MCR_FOREIGN_SVR = 3, MCR_FOREIGN_LEARNERS = 5 };
extern const char
    *const mcr_foreign_learner[MCR_FOREIGN_LEARNERS]; /* svm, nu-svm, one-class, svr, nu-svr */
enum {
    MCR_FOREIGN_LINEAR,
    MCR_FOREIGN_POLY,
    MCR_FOREIGN_RBF,
    MCR_FOREIGN_SIGMOID,
    MCR_FOREIGN_PRECOMPUTED,
    MCR_FOREIGN_KERNELS
};

typedef struct mcr_foreign {
    int type, kernel; /* -1: not given */
    double degree, gamma, coef0;
    int64_t classes, support;
    double *rho;   /* subtracted, as in LIBSVM */
    double *label; /* labels of the classes, if `name` is NULL */
    char **name;
    double *of_class; /* support vectors of each class */
    int64_t rhos, labels, names, of_classes;
    const char *remark;   /* remark on the model, static; NULL: none */
    mcr_scaling *scaling; /* NULL: none */
} mcr_foreign;

/* Support vectors, ordered by class. */
typedef struct mcr_foreign_vectors {
    int64_t rows, coefs; /* coefs: coefficients per row */
    double *coef;        /* rows x coefs */
    double *dense;       /* rows x cols; NULL: sparse */
    int64_t *start, entries, index_capacity, value_capacity;
    int32_t *index;
    double *value;
    int64_t cols;
} mcr_foreign_vectors;

void mcr_foreign_free(mcr *ctx, mcr_foreign *h, mcr_foreign_vectors *v);
/* MCR_BAD_CALL: its parameters are not supported. */
mcr_status mcr_foreign_kernel(mcr_kernel **out, mcr *ctx, const mcr_foreign *h);
/* Builds a model; the numbers must be consistent. Takes no ownership. */
mcr_status mcr_foreign_model(mcr_model **out, mcr *ctx, const mcr_kernel *kernel,
                             const mcr_foreign *h, const mcr_foreign_vectors *v);

#endif
