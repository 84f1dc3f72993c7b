/* learn.c: sessions train models and ask them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

/* Options as two tuples, names and values, set on a learner. */
static mcr_status open_options(mcr_options **out, mcr *ctx, const char *learner,
                               const char *const *name, const char *const *value, int64_t count)
{
    mcr_status status = mcr_options_open(out, ctx, learner);
    for (int64_t i = 0; status == MCR_OK && i < count; i++)
        status = mcr_options_set(*out, name[i], value[i]);
    return status;
}

/* ---- training ---------------------------------------------------------------------------------*/

typedef struct fit_job {
    job j;
    const char *learner, *expression;
    const char **name, **value;
    int64_t options;
    const mcr_data *data;
    const mcr_model *start;
    int more; /* mcr_fit_more from `start` */
    double share;
    mcr_model *model;
} fit_job;

static mcr_status fit_work(job *j)
{
    fit_job *f = (fit_job *)j;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status status = open_options(&options, j->ctx, f->learner, f->name, f->value, f->options);
    if (status == MCR_OK && f->expression)
        status = mcr_kernel_parse(&kernel, j->ctx, f->expression);
    if (status == MCR_OK && f->more)
        status = mcr_fit_more(&f->model, options, kernel, f->data, f->start);
    else if (status == MCR_OK && f->share > 0)
        status = mcr_fit_conformal(&f->model, options, kernel, f->data, f->share);
    else if (status == MCR_OK)
        status = mcr_fit(&f->model, options, kernel, f->data, f->start);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

static void fit_clean(job *j)
{
    mcr_model_free(((fit_job *)j)->model);
}

static PyObject *session_fit(PyObject *self, PyObject *args, PyObject *named)
{
    static char *names[] = {"learner", "options", "kernel", "data", "start", "more", "share", NULL};
    PyObject *learner, *options, *kernel, *data, *start = Py_None, *made = NULL;
    PyObject *option_names = NULL, *option_values = NULL;
    int more = 0;
    double share = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "UO!OO!|Opd", names, &learner, &PyTuple_Type,
                                     &options, &kernel, core_data_type, &data, &start, &more,
                                     &share) ||
        !PyArg_ParseTuple(options, "OO", &option_names, &option_values))
        return NULL;
    if (start != Py_None && !PyObject_TypeCheck(start, core_model_type)) {
        PyErr_SetString(PyExc_TypeError, "start must be a model or None");
        return NULL;
    }
    fit_job *f = core_job_new(sizeof *f, (session *)self, fit_work);
    if (!f)
        return NULL;
    int64_t values = 0;
    f->j.clean = fit_clean;
    f->more = more;
    f->share = share;
    f->learner = core_text(&f->j, learner);
    f->expression = core_text(&f->j, kernel);
    f->data = ((core_data *)core_hold(&f->j, data))->data;
    f->start = start == Py_None ? NULL : ((core_model *)core_hold(&f->j, start))->model;
    if (core_texts(&f->j, option_names, &f->name, &f->options) == 0 &&
        core_texts(&f->j, option_values, &f->value, &values) == 0 && !PyErr_Occurred() &&
        core_job_run(&f->j) == 0) {
        mcr_model *model = f->model;
        f->model = NULL;
        made = core_model_new(f->j.session, model);
    }
    core_job_close(&f->j);
    return made;
}

/* ---- predicting -------------------------------------------------------------------------------*/

typedef struct ask_job {
    job j;
    const mcr_model *model;
    const mcr_data *data;
    double *out[3];
    double level;
    int64_t count;
} ask_job;

static mcr_status predict_work(job *j)
{
    ask_job *a = (ask_job *)j;
    return mcr_predict(j->ctx, a->model, a->data, a->out[0], a->out[1], a->out[2]);
}

static mcr_status std_work(job *j)
{
    ask_job *a = (ask_job *)j;
    return mcr_predict_std(j->ctx, a->model, a->data, a->out[0], a->out[1]);
}

static mcr_status interval_work(job *j)
{
    ask_job *a = (ask_job *)j;
    return mcr_predict_interval(j->ctx, a->model, a->data, a->level, a->out[0], a->out[1],
                                a->out[2]);
}

static mcr_status transform_work(job *j)
{
    ask_job *a = (ask_job *)j;
    return mcr_transform(j->ctx, a->model, a->data, a->out[0]);
}

static mcr_status preimage_work(job *j)
{
    ask_job *a = (ask_job *)j;
    return mcr_preimage(j->ctx, a->model, a->data, a->out[0]);
}

static mcr_status draws_work(job *j)
{
    ask_job *a = (ask_job *)j;
    return mcr_predict_draws(j->ctx, a->model, a->data, a->count, a->out[0]);
}

/* How many numbers the array `which` must hold; -1: not known here. */
static int64_t space_of(const ask_job *a, int which)
{
    int64_t n = mcr_data_count(a->data);
    if (a->j.work == preimage_work)
        return -1;
    if (a->j.work == draws_work)
        return n * a->count;
    if (a->j.work == transform_work || (a->j.work == predict_work && which == 1))
        return n * mcr_model_outputs(a->model);
    return a->j.work == predict_work && which == 2 ? n * mcr_model_classes(a->model) : n;
}

