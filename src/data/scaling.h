/* scaling.h (internal): what is done to objects before the kernel sees them, learnt from some
 * objects, applied to others: missing values filled (fill.c), vectors in comparable units
 * (scaling.c), categories known (fill.c).
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
    bool dense;             /* what comes out */
    int64_t cols;           /* of what comes out */
    double *shift, *factor; /* cols each; shift is 0 for sparse vectors */
    /* Where values may be missing: what stands for them in each column that comes in, and the
     * columns for which another one, behind those, says where (1) they were. */
    double *fill; /* NULL: none may be missing, and `cols` columns come in */
    int64_t in;
    int64_t *flag, flags;
    char **column; /* names of those that come in; NULL: none */
} mcr_scaled_field;

/* The values of a category in training. */
typedef struct mcr_known {
    char *name;
    mcr_words words;
    int64_t mode; /* the value that missing ones get; -1: they are a category of their own */
} mcr_known;

typedef struct mcr_scaling {
    mcr *ctx;
    int64_t fields;
    mcr_scaled_field *field; /* those that hold vectors */
    int64_t knowns, known_capacity;
    mcr_known *known; /* categories */
} mcr_scaling;

/* Whether something is to be learnt: a scale is asked for, or values are missing, or there are
 * categories. */
bool mcr_scaling_needed(const mcr_data *data, mcr_scale kind);

/* Whether objects become others by it, so that kernel values depend on what it was learnt from. */
static inline bool mcr_scaling_changes(const mcr_data *data, mcr_scale kind)
{
    return kind != MCR_SCALE_NONE || mcr_data_has_holes(data);
}

/* Whether vectors have so few entries that scaling leaves them sparse. */
bool mcr_stays_sparse(const mcr_field *field);
/* From the objects of data. MCR_BAD_CALL if a scale is asked for and none of its fields holds
 * vectors. */
mcr_status mcr_scaling_learn(mcr_scaling **out, const mcr_data *data, mcr_scale kind);
/* The same data with scaled vectors; scaling NULL: the data themselves. *out is to be freed. */
mcr_status mcr_scaling_apply(mcr_data **out, const mcr_scaling *scaling, const mcr_data *data);
/* Space for so many fields, of which there are none yet: for a reader of files. */
mcr_status mcr_scaling_open(mcr_scaling **out, mcr *ctx, int64_t fields);
mcr_status mcr_scaling_copy(mcr_scaling **out, const mcr_scaling *from);
void mcr_scaling_free(mcr_scaling *scaling); /* NULL allowed */

/* ---- missing values and categories (fill.c) ---------------------------------------------------*/

/* Sets fill, in, flag and the names of `to` by the objects of a dense field. */
mcr_status mcr_fill_learn(mcr_scaled_field *to, mcr *ctx, const mcr_field *field,
                          mcr_missing missing);
/* The standard deviation of the values of a column that are not missing, whose mean is known. */
double mcr_fill_spread(const mcr_field *field, int64_t column, double mean);
/* All stored rows with their missing values filled, and the columns that say where. */
mcr_status mcr_fill_apply(mcr_store **out, const mcr_store *from, const mcr_scaled_field *by);
mcr_status mcr_known_learn(mcr_scaling *scaling, const mcr_data *data);
mcr_status mcr_known_add(mcr_known **out, mcr_scaling *scaling, const char *name);
/* Missing words become the mode, where there is one. */
mcr_status mcr_known_apply(mcr_data *view, const mcr_scaling *scaling);
/* What new data are compared with: `like` with the columns that come in. */
mcr_status mcr_scaling_like(mcr_data **out, const mcr_scaling *scaling, const mcr_data *like);
/* MCR_BAD_DATA if a number is missing that the scaling did not fill. */
mcr_status mcr_scaling_check(const mcr_data *data);

#endif
