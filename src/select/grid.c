/* grid.c: the points of a search.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/grid.h"

#include <math.h>
#include <string.h>

#include "base/params.h"
#include "base/stream.h"
#include "model/table_kernel.h"

/* ---- kernels ----------------------------------------------------------------------------------*/

/* The next range at or after *at: "gamma=1e-3:1e3:log7". False: there is none. */
static bool find_range(const char *text, size_t *at, size_t *length, const char **name,
                       size_t *name_length)
{
    bool quoted = false;
    size_t word = *at, word_end = *at;
    for (size_t i = *at; text[i]; i++) {
        quoted ^= text[i] == '"';
        if (quoted || text[i] != '=') {
            bool blank = strchr(" \t\n", text[i]) != NULL;
            if (strchr("(,", text[i]))
                word = word_end = i + 1;
            else if (!blank && word_end == i)
                word_end = i + 1;
            else if (!blank) { /* after blanks: another word */
                word = i;
                word_end = i + 1;
            }
            continue;
        }
        size_t first = i + 1 + strspn(text + i + 1, " \t\n"),
               end = strcspn(text + first, ",()] \t\n\"");
        if (memchr(text + first, ':', end)) {
            *name = text + word;
            *name_length = word_end - word;
            *at = first;
            *length = end;
            return true;
        }
    }
    return false;
}

static mcr_status read_template(mcr_template *t, mcr *ctx, const char *text)
{
    mcr_status s = MCR_OK;
    size_t at = 0, length, name_length;
    const char *name;
    t->kernels = 1;
    t->text = mcr_copy_text(ctx, text, strlen(text));
    if (!t->text)
        return MCR_NO_MEMORY;
    for (; find_range(text, &at, &length, &name, &name_length) && !s; at += length) {
        if (t->axes == MCR_MOST_AXES)
            return mcr_fail(ctx, MCR_BAD_CALL, "kernel: more than %d ranges in one expression",
                            MCR_MOST_AXES);
        mcr_axis *axis = &t->axis[t->axes++];
        char *word = mcr_copy_text(ctx, text + at, length);
        char *called = mcr_copy_text(ctx, name, name_length);
        *axis = (mcr_axis){
            .at = at, .length = length, .name = (size_t)(name - text), .name_length = name_length};
        s = word && called ? mcr_range_parse(&axis->values, ctx, "kernel", called, word)
                           : MCR_NO_MEMORY;
        mcr_free_all(ctx, word, called);
        t->kernels *= s ? 1 : axis->values.count;
        if (!s && t->kernels > MCR_MOST_POINTS)
            s = mcr_fail(ctx, MCR_BAD_CALL, "kernel: more than %d points", MCR_MOST_POINTS);
    }
    return s;
}

/* Kernels that are tried on vectors. The centre of gamma's range is 1 / (features * variance), or 1
 * / (features * standard deviation) for laplace, which sums absolute differences; its range can be
 * narrower. The range extends further down than up: with a small gamma the kernel is nearly linear
 * in the distance, which is useful with a large C. */
typedef struct vector_kernel {
    const char *name;
    bool squares;        /* gamma multiplies squared distances */
    double below, above; /* factors by which gamma's range extends below and above its centre */
    int values;
} vector_kernel;

enum { VECTOR_KERNELS = 2 };

static const vector_kernel vector_kernels[VECTOR_KERNELS] = {
    {"rbf", true, 256, 256, 17},
    {"laplace", false, 64, 16, 11},
};

/* gamma from nearly linear to nearly the identity, in powers of 2; only the centre if the learner
 * optimises it from there. */
