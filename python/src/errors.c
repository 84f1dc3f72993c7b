/* errors.c: statuses of the library as exceptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <stdio.h>
#include <string.h>

static PyObject *base_error, *value_error, *memory_error, *file_error;

static PyObject *new_error(PyObject *module, const char *name, const char *about, PyObject *other)
{
    char full[64];
    snprintf(full, sizeof full, "mercer.%s", name);
    PyObject *bases = other ? PyTuple_Pack(2, base_error, other) : PyTuple_Pack(1, PyExc_Exception);
    PyObject *error = bases ? PyErr_NewExceptionWithDoc(full, about, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (error && PyModule_AddObjectRef(module, name, error) < 0)
        Py_CLEAR(error);
    return error;
}

int core_errors_add(PyObject *module)
{
    base_error = new_error(module, "MercerError", "Whatever the library refuses.", NULL);
    if (base_error)
        value_error = new_error(module, "MercerValueError",
                                "An argument, a kernel expression or data that cannot be used.",
                                PyExc_ValueError);
    if (value_error)
        memory_error = new_error(module, "MercerMemoryError",
                                 "No memory, or more than the memory budget allows.",
                                 PyExc_MemoryError);
    if (memory_error)
        file_error = new_error(module, "MercerFileError", "A file that cannot be read or written.",
                               PyExc_OSError);
    return file_error ? 0 : -1;
}

/* The message, and for a fault in a kernel expression the expression with a mark under its
 * place. */
static PyObject *message(mcr_status status, const mcr *ctx)
{
    const char *text = ctx ? mcr_message(ctx) : "";
    if (!text[0])
        text = mcr_status_name(status);
    int64_t column = 0, length = 0;
    const char *mark = ctx ? mcr_message_mark(ctx, &column, &length) : NULL;
    char line[1024];
    if (!mark || column + length + 1 >= (int64_t)sizeof line)
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    memset(line, ' ', (size_t)column);
    memset(line + column, '^', (size_t)(length > 0 ? length : 1));
    line[column + (length > 0 ? length : 1)] = '\0';
    return PyUnicode_FromFormat("%s\n  %s\n  %s", text, mark, line);
}

PyObject *core_raise(mcr_status status, const mcr *ctx)
{
    PyObject *kind = value_error;
    if (status == MCR_NO_MEMORY || status == MCR_OVER_BUDGET)
        kind = memory_error;
    else if (status == MCR_IO)
        kind = file_error;
    else if (status == MCR_STOPPED)
        kind = PyExc_KeyboardInterrupt;
    PyObject *text = message(status, ctx);
    if (text)
        PyErr_SetObject(kind, text);
    Py_XDECREF(text);
    return NULL;
}
