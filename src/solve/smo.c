/* smo.c: large quadratic programs by working sets.
 *
 * Each round takes a working set of some hundred coefficients (half of it kept from the round
 * before: free ones first, then the newest), solves its own problem with smo_inner.c on its block
 * of K, and then updates the gradient by whole rows of K, but only for coefficients that changed.
 * Rows and gradient are most of the work, so they use the fused passes of the Gram; a moderate
 * cache keeps rows that are used again. Coefficients that stay at a bound leave the active set when
 * that is certain to pay (rent or buy): restoring their gradient costs about as much as has been
 * spent since the last full gradient. At the end the gradient is recomputed from scratch and the
 * optimality conditions are tested on it; if they fail, the rounds continue from there.
 *
 * A small problem with a cheap K is a single working set: rows of K are computed when they are
 * first used (smo_rows.c), or all of K is given by the caller, and the inner solver does the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_impl.h"

#include <string.h>

#include "linalg/tiles.h"

enum {
    LEAST_SLOTS = 64,
    FIRST_SLOTS = 512,  /* it starts with; grows with the number of free coefficients */
    FIRST_STORED = 160, /* where all of K is there, and the start is near */
    MOST_STORED = 1024,
    FRUITLESS_ROUNDS = 3,
    WHOLE_STEPS = 50000, /* between checks of the limits when the working set is everything */
    MOST_VERIFICATIONS = 8,
    /* Steps, and so many for each object, before few objects get another method, and twice that
     * after it; steps, or so many for each object, that more of them may take. */
    FIRST_PATIENCE = 200000,
    PATIENCE_EACH = 500,
    LAST_PATIENCE = 10000000,
    LAST_EACH = 100,
    INTERIOR_OBJECTS = 1500,
    DEFAULT_CACHE = 256 << 20
};

#define INNER_SHARE  0.1  /* of the current violation: where the working set's problem stops */
#define STORED_SHARE 0.03 /* the same where all of K is there: solving more is cheap */
#define INNER_LEAST  0.5  /* of the tolerance: not below */
#define FLOAT_SLOPES 1e-5 /* of the largest: what differences of floats still mean */
#define FLOAT_END    1e-7 /* of the largest: below that steps with floats never end */
#define TOO_ROUGH    0.5  /* of the tolerance: rounding from which on doubles are needed */
#define FLOAT_NOISE  4.0  /* times the rounding: a violation that may be nothing else */
#define CLOSING      2.0  /* a value of the certificate, in double, takes so many times as long */
/* Everything is the working set: up to so many objects, fewer the more a kernel value costs; but
 * where values are slow all of K is computed at once, and the symmetric ones not at all. Memory
 * that was never touched costs more than what is computed into it, so the limits are low, and lower
 * for a problem alone: all workers compute the rows of working sets, and do not keep them. */
#define WHOLE_OBJECTS 2560
#define WHOLE_ALONE   1280
#define MANY_FREE     0.33 /* a share of the coefficients that makes it everything after all */
#define WHOLE_TRIAL   640  /* of a K that is there: beyond, a part of it in the caches is faster */
#define WHOLE_FREE    0.2  /* unless so large a share of the coefficients is free */
#define WHOLE_WORK    (52.0 * WHOLE_OBJECTS)

/* ---- opening and closing ----------------------------------------------------------------------*/

static void close_precision(mcr_smo *s)
{
    mcr_smo_close_rows(s);
    mcr_cache_close(s->cache);
    mcr_budget_give(s->ctx, s->taken);
    s->taken = 0;
    mcr_smo_free_block(s);
    mcr_free_all(s->ctx, s->fresh, s->block.g);
    s->cache = NULL;
    s->k = s->fresh = NULL;
    s->block.g = NULL;
}

