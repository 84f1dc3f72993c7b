/* patterns.c: words of a fixed length as features: sorted, numbered, named.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "kernel/features.h"

typedef struct entry {
    const unsigned char *word;
    double value;
    int32_t object, width;
} entry;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = memcmp(x->word, y->word, (size_t)x->width);
    return order ? order : x->object < y->object ? -1 : x->object > y->object;
}

/* Memory per word until the features are built: its bytes, and workspace for sorting. */
static mcr_status check_budget(const mcr_patterns *p)
{
    double each = (double)p->width + 12 + sizeof(entry) + 2 * sizeof(mcr_feature);
    double bytes = each * (double)(p->count + 1);
    if (bytes <= (double)mcr_budget_left(p->bound->ctx))
        return mcr_part_done(p->bound->ctx, "features", NAN, NAN);
    return mcr_fail(p->bound->ctx, MCR_OVER_BUDGET,
                    "%s: the explicit features need more than %.1f GB, which is more than the "
                    "memory budget; use the kernel as it is",
                    p->bound->kernel->type->name, bytes / 1e9);
}

mcr_status mcr_patterns_expect(const mcr_patterns *p, double words, double steps)
{
    enum { STEPS_A_COMPARISON = 4 };
    mcr *ctx = p->bound->ctx;
    steps += words * ((double)p->width + STEPS_A_COMPARISON * log2(words + 1));
    return mcr_work_allow(ctx, steps * ctx->config.threads, "the explicit features");
}

mcr_status mcr_patterns_add(mcr_patterns *p, int64_t object, const unsigned char *word,
                            double value)
{
    mcr *ctx = p->bound->ctx;
    enum { BETWEEN = 4096 };
    mcr_status s = p->count % BETWEEN == 0 ? check_budget(p) : MCR_OK;
    if (!s)
        s = mcr_reserve(ctx, &p->bytes, &p->capacity[0], (p->count + 1) * p->width, 1);
    if (!s)
        s = mcr_reserve(ctx, &p->object, &p->capacity[1], p->count + 1, sizeof *p->object);
    if (!s)
        s = mcr_reserve(ctx, &p->value, &p->capacity[2], p->count + 1, sizeof *p->value);
    if (s)
        return s;
    memcpy(p->bytes + p->count * p->width, word, (size_t)p->width);
    p->object[p->count] = (int32_t)object;
    p->value[p->count++] = value;
    return MCR_OK;
}

static mcr_status add_name(const mcr_patterns *p, const unsigned char *word)
{
    mcr_names *names = p->bound->names;
    if (!names)
        return MCR_OK;
    p->name(names, word, p->width);
    return mcr_names_end(names);
}

/* Numbers the words and sums equal ones of an object. */
static mcr_status number(const mcr_patterns *p, const entry *sorted, mcr_feature *list,
                         int64_t *entries, int64_t *features)
{
    mcr_status s = MCR_OK;
    *entries = *features = 0;
    for (int64_t e = 0; e < p->count && !s; e++) {
        bool fresh = e == 0 || memcmp(sorted[e - 1].word, sorted[e].word, (size_t)p->width) != 0;
        if (fresh) {
            s = *features == INT32_MAX
                    ? mcr_fail(p->bound->ctx, MCR_BAD_DATA, "%s: more than %d features",
                               p->bound->kernel->type->name, INT32_MAX)
                    : add_name(p, sorted[e].word);
            ++*features;
        }
        if (!fresh && sorted[e - 1].object == sorted[e].object)
            list[*entries - 1].value += sorted[e].value;
        else
            list[(*entries)++] = (mcr_feature){sorted[e].object, (int32_t)(*features - 1),
                                               sorted[e].value};
    }
    return s;
}

mcr_status mcr_patterns_offer(const mcr_patterns *p, mcr_binding *binding)
{
    mcr *ctx = p->bound->ctx;
    int64_t entries = 0, features = 0;
    entry *sorted = mcr_alloc(ctx, (size_t)p->count, sizeof *sorted);
    mcr_feature *list = mcr_alloc(ctx, (size_t)p->count, sizeof *list);
    mcr_status s = sorted && list ? MCR_OK : MCR_NO_MEMORY;
    if (!s && binding->named)
        s = mcr_names_open(&p->bound->names, ctx);
    if (s)
        goto done;
    for (int64_t e = 0; e < p->count; e++)
        sorted[e] = (entry){p->bytes + e * p->width, p->value[e], p->object[e], (int32_t)p->width};
    if (p->count > 0)
        qsort(sorted, (size_t)p->count, sizeof *sorted, compare);
    s = number(p, sorted, list, &entries, &features);
    if (!s)
        s = mcr_features_offer(p->bound, binding, list, entries, features);
done:
    mcr_free_all(ctx, sorted, list);
    return s;
}

void mcr_patterns_free(mcr_patterns *p)
{
    mcr_free_all(p->bound->ctx, p->bytes, p->object, p->value);
    p->bytes = NULL;
    p->object = NULL;
    p->value = NULL;
}
