/* print.c: the canonical text of a node, from the texts of its children.
 *
 * Terms stay in the user's order; parentheses are printed only where the grammar needs them; a
 * leaf's field comes first, then the parameters that differ from their defaults, in the order of
 * the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

#include "base/params.h"

/* Precedence of a node's text. */
enum { AS_SUM, AS_PRODUCT, AS_POWER, AS_WORD };

static int strength(const mcr_kernel *k)
{
    double value;
    if (k->type == &mcr_kernel_sum)
        return AS_SUM;
    if (k->type == &mcr_kernel_product)
        return AS_PRODUCT;
    if (k->type == &mcr_kernel_power)
        return AS_POWER;
    /* -1^2 is -(1^2). */
    if (mcr_kernel_is_constant(k, &value) && signbit(value))
        return AS_POWER;
    return AS_WORD;
}

static void print_child(const mcr_kernel *child, int least, mcr_text *to)
{
    bool wrap = strength(child) < least;
    if (wrap)
        mcr_text_string(to, "(");
    mcr_text_string(to, child->text);
    if (wrap)
        mcr_text_string(to, ")");
}

static void print_chain(const mcr_kernel *k, const char *joint, int least, mcr_text *to)
{
    for (int i = 0; i < k->children; i++) {
        if (i > 0)
            mcr_text_string(to, joint);
        print_child(k->child[i], least, to);
    }
}

void mcr_kernel_print_field(const char *field, mcr_text *to)
{
    if (mcr_kernel_name_valid(field, strlen(field))) {
        mcr_text_string(to, field);
        return;
    }
    mcr_text_string(to, "\"");
    for (const char *c = field; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            mcr_text_string(to, "\\");
        mcr_text_add(to, c, 1);
    }
    mcr_text_string(to, "\"");
}

static void print_call(const mcr_kernel *k, mcr_text *to)
{
    const char *joint = "(";
    mcr_text_string(to, k->type->name);
    if (k->field != NULL) {
        mcr_text_string(to, joint);
        if (k->columns)
            mcr_text_string(to, k->field);
        else
            mcr_kernel_print_field(k->field, to);
        joint = ", ";
    }
    for (int i = 0; i < k->children; i++) {
        mcr_text_string(to, joint);
        mcr_text_string(to, k->child[i]->text);
        joint = ", ";
    }
    for (const mcr_param *p = k->type->params; p != NULL && p->name != NULL; p++) {
        if (!mcr_params_given(p, k->params) || mcr_params_is_standard(p, k->params))
            continue;
        mcr_text_string(to, joint);
        mcr_text_string(to, p->name);
        mcr_text_string(to, "=");
        mcr_params_print(p, k->params, to);
        joint = ", ";
    }
    if (joint[0] == ',')
        mcr_text_string(to, ")");
}

void mcr_kernel_print(const mcr_kernel *k, mcr_text *to)
{
    double value;
    if (k->type == &mcr_kernel_sum) {
        print_chain(k, " + ", AS_PRODUCT, to);
    } else if (k->type == &mcr_kernel_product) {
        print_chain(k, "*", AS_POWER, to);
    } else if (k->type == &mcr_kernel_power) {
        print_child(k->child[0], AS_WORD, to);
        mcr_text_string(to, "^");
        mcr_text_int(to, mcr_kernel_degree(k));
    } else if (mcr_kernel_is_constant(k, &value)) {
        mcr_text_real(to, value);
    } else {
        print_call(k, to);
    }
}
