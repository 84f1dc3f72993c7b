/* restricted_known.c: rounding errors of gradients on the span of landmarks.
 *
 * A gradient is given by its values at the landmarks, r = K_mn a + mu K_mm c; in the basis of the
 * span it is T'r, with T'K_mm T = 1 up to rounding. If landmarks are nearly dependent, T is large
 * and amplifies errors of r. These come from kernel values and from sums, while the values of a
 * need not be exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/team.h"
#include "gram/restricted_impl.h"

typedef mcr_restricted restricted;

static const double unit = DBL_EPSILON / 2;

enum { PROBES = 10 };

/* c = T x of some Gaussian vectors x, which are the same for all. */
static mcr_status draw_probes(const restricted *t, double *x, double *c)
{
    mcr_random draw = mcr_random_stream(mcr_seed(t->ctx), "span", 0);
    for (int64_t i = 0; i < t->map->count * PROBES; i++)
        x[i] = mcr_random_normal(&draw);
    return mcr_map_coefficients(t->map, x, PROBES, c);
}

/* A bound on |E|, E = 1 - T'K_mm T, that fails once in 10^PROBES cases: of these vectors the
 * largest |Ex|, times 10 sqrt(2 / pi) (Halko, Martinsson and Tropp 2011, lemma 4.1). q: K_mm c;
 * back: space for x once more. */
static mcr_status compare_probes(const restricted *t, const double *x, const double *q,
                                 double *back, double *apart)
{
    int64_t p = t->map->count;
    double most = 0;
    mcr_status s = mcr_restricted_back(t, q, PROBES, back);
    for (int64_t o = 0; o < PROBES && !s; o++) {
        double sum = 0;
        for (int64_t i = o; i < p * PROBES; i += PROBES)
            sum += (x[i] - back[i]) * (x[i] - back[i]);
        most = fmax(most, sqrt(sum));
    }
    *apart = 7.98 * most;
    return s;
}

static mcr_status measure_apart(const restricted *t, double *apart)
{
    int64_t rows = t->map->landmarks * PROBES, p = t->map->count * PROBES;
    double *x = mcr_alloc(t->ctx, (uint64_t)(2 * (rows + p)), sizeof *x);
    double *c = x ? x + 2 * p : NULL, *q = x ? c + rows : NULL;
    mcr_status s = x ? draw_probes(t, x, c) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_restricted_own(t, c, PROBES, q);
    if (!s)
        s = compare_probes(t, x, q, x + p, apart);
    mcr_free(t->ctx, x);
    return s;
}

/* sqrt(K(x,x)) of some objects, and the error of their kernel values. */
static mcr_status measure_rows(mcr_gram *cross, double *length, double *error)
{
    mcr_error r = {0, 0};
    mcr_status s = mcr_gram_prepare(cross, true);
    if (!s)
        s = mcr_gram_error(cross, true, &r);
    if (!s)
        s = mcr_gram_diagonal(cross, 0, length);
    for (int64_t i = 0; i < mcr_gram_rows(cross) && !s; i++)
        length[i] = sqrt(fmax(length[i], 0));
    *error = fmax(*error, isfinite(r.absolute) ? r.absolute : MCR_UNKNOWN_ERROR);
    return s;
}

/* The same of all; *blocks: parts of a pass over them. */
static mcr_status measure_all_rows(const restricted *t, double *length, double *error,
                                   double *blocks)
{
    *blocks = 0;
    if (t->cross)
        return measure_rows(t->cross, length, error);
    int64_t n = mcr_data_count(t->data), rows = mcr_restricted_rows(t);
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < n && !s; first += rows, *blocks += 1) {
        mcr_gram *cross;
        s = mcr_map_cross(&cross, t->map, t->data,
                          (mcr_rows){NULL, first, mcr_least(n - first, rows)});
        if (!s)
            s = measure_rows(cross, length + first, error);
        mcr_gram_close(cross);
    }
    return s;
}

