/* engine.c: requests and answers; the data, kernel and options of a request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cli/registry.h"
#include "engine_impl.h"

static const size_t gigabyte = (size_t)1 << 30;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int on_progress(void *user, const mcr_progress *at)
{
    studio *s = user;
    (void)at;
    return atomic_load(&s->cancelled) || now() > s->deadline ||
           (s->config.stop && s->config.stop(s->config.user));
}

studio *studio_open(const studio_config *config)
{
    studio *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->config = *config;
    if (!(s->config.seconds > 0))
        s->config.seconds = 60;
    mcr_config c = MCR_INIT(mcr_config);
    c.progress = on_progress;
    c.user = s;
    c.threads = s->config.threads;
    c.memory_bytes = s->config.memory_bytes;
    c.data_bytes = s->config.data_bytes ? s->config.data_bytes : gigabyte;
    c.work_seconds = s->config.seconds;
    s->config.data = NULL;
    if (mcr_open(&s->ctx, &c) != MCR_OK) {
        free(s);
        return NULL;
    }
    if (config->data)
        s->config.data = mcr_data_retain(config->data);
    return s;
}

void studio_close(studio *s)
{
    if (!s)
        return;
    mcr_model_free(s->model);
    mcr_model_free(s->shown);
    mcr_data_free(s->data);
    mcr_data_free((mcr_data *)s->config.data);
    mcr_close(s->ctx);
    studio_request_free(&s->request);
    free(s->data_text);
    free(s->shown_text);
    free(s->answer);
    free(s);
}

void studio_cancel(studio *s)
{
    atomic_store(&s->cancelled, 1);
    mcr_cancel(s->ctx, 1);
}

void studio_allow(studio *s)
{
    atomic_store(&s->cancelled, 0);
    mcr_cancel(s->ctx, 0);
}

mcr_status studio_refuse(studio *s, mcr_status status, const char *line)
{
    return mcr_message_set(s->ctx, status, line);
}

/* ---- numbers ----------------------------------------------------------------------------------*/

mcr_status studio_put_bytes(studio *s, const char *key, const void *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = bytes;
    char *text = malloc((count + 2) / 3 * 4 + 1), *to = text;
    if (!text)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the answer");
    for (size_t i = 0; i < count; i += 3) {
        unsigned a = from[i], b = i + 1 < count ? from[i + 1] : 0,
                 c = i + 2 < count ? from[i + 2] : 0;
        *to++ = digits[a >> 2];
        *to++ = digits[(a & 3) << 4 | b >> 4];
        *to++ = i + 1 < count ? digits[(b & 15) << 2 | c >> 6] : '=';
        *to++ = i + 2 < count ? digits[c & 63] : '=';
    }
    *to = '\0';
    cli_json_text(&s->j, key, text);
    free(text);
    return MCR_OK;
}

mcr_status studio_put_floats(studio *s, const char *key, const double *value, int64_t count)
{
    float *f = malloc((size_t)(count > 0 ? count : 1) * sizeof *f);
    if (!f)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the answer");
    for (int64_t i = 0; i < count; i++)
        f[i] = (float)value[i];
    mcr_status status = studio_put_bytes(s, key, f, (size_t)count * sizeof *f);
    free(f);
    return status;
}

/* The bytes of base64 text, in place; SIZE_MAX: it is none. */
static size_t read_base64(const char *text, size_t count, unsigned char *to)
{
    size_t used = 0;
    unsigned bits = 0, have = 0;
    for (size_t i = 0; i < count && text[i] != '='; i++) {
        char c = text[i];
        int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                    : c >= 'a' && c <= 'z' ? c - 'a' + 26
                    : c >= '0' && c <= '9' ? c - '0' + 52
                    : c == '+'             ? 62
                    : c == '/'             ? 63
                                           : -1;
        if (digit < 0)
            return SIZE_MAX;
        bits = (bits << 6 | (unsigned)digit) & 0xffffff;
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[used++] = (unsigned char)(bits >> have & 0xff);
        }
    }
    return used;
}

