/* monomials.c: polynomials by their monomials.
 *
 * Symbols are 0 for the constant (if c > 0) and then the features. A monomial is a list of `degree`
 * symbols s_1 <= s_2 <= ...; its number is the sum of choose(s_t + t - 1, t), t from 1 on: a numbering
 * without gaps. In the power it stands degree! / (product of the factorials of its exponents) times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/poly.h"

#include <math.h>

#include "base/number.h"

enum { DEGREE_MOST = 8 };

bool mcr_monomials_of(mcr_monomials *out, const mcr_kernel *kernel, int64_t features, int64_t most)
{
    if (kernel->type != &mcr_kernel_poly)
        return false;
    out->of = *(const mcr_poly_params *)kernel->params;
    out->features = features;
    if (out->of.degree > DEGREE_MOST)
        return false;
    double count = mcr_choose(features + (out->of.c > 0) + out->of.degree - 1, out->of.degree);
    out->count = count <= (double)most ? (int64_t)count : 0;
    return out->count > 0;
}

double mcr_monomials_work(const mcr_monomials *m, double nonzeros)
{
    double work = 1, symbols = nonzeros + (m->of.c > 0);
    for (int64_t t = 1; t <= m->of.degree; t++)
        work *= (symbols + (double)t - 1) / (double)t;
    return work;
}

/* One pass over the monomials of an object. */
typedef struct pass {
    const mcr_monomials *m;
    const mcr_field *f;
    int64_t row,
        entries; /* stored row; how many symbols it may have, zeros of dense rows included */
    double *add; /* weights to add to, or NULL */
    const double *weight; /* to sum with */
    double coef, sum;
} pass;

/* Symbol e of the object: its number, and its value in the object. */
static inline int64_t symbol_at(const pass *p, int64_t e, double *value)
{
    const mcr_store *s = p->f->store;
    int64_t constant = p->m->of.c > 0;
    if (e < constant) {
        *value = 1;
        return 0;
    }
    if (s->kind == MCR_SPARSE) {
        int64_t at = s->start[p->row] + e - constant;
        *value = s->value[at];
        return s->index[at] < p->m->features ? s->index[at] + constant : -1;
    }
    *value = s->dense[p->row * s->cols + e - constant];
    return e;
}

/* Monomials that begin with t symbols, whose product, number and multiplicity are given; last: the
 * entry of the last one, which stands there `run` times. */
static void visit(pass *p, int64_t t, int64_t last, int64_t run, double product, double number,
                  double times)
{
    const mcr_poly_params *of = &p->m->of;
    if (t == of->degree) {
        if (p->add)
            p->add[(int64_t)number] += p->coef * times * product;
        else
            p->sum += p->weight[(int64_t)number] * product;
        return;
    }
    for (int64_t e = last; e < p->entries; e++) {
        double value;
        int64_t symbol = symbol_at(p, e, &value), length = e == last && t > 0 ? run + 1 : 1;
        if (symbol < 0)
            return;
        if (value == 0)
            continue;
        bool constant = of->c > 0 && symbol == 0;
        visit(p, t + 1, e, length, product * value, number + mcr_choose(symbol + t, t + 1),
              times * (double)(t + 1) / (double)length * (constant ? of->c : of->scale));
    }
}

static pass open_pass(const mcr_monomials *m, const mcr_field *f, int64_t i)
{
    pass p = {.m = m, .f = f, .row = mcr_field_at(f, i)};
    const mcr_store *s = f->store;
    p.entries = (m->of.c > 0) +
                (s->kind == MCR_SPARSE ? s->start[p.row + 1] - s->start[p.row] : s->cols);
    return p;
}

void mcr_monomials_add(const mcr_monomials *m, double *weight, double coef, const mcr_field *f,
                       int64_t i)
{
    pass p = open_pass(m, f, i);
    p.add = weight;
    p.coef = coef;
    visit(&p, 0, 0, 0, 1, 0, 1);
}

double mcr_monomials_value(const mcr_monomials *m, const double *weight, const mcr_field *f,
                           int64_t i)
{
    pass p = open_pass(m, f, i);
    p.weight = weight;
    visit(&p, 0, 0, 0, 1, 0, 1);
    return p.sum;
}
