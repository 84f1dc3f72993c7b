/* fuzz_mutate.h: mutators that know the structure, so that mutants get past the first check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* libFuzzer's own; not there, and not called, where the corpus is only replayed. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t capacity);

static inline uint32_t fuzz_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

typedef struct fuzz_token {
    size_t at, length;
} fuzz_token;

/* Words, numbers, quoted texts and single characters. */
static inline size_t fuzz_tokens(fuzz_token *token, size_t most, const uint8_t *text, size_t count)
{
    size_t tokens = 0, i = 0;
    while (i < count && tokens < most) {
        size_t from = i++;
        if (text[from] == '"') {
            while (i < count && text[i] != '"')
                i += text[i] == '\\' ? 2 : 1;
            i = i < count ? i + 1 : count;
        } else if (isalnum(text[from]) || text[from] == '_' || text[from] == '.') {
            while (i < count && (isalnum(text[i]) || text[i] == '_' || text[i] == '.'))
                i++;
        }
        token[tokens++] = (fuzz_token){from, i - from};
    }
    return tokens;
}

static inline size_t fuzz_splice(uint8_t *text, size_t count, size_t capacity, fuzz_token old,
                                 const void *new_text, size_t length)
{
    uint8_t copy[256];
    if (length > sizeof copy || count - old.length + length > capacity)
        return count;
    memcpy(copy, new_text, length);
    memmove(text + old.at + length, text + old.at + old.length, count - old.at - old.length);
    memcpy(text + old.at, copy, length);
    return count - old.length + length;
}

/* Deletes, doubles, exchanges or replaces one token by another or by a word of the dictionary. */
static inline size_t fuzz_mutate_tokens(uint8_t *text, size_t count, size_t capacity, uint32_t seed,
                                        const char *const *words, size_t dictionary)
{
    static fuzz_token token[1024];
    size_t tokens = fuzz_tokens(token, sizeof token / sizeof *token, text, count);
    if (tokens == 0 || fuzz_next(&seed) % 4 == 0)
        return LLVMFuzzerMutate(text, count, capacity);
    fuzz_token a = token[fuzz_next(&seed) % tokens], b = token[fuzz_next(&seed) % tokens];
    fuzz_token before = {a.at, 0};
    const char *word = words[fuzz_next(&seed) % dictionary];
    switch (fuzz_next(&seed) % 5) {
    case 0: return fuzz_splice(text, count, capacity, a, "", 0);
    case 1: return fuzz_splice(text, count, capacity, before, text + b.at, b.length);
    case 2: return fuzz_splice(text, count, capacity, a, text + b.at, b.length);
    case 3: return fuzz_splice(text, count, capacity, before, word, strlen(word));
    default: return fuzz_splice(text, count, capacity, a, word, strlen(word));
    }
}

#endif
