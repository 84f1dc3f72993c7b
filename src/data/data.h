/* data.h (internal): how data sets are stored.
 *
 * Storage (mcr_store) is immutable and counted; a data set is a list of fields over stores plus a
 * row map. Row i of a field is stored row mcr_field_at(field, i). Kernels read fields through this
 * header; learners see only targets and weights.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_DATA_H
#define MCR_DATA_DATA_H

#include <mercer/data.h>

#include "base/context.h"
#include "base/stream.h"

/* Vectors of the user's that are not stored as mcr_store has them: float values, doubles that do
 * not stand row by row without gaps, indices of 64 bits. dense, index and value of the store are
 * NULL. */
typedef struct mcr_lent {
    const void *value;          /* double, or float if `single`; NULL: the store has them itself */
    const void *index;          /* sparse: int32_t, or int64_t if `wide` */
    int64_t row_step, col_step; /* dense: distances in values */
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
        column; /* names of the columns: dense, where a file has a header; sparse, where features have
                      names; NULL: none */
    double *dense; /* dense, precomputed: count x cols, row-major without gaps */
    int64_t *id;   /* precomputed: number among the reference objects, -1: none */
    /* sparse: row i is entries start[i] .. start[i+1]-1; strings: bytes start[i] .. ; graphs: nodes
     * start[i] .. start[i+1]-1 of all nodes */
    int64_t *start;
    int32_t *index; /* sparse: column, rising in each row */
    double *value;  /* sparse */
    char *bytes;    /* strings */
    /* graphs: neighbours of node v (numbered through all graphs) are adjacent[link[v] ..
     * link[v+1]-1], rising; every edge stands at both ends, a self-loop once. */
    int64_t *link;
    int32_t *adjacent;   /* local node number within its graph */
    int32_t *node_label; /* a global node's label, NULL: none */
    int32_t *link_label; /* beside adjacent, NULL: none */
    char **label_name;   /* graphs: names of node labels where they were words; NULL: numbers */
    int64_t label_names;
    mcr_role role; /* of a column of a table */
    bool holes;    /* dense: numbers may be missing (NAN); strings: empty ones are */
    /* The user's memory (borrow.c): dense, index, value, bytes, and start if `lent_start`, are then
     * not freed; release is called in the end. */
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

/* An object of a field of vectors (or of precomputed values) as it is stored: entry e is
 * mcr_vector_value(x, e) in column mcr_vector_column(x, e); the columns rise. */
typedef struct mcr_vector {
    const void *value;
    const void *index; /* NULL: column by column */
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

/* Whether the values are doubles side by side, at x->value. */
static inline bool mcr_vector_plain(const mcr_vector *x)
{
    return !x->single && x->step == 1;
}

static inline mcr_vector mcr_store_vector(const mcr_store *s, int64_t row)
{
    const mcr_lent *l = &s->lent;
    if (s->kind == MCR_SPARSE) {
        int64_t first = s->start[row], count = s->start[row + 1] - first;
        if (!l->value && !s->value) /* no entries at all: nothing to offset */
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

/* The values of a vector with all its columns (as many as to has). */
void mcr_vector_to_dense(const mcr_vector *x, double *to, int64_t cols);
/* Its entries, one after the other; column may be NULL. */
void mcr_vector_copy(const mcr_vector *x, double *value, int32_t *column);

static inline int64_t mcr_field_at(const mcr_field *f, int64_t i)
{
    return f->rows ? f->rows[i] : f->first + i;
}

static inline mcr_vector mcr_field_vector(const mcr_field *f, int64_t i)
{
    return mcr_store_vector(f->store, mcr_field_at(f, i));
}

typedef struct mcr_classes { /* a list of names, shared by views */
    int64_t owners;          /* atomic */
    int64_t count;
    char **name;
    char *text; /* holds all names */
} mcr_classes;

struct mcr_layout {
    mcr *ctx;
    int64_t owners;  /* atomic */
    int64_t columns; /* of the table, features and all */
    int64_t targets,
        roles;       /* roles: the targets in their order, then the weights if there are any */
    int64_t *column; /* of each role, from 0 */
    mcr_classes *
        name; /* of each role, all different; NULL: no header, or names that do not distinguish them */
    uint32_t usual; /* bit i: a feature had the i-th of the usual names of targets (csv_plan.c) */
    mcr_role *all;  /* of every column; NULL: not known, or all are numbers and targets */
    mcr_classes *called; /* every column; NULL: no header */
    char *joined;        /* the key by which another table was joined; NULL: none was */
    bool beside;         /* to objects that are no rows of a table */
};

/* What becomes of missing values; model files know them by their numbers. */
typedef enum mcr_missing {
    MCR_MISSING_ERROR,
    MCR_MISSING_DROP,
    MCR_MISSING_MEAN,
    MCR_MISSING_MEDIAN,
    MCR_MISSING_MODE,
    MCR_MISSING_INDICATOR, /* the median, and a column that says where */
    MCR_MISSING_AUTO,      /* the same, where values are missing in training */
    MCR_MISSING_KERNEL     /* the mean, and a column with the standard deviation where it stands */
} mcr_missing;

/* What a reader has to say of rows that it left out. */
typedef struct mcr_skips {
    int64_t dropped;    /* for a missing value */
    int64_t bad, first; /* rows that cannot be read, and the line of the first */
    char why[160];
} mcr_skips;

struct mcr_data {
    mcr *ctx;
    int64_t owners; /* atomic */
    int64_t count;
    int64_t fields;
    mcr_store **store; /* one per field, counted */
    int64_t *rows;     /* row map shared by all fields, owned; NULL: stored rows from `first` on */
    int64_t first;
    mcr_targets target_kind;
    double *target; /* owned, one per object of this view; NULL: none */
    double *weight;
    int32_t *class_of; /* NULL when no targets */
    mcr_classes *classes;
    int64_t positive; /* 1 + the class that was chosen as positive; 0: none was */
    /* Where there are several targets: their names, and count x names->count numbers, row by row,
     * the first of each row being `target`. Else NULL. */
    mcr_classes *target_names;
    double *table;
    mcr_layout *layout;  /* of the table that it was read from; NULL: of none */
    mcr_store **carried; /* strings, counted: ids, groups, columns to be kept */
    int64_t carries;
    mcr_missing missing;
    mcr_skips skips;
};

/* Whether a field has missing values, so that they must be filled before a kernel sees them. */
bool mcr_data_has_holes(const mcr_data *data);

/* The end of making data: with MCR_OK they become *out, else they are freed. Returns the status. */
mcr_status mcr_data_give(mcr_data **out, mcr_data *data, mcr_status status);

/* Objects by their numbers among those of all processes that share the rows (base/team.h): a view
 * where there is one process, else a copy in each of them. */
mcr_status mcr_data_pick(mcr_data **out, const mcr_data *data, mcr_rows rows);

/* Field `i` of the data set as kernels see it. */
mcr_field mcr_data_field(const mcr_data *data, int64_t i);
/* Number of the field called name (length bytes), -1: none. */
int64_t mcr_data_find(const mcr_data *data, const char *name, size_t length);

/* Objects of a precomputed kernel as a model file holds them: numbers without values, which no
 * kernel can be bound to. */
bool mcr_data_numbers_only(const mcr_data *data);

/* The same objects, without memory of the user's: copied if there is any, else only retained. */
mcr_status mcr_data_own(mcr_data **out, const mcr_data *data);

/* Whether values stay in a file; a view of some objects whose values are in memory; and the refusal
 * of what cannot do with such views ("scaling"). */
bool mcr_data_on_disk(const mcr_data *data);
mcr_status mcr_data_load(mcr_data **out, const mcr_data *data, mcr_rows rows);
mcr_status mcr_data_need_memory(const mcr_data *data, const char *what);

/* A number of the objects, targets, weights and names, the same however many processes share the
 * rows; other data are not likely to have it. */
mcr_status mcr_data_sum(const mcr_data *data, uint32_t *sum);

/* A view in which objects with equal values and equal targets are one object with the sum of their
 * weights; where[i] is the number of object i in it, by first appearance. *out is NULL where few
 * objects occur twice, and, for classify, where a class would be left with fewer than two. */
mcr_status mcr_data_merge(mcr_data **out, const mcr_data *data, bool classify, int64_t *where);

/* The same objects with the columns that `like` has, in its order, where both name their columns:
 * others are left out. MCR_BAD_DATA if one of them is missing. */
mcr_status mcr_data_match(mcr_data **out, mcr *ctx, const mcr_data *data, const mcr_data *like);

/* The objects of old, with class 0 and weight 0, and then those of more: the fields of old, the
 * classes that are named. match: which of them each class of `more` is. */
mcr_status mcr_data_extend(mcr_data **out, const mcr_data *old, const mcr_data *more,
                           const char *const *class_name, int64_t classes, const int64_t *match);

/* ---- for readers ---------------------------------------------------------------------------- */

/* An empty store with its name and kind set; a reader fills the arrays (from mcr_alloc) and hands
 * it to mcr_builder_take without a copy. Freed by mcr_store_free (NULL allowed) as long as it was
 * not handed over. */
mcr_status mcr_store_new(mcr_store **out, mcr *ctx, const char *name, mcr_kind kind);
mcr_store *mcr_store_retain(mcr_store *store);
/* The names of the columns, if `from` has them; columns beyond its own are named "". On failure
 * some may be NULL: free `to`. */
mcr_status mcr_store_copy_names(mcr_store *to, const mcr_store *from);
void mcr_store_free(mcr_store *store); /* one owner less */
/* MCR_BAD_DATA with the object's number if an invariant of its kind does not hold. */
mcr_status mcr_store_check(const mcr_store *store);

/* The features that occur in sparse stores, rising; *out is the caller's. And a store with these
 * only, by their numbers in the list, which must hold all of its own. */
mcr_status mcr_store_features(int32_t **out, int64_t *count, mcr *ctx,
                              const mcr_store *const *store, int stores);
mcr_status mcr_store_renumber(mcr_store **out, const mcr_store *store, const int32_t *feature,
                              int64_t count);

/* The builder takes the store over (also on failure). The builder must have been opened with the
 * store's count, or with -1: then the first store, targets or words set the count. Checks all
 * invariants: finite values, rising indices below cols, edges in range. */
mcr_status mcr_builder_take(mcr_builder *builder, mcr_store *store);
/* The end of what may not have been filled: with `filled` MCR_OK mcr_builder_take, or
 * mcr_builder_finish; else frees the store, or the builder (NULL allowed), and returns `filled`. */
mcr_status mcr_builder_take_filled(mcr_builder *builder, mcr_store *store, mcr_status filled);
mcr_status mcr_builder_finish_filled(mcr_data **out, mcr_builder *builder, mcr_status filled);
/* The same for a store whose invariants the reader has checked while parsing. */
mcr_status mcr_builder_adopt(mcr_builder *builder, mcr_store *store);
/* Graphs from an edge list to adjacency (sorted, symmetric, without repeats); label arrays in the
 * form of mcr_builder_graphs. Two labels for one edge: the first stands. */
mcr_status mcr_store_link(mcr_store *store, const int64_t *edge_start, const int32_t (*edge)[2],
                          const int32_t *edge_label);

/* A label as it stands in a file, collected by a reader: all numbers -> real targets ("+1" is 1),
 * else words, byte for byte. "nan" and "inf" are refused where all others are numbers. */
typedef struct mcr_labels mcr_labels;
mcr_status mcr_labels_open(mcr_labels **out, mcr *ctx);
mcr_status mcr_labels_add(mcr_labels *labels, const char *text, size_t length);
/* Numbers are the names of classes, which rise with them. */
void mcr_labels_name_classes(mcr_labels *labels);
/* Whether one of them is among `known` (mcr_read_options). */
bool mcr_labels_are_known(const mcr_labels *labels, const char *const *known);
/* Hands them to the builder and closes them (also on failure; NULL allowed). */
mcr_status mcr_builder_labels(mcr_builder *builder, mcr_labels *labels);
/* The same of labels that may not have been filled: these are closed alone. */
mcr_status mcr_builder_labels_filled(mcr_builder *builder, mcr_labels *labels, mcr_status filled);
void mcr_labels_close(mcr_labels *labels);

/* The first label (from 0) that is "nan", "inf" or too large for a double; -1: none. */
int64_t mcr_labels_not_finite(const mcr_labels *labels);

/* The classes of `count` targets: ascending for numbers; class_of[i] is set for each. */
mcr_status mcr_classes_of_reals(mcr_classes **out, mcr *ctx, const double *value, int64_t count,
                                int32_t *class_of);
/* Of words, in the order of first appearance: word i is text[end[i-1] .. end[i]-1]. */
mcr_status mcr_classes_of_words(mcr_classes **out, mcr *ctx, const char *text, const int64_t *end,
                                int64_t count, int32_t *class_of);
/* A list of names that are there already. */
mcr_status mcr_classes_of_names(mcr_classes **out, mcr *ctx, const char *const *name,
                                int64_t count);
mcr_classes *mcr_classes_retain(mcr_classes *classes);
void mcr_classes_free(mcr *ctx, mcr_classes *classes); /* one owner less; NULL allowed */

/* A copy of `from` with other names; name may be NULL. */
mcr_status mcr_layout_new(mcr_layout **out, mcr *ctx, const mcr_layout *from,
                          const char *const *name);
/* The roles of all columns, and their names (NULL: no header); copied. */
mcr_status mcr_layout_roles(mcr_layout *layout, const mcr_role *role, const char *const *name);
/* That a table was joined by this column; copied. */
mcr_status mcr_layout_join(mcr_layout *layout, const char *key, bool beside);
mcr_layout *mcr_layout_retain(mcr_layout *layout); /* NULL allowed */
void mcr_layout_free(mcr_layout *layout);          /* one owner less; NULL allowed */
void mcr_builder_layout(mcr_builder *builder, mcr_layout *layout); /* takes it over */
/* A column of strings that is carried along; taken over, also on failure. */
mcr_status mcr_builder_carry(mcr_builder *builder, mcr_store *store);
void mcr_builder_skips(mcr_builder *builder, mcr_missing missing, const mcr_skips *skips);
mcr_status mcr_missing_find(mcr_missing *out, mcr *ctx, const char *name); /* NULL: error */
/* The role called so; MCR_ROLE_NONE: unknown. */
mcr_role mcr_role_find(const char *name, size_t length);

/* An ISO date, with or without a time, or a month of a year: days since 1970. False: it is none. */
bool mcr_date_parse(const char *text, size_t length, double *days);
/* The columns of a date field: the days, and points on circles for the year, the week and the
 * day. */
enum { MCR_DATE_PARTS = 7 };
extern const char *const mcr_date_suffix[MCR_DATE_PARTS];
void mcr_date_parts(double days, double part[MCR_DATE_PARTS]);

/* A format: one file in src/data/format that defines `const mcr_format mcr_format_<name>`, and one
 * line `FORMAT(name)` in formats.def. `sniff` says how sure it is (0 no .. 100 certain) from
 * whether the file has one of its extensions and from the first bytes, at most 64 KiB (after
 * gunzip). `read` fills the builder (opened with count -1) from the input; it reports faults with
 * mcr_input_fail. A directory format (TU) has read_path instead, given the path. With
 * options->class_files and no path, read gets in = NULL and opens the files itself. */
typedef struct mcr_format {
    const char *name, *summary;
    const char *const *extensions;   /* of its files, NULL-terminated; NULL: none */
    const char *const *also;         /* more of them that files to be read may have; NULL: none */
    bool picks;                      /* options->only names the part that is read */
    const struct mcr_writer *writer; /* NULL: it is not written; see write.h */
    int (*sniff)(bool named, const char *bytes, size_t count);
    mcr_status (*read)(mcr_builder *builder, mcr *ctx, mcr_input *in,
                       const mcr_read_options *options);
    mcr_status (*read_path)(mcr_builder *builder, mcr *ctx, const char *path,
                            const mcr_read_options *options);
    /* Tables: their columns. NULL: its files have none. */
    mcr_status (*describe)(mcr_column_info **out, int64_t *count, mcr *ctx, mcr_input *in,
                           const mcr_read_options *options);
} mcr_format;

/* Opens a file that must be a table: csv, tsv or sqlite; and the separator of such a format, as
 * mcr_csv_read takes it. */
mcr_status mcr_table_open(mcr_input **in, mcr *ctx, const char *path, char *separator);
char mcr_table_separator(const mcr_format *format);

#endif
