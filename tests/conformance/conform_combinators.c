/* conform_combinators.c: every registered leaf works inside every combinator: the values are the
 * formula applied to the leaf's own matrix, in double and float, on one data set and on two, on all
 * the data that the leaf accepts, and together with another field of the same objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a formula sees of one pair: K and its diagonals, the kernel on the other field, f(x), f(z),
 * and a scale that makes K about 1 at most. */
typedef struct pair {
    double k, dx, dz, other, fx, fz, scale;
} pair;

static double normalised(double k, double dx, double dz)
{
    return dx > 0 && dz > 0 ? k / sqrt(dx) / sqrt(dz) : 0;
}

static double of_normalize(const pair *p)
{
    return normalised(p->k, p->dx, p->dz);
}

static double of_exp(const pair *p)
{
    return exp(p->scale * p->k);
}

static double of_power(const pair *p)
{
    return p->k * p->k * p->k;
}

static double of_sum(const pair *p)
{
    return p->k + p->other;
}

static double of_scaled(const pair *p)
{
    return 2.5 * p->k + 0.25;
}

static double of_product(const pair *p)
{
    return p->k * p->other;
}

static double of_conformal(const pair *p)
{
    return p->fx * p->k * p->fz;
}

/* The leaf occurs twice: what it shares must not be changed by its first use. */
static double of_twice(const pair *p)
{
    return (p->k + 2) * (p->k * p->other + p->k);
}

static double of_nest(const pair *p)
{
    double s = p->scale;
    return normalised(exp(s * p->k + p->other) * p->k * p->k, exp(s * p->dx + 1) * p->dx * p->dx,
                      exp(s * p->dz + 1) * p->dz * p->dz);
}

/* @: the leaf, $: the scale. */
static const struct {
    const char *combinator, *text;
    double (*value)(const pair *);
} table[] = {
    {"normalize", "normalize(@)", of_normalize},
    {"exp", "exp($*@)", of_exp},
    {"power", "@^3", of_power},
    {"sum", "@ + rbf(other, gamma=0.4)", of_sum},
    {"sum", "2.5*@ + 0.25", of_scaled},
    {"product", "rbf(other, gamma=0.4)*@", of_product},
    {"conformal", "conformal(@, f=\"other:2\")", of_conformal},
    {"product", "(@ + 2)*(@*rbf(other, gamma=0.4) + @)", of_twice},
    {"normalize", "normalize(exp($*@ + rbf(other, gamma=0.4))*@^2)", of_nest},
};
enum { FORMULAS = sizeof table / sizeof *table };

/* ---- a leaf -----------------------------------------------------------------------------------*/

enum { N = 60, SEEN = 25 };

typedef struct leaf {
    mcr *ctx;
    const zoo_trial *trial;
    mcr_data *data, *x, *z; /* all objects; the first, as x; the others, as z */
    double *k, *other, f[N], d[N];
    double scale;
} leaf;

static void open_leaf(leaf *l, const zoo_trial *trial)
{
    mcr *ctx = zoo_open(trial, 2);
    *l = (leaf){.ctx = ctx, .trial = trial};
    test_ok(ctx, zoo_data(&l->data, ctx, trial->breed, 0, N, 0));
    test_ok(ctx, zoo_data(&l->x, ctx, trial->breed, 0, SEEN, 0));
    test_ok(ctx, zoo_data(&l->z, ctx, trial->breed, SEEN, N - SEEN, 1));
    l->k = rules_matrix(ctx, trial->text, l->data, NULL);
    l->other = rules_matrix(ctx, "rbf(other, gamma=0.4)", l->data, NULL);
    double most = 0;
    for (int64_t i = 0; i < N; i++) {
        double v[2];
        test_ok(ctx, mcr_data_vector(l->data, 1, i, v));
        l->f[i] = v[1];
        l->d[i] = l->k[i * N + i];
    }
    for (int64_t i = 0; i < N * N; i++)
        most = fmax(most, fabs(l->k[i]));
    /* Read back, so that the expression has the same number. */
    char text[32];
    snprintf(text, sizeof text, "%.3g", most > 0 ? 1 / most : 1);
    l->scale = atof(text);
}

static void close_leaf(leaf *l)
{
    mcr_data_free(l->data);
    mcr_data_free(l->x);
    mcr_data_free(l->z);
    free(l->k);
    free(l->other);
    test_close(l->ctx);
}

static bool negative(const leaf *l)
{
    for (int64_t i = 0; i < N; i++)
        if (l->d[i] < 0)
            return true;
    return false;
}

static void compare(const char *text, const leaf *l, const char *what, const double *a,
                    const double *b, int64_t m, int64_t n, const double *dx, const double *dz,
                    double tolerance)
{
    int64_t at = rules_differ(a, n, b, m, n, dx, dz, tolerance);
    if (at >= 0)
        fail_msg("%s on %s: %s: value (%lld, %lld) is %.17g instead of %.17g", text,
                 l->trial->breed->name, what, (long long)(at / n), (long long)(at % n), a[at],
                 b[at]);
}

