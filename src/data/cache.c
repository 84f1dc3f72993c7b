/* cache.c: text files larger than memory, converted to a binary file next to them.
 *
 * The text is read once, in parts of whole lines, each preceded by the first lines of the file, so
 * that columns have the same meaning in all of them. The result is a file FILE.mercer-cache:
 *
 *   magic, values of the objects row by row (double), targets or classes, weights, names of
 *   classes, an end of fixed size
 *
 * The end identifies the file and the options: size and time of the file, and its checksum, which
 * decides if the time has changed. Training reads the values in blocks (disk.h). The cache is
 * written to a temporary file and renamed, so that it is complete or does not exist.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "data/builder.h"
#include "data/disk.h"
#include "data/format/formats.h"

static const char magic[16] = "mercer-cache 1\n";

/* Bytes of lines that determine the columns; least and most bytes of a part. */
enum { HEAD = 1 << 19, LEAST_PART = 1 << 20, MOST_PART = 1 << 24 };

/* The end of the cache; sum: checksum of everything between the values and the end, and of the end
 * itself. */
typedef struct ending {
    char magic[16];
    int64_t size, seconds, nanoseconds; /* of the text */
    int64_t text_sum, key;
    int64_t rows, cols, kind, weights; /* kind: an mcr_targets */
    int64_t names, name_bytes;
    int64_t sum;
} ending;

typedef struct cache {
    mcr *ctx;
    const char *path;
    const mcr_format *format;
    mcr_read_options options;
    FILE *text;
    struct stat about;
    char *head;
    int64_t head_bytes, head_rows, head_lines;
    char *name; /* of the cache */
    ending end;
    mcr_data *first; /* read from the head: columns, layout */
    bool thin;       /* so sparse that the cache would be much larger than the text */
    mcr_output *to;
    /* The objects so far; capacity in objects. */
    double *target, *weight;
    int32_t *code;
    int64_t capacity;
    mcr_text names; /* each with its NUL */
} cache;

/* ---- the text ---------------------------------------------------------------------------------*/

bool mcr_cache_suits(const mcr_read_options *o, mcr *ctx, const mcr_input *in,
                     const mcr_format *format)
{
    struct stat about;
    int64_t offset;
    static const char *const lines[] = {"csv", "tsv", "libsvm", NULL};
    int i = 0, file = mcr_input_place(in, &offset); /* not for bytes in memory */
    while (lines[i] && strcmp(lines[i], format->name) != 0)
        i++;
    return o->cache && lines[i] && !o->skip_bad && !o->keep && !o->join && file >= 0 &&
           strcmp(mcr_input_name(in), "-") != 0 && fstat(file, &about) == 0 &&
           S_ISREG(about.st_mode) && (double)about.st_size > (double)mcr_budget_left(ctx) / 3;
}

static mcr_status fail_text(const cache *c)
{
    return mcr_fail_at(c->ctx, MCR_IO, c->path, 0, "%s", strerror(errno ? errno : EIO));
}

static mcr_status check_unchanged(const cache *c)
{
    struct stat now;
    if (fstat(fileno(c->text), &now) != 0)
        return fail_text(c);
    return now.st_size == c->about.st_size && now.st_mtim.tv_sec == c->about.st_mtim.tv_sec &&
                   now.st_mtim.tv_nsec == c->about.st_mtim.tv_nsec
               ? MCR_OK
               : mcr_fail_at(c->ctx, MCR_BAD_DATA, c->path, 0,
                             "the file was changed while it was read");
}

/* The next whole lines, `most` bytes or one line, after `skip` bytes of *bytes. Nothing: the
 * end. */
static mcr_status next_lines(const cache *c, char **bytes, int64_t skip, int64_t most,
                             int64_t *count)
{
    int64_t capacity = most + 1;
    *count = 0;
    for (;;) {
        if (mcr_resize_at(c->ctx, bytes, (size_t)(skip + capacity), 1))
            return MCR_NO_MEMORY;
        errno = 0;
        size_t got = fread(*bytes + skip + *count, 1, (size_t)(capacity - *count), c->text);
        if (ferror(c->text))
            return fail_text(c);
        *count += (int64_t)got;
        const char *last = *count ? memrchr(*bytes + skip, '\n', (size_t)*count) : NULL;
        if (feof(c->text) || last) {
            int64_t whole = feof(c->text) ? *count : last + 1 - (*bytes + skip);
            if (fseeko(c->text, whole - *count, SEEK_CUR) != 0)
                return fail_text(c);
            *count = whole;
            return MCR_OK;
        }
        capacity *= 2;
    }
}

