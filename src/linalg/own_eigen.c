/* own_eigen.c: eigenvalues and eigenvectors of symmetric matrices without LAPACK.
 *
 * Householder reduction to a tridiagonal matrix, PANEL columns at a time: the updates of the
 * trailing matrix are collected as V W^T + W V^T and applied at the end of the panel (Dongarra,
 * Sorensen and Hammarling, 1989). Then implicit QL steps with Wilkinson's shift; a rotation
 * combines two adjacent columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/own.h"

/* Arguments that have only one value in Mercer are not looked at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { PANEL = 32, MOST_STEPS = 60 };

/* A symmetric matrix, both triangles, columns n apart; the reflectors replace its lower one. */
typedef struct symmetric {
    int64_t n;
    double *a;
    double *d, *e, *tau; /* n each: diagonal, off-diagonal, factors of the reflectors */
    double *w;           /* n x PANEL */
} symmetric;

static void add(int64_t n, double factor, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

/* x becomes v of H = I - tau v v^T with H x = (beta, 0, ...), v[0] = 1; returns beta. */
static double reflect(int64_t n, double *x, double *tau)
{
    double scale = 0, square = 0;
    for (int64_t i = 1; i < n; i++)
        scale = fmax(scale, fabs(x[i]));
    for (int64_t i = 1; i < n && scale > 0; i++)
        square += (x[i] / scale) * (x[i] / scale);
    double rest = scale * sqrt(square), alpha = x[0];
    *tau = 0;
    x[0] = 1;
    if (rest == 0)
        return alpha;
    double beta = -copysign(hypot(alpha, rest), alpha);
    *tau = (beta - alpha) / beta;
    for (int64_t i = 1; i < n; i++)
        x[i] /= alpha - beta;
    return beta;
}

/* Columns first .. first + width - 1: their reflectors, and W. */
static void reduce_panel(symmetric *s, int64_t first, int64_t width)
{
    int64_t n = s->n;
    for (int64_t k = first; k < first + width; k++) {
        double *column = s->a + k * n, *w = s->w + (k - first) * n;
        /* The effect of the panel's earlier columns on this one. */
        for (int64_t p = first; p < k; p++) {
            const double *v = s->a + p * n, *u = s->w + (p - first) * n;
            add(n - k, -u[k], v + k, column + k);
            add(n - k, -v[k], u + k, column + k);
        }
        s->d[k] = column[k];
        if (k + 1 >= n)
            return;
        int64_t rest = n - k - 1;
        s->e[k] = reflect(rest, column + k + 1, &s->tau[k]);
        const double *v = column + k + 1;
        memset(w + k + 1, 0, (size_t)rest * sizeof *w);
        for (int64_t j = k + 1; j < n; j++)
            add(rest, v[j - k - 1], s->a + j * n + k + 1, w + k + 1);
        for (int64_t p = first; p < k; p++) {
            const double *vp = s->a + p * n + k + 1, *wp = s->w + (p - first) * n + k + 1;
            double wv = mcr_dot(wp, v, rest), vv = mcr_dot(vp, v, rest);
            add(rest, -wv, vp, w + k + 1);
            add(rest, -vv, wp, w + k + 1);
        }
        for (int64_t i = k + 1; i < n; i++)
            w[i] *= s->tau[k];
        add(rest, -0.5 * s->tau[k] * mcr_dot(w + k + 1, v, rest), v, w + k + 1);
    }
}

static void reduce(symmetric *s)
{
    mcr_fortran f;
    const double minus = -1, one = 1;
    int n = (int)s->n;
    mcr_own_routines(&f);
    for (int64_t first = 0; first < s->n; first += PANEL) {
        int64_t width = s->n - first < PANEL ? s->n - first : PANEL, start = first + width;
        reduce_panel(s, first, width);
        int rest = (int)(s->n - start), k = (int)width;
        if (rest <= 0)
            break;
        double *v = s->a + first * s->n + start, *w = s->w + start,
               *to = s->a + start * s->n + start;
        f.dgemm("N", "T", &rest, &rest, &k, &minus, v, &n, w, &n, &one, to, &n, 1, 1);
        f.dgemm("N", "T", &rest, &rest, &k, &minus, w, &n, v, &n, &one, to, &n, 1, 1);
    }
}

/* Q = H_0 H_1 ..., n x n, from the last reflector to the first. */
static void collect(const symmetric *s, double *q)
{
    int64_t n = s->n;
    memset(q, 0, (size_t)(n * n) * sizeof *q);
    for (int64_t i = 0; i < n; i++)
        q[i * n + i] = 1;
    for (int64_t k = n - 2; k >= 0; k--) {
        const double *v = s->a + k * n + k + 1;
        int64_t rest = n - k - 1;
        for (int64_t j = k + 1; j < n && s->tau[k] != 0; j++) {
            double *column = q + j * n + k + 1;
            add(rest, -s->tau[k] * mcr_dot(v, column, rest), v, column);
        }
    }
}

static void rotate(int64_t n, double c, double s, double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        double old = y[i];
        y[i] = s * x[i] + c * old;
        x[i] = c * x[i] - s * old;
    }
}

