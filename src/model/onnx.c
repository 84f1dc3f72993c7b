/* onnx.c: reading support vector machines from ONNX files (onnx.proto, any version).
 *
 * A graph may scale its input (Scaler; Sub, Add, Mul, Div by constants), and then has one
 * SVMClassifier or SVMRegressor. Later operators may only rename and regroup the results. Anything
 * else changes predictions in a way that a model cannot express, and is refused by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/foreign.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/stream.h"
#include "model/protobuf.h"

enum { TENSOR_FLOAT = 1, TENSOR_DOUBLE = 11, NAMED = 2 };
enum { MOST_STEPS = 64 }; /* before the operator: each is searched among all nodes */

/* A node of the graph; the attributes are looked up in its bytes. */
typedef struct node {
    mcr_span body, op, domain;
    mcr_span input[NAMED], output; /* the first of them */
    int inputs;
    bool before; /* it scales the input */
} node;

typedef struct constant {
    mcr_span name, tensor;
} constant;

typedef struct graph {
    mcr *ctx;
    const char *file;
    bool bad; /* the bytes are not a valid message */
    mcr_span learner;
    node *node;
    constant *constant;
    mcr_span *input;
    int64_t nodes, constants, inputs, node_capacity, constant_capacity, input_capacity;
} graph;

typedef struct numbers {
    double *value;
    int64_t count, capacity;
} numbers;

static mcr_status refuse(const graph *g, const char *why)
{
    return mcr_fail_at(g->ctx, MCR_BAD_DATA, g->file, 0, "%s", why);
}

static mcr_status damaged(const graph *g)
{
    return refuse(g, "this ONNX file is damaged; restore it or export it again");
}

bool mcr_onnx_recognise(const void *bytes, size_t count)
{
    /* The version of the format, then the producer, the graph or what the file imports. */
    const unsigned char *b = bytes;
    return count > 3 && b[0] == 8 && b[1] > 0 && b[1] < 64 &&
           (b[2] == 0x12 || b[2] == 0x1a || b[2] == 0x22 || b[2] == 0x28 || b[2] == 0x32 ||
            b[2] == 0x3a || b[2] == 0x42);
}

/* ---- the file ---------------------------------------------------------------------------------*/

static mcr_status add_node(graph *g, mcr_span body)
{
    mcr_status s = mcr_reserve(g->ctx, &g->node, &g->node_capacity, g->nodes + 1, sizeof *g->node);
    if (s)
        return s;
    node *n = &g->node[g->nodes++];
    mcr_proto_field f;
    bool has_output = false;
    *n = (node){.body = body};
    while (mcr_proto_next(&body, &f, &g->bad)) {
        if (f.wire != MCR_WIRE_BYTES)
            continue;
        if (f.number == 1 && n->inputs++ < NAMED)
            n->input[n->inputs - 1] = f.bytes;
        if (f.number == 2 && !has_output) {
            n->output = f.bytes;
            has_output = true;
        }
        if (f.number == 4)
            n->op = f.bytes;
        if (f.number == 7)
            n->domain = f.bytes;
    }
    return MCR_OK;
}

static mcr_status add_constant(graph *g, mcr_span tensor, mcr_span name)
{
    mcr_status s = mcr_reserve(g->ctx, &g->constant, &g->constant_capacity, g->constants + 1,
                               sizeof *g->constant);
    if (!s)
        g->constant[g->constants++] = (constant){name, tensor};
    return s;
}

static mcr_span text_field(graph *g, mcr_span message, uint64_t number)
{
    mcr_span found = {NULL, 0};
    mcr_proto_field f;
    while (mcr_proto_next(&message, &f, &g->bad))
        if (f.number == number && f.wire == MCR_WIRE_BYTES)
            found = f.bytes;
    return found;
}

