/* gram.c: time of whole RBF Gram matrices, next to what the machine could do at best.
 *
 *   bench_gram [n [repeats [threads [case]]]]
 *
 * Prints one JSON object a case. The limit is the time that the case's multiply-adds, exponentials
 * and stores would take one after the other, each at the rate measured in the same run:
 * multiply-adds in registers, exponentials on an array in the first-level cache, streaming stores
 * to the matrix itself. Of the symmetric matrix half is computed and all of it written.
 * `bench/gram` runs this next to scikit-learn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "base/context.h"
#include "base/random.h"
#include "base/threads.h"
#include "peak.h"
#include "linalg/copy.h"
#include "linalg/tiles.h"

enum { EXP_VALUES = 4096, EXP_PASSES = 4000 };

/* ---- the machine ------------------------------------------------------------------------------*/

typedef struct machine {
    mcr *ctx;
    const mcr_tiles *tiles;
    bool precise;
    char *matrix;
    size_t bytes;
    volatile double sink;
} machine;

static mcr_status peak_item(void *arg, int64_t item, int worker)
{
    machine *m = arg;
    (void)item;
    (void)worker;
    m->sink = peak_run(m->tiles->name, m->precise);
    return MCR_OK;
}

static mcr_status exp_item(void *arg, int64_t item, int worker)
{
    const machine *m = arg;
    const mcr_tile_kit *kit = m->precise ? m->tiles->f64 : m->tiles->f32;
    double values[EXP_VALUES];
    (void)item;
    (void)worker;
    for (int p = 0; p < EXP_PASSES; p++) {
        kit->math->fill(values, -0.5, 1024);
        for (int part = 0; part < 4; part++)
            kit->math->exp(values, 1024);
    }
    return MCR_OK;
}

static mcr_status write_item(void *arg, int64_t item, int worker)
{
    const machine *m = arg;
    static const double zeros[4096];
    (void)worker;
    size_t chunk = 1 << 20, first = (size_t)item * chunk;
    size_t end = first + chunk < m->bytes ? first + chunk : m->bytes;
    for (size_t b = first; b + sizeof zeros <= end; b += sizeof zeros)
        mcr_copy_out(m->matrix + b, 4096, zeros, 4096, 1, 4096, 8);
    return MCR_OK;
}

static double best_of(mcr *ctx, int64_t items, mcr_work *work, void *arg, int repeats)
{
    double best = 1e30;
    for (int r = 0; r < repeats; r++) {
        double t = mcr_now();
        if (mcr_parallel(ctx, items, work, arg))
            exit(1);
        t = mcr_now() - t;
        best = t < best ? t : best;
    }
    return best;
}

typedef struct rates {
    double fma, exp, bytes; /* a second, all threads */
} rates;

static rates measure(machine *m, int threads)
{
    rates r;
    r.fma = threads * peak_fmas(m->tiles->name, m->precise) /
            best_of(m->ctx, threads, peak_item, m, 10);
    r.exp = (double)threads * EXP_PASSES * 4096 / best_of(m->ctx, threads, exp_item, m, 3);
    int64_t chunks = (int64_t)(m->bytes >> 20) + 1;
    r.bytes = (double)m->bytes / best_of(m->ctx, chunks, write_item, m, 3);
    return r;
}

/* ---- the cases --------------------------------------------------------------------------------*/

/* Dense: uniform. Sparse: like a9a, whose 123 features are the values of 14 attributes, of which an
 * object has one each, or none where it is missing. */
