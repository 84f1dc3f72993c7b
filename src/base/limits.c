/* limits.c: how much memory a context may allocate, and how much of it a file may cause.
 *
 * Every block is counted. The limit for all blocks together is the limit for data plus the memory
 * budget plus a small reserve. While a file is read, a lower limit applies: the limit for data and,
 * unless the user has set that, a multiple of the bytes read so far. So a file of a kilobyte that
 * claims to hold a gigabyte is refused before anything is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/limits.h"

#include <stdio.h>
#include <time.h>

static const size_t SLACK = (size_t)32 << 20; /* for everything except data and kernel values */
static const size_t FLOOR = (size_t)32 << 20; /* what any file may use while it is read */
enum { EXPANSION = 64 }; /* and this much per byte read: text grows by a factor of 30 at most */
static const uint64_t UNPACKED_FREELY = (uint64_t)4 << 20;
enum { UNPACKED_RATIO = 250, UNPACKED_TIMES_LIMIT = 16 };

static size_t add(size_t a, size_t b)
{
    size_t sum;
    return mcr_size_add(a, b, &sum) ? sum : SIZE_MAX;
}

static size_t multiply(size_t a, size_t b)
{
    size_t product;
    return mcr_size_mul(a, b, &product) ? product : SIZE_MAX;
}

