/* onnx.c: a model as an ONNX graph: support vector machines by the operators of ai.onnx.ml, in
 * float, if that is accurate enough; other models, or all on request, by plain operators in double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "export/onnx_graph.h"

static mcr_status refuse_strings(const mcr_portable *p)
{
    return p->strings == 0
               ? MCR_OK
               : mcr_fail(p->ctx, MCR_BAD_CALL,
                          "ONNX has no operators for the kernel %.200s on strings: models on "
                          "vectors can be exported to it, this one to C or JSON",
                          mcr_kernel_text(p->model->kernel));
}

static mcr_status put_graph(mcr_text *to, const mcr_exporting *e, const mcr_portable *p,
                            bool single)
{
    mcr_onnx g;
    mcr_onnx_parts parts = {NULL};
    mcr_status s = MCR_OK;
    mcr_onnx_init(&g, e->ctx, p, single);
    if (single) {
        mcr_onnx_svm(&g);
    } else {
        s = mcr_onnx_open_parts(&g, &parts);
        if (!s)
            s = mcr_onnx_decide(&g, &parts);
    }
    if (!s)
        s = g.status;
    if (!s)
        s = mcr_onnx_finish(&g, to, e->name, mcr_kernel_text(p->model->kernel));
    mcr_free(e->ctx, parts.part);
    mcr_onnx_free(&g);
    return s;
}

/* Whether the model becomes an operator of ai.onnx.ml. */
static mcr_status choose(bool *single, const mcr_exporting *e)
{
    mcr_portable *p = NULL;
    *single = false;
    if (strcmp(e->numbers, "double") == 0)
        return MCR_OK;
    mcr_status s = mcr_portable_open(&p, e->ctx, e->model, "ONNX", false);
    if (!s)
        s = refuse_strings(p);
    bool machine = !s && mcr_onnx_is_svm(p);
    if (!s && machine && strcmp(e->numbers, "float") == 0)
        *single = true;
    else if (!s && machine)
        s = mcr_onnx_float_is_enough(single, p);
    else if (!s && strcmp(e->numbers, "float") == 0)
        s = mcr_fail(
            e->ctx, MCR_BAD_CALL,
            "ONNX has float operators for svm, nu-svm, one-class, svr and nu-svr with the "
            "kernels linear, poly, rbf and sigmoid, without probabilities; all other models "
            "are graphs in double");
    mcr_portable_close(p);
    return s;
}

static mcr_status write(const mcr_exporting *e)
{
    mcr_portable *p = NULL;
    mcr_text t;
    bool single = false;
    mcr_text_init(&t, e->ctx);
    mcr_status s = choose(&single, e);
    if (!s)
        s = mcr_portable_open(&p, e->ctx, e->model, "ONNX", !single);
    if (!s)
        s = refuse_strings(p);
    if (!s)
        e->report->inputs = p->inputs;
    if (!s)
        s = put_graph(&t, e, p, single);
    if (!s)
        s = mcr_text_save(&t, e->path);
    mcr_text_free(&t);
    mcr_portable_close(p);
    return s;
}

const mcr_export_type mcr_export_onnx = {
    .name = "onnx",
    .summary = "a graph for ONNX runtimes (opset 13)",
    .numbers = "auto|double|float",
    .write = write,
};
