/* server.c: HTTP for the studio.
 *
 * One thread per connection. Each page (a name that it makes up) has an engine, and one job at a
 * time: a request that comes while another one of the same page is running ends that one and waits
 * for it. While an engine computes it asks from time to time whether its browser is still there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

enum { PAGES = 8, NAME = 32, TOKEN = 32, ADDRESS = 128, CONNECTIONS = 64, WAITING = 4 };
/* Seconds that a connection may be silent: before it has shown the token, and after. */
static const unsigned stranger_seconds = 5, page_seconds = 120;
static const size_t most_body = (size_t)64 << 20;

/* The functions of libmicrohttpd that are used. It is loaded when a server starts: with it come ten
 * libraries, which no other verb needs. */
#define HTTP_FUNCTIONS                                                                             \
    HTTP(add_response_header)                                                                      \
    HTTP(create_response_from_buffer)                                                              \
    HTTP(destroy_response)                                                                         \
    HTTP(get_connection_info)                                                                      \
    HTTP(get_daemon_info)                                                                          \
    HTTP(lookup_connection_value)                                                                  \
    HTTP(queue_response)                                                                           \
    HTTP(set_connection_option)                                                                    \
    HTTP(start_daemon)                                                                             \
    HTTP(stop_daemon)

typedef struct http {
    void *handle;
#define HTTP(name) __typeof__(MHD_##name) *name;
    HTTP_FUNCTIONS
#undef HTTP
} http;

/* A page and its engine. name "": free. */
typedef struct slot {
    char name[NAME + 1];
    pthread_mutex_t mutex; /* held while the engine computes */
    studio *engine;
    int users;           /* requests that compute or wait */
    double last;         /* when it was last used */
    unsigned long calls; /* each has a number: one that is not the last any more ends */
    int socket;          /* of the one that computes */
    studio_server *server;
    unsigned long running;
} slot;

