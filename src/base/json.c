/* json.c: a JSON reader without recursion, and a writer.
 *
 * The open containers are kept on a fixed stack of value numbers; the reader is a loop over values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <mercer/text.h>

#include "base/number.h"

typedef struct reader {
    mcr_json *json;
    const char *p, *end;
    int64_t scratch_used;
    int depth;
    int64_t open[MCR_JSON_DEPTH]; /* number of each open container in json->value */
} reader;

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

void mcr_json_init(mcr_json *json, mcr *ctx)
{
    *json = (mcr_json){.ctx = ctx};
}

void mcr_json_free(mcr_json *json)
{
    mcr_free_all(json->ctx, json->value, json->scratch);
    mcr_json_init(json, json->ctx);
}

/* ---- faults --------------------------------------------------------------------------------- */

static mcr_status fail_text(const mcr_json *json, int64_t at, const char *text)
{
    int64_t line = json->line, column = 1;
    for (int64_t i = 0; i < at; i++) {
        column++;
        if (json->bytes[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return mcr_fail_at(json->ctx, MCR_BAD_DATA, json->file ? json->file : "JSON", line,
                       "column %lld: %s", (long long)column, text);
}

mcr_status mcr_json_fail(const mcr_json *json, const mcr_json_value *at, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return fail_text(json, at->at, text);
}

static mcr_status fail_here(const reader *r, const char *p, const char *text)
{
    return fail_text(r->json, p - r->json->bytes, text);
}

/* Fails with what was found instead of `wanted`: the byte, if printable, or the end. */
static mcr_status fail_wanted(const reader *r, const char *wanted)
{
    char text[128];
    if (r->p == r->end) {
        snprintf(text, sizeof text, "the text ends where %s was expected", wanted);
    } else {
        unsigned char c = (unsigned char)*r->p;
        if (c > ' ' && c < 127)
            snprintf(text, sizeof text, "found '%c' where %s was expected", c, wanted);
        else
            snprintf(text, sizeof text, "found byte 0x%02x where %s was expected", c, wanted);
    }
    return fail_here(r, r->p, text);
}

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

/* Length of the UTF-8 sequence at p, 0 if it is not one (table 3-7 of the Unicode standard). */
static int utf8_length(const unsigned char *p, const unsigned char *end)
{
    int c = p[0];
    int low = 0x80, high = 0xbf; /* limits of the second byte */
    int length;
    if (c < 0x80)
        return 1;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    if (c < 0xe0) {
        length = 2;
    } else if (c < 0xf0) {
        length = 3;
        if (c == 0xe0)
            low = 0xa0;
        if (c == 0xed)
            high = 0x9f;
    } else {
        length = 4;
        if (c == 0xf0)
            low = 0x90;
        if (c == 0xf4)
            high = 0x8f;
    }
    if (end - p < length || p[1] < low || p[1] > high)
        return 0;
    for (int i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return length;
}

const char *mcr_utf8_fault(const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes, *end = p + length;
    const uint64_t high = 0x8080808080808080;
    while (p < end) {
        uint64_t eight = high;
        if (end - p >= 8)
            memcpy(&eight, p, sizeof eight);
        if (!(eight & high)) {
            p += 8;
            continue;
        }
        int n = utf8_length(p, end);
        if (n == 0)
            return (const char *)p;
        p += n;
    }
    return NULL;
}

bool mcr_utf8_valid(const char *bytes, size_t length)
{
    return !mcr_utf8_fault(bytes, length);
}

static int put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* ---- strings -------------------------------------------------------------------------------- */

/* Four hexadecimal digits at p; -1 if there are none. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)p[i];
        int digit = is_digit(c)              ? c - '0'
                    : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                    : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                             : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The character of a \u escape; r->p is after the 'u' and moves past the digits. */
static mcr_status read_unicode(reader *r, uint32_t *out)
{
    const char *start = r->p - 2;
    int32_t high = hex4(r->p, r->end);
    if (high < 0)
        return fail_here(r, start, "\\u needs four hexadecimal digits");
    r->p += 4;
    *out = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff)
        return MCR_OK;
    int32_t low = -1;
    if (high < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u')
        low = hex4(r->p + 2, r->end);
    if (low < 0xdc00 || low > 0xdfff)
        return fail_here(r, start, "half of a surrogate pair is missing");
    r->p += 6;
    *out = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return MCR_OK;
}

/* Decodes the escape at r->p (a backslash). */
static mcr_status read_escape(reader *r, char to[4], int *count)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    if (r->end - r->p < 2)
        return fail_here(r, r->end, "the text ends inside a string");
    const char *found = r->p[1] ? strchr(from, r->p[1]) : NULL;
    if (found) {
        to[0] = into[found - from];
        *count = 1;
        r->p += 2;
        return MCR_OK;
    }
    if (r->p[1] != 'u')
        return fail_here(r, r->p, "unknown escape in a string; a backslash is written \\\\");
    r->p += 2;
    uint32_t c = 0;
    mcr_status status = read_unicode(r, &c);
    if (status == MCR_OK)
        *count = put_utf8(to, c);
    return status;
}

/* Moves r->p past bytes that need no decoding, to a quote, a backslash or the end. */
static mcr_status pass_plain(reader *r)
{
    const unsigned char *p = (const unsigned char *)r->p, *end = (const unsigned char *)r->end;
    while (p < end && *p != '"' && *p != '\\') {
        if (*p < 0x20)
            return fail_here(r, (const char *)p,
                             "control character in a string; write it as an escape");
        int n = *p < 0x80 ? 1 : utf8_length(p, end);
        if (n == 0)
            return fail_here(r, (const char *)p, "the string is not valid UTF-8");
        p += n;
    }
    r->p = (const char *)p;
    return p < end ? MCR_OK : fail_here(r, r->end, "the text ends inside a string");
}

/* The string at r->p (its first quote). Without escapes it refers to the text itself; otherwise it
 * is decoded into the scratch buffer, which is as large as the whole text. */
static mcr_status read_string(reader *r, mcr_json_value *v)
{
    mcr_json *json = r->json;
    const char *start = ++r->p;
    v->type = MCR_JSON_STRING;
    mcr_status status = pass_plain(r);
    if (status != MCR_OK)
        return status;
    if (*r->p == '"') {
        v->text = start;
        v->count = r->p++ - start;
        return MCR_OK;
    }
    if (!json->scratch || json->scratch_capacity < r->end - json->bytes) {
        assert(r->scratch_used == 0);
        status = mcr_reserve(json->ctx, &json->scratch, &json->scratch_capacity,
                             r->end - json->bytes, 1);
        if (status != MCR_OK)
            return status;
    }
    char *to = json->scratch + r->scratch_used;
    v->text = to;
    for (;;) {
        memcpy(to, start, (size_t)(r->p - start));
        to += r->p - start;
        if (*r->p == '"')
            break;
        char escaped[4];
        int n = 0;
        status = read_escape(r, escaped, &n);
        if (status != MCR_OK)
            return status;
        memcpy(to, escaped, (size_t)n);
        to += n;
        start = r->p;
        status = pass_plain(r);
        if (status != MCR_OK)
            return status;
    }
    r->p++;
    v->count = to - v->text;
    r->scratch_used += v->count;
    return MCR_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

static const char *pass_digits(const char *p, const char *end)
{
    while (p < end && is_digit((unsigned char)*p))
        p++;
    return p;
}

/* JSON's grammar is narrower than that of mcr_parse_real, so the extent is determined here. */
static mcr_status read_number(reader *r, mcr_json_value *v)
{
    const char *start = r->p, *p = start, *end = r->end;
    if (*p == '-')
        p++;
    const char *digits = p;
    p = pass_digits(p, end);
    if (p == digits)
        return fail_here(r, start, "a number needs a digit after '-'");
    if (*digits == '0' && p - digits > 1)
        return fail_here(r, start, "a number must not have leading zeros");
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = pass_digits(p, end);
        if (p == fraction)
            return fail_here(r, start, "a number needs a digit after its point");
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *exponent = p;
        p = pass_digits(p, end);
        if (p == exponent)
            return fail_here(r, start, "a number needs a digit in its exponent");
    }
    const char *stop = mcr_parse_real(start, p, &v->number);
    if (stop != p || !isfinite(v->number))
        return fail_here(r, start, "the number is too large");
    v->type = MCR_JSON_NUMBER;
    v->text = start;
    v->count = p - start;
    r->p = p;
    return MCR_OK;
}

static mcr_status read_word(reader *r, mcr_json_value *v)
{
    static const struct {
        const char *word;
        mcr_json_type type;
    } words[] = {{"null", MCR_JSON_NULL}, {"true", MCR_JSON_TRUE}, {"false", MCR_JSON_FALSE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->p) >= n && memcmp(r->p, words[i].word, n) == 0) {
            v->type = words[i].type;
            r->p += n;
            return MCR_OK;
        }
    }
    return fail_wanted(r, "a value");
}

static void pass_space(reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
        r->p++;
}

/* Appends a new value at r->p; pointers to earlier values become invalid. */
static mcr_status add_value(reader *r, mcr_json_value **v)
{
    mcr_json *json = r->json;
    mcr_status status = mcr_reserve(json->ctx, &json->value, &json->capacity, json->count + 1,
                                    sizeof *json->value);
    if (status != MCR_OK)
        return status;
    *v = &json->value[json->count++];
    **v = (mcr_json_value){.size = 1, .at = r->p - json->bytes};
    return MCR_OK;
}

static mcr_json_value *container(const reader *r)
{
    return r->depth ? &r->json->value[r->open[r->depth - 1]] : NULL;
}

/* Reads a scalar, or opens a container. */
static mcr_status read_value(reader *r)
{
    mcr_json_value *v;
    if (r->p == r->end)
        return fail_wanted(r, "a value");
    mcr_status status = add_value(r, &v);
    if (status != MCR_OK)
        return status;
    if (*r->p == '"')
        return read_string(r, v);
    if (*r->p == '-' || is_digit((unsigned char)*r->p))
        return read_number(r, v);
    if (*r->p != '{' && *r->p != '[')
        return read_word(r, v);
    if (r->depth == MCR_JSON_DEPTH)
        return fail_here(r, r->p, "too deep: more than 64 nested containers");
    v->type = *r->p == '{' ? MCR_JSON_OBJECT : MCR_JSON_ARRAY;
    r->open[r->depth++] = v - r->json->value;
    r->p++;
    return MCR_OK;
}

/* Reads `"key" :` before a member's value. */
static mcr_status read_key(reader *r)
{
    mcr_json_value *key;
    if (r->p == r->end || *r->p != '"')
        return fail_wanted(r, "a key in quotes");
    mcr_status status = add_value(r, &key);
    if (status == MCR_OK)
        status = read_string(r, key);
    if (status != MCR_OK)
        return status;
    pass_space(r);
    if (r->p == r->end || *r->p != ':')
        return fail_wanted(r, "':'");
    r->p++;
    pass_space(r);
    return MCR_OK;
}

/* Closes containers while closing brackets follow, and skips the comma before the next value.
 * `fresh`: the innermost container is still empty. */
static mcr_status read_closers(reader *r, bool fresh)
{
    mcr_json_value *in;
    while ((in = container(r))) {
        char closer = in->type == MCR_JSON_OBJECT ? '}' : ']';
        pass_space(r);
        if (r->p < r->end && *r->p == closer) {
            r->p++;
            in->size = r->json->count - (in - r->json->value);
            r->depth--;
            fresh = false;
            continue;
        }
        if (fresh)
            return MCR_OK;
        if (r->p == r->end || *r->p != ',')
            return fail_wanted(r, closer == '}' ? "',' or '}'" : "',' or ']'");
        r->p++;
        pass_space(r);
        return MCR_OK;
    }
    return MCR_OK;
}

static mcr_status read_text(reader *r)
{
    do {
        mcr_json_value *in = container(r);
        if (in) {
            in->count++;
            if (in->type == MCR_JSON_OBJECT) {
                mcr_status status = read_key(r);
                if (status != MCR_OK)
                    return status;
            }
        }
        int depth = r->depth;
        mcr_status status = read_value(r);
        if (status == MCR_OK)
            status = read_closers(r, r->depth > depth);
        if (status != MCR_OK)
            return status;
    } while (r->depth > 0);
    pass_space(r);
    return r->p == r->end ? MCR_OK : fail_wanted(r, "the end");
}

mcr_status mcr_json_parse(mcr_json *json, const char *bytes, size_t length, const char *file,
                          int64_t line)
{
    json->count = 0;
    json->bytes = bytes;
    json->file = file;
    json->line = line;
    reader r = {.json = json, .p = bytes, .end = bytes + length};
    pass_space(&r);
    mcr_status status = read_text(&r);
    if (status != MCR_OK)
        json->count = 0;
    return status;
}

/* ---- looking -------------------------------------------------------------------------------- */

bool mcr_json_is(const mcr_json_value *string, const char *text)
{
    size_t n = strlen(text);
    return string->type == MCR_JSON_STRING && (size_t)string->count == n &&
           memcmp(string->text, text, n) == 0;
}

const mcr_json_value *mcr_json_find(const mcr_json_value *object, const char *key)
{
    if (object->type != MCR_JSON_OBJECT)
        return NULL;
    const mcr_json_value *v = object + 1;
    for (int64_t i = 0; i < object->count; i++) {
        if (mcr_json_is(v, key))
            return v + 1;
        v = mcr_json_next(v + 1);
    }
    return NULL;
}

bool mcr_json_int(const mcr_json_value *number, int64_t *value)
{
    if (number->type != MCR_JSON_NUMBER)
        return false;
    const char *end = number->text + number->count;
    return mcr_parse_int(number->text, end, value) == end;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void before_value(mcr_json_writer *w)
{
    if (w->comma)
        mcr_text_add(w->to, ",", 1);
    w->comma = true;
}

void mcr_json_write_init(mcr_json_writer *w, mcr_text *to)
{
    *w = (mcr_json_writer){.to = to};
}

void mcr_json_write_object(mcr_json_writer *w)
{
    before_value(w);
    mcr_text_add(w->to, "{", 1);
    w->comma = false;
}

void mcr_json_write_array(mcr_json_writer *w)
{
    before_value(w);
    mcr_text_add(w->to, "[", 1);
    w->comma = false;
}

void mcr_json_write_end_object(mcr_json_writer *w)
{
    mcr_text_add(w->to, "}", 1);
    w->comma = true;
}

void mcr_json_write_end_array(mcr_json_writer *w)
{
    mcr_text_add(w->to, "]", 1);
    w->comma = true;
}

void mcr_json_write_key(mcr_json_writer *w, const char *key)
{
    mcr_json_write_text(w, key);
    mcr_text_add(w->to, ":", 1);
    w->comma = false;
}

/* Also the control characters U+0080 to U+009F, which terminals interpret. */
static bool needs_escape(const unsigned char *p)
{
    return *p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);
}

static void put_escape(mcr_put *put, void *to, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", into[] = "\"\\bfnrt";
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        char escape[2] = {'\\', into[found - from]};
        put(to, escape, 2);
    } else {
        static const char digit[] = "0123456789abcdef";
        char escape[6] = {'\\', 'u', '0', '0', digit[c >> 4], digit[c & 15]};
        put(to, escape, 6);
    }
}

void mcr_json_string(mcr_put *put, void *to, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes, *end = p + length, *plain = p;
    put(to, "\"", 1);
    while (p < end) {
        int n = utf8_length(p, end);
        if (n > 0 && !needs_escape(p)) {
            p += n;
            continue;
        }
        put(to, (const char *)plain, (size_t)(p - plain));
        if (n == 0)
            put(to, "\xef\xbf\xbd", 3);
        else
            put_escape(put, to, p[n - 1]);
        plain = p += n > 0 ? n : 1;
    }
    put(to, (const char *)plain, (size_t)(p - plain));
    put(to, "\"", 1);
}

static void put_text(void *to, const char *bytes, size_t count)
{
    mcr_text_add(to, bytes, count);
}

void mcr_json_write_string(mcr_json_writer *w, const char *bytes, size_t length)
{
    before_value(w);
    mcr_json_string(put_text, w->to, bytes, length);
}

void mcr_json_write_null(mcr_json_writer *w)
{
    before_value(w);
    mcr_text_string(w->to, "null");
}

void mcr_json_write_text(mcr_json_writer *w, const char *text)
{
    if (text)
        mcr_json_write_string(w, text, strlen(text));
    else
        mcr_json_write_null(w);
}

void mcr_json_write_real(mcr_json_writer *w, double value)
{
    if (!isfinite(value)) {
        mcr_json_write_null(w);
        return;
    }
    before_value(w);
    mcr_text_real(w->to, value);
}

void mcr_json_write_bool(mcr_json_writer *w, bool value)
{
    before_value(w);
    mcr_text_string(w->to, value ? "true" : "false");
}

void mcr_json_write_int(mcr_json_writer *w, int64_t value)
{
    before_value(w);
    mcr_text_int(w->to, value);
}

void mcr_json_write_reals(mcr_json_writer *w, const double *value, int64_t count)
{
    mcr_json_write_array(w);
    for (int64_t i = 0; i < count; i++)
        mcr_json_write_real(w, value[i]);
    mcr_json_write_end_array(w);
}

void mcr_json_put_object(mcr_json_writer *w, const char *key)
{
    mcr_json_write_key(w, key);
    mcr_json_write_object(w);
}

void mcr_json_put_array(mcr_json_writer *w, const char *key)
{
    mcr_json_write_key(w, key);
    mcr_json_write_array(w);
}

void mcr_json_put_text(mcr_json_writer *w, const char *key, const char *text)
{
    mcr_json_write_key(w, key);
    mcr_json_write_text(w, text);
}

void mcr_json_put_real(mcr_json_writer *w, const char *key, double value)
{
    mcr_json_write_key(w, key);
    mcr_json_write_real(w, value);
}

void mcr_json_put_int(mcr_json_writer *w, const char *key, int64_t value)
{
    mcr_json_write_key(w, key);
    mcr_json_write_int(w, value);
}

void mcr_json_put_bool(mcr_json_writer *w, const char *key, bool value)
{
    mcr_json_write_key(w, key);
    mcr_json_write_bool(w, value);
}

void mcr_json_put_reals(mcr_json_writer *w, const char *key, const double *value, int64_t count)
{
    mcr_json_write_key(w, key);
    mcr_json_write_reals(w, value, count);
}

void mcr_json_put_texts(mcr_json_writer *w, const char *key, char *const *text, int64_t count)
{
    mcr_json_put_array(w, key);
    for (int64_t i = 0; i < count; i++)
        mcr_json_write_text(w, text[i]);
    mcr_json_write_end_array(w);
}
