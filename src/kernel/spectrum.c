/* spectrum.c: substrings of length p in common (Leslie, Eskin and Noble, 2002).
 *
 * presence: the number of different substrings of length p that both strings contain; count: the
 * inner product of how often each occurs. Strings shorter than p have no substrings: K = 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors.h"
#include "kernel/words.h"

typedef struct spectrum_params {
    int64_t p;
    int mode;
} spectrum_params;

static const mcr_param params[] = {
    {.name = "p",
     .type = MCR_INT,
     .offset = offsetof(spectrum_params, p),
     .standard = "3",
     .min = 1,
     .max = 1000000,
     .help = "length of the substrings, in bytes"},
    {.name = "mode",
     .type = MCR_CHOICE,
     .offset = offsetof(spectrum_params, mode),
     .standard = "presence",
     .choices = "presence|count",
     .help = "presence: how many different ones in common; count: product of their numbers"},
    {.name = NULL},
};

/* All substrings of length p of one side, objects numbered from `first`. */
static int64_t list_words(const mcr_field *f, int64_t p, int64_t first, mcr_word *word)
{
    int64_t count = 0;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t at = f->store->start[mcr_field_at(f, i)];
        int64_t end = f->store->start[mcr_field_at(f, i) + 1];
        for (; at + p <= end; at++) {
            if (word)
                word[count] = (mcr_word){f->store->bytes + at, (int32_t)p, (int32_t)(first + i)};
            count++;
        }
    }
    return count;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const spectrum_params *p = mcr_bound_params(bound);
    const mcr_field *x = &bound->field[0], *z = bound->same ? NULL : &bound->field[1];
    if (x->count + (z ? z->count : 0) > INT32_MAX)
        return mcr_fail(bound->ctx, MCR_BAD_DATA, "spectrum: more than %d objects", INT32_MAX);
    int64_t total = list_words(x, p->p, 0, NULL) + (z ? list_words(z, p->p, 0, NULL) : 0);
    int64_t distinct = 0;
    mcr_counts *counts = NULL;
    mcr_word *word = mcr_alloc(bound->ctx, (size_t)total, sizeof *word);
    int32_t *id = mcr_alloc(bound->ctx, (size_t)total, sizeof *id);
    mcr_status s = word && id ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        int64_t of_x = list_words(x, p->p, 0, word);
        if (z)
            list_words(z, p->p, x->count, word + of_x);
        s = mcr_words_sort(bound->ctx, word, total, id, &distinct);
    }
    if (!s)
        s = mcr_counts_open(&counts, bound);
    if (!s)
        s = mcr_counts_add(counts, word, id, total, distinct, p->mode == 0);
    mcr_free(bound->ctx, word);
    mcr_free(bound->ctx, id);
    if (s) {
        mcr_counts_close(counts);
        return s;
    }
    return mcr_counts_offer(counts, binding);
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)values;
    (void)child;
    (void)children;
    *rule = "an inner product of substring counts";
    return MCR_PSD;
}

const mcr_kernel_type mcr_kernel_spectrum = {
    .size = sizeof(mcr_kernel_type),
    .name = "spectrum",
    .summary = "substrings of length p that two strings have in common",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(spectrum_params),
    .definite = definite,
    .bind = bind,
    .block = mcr_vectors_block,
    .diagonal = mcr_vectors_diagonal,
    .has_features = 1,
};
