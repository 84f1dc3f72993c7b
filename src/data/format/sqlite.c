/* sqlite.c: tables and queries of SQLite databases, as rows of text for the reader of tables.
 *
 * The library is loaded when the first database is opened, and never linked: the few functions used
 * are declared here as in its manual. It stays loaded. A database is opened read-only, and queries
 * may only read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/sqlite.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "data/format/csv.h"
#include "data/format/formats.h"

static const char MAGIC[] = "SQLite format 3"; /* with its NUL */
static const double BETWEEN = 0.05;            /* seconds between two reports */

/* Constants of sqlite3.h. */
enum {
    SQL_OK = 0,
    SQL_NOMEM = 7,
    SQL_ROW = 100,
    SQL_DONE = 101,
    SQL_OPEN_READONLY = 1,
    SQL_INTEGER = 1,
    SQL_FLOAT = 2,
    SQL_BLOB = 4,
    SQL_NULL = 5,
    SQL_DENY = 1,
    SQL_FUNCTION = 31,
    SQL_READ = 20,
    SQL_SELECT = 21,
    SQL_RECURSIVE = 33,
    SQL_LIMIT_LENGTH = 0,
    SQL_LIMIT_COLUMN = 2,
    SQL_LIMIT_ATTACHED = 7,
    SQL_LIMIT_LIKE_PATTERN_LENGTH = 8,
    SQL_LIMIT_WORKER_THREADS = 11,
    SQL_CONFIG_DEFENSIVE = 1010,
    SQL_CONFIG_TRUSTED_SCHEMA = 1017
};

/* Limits for a database, which may be untrusted: the size of values (a view can compute them)
 * beyond its own size, and the number of parts of nested views. */
enum { VALUE_BYTES = 1 << 16, MOST_VALUE = 1000000000, MOST_PATTERN = 256, MOST_PARTS = 20000 };

typedef int authorizer(void *user, int action, const char *a, const char *b, const char *c,
                       const char *d);

/* The functions of SQLite that are used: type, name, parameters. Handles are void *. */
#define FUNCTIONS(F)                                                                               \
    F(int, open_v2, (const char *path, void **db, int flags, const char *vfs))                     \
    F(int, close, (void *db))                                                                      \
    F(int, limit, (void *db, int which, int value))                                                \
    F(int, db_config, (void *db, int which, ...))                                                  \
    F(int64_t, memory_used, (void))                                                                \
    F(int64_t, hard_heap_limit64, (int64_t bytes))                                                 \
    F(int64_t, soft_heap_limit64, (int64_t bytes))                                                 \
    F(const char *, errmsg, (void *db))                                                            \
    F(int, set_authorizer, (void *db, authorizer *function, void *user))                           \
    F(void, progress_handler, (void *db, int steps, int (*function)(void *user), void *user))      \
    F(int, prepare_v2,                                                                             \
      (void *db, const char *sql, int bytes, void **statement, const char **rest))                 \
    F(int, step, (void *statement))                                                                \
    F(int, finalize, (void *statement))                                                            \
    F(int, column_count, (void *statement))                                                        \
    F(const char *, column_name, (void *statement, int column))                                    \
    F(int, column_type, (void *statement, int column))                                             \
    F(int64_t, column_int64, (void *statement, int column))                                        \
    F(double, column_double, (void *statement, int column))                                        \
    F(const unsigned char *, column_text, (void *statement, int column))                           \
    F(int, column_bytes, (void *statement, int column))

typedef struct sqlite {
#define MEMBER(type, name, parameters) type(*name) parameters;
    FUNCTIONS(MEMBER)
} sqlite;

static const struct {
    const char *name;
    size_t at;
} members[] = {
#define NAMED(type, name, parameters) {"sqlite3_" #name, offsetof(sqlite, name)},
    FUNCTIONS(NAMED)};

/* A running query. */
typedef struct rows {
    mcr *ctx;
    sqlite call;
    char *file; /* of the database */
    void *db, *statement;
    mcr_text text; /* rows not yet consumed */
    int64_t given; /* bytes of it consumed */
    int64_t row;
    bool ended;
    size_t size;            /* size of the database in bytes */
    uint64_t made;          /* bytes of text produced so far */
    int64_t parts;          /* number of parts of the query's views */
    int64_t heap, soft;     /* SQLite's limits: the one set here, 0: none; the previous one */
    double began, reported; /* wall-clock time; the last report */
    double work, since;     /* CPU time before this call, and its start */
    mcr_status stopped;     /* why the query was stopped */
} rows;

