/* tile.c: the tile micro-kernels of one instruction set in one precision; see simd.h for how it is
 * compiled, tiles.h for the contract.
 *
 * A micro-tile is MICRO_ROWS rows x MICRO_VECTORS vectors of columns. Its sums stay in registers
 * over all features: a feature costs MICRO_VECTORS loads, MICRO_ROWS broadcasts and their product
 * of multiply-adds (the scheme of Goto and van de Geijn 2008 and of BLIS). The last function (exp,
 * a power, ...) is applied while the tile is still in registers, so that every value is written
 * once and never read back.
 *
 * Sparse rows combine each nonzero with SPARSE_PANELS column panels at a time. Skipping zero
 * features changes no bit of a sum, so that dense and sparse rows agree exactly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/tiles.h"

#include "linalg/definite.h"
#include "linalg/simd.h"
#include "linalg/simd_math.h"
#include "linalg/subsequence.h"
#include "linalg/votes.h"
#include "linalg/walks.h"
#include "linalg/tile_pack.h"

enum {
    /* Registers: 16 of 16 or 32 bytes, 32 of 64 bytes; the sums, one feature of the columns, and
     * one broadcast must fit. */
    MICRO_ROWS = MCR_SIMD_BYTES == 64   ? 12
                 : MCR_SIMD_BYTES == 32 ? 6
                                        : 4,
    MICRO_VECTORS = 2,
    MICRO_SUMS = MICRO_ROWS * MICRO_VECTORS,
    WIDTH = MICRO_VECTORS * LANES,
    /* Eight independent sums hide the latency of the multiply-add. */
    SPARSE_PANELS = 4,
    SPARSE_SUMS = SPARSE_PANELS * MICRO_VECTORS,
    /* Sums of outputs stay in registers while the values of K are read one after the other. */
    PANEL_DOUBLES = WIDTH / DOUBLE_LANES,
    OUTPUTS_AT_ONCE = 12 / PANEL_DOUBLES > 4 ? 4 : 12 / PANEL_DOUBLES,
    ROUGH_OUTPUTS = 5,
    /* Values of K are collected for this many rows before they are added to the outputs, so that
     * the sums are loaded and stored once per group. */
    GROUP_ROWS = 8 * MICRO_ROWS,
    /* Rows are processed in chunks that stay in L2 while the column panels are read. */
    CHUNK_BYTES = 192 * 1024
};

typedef enum family { DOT, L1, CHI2, MIN, SINE } family;

/* Precomputed constants of the last step. */
typedef struct factors {
    vreal exponent; /* -gamma log2(e) */
    vreal far;      /* beyond this e^(-gamma v) is set to 0 */
    vreal scale, offset;
    vreal frequency; /* 1 / period */
    int32_t degree;
    bool exponential; /* for sums that have a plain and an exponential form */
} factors;

typedef enum store_mode { STORE_NOT, STORE_PLAIN, STORE_STREAM } store_mode;

/* Where the results of one column panel are written. */
typedef struct sink {
    const mcr_tile_job *job;
    store_mode mode;
    bool direct;    /* only whole vectors to store: no sums, no padded columns */
    int64_t column; /* first of the panel */
    int64_t count;  /* columns without padding */
} sink;

INLINE real *row_out(const mcr_tile_job *job, int64_t r)
{
    return job->out_rows ? (real *)job->out_rows[r] : (real *)job->out + r * job->ld;
}

static store_mode choose_store(const mcr_tile_job *job)
{
    if (!job->out && !job->out_rows)
        return STORE_NOT;
    if (!job->stream)
        return STORE_PLAIN;
    uintptr_t low = 0;
    for (int64_t r = 0; r < job->rows; r++)
        low |= (uintptr_t)row_out(job, r);
    return low % VECTOR_BYTES ? STORE_PLAIN : STORE_STREAM;
}

INLINE sink open_sink(const mcr_tile_job *job, store_mode mode, int64_t panel)
{
    int64_t left = job->columns - panel * WIDTH;
    int64_t count = left < WIDTH ? left : WIDTH;
    bool direct = mode != STORE_NOT && !job->coef && count == WIDTH;
    return (sink){job, mode, direct, panel * WIDTH, count};
}

