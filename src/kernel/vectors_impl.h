/* vectors_impl.h (internal): the insides of vectors*.c; see vectors.h.
 *
 * vectors.c          joining, norms, diagonals
 * vectors_plan.c     which form the vectors are packed in
 * vectors_rows.c     rows in the layout of linalg/tiles
 * vectors_columns.c  columns in the layout of linalg/tiles, all at once or as they are needed
 * vectors_run.c      rows against columns: tiles, sums, corrections, maps
 * vectors_batch.c    many rows, packed once
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_VECTORS_IMPL_H
#define MCR_KERNEL_VECTORS_IMPL_H

#include "kernel/vectors.h"

/* Columns of wide data that share one list of features; a multiple of all panel widths. Measured on
 * text with 55,000 features: with 16 the rows are reduced too often, with 128 too much is
 * packed. */
enum { MCR_WIDE_COLUMNS = 64 };

/* Rows of a pack whose features join those of the columns. */
enum { MCR_LATER_ROWS = 48 };

typedef struct mcr_vector_side {
    mcr_field field;
    double *norm2; /* x.x; NULL unless a leaf needs dot products */
    double *lift;  /* x.m for the shift m; NULL unless shifted and dot products are needed */
    /* Squared norms of packed objects in float and double, padded with zeros to whole panels; NULL:
     * computed when rows are packed. Symmetric data share the arrays of both sides. */
    void *norms[2];
    double largest[2]; /* of those norms of the columns */
} mcr_vector_side;

/* All columns, packed in one precision. */
typedef struct mcr_vector_panels {
    bool ready;
    bool lists;   /* so far only lists of columns are needed */
    void *values; /* NULL: packed on demand */
} mcr_vector_panels;

struct mcr_vectors {
    mcr_vectors *next;
    mcr *ctx;
    mcr_binding *binding;
    bool same;
    int64_t cols;
    int needs;                       /* of all leaves, combined */
    int dot_leaves, distance_leaves; /* number of such leaves */
    double sharpness;                /* the largest among the leaves */
    double reach[2];                 /* the largest |x.z| such that all values fit float, double */
    const char *owner;               /* the leaf that set it, for messages */
    double *scale;                   /* NULL: 1 */
    mcr_vector_side side[2];
    mcr_store *made[2];  /* owned stores */
    mcr_field origin[2]; /* the fields they were computed from */
    size_t budget;       /* bytes taken from the budget */

    /* The plan, made by the first prepare. */
    bool planned;
    double nonzeros; /* of an object of side 0: mean_nonzeros, once planned */
    bool wide;
    bool sparse_rows[2]; /* per precision, for operations on dot products */
    double *shift;       /* NULL: none */
    double shift2;       /* m.m */
    double rounding;     /* error of a squared distance, in units of rounding of |x|^2 + |z|^2 */

    /* Slots of shared tiles: dot products of packed vectors, squared distances. -1: none. */
    int product_slot, distance_slot;
    mcr_vector_panels panels[2];
};

static inline const mcr_tile_kit *mcr_vectors_kit(bool precise)
{
    return precise ? mcr_tiles_best()->f64 : mcr_tiles_best()->f32;
}
static inline bool mcr_vectors_dense(const mcr_vectors *v, int side)
{
    return v->side[side].field.store->kind == MCR_DENSE;
}
static inline bool mcr_tile_op_uses_norms(mcr_tile_op op)
{
    return op == MCR_TILE_SQDIST || op == MCR_TILE_RBF;
}
static inline bool mcr_tile_op_uses_dots(mcr_tile_op op)
{
    return op == MCR_TILE_DOT || op == MCR_TILE_POLY || mcr_tile_op_uses_norms(op);
}

static inline mcr_vector mcr_vectors_object(const mcr_vectors *v, int side, int64_t i)
{
    return mcr_field_vector(&v->side[side].field, i);
}
/* A source for linalg/tiles; object i of the side is the source's object i + *offset. */
mcr_tile_source mcr_vectors_source(const mcr_vectors *v, int side, bool shifted, int64_t *offset);
/* Squared norms of all objects of a side, packed (shifted) or as stored; the caller frees *out;
 * padded with zeros to whole column panels. */
mcr_status mcr_vectors_norms(void **out, const mcr_vectors *v, int side, bool precise,
                             bool shifted);
/* MCR_NUMERIC if the squared norm of an object of a side puts its values outside `reach`. */
mcr_status mcr_vectors_check_norm(const mcr_vectors *v, int side, int64_t i, double norm,
                                  bool precise);
/* |x_i - z_j|^2 from the differences. */
double mcr_vectors_exact(const mcr_vectors *v, int64_t i, int64_t j);

/* vectors_plan.c */
mcr_status mcr_vectors_plan(mcr_vectors *v);

/* ---- rows -------------------------------------------------------------------------------------*/

