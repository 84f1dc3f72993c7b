/* test_container.c: each condition that guards memory while a model file is read decides by itself;
 * tools/mcdc.py takes them away one by one, and this program must see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "forge_helpers.h"

static int open_context(void **state)
{
    *state = test_open(1);
    return 0;
}

static int close_context(void **state)
{
    test_close(*state);
    return 0;
}

/* ---- reading numbers --------------------------------------------------------------------------*/

/* What a reader of the text's bytes, in a block of their own size, begins with. */
static mcr_reader reader_of(mcr *ctx, const mcr_text *t, unsigned char **block)
{
    *block = malloc(t->length ? (size_t)t->length : 1);
    if (t->length)
        memcpy(*block, t->bytes, (size_t)t->length);
    return (mcr_reader){
        .ctx = ctx, .at = *block, .end = *block + t->length, .file = "f", .what = "w"};
}

static void test_numbers(void **state)
{
    mcr *ctx = *state;
    mcr_text t;
    unsigned char *block;
    mcr_text_init(&t, ctx);
    mcr_put_u32(&t, 0x01020304);
    mcr_put_i64(&t, -5);
    mcr_reader r = reader_of(ctx, &t, &block);
    assert_int_equal(mcr_get_u32(&r), 0x01020304);
    assert_false(r.bad);
    assert_int_equal(mcr_reader_end(&r), MCR_BAD_DATA); /* not all is read */
    assert_int_equal(mcr_get_i64(&r), -5);
    test_ok(ctx, mcr_reader_end(&r));
    assert_int_equal(mcr_get_u32(&r), 0); /* nothing is left */
    assert_true(r.bad);
    test_fails(ctx, mcr_reader_end(&r), MCR_BAD_DATA, "damaged (w)");
    free(block);
    /* After a fault nothing more is read, even where it would fit. */
    r = reader_of(ctx, &t, &block);
    r.bad = true;
    assert_int_equal(mcr_get_u32(&r), 0);
    assert_int_equal(mcr_get_i64(&r), 0);
    assert_int_equal(mcr_get_count(&r, 1), 0);
    assert_ptr_equal(r.at, block);
    r.at = r.end;
    assert_int_equal(mcr_reader_end(&r), MCR_BAD_DATA);
    r.short_of_memory = true;
    assert_int_equal(mcr_reader_end(&r), MCR_NO_MEMORY);
    free(block);
    mcr_text_free(&t);
}

/* A count, and `bytes` bytes behind it. */
static int64_t count_of(mcr *ctx, int64_t count, int bytes, size_t size, bool *bad)
{
    mcr_text t;
    unsigned char *block;
    mcr_text_init(&t, ctx);
    mcr_put_i64(&t, count);
    for (int i = 0; i < bytes; i++)
        mcr_text_add(&t, "x", 1);
    mcr_reader r = reader_of(ctx, &t, &block);
    int64_t got = mcr_get_count(&r, size);
    *bad = r.bad;
    free(block);
    mcr_text_free(&t);
    return got;
}

