/* options.h: tables of a verb's options, which drive both the parser and --help.
 *
 * A table describes a struct of values: the parser first sets the defaults, then the values of the
 * call. `--name=value`, `--name value`, `-k value` and `-kvalue` are the same; options may appear
 * anywhere among the words; `--` ends them; `-` is a word, and so is a minus with a digit after it
 * (a kernel such as -1*linear).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct cli;

typedef enum cli_type {             /* C type of the value at `offset` */
                        CLI_FLAG,   /* int: 0 or 1; takes no value */
                        CLI_SWITCH, /* const char *: yes or no, alone: yes; NULL: not given */
                        CLI_TEXT,   /* const char *; NULL: not given */
                        CLI_LIST,   /* cli_list: may be given several times */
                        CLI_INT,    /* int64_t; INT64_MIN: not given */
                        CLI_REAL,   /* double; NAN: not given */
                        CLI_BYTES,  /* size_t, written 500K, 64M, 2G; 0: not given */
                        CLI_SEED,   /* uint64_t from 1; 0: not given */
                        CLI_CHOICE  /* int: position in `choices` ("a|b"); -1: not given */
} cli_type;

typedef struct cli_list {
    const char **item; /* ends with NULL; NULL if count is 0 */
    int64_t count;
} cli_list;
void cli_list_add(cli_list *list, const char *item); /* the item is borrowed */

typedef struct cli_option {
    const char *name; /* long, without dashes; NULL ends a table */
    char letter;      /* 0: none */
    cli_type type;
    size_t offset;
    int required;
    const char *argument; /* name of the value in --help: "KERNEL" */
    const char *standard; /* the default as text; NULL: none */
    double min, max;      /* for numbers; both 0: no limits */
    const char *choices;
    const char *help; /* one line */
    /* The accepted words, by number, NULL past the last: --help prints them, followed by `help`
     * without a blank. NULL: help is complete. */
    const char *(*words)(int64_t number);
} cli_option;

/* Options that many verbs share, with the same letters and names everywhere. */
#define CLI_KERNEL_OPTION(at, must)                                                                \
    {                                                                                              \
        .name = "kernel", .letter = 'k', .type = CLI_TEXT, .offset = (at), .required = (must),     \
        .argument = "KERNEL",                                                                      \
        .help = "the kernel, e.g. 'rbf(gamma=0.5)'; mercer kernels lists them"                     \
    }
#define CLI_OUTPUT_OPTION(at, what)                                                                \
    {                                                                                              \
        .name = "output", .letter = 'o', .type = CLI_TEXT, .offset = (at), .argument = "FILE",     \
        .help = what                                                                               \
    }
#define CLI_LAST_OPTION                                                                            \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* A table with the struct that it fills; title is its heading in --help. */
typedef struct cli_group {
    const char *title;
    const cli_option *options;
    void *values;
} cli_group;

/* Words of the call that are not options. Each points into argv. */
typedef struct cli_words {
    const char **word;
    int count;
} cli_words;

/* Fills the values and the words (release both with cli_options_free). Returns the exit status: 0,
 * or 2 with a message. */
int cli_options_parse(struct cli *c, const cli_group *groups, int count, int argc, char **argv,
                      cli_words *words);
void cli_options_free(const cli_group *groups, int count, cli_words *words);

/* The option of a table that arg ("--threads", "--threads=2", "-k") names, or NULL. */
const cli_option *cli_option_find(const cli_option *table, const char *arg);
/* Whether the value of the option in arg is the next argument. */
int cli_option_takes_next(const cli_option *option, const char *arg);
/* Whether arg has the form of an option. */
int cli_option_is(const char *arg);

#endif
