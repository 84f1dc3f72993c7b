/* select.c: cross-validation and tuning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

typedef struct select_job {
    job j;
    const char *learner, *metric;
    const char **name, **value, **kernel, **option, **range;
    int64_t options, kernels, ranges;
    int adaptive, scales, columns, search; /* search: cv looks for the best on each split */
    mcr_split_plan plan;
    const mcr_data *data;
    mcr_model *model;
    mcr_tune_report *tuned;
    mcr_cv_report *tested;
} select_job;

static mcr_search search_of(const select_job *s)
{
    mcr_search search = {.size = sizeof search,
                         .kernel = s->kernel,
                         .kernels = s->kernels,
                         .option = s->option,
                         .range = s->range,
                         .ranges = s->ranges,
                         .metric = s->metric,
                         .adaptive = s->adaptive,
                         .scales = s->scales,
                         .relevance = s->columns,
                         .split = &s->plan};
    return search;
}

static mcr_status open_learner(mcr_options **out, const select_job *s)
{
    mcr_status status = mcr_options_open(out, s->j.ctx, s->learner);
    for (int64_t i = 0; status == MCR_OK && i < s->options; i++)
        status = mcr_options_set(*out, s->name[i], s->value[i]);
    return status;
}

static mcr_status tune_work(job *j)
{
    select_job *s = (select_job *)j;
    mcr_options *options = NULL;
    mcr_search search = search_of(s);
    mcr_status status = open_learner(&options, s);
    if (status == MCR_OK)
        status = mcr_tune(&s->model, &s->tuned, options, &search, s->data);
    mcr_options_close(options);
    return status;
}

static mcr_status cv_work(job *j)
{
    select_job *s = (select_job *)j;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_splits *splits = NULL;
    mcr_search search = search_of(s);
    search.metric = NULL;
    mcr_status status = open_learner(&options, s);
    if (status == MCR_OK && s->kernels == 1 && !s->search)
        status = mcr_kernel_parse(&kernel, j->ctx, s->kernel[0]);
    if (status == MCR_OK)
        status = mcr_splits_open(&splits, j->ctx, s->data, &s->plan);
    if (status == MCR_OK)
        status = mcr_cv(&s->tested, options, kernel, s->data, splits, s->metric,
                        s->search ? &search : NULL);
    mcr_splits_close(splits);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

static void select_clean(job *j)
{
    select_job *s = (select_job *)j;
    mcr_model_free(s->model);
    if (s->tuned)
        mcr_tune_free(j->ctx, s->tuned);
    if (s->tested)
        mcr_cv_free(j->ctx, s->tested);
}

/* ---- arguments --------------------------------------------------------------------------------*/

static int plan_of(select_job *s, const char *kind, long long folds, long long repeats, int plain,
                   PyObject *group)
{
    static const char *const kinds[] = {"folds", "ordered", "leave-one-out"};
    s->plan = (mcr_split_plan){.size = sizeof s->plan, .folds = folds, .repeats = repeats};
    s->plan.plain = plain;
    int found = 0;
    for (int i = 0; i < 3; i++)
        if (strcmp(kind, kinds[i]) == 0) {
            s->plan.kind = (mcr_split_kind)i;
            found = 1;
        }
    if (!found) {
        PyErr_SetString(PyExc_ValueError,
                        "the kind of splits must be folds, ordered or leave-one-out");
        return -1;
    }
    Py_buffer *view = core_view(&s->j, group, "q", 0, mcr_data_count(s->data));
    s->plan.group = view ? view->buf : NULL;
    return PyErr_Occurred() ? -1 : 0;
}

static select_job *parse(PyObject *self, PyObject *args, PyObject *named, mcr_status (*work)(job *))
{
    static char *names[] = {"learner", "options", "kernels", "data",  "ranges", "metric",
                            "kind",    "folds",   "repeats", "plain", "group",  "adaptive",
                            "scales",  "columns", "search",  NULL};
    PyObject *learner, *options, *kernels, *data, *ranges = NULL, *metric = Py_None;
    PyObject *group = Py_None, *name, *value, *option = NULL, *range = NULL;
    const char *kind = "folds";
    long long folds = 0, repeats = 0;
    int plain = 0, adaptive = 0, scales = 0, columns = 0, search = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "UO!OO!|O!OsLLpOpppp", names, &learner,
                                     &PyTuple_Type, &options, &kernels, core_data_type, &data,
                                     &PyTuple_Type, &ranges, &metric, &kind, &folds, &repeats,
                                     &plain, &group, &adaptive, &scales, &columns, &search) ||
        !PyArg_ParseTuple(options, "OO", &name, &value) ||
        (ranges && !PyArg_ParseTuple(ranges, "OO", &option, &range)))
        return NULL;
    select_job *s = core_job_new(sizeof *s, (session *)self, work);
    if (!s)
        return NULL;
    int64_t values = 0, ends = 0;
    s->j.clean = select_clean;
    s->adaptive = adaptive;
    s->scales = scales;
    s->columns = columns;
    s->search = search;
    s->learner = core_text(&s->j, learner);
    s->metric = core_text(&s->j, metric);
    s->data = ((core_data *)core_hold(&s->j, data))->data;
    if (PyErr_Occurred() || core_texts(&s->j, name, &s->name, &s->options) < 0 ||
        core_texts(&s->j, value, &s->value, &values) < 0 ||
        core_texts(&s->j, kernels, &s->kernel, &s->kernels) < 0 ||
        core_texts(&s->j, option, &s->option, &s->ranges) < 0 ||
        core_texts(&s->j, range, &s->range, &ends) < 0 ||
        plan_of(s, kind, folds, repeats, plain, group) < 0) {
        core_job_close(&s->j);
        return NULL;
    }
    return s;
}

