/* request.c: a recursive reader of JSON; strings are unescaped in place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16, FIRST_VALUES = 64, MOST_VALUES = 1 << 20 };

static int fail(studio_request *r, const char *at, const char *fault)
{
    if (!r->fault) {
        r->fault = fault;
        r->at = (size_t)(at - r->bytes);
    }
    return 0;
}

/* The number of a new value; SIZE_MAX: there is no memory, or there are too many. Each takes many
 * times its text. */
static size_t add(studio_request *r, const char *at, studio_type type)
{
    if (r->count == MOST_VALUES) {
        fail(r, at, "too many values");
        return SIZE_MAX;
    }
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : FIRST_VALUES;
        studio_value *value = realloc(r->value, capacity * sizeof *value);
        if (!value) {
            fail(r, at, "no memory");
            return SIZE_MAX;
        }
        r->value = value;
        r->capacity = capacity;
    }
    r->value[r->count] = (studio_value){.type = type, .size = 1};
    return r->count++;
}

static char *skip(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

static int hex4(const char *at, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit > 15)
            return 0;
        *code = *code << 4 | digit;
    }
    return 1;
}

static char *put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* The code behind "\u", with the second half of a pair; *at behind it. */
static int read_code(char **at, unsigned *code)
{
    unsigned low;
    if (!hex4(*at, code))
        return 0;
    *at += 4;
    if (*code >= 0xdc00 && *code < 0xe000)
        return 0;
    if (*code < 0xd800 || *code >= 0xdc00)
        return 1;
    if ((*at)[0] != '\\' || (*at)[1] != 'u' || !hex4(*at + 2, &low) || low < 0xdc00 ||
        low >= 0xe000)
        return 0;
    *at += 6;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 1;
}

/* `at` is behind the opening quote; returns what is behind the closing one, NULL: a fault. */
static char *read_text(studio_request *r, char *at, size_t number)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *to = at;
    r->value[number].text = at;
    while (*at != '"') {
        const char *escape;
        unsigned code;
        if ((unsigned char)*at < 0x20)
            return fail(r, at, "a control character in a string, or no end of it"), NULL;
        if (*at != '\\') {
            *to++ = *at++;
        } else if (at[1] && (escape = strchr(plain, at[1]))) {
            *to++ = meant[escape - plain];
            at += 2;
        } else if (at[1] == 'u') {
            at += 2;
            if (!read_code(&at, &code))
                return fail(r, at, "a wrong \\u in a string"), NULL;
            to = put_utf8(to, code);
        } else {
            return fail(r, at, "a wrong escape in a string"), NULL;
        }
    }
    r->value[number].count = (size_t)(to - r->value[number].text);
    *to = '\0';
    return at + 1;
}

/* As in RFC 8259: no leading zeros, no sign but -, digits on both ends of a point. */
static char *read_number(studio_request *r, char *at, size_t number)
{
    char *end = at + (*at == '-');
    const char *first = end;
    while (*end >= '0' && *end <= '9')
        end++;
    if (end == first || (*first == '0' && end - first > 1))
        return fail(r, at, "not a number"), NULL;
    if (*end == '.') {
        first = ++end;
        while (*end >= '0' && *end <= '9')
            end++;
        if (end == first)
            return fail(r, at, "not a number"), NULL;
    }
    if (*end == 'e' || *end == 'E') {
        end += end[1] == '+' || end[1] == '-' ? 2 : 1;
        first = end;
        while (*end >= '0' && *end <= '9')
            end++;
        if (end == first)
            return fail(r, at, "not a number"), NULL;
    }
    r->value[number].number = strtod(at, NULL);
    return isfinite(r->value[number].number) ? end : (fail(r, at, "a number too large"), NULL);
}

static char *read_value(studio_request *r, char *at, int depth);

