/* panels.c: the support vectors of a model from a file, packed for prediction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "panels.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

typedef struct svm_node node;

/* Behind the last node, in the same block. Dense: value k of support vector i is
 * panel[(i / LANES * width + k) * LANES + i % LANES]. Sparse: column k has the entries start[k] ..
 * start[k + 1] - 1, each a support vector and its value. */
struct compat_panels {
    const struct compat_panels *self;
    int count, low, width; /* low: the index of column 0 */
    node **list;           /* SV as it was read: count */
    double *square;        /* |z|^2 of each */
    double *panel;         /* NULL: sparse */
    int64_t *start;
    double *value;
    int *row;
};

enum { LANES = 32, LINE = 64 }; /* LINE: bytes of a line of the cache */

/* With fewer values that are not 0 than one in FULL the sparse form is faster; columns must not be
 * many more than there are values. */
enum { FULL = 6, MOST_EMPTY = 4 };

/* ---- where they are ---------------------------------------------------------------------------*/

/* A field that LIBSVM leaves as it is where a model is read, and that predictions do not use, holds
 * the address. It is believed only where the nodes end at that address. */
static void set_mark(struct svm_model *m, const compat_panels *p)
{
    uintptr_t mark = (uintptr_t)p;
    m->param.cache_size = 0;
    memcpy(&m->param.cache_size, &mark, sizeof mark);
}

static uintptr_t mark_of(const struct svm_model *m)
{
    uintptr_t mark;
    memcpy(&mark, &m->param.cache_size, sizeof mark);
    return mark;
}

/* Whether the last node of x ends at the address. Looks no further. */
static bool ends_at(const node *x, uintptr_t mark)
{
    uintptr_t from = (uintptr_t)x, most = (uintptr_t)INT_MAX * sizeof *x;
    if (x == NULL || from >= mark || mark - from > most || (mark - from) % sizeof *x)
        return false;
    while (x->index != -1 && (uintptr_t)(x + 1) < mark)
        x++;
    return x->index == -1 && (uintptr_t)(x + 1) == mark;
}

const compat_panels *compat_panels_of(const struct svm_model *m)
{
    uintptr_t mark = mark_of(m);
    if (m->l < LANES || !ends_at(m->SV[m->l - 1], mark))
        return NULL;
    const compat_panels *p = (const void *)mark;
    if (p->self != p || p->count != m->l)
        return NULL;
    return memcmp(p->list, m->SV, (size_t)m->l * sizeof *m->SV) == 0 ? p : NULL;
}

void compat_panels_forget(struct svm_model *m)
{
    m->param.cache_size = 0;
}

/* ---- packing ----------------------------------------------------------------------------------*/

/* The range of indices; false: they do not rise somewhere, or a value is not finite. */
static bool survey(const struct svm_model *m, int64_t *low, int64_t *high, int64_t *entries)
{
    *low = INT_MAX;
    *high = INT_MIN;
    *entries = 0;
    for (int i = 0; i < m->l; i++)
        for (const node *z = m->SV[i]; z->index != -1; z++) {
            if ((z > m->SV[i] && z->index <= z[-1].index) || !isfinite(z->value))
                return false;
            *low = z->index < *low ? z->index : *low;
            *high = z->index > *high ? z->index : *high;
            ++*entries;
        }
    return *entries > 0;
}

static size_t panel_of(const compat_panels *p, int i)
{
    return (size_t)(i / LANES) * (size_t)p->width * LANES + (size_t)(i % LANES);
}

static void fill_dense(const compat_panels *p)
{
    for (int i = 0; i < p->count; i++) {
        double *to = p->panel + panel_of(p, i);
        for (const node *z = p->list[i]; z->index != -1; z++)
            to[(size_t)(z->index - p->low) * LANES] = z->value;
    }
}

static void fill_sparse(const compat_panels *p)
{
    for (int i = 0; i < p->count; i++)
        for (const node *z = p->list[i]; z->index != -1; z++)
            p->start[z->index - p->low + 1]++;
    for (int k = 0; k < p->width; k++)
        p->start[k + 1] += p->start[k];
    /* Each start moves to the next one's place, and back. */
    for (int i = 0; i < p->count; i++)
        for (const node *z = p->list[i]; z->index != -1; z++) {
            int64_t at = p->start[z->index - p->low]++;
            p->row[at] = i;
            p->value[at] = z->value;
        }
    for (int k = p->width; k > 0; k--)
        p->start[k] = p->start[k - 1];
    p->start[0] = 0;
}

/* The block moves: the list follows. */
static char *extend(struct svm_model *m, size_t bytes, size_t more)
{
    const char *old = (const char *)m->SV[0];
    ptrdiff_t *at = malloc((size_t)m->l * sizeof *at);
    for (int i = 0; at && i < m->l; i++)
        at[i] = (const char *)m->SV[i] - old;
    char *block = at ? realloc(m->SV[0], bytes + more) : NULL;
    for (int i = 0; block && i < m->l; i++)
        m->SV[i] = (node *)(void *)(block + at[i]);
    free(at);
    return block ? block + bytes : NULL;
}

static void *take(char **at, size_t bytes)
{
    void *taken = *at;
    *at += bytes;
    return taken;
}

