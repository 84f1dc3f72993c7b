/* own_impl.h: part of own.c, compiled for double and for float: REAL is the type, FN(name) the name
 * of a function for it.
 *
 * Matrices are column-major. A product is cut into blocks that fit the caches; both factors are
 * packed into strips of the width of the inner kernel, which the compiler turns into vector
 * instructions (Goto and van de Geijn, 2008). Everything else is expressed in products of blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Up to ROWS x COLS values of C += alpha A B, from strips of `depth` columns and rows. */
static void FN(inner)(int depth, const REAL *a, const REAL *b, REAL alpha, REAL *c, int64_t ldc,
                      int rows, int cols)
{
    REAL sum[COLS][ROWS] = {{0}};
    for (int l = 0; l < depth; l++, a += ROWS, b += COLS)
        for (int j = 0; j < COLS; j++)
            for (int i = 0; i < ROWS; i++)
                sum[j][i] += a[i] * b[j];
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            c[j * ldc + i] += alpha * sum[j][i];
}

/* Packs strips of `width` lines, padded with zeros: element l of line i is from[i*line +
 * l*step]. */
static void FN(pack)(REAL *to, const REAL *from, int64_t line, int64_t step, int lines, int depth,
                     int width)
{
    for (int first = 0; first < lines; first += width)
        for (int l = 0; l < depth; l++)
            for (int i = first; i < first + width; i++)
                *to++ = i < lines ? from[i * line + l * step] : 0;
}

/* C += alpha A B, where (i, l) of A is a[i*ai + l*al], and (l, j) of B is b[l*bl + j*bj]. */
static void FN(product)(int64_t m, int64_t n, int64_t k, REAL alpha, const REAL *a, int64_t ai,
                        int64_t al, const REAL *b, int64_t bl, int64_t bj, REAL *c, int64_t ldc)
{
    REAL left[BLOCK * DEPTH], right[BLOCK * DEPTH];
    for (int64_t l = 0; l < k; l += DEPTH)
        for (int64_t j = 0; j < n; j += BLOCK) {
            int depth = (int)mcr_least(DEPTH, k - l), cols = (int)mcr_least(BLOCK, n - j);
            FN(pack)(right, b + l * bl + j * bj, bj, bl, cols, depth, COLS);
            for (int64_t i = 0; i < m; i += BLOCK) {
                int rows = (int)mcr_least(BLOCK, m - i);
                FN(pack)(left, a + i * ai + l * al, ai, al, rows, depth, ROWS);
                for (int q = 0; q < cols; q += COLS)
                    for (int p = 0; p < rows; p += ROWS)
                        FN(inner)
                (depth, left + p * depth, right + q * depth, alpha, c + (j + q) * ldc + i + p, ldc,
                 (int)mcr_least(ROWS, rows - p), (int)mcr_least(COLS, cols - q));
            }
        }
}

static void FN(scale)(int64_t m, int64_t n, REAL beta, REAL *c, int64_t ldc, int upper)
{
    for (int64_t j = 0; j < n && beta != 1; j++)
        for (int64_t i = 0; i < (upper ? j + 1 : m); i++)
            c[j * ldc + i] = beta == 0 ? 0 : beta * c[j * ldc + i];
}

static void FN(gemm)(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                     const REAL *alpha, const REAL *a, const int *lda, const REAL *b,
                     const int *ldb, const REAL *beta, REAL *c, const int *ldc, size_t x, size_t y)
{
    int at = *ta == 'T', bt = *tb == 'T';
    FN(scale)(*m, *n, *beta, c, *ldc, 0);
    FN(product)
    (*m, *n, *k, *alpha, a, at ? *lda : 1, at ? 1 : *lda, b, bt ? *ldb : 1, bt ? 1 : *ldb, c, *ldc);
}

/* The upper triangle of C = alpha A^T A + beta C; diagonal blocks go through a buffer. */
static void FN(syrk)(const char *triangle, const char *op, const int *pn, const int *k,
                     const REAL *alpha, const REAL *a, const int *lda, const REAL *beta, REAL *c,
                     const int *ldc, size_t x, size_t y)
{
    int64_t n = *pn, ld = *lda, to = *ldc;
    FN(scale)(n, n, *beta, c, to, 1);
    for (int64_t j = 0; j < n; j += SQUARE) {
        int64_t cols = mcr_least(SQUARE, n - j);
        REAL square[SQUARE * SQUARE] = {0};
        FN(product)(j, cols, *k, *alpha, a, ld, 1, a + j * ld, 1, ld, c + j * to, to);
        FN(product)(cols, cols, *k, *alpha, a + j * ld, ld, 1, a + j * ld, 1, ld, square, SQUARE);
        for (int64_t q = 0; q < cols; q++)
            for (int64_t p = 0; p <= q; p++)
                c[(j + q) * to + j + p] += square[q * SQUARE + p];
    }
}

/* U^T X = B in place, for a block of up to SQUARE rows; B is n x count. */
static void FN(left_block)(int64_t n, int64_t count, const REAL *u, int64_t ld, REAL *b,
                           int64_t ldb)
{
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < n; i++) {
            REAL sum = b[j * ldb + i];
            for (int64_t l = 0; l < i; l++)
                sum -= u[i * ld + l] * b[j * ldb + l];
            b[j * ldb + i] = sum / u[i * ld + i];
        }
}

