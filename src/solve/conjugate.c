/* conjugate.c: preconditioned conjugate gradients (Hestenes and Stiefel, 1952).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/conjugate.h"

#include <math.h>
#include <string.h>

#include "base/team.h"

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

mcr_status mcr_conjugate_solve(const mcr_conjugate *c, const double *b, double *x, double *norm,
                               int64_t *steps)
{
    int64_t n = c->size;
    mcr_team *team = mcr_team_of_rows(c->ctx);
    if (team && team->conjugate)
        return team->conjugate(team, c, b, x, norm, steps);
    double *r = mcr_alloc(c->ctx, (size_t)n, 4 * sizeof *r);
    if (!r)
        return MCR_NO_MEMORY;
    double *z = r + n, *p = z + n, *ap = p + n;
    bool over = false;
    memset(x, 0, sizeof *x * (size_t)n);
    memcpy(r, b, sizeof *r * (size_t)n);
    *norm = sqrt(dot(n, r, r));
    mcr_status s = c->precondition(c->self, r, z);
    memcpy(p, z, sizeof *p * (size_t)n);
    double square = s ? 0 : dot(n, r, z);
    for (int64_t i = 0; i < c->most && !s && *norm > c->enough && square > 0; i++) {
        s = c->apply(c->self, p, ap);
        double bend = s ? 0 : dot(n, p, ap);
        if (!(bend > 0))
            break;
        double length = square / bend, before = square;
        for (int64_t k = 0; k < n; k++) {
            x[k] += length * p[k];
            r[k] -= length * ap[k];
        }
        ++*steps;
        if (c->stepped)
            c->stepped(c->self, length);
        *norm = sqrt(dot(n, r, r));
        if (c->over)
            s = c->over(c->self, *norm, &over);
        if (s || over)
            break;
        s = c->precondition(c->self, r, z);
        square = s ? 0 : dot(n, r, z);
        for (int64_t k = 0; k < n; k++)
            p[k] = z[k] + square / before * p[k];
    }
    mcr_free(c->ctx, r);
    return s;
}