static void try_formula(const leaf *l, const char *text, double (*value)(const pair *))
{
    mcr *ctx = l->ctx;
    static double b[N * N], a[N * N], part[SEEN * (N - SEEN)];
    static float f[N * N];
    double d[N], one[1] = {1};
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            pair p = {l->k[i * N + j], l->d[i], l->d[j], l->other[i * N + j],
                      l->f[i],         l->f[j], l->scale};
            b[i * N + j] = value(&p);
        }
    for (int64_t i = 0; i < N; i++)
        d[i] = b[i * N + i];
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, text));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, l->data, NULL));
    test_ok(ctx, mcr_gram_matrix(gram, a, N));
    compare(text, l, "matrix", a, b, N, N, d, d, RULES_DOUBLE);
    test_ok(ctx, mcr_gram_diagonal(gram, 0, a));
    compare(text, l, "diagonal", a, d, N, 1, d, one, RULES_DOUBLE);
    test_ok(ctx, mcr_gram_matrix_float(gram, f, N));
    for (int64_t i = 0; i < N * N; i++)
        a[i] = (double)f[i];
    compare(text, l, "float matrix", a, b, N, N, d, d, RULES_FLOAT);
    mcr_gram_close(gram);
    /* Training objects against others. */
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, l->x, l->z));
    for (int64_t i = 0; i < SEEN; i++)
        memcpy(part + i * (N - SEEN), b + i * N + SEEN, sizeof(double) * (N - SEEN));
    test_ok(ctx, mcr_gram_matrix(gram, a, N - SEEN));
    compare(text, l, "other objects", a, part, SEEN, N - SEEN, d, d + SEEN, RULES_DOUBLE);
    test_ok(ctx, mcr_gram_diagonal(gram, 1, a));
    compare(text, l, "diagonal of other objects", a, d + SEEN, N - SEEN, 1, d + SEEN, one,
            RULES_DOUBLE);
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
}

static void write_formula(char *text, size_t most, const char *format, const leaf *l)
{
    size_t used = 0;
    for (const char *c = format; *c != '\0'; c++)
        used += (size_t)(*c == '@'   ? snprintf(text + used, most - used, "%s", l->trial->text)
                         : *c == '$' ? snprintf(text + used, most - used, "%.3g", l->scale)
                                     : snprintf(text + used, most - used, "%c", *c));
    assert_true(used < most);
}

/* Something that is negative for an object with itself has no angles. */
static void refuse_negative(const leaf *l, const char *text)
{
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(l->ctx, mcr_kernel_parse(&kernel, l->ctx, text));
    test_fails(l->ctx, mcr_gram_open(&gram, l->ctx, kernel, l->data, NULL), MCR_NUMERIC,
               "is negative for object");
    assert_null(gram);
    mcr_kernel_free(kernel);
}

static void works_inside(const zoo_trial *trial)
{
    if (!trial->leaf)
        return;
    leaf l;
    open_leaf(&l, trial);
    for (int i = 0; i < FORMULAS; i++) {
        char text[1024];
        write_formula(text, sizeof text, table[i].text, &l);
        if (table[i].value == of_normalize && negative(&l))
            refuse_negative(&l, text);
        else
            try_formula(&l, text, table[i].value);
    }
    close_leaf(&l);
}

/* ---- several fields ---------------------------------------------------------------------------*/

/* On the synthetic data with three fields, each leaf on its field times rbf or spectrum on
 * another. */
static void works_beside(const zoo_trial *trial)
{
    static const struct {
        const char *breed, *field, *beside;
    } fields[] = {
        {"dense, 70 columns", "x", "spectrum(sequence, p=2)"},
        {"strings", "sequence", "rbf(x, gamma=0.1)"},
        {"graphs, nodes and edges labelled", "molecule", "rbf(x, gamma=0.1)"},
    };
    const char *it = strstr(trial->text, "(it");
    for (int f = 0; f < 3 && it != NULL && trial->leaf; f++) {
        if (strcmp(trial->breed->name, fields[f].breed) != 0)
            continue;
        char leaf_text[512], text[1024];
        snprintf(leaf_text, sizeof leaf_text, "%.*s(%s%s", (int)(it - trial->text), trial->text,
                 fields[f].field, it + 3);
        snprintf(text, sizeof text, "%s*%s", leaf_text, fields[f].beside);
        mcr *ctx = zoo_open(trial, 2);
        mcr_data *data = NULL;
        test_ok(ctx, mcr_data_sample(&data, ctx, "mixed", N, -1));
        double *a = rules_matrix(ctx, leaf_text, data, NULL), d[N];
        double *b = rules_matrix(ctx, fields[f].beside, data, NULL);
        double *k = rules_matrix(ctx, text, data, NULL);
        for (int64_t i = 0; i < N * N; i++)
            b[i] *= a[i];
        for (int64_t i = 0; i < N; i++)
            d[i] = b[i * N + i];
        if (rules_differ(k, N, b, N, N, d, d, RULES_DOUBLE) >= 0)
            fail_msg("%s on the sample mixed is not the product", text);
        ++*(int *)trial->user;
        free(a);
        free(b);
        free(k);
        mcr_data_free(data);
        test_close(ctx);
    }
}

static void test_several_fields(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    int tried = 0;
    for (int64_t k = 0; k < mcr_kernel_count(ctx); k++)
        zoo_try(k, NULL, works_beside, &tried);
    assert_true(tried >= 20);
    test_close(ctx);
}

/* ---- the registry -----------------------------------------------------------------------------*/

static void test_all_combinators_are_here(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    for (int64_t k = 0; k < mcr_kernel_count(ctx); k++) {
        mcr_kernel_info info = MCR_INIT(mcr_kernel_info);
        test_ok(ctx, mcr_kernel_describe(ctx, k, &info));
        bool here = info.kinds != 0 || strcmp(info.name, "constant") == 0;
        for (int i = 0; i < FORMULAS && !here; i++)
            here = strcmp(table[i].combinator, info.name) == 0;
        if (!here)
            fail_msg("no formula for %s: add a line to the table in "
                     "tests/conformance/conform_combinators.c",
                     info.name);
    }
    test_close(ctx);
}

int main(void)
{
    const struct CMUnitTest more[] = {cmocka_unit_test(test_all_combinators_are_here),
                                      cmocka_unit_test(test_several_fields)};
    return zoo_run("combinators", works_inside, more, 2);
}
