/* borrow.h: data sets over arrays of the caller, without a copy.
 *
 * The functions of data.h copy their arrays. These read the arrays in place, for programs and
 * bindings that hold the data already: NumPy arrays, SciPy matrices, columns of strings. Nothing of
 * the size of the data is allocated; every value is checked once, as in files.
 *
 * A data set is built from several fields, with one call for each:
 *
 *     mcr_builder *b = NULL;
 *     mcr_dense_view x = MCR_INIT(mcr_dense_view);
 *     x.values = rows;
 *     x.type = MCR_FLOAT32;
 *     x.cols = 100;
 *     x.release = free_rows;
 *     x.user = rows;
 *     status = mcr_builder_open(&b, ctx, n);
 *     if (!status)
 *         status = mcr_builder_borrow_dense(b, "x", &x);
 *     if (!status)
 *         status = mcr_builder_number_targets(b, y, MCR_INT32, 1);
 *     if (!status)
 *         status = mcr_builder_finish(&data, b);
 *     else
 *         mcr_builder_close(b);
 *
 * Ownership: the memory must stay valid and unchanged until `release` is called (NULL: nothing is
 * called). It is called exactly once: when the last data set or view that reads the memory is
 * freed, in the thread that frees it, or, if the call fails, before it returns. The only exception
 * is a view whose size is not set: it is refused without a call of `release`. A model keeps a copy
 * of its support vectors and does not use the borrowed memory.
 *
 * Arrays must be aligned for their type. Bad values in the arrays are MCR_BAD_DATA, with row and
 * column in the message; after a failure the builder can only be closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_BORROW_H
#define MERCER_BORROW_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>
#include <mercer/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The type of an array's elements. Integers beyond 2^53 are refused where they become a double. */
typedef enum mcr_number {
    MCR_FLOAT64 = 0, /* double */
    MCR_FLOAT32,     /* float */
    MCR_INT64,
    MCR_INT32,
    MCR_INT16,
    MCR_INT8,
    MCR_UINT64,
    MCR_UINT32,
    MCR_UINT16,
    MCR_UINT8 /* also for bool */
} mcr_number;

/* ---- fields -----------------------------------------------------------------------------------*/

/* Value (i, k) is values[i * row_step + k * col_step]. The steps count values, not bytes, and may
 * be negative. Row-major: row_step is the distance between rows and col_step is 1; column-major:
 * row_step is 1 and col_step is the distance between columns. Both 0: row-major without gaps. */
typedef struct mcr_dense_view {
    size_t size; /* sizeof(mcr_dense_view) */
    const void *values;
    mcr_number type; /* MCR_FLOAT64 or MCR_FLOAT32 */
    int64_t cols;
    int64_t row_step, col_step;
    const char *const *column; /* names of the columns, copied; NULL: none */
    void (*release)(void *user);
    void *user;
} mcr_dense_view;
MCR_API mcr_status mcr_builder_borrow_dense(mcr_builder *builder, const char *name,
                                            const mcr_dense_view *view);
/* The same as values of a precomputed kernel; id as in mcr_builder_precomputed, copied. */
MCR_API mcr_status mcr_builder_borrow_precomputed(mcr_builder *builder, const char *name,
                                                  const mcr_dense_view *view, const int64_t *id);

/* Compressed sparse rows: row i has entries start[i] .. start[i+1]-1; columns from 0, ascending
 * within a row, and fewer than 2^31 even if indices have 64 bits. 32-bit starts, and starts that do
 * not begin with 0, are copied. */
typedef struct mcr_sparse_view {
    size_t size; /* sizeof(mcr_sparse_view) */
    int64_t cols;
    const void *start, *index, *values;
    mcr_number start_type, index_type; /* MCR_INT32 or MCR_INT64 */
    mcr_number type;                   /* MCR_FLOAT64 or MCR_FLOAT32 */
    void (*release)(void *user);
    void *user;
} mcr_sparse_view;
MCR_API mcr_status mcr_builder_borrow_sparse(mcr_builder *builder, const char *name,
                                             const mcr_sparse_view *view);

/* String i is bytes[start[i] .. start[i+1]-1]; any bytes. Starts are copied as above. */
typedef struct mcr_string_view {
    size_t size; /* sizeof(mcr_string_view) */
    const void *start;
    mcr_number start_type; /* MCR_INT32 or MCR_INT64 */
    const char *bytes;
    void (*release)(void *user);
    void *user;
} mcr_string_view;
MCR_API mcr_status mcr_builder_borrow_strings(mcr_builder *builder, const char *name,
                                              const mcr_string_view *view);