/* All of K, once. The null object and the padding have zeros. */
static mcr_status fill_whole(mcr_smo *s)
{
    int64_t n = s->n, ld = s->block.ld;
    if (s->given && !s->precise && (s->trial || !s->p->no_sum)) {
        s->block.k = s->given;
        s->block.ld = s->given_ld;
        return MCR_OK;
    }
    mcr_status st = mcr_budget_take(s->ctx, (size_t)(s->places * ld) * s->real,
                                    "the kernel matrix");
    if (st)
        return st;
    s->taken = (size_t)(s->places * ld) * s->real;
    if (!mcr_gram_is_slow(s->full)) /* of slow values no symmetric one should be computed twice */
        return mcr_smo_open_rows(s);
    if (!(s->k = mcr_alloc(s->ctx, (uint64_t)(s->places * ld), s->real)))
        return MCR_NO_MEMORY;
    s->block.k = s->k;
    st = mcr_gram_matrix_quietly(s->full, s->k, ld, s->precise);
    for (int64_t i = 0; i < n && !st; i++)
        memset(s->k + (size_t)(i * ld + n) * s->real, 0, (size_t)(ld - n) * s->real);
    if (!st)
        memset(s->k + (size_t)(n * ld) * s->real, 0, (size_t)((s->places - n) * ld) * s->real);
    s->result->rows += n;
    return st;
}

mcr_status mcr_smo_open_precision(mcr_smo *s, bool precise)
{
    close_precision(s);
    s->precise = precise;
    s->real = precise ? sizeof(double) : sizeof(float);
    s->run = mcr_smo_inner(mcr_tiles_best()->name, precise);
    mcr_smo_lay_out(s);
    size_t places = (size_t)s->most_slots + 2 * MCR_SMO_PAD;
    size_t second = s->groups == 2 ? places : 0;
    if (!mcr_alloc_arrays(
            s->ctx, {&s->block.g, places, s->real, false}, /* the block to free */
            {&s->block.diagonal, places, s->real, false}, {&s->block.up[0], places, s->real, false},
            {&s->block.down[0], places, s->real, false}, {&s->block.up[1], second, s->real, false},
            {&s->block.down[1], second, s->real, false}))
        return MCR_NO_MEMORY;
    if (s->whole) {
        for (int64_t m = 0; m < s->slots; m++)
            s->member[m] = m;
        return fill_whole(s);
    }
    /* What it may grow to is taken from the budget at once: later it might be gone. */
    s->taken = mcr_smo_block_bytes(s, s->most_slots);
    mcr_status st = mcr_budget_take(s->ctx, s->taken, "the working set");
    if (st) {
        s->taken = 0;
        return st;
    }
    if ((st = mcr_smo_open_block(s)))
        return st;
    for (int64_t m = 0; m < s->slots; m++)
        s->member[m] = -1;
    if (s->stored)
        return MCR_OK;
    st = mcr_gram_prepare(s->full, precise);
    size_t bytes = s->p->cache_bytes ? s->p->cache_bytes : DEFAULT_CACHE;
    return st ? st : mcr_cache_open(&s->cache, s->full, bytes, precise);
}

static void close_solver(mcr_smo *s)
{
    mcr_smo_free_rests(s);
    close_precision(s);
    if (s->gram != s->full)
        mcr_gram_close(s->gram);
    mcr_free(s->ctx, s->arrays);
}

/* All of K in double (should it be needed) must fit. */
static bool fits_budget(mcr *ctx, int64_t n)
{
    double bytes = sizeof(double) * ((double)n + 2 * MCR_ROW_PAD) * ((double)n + 2 * MCR_ROW_PAD);
    return bytes < 0.5 * (double)mcr_budget_left(ctx);
}

bool mcr_qp_makes_rows(const mcr_gram *gram, int64_t n, bool rather_whole)
{
    return n <= (rather_whole ? WHOLE_OBJECTS : WHOLE_ALONE) &&
           (double)n * mcr_gram_work(gram) <= WHOLE_WORK && !mcr_gram_is_slow(gram);
}

