/* save_table.h (internal): sections of models trained on tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_SAVE_TABLE_H
#define MCR_MODEL_SAVE_TABLE_H

#include "model/container.h"
#include "model/model.h"

/* Writes ROLE, if the layout has roles. */
void mcr_put_roles(mcr_text *t, const mcr_layout *layout);
/* Writes JOIN, if a table was joined. */
void mcr_put_join(mcr_text *t, const mcr_layout *layout);
/* FILL; false: there is nothing to write. */
bool mcr_put_fill(mcr_text *t, const mcr_scaling *scaling);
/* Reads the roles of layout and objects; call it after reading both. */
mcr_status mcr_get_roles(mcr_model *model, const mcr_container *c);
mcr_status mcr_get_fill(mcr_model *model, const mcr_container *c); /* call it after reading the
                                                                    * scaling */

#endif
