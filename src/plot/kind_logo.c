/* kind_logo.c: sequence logos (Schneider and Stephens, 1990).
 *
 * For a model: the pattern it detects. All windows of its support vectors are scored by the model
 * itself, so every kernel on strings works; the best windows are aligned, each shifted to the best
 * agreement with the previous ones. For data: strings of equal length, position by position, for
 * each class. The height of a stack is its information in bits, divided among the letters by
 * frequency.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"
#include "plot/plotting.h"

enum { MOST_WINDOWS = 20000, BEST = 120, MOST_CLASSES = 4, BYTES = 256 };

/* Counts of letters by position. */
typedef struct profile {
    int64_t width;
    double *count; /* width x BYTES */
    double *total; /* width */
    bool used[BYTES];
    int letters;
} profile;

static mcr_status open_profile(mcr_plotting *p, profile *f, int64_t width)
{
    *f = (profile){.width = width};
    f->count = mcr_blocks_reals(&p->scratch, width * BYTES);
    f->total = mcr_blocks_reals(&p->scratch, width);
    return f->count && f->total ? MCR_OK : MCR_NO_MEMORY;
}

static void add_string(profile *f, const char *s, int64_t length, int64_t shift)
{
    for (int64_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)s[i];
        if (i + shift < 0 || i + shift >= f->width)
            continue;
        f->count[(i + shift) * BYTES + c]++;
        f->total[i + shift]++;
        f->letters += !f->used[c];
        f->used[c] = true;
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

static mcr_ink letter_ink(unsigned char c)
{
    static const char *const groups[] = {"CDE", "TUKRH", "AGSNQ", "", "GWYF", "", "P", "ILMV"};
    static const struct {
        char letter;
        int ink;
    } bases[] = {{'A', 2}, {'C', 0}, {'G', 4}, {'T', 1}, {'U', 1}};
    unsigned char upper = c >= 'a' && c <= 'z' ? (unsigned char)(c - 32) : c;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (upper == bases[i].letter)
            return (mcr_ink)bases[i].ink;
    for (int i = 0; i < MCR_PALETTE; i++)
        if (upper && strchr(groups[i], upper))
            return (mcr_ink)i;
    return (mcr_ink)(upper % MCR_PALETTE);
}

typedef struct share {
    double size;
    int letter;
} share;

static int smaller_first(const void *a, const void *b)
{
    const share *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->letter - y->letter;
}

/* The letters of a position with their heights, the tallest last. Returns their number. */
static int stack(const profile *f, int64_t at, share *list)
{
    int count = 0;
    double bits = log2(fmax(f->letters, 2));
    /* Small-sample correction: few strings look more certain than they are. */
    bits -= f->total[at] > 0 ? (f->letters - 1) / (2 * log(2) * f->total[at]) : bits;
    for (int c = 0; c < BYTES; c++) {
        double q = f->total[at] > 0 ? f->count[at * BYTES + c] / f->total[at] : 0;
        if (q > 0) {
            bits += q * log2(q);
            list[count++] = (share){q, c};
        }
    }
    bits = fmax(bits, 0);
    for (int i = 0; i < count; i++)
        list[i].size *= bits;
    qsort(list, (size_t)count, sizeof *list, smaller_first);
    return count;
}

static mcr_status put_letter(mcr_plotting *p, mcr_mark *m, int64_t at, double low, const share *s)
{
    char text[8] = {(char)s->letter, '\0'};
    if (s->letter == ' ')
        strcpy(text, "\u2423"); /* open box */
    else if (s->letter == 'l')
        strcpy(text, "\u2113"); /* a stretched small l would look like a box */
    else if (s->letter < 0x21 || s->letter > 0x7e)
        strcpy(text, "?");
    int64_t i = m->count;
    m->x[i] = (double)at + 1;
    m->low[i] = low;
    m->high[i] = low + s->size;
    m->value[i] = letter_ink((unsigned char)s->letter);
    m->text[i] = mcr_blocks_text(&p->f->pool, text);
    m->count++;
    return m->text[i] ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status draw(mcr_plotting *p, const profile *f, int row, const char *title, int64_t from,
                       int64_t to)
{
    int64_t most = (to - from) * f->letters;
    share list[BYTES];
    mcr_panel *panel = mcr_frame_panel(p->f, row, 0);
    mcr_mark *m = panel ? mcr_panel_mark(p->f, panel, MCR_MARK_LETTERS, "letters") : NULL;
    if (!m)
        return MCR_NO_MEMORY;
    m->x = mcr_blocks_reals(&p->f->pool, most);
    m->low = mcr_blocks_reals(&p->f->pool, most);
    m->high = mcr_blocks_reals(&p->f->pool, most);
    m->value = mcr_blocks_reals(&p->f->pool, most);
    m->text = mcr_blocks_take(&p->f->pool, most, sizeof *m->text);
    if (!m->x || !m->low || !m->high || !m->value || !m->text)
        return MCR_NO_MEMORY;
    m->ramp = MCR_RAMP_INK;
    mcr_status s = MCR_OK;
    double tallest = 0;
    for (int64_t at = from; at < to && !s; at++) {
        double low = 0;
        int count = stack(f, at, list);
        for (int i = 0; i < count && !s; i++) {
            s = put_letter(p, m, at - from, low, &list[i]);
            low += list[i].size;
        }
        tallest = fmax(tallest, low);
    }
    panel->title = mcr_blocks_text(&p->f->pool, title);
    panel->x = (mcr_axis){.label = "position", .min = 0.4, .max = (double)(to - from) + 0.6};
    panel->y = (mcr_axis){
        .label = "bits", .min = 0, .max = fmax(log2(fmax(f->letters, 2)), tallest)};
    return s;
}

/* ---- strings of a data set ------------------------------------------------------------------ */

static mcr_status from_data(mcr_plotting *p)
{
    int64_t field = mcr_plot_strings(p->data), n = p->data ? mcr_data_count(p->data) : 0,
            length = -1;
    mcr_scatter by = {.classes = 1};
    const char *bytes;
    int64_t size;
    if (field < 0)
        return mcr_plot_needs(p, "strings: a model trained on them, or such data");
    mcr_status s = mcr_plot_has_classes(p->data) ? mcr_plot_classes(p, p->data, &by) : MCR_OK;
    for (int64_t i = 0; i < n && !s; i++) {
        s = mcr_data_string(p->data, field, i, &bytes, &size);
        if (!s && length >= 0 && size != length)
            s = mcr_plot_needs(p, "strings of equal length, or a model trained on strings");
        length = size;
    }
    if (!s && (length < 1 || length > MCR_PLOT_POSITIONS))
        s = mcr_fail(p->ctx, MCR_BAD_DATA, "a logo has 1 to %d positions; the strings have %lld",
                     MCR_PLOT_POSITIONS, (long long)length);
    for (int64_t c = 0; c < by.classes && c < MOST_CLASSES && !s; c++) {
        profile f;
        s = open_profile(p, &f, length);
        for (int64_t i = 0; i < n && !s; i++) {
            s = mcr_data_string(p->data, field, i, &bytes, &size);
            if (!s && (!by.class_of || by.class_of[i] == c))
                add_string(&f, bytes, size, 0);
        }
        if (!s)
            s = draw(p, &f, (int)c, by.class_of ? by.class_name[c] : NULL, 0, length);
    }
    p->f->aspect = 0.2 + 0.22 * (double)(by.classes < MOST_CLASSES ? by.classes : MOST_CLASSES);
    mcr_plot_title(p, "Sequence logo");
    mcr_plot_subtitle(p, "%lld strings of %lld letters", (long long)n, (long long)length);
    return s;
}

/* ---- what a model looks for ----------------------------------------------------------------- */

typedef struct window {
    double score;
    int64_t number;
    const char *at;
} window;

/* Slightly longer than the words that the kernel counts. */
static int64_t window_length(const mcr_model *m)
{
    static const char *const names[] = {"p=", "l=", "k="};
    const char *text = mcr_kernel_text(m->kernel), *end = text + strlen(text);
    int64_t length = 6;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(text, names[i]);
        if (at && mcr_parse_int(at + 2, end, &length))
            break;
    }
    return length + 4 < 8 ? 8 : length + 4 > 20 ? 20 : length + 4;
}

int64_t mcr_plot_longest(const mcr_plotting *p)
{
    const mcr_data *basis = p->model->basis;
    int64_t n = mcr_data_count(basis), size, most = 0;
    const char *bytes;
    double *coef = mcr_alloc(p->ctx, (size_t)n, sizeof *coef), offset;
    mcr_status s = coef ? mcr_model_coefficients(p->model, 0, coef, &offset, NULL) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++) {
        s = mcr_data_string(basis, 0, i, &bytes, &size);
        most = !s && coef[i] > 0 && size > most ? size : most;
    }
    mcr_free(p->ctx, coef);
    return s ? -1 : most;
}

