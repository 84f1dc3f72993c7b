/* output.c: writing a whole file so that readers see the old one or the new one, never a part.
 *
 * The bytes go to a temporary file beside the target, which is synced and renamed over it. What is
 * not a regular file (a device, a pipe) is written to directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"
#include "base/system.h"

enum { BUFFER = 256 << 10 };

struct mcr_output {
    mcr *ctx;
    char *name;      /* as the user wrote it, for messages */
    char *target;    /* the file to replace, links followed; NULL: written directly */
    char *temporary; /* NULL with target */
    int fd;
    bool owns_fd;
    mcr_status status; /* of the first failed write */
    size_t used;
    char *buffer;
};

static mcr_status fail(mcr_output *o, const char *what, int code)
{
    char room[128];
    o->status = mcr_fail_at(o->ctx, MCR_IO, o->name, 0, "cannot be %s: %s", what,
                            mcr_system_error(code, room, sizeof room));
    return o->status;
}

/* A new file "TARGET.tmpXXXXXXXX" with the rights that the target has or would get. */
static mcr_status make_temporary(mcr_output *o, const struct stat *old)
{
    size_t length = strlen(o->target), size = length + 16;
    o->temporary = mcr_alloc(o->ctx, size, 1);
    if (o->temporary == NULL)
        return MCR_NO_MEMORY;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint32_t number = (uint32_t)t.tv_nsec ^ ((uint32_t)getpid() << 8);
    for (int tries = 0; tries < 100; tries++) {
        number = number * 1664525u + 1013904223u;
        snprintf(o->temporary, size, "%s.tmp%08x", o->target, (unsigned)number);
        o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd >= 0 || (errno != EEXIST && errno != EINTR))
            break;
    }
    if (o->fd < 0) {
        int code = errno;
        mcr_free(o->ctx, o->temporary);
        o->temporary = NULL;
        return fail(o, "written", code);
    }
    if (old != NULL)
        (void)fchmod(o->fd, old->st_mode & 0777);
    return MCR_OK;
}

static mcr_status open_path(mcr_output *o, const char *path)
{
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return fail(o, "written", EISDIR);
    if (exists && !S_ISREG(info.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        return o->fd >= 0 ? MCR_OK : fail(o, "written", errno);
    }
    /* A write-protected file stays as it is, although its directory would allow a rename. */
    if (exists && access(path, W_OK) != 0)
        return fail(o, "written", errno);
    char real[PATH_MAX];
    const char *target = exists && realpath(path, real) != NULL ? real : path;
    o->target = mcr_copy_text(o->ctx, target, strlen(target));
    if (o->target == NULL)
        return MCR_NO_MEMORY;
    return make_temporary(o, exists ? &info : NULL);
}

mcr_status mcr_output_open(mcr_output **out, mcr *ctx, const char *path)
{
    *out = NULL;
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard output" : path;
    mcr_status status = MCR_NO_MEMORY;
    mcr_output *o = mcr_alloc_zero(ctx, 1, sizeof *o);
    if (o == NULL)
        return MCR_NO_MEMORY;
    o->ctx = ctx;
    o->fd = -1;
    o->owns_fd = !standard;
    o->name = mcr_copy_text(ctx, name, strlen(name));
    if (o->name == NULL)
        goto done;
    o->buffer = mcr_alloc(ctx, BUFFER, 1);
    if (o->buffer == NULL)
        goto done;
    if (standard) {
        o->fd = STDOUT_FILENO;
        status = MCR_OK;
    } else {
        status = open_path(o, path);
    }
done:
    if (status == MCR_OK)
        *out = o;
    else
        mcr_output_abandon(o);
    return status;
}

static mcr_status write_all(mcr_output *o, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(o->fd, bytes, count < SSIZE_MAX ? count : SSIZE_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(o, "written", errno);
        bytes += n;
        count -= (size_t)n;
    }
    return MCR_OK;
}

static mcr_status flush(mcr_output *o)
{
    size_t used = o->used;
    o->used = 0;
    return write_all(o, o->buffer, used);
}

mcr_status mcr_output_write(mcr_output *o, const void *bytes, size_t count)
{
    if (o->status != MCR_OK)
        return o->status;
    if (count > BUFFER - o->used) {
        mcr_status status = flush(o);
        if (status != MCR_OK)
            return status;
        if (count >= BUFFER)
            return write_all(o, bytes, count);
    }
    if (count > 0)
        memcpy(o->buffer + o->used, bytes, count);
    o->used += count;
    return MCR_OK;
}

/* Makes the new name last through a power cut. The file is in its place by now, so a failure here
 * could not be undone; file systems that cannot sync a directory are no reason to complain. */
static void sync_directory(char *path)
{
    char *slash = strrchr(path, '/');
    const char *directory = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL && slash != path)
        *slash = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

static mcr_status finish(mcr_output *o)
{
    mcr_status status = o->status != MCR_OK ? o->status : flush(o);
    if (status != MCR_OK || o->target == NULL)
        return status;
    if (fsync(o->fd) != 0 && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return fail(o, "written", errno);
    int closed = close(o->fd);
    o->fd = -1;
    if (closed != 0 && errno != EINTR)
        return fail(o, "written", errno);
    if (rename(o->temporary, o->target) != 0)
        return fail(o, "replaced", errno);
    mcr_free(o->ctx, o->temporary);
    o->temporary = NULL;
    sync_directory(o->target);
    return MCR_OK;
}

mcr_status mcr_output_commit(mcr_output *o)
{
    mcr_status status = finish(o);
    mcr_output_abandon(o); /* frees; what is committed has no temporary file any more */
    return status;
}

void mcr_output_abandon(mcr_output *o)
{
    if (o == NULL)
        return;
    if (o->temporary != NULL)
        (void)unlink(o->temporary);
    if (o->owns_fd && o->fd >= 0)
        close(o->fd);
    mcr_free(o->ctx, o->temporary);
    mcr_free(o->ctx, o->target);
    mcr_free(o->ctx, o->buffer);
    mcr_free(o->ctx, o->name);
    mcr_free(o->ctx, o);
}
