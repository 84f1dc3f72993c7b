/* suggest.c: edit distance with transpositions (optimal string alignment).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suggest.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int edits(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][LONGEST + 1];
    int *old = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= m; j++)
        last[j] = j;
    for (int i = 1; i <= n; i++) {
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int d = last[j - 1] + !same(a[i - 1], b[j - 1]);
            d = least(d, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                d = least(d, old[j - 2] + 1);
            now[j] = d;
        }
        int *spare = old;
        old = last, last = now, now = spare;
    }
    return last[m];
}

void cli_suggest(cli_suggestion *s, const char *candidate)
{
    size_t n = strlen(s->word), m = strlen(candidate);
    if (n == 0 || n > LONGEST || m > LONGEST)
        return;
    int distance = edits(s->word, candidate);
    int limit = n < 3 ? 1 : n < 6 ? 2 : (int)n / 3 + 1;
    /* A beginning of three letters or more counts as near: "geo" is "geometry". */
    if (n >= 3 && strncmp(s->word, candidate, n) == 0)
        distance = 1;
    if (distance > limit || (distance >= (int)n && n > 1))
        return;
    if (!s->nearest || distance < s->distance) {
        s->nearest = candidate;
        s->distance = distance;
    }
}
