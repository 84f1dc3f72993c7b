/* predict_stream.c: predictions for a table while it is read, in bounded memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "predict.h"
#include "progress.h"
#include "stream.h"

enum { MOST_COMPARED = 1000000 }; /* rows of a stream that are evaluated */

static double *longer(double *list, int64_t count)
{
    double *more = realloc(list, (size_t)count * sizeof *more);
    if (!more)
        cli_die_memory();
    return more;
}

/* Space for the rows of a part. */
static void fit_part(predict_job *job, int64_t *capacity)
{
    cli_apply *a = &job->apply;
    if (a->n <= *capacity)
        return;
    *capacity = a->n + a->n / 4;
    job->value = longer(job->value, *capacity);
    if (job->call->scores || job->call->proba)
        a->buffer = longer(a->buffer, *capacity * a->cols);
    free(job->word);
    job->word = cli_alloc((size_t)*capacity, sizeof *job->word);
}

/* Classes unknown to the model are one additional class. */
static int compare_part(predict_job *job, cli_seen *so_far)
{
    const cli_apply *a = &job->apply;
    int64_t k = mcr_model_classes(a->model), more = MOST_COMPARED - so_far->compared;
    const double *weight = mcr_data_weights(a->data);
    more = a->n < more ? a->n : more;
    so_far->n += a->n;
    if (mcr_data_target_kind(a->data) == MCR_NO_TARGETS || more == 0)
        return 0;
    double *truth = cli_alloc((size_t)a->n, sizeof *truth);
    if (mcr_model_truth(a->c->ctx, a->model, a->data, truth) == MCR_OK) {
        int64_t total = so_far->compared + more;
        so_far->value = longer(so_far->value, total);
        so_far->target = longer(so_far->target, total);
        so_far->weighted |= weight != NULL;
        if (so_far->weighted)
            so_far->weight = longer(so_far->weight, total);
        for (int64_t i = 0; i < more; i++) {
            int64_t at = so_far->compared + i;
            int unknown = a->report->task == MCR_CLASSIFY && truth[i] >= (double)k;
            so_far->unknown += unknown;
            so_far->value[at] = job->value[i];
            so_far->target[at] = unknown ? (double)k : truth[i];
            if (weight)
                so_far->weight[at] = weight[i];
        }
        so_far->compared = total;
    }
    free(truth);
    return 0;
}

/* Predicts, writes and evaluates the rows that have arrived. */
static int predict_part(predict_job *job, cli_stream *stream, cli_seen *so_far, int64_t *capacity)
{
    cli_apply *a = &job->apply;
    int bad = 0;
    a->n = a->all = mcr_data_count(a->data);
    cli_stream_count(stream, a->model, a->data);
    fit_part(job, capacity);
    if (!a->output && so_far->n == 0)
        bad = cli_apply_table(a, "draw", a->cols == 1);
    else if (a->output)
        bad = cli_output_continue(a->output, a->data);
    double start = cli_seconds();
    if (!bad && a->n > 0)
        bad = cli_fail_words(a->c, cli_predict_compute(job, a->data, 0, a->n), 1);
    a->seconds += cli_seconds() - start;
    if (!bad)
        bad = cli_predict_put(job, 0, a->n);
    if (!bad && a->output)
        bad = cli_output_continue(a->output, a->data);
    return bad ? bad : compare_part(job, so_far);
}

/* The inputs of the metrics. */
static void take_seen(predict_job *job, cli_seen *so_far)
{
    cli_evaluation *e = &job->evaluation;
    int64_t k = mcr_model_classes(job->apply.model);
    job->apply.n = job->apply.all = so_far->n;
    e->what.n = so_far->compared;
    e->what.target = so_far->target;
    e->what.value = so_far->value;
    e->what.weight = so_far->weighted ? so_far->weight : NULL;
    if (k > 0) {
        e->names = k + (so_far->unknown > 0);
        e->name[k] = "unknown";
    }
    job->has_metrics = so_far->compared > 0 && job->apply.report->task != MCR_DETECT;
    if (so_far->n > so_far->compared && so_far->compared > 0) {
        char text[128];
        snprintf(text, sizeof text, "metrics are of the first %" PRId64 " of %" PRId64 " rows",
                 so_far->compared, so_far->n);
        cli_progress_log(job->apply.c, MCR_LOG_WARNING, text);
    }
}

int cli_predict_stream(predict_job *job, cli_seen *so_far)
{
    cli_apply *a = &job->apply;
    cli_stream *stream = NULL;
    mcr_data *next = NULL;
    int64_t capacity = 0;
    int bad = cli_stream_open(&stream, a->c, cli_word(a->c, 1));
    job->targets = 1;
    cli_predict_name(job);
    while (!bad && !(bad = cli_stream_next(stream, &next)) && next) {
        mcr_data_free(a->data);
        a->data = next;
        bad = predict_part(job, stream, so_far, &capacity);
    }
    if (!bad)
        bad = cli_apply_commit(a);
    cli_progress_clear(a->c);
    if (!bad && a->data)
        bad = cli_evaluation_open(&job->evaluation, a->c, a->model, a->data, job->call->positive);
    if (!bad && a->data) {
        cli_stream_remark(stream);
        take_seen(job, so_far);
    }
    cli_stream_close(stream);
    return bad;
}
