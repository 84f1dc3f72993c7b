/* portable_kernel.c: the kernel of a model, rebuilt on the parts of the inner vector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "export/portable.h"
#include "kernel/built_in.h"
#include "kernel/parts.h"

/* ---- parts ------------------------------------------------------------------------------------*/

static int64_t port_of(const mcr_portable *p, const mcr_field *field)
{
    int64_t i = 0;
    while (i < p->ports && p->port[i].field.store != field->store)
        i++;
    return i;
}

/* The plain part of a port, or a new one. */
static mcr_status add_part(int64_t *out, mcr_portable *p, const mcr_part *like)
{
    for (*out = 0; *out < p->parts && like->map == MCR_PART_PLAIN; ++*out)
        if (p->part[*out].map == MCR_PART_PLAIN && p->part[*out].port == like->port)
            return MCR_OK;
    *out = p->parts;
    mcr_status s = mcr_reserve(p->ctx, &p->part, &p->part_capacity, p->parts + 1, sizeof *p->part);
    if (s)
        return s;
    p->part[p->parts] = *like;
    p->part[p->parts++].first = p->width;
    p->width += like->count;
    return MCR_OK;
}

static mcr_status add_projection(int64_t *out, mcr_portable *p, const mcr_kernel *k, int64_t port)
{
    int64_t n, rank, cols = p->port[port].cols;
    double *l = NULL;
    mcr_status s = mcr_mahalanobis_factor(&l, &n, &rank, k);
    mcr_part part = {.port = port, .map = MCR_PART_PROJECT, .count = rank > 0 ? rank : 1};
    if (!s)
        part.matrix = mcr_alloc_zero(p->ctx, (uint64_t)(cols * part.count), sizeof *part.matrix);
    if (!s && !part.matrix)
        s = MCR_NO_MEMORY;
    for (int64_t k0 = 0; k0 < cols * rank && !s; k0++)
        part.matrix[k0] = l[k0 / rank * n + k0 % rank];
    mcr_free(p->ctx, l);
    if (!s)
        s = add_part(out, p, &part);
    if (s)
        mcr_free(p->ctx, part.matrix);
    return s;
}

static mcr_status add_circle(int64_t *out, mcr_portable *p, const mcr_kernel *k, int64_t port)
{
    const mcr_reals *period = mcr_kernel_list(k, "period");
    int64_t cols = p->port[port].cols;
    mcr_part part = {.port = port, .map = MCR_PART_CIRCLE, .count = 2 * cols};
    part.period = mcr_alloc(p->ctx, (size_t)cols, sizeof *part.period);
    mcr_status s = part.period ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < cols && !s; c++)
        part.period[c] = period->values[period->count > 1 ? c : 0];
    if (!s)
        s = add_part(out, p, &part);
    if (s)
        mcr_free(p->ctx, part.period);
    return s;
}

/* ---- the kernel on the parts ------------------------------------------------------------------*/

/* periodic is rbf on the circles: exp(-|a - b|^2 / (2 length^2)). */
static mcr_status make_circle_kernel(mcr_kernel **out, mcr_portable *p, const mcr_kernel *k,
                                     const char *field)
{
    const mcr_reals *length = mcr_kernel_list(k, "length");
    mcr_text t;
    mcr_text_init(&t, p->ctx);
    mcr_text_format(&t, "rbf(%s, gamma=%s", field, length->count > 1 ? "[" : "");
    for (int64_t i = 0; i < length->count * (length->count > 1 ? 2 : 1); i++) {
        double l = length->values[length->count > 1 ? i / 2 : 0];
        mcr_text_string(&t, i ? ", " : "");
        mcr_text_real(&t, 0.5 / l / l);
    }
    mcr_text_string(&t, length->count > 1 ? "])" : ")");
    mcr_status s = t.status ? t.status : mcr_kernel_parse(out, p->ctx, t.bytes);
    mcr_text_free(&t);
    return s;
}

