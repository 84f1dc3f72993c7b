/* faults.c: how the program reports errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "progress.h"
#include "text.h"

/* The position of an error in a kernel expression; text NULL: none. */
typedef struct mark {
    const char *text;
    int64_t column, length;
} mark;

static int is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Prints the expression, or an excerpt of a long one, with the error underlined. */
static void show_mark(const mark *m)
{
    enum { BEFORE = 48, SHOWN = 96 };
    int64_t all = (int64_t)strlen(m->text);
    int64_t column = m->column > all ? all : m->column < 0 ? 0 : m->column;
    int64_t from = all > SHOWN && column > BEFORE ? column - BEFORE : 0;
    while (from > 0 && is_inside_character(m->text[from]))
        from--;
    fprintf(stderr, "    %s", from ? "..." : "");
    cli_put_clean(stderr, m->text + from, SHOWN);
    fprintf(stderr, "%s\n    %s", all - from > SHOWN ? "..." : "", from ? "   " : "");
    for (int64_t i = from; i < column; i++)
        if (!is_inside_character(m->text[i]))
            putc(' ', stderr);
    putc('^', stderr);
    for (int64_t i = column + 1; i < column + m->length && i < all && i < from + SHOWN; i++)
        if (!is_inside_character(m->text[i]))
            putc('~', stderr);
    putc('\n', stderr);
}

/* The library's messages begin with "FILE:LINE: " if there is a file; the JSON object has these as
 * separate keys. */
static const char *without_place(const char *message, const char *file, int64_t line)
{
    char place[600];
    if (!file)
        return message;
    int length = line > 0 ? snprintf(place, sizeof place, "%s:%" PRId64 ": ", file, line)
                          : snprintf(place, sizeof place, "%s: ", file);
    if (length < (int)sizeof place && strncmp(message, place, (size_t)length) == 0)
        return message + length;
    return message;
}

static void put_json(const char *message, const char *file, int64_t line, const mark *m)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_object(&j, "error");
    cli_json_text(&j, "message", message);
    cli_json_text(&j, "file", file);
    if (line > 0)
        cli_json_integer(&j, "line", line);
    else
        cli_json_null(&j, "line");
    if (m && m->text) {
        cli_json_text(&j, "expression", m->text);
        cli_json_integer(&j, "column", m->column);
        cli_json_integer(&j, "length", m->length);
    }
    cli_json_end(&j);
    cli_json_end(&j);
}

/* message without the position; prefix is printed before it on standard error. */
static void say(cli *c, const char *prefix, const char *message, const char *file, int64_t line,
                const mark *m)
{
    cli_progress_clear(c);
    if (c->json_asked)
        __fpurge(stdout); /* discards an unfinished object: the error object replaces it */
    fflush(stdout);
    fprintf(stderr, "%smercer:%s ", cli_style_code(stderr, CLI_BAD),
            cli_style_code(stderr, CLI_PLAIN));
    cli_put_clean(stderr, prefix, CLI_MESSAGE);
    cli_put_clean(stderr, message, CLI_MESSAGE);
    putc('\n', stderr);
    if (m && m->text)
        show_mark(m);
    if (c->json_asked)
        put_json(message, file, line, m);
}

int cli_refuse(cli *c, const char *format, ...)
{
    char message[CLI_MESSAGE], prefix[64] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (c->verb)
        snprintf(prefix, sizeof prefix, "%s: ", c->verb->name);
    say(c, prefix, message, NULL, 0, NULL);
    return 2;
}

int cli_fault(cli *c, const char *file, const char *format, ...)
{
    char message[CLI_MESSAGE], prefix[CLI_MESSAGE] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (file)
        snprintf(prefix, sizeof prefix, "%s: ", file);
    say(c, prefix, message, file, 0, NULL);
    return 1;
}

/* The library names concepts; these are the program's terms for them, by the id of the message. */
static void put_advice(char *to, size_t most, const char *id)
{
    static const char *const words[][2] = {
        {"memory", "--memory SIZE"},
        {"data-limit", "--max-data SIZE"},
        {"work-limit", "--max-work SECONDS"},
        {"format", "--format NAME"},
        {"array", "--only NAME, --target NAME"},
        {"target", "--target COLUMN, or none"},
        {"join", "--join FILE"},
        {"cache-dir", "--cache-dir DIR"},
        {"key", "--id COLUMN"},
        {"precomputed", "--format precomputed reads a file as one"},
        {"kernel", "-k EXPRESSION"},
        {"kernel2", "--kernel2 EXPRESSION"},
        {"kernels", "mercer kernels NAME"},
        {"learners", "mercer learners lists them"},
        {"definite", "mercer check"},
        {"range", "mercer tune"},
        {"resume", "--resume"},
        {"no-resume", "without --resume"},
        {"output", "-o FILE"},
    };
    static const char option[] = "option ";
    to[0] = '\0';
    for (size_t i = 0; id && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], id) == 0)
            snprintf(to, most, " (%s)", words[i][1]);
    if (id && strncmp(id, option, sizeof option - 1) == 0) {
        const char *name = id + sizeof option - 1, *value = strchr(name, '=');
        int length = value ? (int)(value - name) : (int)strlen(name);
        snprintf(to, most, " (--%.*s%s%s)", length, name, value ? " " : "", value ? value + 1 : "");
    }
}

void cli_message(const cli *c, char to[CLI_MESSAGE])
{
    char advice[128];
    put_advice(advice, sizeof advice, mcr_message_id(c->ctx));
    snprintf(to, CLI_MESSAGE, "%s%s", mcr_message(c->ctx), advice);
}

int cli_fail(cli *c, mcr_status status)
{
    if (status == MCR_OK)
        return 0;
    if (status == MCR_STOPPED && cli_interrupted()) {
        cli_fault(c, NULL, "interrupted");
        return CLI_INTERRUPTED;
    }
    if (status == MCR_STOPPED && c->late)
        return cli_fault(c, NULL, "the time limit of %.6g s was reached (--time-limit SECONDS)",
                         c->common.time_limit);
    char message[CLI_MESSAGE] = "";
    if (c->ctx)
        cli_message(c, message);
    if (!*message)
        snprintf(message, sizeof message, "%s", mcr_status_name(status));
    const char *file = c->ctx ? mcr_message_file(c->ctx) : NULL;
    int64_t line = file ? mcr_message_line(c->ctx) : 0;
    mark m = {0};
    if (c->ctx)
        m.text = mcr_message_mark(c->ctx, &m.column, &m.length);
    const char *bare = without_place(message, file, line);
    char *prefix = strndup(message, (size_t)(bare - message));
    if (!prefix)
        cli_die_memory();
    say(c, prefix, bare, file, line, &m);
    free(prefix);
    return status == MCR_BAD_CALL ? 2 : 1;
}

static int json_at_death;

void cli_die_in_json(void)
{
    static char object[1 << 16]; /* large enough that an unfinished object can be discarded */
    json_at_death = 1;
    setvbuf(stdout, object, _IOFBF, sizeof object);
}

/* Nothing here allocates. */
void cli_die_memory(void)
{
    cli_signals_unguard(1);
    fputs("mercer: out of memory\n", stderr);
    if (json_at_death)
        __fpurge(stdout);
    if (json_at_death)
        fputs("{\"error\": {\"message\": \"out of memory\", \"file\": null, \"line\": null}}\n",
              stdout);
    exit(1);
}
