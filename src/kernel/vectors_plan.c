/* vectors_plan.c: chooses the form in which vectors are packed, from a sample of the objects.
 *
 * Decisions that can change the last bits of a value depend only on the columns: in a prediction
 * these are the model's objects, so that the value for a new object does not depend on other new
 * objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"

enum {
    SAMPLE = 512,    /* sampled objects per side */
    FEW = 64,        /* of these, for the density */
    GROUPS = 4,      /* sampled column groups */
    WIDE_COLS = 1024 /* fewer features are never wide */
};

/* Evenly spaced, the same for every run and number of threads. */
static int64_t sampled(const mcr_field *f, int64_t t, int64_t count)
{
    return (int64_t)((double)t * (double)f->count / (double)count);
}

static int64_t sample_count(const mcr_field *f)
{
    return f->count < SAMPLE ? f->count : SAMPLE;
}

static int64_t nonzeros(const mcr_vector *x)
{
    int64_t n = 0;
    for (int64_t e = 0; e < x->count; e++)
        n += mcr_vector_value(x, e) != 0;
    return n;
}

/* Mean number of nonzero features of the sampled objects of a side. */
static double mean_nonzeros(const mcr_vectors *v, int side)
{
    const mcr_field *f = &v->side[side].field;
    int64_t count = f->count < FEW ? f->count : FEW, sum = 0;
    for (int64_t t = 0; t < count; t++) {
        mcr_vector x = mcr_vectors_object(v, side, sampled(f, t, count));
        sum += nonzeros(&x);
    }
    return count ? (double)sum / (double)count : 0;
}

double mcr_vectors_work(const mcr_vectors *list)
{
    double work = 0;
    for (const mcr_vectors *v = list; v; v = v->next)
        work += v->planned ? v->nonzeros : mean_nonzeros(v, 0);
    return work;
}

bool mcr_vectors_in_panels(const mcr_vectors *list)
{
    bool panels = false; /* see are_few in vectors_rows.c */
    for (const mcr_vectors *v = list; v; v = v->next)
        panels |= (v->needs & (MCR_NEEDS_L1 | MCR_NEEDS_PAIR)) != 0;
    return panels;
}

/* The mean number of features in GROUPS of the column groups. */
static mcr_status mean_union(double *mean, const mcr_vectors *v)
{
    const mcr_field *f = &v->side[1].field;
    int64_t sum = 0;
    bool *seen = mcr_alloc_zero(v->ctx, (size_t)v->cols, sizeof *seen);
    if (!seen)
        return MCR_NO_MEMORY;
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t first = sampled(f, g, GROUPS);
        int64_t end = first + MCR_WIDE_COLUMNS < f->count ? first + MCR_WIDE_COLUMNS : f->count;
        memset(seen, 0, (size_t)v->cols * sizeof *seen);
        for (int64_t i = first; i < end; i++) {
            mcr_vector z = mcr_vectors_object(v, 1, i);
            for (int64_t e = 0; e < z.count; e++) {
                int64_t k = mcr_vector_column(&z, e);
                sum += !seen[k];
                seen[k] = true;
            }
        }
    }
    mcr_free(v->ctx, seen);
    *mean = (double)sum / GROUPS;
    return MCR_OK;
}

/* ---- the shift --------------------------------------------------------------------------------*/

static void sample_mean(const mcr_vectors *v, double *mean)
{
    const mcr_field *f = &v->side[1].field;
    int64_t count = sample_count(f);
    for (int64_t t = 0; t < count; t++) {
        mcr_vector z = mcr_vectors_object(v, 1, sampled(f, t, count));
        for (int64_t e = 0; e < z.count; e++)
            mean[mcr_vector_column(&z, e)] += mcr_vector_value(&z, e);
    }
    for (int64_t k = 0; k < v->cols && count; k++)
        mean[k] /= (double)count;
}

static double scaled(const mcr_vectors *v, int64_t k, double value)
{
    return v->scale ? value * v->scale[k] : value;
}

/* |x - m|^2, m NULL: |x|^2; m2 = |m|^2. */
static double norm_from(const mcr_vectors *v, const mcr_vector *x, const double *m, double m2)
{
    double sum = 0;
    if (x->index)
        sum = m2;
    for (int64_t e = 0; e < x->count; e++) {
        int64_t k = mcr_vector_column(x, e);
        double shift = m ? scaled(v, k, m[k]) : 0;
        double d = scaled(v, k, mcr_vector_value(x, e)) - shift;
        sum += x->index ? d * d - shift * shift : d * d;
    }
    return sum;
}

/* The k-th smallest, from 0 (Hoare's selection). */
static double select_smallest(double *a, int64_t count, int64_t k)
{
    for (int64_t left = 0, right = count - 1; left < right;) {
        double pivot = a[left + (right - left) / 2];
        int64_t i = left, j = right;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                double t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        if (k > j && k < i)
            break;
        left = k >= i ? i : left;
        right = k <= j ? j : right;
    }
    return a[k];
}

