/* npy.c: a NumPy matrix, one row per object, as the dense field "x"; targets in a second file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/npy.h"

#include "data/disk.h"

/* Whether it takes more than a third of the memory, leaving too little for the computation. */
static bool is_large(const mcr_npy *npy, mcr *ctx)
{
    double bytes = (double)npy->rows * (double)npy->cols * sizeof(double);
    return bytes > (double)mcr_budget_left(ctx) / 3;
}

mcr_status mcr_npy_field(mcr_builder *b, mcr *ctx, mcr_input *in, const mcr_read_options *options,
                         int64_t *rows)
{
    mcr_npy npy;
    mcr_store *store = NULL;
    mcr_status status = mcr_npy_open(&npy, ctx, in);
    if (status == MCR_OK)
        status = mcr_store_new(&store, ctx, "x", MCR_DENSE);
    if (status == MCR_OK && options->on_disk && is_large(&npy, ctx))
        status = mcr_npy_disk(&store->disk, &npy, ctx, in);
    if (status == MCR_OK && store->disk != NULL) {
        store->borrowed = true;
        store->release = mcr_disk_close;
        store->user = store->disk;
    }
    if (status == MCR_OK && store->disk == NULL)
        status = mcr_npy_reals(&store->dense, &npy, ctx, in);
    if (status != MCR_OK) {
        mcr_store_free(store);
        return status;
    }
    store->count = npy.rows;
    store->cols = npy.cols;
    *rows = npy.rows;
    return mcr_builder_adopt(b, store);
}

static mcr_status read_npy(mcr_builder *b, mcr *ctx, mcr_input *in, const mcr_read_options *options)
{
    int64_t rows;
    mcr_status status = mcr_npy_field(b, ctx, in, options, &rows);
    return status == MCR_OK ? mcr_npy_target(b, ctx, options, rows) : status;
}

static int sniff(bool named, const char *bytes, size_t count)
{
    if (mcr_npy_is(bytes, count))
        return 100;
    return named ? 90 : 0;
}

const mcr_format mcr_format_npy = {
    .name = "npy",
    .summary = "NumPy matrix; the target in a second file",
    .extensions = (const char *const[]){"npy", NULL},
    .sniff = sniff,
    .read = read_npy,
};