mcr_status mcr_gram_longest(const mcr_gram *gram, double *length)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    const restricted *t = g->of.self;
    int64_t n = t->cross ? mcr_gram_rows(t->cross) : mcr_data_count(t->data);
    double error = 0, blocks, *all = mcr_alloc(t->ctx, (size_t)n, sizeof *all);
    mcr_status s = all ? measure_all_rows(t, all, &error, &blocks) : MCR_NO_MEMORY;
    *length = 0;
    for (int64_t i = 0; i < n && !s; i++)
        *length = fmax(*length, all[i]);
    mcr_free(t->ctx, all);
    return s ? s : mcr_team_largest(t->ctx, length, 1);
}

/* How |T| amplifies errors of values at the landmarks, which are at most their lengths: in the
 * worst case, or for independent errors. */
typedef struct gain {
    double worst, usual;
} gain;

/* size: of each output the sum of |c_j| sqrt(K(z_j,z_j)); root: the root of their squares' sum. */
static mcr_status measure_span(const restricted *t, const double *w, int64_t cols, double *size,
                               double *root, gain *to)
{
    const mcr_map *m = t->map;
    double *length = mcr_alloc(t->ctx, (size_t)m->landmarks, (size_t)(cols + 1) * sizeof *length);
    double *c = length ? length + m->landmarks : NULL, worst = 0, usual = 0;
    mcr_status s = length ? mcr_gram_diagonal(t->own, 0, length) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_map_coefficients(m, w, cols, c);
    for (int64_t j = 0; j < m->landmarks && !s; j++)
        length[j] = sqrt(fmax(length[j], 0));
    for (int64_t o = 0; o < cols && !s; o++) {
        double sum = 0, squares = 0;
        for (int64_t j = 0; j < m->landmarks; j++) {
            double each = fabs(c[j * cols + o]) * length[j];
            sum += each;
            squares += each * each;
        }
        size[o] = sum;
        root[o] = sqrt(squares);
    }
    for (int64_t k = 0; k < m->count && !s; k++) {
        double sum = 0;
        for (int64_t j = 0; j < m->landmarks; j++) {
            double each = fabs(m->turn[j * m->count + k]) * length[j];
            sum += each;
            usual += each * each;
        }
        worst += sum * sum;
    }
    *to = (gain){sqrt(worst), sqrt(usual)};
    mcr_free(t->ctx, length);
    return s;
}

mcr_status mcr_gram_span_known(mcr_gram *gram, const double *w, int64_t cols, mcr_span_known *known)
{
    enum { CONFIDENCE = 8 }; /* standard deviations; by Hoeffding 2 exp(-32) of all exceed them */
    const restricted *t = mcr_gram_as_factor(gram)->of.self;
    double m = (double)t->map->landmarks, apart = 0;
    double rows[2] = {0, 0}; /* the largest error of a kernel value, blocks; of all processes */
    gain by = {0, 0};
    mcr_error own = {0, 0};
    mcr_status s = measure_span(t, w, cols, known->size, known->value, &by);
    if (!s)
        s = measure_all_rows(t, known->length, &rows[0], &rows[1]);
    if (!s)
        s = mcr_team_largest(t->ctx, rows, 2);
    if (!s)
        s = measure_apart(t, &apart);
    if (!s)
        s = mcr_gram_error(t->own, true, &own);
    double between = (isfinite(own.absolute) ? own.absolute : MCR_UNKNOWN_ERROR) + 2 * unit;
    for (int64_t o = 0; o < cols && !s; o++) /* in so many parts vmath.c adds up */
        known->value[o] = CONFIDENCE *
                          (rows[0] * known->value[o] + unit * sqrt(m / 8 + 48) * known->size[o]);
    known->slope = CONFIDENCE * by.usual * (rows[0] + unit * (MCR_ROUND_DEPTH + rows[1]));
    known->pull = by.worst * between;
    known->between = between;
    known->turned = 2 * unit * m * sqrt(t->turn * m * t->length);
    known->apart = apart + by.worst * by.worst * between;
    return s;
}

