/* test_base_stream.c: input by lines and bytes, gzip, growing texts, atomic output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/context.h"
#include "base/random.h"
#include "base/stream.h"

/* ---- help ---- */

typedef struct blob {
    char *bytes;
    size_t count;
} blob;

/* One gzip member over the text. */
static blob pack(const void *text, size_t count)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    blob b = {NULL, deflateBound(&z, count)};
    b.bytes = malloc(b.count);
    assert_non_null(b.bytes);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)count;
    z.next_out = (Bytef *)b.bytes;
    z.avail_out = (uInt)b.count;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.count -= z.avail_out;
    deflateEnd(&z);
    return b;
}

static void append(blob *b, const void *bytes, size_t count)
{
    b->bytes = realloc(b->bytes, b->count + count + 1);
    assert_non_null(b->bytes);
    memcpy(b->bytes + b->count, bytes, count);
    b->count += count;
}

/* Lines of many lengths, some longer than the window, with NULs and lone \r. */
static blob make_lines(int lines)
{
    mcr_random r = mcr_random_stream(1, "lines", 0);
    blob b = {NULL, 0};
    for (int i = 0; i < lines; i++) {
        int64_t length = i % 50 == 49 ? mcr_random_below(&r, 700000) : mcr_random_below(&r, 80);
        char *line = malloc((size_t)length + 2);
        assert_non_null(line);
        for (int64_t j = 0; j < length; j++)
            line[j] = "ab\0\r c1"[mcr_random_below(&r, 7)];
        bool dos = i % 3 == 0;
        if (dos)
            line[length++] = '\r';
        line[length++] = '\n';
        append(&b, line, (size_t)length);
        free(line);
    }
    append(&b, "last", 4);
    return b;
}

/* Reads all lines and compares them with an obvious split of the text. */
static void check_lines(mcr *ctx, mcr_input *in, const char *text, size_t count)
{
    int64_t number = 0;
    size_t at = 0;
    for (;;) {
        const char *line;
        size_t length;
        test_ok(ctx, mcr_input_line(in, &line, &length));
        if (line == NULL)
            break;
        number++;
        assert_true(at < count);
        size_t end = at;
        while (end < count && text[end] != '\n')
            end++;
        size_t shown = end < count && end > at && text[end - 1] == '\r' ? end - 1 : end;
        assert_int_equal(length, shown - at);
        assert_memory_equal(line, text + at, length);
        assert_int_equal(mcr_input_line_number(in), number);
        char behind = line[length]; /* readable, and the end of any number or word */
        assert_true(behind == '\n' || behind == '\r' || behind == '\0');
        at = end + 1;
    }
    assert_true(at >= count);
    const char *line = "";
    size_t length;
    test_ok(ctx, mcr_input_line(in, &line, &length)); /* the end stays the end */
    assert_null(line);
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    fclose(f);
}

static char *read_file(const char *path, size_t *count)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    char *text = calloc(1, 1 << 21);
    assert_non_null(text);
    *count = fread(text, 1, (1 << 21) - 1, f);
    fclose(f);
    return text;
}

/* ---- input ---- */

static void splits_lines(void **state)
{
    mcr *ctx = *state;
    static const char *const texts[] = {"",     "\n",     "a",      "a\n",     "a\r\n",
                                        "\r\n", "\n\n\n", "a\n\nb", "a\rb\n",  "a\r\r\nb\r\n",
                                        "\r",   "a\r",    "x\ny\n", "one two", "\n\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mcr_input *in;
        size_t count = strlen(texts[i]);
        char *exact = malloc(count + 1); /* a sanitizer sees reads behind */
        assert_non_null(exact);
        memcpy(exact, texts[i], count);
        test_ok(ctx, mcr_input_memory(&in, ctx, "text", exact, count));
        assert_string_equal(mcr_input_name(in), "text");
        check_lines(ctx, in, texts[i], count);
        mcr_input_close(in);
        free(exact);
    }
    mcr_input_close(NULL);
}

