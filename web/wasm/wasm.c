/* wasm.c: the engine in a Web Worker: a request comes as bytes, its answer goes back as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <emscripten.h>

#include "../engine.h"

/* The browser has one engine, and calls it through these two names. */
static studio *engine;

/* NULL: no memory. */
EMSCRIPTEN_KEEPALIVE const char *studio_ask(const char *request, size_t length);

EMSCRIPTEN_KEEPALIVE const char *studio_ask(const char *request, size_t length)
{
    size_t bytes;
    if (!engine) {
        studio_config config = {
            .threads = 1, .memory_bytes = (size_t)512 << 20, .data_bytes = (size_t)512 << 20};
        engine = studio_open(&config);
    }
    return engine ? studio_answer(engine, request, length, &bytes) : NULL;
}
