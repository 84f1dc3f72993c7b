/* classes.c: the classes of a problem, in LIBSVM's order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classes.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A label is a whole number; what is none becomes the least. */
static int label_of(double y)
{
    return y > (double)INT_MIN - 1 && y < (double)INT_MAX + 1 ? (int)y : INT_MIN;
}

/* A table of labels by hashing: where a label stands, or the empty place where it belongs. */
static size_t find(const int *slot, size_t slots, const int *label, int wanted)
{
    size_t at = (uint32_t)wanted * 2654435761u & (slots - 1);
    while (slot[at] >= 0 && label[slot[at]] != wanted)
        at = (at + 1) & (slots - 1);
    return at;
}

/* Numbers the labels as they appear; how many there are, or -1: out of memory. */
static int number_labels(compat_classes *c, const double *y, const int *row, int n)
{
    size_t slots = 16;
    while (slots / 2 < (size_t)n)
        slots *= 2;
    int *slot = malloc(slots * sizeof *slot);
    if (slot == NULL)
        return -1;
    memset(slot, -1, slots * sizeof *slot);
    int count = 0;
    for (int i = 0; i < n; i++) {
        int label = label_of(y[row ? row[i] : i]);
        size_t at = find(slot, slots, c->label, label);
        if (slot[at] < 0) {
            slot[at] = count;
            c->label[count++] = label;
        }
        c->of[i] = slot[at];
    }
    free(slot);
    return count;
}

static void swap_two(compat_classes *c, int n)
{
    c->label[0] = 1;
    c->label[1] = -1;
    for (int i = 0; i < n; i++)
        c->of[i] = 1 - c->of[i];
}

bool compat_classes_open(compat_classes *c, const double *y, const int *row, int n)
{
    size_t most = (size_t)n + 2;
    c->label = malloc(most * sizeof *c->label);
    c->of = malloc(most * sizeof *c->of);
    c->first = calloc(most, sizeof *c->first);
    c->member = malloc(most * sizeof *c->member);
    bool done = c->label && c->of && c->first && c->member;
    if (done)
        c->count = number_labels(c, y, row, n);
    if (!done || c->count < 0) {
        compat_classes_close(c);
        return false;
    }
    if (c->count == 2 && c->label[0] == -1 && c->label[1] == 1)
        swap_two(c, n);
    /* Counting sort: first[k + 1] runs from the start of class k to its end. */
    for (int i = 0; i < n; i++)
        c->first[c->of[i] + 2]++;
    for (int k = 1; k <= c->count; k++)
        c->first[k] += c->first[k - 1];
    for (int i = 0; i < n; i++)
        c->member[c->first[c->of[i] + 1]++] = i;
    return true;
}

int compat_classes_number(const compat_classes *c, int number)
{
    return c->count == 2 ? 1 - number : number;
}

void compat_classes_close(compat_classes *c)
{
    free(c->label);
    free(c->of);
    free(c->first);
    free(c->member);
    memset(c, 0, sizeof *c);
}

/* 2 min(a, b) / (a + b) is least for the smallest and the largest class. */
static void extremes(const compat_classes *c, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int k = 0; k < c->count; k++) {
        double size = c->first[k + 1] - c->first[k];
        *least = fmin(*least, size);
        *most = fmax(*most, size);
    }
}

bool compat_classes_allow(const compat_classes *c, double nu)
{
    double least, most;
    extremes(c, &least, &most);
    return c->count < 2 || !(nu * (least + most) / 2 > least);
}

double compat_classes_most_nu(const compat_classes *c)
{
    double least, most;
    extremes(c, &least, &most);
    return c->count < 2 ? 1 : 2 * least / (least + most);
}
