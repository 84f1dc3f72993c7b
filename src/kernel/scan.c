/* scan.c: the lexer of kernel expressions, and its error messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/worker.h"

/* ---- faults -----------------------------------------------------------------------------------*/

/* Stores the expression, or an excerpt of a long one, with the position of the error. */
static void set_mark(const mcr_parser *p, mcr_span s)
{
    enum { DOTS = 3, WINDOW = MCR_MARK_MAX - 1 - 2 * DOTS };
    mcr *ctx = p->ctx;
    const mcr_failure *own = mcr_worker_failure();
    if (own != NULL && own->ctx == ctx)
        return; /* messages of workers have no mark */
    const char *from = p->text, *to = p->end;
    if (to - from > WINDOW) {
        if (s.start - from > WINDOW / 3)
            from = s.start - WINDOW / 3;
        while (from > p->text && ((unsigned char)*from & 0xc0) == 0x80)
            from--;
        if (to - from > WINDOW)
            to = from + WINDOW;
    }
    int64_t column = s.start - from, length = (s.end < to ? s.end : to) - s.start;
    int64_t before = from > p->text ? DOTS : 0;
    snprintf(ctx->mark_text, sizeof ctx->mark_text, "%s%.*s%s", before > 0 ? "..." : "",
             (int)(to - from), from, to < p->end ? "..." : "");
    for (char *c = ctx->mark_text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    ctx->mark_column = column + before;
    ctx->mark_length = length > 0 ? length : 1;
}

const char *mcr_message_mark(const mcr *ctx, int64_t *column, int64_t *length)
{
    if (ctx->mark_text[0] == '\0')
        return NULL;
    *column = ctx->mark_column;
    *length = ctx->mark_length;
    return ctx->mark_text;
}

MCR_PRINTF(3, 4)
mcr_status mcr_parser_fault(const mcr_parser *p, mcr_span s, const char *format, ...)
{
    char text[MCR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mcr_fail(p->ctx, MCR_BAD_CALL, "kernel: %s", length >= 0 ? text : "bad expression");
    set_mark(p, s);
    return MCR_BAD_CALL;
}

mcr_status mcr_parser_place(const mcr_parser *p, mcr_span s, mcr_status status)
{
    if (status == MCR_BAD_CALL)
        set_mark(p, s);
    return status;
}

const char *mcr_parser_suggestion(char *buffer, size_t size, mcr_span word,
                                  const char *const *names)
{
    char copy[64];
    buffer[0] = '\0';
    if (word.end - word.start < (ptrdiff_t)sizeof copy) {
        snprintf(copy, sizeof copy, "%.*s", (int)(word.end - word.start), word.start);
        const char *near = mcr_nearest(copy, names);
        if (near != NULL)
            snprintf(buffer, size, " (did you mean \"%s\"?)", near);
    }
    return buffer;
}

/* ---- letters and words ------------------------------------------------------------------------*/

mcr_span mcr_parser_name(mcr_parser *p)
{
    mcr_span s = {p->at, p->at};
    while (p->at < p->end && (is_digit(*p->at) || mcr_kernel_name_valid(p->at, 1)))
        p->at++;
    s.end = p->at;
    return s;
}

/* The character at the parser's position, complete if it is UTF-8. */
mcr_span mcr_parser_character(const mcr_parser *p)
{
    mcr_span s = {p->at, p->at};
    if (s.end < p->end)
        s.end++;
    while (s.end < p->end && ((unsigned char)*s.end & 0xc0) == 0x80)
        s.end++;
    return s;
}

/* "1:10:log5", "2:4" */
static bool is_range(mcr_span s)
{
    double first;
    if (s.start < s.end && *s.start == '[')
        s.start++;
    const char *behind = mcr_parse_real(s.start, s.end, &first);
    return behind != NULL && behind < s.end && *behind == ':';
}

mcr_status mcr_parser_range_fault(const mcr_parser *p, mcr_span s)
{
    return mcr_advise(
        p->ctx,
        mcr_parser_fault(p, s, "ranges such as 1:10:log5 are for a search of the best parameters"),
        "range");
}

/* ---- what may not stand here ------------------------------------------------------------------*/

mcr_status mcr_parser_misplaced(const mcr_parser *p, const char *open, const char *wanted)
{
    mcr_span s = mcr_parser_character(p);
    char c = peek(p);
    if (c == '\0')
        return mcr_parser_fault(p, (mcr_span){open, open + 1}, "this \"(\" is never closed");
    if (c == ')')
        return mcr_parser_fault(p, s, "this \")\" closes nothing");
    if (c == '-')
        return mcr_parser_fault(p, s, "there is no minus between kernels (write + -1*K)");
    if (c == '/')
        return mcr_parser_fault(p, s, "there is no division (write 0.5*K for K/2)");
    if (c == '^')
        return mcr_parser_fault(p, s, "one power per kernel (write (K^2)^3 or K^6)");
    if (c == '=')
        return mcr_parser_fault(
            p, s, "a parameter belongs inside a kernel's parentheses, such as rbf(gamma=0.5)");
    if (c == ',')
        return mcr_parser_fault(p, s, "a comma is allowed only between the arguments of a kernel");
    if (starts_name(p) || is_digit(c) || c == '(' || c == '.') {
        mcr_parser ahead = *p;
        if (starts_name(p))
            s = mcr_parser_name(&ahead);
        return mcr_parser_fault(p, s, "expected %s before \"%.*s\"", wanted, shown(s), s.start);
    }
    return mcr_parser_fault(p, s, "unexpected \"%.*s\"", shown(s), s.start);
}

mcr_status mcr_parser_expected(const mcr_parser *p)
{
    mcr_span s = mcr_parser_character(p);
    if (p->at == p->end)
        return mcr_parser_fault(
            p, s, "the expression ends too early: a kernel or a number should follow");
    return mcr_parser_fault(p, s, "expected a kernel or a number, not \"%.*s\"", shown(s), s.start);
}

mcr_status mcr_parser_minus(mcr_parser *p)
{
    mcr_span s = {p->at, p->at + 1};
    p->at++;
    skip_space(p);
    if (!starts_name(p))
        return mcr_parser_fault(p, s, "a minus sign belongs to a number (write -1*K)");
    mcr_span name = mcr_parser_name(p);
    s.end = name.end;
    return mcr_parser_fault(p, s, "a minus sign belongs to a number (write -1*%.*s)", shown(name),
                            name.start);
}

/* ---- values -----------------------------------------------------------------------------------*/

mcr_status mcr_parser_quoted(mcr_parser *p, mcr_span *s)
{
    const char *c = p->at + 1;
    while (c < p->end && *c != '"') {
        if (*c == '\\' && c + 1 < p->end)
            c++;
        if (is_space(*c) && *c != ' ')
            return mcr_parser_fault(p, (mcr_span){c, c + 1},
                                    "a quoted text must stay in one line, without tabs");
        c++;
    }
    if (c >= p->end)
        return mcr_parser_fault(p, (mcr_span){p->at, p->at + 1}, "this quoted text has no end");
    *s = (mcr_span){p->at, c + 1};
    p->at = s->end;
    return MCR_OK;
}

mcr_status mcr_parser_value(mcr_parser *p, mcr_span name, mcr_span *s)
{
    skip_space(p);
    if (peek(p) == '"')
        return mcr_parser_quoted(p, s);
    *s = (mcr_span){p->at, p->at};
    if (peek(p) == '[') {
        while (s->end < p->end && *s->end != ']')
            s->end++;
        if (s->end == p->end)
            return mcr_parser_fault(p, (mcr_span){p->at, p->at + 1}, "this list has no \"]\"");
        s->end++;
    } else {
        while (s->end < p->end && !is_space(*s->end) && strchr(",()", *s->end) == NULL)
            s->end++;
    }
    if (s->start == s->end)
        return mcr_parser_fault(p, name, "%.*s= needs a value", shown(name), name.start);
    if (is_range(*s))
        return mcr_parser_range_fault(p, *s);
    p->at = s->end;
    return MCR_OK;
}
