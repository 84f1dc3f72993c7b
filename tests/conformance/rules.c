/* rules.c: what every kernel must satisfy, whatever it computes.
 *
 * The matrix that mcr_gram_matrix gives is the reference; it is held against single values (blocks
 * of 1 x 1), and everything else against it. Values from the same bound data must be the same bits,
 * wherever they stand in a block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "gram/gram.h"
#include "linalg/blas.h"

/* Objects: more than one tile of the matrix, and not a multiple of anything. */
enum { N = 263, SOME = 37, SEEN = 110 };

typedef struct check {
    mcr *ctx;
    const zoo_trial *trial;
    mcr_kernel *kernel;
    mcr_data *data;
    mcr_gram *gram;
    double *k; /* N x N */
    double d[N];
    char *why;
} check;

static bool broken(check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool broken(check *c, const char *format, ...)
{
    size_t used = (size_t)snprintf(c->why, RULES_WHY, "%s on %s: ", c->trial->text,
                                   c->trial->breed->name);
    va_list list;
    va_start(list, format);
    if (used < RULES_WHY)
        (void)vsnprintf(c->why + used, RULES_WHY - used, format, list);
    va_end(list);
    return false;
}

static bool fine(check *c, mcr_status status, const char *what)
{
    return status == MCR_OK ? true : broken(c, "%s: %s", what, mcr_message(c->ctx));
}

/* Memory that no test gets wrong by being zero. */
static void *buffer(int64_t count, size_t size)
{
    void *block = malloc(((size_t)count + 1) * size);
    assert_non_null(block);
    memset(block, 0x7f, ((size_t)count + 1) * size);
    return block;
}

/* ---- comparing --------------------------------------------------------------------------------*/

int64_t rules_differ(const double *a, int64_t lda, const double *b, int64_t m, int64_t n,
                     const double *dx, const double *dz, double tolerance)
{
    double most = 0, worst = 1;
    int64_t where = -1;
    for (int64_t i = 0; i < m * n; i++)
        most = fmax(most, fabs(b[i]));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double value = b[i * n + j], off = fabs(a[i * lda + j] - value);
            double scale = fmax(sqrt(fabs(dx[i] * dz[j])), fmax(fabs(value), 1e-3 * most));
            double excess = off == 0 ? 0 : isnan(off) ? INFINITY : off / (tolerance * scale);
            if (excess > worst) {
                worst = excess;
                where = i * n + j;
            }
        }
    return where;
}

static bool same(check *c, const char *what, const double *a, const double *b, int64_t m, int64_t n,
                 const double *dx, const double *dz, double tolerance)
{
    int64_t at = rules_differ(a, n, b, m, n, dx, dz, tolerance);
    if (at < 0)
        return true;
    return broken(c, "%s: value (%lld, %lld) is %.17g instead of %.17g", what, (long long)(at / n),
                  (long long)(at % n), a[at], b[at]);
}

/* ---- the matrix -------------------------------------------------------------------------------*/

static bool symmetric(check *c)
{
    if (!fine(c, mcr_gram_matrix(c->gram, c->k, N), "matrix"))
        return false;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++) {
            double a = c->k[i * N + j], b = c->k[j * N + i];
            if (!isfinite(a))
                return broken(c, "matrix: value (%lld, %lld) is %g", (long long)i, (long long)j, a);
            if (a != b)
                return broken(c,
                              "matrix: not symmetric: (%lld, %lld) is %.17g, and %.17g the other "
                              "way round",
                              (long long)i, (long long)j, a, b);
        }
    for (int64_t i = 0; i < N; i++)
        c->d[i] = c->k[i * N + i];
    return true;
}

/* Single values, from everywhere in the matrix, in both orders: the same bits. */
static bool pair_by_pair(check *c)
{
    double a[2 * SOME * SOME], b[2 * SOME * SOME], dx[2 * SOME * SOME], one[1] = {1};
    int64_t t = 0;
    for (int64_t i = 0; i < SOME; i++)
        for (int64_t j = 0; j < SOME; j++, t++) {
            int64_t x = (i * 17 + 3) % N, z = (j * 29 + i) % N;
            b[t] = c->k[x * N + z];
            dx[t] = sqrt(fabs(c->d[x] * c->d[z]));
            dx[t] *= dx[t]; /* against a diagonal of 1 */
            if (!fine(c,
                      mcr_gram_block(c->gram, (mcr_rows){NULL, x, 1}, (mcr_rows){NULL, z, 1}, &a[t],
                                     1),
                      "one value"))
                return false;
        }
    return same(c, "block of the matrix and single values", b, a, t, 1, dx, one, 0);
}

