/* arrow.c: tables of other libraries by Arrow's PyCapsule interface.
 *
 * An object with __arrow_c_stream__ or __arrow_c_array__ (polars, pyarrow, DuckDB and others) hands
 * over a capsule. read_arrow gives its record batches as they are: trees of tuples with the
 * addresses of their buffers, which _arrow.py turns into arrays that read the memory in place
 * (block). The batch that owns the memory is released with the last of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <mercer/arrow.h>

#include <stdlib.h>
#include <string.h>

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

enum { DEEPEST = 8 };

/* ---- a record batch, and memory inside it -----------------------------------------------------*/

typedef struct batch {
    PyObject_HEAD struct ArrowArray array;
} batch;

typedef struct block {
    PyObject_HEAD PyObject *owner;
    const void *bytes;
    Py_ssize_t count;
} block;

static PyTypeObject *batch_type, *block_type;

static void batch_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct ArrowArray *array = &((batch *)self)->array;
    if (array->release)
        array->release(array);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static void block_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((block *)self)->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int block_buffer(PyObject *self, Py_buffer *view, int flags)
{
    block *b = (block *)self;
    return PyBuffer_FillInfo(view, self, (void *)b->bytes, b->count, 1, flags);
}

static PyObject *new_object(PyTypeObject *type)
{
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

/* block(owner, address, count): bytes inside a batch, by the buffer protocol. */
PyObject *core_block(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *owner;
    unsigned long long address;
    long long count;
    if (!PyArg_ParseTuple(args, "O!KL", batch_type, &owner, &address, &count))
        return NULL;
    if (count < 0 || (!address && count > 0)) {
        PyErr_SetString(PyExc_ValueError, "a record batch lacks a buffer");
        return NULL;
    }
    block *made = (block *)new_object(block_type);
    if (made) {
        Py_INCREF(owner);
        made->owner = owner;
        made->bytes = count > 0 ? (const void *)(uintptr_t)address : "";
        made->count = (Py_ssize_t)count;
    }
    return (PyObject *)made;
}

/* ---- trees ------------------------------------------------------------------------------------*/

static PyObject *refuse(const char *text)
{
    PyErr_SetString(PyExc_ValueError, text);
    return NULL;
}

/* (format, name, (children), dictionary or None) */
static PyObject *schema_tree(const struct ArrowSchema *s, int depth)
{
    if (!s || !s->format || depth > DEEPEST || s->n_children < 0)
        return refuse("the schema of the Arrow table is not valid");
    PyObject *children = PyTuple_New((Py_ssize_t)s->n_children), *dictionary = NULL;
    for (int64_t i = 0; children && i < s->n_children; i++) {
        PyObject *child = schema_tree(s->children[i], depth + 1);
        if (!child || PyTuple_SetItem(children, (Py_ssize_t)i, child) < 0)
            Py_CLEAR(children);
    }
    if (children && s->dictionary) {
        dictionary = schema_tree(s->dictionary, depth + 1);
    } else {
        dictionary = Py_None;
        Py_INCREF(dictionary);
    }
    if (!children || !dictionary) {
        Py_XDECREF(children);
        Py_XDECREF(dictionary);
        return NULL;
    }
    return Py_BuildValue("(ssNN)", s->format, s->name ? s->name : "", children, dictionary);
}

static PyObject *addresses(const struct ArrowArray *a)
{
    PyObject *made = PyTuple_New((Py_ssize_t)a->n_buffers);
    for (int64_t i = 0; made && i < a->n_buffers; i++) {
        PyObject *one = PyLong_FromUnsignedLongLong((uintptr_t)a->buffers[i]);
        if (!one || PyTuple_SetItem(made, (Py_ssize_t)i, one) < 0)
            Py_CLEAR(made);
    }
    return made;
}

/* (length, nulls, offset, (addresses), (children), dictionary or None) */
static PyObject *array_tree(const struct ArrowArray *a, int depth)
{
    if (!a || depth > DEEPEST || a->length < 0 || a->offset < 0 || a->n_buffers < 0 ||
        a->n_children < 0)
        return refuse("a record batch of the Arrow table is not valid");
    PyObject *buffers = addresses(a), *dictionary = NULL;
    PyObject *children = buffers ? PyTuple_New((Py_ssize_t)a->n_children) : NULL;
    for (int64_t i = 0; children && i < a->n_children; i++) {
        PyObject *child = array_tree(a->children[i], depth + 1);
        if (!child || PyTuple_SetItem(children, (Py_ssize_t)i, child) < 0)
            Py_CLEAR(children);
    }
    if (children && a->dictionary) {
        dictionary = array_tree(a->dictionary, depth + 1);
    } else {
        dictionary = Py_None;
        Py_INCREF(dictionary);
    }
    if (!children || !dictionary) {
        Py_XDECREF(buffers);
        Py_XDECREF(children);
        Py_XDECREF(dictionary);
        return NULL;
    }
    return Py_BuildValue("(LLLNNN)", (long long)a->length, (long long)a->null_count,
                         (long long)a->offset, buffers, children, dictionary);
}

/* (batch, tree); the array is moved into the batch. */
static PyObject *take_batch(struct ArrowArray *array)
{
    batch *made = (batch *)new_object(batch_type);
    if (!made) {
        array->release(array);
        return NULL;
    }
    made->array = *array;
    array->release = NULL;
    PyObject *tree = array_tree(&made->array, 0);
    if (!tree) {
        Py_DECREF((PyObject *)made);
        return NULL;
    }
    return Py_BuildValue("(NN)", (PyObject *)made, tree);
}

/* ---- capsules ---------------------------------------------------------------------------------*/

static PyObject *raise_stream(struct ArrowArrayStream *stream)
{
    const char *why = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", why ? why : "no reason given");
    return NULL;
}

static PyObject *read_stream(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema = {0};
    if (!stream->release)
        return refuse("the Arrow stream was read before");
    if (stream->get_schema(stream, &schema) != 0)
        return raise_stream(stream);
    PyObject *tree = schema_tree(&schema, 0), *list = tree ? PyList_New(0) : NULL;
    if (schema.release)
        schema.release(&schema);
    while (list) {
        struct ArrowArray array = {0};
        if (stream->get_next(stream, &array) != 0) {
            raise_stream(stream);
            Py_CLEAR(list);
            break;
        }
        if (!array.release)
            break;
        PyObject *one = take_batch(&array);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    if (!list) {
        Py_XDECREF(tree);
        return NULL;
    }
    return Py_BuildValue("(NN)", tree, list);
}

static PyObject *read_pair(PyObject *pair)
{
    struct ArrowSchema *schema = NULL;
    struct ArrowArray *array = NULL;
    if (PyTuple_Check(pair) && PyTuple_Size(pair) == 2) {
        schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
        if (schema)
            array = PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array");
    }
    if (!array)
        return PyErr_Occurred() ? NULL : refuse("__arrow_c_array__ must give two capsules");
    if (!array->release || !schema->release)
        return refuse("the Arrow array was read before");
    PyObject *tree = schema_tree(schema, 0), *one = tree ? take_batch(array) : NULL;
    if (!one) {
        Py_XDECREF(tree);
        return NULL;
    }
    return Py_BuildValue("(N[N])", tree, one);
}

/* read_arrow(object): (schema, [(batch, tree)]) */
PyObject *core_read_arrow(PyObject *module, PyObject *object)
{
    (void)module;
    PyObject *made = NULL, *capsule = NULL;
    if (PyObject_HasAttrString(object, "__arrow_c_stream__")) {
        capsule = PyObject_CallMethod(object, "__arrow_c_stream__", NULL);
        struct ArrowArrayStream *stream = capsule
                                              ? PyCapsule_GetPointer(capsule, "arrow_array_stream")
                                              : NULL;
        if (stream)
            made = read_stream(stream);
    } else {
        capsule = PyObject_CallMethod(object, "__arrow_c_array__", NULL);
        if (capsule)
            made = read_pair(capsule);
    }
    Py_XDECREF(capsule);
    return made;
}

int core_arrow_add(PyObject *module)
{
    static PyType_Slot batch_slots[] = {{Py_tp_dealloc, batch_free}, {0, NULL}};
    static PyType_Slot block_slots[] = {
        {Py_tp_dealloc, block_free}, {Py_bf_getbuffer, block_buffer}, {0, NULL}};
    static PyType_Spec batch_spec = {"mercer._core.Batch", sizeof(batch), 0, Py_TPFLAGS_DEFAULT,
                                     batch_slots};
    static PyType_Spec block_spec = {"mercer._core.Block", sizeof(block), 0, Py_TPFLAGS_DEFAULT,
                                     block_slots};
    (void)module;
    batch_type = (PyTypeObject *)PyType_FromSpec(&batch_spec);
    block_type = (PyTypeObject *)PyType_FromSpec(&block_spec);
    return batch_type && block_type ? 0 : -1;
}
