/* output.c: the writer of tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "progress.h"
#include "team.h"
#include "text.h"

typedef enum file_kind { FILE_TEXT, FILE_CSV, FILE_NPY } file_kind;

struct cli_output {
    cli *c;
    FILE *to;
    file_kind kind;
    cli_table table;
    int64_t written;     /* rows so far */
    int64_t values;      /* values since the last look at the clock */
    int64_t before;      /* of these, the rows of objects before table.objects */
    mcr_output *file;    /* underlying file; NULL: standard output */
    int standard_output; /* to is stdout */
    /* With several processes: the first one writes this process's rows; those so far. */
    int aside;
    char *bytes;
    size_t count;
};

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static int is_standard_output(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/* ---- before the work --------------------------------------------------------------------------*/

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether writing the existing file `path` would replace the input, or a file in it if that is a
 * folder. The files are compared, however the names are spelled. */
static int replaces(const char *path, const struct stat *there, const char *input)
{
    struct stat read, folder;
    char real[PATH_MAX];
    if (!input || strcmp(input, "-") == 0 || stat(input, &read) != 0)
        return 0;
    if (!S_ISDIR(read.st_mode))
        return is_same(&read, there);
    char *slash = realpath(path, real) ? strrchr(real, '/') : NULL;
    if (!slash)
        return 0;
    slash[slash == real] = '\0';
    return stat(real, &folder) == 0 && is_same(&read, &folder);
}

/* The model of --start does not count as input: replacing it by the result is the purpose of that
 * option. */
static int check_inputs(cli *c, const char *option, const char *path)
{
    struct stat there;
    const char *const *name = c->verb->words, *lost = NULL;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode))
        return 0;
    for (int i = 0; name && *name && i < c->words.count && !lost; i++) {
        if ((strncmp(*name, "DATA", 4) == 0 || strcmp(*name, "MODEL") == 0) &&
            replaces(path, &there, c->words.word[i]))
            lost = c->words.word[i];
        name += !strstr(*name, "...");
    }
    for (int64_t i = 0; i < c->reading.classes.count && !lost; i++) {
        const char *file = c->reading.classes.item[i], *equals = strchr(file, '=');
        if (replaces(path, &there, file) || (equals && replaces(path, &there, equals + 1)))
            lost = file;
    }
    if (!lost && replaces(path, &there, c->reading.target))
        lost = c->reading.target;
    return lost ? cli_refuse(c, "%s: %s would overwrite the input %s: give another name", option,
                             path, lost)
                : 0;
}

static int check_name(cli *c, const char *option, const char *path)
{
    if (!path)
        return 0;
    if (is_standard_output(path) && c->common.json)
        return cli_refuse(c, "%s - and --json both write to standard output: give %s a file",
                          option, option);
    if (ends_with(path, ".gz"))
        return cli_refuse(c, "%s: compressed files are not written: write %.*s and run gzip on it",
                          option, (int)strlen(path) - 3, path);
    return check_inputs(c, option, path);
}

int cli_output_check(cli *c, const char *path)
{
    return check_name(c, "-o", path);
}

static int check_folder(cli *c, const char *path)
{
    char *folder = strdup(path);
    if (!folder)
        cli_die_memory();
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int bad = access(slash ? folder : ".", W_OK | X_OK) != 0;
    if (bad)
        cli_fault(c, path, "cannot be written: %s", strerror(errno));
    free(folder);
    return bad;
}

int cli_output_check_place(cli *c, const char *path)
{
    return path && strcmp(path, "-") == 0 && !c->common.json && isatty(STDOUT_FILENO)
               ? cli_refuse(c,
                            "-o: a model cannot be written to a terminal: give the name of a file")
               : cli_output_check_option(c, "-o", path);
}

int cli_output_check_option(cli *c, const char *option, const char *path)
{
    struct stat found;
    int bad = check_name(c, option, path);
    if (bad || !path || strcmp(path, "-") == 0)
        return bad;
    if (stat(path, &found) != 0)
        return check_folder(c, path);
    if (S_ISDIR(found.st_mode))
        return cli_fault(c, path, "this is a folder, not a file");
    if (access(path, W_OK) != 0)
        return cli_fault(c, path, "cannot be written: %s", strerror(errno));
    return S_ISREG(found.st_mode) ? check_folder(c, path) : 0;
}

