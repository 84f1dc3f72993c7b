/* table_kernel.h (internal): default kernels for tables of mixed columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_TABLE_KERNEL_H
#define MCR_MODEL_TABLE_KERNEL_H

#include "data/data.h"

/* How the parts of a table are combined. */
typedef enum mcr_table_form {
    MCR_TABLE_SUM,     /* rbf(number) + equal(category): the default */
    MCR_TABLE_PRODUCT, /* rbf(number)*equal(category, rho): both must be similar */
    MCR_TABLE_JOINT,   /* rbf(number, category): categories as 0/1 numbers */
    MCR_TABLE_UNDATED, /* the same without the dates */
    MCR_TABLE_NUMBERS, /* only one kind */
    MCR_TABLE_WORDS,
    MCR_TABLE_FORMS
} mcr_table_form;

/* Whether the data are a table with fields other than one of numbers: then the default kernel has
 * several parts. */
bool mcr_table_is_mixed(const mcr_data *data);
/* The expression for data whose missing values are filled, with gamma by the median heuristic: 1 /
 * the median of the squared distances of the unscaled numbers. below, above, values: a range of
 * gamma with this many values, from `below` times smaller to `above` times larger than the nearest
 * power of 2; values 0: only gamma. The text is empty if the data lack a part of the form. */
mcr_status mcr_table_kernel(mcr_text *to, mcr *ctx, const mcr_data *data, mcr_table_form form,
                            double below, double above, int values);

#endif
