/* context.c: opening and closing a context, its messages, its callbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/resume.h"
#include "base/sized.h"
#include "base/system.h"
#include "base/worker.h"

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

enum { MAX_THREADS = 1024 };

const char *mcr_status_name(mcr_status status)
{
    switch (status) {
    case MCR_OK: return "ok";
    case MCR_NO_MEMORY: return "out of memory";
    case MCR_BAD_CALL: return "bad call";
    case MCR_BAD_DATA: return "bad data";
    case MCR_IO: return "input or output failed";
    case MCR_OVER_BUDGET: return "over the memory budget";
    case MCR_NUMERIC: return "numeric failure";
    case MCR_STOPPED: return "stopped";
    }
    return "unknown status";
}

static mcr_status read_config(mcr_config *to, const mcr_config *from)
{
    mcr_status status = MCR_SIZED_READ(mcr_config, to, NULL, from);
    if (status)
        return status;
    if (to->threads < 0 || to->threads > MAX_THREADS || !(to->work_seconds >= 0))
        return MCR_BAD_CALL;
    return MCR_OK;
}

static mcr_status make_locks(mcr *ctx)
{
    pthread_mutexattr_t recursive;
    mcr_status status = MCR_NO_MEMORY;
    if (pthread_mutex_init(&ctx->lock, NULL) != 0)
        return MCR_NO_MEMORY;
    if (pthread_mutexattr_init(&recursive) == 0) {
        if (pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE) == 0 &&
            pthread_mutex_init(&ctx->callback_lock, &recursive) == 0)
            status = MCR_OK;
        pthread_mutexattr_destroy(&recursive);
    }
    if (status != MCR_OK)
        pthread_mutex_destroy(&ctx->lock);
    return status;
}

mcr_status mcr_open(mcr **out, const mcr_config *config)
{
    if (out == NULL)
        return MCR_BAD_CALL;
    *out = NULL;
    mcr_config full;
    mcr_status status = read_config(&full, config);
    if (status != MCR_OK)
        return status;
    if (full.realloc == NULL)
        full.realloc = mcr_default_realloc;
    if (full.threads == 0)
        full.threads = mcr_system_cores();
    bool data_limit_given = full.data_bytes > 0;
    size_t half = data_limit_given && full.memory_bytes > 0 ? 0 : mcr_system_memory() / 2;
    if (full.memory_bytes == 0)
        full.memory_bytes = half;
    if (!data_limit_given)
        full.data_bytes = half;
    if (full.seed == 0)
        full.seed = 1;
    mcr *ctx = full.realloc(full.user, NULL, 0, sizeof *ctx);
    if (ctx == NULL)
        return MCR_NO_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->config = full;
    ctx->data_limit_given = data_limit_given;
    mcr_system_draw(ctx->hash_key);
    ctx->hash_key[1] |= 1;
    mcr_limits_open(ctx);
    status = make_locks(ctx);
    if (status != MCR_OK) {
        full.realloc(full.user, ctx, sizeof *ctx, 0);
        return status;
    }
    if (full.threads > 1)
        status = mcr_pool_open(ctx);
    if (status != MCR_OK) {
        mcr_close(ctx);
        return status;
    }
    *out = ctx;
    return MCR_OK;
}

void mcr_extensions_free(mcr *ctx)
{
    mcr_free_each(ctx, ctx->extra_kernels, ctx->extra_kernel_count);
    mcr_free_each(ctx, ctx->extra_learners, ctx->extra_learner_count);
    mcr_free(ctx, ctx->extra_functions);
    ctx->extra_learners = NULL;
    ctx->extra_learner_count = 0;
    for (int64_t i = 0; i < ctx->kept_count; i++)
        ctx->kept[i].release(ctx->kept[i].user);
    mcr_free(ctx, ctx->kept);
    ctx->kept = NULL;
    ctx->kept_count = ctx->kept_capacity = 0;
    ctx->extra_kernels = NULL;
    ctx->extra_functions = NULL;
    ctx->extra_kernel_count = ctx->extra_function_count = 0;
}

void mcr_close(mcr *ctx)
{
    if (ctx == NULL)
        return;
    mcr_pool_close(ctx);
    mcr_resume_close(ctx);
    mcr_free(ctx, ctx->checkpoint);
    mcr_extensions_free(ctx);
    pthread_mutex_destroy(&ctx->callback_lock);
    pthread_mutex_destroy(&ctx->lock);
    mcr_config config = ctx->config;
    config.realloc(config.user, ctx, sizeof *ctx, 0);
}

mcr_status mcr_keep_reserve(mcr *ctx)
{
    return mcr_reserve(ctx, &ctx->kept, &ctx->kept_capacity, ctx->kept_count + 1,
                       sizeof *ctx->kept);
}

void mcr_keep(mcr *ctx, void (*release)(void *user), void *user)
{
    ctx->kept[ctx->kept_count++] = (mcr_kept){release, user};
}

void mcr_stop_threads(mcr *ctx)
{
    mcr_pool_close(ctx);
    ctx->config.threads = 1;
}

void mcr_bytes_free(mcr *ctx, void *bytes)
{
    mcr_free(ctx, bytes);
}

bool mcr_once(mcr *ctx, int *state, bool (*make)(mcr *ctx))
{
    enum { NOT_YET, YES, NO };
    int now = __atomic_load_n(state, __ATOMIC_ACQUIRE);
    if (now == NOT_YET) {
        pthread_mutex_lock(&ctx->lock);
        now = *state;
        if (now == NOT_YET) {
            now = make(ctx) ? YES : NO;
            __atomic_store_n(state, now, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&ctx->lock);
    }
    return now == YES;
}

const char *mcr_message(const mcr *ctx)
{
    return ctx != NULL ? ctx->message : "";
}

const char *mcr_message_file(const mcr *ctx)
{
    return ctx->file[0] != '\0' ? ctx->file : NULL;
}

int64_t mcr_message_line(const mcr *ctx)
{
    return ctx->line;
}

const char *mcr_message_id(const mcr *ctx)
{
    return ctx->id;
}

int mcr_threads(const mcr *ctx)
{
    return ctx->config.threads;
}

uint64_t mcr_seed(const mcr *ctx)
{
    return ctx->config.seed;
}

size_t mcr_memory_budget(const mcr *ctx)
{
    return ctx->config.memory_bytes;
}

const char *mcr_version(void)
{
    return VALUE_OF(MCR_VERSION_MAJOR) "." VALUE_OF(MCR_VERSION_MINOR) "." VALUE_OF(
        MCR_VERSION_PATCH);
}

/* Messages quote files and arguments with arbitrary content: protects terminals and logs. Cuts at a
 * whole UTF-8 character, because the text may have been truncated to fit. */
