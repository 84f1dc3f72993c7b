/* monomials.c: polynomials by their monomials.
 *
 * Symbols are 0 for the constant (if c > 0) and then the features. A monomial is a list of `degree`
 * symbols s_1 <= s_2 <= ...; its number is the sum of choose(s_t + t - 1, t), t from 1 on: a
 * numbering without gaps. Its multiplicity in the power is degree! / (product of the factorials of
 * its exponents).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/poly.h"

#include <math.h>

#include "base/number.h"

/* For high degrees, sums of monomials lose digits, so models are not converted to them. Listing
 * features is harmless. */
enum { DEGREE_SUMMED = 8, DEGREE_MOST = 64 };

static bool find_monomials(mcr_monomials *out, const mcr_kernel *kernel, int64_t features,
                           int64_t most, int64_t degree)
{
    if (kernel->type != &mcr_kernel_poly)
        return false;
    out->of = *(const mcr_poly_params *)kernel->params;
    out->features = features;
    if (out->of.degree > degree)
        return false;
    double count = mcr_choose(features + (out->of.c > 0) + out->of.degree - 1, out->of.degree);
    out->count = count <= (double)most ? (int64_t)count : 0;
    return out->count > 0;
}

bool mcr_monomials_of(mcr_monomials *out, const mcr_kernel *kernel, int64_t features, int64_t most)
{
    return find_monomials(out, kernel, features, most, DEGREE_SUMMED);
}

bool mcr_monomials_are_few(const mcr_kernel *poly)
{
    return ((const mcr_poly_params *)poly->params)->degree <= DEGREE_SUMMED;
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
        entries;       /* stored row; upper bound of its symbols, including zeros of dense rows */
    double *add;       /* weights to add to, or NULL */
    mcr_features *out; /* values of the current object of `side`, or NULL */
    int side;
    mcr_status status;
    const double *weight; /* to sum with */
    double coef, sum;
} pass;

/* Symbol e of the object: its number, and its value in the object. */
static inline int64_t symbol_at(const pass *p, int64_t e, double *value)
{
    mcr_vector x = mcr_store_vector(p->f->store, p->row);
    int64_t constant = p->m->of.c > 0;
    if (e < constant) {
        *value = 1;
        return 0;
    }
    int64_t column = mcr_vector_column(&x, e - constant);
    *value = mcr_vector_value(&x, e - constant);
    return column < p->m->features ? column + constant : -1;
}

/* Enumerates monomials of which the first t symbols are still to be chosen, none after entry
 * `last`, which has already been chosen `run` times; product, number and multiplicity of the chosen
 * symbols are given. The last symbol is chosen first, so that numbers are ascending. */
