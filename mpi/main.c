/* main.c: the program mercer-mpi: the verbs of mercer, run by several processes.
 *
 * fit, predict and transform distribute the rows over the ranks; cv and tune distribute tasks.
 * Every rank runs the same verb. Only the first rank prints; the output of the others is discarded,
 * except for the message of a failed rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <petscksp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/stream.h"
#include "base/system.h"
#include "cli.h"
#include "read.h"
#include "team.h"

/* A global, because the functions that cli/ calls have no other way to reach it. */
static ranks job;

/* ---- what the verbs ask for -------------------------------------------------------------------*/

static int open_context(cli *c)
{
    mcr_team_set(c->ctx, &job.team);
    return 0;
}

/* Quoted patterns are expanded here: thousands of files are too many arguments. */
static mcr_status read_rows(cli *c, mcr_data **out, const char *const *path, int files,
                            const mcr_read_options *options)
{
    glob_t found = {0};
    mcr_status s = MCR_OK;
    for (int i = 0; i < files && !s; i++)
        if (glob(path[i], GLOB_NOCHECK | (i ? GLOB_APPEND : 0), NULL, &found))
            s = mcr_fail(c->ctx, MCR_IO, "%s: the pattern cannot be followed", path[i]);
    if (!s)
        s = ranks_read(&job, out, c->ctx, (const char *const *)found.gl_pathv, (int)found.gl_pathc,
                       options);
    globfree(&found);
    return s;
}

static mcr_status sum(cli *c, double *x, int64_t count)
{
    return job.team.sum(&job.team, c->ctx, x, count);
}

static mcr_status largest(cli *c, double *x, int64_t count)
{
    return job.team.largest(&job.team, c->ctx, x, count);
}

static mcr_status gather(cli *c, double **numbers, int64_t count)
{
    char *all;
    size_t *place;
    mcr_status s = ranks_gather(&job, c->ctx, *numbers, (size_t)count * sizeof **numbers, &all,
                                &place);
    if (s)
        return s;
    size_t bytes = place[job.team.count];
    double *block = malloc(bytes + 1);
    if (!block)
        cli_die_memory();
    memcpy(block, all + sizeof *place * ((size_t)job.team.count + 1), bytes);
    mcr_free(c->ctx, all);
    free(*numbers);
    *numbers = block;
    return MCR_OK;
}

static bool put(void *to, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, to) == count;
}

static mcr_status collect(cli *c, const char *bytes, size_t count, FILE *to)
{
    return ranks_collect(&job, c->ctx, bytes, count, put, to);
}

static cli_team team = {.open = open_context,
                        .read = read_rows,
                        .sum = sum,
                        .largest = largest,
                        .gather = gather,
                        .collect = collect};

/* ---- the call ---------------------------------------------------------------------------------*/

typedef struct call {
    int argc;
    char **argv; /* without this program's own options */
    const char *verb, *petsc;
    double timeout;
    const char *wrong; /* an invalid value of --timeout */
    bool threads;      /* the call sets the number */
} call;

/* For an invalid call: all ranks detect it, and the first one reports it. */
static int refuse(const char *text, const char *word)
{
    if (job.team.rank == 0)
        fprintf(stderr, "mercer-mpi: %s%s\n", text, word);
    return 2;
}

/* --name VALUE or --name=VALUE; moves *i to the value. NULL: another argument. */
static const char *option_value(char **argv, int argc, int *i, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    return argv[*i][length] == '\0' && *i + 1 < argc ? argv[++*i] : NULL;
}

static void read_call(call *k, int argc, char **argv)
{
    *k = (call){.argv = cli_alloc((size_t)argc + 3, sizeof *argv), .timeout = 3600};
    for (int i = 0; i < argc; i++) {
        const char *text = NULL, *petsc = i ? option_value(argv, argc, &i, "--petsc") : NULL;
        if (petsc)
            k->petsc = petsc;
        else if (i)
            text = option_value(argv, argc, &i, "--timeout");
        if (text &&
            (mcr_parse_real(text, text + strlen(text), &k->timeout) != text + strlen(text) ||
             !(k->timeout > 0)))
            k->wrong = text;
        if (petsc || text)
            continue;
        k->threads = k->threads || strncmp(argv[i], "--threads", 9) == 0;
        if (i && !k->verb && argv[i][0] != '-')
            k->verb = argv[i];
        k->argv[k->argc++] = argv[i];
    }
    k->timeout = k->wrong ? 3600 : k->timeout;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; word && *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool has_option(const call *k, const char *const *list)
{
    for (int i = 1; i < k->argc; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(k->argv[i], "="), k->argv[i]);
        if (is_one_of(name, list))
            return true;
    }
    return false;
}

static int check_call(const call *k)
{
    static const char *const spread[] = {"fit", "predict", "transform", NULL};
    static const char *const tasks[] = {"cv", "tune", NULL};
    static const char *const others[] = {"help", "version", NULL};
    static const char *const pictures[] = {"--report", "--plot", NULL};
    static const char *const alone[] = {"--calibrate", "--calibration", "--start",
                                        "--resume",    "--report",      "--plot",
                                        "--threshold", "--balance",     NULL};
    team.spread = job.team.spread = is_one_of(k->verb, spread);
    job.tasks = is_one_of(k->verb, tasks);
    if (k->wrong)
        return refuse("--timeout: a number of seconds is needed, not ", k->wrong);
    if (k->verb && !team.spread && !job.tasks && !is_one_of(k->verb, others))
        return refuse("it runs fit, predict, transform, cv and tune; run mercer for ", k->verb);
    if (job.tasks && has_option(k, pictures))
        return refuse("--report and --plot are for one process: run mercer", "");
    if (team.spread && has_option(k, alone))
        return refuse(
            "--calibrate, --calibration, --start, --resume, --report, --plot, --threshold "
            "and --balance are for one process: run mercer",
            "");
    return 0;
}

