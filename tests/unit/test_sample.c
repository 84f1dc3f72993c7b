/* test_sample.c: synthetic data sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>
#include <time.h>

#include "data/data.h"

static mcr *open_seed(uint64_t seed)
{
    mcr_config config = {.size = sizeof config, .seed = seed, .threads = 2};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    return ctx;
}

static mcr_data *make(mcr *ctx, const char *name, int64_t count, double noise)
{
    mcr_data *data;
    test_ok(ctx, mcr_data_sample(&data, ctx, name, count, noise));
    return data;
}

static void row_of(const mcr_data *data, int64_t i, double *row)
{
    assert_int_equal(mcr_data_vector(data, 0, i, row), MCR_OK);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool same_arrays(const void *a, const void *b, int64_t count, size_t size)
{
    if (!a || !b)
        return a == b;
    return memcmp(a, b, (size_t)count * size) == 0;
}

static bool same_stores(const mcr_store *a, const mcr_store *b)
{
    int64_t n = a->count;
    if (n != b->count || a->kind != b->kind || a->cols != b->cols || strcmp(a->name, b->name) != 0)
        return false;
    if (a->kind == MCR_DENSE)
        return same_arrays(a->dense, b->dense, n * a->cols, sizeof(double));
    if (!same_arrays(a->start, b->start, n + 1, sizeof(int64_t)))
        return false;
    int64_t entries = a->start[n];
    if (a->kind == MCR_STRINGS)
        return same_arrays(a->bytes, b->bytes, entries, 1);
    if (a->kind == MCR_SPARSE)
        return same_arrays(a->index, b->index, entries, sizeof(int32_t)) &&
               same_arrays(a->value, b->value, entries, sizeof(double));
    return same_arrays(a->node_label, b->node_label, entries, sizeof(int32_t)) &&
           same_arrays(a->link, b->link, entries + 1, sizeof(int64_t)) &&
           same_arrays(a->adjacent, b->adjacent, a->link[entries], sizeof(int32_t)) &&
           same_arrays(a->link_label, b->link_label, a->link[entries], sizeof(int32_t));
}

static bool same_data(const mcr_data *a, const mcr_data *b)
{
    if (a->count != b->count || a->fields != b->fields ||
        !same_arrays(a->target, b->target, a->count, sizeof(double)))
        return false;
    for (int64_t f = 0; f < a->fields; f++)
        if (!same_stores(a->store[f], b->store[f]))
            return false;
    return true;
}

static void follows_the_seed(void **state)
{
    (void)state;
    mcr *one = open_seed(1), *again = open_seed(1), *other = open_seed(2);
    for (const char *const *name = mcr_data_samples(); *name; name++) {
        mcr_data *a = make(one, *name, 50, -1), *b = make(again, *name, 50, -1);
        mcr_data *c = make(other, *name, 50, -1), *d = make(one, *name, 50, -1);
        if (!same_data(a, b) || !same_data(a, d))
            fail_msg("%s: not the same for the same seed", *name);
        if (same_data(a, c))
            fail_msg("%s: the same for another seed", *name);
        mcr_data_free(a);
        mcr_data_free(b);
        mcr_data_free(c);
        mcr_data_free(d);
    }
    mcr_close(one);
    mcr_close(again);
    mcr_close(other);
}

/* Every set has a summary and the size that it should have; classes differ by at most one. */
static void has_size_and_balance(void **state)
{
    static const struct {
        const char *name;
        int64_t count, classes; /* 0: regression */
    } sets[] = {{"moons", 400, 2},  {"rings", 400, 2}, {"spirals", 400, 2},   {"xor", 4, 2},
                {"blobs", 400, 3},  {"line", 400, 2},  {"sinc", 400, 0},      {"friedman", 400, 0},
                {"motifs", 400, 2}, {"mixed", 400, 2}, {"molecules", 400, 2}, {"sparse", 400, 2}};
    int64_t names = 0;
    for (const char *const *name = mcr_data_samples(); *name; name++)
        names++;
    assert_int_equal(names, sizeof sets / sizeof *sets);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const char *summary = mcr_data_sample_summary(sets[i].name);
        assert_non_null(summary);
        assert_true(strlen(summary) < 200 && !strchr(summary, '\n'));
        mcr_data *data = make(*state, sets[i].name, 0, 0);
        assert_int_equal(mcr_data_count(data), sets[i].count);
        mcr_data_free(data);
        data = make(*state, sets[i].name, 101, 0);
        assert_int_equal(mcr_data_count(data), 101);
        assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
        if (sets[i].classes) {
            int64_t of[3] = {0, 0, 0};
            assert_int_equal(mcr_data_classes(data), sets[i].classes);
            for (int64_t j = 0; j < 101; j++)
                of[mcr_data_class_of(data)[j]]++;
            for (int64_t c = 0; c < sets[i].classes; c++)
                assert_true(llabs(of[c] * sets[i].classes - 101) <= sets[i].classes);
        }
        mcr_data_free(data);
    }
    assert_null(mcr_data_sample_summary("nothing"));
}