static mcr_status read_graph(graph *g, mcr_span body)
{
    mcr_proto_field f;
    mcr_status s = MCR_OK;
    while (!s && mcr_proto_next(&body, &f, &g->bad)) {
        if (f.wire != MCR_WIRE_BYTES)
            continue;
        if (f.number == 1)
            s = add_node(g, f.bytes);
        if (f.number == 5)
            s = add_constant(g, f.bytes, text_field(g, f.bytes, 8));
        if (f.number == 11) {
            s = mcr_reserve(g->ctx, &g->input, &g->input_capacity, g->inputs + 1, sizeof *g->input);
            if (!s)
                g->input[g->inputs++] = text_field(g, f.bytes, 1);
        }
    }
    return s;
}

static mcr_status read_file(graph *g, mcr_span body)
{
    mcr_proto_field f;
    mcr_status s = MCR_OK;
    while (!s && mcr_proto_next(&body, &f, &g->bad)) {
        if (f.wire != MCR_WIRE_BYTES)
            continue;
        if (f.number == 7)
            s = read_graph(g, f.bytes);
        if (f.number == 14 && mcr_span_is(text_field(g, f.bytes, 1), MCR_ONNX_LEARNER))
            g->learner = text_field(g, f.bytes, 2);
    }
    return s ? s : g->bad ? damaged(g) : MCR_OK;
}

/* ---- attributes -------------------------------------------------------------------------------*/

/* The bytes of an attribute; empty: no attribute with this name. */
static mcr_span attribute(graph *g, const node *n, const char *name)
{
    mcr_span body = n->body;
    mcr_proto_field f;
    while (mcr_proto_next(&body, &f, &g->bad))
        if (f.number == 5 && f.wire == MCR_WIRE_BYTES &&
            mcr_span_is(text_field(g, f.bytes, 1), name))
            return f.bytes;
    return (mcr_span){NULL, 0};
}

static mcr_status add_number(graph *g, numbers *to, double value)
{
    mcr_status s = mcr_reserve(g->ctx, &to->value, &to->capacity, to->count + 1, sizeof value);
    if (!s)
        to->value[to->count++] = value;
    return s;
}

/* Floats or doubles of `bytes` each, contiguous. */
static mcr_status add_packed(graph *g, numbers *to, mcr_span from, size_t bytes)
{
    mcr_status s = MCR_OK;
    g->bad = g->bad || from.count % bytes != 0;
    for (size_t i = 0; i + bytes <= from.count && !s; i += bytes) {
        uint64_t bits = mcr_span_bits(from.at + i, bytes);
        s = add_number(g, to, bytes == 4 ? (double)mcr_float_of(bits) : mcr_double_of(bits));
    }
    return s;
}

static mcr_status check_finite(graph *g, const numbers *list)
{
    for (int64_t i = 0; i < list->count; i++)
        if (!isfinite(list->value[i]))
            return refuse(g, "a number of the ONNX file is not finite");
    return g->bad ? damaged(g) : MCR_OK;
}

static mcr_status get_floats(graph *g, const node *n, const char *name, numbers *to)
{
    mcr_span body = attribute(g, n, name);
    mcr_proto_field f;
    mcr_status s = MCR_OK;
    while (!s && mcr_proto_next(&body, &f, &g->bad))
        if (f.number == 7 && (f.wire == MCR_WIRE_32 || f.wire == MCR_WIRE_BYTES))
            s = add_packed(g, to, f.bytes, 4);
    return s ? s : check_finite(g, to);
}

/* Integers as doubles; those beyond 2^53 would change, and are refused. */
static mcr_status get_ints(graph *g, const node *n, const char *name, numbers *to)
{
    mcr_span body = attribute(g, n, name);
    mcr_proto_field f;
    mcr_status s = MCR_OK;
    while (!s && mcr_proto_next(&body, &f, &g->bad)) {
        if (f.number != 8 || (f.wire != MCR_WIRE_NUMBER && f.wire != MCR_WIRE_BYTES))
            continue;
        uint64_t value = f.value;
        bool more = f.wire == MCR_WIRE_NUMBER || mcr_proto_number(&f.bytes, &value, &g->bad);
        while (more && !s) {
            double number = (double)(int64_t)value;
            g->bad = g->bad || fabs(number) > 9007199254740992.0;
            s = add_number(g, to, number);
            more = f.wire == MCR_WIRE_BYTES && mcr_proto_number(&f.bytes, &value, &g->bad);
        }
    }
    return s ? s : check_finite(g, to);
}

