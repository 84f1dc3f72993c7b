/* resume.c: the checkpoint file: a header in text ("mercer checkpoint", the version, a checksum of
 * the training's inputs), then each part's name, length and bytes, and a checksum of the whole.
 *
 * The file is replaced atomically, so that there is always a complete one. It is written with the
 * first state and then so rarely that it costs little time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/resume.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/team.h"

#define PAUSE   10.0 /* least seconds between two writes, */
#define SHARE   30.0 /* and at least this many times the duration of a write, but at most: */
#define LONGEST 600.0

typedef struct part {
    char name[MCR_PART_NAME];
    char *bytes;
    size_t length, capacity;
    double next; /* when its state is to be stored again */
} part;

typedef struct series {
    char kind[MCR_PART_NAME];
    int64_t begun;
} series;

struct mcr_resume {
    pthread_mutex_t lock;
    uint32_t training;
    part *part;
    int64_t parts, capacity;
    series *count;
    int64_t counts, count_capacity;
    double next; /* when the file is to be written again */
};
typedef struct mcr_resume resume;

mcr_status mcr_checkpoint_file(mcr *ctx, const char *path)
{
    char *copy = path ? mcr_copy_text(ctx, path, strlen(path)) : NULL;
    if (path && !copy)
        return MCR_NO_MEMORY;
    mcr_free(ctx, ctx->checkpoint);
    ctx->checkpoint = copy;
    return MCR_OK;
}

bool mcr_resume_wanted(const mcr *ctx)
{
    return ctx->checkpoint != NULL;
}

bool mcr_resume_keeps(const mcr *ctx)
{
    return ctx->resume != NULL;
}

static mcr_status refuse(mcr *ctx, const char *why)
{
    return mcr_fail_at(ctx, MCR_BAD_DATA, ctx->checkpoint, 0,
                       "%s: remove it to start again, or name another checkpoint", why);
}

/* ---- walking ----------------------------------------------------------------------------------*/

void mcr_walk_bytes(mcr_walk *w, void *at, size_t count)
{
    if (count == 0)
        return;
    if (!w->reads) {
        mcr_text_add(&w->text, at, count);
        w->status = w->status ? w->status : w->text.status;
    } else if (!w->status && (size_t)(w->end - w->at) < count) {
        mcr_walk_refuse(w);
    } else if (!w->status) {
        memcpy(at, w->at, count);
        w->at += count;
    }
}

void mcr_walk_same(mcr_walk *w, int64_t value)
{
    int64_t was = value;
    MCR_WALK(w, was);
    if (!w->status && was != value)
        mcr_walk_refuse(w);
}

mcr_status mcr_walk_refuse(mcr_walk *w)
{
    w->status = refuse(w->ctx, "this checkpoint is from a run with another memory budget or other "
                               "settings, or is damaged");
    return w->status;
}

void mcr_walk_flag(mcr_walk *w, bool *flag)
{
    unsigned char byte = w->reads ? 0 : *flag;
    MCR_WALK(w, byte);
    if (w->reads && !w->status && byte > 1)
        mcr_walk_refuse(w);
    else if (w->reads && !w->status)
        *flag = byte;
}

/* A count that was read back must be usable as a size. */
void mcr_walk_count(mcr_walk *w, int64_t *count)
{
    MCR_WALK(w, *count);
    if (w->reads && !w->status && (*count < 0 || *count > INT64_MAX / 4)) {
        *count = 0;
        mcr_walk_refuse(w);
    }
}

void mcr_walk_stop(mcr_walk *w, mcr_stop *stop)
{
    int number = (int)*stop;
    MCR_WALK(w, number);
    if (w->reads && !w->status && (number < 0 || number > MCR_STOP_LOCAL))
        mcr_walk_refuse(w);
    else if (w->reads && !w->status)
        *stop = (mcr_stop)number;
}

/* ---- the file ---------------------------------------------------------------------------------*/

static void put_head(mcr_text *t, const resume *r)
{
    mcr_text_format(t, "mercer checkpoint\n%s\n%08x\n", mcr_version(), (unsigned)r->training);
}

