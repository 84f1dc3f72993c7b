/* facts.c: lists of facts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/facts.h"

#include <math.h>

#include "base/context.h"
#include "base/sized.h"

static mcr_fact *come_by(mcr_fact_cursor *c, const char *name, mcr_fact_type type)
{
    if (c->at++ != c->wanted)
        return NULL;
    c->fact = (mcr_fact){.name = name, .type = type, .group = c->group, .real = NAN};
    return &c->fact;
}

void mcr_fact_none(mcr_fact_cursor *c, const char *name)
{
    (void)come_by(c, name, MCR_FACT_NONE);
}

void mcr_fact_text(mcr_fact_cursor *c, const char *name, const char *text)
{
    mcr_fact *f = come_by(c, name, MCR_FACT_TEXT);
    if (f)
        f->text = text;
}

void mcr_fact_int(mcr_fact_cursor *c, const char *name, int64_t value)
{
    mcr_fact *f = come_by(c, name, MCR_FACT_INT);
    if (f)
        f->integer = value;
}

void mcr_fact_real(mcr_fact_cursor *c, const char *name, double value)
{
    mcr_fact *f = come_by(c, name, MCR_FACT_REAL);
    if (f)
        f->real = value;
}

void mcr_fact_flag(mcr_fact_cursor *c, const char *name, int value)
{
    mcr_fact *f = come_by(c, name, MCR_FACT_FLAG);
    if (f)
        f->integer = value != 0;
}

void mcr_fact_reals(mcr_fact_cursor *c, const char *name, const double *value, int64_t count)
{
    mcr_fact *f = come_by(c, name, MCR_FACT_REALS);
    if (f) {
        f->reals = value;
        f->count = count;
    }
}

mcr_status mcr_fact_give(mcr_fact *out, mcr *ctx, const mcr_fact_cursor *c)
{
    if (c->wanted >= 0 && c->wanted < c->at)
        return MCR_SIZED_WRITE(mcr_fact, out, ctx, &c->fact);
    return ctx ? mcr_fail(ctx, MCR_BAD_CALL, "there is no fact %lld (facts: %lld, from 0)",
                          (long long)c->wanted, (long long)c->at)
               : MCR_BAD_CALL;
}
