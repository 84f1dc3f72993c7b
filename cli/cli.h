/* cli.h: what a verb sees: its call, the library's context, how to fail, how to read data.
 *
 * A verb is one file, verb_NAME.c, that defines `const cli_verb cli_verb_NAME`, and one line
 * VERB(NAME) in verbs.def. Its run function returns the exit status: 0 done, 1 it could not be
 * done, 2 the words of the call were off. Whoever finds a fault says it, with one of the functions
 * below, and hands the status on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include <mercer/mercer.h>

#include "options.h"

typedef struct cli cli;

enum cli_trait {
    CLI_READS = 1,      /* reads data: has the options of reading */
    CLI_LAPACK = 2,     /* factorises matrices: worth a start with the right BLAS code */
    CLI_NO_CONTEXT = 4, /* needs nothing of the library: c->ctx is NULL */
    CLI_LEARNS = 8,     /* the first word is a learner: has the options of the learners */
    CLI_SERVES = 16     /* runs until it is ended: has no time limit */
};

typedef struct cli_verb {
    const char *name, *summary;
    const char *usage;        /* what follows the name: "DATA [DATA2] -k KERNEL [-o FILE]" */
    const char *about;        /* what it does, in lines as they are printed */
    const char *examples;     /* commands, one per line; each works after those before it */
    unsigned traits;          /* of cli_trait */
    const char *const *words; /* names of the words, NULL-terminated: {"DATA", "DATA2", NULL}; the
                                 last one may be "DATA...": any number of them */
    int min_words;
    const cli_option *options; /* ends with a NULL name */
    size_t values_size;        /* of the struct that the options fill */
    int (*run)(cli *c, const void *values);
} cli_verb;

/* The options that every verb has. */
typedef struct cli_common {
    int64_t threads;
    size_t memory_bytes, data_bytes;
    double work_seconds, time_limit;
    uint64_t seed;
    int json, quiet, verbose;
} cli_common;

/* The options of every verb that reads data. */
typedef struct cli_reading {
    const char *format, *target, *weight, *pos, *neg;
    cli_list classes, roles;
    char *sides[2]; /* pos and neg as items of classes; owned */
    const char *drop, *only, *id, *keep, *missing, *join;
    int skip_bad;
    const char *cache_dir;
    int raw; /* set by a verb that shows missing values as they are */
    /* Set by a verb that has a model: */
    int64_t features;       /* libsvm: at least so many; 0: as found */
    const mcr_layout *like; /* csv, tsv: the table that the model was trained on; NULL: none */
    const char **known;     /* its classes; owned; NULL: labels are targets */
    mcr_join *joined;       /* the table of --join, once it was read */
} cli_reading;

/* The options of the learners; see learner.h. */
typedef struct cli_learning {
    const char *title;
    const char *learner; /* whose they are; NULL: of all */
    cli_option *options; /* NULL: the verb has none of them */
    const char **values; /* what the call says, as text; NULL: nothing */
    int searches;        /* ranges are searched, also where the learner could take one itself */
} cli_learning;

/* What is shown of the progress; see progress.h. */
typedef struct cli_meter {
    int visible, drawn;
    double first, span; /* the running call is this part of the whole */
    double last_drawn;
    const char *only; /* Ctrl-C ends this phase, and what follows goes on; NULL: it ends all */
} cli_meter;

struct cli {
    const cli_verb *verb; /* NULL until it is known */
    int json_asked;       /* --json is among the words: faults go to standard output, too */
    cli_common common;
    cli_reading reading;
    cli_learning learning;
    cli_words words;
    mcr *ctx;
    const struct cli_team *team; /* of processes; NULL: this is the only one */
    cli_meter meter;
    double started; /* cli_seconds() at the start of the program */
    int late;       /* --time-limit has ended the call */
};

extern const cli_option cli_common_options[];
extern const cli_option cli_reading_options[];

/* The program: runs the call of argv; returns the exit status. */
int cli_run(int argc, char **argv, const struct cli_team *team);
/* Starts the program again where BLAS would take the code of an older processor; see run.c. */
void cli_restart_for_blas(char **argv);

/* All verbs, NULL-terminated; and one by its name, NULL: unknown. */
extern const cli_verb *const cli_verbs[];
const cli_verb *cli_verb_find(const char *name);

enum { CLI_GROUPS = 4 };

/* Fills groups (space for CLI_GROUPS) with the option tables of a verb. `values` is the verb's own
 * struct, NULL when only the tables are wanted. Returns how many there are. */
int cli_verb_groups(const cli_verb *verb, cli *c, void *values, cli_group *groups);

