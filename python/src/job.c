/* job.c: calls of the library that release the interpreter lock and can be interrupted.
 *
 * Only the main thread of Python sees signals, and only while it holds the interpreter lock. So
 * where a session watches, the library computes in a thread of its own; the caller's thread sleeps,
 * wakes up every 30 ms, looks for signals and shows progress. After Ctrl-C the library is asked to
 * stop. If it has not come to a place where it can stop within 0.1 s, the job is abandoned: the
 * exception is raised at once, and the thread ends the job, and frees what belongs to it, when it
 * gets there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_MS = 30, PATIENCE_MS = 100 };

void *core_job_new(size_t size, session *s, mcr_status (*work)(job *))
{
    job *j = calloc(1, size);
    if (!j)
        return PyErr_NoMemory();
    j->work = work;
    j->session = s;
    j->ctx = s->ctx;
    pthread_mutex_init(&j->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&j->ended, &clock);
    pthread_condattr_destroy(&clock);
    core_hold(j, (PyObject *)s);
    return j;
}

static void destroy(job *j)
{
    if (j->clean)
        j->clean(j);
    for (int i = 0; i < j->views; i++)
        PyBuffer_Release(&j->view[i]);
    for (int i = 0; i < j->blocks; i++)
        free(j->block[i]);
    for (int i = j->holds - 1; i >= 0; i--)
        Py_DECREF(j->held[i]);
    pthread_cond_destroy(&j->ended);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void core_job_close(job *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->lock);
    int abandoned = j->abandoned;
    pthread_mutex_unlock(&j->lock);
    if (!abandoned)
        destroy(j);
}

/* ---- running ----------------------------------------------------------------------------------*/

static void *compute(void *arg)
{
    job *j = arg;
    mcr_status status = j->work(j);
    pthread_mutex_lock(&j->lock);
    j->status = status;
    j->done = 1;
    int abandoned = j->abandoned;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    if (abandoned && Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        destroy(j);
        PyGILState_Release(state);
    }
    return NULL;
}

/* Whether it ended within that time. */
static int wait_for(job *j, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int late = 0, done;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&j->lock);
    while (!j->done && late != ETIMEDOUT)
        late = pthread_cond_timedwait(&j->ended, &j->lock, &until);
    done = j->done;
    pthread_mutex_unlock(&j->lock);
    Py_END_ALLOW_THREADS;
    return done;
}

/* Calls the session's progress function if there is something new; -1: it raised an exception. */
static int show(session *s)
{
    if (!s->progress)
        return 0;
    control *c = s->control;
    pthread_mutex_lock(&c->lock);
    int fresh = c->fresh;
    mcr_progress now = c->last;
    char phase[sizeof c->phase];
    memcpy(phase, c->phase, sizeof phase);
    c->fresh = 0;
    pthread_mutex_unlock(&c->lock);
    if (!fresh)
        return 0;
    PyObject *done = PyObject_CallFunction(s->progress, "sdddLd", phase, now.fraction, now.seconds,
                                           now.left, (long long)now.step, now.violation);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* After an exception: asks the library to stop and gives it a moment. 1: abandoned. */
static int interrupt(job *j)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    atomic_store(&j->session->control->cancel, 1);
    int done = wait_for(j, PATIENCE_MS), abandoned = 0;
    if (!done) {
        pthread_mutex_lock(&j->lock);
        abandoned = j->abandoned = !j->done;
        pthread_mutex_unlock(&j->lock);
    }
    PyErr_Restore(type, value, trace);
    return abandoned;
}

/* Waits for the end. 0: it ended; -1: an exception is set, and the job may be abandoned. */
static int attend(job *j, pthread_t thread)
{
    session *s = j->session;
    int bad = 0;
    while (!bad && !wait_for(j, LOOK_MS)) {
        bad = PyErr_CheckSignals();
        if (bad && s->keep && !s->interrupted && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
            PyErr_Clear();
            s->interrupted = 1;
            atomic_store(&s->control->cancel, 1);
            bad = 0;
        }
        if (!bad)
            bad = show(s);
    }
    if (bad && interrupt(j))
        pthread_detach(thread);
    else
        pthread_join(thread, NULL);
    return bad ? -1 : 0;
}

