/* smo_inner.c: sequential minimal optimisation on a working set, compiled like linalg's tiles for
 * each instruction set and precision (linalg/simd.h).
 *
 * A step raises member i and lowers member j of one group by the same amount. For the piecewise
 * linear term the slope depends on the direction: a step up from b >= 0 costs +epsilon, from b < 0
 * it gains epsilon; likewise down. `up` and `down` hold that slope, or +-infinity where the bound
 * forbids the step. i is the member with the lowest g + up; j maximises the gain
 *     (g_j + down_j - g_i - up_i)^2 / (K_ii + K_jj - 2 K_ij)
 * (second-order working set selection, Fan, Chen and Lin, JMLR 6, 2005). The pass that updates g
 * after a step finds the next i as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_inner.h"

#include <math.h>
#include <stdbool.h>

#include "linalg/simd.h"

typedef struct extreme {
    real low, high; /* lowest g + up, highest g + down */
    int64_t at;     /* member of low */
} extreme;

mcr_smo_run SYMBOL(mcr_smo_run_);

/* The loops below keep STREAMS running minima of each lane, which hides the latency of the
 * comparisons: vector v of the members belongs to minimum v % STREAMS. `at` is the place of the
 * value's lane in the first vector of its round. */
typedef struct lane_minimum {
    vreal value;
    vwhole at;
} lane_minimum;

enum { STREAMS = 2, ROUND = STREAMS * LANES };

INLINE void take_smaller(lane_minimum *best, vreal value, vwhole here)
{
    best->at = choose_less(value, best->value, here, best->at);
    best->value = smaller(value, best->value);
}

/* The minimum of all lanes; *at: the lowest place that has it. */
INLINE real least_of(const lane_minimum best[STREAMS], int64_t *at)
{
    vreal value = best[0].value;
    vwhole place = best[0].at;
    UNROLL for (int i = 1; i < STREAMS; i++)
    {
        vwhole other = best[i].at + i * LANES;
        vwhole less = (vwhole)(best[i].value < value) |
                      ((vwhole)(best[i].value == value) & (vwhole)(other < place));
        value = smaller(best[i].value, value);
        place = choose_whole(less, other, place);
    }
    real least = lowest_lane(value);
    vwhole here = (vwhole)(value == splat(least));
    *at = lowest_lane_whole(choose_whole(here, place, splat_whole(BY_REAL(INT32_MAX, INT64_MAX))));
    return least;
}

/* Extremes of one group's slopes; `update`: g += step (Ki - Kj) on the way. */
INLINE extreme advance(const mcr_smo_block *s, int t, bool update, const real *ki, const real *kj,
                       real step)
{
    real *g = s->g;
    const real *up = s->up[t], *down = s->down[t];
    lane_minimum low[STREAMS];
    vreal high[STREAMS];
    vwhole here = first_places();
    UNROLL for (int i = 0; i < STREAMS; i++)
    {
        low[i] = (lane_minimum){splat(INFINITY), here};
        high[i] = splat(-INFINITY);
    }
    int64_t members = s->members;
    for (int64_t at = 0; at < members; at += ROUND, here += ROUND)
        UNROLL for (int i = 0; i < STREAMS; i++)
        {
            int64_t m = at + i * LANES;
            if (i && m >= members)
                break;
            vreal v = load(g + m);
            if (update) {
                v = multiply_add(splat(step), load(ki + m) - load(kj + m), v);
                store(g + m, v);
            }
            take_smaller(&low[i], v + load(up + m), here);
            high[i] = larger(v + load(down + m), high[i]);
        }
    UNROLL for (int i = 1; i < STREAMS; i++) high[0] = larger(high[i], high[0]);
    extreme e;
    e.low = least_of(low, &e.at);
    e.high = -lowest_lane(-high[0]);
    return e;
}

/* 1 / a, to three digits at least: good enough to choose by. */
INLINE vreal about_reciprocal(vreal a)
{
#if MCR_REAL_BITS == 32 && defined(__AVX512F__) && MCR_SIMD_BYTES == 64
    return (vreal)_mm512_rcp14_ps((__m512)a);
#elif MCR_REAL_BITS == 32 && defined(__AVX2__) && MCR_SIMD_BYTES == 32
    return (vreal)_mm256_rcp_ps((__m256)a);
#else
    return 1 / a;
#endif
}

INLINE const real *row_of(const mcr_smo_block *s, int64_t m)
{
    if (s->row ? !s->row[m] : s->there && !s->there[m])
        s->make_row(s->arg, m);
    if (s->row)
        return s->row[m];
    return (const real *)s->k + m * s->ld;
}

