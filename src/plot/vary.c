/* vary.c: one parameter of a model changed: for paths and animations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/number.h"
#include "base/params.h"
#include "base/stream.h"
#include "plot/plotting.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A kernel expression with the number of a parameter replaced; NULL: no such parameter. */
static const char *replace(mcr_plotting *p, const char *kernel, const char *name, double value)
{
    size_t length = strlen(name);
    const char *end = kernel + strlen(kernel);
    for (const char *at = kernel; (at = strstr(at, name)); at++) {
        double old;
        const char *number = at + length + 1;
        if (at[length] != '=' || (at > kernel && is_letter(at[-1])))
            continue;
        const char *after = mcr_parse_real(number, end, &old);
        if (!after)
            continue;
        char text[MCR_REAL_TEXT];
        mcr_print_real(text, value);
        mcr_text whole;
        mcr_text_init(&whole, p->ctx);
        mcr_text_add(&whole, kernel, (size_t)(number - kernel));
        mcr_text_string(&whole, text);
        mcr_text_string(&whole, after);
        const char *copy = whole.status ? NULL : mcr_blocks_text(&p->scratch, whole.bytes);
        mcr_text_free(&whole);
        return copy;
    }
    return NULL;
}

mcr_status mcr_plot_range(mcr_plotting *p, const char *text, const char **name, mcr_reals *values)
{
    const char *equal = strchr(text, '=');
    char *copy = mcr_blocks_text(&p->scratch, text);
    *values = (mcr_reals){0};
    if (!copy)
        return MCR_NO_MEMORY;
    if (!equal || equal == text)
        return mcr_fail(p->ctx, MCR_BAD_CALL,
                        "\"%.60s\" is not a range of a parameter: write gamma=0.01:100:log30",
                        text);
    copy[equal - text] = '\0';
    *name = copy;
    mcr_reals read = {0};
    mcr_status s = mcr_range_parse(&read, p->ctx, "range", copy, equal + 1);
    if (s)
        return s;
    values->count = read.count;
    values->values = mcr_blocks_reals(&p->scratch, read.count);
    if (values->values)
        memcpy(values->values, read.values, (size_t)read.count * sizeof *read.values);
    mcr_free(p->ctx, read.values);
    return values->values ? MCR_OK : MCR_NO_MEMORY;
}

static bool has_option(const mcr_options *options, const char *name)
{
    return mcr_params_find(options->type->params, name, strlen(name)) != NULL;
}

/* Prevents a learner from optimising the kernel's parameters. */
static mcr_status keep_still(mcr_options *options, const char *name)
{
    const char *search = options->type->kernel_search;
    return name && search ? mcr_options_set(options, search, "no") : MCR_OK;
}

mcr_status mcr_plot_vary(mcr_plotting *p, const char *name, double value, mcr_options **options,
                         mcr_kernel **kernel)
{
    char text[MCR_REAL_TEXT];
    const mcr_plot *how = p->how;
    *kernel = NULL;
    *options = NULL;
    mcr_status s = p->model       ? mcr_options_of(options, p->ctx, p->model)
                   : how->options ? mcr_options_copy(options, how->options)
                                  : mcr_plot_needs(p, "a model, or a learner");
    const mcr_kernel *given = p->model ? p->model->kernel : how->kernel;
    const char *expression = given ? mcr_kernel_text(given) : NULL;
    mcr_print_real(text, value);
    if (!s && name && has_option(*options, name)) {
        s = mcr_options_set(*options, name, text);
    } else if (!s && name) {
        expression = expression ? replace(p, expression, name, value) : NULL;
        if (!expression)
            s = mcr_fail(p->ctx, MCR_BAD_CALL,
                         "\"%.40s\" is neither an option of %s nor a number in the kernel %.200s",
                         name, (*options)->type->name,
                         given ? mcr_kernel_text(given) : "(default)");
    }
    if (!s)
        s = keep_still(*options, name);
    if (!s && expression)
        s = mcr_kernel_parse(kernel, p->ctx, expression);
    if (s) {
        mcr_options_close(*options);
        *options = NULL;
    }
    return s;
}
