/* run.c: finds the verb, parses the call, opens the library, runs the verb.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "cli.h"
#include "help.h"
#include "learner.h"
#include "progress.h"
#include "suggest.h"
#include "team.h"

#define VERB(name) extern const cli_verb cli_verb_##name;
#include "verbs.def"
#undef VERB

const cli_verb *const cli_verbs[] = {
#define VERB(name) &cli_verb_##name,
#include "verbs.def"
#undef VERB
    NULL};

const cli_verb *cli_verb_find(const char *name)
{
    for (int i = 0; cli_verbs[i]; i++)
        if (strcmp(cli_verbs[i]->name, name) == 0)
            return cli_verbs[i];
    return NULL;
}

int cli_verb_groups(const cli_verb *verb, cli *c, void *values, cli_group *groups)
{
    int count = 0;
    if (verb->options)
        groups[count++] = (cli_group){"Options", verb->options, values};
    if (c->learning.options)
        groups[count++] = (cli_group){c->learning.title, c->learning.options, c->learning.values};
    if (verb->traits & CLI_READS)
        groups[count++] = (cli_group){"Reading data", cli_reading_options, &c->reading};
    int untimed = (verb->traits & (CLI_LEARNS | CLI_SERVES)) != 0;
    groups[count++] = (cli_group){"Common options", cli_common_options + untimed, &c->common};
    return count;
}

/* Whether one of two words occurs before a "--". */
static int has_word(int argc, char **argv, const char *word, const char *other)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], word) == 0 || (other && strcmp(argv[i], other) == 0))
            return 1;
    return 0;
}

/* The index of the verb: the first word, after any common options; argc if there is none; -1 after
 * reporting an unknown option. */
static int find_verb(cli *c, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!cli_option_is(argv[i]))
            return i;
        const cli_option *option = cli_option_find(cli_common_options, argv[i]);
        if (option)
            i += cli_option_takes_next(option, argv[i]);
        else if (!has_word(1, argv + i, "--help", "-h") &&
                 !has_word(1, argv + i, "--version", "-V")) {
            cli_refuse(c, "unknown option \"%s\" (options follow the verb: see mercer help)",
                       argv[i]);
            return -1;
        }
    }
    return argc;
}

static int refuse_verb(cli *c, const char *word)
{
    cli_suggestion near = {word, NULL, 0};
    for (int i = 0; cli_verbs[i]; i++)
        cli_suggest(&near, cli_verbs[i]->name);
    if (near.nearest)
        return cli_refuse(c, "unknown verb \"%s\" (did you mean \"%s\"?)", word, near.nearest);
    return cli_refuse(c, "unknown verb \"%s\" (see mercer help)", word);
}

/* OpenBLAS selects its code when it is loaded, on some processors old code. Naming the code first
 * costs little; querying OpenBLAS would mean loading it, which takes milliseconds that most calls
 * save. */
static void name_blas_core(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        (void)setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        (void)setenv("OPENBLAS_CORETYPE", "Haswell", 0);
#endif
}

static int open_library(cli *c)
{
    mcr_config config = {
        .size = sizeof config,
        .progress = cli_progress_report,
        .log = c->common.quiet && !c->common.verbose ? NULL : cli_progress_log,
        .user = c,
        .threads = c->common.threads > 0 ? (int)c->common.threads : 0,
        .memory_bytes = c->common.memory_bytes,
        .data_bytes = c->common.data_bytes,
        .work_seconds = c->common.work_seconds > 0 ? c->common.work_seconds : 0,
        .seed = c->common.seed,
        .blas = getenv("MERCER_BLAS"),
    };
    cli_progress_open(c);
    return cli_fail(c, mcr_open(&c->ctx, &config));
}

