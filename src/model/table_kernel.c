/* table_kernel.c: default kernels for tables of mixed columns.
 *
 * Numbers and the parts of dates go into one rbf, categories into equal, sets into tanimoto, and
 * long texts into a normalised blended spectrum. Ids and ignored columns are not fields, and a
 * constant column changes no distance. docs/tables.md explains the default combination.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/table_kernel.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/random.h"
#include "gram/gram.h"
#include "kernel/kernel.h"

enum { LONG_TEXT = 40, SAMPLED = 300 };

typedef struct parts {
    bool numbers, dates, categories;
    int64_t long_texts, sets;
} parts;

/* The mean length of a text in bytes. */
static double mean_length(const mcr_data *data, int64_t field)
{
    mcr_field f = mcr_data_field(data, field);
    double sum = 0;
    for (int64_t i = 0; i < f.count; i++) {
        const int64_t *start = f.store->start + mcr_field_at(&f, i);
        sum += (double)(start[1] - start[0]);
    }
    return f.count > 0 ? sum / (double)f.count : 0;
}

static bool is_long_text(const mcr_data *data, int64_t field)
{
    return data->store[field]->role == MCR_WORDS && mean_length(data, field) >= LONG_TEXT;
}

static parts find_parts(const mcr_data *data)
{
    parts p = {0};
    for (int64_t f = 0; f < data->fields; f++) {
        mcr_role role = data->store[f]->role;
        p.numbers |= role == MCR_NUMBER;
        p.dates |= role == MCR_DATE;
        p.categories |= role == MCR_CATEGORY;
        p.sets += role == MCR_SET;
        p.long_texts += is_long_text(data, f);
    }
    return p;
}

bool mcr_table_is_mixed(const mcr_data *data)
{
    bool numbers_alone = data->fields == 1 &&
                         (data->store[0]->role == MCR_NUMBER || data->store[0]->role == MCR_WORDS);
    bool table = true;
    for (int64_t f = 0; f < data->fields; f++)
        table = table && data->store[f]->role != MCR_ROLE_NONE;
    parts p = find_parts(data);
    return table && !numbers_alone &&
           (p.numbers || p.dates || p.categories || p.sets > 0 || p.long_texts > 0);
}

/* Inner products of some objects, n x n. */
static mcr_status inner_products(double *k, mcr *ctx, const mcr_data *some, const char *columns)
{
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    mcr_text text;
    mcr_text_init(&text, ctx);
    mcr_text_format(&text, "linear(%s)", columns);
    mcr_status s = text.status ? text.status : mcr_kernel_parse(&kernel, ctx, text.bytes);
    if (!s)
        s = mcr_gram_open(&gram, ctx, kernel, some, NULL);
    if (!s)
        s = mcr_gram_matrix(gram, k, some->count);
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    mcr_text_free(&text);
    return s;
}

/* 1 / the median of |x - z|^2 > 0 among a few hundred objects drawn at random; 1 if all are
 * equal. */
static mcr_status median_gamma(double *gamma, mcr *ctx, const mcr_data *data, const char *columns)
{
    mcr_random r = mcr_random_stream(mcr_seed(ctx), "median heuristic", 0);
    int64_t n = data->count < SAMPLED ? data->count : SAMPLED, count = 0;
    int64_t *row = mcr_alloc(ctx, (size_t)n, sizeof *row);
    double *k = mcr_alloc(ctx, (uint64_t)(n * n), sizeof *k);
    double *distance = mcr_alloc(ctx, (uint64_t)(n * n), sizeof *distance);
    mcr_data *some = NULL;
    mcr_status s = row && k && distance ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        row[i] = data->count <= SAMPLED ? i : mcr_random_below(&r, data->count);
    if (!s)
        s = mcr_data_select(&some, data, (mcr_rows){row, 0, n});
    if (!s)
        s = inner_products(k, ctx, some, columns);
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t j = i + 1; j < n; j++) {
            double both = k[i * n + i] + k[j * n + j], d = both - 2 * k[i * n + j];
            distance[count] = d;
            count += d > 1e-12 * both;
        }
    if (!s)
        qsort(distance, (size_t)count, sizeof *distance, mcr_reals_rising);
    *gamma = s || count == 0 ? 1 : 1 / distance[count / 2];
    mcr_data_free(some);
    mcr_free_all(ctx, row, k, distance);
    return s;
}

