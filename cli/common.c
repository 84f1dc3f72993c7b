/* common.c: shared code of all verbs: common options, memory, time, reading of data and kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "learner.h"
#include "tables.h"
#include "team.h"

#define AT(field) offsetof(cli_common, field)

/* The first is not for verbs that learn: their learners have it. */
const cli_option cli_common_options[] = {
    {.name = "time-limit",
     .type = CLI_REAL,
     .offset = AT(time_limit),
     .argument = "SECONDS",
     .min = 1e-9,
     .max = 1e18,
     .help = "end the call after this time, with status 1 (default: no limit)"},
    {.name = "threads",
     .type = CLI_INT,
     .offset = AT(threads),
     .argument = "N",
     .min = 1,
     .max = 4096,
     .help = "how many cores to use (default: all)"},
    {.name = "memory",
     .type = CLI_BYTES,
     .offset = AT(memory_bytes),
     .argument = "SIZE",
     .help = "limit for kernel values, e.g. 500M or 2G (default: half of free memory)"},
    {.name = "max-data",
     .type = CLI_BYTES,
     .offset = AT(data_bytes),
     .argument = "SIZE",
     .help = "limit for reading data and models (default: half of free memory)"},
    {.name = "max-work",
     .type = CLI_REAL,
     .offset = AT(work_seconds),
     .argument = "SECONDS",
     .min = 1e-9,
     .max = 1e18,
     .help = "limit on the estimated time of kernel values (default: 3600; models: 20)"},
    {.name = "seed",
     .type = CLI_SEED,
     .offset = AT(seed),
     .argument = "S",
     .standard = "1",
     .help = "random seed; the same call gives the same result"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = AT(json),
     .help = "print one JSON object on standard output, and nothing else there"},
    {.name = "quiet",
     .type = CLI_FLAG,
     .offset = AT(quiet),
     .help = "print no progress and no remarks, and with -o no summary"},
    {.name = "verbose",
     .type = CLI_FLAG,
     .offset = AT(verbose),
     .help = "print more information on standard error"},
    CLI_LAST_OPTION,
};

#undef AT
#define AT(field) offsetof(cli_reading, field)

static const char *format_name(int64_t number)
{
    return mcr_data_formats()[number];
}

const cli_option cli_reading_options[] = {
    {.name = "format",
     .type = CLI_TEXT,
     .offset = AT(format),
     .argument = "NAME",
     .words = format_name,
     .help = " (default: detected)"},
    {.name = "target",
     .type = CLI_TEXT,
     .offset = AT(target),
     .argument = "COLUMN",
     .help = "csv, tsv: the target (name, number, or a,b); npy: file; npz: array; none"},
    {.name = "weight",
     .type = CLI_TEXT,
     .offset = AT(weight),
     .argument = "COLUMN",
     .help = "csv, tsv, jsonl: the column with the weights of the objects"},
    {.name = "class",
     .type = CLI_LIST,
     .offset = AT(classes),
     .argument = "FILE",
     .help = "fasta: a file with the objects of one class; give it once per class"},
    {.name = "pos",
     .type = CLI_TEXT,
     .offset = AT(pos),
     .argument = "FILE",
     .help = "fasta: the objects of class pos (--class pos=FILE)"},
    {.name = "neg",
     .type = CLI_TEXT,
     .offset = AT(neg),
     .argument = "FILE",
     .help = "fasta: the objects of class neg (--class neg=FILE)"},
    {.name = "role",
     .type = CLI_LIST,
     .offset = AT(roles),
     .argument = "COLUMN=ROLE",
     .help = "csv, tsv: number, category, date, text, set, id, group, ignore, ..."},
    {.name = "drop",
     .type = CLI_TEXT,
     .offset = AT(drop),
     .argument = "COLUMNS",
     .help = "csv, tsv: columns to skip: a,b"},
    {.name = "only",
     .type = CLI_TEXT,
     .offset = AT(only),
     .argument = "COLUMNS",
     .help = "csv, tsv: the only columns that are features: a,b; npz: an array"},
    {.name = "id",
     .type = CLI_TEXT,
     .offset = AT(id),
     .argument = "COLUMN",
     .help = "csv, tsv: the column that names the rows; copied to outputs"},
    {.name = "join",
     .type = CLI_TEXT,
     .offset = AT(join),
     .argument = "FILE",
     .help = "a table with more columns of the same objects, found by their ids"},
    {.name = "missing",
     .type = CLI_TEXT,
     .offset = AT(missing),
     .argument = "RULE",
     .help = "csv, tsv: error, drop, mean, median, mode, kernel or indicator (default)"},
    {.name = "keep",
     .type = CLI_TEXT,
     .offset = AT(keep),
     .argument = "COLUMNS",
     .help = "csv, tsv: columns to copy to the output beside the predictions: a,b"},
    {.name = "skip-bad",
     .type = CLI_FLAG,
     .offset = AT(skip_bad),
     .help = "csv, tsv: skip rows that cannot be read, and report how many"},
    {.name = "cache-dir",
     .type = CLI_TEXT,
     .offset = AT(cache_dir),
     .argument = "DIR",
     .help = "csv, tsv, libsvm: where fit --approx keeps values beyond --memory"},
    CLI_LAST_OPTION,
};

