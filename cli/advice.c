/* advice.c: advice for calls that do not suit the data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "advice.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learner.h"
#include "progress.h"
#include "tables.h"
#include "text.h"

enum { SHOWN = 4 }; /* fields in a message */

/* ---- no kernel --------------------------------------------------------------------------------*/

static const char *kind_text(mcr_kind kind)
{
    switch (kind) {
    case MCR_DENSE:
    case MCR_SPARSE: return "vectors";
    case MCR_STRINGS: return "strings";
    case MCR_GRAPHS: return "graphs";
    case MCR_PRECOMPUTED: return "precomputed";
    }
    return "unknown";
}

/* Proposes a kernel for the field; several fields need their names. */
static void propose(char *text, size_t capacity, const mcr_field_info *f, int named)
{
    char field[96] = "";
    const char *quote = "";
    for (const char *p = f->name; *p; p++)
        if (!(isalpha((unsigned char)*p) || *p == '_' ||
              (p > f->name && isdigit((unsigned char)*p))))
            quote = "\"";
    if (named)
        snprintf(field, sizeof field, "%s%.64s%s", quote, f->name, quote);
    const char *comma = named ? ", " : "";
    switch (f->kind) {
    case MCR_DENSE:
    case MCR_SPARSE: snprintf(text, capacity, "rbf(%s%sgamma=0.1)", field, comma); break;
    case MCR_STRINGS: snprintf(text, capacity, "spectrum(%s%sp=3)", field, comma); break;
    case MCR_GRAPHS: snprintf(text, capacity, named ? "wl(%s)" : "wl%s", field); break;
    case MCR_PRECOMPUTED:
        snprintf(text, capacity, named ? "precomputed(%s)" : "precomputed%s", field);
    }
}

static void append(char *text, size_t capacity, const char *between, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%s", used ? between : "", more);
}

static int refuse_kernel(cli *c, const mcr_data *data, const char *why)
{
    char has[512] = "", kernel[512] = "", one[192];
    int64_t fields = mcr_data_fields(data);
    for (int64_t i = 0; i < fields && i < SHOWN; i++) {
        mcr_field_info f = MCR_INIT(mcr_field_info);
        if (mcr_data_field_info(data, i, &f) != MCR_OK)
            continue;
        snprintf(one, sizeof one, "%.64s (%s)", f.name, kind_text(f.kind));
        append(has, sizeof has, ", ", one);
        propose(one, sizeof one, &f, fields > 1);
        append(kernel, sizeof kernel, " + ", one);
    }
    return cli_refuse(c, "%s, and the data have %s%s; for example -k '%s'", why, has,
                      fields > SHOWN ? ", ..." : "", kernel);
}

static int refuse_without_kernel(cli *c, const mcr_data *data)
{
    return refuse_kernel(c, data, "no kernel given (-k): there is a default only for vectors");
}

/* Whether vectors could be rows of kernel values: square, symmetric in a sample, and with a
 * diagonal that squared norms can have. */
static int is_like_gram(const mcr_data *data)
{
    enum { LOOKED_AT = 500, LEAST = 3 };
    mcr_field_info f = MCR_INIT(mcr_field_info);
    int64_t n = mcr_data_count(data), m = n < LOOKED_AT ? n : LOOKED_AT;
    if (mcr_data_field_info(data, 0, &f) != MCR_OK || f.kind != MCR_DENSE || f.cols != n ||
        n < LEAST)
        return 0;
    double *row = cli_alloc((size_t)(m * n), sizeof *row);
    int like = 1;
    for (int64_t i = 0; i < m && like; i++) {
        like = mcr_data_vector(data, 0, i, row + i * n) == MCR_OK && row[i * n + i] > 0;
        for (int64_t j = 0; j < i && like; j++)
            like = row[i * n + j] == row[j * n + i];
    }
    free(row);
    return like;
}