/* Writes one row of a panel from registers. */
INLINE void put_row(const sink *s, int64_t r, const vreal value[MICRO_VECTORS])
{
    real *to = row_out(s->job, r) + s->column;
    if (s->mode == STORE_STREAM)
        UNROLL for (int v = 0; v < MICRO_VECTORS; v++) store_stream(to + v * LANES, value[v]);
    else
        UNROLL for (int v = 0; v < MICRO_VECTORS; v++) store(to + v * LANES, value[v]);
}

/* f += coef' K for n outputs starting at o, for rows r0 .. r0 + rows - 1 of a whole panel; K as
 * reals, or as doubles if these are given. */
INLINE void sum_outputs(const sink *s, int64_t r0, int64_t rows, int64_t o, int n, const real *tile,
                        int64_t tile_ld, const double *wide)
{
    const double *coef = s->job->coef + o * s->job->coef_ld + r0;
    double *f = s->job->f + o * s->job->f_ld + s->column;
    vdouble sum[OUTPUTS_AT_ONCE][PANEL_DOUBLES];
    UNROLL for (int j = 0; j < n; j++) UNROLL for (int v = 0; v < PANEL_DOUBLES; v++)
        sum[j][v] = load_double(f + j * s->job->f_ld + v * DOUBLE_LANES);
    for (int64_t i = 0; i < rows; i++)
        UNROLL for (int v = 0; v < PANEL_DOUBLES; v++)
        {
            vdouble k = wide ? load_double(wide + i * WIDTH + v * DOUBLE_LANES)
                             : load_as_double(tile + i * tile_ld + v * DOUBLE_LANES);
            UNROLL for (int j = 0; j < n; j++)
            {
                vdouble w = splat_double(coef[j * s->job->coef_ld + i]);
                sum[j][v] = multiply_add_double(w, k, sum[j][v]);
            }
        }
    UNROLL for (int j = 0; j < n; j++) UNROLL for (int v = 0; v < PANEL_DOUBLES; v++)
        store_double(f + j * s->job->f_ld + v * DOUBLE_LANES, sum[j][v]);
}

/* Many outputs: converts reals to doubles once. */
static __attribute__((noinline)) int64_t sum_many(const sink *s, int64_t r0, int64_t rows,
                                                  int64_t outputs, const real *tile,
                                                  int64_t tile_ld)
{
    _Alignas(VECTOR_BYTES) double wide[GROUP_ROWS * WIDTH];
    int64_t o = 0;
    for (int64_t i = 0; i < rows; i++)
        UNROLL for (int v = 0; v < PANEL_DOUBLES; v++)
            store_double(wide + i * WIDTH + v * DOUBLE_LANES,
                         load_as_double(tile + i * tile_ld + v * DOUBLE_LANES));
    for (; o + OUTPUTS_AT_ONCE <= outputs; o += OUTPUTS_AT_ONCE)
        sum_outputs(s, r0, rows, o, OUTPUTS_AT_ONCE, NULL, 0, wide);
    return o;
}

#if MCR_REAL_BITS == 32
/* The same as sum_outputs, but sums the rows of this group in float. */
INLINE void sum_roughly(const sink *s, int64_t r0, int64_t rows, int64_t o, int n, const real *tile,
                        int64_t tile_ld)
{
    const real *coef = s->job->rough + o * s->job->coef_ld + r0;
    double *f = s->job->f + o * s->job->f_ld + s->column;
    vreal sum[ROUGH_OUTPUTS][MICRO_VECTORS] = {0};
    for (int64_t i = 0; i < rows; i++) {
        vreal k[MICRO_VECTORS];
        UNROLL for (int v = 0; v < MICRO_VECTORS; v++) k[v] = load(tile + i * tile_ld + v * LANES);
        UNROLL for (int j = 0; j < n; j++)
        {
            vreal w = splat(coef[j * s->job->coef_ld + i]);
            UNROLL for (int v = 0; v < MICRO_VECTORS; v++)
                sum[j][v] = multiply_add(w, k[v], sum[j][v]);
        }
    }
    UNROLL for (int j = 0; j < n; j++)
    {
        _Alignas(VECTOR_BYTES) real part[WIDTH];
        UNROLL for (int v = 0; v < MICRO_VECTORS; v++) store(part + v * LANES, sum[j][v]);
        UNROLL for (int v = 0; v < PANEL_DOUBLES; v++)
        {
            double *to = f + j * s->job->f_ld + v * DOUBLE_LANES;
            store_double(to, load_double(to) + load_as_double(part + v * DOUBLE_LANES));
        }
    }
}

