/* c_decide.c: from kernel values to scores, predictions, probabilities and standard deviations, as
 * C. The rules are those of learn/fitted.c and of learners with their own predictor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "export/c_text.h"
#include "learn/gp.h"

static bool needs_values(const mcr_portable *p)
{
    return p->finish == MCR_FINISH_KNN || p->finish == MCR_FINISH_VOTED ||
           p->finish == MCR_FINISH_GP;
}

bool mcr_c_has_label(const mcr_portable *p)
{
    return p->fitted->task != MCR_REGRESS;
}

/* ---- prototypes -------------------------------------------------------------------------------*/

static void put_prototype(mcr_c_writer *w, const char *type, const char *name, const char *out,
                          const char *end)
{
    mcr_c_put(w, "%s @_%s(", type, name);
    mcr_c_object(w, true);
    mcr_c_put(w, "%s)%s", out, end);
}

void mcr_c_prototypes(mcr_c_writer *w)
{
    const mcr_fitted *f = w->p->fitted;
    put_prototype(w, "void", "scores", ", @_real *out", ";\n");
    if (f->rule != MCR_RULE_COORDINATES)
        put_prototype(w, mcr_c_has_label(w->p) ? "int" : "@_real", "predict", "", ";\n");
    if (mcr_model_has_probability(w->p->model))
        put_prototype(w, "void", "proba", ", @_real *out", ";\n");
    if (mcr_model_has_std(w->p->model))
        put_prototype(w, "@_real", "std", "", ";\n");
    if (f->classes > 0)
        mcr_c_put(w, "const char *@_label(int number);\n");
}

/* ---- sums -------------------------------------------------------------------------------------*/

static void put_sum(mcr_c_writer *w)
{
    bool values = needs_values(w->p);
    mcr_c_put(w,
              "/* offset + sum of coefficient K, for each output. */\n"
              "static void @_sum(%s, @_real *out)\n{\n",
              values ? "const @_real *value" : "const @_object *x");
    if (!values)
        mcr_c_put(w, "    @_object z;\n    @_buffer buffer;\n");
    mcr_c_put(w,
              "    long at = 0;\n"
              "    for (@_index o = 0; o < $_OUTPUTS; o++)\n"
              "        out[o] = $_READ(@_offset + o);\n"
              "    for (@_index g = 0; g < %lld; g++)\n"
              "        for (@_index i = (@_index)$_READ_INDEX(@_segment + 4 * g); i < "
              "(@_index)$_READ_INDEX(@_segment + 4 * g + 1); i++) {\n"
              "            @_real k;\n",
              (long long)w->p->segments);
    if (values)
        mcr_c_put(w, "            k = value[i];\n");
    else
        mcr_c_put(w,
                  "            @_load(i, &z, &buffer);\n"
                  "            k = %s@_kernel(x, &z);\n",
                  w->p->second ? "g ? @_second(x, &z) : " : "");
    mcr_c_put(w, "            for (@_index t = (@_index)$_READ_INDEX(@_segment + 4 * g + 2); t < "
                 "(@_index)$_READ_INDEX(@_segment + 4 * g + 3); t++)\n"
                 "                out[$_READ_INDEX(@_output + t)] += $_READ(@_coef + at++) * k;\n"
                 "        }\n"
                 "}\n\n");
}

static void put_values(mcr_c_writer *w)
{
    mcr_c_put(w, "/* All kernel values. */\n"
                 "static void @_values(const @_object *x, @_real *k)\n{\n"
                 "    @_object z;\n    @_buffer buffer;\n"
                 "    for (@_index i = 0; i < $_SUPPORT; i++) {\n"
                 "        @_load(i, &z, &buffer);\n"
                 "        k[i] = @_kernel(x, &z);\n"
                 "    }\n}\n\n");
}

static void put_open(mcr_c_writer *w)
{
    mcr_c_put(w, "static void @_open(@_object *o, @_input *to, ");
    mcr_c_object(w, true);
    mcr_c_put(w, ")\n{\n    to->unused = 0;\n");
    if (w->p->parts > 0)
        mcr_c_put(w, "    @_prepare(x, to->v);\n    o->v = to->v;\n");
    for (int64_t t = 0; t < w->p->strings; t++)
        mcr_c_put(w,
                  "    o->text%lld = (const unsigned char *)text%lld;\n"
                  "    o->length%lld = length%lld;\n",
                  (long long)t, (long long)t, (long long)t, (long long)t);
    if (w->owns > 0)
        mcr_c_put(w, "    o->own = to->own;\n    @_measure(o, to->own);\n");
    mcr_c_put(w, "}\n\n");
}

