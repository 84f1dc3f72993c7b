/* read.c: reading files in parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/data.h"
#include "share.h"

/* Twice the bytes that readers use to determine the columns. */
enum { HEAD = 1 << 19 };

typedef struct file {
    mcr *ctx;
    const char *path;
    FILE *from;
    int64_t size;
    double changed; /* modification time */
    char *head;     /* whole lines from the beginning, each with its end */
    int64_t head_bytes;
} file;

/* ---- bytes ------------------------------------------------------------------------------------*/

static mcr_status fail_file(const file *f)
{
    return mcr_fail_at(f->ctx, MCR_IO, f->path, 0, "%s", strerror(errno ? errno : EIO));
}

static mcr_status look(const file *f, struct stat *at)
{
    return stat(f->path, at) == 0 ? MCR_OK : fail_file(f);
}

static double changed_at(const struct stat *at)
{
    return (double)at->st_mtim.tv_sec + 1e-9 * (double)at->st_mtim.tv_nsec;
}

/* Fails if another program has written to the file meanwhile. */
static mcr_status check_unchanged(const file *f)
{
    struct stat at;
    mcr_status s = look(f, &at);
    if (!s && (at.st_size != f->size || changed_at(&at) != f->changed))
        s = mcr_fail_at(f->ctx, MCR_BAD_DATA, f->path, 0, "the file was changed while it was read");
    return s;
}

static mcr_status get_bytes(const file *f, int64_t first, int64_t count, char *to)
{
    errno = 0;
    if (fseeko(f->from, first, SEEK_SET) != 0 ||
        fread(to, 1, (size_t)count, f->from) != (size_t)count)
        return errno ? fail_file(f)
                     : mcr_fail_at(f->ctx, MCR_BAD_DATA, f->path, 0,
                                   "the file was changed while it was read");
    return MCR_OK;
}

/* The start of the line at `at`, or of the next one if `at` is not its first byte. */
static mcr_status next_line(const file *f, int64_t at, int64_t *begin)
{
    *begin = at <= 0 ? 0 : at >= f->size ? f->size : at;
    if (*begin == 0 || *begin == f->size)
        return MCR_OK;
    if (fseeko(f->from, at - 1, SEEK_SET) != 0)
        return fail_file(f);
    int byte = 0;
    for (*begin = at - 1; byte != '\n' && byte != EOF; ++*begin)
        byte = getc(f->from);
    *begin = *begin < f->size ? *begin : f->size;
    return ferror(f->from) ? fail_file(f) : MCR_OK;
}

static mcr_status get_head(file *f)
{
    int64_t most = f->size < HEAD ? f->size : HEAD;
    mcr_status s = next_line(f, most, &f->head_bytes);
    if (s)
        return s;
    f->head = mcr_alloc(f->ctx, (size_t)f->head_bytes + 1, 1);
    s = f->head ? get_bytes(f, 0, f->head_bytes, f->head) : MCR_NO_MEMORY;
    if (!s && f->head_bytes > 0 && f->head[f->head_bytes - 1] != '\n')
        f->head[f->head_bytes++] = '\n'; /* other lines will follow the last one of the file */
    return s;
}

static mcr_status open_file(file *f, mcr *ctx, const char *path)
{
    struct stat at;
    *f = (file){.ctx = ctx, .path = path};
    errno = 0;
    mcr_status s = look(f, &at);
    if (s)
        return s;
    f->size = at.st_size;
    f->changed = changed_at(&at);
    if (!S_ISREG(at.st_mode))
        return MCR_OK;
    f->from = fopen(path, "rb");
    return f->from ? MCR_OK : fail_file(f);
}

static void close_file(file *f)
{
    if (f->from)
        fclose(f->from);
    if (f->ctx)
        mcr_free(f->ctx, f->head);
}

/* Whether every object is a line, so that the file can be cut at any line. */
static bool has_lines(const file *f, const mcr_read_options *o)
{
    static const char *const others[] = {"npy", "fasta", "tu", "precomputed"};
    unsigned char first[6] = {0};
    for (size_t i = 0; o->format && i < sizeof others / sizeof *others; i++)
        if (strcmp(o->format, others[i]) == 0)
            return false;
    if (!f->from || o->class_files || f->size == 0 || fseeko(f->from, 0, SEEK_SET) != 0)
        return false;
    size_t got = fread(first, 1, sizeof first, f->from);
    return got > 0 && memcmp(first, "\x1f\x8b", 2) != 0 && memcmp(first, "\x93NUMPY", 6) != 0 &&
           first[0] != '>' && first[0] != ';';
}

/* ---- a part of a file -------------------------------------------------------------------------*/

static int64_t count_lines(const char *bytes, int64_t count)
{
    int64_t lines = 0;
    for (int64_t i = 0; i < count; i++)
        lines += bytes[i] == '\n';
    return lines;
}