int cli_advise_is_mixed(const mcr_data *data)
{
    int table = mcr_data_fields(data) > 1, known = 0;
    for (int64_t i = 0; i < mcr_data_fields(data); i++) {
        mcr_field_info f = MCR_INIT(mcr_field_info);
        if (mcr_data_field_info(data, i, &f) != MCR_OK || f.role == MCR_ROLE_NONE)
            return 0;
        known |= f.role != MCR_WORDS;
        table |= f.role != MCR_NUMBER && f.role != MCR_WORDS;
    }
    return table && known;
}

int cli_advise_kernel(cli *c, mcr_kernel **out, const mcr_data *data)
{
    mcr_field_info f = MCR_INIT(mcr_field_info);
    *out = NULL;
    if (cli_advise_is_mixed(data)) {
        cli_tables_say_unused(c, data);
        return 0;
    }
    if (mcr_data_fields(data) != 1 || mcr_data_field_info(data, 0, &f) != MCR_OK)
        return refuse_without_kernel(c, data);
    if (f.kind == MCR_PRECOMPUTED)
        return cli_read_kernel(c, out, "precomputed");
    if (is_like_gram(data))
        cli_progress_log(
            c, MCR_LOG_WARNING,
            "the data are a square, symmetric matrix, and its rows are used as vectors; if these "
            "are kernel values, use --format precomputed, which reads .npy files and LIBSVM lines");
    return f.kind == MCR_DENSE || f.kind == MCR_SPARSE ? 0 : refuse_without_kernel(c, data);
}

int cli_advise_is_default(const char *kernel)
{
    char text[16] = "";
    size_t length = 0;
    for (; *kernel && length + 1 < sizeof text; kernel++)
        if (!isspace((unsigned char)*kernel))
            text[length++] = *kernel;
    return strcmp(text, "rbf") == 0 || strcmp(text, "rbf()") == 0;
}

int cli_advise_gamma(cli *c, const char *kernel, const mcr_data *data)
{
    mcr_field_info f = MCR_INIT(mcr_field_info);
    char example[192];
    int vectors = 0, mixed = cli_advise_is_mixed(data);
    for (int64_t i = 0; i < mcr_data_fields(data) && !vectors; i++)
        vectors = mcr_data_field_info(data, i, &f) == MCR_OK &&
                  (f.kind == MCR_DENSE || f.kind == MCR_SPARSE);
    if (!vectors)
        return refuse_kernel(c, data, "rbf is a kernel on vectors");
    if (!mixed && mcr_data_fields(data) == 1)
        return 0;
    propose(example, sizeof example, &f, 1);
    return cli_refuse(c,
                      "-k %s: gamma has a default only for data of one field of vectors: give it, "
                      "such as %s%s",
                      kernel, example, mixed ? ", or omit -k" : "");
}

/* ---- columns in different units ---------------------------------------------------------------*/

static size_t word_length(const char *p)
{
    size_t length = 0;
    while (isalnum((unsigned char)p[length]) || p[length] == '_')
        length++;
    return length;
}

/* Whether the expression has a kernel of distances or inner products of all columns, without a
 * scale per column. */
static int feels_units(const char *text)
{
    static const char *const names[] = {"linear", "poly", "rbf",     "laplace",
                                        "matern", "rq",   "sigmoid", "cosine"};
    int feels = 0;
    size_t length;
    for (const char *p = text; *p; p += length ? length : 1) {
        int known = 0;
        length = word_length(p);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            known |= strlen(names[i]) == length && strncmp(p, names[i], length) == 0;
        feels |= known;
        int value = p > text && (p[-1] == '=' || p[-1] == '.' || p[-1] == '-' || p[-1] == '+');
        if (isalpha((unsigned char)*p) && !known && !value && p[length] != '=' && p[length] != '(')
            return 0; /* a column */
    }
    return feels && !strpbrk(text, "[\"");
}

