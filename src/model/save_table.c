/* save_table.c: additional sections of models trained on tables: ROLE, the role of each column;
 * FILL, the substitutes for missing values and the categories of the training objects; JOIN, the
 * column by which another table was joined. Models of numbers alone have no ROLE and no FILL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/save_table.h"

/* ---- writing ----------------------------------------------------------------------------------*/

void mcr_put_roles(mcr_text *t, const mcr_model *m)
{
    const mcr_layout *l = m->layout;
    if (!l || !l->all)
        return;
    mcr_put_i64(t, l->columns);
    for (int64_t c = 0; c < l->columns; c++)
        mcr_put_u32(t, (uint32_t)l->all[c]);
    mcr_put_u32(t, l->called != NULL);
    for (int64_t c = 0; l->called && c < l->columns; c++)
        mcr_put_text(t, l->called->name[c]);
}

void mcr_put_join(mcr_text *t, const mcr_model *m)
{
    if (!m->layout || !m->layout->joined)
        return;
    mcr_put_text(t, m->layout->joined);
    mcr_put_u32(t, m->layout->beside);
}

static void put_field(mcr_text *t, const mcr_scaled_field *f)
{
    mcr_put_u32(t, f->fill != NULL);
    if (!f->fill)
        return;
    mcr_put_reals(t, f->fill, f->in);
    mcr_put_i64s(t, f->flag, f->flags);
    mcr_put_u32(t, f->column != NULL);
    for (int64_t c = 0; f->column && c < f->in; c++)
        mcr_put_text(t, f->column[c]);
}

void mcr_put_fill(mcr_text *t, const mcr_model *m)
{
    const mcr_scaling *s = m->scaling;
    bool any = s && s->knowns > 0;
    for (int64_t f = 0; s && f < s->fields; f++)
        any |= s->field[f].fill != NULL;
    if (!any)
        return;
    mcr_put_i64(t, s->fields);
    for (int64_t f = 0; f < s->fields; f++)
        put_field(t, &s->field[f]);
    mcr_put_i64(t, s->knowns);
    for (int64_t k = 0; k < s->knowns; k++) {
        const mcr_known *known = &s->known[k];
        mcr_put_text(t, known->name);
        mcr_put_i64(t, known->mode);
        mcr_put_texts(t, (const char *const *)known->words.word, known->words.count);
    }
}

/* ---- reading ----------------------------------------------------------------------------------*/

mcr_status mcr_get_roles(mcr_model *m, mcr_reader *r)
{
    int64_t columns = mcr_get_count(r, 4);
    mcr_role *role = mcr_alloc_zero(r->ctx, (size_t)columns, sizeof *role);
    if (!role)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < columns && !r->bad; i++) {
        role[i] = (mcr_role)mcr_get_u32(r);
        r->bad = r->bad || mcr_role_name(role[i]) == NULL;
    }
    bool named = mcr_get_u32(r) == 1;
    char **name = named ? mcr_get_texts(r, columns) : NULL;
    r->bad = r->bad || !m->layout || columns != m->layout->columns;
    mcr_status s = mcr_reader_end(r);
    if (!s)
        s = mcr_layout_roles(m->layout, role, (const char *const *)name);
    mcr_free_each(r->ctx, name, columns);
    mcr_free(r->ctx, role);
    return s;
}

mcr_status mcr_get_join(mcr_model *m, mcr_reader *r)
{
    char *key = mcr_get_text(r);
    bool beside = mcr_get_u32(r) == 1;
    r->bad = r->bad || !key || !m->layout || !m->layout->called;
    mcr_status s = mcr_reader_end(r);
    if (!s)
        s = mcr_layout_join(m->layout, key, beside);
    mcr_free(r->ctx, key);
    return s;
}

/* The role of the field, from the table's columns. */
static mcr_role role_of(const mcr_layout *l, const mcr_store *s)
{
    if (s->kind == MCR_DENSE && strcmp(s->name, "x") == 0)
        return MCR_NUMBER;
    for (int64_t c = 0; l->all && c < l->columns; c++) {
        char number[32];
        snprintf(number, sizeof number, "column%" PRId64, c + 1);
        const char *name = l->called && l->called->name[c][0] ? l->called->name[c] : number;
        if (strcmp(name, s->name) == 0)
            return l->all[c];
    }
    return s->kind == MCR_STRINGS ? MCR_WORDS : MCR_ROLE_NONE;
}

void mcr_model_set_roles(mcr_model *m)
{
    for (int64_t f = 0; m->layout && f < m->basis->fields; f++)
        m->basis->store[f]->role = role_of(m->layout, m->basis->store[f]);
}

static bool fill_fits(const mcr_scaled_field *f)
{
    bool fits = f->in > 0 && f->dense && f->cols == f->in + f->flags && f->flags <= f->in &&
                mcr_all_finite(f->fill, f->in);
    for (int64_t k = 0; fits && k < f->flags; k++)
        fits = f->flag[k] >= 0 && f->flag[k] < f->in && (k == 0 || f->flag[k] > f->flag[k - 1]);
    return fits;
}

static void get_field(mcr_reader *r, mcr_scaled_field *f)
{
    uint32_t fills = mcr_get_u32(r);
    if (fills != 1) {
        r->bad = r->bad || fills != 0;
        return;
    }
    f->fill = mcr_get_reals(r, &f->in);
    f->flag = mcr_get_i64s(r, &f->flags);
    bool named = mcr_get_u32(r) == 1;
    if (r->bad || !f->fill || !f->flag || !fill_fits(f)) {
        r->bad = true;
        return;
    }
    if (named)
        f->column = mcr_get_texts(r, f->in);
}

static mcr_status get_known(mcr_reader *r, mcr_scaling *to)
{
    char *name = mcr_get_text(r);
    int64_t mode = mcr_get_i64(r), words = mcr_get_count(r, 4);
    mcr_known *known = NULL;
    mcr_status s = MCR_OK;
    r->bad |= !name || mode < -1 || mode >= words;
    if (!r->bad)
        s = mcr_known_add(&known, to, name);
    for (int64_t w = 0; w < words && !r->bad && !s; w++) {
        char *word = mcr_get_text(r);
        int32_t number;
        if (!word)
            r->bad = true;
        else
            s = mcr_words_number(&known->words, r->ctx, word, strlen(word), &number);
        mcr_free(r->ctx, word);
    }
    if (known)
        known->mode = mode;
    r->bad |= known && known->words.count != words;
    mcr_free(r->ctx, name);
    return s;
}

mcr_status mcr_get_fill(mcr_model *m, mcr_reader *r)
{
    int64_t fields = mcr_get_count(r, 4);
    mcr_status s = m->scaling ? MCR_OK : mcr_scaling_open(&m->scaling, r->ctx, 0);
    if (!s && fields != m->scaling->fields)
        return mcr_reader_damaged(r, "its columns");
    for (int64_t f = 0; f < fields && !r->bad && !s; f++)
        get_field(r, &m->scaling->field[f]);
    int64_t knowns = mcr_get_count(r, 20);
    for (int64_t k = 0; k < knowns && !r->bad && !s; k++)
        s = get_known(r, m->scaling);
    return s;
}
