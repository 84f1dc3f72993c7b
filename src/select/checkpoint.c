/* checkpoint.c: the results of a search in a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/number.h"
#include "base/stream.h"

typedef struct result {
    mcr_result_key key;
    int64_t first, count; /* in `value` */
} result;

struct mcr_checkpoint {
    mcr *ctx;
    char *path;
    int file;
    result *known; /* by key */
    int64_t results, capacity;
    double *value;
    int64_t values, value_capacity;
};

static int by_key(const void *a, const void *b)
{
    const mcr_result_key *x = &((const result *)a)->key, *y = &((const result *)b)->key;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* ---- lines ------------------------------------------------------------------------------------*/

/* Ends a line with its checksum. */
static void end_line(mcr_text *t)
{
    if (!t->status)
        mcr_text_format(t, " %08x\n", (unsigned)mcr_checksum(t->bytes, (size_t)t->length));
}

/* The length of the line without its checksum if that is correct; else -1. */
static int64_t check_line(const char *line, int64_t length)
{
    enum { TAIL = 9 };
    char word[TAIL];
    if (length < TAIL || line[length - TAIL] != ' ')
        return -1;
    snprintf(word, sizeof word, "%08x", (unsigned)mcr_checksum(line, (size_t)(length - TAIL)));
    return memcmp(word, line + length - TAIL + 1, TAIL - 1) == 0 ? length - TAIL : -1;
}

static const char *next_word(const char *at, const char *end, const char **last)
{
    while (at < end && *at == ' ')
        at++;
    *last = at;
    while (*last < end && **last != ' ')
        (*last)++;
    return at;
}

static bool read_int(const char **at, const char *end, int64_t *value)
{
    const char *last, *first = next_word(*at, end, &last);
    *at = last;
    return last > first && mcr_parse_int(first, last, value) == last;
}

/* Numbers that are not finite are written as words. */
static bool read_value(const char **at, const char *end, double *value)
{
    static const struct word {
        const char *text;
        double value;
    } words[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    const char *last, *first = next_word(*at, end, &last);
    *at = last;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(last - first) == strlen(words[i].text) &&
            memcmp(first, words[i].text, (size_t)(last - first)) == 0) {
            *value = words[i].value;
            return true;
        }
    return last > first && mcr_parse_real(first, last, value) == last;
}

static mcr_status read_result(mcr_checkpoint *c, const char *at, const char *end, bool *fine)
{
    result r = {.first = c->values};
    mcr_status s = MCR_OK;
    *fine = read_int(&at, end, &r.key.batch) && read_int(&at, end, &r.key.item) &&
            read_int(&at, end, &r.count) && r.count >= 0 && r.count <= end - at;
    if (*fine)
        s = mcr_reserve(c->ctx, &c->value, &c->value_capacity, c->values + r.count,
                        sizeof *c->value);
    for (int64_t i = 0; i < r.count && *fine && !s; i++)
        *fine = read_value(&at, end, &c->value[r.first + i]);
    if (s || !*fine)
        return s;
    s = mcr_reserve(c->ctx, &c->known, &c->capacity, c->results + 1, sizeof *c->known);
    if (!s) {
        c->known[c->results++] = r;
        c->values += r.count;
    }
    return s;
}

/* ---- the file ---------------------------------------------------------------------------------*/

static void put_head(mcr_text *t, uint32_t fingerprint)
{
    mcr_text_format(t, "mercer-search 1 %08x", (unsigned)fingerprint);
    end_line(t);
}

static mcr_status failed(const mcr_checkpoint *c, const char *what)
{
    return mcr_fail_at(c->ctx, MCR_IO, c->path, 0, "%s: %s", what, strerror(errno));
}

static mcr_status write_all(const mcr_checkpoint *c, const mcr_text *t);

/* Reads the results, and cuts off an incomplete line; even the first one, if the run ended while
 * writing it. */
static mcr_status read_file(mcr_checkpoint *c, uint32_t fingerprint)
{
    mcr_text bytes, head;
    mcr_text_init(&bytes, c->ctx);
    mcr_text_init(&head, c->ctx);
    char part[65536];
    ssize_t got;
    while ((got = read(c->file, part, sizeof part)) > 0)
        mcr_text_add(&bytes, part, (size_t)got);
    mcr_status s = got < 0 ? failed(c, "cannot be read") : bytes.status;
    put_head(&head, fingerprint);
    if (!s)
        s = head.status;
    int64_t whole = 0;
    bool begun = bytes.length < head.length;
    if (!s && bytes.length > 0 &&
        memcmp(bytes.bytes, head.bytes, (size_t)(begun ? bytes.length : head.length)) != 0)
        s = mcr_advise(
            c->ctx,
            mcr_fail_at(
                c->ctx, MCR_BAD_DATA, c->path, 0,
                "this is not the checkpoint of the same search (data, kernels, options, metric, "
                "folds and seed must be the same): remove the file, or use another file"),
            "output");
    for (bool fine = !s && !begun; fine && !s;) {
        whole = whole ? whole : head.length;
        const char *line = bytes.bytes + whole;
        const char *end = memchr(line, '\n', (size_t)(bytes.length - whole));
        int64_t length = end ? check_line(line, end - line) : -1;
        fine = length >= 0;
        if (fine)
            s = read_result(c, line, line + length, &fine);
        if (fine && !s)
            whole += end - line + 1;
    }
    if (!s && (ftruncate(c->file, whole) != 0 || lseek(c->file, 0, SEEK_END) < 0))
        s = failed(c, "cannot be written");
    if (!s && begun)
        s = write_all(c, &head);
    if (!s && c->results)
        qsort(c->known, (size_t)c->results, sizeof *c->known, by_key);
    mcr_text_free(&bytes);
    mcr_text_free(&head);
    return s;
}

static mcr_status write_all(const mcr_checkpoint *c, const mcr_text *t)
{
    /* One call, so that lines of several threads do not mix. */
    if (t->status)
        return t->status;
    ssize_t written;
    do {
        written = write(c->file, t->bytes, (size_t)t->length);
    } while (written < 0 && errno == EINTR);
    if (written >= 0 && written < (ssize_t)t->length)
        errno = ENOSPC; /* partial write */
    return written == (ssize_t)t->length ? MCR_OK : failed(c, "cannot be written");
}

mcr_status mcr_checkpoint_open(mcr_checkpoint **out, mcr *ctx, const char *path, bool resume,
                               uint32_t fingerprint)
{
    *out = NULL;
    mcr_checkpoint *c = mcr_alloc_zero(ctx, 1, sizeof *c);
    if (!c)
        return MCR_NO_MEMORY;
    *c = (mcr_checkpoint){.ctx = ctx, .file = -1, .path = mcr_copy_text(ctx, path, strlen(path))};
    mcr_status s = c->path ? MCR_OK : MCR_NO_MEMORY;
    int flags = O_RDWR | O_APPEND | O_CLOEXEC | (resume ? 0 : O_CREAT | O_EXCL);
    if (!s && (c->file = open(path, flags, 0666)) < 0)
        s = resume && errno == ENOENT
                ? mcr_advise(
                      ctx,
                      mcr_fail_at(ctx, MCR_IO, path, 0,
                                  "there is no checkpoint to continue from: start a new search"),
                      "no-resume")
            : errno == EEXIST ? mcr_advise(ctx,
                                           mcr_fail_at(ctx, MCR_IO, path, 0,
                                                       "a search was interrupted here: continue "
                                                       "it, or remove the file to start again"),
                                           "resume")
                              : failed(c, "cannot be opened");
    if (!s && resume)
        s = read_file(c, fingerprint);
    mcr_text head;
    mcr_text_init(&head, ctx);
    if (!s && !resume) {
        put_head(&head, fingerprint);
        s = write_all(c, &head);
    }
    mcr_text_free(&head);
    if (s)
        mcr_checkpoint_close(c);
    else
        *out = c;
    return s;
}

bool mcr_checkpoint_find(const mcr_checkpoint *c, mcr_result_key key, double *value, int64_t count)
{
    result wanted = {.key = key};
    const result *r = c && c->results
                          ? bsearch(&wanted, c->known, (size_t)c->results, sizeof *c->known, by_key)
                          : NULL;
    if (!r || r->count != count)
        return false;
    memcpy(value, c->value + r->first, sizeof *value * (size_t)count);
    return true;
}

mcr_status mcr_checkpoint_add(mcr_checkpoint *c, mcr_result_key key, const double *value,
                              int64_t count)
{
    if (!c)
        return MCR_OK;
    mcr_text t;
    mcr_text_init(&t, c->ctx);
    mcr_text_format(&t, "%" PRId64 " %" PRId64 " %" PRId64, key.batch, key.item, count);
    for (int64_t i = 0; i < count; i++) {
        mcr_text_string(&t, " ");
        if (isfinite(value[i]))
            mcr_text_real(&t, value[i]);
        else
            mcr_text_string(&t, isnan(value[i]) ? "nan" : value[i] > 0 ? "inf" : "-inf");
    }
    end_line(&t);
    mcr_status s = write_all(c, &t);
    mcr_text_free(&t);
    return s;
}

void mcr_checkpoint_close(mcr_checkpoint *c)
{
    if (!c)
        return;
    if (c->file >= 0)
        close(c->file);
    mcr_free_all(c->ctx, c->path, c->known, c->value, c);
}