/* ---- probabilities from scores ----------------------------------------------------------------*/

static void put_first_probability(mcr_c_writer *w)
{
    const mcr_fitted *f = w->p->fitted;
    mcr_c_reals(w, "curve", f->curve ? f->curve : f->slope, 2 * f->outputs);
    mcr_c_put(w, "\nstatic @_real @_odds(@_index o, @_real score)\n{\n    return %s;\n}\n\n",
              f->curve ? "$_READ(@_curve + 2 * o) * score + $_READ(@_curve + 2 * o + 1)"
                       : "$_READ(@_curve + 2 * o + (score < 0)) * score");
    if (f->rule == MCR_RULE_BINARY && f->curve)
        return;
    mcr_c_lines(w, "static @_real @_first(@_index o, @_real score)\n{\n"
                   "    @_real p = 1 / (1 + $_EXP(-@_odds(o, score)));\n"
                   "    return p < (@_real)1e-7 ? (@_real)1e-7 : p > 1 - (@_real)1e-7 ? 1 - "
                   "(@_real)1e-7 : p;\n"
                   "}\n\n");
}

static const char couple_text[] =
    "/* Pairwise coupling (Wu, Lin and Weng, 2004, second method). */\n"
    "static void @_probability(const @_real *score, @_real *p)\n{\n"
    "    enum { K = $_CLASSES };\n"
    "    @_real q[K][K], qp[K];\n"
    "    @_index o = 0;\n"
    "    for (@_index i = 0; i < K; i++) {\n"
    "        p[i] = 1 / (@_real)K;\n"
    "        q[i][i] = 0;\n"
    "    }\n"
    "    for (@_index i = 0; i < K; i++)\n"
    "        for (@_index j = i + 1; j < K; j++, o++) {\n"
    "            @_real a = @_first(o, score[o]), b = 1 - a;\n"
    "            q[i][i] += b * b;\n"
    "            q[j][j] += a * a;\n"
    "            q[i][j] = q[j][i] = -b * a;\n"
    "        }\n"
    "    for (int sweep = 0; sweep < 100; sweep++) {\n"
    "        @_real pqp = 0, worst = 0;\n"
    "        for (@_index i = 0; i < K; i++) {\n"
    "            qp[i] = 0;\n"
    "            for (@_index j = 0; j < K; j++)\n"
    "                qp[i] += q[i][j] * p[j];\n"
    "            pqp += p[i] * qp[i];\n"
    "        }\n"
    "        for (@_index i = 0; i < K; i++) {\n"
    "            @_real off = qp[i] > pqp ? qp[i] - pqp : pqp - qp[i];\n"
    "            worst = off > worst ? off : worst;\n"
    "        }\n"
    "        if (worst < $_COUPLED / (@_real)K)\n"
    "            return;\n"
    "        for (@_index t = 0; t < K; t++) {\n"
    "            @_real d = (pqp - qp[t]) / q[t][t];\n"
    "            p[t] += d;\n"
    "            pqp = (pqp + d * (d * q[t][t] + 2 * qp[t])) / ((1 + d) * (1 + d));\n"
    "            for (@_index j = 0; j < K; j++) {\n"
    "                qp[j] = (qp[j] + d * q[t][j]) / (1 + d);\n"
    "                p[j] /= 1 + d;\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n\n";

static const char normalise_text[] =
    "static void @_probability(const @_real *score, @_real *p)\n{\n"
    "    @_real sum = 0;\n"
    "    for (@_index c = 0; c < $_CLASSES; c++)\n"
    "        sum += p[c] = @_first(c, score[c]);\n"
    "    for (@_index c = 0; c < $_CLASSES; c++)\n"
    "        p[c] /= sum;\n"
    "}\n\n";

static const char softmax_text[] = "static void @_probability(const @_real *score, @_real *p)\n{\n"
                                   "    @_real most = score[0], sum = 0;\n"
                                   "    for (@_index o = 1; o < $_OUTPUTS; o++)\n"
                                   "        most = score[o] > most ? score[o] : most;\n"
                                   "    for (@_index c = 0; c < $_CLASSES; c++)\n"
                                   "        sum += p[c] = $_EXP(score[c] - most);\n"
                                   "    for (@_index c = 0; c < $_CLASSES; c++)\n"
                                   "        p[c] /= sum;\n"
                                   "}\n\n";