static void splits_long_inputs(void **state)
{
    mcr *ctx = *state;
    char directory[256], path[300];
    test_make_directory(directory);
    blob text = make_lines(400), packed = pack(text.bytes, text.count);
    mcr_input *in;
    test_ok(ctx, mcr_input_memory(&in, ctx, "memory", text.bytes, text.count));
    check_lines(ctx, in, text.bytes, text.count);
    mcr_input_close(in);
    test_ok(ctx, mcr_input_memory(&in, ctx, "memory", packed.bytes, packed.count));
    check_lines(ctx, in, text.bytes, text.count);
    mcr_input_close(in);

    snprintf(path, sizeof path, "%s/plain.gz", directory); /* the name does not matter */
    write_file(path, text.bytes, text.count);
    test_ok(ctx, mcr_input_open(&in, ctx, path));
    assert_string_equal(mcr_input_name(in), path);
    check_lines(ctx, in, text.bytes, text.count);
    mcr_input_close(in);
    snprintf(path, sizeof path, "%s/packed.txt", directory);
    write_file(path, packed.bytes, packed.count);
    test_ok(ctx, mcr_input_open(&in, ctx, path));
    check_lines(ctx, in, text.bytes, text.count);
    mcr_input_close(in);
    free(text.bytes);
    free(packed.bytes);
    test_remove_directory(directory);
}

static void reads_standard_input(void **state)
{
    mcr *ctx = *state;
    int ends[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "one\ntwo", 7), 7);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    mcr_input *in;
    test_ok(ctx, mcr_input_open(&in, ctx, "-"));
    check_lines(ctx, in, "one\ntwo", 7);
    test_fails(ctx, mcr_input_fail(in, "odd"), MCR_BAD_DATA, "standard input:2: odd");
    mcr_input_close(in);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* not ours to close */
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
}

static void peeks_and_reads(void **state)
{
    mcr *ctx = *state;
    blob text = make_lines(200);
    assert_true(text.count > 1000000);
    blob packed = pack(text.bytes, text.count);
    for (int i = 0; i < 2; i++) {
        mcr_input *in;
        const blob *b = i ? &packed : &text;
        test_ok(ctx, mcr_input_memory(&in, ctx, "bytes", b->bytes, b->count));
        size_t at = 0, got;
        const char *bytes;
        char *to = malloc(text.count + 1);
        assert_non_null(to);
        for (size_t n = 1; at + n + 65536 < text.count; n = n * 3 + 1) {
            test_ok(ctx, mcr_input_peek(in, 65536, &bytes, &got));
            assert_int_equal(got, 65536);
            assert_memory_equal(bytes, text.bytes + at, got);
            test_ok(ctx, mcr_input_read(in, to, n));
            assert_memory_equal(to, text.bytes + at, n);
            at += n;
        }
        const char *line; /* lines and bytes may be mixed */
        size_t length;
        test_ok(ctx, mcr_input_line(in, &line, &length));
        assert_memory_equal(line, text.bytes + at, length);
        at = (size_t)((char *)memchr(text.bytes + at, '\n', text.count - at) - text.bytes) + 1;
        test_ok(ctx, mcr_input_some(in, to, text.count, &got));
        assert_int_equal(got, text.count - at);
        assert_memory_equal(to, text.bytes + at, got);
        test_ok(ctx, mcr_input_some(in, to, 10, &got));
        assert_int_equal(got, 0);
        test_ok(ctx, mcr_input_read(in, to, 0));
        test_ok(ctx, mcr_input_peek(in, 10, &bytes, &got));
        assert_int_equal(got, 0);
        test_fails(ctx, mcr_input_read(in, to, 1), MCR_BAD_DATA, "bytes: the file ends early");
        free(to);
        mcr_input_close(in);
    }
    free(text.bytes);
    free(packed.bytes);
}

