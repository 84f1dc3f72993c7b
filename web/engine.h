/* engine.h: the studio's engine: one JSON request in, one JSON answer out.
 *
 * The page asks the same engine everywhere: natively through HTTP (server.h), or compiled to
 * WebAssembly in a worker of the browser (wasm.c). docs/studio.md lists the requests. An engine
 * belongs to one page: it keeps the data and the model that the page asked for last. Nothing in a
 * request opens a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_ENGINE_H
#define WEB_ENGINE_H

#include <stddef.h>

#include <mercer/mercer.h>

typedef struct studio studio; /* one thread at a time, but for studio_cancel */

/* Zero in a field means the default. */
typedef struct studio_config {
    double seconds;          /* most that one request may take; default 60 */
    size_t memory_bytes;     /* budget for kernel values; default: the library's */
    size_t data_bytes;       /* most for data and models; default 1 GB */
    int threads;             /* default: all cores */
    const mcr_data *data;    /* what the program was called with, retained; NULL: nothing */
    const mcr_model *model;  /* the same; it must live as long as the engine */
    const char *name;        /* of its file, for the page; borrowed */
    int (*stop)(void *user); /* asked from time to time while computing: nonzero ends the request */
    void *user;
} studio_config;

/* NULL: no memory. */
studio *studio_open(const studio_config *config);
void studio_close(studio *s); /* NULL allowed */

/* Answers a request. The bytes (JSON, with a NUL behind them) belong to the engine, until the next
 * request. A request that cannot be read or done is answered, too: {"ok": false, "error":
 * {...}}. */
const char *studio_answer(studio *s, const char *request, size_t length, size_t *bytes);
/* From any thread: the running request, and those that come before studio_allow, end soon. */
void studio_cancel(studio *s);
void studio_allow(studio *s);

#endif