static mcr_status default_on_vectors(mcr_text *to, const vector_kernel *k,
                                     const mcr_options *options, const mcr_data *data,
                                     mcr_scale scale)
{
    mcr_scaling *scaling = NULL;
    mcr_data *scaled = NULL;
    double gamma = 1;
    mcr_status s = mcr_scaling_needed(data, scale) ? mcr_scaling_learn(&scaling, data, scale)
                                                   : MCR_OK;
    if (!s)
        s = mcr_scaling_apply(&scaled, scaling, data);
    if (!s)
        s = mcr_default_gamma(&gamma, options->ctx, scaled);
    if (!s) {
        bool one = mcr_finds_kernel(options);
        double cols = (double)mcr_data_field(scaled, 0).store->cols;
        double middle = exp2(round(log2(k->squares ? gamma : sqrt(gamma / cols))));
        mcr_text_format(to, "%s(gamma=", k->name);
        mcr_text_real(to, one ? middle : middle / k->below);
        if (!one) {
            mcr_text_string(to, ":");
            mcr_text_real(to, middle * k->above);
            mcr_text_format(to, ":log%d", k->values);
        }
        mcr_text_string(to, ")");
        s = to->status;
    }
    mcr_scaling_free(scaling);
    mcr_data_free(scaled);
    return s;
}

enum { MOST_DEFAULTS = 2, DNA_LETTERS = 5 }; /* and N */

/* Kernels for data of one field other than vectors. */
static int64_t other_defaults(const mcr_data *data, const char *kernel[MOST_DEFAULTS])
{
    mcr_field_info info = MCR_INIT(mcr_field_info);
    if (mcr_data_fields(data) != 1 || mcr_data_field_info(data, 0, &info))
        return 0;
    switch (info.kind) {
    case MCR_STRINGS:
        kernel[0] = "normalize(spectrum(p=2:8))";
        kernel[1] = "gkm";
        return info.alphabet <= DNA_LETTERS ? 2 : 1;
    case MCR_GRAPHS: kernel[0] = "normalize(wl(h=0:6))"; return 1;
    case MCR_PRECOMPUTED: kernel[0] = "precomputed"; return 1;
    case MCR_DENSE:
    case MCR_SPARSE: break;
    }
    return 0;
}

/* Kernels for data of one field of vectors. Absolute distances take many times as long as squared
 * ones for sparse vectors, and are the same for 0/1 vectors. */
static int64_t vector_defaults(const mcr_data *data)
{
    if (data->fields == 0)
        return 1;
    mcr_field field = mcr_data_field(data, 0);
    return mcr_stays_sparse(&field) ? 1 : VECTOR_KERNELS;
}

bool mcr_grid_has_vectors(const mcr_data *data)
{
    for (int64_t f = 0; f < data->fields; f++)
        if (data->store[f]->kind & (MCR_DENSE | MCR_SPARSE))
            return true;
    return false;
}

/* Adds a template for one combination of a table's columns, if the table has the columns it
 * needs. */
static mcr_status add_form(mcr_grid *g, const mcr_data *prepared, mcr_table_form form, bool quick)
{
    mcr_text text;
    bool one = mcr_finds_kernel(g->options);
    mcr_text_init(&text, g->ctx);
    mcr_status s = quick ? mcr_table_kernel(&text, g->ctx, prepared, form, 64, 4, 5)
                         : mcr_table_kernel(&text, g->ctx, prepared, form, 16, 16, one ? 0 : 9);
    if (!s && text.length > 0) {
        mcr_template *t = &g->template[g->templates++];
        t->scale = g->scales ? MCR_SCALE_STANDARD : g->options->scale;
        s = read_template(t, g->ctx, text.bytes);
    }
    mcr_text_free(&text);
    return s;
}

/* A table of mixed columns: tries which parts help, and how to combine them. */
static mcr_status read_forms(mcr_grid *g, const mcr_search *search, const mcr_data *data)
{
    mcr_scaling *scaling = NULL;
    mcr_data *prepared = NULL;
    g->forms = true;
    g->scales = search->scales && mcr_grid_has_vectors(data);
    mcr_scale scale = g->scales ? MCR_SCALE_STANDARD : g->options->scale;
    g->template = mcr_alloc_zero(g->ctx, MCR_TABLE_FORMS, sizeof *g->template);
    mcr_status s = g->template ? MCR_OK : MCR_NO_MEMORY;
    if (!s && mcr_scaling_needed(data, scale))
        s = mcr_scaling_learn(&scaling, data, scale);
    if (!s)
        s = mcr_scaling_apply(&prepared, scaling, data);
    for (int form = 0; form < MCR_TABLE_FORMS && !s; form++)
        if (!search->quick || (form != MCR_TABLE_NUMBERS && form != MCR_TABLE_WORDS))
            s = add_form(g, prepared, (mcr_table_form)form, search->quick);
    mcr_scaling_free(scaling);
    mcr_data_free(prepared);
    return s;
}

