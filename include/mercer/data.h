/* data.h: objects to learn from.
 *
 * A data set holds n objects. Each object has one value in each named field; a field is of one
 * kind: dense or sparse vectors, strings, graphs, or rows of a precomputed kernel. A data set may
 * have targets (real numbers, or classes named by words or numbers; several per object if all are
 * numbers) and weights. Data sets are immutable and reference-counted (mcr_data_retain,
 * mcr_data_free); mcr_data_select makes a view that shares their storage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_DATA_H
#define MERCER_DATA_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>
#include <mercer/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_data mcr_data; /* may be shared between threads */

typedef enum mcr_kind { /* bits, so that a kernel can name several */
                        MCR_DENSE = 1,
                        MCR_SPARSE = 2,
                        MCR_STRINGS = 4,
                        MCR_GRAPHS = 8,
                        MCR_PRECOMPUTED = 16
} mcr_kind;

typedef enum mcr_targets {
    MCR_NO_TARGETS = 0,
    MCR_REAL_TARGETS, /* numbers; also usable as classes where a learner wants classes */
    MCR_WORD_TARGETS  /* class words that are not all numbers */
} mcr_targets;

/* The use of a column of a table. */
typedef enum mcr_role {
    MCR_ROLE_NONE = 0, /* the field is not from a table */
    MCR_NUMBER,        /* a column of the dense field "x" */
    MCR_CATEGORY,      /* a field of strings: equal or not */
    MCR_DATE,  /* a dense field: days since 1970, and the time of year, of week and of day */
    MCR_WORDS, /* a field of strings: text */
    MCR_SET,   /* a field of strings: elements separated by ; */
    MCR_ID,    /* copied to every output, never a feature */
    MCR_TARGET,
    MCR_WEIGHT,
    MCR_GROUP,  /* copied to outputs; says which objects belong together */
    MCR_IGNORED /* not read; copied to outputs if the options say so */
} mcr_role;

/* "number", "category", "date", "text", "set", "id", "target", "weight", "group", "ignore"; NULL:
 * none. */
MCR_API const char *mcr_role_name(mcr_role role);

/* ---- reading ---------------------------------------------------------------------------------*/

/* The columns of a table: their number, names and roles. A model keeps the layout of its training
 * data. May be shared between threads. */
typedef struct mcr_layout mcr_layout;

/* A table whose columns are added to other objects by their names. One thread at a time. */
typedef struct mcr_join mcr_join;

