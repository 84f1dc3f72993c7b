/* width.h: models whose sparse support vectors name far more features than they have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_WIDTH_H
#define MCR_MODEL_WIDTH_H

#include "model/model.h"

/* Refuses to make dense vectors for such a model, which would be out of all proportion to it, like
 * those of a file when it is read. */
mcr_status mcr_model_check_width(mcr *ctx, const mcr_model *model);

#endif