/* A copy of the node with other children, another field, and for conformal another f. */
static mcr_status copy_node(mcr_kernel **out, mcr_portable *p, const mcr_kernel *k,
                            const char *field, mcr_kernel **child)
{
    void *params = NULL;
    char *name = field ? mcr_copy_text(p->ctx, field, strlen(field)) : NULL;
    mcr_status s = field && !name ? MCR_NO_MEMORY : MCR_OK;
    if (!s && k->type->params && !(params = mcr_alloc_zero(p->ctx, 1, k->type->params_size)))
        s = MCR_NO_MEMORY;
    if (!s && params)
        s = mcr_params_copy(p->ctx, k->type->params, params, k->params);
    if (s) {
        mcr_free_all(p->ctx, name, params);
        for (int c = 0; c < k->children; c++)
            mcr_kernel_free(child[c]);
        return s;
    }
    return mcr_kernel_new(out, p->ctx, k->type, params, name, child, k->children);
}

static mcr_status rebuild_conformal(mcr_kernel **out, mcr_portable *p, const mcr_kernel *k,
                                    int64_t part, mcr_kernel *child)
{
    const char *f = mcr_kernel_word(k, "f"), *colon = strrchr(f, ':');
    mcr_text t;
    mcr_kernel *all = NULL;
    mcr_text_init(&t, p->ctx);
    mcr_text_format(&t, "conformal(1, f=\"p%lld:%s\")", (long long)part, colon ? colon + 1 : f);
    mcr_status s = t.status ? t.status : mcr_kernel_parse(&all, p->ctx, t.bytes);
    mcr_text_free(&t);
    if (s)
        mcr_kernel_free(child);
    else
        s = copy_node(out, p, all, NULL, &child);
    mcr_kernel_free(all);
    return s;
}

static mcr_status rebuild_leaf(mcr_kernel **out, mcr_portable *p, const mcr_kernel *k)
{
    mcr_field field;
    char name[MCR_PORTABLE_NAME];
    int64_t part = 0, n, rank;
    double *l = NULL;
    mcr_status s = mcr_portable_field(&field, p, k);
    int64_t port = s ? 0 : port_of(p, &field);
    if (!s && p->port[port].text) {
        snprintf(name, sizeof name, "s%lld", (long long)p->port[port].string);
        return copy_node(out, p, k, name, NULL);
    }
    bool projects = false;
    if (!s && k->type == &mcr_kernel_mahalanobis) {
        s = mcr_mahalanobis_factor(&l, &n, &rank, k);
        projects = l != NULL;
        mcr_free(p->ctx, l);
    }
    if (!s)
        s = projects ? add_projection(&part, p, k, port)
            : k->type == &mcr_kernel_periodic
                ? add_circle(&part, p, k, port)
                : add_part(&part, p, &(mcr_part){.port = port, .count = p->port[port].cols});
    snprintf(name, sizeof name, "p%lld", (long long)part);
    if (s)
        return s;
    if (k->type == &mcr_kernel_periodic)
        return make_circle_kernel(out, p, k, name);
    if (projects) {
        char text[MCR_PORTABLE_NAME + 16];
        snprintf(text, sizeof text, "linear(%s)", name);
        return mcr_kernel_parse(out, p->ctx, text);
    }
    return copy_node(out, p, k, name, NULL);
}

mcr_status mcr_portable_rebuild(mcr_kernel **out, mcr_portable *p, const mcr_kernel *k)
{
    *out = NULL;
    if (k->type->kinds != 0)
        return rebuild_leaf(out, p, k);
    mcr_kernel **child = mcr_alloc_zero(p->ctx, (size_t)k->children + 1, sizeof *child);
    mcr_status s = child ? MCR_OK : MCR_NO_MEMORY;
    for (int c = 0; c < k->children && !s; c++)
        s = mcr_portable_rebuild(&child[c], p, k->child[c]);
    if (s) {
        for (int c = 0; child && c < k->children; c++)
            mcr_kernel_free(child[c]);
    } else if (k->type == &mcr_kernel_conformal) {
        mcr_field field;
        int64_t part = 0;
        s = mcr_portable_field(&field, p, k);
        mcr_part like = {.port = s ? 0 : port_of(p, &field)};
        like.count = p->port[like.port].cols;
        if (!s)
            s = add_part(&part, p, &like);
        if (s)
            mcr_kernel_free(child[0]);
        else
            s = rebuild_conformal(out, p, k, part, child[0]);
    } else {
        s = copy_node(out, p, k, NULL, child);
    }
    mcr_free(p->ctx, child);
    return s;
}
