/* data.h (internal): how data sets are stored.
 *
 * Storage (mcr_store) is immutable and reference-counted; a data set is a list of fields over
 * stores plus a row map. Row i of a field is stored row mcr_field_at(field, i). Kernels read fields
 * through this header; learners see only targets and weights.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_DATA_H
#define MCR_DATA_DATA_H

#include <mercer/data.h>

#include "base/context.h"
#include "base/stream.h"

/* The user's vectors in a layout other than that of mcr_store: float values, doubles that are not
 * row-major without gaps, 64-bit indices. dense, index and value of the store are NULL. */
typedef struct mcr_lent {
    const void *value;          /* double, or float if `single`; NULL: in the store itself */
    const void *index;          /* sparse: int32_t, or int64_t if `wide` */
    int64_t row_step, col_step; /* dense: strides, in values */
    bool single, wide;
} mcr_lent;

/* One field's values for all stored objects. Only the members of its kind are set. Vectors are read
 * through mcr_store_vector. */
typedef struct mcr_store {
    mcr *ctx;
    int64_t owners; /* reference count (atomic) */
    char *name;
    mcr_kind kind;
    int64_t count; /* stored objects */
    int64_t cols;  /* dense, sparse: features; precomputed: reference objects */
    char **
        column; /* names of the columns: dense, from a header; sparse, if features have names; NULL:
                 * none */
    double *dense; /* dense, precomputed: count x cols, row-major without gaps */
    int64_t *id;   /* precomputed: number among the reference objects, -1: none */
    /* sparse: row i is entries start[i] .. start[i+1]-1; strings: bytes start[i] .. ; graphs: nodes
     * start[i] .. start[i+1]-1 of all nodes */
    int64_t *start;
    int32_t *index; /* sparse: column, ascending in each row */
    double *value;  /* sparse */
    char *bytes;    /* strings */
    /* graphs: the neighbours of node v (numbered across all graphs) are adjacent[link[v] ..
     * link[v+1]-1], ascending; every edge is listed at both ends, a self-loop once. */
    int64_t *link;
    int32_t *adjacent;   /* local node number within its graph */
    int32_t *node_label; /* labels by global node number, NULL: none */
    int32_t *link_label; /* parallel to adjacent, NULL: none */
    char **label_name;   /* graphs: names of node labels that were words; NULL: numbers */
    int64_t label_names;
    mcr_role role; /* role of a table's column */
    bool holes;    /* dense: numbers may be missing (NAN); strings: empty ones are missing */
    /* Memory of the user (borrow.c): dense, index, value, bytes, and start if `lent_start`, are not
     * freed; release is called instead. */
    bool borrowed, lent_start;
    void (*release)(void *user);
    void *user;
    mcr_lent lent;
    struct mcr_disk *disk; /* dense: the values stay in a file (disk.h); NULL: in memory */
} mcr_store;

typedef struct mcr_field {
    const mcr_store *store;
    const int64_t *rows; /* row map, NULL: identity from `first` */
    int64_t first, count;
} mcr_field;

/* An object of a field of vectors (or of precomputed values) as stored: entry e is
 * mcr_vector_value(x, e) in column mcr_vector_column(x, e); columns are ascending. */
typedef struct mcr_vector {
    const void *value;
    const void *index; /* NULL: all columns in order */
    int64_t count, step;
    bool single, wide;
} mcr_vector;

static inline double mcr_vector_value(const mcr_vector *x, int64_t e)
{
    return x->single ? (double)((const float *)x->value)[e * x->step]
                     : ((const double *)x->value)[e * x->step];
}

static inline int64_t mcr_vector_column(const mcr_vector *x, int64_t e)
{
    return !x->index ? e
           : x->wide ? ((const int64_t *)x->index)[e]
                     : ((const int32_t *)x->index)[e];
}

/* Whether the values are contiguous doubles at x->value. */
static inline bool mcr_vector_plain(const mcr_vector *x)
{
    return !x->single && x->step == 1;
}