typedef struct mcr_row_pack {
    int64_t count;
    int64_t *object;   /* numbers on side x */
    int64_t *stored;   /* numbers of their rows in the store */
    const void *dense; /* row panels; NULL: the following */
    int64_t *start;
    int32_t *index;
    void *value;
    void *norms;    /* padded to whole row panels; NULL: not needed by the operation */
    double largest; /* largest norm, and its object */
    int64_t longest;
} mcr_row_pack;

/* How rows are packed for an operation. LATER: with the columns, for sums on wide data. */
typedef enum mcr_row_form { MCR_ROWS_DENSE, MCR_ROWS_SPARSE, MCR_ROWS_LATER } mcr_row_form;
mcr_row_form mcr_row_pack_form(const mcr_vectors *v, mcr_tile_op op, bool precise);
/* Bytes of a pack of these rows; SIZE_MAX on overflow. */
size_t mcr_row_pack_bytes(const mcr_vectors *v, mcr_tile_op op, bool precise, mcr_rows x);
/* Packs into a buffer of that many bytes, 64-byte aligned. */
void mcr_row_pack_fill(mcr_row_pack *pack, void *buffer, const mcr_vectors *v, mcr_tile_op op,
                       bool precise, mcr_rows x);
/* Rows first .. first+count-1 of a pack; first: a multiple of kit->rows. */
mcr_row_pack mcr_row_pack_part(const mcr_row_pack *pack, const mcr_tile_kit *kit, int64_t dims,
                               int64_t first, int64_t count);

/* ---- columns ----------------------------------------------------------------------------------*/

/* Adjacent columns in panels. */
typedef struct mcr_segment {
    int64_t at, count; /* columns of z: first, count */
    const void *values, *norms;
    int64_t dims;           /* features in these panels */
    const int32_t *feature; /* wide: their numbers; NULL: all, in order */
} mcr_segment;

/* A walk over the columns z of one side, by segments. */
typedef struct mcr_column_walk {
    const mcr_vectors *v;
    const mcr_tile_kit *kit;
    mcr_tile_op op;
    bool precise, packed; /* packed: segments lie in v->panels */
    mcr_rows z;
    int64_t next, step; /* columns: start of the next segment, its largest size */
    /* In the scratch: */
    void *values, *norms;
    int64_t *stored;
    double *scale;            /* wide and scaled: of the segment's features */
    int32_t *feature;         /* wide: the segment's features */
    uint64_t *seen;           /* wide: one bit per feature, all 0 between segments */
    int32_t *map;             /* wide: a feature's place in the segment, all -1 between */
    mcr_row_pack rows;        /* wide: rows with the segment's features only */
    void *joined;             /* their panels, for sums */
    const mcr_row_pack *join; /* sums on wide data: rows whose features join the columns' */
} mcr_column_walk;

/* rows: the largest pack that mcr_column_walk_rows will be asked for. The caller releases the
 * scratch memory. */
mcr_status mcr_column_walk_open(mcr_column_walk *walk, const mcr_vectors *v, mcr_tile_op op,
                                bool precise, mcr_rows z, const mcr_row_pack *rows,
                                mcr_scratch *scratch);
/* False: no columns left. */
bool mcr_column_walk_next(mcr_column_walk *walk, mcr_segment *segment);
/* The rows for the segment: unchanged or, if wide, with only the segment's features. Valid until
 * the next call. */
const mcr_row_pack *mcr_column_walk_rows(mcr_column_walk *walk, const mcr_segment *segment,
                                         const mcr_row_pack *rows);

/* Packs all columns in one precision if they fit the budget, and computes their norms. Wide ones,
 * and those of which only lists are needed, are packed on demand whatever the budget: for wide ones
 * that is as fast as reading them from memory. */
mcr_status mcr_vectors_pack(mcr_vectors *v, bool precise, bool lists);

/* ---- rows against columns ---------------------------------------------------------------------*/

/* One call: what to compute and where to store it. Outputs are addressed from the first column of
 * z. */
typedef struct mcr_vectors_pass {
    const mcr_vectors *v;
    const mcr_fused *fused; /* the leaf; NULL: only op */
    mcr_tile_op op;         /* of the tiles */
    bool precise;
    const mcr_tile_kit *kit;
    mcr_rows z;
    char *k;
    int64_t ld;
    void *const *row;
    int64_t row_first; /* index in row[r] of the first column */
    bool stream;
    const double *coef;
    const float *rough;
    double *f;
    int64_t outputs, coef_ld, f_ld;
    mcr_scratch *scratch;
    /* A squared distance below share (|x|^2 + |z|^2) is recomputed if that sum is above
     * least_norm. */
    double share, least_norm;
    void **pointer; /* buffer for one pointer per row; only with `row` */
    char *stage;    /* buffer for an intermediate tile; NULL: not needed, or done in k */
    double *gathered;
} mcr_vectors_pass;

/* Runs packs of group_rows rows each (the last may have fewer), one after the other, against all
 * columns of the pass. */
mcr_status mcr_vectors_run_packs(mcr_vectors_pass *p, const mcr_row_pack *packs, int64_t count,
                                 int64_t group_rows);

#endif
