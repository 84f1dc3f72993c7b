/* fuzz_checkpoint.c: the states of trainings that are kept, altered behind a right checksum.
 *
 * An input names a training and says what is written where into the state that it has kept. The
 * training then goes on from it, and ends with a model or a message. A checkpoint is as much to be
 * trusted as the model that comes of it, but no state may lead beyond the memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_models.h"
#include "fuzz_mutate.h"

#include <mercer/learning.h>

#include "base/context.h"

enum { PATCH = 11, MOST_STATE = 1 << 18, MOST_PATCHES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

/* ---- trainings --------------------------------------------------------------------------------*/

typedef struct training {
    const char *learner, *sample, *kernel;
    const char *option[3][2];
    int64_t n;
    int looks; /* at which it is stopped */
} training;

static const training trainings[] = {
    {"svm", "moons", "rbf(gamma=0.5)", {{"C", "100"}}, 120, 4},
    {"svm", "moons", "rbf(gamma=0.5)", {{"C", "10"}}, 3000, 6},
    {"svm", "blobs", "rbf(gamma=0.5)", {{"multiclass", "ovr"}}, 90, 9},
    {"nu-svm", "moons", "rbf(gamma=0.5)", {{NULL}}, 2500, 5},
    {"svr", "friedman", "rbf(gamma=0.5)", {{"C", "10"}}, 200, 4},
    {"svm", "moons", "linear", {{"form", "primal"}}, 200, 3},
    {"svm", "moons", "rbf(gamma=0.5)", {{"approx", "rff"}, {"rank", "20"}}, 300, 3},
    {"logistic", "moons", "rbf(gamma=0.5)", {{NULL}}, 80, 3},
    {"ridge", "friedman", "rbf(gamma=0.5)", {{"approx", "falkon"}, {"rank", "20"}}, 100, 2},
    {"gp", "friedman", "rbf(gamma=0.5)", {{"restarts", "1"}}, 30, 5},
    {"kmeans", "moons", "rbf(gamma=0.5)", {{"clusters", "4"}, {"restarts", "2"}}, 100, 3},
    {"pegasos", "moons", "rbf(gamma=0.5)", {{"passes", "6"}}, 100, 3},
    {"perceptron", "moons", "rbf(gamma=0.5)", {{"variant", "voted"}, {"passes", "5"}}, 100, 3},
};
enum { TRAININGS = sizeof trainings / sizeof *trainings };

/* What a training that was stopped has kept. bytes NULL: not made yet. */
typedef struct kept {
    uint8_t *bytes;
    size_t head, count; /* head: the first lines, which say what training it is */
} kept;

typedef struct stopper {
    int left; /* looks until it says stop; -1: never */
} stopper;

static int look(void *user, const mcr_progress *now)
{
    stopper *s = user;
    (void)now;
    return s->left >= 0 && s->left-- == 0;
}

/* Runs a training with a checkpoint; its status, and whether a model came of it. */
static mcr_status train(const training *t, const char *path, int looks)
{
    stopper s = {looks};
    mcr_config config = {.size = sizeof config,
                         .threads = 1,
                         .memory_bytes = (size_t)16 << 20,
                         .progress = look,
                         .user = &s};
    mcr *ctx;
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    if (mcr_open(&ctx, &config) != MCR_OK || mcr_data_sample(&data, ctx, t->sample, t->n, -1) ||
        mcr_kernel_parse(&kernel, ctx, t->kernel) || mcr_options_open(&options, ctx, t->learner))
        abort();
    for (size_t i = 0; i < sizeof t->option / sizeof *t->option && t->option[i][0]; i++)
        if (mcr_options_set(options, t->option[i][0], t->option[i][1]) != MCR_OK)
            abort();
    if (mcr_options_set(options, "time-limit", "8") != MCR_OK ||
        mcr_checkpoint_file(ctx, path) != MCR_OK)
        abort();
    mcr_status status = mcr_fit(&model, options, kernel, data, NULL);
    if ((status == MCR_OK) != (model != NULL) || (status != MCR_OK && !mcr_message(ctx)[0]))
        abort();
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    mcr_close(ctx);
    return status;
}

