/* worker.h (internal to base): the threads of a context, and where each keeps its failure.
 *
 * Several items of a loop may fail at once, and only the message of the lowest one is kept (see
 * threads.h). So while a loop runs, messages go to the worker's own record instead of the context.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_WORKER_H
#define MCR_BASE_WORKER_H

#include "base/context.h"

typedef struct mcr_failure {
    const mcr *ctx; /* whose messages go here */
    char message[MCR_MESSAGE_MAX];
    char file[MCR_FILE_MAX];
    int64_t line;
    const char *id;
} mcr_failure;

/* The record of the calling thread; NULL when it is not in a parallel loop. */
mcr_failure *mcr_worker_failure(void);

/* The threads of a context with more than one: made with it, started by its first loop. */
mcr_status mcr_pool_open(mcr *ctx);
void mcr_pool_close(mcr *ctx); /* ends the threads */

#endif