static __attribute__((noinline)) void sum_all_roughly(const sink *s, int64_t r0, int64_t rows,
                                                      int64_t outputs, const real *tile,
                                                      int64_t tile_ld)
{
    int64_t o = 0;
    for (; o + ROUGH_OUTPUTS <= outputs; o += ROUGH_OUTPUTS)
        sum_roughly(s, r0, rows, o, ROUGH_OUTPUTS, tile, tile_ld);
    switch (outputs - o) {
    case 4: sum_roughly(s, r0, rows, o, 4, tile, tile_ld); break;
    case 3: sum_roughly(s, r0, rows, o, 3, tile, tile_ld); break;
    case 2: sum_roughly(s, r0, rows, o, 2, tile, tile_ld); break;
    case 1: sum_roughly(s, r0, rows, o, 1, tile, tile_ld); break;
    default: break;
    }
}
#endif

/* All outputs; row i of K is at tile + i * tile_ld. */
static void sum_rows(const sink *s, int64_t r0, int64_t rows, const real *tile, int64_t tile_ld)
{
    const mcr_tile_job *job = s->job;
    int64_t outputs = job->outputs > 1 ? job->outputs : 1, o = 0;
#if MCR_REAL_BITS == 32
    if (s->count == WIDTH && job->rough) {
        sum_all_roughly(s, r0, rows, outputs, tile, tile_ld);
        return;
    }
#endif
    if (s->count == WIDTH) {
        if (outputs >= OUTPUTS_AT_ONCE)
            o = sum_many(s, r0, rows, outputs, tile, tile_ld);
        for (; o < outputs; o++)
            sum_outputs(s, r0, rows, o, 1, tile, tile_ld, NULL);
    }
    for (; o < outputs; o++) {
        const double *coef = job->coef + o * job->coef_ld + r0;
        double *f = job->f + o * job->f_ld + s->column;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t c = 0; c < s->count; c++)
                f[c] = multiply_add_one_double(coef[i], (double)tile[i * tile_ld + c], f[c]);
    }
}

/* The general case: writes and sums rows r0 .. r0 + rows - 1 of a panel's results. */
static __attribute__((noinline)) void put_rows(const sink *s, int64_t r0, int64_t rows,
                                               const real *tile, int64_t tile_ld)
{
    if (s->mode != STORE_NOT)
        for (int64_t i = 0; i < rows; i++) {
            real *to = row_out(s->job, r0 + i) + s->column;
            const real *from = tile + i * tile_ld;
            if (s->count < WIDTH)
                memcpy(to, from, (size_t)s->count * sizeof *to);
            else if (s->mode == STORE_STREAM)
                UNROLL for (int v = 0; v < MICRO_VECTORS; v++)
                    store_stream(to + v * LANES, load(from + v * LANES));
            else
                memcpy(to, from, WIDTH * sizeof *to);
        }
    if (s->job->coef)
        sum_rows(s, r0, rows, tile, tile_ld);
}

/* sin(pi r), |r| <= 1/2: relative error 2^-25 (double: 2^-54). */
static const real sine_terms[] = {
#if MCR_REAL_BITS == 32
    0x1.921fb6p1f, -0x1.4abbdap2f, 0x1.466b8ap1f, -0x1.328aeep-1f, 0x1.41308p-4f,
#else
    0x1.921fb54442d18p1,   -0x1.4abbce625be38p2,   0x1.466bc67759f01p1,
    -0x1.32d2cce5dfa3fp-1, 0x1.50783467448f2p-4,   -0x1.e3073fc6ff41fp-8,
    0x1.e8ef9496bdec0p-12, -0x1.6eeefdf0cfe6dp-16, 0x1.8cd3a98800ccdp-21,
#endif
};

