/* verify_shapes.c: certificates of coordinates, clusters and neighbours: pca, fisher, cca, kmeans,
 * knn.
 *
 * With shares p_i of the objects' weights and m the mean in feature space, a coordinate is t(x) =
 * v.(Phi(x) - m) for a direction v = sum_i c_i Phi(x_i) with sum c = 0. The covariance C v is sum_i
 * p_i t_i (Phi(x_i) - m). A direction in the span is 0 iff its products with all Phi(x_i) - m are,
 * so each equation between directions is tested by these products, which K gives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/verify.h"

typedef struct centred {
    mcr_verify *v;
    int64_t n;
    double *share; /* p_i */
    double *mean;  /* m.Phi(x_i) */
    double centre; /* m.m */
    double total;  /* variance */
    double blur;   /* error of a product with m */
} centred;

static mcr_status open_centred(centred *x, mcr_verify *v)
{
    *x = (centred){.v = v, .n = v->n};
    size_t n = (size_t)v->n;
    double sum = 0, *error;
    bool ok = mcr_alloc_doubles(v->ctx, n, &error, &x->share, &x->mean);
    mcr_status s = ok ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < v->n; i++)
        sum += v->own[i];
    for (int64_t i = 0; i < v->n && !s; i++)
        x->share[i] = v->own[i] / sum;
    if (!s)
        s = mcr_verify_multiply(v, x->share, 1, x->mean, error);
    for (int64_t i = 0; i < v->n && !s; i++) {
        x->centre += x->share[i] * x->mean[i];
        x->blur = fmax(x->blur, error[i]);
    }
    for (int64_t i = 0; i < v->n && !s; i++)
        x->total += x->share[i] * (v->diagonal[i] - 2 * x->mean[i] + x->centre);
    mcr_free(v->ctx, error);
    return s;
}

static void close_centred(centred *x)
{
    mcr_free_all(x->v->ctx, x->share, x->mean);
}

/* Products of sum_i c_i (Phi(x_i) - m) with all Phi(x_j) - m, in place of K c; error likewise. */
static void centre(const centred *x, const double *c, double *f, double *error)
{
    double sum = 0, along = 0, size = 0;
    for (int64_t i = 0; i < x->n; i++) {
        sum += c[i];
        along += c[i] * x->mean[i];
        size += fabs(c[i]);
    }
    for (int64_t i = 0; i < x->n; i++) {
        f[i] = f[i] - sum * x->mean[i] - along + sum * x->centre;
        error[i] += 4 * size * x->blur;
    }
}

/* t of output o: coefficients c, coordinates t and their errors (n each). */
static mcr_status coordinates(const centred *x, int64_t o, double *c, double *t, double *error)
{
    mcr_verify *v = x->v;
    double sum = 0, size = 0;
    mcr_verify_coefficients(v, o, c);
    for (int64_t i = 0; i < x->n; i++) {
        sum += c[i];
        size += fabs(c[i]);
    }
    if (fabs(sum) > 1e-9 * size)
        mcr_verify_fault(v, "the coefficients of coordinate %lld sum to %.3g, not to 0",
                         (long long)o + 1, sum);
    mcr_status s = mcr_verify_multiply(v, c, 1, t, error);
    if (!s)
        centre(x, c, t, error);
    return s;
}

/* ---- pca --------------------------------------------------------------------------------------*/

/* A unit vector u with A u = s u has u_i = sqrt(s) c_i / sqrt(p_i), and (A u)_i = sqrt(s p_i)
 * t_i. */