/* What lies between the brackets, `at` behind the opening one. */
static char *read_container(studio_request *r, char *at, size_t number, int depth)
{
    int object = r->value[number].type == STUDIO_OBJECT;
    char closing = object ? '}' : ']';
    if (depth == DEPTH)
        return fail(r, at, "brackets too deep"), NULL;
    at = skip(at);
    if (*at == closing)
        return at + 1;
    for (;;) {
        if (object) {
            if (*at != '"')
                return fail(r, at, "a name in quotes is missing"), NULL;
            at = read_value(r, at, depth + 1);
            if (!at)
                return NULL;
            at = skip(at);
            if (*at != ':')
                return fail(r, at, "a : is missing"), NULL;
            at = skip(at + 1);
        }
        at = read_value(r, at, depth + 1);
        if (!at)
            return NULL;
        r->value[number].count++;
        at = skip(at);
        if (*at == closing)
            break;
        if (*at != ',')
            return fail(r, at, "a comma or a closing bracket is missing"), NULL;
        at = skip(at + 1);
    }
    r->value[number].size = r->count - number;
    return at + 1;
}

static char *read_word(studio_request *r, char *at)
{
    static const struct word {
        const char *text;
        studio_type type;
    } words[] = {{"null", STUDIO_NULL}, {"false", STUDIO_FALSE}, {"true", STUDIO_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].text);
        if (strncmp(at, words[i].text, length) == 0)
            return add(r, at, words[i].type) == SIZE_MAX ? NULL : at + length;
    }
    return fail(r, at, "not a JSON value"), NULL;
}

static char *read_value(studio_request *r, char *at, int depth)
{
    studio_type type = *at == '{'                                 ? STUDIO_OBJECT
                       : *at == '['                               ? STUDIO_LIST
                       : *at == '"'                               ? STUDIO_TEXT
                       : *at == '-' || (*at >= '0' && *at <= '9') ? STUDIO_NUMBER
                                                                  : STUDIO_NULL;
    if (type == STUDIO_NULL)
        return read_word(r, at);
    size_t number = add(r, at, type);
    if (number == SIZE_MAX)
        return NULL;
    if (type == STUDIO_NUMBER)
        return read_number(r, at, number);
    if (type == STUDIO_TEXT)
        return read_text(r, at + 1, number);
    return read_container(r, at + 1, number, depth);
}

int studio_request_read(studio_request *r, const char *bytes, size_t length)
{
    char *copy = realloc(r->bytes, length + 1), *end;
    r->count = 0;
    r->fault = NULL;
    r->at = 0;
    if (!copy) {
        r->fault = "no memory";
        return 0;
    }
    r->bytes = copy;
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    end = read_value(r, skip(copy), 0);
    if (end && (size_t)(skip(end) - copy) != length)
        end = (fail(r, skip(end), "something behind the end"), NULL);
    if (!end)
        r->count = 0;
    return end != NULL;
}

void studio_request_free(studio_request *r)
{
    free(r->bytes);
    free(r->value);
    *r = (studio_request){0};
}

const studio_value *studio_next(const studio_value *value)
{
    return value + value->size;
}

const studio_value *studio_find(const studio_value *object, const char *key)
{
    if (!object || object->type != STUDIO_OBJECT)
        return NULL;
    const studio_value *at = object + 1;
    for (size_t i = 0; i < object->count; i++, at = studio_next(at + 1))
        if (at->count == strlen(key) && memcmp(at->text, key, at->count) == 0)
            return at + 1;
    return NULL;
}

const char *studio_text(const studio_value *object, const char *key, const char *otherwise)
{
    const studio_value *v = studio_find(object, key);
    return v && v->type == STUDIO_TEXT && strlen(v->text) == v->count ? v->text : otherwise;
}

double studio_number(const studio_value *object, const char *key, double otherwise)
{
    const studio_value *v = studio_find(object, key);
    return v && v->type == STUDIO_NUMBER ? v->number : otherwise;
}

int64_t studio_whole(const studio_value *object, const char *key, int64_t otherwise, int64_t least,
                     int64_t most)
{
    double number = studio_number(object, key, (double)otherwise);
    return (int64_t)fmin(fmax(number, (double)least), (double)most);
}

int studio_flag(const studio_value *object, const char *key)
{
    const studio_value *v = studio_find(object, key);
    return v && v->type == STUDIO_TRUE;
}
