/* plan.h (internal): the cost of a learner's problem with kernel values and with features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_PLAN_H
#define MCR_LEARN_PLAN_H

#include "learn/form.h"

typedef struct mcr_plan {
    double features, each; /* in all, and not 0 in an object */
    double bytes;          /* that the features and their weights take */
    double seconds[2];     /* of the best solver with kernel values, and with features */
    bool fits[2];          /* whether one of them fits the memory */
} mcr_plan;

/* From some of the objects; the same on every machine and for any number of threads. */
mcr_status mcr_plan_make(mcr_plan *plan, const mcr_learning *in, const mcr_form_work *work);
/* Of weights of the features while problems are solved, a few each. */
double mcr_plan_weight_bytes(double features, double columns);

#endif