int cli_output_is_foreign(const char *path, int array)
{
    static const char *const endings[] = {
        ".npz",   ".mat", ".xls",    ".xlsx", ".ods", ".h5", ".hdf5", ".parquet", ".feather",
        ".arrow", ".pkl", ".pickle", ".zip",  ".bz2", ".xz", ".zst",  NULL};
    for (int i = 0; path && endings[i]; i++)
        if (ends_with(path, endings[i]))
            return 1;
    return path && array && ends_with(path, ".npy");
}

int cli_output_check_table(cli *c, const char *path)
{
    if (cli_output_is_foreign(path, 0))
        return cli_refuse(c,
                          "-o: %s files are not written; there are .npy, .csv and, under any "
                          "other ending such as .txt, plain text",
                          strrchr(path, '.'));
    return cli_output_check(c, path);
}

static int fault(cli_output *out)
{
    int error = errno;
    if (!out->standard_output)
        return cli_fail(out->c, MCR_IO); /* the library reports the reason */
    if (error == EPIPE)
        return 1; /* the reader has closed the pipe: no message */
    return cli_fault(out->c, "standard output", "%s", strerror(error));
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* A stream over the library's writer. */
static ssize_t put_bytes(void *file, const char *bytes, size_t count)
{
    return mcr_output_write(file, bytes, count) == MCR_OK ? (ssize_t)count : 0;
}

static int open_file(cli_output *out, const char *path)
{
    int bad = cli_fail(out->c, mcr_output_open(&out->file, out->c->ctx, path));
    if (bad)
        return bad;
    if (mcr_output_temporary(out->file))
        cli_signals_guard(mcr_output_temporary(out->file));
    out->to = fopencookie(out->file, "wb", (cookie_io_functions_t){.write = put_bytes});
    if (!out->to)
        cli_die_memory();
    return 0;
}

/* In plain text one object is one line and a tab ends a column: a word with such characters, or one
 * that could be mistaken for an escaped word, is written as a JSON string. */
static int needs_escape(const char *word)
{
    for (const char *c = word; *c; c++)
        if (cli_control_bytes(c))
            return 1;
    return *word == '"';
}

/* The length of a word of printable ASCII that needs neither quotes nor escapes, as most do, or
 * -1. */
static int64_t plain_length(const char *word)
{
    const char *c = word;
    while (*c >= 0x20 && *c < 0x7f && *c != '"' && *c != ',')
        c++;
    return *c ? -1 : c - word;
}

/* Writes a word; in CSV, quoted if necessary. */
static void put_word(cli_output *out, const char *word)
{
    int64_t plain = plain_length(word);
    if (plain >= 0) {
        fwrite_unlocked(word, 1, (size_t)plain, out->to);
        return;
    }
    if (out->kind == FILE_TEXT && needs_escape(word)) {
        cli_json_string(out->to, word);
        return;
    }
    if (out->kind != FILE_CSV || !word[strcspn(word, "\",\r\n")]) {
        fputs(word, out->to);
        return;
    }
    putc('"', out->to);
    for (; *word; word++) {
        if (*word == '"')
            putc('"', out->to);
        putc(*word, out->to);
    }
    putc('"', out->to);
}

static int64_t count_carried(const cli_output *out)
{
    return out->table.objects ? mcr_data_carried(out->table.objects) : 0;
}

/* Writes the kept columns of the next row's object. */
static void put_carried(cli_output *out, char separator)
{
    for (int64_t k = 0; k < count_carried(out); k++) {
        const char *bytes = "";
        int64_t length = 0;
        if (mcr_data_carried_text(out->table.objects, k, out->written - out->before, &bytes,
                                  &length) != MCR_OK)
            length = 0;
        char *word = cli_alloc((size_t)length + 1, 1);
        memcpy(word, bytes, (size_t)length);
        put_word(out, word);
        free(word);
        putc(separator, out->to);
    }
}

static void put_names(cli_output *out, char separator)
{
    for (int64_t k = 0; k < count_carried(out); k++) {
        put_word(out, mcr_data_carried_name(out->table.objects, k, NULL));
        putc(separator, out->to);
    }
    for (int64_t j = 0; j < out->table.cols; j++) {
        if (j)
            putc(separator, out->to);
        if (out->table.names)
            put_word(out, out->table.names[j]);
        else
            fprintf(out->to, "%s%" PRId64, out->table.prefix, j);
    }
    putc('\n', out->to);
}

/* NumPy's format 1.0: the header is padded with spaces, so that the numbers begin at a multiple of
 * 64. */
static void put_npy_header(cli_output *out)
{
    const int one = 1;
    char order = *(const char *)&one ? '<' : '>', header[256], shape[64];
    int prefix = 10; /* magic, version, length */
    int length = snprintf(shape, sizeof shape, "%" PRId64 ",", out->table.rows);
    if (!out->table.flat)
        snprintf(shape + length, sizeof shape - (size_t)length, " %" PRId64, out->table.cols);
    length = snprintf(header, sizeof header,
                      "{'descr': '%cf%d', 'fortran_order': False, 'shape': (%s), }", order,
                      out->table.single ? 4 : 8, shape);
    int whole = (prefix + length + 1 + 63) / 64 * 64 - prefix;
    fwrite("\x93NUMPY\x01\x00", 1, 8, out->to);
    putc(whole & 0xff, out->to);
    putc(whole >> 8, out->to);
    fprintf(out->to, "%s%*s\n", header, whole - length - 1, "");
}

static int put_header(cli_output *out)
{
    if (out->kind == FILE_NPY) {
        put_npy_header(out);
    } else if (out->kind == FILE_CSV) {
        put_names(out, ',');
    } else if (out->table.cols + count_carried(out) > 1) {
        fputs("# ", out->to);
        put_names(out, '\t');
    }
    return ferror(out->to) ? fault(out) : 0;
}

int cli_output_is_binary(const char *path)
{
    return path && ends_with(path, ".npy");
}

int cli_output_open(cli_output **to, cli *c, const char *path, const cli_table *table)
{
    *to = NULL;
    cli_output *out = cli_alloc(1, sizeof *out);
    int bad = 0;
    out->c = c;
    out->table = *table;
    out->standard_output = is_standard_output(path);
    const cli_team *team = cli_team_of_rows(c);
    double rows = (double)table->rows;
    if (team)
        bad = cli_fail(c, team->sum(c, &rows, 1));
    out->table.rows = (int64_t)rows;
    out->aside = team && team->rank > 0;
    out->kind = out->standard_output      ? FILE_TEXT
                : ends_with(path, ".npy") ? FILE_NPY
                : ends_with(path, ".csv") ? FILE_CSV
                                          : FILE_TEXT;
    if (bad) {
        out->standard_output = 1;
    } else if (out->aside) {
        if (!(out->to = open_memstream(&out->bytes, &out->count)))
            cli_die_memory();
    } else if (out->standard_output) {
        out->to = stdout;
    } else {
        bad = open_file(out, path);
    }
    if (!bad && !out->aside)
        bad = put_header(out);
    if (bad)
        cli_output_discard(out);
    else
        *to = out;
    return bad;
}

/* ---- rows -------------------------------------------------------------------------------------*/

/* Reports progress, and checks whether the user requests a stop, every few hundred values: reading
 * the clock takes longer than writing one. */
static int look_up(cli_output *out, int64_t values)
{
    enum { OFTEN = 512 };
    out->values += values;
    if (out->values < OFTEN)
        return 0;
    out->values = 0;
    double fraction = (double)out->written / (double)(out->table.rows + !out->table.rows);
    return cli_progress_say(out->c, "writing", fraction) ? cli_fail(out->c, MCR_STOPPED) : 0;
}

static int put_binary(cli_output *out, const void *value, int64_t rows, int64_t ld, size_t size)
{
    const char *from = value;
    size_t cols = (size_t)out->table.cols;
    int64_t piece = (int64_t)1 << 25, row_bytes = ld * (int64_t)size;
    int64_t at_once = ld == out->table.cols && row_bytes > 0 ? 1 + piece / row_bytes : 1;
    int bad = 0;
    for (int64_t i = 0; !bad && i < rows; i += at_once) {
        int64_t count = rows - i < at_once ? rows - i : at_once;
        size_t numbers = (size_t)count * cols;
        if (fwrite(from + (size_t)(i * ld) * size, size, numbers, out->to) != numbers)
            return fault(out);
        out->written += count;
        bad = look_up(out, count * out->table.cols);
    }
    return bad;
}

static void put_row_text(cli_output *out, const double *value, const float *value_float)
{
    char text[MCR_REAL_TEXT + 1];
    char separator = out->kind == FILE_CSV ? ',' : '\t';
    int64_t cols = out->table.cols;
    put_carried(out, separator);
    for (int64_t j = 0; j < cols; j++) {
        int length = value ? mcr_print_real(text, value[j]) : mcr_print_float(text, value_float[j]);
        text[length++] = j + 1 < cols ? separator : '\n';
        fwrite_unlocked(text, 1, (size_t)length, out->to);
    }
}

static void put_row_narrow(cli_output *out, const double *value)
{
    for (int64_t j = 0; j < out->table.cols; j++) {
        float narrow = (float)value[j];
        fwrite(&narrow, sizeof narrow, 1, out->to);
    }
}

int cli_output_rows(cli_output *out, const double *value, int64_t rows, int64_t ld)
{
    int bad = 0;
    if (out->kind == FILE_NPY && !out->table.single)
        return put_binary(out, value, rows, ld, sizeof *value);
    for (int64_t i = 0; !bad && i < rows; i++) {
        if (out->kind == FILE_NPY)
            put_row_narrow(out, value + i * ld);
        else
            put_row_text(out, value + i * ld, NULL);
        out->written++;
        bad = ferror_unlocked(out->to) ? fault(out) : look_up(out, out->table.cols);
    }
    return bad;
}

int cli_output_rows_float(cli_output *out, const float *value, int64_t rows, int64_t ld)
{
    int bad = 0;
    if (out->kind == FILE_NPY)
        return put_binary(out, value, rows, ld, sizeof *value);
    for (int64_t i = 0; !bad && i < rows; i++) {
        put_row_text(out, NULL, value + i * ld);
        out->written++;
        bad = ferror_unlocked(out->to) ? fault(out) : look_up(out, out->table.cols);
    }
    return bad;
}

int cli_output_words(cli_output *out, const char *const *word, int64_t rows)
{
    int bad = 0;
    int64_t cols = out->table.cols;
    for (int64_t i = 0; !bad && i < rows; i++) {
        put_carried(out, out->kind == FILE_CSV ? ',' : '\t');
        for (int64_t j = 0; j < cols; j++) {
            if (j)
                putc_unlocked(out->kind == FILE_CSV ? ',' : '\t', out->to);
            put_word(out, word[i * cols + j]);
        }
        putc_unlocked('\n', out->to);
        out->written++;
        bad = ferror_unlocked(out->to) ? fault(out) : look_up(out, cols);
    }
    return bad;
}

int cli_output_continue(cli_output *out, const mcr_data *objects)
{
    out->table.objects = objects;
    out->before = out->written;
    return fflush(out->to) ? fault(out) : 0;
}

/* ---- the end ----------------------------------------------------------------------------------*/

/* Collects the rows of all processes, in order. */
static int collect(cli_output *out)
{
    const cli_team *team = cli_team_of_rows(out->c);
    if (!team)
        return 0;
    if (out->aside && fflush(out->to) != 0)
        cli_die_memory();
    int bad = cli_fail(out->c, team->collect(out->c, out->bytes, out->count, out->to));
    return !bad && !out->aside && ferror(out->to) ? fault(out) : bad;
}

int cli_output_sync(cli_output *out)
{
    int bad = fflush(out->to) != 0 || (out->file && mcr_output_start_sync(out->file) != MCR_OK);
    return bad ? fault(out) : 0;
}

int cli_output_commit(cli_output *out)
{
    int bad = collect(out);
    if (bad || out->aside) {
        cli_output_discard(out);
        return bad;
    }
    if (out->standard_output) {
        bad = fflush(stdout) ? fault(out) : 0;
        free(out);
        return bad;
    }
    if (fclose(out->to) != 0) {
        bad = fault(out);
        mcr_output_abandon(out->file);
    } else {
        bad = cli_fail(out->c, mcr_output_commit(out->file));
    }
    cli_signals_unguard(0);
    free(out);
    return bad;
}

void cli_output_discard(cli_output *out)
{
    if (!out)
        return;
    if (out->to && (out->aside || !out->standard_output))
        fclose(out->to);
    free(out->bytes);
    if (out->file) {
        mcr_output_abandon(out->file);
        cli_signals_unguard(0);
    }
    free(out);
}

int cli_output_text(cli *c, const char *path, const char *text, size_t length)
{
    mcr_output *out = NULL;
    cli_signals_hold(1);
    mcr_status s = mcr_output_open(&out, c->ctx, path);
    if (!s)
        s = mcr_output_write(out, text, length);
    if (!s)
        s = mcr_output_commit(out);
    else
        mcr_output_abandon(out);
    cli_signals_hold(0);
    return cli_fail(c, s);
}
