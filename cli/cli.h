/* cli.h: the interface of a verb: its call, the library's context, how to fail, how to read data.
 *
 * A verb is one file, verb_NAME.c, that defines `const cli_verb cli_verb_NAME`, and one line
 * VERB(NAME) in verbs.def. Its run function returns the exit status: 0 success, 1 failure, 2
 * invalid arguments. The function that finds an error reports it, with one of the functions below,
 * and returns the status.
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
    CLI_READS = 1,      /* reads data: has the options for reading */
    CLI_NO_CONTEXT = 2, /* does not use the library: c->ctx is NULL */
    CLI_LEARNS = 4,     /* the first word is a learner: has the options of the learners */
    CLI_SERVES = 8      /* runs until it is stopped: has no time limit */
};

typedef struct cli_verb {
    const char *name, *summary;
    const char *usage;        /* arguments: "DATA [DATA2] -k KERNEL [-o FILE]" */
    const char *about;        /* description, in lines as printed */
    const char *examples;     /* commands, one per line; each works after the previous ones */
    unsigned traits;          /* of cli_trait */
    const char *const *words; /* names of the words, NULL-terminated: {"DATA", "DATA2", NULL}; the
                               * last one may be "DATA...": any number */
    int min_words;
    const cli_option *options; /* ends with a NULL name */
    size_t values_size;        /* size of the struct that the options fill */
    int (*run)(cli *c, const void *values);
} cli_verb;

/* The options of every verb. */
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
    int raw; /* set by a verb that shows missing values unfilled */
    /* Set by a verb with a model: */
    int64_t features;       /* libsvm: minimum number of features; 0: as found */
    const mcr_layout *like; /* csv, tsv: layout of the training table; NULL: none */
    const char **known;     /* its classes; owned; NULL: labels are targets */
    mcr_join *joined;       /* the table of --join, once read */
} cli_reading;

/* The options of the learners; see learner.h. */
typedef struct cli_learning {
    const char *title;
    const char *learner; /* the learner they belong to; NULL: all */
    cli_option *options; /* NULL: the verb has none */
    const char **values; /* values given in the call, as text; NULL: not given */
    int searches;        /* ranges are searched, even if the learner accepts one itself */
} cli_learning;

/* The state of the progress display; see progress.h. */
typedef struct cli_meter {
    int visible, drawn;
    double first, span; /* the part of the whole that the running call covers */
    double last_drawn;
    const char *only; /* Ctrl-C ends only this phase, and later ones still run; NULL: ends all */
    const char *continues; /* checkpoint that training continues from, until it is named; NULL */
} cli_meter;

struct cli {
    const cli_verb *verb; /* NULL until known */
    int json_asked;       /* --json is given: errors also go to standard output */
    cli_common common;
    cli_reading reading;
    cli_learning learning;
    cli_words words;
    mcr *ctx;
    const struct cli_team *team; /* processes; NULL: this is the only one */
    cli_meter meter;
    double started; /* cli_seconds() at the start of the program */
    int late;       /* the call was ended by --time-limit */
};

extern const cli_option cli_common_options[];
extern const cli_option cli_reading_options[];

/* The program: runs the call in argv; returns the exit status. */
int cli_run(int argc, char **argv, const struct cli_team *team);

/* All verbs, NULL-terminated; one by its name, NULL: unknown. */
extern const cli_verb *const cli_verbs[];
const cli_verb *cli_verb_find(const char *name);

enum { CLI_GROUPS = 4 };

/* Fills groups (space for CLI_GROUPS) with the option tables of a verb. `values` is the verb's own
 * struct, NULL if only the tables are needed. Returns their number. */
int cli_verb_groups(const cli_verb *verb, cli *c, void *values, cli_group *groups);

/* ---- faults: one line on standard error, and an object on standard output under --json --------*/

#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Invalid arguments: "mercer: VERB: ..."; returns 2. */
int cli_refuse(cli *c, const char *format, ...) CLI_PRINTF(2, 3);
/* Failure: "mercer: FILE: ..."; file may be NULL; returns 1. */
int cli_fault(cli *c, const char *file, const char *format, ...) CLI_PRINTF(3, 4);
/* Reports the library's message; returns 2 for MCR_BAD_CALL, CLI_INTERRUPTED after Ctrl-C, else 1;
 * 0 for MCR_OK. */
