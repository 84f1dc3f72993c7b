/* width.h: models whose sparse support vectors have far more features than entries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_WIDTH_H
#define MCR_MODEL_WIDTH_H

#include "model/model.h"

/* Refuses to create dense vectors for such a model, which would be out of all proportion to its
 * size; readers of data files have the same check. */
mcr_status mcr_model_check_width(mcr *ctx, const mcr_model *model);

#endif
