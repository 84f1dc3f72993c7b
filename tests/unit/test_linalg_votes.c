/* Votes of pairs of classes: the micro-kernels of every instruction set against plain C, and
 * classes that models predict by them against those that scores in double decide.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

#include "base/random.h"
#include "linalg/tiles.h"
#include "linalg/votes.h"
#include "model/prediction.h"

#if defined(MCR_HAVE_WIDE)
extern const mcr_vote_kit mcr_vote_kit_wide_f32;
#endif

enum { CLASSES = 7, PAIRS = CLASSES * (CLASSES - 1) / 2, MOST = 100, VOTERS_MOST = 64 };

typedef struct machine {
    int64_t first[CLASSES + 1];
    float coef[CLASSES][(CLASSES - 1) * MOST];
    float offset[PAIRS], error[PAIRS];
    float k[CLASSES * MOST * VOTERS_MOST];
} machine;

/* Classes without support vectors, with one, and with more than a group of them. */
static machine *make_machine(int64_t voters)
{
    static const int64_t size[CLASSES] = {3, 0, MCR_VOTE_GROUP, 1, 70, MCR_VOTE_GROUP + 1, 8};
    machine *m = calloc(1, sizeof *m);
    mcr_random r = mcr_random_stream(5, "votes", 0);
    for (int c = 0; c < CLASSES; c++) {
        m->first[c + 1] = m->first[c] + size[c];
        for (int64_t i = 0; i < (CLASSES - 1) * size[c]; i++)
            m->coef[c][i] = (float)mcr_random_normal(&r);
    }
    for (int o = 0; o < PAIRS; o++) {
        m->offset[o] = (float)mcr_random_normal(&r);
        m->error[o] = o % 3 ? 0.5f : 1e-3f;
    }
    for (int64_t i = 0; i < m->first[CLASSES] * voters; i++)
        m->k[i] = (float)mcr_random_uniform(&r);
    return m;
}

static double score_of(const machine *m, int64_t voters, int a, int b, int64_t at, int pair)
{
    double sum = (double)m->offset[pair];
    int64_t own = m->first[a + 1] - m->first[a], other = m->first[b + 1] - m->first[b];
    for (int64_t i = 0; i < own; i++)
        sum += (double)m->coef[a][(b - 1) * own + i] *
               (double)m->k[(m->first[a] + i) * voters + at];
    for (int64_t i = 0; i < other; i++)
        sum += (double)m->coef[b][a * other + i] * (double)m->k[(m->first[b] + i) * voters + at];
    return sum;
}

/* With a buffer for the scores, or without. */
static void check_kit(const mcr_vote_kit *kit, float *sum)
{
    int64_t voters = kit->voters;
    assert_in_range(voters, 1, VOTERS_MOST);
    machine *m = make_machine(voters);
    const float *coef[CLASSES];
    float won[CLASSES * VOTERS_MOST], lost[CLASSES * VOTERS_MOST];
    for (int c = 0; c < CLASSES; c++)
        coef[c] = m->coef[c];
    kit->count(&(mcr_vote_job){CLASSES, m->first, coef, m->offset, m->error, m->k, kit->voters, sum,
                               won, lost});
    int decided = 0, open = 0;
    for (int64_t at = 0; at < voters; at++) {
        float up[CLASSES] = {0}, down[CLASSES] = {0};
        for (int a = 0, pair = 0; a < CLASSES; a++)
            for (int b = a + 1; b < CLASSES; b++, pair++) {
                double score = score_of(m, voters, a, b, at, pair), error = (double)m->error[pair];
                assert_true(fabs(fabs(score) - error) > 1e-5); /* float agrees */
                up[a] += score > error;
                down[b] += score > error;
                up[b] += -score > error;
                down[a] += -score > error;
                decided += fabs(score) > error;
                open += !(fabs(score) > error);
            }
        for (int c = 0; c < CLASSES; c++) {
            assert_true(won[c * voters + at] == up[c]);
            assert_true(lost[c * voters + at] == down[c]);
        }
    }
    assert_true(decided > 0 && open > 0);
    free(m);
}

static void check_both(const mcr_vote_kit *kit)
{
    float sum[PAIRS * VOTERS_MOST];
    check_kit(kit, NULL);
    check_kit(kit, sum);
}

static void test_kits(void **state)
{
    (void)state;
    static const char *const names[] = {"base", "v3", "v4"};
    for (int i = 0; i < 3; i++) {
        const mcr_tiles *tiles = mcr_tiles_named(names[i]);
        if (tiles)
            check_both(tiles->f32->votes);
        else
            printf("%s is not run here: the processor lacks it\n", names[i]);
    }
#if defined(MCR_HAVE_WIDE)
    if (mcr_tiles_named("v3"))
        check_both(&mcr_vote_kit_wide_f32);
#endif
}

/* ---- models -----------------------------------------------------------------------------------*/

enum { GRID = 6, EACH = 4, NEW = 500 };

/* Clusters on a grid, one class each; `between`: points in the middle of two or four of them, whose
 * scores are equal but for rounding. */
