/* gp_search.c: searches for the scales that make the data most likely, from the given values and
 * from random ones.
 *
 * A likelihood takes n^3 multiply-adds, and that of some of the objects has its maxima in nearly
 * the same places. So all searches run on a sample of the objects first, then on four times as many
 * from where they ended, with the estimated curvature. The likelihood of all objects decides which
 * result is the best; the last search starts there. A search ends when all slopes are small, or
 * when its last steps together have gained nothing relevant: with many terms the likelihood has
 * long valleys, and following one to its end takes thousands of steps without a gain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/random.h"
#include "learn/gp.h"

/* The smallest sample, and for each scale. Each sample is four times as large as the last one. */
enum { LEAST_SAMPLE = 400, LEAST_PER_SCALE = 20, GROWTH = 4 };

/* Restarts begin within this factor of the given scales. */
static const double start_within = 20;

/* Of samples: results whose scales agree to this factor are the same; those whose log likelihood
 * per object is so much smaller than the best are dropped; the share of the time limit. */
static const double same_within = 1.05, hopeless = 0.05, time_share = 0.25;

typedef struct point {
    double f;        /* of the last search that ended here; INFINITY: none did */
    double *x;       /* logarithms of the scales and of extra */
    double *inverse; /* of the Hessian of the likelihood per object; 0 first: not known */
} point;

typedef struct search {
    mcr_gp *gp; /* of all objects */
    mcr_descent problem;
    point *points;
    int64_t count;
    double *numbers; /* of the points */
    int64_t *order;  /* random, of the objects */
} search;

/* ---- one search -------------------------------------------------------------------------------*/

/* From point p to a minimum; gp: of all objects, or of a sample. */
static mcr_status descend(const search *t, mcr_gp *gp, point *p, mcr_descent_result *r)
{
    mcr_descent problem = t->problem;
    int64_t square = problem.n * problem.n;
    problem.arg = gp;
    problem.tolerance *= (double)gp->n;
    problem.gain *= (double)gp->n;
    problem.inverse = p->inverse;
    for (int64_t i = 0; i < square; i++)
        p->inverse[i] /= (double)gp->n;
    mcr_status s = gp->own ? mcr_gp_set(gp, p->x) : MCR_OK;
    if (!s && gp->own)
        s = gp->own->choose(gp);
    if (!s)
        s = mcr_descent_solve(gp->ctx, &problem, p->x, r);
    for (int64_t i = 0; i < square; i++)
        p->inverse[i] *= (double)gp->n;
    if (s)
        return s;
    p->f = r->f;
    gp->steps += r->steps;
    return MCR_OK;
}

static bool is_over(const mcr_descent_result *r)
{
    return r->stop == MCR_STOP_INTERRUPTED || r->stop == MCR_STOP_TIME;
}

/* ---- on a sample ------------------------------------------------------------------------------*/

/* In ascending order of f. */
static void sort(search *t)
{
    for (int64_t i = 1; i < t->count; i++)
        for (int64_t j = i; j > 0 && t->points[j].f < t->points[j - 1].f; j--) {
            point p = t->points[j];
            t->points[j] = t->points[j - 1];
            t->points[j - 1] = p;
        }
}

static bool is_same(const search *t, const point *a, const point *b)
{
    double most = 0;
    for (int64_t j = 0; j < t->problem.n; j++)
        most = fmax(most, fabs(a->x[j] - b->x[j]));
    return most <= log(same_within);
}

/* Leaves the points that may be the best one of all n objects, the best of the sample first. All of
 * them stay if the sample has no finite likelihood. */
static void sift(search *t, int64_t n)
{
    int64_t left = 1;
    sort(t);
    if (!isfinite(t->points[0].f))
        return;
    for (int64_t i = 1; i < t->count; i++) {
        point *p = &t->points[i], other = t->points[left];
        bool keep = p->f - t->points[0].f <= hopeless * (double)n;
        for (int64_t j = 0; j < left && keep; j++)
            keep = !is_same(t, p, &t->points[j]);
        if (keep) {
            t->points[left++] = *p;
            t->points[i] = other;
        }
    }
    t->count = left;
}

static mcr_status search_points(search *t, mcr_gp *sample)
{
    mcr_status s = MCR_OK;
    mcr_descent_result r = {.stop = MCR_STOP_LOCAL};
    for (int64_t i = 0; i < t->count; i++)
        t->points[i].f = INFINITY;
    for (int64_t i = 0; i < t->count && !s && !is_over(&r); i++)
        s = descend(t, sample, &t->points[i], &r);
    return s || r.stop != MCR_STOP_INTERRUPTED ? s
                                               : mcr_fail(sample->ctx, MCR_STOPPED, "interrupted");
}

/* The first n objects of the order. */
static mcr_status search_sample(search *t, int64_t n)
{
    const mcr_gp *gp = t->gp;
    int64_t parts = gp->parts;
    mcr_data *data = NULL;
    double *y = mcr_alloc(gp->ctx, (uint64_t)(n * (parts + 1)), sizeof *y);
    double *at = mcr_alloc(gp->ctx, (size_t)t->problem.n, sizeof *at);
    mcr_status s = y && at ? mcr_data_select(&data, gp->data, (mcr_rows){t->order, 0, n})
                           : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++) {
        memcpy(y + i * parts, gp->y + t->order[i] * parts, sizeof *y * (size_t)parts);
        y[n * parts + i] = gp->weight[t->order[i]];
    }
    mcr_gp sample = {.ctx = gp->ctx,
                     .params = gp->params,
                     .given = gp->given,
                     .data = data,
                     .n = n,
                     .scales = gp->scales,
                     .extra = gp->extra,
                     .at = at,
                     .type = gp->type,
                     .parts = parts};
    if (!s) {
        sample.y = y;
        sample.weight = y + n * parts;
        sample.k = mcr_system_smaller(&gp->k, n);
        s = gp->type->open(&sample);
        if (!s)
            s = search_points(t, &sample);
        gp->type->close(&sample);
    }
    if (!s)
        sift(t, n);
    mcr_kernel_free(sample.kernel);
    mcr_data_free(data);
    mcr_free_all(gp->ctx, y, at);
    return s;
}

