/* lapack_factor.h: part of lapack.c, compiled for double and for float: REAL is the type, FN(name)
 * the name of a function for it, BLAS(name) a routine, CHOLESKY and SOLVE the functions of
 * lapack.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
static const REAL FN(one) = 1, FN(minus) = -1;

typedef struct FN(cholesky_job) {
    const mcr_fortran *f;
    int64_t n, ld;
    REAL *a;
    int64_t first, width; /* the panel's columns */
    int64_t tiles;        /* tiles per side of the trailing matrix */
} FN(cholesky_job);

/* X L^T = B in place for `rows` rows of B, ldb apart. In strips of SLIM columns, because BLAS
 * solves triangles at half the speed of its products. */
static void FN(solve_rows)(const mcr_fortran *f, int64_t width, int64_t rows, const REAL *l,
                           int64_t ldl, REAL *b, int64_t ldb)
{
    int count = (int)rows, ild = (int)ldl, ilb = (int)ldb;
    for (int64_t first = 0; first < width; first += SLIM) {
        int slim = (int)mcr_least(SLIM, width - first), before = (int)first;
        const REAL *own = l + first * ldl;
        if (first > 0)
            f->BLAS(gemm)("T", "N", &slim, &count, &before, &FN(minus), own, &ild, b, &ilb,
                          &FN(one), b + first, &ilb, 1, 1);
        f->BLAS(trsm)("L", "U", "T", "N", &slim, &count, &FN(one), own + first, &ild, b + first,
                      &ilb, 1, 1, 1, 1);
    }
}

/* X L^T = A for some rows of the panel, L its diagonal block. */
static mcr_status FN(panel_rows)(void *arg, int64_t item, int worker)
{
    (void)worker;
    const FN(cholesky_job) *j = arg;
    int64_t row = j->first + j->width + item * TILE;
    int before = mcr_fortran_threads(j->f, 1);
    FN(solve_rows)
    (j->f, j->width, mcr_least(TILE, j->n - row), j->a + j->first * j->ld + j->first, j->ld,
     j->a + row * j->ld + j->first, j->ld);
    (void)mcr_fortran_threads(j->f, before);
    return MCR_OK;
}

/* Updates a tile of the trailing matrix, on or below the diagonal, by its part of the panel's
 * product. */
static mcr_status FN(behind_panel)(void *arg, int64_t item, int worker)
{
    (void)worker;
    const FN(cholesky_job) *j = arg;
    int64_t r = 0;
    for (; item > r; item -= ++r)
        ;
    int64_t start = j->first + j->width, row = start + r * TILE, col = start + item * TILE;
    int rows = (int)mcr_least(TILE, j->n - row), cols = (int)mcr_least(TILE, j->n - col);
    int width = (int)j->width, ld = (int)j->ld;
    const REAL *left = j->a + row * j->ld + j->first, *right = j->a + col * j->ld + j->first;
    REAL *to = j->a + row * j->ld + col;
    int before = mcr_fortran_threads(j->f, 1);
    if (row == col)
        j->f->BLAS(syrk)("U", "T", &rows, &width, &FN(minus), left, &ld, &FN(one), to, &ld, 1, 1);
    else
        j->f->BLAS(gemm)("T", "N", &cols, &rows, &width, &FN(minus), right, &ld, left, &ld,
                         &FN(one), to, &ld, 1, 1);
    (void)mcr_fortran_threads(j->f, before);
    return MCR_OK;
}

mcr_status CHOLESKY(mcr *ctx, int64_t n, REAL *a, int64_t lda, const char *phase, int64_t *minor)
{
    FN(cholesky_job) j = {.n = n, .ld = lda, .a = a};
    double began = mcr_now();
    mcr_status s = mcr_fortran_load(&j.f, ctx);
    if (minor)
        *minor = 0;
    for (; j.first < n && !s; j.first += PANEL) {
        int info = 0, width = (int)mcr_least(PANEL, n - j.first), ld = (int)lda;
        j.width = width;
        int before = mcr_fortran_threads(j.f, 1);
        j.f->BLAS(potrf)("U", &width, a + j.first * lda + j.first, &ld, &info, 1);
        (void)mcr_fortran_threads(j.f, before);
        if (info > 0) {
            if (minor)
                *minor = j.first + info;
            return mcr_fail(ctx, MCR_NUMERIC,
                            "the matrix is not positive definite (its leading minor of order %lld "
                            "is not positive); a larger ridge or noise term helps",
                            (long long)(j.first + info));
        }
        j.tiles = (n - j.first - j.width + TILE - 1) / TILE;
        s = mcr_parallel(ctx, j.tiles, FN(panel_rows), &j);
        if (!s)
            s = mcr_parallel(ctx, j.tiles * (j.tiles + 1) / 2, FN(behind_panel), &j);
        if (!s && j.tiles > 0)
            s = report(ctx, phase, 1 - (double)(j.first + j.width) / (double)n, began);
    }
    return s;
}

/* X op(L)^T = B, seen from the right; B is count x n for the Fortran routines. */
static void FN(solve_side)(const mcr_fortran *f, const char *op, int64_t n, int64_t count,
                           const REAL *l, int64_t ldl, REAL *b, int64_t ldb)
{
    int in = (int)n, ic = (int)count, ill = (int)ldl, ilb = (int)ldb;
    if (count == 1)
        f->BLAS(trsv)("U", *op == 'N' ? "T" : "N", "N", &in, l, &ill, b, &ilb, 1, 1, 1);
    else
        f->BLAS(trsm)("R", "U", op, "N", &ic, &in, &FN(one), l, &ill, b, &ilb, 1, 1, 1, 1);
}

mcr_status SOLVE(mcr *ctx, int64_t n, int64_t count, const REAL *l, int64_t ldl, REAL *b,
                 int64_t ldb)
{
    if (count > INT_MAX || ldb > INT_MAX)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "%lld right-hand sides are too many for the BLAS library",
                        (long long)count);
    const mcr_fortran *f;
    mcr_status s = mcr_fortran_load(&f, ctx);
    if (s)
        return s;
    int before = mcr_fortran_threads(f, 1);
    FN(solve_side)(f, "N", n, count, l, ldl, b, ldb);
    FN(solve_side)(f, "T", n, count, l, ldl, b, ldb);
    (void)mcr_fortran_threads(f, before);
    return MCR_OK;
}

#undef REAL
#undef FN
#undef BLAS
#undef CHOLESKY
#undef SOLVE
