/* terminal.c: figures in characters.
 *
 * A character of the Braille block has 2 x 4 dots: points, lines, bands and bars are drawn with
 * them. Cells are background colours, two per character (an upper half block); without colours they
 * are shades of grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "plot/canvas.h"
#include "plot/colour.h"

enum { NONE = 0x7fffffff, TEXT = 8, LEAST_WIDTH = 12, LEAST_HEIGHT = 8 };

typedef struct cell {
    char text[TEXT]; /* "": dots, or nothing */
    uint32_t ink;
    uint32_t upper, lower; /* backgrounds; NONE: the terminal's own */
    unsigned char dots;
    bool bold;
} cell;

typedef struct screen {
    mcr_text *to;
    int width, height, colours;
    bool dark;
    cell *cell;
    uint32_t paper;
    const mcr_layout_of *legend;
} screen;

typedef struct plot_box {
    screen *s;
    const mcr_panel *p;
    int x, y, w, h; /* in characters */
} plot_box;

/* ---- characters ----------------------------------------------------------------------------- */

static cell *at(screen *s, int x, int y)
{
    bool inside = s->cell && x >= 0 && y >= 0 && x < s->width && y < s->height;
    return inside ? &s->cell[y * s->width + x] : NULL;
}

static void put_char(screen *s, int x, int y, const char *text, size_t bytes, uint32_t ink)
{
    cell *c = at(s, x, y);
    if (!c || bytes >= TEXT)
        return;
    memcpy(c->text, text, bytes);
    c->text[bytes] = '\0';
    c->ink = ink;
    c->dots = 0;
}

/* At most `most` characters; control characters and invalid UTF-8 become '?'. Returns their
 * number. */
static int put_words(screen *s, int x, int y, const char *text, int most, uint32_t ink, bool bold)
{
    mcr_text plain;
    mcr_text_init(&plain, s->to->ctx);
    mcr_plain_write(&plain, text);
    if (plain.status)
        s->to->status = plain.status;
    int count = 0;
    for (const char *c = plain.bytes ? plain.bytes : ""; *c && count < most; count++) {
        size_t bytes = mcr_text_bytes(c, 1);
        bool cut = count + 1 == most && c[bytes];
        put_char(s, x + count, y, cut ? "…" : c, cut ? strlen("…") : bytes, ink);
        cell *here = at(s, x + count, y);
        if (here)
            here->bold = bold;
        c += bytes;
    }
    mcr_text_free(&plain);
    return count;
}

/* ---- without colours ------------------------------------------------------------------------ */

/* Marks that only colours distinguish: filled points, upright bars, solid lines. */
static bool is_plain(const mcr_mark *m)
{
    bool kind = (m->type == MCR_MARK_LINE && m->alpha == 0) ||
                (m->type == MCR_MARK_BARS && !m->sideways) ||
                (m->type == MCR_MARK_POINTS && m->shape != MCR_SHAPE_RING && !m->value);
    return kind && m->name && (int)m->ink < MCR_PALETTE;
}

/* Characters for classes or curves if there are no colours, and the same within a ring. */
static const char *const symbols[] = {"o", "x", "+", "*", "=", "/", "-", ".",
                                      "a", "b", "c", "d", "e", "f", "g", "h"};
static const char *const ringed[] = {"◎", "⊗", "⊕", "⊛", "⊜", "⊘", "⊖", "⊙",
                                     "ⓐ", "ⓑ", "ⓒ", "ⓓ", "ⓔ", "ⓕ", "ⓖ", "ⓗ"};

static const char *ring_around(const char *text)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(text, symbols[i]) == 0 || strcmp(text, ringed[i]) == 0)
            return ringed[i];
    return "○";
}

/* NULL: dots suffice. */
static const char *symbol_of(const screen *s, const mcr_mark *m)
{
    int found = -1, plain = 0;
    if (s->colours || !is_plain(m))
        return NULL;
    for (int i = 0; i < s->legend->entries; i++) {
        const mcr_mark *other = s->legend->entry[i].mark;
        if (strcmp(other->name, m->name) == 0)
            found = plain;
        plain += is_plain(other);
    }
    return found >= 0 && plain > 1 ? symbols[found] : NULL;
}

/* ---- dots ----------------------------------------------------------------------------------- */