struct studio_server {
    studio_serving how;
    http http;
    struct MHD_Daemon *daemon;
    char token[TOKEN + 1], address[ADDRESS], host[2][64];
    pthread_mutex_t mutex; /* of what follows */
    slot page[PAGES];
    int busy;
    double last;
    atomic_int ending;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- jobs -------------------------------------------------------------------------------------*/

/* Asked by the engine: the server ends, the browser has gone, or a newer request of the page
 * waits. */
static int should_stop(void *user)
{
    slot *p = user;
    char byte;
    if (atomic_load(&p->server->ending))
        return 1;
    pthread_mutex_lock(&p->server->mutex);
    int newer = p->calls != p->running;
    pthread_mutex_unlock(&p->server->mutex);
    return newer || recv(p->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* The page of that name, one more user of it; NULL: too many are at work. */
static slot *take_page(studio_server *s, const char *name)
{
    slot *found = NULL, *oldest = NULL;
    pthread_mutex_lock(&s->mutex);
    for (int i = 0; i < PAGES; i++) {
        slot *p = &s->page[i];
        if (strcmp(p->name, name) == 0)
            found = p;
        if (p->users == 0 && (!oldest || p->last < oldest->last))
            oldest = p;
    }
    if (!found && oldest) {
        studio_close(oldest->engine);
        oldest->engine = NULL;
        snprintf(oldest->name, sizeof oldest->name, "%s", name);
        found = oldest;
    }
    if (found && found->users < WAITING) {
        found->users++;
        found->calls++;
        found->last = now();
    } else {
        found = NULL;
    }
    pthread_mutex_unlock(&s->mutex);
    return found;
}

static void leave_page(studio_server *s, slot *p)
{
    pthread_mutex_lock(&s->mutex);
    p->users--;
    p->last = now();
    pthread_mutex_unlock(&s->mutex);
}

static void cancel_page(studio_server *s, const char *name)
{
    pthread_mutex_lock(&s->mutex);
    for (int i = 0; i < PAGES; i++)
        if (strcmp(s->page[i].name, name) == 0)
            s->page[i].calls++;
    pthread_mutex_unlock(&s->mutex);
}

/* ---- answers ----------------------------------------------------------------------------------*/

typedef struct upload {
    char *bytes;
    size_t count, capacity;
    int refused; /* status that it will be answered with; 0: none */
} upload;

static enum MHD_Result answer(const studio_server *s, struct MHD_Connection *c, unsigned status,
                              const char *type, const char *bytes, size_t count)
{
    struct MHD_Response *r = s->http.create_response_from_buffer(count, (void *)(uintptr_t)bytes,
                                                                 MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    s->http.add_response_header(r, "Content-Type", type);
    s->http.add_response_header(r, "Cache-Control", "no-store");
    s->http.add_response_header(r, "X-Content-Type-Options", "nosniff");
    s->http.add_response_header(r, "X-Frame-Options", "DENY");
    s->http.add_response_header(r, "Referrer-Policy", "no-referrer");
    s->http.add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        s->http.add_response_header(r, "Allow", "GET, POST");
    if (status == MHD_HTTP_FORBIDDEN)
        s->http.add_response_header(r, "Connection", "close");
    enum MHD_Result queued = s->http.queue_response(c, status, r);
    s->http.destroy_response(r);
    return queued;
}

static enum MHD_Result refuse(const studio_server *s, struct MHD_Connection *c, unsigned status,
                              const char *why)
{
    char line[160];
    int length = snprintf(line, sizeof line, "%u %s\n", status, why);
    return answer(s, c, status, "text/plain", line, (size_t)length);
}

/* As long for equal texts as for others of that length. */
static int same(const char *a, const char *b, size_t length)
{
    unsigned char differ = 0;
    for (size_t i = 0; i < length; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

static const char *header(const studio_server *s, struct MHD_Connection *c, const char *name)
{
    return s->http.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* What follows the token in the path; NULL: the request is not from the studio's own page. */
static const char *entrance(studio_server *s, struct MHD_Connection *c, const char *path)
{
    const char *host = header(s, c, "Host"), *origin = header(s, c, "Origin");
    int known = 0, mine = !origin;
    for (int i = 0; i < 2; i++) {
        known |= host && strcmp(host, s->host[i]) == 0;
        mine |= origin && strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, s->host[i]) == 0;
    }
    if (!known || !mine || path[0] != '/' || strlen(path) < TOKEN + 2 || path[TOKEN + 1] != '/' ||
        !same(path + 1, s->token, TOKEN))
        return NULL;
    return path + TOKEN + 2;
}

static enum MHD_Result compute(studio_server *s, struct MHD_Connection *c, const char *name,
                               const upload *body)
{
    slot *p = take_page(s, name);
    if (!p)
        return refuse(s, c, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests at once");
    pthread_mutex_lock(&s->mutex);
    unsigned long number = p->calls;
    pthread_mutex_unlock(&s->mutex);
    pthread_mutex_lock(&p->mutex);
    pthread_mutex_lock(&s->mutex);
    int late = p->calls != number;
    p->running = number;
    pthread_mutex_unlock(&s->mutex);
    enum MHD_Result result;
    if (!p->engine && !late) {
        studio_config config = s->how.engine;
        config.stop = should_stop;
        config.user = p;
        p->engine = studio_open(&config);
    }
    if (late) {
        result = refuse(s, c, MHD_HTTP_CONFLICT, "a newer request took its place");
    } else if (!p->engine) {
        result = refuse(s, c, MHD_HTTP_INSUFFICIENT_STORAGE, "no memory");
    } else {
        const union MHD_ConnectionInfo *info = s->http.get_connection_info(
            c, MHD_CONNECTION_INFO_CONNECTION_FD);
        size_t count;
        p->socket = info ? info->connect_fd : -1;
        const char *bytes = studio_answer(p->engine, body->bytes ? body->bytes : "", body->count,
                                          &count);
        result = answer(s, c, MHD_HTTP_OK, "application/json", bytes, count);
    }
    pthread_mutex_unlock(&p->mutex);
    leave_page(s, p);
    return result;
}

/* Letters and digits only; "" otherwise. */
static const char *page_name(const studio_server *s, struct MHD_Connection *c)
{
    const char *name = s->http.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "page");
    size_t length = name ? strlen(name) : 0;
    if (length == 0 || length > NAME ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != length)
        return "";
    return name;
}

static enum MHD_Result post(studio_server *s, struct MHD_Connection *c, const char *what,
                            const upload *body)
{
    const char *type = header(s, c, "Content-Type"), *name = page_name(s, c);
    if (body->refused)
        return refuse(s, c, (unsigned)body->refused, "the request is too large");
    if (!type || strncmp(type, "application/json", 16) != 0)
        return refuse(s, c, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "JSON is needed");
    if (!*name)
        return refuse(s, c, MHD_HTTP_BAD_REQUEST, "which page?");
    if (strcmp(what, "api") == 0)
        return compute(s, c, name, body);
    if (strcmp(what, "cancel") == 0) {
        cancel_page(s, name);
        return answer(s, c, MHD_HTTP_OK, "application/json", "{}", 2);
    }
    return refuse(s, c, MHD_HTTP_NOT_FOUND, "there is nothing here");
}

static enum MHD_Result whole(studio_server *s, struct MHD_Connection *c, const char *path,
                             const char *method, const upload *body)
{
    const char *what = entrance(s, c, path);
    if (!what)
        return refuse(s, c, MHD_HTTP_FORBIDDEN, "this is not the studio's own page");
    if (strcmp(method, "POST") == 0)
        return post(s, c, what, body);
    if (strcmp(method, "GET") != 0)
        return refuse(s, c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and POST only");
    if (*what)
        return refuse(s, c, MHD_HTTP_NOT_FOUND, "there is nothing here");
    return answer(s, c, MHD_HTTP_OK, "text/html; charset=utf-8", s->how.page, s->how.page_bytes);
}

/* ---- libmicrohttpd ----------------------------------------------------------------------------*/

static void take_bytes(studio_server *s, upload *body, const char *data, size_t count)
{
    if (body->refused)
        return;
    if (count > s->how.body_bytes - body->count) {
        body->refused = MHD_HTTP_CONTENT_TOO_LARGE;
        return;
    }
    if (body->count + count > body->capacity) {
        size_t capacity = 2 * (body->count + count);
        char *bytes = realloc(body->bytes, capacity);
        if (!bytes) {
            body->refused = MHD_HTTP_INSUFFICIENT_STORAGE;
            return;
        }
        body->bytes = bytes;
        body->capacity = capacity;
    }
    memcpy(body->bytes + body->count, data, count);
    body->count += count;
}

static void count_busy(studio_server *s, int step)
{
    pthread_mutex_lock(&s->mutex);
    s->busy += step;
    s->last = now();
    pthread_mutex_unlock(&s->mutex);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *count, void **state)
{
    studio_server *s = user;
    upload *body = *state;
    (void)version;
    if (!body) {
        /* Before the body is read: whoever may not ask need not send it. */
        if (!entrance(s, c, path))
            return refuse(s, c, MHD_HTTP_FORBIDDEN, "this is not the studio's own page");
        s->http.set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, page_seconds);
        body = calloc(1, sizeof *body);
        *state = body;
        if (body)
            count_busy(s, 1);
        return body ? MHD_YES : MHD_NO;
    }
    if (*count > 0) {
        take_bytes(s, body, data, *count);
        *count = 0;
        return MHD_YES;
    }
    return whole(s, c, path, method, body);
}

static void on_end(void *user, struct MHD_Connection *c, void **state,
                   enum MHD_RequestTerminationCode why)
{
    upload *body = *state;
    (void)c;
    (void)why;
    if (!body)
        return;
    count_busy(user, -1);
    free(body->bytes);
    free(body);
    *state = NULL;
}

/* ---- life -------------------------------------------------------------------------------------*/

/* NULL, or why not. */
static const char *load(http *h)
{
    h->handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!h->handle)
        return "it needs libmicrohttpd, which is not installed: install libmicrohttpd12";
#define HTTP(name)                                                                                 \
    *(void **)&h->name = dlsym(h->handle, "MHD_" #name);                                           \
    if (!h->name)                                                                                  \
        return "this libmicrohttpd has no MHD_" #name ": install a newer one";
    HTTP_FUNCTIONS
#undef HTTP
    return NULL;
}

static int make_token(studio_server *s)
{
    unsigned char random[TOKEN / 2];
    if (s->how.token) {
        if (strlen(s->how.token) != TOKEN)
            return 0;
        memcpy(s->token, s->how.token, TOKEN + 1);
        return 1;
    }
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return 0;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(s->token + 2 * i, 3, "%02x", random[i]);
    return 1;
}

static void release(studio_server *s)
{
    for (int i = 0; i < PAGES; i++) {
        studio_close(s->page[i].engine);
        pthread_mutex_destroy(&s->page[i].mutex);
    }
    pthread_mutex_destroy(&s->mutex);
    if (s->http.handle)
        dlclose(s->http.handle);
    free(s);
}

/* The port that the system chose. */
static int port_of(const studio_server *s)
{
    const union MHD_DaemonInfo *info = s->http.get_daemon_info(s->daemon,
                                                               MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

studio_server *studio_server_start(const studio_serving *how, const char **why)
{
    studio_server *s = calloc(1, sizeof *s);
    *why = "there is no memory";
    if (!s)
        return NULL;
    s->how = *how;
    if (s->how.body_bytes == 0)
        s->how.body_bytes = most_body;
    pthread_mutex_init(&s->mutex, NULL);
    for (int i = 0; i < PAGES; i++) {
        pthread_mutex_init(&s->page[i].mutex, NULL);
        s->page[i].server = s;
    }
    s->last = now();
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)how->port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *why = load(&s->http);
    if (!*why && !make_token(s))
        *why = "there are no random numbers for its address";
    if (!*why) {
        s->daemon = s->http.start_daemon(
            MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL,
            (uint16_t)how->port, NULL, NULL, on_request, s, MHD_OPTION_SOCK_ADDR,
            (struct sockaddr *)&here, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
            MHD_OPTION_CONNECTION_TIMEOUT, stranger_seconds, MHD_OPTION_NOTIFY_COMPLETED, on_end, s,
            MHD_OPTION_END);
        *why = "its port at 127.0.0.1 is taken, or may not be used";
    }
    if (!s->daemon) {
        release(s);
        return NULL;
    }
    int port = port_of(s);
    snprintf(s->host[0], sizeof s->host[0], "127.0.0.1:%d", port);
    snprintf(s->host[1], sizeof s->host[1], "localhost:%d", port);
    snprintf(s->address, sizeof s->address, "http://%s/%s/", s->host[0], s->token);
    return s;
}

void studio_server_stop(studio_server *s)
{
    if (!s)
        return;
    atomic_store(&s->ending, 1);
    s->http.stop_daemon(s->daemon);
    release(s);
}

const char *studio_server_address(const studio_server *s)
{
    return s->address;
}

double studio_server_idle(studio_server *s)
{
    pthread_mutex_lock(&s->mutex);
    double idle = s->busy > 0 ? 0 : now() - s->last;
    pthread_mutex_unlock(&s->mutex);
    return idle;
}