static int64_t get_int(graph *g, const node *n, const char *name, int64_t missing)
{
    mcr_span body = attribute(g, n, name);
    mcr_proto_field f;
    while (mcr_proto_next(&body, &f, &g->bad))
        if (f.number == 3 && f.wire == MCR_WIRE_NUMBER)
            missing = (int64_t)f.value;
    return missing;
}

/* ---- constants --------------------------------------------------------------------------------*/

static mcr_status read_tensor(graph *g, mcr_span body, numbers *to)
{
    mcr_proto_field f;
    mcr_status s = MCR_OK;
    uint64_t type = 0, outside = 0;
    mcr_span raw = {NULL, 0};
    for (mcr_span rest = body; mcr_proto_next(&rest, &f, &g->bad);) {
        type = f.number == 2 ? f.value : type;
        outside = f.number == 14 ? f.value : outside;
        raw = f.number == 9 && f.wire == MCR_WIRE_BYTES ? f.bytes : raw;
    }
    if (outside || (type != TENSOR_FLOAT && type != TENSOR_DOUBLE))
        return mcr_fail_at(g->ctx, MCR_BAD_DATA, g->file, 0,
                           "the ONNX file scales by numbers that are %s",
                           outside ? "in another file" : "neither float nor double");
    if (raw.count)
        s = add_packed(g, to, raw, type == TENSOR_FLOAT ? 4 : 8);
    while (!s && mcr_proto_next(&body, &f, &g->bad))
        if (f.number == (type == TENSOR_FLOAT ? 4u : 10u) && f.wire != MCR_WIRE_NUMBER)
            s = add_packed(g, to, f.bytes, type == TENSOR_FLOAT ? 4 : 8);
    return s ? s : check_finite(g, to);
}

/* The numbers of a constant by name; *found: there is one. */
static mcr_status find_constant(graph *g, mcr_span name, numbers *to, bool *found)
{
    *found = true;
    for (int64_t c = 0; c < g->constants; c++)
        if (mcr_span_equal(g->constant[c].name, name))
            return read_tensor(g, g->constant[c].tensor, to);
    for (int64_t i = 0; i < g->nodes; i++)
        if (mcr_span_is(g->node[i].op, "Constant") && mcr_span_equal(g->node[i].output, name))
            return read_tensor(g, text_field(g, attribute(g, &g->node[i], "value"), 5), to);
    *found = false;
    return MCR_OK;
}

/* ---- scaling ----------------------------------------------------------------------------------*/

/* The input of the operator: factor * x + term, per column. */
typedef struct affine {
    int64_t cols;
    double *factor, *term;
    bool any;
} affine;

static mcr_status refuse_node(const graph *g, const node *n, const char *where)
{
    return mcr_fail_at(
        g->ctx, MCR_BAD_DATA, g->file, 0,
        "the operator %.*s %s the support vector machine is more than Mercer reads: it "
        "reads scaling by constants before it, and names after it",
        n->op.count < 60 ? (int)n->op.count : 60, n->op.count ? (const char *)n->op.at : "", where);
}

/* Column c of a list with one number for all columns or one for each. */
static double at_column(const numbers *list, int64_t c)
{
    return list->value[list->count == 1 ? 0 : c];
}

static bool fits_columns(const numbers *list, int64_t cols)
{
    return list->count == 1 || list->count == cols;
}

