/* report.c: the results of training.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "report.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

static void say_data(const mcr_report_fit *r)
{
    char n[64], features[64], more[64] = "";
    if (r->classes == 1)
        snprintf(more, sizeof more, ", 1 class");
    else if (r->classes > 1)
        snprintf(more, sizeof more, ", %" PRId64 " classes", r->classes);
    else if (r->targets > 1)
        snprintf(more, sizeof more, ", %" PRId64 " targets", r->targets);
    cli_say("data", "%s%s%s%s", cli_count_text(n, r->n, "object"), r->features ? ", " : "",
            r->features ? cli_count_text(features, r->features, "feature") : "", more);
}

/* How many of the digits are significant, given the error; 0: none. */
static int known_digits(double value, double error, int most)
{
    if (!(error > 0))
        return most;
    if (!(fabs(value) > error))
        return 0;
    double known = floor(log10(fabs(value))) - ceil(log10(error)) + 1;
    return known < 0 ? 0 : known < most ? (int)known : most;
}

const char *cli_short_text(char *text, double value, double error)
{
    int digits = known_digits(value, error, 3);
    if (isinf(error)) {
        snprintf(text, 32, "unknown");
    } else if (value == 0 && digits > 0) {
        snprintf(text, 32, "0");
    } else if (digits > 0) {
        snprintf(text, 32, "%.*e", digits - 1, value);
    } else {
        double most = fmax(value + error, DBL_MIN), unit = pow(10, floor(log10(most)));
        snprintf(text, 32, "< %.0e", (floor(most / unit) + 1) * unit);
    }
    return text;
}

const char *cli_known_text(char *text, double value, double error)
{
    int digits = known_digits(value, error, 9);
    if (digits > 0)
        snprintf(text, 32, "%.*g", digits, value);
    else if (value >= 0)
        return cli_short_text(text, value, error);
    else
        snprintf(text, 32, "unknown");
    return text;
}

/* Of several problems some may not have been started: then sums over the others are meaningless. */
static void say_certificate(const mcr_report_fit *r)
{
    char text[32], dual[32], gap[32];
    if (r->certificate && isinf(r->value)) {
        cli_say("certified", "no: a part of the problem was not started");
        return;
    }
    if (r->certificate && isfinite(r->value))
        cli_say("certified", "%s %s, tolerance %.2g", r->certificate,
                cli_short_text(text, r->value, r->value_error), r->tolerance);
    if (strcmp(r->learner, "gp") == 0 && r->gap > 0)
        cli_say("", "log likelihood between %s and %s, gap %s",
                cli_known_text(dual, r->dual, r->objective_error),
                cli_known_text(text, r->primal, r->objective_error),
                cli_short_text(gap, r->gap, r->objective_error));
    else if (isfinite(r->primal) && isfinite(r->dual))
        cli_say("", "primal %s, dual %s, gap %s",
                cli_known_text(text, r->primal, r->objective_error),
                cli_known_text(dual, r->dual, r->objective_error),
                cli_short_text(gap, r->gap, r->objective_error));
}

static void say_stop(const mcr_report_fit *r)
{
    static const char *const why[] = {
        [MCR_STOP_OPTIMAL] = "within the tolerance",
        [MCR_STOP_STEPS] = "the limit on steps was reached",
        [MCR_STOP_TIME] = "the time limit was reached",
        [MCR_STOP_INTERRUPTED] = "the best so far was kept",
        [MCR_STOP_STUCK] = "no further progress was possible",
        [MCR_STOP_LOCAL] = "within the tolerance; a better optimum elsewhere is not excluded",
    };
    char text[128];
    snprintf(text, sizeof text, "%s, after %" PRId64 " step%s", why[r->stop], r->iterations,
             r->iterations == 1 ? "" : "s");
    cli_say_word("stop", r->stop == MCR_STOP_OPTIMAL ? CLI_GOOD : CLI_DOUBT, mcr_stop_name(r->stop),
                 text);
}

static void say_score(const mcr_report_fit *r)
{
    if (isfinite(r->accuracy))
        cli_say("training", "accuracy %.6g", r->accuracy);
    const char *mean = r->targets > 1 ? " (means over the targets)" : "";
    if (isfinite(r->mse) && isfinite(r->r2))
        cli_say("training", "mse %.6g, r2 %.6g%s", r->mse, r->r2, mean);
    else if (isfinite(r->mse))
        cli_say("training", "mse %.6g%s", r->mse, mean);
    if (isfinite(r->loo))
        cli_say("left out", "%s %.6g, each object predicted from the others",
                r->task == MCR_CLASSIFY ? "accuracy" : "mse",
                r->task == MCR_CLASSIFY ? 1 - r->loo : r->loo);
}

