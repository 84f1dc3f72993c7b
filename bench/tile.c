/* tile.c: speed of the kernel tiles and of the vector maths, next to what the machine can do.
 *
 *   bench_tile [isa] [milliseconds a case]
 *
 * GFLOP/s count two operations for each feature of each pair (also those that sparse rows skip:
 * "equivalent"). Compare figures of one run only; every figure is the best of several passes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peak.h"
#include "linalg/tiles.h"

static double seconds_a_case = 0.25;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *aligned(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes + 64) != 0)
        exit(1);
    memset(p, 0, bytes + 64);
    return p;
}

static double uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* Runs work(arg, thread, threads) in `threads` threads and returns the best time of a pass. */
typedef void parallel_work(void *arg, int thread, int threads);
typedef struct team {
    parallel_work *work;
    void *arg;
    int thread, threads, passes;
    pthread_barrier_t *gate;
    double best;
} team;

static void *team_member(void *arg)
{
    team *t = arg;
    t->best = INFINITY;
    for (int pass = 0; pass < t->passes; pass++) {
        pthread_barrier_wait(t->gate);
        double began = now();
        t->work(t->arg, t->thread, t->threads);
        pthread_barrier_wait(t->gate);
        double took = now() - began;
        if (took < t->best)
            t->best = took;
    }
    return NULL;
}