static void refuses(void **state)
{
    mcr_data *data;
    mcr_status status = mcr_data_sample(&data, *state, "moon", 10, -1);
    test_fails(*state, status, MCR_BAD_CALL, "unknown sample \"moon\" (did you mean \"moons\"?)");
    assert_null(data);
    status = mcr_data_sample(&data, *state, "abcdefghijk", 10, -1);
    test_fails(*state, status, MCR_BAD_CALL,
               "unknown sample \"abcdefghijk\"; there are moons, rings, spirals, xor");
    status = mcr_data_sample(&data, *state, "rings", -1, -1);
    test_fails(*state, status, MCR_BAD_CALL, "sample rings: the number of objects is negative");
    status = mcr_data_sample(&data, *state, "rings", 10, NAN);
    test_fails(*state, status, MCR_BAD_CALL, "sample rings: the noise is not a finite number");
    status = mcr_data_sample(&data, *state, "rings", 10, INFINITY);
    test_fails(*state, status, MCR_BAD_CALL, "sample rings: the noise is not a finite number");
    status = mcr_data_sample(&data, *state, "motifs", 10, 1.5);
    test_fails(*state, status, MCR_BAD_CALL, "its noise is a probability, at most 1");
    status = mcr_data_sample(&data, *state, "blobs", INT64_MAX, -1);
    test_fails(*state, status, MCR_NO_MEMORY, "out of memory");
}

/* ---- vectors -------------------------------------------------------------------------------- */

static void moons_are_arcs(void **state)
{
    mcr_data *data = make(*state, "moons", 300, 0);
    for (int64_t i = 0; i < 300; i++) {
        double x[2], y = mcr_data_targets(data)[i];
        row_of(data, i, x);
        double u = y > 0 ? x[0] : x[0] - 1, v = y > 0 ? x[1] : 0.5 - x[1];
        test_close_real("radius", hypot(u, v), 1, 1e-12);
        assert_true(v >= -1e-12);
    }
    mcr_data_free(data);
}

static void rings_have_their_radii(void **state)
{
    mcr_data *data = make(*state, "rings", 300, 0);
    double x[2];
    for (int64_t i = 0; i < 300; i++) {
        row_of(data, i, x);
        test_close_real("radius", hypot(x[0], x[1]), mcr_data_targets(data)[i] > 0 ? 1 : 2, 1e-12);
    }
    mcr_data_free(data);
    /* With noise the squares of the standard deviations from the circle have the mean noise^2. */
    data = make(*state, "rings", 20000, -1);
    double sum = 0;
    for (int64_t i = 0; i < 20000; i++) {
        row_of(data, i, x);
        double off = hypot(x[0], x[1]) - (mcr_data_targets(data)[i] > 0 ? 1 : 2);
        sum += off * off;
    }
    test_close_real("standard deviation", sqrt(sum / 20000), 0.1, 0.003);
    mcr_data_free(data);
}

static void spirals_wind(void **state)
{
    mcr_data *data = make(*state, "spirals", 300, 0);
    for (int64_t i = 0; i < 300; i++) {
        double x[2], r;
        row_of(data, i, x);
        r = hypot(x[0], x[1]);
        double t = 3 * M_PI * r, sign = mcr_data_targets(data)[i];
        test_close_real("x", sign * r * cos(t), x[0], 1e-9);
        test_close_real("y", sign * r * sin(t), x[1], 1e-9);
        assert_true(r <= 1);
    }
    mcr_data_free(data);
}

