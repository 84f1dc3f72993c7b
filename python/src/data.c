/* data.c: data sets over the buffers of Python objects, without copies.
 *
 * A field is a tuple that begins with its kind and its name:
 *   ("dense", name, values, columns)        2-dimensional, double or float, any strides;
 *                                           columns: names
 *   ("sparse", name, count, start, index, value)
 *   ("strings", name, start, bytes)
 *   ("graphs", name, node_start, node_label, edge_start, edge, edge_label)
 *   ("precomputed", name, values, id)
 * or a part of a table (table.c):
 *   ("missing", rule)                       first: what becomes of missing values
 *   ("numbers", "x", values, columns)       2-dimensional, any numbers; NAN: missing
 *   ("dates", name, days)                   doubles: days since 1970; NAN: missing
 *   ("words", name, role, start, bytes)     strings; empty: missing
 *   ("columns", "", names, roles)           of all columns
 *
 * The buffers are held until the library releases them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

void core_give_back(void *user)
{
    lent *l = user;
    PyGILState_STATE state = PyGILState_Ensure();
    for (int i = 0; i < l->views; i++)
        PyBuffer_Release(&l->view[i]);
    PyGILState_Release(state);
    free(l);
}

PyObject *core_part(const building *b, Py_ssize_t at)
{
    return at < PyTuple_Size(b->field) ? PyTuple_GetItem(b->field, at) : Py_None;
}

int core_number_type(const Py_buffer *view, mcr_number *type)
{
    static const struct {
        char format;
        mcr_number type;
    } types[] = {{'d', MCR_FLOAT64}, {'f', MCR_FLOAT32}, {'q', MCR_INT64},  {'i', MCR_INT32},
                 {'h', MCR_INT16},   {'b', MCR_INT8},    {'Q', MCR_UINT64}, {'I', MCR_UINT32},
                 {'H', MCR_UINT16},  {'B', MCR_UINT8},   {'?', MCR_UINT8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (core_format(view) == types[i].format) {
            *type = types[i].type;
            return 0;
        }
    return -1;
}

Py_buffer *core_lend(building *b, Py_ssize_t at, const char *formats, int64_t count)
{
    PyObject *object = core_part(b, at);
    Py_buffer *view = &b->lent->view[b->lent->views];
    if (object == Py_None || b->lent->views == MOST_LENT)
        return NULL;
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_STRIDES) < 0)
        return NULL;
    b->lent->views++;
    if (!strchr(formats, core_format(view)))
        PyErr_Format(PyExc_TypeError, "a buffer of items \"%s\" is wanted, not of \"%s\"", formats,
                     view->format ? view->format : "B");
    else if (count >= 0 && view->len / view->itemsize != count)
        PyErr_Format(PyExc_ValueError, "a buffer of %lld items is wanted, not of %lld",
                     (long long)count, (long long)(view->len / view->itemsize));
    else if (count >= 0 && !PyBuffer_IsContiguous(view, 'C'))
        PyErr_SetString(PyExc_ValueError, "a contiguous buffer is wanted");
    else
        return view;
    return NULL;
}

void *core_hand_over(building *b)
{
    lent *l = b->lent;
    b->lent = NULL;
    return l;
}

/* ---- fields -----------------------------------------------------------------------------------*/

int core_matrix(building *b, Py_ssize_t at, const char *formats, mcr_dense_view *to)
{
    Py_buffer *view = core_lend(b, at, formats, -1);
    if (!view)
        return -1;
    if (view->ndim != 2 || view->shape[0] != b->count || view->strides[0] % view->itemsize != 0 ||
        view->strides[1] % view->itemsize != 0) {
        PyErr_SetString(PyExc_ValueError, "a matrix with one row for each object is wanted");
        return -1;
    }
    to->values = view->buf;
    to->cols = view->shape[1];
    to->row_step = view->strides[0] / view->itemsize;
    to->col_step = view->strides[1] / view->itemsize;
    if (view->len == 0)
        to->row_step = to->col_step = 0;
    return core_number_type(view, &to->type);
}

static mcr_status add_dense(building *b, const char *name)
{
    mcr_dense_view view = MCR_INIT(mcr_dense_view);
    const char **column = NULL;
    int64_t columns = 0;
    if (core_matrix(b, 2, "df", &view) < 0 ||
        core_texts(&b->j, core_part(b, 3), &column, &columns) < 0)
        return MCR_OK;
    if (column && columns == view.cols)
        view.column = column;
    view.release = core_give_back;
    view.user = core_hand_over(b);
    mcr_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = mcr_builder_borrow_dense(b->builder, name, &view);
    Py_END_ALLOW_THREADS;
    return status;
}

