/* session.c: sessions, and the data sets that belong to them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

PyTypeObject *core_session_type, *core_data_type;

/* ---- the home context -------------------------------------------------------------------------*/

static mcr *home;

/* Called with the interpreter lock held. The context has no threads, so that a process may fork,
 * and no limits: what lives in it was let in by a session. */
mcr *core_home(void)
{
    mcr_config config = {.size = sizeof config,
                         .threads = 1,
                         .memory_bytes = SIZE_MAX / 4,
                         .data_bytes = SIZE_MAX / 4,
                         .work_seconds = 1e9};
    mcr_status status = home ? MCR_OK : mcr_open(&home, &config);
    if (status != MCR_OK)
        core_raise(status, NULL);
    return home;
}

/* ---- sessions ---------------------------------------------------------------------------------*/

static int on_progress(void *user, const mcr_progress *now)
{
    control *c = user;
    pthread_mutex_lock(&c->lock);
    c->last = *now;
    snprintf(c->phase, sizeof c->phase, "%s", now->phase ? now->phase : "");
    c->fresh = 1;
    pthread_mutex_unlock(&c->lock);
    return atomic_load(&c->cancel);
}

static int open_context(session *s, const mcr_config *given)
{
    s->control = calloc(1, sizeof *s->control);
    if (!s->control) {
        PyErr_NoMemory();
        return -1;
    }
    pthread_mutex_init(&s->control->lock, NULL);
    mcr_config config = *given;
    config.progress = on_progress;
    config.user = s->control;
    mcr_status status = mcr_open(&s->ctx, &config);
    if (status != MCR_OK)
        core_raise(status, NULL);
    return status == MCR_OK ? 0 : -1;
}

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *names[] = {"threads", "memory", "seed", "watch", "keep", "progress", NULL};
    int threads = 0, watch = 0, keep = 0;
    unsigned long long memory = 0, seed = 0;
    PyObject *progress = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "|iKKppO", names, &threads, &memory, &seed,
                                     &watch, &keep, &progress))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    session *s = (session *)alloc(type, 0);
    if (!s)
        return NULL;
    mcr_config config = {.size = sizeof config,
                         .threads = threads,
                         .memory_bytes = (size_t)memory,
                         .data_bytes = SIZE_MAX / 4,
                         .work_seconds = 1e9,
                         .seed = seed};
    s->watch = watch;
    s->keep = keep;
    if (progress && progress != Py_None) {
        Py_INCREF(progress);
        s->progress = progress;
    }
    if (open_context(s, &config) < 0) {
        Py_DECREF(s);
        return NULL;
    }
    return (PyObject *)s;
}

static void session_free(PyObject *self)
{
    session *s = (session *)self;
    PyTypeObject *type = Py_TYPE(self);
    mcr_close(s->ctx);
    if (s->control)
        pthread_mutex_destroy(&s->control->lock);
    free(s->control);
    Py_CLEAR(s->progress);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *session_interrupted(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((session *)self)->interrupted);
}

static PyObject *session_threads(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(mcr_threads(((session *)self)->ctx));
}

static PyGetSetDef session_fields[] = {
    {"interrupted", session_interrupted, NULL, "Whether Ctrl-C ended the last call.", NULL},
    {"threads", session_threads, NULL, "Threads that calls may use.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static void data_free(PyObject *self)
{
    core_data *d = (core_data *)self;
    PyTypeObject *type = Py_TYPE(self);
    mcr_data_free(d->data);
    Py_XDECREF((PyObject *)d->session);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static Py_ssize_t data_length(PyObject *self)
{
    return (Py_ssize_t)mcr_data_count(((core_data *)self)->data);
}

/* ---- types ------------------------------------------------------------------------------------*/

/* All methods of sessions in one table, which must live as long as the type. */
static PyMethodDef *session_methods(void)
{
    static PyMethodDef all[64];
    PyMethodDef *parts[] = {core_data_methods, core_learn_methods, core_kernel_methods,
                            core_select_methods, core_plot_methods};
    size_t count = 0;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (PyMethodDef *m = parts[p]; m->ml_name && count + 1 < sizeof all / sizeof *all; m++)
            all[count++] = *m;
    return all;
}

int core_session_add(PyObject *module)
{
    PyType_Slot data_slots[] = {
        {Py_tp_dealloc, (void *)data_free},
        {Py_sq_length, (void *)data_length},
        {Py_tp_doc, "A data set of a session."},
        {0, NULL},
    };
    PyType_Spec data_spec = {"mercer._core.Data", sizeof(core_data), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, data_slots};
    PyType_Slot slots[] = {
        {Py_tp_new, (void *)session_new},
        {Py_tp_dealloc, (void *)session_free},
        {Py_tp_methods, session_methods()},
        {Py_tp_getset, session_fields},
        {Py_tp_doc,
         "Session(threads=0, memory=0, seed=0, watch=False, keep=False, progress=None)\n\n"
         "A context of the library, for one operation."},
        {0, NULL},
    };
    PyType_Spec spec = {"mercer._core.Session", sizeof(session), 0, Py_TPFLAGS_DEFAULT, slots};
    core_data_type = (PyTypeObject *)PyType_FromSpec(&data_spec);
    core_session_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!core_data_type || !core_session_type)
        return -1;
    if (PyModule_AddObjectRef(module, "Data", (PyObject *)core_data_type) < 0)
        return -1;
    return PyModule_AddObjectRef(module, "Session", (PyObject *)core_session_type);
}
