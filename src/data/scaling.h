/* scaling.h (internal): preprocessing that is learnt from some objects and applied to others:
 * filling missing values (fill.c), scaling vectors (scaling.c), known categories (fill.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_SCALING_H
#define MCR_DATA_SCALING_H

#include "data/data.h"
#include "data/format/collect.h"

typedef enum mcr_scale { MCR_SCALE_NONE, MCR_SCALE_MINMAX, MCR_SCALE_STANDARD } mcr_scale;

typedef struct mcr_scaled_field {
    char *name;
    bool dense;             /* form of the output */
    int64_t cols;           /* output columns */
    double *shift, *factor; /* cols each; shift is 0 for sparse vectors */
    /* If values may be missing: the substitute in each input column, and the columns that have an
     * indicator column (1: missing) appended. */
    double *fill; /* NULL: none may be missing, and there are `cols` input columns */
    int64_t in;
    int64_t *flag, flags;
    char **column; /* names of the input columns; NULL: none */
} mcr_scaled_field;

/* The values of a category in training. */
typedef struct mcr_known {
    char *name;
    mcr_words words;
    int64_t mode; /* the value for missing ones; -1: missing is a category of its own */
} mcr_known;

typedef struct mcr_scaling {
    mcr *ctx;
    int64_t fields;
    mcr_scaled_field *field; /* fields of vectors */
    int64_t knowns, known_capacity;
    mcr_known *known; /* categories */
} mcr_scaling;

/* Whether there is anything to learn: a scale is requested, values are missing, or there are
 * categories. */
bool mcr_scaling_needed(const mcr_data *data, mcr_scale kind);

/* Whether it changes objects, so that kernel values depend on the objects it was learnt from. */
static inline bool mcr_scaling_changes(const mcr_data *data, mcr_scale kind)
{
    return kind != MCR_SCALE_NONE || mcr_data_has_holes(data);
}

/* Whether vectors are so sparse that scaling keeps them sparse. */
bool mcr_stays_sparse(const mcr_field *field);
/* Learns from the objects of data. MCR_BAD_CALL if a scale is requested and no field has
 * vectors. */
mcr_status mcr_scaling_learn(mcr_scaling **out, const mcr_data *data, mcr_scale kind);
/* The same data with scaled vectors; scaling NULL: the data themselves. The caller frees *out. */
mcr_status mcr_scaling_apply(mcr_data **out, const mcr_scaling *scaling, const mcr_data *data);
/* Capacity for this many fields, none set yet: for readers of model files. */
mcr_status mcr_scaling_open(mcr_scaling **out, mcr *ctx, int64_t fields);
mcr_status mcr_scaling_copy(mcr_scaling **out, const mcr_scaling *from);
void mcr_scaling_free(mcr_scaling *scaling); /* NULL allowed */

/* ---- missing values and categories (fill.c) ---------------------------------------------------*/

/* Learns fill, in, flag and the names of `to` from the objects of a dense field. */
mcr_status mcr_fill_learn(mcr_scaled_field *to, mcr *ctx, const mcr_field *field,
                          mcr_missing missing);
/* The standard deviation of a column's values that are not missing, given their mean. */
double mcr_fill_spread(const mcr_field *field, int64_t column, double mean);
/* All stored rows with missing values filled, and the indicator columns. */
mcr_status mcr_fill_apply(mcr_store **out, const mcr_store *from, const mcr_scaled_field *by);
mcr_status mcr_known_learn(mcr_scaling *scaling, const mcr_data *data);
mcr_status mcr_known_add(mcr_known **out, mcr_scaling *scaling, const char *name);
/* Replaces missing words by the mode, if there is one. */
mcr_status mcr_known_apply(mcr_data *view, const mcr_scaling *scaling);
/* The data that new data are compared with: `like` with the input columns. */
mcr_status mcr_scaling_like(mcr_data **out, const mcr_scaling *scaling, const mcr_data *like);
/* MCR_BAD_DATA if a missing number was not filled by the scaling. */
mcr_status mcr_scaling_check(const mcr_data *data);

#endif
