/* definite.c: positive semi-definiteness by the closure rules, node by node.
 *
 * Each type has its own rule. Some cases need the whole tree: a subtree of constants is a constant,
 * whose sign decides; anything multiplied by 0 is 0; and functions of the inner product or of the
 * distance have a power series or a Fourier transform (series.c), which decide about differences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/kernel.h"

#include <math.h>

#include "kernel/series.h"

enum { FEW = 32 };

/* Whether the node is constant for all data, and its value. */
static bool fold(const mcr_kernel *k, double *value)
{
    double part;
    bool sum = k->type == &mcr_kernel_sum, product = k->type == &mcr_kernel_product;
    if (mcr_kernel_is_constant(k, value))
        return true;
    if (sum || product) {
        bool all = true, zero = false;
        *value = product;
        for (int i = 0; i < k->children; i++) {
            bool number = fold(k->child[i], &part);
            all = all && number;
            zero = zero || (number && part == 0);
            if (number)
                *value = product ? *value * part : *value + part;
        }
        if (product && zero)
            *value = 0;
        return all || (product && zero);
    }
    if (k->children != 1 || !fold(k->child[0], &part))
        return false;
    if (k->type == &mcr_kernel_power)
        *value = pow(part, (double)mcr_kernel_degree(k));
    else if (k->type == &mcr_kernel_exp)
        *value = exp(part);
    else if (k->type == &mcr_kernel_normalize)
        *value = part > 0 ? 1 : 0;
    else
        *value = 0;
    return k->type == &mcr_kernel_power || k->type == &mcr_kernel_exp ||
           (k->type == &mcr_kernel_normalize && part >= 0) ||
           (k->type == &mcr_kernel_conformal && part == 0);
}

/* A positive constant times one other factor keeps the verdict of that factor. */
static bool is_scaled(const mcr_kernel *k, const mcr_definite *child, mcr_definite *result)
{
    double scale = 1, part;
    int others = 0;
    mcr_definite other = MCR_DEFINITE_UNKNOWN;
    if (k->type != &mcr_kernel_product)
        return false;
    for (int i = 0; i < k->children; i++) {
        if (fold(k->child[i], &part)) {
            scale *= part;
        } else {
            other = child[i];
            others++;
        }
    }
    if (others != 1 || !(scale > 0))
        return false;
    *result = other;
    return true;
}

static const char *verdict(mcr_definite d)
{
    switch (d) {
    case MCR_PSD: return "PSD";
    case MCR_NSD: return "NSD (not a kernel)";
    case MCR_INDEFINITE: return "not PSD";
    case MCR_DEFINITE_UNKNOWN: break;
    }
    return "unknown";
}

static mcr_definite of_type(const mcr_kernel *k, const mcr_definite *child, const char **rule)
{
    if (k->type->definite != NULL)
        return k->type->definite(k->params, child, k->children, rule);
    if (k->type->kinds != 0 && !k->type->indefinite) {
        *rule = "a kernel by definition";
        return MCR_PSD;
    }
    *rule = "no rule is known";
    return MCR_DEFINITE_UNKNOWN;
}

mcr_definite mcr_kernel_definite(const mcr_kernel *k, mcr_text *rules)
{
    mcr_definite few[FEW] = {MCR_DEFINITE_UNKNOWN}, *child = few;
    if (k->children > FEW) {
        child = mcr_alloc(k->ctx, (size_t)k->children, sizeof *child);
        if (child == NULL) {
            if (rules != NULL)
                rules->status = MCR_NO_MEMORY;
            return MCR_DEFINITE_UNKNOWN;
        }
    }
    for (int i = 0; i < k->children; i++)
        child[i] = mcr_kernel_definite(k->child[i], rules);
    const char *rule = "no rule is known";
    mcr_definite result = of_type(k, child, &rule);
    double value;
    if (result == MCR_DEFINITE_UNKNOWN && is_scaled(k, child, &result))
        rule = "a number above 0 changes nothing";
    const char *decided = NULL;
    mcr_definite series = result == MCR_DEFINITE_UNKNOWN ? mcr_series_decide(k, &decided) : result;
    if (series != result) {
        result = series;
        rule = decided;
    }
    if (k->children > 0 && fold(k, &value) && !isnan(value)) {
        result = value >= 0 ? MCR_PSD : MCR_NSD;
        rule = value == 0  ? "zero whatever the data"
               : value > 0 ? "a number above 0 whatever the data"
                           : "a number below 0 whatever the data";
    }
    if (child != few)
        mcr_free(k->ctx, child);
    if (rules != NULL) {
        mcr_text_string(rules, k->text);
        mcr_text_string(rules, ": ");
        mcr_text_string(rules, rule);
        mcr_text_string(rules, ", ");
        mcr_text_string(rules, verdict(result));
        mcr_text_string(rules, "\n");
    }
    return result;
}