static inline mcr_vector mcr_store_vector(const mcr_store *s, int64_t row)
{
    const mcr_lent *l = &s->lent;
    if (s->kind == MCR_SPARSE) {
        int64_t first = s->start[row], count = s->start[row + 1] - first;
        if (!l->value && !s->value) /* no entries at all: no pointer to offset */
            return (mcr_vector){NULL, NULL, 0, 1, false, false};
        if (!l->value)
            return (mcr_vector){s->value + first, s->index + first, count, 1, false, false};
        return (mcr_vector){
            (const char *)l->value + (size_t)first * (l->single ? sizeof(float) : sizeof(double)),
            (const char *)l->index + (size_t)first * (l->wide ? sizeof(int64_t) : sizeof(int32_t)),
            count,
            1,
            l->single,
            l->wide};
    }
    if (!l->value && !s->dense) /* no columns */
        return (mcr_vector){NULL, NULL, s->cols, 1, false, false};
    if (!l->value)
        return (mcr_vector){s->dense + row * s->cols, NULL, s->cols, 1, false, false};
    int64_t at = row * l->row_step;
    return (mcr_vector){l->single ? (const void *)((const float *)l->value + at)
                                  : (const void *)((const double *)l->value + at),
                        NULL,
                        s->cols,
                        l->col_step,
                        l->single,
                        false};
}

/* The values of a vector in all columns of `to`. */
void mcr_vector_to_dense(const mcr_vector *x, double *to, int64_t cols);
/* Its entries in order; column may be NULL. */
void mcr_vector_copy(const mcr_vector *x, double *value, int32_t *column);

static inline int64_t mcr_field_at(const mcr_field *f, int64_t i)
{
    return f->rows ? f->rows[i] : f->first + i;
}

static inline mcr_vector mcr_field_vector(const mcr_field *f, int64_t i)
{
    return mcr_store_vector(f->store, mcr_field_at(f, i));
}

typedef struct mcr_classes { /* list of names, shared by views */
    int64_t owners;          /* atomic */
    int64_t count;
    char **name;
    char *text; /* holds all names */
} mcr_classes;

struct mcr_layout {
    mcr *ctx;
    int64_t owners;         /* atomic */
    int64_t columns;        /* columns of the table, of all roles */
    int64_t targets, roles; /* roles: the targets in their order, then the weights, if any */
    int64_t *column;        /* column of each role, from 0 */
    mcr_classes *name;   /* name of each role, all different; NULL: no header, or ambiguous names */
    uint32_t usual;      /* bit i: a feature has the i-th common name of a target (csv_plan.c) */
    mcr_role *all;       /* role of every column; NULL: unknown, or only numbers and targets */
    mcr_classes *called; /* name of every column; NULL: no header */
    char *joined;        /* the key by which another table was joined; NULL: none */
    bool beside;         /* joined to objects that are not rows of a table */
};

/* How missing values are handled; the values are stored in model files. */
typedef enum mcr_missing {
    MCR_MISSING_ERROR,
    MCR_MISSING_DROP,
    MCR_MISSING_MEAN,
    MCR_MISSING_MEDIAN,
    MCR_MISSING_MODE,
    MCR_MISSING_INDICATOR, /* the median, and an indicator column */
    MCR_MISSING_AUTO,      /* the same, if values are missing in training */
    MCR_MISSING_KERNEL     /* the mean, and a column with the standard deviation where missing */
} mcr_missing;

/* The rows that a reader skipped, and what else it found. */
typedef struct mcr_skips {
    int64_t dropped;    /* because of a missing value */
    int64_t bad, first; /* unreadable rows, and the line of the first */
    char why[160];
    int64_t not_utf8; /* the line of the first byte that is not UTF-8; 0: none */
} mcr_skips;

