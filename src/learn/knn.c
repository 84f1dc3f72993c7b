/* knn.c: the nearest neighbours in feature space.
 *
 * |Phi(x) - Phi(z)|^2 = K(x,x) + K(z,z) - 2 K(x,z). K(x,x) is the same for all neighbours z of x,
 * so the order of the neighbours needs only K(z,z), which is kept with the model: new objects of a
 * precomputed kernel, which have no K(x,x), have neighbours too. Of neighbours at the same distance
 * the one that comes first in the training data is nearer.
 *
 * A model is its objects; predictions go through blocks of K with a heap of the nearest so far for
 * each new object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/threads.h"
#include "learn/goal.h"

typedef struct params {
    int64_t neighbors;
    double time_limit;
    int task, vote, loo;
    char *class_weight;
} params;

enum { VOTE_UNIFORM, VOTE_DISTANCE };

static const mcr_param table[] = {
    {"neighbors", MCR_INT, offsetof(params, neighbors), "5", 1, 1000000, 0, NULL,
     "how many neighbours are used"},
    {"vote", MCR_CHOICE, offsetof(params, vote), "uniform", 0, 0, 0, "uniform|distance",
     "weight of a neighbour: equal for all, or 1 / distance"},
    MCR_TASK_PARAM(params),
    MCR_CLASS_WEIGHT_PARAM(params),
    {MCR_OPTION_LOO, MCR_FLAG, offsetof(params, loo), "no", 0, 0, 0, NULL,
     "compute the leave-one-out error"},
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the training ends without a model"),
    {0},
};

/* ---- the nearest of a block -------------------------------------------------------------------*/

typedef struct neighbour {
    double distance; /* squared, without K(x,x) */
    int64_t object;  /* of the basis */
} neighbour;

static bool is_farther(const neighbour *a, const neighbour *b)
{
    return a->distance > b->distance || (a->distance == b->distance && a->object > b->object);
}

/* The heap has the farthest on top. */
static void sink(neighbour *heap, int64_t count, int64_t at)
{
    for (;;) {
        int64_t child = 2 * at + 1, top = at;
        for (int64_t c = child; c < child + 2 && c < count; c++)
            if (is_farther(&heap[c], &heap[top]))
                top = c;
        if (top == at)
            return;
        neighbour kept = heap[at];
        heap[at] = heap[top];
        heap[top] = kept;
        at = top;
    }
}

static void lift(neighbour *heap, int64_t at)
{
    while (at > 0 && is_farther(&heap[at], &heap[(at - 1) / 2])) {
        neighbour kept = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = kept;
        at = (at - 1) / 2;
    }
}

enum { ROWS = 512, COLS = 1024, CHUNK = 16 };

/* What a model holds, and space for COLS new objects. */
typedef struct lookup {
    mcr *ctx;
    const mcr_fitted *fitted;
    mcr_knn kept;
    int64_t basis;
    bool among_others; /* the objects asked about are those of the basis: they are not neighbours of
                          themselves */
    double *k;         /* ROWS x COLS */
    neighbour *heap;   /* COLS x neighbors */
    int64_t *held;     /* in each heap */
    /* of the block */
    const mcr_query *to;
    double *own; /* K(x,x) of its objects; NULL: not needed */
    int64_t first, cols, row, rows;
} lookup;

static mcr_status collect_chunk(void *arg, int64_t first, int64_t end)
{
    lookup *u = arg;
    for (int64_t j = first; j < end; j++) {
        neighbour *heap = u->heap + j * u->kept.neighbors;
        int64_t held = u->held[j];
        for (int64_t r = 0; r < u->rows; r++) {
            neighbour n = {u->kept.diagonal[u->row + r] - 2 * u->k[r * COLS + j], u->row + r};
            if (u->among_others && n.object == u->first + j)
                continue;
            if (held < u->kept.neighbors) {
                heap[held] = n;
                lift(heap, held++);
            } else if (is_farther(&heap[0], &n)) {
                heap[0] = n;
                sink(heap, held, 0);
            }
        }
        u->held[j] = held;
    }
    return MCR_OK;
}

/* The share of a neighbour in the vote. With votes by distance one at distance 0 is alone with
 * others there, as the limit has it. */
static double vote_of(const lookup *u, int64_t i, const neighbour *n, bool exact)
{
    double w = u->kept.weight[n->object];
    if (!u->kept.by_distance)
        return w;
    double square = fmax(n->distance + u->own[i], 0);
    if (exact)
        return square > 0 ? 0 : w;
    return w / sqrt(square);
}