/* One output, for the second class. */
static void put_two(mcr_c_writer *w, const char *first)
{
    mcr_c_put(w,
              "static void @_probability(const @_real *score, @_real *p)\n{\n"
              "    @_real t = %s;\n"
              "    p[1] = 1 / (1 + $_EXP(-t));\n"
              "    p[0] = 1 / (1 + $_EXP(t));\n"
              "}\n\n",
              first);
}

static void put_probability(mcr_c_writer *w)
{
    const mcr_fitted *f = w->p->fitted;
    if (mcr_fitted_is_calibrated(f))
        put_first_probability(w);
    if (f->rule == MCR_RULE_BINARY && f->curve)
        put_two(w, "@_odds(0, score[0])");
    else if (f->rule == MCR_RULE_BINARY)
        mcr_c_lines(w, "static void @_probability(const @_real *score, @_real *p)\n{\n"
                       "    p[1] = @_first(0, score[0]);\n"
                       "    p[0] = 1 - p[1];\n"
                       "}\n\n");
    else if (f->rule == MCR_RULE_SOFTMAX && f->classes == 2)
        put_two(w, "score[0]");
    else
        mcr_c_lines(w, f->rule == MCR_RULE_SOFTMAX ? softmax_text
                       : f->rule == MCR_RULE_PAIRS ? couple_text
                                                   : normalise_text);
}

/* ---- decisions --------------------------------------------------------------------------------*/

static const char largest_text[] = "static int @_largest(const @_real *v, @_index count)\n{\n"
                                   "    @_index best = 0;\n"
                                   "    for (@_index c = 1; c < count; c++)\n"
                                   "        best = v[c] > v[best] ? c : best;\n"
                                   "    return (int)best;\n"
                                   "}\n\n";

static const char votes_text[] = "/* One against one: most votes, the first of equals. */\n"
                                 "static int @_decide(const @_real *score)\n{\n"
                                 "    @_index votes[$_CLASSES] = {0}, best = 0, o = 0;\n"
                                 "    for (@_index a = 0; a < $_CLASSES; a++)\n"
                                 "        for (@_index b = a + 1; b < $_CLASSES; b++, o++)\n"
                                 "            votes[score[o] > 0 ? a : b]++;\n"
                                 "    for (@_index c = 1; c < $_CLASSES; c++)\n"
                                 "        best = votes[c] > votes[best] ? c : best;\n"
                                 "    return (int)best;\n"
                                 "}\n\n";

static const char nearest_text[] =
    "/* The class whose mean is nearest. */\n"
    "static int @_decide(const @_real *score)\n{\n"
    "    @_index best = 0;\n"
    "    @_real least = 0;\n"
    "    for (@_index c = 0; c < $_MEANS; c++) {\n"
    "        @_real sum = 0;\n"
    "        for (@_index o = 0; o < $_OUTPUTS; o++) {\n"
    "            @_real d = score[o] - $_READ(@_mean + c * $_OUTPUTS + o);\n"
    "            sum += d * d;\n"
    "        }\n"
    "        if (c == 0 || sum < least) {\n"
    "            best = c;\n"
    "            least = sum;\n"
    "        }\n"
    "    }\n"
    "    return (int)$_READ_INDEX(@_class + best);\n"
    "}\n\n";

static mcr_status put_nearest(mcr_c_writer *w)
{
    const mcr_fitted *f = w->p->fitted;
    int64_t classes = 0;
    const double *number = mcr_fitted_find(f, "class", &classes), *mean;
    mcr_status s = mcr_fitted_need(&mean, f, "means", classes * f->outputs);
    int64_t *whole = s ? NULL : mcr_alloc(w->ctx, (size_t)classes + 1, sizeof *whole);
    if (s || !whole)
        return s ? s : MCR_NO_MEMORY;
    for (int64_t c = 0; c < classes; c++)
        whole[c] = (int64_t)number[c];
    mcr_c_put(w, "enum { $_MEANS = %lld };\n", (long long)classes);
    mcr_c_reals(w, "mean", mean, classes * f->outputs);
    mcr_c_ints(w, "@_index", "class", whole, classes);
    mcr_c_put(w, "\n");
    mcr_c_lines(w, nearest_text);
    mcr_free(w->ctx, whole);
    return w->status;
}

