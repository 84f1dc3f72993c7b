/* npy_file.c: the header of .npy files, and their numbers in any type and order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/npy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "data/disk.h"

static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { STEP = 1 << 15 }; /* elements read at a time */

bool mcr_npy_is(const char *bytes, size_t count)
{
    return count >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* ---- the header: the text of a Python dictionary ----------------------------------------------*/

typedef struct header {
    mcr_input *in;
    const char *p, *end;
    bool has_type, has_order, has_shape;
} header;

static mcr_status fail_header(const header *h, const char *what)
{
    return mcr_input_fail(h->in, "damaged NumPy header: %s", what);
}

static void skip_blanks(header *h)
{
    while (h->p < h->end && (*h->p == ' ' || *h->p == '\n' || *h->p == '\t'))
        h->p++;
}

/* Skips `c` if it comes next. */
static bool take(header *h, char c)
{
    skip_blanks(h);
    if (h->p == h->end || *h->p != c)
        return false;
    h->p++;
    return true;
}

static bool take_text(header *h, const char **text, size_t *length)
{
    skip_blanks(h);
    if (h->p == h->end || (*h->p != '\'' && *h->p != '"'))
        return false;
    const char *close = memchr(h->p + 1, *h->p, (size_t)(h->end - h->p - 1));
    if (close == NULL)
        return false;
    *text = h->p + 1;
    *length = (size_t)(close - *text);
    h->p = close + 1;
    return true;
}

/* "<f8": byte order, kind, bytes. */
static mcr_status read_type(header *h, mcr_npy *npy)
{
    const char *text = NULL;
    size_t length = 0;
    skip_blanks(h);
    if (h->p < h->end && *h->p == '[')
        return mcr_input_fail(h->in, "the array has named fields; save a plain matrix of numbers");
    if (!take_text(h, &text, &length) || length < 2)
        return fail_header(h, "no element type");
    const char *end = text + length;
    char order = *text;
    if (order == '<' || order == '>' || order == '=' || order == '|')
        text++;
    npy->kind = *text++;
    if (npy->kind == 'O')
        return mcr_input_fail(h->in, "the array holds Python objects; save it with a numeric type");
    if (memchr("fiubSU", npy->kind, 6) == NULL)
        return mcr_input_fail(h->in, "elements of type \"%.*s\" are not numbers",
                              (int)(end - text) + 1, text - 1);
    int64_t bytes;
    if (mcr_parse_int(text, end, &bytes) != end || bytes < 1 || bytes > 1 << 20)
        return fail_header(h, "no element size");
    npy->bytes = bytes;
    bool little = order != '>', host_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    npy->swapped = order != '=' && order != '|' && little != host_little;
    if (npy->kind == 'U') {
        if (bytes > (1 << 20) / 4)
            return fail_header(h, "no element size");
        npy->bytes = 4 * bytes;
    }
    bool known = npy->kind == 'S' || npy->kind == 'U' || (npy->kind == 'b' && bytes == 1) ||
                 ((npy->kind == 'i' || npy->kind == 'u') &&
                  (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) ||
                 (npy->kind == 'f' && (bytes == 2 || bytes == 4 || bytes == 8));
    if (!known)
        return mcr_input_fail(
            h->in, "numbers of %" PRId64 " bytes are not read; save it as float64", bytes);
    return MCR_OK;
}

static mcr_status read_order(header *h, mcr_npy *npy)
{
    skip_blanks(h);
    size_t left = (size_t)(h->end - h->p);
    npy->fortran = left >= 4 && memcmp(h->p, "True", 4) == 0;
    if (!npy->fortran && (left < 5 || memcmp(h->p, "False", 5) != 0))
        return fail_header(h, "no order");
    h->p += npy->fortran ? 4 : 5;
    return MCR_OK;
}

static mcr_status read_shape(header *h, mcr_npy *npy)
{
    int64_t shape[2] = {1, 1}, dimensions = 0;
    if (!take(h, '('))
        return fail_header(h, "no shape");
    while (!take(h, ')')) {
        int64_t size;
        skip_blanks(h);
        const char *next = mcr_parse_int(h->p, h->end, &size);
        if (next == NULL || size < 0)
            return fail_header(h, "no shape");
        h->p = next;
        if (dimensions < 2)
            shape[dimensions] = size;
        dimensions++;
        if (!take(h, ',')) {
            if (!take(h, ')'))
                return fail_header(h, "no shape");
            break;
        }
    }
    if (dimensions == 0 || dimensions > 2)
        return mcr_input_fail(
            h->in, "the array has %" PRId64 " dimensions; save it with one or two", dimensions);
    size_t cells;
    if (shape[0] == 0 || shape[1] == 0)
        return mcr_input_fail(h->in, "the array is empty");
    if (!mcr_size_mul((size_t)shape[0], (size_t)shape[1], &cells) || cells > INT64_MAX / 8)
        return fail_header(h, "the shape is too large");
    npy->rows = shape[0];
    npy->cols = shape[1];
    return MCR_OK;
}

static mcr_status read_entries(header *h, mcr_npy *npy)
{
    if (!take(h, '{'))
        return fail_header(h, "no dictionary");
    while (!take(h, '}')) {
        const char *key;
        size_t length;
        mcr_status status;
        if (!take_text(h, &key, &length) || !take(h, ':'))
            return fail_header(h, "no dictionary");
        if (length == 5 && memcmp(key, "descr", 5) == 0) {
            status = read_type(h, npy);
            h->has_type = true;
        } else if (length == 13 && memcmp(key, "fortran_order", 13) == 0) {
            status = read_order(h, npy);
            h->has_order = true;
        } else if (length == 5 && memcmp(key, "shape", 5) == 0) {
            status = read_shape(h, npy);
            h->has_shape = true;
        } else {
            status = fail_header(h, "an unknown entry");
        }
        if (status != MCR_OK)
            return status;
        if (!take(h, ',')) {
            if (!take(h, '}'))
                return fail_header(h, "no dictionary");
            break;
        }
    }
    if (!h->has_type || !h->has_order || !h->has_shape)
        return fail_header(h, "type, order or shape is missing");
    return MCR_OK;
}

mcr_status mcr_npy_open(mcr_npy *npy, mcr *ctx, mcr_input *in)
{
    enum { MOST = 1 << 16 };
    unsigned char lead[12];
    *npy = (mcr_npy){0};
    header h = {.in = in};
    mcr_status status = mcr_input_read(in, lead, 8);
    if (status != MCR_OK)
        return status;
    if (!mcr_npy_is((const char *)lead, 8))
        return mcr_input_fail(in, "this is not a NumPy file");
    if (lead[6] < 1 || lead[6] > 3)
        return mcr_input_fail(in, "NumPy file version %d is not known", lead[6]);
    size_t width = lead[6] == 1 ? 2 : 4, length = 0;
    status = mcr_input_read(in, lead + 8, width);
    if (status != MCR_OK)
        return status;
    for (size_t i = width; i-- > 0;)
        length = length << 8 | lead[8 + i];
    if (length > MOST)
        return fail_header(&h, "it is too long");
    char *text = mcr_alloc(ctx, length, 1);
    if (text == NULL)
        return MCR_NO_MEMORY;
    status = mcr_input_read(in, text, length);
    if (status == MCR_OK) {
        h.p = text;
        h.end = text + length;
        status = read_entries(&h, npy);
    }
    mcr_free(ctx, text);
    return status;
}

/* ---- elements ---------------------------------------------------------------------------------*/

static void swap_bytes(unsigned char *raw, int64_t count, int64_t bytes)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t a = i * bytes, b = a + bytes - 1; a < b; a++, b--) {
            unsigned char keep = raw[a];
            raw[a] = raw[b];
            raw[b] = keep;
        }
}