/* The median and the largest squared norm of the sample. space: SAMPLE numbers. */
static void sample_norms(const mcr_vectors *v, const double *m, double *buffer, double *median,
                         double *largest)
{
    const mcr_field *f = &v->side[1].field;
    int64_t n = sample_count(f);
    double m2 = 0;
    for (int64_t k = 0; m && k < v->cols; k++)
        m2 += scaled(v, k, m[k]) * scaled(v, k, m[k]);
    for (int64_t t = 0; t < n; t++) {
        mcr_vector z = mcr_vectors_object(v, 1, sampled(f, t, n));
        buffer[t] = norm_from(v, &z, m, m2);
    }
    *largest = 0;
    for (int64_t t = 0; t < n; t++)
        *largest = fmax(*largest, buffer[t]);
    *median = n ? select_smallest(buffer, n, n / 2) : 0;
}

/* Whether distances between objects with such norms are accurate enough in float. */
static bool norms_harmless(const mcr_vectors *v, double norm)
{
    double error = v->rounding * (double)FLT_EPSILON / 2 * 2 * norm;
    return norm == 0 || error * v->sharpness <= MCR_DISTANCE_TOLERANCE_FLOAT;
}

/* Sparse rows cannot be shifted, and dot products then need rank-one terms: so vectors are shifted
 * only if that makes most norms smaller and either costs nothing or is needed. */
static mcr_status choose_shift(mcr_vectors *v, bool dense)
{
    double *mean = mcr_alloc_zero(v->ctx, (size_t)v->cols, sizeof *mean);
    double *buffer = mcr_alloc(v->ctx, SAMPLE, sizeof *buffer);
    mcr_status s = mean && buffer ? MCR_OK : MCR_NO_MEMORY;
    bool shift = false;
    if (!s) {
        double before, after, largest, ignored;
        sample_mean(v, mean);
        sample_norms(v, NULL, buffer, &before, &largest);
        sample_norms(v, mean, buffer, &after, &ignored);
        bool helps = after <= 0.7 * before;
        bool free_of_cost = dense && !(v->needs & MCR_NEEDS_DOT);
        shift = helps && (free_of_cost || !norms_harmless(v, largest));
    }
    mcr_free(v->ctx, buffer);
    if (shift) {
        v->shift = mean;
        v->sparse_rows[0] = v->sparse_rows[1] = false;
    } else {
        mcr_free(v->ctx, mean);
    }
    return s;
}

typedef struct lift_job {
    mcr_vectors *v;
    int side;
} lift_job;

enum { LIFT_CHUNK = 256 };

static mcr_status lift_chunk(void *arg, int64_t first, int64_t end)
{
    const lift_job *job = arg;
    const mcr_vectors *v = job->v;
    for (int64_t i = first; i < end; i++) {
        mcr_vector x = mcr_vectors_object(v, job->side, i);
        double sum = 0;
        for (int64_t e = 0; e < x.count; e++) {
            int64_t k = mcr_vector_column(&x, e);
            sum += scaled(v, k, mcr_vector_value(&x, e)) * scaled(v, k, v->shift[k]);
        }
        v->side[job->side].lift[i] = sum;
    }
    return MCR_OK;
}

static mcr_status take_lifts(mcr_vectors *v)
{
    v->shift2 = 0;
    for (int64_t k = 0; k < v->cols; k++)
        v->shift2 += scaled(v, k, v->shift[k]) * scaled(v, k, v->shift[k]);
    for (int side = 0; side < 2; side++) {
        mcr_vector_side *of = &v->side[side];
        if (side == 1 && v->same) {
            of->lift = v->side[0].lift;
            break;
        }
        of->lift = mcr_alloc(v->ctx, (size_t)of->field.count, sizeof *of->lift);
        if (!of->lift)
            return MCR_NO_MEMORY;
        lift_job job = {v, side};
        mcr_status s = mcr_parallel_chunks(v->ctx, of->field.count, LIFT_CHUNK, lift_chunk, &job);
        if (s)
            return s;
    }
    return MCR_OK;
}

/* ---- the plan ---------------------------------------------------------------------------------*/

static void forget_shift(mcr_vectors *v)
{
    mcr_free_all(v->ctx, v->shift, v->side[0].lift);
    if (!v->same)
        mcr_free(v->ctx, v->side[1].lift);
    v->shift = v->side[0].lift = v->side[1].lift = NULL;
}

mcr_status mcr_vectors_plan(mcr_vectors *v)
{
    mcr_status s = MCR_OK;
    double cols = (double)v->cols, of_z = mean_nonzeros(v, 1);
    double of_x = v->same ? of_z : mean_nonzeros(v, 0);
    /* Errors of a sequential sum of n products grow like the square root of n. */
    v->rounding = 2 + 0.5 * sqrt(of_z);
    if (!mcr_vectors_dense(v, 0) && !mcr_vectors_dense(v, 1) && v->cols >= WIDE_COLS) {
        double features;
        s = mean_union(&features, v);
        v->wide = !s && 2 * features <= cols;
    }
    for (int precise = 0; precise < 2; precise++)
        v->sparse_rows[precise] = v->wide || mcr_tile_prefers_sparse(mcr_vectors_kit(precise),
                                                                     v->cols, of_x / cols);
    bool dense = !mcr_tile_prefers_sparse(mcr_vectors_kit(false), v->cols, of_z / cols);
    if (!s && !v->wide && (v->needs & (MCR_NEEDS_DISTANCE | MCR_NEEDS_L1)))
        s = choose_shift(v, dense);
    if (!s && v->shift && (v->needs & MCR_NEEDS_DOT))
        s = take_lifts(v);
    if (s)
        forget_shift(v);
    v->nonzeros = of_x;
    v->planned = !s;
    return s;
}
