/* folds.h: parts of a problem that are trained independently of each other, on all cores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_FOLDS_H
#define COMPAT_FOLDS_H

#include "engine.h"

/* Trains and tests fold number `fold` with an engine that no other thread uses. false: out of
 * memory. */
typedef bool compat_fold(void *arg, compat_engine *e, int fold);
/* Runs folds 0 .. count - 1, in any order; what they compute must not depend on it, and nothing in
 * them may print or draw random numbers. n: objects of a fold. false: one of them returned it. */
bool compat_folds_run(compat_engine *e, int count, int n, compat_fold *run, void *arg);

#endif
