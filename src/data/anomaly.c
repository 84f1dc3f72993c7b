/* anomaly.c: the class of interest: the anomalies of detection, the positive class of evaluation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/number.h"
#include "base/stream.h"
#include "data/data.h"

/* The class with this name or, for numbers, this value. */
static int64_t find_class(const mcr_data *data, const char *name)
{
    const char *end = name + strlen(name);
    double value, other;
    bool number = mcr_parse_real(name, end, &value) == end;
    for (int64_t c = 0; c < mcr_data_classes(data); c++) {
        const char *word = mcr_data_class_name(data, c), *stop = word + strlen(word);
        if (strcmp(word, name) == 0 ||
            (number && mcr_parse_real(word, stop, &other) == stop && other == value))
            return c;
    }
    return -1;
}

static mcr_status no_class(const mcr_data *data, const char *name)
{
    mcr_text text;
    mcr_text_init(&text, data->ctx);
    for (int64_t c = 0; c < mcr_data_classes(data) && c < 5; c++)
        mcr_text_format(&text, "%s%.60s", c ? ", " : "", mcr_data_class_name(data, c));
    mcr_status s = text.status ? text.status
                               : mcr_fail(data->ctx, MCR_BAD_CALL,
                                          "the data have no class \"%.60s\": there are %s%s", name,
                                          text.length ? text.bytes : "none",
                                          mcr_data_classes(data) > 5 ? ", ..." : "");
    mcr_text_free(&text);
    return s;
}

mcr_status mcr_data_mark(mcr_data **out, const mcr_data *data, const char *anomaly)
{
    *out = NULL;
    mcr_data *view = NULL;
    int64_t class = find_class(data, anomaly);
    if (class < 0)
        return no_class(data, anomaly);
    mcr_status s = mcr_data_select(&view, data, (mcr_rows){NULL, 0, data->count});
    if (s)
        return s;
    for (int64_t i = 0; i < view->count; i++)
        view->target[i] = view->class_of[i] == class ? -1 : 1;
    mcr_classes_free(view->ctx, view->classes);
    view->classes = NULL;
    view->positive = 0;
    view->target_kind = MCR_REAL_TARGETS;
    s = mcr_classes_of_reals(&view->classes, view->ctx, view->target, view->count, view->class_of);
    return mcr_data_give(out, view, s);
}

mcr_status mcr_data_choose_positive(mcr_data **out, const mcr_data *data, const char *name)
{
    *out = NULL;
    int64_t class = find_class(data, name);
    if (class < 0)
        return no_class(data, name);
    mcr_status s = mcr_data_select(out, data, (mcr_rows){NULL, 0, data->count});
    if (!s)
        (*out)->positive = class + 1;
    return s;
}

/* With names, the rarer class is usually the one of interest. */
int64_t mcr_data_positive(const mcr_data *data)
{
    int64_t count[2] = {0, 0};
    if (data->positive)
        return data->positive - 1;
    if (mcr_data_classes(data) != 2)
        return -1;
    if (data->target_kind != MCR_WORD_TARGETS)
        return 1;
    for (int64_t i = 0; i < data->count; i++)
        count[data->class_of[i]]++;
    if (count[0] != count[1])
        return count[1] < count[0];
    return strcmp(mcr_data_class_name(data, 1), mcr_data_class_name(data, 0)) > 0;
}
