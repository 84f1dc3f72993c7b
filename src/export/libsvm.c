/* libsvm.c: a model in the format of LIBSVM's svm-train (model/libsvm.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "export/export.h"

static mcr_status write(const mcr_exporting *e)
{
    return mcr_model_save_libsvm(e->ctx, e->model, e->path);
}

const mcr_export_type mcr_export_libsvm = {
    .name = "libsvm",
    .summary = "a model file as written by svm-train",
    .write = write,
};
