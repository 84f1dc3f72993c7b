/* json.c: JSON by RFC 8259.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <mercer/text.h>

#include "text.h"

static void put(void *to, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, to);
}

void cli_json_string(FILE *to, const char *text)
{
    mcr_json_string(put, to, text, strlen(text));
}

static void put_key(cli_json *j, const char *key)
{
    if (j->depth > 0) {
        assert((j->closing[j->depth - 1] == '}') == (key != NULL));
        if (j->filled[j->depth - 1])
            fputs(", ", j->to);
        j->filled[j->depth - 1] = 1;
    }
    if (key) {
        cli_json_string(j->to, key);
        fputs(": ", j->to);
    }
}

static void open_level(cli_json *j, const char *key, char opening, char closing)
{
    assert(j->depth < CLI_JSON_DEPTH);
    put_key(j, key);
    putc(opening, j->to);
    j->filled[j->depth] = 0;
    j->closing[j->depth++] = closing;
}

void cli_json_begin(cli_json *j, FILE *to)
{
    *j = (cli_json){.to = to};
    cli_json_object(j, NULL);
}

void cli_json_object(cli_json *j, const char *key)
{
    open_level(j, key, '{', '}');
}

void cli_json_list(cli_json *j, const char *key)
{
    open_level(j, key, '[', ']');
}

void cli_json_end(cli_json *j)
{
    assert(j->depth > 0);
    putc(j->closing[--j->depth], j->to);
    if (j->depth == 0)
        putc('\n', j->to);
}

void cli_json_text(cli_json *j, const char *key, const char *text)
{
    put_key(j, key);
    if (text)
        cli_json_string(j->to, text);
    else
        fputs("null", j->to);
}

void cli_json_raw(cli_json *j, const char *key, const char *text, size_t length, int verbatim)
{
    put_key(j, key);
    if (verbatim)
        put(j->to, text, length);
    else
        mcr_json_string(put, j->to, text, length);
}

void cli_json_real(cli_json *j, const char *key, double value)
{
    char text[MCR_REAL_TEXT];
    put_key(j, key);
    if (isfinite(value))
        mcr_print_real(text, value);
    fputs(isfinite(value) ? text : "null", j->to);
}

void cli_json_seconds(cli_json *j, const char *key, double value)
{
    cli_json_real(j, key, round(value * 1e6) / 1e6);
}

void cli_json_integer(cli_json *j, const char *key, int64_t value)
{
    put_key(j, key);
    fprintf(j->to, "%" PRId64, value);
}

void cli_json_flag(cli_json *j, const char *key, int value)
{
    put_key(j, key);
    fputs(value ? "true" : "false", j->to);
}

void cli_json_null(cli_json *j, const char *key)
{
    put_key(j, key);
    fputs("null", j->to);
}

void cli_json_reals(cli_json *j, const char *key, const double *value, int64_t count)
{
    cli_json_list(j, key);
    for (int64_t i = 0; i < count; i++)
        cli_json_real(j, NULL, value[i]);
    cli_json_end(j);
}

void cli_json_integers(cli_json *j, const char *key, const int64_t *value, int64_t count)
{
    cli_json_list(j, key);
    for (int64_t i = 0; i < count; i++)
        cli_json_integer(j, NULL, value[i]);
    cli_json_end(j);
}
