/* stream.c: a table that is read incrementally, some rows at a time.
 *
 * The library reads each part like a separate file, with the header line prepended. Parts end with
 * a record: at the end of a line outside quotes. A part ends early if no more bytes are available,
 * so that slow input is answered immediately.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "tables.h"

enum { PART = 1 << 20, LONG_RECORD = 1 << 18, MOST_UNSEEN = 64 };

/* Values of one column that were not seen in training. */
typedef struct unseen {
    char name[104], word[64];
    int64_t count;
} unseen;

struct cli_stream {
    cli *c;
    const char *path;
    int fd;
    char *bytes;     /* the header, followed by the rows of this part and further bytes */
    size_t capacity; /* of bytes */
    size_t header;   /* length of the header line; 0: unknown so far, or none */
    size_t used;     /* bytes in use */
    int known;       /* whether there is a header */
    int ended;
    int64_t lines;       /* before this part */
    int64_t skipped, at; /* unreadable rows; the line of the first */
    char why[168];
    int64_t not_utf8;         /* the first line with other bytes */
    int64_t dropped, missing; /* rows and values */
    unseen unseen[MOST_UNSEEN];
};

static int ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcasecmp(path + n - m, end) == 0;
}

int cli_stream_is_wanted(const cli *c, const char *path)
{
    const off_t large = (off_t)32 << 20;
    struct stat at;
    const char *format = c->reading.format;
    int beside = 0;
    if (c->reading.like)
        mcr_layout_key(c->reading.like, &beside);
    if (!path || !c->reading.like || beside ||
        (format && strcmp(format, "csv") && strcmp(format, "tsv")))
        return 0;
    if (strcmp(path, "-") == 0)
        return 1;
    if (!format && !ends_with(path, ".csv") && !ends_with(path, ".tsv"))
        return 0;
    return stat(path, &at) == 0 && (!S_ISREG(at.st_mode) || at.st_size > large);
}

int cli_stream_open(cli_stream **out, cli *c, const char *path)
{
    cli_stream *s = *out = cli_alloc(1, sizeof *s);
    *s = (cli_stream){.c = c, .path = path, .capacity = PART + LONG_RECORD};
    s->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return cli_fault(c, path, "cannot be read: %s", strerror(errno));
    s->bytes = cli_alloc(s->capacity + 1, 1);
    return 0;
}

void cli_stream_close(cli_stream *s)
{
    if (!s)
        return;
    if (s->fd > STDIN_FILENO)
        close(s->fd);
    free(s->bytes);
    free(s);
}

/* ---- bytes ------------------------------------------------------------------------------------*/

/* The end of the last complete record, from `first` on; records: their number. An unclosed quote
 * ends with its line if the record would become very long. */
static size_t last_end(const cli_stream *s, size_t first, int64_t *records)
{
    size_t end = first;
    int quoted = 0;
    *records = 0;
    for (size_t i = first; i < s->used; i++) {
        quoted ^= s->bytes[i] == '"';
        if (s->bytes[i] == '\n' && (!quoted || i - end > LONG_RECORD)) {
            end = i + 1;
            quoted = 0;
            ++*records;
        }
    }
    if (s->ended && end < s->used) { /* the last line needs no line end */
        end = s->used;
        ++*records;
    }
    return end;
}