static void reads_joined_and_padded_gzip(void **state)
{
    mcr *ctx = *state;
    blob b = pack("one\ntw", 6), second = pack("o\nthree", 7), none = pack("", 0);
    append(&b, none.bytes, none.count);
    append(&b, second.bytes, second.count);
    append(&b, "\0\0\0\0", 4);
    mcr_input *in;
    test_ok(ctx, mcr_input_memory(&in, ctx, "x.gz", b.bytes, b.count));
    check_lines(ctx, in, "one\ntwo\nthree", 13);
    mcr_input_close(in);
    append(&b, "rest", 4);
    test_ok(ctx, mcr_input_memory(&in, ctx, "x.gz", b.bytes, b.count));
    const char *line;
    size_t length;
    test_fails(ctx, mcr_input_line(in, &line, &length), MCR_BAD_DATA,
               "x.gz: damaged gzip: there are other bytes after its end");
    assert_null(line);
    mcr_input_close(in);
    free(b.bytes);
    free(second.bytes);
    free(none.bytes);
}

/* Every cut and every changed byte of a gzip is noticed, or changes nothing that matters (some
 * bytes of its header: time, system). */
static void refuses_damaged_gzip(void **state)
{
    mcr *ctx = *state;
    const char text[] = "1 1:0.5 2:0.25\n-1 1:0.75 3:0.125\n1 2:0.5\n";
    blob b = pack(text, sizeof text - 1);
    char *copy = malloc(b.count);
    assert_non_null(copy);
    for (size_t i = 0; i < 2 * b.count; i++) {
        size_t count = i < b.count ? i : b.count, at = i - b.count;
        memcpy(copy, b.bytes, b.count);
        if (i >= b.count)
            copy[at] = (char)(copy[at] ^ 0x11);
        mcr_input *in;
        char bytes[100];
        size_t got;
        test_ok(ctx, mcr_input_memory(&in, ctx, "x.gz", copy, count));
        mcr_status status = mcr_input_some(in, bytes, sizeof bytes, &got);
        if (i < b.count ? count >= 2 : at > 9)
            test_fails(ctx, status, MCR_BAD_DATA, "x.gz: damaged gzip: ");
        else if (status == MCR_OK && at >= 2 && i >= b.count)
            assert_memory_equal(bytes, text, sizeof text - 1);
        mcr_input_close(in);
    }
    free(copy);
    free(b.bytes);
}

static void says_why_it_cannot_open(void **state)
{
    mcr *ctx = *state;
    mcr_input *in = (mcr_input *)ctx;
    test_fails(ctx, mcr_input_open(&in, ctx, "/nowhere/at all"), MCR_IO,
               "/nowhere/at all: cannot be opened: No such file or directory");
    assert_null(in);
    assert_string_equal(mcr_message_file(ctx), "/nowhere/at all");
    test_fails(ctx, mcr_input_open(&in, ctx, "/"), MCR_IO, "/: cannot be read: Is a directory");
}

/* ---- text ---- */

static void builds_text(void **state)
{
    mcr *ctx = *state;
    mcr_text t;
    mcr_text_init(&t, ctx);
    assert_null(t.bytes);
    mcr_text_string(&t, "a=");
    mcr_text_real(&t, 0.1);
    mcr_text_add(&t, " b=", 3);
    mcr_text_int(&t, INT64_MIN);
    mcr_text_string(&t, " ");
    mcr_text_int(&t, 0);
    mcr_text_format(&t, " %s-%d", "c", 7);
    assert_int_equal(t.status, MCR_OK);
    assert_string_equal(t.bytes, "a=0.1 b=-9223372036854775808 0 c-7");
    assert_int_equal(t.length, strlen(t.bytes));
    char lengthy[5000];
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    int64_t before = t.length;
    mcr_text_format(&t, "%s!", lengthy);
    assert_int_equal(t.length, before + 5000);
    assert_int_equal(t.bytes[t.length - 1], '!');
    mcr_text_free(&t);
    assert_null(t.bytes);
    mcr_text_string(&t, "again");
    assert_string_equal(t.bytes, "again");
    mcr_text_free(&t);
}

/* ---- output ---- */

static int files_in(const char *directory)
{
    char command[400];
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", directory);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    int count = -1;
    assert_int_equal(fscanf(f, "%d", &count), 1);
    pclose(f);
    return count;
}

