/* page.c: parts of a self-contained HTML page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n<title>";

static const char style[] =
    "</title>\n<style>\n"
    ":root{color-scheme:light dark;--ink:#1d2126;--soft:#5a626c;--line:#d6dbe1;--bar:#3b74b9}\n"
    "body{margin:0;font:16px/1.5 system-ui,sans-serif;background:#fff;color:var(--ink)}\n"
    "main{max-width:1200px;margin:0 auto;padding:1rem}\n"
    "h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
    "table{border-collapse:collapse;display:block;overflow-x:auto;max-width:100%}\n"
    "td,th{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid var(--line);"
    "vertical-align:top;overflow-wrap:anywhere}\n"
    "th{font-weight:600}\n"
    ".numbers td,.numbers th{font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "td:first-child{color:var(--soft);overflow-wrap:normal}\n"
    ".pictures{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,"
    "500px),1fr))}\n"
    "figure{margin:0}figure svg{width:100%;height:auto;display:block}\n"
    "figcaption{color:var(--soft);font-size:.9rem}\n"
    "svg text.own{fill:var(--ink);font:13px system-ui,sans-serif}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e9ecf0;--soft:#a3acb8;--line:#333a42;"
    "--bar:#6ea3e0}body{background:#14171b}}\n"
    "</style></head>\n<body><main>\n<h1>";

void cli_page_begin(FILE *to, const char *title)
{
    fputs(head, to);
    cli_page_text(to, title);
    fputs(style, to);
    cli_page_text(to, title);
    fputs("</h1>\n", to);
}

void cli_page_end(FILE *to)
{
    fprintf(to, "<p>Made by Mercer %s.</p>\n</main></body></html>\n", mcr_version());
}

void cli_page_section(FILE *to, const char *title)
{
    fprintf(to, "<h2>");
    cli_page_text(to, title);
    fprintf(to, "</h2>\n");
}

void cli_page_text(FILE *to, const char *text)
{
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '<')
            fputs("&lt;", to);
        else if (c == '>')
            fputs("&gt;", to);
        else if (c == '&')
            fputs("&amp;", to);
        else if (c == '"')
            fputs("&quot;", to);
        else
            fputc(cli_control_bytes(p) ? '?' : c, to);
        p += cli_control_bytes(p) == 2;
    }
}

void cli_page_row(FILE *to, const char *name, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(to, "<tr><td>");
    cli_page_text(to, name);
    fprintf(to, "</td><td>");
    cli_page_text(to, text);
    fprintf(to, "</td></tr>\n");
}

/* Without the XML declaration, which is not allowed within a page. */
void cli_page_picture(FILE *to, const char *name, const char *svg, size_t count)
{
    const char *from = count > 5 && memcmp(svg, "<?xml", 5) == 0 ? strstr(svg, "?>") : NULL;
    from = from ? from + 2 : svg;
    fprintf(to, "<figure id=\"%s\">", name);
    fwrite(from, 1, count - (size_t)(from - svg), to);
    fprintf(to, "</figure>\n");
}

/* ---- drawings ---------------------------------------------------------------------------------*/

enum { BINS = 30, WIDTH = 640, HEIGHT = 260, LEFT = 50, BOTTOM = 30, TOP = 30 };

static void put_bins(FILE *to, const double *bin, double most, const char *colour)
{
    double wide = (double)(WIDTH - LEFT) / BINS;
    for (int b = 0; b < BINS; b++) {
        double high = most > 0 ? bin[b] / most * (HEIGHT - TOP - BOTTOM) : 0;
        if (high > 0)
            fprintf(to,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                    "fill-opacity=\".55\"/>",
                    LEFT + b * wide, HEIGHT - BOTTOM - high, wide - 1, high, colour);
    }
}