const char *mcr_size_text(size_t bytes, char text[MCR_SIZE_TEXT])
{
    static const char *const unit[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
    size_t whole = bytes, part = 0;
    int u = 0;
    while (whole >= 1000 && u < 6) {
        part = whole % 1000 / 100;
        whole /= 1000;
        u++;
    }
    if (u == 0 || whole >= 100)
        snprintf(text, MCR_SIZE_TEXT, "%zu %s", whole, unit[u]);
    else
        snprintf(text, MCR_SIZE_TEXT, "%zu.%zu %s", whole, part, unit[u]);
    return text;
}

size_t mcr_reading_most(const mcr *ctx, size_t bytes)
{
    size_t own = add(FLOOR, multiply(EXPANSION, bytes));
    return ctx->data_limit_given || own > ctx->config.data_bytes ? ctx->config.data_bytes : own;
}

/* The memory that the file being read may cause. */
static size_t allowance(const mcr *ctx)
{
    return mcr_reading_most(ctx, ctx->reading.bytes);
}

static void set_limit(mcr *ctx)
{
    size_t limit = add(add(ctx->config.data_bytes, ctx->config.memory_bytes), SLACK);
    if (ctx->reading.depth > 0) {
        size_t most = add(ctx->reading.before, allowance(ctx));
        most = most < ctx->config.data_bytes ? most : ctx->config.data_bytes;
        limit = most < limit ? most : limit;
    }
    __atomic_store_n(&ctx->limit, limit, __ATOMIC_RELAXED);
}

void mcr_limits_open(mcr *ctx)
{
    set_limit(ctx);
}

void mcr_reading_begin(mcr *ctx, const char *name, size_t bytes)
{
    if (ctx->reading.depth++ == 0) {
        ctx->reading.name = name;
        ctx->reading.bytes = bytes;
        ctx->reading.before = __atomic_load_n(&ctx->taken, __ATOMIC_RELAXED);
        set_limit(ctx);
    }
}

void mcr_reading_bytes(mcr *ctx, size_t bytes)
{
    if (ctx->reading.depth == 0)
        return;
    ctx->reading.bytes = add(ctx->reading.bytes, bytes);
    set_limit(ctx);
}

void mcr_reading_end(mcr *ctx)
{
    ctx->reading.depth--;
    set_limit(ctx);
}

/* Reports why `bytes` more cannot be allocated. */
static void refuse(mcr *ctx, size_t bytes, size_t taken)
{
    char need[MCR_SIZE_TEXT], all[MCR_SIZE_TEXT], size[MCR_SIZE_TEXT];
    mcr_size_text(bytes, need);
    if (ctx->reading.depth == 0) {
        mcr_fail(
            ctx, MCR_NO_MEMORY,
            "%s more are needed, but the limit for data and the memory budget allow %s in all: "
            "allow more, or use less data",
            need, mcr_size_text(ctx->limit, all));
    } else if (ctx->data_limit_given || add(taken, bytes) > ctx->config.data_bytes) {
        mcr_fail_at(
            ctx, MCR_NO_MEMORY, ctx->reading.name, 0,
            "%s more are needed, but the limit for data is %s: allow more, or use less data", need,
            mcr_size_text(ctx->config.data_bytes, all));
    } else {
        mcr_fail_at(ctx, MCR_NO_MEMORY, ctx->reading.name, 0,
                    "%s more are needed for what takes %s in the file, which is out of all "
                    "proportion: if the file can be trusted, set the limit for data",
                    need, mcr_size_text(ctx->reading.bytes, size));
    }
    mcr_advise(ctx, MCR_NO_MEMORY, "data-limit");
}

bool mcr_memory_admit(mcr *ctx, size_t bytes)
{
    size_t now = __atomic_add_fetch(&ctx->taken, bytes, __ATOMIC_RELAXED);
    if (now <= __atomic_load_n(&ctx->limit, __ATOMIC_RELAXED) && now >= bytes)
        return true;
    __atomic_sub_fetch(&ctx->taken, bytes, __ATOMIC_RELAXED);
    refuse(ctx, bytes, now - bytes);
    return false;
}

void mcr_memory_release(mcr *ctx, size_t bytes)
{
    __atomic_sub_fetch(&ctx->taken, bytes, __ATOMIC_RELAXED);
}

bool mcr_reading_allows(const mcr *ctx, size_t bytes)
{
    return ctx->reading.depth == 0 || bytes <= allowance(ctx);
}

mcr_status mcr_reading_unpacked(mcr *ctx, const char *name, uint64_t packed, uint64_t unpacked)
{
    char size[MCR_SIZE_TEXT];
    if (ctx->data_limit_given) {
        if (unpacked / UNPACKED_TIMES_LIMIT <= ctx->config.data_bytes)
            return MCR_OK;
        return mcr_advise(
            ctx,
            mcr_fail_at(ctx, MCR_BAD_DATA, name, 0,
                        "unpacks to more than %d times the limit for data, which is %s",
                        UNPACKED_TIMES_LIMIT, mcr_size_text(ctx->config.data_bytes, size)),
            "data-limit");
    }
    if (unpacked <= UNPACKED_FREELY || unpacked / UNPACKED_RATIO <= packed)
        return MCR_OK;
    return mcr_advise(ctx,
                      mcr_fail_at(ctx, MCR_BAD_DATA, name, 0,
                                  "unpacks to more than %d times its size, as decompression bombs "
                                  "do: if the file can be trusted, set the limit for data",
                                  UNPACKED_RATIO),
                      "data-limit");
}

/* ---- work -------------------------------------------------------------------------------------*/

static const double STEPS_A_SECOND = 3e8; /* of one thread */
static const double WORK_SECONDS = 3600, PREDICT_SECONDS = 20;
static const double BYTES_A_SECOND = 1e6; /* of a file, at the least */

void mcr_predicting(mcr *ctx, bool begins)
{
    ctx->predicting += begins ? 1 : -1;
}

mcr_status mcr_work_allow(mcr *ctx, double steps, const char *who)
{
    double limit = ctx->config.work_seconds;
    if (!(limit > 0))
        limit = ctx->predicting > 0 ? PREDICT_SECONDS : WORK_SECONDS;
    double seconds = steps / STEPS_A_SECOND / ctx->config.threads;
    if (seconds <= limit)
        return MCR_OK;
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_OVER_BUDGET,
                               "%s: this would take about %.2g s, and the limit for work is %.6g "
                               "s: choose smaller parameters, use less data, or allow more",
                               who, seconds, limit),
                      "work-limit");
}

double mcr_work_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

mcr_status mcr_work_spent(mcr *ctx, double seconds, double bytes, const char *file)
{
    double limit = ctx->config.work_seconds;
    if (!(limit > 0))
        limit = PREDICT_SECONDS + bytes / BYTES_A_SECOND;
    if (seconds <= limit)
        return MCR_OK;
    return mcr_advise(ctx,
                      mcr_fail_at(ctx, MCR_OVER_BUDGET, file, 0,
                                  "reading it has taken %.3g s, which is the limit for work: use "
                                  "less of it, or allow more",
                                  limit),
                      "work-limit");
}
