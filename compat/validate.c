/* validate.c: cross-validation, with the folds that LIBSVM makes of the same rand().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "folds.h"
#include "machine.h"
#include "text.h"

/* Objects fold by fold. */
typedef struct split {
    int folds, n;
    int *row;   /* n */
    int *first; /* folds + 1 */
} split;

/* Each class in random order, its objects dealt out in proportion. */
static bool split_classes(split *s, const double *y)
{
    compat_classes c = {0};
    if (!compat_classes_open(&c, y, NULL, s->n))
        return false;
    for (int k = 0; k < c.count; k++)
        compat_shuffle(c.member + c.first[k], c.first[k + 1] - c.first[k]);
    int n = 0;
    for (int64_t fold = 0; fold < s->folds; fold++) {
        s->first[fold] = n;
        for (int k = 0; k < c.count; k++) {
            int64_t size = c.first[k + 1] - c.first[k];
            for (int64_t i = fold * size / s->folds; i < (fold + 1) * size / s->folds; i++)
                s->row[n++] = c.member[c.first[k] + i];
        }
    }
    s->first[s->folds] = n;
    compat_classes_close(&c);
    return true;
}

static void split_all(split *s)
{
    for (int i = 0; i < s->n; i++)
        s->row[i] = i;
    compat_shuffle(s->row, s->n);
    for (int64_t fold = 0; fold <= s->folds; fold++)
        s->first[fold] = (int)(fold * s->n / s->folds);
}

/* What all folds read, and where each writes its own. */
typedef struct validation {
    split split;
    bool probability;
    compat_progress *progress; /* one per fold; what each has to print waits for its turn */
    double *target;
} validation;

/* Trains on all folds but one and predicts that one. */
static bool test_fold(void *arg, compat_engine *e, int fold)
{
    validation *v = arg;
    const split *s = &v->split;
    int begin = s->first[fold], end = s->first[fold + 1], count = 0;
    int *part = malloc(((size_t)s->n + 1) * sizeof *part);
    double *value = malloc(((size_t)s->n + 1) * sizeof *value);
    bool done = part && value;
    for (int i = 0; done && i < s->n; i++)
        if (i < begin || i >= end)
            part[count++] = s->row[i];
    compat_rows train = {part, count}, test = {s->row + begin, end - begin};
    compat_machine m = {0};
    done = done && compat_machine_fit(&m, e, train, v->probability) &&
           compat_machine_predict(&m, e, test, value);
    for (int i = begin; done && i < end; i++)
        v->target[s->row[i]] = value[i - begin];
    v->progress[fold] = compat_machine_progress(&m);
    compat_machine_close(&m);
    free(part);
    free(value);
    return done;
}

/* Probabilities draw random numbers and print: one fold after the other. */
static bool test_in_order(validation *v, compat_engine *e)
{
    bool done = true;
    for (int fold = 0; done && fold < v->split.folds; fold++) {
        done = test_fold(v, e, fold);
        compat_progress_print(&v->progress[fold]);
    }
    return done;
}

static bool test_folds(validation *v, compat_engine *e)
{
    int folds = v->split.folds;
    if (v->probability)
        return test_in_order(v, e);
    bool done = compat_folds_run(e, folds, v->split.n, test_fold, v);
    for (int fold = 0; fold < folds; fold++)
        compat_progress_print(&v->progress[fold]);
    return done;
}

bool compat_validate(compat_engine *e, int folds, bool probability, double *target)
{
    const struct svm_problem *prob = compat_engine_problem(e);
    int type = compat_engine_parameter(e)->svm_type;
    bool classify = type == C_SVC || type == NU_SVC;
    if (folds < 1)
        return true;
    validation v = {.split = {folds, prob->l, malloc(((size_t)prob->l + 1) * sizeof(int)),
                              malloc(((size_t)folds + 1) * sizeof(int))},
                    .probability = probability && classify,
                    .progress = calloc((size_t)folds, sizeof *v.progress),
                    .target = target};
    bool done = v.split.row && v.split.first && v.progress;
    if (done && classify && folds < prob->l)
        done = split_classes(&v.split, prob->y);
    else if (done)
        split_all(&v.split);
    done = done && test_folds(&v, e);
    free(v.progress);
    free(v.split.row);
    free(v.split.first);
    return done;
}

void svm_cross_validation(const struct svm_problem *prob, const struct svm_parameter *param,
                          int nr_fold, double *target)
{
    if (target == NULL || nr_fold < 1)
        return;
    compat_engine *e = compat_engine_open(prob, param);
    if (e == NULL)
        return;
    if (nr_fold > prob->l) {
#if LIBSVM_ABI >= 4
        compat_warn("# folds (%d) > # data (%d). Will use # folds = # data instead (i.e., "
                    "leave-one-out cross validation)",
                    nr_fold, prob->l);
#else
        compat_warn("# folds > # data. Will use # folds = # data instead (i.e., leave-one-out "
                    "cross validation)");
#endif
        nr_fold = prob->l;
    }
    if (!compat_validate(e, nr_fold, param->probability, target))
        compat_warn("out of memory");
    compat_engine_close(e);
}
