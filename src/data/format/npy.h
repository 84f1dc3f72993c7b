/* npy.h (internal to the readers): NumPy's .npy files, versions 1 to 3.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_NPY_H
#define MCR_DATA_FORMAT_NPY_H

#include "data/data.h"

typedef struct mcr_npy {
    char kind;          /* f float, i and u integers, b bool, S bytes, U text (UTF-32) */
    int64_t bytes;      /* size of an element */
    bool swapped;       /* byte order differs from this machine's */
    bool fortran;       /* column-major */
    int64_t rows, cols; /* a one-dimensional array has one column */
} mcr_npy;

bool mcr_npy_is(const char *bytes, size_t count); /* checks the magic bytes */
/* Reads the header. Refuses more than two dimensions, empty arrays, and kinds that are neither
 * numbers nor text. */
mcr_status mcr_npy_open(mcr_npy *npy, mcr *ctx, mcr_input *in);
/* The remainder of the file as finite numbers, row by row, from mcr_alloc. Memory grows with the
 * bytes read, not with the size that the header claims; a Fortran-ordered matrix needs two copies
 * for a while. */
mcr_status mcr_npy_reals(double **out, const mcr_npy *npy, mcr *ctx, mcr_input *in);
/* The same for values that stay in the file: checks all of them and stores none. *disk is NULL if
 * they cannot stay there (other byte order, type or layout, compressed file); then nothing was
 * read. */
mcr_status mcr_npy_disk(struct mcr_disk **disk, const mcr_npy *npy, mcr *ctx, mcr_input *in);
/* A whole array as the dense field "x", one row per object. */
mcr_status mcr_npy_field(mcr_builder *builder, mcr *ctx, mcr_input *in,
                         const mcr_read_options *options, int64_t *rows);
/* A whole array as the targets of `count` objects. */
mcr_status mcr_npy_targets(mcr_builder *builder, mcr *ctx, mcr_input *in, int64_t count);
/* Reads the file options->target as the targets of `count` objects; nothing if that is NULL or
 * "none". */
mcr_status mcr_npy_target(mcr_builder *builder, mcr *ctx, const mcr_read_options *options,
                          int64_t count);

#endif
