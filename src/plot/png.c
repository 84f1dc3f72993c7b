/* png.c: small pictures embedded in text: PNG with a palette, base64, and text for XML.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <zlib.h>

#include "plot/canvas.h"

/* ---- numbers and text ----------------------------------------------------------------------- */

void mcr_fixed_write(mcr_text *to, double value, int decimals)
{
    static const int64_t unit[] = {1, 10, 100, 1000, 10000};
    if (!isfinite(value) || fabs(value) > 1e12)
        value = 0;
    int64_t scaled = llround(value * (double)unit[decimals]);
    int64_t size = scaled < 0 ? -scaled : scaled, whole = size / unit[decimals];
    int64_t part = size % unit[decimals];
    if (scaled < 0)
        mcr_text_add(to, "-", 1);
    if (whole || !part)
        mcr_text_int(to, whole);
    if (!part)
        return;
    while (part % 10 == 0) {
        part /= 10;
        decimals--;
    }
    char digits[8];
    for (int i = decimals; i-- > 0; part /= 10)
        digits[i] = (char)('0' + part % 10);
    mcr_text_add(to, ".", 1);
    mcr_text_add(to, digits, (size_t)decimals);
}

/* The length in bytes of a valid UTF-8 character that XML allows; 0: not allowed. */
static int character(const unsigned char *at)
{
    int count = *at < 0x80   ? 1
                : *at < 0xc2 ? 0
                : *at < 0xe0 ? 2
                : *at < 0xf0 ? 3
                : *at < 0xf5 ? 4
                             : 0;
    if (count == 1)
        return *at >= 0x20 && *at != 0x7f;
    for (int i = 1; i < count; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] >= 0xa0) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] >= 0x90) ||
        (*at == 0xc2 && at[1] < 0xa0) || (*at == 0xef && at[1] == 0xbf && at[2] >= 0xbe))
        return 0;
    /* Marks that turn or hide the text after them: U+200B-200F, U+202A-202E, U+2060-206F,
     * U+FEFF. */
    if (*at == 0xe2 && ((at[1] == 0x80 &&
                         ((at[2] >= 0x8b && at[2] <= 0x8f) || (at[2] >= 0xaa && at[2] <= 0xae))) ||
                        (at[1] == 0x81 && at[2] >= 0xa0 && at[2] <= 0xaf)))
        return 0;
    return *at == 0xef && at[1] == 0xbb && at[2] == 0xbf ? 0 : count;
}

void mcr_xml_write(mcr_text *to, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int count = character(at);
        switch (*at) {
        case '&': mcr_text_string(to, "&amp;"); break;
        case '<': mcr_text_string(to, "&lt;"); break;
        case '>': mcr_text_string(to, "&gt;"); break;
        case '"': mcr_text_string(to, "&quot;"); break;
        case '\'': mcr_text_string(to, "&#39;"); break;
        default: mcr_text_add(to, count ? (const void *)at : "?", count ? (size_t)count : 1);
        }
        at += count ? count : 1;
    }
}

void mcr_plain_write(mcr_text *to, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int count = character(at);
        mcr_text_add(to, count ? (const void *)at : "?", count ? (size_t)count : 1);
        at += count ? count : 1;
    }
}

void mcr_base64_write(mcr_text *to, const void *bytes, size_t count)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = bytes;
    char line[1024];
    size_t used = 0;
    for (size_t i = 0; i < count; i += 3) {
        uint32_t three = (uint32_t)at[i] << 16;
        three |= i + 1 < count ? (uint32_t)at[i + 1] << 8 : 0;
        three |= i + 2 < count ? at[i + 2] : 0;
        line[used++] = digit[three >> 18];
        line[used++] = digit[three >> 12 & 63];
        line[used++] = i + 1 < count ? digit[three >> 6 & 63] : '=';
        line[used++] = i + 2 < count ? digit[three & 63] : '=';
        if (used > sizeof line - 8) {
            mcr_text_add(to, line, used);
            used = 0;
        }
    }
    mcr_text_add(to, line, used);
}

/* ---- PNG ------------------------------------------------------------------------------------ */

static void big_endian(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void chunk(mcr_text *to, const char *type, const unsigned char *bytes, size_t count)
{
    unsigned char number[4];
    big_endian(number, (uint32_t)count);
    mcr_text_add(to, number, 4);
    mcr_text_add(to, type, 4);
    mcr_text_add(to, bytes, count);
    uLong sum = crc32(crc32(0, Z_NULL, 0), (const unsigned char *)type, 4);
    if (count)
        sum = crc32(sum, bytes, (uInt)count);
    big_endian(number, (uint32_t)sum);
    mcr_text_add(to, number, 4);
}

typedef struct palette {
    int count;
    uint32_t colour[256];
} palette;

static int find_colour(palette *p, uint32_t colour, int last)
{
    if (last < p->count && p->colour[last] == colour)
        return last;
    for (int i = 0; i < p->count; i++)
        if (p->colour[i] == colour)
            return i;
    if (p->count == 256)
        return 0;
    p->colour[p->count] = colour;
    return p->count++;
}

static void write_header(mcr_text *to, const mcr_image *image, const palette *p)
{
    unsigned char header[13] = {0}, rgb[3 * 256], alpha[256];
    mcr_text_add(to, "\x89PNG\r\n\x1a\n", 8);
    big_endian(header, (uint32_t)image->cols);
    big_endian(header + 4, (uint32_t)image->rows);
    header[8] = 8; /* bits */
    header[9] = 3; /* a palette */
    chunk(to, "IHDR", header, sizeof header);
    for (int i = 0; i < p->count; i++) {
        for (int c = 0; c < 3; c++)
            rgb[3 * i + c] = (unsigned char)(p->colour[i] >> (16 - 8 * c));
        alpha[i] = (unsigned char)(p->colour[i] >> 24);
    }
    chunk(to, "PLTE", rgb, 3 * (size_t)p->count);
    chunk(to, "tRNS", alpha, (size_t)p->count);
}

mcr_status mcr_png_write(mcr_text *to, mcr *ctx, const mcr_image *image)
{
    size_t row = (size_t)image->cols + 1, all = row * (size_t)image->rows;
    uLong size = compressBound((uLong)all);
    unsigned char *raw = mcr_alloc(ctx, all, 1), *packed = mcr_alloc(ctx, size, 1);
    palette p = {0};
    mcr_status s = raw && packed ? MCR_OK : MCR_NO_MEMORY;
    int last = 0;
    for (int64_t r = 0; !s && r < image->rows; r++) {
        raw[(size_t)r * row] = 0; /* no filter */
        for (int64_t q = 0; q < image->cols; q++) {
            last = find_colour(&p, image->argb[r * image->cols + q], last);
            raw[(size_t)r * row + 1 + (size_t)q] = (unsigned char)last;
        }
    }
    if (!s && compress2(packed, &size, raw, (uLong)all, 9) != Z_OK)
        s = mcr_fail(ctx, MCR_NO_MEMORY, "no memory to compress a picture");
    if (!s) {
        write_header(to, image, &p);
        chunk(to, "IDAT", packed, size);
        chunk(to, "IEND", NULL, 0);
        s = to->status;
    }
    mcr_free_all(ctx, raw, packed);
    return s;
}
