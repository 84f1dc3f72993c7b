/* raster.c: pixels for terminals that show graphics: sixel, and the protocol of kitty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "plot/canvas.h"

/* ---- kitty ---------------------------------------------------------------------------------- */

void mcr_kitty_write(mcr_text *to, mcr *ctx, const void *png, size_t count)
{
    enum { CHUNK = 4096 };
    mcr_text text;
    mcr_text_init(&text, ctx);
    mcr_base64_write(&text, png, count);
    if (text.status)
        to->status = text.status;
    for (int64_t at = 0; at < text.length; at += CHUNK) {
        int64_t size = text.length - at < CHUNK ? text.length - at : CHUNK;
        mcr_text_string(to, at ? "\033_G" : "\033_Ga=T,f=100,");
        mcr_text_string(to, at + size < text.length ? "m=1;" : "m=0;");
        mcr_text_add(to, text.bytes + at, (size_t)size);
        mcr_text_string(to, "\033\\");
    }
    mcr_text_string(to, "\n");
    mcr_text_free(&text);
}

/* ---- sixel: bands of six rows, colour by colour --------------------------------------------- */

enum { REDS = 6, GREENS = 7, BLUES = 6, COLOURS = REDS * GREENS * BLUES };

static int level(uint32_t v, int levels)
{
    return (int)((v * (uint32_t)(levels - 1) + 127) / 255);
}

static unsigned char nearest(uint32_t rgb)
{
    return (unsigned char)((level(rgb >> 16 & 255, REDS) * GREENS + level(rgb >> 8 & 255, GREENS)) *
                               BLUES +
                           level(rgb & 255, BLUES));
}

static void put_palette(mcr_text *to)
{
    for (int c = 0; c < COLOURS; c++) {
        int r = c / (GREENS * BLUES), g = c / BLUES % GREENS, b = c % BLUES;
        mcr_text_format(to, "#%d;2;%d;%d;%d", c, r * 100 / (REDS - 1), g * 100 / (GREENS - 1),
                        b * 100 / (BLUES - 1));
    }
}

static void put_run(mcr_text *to, char six, int64_t run)
{
    if (run > 3)
        mcr_text_format(to, "!%lld%c", (long long)run, six);
    for (int64_t i = 0; run <= 3 && i < run; i++)
        mcr_text_add(to, &six, 1);
}

static void put_band(mcr_text *to, const unsigned char *pixel, int64_t cols, int rows)
{
    bool used[COLOURS] = {false};
    for (int64_t i = 0; i < cols * rows; i++)
        used[pixel[i]] = true;
    for (int c = 0; c < COLOURS; c++) {
        if (!used[c])
            continue;
        mcr_text_format(to, "#%d", c);
        char last = 0;
        int64_t run = 0;
        for (int64_t q = 0; q < cols; q++) {
            int bits = 0;
            for (int r = 0; r < rows; r++)
                bits |= (pixel[r * cols + q] == c) << r;
            char six = (char)(63 + bits);
            if (six != last) {
                put_run(to, last, run);
                run = 0;
            }
            last = six;
            run++;
        }
        put_run(to, last, run);
        mcr_text_string(to, "$");
    }
    mcr_text_string(to, "-\n");
}

mcr_status mcr_sixel_write(mcr_text *to, mcr *ctx, const uint32_t *rgb, int64_t cols, int64_t rows,
                           int64_t stride)
{
    unsigned char *band = mcr_alloc(ctx, (uint64_t)(6 * cols), 1);
    if (!band)
        return MCR_NO_MEMORY;
    mcr_text_string(to, "\033Pq");
    mcr_text_format(to, "\"1;1;%lld;%lld", (long long)cols, (long long)rows);
    put_palette(to);
    for (int64_t top = 0; top < rows; top += 6) {
        int count = rows - top < 6 ? (int)(rows - top) : 6;
        for (int64_t i = 0; i < count * cols; i++)
            band[i] = nearest(rgb[(top + i / cols) * stride + i % cols]);
        put_band(to, band, cols, count);
    }
    mcr_text_string(to, "\033\\\n");
    mcr_free(ctx, band);
    return to->status;
}
