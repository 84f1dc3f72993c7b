/* portable.h (internal): a model in a form that can be expressed in other languages.
 *
 * The input of a portable model is one vector of numbers (the vector fields that the kernel reads,
 * concatenated, unscaled) and strings. It is scaled and mapped to an inner vector of `parts`: a
 * field itself, its projection (mahalanobis), or its points on circles (periodic). The kernel is
 * rebuilt on the parts, which are named p0, p1, ...; strings are named s0, s1, ... The support
 * vectors are inner vectors; a linear model has its weight vectors instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_EXPORT_PORTABLE_H
#define MCR_EXPORT_PORTABLE_H

#include "export/export.h"

enum { MCR_PORTABLE_NAME = 32 }; /* name of a part or string, as a field */

/* A field that the kernel reads. */
typedef struct mcr_port {
    int64_t number; /* its number in the model's basis */
    mcr_field field;
    bool text;
    int64_t first, cols;             /* vectors: position in the input */
    int64_t string;                  /* strings: index */
    const mcr_scaled_field *scaling; /* NULL: none */
} mcr_port;

typedef enum mcr_part_map { MCR_PART_PLAIN, MCR_PART_PROJECT, MCR_PART_CIRCLE } mcr_part_map;

typedef struct mcr_part {
    int64_t port;
    mcr_part_map map;
    int64_t first, count; /* position in the inner vector */
    double *matrix;       /* project: cols x count */
    double *period;       /* circle: cols; the point of column k is at 2k, 2k + 1 */
} mcr_part;

/* How scores become predictions, if that is more than the rule. */
typedef enum mcr_finish {
    MCR_FINISH_RULE,
    MCR_FINISH_KNN,
    MCR_FINISH_VOTED,
    MCR_FINISH_GP,
    MCR_FINISH_MEANS /* fisher: the nearest class mean */
} mcr_finish;

typedef struct mcr_portable {
    mcr *ctx;
    const mcr_model *model;
    const mcr_fitted *fitted;
    mcr_finish finish;
    mcr_kernel *kernel, *second; /* on the parts; second: for segment 1 (cca), NULL: none */
    int64_t ports, parts, strings;
    mcr_port *port;
    mcr_part *part;
    int64_t part_capacity;
    int64_t inputs, width; /* length of the input and of the inner vector */
    int64_t basis;
    bool weights;   /* the basis consists of weight vectors, one per output */
    double *vector; /* basis x width */
    mcr_data *data; /* the same, as data for the kernel; NULL: basis or parts are 0 */
    int64_t segments;
    mcr_segment *segment;
} mcr_portable;

/* `target` is for messages: "C", "ONNX". collapse: reduce a linear model to its weights.
 * MCR_BAD_CALL if the model cannot be expressed. */
mcr_status mcr_portable_open(mcr_portable **out, mcr *ctx, const mcr_model *model,
                             const char *target, bool collapse);
void mcr_portable_close(mcr_portable *p); /* NULL allowed */
/* The objects as data for the kernel, from other inner vectors (basis x width). */
mcr_status mcr_portable_data(mcr_data **out, const mcr_portable *p, const double *vector);

/* The field of the model's basis that a leaf, or conformal's function, reads. */
mcr_status mcr_portable_field(mcr_field *out, const mcr_portable *p, const mcr_kernel *kernel);
/* portable_kernel.c: rebuilds the kernel on the parts, which it adds. */
mcr_status mcr_portable_rebuild(mcr_kernel **out, mcr_portable *p, const mcr_kernel *kernel);

/* The part that a rebuilt leaf reads, or the string. */
const mcr_part *mcr_portable_part(const mcr_portable *p, const char *field);
int64_t mcr_portable_string(const char *field);
/* Whether a leaf weights its features by a list of numbers; the weights, one per feature. */
bool mcr_portable_is_listed(const mcr_kernel *leaf);
void mcr_portable_weights(double *to, int64_t count, const mcr_kernel *leaf);
/* The numbers per support vector for cosine, normalize and conformal: 1 / its norm in feature
 * space, or the value of the function. `data` and `vector` are the support vectors. */
mcr_status mcr_portable_own(double *to, const mcr_portable *p, const mcr_kernel *node,
                            const mcr_data *data, const double *vector);
/* conformal(f=...): the column of the part, from 0; -1: its norm. */
const mcr_part *mcr_portable_factor(const mcr_portable *p, const mcr_kernel *conformal,
                                    int64_t *column);
/* The length of the longest support string with this index. */
int64_t mcr_portable_longest(const mcr_portable *p, int64_t string);
const mcr_port *mcr_portable_text(const mcr_portable *p, int64_t string);

/* Whether the class is the most probable one rather than determined by the scores. */
bool mcr_portable_by_probability(const mcr_portable *p);

/* gp (posterior.c): the rows of L^-1 with L L' = K + D, or for output o of a classifier I + W^1/2 K
 * W^1/2 times W^1/2 from the right, so that the variance of the latent value is K(x,x) - |A k|^2: a
 * lower triangle, row by row. The caller frees *out. */
mcr_status mcr_portable_posterior(double **out, const mcr_portable *p, int64_t o);

/* int8 (quantise.c): inner vectors as middle + step * q, per column. */
typedef struct mcr_quantised {
    signed char *q; /* basis x width */
    double *middle, *step;
} mcr_quantised;
/* Also sets error, self and largest of the report. */
mcr_status mcr_quantised_open(mcr_quantised *out, const mcr_portable *p, mcr_export_report *report);
void mcr_quantised_close(mcr *ctx, mcr_quantised *quantised);

/* K(x,x) if it is the same for all objects; else NAN. */
double mcr_portable_self(const mcr_kernel *kernel);

#endif
