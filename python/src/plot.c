/* plot.c: figures as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core.h"

typedef struct plot_job {
    job j;
    mcr_plot plot;
    const char *expression, *format;
    mcr_figure *figure;
    const char *bytes; /* the figure's */
    size_t count;
    mcr_draw draw;
} plot_job;

static mcr_status plot_work(job *j)
{
    plot_job *p = (plot_job *)j;
    mcr_kernel *kernel = NULL;
    mcr_status status = MCR_OK;
    if (p->expression)
        status = mcr_kernel_parse(&kernel, j->ctx, p->expression);
    p->plot.kernel = kernel;
    if (status == MCR_OK)
        status = mcr_figure_open(&p->figure, j->ctx, &p->plot);
    if (status == MCR_OK)
        status = mcr_figure_draw(p->figure, p->format, &p->draw, &p->bytes, &p->count);
    mcr_kernel_free(kernel);
    return status;
}

static void plot_clean(job *j)
{
    mcr_figure_close(((plot_job *)j)->figure);
}

static PyObject *session_plot(PyObject *self, PyObject *args, PyObject *named)
{
    static char *names[] = {"model", "data",  "kernel", "kind",  "x",      "y",
                            "title", "along", "format", "width", "height", NULL};
    PyObject *model = Py_None, *data = Py_None, *kernel = Py_None, *kind = Py_None, *made = NULL;
    PyObject *x = Py_None, *y = Py_None, *title = Py_None, *along = Py_None, *format = Py_None;
    int width = 0, height = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "|OOOOOOOOOii", names, &model, &data, &kernel,
                                     &kind, &x, &y, &title, &along, &format, &width, &height))
        return NULL;
    if ((model != Py_None && !PyObject_TypeCheck(model, core_model_type)) ||
        (data != Py_None && !PyObject_TypeCheck(data, core_data_type))) {
        PyErr_SetString(PyExc_TypeError, "a model and data of this module are wanted");
        return NULL;
    }
    plot_job *p = core_job_new(sizeof *p, (session *)self, plot_work);
    if (!p)
        return NULL;
    p->j.clean = plot_clean;
    p->expression = core_text(&p->j, kernel);
    p->format = core_text(&p->j, format);
    p->draw = (mcr_draw){.size = sizeof p->draw, .width = width, .height = height};
    p->plot = (mcr_plot){.size = sizeof p->plot,
                         .kind = core_text(&p->j, kind),
                         .x = core_text(&p->j, x),
                         .y = core_text(&p->j, y),
                         .title = core_text(&p->j, title),
                         .along = core_text(&p->j, along)};
    if (model != Py_None)
        p->plot.model = ((core_model *)core_hold(&p->j, model))->model;
    if (data != Py_None)
        p->plot.data = ((core_data *)core_hold(&p->j, data))->data;
    if (!p->format)
        p->format = "svg";
    if (!PyErr_Occurred() && core_job_run(&p->j) == 0)
        made = PyBytes_FromStringAndSize(p->bytes, (Py_ssize_t)p->count);
    core_job_close(&p->j);
    return made;
}

PyMethodDef core_plot_methods[] = {
    {"plot", (PyCFunction)(void (*)(void))session_plot, METH_VARARGS | METH_KEYWORDS,
     "plot(model=None, data=None, kernel=None, kind=None, ..., format=None): bytes"},
    {NULL, NULL, 0, NULL},
};