static mcr_data *clusters(mcr *ctx, int64_t n, bool between)
{
    double *x = calloc((size_t)n, 2 * sizeof *x), *y = calloc((size_t)n, sizeof *y);
    mcr_random r = mcr_random_stream(9, "clusters", between);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i % (GRID * GRID);
        double away = between ? 0.5 * (double)(i % 2) : 0.1 * mcr_random_normal(&r);
        x[2 * i] = (double)(c % GRID) + away;
        x[2 * i + 1] = (double)(c / GRID) + (between ? 0.5 * (double)(i % 3 == 0) : 0.1 * away);
        y[i] = (double)c;
    }
    mcr_data *data = dense_data(ctx, n, 2, x, y, NULL);
    free(x);
    free(y);
    return data;
}

static void check_classes(mcr *ctx, const mcr_model *m, const mcr_data *data)
{
    int64_t n = mcr_data_count(data);
    double *quick = calloc((size_t)n, sizeof *quick), *exact = calloc((size_t)n, sizeof *exact);
    double *score = scores_of(ctx, m, data, exact);
    test_ok(ctx, mcr_predict(ctx, m, data, quick, NULL, NULL));
    assert_memory_equal(quick, exact, (size_t)n * sizeof *quick);
    free(quick);
    free(exact);
    free(score);
}

static void test_models(void **state)
{
    mcr *ctx = *state;
    mcr_data *train = clusters(ctx, GRID * GRID * EACH, false);
    mcr_data *near = clusters(ctx, NEW, false), *between = clusters(ctx, NEW, true);
    mcr_model *m = fit_model(ctx, "svm", "rbf(gamma=3)", train, "C=10");
    mcr_prediction w = {.ctx = ctx, .model = m};
    w.segment = m->fitted->segment;
    w.segments = m->fitted->segments;
    test_ok(ctx, mcr_pair_votes_open(&w.votes, &w));
    assert_non_null(w.votes); /* that is what is tested here */
    mcr_pair_votes_close(w.votes);
    check_classes(ctx, m, train);
    check_classes(ctx, m, near);
    check_classes(ctx, m, between);
    mcr_model_free(m);
    mcr_data_free(train);
    mcr_data_free(near);
    mcr_data_free(between);
}

/* A score of -1e-9 is the second class's, and only double knows. */
static void test_close_scores(void **state)
{
    mcr *ctx = *state;
    mcr_data *train = clusters(ctx, GRID * GRID * EACH, false), *middle = NULL;
    mcr_model *m = fit_model(ctx, "svm", "rbf(gamma=3)", train, "C=10");
    middle = dense_data(ctx, 1, 2, (double[]){0.5, 0}, (double[]){0}, NULL);
    double exact, quick, *score = scores_of(ctx, m, middle, &exact);
    for (int turn = 0; turn < 2; turn++) {
        m->fitted->offset[0] -= score[0] + (turn ? 1e-9 : -1e-9);
        free(score);
        score = scores_of(ctx, m, middle, &exact);
        test_ok(ctx, mcr_predict(ctx, m, middle, &quick, NULL, NULL));
        assert_true(exact == turn && quick == turn);
    }
    free(score);
    mcr_model_free(m);
    mcr_data_free(train);
    mcr_data_free(middle);
}

/* Two classes with many support vectors, and one-vs-rest, are not for votes. */
static void test_others(void **state)
{
    mcr *ctx = *state;
    mcr_data *moons = sample_data(ctx, "moons", 200), *train = clusters(ctx, 144, false);
    mcr_model *m[] = {fit_model(ctx, "svm", "rbf(gamma=1)", moons, NULL),
                      fit_model(ctx, "svm", "rbf(gamma=1)", train, "multiclass=ovr")};
    for (int i = 0; i < 2; i++) {
        mcr_prediction w = {.ctx = ctx, .model = m[i]};
        w.segment = m[i]->fitted->segment;
        w.segments = m[i]->fitted->segments;
        test_ok(ctx, mcr_pair_votes_open(&w.votes, &w));
        assert_null(w.votes);
        check_classes(ctx, m[i], i ? train : moons);
        mcr_model_free(m[i]);
    }
    mcr_data_free(moons);
    mcr_data_free(train);
}

static mcr_status predict_run(mcr *ctx, void *arg)
{
    double value[NEW];
    return mcr_predict(ctx, ((void **)arg)[0], ((void **)arg)[1], value, NULL, NULL);
}

static void test_without_memory(void **state)
{
    mcr *ctx = *state;
    mcr_data *train = clusters(ctx, GRID * GRID * EACH, false), *new = clusters(ctx, NEW, true);
    mcr_model *m = fit_model(ctx, "svm", "rbf(gamma=3)", train, "C=10");
    void *arg[] = {m, new};
    assert_true(test_sweep_allocations("votes", predict_run, arg) > 10);
    mcr_model_free(m);
    mcr_data_free(train);
    mcr_data_free(new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kits),
        cmocka_unit_test_setup_teardown(test_models, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_close_scores, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_others, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_without_memory, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
