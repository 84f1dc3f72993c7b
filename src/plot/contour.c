/* contour.c: the lines where a function on the plane crosses a level, or a label changes.
 *
 * Marching squares on a grid, with the crossings of its edges located by bisection of the function
 * itself, for all edges at once: so each vertex of the line is an actual crossing of the level,
 * whatever the function does between the nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "plot/plotting.h"

enum { HALVINGS = 9 };

typedef struct crossing {
    double x, y;
    int64_t next[2]; /* crossings that it is joined to; -1: none */
    bool visited;
} crossing;

typedef struct contour {
    const mcr_grid *g;
    double level;
    bool labels;
    int64_t count;
    crossing *at;
    int64_t *right, *up; /* per node: the crossing on the edge to its neighbour; -1: none */
    /* junctions of labels: three or more regions meet */
    int64_t spokes;
    double *spoke; /* x0 y0 x1 y1 each */
} contour;

static double side(const contour *c, double f)
{
    return c->labels ? f : f >= c->level;
}

mcr_grid mcr_grid_over(const mcr_plane *plane, int64_t cols, int64_t rows, mcr_panel *panel)
{
    mcr_grid g = {.cols = cols,
                  .rows = rows,
                  .x0 = plane->low[0],
                  .y0 = plane->low[1],
                  .dx = (plane->high[0] - plane->low[0]) / (double)(cols - 1),
                  .dy = (plane->high[1] - plane->low[1]) / (double)(rows - 1)};
    panel->x.min = plane->low[0] + g.dx;
    panel->x.max = plane->high[0] - g.dx;
    panel->y.min = plane->low[1] + g.dy;
    panel->y.max = plane->high[1] - g.dy;
    return g;
}

mcr_mark *mcr_grid_cells(mcr_plotting *p, mcr_panel *panel, const mcr_grid *g, const char *name)
{
    double *value = mcr_blocks_reals(&p->f->pool, g->cols * g->rows);
    mcr_mark *m = value ? mcr_panel_mark(p->f, panel, MCR_MARK_CELLS, name) : NULL;
    if (!m)
        return NULL;
    m->value = value;
    m->rows = g->rows;
    m->cols = g->cols;
    m->x0 = g->x0 - g->dx / 2;
    m->x1 = m->x0 + g->dx * (double)g->cols;
    m->y0 = g->y0 - g->dy / 2;
    m->y1 = m->y0 + g->dy * (double)g->rows;
    return m;
}

mcr_status mcr_grid_fill(mcr_plotting *p, mcr_grid *g)
{
    int64_t n = g->cols * g->rows;
    double *x = mcr_blocks_reals(&p->scratch, n), *y = mcr_blocks_reals(&p->scratch, n);
    g->f = mcr_blocks_reals(&p->scratch, n);
    if (!x || !y || !g->f)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        x[i] = g->x0 + g->dx * (double)(i % g->cols);
        y[i] = g->y0 + g->dy * (double)(i / g->cols);
    }
    return g->eval(g->arg, n, x, y, g->f);
}

/* ---- where edges are crossed ---------------------------------------------------------------- */

typedef struct edge {
    double ax, ay, bx, by, a; /* ends, and the side of the first */
} edge;

static bool crossed(const contour *c, int64_t a, int64_t b)
{
    return side(c, c->g->f[a]) != side(c, c->g->f[b]);
}

static void note_edge(contour *c, edge *e, int64_t node, int64_t other)
{
    const mcr_grid *g = c->g;
    e[c->count++] = (edge){.ax = g->x0 + g->dx * (double)(node % g->cols),
                           .ay = g->y0 + g->dy * (double)(node / g->cols),
                           .bx = g->x0 + g->dx * (double)(other % g->cols),
                           .by = g->y0 + g->dy * (double)(other / g->cols),
                           .a = side(c, g->f[node])};
}

static void find_edges(contour *c, edge *e)
{
    const mcr_grid *g = c->g;
    for (int64_t i = 0; i < g->cols * g->rows; i++) {
        c->right[i] = c->up[i] = -1;
        if (i % g->cols + 1 < g->cols && crossed(c, i, i + 1)) {
            c->right[i] = c->count;
            note_edge(c, e, i, i + 1);
        }
        if (i / g->cols + 1 < g->rows && crossed(c, i, i + g->cols)) {
            c->up[i] = c->count;
            note_edge(c, e, i, i + g->cols);
        }
    }
}

static mcr_status bisect(mcr_plotting *p, contour *c, edge *e)
{
    double *x = mcr_blocks_reals(&p->scratch, c->count),
           *y = mcr_blocks_reals(&p->scratch, c->count);
    double *f = mcr_blocks_reals(&p->scratch, c->count);
    mcr_status s = x && y && f ? MCR_OK : MCR_NO_MEMORY;
    for (int k = 0; k < HALVINGS && c->count && !s; k++) {
        for (int64_t i = 0; i < c->count; i++) {
            x[i] = 0.5 * (e[i].ax + e[i].bx);
            y[i] = 0.5 * (e[i].ay + e[i].by);
        }
        s = c->g->eval(c->g->arg, c->count, x, y, f);
        for (int64_t i = 0; i < c->count && !s; i++) {
            bool first = side(c, f[i]) == e[i].a;
            *(first ? &e[i].ax : &e[i].bx) = x[i];
            *(first ? &e[i].ay : &e[i].by) = y[i];
        }
    }
    for (int64_t i = 0; i < c->count && !s; i++)
        c->at[i] = (crossing){
            .x = 0.5 * (e[i].ax + e[i].bx), .y = 0.5 * (e[i].ay + e[i].by), .next = {-1, -1}};
    return s;
}