static void put_short(mcr_c_writer *w, const char *value)
{
    mcr_c_put(w, "static int @_decide(const @_real *score)\n{\n    return %s;\n}\n\n", value);
}

static mcr_status put_decide(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    const mcr_fitted *f = p->fitted;
    if (!mcr_c_has_label(p) || f->rule == MCR_RULE_COORDINATES)
        return MCR_OK;
    if (mcr_portable_by_probability(p) || f->rule == MCR_RULE_LARGEST ||
        (f->rule == MCR_RULE_SOFTMAX && f->classes > 2) || p->finish == MCR_FINISH_KNN)
        mcr_c_lines(w, largest_text);
    if (mcr_portable_by_probability(p))
        return MCR_OK;
    if (p->finish == MCR_FINISH_MEANS)
        return put_nearest(w);
    if (f->rule == MCR_RULE_PAIRS)
        mcr_c_lines(w, votes_text);
    else if (f->rule == MCR_RULE_SIGN)
        put_short(w, "score[0] >= 0 ? 1 : -1");
    else if (f->rule == MCR_RULE_BINARY && f->curve)
        put_short(w, "@_odds(0, score[0]) > 0");
    else if (f->outputs == 1 && f->rule != MCR_RULE_LARGEST && p->finish != MCR_FINISH_KNN)
        put_short(w, "score[0] > 0");
    else
        put_short(w, "@_largest(score, $_OUTPUTS)");
    return w->status;
}

/* ---- functions of the interface ---------------------------------------------------------------*/

/* Strings longer than the tables have no prediction. */
static void put_limit(mcr_c_writer *w, const char *answer)
{
    if (!mcr_c_has_limit(w->p))
        return;
    for (int64_t t = 0; t < w->p->strings; t++)
        mcr_c_put(w, "    if (length%lld > $_LONGEST)\n        %s;\n", (long long)t, answer);
}

/* Fills `score` (and the object and its kernel values, if these are kept). */
static void put_scoring(mcr_c_writer *w, const char *score)
{
    if (needs_values(w->p))
        mcr_c_put(w, "    @_open(&o, &input, ");
    else
        mcr_c_put(w, "    @_scores(");
    mcr_c_object(w, false);
    if (!needs_values(w->p)) {
        mcr_c_put(w, ", %s);\n", score);
        return;
    }
    mcr_c_put(w, ");\n    @_values(&o, k);\n");
    mcr_c_put(w,
              w->p->finish == MCR_FINISH_GP ? "    @_sum(k, %s);\n" : "    @_finish(&o, k, %s);\n",
              score);
}

static void put_locals(mcr_c_writer *w)
{
    if (needs_values(w->p))
        mcr_c_put(w, "    @_object o;\n    @_input input;\n    @_real k[$_SUPPORT];\n");
}

static void put_scores(mcr_c_writer *w)
{
    put_prototype(w, "void", "scores", ", @_real *out", "\n{\n");
    if (needs_values(w->p))
        put_locals(w);
    else if (w->p->basis > 0)
        mcr_c_put(w, "    @_object o;\n    @_input input;\n");
    if (mcr_c_has_limit(w->p)) {
        mcr_c_put(w, "    for (@_index i = 0; i < $_OUTPUTS; i++)\n        out[i] = NAN;\n");
        put_limit(w, "return");
    }
    if (needs_values(w->p)) {
        put_scoring(w, "out");
    } else if (w->p->basis > 0) {
        mcr_c_put(w, "    @_open(&o, &input, ");
        mcr_c_object(w, false);
        mcr_c_put(w, ");\n    @_sum(&o, out);\n");
    } else {
        for (int64_t t = 0; t < w->p->strings; t++)
            mcr_c_put(w, "    (void)text%lld;\n    (void)length%lld;\n", (long long)t,
                      (long long)t);
        mcr_c_put(w, w->p->inputs ? "    (void)x;\n" : "");
        mcr_c_put(w, "    for (@_index i = 0; i < $_OUTPUTS; i++)\n"
                     "        out[i] = $_READ(@_offset + i);\n");
    }
    mcr_c_put(w, "}\n\n");
}

