/* onnx_graph.h (internal): writing ONNX graphs (onnx.proto, ir_version 7, opset 13) byte by byte.
 *
 * A tensor is a number; 0 is the input. Operators return a new tensor. After a failure the status
 * is set, and further calls have no useful effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_EXPORT_ONNX_GRAPH_H
#define MCR_EXPORT_ONNX_GRAPH_H

#include "export/portable.h"

typedef int64_t mcr_tensor;
enum { MCR_ONNX_FLOAT = 1, MCR_ONNX_INT64 = 7, MCR_ONNX_STRING = 8, MCR_ONNX_DOUBLE = 11 };

typedef struct mcr_onnx {
    mcr *ctx;
    const mcr_portable *p;
    bool single;                    /* float instead of double */
    mcr_text node, constant, value; /* parts of the graph: nodes, initializers, inputs and
                                     * outputs */
    mcr_text attributes;            /* attributes of the next node */
    mcr_text body;                  /* the message that is being written; empty in between */
    mcr_tensor tensors;             /* number of tensors so far */
    mcr_status status;
} mcr_onnx;

static inline int mcr_onnx_real(const mcr_onnx *g)
{
    return g->single ? MCR_ONNX_FLOAT : MCR_ONNX_DOUBLE;
}
void mcr_onnx_init(mcr_onnx *g, mcr *ctx, const mcr_portable *p, bool single);
void mcr_onnx_free(mcr_onnx *g);
/* The complete model, with a human-readable name. */
mcr_status mcr_onnx_finish(mcr_onnx *g, mcr_text *to, const char *name, const char *about);

/* ---- constants: dims ends with -1 */
mcr_tensor mcr_onnx_reals(mcr_onnx *g, const double *value, const int64_t *dims);
mcr_tensor mcr_onnx_number(mcr_onnx *g, double value);
mcr_tensor mcr_onnx_ints(mcr_onnx *g, const int64_t *value, int64_t count);
mcr_tensor mcr_onnx_strings(mcr_onnx *g, char *const *value, int64_t count);
/* The integers from .. from + count - 1, as a row. */
mcr_tensor mcr_onnx_range(mcr_onnx *g, int64_t from, int64_t count);

/* A matrix of zeros for the caller to fill; NULL: out of memory, and the status is set. */
double *mcr_onnx_zeros(mcr_onnx *g, int64_t rows, int64_t cols);
/* The matrix as a constant; its memory is freed. NULL: tensor 0. */
mcr_tensor mcr_onnx_matrix(mcr_onnx *g, double *value, int64_t rows, int64_t cols);

/* ---- attributes of the next node */
void mcr_onnx_set_int(mcr_onnx *g, const char *name, int64_t value);
void mcr_onnx_set_text(mcr_onnx *g, const char *name, const char *value);
void mcr_onnx_set_floats(mcr_onnx *g, const char *name, const double *value, int64_t count);
void mcr_onnx_set_ints(mcr_onnx *g, const char *name, const int64_t *value, int64_t count);
void mcr_onnx_set_texts(mcr_onnx *g, const char *name, char *const *value, int64_t count);

/* ---- nodes */
mcr_tensor mcr_onnx_1(mcr_onnx *g, const char *op, mcr_tensor a);
mcr_tensor mcr_onnx_2(mcr_onnx *g, const char *op, mcr_tensor a, mcr_tensor b);
/* An operator of ai.onnx.ml with one or two outputs: the second is the returned tensor plus 1. */
mcr_tensor mcr_onnx_ml(mcr_onnx *g, const char *op, mcr_tensor a, int outputs);
/* The `count` largest values along an axis; their indices are the returned tensor plus 1. */
mcr_tensor mcr_onnx_top(mcr_onnx *g, mcr_tensor a, int64_t count);
mcr_tensor mcr_onnx_cast(mcr_onnx *g, mcr_tensor a, int type);
/* 1 if positive, else 0, as numbers. */
mcr_tensor mcr_onnx_positive(mcr_onnx *g, mcr_tensor a);
/* The sum over an axis, which is kept with length 1 or removed. */
mcr_tensor mcr_onnx_sum(mcr_onnx *g, mcr_tensor a, int64_t axis, bool keep);
mcr_tensor mcr_onnx_add_axis(mcr_onnx *g, mcr_tensor a, int64_t axis);
mcr_tensor mcr_onnx_times(mcr_onnx *g, mcr_tensor a, double by);
mcr_tensor mcr_onnx_plus(mcr_onnx *g, mcr_tensor a, double more);
/* The indices of the largest values along an axis. */
mcr_tensor mcr_onnx_largest(mcr_onnx *g, mcr_tensor a, int64_t axis);

/* Makes the tensor the graph's output `name`; cols 0: one number per object. */
void mcr_onnx_output(mcr_onnx *g, const char *name, mcr_tensor a, int type, int64_t cols);

/* onnx_kernel.c: the parts of the input, and kernel values. */
typedef struct mcr_onnx_parts {
    mcr_tensor *part; /* objects x count of the part */
} mcr_onnx_parts;
mcr_status mcr_onnx_open_parts(mcr_onnx *g, mcr_onnx_parts *parts);
/* K of all objects and support vectors; K(x,x) as a column. */
mcr_tensor mcr_onnx_kernel(mcr_onnx *g, const mcr_onnx_parts *parts, const mcr_kernel *kernel);
mcr_tensor mcr_onnx_self(mcr_onnx *g, const mcr_onnx_parts *parts, const mcr_kernel *kernel);
/* One port of the input, scaled. */
mcr_tensor mcr_onnx_port(mcr_onnx *g, int64_t port);

/* onnx_svm.c: with the operators of ai.onnx.ml. */
bool mcr_onnx_is_svm(const mcr_portable *p);
/* Whether their float arithmetic computes the scores to about 1e-5 of the largest. */
mcr_status mcr_onnx_float_is_enough(bool *out, const mcr_portable *p);
void mcr_onnx_svm(mcr_onnx *g);
/* onnx_decide.c: all others. */
mcr_status mcr_onnx_decide(mcr_onnx *g, const mcr_onnx_parts *parts);
bool mcr_onnx_whole_labels(const mcr_model *model);
/* The output `label` of outlier detection: 1 if the score is not negative, else -1. */
void mcr_onnx_sign(mcr_onnx *g, mcr_tensor score);

#endif
