/* worker.h (internal to base): the threads of a context, and the failure record of each.
 *
 * Several items of a loop may fail at the same time, and only the message of the lowest one is kept
 * (see threads.h). So while a loop runs, messages are stored in the worker's own record, not in the
 * context.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_WORKER_H
#define MCR_BASE_WORKER_H

#include "base/context.h"

typedef struct mcr_failure {
    const mcr *ctx; /* the context whose messages are stored here */
    char message[MCR_MESSAGE_MAX];
    char file[MCR_FILE_MAX];
    int64_t line;
    const char *id;
} mcr_failure;

/* The record of the calling thread; NULL outside parallel loops. */
mcr_failure *mcr_worker_failure(void);

/* The threads of a context with more than one: created with the context, started by its first
 * loop. */
mcr_status mcr_pool_open(mcr *ctx);
void mcr_pool_close(mcr *ctx); /* ends the threads */

#endif
