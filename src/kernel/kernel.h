/* kernel.h (internal): the expression tree, the registry, bound trees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_KERNEL_H
#define MCR_KERNEL_KERNEL_H

#include <stdbool.h>

#include <mercer/extend.h>
#include <mercer/kernel.h>

#include "base/context.h"
#include "base/rows.h"
#include "base/stream.h"
#include "data/data.h"
#include "linalg/tiles.h"

/* ---- WHAT: the tree (kernel.c, parse.c, print.c) ---------------------------------------------*/

struct mcr_kernel {
    mcr *ctx;
    int64_t owners; /* atomic */
    const mcr_kernel_type *type;
    void *params; /* value struct of type->params; NULL if it has none */
    char *field;  /* leaf: name of its field; NULL: the only one of a suitable kind */
    bool columns; /* field is a list in canonical form: several names, or patterns with * */
    int children;
    mcr_kernel **child; /* reference-counted */
    char *text;         /* canonical form; set for every node */
    int depth;          /* 1: a leaf */
    int64_t nodes;      /* nodes of the whole tree */
    int64_t bytes;      /* bytes of all its texts */
};

/* Larger expressions are refused, so that hostile ones cost little. Texts may be long, because they
 * contain vectors and matrices of parameters. */
enum {
    MCR_KERNEL_DEPTH_MAX = 100,
    MCR_KERNEL_NODES_MAX = 10000,
    MCR_KERNEL_TEXT_MAX = 1 << 24,
    MCR_KERNEL_TEXTS_MAX = 1 << 26 /* all nodes together */
};

/* mcr_kernel_parse for a text from a file. A parameter that names another file is refused with
 * MCR_BAD_DATA before anything is opened: an untrusted file must not reach the file system. */
mcr_status mcr_kernel_parse_foreign(mcr_kernel **out, mcr *ctx, const char *expression);
/* Takes ownership of params, field, and the references in child (the array is copied), even on
 * failure. Runs type->check and prints the canonical text. Nested sums and nested products become
 * one node; a sum or product of one kernel, or a first power, is that kernel itself. */
mcr_status mcr_kernel_new(mcr_kernel **out, mcr *ctx, const mcr_kernel_type *type, void *params,
                          char *field, mcr_kernel **child, int children);
/* The same for a leaf on several columns. */
mcr_status mcr_kernel_new_columns(mcr_kernel **out, mcr *ctx, const mcr_kernel_type *type,
                                  void *params, char *list);
/* Prints a field's name as in expressions: quoted unless it is a plain word. */
void mcr_kernel_print_field(const char *field, mcr_text *to);
/* The registry: built-in types in the order of kernels.def, then those of the context. */
const mcr_kernel_type *mcr_kernel_type_find(const mcr *ctx, const char *name, size_t length);
const mcr_kernel_type *mcr_kernel_type_at(const mcr *ctx, int64_t number); /* NULL: past the end */
/* The node's canonical form, from the texts of its children. */
void mcr_kernel_print(const mcr_kernel *kernel, mcr_text *to);
/* The closure rules on the tree; adds one line per node to rules (may be NULL), children first: the
 * node's text, the rule, the verdict ("linear: an inner product, PSD"), ended by a newline. A
 * type's `definite` gives the middle part only. Out of memory: the result is unknown, and
 * rules->status is set. */
mcr_definite mcr_kernel_definite(const mcr_kernel *kernel, mcr_text *rules);
/* `definite` of a type that is positive semi-definite for all parameters, and the reason. */
#define MCR_ALWAYS_PSD(function, why)                                                              \
    static mcr_definite function(const void *values, const mcr_definite *child, int children,      \
                                 const char **rule)                                                \
    {                                                                                              \
        (void)values;                                                                              \
        (void)child;                                                                               \
        (void)children;                                                                            \
        *rule = (why);                                                                             \
        return MCR_PSD;                                                                            \
    }
/* The same for a type that is PSD if its child is: the reason, and the text if the child is not. */
#define MCR_PSD_AS_CHILD(function, why, why_not)                                                   \
    static mcr_definite function(const void *values, const mcr_definite *child, int children,      \
                                 const char **rule)                                                \
    {                                                                                              \
        (void)values;                                                                              \
        (void)children;                                                                            \
        *rule = child[0] == MCR_PSD ? (why) : (why_not);                                           \
        return child[0] == MCR_PSD ? MCR_PSD : MCR_DEFINITE_UNKNOWN;                               \
    }