/* ---- joining -------------------------------------------------------------------------------- */

static void join(contour *c, int64_t a, int64_t b)
{
    c->at[a].next[c->at[a].next[0] >= 0] = b;
    c->at[b].next[c->at[b].next[0] >= 0] = a;
}

static void join_centre(contour *c, const int64_t *on, int count)
{
    double x = 0, y = 0;
    for (int k = 0; k < count; k++) {
        x += c->at[on[k]].x / count;
        y += c->at[on[k]].y / count;
    }
    for (int k = 0; k < count; k++) {
        double *to = c->spoke + 4 * c->spokes++;
        to[0] = c->at[on[k]].x;
        to[1] = c->at[on[k]].y;
        to[2] = x;
        to[3] = y;
    }
}

static void join_cell(contour *c, int64_t node)
{
    const mcr_grid *g = c->g;
    int64_t edges[4] = {c->right[node], c->up[node + 1], c->right[node + g->cols], c->up[node]};
    int64_t on[4];
    int count = 0;
    for (int k = 0; k < 4; k++)
        if (edges[k] >= 0)
            on[count++] = edges[k];
    if (count == 2) {
        join(c, on[0], on[1]);
    } else if (count == 4 && !c->labels) { /* a saddle: the centre decides */
        double mean = 0.25 * (g->f[node] + g->f[node + 1] + g->f[node + g->cols] +
                              g->f[node + g->cols + 1]);
        bool split = side(c, mean) == side(c, g->f[node]);
        join(c, on[0], split ? on[1] : on[3]);
        join(c, on[2], split ? on[3] : on[1]);
    } else if (count > 2) {
        join_centre(c, on, count);
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

typedef struct line {
    int64_t count;
    double *x, *y;
} line;

static void point(line *l, double x, double y)
{
    l->x[l->count] = x;
    l->y[l->count++] = y;
}

static void follow(contour *c, int64_t from, line *l)
{
    int64_t at = from;
    for (int64_t length = 1; at >= 0; length++) {
        crossing *here = &c->at[at];
        here->visited = true;
        point(l, here->x, here->y);
        int64_t a = here->next[0], b = here->next[1];
        at = a >= 0 && !c->at[a].visited ? a : b >= 0 && !c->at[b].visited ? b : -1;
        if (at < 0 && length > 2 && (a == from || b == from))
            point(l, c->at[from].x, c->at[from].y); /* a closed line */
    }
    point(l, NAN, NAN);
}

static void trace(contour *c, line *l)
{
    for (int closed = 0; closed < 2; closed++)
        for (int64_t i = 0; i < c->count; i++)
            if (!c->at[i].visited && (closed || c->at[i].next[1] < 0) && c->at[i].next[0] >= 0)
                follow(c, i, l);
    for (int64_t k = 0; k < c->spokes; k++) {
        point(l, c->spoke[4 * k], c->spoke[4 * k + 1]);
        point(l, c->spoke[4 * k + 2], c->spoke[4 * k + 3]);
        point(l, NAN, NAN);
    }
}

mcr_status mcr_grid_contour(mcr_plotting *p, const mcr_grid *g, double level, bool labels,
                            int64_t *count, double **x, double **y)
{
    contour c = {.g = g, .level = level, .labels = labels};
    int64_t nodes = g->cols * g->rows, edges = 0;
    c.right = mcr_blocks_take(&p->scratch, nodes, sizeof *c.right);
    c.up = mcr_blocks_take(&p->scratch, nodes, sizeof *c.up);
    for (int64_t i = 0; i < nodes; i++) {
        edges += i % g->cols + 1 < g->cols && crossed(&c, i, i + 1);
        edges += i / g->cols + 1 < g->rows && crossed(&c, i, i + g->cols);
    }
    edge *e = mcr_blocks_take(&p->scratch, edges, sizeof *e);
    c.at = mcr_blocks_take(&p->scratch, edges, sizeof *c.at);
    c.spoke = mcr_blocks_reals(&p->scratch, 8 * edges + 16);
    if (!c.right || !c.up || !e || !c.at || !c.spoke)
        return MCR_NO_MEMORY;
    find_edges(&c, e);
    mcr_status s = bisect(p, &c, e);
    if (s)
        return s;
    for (int64_t r = 0; r + 1 < g->rows; r++)
        for (int64_t q = 0; q + 1 < g->cols; q++)
            join_cell(&c, r * g->cols + q);
    int64_t most = 3 * c.count + 3 * c.spokes + 4;
    line l = {0, mcr_blocks_reals(&p->f->pool, most), mcr_blocks_reals(&p->f->pool, most)};
    if (!l.x || !l.y)
        return MCR_NO_MEMORY;
    trace(&c, &l);
    *count = l.count;
    *x = l.x;
    *y = l.y;
    return MCR_OK;
}