static void vote(const lookup *u, int64_t j)
{
    const mcr_fitted *f = u->fitted;
    int64_t outputs = f->outputs, i = u->first + j;
    const neighbour *heap = u->heap + j * u->kept.neighbors;
    double *score = u->to->score + i * outputs, sum = 0, mean = 0;
    bool exact = false;
    memset(score, 0, sizeof *score * (size_t)outputs);
    for (int64_t h = 0; h < u->held[j] && u->kept.by_distance; h++)
        exact |= u->kept.weight[heap[h].object] > 0 && heap[h].distance + u->own[i] <= 0;
    for (int64_t h = 0; h < u->held[j]; h++) {
        double share = vote_of(u, i, &heap[h], exact), target = u->kept.target[heap[h].object];
        sum += share;
        if (f->task == MCR_REGRESS)
            mean += sum > 0 ? share / sum * target - share / sum * mean : 0; /* never overflows */
        else
            score[(int64_t)target] += share;
    }
    for (int64_t o = 0; o < outputs && sum > 0; o++)
        score[o] /= sum;
    if (f->task == MCR_REGRESS)
        score[0] = mean;
    if (u->to->value && f->task == MCR_REGRESS)
        u->to->value[i] = score[0];
    if (u->to->value && f->task == MCR_CLASSIFY)
        u->to->value[i] = (double)mcr_largest(score, outputs);
    if (u->to->proba)
        memcpy(u->to->proba + i * outputs, score, sizeof *score * (size_t)outputs);
}

static mcr_status vote_chunk(void *arg, int64_t first, int64_t end)
{
    lookup *u = arg;
    for (int64_t j = first; j < end; j++)
        vote(u, j);
    return MCR_OK;
}

static mcr_status look(const lookup *u)
{
    double part = (double)u->row / (double)(u->basis + !u->basis);
    return mcr_part_done(u->ctx, u->among_others ? "knn" : "predict",
                         ((double)u->first + part * (double)u->cols) / (double)u->to->count, 0);
}

static mcr_status predict(const mcr_query *to)
{
    lookup *u = to->state;
    mcr_status s = MCR_OK;
    u->to = to;
    u->own = u->kept.by_distance ? mcr_alloc(u->ctx, (size_t)to->count, sizeof *u->own) : NULL;
    if (u->kept.by_distance)
        s = u->own ? mcr_gram_diagonal(to->gram, 1, u->own) : MCR_NO_MEMORY;
    for (u->first = 0; u->first < to->count && !s; u->first += COLS) {
        u->cols = to->count - u->first < COLS ? to->count - u->first : COLS;
        memset(u->held, 0, sizeof *u->held * COLS);
        for (u->row = 0; u->row < u->basis && !s; u->row += ROWS) {
            u->rows = u->basis - u->row < ROWS ? u->basis - u->row : ROWS;
            if ((s = look(u)))
                break;
            s = mcr_gram_block(to->gram, (mcr_rows){NULL, u->row, u->rows},
                               (mcr_rows){NULL, u->first, u->cols}, u->k, COLS);
            if (!s)
                s = mcr_parallel_chunks(u->ctx, u->cols, CHUNK, collect_chunk, u);
        }
        if (!s)
            s = mcr_parallel_chunks(u->ctx, u->cols, CHUNK, vote_chunk, u);
    }
    mcr_free(u->ctx, u->own);
    u->own = NULL;
    return s;
}

/* ---- a model as a file has it -----------------------------------------------------------------*/

static void close_lookup(mcr *ctx, void *state)
{
    lookup *u = state;
    if (!u)
        return;
    mcr_free_all(ctx, u->k, u->heap, u->held, u);
}

