/* train.c: svm_train: a machine as a model of LIBSVM's form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "duplicates.h"
#include "machine.h"
#include "platt.h"
#include "text.h"

typedef struct svm_model model;

/* What one output of a Mercer model holds, with space for every training object. */
typedef struct output {
    const compat_machine *m;
    compat_engine *e;
    int64_t support;
    double *coef;
    int64_t *number; /* of the training objects */
    int *next;       /* duplicates of each; NULL: not asked for yet, or there are no vectors */
} output;

static bool output_open(output *o, const compat_machine *m, compat_engine *e)
{
    size_t most = (size_t)m->train.count + 1;
    *o = (output){.m = m, .e = e};
    o->coef = malloc(most * sizeof *o->coef);
    o->number = malloc(most * sizeof *o->number);
    return o->coef && o->number;
}

static void output_close(output *o)
{
    free(o->coef);
    free(o->number);
    free(o->next);
}

/* The largest coefficient that object t of the list may have. */
static double bound_of(const output *o, int64_t t, double sum, int objects)
{
    const compat_machine *m = o->m;
    switch (compat_engine_parameter(o->e)->svm_type) {
    case C_SVC: return compat_engine_cost(o->e) * m->factor[m->classes.of[o->number[t]]];
    case NU_SVC: /* the sum is nu times this for all objects of the pair */
        return sum / (m->nu * objects);
    case ONE_CLASS: return 1;
    default: return compat_engine_cost(o->e);
    }
}

/* Where an object stands for several, these take what is beyond its bound. */
static bool share_out(output *o, int objects)
{
    const compat_pack *vectors = compat_engine_vectors(o->e);
    double sum = 0;
    for (int64_t t = 0; t < o->support; t++)
        sum += fabs(o->coef[t]);
    for (int64_t t = 0; t < o->support && vectors; t++) {
        double bound = bound_of(o, t, sum, objects), beyond = fabs(o->coef[t]) - bound;
        if (!(beyond > 1e-9 * bound))
            continue;
        if (o->next == NULL) {
            const compat_machine *m = o->m;
            o->next = malloc(((size_t)m->train.count + 1) * sizeof *o->next);
            if (!o->next ||
                !compat_duplicates_link(o->next, vectors, m->train.row, m->train.count, m->target))
                return false;
        }
        int other = o->next[o->number[t]];
        if (other < 0 || o->support == o->m->train.count)
            continue;
        o->number[o->support] = other;
        o->coef[o->support++] = copysign(beyond, o->coef[t]);
        o->coef[t] = copysign(bound, o->coef[t]);
    }
    return true;
}

static bool output_read(output *o, int p, double *rho)
{
    int i, j, objects = o->m->train.count;
    if (o->m->classify)
        objects = compat_machine_pair(o->m, p, &i, &j);
    o->support = compat_machine_coefficients(o->m, p, o->coef, o->number, rho);
    return share_out(o, objects);
}

/* ---- which objects are support vectors --------------------------------------------------------*/

/* place[i]: 1 where object i has a coefficient that is not 0. */
static bool mark_support(output *o, int outputs, int *place)
{
    for (int p = 0; p < outputs; p++) {
        double rho;
        if (!output_read(o, p, &rho))
            return false;
        for (int64_t t = 0; t < o->support; t++)
            place[o->number[t]] = 1;
    }
    return true;
}

/* Lists the support vectors, class by class, and turns marks into places in that list. */
static void list_support(model *out, const compat_machine *m, const struct svm_problem *prob,
                         int *place)
{
    int count = 0;
    for (int t = 0; t < m->train.count; t++) {
        int i = m->classify ? m->classes.member[t] : t;
        if (!place[i])
            continue;
        out->SV[count] = prob->x[m->train.row[i]];
        out->sv_indices[count] = m->train.row[i] + 1;
        if (m->classify)
            out->nSV[m->classes.of[i]]++;
        place[i] = count++;
    }
}

/* ---- coefficients -----------------------------------------------------------------------------*/

static bool fill_coefficients(model *out, output *o, int outputs, const int *place)
{
    const compat_machine *m = o->m;
    for (int p = 0; p < outputs; p++) {
        int i = 0, j = 1;
        if (!output_read(o, p, out->rho + p))
            return false;
        if (m->classify)
            compat_machine_pair(m, p, &i, &j);
        for (int64_t t = 0; t < o->support; t++) {
            int row = !m->classify || m->classes.of[o->number[t]] == i ? j - 1 : i;
            out->sv_coef[row][place[o->number[t]]] = o->coef[t];
        }
    }
    return true;
}

static bool allocate(model *out, const compat_machine *m, int outputs, int support)
{
    int rows = out->nr_class > 1 ? out->nr_class - 1 : 0;
    out->SV = malloc(((size_t)support + 1) * sizeof *out->SV);
    out->sv_indices = malloc(((size_t)support + 1) * sizeof *out->sv_indices);
    out->sv_coef = calloc((size_t)rows + 1, sizeof *out->sv_coef);
    out->rho = malloc(((size_t)outputs + 1) * sizeof *out->rho);
    bool done = out->SV && out->sv_indices && out->sv_coef && out->rho;
    for (int i = 0; done && i < rows; i++)
        done = (out->sv_coef[i] = calloc((size_t)support + 1, sizeof **out->sv_coef)) != NULL;
    if (m->classify && done) {
        out->label = malloc(((size_t)out->nr_class + 1) * sizeof *out->label);
        out->nSV = calloc((size_t)out->nr_class + 1, sizeof *out->nSV);
        done = out->label && out->nSV;
        for (int k = 0; done && k < out->nr_class; k++)
            out->label[k] = m->classes.label[k];
    }
    return done;
}

