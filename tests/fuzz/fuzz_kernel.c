/* fuzz_kernel.c: what the expression parser takes prints in a form that parses to the same; what
 * it refuses has a message and a mark within the text. Texts are parsed as those of a foreign
 * file, which reach no other file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_mutate.h"
#include "kernel/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

static const char *const words[] = {
    "rbf(gamma=",
    "linear",
    "poly(degree=",
    ", c=",
    "laplace(gamma=",
    "matern(nu=",
    "rq(alpha=",
    "periodic(period=",
    "sigmoid(a=",
    "cosine",
    "chi2",
    "intersection",
    "mahalanobis(diag=[",
    "mahalanobis(file=",
    "normalize(",
    "exp(",
    "conformal(f=",
    "spectrum(p=",
    "blended(p=",
    "ssk(p=",
    ", lambda=",
    "mismatch(k=",
    ", m=",
    "gkm(l=",
    "wl(h=",
    "shortestpath",
    "graphlet(p=",
    "walk",
    "precomputed",
    " + ",
    "*",
    "^",
    "(",
    ")",
    "[",
    "]",
    ",",
    "\"x\"",
    "x",
    "text",
    "graph",
    "1e300",
    "-1",
    "0",
    "1",
    "2.5",
    "1e-300",
    "nan",
    "100000",
};

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    return fuzz_mutate_tokens(bytes, count, capacity, seed, words, sizeof words / sizeof *words);
}

static void check_mark(const mcr *ctx, mcr_status status)
{
    int64_t column, length;
    const char *mark = mcr_message_mark(ctx, &column, &length);
    if (mcr_message(ctx)[0] == '\0')
        abort();
    if (status == MCR_BAD_CALL && mark != NULL &&
        (column < 0 || length < 1 || column > (int64_t)strlen(mark) ||
         column + length > (int64_t)strlen(mark) + 1))
        abort();
}

static void check_again(mcr *ctx, const mcr_kernel *kernel)
{
    mcr_kernel *again = NULL;
    mcr_text rules;
    if (mcr_kernel_parse_foreign(&again, ctx, mcr_kernel_text(kernel)) != MCR_OK ||
        strcmp(mcr_kernel_text(kernel), mcr_kernel_text(again)) != 0 ||
        kernel->nodes != again->nodes || kernel->depth != again->depth)
        abort();
    mcr_text_init(&rules, ctx);
    if (mcr_kernel_definite(kernel, &rules) != mcr_kernel_definite(again, NULL) ||
        rules.status != MCR_OK)
        abort();
    mcr_text_free(&rules);
    mcr_kernel_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    mcr_config config = {.size = sizeof config, .threads = 1, .memory_bytes = (size_t)16 << 20};
    mcr *ctx = NULL;
    mcr_kernel *kernel = NULL;
    char *text = malloc(count + 1);
    if (text == NULL || mcr_open(&ctx, &config) != MCR_OK)
        abort();
    memcpy(text, bytes, count);
    text[count] = '\0';
    mcr_status status = mcr_kernel_parse_foreign(&kernel, ctx, text);
    if ((status == MCR_OK) != (kernel != NULL))
        abort();
    if (status == MCR_OK)
        check_again(ctx, kernel);
    else
        check_mark(ctx, status);
    mcr_kernel_free(kernel);
    mcr_close(ctx);
    free(text);
    return 0;
}