/* Divides the machine's cores among its ranks, unless the call sets the threads. */
static void set_threads(call *k)
{
    static char words[2][32];
    MPI_Comm here;
    int ranks_here = 1;
    MPI_Comm_split_type(job.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks_here);
    MPI_Comm_free(&here);
    if (k->threads || !k->verb)
        return;
    int cores = mcr_system_cores() / ranks_here;
    snprintf(words[0], sizeof words[0], "--threads");
    snprintf(words[1], sizeof words[1], "%d", cores > 0 ? cores : 1);
    k->argv[k->argc++] = words[0];
    k->argv[k->argc++] = words[1];
}

/* Whether all ranks have the same version and call. */
static int check_same(const call *k)
{
    char text[1 << 14];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", mcr_version());
    for (int i = 1; i < k->argc && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "\n%s", k->argv[i]);
    int64_t sum = mcr_checksum(text, length < sizeof text ? length : sizeof text - 1);
    int64_t v[2] = {sum, -sum};
    MPI_Allreduce(MPI_IN_PLACE, v, 2, MPI_INT64_T, MPI_MAX, job.comm);
    if (v[0] == -v[1])
        return 0;
    return refuse("the ranks were called with different words, or are of different versions of the "
                  "program",
                  "");
}

/* ---- what other ranks would print -------------------------------------------------------------*/

static FILE *aside; /* standard error of all ranks except the first */

static void set_aside(void)
{
    int nothing = open("/dev/null", O_WRONLY);
    aside = tmpfile();
    if (nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    if (aside)
        dup2(fileno(aside), STDERR_FILENO);
    else if (nothing >= 0)
        dup2(nothing, STDERR_FILENO);
    if (nothing >= 0)
        close(nothing);
}

/* The last line that this rank has printed, without the program's name. */
static void last_line(char text[1024])
{
    char line[1024];
    text[0] = '\0';
    fflush(stderr);
    if (aside)
        rewind(aside);
    while (aside && fgets(line, sizeof line, aside)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "mercer: ", 8) == 0)
            snprintf(text, 1024, "%s", line + 8);
    }
}

/* ---- the program ------------------------------------------------------------------------------*/

static int run(call *k)
{
    char why[1024] = "it has failed";
    int bad = check_same(k);
    if (!bad)
        bad = check_call(k);
    if (bad)
        return bad;
    set_threads(k);
    if (job.team.rank > 0)
        set_aside();
    bool alone = !k->verb || !(team.spread || job.tasks);
    int status = alone && job.team.rank > 0 ? 0 : cli_run(k->argc, k->argv, alone ? NULL : &team);
    if (job.team.rank > 0 && status)
        last_line(why);
    bool known = job.ended; /* already reported by the verb */
    int all = ranks_end(&job, status, why);
    if (all && !status && !known && job.team.rank == 0)
        fprintf(stderr, "mercer-mpi: rank %d: %s\n", job.failed, job.why);
    return status ? status : all;
}

/* Not all ranks have started: MPI itself would wait forever. */
static void not_met(int number)
{
    static const char text[] = "mercer-mpi: the ranks have not met within the time limit "
                               "(--timeout SECONDS): is one of them stopped?\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

/* The first rank reports it; mpirun then ends the others. */
static void limit_beginning(double seconds)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    bool first = !rank || strcmp(rank, "0") == 0;
    signal(SIGALRM, not_met);
    alarm((unsigned)fmin(seconds, 1e6) + (first ? 1 : 3));
}

/* PETSc has loaded OpenBLAS by now, which has selected its code: a poor choice can only be corrected
 * by a restart, before MPI has begun. The variable that names the code limits it to one. */
static void restart_for_blas(char **argv)
{
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : mcr_blas_core_hint();
    if (core && setenv("OPENBLAS_CORETYPE", core, 1) == 0)
        execv("/proc/self/exe", argv); /* returns only on failure: then continues, slower */
}

int main(int argc, char **argv)
{
    static char help[] = "mercer-mpi\n";
    call k;
    restart_for_blas(argv);
    read_call(&k, argc, argv);
    char options[4096];
    snprintf(options, sizeof options, "-no_signal_handler %s", k.petsc ? k.petsc : "");
    setenv("PETSC_OPTIONS", options, 1);
    setenv("NO_COLOR", "1", 0); /* mpirun gives ranks a terminal, whatever its own output is */
    int none = 1;
    char *name[] = {argv[0], NULL}, **names = name;
    limit_beginning(k.timeout);
    if (PetscInitialize(&none, &names, NULL, help))
        return 1;
    alarm(0);
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    ranks_open(&job, k.timeout);
    team.rank = job.team.rank;
    team.count = job.team.count;
    int status = run(&k);
    MPI_Comm_free(&job.comm);
    PetscFinalize();
    free(k.argv);
    return status;
}
