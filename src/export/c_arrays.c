/* c_arrays.c: the numbers of a model as static const arrays, and the code that loads a support
 * vector from them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "export/c_text.h"

/* ---- support vectors --------------------------------------------------------------------------*/

static mcr_status put_dense(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    int64_t count = p->basis * p->width;
    if (!w->int8.q) {
        mcr_c_reals(w, "vectors", p->vector, count);
        return w->status;
    }
    int64_t *q = mcr_alloc(w->ctx, (size_t)count + 1, sizeof *q);
    if (!q)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < count; i++)
        q[i] = w->int8.q[i];
    mcr_c_ints(w, "signed char", "vectors", q, count);
    mcr_c_reals(w, "middle", w->int8.middle, p->width);
    mcr_c_reals(w, "step", w->int8.step, p->width);
    mcr_free(w->ctx, q);
    return w->status;
}

/* Nonzero entries, by row. */
static mcr_status put_sparse(mcr_c_writer *w, int64_t entries)
{
    const mcr_portable *p = w->p;
    int64_t *start = mcr_alloc(w->ctx, (size_t)p->basis + 1, sizeof *start), at = 0;
    int64_t *column = mcr_alloc(w->ctx, (size_t)entries + 1, sizeof *column);
    double *value = mcr_alloc(w->ctx, (size_t)entries + 1, sizeof *value);
    mcr_status s = start && column && value ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->basis && !s; i++) {
        start[i] = at;
        for (int64_t k = 0; k < p->width; k++)
            if (p->vector[i * p->width + k] != 0) {
                column[at] = k;
                value[at++] = p->vector[i * p->width + k];
            }
    }
    if (!s) {
        start[p->basis] = at;
        mcr_c_reals(w, "vectors", value, entries);
        mcr_c_ints(w, "@_place", "column", column, entries);
        mcr_c_ints(w, "long", "start", start, p->basis + 1);
    }
    mcr_free_all(w->ctx, start, column, value);
    return s ? s : w->status;
}

static mcr_status put_vectors(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    int64_t entries = 0;
    if (p->parts == 0)
        return MCR_OK;
    for (int64_t i = 0; i < p->basis * p->width; i++)
        entries += p->vector[i] != 0;
    w->sparse = !w->int8.q && p->width >= 16 && entries < p->basis * p->width / 3;
    return w->sparse ? put_sparse(w, entries) : put_dense(w);
}

static mcr_status put_strings(mcr_c_writer *w, int64_t string)
{
    const mcr_field *f = &mcr_portable_text(w->p, string)->field;
    char name[32];
    int64_t all = 0, at = 0;
    for (int64_t i = 0; i < f->count; i++)
        all += f->store->start[mcr_field_at(f, i) + 1] - f->store->start[mcr_field_at(f, i)];
    int64_t *start = mcr_alloc(w->ctx, (size_t)f->count + 1, sizeof *start);
    int64_t *letter = mcr_alloc(w->ctx, (size_t)all + 1, sizeof *letter);
    mcr_status s = start && letter ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < f->count && !s; i++) {
        int64_t r = mcr_field_at(f, i);
        start[i] = at;
        for (int64_t b = f->store->start[r]; b < f->store->start[r + 1]; b++)
            letter[at++] = (unsigned char)f->store->bytes[b];
    }
    if (!s) {
        start[f->count] = at;
        snprintf(name, sizeof name, "letters%lld", (long long)string);
        mcr_c_ints(w, "unsigned char", name, letter, all);
        snprintf(name, sizeof name, "begin%lld", (long long)string);
        mcr_c_ints(w, "long", name, start, f->count + 1);
    }
    mcr_free_all(w->ctx, start, letter);
    return s ? s : w->status;
}

/* ---- loading one ------------------------------------------------------------------------------*/

static void put_load_vector(mcr_c_writer *w)
{
    if (w->sparse)
        mcr_c_put(w, "    for (@_index k = 0; k < $_WIDTH; k++)\n"
                     "        to->v[k] = 0;\n"
                     "    for (long e = (long)$_READ_LONG(@_start + i); e < "
                     "(long)$_READ_LONG(@_start + i + 1); e++)\n"
                     "        to->v[$_READ_PLACE(@_column + e)] = $_READ(@_vectors + e);\n"
                     "    z->v = to->v;\n");
    else if (w->int8.q)
        mcr_c_put(w, "    for (@_index k = 0; k < $_WIDTH; k++)\n"
                     "        to->v[k] = $_READ(@_middle + k)\n"
                     "                   + $_READ(@_step + k) * (@_real)(signed "
                     "char)$_READ_BYTE(@_vectors + (long)i * $_WIDTH + k);\n"
                     "    z->v = to->v;\n");
    else
        mcr_c_put(w, "#ifdef __AVR__\n"
                     "    for (@_index k = 0; k < $_WIDTH; k++)\n"
                     "        to->v[k] = $_READ(@_vectors + (long)i * $_WIDTH + k);\n"
                     "    z->v = to->v;\n"
                     "#else\n"
                     "    z->v = @_vectors + (long)i * $_WIDTH;\n"
                     "#endif\n");
}

