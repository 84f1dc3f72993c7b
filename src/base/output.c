/* output.c: replaces a file atomically: readers see the old file or the new one, never a part.
 *
 * The bytes go to a file without a name (O_TMPFILE) in the target's folder, which disappears with
 * the process. It is synced and linked to the target or, if that exists, to a temporary name that
 * is then renamed over it. On file systems without O_TMPFILE the temporary name exists from the
 * start. Anything but a regular file (a device, a pipe) is written directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"
#include "base/system.h"

enum { BUFFER = 256 << 10 };
#define MARK ".tmp-mercer-"
enum { NAME_BYTES = sizeof MARK + 8 };

struct mcr_output {
    mcr *ctx;
    char *name;      /* as given by the user, for messages */
    char *target;    /* the file to replace, links resolved; NULL: written directly */
    char *temporary; /* a name in the same folder; NULL with target */
    bool named;      /* the temporary file already has that name */
    uint32_t number; /* number of the last name tried */
    int fd;
    bool owns_fd;
    mcr_status status; /* first failed write */
    size_t used;
    char *buffer;
};

static mcr_status fail(mcr_output *o, const char *what, int code)
{
    char buffer[128];
    o->status = mcr_fail_at(o->ctx, MCR_IO, o->name, 0, "cannot be %s: %s", what,
                            mcr_system_error(code, buffer, sizeof buffer));
    return o->status;
}

/* ---- files of dead processes ------------------------------------------------------------------*/

/* Whether name is that of a temporary file for the target named base. */
static bool is_temporary(const char *name, const char *base, size_t length)
{
    if (strncmp(name, base, length) != 0 || strncmp(name + length, MARK, sizeof MARK - 1) != 0)
        return false;
    const char *digits = name + length + sizeof MARK - 1;
    return strspn(digits, "0123456789abcdef") == 8 && digits[8] == '\0';
}

/* A writer holds a lock on its file while it runs, so a file that can be locked is left over. */
static void remove_if_left(int folder, const char *name)
{
    struct stat info;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(folder, name, 0);
    close(fd);
}

/* The folder that holds path, or a nameless file in it. */
static int open_folder(const char *path, int flags)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL && (size_t)(slash - path) < sizeof folder)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return open(folder, flags | O_CLOEXEC, 0666);
}

static void remove_left_over(const char *target)
{
    const char *slash = strrchr(target, '/'), *base = slash != NULL ? slash + 1 : target;
    size_t length = strlen(base);
    int folder = open_folder(target, O_RDONLY | O_DIRECTORY);
    DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
    if (list == NULL) {
        if (folder >= 0)
            close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (is_temporary(entry->d_name, base, length))
            remove_if_left(folder, entry->d_name);
    closedir(list);
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* The next name for a temporary file, in o->temporary. */
static void next_name(mcr_output *o)
{
    if (o->number == 0) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        o->number = (uint32_t)t.tv_nsec ^ ((uint32_t)getpid() << 8);
    }
    o->number = o->number * 1664525u + 1013904223u;
    snprintf(o->temporary, strlen(o->target) + NAME_BYTES, "%s" MARK "%08x", o->target,
             (unsigned)o->number);
}

/* Opens a file without a name in the target's folder; false: not supported by the file system. */
static bool open_nameless(mcr_output *o)
{
#ifdef O_TMPFILE
    char link[64];
    o->fd = open_folder(o->target, O_TMPFILE | O_WRONLY);
    if (o->fd < 0)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", o->fd);
    struct stat here, there;
    if (stat(link, &there) == 0 && fstat(o->fd, &here) == 0 && here.st_ino == there.st_ino)
        return true; /* it can be given a name later */
    close(o->fd);
    o->fd = -1;
#endif
    return false;
}

/* "TARGET.tmp-mercer-XXXXXXXX". The lock is taken after the file exists: another process that
 * cleans up in between may remove the file, which is then created again. */
static int open_named(mcr_output *o)
{
    for (int tries = 0; tries < 100; tries++) {
        struct stat info;
        next_name(o);
        o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd < 0 && errno != EEXIST && errno != EINTR)
            return errno;
        if (o->fd < 0)
            continue;
        bool lost = flock(o->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!lost && (fstat(o->fd, &info) != 0 || info.st_nlink > 0)) {
            o->named = true;
            return 0;
        }
        close(o->fd);
        o->fd = -1;
    }
    return EEXIST;
}