/* Prepends the step u -> (u - offset) * scale. */
static mcr_status add_scaler(graph *g, const node *n, affine *a)
{
    numbers offset = {NULL, 0, 0}, scale = {NULL, 0, 0};
    mcr_status s = get_floats(g, n, "offset", &offset);
    if (!s)
        s = get_floats(g, n, "scale", &scale);
    if (!s && (!fits_columns(&offset, a->cols) || !fits_columns(&scale, a->cols)))
        s = damaged(g);
    for (int64_t c = 0; c < a->cols && !s; c++) {
        a->factor[c] *= at_column(&scale, c);
        a->term[c] -= a->factor[c] * at_column(&offset, c);
    }
    mcr_free_all(g->ctx, offset.value, scale.value);
    return s;
}

/* Prepends the step u -> u op constant; *next: the name of u. */
static mcr_status add_step(graph *g, const node *n, affine *a, mcr_span *next)
{
    numbers by = {NULL, 0, 0};
    bool second = false, first = false, plus = mcr_span_is(n->op, "Add");
    bool minus = mcr_span_is(n->op, "Sub"), times = mcr_span_is(n->op, "Mul");
    mcr_status s = n->inputs == 2 ? find_constant(g, n->input[1], &by, &second) : MCR_OK;
    if (!s && !second && n->inputs == 2 && (plus || times))
        s = find_constant(g, n->input[0], &by, &first);
    if (!s && !first && !second)
        s = refuse_node(g, n, "before");
    if (!s && !fits_columns(&by, a->cols))
        s = damaged(g);
    *next = n->input[first ? 1 : 0];
    for (int64_t c = 0; c < a->cols && !s; c++) {
        double value = at_column(&by, c);
        if (plus || minus)
            a->term[c] += a->factor[c] * (plus ? value : -value);
        else
            a->factor[c] = times ? a->factor[c] * value : a->factor[c] / value;
    }
    mcr_free(g->ctx, by.value);
    return s;
}

static node *find_source(graph *g, mcr_span name)
{
    for (int64_t i = 0; i < g->nodes; i++)
        if (mcr_span_equal(g->node[i].output, name))
            return &g->node[i];
    return NULL;
}

/* Follows the input of the operator back to that of the graph. */
static mcr_status follow_input(graph *g, mcr_span name, affine *a)
{
    mcr_status s = MCR_OK;
    for (int steps = 0; steps < MOST_STEPS && !s; steps++) {
        node *n = find_source(g, name);
        if (!n) {
            for (int64_t i = 0; i < g->inputs; i++)
                if (mcr_span_equal(g->input[i], name))
                    return MCR_OK;
            break;
        }
        n->before = true;
        int64_t to = mcr_span_is(n->op, "Cast") ? get_int(g, n, "to", 0) : 0;
        name = n->input[0];
        if (mcr_span_is(n->op, "Identity") || to == TENSOR_FLOAT || to == TENSOR_DOUBLE)
            continue;
        a->any = true;
        if (mcr_span_is(n->op, "Scaler"))
            s = add_scaler(g, n, a);
        else if (mcr_span_is(n->op, "Add") || mcr_span_is(n->op, "Sub") ||
                 mcr_span_is(n->op, "Mul") || mcr_span_is(n->op, "Div"))
            s = add_step(g, n, a, &name);
        else
            s = refuse_node(g, n, "before");
    }
    return s ? s : damaged(g);
}

/* (x - shift) * factor, equivalent to factor * x + term. */
static mcr_status make_scaling(graph *g, mcr_foreign *h, const affine *a)
{
    mcr *ctx = g->ctx;
    mcr_status s = mcr_scaling_open(&h->scaling, ctx, 1);
    if (s)
        return s;
    mcr_scaled_field *f = &h->scaling->field[0];
    h->scaling->fields = 1;
    *f = (mcr_scaled_field){.name = mcr_copy_text(ctx, "x", 1),
                            .dense = true,
                            .cols = a->cols,
                            .shift = mcr_alloc(ctx, (size_t)a->cols, sizeof *f->shift),
                            .factor = mcr_alloc(ctx, (size_t)a->cols, sizeof *f->factor)};
    if (!f->name || !f->shift || !f->factor)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < a->cols; c++) {
        f->factor[c] = a->factor[c];
        f->shift[c] = a->term[c] == 0 ? 0 : -a->term[c] / a->factor[c];
        if (!isfinite(f->factor[c]) || !isfinite(f->shift[c]))
            return mcr_fail_at(ctx, MCR_BAD_DATA, g->file, 0,
                               "the scaling of column %lld of the ONNX file is not finite",
                               (long long)c + 1);
    }
    return MCR_OK;
}

