/* forge_helpers.h: model files taken apart into their sections, and put together with other ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_FORGE_HELPERS_H
#define TEST_FORGE_HELPERS_H

#include "svm_helpers.h"

#include "base/stream.h"
#include "model/container.h"
#include "model/model.h"

enum { SECTIONS = 24 };

/* A model file, section by section. */
typedef struct forged {
    mcr *ctx;
    int count;
    char tag[SECTIONS][4];
    mcr_text payload[SECTIONS];
} forged;

static inline forged forge(mcr *ctx, const mcr_model *model)
{
    void *bytes;
    size_t count;
    forged f = {.ctx = ctx};
    test_ok(ctx, mcr_model_save_memory(&bytes, &count, ctx, model));
    for (const unsigned char *p = (unsigned char *)bytes + 12; memcmp(p, "END ", 4) != 0;) {
        mcr_reader length = {.ctx = ctx, .at = p + 4, .end = p + 12, .file = "f", .what = "w"};
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

static inline void forged_free(forged *f)
{
    for (int s = 0; s < f->count; s++)
        mcr_text_free(&f->payload[s]);
}

/* The payload of a section, which is new and empty if it is not there. */
static inline mcr_text *part(forged *f, const char tag[4])
{
    for (int s = 0; s < f->count; s++)
        if (memcmp(f->tag[s], tag, 4) == 0)
            return &f->payload[s];
    assert_true(f->count < SECTIONS);
    memcpy(f->tag[f->count], tag, 4);
    mcr_text_init(&f->payload[f->count], f->ctx);
    return &f->payload[f->count++];
}

static inline mcr_reader part_reader(forged *f, const char tag[4])
{
    mcr_text *t = part(f, tag);
    const unsigned char *bytes = (const unsigned char *)t->bytes;
    return (mcr_reader){
        .ctx = f->ctx, .at = bytes, .end = bytes + t->length, .file = "f", .what = "w"};
}

/* The section that `t` is made into; takes t over. */
static inline void put_part(forged *f, const char tag[4], mcr_text *t)
{
    mcr_text *to = part(f, tag);
    mcr_text_free(to);
    *to = *t;
}

/* Without that section. */
static inline void drop_part(forged *f, const char tag[4])
{
    mcr_text_free(part(f, tag));
    int s = (int)(part(f, tag) - f->payload);
    f->count--;
    memcpy(f->tag[s], f->tag[f->count], 4);
    f->payload[s] = f->payload[f->count];
}

static inline mcr_text whole(const forged *f)
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

/* From a block of its own size. */
static inline mcr_status load_bytes(mcr_model **out, mcr *ctx, const mcr_text *file)
{
    char *block = malloc((size_t)file->length);
    memcpy(block, file->bytes, (size_t)file->length);
    mcr_status s = mcr_model_load_memory(out, ctx, "m.mercer", block, (size_t)file->length);
    free(block);
    return s;
}

/* what NULL: it must load; else be refused with that. */
static inline void try_bytes(mcr *ctx, const mcr_text *file, const char *what)
{
    mcr_model *model = NULL;
    mcr_status s = load_bytes(&model, ctx, file);
    if (what)
        test_fails(ctx, s, MCR_BAD_DATA, what);
    else
        test_ok(ctx, s);
    mcr_model_free(model);
}

static inline void try_forged(const forged *f, const char *what)
{
    mcr_text file = whole(f);
    try_bytes(f->ctx, &file, what);
    mcr_text_free(&file);
}

static inline mcr_model *load_forged(const forged *f)
{
    mcr_model *model = NULL;
    mcr_text file = whole(f);
    test_ok(f->ctx, load_bytes(&model, f->ctx, &file));
    mcr_text_free(&file);
    return model;
}

/* The model of these data, which are freed. */
static inline forged forge_fit(mcr *ctx, mcr_data *data, const char *kernel, const char *learner,
                               const char *options)
{
    mcr_model *model = fit(ctx, learner, options, kernel, data);
    forged f = forge(ctx, model);
    mcr_model_free(model);
    mcr_data_free(data);
    return f;
}

static inline forged forge_new(mcr *ctx, const char *sample, int64_t n, const char *learner,
                               const char *options)
{
    return forge_fit(ctx, sample_data(ctx, sample, n), "linear", learner, options);
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

static inline void get_coefs(coefs *c, forged *f)
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
    test_ok(f->ctx, mcr_reader_end(&r));
}

static inline void put_coefs(forged *f, const coefs *c)
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

#endif
