/* kernels.c: kernel matrices, whether an expression is a kernel, explicit features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <math.h>
#include <string.h>

/* ---- matrices ---------------------------------------------------------------------------------*/

typedef struct gram_job {
    job j;
    const char *expression;
    const mcr_data *x, *z;
    Py_buffer *to;
    int diagonal;
} gram_job;

static mcr_status gram_work(job *j)
{
    gram_job *g = (gram_job *)j;
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    int64_t cols = mcr_data_count(g->z ? g->z : g->x);
    mcr_status status = mcr_kernel_parse(&kernel, j->ctx, g->expression);
    if (status == MCR_OK)
        status = mcr_gram_open(&gram, j->ctx, kernel, g->x, g->z);
    if (status == MCR_OK && g->diagonal)
        status = mcr_gram_diagonal(gram, 0, g->to->buf);
    else if (status == MCR_OK && core_format(g->to) == 'f')
        status = mcr_gram_matrix_float(gram, g->to->buf, cols);
    else if (status == MCR_OK)
        status = mcr_gram_matrix(gram, g->to->buf, cols);
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    return status;
}

/* 0 and the data behind an argument; None: NULL. */
static int data_of(job *j, PyObject *object, const mcr_data **out)
{
    *out = NULL;
    if (object == Py_None)
        return 0;
    if (!PyObject_TypeCheck(object, core_data_type)) {
        PyErr_SetString(PyExc_TypeError, "data of a session, or None, is wanted");
        return -1;
    }
    core_hold(j, object);
    *out = ((core_data *)object)->data;
    return 0;
}

static PyObject *session_gram(PyObject *self, PyObject *args)
{
    PyObject *expression, *x, *z, *to, *made = NULL;
    int diagonal = 0;
    if (!PyArg_ParseTuple(args, "UO!OO|p", &expression, core_data_type, &x, &z, &to, &diagonal))
        return NULL;
    gram_job *g = core_job_new(sizeof *g, (session *)self, gram_work);
    if (!g)
        return NULL;
    g->expression = core_text(&g->j, expression);
    g->diagonal = diagonal;
    if (data_of(&g->j, x, &g->x) == 0 && data_of(&g->j, z, &g->z) == 0) {
        int64_t cols = diagonal ? 1 : mcr_data_count(g->z ? g->z : g->x);
        g->to = core_view(&g->j, to, diagonal ? "d" : "df", 1, mcr_data_count(g->x) * cols);
    }
    if (g->to && core_job_run(&g->j) == 0) {
        made = Py_None;
        Py_INCREF(made);
    }
    core_job_close(&g->j);
    return made;
}

/* ---- validity ---------------------------------------------------------------------------------*/

typedef struct check_job {
    job j;
    const char *expression;
    const mcr_data *data;
    int64_t most;
    mcr_check_report *report;
} check_job;

static mcr_status check_work(job *j)
{
    check_job *c = (check_job *)j;
    mcr_kernel *kernel = NULL;
    mcr_status status = mcr_kernel_parse(&kernel, j->ctx, c->expression);
    if (status == MCR_OK)
        status = mcr_kernel_check(&c->report, j->ctx, kernel, c->data, c->most);
    mcr_kernel_free(kernel);
    return status;
}

static void check_clean(job *j)
{
    check_job *c = (check_job *)j;
    if (c->report)
        mcr_check_free(j->ctx, c->report);
}

static PyObject *texts(int64_t count, char *const *text)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *one = core_string(text[i]);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *numbers(int64_t count, const double *value)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *one = PyFloat_FromDouble(value[i]);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *counterexample(const mcr_check_report *r)
{
    PyObject *d = r->objects > 0 ? PyDict_New() : NULL, *object = PyList_New(0);
    if (r->objects <= 0 || !object || !d) {
        Py_XDECREF(object);
        Py_XDECREF(d);
        Py_RETURN_NONE;
    }
    for (int64_t i = 0; i < r->objects; i++) {
        PyObject *one = PyLong_FromLongLong(r->object[i]);
        if (one)
            PyList_Append(object, one);
        Py_XDECREF(one);
    }
    if (core_put(d, "objects", object) ||
        core_put(d, "gram", numbers(r->objects * r->objects, r->gram)) ||
        core_put(d, "t", numbers(r->objects, r->t)) ||
        core_put(d, "value", core_number(r->value)) ||
        core_put(d, "shown", texts(r->shown ? r->objects : 0, r->shown)))
        Py_CLEAR(d);
    return d;
}

static PyObject *check_result(const mcr_check_report *r)
{
    static const char *const verdicts[] = {"unknown", "yes", "no"};
    PyObject *d = PyDict_New();
    if (!d || core_put(d, "valid", core_string(verdicts[r->valid])) ||
        core_put(d, "reason", core_string(r->reason)) ||
        core_put(d, "rules", texts(r->rules, r->rule)) ||
        core_put(d, "tested", PyLong_FromLongLong(r->tested)) ||
        core_put(d, "min_eigenvalue", core_number(r->min_eigenvalue)) ||
        core_put(d, "counterexample", counterexample(r)))
        Py_CLEAR(d);
    return d;
}