/* K_mm c of the function and of the probes in extended precision; q: rounded. *share: INFINITY if
 * there is none. */
static mcr_status extend_own(const restricted *t, const double *c, int64_t cols,
                             const double *probe, double *q, double *share)
{
    int64_t m = t->map->landmarks, all = cols + PROBES;
    double *a = mcr_alloc(t->ctx, (uint64_t)(m * all), 3 * sizeof *a);
    if (!a)
        return MCR_NO_MEMORY;
    mcr_extended to = {.n = m, .outputs = all, .a = a, .f = a + m * all, .low = a + 2 * m * all};
    for (int64_t i = 0; i < m; i++) {
        memcpy(a + i * all, c + i * cols, sizeof *a * (size_t)cols);
        memcpy(a + i * all + cols, probe + i * PROBES, sizeof *a * PROBES);
    }
    mcr_status s = mcr_gram_extended(t->own, &to);
    for (int64_t i = 0; i < m && !s && isfinite(to.share); i++) {
        memcpy(q + i * cols, to.f + i * all, sizeof *q * (size_t)cols);
        memcpy(q + m * cols + i * PROBES, to.f + i * all + cols, sizeof *q * PROBES);
    }
    *share = to.share;
    mcr_free(t->ctx, a);
    return s;
}

/* Of the function c with the values q at the landmarks, which were `was` before; more: for T'q. */
static mcr_status correct(const restricted *t, const double *c, const double *q, double *was,
                          int64_t cols, double mu, double *more, double *u, double *square)
{
    for (int64_t i = 0; i < t->map->landmarks * cols; i++) {
        *square += c[i] * (q[i] - was[i]);
        was[i] = mu * (q[i] - was[i]);
    }
    mcr_status s = mcr_restricted_back(t, was, cols, more);
    for (int64_t i = 0; i < t->map->count * cols && !s; i++)
        u[i] += more[i];
    return s;
}

mcr_status mcr_gram_span_closer(mcr_gram *gram, const double *w, int64_t cols, double mu, double *u,
                                double *square, mcr_span_known *known)
{
    const restricted *t = mcr_gram_as_factor(gram)->of.self;
    int64_t m = t->map->landmarks, p = t->map->count, all = m * cols;
    size_t numbers = (size_t)(3 * all + 2 * m * PROBES + 2 * p * PROBES + p * cols);
    double *c = mcr_alloc(t->ctx, numbers, sizeof *c), share = INFINITY, apart = 0;
    if (!c)
        return MCR_NO_MEMORY;
    double *probe = c + all, *q = probe + m * PROBES, *was = q + all + m * PROBES;
    double *x = was + all, *more = x + 2 * p * PROBES, least = INFINITY;
    mcr_status s = mcr_map_coefficients(t->map, w, cols, c);
    if (!s)
        s = draw_probes(t, x, probe);
    if (!s)
        s = mcr_restricted_own(t, c, cols, was);
    if (!s)
        s = extend_own(t, c, cols, probe, q, &share);
    if (!s && isfinite(share))
        s = compare_probes(t, x, q + all, x + p * PROBES, &apart);
    if (!s && isfinite(share))
        s = correct(t, c, q, was, cols, mu, more, u, square);
    if (!s && isfinite(share)) {
        double worst = known->pull / known->between;
        for (int64_t o = 0; o < cols; o++)
            least = fmin(least, known->size[o]);
        /* f(z) <= |f| sqrt(K(z,z)) is rounded to double. */
        double values = share + (least > 0 ? unit * sqrt(fmax(*square, 0)) / least : unit);
        known->pull = worst * values;
        known->between = values;
        known->apart = apart + worst * worst * share + worst * unit * (double)m;
    }
    mcr_free(t->ctx, c);
    return s;
}