/* Parameters shared by several types; S: the value struct. A scale may be any positive number
 * (kernel/scales.h). */
#define MCR_SCALE_PARAM(S, member, kind, by_default, text)                                         \
    {                                                                                              \
        .name = #member, .type = (kind), .offset = offsetof(S, member), .standard = (by_default),  \
        .min = 0, .max = INFINITY, .flags = MCR_MIN_OPEN | MCR_MAX_OPEN, .help = (text)            \
    }
/* From `least` to `most`. */
#define MCR_RANGE_PARAM(S, member, kind, by_default, least, most, text)                            \
    {                                                                                              \
        .name = #member, .type = (kind), .offset = offsetof(S, member), .standard = (by_default),  \
        .min = (least), .max = (most), .help = (text)                                              \
    }
/* Any finite number. */
#define MCR_FINITE_PARAM(S, member, kind, by_default, text)                                        \
    {                                                                                              \
        .name = #member, .type = (kind), .offset = offsetof(S, member), .standard = (by_default),  \
        .min = -INFINITY, .max = INFINITY, .flags = MCR_MIN_OPEN | MCR_MAX_OPEN, .help = (text)    \
    }
#define MCR_MODE_PARAM(S)                                                                          \
    {                                                                                              \
        .name = "mode", .type = MCR_CHOICE, .offset = offsetof(S, mode), .standard = "presence",   \
        .choices = "presence|count",                                                               \
        .help = "presence: how many different ones in common; count: product of their numbers"     \
    }
/* Whether the node is a constant, and its value. */
bool mcr_kernel_is_constant(const mcr_kernel *kernel, double *value);
int64_t mcr_kernel_degree(const mcr_kernel *power); /* exponent of a power node */
/* A letter (any byte from 0x80 counts as one) or _, then letters, digits and _. */
bool mcr_kernel_name_valid(const char *name, size_t length);

/* A function on objects (mcr_function_register). */
enum { MCR_FUNCTION_NAME = 64 };
typedef struct mcr_function {
    char name[MCR_FUNCTION_NAME];
    mcr_object_function *call;
    void *user;
} mcr_function;

/* ---- HOW: the tree bound to data (bind.c) -----------------------------------------------------*/

struct mcr_bound {
    mcr *ctx;
    const mcr_kernel *kernel;
    const mcr_data *data[2]; /* x, z; the same pointer if symmetric */
    mcr_field field[2];      /* its field on each side, if any */
    bool same;
    int children;
    mcr_bound **child;
    void *state;
    double work; /* multiply-adds per value beyond those of other nodes: set by slow kernels */
    mcr_binding *binding;
    /* Set in bind by a vector leaf whose values linalg/tiles computes in one pass: alone in an
     * expression, it is summed without an intermediate tile. NULL: other leaves. Lives as long as
     * the binding (mcr_bound_alloc). */
    const struct mcr_fused *fused;
    /* Of a leaf that listed the features of its objects (kernel/features.h): the vectors, and their
     * names if the binding is `named`. */
    const mcr_store *listed[2];
    int64_t listed_count;
    struct mcr_names *names;
    struct mcr_selection *selection; /* for a leaf on columns (select.h); NULL: on a field */
};

/* A bound expression: root node, data shared by nodes, memory with its lifetime. */
struct mcr_binding {
    mcr *ctx;
    mcr_bound *root;
    struct mcr_vectors *vectors; /* list of shared vector products (vectors.h) */
    int shared_slots;            /* tiles that a scratch reserves for shared products */
    void **block;                /* mcr_bound_alloc'ed */
    int64_t blocks, block_capacity;
    size_t budget;       /* bytes taken from the budget, returned at the end */
    bool listing;        /* explicit features are wanted: leaves list them if possible */
    bool named;          /* with names */
    double most_entries; /* of these (mcr_features_open_few) */
    bool mixed;          /* a node computes in double even for float tiles: prepare both */
    mcr_error error[2];  /* for float and double tiles, once known */
    bool error_known[2];
};