/* The standard deviation of each column in a sample; NAN: all values are missing. */
static void find_standard_deviations(const mcr_data *data, int64_t cols, double *std)
{
    enum { LOOKED_AT = 2000 };
    int64_t n = mcr_data_count(data), step = n / LOOKED_AT + 1;
    double *row = cli_alloc((size_t)(3 * cols), sizeof *row), *count = row + cols;
    double *mean = count + cols;
    for (int64_t k = 0; k < cols; k++)
        std[k] = mean[k] = count[k] = 0;
    for (int64_t i = 0; i < n; i += step) {
        if (mcr_data_vector(data, 0, i, row) != MCR_OK)
            continue;
        for (int64_t k = 0; k < cols; k++) {
            double off = row[k] - mean[k];
            if (isnan(off))
                continue;
            mean[k] += off / ++count[k];
            std[k] += off * (row[k] - mean[k]);
        }
    }
    for (int64_t k = 0; k < cols; k++)
        std[k] = sqrt(std[k] / count[k]);
    free(row);
}

static const char *column_text(const mcr_data *data, int64_t k, char text[128])
{
    const char *name = mcr_data_column_name(data, 0, k);
    if (name)
        snprintf(text, 128, "\"%.100s\"", name);
    else
        snprintf(text, 128, "%" PRId64, k + 1);
    return text;
}

void cli_advise_scale(cli *c, const mcr_data *data, const mcr_kernel *kernel)
{
    const double far = 100;
    char line[512], name[2][128];
    int64_t least = -1, most = -1;
    mcr_field_info f = MCR_INIT(mcr_field_info);
    if ((kernel && !feels_units(mcr_kernel_text(kernel))) || mcr_data_fields(data) != 1 ||
        mcr_data_field_info(data, 0, &f) != MCR_OK || f.kind != MCR_DENSE || f.cols < 2)
        return;
    double *std = cli_alloc((size_t)f.cols, sizeof *std);
    find_standard_deviations(data, f.cols, std);
    for (int64_t k = 0; k < f.cols; k++) {
        if (!(std[k] > 0) || !isfinite(std[k])) /* constant columns change nothing */
            continue;
        least = least < 0 || std[k] < std[least] ? k : least;
        most = most < 0 || std[k] > std[most] ? k : most;
    }
    if (least >= 0 && std[most] >= far * std[least]) {
        snprintf(line, sizeof line,
                 "the standard deviation of column %s is %.2g, and that of column %s %.2g: the "
                 "%skernel sees little of the second; consider --scale standard",
                 column_text(data, most, name[0]), std[most], column_text(data, least, name[1]),
                 std[least], kernel ? "" : "default ");
        cli_progress_log(c, MCR_LOG_WARNING, line);
    }
    free(std);
}

/* ---- approximate features ---------------------------------------------------------------------*/

int cli_advise_approx(cli *c, int approx, int rank_given, int landmarks_given)
{
    if (rank_given && approx == MCR_APPROX_NONE)
        return cli_refuse(c, "--rank is the number of features of --approx, which is not given: "
                             "add --approx nystrom, falkon or rff (gp: sgpr), or omit --rank");
    if (landmarks_given && approx != MCR_APPROX_NYSTROM && approx != MCR_APPROX_FALKON)
        return cli_refuse(c,
                          "--landmarks is for --approx nystrom and falkon (gp: sgpr)%s: add one of "
                          "these, or omit --landmarks",
                          approx == MCR_APPROX_RFF ? ", and rff has none" : "");
    return 0;
}

/* ---- targets ----------------------------------------------------------------------------------*/

/* A learner for both tasks treats numbers as numbers, but a few distinct integers are more often
 * classes. */
static void advise_task(cli *c, const char *learner, const mcr_data *data)
{
    enum { FEW = 10 };
    int64_t classes = mcr_data_classes(data), count = mcr_data_count(data);
    const double *target = mcr_data_targets(data);
    char text[256];
    int whole = mcr_data_target_kind(data) == MCR_REAL_TARGETS && !cli_learner_given(c, "task") &&
                mcr_data_target_count(data) == 1;
    for (int64_t i = 0; i < count && whole; i++)
        whole = target[i] == floor(target[i]);
    if (!whole || classes < 2 || classes > FEW || classes > count / 5)
        return;
    snprintf(text, sizeof text,
             "the targets are %" PRId64 " whole numbers, and %s predicts numbers; if they name "
             "classes, use --task classify (--task regress if not)",
             classes, learner);
    cli_progress_log(c, MCR_LOG_WARNING, text);
}