/* The four points in the order that the perceptron example needs, then clusters around them. */
static void xor_is_xor(void **state)
{
    static const double points[4][2] = {{-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
    static const double labels[4] = {-1, 1, 1, -1};
    mcr_data *data = make(*state, "xor", 0, -1);
    double x[2];
    for (int64_t i = 0; i < 4; i++) {
        row_of(data, i, x);
        assert_memory_equal(x, points[i], sizeof x);
        assert_true(mcr_data_targets(data)[i] == labels[i]);
    }
    mcr_data_free(data);
    data = make(*state, "xor", 400, -1);
    int64_t wrong = 0, moved = 0;
    for (int64_t i = 0; i < 400; i++) {
        row_of(data, i, x);
        wrong += (x[0] * x[1] > 0) != (mcr_data_targets(data)[i] < 0);
        moved += fabs(x[0]) != 1;
    }
    assert_true(wrong <= 4 && moved == 400);
    mcr_data_free(data);
}

static void blobs_have_centres(void **state)
{
    mcr_data *data = make(*state, "blobs", 30000, -1);
    double mean[3][2] = {{0}}, x[2];
    for (int64_t i = 0; i < 30000; i++) {
        int c = (int)mcr_data_targets(data)[i] - 1;
        row_of(data, i, x);
        mean[c][0] += x[0] / 10000;
        mean[c][1] += x[1] / 10000;
    }
    double centre[3][2] = {{0, 2}, {-sqrt(3), -1}, {sqrt(3), -1}};
    test_close_arrays("mean", mean[0], centre[0], 6, 0.03);
    mcr_data_free(data);
}

static void line_is_cut_at_two(void **state)
{
    mcr_data *data = make(*state, "line", 1000, -1);
    double x, low = 0, high = 0;
    for (int64_t i = 0; i < 1000; i++) {
        row_of(data, i, &x);
        assert_true(fabs(x) <= 4);
        assert_true((fabs(x) < 2) == (mcr_data_targets(data)[i] == 1));
        low = fmin(low, x);
        high = fmax(high, x);
    }
    assert_true(low < -3.9 && high > 3.9);
    mcr_data_free(data);
}

static void regressions_follow_their_formulas(void **state)
{
    double x[10];
    mcr_data *data = make(*state, "sinc", 500, 0);
    for (int64_t i = 0; i < 500; i++) {
        row_of(data, i, x);
        assert_true(fabs(x[0]) <= 10);
        test_close_real("sinc", mcr_data_targets(data)[i], sin(x[0]) / x[0], 1e-15);
    }
    mcr_data_free(data);
    data = make(*state, "friedman", 5000, 0);
    mcr_data *noisy = make(*state, "friedman", 5000, -1);
    double sum = 0, mean = 0;
    for (int64_t i = 0; i < 5000; i++) {
        for (int k = 0; k < 2; k++) {
            row_of(k ? noisy : data, i, x);
            double y = 10 * sin(M_PI * x[0] * x[1]) + 20 * pow(x[2] - 0.5, 2) + 10 * x[3] +
                       5 * x[4];
            double off = mcr_data_targets(k ? noisy : data)[i] - y;
            if (k == 0)
                test_close_real("friedman", off, 0, 1e-12);
            sum += off * off / 5000;
            mean += y / 10000;
        }
    }
    test_close_real("noise", sqrt(sum), 1, 0.03);
    test_close_real("mean", mean, 14.4, 0.3);
    mcr_data_free(data);
    mcr_data_free(noisy);
}

/* One value in most categories; naive Bayes on the first half tells the classes of the second. */
static void sparse_can_be_learned(void **state)
{
    enum { N = 20000, COLUMNS = 123 };
    mcr_data *data = make(*state, "sparse", N, -1);
    mcr_field_info info = field_info(data, 0);
    assert_int_equal(info.kind, MCR_SPARSE);
    assert_int_equal(info.cols, COLUMNS);
    assert_true(info.longest == 14 && info.shortest >= 10);
    test_close_real("entries", (double)info.entries / N, 14 * 0.99, 0.02);
    double count[2][COLUMNS], x[COLUMNS];
    int64_t right = 0, used = 0;
    for (int j = 0; j < COLUMNS; j++)
        count[0][j] = count[1][j] = 1;
    for (int64_t i = 0; i < N; i++) {
        row_of(data, i, x);
        double score = 0;
        int c = mcr_data_targets(data)[i] > 0;
        for (int j = 0; j < COLUMNS; j++) {
            assert_true(x[j] == 0 || x[j] == 1);
            if (x[j] == 0)
                continue;
            if (i < N / 2)
                count[c][j]++;
            score += log(count[1][j] / count[0][j]);
        }
        if (i >= N / 2)
            right += (score > 0) == (c == 1);
    }
    for (int j = 0; j < COLUMNS; j++)
        used += count[0][j] + count[1][j] > 2;
    assert_int_equal(used, COLUMNS);
    double share = (double)right / (N / 2);
    if (share < 0.75 || share > 0.9)
        fail_msg("naive Bayes is right for %g", share);
    mcr_data_free(data);
}

static void is_quick(void **state)
{
    clock_t start = clock();
    mcr_data *data = make(*state, "spirals", 1000000, -1);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_int_equal(mcr_data_count(data), 1000000);
    mcr_data_free(data);
    print_message("spirals: 10^6 objects in %.2f s\n", seconds);
    assert_true(seconds < 20);
}

/* ---- strings and graphs --------------------------------------------------------------------- */

static bool holds_motif(const mcr_data *data, int64_t i)
{
    const char *bytes;
    int64_t length;
    assert_int_equal(mcr_data_string(data, 0, i, &bytes, &length), MCR_OK);
    assert_true(length >= 60 && length <= 100);
    for (int64_t j = 0; j < length; j++)
        assert_true(bytes[j] && strchr("ACGT", bytes[j]));
    return memmem(bytes, (size_t)length, "TGACTCAT", 8) != NULL;
}

static void motifs_hold_the_motif(void **state)
{
    mcr_data *data = make(*state, "motifs", 2000, 0);
    assert_string_equal(field_info(data, 0).name, "sequence");
    int64_t by_chance = 0;
    for (int64_t i = 0; i < 2000; i++) {
        if (mcr_data_targets(data)[i] > 0)
            assert_true(holds_motif(data, i));
        else
            by_chance += holds_motif(data, i);
    }
    assert_true(by_chance < 10);
    mcr_data_free(data);
    data = make(*state, "motifs", 4000, -1);
    double whole = 0;
    for (int64_t i = 0; i < 4000; i++)
        whole += mcr_data_targets(data)[i] > 0 && holds_motif(data, i);
    test_close_real("share without mutations", whole / 2000, pow(0.9, 8), 0.04);
    mcr_data_free(data);
}

/* Whether the nitrogen with two oxygens that end there hangs on an atom of the ring. Atoms of the
 * ring are those that are left when ends are taken away again and again. */
static bool group_on_ring(const mcr_store *s, int64_t i)
{
    int64_t first = s->start[i], nodes = s->start[i + 1] - first;
    int degree[64];
    bool gone[64] = {false};
    assert_true(nodes <= 21 && nodes >= 12);
    for (int64_t v = 0; v < nodes; v++)
        degree[v] = (int)(s->link[first + v + 1] - s->link[first + v]);
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t v = 0; v < nodes; v++) {
            if (gone[v] || degree[v] != 1)
                continue;
            gone[v] = changed = true;
            for (int64_t k = s->link[first + v]; k < s->link[first + v + 1]; k++)
                degree[s->adjacent[k]]--;
        }
    }
    int ring = 0, groups = 0;
    bool on_ring = false;
    for (int64_t v = 0; v < nodes; v++) {
        ring += !gone[v];
        assert_true(gone[v] || strcmp(s->label_name[s->node_label[first + v]], "C") == 0);
        if (strcmp(s->label_name[s->node_label[first + v]], "N") != 0)
            continue;
        int oxygens = 0, doubles = 0;
        int64_t carrier = -1;
        for (int64_t k = s->link[first + v]; k < s->link[first + v + 1]; k++) {
            int64_t u = first + s->adjacent[k];
            bool end = s->link[u + 1] - s->link[u] == 1;
            doubles += s->link_label[k] == 2;
            if (end && strcmp(s->label_name[s->node_label[u]], "O") == 0)
                oxygens++;
            else
                carrier = s->adjacent[k];
        }
        if (oxygens == 2 && doubles == 1 && carrier >= 0) {
            groups++;
            on_ring = !gone[carrier];
        }
    }
    assert_int_equal(ring, 6);
    assert_int_equal(groups, 1);
    return on_ring;
}