static mcr_data *make_data(mcr *ctx, int64_t n, int64_t d, double density)
{
    enum { ATTRIBUTES = 14 };
    bool sparse = density < 1;
    mcr_random r = mcr_random_stream(1, "bench", (uint64_t)d);
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    double *x = malloc(sizeof *x * (size_t)(n * d));
    int32_t *index = malloc(sizeof *index * (size_t)(n * d));
    int64_t *start = malloc(sizeof *start * (size_t)(n + 1)), count = 0;
    if (!x || !index || !start || mcr_builder_open(&b, ctx, n))
        exit(1);
    for (int64_t i = 0; i < n; i++) {
        start[i] = count;
        for (int64_t a = 0; a < ATTRIBUTES && sparse; a++) {
            int64_t first = a * d / ATTRIBUTES, values = (a + 1) * d / ATTRIBUTES - first;
            index[count] = (int32_t)(first + (int64_t)(mcr_random_uniform(&r) * (double)values));
            x[count] = 1;
            count += mcr_random_uniform(&r) < density * (double)d / ATTRIBUTES;
        }
        for (int64_t k = 0; k < d && !sparse; k++)
            x[count++] = mcr_random_uniform(&r);
    }
    start[n] = count;
    if ((sparse ? mcr_builder_sparse(b, "x", d, start, index, x)
                : mcr_builder_dense(b, "x", x, d, d)) ||
        mcr_builder_finish(&data, b))
        exit(1);
    free(x);
    free(index);
    free(start);
    return data;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_case(machine *m, int64_t n, int64_t d, double density, int repeats, rates rate)
{
    char text[64];
    mcr_kernel *kernel = NULL;
    double took[64];
    mcr_data *data = make_data(m->ctx, n, d, density);
    snprintf(text, sizeof text, "rbf(gamma=%g)", 1.0 / (double)d);
    if (mcr_kernel_parse(&kernel, m->ctx, text))
        exit(1);
    for (int r = 0; r < repeats; r++) {
        mcr_gram *gram = NULL;
        double t = mcr_now();
        mcr_status s = mcr_gram_open(&gram, m->ctx, kernel, data, NULL);
        if (!s)
            s = m->precise ? mcr_gram_matrix(gram, (double *)(void *)m->matrix, n)
                           : mcr_gram_matrix_float(gram, (float *)(void *)m->matrix, n);
        took[r] = mcr_now() - t;
        if (s) {
            fprintf(stderr, "%s\n", mcr_message(m->ctx));
            exit(1);
        }
        mcr_gram_close(gram);
    }
    qsort(took, (size_t)repeats, sizeof *took, by_size);
    double values = (double)n * (double)n, real = m->precise ? 8 : 4;
    double limit = 0.5 * values *
                       ((double)d * (density < 1 ? density : 1) / rate.fma + 1 / rate.exp) +
                   values * real / rate.bytes;
    printf("{\"n\": %" PRId64 ", \"d\": %" PRId64 ", \"density\": %g, \"real\": \"%s\", "
           "\"min\": %.6f, \"median\": %.6f, \"limit\": %.6f}\n",
           n, d, density, m->precise ? "double" : "float", took[0], took[repeats / 2], limit);
    fflush(stdout);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atol(argv[1]) : 10000;
    int repeats = argc > 2 ? atoi(argv[2]) : 5, only = argc > 4 ? atoi(argv[4]) : -1;
    mcr_config config = {.size = sizeof config, .threads = argc > 3 ? atoi(argv[3]) : 0};
    machine m = {.tiles = mcr_tiles_best(), .bytes = sizeof(double) * (size_t)(n * n)};
    if (n < 1 || repeats < 1 || repeats > 64 || mcr_open(&m.ctx, &config))
        return 1;
    m.matrix = mcr_alloc(m.ctx, m.bytes, 1);
    if (!m.matrix)
        return 1;
    memset(m.matrix, 1, m.bytes); /* its pages are there before anything is timed */
    for (int precise = 0; precise < 2; precise++) {
        m.precise = precise;
        rates r = measure(&m, mcr_threads(m.ctx));
        printf("{\"isa\": \"%s\", \"real\": \"%s\", \"threads\": %d, \"gflops\": %.1f, \"gexp\": "
               "%.2f, "
               "\"gbytes\": %.1f}\n",
               m.tiles->name, precise ? "double" : "float", mcr_threads(m.ctx), 2e-9 * r.fma,
               1e-9 * r.exp, 1e-9 * r.bytes);
        static const struct {
            int64_t dims;
            double density;
        } cases[] = {{10, 1}, {100, 1}, {780, 1}, {123, 0.113}};
        for (int c = 0; c < 4; c++)
            if (only < 0 || only == c)
                run_case(&m, n, cases[c].dims, cases[c].density, repeats, r);
    }
    mcr_free(m.ctx, m.matrix);
    mcr_close(m.ctx);
    return 0;
}