/* The fractions of variance of the first components, and of all together. */
static void say_variances(const mcr_report_fit *r)
{
    enum { SHOWN = 6 };
    char text[256] = "";
    size_t used = 0;
    double sum = 0;
    for (int64_t c = 0; c < r->variances; c++) {
        double share = 100 * r->variance[c] / r->total_variance;
        sum += share;
        if (c < SHOWN)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.3g %%", c ? " + " : "",
                                     share);
    }
    if (r->variances > 1)
        cli_say("variance", "%s%s = %.4g %% of %.6g", text, r->variances > SHOWN ? " + ..." : "",
                sum, r->total_variance);
    else if (r->variances)
        cli_say("variance", "%s of %.6g", text, r->total_variance);
}

static void say_correlations(const mcr_report_fit *r)
{
    enum { SHOWN = 10 };
    char text[256] = "";
    size_t used = 0;
    for (int64_t c = 0; c < r->correlations && c < SHOWN; c++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.4g", c ? ", " : "",
                                 r->correlation[c]);
    if (r->correlations)
        cli_say("training", "correlation%s %s%s", r->correlations > 1 ? "s" : "", text,
                r->correlations > SHOWN ? ", ..." : "");
}

void cli_report_say(const mcr_report_fit *r)
{
    char count[64];
    if (*r->options)
        cli_say("learner", "%s, %s", r->learner, r->options);
    else
        cli_say("learner", "%s", r->learner);
    cli_say("kernel", "%s", r->kernel);
    if (r->second_kernel)
        cli_say("second", "%s", r->second_kernel);
    if (r->n > 0)
        say_data(r);
    if (r->n > 0)
        cli_say("support", "%s (%.3g %%)", cli_count_text(count, r->support, "vector"),
                100 * (double)r->support / (double)r->n);
    else
        cli_say("support", "%s", cli_count_text(count, r->support, "vector"));
    if (r->why)
        cli_say("form", "%s: %s", r->form, r->why);
    else if (r->approx)
        cli_say("form", "%s by %s, kernel values off by %.2g (root mean square)", r->form,
                r->approx, r->kernel_error[1]);
    if (isfinite(r->objective))
        cli_say("objective", "%s", cli_known_text(count, r->objective, r->objective_error));
    say_certificate(r);
    if (r->n > 0)
        say_stop(r);
    say_score(r);
    if (isfinite(r->noise))
        cli_say("noise", "standard deviation %.6g, variance %.6g", sqrt(r->noise), r->noise);
    say_variances(r);
    say_correlations(r);
    if (r->remark)
        cli_say("remark", "%s", r->remark);
}

static void fact_json(cli_json *j, const char *key, const mcr_fact *f)
{
    switch (f->type) {
    case MCR_FACT_TEXT: cli_json_text(j, key, f->text); break;
    case MCR_FACT_INT: cli_json_integer(j, key, f->integer); break;
    case MCR_FACT_REAL: cli_json_real(j, key, f->real); break;
    case MCR_FACT_FLAG: cli_json_flag(j, key, f->integer != 0); break;
    case MCR_FACT_REALS: cli_json_reals(j, key, f->reals, f->count); break;
    case MCR_FACT_NONE: cli_json_null(j, key); break;
    }
}

/* Facts with a common prefix up to a dot form an object. */
void cli_report_json(cli_json *j, const mcr_model *model)
{
    mcr_fact f = MCR_INIT(mcr_fact);
    char group[64] = "", last[64] = "";
    int scored = 0;
    for (int64_t i = 0; mcr_model_fact(model, i, &f) == MCR_OK && f.group == MCR_FACTS_REPORT;
         i++) {
        const char *dot = strchr(f.name, '.');
        snprintf(group, sizeof group, "%.*s", dot ? (int)(dot - f.name) : 0, f.name);
        if (*last && strcmp(last, group) != 0)
            cli_json_end(j);
        if (*group && strcmp(last, group) != 0)
            cli_json_object(j, group);
        fact_json(j, dot ? dot + 1 : f.name, &f);
        scored |= strcmp(group, "train") == 0;
        memcpy(last, group, sizeof last);
    }
    if (*last)
        cli_json_end(j);
    if (!scored) { /* the key is always present */
        cli_json_object(j, "train");
        cli_json_end(j);
    }
}

void cli_metrics_json(cli_json *j, const mcr_metrics *metrics)
{
    mcr_fact f = MCR_INIT(mcr_fact);
    for (int64_t i = 0; mcr_metrics_fact(metrics, i, &f) == MCR_OK; i++)
        if (strcmp(f.name, "n") != 0)
            fact_json(j, f.name, &f);
}
