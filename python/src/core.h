/* core.h: what the files of the extension module mercer._core share.
 *
 * The module is thin: it converts arguments, runs one call of the C library without the interpreter
 * lock, and converts results. It needs nothing but the limited API of Python 3.11 (so that one
 * build serves all later versions) and the buffer protocol (so that it needs no header of NumPy).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_PYTHON_CORE_H
#define MERCER_PYTHON_CORE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <stdatomic.h>

#include <mercer/mercer.h>

/* ---- errors (errors.c) ------------------------------------------------------------------------*/

int core_errors_add(PyObject *module);
/* Sets the Python exception for a status and the context's message, which may be NULL; returns
 * NULL. */
PyObject *core_raise(mcr_status status, const mcr *ctx);

/* ---- sessions (session.c) ---------------------------------------------------------------------*/

/* What the thread that computes and the thread that waits for it share. */
typedef struct control {
    atomic_int cancel; /* 1: the next report asks the library to stop */
    pthread_mutex_t lock;
    mcr_progress last; /* guarded by the lock, as all below */
    char phase[40];
    int fresh; /* last was not shown yet */
} control;

/* One context, for one operation of the package: data, training, predictions. Used by one thread at
 * a time. */
typedef struct session {
    PyObject_HEAD mcr *ctx;
    control *control;
    PyObject *progress; /* callable or NULL */
    int watch;          /* 1: compute in a thread of its own and look for signals meanwhile */
    int keep;           /* 1: after Ctrl-C the best result so far is returned */
    int interrupted;    /* Ctrl-C was pressed */
} session;

typedef struct core_data {
    PyObject_HEAD session *session;
    mcr_data *data;
} core_data;

typedef struct core_model {
    PyObject_HEAD mcr_model *model;
    PyObject *report; /* dict: how it was made */
    PyObject *owner;  /* the session whose context it is in; NULL: the home context */
} core_model;

extern PyTypeObject *core_session_type, *core_data_type, *core_model_type;

/* The context that models live in: one per process, without threads, never closed. */
mcr *core_home(void);
/* A new Python object for a model of a session; takes the model over, also on failure. The session
 * computes with one thread afterwards. */
PyObject *core_model_new(session *from, mcr_model *model);

/* ---- jobs (job.c) -----------------------------------------------------------------------------*/

enum { MOST_HELD = 16, MOST_VIEWS = 8 };

/* A call of the library, with everything that it reads and writes. Allocated by core_job_new; ended
 * by core_job_close, or by its own thread if it was abandoned. */
typedef struct job {
    mcr_status (*work)(struct job *); /* runs without the interpreter lock */
    void (*clean)(struct job *);      /* frees its results that nobody took; NULL: it has none */
    session *session;
    mcr *ctx;
    mcr_status status;
    PyObject *held[MOST_HELD]; /* references */
    int holds;
    Py_buffer view[MOST_VIEWS];
    int views;
    void *block[MOST_HELD]; /* memory of malloc */
    int blocks;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int done, abandoned; /* guarded by the lock */
} job;

/* NULL with an exception set. size: of a struct that begins with a job. */
void *core_job_new(size_t size, session *session, mcr_status (*work)(job *));
void core_job_close(job *j);
/* Runs it. 0: it succeeded; -1: an exception is set. After -1 the job may still be running: call
 * core_job_close and touch nothing else. */
int core_job_run(job *j);

/* Arguments. All return NULL, or -1, with an exception set; the job keeps what they need. */
PyObject *core_hold(job *j, PyObject *object); /* a new reference for the job, returned borrowed */
const char *core_text(job *j, PyObject *text); /* of str, None: NULL without an exception */
int core_texts(job *j, PyObject *list, const char ***out, int64_t *count);
void *core_alloc(job *j, size_t count, size_t size);
/* A contiguous buffer whose items have one of the formats ("d", "f", "q"; 'l' counts as "q"). None:
 * NULL without an exception. items: how many there must be; -1: any number. */
Py_buffer *core_view(job *j, PyObject *object, const char *formats, int writable, int64_t items);
double *core_doubles(job *j, PyObject *object, int writable, int64_t items);
/* The format of a view: 'd', 'f', 'i', 'q' or another letter. */
char core_format(const Py_buffer *view);

/* ---- tables and results (tables.c) ------------------------------------------------------------*/

PyObject *core_number(double x); /* None for NAN */
/* Sets dict[name] = value and gives up the reference to value; -1 with an exception set, also if
 * value is NULL. */
int core_put(PyObject *dict, const char *name, PyObject *value);
PyObject *core_string(const char *text); /* None for NULL; bytes that are not UTF-8 are replaced */
PyObject *core_learners(PyObject *module, PyObject *none);
PyObject *core_kernels(PyObject *module, PyObject *none);
PyObject *core_metrics(PyObject *module, PyObject *none);
PyObject *core_report(const mcr_model *model);

/* ---- methods of sessions ----------------------------------------------------------------------*/

extern PyMethodDef core_data_methods[];   /* data.c */
extern PyMethodDef core_learn_methods[];  /* learn.c */
extern PyMethodDef core_kernel_methods[]; /* kernels.c */
extern PyMethodDef core_select_methods[]; /* select.c */
extern PyMethodDef core_plot_methods[];   /* plot.c */

#endif