/* Reports an error in a part with its line number in the file. */
static mcr_status place_fault(const cache *c, mcr_status s, int64_t lines_before,
                              int64_t head_lines)
{
    int64_t line = mcr_message_line(c->ctx);
    char text[MCR_MESSAGE_MAX], place[MCR_MESSAGE_MAX];
    if (s != MCR_BAD_DATA || !mcr_message_file(c->ctx) || line <= head_lines)
        return s;
    int length = snprintf(place, sizeof place, "%s:%lld: ", c->path, (long long)line);
    snprintf(text, sizeof text, "%s", mcr_message(c->ctx));
    return length <= 0 || strncmp(text, place, (size_t)length) != 0
               ? s
               : mcr_fail_at(c->ctx, s, c->path, line - head_lines + lines_before, "%s",
                             text + length);
}

static mcr_status read_bytes(const cache *c, mcr_data **out, const char *bytes, int64_t count)
{
    mcr_builder *b = NULL;
    mcr_input *in = NULL;
    mcr_status s = mcr_builder_open(&b, c->ctx, -1);
    if (s)
        return s;
    s = mcr_input_memory(&in, c->ctx, c->path, bytes, (size_t)count);
    if (!s)
        s = c->format->read(b, c->ctx, in, &c->options);
    mcr_input_close(in);
    return mcr_builder_finish_filled(out, b, s);
}