static mcr_status load(sqlite *call, mcr *ctx, const char *file)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library != NULL && i < sizeof members / sizeof *members; i++) {
        void *function = dlsym(library, members[i].name);
        if (function == NULL)
            library = NULL;
        memcpy((char *)call + members[i].at, &function, sizeof function);
    }
    if (library != NULL)
        return MCR_OK;
    return mcr_fail_at(ctx, MCR_BAD_CALL, file, 0,
                       "this is an SQLite database, and libsqlite3 is not installed, or older "
                       "than 3.31: install it (libsqlite3-0), or write the table as CSV");
}

/* ---- which database, and what of it -----------------------------------------------------------*/

static bool has_magic(const char *path, size_t length)
{
    char name[4096], bytes[sizeof MAGIC];
    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, path, length);
    name[length] = '\0';
    struct stat about;
    if (stat(name, &about) != 0 || !S_ISREG(about.st_mode)) /* opening a pipe would consume it */
        return false;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is = read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
              memcmp(bytes, MAGIC, sizeof bytes) == 0;
    close(fd);
    return is;
}

/* The length of the database's path; 0: not a database. */
static size_t database_length(const char *path)
{
    for (const char *p = strchr(path, ':'); p != NULL; p = strchr(p + 1, ':'))
        if (has_magic(path, (size_t)(p - path)))
            return (size_t)(p - path);
    return has_magic(path, strlen(path)) ? strlen(path) : 0;
}

bool mcr_sqlite_is(const char *path)
{
    return database_length(path) > 0;
}

static mcr_status fail_query(rows *r, int code)
{
    char size[MCR_SIZE_TEXT];
    if (code == SQL_NOMEM)
        return mcr_advise(r->ctx,
                          mcr_fail_at(r->ctx, MCR_NO_MEMORY, r->file, 0,
                                      "SQLite needs more than %s for this query, and the file has "
                                      "%zu bytes: if it can be trusted, set the limit for data",
                                      mcr_size_text(mcr_reading_most(r->ctx, r->size), size),
                                      r->size),
                          "data-limit");
    if (r->stopped != MCR_OK) /* has its message */
        return r->stopped;
    if (r->parts > MOST_PARTS)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, 0,
                           "views within views, of more than %d parts", MOST_PARTS);
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, 0, "SQLite: %.200s", r->call.errmsg(r->db));
}

static mcr_status prepare(rows *r, const char *sql)
{
    const char *rest = NULL;
    int code = r->call.prepare_v2(r->db, sql, -1, &r->statement, &rest);
    if (code != SQL_OK)
        return fail_query(r, code);
    rest += strspn(rest, " \t\r\n;");
    if (*rest != '\0')
        return mcr_fail_at(r->ctx, MCR_BAD_CALL, r->file, 0, "one query at a time, not \"%.60s\"",
                           rest);
    if (r->statement == NULL || r->call.column_count(r->statement) == 0)
        return mcr_fail_at(r->ctx, MCR_BAD_CALL, r->file, 0, "the query gives no columns");
    return MCR_OK;
}

static bool is_query(const char *text)
{
    text += strspn(text, " \t\r\n");
    return strncasecmp(text, "select ", 7) == 0 || strncasecmp(text, "with ", 5) == 0;
}

/* Quotes the name, so that any name is valid. */
static mcr_status prepare_table(rows *r, const char *name)
{
    mcr_text sql;
    mcr_text_init(&sql, r->ctx);
    mcr_text_string(&sql, "SELECT * FROM ");
    mcr_csv_quote(&sql, name, strlen(name));
    mcr_status status = sql.status == MCR_OK ? prepare(r, sql.bytes) : sql.status;
    mcr_text_free(&sql);
    return status;
}

