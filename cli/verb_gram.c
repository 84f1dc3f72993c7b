/* verb_gram.c: mercer gram: the kernel matrix.
 *
 * A symmetric matrix that fits into the memory budget is computed as a whole, which needs only half
 * of the kernel values; otherwise blocks of rows go through one buffer, so that a matrix of any
 * size needs little memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "text.h"

enum { CORNER = 5 };

static const size_t block_bytes = (size_t)16 << 20;

typedef struct gram_call {
    const char *kernel, *output;
    int center, single;
} gram_call;

typedef struct summary {
    double min, max, sum;
    double least_diagonal, most_diagonal;
    double corner[CORNER * CORNER];
} summary;

typedef struct gram_job {
    cli *c;
    const gram_call *call;
    mcr_kernel *kernel;
    mcr_data *x, *z; /* z NULL: x with itself */
    mcr_gram *gram;
    int64_t rows, cols;
    double *mean, total; /* over the objects of the columns; for --center */
    void *buffer;
    int in_float;       /* the buffer holds floats */
    cli_output *output; /* NULL: a summary is wanted */
    summary seen;
    double seconds; /* computing */
} gram_job;

/* ---- what becomes of the rows -----------------------------------------------------------------*/

static void see_row(gram_job *job, int64_t i, const double *row)
{
    summary *seen = &job->seen;
    for (int64_t j = 0; j < job->cols; j++) {
        seen->min = row[j] < seen->min ? row[j] : seen->min;
        seen->max = row[j] > seen->max ? row[j] : seen->max;
        seen->sum += row[j];
    }
    if (!job->z) {
        seen->least_diagonal = fmin(seen->least_diagonal, row[i]);
        seen->most_diagonal = fmax(seen->most_diagonal, row[i]);
    }
    for (int64_t j = 0; i < CORNER && j < CORNER && j < job->cols; j++)
        seen->corner[i * CORNER + j] = row[j];
}

static int use_rows(gram_job *job, int64_t first, int64_t count)
{
    if (job->output && job->in_float)
        return cli_output_rows_float(job->output, job->buffer, count, job->cols);
    if (job->output)
        return cli_output_rows(job->output, job->buffer, count, job->cols);
    const double *value = job->buffer;
    for (int64_t i = 0; i < count; i++)
        see_row(job, first + i, value + i * job->cols);
    return 0;
}

/* ---- computing --------------------------------------------------------------------------------*/

/* The row means of the whole symmetric matrix in the buffer. */
static void take_means(gram_job *job)
{
    const double *value = job->buffer;
    job->total = 0;
    for (int64_t i = 0; i < job->rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < job->cols; j++)
            sum += value[i * job->cols + j];
        job->mean[i] = sum / (double)job->cols;
        job->total += job->mean[i] / (double)job->rows;
    }
}

/* The same from the kernel, for blocks: means over the objects of the columns. */
static mcr_status compute_means(gram_job *job)
{
    mcr_gram *columns = NULL;
    mcr_status status = MCR_OK;
    if (job->z)
        status = mcr_gram_open(&columns, job->c->ctx, job->kernel, job->z, NULL);
    if (status == MCR_OK)
        status = mcr_gram_means(columns ? columns : job->gram, job->mean, &job->total);
    mcr_gram_close(columns);
    return status;
}

static mcr_status center(gram_job *job, int64_t rows)
{
    return mcr_gram_center(job->c->ctx, job->buffer, rows, job->cols, job->cols, job->mean,
                           job->total);
}

static int compute_whole(gram_job *job)
{
    double start = cli_seconds();
    mcr_status status = job->in_float ? mcr_gram_matrix_float(job->gram, job->buffer, job->cols)
                                      : mcr_gram_matrix(job->gram, job->buffer, job->cols);
    if (status == MCR_OK && job->call->center) {
        take_means(job);
        status = center(job, job->rows);
    }
    job->seconds += cli_seconds() - start;
    return status == MCR_OK ? use_rows(job, 0, job->rows) : cli_fail(job->c, status);
}

static int compute_blocks(gram_job *job, int64_t at_once)
{
    double start = cli_seconds();
    mcr_status status = job->call->center ? compute_means(job) : MCR_OK;
    int bad = cli_fail(job->c, status);
    job->seconds += cli_seconds() - start;
    for (int64_t first = 0; !bad && first < job->rows; first += at_once) {
        int64_t count = job->rows - first < at_once ? job->rows - first : at_once;
        mcr_rows x = {NULL, first, count}, z = {NULL, 0, job->cols};
        cli_progress_part(job->c, (double)first / (double)job->rows,
                          (double)count / (double)job->rows);
        start = cli_seconds();
        status = job->in_float ? mcr_gram_block_float(job->gram, x, z, job->buffer, job->cols)
                               : mcr_gram_block(job->gram, x, z, job->buffer, job->cols);
        if (status == MCR_OK && job->call->center)
            status = center(job, count);
        job->seconds += cli_seconds() - start;
        bad = cli_fail(job->c, status);
        if (!bad)
            bad = use_rows(job, first, count);
    }
    return bad;
}

