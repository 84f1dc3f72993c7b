/* predict.c: predictions straight from the fields of a model, which the caller may have filled or
 * changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "arrays.h"
#include "kernel.h"
#include "platt.h"
#include "svm.h"

typedef struct svm_model model;

static bool has_classes(const model *m)
{
    return m->param.svm_type == C_SVC || m->param.svm_type == NU_SVC;
}

static int64_t pairs_of(const model *m)
{
    return m->nr_class > 1 ? (int64_t)m->nr_class * (m->nr_class - 1) / 2 : 0;
}

/* K of the object against all support vectors; NULL: out of memory. */
static double *kernel_values(const model *m, const struct svm_node *x)
{
    double *k = malloc(((size_t)m->l + 1) * sizeof *k);
    if (k == NULL)
        return NULL;
    compat_probe probe;
    compat_probe_open(&probe, m, x);
    compat_probe_values(&probe, k);
    compat_probe_close(&probe);
    return k;
}

static double predict_number(const model *m, const struct svm_node *x, double *value)
{
    double *k = kernel_values(m, x);
    double sum = k ? compat_dot(m->sv_coef[0], k, m->l) - m->rho[0] : NAN;
    free(k);
    if (value)
        *value = sum;
    if (m->param.svm_type == ONE_CLASS)
        return sum > 0 ? 1 : -1;
    return sum;
}

/* The decision value of classes i < j, whose support vectors begin at a and b. */
static double decide(const model *m, const double *k, int i, int j, int64_t a, int64_t b)
{
    return compat_dot(m->sv_coef[j - 1] + a, k + a, m->nSV[i]) +
           compat_dot(m->sv_coef[i] + b, k + b, m->nSV[j]);
}

/* Every pair of classes votes; of equals the first wins. vote: nr_class zeros. */
static double predict_class(const model *m, const double *k, int *vote, double *value)
{
    int64_t a = 0, p = 0;
    for (int i = 0; i < m->nr_class; i++) {
        int64_t b = a + m->nSV[i];
        for (int j = i + 1; j < m->nr_class; j++, p++) {
            double f = decide(m, k, i, j, a, b) - m->rho[p];
            if (value)
                value[p] = f;
            vote[f > 0 ? i : j]++;
            b += m->nSV[j];
        }
        a += m->nSV[i];
    }
    int best = 0;
    for (int i = 1; i < m->nr_class; i++)
        if (vote[i] > vote[best])
            best = i;
    return m->label[best];
}

double svm_predict_values(const model *m, const struct svm_node *x, double *dec_values)
{
    if (m == NULL || m->l < 0 || (m->l > 0 && m->SV == NULL))
        return 0;
    if (!has_classes(m))
        return m->rho && m->sv_coef ? predict_number(m, x, dec_values) : 0;
    if (m->label == NULL || m->nr_class < 1)
        return 0;
    if (m->nr_class > 1 && (m->nSV == NULL || m->rho == NULL || m->sv_coef == NULL))
        return 0;
    double *k = m->nr_class > 1 ? kernel_values(m, x) : NULL;
    int *vote = calloc((size_t)m->nr_class, sizeof *vote);
    double label = m->label[0];
    if (k && vote)
        label = predict_class(m, k, vote, dec_values);
    free(k);
    free(vote);
    return label;
}

double svm_predict(const model *m, const struct svm_node *x)
{
    return svm_predict_values(m, x, NULL);
}

int svm_check_probability_model(const model *m)
{
    if (m == NULL)
        return 0;
    if (has_classes(m))
        return m->probA != NULL && m->probB != NULL;
#if LIBSVM_ABI >= 4
    if (m->param.svm_type == ONE_CLASS)
        return m->prob_density_marks != NULL;
#endif
    return (m->param.svm_type == EPSILON_SVR || m->param.svm_type == NU_SVR) && m->probA != NULL;
}

static double predict_classes(const model *m, const struct svm_node *x, double *proba)
{
    size_t classes = (size_t)m->nr_class, pairs = (size_t)pairs_of(m);
    double *value = calloc(pairs + 1, sizeof *value);
    double *memory = malloc(compat_couple_memory(m->nr_class) * sizeof *memory);
    double *estimate = malloc((classes + 1) * sizeof *estimate);
    double label = m->label[0];
    if (value && memory && estimate) {
        svm_predict_values(m, x, value);
        int best = compat_couple(m->nr_class, value, m->probA, m->probB, estimate, memory);
        label = m->label[best];
        for (size_t c = 0; proba && c < classes; c++)
            proba[c] = estimate[c];
    }
    free(value);
    free(memory);
    free(estimate);
    return label;
}

double svm_predict_probability(const model *m, const struct svm_node *x, double *prob_estimates)
{
    if (!svm_check_probability_model(m))
        return svm_predict(m, x);
    if (has_classes(m))
        return m->label && m->nr_class > 0 ? predict_classes(m, x, prob_estimates) : 0;
#if LIBSVM_ABI >= 4
    if (m->param.svm_type == ONE_CLASS) {
        double value = 0, label = svm_predict_values(m, x, &value);
        double inside = compat_density(m->prob_density_marks, value);
        if (prob_estimates) {
            prob_estimates[0] = inside;
            prob_estimates[1] = 1 - inside;
        }
        return label;
    }
#endif
    return svm_predict(m, x);
}