/* Adds one feature's term. Exactly symmetric in x and z. */
INLINE vreal add_feature(family of, vreal sum, vreal x, vreal z, vreal frequency)
{
    vreal d = x - z;
    switch (of) {
    case DOT: return multiply_add(x, z, sum);
    case L1: return sum + absolute(d);
    case CHI2: return sum + d * d / larger(x + z, splat(BY_REAL(0x1p-126f, 0x1p-1022)));
    case MIN: return sum + smaller(x, z);
    case SINE: {
        vreal t = d * frequency;
        vreal r = t - nearest(t);
        vreal s = r * polynomial(r * r, sine_terms, TERMS(sine_terms));
        return multiply_add(s, s, sum);
    }
    }
    return sum;
}

INLINE bool uses_norms(mcr_tile_op op)
{
    return op == MCR_TILE_SQDIST || op == MCR_TILE_RBF;
}

INLINE vreal column_norms(const sink *s, int v)
{
    return load((const real *)s->job->z_norms + s->column + v * LANES);
}

/* Equal objects have norms equal to their dot product, and so a distance of exactly 0. */
INLINE vreal square_distance(vreal dot, vreal x_norm, vreal z_norm)
{
    return larger(multiply_add(splat(-2), dot, x_norm + z_norm), splat(0));
}

/* Turns TOGETHER vectors of sums over features, or of squared distances, into kernel values. */
INLINE void finish(mcr_tile_op op, vreal v[TOGETHER], const factors *by)
{
    if (op == MCR_TILE_DOT || op == MCR_TILE_SQDIST)
        return;
    if (op == MCR_TILE_POLY)
        UNROLL for (int i = 0; i < TOGETHER; i++)
            v[i] = whole_power(multiply_add(by->scale, v[i], by->offset), by->degree);
    else if (op == MCR_TILE_RBF || by->exponential)
        decay(v, by->exponent, by->far);
}

/* One micro-tile: the row panel that starts at row r0 against one column panel. The sums are
 * numbered row by row. They are written to the sink, or to `kept`. */
INLINE void dense_tile(mcr_tile_op op, family of, const sink *s, const factors *by, const real *z,
                       int64_t r0, real *kept)
{
    const mcr_tile_job *job = s->job;
    const real *x = (const real *)job->x + r0 * job->dims;
    vreal sum[MICRO_SUMS];
    UNROLL for (int i = 0; i < MICRO_SUMS; i++) sum[i] = splat(0);

    for (int64_t k = 0; k < job->dims; k++, x += MICRO_ROWS, z += WIDTH) {
        vreal column[MICRO_VECTORS];
        UNROLL for (int v = 0; v < MICRO_VECTORS; v++) column[v] = load(z + v * LANES);
        UNROLL for (int i = 0; i < MICRO_SUMS; i++) sum[i] = add_feature(
            of, sum[i], splat(x[i / MICRO_VECTORS]), column[i % MICRO_VECTORS], by->frequency);
    }

    if (uses_norms(op)) {
        const real *x_norms = (const real *)job->x_norms + r0;
        UNROLL for (int i = 0; i < MICRO_SUMS; i++) sum[i] = square_distance(
            sum[i], splat(x_norms[i / MICRO_VECTORS]), column_norms(s, i % MICRO_VECTORS));
    }
    UNROLL for (int i = 0; i < MICRO_SUMS; i += TOGETHER) finish(op, sum + i, by);

    if (!kept)
        UNROLL for (int i = 0; i < MICRO_ROWS; i++) put_row(s, r0 + i, sum + i * MICRO_VECTORS);
    else
        UNROLL for (int i = 0; i < MICRO_SUMS; i++) store(kept + i * LANES, sum[i]);
}

/* Rows r0 .. r1 - 1, at most GROUP_ROWS. */
INLINE void dense_group(mcr_tile_op op, family of, const sink *s, const factors *by, const real *z,
                        int64_t r0, int64_t r1)
{
    _Alignas(VECTOR_BYTES) real kept[GROUP_ROWS * WIDTH];
    int64_t r = r0;
    for (; s->direct && r + MICRO_ROWS <= r1; r += MICRO_ROWS)
        dense_tile(op, of, s, by, z, r, NULL);
    int64_t first = r;
    for (; r < r1; r += MICRO_ROWS)
        dense_tile(op, of, s, by, z, r, kept + (r - first) * WIDTH);
    if (first < r1)
        put_rows(s, first, r1 - first, kept, WIDTH);
}

