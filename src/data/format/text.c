/* text.c: one string per line, `label<TAB>string`.
 *
 * The label ends at the first tab; the string is the rest of the line, tabs included, byte by byte
 * (also NUL and bytes that are not UTF-8), and may be empty. With the target "none" there are no
 * labels and the whole line is the string. A byte order mark before the first line is dropped. The
 * field is called "text".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/number.h"
#include "data/builder.h"
#include "data/format/collect.h"
#include "data/write.h"

static mcr_status read_line(mcr_strings *strings, mcr_labels *labels, mcr_input *in,
                            const char *line, size_t length)
{
    if (!labels)
        return mcr_strings_add(strings, line, length);
    const char *tab = memchr(line, '\t', length);
    if (!tab && mcr_input_line_number(in) == 1)
        return mcr_input_fail(in, "no tab: a line is label<TAB>string; for strings without labels "
                                  "set the target to \"none\"");
    if (!tab)
        return mcr_input_fail(in, "no tab: a line is label<TAB>string");
    size_t label = (size_t)(tab - line);
    mcr_status status = mcr_label_take(labels, in, line, label);
    if (status == MCR_OK)
        status = mcr_strings_add(strings, tab + 1, length - label - 1);
    return status;
}

static mcr_status text_read(mcr_builder *builder, mcr *ctx, mcr_input *in,
                            const mcr_read_options *options)
{
    mcr_strings strings = {0};
    mcr_labels *labels = NULL;
    mcr_status status = mcr_strings_open(&strings, ctx, "text");
    if (status == MCR_OK && !mcr_target_is_none(options))
        status = mcr_labels_open(&labels, ctx);
    while (status == MCR_OK) {
        const char *line;
        size_t length;
        status = mcr_input_line(in, &line, &length);
        if (status != MCR_OK || !line)
            break;
        if (mcr_input_line_number(in) == 1)
            mcr_line_skip_mark(&line, &length);
        if (!builder->data->skips.not_utf8 && !mcr_utf8_valid(line, length))
            builder->data->skips.not_utf8 = mcr_input_line_number(in);
        status = read_line(&strings, labels, in, line, length);
    }
    if (status == MCR_OK && mcr_strings_count(&strings) == 0)
        status = mcr_input_fail(in, "the file is empty");
    if (status == MCR_OK)
        status = mcr_strings_finish(&strings, builder);
    if (status == MCR_OK) {
        status = mcr_labels_hand_over(builder, labels, in, options);
        labels = NULL;
    }
    mcr_labels_close(labels);
    mcr_strings_close(&strings);
    return status;
}

/* ---- recognition ---------------------------------------------------------------------------- */

static bool is_number(const char *p, const char *end)
{
    double value;
    return p < end && mcr_parse_real(p, end, &value) == end;
}

/* A first line such as "label<TAB>sequence" names columns: left to the tsv reader. */
static bool is_header(const char *line, size_t label)
{
    static const char *const words[] = {"target", "label", "class", "y", "id", "name", "text"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == label && strncasecmp(line, words[i], label) == 0)
            return true;
    return false;
}

/* "3:0.5", as in LIBSVM files with a tab after the label. */
static bool is_entry(const char *p, const char *end)
{
    int64_t index;
    p = mcr_parse_int(p, end, &index);
    return p && p < end && *p == ':';
}

/* Whether a line is a short word, one tab, and something that is not a number. A string may be
 * empty. */
static bool is_labelled(const char *line, const char *end)
{
    const char *tab = memchr(line, '\t', (size_t)(end - line));
    if (!tab || tab == line || tab - line > 64 || memchr(line, ' ', (size_t)(tab - line)))
        return false;
    tab++;
    return tab == end ||
           (!memchr(tab, '\t', (size_t)(end - tab)) && !is_number(tab, end) && !is_entry(tab, end));
}

/* Certain only if all lines look alike; the last one may be truncated by the end of the sample. */
static int text_sniff(bool named, const char *bytes, size_t count)
{
    bool any = false, blank = false;
    const char *end = bytes + count;
    int64_t lines = 0;
    mcr_line_skip_mark(&bytes, &count);
    for (const char *line = bytes; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop && lines > 0)
            break;
        const char *next = stop ? stop + 1 : end;
        if (!stop)
            stop = end;
        if (stop > line && stop[-1] == '\r')
            stop--;
        if (!is_labelled(line, stop))
            return 0;
        any = any || stop[-1] != '\t';
        blank = blank || stop[-1] == '\t';
        if (lines == 0 && is_header(line, strcspn(line, "\t")))
            return 0;
        lines++;
        line = next;
    }
    if (!any) /* no strings at all */
        return 0;
    /* A table also has missing values: then a table's extension decides. */
    return blank ? 75 : named ? 92 : 70;
}

const mcr_format mcr_format_text = {
    .name = "text",
    .summary = "strings, one per line: label<TAB>string",
    .extensions = (const char *const[]){"text", NULL},
    .also = (const char *const[]){"txt", "tsv", NULL},
    .writer = &mcr_writer_text,
    .sniff = text_sniff,
    .read = text_read,
};
