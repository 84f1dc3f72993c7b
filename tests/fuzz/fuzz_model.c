/* fuzz_model.c: model files of Mercer and of LIBSVM. What loads can be looked at, predicts or says
 * why not, and is saved in a form that loads as the same model.
 *
 * Hardly any altered container has the right lengths and checksums. So each input is tried as it is
 * and once more with its sections framed again: then faults behind the checksums are found too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_mutate.h"
#include "fuzz_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <mercer/model.h>

#include "model/container.h"
#include "model/libsvm.h"
#include "model/model.h"

enum { HEADER = 12, SECTION_HEADER = 12, SECTION_TAIL = 4, PIPE = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

/* ---- saving -----------------------------------------------------------------------------------*/

typedef mcr_status save_function(mcr *ctx, const mcr_model *model, const char *path);

/* Saves through a pipe: no disk, no names. Returns the bytes; NULL where the model is refused. */
static uint8_t *save(mcr *ctx, const mcr_model *model, save_function *how, size_t *count)
{
    int end[2];
    char path[32];
    uint8_t *bytes = malloc(PIPE);
    if (!bytes || pipe(end) != 0 || fcntl(end[1], F_SETPIPE_SZ, PIPE) < PIPE)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", end[1]);
    mcr_status status = how(ctx, model, path);
    close(end[1]);
    *count = 0;
    for (ssize_t got = 1; got > 0; *count += (size_t)got)
        if ((got = read(end[0], bytes + *count, PIPE - *count)) < 0)
            abort();
    close(end[0]);
    if (status == MCR_OK)
        return bytes;
    if (*count || !mcr_message(ctx)[0])
        abort();
    free(bytes);
    return NULL;
}

/* ---- predicting -------------------------------------------------------------------------------*/

/* Two objects with a field of every kind; sparse or dense vectors. */
static mcr_data *objects(mcr *ctx, bool sparse)
{
    static const char dense[] =
        "{\"x\": [0.5, -1], \"text\": \"ACGTAC\", \"graph\": {\"nodes\": [\"C\", \"O\"], "
        "\"edges\": [[0, 1]]}}\n{\"x\": [2, 0], \"text\": \"TT\", \"graph\": {\"nodes\": [\"C\"], "
        "\"edges\": []}}\n";
    static const char few[] = "0 1:0.5 2:-1\n0 3:2 200:1\n";
    mcr_read_options options = {.size = sizeof options, .format = "jsonl", .target = "none"};
    if (sparse)
        options.format = "libsvm";
    mcr_data *data;
    if (mcr_data_read_memory(&data, ctx, "objects", sparse ? few : dense,
                             sparse ? sizeof few - 1 : sizeof dense - 1, &options) != MCR_OK)
        abort();
    return data;
}

/* What the model says about the objects: outputs x n decision values; NULL where it refuses
 * them. */
static double *predict(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    size_t n = (size_t)mcr_data_count(data), outputs = (size_t)mcr_model_outputs(model);
    size_t k = (size_t)mcr_model_classes(model);
    double *value = malloc(n * sizeof *value), *score = malloc(n * outputs * sizeof *score);
    double *proba = mcr_model_has_probability(model) && k ? malloc(n * k * sizeof *proba) : NULL;
    if (!value || !score)
        abort();
    bool predicts = mcr_model_report(model)->task != MCR_TRANSFORM;
    mcr_status status = mcr_predict(ctx, model, data, predicts ? value : NULL, score, proba);
    if (status != MCR_OK && !mcr_message(ctx)[0])
        abort();
    for (size_t i = 0; i < n && status == MCR_OK && k; i++)
        if (!(value[i] >= 0 && value[i] < (double)k))
            abort();
    /* Again without scores: classes then come from float values where these are sure. */
    mcr_status quick = mcr_predict(ctx, model, data, predicts ? value : NULL, NULL, NULL);
    /* Probabilities may need what classes do not; scores may overflow where the class is sure. */
    if ((quick == MCR_OK) != (status == MCR_OK) && !proba && status != MCR_NUMERIC)
        abort();
    free(value);
    free(proba);
    if (status == MCR_OK)
        return score;
    free(score);
    return NULL;
}

