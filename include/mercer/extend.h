/* extend.h: for people who add kernels (and functions of objects) in C.
 *
 * A kernel type says how one node of an expression works. The built-in ones are registered by one
 * line in src/kernel/kernels.def; a program registers its own with mcr_kernel_register and can then
 * use it in any expression, with any learner. docs/extending.md walks through an example.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_EXTEND_H
#define MERCER_EXTEND_H

#include <mercer/data.h>
#include <mercer/features.h>
#include <mercer/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the closure rules know of a node's Gram matrices. */
typedef enum mcr_definite {
    MCR_DEFINITE_UNKNOWN = 0,
    MCR_PSD,       /* always positive semidefinite: a kernel */
    MCR_NSD,       /* always negative semidefinite, and not zero */
    MCR_INDEFINITE /* not positive semidefinite for some objects, known in general */
} mcr_definite;

typedef struct mcr_bound mcr_bound;     /* a node bound to the data of x and z */
typedef struct mcr_binding mcr_binding; /* what the nodes of one expression share while bound */
typedef struct mcr_scratch mcr_scratch; /* one worker's temporary memory */

/* A tile of kernel values to fill: k[i*ld + j] = K(x.i, z.j), double if `precise`, else float. */
typedef struct mcr_tile {
    mcr_rows x, z;
    int precise;
    void *k;
    int64_t ld;
    mcr_scratch *scratch;
} mcr_tile;

typedef struct mcr_kernel_type {
    size_t size; /* sizeof(mcr_kernel_type) */
    const char *name, *summary;
    int kinds;                      /* leaf: bits of mcr_kind it accepts; 0: a combinator */
    int min_children, max_children; /* combinator: how many kernels it takes */
    const mcr_param *params;        /* NULL: none */
    size_t params_size;             /* of the value struct */
    int indefinite;                 /* not PSD for all parameters: said in listings */

    /* After parsing: test the parameters together and bring them to one canonical form. NULL: fine
     * as they are. Fails with a message that begins with the kernel's name. */
    mcr_status (*check)(mcr *ctx, void *params);
    /* What the closure rules say; *rule: why, a few words ("an inner product"). NULL: MCR_PSD for a
     * leaf that is not `indefinite`. */
    mcr_definite (*definite)(const void *params, const mcr_definite *child, int children,
                             const char **rule);
    /* Once for each pair of data sets: norms, k-mers, labels. Leaves mcr_bound_state() for block. */
    mcr_status (*bind)(mcr_bound *bound, mcr_binding *binding);
    /* Called if the state is set, also after a bind that failed. */
    void (*unbind)(mcr_bound *bound);
    /* Fills a tile. Called by several threads at once; allocates only from the tile's scratch. NULL:
     * `pair` is called for every pair. */
    mcr_status (*block)(const mcr_bound *bound, const mcr_tile *tile);
    double (*pair)(const mcr_bound *bound, int64_t i, int64_t j);
    /* K(x,x) for objects of one side (0: x, 1: z). NULL: through pair or block. */
    mcr_status (*diagonal)(const mcr_bound *bound, int side, mcr_rows rows, double *k);
    /* The objects' explicit feature vectors, after bind; see mcr_features_resize. NULL: the kernel has
     * no finite map. */
    mcr_status (*features)(const mcr_bound *bound, mcr_features *features);
    /* For learners that look for the best scales (parameters that may be any positive number): adds
     * the sum of d[i*ld + j] times the derivative of K(x.i, z.j) by the logarithm of each scale,
     * over the tile's objects (its k is not used), to slope: first the node's own scales in the
     * order of its parameters, a list being as many as it has values, then those of its children.
     * In double, whatever the tile says. NULL: derivatives are computed from differences, two
     * matrices per scale. */
    mcr_status (*gradient)(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope);
    void *user; /* mcr_bound_user */
} mcr_kernel_type;

/* The struct is copied; its texts, tables and functions must outlive the context. A name that exists
 * is refused. */
MCR_API mcr_status mcr_kernel_register(mcr *ctx, const mcr_kernel_type *type);

/* ---- a kernel by one function -------------------------------------------------------------------
 *
 * For bindings: no tiles, no binding, only values from objects. */

/* Some objects of a data set: object[0 .. count-1], numbers from 0. The leaf reads field `field`:
 * mcr_data_vector, mcr_data_entries, mcr_data_string. */
typedef struct mcr_objects {
    size_t size; /* of what the library made */
    const mcr_data *data;
    int64_t field;
    const int64_t *object;
    int64_t count;
} mcr_objects;