struct mcr_data {
    mcr *ctx;
    int64_t owners; /* atomic */
    int64_t count;
    int64_t fields;
    mcr_store **store; /* one per field, reference-counted */
    int64_t *rows;     /* row map shared by all fields, owned; NULL: stored rows from `first` on */
    int64_t first;
    mcr_targets target_kind;
    double *target; /* owned, one per object of this view; NULL: none */
    double *weight;
    int32_t *class_of; /* NULL when no targets */
    mcr_classes *classes;
    int64_t positive; /* 1 + the class chosen as positive; 0: none */
    /* If there are several targets: their names, and count x names->count numbers, row by row, the
     * first of each row being `target`. Else NULL. */
    mcr_classes *target_names;
    double *table;
    mcr_layout *layout;  /* layout of the table it was read from; NULL: none */
    mcr_store **carried; /* strings, reference-counted: ids, groups, columns to keep */
    int64_t carries;
    mcr_missing missing;
    mcr_skips skips;
};

/* Whether a field has missing values, which must be filled before a kernel uses them. */
bool mcr_data_has_holes(const mcr_data *data);

/* Ends the construction of data: if status is MCR_OK, sets *out, else frees them. Returns the
 * status. */
mcr_status mcr_data_give(mcr_data **out, mcr_data *data, mcr_status status);
mcr_status mcr_store_give(mcr_store **out, mcr_store *store, mcr_status status);
/* The arrays of dense or sparse vectors, for the store's count and cols; the values are not set, but
 * for start[0]. */
mcr_status mcr_store_alloc_dense(mcr_store *store);
mcr_status mcr_store_alloc_sparse(mcr_store *store, int64_t entries);
/* Gives a view, which is not shared yet, another store for a field; takes ownership. NULL: it keeps
 * its own. */
void mcr_data_replace(mcr_data *view, int64_t field, mcr_store *store);

/* Objects by their numbers among those of all processes that share the rows (base/team.h): a view
 * if there is one process, else a copy in each of them. */
mcr_status mcr_data_pick(mcr_data **out, const mcr_data *data, mcr_rows rows);

/* Field `i` of the data set as kernels see it. */
mcr_field mcr_data_field(const mcr_data *data, int64_t i);
/* Number of the field with this name (length bytes); -1: none. */
int64_t mcr_data_find(const mcr_data *data, const char *name, size_t length);

/* Whether the objects are those of a precomputed kernel from a model file: numbers without values,
 * to which no kernel can be bound. */
bool mcr_data_numbers_only(const mcr_data *data);

/* The same objects without borrowed memory: copied if there is any, else only retained. */
mcr_status mcr_data_own(mcr_data **out, const mcr_data *data);

/* Whether values stay in a file; a view of some objects with their values loaded into memory; the
 * refusal of an operation that does not support data on disk ("scaling"). */
bool mcr_data_on_disk(const mcr_data *data);
mcr_status mcr_data_load(mcr_data **out, const mcr_data *data, mcr_rows rows);
mcr_status mcr_data_need_memory(const mcr_data *data, const char *what);

/* A checksum of the objects, targets, weights and names, independent of how many processes share
 * the rows. */
mcr_status mcr_data_sum(const mcr_data *data, uint32_t *sum);

/* A view in which objects with equal values and equal targets are merged into one object with the
 * sum of their weights; where[i] is the number of object i in it, by first appearance. *out is NULL
 * if there are few duplicates and, for classify, if a class would be left with fewer than two
 * objects. */
mcr_status mcr_data_merge(mcr_data **out, const mcr_data *data, bool classify, int64_t *where);

/* The same objects with the columns of `like`, in its order, if both name their columns; other
 * columns are dropped. MCR_BAD_DATA if a column is missing. */
mcr_status mcr_data_match(mcr_data **out, mcr *ctx, const mcr_data *data, const mcr_data *like);

/* The objects of old, with class 0 and weight 0, followed by those of more; with the fields of old
 * and the given classes. match: the number of each class of `more` among these. */
mcr_status mcr_data_extend(mcr_data **out, const mcr_data *old, const mcr_data *more,
                           const char *const *class_name, int64_t classes, const int64_t *match);

/* ---- for readers ---------------------------------------------------------------------------- */

