/* walks.c: sums over the common walks of two graphs, by conjugate gradients; see simd.h for how it
 * is compiled, and kernel/walk.c for the problem.
 *
 * Edges of one kind add S X T' to the result, where S and T are adjacency matrices of the two
 * graphs. Both products add whole rows: rows of X along S and, after a transposition, rows of the
 * sum along T. This gives A p transposed; it is transposed back once, when p - lambda A p is
 * computed. All sums are in double and have the same order for all instruction sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/walks.h"

#include "linalg/simd.h"

#if MCR_REAL_BITS == 64

/* Number of entries from `e` on with the same target node. */
INLINE int64_t count_run(const int32_t (*e)[2], const int32_t (*end)[2])
{
    int64_t count = 1;
    while (e + count < end && e[count][0] == e[0][0])
        count++;
    return count;
}

/* Adds the rows that the entries come from. size: length of a row, a multiple of MCR_WALK_PAD. */
INLINE void add_rows(double *to, const int32_t (*e)[2], int64_t count, const double *rows,
                     int64_t size)
{
    for (int64_t c = 0; c < size; c += DOUBLE_LANES) {
        vdouble sum = load_double(to + c);
        for (int64_t i = 0; i < count; i++)
            sum += load_double(rows + e[i][1] * size + c);
        store_double(to + c, sum);
    }
}

INLINE void copy(double *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i += DOUBLE_LANES)
        store_double(to + i, load_double(from + i));
}

INLINE void clear(double *to, int64_t count)
{
    for (int64_t i = 0; i < count; i += DOUBLE_LANES)
        store_double(to + i, splat_double(0));
}

/* Column i becomes the sum of the rows of p whose nodes have an edge to node i. */
static void sum_rows(const mcr_walk_job *job, const mcr_walk_steps *s)
{
    const int32_t(*a)[2] = s->a, (*end)[2] = a + s->a_count;
    const double *p = job->p + s->from->first;
    int64_t width = s->from->width, row = s->from->row, column = s->to->column;
    clear(job->sum, width * column);
    for (int64_t run; a < end; a += run) {
        const double *sum = p + a[0][1] * row;
        run = count_run(a, end);
        if (run > 1) {
            copy(job->row, sum, row);
            add_rows(job->row, a + 1, run - 1, p, row);
            sum = job->row;
        }
        for (int64_t j = 0; j < width; j++)
            job->sum[j * column + a[0][0]] = sum[j];
    }
}

/* q = p - lambda A p */
static void multiply(const mcr_walk_job *job)
{
    clear(job->product, job->turned_size);
    for (int64_t m = 0; m < job->kinds; m++) {
        const mcr_walk_steps *s = &job->steps[m];
        const int32_t(*b)[2] = s->b, (*end)[2] = b + s->b_count;
        double *to = job->product + s->to->turned;
        int64_t column = s->to->column;
        sum_rows(job, s);
        for (int64_t run; b < end; b += run) {
            run = count_run(b, end);
            add_rows(to + b[0][0] * column, b, run, job->sum, column);
        }
    }
    for (int64_t t = 0; t < job->parts; t++) {
        const mcr_walk_part *it = &job->part[t];
        for (int64_t i = 0; i < it->height; i++)
            for (int64_t j = 0; j < it->width; j++) {
                int64_t at = it->first + i * it->row + j;
                job->q[at] = job->p[at] -
                             job->lambda * job->product[it->turned + j * it->column + i];
            }
    }
}

enum { VECTORS = MCR_WALK_PAD / DOUBLE_LANES };

static double dot(const double *a, const double *b, int64_t n)
{
    vdouble sum[VECTORS] = {0};
    for (int64_t i = 0; i < n; i += MCR_WALK_PAD)
        UNROLL for (int v = 0; v < VECTORS; v++)
        {
            int64_t at = i + v * DOUBLE_LANES;
            sum[v] += load_double(a + at) * load_double(b + at);
        }
    double lane[MCR_WALK_PAD];
    memcpy(lane, sum, sizeof lane);
    for (int half = MCR_WALK_PAD / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

/* to += by * from */
static void add_multiple(double *to, double by, const double *from, int64_t n)
{
    for (int64_t i = 0; i < n; i += DOUBLE_LANES)
        store_double(to + i, load_double(to + i) + splat_double(by) * load_double(from + i));
}

/* p = r + beta p */
static void turn_direction(const mcr_walk_job *job, double beta)
{
    for (int64_t i = 0; i < job->size; i += DOUBLE_LANES)
        store_double(job->p + i,
                     load_double(job->r + i) + splat_double(beta) * load_double(job->p + i));
}

/* With residuals r, step lengths alpha and a start at 0 the value is the sum of alpha r.r, and the
 * remaining error is at most r.r / (1 - lambda radius). */
static bool solve(double *k, const mcr_walk_job *job, double radius, double accuracy)
{
    enum { STEPS = 10000 };
    double gap = 1 - job->lambda * radius;
    *k = 0;
    clear(job->p, job->size);
    clear(job->q, job->size);
    for (int64_t t = 0; t < job->parts; t++)
        for (int64_t i = 0; i < job->part[t].height; i++)
            for (int64_t j = 0; j < job->part[t].width; j++)
                job->p[job->part[t].first + i * job->part[t].row + j] = 1;
    copy(job->r, job->p, job->size);
    double rr = dot(job->r, job->r, job->size);
    for (int step = 0; step < STEPS; step++) {
        if (rr <= accuracy * gap * *k || rr == 0)
            return true;
        multiply(job);
        double alpha = rr / dot(job->p, job->q, job->size), before = rr;
        *k += alpha * rr;
        add_multiple(job->r, -alpha, job->q, job->size);
        rr = dot(job->r, job->r, job->size);
        turn_direction(job, rr / before);
    }
    return false;
}

extern const mcr_walk_kit SYMBOL(mcr_walk_kit_);
const mcr_walk_kit SYMBOL(mcr_walk_kit_) = {solve};

#else
typedef int nothing_in_float;
#endif
