/* output.h: atomic writing of files.
 *
 * A reader sees the old file or the complete new one, never a part of it, even after a crash or a
 * power failure: the bytes are written to an unnamed file, which is synced and linked to its name
 * at the end. If the file system does not support that, they are written to
 * NAME.tmp-mercer-XXXXXXXX in the same folder; such files of processes that have died are removed
 * when the same NAME is written again.
 *
 * An existing file keeps its mode and, where possible, its owner. A read-only file is not replaced:
 * the call fails. A symbolic link is followed; a dangling link is refused. Devices and pipes are
 * written directly.
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
/* Starts to write to the disk what is there so far, and does not wait: a commit soon after takes
 * less time. */
MCR_API mcr_status mcr_output_start_sync(mcr_output *output);
/* Closes; on failure the old file is untouched. */
MCR_API mcr_status mcr_output_commit(mcr_output *output);
/* Closes and discards everything; NULL allowed. */
MCR_API void mcr_output_abandon(mcr_output *output);
/* The path of the temporary file, for programs that remove it when a signal ends them; NULL: there
 * is none. Borrowed. */
MCR_API const char *mcr_output_temporary(const mcr_output *output);

#ifdef __cplusplus
}
#endif
#endif