/* Windows of the support vectors with positive coefficients in the first output. */
static mcr_status cut(mcr_plotting *p, int64_t field, int64_t length, window **out, int64_t *count)
{
    const mcr_data *basis = p->model->basis;
    int64_t n = mcr_data_count(basis), size, total = 0;
    const char *bytes;
    double *coef = mcr_blocks_reals(&p->scratch, n), offset;
    mcr_status s = coef ? mcr_model_coefficients(p->model, 0, coef, &offset, NULL) : MCR_NO_MEMORY;
    *count = 0;
    *out = mcr_blocks_take(&p->scratch, MOST_WINDOWS, sizeof **out);
    if (!s && !*out)
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++) {
        s = mcr_data_string(basis, field, i, &bytes, &size);
        total += !s && coef[i] > 0 && size >= length ? size - length + 1 : 0;
    }
    int64_t stride = total / MOST_WINDOWS + 1, number = 0;
    for (int64_t i = 0; i < n && !s; i++) {
        s = mcr_data_string(basis, field, i, &bytes, &size);
        for (int64_t k = 0; !s && coef[i] > 0 && k + length <= size; k++, number++)
            if (number % stride == 0 && *count < MOST_WINDOWS) {
                (*out)[*count] = (window){0, *count, bytes + k};
                ++*count;
            }
    }
    if (!s && !*count)
        s = mcr_fail(p->ctx, MCR_BAD_DATA, "the model's strings are shorter than %lld letters",
                     (long long)length);
    return s;
}

