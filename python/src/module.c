/* module.c: the module mercer._core.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

int core_session_add(PyObject *module);
int core_model_add(PyObject *module);
int core_arrow_add(PyObject *module);
PyObject *core_read_arrow(PyObject *module, PyObject *object);
PyObject *core_block(PyObject *module, PyObject *args);

static PyObject *version(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return core_string(mcr_version());
}

/* The canonical form of an expression. */
static PyObject *kernel_text(PyObject *module, PyObject *expression)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(expression, NULL);
    mcr *ctx = text ? core_home() : NULL;
    mcr_kernel *kernel = NULL;
    if (!ctx)
        return NULL;
    mcr_status status = mcr_kernel_parse(&kernel, ctx, text);
    if (status != MCR_OK)
        return core_raise(status, ctx);
    PyObject *made = core_string(mcr_kernel_text(kernel));
    mcr_kernel_free(kernel);
    return made;
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "Version of the library."},
    {"kernel_text", kernel_text, METH_O, "The canonical form of a kernel expression."},
    {"learners", core_learners, METH_NOARGS, "The learners with their parameters."},
    {"kernels", core_kernels, METH_NOARGS, "The kernels with their parameters."},
    {"metrics", core_metrics, METH_NOARGS, "The metrics of cross-validation."},
    {"read_arrow", core_read_arrow, METH_O,
     "read_arrow(object): the schema and the record batches of an Arrow table."},
    {"block", core_block, METH_VARARGS, "block(batch, address, count): memory of a record batch."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "mercer._core",
    .m_doc = "The C library, as the Python modules of this package use it.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && (core_errors_add(module) < 0 || core_session_add(module) < 0 ||
                   core_model_add(module) < 0 || core_arrow_add(module) < 0))
        Py_CLEAR(module);
    return module;
}