/* Numbers of classes, number of neighbours: everything that is read is checked. */
mcr_status mcr_knn_find(mcr_knn *out, const mcr_fitted *f)
{
    const double *how = NULL;
    mcr_status s = mcr_fitted_need(&how, f, "neighbors", 2);
    if (!s)
        s = mcr_fitted_need(&out->diagonal, f, "diagonal", f->basis);
    if (!s)
        s = mcr_fitted_need(&out->target, f, "targets", f->basis);
    if (!s)
        s = mcr_fitted_need(&out->weight, f, "weights", f->basis);
    if (s)
        return s;
    bool fine = how[0] >= 1 && how[0] <= 1e9 && f->basis > 0 &&
                f->outputs == (f->task == MCR_CLASSIFY ? f->classes : 1);
    for (int64_t i = 0; i < f->basis && fine; i++)
        fine = out->weight[i] > 0 && (f->task == MCR_REGRESS ||
                                      (out->target[i] >= 0 && out->target[i] < (double)f->classes));
    if (fine)
        out->neighbors = how[0] < (double)f->basis ? (int64_t)how[0] : f->basis;
    out->by_distance = how[1] == VOTE_DISTANCE;
    return fine ? MCR_OK
                : mcr_fail(f->ctx, MCR_BAD_DATA,
                           "the model is damaged (its neighbours do not fit); train it again");
}

static mcr_status open_lookup(void **out, mcr *ctx, const mcr_fitted *f, const mcr_kernel *kernel,
                              const mcr_data *basis)
{
    (void)kernel;
    (void)basis;
    lookup *u = mcr_alloc_zero(ctx, 1, sizeof *u);
    *out = NULL;
    if (!u)
        return MCR_NO_MEMORY;
    *u = (lookup){.ctx = ctx, .fitted = f, .basis = f->basis};
    mcr_status s = mcr_knn_find(&u->kept, f);
    if (!s) {
        u->k = mcr_alloc(ctx, ROWS, COLS * sizeof *u->k);
        u->heap = mcr_alloc(ctx, (size_t)u->kept.neighbors, COLS * sizeof *u->heap);
        u->held = mcr_alloc(ctx, COLS, sizeof *u->held);
        s = u->k && u->heap && u->held ? MCR_OK : MCR_NO_MEMORY;
    }
    if (s)
        close_lookup(ctx, u);
    else
        *out = u;
    return s;
}

/* ---- the learner ------------------------------------------------------------------------------*/

/* How far squared distances of near-by objects are below 0, as a share of their lengths: 0 up to
 * rounding for a PSD kernel. */
static mcr_status evaluate(mcr *ctx, mcr_gram *gram, const double *diagonal, double *worst,
                           double *error)
{
    enum { SIDE = 256 };
    int64_t n = mcr_gram_rows(gram), listed[SIDE];
    double *k = mcr_alloc(ctx, SIDE, SIDE * sizeof *k);
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    mcr_error r = {0, 0};
    if (!s)
        s = mcr_gram_error(gram, true, &r);
    *error = isfinite(r.absolute + r.relative) ? 2 * (r.absolute + r.relative) : 0;
    *worst = 0;
    for (int64_t first = 0; first < n && !s; first += SIDE) {
        int64_t count = n - first < SIDE ? n - first : SIDE;
        for (int64_t i = 0; i < count; i++)
            listed[i] = first + i; /* columns that are listed are packed for the block alone */
        s = mcr_gram_block(gram, (mcr_rows){NULL, first, count}, (mcr_rows){listed, 0, count}, k,
                           SIDE);
        for (int64_t i = 0; i < count && !s; i++)
            for (int64_t j = 0; j < count; j++) {
                double lengths = diagonal[first + i] + diagonal[first + j];
                double d = lengths - 2 * k[i * SIDE + j];
                *worst = fmax(*worst, d < 0 || i == j ? fabs(d) / fmax(fabs(lengths), 1e-300) : 0);
            }
    }
    mcr_free(ctx, k);
    return s;
}

/* The error of objects among the others. */
static mcr_status leave_out(mcr_fitted *f, const mcr_goal *g, mcr_gram *gram)
{
    void *state = NULL;
    double *score = mcr_alloc(f->ctx, (size_t)f->basis, (size_t)f->outputs * sizeof *score);
    double *value = mcr_alloc(f->ctx, (size_t)f->basis, sizeof *value), sum = 0;
    mcr_status s = score && value ? open_lookup(&state, f->ctx, f, NULL, NULL) : MCR_NO_MEMORY;
    if (!s) {
        lookup *u = state;
        u->among_others = true;
        s = predict(&(mcr_query){.ctx = f->ctx,
                                 .fitted = f,
                                 .state = u,
                                 .gram = gram,
                                 .count = f->basis,
                                 .score = score,
                                 .value = value});
        for (int64_t i = 0; i < f->basis; i++) {
            double e = value[i] - u->kept.target[i];
            sum += u->kept.weight[i] * (f->task == MCR_CLASSIFY ? e != 0 : e * e) / g->total;
        }
        close_lookup(f->ctx, state);
    }
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_LOO, &sum, 1);
    mcr_free_all(f->ctx, score, value);
    return s;
}

