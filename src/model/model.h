/* model.h (internal): a model's insides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_MODEL_H
#define MCR_MODEL_MODEL_H

#include <mercer/model.h>

#include "learn/learner.h"

struct mcr_model {
    mcr *ctx;
    mcr_kernel *kernel;
    const mcr_learner_type *type; /* NULL: a learner that this Mercer does not have */
    mcr_data *basis;              /* the objects that predictions are made from */
    mcr_fitted *fitted;
    int64_t classes;
    char **class_name;
    char **output_name;  /* may be there before the model is complete: names of several targets */
    double *class_value; /* class names as numbers; NAN where one is none */
    mcr_report_fit report;
    char *learner, *options, *certificate, *version; /* owned texts of the report */
};

/* A model with everything but basis and fitted still to be set; takes nothing over. */
mcr_status mcr_model_new(mcr_model **out, mcr *ctx, const mcr_kernel *kernel, const char *learner,
                         const char *options);
mcr_status mcr_model_set_classes(mcr_model *model, const char *const *name, int64_t count);
/* Of a model of several targets, after its fitted is set: one name an output. */
mcr_status mcr_model_name_targets(mcr_model *model, const char *const *name);
/* Numbers that it predicts of an object, if it predicts numbers: one output each. */
int64_t mcr_model_targets(const mcr_model *model);
/* Names of the outputs, numbers of the report, after basis, classes and fitted are set. */
mcr_status mcr_model_complete(mcr_model *model);

#endif
