/* test_kernel_parse.c: expressions to trees and back, and the marks of faults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel_types.h"

#include <stdio.h>

#include "base/random.h"
#include "kernel/kernel.h"

static void check_text(mcr *ctx, const char *given, const char *expected)
{
    mcr_kernel *k = parsed(ctx, given), *again;
    assert_string_equal(mcr_kernel_text(k), expected);
    again = parsed(ctx, expected);
    assert_string_equal(mcr_kernel_text(again), expected);
    mcr_kernel_free(again);
    mcr_kernel_free(k);
}

static void test_canonical(void **state)
{
    static const char *const table[][2] = {
        {"dot", "dot"},
        {" dot ( ) ", "dot"},
        {"1", "1"},
        {"-1.50", "-1.5"},
        {"-0", "0"},
        {"1e5*dot", "100000*dot"},
        {".5*dot", "0.5*dot"},
        {"constant(c=2)", "2"},
        {"constant", "1"},
        {"blob(gamma=.5)", "blob(gamma=0.5)"},
        {"blob(sigma=1)", "blob(gamma=0.5)"},
        {"blob(scale=[1,2 , 3],gamma=1)", "blob(gamma=1, scale=[1, 2, 3])"},
        {"blob(scale=[4], gamma=1)", "blob(gamma=1, scale=4)"},
        {"blob(mode=hard, loud=yes, depth=4, gamma=1)",
         "blob(gamma=1, depth=4, loud=yes, mode=hard)"},
        {"blob(gamma=1, depth=3, loud=no, mode=soft)", "blob(gamma=1)"},
        {"blob(assay, gamma=1)", "blob(assay, gamma=1)"},
        {"blob(gamma=1,assay)", "blob(assay, gamma=1)"},
        {"dot(\"x\")", "dot(x)"},
        {"dot(gamma)", "dot(gamma)"},
        {"dot(\"my field\")", "dot(\"my field\")"},
        {"dot(\"a\\\"b\\\\c\")", "dot(\"a\\\"b\\\\c\")"},
        {"dot(\"2x\")", "dot(\"2x\")"},
        {"dot(a,b)", "dot(a, b)"},
        {"dot(\"a\" , x_*,\"c d\")", "dot(a, x_*, \"c d\")"},
        {"dot(*_sin)", "dot(*_sin)"},
        {"blob(a,gamma=1,b)", "blob(a, b, gamma=1)"},
        {"dot(gr\xc3\xb6\xc3\x9f"
         "e)",
         "dot(gr\xc3\xb6\xc3\x9f"
         "e)"},
        {"blob(gamma=1,file=a/b-c.npy)", "blob(gamma=1, file=a/b-c.npy)"},
        {"blob(gamma=1,file=\"a/b-c.npy\")", "blob(gamma=1, file=a/b-c.npy)"},
        {"blob(gamma=1,file=\"1:2\")", "blob(gamma=1, file=\"1:2\")"},
        {"blob(gamma=1,file=x:2)", "blob(gamma=1, file=\"x:2\")"},
        {"blob(gamma=1,file=\"(),\")", "blob(gamma=1, file=\"(),\")"},
        {"blob(gamma=1,file=\"\")", "blob(gamma=1, file=\"\")"},
        {"2*blob(gamma=.5)+dot", "2*blob(gamma=0.5) + dot"},
        {"dot+dot*dot", "dot + dot*dot"},
        {"(dot+1)*dot", "(dot + 1)*dot"},
        {"((dot))", "dot"},
        {"(dot+1)+(2+(3+dot))", "dot + 1 + 2 + 3 + dot"},
        {"(dot*2)*(3*(dot*4))", "dot*2*3*dot*4"},
        {"2*(3*dot)", "2*3*dot"},
        {"dot + -1", "dot + -1"},
        {"dot*-1", "dot*-1"},
        {"-1*dot", "-1*dot"},
        {"dot^2", "dot^2"},
        {"dot ^ 2", "dot^2"},
        {"dot^1", "dot"},
        {"(dot^2)^3", "(dot^2)^3"},
        {"(dot+1)^2", "(dot + 1)^2"},
        {"(2*dot)^2", "(2*dot)^2"},
        {"2*dot^2", "2*dot^2"},
        {"(-1)^2", "(-1)^2"},
        {"-1^2", "-1*1^2"},
        {"-2^2*dot", "-1*2^2*dot"},
        {"dot + -.5 ^3", "dot + -1*0.5^3"},
        {"-2^1", "-1*2"},
        {"2^2", "2^2"},
        {"(dot^2)*dot", "dot^2*dot"},
        {"power(dot)", "dot^2"},
        {"power(dot+1, degree=3)", "(dot + 1)^3"},
        {"power(dot, degree=1)", "dot"},
        {"sum(dot, 1, dot*2)", "dot + 1 + dot*2"},
        {"sum(sum(dot, 1), 2)", "dot + 1 + 2"},
        {"product(dot, sum(dot, 1))", "dot*(dot + 1)"},
        {"exp(dot)", "exp(dot)"},
        {"exp(dot + 1)", "exp(dot + 1)"},
        {"normalize( exp( 2 * dot ) )", "normalize(exp(2*dot))"},
        {"conformal(dot)", "conformal(dot)"},
        {"conformal(dot, f=norm)", "conformal(dot)"},
        {"conformal(f=2, dot)", "conformal(dot, f=2)"},
        {"conformal(dot, f=x:2)", "conformal(dot, f=\"x:2\")"},
        {"both(dot, 1+dot)", "both(dot, 1 + dot)"},
        {"dot\n +\tdot", "dot + dot"},
        {"precomputed", "precomputed"},
        {"rbf(sigma=1)", "rbf(gamma=0.5)"},
        {"2*poly(degree=3,c=1)+linear", "2*poly(c=1) + linear"}, /* 3 is the default */
        {"poly(degree=4,c=1)", "poly(degree=4, c=1)"},
        {"rbf(assay, gamma=.1)*linear(\"dose 2\")", "rbf(assay, gamma=0.1)*linear(\"dose 2\")"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_text(*state, table[i][0], table[i][1]);
}