static mcr_status add_sparse(building *b, const char *name)
{
    mcr_sparse_view view = MCR_INIT(mcr_sparse_view);
    view.cols = PyLong_AsLongLong(core_part(b, 2));
    Py_buffer *start = PyErr_Occurred() ? NULL : core_lend(b, 3, "iq", b->count + 1);
    Py_buffer *index = start ? core_lend(b, 4, "iq", -1) : NULL;
    Py_buffer *values = index ? core_lend(b, 5, "df", index->len / index->itemsize) : NULL;
    if (!values || core_number_type(start, &view.start_type) ||
        core_number_type(index, &view.index_type) || core_number_type(values, &view.type))
        return MCR_OK;
    int64_t end = core_format(start) == 'q' ? ((int64_t *)start->buf)[b->count]
                                            : ((int32_t *)start->buf)[b->count];
    if (end > index->len / index->itemsize) {
        PyErr_SetString(PyExc_ValueError, "the rows have more entries than there are");
        return MCR_OK;
    }
    view.start = start->buf;
    view.index = index->buf;
    view.values = values->buf;
    view.release = core_give_back;
    view.user = core_hand_over(b);
    mcr_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = mcr_builder_borrow_sparse(b->builder, name, &view);
    Py_END_ALLOW_THREADS;
    return status;
}

static mcr_status add_strings(building *b, const char *name)
{
    mcr_string_view view = MCR_INIT(mcr_string_view);
    Py_buffer *start = core_lend(b, 2, "q", b->count + 1);
    Py_buffer *bytes = start ? core_lend(b, 3, "Bbc", -1) : NULL;
    if (!bytes)
        return MCR_OK;
    view.start = start->buf;
    view.start_type = MCR_INT64;
    view.bytes = bytes->buf;
    view.release = core_give_back;
    view.user = core_hand_over(b);
    return mcr_builder_borrow_strings(b->builder, name, &view);
}

static mcr_status add_graphs(building *b, const char *name)
{
    Py_buffer *node = core_lend(b, 2, "q", b->count + 1), *edge = NULL, *pair = NULL, *label = NULL;
    Py_buffer *node_label = node ? core_lend(b, 3, "i", ((int64_t *)node->buf)[b->count]) : NULL;
    if (node && !PyErr_Occurred())
        edge = core_lend(b, 4, "q", b->count + 1);
    if (edge)
        pair = core_lend(b, 5, "i", 2 * ((int64_t *)edge->buf)[b->count]);
    if (pair)
        label = core_lend(b, 6, "i", ((int64_t *)edge->buf)[b->count]);
    if (!pair || PyErr_Occurred())
        return MCR_OK;
    return mcr_builder_graphs(b->builder, name, node->buf, node_label ? node_label->buf : NULL,
                              edge->buf, (const int32_t(*)[2])pair->buf, label ? label->buf : NULL);
}

static mcr_status add_precomputed(building *b, const char *name)
{
    mcr_dense_view view = MCR_INIT(mcr_dense_view);
    if (core_matrix(b, 2, "df", &view) < 0)
        return MCR_OK;
    Py_buffer *id = core_lend(b, 3, "q", b->count);
    if (PyErr_Occurred())
        return MCR_OK;
    const int64_t *number = id ? id->buf : NULL;
    view.release = core_give_back;
    view.user = core_hand_over(b);
    return mcr_builder_borrow_precomputed(b->builder, name, &view, number);
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
                 {"precomputed", add_precomputed},
                 {"missing", core_add_missing},
                 {"numbers", core_add_numbers},
                 {"dates", core_add_dates},
                 {"words", core_add_words},
                 {"columns", core_add_columns}};
    const char *kind = core_text(&b->j, core_part(b, 0));
    const char *name = kind ? core_text(&b->j, core_part(b, 1)) : NULL;
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].kind) == 0)
            return kinds[i].add(b, name);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError,
                        "a field is a tuple of its kind, its name and its values");
    return MCR_OK;
}

/* Each field is added by a job of its own, which holds its texts meanwhile. */
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
        one->lent = calloc(1, sizeof *one->lent);
        mcr_status status = one->lent ? add_field(one) : MCR_NO_MEMORY;
        if (one->lent)
            core_give_back(one->lent);
        core_job_close(&one->j);
        if (status != MCR_OK)
            core_raise(status, b->j.ctx);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* ---- targets ----------------------------------------------------------------------------------*/

/* Classes: a tuple of their numbers, one for each object, and their names. */
static mcr_status add_classes(building *b, PyObject *targets)
{
    const char **name = NULL;
    int64_t count = 0;
    Py_buffer *code = core_view(&b->j, PyTuple_GetItem(targets, 0), "q", 0, b->count);
    if (!code || core_texts(&b->j, PyTuple_GetItem(targets, 1), &name, &count) < 0)
        return MCR_OK;
    return mcr_builder_coded_targets(b->builder, code->buf, MCR_INT64, 1, name, count);
}

static int add_targets(building *b, PyObject *targets, PyObject *weights)
{
    mcr_status status = MCR_OK;
    if (PyTuple_Check(targets) && PyTuple_Size(targets) == 2) {
        status = add_classes(b, targets);
    } else {
        Py_buffer *y = core_view(&b->j, targets, "d", 0, -1);
        if (y && y->ndim == 2)
            status = mcr_builder_target_table(b->builder, y->buf, y->shape[1], NULL);
        else if (y && y->len / y->itemsize == b->count)
            status = mcr_builder_targets(b->builder, y->buf);
        else if (y)
            PyErr_SetString(PyExc_ValueError, "one target for each object is wanted");
    }
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
     "data(count, fields, targets=None, weights=None)\n\nA data set over buffers."},
    {"guess_role", core_guess_role, METH_VARARGS,
     "guess_role(name, count, start, bytes, whole=False): the role of a column of a table."},
    {NULL, NULL, 0, NULL},
};