/* Zero in a field means the default. */
typedef struct mcr_read_options {
    size_t size;        /* sizeof(mcr_read_options) */
    const char *format; /* "libsvm csv tsv npy npz text fasta tu jsonl precomputed sqlite"; NULL:
                         * detected */
    /* csv/tsv: the target column, by name or number from 1; jsonl: the key; npy and precomputed
     * matrices: a second .npy file; npz: an array (NULL: y, Y, target, label or labels, if there is
     * one); "none": no target. NULL, in csv/tsv: a column named target, label, class or y (tried in
     * this order, ignoring case), else the last one.
     * Several targets must be numbers: columns or keys separated by commas ("a,b"), or a file or
     * array with several columns. */
    const char *target;
    const char *weight; /* csv/tsv: a column as above; jsonl: the key; NULL: none ("weight") */
    /* fasta: one file per class; NULL-terminated list of paths. The class names are the file names
     * without directory and extension, or the part before '=' in "name=path". */
    const char *const *class_files;
    int64_t features; /* libsvm: the least number of columns (a model's); 0: as found */
    /* csv/tsv: the table that a model was trained on (mcr_model_layout). If target or weight is
     * NULL, the same column as in this table is used: the column of the same name or, without a
     * header, at the same position if the number of columns is the same. A table with all columns
     * except these has no target. If the layout has roles, each column has the role that it had
     * there, and unknown columns are not read. NULL: the rules above hold. */
    const mcr_layout *like;
    /* csv/tsv: "column=role", NULL-terminated; NULL: all are guessed (docs/tables.md has the
     * rules). */
    const char *const *roles;
    const char *drop; /* csv/tsv: columns that are not read, separated by commas; NULL: none */
    /* csv/tsv: the only columns that are features; NULL: all. npz: the array of the objects; NULL:
     * X, x or data, else the only one besides the targets. */
    const char *only;
    const char *keep; /* csv/tsv: further columns that are copied to outputs as text; NULL: none */
    /* csv/tsv: the treatment of missing values. "error" (or NULL): refused; "drop": rows with
     * missing values are dropped; "mean", "median", "mode", "indicator", "kernel": mcr_fit fills
     * them with values computed from the training objects (docs/tables.md); "auto": like
     * "indicator" if the training objects have missing values, else like "error". Missing words are
     * the empty string. */
    const char *missing;
    int skip_bad; /* csv/tsv: 1: rows that cannot be read are skipped and counted */
    /* npy: 1: a matrix that takes more than a third of the memory budget stays in its file, which
     * must not change. Approximate models can be trained on such data, and all models can predict;
     * calls that need the values in memory fail. */
    int on_disk;
    /* csv, tsv, sqlite, fasta, tu, jsonl: each object gets the columns of the row of this table
     * that has its key. Objects without such a row get missing values. MCR_BAD_DATA if `like` is
     * NULL and no object has such a row. NULL: none. */
    mcr_join *join;
    /* csv, tsv, libsvm: 1: a file of more bytes than a third of the memory budget is read once, in
     * parts, into a binary cache, which is then used as above. The cache is FILE.mercer-cache, or
     * in the folder cache_dir if that is not NULL; it is used again for the same file (by size and
     * time, or else by checksum) and the same options. Data with words, missing values or several
     * targets are read into memory. */
    int cache;
    const char *cache_dir;
    /* fasta, text: the classes of a model, NULL-terminated. If no label of the file is one of them,
     * the labels are names: the data have no targets, and a warning is logged. An empty list: the
     * model predicts numbers, and words are names. NULL: all labels are targets. */
    const char *const *known;
} mcr_read_options;

/* Reads a table (csv, tsv, sqlite; with a header) to be joined. Its key is the column called `key`,
 * whose values must be unique; they are compared as text: 1 and 1.0 differ. The key of the objects
 * is the column or field of the same name; fasta: the first word of the header; tu: the number of
 * the graph, from 1. key NULL: the only column that both tables have; for objects that are not rows
 * of a table, the only column with the role id. The key is an id, unless options->roles changes
 * that. Close it after the last mcr_data_read that uses it; the data do not need it. */
MCR_API mcr_status mcr_join_open(mcr_join **out, mcr *ctx, const char *path, const char *key);
MCR_API void mcr_join_close(mcr_join *join); /* NULL allowed */
/* The number of objects without a row in it, of the *objects that were read with it; *first: the
 * key of the first of these, cut to 63 bytes, borrowed; NULL: none. */
MCR_API int64_t mcr_join_unmatched(const mcr_join *join, int64_t *objects, const char **first);

/* Reads a file (or TU directory; "-": standard input), compressed with gzip or not. Of an SQLite
 * database: "data.sqlite:table" or "data.sqlite:SELECT ..."; the only table needs no name. options
 * may be NULL. With class_files, path may be NULL. The whole file is checked: a fault is
 * MCR_BAD_DATA with file and line. Cost: one pass, memory for the data itself plus a bounded
 * window; tables and LIBSVM files are parsed by all threads, and the result does not depend on
 * their number. csv/tsv: a column is numeric if at least half of its values in the first 256 KB are
 * numbers (then all must be), else text. A value that is empty, ?, NA, N/A, NaN or null without
 * quotes is missing; in quotes it is text. libsvm: zeros are not stored; '#' starts a comment.
 * Blank lines are allowed only at the end. */
MCR_API mcr_status mcr_data_read(mcr_data **out, mcr *ctx, const char *path,
                                 const mcr_read_options *options);
/* The same from bytes in memory; name is used in messages and to detect the format by extension. */
MCR_API mcr_status mcr_data_read_memory(mcr_data **out, mcr *ctx, const char *name,
                                        const void *bytes, size_t count,
                                        const mcr_read_options *options);
