/* resume.h (internal): checkpoints: the state of a training in the file of mcr_checkpoint_file.
 *
 * A training consists of named parts (a two-class problem, the steps of a solver). A part describes
 * its state once, in a function that walks through it: the same calls in the same order write the
 * state and read it back. Wherever a solver checks its limits it offers its state; from time to
 * time the file is replaced. The state is restored bit for bit, so that a continued training ends
 * exactly like an uninterrupted one. Parts may belong to different threads.
 *
 * States are stored only between mcr_resume_open and mcr_resume_close, and only if a file is set;
 * otherwise nothing is stored or found. With several processes the first one reads and writes the
 * file; all of them must ask for the same parts.
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
    mcr_text text;        /* the state being written */
    const char *at, *end; /* the bytes left to read */
    mcr_status status;    /* first error; afterwards nothing more is read */
} mcr_walk;
typedef mcr_status mcr_walk_state(void *self, mcr_walk *w);

/* Writes bytes, or reads them back. */
void mcr_walk_bytes(mcr_walk *w, void *at, size_t count);
#define MCR_WALK(w, x) mcr_walk_bytes((w), &(x), sizeof(x))
/* A number that must be unchanged when it is read back: sizes and earlier decisions. */
void mcr_walk_same(mcr_walk *w, int64_t value);
/* Values that are checked when read back: a flag, a count (from 0), a reason to stop. */
void mcr_walk_flag(mcr_walk *w, bool *flag);
void mcr_walk_count(mcr_walk *w, int64_t *count);
void mcr_walk_stop(mcr_walk *w, mcr_stop *stop);
/* Fails because the values read are invalid. */
mcr_status mcr_walk_refuse(mcr_walk *w);

/* Whether a checkpoint file is set, whether it is open or not. */
bool mcr_resume_wanted(const mcr *ctx);
/* Reads the file if it exists. training: a checksum of everything that determines the result.
 * MCR_BAD_DATA if the file is damaged or belongs to another training or version. */
mcr_status mcr_resume_open(mcr *ctx, uint32_t training);
void mcr_resume_close(mcr *ctx); /* the file is not removed */
/* Whether states are stored now. */
bool mcr_resume_keeps(const mcr *ctx);

/* The name of the next of several parts of one kind, which run one after the other in one
 * thread. */
void mcr_resume_name(mcr *ctx, const char *kind, char name[MCR_PART_NAME]);
/* Reads the state of a part; *found: whether there was one. */
mcr_status mcr_resume_find(mcr *ctx, const char *name, mcr_walk_state *walk, void *self,
                           bool *found);
/* Stores the current state of a part if the last time was long enough ago, and writes the file if
 * that is due. */
mcr_status mcr_resume_offer(mcr *ctx, const char *name, mcr_walk_state *walk, void *self);
/* Stores it unconditionally, for a part that is done. The file is written if that is due. */
mcr_status mcr_resume_keep(mcr *ctx, const char *name, mcr_walk_state *walk, void *self);
/* Removes a part, or all of a kind ("kind/"), once their result is stored in another part. */
void mcr_resume_drop(mcr *ctx, const char *name);

#endif