static void dot(const plot_box *b, double dx, double dy, uint32_t ink)
{
    static const unsigned char bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int px = (int)floor(dx), py = (int)floor(dy);
    if (px < 0 || py < 0 || px >= 2 * b->w || py >= 4 * b->h)
        return;
    cell *c = at(b->s, b->x + px / 2, b->y + py / 4);
    if (!c || c->text[0])
        return;
    c->dots |= bit[py % 4][px % 2];
    c->ink = ink;
}

/* A position that fits an int; NAN is mapped far outside the picture. */
static double place(double v)
{
    return v > -1e6 ? fmin(v, 1e6) : -1e6;
}

static double across(const plot_box *b, double v)
{
    return place(mcr_axis_share(&b->p->x, v) * (2 * b->w - 1) + 0.5);
}

static double down(const plot_box *b, double v)
{
    return place((1 - mcr_axis_share(&b->p->y, v)) * (4 * b->h - 1) + 0.5);
}

static uint32_t ink_of(const plot_box *b, mcr_ink ink)
{
    return mcr_ink_rgb(ink, b->s->dark);
}

/* A character instead of a cell's dots; px, py as for dots. */
static void put_symbol(const plot_box *b, double px, double py, const char *symbol, uint32_t ink)
{
    int x = (int)floor(px / 2), y = (int)floor(py / 4);
    if (x >= 0 && y >= 0 && x < b->w && y < b->h)
        put_char(b->s, b->x + x, b->y + y, symbol, strlen(symbol), ink);
}

static void draw_line(const plot_box *b, const mcr_mark *m)
{
    uint32_t ink = ink_of(b, m->ink);
    const char *symbol = symbol_of(b->s, m);
    for (int64_t i = 0; i + 1 < m->count; i++) {
        double x0 = across(b, m->x[i]), y0 = down(b, m->y[i]);
        double x1 = across(b, m->x[i + 1]), y1 = down(b, m->y[i + 1]);
        if (!isfinite(x0 + y0 + x1 + y1))
            continue;
        double steps = fmin(ceil(fmax(fabs(x1 - x0), fabs(y1 - y0))) + 1, 4000);
        for (double k = 0; k <= steps; k++) {
            double x = x0 + (x1 - x0) * k / steps, y = y0 + (y1 - y0) * k / steps;
            if (symbol)
                put_symbol(b, x, y, symbol, ink);
            else if (!m->dashed || ((int)(x + y) & 3) < 2)
                dot(b, x, y, ink);
        }
    }
}

static void draw_points(const plot_box *b, const mcr_mark *m)
{
    const char *symbol = symbol_of(b->s, m);
    for (int64_t i = 0; i < m->count; i++) {
        double x = across(b, m->x[i]), y = down(b, m->y[i]);
        uint32_t ink = m->value ? mcr_ramp_colour(m, m->value[i], b->s->dark) & 0xffffff
                                : ink_of(b, m->ink);
        if (!isfinite(x + y))
            continue;
        if (symbol)
            put_symbol(b, x, y, symbol, ink);
        else if (m->shape != MCR_SHAPE_RING)
            dot(b, x, y, ink);
        if (m->shape != MCR_SHAPE_RING)
            continue;
        int cx = b->x + (int)floor(x) / 2, cy = b->y + (int)floor(y) / 4;
        cell *c = at(b->s, cx, cy);
        if (c && cx >= b->x && cx < b->x + b->w && cy >= b->y && cy < b->y + b->h) {
            const char *ring = ring_around(c->text);
            put_char(b->s, cx, cy, ring, strlen(ring), c->dots && m->count > 1 ? c->ink : ink);
        }
    }
}

/* Every second dot, every eighth of a faint band, every 16th of the faintest. */
static void draw_band(const plot_box *b, const mcr_mark *m)
{
    bool faint = m->alpha > 0 && m->alpha < 0.2;
    int apart = m->alpha < 0.12 ? 4 : 2;
    uint32_t ink = ink_of(b, m->ink);
    for (int px = 0; px < 2 * b->w; px++) {
        for (int64_t i = 0; i + 1 < m->count; i++) {
            double x0 = across(b, m->x[i]), x1 = across(b, m->x[i + 1]);
            double t = x1 > x0 ? (px + 0.5 - x0) / (x1 - x0) : -1;
            if (t < 0 || t > 1)
                continue;
            double low = down(b, m->low[i] + (m->low[i + 1] - m->low[i]) * t);
            double high = down(b, m->high[i] + (m->high[i + 1] - m->high[i]) * t);
            for (int py = (int)fmax(high, 0); py <= fmin(low, 4 * b->h - 1); py++)
                if (faint ? px % apart == 0 && py % 4 == 0 : (px + py) % 2 == 0)
                    dot(b, px, py, ink);
            break;
        }
    }
}

