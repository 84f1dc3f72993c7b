/* clock.c: a library to preload, with another clock for the program: time that depends on what the
 * program does, not on what else the machine does.
 *
 *   CLOCK=jump:K[:S]  the K-th look at the clock finds that S seconds (a million) have passed
 *   CLOCK=leap        a thousand seconds pass between two looks
 *   CLOCK=work        time passes as the process has it from the processor
 *
 * At the end CLOCK_COUNT (a file) gets the number of looks, and the most seconds of the processor
 * between two of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long looks, jump;
static double jump_seconds = 1e6;
static int by_work, leaps;
static double last, most;

static int ask(clockid_t which, struct timespec *t)
{
    return (int)syscall(SYS_clock_gettime, which, t);
}

static double work(void)
{
    struct timespec t;
    ask(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
    const char *how = getenv("CLOCK");
    by_work = how && strcmp(how, "work") == 0;
    leaps = how && strcmp(how, "leap") == 0;
    jump = how && strncmp(how, "jump:", 5) == 0 ? atol(how + 5) : 0;
    const char *far = jump ? strchr(how + 5, ':') : NULL;
    jump_seconds = far ? atof(far + 1) : jump_seconds;
    last = work();
}

/* Threads that look at the same time may count one look less: the tests use one thread. */
int clock_gettime(clockid_t which, struct timespec *t)
{
    if (which != CLOCK_MONOTONIC)
        return ask(which, t);
    double now = work();
    most = now - last > most ? now - last : most;
    last = now;
    looks++;
    int status = ask(by_work ? CLOCK_PROCESS_CPUTIME_ID : which, t);
    if (leaps)
        t->tv_sec += 1000 * looks;
    if (jump && looks >= jump) {
        long nanoseconds = t->tv_nsec + (long)(fmod(jump_seconds, 1) * 1e9);
        t->tv_sec += (time_t)jump_seconds + nanoseconds / 1000000000;
        t->tv_nsec = nanoseconds % 1000000000;
    }
    return status;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("CLOCK_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%ld %.3f\n", looks, most);
    fclose(file);
}