/* The formats that can be read: names (NULL-terminated) and one-line summaries. */
MCR_API const char *const *mcr_data_formats(void);
MCR_API const char *mcr_data_format_summary(const char *format);
MCR_API int mcr_data_format_writes(const char *format); /* 1: mcr_data_write writes it, too */

/* A column of a table. */
typedef struct mcr_column_info {
    char *name; /* "column3" where there is no header */
    mcr_role role;
    int64_t distinct, missing; /* distinct: counted up to a million */
    char *examples;            /* up to three of its values, separated by commas */
} mcr_column_info;

/* The columns of a csv or tsv file, in one pass; the roles are those that mcr_data_read gives them.
 * *count is 0, with MCR_OK, if the file has another format. */
MCR_API mcr_status mcr_columns_read(mcr_column_info **out, int64_t *count, mcr *ctx,
                                    const char *path, const mcr_read_options *options);
MCR_API void mcr_columns_free(mcr *ctx, mcr_column_info *columns, int64_t count);

/* ---- building --------------------------------------------------------------------------------*/

/* A builder collects fields for `count` objects. The functions here copy what they are given; those
 * of borrow.h do not. After a failure the builder can only be closed. One thread at a time. */
typedef struct mcr_builder mcr_builder;
MCR_API mcr_status mcr_builder_open(mcr_builder **out, mcr *ctx, int64_t count);
MCR_API void mcr_builder_close(mcr_builder *builder); /* NULL allowed */
/* Row-major, ld >= cols. Values must be finite. */
MCR_API mcr_status mcr_builder_dense(mcr_builder *builder, const char *name, const double *values,
                                     int64_t cols, int64_t ld);
/* Row i has entries start[i] .. start[i+1]-1; indices from 0, ascending within a row. */
MCR_API mcr_status mcr_builder_sparse(mcr_builder *builder, const char *name, int64_t cols,
                                      const int64_t *start, const int32_t *index,
                                      const double *value);
/* String i is bytes[start[i] .. start[i+1]-1]; any bytes. */
MCR_API mcr_status mcr_builder_strings(mcr_builder *builder, const char *name, const int64_t *start,
                                       const char *bytes);
/* Graph i has nodes node_start[i] .. node_start[i+1]-1 and edges edge_start[i] ..; an edge is a
 * pair of node numbers within its graph, from 0. Undirected: (a,b) and (b,a) are the same edge;
 * repeated edges count once; a self-loop is kept. Labels are small integers; NULL: no labels. */
MCR_API mcr_status mcr_builder_graphs(mcr_builder *builder, const char *name,
                                      const int64_t *node_start, const int32_t *node_label,
                                      const int64_t *edge_start, const int32_t (*edge)[2],
                                      const int32_t *edge_label);
/* Row-major values of K against `cols` reference objects. id[i] is the number (from 0) of the
 * reference object that object i is; -1: none of them. id NULL: i if the matrix is square, else
 * none. cols 0 (with id): the objects have numbers but no values, like support vectors, whose
 * kernel values come with the objects that are predicted. */
MCR_API mcr_status mcr_builder_precomputed(mcr_builder *builder, const char *name,
                                           const double *values, int64_t cols, const int64_t *id);
MCR_API mcr_status mcr_builder_targets(mcr_builder *builder, const double *values);
/* Several targets per object, row by row: `count` numbers for each object. If names is NULL, they
 * are called target1, target2, ... */
MCR_API mcr_status mcr_builder_target_table(mcr_builder *builder, const double *values,
                                            int64_t count, const char *const *names);
/* Class words, one per object. */
MCR_API mcr_status mcr_builder_words(mcr_builder *builder, const char *const *words);
MCR_API mcr_status mcr_builder_weights(mcr_builder *builder, const double *weights); /* >= 0 */
/* Makes the data set and closes the builder, also on failure. */
MCR_API mcr_status mcr_builder_finish(mcr_data **out, mcr_builder *builder);

/* ---- contents --------------------------------------------------------------------------------*/

