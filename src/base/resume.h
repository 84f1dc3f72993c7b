/* resume.h (internal): the state of a training that outlives the program, in the file of
 * mcr_checkpoint_file.
 *
 * A training is made of parts (a two-class problem, the steps of a solver), each with a name. A
 * part describes its state once, in a function that walks through it: the same calls in the same
 * order write it and read it back. Where a solver looks at its limits it offers its state; now and
 * then the file is replaced. State that is read back is the same bits, so that a training which
 * goes on ends as one that was never interrupted. Parts may belong to different threads.
 *
 * Between mcr_resume_open and mcr_resume_close only, and where there is such a file; else nothing
 * is kept and nothing found. Of several processes the first one reads and writes the file; all of
 * them must ask for the same parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_RESUME_H
#define MCR_BASE_RESUME_H

#include "base/context.h"
#include "base/stream.h"

enum { MCR_PART_NAME = 48 };

typedef struct mcr_walk {
    mcr *ctx;
    bool reads;
    mcr_text text;        /* what is written */
    const char *at, *end; /* what is left to read */
    mcr_status status;    /* of the first fault: then nothing more is read */
} mcr_walk;
typedef mcr_status mcr_walk_state(void *self, mcr_walk *w);

/* Bytes that are written, or read back. */
void mcr_walk_bytes(mcr_walk *w, void *at, size_t count);
#define MCR_WALK(w, x) mcr_walk_bytes((w), &(x), sizeof(x))
/* A number that must be the same when it is read: sizes, and what was decided before. */
void mcr_walk_same(mcr_walk *w, int64_t value);
/* What must be true or false, a count (from 0), or a way to stop when it is read. */
void mcr_walk_flag(mcr_walk *w, bool *flag);
void mcr_walk_count(mcr_walk *w, int64_t *count);
void mcr_walk_stop(mcr_walk *w, mcr_stop *stop);
/* What was read makes no sense. */
mcr_status mcr_walk_refuse(mcr_walk *w);

/* Whether there is a file to be written, within open and close or not. */
bool mcr_resume_wanted(const mcr *ctx);
/* Reads the file, if it is there. training: a sum of all that decides the result. MCR_BAD_DATA if
 * the file is of another training, of another version, or damaged. */
mcr_status mcr_resume_open(mcr *ctx, uint32_t training);
void mcr_resume_close(mcr *ctx); /* the file stays */
/* Whether states are kept now. */
bool mcr_resume_keeps(const mcr *ctx);

/* The name of the next of several parts of a kind, which follow each other in one thread. */
void mcr_resume_name(mcr *ctx, const char *kind, char name[MCR_PART_NAME]);
/* Reads the state of a part; *found: there was one. */
mcr_status mcr_resume_find(mcr *ctx, const char *name, mcr_walk_state *walk, void *self,
                           bool *found);
/* Takes the state of a part as it is now, if it is some time ago that this was done, and writes the
 * file if it is time for that. */
mcr_status mcr_resume_offer(mcr *ctx, const char *name, mcr_walk_state *walk, void *self);
/* Takes it in any case: of a part that is done. The file is written if it is time for it. */
mcr_status mcr_resume_keep(mcr *ctx, const char *name, mcr_walk_state *walk, void *self);
/* Forgets a part, or all of a kind ("kind/"): another part has what they led to. */
void mcr_resume_drop(mcr *ctx, const char *name);

#endif
