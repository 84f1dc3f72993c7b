/* c_finish.c: predictions beyond sums and a rule, as C: neighbours, voted perceptrons, Gaussian
 * processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "export/c_text.h"
#include "learn/online.h"

/* ---- neighbours and votes ---------------------------------------------------------------------*/

mcr_status mcr_c_neighbours(mcr_c_writer *w)
{
    const mcr_fitted *f = w->p->fitted;
    mcr_knn knn;
    mcr_status s = mcr_knn_find(&knn, f);
    if (s)
        return s;
    bool classify = f->task == MCR_CLASSIFY, by_distance = knn.by_distance;
    mcr_c_reals(w, "diagonal", knn.diagonal, f->basis);
    mcr_c_reals(w, "target", knn.target, f->basis);
    mcr_c_reals(w, "weight", knn.weight, f->basis);
    mcr_c_put(w,
              "\n/* The votes of the nearest; of equal distances the first is nearer. */\n"
              "static void @_finish(const @_object *x, const @_real *k, @_real *out)\n{\n"
              "    enum { NEAREST = %lld };\n"
              "    @_real near[NEAREST], sum = 0%s;\n"
              "    @_index who[NEAREST], held = 0;\n",
              (long long)knn.neighbors, classify ? "" : ", mean = 0");
    mcr_c_put(w, by_distance ? "    @_real own = @_kernel(x, x);\n    int exact = 0;\n"
                             : "    (void)x;\n");
    mcr_c_lines(w, "    for (@_index i = 0; i < $_SUPPORT; i++) {\n"
                   "        @_real d = $_READ(@_diagonal + i) - 2 * k[i];\n"
                   "        @_index h = held < NEAREST ? held++ : NEAREST - 1;\n"
                   "        if (held == NEAREST && i >= NEAREST && !(d < near[h]))\n"
                   "            continue;\n"
                   "        for (; h > 0 && d < near[h - 1]; h--) {\n"
                   "            near[h] = near[h - 1];\n"
                   "            who[h] = who[h - 1];\n"
                   "        }\n"
                   "        near[h] = d;\n"
                   "        who[h] = i;\n"
                   "    }\n"
                   "    for (@_index o = 0; o < $_OUTPUTS; o++)\n"
                   "        out[o] = 0;\n");
    if (by_distance)
        mcr_c_lines(w, "    for (@_index h = 0; h < held; h++)\n"
                       "        exact |= near[h] + own <= 0;\n");
    mcr_c_lines(w, "    for (@_index h = 0; h < held; h++) {\n"
                   "        @_real share = $_READ(@_weight + who[h]);\n");
    if (by_distance)
        mcr_c_lines(w, "        if (exact)\n"
                       "            share = near[h] + own > 0 ? 0 : share;\n"
                       "        else\n"
                       "            share /= $_SQRT(near[h] + own);\n");
    mcr_c_lines(w, "        sum += share;\n");
    mcr_c_lines(w, classify ? "        out[(int)$_READ(@_target + who[h])] += share;\n"
                            : "        mean += sum > 0 ? share / sum * ($_READ(@_target + who[h]) "
                              "- mean) : 0;\n");
    mcr_c_lines(w, "    }\n");
    mcr_c_lines(w, classify ? "    for (@_index o = 0; o < $_OUTPUTS && sum > 0; o++)\n"
                              "        out[o] /= sum;\n}\n\n"
                            : "    out[0] = mean;\n}\n\n");
    return w->status;
}

