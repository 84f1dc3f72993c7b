/* Tile kits of every instruction set this machine runs, against plain C, and against each other in
 * all the ways the contract says do not matter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linalg/tiles.h"

/* The kits under test: those of the library, and the 64-byte code in 32-byte instructions. */
enum { KITS_MAX = 8 };
static struct {
    char name[16];
    const mcr_tile_kit *kit;
} kits[KITS_MAX];
static int kit_count;

#if defined(MCR_HAVE_WIDE)
extern const mcr_tile_kit mcr_tile_kit_wide_f32, mcr_tile_kit_wide_f64;
#endif

static void add_kit(const char *isa, const mcr_tile_kit *kit)
{
    snprintf(kits[kit_count].name, sizeof kits[0].name, "%s f%d", isa, (int)kit->bytes * 8);
    kits[kit_count++].kit = kit;
}

static void find_kits(void)
{
    static const char *const names[] = {"base", "v3", "v4"};
    for (int i = 0; i < 3; i++) {
        const mcr_tiles *tiles = mcr_tiles_named(names[i]);
        if (!tiles) {
            printf("%s is not run here: the processor lacks it\n", names[i]);
            continue;
        }
        assert_string_equal(tiles->name, names[i]);
        add_kit(names[i], tiles->f32);
        add_kit(names[i], tiles->f64);
    }
#if defined(MCR_HAVE_WIDE)
    if (mcr_tiles_named("v3")) {
        add_kit("wide", &mcr_tile_kit_wide_f32);
        add_kit("wide", &mcr_tile_kit_wide_f64);
    }
#endif
}

static uint64_t state = 1;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static int64_t below(int64_t n)
{
    return (int64_t)(uniform() * (double)n);
}

static void *buffer(size_t bytes)
{
    void *p = NULL;
    assert_int_equal(posix_memalign(&p, 64, bytes + 64), 0);
    memset(p, 0x55, bytes + 64);
    return p;
}

