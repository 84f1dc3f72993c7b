/* kernel.h: kernels as expressions.
 *
 * An expression such as `2*poly(degree=3, c=1) + rbf(x, gamma=0.5)` has leaves, which work on one
 * field of the objects, and combinators, which work on other kernels. A kernel is immutable and
 * reference-counted. It describes what to compute; a Gram (gram.h) binds it to data and computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_KERNEL_H
#define MERCER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>
#include <mercer/data.h>
#include <mercer/params.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_kernel mcr_kernel; /* may be shared between threads */

/* Parses an expression; docs/kernels.md has the grammar. A syntax error is MCR_BAD_CALL, and
 * mcr_message_mark() then returns the expression and the place of the error. */
MCR_API mcr_status mcr_kernel_parse(mcr_kernel **out, mcr *ctx, const char *expression);
MCR_API mcr_kernel *mcr_kernel_retain(const mcr_kernel *kernel);
MCR_API void mcr_kernel_free(mcr_kernel *kernel); /* NULL allowed */
/* The canonical form, which parses back to the same kernel. Borrowed. */
MCR_API const char *mcr_kernel_text(const mcr_kernel *kernel);

/* Where the last error in an expression was: the text (long ones are shortened, with dots), and the
 * column (from 0) and length of the faulty part in bytes. NULL if the last failure was not in an
 * expression. */
MCR_API const char *mcr_message_mark(const mcr *ctx, int64_t *column, int64_t *length);

/* A description of each kernel that exists. Borrowed; kernels registered in this context come
 * last. */
typedef struct mcr_kernel_info {
    size_t size; /* sizeof(mcr_kernel_info) */
    const char *name, *summary;
    const mcr_param *params; /* ends with a NULL name */
    int kinds;               /* bits of mcr_kind for a leaf; 0: a combinator */
    int has_features;        /* a finite explicit feature map exists */
    int indefinite;          /* not a kernel in Mercer's sense for all parameters */
} mcr_kernel_info;
MCR_API int64_t mcr_kernel_count(const mcr *ctx);
MCR_API mcr_status mcr_kernel_describe(const mcr *ctx, int64_t number, mcr_kernel_info *info);

#ifdef __cplusplus
}
#endif
#endif
