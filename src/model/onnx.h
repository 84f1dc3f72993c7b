/* onnx.h (internal): support vector machines in ONNX files: the operators SVMClassifier and
 * SVMRegressor of ai.onnx.ml, optionally preceded by scaling.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_ONNX_H
#define MCR_MODEL_ONNX_H

#include <stdbool.h>

#include <mercer/model.h>

/* The property of the model in which Mercer's own files store the learner. */
#define MCR_ONNX_LEARNER "mercer.learner"

bool mcr_onnx_recognise(const void *bytes, size_t count);
mcr_status mcr_onnx_read(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                         size_t count);

#endif
