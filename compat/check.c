/* check.c: svm_check_parameter: what is wrong with a call, in LIBSVM's words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdlib.h>

#include "classes.h"
#include "svm.h"

/* Comparisons are written so that NAN passes where it passes in LIBSVM. */
static const char *check_numbers(const struct svm_parameter *p)
{
    if (p->cache_size <= 0)
        return "cache_size <= 0";
    if (p->eps <= 0)
        return "eps <= 0";
    if ((p->svm_type == C_SVC || p->svm_type == EPSILON_SVR || p->svm_type == NU_SVR) && p->C <= 0)
        return "C <= 0";
    if ((p->svm_type == NU_SVC || p->svm_type == ONE_CLASS || p->svm_type == NU_SVR) &&
        (p->nu <= 0 || p->nu > 1))
        return "nu <= 0 or nu > 1";
    if (p->svm_type == EPSILON_SVR && p->p < 0)
        return "p < 0";
    if (p->shrinking != 0 && p->shrinking != 1)
        return "shrinking != 0 and shrinking != 1";
    if (p->probability != 0 && p->probability != 1)
        return "probability != 0 and probability != 1";
#if LIBSVM_ABI < 4
    if (p->probability == 1 && p->svm_type == ONE_CLASS)
        return "one-class SVM probability output not supported yet";
#endif
    return NULL;
}

static const char *check_nu(const struct svm_problem *prob, double nu)
{
    compat_classes classes = {0};
    if (prob == NULL || prob->l < 0 || (prob->l > 0 && prob->y == NULL))
        return "the problem is missing";
    if (!compat_classes_open(&classes, prob->y, NULL, prob->l))
        return "out of memory";
    const char *fault = compat_classes_allow(&classes, nu) ? NULL : "specified nu is infeasible";
    compat_classes_close(&classes);
    return fault;
}

const char *svm_check_parameter(const struct svm_problem *prob, const struct svm_parameter *param)
{
    if (param == NULL)
        return "the parameters are missing";
    if (param->svm_type < C_SVC || param->svm_type > NU_SVR)
        return "unknown svm type";
    int kernel = param->kernel_type;
    if (kernel < LINEAR || kernel > PRECOMPUTED)
        return "unknown kernel type";
    if ((kernel == POLY || kernel == RBF || kernel == SIGMOID) && param->gamma < 0)
        return "gamma < 0";
    if (kernel == POLY && param->degree < 0)
        return "degree of polynomial kernel < 0";
    const char *fault = check_numbers(param);
    if (!fault && param->svm_type == NU_SVC)
        fault = check_nu(prob, param->nu);
    return fault;
}