mcr_status mcr_verify_pca(mcr_verify *v)
{
    const double *variance = NULL;
    int64_t outputs = v->fitted->outputs;
    centred x = {.v = v};
    double *buffer = mcr_alloc(v->ctx, 3 * (uint64_t)v->n, sizeof *buffer);
    if (!buffer)
        return MCR_NO_MEMORY;
    double *c = buffer, *t = buffer + v->n, *error = t + v->n, worst = 0, slip = 0, sum = 0;
    mcr_status s = open_centred(&x, v);
    if (!s)
        s = mcr_fitted_need(&variance, v->fitted, MCR_EXTRA_VARIANCE, outputs);
    for (int64_t o = 0; o < outputs && !s; o++) {
        double value = variance[o], left = 0, near = 0, length = 0;
        s = coordinates(&x, o, c, t, error);
        for (int64_t i = 0; i < v->n && !s; i++) {
            double root = sqrt(x.share[i]), u = root > 0 ? sqrt(value) * c[i] / root : 0;
            double rest = sqrt(value) * root * t[i] - value * u;
            left += rest * rest;
            near += value * root * root * error[i] * error[i];
            length += u * u;
        }
        worst = fmax(worst, sqrt(left) / variance[0]);
        slip = fmax(slip, (sqrt(near) + 8 * DBL_EPSILON * value) / variance[0]);
        sum += value;
        if (!s && fabs(length - 1) > 1e-7)
            mcr_verify_fault(v, "component %lld has the length %.9g, not 1", (long long)o + 1,
                             sqrt(length));
    }
    if (!s) {
        mcr_verify_value(v, (mcr_sure){worst, slip});
        mcr_verify_objective(v, (mcr_sure){sum, DBL_EPSILON * (double)outputs * sum});
    }
    close_centred(&x);
    mcr_free(v->ctx, buffer);
    return s;
}

/* ---- fisher -----------------------------------------------------------------------------------*/

/* S_B v = q (S_W + r) v: S_B v has the coefficients p_j mu_j (mu: the mean coordinate of the
 * class), S_W v p_j (t_j - mu_j). The objective is the sum of the q. */
mcr_status mcr_verify_fisher(mcr_verify *v)
{
    int64_t outputs = v->fitted->outputs, n = v->n, classes = v->fitted->classes;
    centred x = {.v = v};
    double *buffer = mcr_alloc(v->ctx, 5 * (uint64_t)n + 2 * (uint64_t)classes, sizeof *buffer);
    if (!buffer)
        return MCR_NO_MEMORY;
    double *c = buffer, *t = c + n, *error = t + n, *w = error + n, *f = w + n;
    double *mu = f + n, *part = mu + classes, worst = 0, slip = 0, sum = 0;
    mcr_status s = open_centred(&x, v);
    double ridge = s ? NAN : mcr_verify_option(v, "lambda") * x.total;
    for (int64_t o = 0; o < outputs && !s; o++) {
        double between = 0, within = 0, square = 0, size = 0, left = 0, near = 0;
        s = coordinates(&x, o, c, t, error);
        memset(mu, 0, 2 * sizeof *mu * (size_t)classes);
        for (int64_t i = 0; i < n && !s; i++) {
            mu[v->class_of[i]] += x.share[i] * t[i];
            part[v->class_of[i]] += x.share[i];
            square += c[i] * t[i];
        }
        for (int64_t k = 0; k < classes; k++)
            mu[k] = part[k] > 0 ? mu[k] / part[k] : 0;
        for (int64_t i = 0; i < n && !s; i++) {
            double m = mu[v->class_of[i]];
            between += x.share[i] * m * m;
            within += x.share[i] * (t[i] - m) * (t[i] - m);
        }
        double q = between / (within + ridge * square);
        for (int64_t i = 0; i < n && !s; i++)
            w[i] = x.share[i] * ((1 + q) * mu[v->class_of[i]] - q * t[i]);
        if (!s)
            s = mcr_verify_multiply(v, w, 1, f, error);
        if (!s)
            centre(&x, w, f, error);
        for (int64_t i = 0; i < n && !s; i++) {
            double rest = f[i] - q * ridge * t[i];
            left += x.share[i] * rest * rest;
            near += x.share[i] * error[i] * error[i];
            size += x.share[i] * t[i] * t[i];
        }
        double unit = (1 + q) * (x.total + ridge) * sqrt(size);
        worst = fmax(worst, sqrt(left) / unit);
        slip = fmax(slip, sqrt(near) / unit);
        sum += q;
    }
    if (!s) {
        /* The residual of the directions is not that of the linear system that is printed: both are
         * to be within the tolerance. */
        v->out->value.recomputed = worst;
        v->out->value.error = slip;
        if (!(worst - slip <= v->out->tolerance)) {
            v->out->value.agrees = 0;
            mcr_verify_fault(
                v, "the directions miss their equation by %.3g, beyond the tolerance %.3g", worst,
                v->out->tolerance);
        }
        mcr_verify_objective(v, (mcr_sure){sum, 1e-7 * sum});
    }
    close_centred(&x);
    mcr_free(v->ctx, buffer);
    return s;
}