/* ---- results ----------------------------------------------------------------------------------*/

static PyObject *point(const mcr_point *p)
{
    return Py_BuildValue("{s:s,s:s,s:N,s:N,s:L,s:s}", "kernel", p->kernel, "options", p->options,
                         "score", core_number(p->score), "std", core_number(p->std), "splits",
                         (long long)p->splits, "state", mcr_point_state_name(p->state));
}

static PyObject *points(const mcr_tune_report *r)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < r->points; i++) {
        PyObject *one = point(r->point[i]);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *session_tune(PyObject *self, PyObject *args, PyObject *named)
{
    select_job *s = parse(self, args, named, tune_work);
    PyObject *made = NULL, *table = NULL;
    if (s && core_job_run(&s->j) == 0 && (table = points(s->tuned)) != NULL) {
        mcr_model *model = s->model;
        s->model = NULL;
        PyObject *best = core_model_new(s->j.session, model);
        if (best)
            made = Py_BuildValue(
                "N{s:s,s:N,s:L,s:L,s:L,s:d,s:N,s:N}", best, "metric", s->tuned->metric, "larger",
                PyBool_FromLong(s->tuned->larger), "best", (long long)s->tuned->best, "fits",
                (long long)s->tuned->fits, "unfinished", (long long)s->tuned->unfinished, "seconds",
                s->tuned->seconds, "edge", core_string(s->tuned->edge), "points", table);
        else
            Py_DECREF(table);
    }
    if (s)
        core_job_close(&s->j);
    return made;
}

static PyObject *fold_scores(const mcr_cv_report *r)
{
    PyObject *all = PyDict_New();
    for (int64_t m = 0; all && m < r->metrics; m++) {
        PyObject *list = PyList_New(0);
        for (int64_t i = 0; list && i < r->splits; i++) {
            PyObject *one = PyFloat_FromDouble(r->metric[m]->split[i]);
            if (!one || PyList_Append(list, one) < 0)
                Py_CLEAR(list);
            Py_XDECREF(one);
        }
        if (core_put(all, r->metric[m]->name, list) < 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyObject *values(const mcr_cv_report *r)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < r->n; i++) {
        PyObject *one = PyFloat_FromDouble(r->value[i]);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *best_of_split(const mcr_cv_report *r)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && r->kernel && i < r->splits; i++) {
        PyObject *one = Py_BuildValue("{s:s,s:s}", "kernel", r->kernel[i], "options",
                                      r->options ? r->options[i] : NULL);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *session_cv(PyObject *self, PyObject *args, PyObject *named)
{
    select_job *s = parse(self, args, named, cv_work);
    PyObject *made = NULL;
    if (s && core_job_run(&s->j) == 0) {
        const mcr_cv_report *r = s->tested;
        made = PyDict_New();
        if (made &&
            (core_put(made, "metrics", fold_scores(r)) || core_put(made, "values", values(r)) ||
             core_put(made, "best", best_of_split(r)) ||
             core_put(made, "fits", PyLong_FromLongLong(r->fits)) ||
             core_put(made, "unfinished", PyLong_FromLongLong(r->unfinished)) ||
             core_put(made, "seconds", core_number(r->seconds))))
            Py_CLEAR(made);
    }
    if (s)
        core_job_close(&s->j);
    return made;
}

PyMethodDef core_select_methods[] = {
    {"tune", (PyCFunction)(void (*)(void))session_tune, METH_VARARGS | METH_KEYWORDS,
     "tune(learner, (names, values), kernels, data, ...): the model and a report"},
    {"cv", (PyCFunction)(void (*)(void))session_cv, METH_VARARGS | METH_KEYWORDS,
     "cv(learner, (names, values), kernels, data, ...): a report"},
    {NULL, NULL, 0, NULL},
};
