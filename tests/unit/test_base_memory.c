/* test_base_memory.c: aligned blocks, growth, sizes, the budget.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"

static void fill(unsigned char *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        block[i] = (unsigned char)(i * 31 + i / 251);
}

static void check(const unsigned char *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (block[i] != (unsigned char)(i * 31 + i / 251))
            fail_msg("byte %zu of %zu changed", i, bytes);
}

static bool aligned(const void *block)
{
    return (uintptr_t)block % 64 == 0;
}

static void gives_aligned_blocks(void **state)
{
    mcr *ctx = *state;
    for (size_t bytes = 0; bytes < 300; bytes += 7) {
        unsigned char *block = mcr_alloc(ctx, bytes, 1);
        assert_non_null(block);
        assert_true(aligned(block));
        fill(block, bytes);
        mcr_free(ctx, block);
    }
    mcr_free(ctx, NULL);
}

static void gives_arrays_in_one_block(void **state)
{
    mcr *ctx = *state;
    double *a, *c;
    unsigned char *b;
    int32_t *none;
    void *block = mcr_alloc_arrays(ctx, MCR_ARRAY(a, 5), MCR_CLEARED(b, 67), MCR_CLEARED(c, 9),
                                   MCR_ARRAY(none, 0));
    assert_non_null(block);
    assert_ptr_equal(block, a);
    assert_true(aligned(a) && aligned(b) && aligned(c));
    assert_true((unsigned char *)(a + 5) <= b && b + 67 <= (unsigned char *)c);
    for (int i = 0; i < 67; i++)
        assert_int_equal(b[i], 0);
    for (int i = 0; i < 9; i++)
        assert_true(c[i] == 0);
    fill(b, 67);
    for (int i = 0; i < 9; i++)
        c[i] = a[i % 5] = i;
    check(b, 67);
    mcr_free(ctx, block);
    assert_null(mcr_alloc_arrays(ctx, MCR_ARRAY(a, 5), MCR_ARRAY(c, SIZE_MAX / 4)));
    assert_true(a == NULL && c == NULL);
    assert_null(mcr_alloc_arrays(ctx, MCR_ARRAY(b, SIZE_MAX / 2), MCR_CLEARED(a, SIZE_MAX / 16),
                                 MCR_ARRAY(c, 3)));
    assert_true(a == NULL && b == NULL && c == NULL);
}

static void clears_on_request(void **state)
{
    mcr *ctx = *state;
    mcr *plain; /* the default allocator has a path of its own */
    assert_int_equal(mcr_open(&plain, NULL), MCR_OK);
    for (int i = 0; i < 4; i++) {
        mcr *c = i % 2 ? ctx : plain;
        size_t count = i < 2 ? 1000
                             : (size_t)3 << 20; /* the second is large enough for huge pages */
        double *block = mcr_alloc_zero(c, count, sizeof(double));
        assert_non_null(block);
        assert_true(aligned(block));
        for (size_t j = 0; j < count; j++)
            assert_true(block[j] == 0);
        mcr_free(c, block);
    }
    mcr_close(plain);
}

/* Always moves, to an address with another remainder by 64 each time. */
typedef struct mover {
    int calls;
} mover;

enum { SLACK = 80 };

static void *move_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    mover *m = user;
    char *old = block != NULL ? (char *)block - ((char *)block)[-1] : NULL;
    if (new_bytes == 0) {
        free(old);
        return NULL;
    }
    char *raw = malloc(new_bytes + SLACK);
    if (raw == NULL)
        return NULL;
    char offset = (char)(16 * (1 + m->calls++ % 4));
    char *moved = raw + offset;
    moved[-1] = offset;
    if (block != NULL)
        memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    free(old);
    return moved;
}

static void survives_moving_allocators(void **state)
{
    (void)state;
    mover m = {0};
    mcr_config config = {.size = sizeof config, .realloc = move_realloc, .user = &m};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    size_t bytes = 100;
    unsigned char *block = mcr_alloc(ctx, bytes, 1);
    fill(block, bytes);
    for (int i = 0; i < 50; i++) {
        size_t next = i % 3 == 2 ? bytes / 2 : bytes + 177; /* shrinks now and then */
        block = mcr_resize(ctx, block, next, 1);
        assert_non_null(block);
        assert_true(aligned(block));
        check(block, bytes < next ? bytes : next);
        fill(block, next);
        bytes = next;
    }
    mcr_free(ctx, block);
    mcr_close(ctx);
}

static void resizes(void **state)
{
    mcr *ctx = *state;
    unsigned char *block = NULL;
    size_t bytes = 0;
    for (int i = 0; i < 200; i++) {
        size_t next = i % 5 == 4 ? bytes / 3 : bytes + (size_t)i * 97;
        block = mcr_resize(ctx, block, next, 1);
        assert_non_null(block);
        assert_true(aligned(block));
        check(block, bytes < next ? bytes : next);
        fill(block, next);
        bytes = next;
    }
    assert_int_equal(test_live_blocks(ctx), 3); /* the context, its threads, the block */
    mcr_free(ctx, block);
}

static void uses_large_blocks(void **state)
{
    (void)state;
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, NULL), MCR_OK);
    size_t bytes = (size_t)9 << 20;
    unsigned char *block = mcr_alloc(ctx, bytes, 1);
    assert_non_null(block);
    fill(block, bytes);
    block = mcr_resize(ctx, block, 2 * bytes, 1);
    assert_non_null(block);
    check(block, bytes);
    block = mcr_resize(ctx, block, 1000, 1);
    assert_non_null(block);
    check(block, 1000);
    mcr_free(ctx, block);
    mcr_close(ctx);
}