static PyObject *session_check(PyObject *self, PyObject *args)
{
    PyObject *expression, *data = Py_None, *made = NULL;
    long long most = 0;
    if (!PyArg_ParseTuple(args, "U|OL", &expression, &data, &most))
        return NULL;
    check_job *c = core_job_new(sizeof *c, (session *)self, check_work);
    if (!c)
        return NULL;
    c->j.clean = check_clean;
    c->expression = core_text(&c->j, expression);
    c->most = most;
    if (data_of(&c->j, data, &c->data) == 0 && core_job_run(&c->j) == 0)
        made = check_result(c->report);
    core_job_close(&c->j);
    return made;
}

/* ---- explicit features of a model -------------------------------------------------------------*/

typedef struct explain_job {
    job j;
    const mcr_model *model;
    int64_t output;
    mcr_features *features;
    double *weight, offset;
} explain_job;

static mcr_status features_work(job *j)
{
    explain_job *e = (explain_job *)j;
    return mcr_model_features(&e->features, j->ctx, e->model);
}

static mcr_status weights_work(job *j)
{
    explain_job *e = (explain_job *)j;
    return mcr_model_weights(j->ctx, e->model, e->features, e->output, e->weight, &e->offset);
}

static void explain_clean(job *j)
{
    mcr_features_close(((explain_job *)j)->features);
}

static PyObject *weights(explain_job *e)
{
    PyObject *names = PyList_New(0), *values = NULL;
    int64_t count = mcr_features_count(e->features);
    for (int64_t i = 0; names && i < count; i++) {
        PyObject *one = core_string(mcr_features_name(e->features, i));
        if (!one || PyList_Append(names, one) < 0)
            Py_CLEAR(names);
        Py_XDECREF(one);
    }
    values = names ? numbers(count, e->weight) : NULL;
    if (!values) {
        Py_XDECREF(names);
        return NULL;
    }
    return Py_BuildValue("dNN", e->offset, names, values);
}

/* (offset, names, weights) of an output as a function of explicit features. */
static PyObject *session_explain(PyObject *self, PyObject *args)
{
    PyObject *model, *made = NULL;
    long long output = 0;
    if (!PyArg_ParseTuple(args, "O!L", core_model_type, &model, &output))
        return NULL;
    explain_job *e = core_job_new(sizeof *e, (session *)self, features_work);
    if (!e)
        return NULL;
    e->j.clean = explain_clean;
    e->model = ((core_model *)core_hold(&e->j, model))->model;
    e->output = output;
    int bad = core_job_run(&e->j);
    if (!bad) {
        e->weight = core_alloc(&e->j, (size_t)mcr_features_count(e->features), sizeof(double));
        e->j.work = weights_work;
        e->j.done = 0;
        bad = e->weight ? core_job_run(&e->j) : -1;
    }
    if (!bad)
        made = weights(e);
    core_job_close(&e->j);
    return made;
}

/* ---- approximate features ---------------------------------------------------------------------*/

typedef struct map_job {
    job j;
    const char *expression;
    const mcr_data *like, *data;
    int64_t rank;
    mcr_map *map;
    double *to;
} map_job;

static mcr_status map_work(job *j)
{
    map_job *m = (map_job *)j;
    mcr_kernel *kernel = NULL;
    mcr_map_options options = {.size = sizeof options, .approx = MCR_APPROX_RFF, .rank = m->rank};
    mcr_status status = mcr_kernel_parse(&kernel, j->ctx, m->expression);
    if (status == MCR_OK)
        status = mcr_map_open(&m->map, j->ctx, kernel, m->like, &options);
    mcr_rows all = {NULL, 0, mcr_data_count(m->data)};
    if (status == MCR_OK)
        status = mcr_map_rows(m->map, m->data, all, m->to, m->rank);
    mcr_kernel_free(kernel);
    return status;
}

static void map_clean(job *j)
{
    mcr_map_close(((map_job *)j)->map);
}

/* Random Fourier features of data; the frequencies are those of `like` and of the session's
 * seed. */
static PyObject *session_fourier(PyObject *self, PyObject *args)
{
    PyObject *expression, *like, *data, *to, *made = NULL;
    long long rank;
    if (!PyArg_ParseTuple(args, "ULO!O!O", &expression, &rank, core_data_type, &like,
                          core_data_type, &data, &to))
        return NULL;
    map_job *m = core_job_new(sizeof *m, (session *)self, map_work);
    if (!m)
        return NULL;
    m->j.clean = map_clean;
    m->expression = core_text(&m->j, expression);
    m->rank = rank;
    if (data_of(&m->j, like, &m->like) == 0 && data_of(&m->j, data, &m->data) == 0)
        m->to = core_doubles(&m->j, to, 1, rank * mcr_data_count(m->data));
    if (m->to && core_job_run(&m->j) == 0) {
        made = Py_None;
        Py_INCREF(made);
    }
    core_job_close(&m->j);
    return made;
}

PyMethodDef core_kernel_methods[] = {
    {"gram", session_gram, METH_VARARGS, "gram(kernel, x, z, out, diagonal=False)"},
    {"check", session_check, METH_VARARGS, "check(kernel, data=None, most=0): a dictionary"},
    {"explain", session_explain, METH_VARARGS, "explain(model, output): offset, names, weights"},
    {"fourier", session_fourier, METH_VARARGS, "fourier(kernel, rank, like, data, out)"},
    {NULL, NULL, 0, NULL},
};
