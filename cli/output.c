/* output.c: the writer of tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "text.h"

typedef enum file_kind { FILE_TEXT, FILE_CSV, FILE_NPY } file_kind;

struct cli_output {
    cli *c;
    FILE *to;
    file_kind kind;
    cli_table table;
    int64_t written;     /* rows so far */
    char *path;          /* as the user wrote it, for messages */
    char *final;         /* where a finished file goes; NULL: written in place */
    char *temporary;     /* where it is written */
    int standard_output; /* to is stdout */
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

/* Whether writing `path`, which is there, would replace the input, or a file of it if that is a
 * folder. However the names are spelled: the files are compared. */
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

/* The model of --start is no such input: to go on from a model and keep the result in its place is
 * what that option is for. */
static int check_inputs(cli *c, const char *path)
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
    return lost
               ? cli_refuse(c, "-o: %s would overwrite the input %s: give another name", path, lost)
               : 0;
}

int cli_output_check(cli *c, const char *path)
{
    if (!path)
        return 0;
    if (is_standard_output(path) && c->common.json)
        return cli_refuse(c, "-o - and --json both write to standard output: give -o a file");
    if (ends_with(path, ".gz"))
        return cli_refuse(c, "-o: compressed files are not written: write %.*s and run gzip on it",
                          (int)strlen(path) - 3, path);
    return check_inputs(c, path);
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
    if (error == EPIPE && out->standard_output)
        return 1; /* the reader has seen enough: no message */
    return cli_fault(out->c, out->standard_output ? "standard output" : out->path, "%s",
                     strerror(error));
}

/* ---- opening ----------------------------------------------------------------------------------*/

static char *copy(const char *text)
{
    char *made = strdup(text);
    if (!made)
        cli_die_memory();
    return made;
}

/* Files that are there but are no regular files (devices, pipes) cannot be replaced. */
static int open_in_place(cli_output *out, const char *path)
{
    out->to = fopen(path, "wb");
    return out->to ? 0 : fault(out);
}

static int open_beside(cli_output *out, const char *path)
{
    size_t room = strlen(path) + sizeof ".XXXXXX";
    out->final = copy(path);
    out->temporary = cli_alloc(room, 1);
    snprintf(out->temporary, room, "%s.XXXXXX", path);
    int file = mkostemp(out->temporary, O_CLOEXEC);
    if (file < 0)
        return fault(out);
    cli_signals_guard(out->temporary);
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file, 0666 & ~mask) != 0 || !(out->to = fdopen(file, "wb"))) {
        int bad = fault(out);
        close(file);
        return bad;
    }
    return 0;
}

static int open_file(cli_output *out, const char *path)
{
    struct stat found;
    char real[PATH_MAX];
    if (stat(path, &found) != 0)
        return open_beside(out, path);
    if (S_ISDIR(found.st_mode))
        return cli_fault(out->c, path, "this is a folder, not a file");
    if (!S_ISREG(found.st_mode))
        return open_in_place(out, path);
    /* Through a link, what it points to is replaced, not the link. */
    return open_beside(out, realpath(path, real) ? real : path);
}

/* A word as it is; in a table with commas, in quotes where it needs them. */
static void put_word(cli_output *out, const char *word)
{
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

static void put_names(cli_output *out, char separator)
{
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

/* NumPy's format 1.0: the header is filled up with spaces, so that the numbers begin at a multiple
 * of 64. */
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
    } else if (out->table.cols > 1) {
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
    if (out->standard_output) {
        out->to = stdout;
    } else {
        out->path = copy(path);
        out->kind = ends_with(path, ".npy")   ? FILE_NPY
                    : ends_with(path, ".csv") ? FILE_CSV
                                              : FILE_TEXT;
        bad = open_file(out, path);
    }
    if (!bad)
        bad = put_header(out);
    if (bad)
        cli_output_discard(out);
    else
        *to = out;
    return bad;
}

/* ---- rows -------------------------------------------------------------------------------------*/

/* Progress, and whether the user wants to stop. */
static int look_up(cli_output *out)
{
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
        bad = look_up(out);
    }
    return bad;
}

static void put_row_text(cli_output *out, const double *value, const float *value_float)
{
    char text[CLI_NUMBER_ROOM + 1];
    char separator = out->kind == FILE_CSV ? ',' : '\t';
    int64_t cols = out->table.cols;
    for (int64_t j = 0; j < cols; j++) {
        int length = value ? cli_number(text, value[j]) : cli_number_float(text, value_float[j]);
        text[length++] = j + 1 < cols ? separator : '\n';
        fwrite(text, 1, (size_t)length, out->to);
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
        bad = ferror(out->to) ? fault(out) : look_up(out);
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
        bad = ferror(out->to) ? fault(out) : look_up(out);
    }
    return bad;
}

int cli_output_words(cli_output *out, const char *const *word, int64_t rows)
{
    int bad = 0;
    int64_t cols = out->table.cols;
    for (int64_t i = 0; !bad && i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            if (j)
                putc(out->kind == FILE_CSV ? ',' : '\t', out->to);
            put_word(out, word[i * cols + j]);
        }
        putc('\n', out->to);
        out->written++;
        bad = ferror(out->to) ? fault(out) : look_up(out);
    }
    return bad;
}

/* ---- the end ----------------------------------------------------------------------------------*/

static void release(cli_output *out)
{
    free(out->path);
    free(out->final);
    free(out->temporary);
    free(out);
}

int cli_output_commit(cli_output *out)
{
    int bad = 0;
    if (out->standard_output)
        bad = fflush(stdout) ? fault(out) : 0;
    else if (fclose(out->to) != 0)
        bad = fault(out);
    out->to = NULL;
    if (!bad && out->final && rename(out->temporary, out->final) != 0)
        bad = fault(out);
    if (out->temporary)
        cli_signals_unguard(bad);
    release(out);
    return bad;
}

void cli_output_discard(cli_output *out)
{
    if (!out)
        return;
    if (out->to && !out->standard_output)
        fclose(out->to);
    if (out->temporary)
        cli_signals_unguard(1);
    release(out);
}