/* The only table; if there are several, one must be named. */
static mcr_status prepare_only(rows *r)
{
    enum { NAMES_SHOWN = 8 };
    mcr_text list, name;
    int64_t tables = 0;
    mcr_text_init(&list, r->ctx);
    mcr_text_init(&name, r->ctx);
    mcr_status status = prepare(r, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
                                   " AND name NOT LIKE 'sqlite_%' ORDER BY name");
    while (status == MCR_OK && r->call.step(r->statement) == SQL_ROW) {
        const char *text = (const char *)r->call.column_text(r->statement, 0);
        if (text == NULL)
            continue;
        if (tables++ == 0)
            mcr_text_string(&name, text);
        if (tables <= NAMES_SHOWN)
            mcr_text_format(&list, "%s%.60s", tables > 1 ? ", " : "", text);
    }
    r->call.finalize(r->statement);
    r->statement = NULL;
    if (status == MCR_OK && name.status != MCR_OK)
        status = name.status;
    if (status == MCR_OK && tables == 1)
        status = prepare_table(r, name.bytes);
    else if (status == MCR_OK)
        status = mcr_fail_at(r->ctx, MCR_BAD_CALL, r->file, 0,
                             tables == 0 ? "the database has no tables%.0s"
                                         : "which table? write FILE:TABLE; there are: %s",
                             list.bytes != NULL ? list.bytes : "");
    mcr_text_free(&list);
    mcr_text_free(&name);
    return status;
}

/* ---- rows as text -----------------------------------------------------------------------------*/

/* Plain texts need no quotes: "?" and "NA" are missing values, as in a file. */
static void add_text(mcr_text *t, const char *text, size_t length)
{
    bool plain = length > 0 && text[0] != ' ' && text[0] != '\t' && text[length - 1] != ' ' &&
                 text[length - 1] != '\t' && text[0] != '"';
    for (size_t i = 0; i < length && plain; i++)
        plain = text[i] != ',' && text[i] != '\n' && text[i] != '\r';
    if (plain)
        mcr_text_add(t, text, length);
    else if (length > 0)
        mcr_csv_quote(t, text, length);
}

static mcr_status add_cell(rows *r, int c)
{
    const sqlite *call = &r->call;
    const char *text;
    switch (call->column_type(r->statement, c)) {
    case SQL_NULL: return MCR_OK;
    case SQL_INTEGER: mcr_text_int(&r->text, call->column_int64(r->statement, c)); return MCR_OK;
    case SQL_FLOAT: mcr_text_real(&r->text, call->column_double(r->statement, c)); return MCR_OK;
    case SQL_BLOB:
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, 0,
                           "column \"%.60s\", row %lld contains bytes (a BLOB), not text or a "
                           "number: exclude the column with a query",
                           call->column_name(r->statement, c), (long long)r->row);
    default: break;
    }
    text = (const char *)call->column_text(r->statement, c);
    if (text == NULL)
        return mcr_fail(r->ctx, MCR_NO_MEMORY, "out of memory in SQLite");
    add_text(&r->text, text, (size_t)call->column_bytes(r->statement, c));
    return MCR_OK;
}

static mcr_status add_row(rows *r)
{
    int got = r->call.step(r->statement), columns = r->call.column_count(r->statement);
    mcr_status status = MCR_OK;
    r->ended = got == SQL_DONE;
    if (r->ended)
        return MCR_OK;
    if (got != SQL_ROW)
        return fail_query(r, got);
    r->row++;
    for (int c = 0; c < columns && status == MCR_OK; c++) {
        if (c > 0)
            mcr_text_string(&r->text, ",");
        status = add_cell(r, c);
    }
    /* A row of one missing value must not look like a blank line. */
    if (columns == 1 && r->text.length > 0 && r->text.bytes[r->text.length - 1] == '\n')
        mcr_text_string(&r->text, "\"\"");
    mcr_text_string(&r->text, "\n");
    return status != MCR_OK ? status : r->text.status;
}

static mcr_status read_rows(void *arg, char *to, size_t count, size_t *got)
{
    rows *r = arg;
    mcr_status status = MCR_OK;
    if (r->given == r->text.length && !r->ended) {
        r->text.length = r->given = 0;
        r->since = mcr_work_now(); /* a different thread may continue the reading */
        while (r->text.length < (int64_t)count && !r->ended && status == MCR_OK)
            status = add_row(r);
        r->work += mcr_work_now() - r->since;
        r->made += (uint64_t)r->text.length;
        if (status == MCR_OK) /* an endless view, or a huge cross join */
            status = mcr_reading_unpacked(r->ctx, r->file, r->size, r->made);
    }
    size_t left = (size_t)(r->text.length - r->given);
    *got = status != MCR_OK ? 0 : left < count ? left : count;
    if (*got > 0)
        memcpy(to, r->text.bytes + r->given, *got);
    r->given += (int64_t)*got;
    return status;
}

