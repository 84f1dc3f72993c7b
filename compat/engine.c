/* engine.c: Mercer's solvers on the objects of one problem.
 *
 * The lists of nodes become one sparse matrix whose columns are the indices that occur. Where
 * LIBSVM's kernel is none of Mercer's (rows of a precomputed one, indices that do not rise, rbf
 * with gamma < 0), the values are computed here and handed over as a matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/borrow.h>

#include "classes.h"
#include "kernel.h"
#include "pool.h"
#include "text.h"

struct compat_engine {
    const struct svm_problem *prob;
    const struct svm_parameter *param;
    mcr *ctx;
    compat_pool *pool; /* large blocks of all contexts of an engine and its branches */
    mcr_kernel *kernel;
    compat_pack pack;
    double *target;          /* of each object, as training on all of them has it; NULL: none */
    mcr_data *whole;         /* all objects, which parts are views of; NULL: not in matrix form */
    bool matrix;             /* kernel values are computed here */
    const compat_engine *of; /* whose kernel, pack and targets it borrows; NULL: they are its own */
    atomic_bool *broken; /* numbers that no solver can use, or a failure that has been reported */
    atomic_bool own_broken; /* what `broken` of an engine and its branches points to */
};

const struct svm_problem *compat_engine_problem(const compat_engine *e)
{
    return e->prob;
}

const struct svm_parameter *compat_engine_parameter(const compat_engine *e)
{
    return e->param;
}

const compat_pack *compat_engine_vectors(const compat_engine *e)
{
    return e->matrix || *e->broken ? NULL : &e->pack;
}

/* LIBSVM takes any number; where a solver cannot, the nearest that it can. */
static double within(double value, double low, double high)
{
    return value > low ? fmin(value, high) : low;
}

double compat_engine_cost(const compat_engine *e)
{
    return within(e->param->C, 1e-12, 1e12);
}

