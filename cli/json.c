/* json.c: JSON by RFC 8259.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "text.h"

/* The number of bytes of the UTF-8 character at s, or 0 if there is none. */
static int utf8_length(const unsigned char *s)
{
    int length = s[0] < 0x80                    ? 1
                 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                 : (s[0] & 0xf0) == 0xe0        ? 3
                 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

void cli_json_string(FILE *to, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    putc('"', to);
    while (*s) {
        int length = utf8_length(s);
        if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", to);
        else if (*s == '\t')
            fputs("\\t", to);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(to, "\\u%04x", *s);
        else if (length == 0)
            fputs("\\ufffd", to);
        else
            fwrite(s, 1, (size_t)length, to);
        s += length ? length : 1;
    }
    putc('"', to);
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

void cli_json_real(cli_json *j, const char *key, double value)
{
    char text[CLI_NUMBER_ROOM];
    put_key(j, key);
    if (isfinite(value))
        cli_number(text, value);
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
