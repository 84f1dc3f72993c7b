/* arrow.h: tables in Arrow's C data interface as data sets.
 *
 * pyarrow, pandas, polars, DuckDB and others pass tables as a pair of structs, declared here as in
 * Arrow's specification. Columns become fields:
 *
 *   numbers, booleans, dates, times   together the dense field "x", whose columns have their names;
 *                                     dates in days and times in seconds since 1970
 *   utf8, binary (also large)         one field of strings each
 *   dictionaries                      like a column of their values
 *   fixed_size_list of float, double  one field of dense vectors each
 *
 * Strings and lists are read in place. Columns of numbers are read in place if all of them are
 * float, or all double, and lie at equal distances in memory, as the columns of a matrix do; else
 * they are copied. Nulls are refused, as missing values in files are; the message has row and
 * column.
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

/* Makes a data set from the record batches of one table (count >= 1): struct arrays of type
 * `schema`, which is borrowed during the call. The library takes ownership of the batches, also on
 * failure: their `release` is NULL afterwards, and the original release function is called when the
 * last data set over the memory is freed, in the thread that frees it. Several batches are copied
 * into one. options may be NULL. MCR_BAD_DATA for values that cannot be used, MCR_BAD_CALL for a
 * column type that is not listed above. */
MCR_API mcr_status mcr_data_arrow(mcr_data **out, mcr *ctx, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, int64_t count,
                                  const mcr_arrow_options *options);

#ifdef __cplusplus
}
#endif
#endif