typedef struct mcr_field_info {
    size_t size;      /* sizeof(mcr_field_info) */
    const char *name; /* borrowed */
    mcr_kind kind;
    int64_t cols;              /* vectors: features; precomputed: reference objects; else 0 */
    int64_t entries;           /* sparse: nonzeros; strings: bytes; graphs: edges; dense: values */
    int64_t nodes;             /* graphs */
    int64_t shortest, longest; /* strings: bytes; graphs: nodes; sparse: nonzeros per row */
    int64_t alphabet;          /* strings: distinct bytes; graphs: distinct node labels, 0: none */
    int64_t edge_labels;       /* graphs: distinct edge labels, 0: none */
    mcr_role role;             /* of a table's column; x: MCR_NUMBER; else MCR_ROLE_NONE */
    int64_t missing;           /* values of a table that are missing */
} mcr_field_info;

MCR_API mcr_data *mcr_data_retain(const mcr_data *data); /* same object, one more owner */
MCR_API void mcr_data_free(mcr_data *data);              /* NULL allowed */
MCR_API int64_t mcr_data_count(const mcr_data *data);
MCR_API int64_t mcr_data_fields(const mcr_data *data);
MCR_API mcr_status mcr_data_field_info(const mcr_data *data, int64_t field, mcr_field_info *info);
MCR_API mcr_targets mcr_data_target_kind(const mcr_data *data);
/* Borrowed, one per object; NULL when there are none (for words: the class number). */
MCR_API const double *mcr_data_targets(const mcr_data *data);
MCR_API const double *mcr_data_weights(const mcr_data *data);
/* The number of targets per object: 0, 1 or, if all are numbers, more. mcr_data_targets returns the
 * first target of each object, the table all of them, row by row. Several targets have names; else
 * NULL. */
MCR_API int64_t mcr_data_target_count(const mcr_data *data);
MCR_API const double *mcr_data_target_table(const mcr_data *data);
MCR_API const char *mcr_data_target_name(const mcr_data *data, int64_t t);
/* Classes: the number of distinct targets and the name of each. Words are in the order of their
 * first appearance, numbers in ascending order. class_of returns the class of each object. */
MCR_API int64_t mcr_data_classes(const mcr_data *data);
MCR_API const char *mcr_data_class_name(const mcr_data *data, int64_t c);
MCR_API const int32_t *mcr_data_class_of(const mcr_data *data);
/* Copies row i of a vector field as dense numbers. */
MCR_API mcr_status mcr_data_vector(const mcr_data *data, int64_t field, int64_t i, double *values);
/* The name of a column of a vector field, borrowed; NULL: it has none. */
MCR_API const char *mcr_data_column_name(const mcr_data *data, int64_t field, int64_t column);
/* The stored entries of row i, in ascending order of the columns: all columns of a dense vector,
 * the nonzeros of a sparse one. column and value may be NULL: then only *count is set. */
MCR_API mcr_status mcr_data_entries(const mcr_data *data, int64_t field, int64_t i, int64_t *column,
                                    double *value, int64_t *count);
/* Borrowed bytes of string i. */
MCR_API mcr_status mcr_data_string(const mcr_data *data, int64_t field, int64_t i,
                                   const char **bytes, int64_t *length);

/* The layout of the table that the data were read from, for reading similar files; NULL: they are
 * not from a table, or all its columns are numbers, texts, targets and weights. */
MCR_API const mcr_layout *mcr_data_layout(const mcr_data *data);
/* Its columns, with their names (borrowed) and roles; 0 and NULL if they have no names or no
 * roles. */
MCR_API int64_t mcr_layout_columns(const mcr_layout *layout);
MCR_API const char *mcr_layout_column(const mcr_layout *layout, int64_t column, mcr_role *role);
/* The column by which a table was joined (mcr_join_open), borrowed; NULL: none was. *beside: 1 if
 * the objects were not rows of a table. */
MCR_API const char *mcr_layout_key(const mcr_layout *layout, int *beside);
/* Columns that are not fields but are copied to outputs: ids, groups, columns to keep. */
MCR_API int64_t mcr_data_carried(const mcr_data *data);
MCR_API const char *mcr_data_carried_name(const mcr_data *data, int64_t c, mcr_role *role);
/* Borrowed bytes of object i. */
MCR_API mcr_status mcr_data_carried_text(const mcr_data *data, int64_t c, int64_t i,
                                         const char **bytes, int64_t *length);