static int64_t count_lines(const char *bytes, int64_t count)
{
    int64_t lines = 0;
    for (const char *p = bytes, *end = bytes + count;
         p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        lines++;
    return lines;
}

/* ---- which cache ------------------------------------------------------------------------------*/

static void describe(mcr_text *t, const char *name, const char *value)
{
    mcr_text_format(t, "%s=%s\n", name, value ? value : "");
}

/* Everything besides the file that the values depend on. */
static mcr_status find_key(cache *c)
{
    const mcr_read_options *o = &c->options;
    mcr_text t;
    mcr_text_init(&t, c->ctx);
    describe(&t, "format", c->format->name);
    describe(&t, "target", o->target);
    describe(&t, "weight", o->weight);
    describe(&t, "drop", o->drop);
    describe(&t, "only", o->only);
    describe(&t, "missing", o->missing);
    for (int i = 0; o->roles && o->roles[i]; i++)
        describe(&t, "role", o->roles[i]);
    mcr_text_format(&t, "features=%lld\n", (long long)o->features);
    for (int64_t i = 0; o->like && i < mcr_layout_columns(o->like); i++) {
        mcr_role role;
        describe(&t, "like", mcr_layout_column(o->like, i, &role));
        mcr_text_format(&t, "%d\n", (int)role);
    }
    if (!t.status)
        c->end.key = (int64_t)mcr_checksum(t.bytes, (size_t)t.length);
    mcr_status s = t.status;
    mcr_text_free(&t);
    return s;
}

/* FILE.mercer-cache, or a file in the folder for caches, with a number derived from the folder of
 * the file. */
static mcr_status find_name(cache *c)
{
    mcr_text t;
    mcr_text_init(&t, c->ctx);
    if (c->options.cache_dir) {
        const char *slash = strrchr(c->path, '/');
        char whole[PATH_MAX];
        const char *of = realpath(c->path, whole) ? whole : c->path;
        mcr_text_format(&t, "%s/%s-%08x.mercer-cache", c->options.cache_dir,
                        slash ? slash + 1 : c->path, (unsigned)mcr_checksum(of, strlen(of)));
    } else {
        mcr_text_format(&t, "%s.mercer-cache", c->path);
    }
    if (!t.status && !(c->name = mcr_copy_text(c->ctx, t.bytes, (size_t)t.length)))
        t.status = MCR_NO_MEMORY;
    mcr_status s = t.status;
    mcr_text_free(&t);
    return s;
}

/* Whether the head can be cached: one field of vectors, nothing missing, no words except a
 * target. */
static bool is_plain(const mcr_data *d)
{
    return d->fields == 1 && (d->store[0]->kind == MCR_DENSE || d->store[0]->kind == MCR_SPARSE) &&
           !d->table && d->carries == 0 && !mcr_data_has_holes(d) && d->skips.dropped == 0 &&
           !d->store[0]->holes;
}

static mcr_status read_head(cache *c, bool *plain)
{
    *plain = false;
    mcr_status s = next_lines(c, &c->head, 0, HEAD, &c->head_bytes);
    if (s || c->head_bytes == 0 || memchr(c->head, '"', (size_t)c->head_bytes) ||
        memchr(c->head, 0x1f, 1)) /* quotes may contain line ends; a compressed file is not text */
        return s;
    s = read_bytes(c, &c->first, c->head, c->head_bytes);
    if (s)
        return s;
    c->head_rows = mcr_data_count(c->first);
    c->head_lines = count_lines(c->head, c->head_bytes);
    *plain = is_plain(c->first);
    c->end.kind = (int64_t)c->first->target_kind;
    c->end.weights = c->first->weight != NULL;
    return MCR_OK;
}

/* ---- writing ----------------------------------------------------------------------------------*/

static int64_t part_bytes(const cache *c)
{
    double part = (double)mcr_budget_left(c->ctx) / 8;
    return part < LEAST_PART ? LEAST_PART : part > MOST_PART ? MOST_PART : (int64_t)part;
}

/* The number of a class by its name; a new name is added. */
static mcr_status code_of(cache *c, const char *name, int32_t *code)
{
    int32_t number = 0;
    for (const char *p = c->names.bytes; number < c->end.names; p += strlen(p) + 1, number++)
        if (strcmp(p, name) == 0) {
            *code = number;
            return MCR_OK;
        }
    *code = number;
    c->end.names++;
    mcr_text_add(&c->names, name, strlen(name) + 1);
    return c->names.status;
}

/* Reserves space for this many objects in total. */
static mcr_status reserve(cache *c, int64_t rows)
{
    if (rows <= c->capacity)
        return MCR_OK;
    int64_t more = c->capacity ? 2 * rows : rows;
    mcr_status s = mcr_resize_at(c->ctx, &c->target, (size_t)more, sizeof *c->target);
    if (!s)
        s = mcr_resize_at(c->ctx, &c->weight, (size_t)more, sizeof *c->weight);
    if (!s)
        s = mcr_resize_at(c->ctx, &c->code, (size_t)more, sizeof *c->code);
    c->capacity = s ? c->capacity : more;
    return s;
}

/* Stores targets and weights of the objects, starting at `from`. */
static mcr_status keep_targets(cache *c, const mcr_data *d, int64_t from)
{
    int64_t rows = mcr_data_count(d) - from;
    int32_t *code = NULL;
    mcr_status s = reserve(c, c->end.rows + rows);
    bool words = c->end.kind == MCR_WORD_TARGETS;
    if (!s && words && !(code = mcr_alloc(c->ctx, (size_t)d->classes->count + 1, sizeof *code)))
        s = MCR_NO_MEMORY;
    for (int64_t k = 0; !s && words && k < d->classes->count; k++)
        s = code_of(c, d->classes->name[k], &code[k]);
    for (int64_t i = 0; i < rows && !s; i++) {
        c->target[c->end.rows + i] = d->target && !words ? d->target[from + i] : 0;
        c->code[c->end.rows + i] = words ? code[d->class_of[from + i]] : 0;
        c->weight[c->end.rows + i] = d->weight ? d->weight[from + i] : 1;
    }
    mcr_free(c->ctx, code);
    return s;
}

static mcr_status write_rows(cache *c, const mcr_data *d, int64_t from)
{
    mcr_field field = mcr_data_field(d, 0);
    int64_t cols = c->end.cols;
    double *row = mcr_alloc(c->ctx, (size_t)cols + 1, sizeof *row);
    mcr_status s = row ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = from; i < field.count && !s; i++) {
        mcr_vector v = mcr_field_vector(&field, i);
        mcr_vector_to_dense(&v, row, cols);
        s = mcr_output_write(c->to, row, sizeof *row * (size_t)cols);
    }
    mcr_free(c->ctx, row);
    return s;
}

/* Refuses a part that differs from the first lines in more than its values. */
static mcr_status check_part(const cache *c, const mcr_data *d)
{
    if (!is_plain(d))
        return mcr_advise(c->ctx,
                          mcr_fail_at(c->ctx, MCR_BAD_DATA, c->path, 0,
                                      "values are missing: a file larger than the memory budget "
                                      "must have all of them; fill them, or allow more memory"),
                          "memory");
    if ((int64_t)d->target_kind != c->end.kind)
        return mcr_fail_at(c->ctx, MCR_BAD_DATA, c->path, 0,
                           "targets are words in some lines and numbers in others: a file larger "
                           "than the memory budget must have one kind");
    return MCR_OK;
}