/* The same bits; any not-a-number is like any other. */
static void compare(mcr *ctx, const mcr_model *a, const mcr_model *b, const mcr_data *data)
{
    double *x = predict(ctx, a, data), *y = predict(ctx, b, data);
    if (!x != !y)
        abort();
    int64_t values = mcr_data_count(data) * mcr_model_outputs(a);
    for (int64_t i = 0; x && i < values; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && (x[i] == x[i] || y[i] == y[i]))
            abort();
    free(x);
    free(y);
}

/* ---- one file ---------------------------------------------------------------------------------*/

static mcr_model *load(mcr *ctx, const uint8_t *bytes, size_t count)
{
    mcr_model *model = NULL;
    mcr_status status = mcr_model_load_memory(&model, ctx, "input", bytes, count);
    if ((status == MCR_OK) != (model != NULL) || (status != MCR_OK && !mcr_message(ctx)[0]))
        abort();
    return model;
}

static void look(const mcr_model *model)
{
    const mcr_report_fit *report = mcr_model_report(model);
    int64_t support = mcr_model_support(model);
    double offset, *coef = malloc((size_t)(support + 1) * sizeof *coef);
    int64_t *number = malloc((size_t)(support + 1) * sizeof *number);
    if (!coef || !number || !report->learner || !report->kernel || support < 0)
        abort();
    for (int64_t c = 0; c < mcr_model_classes(model); c++)
        if (!mcr_model_class_name(model, c))
            abort();
    for (int64_t o = 0; o < mcr_model_outputs(model); o++)
        if (!mcr_model_output_name(model, o) ||
            mcr_model_coefficients(model, o, coef, &offset, number) != MCR_OK)
            abort();
    free(coef);
    free(number);
}

/* Tables are read like the one that the model was trained on. */
static void check_tables(mcr *ctx, const mcr_model *model)
{
    static const char *const text[] = {"y,a,w,b\n1,2,3,4\n5,6,7,8\n", "a,z,b\n1,2,3\n",
                                       "1,2,3,4\n5,6,7,8\n"};
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        mcr_read_options options = {
            .size = sizeof options, .format = "csv", .like = mcr_model_layout(model)};
        mcr_data *data = NULL;
        mcr_status status = mcr_data_read_memory(&data, ctx, "table", text[t], strlen(text[t]),
                                                 &options);
        fuzz_check(ctx, status, data);
        mcr_data_free(data);
    }
}

/* Saved and loaded it must say the same, and be saved as the same bytes. */
static void check_saved(mcr *ctx, const mcr_model *model)
{
    size_t count, again_count;
    uint8_t *bytes = save(ctx, model, mcr_model_save, &count);
    if (!bytes)
        return;
    mcr_model *again = load(ctx, bytes, count);
    if (!again)
        abort();
    uint8_t *second = save(ctx, again, mcr_model_save, &again_count);
    if (!second || again_count != count || memcmp(bytes, second, count) != 0)
        abort();
    for (int sparse = 0; sparse < 2; sparse++) {
        mcr_data *data = objects(ctx, sparse);
        compare(ctx, model, again, data);
        mcr_data_free(data);
    }
    if (mcr_data_count(model->basis) > 0) {
        mcr_data *own = NULL;
        if (mcr_data_select(&own, model->basis, (mcr_rows){NULL, 0, 1}) != MCR_OK)
            abort();
        compare(ctx, model, again, own);
        mcr_data_free(own);
    }
    mcr_model_free(again);
    free(bytes);
    free(second);
}

static void check_file(const uint8_t *bytes, size_t count)
{
    mcr *ctx = fuzz_open();
    mcr_model *model = load(ctx, bytes, count);
    if (model) {
        look(model);
        check_tables(ctx, model);
        check_saved(ctx, model);
        size_t length;
        uint8_t *text = save(ctx, model, mcr_model_save_libsvm, &length);
        mcr_model *other = text ? load(ctx, text, length) : NULL;
        /* What came from LIBSVM goes back to it. */
        if (text && !other && mcr_libsvm_recognise(bytes, count))
            abort();
        mcr_model_free(other);
        free(text);
    }
    mcr_model_free(model);
    mcr_close(ctx);
}