static bool diagonal(check *c)
{
    double d[N], one[1] = {1};
    for (int side = 0; side < 2; side++)
        if (!fine(c, mcr_gram_diagonal(c->gram, side, d), "diagonal") ||
            !same(c, "diagonal", d, c->d, N, 1, c->d, one, RULES_DOUBLE))
            return false;
    return true;
}

/* Lists of rows in any order, with repeats, longer than a tile; into a block with a wider stride,
 * behind whose rows nothing may be written. */
static bool lists(check *c)
{
    enum { ROWS = 199, COLS = 261, LD = COLS + 5 };
    int64_t x[ROWS], z[COLS];
    double dx[ROWS], dz[COLS], *k = buffer(ROWS * LD, sizeof *k),
                               *b = buffer(ROWS * COLS, sizeof *b);
    double mark = k[0];
    mcr_random r = mcr_random_stream(3, "lists", 0);
    for (int64_t i = 0; i < ROWS; i++)
        dx[i] = c->d[x[i] = mcr_random_below(&r, N)];
    for (int64_t j = 0; j < COLS; j++)
        dz[j] = c->d[z[j] = mcr_random_below(&r, N)];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            b[i * COLS + j] = c->k[x[i] * N + z[j]];
    bool ok = fine(c,
                   mcr_gram_block(c->gram, (mcr_rows){x, 0, ROWS}, (mcr_rows){z, 0, COLS}, k, LD),
                   "block of lists");
    for (int64_t i = 0; i < ROWS && ok; i++)
        if (memcmp(&k[i * LD + COLS], &mark, sizeof mark) != 0)
            ok = broken(c, "block of lists: writes behind row %lld", (long long)i);
    int64_t at = ok ? rules_differ(k, LD, b, ROWS, COLS, dx, dz, 0) : -1;
    if (at >= 0)
        ok = broken(c, "block of lists: value (%lld, %lld) is %.17g, in the matrix %.17g",
                    (long long)(at / COLS), (long long)(at % COLS), k[at / COLS * LD + at % COLS],
                    b[at]);
    free(k);
    free(b);
    return ok;
}

static bool single_precision(check *c)
{
    float *f = buffer(N * N, sizeof *f);
    double *a = buffer(N * N, sizeof *a);
    bool ok = fine(c, mcr_gram_matrix_float(c->gram, f, N), "float matrix");
    for (int64_t i = 0; i < N * N && ok; i++) {
        a[i] = (double)f[i];
        if (f[i] != f[i % N * N + i / N])
            ok = broken(c, "float matrix: not symmetric at %lld", (long long)i);
    }
    ok = ok && same(c, "float matrix", a, c->k, N, N, c->d, c->d, RULES_FLOAT);
    ok = ok && fine(c,
                    mcr_gram_block_float(c->gram, (mcr_rows){NULL, 3, 60},
                                         (mcr_rows){NULL, 100, 70}, f, 70),
                    "float block");
    for (int64_t i = 0; i < 60 && ok; i++)
        for (int64_t j = 0; j < 70; j++)
            a[(i + 3) * N + j + 100] = (double)f[i * 70 + j];
    ok = ok && same(c, "float block", a, c->k, N, N, c->d, c->d, RULES_FLOAT);
    free(f);
    free(a);
    return ok;
}

/* What rounding can do: to the values, and in the eigensolver (relative to the largest
 * eigenvalue). */
static bool semidefinite(check *c)
{
    if (c->trial->indefinite)
        return true;
    double *a = buffer(N * N, sizeof *a), value[N], most = 0;
    memcpy(a, c->k, sizeof *a * N * N);
    for (int64_t i = 0; i < N; i++)
        most = fmax(most, c->d[i]);
    /* One thread: those of BLAS wait for each other by spinning, which a busy machine makes
     * long. */
    mcr *single = test_open(1);
    bool ok = fine(c, mcr_blas_eigen(single, N, a, N, false, value), "eigenvalues");
    test_close(single);
    double bound = N * DBL_EPSILON * fmax(8 * most, value[N - 1]);
    if (ok && value[0] < -bound)
        ok = broken(c,
                    "not positive semidefinite: eigenvalue %g, rounding explains %g; is "
                    "`indefinite` missing in its type?",
                    value[0], -bound);
    free(a);
    return ok;
}

/* ---- objects not seen before ------------------------------------------------------------------*/

/* x and z apart, as training and new objects are: made apart (of another kind, for dense against
 * sparse), or as views. */
