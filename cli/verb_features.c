/* verb_features.c: mercer features: the explicit feature map of a kernel, or an approximate one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "advice.h"
#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "text.h"

typedef struct features_call {
    const char *kernel, *output;
    int64_t names, rank;
    int approx, landmarks; /* approx: an mcr_approx; rank, landmarks: optional */
} features_call;

static int64_t count_values(const mcr_features *f)
{
    int64_t sum = 0;
    const int32_t *index;
    const double *value;
    for (int64_t i = 0; i < mcr_features_objects(f, 0); i++)
        sum += mcr_features_row(f, 0, i, &index, &value);
    return sum;
}

static void print_json(const cli *c, const features_call *call, const mcr_kernel *kernel,
                       const mcr_features *f, double seconds)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_integer(&j, "n", mcr_features_objects(f, 0));
    cli_json_text(&j, "kernel", mcr_kernel_text(kernel));
    cli_json_integer(&j, "features", mcr_features_count(f));
    cli_json_integer(&j, "values", count_values(f));
    cli_json_list(&j, "names");
    for (int64_t i = 0; i < mcr_features_count(f) && i < call->names; i++)
        cli_json_text(&j, NULL, mcr_features_name(f, i));
    cli_json_end(&j);
    cli_json_text(&j, "output", call->output);
    cli_json_seconds(&j, "seconds", seconds);
    cli_json_seconds(&j, "seconds_total", cli_seconds() - c->started);
    cli_json_end(&j);
}

static void print_summary(const features_call *call, const mcr_kernel *kernel,
                          const mcr_features *f)
{
    int64_t n = mcr_features_objects(f, 0);
    cli_say("kernel", "%s", mcr_kernel_text(kernel));
    cli_say("objects", "%" PRId64, n);
    cli_say("features", "%" PRId64 ", on average %.6g of them non-zero per object",
            mcr_features_count(f), n ? (double)count_values(f) / (double)n : 0);
    for (int64_t i = 0; i < mcr_features_count(f) && i < call->names; i++) {
        char number[32];
        snprintf(number, sizeof number, "%" PRId64, i + 1);
        cli_say(number, "%s", mcr_features_name(f, i));
    }
}

/* ---- writing ----------------------------------------------------------------------------------*/

/* The format by the extension; the default is LIBSVM. */
static const char *format_of(const char *path)
{
    static const char *const ending[][2] = {{"csv", "csv"}, {"tsv", "tsv"}, {"tab", "tsv"}};
    const char *dot = strrchr(path, '.');
    for (size_t e = 0; dot && e < sizeof ending / sizeof *ending; e++)
        if (strcasecmp(dot + 1, ending[e][0]) == 0)
            return ending[e][1];
    return "libsvm";
}

static int is_table(const char *path)
{
    return path && strcmp(format_of(path), "libsvm") != 0;
}

static int is_array(const char *path)
{
    return path && cli_output_is_binary(path);
}

static void fill_rows(const mcr_features *f, int64_t first, int64_t count, double *to)
{
    int64_t cols = mcr_features_count(f);
    memset(to, 0, sizeof *to * (size_t)(count * cols));
    for (int64_t i = 0; i < count; i++) {
        const int32_t *index;
        const double *value;
        int64_t entries = mcr_features_row(f, 0, first + i, &index, &value);
        for (int64_t e = 0; e < entries; e++)
            to[i * cols + index[e]] = value[e];
    }
}

/* A NumPy array of the vectors of f, or of the map if f is NULL, in blocks of rows. */
static int write_array(cli *c, const mcr_features *f, mcr_map *map, const mcr_data *data,
                       const char *path)
{
    enum { NUMBERS = 1 << 20 };
    int64_t n = mcr_data_count(data), cols = f ? mcr_features_count(f) : mcr_map_count(map);
    int64_t block = cols < NUMBERS ? NUMBERS / (cols ? cols : 1) : 1;
    cli_output *out = NULL;
    cli_table table = {.rows = n, .cols = cols, .prefix = "x"};
    double *buffer = cli_alloc((size_t)(block * cols), sizeof *buffer);
    int bad = cli_output_open(&out, c, path, &table);
    for (int64_t i = 0; i < n && !bad; i += block) {
        int64_t count = n - i < block ? n - i : block;
        if (f)
            fill_rows(f, i, count, buffer);
        else
            bad = cli_fail(c, mcr_map_rows(map, data, (mcr_rows){NULL, i, count}, buffer, cols));
        if (!bad)
            bad = cli_output_rows(out, buffer, count, cols);
    }
    if (!bad)
        bad = cli_output_commit(out);
    else
        cli_output_discard(out);
    free(buffer);
    return bad;
}

