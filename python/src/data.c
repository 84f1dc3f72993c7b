/* data.c: data sets from buffers.
 *
 * A field is a tuple that begins with its kind and its name:
 *   ("dense", name, values)                 2-dimensional, double
 *   ("sparse", name, columns, start, index, value)
 *   ("strings", name, start, bytes)
 *   ("graphs", name, node_start, node_label, edge_start, edge, edge_label)
 *   ("precomputed", name, values, id)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

typedef struct building {
    job j;
    mcr_builder *builder;
    int64_t count;
    PyObject *field; /* tuple, borrowed */
} building;

static PyObject *part(const building *b, Py_ssize_t at)
{
    return at < PyTuple_Size(b->field) ? PyTuple_GetItem(b->field, at) : Py_None;
}

static void *items(building *b, Py_ssize_t at, const char *format, int64_t count)
{
    Py_buffer *view = core_view(&b->j, part(b, at), format, 0, count);
    return view ? view->buf : NULL;
}

/* A matrix of doubles, row by row; its number of columns. */
static double *matrix(building *b, Py_ssize_t at, int64_t *cols)
{
    Py_buffer *view = core_view(&b->j, part(b, at), "d", 0, -1);
    if (!view)
        return NULL;
    if (view->ndim != 2 || view->shape[0] != b->count || !PyBuffer_IsContiguous(view, 'C')) {
        PyErr_SetString(PyExc_ValueError, "a matrix with one row for each object is wanted");
        return NULL;
    }
    *cols = view->shape[1];
    return view->buf;
}

static mcr_status add_dense(building *b, const char *name)
{
    int64_t cols = 0;
    double *values = matrix(b, 2, &cols);
    return values ? mcr_builder_dense(b->builder, name, values, cols, cols) : MCR_OK;
}

static mcr_status add_sparse(building *b, const char *name)
{
    int64_t cols = PyLong_AsLongLong(part(b, 2));
    int64_t *start = PyErr_Occurred() ? NULL : items(b, 3, "q", b->count + 1);
    int64_t entries = start ? start[b->count] : 0;
    int32_t *index = start ? items(b, 4, "i", entries) : NULL;
    double *value = index ? items(b, 5, "d", entries) : NULL;
    return value ? mcr_builder_sparse(b->builder, name, cols, start, index, value) : MCR_OK;
}

static mcr_status add_strings(building *b, const char *name)
{
    int64_t *start = items(b, 2, "q", b->count + 1);
    char *bytes = start ? items(b, 3, "Bbc", -1) : NULL;
    return bytes ? mcr_builder_strings(b->builder, name, start, bytes) : MCR_OK;
}

static mcr_status add_graphs(building *b, const char *name)
{
    int64_t *node = items(b, 2, "q", b->count + 1), *edge = NULL;
    int32_t *node_label = node ? items(b, 3, "i", node[b->count]) : NULL;
    if (node && !PyErr_Occurred())
        edge = items(b, 4, "q", b->count + 1);
    int32_t *pair = edge ? items(b, 5, "i", 2 * edge[b->count]) : NULL;
    int32_t *edge_label = pair ? items(b, 6, "i", edge[b->count]) : NULL;
    if (!pair || PyErr_Occurred())
        return MCR_OK;
    return mcr_builder_graphs(b->builder, name, node, node_label, edge,
                              (const int32_t(*)[2])(void *)pair, edge_label);
}

static mcr_status add_precomputed(building *b, const char *name)
{
    int64_t cols = 0;
    double *values = matrix(b, 2, &cols);
    int64_t *id = values ? items(b, 3, "q", b->count) : NULL;
    if (!values || PyErr_Occurred())
        return MCR_OK;
    return mcr_builder_precomputed(b->builder, name, values, cols, id);
}

static mcr_status add_field(building *b)
{
    static const struct {
        const char *kind;
        mcr_status (*add)(building *, const char *);
    } kinds[] = {{"dense", add_dense},
                 {"sparse", add_sparse},
                 {"strings", add_strings},
                 {"graphs", add_graphs},
                 {"precomputed", add_precomputed}};
    const char *kind = core_text(&b->j, part(b, 0)),
               *name = kind ? core_text(&b->j, part(b, 1)) : 0;
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].kind) == 0)
            return kinds[i].add(b, name);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError,
                        "a field is a tuple of its kind, its name and its values");
    return MCR_OK;
}

/* Each field is converted with a job of its own: the job holds the buffers until it is closed. */
static int add_fields(building *b, PyObject *fields)
{
    Py_ssize_t count = PyTuple_Size(fields);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *field = PyTuple_GetItem(fields, i);
        if (!PyTuple_Check(field)) {
            PyErr_SetString(PyExc_TypeError, "a field is a tuple");
            return -1;
        }
        building *one = core_job_new(sizeof *one, b->j.session, NULL);
        if (!one)
            return -1;
        one->builder = b->builder;
        one->count = b->count;
        one->field = field;
        mcr_status status = add_field(one);
        core_job_close(&one->j);
        if (status != MCR_OK)
            core_raise(status, b->j.ctx);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

static int add_targets(building *b, PyObject *targets, PyObject *weights)
{
    Py_buffer *y = core_view(&b->j, targets, "d", 0, -1);
    mcr_status status = MCR_OK;
    if (y && y->ndim == 2)
        status = mcr_builder_target_table(b->builder, y->buf, y->shape[1], NULL);
    else if (y)
        status = mcr_builder_targets(b->builder, y->buf);
    double *w = status || PyErr_Occurred() ? NULL : core_doubles(&b->j, weights, 0, b->count);
    if (w)
        status = mcr_builder_weights(b->builder, w);
    if (status != MCR_OK)
        core_raise(status, b->j.ctx);
    return PyErr_Occurred() ? -1 : 0;
}

static void close_builder(job *j)
{
    mcr_builder_close(((building *)j)->builder);
}

static PyObject *finish(building *b)
{
    mcr_data *data = NULL;
    mcr_builder *builder = b->builder;
    b->builder = NULL;
    mcr_status status = mcr_builder_finish(&data, builder);
    if (status != MCR_OK)
        return core_raise(status, b->j.ctx);
    allocfunc alloc = (allocfunc)PyType_GetSlot(core_data_type, Py_tp_alloc);
    core_data *made = (core_data *)alloc(core_data_type, 0);
    if (!made) {
        mcr_data_free(data);
        return NULL;
    }
    Py_INCREF((PyObject *)b->j.session);
    made->session = b->j.session;
    made->data = data;
    return (PyObject *)made;
}

static PyObject *session_data(PyObject *self, PyObject *args)
{
    PyObject *fields, *targets = Py_None, *weights = Py_None, *made = NULL;
    long long count;
    if (!PyArg_ParseTuple(args, "LO!|OO", &count, &PyTuple_Type, &fields, &targets, &weights))
        return NULL;
    building *b = core_job_new(sizeof *b, (session *)self, NULL);
    if (!b)
        return NULL;
    b->j.clean = close_builder;
    b->count = count;
    mcr_status status = mcr_builder_open(&b->builder, b->j.ctx, count);
    if (status != MCR_OK)
        core_raise(status, b->j.ctx);
    else if (add_fields(b, fields) == 0 && add_targets(b, targets, weights) == 0)
        made = finish(b);
    core_job_close(&b->j);
    return made;
}

PyMethodDef core_data_methods[] = {
    {"data", session_data, METH_VARARGS,
     "data(count, fields, targets=None, weights=None)\n\nA data set from buffers."},
    {NULL, NULL, 0, NULL},
};