static bool apart(check *c, const char *what, const mcr_data *x, const mcr_data *z)
{
    enum { REST = N - SEEN };
    double *k = buffer(SEEN * REST, sizeof *k), *b = buffer(SEEN * REST, sizeof *b), d[N],
           one[1] = {1};
    mcr_gram *gram = NULL;
    for (int64_t i = 0; i < SEEN; i++)
        memcpy(b + i * REST, c->k + i * N + SEEN, sizeof *b * REST);
    bool ok = fine(c, mcr_gram_open(&gram, c->ctx, c->kernel, x, z), what) &&
              fine(c, mcr_gram_matrix(gram, k, REST), what) &&
              same(c, what, k, b, SEEN, REST, c->d, c->d + SEEN, RULES_DOUBLE) &&
              fine(c, mcr_gram_diagonal(gram, 0, d), what) &&
              fine(c, mcr_gram_diagonal(gram, 1, d + SEEN), what) &&
              same(c, "diagonal of two sides", d, c->d, N, 1, c->d, one, RULES_DOUBLE);
    mcr_gram_close(gram);
    free(k);
    free(b);
    return ok;
}

static bool unseen(check *c)
{
    const zoo_breed *breed = c->trial->breed;
    mcr_data *x = NULL, *z = NULL, *first = NULL, *rest = NULL;
    int64_t index[N - SEEN];
    for (int64_t i = 0; i < N - SEEN; i++)
        index[i] = SEEN + i;
    bool ok = fine(c, zoo_data(&x, c->ctx, breed, 0, SEEN, 0), "data") &&
              fine(c, zoo_data(&z, c->ctx, breed, SEEN, N - SEEN, 1), "data") &&
              fine(c, mcr_data_select(&first, c->data, (mcr_rows){NULL, 0, SEEN}), "select") &&
              fine(c, mcr_data_select(&rest, c->data, (mcr_rows){index, 0, N - SEEN}), "select") &&
              apart(c, "other objects", x, z) && apart(c, "other objects as views", first, rest) &&
              apart(c, "a view and other objects", first, z);
    mcr_data_free(x);
    mcr_data_free(z);
    mcr_data_free(first);
    mcr_data_free(rest);
    return ok;
}

/* No objects, and one. */
static bool few(check *c)
{
    bool ok = true;
    for (int64_t count = 0; count < 2 && ok; count++) {
        mcr_data *view = NULL;
        mcr_gram *gram = NULL, *against = NULL;
        double k[1] = {NAN}, d[1] = {NAN}, *wide = buffer(N, sizeof *wide);
        ok = fine(c, mcr_data_select(&view, c->data, (mcr_rows){NULL, 3, count}), "select") &&
             fine(c, mcr_gram_open(&gram, c->ctx, c->kernel, view, NULL), "few objects") &&
             fine(c, mcr_gram_matrix(gram, k, 1), "few objects") &&
             fine(c, mcr_gram_diagonal(gram, 0, d), "few objects") &&
             fine(c, mcr_gram_open(&against, c->ctx, c->kernel, view, c->data), "few objects") &&
             fine(c, mcr_gram_matrix(against, wide, N), "few objects");
        if (ok && count == 1)
            ok = same(c, "one object", k, &c->d[3], 1, 1, &c->d[3], &c->d[3], RULES_DOUBLE) &&
                 same(c, "one object", d, &c->d[3], 1, 1, &c->d[3], &c->d[3], RULES_DOUBLE) &&
                 same(c, "one object", wide, c->k + 3 * N, 1, N, &c->d[3], c->d, RULES_DOUBLE);
        mcr_gram_close(gram);
        mcr_gram_close(against);
        mcr_data_free(view);
        free(wide);
    }
    return ok;
}

/* ---- sums -------------------------------------------------------------------------------------*/

/* sum_i coef_i K(x_i, z_j) as plain as can be, and what its rounding is measured by. */
static void plain_sum(const check *c, const int64_t *x, int64_t rows, const double *coef, double *f,
                      double *size)
{
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < rows; i++) {
            f[j] += coef[i] * c->k[x[i] * N + j];
            size[j] += fabs(coef[i]) *
                       fmax(fabs(c->k[x[i] * N + j]), sqrt(fabs(c->d[x[i]] * c->d[j])));
        }
}

static bool same_sums(check *c, const char *what, const double *a, const double *b,
                      const double *size, int64_t count, double tolerance)
{
    for (int64_t j = 0; j < count; j++)
        if (!(fabs(a[j] - b[j]) <= tolerance * fmax(size[j], 1e-300)))
            return broken(c, "%s: sum %lld is %.17g instead of %.17g", what, (long long)j, a[j],
                          b[j]);
    return true;
}

