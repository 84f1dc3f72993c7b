/* formats.h (internal): the registry of formats, one for each line of formats.def. In a separate
 * header, so that a new format recompiles only the files that iterate over formats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_FORMATS_H
#define MCR_DATA_FORMAT_FORMATS_H

#include "data/data.h"

#define FORMAT(name) extern const mcr_format mcr_format_##name;
#include "data/format/formats.def"
#undef FORMAT
#define FORMAT(name) +1
enum {
    MCR_FORMATS = 0
#include "data/format/formats.def"
};
#undef FORMAT

const mcr_format *mcr_format_at(int number); /* NULL: past the end */

#endif
