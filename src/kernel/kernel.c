/* kernel.c: the nodes of kernel expressions, and the registry of their types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/params.h"
#include "base/sized.h"
#include "kernel/parts.h"

static const mcr_kernel_type *const built_in[] = {
#define KERNEL(name) &mcr_kernel_##name,
#include "kernel/kernels.def"
#undef KERNEL
};

enum { BUILT_IN = sizeof built_in / sizeof built_in[0], PARAMS_MAX = 64 };

/* ---- the registry -----------------------------------------------------------------------------*/

const mcr_kernel_type *mcr_kernel_type_at(const mcr *ctx, int64_t number)
{
    if (number < 0)
        return NULL;
    if (number < BUILT_IN)
        return built_in[number];
    return number - BUILT_IN < ctx->extra_kernel_count ? ctx->extra_kernels[number - BUILT_IN]
                                                       : NULL;
}

const mcr_kernel_type *mcr_kernel_type_find(const mcr *ctx, const char *name, size_t length)
{
    const mcr_kernel_type *type;
    for (int64_t i = 0; (type = mcr_kernel_type_at(ctx, i)) != NULL; i++)
        if (strlen(type->name) == length && memcmp(type->name, name, length) == 0)
            return type;
    return NULL;
}

int64_t mcr_kernel_count(const mcr *ctx)
{
    return BUILT_IN + ctx->extra_kernel_count;
}

mcr_status mcr_kernel_describe(const mcr *ctx, int64_t number, mcr_kernel_info *out)
{
    static const mcr_param none[] = {{.name = NULL}};
    const mcr_kernel_type *type = mcr_kernel_type_at(ctx, number);
    if (type == NULL)
        return MCR_BAD_CALL;
    const mcr_kernel_info info = {
        .name = type->name,
        .summary = type->summary,
        .params = type->params != NULL ? type->params : none,
        .kinds = type->kinds,
        .has_features = type->features != NULL,
        .indefinite = type->indefinite,
    };
    return MCR_SIZED_WRITE(mcr_kernel_info, out, NULL, &info);
}

bool mcr_kernel_name_valid(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return length > 0;
}

static int64_t count_params(const mcr_param *params)
{
    int64_t count = 0;
    while (params != NULL && params[count].name != NULL)
        count++;
    return count;
}

/* The error in a type that a program wants to register; NULL: none. */
static const char *type_fault(const mcr_kernel_type *type)
{
    if (type->name == NULL || !mcr_kernel_name_valid(type->name, strlen(type->name)))
        return "its name must be letters, digits and _, and not begin with a digit";
    if (type->kinds < 0 || type->kinds >= 2 * MCR_PRECOMPUTED)
        return "its kinds are not bits of mcr_kind";
    if (type->min_children < 0 || type->max_children < type->min_children)
        return "it must take min_children to max_children kernels";
    if (type->kinds != 0 && type->max_children > 0)
        return "it must have either kinds or children";
    if (type->block == NULL && (type->pair == NULL || type->kinds == 0))
        return "it has no block (a leaf: nor pair)";
    if (count_params(type->params) > PARAMS_MAX)
        return "it has more than 64 parameters";
    for (int64_t i = 0; i < count_params(type->params); i++)
        if (type->params[i].offset >= type->params_size)
            return "a parameter lies outside params_size";
    return NULL;
}

mcr_status mcr_kernel_register(mcr *ctx, const mcr_kernel_type *type)
{
    mcr_kernel_type full;
    mcr_status s = MCR_SIZED_READ(mcr_kernel_type, &full, ctx, type);
    if (s)
        return s;
    const char *fault = type_fault(&full);
    if (fault != NULL)
        return mcr_fail(ctx, MCR_BAD_CALL, "kernel type \"%s\" cannot be registered: %s",
                        full.name == NULL ? "?" : full.name, fault);
    if (mcr_kernel_type_find(ctx, full.name, strlen(full.name)) != NULL)
        return mcr_fail(ctx, MCR_BAD_CALL, "there is a kernel called \"%s\" already", full.name);
    size_t count = (size_t)ctx->extra_kernel_count;
    if (mcr_resize_at(ctx, &ctx->extra_kernels, count + 1, sizeof *ctx->extra_kernels))
        return MCR_NO_MEMORY;
    mcr_kernel_type *kept = mcr_alloc(ctx, 1, sizeof *kept);
    if (kept == NULL)
        return MCR_NO_MEMORY;
    *kept = full;
    ctx->extra_kernels[count] = kept;
    ctx->extra_kernel_count++;
    return MCR_OK;
}