/* The field that a leaf named `owner` uses in data: the one with the given name or, if name is
 * NULL, the only one of the kinds. wanted (may be NULL): preferred if several qualify. The error
 * message lists the fields. */
mcr_status mcr_field_choose(mcr_field *out, mcr *ctx, const char *owner, int kinds,
                            const char *name, const char *wanted, const mcr_data *data);
/* Binds the expression to x and z (z NULL: x with itself). Resolves the leaves' fields: a leaf
 * without a field takes the only field of a kind it accepts; otherwise the error lists the fields.
 * Fields must agree on both sides in name and kind (dense and sparse are compatible). */
mcr_status mcr_binding_open(mcr_binding **out, mcr *ctx, const mcr_kernel *kernel,
                            const mcr_data *x, const mcr_data *z);
/* The same for explicit features, with their names if `named`. */
mcr_status mcr_binding_open_listing(mcr_binding **out, mcr *ctx, const mcr_kernel *kernel,
                                    const mcr_data *x, const mcr_data *z, bool named);
void mcr_binding_close(mcr_binding *binding);
/* To be called once, from one thread, before tiles of this precision are computed (packs
 * vectors). */
mcr_status mcr_binding_prepare(mcr_binding *binding, bool precise);
/* The same for double tiles of few objects: columns are packed on demand. */
mcr_status mcr_binding_prepare_lists(mcr_binding *binding);

/* A bound of the rounding error of tiles of this precision. Requires a prepared precision;
 * thread-safe. */
mcr_status mcr_binding_error(mcr_binding *binding, bool precise, mcr_error *error);

mcr_status mcr_binding_extended(mcr_binding *binding, mcr_extended *to);
mcr_status mcr_binding_extended_error(mcr_binding *binding, mcr_error *error);

/* A tile of a node, at most MCR_TILE_ROWS x MCR_TILE_COLS. */
mcr_status mcr_bound_block(const mcr_bound *bound, const mcr_tile *tile);
/* A tile of any size. Products shared by leaves are recomputed for each part of it. */
mcr_status mcr_binding_block(const mcr_binding *binding, const mcr_tile *tile);
mcr_status mcr_bound_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k);

/* A scratch belongs to one worker. */
mcr_status mcr_scratch_open(mcr_scratch **out, const mcr_binding *binding);
void mcr_scratch_close(mcr_scratch *scratch);
/* Space for one shared product of the current tile: MCR_TILE_ROWS x MCR_TILE_COLS doubles (or
 * floats), 64-byte aligned. slot: 0 .. binding->shared_slots - 1, assigned in bind. **valid is
 * false at the first use for a tile; the caller that fills the space sets it. */
void *mcr_scratch_slot(mcr_scratch *scratch, int slot, bool **valid);

/* ---- tiles (tile.c) ---------------------------------------------------------------------------*/

const mcr_vmath *mcr_tile_math(const mcr_tile *tile);
/* A tile for the same objects in scratch memory. */
mcr_status mcr_tile_like(mcr_tile *out, const mcr_tile *tile, bool precise);
/* k *= sx[i] * sz[j], where i and j are the numbers of the objects; exactly symmetric in x and
 * z. */
mcr_status mcr_tile_scale(const mcr_tile *tile, const double *sx, const double *sz);
/* Whether a value is outside low .. high (or NaN), and its objects. */
bool mcr_tile_outside(const mcr_tile *tile, double low, double high, int64_t *x, int64_t *z);
mcr_tile mcr_tile_part(const mcr_tile *tile, int64_t i, int64_t rows, int64_t j, int64_t cols);

/* block and diagonal of sums and products (combine.c). */
mcr_status mcr_chain_block(const mcr_bound *bound, const mcr_tile *tile);
mcr_status mcr_chain_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k);

static inline void *mcr_tile_row(const mcr_tile *tile, int64_t i)
{
    return (char *)tile->k + (size_t)(i * tile->ld) * (tile->precise ? 8u : 4u);
}

static inline void mcr_tile_put(const mcr_tile *tile, int64_t i, int64_t j, double value)
{
    if (tile->precise)
        ((double *)mcr_tile_row(tile, i))[j] = value;
    else
        ((float *)mcr_tile_row(tile, i))[j] = (float)value;
}

#endif