static double best_time(parallel_work *work, void *arg, int threads)
{
    enum { MAX_THREADS = 64 };
    double began = now();
    work(arg, 0, 1);
    double once = now() - began;
    int passes = once > 0 ? (int)(seconds_a_case / once) : 50;
    passes = passes < 4 ? 4 : passes > 2000 ? 2000 : passes;

    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    team members[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    for (int i = 0; i < threads; i++) {
        members[i] = (team){work, arg, i, threads, passes, &gate, 0};
        if (i > 0)
            pthread_create(&ids[i], NULL, team_member, &members[i]);
    }
    team_member(&members[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&gate);
    return members[0].best;
}

typedef struct peak_case {
    const char *isa;
    bool precise;
    double sink;
} peak_case;

static void peak_work(void *arg, int thread, int threads)
{
    peak_case *p = arg;
    (void)threads;
    double sink = peak_run(p->isa, p->precise);
    if (thread == 0)
        p->sink = sink;
}

static double peak(const mcr_tiles *tiles, const mcr_tile_kit *kit, int threads)
{
    peak_case p = {.isa = tiles->name, .precise = kit->bytes == 8};
    double took = best_time(peak_work, &p, threads);
    return 2e-9 * peak_fmas(tiles->name, p.precise) * threads / took;
}

/* One batch of rows against all columns. */
typedef struct tile_case {
    const mcr_tile_kit *kit;
    mcr_tile_job job;
} tile_case;

static void tile_work(void *arg, int thread, int threads)
{
    const tile_case *c = arg;
    int64_t panels = mcr_tile_panels(c->job.columns, c->kit->width);
    int64_t first = panels * thread / threads, end = panels * (thread + 1) / threads;
    c->kit->run(&c->job, first, end);
}

typedef struct tile_shape {
    int64_t rows, columns, dims;
    double density;
} tile_shape;

typedef enum tile_form {
    FORM_STREAM,
    FORM_STORE,
    FORM_SUM,
    FORM_SPARSE,
    FORM_SPARSE_SUM
} tile_form;

static tile_case make_case(const mcr_tile_kit *kit, tile_shape s, tile_form form, double *data)
{
    bool sparse = form == FORM_SPARSE || form == FORM_SPARSE_SUM;
    bool sum = form == FORM_SUM || form == FORM_SPARSE_SUM;
    size_t real = (size_t)kit->bytes;
    mcr_tile_source source = {.dims = s.dims, .dense = data, .ld = s.dims, .step = 1};
    int64_t zp = mcr_tile_panels(s.columns, kit->width), xp = mcr_tile_panels(s.rows, kit->rows);
    char *z = aligned((size_t)(zp * kit->width * s.dims) * real);
    char *zn = aligned((size_t)(zp * kit->width) * real);
    for (int64_t p = 0; p < zp; p++) {
        int64_t left = s.columns - p * kit->width;
        char *panel = z + (size_t)(p * kit->width * s.dims) * real;
        kit->pack(panel, kit->width, &source, p * kit->width,
                  left < kit->width ? left : kit->width);
        kit->norms(zn + (size_t)(p * kit->width) * real, panel, kit->width, s.dims);
    }
    char *x = aligned((size_t)(xp * kit->rows * s.dims) * real);
    char *xn = aligned((size_t)(xp * kit->rows) * real);
    for (int64_t p = 0; p < xp; p++) {
        int64_t left = s.rows - p * kit->rows;
        char *panel = x + (size_t)(p * kit->rows * s.dims) * real;
        kit->pack(panel, kit->rows, &source, p * kit->rows, left < kit->rows ? left : kit->rows);
        kit->norms(xn + (size_t)(p * kit->rows) * real, panel, kit->rows, s.dims);
    }
    int64_t *start = aligned((size_t)(s.rows + 1) * sizeof *start);
    int32_t *index = aligned((size_t)(s.rows * s.dims) * sizeof *index);
    void *value = aligned((size_t)(s.rows * s.dims) * real);
    kit->pack_sparse(start, index, value, &source, 0, s.rows);
    /* Not a power of two: rows must not meet in the same cache sets. */
    int64_t ld = zp * kit->width + 64 / (int64_t)real;
    double *coef = aligned((size_t)s.rows * sizeof *coef);
    for (int64_t i = 0; i < s.rows; i++)
        coef[i] = uniform();
    tile_case c = {kit,
                   {.op = MCR_TILE_RBF,
                    .gamma = 1 / ((double)s.dims * s.density),
                    .stream = form == FORM_STREAM || form == FORM_SPARSE,
                    .dims = s.dims,
                    .rows = s.rows,
                    .columns = s.columns,
                    .x = sparse ? NULL : x,
                    .start = start,
                    .index = index,
                    .value = value,
                    .z = z,
                    .x_norms = xn,
                    .z_norms = zn,
                    .out = sum ? NULL : aligned((size_t)(s.rows * ld) * real),
                    .ld = ld,
                    .coef = sum ? coef : NULL,
                    .f = aligned((size_t)s.columns * sizeof(double))}};
    if (sparse)
        free(x);
    return c;
}

static void free_case(tile_case *c)
{
    free((void *)c->job.x);
    free((void *)c->job.z);
    free((void *)c->job.x_norms);
    free((void *)c->job.z_norms);
    free((void *)c->job.start);
    free((void *)c->job.index);
    free((void *)c->job.value);
    free((void *)c->job.coef);
    free(c->job.out);
    free(c->job.f);
}

static double *make_data(tile_shape s)
{
    int64_t n = s.rows > s.columns ? s.rows : s.columns;
    double *data = aligned((size_t)(n * s.dims) * sizeof *data);
    for (int64_t i = 0; i < n * s.dims; i++)
        data[i] = uniform() < s.density ? uniform() : 0;
    return data;
}

static void bench_shape(const mcr_tiles *tiles, tile_shape s)
{
    static const char *const forms[] = {"dense, streamed", "dense, stored", "dense, summed only",
                                        "sparse, streamed", "sparse, summed only"};
    double *data = make_data(s);
    for (int bits = 32; bits <= 64; bits += 32) {
        const mcr_tile_kit *kit = bits == 32 ? tiles->f32 : tiles->f64;
        double top[2] = {peak(tiles, kit, 1), peak(tiles, kit, 2)};
        for (int form = 0; form <= FORM_SPARSE_SUM; form++) {
            if (s.density > 0.5 && form >= FORM_SPARSE)
                continue;
            tile_case c = make_case(kit, s, (tile_form)form, data);
            printf("%s f%d d=%-4d density %.2f %-20s", tiles->name, bits, (int)s.dims, s.density,
                   forms[form]);
            for (int threads = 1; threads <= 2; threads++) {
                double took = best_time(tile_work, &c, threads);
                double rate = 2e-9 * (double)(s.rows * s.columns * s.dims) / took;
                printf("  %dt %6.1f GFLOP/s = %3.0f %% of %5.1f", threads, rate,
                       100 * rate / top[threads - 1], top[threads - 1]);
            }
            printf("\n");
            fflush(stdout);
            free_case(&c);
        }
    }
    free(data);
}

/* Where sparse rows begin to pay. */
static void bench_densities(const mcr_tiles *tiles)
{
    for (int bits = 32; bits <= 64; bits += 32) {
        const mcr_tile_kit *kit = bits == 32 ? tiles->f32 : tiles->f64;
        for (int64_t dims = 122; dims <= 778; dims += 656) {
            printf("%s f%d d=%-4d time of sparse rows over that of dense ones at density",
                   tiles->name, bits, (int)dims);
            for (int tenths = 3; tenths <= 8; tenths++) {
                tile_shape s = {48, 512, dims, 0.1 * tenths};
                double *data = make_data(s);
                double took[2];
                for (int i = 0; i < 2; i++) {
                    tile_case c = make_case(kit, s, i ? FORM_SPARSE : FORM_STREAM, data);
                    took[i] = best_time(tile_work, &c, 1);
                    free_case(&c);
                }
                printf("  %.1f: %.2f", s.density, took[1] / took[0]);
                free(data);
            }
            printf("\n");
        }
    }
}

typedef struct math_case {
    const mcr_vmath *math;
    int function;
    int64_t n;
    void *a;
} math_case;

static void math_work(void *arg, int thread, int threads)
{
    const math_case *c = arg;
    int64_t n = c->n / threads;
    char *a = (char *)c->a + (size_t)(n * thread * c->math->bytes);
    for (int repeat = 0; repeat < 16; repeat++) {
        switch (c->function) {
        case 0: c->math->exp_scaled(a, -0.5, n); break;
        case 1: c->math->log(a, n); break;
        case 2: c->math->tanh(a, n); break;
        case 3: c->math->sqrt(a, n); break;
        case 4: c->math->cos(a, n); break;
        case 5: c->math->real_power(a, 0.7, n); break;
        default: c->math->matern(a, 0.5, 2, n); break;
        }
        if (c->function == 1)
            c->math->at_least(a, 0.5, n);
    }
}

static void bench_math(const mcr_tiles *tiles)
{
    static const char *const names[] = {"exp", "log", "tanh", "sqrt", "cos", "power", "matern"};
    enum { N = 8192 };
    double *a = aligned(N * sizeof *a), *start = aligned(N * sizeof *start);
    for (int i = 0; i < N; i++)
        start[i] = uniform() + 0.1;
    for (int bits = 32; bits <= 64; bits += 32)
        for (int f = 0; f < 7; f++) {
            math_case c = {(bits == 32 ? tiles->f32 : tiles->f64)->math, f, N, a};
            printf("%s f%d %-7s", tiles->name, bits, names[f]);
            for (int threads = 1; threads <= 2; threads++) {
                c.math->from_double(a, start, N);
                printf("  %dt %5.2f G/s", threads, 16e-9 * N / best_time(math_work, &c, threads));
            }
            printf("\n");
        }
    free(a);
    free(start);
}

int main(int argc, char **argv)
{
    const mcr_tiles *tiles = argc > 1 && strcmp(argv[1], "best") != 0 ? mcr_tiles_named(argv[1])
                                                                      : mcr_tiles_best();
    if (argc > 2)
        seconds_a_case = 1e-3 * (double)strtol(argv[2], NULL, 10);
    if (!tiles) {
        fprintf(stderr, "this processor has no '%s'; try base, v3, v4 or best\n", argv[1]);
        return 2;
    }
    /* Small enough that a pass ends before the system takes the core away. */
    static const tile_shape shapes[] = {
        {96, 4096, 22, 1},  {96, 4096, 54, 1},     {96, 2048, 122, 1},
        {96, 1024, 778, 1}, {96, 4096, 122, 0.11}, {96, 1024, 778, 0.19},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        bench_shape(tiles, shapes[i]);
    bench_densities(tiles);
    bench_math(tiles);
    return 0;
}