/* Reads part after part. write false: only determines the number of columns. */
static mcr_status go_through(cache *c, bool write)
{
    char *bytes = NULL;
    int64_t count = 1, lines = 0, most = part_bytes(c);
    bool begun = false;
    mcr_status s = MCR_OK;
    c->end.text_sum = 0;
    rewind(c->text);
    while (!s) {
        mcr_data *part = NULL;
        int64_t skip = begun ? c->head_bytes : 0;
        s = next_lines(c, &bytes, skip, begun ? most : c->head_bytes - 1, &count);
        if (s || count == 0)
            break;
        memcpy(bytes, c->head, (size_t)skip);
        c->end.text_sum = mcr_checksum_more((uint32_t)c->end.text_sum, bytes + skip, (size_t)count);
        if (memchr(bytes + skip, '"', (size_t)count))
            s = mcr_fail_at(c->ctx, MCR_BAD_DATA, c->path, 0,
                            "fields in quotes cannot be cut into parts: allow more memory");
        if (!s)
            s = read_bytes(c, &part, bytes, skip + count);
        s = place_fault(c, s, lines, begun ? c->head_lines : 0);
        if (!s)
            s = check_part(c, part);
        int64_t from = begun ? c->head_rows : 0;
        if (!s && !write && part->store[0]->cols > c->end.cols)
            c->end.cols = part->store[0]->cols;
        if (!s && write)
            s = write_rows(c, part, from);
        if (!s && write)
            s = keep_targets(c, part, from);
        c->end.rows += s || !write ? 0 : mcr_data_count(part) - from;
        lines += count_lines(bytes + skip, count);
        mcr_data_free(part);
        begun = true;
    }
    mcr_free(c->ctx, bytes);
    return s ? s : check_unchanged(c);
}

/* Adds bytes and their checksum. */
static mcr_status add(cache *c, const void *bytes, size_t count)
{
    c->end.sum = mcr_checksum_more((uint32_t)c->end.sum, bytes, count);
    return count ? mcr_output_write(c->to, bytes, count) : MCR_OK;
}

static mcr_status write_end(cache *c)
{
    size_t n = (size_t)c->end.rows;
    mcr_status s = MCR_OK;
    c->end.name_bytes = c->names.length;
    c->end.size = c->about.st_size;
    c->end.seconds = c->about.st_mtim.tv_sec;
    c->end.nanoseconds = c->about.st_mtim.tv_nsec;
    memcpy(c->end.magic, magic, sizeof magic);
    if (c->end.kind == MCR_WORD_TARGETS)
        s = add(c, c->code, n * sizeof *c->code);
    else if (c->end.kind != MCR_NO_TARGETS)
        s = add(c, c->target, n * sizeof *c->target);
    if (!s && c->end.weights)
        s = add(c, c->weight, n * sizeof *c->weight);
    if (!s)
        s = add(c, c->names.bytes, (size_t)c->names.length);
    c->end.sum = mcr_checksum_more((uint32_t)c->end.sum, &c->end, offsetof(ending, sum));
    return s ? s : mcr_output_write(c->to, &c->end, sizeof c->end);
}

static mcr_status write_cache(cache *c)
{
    mcr_status s = MCR_OK;
    enum { MOST_TIMES = 8 };
    c->end.cols = c->first->store[0]->cols;
    if (c->first->store[0]->kind == MCR_SPARSE)
        s = go_through(c, false);
    double line = (double)c->head_bytes / (double)(c->head_rows ? c->head_rows : 1);
    c->thin = (double)c->end.cols * sizeof(double) > MOST_TIMES * line;
    if (s || c->thin)
        return s;
    s = mcr_output_open(&c->to, c->ctx, c->name);
    if (s)
        return mcr_advise(c->ctx, s, "cache-dir");
    s = mcr_output_write(c->to, magic, sizeof magic);
    if (!s)
        s = go_through(c, true);
    if (!s)
        s = write_end(c);
    if (!s) {
        s = mcr_output_commit(c->to);
        c->to = NULL;
    }
    mcr_output_abandon(c->to);
    c->to = NULL;
    return s;
}

/* ---- reading ----------------------------------------------------------------------------------*/

static bool get(FILE *from, void *to, size_t count)
{
    return count == 0 || fread(to, 1, count, from) == count;
}