/* Whether the working set is everything. A trial from nothing takes few steps for each row of K
 * that it needs: cutting the rows to a set would take longer than the steps. */
static bool is_whole(const mcr_smo *s)
{
    const mcr_qp *p = s->p;
    int64_t is_free = 0;
    for (int64_t v = 0; v < p->n && s->trial; v++)
        is_free += s->b[v] > p->lo[v] && s->b[v] < p->hi[v] && s->b[v] != 0;
    if (s->trial)
        return p->n <= WHOLE_TRIAL || !p->from || (double)is_free > WHOLE_FREE * (double)p->n;
    return fits_budget(s->ctx, p->n) &&
           (s->given || mcr_qp_makes_rows(s->full, p->n, p->rather_whole) ||
            (p->n <= WHOLE_OBJECTS && mcr_gram_is_slow(s->full)));
}

static mcr_status open_solver(mcr_smo *s, mcr_gram *gram, const mcr_qp *p, double *b,
                              mcr_qp_result *result)
{
    *s = (mcr_smo){
        .ctx = mcr_gram_context(gram), .p = p, .n = p->n, .b = b, .full = gram, .gram = gram};
    s->given = mcr_gram_values(gram, &s->given_ld);
    s->trial = mcr_gram_is_float(gram);
    s->result = result;
    s->groups = p->group ? 2 : 1;
    s->began = s->reported = mcr_now();
    s->whole = is_whole(s);
    s->stored = s->trial && !s->whole;
    int64_t most = s->stored ? MOST_STORED : MCR_SMO_MOST_SLOTS;
    s->slots = s->whole || p->n < most ? p->n : most;
    /* Its block of K and that of new members take a quarter of the budget at most. That of a trial
     * is smaller, and must not depend on what other trials take at the same time. */
    while (!s->whole && !s->stored && s->slots > LEAST_SLOTS &&
           4 * 2 * sizeof(double) * (double)s->slots * (double)s->slots >
               (double)mcr_budget_left(s->ctx))
        s->slots /= 2;
    int64_t first = s->stored && p->from ? FIRST_STORED : FIRST_SLOTS;
    s->wanted = s->slots < first ? s->slots : first;
    s->most_slots = s->slots;
    if (!s->whole && !s->stored)
        s->slots = s->wanted; /* the more memory is touched, the longer it takes */
    s->may_be_whole = !s->whole && !s->stored && fits_budget(s->ctx, p->n) &&
                      mcr_qp_makes_rows(s->full, p->n, true);
    size_t n = (size_t)p->n, q = s->may_be_whole ? n : (size_t)s->most_slots;
    size_t places = q + 2 * MCR_SMO_PAD;
    size_t list = n > q ? n : q;
    s->arrays = mcr_alloc_arrays(
        s->ctx, MCR_ARRAY(s->act, n), MCR_CLEARED(s->g, n + MCR_ROW_PAD), MCR_CLEARED(s->in, n),
        MCR_CLEARED(s->idle, n), MCR_ARRAY(s->member, q), MCR_CLEARED(s->age, q),
        MCR_ARRAY(s->slot_group, places), MCR_ARRAY(s->candidate, list),
        MCR_ARRAY(s->violator[0], n + 1), MCR_ARRAY(s->violator[1], n + 1),
        MCR_ARRAY(s->slot_list, q), MCR_ARRAY(s->object_list, list), MCR_ARRAY(s->new_slot, q),
        MCR_ARRAY(s->new_object, q), MCR_CLEARED(s->there, q + 1), MCR_CLEARED(s->made, q),
        MCR_CLEARED(s->error, n), MCR_ARRAY(s->slot_b, places), MCR_ARRAY(s->before, places),
        MCR_ARRAY(s->slot_lo, places), MCR_ARRAY(s->slot_hi, places), MCR_ARRAY(s->diagonal, n),
        MCR_ARRAY(s->coef, list));
    if (!s->arrays)
        return MCR_NO_MEMORY;
    if (s->trial)
        s->error = NULL;
    return mcr_gram_diagonal(s->full, 0, s->diagonal);
}