static mcr_status read_scaling(graph *g, const node *n, mcr_foreign *h, int64_t cols)
{
    affine a = {cols, mcr_alloc(g->ctx, (size_t)cols, sizeof(double)),
                mcr_alloc_zero(g->ctx, (size_t)cols, sizeof(double)), false};
    mcr_status s = a.factor && a.term ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < cols && !s; c++)
        a.factor[c] = 1;
    if (!s)
        s = follow_input(g, n->input[0], &a);
    if (!s && a.any)
        s = make_scaling(g, h, &a);
    mcr_free_all(g->ctx, a.factor, a.term);
    return s;
}

/* ---- the operator -----------------------------------------------------------------------------*/

static bool is_svm(const node *n)
{
    return mcr_span_is(n->domain, "ai.onnx.ml") &&
           (mcr_span_is(n->op, "SVMClassifier") || mcr_span_is(n->op, "SVMRegressor"));
}

static mcr_status find_svm(graph *g, const node **out)
{
    *out = NULL;
    for (int64_t i = 0; i < g->nodes; i++) {
        if (!is_svm(&g->node[i]))
            continue;
        if (*out)
            return refuse(g, "the ONNX file has several support vector machines; Mercer reads one");
        *out = &g->node[i];
    }
    return *out ? MCR_OK
                : refuse(g, "of ONNX files Mercer reads support vector machines: the operators "
                            "SVMClassifier and SVMRegressor of ai.onnx.ml; this one has neither");
}

/* Later operators must not change decisions; Mercer's own files name the learner. */
static mcr_status check_after(graph *g)
{
    static const char *const plain[] = {"Constant",   "Identity", "Cast",    "ZipMap",
                                        "Normalizer", "Reshape",  "Flatten", "Squeeze"};
    for (int64_t i = 0; i < g->nodes && g->learner.count == 0; i++) {
        const node *n = &g->node[i];
        bool known = n->before || is_svm(n);
        for (size_t p = 0; p < sizeof plain / sizeof *plain; p++)
            known = known || mcr_span_is(n->op, plain[p]);
        if (!known)
            return refuse_node(g, n, "after");
    }
    return MCR_OK;
}

static mcr_status read_type(graph *g, const node *n, mcr_foreign *h)
{
    bool classify = mcr_span_is(n->op, "SVMClassifier");
    h->type = classify                        ? 0
              : get_int(g, n, "one_class", 0) ? MCR_FOREIGN_ONE_CLASS
                                              : MCR_FOREIGN_SVR;
    for (int t = 0; t < MCR_FOREIGN_LEARNERS && g->learner.count; t++)
        if (mcr_span_is(g->learner, mcr_foreign_learner[t]) &&
            (t < MCR_FOREIGN_ONE_CLASS) == classify) {
            h->type = t;
            return MCR_OK;
        }
    return g->learner.count ? damaged(g) : MCR_OK;
}

