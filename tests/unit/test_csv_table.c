/* test_csv_table.c: columns of all kinds, what is missing, several targets, and where the chunks of
 * a table end; tools/mcdc.py takes the conditions of csv.c away one by one, and this program and
 * test_format_csv.c must see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>

#include "data/format/formats.h"

static mcr_status try_table(mcr_data **out, mcr *ctx, const char *text, mcr_read_options options)
{
    options.size = sizeof options;
    options.format = "csv";
    *out = NULL;
    return mcr_data_read_memory(out, ctx, "f", text, strlen(text), &options);
}

static mcr_data *table(mcr *ctx, const char *text, mcr_read_options options)
{
    mcr_data *data;
    test_ok(ctx, try_table(&data, ctx, text, options));
    return data;
}

static void refuse(mcr *ctx, const char *text, mcr_read_options options, const char *message)
{
    mcr_data *data;
    test_fails(ctx, try_table(&data, ctx, text, options), MCR_BAD_DATA, message);
}

/* ---- columns of all kinds ---------------------------------------------------------------------*/

static const char kinds[] = "id,a,d,s,e,k,w,y\n"
                            "K1,1,2024-01-02,red blue,2020-01-01,u,2,good\n"
                            "K2,?,NA,\"a \"\"long\"\" text of many\",2020-01-02,v,3,bad\n"
                            "K3,3,2024-02-03,?,2020-01-03,\"v\"\"w\",4,\"g\"\"d\"\n";
static const char *const roles[] = {"id=id", "d=date", "e=date", "s=text", "k=category", NULL};

static const mcr_store *store_of(const mcr_data *data, const char *name)
{
    int64_t at = mcr_data_find(data, name, strlen(name));
    assert_true(at >= 0);
    return data->store[at];
}

static void expect_text(const mcr_data *data, const char *name, int64_t i, const char *text)
{
    same_string(data, mcr_data_find(data, name, strlen(name)), i, text, strlen(text));
}

static void reads_all_kinds(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = table(ctx, kinds,
                           (mcr_read_options){.weight = "w", .missing = "auto", .roles = roles});
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(mcr_data_fields(data), 5);
    const mcr_store *x = store_of(data, "x"), *d = store_of(data, "d"), *e = store_of(data, "e");
    assert_true(x->cols == 1 && x->dense[0] == 1 && isnan(x->dense[1]) && x->dense[2] == 3);
    assert_true(x->holes && d->holes && !e->holes);
    assert_true(x->role == MCR_NUMBER && d->role == MCR_DATE);
    assert_string_equal(x->column[0], "a");
    assert_true(strncmp(d->column[0], "d", 1) == 0 && d->cols == MCR_DATE_PARTS);
    assert_true(isnan(d->dense[MCR_DATE_PARTS]) && d->dense[0] == 19724);
    expect_text(data, "s", 0, "red blue");
    expect_text(data, "s", 1, "a \"long\" text of many");
    expect_text(data, "s", 2, "");
    assert_true(store_of(data, "s")->holes && !store_of(data, "k")->holes);
    assert_true(store_of(data, "s")->role == MCR_WORDS &&
                store_of(data, "k")->role == MCR_CATEGORY);
    expect_text(data, "k", 2, "v\"w");
    assert_true(mcr_data_weights(data)[2] == 4);
    assert_string_equal(mcr_data_class_name(data, 2), "g\"d");
    mcr_role role;
    const char *bytes;
    int64_t length;
    assert_int_equal(mcr_data_carried(data), 1);
    assert_string_equal(mcr_data_carried_name(data, 0, &role), "id");
    assert_int_equal(role, MCR_ID);
    test_ok(ctx, mcr_data_carried_text(data, 0, 1, &bytes, &length));
    assert_true(length == 2 && memcmp(bytes, "K2", 2) == 0);
    mcr_data_free(data);
}

