/* fuzz_json.c: what the JSON reader takes, the writer gives back so that it reads as the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_mutate.h"
#include "fuzz_reader.h"

#include <string.h>

#include "base/json.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    static const char *const words[] = {
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"\\u00e9\"",
        "\"\\ud834\\udd1e\"",
        "\"\\n\"",
        "true",
        "false",
        "null",
        "0",
        "-0",
        "1e308",
        "1e309",
        "1e-400",
        "123456789012345678901234567890",
        "[[[[",
        "]]]]",
    };
    return fuzz_mutate_tokens(bytes, count, capacity, seed, words, sizeof words / sizeof *words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Writes the value at v and returns the one beside it. Depth is bounded by the reader. */
static const mcr_json_value *write_value(mcr_json_writer *w, const mcr_json_value *v)
{
    const mcr_json_value *next = v + 1;
    switch (v->type) {
    case MCR_JSON_NULL: mcr_json_write_text(w, NULL); break;
    case MCR_JSON_FALSE:
    case MCR_JSON_TRUE:
        mcr_text_format(w->to, "%s%s", w->comma ? "," : "",
                        v->type == MCR_JSON_TRUE ? "true" : "false");
        w->comma = true;
        break;
    case MCR_JSON_NUMBER: mcr_json_write_real(w, v->number); break;
    case MCR_JSON_STRING: mcr_json_write_string(w, v->text, (size_t)v->count); break;
    case MCR_JSON_ARRAY:
        mcr_json_write_array(w);
        for (int64_t i = 0; i < v->count; i++)
            next = write_value(w, next);
        mcr_json_write_end_array(w);
        break;
    case MCR_JSON_OBJECT:
        mcr_json_write_object(w);
        for (int64_t i = 0; i < v->count; i++) {
            if (next->type != MCR_JSON_STRING)
                abort();
            mcr_json_write_string(w, next->text, (size_t)next->count);
            mcr_text_add(w->to, ":", 1);
            w->comma = false;
            next = write_value(w, next + 1);
        }
        mcr_json_write_end_object(w);
        break;
    }
    if (next != mcr_json_next(v))
        abort();
    return next;
}

static void compare(const mcr_json *a, const mcr_json *b)
{
    if (a->count != b->count)
        abort();
    for (int64_t i = 0; i < a->count; i++) {
        const mcr_json_value *v = &a->value[i], *u = &b->value[i];
        if (v->type != u->type || v->size != u->size)
            abort();
        if (v->type == MCR_JSON_NUMBER && memcmp(&v->number, &u->number, sizeof v->number) != 0)
            abort();
        if (v->type == MCR_JSON_STRING &&
            (v->count != u->count || memcmp(v->text, u->text, (size_t)v->count) != 0))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    mcr *ctx = fuzz_open();
    mcr_json json, again;
    mcr_text text;
    mcr_json_writer w;
    mcr_json_init(&json, ctx);
    mcr_json_init(&again, ctx);
    mcr_text_init(&text, ctx);
    mcr_json_write_init(&w, &text);
    if (mcr_json_parse(&json, (const char *)bytes, count, "input", 1) == MCR_OK) {
        write_value(&w, json.value);
        if (text.status != MCR_OK ||
            mcr_json_parse(&again, text.bytes, (size_t)text.length, "output", 1) != MCR_OK)
            abort();
        compare(&json, &again);
    } else if (!mcr_message(ctx)[0]) {
        abort();
    }
    mcr_json_free(&json);
    mcr_json_free(&again);
    mcr_text_free(&text);
    mcr_close(ctx);
    return 0;
}
