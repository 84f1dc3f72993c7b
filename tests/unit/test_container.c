/* test_container.c: each condition that guards memory while a model file is read decides by itself;
 * tools/mcdc.py takes them away one by one, and this program must see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

#include "base/stream.h"
#include "model/container.h"
#include "model/model.h"

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
    return (mcr_reader){ctx, *block, *block + t->length, false, false};
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
    assert_int_equal(mcr_reader_end(&r, "f", "w"), MCR_BAD_DATA); /* not all is read */
    assert_int_equal(mcr_get_i64(&r), -5);
    test_ok(ctx, mcr_reader_end(&r, "f", "w"));
    assert_int_equal(mcr_get_u32(&r), 0); /* nothing is left */
    assert_true(r.bad);
    test_fails(ctx, mcr_reader_end(&r, "f", "w"), MCR_BAD_DATA, "damaged (w)");
    free(block);
    /* After a fault nothing more is read, even where it would fit. */
    r = reader_of(ctx, &t, &block);
    r.bad = true;
    assert_int_equal(mcr_get_u32(&r), 0);
    assert_int_equal(mcr_get_i64(&r), 0);
    assert_int_equal(mcr_get_count(&r, 1), 0);
    assert_ptr_equal(r.at, block);
    r.at = r.end;
    assert_int_equal(mcr_reader_end(&r, "f", "w"), MCR_BAD_DATA);
    r.short_of_memory = true;
    assert_int_equal(mcr_reader_end(&r, "f", "w"), MCR_NO_MEMORY);
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
    test_ok(ctx, mcr_reader_end(&r, "f", "w"));
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
        r = (mcr_reader){ctx, part, part + left, false, false};
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
    test_ok(ctx, mcr_reader_end(&r, "f", "w"));
    assert_string_equal(a, "abc");
    assert_null(b);
    assert_string_equal(c, "");
    mcr_free(ctx, a);
    mcr_free(ctx, c);
    r = (mcr_reader){ctx, block, block + 10, false, false};
    assert_null(mcr_get_text(&r));
    assert_true(r.bad);
    block[9] = 0; /* a-c: two texts that look alike */
    r = (mcr_reader){ctx, block, block + t.length, false, false};
    assert_null(mcr_get_text(&r));
    assert_true(r.bad && !r.short_of_memory);
    free(block);
    block = malloc(7); /* fewer bytes than a count has */
    memset(block, 255, 7);
    r = (mcr_reader){ctx, block, block + 7, false, false};
    assert_null(mcr_get_text(&r));
    assert_true(r.bad);
    free(block);
    mcr_text_free(&t);
}

