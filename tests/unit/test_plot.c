/* test_plot.c: figures and what is drawn of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mercer/plot.h>

#include "plot/canvas.h"
#include "plot/colour.h"
#include "plot/figure.h"
#include "plot/plotting.h"
#include "plot/scale.h"

static mcr_status fit(mcr_model **out, mcr_data **data, mcr *ctx, const char *learner,
                      const char *sample, int64_t n, const char *expression)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    *out = NULL;
    mcr_status s = mcr_data_sample(data, ctx, sample, n, -1);
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, expression);
    if (!s)
        s = mcr_options_open(&options, ctx, learner);
    if (!s)
        s = mcr_fit(out, options, kernel, *data, NULL);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    return s;
}

static const mcr_mark *find_mark(const mcr_figure *f, const char *name)
{
    const mcr_panel *p = &f->frame[0].panel[0];
    for (int64_t i = 0; i < p->count; i++)
        if (p->mark[i].name && strcmp(p->mark[i].name, name) == 0)
            return &p->mark[i];
    fail_msg("no mark %s", name);
    return NULL;
}

/* ---- numbers and axes ----------------------------------------------------------------------- */

static void numbers_are_for_people(void **state)
{
    (void)state;
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {
        {0, 3, "0"},        {0.5, 3, "0.5"},         {-1.25, 3, "−1.25"},   {1200, 3, "1200"},
        {1e6, 3, "10⁶"},    {2.5e-7, 3, "2.5·10⁻⁷"}, {0.1 + 0.2, 3, "0.3"}, {99.96, 3, "100"},
        {INFINITY, 3, "∞"}, {NAN, 3, "–"},           {0.99999, 2, "1"},     {123456, 3, "123000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[MCR_TICK_TEXT];
        assert_string_equal(mcr_number_text(text, cases[i].value, cases[i].digits), cases[i].text);
    }
}

static void ticks_are_round_and_within(void **state)
{
    (void)state;
    static const double ranges[][2] = {
        {0, 1}, {-3.7, 12.2}, {1e-9, 2e-9}, {-1e7, 1e7}, {99.5, 100.5}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (int wanted = 2; wanted < 12; wanted++) {
            mcr_axis a = {.min = ranges[i][0], .max = ranges[i][1]};
            mcr_ticks t;
            double span = a.max - a.min;
            mcr_axis_ticks(&a, wanted, &t);
            assert_true(t.count >= 1 && t.count <= wanted + 1);
            for (int k = 0; k < t.count; k++) {
                assert_true(t.tick[k].at >= a.min - 1e-9 * span);
                assert_true(t.tick[k].at <= a.max + 1e-9 * span);
                if (k)
                    assert_string_not_equal(t.tick[k].text, t.tick[k - 1].text);
            }
        }
    mcr_axis log = {.min = 1e-3, .max = 1e3, .log = true};
    mcr_ticks t;
    mcr_axis_ticks(&log, 7, &t);
    assert_int_equal(t.count, 7);
    assert_string_equal(t.tick[0].text, "0.001");
    test_close_real("middle of a log axis", mcr_axis_share(&log, 1), 0.5, 1e-12);
}

static void numbers_in_svg_do_not_know_the_locale(void **state)
{
    mcr *ctx = *state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},     {0.004, "0"},   {-0.5, "-.5"}, {12.3456, "12.35"},
                 {100, "100"}, {-7.1, "-7.1"}, {0.999, "1"},  {NAN, "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_fixed_write(&t, cases[i].value, 2);
        assert_string_equal(t.bytes, cases[i].text);
        mcr_text_free(&t);
    }
}

static void text_is_escaped_and_valid(void **state)
{
    mcr *ctx = *state;
    static const char *const cases[][2] = {
        {"<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"},
        {"a\x01\x1b[31mb\x7f", "a??[31mb?"},
        {"Grüße ∑", "Grüße ∑"},
        {"\xff\xfe bad \xc3", "?? bad ?"},
        {"\xed\xa0\x80", "???"}, /* half a surrogate pair */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_xml_write(&t, cases[i][0]);
        assert_string_equal(t.bytes, cases[i][1]);
        mcr_text_free(&t);
    }
}

static void base64_is_that_of_the_standard(void **state)
{
    mcr *ctx = *state;
    static const char *const cases[][2] = {
        {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_base64_write(&t, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(t.bytes, cases[i][1]);
        mcr_text_free(&t);
    }
}

/* ---- contours ------------------------------------------------------------------------------- */

/* A circle of radius 1, an egg, and three sectors. */
static mcr_status circle(void *arg, int64_t count, const double *x, const double *y, double *f)
{
    (void)arg;
    for (int64_t i = 0; i < count; i++)
        f[i] = 1 - x[i] * x[i] - y[i] * y[i];
    return MCR_OK;
}

static mcr_status sectors(void *arg, int64_t count, const double *x, const double *y, double *f)
{
    (void)arg;
    for (int64_t i = 0; i < count; i++)
        f[i] = floor((atan2(y[i], x[i]) + 3.2) / 2.2);
    return MCR_OK;
}

static mcr_grid grid_of(mcr_field_of *eval)
{
    return (mcr_grid){.cols = 41,
                      .rows = 31,
                      .x0 = -1.5,
                      .y0 = -1.4,
                      .dx = 3.0 / 40,
                      .dy = 2.8 / 30,
                      .eval = eval};
}

static void contours_lie_on_the_level(void **state)
{
    mcr *ctx = *state;
    mcr_plotting p = {.ctx = ctx, .scratch = {.ctx = ctx}};
    mcr_grid g = grid_of(circle);
    int64_t count, breaks = 0;
    double *x, *y, length = 0;
    test_ok(ctx, mcr_figure_new(&p.f, ctx, "boundary"));
    test_ok(ctx, mcr_grid_fill(&p, &g));
    test_ok(ctx, mcr_grid_contour(&p, &g, 0, false, &count, &x, &y));
    for (int64_t i = 0; i < count; i++) {
        if (isnan(x[i])) {
            breaks++;
            continue;
        }
        test_close_real("radius", hypot(x[i], y[i]), 1, 2e-4);
        if (i + 1 < count && !isnan(x[i + 1]))
            length += hypot(x[i + 1] - x[i], y[i + 1] - y[i]);
    }
    assert_int_equal(breaks, 1); /* one closed line */
    test_close_real("circumference", length, 2 * 3.14159265, 0.01);
    test_ok(ctx, mcr_grid_contour(&p, &g, 5, false, &count, &x, &y));
    assert_int_equal(count, 0); /* nowhere */
    mcr_blocks_free(&p.scratch);
    mcr_figure_close(p.f);
}

static void labels_change_along_the_line(void **state)
{
    mcr *ctx = *state;
    mcr_plotting p = {.ctx = ctx, .scratch = {.ctx = ctx}};
    mcr_grid g = grid_of(sectors);
    int64_t count, seen = 0;
    double *x, *y;
    test_ok(ctx, mcr_figure_new(&p.f, ctx, "clusters"));
    test_ok(ctx, mcr_grid_fill(&p, &g));
    test_ok(ctx, mcr_grid_contour(&p, &g, 0, true, &count, &x, &y));
    for (int64_t i = 0; i < count; i++) {
        if (isnan(x[i]) || hypot(x[i], y[i]) < 0.2)
            continue;
        double turn = atan2(y[i], x[i]) + 3.2, off = turn / 2.2 - round(turn / 2.2);
        bool seam = fabs(y[i]) < 0.02 && x[i] < 0; /* where atan2 jumps */
        assert_true(seam || fabs(off) < 0.02);
        seen++;
    }
    assert_true(seen > 30);
    mcr_blocks_free(&p.scratch);
    mcr_figure_close(p.f);
}

/* ---- figures -------------------------------------------------------------------------------- */

static void a_boundary_rings_all_support_vectors(void **state)
{
    mcr *ctx = *state;
    mcr_model *model;
    mcr_data *data;
    mcr_figure *f;
    test_ok(ctx, fit(&model, &data, ctx, "svm", "moons", 80, "rbf(gamma=2)"));
    mcr_plot plot = {.size = sizeof plot, .model = model, .data = data};
    test_ok(ctx, mcr_figure_open(&f, ctx, &plot));
    assert_string_equal(mcr_figure_kind(f), "boundary");
    const mcr_mark *rings = find_mark(f, "support vectors"), *line = find_mark(f, "boundary f = 0");
    assert_int_equal(rings->count, mcr_model_support(model));
    test_close_real("count", mcr_figure_number(f, "support_vectors"), (double)rings->count, 0);
    int64_t numbers[80], n = mcr_model_support(model);
    double coef[80], offset, row[2], spot[2];
    test_ok(ctx, mcr_model_coefficients(model, 0, coef, &offset, numbers));
    for (int64_t i = 0; i < n; i++) {
        test_ok(ctx, mcr_data_vector(data, 0, numbers[i], row));
        spot[0] = rings->x[i];
        spot[1] = rings->y[i];
        test_close_arrays("ring", spot, row, 2, 1e-12);
    }
    assert_true(line->count > 50);
    assert_true(isnan(mcr_figure_number(f, "no such number")));
    mcr_figure_close(f);
    mcr_model_free(model);
    mcr_data_free(data);
}

/* A caller that was compiled with a shorter struct. */
static void older_structs_are_taken(void **state)
{
    mcr *ctx = *state;
    mcr_data *data;
    mcr_figure *f;
    const char *bytes;
    size_t count;
    test_ok(ctx, mcr_data_sample(&data, ctx, "moons", 40, -1));
    mcr_plot plot = {.size = offsetof(mcr_plot, kernel), .data = data, .x = "no such column"};
    test_ok(ctx, mcr_figure_open(&f, ctx, &plot)); /* x is beyond its size */
    mcr_draw draw = {.size = offsetof(mcr_draw, theme), .width = 300, .height = 200};
    test_ok(ctx, mcr_figure_draw(f, "svg", &draw, &bytes, &count));
    assert_non_null(strstr(bytes, "width=\"300\""));
    mcr_figure_close(f);
    mcr_data_free(data);
}

static void faults_say_what_is_possible(void **state)
{
    mcr *ctx = *state;
    mcr_model *model;
    mcr_data *data;
    mcr_figure *f;
    const char *bytes;
    size_t count;
    mcr_plot none = {.size = sizeof none};
    test_fails(ctx, mcr_figure_open(&f, ctx, &none), MCR_BAD_CALL, "needs a model or data");
    assert_null(f);
    test_ok(ctx, fit(&model, &data, ctx, "svm", "moons", 40, "rbf(gamma=2)"));
    mcr_plot plot = {.size = sizeof plot, .model = model, .data = data, .kind = "bounary"};
    test_fails(ctx, mcr_figure_open(&f, ctx, &plot), MCR_BAD_CALL, "did you mean boundary");
    static const char *const wrong[][2] = {
        {"band", "possible here: boundary"},  {"surface", "possible here: boundary"},
        {"tuning", "found by a search"},      {"logo", "trained on strings"},
        {"projection", "pca, fisher or cca"}, {"calibration", "probabilities"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        plot.kind = wrong[i][0];
        test_fails(ctx, mcr_figure_open(&f, ctx, &plot), MCR_BAD_CALL, wrong[i][1]);
        assert_null(f);
    }
    plot.kind = NULL;
    plot.x = "height";
    test_fails(ctx, mcr_figure_open(&f, ctx, &plot), MCR_BAD_CALL, "no column \"height\"");
    plot.x = NULL;
    test_fails(ctx, mcr_figure_animate(&f, ctx, &plot, "gamma"), MCR_BAD_CALL, "not a range");
    test_fails(ctx, mcr_figure_animate(&f, ctx, &plot, "colour=1:3"), MCR_BAD_CALL,
               "neither an option");
    test_ok(ctx, mcr_figure_open(&f, ctx, &plot));
    test_fails(ctx, mcr_figure_draw(f, "gif", NULL, &bytes, &count), MCR_BAD_CALL, "not a format");
    test_fails(ctx, mcr_figure_save(f, "picture.gif", NULL), MCR_BAD_CALL, "the extension");
    mcr_figure_close(f);
    mcr_model_free(model);
    mcr_data_free(data);
}

static void every_kind_describes_itself(void **state)
{
    (void)state;
    mcr_plot_info info = MCR_INIT(mcr_plot_info);
    assert_int_equal(mcr_plot_count(), 19);
    for (int64_t i = 0; i < mcr_plot_count(); i++) {
        assert_int_equal(mcr_plot_describe(i, &info), MCR_OK);
        assert_true(info.name[0] && info.summary[0] && info.needs[0]);
    }
    assert_int_equal(mcr_plot_describe(19, &info), MCR_BAD_CALL);
    assert_string_equal(mcr_figure_format("a/b.htm"), "html");
    assert_null(mcr_figure_format("picture"));
}

/* ---- memory --------------------------------------------------------------------------------- */

typedef struct sweep {
    const char *learner, *sample, *kernel, *kind;
    int64_t n;
} sweep;

static mcr_status draw_all(mcr *ctx, void *arg)
{
    static const char *const formats[] = {"svg", "json", "text", "html"};
    const sweep *with = arg;
    mcr_model *model = NULL;
    mcr_data *data = NULL;
    mcr_figure *f = NULL;
    const char *bytes;
    size_t count;
    mcr_status s = fit(&model, &data, ctx, with->learner, with->sample, with->n, with->kernel);
    mcr_plot plot = {.size = sizeof plot, .model = model, .data = data, .kind = with->kind};
    if (strcmp(with->kind, "dependence") == 0)
        plot.x = "x1";
    if (!s)
        s = mcr_figure_open(&f, ctx, &plot);
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !s; i++)
        s = mcr_figure_draw(f, formats[i], NULL, &bytes, &count);
    mcr_figure_close(f);
    mcr_model_free(model);
    mcr_data_free(data);
    return s;
}

static void nothing_leaks_when_memory_is_short(void **state)
{
    (void)state;
    static sweep cases[] = {
        {"svm", "moons", "rbf(gamma=2)", "roc", 12},
        {"svm", "moons", "rbf(gamma=2)", "confusion", 12},
        {"gp", "sinc", "rbf(gamma=0.5)", "residuals", 8},
        {"svm", "moons", "rbf(gamma=2)", "data", 8},
        {"pca", "moons", "rbf(gamma=2)", "projection", 8},
        {"svm", "moons", "linear", "importance", 8},
        {"svm", "moons", "linear", "dependence", 6},
        {"svm", "motifs", "spectrum(p=3)", "logo", 6},
        {"svm", "moons", "rbf(gamma=2)", "boundary", 8},
        {"kmeans", "moons", "rbf(gamma=2)", "gram", 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_sweep_allocations(cases[i].kind, draw_all, &cases[i]);
}

/* A kernel of a model file is somebody's text: numbers of any length must fit. */
static void long_numbers_are_shortened(void **state)
{
    (void)state;
    char from[3000], to[320];
    static const char *const begin[] = {"rbf(gamma=0.", "0.", "123456789012.", "1e-320 0."};
    for (size_t b = 0; b < sizeof begin / sizeof *begin; b++) {
        size_t used = strlen(begin[b]);
        memcpy(from, begin[b], used);
        memset(from + used, '0', sizeof from - used);
        from[sizeof from - 1] = '\0';
        mcr_plot_shorten(from, to, sizeof to, true);
        assert_true(strlen(to) < sizeof to);
        assert_null(strstr(to, "nan"));
    }
    mcr_plot_shorten("rbf(gamma=0.123456789)", to, sizeof to, false);
    assert_string_equal(to, "rbf(gamma=0.1235)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_numbers_are_shortened),
        cmocka_unit_test(numbers_are_for_people),
        cmocka_unit_test(ticks_are_round_and_within),
        cmocka_unit_test_setup_teardown(numbers_in_svg_do_not_know_the_locale, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(text_is_escaped_and_valid, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(base64_is_that_of_the_standard, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(contours_lie_on_the_level, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(labels_change_along_the_line, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(a_boundary_rings_all_support_vectors, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(older_structs_are_taken, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(faults_say_what_is_possible, test_setup, test_teardown),
        cmocka_unit_test(every_kind_describes_itself),
        cmocka_unit_test(nothing_leaks_when_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