typedef struct range {
    double below, above;
    int values;
} range;

/* rbf(columns, gamma=...) with two digits, the accuracy of the heuristic. Ranges begin at a power
 * of 2, so that their values have few digits, too. */
static mcr_status put_rbf(mcr_text *to, mcr *ctx, const mcr_data *data, const char *columns,
                          const range *of)
{
    double gamma;
    mcr_status s = median_gamma(&gamma, ctx, data, columns);
    if (s)
        return s;
    double power = exp2(round(log2(gamma)));
    mcr_text_format(to, "rbf(%s, gamma=", columns);
    if (of->values == 0) {
        mcr_text_format(to, "%.2g", gamma);
    } else {
        mcr_text_real(to, power / of->below);
        mcr_text_string(to, ":");
        mcr_text_real(to, power * of->above);
        mcr_text_format(to, ":log%d", of->values);
    }
    mcr_text_string(to, ")");
    return to->status;
}

/* tanimoto(tags) and normalize(blended(comment)) for each such column. */
static void put_others(mcr_text *to, const mcr_data *data, const char *joint)
{
    for (int64_t f = 0; f < data->fields; f++) {
        bool set = data->store[f]->role == MCR_SET;
        if (!set && !is_long_text(data, f))
            continue;
        if (to->length > 0)
            mcr_text_string(to, joint);
        mcr_text_string(to, set ? "tanimoto(" : "normalize(blended(");
        mcr_kernel_print_field(data->store[f]->name, to);
        mcr_text_string(to, set ? ")" : ", p=3))");
    }
}

static mcr_status put_joint(mcr_text *to, mcr *ctx, const mcr_data *data, const parts *p,
                            bool dates, const range *of)
{
    mcr_status s = put_rbf(to, ctx, data,
                           p->numbers && dates ? "number, date, category"
                           : dates             ? "date, category"
                           : p->numbers        ? "number, category"
                                               : "category",
                           of);
    put_others(to, data, " + ");
    return s;
}

mcr_status mcr_table_kernel(mcr_text *to, mcr *ctx, const mcr_data *data, mcr_table_form form,
                            double below, double above, int values)
{
    parts p = find_parts(data);
    range of = {below, above, values};
    bool numbers = p.numbers || p.dates, others = p.sets + p.long_texts > 0;
    const char *columns = p.numbers && p.dates ? "number, date" : p.dates ? "date" : "number";
    mcr_status s = MCR_OK;
    switch (form) {
    case MCR_TABLE_PRODUCT:
    case MCR_TABLE_SUM:
        if (form == MCR_TABLE_PRODUCT && !(numbers && p.categories))
            break;
        if (numbers)
            s = put_rbf(to, ctx, data, columns, &of);
        if (p.categories && numbers)
            mcr_text_string(to, form == MCR_TABLE_SUM ? " + equal(category)"
                                                      : "*equal(category, rho=0.2)");
        else if (p.categories)
            mcr_text_string(to, "equal(category)");
        put_others(to, data, " + ");
        break;
    case MCR_TABLE_JOINT:
        if (p.categories)
            s = put_joint(to, ctx, data, &p, p.dates, &of);
        break;
    case MCR_TABLE_UNDATED:
        if (p.categories && p.dates)
            s = put_joint(to, ctx, data, &p, false, &of);
        break;
    case MCR_TABLE_NUMBERS:
        if (numbers && (p.categories || others))
            s = put_rbf(to, ctx, data, columns, &of);
        break;
    case MCR_TABLE_WORDS:
        if (numbers && p.categories)
            mcr_text_string(to, "equal(category)");
        if (numbers && (p.categories || others))
            put_others(to, data, " + ");
        break;
    case MCR_TABLE_FORMS: break;
    }
    return s ? s : to->status;
}