void cli_page_histogram(FILE *to, const cli_evaluation *e)
{
    static const char *const colour[] = {"#3b74b9", "#d9722e"};
    const mcr_evaluated *w = &e->what;
    double bin[2][BINS] = {{0}}, low = INFINITY, high = -INFINITY, most = 0;
    for (int64_t i = 0; i < w->n; i++) {
        low = fmin(low, w->score[i]);
        high = fmax(high, w->score[i]);
    }
    for (int64_t i = 0; i < w->n; i++) {
        int b = high > low ? (int)((w->score[i] - low) / (high - low) * BINS) : 0;
        int side = w->target[i] == 1;
        bin[side][b < BINS ? b : BINS - 1]++;
    }
    for (int side = 0; side < 2; side++)
        for (int b = 0; b < BINS; b++)
            most = fmax(most, bin[side][b]);
    fprintf(to,
            "<figure id=\"scores\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"histogram of the scores\">",
            WIDTH, HEIGHT);
    for (int side = 0; side < 2 && side < e->names; side++) {
        put_bins(to, bin[side], most, colour[side]);
        fprintf(to, "<text class=\"own\" x=\"%d\" y=\"18\" style=\"fill:%s\">", LEFT + side * 200,
                colour[side]);
        cli_page_text(to, e->name[side]);
        fprintf(to, "</text>");
    }
    if (low < 0 && high > 0)
        fprintf(to,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"currentColor\" "
                "stroke-dasharray=\"4 3\"/>",
                LEFT - low / (high - low) * (WIDTH - LEFT),
                LEFT - low / (high - low) * (WIDTH - LEFT), TOP, HEIGHT - BOTTOM);
    fprintf(to,
            "<text class=\"own\" x=\"%d\" y=\"%d\">%.4g</text><text class=\"own\" x=\"%d\" "
            "y=\"%d\" text-anchor=\"end\">%.4g</text><text class=\"own\" x=\"0\" y=\"%d\">%.4g"
            "</text></svg><figcaption>Scores of the objects of each class: right of the dashed "
            "line the second class is predicted.</figcaption></figure>\n",
            LEFT, HEIGHT - 8, low, WIDTH, HEIGHT - 8, high, TOP + 5, most);
}

static int more_first(const void *a, const void *b)
{
    const mcr_importance *x = *(const mcr_importance *const *)a,
                         *y = *(const mcr_importance *const *)b;
    return x->mean != y->mean ? (x->mean < y->mean) - (x->mean > y->mean)
                              : strcmp(x->name, y->name);
}

static void put_bar(FILE *to, const mcr_importance *item, double low, double span)
{
    double zero = -low / span * 100, at = (item->mean - low) / span * 100;
    double from = (item->lower - low) / span * 100, end = (item->upper - low) / span * 100;
    fprintf(to,
            "<svg viewBox=\"0 0 100 10\" width=\"140\" height=\"18\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"importance\">"
            "<rect x=\"%.2f\" y=\"2\" width=\"%.2f\" height=\"6\" fill=\"var(--bar)\"/>"
            "<rect x=\"%.2f\" y=\"4.5\" width=\"%.2f\" height=\"1\" fill=\"currentColor\"/></svg>",
            fmin(zero, at), fabs(at - zero), from, fmax(end - from, 0.3));
}

const mcr_importance **cli_page_order(const mcr_importance_report *r)
{
    const mcr_importance **item = cli_alloc((size_t)r->count + 1, sizeof *item);
    for (int64_t i = 0; i < r->count; i++)
        item[i] = r->item[i];
    qsort(item, (size_t)r->count, sizeof *item, more_first);
    return item;
}

void cli_page_importance(FILE *to, const mcr_importance_report *r)
{
    enum { SHOWN = 30 };
    const mcr_importance **item = cli_page_order(r);
    double low = 0, high = 0;
    for (int64_t i = 0; i < r->count; i++) {
        low = fmin(low, fmin(item[i]->lower, item[i]->mean));
        high = fmax(high, fmax(item[i]->upper, item[i]->mean));
    }
    fprintf(to,
            "<p>What %s (%.5g of %" PRId64 " objects) loses when the values of one column are "
            "shuffled, %" PRId64 " times, with 95 %% intervals.</p>\n",
            r->metric, r->base, r->n, r->repeats);
    fprintf(to, "<table class=\"numbers\" id=\"importance\"><tr><th>column</th><th></th>"
                "<th>lost</th><th>interval</th><th>sensitivity</th></tr>\n");
    for (int64_t i = 0; i < r->count && i < SHOWN; i++) {
        fprintf(to, "<tr><td>");
        cli_page_text(to, item[i]->name);
        fprintf(to, "</td><td>");
        put_bar(to, item[i], low, high > low ? high - low : 1);
        fprintf(to, "</td><td>%.4g</td><td>%.4g to %.4g</td><td>", item[i]->mean, item[i]->lower,
                item[i]->upper);
        fprintf(to, isnan(item[i]->sensitivity) ? "</td></tr>\n" : "%.4g</td></tr>\n",
                item[i]->sensitivity);
    }
    fprintf(to, "</table>\n");
    if (r->count > SHOWN)
        fprintf(to, "<p>%" PRId64 " more columns are not shown.</p>\n", r->count - SHOWN);
    free(item);
}