/* Reports an error in a part with its line number in the file. */
static mcr_status place_fault(const file *f, mcr_status status, int64_t head_lines, int64_t first)
{
    int64_t line = mcr_message_line(f->ctx), before = 0;
    char text[MCR_MESSAGE_MAX], place[MCR_MESSAGE_MAX], part[1 << 14];
    if (status != MCR_BAD_DATA || !mcr_message_file(f->ctx) || line <= head_lines)
        return status;
    int length = snprintf(place, sizeof place, "%s:%lld: ", f->path, (long long)line);
    snprintf(text, sizeof text, "%s", mcr_message(f->ctx));
    if (strncmp(text, place, (size_t)length) != 0 || fseeko(f->from, 0, SEEK_SET) != 0)
        return status;
    for (int64_t at = 0; at < first; at += (int64_t)sizeof part) {
        int64_t count = first - at < (int64_t)sizeof part ? first - at : (int64_t)sizeof part;
        if (get_bytes(f, at, count, part))
            return status;
        before += count_lines(part, count);
    }
    return mcr_fail_at(f->ctx, status, f->path, line - head_lines + before, "%s", text + length);
}

static mcr_status read_bytes(mcr_data **out, const file *f, const char *bytes, int64_t count,
                             const mcr_read_options *o)
{
    return mcr_data_read_memory(out, f->ctx, f->path, bytes, (size_t)count, o);
}

static mcr_status check_quotes(const file *f, const char *bytes, int64_t count)
{
    int64_t quotes = 0;
    for (int64_t i = 0; i < count; i++)
        quotes += bytes[i] == '"';
    return quotes % 2 == 0
               ? MCR_OK
               : mcr_fail_at(f->ctx, MCR_BAD_DATA, f->path, 0,
                             "a field in quotes has a line break: such files cannot be cut into "
                             "parts");
}

/* The lines before byte `end` of the head, perhaps only those before the first row. The head
 * determines the columns; how many of its rows come later is found by reading these twice. */
static mcr_status read_few(mcr_data **out, const file *f, int64_t end, const mcr_read_options *o)
{
    int64_t later = f->head_bytes - end, rows;
    mcr_data *head = NULL, *more = NULL;
    char *bytes = mcr_alloc(f->ctx, (size_t)(f->head_bytes + later), 1);
    mcr_status s = bytes ? check_quotes(f, f->head, end) : MCR_NO_MEMORY;
    if (!s) {
        memcpy(bytes, f->head, (size_t)f->head_bytes);
        memcpy(bytes + f->head_bytes, f->head + end, (size_t)later);
        s = read_bytes(&head, f, f->head, f->head_bytes, o);
    }
    if (!s)
        s = read_bytes(&more, f, bytes, f->head_bytes + later, o);
    if (!s) {
        rows = 2 * mcr_data_count(head) - mcr_data_count(more);
        s = mcr_data_select(out, head, (mcr_rows){NULL, 0, rows});
    }
    mcr_data_free(more);
    mcr_data_free(head);
    mcr_free(f->ctx, bytes);
    return s;
}

/* The lines that begin at bytes first to end - 1. They are preceded by the head, so that all ranks
 * see the same columns; its rows are then dropped. */
static mcr_status read_lines(mcr_data **out, const file *f, int64_t first, int64_t end,
                             const mcr_read_options *o)
{
    int64_t skip = first > 0 ? f->head_bytes : 0, count = skip + end - first, from = 0;
    mcr_data *head = NULL, *all = NULL;
    if (first == 0 && end < f->head_bytes && end < f->size)
        return read_few(out, f, end, o);
    char *bytes = mcr_alloc(f->ctx, (size_t)count + 1, 1);
    mcr_status s = bytes ? MCR_OK : MCR_NO_MEMORY;
    if (!s && skip)
        memcpy(bytes, f->head, (size_t)skip);
    if (!s)
        s = get_bytes(f, first, end - first, bytes + skip);
    if (!s)
        s = check_quotes(f, bytes + skip, end - first);
    if (!s && first > 0)
        s = read_bytes(&head, f, f->head, f->head_bytes, o);
    if (!s)
        s = read_bytes(&all, f, bytes, count, o);
    s = place_fault(f, s, first > 0 ? count_lines(f->head, f->head_bytes) : 0, first);
    if (!s) {
        from = head ? mcr_data_count(head) : 0;
        s = mcr_data_select(out, all, (mcr_rows){NULL, from, mcr_data_count(all) - from});
    }
    mcr_data_free(head);
    mcr_data_free(all);
    mcr_free(f->ctx, bytes);
    return s;
}

/* ---- all files --------------------------------------------------------------------------------*/

