/* learner.h: learning algorithms and their options. Training is in model.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_LEARNER_H
#define MERCER_LEARNER_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/data.h>
#include <mercer/facts.h>
#include <mercer/kernel.h>
#include <mercer/params.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mcr_task {
    MCR_CLASSIFY = 1, /* predicts a class */
    MCR_REGRESS,      /* predicts a number */
    MCR_DETECT,       /* predicts +1 (like the training objects) or -1 */
    MCR_CLUSTER,      /* predicts the number of a cluster, from 0 */
    MCR_TRANSFORM,    /* gives coordinates, and predicts nothing */
    MCR_EITHER        /* only of a learner: classes or numbers, chosen by its option `task` */
} mcr_task;

/* "classification", "regression", "detection", "clustering", "transformation"; never NULL. */
MCR_API const char *mcr_task_name(mcr_task task);

/* A description of each built-in learner. Borrowed. */
typedef struct mcr_learner_info {
    size_t size; /* sizeof(mcr_learner_info) */
    const char *name, *summary;
    mcr_task task;
    const mcr_param *params; /* ends with a NULL name */
    int dense;               /* 1: it factorises matrices of kernel values (see blas.h) */
    int can_start;           /* 1: it can start from a model (warm start) */
    int can_resume;          /* 1: it can continue with more data: mcr_fit_more */
    int can_choose;          /* 1: mcr_search.quick can choose its kernel and options */
} mcr_learner_info;
MCR_API int64_t mcr_learner_count(void);
MCR_API mcr_status mcr_learner_describe(int64_t number, mcr_learner_info *info);

/* A learner with its options. Options are set by name and text ("C", "10"); an unknown name or a
 * value out of range is MCR_BAD_CALL. Training uses the context of the options. One thread at a
 * time. */
typedef struct mcr_options mcr_options;
MCR_API mcr_status mcr_options_open(mcr_options **out, mcr *ctx, const char *learner);
MCR_API void mcr_options_close(mcr_options *options); /* NULL allowed */
MCR_API mcr_status mcr_options_set(mcr_options *options, const char *name, const char *value);
/* Every option with its value, by enumeration (facts.h): first the learner's own, in the order of
 * its table, then those that all learners have. An option without a value or a default is
 * MCR_FACT_NONE; a choice is a text. Texts are borrowed until the next call. mcr_options_of returns
 * the options of a model. */
MCR_API int64_t mcr_options_fact_count(const mcr_options *options);
MCR_API mcr_status mcr_options_fact(mcr_options *options, int64_t number, mcr_fact *fact);

/* "optimal", "steps", "time", "interrupted", "stuck", "local". */
MCR_API const char *mcr_stop_name(mcr_stop stop);

#ifdef __cplusplus
}
#endif
#endif