/* Graph i has nodes node_start[i] .. node_start[i+1]-1 and edges edge_start[i] ..
 * edge_start[i+1]-1; edge e joins nodes tail[e * edge_step] and head[e * edge_step] of its graph,
 * from 0. An array of pairs has head = tail + 1 and edge_step 2; two rows of one array (edge_index)
 * have edge_step 1. The rules of mcr_builder_graphs hold. Kernels need lists of neighbours, not
 * edges: the graphs are converted, and the memory is released before the call returns. */
typedef struct mcr_graph_view {
    size_t size; /* sizeof(mcr_graph_view) */
    const void *node_start, *edge_start, *tail, *head;
    mcr_number start_type;               /* of both starts: MCR_INT32 or MCR_INT64 */
    mcr_number edge_type;                /* of tail and head: MCR_INT32 or MCR_INT64 */
    int64_t edge_step;                   /* 0: 1 */
    const void *node_label, *edge_label; /* NULL: none */
    mcr_number label_type;               /* of both: any integers that fit in 32 bits */
    void (*release)(void *user);
    void *user;
} mcr_graph_view;
MCR_API mcr_status mcr_builder_borrow_graphs(mcr_builder *builder, const char *name,
                                             const mcr_graph_view *view);

/* ---- columns of a table -----------------------------------------------------------------------*/

/* For programs that hold the columns of a table in memory: the same data set as from a csv file
 * (docs/tables.md), with fields that have roles. mcr_fit fills their missing values, and kernels
 * can select fields by role.
 *
 * Sets the treatment of missing values (NAN among numbers and dates, empty strings) in columns that
 * are added afterwards: one of the rules of `missing` in mcr_read_options, except "drop". Without
 * this call they are refused. */
MCR_API mcr_status mcr_builder_missing(mcr_builder *builder, const char *rule);
/* Adds all columns of numbers, of any type, as the dense field "x". view->column has their names.
 * Copied. */
MCR_API mcr_status mcr_builder_numbers(mcr_builder *builder, const mcr_dense_view *view);
/* Adds a column of dates, as days since 1970. Copied. */
MCR_API mcr_status mcr_builder_dates(mcr_builder *builder, const char *name, const double *days);
/* Adds a column of strings; role: MCR_CATEGORY, MCR_WORDS or MCR_SET. Borrowed. */
MCR_API mcr_status mcr_builder_words_column(mcr_builder *builder, const char *name, mcr_role role,
                                            const mcr_string_view *view);
/* Sets the names and roles of all columns, including those that are not fields (MCR_ID,
 * MCR_IGNORED). A model keeps them, so that files can be read with the same layout
 * (mcr_model_layout). Copied. */
MCR_API mcr_status mcr_builder_columns(mcr_builder *builder, const char *const *name,
                                       const mcr_role *role, int64_t count);
/* The role that a column of a csv file with this name and these values would get; empty strings are
 * missing. whole: 1 if all values are integers, 0 if all are words. */
MCR_API mcr_status mcr_role_guess(mcr_role *out, mcr *ctx, const char *name,
                                  const mcr_string_view *view, int64_t count, int whole);

/* ---- targets and weights, one per object; copied ----------------------------------------------*/

/* Value i is values[i * step]. Numbers are the targets of regression, or classes for a learner that
 * predicts classes. */
MCR_API mcr_status mcr_builder_number_targets(mcr_builder *builder, const void *values,
                                              mcr_number type, int64_t step);
/* Several targets: view->cols numbers for each object, of any type; view->column: their names. */
MCR_API mcr_status mcr_builder_number_table(mcr_builder *builder, const mcr_dense_view *view);
MCR_API mcr_status mcr_builder_number_weights(mcr_builder *builder, const void *values,
                                              mcr_number type, int64_t step);
/* Class names; if all of them are numbers they become numbers, as in files. */
MCR_API mcr_status mcr_builder_string_targets(mcr_builder *builder, const mcr_string_view *view);
/* The same with codes: object i has class name[code[i * step]]; there are `count` names. */
MCR_API mcr_status mcr_builder_coded_targets(mcr_builder *builder, const void *code,
                                             mcr_number type, int64_t step, const char *const *name,
                                             int64_t count);

#ifdef __cplusplus
}
#endif
#endif
