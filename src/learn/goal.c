/* goal.c: targets as numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/goal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/team.h"
#include "learn/svm_problem.h"

static void fill(mcr_goal *g, const mcr_data *data)
{
    if (g->task == MCR_REGRESS) {
        memcpy(g->y, mcr_data_target_table(data), sizeof *g->y * (size_t)(g->n * g->outputs));
        return;
    }
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t o = 0; o < g->outputs; o++)
            g->y[i * g->outputs + o] = g->class_of[i] == (g->outputs == 1 ? 1 : o) ? 1 : -1;
}

/* More distinct values than this, most of them with one object, are not classes. */
enum { MANY_CLASSES = 100 };

static bool has_task(const mcr *ctx, const char *learner)
{
    const mcr_learner_type *type = mcr_learner_find(ctx, learner);
    return type && type->task == MCR_EITHER;
}

static mcr_status set_task(mcr_goal *g, const mcr_data *data, const char *learner, int task,
                           const char *class_weight)
{
    bool words = mcr_data_target_kind(data) == MCR_WORD_TARGETS;
    g->task = task == MCR_TASK_CLASSIFY || (task == MCR_TASK_AUTO && words) ? MCR_CLASSIFY
                                                                            : MCR_REGRESS;
    int64_t classes = mcr_data_classes(data), targets = mcr_data_target_count(data);
    if (g->task == MCR_CLASSIFY && targets > 1)
        return mcr_advise(g->ctx,
                          mcr_fail(g->ctx, MCR_BAD_DATA,
                                   "%s: the data have %lld targets: several are learned as numbers "
                                   "only; name one of them to learn its classes",
                                   learner, (long long)targets),
                          "target");
    if (g->task == MCR_CLASSIFY && mcr_data_target_kind(data) == MCR_REAL_TARGETS &&
        classes > MANY_CLASSES && classes > g->n / 2 && !mcr_team_of_rows(g->ctx)) {
        bool either = has_task(g->ctx, learner);
        mcr_status s = mcr_fail(
            g->ctx, MCR_BAD_DATA,
            "%s: %lld classes in %lld objects; are the targets real numbers? Then use %s", learner,
            (long long)classes, (long long)g->n, either ? "task=regress" : "ridge or svr");
        return either ? mcr_advise(g->ctx, s, "option task=regress") : s;
    }
    if (g->task == MCR_CLASSIFY)
        return mcr_svm_need_classes(g->ctx, learner, data);
    if (class_weight)
        return mcr_advise(g->ctx,
                          mcr_fail(g->ctx, MCR_BAD_CALL,
                                   "%s: class-weight is for classes, and the targets are numbers: "
                                   "if they name classes, set task=classify",
                                   learner),
                          "option task=classify");
    return mcr_svm_need_numbers(g->ctx, learner, data);
}

mcr_status mcr_goal_open(mcr_goal *g, const mcr_learning *in, const char *learner, int task,
                         const char *class_weight)
{
    *g = (mcr_goal){.ctx = in->ctx, .n = mcr_data_count(in->data), .outputs = 1};
    mcr_status s = set_task(g, in->data, learner, task, class_weight);
    if (s)
        return s;
    g->rule = MCR_RULE_VALUE;
    if (g->task == MCR_CLASSIFY) {
        g->classes = mcr_data_classes(in->data);
        g->class_of = mcr_data_class_of(in->data);
        g->outputs = g->classes == 2 ? 1 : g->classes;
        g->rule = g->classes == 2 ? MCR_RULE_BINARY : MCR_RULE_LARGEST;
    } else {
        g->outputs = mcr_data_target_count(in->data);
    }
    g->y = mcr_alloc(g->ctx, (size_t)g->n, (size_t)g->outputs * sizeof *g->y);
    g->weight = mcr_alloc(g->ctx, (size_t)g->n, sizeof *g->weight);
    if (!g->y || !g->weight)
        return MCR_NO_MEMORY;
    fill(g, in->data);
    s = mcr_svm_weights(g->ctx, learner, in->data, class_weight, g->weight);
    for (int64_t i = 0; i < g->n && !s; i++)
        g->total += g->weight[i];
    return s ? s : mcr_team_sum(g->ctx, &g->total, 1);
}

void mcr_goal_close(mcr_goal *g)
{
    if (!g->ctx)
        return;
    mcr_free_all(g->ctx, g->y, g->weight);
    *g = (mcr_goal){0};
}

