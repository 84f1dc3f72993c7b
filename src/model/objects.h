/* objects.h (internal): a data set as bytes: the support vectors in a model file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_OBJECTS_H
#define MCR_MODEL_OBJECTS_H

#include "data/data.h"
#include "model/container.h"

/* Writes the fields with wanted[f] set, without targets and weights. */
void mcr_put_objects(mcr_text *t, const mcr_data *data, const bool *wanted);
/* The names of their columns; nothing if none have names. */
void mcr_put_columns(mcr_text *t, const mcr_data *data, const bool *wanted);
void mcr_get_columns(mcr_reader *r, mcr_data *data);
/* Reads the objects back; the builder checks every invariant. */
mcr_status mcr_get_objects(mcr_data **out, mcr_reader *r);

#endif