/* ---- the rounds -------------------------------------------------------------------------------*/

/* The likely effect of errors of kernel values on the gradient, if they add up like a random walk
 * over the coefficients; *objective (NULL: not wanted): on the objective. This estimate only steers
 * the rounds; the certificate does not depend on it. */
static double rounding_of(const mcr_smo *s, const double *b, int64_t n, double *objective)
{
    double squares = 0, most = 0, unit = s->precise ? 1e-16 : 1e-7;
    for (int64_t v = 0; v < n; v++)
        most = fabs(b[v]) > most ? fabs(b[v]) : most;
    for (int64_t v = 0; v < n && most > 0; v++)
        squares += (b[v] / most) * (b[v] / most);
    if (objective)
        *objective = unit * squares * most * (most * s->largest);
    return unit * sqrt(squares) * (most * s->largest);
}

static double rounding(const mcr_smo *s, double *objective)
{
    return rounding_of(s, s->b, s->n, objective);
}

bool mcr_smo_is_rough(const mcr_smo *s, const double *b, int64_t n)
{
    return rounding_of(s, b, n, NULL) >= TOO_ROUGH * s->p->tolerance;
}

/* What the violation must be for the optimality conditions to hold in spite of rounding, the
 * largest of many errors. With floats half of the tolerance at least: where that is not enough,
 * doubles are taken; with them rounding is the limit. */
static double goal(const mcr_smo *s)
{
    double tolerance = s->p->tolerance;
    double error = rounding(s, NULL);
    return s->precise ? fmax(tolerance, error) : fmax(tolerance - 4 * error, 0.5 * tolerance);
}

static double objective(const mcr_smo *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        double b = s->b[v];
        sum += b * (0.5 * s->g[i] - s->p->z[v]) + s->p->epsilon * fabs(b);
    }
    return sum;
}

/* *large: values whose products float cannot hold (or which are too small for it). */
static mcr_status look_at_diagonal(mcr_smo *s, bool *large)
{
    s->largest = 0;
    for (int64_t v = 0; v < s->n; v++) {
        if (!isfinite(s->diagonal[v]))
            return mcr_fail(s->ctx, MCR_NUMERIC,
                            "the kernel of object %lld with itself is not a finite number: scale "
                            "the data, or use smaller parameters",
                            (long long)v + 1);
        if (fabs(s->diagonal[v]) > s->largest)
            s->largest = fabs(s->diagonal[v]);
    }
    *large = s->largest > 1e18 || s->largest < 1e-18;
    return MCR_OK;
}

double mcr_smo_closing_time(const mcr_smo *s)
{
    double support = 0, n = (double)s->n;
    for (int64_t v = 0; v < s->n; v++)
        support += s->b[v] != 0;
    return CLOSING * s->pace * support * n;
}

/* A limit or the user; MCR_STOP_OPTIMAL: none. */
static mcr_stop look_at_limits(mcr_smo *s, double violation)
{
    double now = mcr_now(), round = s->looked > 0 ? now - s->looked : 0;
    s->looked = now;
    if (s->p->most_steps && s->result->steps >= s->p->most_steps)
        return MCR_STOP_STEPS;
    /* The next round will take about as long as the one before, and half of its members are new. */
    double more = s->whole ? 0 : CLOSING * s->pace * 0.5 * (double)s->slots * (double)s->n;
    if (s->p->seconds > 0 &&
        now - s->began + round + mcr_smo_closing_time(s) + more > s->p->seconds)
        return MCR_STOP_TIME;
    if (s->interrupted)
        return MCR_STOP_INTERRUPTED;
    if (s->result->steps >= s->patience)
        return MCR_STOP_STUCK;
    if (!s->p->phase || now - s->reported < 0.05)
        return MCR_STOP_OPTIMAL;
    s->reported = now;
    mcr_progress at = {
        .size = sizeof at,
        .phase = s->p->phase,
        .fraction = NAN,
        .seconds = now - s->began,
        .step = s->result->steps,
        .objective = objective(s),
        .violation = violation,
        .active = s->active,
        .total = s->n,
    };
    s->interrupted = mcr_report(s->ctx, &at) != 0;
    return s->interrupted ? MCR_STOP_INTERRUPTED : MCR_STOP_OPTIMAL;
}

