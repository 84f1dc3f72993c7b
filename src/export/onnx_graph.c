/* onnx_graph.c: writing ONNX graphs. A protocol buffer message is a list of fields: a number with a
 * type, then a varint, four bytes, or a length and that many bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "export/onnx_graph.h"

#include <stdio.h>
#include <string.h>

#include "model/foreign.h"

enum { IR_VERSION = 7, OPSET = 13, ML_OPSET = 1, NAME = 32 };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2, WIRE_32 = 5 };
enum {
    ATTRIBUTE_INT = 2,
    ATTRIBUTE_STRING = 3,
    ATTRIBUTE_FLOATS = 6,
    ATTRIBUTE_INTS = 7,
    ATTRIBUTE_STRINGS = 8
};

/* ---- protocol buffers -------------------------------------------------------------------------*/

static void put_varint(mcr_text *t, uint64_t value)
{
    unsigned char byte[10];
    size_t count = 0;
    do {
        byte[count] = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        count++;
    } while (value >>= 7);
    mcr_text_add(t, byte, count);
}

static void put_int(mcr_text *t, unsigned field, int64_t value)
{
    put_varint(t, field << 3 | WIRE_VARINT);
    put_varint(t, (uint64_t)value);
}

static void put_bytes(mcr_text *t, unsigned field, const void *bytes, size_t count)
{
    put_varint(t, field << 3 | WIRE_BYTES);
    put_varint(t, count);
    mcr_text_add(t, bytes, count);
}

static void put_text(mcr_text *t, unsigned field, const char *text)
{
    put_bytes(t, field, text, strlen(text));
}

/* Embeds a message; `from` is emptied. */
static void put_message(mcr_text *t, unsigned field, mcr_text *from)
{
    put_bytes(t, field, from->length ? from->bytes : "", (size_t)from->length);
    if (from->status)
        t->status = from->status;
    from->length = 0;
}

static void put_tensor_name(mcr_text *t, unsigned field, mcr_tensor a)
{
    char name[NAME];
    snprintf(name, sizeof name, a ? "t%lld" : "x", (long long)a);
    put_text(t, field, name);
}

/* ---- constants --------------------------------------------------------------------------------*/

/* Ends the tensor in g->body. */
static mcr_tensor add_constant(mcr_onnx *g, int type)
{
    put_int(&g->body, 2, type);
    put_tensor_name(&g->body, 8, ++g->tensors);
    put_message(&g->constant, 5, &g->body);
    return g->tensors;
}

mcr_tensor mcr_onnx_reals(mcr_onnx *g, const double *value, const int64_t *dims)
{
    int64_t count = 1;
    mcr_text raw;
    mcr_text_init(&raw, g->ctx);
    for (; *dims >= 0; dims++) {
        put_int(&g->body, 1, *dims);
        count *= *dims;
    }
    for (int64_t i = 0; i < count; i++) { /* little-endian, like raw data */
        uint64_t bits = 0;
        float narrow = (float)value[i];
        if (g->single)
            memcpy(&bits, &narrow, sizeof narrow);
        else
            memcpy(&bits, &value[i], sizeof bits);
        unsigned char byte[8];
        for (unsigned b = 0; b < 8; b++)
            byte[b] = (unsigned char)(bits >> 8 * b & 255);
        mcr_text_add(&raw, byte, g->single ? 4 : 8);
    }
    put_message(&g->body, 9, &raw);
    mcr_text_free(&raw);
    return add_constant(g, mcr_onnx_real(g));
}

mcr_tensor mcr_onnx_number(mcr_onnx *g, double value)
{
    return mcr_onnx_reals(g, &value, (const int64_t[]){-1});
}

mcr_tensor mcr_onnx_ints(mcr_onnx *g, const int64_t *value, int64_t count)
{
    put_int(&g->body, 1, count);
    for (int64_t i = 0; i < count; i++)
        put_int(&g->body, 7, value[i]);
    return add_constant(g, MCR_ONNX_INT64);
}

mcr_tensor mcr_onnx_strings(mcr_onnx *g, char *const *value, int64_t count)
{
    put_int(&g->body, 1, count);
    for (int64_t i = 0; i < count; i++)
        put_text(&g->body, 6, value[i]);
    return add_constant(g, MCR_ONNX_STRING);
}

mcr_tensor mcr_onnx_range(mcr_onnx *g, int64_t from, int64_t count)
{
    int64_t *value = mcr_alloc(g->ctx, (size_t)count + 1, sizeof *value);
    mcr_tensor t = 0;
    for (int64_t i = 0; value && i < count; i++)
        value[i] = from + i;
    if (value)
        t = mcr_onnx_ints(g, value, count);
    else
        g->status = MCR_NO_MEMORY;
    mcr_free(g->ctx, value);
    return t;
}