typedef struct fault_case {
    const char *text, *words;
    int64_t column, length;
} fault_case;

static void test_faults(void **state)
{
    mcr *ctx = *state;
    static const fault_case table[] = {
        {"   ", "kernel: the expression is empty", 0, 1},
        {"blub(gamma=1) + dot", "kernel: unknown kernel \"blub\" (did you mean \"blob\"?)", 0, 4},
        {"rbff(gamma=1) + linear", "kernel: unknown kernel \"rbff\" (did you mean \"rbf\"?)", 0, 4},
        {"dot + zebra", "kernel: unknown kernel \"zebra\"", 6, 5},
        {"blob(gama=1)", "kernel: blob has no parameter \"gama\" (did you mean \"gamma\"?)", 5, 4},
        {"blob(zz=1)", "has no parameter \"zz\" (it has gamma, sigma, depth,", 5, 2},
        {"dot(c=1)", "dot has no parameter \"c\" (it has none)", 4, 1},
        {"blob(gamma=1, gamma=2)", "blob: gamma is given twice", 14, 5},
        {"blob(gamma=-1)", "blob: gamma must be a number above 0", 11, 2},
        {"blob(gamma=x)", "blob: gamma must be a number", 11, 1},
        {"blob(gamma=1, depth=2.5)", "blob: depth must be a whole number", 20, 3},
        {"blob(gamma=1, depth=10)", "blob: depth must be a whole number from 1 to 9", 20, 2},
        {"blob(gamma=1, mode=hrd)", "blob: mode must be soft or hard", 19, 3},
        {"blob(gamma=1, loud=maybe)", "blob: loud must be yes or no", 19, 5},
        {"blob(gamma=1, scale=[1, a])", "blob: scale must be", 20, 6},
        {"blob(gamma=1, scale=[1, 2)", "this list has no \"]\"", 20, 1},
        {"blob(gamma=)", "gamma= needs a value", 5, 5},
        {"blob(gamma=", "gamma= needs a value", 5, 5},
        {"dot + blob", "blob: give one of gamma and sigma", 6, 4},
        {"dot + blob(gamma=1, sigma=2) ", "blob: give one of gamma and sigma", 6, 22},
        {"blob(gamma=1:10:log5)",
         "ranges such as 1:10:log5 are for a search of the best parameters", 11, 9},
        {"blob(gamma=1, scale=[1:2])", "ranges such as", 20, 5},
        {"1:10:log5*dot", "ranges such as", 0, 9},
        {"blob(gamma=1 2)", "expected a comma or \")\" before \"2\"", 13, 1},
        {"blob(gamma=1", "this \"(\" is never closed", 4, 1},
        {"(dot", "this \"(\" is never closed", 0, 1},
        {"dot + (dot", "this \"(\" is never closed", 6, 1},
        {"exp(dot", "this \"(\" is never closed", 3, 1},
        {"exp(dot,", "this \"(\" is never closed", 3, 1},
        {"dot)", "this \")\" closes nothing", 3, 1},
        {"()", "expected a kernel or a number, not \")\"", 1, 1},
        {"dot +", "the expression ends too early", 5, 1},
        {"dot + + dot", "expected a kernel or a number, not \"+\"", 6, 1},
        {"*dot", "expected a kernel or a number, not \"*\"", 0, 1},
        {"dot dot", "expected + or * before \"dot\"", 4, 3},
        {"2dot", "expected + or * before \"dot\"", 1, 3},
        {"2 (dot)", "expected + or * before \"(\"", 2, 1},
        {"(dot dot)", "expected +, * or \")\" before \"dot\"", 5, 3},
        {"dot - dot", "there is no minus between kernels", 4, 1},
        {"dot/2", "there is no division", 3, 1},
        {"-dot", "a minus sign belongs to a number (write -1*dot)", 0, 4},
        {"dot + - dot", "(write -1*dot)", 6, 5},
        {"-(dot)", "(write -1*K)", 0, 1},
        {"dot^0", "a power is a whole number from 1 to 1000000", 4, 1},
        {"dot^-2", "a power is a whole number", 4, 2},
        {"dot^1.5", "a power is a whole number", 4, 3},
        {"dot^x", "a power is a whole number", 4, 1},
        {"dot^99999999999999999999", "a power is a whole number", 4, 20},
        {"dot^2^3", "one power per kernel", 5, 1},
        {"1e999", "the number 1e999 is too large", 0, 5},
        {"gamma=1", "gamma=1 must be inside the parentheses of a kernel", 0, 7},
        {"dot + zz = 1 + dot", "zz=1 must be inside", 6, 6},
        {"dot, dot", "a comma is allowed only between", 3, 1},
        {"dot = 1", "a parameter belongs inside", 4, 1},
        {"dot(exp(dot))", "dot works on a field and takes no kernel inside", 4, 3},
        {"dot(x + y)", "dot works on a field and takes no kernel inside", 4, 1},
        {"spectrum(x, y)", "spectrum works on one field", 12, 1},
        {"spectrum(x_*)", "spectrum works on one field", 9, 3},
        {"dot(dot*x)", "dot works on a field and takes no kernel inside", 4, 3},
        {"blob(4)", "blob: a number needs its name, such as gamma=4", 5, 1},
        {"dot(4)", "expected a field or name=value", 4, 1},
        {"dot(\"\")", "a field's name is empty", 4, 2},
        {"dot(\"x)", "this quoted text has no end", 4, 1},
        {"dot(\"x\ty\")", "a quoted text must stay in one line", 6, 1},
        {"dot(x,)", "expected a field or name=value, not \")\"", 6, 1},
        {"normalize()", "normalize needs a kernel inside", 0, 11},
        {"1 + normalize", "normalize needs a kernel inside", 4, 9},
        {"normalize(dot, dot )", "normalize takes at most 1 kernel", 15, 3},
        {"both(dot)", "both needs at least 2 kernels", 0, 9},
        {"both(dot, dot, dot)", "both takes at most 2 kernels", 15, 3},
        {"sum(dot)", "sum needs at least 2 kernels", 0, 8},
        {"constant(2)", "constant takes no kernels", 9, 1},
        {"constant(c=inf)", "constant: c must be a number that is finite", 11, 3},
        {"conformal(dot, f=\"\")", "conformal: f is empty", 0, 20},
        {"dot $", "unexpected \"$\"", 4, 1},
        {"dot\x01", "control character", 3, 1},
        {"dot + \"x\"", "expected a kernel or a number", 6, 1},
        {"+dot", "expected a kernel or a number", 0, 1},
        {".", "expected a kernel or a number", 0, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const fault_case *t = &table[i];
        mcr_kernel *k = (mcr_kernel *)&table;
        mcr_status status = mcr_kernel_parse(&k, ctx, t->text);
        int64_t column = -1, length = -1;
        const char *mark = mcr_message_mark(ctx, &column, &length);
        if (status != MCR_BAD_CALL || k != NULL || strstr(mcr_message(ctx), t->words) == NULL ||
            mark == NULL || column != t->column || length != t->length)
            fail_msg("\"%s\": status %d, \"%s\", column %d, length %d", t->text, (int)status,
                     mcr_message(ctx), (int)column, (int)length);
        assert_int_equal(strlen(mark), strlen(t->text));
    }
}

static void test_mark(void **state)
{
    mcr *ctx = *state;
    mcr_kernel *k;
    int64_t column, length;
    assert_null(mcr_message_mark(ctx, &column, &length));
    assert_int_equal(mcr_kernel_parse(&k, ctx, ""), MCR_BAD_CALL);
    assert_null(mcr_message_mark(ctx, &column, &length)); /* nothing to point at */
    assert_int_equal(mcr_kernel_parse(&k, ctx, "dot\n+ blub"), MCR_BAD_CALL);
    assert_string_equal(mcr_message_mark(ctx, &column, &length), "dot + blub");
    mcr_fail(ctx, MCR_BAD_DATA, "something else");
    assert_null(mcr_message_mark(ctx, &column, &length));

    /* A window of a long expression. */
    char text[5000];
    for (int i = 0; i < 4900; i += 7)
        memcpy(text + i, "dot +  ", 8);
    memcpy(text + 2800, "zebra+ ", 7);
    memcpy(text + 4900, "dot", 4);
    assert_int_equal(mcr_kernel_parse(&k, ctx, text), MCR_BAD_CALL);
    const char *mark = mcr_message_mark(ctx, &column, &length);
    assert_non_null(mark);
    assert_in_range(strlen(mark), 100, MCR_MARK_MAX - 1);
    assert_int_equal(length, 5);
    assert_memory_equal(mark + column, "zebra", 5);
    assert_memory_equal(mark, "...", 3);
    assert_string_equal(mark + strlen(mark) - 3, "...");
}

/* ---- limits -----------------------------------------------------------------------------------*/

static char *repeated(const char *head, const char *part, int64_t count, const char *middle,
                      const char *tail_part, const char *tail)
{
    size_t size = strlen(head) + strlen(middle) + strlen(tail) +
                  (size_t)count * (strlen(part) + strlen(tail_part)) + 1;
    char *text = malloc(size), *at = text;
    assert_non_null(text);
    at = stpcpy(at, head);
    for (int64_t i = 0; i < count; i++)
        at = stpcpy(at, part);
    at = stpcpy(at, middle);
    for (int64_t i = 0; i < count; i++)
        at = stpcpy(at, tail_part);
    stpcpy(at, tail);
    return text;
}

static void try_size(mcr *ctx, char *text, const char *words)
{
    mcr_kernel *k = NULL;
    mcr_status status = mcr_kernel_parse(&k, ctx, text);
    if (words != NULL) {
        test_fails(ctx, status, MCR_BAD_CALL, words);
        assert_null(k);
    } else {
        test_ok(ctx, status);
        mcr_kernel *again = parsed(ctx, mcr_kernel_text(k));
        assert_string_equal(mcr_kernel_text(k), mcr_kernel_text(again));
        mcr_kernel_free(again);
    }
    mcr_kernel_free(k);
    free(text);
}

static void test_limits(void **state)
{
    mcr *ctx = *state;
    try_size(ctx, repeated("", "exp(", 99, "dot", ")", ""), NULL);
    try_size(ctx, repeated("", "exp(", 100, "dot", ")", ""), "more than 100 deep");
    try_size(ctx, repeated("", "(1+2*", 49, "dot", ")^2", ""), "more than 100 deep");
    try_size(ctx, repeated("", "(1+", 49, "dot", ")^2", ""), NULL);
    try_size(ctx, repeated("", "(", 200, "dot", ")", ""), NULL);
    try_size(ctx, repeated("", "(", 201, "dot", ")", ""), "more than 200 nested parentheses");
    try_size(ctx, repeated("", "(", 500000, "dot", "", ""), "more than 200 nested parentheses");
    try_size(ctx, repeated("", "exp(", 200000, "dot", "", ""), "more than 200 nested parentheses");
    try_size(ctx, repeated("dot", "+dot", 9998, "", "", ""), NULL);
    try_size(ctx, repeated("dot", "+dot", 9999, "", "", ""), "more than 10000 parts");
    try_size(ctx, repeated("dot", "+dot", 20000, "", "", ""), "more than 10000 parts");
    try_size(ctx, repeated("dot", " ", 1 << 24, "", "", ""), "longer than 16777216 bytes");
    try_size(ctx, repeated("blob(gamma=1,scale=[1", ",1", 300000, "", "", "])"), NULL);
    /* Canonical texts are longer: the limit holds for them too, and for all of them together. */
    try_size(ctx, repeated("blob(gamma=1,scale=[1", ",1", 6000000, "", "", "])"),
             "longer than 16777216 bytes");
    try_size(ctx,
             repeated("exp(exp(exp(exp(exp(exp(blob(gamma=1,scale=[1", ",1", 4000000, "", "",
                      "])))))))"),
             "too long and too deep");
}

/* ---- random expressions -----------------------------------------------------------------------*/

typedef struct writer {
    char text[8192];
    size_t length;
    mcr_random random;
} writer;

static void put(writer *w, const char *s)
{
    size_t n = strlen(s);
    assert_true(w->length + n < sizeof w->text);
    memcpy(w->text + w->length, s, n + 1);
    w->length += n;
}

static void put_random(writer *w, int depth)
{
    static const char *const leaf[] = {"dot",    "1",        "-2.5e-3",       "letters(\"a b\")",
                                       "dot(x)", "constant", "blob(sigma=3)", "blob(q,gamma=7)"};
    int64_t what = mcr_random_below(&w->random, depth > 5 || w->length > 4000 ? 1 : 9);
    if (mcr_random_below(&w->random, 4) == 0)
        put(w, " ");
    switch (what) {
    case 1:
    case 2:
        for (int64_t n = 1 + mcr_random_below(&w->random, 3); n >= 0; n--) {
            put_random(w, depth + 1);
            if (n > 0)
                put(w, what == 1 ? "+" : " * ");
        }
        break;
    case 3:
        put(w, "(");
        put_random(w, depth + 1);
        put(w, ")");
        break;
    case 4:
        put(w, "(");
        put_random(w, depth + 1);
        put(w, mcr_random_below(&w->random, 2) ? ")^1" : ")^3");
        break;
    case 5:
        put(w, "exp(");
        put_random(w, depth + 1);
        put(w, ")");
        break;
    case 6:
        put(w, "conformal(f=\"a,b\",");
        put_random(w, depth + 1);
        put(w, ")");
        break;
    case 7:
        put(w, "sum(");
        put_random(w, depth + 1);
        put(w, ",");
        put_random(w, depth + 1);
        put(w, ")");
        break;
    case 8:
        put(w, "product(");
        put_random(w, depth + 1);
        put(w, ",");
        put_random(w, depth + 1);
        put(w, ")");
        break;
    default: put(w, leaf[mcr_random_below(&w->random, 8)]); break;
    }
}

static bool same_tree(const mcr_kernel *a, const mcr_kernel *b)
{
    bool same = a->type == b->type && a->children == b->children && strcmp(a->text, b->text) == 0 &&
                a->depth == b->depth && a->nodes == b->nodes;
    for (int i = 0; i < a->children && same; i++)
        same = same_tree(a->child[i], b->child[i]);
    return same;
}

static void test_random(void **state)
{
    mcr *ctx = *state;
    int64_t large = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        writer w = {.length = 0, .random = mcr_random_stream(1, "expression", i)};
        put_random(&w, 0);
        mcr_kernel *k = parsed(ctx, w.text), *again = parsed(ctx, mcr_kernel_text(k));
        if (!same_tree(k, again))
            fail_msg("%s\n -> %s\n -> %s", w.text, k->text, again->text);
        large += k->nodes > 10;
        mcr_kernel_free(again);
        mcr_kernel_free(k);
    }
    assert_true(large > 300);
}