/* Objects with a weight, and what the predictor needs of them. */
static mcr_status keep_objects(mcr_fitted *f, const mcr_goal *g, const params *o)
{
    double *number = mcr_alloc(f->ctx, (size_t)g->n, sizeof *number);
    int64_t *object = mcr_alloc(f->ctx, (size_t)g->n, sizeof *object), count = 0;
    mcr_status s = number && object ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < g->n && !s; i++)
        if (g->weight[i] > 0)
            object[count++] = i;
    if (!s && count < o->neighbors)
        s = mcr_advise(
            f->ctx,
            mcr_fail(f->ctx, MCR_BAD_DATA,
                     "knn: %lld neighbours, but only %lld object%s%s: use fewer neighbours",
                     (long long)o->neighbors, (long long)count, count == 1 ? "" : "s",
                     count < g->n ? " with a weight" : ""),
            "option neighbors");
    if (!s)
        s = mcr_fitted_add(f, object, count, NULL, 0, NULL);
    for (int64_t i = 0; i < count && !s; i++)
        number[i] = g->class_of ? g->class_of[object[i]] : g->y[object[i]];
    if (!s)
        s = mcr_fitted_keep(f, "targets", number, count);
    for (int64_t i = 0; i < count && !s; i++)
        number[i] = g->weight[object[i]];
    if (!s)
        s = mcr_fitted_keep(f, "weights", number, count);
    if (!s)
        s = mcr_fitted_keep(f, "neighbors", (const double[]){(double)o->neighbors, o->vote}, 2);
    mcr_free_all(f->ctx, number, object);
    return s;
}

static mcr_status fill(mcr_fitted *f, const mcr_goal *g, const mcr_learning *in)
{
    const params *o = in->params;
    mcr_data *basis = NULL;
    mcr_gram *gram = NULL;
    double *diagonal = NULL;
    mcr_status s = keep_objects(f, g, o);
    mcr_rows rows = {f->object, 0, f->basis};
    if (!s && in->gram)
        s = mcr_gram_select_both(&gram, in->gram, rows);
    else if (!s && !(s = mcr_data_select(&basis, in->data, rows)))
        s = mcr_gram_open(&gram, in->ctx, in->kernel, basis, NULL);
    if (!s && !(diagonal = mcr_alloc(in->ctx, (size_t)f->basis, sizeof *diagonal)))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(gram, 0, diagonal);
    if (!s)
        s = mcr_fitted_keep(f, "diagonal", diagonal, f->basis);
    if (!s)
        s = evaluate(in->ctx, gram, diagonal, &f->value, &f->value_error);
    f->tolerance = 1e-9; /* what rounding may do */
    f->stop = f->value <= f->tolerance ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    if (!s)
        s = mcr_fitted_remark_zero(f, gram);
    if (!s && o->loo)
        s = leave_out(f, g, gram);
    mcr_free(in->ctx, diagonal);
    mcr_gram_close(gram);
    mcr_data_free(basis);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    mcr_goal goal;
    mcr_fitted *f = NULL;
    mcr_status s = mcr_goal_open(&goal, in, "knn", o->task, o->class_weight);
    if (!s)
        s = mcr_fitted_new(&f, in->ctx, goal.task == MCR_CLASSIFY ? goal.classes : 1);
    if (!s) {
        f->task = goal.task;
        f->rule = MCR_RULE_OWN;
        f->classes = goal.classes;
        f->iterations = 1;
        f->certificate = "squared distance below 0";
        s = fill(f, &goal, in);
    }
    mcr_goal_close(&goal);
    return mcr_fitted_give(out, f, s);
}

static const mcr_predictor predictor = {
    .gives = MCR_GIVES_PROBA,
    .open = open_lookup,
    .close = close_lookup,
    .block = predict,
};

const mcr_learner_type mcr_learner_knn = {
    .name = "knn",
    .summary = "nearest neighbours by distance in feature space",
    .task = MCR_EITHER,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .no_checkpoint = "it keeps the objects, and there is nothing to compute",
    .usual = {.option = "neighbors", .range = "1:31:16"},
    .no_primal = "it compares distances to objects, and has no weights",
    .predictor = &predictor,
};