double *mcr_onnx_zeros(mcr_onnx *g, int64_t rows, int64_t cols)
{
    double *value = mcr_alloc_zero(g->ctx, (size_t)rows + 1, ((size_t)cols + 1) * sizeof *value);
    if (!value)
        g->status = MCR_NO_MEMORY;
    return value;
}

mcr_tensor mcr_onnx_matrix(mcr_onnx *g, double *value, int64_t rows, int64_t cols)
{
    mcr_tensor t = value ? mcr_onnx_reals(g, value, (const int64_t[]){rows, cols, -1}) : 0;
    mcr_free(g->ctx, value);
    return t;
}

/* ---- attributes -------------------------------------------------------------------------------*/

/* Ends the attribute in g->body. */
static void add_attribute(mcr_onnx *g, const char *name, int type)
{
    put_text(&g->body, 1, name);
    put_int(&g->body, 20, type);
    put_message(&g->attributes, 5, &g->body);
}

void mcr_onnx_set_int(mcr_onnx *g, const char *name, int64_t value)
{
    put_int(&g->body, 3, value);
    add_attribute(g, name, ATTRIBUTE_INT);
}

void mcr_onnx_set_text(mcr_onnx *g, const char *name, const char *value)
{
    put_text(&g->body, 4, value);
    add_attribute(g, name, ATTRIBUTE_STRING);
}

void mcr_onnx_set_floats(mcr_onnx *g, const char *name, const double *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float narrow = (float)value[i];
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        const unsigned char byte[4] = {bits & 255, bits >> 8 & 255, bits >> 16 & 255,
                                       (unsigned char)(bits >> 24)};
        put_varint(&g->body, 7 << 3 | WIRE_32);
        mcr_text_add(&g->body, byte, sizeof byte);
    }
    add_attribute(g, name, ATTRIBUTE_FLOATS);
}

void mcr_onnx_set_ints(mcr_onnx *g, const char *name, const int64_t *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        put_int(&g->body, 8, value[i]);
    add_attribute(g, name, ATTRIBUTE_INTS);
}

void mcr_onnx_set_texts(mcr_onnx *g, const char *name, char *const *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        put_text(&g->body, 9, value[i]);
    add_attribute(g, name, ATTRIBUTE_STRINGS);
}

/* ---- nodes ------------------------------------------------------------------------------------*/

static mcr_tensor add_node(mcr_onnx *g, const char *op, bool ml, const mcr_tensor *in, int inputs,
                           int outputs)
{
    mcr_tensor first = g->tensors + 1;
    for (int i = 0; i < inputs; i++)
        put_tensor_name(&g->body, 1, in[i]);
    for (int i = 0; i < outputs; i++)
        put_tensor_name(&g->body, 2, ++g->tensors);
    put_text(&g->body, 4, op);
    if (g->attributes.length)
        mcr_text_add(&g->body, g->attributes.bytes, (size_t)g->attributes.length);
    g->attributes.length = 0;
    if (ml)
        put_text(&g->body, 7, "ai.onnx.ml");
    put_message(&g->node, 1, &g->body);
    return first;
}

mcr_tensor mcr_onnx_1(mcr_onnx *g, const char *op, mcr_tensor a)
{
    return add_node(g, op, false, &a, 1, 1);
}

mcr_tensor mcr_onnx_2(mcr_onnx *g, const char *op, mcr_tensor a, mcr_tensor b)
{
    return add_node(g, op, false, (const mcr_tensor[]){a, b}, 2, 1);
}

mcr_tensor mcr_onnx_ml(mcr_onnx *g, const char *op, mcr_tensor a, int outputs)
{
    return add_node(g, op, true, &a, 1, outputs);
}

mcr_tensor mcr_onnx_top(mcr_onnx *g, mcr_tensor a, int64_t count)
{
    mcr_tensor wanted = mcr_onnx_ints(g, &count, 1);
    return add_node(g, "TopK", false, (const mcr_tensor[]){a, wanted}, 2, 2);
}

mcr_tensor mcr_onnx_cast(mcr_onnx *g, mcr_tensor a, int type)
{
    mcr_onnx_set_int(g, "to", type);
    return mcr_onnx_1(g, "Cast", a);
}

mcr_tensor mcr_onnx_positive(mcr_onnx *g, mcr_tensor a)
{
    return mcr_onnx_cast(g, mcr_onnx_2(g, "Greater", a, mcr_onnx_number(g, 0)), mcr_onnx_real(g));
}