/* An empty store with its name and kind set; a reader fills the arrays (from mcr_alloc) and passes
 * it to mcr_builder_take without a copy. Until then it must be freed by mcr_store_free (NULL
 * allowed). */
mcr_status mcr_store_new(mcr_store **out, mcr *ctx, const char *name, mcr_kind kind);
mcr_store *mcr_store_retain(mcr_store *store);
/* Copies the names of the columns, if `from` has them; further columns are named "". On failure
 * some may be NULL: free `to`. */
mcr_status mcr_store_copy_names(mcr_store *to, const mcr_store *from);
void mcr_store_free(mcr_store *store); /* drops a reference */
/* MCR_BAD_DATA with the object's number if an invariant of its kind does not hold. */
mcr_status mcr_store_check(const mcr_store *store);

/* The features that occur in sparse stores, ascending; the caller frees *out. And a store with only
 * these features, numbered by their position in the list, which must contain all of its own. */
mcr_status mcr_store_features(int32_t **out, int64_t *count, mcr *ctx,
                              const mcr_store *const *store, int stores);
mcr_status mcr_store_renumber(mcr_store **out, const mcr_store *store, const int32_t *feature,
                              int64_t count);

/* The builder takes ownership of the store, even on failure. It must have been opened with the
 * store's count, or with -1: then the first store, targets or words set the count. Checks all
 * invariants: finite values, ascending indices below cols, edges in range. */
mcr_status mcr_builder_take(mcr_builder *builder, mcr_store *store);
/* For a store or builder that may be incomplete: if `filled` is MCR_OK, calls mcr_builder_take, or
 * mcr_builder_finish; else frees the store, or the builder (NULL allowed), and returns `filled`. */
mcr_status mcr_builder_take_filled(mcr_builder *builder, mcr_store *store, mcr_status filled);
mcr_status mcr_builder_finish_filled(mcr_data **out, mcr_builder *builder, mcr_status filled);
/* The same for a store whose invariants the reader has already checked. */
mcr_status mcr_builder_adopt(mcr_builder *builder, mcr_store *store);
/* Converts edge lists of graphs to adjacency lists (sorted, symmetric, without duplicates); label
 * arrays as in mcr_builder_graphs. If an edge has two labels, the first counts. */
mcr_status mcr_store_link(mcr_store *store, const int64_t *edge_start, const int32_t (*edge)[2],
                          const int32_t *edge_label);

/* The labels of a file, collected by a reader: if all are numbers they become real targets ("+1" is
 * 1), else words, byte for byte. "nan" and "inf" are refused if all others are numbers. */
typedef struct mcr_labels mcr_labels;
mcr_status mcr_labels_open(mcr_labels **out, mcr *ctx);
mcr_status mcr_labels_add(mcr_labels *labels, const char *text, size_t length);
/* Numbers are names of classes, in ascending order. */
void mcr_labels_name_classes(mcr_labels *labels);
/* *are: whether one of the labels is in `known` (mcr_read_options). */
mcr_status mcr_labels_are_known(const mcr_labels *labels, const char *const *known, bool *are);
/* Passes the labels to the builder and closes them, even on failure (NULL allowed). */
mcr_status mcr_builder_labels(mcr_builder *builder, mcr_labels *labels);
/* The same for labels that may be incomplete: these are only closed. */
mcr_status mcr_builder_labels_filled(mcr_builder *builder, mcr_labels *labels, mcr_status filled);
/* Adds the entries that are not 0 of dense rows, ld apart, as sparse vectors. */
mcr_status mcr_builder_sparse_of(mcr_builder *builder, const char *name, const double *values,
                                 int64_t cols, int64_t ld);
/* Adopts a store and its labels, or frees both if they are not filled. */
mcr_status mcr_builder_give(mcr_builder *builder, mcr_store *store, mcr_labels *labels,
                            mcr_status filled);
void mcr_labels_close(mcr_labels *labels);

/* The first label (from 0) that is "nan", "inf" or too large for a double; -1: none. */
int64_t mcr_labels_not_finite(const mcr_labels *labels);