/* The file of the checkpoint, in a folder that is removed at the end. */
static char folder[] = "/tmp/mercer-fuzz-XXXXXX", path[64];

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void make_state(kept *k, const training *t)
{
    unlink(path);
    train(t, path, t->looks);
    FILE *f = fopen(path, "rb");
    k->bytes = malloc(MOST_STATE);
    if (!f || !k->bytes)
        abort();
    k->count = fread(k->bytes, 1, MOST_STATE, f);
    if (!feof(f) || k->count < 100)
        abort();
    fclose(f);
    for (int lines = 0; lines < 3; k->head++)
        lines += k->bytes[k->head] == '\n';
}

/* ---- inputs -----------------------------------------------------------------------------------*/

/* An input: the training, then patches of a place (3 bytes) and 8 bytes, of which as many are
 * written as the highest bits of the place say. */
static void patch(uint8_t *state, const kept *k, const uint8_t *p)
{
    static const size_t lengths[] = {1, 4, 8, 8};
    size_t place = p[0] | (size_t)p[1] << 8 | (size_t)(p[2] & 63) << 16;
    size_t length = lengths[p[2] >> 6], space = k->count - k->head - 4;
    if (length <= space)
        memcpy(state + k->head + place % (space - length + 1), p + 3, length);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    static const uint64_t some[] = {0,
                                    1,
                                    2,
                                    255,
                                    UINT64_MAX,
                                    INT64_MAX,
                                    UINT32_MAX,
                                    UINT64_C(0x7ff8000000000000),
                                    UINT64_C(0x7fe0000000000000)};
    uint32_t state = seed;
    size_t patches = count > 0 ? (count - 1) / PATCH : 0;
    if (capacity < 1 + PATCH * (MOST_PATCHES + 1) || fuzz_next(&state) % 4 == 0)
        return LLVMFuzzerMutate(bytes, count, capacity);
    if (patches >= MOST_PATCHES)
        patches = 0;
    if (count == 0 || fuzz_next(&state) % 8 == 0)
        bytes[0] = (uint8_t)fuzz_next(&state);
    uint8_t *p = bytes + 1 + PATCH * patches;
    uint64_t value = some[fuzz_next(&state) % (sizeof some / sizeof *some)];
    /* Numbers stand at the beginning, before the arrays; words of 8 bytes are aligned there. */
    uint32_t place = fuzz_next(&state) % (fuzz_next(&state) % 2 ? 512 : 1 << 16);
    uint32_t word = 56 + place / 8 * 8, wide = fuzz_next(&state) % 4;
    place = wide >= 2 ? word : place;
    p[0] = (uint8_t)place;
    p[1] = (uint8_t)(place >> 8);
    p[2] = (uint8_t)(wide << 6 | (place >> 16 & 63));
    memcpy(p + 3, &value, sizeof value);
    return 1 + PATCH * (patches + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static uint8_t state[MOST_STATE];
    static kept all[TRAININGS];
    if (count < 1)
        return 0;
    if (!path[0]) {
        if (!mkdtemp(folder))
            abort();
        snprintf(path, sizeof path, "%s/state", folder);
        atexit(remove_folder);
    }
    const training *t = &trainings[bytes[0] % TRAININGS];
    kept *k = &all[bytes[0] % TRAININGS];
    if (!k->bytes)
        make_state(k, t);
    memcpy(state, k->bytes, k->count);
    for (size_t at = 1, i = 0; at + PATCH <= count && i < MOST_PATCHES; at += PATCH, i++)
        patch(state, k, bytes + at);
    uint32_t sum = mcr_checksum(state, k->count - sizeof sum);
    memcpy(state + k->count - sizeof sum, &sum, sizeof sum);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(state, 1, k->count, f) != k->count || fclose(f) != 0)
        abort();
    mcr_status status = train(t, path, -1);
    /* As it was kept it is gone on with. */
    if (count == 1 && status == MCR_BAD_DATA)
        abort();
    return 0;
}
