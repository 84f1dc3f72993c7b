/* machine.h: what training finds, before it becomes a model of LIBSVM's form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_MACHINE_H
#define COMPAT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "classes.h"
#include "engine.h"

typedef struct compat_machine {
    compat_classes classes; /* count 0: it predicts numbers, or what is inside */
    bool classify;
    compat_rows train;
    double *target; /* of each training object: Mercer's class or a number; NULL: none */
    double *factor; /* of C, one per class */
    double nu;      /* as it is used */
    /* One model of all pairs of classes, or (models is the number of pairs) one per pair, trained
     * on its objects alone. NULL: nothing could be learned, and decision values are NAN. */
    int models;
    mcr_model **model;
    double *prob_a, *prob_b; /* one per pair; NULL: no probabilities */
} compat_machine;

/* Trains on some objects of the engine's problem. Borrows the rows. false: out of memory. Close in
 * any case. Without probabilities it neither prints nor draws random numbers. */
bool compat_machine_fit(compat_machine *m, compat_engine *e, compat_rows train, bool probability);
/* What LIBSVM prints while it trains. */
typedef struct compat_progress {
    bool one_class;
    int64_t steps;
    double objective; /* the sum of all outputs */
    int outputs;      /* 0: nothing was trained */
} compat_progress;
compat_progress compat_machine_progress(const compat_machine *m);
void compat_progress_print(const compat_progress *p);
void compat_machine_close(compat_machine *m);
/* Labels or values of other objects. false: out of memory. */
bool compat_machine_predict(const compat_machine *m, compat_engine *e, compat_rows test,
                            double *target);

/* Decision functions: one per pair of classes, or one. */
int compat_machine_outputs(const compat_machine *m);
/* The classes i < j of pair p, and how many objects they have. */
int compat_machine_pair(const compat_machine *m, int p, int *i, int *j);
/* Coefficients that are not 0, the numbers of their training objects (n of each at most, for n
 * training objects), and rho; returns how many there are. */
int64_t compat_machine_coefficients(const compat_machine *m, int p, double *coef, int64_t *number,
                                    double *rho);

/* Objects in random order, by rand(): callers choose the folds with srand(). */
void compat_shuffle(int *row, int count);
/* Predictions for the objects of all folds; see svm_cross_validation. */
bool compat_validate(compat_engine *e, int folds, bool probability, double *target);

#endif