/* The number of rows that were dropped by missing="drop", and that were skipped by skip_bad; *line
 * and *why: of the first row that was skipped. */
MCR_API int64_t mcr_data_dropped(const mcr_data *data);
MCR_API int64_t mcr_data_skipped(const mcr_data *data, int64_t *line, const char **why);
/* csv, tsv and text: the line of the first byte that is not UTF-8; 0: there is none. Such bytes are
 * used as they are. */
MCR_API int64_t mcr_data_not_utf8(const mcr_data *data);
/* The same objects with missing numbers and words filled with values computed from these objects,
 * by the method of the read options. For using a kernel without a learner: mcr_fit does this
 * itself. */
MCR_API mcr_status mcr_data_fill(mcr_data **out, const mcr_data *data);

/* A view of some rows (repeats allowed); shares storage, O(count). Classes keep the parent's
 * numbering. */
MCR_API mcr_status mcr_data_select(mcr_data **out, const mcr_data *data, mcr_rows rows);
/* Splits off the column of groups, which shows which objects belong together: a field of strings,
 * or a named column of dense vectors. group receives one number per object, equal for equal values;
 * *out has the same objects without the column. *out is NULL, with MCR_OK, if there is no column of
 * that name; MCR_BAD_DATA if there is no other column. */
MCR_API mcr_status mcr_data_take_groups(mcr_data **out, const mcr_data *data, const char *column,
                                        int64_t *group);
/* The same objects with the targets of detection: -1 for those of the class `anomaly`, +1 for all
 * others. MCR_BAD_CALL if there is no class of that name. */
MCR_API mcr_status mcr_data_mark(mcr_data **out, const mcr_data *data, const char *anomaly);
/* The same objects with this class as the positive one, for precision, recall, F1 and the curves of
 * two classes. MCR_BAD_CALL if there is no class of that name. Views keep it. */
MCR_API mcr_status mcr_data_choose_positive(mcr_data **out, const mcr_data *data, const char *name);
/* The positive class. The default, for two classes: the larger number, or the rarer word (on a tie
 * the later in the alphabet). -1: none was chosen, and there are not two classes. */
MCR_API int64_t mcr_data_positive(const mcr_data *data);
/* Concatenates data sets (count >= 1), in the context of the first. All must have the same fields,
 * of the same kinds and names. Dense fields must have the same number of columns, which are matched
 * by their names if they have any; sparse fields get the largest number. Targets that are numbers
 * in one part and words in another become words; several targets must have the same names in all
 * parts; weights are 1 where a part has none; classes are renumbered. Copies. */
MCR_API mcr_status mcr_data_concat(mcr_data **out, const mcr_data *const *parts, int64_t count);

/* ---- writing ---------------------------------------------------------------------------------*/

/* Writes in a format that mcr_data_read reads back identically: "libsvm", "csv", "tsv", "text",
 * "fasta", "jsonl" (which holds everything except several targets); NULL: by the extension of path,
 * else the simplest that can hold the fields. "-" is standard output. If the data would read back
 * differently, the call fails with MCR_BAD_CALL and nothing is written. There are two exceptions,
 * if the caller names the format: field names become the fixed names of the format (libsvm "x",
 * text "text", fasta "sequence"), and dense vectors become sparse in libsvm, sparse ones dense in
 * csv and tsv. Data without targets must be read with the target "none", and weights in csv and tsv
 * with the weight "weight". */
MCR_API mcr_status mcr_data_write(const mcr_data *data, const char *path, const char *format);

/* ---- synthetic data --------------------------------------------------------------------------*/

/* The named data sets (moons rings spirals xor blobs line sinc motifs molecules ...), determined by
 * the seed of the context. count 0, noise < 0: the default of the set. */
MCR_API mcr_status mcr_data_sample(mcr_data **out, mcr *ctx, const char *name, int64_t count,
                                   double noise);
MCR_API const char *const *mcr_data_samples(void);             /* names, NULL-terminated */
MCR_API const char *mcr_data_sample_summary(const char *name); /* one line; NULL: unknown */

#ifdef __cplusplus
}
#endif
#endif