static void molecules_have_the_group(void **state)
{
    mcr_data *data = make(*state, "molecules", 2000, 0);
    mcr_field_info info = field_info(data, 0);
    assert_string_equal(info.name, "molecule");
    assert_int_equal(info.alphabet, 4);
    assert_int_equal(info.edge_labels, 2);
    assert_int_equal(info.entries, info.nodes); /* one ring in each */
    for (int64_t i = 0; i < 2000; i++)
        assert_int_equal(group_on_ring(mcr_data_field(data, 0).store, i),
                         mcr_data_targets(data)[i] > 0);
    mcr_data_free(data);
    data = make(*state, "molecules", 2000, 0.25);
    double other = 0;
    for (int64_t i = 0; i < 2000; i++)
        other += group_on_ring(mcr_data_field(data, 0).store, i) != (mcr_data_targets(data)[i] > 0);
    test_close_real("flipped", other / 2000, 0.25, 0.05);
    mcr_data_free(data);
}

/* Each field alone is right in most cases, the three together in more. */
static void mixed_fields_all_know(void **state)
{
    enum { N = 3000 };
    mcr_data *data = make(*state, "mixed", N, -1);
    assert_int_equal(mcr_data_fields(data), 3);
    static const char *const names[] = {"x", "sequence", "molecule"};
    for (int64_t f = 0; f < 3; f++)
        assert_string_equal(field_info(data, f).name, names[f]);
    double right[4] = {0};
    for (int64_t i = 0; i < N; i++) {
        double x[5];
        const char *bytes;
        int64_t length;
        row_of(data, i, x);
        assert_int_equal(mcr_data_string(data, 1, i, &bytes, &length), MCR_OK);
        bool says[3] = {x[0] + x[1] > 0, memmem(bytes, (size_t)length, "TGACTCAT", 8) != NULL,
                        group_on_ring(mcr_data_field(data, 2).store, i)};
        bool truth = mcr_data_targets(data)[i] > 0;
        for (int f = 0; f < 3; f++)
            right[f] += says[f] == truth;
        right[3] += (says[0] + says[1] + says[2] >= 2) == truth;
    }
    test_close_real("sequence", right[1] / N, 0.85, 0.03);
    test_close_real("molecule", right[2] / N, 0.85, 0.03);
    /* P(N(1, 1) + N(1, 1) > 0) = 0.921 */
    test_close_real("x", right[0] / N, 0.85 * 0.921 + 0.15 * 0.079, 0.03);
    assert_true(right[3] > right[0] && right[3] > right[1] && right[3] > right[2]);
    mcr_data_free(data);
}

static mcr_status sweep(mcr *ctx, void *arg)
{
    mcr_data *data = NULL;
    mcr_status status = mcr_data_sample(&data, ctx, arg, 20, -1);
    mcr_data_free(data);
    return status;
}

static void survives_no_memory(void **state)
{
    (void)state;
    for (const char *const *name = mcr_data_samples(); *name; name++) {
        char copy[32];
        snprintf(copy, sizeof copy, "%s", *name);
        assert_true(test_sweep_allocations(copy, sweep, copy) > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_seed),
        cmocka_unit_test_setup_teardown(has_size_and_balance, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(moons_are_arcs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(rings_have_their_radii, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(spirals_wind, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(xor_is_xor, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(blobs_have_centres, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(line_is_cut_at_two, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(regressions_follow_their_formulas, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(sparse_can_be_learned, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(is_quick, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(motifs_hold_the_motif, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(molecules_have_the_group, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(mixed_fields_all_know, test_setup, test_teardown),
        cmocka_unit_test(survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