static void test_counts(void **state)
{
    mcr *ctx = *state;
    static const struct {
        int64_t count;
        int bytes;
        size_t size;
        bool bad;
    } cases[] = {{2, 16, 8, false},        {0, 0, 8, false},        {-1, 16, 8, true},
                 {3, 16, 8, true},         {3, 23, 8, true},        {1, 0, 1, true},
                 {INT64_MAX, 64, 8, true}, {INT64_MIN, 64, 8, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool bad;
        int64_t got = count_of(ctx, cases[i].count, cases[i].bytes, cases[i].size, &bad);
        assert_int_equal(bad, cases[i].bad);
        assert_int_equal(got, cases[i].bad ? 0 : cases[i].count);
    }
}

static void test_arrays(void **state)
{
    mcr *ctx = *state;
    const int32_t a[] = {1, -2, 3};
    const int64_t b[] = {4, -5};
    const double c[] = {0.5, -1e300};
    int64_t count[4];
    mcr_text t;
    unsigned char *block;
    mcr_text_init(&t, ctx);
    mcr_put_i32s(&t, a, 3);
    mcr_put_i64s(&t, b, 2);
    mcr_put_reals(&t, c, 2);
    mcr_put_text(&t, "xyz");
    mcr_reader r = reader_of(ctx, &t, &block);
    int32_t *x = mcr_get_i32s(&r, &count[0]);
    int64_t *y = mcr_get_i64s(&r, &count[1]);
    double *z = mcr_get_reals(&r, &count[2]);
    char *w = mcr_get_bytes(&r, &count[3]);
    test_ok(ctx, mcr_reader_end(&r));
    assert_true(count[0] == 3 && count[1] == 2 && count[2] == 2 && count[3] == 3);
    assert_memory_equal(x, a, sizeof a);
    assert_memory_equal(y, b, sizeof b);
    assert_memory_equal(z, c, sizeof c);
    assert_memory_equal(w, "xyz", 3);
    mcr_free(ctx, x);
    mcr_free(ctx, y);
    mcr_free(ctx, z);
    mcr_free(ctx, w);
    /* Cut off within each: an array, or NULL and a fault. */
    for (const unsigned char *end = block; end < block + t.length; end++) {
        size_t left = (size_t)(end - block);
        unsigned char *part = malloc(left ? left : 1);
        memcpy(part, block, left);
        r = (mcr_reader){.ctx = ctx, .at = part, .end = part + left, .file = "f", .what = "w"};
        x = mcr_get_i32s(&r, &count[0]);
        y = mcr_get_i64s(&r, &count[1]);
        z = mcr_get_reals(&r, &count[2]);
        w = mcr_get_bytes(&r, &count[3]);
        assert_true(r.bad);
        assert_false(r.short_of_memory);
        assert_null(w);
        mcr_free(ctx, x);
        mcr_free(ctx, y);
        mcr_free(ctx, z);
        free(part);
    }
    free(block);
    mcr_text_free(&t);
}

/* Texts: one, none, one with a byte 0 in it, one that is cut off. */
static void test_texts(void **state)
{
    mcr *ctx = *state;
    mcr_text t;
    unsigned char *block;
    mcr_text_init(&t, ctx);
    mcr_put_text(&t, "abc");
    mcr_put_text(&t, NULL);
    mcr_put_text(&t, "");
    mcr_reader r = reader_of(ctx, &t, &block);
    char *a = mcr_get_text(&r), *b = mcr_get_text(&r), *c = mcr_get_text(&r);
    test_ok(ctx, mcr_reader_end(&r));
    assert_string_equal(a, "abc");
    assert_null(b);
    assert_string_equal(c, "");
    mcr_free(ctx, a);
    mcr_free(ctx, c);
    r = (mcr_reader){.ctx = ctx, .at = block, .end = block + 10, .file = "f", .what = "w"};
    assert_null(mcr_get_text(&r));
    assert_true(r.bad);
    block[9] = 0; /* a-c: two texts that look alike */
    r = (mcr_reader){.ctx = ctx, .at = block, .end = block + t.length, .file = "f", .what = "w"};
    assert_null(mcr_get_text(&r));
    assert_true(r.bad && !r.short_of_memory);
    free(block);
    block = malloc(7); /* fewer bytes than a count has */
    memset(block, 255, 7);
    r = (mcr_reader){.ctx = ctx, .at = block, .end = block + 7, .file = "f", .what = "w"};
    assert_null(mcr_get_text(&r));
    assert_true(r.bad);
    free(block);
    mcr_text_free(&t);
}

static mcr_status use_arrays(mcr *ctx, void *arg)
{
    static const unsigned char bytes[] = {2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'};
    mcr_reader r = {.ctx = ctx, .at = bytes, .end = bytes + sizeof bytes, .file = "f", .what = "w"};
    int64_t count;
    (void)arg;
    char *text = mcr_get_text(&r);
    mcr_status s = mcr_reader_end(&r);
    assert_true((text != NULL) == (s == MCR_OK));
    mcr_free(ctx, text);
    if (s)
        return s;
    r = (mcr_reader){
        .ctx = ctx, .at = bytes, .end = bytes + sizeof bytes, .file = "f", .what = "w"};
    text = mcr_get_bytes(&r, &count);
    s = mcr_reader_end(&r);
    assert_true((text != NULL) == (s == MCR_OK));
    mcr_free(ctx, text);
    return s;
}

static mcr_status use_list(mcr *ctx, void *arg)
{
    static const unsigned char bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 'a', 1, 0, 0, 0, 0, 0, 0, 0, 'b'};
    mcr_reader r = {.ctx = ctx, .at = bytes, .end = bytes + sizeof bytes, .file = "f", .what = "w"};
    (void)arg;
    char **text = mcr_get_texts(&r, 2);
    mcr_status s = mcr_reader_end(&r);
    assert_true((text != NULL) == (s == MCR_OK));
    if (text)
        assert_true(strcmp(text[0], "a") == 0 && strcmp(text[1], "b") == 0);
    mcr_free_each(ctx, text, 2);
    return s;
}

/* A text that could not grow keeps its status, and takes nothing more. */
static mcr_status use_writing(mcr *ctx, void *arg)
{
    static const int32_t a[300] = {1};
    static const int64_t b[300] = {1};
    static const double c[300] = {1};
    mcr_status s = MCR_OK;
    (void)arg;
    for (int which = 0; which < 5 && !s; which++) {
        mcr_text t;
        mcr_text_init(&t, ctx);
        if (which == 0)
            mcr_put_u32(&t, 1);
        if (which == 1)
            mcr_put_i64(&t, 1);
        if (which == 2)
            mcr_put_i32_run(&t, a, 300);
        if (which == 3)
            mcr_put_real_run(&t, c, 300);
        if (which == 4)
            mcr_put_i64s(&t, b, 300);
        s = t.status;
        mcr_text_free(&t);
    }
    return s;
}

/* What went wrong with a section's text goes to the file's, unless that has a fault already. */
static void test_failed_texts(void **state)
{
    mcr *ctx = *state;
    static const mcr_status was[] = {MCR_OK, MCR_OK, MCR_BAD_DATA, MCR_BAD_DATA};
    static const mcr_status part[] = {MCR_OK, MCR_NO_MEMORY, MCR_OK, MCR_NO_MEMORY};
    static const mcr_status then[] = {MCR_OK, MCR_NO_MEMORY, MCR_BAD_DATA, MCR_BAD_DATA};
    for (int c = 0; c < 4; c++) {
        mcr_text file, payload;
        mcr_text_init(&file, ctx);
        mcr_text_init(&payload, ctx);
        mcr_text_add(&payload, "ab", 2);
        file.status = was[c];
        payload.status = part[c];
        mcr_put_section(&file, "ABCD", &payload);
        assert_int_equal(file.status, then[c]);
        assert_true(c || file.length == 4 + 8 + 2 + 4);
        mcr_text_free(&file);
        mcr_text_free(&payload);
    }
}

static void test_without_memory(void **state)
{
    (void)state;
    test_sweep_allocations("sections", use_writing, NULL);
    test_sweep_allocations("texts and arrays", use_arrays, NULL);
    test_sweep_allocations("a list of texts", use_list, NULL);
}

/* ---- sections ---------------------------------------------------------------------------------*/

static void test_container(void **state)
{
    mcr *ctx = *state;
    forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
    mcr_text file = whole(&f);
    try_bytes(ctx, &file, NULL);
    file.bytes[3] ^= 1;
    try_bytes(ctx, &file, "not a model file");
    file.bytes[3] ^= 1;
    file.bytes[8] = 0;
    try_bytes(ctx, &file, "format 0");
    file.bytes[8] = MCR_MODEL_VERSION + 1;
    try_bytes(ctx, &file, "use a newer version");
    file.bytes[8] = MCR_MODEL_VERSION;
    file.bytes[30] ^= 1;
    try_bytes(ctx, &file, "a checksum does not fit");
    file.bytes[30] ^= 1;
    file.bytes[12 + 4 + 6] ^= 1; /* the length of the first section */
    try_bytes(ctx, &file, "it ends early");
    file.bytes[12 + 4 + 6] ^= 1;
    int64_t length = file.length;
    for (file.length = 0; file.length < length; file.length++)
        try_bytes(ctx, &file, file.length < 12 ? "not a model file" : "it ends early");
    mcr_text_add(&file, "x", 1);
    try_bytes(ctx, &file, "something follows its end");
    mcr_text_free(&file);
    forged_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_counts, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_arrays, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_texts, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_without_memory, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_failed_texts, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_container, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
