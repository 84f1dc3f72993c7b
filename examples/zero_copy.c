/* zero_copy.c: trains on rows that stay where the program has them.
 *
 *     cc zero_copy.c $(pkg-config --cflags --libs mercer) -o zero_copy && ./zero_copy 1024
 *
 * Makes so many megabytes of rows of floats (default 64), lends them to a data set, and shows by
 * how much the program's resident memory has grown before training: no more than the targets take.
 * Then a support vector machine is trained on some of the rows, and the memory is freed when the
 * data are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

enum { COLS = 128, TRAINED = 1000 };

/* Resident memory in bytes; 0: this system does not say. */
static double resident(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    fclose(file);
    return (double)pages * 4096;
}

static float next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1 << 24) - 0.5f;
}

/* Two clouds that touch each other: the class is the sign of the first value. */
static void fill(float *rows, unsigned char *label, int64_t n)
{
    uint32_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < COLS; k++)
            rows[i * COLS + k] = next_random(&state);
        label[i] = rows[i * COLS] > 0;
    }
}

/* Called once, by the thread that frees the last data set over the rows. */
static void free_rows(void *user)
{
    printf("the rows are free again\n");
    free(user);
}

static mcr_status lend(mcr_data **out, mcr *ctx, float *rows, const unsigned char *label, int64_t n)
{
    mcr_builder *builder = NULL;
    mcr_dense_view x = MCR_INIT(mcr_dense_view);
    x.values = rows;
    x.type = MCR_FLOAT32;
    x.cols = COLS;
    x.release = free_rows;
    x.user = rows;
    mcr_status status = mcr_builder_open(&builder, ctx, n);
    if (status)
        return status;
    status = mcr_builder_borrow_dense(builder, "x", &x);
    if (!status)
        status = mcr_builder_coded_targets(builder, label, MCR_UINT8, 1,
                                           (const char *const[]){"left", "right"}, 2);
    if (status) {
        mcr_builder_close(builder);
        return status;
    }
    return mcr_builder_finish(out, builder);
}

static mcr_status train(mcr_model **out, mcr *ctx, const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_data *some = NULL;
    int64_t n = mcr_data_count(data);
    mcr_rows rows = {NULL, 0, n < TRAINED ? n : TRAINED};
    mcr_status status = mcr_data_select(&some, data, rows); /* a view: no copy either */
    if (!status)
        status = mcr_options_open(&options, ctx, "svm");
    if (!status)
        status = mcr_fit(out, options, NULL, some, NULL);
    mcr_options_close(options);
    mcr_data_free(some);
    return status;
}

int main(int argc, char **argv)
{
    double megabytes = argc > 1 ? atof(argv[1]) : 64;
    int64_t n = (int64_t)(megabytes * 1048576 / (COLS * sizeof(float)));
    double bytes = (double)n * COLS * sizeof(float);
    float *rows = n > 0 ? malloc((size_t)bytes) : NULL;
    unsigned char *label = n > 0 ? malloc((size_t)n) : NULL;
    mcr *ctx = NULL;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    if (!rows || !label || mcr_open(&ctx, NULL)) {
        fprintf(stderr, "zero_copy: no memory for %g MB\n", megabytes);
        return 1;
    }
    fill(rows, label, n);
    double before = resident();
    mcr_status status = lend(&data, ctx, rows, label, n);
    double grown = resident() - before;
    printf(
        "%lld rows of %d floats, %.0f MB: resident memory grew by %.2f MB, %.2f %% of the data\n",
        (long long)n, COLS, bytes / 1048576, grown / 1048576, 100 * grown / bytes);
    if (!status)
        status = train(&model, ctx, data);
    mcr_data_free(data); /* the model has its own copy of its support vectors */
    if (!status)
        printf("svm of %lld rows: %lld support vectors\n", (long long)mcr_model_report(model)->n,
               (long long)mcr_model_support(model));
    else
        fprintf(stderr, "zero_copy: %s\n", mcr_message(ctx));
    mcr_model_free(model);
    mcr_close(ctx);
    free(label);
    return status || grown > 0.05 * bytes;
}