/* SQLite has one heap limit for the whole process. It is set only if no one else has set one, and
 * reset only if it is still the one set here: so none is left behind. */
static void limit_heap(rows *r)
{
    if (r->call.hard_heap_limit64(-1) != 0)
        return;
    size_t most = mcr_reading_most(r->ctx, r->size);
    r->heap = r->call.memory_used() + (most < INT64_MAX / 2 ? (int64_t)most : INT64_MAX / 2);
    r->soft = r->call.soft_heap_limit64(-1);
    r->call.hard_heap_limit64(r->heap);
}

static void free_heap(rows *r)
{
    if (r->heap == 0 || r->call.hard_heap_limit64(-1) != r->heap)
        return;
    r->call.hard_heap_limit64(0);
    r->call.soft_heap_limit64(r->soft);
}

static void close_rows(void *arg)
{
    rows *r = arg;
    mcr *ctx = r->ctx;
    if (r->statement != NULL)
        r->call.finalize(r->statement);
    if (r->db != NULL)
        r->call.close(r->db);
    free_heap(r);
    mcr_text_free(&r->text);
    mcr_free_all(ctx, r->file, r);
}

/* ---- opening ----------------------------------------------------------------------------------*/

static int allow(void *user, int action, const char *a, const char *b, const char *c, const char *d)
{
    rows *r = user;
    if (++r->parts > MOST_PARTS)
        return SQL_DENY;
    (void)a;
    (void)c;
    bool called = action == SQL_FUNCTION && b != NULL;
    bool loads = called && strcasecmp(b, "load_extension") == 0;
    /* '%.900000000c' takes a second, whatever the limit for values. The user may call it; d: a view
     * may not. */
    bool prints = called && d != NULL &&
                  (strcasecmp(b, "printf") == 0 || strcasecmp(b, "format") == 0);
    return action == SQL_SELECT || action == SQL_READ || action == SQL_RECURSIVE ||
                   (action == SQL_FUNCTION && !loads && !prints)
               ? SQL_OK
               : SQL_DENY;
}

/* A query may take long before its first row, and forever if its views are malicious. */
static int ask_to_stop(void *user)
{
    rows *r = user;
    double time = mcr_now();
    r->stopped = mcr_work_spent(r->ctx, r->work + mcr_work_now() - r->since, (double)r->size,
                                r->file);
    if (r->stopped != MCR_OK)
        return 1;
    if (time - r->reported < BETWEEN)
        return 0;
    r->reported = time;
    if (mcr_report_part(r->ctx, "reading", NAN, time - r->began))
        r->stopped = mcr_fail_at(r->ctx, MCR_STOPPED, r->file, 0, "reading was stopped");
    return r->stopped != MCR_OK;
}

