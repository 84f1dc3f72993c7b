/* libsvm.h (internal): reading and writing LIBSVM's model files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_LIBSVM_H
#define MCR_MODEL_LIBSVM_H

#include <stdbool.h>

#include <mercer/model.h>

#include "learn/learner.h"

bool mcr_libsvm_recognise(const void *bytes, size_t count); /* starts with "svm_type " */
mcr_status mcr_libsvm_read(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                           size_t count);

/* Whether the coefficients have LIBSVM's layout: one segment, or one per class with the outputs of
 * its pairs in order. */
bool mcr_segments_are_libsvm(const mcr_fitted *fitted);

#endif