bool mcr_smo_is_over(mcr_smo *s)
{
    mcr_stop stop = look_at_limits(s, s->result->violation);
    return stop == MCR_STOP_TIME || stop == MCR_STOP_INTERRUPTED;
}

/* Where the working set is everything: the inner solver alone, with checks of the limits, until the
 * running gradient satisfies the conditions, or a limit. */
static mcr_status whole_rounds(mcr_smo *s, mcr_stop *stop)
{
    mcr_status st = MCR_OK;
    if (!s->trend.on) /* else they go on */
        s->trend = (mcr_smo_trend){.on = true, .before = objective(s)};
    *stop = MCR_STOP_OPTIMAL;
    while (!st && s->trend.on) {
        double violation = mcr_smo_look(s);
        s->trend.on = violation > goal(s) && !(*stop = look_at_limits(s, violation));
        if (!s->trend.on || (st = mcr_smo_offer(s)))
            break;
        int64_t most = WHOLE_STEPS, left = s->p->most_steps - s->result->steps;
        if (s->p->most_steps && left < most)
            most = left;
        s->result->rounds++;
        int64_t steps = mcr_smo_solve_block(s, INNER_LEAST * s->p->tolerance, most);
        if ((st = s->row_status))
            break;
        for (int64_t v = 0; v < s->n; v++) {
            double g = s->precise ? ((const double *)s->block.g)[v]
                                  : (double)((const float *)s->block.g)[v];
            s->b[v] = s->slot_b[v];
            s->g[v] = g + s->p->z[v] + s->middle[mcr_smo_group(s, v)];
        }
        if (steps < most) { /* at its end: what it says about itself a fresh gradient will settle */
            *stop = steps == 0 ? MCR_STOP_STUCK : MCR_STOP_OPTIMAL;
            break;
        }
        /* So many steps that their accumulated rounding error may be large. */
        st = mcr_smo_fresh_gradient(s);
        double now = objective(s), noise;
        rounding(s, &noise);
        s->trend.on = now < s->trend.before - noise;
        if (!st && !s->trend.on)
            *stop = MCR_STOP_STUCK;
        s->trend.before = now;
    }
    s->trend.on = false;
    return st;
}

/* If many coefficients are free, working sets would compute their rows again and again. */
static bool becomes_whole(const mcr_smo *s)
{
    return s->may_be_whole && (double)mcr_smo_count_free(s) > MANY_FREE * (double)s->n;
}

static mcr_status become_whole(mcr_smo *s)
{
    mcr_status st = s->rests ? mcr_smo_unshrink(s) : MCR_OK;
    if (st)
        return st;
    mcr_smo_take_whole(s);
    return mcr_smo_open_precision(s, s->precise);
}

/* Counts rounds that gained nothing, and long ones (as many steps as are allowed) that gained no
 * more than rounding. Whether there are too many: the tolerance is below the resolution of these
 * numbers. */
static bool gains_nothing(mcr_smo *s, bool is_long, double change)
{
    mcr_smo_trend *trend = &s->trend;
    double least = 0;
    if (is_long)
        rounding(s, &least);
    trend->sum += change;
    trend->fruitless = trend->sum < trend->lowest - least ? 0 : trend->fruitless + 1;
    trend->lowest = fmin(trend->sum, trend->lowest);
    return trend->fruitless == FRUITLESS_ROUNDS;
}

