/* parser.h (internal): the state of the expression parser, and its lexer (scan.c), used by parse.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_PARSER_H
#define MCR_KERNEL_PARSER_H

#include "kernel/kernel.h"

typedef struct mcr_parser {
    mcr *ctx;
    const char *text, *end;
    const char *at;
    int nest;     /* open parentheses */
    bool foreign; /* the text comes from a file: it must not name other files */
} mcr_parser;

typedef struct mcr_span { /* a part of the text */
    const char *start, *end;
} mcr_span;

/* Sets the message "kernel: ..." and marks the position. */
mcr_status mcr_parser_fault(const mcr_parser *p, mcr_span s, const char *format, ...)
    MCR_PRINTF(3, 4);
/* Adds the position to a message that was set without it, if status is MCR_BAD_CALL. */
mcr_status mcr_parser_place(const mcr_parser *p, mcr_span s, mcr_status status);
/* " (did you mean "x"?)" or "", in buffer. */
const char *mcr_parser_suggestion(char *buffer, size_t size, mcr_span word,
                                  const char *const *names);
/* Fails because something other than an operator follows a complete kernel or argument. open: the
 * "(" that is not closed yet, or NULL; wanted: what is expected here. */
mcr_status mcr_parser_misplaced(const mcr_parser *p, const char *open, const char *wanted);
mcr_status mcr_parser_expected(const mcr_parser *p); /* a kernel was expected */
mcr_status mcr_parser_minus(mcr_parser *p);          /* a minus without a number */
mcr_status mcr_parser_range_fault(const mcr_parser *p, mcr_span s);

mcr_span mcr_parser_name(mcr_parser *p);            /* reads a name */
mcr_span mcr_parser_character(const mcr_parser *p); /* at p; a complete one if UTF-8 */
/* Reads a quoted text with its quotes, which may contain \" and \\; reads the value after
 * "name=". */
mcr_status mcr_parser_quoted(mcr_parser *p, mcr_span *s);
mcr_status mcr_parser_value(mcr_parser *p, mcr_span name, mcr_span *s);

static inline int shown(mcr_span s) /* for %.*s */
{
    enum { SHOWN_MAX = 60 };
    return s.end - s.start < SHOWN_MAX ? (int)(s.end - s.start) : SHOWN_MAX;
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline void skip_space(mcr_parser *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
}

static inline char peek(const mcr_parser *p) /* '\0' at the end */
{
    return p->at < p->end ? *p->at : '\0';
}

static inline bool starts_name(const mcr_parser *p)
{
    return p->at < p->end && mcr_kernel_name_valid(p->at, 1);
}

#endif