/* model, data, and up to three arrays that are filled; each may be None. */
static PyObject *ask(PyObject *self, PyObject *args, mcr_status (*work)(job *), double level,
                     int64_t count)
{
    PyObject *model, *data, *array[3] = {Py_None, Py_None, Py_None}, *made = NULL;
    if (!PyArg_ParseTuple(args, "O!O!|OOO", core_model_type, &model, core_data_type, &data,
                          &array[0], &array[1], &array[2]))
        return NULL;
    ask_job *a = core_job_new(sizeof *a, (session *)self, work);
    if (!a)
        return NULL;
    a->model = ((core_model *)core_hold(&a->j, model))->model;
    a->data = ((core_data *)core_hold(&a->j, data))->data;
    a->level = level;
    a->count = count;
    for (int i = 0; i < 3 && !PyErr_Occurred(); i++)
        a->out[i] = core_doubles(&a->j, array[i], 1, space_of(a, i));
    if (!PyErr_Occurred() && core_job_run(&a->j) == 0) {
        made = Py_None;
        Py_INCREF(made);
    }
    core_job_close(&a->j);
    return made;
}

static PyObject *session_predict(PyObject *self, PyObject *args)
{
    return ask(self, args, predict_work, 0, 0);
}

static PyObject *session_predict_std(PyObject *self, PyObject *args)
{
    return ask(self, args, std_work, 0, 0);
}

static PyObject *session_transform(PyObject *self, PyObject *args)
{
    return ask(self, args, transform_work, 0, 0);
}

static PyObject *session_preimage(PyObject *self, PyObject *args)
{
    return ask(self, args, preimage_work, 0, 0);
}

/* A number first, then the arguments of ask. */
static PyObject *session_predict_interval(PyObject *self, PyObject *args)
{
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args)), *made = NULL;
    double level = PyTuple_Size(args) > 0 ? PyFloat_AsDouble(PyTuple_GetItem(args, 0)) : 0;
    if (rest && !PyErr_Occurred())
        made = ask(self, rest, interval_work, level, 0);
    Py_XDECREF(rest);
    return made;
}

static PyObject *session_draws(PyObject *self, PyObject *args)
{
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args)), *made = NULL;
    long long count = PyTuple_Size(args) > 0 ? PyLong_AsLongLong(PyTuple_GetItem(args, 0)) : 0;
    if (rest && !PyErr_Occurred())
        made = ask(self, rest, draws_work, 0, count);
    Py_XDECREF(rest);
    return made;
}

/* ---- certificates -----------------------------------------------------------------------------*/

typedef struct verify_job {
    job j;
    const mcr_model *model;
    const mcr_data *data;
    mcr_verification found;
} verify_job;

static mcr_status verify_work(job *j)
{
    verify_job *v = (verify_job *)j;
    v->found.size = sizeof v->found;
    return mcr_model_verify(j->ctx, v->model, v->data, NULL, &v->found);
}

static int put_verified(PyObject *to, const char *name, const mcr_verified *v)
{
    PyObject *printed = core_number(v->printed), *recomputed = core_number(v->recomputed);
    return core_put(to, name,
                    Py_BuildValue("{s:N,s:N,s:N,s:N}", "printed", printed, "recomputed", recomputed,
                                  "error", core_number(v->error), "agrees",
                                  PyBool_FromLong(v->agrees)));
}

static PyObject *verification(const mcr_verification *v)
{
    PyObject *d = PyDict_New();
    static const char *const verdict[] = {"disagrees", "agrees", "undecided"};
    int open = v->verdict == MCR_VERIFY_UNDECIDED;
    int bad = !d || core_put(d, "agrees", open ? Py_BuildValue("") : PyBool_FromLong(v->agrees)) ||
              core_put(d, "verdict", core_string(verdict[v->verdict])) ||
              core_put(d, "kind", core_string(v->kind)) ||
              core_put(d, "tolerance", core_number(v->tolerance)) ||
              put_verified(d, "value", &v->value) || put_verified(d, "primal", &v->primal) ||
              put_verified(d, "dual", &v->dual) || put_verified(d, "gap", &v->gap) ||
              put_verified(d, "objective", &v->objective) ||
              core_put(d, "fault", core_string(v->fault));
    if (bad)
        Py_CLEAR(d);
    return d;
}

static PyObject *session_verify(PyObject *self, PyObject *args)
{
    PyObject *model, *data, *made = NULL;
    if (!PyArg_ParseTuple(args, "O!O!", core_model_type, &model, core_data_type, &data))
        return NULL;
    verify_job *v = core_job_new(sizeof *v, (session *)self, verify_work);
    if (!v)
        return NULL;
    v->model = ((core_model *)core_hold(&v->j, model))->model;
    v->data = ((core_data *)core_hold(&v->j, data))->data;
    if (core_job_run(&v->j) == 0)
        made = verification(&v->found);
    core_job_close(&v->j);
    return made;
}

PyMethodDef core_learn_methods[] = {
    {"fit", (PyCFunction)(void (*)(void))session_fit, METH_VARARGS | METH_KEYWORDS,
     "fit(learner, (names, values), kernel, data, start=None, more=False, share=0): a model"},
    {"predict", session_predict, METH_VARARGS, "predict(model, data, value, score, proba)"},
    {"predict_std", session_predict_std, METH_VARARGS, "predict_std(model, data, value, std)"},
    {"predict_interval", session_predict_interval, METH_VARARGS,
     "predict_interval(level, model, data, value, lower, upper)"},
    {"transform", session_transform, METH_VARARGS, "transform(model, data, coordinates)"},
    {"preimage", session_preimage, METH_VARARGS, "preimage(model, data, vectors)"},
    {"draws", session_draws, METH_VARARGS, "draws(count, model, data, values)"},
    {"verify", session_verify, METH_VARARGS, "verify(model, data): a dictionary"},
    {NULL, NULL, 0, NULL},
};