/* The classes of `count` targets: ascending for numbers; class_of[i] is set for each. */
mcr_status mcr_classes_of_reals(mcr_classes **out, mcr *ctx, const double *value, int64_t count,
                                int32_t *class_of);
/* A list of existing names. */
mcr_status mcr_classes_of_names(mcr_classes **out, mcr *ctx, const char *const *name,
                                int64_t count);
mcr_classes *mcr_classes_retain(mcr_classes *classes);
void mcr_classes_free(mcr *ctx, mcr_classes *classes); /* drops a reference; NULL allowed */

/* A copy of `from` with other names; name may be NULL. */
mcr_status mcr_layout_new(mcr_layout **out, mcr *ctx, const mcr_layout *from,
                          const char *const *name);
/* Sets the roles of all columns and their names (NULL: no header); copied. */
mcr_status mcr_layout_roles(mcr_layout *layout, const mcr_role *role, const char *const *name);
/* Records that a table was joined by this column; copied. */
mcr_status mcr_layout_join(mcr_layout *layout, const char *key, bool beside);
mcr_layout *mcr_layout_retain(mcr_layout *layout); /* NULL allowed */
void mcr_layout_free(mcr_layout *layout);          /* drops a reference; NULL allowed */
void mcr_builder_layout(mcr_builder *builder, mcr_layout *layout); /* takes ownership */
/* Adds a column of strings that is kept with the objects; takes ownership, even on failure. */
mcr_status mcr_builder_carry(mcr_builder *builder, mcr_store *store);
void mcr_builder_skips(mcr_builder *builder, mcr_missing missing, const mcr_skips *skips);
mcr_status mcr_missing_find(mcr_missing *out, mcr *ctx, const char *name); /* NULL: error */
/* The role with this name; MCR_ROLE_NONE: unknown. */
mcr_role mcr_role_find(const char *name, size_t length);

/* Parses an ISO date, with or without a time, or a year and month, as days since 1970; false: not a
 * date. */
bool mcr_date_parse(const char *text, size_t length, double *days);
/* The columns of a date field: the days, and points on circles for the phases of the year, the week
 * and the day. */
enum { MCR_DATE_PARTS = 7 };
mcr_status mcr_date_columns(mcr_store *store); /* sets their names, from that of the field */
void mcr_date_parts(double days, double part[MCR_DATE_PARTS]);

/* A format: one file in src/data/format that defines `const mcr_format mcr_format_<name>`, and one
 * line `FORMAT(name)` in formats.def. `sniff` returns its confidence (0 no .. 100 certain), given
 * whether the file has one of its extensions and the first bytes, at most 64 KiB (after gunzip).
 * `read` fills the builder (opened with count -1) from the input; it reports errors with
 * mcr_input_fail. A directory format (TU) has read_path instead, which takes the path. With
 * options->class_files and no path, read gets in = NULL and opens the files itself. */
typedef struct mcr_format {
    const char *name, *summary;
    const char *const *extensions;   /* file extensions, NULL-terminated; NULL: none */
    const char *const *also;         /* further extensions accepted for reading; NULL: none */
    bool picks;                      /* options->only selects the part to read */
    const struct mcr_writer *writer; /* NULL: cannot be written; see write.h */
    int (*sniff)(bool named, const char *bytes, size_t count);
    mcr_status (*read)(mcr_builder *builder, mcr *ctx, mcr_input *in,
                       const mcr_read_options *options);
    mcr_status (*read_path)(mcr_builder *builder, mcr *ctx, const char *path,
                            const mcr_read_options *options);
    /* Tables: describes their columns. NULL: not a table format. */
    mcr_status (*describe)(mcr_column_info **out, int64_t *count, mcr *ctx, mcr_input *in,
                           const mcr_read_options *options);
} mcr_format;

/* Opens a file that must be a table (csv, tsv or sqlite); and the separator of such a format, in
 * the form that mcr_csv_read takes. */
mcr_status mcr_table_open(mcr_input **in, mcr *ctx, const char *path, char *separator);
char mcr_table_separator(const mcr_format *format);

#endif