/* Damaged expressions: any outcome but a crash, and never an unmarked fault. */
static void test_damaged(void **state)
{
    mcr *ctx = *state;
    for (uint64_t i = 0; i < 3000; i++) {
        writer w = {.length = 0, .random = mcr_random_stream(2, "damage", i)};
        put_random(&w, 0);
        for (int64_t n = mcr_random_below(&w.random, 3); n >= 0; n--) {
            static const char letters[] = "()[]+*^,=\"\\ -1.e:a\x80\t";
            w.text[mcr_random_below(&w.random, (int64_t)w.length)] =
                letters[mcr_random_below(&w.random, sizeof letters - 1)];
        }
        mcr_kernel *k = NULL;
        int64_t column, length;
        mcr_status status = mcr_kernel_parse(&k, ctx, w.text);
        if (status == MCR_OK) {
            mcr_kernel *again = parsed(ctx, mcr_kernel_text(k));
            if (!same_tree(k, again))
                fail_msg("%s\n -> %s\n -> %s", w.text, k->text, again->text);
            mcr_kernel_free(again);
        } else {
            const char *mark = mcr_message_mark(ctx, &column, &length);
            assert_non_null(mark);
            assert_true(column >= 0 && length >= 1 && column <= (int64_t)strlen(mark));
        }
        mcr_kernel_free(k);
    }
}