static int compute(gram_job *job)
{
    size_t number = job->in_float ? sizeof(float) : sizeof(double);
    size_t budget = mcr_memory_budget(job->c->ctx);
    double whole = (double)job->rows * (double)job->cols * (double)number;
    if (job->call->center)
        job->mean = cli_alloc((size_t)job->cols, sizeof *job->mean);
    if (!job->z && whole <= (double)budget) {
        job->buffer = cli_alloc_matrix(job->c, job->rows, job->cols, number);
        return job->buffer ? compute_whole(job) : 1;
    }
    size_t bytes = block_bytes < budget ? block_bytes : budget;
    int64_t at_once = (int64_t)(bytes / ((size_t)(job->cols + !job->cols) * number));
    at_once = at_once < 1 ? 1 : at_once > job->rows ? job->rows : at_once;
    job->buffer = cli_alloc_matrix(job->c, at_once, job->cols, number);
    return job->buffer ? compute_blocks(job, at_once) : 1;
}

/* ---- the verb ---------------------------------------------------------------------------------*/

/* On a terminal a summary is more useful than all the numbers. */
static int wants_summary(const gram_job *job)
{
    return !job->call->output && (job->c->common.json || isatty(STDOUT_FILENO));
}

/* Two data sets that differ only in the names of their columns: then columns would be matched
 * wrongly by position. And reports different widths with the files. */
static int check_pair(const gram_job *job)
{
    cli *c = job->c;
    const char *x_name = cli_word(c, 0), *z_name = cli_word(c, 1);
    int64_t fields = mcr_data_fields(job->x);
    int alike = fields == mcr_data_fields(job->z) &&
                (mcr_data_target_kind(job->x) == MCR_NO_TARGETS) ==
                    (mcr_data_target_kind(job->z) == MCR_NO_TARGETS);
    for (int64_t f = 0; f < fields && f < mcr_data_fields(job->z); f++) {
        mcr_field_info x = MCR_INIT(mcr_field_info), z = x;
        if (mcr_data_field_info(job->x, f, &x) != MCR_OK ||
            mcr_data_field_info(job->z, f, &z) != MCR_OK)
            return 0;
        int vectors = x.kind == MCR_DENSE || x.kind == MCR_SPARSE;
        alike = alike && x.kind == z.kind && x.cols == z.cols && strcmp(x.name, z.name) == 0 &&
                (vectors || x.kind == MCR_STRINGS);
        if (fields == 1 && mcr_data_fields(job->z) == 1 && vectors &&
            ((x.kind == MCR_DENSE && z.kind == MCR_DENSE && x.cols != z.cols) ||
             (x.kind == MCR_DENSE && z.kind == MCR_SPARSE && x.cols < z.cols) ||
             (x.kind == MCR_SPARSE && z.kind == MCR_DENSE && z.cols < x.cols)))
            return cli_fault(c, NULL,
                             "%s has %" PRId64 " features and %s has %" PRId64
                             ": both must have the same",
                             x_name, x.cols, z_name, z.cols);
    }
    int bad = cli_check_order(c, job->x, job->z);
    if (bad || !alike || cli_try_join(job->x, job->z) != MCR_BAD_DATA)
        return bad;
    static const char join[] = "cannot join: ";
    const char *why = mcr_message(c->ctx);
    size_t skip = strncmp(why, join, strlen(join)) == 0 ? strlen(join) : 0;
    return cli_fault(c, NULL, "%s and %s: %s", x_name, z_name, why + skip);
}

static int open_job(gram_job *job)
{
    cli *c = job->c;
    int bad = cli_output_check_table(c, job->call->output);
    if (cli_word(c, 1) && strcmp(cli_word(c, 0), "-") == 0 && strcmp(cli_word(c, 1), "-") == 0)
        return cli_refuse(c, "DATA and DATA2 cannot both be standard input");
    if (!bad)
        bad = cli_read_kernel(c, &job->kernel, job->call->kernel);
    if (!bad)
        bad = cli_read_data(c, &job->x, cli_word(c, 0));
    if (!bad && cli_word(c, 1))
        bad = cli_read_data(c, &job->z, cli_word(c, 1));
    if (!bad && job->z)
        bad = check_pair(job);
    if (bad)
        return bad;
    job->rows = mcr_data_count(job->x);
    job->cols = mcr_data_count(job->z ? job->z : job->x);
    job->in_float = job->call->single && !job->call->center && !wants_summary(job);
    job->seen = (summary){
        .min = INFINITY, .max = -INFINITY, .least_diagonal = INFINITY, .most_diagonal = -INFINITY};
    double start = cli_seconds();
    bad = cli_fail(c, mcr_gram_open(&job->gram, c->ctx, job->kernel, job->x, job->z));
    job->seconds = cli_seconds() - start;
    if (bad || wants_summary(job))
        return bad;
    cli_table table = {
        .rows = job->rows, .cols = job->cols, .prefix = "k", .single = job->call->single};
    return cli_output_open(&job->output, c, job->call->output, &table);
}

