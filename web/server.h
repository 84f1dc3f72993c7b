/* server.h: the page and its engine on this machine's own address, by libmicrohttpd.
 *
 * Listens on 127.0.0.1 only. Every address begins with a random token, and the Host header must
 * name this machine and port, so that other pages in the same browser cannot reach it (403
 * otherwise). The only addresses are the page itself and its requests: no path names a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include <stddef.h>

#include "engine.h"

typedef struct studio_server studio_server;

typedef struct studio_serving {
    studio_config engine; /* of each page; stop and user are the server's own */
    const char *page;     /* the HTML, borrowed */
    size_t page_bytes;
    int port;          /* 0: any that is free */
    size_t body_bytes; /* most that a request may have; 0: 64 MB */
    const char *token; /* for tests; NULL: random */
} studio_serving;

/* Starts. On failure NULL, and *why is a line for people, static. */
studio_server *studio_server_start(const studio_serving *how, const char **why);
/* Ends what runs, and waits for it. NULL allowed. */
void studio_server_stop(studio_server *server);
/* The address of the page, with its token. Borrowed. */
const char *studio_server_address(const studio_server *server);
/* Seconds since the last request began or ended; 0 while one is running. */
double studio_server_idle(studio_server *server);

#endif