mcr_status mcr_c_voted(mcr_c_writer *w)
{
    static const char *const to[MCR_VOTE_LISTS] = {"mistake", "up", "down", "size", "lives"};
    mcr_voted voted = {0};
    double all = 0;
    mcr_status s = mcr_votes_find(&voted, w->p->fitted);
    int64_t count = voted.count;
    int64_t *whole = s ? NULL : mcr_alloc(w->ctx, (size_t)count + 1, sizeof *whole);
    if (!s && !whole)
        s = MCR_NO_MEMORY;
    bool two = w->p->fitted->outputs == 1;
    for (int l = 0; l < MCR_VOTE_LISTS && !s; l++) {
        for (int64_t m = 0; m < count; m++)
            whole[m] = (int64_t)voted.list[l][m];
        if (l >= MCR_VOTE_SIZE)
            mcr_c_reals(w, to[l], voted.list[l], count);
        else if (l == MCR_VOTE_OBJECT || !two)
            mcr_c_ints(w, "@_index", to[l], whole, count);
    }
    mcr_free(w->ctx, whole);
    if (s)
        return s;
    for (int64_t m = 0; m < count; m++)
        all += voted.list[MCR_VOTE_LIVES][m];
    mcr_c_put(w,
              "\n/* Each mistake made a perceptron, which votes with the steps that it lived. */\n"
              "static void @_finish(const @_object *x, const @_real *k, @_real *out)\n{\n"
              "    @_real f[$_OUTPUTS];\n"
              "    (void)x;\n"
              "    for (@_index o = 0; o < $_OUTPUTS; o++)\n"
              "        f[o] = out[o] = 0;\n"
              "    for (@_index m = 0; m < %lld; m++) {\n"
              "        @_real step = $_READ(@_size + m) * (k[$_READ_INDEX(@_mistake + m)] + %s);\n",
              (long long)count, mcr_c_number(w, *voted.bias));
    if (two)
        mcr_c_lines(w, "        f[0] += step;\n"
                       "        out[0] += f[0] > 0 ? $_READ(@_lives + m) : -$_READ(@_lives + m);\n"
                       "    }\n");
    else
        mcr_c_lines(w, "        @_index down = (@_index)$_READ_INDEX(@_down + m), best = 0;\n"
                       "        f[$_READ_INDEX(@_up + m)] += step;\n"
                       "        if (down >= 0)\n"
                       "            f[down] -= step;\n"
                       "        for (@_index o = 1; o < $_OUTPUTS; o++)\n"
                       "            best = f[o] > f[best] ? o : best;\n"
                       "        out[best] += $_READ(@_lives + m);\n"
                       "    }\n");
    mcr_c_put(w,
              "    for (@_index o = 0; o < $_OUTPUTS; o++)\n"
              "        out[o] /= %s;\n}\n\n",
              mcr_c_number(w, fmax(all, 1)));
    return w->status;
}

/* ---- Gaussian processes -----------------------------------------------------------------------*/

mcr_status mcr_c_posterior(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    int64_t n = p->basis, triangle = n * (n + 1) / 2, outputs = p->fitted->outputs;
    double *all = mcr_alloc(w->ctx, (uint64_t)(outputs * triangle) + 1, sizeof *all);
    mcr_status s = all ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t o = 0; o < outputs && !s; o++) {
        double *one = NULL;
        s = mcr_portable_posterior(&one, p, o);
        if (!s)
            memcpy(all + o * triangle, one, sizeof *all * (size_t)triangle);
        mcr_free(w->ctx, one);
    }
    if (!s) {
        mcr_c_reals(w, "root", all, outputs * triangle);
        mcr_c_lines(w, "\n/* Of the latent value; at: where the rows of its matrix begin. */\n"
                       "static @_real @_variance(const @_object *x, const @_real *k, long at)\n{\n"
                       "    @_real left = @_kernel(x, x);\n"
                       "    for (@_index i = 0; i < $_SUPPORT; i++) {\n"
                       "        @_real sum = 0;\n"
                       "        for (@_index j = 0; j <= i; j++)\n"
                       "            sum += $_READ(@_root + at++) * k[j];\n"
                       "        left -= sum * sum;\n"
                       "    }\n"
                       "    return left > 0 ? left : 0;\n"
                       "}\n\n");
    }
    mcr_free(w->ctx, all);
    return s ? s : w->status;
}

/* The mean of 1 / (1 + exp(-f)) for normal f, as in learn/gp_predict.c. */
void mcr_c_gp_probability(mcr_c_writer *w)
{
    int64_t n = w->p->basis, outputs = w->p->fitted->outputs;
    mcr_c_lines(w, "static @_real @_mean_logistic(@_real mean, @_real variance)\n{\n"
                   "    @_real s = $_SQRT(variance), h, sum = 0, all = 0;\n"
                   "    long half;\n"
                   "    h = 1 / (s > 4 ? s < 1000 ? s : 1000 : 4);\n"
                   "    half = (long)(8 / h);\n"
                   "    for (long t = -half; t <= half; t++) {\n"
                   "        @_real z = h * (@_real)t, weight = $_EXP(-z * z / 2);\n"
                   "        sum += weight / (1 + $_EXP(-(mean + s * z)));\n"
                   "        all += weight;\n"
                   "    }\n"
                   "    return sum / all;\n"
                   "}\n\n");
    mcr_c_put(w,
              "static void @_probability(const @_object *x, const @_real *k, const @_real *score, "
              "@_real *out)\n{\n"
              "    @_real sum = 0;\n"
              "    for (@_index o = 0; o < $_OUTPUTS; o++)\n"
              "        sum += out[o] = @_mean_logistic(score[o], @_variance(x, k, o * %lldL));\n",
              (long long)(n * (n + 1) / 2));
    mcr_c_lines(w, outputs == 1 ? "    out[1] = sum;\n    out[0] = 1 - sum;\n}\n\n"
                                : "    for (@_index o = 0; o < $_OUTPUTS; o++)\n"
                                  "        out[o] /= sum;\n}\n\n");
}