/* One QL step on the part l .. m of the tridiagonal matrix. */
static void ql_step(int64_t n, double *d, double *e, double *q, int64_t l, int64_t m)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1), s = 1, c = 1, p = 0;
    g = d[m] - d[l] + e[l] / (g + copysign(r, g));
    for (int64_t i = m - 1; i >= l; i--) {
        double f = s * e[i], b = c * e[i];
        r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) {
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        if (q)
            rotate(n, c, s, q + i * n, q + (i + 1) * n);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

/* Eigenvalues of the tridiagonal matrix to d; multiplies q (n x n, may be NULL) by its
 * eigenvectors. Returns 0 if it converged. */
static int diagonalise(int64_t n, double *d, double *e, double *q)
{
    double norm = 0;
    e[n - 1] = 0;
    for (int64_t i = 0; i < n; i++)
        norm = fmax(norm, fabs(d[i]) + fabs(e[i]));
    /* If the rank is low, most of the matrix is rounding error: numbers below the last digit of the
     * largest ones, whose ratios need not converge. */
    double least = DBL_EPSILON * norm / 4;
    for (int64_t l = 0; l < n; l++)
        for (int steps = 0;; steps++) {
            int64_t m = l;
            while (m + 1 < n &&
                   fabs(e[m]) > fmax(least, DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1]))))
                m++;
            if (m == l)
                break;
            if (steps == MOST_STEPS || !isfinite(d[l]))
                return (int)l + 1;
            ql_step(n, d, e, q, l, m);
        }
    return 0;
}

/* Sorts in ascending order, by selection. */
static void sort(int64_t n, double *d, double *q)
{
    for (int64_t i = 0; i + 1 < n; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (d[j] < d[least])
                least = j;
        if (least == i)
            continue;
        double value = d[i];
        d[i] = d[least];
        d[least] = value;
        for (int64_t r = 0; r < n && q; r++) {
            double old = q[i * n + r];
            q[i * n + r] = q[least * n + r];
            q[least * n + r] = old;
        }
    }
}

/* Size of the workspace, in numbers; 1: it overflows, and the routine refuses. */
static double words_for(int64_t n, int vectors)
{
    double words = (double)n * (double)n * (vectors ? 2 : 1) + (double)n * (4 + PANEL);
    return words < INT_MAX ? words : 1;
}

/* Solves for the upper triangle of a; eigenvalues to the first n numbers of work, eigenvectors
 * (columns) to *q, inside work. */
static int solve(int64_t n, const double *a, int64_t lda, int vectors, double *work, double **q)
{
    symmetric s = {.n = n, .d = work, .e = work + n, .tau = work + 2 * n, .w = work + 3 * n};
    s.a = s.w + n * PANEL;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i <= j; i++)
            s.a[j * n + i] = s.a[i * n + j] = a[j * lda + i];
    reduce(&s);
    *q = vectors ? s.a + n * n : NULL;
    if (vectors)
        collect(&s, *q);
    int info = diagonalise(n, s.d, s.e, *q);
    if (!info)
        sort(n, s.d, *q);
    return info;
}

/* Eigenpairs from .. to-1, in ascending order; words < 0: workspace query. */
static int some_pairs(int64_t n, double *a, int64_t lda, int vectors, int64_t from, int64_t to,
                      double *value, double *vector, int64_t ldv, double *work, int words,
                      int *whole)
{
    double *q = NULL;
    if (words < 0) {
        *work = words_for(n, vectors);
        *whole = 1;
    }
    if (words < 0 || n == 0)
        return 0;
    int info = words > 1 ? solve(n, a, lda, vectors, work, &q) : -1;
    if (info)
        return info;
    memcpy(value, work + from, (size_t)(to - from) * sizeof *value);
    for (int64_t j = from; j < to && vectors; j++)
        memcpy(vector + (j - from) * ldv, q + j * n, (size_t)n * sizeof *vector);
    return 0;
}

void mcr_own_dsyevd(const char *job, const char *triangle, const int *pn, double *a, const int *lda,
                    double *value, double *work, const int *words, int *whole,
                    const int *whole_words, int *info, size_t x, size_t y)
{
    *info = some_pairs(*pn, a, *lda, *job == 'V', 0, *pn, value, a, *lda, work, *words, whole);
}

void mcr_own_dsyevr(const char *job, const char *range, const char *triangle, const int *pn,
                    double *a, const int *lda, const double *low, const double *high,
                    const int *first, const int *last, const double *tolerance, int *found,
                    double *value, double *vector, const int *ldv, int *support, double *work,
                    const int *words, int *whole, const int *whole_words, int *info, size_t x,
                    size_t y, size_t z)
{
    int64_t n = *pn, from = *range == 'I' ? *first - 1 : 0, to = *range == 'I' ? *last : n;
    *info = some_pairs(n, a, *lda, *job == 'V', from, to, value, vector, *ldv, work, *words, whole);
    *found = *info || *words < 0 || n == 0 ? 0 : (int)(to - from);
}
