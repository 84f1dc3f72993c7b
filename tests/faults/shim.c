/* shim.c: a library for LD_PRELOAD that makes one call of the system or the allocator fail.
 *
 * FAULT names the kind, FAULT_AT which of the calls of that kind, counted from 1 (0: none),
 * FAULT_COUNT a file that gets the number of calls when the program ends.
 *
 *   alloc        malloc, calloc and realloc return NULL if the program itself calls them, not the
 *                loader or other libraries
 *   write-eintr, write-enospc, write-eio, write-short: write fails, or writes half of it
 *   fsync-eio, rename-eio, link-eio, open-emfile, read-eintr, read-eio, read-short
 *   fsync-term, write-term: SIGTERM comes at that call, which then goes on
 *   fsync-kill   SIGKILL comes at that call
 *   stat-grow    somebody else adds the line FAULT_LINE to the file FAULT_FILE before that fstat
 *   no-tmpfile   O_TMPFILE is not supported: the other way of writing is tested (at every call)
 *
 * Several kinds may stand in FAULT, separated by commas, if the first is no-tmpfile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);

static char kind[32];
static int without_tmpfile, ready;
static long wanted, calls;
static char report[512];

static const char *program, *program_end; /* where the program's code and data are */

/* The first object that the loader knows is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const char *first = (const char *)(info->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_LOAD)
            continue;
        program = !program || first < program ? first : program;
        program_end = first + part->p_memsz > program_end ? first + part->p_memsz : program_end;
    }
    return 1;
}

static void setup(void)
{
    const char *fault = getenv("FAULT"), *at = getenv("FAULT_AT"), *file = getenv("FAULT_COUNT");
    ready = 1;
    if (fault && strncmp(fault, "no-tmpfile", 10) == 0) {
        without_tmpfile = 1;
        fault = fault[10] == ',' ? fault + 11 : NULL;
    }
    if (fault)
        snprintf(kind, sizeof kind, "%s", fault);
    if (file)
        snprintf(report, sizeof report, "%s", file);
    wanted = at ? strtol(at, NULL, 10) : 0;
    dl_iterate_phdr(find_program, NULL);
}

__attribute__((constructor)) static void begin(void)
{
    if (!ready)
        setup();
}

static ssize_t true_write(int fd, const void *bytes, size_t count)
{
    static ssize_t (*next)(int, const void *, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    return next(fd, bytes, count);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int fd = report[0] ? open(report, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0)
        return;
    int length = snprintf(text, sizeof text, "%ld\n", __atomic_load_n(&calls, __ATOMIC_RELAXED));
    ssize_t ignored = true_write(fd, text, (size_t)length);
    (void)ignored;
    close(fd);
}

/* Whether this call is the one; counts it if it is of the kind. */
static int strikes(const char *what)
{
    if (!ready || strcmp(kind, what) != 0)
        return 0;
    return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == wanted;
}

static int fails(int code)
{
    errno = code;
    return -1;
}

/* ---- the allocator ----------------------------------------------------------------------------*/

static int fails_for(const void *caller)
{
    return ready && (const char *)caller >= program && (const char *)caller < program_end &&
           strikes("alloc");
}

void *malloc(size_t bytes)
{
    if (fails_for(__builtin_return_address(0))) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    if (fails_for(__builtin_return_address(0))) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    if (fails_for(__builtin_return_address(0))) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(block, bytes);
}

/* ---- files ------------------------------------------------------------------------------------*/

/* Standard output and error are left alone: what the program says there is looked at. */
ssize_t write(int fd, const void *bytes, size_t count)
{
    if (fd > STDERR_FILENO) {
        if (strikes("write-eintr"))
            return fails(EINTR);
        if (strikes("write-enospc"))
            return fails(ENOSPC);
        if (strikes("write-eio"))
            return fails(EIO);
        if (strikes("write-short"))
            count = count > 1 ? count / 2 : count;
        if (strikes("write-term"))
            raise(SIGTERM);
    }
    return true_write(fd, bytes, count);
}

ssize_t read(int fd, void *bytes, size_t count)
{
    static ssize_t (*next)(int, void *, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "read");
    if (strikes("read-eintr"))
        return fails(EINTR);
    if (strikes("read-eio"))
        return fails(EIO);
    if (strikes("read-short"))
        count = count > 1 ? count / 2 : count;
    return next(fd, bytes, count);
}

int fsync(int fd)
{
    static int (*next)(int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    if (strikes("fsync-eio"))
        return fails(EIO);
    if (strikes("fsync-term"))
        raise(SIGTERM);
    if (strikes("fsync-kill"))
        raise(SIGKILL);
    return next(fd);
}

static void grow_file(void)
{
    const char *line = getenv("FAULT_LINE"), *path = getenv("FAULT_FILE");
    int fd = path && line ? open(path, O_WRONLY | O_APPEND) : -1;
    if (fd < 0)
        return;
    ssize_t ignored = true_write(fd, line, strlen(line));
    ignored += true_write(fd, "\n", 1);
    (void)ignored;
    close(fd);
}

int fstat64(int fd, struct stat64 *about)
{
    static int (*next)(int, struct stat64 *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fstat64");
    if (strikes("stat-grow"))
        grow_file();
    return next(fd, about);
}

int rename(const char *from, const char *to)
{
    static int (*next)(const char *, const char *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "rename");
    return strikes("rename-eio") ? fails(EIO) : next(from, to);
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
    static int (*next)(int, const char *, int, const char *, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "linkat");
    return strikes("link-eio") ? fails(EIO) : next(at, from, to_at, to, flags);
}

static int open_next(const char *path, int flags, mode_t mode)
{
    static int (*next)(const char *, int, ...);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "open");
    if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE)
        return fails(EOPNOTSUPP);
    return strikes("open-emfile") ? fails(EMFILE) : next(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_next(path, flags, mode);
}

/* What checked builds (_FORTIFY_SOURCE) call instead. */
ssize_t __read_chk(int fd, void *bytes, size_t count, size_t capacity);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

ssize_t __read_chk(int fd, void *bytes, size_t count, size_t capacity)
{
    (void)capacity;
    return read(fd, bytes, count);
}

int __open_2(const char *path, int flags)
{
    return open_next(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return open_next(path, flags, 0);
}