/* Whether this is the default kernel for vectors, without its gamma: then gamma gets a range. */
static bool is_plain_rbf(const char *text, const mcr_data *data)
{
    static const char want[] = "rbf()";
    size_t length = 0;
    mcr_field_info info = MCR_INIT(mcr_field_info);
    if (mcr_data_fields(data) != 1 || mcr_data_field_info(data, 0, &info) ||
        !(info.kind & (MCR_DENSE | MCR_SPARSE)))
        return false;
    for (; *text; text++)
        if (!strchr(" \t\n", *text) && (length == 5 || *text != want[length++]))
            return false;
    return length == 3 || length == 5;
}

/* Every kernel with every kind of scaling. */
static mcr_status read_kernels(mcr_grid *g, const mcr_search *search, const mcr_data *data)
{
    static const mcr_scale both[] = {MCR_SCALE_STANDARD, MCR_SCALE_MINMAX};
    const char *usual[MOST_DEFAULTS] = {NULL}, *const *kernel = search->kernel;
    int64_t kernels = search->kernels;
    mcr_status s = MCR_OK;
    if (!kernels && mcr_table_is_mixed(data))
        return read_forms(g, search, data);
    if (!kernels) {
        kernel = usual;
        kernels = other_defaults(data, usual);
        kernels = kernels ? kernels : vector_defaults(data);
    }
    g->scales = search->scales && mcr_grid_has_vectors(data);
    int64_t ways = g->scales ? 2 : 1, count = kernels * ways;
    g->template = mcr_alloc_zero(g->ctx, (size_t)count, sizeof *g->template);
    if (!g->template)
        return MCR_NO_MEMORY;
    while (g->templates < count && !s) {
        mcr_text text;
        mcr_text_init(&text, g->ctx);
        int64_t number = g->templates++, which = number / ways;
        mcr_template *t = &g->template[number];
        t->scale = g->scales ? both[number % ways] : g->options->scale;
        bool rbf = kernel[which] && is_plain_rbf(kernel[which], data);
        if (kernel[which] && !rbf)
            mcr_text_string(&text, kernel[which]);
        else
            s = default_on_vectors(&text, &vector_kernels[rbf ? 0 : which], g->options, data,
                                   t->scale);
        if (!s)
            s = text.status ? text.status : read_template(t, g->ctx, text.bytes);
        mcr_text_free(&text);
    }
    return s;
}

/* ---- options ----------------------------------------------------------------------------------*/

static mcr_status add_option(mcr_grid *g, const char *name, const char *range)
{
    const mcr_learner_type *type = g->options->type;
    const mcr_param *p = mcr_options_find(g->options, name);
    if (!p || (p->type != MCR_REAL && p->type != MCR_INT && !(p->flags & MCR_MAY_RANGE)))
        return mcr_fail(g->ctx, MCR_BAD_CALL, "%s: option \"%s\" is not a number that can vary",
                        type->name, name);
    if (g->axes == MCR_MOST_AXES)
        return mcr_fail(g->ctx, MCR_BAD_CALL, "%s: more than %d options with ranges", type->name,
                        MCR_MOST_AXES);
    mcr_axis *axis = &g->axis[g->axes++];
    *axis = (mcr_axis){.option = p};
    mcr_status s = mcr_range_parse(&axis->values, g->ctx, type->name, name, range);
    for (int64_t i = 0; i < axis->values.count && p->type == MCR_INT && !s; i++)
        axis->values.values[i] = round(axis->values.values[i]);
    return s;
}

static bool is_given(const mcr_options *o, const char *name)
{
    const mcr_param *p = mcr_options_find(o, name);
    return p && mcr_params_given(p, o->params) &&
           !(p->standard && mcr_params_is_standard(p, o->params));
}