/* ---- cca --------------------------------------------------------------------------------------*/

/* One side: the values A a of a direction are sqrt(p_i) t_i; (A + r)^2 a and A times any values. */
typedef struct wing {
    centred x;
    double ridge;
    double *c, *t, *error; /* of the pair */
} wing;

static mcr_status open_wing(wing *w, mcr_verify *v, const mcr_kernel *kernel)
{
    size_t n = (size_t)v->n;
    mcr_status s = mcr_verify_bind(v, kernel);
    if (!s)
        s = open_centred(&w->x, v);
    else
        w->x.v = v;
    w->ridge = mcr_verify_option(v, "lambda") * w->x.total;
    w->c = mcr_alloc(v->ctx, 3 * n, sizeof *w->c);
    if (!w->c)
        return MCR_NO_MEMORY;
    w->t = w->c + n;
    w->error = w->t + n;
    return s;
}

static void close_wing(wing *w)
{
    if (w->x.v) {
        mcr_free(w->x.v->ctx, w->c);
        close_centred(&w->x);
    }
}

/* out = A z, where A_ij = sqrt(p_i p_j) times the centred K: with the wing's kernel bound. */
static mcr_status apply(const wing *w, const double *z, double *out, double *buffer, double *error)
{
    const centred *x = &w->x;
    for (int64_t i = 0; i < x->n; i++)
        buffer[i] = sqrt(x->share[i]) * z[i];
    mcr_status s = mcr_verify_multiply(x->v, buffer, 1, out, error);
    if (!s)
        centre(x, buffer, out, error);
    for (int64_t i = 0; i < x->n && !s; i++)
        out[i] *= sqrt(x->share[i]);
    return s;
}

/* Stationary: A (B b) is a multiple of (A + r)^2 a. own: the wing that is bound; values: B b;
 * square: |(A + r) a|^2. */
static mcr_status evaluate_wing(const wing *own, const double *values, double *square,
                                double *residual)
{
    const centred *x = &own->x;
    int64_t n = x->n;
    double *buffer = mcr_alloc(x->v->ctx, 4 * (uint64_t)n, sizeof *buffer);
    if (!buffer)
        return MCR_NO_MEMORY;
    double *left = buffer, *right = left + n, *work = right + n, *error = work + n;
    mcr_status s = apply(own, values, left, work, error);
    for (int64_t i = 0; i < n && !s; i++)
        work[i] = sqrt(x->share[i]) * own->t[i]; /* A a */
    double *aa = error;                          /* no longer needed there */
    if (!s)
        memcpy(aa, work, sizeof *aa * (size_t)n);
    double *twice = s ? NULL : mcr_alloc(x->v->ctx, 3 * (uint64_t)n, sizeof *twice);
    if (!s)
        s = twice ? apply(own, aa, right, twice, twice + n) : MCR_NO_MEMORY;
    double cross = 0, length = 0, size = 0, off = 0;
    *square = 0;
    for (int64_t i = 0; i < n && !s; i++) {
        double root = sqrt(x->share[i]), a = root > 0 ? own->c[i] / root : 0;
        right[i] += 2 * own->ridge * aa[i] + own->ridge * own->ridge * a;
        cross += left[i] * right[i];
        length += right[i] * right[i];
        size += left[i] * left[i];
        *square += a * right[i];
    }
    for (int64_t i = 0; i < n && !s; i++)
        off += (left[i] - cross / length * right[i]) * (left[i] - cross / length * right[i]);
    *residual = sqrt(off / fmax(size, DBL_MIN));
    mcr_free_all(x->v->ctx, twice, buffer);
    return s;
}