static void put_proba(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    put_prototype(w, "void", "proba", ", @_real *out", "\n{\n");
    put_locals(w);
    mcr_c_put(w, "    @_real score[$_OUTPUTS];\n");
    if (mcr_c_has_limit(p)) {
        mcr_c_put(w, "    for (@_index i = 0; i < $_CLASSES; i++)\n        out[i] = NAN;\n");
        put_limit(w, "return");
    }
    put_scoring(w, "score");
    mcr_c_lines(w, p->finish == MCR_FINISH_GP ? "    @_probability(&o, k, score, out);\n"
                   : p->finish == MCR_FINISH_KNN
                       ? "    for (@_index i = 0; i < $_CLASSES; i++)\n        out[i] = score[i];\n"
                       : "    @_probability(score, out);\n");
    mcr_c_put(w, "}\n\n");
}

static void put_predict(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    bool label = mcr_c_has_label(p);
    put_prototype(w, label ? "int" : "@_real", "predict", "", "\n{\n");
    mcr_c_put(w, "    @_real score[$_%s];\n",
              mcr_portable_by_probability(p) ? "CLASSES" : "OUTPUTS");
    if (label)
        put_limit(w, "return -1");
    mcr_c_put(w, "    @_%s(", mcr_portable_by_probability(p) ? "proba" : "scores");
    mcr_c_object(w, false);
    mcr_c_put(w, ", score);\n    return %s;\n}\n\n",
              !label                           ? "score[0]"
              : mcr_portable_by_probability(p) ? "@_largest(score, $_CLASSES)"
                                               : "@_decide(score)");
}

static mcr_status put_std(mcr_c_writer *w)
{
    const double *scale;
    mcr_status s = mcr_fitted_need(&scale, w->p->fitted, MCR_GP_SCALE, 1);
    if (s)
        return s;
    put_prototype(w, "@_real", "std", "", "\n{\n");
    put_locals(w);
    put_limit(w, "return NAN");
    mcr_c_put(w, "    @_open(&o, &input, ");
    mcr_c_object(w, false);
    mcr_c_put(w,
              ");\n    @_values(&o, k);\n"
              "    return %s * $_SQRT(@_variance(&o, k, 0));\n}\n\n",
              mcr_c_number(w, *scale));
    return w->status;
}

static void put_labels(mcr_c_writer *w)
{
    const mcr_model *m = w->p->model;
    mcr_c_put(w, "static const char *const @_labels[%lld] = {", (long long)m->classes);
    for (int64_t c = 0; c < m->classes; c++) {
        mcr_text_string(&w->text, c ? ", \"" : "\"");
        for (const unsigned char *b = (const unsigned char *)m->class_name[c]; *b; b++)
            if (*b < 32 || *b > 126 || strchr("\"\\?", *b))
                mcr_text_format(&w->text, "\\%03o", *b);
            else
                mcr_text_add(&w->text, b, 1);
        mcr_text_string(&w->text, "\"");
    }
    mcr_c_put(w,
              "};\n\n"
              "const char *@_label(int number)\n{\n"
              "    return number >= 0 && number < %lld ? @_labels[number] : \"\";\n}\n\n",
              (long long)m->classes);
}

mcr_status mcr_c_decide(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    const mcr_fitted *f = p->fitted;
    bool proba = mcr_model_has_probability(p->model), gp = p->finish == MCR_FINISH_GP;
    mcr_status s = MCR_OK;
    if (p->finish != MCR_FINISH_KNN && p->finish != MCR_FINISH_VOTED)
        mcr_c_reals(w, "offset", f->offset, f->outputs);
    mcr_c_put(w, "\n");
    if (needs_values(p))
        put_values(w);
    if (p->basis > 0 && p->finish != MCR_FINISH_KNN && p->finish != MCR_FINISH_VOTED)
        put_sum(w);
    if (p->basis > 0)
        put_open(w);
    if (p->finish == MCR_FINISH_KNN)
        s = mcr_c_neighbours(w);
    else if (p->finish == MCR_FINISH_VOTED)
        s = mcr_c_voted(w);
    else if (gp && (proba || mcr_model_has_std(p->model)))
        s = mcr_c_posterior(w);
    if (!s && gp && proba)
        mcr_c_gp_probability(w);
    else if (!s && proba && p->finish != MCR_FINISH_KNN)
        put_probability(w);
    if (!s)
        put_scores(w);
    if (!s && proba)
        put_proba(w);
    if (!s)
        s = put_decide(w);
    if (!s && f->rule != MCR_RULE_COORDINATES)
        put_predict(w);
    if (!s && mcr_model_has_std(p->model))
        s = put_std(w);
    if (!s && f->classes > 0)
        put_labels(w);
    return s ? s : w->status;
}
