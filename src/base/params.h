/* params.h (internal): setting and printing the struct of values that a parameter table describes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_PARAMS_H
#define MCR_BASE_PARAMS_H

#include <stdbool.h>

#include <mercer/params.h>

#include "base/stream.h"

/* Sets all values to their defaults. `values` is a struct of the table's owner. */
mcr_status mcr_params_init(mcr *ctx, const mcr_param *table, void *values);
void mcr_params_free(mcr *ctx, const mcr_param *table, void *values); /* frees owned texts and
                                                                       * vectors */
mcr_status mcr_params_copy(mcr *ctx, const mcr_param *table, void *to, const void *from);
const mcr_param *mcr_params_find(const mcr_param *table, const char *name, size_t length);
/* Sets one value from text; checks type, limits and choices. The message starts with `owner`
 * ("rbf", "svm"), names the parameter, the value and the allowed values, and so says how to fix
 * it. */
mcr_status mcr_params_set(mcr *ctx, const char *owner, const mcr_param *p, void *values,
                          const char *text, size_t length);
bool mcr_params_given(const mcr_param *p, const void *values);       /* not "not given" */
bool mcr_params_is_standard(const mcr_param *p, const void *values); /* equals its default */
void mcr_params_print(const mcr_param *p, const void *values,
                      mcr_text *to); /* value only, reads back */

/* "5", or a range as in tuning: "1e-6:1e3:log20" (20 values with equal ratios, both ends included),
 * "0:1:5" (5 with equal distances), "2:4" (in steps of 1). out->values is the caller's; the message
 * names owner and parameter as mcr_params_set does. */
mcr_status mcr_range_parse(mcr_reals *out, mcr *ctx, const char *owner, const char *name,
                           const char *text);

#endif