static void close_job(gram_job *job)
{
    cli_output_discard(job->output);
    free(job->buffer);
    free(job->mean);
    mcr_gram_close(job->gram);
    mcr_data_free(job->x);
    mcr_data_free(job->z);
    mcr_kernel_free(job->kernel);
}

static void print_json(const gram_job *job, int summed)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_integer(&j, "rows", job->rows);
    cli_json_integer(&j, "cols", job->cols);
    cli_json_text(&j, "kernel", mcr_kernel_text(job->kernel));
    cli_json_flag(&j, "centered", job->call->center);
    cli_json_text(&j, "output", job->call->output);
    if (summed) {
        cli_json_real(&j, "min", job->seen.min);
        cli_json_real(&j, "max", job->seen.max);
        cli_json_real(&j, "mean", job->seen.sum / ((double)job->rows * (double)job->cols));
    }
    cli_json_seconds(&j, "seconds", job->seconds);
    cli_json_seconds(&j, "seconds_total", cli_seconds() - job->c->started);
    cli_json_end(&j);
}

static void print_summary(const gram_job *job)
{
    const summary *seen = &job->seen;
    int64_t rows = job->rows < CORNER ? job->rows : CORNER;
    int64_t cols = job->cols < CORNER ? job->cols : CORNER;
    cli_say("kernel", "%s", mcr_kernel_text(job->kernel));
    cli_say("matrix", "%" PRId64 " x %" PRId64 "%s%s", job->rows, job->cols,
            job->z ? "" : ", symmetric", job->call->center ? ", centred" : "");
    cli_say("values", "%.6g to %.6g, mean %.6g", seen->min, seen->max,
            seen->sum / ((double)job->rows * (double)job->cols));
    if (!job->z)
        cli_say("diagonal", "%.6g to %.6g", seen->least_diagonal, seen->most_diagonal);
    cli_say("seconds", "%.3g (%.3g with reading)", job->seconds, cli_seconds() - job->c->started);
    printf("\nthe first %" PRId64 " rows and %" PRId64 " columns (-o FILE writes all):\n", rows,
           cols);
    cli_put_matrix(seen->corner, rows, cols, CORNER, 2);
}

static void print_written(const gram_job *job)
{
    if (!job->call->output || job->c->common.quiet || strcmp(job->call->output, "-") == 0)
        return;
    printf("%s: %" PRId64 " x %" PRId64 "%s, %s, %.3g s computing, %.3g s in all\n",
           job->call->output, job->rows, job->cols, job->call->center ? ", centred" : "",
           mcr_kernel_text(job->kernel), job->seconds, cli_seconds() - job->c->started);
}

static int run(cli *c, const void *values)
{
    gram_job job = {.c = c, .call = values};
    int bad = open_job(&job);
    int summed = !bad && !job.output;
    if (!bad)
        bad = compute(&job);
    if (!bad && job.output) {
        bad = cli_output_commit(job.output);
        job.output = NULL;
    }
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(&job, summed);
    else if (!bad && summed)
        print_summary(&job);
    else if (!bad)
        print_written(&job);
    close_job(&job);
    return bad;
}

#define AT(field) offsetof(gram_call, field)

static const cli_option options[] = {
    CLI_KERNEL_OPTION(AT(kernel), 1),
    CLI_OUTPUT_OPTION(AT(output), "write the matrix: .npy, .csv, else text; -: standard output"),
    {.name = "center",
     .type = CLI_FLAG,
     .offset = AT(center),
     .help = "centre in feature space, by the mean of the objects of the columns"},
    {.name = "float",
     .type = CLI_FLAG,
     .offset = AT(single),
     .help = "single precision: 7 digits, half the size, faster"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"DATA", "DATA2", NULL};

const cli_verb cli_verb_gram = {
    .name = "gram",
    .summary = "the kernel matrix",
    .usage = "DATA [DATA2] -k KERNEL [-o FILE.npy] [--center]",
    .about = "Computes the kernel matrix of the objects in DATA. With DATA2 the rows are the\n"
             "objects of DATA and the columns are the objects of DATA2, as in new objects\n"
             "against training objects.\n"
             "Without -o the matrix is written to standard output as text; on a terminal, a\n"
             "summary is printed instead. --center subtracts the mean in feature space; with\n"
             "DATA2 this is the mean of DATA2.",
    .examples =
        "mercer sample moons -n 100 -o moons.csv\n"
        "mercer gram moons.csv -k 'rbf(gamma=2)' -o gram.npy\n"
        "mercer sample moons -n 20 --seed 2 -o new.csv\n"
        "mercer gram new.csv moons.csv -k '2*poly(degree=3, c=1) + linear' --center -o new.npy\n"
        "mercer gram moons.csv -k 'linear' --json",
    .traits = CLI_READS,
    .words = words,
    .options = options,
    .values_size = sizeof(gram_call),
    .run = run,
};
