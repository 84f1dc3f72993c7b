/* goal.h (internal): the targets of a learner without two-class problems: numbers, or classes as
 * numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_GOAL_H
#define MCR_LEARN_GOAL_H

#include "learn/learner.h"

/* The option `task` of learners that predict classes or numbers. Words are classes. Numbers are
 * numbers, unless the caller declares them to be classes: nothing is guessed. */
enum { MCR_TASK_AUTO, MCR_TASK_CLASSIFY, MCR_TASK_REGRESS };
#define MCR_TASK_PARAM(S)                                                                          \
    {                                                                                              \
        MCR_OPTION_TASK, MCR_CHOICE, offsetof(S, task), "auto", 0, 0, 0, "auto|classify|regress",  \
            "what is predicted; auto: classes where the targets are words"                         \
    }
#define MCR_CLASS_WEIGHT_PARAM(S)                                                                  \
    {                                                                                              \
        MCR_OPTION_CLASS_WEIGHT, MCR_TEXT, offsetof(S, class_weight), NULL, 0, 0, 0, NULL,         \
            "factors of the objects' weights by class: 1=2.5,-1=1, or balanced"                    \
    }

typedef struct mcr_goal {
    mcr *ctx;
    mcr_task task; /* MCR_CLASSIFY or MCR_REGRESS */
    mcr_rule rule; /* MCR_RULE_VALUE, MCR_RULE_BINARY, MCR_RULE_LARGEST */
    int64_t n, classes, outputs;
    const int32_t *class_of; /* borrowed from the data; NULL for numbers */
    /* n x outputs: the numbers, one column per target; two classes: +1 for class 1, else -1; more:
     * one column per class, +1 for its objects, else -1. */
    double *y;
    double *weight; /* n: of the objects, times that of their class */
    double total;   /* of the weights, > 0 */
} mcr_goal;

/* task: of the option. class_weight: NULL, or factors, for classes only. Refuses targets that do
 * not suit, and data without objects. */
mcr_status mcr_goal_open(mcr_goal *goal, const mcr_learning *in, const char *learner, int task,
                         const char *class_weight);
void mcr_goal_close(mcr_goal *goal); /* also after a failure of open */

/* Coefficients to start from (n x outputs), 0 where the start has none or is of another shape. */
void mcr_goal_start(const mcr_goal *goal, const mcr_fitted *start, double *coef);

/* A fitted without objects; task, rule and classes are the goal's. */
mcr_status mcr_goal_new(mcr_fitted **out, const mcr_goal *goal);
/* The same with all objects whose coefficients are not all 0; coef is n x outputs. */
mcr_status mcr_goal_fitted(mcr_fitted **out, const mcr_goal *goal, const double *coef);

/* Stores in the fitted the predictions for the training objects that follow from f (n x
 * outputs). */
mcr_status mcr_goal_report(const mcr_goal *goal, mcr_fitted *fitted, const double *f);

/* If the kernel is not known to be positive semidefinite, the remark says so. */
mcr_status mcr_fitted_remark_definite(mcr_fitted *fitted, const mcr_kernel *kernel);
/* If all kernel values are 0, nothing can be learned, and the remark says so. */
mcr_status mcr_fitted_remark_zero(mcr_fitted *fitted, mcr_gram *gram);
/* Adds a sentence to the remark. */
mcr_status mcr_fitted_remark(mcr_fitted *fitted, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
