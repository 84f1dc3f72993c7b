/* output.h: files that are written whole or not at all.
 *
 * Whoever reads the name sees the old file or the new one, never a part, also after a crash or a
 * power cut: the bytes go to a file without a name, which is synced and takes the name at the end.
 * Where the file system cannot do that, they go to NAME.tmp-mercer-XXXXXXXX beside it; such files
 * of processes that have died are removed when the same NAME is written again.
 *
 * A file that exists keeps its mode, and its owner where that is possible. One that nobody may
 * write to is refused. A link is followed to the file that it names; a link to nothing is refused.
 * Devices and pipes are written directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_OUTPUT_H
#define MERCER_OUTPUT_H

#include <stddef.h>

#include <mercer/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_output mcr_output; /* one thread at a time */
/* "-" is standard output. */
MCR_API mcr_status mcr_output_open(mcr_output **out, mcr *ctx, const char *path);
/* Buffered. After a failure all further calls fail with the same status. */
MCR_API mcr_status mcr_output_write(mcr_output *output, const void *bytes, size_t count);
/* Closes; on failure the old file is untouched. */
MCR_API mcr_status mcr_output_commit(mcr_output *output);
/* Closes without a trace; NULL allowed. */
MCR_API void mcr_output_abandon(mcr_output *output);
/* The file beside the target, for those who want to remove it when a signal ends the program; NULL:
 * there is none. Borrowed. */
MCR_API const char *mcr_output_temporary(const mcr_output *output);

#ifdef __cplusplus
}
#endif
#endif