int64_t studio_shown(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

int64_t studio_shown_object(int64_t r, int64_t shown, int64_t n)
{
    return shown < n ? (int64_t)((double)r * (double)n / (double)shown) : r;
}

/* ---- data, kernel, options --------------------------------------------------------------------*/

/* The column of the targets may be named for tables and JSON lines only: for matrices it would name
 * a file. */
static mcr_status read_options(studio *s, const studio_value *from, mcr_read_options *o)
{
    o->format = studio_text(from, "format", NULL);
    o->target = studio_text(from, "target", NULL);
    if (o->target &&
        (!o->format || (strcmp(o->format, "csv") != 0 && strcmp(o->format, "tsv") != 0 &&
                        strcmp(o->format, "jsonl") != 0)))
        return studio_refuse(s, MCR_BAD_CALL, "a target is for the formats csv, tsv and jsonl");
    return MCR_OK;
}

const studio_value *studio_file(studio *s, const studio_value *from)
{
    const studio_value *text = studio_find(from, "text"), *coded = studio_find(from, "base64");
    if (text && text->type == STUDIO_TEXT)
        return text;
    if (coded && coded->type == STUDIO_TEXT)
        return coded;
    studio_refuse(s, MCR_BAD_CALL, "data need a text, or base64");
    return NULL;
}

mcr_status studio_file_bytes(studio *s, const studio_value *from, const studio_value *v,
                             const char **bytes, size_t *count, unsigned char **plain)
{
    *plain = NULL;
    *bytes = v->text;
    *count = v->count;
    if (v != studio_find(from, "base64"))
        return MCR_OK;
    *plain = malloc(v->count + 1);
    if (!*plain)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the data");
    *count = read_base64(v->text, v->count, *plain);
    *bytes = (const char *)*plain;
    return *count == SIZE_MAX ? studio_refuse(s, MCR_BAD_CALL, "that is not base64") : MCR_OK;
}

/* Reads what the request brings and keeps the text, so that the same data are not read again. */
static mcr_status read_data(studio *s, const studio_value *from)
{
    const char *name = studio_text(from, "name", "data"), *bytes;
    mcr_read_options o = MCR_INIT(mcr_read_options);
    mcr_status status = read_options(s, from, &o);
    unsigned char *plain;
    size_t count;
    if (status)
        return status;
    const studio_value *v = studio_file(s, from);
    if (!v)
        return MCR_BAD_CALL;
    if (s->data && s->data_count == v->count && memcmp(s->data_text, v->text, v->count) == 0)
        return MCR_OK;
    mcr_data *data = NULL;
    status = studio_file_bytes(s, from, v, &bytes, &count, &plain);
    if (!status)
        status = mcr_data_read_memory(&data, s->ctx, name, bytes, count, &o);
    free(plain);
    char *kept = status ? NULL : malloc(v->count + 1);
    if (!status && !kept)
        status = studio_refuse(s, MCR_NO_MEMORY, "no memory for the data");
    if (status) {
        mcr_data_free(data);
        return status;
    }
    memcpy(kept, v->text, v->count);
    free(s->data_text);
    mcr_data_free(s->data);
    s->data = data;
    s->data_text = kept;
    s->data_count = v->count;
    return MCR_OK;
}

mcr_status studio_data(studio *s, const mcr_data **out)
{
    const studio_value *from = studio_find(s->call, "data");
    const char *word = studio_text(s->call, "data", "");
    int given = strcmp(word, "given") == 0;
    *out = NULL;
    if (strcmp(word, "model") == 0)
        return studio_model_objects(s, out);
    mcr_status status = from && !given ? read_data(s, from) : MCR_OK;
    if (status)
        return status;
    *out = s->data && !given ? s->data : s->config.data;
    return *out ? MCR_OK : studio_refuse(s, MCR_BAD_CALL, "there are no data yet");
}

/* Whether the expression gives a parameter that names a file: `name =` as a word of its own. */
static int names_file(studio *s, const char *expression)
{
    mcr_kernel_info k = MCR_INIT(mcr_kernel_info);
    for (int64_t i = 0; i < mcr_kernel_count(s->ctx); i++) {
        if (mcr_kernel_describe(s->ctx, i, &k) != MCR_OK)
            continue;
        for (const mcr_param *p = k.params; p && p->name; p++) {
            if (!(p->flags & MCR_NAMES_FILE))
                continue;
            for (const char *at = strstr(expression, p->name); at; at = strstr(at + 1, p->name)) {
                const char *behind = at + strlen(p->name);
                behind += strspn(behind, " \t\r\n\v\f");
                if (*behind == '=')
                    return 1;
            }
        }
    }
    return 0;
}

static mcr_status parse(studio *s, mcr_kernel **out, const char *expression)
{
    *out = NULL;
    if (names_file(s, expression))
        return studio_refuse(s, MCR_BAD_CALL,
                             "the studio opens no files: give the numbers in the expression");
    return mcr_kernel_parse(out, s->ctx, expression);
}

mcr_status studio_kernel(studio *s, mcr_kernel **out)
{
    const char *expression = studio_text(s->call, "kernel", "");
    *out = NULL;
    return *expression ? parse(s, out, expression) : MCR_OK;
}

static mcr_status set_options(studio *s, mcr_options *options)
{
    const studio_value *set = studio_find(s->call, "options");
    if (!set || set->type != STUDIO_OBJECT)
        return MCR_OK;
    mcr_status status = MCR_OK;
    const studio_value *at = set + 1;
    for (size_t i = 0; i < set->count && !status; i++, at = studio_next(at + 1)) {
        if (at[1].type != STUDIO_TEXT || strlen(at->text) != at->count ||
            strlen(at[1].text) != at[1].count)
            return studio_refuse(s, MCR_BAD_CALL, "options are texts");
        /* kernel2 of cca is an expression, too. */
        if (names_file(s, at[1].text))
            return studio_refuse(s, MCR_BAD_CALL, "the studio opens no files");
        status = mcr_options_set(options, at->text, at[1].text);
    }
    return status;
}

mcr_status studio_options(studio *s, mcr_options **out)
{
    mcr_status status = mcr_options_open(out, s->ctx, studio_text(s->call, "learner", ""));
    if (!status)
        status = set_options(s, *out);
    if (status) {
        mcr_options_close(*out);
        *out = NULL;
    }
    return status;
}

/* ---- small requests ---------------------------------------------------------------------------*/

static const char *kind_name(mcr_kind kind)
{
    return kind == MCR_DENSE     ? "dense"
           : kind == MCR_SPARSE  ? "sparse"
           : kind == MCR_STRINGS ? "strings"
           : kind == MCR_GRAPHS  ? "graphs"
                                 : "precomputed";
}

static void field_json(studio *s, const mcr_data *data, int64_t f)
{
    mcr_field_info info = MCR_INIT(mcr_field_info);
    if (mcr_data_field_info(data, f, &info) != MCR_OK)
        return;
    cli_json_object(&s->j, NULL);
    cli_json_text(&s->j, "name", info.name);
    cli_json_text(&s->j, "kind", kind_name(info.kind));
    cli_json_integer(&s->j, "cols", info.cols);
    cli_json_list(&s->j, "columns");
    for (int64_t c = 0; c < info.cols && c < STUDIO_GRID && info.kind <= MCR_SPARSE; c++)
        cli_json_text(&s->j, NULL, mcr_data_column_name(data, f, c));
    cli_json_end(&s->j);
    cli_json_end(&s->j);
}

/* The first field of vectors; -1: there is none. */
static int64_t vector_field(const mcr_data *data, int64_t *cols)
{
    mcr_field_info info = MCR_INIT(mcr_field_info);
    for (int64_t f = 0; f < mcr_data_fields(data); f++)
        if (mcr_data_field_info(data, f, &info) == MCR_OK &&
            (info.kind == MCR_DENSE || info.kind == MCR_SPARSE) && info.cols > 0) {
            *cols = info.cols;
            return f;
        }
    return -1;
}

mcr_status studio_points_json(studio *s, const mcr_data *data)
{
    int64_t cols = 0, field = vector_field(data, &cols), n = mcr_data_count(data);
    if (field < 0 || cols > 100000)
        return MCR_OK;
    int64_t shown = studio_shown(n, STUDIO_SHOWN), y = cols > 1;
    const studio_value *plane = studio_find(s->call, "columns");
    if (plane && plane->type == STUDIO_LIST && plane->count == 2 &&
        plane[1].type == STUDIO_NUMBER && plane[2].type == STUDIO_NUMBER)
        y = (int64_t)fmin(fmax(plane[2].number, 0), (double)cols - 1);
    int64_t x = plane && y >= 0 && plane->count == 2 && plane[1].type == STUDIO_NUMBER
                    ? (int64_t)fmin(fmax(plane[1].number, 0), (double)cols - 1)
                    : 0;
    double *row = malloc((size_t)(cols + 2 * shown) * sizeof *row);
    if (!row)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the points");
    double *px = row + cols, *py = px + shown;
    mcr_status status = MCR_OK;
    for (int64_t r = 0; r < shown && !status; r++) {
        status = mcr_data_vector(data, field, studio_shown_object(r, shown, n), row);
        px[r] = row[x];
        py[r] = row[y];
    }
    if (!status)
        status = studio_put_floats(s, "x", px, shown);
    if (!status)
        status = studio_put_floats(s, "y", py, shown);
    free(row);
    return status;
}

void studio_fields_json(studio *s, const mcr_data *data, const char *name)
{
    cli_json_text(&s->j, "name", name);
    cli_json_integer(&s->j, "n", mcr_data_count(data));
    cli_json_list(&s->j, "fields");
    for (int64_t f = 0; f < mcr_data_fields(data); f++)
        field_json(s, data, f);
    cli_json_end(&s->j);
}

static mcr_status data_json(studio *s, const mcr_data *data, const char *name)
{
    int64_t n = mcr_data_count(data), shown = studio_shown(n, STUDIO_SHOWN);
    const double *target = mcr_data_targets(data);
    const int32_t *class = mcr_data_class_of(data);
    int numbers = mcr_data_target_kind(data) == MCR_REAL_TARGETS;
    studio_fields_json(s, data, name);
    cli_json_text(&s->j, "targets", target ? numbers ? "numbers" : "words" : "none");
    cli_json_list(&s->j, "classes");
    for (int64_t c = 0; c < mcr_data_classes(data) && c < 64; c++)
        cli_json_text(&s->j, NULL, mcr_data_class_name(data, c));
    cli_json_end(&s->j);
    cli_json_list(&s->j, "target");
    for (int64_t r = 0; r < shown && target; r++)
        cli_json_real(&s->j, NULL, target[studio_shown_object(r, shown, n)]);
    cli_json_end(&s->j);
    cli_json_list(&s->j, "class");
    for (int64_t r = 0; r < shown && class; r++)
        cli_json_integer(&s->j, NULL, class[studio_shown_object(r, shown, n)]);
    cli_json_end(&s->j);
    return studio_points_json(s, data);
}

static mcr_status answer_load(studio *s)
{
    const studio_value *from = studio_find(s->call, "data");
    const mcr_data *data;
    int found;
    mcr_status status = studio_load_model(s, from, &found);
    if (status || found)
        return status;
    status = studio_data(s, &data);
    return status ? status : data_json(s, data, studio_text(from, "name", ""));
}

static mcr_status answer_hello(studio *s)
{
    mcr_kernel_info k = MCR_INIT(mcr_kernel_info);
    mcr_learner_info l = MCR_INIT(mcr_learner_info);
    cli_json *j = &s->j;
    mcr_status status = MCR_OK;
    cli_json_text(j, "version", mcr_version());
#ifdef __EMSCRIPTEN__
    cli_json_text(j, "engine", "wasm");
#else
    cli_json_text(j, "engine", "native");
#endif
    cli_json_real(j, "seconds", s->config.seconds);
    cli_json_list(j, "kernels");
    for (int64_t i = 0; i < mcr_kernel_count(s->ctx); i++)
        if (mcr_kernel_describe(s->ctx, i, &k) == MCR_OK)
            cli_kernel_json(j, &k);
    cli_json_end(j);
    cli_json_list(j, "learners");
    for (int64_t i = 0; i < mcr_learner_count(); i++)
        if (mcr_learner_describe(i, &l) == MCR_OK)
            cli_learner_json(j, &l);
    cli_json_end(j);
    cli_json_list(j, "samples");
    for (const char *const *name = mcr_data_samples(); *name; name++) {
        cli_json_object(j, NULL);
        cli_json_text(j, "name", *name);
        cli_json_text(j, "summary", mcr_data_sample_summary(*name));
        cli_json_end(j);
    }
    cli_json_end(j);
    if (s->config.data) {
        cli_json_object(j, "given");
        status = data_json(s, s->config.data, s->config.name);
        cli_json_end(j);
    }
    if (s->config.model && !status)
        status = studio_given_model(s);
    return status;
}

static mcr_status answer_parse(studio *s)
{
    mcr_kernel *kernel = NULL;
    mcr_status status = studio_kernel(s, &kernel);
    if (!status)
        cli_json_text(&s->j, "kernel", kernel ? mcr_kernel_text(kernel) : NULL);
    mcr_kernel_free(kernel);
    return status;
}

static mcr_status answer_sample(studio *s)
{
    mcr_data *data = NULL;
    const char *name = studio_text(s->call, "name", "");
    mcr_status status = mcr_data_sample(&data, s->ctx, name,
                                        studio_whole(s->call, "n", 0, 0, 20000),
                                        studio_number(s->call, "noise", -1));
    if (!status)
        status = data_json(s, data, name);
    mcr_data_free(data);
    return status;
}

/* ---- answers ----------------------------------------------------------------------------------*/

static const struct action {
    const char *name;
    studio_handler *run;
} actions[] = {
    {"hello", answer_hello}, {"parse", answer_parse}, {"sample", answer_sample},
    {"load", answer_load},   {"fit", studio_fit},     {"cv", studio_cv},
    {"gram", studio_gram},   {"check", studio_check}, {"pair", studio_pair},
    {"steps", studio_steps}, {"model", studio_model}, {"figure", studio_figure},
    {"show", studio_show},
};

static int begin(studio *s)
{
    free(s->answer);
    s->answer = NULL;
    FILE *to = open_memstream(&s->answer, &s->answer_bytes);
    if (!to)
        return 0;
    cli_json_begin(&s->j, to);
    return 1;
}

/* Closes what a handler left open, and the stream; 0: there was no memory. */
static int finish(studio *s)
{
    while (s->j.depth > 0)
        cli_json_end(&s->j);
    int bad = ferror(s->j.to);
    return fclose(s->j.to) == 0 && !bad && s->answer;
}

static void error_json(studio *s, mcr_status status)
{
    int64_t column = 0, length = 0;
    const char *mark = mcr_message_mark(s->ctx, &column, &length);
    cli_json_flag(&s->j, "ok", 0);
    cli_json_object(&s->j, "error");
    cli_json_text(&s->j, "status", mcr_status_name(status));
    cli_json_text(&s->j, "message", mcr_message(s->ctx));
    cli_json_integer(&s->j, "line", mcr_message_line(s->ctx));
    cli_json_text(&s->j, "expression", mark);
    cli_json_integer(&s->j, "column", mark ? column : -1);
    cli_json_integer(&s->j, "length", mark ? length : 0);
    cli_json_flag(&s->j, "stopped", status == MCR_STOPPED);
    cli_json_flag(&s->j, "late", now() > s->deadline);
}

static mcr_status dispatch(studio *s)
{
    if (s->request.count == 0) {
        char line[128];
        snprintf(line, sizeof line, "the request: byte %zu: %s", s->request.at, s->request.fault);
        return studio_refuse(s, MCR_BAD_CALL, line);
    }
    const char *what = studio_text(s->call, "do", "");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, what) == 0) {
            cli_json_flag(&s->j, "ok", 1);
            cli_json_real(&s->j, "id", studio_number(s->call, "id", 0));
            return actions[i].run(s);
        }
    return studio_refuse(s, MCR_BAD_CALL, "the request does not say what to do");
}

const char *studio_answer(studio *s, const char *request, size_t length, size_t *bytes)
{
    static const char nothing[] =
        "{\"ok\": false, \"error\": {\"status\": \"no memory\", \"message\": \"no memory\"}}";
    s->deadline = now() + s->config.seconds;
    studio_request_read(&s->request, request, length);
    s->call = s->request.value;
    int good = begin(s);
    mcr_status status = good ? dispatch(s) : MCR_NO_MEMORY;
    if (good)
        good = finish(s);
    if (good && status) {
        good = begin(s);
        if (good) {
            error_json(s, status);
            good = finish(s);
        }
    }
    *bytes = good ? s->answer_bytes : sizeof nothing - 1;
    return good ? s->answer : nothing;
}