static mcr_status score(mcr_plotting *p, int64_t field, int64_t length, window *list, int64_t count)
{
    int64_t outputs = mcr_model_outputs(p->model);
    int64_t *start = mcr_blocks_take(&p->scratch, count + 1, sizeof *start);
    char *bytes = mcr_blocks_take(&p->scratch, count * length, 1);
    double *value = mcr_blocks_reals(&p->scratch, count * outputs);
    mcr_builder *builder = NULL;
    mcr_data *data = NULL;
    if (!start || !bytes || !value)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        start[i + 1] = (i + 1) * length;
        memcpy(bytes + i * length, list[i].at, (size_t)length);
    }
    mcr_status s = mcr_builder_open(&builder, p->ctx, count);
    if (!s)
        s = mcr_builder_strings(builder, p->model->basis->store[field]->name, start, bytes);
    s = mcr_builder_finish_filled(&data, builder, s);
    if (!s)
        s = mcr_predict(p->ctx, p->model, data, NULL, value, NULL);
    for (int64_t i = 0; i < count && !s; i++)
        list[i].score = value[i * outputs];
    mcr_data_free(data);
    if (!s)
        qsort(list, (size_t)count, sizeof *list, mcr_ranked_falling);
    return s;
}

/* The agreement of a window at a shift with the letters so far. */
static double agreement(const profile *f, const char *s, int64_t length, int64_t shift)
{
    double sum = 0;
    for (int64_t i = 0; i < length; i++)
        if (i + shift >= 0 && i + shift < f->width && f->total[i + shift] > 0)
            sum += f->count[(i + shift) * BYTES + (unsigned char)s[i]];
    return sum;
}

