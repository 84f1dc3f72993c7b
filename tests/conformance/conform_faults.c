/* conform_faults.c: each allocation fails once, for every registered kernel, from parsing to the
 * last block; and leaves are given data of the wrong kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "zoo.h"

#include <stdlib.h>
#include <string.h>

#include "gram/gram.h"

enum { N = 7, SEEN = 4 };

static mcr_status use(mcr_gram *gram)
{
    int64_t m = mcr_gram_rows(gram), n = mcr_gram_cols(gram), list[] = {2, 0, 1, 0};
    double k[N * N], coef[N] = {1, -2, 3}, f[N] = {0};
    float s[N * N];
    mcr_gram_pass pass = {.x = {NULL, 0, m}, .coef = coef, .f = f, .outputs = 1};
    mcr_status status = mcr_gram_matrix(gram, k, n);
    if (status == MCR_OK)
        status = mcr_gram_block(gram, (mcr_rows){list, 0, 4}, (mcr_rows){NULL, 1, n - 1}, k, n);
    if (status == MCR_OK)
        status = mcr_gram_matrix_float(gram, s, n);
    if (status == MCR_OK)
        status = mcr_gram_diagonal(gram, 1, k);
    if (status == MCR_OK)
        status = mcr_gram_multiply(gram, coef, 1, f);
    if (status == MCR_OK)
        status = mcr_gram_rows_pass(gram, &pass);
    return status;
}

static mcr_status run(mcr *ctx, void *arg)
{
    const zoo_trial *trial = arg;
    mcr_kernel *kernel = NULL;
    mcr_data *all = NULL, *x = NULL, *z = NULL;
    mcr_gram *one = NULL, *two = NULL;
    mcr_status status = MCR_OK;
    if (trial->extra != NULL)
        status = mcr_kernel_register(ctx, trial->extra);
    if (status == MCR_OK)
        status = mcr_kernel_parse(&kernel, ctx, trial->text);
    if (status == MCR_OK)
        status = zoo_data(&all, ctx, trial->breed, 0, N, 0);
    if (status == MCR_OK)
        status = mcr_data_select(&x, all, (mcr_rows){NULL, 0, SEEN});
    if (status == MCR_OK)
        status = zoo_data(&z, ctx, trial->breed, SEEN, N - SEEN, 1);
    if (status == MCR_OK)
        status = mcr_gram_open(&one, ctx, kernel, all, NULL);
    if (status == MCR_OK)
        status = use(one);
    if (status == MCR_OK)
        status = mcr_gram_open(&two, ctx, kernel, x, z);
    if (status == MCR_OK)
        status = use(two);
    mcr_gram_close(one);
    mcr_gram_close(two);
    mcr_data_free(all);
    mcr_data_free(x);
    mcr_data_free(z);
    mcr_kernel_free(kernel);
    zoo_forget(ctx);
    return status;
}

static void survives(const zoo_trial *trial)
{
    zoo_trial copy = *trial;
    assert_true(test_sweep_allocations(trial->text, run, &copy) > 20);
}

/* ---- data of the wrong kind -------------------------------------------------------------------*/

static void test_wrong_kind(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    for (int64_t k = 0; k < mcr_kernel_count(ctx); k++) {
        mcr_kernel_info info = MCR_INIT(mcr_kernel_info);
        test_ok(ctx, mcr_kernel_describe(ctx, k, &info));
        assert_true(info.summary != NULL && info.summary[0] != '\0');
        for (const zoo_breed *b = zoo_breeds; b->name != NULL && info.kinds != 0; b++) {
            char text[128] = "", what[160];
            mcr_kernel *kernel = NULL;
            mcr_data *data = NULL;
            mcr_gram *gram = NULL;
            if (info.kinds & (int)b->kind)
                continue;
            strcat(strcat(text, info.name), "(it)");
            strcat(strcpy(what, text), " on ");
            if (mcr_kernel_parse(&kernel, ctx, text) != MCR_OK)
                continue; /* needs parameters: its field is looked at in the same way */
            test_ok(ctx, zoo_data(&data, ctx, b, 0, 3, 0));
            mcr_status status = mcr_gram_open(&gram, ctx, kernel, data, NULL);
            if (status != MCR_BAD_DATA && status != MCR_BAD_CALL)
                fail_msg("%s%s: %s", what, b->name, mcr_status_name(status));
            assert_non_null(strstr(mcr_message(ctx), info.name));
            assert_null(gram);
            mcr_data_free(data);
            mcr_kernel_free(kernel);
        }
    }
    test_close(ctx);
}

int main(void)
{
    const struct CMUnitTest more[] = {cmocka_unit_test(test_wrong_kind)};
    return zoo_run("faults", survives, more, 1);
}
