/* limits.h (internal): accounting of memory, and limits on the memory and work that a file may
 * cause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_LIMITS_H
#define MCR_BASE_LIMITS_H

#include "base/context.h"

/* Accounts for a block of this many bytes; false, with a message, if it would exceed a limit. Any
 * thread. */
bool mcr_memory_admit(mcr *ctx, size_t bytes);
void mcr_memory_release(mcr *ctx, size_t bytes);

/* Between begin and end a file is read, by one thread. Pairs may be nested; then only the outer one
 * counts. name: for messages, borrowed until the end. bytes: how many bytes of the file are known
 * to exist; further ones are added by mcr_reading_bytes. */
void mcr_reading_begin(mcr *ctx, const char *name, size_t bytes);
void mcr_reading_bytes(mcr *ctx, size_t bytes); /* no effect outside begin and end */
void mcr_reading_end(mcr *ctx);
/* Whether the file may cause an allocation of this many bytes: for memory that is taken later. */
bool mcr_reading_allows(const mcr *ctx, size_t bytes);
/* How many bytes of memory a file of this size may cause. */
size_t mcr_reading_most(const mcr *ctx, size_t bytes);
/* MCR_BAD_DATA if a compressed file unpacks to an implausible size. */
mcr_status mcr_reading_unpacked(mcr *ctx, const char *name, uint64_t packed, uint64_t unpacked);

/* Whether work of about this many steps may start, each a few scalar instructions, shared by all
 * threads. MCR_OVER_BUDGET, with the expected time, if the work limit does not allow it. who: name
 * of the work, for the message. Between mcr_predicting(ctx, true) and (ctx, false) the limit is
 * that for models. */
mcr_status mcr_work_allow(mcr *ctx, double steps, const char *who);
void mcr_predicting(mcr *ctx, bool begins);
/* Whether work that a file causes, and whose size is not known in advance, may continue after this
 * many CPU seconds; bytes: size of the file, which allows some more. MCR_OVER_BUDGET as above, but
 * with the limit for models unless the user has set one. */
mcr_status mcr_work_spent(mcr *ctx, double seconds, double bytes, const char *file);
double mcr_work_now(void); /* CPU seconds of the calling thread */

void mcr_limits_open(mcr *ctx); /* called once the configuration is complete */

/* "3.2 GB": decimal, as users write sizes. */
enum { MCR_SIZE_TEXT = 32 };
const char *mcr_size_text(size_t bytes, char text[MCR_SIZE_TEXT]);

#endif