/* IEEE binary16. */
static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = exponent == 31  ? (fraction == 0 ? (double)INFINITY : (double)NAN)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

#define CONVERT(type, expression)                                                                  \
    do {                                                                                           \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type v;                                                                                \
            memcpy(&v, raw + i * (int64_t)sizeof v, sizeof v);                                     \
            to[i] = (expression);                                                                  \
        }                                                                                          \
    } while (0)

static void convert(double *to, const unsigned char *raw, int64_t count, const mcr_npy *npy)
{
    if (npy->kind == 'b')
        CONVERT(uint8_t, v != 0);
    else if (npy->kind == 'f' && npy->bytes == 8)
        CONVERT(double, v);
    else if (npy->kind == 'f' && npy->bytes == 4)
        CONVERT(float, (double)v);
    else if (npy->kind == 'f')
        CONVERT(uint16_t, half(v));
    else if (npy->kind == 'i' && npy->bytes == 8)
        CONVERT(int64_t, (double)v);
    else if (npy->kind == 'i' && npy->bytes == 4)
        CONVERT(int32_t, v);
    else if (npy->kind == 'i' && npy->bytes == 2)
        CONVERT(int16_t, v);
    else if (npy->kind == 'i')
        CONVERT(int8_t, v);
    else if (npy->bytes == 8)
        CONVERT(uint64_t, (double)v);
    else if (npy->bytes == 4)
        CONVERT(uint32_t, v);
    else if (npy->bytes == 2)
        CONVERT(uint16_t, v);
    else
        CONVERT(uint8_t, v);
}