static bool convert(model *out, const compat_machine *m, compat_engine *e)
{
    output o;
    int outputs = compat_machine_outputs(m);
    int *place = calloc((size_t)m->train.count + 1, sizeof *place);
    bool done = output_open(&o, m, e) && place && mark_support(&o, outputs, place);
    out->nr_class = m->classify ? m->classes.count : 2;
    for (int i = 0; done && i < m->train.count; i++)
        out->l += place[i];
    done = done && allocate(out, m, outputs, out->l);
    if (done)
        list_support(out, m, compat_engine_problem(e), place);
    done = done && fill_coefficients(out, &o, outputs, place);
    output_close(&o);
    free(place);
    return done;
}

/* What LIBSVM prints of one problem. */
static void summarise_one(const model *out, const compat_machine *m, const compat_engine *e)
{
    int bounded = 0, type = out->param.svm_type;
    int64_t count;
    const double *epsilon = mcr_model_number(*m->model, "epsilon", &count);
    double sum = 0, bound = type == ONE_CLASS ? 1 : compat_engine_cost(e);
    for (int i = 0; i < out->l; i++)
        sum += fabs(out->sv_coef[0][i]);
    if (type == NU_SVC)
        bound = sum / (m->nu * m->train.count);
    for (int i = 0; i < out->l; i++) {
        double factor = type == C_SVC ? m->factor[i >= out->nSV[0]] : 1;
        bounded += fabs(out->sv_coef[0][i]) >= bound * factor * (1 - 1e-9);
    }
    if (type == EPSILON_SVR || (type == C_SVC && m->factor[0] == m->factor[1]))
        compat_info("nu = %f\n", sum / (bound * m->train.count));
    else if (type == NU_SVC)
        compat_info("C = %f\n", bound);
    else if (type == NU_SVR && epsilon && count > 0)
        compat_info("epsilon = %f\n", *epsilon);
    compat_info("obj = %f, rho = %f\n", mcr_model_report(*m->model)->objective, out->rho[0]);
    compat_info("nSV = %d, nBSV = %d\n", out->l, bounded);
}

static void summarise(const model *out, const compat_machine *m, const compat_engine *e)
{
    if (m->models == 1 && *m->model && compat_machine_outputs(m) == 1)
        summarise_one(out, m, e);
    if (m->classify)
        compat_info("Total nSV = %d\n", out->l);
}

/* ---- probabilities ----------------------------------------------------------------------------*/

/* Residuals of cross-validation, as a Laplace distribution. */
static bool add_laplace(model *out, compat_engine *e, int n)
{
    const double *y = compat_engine_problem(e)->y;
    double *residual = calloc((size_t)n + 1, sizeof *residual);
    out->probA = malloc(sizeof *out->probA);
    bool done = residual && out->probA && compat_validate(e, n < 5 ? n : 5, false, residual);
    for (int i = 0; done && i < n; i++)
        residual[i] = y[i] - residual[i];
    if (done) {
        *out->probA = compat_laplace_fit(residual, n);
        compat_info("Prob. model for test data: target value = predicted value + z,\n"
                    "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= %g\n",
                    *out->probA);
    }
    free(residual);
    return done;
}

#if LIBSVM_ABI >= 4
static bool add_density(model *out, const compat_machine *m, compat_engine *e)
{
    int n = m->train.count;
    double *value = malloc(((size_t)n + 1) * sizeof *value);
    double *marks = malloc(COMPAT_MARKS * sizeof *marks);
    bool done = value && marks;
    if (done && *m->model &&
        !compat_engine_predict(e, *m->model, m->train, m->train, NULL, value)) {
        if (compat_density_fit(value, n, marks)) {
            out->prob_density_marks = marks;
            marks = NULL;
        } else {
            compat_warn("number of positive or negative decision values <%d; too few to do a "
                        "probability estimation.",
                        COMPAT_MARKS / 2);
        }
    }
    free(marks);
    free(value);
    return done;
}
#endif

static bool add_probabilities(model *out, compat_machine *m, compat_engine *e)
{
    if (m->classify) {
        out->probA = m->prob_a;
        out->probB = m->prob_b;
        m->prob_a = m->prob_b = NULL;
        return true;
    }
    if (out->param.svm_type != ONE_CLASS)
        return add_laplace(out, e, m->train.count);
#if LIBSVM_ABI >= 4
    return add_density(out, m, e);
#else
    return true;
#endif
}

struct svm_model *svm_train(const struct svm_problem *prob, const struct svm_parameter *param)
{
    compat_engine *e = compat_engine_open(prob, param);
    if (e == NULL)
        return NULL;
    compat_machine machine = {0};
    model *out = calloc(1, sizeof *out);
    int *row = malloc(((size_t)prob->l + 1) * sizeof *row);
    bool done = out && row;
    for (int i = 0; done && i < prob->l; i++)
        row[i] = i;
    if (done) {
        out->param = *param;
        done = compat_machine_fit(&machine, e, (compat_rows){row, prob->l}, param->probability);
        compat_progress progress = compat_machine_progress(&machine);
        compat_progress_print(&progress);
    }
    done = done && convert(out, &machine, e);
    if (done)
        summarise(out, &machine, e);
    if (done && param->probability)
        done = add_probabilities(out, &machine, e);
    compat_machine_close(&machine);
    compat_engine_close(e);
    free(row);
    if (!done) {
        compat_warn("out of memory");
        svm_free_and_destroy_model(&out);
    }
    return out;
}