/* Searches the options that nearly always matter, unless the caller sets them. */
static mcr_status default_options(mcr_grid *g, bool quick)
{
    const mcr_usual *usual = &g->options->type->usual;
    if (!usual->option || is_given(g->options, usual->option) ||
        (usual->instead && is_given(g->options, usual->instead)))
        return MCR_OK;
    g->path = usual->own_path && !mcr_wants_features(g->options);
    const char *range = quick                      ? usual->quick
                        : g->forms && usual->table ? usual->table
                                                   : usual->range;
    return usual->own_path ? MCR_OK : add_option(g, usual->option, range);
}

static mcr_status read_options(mcr_grid *g, const mcr_search *search)
{
    mcr_status s = MCR_OK;
    for (int64_t r = 0; r < search->ranges && !s; r++)
        s = add_option(g, search->option[r], search->range[r]);
    return s || search->ranges ? s : default_options(g, search->quick);
}

/* ---- the grid ---------------------------------------------------------------------------------*/

/* Whether the parameter with the template's range accepts a list of numbers, one per column. */
static bool takes_list(const mcr_kernel *k, const mcr_template *tm)
{
    if (tm->axes != 1 || k->children || !k->params)
        return false;
    const mcr_axis *axis = &tm->axis[0];
    const mcr_param *p = mcr_params_find(k->type->params, tm->text + axis->name, axis->name_length);
    return p && p->type == MCR_REALS && p->min >= 0 && !(p->flags & MCR_PERIOD) &&
           ((const mcr_reals *)((const char *)k->params + p->offset))->count == 1;
}

static mcr_status number_points(mcr_grid *g, mcr_template *t)
{
    mcr_kernel *first = NULL;
    t->first = g->points;
    g->points += t->kernels * g->settings;
    if (g->points > MCR_MOST_POINTS)
        return mcr_fail(g->ctx, MCR_BAD_CALL, "the grid has more than %d points", MCR_MOST_POINTS);
    /* Errors in an expression are reported before any work is done. */
    mcr_status s = mcr_grid_kernel(&first, g, t->first);
    t->list = !s && takes_list(first, t);
    mcr_kernel_free(first);
    return s;
}

mcr_status mcr_grid_add(mcr_grid *g, const char *text, mcr_scale scale)
{
    mcr_template *more = mcr_resize(g->ctx, g->template, (size_t)g->templates + 1, sizeof *more);
    if (!more)
        return MCR_NO_MEMORY;
    g->template = more;
    mcr_template *t = &g->template[g->templates++];
    *t = (mcr_template){.scale = scale, .first = g->points};
    mcr_status s = read_template(t, g->ctx, text);
    return s ? s : number_points(g, t);
}

mcr_status mcr_grid_open(mcr_grid **out, const mcr_options *options, const mcr_search *search,
                         const mcr_data *data)
{
    mcr *ctx = options->ctx;
    *out = NULL;
    mcr_grid *g = mcr_alloc_zero(ctx, 1, sizeof *g);
    if (!g)
        return MCR_NO_MEMORY;
    *g = (mcr_grid){.ctx = ctx, .options = options, .settings = 1};
    mcr_status s = read_kernels(g, search, data);
    if (!s)
        s = read_options(g, search);
    for (int a = 0; a < g->axes && !s; a++) {
        g->settings *= g->axis[a].values.count;
        if (g->settings > MCR_MOST_POINTS)
            s = mcr_fail(ctx, MCR_BAD_CALL, "%s: more than %d settings of the options",
                         options->type->name, MCR_MOST_POINTS);
    }
    for (int64_t t = 0; t < g->templates && !s; t++)
        s = number_points(g, &g->template[t]);
    g->searched = g->points;
    if (s)
        mcr_grid_close(g);
    else
        *out = g;
    return s;
}

void mcr_grid_close(mcr_grid *g)
{
    if (!g)
        return;
    for (int64_t t = 0; g->template && t < g->templates; t++) {
        for (int a = 0; a < g->template[t].axes; a++)
            mcr_free(g->ctx, g->template[t].axis[a].values.values);
        mcr_free(g->ctx, g->template[t].text);
    }
    for (int a = 0; a < g->axes; a++)
        mcr_free(g->ctx, g->axis[a].values.values);
    mcr_free_all(g->ctx, g->template, g);
}