/* A working set, its inner problem, and the gradient of all objects; `was` is space for the set of
 * the round before. *stop becomes MCR_STOP_STUCK if the round gained nothing. */
static mcr_status one_round(mcr_smo *s, double violation, double noise, mcr_smo_candidate *was,
                            mcr_stop *stop)
{
    s->result->rounds++;
    mcr_status st = mcr_smo_resize_set(s);
    if (st)
        return st;
    int64_t added = mcr_smo_renew_set(s, was), changed = 0;
    if ((st = mcr_smo_fill_block(s, added)))
        return st;
    int64_t most = 100 * s->most_slots + 100000, left = s->p->most_steps - s->result->steps;
    if (s->p->most_steps && left < most)
        most = left;
    double share = s->stored ? STORED_SHARE : INNER_SHARE;
    int64_t steps = mcr_smo_solve_block(
        s, fmax(share * violation, INNER_LEAST * fmax(s->p->tolerance, noise)), most);
    if (s->row_status)
        return s->row_status;
    double before_rows = s->work, began = mcr_now(), change;
    if ((st = mcr_smo_take_over(s, &changed, &change)))
        return st;
    if (s->work > before_rows) {
        s->row_seconds += mcr_now() - began;
        s->row_values += s->work - before_rows;
        s->pace = s->row_seconds / s->row_values;
    }
    if (gains_nothing(s, steps == most, change) || (changed == 0 && added == 0))
        *stop = MCR_STOP_STUCK;
    return MCR_OK;
}

/* Rounds until the running gradient satisfies the conditions on the whole set, or a limit; or until
 * the set becomes everything. */
static mcr_status rounds(mcr_smo *s, mcr_stop *stop)
{
    mcr_smo_candidate *was = mcr_alloc(s->ctx, (size_t)s->most_slots, sizeof *was);
    mcr_status st = was ? MCR_OK : MCR_NO_MEMORY;
    mcr_smo_trend *trend = &s->trend;
    if (!trend->on) /* else they go on */
        *trend = (mcr_smo_trend){.on = true, .before = INFINITY};
    *stop = MCR_STOP_OPTIMAL;
    while (!st && !*stop) {
        double violation = mcr_smo_look(s);
        if (violation <= (s->rests ? fmax(trend->enough, goal(s)) : goal(s))) {
            if (!s->rests || (trend->last && s->tries == 1))
                break;
            st = mcr_smo_unshrink(s);
            continue;
        }
        if ((*stop = look_at_limits(s, violation)) || (st = mcr_smo_offer(s)))
            break;
        /* Beyond the precision of floats, doubles continue. */
        double noise = s->trial || s->precise ? 0 : rounding(s, NULL);
        if (noise >= TOO_ROUGH * s->p->tolerance && violation <= FLOAT_NOISE * noise)
            break;
        /* The next round may be the last if it need not do more than is asked, and the one before
         * did about that. */
        bool last = INNER_SHARE * violation <= 2 * goal(s) &&
                    violation < 3 * INNER_SHARE * trend->before;
        trend->before = violation;
        if (!s->stored && !last && (st = mcr_smo_consider_shrinking(s, violation)))
            break;
        if (becomes_whole(s)) {
            st = become_whole(s);
            break;
        }
        st = one_round(s, violation, noise, was, stop);
    }
    trend->on = false;
    mcr_free(s->ctx, was);
    return st;
}

/* No comparison would notice what is not a number. */
static mcr_status look_at_gradient(mcr_smo *s)
{
    for (int64_t i = 0; i < s->n; i++)
        if (!isfinite(s->g[i]))
            return mcr_fail(s->ctx, MCR_NUMERIC,
                            "sums of kernel values with object %lld are not finite numbers: scale "
                            "the data, or use another kernel",
                            (long long)i + 1);
    return MCR_OK;
}

/* The gradient as the certificate needs it; *good: it satisfies the conditions. If it does not, the
 * rounds may go on with floats from an exact gradient: these add no more than the errors of what
 * still changes. One of many problems that are only compared is no more exact than the K they
 * share. */