static int is_waiting(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* One read; waits for bytes if `wait`. */
static int read_some(cli_stream *s, int wait)
{
    if (!wait && !is_waiting(s->fd))
        return 0;
    if (s->used + LONG_RECORD / 2 > s->capacity) {
        char *more = realloc(s->bytes, 2 * s->capacity + 1);
        if (!more)
            cli_die_memory();
        s->bytes = more;
        s->capacity *= 2;
    }
    ssize_t got = read(s->fd, s->bytes + s->used, s->capacity - s->used);
    if (got < 0 && errno == EINTR)
        return cli_interrupted() ? cli_fail(s->c, MCR_STOPPED) : 0;
    if (got < 0)
        return cli_fault(s->c, s->path, "cannot be read: %s", strerror(errno));
    s->used += (size_t)got;
    s->ended = got == 0;
    return 0;
}

/* Whole records: at least one, or two until it is known whether the first is a header. *end 0: no
 * more. */
static int collect(cli_stream *s, size_t *end, int64_t *records)
{
    int64_t least = s->known ? 1 : 2;
    int bad = 0;
    *end = last_end(s, s->header, records);
    while (!bad && !s->ended && s->used - s->header < PART) {
        size_t before = s->used;
        bad = read_some(s, *records < least);
        if (!bad && s->used == before && !s->ended && *records >= least)
            break;
        if (s->used - before > 0 || s->ended)
            *end = last_end(s, s->header, records);
    }
    while (!bad && !s->ended && *records < least) { /* a very long record */
        bad = read_some(s, 1);
        *end = last_end(s, s->header, records);
    }
    if (*records == 0)
        *end = 0;
    return bad;
}

/* ---- rows -------------------------------------------------------------------------------------*/

/* Reports an error with its line number in the whole table. */
static int say_fault(cli_stream *s, mcr_status status)
{
    int64_t line = mcr_message_line(s->c->ctx), before = s->lines - (s->header > 0);
    const char *message = mcr_message(s->c->ctx);
    char place[512];
    if (line <= 0 || before <= 0 || status != MCR_BAD_DATA)
        return cli_fail(s->c, status);
    int length = snprintf(place, sizeof place, "%s:%" PRId64 ": ", s->path, line);
    if (length > 0 && strncmp(message, place, (size_t)length) == 0)
        message += length;
    snprintf(place, sizeof place, "%s:%" PRId64, s->path, line + before);
    return cli_fault(s->c, place, "%s", message);
}

static int64_t count_lines(const char *bytes, size_t count)
{
    int64_t lines = 0;
    for (size_t i = 0; i < count; i++)
        lines += bytes[i] == '\n';
    return lines;
}

/* Detects whether the first record of the first part was the header: then there is one object
 * less. */
static void find_header(cli_stream *s, const mcr_data *data, int64_t records)
{
    int64_t line, rows = mcr_data_count(data) + mcr_data_dropped(data);
    const char *why;
    rows += mcr_data_skipped(data, &line, &why);
    if (rows < records) {
        int quoted = 0;
        while (s->header < s->used && (quoted || s->bytes[s->header] != '\n'))
            quoted ^= s->bytes[s->header++] == '"';
        s->header += s->header < s->used;
    }
    s->known = 1;
}

int cli_stream_next(cli_stream *s, mcr_data **data)
{
    size_t end = 0;
    int64_t records = 0;
    *data = NULL;
    int bad = collect(s, &end, &records);
    if (bad || (end == 0 && s->known))
        return bad;
    bad = cli_read_part(s->c, data, s->path, s->bytes, end, say_fault, s);
    if (bad)
        return bad;
    int first = !s->known;
    if (first)
        find_header(s, *data, records);
    int64_t line;
    const char *why;
    int64_t skipped = mcr_data_skipped(*data, &line, &why);
    int64_t before = first ? 0 : s->lines - (s->header > 0), other = mcr_data_not_utf8(*data);
    if (other && !s->not_utf8)
        cli_tables_say_encoding(s->c, s->path, s->not_utf8 = other + before);
    if (skipped && !s->skipped) {
        s->at = line + before;
        snprintf(s->why, sizeof s->why, "%.160s", why);
    }
    s->skipped += skipped;
    s->lines += count_lines(s->bytes + (first ? 0 : s->header), end - (first ? 0 : s->header));
    memmove(s->bytes + s->header, s->bytes + end, s->used - end);
    s->used -= end - s->header;
    return 0;
}

/* ---- remarks ----------------------------------------------------------------------------------*/

void cli_stream_count(cli_stream *s, const mcr_model *model, const mcr_data *data)
{
    const char *name, *word;
    int64_t count, length;
    s->dropped += mcr_data_dropped(data);
    s->missing += cli_tables_missing(data);
    for (int64_t k = 0; k < MOST_UNSEEN &&
                        mcr_model_unseen(s->c->ctx, model, data, k, &name, &count, &word, &length);
         k++) {
        if (count && !s->unseen[k].count) {
            snprintf(s->unseen[k].name, sizeof s->unseen[k].name, "%.100s", name);
            snprintf(s->unseen[k].word, sizeof s->unseen[k].word, "%.*s",
                     length < 60 ? (int)length : 60, word);
        }
        s->unseen[k].count += count;
    }
}

void cli_stream_remark(cli_stream *s)
{
    char line[512];
    cli_tables_say_unmatched(s->c);
    if (s->skipped)
        cli_tables_say_skipped(s->c, s->skipped, s->at, s->why);
    if (s->missing) {
        snprintf(line, sizeof line, "%" PRId64 " missing values: filled as in training (--missing)",
                 s->missing);
        cli_progress_log(s->c, MCR_LOG_WARNING, line);
    }
    for (int64_t k = 0; k < MOST_UNSEEN; k++)
        if (s->unseen[k].count)
            cli_tables_say_unseen(s->c, s->unseen[k].name, s->unseen[k].count, s->unseen[k].word,
                                  (int64_t)strlen(s->unseen[k].word));
}
