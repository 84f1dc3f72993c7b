/* fourier.h (internal): predictions of models with random Fourier features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_FOURIER_H
#define MCR_MODEL_FOURIER_H

#include "gram/map.h"
#include "model/model.h"

bool mcr_fourier_is(const mcr_fitted *fitted);
/* The model's features for objects like those of data. */
mcr_status mcr_fourier_open(mcr_map **out, mcr *ctx, const mcr_model *model, const mcr_data *data);
/* Computes score (objects of part x outputs). */
mcr_status mcr_fourier_score(mcr_map *map, const mcr_model *model, const mcr_data *part,
                             double *score);

#endif