static mcr_status verify(mcr_smo *s, bool *good)
{
    bool rough = s->given && s->p->rough && !s->precise;
    for (int64_t m = 0; m < s->slots && !s->whole; m++)
        s->member[m] = -1;
    memset(s->in, 0, (size_t)s->n);
    mcr_status st = rough ? mcr_smo_fresh_gradient(s) : mcr_smo_exact_gradient(s);
    if (!st)
        st = look_at_gradient(s);
    if (st)
        return st;
    s->result->violation = mcr_smo_look(s);
    *good = s->result->violation <= (rough ? fmin(goal(s), s->p->tolerance) : s->p->tolerance);
    return s->whole ? MCR_OK : mcr_cache_reset(s->cache, s->full);
}

/* The same of a trial. Where the set is everything its gradient was float, which loses what is
 * small beside the slopes, and the next trial would multiply that; that of working sets is double
 * all along. */
static mcr_status verify_trial(mcr_smo *s, bool *good)
{
    mcr_status st = s->whole ? mcr_smo_fresh_gradient(s) : MCR_OK;
    if (!st)
        st = look_at_gradient(s);
    if (st)
        return st;
    s->result->violation = mcr_smo_look(s);
    *good = s->result->violation <= s->p->tolerance;
    return MCR_OK;
}

static int64_t first_patience(int64_t n)
{
    return FIRST_PATIENCE + PATIENCE_EACH * n;
}

static int64_t last_patience(int64_t n)
{
    return n > LAST_PATIENCE / LAST_EACH ? LAST_EACH * n : LAST_PATIENCE;
}

/* Another method, in double, if steps make no progress; its result is kept if it is closer to the
 * optimum. *good: it is within the tolerance. */
static mcr_status try_interior(mcr_smo *s, bool *good)
{
    double *b = mcr_alloc(s->ctx, (size_t)s->n, sizeof *b), before = s->result->violation;
    bool found = false;
    mcr_status st = b ? mcr_smo_interior(s, b, &found) : MCR_NO_MEMORY;
    /* Where it has no memory, steps are all there is. */
    s->patience = s->result->steps + (found ? 2 * first_patience(s->n) : last_patience(s->n));
    for (int64_t v = 0; v < s->n && found && !st; v++) {
        double mine = s->b[v];
        s->b[v] = fmin(fmax(b[v], s->p->lo[v]), s->p->hi[v]);
        b[v] = mine;
    }
    if (found && !st)
        st = verify(s, good);
    if (found && !st && !(s->result->violation < before)) {
        memcpy(s->b, b, sizeof *b * (size_t)s->n);
        st = verify(s, good);
    }
    mcr_log(s->ctx, MCR_LOG_DEBUG, "interior point method: violation %.2e, before %.2e",
            s->result->violation, before);
    mcr_free(s->ctx, b);
    return st;
}

/* Whether the tolerance is at least this share of the largest slope: for floats. */
static bool floats_can(const mcr_qp *p, double share)
{
    double most = 0;
    for (int64_t v = 0; v < p->n; v++)
        most = fmax(most, fabs(p->z[v]));
    return p->tolerance >= share * most;
}

/* Whether to begin with doubles: values that floats cannot hold, a start (the solution of a like
 * problem) that they would only blur, or a tolerance that they cannot reach. */
static bool begins_precise(const mcr_smo *s, bool large)
{
    return large || mcr_smo_is_rough(s, s->b, s->n) || (s->whole && !floats_can(s->p, FLOAT_END));
}