INLINE void run_dense(mcr_tile_op op, family of, const mcr_tile_job *job, const factors *by,
                      int64_t first_panel, int64_t end_panel)
{
    store_mode mode = choose_store(job);
    int64_t chunk = CHUNK_BYTES / (int64_t)sizeof(real) / (job->dims + 1);
    chunk = chunk < GROUP_ROWS ? GROUP_ROWS : chunk / MICRO_ROWS * MICRO_ROWS;
    for (int64_t c0 = 0; c0 < job->rows; c0 += chunk) {
        int64_t c1 = c0 + chunk < job->rows ? c0 + chunk : job->rows;
        for (int64_t p = first_panel; p < end_panel; p++) {
            sink s = open_sink(job, mode, p);
            const real *z = (const real *)job->z + p * WIDTH * job->dims;
            for (int64_t r = c0; r < c1; r += GROUP_ROWS)
                dense_group(op, of, &s, by, z, r, r + GROUP_ROWS < c1 ? r + GROUP_ROWS : c1);
        }
    }
    if (mode == STORE_STREAM)
        end_stream();
}

/* A batch of sparse rows against SPARSE_PANELS column panels. */
typedef struct sparse_group {
    const mcr_tile_job *job;
    const real *z[SPARSE_PANELS];
    sink s[SPARSE_PANELS];
    int64_t panels; /* panels without repeats */
    bool direct;    /* all panels are distinct and direct */
} sparse_group;

/* If fewer than SPARSE_PANELS panels are left, the last one is repeated: its values are computed
 * again and dropped. */
INLINE sparse_group open_group(const mcr_tile_job *job, store_mode mode, int64_t p, int64_t end)
{
    sparse_group g = {.job = job};
    g.panels = end - p < SPARSE_PANELS ? end - p : SPARSE_PANELS;
    for (int64_t i = 0; i < SPARSE_PANELS; i++) {
        int64_t panel = i < g.panels ? p + i : end - 1;
        g.z[i] = (const real *)job->z + panel * WIDTH * job->dims;
        g.s[i] = open_sink(job, mode, panel);
    }
    g.direct = g.panels == SPARSE_PANELS && g.s[SPARSE_PANELS - 1].direct;
    return g;
}

/* The dot products of row r, numbered panel by panel. */
INLINE void sparse_dots(vreal sum[SPARSE_SUMS], const sparse_group *g, int64_t r)
{
    const int32_t *index = g->job->index;
    const real *value = g->job->value;
    UNROLL for (int i = 0; i < SPARSE_SUMS; i++) sum[i] = splat(0);
    for (int64_t e = g->job->start[r], end = g->job->start[r + 1]; e < end; e++) {
        int64_t at = (int64_t)index[e] * WIDTH;
        vreal row = splat(value[e]);
        UNROLL for (int i = 0; i < SPARSE_SUMS; i++)
        {
            const real *column = g->z[i / MICRO_VECTORS] + at + i % MICRO_VECTORS * LANES;
            sum[i] = multiply_add(row, load(column), sum[i]);
        }
    }
}

/* Turns the sums of row r into kernel values and writes them to the sink, or to `kept`. */
INLINE void sparse_finish(mcr_tile_op op, vreal sum[SPARSE_SUMS], const sparse_group *g,
                          const factors *by, int64_t r, real *kept)
{
    if (uses_norms(op)) {
        vreal x_norm = splat(((const real *)g->job->x_norms)[r]);
        UNROLL for (int i = 0; i < SPARSE_SUMS; i++) sum[i] = square_distance(
            sum[i], x_norm, column_norms(&g->s[i / MICRO_VECTORS], i % MICRO_VECTORS));
    }
    UNROLL for (int i = 0; i < SPARSE_SUMS; i += TOGETHER) finish(op, sum + i, by);
    if (g->direct)
        UNROLL for (int i = 0; i < SPARSE_PANELS; i++)
            put_row(&g->s[i], r, sum + i * MICRO_VECTORS);
    else
        UNROLL for (int i = 0; i < SPARSE_SUMS; i++) store(kept + i * LANES, sum[i]);
}