/* A rule for missing values holds also where there are none. */
static void expects_holes(void **state)
{
    mcr *ctx = *state;
    static const char text[] = "a,d,s,y\n1,2024-01-02,p q r,1\n2,2024-01-03,q r s,2\n";
    static const char *const role[] = {"d=date", "s=text", NULL};
    static const char *const missing[] = {NULL, "drop", "auto", "mean", "kernel"};
    for (int c = 0; c < 5; c++) {
        mcr_data *data = table(ctx, text, (mcr_read_options){.missing = missing[c], .roles = role});
        for (int64_t f = 0; f < 3; f++)
            assert_int_equal(data->store[f]->holes, c > 2);
        mcr_data_free(data);
    }
    refuse(ctx, "a,b,y\n", (mcr_read_options){0}, "there are no objects in the file");
    refuse(ctx, "a,b,y\n1,?,2\n?,1,2\n", (mcr_read_options){.missing = "drop"}, "no rows are left");
    refuse(ctx, "a,b,y\n1,2,3\n1,2,3\n1,x,2\n", (mcr_read_options){0}, "is not a number");
    mcr_data *data = table(ctx, "a,b,y\n1,2,3\n1,?,3\n5,6,2\n",
                           (mcr_read_options){.missing = "drop"});
    assert_int_equal(mcr_data_count(data), 2);
    assert_true(store_of(data, "x")->dense[2] == 5 && mcr_data_targets(data)[1] == 2);
    mcr_data_free(data);
}

static void names_targets(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = table(ctx, "a,,y\n1,2,3\n4,5,6\n", (mcr_read_options){.target = "y,2"});
    assert_int_equal(mcr_data_target_count(data), 2);
    assert_string_equal(mcr_data_target_name(data, 0), "y");
    assert_string_equal(mcr_data_target_name(data, 1), "column2");
    assert_true(mcr_data_target_table(data)[2] == 6 && mcr_data_target_table(data)[3] == 5);
    mcr_data_free(data);
    data = table(ctx, "1,2,3\n4,5,6\n", (mcr_read_options){.target = "3,1"});
    assert_string_equal(mcr_data_target_name(data, 0), "column3");
    assert_string_equal(mcr_data_target_name(data, 1), "column1");
    assert_null(store_of(data, "x")->column);
    mcr_data_free(data);
    /* Texts without names. */
    data = table(ctx, ",y\nfoo bar,1\nbar foo,2\nfoo foo,3\n", (mcr_read_options){.target = "y"});
    assert_string_equal(data->store[0]->name, "column1");
    mcr_data_free(data);
    data = table(ctx, "foo bar,1\nbar foo,2\nfoo foo,3\n", (mcr_read_options){.target = "2"});
    assert_string_equal(data->store[0]->name, "column1");
    mcr_data_free(data);
    data = table(ctx, "1,2\n3,4\n", (mcr_read_options){.target = "none"});
    assert_true(mcr_data_target_kind(data) == MCR_NO_TARGETS && !mcr_data_weights(data));
    mcr_data_free(data);
}

/* Numbers in a target of categories: names that rise with them. */
static void takes_numbers_for_names(void **state)
{
    static const char *const category[] = {"y=category", NULL}, *const number[] = {"a=number",
                                                                                   NULL};
    mcr *ctx = *state;
    const char *text = "a,y\n1,10\n2,9.50\n3,10\n";
    mcr_data *data = table(ctx, text, (mcr_read_options){.roles = category});
    assert_int_equal(mcr_data_target_kind(data), MCR_WORD_TARGETS);
    assert_string_equal(mcr_data_class_name(data, 0), "9.5");
    assert_string_equal(mcr_data_class_name(data, 1), "10");
    assert_int_equal(mcr_data_class_of(data)[0], 1);
    mcr_data_free(data);
    data = table(ctx, text, (mcr_read_options){.roles = number});
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    mcr_data_free(data);
}

/* Targets with a decimal comma are numbers; where most labels are words, a comma is one of a name,
 * and says nothing about the numbers. */