/* Whether numbers look like measurements: 2 for many fractions, or values that are mostly different
 * and far apart; 1 for ratings with fractions, and integers that do not number the classes. */
static int look_measured(const mcr_data *data)
{
    enum { FEW = 10, RATINGS = 20, SPREAD = 2 };
    int64_t classes = mcr_data_classes(data), count = mcr_data_count(data);
    const double *target = mcr_data_targets(data);
    double min = INFINITY, max = -INFINITY;
    if (mcr_data_target_kind(data) != MCR_REAL_TARGETS || mcr_data_target_count(data) != 1 ||
        classes <= FEW)
        return 0;
    for (int64_t i = 0; i < count; i++) {
        if (target[i] != floor(target[i]))
            return classes > RATINGS || classes > count / 2 ? 2 : 1;
        min = fmin(min, target[i]);
        max = fmax(max, target[i]);
    }
    int apart = max - min > SPREAD * (double)classes, once = classes > count / 2;
    return apart && once ? 2 : apart || once;
}

int cli_advise_targets(cli *c, const char *learner, const mcr_data *data)
{
    char text[320];
    int task = cli_learner_task(learner);
    int measured = task == MCR_CLASSIFY ? look_measured(data) : 0;
    if (task == MCR_EITHER)
        advise_task(c, learner, data);
    if (!measured)
        return 0;
    snprintf(text, sizeof text,
             "the targets are %" PRId64 " different numbers, and %s treats each as a class; to "
             "predict numbers, use svr, ridge or gp (mercer %s ridge ...); if they name classes, "
             "write them as words, or in a table use --role COLUMN=category",
             mcr_data_classes(data), learner, c->verb->name);
    if (measured > 1)
        return cli_fault(c, c->words.count == 2 ? cli_word(c, 1) : NULL, "%s", text);
    cli_progress_log(c, MCR_LOG_WARNING, text);
    return 0;
}

int cli_advise_features(cli *c, const mcr_report_fit *report, const mcr_data *data)
{
    mcr_field_info field = MCR_INIT(mcr_field_info);
    char has[64], wants[64];
    if (c->reading.like) /* then the library reports the missing column by name */
        return 0;
    if (mcr_data_fields(data) != 1 || c->reading.target ||
        mcr_data_target_kind(data) == MCR_NO_TARGETS ||
        mcr_data_field_info(data, 0, &field) != MCR_OK || field.kind != MCR_DENSE ||
        field.cols + 1 != report->features)
        return 0;
    return cli_fault(
        c, cli_word(c, 1),
        "%s and a target, but the model needs %s: if there is no target, use --target none",
        cli_count_text(has, field.cols, "feature"),
        cli_count_text(wants, report->features, "feature"));
}

/* ---- what the library says --------------------------------------------------------------------*/

/* A field of kernel values that is not square; 0: none. */
static int find_oblong(const mcr_data *data, mcr_field_info *f)
{
    for (int64_t i = 0; i < mcr_data_fields(data); i++)
        if (mcr_data_field_info(data, i, f) == MCR_OK && f->kind == MCR_PRECOMPUTED &&
            f->cols != mcr_data_count(data))
            return 1;
    return 0;
}

int cli_advise_fit(cli *c, mcr_status status, const mcr_kernel *kernel, const mcr_data *data)
{
    mcr_field_info f = MCR_INIT(mcr_field_info);
    int64_t column, length;
    const char *file = c->words.count == 2 ? cli_word(c, 1) : NULL;
    if (status == MCR_BAD_CALL && !kernel && mcr_message_mark(c->ctx, &column, &length))
        return cli_fault(c, file,
                         "the default kernel, rbf with gamma = 1 / (features * variance), is not "
                         "possible: the values are too large or too small; scale them, or give a "
                         "kernel with -k");
    if (status == MCR_BAD_DATA && find_oblong(data, &f))
        return cli_fault(c, file,
                         "%s (the kernel matrix is %" PRId64 " x %" PRId64
                         "; training needs a square one)",
                         mcr_message(c->ctx), mcr_data_count(data), f.cols);
    return cli_fail_words(c, status, 1);
}