INLINE void sparse_tile(mcr_tile_op op, const sparse_group *g, const factors *by)
{
    const mcr_tile_job *job = g->job;
    _Alignas(VECTOR_BYTES) real kept[GROUP_ROWS][SPARSE_SUMS * LANES];
    for (int64_t r0 = 0; r0 < job->rows; r0 += GROUP_ROWS) {
        int64_t rows = job->rows - r0 < GROUP_ROWS ? job->rows - r0 : GROUP_ROWS;
        for (int64_t i = 0; i < rows; i++) {
            vreal sum[SPARSE_SUMS];
            sparse_dots(sum, g, r0 + i);
            sparse_finish(op, sum, g, by, r0 + i, kept[i]);
        }
        for (int64_t i = 0; i < g->panels && !g->direct; i++)
            put_rows(&g->s[i], r0, rows, kept[0] + i * WIDTH, SPARSE_SUMS * LANES);
    }
}

INLINE void run_sparse(mcr_tile_op op, const mcr_tile_job *job, const factors *by,
                       int64_t first_panel, int64_t end_panel)
{
    store_mode mode = choose_store(job);
    for (int64_t p = first_panel; p < end_panel; p += SPARSE_PANELS) {
        sparse_group g = open_group(job, mode, p, end_panel);
        sparse_tile(op, &g, by);
    }
    if (mode == STORE_STREAM)
        end_stream();
}

/* One function for each pair of inner loop and last step. */
typedef void runner(const mcr_tile_job *job, const factors *by, int64_t first_panel,
                    int64_t end_panel);
#define DENSE(name, op, of)                                                                        \
    static void name(const mcr_tile_job *job, const factors *by, int64_t first, int64_t end)       \
    {                                                                                              \
        run_dense(op, of, job, by, first, end);                                                    \
    }
#define SPARSE(name, op)                                                                           \
    static void name(const mcr_tile_job *job, const factors *by, int64_t first, int64_t end)       \
    {                                                                                              \
        run_sparse(op, job, by, first, end);                                                       \
    }
DENSE(dense_dot, MCR_TILE_DOT, DOT)
DENSE(dense_sqdist, MCR_TILE_SQDIST, DOT)
DENSE(dense_rbf, MCR_TILE_RBF, DOT)
DENSE(dense_poly, MCR_TILE_POLY, DOT)
DENSE(dense_l1, MCR_TILE_L1, L1)
DENSE(dense_chi2, MCR_TILE_CHI2, CHI2)
DENSE(dense_min, MCR_TILE_MIN, MIN)
DENSE(dense_sine, MCR_TILE_SINE, SINE)
SPARSE(sparse_dot, MCR_TILE_DOT)
SPARSE(sparse_sqdist, MCR_TILE_SQDIST)
SPARSE(sparse_rbf, MCR_TILE_RBF)
SPARSE(sparse_poly, MCR_TILE_POLY)

static void run(const mcr_tile_job *job, int64_t first_panel, int64_t end_panel)
{
    static runner *const dense[MCR_TILE_OPS] = {
        [MCR_TILE_DOT] = dense_dot,       [MCR_TILE_SQDIST] = dense_sqdist,
        [MCR_TILE_RBF] = dense_rbf,       [MCR_TILE_POLY] = dense_poly,
        [MCR_TILE_L1] = dense_l1,         [MCR_TILE_EXP_L1] = dense_l1,
        [MCR_TILE_CHI2] = dense_chi2,     [MCR_TILE_EXP_CHI2] = dense_chi2,
        [MCR_TILE_MIN] = dense_min,       [MCR_TILE_SINE] = dense_sine,
        [MCR_TILE_EXP_SINE] = dense_sine,
    };
    static runner *const sparse[MCR_TILE_OPS] = {
        [MCR_TILE_DOT] = sparse_dot,
        [MCR_TILE_SQDIST] = sparse_sqdist,
        [MCR_TILE_RBF] = sparse_rbf,
        [MCR_TILE_POLY] = sparse_poly,
    };
    factors by = {
        .exponent = decay_exponent(job->gamma),
        .far = decay_far(job->gamma),
        .scale = splat((real)job->scale),
        .offset = splat((real)job->offset),
        .frequency = splat(job->period > 0 ? (real)(1 / job->period) : 0),
        .degree = job->degree,
        .exponential = job->op == MCR_TILE_EXP_L1 || job->op == MCR_TILE_EXP_CHI2 ||
                       job->op == MCR_TILE_EXP_SINE,
    };
    runner *chosen = (job->x ? dense : sparse)[job->op];
    assert(chosen && "this operation needs dense rows");
    assert(end_panel <= mcr_tile_panels(job->columns, WIDTH));
    chosen(job, &by, first_panel, end_panel);
}