static double get(const mcr_tile_kit *kit, const void *a, int64_t i)
{
    return kit->bytes == 4 ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

/* Objects and their packed forms on both sides. */
typedef struct side {
    mcr_tile_source source;
    int64_t count;
    void *panels, *norms;
    int64_t *start;
    int32_t *index;
    void *value, *sparse_norms;
} side;

typedef struct problem {
    const mcr_tile_kit *kit;
    int64_t dims;
    double *data;
    side x, z;
} problem;

static side pack_side(const mcr_tile_kit *kit, mcr_tile_source source, int64_t count, int32_t width)
{
    side s = {.source = source, .count = count};
    size_t real = (size_t)kit->bytes;
    int64_t panels = mcr_tile_panels(count, width);
    s.panels = buffer((size_t)(panels * width * source.dims) * real);
    s.norms = buffer((size_t)(panels * width) * real);
    for (int64_t p = 0; p < panels; p++) {
        int64_t left = count - p * width;
        char *panel = (char *)s.panels + (size_t)(p * width * source.dims) * real;
        kit->pack(panel, width, &source, p * width, left < width ? left : width);
        kit->norms((char *)s.norms + (size_t)(p * width) * real, panel, width, source.dims);
    }
    s.start = buffer((size_t)(count + 1) * sizeof *s.start);
    s.index = buffer((size_t)(count * source.dims) * sizeof *s.index);
    s.value = buffer((size_t)(count * source.dims) * real);
    s.sparse_norms = buffer((size_t)count * real);
    if (!source.shift) {
        int64_t n = kit->pack_sparse(s.start, s.index, s.value, &source, 0, count);
        assert_int_equal(n, s.start[count]);
        kit->norms_sparse(s.sparse_norms, s.start, s.value, count);
    }
    return s;
}

static void free_side(side *s)
{
    free(s->panels);
    free(s->norms);
    free(s->start);
    free(s->index);
    free(s->value);
    free(s->sparse_norms);
}

/* max(rows, columns) objects of which both sides take the first ones; a third of the elements is
 * zero, all are >= 0, and in float they are floats. */
static problem make_problem(const mcr_tile_kit *kit, int64_t rows, int64_t columns, int64_t dims)
{
    problem p = {.kit = kit, .dims = dims};
    int64_t n = rows > columns ? rows : columns;
    p.data = buffer((size_t)(n * dims) * sizeof *p.data);
    for (int64_t i = 0; i < n * dims; i++)
        p.data[i] = uniform() < 0.33 ? 0 : (double)(float)uniform();
    mcr_tile_source source = {.dims = dims, .dense = p.data, .ld = dims, .step = 1};
    p.x = pack_side(kit, source, rows, kit->rows);
    p.z = pack_side(kit, source, columns, kit->width);
    return p;
}

static void free_problem(problem *p)
{
    free_side(&p->x);
    free_side(&p->z);
    free(p->data);
}

static mcr_tile_job make_job(const problem *p, mcr_tile_op op, bool sparse)
{
    mcr_tile_job job = {.op = op,
                        .gamma = 3.0 / (double)(p->dims + 1),
                        .scale = 0.25,
                        .offset = 1.5,
                        .period = 0.7,
                        .degree = 3,
                        .dims = p->dims,
                        .rows = p->x.count,
                        .columns = p->z.count,
                        .z = p->z.panels,
                        .z_norms = p->z.norms};
    if (sparse) {
        job.start = p->x.start;
        job.index = p->x.index;
        job.value = p->x.value;
        job.x_norms = p->x.sparse_norms;
    } else {
        job.x = p->x.panels;
        job.x_norms = p->x.norms;
    }
    return job;
}

static void run_all(const problem *p, const mcr_tile_job *job)
{
    p->kit->run(job, 0, mcr_tile_panels(job->columns, p->kit->width));
}

/* The value by the book, in double, with a bound for the error of the kit. */
static double plain_value(const mcr_tile_job *job, const double *x, const double *z, double unit,
                          double *bound)
{
    const double pi = 3.14159265358979323846;
    double dot = 0, square = 0, l1 = 0, chi2 = 0, least = 0, sine = 0, xx = 0, zz = 0;
    bool waves = job->op == MCR_TILE_SINE || job->op == MCR_TILE_EXP_SINE;
    for (int64_t k = 0; k < job->dims; k++) {
        double d = x[k] - z[k], s = waves ? sin(pi * d / job->period) : 0;
        dot += x[k] * z[k];
        xx += x[k] * x[k];
        zz += z[k] * z[k];
        square += d * d;
        l1 += fabs(d);
        chi2 += x[k] + z[k] > 0 ? d * d / (x[k] + z[k]) : 0;
        least += x[k] < z[k] ? x[k] : z[k];
        sine += s * s;
    }
    double steps = unit * (double)(job->dims + 8);
    double slack = steps * (xx + zz) * job->gamma;
    switch (job->op) {
    case MCR_TILE_DOT: *bound = steps * dot; return dot;
    case MCR_TILE_SQDIST: *bound = 2 * steps * (xx + zz); return square;
    case MCR_TILE_RBF: *bound = 2 * slack + 8 * unit; return exp(-job->gamma * square);
    case MCR_TILE_POLY: {
        double base = job->scale * dot + job->offset, value = pow(base, job->degree);
        *bound = 4 * steps * value * job->degree;
        return value;
    }
    case MCR_TILE_L1: *bound = steps * l1; return l1;
    case MCR_TILE_EXP_L1: *bound = steps * job->gamma * l1 + 8 * unit; return exp(-job->gamma * l1);
    case MCR_TILE_CHI2: *bound = 2 * steps * l1; return chi2;
    case MCR_TILE_EXP_CHI2:
        *bound = 2 * steps * job->gamma * l1 + 8 * unit;
        return exp(-job->gamma * chi2);
    case MCR_TILE_MIN: *bound = steps * least; return least;
    case MCR_TILE_SINE: *bound = 2 * steps * (double)job->dims; return sine;
    default:
        *bound = 2 * steps * job->gamma * (double)job->dims + 8 * unit;
        return exp(-job->gamma * sine);
    }
}

/* Runs one job into guarded memory and compares every value; nothing else may be written. */
static void check_values(const char *name, const problem *p, mcr_tile_op op, bool sparse,
                         bool stream, int64_t offset)
{
    const mcr_tile_kit *kit = p->kit;
    size_t real = (size_t)kit->bytes;
    int64_t ld = p->z.count + 3 + (stream ? 64 - (p->z.count + 3) % 64 : 0);
    size_t bytes = (size_t)((p->x.count + 2) * ld + offset) * real;
    char *all = buffer(bytes), *guard = buffer(bytes);
    mcr_tile_job job = make_job(p, op, sparse);
    job.out = all + (size_t)(ld + offset) * real;
    job.ld = ld;
    job.stream = stream;
    run_all(p, &job);

    double unit = kit->bytes == 4 ? 0x1p-24 : 0x1p-53;
    for (int64_t r = 0; r < p->x.count; r++)
        for (int64_t c = 0; c < p->z.count; c++) {
            double bound;
            double want = plain_value(&job, p->data + r * p->dims, p->data + c * p->dims, unit,
                                      &bound);
            double got = get(kit, job.out, r * ld + c);
            if (!(fabs(got - want) <= bound))
                fail_msg("%s op %d %s %s d=%d %dx%d at (%d, %d): %.17g, want %.17g within %g", name,
                         (int)op, sparse ? "sparse" : "dense", stream ? "streamed" : "stored",
                         (int)p->dims, (int)p->x.count, (int)p->z.count, (int)r, (int)c, got, want,
                         bound);
            memset((char *)job.out + (size_t)(r * ld + c) * real, 0x55, real);
        }
    assert_memory_equal(all, guard, bytes);
    free(all);
    free(guard);
}

static bool has_sparse(mcr_tile_op op)
{
    return op <= MCR_TILE_POLY;
}

static void test_values(void **unused)
{
    (void)unused;
    for (int k = 0; k < kit_count; k++)
        for (int64_t dims = 1; dims <= 130; dims++) {
            problem p = make_problem(kits[k].kit, 1 + below(30), 1 + below(140), dims);
            for (int op = 0; op < MCR_TILE_OPS; op++) {
                if (op != MCR_TILE_RBF && dims % 13 != 1)
                    continue;
                check_values(kits[k].name, &p, (mcr_tile_op)op, false, below(2), below(3));
                if (has_sparse((mcr_tile_op)op))
                    check_values(kits[k].name, &p, (mcr_tile_op)op, true, below(2), below(3));
            }
            free_problem(&p);
        }
}

static void test_more_rows_than_a_chunk(void **unused)
{
    (void)unused;
    for (int k = 0; k < kit_count; k++) {
        problem p = make_problem(kits[k].kit, 173, 37, 1100);
        check_values(kits[k].name, &p, MCR_TILE_RBF, false, true, 0);
        check_values(kits[k].name, &p, MCR_TILE_DOT, true, false, 0);
        free_problem(&p);
    }
}

static void test_empty(void **unused)
{
    (void)unused;
    for (int k = 0; k < kit_count; k++) {
        problem p = make_problem(kits[k].kit, 5, 40, 7);
        double f[40] = {0}, coef[5] = {1, 1, 1, 1, 1};
        char out[40 * 8], guard[40 * 8];
        memset(out, 1, sizeof out);
        memset(guard, 1, sizeof guard);
        for (int sparse = 0; sparse < 2; sparse++) {
            mcr_tile_job job = make_job(&p, MCR_TILE_RBF, sparse);
            job.out = out;
            job.ld = 40;
            job.coef = coef;
            job.f = f;
            kits[k].kit->run(&job, 1, 1); /* no columns */
            job.rows = 0;
            run_all(&p, &job); /* no rows */
        }
        assert_memory_equal(out, guard, sizeof out);
        for (int i = 0; i < 40; i++)
            assert_true(f[i] == 0);
        free_problem(&p);
    }
}

static void test_no_features(void **unused)
{
    (void)unused;
    for (int k = 0; k < kit_count; k++) {
        problem p = make_problem(kits[k].kit, 5, 40, 0);
        double out[5 * 40];
        for (int sparse = 0; sparse < 2; sparse++) {
            mcr_tile_job job = make_job(&p, MCR_TILE_RBF, sparse);
            job.out = out;
            job.ld = 40;
            run_all(&p, &job);
            for (int i = 0; i < 5 * 40; i++)
                assert_true(get(kits[k].kit, out, i) == 1);
        }
        free_problem(&p);
    }
}

/* All objects against all: every value must be the bits of its mirror image. */
static void test_symmetry(void **unused)
{
    (void)unused;
    enum { N = 83 };
    for (int k = 0; k < kit_count; k++)
        for (int op = 0; op < MCR_TILE_OPS; op++)
            for (int sparse = 0; sparse <= has_sparse((mcr_tile_op)op); sparse++) {
                problem p = make_problem(kits[k].kit, N, N, 1 + below(60));
                size_t real = (size_t)p.kit->bytes;
                char *out = buffer(N * N * real);
                mcr_tile_job job = make_job(&p, (mcr_tile_op)op, sparse);
                job.out = out;
                job.ld = N;
                run_all(&p, &job);
                for (int i = 0; i < N; i++) {
                    for (int j = 0; j < i; j++)
                        assert_memory_equal(out + (size_t)(i * N + j) * real,
                                            out + (size_t)(j * N + i) * real, real);
                    double self = get(p.kit, out, i * N + i);
                    if (op == MCR_TILE_RBF || op == MCR_TILE_EXP_L1 || op == MCR_TILE_EXP_CHI2 ||
                        op == MCR_TILE_EXP_SINE)
                        assert_true(self == 1);
                    if (op == MCR_TILE_SQDIST || op == MCR_TILE_L1 || op == MCR_TILE_CHI2)
                        assert_true(self == 0);
                }
                free(out);
                free_problem(&p);
            }
}

/* One pair's bits do not depend on its neighbours, its place, or the form of its row. */
static void test_place_does_not_matter(void **unused)
{
    (void)unused;
    enum { N = 120, M = 47 };
    for (int k = 0; k < kit_count; k++)
        for (int op = 0; op < MCR_TILE_OPS; op++) {
            const mcr_tile_kit *kit = kits[k].kit;
            problem p = make_problem(kit, N, N, 1 + below(50));
            size_t real = (size_t)kit->bytes;
            char *whole = buffer(N * N * real), *part = buffer(M * N * real);
            mcr_tile_job job = make_job(&p, (mcr_tile_op)op, false);
            job.out = whole;
            job.ld = N;
            run_all(&p, &job);

            int64_t rows[M], columns[N];
            for (int i = 0; i < M; i++)
                rows[i] = below(N);
            for (int j = 0; j < N; j++)
                columns[j] = below(N);
            mcr_tile_source source = p.x.source;
            problem q = {.kit = kit, .dims = p.dims};
            source.rows = rows;
            q.x = pack_side(kit, source, M, kit->rows);
            source.rows = columns;
            q.z = pack_side(kit, source, N, kit->width);
            for (int sparse = 0; sparse <= has_sparse((mcr_tile_op)op); sparse++) {
                job = make_job(&q, (mcr_tile_op)op, sparse);
                void *out_rows[M];
                for (int i = 0; i < M; i++)
                    out_rows[i] = part + (size_t)(i * N) * real;
                job.out_rows = out_rows;
                int64_t panels = mcr_tile_panels(N, kit->width), cut = panels / 3;
                kit->run(&job, cut, panels);
                kit->run(&job, 0, cut);
                for (int i = 0; i < M; i++)
                    for (int j = 0; j < N; j++)
                        assert_memory_equal(part + (size_t)(i * N + j) * real,
                                            whole + (size_t)(rows[i] * N + columns[j]) * real,
                                            real);
            }
            free_side(&q.x);
            free_side(&q.z);
            free(whole);
            free(part);
            free_problem(&p);
        }
}

/* With coefficients in float: whole panels are off by no more than float's sums of one group of
 * rows allow, and by less than predict.c counts on; double values are summed as ever. */
static void test_rough_sums(void **unused)
{
    (void)unused;
    for (int k = 0; k < kit_count; k++)
        for (int64_t outputs = 1; outputs < 14; outputs++) {
            const mcr_tile_kit *kit = kits[k].kit;
            int64_t rows = 1 + below(400), n = 1 + below(150);
            problem p = make_problem(kit, rows, n, 1 + below(20));
            double *coef = buffer((size_t)(outputs * rows) * sizeof *coef);
            float *rough = buffer((size_t)(outputs * rows) * sizeof *rough);
            double *f = buffer((size_t)(outputs * n) * sizeof *f);
            double *exact = buffer((size_t)(outputs * n) * sizeof *exact);
            for (int64_t i = 0; i < outputs * rows; i++)
                rough[i] = (float)(coef[i] = uniform() - 0.5);
            for (int64_t i = 0; i < outputs * n; i++)
                f[i] = exact[i] = uniform();
            mcr_tile_job job = make_job(&p, MCR_TILE_RBF, outputs % 2 == 0);
            job.coef = coef;
            job.coef_ld = rows;
            job.outputs = outputs;
            job.f_ld = n;
            job.f = exact;
            run_all(&p, &job);
            job.f = f;
            job.rough = rough;
            run_all(&p, &job);
            double norm = 0, worst = 0;
            for (int64_t o = 0; o < outputs; o++) {
                double square = 0, sum = 0;
                for (int64_t r = 0; r < rows; r++) {
                    square += coef[o * rows + r] * coef[o * rows + r];
                    sum += fabs(coef[o * rows + r]);
                }
                norm = sqrt(square);
                for (int64_t c = 0; c < n; c++) {
                    double off = fabs(f[o * n + c] - exact[o * n + c]);
                    worst = off > worst ? off : worst;
                    if (kit->bytes == 8)
                        assert_true(off == 0);
                    assert_true(off <= 100 * 0x1p-24 * sum); /* K <= 1 */
                    assert_true(off <= 5e-6 * norm);
                }
            }
            if (kit->bytes == 4 && n >= kit->width && rows > 50)
                assert_true(worst > 0); /* it was summed in float */
            free(coef);
            free(rough);
            free(f);
            free(exact);
            free_problem(&p);
        }
}

/* f by one call, by two, from sparse rows, and from stored rows: the same bits, and right. */
static void test_sums(void **unused)
{
    (void)unused;
    enum { OUTPUTS = 3 };
    for (int k = 0; k < kit_count; k++)
        for (int round = 0; round < 12; round++) {
            const mcr_tile_kit *kit = kits[k].kit;
            int64_t rows = 1 + below(40), n = 1 + below(150),
                    cut = rows / 2 / kit->rows * kit->rows;
            problem p = make_problem(kit, rows, n, 1 + below(40));
            size_t real = (size_t)kit->bytes;
            char *out = buffer((size_t)(rows * n) * real);
            double *coef = buffer((size_t)(OUTPUTS * rows) * sizeof *coef);
            double *f[4], *start = buffer((size_t)(OUTPUTS * n) * sizeof *start);
            for (int64_t i = 0; i < OUTPUTS * rows; i++)
                coef[i] = uniform() - 0.5;
            for (int64_t i = 0; i < OUTPUTS * n; i++)
                start[i] = uniform();
            for (int i = 0; i < 4; i++) {
                f[i] = buffer((size_t)(OUTPUTS * n) * sizeof *f[i]);
                memcpy(f[i], start, (size_t)(OUTPUTS * n) * sizeof *start);
            }

            mcr_tile_job job = make_job(&p, MCR_TILE_RBF, false);
            job.coef = coef;
            job.coef_ld = rows;
            job.outputs = OUTPUTS;
            job.f_ld = n;
            job.f = f[0];
            job.out = out;
            job.ld = n;
            run_all(&p, &job); /* stored and summed */

            job.out = NULL;
            job.f = f[1];
            job.rows = cut;
            run_all(&p, &job); /* the first rows, then the rest */
            job.rows = rows - cut;
            job.x = (const char *)job.x + (size_t)(cut * p.dims) * real;
            job.x_norms = (const char *)job.x_norms + (size_t)cut * real;
            job.coef = coef + cut;
            run_all(&p, &job);

            job = make_job(&p, MCR_TILE_RBF, true);
            job.f = f[2];
            for (int o = 0; o < OUTPUTS; o++) { /* one output at a time, sparse */
                job.coef = coef + o * rows;
                job.f = f[2] + o * n;
                run_all(&p, &job);
            }

            const void **k_rows = buffer((size_t)rows * sizeof *k_rows);
            for (int64_t i = 0; i < rows; i++)
                k_rows[i] = out + (size_t)(i * n) * real;
            for (int o = 0; o < OUTPUTS; o++) { /* from the stored rows, in two ranges */
                int64_t half = below(n + 1);
                kit->update(f[3] + o * n, k_rows, coef + o * rows, rows, 0, half);
                kit->update(f[3] + o * n, k_rows, coef + o * rows, rows, half, n);
            }

            for (int o = 0; o < OUTPUTS; o++)
                for (int64_t c = 0; c < n; c++) {
                    double want = start[o * n + c], size = 1;
                    for (int64_t r = 0; r < rows; r++) {
                        double term = coef[o * rows + r] * get(kit, out, r * n + c);
                        want += term;
                        size += fabs(term);
                    }
                    assert_true(fabs(f[0][o * n + c] - want) <= 0x1p-52 * size * (double)rows);
                }
            for (int i = 1; i < 4; i++) {
                assert_memory_equal(f[0], f[i], (size_t)(OUTPUTS * n) * sizeof *start);
                free(f[i]);
            }
            free(f[0]);
            free(start);
            free(coef);
            free(k_rows);
            free(out);
            free_problem(&p);
        }
}

static void test_extremes(void **unused)
{
    (void)unused;
    for (int k = 0; k < kit_count; k++) {
        const mcr_tile_kit *kit = kits[k].kit;
        double data[8] = {0, 1e-3, 1, 3, 9, 12, 1e4, 1e15};
        mcr_tile_source source = {.dims = 1, .dense = data, .ld = 1, .step = 1};
        problem p = {.kit = kit, .dims = 1};
        p.x = pack_side(kit, source, 1, kit->rows);
        p.z = pack_side(kit, source, 8, kit->width);
        double out[8];
        double least_normal = kit->bytes == 4 ? 0x1p-126 : 0x1p-1022;
        for (double gamma = 1e-300; gamma < 1e10; gamma *= 7) {
            mcr_tile_job job = make_job(&p, MCR_TILE_RBF, false);
            job.gamma = gamma;
            job.out = out;
            job.ld = 8;
            run_all(&p, &job);
            for (int j = 0; j < 8; j++) {
                double got = get(kit, out, j), want = exp(-gamma * data[j] * data[j]);
                assert_true(got == 0 || got >= least_normal);
                assert_true(got <= 1 && fabs(got - want) <= (kit->bytes == 4 ? 1e-6 : 1e-13));
            }
            assert_true(get(kit, out, 0) == 1);
        }
        mcr_tile_job job = make_job(&p, MCR_TILE_RBF, false);
        job.gamma = 0;
        job.out = out;
        job.ld = 8;
        run_all(&p, &job);
        for (int j = 0; j < 8; j++)
            assert_true(get(kit, out, j) == 1);
        free_side(&p.x);
        free_side(&p.z);
    }
}

/* Dense and sparse sources give the same panels; shift, scale, row lists and maps are obeyed. So
 * large a share of the elements is not 0. */
static void check_packing(double share)
{
    enum { N = 9, D = 37, NEW = 20 };
    double dense[N * D] = {0}, value[N * D], shift[D], scale[D], small[N * NEW] = {0};
    float single[N * D];
    int64_t start[N + 1] = {0}, rows[N], wide[N * D];
    int32_t feature[N * D], map[D];
    int32_t kept = 0;
    for (int k = 0; k < D; k++) {
        shift[k] = uniform();
        scale[k] = 0.5 + uniform();
        map[k] = k % 2 == 0 && kept < NEW ? kept++ : -1;
    }
    for (int i = 0; i < N; i++) {
        rows[i] = below(N);
        int64_t e = start[i];
        for (int k = 0; k < D; k++)
            if (uniform() < share) {
                single[e] = (float)uniform();
                dense[i * D + k] = value[e] = (double)single[e];
                wide[e] = feature[e] = k;
                if (map[k] >= 0)
                    small[i * NEW + map[k]] = value[e];
                e++;
            }
        start[i + 1] = e;
    }
    for (int k = 0; k < kit_count; k++)
        for (int form = 0; form < 64; form++) {
            const mcr_tile_kit *kit = kits[k].kit;
            mcr_tile_source a = {.dims = D, .dense = dense, .ld = D, .step = 1};
            mcr_tile_source b = {.dims = D,
                                 .start = start,
                                 .feature = form & 16 ? (const void *)wide : feature,
                                 .wide = form & 16,
                                 .value = form & 32 ? (const void *)single : value,
                                 .single = form & 32};
            if (form & 8) {
                a = (mcr_tile_source){.dims = NEW, .dense = small, .ld = NEW, .step = 1};
                b.dims = NEW;
                b.map = map;
            }
            a.rows = b.rows = form & 1 ? rows : NULL;
            a.shift = b.shift = form & 2 ? shift : NULL;
            a.scale = b.scale = form & 4 ? scale : NULL;
            side x = pack_side(kit, a, N, 6), y = pack_side(kit, b, N, 6);
            assert_memory_equal(x.panels, y.panels, (size_t)(2 * 6 * a.dims * kit->bytes));
            assert_memory_equal(x.norms, y.norms, (size_t)(2 * 6 * kit->bytes));
            for (int i = 0; i < 12; i++)
                for (int64_t d = 0; d < a.dims; d++) {
                    double want = 0;
                    if (i < N) {
                        want = ((const double *)a.dense)[(form & 1 ? rows[i] : i) * a.ld + d];
                        want = (want - (form & 2 ? shift[d] : 0)) * (form & 4 ? scale[d] : 1);
                    }
                    double got = get(kit, x.panels, (i / 6 * a.dims + d) * 6 + i % 6);
                    assert_true(got == (kit->bytes == 4 ? (double)(float)want : want));
                }
            if (!(form & 2)) {
                assert_memory_equal(x.start, y.start, (N + 1) * sizeof(int64_t));
                assert_memory_equal(x.index, y.index, (size_t)x.start[N] * sizeof(int32_t));
                assert_memory_equal(x.value, y.value, (size_t)(x.start[N] * kit->bytes));
                assert_memory_equal(x.sparse_norms, x.norms, (size_t)(N * kit->bytes));
            }
            free_side(&x);
            free_side(&y);
        }
}

static void test_packing(void **unused)
{
    (void)unused;
    check_packing(0.4);
    check_packing(1); /* lists of all features */
}

/* Squares of distances become what a tile makes of them: the norms of columns are their distances
 * from an empty row. */
static void test_decay(void **unused)
{
    (void)unused;
    enum { M = 131 };
    for (int k = 0; k < kit_count; k++) {
        const mcr_tile_kit *kit = kits[k].kit;
        int64_t columns = mcr_tile_panels(M, kit->width) * kit->width;
        void *norm = buffer((size_t)(columns * kit->bytes)), *out = buffer(M * sizeof(double));
        double square[M];
        for (int i = 0; i < M; i++)
            square[i] = i == 0 ? 0 : exp(20 * uniform() - 10);
        memset(norm, 0, (size_t)(columns * kit->bytes));
        kit->math->from_double(norm, square, M);
        mcr_tile_job job = {.op = MCR_TILE_RBF,
                            .gamma = 0.37,
                            .rows = 1,
                            .columns = M,
                            .start = (int64_t[]){0, 0},
                            .z = norm,
                            .z_norms = norm,
                            .x_norms = &(double){0},
                            .out = out,
                            .ld = M};
        kit->run(&job, 0, mcr_tile_panels(M, kit->width));
        kit->math->decay(norm, job.gamma, M);
        assert_memory_equal(norm, out, (size_t)(M * kit->bytes));
        free(norm);
        free(out);
    }
}

static void test_names(void **unused)
{
    (void)unused;
    assert_null(mcr_tiles_named("v2"));
    assert_non_null(mcr_tiles_named("base"));
    assert_non_null(mcr_tiles_named(mcr_tiles_best()->name));
    for (int k = 0; k < kit_count; k++) {
        const mcr_tile_kit *kit = kits[k].kit;
        assert_true(kit->width <= MCR_TILE_WIDTH_MAX && kit->width % 4 == 0);
        assert_true(kit->rows <= MCR_TILE_ROWS_MAX && kit->bytes == kit->math->bytes);
        assert_true(mcr_tile_prefers_sparse(kit, 50, 0.1));
        assert_true(mcr_tile_prefers_sparse(kit, 100000, 0.1));
        assert_false(mcr_tile_prefers_sparse(kit, 50, 0.95));
        assert_false(mcr_tile_prefers_sparse(kit, 100000, 0.95));
    }
}

int main(void)
{
    find_kits();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_packing),
        cmocka_unit_test(test_values),   cmocka_unit_test(test_more_rows_than_a_chunk),
        cmocka_unit_test(test_empty),    cmocka_unit_test(test_no_features),
        cmocka_unit_test(test_symmetry), cmocka_unit_test(test_place_does_not_matter),
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_rough_sums),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