/* ---- framing ----------------------------------------------------------------------------------*/

static bool is_tag(const uint8_t *at)
{
    static const char tags[][5] = {"INFO", "KERN", "KER2", "CERT", "CLAS", "COEF", "TARG",
                                   "MORE", "SCAL", "TUNE", "TABL", "COLS", "OBJS", "END "};
    for (size_t t = 0; t < sizeof tags / sizeof *tags; t++)
        if (memcmp(at, tags[t], 4) == 0)
            return true;
    return false;
}

/* Where the next section begins, or the end. */
static size_t next_tag(const uint8_t *bytes, size_t at, size_t count)
{
    while (at + 4 <= count && !is_tag(bytes + at))
        at++;
    return at + 4 <= count ? at : count;
}

/* A section reaches up to the next tag: its length and checksum are put right. */
static void check_framed(const uint8_t *bytes, size_t count)
{
    mcr *ctx = fuzz_open();
    mcr_text file;
    mcr_text_init(&file, ctx);
    mcr_text_add(&file, mcr_model_magic, MCR_MODEL_MAGIC_BYTES);
    mcr_put_u32(&file, MCR_MODEL_VERSION);
    for (size_t at = next_tag(bytes, HEADER, count), next; at < count; at = next) {
        next = next_tag(bytes, at + 4, count);
        mcr_text part;
        mcr_text_init(&part, ctx);
        if (next - at > SECTION_HEADER + SECTION_TAIL && bytes[at] != 'E')
            mcr_text_add(&part, bytes + at + SECTION_HEADER,
                         next - at - SECTION_HEADER - SECTION_TAIL);
        mcr_put_section(&file, (const char *)bytes + at, &part);
        mcr_text_free(&part);
    }
    if (file.status != MCR_OK)
        abort();
    check_file((const uint8_t *)file.bytes, (size_t)file.length);
    mcr_text_free(&file);
    mcr_close(ctx);
}

/* One section is altered; lengths and checksums are put right, so that the mutant is read to its
 * end. */
static size_t mutate_section(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    size_t start[64], sections = 0;
    for (size_t at = next_tag(bytes, HEADER, count); at < count && sections < 64;
         at = next_tag(bytes, at + 4, count))
        start[sections++] = at;
    if (sections < 2)
        return LLVMFuzzerMutate(bytes, count, capacity);
    size_t which = fuzz_next(&seed) % (sections - 1), at = start[which];
    size_t first = at + SECTION_HEADER, end = start[which + 1] - SECTION_TAIL, rest = count - end;
    static uint8_t tail[1 << 16];
    if (first > end || rest > sizeof tail || end - first + rest > capacity)
        return LLVMFuzzerMutate(bytes, count, capacity);
    memcpy(tail, bytes + end, rest);
    size_t length = LLVMFuzzerMutate(bytes + first, end - first, capacity - first - rest);
    memcpy(bytes + first + length, tail, rest);
    for (int i = 0; i < 8; i++)
        bytes[at + 4 + (size_t)i] = (uint8_t)((uint64_t)length >> (8 * i));
    uint32_t sum = mcr_checksum(bytes + at, SECTION_HEADER + length);
    for (int i = 0; i < 4; i++)
        bytes[first + length + (size_t)i] = (uint8_t)(sum >> (8 * i));
    return first + length + rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    if (count > HEADER && memcmp(bytes, mcr_model_magic, MCR_MODEL_MAGIC_BYTES) == 0 && seed % 4)
        return mutate_section(bytes, count, capacity, seed / 4);
    return LLVMFuzzerMutate(bytes, count, capacity);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    check_file(bytes, count);
    if (count >= HEADER && memcmp(bytes, mcr_model_magic, MCR_MODEL_MAGIC_BYTES) == 0)
        check_framed(bytes, count);
    return 0;
}