static mcr_status make_temporary(mcr_output *o, const struct stat *old)
{
    o->temporary = mcr_alloc(o->ctx, strlen(o->target) + NAME_BYTES, 1);
    if (o->temporary == NULL)
        return MCR_NO_MEMORY;
    remove_left_over(o->target);
    if (!open_nameless(o)) {
        int code = open_named(o);
        if (code != 0)
            return fail(o, "written", code);
    }
    if (old == NULL)
        return MCR_OK;
    struct stat new;
    if (fstat(o->fd, &new) == 0 && (new.st_uid != old->st_uid || new.st_gid != old->st_gid) &&
        fchown(o->fd, old->st_uid, old->st_gid) != 0)
        (void)0; /* only root can: others become the owner */
    if (fchmod(o->fd, old->st_mode & 0777) != 0)
        return fail(o, "written", errno);
    return MCR_OK;
}

static mcr_status open_path(mcr_output *o, const char *path)
{
    struct stat info, link;
    bool exists = stat(path, &info) == 0;
    if (!exists && errno != ENOENT)
        return fail(o, "written", errno);
    if (!exists && lstat(path, &link) == 0)
        return mcr_fail_at(
            o->ctx, MCR_IO, o->name, 0,
            "cannot be written: it is a link to a file that does not exist; remove the "
            "link, or name the file itself");
    if (exists && S_ISDIR(info.st_mode))
        return fail(o, "written", EISDIR);
    if (exists && !S_ISREG(info.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        return o->fd >= 0 ? MCR_OK : fail(o, "written", errno);
    }
    /* A write-protected file is not replaced, even if the directory or root's rights would allow
     * it. */
    if (exists && (info.st_mode & 0222) == 0)
        return fail(o, "written", EACCES);
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

mcr_status mcr_output_start_sync(mcr_output *o)
{
    mcr_status status = o->status != MCR_OK ? o->status : flush(o);
#ifdef SYNC_FILE_RANGE_WRITE
    if (status == MCR_OK && o->target != NULL)
        (void)sync_file_range(o->fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* fsync reports a failure */
#endif
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------*/

/* Makes the new name survive a power failure. The file is already in its place, so a failure here
 * could not be undone; file systems that cannot sync a directory are accepted. */
static void sync_directory(const char *path)
{
    int fd = open_folder(path, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* Gives the file a name: the target's if that does not exist yet, else a temporary one to be
 * renamed. Returns 0 or the error. */
static int give_name(mcr_output *o)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", o->fd);
    (void)flock(o->fd, LOCK_EX | LOCK_NB); /* no other process can hold it */
    if (linkat(AT_FDCWD, link, AT_FDCWD, o->target, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    for (int tries = 0; tries < 100 && errno == EEXIST; tries++) {
        next_name(o);
        if (linkat(AT_FDCWD, link, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) == 0) {
            o->named = true;
            return 0;
        }
    }
    return errno;
}

static mcr_status finish(mcr_output *o)
{
    mcr_status status = o->status != MCR_OK ? o->status : flush(o);
    if (status != MCR_OK || o->target == NULL)
        return status;
    if (fsync(o->fd) != 0 && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return fail(o, "written", errno);
    int code = o->named ? 0 : give_name(o);
    if (code != 0)
        return fail(o, "written", code);
    if (o->named && rename(o->temporary, o->target) != 0)
        return fail(o, "replaced", errno);
    o->named = false;
    sync_directory(o->target);
    int closed = close(o->fd); /* last, because it releases the lock */
    o->fd = -1;
    if (closed != 0 && errno != EINTR)
        return fail(o, "written", errno);
    return MCR_OK;
}

const char *mcr_output_temporary(const mcr_output *o)
{
    return o->named ? o->temporary : NULL;
}

mcr_status mcr_output_commit(mcr_output *o)
{
    mcr_status status = finish(o);
    mcr_output_abandon(o); /* frees; after the commit there is no temporary file */
    return status;
}

void mcr_output_abandon(mcr_output *o)
{
    if (o == NULL)
        return;
    if (o->named)
        (void)unlink(o->temporary);
    if (o->owns_fd && o->fd >= 0)
        close(o->fd);
    mcr_free_all(o->ctx, o->temporary, o->target, o->buffer, o->name, o);
}

mcr_status mcr_text_save(const mcr_text *t, const char *path)
{
    mcr_output *out = NULL;
    mcr_status s = t->status ? t->status : mcr_output_open(&out, t->ctx, path);
    if (!s)
        s = mcr_output_write(out, t->bytes, (size_t)t->length);
    if (!s)
        return mcr_output_commit(out);
    mcr_output_abandon(out);
    return s;
}
