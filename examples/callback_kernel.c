/* callback_kernel.c: a kernel that is one function of the program's.
 *
 *     cc callback_kernel.c $(pkg-config --cflags --libs mercer) -lm -o callback_kernel &&
 *     ./callback_kernel
 *
 * The function gets two lists of objects and fills a block of values. Under its name it works in
 * every expression, with every learner. It is not declared safe for several threads, so that only
 * the thread that calls the library calls it, as an interpreter such as Python's wants it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

typedef struct own_state {
    double width;
    long calls;
} own_state;

/* exp(-|x - z|_1 / width), in two columns. */
static mcr_status block(void *user, const mcr_objects *x, const mcr_objects *z, double *k)
{
    own_state *own = user;
    double a[2], b[2];
    mcr_status status = MCR_OK;
    own->calls++;
    for (int64_t i = 0; i < x->count && !status; i++) {
        status = mcr_data_vector(x->data, x->field, x->object[i], a);
        for (int64_t j = 0; j < z->count && !status; j++) {
            status = mcr_data_vector(z->data, z->field, z->object[j], b);
            k[i * z->count + j] = exp(-(fabs(a[0] - b[0]) + fabs(a[1] - b[1])) / own->width);
        }
    }
    return status;
}

static mcr_status run(mcr *ctx, own_state *own)
{
    mcr_callback callback = MCR_INIT(mcr_callback);
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    callback.name = "city";
    callback.kinds = MCR_DENSE;
    callback.block = block;
    callback.user = own;
    mcr_status status = mcr_kernel_callback(ctx, &callback);
    if (!status)
        status = mcr_data_sample(&data, ctx, "moons", 300, 0.1);
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, "city + 0.1*linear");
    if (!status)
        status = mcr_options_open(&options, ctx, "svm");
    if (!status)
        status = mcr_fit(&model, options, kernel, data, NULL);
    if (!status)
        printf("%s: %lld support vectors, training accuracy %g, %ld calls\n",
               mcr_model_report(model)->kernel, (long long)mcr_model_support(model),
               mcr_model_report(model)->accuracy, own->calls);
    if (!status && !(mcr_model_report(model)->accuracy > 0.95))
        status = mcr_message_set(ctx, MCR_NUMERIC, "city: the moons are not learnt");
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    return status;
}

int main(void)
{
    own_state own = {.width = 0.5};
    mcr *ctx = NULL;
    mcr_status status = mcr_open(&ctx, NULL);
    if (!status)
        status = run(ctx, &own);
    if (status)
        fprintf(stderr, "callback_kernel: %s\n", ctx ? mcr_message(ctx) : "no memory");
    mcr_close(ctx);
    return status != MCR_OK;
}