int core_job_run(job *j)
{
    session *s = j->session;
    pthread_t thread;
    atomic_store(&s->control->cancel, 0);
    s->interrupted = 0;
    if (s->watch && pthread_create(&thread, NULL, compute, j) == 0) {
        if (attend(j, thread) < 0)
            return -1;
    } else {
        Py_BEGIN_ALLOW_THREADS;
        j->status = j->work(j);
        Py_END_ALLOW_THREADS;
    }
    if (j->status != MCR_OK)
        core_raise(j->status, j->ctx);
    return j->status == MCR_OK ? 0 : -1;
}

/* ---- arguments --------------------------------------------------------------------------------*/

PyObject *core_hold(job *j, PyObject *object)
{
    if (!object)
        return NULL;
    if (j->holds == MOST_HELD) {
        PyErr_SetString(PyExc_SystemError, "too many arguments of a job");
        return NULL;
    }
    Py_INCREF(object);
    j->held[j->holds++] = object;
    return object;
}

const char *core_text(job *j, PyObject *text)
{
    if (!text || text == Py_None || !core_hold(j, text))
        return NULL;
    Py_ssize_t length = 0;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
    if (bytes && strlen(bytes) != (size_t)length) {
        PyErr_SetString(PyExc_ValueError, "embedded null character");
        return NULL;
    }
    return bytes;
}

void *core_alloc(job *j, size_t count, size_t size)
{
    void *block = j->blocks < MOST_HELD ? calloc(count + 1, size) : NULL;
    if (!block)
        return PyErr_NoMemory();
    j->block[j->blocks++] = block;
    return block;
}

int core_texts(job *j, PyObject *list, const char ***out, int64_t *count)
{
    *out = NULL;
    *count = 0;
    if (!list || list == Py_None)
        return 0;
    PyObject *tuple = PySequence_Tuple(list);
    PyObject *held = core_hold(j, tuple);
    Py_XDECREF(tuple);
    if (!held)
        return -1;
    Py_ssize_t n = PyTuple_Size(held);
    const char **text = core_alloc(j, (size_t)n, sizeof *text);
    for (Py_ssize_t i = 0; text && i < n; i++) {
        text[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(held, i), NULL);
        if (!text[i])
            return -1;
    }
    *out = text;
    *count = n;
    return text ? 0 : -1;
}

char core_format(const Py_buffer *view)
{
    const char *f = view->format ? view->format : "B";
    if (*f == '@' || *f == '=' || *f == '<')
        f++;
    if (*f == 'l')
        return sizeof(long) == sizeof(int64_t) ? 'q' : 'i';
    return *f;
}

Py_buffer *core_view(job *j, PyObject *object, const char *formats, int writable, int64_t items)
{
    if (!object || object == Py_None)
        return NULL;
    if (j->views == MOST_VIEWS) {
        PyErr_SetString(PyExc_SystemError, "too many buffers of a job");
        return NULL;
    }
    Py_buffer *view = &j->view[j->views];
    int flags = PyBUF_FORMAT | PyBUF_ANY_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return NULL;
    j->views++;
    if (!strchr(formats, core_format(view))) {
        PyErr_Format(PyExc_TypeError, "a buffer of items \"%s\" is wanted, this one has \"%s\"",
                     formats, view->format ? view->format : "B");
        return NULL;
    }
    if (items >= 0 && view->len / view->itemsize != items) {
        PyErr_Format(PyExc_ValueError, "a buffer of %lld items is wanted, this one has %lld",
                     (long long)items, (long long)(view->len / view->itemsize));
        return NULL;
    }
    return view;
}

double *core_doubles(job *j, PyObject *object, int writable, int64_t items)
{
    Py_buffer *view = core_view(j, object, "d", writable, items);
    return view ? view->buf : NULL;
}
