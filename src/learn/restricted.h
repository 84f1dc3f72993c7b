/* restricted.h (internal): learners with a smooth loss on the span of landmarks (--approx falkon).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_RESTRICTED_H
#define MCR_LEARN_RESTRICTED_H

#include "learn/form.h"
#include "solve/newton.h"

/* Whether the learner is to do so: with falkon, and with nystrom, which spans the same space, where
 * rows are spread over several processes. */
bool mcr_form_is_restricted(const mcr_form *form);
/* Solves the problem to problem->gap of the objective, and makes a model of it; its certificate is
 * the relative gap of the restricted problem. Task, rule and classes are the goal's. */
mcr_status mcr_restricted_fit(mcr_fitted **out, const mcr_goal *goal, const mcr_form *form,
                              const mcr_smooth *problem);

#endif