void mcr_goal_start(const mcr_goal *g, const mcr_fitted *start, double *coef)
{
    memset(coef, 0, sizeof *coef * (size_t)(g->n * g->outputs));
    if (!start || start->outputs != g->outputs || start->task != g->task)
        return;
    for (int64_t t = 0; t < start->segments; t++) {
        const mcr_segment *s = &start->segment[t];
        for (int64_t o = 0; o < s->outputs; o++)
            for (int64_t i = 0; i < s->count; i++) {
                int64_t at = start->object[s->first + i];
                if (at >= 0 && at < g->n)
                    coef[at * g->outputs + s->output[o]] += s->coef[o * s->count + i];
            }
    }
}

mcr_status mcr_goal_new(mcr_fitted **out, const mcr_goal *g)
{
    mcr_status s = mcr_fitted_new(out, g->ctx, g->outputs);
    if (s)
        return s;
    (*out)->task = g->task;
    (*out)->rule = g->rule;
    (*out)->classes = g->classes;
    return MCR_OK;
}

mcr_status mcr_goal_fitted(mcr_fitted **out, const mcr_goal *g, const double *coef)
{
    mcr_fitted *f = NULL;
    mcr_status s = mcr_goal_new(&f, g);
    if (!s)
        s = mcr_fitted_add_table(f, NULL, g->n, coef);
    return mcr_fitted_give(out, f, s);
}

mcr_status mcr_goal_report(const mcr_goal *g, mcr_fitted *fitted, const double *f)
{
    size_t all = (size_t)(g->n * g->outputs);
    if (g->task == MCR_REGRESS) {
        fitted->trained = mcr_alloc(g->ctx, all, sizeof *f);
        if (fitted->trained)
            memcpy(fitted->trained, f, sizeof *f * all);
        return fitted->trained ? MCR_OK : MCR_NO_MEMORY;
    }
    fitted->right = mcr_alloc(g->ctx, (size_t)g->n, 1);
    for (int64_t i = 0; i < g->n && fitted->right; i++)
        fitted->right[i] = mcr_fitted_decide(fitted, f + i * g->outputs, NULL, NULL) ==
                           g->class_of[i];
    return fitted->right ? MCR_OK : MCR_NO_MEMORY;
}

static bool all_zero(const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] != 0)
            return false;
    return true;
}

/* For a PSD kernel, K(x,x) = 0 for all objects is enough. Another function is multiplied by a
 * vector to which a row of non-zero values can be orthogonal only by chance. */
mcr_status mcr_fitted_remark_zero(mcr_fitted *f, mcr_gram *gram)
{
    int64_t n = mcr_gram_rows(gram);
    double *v = mcr_alloc(f->ctx, (size_t)n, 2 * sizeof *v);
    mcr_status s = v ? mcr_gram_diagonal(gram, 0, v) : MCR_NO_MEMORY;
    bool zero = !s && all_zero(v, n);
    if (zero && !mcr_gram_is_definite(gram)) {
        for (int64_t i = 0; i < n; i++)
            v[i] = 1 + 1 / (3.0 + (double)i);
        s = mcr_gram_multiply(gram, v, 1, v + n);
        zero = !s && all_zero(v + n, n);
    }
    mcr_free(f->ctx, v);
    return zero ? mcr_fitted_remark(f, "all kernel values are 0: nothing can be learned with this "
                                       "kernel from these objects")
                : s;
}

mcr_status mcr_fitted_remark_definite(mcr_fitted *f, const mcr_kernel *kernel)
{
    return mcr_kernel_definite(kernel, NULL) == MCR_PSD
               ? MCR_OK
               : mcr_fitted_remark(f, "the kernel is not known to be positive semidefinite: the "
                                      "result may not be the optimum");
}

mcr_status mcr_fitted_remark(mcr_fitted *f, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    size_t old = f->remark ? strlen(f->remark) : 0, length = old + strlen(text) + 3;
    char *both = mcr_alloc(f->ctx, length, 1);
    if (!both)
        return MCR_NO_MEMORY;
    snprintf(both, length, "%s%s%s", f->remark ? f->remark : "", old ? "; " : "", text);
    mcr_free(f->ctx, f->remark);
    f->remark = both;
    return MCR_OK;
}