mcr_status mcr_verify_cca(mcr_verify *v)
{
    int64_t pairs = v->fitted->outputs / 2, n = v->n;
    const mcr_kernel *kernel[2] = {v->model->kernel, v->fitted->second};
    wing w[2] = {{.x = {.v = NULL}}};
    double *values = mcr_alloc(v->ctx, 2 * (uint64_t)n, sizeof *values), worst = 0, sum = 0;
    mcr_status s = values ? MCR_OK : MCR_NO_MEMORY;
    for (int side = 0; side < 2 && !s; side++)
        s = open_wing(&w[side], v, kernel[side]);
    for (int64_t o = 0; o < pairs && !s; o++) {
        double square[2] = {0, 0}, residual[2] = {0, 0}, both = 0;
        for (int side = 0; side < 2 && !s; side++) {
            s = mcr_verify_bind(v, kernel[side]);
            if (!s)
                s = coordinates(&w[side].x, side * pairs + o, w[side].c, w[side].t, w[side].error);
            for (int64_t i = 0; i < n && !s; i++)
                values[side * n + i] = sqrt(w[side].x.share[i]) * w[side].t[i];
        }
        for (int side = 1; side >= 0 && !s; side--) {
            s = mcr_verify_bind(v, kernel[side]);
            if (!s)
                s = evaluate_wing(&w[side], values + (1 - side) * n, &square[side],
                                  &residual[side]);
        }
        worst = fmax(worst, fmax(residual[0], residual[1]));
        for (int64_t i = 0; i < n && !s; i++)
            both += values[i] * values[n + i];
        sum += both / sqrt(fmax(square[0] * square[1], DBL_MIN));
    }
    if (!s) { /* what is printed is the residual of another form of the same equations */
        v->out->value.recomputed = worst;
        v->out->value.error = 1e-8;
        if (!(worst <= fmax(1e-6, 1e3 * v->out->tolerance)) && mcr_stop_is_end(v->fitted->stop)) {
            v->out->value.agrees = 0;
            mcr_verify_fault(v, "the directions miss their equations by %.3g", worst);
        }
        mcr_verify_objective(v, (mcr_sure){sum, 1e-7 * sum});
    }
    close_wing(&w[0]);
    close_wing(&w[1]);
    mcr_free(v->ctx, values);
    return s;
}

/* ---- kmeans -----------------------------------------------------------------------------------*/

typedef struct clusters {
    mcr_verify *v;
    int64_t n, k;
    int32_t *of;
    double *c, *f, *error, *weight, *square;
    int64_t *count;
} clusters;

static double distance(const clusters *t, int64_t i, int64_t c)
{
    return t->v->diagonal[i] - 2 * t->f[c * t->n + i] + t->square[c];
}

/* Which cluster each object is of, and that its share of the centre is its weight's. */
static void read_clusters(clusters *t)
{
    mcr_verify *v = t->v;
    for (int64_t i = 0; i < t->n; i++)
        t->of[i] = -1;
    for (int64_t c = 0; c < t->k; c++) {
        mcr_verify_coefficients(v, c, t->c + c * t->n);
        for (int64_t i = 0; i < t->n; i++)
            if (t->c[c * t->n + i] > 0) {
                t->of[i] = (int32_t)c;
                t->weight[c] += v->weight[i];
                t->count[c]++;
            }
    }
    for (int64_t i = 0; i < t->n; i++) {
        int32_t c = t->of[i];
        double should = c < 0 ? 0 : v->weight[i] / t->weight[c];
        if (c >= 0 && fabs(t->c[c * t->n + i] - should) > 1e-9 * should)
            mcr_verify_fault(v,
                             "the coefficient of object %lld is %.9g, and its share of the centre "
                             "is %.9g",
                             (long long)i + 1, t->c[c * t->n + i], should);
    }
}

static double best_gain(const clusters *t, int64_t i)
{
    int32_t a = t->of[i];
    double w = t->v->weight[i], best = 0;
    if (a < 0 || !(w > 0) || t->count[a] < 2 || !(t->weight[a] - w > 0))
        return 0;
    double leaves = t->weight[a] * w / (t->weight[a] - w) * distance(t, i, a);
    for (int32_t c = 0; c < t->k; c++)
        if (c != a && t->weight[c] > 0)
            best = fmax(best, leaves - t->weight[c] * w / (t->weight[c] + w) * distance(t, i, c));
    return best;
}

