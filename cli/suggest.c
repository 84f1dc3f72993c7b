/* suggest.c: suggests the closest valid word for an invalid one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suggest.h"

#include <mercer/text.h>

void cli_suggest(cli_suggestion *s, const char *candidate)
{
    int distance = mcr_word_distance(s->word, candidate);
    if (distance >= 0 && (!s->nearest || distance < s->distance)) {
        s->nearest = candidate;
        s->distance = distance;
    }
}