static void check_file(const char *path, const char *expected)
{
    size_t count;
    char *text = read_file(path, &count);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void writes_files_whole(void **state)
{
    mcr *ctx = *state;
    char directory[256], path[300];
    test_make_directory(directory);
    snprintf(path, sizeof path, "%s/out.txt", directory);
    mcr_output *o;
    test_ok(ctx, mcr_output_open(&o, ctx, path));
    test_ok(ctx, mcr_output_write(o, "first", 5));
    assert_int_equal(access(path, F_OK), -1); /* nothing to see before the end */
    test_ok(ctx, mcr_output_commit(o));
    check_file(path, "first");
    struct stat info;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666 & ~mask);

    assert_int_equal(chmod(path, 0640), 0);
    test_ok(ctx, mcr_output_open(&o, ctx, path));
    test_ok(ctx, mcr_output_write(o, "second", 6));
    test_ok(ctx, mcr_output_start_sync(o)); /* the target is as it was */
    check_file(path, "first");              /* the old one until the commit */
    mcr_output_abandon(o);
    check_file(path, "first");
    assert_int_equal(files_in(directory), 1);

    test_ok(ctx, mcr_output_open(&o, ctx, path));
    blob large = make_lines(100); /* many small and some large pieces */
    for (size_t at = 0, n = 1; at < large.count; at += n, n = n * 5 % 300007) {
        if (n > large.count - at)
            n = large.count - at;
        test_ok(ctx, mcr_output_write(o, large.bytes + at, n));
    }
    test_ok(ctx, mcr_output_start_sync(o));
    test_ok(ctx, mcr_output_write(o, NULL, 0));
    test_ok(ctx, mcr_output_commit(o));
    size_t count;
    char *text = read_file(path, &count);
    assert_int_equal(count, large.count);
    assert_memory_equal(text, large.bytes, count);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640); /* keeps the rights it had */
    assert_int_equal(files_in(directory), 1);
    free(text);
    free(large.bytes);
    mcr_output_abandon(NULL);
    test_remove_directory(directory);
}

