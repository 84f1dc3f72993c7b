/* ranks.c: agreement, sums and bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ranks.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { OP_END = 1, OP_SUM, OP_LARGEST, OP_GATHER, OP_COLLECT };

/* Numbers per message: counts are int, and a long message can be sent in parts. */
enum { AT_ONCE = 1 << 26 };

/* ---- waiting ----------------------------------------------------------------------------------*/

static void give_up(const ranks *r)
{
    fprintf(stderr,
            "mercer-mpi: rank %d has waited %.0f seconds for the others: one of them hangs, or "
            "works longer (--timeout SECONDS)\n",
            r->team.rank, r->limit);
    fflush(stderr);
    MPI_Abort(r->comm, 1);
}

/* Waits for a message. Unlike MPI_Wait, it lets other ranks on the same core work. */
static void finish(ranks *r, MPI_Request *request)
{
    enum { QUICK = 200, MOST_NAP = 1000000 };
    double began = mcr_now();
    long nap = 2000; /* nanoseconds */
    int done = 0;
    /* Staggered, so that the lowest waiting rank reports it. */
    double limit = r->limit + 0.2 * r->team.rank;
    for (int64_t i = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done; i++) {
        if (i < QUICK) {
            sched_yield();
            continue;
        }
        nanosleep(&(struct timespec){0, nap}, NULL);
        nap = nap < MOST_NAP ? nap + nap / 4 : nap;
        if (mcr_now() - began > limit)
            give_up(r);
    }
    r->waited += mcr_now() - began;
}

static void reduce(ranks *r, void *x, int64_t count, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;
    r->messages++;
    r->bytes += (double)count * sizeof(double);
    MPI_Iallreduce(MPI_IN_PLACE, x, (int)count, type, op, r->comm, &request);
    finish(r, &request);
}

static void broadcast(ranks *r, void *bytes, int count, int root)
{
    MPI_Request request;
    MPI_Ibcast(bytes, count, MPI_CHAR, root, r->comm, &request);
    finish(r, &request);
}

/* ---- agreement --------------------------------------------------------------------------------*/

/* Whether all ranks are about to do the same. If one has failed, its message is in r->why. */
static bool agree(ranks *r, int op, int64_t count, bool fail, const char *message)
{
    int64_t v[5] = {fail ? r->team.count - r->team.rank : 0, op, -op, count, -count};
    if (r->ended)
        return false;
    reduce(r, v, 5, MPI_INT64_T, MPI_MAX);
    if (v[0] > 0) {
        r->failed = r->team.count - (int)v[0];
        if (r->failed == r->team.rank)
            snprintf(r->why, sizeof r->why, "%s", message);
        broadcast(r, r->why, sizeof r->why, r->failed);
        r->why[sizeof r->why - 1] = '\0';
    } else if (v[1] != -v[2] || v[3] != -v[4]) {
        r->failed = -1;
        snprintf(r->why, sizeof r->why,
                 "the ranks do not do the same: have all nodes the same processors and files?");
    }
    r->ended = op == OP_END || v[0] > 0 || v[1] != -v[2] || v[3] != -v[4];
    return op == OP_END ? v[0] == 0 && v[1] == -v[2] : !r->ended;
}

static mcr_status fail(const ranks *r, mcr *ctx)
{
    return r->failed < 0 ? mcr_fail(ctx, MCR_IO, "%s", r->why)
                         : mcr_fail(ctx, MCR_IO, "rank %d: %s", r->failed, r->why);
}

int ranks_end(ranks *r, int status, const char *message)
{
    if (agree(r, OP_END, 0, status != 0, message))
        return 0;
    return status ? status : 1;
}

/* ---- sums -------------------------------------------------------------------------------------*/

static mcr_status reduce_all(mcr_team *team, mcr *ctx, double *x, int64_t count, int what)
{
    ranks *r = (ranks *)team;
    if (!agree(r, what, count, false, NULL))
        return fail(r, ctx);
    for (int64_t i = 0; i < count; i += AT_ONCE)
        reduce(r, x + i, count - i < AT_ONCE ? count - i : AT_ONCE, MPI_DOUBLE,
               what == OP_SUM ? MPI_SUM : MPI_MAX);
    return MCR_OK;
}

static mcr_status sum(mcr_team *team, mcr *ctx, double *x, int64_t count)
{
    return reduce_all(team, ctx, x, count, OP_SUM);
}

static mcr_status largest(mcr_team *team, mcr *ctx, double *x, int64_t count)
{
    return reduce_all(team, ctx, x, count, OP_LARGEST);
}

mcr_status ranks_same(ranks *r, mcr *ctx, double x, bool *same)
{
    double v[2] = {x, -x};
    mcr_status s = largest(&r->team, ctx, v, 2);
    *same = v[0] == -v[1];
    return s;
}

