/* arrow_column.h (internal to data): one column of a record batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_ARROW_COLUMN_H
#define MCR_DATA_ARROW_COLUMN_H

#include <mercer/arrow.h>

#include "data/numbers.h"

typedef enum mcr_arrow_kind { MCR_ARROW_NUMBER, MCR_ARROW_TEXT, MCR_ARROW_VECTOR } mcr_arrow_kind;

typedef struct mcr_arrow_column {
    const char *name;
    mcr_arrow_kind kind;
    const struct ArrowArray *array;
    int64_t first;   /* index of the batch's first row in the buffers */
    bool bits;       /* numbers: booleans, packed */
    mcr_number type; /* type of the numbers, of a dictionary's codes, or of a list's values */
    double unit;     /* factor for numbers */
    bool large;      /* text: 64-bit offsets */
    int64_t width;   /* vectors: values per vector */
    /* A dictionary's values; their dictionary is NULL. */
    const struct ArrowArray *words;
    mcr_number words_type;
    bool words_bits;
} mcr_arrow_column;

/* MCR_BAD_CALL for an unsupported type, MCR_BAD_DATA if the array does not match the schema or
 * contains a null among `count` rows starting at `first`. */
mcr_status mcr_arrow_open(mcr_arrow_column *out, mcr *ctx, const struct ArrowSchema *schema,
                          const struct ArrowArray *array, int64_t first, int64_t count);
/* Row i; MCR_BAD_DATA for a code outside the dictionary or a number that a double cannot
 * represent. */
mcr_status mcr_arrow_number(double *out, mcr *ctx, const mcr_arrow_column *c, int64_t i);
mcr_status mcr_arrow_text(const char **bytes, int64_t *length, mcr *ctx, const mcr_arrow_column *c,
                          int64_t i);

#endif
