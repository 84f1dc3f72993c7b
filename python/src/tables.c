/* tables.c: what there is (learners, kernels, metrics, with their parameters), and reports, as
 * lists and dictionaries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <math.h>
#include <string.h>

PyObject *core_number(double x)
{
    if (isnan(x))
        Py_RETURN_NONE;
    return PyFloat_FromDouble(x);
}

PyObject *core_string(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

int core_put(PyObject *dict, const char *name, PyObject *value)
{
    int bad = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return bad;
}

/* ---- parameters -------------------------------------------------------------------------------*/

static const char *type_name(mcr_param_type type)
{
    switch (type) {
    case MCR_REAL: return "real";
    case MCR_INT: return "integer";
    case MCR_FLAG: return "flag";
    case MCR_CHOICE: return "choice";
    case MCR_TEXT: return "text";
    case MCR_REALS: return "reals";
    }
    return "text";
}

static PyObject *param(const mcr_param *p)
{
    return Py_BuildValue("{s:s,s:s,s:s,s:d,s:d,s:N,s:N,s:s,s:s}", "name", p->name, "type",
                         type_name(p->type), "default", p->standard, "min", p->min, "max", p->max,
                         "min_open", PyBool_FromLong(p->flags & MCR_MIN_OPEN), "max_open",
                         PyBool_FromLong(p->flags & MCR_MAX_OPEN), "choices", p->choices, "help",
                         p->help);
}

static PyObject *params(const mcr_param *table)
{
    PyObject *list = PyList_New(0);
    for (const mcr_param *p = table; list && p && p->name; p++) {
        PyObject *one = param(p);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static const char *task_name(mcr_task task)
{
    switch (task) {
    case MCR_CLASSIFY: return "classification";
    case MCR_REGRESS: return "regression";
    case MCR_DETECT: return "detection";
    case MCR_CLUSTER: return "clustering";
    case MCR_TRANSFORM: return "transformation";
    case MCR_EITHER: return "classification or regression";
    }
    return "";
}

static PyObject *learner(int64_t number)
{
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    mcr_status status = mcr_learner_describe(number, &info);
    if (status != MCR_OK)
        return core_raise(status, NULL);
    PyObject *table = params(info.params);
    if (!table)
        return NULL;
    return Py_BuildValue("{s:s,s:s,s:s,s:N,s:N}", "name", info.name, "summary", info.summary,
                         "task", task_name(info.task), "online", PyBool_FromLong(info.can_resume),
                         "params", table);
}

static PyObject *kernel(int64_t number)
{
    mcr *ctx = core_home();
    mcr_kernel_info info = MCR_INIT(mcr_kernel_info);
    mcr_status status = ctx ? mcr_kernel_describe(ctx, number, &info) : MCR_NO_MEMORY;
    if (status != MCR_OK)
        return core_raise(status, ctx);
    PyObject *table = params(info.params);
    if (!table)
        return NULL;
    return Py_BuildValue("{s:s,s:s,s:i,s:N,s:N,s:N}", "name", info.name, "summary", info.summary,
                         "kinds", info.kinds, "features", PyBool_FromLong(info.has_features),
                         "indefinite", PyBool_FromLong(info.indefinite), "params", table);
}

static PyObject *metric(int64_t number)
{
    mcr_metric_info info = MCR_INIT(mcr_metric_info);
    mcr_status status = mcr_metric_describe(number, &info);
    if (status != MCR_OK)
        return core_raise(status, NULL);
    return Py_BuildValue("{s:s,s:s,s:s,s:N}", "name", info.name, "summary", info.summary, "task",
                         task_name(info.task), "larger", PyBool_FromLong(info.larger));
}

static PyObject *list_of(int64_t count, PyObject *(*make)(int64_t))
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *one = make(i);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

PyObject *core_learners(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return list_of(mcr_learner_count(), learner);
}

PyObject *core_kernels(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    mcr *ctx = core_home();
    return ctx ? list_of(mcr_kernel_count(ctx), kernel) : NULL;
}

PyObject *core_metrics(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return list_of(mcr_metric_count(), metric);
}

/* ---- reports ----------------------------------------------------------------------------------*/

static PyObject *doubles(int64_t count, const double *value)
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

PyObject *core_report(const mcr_model *model)
{
    const mcr_report_fit *r = mcr_model_report(model);
    PyObject *d = PyDict_New();
    int bad = !d || core_put(d, "learner", core_string(r->learner)) ||
              core_put(d, "kernel", core_string(r->kernel)) ||
              core_put(d, "options", core_string(r->options)) ||
              core_put(d, "task", core_string(task_name(r->task))) ||
              core_put(d, "n", PyLong_FromLongLong(r->n)) ||
              core_put(d, "features", PyLong_FromLongLong(r->features)) ||
              core_put(d, "classes", PyLong_FromLongLong(r->classes)) ||
              core_put(d, "targets", PyLong_FromLongLong(r->targets)) ||
              core_put(d, "support", PyLong_FromLongLong(r->support)) ||
              core_put(d, "iterations", PyLong_FromLongLong(r->iterations)) ||
              core_put(d, "seconds", core_number(r->seconds)) ||
              core_put(d, "objective", core_number(r->objective)) ||
              core_put(d, "stop", core_string(mcr_stop_name(r->stop))) ||
              core_put(d, "certificate", core_string(r->certificate)) ||
              core_put(d, "value", core_number(r->value)) ||
              core_put(d, "tolerance", core_number(r->tolerance)) ||
              core_put(d, "primal", core_number(r->primal)) ||
              core_put(d, "dual", core_number(r->dual)) ||
              core_put(d, "gap", core_number(r->gap)) ||
              core_put(d, "accuracy", core_number(r->accuracy)) ||
              core_put(d, "mse", core_number(r->mse)) || core_put(d, "r2", core_number(r->r2)) ||
              core_put(d, "loo", core_number(r->loo)) ||
              core_put(d, "noise", core_number(r->noise)) ||
              core_put(d, "variance", doubles(r->variances, r->variance)) ||
              core_put(d, "total_variance", core_number(r->total_variance)) ||
              core_put(d, "correlation", doubles(r->correlations, r->correlation)) ||
              core_put(d, "remark", core_string(r->remark)) ||
              core_put(d, "version", core_string(r->version));
    if (bad)
        Py_CLEAR(d);
    return d;
}