static int write_vectors(cli *c, const mcr_features *f, const mcr_data *data, const char *path)
{
    mcr_data *vectors = NULL;
    if (is_array(path))
        return write_array(c, f, NULL, data, path);
    int bad = cli_fail(c, mcr_features_data(&vectors, f, data));
    if (!bad)
        bad = cli_fail(c, cli_write_data(vectors, path, format_of(path)));
    mcr_data_free(vectors);
    return bad;
}

/* ---- maps that are near the kernel ------------------------------------------------------------*/

typedef struct nearby {
    mcr_map *map;
    mcr_map_error error;
    double seconds;
} nearby;

static int landmarks_of(const features_call *call)
{
    return call->landmarks < 0 ? 0 : call->landmarks;
}

static void print_near_json(const cli *c, const features_call *call, const mcr_kernel *kernel,
                            const mcr_data *data, const nearby *m)
{
    static const char *const landmarks[] = {"uniform", "kmeans", "leverage", "greedy"};
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_integer(&j, "n", mcr_data_count(data));
    cli_json_text(&j, "kernel", mcr_kernel_text(kernel));
    cli_json_text(&j, "approx",
                  call->approx == MCR_APPROX_RFF      ? "rff"
                  : call->approx == MCR_APPROX_FALKON ? "falkon"
                                                      : "nystrom");
    if (call->approx != MCR_APPROX_RFF)
        cli_json_text(&j, "landmarks", landmarks[landmarks_of(call)]);
    cli_json_integer(&j, "features", mcr_map_count(m->map));
    cli_json_object(&j, "error");
    cli_json_integer(&j, "pairs", m->error.pairs);
    cli_json_real(&j, "mean", m->error.mean);
    cli_json_real(&j, "rms", m->error.rms);
    cli_json_real(&j, "largest", m->error.largest);
    cli_json_real(&j, "scale", m->error.scale);
    cli_json_end(&j);
    cli_json_text(&j, "output", call->output);
    cli_json_seconds(&j, "seconds", m->seconds);
    cli_json_seconds(&j, "seconds_total", cli_seconds() - c->started);
    cli_json_end(&j);
}

static void print_near(const mcr_kernel *kernel, const mcr_data *data, const nearby *m)
{
    cli_say("kernel", "%s", mcr_kernel_text(kernel));
    cli_say("objects", "%" PRId64, mcr_data_count(data));
    cli_say("features", "%" PRId64, mcr_map_count(m->map));
    cli_say("error", "mean %.3g, root mean square %.3g, largest %.3g in %" PRId64 " pairs",
            m->error.mean, m->error.rms, m->error.largest, m->error.pairs);
    cli_say("", "where K(x,x) is %.6g on average", m->error.scale);
}

static int run_near(cli *c, const features_call *call, const mcr_kernel *kernel,
                    const mcr_data *data)
{
    nearby m = {.error = MCR_INIT(mcr_map_error)};
    mcr_data *vectors = NULL;
    mcr_map_options how = {.size = sizeof how,
                           .approx = (mcr_approx)call->approx,
                           .rank = call->rank == INT64_MIN ? 100 : call->rank,
                           .landmarks = (mcr_landmarks)landmarks_of(call)};
    double start = cli_seconds();
    int bad = cli_fail(c, mcr_map_open(&m.map, c->ctx, kernel, data, &how));
    if (!bad)
        bad = cli_fail(c, mcr_map_measure(m.map, data, &m.error));
    if (!bad && call->output && !is_array(call->output))
        bad = cli_fail(c, mcr_map_data(&vectors, m.map, data));
    m.seconds = cli_seconds() - start;
    cli_progress_clear(c);
    if (!bad && is_array(call->output))
        bad = write_array(c, NULL, m.map, data, call->output);
    else if (!bad && call->output)
        bad = cli_fail(c, cli_write_data(vectors, call->output, format_of(call->output)));
    if (!bad && c->common.json)
        print_near_json(c, call, kernel, data, &m);
    else if (!bad && !(call->output && strcmp(call->output, "-") == 0) && !c->common.quiet)
        print_near(kernel, data, &m);
    mcr_data_free(vectors);
    mcr_map_close(m.map);
    return bad;
}