static void reads_decimal_commas(void **state)
{
    mcr *ctx = *state;
    const mcr_read_options none = {0};
    mcr_data *data = table(ctx, "a;y\n1,5;2,5\n2;\"-3,25\"\n3,5;4\n", none);
    assert_int_equal(mcr_data_classes(data), 3);
    assert_string_equal(mcr_data_class_name(data, 1), "2.5");
    assert_true(mcr_data_targets(data)[0] == 2.5 && mcr_data_targets(data)[1] == -3.25);
    assert_true(mcr_data_targets(data)[2] == 4 && data->store[0]->dense[0] == 1.5);
    mcr_data_free(data);
    data = table(ctx, "a;y\n1,5;2,5\n2,5;3,5\n3,5;1,25e+00\n4,5;,5\n", none);
    assert_true(mcr_data_targets(data)[2] == 1.25 && mcr_data_targets(data)[3] == 0.5);
    mcr_data_free(data);
    data = table(ctx, "a;y\n1,5;,425\n2;u\n3,5;v\n", none);
    assert_string_equal(mcr_data_class_name(data, 0), ",425");
    assert_true(data->store[0]->dense[0] == 1.5);
    mcr_data_free(data);
    data = table(ctx, "a;y\n1.5;1,425\n2;u\n3.5;v\n", none);
    assert_string_equal(mcr_data_class_name(data, 0), "1,425");
    assert_true(data->store[0]->dense[0] == 1.5);
    mcr_data_free(data);
    data = table(ctx, "a,y\n1,\"2,5\"\n2,\"3,5\"\n", none); /* commas are between columns */
    assert_string_equal(mcr_data_class_name(data, 0), "2,5");
    mcr_data_free(data);
    data = table(ctx, "a,y\n1,2\n2,3\n3,4\n4,\"2,5\"\n", none); /* also where most are numbers */
    assert_string_equal(mcr_data_class_name(data, 3), "2,5");
    mcr_data_free(data);
    data = table(ctx, "a;y\n1,5;2,5\n2;3,5\n3,5;4,5\n4;u,v\n", none);
    assert_string_equal(mcr_data_class_name(data, 3), "u,v");
    mcr_data_free(data);
}

/* A label that is not finite is a fault among numbers, at its place, unless it is quoted. */
static void refuses_labels(void **state)
{
    mcr *ctx = *state;
    const mcr_read_options none = {0};
    refuse(ctx, "1,2\n3,nan\n", none, "f:2: column 2: the value is missing");
    refuse(ctx, "1,\"2\"\n3,inf\n", none, "f:2: column 2: \"inf\" is not finite");
    refuse(ctx, "inf,3\n2,3\n", (mcr_read_options){.target = "1"}, "f:1: column 1: \"inf\" is not");
    refuse(ctx, "1,2\n3,inf\n4,5\n", none, "f:2: column 2: \"inf\" is not finite");
    refuse(ctx, "1,\"inf\"\n2,3\n", none, "object 1: the target inf");
    mcr_data *data = table(ctx, "1,\"inf\"\n2,good\n3,inf\n", none);
    assert_int_equal(mcr_data_count(data), 3);
    assert_string_equal(mcr_data_class_name(data, 0), "inf");
    mcr_data_free(data);
    data = table(ctx, "1,a\"\"b,c\"\"d\n2,x y,e\n", none); /* quotes that nothing encloses */
    expect_text(data, "column2", 0, "a\"\"b");
    assert_string_equal(mcr_data_class_name(data, 0), "c\"\"d");
    mcr_data_free(data);
    data = table(ctx, "1,more than sixteen bytes,a\n2,\"x\ny\",\"b\nc\"\n", none);
    expect_text(data, "column2", 0, "more than sixteen bytes");
    expect_text(data, "column2", 1, "x\ny");
    mcr_data_free(data);
    data = table(ctx, "s,y\nfoo bar,1\nbar,2\n", (mcr_read_options){.missing = "mode"});
    assert_true(mcr_data_fields(data) == 1 && data->store[0]->holes); /* no numbers */
    mcr_data_free(data);
    refuse(ctx, "1,\"a \"\"b\n", none, "a quote is not closed");
    refuse(ctx, "1,2\n\n1,3\n", none, "f:2: the line is blank");
}

/* ---- without memory ---------------------------------------------------------------------------*/

typedef struct sweep_case {
    const char *text;
    mcr_read_options options;
} sweep_case;

