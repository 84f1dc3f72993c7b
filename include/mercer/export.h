/* export.h: models for other programs: C, ONNX, JSON, LIBSVM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_EXPORT_H
#define MERCER_EXPORT_H

#include <mercer/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A description of each target. Borrowed. */
typedef struct mcr_export_info {
    size_t size; /* sizeof(mcr_export_info) */
    const char *name, *summary;
    /* The number types that it supports, "float|double|int8"; the first is the default. NULL: there
     * is no choice. */
    const char *numbers;
} mcr_export_info;
MCR_API int64_t mcr_export_count(void);
MCR_API mcr_status mcr_export_describe(int64_t number, mcr_export_info *out);

/* Zero in a field means the default. */
typedef struct mcr_export_options {
    size_t size;         /* sizeof(mcr_export_options) */
    const char *name;    /* C: the prefix of all names; default "model" */
    const char *numbers; /* one of the number types of the target */
} mcr_export_options;

/* Properties of the exported model. */
typedef struct mcr_export_report {
    size_t size;    /* sizeof(mcr_export_report), set by the caller */
    int64_t inputs; /* numbers in the input vector */
    int64_t support;
    /* int8: every score of an object x differs from the model's by at most error * sqrt(K(x,x)); 0:
     * the support vectors are not quantised. */
    double error;
    double self;     /* K(x,x), if it is the same for all objects; else NAN */
    double largest;  /* the largest K(x,x) among the support vectors; NAN: not known */
    char also[1024]; /* a second file that was written; "": none */
} mcr_export_report;

/* Writes the model for the target `to`. options and report may be NULL. MCR_BAD_CALL if the target
 * cannot express the model: the message says why, and what is possible. C: for a path that ends
 * with ".c", a header is written next to it. */
MCR_API mcr_status mcr_model_export(mcr *ctx, const mcr_model *model, const char *to,
                                    const mcr_export_options *options, const char *path,
                                    mcr_export_report *report);

#ifdef __cplusplus
}
#endif
#endif