/* ---- the verb ---------------------------------------------------------------------------------*/

static int run_exact(cli *c, const features_call *call, const mcr_kernel *kernel,
                     const mcr_data *data)
{
    mcr_features *f = NULL;
    double start = cli_seconds();
    int names = call->names > 0 || is_table(call->output);
    int bad = cli_fail(c, mcr_features_open(&f, c->ctx, kernel, data, NULL, names));
    double seconds = cli_seconds() - start;
    cli_progress_clear(c);
    if (!bad && call->output)
        bad = write_vectors(c, f, data, call->output);
    if (!bad && c->common.json)
        print_json(c, call, kernel, f, seconds);
    else if (!bad && !(call->output && strcmp(call->output, "-") == 0) && !c->common.quiet)
        print_summary(call, kernel, f);
    mcr_features_close(f);
    return bad;
}

static int check_call(cli *c, const features_call *call)
{
    if (call->approx && call->names > 0)
        return cli_refuse(c, "--names: features of --approx have no names");
    int bad = cli_advise_approx(c, call->approx, call->rank != INT64_MIN, call->landmarks >= 0);
    return bad ? bad : cli_output_check(c, call->output);
}

static int run(cli *c, const void *values)
{
    const features_call *call = values;
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    int bad = check_call(c, call);
    if (!bad)
        bad = cli_read_kernel(c, &kernel, call->kernel);
    if (!bad)
        bad = cli_read_words(c, &data, 0);
    if (!bad)
        bad = call->approx ? run_near(c, call, kernel, data) : run_exact(c, call, kernel, data);
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    return bad;
}

#define AT(field) offsetof(features_call, field)

static const cli_option options[] = {
    CLI_KERNEL_OPTION(AT(kernel), 1),
    CLI_OUTPUT_OPTION(AT(output), "write the vectors: .csv, .tsv (with names), .npy, else LIBSVM"),
    {.name = "names",
     .type = CLI_INT,
     .offset = AT(names),
     .argument = "N",
     .standard = "0",
     .max = 9e18,
     .help = "list the names of the first N features"},
    {.name = "approx",
     .type = CLI_CHOICE,
     .offset = AT(approx),
     .argument = "HOW",
     .standard = "none",
     .choices = "none|nystrom|rff|falkon",
     .help = "features that approximate the kernel"},
    {.name = "rank",
     .type = CLI_INT,
     .offset = AT(rank),
     .argument = "R",
     .min = 1,
     .max = 1e6,
     .help = "number of features for --approx (default: 100)"},
    {.name = "landmarks",
     .type = CLI_CHOICE,
     .offset = AT(landmarks),
     .argument = "HOW",
     .choices = "uniform|kmeans|leverage|greedy",
     .help = "how nystrom and falkon choose landmarks (default: uniform)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"DATA...", NULL};

const cli_verb cli_verb_features = {
    .name = "features",
    .summary = "the explicit feature map of a kernel: objects as vectors",
    .usage = "DATA... -k KERNEL [-o FILE] [--names N] [--approx HOW]",
    .about = "Writes the objects as vectors phi(x) with K(x,z) = phi(x).phi(z), for kernels\n"
             "with a finite feature map (mercer kernels NAME shows whether a kernel has one).\n"
             "A linear model on these vectors is the same as a model with the kernel on the\n"
             "objects.\n"
             "With --approx the vectors have R features, and their inner products approximate\n"
             "the kernel; the error is measured on a sample of pairs. Files also contain the\n"
             "targets, except .npy, which has only the numbers.",
    .examples = "mercer sample motifs -n 200 -o motifs.txt\n"
                "mercer features motifs.txt -k 'spectrum(p=3)' --names 5 -o motifs.svm\n"
                "mercer fit svm motifs.svm -k linear -o linear.mercer\n"
                "mercer features motifs.txt -k 'ssk(p=2)' --approx nystrom --rank 50",
    .traits = CLI_READS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(features_call),
    .run = run,
};