static void follows_links_and_pipes(void **state)
{
    mcr *ctx = *state;
    char directory[256], path[300], name[300];
    test_make_directory(directory);
    snprintf(path, sizeof path, "%s/real.txt", directory);
    snprintf(name, sizeof name, "%s/link.txt", directory);
    write_file(path, "old", 3);
    assert_int_equal(symlink("real.txt", name), 0);
    mcr_output *o;
    test_ok(ctx, mcr_output_open(&o, ctx, name));
    test_ok(ctx, mcr_output_write(o, "new", 3));
    test_ok(ctx, mcr_output_commit(o));
    check_file(path, "new");
    struct stat info;
    assert_int_equal(lstat(name, &info), 0);
    assert_true(S_ISLNK(info.st_mode));

    /* A pipe stands for all that is not a regular file. Never a real device here: run by root, a
     * broken mcr_output_open would replace it. */
    snprintf(path, sizeof path, "%s/pipe", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    char text[8] = "";
    test_ok(ctx, mcr_output_open(&o, ctx, path));
    test_ok(ctx, mcr_output_write(o, "direct", 6));
    test_ok(ctx, mcr_output_commit(o));
    assert_int_equal(read(reader, text, sizeof text - 1), 6);
    assert_string_equal(text, "direct");
    close(reader);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(files_in(directory), 3);
    test_remove_directory(directory);
}

static void says_why_it_cannot_write(void **state)
{
    mcr *ctx = *state;
    char directory[256];
    mcr_output *o = (mcr_output *)ctx;
    test_fails(ctx, mcr_output_open(&o, ctx, "/nowhere/file"), MCR_IO,
               "/nowhere/file: cannot be written: No such file or directory");
    assert_null(o);
    test_make_directory(directory);
    test_fails(ctx, mcr_output_open(&o, ctx, directory), MCR_IO,
               "cannot be written: Is a directory");
    test_remove_directory(directory);
}

/* As on a full disk: the write fails, the old file stays, nothing is left beside it. */
static void keeps_the_old_file(void **state)
{
    mcr *ctx = *state;
    char directory[256], path[300];
    test_make_directory(directory);
    snprintf(path, sizeof path, "%s/out.txt", directory);
    write_file(path, "old", 3);
    char *much = calloc(1, 1 << 20);
    assert_non_null(much);
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    small = limit;
    small.rlim_cur = 1000;
    for (int large = 0; large < 2; large++) { /* fails in the commit, or in the write */
        mcr_output *o;
        test_ok(ctx, mcr_output_open(&o, ctx, path));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        mcr_status wrote = mcr_output_write(o, much, large ? 1 << 20 : 2000);
        mcr_status again = mcr_output_write(o, much, 1), done = mcr_output_commit(o);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(wrote, large ? MCR_IO : MCR_OK);
        assert_int_equal(again, wrote); /* stays failed */
        test_fails(ctx, done, MCR_IO, "out.txt: cannot be written: File too large");
        check_file(path, "old");
        assert_int_equal(files_in(directory), 1);
    }
    signal(SIGXFSZ, handler);
    free(much);
    test_remove_directory(directory);
}

static void writes_standard_output(void **state)
{
    mcr *ctx = *state;
    int ends[2], kept;
    fflush(stdout);
    kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    mcr_output *o = NULL;
    mcr_status opened = mcr_output_open(&o, ctx, "-"), wrote = MCR_IO, done = MCR_IO;
    if (opened == MCR_OK) {
        wrote = mcr_output_write(o, "hello", 5);
        done = mcr_output_commit(o);
    }
    int open_still = fcntl(STDOUT_FILENO, F_GETFD);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    char text[16] = "";
    assert_true(opened == MCR_OK && wrote == MCR_OK && done == MCR_OK && open_still >= 0);
    assert_int_equal(read(ends[0], text, sizeof text - 1), 5);
    close(ends[0]);
    assert_string_equal(text, "hello");
}

/* ---- failing allocations ---- */

static mcr_status read_all(mcr *ctx, void *arg)
{
    const blob *b = arg;
    mcr_input *in;
    mcr_status status = mcr_input_memory(&in, ctx, "x", b->bytes, b->count);
    const char *line = "";
    size_t length;
    while (status == MCR_OK && line != NULL)
        status = mcr_input_line(in, &line, &length);
    mcr_input_close(in);
    return status;
}

static mcr_status write_all(mcr *ctx, void *arg)
{
    mcr_output *o = NULL;
    mcr_text t;
    mcr_text_init(&t, ctx);
    mcr_status status = mcr_output_open(&o, ctx, arg);
    if (status == MCR_OK) {
        for (int i = 0; i < 1000; i++) {
            mcr_text_format(&t, "%d ", i);
            mcr_text_real(&t, i);
        }
        status = t.status;
    }
    if (status == MCR_OK)
        status = mcr_output_write(o, t.bytes, (size_t)t.length);
    if (status == MCR_OK)
        status = mcr_output_commit(o);
    else
        mcr_output_abandon(o);
    mcr_text_free(&t);
    return status;
}

static void fails_cleanly(void **state)
{
    (void)state;
    char directory[256], path[300];
    test_make_directory(directory);
    blob text = make_lines(100), packed = pack(text.bytes, text.count);
    assert_true(test_sweep_allocations("plain lines", read_all, &text) >= 4);
    assert_true(test_sweep_allocations("gzip lines", read_all, &packed) >= 6);
    snprintf(path, sizeof path, "%s/out.txt", directory);
    assert_true(test_sweep_allocations("output", write_all, path) >= 6);
    assert_int_equal(files_in(directory), 1); /* no temporary file is left */
    free(text.bytes);
    free(packed.bytes);
    test_remove_directory(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(splits_lines, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(splits_long_inputs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_standard_input, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(peeks_and_reads, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_joined_and_padded_gzip, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_damaged_gzip, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(says_why_it_cannot_open, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(builds_text, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(writes_files_whole, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(follows_links_and_pipes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(says_why_it_cannot_write, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(keeps_the_old_file, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(writes_standard_output, test_setup, test_teardown),
        cmocka_unit_test(fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
