/* svmline.c: the parts of a line "label index:value index:value ...", and their errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/svmline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The end of the word at p. '#' starts a comment. */
static const char *word_end(const char *p)
{
    while (!mcr_is_blank(*p) && *p != '\n' && *p != '#' && !(*p == '\r' && p[1] == '\n'))
        p++;
    return p;
}

static void note(mcr_svm_fault *fault, mcr_svm_kind kind, const char *token, const char *end)
{
    fault->kind = kind;
    fault->token = token;
    fault->length = (size_t)(end - token);
}

const char *mcr_svm_label(const char *p, bool wanted, mcr_svm_fault *fault)
{
    const char *end = word_end(p);
    bool pair = memchr(p, ':', (size_t)(end - p)) != NULL;
    if (pair && !wanted)
        return p;
    if (pair)
        note(fault, MCR_SVM_NO_LABEL, p, end);
    else if (memchr(p, ',', (size_t)(end - p)) != NULL)
        note(fault, MCR_SVM_MANY_LABELS, p, end);
    return end;
}

void mcr_svm_explain(mcr_svm_fault *fault, const char *token, const char *end, int64_t before)
{
    const char *stop = word_end(token);
    const char *colon = memchr(token, ':', (size_t)(stop - token));
    int64_t index = 0;
    double value;
    fault->before = before;
    note(fault, MCR_SVM_NO_PAIR, token, stop);
    if (colon == NULL)
        return;
    if (colon - token == 3 && memcmp(token, "qid", 3) == 0) {
        fault->kind = MCR_SVM_QID;
        return;
    }
    const char *digits = token;
    while (digits < colon && *digits >= '0' && *digits <= '9')
        digits++;
    if (digits == token || digits != colon)
        return;
    if (mcr_parse_int(token, colon, &index) != colon || index > INT32_MAX) {
        note(fault, MCR_SVM_LARGE_INDEX, token, colon);
        return;
    }
    fault->index = index;
    if (index == 0)
        fault->kind = MCR_SVM_ZERO_INDEX;
    else if (index <= before)
        fault->kind = MCR_SVM_FALLING_INDEX;
    else if (colon + 1 == stop)
        fault->kind = MCR_SVM_NO_VALUE;
    else if (mcr_parse_real(colon + 1, end, &value) != stop)
        note(fault, MCR_SVM_NO_NUMBER, colon + 1, stop);
    else
        note(fault, MCR_SVM_NOT_FINITE, colon + 1, stop);
}

mcr_status mcr_svm_fail(const mcr_svm_fault *f, mcr *ctx, const char *file, int64_t line)
{
    enum { SHOWN = 40 };
    char token[SHOWN + 4];
    snprintf(token, sizeof token, "%.*s%s", f->length > SHOWN ? SHOWN : (int)f->length,
             f->token ? f->token : "", f->length > SHOWN ? "..." : "");
    switch (f->kind) {
    case MCR_SVM_BLANK:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "the line is blank; blank lines are allowed only at the end");
    case MCR_SVM_NO_LABEL:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "the label is missing: the line starts with \"%s\"", token);
    case MCR_SVM_MANY_LABELS:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "several labels (\"%s\"): an object can have only one", token);
    case MCR_SVM_LABEL_NOT_FINITE:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line, "the label \"%s\" is not finite", token);
    case MCR_SVM_QID:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "\"%s\": queries (qid) are for ranking, which is not supported", token);
    case MCR_SVM_NO_PAIR:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line, "\"%s\" is not index:value", token);
    case MCR_SVM_ZERO_INDEX:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "index 0: indices start at 1 (0:id is for the format precomputed)");
    case MCR_SVM_LARGE_INDEX:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "index %s is too large; the largest possible is %" PRId32, token,
                           INT32_MAX);
    case MCR_SVM_FALLING_INDEX:
        if (f->index == f->before)
            return mcr_fail_at(ctx, MCR_BAD_DATA, file, line, "index %" PRId64 " occurs twice",
                               f->index);
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "index %" PRId64 " follows index %" PRId64 "; indices must be ascending",
                           f->index, f->before);
    case MCR_SVM_NO_VALUE:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line, "index %" PRId64 " has no value",
                           f->index);
    case MCR_SVM_NO_NUMBER:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "the value of index %" PRId64 ", \"%s\", is not a number", f->index,
                           token);
    case MCR_SVM_NOT_FINITE:
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, line,
                           "the value of index %" PRId64 ", \"%s\", is not finite", f->index,
                           token);
    case MCR_SVM_FINE: break;
    }
    return MCR_OK;
}

mcr_status mcr_svm_target(bool *labelled, mcr *ctx, const mcr_read_options *options)
{
    *labelled = options->target == NULL;
    if (*labelled || strcmp(options->target, "none") == 0)
        return MCR_OK;
    return mcr_fail(ctx, MCR_BAD_CALL,
                    "target \"%s\": in this format the target is the first word of each line; only "
                    "\"none\" is possible",
                    options->target);
}

/* ---- looking ----------------------------------------------------------------------------------*/

static bool is_pair(const char *p, const char *end)
{
    const char *colon = memchr(p, ':', (size_t)(end - p));
    if (colon == NULL)
        return false;
    if (colon - p == 3 && memcmp(p, "qid", 3) == 0)
        return true;
    while (p < colon && *p >= '0' && *p <= '9')
        p++;
    return p == colon;
}

/* One line without its end. */
static bool look_at_line(const char *p, const char *end, int64_t number, mcr_svm_look *look)
{
    bool label = true, fits = true;
    for (int64_t word = 0;; word++) {
        while (p < end && (mcr_is_blank(*p) || *p == '\r'))
            p++;
        if (p == end || *p == '#')
            break;
        const char *from = p;
        while (p < end && !mcr_is_blank(*p) && *p != '\r')
            p++;
        if (is_pair(from, p)) {
            look->pairs++;
            int64_t id;
            if (word == 1)
                look->serial &= p - from > 2 && from[0] == '0' && from[1] == ':' &&
                                mcr_parse_int(from + 2, p, &id) == p && id == number;
        } else if (word > 0) {
            fits = false;
            look->serial &= word > 1;
        }
        label &= word == 0;
    }
    if (label) /* no pair at all: unlike a precomputed kernel */
        look->serial = false;
    return fits;
}

mcr_svm_look mcr_svm_look_at(const char *bytes, size_t count)
{
    enum { LINES = 32 };
    mcr_svm_look look = {.all_fit = true, .serial = true};
    const char *p = bytes, *end = bytes + count;
    int64_t lines = 0;
    while (p < end && lines < LINES) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline;
        if (newline == NULL) { /* truncated, perhaps within a word: all but the last word counts */
            stop = end;
            while (lines == 0 && count >= (1 << 16) && stop > p && !mcr_is_blank(stop[-1]))
                stop--;
            if (lines > 0 && count >= (1 << 16))
                break;
        }
        const char *first = p;
        while (first < stop && (mcr_is_blank(*first) || *first == '\r'))
            first++;
        if (first < stop && *first != '#') {
            bool fits = look_at_line(p, stop, lines + 1, &look);
            look.first_fits |= lines == 0 && fits;
            look.all_fit &= fits;
            lines++;
        }
        if (newline == NULL)
            break;
        p = newline + 1;
    }
    look.serial &= lines > 0;
    return look;
}