static mcr_status fail_value(const mcr_npy *npy, mcr_input *in, int64_t at)
{
    int64_t row = npy->fortran ? at % npy->rows : at / npy->cols;
    int64_t col = npy->fortran ? at / npy->rows : at % npy->cols;
    return mcr_input_fail(in, "row %" PRId64 ", column %" PRId64 ": the value is not finite",
                          row + 1, col + 1);
}

static mcr_status transpose(double **cells, const mcr_npy *npy, mcr *ctx)
{
    enum { TILE = 32 };
    int64_t rows = npy->rows, cols = npy->cols;
    double *to = mcr_alloc(ctx, (uint64_t)(rows * cols), sizeof *to), *from = *cells;
    if (to == NULL)
        return MCR_NO_MEMORY;
    for (int64_t i0 = 0; i0 < rows; i0 += TILE)
        for (int64_t j0 = 0; j0 < cols; j0 += TILE)
            for (int64_t i = i0; i < rows && i < i0 + TILE; i++)
                for (int64_t j = j0; j < cols && j < j0 + TILE; j++)
                    to[i * cols + j] = from[j * rows + i];
    mcr_free(ctx, from);
    *cells = to;
    return MCR_OK;
}

/* Elements done .. done + count - 1, which must be finite; raw: STEP of them. */
static mcr_status read_some(double *to, const mcr_npy *npy, mcr_input *in, unsigned char *raw,
                            int64_t done, int64_t count)
{
    mcr_status status = mcr_input_read(in, raw, (size_t)(count * npy->bytes));
    if (status != MCR_OK)
        return status;
    if (npy->swapped)
        swap_bytes(raw, count, npy->bytes);
    convert(to, raw, count, npy);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(to[i]))
            return fail_value(npy, in, done + i);
    return MCR_OK;
}

static mcr_status at_end(mcr_input *in)
{
    const char *bytes;
    size_t more;
    mcr_status status = mcr_input_peek(in, 1, &bytes, &more);
    if (status == MCR_OK && more > 0)
        status = mcr_input_fail(in, "the file is longer than its header says");
    return status;
}

mcr_status mcr_npy_reals(double **out, const mcr_npy *npy, mcr *ctx, mcr_input *in)
{
    *out = NULL;
    if (npy->kind == 'S' || npy->kind == 'U')
        return mcr_input_fail(in, "the array holds text, not numbers");
    int64_t total = npy->rows * npy->cols, capacity = 0;
    double *cells = NULL;
    unsigned char *raw = mcr_alloc(ctx, STEP, (size_t)npy->bytes);
    mcr_status status = raw != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t done = 0; done < total && status == MCR_OK; done += STEP) {
        int64_t step = total - done < STEP ? total - done : STEP;
        status = mcr_reserve(ctx, &cells, &capacity, done + step, sizeof *cells);
        if (status == MCR_OK)
            status = read_some(cells + done, npy, in, raw, done, step);
    }
    if (status == MCR_OK)
        status = at_end(in);
    if (status == MCR_OK)
        status = npy->fortran && npy->cols > 1
                     ? transpose(&cells, npy, ctx)
                     : mcr_resize_at(ctx, &cells, (size_t)total, sizeof *cells);
    mcr_free(ctx, raw);
    if (status != MCR_OK)
        mcr_free(ctx, cells);
    else
        *out = cells;
    return status;
}

mcr_status mcr_npy_disk(mcr_disk **disk, const mcr_npy *npy, mcr *ctx, mcr_input *in)
{
    *disk = NULL;
    bool plain = npy->kind == 'f' && (npy->bytes == 4 || npy->bytes == 8) && !npy->swapped &&
                 (!npy->fortran || npy->cols == 1);
    mcr_status status = plain ? mcr_disk_open(disk, ctx, in, npy->cols, npy->bytes == 4) : MCR_OK;
    if (status != MCR_OK || *disk == NULL)
        return status;
    int64_t total = npy->rows * npy->cols;
    unsigned char *raw = mcr_alloc(ctx, STEP, (size_t)npy->bytes);
    double *cells = mcr_alloc(ctx, STEP, sizeof *cells);
    status = raw != NULL && cells != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t done = 0; done < total && status == MCR_OK; done += STEP) {
        int64_t step = total - done < STEP ? total - done : STEP;
        status = read_some(cells, npy, in, raw, done, step);
    }
    if (status == MCR_OK)
        status = at_end(in);
    mcr_free_all(ctx, raw, cells);
    if (status != MCR_OK) {
        mcr_disk_close(*disk);
        *disk = NULL;
    }
    return status;
}

