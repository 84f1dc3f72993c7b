/* dual.c: decision values, margins and slacks of a model's objects, from its coefficients.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "model/model.h"

static double option_of(const mcr_options *o, const char *name)
{
    for (const mcr_param *p = o ? o->type->params : NULL; p && p->name; p++)
        if (strcmp(p->name, name) == 0 && p->type == MCR_REAL)
            return *(const double *)((const char *)o->params + p->offset);
    return NAN;
}

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* Whether the sign of a coefficient is the object's side: for learners whose coefficients are y_i
 * alpha_i. */
static bool sign_is_side(const mcr_model *m)
{
    static const char *const list[] = {"svm", "nu-svm", "logistic", "pegasos", "perceptron", NULL};
    return is_one_of(m->learner, list);
}

static double epsilon_of(const mcr_model *m, const mcr_options *o)
{
    return strcmp(m->learner, "nu-svr") == 0 ? mcr_fitted_number(m->fitted, MCR_EXTRA_EPSILON)
                                             : option_of(o, "epsilon");
}

/* The side of an object in output o: +1, -1, or NAN if unknown. */
static double side_of(const mcr_model *m, int64_t o, double target, double coef)
{
    int64_t positive, negative;
    mcr_model_sides(m, o, &positive, &negative);
    if (positive < 0)
        return NAN;
    if (!isnan(target))
        return target == (double)positive                   ? 1
               : negative < 0 || target == (double)negative ? -1
                                                            : NAN;
    return sign_is_side(m) && coef != 0 ? (coef > 0 ? 1 : -1) : NAN;
}

/* Whether a coefficient is at its bound: it is at least C, or its object has a slack beyond the
 * tolerance. */
static int state_of(const mcr_model *m, double coef, double bound, double slack)
{
    double blur = fmax(fmax(m->fitted->value, m->fitted->tolerance), 0);
    if (isnan(bound) || coef == 0)
        return MCR_COEF_PLAIN;
    bool weighted = strstr(m->options, MCR_OPTION_CLASS_WEIGHT) != NULL;
    return (fabs(coef) >= (1 - 1e-9) * bound && !weighted) || slack > 2 * blur ? MCR_COEF_BOUND
                                                                               : MCR_COEF_FREE;
}

/* The bound of an object of weight 1; INFINITY: none. NAN: the learner has no bounds. */
static double bound_of(const mcr_model *m, const mcr_options *o, const double *coef)
{
    double C = option_of(o, "C"), lambda = option_of(o, "lambda"), most = 0;
    if (m->report.approx) /* coefficients of landmarks are not dual variables */
        return NAN;
    if (strcmp(m->learner, "one-class") == 0)
        return 1;
    if (strcmp(m->learner, "nu-svm") == 0 || !o) {
        for (int64_t i = 0; i < m->fitted->basis; i++)
            most = fmax(most, fabs(coef[i]));
        return most;
    }
    if (strcmp(m->learner, "svm") != 0 && strcmp(m->learner, "svr") != 0 &&
        strcmp(m->learner, "nu-svr") != 0)
        return NAN;
    return !isnan(C) ? C : !isnan(lambda) ? 1 / (2 * lambda * (double)m->report.n) : 1;
}

static mcr_status values_at(mcr *ctx, const mcr_model *m, int64_t o, const double *coef,
                            double offset, double *f, double *square)
{
    const mcr_fitted *t = m->fitted;
    mcr_gram *gram = NULL;
    int64_t half = t->second ? t->outputs / 2 : t->outputs;
    mcr_status s = mcr_gram_open(&gram, ctx, o < half ? m->kernel : t->second, m->basis, NULL);
    if (!s)
        s = mcr_gram_multiply(gram, coef, 1, f);
    mcr_gram_close(gram);
    *square = 0;
    for (int64_t i = 0; i < t->basis && !s; i++) {
        *square += coef[i] * f[i];
        f[i] += offset;
    }
    return s;
}

static void fill(const mcr_model *m, const mcr_options *options, int64_t o, mcr_coefficient *row)
{
    const mcr_fitted *t = m->fitted;
    double epsilon = epsilon_of(m, options);
    bool hinge = m->classes && strcmp(m->learner, "logistic") != 0 &&
                 strcmp(m->learner, "ridge") != 0;
    int64_t count;
    const double *target = mcr_fitted_find(t, MCR_EXTRA_TARGET, &count);
    for (int64_t i = 0; i < t->basis; i++) {
        double y = target && count == t->basis ? target[i] : NAN, f = row[i].value;
        row[i].target = y;
        row[i].slack = row[i].margin = NAN;
        if (m->classes) {
            row[i].margin = side_of(m, o, y, row[i].coef) * f;
            row[i].slack = hinge ? fmax(0, 1 - row[i].margin) : NAN;
            if (isnan(row[i].margin))
                row[i].slack = NAN;
        } else if (t->task == MCR_REGRESS) {
            row[i].margin = y - f;
            row[i].slack = isnan(epsilon) ? NAN : fmax(0, fabs(y - f) - epsilon);
        } else if (t->task == MCR_DETECT) {
            row[i].margin = f;
            row[i].slack = fmax(0, -f);
        }
    }
}

mcr_status mcr_model_dual(mcr *ctx, const mcr_model *m, int64_t o, mcr_coefficient *row,
                          double *offset, double *square)
{
    const mcr_fitted *t = m->fitted;
    mcr_options *options = NULL;
    *offset = *square = 0;
    if (m->report.approx && strcmp(m->report.approx, "rff") == 0)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "a model of random Fourier features has weights of features, and no "
                        "coefficients of objects");
    size_t n = (size_t)t->basis;
    double *coef = mcr_alloc(ctx, n, sizeof *coef), *f = mcr_alloc(ctx, n, sizeof *f);
    int64_t *number = mcr_alloc(ctx, n, sizeof *number);
    mcr_status s = coef && f && number ? mcr_model_coefficients(m, o, coef, offset, number)
                                       : MCR_NO_MEMORY;
    if (!s && m->report.version)
        s = mcr_options_of(&options, ctx, m);
    if (!s && n)
        s = values_at(ctx, m, o, coef, *offset, f, square);
    for (int64_t i = 0; i < t->basis && !s; i++)
        row[i] = (mcr_coefficient){.object = number[i], .coef = coef[i], .value = f[i]};
    if (!s)
        fill(m, options, o, row);
    double bound = s ? NAN : bound_of(m, options, coef);
    for (int64_t i = 0; i < t->basis && !s; i++)
        row[i].state = state_of(m, row[i].coef, bound, row[i].slack);
    mcr_options_close(options);
    mcr_free_all(ctx, coef, f, number);
    return s;
}

const double *mcr_model_number(const mcr_model *m, const char *name, int64_t *count)
{
    return mcr_fitted_find(m->fitted, name, count);
}