static bool products(check *c)
{
    enum { COLS = 3 };
    double v[N * COLS], kv[N * COLS], b[N] = {0}, size[N] = {0}, coef[N], a[N];
    int64_t all[N];
    mcr_random r = mcr_random_stream(3, "products", 0);
    for (int64_t i = 0; i < N * COLS; i++)
        v[i] = mcr_random_normal(&r);
    for (int64_t i = 0; i < N; i++) {
        all[i] = i;
        coef[i] = v[i * COLS + 1];
    }
    plain_sum(c, all, N, coef, b, size);
    if (!fine(c, mcr_gram_multiply(c->gram, v, COLS, kv), "multiply"))
        return false;
    for (int64_t i = 0; i < N; i++)
        a[i] = kv[i * COLS + 1];
    return same_sums(c, "multiply", a, b, size, N, RULES_DOUBLE);
}

/* Rows and sums in one pass: fused where one leaf stands alone, tile by tile otherwise. */
static bool passes(check *c, bool precise)
{
    enum { ROWS = 150, PAD = (N + MCR_ROW_PAD - 1) / MCR_ROW_PAD * MCR_ROW_PAD };
    size_t real = precise ? sizeof(double) : sizeof(float);
    char *kept = aligned_alloc(64, ROWS * PAD * sizeof(double));
    assert_non_null(kept);
    void *row[ROWS];
    int64_t x[ROWS];
    double coef[2 * ROWS], f[2 * N] = {0}, g[N] = {0}, size[N] = {0}, tolerance = RULES_DOUBLE;
    mcr_random r = mcr_random_stream(3, "passes", 0);
    for (int64_t i = 0; i < ROWS; i++) {
        x[i] = mcr_random_below(&r, N);
        coef[i] = 7;
        coef[ROWS + i] = mcr_random_normal(&r);
        row[i] = kept + (size_t)i * PAD * real;
    }
    if (!precise)
        tolerance = RULES_FLOAT;
    mcr_gram_pass pass = {.x = {x, 0, ROWS},
                          .precise = precise,
                          .row = row,
                          .coef = coef,
                          .f = f,
                          .outputs = 2,
                          .coef_ld = ROWS,
                          .f_ld = N};
    plain_sum(c, x, ROWS, coef + ROWS, g, size);
    bool ok = fine(c, mcr_gram_rows_pass(c->gram, &pass), "pass") &&
              same_sums(c, precise ? "sums of a pass" : "float sums of a pass", f + N, g, size, N,
                        tolerance);
    double *a = buffer(ROWS * N, sizeof *a), *b = buffer(ROWS * N, sizeof *b), dx[ROWS];
    for (int64_t i = 0; i < ROWS; i++) {
        dx[i] = c->d[x[i]];
        memcpy(b + i * N, c->k + x[i] * N, sizeof *b * N);
        for (int64_t j = 0; j < N; j++)
            a[i * N + j] = precise ? ((double *)row[i])[j] : (double)((float *)row[i])[j];
    }
    ok = ok && same(c, "rows of a pass", a, b, ROWS, N, dx, c->d, precise ? 0 : tolerance);
    free(a);
    free(b);
    free(kept);
    return ok;
}

/* ---- the text ---------------------------------------------------------------------------------*/

/* Inner products of two rows of features. */
static double product(const mcr_features *f, int64_t i, int side, int64_t j)
{
    const int32_t *a, *b;
    const double *x, *z;
    int64_t m = mcr_features_row(f, 0, i, &a, &x), n = mcr_features_row(f, side, j, &b, &z), p = 0;
    double sum = 0;
    for (int64_t q = 0; q < n; q++) {
        while (p < m && a[p] < b[q])
            p++;
        sum += p < m && a[p] == b[q] ? x[p] * z[q] : 0;
    }
    return sum;
}