void compat_panels_add(struct svm_model *m, size_t bytes)
{
    int64_t low, high, entries;
    if (m->param.kernel_type == PRECOMPUTED || m->l < LANES || !survey(m, &low, &high, &entries))
        return;
    int64_t width = high - low + 1, padded = (m->l + LANES - 1) / LANES * (int64_t)LANES;
    bool dense = width * m->l <= FULL * entries;
    if (width > MOST_EMPTY * entries || width > INT_MAX / LANES)
        return;
    size_t list = (size_t)m->l * sizeof *m->SV, square = (size_t)m->l * sizeof(double);
    size_t starts = ((size_t)width + 1) * sizeof(int64_t);
    size_t values = (size_t)(dense ? padded * width : entries) * sizeof(double);
    size_t more = sizeof(compat_panels) + list + square + LINE + values +
                  (dense ? 0 : starts + (size_t)entries * sizeof(int));
    char *at = extend(m, bytes, more);
    if (at == NULL)
        return;
    memset(at, 0, more);
    compat_panels *p = take(&at, sizeof *p);
    *p = (compat_panels){.self = p, .count = m->l, .low = (int)low, .width = (int)width};
    p->list = take(&at, list);
    p->square = take(&at, square);
    memcpy(p->list, m->SV, list);
    for (int i = 0; i < m->l; i++)
        for (const node *z = m->SV[i]; z->index != -1; z++)
            p->square[i] += z->value * z->value;
    if (dense) {
        p->panel = (void *)(at + (LINE - (uintptr_t)at % LINE));
        fill_dense(p);
    } else {
        p->start = take(&at, starts);
        p->value = take(&at, values);
        p->row = take(&at, (size_t)entries * sizeof(int));
        fill_sparse(p);
    }
    set_mark(m, p);
}

/* ---- one object -------------------------------------------------------------------------------*/

static bool takes_differences(const compat_packed *x, int kernel)
{
    return kernel == RBF && x->panels->panel && x->count == x->panels->width;
}

/* All columns, where the object has half of them or more: differences then lose no digits. */
static void spread(compat_packed *x)
{
    int width = x->panels->width;
    for (int k = width - 1, from = x->count - 1; k >= 0; k--) {
        bool has = from >= 0 && x->column[from] == k;
        x->value[k] = has ? x->value[from] : 0;
        from -= has;
        x->column[k] = k;
    }
    x->count = width;
}

void compat_packed_open(compat_packed *x, const compat_panels *panels, const node *from, int kernel)
{
    *x = (compat_packed){.panels = panels};
    if (panels == NULL || from == NULL)
        return;
    x->column = malloc((size_t)panels->width * sizeof *x->column);
    x->value = malloc((size_t)panels->width * sizeof *x->value);
    bool good = x->column && x->value;
    for (const node *at = from; good && at->index != -1; at++) {
        int64_t k = (int64_t)at->index - panels->low;
        good = isfinite(at->value) && (at == from || at->index > at[-1].index);
        x->square += at->value * at->value;
        if (k < 0 || k >= panels->width) {
            x->outside += at->value * at->value;
        } else if (good) {
            x->column[x->count] = (int)k;
            x->value[x->count++] = at->value;
        }
    }
    if (!good || !isfinite(x->square))
        compat_packed_close(x);
    else if (kernel == RBF && panels->panel && 2 * (int64_t)x->count >= panels->width)
        spread(x);
}

void compat_packed_close(compat_packed *x)
{
    free(x->column);
    free(x->value);
    x->column = NULL;
    x->value = NULL;
}

/* |x|^2 + |z|^2 - 2 x.z, or -1 where little is left of large terms. */
static void take_distances(const compat_packed *x, double *value)
{
    const double *square = x->panels->square;
    for (int i = 0; i < x->panels->count; i++) {
        double both = x->square + square[i], d = both - 2 * value[i];
        value[i] = d > 1e-4 * both ? d : -1;
    }
}

static void take_dense(const compat_packed *x, int kernel, double *value)
{
    const compat_panels *p = x->panels;
    for (int i = 0; i < p->count; i += LANES) {
        double out[LANES];
        const double *panel = p->panel + panel_of(p, i);
        if (takes_differences(x, kernel))
            compat_panel_distances(panel, x->value, x->count, x->outside, out);
        else
            compat_panel_dots(panel, x->column, x->value, x->count, out);
        int n = p->count - i < LANES ? p->count - i : LANES;
        memcpy(value + i, out, (size_t)n * sizeof *out);
    }
}

static void take_sparse(const compat_packed *x, double *value)
{
    const compat_panels *p = x->panels;
    memset(value, 0, (size_t)p->count * sizeof *value);
    for (int k = 0; k < x->count; k++)
        for (int64_t e = p->start[x->column[k]]; e < p->start[x->column[k] + 1]; e++)
            value[p->row[e]] += x->value[k] * p->value[e];
}

void compat_packed_values(const compat_packed *x, int kernel, double *value)
{
    if (x->panels->panel)
        take_dense(x, kernel, value);
    else
        take_sparse(x, value);
    if (kernel == RBF && !takes_differences(x, kernel))
        take_distances(x, value);
}