static void visit(pass *p, int64_t t, int64_t last, int64_t run, double product, double number,
                  double times)
{
    const mcr_poly_params *of = &p->m->of;
    if (t == 0) {
        if (p->out)
            p->status = p->status ? p->status
                                  : mcr_features_put(p->out, p->side, (int64_t)number,
                                                     product * sqrt(times));
        else if (p->add)
            p->add[(int64_t)number] += p->coef * times * product;
        else
            p->sum += p->weight[(int64_t)number] * product;
        return;
    }
    for (int64_t e = 0; e <= last; e++) {
        double value;
        int64_t symbol = symbol_at(p, e, &value), length = e == last ? run + 1 : 1;
        if (symbol < 0)
            return;
        if (value == 0)
            continue;
        bool constant = of->c > 0 && symbol == 0;
        double place = t == 1 ? (double)symbol : mcr_choose(symbol + t - 1, t);
        visit(p, t - 1, e, length, product * value, number + place,
              times * (double)(of->degree - t + 1) / (double)length *
                  (constant ? of->c : of->scale));
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
    visit(&p, m->of.degree, p.entries - 1, 0, 1, 0, 1);
}

double mcr_monomials_value(const mcr_monomials *m, const double *weight, const mcr_field *f,
                           int64_t i)
{
    pass p = open_pass(m, f, i);
    p.weight = weight;
    visit(&p, m->of.degree, p.entries - 1, 0, 1, 0, 1);
    return p.sum;
}

/* ---- as explicit features ---------------------------------------------------------------------*/

/* "x1^2 * x3" from the number: its symbols are found from the last one down. */
static mcr_status name_monomial(mcr_names *names, const mcr_monomials *m, const mcr_bound *bound,
                                int64_t number)
{
    int64_t symbol[DEGREE_MOST], constant = m->of.c > 0, run = 0;
    double rest = (double)number;
    for (int64_t t = m->of.degree; t >= 1; t--) {
        int64_t low = 0, high = m->features + constant;
        while (low + 1 < high) { /* the largest s with choose(s + t - 1, t) <= rest */
            int64_t middle = low + (high - low) / 2;
            if (mcr_choose(middle + t - 1, t) <= rest)
                low = middle;
            else
                high = middle;
        }
        symbol[t - 1] = low;
        rest -= mcr_choose(low + t - 1, t);
    }
    bool any = false;
    for (int64_t t = 0; t < m->of.degree; t++) {
        run++;
        if ((constant && symbol[t] == 0) || (t + 1 < m->of.degree && symbol[t + 1] == symbol[t])) {
            run = constant && symbol[t] == 0 ? 0 : run;
            continue;
        }
        if (any)
            mcr_text_string(&names->text, " * ");
        mcr_features_column(names, bound, symbol[t] - constant);
        if (run > 1)
            mcr_text_format(&names->text, "^%lld", (long long)run);
        any = true;
        run = 0;
    }
    return mcr_names_end(names); /* the constant has an empty name */
}

/* Nonzero values of all objects; zeros of dense vectors count. */
static double count_entries(const mcr_bound *bound, const mcr_monomials *m)
{
    double entries = 0;
    for (int side = 0; side < mcr_features_sides(bound); side++)
        for (int64_t i = 0; i < bound->field[side].count; i++) {
            pass p = open_pass(m, &bound->field[side], i);
            entries += mcr_monomials_work(m, (double)(p.entries - (m->of.c > 0)));
        }
    return entries;
}

mcr_status mcr_monomials_features(const mcr_bound *bound, mcr_features *out)
{
    const mcr_store *x = bound->field[0].store, *z = bound->field[1].store;
    enum { LETTERS = 2 }; /* "x1^2 * x3": at least so many per degree, unless there is a constant */
    mcr_monomials m;
    mcr_status s = MCR_OK;
    const mcr_poly_params *of = bound->kernel->params;
    if (of->degree > DEGREE_MOST)
        return mcr_fail(bound->ctx, MCR_BAD_CALL,
                        "poly: monomials are listed up to degree %d, not %lld", DEGREE_MOST,
                        (long long)of->degree);
    if (!find_monomials(&m, bound->kernel, x->cols > z->cols ? x->cols : z->cols, INT32_MAX,
                        DEGREE_MOST))
        return mcr_fail(bound->ctx, MCR_BAD_CALL,
                        "poly of degree %lld on %lld features has too many monomials to list",
                        (long long)of->degree, (long long)x->cols);
    s = mcr_features_resize(out, m.count);
    if (!s)
        s = mcr_features_expect(out, (double)m.count, count_entries(bound, &m),
                                LETTERS * (double)of->degree);
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        for (int64_t i = 0; i < bound->field[side].count && !s; i++) {
            pass p = open_pass(&m, &bound->field[side], i);
            p.out = out;
            p.side = side;
            visit(&p, m.of.degree, p.entries - 1, 0, 1, 0, 1);
            s = p.status;
            mcr_features_next(out, side);
        }
    for (int64_t k = 0; out->names && k < m.count && !s; k++)
        s = name_monomial(out->names, &m, bound, k);
    return s;
}