static bool reproduced(check *c, const mcr_data *x, const mcr_data *z)
{
    enum { BUDGET = 16 << 20 };
    mcr_features *f = NULL;
    size_t held = mcr_budget_left(c->ctx) - BUDGET;
    if (!fine(c, mcr_budget_take(c->ctx, held, "nothing"), "budget"))
        return false;
    mcr_status status = mcr_features_open(&f, c->ctx, c->kernel, x, z, 0);
    mcr_budget_give(c->ctx, held);
    /* Only what is too large to be listed may be refused. */
    if ((status == MCR_BAD_CALL && strstr(mcr_message(c->ctx), "too many")) ||
        (status == MCR_OVER_BUDGET && strstr(mcr_message(c->ctx), "explicit features need")))
        return true;
    if (!fine(c, status, "explicit features"))
        return false;
    double k[SOME * SOME];
    for (int64_t i = 0; i < SOME; i++)
        for (int64_t j = 0; j < SOME; j++)
            k[i * SOME + j] = product(f, i, z != NULL, j);
    mcr_features_close(f);
    double *right = rules_matrix(c->ctx, c->trial->text, x, z), dx[SOME], dz[SOME];
    for (int64_t i = 0; i < SOME; i++) {
        dx[i] = c->d[i];
        dz[i] = c->d[z ? SOME + i : i];
    }
    int64_t at = rules_differ(k, SOME, right, SOME, SOME, dx, dz, RULES_DOUBLE);
    double found = at < 0 ? 0 : k[at], wanted = at < 0 ? 0 : right[at];
    free(right);
    return at < 0 || broken(c, "the features give K(%d,%d) = %.17g, not %.17g", (int)(at / SOME),
                            (int)(at % SOME), found, wanted);
}

/* A kernel that says so has features whose inner products are its values. */
static bool features(check *c)
{
    mcr_data *x = NULL, *z = NULL;
    mcr_kernel_info info = MCR_INIT(mcr_kernel_info);
    bool has = c->trial->extra && c->trial->extra->features;
    for (int64_t k = 0; !c->trial->extra && mcr_kernel_describe(c->ctx, k, &info) == MCR_OK; k++) {
        size_t length = strlen(info.name);
        has = has || (info.has_features && strncmp(c->trial->text, info.name, length) == 0 &&
                      c->trial->text[length] == '(');
    }
    bool ok = !has || !c->trial->leaf ||
              (fine(c, mcr_data_select(&x, c->data, (mcr_rows){NULL, 0, SOME}), "select") &&
               fine(c, mcr_data_select(&z, c->data, (mcr_rows){NULL, SOME, SOME}), "select") &&
               reproduced(c, x, NULL) && reproduced(c, x, z));
    mcr_data_free(x);
    mcr_data_free(z);
    return ok;
}

static bool text(check *c)
{
    mcr_kernel *again = NULL;
    mcr_gram *gram = NULL;
    double *k = buffer(N * N, sizeof *k);
    const char *printed = mcr_kernel_text(c->kernel);
    bool ok = fine(c, mcr_kernel_parse(&again, c->ctx, printed), "its own text");
    if (ok && strcmp(mcr_kernel_text(again), printed) != 0)
        ok = broken(c, "prints as %s, and that as %s", printed, mcr_kernel_text(again));
    ok = ok && fine(c, mcr_gram_open(&gram, c->ctx, again, c->data, NULL), "parsed back") &&
         fine(c, mcr_gram_matrix(gram, k, N), "parsed back");
    if (ok && memcmp(k, c->k, sizeof *k * N * N) != 0)
        ok = broken(c, "parsed back from %s it has other values", printed);
    mcr_gram_close(gram);
    mcr_kernel_free(again);
    free(k);
    return ok;
}

/* ---- all of it --------------------------------------------------------------------------------*/

bool rules_hold(mcr *ctx, const zoo_trial *trial, char why[RULES_WHY])
{
    check *c = calloc(1, sizeof *c);
    assert_non_null(c);
    *c = (check){.ctx = ctx, .trial = trial, .k = buffer(N * N, sizeof *c->k), .why = why};
    why[0] = '\0';
    bool ok = fine(c, mcr_kernel_parse(&c->kernel, ctx, trial->text), "parse") &&
              fine(c, zoo_data(&c->data, ctx, trial->breed, 0, N, 0), "data") &&
              fine(c, mcr_gram_open(&c->gram, ctx, c->kernel, c->data, NULL), "open") &&
              symmetric(c) && pair_by_pair(c) && diagonal(c) && lists(c) && single_precision(c) &&
              semidefinite(c) && unseen(c) && few(c) && products(c) && passes(c, true) &&
              passes(c, false) && features(c) && text(c);
    mcr_gram_close(c->gram);
    mcr_data_free(c->data);
    mcr_kernel_free(c->kernel);
    free(c->k);
    free(c);
    return ok;
}

double *rules_matrix(mcr *ctx, const char *expression, const mcr_data *x, const mcr_data *z)
{
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, expression));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, x, z));
    int64_t m = mcr_gram_rows(gram), n = mcr_gram_cols(gram);
    double *k = buffer(m * n, sizeof *k);
    test_ok(ctx, mcr_gram_matrix(gram, k, n));
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    return k;
}
