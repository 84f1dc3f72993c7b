/* fisher.c: kernel Fisher discriminants for two and more classes (Mika et al., 1999; Baudat and
 * Anouar, 2000), regularised.
 *
 * Directions v that maximise v'S_B v / v'(S_W + r I)v, with S_B and S_W the covariance between and
 * within the classes, and r = lambda times the total variance. In the terms of gram/centred.h, with
 * e_c the vector of sqrt(p_i / p_c) on the objects of class c (p_c the share of the class), S_B is
 * made of the products of A with E = (e_1 ...), and S_B + S_W of A^2. All directions are a = H b,
 * where
 *
 *   (A + r I) H = E,   M b = u b,   M = E'A H = I - r E'H
 *
 * and u = between / (all + r). M has one row per class; one Cholesky factorisation takes most of
 * the time. Directions are scaled to v'(S_W + r I)v = u (1 - u) |b|^2 = 1, so that the classes are
 * round and equally wide in the coordinates, and the nearest class mean is the prediction. The mean
 * of class c has the coordinate u b_c / sqrt(p_c). From features the same H is found by a smaller
 * factor (solve/shifted.h), with G = X'H.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "learn/directions.h"
#include "learn/svm_problem.h"
#include "linalg/shared.h"
#include "solve/shifted.h"

#define EXTRA_CLASS "class"
#define EXTRA_MEANS "means"

typedef struct params {
    double lambda, time_limit;
    int64_t components;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"lambda", MCR_REAL, offsetof(params, lambda), "0.001", 0, INFINITY,
     MCR_MIN_OPEN | MCR_MAX_OPEN, NULL, "regularisation, as a share of the variance"},
    {"components", MCR_INT, offsetof(params, components), NULL, 1, INFINITY, 0, NULL,
     "number of discriminants (default: the number of classes minus 1)"},
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the training ends without a model"),
    MCR_APPROX_PARAMS(params),
    {0},
};

typedef struct fisher {
    mcr *ctx;
    mcr_directions d;
    int64_t classes;        /* of those that have objects */
    int64_t *class_at;      /* their numbers */
    int64_t *place;         /* of each object's class among them */
    double *share;          /* p_c */
    double ridge, residual; /* r; how well H solves */
    double *e, *h;          /* n x classes each */
    double *m, *value;      /* classes x classes: rows are b; 1 - u, rising */
    int64_t outputs;
    double *scale;                /* of each output's b */
    double middle;                /* of two classes */
    double *coef, *offset, *mean; /* outputs x n, outputs, classes x outputs */
    /* From features only: */
    int64_t wide;  /* how many there are; else 0 */
    double *g, *w; /* wide x classes: G; wide x outputs: the directions */
} fisher;

/* ---- the problem ------------------------------------------------------------------------------*/

static mcr_status take_buffers(fisher *p, const mcr_data *data)
{
    mcr *ctx = p->ctx;
    size_t n = (size_t)p->d.n, k = (size_t)mcr_data_classes(data);
    p->class_at = mcr_alloc(ctx, k, sizeof *p->class_at);
    p->place = mcr_alloc(ctx, n, sizeof *p->place);
    bool ok = mcr_alloc_doubles(ctx, (uint64_t)p->wide * k, &p->g) &&
              mcr_zero_doubles(ctx, k, &p->share) &&
              mcr_zero_doubles(ctx, (uint64_t)n * k, &p->e) &&
              mcr_alloc_doubles(ctx, (uint64_t)n * k, &p->h, &p->coef) &&
              mcr_alloc_doubles(ctx, (uint64_t)k * k, &p->m, &p->mean) &&
              mcr_alloc_doubles(ctx, k, &p->value, &p->scale, &p->offset);
    return ok && p->class_at && p->place ? MCR_OK : MCR_NO_MEMORY;
}

/* Classes by their weight: a view of data may have none of a class. */
static void set_classes(fisher *p, const mcr_data *data)
{
    const int32_t *class_of = mcr_data_class_of(data);
    const double *root = mcr_gram_roots(p->d.gram);
    int64_t n = p->d.n;
    for (int64_t c = 0; c < mcr_data_classes(data); c++) {
        double share = 0;
        for (int64_t i = 0; i < n; i++)
            share += class_of[i] == c ? root[i] * root[i] : 0;
        for (int64_t i = 0; i < n; i++)
            if (class_of[i] == c)
                p->place[i] = share > 0 ? p->classes : -1;
        if (share > 0) {
            p->share[p->classes] = share;
            p->class_at[p->classes++] = c;
        }
    }
    for (int64_t i = 0; i < n; i++)
        if (p->place[i] >= 0)
            p->e[i * p->classes + p->place[i]] = root[i] / sqrt(p->share[p->place[i]]);
}