mcr_status mcr_function_register(mcr *ctx, const char *name, mcr_object_function *function,
                                 void *user)
{
    size_t length = strlen(name);
    if (!mcr_kernel_name_valid(name, length) || length >= MCR_FUNCTION_NAME)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "a function's name must be at most 63 letters, digits and _, not \"%s\"",
                        name);
    if (strcmp(name, "norm") == 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "there is a function called \"norm\" already");
    size_t count = (size_t)ctx->extra_function_count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(ctx->extra_functions[i].name, name) == 0)
            return mcr_fail(ctx, MCR_BAD_CALL, "there is a function called \"%s\" already", name);
    if (mcr_resize_at(ctx, &ctx->extra_functions, count + 1, sizeof *ctx->extra_functions))
        return MCR_NO_MEMORY;
    ctx->extra_functions[count] = (mcr_function){.call = function, .user = user};
    memcpy(ctx->extra_functions[count].name, name, length + 1);
    ctx->extra_function_count++;
    return MCR_OK;
}

mcr_status mcr_message_set(mcr *ctx, mcr_status status, const char *line)
{
    return mcr_fail(ctx, status, "%s", line);
}

/* ---- nodes ------------------------------------------------------------------------------------*/

/* The number of children after splicing in nodes of the same type. */
static int64_t count_spliced(const mcr_kernel_type *type, mcr_kernel **child, int children)
{
    bool splice = type == &mcr_kernel_sum || type == &mcr_kernel_product;
    int64_t count = 0;
    for (int i = 0; i < children; i++)
        count += splice && child[i]->type == type ? child[i]->children : 1;
    return count;
}

/* Moves the references of child to the node. */
static mcr_status take_children(mcr_kernel *node, mcr_kernel **child, int children)
{
    int64_t count = count_spliced(node->type, child, children);
    bool splice = count != children;
    if (count > MCR_KERNEL_NODES_MAX)
        return mcr_fail(node->ctx, MCR_BAD_CALL, "kernel: the expression has more than %d parts",
                        MCR_KERNEL_NODES_MAX);
    node->child = mcr_alloc(node->ctx, (size_t)count, sizeof *node->child);
    if (node->child == NULL)
        return MCR_NO_MEMORY;
    for (int i = 0; i < children; i++) {
        if (splice && child[i]->type == node->type) {
            for (int j = 0; j < child[i]->children; j++)
                node->child[node->children++] = mcr_kernel_retain(child[i]->child[j]);
            mcr_kernel_free(child[i]);
        } else {
            node->child[node->children++] = child[i];
        }
        child[i] = NULL;
    }
    return MCR_OK;
}

static mcr_status measure(mcr_kernel *node)
{
    node->depth = 0;
    node->nodes = 1;
    for (int i = 0; i < node->children; i++) {
        const mcr_kernel *child = node->child[i];
        node->nodes += child->nodes;
        node->bytes += child->bytes;
        if (child->depth > node->depth)
            node->depth = child->depth;
    }
    node->depth++;
    if (node->depth > MCR_KERNEL_DEPTH_MAX)
        return mcr_fail(node->ctx, MCR_BAD_CALL, "kernel: the expression is more than %d deep",
                        MCR_KERNEL_DEPTH_MAX);
    if (node->nodes > MCR_KERNEL_NODES_MAX)
        return mcr_fail(node->ctx, MCR_BAD_CALL, "kernel: the expression has more than %d parts",
                        MCR_KERNEL_NODES_MAX);
    return MCR_OK;
}

static mcr_status write_text(mcr_kernel *node)
{
    mcr_text text;
    mcr_text_init(&text, node->ctx);
    mcr_kernel_print(node, &text);
    mcr_status status = text.status;
    node->bytes += text.length;
    if (status == MCR_OK && text.length > MCR_KERNEL_TEXT_MAX)
        status = mcr_fail(node->ctx, MCR_BAD_CALL, "kernel: the expression is longer than %d bytes",
                          MCR_KERNEL_TEXT_MAX);
    if (status == MCR_OK && node->bytes > MCR_KERNEL_TEXTS_MAX)
        status = mcr_fail(node->ctx, MCR_BAD_CALL,
                          "kernel: the expression is too long and too deep for its texts to be "
                          "kept");
    if (status == MCR_OK)
        node->text = mcr_copy_text(node->ctx, text.bytes, (size_t)text.length);
    mcr_text_free(&text);
    return status != MCR_OK ? status : node->text != NULL ? MCR_OK : MCR_NO_MEMORY;
}

