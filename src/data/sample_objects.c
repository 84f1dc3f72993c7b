/* sample_objects.c: synthetic data sets of strings and graphs.
 *
 * In both, letters and atoms are equally frequent in the two classes; only their arrangement
 * determines the class.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/sample.h"

#include <string.h>

/* ---- sequences ------------------------------------------------------------------------------ */

static const char MOTIF[] = "TGACTCAT";
enum { MOTIF_LENGTH = sizeof MOTIF - 1, SEQUENCE_MIN = 60, SEQUENCE_MAX = 100 };
static const char BASES[] = "ACGT";

/* Two bits per letter. */
static void draw_bases(mcr_random *r, char *to, int64_t count)
{
    for (int64_t i = 0; i < count;) {
        uint64_t bits = mcr_random_bits(r);
        for (int k = 0; k < 32 && i < count; k++, bits >>= 2)
            to[i++] = BASES[bits & 3];
    }
}

static void shuffle_letters(mcr_random *r, char *letters, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = (int)mcr_random_below(r, i + 1);
        char swap = letters[i];
        letters[i] = letters[j];
        letters[j] = swap;
    }
}

/* One sequence; returns its length. */
static int64_t draw_sequence(mcr_random *r, bool positive, double mutation, char *to)
{
    int64_t length = SEQUENCE_MIN + mcr_random_below(r, SEQUENCE_MAX - SEQUENCE_MIN + 1);
    char planted[MOTIF_LENGTH];
    draw_bases(r, to, length);
    memcpy(planted, MOTIF, MOTIF_LENGTH);
    while (!positive && memcmp(planted, MOTIF, MOTIF_LENGTH) == 0)
        shuffle_letters(r, planted, MOTIF_LENGTH);
    for (int i = 0; i < MOTIF_LENGTH; i++)
        if (mcr_random_uniform(r) < mutation) {
            int64_t base = strchr(BASES, planted[i]) - BASES;
            planted[i] = BASES[(base + 1 + mcr_random_below(r, 3)) & 3];
        }
    memcpy(to + mcr_random_below(r, length - MOTIF_LENGTH + 1), planted, MOTIF_LENGTH);
    return length;
}

/* A store with capacity for `count` sequences of the largest length. */
static mcr_status open_sequences(mcr_store **out, mcr_sample_job *job)
{
    mcr_status status = mcr_store_new(out, job->ctx, "sequence", MCR_STRINGS);
    if (status != MCR_OK)
        return status;
    mcr_store *s = *out;
    s->count = job->count;
    s->start = mcr_alloc(job->ctx, (size_t)job->count + 1, sizeof *s->start);
    s->bytes = mcr_alloc(job->ctx, (size_t)job->count, SEQUENCE_MAX);
    if (!s->start || !s->bytes)
        return MCR_NO_MEMORY;
    s->start[0] = 0;
    return MCR_OK;
}

static void add_sequence(mcr_store *s, mcr_random *r, int64_t i, bool positive, double mutation)
{
    s->start[i + 1] = s->start[i] + draw_sequence(r, positive, mutation, s->bytes + s->start[i]);
}

/* ---- molecules ------------------------------------------------------------------------------ */

enum { CARBON, NITROGEN, OXYGEN, SULPHUR, ELEMENTS };
static const char *const element_name[ELEMENTS] = {"C", "N", "O", "S"};
static const int element_bonds[ELEMENTS] = {4, 3, 2, 2};

enum { RING = 6, GROUP = 3, CHAIN_MIN = 3, CHAIN_MAX = 12 };
enum { ATOMS_MAX = RING + GROUP + CHAIN_MAX, BONDS_MAX = ATOMS_MAX };

typedef struct molecule {
    int atoms, bonds;
    int32_t element[ATOMS_MAX];
    int open[ATOMS_MAX]; /* free valences of an atom */
    int32_t bond[BONDS_MAX][2];
    int32_t order[BONDS_MAX]; /* 1: single, 2: double */
} molecule;

static int add_atom(molecule *m, int32_t element)
{
    m->element[m->atoms] = element;
    m->open[m->atoms] = element_bonds[element];
    return m->atoms++;
}

static void add_bond(molecule *m, int a, int b, int32_t order)
{
    m->bond[m->bonds][0] = a;
    m->bond[m->bonds][1] = b;
    m->order[m->bonds++] = order;
    m->open[a] -= order;
    m->open[b] -= order;
}

/* A random atom among first .. end-1 with a free valence. There is always one: an atom of the chain
 * takes one free valence and brings at least one, and the group never uses up the ring's six. */
