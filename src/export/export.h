/* export.h (internal): a target of `mercer export`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_EXPORT_EXPORT_H
#define MCR_EXPORT_EXPORT_H

#include <mercer/export.h>

#include "base/stream.h"
#include "model/model.h"

/* One call of mcr_model_export. */
typedef struct mcr_exporting {
    mcr *ctx;
    const mcr_model *model;
    const char *name;    /* a valid C identifier */
    const char *numbers; /* one of the target's number types; NULL if it has none */
    const char *path;
    mcr_export_report *report;
} mcr_exporting;

/* One target: one file, one line EXPORT(name) in exports.def. */
typedef struct mcr_export_type {
    const char *name, *summary;
    const char *numbers; /* as in mcr_export_info */
    mcr_status (*write)(const mcr_exporting *e);
} mcr_export_type;

#define EXPORT(name) extern const mcr_export_type mcr_export_##name;
#include "export/exports.def"
#undef EXPORT

#endif
