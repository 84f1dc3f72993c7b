/* arrow.h: tables in Arrow's C data interface as data sets.
 *
 * pyarrow, pandas, polars, DuckDB and others hand over tables as a pair of structs, declared here as
 * Arrow's specification has them. Columns become fields:
 *
 *   numbers, booleans, dates, times   together the dense field "x", under their names; dates in days and
 *                                     times in seconds since 1970
 *   utf8, binary (also large)         a field of strings each
 *   dictionaries                      as their values
 *   fixed_size_list of float, double  a field of dense vectors each
 *
 * Strings and lists are read where they are. So are numbers where all of these columns are float or all
 * double and stand at equal distances, as those of one matrix do; else they are copied. Nulls are refused
 * with row and column, as missing values in files are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_ARROW_H
#define MERCER_ARROW_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>
#include <mercer/data.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

/* Zero in a field means the default. */
typedef struct mcr_arrow_options {
    size_t size;        /* sizeof(mcr_arrow_options) */
    const char *target; /* the column with the targets: numbers, or class words; NULL: none */
    const char *weight; /* the column with the weights; NULL: none */
} mcr_arrow_options;

/* A data set from the record batches of one table (count >= 1): struct arrays of the type `schema`, which
 * stays the caller's. The batches are taken over, also on failure: their `release` is NULL afterwards,
 * and the library calls the one that was there when the last data set over the memory is freed, from
 * the thread that frees it. Several batches are copied into one. options may be NULL. MCR_BAD_DATA for
 * values that cannot be used, MCR_BAD_CALL for a type of column that is not listed above. */
MCR_API mcr_status mcr_data_arrow(mcr_data **out, mcr *ctx, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, int64_t count,
                                  const mcr_arrow_options *options);

#ifdef __cplusplus
}
#endif
#endif