#undef AT

void *cli_alloc(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block)
        cli_die_memory();
    return block;
}

void *cli_alloc_matrix(cli *c, int64_t rows, int64_t cols, size_t size)
{
    const size_t page = (size_t)2 << 20;
    size_t bytes = 0;
    void *block = NULL;
    if (!__builtin_mul_overflow((size_t)rows, (size_t)cols, &bytes) &&
        !__builtin_mul_overflow(bytes, size, &bytes) && bytes < SIZE_MAX / 2) {
        /* Touching new small pages costs more than filling them. */
        size_t align = bytes >= 2 * page ? page : 64;
        bytes = (bytes + align - 1) / align * align;
        block = aligned_alloc(align, bytes ? bytes : align);
#ifdef MADV_HUGEPAGE
        if (block && align == page)
            madvise(block, bytes, MADV_HUGEPAGE);
#endif
    }
    if (!block)
        cli_fault(c, NULL, "no memory for a matrix of %" PRId64 " x %" PRId64 " numbers", rows,
                  cols);
    return block;
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *cli_word(const cli *c, int i)
{
    return i < c->words.count ? c->words.word[i] : NULL;
}

/* Whether a matrix that is too large may be read in blocks: in prediction, and in training with an
 * approximation. */
static int may_stay_on_disk(const cli *c)
{
    const char *approx = cli_learner_given(c, "approx");
    return strcmp(c->verb->name, "predict") == 0 || strcmp(c->verb->name, "transform") == 0 ||
           (strcmp(c->verb->name, "fit") == 0 && approx && strcmp(approx, "none") != 0);
}

/* Whether a text file that is too large may be cached: in training on one file. (Prediction reads
 * text line by line.) */
static int may_be_cached(const cli *c)
{
    const char *scale = cli_learner_given(c, "scale");
    return strcmp(c->verb->name, "fit") == 0 && may_stay_on_disk(c) && c->words.count <= 2 &&
           (!scale || strcmp(scale, "none") == 0);
}

/* The roles of the call: --role and --id; the list must be freed. */
static const char **list_roles(const cli *c, char **id)
{
    int64_t count = c->reading.roles.count;
    const char **list = cli_alloc((size_t)count + 2, sizeof *list);
    for (int64_t i = 0; i < count; i++)
        list[i] = c->reading.roles.item[i];
    if (c->reading.id) {
        size_t capacity = strlen(c->reading.id) + sizeof "=id";
        *id = cli_alloc(capacity, 1);
        snprintf(*id, capacity, "%s=id", c->reading.id);
        list[count] = *id;
    }
    return list;
}

static mcr_read_options read_options(const cli *c, const char *const *roles)
{
    return (mcr_read_options){
        .size = sizeof(mcr_read_options),
        .format = c->reading.format,
        .target = c->reading.target,
        .weight = c->reading.weight,
        .class_files = c->reading.classes.item,
        .features = c->reading.features,
        .like = c->reading.like,
        .roles = roles[0] ? roles : NULL,
        .drop = c->reading.drop,
        .only = c->reading.only,
        .keep = c->reading.keep,
        .missing = c->reading.missing ? c->reading.missing : "auto",
        .skip_bad = c->reading.skip_bad,
        .on_disk = may_stay_on_disk(c),
        .cache = may_be_cached(c),
        .cache_dir = c->reading.cache_dir,
        .join = c->reading.joined,
        .known = c->reading.target ? NULL : c->reading.known,
    };
}

void cli_read_sides(cli *c)
{
    const char *file[] = {c->reading.pos, c->reading.neg}, *const form[] = {"pos=%s", "neg=%s"};
    for (int i = 0; i < 2; i++)
        if (file[i]) {
            size_t size = strlen(file[i]) + sizeof "pos=";
            c->reading.sides[i] = cli_alloc(size, 1);
            snprintf(c->reading.sides[i], size, form[i], file[i]);
            cli_list_add(&c->reading.classes, c->reading.sides[i]);
        }
}

void cli_read_like(cli *c, const mcr_model *model)
{
    const mcr_report_fit *report = mcr_model_report(model);
    int64_t classes = report->task == MCR_CLASSIFY ? mcr_model_classes(model) : 0;
    c->reading.features = report->features;
    c->reading.like = mcr_model_layout(model);
    if (report->task != MCR_CLASSIFY && report->task != MCR_REGRESS)
        return;
    c->reading.known = cli_alloc((size_t)classes + 1, sizeof *c->reading.known);
    for (int64_t k = 0; k < classes; k++)
        c->reading.known[k] = mcr_model_class_name(model, k);
}

/* The table of --join is read once, for all files and parts of files. */
static int open_join(cli *c)
{
    if (!c->reading.join || c->reading.joined)
        return 0;
    return cli_fail(c, mcr_join_open(&c->reading.joined, c->ctx, c->reading.join, c->reading.id));
}

/* Fills missing values; learners and models do that themselves, from their own training objects. */
static int fill(cli *c, mcr_data **data)
{
    mcr_data *filled = NULL;
    if (c->reading.raw || c->reading.like || (c->verb->traits & CLI_LEARNS))
        return 0;
    int bad = cli_fail(c, mcr_data_fill(&filled, *data));
    mcr_data_free(*data);
    *data = filled;
    return bad;
}

int cli_read_data(cli *c, mcr_data **out, const char *path)
{
    char *id = NULL;
    *out = NULL;
    if (!path && !c->reading.classes.count)
        return cli_refuse(c, "DATA is missing (usage: mercer %s %s)", c->verb->name,
                          c->verb->usage);
    int bad = open_join(c);
    if (bad)
        return bad;
    const char **roles = list_roles(c, &id);
    mcr_read_options options = read_options(c, roles);
    bad = cli_fail(c, mcr_data_read(out, c->ctx, path, &options));
    free(roles);
    free(id);
    if (!bad && path && mcr_data_not_utf8(*out))
        cli_tables_say_encoding(c, path, mcr_data_not_utf8(*out));
    return bad ? bad : fill(c, out);
}

int cli_read_part(cli *c, mcr_data **out, const char *name, const char *bytes, size_t count,
                  int (*fault)(cli_stream *arg, mcr_status status), cli_stream *arg)
{
    char *id = NULL;
    *out = NULL;
    int bad = open_join(c);
    if (bad)
        return bad;
    const char **roles = list_roles(c, &id);
    mcr_read_options options = read_options(c, roles);
    mcr_status status = mcr_data_read_memory(out, c->ctx, name, bytes, count, &options);
    free(roles);
    free(id);
    return status == MCR_OK ? 0 : fault(arg, status);
}

int cli_read_columns(cli *c, mcr_column_info **out, int64_t *count, const char *path)
{
    char *id = NULL;
    int bad = open_join(c);
    if (bad)
        return bad;
    const char **roles = list_roles(c, &id);
    mcr_read_options options = read_options(c, roles);
    bad = cli_fail(c, mcr_columns_read(out, count, c->ctx, path, &options));
    free(roles);
    free(id);
    return bad;
}

mcr_status cli_try_join(const mcr_data *a, const mcr_data *b)
{
    const mcr_rows first = {NULL, 0, 1};
    mcr_data *one[2] = {NULL, NULL}, *both = NULL;
    mcr_status status = mcr_data_select(&one[0], a, first);
    if (status == MCR_OK)
        status = mcr_data_select(&one[1], b, first);
    if (status == MCR_OK)
        status = mcr_data_concat(&both, (const mcr_data *const *)one, 2);
    mcr_data_free(both);
    mcr_data_free(one[0]);
    mcr_data_free(one[1]);
    return status;
}

int cli_check_order(cli *c, const mcr_data *x, const mcr_data *z)
{
    for (int64_t f = 0; f < mcr_data_fields(x) && f < mcr_data_fields(z); f++) {
        mcr_field_info info = MCR_INIT(mcr_field_info), other = info;
        if (mcr_data_field_info(x, f, &info) || mcr_data_field_info(z, f, &other) ||
            info.kind != MCR_DENSE || other.kind != MCR_DENSE || info.cols != other.cols)
            continue;
        for (int64_t k = 0; k < info.cols; k++) {
            const char *a = mcr_data_column_name(x, f, k), *b = mcr_data_column_name(z, f, k);
            if (a && b && strcmp(a, b) != 0)
                return cli_fault(c, NULL,
                                 "%s and %s: column %" PRId64 " is \"%.100s\" in the one and "
                                 "\"%.100s\" in the other; both must have the same columns in the "
                                 "same order",
                                 cli_word(c, 0), cli_word(c, 1), k + 1, a, b);
        }
    }
    return 0;
}

/* A column of one table that the other one lacks; NULL: none. */
static const char *odd_column(const mcr_layout *a, const mcr_layout *b)
{
    mcr_role role;
    for (int64_t c = 0; c < mcr_layout_columns(a); c++) {
        const char *name = mcr_layout_column(a, c, &role), *other = NULL;
        for (int64_t k = 0; k < mcr_layout_columns(b) && !other; k++)
            if (strcmp(mcr_layout_column(b, k, &role), name) == 0)
                other = name;
        if (!other)
            return name;
    }
    return NULL;
}

/* Tables that are read as one must have the same columns. */
static int check_columns(cli *c, const mcr_data *a, const mcr_data *b, const char *a_name,
                         const char *b_name)
{
    const mcr_layout *first = mcr_data_layout(a), *second = mcr_data_layout(b);
    int named = first && second && mcr_layout_columns(first) && mcr_layout_columns(second);
    const char *more = named ? odd_column(second, first) : NULL;
    const char *less = named ? odd_column(first, second) : NULL;
    if (!more && !less)
        return 0;
    return cli_fault(c, NULL, "%s has a column \"%.100s\" that %s does not have",
                     more ? b_name : a_name, more ? more : less, more ? a_name : b_name);
}

/* The library's message refers to parts; the user has files. */
static int check_join(cli *c, const mcr_data *a, const mcr_data *b, const char *a_name,
                      const char *b_name)
{
    mcr_status status = cli_try_join(a, b);
    size_t length = strlen(b_name);
    int array = length > 4 && strcmp(b_name + length - 4, ".npy") == 0 && !c->reading.target;
    if (status != MCR_BAD_DATA)
        return cli_fail(c, status);
    return cli_fault(c, NULL, "%s and %s: %s%s%s%s", a_name, b_name, mcr_message(c->ctx),
                     array ? " (if these are targets, use --target " : "", array ? b_name : "",
                     array ? ")" : "");
}

/* With several processes each reads its own rows. */
static int read_spread(cli *c, mcr_data **out, int first)
{
    char *id = NULL;
    int count = c->words.count - first;
    *out = NULL;
    if (count < 1 && !c->reading.classes.count)
        return cli_refuse(c, "DATA is missing (usage: mercer %s %s)", c->verb->name,
                          c->verb->usage);
    if (c->reading.join)
        return cli_refuse(c, "--join is not for processes that share the rows of a file");
    const char **roles = list_roles(c, &id);
    mcr_read_options options = read_options(c, roles);
    const char *const *path = (const char *const *)c->words.word + first;
    int bad = cli_fail(c, c->team->read(c, out, path, count > 0 ? count : 0, &options));
    free(roles);
    free(id);
    return bad;
}

/* Several files, concatenated. */
static int read_several(cli *c, mcr_data **out, int first)
{
    int count = c->words.count - first;
    mcr_data **part = cli_alloc((size_t)count, sizeof *part);
    const mcr_layout *like = c->reading.like;
    int bad = 0;
    *out = NULL;
    for (int i = 0; !bad && i < count; i++) {
        bad = cli_read_data(c, &part[i], cli_word(c, first + i));
        if (!bad && i == 0 && !like) /* the columns of the first file apply to all */
            c->reading.like = mcr_data_layout(part[0]);
        if (!bad && i > 0 && !like)
            bad = check_columns(c, part[0], part[i], cli_word(c, first), cli_word(c, first + i));
        if (!bad && i > 0)
            bad = check_join(c, part[0], part[i], cli_word(c, first), cli_word(c, first + i));
    }
    if (!bad)
        bad = cli_fail(c, mcr_data_concat(out, (const mcr_data *const *)part, count));
    c->reading.like = like;
    for (int i = 0; i < count; i++)
        mcr_data_free(part[i]);
    free(part);
    return bad;
}

int cli_read_words(cli *c, mcr_data **out, int first)
{
    if (cli_team_of_rows(c))
        return read_spread(c, out, first);
    int bad = c->words.count - first <= 1 ? cli_read_data(c, out, cli_word(c, first))
                                          : read_several(c, out, first);
    if (!bad)
        cli_tables_say_unmatched(c);
    return bad;
}

int cli_fail_words(cli *c, mcr_status status, int first)
{
    int one_file = c->words.count == first + 1;
    if (status != MCR_BAD_DATA || !one_file || mcr_message_file(c->ctx))
        return cli_fail(c, status);
    char message[CLI_MESSAGE];
    cli_message(c, message);
    return cli_fault(c, cli_word(c, first), "%s", message);
}

int cli_is_model(const char *path)
{
    unsigned char bytes[512];
    struct stat at;
    /* Reading from a pipe would consume it: only a file can be inspected. */
    int regular = path && stat(path, &at) == 0 && S_ISREG(at.st_mode);
    FILE *file = regular ? fopen(path, "rb") : NULL;
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    return mcr_model_recognise(bytes, count);
}

int cli_read_kernel(cli *c, mcr_kernel **out, const char *expression)
{
    *out = NULL;
    return cli_fail(c, mcr_kernel_parse(out, c->ctx, expression));
}
