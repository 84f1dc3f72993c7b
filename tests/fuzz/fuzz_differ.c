/* fuzz_differ.c: a kernel expression gives the same values however they are asked for: a block at
 * once, pair by pair, the other way round, its diagonal; and by the portable code instead of that
 * for this processor, up to the bounds on rounding. The objects have a field of every kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "fuzz_mutate.h"
#include "fuzz_reader.h"

#include <mercer/gram.h>

#include "gram/gram.h"
#include "kernel/kernel.h"
#include "linalg/tiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

/* The linker sends the calls of mcr_tiles_best here (meson.build). */
const mcr_tiles *__real_mcr_tiles_best(void);
const mcr_tiles *__wrap_mcr_tiles_best(void);

enum { OBJECTS = 5 };

static bool portable;

const mcr_tiles *__wrap_mcr_tiles_best(void)
{
    return portable ? mcr_tiles_named("base") : __real_mcr_tiles_best();
}

static const char *const words[] = {
    "rbf(gamma=",
    "linear",
    "poly(degree=",
    ", c=",
    "laplace(gamma=",
    "matern(nu=",
    "rq(alpha=",
    "periodic(period=",
    "sigmoid(a=",
    "cosine",
    "chi2",
    "intersection",
    "mahalanobis(diag=[",
    "mahalanobis(file=",
    "normalize(",
    "exp(",
    "conformal(f=",
    "spectrum(p=",
    "blended(p=",
    "ssk(p=",
    ", lambda=",
    "mismatch(k=",
    ", m=",
    "gkm(l=",
    "wl(h=",
    "shortestpath",
    "graphlet(p=",
    "walk",
    "precomputed",
    " + ",
    "*",
    "^",
    "(",
    ")",
    "[",
    "]",
    ",",
    "\"x\"",
    "x",
    "text",
    "graph",
    "1e300",
    "-1",
    "0",
    "1",
    "2.5",
    "1e-300",
    "nan",
    "100000",
};

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    return fuzz_mutate_tokens(bytes, count, capacity, seed, words, sizeof words / sizeof *words);
}

static mcr_data *objects(mcr *ctx)
{
    static const char text[] =
        "{\"x\": [0.5, -1], \"text\": \"ACGTAC\", \"graph\": {\"nodes\": [\"C\", \"O\"], "
        "\"edges\": [[0, 1]]}}\n"
        "{\"x\": [2, 0], \"text\": \"TT\", \"graph\": {\"nodes\": [\"C\"], \"edges\": []}}\n"
        "{\"x\": [0, 0], \"text\": \"\", \"graph\": {\"nodes\": [\"C\", \"C\", \"N\"], "
        "\"edges\": [[0, 1], [1, 2], [0, 2]]}}\n"
        "{\"x\": [0.25, 3], \"text\": \"GATTACAGATTACA\", \"graph\": {\"nodes\": [\"O\", \"C\", "
        "\"C\", \"C\"], \"edges\": [[0, 1], [1, 2], [2, 3]]}}\n"
        "{\"x\": [0.5, -1], \"text\": \"ACGTAC\", \"graph\": {\"nodes\": [\"C\", \"O\"], "
        "\"edges\": [[0, 1]]}}\n";
    mcr_read_options options = {.size = sizeof options, .format = "jsonl", .target = "none"};
    mcr_data *data;
    if (mcr_data_read_memory(&data, ctx, "objects", text, sizeof text - 1, &options) != MCR_OK)
        abort();
    return data;
}

/* Rounding may differ with the order of sums, by what the largest values allow. */
static bool is_near(double a, double b, double scale)
{
    if (!isfinite(a) || !isfinite(b))
        return isfinite(a) == isfinite(b);
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + scale) || fabs(a - b) <= DBL_MIN;
}

/* All values, their diagonal and the bound on their rounding; false: the kernel is refused. */
static bool compute(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data, double *k,
                    double *diagonal, mcr_error *error)
{
    mcr_rows all = {NULL, 0, OBJECTS};
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, ctx, kernel, data, NULL);
    if (s == MCR_OK)
        s = mcr_gram_block(gram, all, all, k, OBJECTS);
    if (s == MCR_OK)
        s = mcr_gram_diagonal(gram, 0, diagonal);
    if (s == MCR_OK)
        s = mcr_gram_error(gram, true, error);
    mcr_gram_close(gram);
    return s == MCR_OK;
}

/* Values by the portable code, or by that for this processor, are within the bounds. */
static void compare_portable(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data)
{
    double k[2][OBJECTS * OBJECTS], d[2][OBJECTS];
    mcr_error e[2];
    bool good[2];
    for (int which = 0; which < 2; which++) {
        portable = which;
        good[which] = compute(ctx, kernel, data, k[which], d[which], &e[which]);
    }
    portable = false;
    for (int i = 0; i < OBJECTS && good[0] && good[1]; i++)
        for (int j = 0; j < OBJECTS; j++) {
            double a = k[0][i * OBJECTS + j], b = k[1][i * OBJECTS + j], bound = DBL_MIN;
            for (int which = 0; which < 2; which++)
                bound += e[which].absolute * sqrt(fabs(d[which][i] * d[which][j])) +
                         e[which].relative * fabs(k[which][i * OBJECTS + j]);
            if (isfinite(a) && isfinite(b) && fabs(a - b) > 1.01 * bound) /* not if INFINITY */
                abort();
        }
}

static void compare(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data)
{
    double whole[OBJECTS * OBJECTS], diagonal[OBJECTS], one, largest = 0;
    mcr_rows all = {NULL, 0, OBJECTS};
    mcr_gram *gram = NULL;
    if (mcr_gram_open(&gram, ctx, kernel, data, NULL) != MCR_OK)
        return;
    mcr_status s = mcr_gram_block(gram, all, all, whole, OBJECTS);
    if (s == MCR_OK)
        s = mcr_gram_diagonal(gram, 0, diagonal);
    for (int i = 0; i < OBJECTS && s == MCR_OK; i++)
        if (isfinite(diagonal[i]))
            largest = fmax(largest, fabs(diagonal[i]));
    for (int64_t i = 0; i < OBJECTS && s == MCR_OK; i++) {
        if (!is_near(whole[i * OBJECTS + i], diagonal[i], largest))
            abort();
        for (int64_t j = 0; j < OBJECTS && s == MCR_OK; j++) {
            s = mcr_gram_block(gram, (mcr_rows){NULL, i, 1}, (mcr_rows){NULL, j, 1}, &one, 1);
            if (s == MCR_OK && (!is_near(one, whole[i * OBJECTS + j], largest) ||
                                !is_near(one, whole[j * OBJECTS + i], largest)))
                abort();
        }
    }
    mcr_gram_close(gram);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char text[512];
    mcr_kernel *kernel = NULL;
    if (count >= sizeof text)
        return 0;
    memcpy(text, bytes, count);
    text[count] = '\0';
    mcr_config config = {
        .size = sizeof config, .threads = 1, .memory_bytes = (size_t)16 << 20, .work_seconds = 1};
    mcr *ctx;
    if (mcr_open(&ctx, &config) != MCR_OK)
        abort();
    if (mcr_kernel_parse_foreign(&kernel, ctx, text) == MCR_OK) {
        mcr_data *data = objects(ctx);
        compare(ctx, kernel, data);
        compare_portable(ctx, kernel, data);
        mcr_data_free(data);
    }
    mcr_kernel_free(kernel);
    mcr_close(ctx);
    return 0;
}