const mcr_template *mcr_grid_template(const mcr_grid *g, int64_t point)
{
    int64_t t = g->templates - 1;
    while (point < g->template[t].first)
        t--;
    return &g->template[t];
}

static const mcr_axis *axis_of(const mcr_grid *g, const mcr_template *t, int a)
{
    return a < t->axes ? &t->axis[a] : &g->axis[a - t->axes];
}

int mcr_grid_place(const mcr_grid *g, int64_t point, int64_t *at, int64_t *count)
{
    const mcr_template *t = mcr_grid_template(g, point);
    int axes = t->axes + g->axes;
    point -= t->first;
    for (int a = axes - 1; a >= 0; a--) {
        count[a] = axis_of(g, t, a)->values.count;
        at[a] = point % count[a];
        point /= count[a];
    }
    return axes;
}

mcr_status mcr_grid_text(mcr_text *to, const mcr_grid *g, int64_t point)
{
    int64_t at[2 * MCR_MOST_AXES], count[2 * MCR_MOST_AXES];
    const mcr_template *t = mcr_grid_template(g, point);
    size_t done = 0;
    mcr_grid_place(g, point, at, count);
    for (int a = 0; a < t->axes; a++) {
        mcr_text_add(to, t->text + done, t->axis[a].at - done);
        mcr_text_real(to, t->axis[a].values.values[at[a]]);
        done = t->axis[a].at + t->axis[a].length;
    }
    mcr_text_string(to, t->text + done);
    return to->status;
}

mcr_status mcr_grid_kernel(mcr_kernel **out, const mcr_grid *g, int64_t point)
{
    mcr_text text;
    mcr_text_init(&text, g->ctx);
    mcr_status s = mcr_grid_text(&text, g, point);
    if (!s)
        s = mcr_kernel_parse(out, g->ctx, text.bytes);
    mcr_text_free(&text);
    return s;
}

/* The value of the searched option `a` at a point. */
static double value_of(const mcr_grid *g, int a, int64_t point)
{
    int64_t after = 1;
    for (int b = a + 1; b < g->axes; b++)
        after *= g->axis[b].values.count;
    return g->axis[a].values.values[point % g->settings / after % g->axis[a].values.count];
}

mcr_status mcr_grid_setting(mcr_options **out, const mcr_grid *g, int64_t point)
{
    mcr_status s = mcr_options_copy(out, g->options);
    if (s)
        return s;
    (*out)->scale = mcr_grid_template(g, point)->scale;
    if (g->path)
        s = mcr_options_set(*out, g->options->type->usual.option, g->options->type->usual.range);
    for (int a = 0; a < g->axes && !s; a++)
        s = mcr_options_set_real(*out, g->axis[a].option->name, value_of(g, a, point));
    if (s) {
        mcr_options_close(*out);
        *out = NULL;
    }
    return s;
}

/* "C=10 epsilon=0.1": the options that are searched. */
static mcr_status say(mcr_text *to, const mcr_grid *g, int64_t point)
{
    mcr_text_string(to, "");
    for (int a = 0; a < g->axes; a++) {
        mcr_text_format(to, "%s%s=", to->length ? " " : "", g->axis[a].option->name);
        mcr_text_real(to, value_of(g, a, point));
    }
    if (g->scales)
        mcr_text_format(to, "%sscale=%s", to->length ? " " : "",
                        mcr_grid_template(g, point)->scale == MCR_SCALE_MINMAX ? "minmax"
                                                                               : "standard");
    return to->status;
}

mcr_status mcr_grid_name(char **kernel, char **options, const mcr_grid *g, int64_t point)
{
    mcr_text expression, values;
    mcr_text_init(&expression, g->ctx);
    mcr_text_init(&values, g->ctx);
    mcr_status s = mcr_grid_text(&expression, g, point);
    if (!s)
        s = say(&values, g, point);
    if (!s) {
        *kernel = mcr_copy_text(g->ctx, expression.bytes, (size_t)expression.length);
        *options = mcr_copy_text(g->ctx, values.bytes, (size_t)values.length);
        s = *kernel && *options ? MCR_OK : MCR_NO_MEMORY;
    }
    mcr_text_free(&expression);
    mcr_text_free(&values);
    return s;
}