typedef struct mcr_callback {
    size_t size;                /* sizeof(mcr_callback) */
    const char *name, *summary; /* copied; a name has up to 63 letters, digits and _ */
    int kinds;                  /* bits of mcr_kind that it accepts */
    int indefinite;             /* 1: not known to be positive semidefinite */
    /* 1: the functions may be called by several threads at once. 0: only the thread that calls the
     * library calls them; the whole context then computes in that thread from now on. */
    int thread_safe;
    /* One of the two. block: k[i * z->count + j] = K(x.i, z.j), for as many as a few thousand values
     * at once. pair: one value, of object i of x and object j of z. K(x,z) and K(z,x) must be the
     * same. Another status than MCR_OK ends the call with it. */
    mcr_status (*block)(void *user, const mcr_objects *x, const mcr_objects *z, double *k);
    mcr_status (*pair)(void *user, const mcr_data *x, int64_t x_field, int64_t i, const mcr_data *z,
                       int64_t z_field, int64_t j, double *k);
    /* Called once, by mcr_close, or before a registration that fails returns; NULL: not wanted. */
    void (*release)(void *user);
    void *user;
} mcr_callback;
/* Registers the function as a leaf of that name. Models save the name only. */
MCR_API mcr_status mcr_kernel_callback(mcr *ctx, const mcr_callback *callback);

/* A function of an object, for conformal(K, f=NAME): f(x) K(x,z) f(z). Called once an object while
 * binding; i is the object's number in data. */
typedef mcr_status mcr_object_function(void *user, const mcr_data *data, int64_t i, double *value);
MCR_API mcr_status mcr_function_register(mcr *ctx, const char *name, mcr_object_function *function,
                                         void *user);

/* For check, bind, block, functions of objects: sets the message of a failure (one line that says
 * what to do) and returns status. */
MCR_API mcr_status mcr_message_set(mcr *ctx, mcr_status status, const char *line);

/* ---- inside bind, block, pair ----------------------------------------------------------------*/

MCR_API mcr *mcr_bound_context(const mcr_bound *bound);
MCR_API void *mcr_bound_user(const mcr_bound *bound);
MCR_API const void *mcr_bound_params(const mcr_bound *bound);
MCR_API void *mcr_bound_state(const mcr_bound *bound);
MCR_API void mcr_bound_set_state(mcr_bound *bound, void *state);
/* Number of objects on a side (0: x, 1: z). */
MCR_API int64_t mcr_bound_count(const mcr_bound *bound, int side);
/* Whether x and z are the same objects: K is symmetric. */
MCR_API int mcr_bound_same(const mcr_bound *bound);
/* The leaf's value for an object: a vector as dense numbers (cols of them, in memory of the caller),
 * or a string. */
MCR_API int64_t mcr_bound_cols(const mcr_bound *bound);
MCR_API void mcr_bound_vector(const mcr_bound *bound, int side, int64_t i, double *values);
MCR_API void mcr_bound_string(const mcr_bound *bound, int side, int64_t i, const char **bytes,
                              int64_t *length);
/* Memory that lives as long as the binding; NULL with the message set when there is none. For bind,
 * from its own thread only. */
MCR_API void *mcr_bound_alloc(mcr_bound *bound, size_t count, size_t size);
/* Combinators: fill the tile with a child's values. */
MCR_API mcr_status mcr_bound_child_block(const mcr_bound *bound, int child, const mcr_tile *tile);
MCR_API mcr_status mcr_bound_child_diagonal(const mcr_bound *bound, int child, int side,
                                            mcr_rows rows, double *k);
/* Inside gradient: adds what the child's scales contribute; d and slope as in gradient, d now being
 * by the child's values. */
MCR_API mcr_status mcr_bound_child_gradient(const mcr_bound *bound, int child, const mcr_tile *tile,
                                            const double *d, int64_t ld, double *slope);
/* Inside features: how many features there are; then, for each object of side 0 and, unless
 * mcr_bound_same, of side 1, its values with rising features, and the step to the next object. */
MCR_API mcr_status mcr_features_resize(mcr_features *features, int64_t count);
MCR_API mcr_status mcr_features_put(mcr_features *features, int side, int64_t feature,
                                    double value);
MCR_API void mcr_features_next(mcr_features *features, int side);
/* Temporary memory, 64-byte aligned, until mcr_scratch_release(mark); NULL when there is none. */
MCR_API size_t mcr_scratch_mark(const mcr_scratch *scratch);
MCR_API void *mcr_scratch_take(mcr_scratch *scratch, size_t bytes);
MCR_API void mcr_scratch_release(mcr_scratch *scratch, size_t mark);

#ifdef __cplusplus
}
#endif
#endif