static void fill(const plot_box *b, double x0, double x1, double y0, double y1, uint32_t ink)
{
    for (double y = fmax(floor(fmin(y0, y1)), 0); y < fmin(fmax(y0, y1), 4 * b->h); y++)
        for (double x = fmax(floor(fmin(x0, x1) + 0.5), 0); x < fmin(fmax(x0, x1), 2 * b->w); x++)
            dot(b, x, y, ink);
}

static void draw_bars(const plot_box *b, const mcr_mark *m)
{
    uint32_t ink = ink_of(b, m->ink);
    const char *symbol = symbol_of(b->s, m);
    for (int64_t i = 0; i < m->count; i++) {
        double base = m->low ? m->low[i] : 0, half = m->width / 2;
        if (m->y[i] == base)
            continue;
        for (double x = across(b, m->x[i] - half); symbol && x < across(b, m->x[i] + half); x++)
            put_symbol(b, x, down(b, m->y[i]), symbol, ink); /* bars of classes overlap: marks the
                                                              * top */
        if (symbol)
            continue;
        if (m->sideways)
            fill(b, across(b, base), across(b, m->y[i]), down(b, m->x[i] + half),
                 down(b, m->x[i] - half), ink);
        else
            fill(b, across(b, m->x[i] - half), across(b, m->x[i] + half), down(b, m->y[i]),
                 down(b, base), ink);
    }
}

/* ---- cells ---------------------------------------------------------------------------------- */

static int64_t find(const double *edge, int64_t count, double v)
{
    for (int64_t i = 0; i < count; i++)
        if (v >= edge[i] && v < edge[i + 1])
            return i;
    return -1;
}

static double axis_value(const mcr_axis *a, double share)
{
    return a->log ? a->min * pow(a->max / a->min, share) : a->min + (a->max - a->min) * share;
}

/* The value of the cells at a position; NAN: outside. */
static double sample(const mcr_mark *m, double x, double y)
{
    if (x < m->x0 || x >= m->x1 || y < m->y0 || y >= m->y1)
        return NAN;
    int64_t q = m->x_edge ? find(m->x_edge, m->cols, x)
                          : (int64_t)((x - m->x0) / (m->x1 - m->x0) * (double)m->cols);
    int64_t r = m->y_edge ? find(m->y_edge, m->rows, y)
                          : (int64_t)((y - m->y0) / (m->y1 - m->y0) * (double)m->rows);
    return q < 0 || r < 0 || q >= m->cols || r >= m->rows ? NAN : m->value[r * m->cols + q];
}

static void draw_cells(const plot_box *b, const mcr_mark *m)
{
    static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
    for (int y = 0; y < 2 * b->h; y++)
        for (int x = 0; x < b->w; x++) {
            double v = sample(m, axis_value(&b->p->x, (x + 0.5) / b->w),
                              axis_value(&b->p->y, 1 - (y + 0.5) / (2 * b->h)));
            cell *c = at(b->s, b->x + x, b->y + y / 2);
            if (!isfinite(v) || !c)
                continue;
            uint32_t colour = mcr_ramp_colour(m, v, b->s->dark);
            if (b->s->colours) {
                uint32_t *to = y % 2 ? &c->lower : &c->upper;
                uint32_t below = *to == NONE ? b->s->paper : *to;
                *to = mcr_rgb_mix(colour & 0xffffff, below, (colour >> 24) / 255.0);
            } else if (m->ramp != MCR_RAMP_CLASSES && y % 2 == 0) {
                double t = m->v1 > m->v0 ? (v - m->v0) / (m->v1 - m->v0) : 0.5;
                int shade = (int)fmin(fmax(t * 5, 0), 4);
                put_char(b->s, b->x + x, b->y + y / 2, shades[shade], strlen(shades[shade]), NONE);
            }
        }
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void draw_texts(const plot_box *b, const mcr_mark *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        int length = mcr_text_columns(m->text[i]);
        int x = b->x + (int)(across(b, m->x[i]) / 2 - m->anchor * length + 0.5);
        int y = b->y + (int)(down(b, m->y[i]) / 4);
        put_words(b->s, x, y, m->text[i], 12, NONE, true);
    }
}