/* Blocks of f stay in L1 while groups of rows are added; in a group the terms of a column are added
 * in row order, as everywhere. */
static void update(double *f, const void *const *k_rows, const double *coef, int64_t rows,
                   int64_t first, int64_t end)
{
    enum { BLOCK = 1024, GROUP = 8 };
    for (int64_t c0 = first; c0 < end; c0 += BLOCK) {
        int64_t c1 = c0 + BLOCK < end ? c0 + BLOCK : end;
        for (int64_t r = 0; r < rows; r += GROUP) {
            int64_t group = rows - r < GROUP ? rows - r : GROUP;
            const real *const *k = (const real *const *)(k_rows + r);
            int64_t c = c0;
            if (group == GROUP)
                for (; c + DOUBLE_LANES <= c1; c += DOUBLE_LANES) {
                    vdouble sum = load_double(f + c);
                    UNROLL for (int i = 0; i < GROUP; i++) sum = multiply_add_double(
                        splat_double(coef[r + i]), load_as_double(k[i] + c), sum);
                    store_double(f + c, sum);
                }
            else
                for (; c + DOUBLE_LANES <= c1; c += DOUBLE_LANES) {
                    vdouble sum = load_double(f + c);
                    for (int64_t i = 0; i < group; i++)
                        sum = multiply_add_double(splat_double(coef[r + i]),
                                                  load_as_double(k[i] + c), sum);
                    store_double(f + c, sum);
                }
            for (; c < c1; c++)
                for (int64_t i = 0; i < group; i++)
                    f[c] = multiply_add_one_double(coef[r + i], (double)k[i][c], f[c]);
        }
    }
}

extern const mcr_vmath SYMBOL(mcr_vmath_);
extern const mcr_subsequence_kit SYMBOL(mcr_subsequence_kit_);
extern const mcr_walk_kit SYMBOL(mcr_walk_kit_);
extern const mcr_vote_kit SYMBOL(mcr_vote_kit_);
extern const mcr_definite_kit SYMBOL(mcr_definite_kit_);
extern const mcr_tile_kit SYMBOL(mcr_tile_kit_);

const mcr_tile_kit SYMBOL(mcr_tile_kit_) = {
    .bytes = sizeof(real),
    .width = WIDTH,
    .rows = MICRO_ROWS,
    /* Measured, except for 64 bytes, which is extrapolated from 32. */
    .sparse_below = MCR_SIMD_BYTES == 16   ? 0.8
                    : MCR_SIMD_BYTES == 32 ? 0.65
                                           : 0.5,
    .sparse_below_large = MCR_SIMD_BYTES == 16 ? 0.8 : 0.33,
    .math = &SYMBOL(mcr_vmath_),
    .subsequences = &SYMBOL(mcr_subsequence_kit_),
    .walks = BY_REAL(NULL, &SYMBOL(mcr_walk_kit_)),
    .votes = BY_REAL(&SYMBOL(mcr_vote_kit_), NULL),
    .definite = BY_REAL(NULL, &SYMBOL(mcr_definite_kit_)),
    .pack = pack,
    .pack_sparse = pack_sparse,
    .norms = norms,
    .norms_sparse = norms_sparse,
    .run = run,
    .update = update,
};