/* Compares the checksum of the text, if its time differs from that in the cache. */
static bool same_text(const cache *c, const ending *e)
{
    uint32_t sum = 0;
    char part[1 << 14];
    size_t got;
    if (e->size != c->about.st_size)
        return false;
    if (e->seconds == c->about.st_mtim.tv_sec && e->nanoseconds == c->about.st_mtim.tv_nsec)
        return true;
    rewind(c->text);
    while ((got = fread(part, 1, sizeof part, c->text)) > 0)
        sum = mcr_checksum_more(sum, part, got);
    return (int64_t)sum == e->text_sum;
}

static int64_t tail_bytes(const ending *e)
{
    int64_t each = (e->kind == MCR_WORD_TARGETS ? (int64_t)sizeof(int32_t)
                    : e->kind != MCR_NO_TARGETS ? (int64_t)sizeof(double)
                                                : 0) +
                   (e->weights ? (int64_t)sizeof(double) : 0);
    return e->rows * each + e->name_bytes;
}

/* The end of the cache, if it is complete and belongs to the text. */
static bool find_end(cache *c, FILE *from)
{
    struct stat about;
    ending e;
    char start[sizeof magic];
    const mcr_store *first = c->first->store[0];
    if (fstat(fileno(from), &about) != 0 || about.st_size < (off_t)(sizeof magic + sizeof e) ||
        !get(from, start, sizeof start) || memcmp(start, magic, sizeof magic) != 0 ||
        fseeko(from, -(off_t)sizeof e, SEEK_END) != 0 || !get(from, &e, sizeof e))
        return false;
    double bytes = (double)e.rows * (double)e.cols * sizeof(double);
    if (memcmp(e.magic, magic, sizeof magic) != 0 || e.key != c->end.key || e.rows < c->head_rows ||
        e.cols < first->cols || (first->kind == MCR_DENSE && e.cols != first->cols) ||
        e.names < 0 || e.name_bytes < 0 || e.kind != c->end.kind || e.weights != c->end.weights ||
        e.rows > about.st_size || e.name_bytes > about.st_size || e.names > e.name_bytes ||
        (double)about.st_size != bytes + (double)(sizeof magic + sizeof e) + (double)tail_bytes(&e))
        return false;
    if (!same_text(c, &e))
        return false;
    c->end = e;
    return true;
}

/* Reads everything after the values. */
static mcr_status read_tail(cache *c, FILE *from, bool *whole)
{
    const ending *e = &c->end;
    size_t n = (size_t)e->rows, bytes = (size_t)e->name_bytes;
    off_t at = (off_t)sizeof magic + e->rows * e->cols * (off_t)sizeof(double);
    mcr_status s = reserve(c, e->rows + 1);
    mcr_text_free(&c->names);
    mcr_text_init(&c->names, c->ctx);
    char *names = mcr_text_extend(&c->names, bytes + 1);
    if (s || !names)
        return MCR_NO_MEMORY;
    names[bytes] = '\0';
    bool words = e->kind == MCR_WORD_TARGETS, numbers = !words && e->kind != MCR_NO_TARGETS;
    *whole = fseeko(from, at, SEEK_SET) == 0 &&
             (!words || get(from, c->code, n * sizeof *c->code)) &&
             (!numbers || get(from, c->target, n * sizeof *c->target)) &&
             (!e->weights || get(from, c->weight, n * sizeof *c->weight)) &&
             get(from, names, bytes);
    uint32_t sum = 0;
    if (words)
        sum = mcr_checksum_more(sum, c->code, n * sizeof *c->code);
    if (numbers)
        sum = mcr_checksum_more(sum, c->target, n * sizeof *c->target);
    if (e->weights)
        sum = mcr_checksum_more(sum, c->weight, n * sizeof *c->weight);
    sum = mcr_checksum_more(sum, names, bytes);
    *whole = *whole && (int64_t)mcr_checksum_more(sum, e, offsetof(ending, sum)) == e->sum;
    return MCR_OK;
}