static void draw_letters(const plot_box *b, const mcr_mark *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        int x0 = b->x + (int)(across(b, m->x[i] - 0.5) / 2 + 0.5);
        int x1 = b->x + (int)(across(b, m->x[i] + 0.5) / 2 + 0.5);
        double top = down(b, m->high[i]) / 4, bottom = down(b, m->low[i]) / 4;
        int wide = x1 - x0 > 2 ? x1 - x0 - 1 : x1 - x0;
        for (int y = (int)floor(top + 0.5); y < (int)floor(bottom + 0.5) && y < b->h; y++)
            for (int x = x0; x < x0 + (wide > 0 ? wide : 1); x++)
                put_char(b->s, x, b->y + y, m->text[i], strlen(m->text[i]),
                         ink_of(b, (mcr_ink)m->value[i]));
    }
}

static void draw_mark(const plot_box *b, const mcr_mark *m)
{
    static void (*const draw[])(const plot_box *, const mcr_mark *) = {
        [MCR_MARK_POINTS] = draw_points,   [MCR_MARK_LINE] = draw_line,
        [MCR_MARK_BAND] = draw_band,       [MCR_MARK_BARS] = draw_bars,
        [MCR_MARK_CELLS] = draw_cells,     [MCR_MARK_TEXT] = draw_texts,
        [MCR_MARK_LETTERS] = draw_letters,
    };
    draw[m->type](b, m);
}

/* ---- axes and legend ------------------------------------------------------------------------ */

static void draw_ticks(const plot_box *b, const mcr_ticks *x, const mcr_ticks *y, int left)
{
    uint32_t muted = mcr_ink_rgb(MCR_INK_MUTED, b->s->dark),
             frame = mcr_ink_rgb(MCR_INK_FRAME, true);
    for (int k = 0; k < b->h; k++)
        put_char(b->s, b->x - 1, b->y + k, "│", strlen("│"), frame);
    put_char(b->s, b->x - 1, b->y + b->h, "└", strlen("└"), frame);
    for (int k = 0; k < b->w; k++)
        put_char(b->s, b->x + k, b->y + b->h, "─", strlen("─"), frame);
    for (int i = 0; i < y->count; i++) {
        int row = b->y + (int)(down(b, y->tick[i].at) / 4);
        int length = mcr_text_columns(y->tick[i].text);
        length = length < left ? length : left;
        put_words(b->s, b->x - 1 - length, row, y->tick[i].text, left, muted, false);
        put_char(b->s, b->x - 1, row, "┤", strlen("┤"), frame);
    }
    int free_from = -1;
    for (int i = 0; i < x->count; i++) {
        int length = mcr_text_columns(x->tick[i].text);
        int col = b->x + (int)(across(b, x->tick[i].at) / 2);
        int begin = col - length / 2;
        begin = begin + length > b->s->width ? b->s->width - length : begin;
        put_char(b->s, col, b->y + b->h, "┴", strlen("┴"), frame);
        if (begin <= free_from)
            continue;
        put_words(b->s, begin, b->y + b->h + 1, x->tick[i].text, 14, muted, false);
        free_from = begin + length;
    }
}