/* X U = B (forward) or X U^T = B (backward) in place, for a block of up to SQUARE columns; B is m
 * x n. */
static void FN(right_block)(int64_t m, int64_t n, const REAL *u, int64_t ld, REAL *b, int64_t ldb,
                            int back)
{
    for (int64_t q = 0; q < n; q++) {
        int64_t j = back ? n - 1 - q : q;
        for (int64_t p = 0; p < q; p++) {
            int64_t l = back ? n - 1 - p : p;
            REAL factor = back ? u[l * ld + j] : u[j * ld + l];
            for (int64_t i = 0; i < m; i++)
                b[j * ldb + i] -= factor * b[l * ldb + i];
        }
        for (int64_t i = 0; i < m; i++)
            b[j * ldb + i] /= u[j * ld + j];
    }
}

static void FN(left)(int64_t m, int64_t n, const REAL *a, int64_t ld, REAL *b, int64_t ldb)
{
    for (int64_t i = 0; i < m; i += SQUARE) {
        int64_t rows = mcr_least(SQUARE, m - i);
        FN(product)(rows, n, i, -1, a + i * ld, ld, 1, b, 1, ldb, b + i, ldb);
        FN(left_block)(rows, n, a + i * ld + i, ld, b + i, ldb);
    }
}

static void FN(right)(int64_t m, int64_t n, const REAL *a, int64_t ld, REAL *b, int64_t ldb,
                      int back)
{
    int64_t blocks = (n + SQUARE - 1) / SQUARE;
    for (int64_t k = 0; k < blocks; k++) {
        int64_t j = (back ? blocks - 1 - k : k) * SQUARE, cols = mcr_least(SQUARE, n - j),
                end = j + cols;
        if (back)
            FN(product)
        (m, cols, n - end, -1, b + end * ldb, 1, ldb, a + end * ld + j, ld, 1, b + j * ldb, ldb);
        else FN(product)(m, cols, j, -1, b, 1, ldb, a + j * ld, 1, ld, b + j * ldb, ldb);
        FN(right_block)(m, cols, a + j * ld + j, ld, b + j * ldb, ldb, back);
    }
}

static void FN(trsm)(const char *side, const char *triangle, const char *op, const char *unit,
                     const int *m, const int *n, const REAL *alpha, const REAL *a, const int *lda,
                     REAL *b, const int *ldb, size_t w, size_t x, size_t y, size_t z)
{
    FN(scale)(*m, *n, *alpha, b, *ldb, 0);
    if (*side == 'L')
        FN(left)(*m, *n, a, *lda, b, *ldb);
    else
        FN(right)(*m, *n, a, *lda, b, *ldb, *op == 'T');
}

static void FN(trsv)(const char *triangle, const char *op, const char *unit, const int *pn,
                     const REAL *a, const int *lda, REAL *x, const int *step, size_t w, size_t y,
                     size_t z)
{
    int64_t n = *pn, ld = *lda, s = *step;
    for (int64_t k = 0; k < n && *op == 'T'; k++) {
        REAL sum = x[k * s];
        for (int64_t l = 0; l < k; l++)
            sum -= a[k * ld + l] * x[l * s];
        x[k * s] = sum / a[k * ld + k];
    }
    for (int64_t k = n - 1; k >= 0 && *op != 'T'; k--) {
        x[k * s] /= a[k * ld + k];
        for (int64_t l = 0; l < k; l++)
            x[l * s] -= a[k * ld + l] * x[k * s];
    }
}

/* A = U^T U, left-looking, block by block. */
static void FN(potrf)(const char *triangle, const int *pn, REAL *a, const int *lda, int *info,
                      size_t x)
{
    int64_t n = *pn, ld = *lda;
    *info = 0;
    for (int64_t j = 0; j < n; j += SQUARE) {
        int cols = (int)mcr_least(SQUARE, n - j), above = (int)j;
        const REAL minus = -1, one = 1;
        FN(syrk)("U", "T", &cols, &above, &minus, a + j * ld, lda, &one, a + j * ld + j, lda, 1, 1);
        for (int64_t k = j; k < j + cols; k++) {
            REAL sum = a[k * ld + k];
            for (int64_t l = j; l < k; l++)
                sum -= a[k * ld + l] * a[k * ld + l];
            if (!(sum > 0)) {
                *info = (int)k + 1;
                return;
            }
            a[k * ld + k] = (REAL)sqrt((double)sum);
            for (int64_t q = k + 1; q < j + cols; q++) {
                REAL dot = a[q * ld + k];
                for (int64_t l = j; l < k; l++)
                    dot -= a[k * ld + l] * a[q * ld + l];
                a[q * ld + k] = dot / a[k * ld + k];
            }
        }
        int64_t end = j + cols;
        FN(product)
        (cols, n - end, j, -1, a + j * ld, ld, 1, a + end * ld, 1, ld, a + end * ld + j, ld);
        FN(left)(cols, n - end, a + j * ld + j, ld, a + end * ld + j, ld);
    }
}

#undef REAL
#undef FN