/* ---- bytes ------------------------------------------------------------------------------------*/

static mcr_status count_bytes(ranks *r, mcr *ctx, size_t count, double *each)
{
    memset(each, 0, sizeof *each * (size_t)r->team.count);
    each[r->team.rank] = (double)count;
    return sum(&r->team, ctx, each, r->team.count);
}

mcr_status ranks_gather(ranks *r, mcr *ctx, const void *bytes, size_t count, char **all,
                        size_t **place)
{
    int ranks_count = r->team.count;
    double *each = mcr_alloc(ctx, (size_t)ranks_count, sizeof *each);
    size_t total = 0, head = sizeof **place * ((size_t)ranks_count + 1);
    *all = NULL;
    mcr_status s = each ? count_bytes(r, ctx, count, each) : MCR_NO_MEMORY;
    for (int k = 0; k < ranks_count && !s; k++)
        total += (size_t)each[k];
    char *block = s ? NULL : mcr_alloc(ctx, total + head, 1);
    if (!s && !block)
        s = MCR_NO_MEMORY;
    if (!s && !agree(r, OP_GATHER, (int64_t)total, false, NULL))
        s = fail(r, ctx);
    size_t at = 0;
    if (block)
        *place = (size_t *)(void *)block;
    for (int k = 0; k < ranks_count && !s; k++) {
        char *to = block + head + at;
        size_t own = (size_t)each[k];
        if (k == r->team.rank && own)
            memcpy(to, bytes, own);
        for (size_t i = 0; i < own; i += AT_ONCE)
            broadcast(r, to + i, own - i < AT_ONCE ? (int)(own - i) : AT_ONCE, k);
        (*place)[k] = at;
        at += own;
    }
    if (!s)
        (*place)[ranks_count] = at;
    mcr_free(ctx, each);
    if (s)
        mcr_free(ctx, block);
    else
        *all = block;
    return s;
}

static void send(ranks *r, const char *bytes, size_t count)
{
    MPI_Request request;
    for (size_t i = 0; i < count; i += AT_ONCE) {
        int part = count - i < AT_ONCE ? (int)(count - i) : AT_ONCE;
        MPI_Isend(bytes + i, part, MPI_CHAR, 0, 0, r->comm, &request);
        finish(r, &request);
    }
}

static bool receive(ranks *r, int from, size_t count, char *buffer,
                    bool (*put)(void *arg, const char *bytes, size_t count), void *arg)
{
    MPI_Request request;
    bool fine = true;
    for (size_t i = 0; i < count; i += AT_ONCE) {
        int part = count - i < AT_ONCE ? (int)(count - i) : AT_ONCE;
        MPI_Irecv(buffer, part, MPI_CHAR, from, 0, r->comm, &request);
        finish(r, &request);
        fine = fine && put(arg, buffer, (size_t)part);
    }
    return fine;
}

mcr_status ranks_collect(ranks *r, mcr *ctx, const char *bytes, size_t count,
                         bool (*put)(void *arg, const char *bytes, size_t count), void *arg)
{
    double *each = mcr_alloc(ctx, (size_t)r->team.count, sizeof *each), most = 0;
    char *buffer = NULL;
    mcr_status s = each ? count_bytes(r, ctx, count, each) : MCR_NO_MEMORY;
    for (int k = 1; k < r->team.count && !s; k++)
        most = most < each[k] ? each[k] : most;
    most = most < AT_ONCE ? most : AT_ONCE;
    if (!s && r->team.rank == 0 && !(buffer = mcr_alloc(ctx, (size_t)most, 1)))
        s = MCR_NO_MEMORY;
    if (!s && !agree(r, OP_COLLECT, 0, false, NULL))
        s = fail(r, ctx);
    bool fine = true;
    if (!s && r->team.rank > 0)
        send(r, bytes, count);
    for (int k = 1; k < r->team.count && !s && r->team.rank == 0; k++)
        fine = receive(r, k, (size_t)each[k], buffer, put, arg) && fine;
    mcr_free(ctx, buffer);
    mcr_free(ctx, each);
    return s || fine ? s : mcr_fail(ctx, MCR_IO, "the output could not be written");
}

void ranks_open(ranks *r, double limit)
{
    *r = (ranks){.limit = limit, .failed = -1};
    MPI_Comm_dup(MPI_COMM_WORLD, &r->comm);
    MPI_Comm_rank(r->comm, &r->team.rank);
    MPI_Comm_size(r->comm, &r->team.count);
    r->team.sum = sum;
    r->team.largest = largest;
    r->team.objects = ranks_objects;
    r->team.conjugate = ranks_conjugate;
#ifdef MPI_HAVE_SLEPC
    r->team.leading = ranks_leading;
#endif
}