static void draw_panel(screen *s, const mcr_panel *p, int x, int y, int w, int h)
{
    mcr_ticks tx, ty;
    plot_box b = {s, p, x, y + 1, w, h - (p->x.silent ? 2 : p->x.label ? 4 : 3)};
    int labels = p->y.names ? b.h / 1 : b.h / 4;
    mcr_axis_ticks(&p->y, labels < 2 ? 2 : labels, &ty);
    int left = 0;
    for (int i = 0; i < ty.count; i++) {
        int length = mcr_text_columns(ty.tick[i].text);
        left = length > left ? length : left;
    }
    left = left > w / 2 ? w / 2 : left;
    b.x += left + 1;
    b.w -= left + 2;
    mcr_axis_ticks(&p->x, p->x.names ? b.w / 4 : b.w / 11 < 2 ? 2 : b.w / 11, &tx);
    uint32_t text = mcr_ink_rgb(MCR_INK_TEXT, s->dark);
    int used = p->title ? put_words(s, b.x, y, p->title, w - left, text, true) + 2 : 0;
    if (p->y.label)
        put_words(s, used ? b.x + used : x, y, p->y.label, w - used - 1,
                  mcr_ink_rgb(MCR_INK_MUTED, s->dark), false);
    for (int64_t m = 0; m < p->count; m++)
        draw_mark(&b, &p->mark[m]);
    draw_ticks(&b, &tx, &ty, left);
    if (p->x.label) {
        int length = mcr_text_columns(p->x.label), begin = b.x + b.w - length;
        bool under = tx.count == 0;
        put_words(s, begin < x ? x : begin, b.y + b.h + (under ? 1 : 2), p->x.label, w,
                  mcr_ink_rgb(MCR_INK_MUTED, s->dark), false);
    }
}

static const char *key_of(const screen *s, const mcr_mark *m)
{
    const char *symbol = symbol_of(s, m);
    if (symbol)
        return symbol;
    if (m->type == MCR_MARK_LINE)
        return m->dashed ? "╌" : "─";
    if (m->type == MCR_MARK_POINTS)
        return m->shape == MCR_SHAPE_RING ? "○" : "●";
    return m->type == MCR_MARK_BAND ? "░" : "■";
}

/* Returns the line below it; s->cell NULL: computes only that. */
static int draw_legend(screen *s, const mcr_layout_of *l, int y)
{
    int x = 0;
    for (int i = 0; i < l->entries; i++) {
        const mcr_mark *m = l->entry[i].mark;
        int length = mcr_text_columns(m->name) + 4;
        if (x && x + length > s->width) {
            x = 0;
            y++;
        }
        put_words(s, x, y, key_of(s, m), 1, mcr_ink_rgb(m->ink, s->dark), false);
        put_words(s, x + 2, y, m->name, s->width - x - 2, mcr_ink_rgb(MCR_INK_TEXT, s->dark),
                  false);
        x += length;
    }
    return l->entries ? y + 1 : y;
}

/* ---- output --------------------------------------------------------------------------------- */

static void put_colour(const screen *s, uint32_t rgb, bool back)
{
    if (rgb == NONE)
        mcr_text_string(s->to, back ? "\033[49m" : "\033[39m");
    else if (s->colours > 256)
        mcr_text_format(s->to, "\033[%d;2;%u;%u;%um", back ? 48 : 38, rgb >> 16 & 255,
                        rgb >> 8 & 255, rgb & 255);
    else
        mcr_text_format(s->to, "\033[%d;5;%um", back ? 48 : 38,
                        16 + 36 * ((rgb >> 16 & 255) * 5 / 255) + 6 * ((rgb >> 8 & 255) * 5 / 255) +
                            (rgb & 255) * 5 / 255);
}

/* A cell as one character with ink and background. */
static void resolve(const cell *c, char *text, uint32_t *ink, uint32_t *back)
{
    *ink = c->ink;
    *back = c->upper != NONE ? c->upper : c->lower;
    if (c->text[0]) {
        strcpy(text, c->text);
    } else if (c->dots) {
        unsigned code = 0x2800u + c->dots;
        text[0] = (char)(0xe0 | code >> 12);
        text[1] = (char)(0x80 | (code >> 6 & 63));
        text[2] = (char)(0x80 | (code & 63));
        text[3] = '\0';
    } else if (c->upper != c->lower && c->upper != NONE && c->lower != NONE) {
        strcpy(text, "▀");
        *ink = c->upper;
        *back = c->lower;
    } else {
        strcpy(text, " ");
        *ink = NONE;
    }
}