/* Whether the node has no effect on its only child: K^1, or a sum of one kernel. */
static bool is_idle(const mcr_kernel *node)
{
    if (node->children != 1)
        return false;
    if (node->type == &mcr_kernel_power)
        return mcr_kernel_degree(node) == 1;
    return node->type == &mcr_kernel_sum || node->type == &mcr_kernel_product;
}

static void free_parts(mcr *ctx, const mcr_kernel_type *type, void *params, char *field)
{
    if (params != NULL)
        mcr_params_free(ctx, type->params, params);
    mcr_free_all(ctx, params, field);
}

static mcr_status new_node(mcr_kernel **out, mcr *ctx, const mcr_kernel_type *type, void *params,
                           char *field, bool columns, mcr_kernel **child, int children)
{
    assert((params != NULL) == (type->params != NULL));
    *out = NULL;
    mcr_kernel *node = mcr_alloc_zero(ctx, 1, sizeof *node);
    mcr_status status = node != NULL ? MCR_OK : MCR_NO_MEMORY;
    if (node == NULL) {
        free_parts(ctx, type, params, field);
        goto done;
    }
    *node = (mcr_kernel){.ctx = ctx, .owners = 1, .type = type, .params = params, .field = field};
    node->columns = columns;
    status = take_children(node, child, children);
    if (status == MCR_OK && type->check != NULL)
        status = type->check(ctx, params);
    if (status == MCR_OK)
        status = measure(node);
    if (status == MCR_OK && is_idle(node))
        *out = mcr_kernel_retain(node->child[0]);
    else if (status == MCR_OK)
        status = write_text(node);
    if (status == MCR_OK && *out == NULL) {
        *out = node;
        node = NULL;
    }
done:
    mcr_kernel_free(node);
    for (int i = 0; i < children; i++) {
        mcr_kernel_free(child[i]);
        child[i] = NULL;
    }
    return status;
}

mcr_status mcr_kernel_new(mcr_kernel **out, mcr *ctx, const mcr_kernel_type *type, void *params,
                          char *field, mcr_kernel **child, int children)
{
    return new_node(out, ctx, type, params, field, false, child, children);
}

mcr_status mcr_kernel_new_columns(mcr_kernel **out, mcr *ctx, const mcr_kernel_type *type,
                                  void *params, char *list)
{
    return new_node(out, ctx, type, params, list, true, NULL, 0);
}

/* ---- parameters of a node ---------------------------------------------------------------------*/

/* NULL: no such parameter of that type. */
static const void *value_of(const mcr_kernel *k, const char *name, mcr_param_type type)
{
    const mcr_param *p = k->type->params;
    p = p != NULL ? mcr_params_find(p, name, strlen(name)) : NULL;
    return p != NULL && p->type == type ? (const char *)k->params + p->offset : NULL;
}

double mcr_kernel_number(const mcr_kernel *k, const char *name)
{
    const double *real = value_of(k, name, MCR_REAL);
    const int64_t *whole = value_of(k, name, MCR_INT);
    const mcr_reals *list = value_of(k, name, MCR_REALS);
    return real != NULL                       ? *real
           : whole != NULL                    ? (double)*whole
           : list != NULL && list->count == 1 ? list->values[0]
                                              : NAN;
}

const mcr_reals *mcr_kernel_list(const mcr_kernel *k, const char *name)
{
    return value_of(k, name, MCR_REALS);
}

int mcr_kernel_choice(const mcr_kernel *k, const char *name)
{
    const int *choice = value_of(k, name, MCR_CHOICE);
    return choice != NULL ? *choice : -1;
}

const char *mcr_kernel_word(const mcr_kernel *k, const char *name)
{
    char *const *text = value_of(k, name, MCR_TEXT);
    return text != NULL ? *text : NULL;
}

mcr_kernel *mcr_kernel_retain(const mcr_kernel *kernel)
{
    mcr_kernel *shared = (mcr_kernel *)(uintptr_t)kernel; /* only the reference count changes */
    __atomic_add_fetch(&shared->owners, 1, __ATOMIC_RELAXED);
    return shared;
}

void mcr_kernel_free(mcr_kernel *kernel)
{
    if (kernel == NULL || __atomic_sub_fetch(&kernel->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int i = 0; i < kernel->children; i++)
        mcr_kernel_free(kernel->child[i]);
    mcr_free(kernel->ctx, kernel->child);
    free_parts(kernel->ctx, kernel->type, kernel->params, kernel->field);
    mcr_free_all(kernel->ctx, kernel->text, kernel);
}

const char *mcr_kernel_text(const mcr_kernel *kernel)
{
    return kernel->text;
}