static int draw_open(const molecule *m, mcr_random *r, int first, int end)
{
    int open = 0;
    for (int a = first; a < end; a++)
        open += m->open[a] > 0;
    int64_t left = mcr_random_below(r, open);
    for (int a = first;; a++)
        if (m->open[a] > 0 && left-- == 0)
            return a;
}

static void add_group(molecule *m, int at)
{
    int nitrogen = add_atom(m, NITROGEN);
    add_bond(m, at, nitrogen, 1);
    m->open[nitrogen] = 3; /* as N+ in a nitro group */
    add_bond(m, nitrogen, add_atom(m, OXYGEN), 2);
    int oxygen = add_atom(m, OXYGEN);
    add_bond(m, nitrogen, oxygen, 1);
    m->open[oxygen] = 0; /* as O- */
}

static void add_chain(molecule *m, mcr_random *r, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t u = mcr_random_below(r, 10);
        int32_t element = u < 7 ? CARBON : (int32_t)(u - 6);
        int at = i == 0 ? draw_open(m, r, 0, RING) : draw_open(m, r, 0, m->atoms);
        add_bond(m, at, add_atom(m, element), 1);
    }
}

static void draw_molecule(molecule *m, mcr_random *r, bool positive)
{
    int chain = CHAIN_MIN + (int)mcr_random_below(r, CHAIN_MAX - CHAIN_MIN + 1);
    m->atoms = m->bonds = 0;
    for (int i = 0; i < RING; i++)
        add_atom(m, CARBON);
    for (int i = 0; i < RING; i++)
        add_bond(m, i, (i + 1) % RING, 1 + i % 2);
    if (positive)
        add_group(m, draw_open(m, r, 0, RING));
    int first = m->atoms;
    add_chain(m, r, chain);
    if (!positive)
        add_group(m, draw_open(m, r, first, m->atoms));
}

/* Molecules being stored. */
typedef struct graphs {
    mcr_store *store;
    int64_t *edge_start;
    int32_t (*edge)[2];
    int32_t *edge_label;
} graphs;

static mcr_status open_graphs(graphs *g, mcr_sample_job *job)
{
    mcr *ctx = job->ctx;
    size_t n = (size_t)job->count;
    mcr_status status = mcr_store_new(&g->store, ctx, "molecule", MCR_GRAPHS);
    if (status != MCR_OK)
        return status;
    mcr_store *s = g->store;
    s->count = job->count;
    s->start = mcr_alloc(ctx, n + 1, sizeof *s->start);
    s->node_label = mcr_alloc(ctx, n, ATOMS_MAX * sizeof *s->node_label);
    s->label_name = mcr_alloc_zero(ctx, ELEMENTS, sizeof *s->label_name);
    g->edge_start = mcr_alloc(ctx, n + 1, sizeof *g->edge_start);
    g->edge = mcr_alloc(ctx, n, BONDS_MAX * sizeof *g->edge);
    g->edge_label = mcr_alloc(ctx, n, BONDS_MAX * sizeof *g->edge_label);
    if (!s->start || !s->node_label || !s->label_name || !g->edge_start || !g->edge ||
        !g->edge_label)
        return MCR_NO_MEMORY;
    s->label_names = ELEMENTS;
    for (int i = 0; i < ELEMENTS; i++) {
        s->label_name[i] = mcr_copy_text(ctx, element_name[i], 1);
        if (!s->label_name[i])
            return MCR_NO_MEMORY;
    }
    s->start[0] = g->edge_start[0] = 0;
    return MCR_OK;
}

static void close_graphs(graphs *g, mcr *ctx)
{
    mcr_store_free(g->store);
    mcr_free_all(ctx, g->edge_start, g->edge, g->edge_label);
}

/* Atoms are numbered at random, so that numbers do not reveal the part they belong to. */
static void add_graph(graphs *g, mcr_random *r, int64_t i, bool positive)
{
    molecule m;
    int64_t number[ATOMS_MAX];
    draw_molecule(&m, r, positive);
    for (int a = 0; a < m.atoms; a++)
        number[a] = a;
    mcr_random_shuffle(r, number, m.atoms);
    int64_t node = g->store->start[i], edge = g->edge_start[i];
    for (int a = 0; a < m.atoms; a++)
        g->store->node_label[node + number[a]] = m.element[a];
    for (int b = 0; b < m.bonds; b++, edge++) {
        g->edge[edge][0] = (int32_t)number[m.bond[b][0]];
        g->edge[edge][1] = (int32_t)number[m.bond[b][1]];
        g->edge_label[edge] = m.order[b];
    }
    g->store->start[i + 1] = node + m.atoms;
    g->edge_start[i + 1] = edge;
}

