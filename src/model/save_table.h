/* save_table.h (internal): sections of models trained on tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_SAVE_TABLE_H
#define MCR_MODEL_SAVE_TABLE_H

#include "model/container.h"
#include "model/model.h"

/* Each writes nothing if the model has no such section: */
void mcr_put_roles(mcr_text *t, const mcr_model *model); /* ROLE */
void mcr_put_join(mcr_text *t, const mcr_model *model);  /* JOIN: a table was joined */
void mcr_put_fill(mcr_text *t, const mcr_model *model);  /* FILL */
/* The layout, or the scaling, is read before. */
mcr_status mcr_get_roles(mcr_model *model, mcr_reader *r);
mcr_status mcr_get_join(mcr_model *model, mcr_reader *r);
mcr_status mcr_get_fill(mcr_model *model, mcr_reader *r);
/* The roles of the objects' fields follow from those of the layout's columns. */
void mcr_model_set_roles(mcr_model *model);

#endif
