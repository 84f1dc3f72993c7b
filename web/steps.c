/* steps.c: the perceptron, mistake by mistake.
 *
 * The kernel perceptron goes through the objects in their order; where y f(x) <= 0 it adds y K(x,
 * .) to f. With `bias` all objects have one more feature, 1. It is the rule of the learner
 * perceptron with its defaults; here every f on the way can be seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "engine_impl.h"

enum { MOST_OBJECTS = 1000, MOST_MISTAKES = 20000 };

typedef struct trail {
    int64_t n;
    double *k;        /* n x n */
    double *f, *coef; /* of the objects */
    int64_t mistakes, passes;
    int64_t *object; /* of each mistake */
    int separated;
} trail;

static void learn(trail *t, const double *y, int64_t passes, int64_t at)
{
    int64_t before = -1;
    for (t->passes = 0; t->passes < passes && t->mistakes != before; t->passes++) {
        before = t->mistakes;
        for (int64_t i = 0; i < t->n && t->mistakes < MOST_MISTAKES; i++) {
            if (y[i] * t->f[i] > 0)
                continue;
            for (int64_t j = 0; j < t->n; j++)
                t->f[j] += y[i] * t->k[i * t->n + j];
            if (t->mistakes < at)
                t->coef[i] += y[i];
            t->object[t->mistakes++] = i;
        }
    }
    t->separated = t->mistakes == before;
}

/* f on the plane after `at` mistakes, from its coefficients. */
static mcr_status plane_json(studio *s, const mcr_kernel *kernel, const mcr_data *data,
                             const trail *t, double bias)
{
    mcr_data *points = NULL;
    mcr_gram *gram = NULL;
    double *f = NULL, sum = 0;
    studio_plane plane;
    mcr_status status = studio_plane_data(s, data, &plane, &points);
    if (status || !points)
        return status;
    int64_t count = mcr_data_count(points);
    f = malloc((size_t)count * sizeof *f);
    status = f ? mcr_gram_open(&gram, s->ctx, kernel, points, data)
               : studio_refuse(s, MCR_NO_MEMORY, "no memory for the plane");
    if (!status)
        status = mcr_gram_multiply(gram, t->coef, 1, f);
    for (int64_t i = 0; i < t->n; i++)
        sum += bias * t->coef[i];
    for (int64_t i = 0; i < count && !status; i++)
        f[i] += sum;
    if (!status) {
        cli_json_object(&s->j, "plane");
        cli_json_integer(&s->j, "nx", plane.nx);
        cli_json_integer(&s->j, "ny", plane.ny);
        cli_json_integer(&s->j, "outputs", 1);
        status = studio_put_floats(s, "score", f, count);
        cli_json_end(&s->j);
    }
    mcr_gram_close(gram);
    mcr_data_free(points);
    free(f);
    return status;
}

static mcr_status run(studio *s, const mcr_kernel *kernel, const mcr_data *data, trail *t)
{
    double bias = studio_flag(s->call, "bias") ? 1 : 0, *y = t->f + t->n;
    mcr_gram *gram = NULL;
    mcr_status status = mcr_gram_open(&gram, s->ctx, kernel, data, NULL);
    if (!status)
        status = mcr_gram_matrix(gram, t->k, t->n);
    mcr_gram_close(gram);
    if (status)
        return status;
    for (int64_t i = 0; i < t->n * t->n; i++)
        t->k[i] += bias;
    for (int64_t i = 0; i < t->n; i++)
        y[i] = mcr_data_class_of(data)[i] ? 1 : -1;
    int64_t at = studio_whole(s->call, "at", MOST_MISTAKES, 0, MOST_MISTAKES);
    learn(t, y, studio_whole(s->call, "passes", 10, 1, 100000), at);
    cli_json_integer(&s->j, "mistakes", t->mistakes);
    cli_json_integer(&s->j, "passes", t->passes);
    cli_json_flag(&s->j, "separated", t->separated);
    cli_json_integer(&s->j, "at", at < t->mistakes ? at : t->mistakes);
    cli_json_integers(&s->j, "object", t->object, t->mistakes);
    cli_json_reals(&s->j, "coef", t->coef, t->n);
    return plane_json(s, kernel, data, t, bias);
}

mcr_status studio_steps(studio *s)
{
    const mcr_data *data;
    mcr_kernel *kernel = NULL;
    mcr_status status = studio_data(s, &data);
    if (!status)
        status = studio_kernel(s, &kernel);
    if (!status && !kernel)
        status = studio_refuse(s, MCR_BAD_CALL, "a kernel is needed");
    if (!status && (mcr_data_classes(data) != 2 || mcr_data_count(data) > MOST_OBJECTS))
        status = studio_refuse(s, MCR_BAD_DATA,
                               "mistakes are shown of two classes and at most 1000 objects");
    if (!status) {
        int64_t n = mcr_data_count(data);
        trail t = {.n = n};
        t.k = calloc((size_t)(n * n + 3 * n), sizeof *t.k);
        t.object = malloc((size_t)MOST_MISTAKES * sizeof *t.object);
        if (t.k && t.object) {
            t.coef = t.k + n * n;
            t.f = t.coef + n;
            status = run(s, kernel, data, &t);
        } else {
            status = studio_refuse(s, MCR_NO_MEMORY, "no memory for the kernel matrix");
        }
        free(t.k);
        free(t.object);
    }
    mcr_kernel_free(kernel);
    return status;
}