static mcr_status take_graphs(graphs *g, mcr_builder *builder)
{
    mcr_status status = mcr_store_link(g->store, g->edge_start, (const int32_t(*)[2])g->edge,
                                       g->edge_label);
    mcr_store *store = g->store;
    g->store = NULL;
    return mcr_builder_take_filled(builder, store, status);
}

/* ---- the sets ------------------------------------------------------------------------------- */

static bool chance(mcr_random *r, double probability)
{
    return mcr_random_uniform(r) < probability;
}

mcr_status mcr_sample_motifs(mcr_sample_job *job)
{
    mcr_sample_dealer dealer = {.count = 2};
    mcr_store *store = NULL;
    double *target = mcr_alloc(job->ctx, (size_t)job->count, sizeof *target);
    mcr_status status = target ? open_sequences(&store, job) : MCR_NO_MEMORY;
    for (int64_t i = 0; status == MCR_OK && i < job->count; i++) {
        bool positive = mcr_sample_deal(&dealer, &job->random) == 0;
        add_sequence(store, &job->random, i, positive, job->noise);
        target[i] = positive ? 1 : -1;
    }
    return mcr_sample_finish(job, status, store, target);
}

mcr_status mcr_sample_molecules(mcr_sample_job *job)
{
    mcr_sample_dealer dealer = {.count = 2};
    graphs g = {0};
    double *target = mcr_alloc(job->ctx, (size_t)job->count, sizeof *target);
    mcr_status status = target ? open_graphs(&g, job) : MCR_NO_MEMORY;
    for (int64_t i = 0; status == MCR_OK && i < job->count; i++) {
        bool positive = mcr_sample_deal(&dealer, &job->random) == 0;
        add_graph(&g, &job->random, i, positive);
        target[i] = positive != chance(&job->random, job->noise) ? 1 : -1;
    }
    if (status == MCR_OK)
        status = take_graphs(&g, job->builder);
    if (status == MCR_OK)
        status = mcr_builder_targets(job->builder, target);
    close_graphs(&g, job->ctx);
    mcr_free(job->ctx, target);
    return status;
}

enum { MIXED_COLUMNS = 5 };

typedef struct mixed {
    mcr_store *x, *sequences;
    graphs molecules;
    double *target;
} mixed;

static mcr_status open_mixed(mixed *m, mcr_sample_job *job)
{
    m->target = mcr_alloc(job->ctx, (size_t)job->count, sizeof *m->target);
    mcr_status status = m->target ? MCR_OK : MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = mcr_store_new(&m->x, job->ctx, "x", MCR_DENSE);
    if (status == MCR_OK)
        status = open_sequences(&m->sequences, job);
    if (status == MCR_OK)
        status = open_graphs(&m->molecules, job);
    if (status != MCR_OK)
        return status;
    m->x->count = job->count;
    m->x->cols = MIXED_COLUMNS;
    return mcr_store_alloc_dense(m->x);
}

/* Each field independently shows the class or, with probability `noise`, the other one. In x the
 * class shifts the first two columns by one standard deviation. */
static void add_mixed(mixed *m, mcr_sample_job *job, int64_t i, bool positive)
{
    mcr_random *r = &job->random;
    bool shown = positive != chance(r, job->noise);
    double *x = m->x->dense + i * MIXED_COLUMNS;
    for (int j = 0; j < MIXED_COLUMNS; j++)
        x[j] = mcr_random_normal(r) + (j >= 2 ? 0 : shown ? 1 : -1);
    add_sequence(m->sequences, r, i, positive != chance(r, job->noise), 0);
    add_graph(&m->molecules, r, i, positive != chance(r, job->noise));
    m->target[i] = positive ? 1 : -1;
}

mcr_status mcr_sample_mixed(mcr_sample_job *job)
{
    mcr_sample_dealer dealer = {.count = 2};
    mixed m = {0};
    mcr_status status = open_mixed(&m, job);
    for (int64_t i = 0; status == MCR_OK && i < job->count; i++)
        add_mixed(&m, job, i, mcr_sample_deal(&dealer, &job->random) == 0);
    status = mcr_builder_take_filled(job->builder, m.x, status);
    status = mcr_builder_take_filled(job->builder, m.sequences, status);
    if (status == MCR_OK)
        status = take_graphs(&m.molecules, job->builder);
    if (status == MCR_OK)
        status = mcr_builder_targets(job->builder, m.target);
    close_graphs(&m.molecules, job->ctx);
    mcr_free(job->ctx, m.target);
    return status;
}
