/* data.h (internal): how data sets are stored.
 *
 * Storage (mcr_store) is immutable and counted; a data set is a list of fields over stores plus a
 * row map. Row i of a field is stored row mcr_field_at(field, i). Kernels read fields through this
 * header; learners see only targets and weights.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_DATA_H
#define MCR_DATA_DATA_H

#include <mercer/data.h>

#include "base/context.h"

/* One field's values for all stored objects. Only the members of its kind are set. */
typedef struct mcr_store {
    mcr *ctx;
    int64_t owners; /* reference count (atomic) */
    char *name;
    mcr_kind kind;
    int64_t count; /* stored objects */
    int64_t cols;  /* dense, sparse: features; precomputed: reference objects */
    double *dense; /* dense, precomputed: count x cols, row-major without gaps */
    int64_t *id;   /* precomputed: number among the reference objects, -1: none */
    /* sparse: row i is entries start[i] .. start[i+1]-1; strings: bytes start[i] .. ; graphs: nodes
     * start[i] .. start[i+1]-1 of all nodes */
    int64_t *start;
    int32_t *index; /* sparse: column, rising in each row */
    double *value;  /* sparse */
    char *bytes;    /* strings */
    /* graphs: adjacency of node v (global number): neighbours adjacent[link[v] .. link[v+1]-1], as
     * global node numbers, rising; every edge stands at both ends, a self-loop once. */
    int64_t *link;
    int32_t *adjacent;   /* local node number within its graph */
    int32_t *node_label; /* a global node's label, NULL: none */
    int32_t *link_label; /* beside adjacent, NULL: none */
    char **label_name;   /* graphs: names of node labels where they were words; NULL: numbers */
    int64_t label_names;
} mcr_store;

typedef struct mcr_field {
    const mcr_store *store;
    const int64_t *rows; /* row map, NULL: identity from `first` */
    int64_t first, count;
} mcr_field;

static inline int64_t mcr_field_at(const mcr_field *f, int64_t i)
{
    return f->rows ? f->rows[i] : f->first + i;
}

typedef struct mcr_classes { /* shared by views */
    int64_t owners, count;
    char **name;
} mcr_classes;

struct mcr_data {
    mcr *ctx;
    int64_t owners; /* atomic */
    int64_t count;
    int64_t fields;
    mcr_store **store; /* one a field, counted */
    int64_t *rows;     /* row map shared by all fields, owned; NULL: identity */
    mcr_targets target_kind;
    double *target; /* owned, one an object of this view; NULL: none */
    double *weight;
    int32_t *class_of; /* NULL when no targets */
    mcr_classes *classes;
};

/* Field `i` of the data set as kernels see it. */
mcr_field mcr_data_field(const mcr_data *data, int64_t i);
/* Number of the field called name (length bytes), -1: none. */
int64_t mcr_data_find(const mcr_data *data, const char *name, size_t length);

/* ---- for readers: filling a table that grows ------------------------------------------------ */

/* What a reader delivers. Arrays are mcr_alloc'ed and handed over to mcr_table_finish, which checks
 * all invariants (finite values, rising indices, edges in range), builds adjacency and classes, and
 * frees everything on failure. A reader is `mcr_status mcr_format_NAME(mcr_table *t, mcr_input *in,
 * const mcr_read_options *o)`; registered by one line in src/data/format/formats.def. */

#endif