static mcr_status read_kernel(graph *g, const node *n, mcr_foreign *h)
{
    static const char *const name[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    numbers params = {NULL, 0, 0};
    mcr_span kind = text_field(g, attribute(g, n, "kernel_type"), 4);
    mcr_span post = text_field(g, attribute(g, n, "post_transform"), 4);
    for (int k = 0; k < 4; k++)
        if (mcr_span_is(kind, name[k]) || (kind.count == 0 && k == 0))
            h->kernel = k;
    if (h->kernel < 0)
        return refuse(g, "a kernel_type that is not known; ONNX has LINEAR, POLY, RBF and SIGMOID");
    if (post.count && !mcr_span_is(post, "NONE"))
        return refuse(g, "the post_transform of the support vector machine must be NONE");
    mcr_status s = get_floats(g, n, "kernel_params", &params);
    if (!s && h->kernel != MCR_FOREIGN_LINEAR && params.count != 3)
        s = damaged(g);
    if (!s && params.count == 3) {
        h->gamma = params.value[0];
        h->coef0 = params.value[1];
        h->degree = params.value[2];
    }
    if (!s && h->kernel == MCR_FOREIGN_POLY &&
        !(h->degree >= 1 && h->degree <= 1000000 && h->degree == floor(h->degree)))
        s = refuse(g, "the degree of a polynomial must be a whole number from 1");
    mcr_free(g->ctx, params.value);
    return s;
}

static mcr_status add_name(graph *g, mcr_foreign *h, int64_t *capacity, mcr_span text)
{
    mcr_status s = mcr_reserve(g->ctx, &h->name, capacity, h->names + 1, sizeof *h->name);
    if (s)
        return s;
    if (text.count == 0 || memchr(text.at, '\0', text.count))
        return damaged(g);
    if (!(h->name[h->names] = mcr_copy_text(g->ctx, (const char *)text.at, text.count)))
        return MCR_NO_MEMORY;
    h->names++;
    return MCR_OK;
}

/* Names of the classes: texts, or whole numbers. */
static mcr_status read_names(graph *g, const node *n, mcr_foreign *h)
{
    mcr_span body = attribute(g, n, "classlabels_strings");
    numbers whole = {NULL, 0, 0};
    mcr_proto_field f;
    int64_t capacity = 0;
    mcr_status s = MCR_OK;
    while (!s && mcr_proto_next(&body, &f, &g->bad))
        if (f.number == 9 && f.wire == MCR_WIRE_BYTES)
            s = add_name(g, h, &capacity, f.bytes);
    if (!s && h->names == 0)
        s = get_ints(g, n, "classlabels_ints", &whole);
    h->label = whole.value;
    h->labels = h->names ? h->names : whole.count;
    return s ? s : g->bad ? damaged(g) : MCR_OK;
}

/* The numbers of classes, labels, vectors and rho must be consistent, and names unique. */
static mcr_status check_classes(graph *g, const mcr_foreign *h)
{
    int64_t k = h->labels;
    double sum = 0;
    if (k < 2 || k > 1000000 || h->rhos != k * (k - 1) / 2 || h->of_classes != k)
        return refuse(g,
                      "the ONNX file's numbers of classes, rho and vectors_per_class do not fit");
    for (int64_t c = 0; c < k; c++) {
        if (h->of_class[c] < 0)
            return damaged(g);
        sum += h->of_class[c];
        for (int64_t t = 0; t < c; t++)
            if (h->name ? strcmp(h->name[c], h->name[t]) == 0 : h->label[c] == h->label[t])
                return refuse(g, "a class occurs twice in the ONNX file");
    }
    return sum == (double)h->support ? MCR_OK : damaged(g);
}

static mcr_status read_classes(graph *g, const node *n, mcr_foreign *h)
{
    numbers of_class = {NULL, 0, 0}, proba = {NULL, 0, 0};
    mcr_status s = read_names(g, n, h);
    if (!s)
        s = get_ints(g, n, "vectors_per_class", &of_class);
    h->of_class = of_class.value;
    h->of_classes = of_class.count;
    h->classes = h->labels;
    double sum = 0;
    for (int64_t c = 0; c < of_class.count && !s; c++)
        sum += of_class.value[c];
    h->support = sum > 0 && sum < 1e15 ? (int64_t)sum : 0;
    if (!s)
        s = check_classes(g, h);
    if (!s)
        s = get_floats(g, n, "prob_a", &proba);
    if (proba.count)
        h->remark = "the ONNX file's probability coefficients are ignored";
    mcr_free(g->ctx, proba.value);
    return s;
}

static mcr_status read_offsets(graph *g, const node *n, mcr_foreign *h)
{
    numbers rho = {NULL, 0, 0};
    mcr_status s = get_floats(g, n, "rho", &rho);
    for (int64_t i = 0; i < rho.count; i++) /* ONNX adds it */
        rho.value[i] = 0 - rho.value[i];
    h->rho = rho.value;
    h->rhos = rho.count;
    return s;
}

/* Coefficients are stored output by output. */
static mcr_status read_vectors(graph *g, const node *n, const mcr_foreign *h,
                               mcr_foreign_vectors *v)
{
    numbers coef = {NULL, 0, 0}, vector = {NULL, 0, 0};
    int64_t rows = h->support;
    v->coefs = h->type < MCR_FOREIGN_ONE_CLASS ? h->classes - 1 : 1;
    mcr_status s = get_floats(g, n, "coefficients", &coef);
    if (!s)
        s = get_floats(g, n, "support_vectors", &vector);
    v->dense = vector.value;
    if (!s && rows < 1)
        s = refuse(g, "the ONNX file's support vector machine has no support vectors");
    if (!s && (rows > coef.count || coef.count / v->coefs != rows || coef.count % v->coefs ||
               vector.count == 0 || vector.count % rows))
        s = damaged(g);
    if (!s) {
        v->rows = rows;
        v->cols = vector.count / rows;
        v->coef = mcr_alloc(g->ctx, (size_t)coef.count, sizeof *v->coef);
        s = v->coef ? MCR_OK : MCR_NO_MEMORY;
    }
    for (int64_t i = 0; i < rows && !s; i++)
        for (int64_t t = 0; t < v->coefs; t++)
            v->coef[i * v->coefs + t] = coef.value[t * rows + i];
    mcr_free(g->ctx, coef.value);
    return s;
}

static mcr_status read_operator(graph *g, const node *n, mcr_foreign *h, mcr_foreign_vectors *v)
{
    mcr_status s = read_type(g, n, h);
    if (!s)
        s = read_kernel(g, n, h);
    if (!s)
        s = read_offsets(g, n, h);
    if (!s && h->type < MCR_FOREIGN_ONE_CLASS) {
        s = read_classes(g, n, h);
    } else if (!s) {
        h->classes = 2; /* LIBSVM's convention if there are none */
        h->support = get_int(g, n, "n_supports", 0);
        s = h->rhos == 1 ? MCR_OK : damaged(g);
    }
    if (!s)
        s = read_vectors(g, n, h, v);
    if (!s)
        s = read_scaling(g, n, h, v->cols);
    return s ? s : check_after(g);
}

static mcr_status make_model(mcr_model **out, graph *g, const mcr_foreign *h,
                             const mcr_foreign_vectors *v)
{
    mcr_kernel *kernel = NULL;
    mcr_status s = mcr_foreign_kernel(&kernel, g->ctx, h);
    if (s == MCR_BAD_CALL)
        s = refuse(g, "the kernel's parameters are not possible here (a polynomial needs gamma > 0 "
                      "and coef0 >= 0)");
    if (!s)
        s = mcr_foreign_model(out, g->ctx, kernel, h, v);
    mcr_kernel_free(kernel);
    return s;
}

mcr_status mcr_onnx_read(mcr_model **out, mcr *ctx, const char *name, const void *bytes,
                         size_t count)
{
    graph g = {.ctx = ctx, .file = name};
    mcr_foreign h = {.type = -1, .kernel = -1};
    mcr_foreign_vectors v = {0};
    const node *svm = NULL;
    *out = NULL;
    mcr_status s = read_file(&g, (mcr_span){bytes, count});
    if (!s)
        s = find_svm(&g, &svm);
    if (!s)
        s = read_operator(&g, svm, &h, &v);
    if (!s && g.bad)
        s = damaged(&g);
    if (!s)
        s = make_model(out, &g, &h, &v);
    mcr_foreign_free(ctx, &h, &v);
    mcr_free_all(ctx, g.node, g.constant, g.input);
    return s;
}
