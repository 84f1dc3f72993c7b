/* engine.h: Mercer's solvers on the objects of one problem.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_ENGINE_H
#define COMPAT_ENGINE_H

#include <mercer/model.h>

#include "pack.h"
#include "svm.h"

typedef struct compat_engine compat_engine;

/* Checks all objects. Borrows problem and parameters. NULL: the problem is missing, or there is no
 * memory; a line on standard error says which. */
compat_engine *compat_engine_open(const struct svm_problem *prob,
                                  const struct svm_parameter *param);
void compat_engine_close(compat_engine *e); /* NULL allowed */
/* The same problem for another thread, with one thread of its own. Borrows from e. NULL: out of
 * memory. */
compat_engine *compat_engine_branch(compat_engine *e);
int compat_engine_threads(const compat_engine *e);
const struct svm_problem *compat_engine_problem(const compat_engine *e);
const struct svm_parameter *compat_engine_parameter(const compat_engine *e);
/* The objects as vectors; NULL: kernel values are all that is known of them. */
const compat_pack *compat_engine_vectors(const compat_engine *e);
/* C as it is used. */
double compat_engine_cost(const compat_engine *e);

/* Some objects of the problem. */
typedef struct compat_rows {
    const int *row;
    int count;
} compat_rows;

/* Trains on some objects. target: a class number or a value for each; weight: factors of C, NULL:
 * 1. *out is NULL where the problem has no solution of this kind: MCR_OK, and nothing is said.
 * Else, if it fails, a line on standard error says why, once, and all further calls fail
 * silently. */
mcr_status compat_engine_fit(mcr_model **out, compat_engine *e, compat_rows train,
                             const double *target, const double *weight, double nu);
/* Predictions of a model of the objects `train` for others: value (class numbers or values) and
 * score (count x outputs) may be NULL. */
mcr_status compat_engine_predict(compat_engine *e, const mcr_model *model, compat_rows train,
                                 compat_rows test, double *value, double *score);

#endif
