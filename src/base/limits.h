/* limits.h (internal): memory is counted, and what a file may cause is limited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_LIMITS_H
#define MCR_BASE_LIMITS_H

#include "base/context.h"

/* Counts a block of so many bytes; false, with the message, if a limit does not allow it. Any
 * thread. */
bool mcr_memory_admit(mcr *ctx, size_t bytes);
void mcr_memory_release(mcr *ctx, size_t bytes);

/* Between begin and end a file is read, from one thread; pairs may be nested, and then the outer
 * one counts. name: for messages, borrowed until the end. bytes: how many of the file are known to
 * be there; those that come later are added by mcr_reading_bytes. */
void mcr_reading_begin(mcr *ctx, const char *name, size_t bytes);
void mcr_reading_bytes(mcr *ctx, size_t bytes); /* nothing happens outside begin and end */
void mcr_reading_end(mcr *ctx);
/* Whether the file may cause so many bytes: for memory that is taken later. */
bool mcr_reading_allows(const mcr *ctx, size_t bytes);
/* How many bytes a file of that size may cause. */
size_t mcr_reading_most(const mcr *ctx, size_t bytes);
/* MCR_BAD_DATA if a compressed file unpacks to more than can be meant. */
mcr_status mcr_reading_unpacked(mcr *ctx, const char *name, uint64_t packed, uint64_t unpacked);

/* Whether work of about so many steps may begin, each a few instructions that no vector unit
 * speeds up, shared by all threads. MCR_OVER_BUDGET, with the time it would take, if the limit for
 * work does not allow it. who: what works, for the message. Between mcr_predicting(ctx, true)
 * and (ctx, false) the limit is that for models. */
mcr_status mcr_work_allow(mcr *ctx, double steps, const char *who);
void mcr_predicting(mcr *ctx, bool begins);
/* Whether work whose size only shows while it is done, and that a file causes, may go on after so
 * many seconds of a processor; bytes: of the file, which allow some more. MCR_OVER_BUDGET as above,
 * but that the limit is that for models, unless the user has set one. */
mcr_status mcr_work_spent(mcr *ctx, double seconds, double bytes, const char *file);
double mcr_work_now(void); /* seconds of the processor that this thread has had */

void mcr_limits_open(mcr *ctx); /* once the configuration is complete */

/* "3.2 GB", decimal, as users write sizes. */
enum { MCR_SIZE_TEXT = 32 };
const char *mcr_size_text(size_t bytes, char text[MCR_SIZE_TEXT]);

#endif
