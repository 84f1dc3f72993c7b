/* apply.c: applies a model to objects, block by block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "apply.h"

#include <stdlib.h>

#include "advice.h"
#include "progress.h"
#include "tables.h"
#include "team.h"

static const int64_t block_numbers = (int64_t)1 << 22;

int cli_apply_open(cli_apply *a, cli *c, const char *path)
{
    *a = (cli_apply){.c = c, .path = path};
    int bad = cli_output_check_table(c, path);
    if (!bad)
        bad = cli_fail(c, mcr_model_load(&a->model, c->ctx, cli_word(c, 0)));
    if (bad)
        return bad;
    a->report = mcr_model_report(a->model);
    cli_read_like(c, a->model);
    return 0;
}

int cli_apply_read(cli_apply *a)
{
    int bad = cli_read_words(a->c, &a->data, 1);
    if (!bad)
        bad = cli_advise_features(a->c, a->report, a->data);
    if (!bad) {
        cli_tables_remark(a->c, a->data, a->model);
        cli_tables_unseen(a->c, a->model, a->data);
        a->n = a->all = mcr_data_count(a->data);
    }
    double all = (double)a->n;
    if (!bad && cli_team_of_rows(a->c))
        bad = cli_fail(a->c, a->c->team->sum(a->c, &all, 1));
    a->all = (int64_t)all;
    return bad;
}

int cli_apply_table(cli_apply *a, const char *prefix, int flat)
{
    cli_table table = {.rows = a->n,
                       .cols = a->cols,
                       .names = a->name,
                       .prefix = prefix,
                       .flat = flat,
                       .objects = a->data};
    return a->path || !a->c->common.json ? cli_output_open(&a->output, a->c, a->path, &table) : 0;
}

int64_t cli_apply_block(const cli_apply *a)
{
    int64_t at_once = 1 + block_numbers / a->cols;
    return at_once < a->n ? at_once : a->n;
}

static int ask(cli_apply *a, int64_t first, int64_t rows, cli_apply_compute *compute, void *arg)
{
    mcr_data *part = NULL;
    double start = cli_seconds();
    cli_progress_part(a->c, (double)first / (double)a->n, (double)rows / (double)a->n);
    mcr_status status = mcr_data_select(&part, a->data, (mcr_rows){NULL, first, rows});
    if (status == MCR_OK)
        status = compute(arg, part, first, rows);
    mcr_data_free(part);
    a->seconds += cli_seconds() - start;
    return cli_fail_words(a->c, status, 1);
}

int cli_apply_run(cli_apply *a, int64_t at_once, cli_apply_compute *compute, cli_apply_put *put,
                  void *arg)
{
    int bad = 0;
    for (int64_t first = 0; !bad && first < a->n; first += at_once) {
        int64_t rows = a->n - first < at_once ? a->n - first : at_once;
        bad = ask(a, first, rows, compute, arg);
        if (!bad)
            bad = put(arg, first, rows);
    }
    if (!bad && a->output)
        bad = cli_output_sync(a->output);
    cli_progress_clear(a->c);
    return bad;
}

int cli_apply_commit(cli_apply *a)
{
    int bad = a->output ? cli_output_commit(a->output) : 0;
    a->output = NULL;
    return bad;
}

void cli_apply_json(cli_json *j, const cli_apply *a)
{
    cli_json_integer(j, "n", a->all);
    cli_json_text(j, "model", cli_word(a->c, 0));
    cli_json_text(j, "output", a->path);
    cli_json_real(j, "seconds", a->seconds);
    cli_json_real(j, "seconds_total", cli_seconds() - a->c->started);
}

void cli_apply_close(cli_apply *a)
{
    cli_output_discard(a->output);
    free(a->name);
    free(a->buffer);
    mcr_data_free(a->data);
    mcr_model_free(a->model);
}
