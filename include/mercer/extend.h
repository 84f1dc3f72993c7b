/* extend.h: for people who add kernels (and functions of objects) in C.
 *
 * A kernel type implements one kind of node of an expression. The built-in types are listed in
 * src/kernel/kernels.def; a program registers its own with mcr_kernel_register and can then use
 * them in any expression, with any learner. docs/extending.md walks through an example.
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

/* What the closure rules know about the Gram matrices of a node. */
typedef enum mcr_definite {
    MCR_DEFINITE_UNKNOWN = 0,
    MCR_PSD,       /* always positive semidefinite: a kernel */
    MCR_NSD,       /* always negative semidefinite, and not zero */
    MCR_INDEFINITE /* known not to be positive semidefinite for some objects */
} mcr_definite;

/* A node bound to the data of x and z. After bind it does not change: several threads read it. */
typedef struct mcr_bound mcr_bound;
typedef struct mcr_binding mcr_binding; /* shared by the nodes of one expression while they are
                                         * bound */
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
    int indefinite;                 /* 1: not PSD for all parameters; shown in listings */

    /* Called after parsing: checks the parameters together and brings them to a canonical form. May
     * be NULL. Its message begins with the kernel's name. */
    mcr_status (*check)(mcr *ctx, void *params);
    /* The verdict of the closure rules; *rule: the reason in a few words ("an inner product").
     * NULL: MCR_PSD for a leaf that is not `indefinite`. */
    mcr_definite (*definite)(const void *params, const mcr_definite *child, int children,
                             const char **rule);
    /* Called once for each pair of data sets: prepares norms, k-mers, labels, and keeps them for
     * block with mcr_bound_set_state. */
    mcr_status (*bind)(mcr_bound *bound, mcr_binding *binding);
    /* Called if the state is set, also after bind has failed. */
    void (*unbind)(mcr_bound *bound);
    /* Fills a tile. Called by several threads at once; allocates only from the tile's scratch.
     * NULL: `pair` is called for every pair. */
    mcr_status (*block)(const mcr_bound *bound, const mcr_tile *tile);
    double (*pair)(const mcr_bound *bound, int64_t i, int64_t j);
    /* K(x,x) for objects of one side (0: x, 1: z). NULL: computed by pair or block. */
    mcr_status (*diagonal)(const mcr_bound *bound, int side, mcr_rows rows, double *k);
    /* The objects' explicit feature vectors, after bind; see mcr_features_resize. NULL: the kernel
     * has no finite map. */
    mcr_status (*features)(const mcr_bound *bound, mcr_features *features);
    /* For learners that optimise scales (parameters that may be any positive number). Adds to
     * slope, for each scale, the sum over the tile of d[i*ld + j] times the derivative of K(x.i,
     * z.j) with respect to the logarithm of the scale. The node's own scales come first, in the
     * order of its parameters (a list has one scale per value), then those of its children. Always
     * in double; the tile's k is not used. NULL: derivatives are computed from differences, with
     * two matrices per scale. */
    mcr_status (*gradient)(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope);
    void *user; /* mcr_bound_user */
} mcr_kernel_type;

/* The struct is copied; its texts, tables and functions must outlive the context. A name that is
 * taken is refused. */
MCR_API mcr_status mcr_kernel_register(mcr *ctx, const mcr_kernel_type *type);

/* ---- a kernel from one function -----------------------------------------------------------------
 *
 * For bindings: one function that computes values from objects, without binding or tiles. */

/* Some objects of a data set: object[0 .. count-1], numbers from 0. The leaf reads field `field`:
 * mcr_data_vector, mcr_data_entries, mcr_data_string. */
typedef struct mcr_objects {
    size_t size; /* set by the library */
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
    /* 1: the functions may be called by several threads at once. 0: they are called only in the
     * thread that calls the library; from then on the context does all its computations in that
     * thread. */
    int thread_safe;
    /* One of the two is set. block: k[i * z->count + j] = K(x.i, z.j), up to a few thousand values
     * at once. pair: one value, for object i of x and object j of z. K(x,z) and K(z,x) must be
     * equal. A status other than MCR_OK ends the computation and is returned to the caller. */
    mcr_status (*block)(void *user, const mcr_objects *x, const mcr_objects *z, double *k);
    mcr_status (*pair)(void *user, const mcr_data *x, int64_t x_field, int64_t i, const mcr_data *z,
                       int64_t z_field, int64_t j, double *k);
    /* Called once: by mcr_close, or by mcr_kernel_callback if it fails. May be NULL. */
    void (*release)(void *user);
    void *user;
} mcr_callback;
/* Registers the function as a leaf of that name. Model files contain only the name. */
MCR_API mcr_status mcr_kernel_callback(mcr *ctx, const mcr_callback *callback);

/* A function of an object, for conformal(K, f=NAME): f(x) K(x,z) f(z). Called once per object
 * during binding; i is the object's number in data. */
typedef mcr_status mcr_object_function(void *user, const mcr_data *data, int64_t i, double *value);
MCR_API mcr_status mcr_function_register(mcr *ctx, const char *name, mcr_object_function *function,
                                         void *user);

/* For check, bind, block, callbacks, functions of objects and fit of learning.h: sets the message
 * of a failure (one line that says what to do) and returns status. */
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
/* The leaf's value for an object: a vector as dense numbers (cols of them, in memory of the
 * caller), or a string. */
MCR_API int64_t mcr_bound_cols(const mcr_bound *bound);
MCR_API void mcr_bound_vector(const mcr_bound *bound, int side, int64_t i, double *values);
MCR_API void mcr_bound_string(const mcr_bound *bound, int side, int64_t i, const char **bytes,
                              int64_t *length);
/* Memory that lives as long as the binding; NULL, with the message set, if the allocation fails. To
 * be called only in bind, in its own thread. */
MCR_API void *mcr_bound_alloc(mcr_bound *bound, size_t count, size_t size);
/* Combinators: fill the tile with a child's values. */
MCR_API mcr_status mcr_bound_child_block(const mcr_bound *bound, int child, const mcr_tile *tile);
MCR_API mcr_status mcr_bound_child_diagonal(const mcr_bound *bound, int child, int side,
                                            mcr_rows rows, double *k);
/* Inside gradient: adds the contribution of the child's scales. d and slope are as in gradient,
 * with d the derivative with respect to the child's values. */
MCR_API mcr_status mcr_bound_child_gradient(const mcr_bound *bound, int child, const mcr_tile *tile,
                                            const double *d, int64_t ld, double *slope);
/* Inside features: first set the number of features. Then, for each object of side 0 and, unless
 * mcr_bound_same, of side 1, put its values in ascending order of the features and step to the next
 * object. */
MCR_API mcr_status mcr_features_resize(mcr_features *features, int64_t count);
MCR_API mcr_status mcr_features_put(mcr_features *features, int side, int64_t feature,
                                    double value);
MCR_API void mcr_features_next(mcr_features *features, int side);
/* Temporary memory, 64-byte aligned, valid until mcr_scratch_release(mark); NULL if there is
 * none. */
MCR_API size_t mcr_scratch_mark(const mcr_scratch *scratch);
MCR_API void *mcr_scratch_take(mcr_scratch *scratch, size_t bytes);
MCR_API void mcr_scratch_release(mcr_scratch *scratch, size_t mark);

#ifdef __cplusplus
}
#endif
#endif
