/* nearest.c: the word that was probably meant.
 *
 * Edit distance with insertion, deletion, substitution and swap of neighbours (optimal string
 * alignment), three rolling rows. Case is ignored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/context.h"

#include <string.h>

#include <mercer/text.h>

enum { WORD_MAX = 63 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, int n, const char *b, int m)
{
    int rows[3][WORD_MAX + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= m; j++)
        above[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            int d = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                d = least(d, before[j - 2] + 1);
            row[j] = d;
        }
        int *spent = before;
        before = above;
        above = row;
        row = spent;
    }
    return above[m];
}

/* "polynomial" for "poly" and "norm" for "normalize" are far by edit distance but obvious to
 * people. */
static bool starts_alike(const char *a, int n, const char *b, int m)
{
    int common = least(n, m);
    if (common < 3)
        return false;
    for (int i = 0; i < common; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

int mcr_word_distance(const char *word, const char *name)
{
    size_t length = strlen(word), size = strlen(name);
    if (length == 0 || length > WORD_MAX || size == 0 || size > WORD_MAX)
        return -1;
    int n = (int)length, m = (int)size, longer = n > m ? n : m;
    int limit = longer < 2 ? 0 : longer < 5 ? 1 : longer < 9 ? 2 : 3;
    int d = distance(word, n, name, m);
    if (d > limit && starts_alike(word, n, name, m))
        d = limit;
    return d <= limit ? d : -1;
}

const char *mcr_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least_distance = 0;
    for (; *names != NULL; names++) {
        int d = mcr_word_distance(word, *names);
        if (d >= 0 && (best == NULL || d < least_distance)) {
            best = *names;
            least_distance = d;
        }
    }
    return best;
}