static void give_result(mcr_smo *s, mcr_stop stop, double *g)
{
    mcr_qp_result *r = s->result;
    int64_t computed = 0, found = 0;
    r->stop = stop;
    memcpy(g, s->g, sizeof *g * (size_t)s->n);
    memcpy(r->low, s->low, sizeof r->low);
    memcpy(r->high, s->high, sizeof r->high);
    if (s->cache)
        mcr_cache_counts(s->cache, &computed, &found);
    r->rows += computed;
    mcr_log(s->ctx, MCR_LOG_DEBUG,
            "working sets: %lld rounds of up to %lld, %lld steps; rows: %lld computed, %lld "
            "found; %.3f s",
            (long long)r->rounds, (long long)s->wanted, (long long)r->steps, (long long)r->rows,
            (long long)found, mcr_now() - s->began);
}

/* Rounds, each followed by a check of the true gradient, until that satisfies the conditions. */
static mcr_status solve(mcr_smo *s, mcr_stop *stop)
{
    mcr_status st = MCR_OK;
    for (;; s->tries++) {
        bool good = false;
        if (!s->whole)
            st = rounds(s, stop);
        if (s->whole && !st)
            st = whole_rounds(s, stop);
        if (st)
            break;
        if (s->trial) {
            if ((st = verify_trial(s, &good)) || good || *stop || s->tries >= MOST_VERIFICATIONS) {
                *stop = good ? MCR_STOP_OPTIMAL : *stop ? *stop : MCR_STOP_STUCK;
                break;
            }
            continue;
        }
        bool too_rough = mcr_smo_is_rough(s, s->b, s->n);
        if (!s->precise &&
            (too_rough || *stop == MCR_STOP_STUCK || s->tries > MOST_VERIFICATIONS / 2))
            st = mcr_smo_open_precision(s, true);
        if (!st)
            st = verify(s, &good);
        if (!st && !good && *stop == MCR_STOP_STUCK && s->n <= INTERIOR_OBJECTS && !s->tried) {
            s->tried = true;
            st = try_interior(s, &good);
            s->tries = 1;
        }
        if (good)
            *stop = MCR_STOP_OPTIMAL;
        if (st || good)
            break;
        if ((*stop && *stop != MCR_STOP_STUCK) || s->tries >= MOST_VERIFICATIONS ||
            s->result->steps >= s->patience) {
            *stop = *stop ? *stop : MCR_STOP_STUCK;
            break;
        }
    }
    return st;
}

/* The first gradient, unless the state is that of a checkpoint. */
static mcr_status begin(mcr_smo *s, double *g, bool large)
{
    bool found;
    mcr_status st = mcr_smo_open_precision(s, !s->trial && begins_precise(s, large));
    s->tries = 1;
    s->patience = s->n <= INTERIOR_OBJECTS ? first_patience(s->n) : last_patience(s->n);
    s->result->violation = INFINITY;
    if (!st)
        st = mcr_smo_go_on(s, &found);
    if (st || found)
        return st;
    return s->p->from ? mcr_smo_known_gradient(s, g) : mcr_smo_fresh_gradient(s);
}

mcr_status mcr_qp_solve(mcr_gram *gram, const mcr_qp *p, double *b, double *g,
                        mcr_qp_result *result)
{
    mcr_smo s;
    *result = (mcr_qp_result){0};
    mcr_status st = open_solver(&s, gram, p, b, result);
    bool large = false;
    if (!st)
        st = look_at_diagonal(&s, &large);
    if (!st)
        st = begin(&s, g, large);
    bool can = !s.trial || (floats_can(p, FLOAT_SLOPES) && !large);
    mcr_stop stop = can ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    if (!st && s.done)
        stop = result->stop;
    if (!st && can && !s.done)
        st = solve(&s, &stop);
    if (!st && !s.trial && !s.done)
        st = mcr_smo_final_error(&s);
    if (stop == MCR_STOP_OPTIMAL && !s.trial && result->violation > p->tolerance)
        stop = MCR_STOP_STUCK; /* extended precision has shown more */
    if (!st)
        give_result(&s, stop, g);
    if (!st && !s.done)
        st = mcr_smo_keep_result(&s, stop);
    close_solver(&s);
    return st;
}