/* On samples of growing size, within a part of the time. */
static mcr_status search_samples(search *t)
{
    mcr_gp *gp = t->gp;
    int64_t least = LEAST_PER_SCALE * t->problem.n, divide = 1;
    mcr_status s = MCR_OK;
    least = least > LEAST_SAMPLE ? least : LEAST_SAMPLE;
    while (gp->n / divide / GROWTH >= least)
        divide *= GROWTH;
    if (divide == 1)
        return MCR_OK;
    if (!(t->order = mcr_alloc(gp->ctx, (size_t)gp->n, sizeof *t->order)))
        return MCR_NO_MEMORY;
    mcr_random random = mcr_random_stream(mcr_seed(gp->ctx), "gp sample", 0);
    for (int64_t i = 0; i < gp->n; i++)
        t->order[i] = i;
    mcr_random_shuffle(&random, t->order, gp->n);
    double deadline = t->problem.deadline, now = mcr_now();
    if (deadline > 0)
        t->problem.deadline = now + time_share * (deadline - now);
    for (; divide > 1 && !s && !(deadline > 0 && mcr_now() > t->problem.deadline);
         divide /= GROWTH) {
        gp->sample = gp->n / divide;
        s = search_sample(t, gp->sample);
    }
    t->problem.deadline = deadline;
    return s;
}

/* ---- on all objects ---------------------------------------------------------------------------*/

static void keep(mcr_gp *gp, const point *p, const mcr_descent_result *r, double *best)
{
    if (!(r->f < gp->f))
        return;
    gp->f = r->f;
    gp->slope = r->slope / (double)gp->n;
    gp->gained = r->flat ? r->gained / (double)gp->n : NAN;
    gp->stop = r->stop;
    memcpy(best, p->x, sizeof *best * (size_t)mcr_gp_variables(gp));
    if (gp->own)
        gp->own->keep(gp);
}

/* Landmarks are chosen for the initial scales of a search, and again for the scales that it found,
 * as long as that gains something. */
static mcr_status search_from(search *t, point *p, double *best, bool *over)
{
    enum { MOST_ROUNDS = 4 };
    mcr_gp *gp = t->gp;
    mcr_status s = MCR_OK;
    bool again = true;
    for (int round = 0; round < (gp->own ? MOST_ROUNDS : 1) && again && !s && !*over; round++) {
        mcr_descent_result r;
        double before = gp->f;
        s = descend(t, gp, p, &r);
        if (!s)
            keep(gp, p, &r, best);
        *over = !s && is_over(&r);
        again = !s && r.f < before - gp->params->tol * (double)gp->n;
        p->inverse[0] = 0;
    }
    return s;
}

/* Whether there is no more time, once something was computed. */
static bool is_late(const search *t, bool begun)
{
    return begun && t->problem.deadline > 0 && mcr_now() > t->problem.deadline;
}

/* From each point; after samples, from the most likely one, and from others that are more likely
 * than what was found. */
static mcr_status search_all(search *t, double *best)
{
    mcr_gp *gp = t->gp;
    mcr_status s = MCR_OK;
    bool over = false, compare = gp->sample > 0 && t->count > 1;
    gp->f = INFINITY;
    for (int64_t i = 0; i < t->count && compare; i++)
        t->points[i].f = INFINITY;
    for (int64_t i = 0; i < t->count && compare && !s && !is_late(t, i > 0); i++, gp->steps++)
        s = mcr_gp_value_at(gp, t->points[i].x, &t->points[i].f);
    if (compare && !s)
        sort(t);
    for (int64_t i = 0; i < t->count && !s && !over; i++)
        if (!compare || i == 0 || t->points[i].f < gp->f)
            s = search_from(t, &t->points[i], best, &over);
    return s;
}

/* Where search number `run` begins: the given values first, then random ones around them. */
static void choose_start(const search *t, int64_t run, const double *given)
{
    const mcr_descent *p = &t->problem;
    mcr_random random = mcr_random_stream(mcr_seed(t->gp->ctx), "gp", (uint64_t)run);
    for (int64_t j = 0; j < p->n; j++) {
        double away = run ? log(start_within) * (2 * mcr_random_uniform(&random) - 1) : 0;
        t->points[run].x[j] = fmin(fmax(given[j] + away, p->low[j]), p->high[j]);
    }
}

mcr_status mcr_gp_search(mcr_gp *gp, const mcr_descent *problem, const double *given, bool goes_on,
                         double *best)
{
    int64_t n = problem->n, size = n + n * n;
    search t = {.gp = gp, .problem = *problem, .count = gp->params->restarts + 1};
    t.points = mcr_alloc(gp->ctx, (size_t)t.count, sizeof *t.points);
    t.numbers = mcr_alloc_zero(gp->ctx, (uint64_t)(t.count * size), sizeof *t.numbers);
    mcr_status s = t.points && t.numbers ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < t.count && !s; i++) {
        double *x = t.numbers + i * size;
        t.points[i] = (point){.f = INFINITY, .x = x, .inverse = x + n};
        choose_start(&t, i, given);
    }
    if (!s && gp->type && !goes_on)
        s = search_samples(&t);
    if (!s)
        s = search_all(&t, best);
    mcr_free_all(gp->ctx, t.points, t.numbers, t.order);
    return s;
}