static void clean(char *text, bool was_cut)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];
        if (c < 0x20 || c == 0x7f)
            text[i] = '?';
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0) /* U+0080 to U+009F */
            text[i] = text[i + 1] = '?';
    }
    if (!was_cut || length == 0)
        return;
    size_t start = length; /* of the last character */
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xc0) {
        unsigned char lead = (unsigned char)text[start - 1];
        size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (length - (start - 1) < whole)
            text[start - 1] = '\0';
    }
}

static bool quotes(const char *text, const char *old)
{
    return old[0] != '\0' && strstr(text, old) != NULL;
}

/* Writes "text" or "FILE:LINE: text". The new message is built in a separate buffer first, because
 * an argument may be the old message. */
static mcr_status set_message(mcr *ctx, mcr_status status, const char *file, int64_t line,
                              const char *format, va_list args)
{
    char text[MCR_MESSAGE_MAX], name[MCR_FILE_MAX] = "";
    int head = 0;
    if (file != NULL) {
        snprintf(name, sizeof name, "%s", file);
        if (line > 0)
            head = snprintf(text, sizeof text, "%s:%lld: ", file, (long long)line);
        else
            head = snprintf(text, sizeof text, "%s: ", file);
    }
    int whole = head;
    if (head >= 0 && head < MCR_MESSAGE_MAX) {
        int tail = vsnprintf(text + head, sizeof text - (size_t)head, format, args);
        if (tail < 0)
            text[head] = '\0';
        else
            whole = tail > MCR_MESSAGE_MAX ? tail : head + tail;
    }
    clean(text, whole < 0 || whole >= MCR_MESSAGE_MAX);

    mcr_failure *own = mcr_worker_failure();
    if (own != NULL && own->ctx == ctx) {
        own->id = quotes(text, own->message) ? own->id : NULL;
        memcpy(own->message, text, sizeof text);
        memcpy(own->file, name, sizeof name);
        own->line = file != NULL ? line : 0;
        return status;
    }
    pthread_mutex_lock(&ctx->lock);
    ctx->id = quotes(text, ctx->message) ? ctx->id : NULL;
    memcpy(ctx->message, text, sizeof text);
    memcpy(ctx->file, name, sizeof name);
    ctx->line = file != NULL ? line : 0;
    ctx->mark_text[0] = '\0';
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

mcr_status mcr_fail(mcr *ctx, mcr_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_message(ctx, status, NULL, 0, format, args);
    va_end(args);
    return status;
}

mcr_status mcr_fail_at(mcr *ctx, mcr_status status, const char *file, int64_t line,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_message(ctx, status, file, line, format, args);
    va_end(args);
    return status;
}

mcr_status mcr_advise(mcr *ctx, mcr_status status, const char *id)
{
    mcr_failure *own = mcr_worker_failure();
    if (own != NULL && own->ctx == ctx) {
        own->id = id;
        return status;
    }
    pthread_mutex_lock(&ctx->lock);
    ctx->id = id;
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

void mcr_log(mcr *ctx, int level, const char *format, ...)
{
    if (ctx->config.log == NULL)
        return;
    char text[MCR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        return;
    clean(text, length >= MCR_MESSAGE_MAX);
    pthread_mutex_lock(&ctx->callback_lock);
    ctx->config.log(ctx->config.user, level, text);
    pthread_mutex_unlock(&ctx->callback_lock);
}

void mcr_deadline_set(mcr *ctx, double seconds)
{
    if (ctx->covered) /* the estimate for the whole search applies */
        return;
    ctx->deadline = seconds > 0 ? mcr_now() + seconds : 0;
    ctx->whole_since = 0;
    ctx->user_stopped = false;
}

void mcr_deadline_set_whole(mcr *ctx, double seconds)
{
    mcr_deadline_set(ctx, seconds);
    if (!ctx->covered && seconds > 0)
        ctx->whole_since = mcr_now();
}

/* Whether such work will take far too long. The first estimates may be misleading, so that it
 * always gets a tenth of the time. */
static bool is_hopeless(const mcr *ctx, double fraction, double now)
{
    double spent = now - ctx->whole_since, allowed = ctx->deadline - ctx->whole_since;
    return ctx->whole_since > 0 && fraction > 0 && spent > fmax(0.01, 0.1 * allowed) &&
           spent > 2 * fraction * allowed;
}

bool mcr_deadline_passed(const mcr *ctx, double now)
{
    return ctx->deadline > 0 && !__atomic_load_n(&ctx->user_stopped, __ATOMIC_RELAXED) &&
           now > ctx->deadline;
}

bool mcr_deadline_over(const mcr *ctx)
{
    return ctx->deadline > 0 && mcr_deadline_passed(ctx, mcr_now());
}

void mcr_cancel(mcr *ctx, int wanted)
{
    __atomic_store_n(&ctx->cancelled, wanted != 0, __ATOMIC_RELEASE);
}

mcr_status mcr_progress_last(mcr *ctx, mcr_progress *out)
{
    pthread_mutex_lock(&ctx->lock);
    mcr_progress seen = ctx->seen;
    pthread_mutex_unlock(&ctx->lock);
    return MCR_SIZED_WRITE(mcr_progress, out, NULL, &seen);
}

bool mcr_report(mcr *ctx, const mcr_progress *now)
{
    double time = ctx->deadline > 0 ? mcr_now() : 0;
    bool late = ctx->deadline > 0 &&
                (time > ctx->deadline || is_hopeless(ctx, now->fraction, time));
    int stop = __atomic_load_n(&ctx->cancelled, __ATOMIC_ACQUIRE);
    pthread_mutex_lock(&ctx->callback_lock);
    mcr_progress sized = ctx->covered ? ctx->cover : *now;
    sized.size = sizeof sized;
    pthread_mutex_lock(&ctx->lock);
    ctx->seen = sized;
    pthread_mutex_unlock(&ctx->lock);
    if (ctx->config.progress != NULL && ctx->config.progress(ctx->config.user, &sized) != 0)
        stop = 1;
    if (stop != 0)
        __atomic_store_n(&ctx->user_stopped, true, __ATOMIC_RELAXED); /* workers read it */
    pthread_mutex_unlock(&ctx->callback_lock);
    return stop != 0 || late;
}

bool mcr_report_step(mcr *ctx, const char *phase, double seconds, int64_t step, double objective,
                     double violation)
{
    mcr_progress now = {.phase = phase,
                        .fraction = NAN,
                        .seconds = seconds,
                        .step = step,
                        .objective = objective,
                        .violation = violation};
    return phase && mcr_report(ctx, &now);
}

bool mcr_report_part(mcr *ctx, const char *phase, double fraction, double seconds)
{
    mcr_progress now = {.phase = phase,
                        .fraction = fraction,
                        .seconds = seconds,
                        .objective = NAN,
                        .violation = NAN};
    return phase && mcr_report(ctx, &now);
}

mcr_status mcr_part_done(mcr *ctx, const char *phase, double fraction, double seconds)
{
    return mcr_report_part(ctx, phase, fraction, seconds)
               ? mcr_fail(ctx, MCR_STOPPED, "interrupted")
               : MCR_OK;
}

bool mcr_cover(mcr *ctx, const mcr_progress *now)
{
    pthread_mutex_lock(&ctx->callback_lock);
    bool mine = !ctx->covered;
    if (mine) {
        ctx->covered = true;
        ctx->cover = *now;
    }
    pthread_mutex_unlock(&ctx->callback_lock);
    return mine;
}

void mcr_cover_set(mcr *ctx, const mcr_progress *now)
{
    pthread_mutex_lock(&ctx->callback_lock);
    ctx->cover = *now;
    pthread_mutex_unlock(&ctx->callback_lock);
}

void mcr_uncover(mcr *ctx)
{
    pthread_mutex_lock(&ctx->callback_lock);
    ctx->covered = false;
    pthread_mutex_unlock(&ctx->callback_lock);
}

const char *mcr_last_message(const mcr *ctx)
{
    const mcr_failure *own = mcr_worker_failure();
    return own && own->ctx == ctx ? own->message : mcr_message(ctx);
}

double mcr_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
