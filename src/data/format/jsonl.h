/* jsonl.h (internal): the fields of a JSON lines file while it is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_JSONL_H
#define MCR_DATA_FORMAT_JSONL_H

#include "base/json.h"
#include "data/data.h"
#include "data/format/collect.h"

typedef enum mcr_jsonl_role {
    MCR_JSONL_TARGET,
    MCR_JSONL_TARGETS, /* one of several, a number */
    MCR_JSONL_WEIGHT,
    MCR_JSONL_NAME,   /* the key by which a table is joined */
    MCR_JSONL_NUMBER, /* a column of a dense field that several keys share */
    MCR_JSONL_DENSE,
    MCR_JSONL_SPARSE,
    MCR_JSONL_STRINGS,
    MCR_JSONL_GRAPHS,
    MCR_JSONL_PRECOMPUTED
} mcr_jsonl_role;

/* One key of the objects, fixed by the first line. */
typedef struct mcr_jsonl_field {
    const mcr_json *json; /* the line */
    mcr_jsonl_role role;
    char *name;
    int64_t seen; /* number of the last object with this key, from 1 */

    /* number: the field whose store it is in, and its column; in that field: the number of columns;
     * one of several targets: its index */
    struct mcr_jsonl_field *home;
    int64_t column, columns;

    mcr_store *store;    /* all except target, weight, strings */
    mcr_strings strings; /* strings */
    mcr_labels *labels;  /* target */
    mcr_join *join;      /* name: the table to join */
    bool words;          /* target: strings */
    double *weight;      /* weight; one of several targets */
    bool named; /* precomputed: has ids; sparse: has "n"; number: the store has the key's name */

    /* graphs */
    int64_t *edge_start;
    int32_t (*edge)[2];
    int32_t *edge_label;
    mcr_words node_words;
    int node_kind, edge_kind; /* 0: unknown so far; see jsonl_value.c */

    int64_t capacity[6]; /* of the arrays above and in the store; see jsonl_value.c */
} mcr_jsonl_field;

/* The kind of a key from its value in the first line: number, dense, sparse, strings, graphs or
 * precomputed. */
mcr_status mcr_jsonl_classify(mcr_jsonl_field *field, const mcr_json_value *value);
/* Creates the store for the role. */
mcr_status mcr_jsonl_open(mcr_jsonl_field *field);
/* Appends the value for object n (from 0). */
mcr_status mcr_jsonl_add(mcr_jsonl_field *field, const mcr_json_value *value, int64_t n);
/* Passes the field to the builder; n objects. */
mcr_status mcr_jsonl_finish(mcr_jsonl_field *field, mcr_builder *builder, int64_t n);
void mcr_jsonl_close(mcr_jsonl_field *field, mcr *ctx);

#endif