static void add_squares(const double *v, int64_t rows, int64_t k, double factor, double *m)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < k; c++)
            for (int64_t d = 0; d <= c; d++)
                m[c * k + d] += factor * v[i * k + c] * v[i * k + d];
}

/* r E'H, lower triangle and diagonal: symmetric but for rounding; from features as r G'G + r^2 H'H,
 * which loses no digits. */
static mcr_status make_m(fisher *p)
{
    int64_t k = p->classes;
    if (p->wide > 0) {
        memset(p->m, 0, sizeof *p->m * (size_t)(k * k));
        add_squares(p->g, p->wide, k, p->ridge, p->m);
        add_squares(p->h, p->d.n, k, p->ridge * p->ridge, p->m);
        return MCR_OK;
    }
    mcr_status s = mcr_shared_gemm(p->ctx, MCR_TRANSPOSED, MCR_AS_IS, k, k, p->d.n, p->ridge, p->e,
                                   k, p->h, k, 0, p->m, k);
    for (int64_t c = 0; c < k && !s; c++)
        for (int64_t d = 0; d < c; d++)
            p->m[c * k + d] = 0.5 * (p->m[c * k + d] + p->m[d * k + c]);
    return s;
}

/* H, G, and r E'H. */
static mcr_status solve(fisher *p, double lambda)
{
    mcr_shifted t;
    mcr_status s = mcr_shifted_open(&t, p->d.gram, NULL, mcr_shifted_is_direct(p->d.gram), "fisher",
                                    p->wide ? "fisher: the covariance"
                                            : "fisher: the kernel matrix");
    if (!s)
        s = mcr_directions_centre(&p->d);
    if (!s) {
        p->ridge = lambda * p->d.c->total;
        s = mcr_shifted_solve(&t, p->ridge, p->e, p->classes, p->h);
    }
    if (!s)
        s = mcr_shifted_check(&t, p->ridge, p->e, p->classes, p->d.c->total + p->ridge, p->h, p->g,
                              &p->residual);
    mcr_shifted_close(&t);
    if (s == MCR_NUMERIC)
        s = mcr_advise(p->ctx,
                       mcr_fail(p->ctx, MCR_NUMERIC,
                                "fisher: the kernel is not positive semidefinite on these data, or "
                                "lambda is too small for its rounding errors: use a larger one"),
                       "option lambda");
    return s ? s : make_m(p);
}

/* ---- the directions ---------------------------------------------------------------------------*/

/* The sign by which the class with the largest coordinate is positive; of two classes the
 * second. */
static double sign_of(const fisher *p, const double *b)
{
    double most = 0;
    if (p->classes == 2)
        return b[1] / sqrt(p->share[1]) > b[0] / sqrt(p->share[0]) ? 1 : -1;
    for (int64_t c = 0; c < p->classes; c++)
        if (fabs(b[c]) / sqrt(p->share[c]) > fabs(most) * (1 + 1e-9))
            most = b[c] / sqrt(p->share[c]);
    return most < 0 ? -1 : 1;
}

static void make_direction(fisher *p, int64_t o)
{
    int64_t n = p->d.n, k = p->classes;
    const double *b = p->m + o * k;
    double rest = fmax(p->value[o], DBL_EPSILON), u = 1 - p->value[o];
    double scale = p->scale[o] = sign_of(p, b) / sqrt(u * rest), *coef = p->coef + o * n;
    for (int64_t i = 0; i < n; i++) {
        coef[i] = 0;
        for (int64_t c = 0; c < k; c++)
            coef[i] += scale * p->h[i * k + c] * b[c];
    }
    p->offset[o] = mcr_directions_expand(&p->d, coef);
    for (int64_t c = 0; c < k; c++)
        p->mean[c * p->outputs + o] = scale * u * b[c] / sqrt(p->share[c]);
}