static void evaluate_clusters(clusters *t)
{
    mcr_verify *v = t->v;
    mcr_exact_sum sum = {0};
    double blur = 0, most = 0, total = 0, near = 0;
    for (int64_t c = 0; c < t->k; c++)
        t->square[c] = mcr_sure_dot(t->c + c * t->n, t->f + c * t->n, NULL, t->n).value;
    for (int64_t i = 0; i < t->n; i++) {
        total += v->weight[i] * fabs(v->diagonal[i]);
        if (t->of[i] < 0)
            continue;
        double slip = 4 * t->error[t->of[i] * t->n + i] + 8 * DBL_EPSILON * fabs(v->diagonal[i]);
        mcr_exact_add(&sum, v->weight[i] * distance(t, i, t->of[i]));
        blur += v->weight[i] * slip;
        near = fmax(near, 4 * v->weight[i] * slip);
        most = fmax(most, best_gain(t, i));
    }
    double objective = mcr_exact_total(&sum), scale = fmax(objective, 1e-9 * total);
    mcr_verify_objective(v, (mcr_sure){objective, blur});
    mcr_verify_value(v, (mcr_sure){most / scale, near / scale});
}

mcr_status mcr_verify_kmeans(mcr_verify *v)
{
    size_t n = (size_t)v->n, k = (size_t)v->fitted->outputs;
    clusters t = {.v = v, .n = v->n, .k = v->fitted->outputs};
    t.of = mcr_alloc(v->ctx, n, sizeof *t.of);
    t.count = mcr_alloc_zero(v->ctx, k, sizeof *t.count);
    bool ok = mcr_alloc_doubles(v->ctx, (uint64_t)n * k, &t.c, &t.f, &t.error) &&
              mcr_zero_doubles(v->ctx, 2 * k, &t.weight);
    mcr_status s = ok && t.of && t.count ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        t.square = t.weight + k;
        read_clusters(&t);
        s = mcr_verify_multiply(v, t.c, t.k, t.f, t.error);
    }
    if (!s)
        evaluate_clusters(&t);
    mcr_free_all(v->ctx, t.of, t.c, t.f, t.error, t.weight, t.count);
    return s;
}

/* ---- knn --------------------------------------------------------------------------------------*/

/* What a model keeps of its objects is what the data say. */
static void compare_objects(mcr_verify *v, const double *target, const double *weight,
                            const double *diagonal)
{
    for (int64_t b = 0; b < v->fitted->basis; b++) {
        int64_t i = v->basis[b];
        double y = v->class_of ? v->class_of[i] : v->target[i];
        double near = 8 * v->unit * fabs(v->diagonal[i]);
        if (target[b] != y || fabs(weight[b] - v->weight[i]) > 1e-12 * v->weight[i] ||
            fabs(diagonal[b] - v->diagonal[i]) > near)
            mcr_verify_fault(v,
                             "the target, weight or length of object %lld is not that of the data",
                             (long long)i + 1);
    }
}

/* Squared distances of neighbours in the order of the file: how far below 0 they are. */
mcr_status mcr_verify_knn(mcr_verify *v)
{
    enum { SIDE = 256 };
    const double *target, *weight, *diagonal;
    int64_t m = v->fitted->basis;
    double *k = mcr_alloc(v->ctx, SIDE, SIDE * sizeof *k), worst = 0;
    mcr_status s = k ? mcr_fitted_need(&target, v->fitted, "targets", m) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_fitted_need(&weight, v->fitted, "weights", m);
    if (!s)
        s = mcr_fitted_need(&diagonal, v->fitted, "diagonal", m);
    if (!s)
        compare_objects(v, target, weight, diagonal);
    for (int64_t first = 0; first < m && !s; first += SIDE) {
        int64_t count = m - first < SIDE ? m - first : SIDE;
        mcr_rows rows = {v->basis + first, 0, count};
        s = mcr_gram_block(v->gram, rows, rows, k, SIDE);
        for (int64_t i = 0; i < count && !s; i++)
            for (int64_t j = 0; j < count; j++) {
                double both = v->diagonal[v->basis[first + i]] + v->diagonal[v->basis[first + j]];
                double d = both - 2 * k[i * SIDE + j];
                if (d < 0 || i == j)
                    worst = fmax(worst, fabs(d) / fmax(fabs(both), 1e-300));
            }
    }
    if (!s)
        mcr_verify_value(v, (mcr_sure){worst, 4 * v->unit});
    mcr_free(v->ctx, k);
    return s;
}