static mcr_status write_file(mcr *ctx, resume *r)
{
    mcr_text t;
    double began = mcr_now();
    mcr_text_init(&t, ctx);
    put_head(&t, r);
    for (int64_t i = 0; i < r->parts; i++) {
        uint64_t length = r->part[i].length;
        mcr_text_add(&t, r->part[i].name, MCR_PART_NAME);
        mcr_text_add(&t, &length, sizeof length);
        mcr_text_add(&t, r->part[i].bytes, r->part[i].length);
    }
    uint32_t sum = t.status ? 0 : mcr_checksum(t.bytes, (size_t)t.length);
    mcr_text_add(&t, &sum, sizeof sum);
    mcr_status s = mcr_text_save(&t, ctx->checkpoint);
    mcr_text_free(&t);
    double now = mcr_now(), wait = SHARE * (now - began);
    r->next = now + (wait > LONGEST ? LONGEST : wait > PAUSE ? wait : PAUSE);
    return s;
}

static part *find(resume *r, const char *name)
{
    for (int64_t i = 0; i < r->parts; i++)
        if (strncmp(r->part[i].name, name, MCR_PART_NAME) == 0)
            return &r->part[i];
    return NULL;
}

/* Adds a new part; NULL: out of memory. */
static part *add(mcr *ctx, resume *r, const char *name)
{
    if (mcr_reserve(ctx, &r->part, &r->capacity, r->parts + 1, sizeof *r->part))
        return NULL;
    part *p = &r->part[r->parts++];
    *p = (part){0};
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

/* p NULL: out of memory. */
static mcr_status fill(mcr *ctx, part *p, const void *bytes, size_t length)
{
    if (!p)
        return MCR_NO_MEMORY;
    if (p->capacity < length || !p->bytes) {
        if (mcr_resize_at(ctx, &p->bytes, length, 1))
            return MCR_NO_MEMORY;
        p->capacity = length;
    }
    if (length > 0)
        memcpy(p->bytes, bytes, length);
    p->length = length;
    return MCR_OK;
}

/* Reads the parts of a file whose checksum is correct. */
static mcr_status take_parts(mcr *ctx, resume *r, const char *at, const char *end)
{
    mcr_status s = MCR_OK;
    while (at < end && !s) {
        uint64_t length;
        char name[MCR_PART_NAME];
        if ((size_t)(end - at) < sizeof name + sizeof length)
            return refuse(ctx, "the checkpoint is damaged");
        memcpy(name, at, sizeof name);
        name[sizeof name - 1] = 0;
        memcpy(&length, at + sizeof name, sizeof length);
        at += sizeof name + sizeof length;
        if ((uint64_t)(end - at) < length)
            return refuse(ctx, "the checkpoint is damaged");
        s = fill(ctx, add(ctx, r, name), at,
                 (size_t)length); /* of two parts with the same name the first counts */
        at += length;
    }
    return s;
}

static mcr_status check_head(mcr *ctx, const resume *r, const char *bytes, size_t length)
{
    static const char magic[] = "mercer checkpoint\n";
    char head[128], version[32] = "";
    int own = snprintf(head, sizeof head, "%s%s\n%08x\n", magic, mcr_version(),
                       (unsigned)r->training);
    if (length >= (size_t)own && memcmp(bytes, head, (size_t)own) == 0)
        return MCR_OK;
    if (length < sizeof magic - 1 || memcmp(bytes, magic, sizeof magic - 1) != 0)
        return refuse(ctx, "this is not the checkpoint of a training");
    size_t at = sizeof magic - 1, to = 0;
    while (at < length && to + 1 < sizeof version && bytes[at] != '\n')
        version[to++] = bytes[at++];
    if (strcmp(version, mcr_version()) == 0)
        return refuse(
            ctx,
            "this is not the checkpoint of this training: data, kernel, options or seed differ");
    return mcr_fail_at(ctx, MCR_BAD_DATA, ctx->checkpoint, 0,
                       "this checkpoint was written by version \"%s\", and this is %s: remove it "
                       "to start again, or name another checkpoint",
                       version, mcr_version());
}

static mcr_status read_file(mcr *ctx, resume *r)
{
    enum { SOME = 1 << 20 };
    mcr_input *in = NULL;
    mcr_text t;
    size_t got = 1;
    uint32_t sum;
    mcr_text_init(&t, ctx);
    mcr_status s = mcr_input_open(&in, ctx, ctx->checkpoint);
    while (!s && got > 0) {
        char *to = mcr_text_extend(&t, SOME);
        s = to ? mcr_input_some(in, to, SOME, &got) : MCR_NO_MEMORY;
        t.length -= to && !s ? SOME - (int64_t)got : 0;
    }
    mcr_input_close(in);
    size_t length = (size_t)t.length, head = 0, lines = 0;
    if (!s)
        s = check_head(ctx, r, t.bytes, length);
    while (!s && lines < 3)
        lines += t.bytes[head++] == '\n';
    if (!s && length >= head + sizeof sum)
        memcpy(&sum, t.bytes + length - sizeof sum, sizeof sum);
    if (!s && (length < head + sizeof sum || sum != mcr_checksum(t.bytes, length - sizeof sum)))
        s = refuse(ctx, "the checkpoint is damaged");
    if (!s)
        s = take_parts(ctx, r, t.bytes + head, t.bytes + length - sizeof sum);
    mcr_text_free(&t);
    return s;
}

/* ---- of a training ----------------------------------------------------------------------------*/

static bool is_first(const mcr *ctx)
{
    const mcr_team *team = mcr_team_of_rows(ctx);
    return !team || team->rank == 0;
}

mcr_status mcr_resume_open(mcr *ctx, uint32_t training)
{
    if (!ctx->checkpoint || ctx->resume)
        return MCR_OK;
    resume *r = mcr_alloc_zero(ctx, 1, sizeof *r);
    if (!r)
        return MCR_NO_MEMORY;
    pthread_mutex_init(&r->lock, NULL);
    r->training = training;
    mcr_status s = is_first(ctx) && access(ctx->checkpoint, F_OK) == 0 ? read_file(ctx, r) : MCR_OK;
    ctx->resume = r;
    if (s)
        mcr_resume_close(ctx);
    return s;
}

void mcr_resume_close(mcr *ctx)
{
    resume *r = ctx->resume;
    if (!r)
        return;
    for (int64_t i = 0; i < r->parts; i++)
        mcr_free(ctx, r->part[i].bytes);
    mcr_free_all(ctx, r->part, r->count);
    pthread_mutex_destroy(&r->lock);
    mcr_free(ctx, r);
    ctx->resume = NULL;
}

void mcr_resume_name(mcr *ctx, const char *kind, char name[MCR_PART_NAME])
{
    resume *r = ctx->resume;
    int64_t number = 0, at = 0;
    name[0] = 0;
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    while (at < r->counts && strcmp(r->count[at].kind, kind) != 0)
        at++;
    if (at == r->counts &&
        !mcr_reserve(ctx, &r->count, &r->count_capacity, r->counts + 1, sizeof *r->count)) {
        r->count[r->counts] = (series){.begun = 0};
        snprintf(r->count[r->counts++].kind, MCR_PART_NAME, "%s", kind);
    }
    if (at < r->counts)
        number = ++r->count[at].begun;
    pthread_mutex_unlock(&r->lock);
    if (number > 0) /* else out of memory: the part is not stored */
        snprintf(name, MCR_PART_NAME, "%.24s/%lld", kind, (long long)number);
}

/* Sends a part of the first process to all. *length: its bytes plus 1; 0: no such part. */
static mcr_status share(mcr *ctx, char **bytes, double *length)
{
    mcr_team *team = mcr_team_of_rows(ctx);
    mcr_status s = team ? mcr_team_sum(ctx, length, 1) : MCR_OK;
    if (s || !team || *length < 1)
        return s;
    size_t count = (size_t)*length - 1, words = (count + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    double *word = mcr_alloc_zero(ctx, words, sizeof *word);
    char *all = mcr_alloc_zero(ctx, words, sizeof(uint32_t));
    if (!word || !all)
        s = MCR_NO_MEMORY;
    if (!s && *bytes)
        memcpy(all, *bytes, count);
    for (size_t i = 0; i < words && !s && *bytes; i++) {
        uint32_t value;
        memcpy(&value, all + i * sizeof value, sizeof value);
        word[i] = value;
    }
    if (!s)
        s = mcr_team_sum(ctx, word, (int64_t)words);
    for (size_t i = 0; i < words && !s; i++) {
        uint32_t value = (uint32_t)word[i];
        memcpy(all + i * sizeof value, &value, sizeof value);
    }
    mcr_free_all(ctx, word, *bytes);
    *bytes = all;
    return s;
}

mcr_status mcr_resume_find(mcr *ctx, const char *name, mcr_walk_state *walk, void *self,
                           bool *found)
{
    resume *r = ctx->resume;
    char *bytes = NULL;
    double length = 0;
    mcr_status s = MCR_OK;
    *found = false;
    if (!r || !name[0])
        return MCR_OK;
    pthread_mutex_lock(&r->lock);
    const part *p = find(r, name);
    if (p) {
        length = 1 + (double)p->length;
        bytes = mcr_alloc(ctx, p->length, 1);
        s = bytes ? MCR_OK : MCR_NO_MEMORY;
        if (!s && p->length > 0)
            memcpy(bytes, p->bytes, p->length);
    }
    pthread_mutex_unlock(&r->lock);
    if (!s)
        s = share(ctx, &bytes, &length);
    if (!s && length > 0) {
        mcr_walk w = {.ctx = ctx, .reads = true, .at = bytes, .end = bytes + (size_t)length - 1};
        s = walk(self, &w);
        s = s ? s : w.status;
        *found = !s;
    }
    mcr_free(ctx, bytes);
    return s;
}

/* The caller holds the lock. */
static mcr_status take(mcr *ctx, resume *r, const char *name, mcr_walk_state *walk, void *self)
{
    mcr_walk w = {.ctx = ctx};
    mcr_text_init(&w.text, ctx);
    mcr_status s = walk(self, &w);
    s = s ? s : w.status;
    part *p = s ? NULL : find(r, name);
    if (!s)
        s = fill(ctx, p ? p : add(ctx, r, name), w.text.bytes, (size_t)w.text.length);
    mcr_text_free(&w.text);
    double now = mcr_now();
    if (!s && now >= r->next)
        s = write_file(ctx, r);
    if (!s)
        find(r, name)->next = r->next > now + PAUSE ? r->next : now + PAUSE;
    return s;
}

mcr_status mcr_resume_keep(mcr *ctx, const char *name, mcr_walk_state *walk, void *self)
{
    resume *r = ctx->resume;
    if (!r || !name[0] || !is_first(ctx))
        return MCR_OK;
    pthread_mutex_lock(&r->lock);
    mcr_status s = take(ctx, r, name, walk, self);
    pthread_mutex_unlock(&r->lock);
    return s;
}

mcr_status mcr_resume_offer(mcr *ctx, const char *name, mcr_walk_state *walk, void *self)
{
    resume *r = ctx->resume;
    mcr_status s = MCR_OK;
    if (!r || !name[0] || !is_first(ctx))
        return MCR_OK;
    pthread_mutex_lock(&r->lock);
    const part *p = find(r, name);
    if (!p || mcr_now() >= p->next)
        s = take(ctx, r, name, walk, self);
    pthread_mutex_unlock(&r->lock);
    return s;
}

void mcr_resume_drop(mcr *ctx, const char *name)
{
    resume *r = ctx->resume;
    int64_t left = 0;
    size_t length = strlen(name);
    if (!r || length == 0)
        return;
    length += name[length - 1] != '/'; /* including the end of the name */
    pthread_mutex_lock(&r->lock);
    for (int64_t i = 0; i < r->parts; i++)
        if (strncmp(r->part[i].name, name, length) == 0)
            mcr_free(ctx, r->part[i].bytes);
        else
            r->part[left++] = r->part[i];
    r->parts = left;
    pthread_mutex_unlock(&r->lock);
}