/* ---- faults: one line on standard error, and an object on standard output under --json --------*/

#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* The words of the call are off: "mercer: VERB: ..."; returns 2. */
int cli_refuse(cli *c, const char *format, ...) CLI_PRINTF(2, 3);
/* It cannot be done: "mercer: FILE: ..."; file may be NULL; returns 1. */
int cli_fault(cli *c, const char *file, const char *format, ...) CLI_PRINTF(3, 4);
/* What the library said; returns 2 for MCR_BAD_CALL, CLI_INTERRUPTED after Ctrl-C, else 1; 0 for
 * MCR_OK. */
int cli_fail(cli *c, mcr_status status);
/* What the library said last, with the program's words for what would help. */
enum { CLI_MESSAGE = 2048 };
void cli_message(const cli *c, char to[CLI_MESSAGE]);
enum { CLI_NOT_OPTIMAL = 3, CLI_INTERRUPTED = 130 }; /* exit statuses beside 0, 1 and 2 */
/* No memory: says so and ends the program with 1. cli_die_in_json: in an object on standard output
 * as well. */
void cli_die_in_json(void);
_Noreturn void cli_die_memory(void);

/* ---- memory, time -----------------------------------------------------------------------------*/

/* Cleared; ends the program when there is no memory: for small things. */
void *cli_alloc(size_t count, size_t size);
/* For matrices: aligned, on large pages where the system has them, not cleared; NULL, after saying
 * so, when there is none. Release with free. */
void *cli_alloc_matrix(cli *c, int64_t rows, int64_t cols, size_t size);
double cli_seconds(void); /* monotonic */

/* ---- input ------------------------------------------------------------------------------------*/

/* Reads a data set as the options say. path NULL: from the files of --class. */
int cli_read_data(cli *c, mcr_data **out, const char *path);
/* The same from bytes of a larger file; a fault is said by `fault`. */
typedef struct cli_stream cli_stream;
int cli_read_part(cli *c, mcr_data **out, const char *name, const char *bytes, size_t count,
                  int (*fault)(cli_stream *arg, mcr_status status), cli_stream *arg);
/* The columns of a table; *count 0: it is none. To be freed by mcr_columns_free. */
int cli_read_columns(cli *c, mcr_column_info **out, int64_t *count, const char *path);
/* --pos and --neg become items of --class. */
void cli_read_sides(cli *c);
/* Data that are read from now on are for this model: columns have the roles that they had in its
 * training, and labels of sequences and texts that are no classes of it are no targets. */
void cli_read_like(cli *c, const mcr_model *model);
/* The files that the words from number `first` on name, one after the other as one data set. */
int cli_read_words(cli *c, mcr_data **out, int first);
/* Two data sets, of the first two words, whose vectors are compared place by place: refused if
 * their columns have other names. */
int cli_check_order(cli *c, const mcr_data *x, const mcr_data *z);
/* Whether two data sets could be joined, by their first objects alone: names, kinds, columns. */
mcr_status cli_try_join(const mcr_data *a, const mcr_data *b);
/* As cli_fail, where the data that these words name are at fault: says the file if there is one. */
int cli_fail_words(cli *c, mcr_status status, int first);
/* Word number i, or NULL if there are not so many. */
const char *cli_word(const cli *c, int i);
/* Whether a file begins like a model. */
int cli_is_model(const char *path);
int cli_read_kernel(cli *c, mcr_kernel **out, const char *expression);

/* ---- the user at the terminal -----------------------------------------------------------------*/

/* Catches Ctrl-C and what else ends programs, so that no half-written file stays behind. */
void cli_signals_install(const cli *c);
/* The user asked to stop. */
int cli_interrupted(void);
/* From now on cli_interrupted is looked at: the first Ctrl-C only sets it. */
void cli_signals_listen(void);
/* The file to remove when a signal ends the program; and that there is none any more, after
 * removing it or not. */
void cli_signals_guard(const char *path);
void cli_signals_unguard(int remove_it);
/* Signals that end the program wait (hold: 1) until they are let through (0). */
void cli_signals_hold(int hold);
/* mcr_data_write, mcr_model_save and mcr_model_export; a signal that comes meanwhile ends the
 * program behind it. */
mcr_status cli_write_data(const mcr_data *data, const char *path, const char *format);
mcr_status cli_save_model(cli *c, const mcr_model *model, const char *path);
mcr_status cli_export_as(cli *c, const mcr_model *model, const char *to,
                         const mcr_export_options *options, const char *path,
                         mcr_export_report *report);

#endif
