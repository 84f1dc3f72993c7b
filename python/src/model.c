/* model.c: trained models as Python objects.
 *
 * A model owns its support vectors (a change of the training array does not reach it), and several
 * threads may ask it for predictions, each through a session of its own. Models of support vector
 * machines stay in the context that they were trained in, which lives as long as they do, without
 * threads. Others may keep more than predictions need (the factors of a Gaussian process): they are
 * moved to the home context as bytes, the same that a model file holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

#include <string.h>

PyTypeObject *core_model_type;

/* ---- bytes ------------------------------------------------------------------------------------*/

static PyObject *model_bytes(mcr *ctx, const mcr_model *model)
{
    void *bytes = NULL;
    size_t count = 0;
    mcr_status status = mcr_model_save_memory(&bytes, &count, ctx, model);
    if (status != MCR_OK)
        return core_raise(status, ctx);
    PyObject *made = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)count);
    mcr_bytes_free(ctx, bytes);
    return made;
}

static PyObject *wrap(mcr_model *model, PyObject *report)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(core_model_type, Py_tp_alloc);
    core_model *made = report ? (core_model *)alloc(core_model_type, 0) : NULL;
    if (!made) {
        mcr_model_free(model);
        Py_XDECREF(report);
        return NULL;
    }
    made->model = model;
    made->report = report;
    return (PyObject *)made;
}

/* report: given up to the model; NULL: that of the loaded model. */
static PyObject *load(const void *bytes, Py_ssize_t count, PyObject *report)
{
    mcr *home = core_home();
    mcr_model *model = NULL;
    mcr_status status = home ? mcr_model_load_memory(&model, home, "model", bytes, (size_t)count)
                             : MCR_OK;
    if (!model) {
        Py_XDECREF(report);
        return home ? core_raise(status, home) : NULL;
    }
    return wrap(model, report ? report : core_report(model));
}

/* The model as bytes, and from these in the home context. */
static PyObject *move_home(mcr *ctx, mcr_model *model, PyObject *report)
{
    void *bytes = NULL;
    size_t count = 0;
    PyObject *made = NULL;
    mcr_status status = mcr_model_save_memory(&bytes, &count, ctx, model);
    mcr_model_free(model);
    if (status == MCR_OK) {
        made = load(bytes, (Py_ssize_t)count, report);
    } else {
        Py_DECREF(report);
        core_raise(status, ctx);
    }
    mcr_bytes_free(ctx, bytes);
    return made;
}

static int is_support_machine(const mcr_model *model)
{
    static const char *const names[] = {"svm", "nu-svm", "svr", "nu-svr", "one-class"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(mcr_model_report(model)->learner, names[i]) == 0)
            return 1;
    return 0;
}

PyObject *core_model_new(session *from, mcr_model *model)
{
    PyObject *report = core_report(model);
    mcr_stop_threads(from->ctx);
    if (!report) {
        mcr_model_free(model);
        return NULL;
    }
    if (!is_support_machine(model))
        return move_home(from->ctx, model, report);
    PyObject *made = wrap(model, report);
    if (made) {
        Py_INCREF((PyObject *)from);
        ((core_model *)made)->owner = (PyObject *)from;
    }
    return made;
}

/* ---- methods ----------------------------------------------------------------------------------*/

static mcr_model *of(PyObject *self)
{
    return ((core_model *)self)->model;
}

static PyObject *model_to_bytes(PyObject *self, PyObject *none)
{
    (void)none;
    return model_bytes(core_home(), of(self));
}

static PyObject *model_from_bytes(PyObject *type, PyObject *bytes)
{
    (void)type;
    char *at;
    Py_ssize_t count;
    if (PyBytes_AsStringAndSize(bytes, &at, &count) < 0)
        return NULL;
    return load(at, count, NULL);
}