static void put_line(const screen *s, int y)
{
    int last = s->width - 1;
    for (; last >= 0; last--) {
        const cell *c = &s->cell[y * s->width + last];
        if (c->text[0] || c->dots || c->upper != NONE || c->lower != NONE)
            break;
    }
    uint32_t ink = NONE, back = NONE;
    bool bold = false;
    for (int x = 0; x <= last; x++) {
        const cell *c = &s->cell[y * s->width + x];
        char text[TEXT];
        uint32_t wanted, behind;
        resolve(c, text, &wanted, &behind);
        if (s->colours && c->bold != bold)
            mcr_text_string(s->to, c->bold ? "\033[1m" : "\033[22m");
        if (s->colours && wanted != ink)
            put_colour(s, wanted, false);
        if (s->colours && behind != back)
            put_colour(s, behind, true);
        ink = wanted;
        back = behind;
        bold = c->bold;
        mcr_text_string(s->to, text);
    }
    if (s->colours && last >= 0)
        mcr_text_string(s->to, "\033[0m");
    mcr_text_string(s->to, "\n");
}

static void draw_frame(screen *s, const mcr_figure *f, const mcr_layout_of *l)
{
    const mcr_frame *frame = &f->frame[f->frames / 2];
    int y = 0;
    if (f->title) {
        int used = put_words(s, 0, y, f->title, s->width, mcr_ink_rgb(MCR_INK_TEXT, s->dark), true);
        if (frame->label)
            put_words(s, used + 2, y, frame->label, s->width - used - 2,
                      mcr_ink_rgb(MCR_INK_MUTED, s->dark), false);
        y++;
    }
    if (f->subtitle)
        put_words(s, 0, y++, f->subtitle, s->width, mcr_ink_rgb(MCR_INK_MUTED, s->dark), false);
    y = draw_legend(s, l, y);
    int w = s->width / f->cols, h = (s->height - y) / f->rows;
    for (int64_t p = 0; p < frame->panels; p++) {
        const mcr_panel *panel = &frame->panel[p];
        draw_panel(s, panel, w * panel->col, y + h * panel->row, w - 1, h);
    }
}

/* If the window is too small the picture becomes larger, rather than losing panels. */
static void grow(screen *s, const mcr_figure *f, const mcr_layout_of *l)
{
    if (s->width < f->cols * LEAST_WIDTH)
        s->width = f->cols * LEAST_WIDTH;
    int top = draw_legend(s, l, (f->title != NULL) + (f->subtitle != NULL));
    int least = LEAST_HEIGHT;
    for (int64_t p = 0; p < f->frame[0].panels; p++) {
        const mcr_panel *panel = &f->frame[0].panel[p];
        bool bars = panel->count && panel->mark[0].type == MCR_MARK_BARS && panel->mark[0].sideways;
        if (bars && panel->y.count + 4 > least) /* a line for each bar */
            least = (int)panel->y.count + 4;
    }
    if (s->height < top + f->rows * least)
        s->height = top + f->rows * least;
}

mcr_status mcr_figure_to_text(mcr_figure *f, const mcr_draw *draw)
{
    mcr_layout_of l;
    screen s = {.to = &f->drawn,
                .width = draw->width,
                .height = draw->height,
                .colours = draw->colours,
                .dark = draw->theme != MCR_THEME_LIGHT,
                .paper = mcr_ink_rgb(MCR_INK_PAPER, draw->theme != MCR_THEME_LIGHT),
                .legend = &l};
    mcr_draw pixels = {.size = sizeof pixels, .width = 720, .height = 500};
    mcr_status status = mcr_layout_open(&l, f, &pixels);
    if (status)
        return status;
    grow(&s, f, &l);
    s.cell = mcr_blocks_take(&l.pool, (int64_t)s.width * s.height, sizeof *s.cell);
    if (!s.cell)
        status = MCR_NO_MEMORY;
    for (int i = 0; !status && i < s.width * s.height; i++)
        s.cell[i].ink = s.cell[i].upper = s.cell[i].lower = NONE;
    if (!status)
        draw_frame(&s, f, &l);
    int last = s.height - 1;
    for (; !status && last > 0; last--) {
        bool empty = true;
        for (int x = 0; x < s.width && empty; x++)
            empty = !s.cell[last * s.width + x].text[0] && !s.cell[last * s.width + x].dots;
        if (!empty)
            break;
    }
    for (int y = 0; !status && y <= last; y++)
        put_line(&s, y);
    mcr_layout_close(&l);
    return status ? status : f->drawn.status;
}