static mcr_status read_case(mcr *ctx, void *arg)
{
    const sweep_case *c = arg;
    mcr_data *data;
    mcr_status status = try_table(&data, ctx, c->text, c->options);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    static char many[8000];
    char *p = many + sprintf(many, "a,s,t,y\n");
    for (int i = 0; i < 200; i++)
        p += sprintf(p, "%d,some word%d,a word,%d\n", i, i % 5, i % 2);
    static const char *const two[] = {"s=text", "t=text", NULL};
    sweep_case cases[] = {
        {many, {.roles = two}},
        {"a,b,c,d,e,f,g,h,i,y\np q,q r,r s,s t,t u,u v,v w,w x,x y,1\n"
         "q p,q r,r s,s t,t u,u v,v w,w x,x y,2\n",
         {0}},
        {kinds, {.weight = "w", .missing = "auto", .roles = roles, .keep = "s"}},
        {kinds, {.weight = "w", .missing = "mean", .roles = roles, .target = "none"}},
        {"a,,y\n1,2,3\n4,5,6\n", {.target = "y,2"}},
        {"1,2,3\n4,5,6\n", {.target = "3,1"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_sweep_allocations("a table", read_case, &cases[i]);
}

/* ---- chunks -----------------------------------------------------------------------------------*/

/* Lines of 16 bytes that end where chunks do, and one more: no chunk begins behind the last. */
static void cuts_at_line_ends(void **state)
{
    enum { LINE = 16, LINES = (256 << 6) + 16 * 5120 }; /* blocks of 256 KB and more */
    char *text = malloc(LINES * LINE + LINE);
    for (int quotes = 0; quotes < 2; quotes++) {
        for (int i = 0; i < LINES; i++)
            memcpy(text + i * LINE, i ? "1234567,7654321\n" : "aaaaaaa,bbbbbbb\n", LINE);
        strcpy(text + LINES * LINE, quotes ? "\"5\",2\n" : "5,2\n");
        mcr_data *data = table(*state, text, (mcr_read_options){0});
        assert_int_equal(mcr_data_count(data), LINES);
        assert_true(data->store[0]->dense[LINES - 1] == 5);
        assert_true(data->store[0]->dense[LINES - 2] == 1234567);
        assert_true(mcr_data_targets(data)[LINES - 1] == 2);
        mcr_data_free(data);
    }
    free(text);
}

/* Lines of 16 bytes: a first block of 256 KB of them, in four chunks, and some behind it. */
enum { LINE = 16, BLOCK = 256 << 6, CHUNK = BLOCK / 4, MORE = BLOCK + 2000 };

static char *lines_of(const char *head, const char *line)
{
    char *text = calloc(MORE + 1, LINE);
    for (int i = 0; i < MORE; i++)
        memcpy(text + i * LINE, i ? line : head, LINE);
    return text;
}

static void put_line(char *text, int line, const char *with)
{
    assert_int_equal(strlen(with), LINE);
    memcpy(text + (line - 1) * LINE, with, LINE);
}

/* Records of two lines, in the first chunk and across the end of the block; what is wrong with one
 * of the next is said of its line. */
static void reads_records_across_blocks(void **state)
{
    mcr *ctx = *state;
    char *text = lines_of("aaaaaaa,bbbbbbb\n", "1234567,wwwwwww\n");
    const mcr_read_options none = {0};
    put_line(text, 3, "1234567,\"first.\n");
    put_line(text, 4, "line and secon.\"");
    put_line(text, 5, "\n234567,wwwwwww\n");
    put_line(text, BLOCK, "1234567,\"first.\n");
    put_line(text, BLOCK + 1, "second and last\"");
    put_line(text, BLOCK + 2, "\n234567,wwwwwww\n");
    mcr_data *data = table(ctx, text, none);
    assert_int_equal(mcr_data_count(data), MORE - 3);
    assert_string_equal(mcr_data_class_name(data, 1), "first.\nline and secon.");
    assert_string_equal(mcr_data_class_name(data, 2), "first.\nsecond and last");
    mcr_data_free(data);
    char message[64];
    snprintf(message, sizeof message, "f:%d: column \"aaaaaaa\": \"x\" is not a number", BLOCK + 9);
    put_line(text, BLOCK + 9, "x      ,wwwwwww\n");
    refuse(ctx, text, none, message);
    put_line(text, 9, "x      ,wwwwwww\n"); /* in the first block */
    refuse(ctx, text, none, "f:9: column \"aaaaaaa\"");
    put_line(text, 9, "1234567,wwwwwww\n");
    put_line(text, BLOCK + 9, "1234567,\"ssssss\n");
    snprintf(message, sizeof message, "f:%d: a quote is not closed", BLOCK + 9);
    refuse(ctx, text, none, message);
    free(text);
}

/* What the columns are is decided by the first block, whatever follows. */
static void plans_by_the_first_block(void **state)
{
    char *text = lines_of("aaaaaaa,bbbbbbb\n", "1234567,7654321\n"), line[LINE + 1], message[64];
    for (int i = BLOCK + 1; i <= MORE; i++) {
        snprintf(line, sizeof line, "w%06d,7654321\n", i);
        put_line(text, i, line);
    }
    snprintf(message, sizeof message, "f:%d: column \"aaaaaaa\": \"w%06d\" is not", BLOCK + 1,
             BLOCK + 1);
    refuse(*state, text, (mcr_read_options){0}, message);
    free(text);
}

static void finds_blank_lines(void **state)
{
    mcr *ctx = *state;
    char *text = lines_of("aaaaaaa,bbbbbbb\n", "1234567,7654321\n"), message[64];
    const mcr_read_options none = {0};
    /* Within a later chunk. */
    put_line(text, CHUNK + 9, "1234567,765432\n\n");
    snprintf(message, sizeof message, "f:%d: the line is blank", CHUNK + 10);
    refuse(ctx, text, none, message);
    put_line(text, CHUNK + 9, "1234567,7654321\n");
    /* From the end of one on, all of the next; at the end of the file that may be. */
    memset(text + (2 * CHUNK - 9) * LINE, '\n', (size_t)(MORE - 2 * CHUNK + 9) * LINE);
    mcr_data *data = table(ctx, text, none);
    assert_int_equal(mcr_data_count(data), 2 * CHUNK - 10);
    mcr_data_free(data);
    put_line(text, MORE, "1234567,7654321\n");
    snprintf(message, sizeof message, "f:%d: the line is blank", 2 * CHUNK - 8);
    refuse(ctx, text, none, message);
    free(text);
}

/* The first fault of the file is reported, also where another thread has seen a later one before:
 * the first chunk has numbers that take long, and a fault at its end. */
static void reports_the_first_fault(void **state)
{
    enum { CHUNK_BYTES = 64 << 10, CHUNKS = 4, TRIES = 200 };
    static const char slow[] = "1.00000000000000011102230246251565404236316680908203125,2\n";
    char *text = malloc((CHUNKS + 1) * CHUNK_BYTES), *p = text, message[64];
    mcr_config config = {.size = sizeof config, .threads = 4};
    int line = 1;
    mcr *ctx;
    (void)state;
    for (; p - text < CHUNK_BYTES - 2 * (int)sizeof slow; line++)
        p += sprintf(p, "%s", slow);
    p += sprintf(p, "x,2\n");
    while (p - text < CHUNK_BYTES + 10)
        p += sprintf(p, "1,2\n");
    p += sprintf(p, "\n");
    while (p - text < CHUNKS * CHUNK_BYTES)
        p += sprintf(p, "1,2\n");
    snprintf(message, sizeof message, "f:%d: column 1: \"x\" is not a number", line);
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    for (int i = 0; i < TRIES; i++)
        refuse(ctx, text, (mcr_read_options){.target = "none"}, message);
    mcr_close(ctx);
    free(text);
}

/* ---- memory -----------------------------------------------------------------------------------*/

static void *count_growth(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    enum { LARGE = 512 << 10 }; /* more than a first block and what is found in it takes */
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    *(int *)user += old_bytes >= LARGE && new_bytes > old_bytes;
    return realloc(block, new_bytes);
}

/* The same text as a plain file, whose size is known. */
static void expect_rows(mcr *ctx, const char *text, int64_t rows)
{
    char folder[256], path[300];
    const mcr_read_options options = {.size = sizeof options, .format = "csv", .target = "none"};
    mcr_data *data;
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/f.csv", folder);
    FILE *file = fopen(path, "w");
    assert_true(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    test_ok(ctx, mcr_data_read(&data, ctx, path, &options));
    assert_int_equal(mcr_data_count(data), rows);
    mcr_data_free(data);
    test_remove_directory(folder);
}

/* By the first block it is known how many rows there are: the numbers are not copied later. */
static void reserves_rows_once(void **state)
{
    enum { ROWS = 100000, COLS = 5 };
    int grown = 0;
    mcr_config config = {
        .size = sizeof config, .realloc = count_growth, .user = &grown, .threads = 1};
    char *text = malloc(ROWS * 2 * COLS + 1);
    mcr *ctx;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        strcpy(text + i * 2 * COLS, "1,2,3,4,5\n");
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    expect_rows(ctx, text, ROWS);
    assert_int_equal(grown, 0);
    mcr_close(ctx);
    free(text);
}

/* Short rows in the first block and long ones behind it: so many rows as the first block lets
 * expect would not be allowed, but those that come are. */
static void reserves_what_is_allowed(void **state)
{
    enum { SHORT = 65536, LONG = 4000, DIGITS = 1000 };
    mcr_config config = {.size = sizeof config, .data_bytes = 12 << 20};
    char *text = malloc(SHORT * 4 + LONG * (DIGITS + 3) + 1), *p = text;
    mcr *ctx;
    (void)state;
    for (int i = 0; i < SHORT; i++)
        p += sprintf(p, "1,2\n");
    for (int i = 0; i < LONG; i++)
        p += sprintf(p, "%.*f,2\n", DIGITS - 2, 1.0);
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    expect_rows(ctx, text, SHORT + LONG);
    mcr_close(ctx);
    free(text);
}

/* ---- rows that are left out -------------------------------------------------------------------*/

/* Rows that are left out leave no gap, in any column. */
static void closes_gaps(void **state)
{
    mcr *ctx = *state;
    static const char *const role[] = {"d=date", NULL};
    for (int weights = 0; weights < 2; weights++) {
        char *text = calloc(MORE, 2 * LINE), *p = text + sprintf(text, "a,d,w,y\n");
        for (int i = 1; i < MORE; i++) {
            bool bad = i == 10 || i == 2 * CHUNK, drop = i == 11 || i == CHUNK;
            p += sprintf(p, "%s%05d,%s,%d,%d\n", bad ? "x" : "", i, drop ? "NA" : "2024-01-02",
                         1 + i % 5, i % 3);
        }
        mcr_read_options options = {.missing = "drop", .skip_bad = 1, .roles = role};
        options.weight = weights ? "w" : NULL;
        mcr_data *data = table(ctx, text, options);
        const mcr_store *x = store_of(data, "x"), *d = store_of(data, "d");
        int64_t line;
        assert_int_equal(mcr_data_count(data), MORE - 5);
        assert_int_equal(mcr_data_skipped(data, &line, NULL), 2);
        assert_int_equal(line, 11);
        assert_false(d->holes);
        for (int64_t i = 1, row = 0; i < MORE; i++) {
            if (i == 10 || i == 11 || i == CHUNK || i == 2 * CHUNK)
                continue;
            assert_true(x->dense[row * x->cols] == (double)i);
            assert_true(d->dense[row * MCR_DATE_PARTS] == 19724);
            assert_true(mcr_data_targets(data)[row] == (double)(i % 3));
            assert_true(!weights || mcr_data_weights(data)[row] == (double)(1 + i % 5));
            row++;
        }
        mcr_data_free(data);
        /* A hole in the first chunk alone. */
        options.missing = "auto";
        data = table(ctx, text, options);
        assert_true(store_of(data, "d")->holes);
        mcr_data_free(data);
        free(text);
    }
}

typedef struct stop_at {
    int reports, at;
} stop_at;

static int stop_reading(void *user, const mcr_progress *now)
{
    stop_at *s = user;
    return strcmp(now->phase, "reading") == 0 && ++s->reports == s->at;
}

static void stops_between_blocks(void **state)
{
    char *text = lines_of("aaaaaaa,bbbbbbb\n", "1234567,7654321\n");
    stop_at s = {.at = 2};
    mcr_config config = {.size = sizeof config, .progress = stop_reading, .user = &s};
    mcr *ctx;
    mcr_data *data;
    (void)state;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    test_fails(ctx, try_table(&data, ctx, text, (mcr_read_options){0}), MCR_STOPPED, "stopped");
    mcr_close(ctx);
    free(text);
}

static void is_detected(void **state)
{
    static const struct {
        const char *text;
        int other;
    } cases[] = {{"1,2\n3,4\n", 55}, {"1\t2\n3\t4\n", 0}, {"1\n2\n", 0}, {"1,2\n3\n4,5\n", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        assert_int_equal(mcr_format_csv.sniff(true, text, strlen(text)), 90);
        assert_int_equal(mcr_format_csv.sniff(false, text, strlen(text)), cases[i].other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_all_kinds, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(expects_holes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(names_targets, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(takes_numbers_for_names, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_decimal_commas, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_labels, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
        cmocka_unit_test_setup_teardown(cuts_at_line_ends, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_records_across_blocks, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(plans_by_the_first_block, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(finds_blank_lines, test_setup, test_teardown),
        cmocka_unit_test(reports_the_first_fault),
        cmocka_unit_test(reserves_rows_once),
        cmocka_unit_test(reserves_what_is_allowed),
        cmocka_unit_test_setup_teardown(closes_gaps, test_setup, test_teardown),
        cmocka_unit_test(stops_between_blocks),
        cmocka_unit_test(is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