static PyObject *model_save(PyObject *self, PyObject *args)
{
    PyObject *path;
    int libsvm = 0;
    if (!PyArg_ParseTuple(args, "O&|p", PyUnicode_FSConverter, &path, &libsvm))
        return NULL;
    mcr *home = core_home();
    const char *name = PyBytes_AsString(path);
    mcr_status status = libsvm ? mcr_model_save_libsvm(home, of(self), name)
                               : mcr_model_save(home, of(self), name);
    Py_DECREF(path);
    if (status != MCR_OK)
        return core_raise(status, home);
    Py_RETURN_NONE;
}

static PyObject *model_load(PyObject *type, PyObject *args)
{
    (void)type;
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    mcr *home = core_home();
    mcr_model *model = NULL;
    mcr_status status = mcr_model_load(&model, home, PyBytes_AsString(path));
    Py_DECREF(path);
    return status == MCR_OK ? wrap(model, core_report(model)) : core_raise(status, home);
}

/* The coefficients of an output into arrays of the caller; returns the offset. */
static PyObject *model_coefficients(PyObject *self, PyObject *args)
{
    long long output;
    PyObject *coef_array, *number_array;
    if (!PyArg_ParseTuple(args, "LOO", &output, &coef_array, &number_array))
        return NULL;
    Py_buffer coef, number;
    if (PyObject_GetBuffer(coef_array, &coef, PyBUF_WRITABLE | PyBUF_FORMAT) < 0)
        return NULL;
    if (PyObject_GetBuffer(number_array, &number, PyBUF_WRITABLE | PyBUF_FORMAT) < 0) {
        PyBuffer_Release(&coef);
        return NULL;
    }
    int64_t support = mcr_model_support(of(self));
    double offset = 0;
    mcr_status status = MCR_BAD_CALL;
    if (core_format(&coef) == 'd' && core_format(&number) == 'q' &&
        coef.len == support * (int64_t)sizeof(double) &&
        number.len == support * (int64_t)sizeof(int64_t))
        status = mcr_model_coefficients(of(self), output, coef.buf, &offset, number.buf);
    PyBuffer_Release(&coef);
    PyBuffer_Release(&number);
    return status == MCR_OK ? PyFloat_FromDouble(offset) : core_raise(status, core_home());
}

static PyObject *model_sides(PyObject *self, PyObject *output)
{
    int64_t positive = -1, negative = -1, o = PyLong_AsLongLong(output);
    if (PyErr_Occurred())
        return NULL;
    if (o < 0 || o >= mcr_model_outputs(of(self))) {
        PyErr_SetString(PyExc_IndexError, "the model has no such output");
        return NULL;
    }
    mcr_model_sides(of(self), o, &positive, &negative);
    return Py_BuildValue("LL", (long long)positive, (long long)negative);
}