/* 1 - u are the eigenvalues of r E'H. Those with u = 0 do not separate classes; at least one is
 * kept. */
static mcr_status discriminate(fisher *p, int64_t wanted)
{
    mcr *ctx = p->ctx;
    int64_t k = p->classes;
    mcr_status s = mcr_shared_eigen(ctx, k, p->m, k, p->value);
    while (!s && p->outputs < k - 1 && p->outputs < wanted && 1 - p->value[p->outputs] > 1e-12)
        p->outputs++;
    if (!s && p->outputs == 0)
        s = mcr_fail(ctx, MCR_BAD_DATA,
                     "fisher: the kernel does not separate the classes: their means are equal");
    for (int64_t o = 0; o < p->outputs && !s; o++)
        make_direction(p, o);
    if (!s && k == 2) { /* the boundary is in the middle: at 0, as in other two-class models */
        p->middle = 0.5 * (p->mean[0] + p->mean[1]);
        p->offset[0] -= p->middle;
        p->mean[0] -= p->middle;
        p->mean[1] -= p->middle;
    }
    return s;
}

/* ---- training ---------------------------------------------------------------------------------*/

static mcr_status complete(mcr_fitted *f, const fisher *p, const mcr_learning *in)
{
    double blur = 0;
    mcr_status s = mcr_directions_error(&p->d, in, &blur);
    if (s)
        return s;
    double *number = mcr_alloc(p->ctx, (size_t)p->classes, sizeof *number);
    s = number ? MCR_OK : MCR_NO_MEMORY;
    f->task = MCR_CLASSIFY;
    f->rule = MCR_RULE_OWN;
    f->classes = mcr_data_classes(in->data);
    f->iterations = 1;
    f->objective = 0;
    for (int64_t o = 0; o < p->outputs; o++) { /* 1 - u changes by r H'(dA)H, |H| <= 1 / r */
        double rest = fmax(p->value[o], DBL_EPSILON);
        f->objective += (1 - p->value[o]) / rest;
        f->objective_error += blur / p->ridge / (rest * rest);
    }
    f->as_computed = p->d.own != NULL;
    f->value_error = blur * sqrt((double)p->d.n) / (p->d.c->total + p->ridge);
    if (!f->certificate)
        f->certificate = "relative residual";
    f->value = p->residual;
    f->tolerance = 1e-9;
    f->stop = p->residual <= f->tolerance ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    for (int64_t c = 0; c < p->classes && !s; c++)
        number[c] = (double)p->class_at[c];
    if (!s)
        s = mcr_fitted_keep(f, EXTRA_CLASS, number, p->classes);
    if (!s)
        s = mcr_fitted_keep(f, EXTRA_MEANS, p->mean, p->classes * p->outputs);
    mcr_free(p->ctx, number);
    return s;
}

/* ---- from features ----------------------------------------------------------------------------*/

/* w = G b: the directions as weights of the features. */
static mcr_status make_weights(fisher *p)
{
    int64_t k = p->classes;
    p->w = mcr_alloc(p->ctx, (size_t)p->wide, (size_t)p->outputs * sizeof *p->w);
    for (int64_t j = 0; j < p->wide && p->w; j++)
        for (int64_t o = 0; o < p->outputs; o++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++)
                sum += p->g[j * k + c] * p->m[o * k + c];
            p->w[j * p->outputs + o] = p->scale[o] * sum;
        }
    return p->w ? MCR_OK : MCR_NO_MEMORY;
}