static int run(cli *c, int argc, char **argv)
{
    void *values = cli_alloc(1, c->verb->values_size);
    cli_group groups[CLI_GROUPS];
    if (c->verb->traits & CLI_LEARNS)
        cli_learner_open(c, NULL);
    int count = cli_verb_groups(c->verb, c, values, groups);
    int bad = cli_options_parse(c, groups, count, argc, argv, &c->words);
    cli_read_sides(c);
    if (!bad) {
        name_blas_core();
        cli_signals_install(c);
        if (!(c->verb->traits & CLI_NO_CONTEXT))
            bad = open_library(c);
        if (!bad && c->team && c->ctx)
            bad = c->team->open(c);
    }
    if (!bad)
        bad = c->verb->run(c, values);
    mcr_join_close(c->reading.joined);
    free(c->reading.known);
    free(c->reading.sides[0]);
    free(c->reading.sides[1]);
    cli_options_free(groups, count, &c->words);
    cli_learner_close(c);
    free(values);
    return bad;
}

/* Reports output that could not be written, unless the reader has closed the pipe. */
static int finish_output(cli *c, int status)
{
    errno = 0;
    int bad = fflush(stdout) != 0 || ferror(stdout);
    if (!bad)
        return status;
    c->json_asked = 0;
    if (errno != EPIPE)
        cli_fault(c, "standard output", "%s", errno ? strerror(errno) : "cannot be written");
    return status ? status : 1;
}

/* `mercer fit svm --help` shows the options of that learner, too. */
static int help(cli *c, int argc, char **argv)
{
    for (int i = 0; (c->verb->traits & CLI_LEARNS) && !c->learning.options && i < argc; i++)
        if (cli_learner_exists(argv[i]))
            cli_learner_open(c, argv[i]);
    int status = cli_help_verb(c, c->verb);
    cli_learner_close(c);
    return status;
}

static int run_verb(cli *c, int at, int words, char **word)
{
    c->verb = cli_verb_find(word[at]);
    if (!c->verb)
        return refuse_verb(c, word[at]);
    char **rest = cli_alloc((size_t)words, sizeof *rest);
    memcpy(rest, word, (size_t)at * sizeof *rest);
    memcpy(rest + at, word + at + 1, (size_t)(words - at - 1) * sizeof *rest);
    int status = has_word(words - 1, rest, "--help", "-h") ? help(c, words - 1, rest)
                                                           : run(c, words - 1, rest);
    free(rest);
    return status;
}

static int run_without_verb(cli *c, int words, char **word)
{
    if (has_word(words, word, "--version", "-V"))
        return cli_help_version(c);
    if (has_word(words, word, "--help", "-h"))
        return cli_help_overview(c, stdout);
    if (c->json_asked)
        return cli_refuse(c, "the verb is missing (see mercer help)");
    cli_help_overview(c, stderr);
    return 2;
}

/* Freed memory is soon allocated again, and the system takes longer to clear a page than most
 * computations take to fill it: so blocks up to a few MB are kept by the program. The heap uses
 * large pages if the system has them: one costs as much as about 45 small ones. What malloc writes
 * before that stays below the first large page. */
static void keep_memory(void)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    enum { KEPT = 64 << 20, MAPPED = 4 << 20, AHEAD = 32 << 20, SMALL = 256 << 10, PAGE = 2 << 20 };
    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_TOP_PAD, AHEAD);
    uintptr_t at = (uintptr_t)sbrk(0), first = (at + SMALL + PAGE - 1) / PAGE * PAGE;
    if ((uintptr_t)sbrk((intptr_t)(first - SMALL - at)) != at)
        return;
    void *volatile block = malloc(3 * (SMALL / 4)); /* more than there is: the heap grows */
    free(block);
    uintptr_t end = (uintptr_t)sbrk(0);
    if (end > first)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#endif
}

int cli_run(int argc, char **argv, const cli_team *team)
{
    keep_memory();
    static char line[4096]; /* messages are written as whole lines, even if several programs
                             * write */
    setvbuf(stderr, line, _IOLBF, sizeof line);
    /* Static: its context stays open. Closing it would only wait for threads that end anyway. */
    static cli c;
    c = (cli){.started = cli_seconds(), .team = team};
    char **word = argv + 1;
    int words = argc > 0 ? argc - 1 : 0;
    c.json_asked = has_word(words, word, "--json", NULL);
    if (c.json_asked)
        cli_die_in_json();
    int at = find_verb(&c, words, word);
    int status = at < 0       ? 2
                 : at < words ? run_verb(&c, at, words, word)
                              : run_without_verb(&c, words, word);
    return finish_output(&c, status);
}
