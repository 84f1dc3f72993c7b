/* resume.c: a file with a header in text, "mercer checkpoint", the problem and the count, each on a
 * line, then the numbers and a checksum of all of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/resume.h"

#include <string.h>
#include <unistd.h>

#include <mercer/output.h>

#include "base/stream.h"
#include "base/team.h"

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

static void put_head(mcr_text *t, const char *what, int64_t count)
{
    mcr_text_format(t, "mercer checkpoint\n%s\n%lld\n", what, (long long)count);
}

static mcr_status save(mcr *ctx, const char *what, const double *x, int64_t count)
{
    mcr_text t;
    mcr_output *out = NULL;
    mcr_text_init(&t, ctx);
    put_head(&t, what, count);
    mcr_text_add(&t, x, sizeof *x * (size_t)count);
    uint32_t sum = t.status ? 0 : mcr_checksum(t.bytes, (size_t)t.length);
    mcr_text_add(&t, &sum, sizeof sum);
    mcr_status s = t.status ? t.status : mcr_output_open(&out, ctx, ctx->checkpoint);
    if (!s)
        s = mcr_output_write(out, t.bytes, (size_t)t.length);
    if (!s)
        s = mcr_output_commit(out);
    else
        mcr_output_abandon(out);
    mcr_text_free(&t);
    return s;
}

mcr_status mcr_resume_save(mcr *ctx, const char *what, const double *x, int64_t count)
{
    const mcr_team *team = mcr_team_of_rows(ctx);
    return ctx->checkpoint && !(team && team->rank > 0) ? save(ctx, what, x, count) : MCR_OK;
}

static mcr_status refuse(mcr *ctx, const char *why)
{
    return mcr_fail_at(ctx, MCR_BAD_DATA, ctx->checkpoint, 0,
                       "%s: remove it to begin again, or name another checkpoint", why);
}

/* The whole of a file that has as many bytes as it should. */
static mcr_status load(mcr *ctx, const mcr_text *head, double *x, int64_t count)
{
    mcr_input *in = NULL;
    size_t size = (size_t)head->length + sizeof *x * (size_t)count, got = 0;
    uint32_t sum;
    char *bytes = mcr_alloc(ctx, size + sizeof sum + 1, 1);
    mcr_status s = bytes ? mcr_input_open(&in, ctx, ctx->checkpoint) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_input_some(in, bytes, size + sizeof sum + 1, &got);
    mcr_input_close(in);
    if (!s && (got < (size_t)head->length || memcmp(bytes, head->bytes, (size_t)head->length) != 0))
        s = refuse(ctx, "this is no checkpoint of this training");
    if (!s && got == size + sizeof sum)
        memcpy(&sum, bytes + size, sizeof sum);
    if (!s && (got != size + sizeof sum || sum != mcr_checksum(bytes, size)))
        s = refuse(ctx, "the checkpoint is damaged");
    if (!s)
        memcpy(x, bytes + head->length, sizeof *x * (size_t)count);
    mcr_free(ctx, bytes);
    return s;
}

mcr_status mcr_resume_load(mcr *ctx, const char *what, double *x, int64_t count, bool *found)
{
    const mcr_team *team = mcr_team_of_rows(ctx);
    bool mine = !(team && team->rank > 0);
    mcr_status s = MCR_OK;
    *found = false;
    if (!ctx->checkpoint)
        return MCR_OK;
    double there = mine && access(ctx->checkpoint, F_OK) == 0;
    if (there > 0) {
        mcr_text head;
        mcr_text_init(&head, ctx);
        put_head(&head, what, count);
        s = head.status ? head.status : load(ctx, &head, x, count);
        mcr_text_free(&head);
    }
    if (!s)
        s = mcr_team_sum(ctx, &there, 1);
    *found = !s && there > 0;
    if (*found && !mine)
        memset(x, 0, sizeof *x * (size_t)count);
    return *found ? mcr_team_sum(ctx, x, count) : s;
}