/* ---- the registry -----------------------------------------------------------------------------*/

static void test_registry(void **state)
{
    mcr *ctx = *state;
    mcr_kernel_info info = MCR_INIT(mcr_kernel_info);
    int64_t count = mcr_kernel_count(ctx);
    test_ok(ctx, mcr_kernel_describe(ctx, count - 1, &info));
    assert_string_equal(info.name, "both");
    assert_int_equal(info.indefinite, 1);
    assert_null(info.params[0].name);
    assert_int_equal(mcr_kernel_describe(ctx, count, &info), MCR_BAD_CALL);
    assert_int_equal(mcr_kernel_describe(ctx, -1, &info), MCR_BAD_CALL);
    for (int64_t i = 0; i < count; i++) {
        test_ok(ctx, mcr_kernel_describe(ctx, i, &info));
        assert_true(mcr_kernel_name_valid(info.name, strlen(info.name)));
        assert_true(strlen(info.summary) > 5);
        for (int64_t j = 0; j < i; j++)
            assert_string_not_equal(info.name, mcr_kernel_type_at(ctx, j)->name);
    }
    mcr_kernel_type type = type_dot;
    test_fails(ctx, mcr_kernel_register(ctx, &type), MCR_BAD_CALL, "already");
    type.name = "2x";
    test_fails(ctx, mcr_kernel_register(ctx, &type), MCR_BAD_CALL, "name");
    type.name = "two";
    type.size = 0;
    test_fails(ctx, mcr_kernel_register(ctx, &type), MCR_BAD_CALL, "size");
    type.size = offsetof(mcr_kernel_type, bind); /* an older caller's, without block and pair */
    test_fails(ctx, mcr_kernel_register(ctx, &type), MCR_BAD_CALL, "block");
    type.size = sizeof type;
    type.pair = NULL;
    test_fails(ctx, mcr_kernel_register(ctx, &type), MCR_BAD_CALL, "block");
    type = type_blob;
    type.name = "two";
    type.params_size = 8;
    test_fails(ctx, mcr_kernel_register(ctx, &type), MCR_BAD_CALL, "params_size");
    type = type_both;
    type.name = "two";
    type.max_children = 1;
    test_fails(ctx, mcr_kernel_register(ctx, &type), MCR_BAD_CALL, "children");
    assert_int_equal(mcr_kernel_count(ctx), count);
}

static void test_owners(void **state)
{
    mcr *ctx = *state;
    mcr_kernel *k = parsed(ctx, "dot + exp(dot)"), *same = mcr_kernel_retain(k);
    assert_ptr_equal(k, same);
    mcr_kernel_free(k);
    assert_string_equal(mcr_kernel_text(same), "dot + exp(dot)");
    mcr_kernel_free(same);
    mcr_kernel_free(NULL);
}

static mcr_status parse_run(mcr *ctx, void *arg)
{
    mcr_kernel *k = NULL;
    mcr_status status = register_types(ctx);
    if (status == MCR_OK)
        status = mcr_kernel_parse(&k, ctx, arg);
    if (status != MCR_OK)
        assert_null(k);
    mcr_kernel_free(k);
    forget_types(ctx);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    static char text[] = "2*blob(\"a b\", gamma=1, scale=[1,2], file=\"x y\")^2 + "
                         "(dot(x)+1)*normalize(conformal(exp(dot), f=norm)) + (dot + dot)*-1";
    assert_true(test_sweep_allocations("parse", parse_run, text) > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_canonical, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_faults, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_mark, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_limits, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_random, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_damaged, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_registry, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_owners, types_setup, test_teardown),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("kernel_parse", tests, NULL, NULL);
}
