/* table_kernel.h (internal): default kernels for tables of mixed columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_TABLE_KERNEL_H
#define MCR_MODEL_TABLE_KERNEL_H

#include "data/data.h"

/* What the parts of a table are put together to. */
typedef enum mcr_table_form {
    MCR_TABLE_SUM,     /* rbf(number) + equal(category): the default */
    MCR_TABLE_PRODUCT, /* rbf(number)*equal(category, rho): both must be alike */
    MCR_TABLE_JOINT,   /* rbf(number, category): categories as 0/1 numbers */
    MCR_TABLE_UNDATED, /* the same without the dates */
    MCR_TABLE_NUMBERS, /* one kind alone */
    MCR_TABLE_WORDS,
    MCR_TABLE_FORMS
} mcr_table_form;

/* Whether the data are a table with more than one field of numbers: then the default kernel is one
 * of several parts. */
bool mcr_table_is_mixed(const mcr_data *data);
/* The expression for data whose missing values are filled, with gamma by the median heuristic: 1
 * over the median of the squared distances, of numbers as they are. below, above, values: a range
 * of gamma, from so many times smaller to so many times larger than the power of 2 next to that;
 * values 0: gamma alone. The text is empty if the data do not have what the form combines. */
mcr_status mcr_table_kernel(mcr_text *to, mcr *ctx, const mcr_data *data, mcr_table_form form,
                            double below, double above, int values);

#endif