static mcr_status use_arrays(mcr *ctx, void *arg)
{
    static const unsigned char bytes[] = {2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'};
    mcr_reader r = {ctx, bytes, bytes + sizeof bytes, false, false};
    int64_t count;
    (void)arg;
    char *text = mcr_get_text(&r);
    mcr_status s = mcr_reader_end(&r, "f", "w");
    assert_true((text != NULL) == (s == MCR_OK));
    mcr_free(ctx, text);
    if (s)
        return s;
    r = (mcr_reader){ctx, bytes, bytes + sizeof bytes, false, false};
    text = mcr_get_bytes(&r, &count);
    s = mcr_reader_end(&r, "f", "w");
    assert_true((text != NULL) == (s == MCR_OK));
    mcr_free(ctx, text);
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
}

/* ---- sections ---------------------------------------------------------------------------------*/

enum { SECTIONS = 24 };

/* A model file, section by section. */
typedef struct forged {
    mcr *ctx;
    int count;
    char tag[SECTIONS][4];
    mcr_text payload[SECTIONS];
} forged;

static forged forge(mcr *ctx, const mcr_model *model)
{
    void *bytes;
    size_t count;
    forged f = {.ctx = ctx};
    test_ok(ctx, mcr_model_save_memory(&bytes, &count, ctx, model));
    for (const unsigned char *p = (unsigned char *)bytes + 12; memcmp(p, "END ", 4) != 0;) {
        mcr_reader length = {ctx, p + 4, p + 12, false, false};
        size_t size = (size_t)mcr_get_i64(&length);
        assert_true(f.count < SECTIONS);
        memcpy(f.tag[f.count], p, 4);
        mcr_text_init(&f.payload[f.count], ctx);
        mcr_text_add(&f.payload[f.count++], (const char *)p + 12, size);
        p += 16 + size;
    }
    mcr_bytes_free(ctx, bytes);
    return f;
}

static void forged_free(forged *f)
{
    for (int s = 0; s < f->count; s++)
        mcr_text_free(&f->payload[s]);
}

/* The payload of a section, which is new and empty if it is not there. */
static mcr_text *part(forged *f, const char tag[4])
{
    for (int s = 0; s < f->count; s++)
        if (memcmp(f->tag[s], tag, 4) == 0)
            return &f->payload[s];
    assert_true(f->count < SECTIONS);
    memcpy(f->tag[f->count], tag, 4);
    mcr_text_init(&f->payload[f->count], f->ctx);
    return &f->payload[f->count++];
}

static mcr_reader part_reader(forged *f, const char tag[4])
{
    mcr_text *t = part(f, tag);
    const unsigned char *bytes = (const unsigned char *)t->bytes;
    return (mcr_reader){f->ctx, bytes, bytes + t->length, false, false};
}

/* The section that `t` is made into; takes t over. */
static void put_part(forged *f, const char tag[4], mcr_text *t)
{
    mcr_text *to = part(f, tag);
    mcr_text_free(to);
    *to = *t;
}

static mcr_text whole(const forged *f)
{
    mcr_text file;
    mcr_text_init(&file, f->ctx);
    mcr_text_add(&file, mcr_model_magic, MCR_MODEL_MAGIC_BYTES);
    mcr_put_u32(&file, MCR_MODEL_VERSION);
    for (int s = 0; s < f->count; s++)
        mcr_put_section(&file, f->tag[s], &f->payload[s]);
    mcr_put_section(&file, "END ", NULL);
    return file;
}

/* Loads from a block of its own size. what NULL: it must load; else be refused with that. */
static void try_bytes(mcr *ctx, const mcr_text *file, const char *what)
{
    mcr_model *model = NULL;
    char *block = malloc((size_t)file->length);
    memcpy(block, file->bytes, (size_t)file->length);
    mcr_status s = mcr_model_load_memory(&model, ctx, "m.mercer", block, (size_t)file->length);
    if (what)
        test_fails(ctx, s, MCR_BAD_DATA, what);
    else
        test_ok(ctx, s);
    mcr_model_free(model);
    free(block);
}

static void try_forged(const forged *f, const char *what)
{
    mcr_text file = whole(f);
    try_bytes(f->ctx, &file, what);
    mcr_text_free(&file);
}

static forged forge_new(mcr *ctx, const char *sample, int64_t n, const char *learner,
                        const char *options)
{
    mcr_data *data = sample_data(ctx, sample, n);
    mcr_model *model = fit(ctx, learner, options, "linear", data);
    forged f = forge(ctx, model);
    mcr_model_free(model);
    mcr_data_free(data);
    return f;
}

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
    try_bytes(ctx, &file, "use a newer one");
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

/* Sections with what they must not hold. */
static void test_info(void **state)
{
    mcr *ctx = *state;
    for (int c = 0; c < 8; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        const double number[5] = {0};
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_text(&t, c == 1 ? NULL : "svm");
        mcr_put_text(&t, c == 2 ? NULL : "C=1");
        mcr_put_text(&t, c == 3 ? NULL : "0.1");
        mcr_put_i64(&t, 0);
        mcr_put_i64(&t, c == 4 ? -1 : 8);
        mcr_put_i64(&t, c == 5 ? -1 : 2);
        mcr_put_reals(&t, number, c == 6 ? 5 : c == 7 ? 3 : 4);
        put_part(&f, "INFO", &t);
        try_forged(&f, c ? "how it was made" : NULL);
        forged_free(&f);
    }
}

static void test_kernel(void **state)
{
    mcr *ctx = *state;
    static const char *const text[] = {NULL, "linear", "no_such_kernel",
                                       "edit(cost=file:/etc/passwd)"};
    static const char *const what[] = {"its kernel", NULL, "not known", "m.mercer"};
    for (int c = 0; c < 4; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_text(&t, text[c]);
        put_part(&f, "KERN", &t);
        try_forged(&f, what[c]);
        forged_free(&f);
    }
}

static void test_certificate(void **state)
{
    mcr *ctx = *state;
    for (int c = 0; c < 5; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        const double number[7] = {0};
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_text(&t, "KKT violation");
        mcr_put_text(&t, NULL);
        mcr_put_i64(&t, 1);
        mcr_put_u32(&t, c == 1 ? MCR_STOP_LOCAL + 1 : c == 2 ? UINT32_MAX : MCR_STOP_LOCAL);
        mcr_put_reals(&t, number, c == 3 ? 7 : c == 4 ? 5 : 6);
        put_part(&f, "CERT", &t);
        try_forged(&f, c ? "its certificate" : NULL);
        forged_free(&f);
    }
}

/* Classes: none is NULL. */
static void test_classes(void **state)
{
    mcr *ctx = *state;
    for (int c = 0; c < 2; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_i64(&t, 2);
        mcr_put_text(&t, "a");
        mcr_put_text(&t, c ? NULL : "b");
        put_part(&f, "CLAS", &t);
        try_forged(&f, c ? "its classes" : NULL);
        forged_free(&f);
    }
}

/* ---- coefficients -----------------------------------------------------------------------------*/

enum { MOST = 64 };

typedef struct coefs {
    uint32_t task, rule;
    int64_t basis, outputs, segments, slopes, object[MOST];
    double offset[MOST], slope[MOST];
    struct {
        int64_t first, count, outputs, coefs;
        int32_t output[MOST];
        double coef[MOST];
    } segment[8];
} coefs;

#define COPY(to, from, count)                                                                      \
    do {                                                                                           \
        assert_true((count) <= MOST);                                                              \
        memcpy(to, from, sizeof *(to) * (size_t)(count));                                          \
        mcr_free(f->ctx, from);                                                                    \
    } while (0)

static void get_coefs(coefs *c, forged *f)
{
    mcr_reader r = part_reader(f, "COEF");
    *c = (coefs){.task = mcr_get_u32(&r)};
    c->rule = mcr_get_u32(&r);
    int64_t *object = mcr_get_i64s(&r, &c->basis);
    COPY(c->object, object, c->basis);
    double *offset = mcr_get_reals(&r, &c->outputs);
    COPY(c->offset, offset, c->outputs);
    c->segments = mcr_get_count(&r, 32);
    assert_true(c->segments < 8);
    for (int64_t g = 0; g < c->segments; g++) {
        c->segment[g].first = mcr_get_i64(&r);
        c->segment[g].count = mcr_get_i64(&r);
        int32_t *output = mcr_get_i32s(&r, &c->segment[g].outputs);
        COPY(c->segment[g].output, output, c->segment[g].outputs);
        double *coef = mcr_get_reals(&r, &c->segment[g].coefs);
        COPY(c->segment[g].coef, coef, c->segment[g].coefs);
    }
    double *slope = mcr_get_reals(&r, &c->slopes);
    COPY(c->slope, slope, c->slopes);
    test_ok(f->ctx, mcr_reader_end(&r, "f", "w"));
}

static void put_coefs(forged *f, const coefs *c)
{
    mcr_text t;
    mcr_text_init(&t, f->ctx);
    mcr_put_u32(&t, c->task);
    mcr_put_u32(&t, c->rule);
    mcr_put_i64s(&t, c->object, c->basis);
    mcr_put_reals(&t, c->offset, c->outputs);
    mcr_put_i64(&t, c->segments);
    for (int64_t g = 0; g < c->segments; g++) {
        mcr_put_i64(&t, c->segment[g].first);
        mcr_put_i64(&t, c->segment[g].count);
        mcr_put_i32s(&t, c->segment[g].output, c->segment[g].outputs);
        mcr_put_reals(&t, c->segment[g].coef, c->segment[g].coefs);
    }
    mcr_put_reals(&t, c->slope, c->slopes);
    put_part(f, "COEF", &t);
}

/* One change after the other to the coefficients of three classes (segments of 2 outputs each);
 * false: no more. */
static bool change(coefs *c, int number, const char **what)
{
    *what = "its coefficients";
    int64_t last = c->segments - 1;
    switch (number) {
    case 0: *what = NULL; return true;
    case 1: c->segment[0].first = -1; return true;
    case 2: c->segment[0].first = INT64_MAX; return true;
    case 3: c->segment[last].count = -1; return true;
    case 4: c->segment[last].first++; return true;
    case 5: c->segment[0].first = 1; return true;
    case 6: c->segment[0].outputs = 4; return true;
    case 7: c->segment[0].coefs++; return true;
    case 8: c->segment[0].coefs--; return true;
    case 9: c->segment[0].coefs += c->segment[0].count; return true;
    case 10: c->segment[0].output[1] = -1; return true;
    case 11: c->segment[0].output[1] = 3; return true;
    case 12: c->segment[1].coef[0] = NAN; return true;
    case 13: c->offset[1] = INFINITY; return true;
    case 14: c->offset[2] = NAN; return true;
    case 15: c->segments--; return true;
    case 16: c->outputs = 2; return true;
    case 17: c->outputs = 4; return true;
    case 18: c->slopes = 5; return true;
    case 19: c->slopes = 6, c->slope[5] = NAN; return true;
    case 20: c->slopes = 1; return true;
    case 21: /* four outputs, of which there are three */
        c->segment[0].outputs = 4;
        c->segment[0].coefs = 4 * c->segment[0].count;
        return true;
    case 22: /* an empty segment may be */
    case 23: /* but not with coefficients */
        *what = number == 22 ? NULL : *what;
        c->segment[c->segments].first = c->basis;
        c->segment[c->segments].coefs = number == 22 ? 0 : 1;
        c->segments++;
        return true;
    case 24:
        *what = "objects and coefficients do not fit"; /* one more than there are objects */
        c->basis++;
        c->segment[last].count++;
        c->segment[last].coefs += c->segment[last].outputs;
        return true;
    default: return false;
    }
}

static void test_coefficients(void **state)
{
    mcr *ctx = *state;
    const char *what;
    for (int number = 0;; number++) {
        forged f = forge_new(ctx, "blobs", 9, "svm", "C=1");
        coefs c;
        get_coefs(&c, &f);
        assert_true(c.segments == 3 && c.segment[0].outputs == 2 && c.outputs == 3);
        bool more = change(&c, number, &what);
        put_coefs(&f, &c);
        if (more)
            try_forged(&f, what);
        forged_free(&f);
        if (!more)
            break;
    }
    assert_true(what != NULL);
}

/* Pairs of task and rule that go with the numbers of classes and outputs; others are refused. */
static void test_rules(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *sample, *learner, *options, *fit;
    } kinds[] = {
        {"moons", "svm", "C=1", "12 15"},
        {"blobs", "svm", "C=1", "13 14 15"},
        {"sinc", "svr", "C=1", "20 31 44 57"},
        {"sparse", "one-class", "nu=0.5", "20 31 44 57"},
        {"blobs", "kmeans", "clusters=2", "44 57"},
        {"blobs", "pca", "components=2", "44 57"},
        {"moons", "knn", "task=classify neighbors=2", "16"},
        {"sinc", "knn", "task=regress neighbors=2", "20 26 31 44 57"},
        {"sinc", "ridge", "lambda=1", "20 31 44 57"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint32_t task = 0; task < 8; task++)
            for (uint32_t rule = 0; rule < 10; rule++) {
                forged f = forge_new(ctx, kinds[k].sample, 9, kinds[k].learner, kinds[k].options);
                coefs c;
                get_coefs(&c, &f);
                char pair[] = {(char)('0' + task), (char)('0' + rule), '\0'};
                bool fits = strstr(kinds[k].fit, pair) != NULL;
                c.task = task;
                c.rule = rule;
                put_coefs(&f, &c);
                mcr_text file = whole(&f);
                mcr_model *model = NULL;
                mcr_status s = mcr_model_load_memory(&model, ctx, "m.mercer", file.bytes,
                                                     (size_t)file.length);
                if ((s == MCR_OK) != fits)
                    fail_msg("%s: task %u, rule %u: %s", kinds[k].learner, task, rule,
                             s ? mcr_message(ctx) : "it is taken");
                mcr_model_free(model);
                mcr_text_free(&file);
                forged_free(&f);
            }
}

/* ---- sections that need not be there ----------------------------------------------------------*/

static void test_probabilities(void **state)
{
    mcr *ctx = *state;
    static const double curve[][6] = {{1, 0, 1, 0, 1, 0},
                                      {1, 0, 1, NAN, 1, 0},
                                      {1, 0, 0, 0, 1, 0},
                                      {1, 0, 1, 0, -1, 0},
                                      {INFINITY, 0, 1, 0, 1, 0}};
    for (int c = 0; c < 7; c++) {
        forged f = forge_new(ctx, "blobs", 9, "svm", "C=1");
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_reals(&t, curve[c < 5 ? c : 0], c == 5 ? 5 : 6);
        if (c == 6)
            t.length -= 8;
        put_part(&f, "PROB", &t);
        try_forged(&f, c ? "its probabilities" : NULL);
        forged_free(&f);
    }
}

static void test_extras(void **state)
{
    mcr *ctx = *state;
    const double value[] = {1, 2}, bad[] = {1, INFINITY};
    for (int c = 0; c < 5; c++) {
        forged f = forge_new(ctx, "blobs", 9, "svm", "C=1");
        mcr_text t;
        char name[16];
        int extras = c == 3 ? 1001 : c == 4 ? 1000 : 1;
        mcr_text_init(&t, ctx);
        mcr_put_i64(&t, extras);
        for (int e = 0; e < extras; e++) {
            snprintf(name, sizeof name, "n%d", e);
            mcr_put_text(&t, c == 1 ? NULL : name);
            mcr_put_reals(&t, c == 2 ? bad : value, 2);
        }
        put_part(&f, "MORE", &t);
        try_forged(&f, c && c != 4 ? "its numbers" : NULL);
        forged_free(&f);
    }
}

static void test_scaling(void **state)
{
    mcr *ctx = *state;
    const double good[] = {1, 2, 3}, bad[] = {1, NAN, 3};
    for (int c = 0; c < 9; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        mcr_text t;
        int64_t cols = c == 7 ? 3 : 2;
        mcr_text_init(&t, ctx);
        mcr_put_i64(&t, 1);
        mcr_put_text(&t, c == 1 ? NULL : c == 8 ? "other" : "x");
        mcr_put_u32(&t, c == 2 ? 2 : c == 6 ? 0 : 1);
        mcr_put_reals(&t, c == 3 ? bad : good, cols);
        mcr_put_reals(&t, c == 4 ? bad : good, c == 5 ? 3 : cols);
        put_part(&f, "SCAL", &t);
        try_forged(&f, c == 0 || c == 8 ? NULL
                       : c < 6          ? "its scaling"
                                        : "objects and scaling do not fit");
        forged_free(&f);
    }
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
        cmocka_unit_test_setup_teardown(test_info, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_kernel, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_certificate, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_classes, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_coefficients, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_rules, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_probabilities, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_extras, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_scaling, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
