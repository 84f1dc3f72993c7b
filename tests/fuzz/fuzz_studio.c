/* fuzz_studio.c: whatever a request of the studio holds, it is answered with one JSON object, and
 * nothing is read beyond its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../web/engine.h"
#include "../../web/request.h"
#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

static const char *const words[] = {
    "{\"do\": \"fit\"",
    "{\"do\": \"gram\"",
    "{\"do\": \"check\"",
    "{\"do\": \"steps\"",
    "{\"do\": \"pair\"",
    "{\"do\": \"load\"",
    "{\"do\": \"figure\"",
    "{\"do\": \"cv\"",
    ", \"kernel\": \"rbf(gamma=1)\"",
    ", \"kernel\": \"spectrum(p=2)\"",
    ", \"kernel\": \"graphlet(p=3)\"",
    ", \"learner\": \"svm\"",
    ", \"learner\": \"pca\"",
    ", \"learner\": \"kmeans\"",
    ", \"options\": {\"C\": \"10\"}",
    ", \"data\": {\"text\": \"x1,x2,class\\n0,0,A\\n1,1,B\\n2,0,A\\n\"}",
    ", \"plane\": {\"nx\": 3, \"ny\": 3}",
    ", \"a\": \"cat\", \"b\": \"car\"",
    ", \"a\": {\"nodes\": [0, 1], \"edges\": [[0, 1]]}",
    ", \"b\": {\"nodes\": [0], \"edges\": []}",
    "\"at\": ",
    "[",
    "]",
    "{",
    "}",
    "\"",
    ":",
    ",",
    "1e9",
    "-1",
    "null",
    "\\u0000",
};

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    return fuzz_mutate_tokens(bytes, count, capacity, seed, words, sizeof words / sizeof *words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    studio_config config = {.threads = 1,
                            .seconds = 0.5,
                            .memory_bytes = (size_t)16 << 20,
                            .data_bytes = (size_t)16 << 20};
    studio *engine = studio_open(&config);
    studio_request answer = {0};
    size_t length;
    if (!engine)
        abort();
    const char *text = studio_answer(engine, (const char *)bytes, count, &length);
    if (!studio_request_read(&answer, text, length) || answer.value[0].type != STUDIO_OBJECT ||
        !studio_find(answer.value, "ok"))
        abort();
    studio_request_free(&answer);
    studio_close(engine);
    return 0;
}
