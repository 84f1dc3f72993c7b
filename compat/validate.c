/* validate.c: cross-validation, with the folds that LIBSVM makes of the same rand().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Trains on all folds but one and predicts that one. part: n rows, value: n numbers. */
static bool test_fold(compat_engine *e, const split *s, int fold, bool probability, int *part,
                      double *value, double *target)
{
    int begin = s->first[fold], end = s->first[fold + 1], count = 0;
    for (int i = 0; i < s->n; i++)
        if (i < begin || i >= end)
            part[count++] = s->row[i];
    compat_machine machine;
    bool done = compat_machine_fit(&machine, e, (compat_rows){part, count}, probability);
    compat_rows test = {s->row + begin, end - begin};
    done = done && compat_machine_predict(&machine, e, test, value);
    for (int i = begin; done && i < end; i++)
        target[s->row[i]] = value[i - begin];
    compat_machine_close(&machine);
    return done;
}

bool compat_validate(compat_engine *e, int folds, bool probability, double *target)
{
    const struct svm_problem *prob = compat_engine_problem(e);
    int type = compat_engine_parameter(e)->svm_type;
    bool classify = type == C_SVC || type == NU_SVC;
    size_t n = (size_t)prob->l + 1;
    split s = {folds, prob->l, malloc(n * sizeof *s.row),
               malloc(((size_t)folds + 1) * sizeof *s.first)};
    int *part = malloc(n * sizeof *part);
    double *value = malloc(n * sizeof *value);
    bool done = s.row && s.first && part && value;
    if (folds < 1)
        folds = 0;
    else if (done && classify && folds < prob->l)
        done = split_classes(&s, prob->y);
    else if (done)
        split_all(&s);
    for (int fold = 0; done && fold < folds; fold++)
        done = test_fold(e, &s, fold, probability && classify, part, value, target);
    free(s.row);
    free(s.first);
    free(part);
    free(value);
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
