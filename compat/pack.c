/* pack.c: the objects of a problem as one sparse matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pack.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct svm_node node;

/* ---- vectors ----------------------------------------------------------------------------------*/

/* What one pass over all nodes finds. */
typedef struct survey {
    int64_t entries; /* that are not 0 */
    int low, high;   /* indices of these */
} survey;

static survey look(compat_pack *pack, const struct svm_problem *prob)
{
    survey found = {0, INT_MAX, INT_MIN};
    for (int i = 0; i < prob->l && !pack->fault; i++) {
        const node *x = prob->x[i];
        if (x == NULL)
            pack->fault = "an object is NULL";
        for (const node *at = x; at && at->index != -1; at++) {
            if (at > x && at->index <= at[-1].index)
                pack->rising = false;
            if (!isfinite(at->value))
                pack->fault = "a value is not finite";
            if (at->value == 0)
                continue;
            found.entries++;
            found.low = at->index < found.low ? at->index : found.low;
            found.high = at->index > found.high ? at->index : found.high;
        }
    }
    return found;
}

static int by_size(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool allocate(compat_pack *pack, int64_t rows, int64_t entries)
{
    pack->start = malloc(((size_t)rows + 1) * sizeof *pack->start);
    pack->index = malloc(((size_t)entries + 1) * sizeof *pack->index);
    pack->value = malloc(((size_t)entries + 1) * sizeof *pack->value);
    return pack->start && pack->index && pack->value;
}

static void fill(compat_pack *pack, const struct svm_problem *prob)
{
    int64_t at = 0;
    for (int i = 0; i < prob->l; i++) {
        pack->start[i] = at;
        for (const node *x = prob->x[i]; x->index != -1; x++)
            if (x->value != 0) {
                pack->index[at] = x->index;
                pack->value[at++] = x->value;
            }
    }
    pack->start[prob->l] = at;
}

/* Columns are indices, counted from the lowest, where they lie close enough; else their ranks. */
static bool number_columns(compat_pack *pack, survey found)
{
    int64_t width = (int64_t)found.high - found.low + 1;
    if (width <= 4 * found.entries + 65536) {
        for (int64_t t = 0; t < found.entries; t++)
            pack->index[t] = (int32_t)((int64_t)pack->index[t] - found.low);
        pack->cols = width;
        return true;
    }
    int32_t *sorted = malloc((size_t)found.entries * sizeof *sorted);
    if (sorted == NULL)
        return false;
    memcpy(sorted, pack->index, (size_t)found.entries * sizeof *sorted);
    qsort(sorted, (size_t)found.entries, sizeof *sorted, by_size);
    pack->cols = 0;
    for (int64_t t = 0; t < found.entries; t++)
        if (t == 0 || sorted[t] != sorted[pack->cols - 1])
            sorted[pack->cols++] = sorted[t];
    for (int64_t t = 0; t < found.entries; t++) {
        const int32_t *rank = bsearch(&pack->index[t], sorted, (size_t)pack->cols, sizeof *sorted,
                                      by_size);
        pack->index[t] = (int32_t)(rank - sorted);
    }
    free(sorted);
    return true;
}

/* ---- rows of a precomputed kernel -------------------------------------------------------------*/

static bool read_numbers(compat_pack *pack, const struct svm_problem *prob)
{
    pack->number = malloc(((size_t)prob->l + 1) * sizeof *pack->number);
    if (pack->number == NULL)
        return false;
    double largest = 0;
    int64_t shortest = INT_MAX;
    for (int i = 0; i < prob->l && !pack->fault; i++) {
        const node *x = prob->x[i];
        int64_t length = 0;
        for (; x && x[length].index != -1; length++)
            if (!isfinite(x[length].value))
                pack->fault = "a value is not finite";
        if (x == NULL)
            pack->fault = "an object is NULL";
        else if (length == 0 || !(x[0].value >= 0 && x[0].value < INT_MAX))
            pack->fault = "Wrong input format: sample_serial_number out of range";
        if (pack->fault)
            break;
        pack->number[i] = (int)x[0].value;
        largest = fmax(largest, pack->number[i]);
        shortest = length < shortest ? length : shortest;
    }
    if (!pack->fault && prob->l > 0 && largest >= (double)shortest)
        pack->fault = "Wrong input format: sample_serial_number out of range";
    return true;
}

/* -----------------------------------------------------------------------------------------------*/

bool compat_pack_open(compat_pack *pack, const struct svm_problem *prob, bool precomputed)
{
    *pack = (compat_pack){.rising = true, .cols = 1};
    if (precomputed)
        return read_numbers(pack, prob);
    survey found = look(pack, prob);
    if (pack->fault || !pack->rising)
        return true;
    if (!allocate(pack, prob->l, found.entries))
        return false;
    fill(pack, prob);
    return found.entries == 0 || number_columns(pack, found);
}

bool compat_pack_select(compat_pack *pack, const compat_pack *of, const int *row, int count)
{
    int64_t entries = 0;
    for (int i = 0; i < count; i++)
        entries += of->start[row[i] + 1] - of->start[row[i]];
    *pack = (compat_pack){.rising = true, .cols = of->cols};
    if (!allocate(pack, count, entries)) {
        compat_pack_close(pack);
        return false;
    }
    entries = 0;
    for (int i = 0; i < count; i++) {
        int64_t from = of->start[row[i]], size = of->start[row[i] + 1] - from;
        pack->start[i] = entries;
        memcpy(pack->index + entries, of->index + from, (size_t)size * sizeof *pack->index);
        memcpy(pack->value + entries, of->value + from, (size_t)size * sizeof *pack->value);
        entries += size;
    }
    pack->start[count] = entries;
    return true;
}

void compat_pack_close(compat_pack *pack)
{
    free(pack->start);
    free(pack->index);
    free(pack->value);
    free(pack->number);
    memset(pack, 0, sizeof *pack);
}