static mcr_status give_targets(const cache *c, mcr_builder *b)
{
    const ending *e = &c->end;
    if (e->kind != MCR_WORD_TARGETS)
        return e->kind == MCR_NO_TARGETS ? MCR_OK : mcr_builder_targets(b, c->target);
    mcr_labels *labels = NULL;
    const char **name = mcr_alloc(c->ctx, (size_t)e->names + 1, sizeof *name);
    mcr_status s = name ? mcr_labels_open(&labels, c->ctx) : MCR_NO_MEMORY;
    const char *p = c->names.bytes, *end = p + e->name_bytes;
    for (int64_t k = 0; k < e->names && !s; k++) {
        if (p >= end)
            s = mcr_fail_at(c->ctx, MCR_BAD_DATA, c->name, 0, "the file is damaged: remove it");
        else
            name[k] = p;
        p += s ? 0 : strlen(p) + 1;
    }
    for (int64_t i = 0; i < e->rows && !s; i++)
        s = c->code[i] < 0 || c->code[i] >= e->names
                ? mcr_fail_at(c->ctx, MCR_BAD_DATA, c->name, 0, "the file is damaged: remove it")
                : mcr_labels_add(labels, name[c->code[i]], strlen(name[c->code[i]]));
    mcr_free(c->ctx, name);
    return mcr_builder_labels_filled(b, labels, s);
}

static mcr_status give_values(const cache *c, mcr_builder *b)
{
    char start[sizeof magic];
    mcr_input *in = NULL;
    mcr_store *store = NULL;
    const mcr_store *from = c->first->store[0];
    mcr_status s = mcr_input_open(&in, c->ctx, c->name);
    if (!s)
        s = mcr_input_read(in, start, sizeof start);
    if (!s)
        s = mcr_store_new(&store, c->ctx, from->name, MCR_DENSE);
    if (!s) {
        store->count = c->end.rows;
        store->cols = c->end.cols;
        store->role = from->role;
        s = mcr_store_copy_names(store, from);
    }
    if (!s)
        s = mcr_disk_open(&store->disk, c->ctx, in, c->end.cols, false);
    if (!s && !store->disk)
        s = mcr_fail_at(c->ctx, MCR_IO, c->name, 0, "cannot be read in blocks");
    mcr_input_close(in);
    if (s) {
        mcr_store_free(store);
        return s;
    }
    store->borrowed = true;
    store->release = mcr_disk_close;
    store->user = store->disk;
    return mcr_builder_adopt(b, store);
}

/* Opens the cache; *found: it belongs to the file. The user did not choose this name, and the
 * folder may belong to someone else: a link could lead to any file, which would be replaced, and a
 * pipe would block. */
static mcr_status try_cache(cache *c, bool *found)
{
    struct stat about;
    *found = false;
    if (lstat(c->name, &about) == 0 && !S_ISREG(about.st_mode))
        return mcr_advise(c->ctx,
                          mcr_fail_at(c->ctx, MCR_IO, c->name, 0,
                                      "this is not a plain file: it is neither read nor replaced"),
                          "cache-dir");
    FILE *from = fopen(c->name, "rb");
    if (!from)
        return MCR_OK;
    mcr_status s = find_end(c, from) ? read_tail(c, from, found) : MCR_OK;
    fclose(from);
    return s;
}

static mcr_status run(cache *c, mcr_builder *b, bool *used)
{
    bool found = false;
    ending fresh;
    mcr_status s = find_key(c);
    if (!s)
        s = find_name(c);
    fresh = c->end;
    if (!s)
        s = try_cache(c, &found);
    if (!s && !found) {
        c->end = fresh;
        mcr_text_free(&c->names);
        mcr_text_init(&c->names, c->ctx);
        s = write_cache(c);
        if (s || c->thin)
            return s;
        s = try_cache(c, &found);
        if (!s && !found)
            s = mcr_fail_at(c->ctx, MCR_IO, c->name, 0, "could not be read back");
    }
    if (!s)
        s = give_values(c, b);
    if (!s)
        s = give_targets(c, b);
    if (!s && c->end.weights)
        s = mcr_builder_weights(b, c->weight);
    if (!s && c->first->layout)
        mcr_builder_layout(b, mcr_layout_retain(c->first->layout));
    *used = true;
    return s;
}

mcr_status mcr_cache_read(mcr_builder *b, mcr *ctx, const char *path, const mcr_format *format,
                          const mcr_read_options *options, bool *used)
{
    cache c = {.ctx = ctx, .path = path, .format = format, .options = *options};
    bool plain = false;
    mcr_text_init(&c.names, ctx);
    c.options.on_disk = c.options.cache = 0;
    *used = false;
    c.text = fopen(path, "rb");
    mcr_status s = c.text && fstat(fileno(c.text), &c.about) == 0 ? read_head(&c, &plain)
                                                                  : fail_text(&c);
    if (!s && plain)
        s = run(&c, b, used);
    if (c.text)
        fclose(c.text);
    mcr_text_free(&c.names);
    mcr_data_free(c.first);
    mcr_free_all(ctx, c.head, c.name, c.target, c.weight, c.code);
    return s;
}
