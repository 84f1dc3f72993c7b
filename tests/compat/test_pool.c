/* Memory that goes from one fold to the next: contents, reuse, limits, threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "problems.h"

#include <pthread.h>
#include <string.h>

#include "pool.h"

enum { BLOCKS = 24, STEPS = 4000, THREADS = 4 };

typedef struct mark {
    unsigned char *block;
    size_t bytes;
    unsigned char sign;
} mark;

static void check(const mark *m)
{
    size_t step = m->bytes / 64 + 1;
    for (size_t i = 0; i < m->bytes; i += step)
        assert_int_equal(m->block[i], m->sign);
    if (m->bytes)
        assert_int_equal(m->block[m->bytes - 1], m->sign);
}

/* Blocks of all sizes grow, shrink and go; each keeps what was written into it. */
static void *use(void *arg)
{
    compat_pool *pool = arg;
    mark all[BLOCKS] = {{0}};
    uint64_t state = 5;
    for (int step = 0; step < STEPS; step++) {
        mark *m = &all[(int)(draw(&state) * BLOCKS)];
        size_t bytes = draw(&state) < 0.3 ? 0 : (size_t)1 << (int)(4 + draw(&state) * 16);
        bytes += bytes ? (size_t)(draw(&state) * 100) : 0;
        check(m);
        size_t kept = bytes < m->bytes ? bytes : m->bytes;
        m->block = compat_pool_realloc(pool, m->block, m->bytes, bytes);
        assert_true((m->block == NULL) == (bytes == 0));
        m->bytes = kept;
        check(m);
        m->bytes = bytes;
        m->sign = (unsigned char)step;
        if (bytes)
            memset(m->block, m->sign, bytes);
    }
    for (int i = 0; i < BLOCKS; i++)
        compat_pool_realloc(pool, all[i].block, all[i].bytes, 0);
    return NULL;
}

static void blocks_keep_what_they_hold(void **state)
{
    (void)state;
    compat_pool *pool = compat_pool_open();
    assert_non_null(pool);
    use(pool);
    compat_pool_close(pool);
}

static void threads_share_a_pool(void **state)
{
    (void)state;
    compat_pool *pool = compat_pool_open();
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, use, pool), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    compat_pool_close(pool);
}

static void the_next_fold_gets_the_same_memory(void **state)
{
    (void)state;
    const size_t size = 24000000;
    compat_pool *pool = compat_pool_open();
    void *first = compat_pool_realloc(pool, NULL, 0, size);
    compat_pool_realloc(pool, first, size, 0);
    assert_true(compat_pool_bytes(pool) >= size && compat_pool_bytes(pool) <= size / 15 * 16);
    void *second = compat_pool_realloc(pool, NULL, 0, size + 9000);
    assert_ptr_equal(first, second);
    assert_int_equal(compat_pool_bytes(pool), 0);
    compat_pool_realloc(pool, second, size + 9000, 0);
    compat_pool_close(pool);
}

/* 40 blocks of 16 MB: no more than 256 MB of them are kept. Their pages are never touched. */
static void little_is_kept(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    const size_t size = 1 << 24, most = 1 << 28;
    compat_pool *pool = compat_pool_open();
    void *block[COUNT];
    for (int i = 0; i < COUNT; i++)
        assert_non_null(block[i] = compat_pool_realloc(pool, NULL, 0, size));
    for (int i = 0; i < COUNT; i++)
        compat_pool_realloc(pool, block[i], size, 0);
    assert_int_equal(compat_pool_bytes(pool), most);
    compat_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_what_they_hold),
        cmocka_unit_test(threads_share_a_pool),
        cmocka_unit_test(the_next_fold_gets_the_same_memory),
        cmocka_unit_test(little_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
