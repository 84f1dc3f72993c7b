/* libsvm.h (internal): model files of LIBSVM, read and written as they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_LIBSVM_H
#define MCR_MODEL_LIBSVM_H

#include <stdbool.h>

#include <mercer/model.h>

bool mcr_libsvm_recognise(const void *bytes, size_t count); /* begins with "svm_type " */
mcr_status mcr_libsvm_read(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                           size_t count);

#endif