static PyObject *model_number(PyObject *self, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    int64_t count = 0;
    const double *value = text ? mcr_model_number(of(self), text, &count) : NULL;
    if (!text)
        return NULL;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; value && list && i < count; i++) {
        PyObject *one = PyFloat_FromDouble(value[i]);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *model_class_names(PyObject *self, PyObject *none)
{
    (void)none;
    PyObject *list = PyList_New(0);
    for (int64_t c = 0; list && c < mcr_model_classes(of(self)); c++) {
        PyObject *one = core_string(mcr_model_class_name(of(self), c));
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *model_output_name(PyObject *self, PyObject *output)
{
    int64_t o = PyLong_AsLongLong(output);
    if (PyErr_Occurred())
        return NULL;
    return core_string(
        o >= 0 && o < mcr_model_outputs(of(self)) ? mcr_model_output_name(of(self), o) : NULL);
}

static int add_column(PyObject *list, const char *name, mcr_role role)
{
    const char *word = mcr_role_name(role);
    PyObject *one = Py_BuildValue("(ss)", name, word ? word : "");
    int bad = !one || PyList_Append(list, one) < 0;
    Py_XDECREF(one);
    return bad ? -1 : 0;
}

/* The columns of a table without a layout: they are numbers and texts. */
static int add_fields(PyObject *list, const mcr_data *data)
{
    int bad = 0;
    for (int64_t f = 0; f < mcr_data_fields(data) && !bad; f++) {
        mcr_field_info info = MCR_INIT(mcr_field_info);
        const char *name;
        mcr_data_field_info(data, f, &info);
        if (info.kind == MCR_STRINGS)
            bad = add_column(list, info.name, MCR_WORDS);
        for (int64_t c = 0; info.kind == MCR_DENSE && c < info.cols && !bad; c++)
            if ((name = mcr_data_column_name(data, f, c)))
                bad = add_column(list, name, MCR_NUMBER);
    }
    return bad;
}

/* [(name, role)] of the table that it was trained on. */
static PyObject *model_columns(PyObject *self, PyObject *none)
{
    (void)none;
    PyObject *list = PyList_New(0);
    const mcr_layout *layout = mcr_model_layout(of(self));
    int64_t count = layout ? mcr_layout_columns(layout) : 0;
    int bad = 0;
    for (int64_t c = 0; list && c < count && !bad; c++) {
        mcr_role role;
        const char *name = mcr_layout_column(layout, c, &role);
        bad = add_column(list, name, role);
    }
    if (list && count == 0)
        bad = add_fields(list, mcr_model_objects(of(self)));
    if (bad)
        Py_CLEAR(list);
    return list;
}

static PyMethodDef methods[] = {
    {"to_bytes", model_to_bytes, METH_NOARGS, "The bytes of a model file."},
    {"from_bytes", model_from_bytes, METH_O | METH_CLASS, "A model from the bytes of a file."},
    {"save", model_save, METH_VARARGS, "save(path, libsvm=False)"},
    {"load", model_load, METH_VARARGS | METH_CLASS, "load(path): a file of Mercer or LIBSVM"},
    {"coefficients", model_coefficients, METH_VARARGS,
     "coefficients(output, coef, number): fills two arrays, returns the offset"},
    {"sides", model_sides, METH_O, "Classes that an output speaks for: positive, negative."},
    {"number", model_number, METH_O, "Numbers that the model keeps under a name."},
    {"class_names", model_class_names, METH_NOARGS, "Names of the classes."},
    {"columns", model_columns, METH_NOARGS, "Names and roles of the columns of its table."},
    {"output_name", model_output_name, METH_O, "What an output decides between."},
    {NULL, NULL, 0, NULL},
};

static PyObject *get_count(PyObject *self, void *which)
{
    int64_t (*count)(const mcr_model *) = which == NULL ? mcr_model_support : mcr_model_outputs;
    return PyLong_FromLongLong(count(of(self)));
}

static PyObject *get_report(PyObject *self, void *closure)
{
    (void)closure;
    return PyDict_Copy(((core_model *)self)->report);
}

static PyObject *get_ability(PyObject *self, void *which)
{
    static int (*const has[])(const mcr_model *) = {mcr_model_has_probability, mcr_model_has_std,
                                                    mcr_model_has_interval,
                                                    mcr_model_has_coordinates};
    return PyBool_FromLong(has[(size_t)(uintptr_t)which](of(self)));
}

static PyGetSetDef fields[] = {
    {"report", get_report, NULL, "How it was made.", NULL},
    {"support", get_count, NULL, "Number of support vectors.", NULL},
    {"outputs", get_count, NULL, "Number of decision values.", (void *)1},
    {"has_probability", get_ability, NULL, NULL, (void *)0},
    {"has_std", get_ability, NULL, NULL, (void *)1},
    {"has_interval", get_ability, NULL, NULL, (void *)2},
    {"has_coordinates", get_ability, NULL, NULL, (void *)3},
    {NULL, NULL, NULL, NULL, NULL},
};

static void model_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    mcr_model_free(of(self)); /* before its context */
    Py_CLEAR(((core_model *)self)->report);
    Py_CLEAR(((core_model *)self)->owner);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

int core_model_add(PyObject *module)
{
    PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)model_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, fields},
        {Py_tp_doc, "A trained model."},
        {0, NULL},
    };
    PyType_Spec spec = {"mercer._core.Model", sizeof(core_model), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    core_model_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return core_model_type ? PyModule_AddObjectRef(module, "Model", (PyObject *)core_model_type)
                           : -1;
}