/* This rank's part of file number k, with `before` bytes in the files before it. */
static mcr_status read_part(const ranks *r, mcr_data **out, const file *f, int64_t before,
                            int64_t all, const mcr_read_options *o)
{
    double each = (double)all / r->team.count;
    int64_t begin, end;
    *out = NULL;
    mcr_status s = next_line(f, (int64_t)(each * r->team.rank) - before, &begin);
    bool last = r->team.rank + 1 == r->team.count;
    if (!s)
        s = next_line(f, last ? f->size : (int64_t)(each * (r->team.rank + 1)) - before, &end);
    return s || begin >= end ? s : read_lines(out, f, begin, end, o);
}

static mcr_status read_whole(const ranks *r, mcr_data **out, const file *f, mcr *ctx,
                             const mcr_read_options *o)
{
    mcr_data *all = NULL;
    mcr_status s = mcr_data_read(&all, ctx, f ? f->path : NULL, o);
    int64_t n = s ? 0 : mcr_data_count(all);
    int64_t first = n * r->team.rank / r->team.count, end = n * (r->team.rank + 1) / r->team.count;
    if (!s)
        s = mcr_data_select(out, all, (mcr_rows){NULL, first, end - first});
    mcr_data_free(all);
    return s;
}

/* An empty data set with the columns of the first file. */
static mcr_status read_nothing(mcr_data **out, const file *f, const mcr_read_options *o)
{
    mcr_data *head = NULL;
    mcr_status s = read_bytes(&head, f, f->head, f->head_bytes, o);
    if (!s)
        s = mcr_data_select(out, head, (mcr_rows){NULL, 0, 0});
    mcr_data_free(head);
    return s;
}

static mcr_status read_files(const ranks *r, mcr_data **out, file *f, int files,
                             const mcr_read_options *given)
{
    mcr *ctx = f[0].ctx;
    mcr_read_options o = *given;
    mcr_data **part = mcr_alloc_zero(ctx, (size_t)files, sizeof *part), *first = NULL;
    int64_t all = 0, before = 0;
    int parts = 0;
    mcr_status s = part ? MCR_OK : MCR_NO_MEMORY;
    for (int k = 0; k < files && !s; k++) {
        all += f[k].size;
        s = get_head(&f[k]);
    }
    if (!s && files > 1 && !o.like) { /* the columns of the first file apply to all */
        s = read_bytes(&first, &f[0], f[0].head, f[0].head_bytes, &o);
        o.like = s ? NULL : mcr_data_layout(first);
    }
    for (int k = 0; k < files && !s; before += f[k++].size) {
        s = read_part(r, &part[parts], &f[k], before, all, k ? &o : given);
        parts += part[parts] != NULL;
    }
    if (!s && parts == 0)
        s = read_nothing(&part[parts++], &f[0], given);
    if (!s && parts == 1)
        *out = mcr_data_retain(part[0]);
    else if (!s)
        s = mcr_data_concat(out, (const mcr_data *const *)part, parts);
    for (int k = 0; k < parts; k++)
        mcr_data_free(part[k]);
    mcr_data_free(first);
    mcr_free(ctx, part);
    return s;
}

/* Checks that all ranks see the same files: compares sizes and times. */
static mcr_status check_same(ranks *r, mcr *ctx, const file *f, int files)
{
    double size = 0, changed = 0;
    bool same = true, same_time = true;
    for (int k = 0; k < files; k++) {
        size += (double)f[k].size;
        changed = fmax(changed, f[k].changed);
    }
    mcr_status s = ranks_same(r, ctx, size, &same);
    if (!s)
        s = ranks_same(r, ctx, changed, &same_time);
    if (!s && !(same && same_time))
        s = mcr_fail_at(ctx, MCR_BAD_DATA, f[0].path, 0,
                        "the file is not the same in all ranks: is it written to, or do the nodes "
                        "have copies of their own?");
    return s;
}

mcr_status ranks_read(ranks *r, mcr_data **out, mcr *ctx, const char *const *path, int files,
                      const mcr_read_options *o)
{
    file *f = mcr_alloc_zero(ctx, (size_t)files + 1, sizeof *f);
    bool lines = files > 0;
    mcr_data *own = NULL;
    *out = NULL;
    mcr_status s = f ? MCR_OK : MCR_NO_MEMORY;
    for (int k = 0; k < files && !s; k++) {
        s = open_file(&f[k], ctx, path[k]);
        lines = lines && !s && has_lines(&f[k], o);
    }
    if (!s)
        s = check_same(r, ctx, f, files);
    if (!s && !lines && files > 1)
        s = mcr_fail(ctx, MCR_BAD_CALL,
                     "several files must be of lines (csv, tsv, libsvm, text), and not compressed");
    if (!s)
        s = lines ? read_files(r, &own, f, files, o)
                  : read_whole(r, &own, files ? &f[0] : NULL, ctx, o);
    for (int k = 0; k < files && !s; k++)
        s = check_unchanged(&f[k]);
    if (!s)
        s = ranks_share(r, out, own);
    for (int k = 0; k < files && f; k++)
        close_file(&f[k]);
    mcr_free(ctx, f);
    mcr_data_free(own);
    return s;
}