/* The nearest class mean, of one object's coordinates. */
static int64_t nearest(const double *score, const double *mean, int64_t classes, int64_t outputs)
{
    double least = INFINITY;
    int64_t best = 0;
    for (int64_t c = 0; c < classes; c++) {
        double sum = 0;
        for (int64_t o = 0; o < outputs; o++) {
            double d = score[o] - mean[c * outputs + o];
            sum += d * d;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    return best;
}

/* Which training objects are right, so that they need not be predicted. */
static mcr_status keep_accuracy(mcr_fitted *f, const fisher *p, mcr_gram *d, const double *offset,
                                const mcr_data *data)
{
    int64_t n = mcr_gram_rows(d), k = p->outputs;
    double *score = mcr_alloc(p->ctx, (size_t)n, (size_t)k * sizeof *score);
    f->right = mcr_alloc(p->ctx, (size_t)n, sizeof *f->right);
    mcr_status s = score && f->right ? mcr_gram_expand(d, mcr_gram_all(d), p->w, k, score)
                                     : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++) {
        for (int64_t o = 0; o < k; o++)
            score[i * k + o] += offset[o];
        f->right[i] = p->class_at[nearest(score + i * k, p->mean, p->classes, k)] ==
                      mcr_data_class_of(data)[i];
    }
    mcr_free(p->ctx, score);
    return s;
}

static mcr_status make_near(mcr_fitted **out, const fisher *p, const mcr_form *form)
{
    mcr_status s = mcr_directions_mapped(out, &p->d, form, p->w, p->outputs);
    if (!s) {
        (*out)->offset[0] -= p->middle;
        (*out)->certificate = "relative residual of the approximate problem";
    }
    return s;
}

/* ---- both forms -------------------------------------------------------------------------------*/

static mcr_status run(mcr_fitted **out, fisher *p, const mcr_learning *in, const mcr_form *form)
{
    const params *o = in->params;
    p->wide = form->features ? mcr_gram_width(form->gram) : 0;
    mcr_status s = mcr_directions_open(&p->d, "fisher", in, form, false);
    if (!s)
        s = take_buffers(p, in->data);
    if (!s) {
        set_classes(p, in->data);
        s = solve(p, o->lambda);
    }
    if (!s)
        s = discriminate(p, o->components == INT64_MIN ? p->classes : o->components);
    if (!s && form->features)
        s = make_weights(p);
    if (!s)
        s = form->map ? make_near(out, p, form)
                      : mcr_directions_fitted(out, &p->d, p->outputs, p->coef, p->offset);
    if (!s)
        s = complete(*out, p, in);
    if (!s && form->features)
        s = keep_accuracy(*out, p, form->gram, (*out)->offset, in->data);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    mcr *ctx = in->ctx;
    const params *o = in->params;
    fisher p = {.ctx = ctx};
    mcr_form form = {0};
    mcr_status s = mcr_svm_need_classes(ctx, "fisher", in->data);
    if (!s)
        s = mcr_form_open(&form, in, &o->form,
                          &(mcr_form_work){MCR_WORK_FISHER, 1, (double)mcr_data_count(in->data),
                                           (double)mcr_data_classes(in->data)});
    if (!s)
        s = run(out, &p, in, &form);
    if (!s)
        s = mcr_form_report(&form, *out);
    mcr_free_all(ctx, p.class_at, p.place, p.share, p.e, p.h, p.m, p.value, p.scale, p.coef,
                 p.offset, p.mean, p.g, p.w);
    mcr_directions_close(&p.d);
    mcr_form_close(&form);
    return s;
}

/* ---- prediction: the nearest class mean -------------------------------------------------------*/

/* Numbers of a file may be anything. */
static bool are_classes(const double *number, int64_t count, int64_t classes)
{
    for (int64_t c = 0; c < count; c++)
        if (!(number[c] >= 0 && number[c] < (double)classes && number[c] == floor(number[c])))
            return false;
    return count > 0;
}

static mcr_status predict(const mcr_query *q)
{
    int64_t classes, outputs = q->fitted->outputs;
    const double *number = mcr_fitted_find(q->fitted, EXTRA_CLASS, &classes), *mean;
    if (!are_classes(number, classes, q->fitted->classes))
        return mcr_fail(q->ctx, MCR_BAD_DATA,
                        "the model is damaged (its classes do not fit); train it again");
    mcr_status s = mcr_fitted_need(&mean, q->fitted, EXTRA_MEANS, classes * outputs);
    for (int64_t i = 0; i < q->count && q->value && !s; i++)
        q->value[i] = number[nearest(q->score + i * outputs, mean, classes, outputs)];
    return s;
}

static const mcr_predictor predictor = {.block = predict};

const mcr_learner_type mcr_learner_fisher = {
    .name = "fisher",
    .summary = "Fisher discriminants: coordinates that separate classes; nearest class mean",
    .task = MCR_CLASSIFY,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .no_checkpoint = "its training is one decomposition, whose state cannot be stored",
    .usual = {.option = "lambda", .range = "1e-8:1:log9"},
    .weights_count = true,
    .dense = true,
    .no_start = true,
    .coordinates = true,
    .predictor = &predictor,
};