/* The partner of i with the largest gain; -1: none. */
INLINE int64_t partner(const mcr_smo_block *s, int t, int64_t i, real low)
{
    const real *g = s->g, *down = s->down[t], *diagonal = s->diagonal, *ki = row_of(s, i);
    vreal minus_kii = splat(-diagonal[i]), minus_tau = splat((real)-s->tau);
    lane_minimum loss[STREAMS]; /* minus the gain: the curvature is taken with a minus */
    vwhole here = first_places();
    UNROLL for (int q = 0; q < STREAMS; q++) loss[q] = (lane_minimum){splat(0), here};
    int64_t members = s->members;
    for (int64_t at = 0; at < members; at += ROUND, here += ROUND)
        UNROLL for (int q = 0; q < STREAMS; q++)
        {
            int64_t m = at + q * LANES;
            if (q && m >= members)
                break;
            vreal gap = larger(load(g + m) + load(down + m) - low, splat(0));
            vreal curve = multiply_add(splat(2), load(ki + m), minus_kii - load(diagonal + m));
            take_smaller(&loss[q], gap * gap * about_reciprocal(smaller(curve, minus_tau)), here);
        }
    int64_t j;
    return least_of(loss, &j) < 0 ? j : -1;
}

/* The null object, which has no bounds, costs nothing. */
INLINE double kink(const mcr_smo_block *s, int64_t m)
{
    return s->hi[m] < INFINITY ? s->epsilon : 0;
}

INLINE void set_slopes(const mcr_smo_block *s, int64_t m)
{
    int t = s->groups == 2 ? s->group[m] : 0;
    real e = (real)kink(s, m), *up = s->up[t], *down = s->down[t];
    double b = s->b[m];
    up[m] = b < s->hi[m] ? (b >= 0 ? e : -e) : (real)INFINITY;
    down[m] = b > s->lo[m] ? (b > 0 ? e : -e) : (real)-INFINITY;
}

/* How far member m may go up (or down), to the next kink or bound; *stop is where that is. */
INLINE double space_up(const mcr_smo_block *s, int64_t m, double *stop)
{
    *stop = kink(s, m) > 0 && s->b[m] < 0 ? 0 : s->hi[m];
    return *stop - s->b[m];
}

INLINE double space_down(const mcr_smo_block *s, int64_t m, double *stop)
{
    *stop = kink(s, m) > 0 && s->b[m] > 0 ? 0 : s->lo[m];
    return s->b[m] - *stop;
}

/* Steps b_i up and b_j down along their common direction; returns how far. */
INLINE double move(mcr_smo_block *s, int64_t i, int64_t j, double slope)
{
    const real *diagonal = s->diagonal, *ki = row_of(s, i);
    double curve = (double)diagonal[i] + (double)diagonal[j] - 2 * (double)ki[j];
    double step = slope / (curve > s->tau ? curve : s->tau), stop_i, stop_j;
    double most_i = space_up(s, i, &stop_i), most_j = space_down(s, j, &stop_j);
    double most = most_i < most_j ? most_i : most_j;
    if (step > most)
        step = most;
    s->b[i] = step == most_i ? stop_i : s->b[i] + step;
    s->b[j] = step == most_j ? stop_j : s->b[j] - step;
    set_slopes(s, i);
    set_slopes(s, j);
    return step;
}

int64_t SYMBOL(mcr_smo_run_)(mcr_smo_block *s)
{
    const real *ki = s->k, *kj = s->k;
    real step = 0;
    int64_t places = (s->members + MCR_SMO_PAD - 1) / MCR_SMO_PAD * MCR_SMO_PAD;
    for (int t = 0; t < s->groups; t++)
        for (int64_t m = 0; m < places; m++) {
            ((real *)s->up[t])[m] = (real)INFINITY;
            ((real *)s->down[t])[m] = (real)-INFINITY;
        }
    for (int64_t m = 0; m < s->members; m++)
        set_slopes(s, m);
    for (int64_t steps = 0;; steps++) {
        extreme worst = {0, 0, -1};
        int group = 0;
        for (int t = 0; t < s->groups; t++) {
            extreme e = advance(s, t, t == 0 && steps > 0, ki, kj, step);
            if (worst.at < 0 || e.high - e.low > worst.high - worst.low) {
                worst = e;
                group = t;
            }
        }
        if (!((double)worst.high - (double)worst.low > s->tolerance) || steps >= s->most_steps)
            return steps;
        int64_t i = worst.at, j = partner(s, group, i, worst.low);
        if (j < 0)
            return steps;
        const real *g = s->g, *down = s->down[group];
        step = (real)move(s, i, j, (double)(g[j] + down[j]) - (double)worst.low);
        ki = row_of(s, i);
        kj = row_of(s, j);
    }
}