static void put_load(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    mcr_c_put(w, "typedef struct @_buffer {\n");
    if (p->parts > 0)
        mcr_c_put(w, "    @_real v[$_WIDTH];\n");
    if (w->owns > 0)
        mcr_c_put(w, "    @_real own[%lld];\n", (long long)w->owns);
    for (int64_t t = 0; t < p->strings; t++)
        mcr_c_put(w, "#ifdef __AVR__\n    unsigned char text%lld[%lld];\n#endif\n", (long long)t,
                  (long long)mcr_portable_longest(p, t) + 1);
    mcr_c_put(w,
              "    char unused;\n} @_buffer;\n\n"
              "/* %s number i. */\n"
              "static void @_load(@_index i, @_object *z, @_buffer *to)\n{\n"
              "    to->unused = 0;\n",
              p->weights ? "Weight vector" : "Support vector");
    if (p->parts > 0)
        put_load_vector(w);
    if (w->owns > 0)
        mcr_c_put(w,
                  "    for (@_index k = 0; k < %lld; k++)\n"
                  "        to->own[k] = $_READ(@_own + (long)i * %lld + k);\n"
                  "    z->own = to->own;\n",
                  (long long)w->owns, (long long)w->owns);
    for (int64_t t = 0; t < p->strings; t++)
        mcr_c_put(w,
                  "    z->text%lld = @_letters%lld + $_READ_LONG(@_begin%lld + i);\n"
                  "    z->length%lld = (long)($_READ_LONG(@_begin%lld + i + 1) - "
                  "$_READ_LONG(@_begin%lld + i));\n"
                  "#ifdef __AVR__\n"
                  "    for (long k = 0; k < z->length%lld; k++)\n"
                  "        to->text%lld[k] = pgm_read_byte(z->text%lld + k);\n"
                  "    z->text%lld = to->text%lld;\n"
                  "#endif\n",
                  (long long)t, (long long)t, (long long)t, (long long)t, (long long)t,
                  (long long)t, (long long)t, (long long)t, (long long)t, (long long)t,
                  (long long)t);
    mcr_c_put(w, "}\n\n");
}

/* ---- coefficients, scaling --------------------------------------------------------------------*/

/* Segments, by row: coef[i][t] of the objects, and the outputs they belong to. */
static mcr_status put_segments(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    int64_t outputs = 0, coefs = 0, at = 0, to = 0;
    for (int64_t g = 0; g < p->segments; g++) {
        outputs += p->segment[g].outputs;
        coefs += p->segment[g].outputs * p->segment[g].count;
    }
    int64_t *table = mcr_alloc(w->ctx, (size_t)p->segments + 1, 4 * sizeof *table);
    int64_t *output = mcr_alloc(w->ctx, (size_t)outputs + 1, sizeof *output);
    double *coef = mcr_alloc(w->ctx, (size_t)coefs + 1, sizeof *coef);
    mcr_status s = table && output && coef ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t g = 0; g < p->segments && !s; g++) {
        const mcr_segment *seg = &p->segment[g];
        const int64_t row[4] = {seg->first, seg->first + seg->count, to, to + seg->outputs};
        memcpy(table + 4 * g, row, sizeof row);
        for (int64_t t = 0; t < seg->outputs; t++)
            output[to++] = seg->output[t];
        for (int64_t i = 0; i < seg->count; i++)
            for (int64_t t = 0; t < seg->outputs; t++)
                coef[at++] = seg->coef[t * seg->count + i];
    }
    if (!s && coefs > 0 && p->finish != MCR_FINISH_KNN && p->finish != MCR_FINISH_VOTED) {
        mcr_c_reals(w, "coef", coef, coefs);
        mcr_c_put(w, "/* Segments: first support vector, end, first of @_output, end. */\n");
        mcr_c_ints(w, "@_index", "segment", table, 4 * p->segments);
        mcr_c_ints(w, "@_index", "output", output, outputs);
    }
    mcr_free_all(w->ctx, table, output, coef);
    return s ? s : w->status;
}

static void put_maps(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    char name[32];
    for (int64_t f = 0; f < p->ports; f++) {
        if (!p->port[f].scaling)
            continue;
        snprintf(name, sizeof name, "shift%lld", (long long)f);
        mcr_c_reals(w, name, p->port[f].scaling->shift, p->port[f].cols);
        snprintf(name, sizeof name, "factor%lld", (long long)f);
        mcr_c_reals(w, name, p->port[f].scaling->factor, p->port[f].cols);
    }
    for (int64_t q = 0; q < p->parts; q++) {
        int64_t cols = p->port[p->part[q].port].cols;
        snprintf(name, sizeof name, "matrix%lld", (long long)q);
        if (p->part[q].map == MCR_PART_PROJECT)
            mcr_c_reals(w, name, p->part[q].matrix, cols * p->part[q].count);
        snprintf(name, sizeof name, "period%lld", (long long)q);
        if (p->part[q].map == MCR_PART_CIRCLE)
            mcr_c_reals(w, name, p->part[q].period, cols);
    }
}

mcr_status mcr_c_arrays(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    double *own = NULL;
    mcr_status s = MCR_OK;
    put_maps(w);
    if (p->basis > 0) {
        s = put_vectors(w);
        for (int64_t t = 0; t < p->strings && !s; t++)
            s = put_strings(w, t);
        if (!s)
            s = mcr_c_own_numbers(&own, w);
        if (!s && own)
            mcr_c_reals(w, "own", own, p->basis * w->owns);
        if (!s)
            s = put_segments(w);
    }
    mcr_c_put(w, "\n");
    if (!s && p->basis > 0)
        put_load(w);
    mcr_free(w->ctx, own);
    return s ? s : w->status;
}