static void refuses_overflow(void **state)
{
    mcr *ctx = *state;
    assert_null(mcr_alloc(ctx, SIZE_MAX / 2, 3));
    test_fails(ctx, MCR_NO_MEMORY, MCR_NO_MEMORY, "out of memory");
    assert_null(mcr_alloc(ctx, SIZE_MAX, 1));
    assert_null(mcr_alloc_zero(ctx, SIZE_MAX / 4, 4));
    assert_null(mcr_alloc(ctx, (size_t)PTRDIFF_MAX, 1));
    assert_null(mcr_copy_text(ctx, "x", SIZE_MAX));
    unsigned char *block = mcr_alloc(ctx, 10, 1);
    fill(block, 10);
    assert_null(mcr_resize(ctx, block, SIZE_MAX / 8, 16));
    check(block, 10);
    mcr_free(ctx, block);
    size_t out;
    assert_true(mcr_size_mul(SIZE_MAX, 1, &out) && out == SIZE_MAX);
    assert_false(mcr_size_mul(SIZE_MAX / 2 + 1, 2, &out));
    assert_true(mcr_size_add(SIZE_MAX - 1, 1, &out) && out == SIZE_MAX);
    assert_false(mcr_size_add(SIZE_MAX, 1, &out));
}

static void reserves_by_doubling(void **state)
{
    mcr *ctx = *state;
    int32_t *items = NULL;
    int64_t capacity = 0, count = 0, moves = 0;
    test_ok(ctx, mcr_reserve(ctx, &items, &capacity, 0, sizeof *items));
    assert_null(items);
    for (; count < 100000; count++) {
        int64_t before = capacity;
        test_ok(ctx, mcr_reserve(ctx, &items, &capacity, count + 1, sizeof *items));
        assert_true(capacity > count);
        moves += capacity != before;
        items[count] = (int32_t)count;
    }
    assert_true(moves < 20);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(items[i], i);
    int32_t *same = items;
    int64_t old = capacity;
    test_fails(ctx, mcr_reserve(ctx, &items, &capacity, INT64_MAX, sizeof *items), MCR_NO_MEMORY,
               "out of memory");
    assert_true(items == same && capacity == old);
    mcr_free(ctx, items);
}

static void copies_text(void **state)
{
    mcr *ctx = *state;
    char *copy = mcr_copy_text(ctx, "abcdef", 3);
    assert_string_equal(copy, "abc");
    mcr_free(ctx, copy);
    copy = mcr_copy_text(ctx, NULL, 0);
    assert_string_equal(copy, "");
    mcr_free(ctx, copy);
}

static void keeps_the_budget(void **state)
{
    (void)state;
    mcr_config config = {.size = sizeof config, .memory_bytes = 3000000};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    test_ok(ctx, mcr_budget_take(ctx, 1000000, "the cache"));
    assert_int_equal(mcr_budget_left(ctx), 2000000);
    test_fails(ctx, mcr_budget_take(ctx, 2500000, "the cache"), MCR_OVER_BUDGET,
               "the cache needs 2.5 MB, but only 2.0 MB of the memory budget of 3.0 MB is left");
    test_fails(ctx, mcr_budget_take(ctx, SIZE_MAX, "all"), MCR_OVER_BUDGET, "all needs 18.4 EB");
    assert_int_equal(mcr_budget_left(ctx), 2000000);
    test_ok(ctx, mcr_budget_take(ctx, 2000000, "the rest"));
    assert_int_equal(mcr_budget_left(ctx), 0);
    mcr_budget_give(ctx, 3000000);
    assert_int_equal(mcr_budget_left(ctx), 3000000);
    mcr_close(ctx);
}

static mcr_status allocate_some(mcr *ctx, void *arg)
{
    int64_t *kept = arg;
    mcr_status status = MCR_NO_MEMORY;
    char *text = NULL, *block = NULL;
    double *items = NULL;
    int64_t capacity = 0;
    text = mcr_copy_text(ctx, "text", 4);
    if (text == NULL)
        goto done;
    block = mcr_alloc_zero(ctx, 10, 10);
    if (block == NULL)
        goto done;
    for (int i = 1; i < 4; i++) {
        memset(block, i, 100 * (size_t)i);
        char *larger = mcr_resize(ctx, block, 100 * (size_t)(i + 1), 1);
        if (larger == NULL) {
            *kept += block[100 * i - 1] == i; /* unchanged */
            goto done;
        }
        block = larger;
    }
    status = mcr_reserve(ctx, &items, &capacity, 100, sizeof *items);
done:
    mcr_free(ctx, items);
    mcr_free(ctx, block);
    mcr_free(ctx, text);
    return status;
}

static void fails_cleanly(void **state)
{
    (void)state;
    int64_t kept = 0;
    assert_int_equal(test_sweep_allocations("memory", allocate_some, &kept), 6);
    assert_int_equal(kept, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gives_aligned_blocks, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(gives_arrays_in_one_block, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(clears_on_request, test_setup, test_teardown),
        cmocka_unit_test(survives_moving_allocators),
        cmocka_unit_test_setup_teardown(resizes, test_setup, test_teardown),
        cmocka_unit_test(uses_large_blocks),
        cmocka_unit_test_setup_teardown(refuses_overflow, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reserves_by_doubling, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(copies_text, test_setup, test_teardown),
        cmocka_unit_test(keeps_the_budget),
        cmocka_unit_test(fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