static void fail(compat_engine *e, const char *what)
{
    if (!atomic_exchange(e->broken, true))
        compat_warn("%s: the model is empty", what);
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* Kernels in Mercer's words; false: there is none. In the C locale. */
static bool write_kernel(const struct svm_parameter *p, char *text, size_t size)
{
    double constant = compat_kernel_constant(p);
    if (!isnan(constant))
        snprintf(text, size, "0*linear + %.17g", constant);
    else if (p->kernel_type == LINEAR)
        snprintf(text, size, "linear");
    else if (p->kernel_type == POLY && p->gamma > 0 && p->coef0 >= 0 && p->degree <= 1000)
        snprintf(text, size, "poly(degree=%d, scale=%.17g, c=%.17g)", p->degree, p->gamma,
                 p->coef0);
    else if (p->kernel_type == POLY)
        snprintf(text, size, "(%.17g*linear + %.17g)^%d", p->gamma, p->coef0, p->degree);
    else if (p->kernel_type == RBF && p->gamma > 0)
        snprintf(text, size, "rbf(gamma=%.17g)", p->gamma);
    else if (p->kernel_type == SIGMOID)
        snprintf(text, size, "sigmoid(a=%.17g, b=%.17g)", p->gamma, p->coef0);
    else
        return false;
    return true;
}

static mcr_status open_kernel(compat_engine *e)
{
    char text[128];
    compat_locale locale = compat_locale_enter();
    if (e->param->kernel_type == PRECOMPUTED || !e->pack.rising ||
        !write_kernel(e->param, text, sizeof text)) {
        e->matrix = true;
        snprintf(text, sizeof text, "precomputed");
    }
    compat_locale_leave(locale);
    return mcr_kernel_parse(&e->kernel, e->ctx, text);
}

/* threads 0: all cores. */
static mcr_status open_context(compat_engine *e, int threads)
{
    mcr_config config = {
        .size = sizeof config,
        .threads = threads,
        .realloc = compat_pool_realloc,
        .user = e->pool,
        .work_seconds = 1e15, /* LIBSVM begins whatever it is given */
    };
    return mcr_open(&e->ctx, &config);
}

static int wanted_threads(int objects)
{
    enum { FEW = 256 }; /* objects that are not worth a second thread */
    const char *text = getenv("OMP_NUM_THREADS");
    long threads = text ? strtol(text, NULL, 10) : 0;
    if (objects < FEW)
        return 1;
    return threads > 0 && threads <= INT_MAX ? (int)threads : 0;
}

static bool is_used(int kernel)
{
    return kernel == POLY || kernel == RBF || kernel == SIGMOID;
}

static bool has_targets(int type)
{
    return type == EPSILON_SVR || type == NU_SVR;
}

/* What no solver can use. */
static const char *find_fault(const compat_engine *e)
{
    const struct svm_parameter *p = e->param;
    if (p->svm_type < C_SVC || p->svm_type > NU_SVR)
        return "unknown svm type";
    if (p->kernel_type < LINEAR || p->kernel_type > PRECOMPUTED)
        return "unknown kernel type";
    if (is_used(p->kernel_type) && !(isfinite(p->gamma) && isfinite(p->coef0)))
        return "gamma or coef0 is not finite";
    for (int i = 0; has_targets(p->svm_type) && i < e->prob->l; i++)
        if (!isfinite(e->prob->y[i]))
            return "a target is not finite";
    return e->pack.fault;
}

/* Class numbers or values; nothing where there are none. */
static mcr_status open_targets(compat_engine *e)
{
    int n = e->prob->l, type = e->param->svm_type;
    if (n == 0 || type == ONE_CLASS)
        return MCR_OK;
    if ((e->target = malloc((size_t)n * sizeof *e->target)) == NULL)
        return MCR_NO_MEMORY;
    if (has_targets(type)) {
        memcpy(e->target, e->prob->y, (size_t)n * sizeof *e->target);
        return MCR_OK;
    }
    compat_classes c = {0};
    if (!compat_classes_open(&c, e->prob->y, NULL, n))
        return MCR_NO_MEMORY;
    for (int i = 0; i < n; i++)
        e->target[i] = compat_classes_number(&c, c.of[i]);
    compat_classes_close(&c);
    return MCR_OK;
}

/* The pack and the targets, in place: folds are then views of one data set. */
static mcr_status open_whole(compat_engine *e)
{
    mcr_builder *builder = NULL;
    mcr_sparse_view x = MCR_INIT(mcr_sparse_view);
    x.cols = e->pack.cols;
    x.start = e->pack.start;
    x.index = e->pack.index;
    x.values = e->pack.value;
    x.start_type = MCR_INT64;
    x.index_type = MCR_INT32;
    mcr_status s = mcr_builder_open(&builder, e->ctx, e->prob->l);
    if (!s)
        s = mcr_builder_borrow_sparse(builder, "x", &x);
    if (!s && e->target)
        s = mcr_builder_targets(builder, e->target);
    if (!s)
        return mcr_builder_finish(&e->whole, builder);
    mcr_builder_close(builder);
    return s;
}

/* What an engine that has a context needs besides. */
static void prepare(compat_engine *e)
{
    mcr_status s = e->of ? MCR_OK : open_kernel(e);
    if (!s && !e->of && !e->matrix)
        s = open_targets(e);
    if (!s && !e->matrix)
        s = open_whole(e);
    if (s)
        fail(e, s == MCR_NO_MEMORY ? "out of memory" : mcr_message(e->ctx));
}

compat_engine *compat_engine_open(const struct svm_problem *prob, const struct svm_parameter *param)
{
    if (prob == NULL || param == NULL || prob->l < 0 || (prob->l > 0 && !(prob->x && prob->y))) {
        compat_warn("the problem or its parameters are missing");
        return NULL;
    }
    compat_engine *e = calloc(1, sizeof *e);
    if (e)
        *e = (compat_engine){.prob = prob, .param = param, .broken = &e->own_broken};
    if (!e || !(e->pool = compat_pool_open()) || open_context(e, wanted_threads(prob->l)) ||
        !compat_pack_open(&e->pack, prob, param->kernel_type == PRECOMPUTED)) {
        compat_warn("out of memory");
        compat_engine_close(e);
        return NULL;
    }
    const char *fault = find_fault(e);
    if (fault)
        fail(e, fault);
    else
        prepare(e);
    return e;
}

compat_engine *compat_engine_branch(compat_engine *e)
{
    compat_engine *branch = calloc(1, sizeof *branch);
    if (branch == NULL)
        return NULL;
    *branch = (compat_engine){.prob = e->prob,
                              .param = e->param,
                              .pool = e->pool,
                              .kernel = e->kernel,
                              .pack = e->pack,
                              .target = e->target,
                              .matrix = e->matrix,
                              .of = e,
                              .broken = e->broken};
    if (open_context(branch, 1)) {
        compat_engine_close(branch);
        return NULL;
    }
    if (!*e->broken)
        prepare(branch);
    return branch;
}

int compat_engine_threads(const compat_engine *e)
{
    return mcr_threads(e->ctx);
}

void compat_engine_close(compat_engine *e)
{
    if (e == NULL)
        return;
    mcr_data_free(e->whole);
    if (e->of == NULL) {
        compat_pack_close(&e->pack);
        free(e->target);
        mcr_kernel_free(e->kernel);
    }
    mcr_close(e->ctx);
    if (e->of == NULL)
        compat_pool_close(e->pool);
    free(e);
}

/* ---- data -------------------------------------------------------------------------------------*/

static double value_of(const compat_engine *e, int x, int z)
{
    const struct svm_node *row = e->prob->x[x];
    if (e->param->kernel_type == PRECOMPUTED)
        return row[e->pack.number[z]].value;
    return compat_kernel_value(e->param, row, e->prob->x[z]);
}

/* K between the objects of x and those of z, which are numbered by their places. */
static mcr_status add_matrix(compat_engine *e, mcr_builder *builder, compat_rows x, compat_rows z)
{
    bool same = x.row == z.row && x.count == z.count;
    size_t rows = (size_t)x.count, cols = (size_t)z.count;
    double *k = rows > SIZE_MAX / sizeof *k / (cols + 1) ? NULL : malloc(rows * cols * sizeof *k);
    if (k == NULL)
        return MCR_NO_MEMORY;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            k[i * cols + j] = value_of(e, x.row[i], z.row[j]);
    int64_t *id = same ? NULL : malloc(rows * sizeof *id);
    mcr_status s = same || id ? MCR_OK : MCR_NO_MEMORY;
    for (size_t i = 0; id && i < rows; i++)
        id[i] = -1;
    if (!s)
        s = mcr_builder_precomputed(builder, "x", k, z.count, id);
    free(id);
    free(k);
    return s;
}

static mcr_status add_vectors(compat_engine *e, mcr_builder *builder, compat_rows x)
{
    compat_pack part = {0};
    if (!compat_pack_select(&part, &e->pack, x.row, x.count))
        return MCR_NO_MEMORY;
    mcr_status s = mcr_builder_sparse(builder, "x", e->pack.cols, part.start, part.index,
                                      part.value);
    compat_pack_close(&part);
    return s;
}

/* Whether some objects have the targets that they have among all: they have none, or no class is
 * missing, which would give others its number. */
static bool keeps_targets(const compat_engine *e, compat_rows x, const double *target)
{
    if (target == NULL)
        return true;
    double most = 0, most_here = 0;
    for (int i = 0; i < e->prob->l; i++)
        most = fmax(most, e->target[i]);
    for (int i = 0; i < x.count; i++) {
        if (target[i] != e->target[x.row[i]])
            return false;
        most_here = fmax(most_here, target[i]);
    }
    return has_targets(e->param->svm_type) || most == most_here;
}

static mcr_status select_data(mcr_data **out, const compat_engine *e, compat_rows x)
{
    int64_t *row = malloc(((size_t)x.count + 1) * sizeof *row);
    if (row == NULL)
        return MCR_NO_MEMORY;
    for (int i = 0; i < x.count; i++)
        row[i] = x.row[i];
    mcr_status s = mcr_data_select(out, e->whole, (mcr_rows){row, 0, x.count});
    free(row);
    return s;
}

/* The objects x; in matrix form against those of z. */
static mcr_status make_data(mcr_data **out, compat_engine *e, compat_rows x, compat_rows z,
                            const double *target, const double *weight)
{
    if (e->whole && !weight && keeps_targets(e, x, target))
        return select_data(out, e, x);
    mcr_builder *builder = NULL;
    mcr_status s = mcr_builder_open(&builder, e->ctx, x.count);
    if (!s)
        s = e->matrix ? add_matrix(e, builder, x, z) : add_vectors(e, builder, x);
    if (!s && target)
        s = mcr_builder_targets(builder, target);
    if (!s && weight)
        s = mcr_builder_weights(builder, weight);
    if (!s)
        return mcr_builder_finish(out, builder);
    mcr_builder_close(builder);
    return s;
}

/* ---- training ---------------------------------------------------------------------------------*/

static const char *const learner_name[] = {"svm", "nu-svm", "one-class", "svr", "nu-svr"};

static mcr_status set_number(mcr_options *options, const char *name, double value)
{
    char text[40];
    compat_locale locale = compat_locale_enter();
    snprintf(text, sizeof text, "%.17g", value);
    compat_locale_leave(locale);
    return mcr_options_set(options, name, text);
}

static mcr_status set_options(mcr_options *options, const compat_engine *e, double nu)
{
    const struct svm_parameter *p = e->param;
    int type = p->svm_type;
    mcr_status s = set_number(options, "tol", within(p->eps, 1e-12, 1e6));
    if (!s && p->cache_size > 256)
        s = set_number(options, "cache", within(p->cache_size, 256, 1e6));
    if (!s && (type == C_SVC || type == EPSILON_SVR || type == NU_SVR))
        s = set_number(options, "C", compat_engine_cost(e));
    if (!s && (type == NU_SVC || type == ONE_CLASS || type == NU_SVR))
        s = set_number(options, "nu", within(nu, 1e-9, 1));
    if (!s && type == EPSILON_SVR)
        s = set_number(options, "epsilon", within(p->p, 0, 1e300));
    return s;
}

/* nu-svm whose margin is 0. */
static bool has_no_solution(const compat_engine *e, mcr_status s)
{
    return e->param->svm_type == NU_SVC && (s == MCR_BAD_DATA || s == MCR_NUMERIC);
}

mcr_status compat_engine_fit(mcr_model **out, compat_engine *e, compat_rows train,
                             const double *target, const double *weight, double nu)
{
    *out = NULL;
    if (*e->broken || train.count == 0)
        return MCR_BAD_DATA;
    mcr_data *data = NULL;
    mcr_options *options = NULL;
    mcr_status s = mcr_options_open(&options, e->ctx, learner_name[e->param->svm_type]);
    if (!s)
        s = set_options(options, e, nu);
    if (!s)
        s = make_data(&data, e, train, train, target, weight);
    if (s)
        goto done;
    s = mcr_fit(out, options, e->kernel, data, NULL);
    if (has_no_solution(e, s)) {
        *out = NULL;
        s = MCR_OK;
    }
done:
    if (s)
        fail(e, s == MCR_NO_MEMORY ? "out of memory" : mcr_message(e->ctx));
    mcr_data_free(data);
    mcr_options_close(options);
    return s;
}

mcr_status compat_engine_predict(compat_engine *e, const mcr_model *model, compat_rows train,
                                 compat_rows test, double *value, double *score)
{
    mcr_data *data = NULL;
    mcr_status s = make_data(&data, e, test, train, NULL, NULL);
    if (!s)
        s = mcr_predict(e->ctx, model, data, value, score, NULL);
    if (s)
        fail(e, s == MCR_NO_MEMORY ? "out of memory" : mcr_message(e->ctx));
    mcr_data_free(data);
    return s;
}