/* ---- targets ----------------------------------------------------------------------------------*/

/* One element of text as UTF-8 without its NUL padding; -1: invalid character. */
static int64_t element_text(const mcr_npy *npy, const unsigned char *raw, char *to)
{
    int64_t length = 0;
    if (npy->kind == 'S') {
        memcpy(to, raw, (size_t)npy->bytes);
        length = npy->bytes;
    }
    for (int64_t i = 0; npy->kind == 'U' && i < npy->bytes; i += 4) {
        uint32_t c;
        memcpy(&c, raw + i, 4);
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            return -1;
        if (c < 0x80) {
            to[length++] = (char)c;
        } else if (c < 0x800) {
            to[length++] = (char)(0xc0 | c >> 6);
        } else if (c < 0x10000) {
            to[length++] = (char)(0xe0 | c >> 12);
            to[length++] = (char)(0x80 | (c >> 6 & 63));
        } else {
            to[length++] = (char)(0xf0 | c >> 18);
            to[length++] = (char)(0x80 | (c >> 12 & 63));
            to[length++] = (char)(0x80 | (c >> 6 & 63));
        }
        if (c >= 0x80)
            to[length++] = (char)(0x80 | (c & 63));
    }
    while (length > 0 && to[length - 1] == '\0')
        length--;
    return length;
}

static mcr_status read_words(mcr_builder *b, const mcr_npy *npy, mcr *ctx, mcr_input *in)
{
    mcr_labels *labels = NULL;
    unsigned char *raw = mcr_alloc(ctx, (size_t)npy->bytes, 2);
    mcr_status status = raw != NULL ? mcr_labels_open(&labels, ctx) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < npy->rows && status == MCR_OK; i++) {
        status = mcr_input_read(in, raw, (size_t)npy->bytes);
        if (status != MCR_OK)
            break;
        if (npy->swapped)
            swap_bytes(raw, npy->bytes / 4, 4);
        char *text = (char *)raw + npy->bytes;
        int64_t length = element_text(npy, raw, text);
        if (length <= 0 || memchr(text, '\0', (size_t)length) != NULL)
            status = mcr_input_fail(in, "row %" PRId64 ": the label is empty or not text", i + 1);
        else
            status = mcr_labels_add(labels, text, (size_t)length);
    }
    if (status == MCR_OK)
        status = at_end(in);
    mcr_free(ctx, raw);
    return mcr_builder_labels_filled(b, labels, status);
}

mcr_status mcr_npy_targets(mcr_builder *b, mcr *ctx, mcr_input *in, int64_t count)
{
    mcr_npy npy;
    mcr_status status = mcr_npy_open(&npy, ctx, in);
    if (status != MCR_OK)
        return status;
    bool words = npy.kind == 'S' || npy.kind == 'U';
    if (npy.rows != count || (words && npy.cols != 1))
        return mcr_input_fail(in,
                              "targets for %" PRId64 " objects must be a vector of as many%s, not "
                              "%" PRId64 " x %" PRId64,
                              count, words ? "" : ", or a matrix of as many rows", npy.rows,
                              npy.cols);
    if (words)
        return read_words(b, &npy, ctx, in);
    double *values;
    status = mcr_npy_reals(&values, &npy, ctx, in);
    if (status == MCR_OK)
        status = mcr_builder_target_table(b, values, npy.cols, NULL);
    mcr_free(ctx, values);
    return status;
}

mcr_status mcr_npy_target(mcr_builder *b, mcr *ctx, const mcr_read_options *options, int64_t count)
{
    if (options->target == NULL || strcmp(options->target, "none") == 0)
        return MCR_OK;
    mcr_input *in;
    mcr_status status = mcr_input_open(&in, ctx, options->target);
    if (status == MCR_OK)
        status = mcr_npy_targets(b, ctx, in, count);
    mcr_input_close(in);
    return status;
}