mcr_tensor mcr_onnx_sum(mcr_onnx *g, mcr_tensor a, int64_t axis, bool keep)
{
    mcr_tensor axes = mcr_onnx_ints(g, &axis, 1);
    mcr_onnx_set_int(g, "keepdims", keep);
    return mcr_onnx_2(g, "ReduceSum", a, axes);
}

mcr_tensor mcr_onnx_add_axis(mcr_onnx *g, mcr_tensor a, int64_t axis)
{
    return mcr_onnx_2(g, "Unsqueeze", a, mcr_onnx_ints(g, &axis, 1));
}

mcr_tensor mcr_onnx_times(mcr_onnx *g, mcr_tensor a, double by)
{
    return by == 1 ? a : mcr_onnx_2(g, "Mul", a, mcr_onnx_number(g, by));
}

mcr_tensor mcr_onnx_plus(mcr_onnx *g, mcr_tensor a, double more)
{
    return more == 0 ? a : mcr_onnx_2(g, "Add", a, mcr_onnx_number(g, more));
}

mcr_tensor mcr_onnx_largest(mcr_onnx *g, mcr_tensor a, int64_t axis)
{
    mcr_onnx_set_int(g, "axis", axis);
    mcr_onnx_set_int(g, "keepdims", 0);
    return mcr_onnx_1(g, "ArgMax", a);
}

/* ---- the graph --------------------------------------------------------------------------------*/

/* A tensor of objects x cols, or of objects, with its name. */
static void add_value(mcr_onnx *g, unsigned field, const char *name, int type, int64_t cols)
{
    mcr_text dim, shape, tensor, kind, value;
    mcr_text *all[] = {&dim, &shape, &tensor, &kind, &value};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mcr_text_init(all[i], g->ctx);
    put_text(&dim, 2, "N");
    put_message(&shape, 1, &dim);
    if (cols > 0) {
        put_int(&dim, 1, cols);
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, type);
    put_message(&tensor, 2, &shape);
    put_message(&kind, 1, &tensor);
    put_text(&value, 1, name);
    put_message(&value, 2, &kind);
    put_message(&g->value, field, &value);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mcr_text_free(all[i]);
}

void mcr_onnx_output(mcr_onnx *g, const char *name, mcr_tensor a, int type, int64_t cols)
{
    put_tensor_name(&g->body, 1, a);
    put_text(&g->body, 2, name);
    put_text(&g->body, 4, "Identity");
    put_message(&g->node, 1, &g->body);
    add_value(g, 12, name, type, cols);
}

void mcr_onnx_init(mcr_onnx *g, mcr *ctx, const mcr_portable *p, bool single)
{
    *g = (mcr_onnx){.ctx = ctx, .p = p, .single = single};
    mcr_text_init(&g->node, ctx);
    mcr_text_init(&g->constant, ctx);
    mcr_text_init(&g->value, ctx);
    mcr_text_init(&g->attributes, ctx);
    mcr_text_init(&g->body, ctx);
    add_value(g, 11, "x", mcr_onnx_real(g), p->inputs);
}

void mcr_onnx_free(mcr_onnx *g)
{
    mcr_text_free(&g->node);
    mcr_text_free(&g->constant);
    mcr_text_free(&g->value);
    mcr_text_free(&g->attributes);
    mcr_text_free(&g->body);
}

mcr_status mcr_onnx_finish(mcr_onnx *g, mcr_text *to, const char *name, const char *about)
{
    mcr_text graph, *opset = &g->body; /* opset: any small message */
    const mcr_text *part[] = {&g->node, &g->constant, &g->value};
    mcr_text_init(&graph, g->ctx);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i]->length)
            mcr_text_add(&graph, part[i]->bytes, (size_t)part[i]->length);
        if (part[i]->status)
            g->status = part[i]->status;
    }
    put_text(&graph, 2, name);
    put_int(to, 1, IR_VERSION);
    put_text(to, 2, "mercer");
    put_text(to, 3, mcr_version());
    put_text(to, 6, about);
    put_message(to, 7, &graph);
    put_text(opset, 1, "");
    put_int(opset, 2, OPSET);
    put_message(to, 8, opset);
    put_text(opset, 1, "ai.onnx.ml");
    put_int(opset, 2, ML_OPSET);
    put_message(to, 8, opset);
    put_text(opset, 1, MCR_ONNX_LEARNER);
    put_text(opset, 2, g->p->model->learner);
    put_message(to, 14, opset);
    if (graph.status || opset->status)
        g->status = MCR_NO_MEMORY;
    mcr_text_free(&graph);
    return g->status ? g->status : to->status;
}