static void overlay(profile *f, const window *list, int64_t count, int64_t length)
{
    int64_t middle = (f->width - length) / 2;
    for (int64_t i = 0; i < count; i++) {
        int64_t best = middle;
        double most = i ? agreement(f, list[i].at, length, middle) : 0;
        for (int64_t shift = 0; i && shift + length <= f->width; shift++) {
            double now = agreement(f, list[i].at, length, shift);
            if (now > most * (1 + 1e-9)) {
                most = now;
                best = shift;
            }
        }
        add_string(f, list[i].at, length, best);
    }
}

static double information(const profile *f, int64_t at)
{
    share list[BYTES];
    double sum = 0;
    for (int i = stack(f, at, list); i-- > 0;)
        sum += list[i].size;
    return sum;
}

/* The positions that many windows cover and that are informative. */
static void trim(const profile *f, int64_t *from, int64_t *to)
{
    double most = 0;
    for (int64_t i = 0; i < f->width; i++)
        most = fmax(most, f->total[i]);
    *from = 0;
    *to = f->width;
    while (*from + 1 < *to && (f->total[*from] < 0.3 * most || information(f, *from) < 0.15))
        ++*from;
    while (*to > *from + 1 && (f->total[*to - 1] < 0.3 * most || information(f, *to - 1) < 0.15))
        --*to;
}

static mcr_status from_model(mcr_plotting *p, int64_t field)
{
    window *list;
    int64_t count, length = window_length(p->model), from, to, positive, negative;
    int64_t longest = mcr_plot_longest(p);
    profile f;
    if (longest < 0)
        return MCR_NO_MEMORY;
    if (longest < 1)
        return mcr_plot_needs(p, "a model with strings whose coefficients are positive");
    length = length < longest ? length : longest;
    mcr_status s = cut(p, field, length, &list, &count);
    if (!s)
        s = score(p, field, length, list, count);
    if (!s)
        s = open_profile(p, &f, 2 * length - 1);
    if (s)
        return s;
    int64_t best = count / 20 < BEST ? count / 20 > 20 ? count / 20 : 20 : BEST;
    best = best < count ? best : count;
    overlay(&f, list, best, length);
    trim(&f, &from, &to);
    s = draw(p, &f, 0, NULL, from, to);
    p->f->aspect = 0.42;
    mcr_model_sides(p->model, 0, &positive, &negative);
    mcr_plot_title(p, positive >= 0 ? "What speaks for class %.60s" : "What raises the value%.0s",
                   positive >= 0 ? mcr_model_class_name(p->model, positive) : "");
    mcr_plot_subtitle(p, "%s; the %lld best of %lld windows", mcr_plot_made_by(p), (long long)best,
                      (long long)count);
    return s;
}

static mcr_status make(mcr_plotting *p)
{
    int64_t field = p->model ? mcr_plot_strings(p->model->basis) : -1;
    if (p->model && field < 0)
        return mcr_plot_needs(p, "a model trained on strings");
    if (p->model && p->model->basis->fields > 1)
        return mcr_plot_needs(p, "a model trained on strings alone");
    return p->model ? from_model(p, field) : from_data(p);
}

const mcr_plot_type mcr_plot_logo = {
    {"logo", "sequence motifs, letter by letter",
     "a model trained on strings, or strings of equal length"},
    .make = make,
};
