/* system.c: the resources that the machine offers this process: Linux interfaces, else sysconf.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CORES = 256 };

/* Reads the start of a small file of /proc or /sys into text, NUL-terminated; false if there is no
 * such file. */
static bool read_small(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t have = 0;
    while (have + 1 < size) {
        ssize_t n = read(fd, text + have, size - 1 - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    close(fd);
    text[have] = '\0';
    return have > 0;
}

/* Parses the number at p, after blanks; false if there is none ("max"). Saturates. */
static bool scan(const char *p, const char **end, uint64_t *value)
{
    while (*p == ' ' || *p == '\t' || *p == '\n')
        p++;
    if (*p < '0' || *p > '9')
        return false;
    uint64_t v = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        v = v > (UINT64_MAX - digit) / 10 ? UINT64_MAX : v * 10 + digit;
    }
    if (end != NULL)
        *end = p;
    *value = v;
    return true;
}

static bool read_number(const char *path, uint64_t *value)
{
    char text[64];
    return read_small(path, text, sizeof text) && scan(text, NULL, value);
}

static int affinity_cores(void)
{
#ifdef __linux__
    cpu_set_t sets[16]; /* the kernel refuses masks smaller than its own: 16,384 cores */
    if (sched_getaffinity(0, sizeof sets, sets) == 0) {
        int count = CPU_COUNT_S(sizeof sets, sets);
        if (count > 0)
            return count;
    }
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < MAX_CORES ? (int)online : online > 0 ? MAX_CORES : 1;
}

/* A container may have many cores for a fraction of the time: then threads beyond its quota only
 * wait for each other. 0: no quota. */
static uint64_t quota_cores(void)
{
    char text[64];
    const char *p;
    uint64_t quota, period;
    if (read_small("/sys/fs/cgroup/cpu.max", text, sizeof text)) {
        if (!scan(text, &p, &quota) || !scan(p, NULL, &period))
            return 0;
    } else if (!read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota) ||
               !read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period)) {
        return 0;
    }
    if (quota == 0 || period == 0)
        return 0;
    return quota / period + (quota % period != 0);
}

int mcr_system_cores(void)
{
    int cores = affinity_cores();
    uint64_t quota = quota_cores();
    if (quota > 0 && quota < (uint64_t)cores)
        cores = (int)quota;
    return cores < MAX_CORES ? cores : MAX_CORES;
}

/* MemAvailable includes memory that the kernel can reclaim; free pages alone would be far too
 * low. */
static uint64_t available_bytes(void)
{
    char text[2048];
    uint64_t kib;
    if (read_small("/proc/meminfo", text, sizeof text)) {
        const char *p = strstr(text, "MemAvailable:");
        if (p != NULL && scan(p + strlen("MemAvailable:"), NULL, &kib) && kib <= UINT64_MAX / 1024)
            return kib * 1024;
    }
    long pages = -1, page = sysconf(_SC_PAGESIZE);
#ifdef _SC_AVPHYS_PAGES
    pages = sysconf(_SC_AVPHYS_PAGES);
#endif
    if (pages > 0 && page > 0)
        return (uint64_t)pages * (uint64_t)page;
    return 0;
}

static uint64_t container_bytes(void)
{
    uint64_t limit, used;
    if (read_number("/sys/fs/cgroup/memory.max", &limit)) {
        if (!read_number("/sys/fs/cgroup/memory.current", &used))
            used = 0;
    } else if (read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", &limit)) {
        if (!read_number("/sys/fs/cgroup/memory/memory.usage_in_bytes", &used))
            used = 0;
    } else {
        return UINT64_MAX;
    }
    return limit > used ? limit - used : 0;
}

size_t mcr_system_address_space(void)
{
    struct rlimit limit;
    char text[64];
    uint64_t pages = 0;
    long page = sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || page <= 0)
        return SIZE_MAX;
    if (!read_small("/proc/self/statm", text, sizeof text) || !scan(text, NULL, &pages))
        pages = 0;
    uint64_t used = pages * (uint64_t)page;
    return limit.rlim_cur > used ? (size_t)(limit.rlim_cur - used) : 0;
}

size_t mcr_system_memory(void)
{
    const uint64_t least = (uint64_t)64 << 20;
    uint64_t bytes = available_bytes(), container = container_bytes();
    if (bytes > container)
        bytes = container;
    if (bytes > mcr_system_address_space())
        bytes = mcr_system_address_space();
    if (bytes < least)
        bytes = least;
    return bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}

void mcr_system_draw(uint64_t number[2])
{
    struct timespec now = {0};
    if (getentropy(number, 2 * sizeof *number) == 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now); /* no random device: hard to predict at least */
    number[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid();
    number[1] = (uint64_t)(uintptr_t)&now * 0x9e3779b97f4a7c15u ^ (uint64_t)now.tv_sec;
}

const char *mcr_system_error(int code, char *buffer, size_t size)
{
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    return strerror_r(code, buffer, size);
#else
    if (strerror_r(code, buffer, size) != 0 && size > 0)
        buffer[0] = '\0';
    return buffer;
#endif
}