/* Sets limits before anything of the database is read, in proportion to its size. */
static void limit_database(rows *r)
{
    struct stat about;
    r->size = stat(r->file, &about) == 0 ? (size_t)about.st_size : 0;
    uint64_t value = (uint64_t)r->size + VALUE_BYTES;
    r->call.limit(r->db, SQL_LIMIT_LENGTH, value < MOST_VALUE ? (int)value : MOST_VALUE);
    r->call.limit(r->db, SQL_LIMIT_LIKE_PATTERN_LENGTH, MOST_PATTERN);
    r->call.limit(r->db, SQL_LIMIT_ATTACHED, 0);
    r->call.limit(r->db, SQL_LIMIT_WORKER_THREADS, 0);
    r->call.db_config(r->db, SQL_CONFIG_DEFENSIVE, 1, (int *)NULL);
    r->call.db_config(r->db, SQL_CONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    /* The file may set a cache size of its own, which uses memory without limit. */
    limit_heap(r);
    if (r->call.prepare_v2(r->db, "PRAGMA cache_size = -2000", -1, &r->statement, NULL) == SQL_OK)
        r->call.step(r->statement);
    r->call.finalize(r->statement);
    r->statement = NULL;
}

static mcr_status open_rows(rows *r, const char *path, size_t length)
{
    enum { STEPS = 1000 }; /* of SQLite's machine: microseconds, but values may be long */
    mcr_status status = load(&r->call, r->ctx, r->file);
    if (status != MCR_OK)
        return status;
    if (r->call.open_v2(r->file, &r->db, SQL_OPEN_READONLY, NULL) != SQL_OK)
        return r->db != NULL ? fail_query(r, SQL_OK)
                             : mcr_fail(r->ctx, MCR_NO_MEMORY, "out of memory");
    limit_database(r);
    r->call.set_authorizer(r->db, allow, r);
    r->call.progress_handler(r->db, STEPS, ask_to_stop, r);
    const char *what = path[length] == ':' ? path + length + 1 : "";
    status = *what == '\0'    ? prepare_only(r)
             : is_query(what) ? prepare(r, what)
                              : prepare_table(r, what);
    int columns = status == MCR_OK ? r->call.column_count(r->statement) : 0;
    for (int c = 0; c < columns; c++) {
        const char *name = r->call.column_name(r->statement, c);
        if (c > 0)
            mcr_text_string(&r->text, ",");
        mcr_csv_quote(&r->text, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
    }
    mcr_text_string(&r->text, "\n");
    r->work = mcr_work_now() - r->since;
    return status != MCR_OK ? status : r->text.status;
}

mcr_status mcr_sqlite_input(mcr_input **out, mcr *ctx, const char *path)
{
    size_t length = database_length(path);
    *out = NULL;
    rows *r = mcr_alloc_zero(ctx, 1, sizeof *r);
    if (r == NULL)
        return MCR_NO_MEMORY;
    r->ctx = ctx;
    r->began = mcr_now();
    r->since = mcr_work_now();
    mcr_text_init(&r->text, ctx);
    r->file = mcr_copy_text(ctx, path, length);
    mcr_status status = r->file != NULL ? open_rows(r, path, length) : MCR_NO_MEMORY;
    if (status == MCR_OK)
        return mcr_input_source(out, ctx, r->file,
                                &(mcr_source){.arg = r, .read = read_rows, .close = close_rows});
    close_rows(r);
    return status;
}

/* ---- the format -------------------------------------------------------------------------------*/

/* A database on standard input, or compressed, cannot be opened. */
static mcr_status refuse_raw(mcr *ctx, mcr_input *in)
{
    const char *bytes;
    size_t count;
    mcr_status status = mcr_input_peek(in, sizeof MAGIC, &bytes, &count);
    if (status == MCR_OK && count == sizeof MAGIC && memcmp(bytes, MAGIC, count) == 0)
        status = mcr_fail_at(ctx, MCR_BAD_DATA, mcr_input_name(in), 0,
                             "an SQLite database is read from a file of its own, not from a pipe "
                             "or an archive");
    return status;
}

static mcr_status read_sqlite(mcr_builder *b, mcr *ctx, mcr_input *in,
                              const mcr_read_options *options)
{
    mcr_status status = refuse_raw(ctx, in);
    return status == MCR_OK ? mcr_csv_read(b, ctx, in, options, MCR_CSV_MADE) : status;
}

static mcr_status describe(mcr_column_info **out, int64_t *count, mcr *ctx, mcr_input *in,
                           const mcr_read_options *options)
{
    mcr_status status = refuse_raw(ctx, in);
    return status == MCR_OK ? mcr_csv_describe(out, count, ctx, in, options, MCR_CSV_MADE) : status;
}

static int sniff(bool named, const char *bytes, size_t count)
{
    (void)named;
    return count >= sizeof MAGIC && memcmp(bytes, MAGIC, sizeof MAGIC) == 0 ? 100 : 0;
}

const mcr_format mcr_format_sqlite = {
    .name = "sqlite",
    .summary = "table or query of an SQLite database: data.sqlite:TABLE, data.sqlite:'SELECT ...'",
    .extensions = (const char *const[]){"sqlite", "sqlite3", "db", NULL},
    .sniff = sniff,
    .read = read_sqlite,
    .describe = describe,
};