int cli_fail(cli *c, mcr_status status);
/* The library's last message, with the remedy in the program's own terms. */
enum { CLI_MESSAGE = 2048 };
void cli_message(const cli *c, char to[CLI_MESSAGE]);
enum { CLI_NOT_OPTIMAL = 3, CLI_INTERRUPTED = 130 }; /* exit statuses besides 0, 1 and 2 */
/* Out of memory: reports it and exits with 1. cli_die_in_json: also as an object on standard
 * output. */
void cli_die_in_json(void);
_Noreturn void cli_die_memory(void);

/* ---- memory, time -----------------------------------------------------------------------------*/

/* Cleared; exits if out of memory: for small allocations. */
void *cli_alloc(size_t count, size_t size);
/* For matrices: aligned, on large pages if available, not cleared; NULL, with a message, if out of
 * memory. Release with free. */
void *cli_alloc_matrix(cli *c, int64_t rows, int64_t cols, size_t size);
double cli_seconds(void); /* monotonic */

/* ---- input ------------------------------------------------------------------------------------*/

/* Reads a data set according to the options. path NULL: from the files of --class. */
int cli_read_data(cli *c, mcr_data **out, const char *path);
/* The same from part of a larger file; errors are reported by `fault`. */
typedef struct cli_stream cli_stream;
int cli_read_part(cli *c, mcr_data **out, const char *name, const char *bytes, size_t count,
                  int (*fault)(cli_stream *arg, mcr_status status), cli_stream *arg);
/* The columns of a table; *count 0: not a table. Free with mcr_columns_free. */
int cli_read_columns(cli *c, mcr_column_info **out, int64_t *count, const char *path);
/* Turns --pos and --neg into items of --class. */
void cli_read_sides(cli *c);
/* Data read from now on are for this model: columns get the roles they had in training, and labels
 * of sequences and texts that are not classes of the model are not targets. */
void cli_read_like(cli *c, const mcr_model *model);
/* The files named by the words from number `first` on, concatenated into one data set. */
int cli_read_words(cli *c, mcr_data **out, int first);
/* For two data sets, of the first two words, whose vectors are compared column by column: refuses
 * them if their columns have different names. */
int cli_check_order(cli *c, const mcr_data *x, const mcr_data *z);
/* Whether two data sets can be concatenated, checked on their first objects: names, kinds,
 * columns. */
mcr_status cli_try_join(const mcr_data *a, const mcr_data *b);
/* Like cli_fail, for an error in the data named by these words: names the file if there is one. */
int cli_fail_words(cli *c, mcr_status status, int first);
/* Word number i, or NULL if there are fewer. */
const char *cli_word(const cli *c, int i);
/* Whether a file starts like a model. */
int cli_is_model(const char *path);
int cli_read_kernel(cli *c, mcr_kernel **out, const char *expression);

/* ---- the user at the terminal -----------------------------------------------------------------*/

/* Catches Ctrl-C and other signals that end programs, so that no partial file is left behind. */
void cli_signals_install(const cli *c);
/* The user requested a stop. */
int cli_interrupted(void);
/* From now on the program polls cli_interrupted: the first Ctrl-C only sets it. */
void cli_signals_listen(void);
/* Registers a file to be removed if a signal ends the program; and unregisters it, optionally
 * removing it. */
void cli_signals_guard(const char *path);
void cli_signals_unguard(int remove_it);
/* Delays signals that end the program (hold: 1) until they are released (0). */
void cli_signals_hold(int hold);
/* mcr_data_write, mcr_model_save, mcr_model_export and mcr_figure_save; a signal during the call
 * ends the program after it. */
mcr_status cli_write_data(const mcr_data *data, const char *path, const char *format);
mcr_status cli_save_model(cli *c, const mcr_model *model, const char *path);
mcr_status cli_export_as(cli *c, const mcr_model *model, const char *to,
                         const mcr_export_options *options, const char *path,
                         mcr_export_report *report);
mcr_status cli_save_figure(mcr_figure *figure, const char *path, const mcr_draw *draw);

#endif
