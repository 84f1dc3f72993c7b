/* data.h: objects to learn from.
 *
 * A data set holds n objects. Each object has one value in each named field; a field is of one
 * kind: dense or sparse vectors, strings, graphs, or rows of a precomputed kernel. It may have
 * targets (real numbers, or classes named by words or numbers; several an object where all are numbers)
 * and weights. Data sets are immutable and counted: mcr_data_retain/mcr_data_free, and mcr_data_select makes a view that shares storage.
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

/* What a column of a table is for. */
typedef enum mcr_role {
    MCR_ROLE_NONE = 0, /* not of a table */
    MCR_NUMBER,        /* a column of the dense field "x" */
    MCR_CATEGORY,      /* a field of strings: equal or not */
    MCR_DATE,  /* a dense field: days since 1970, and where in the year, the week and the day */
    MCR_WORDS, /* a field of strings: text */
    MCR_SET,   /* a field of strings: elements with ; between them */
    MCR_ID,    /* carried into every output, never a feature */
    MCR_TARGET,
    MCR_WEIGHT,
    MCR_GROUP,  /* carried; which objects belong together */
    MCR_IGNORED /* not read; carried where the options say so */
} mcr_role;

/* "number", "category", "date", "text", "set", "id", "target", "weight", "group", "ignore"; NULL: none. */
MCR_API const char *mcr_role_name(mcr_role role);

/* ---- reading ---------------------------------------------------------------------------------*/

/* What the columns of a table were: how many, and which of them targets and weights. A model keeps it.
 * May be shared between threads. */
typedef struct mcr_layout mcr_layout;

/* Zero in a field means the default. */
typedef struct mcr_read_options {
    size_t size;        /* sizeof(mcr_read_options) */
    const char *format; /* "libsvm csv tsv npy text fasta tu jsonl precomputed"; NULL: detected */
    /* csv/tsv: the target column, by name or number from 1; jsonl: the key; npy and precomputed
     * matrices: a second .npy file; "none": no target. NULL, in csv/tsv: a column called target,
     * label, class or y (in this order, whatever the case), else the last one. Several targets, which
     * must be numbers: columns or keys with commas between them ("a,b"), or a file with several
     * columns. */
    const char *target;
    const char *weight; /* csv/tsv: a column as above; jsonl: the key; NULL: none ("weight") */
    /* fasta: one file a class; NULL-terminated list of paths. The class words are the file names
     * without directory and extension, or what stands before '=' in "word=path". */
    const char *const *class_files;
    int64_t features; /* libsvm: at least so many columns (a model's), 0: as found */
    /* csv/tsv: where target or weight are NULL, they are the columns that they were in this table
     * (mcr_model_layout): of the same names, or, without a header, at the same places of as many columns.
     * A table that has all columns but these has no target. NULL: as said above. Where it has roles,
     * each column has the role that it had there, and columns that it had not are not read. */
    const mcr_layout *like;
    /* csv/tsv: "column=role", NULL-terminated; NULL: all are guessed (docs/tables.md has the rules). */
    const char *const *roles;
    const char *drop; /* csv/tsv: columns not to be read, with commas between them; NULL: none */
    const char *only; /* csv/tsv: the only columns that are features; NULL: all */
    const char *keep; /* csv/tsv: columns to be carried along as text, besides; NULL: none */
    /* csv/tsv: what becomes of missing values. "error" (or NULL): refused; "drop": rows that have one are
     * left out; "mean", "median", "mode", "indicator": mcr_fit fills them by what the training objects
     * show (docs/tables.md); "auto": as indicator, where the training objects lack values, and as error in
     * models of those that lack none. Missing words are the empty string. */
    const char *missing;
    int skip_bad; /* csv/tsv: rows that cannot be read are left out and counted */
} mcr_read_options;

/* Reads a file (or TU directory; "-": standard input), gzip or not. options may be NULL. With
 * class_files, path may be NULL. The whole file is checked: a fault is MCR_BAD_DATA with file and
 * line. Cost: one pass, memory for the data itself plus a bounded window; LIBSVM files are parsed by
 * all threads, with the same result whatever their number.
 * csv/tsv: a column is numeric if at least half of its values in the first 256 KB are numbers (then
 * all must be), else text. A value that is empty, ?, NA, N/A, NaN or null without quotes is missing,
 * and refused; in quotes it is text.
 * libsvm: zeros are not stored; '#' starts a comment. Blank lines may stand only at the end. */
MCR_API mcr_status mcr_data_read(mcr_data **out, mcr *ctx, const char *path,
                                 const mcr_read_options *options);
/* The same from bytes in memory; name is for messages and detection by extension. */
MCR_API mcr_status mcr_data_read_memory(mcr_data **out, mcr *ctx, const char *name,
                                        const void *bytes, size_t count,
                                        const mcr_read_options *options);
/* The formats that can be read: names (NULL-terminated) and one-line summaries. */
MCR_API const char *const *mcr_data_formats(void);
MCR_API const char *mcr_data_format_summary(const char *format);
MCR_API int mcr_data_format_writes(const char *format); /* 1: mcr_data_write writes it, too */

/* A column of a table, as `mercer info` shows it. */
typedef struct mcr_column_info {
    char *name; /* "column3" where there is no header */
    mcr_role role;
    int64_t distinct, missing; /* distinct: counted up to a million */
    char *examples;            /* up to three of its values, with commas between them */
} mcr_column_info;

/* The columns of a csv or tsv file, in one pass; the roles are those that mcr_data_read gives them.
 * *count is 0, with MCR_OK, where the file has another format. */
MCR_API mcr_status mcr_columns_read(mcr_column_info **out, int64_t *count, mcr *ctx,
                                    const char *path, const mcr_read_options *options);
MCR_API void mcr_columns_free(mcr *ctx, mcr_column_info *columns, int64_t count);

/* ---- building --------------------------------------------------------------------------------*/

/* A builder collects fields for `count` objects; every add copies what it is given. After a failure
 * the builder can only be freed. One thread at a time. */
typedef struct mcr_builder mcr_builder;
MCR_API mcr_status mcr_builder_open(mcr_builder **out, mcr *ctx, int64_t count);
MCR_API void mcr_builder_close(mcr_builder *builder);
/* Row-major, ld >= cols. Values must be finite. */
MCR_API mcr_status mcr_builder_dense(mcr_builder *builder, const char *name, const double *values,
                                     int64_t cols, int64_t ld);
/* Row i has entries start[i] .. start[i+1]-1; indices from 0, rising within a row. */
MCR_API mcr_status mcr_builder_sparse(mcr_builder *builder, const char *name, int64_t cols,
                                      const int64_t *start, const int32_t *index,
                                      const double *value);
/* String i is bytes[start[i] .. start[i+1]-1]; any bytes. */
MCR_API mcr_status mcr_builder_strings(mcr_builder *builder, const char *name, const int64_t *start,
                                       const char *bytes);
/* Graph i has nodes node_start[i] .. node_start[i+1]-1 and edges edge_start[i] ..; an edge is a pair
 * of node numbers within its graph, from 0. Undirected: (a,b) and (b,a) are the same edge; repeated
 * edges count once; a self-loop is kept. Labels are small integers; NULL: no labels. */
MCR_API mcr_status mcr_builder_graphs(mcr_builder *builder, const char *name,
                                      const int64_t *node_start, const int32_t *node_label,
                                      const int64_t *edge_start, const int32_t (*edge)[2],
                                      const int32_t *edge_label);
/* Row-major values of K against `cols` reference objects; id[i] = which reference object (from 0)
 * object i is, -1: none. NULL: if the matrix is square then i, else none. cols 0 (with id): numbers only, as
 * support vectors have them: the values then come from the other side. */
MCR_API mcr_status mcr_builder_precomputed(mcr_builder *builder, const char *name,
                                           const double *values, int64_t cols, const int64_t *id);
MCR_API mcr_status mcr_builder_targets(mcr_builder *builder, const double *values);
/* Several targets an object, row by row: `count` numbers for each. names may be NULL: then they are
 * called target1, target2, ... */
MCR_API mcr_status mcr_builder_target_table(mcr_builder *builder, const double *values,
                                            int64_t count, const char *const *names);
/* Class words, one per object. */
MCR_API mcr_status mcr_builder_words(mcr_builder *builder, const char *const *words);
MCR_API mcr_status mcr_builder_weights(mcr_builder *builder, const double *weights); /* >= 0 */
/* The data set; the builder is closed by it, also on failure. */
MCR_API mcr_status mcr_builder_finish(mcr_data **out, mcr_builder *builder);

/* ---- looking ---------------------------------------------------------------------------------*/

typedef struct mcr_field_info {
    size_t size;      /* sizeof(mcr_field_info) */
    const char *name; /* borrowed */
    mcr_kind kind;
    int64_t cols;              /* vectors: features; precomputed: reference objects; else 0 */
    int64_t entries;           /* sparse: nonzeros; strings: bytes; graphs: edges; dense: values */
    int64_t nodes;             /* graphs */
    int64_t shortest, longest; /* strings: bytes; graphs: nodes; sparse: nonzeros a row */
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
/* How many targets an object has: 0, 1 or, where all are numbers, more. mcr_data_targets gives the first
 * of each, the table all of them, row by row. Names are known where there are several; else NULL. */
MCR_API int64_t mcr_data_target_count(const mcr_data *data);
MCR_API const double *mcr_data_target_table(const mcr_data *data);
MCR_API const char *mcr_data_target_name(const mcr_data *data, int64_t t);
/* Classes: number of distinct targets, and the word for each, in the order of interface: first
 * appearance for words, ascending for numbers. class_of gives each object's class. */
MCR_API int64_t mcr_data_classes(const mcr_data *data);
MCR_API const char *mcr_data_class_name(const mcr_data *data, int64_t c);
MCR_API const int32_t *mcr_data_class_of(const mcr_data *data);
/* Values back, for users and tests. Copies row i of a vector field as dense numbers. */
MCR_API mcr_status mcr_data_vector(const mcr_data *data, int64_t field, int64_t i, double *values);
/* The name of a column of a vector field, borrowed; NULL: it has none. */
MCR_API const char *mcr_data_column_name(const mcr_data *data, int64_t field, int64_t column);
/* The entries of row i that are stored, with rising columns: all columns of a dense vector, nonzeros of
 * a sparse one. column and value may be NULL: then only *count is set. */
MCR_API mcr_status mcr_data_entries(const mcr_data *data, int64_t field, int64_t i, int64_t *column,
                                    double *value, int64_t *count);
/* Borrowed bytes of string i. */
MCR_API mcr_status mcr_data_string(const mcr_data *data, int64_t field, int64_t i,
                                   const char **bytes, int64_t *length);

/* The roles of the columns of the table that the data were read from, for other files like it; NULL: it
 * was no table, or all its columns are numbers, texts, targets and weights. */
MCR_API const mcr_layout *mcr_data_layout(const mcr_data *data);
/* Its columns, with their names (borrowed) and roles; 0 and NULL: they have no names, or no roles. */
MCR_API int64_t mcr_layout_columns(const mcr_layout *layout);
MCR_API const char *mcr_layout_column(const mcr_layout *layout, int64_t column, mcr_role *role);
/* Columns that are carried along and are no fields: ids, groups, columns to be kept. */
MCR_API int64_t mcr_data_carried(const mcr_data *data);
MCR_API const char *mcr_data_carried_name(const mcr_data *data, int64_t c, mcr_role *role);
/* Borrowed bytes of object i. */
MCR_API mcr_status mcr_data_carried_text(const mcr_data *data, int64_t c, int64_t i,
                                         const char **bytes, int64_t *length);
/* How many rows were left out by missing="drop", and by skip_bad; *line: the first of the latter. */
MCR_API int64_t mcr_data_dropped(const mcr_data *data);
MCR_API int64_t mcr_data_skipped(const mcr_data *data, int64_t *line, const char **why);
/* The same objects with their missing numbers and words filled by what these objects show, as the options
 * said when they were read. For kernels without a learner: mcr_fit fills by itself. */
MCR_API mcr_status mcr_data_fill(mcr_data **out, const mcr_data *data);

/* A view of some rows (repeats allowed); shares storage, O(count). Classes keep the parent's
 * numbering. */
MCR_API mcr_status mcr_data_select(mcr_data **out, const mcr_data *data, mcr_rows rows);
/* The same objects without a column that says which of them belong together: a field of strings, or a
 * named column of dense vectors. group: one number per object, equal for equal values. *out is NULL, with
 * MCR_OK, if there is no column of that name; MCR_BAD_DATA if nothing else is there. */
MCR_API mcr_status mcr_data_take_groups(mcr_data **out, const mcr_data *data, const char *column,
                                        int64_t *group);
/* The same objects with the targets of detection: -1 for those of the class `anomaly`, +1 for all
 * others. MCR_BAD_CALL if there is no class of that name. */
MCR_API mcr_status mcr_data_mark(mcr_data **out, const mcr_data *data, const char *anomaly);
/* The same objects with the class that precision, recall, F1 and the curves of two classes speak of.
 * MCR_BAD_CALL if there is no class of that name. Views keep it. */
MCR_API mcr_status mcr_data_choose_positive(mcr_data **out, const mcr_data *data, const char *name);
/* That class, or of two classes the default: of numbers the larger, of words the rarer, on a tie the later
 * in the alphabet. -1: none was chosen, and there are not two. */
MCR_API int64_t mcr_data_positive(const mcr_data *data);
/* One data set after the other (count >= 1), in the context of the first: same fields, kinds and
 * names; dense fields with as many columns, sparse ones take the most. Numbers and words as targets
 * make words; several targets must be as many, under the same names, in all parts; weights are 1
 * where a part has none; classes are renumbered. Copies. */
MCR_API mcr_status mcr_data_concat(mcr_data **out, const mcr_data *const *parts, int64_t count);

/* ---- writing ---------------------------------------------------------------------------------*/

/* Writes in a format that mcr_data_read reads back identically: "libsvm", "csv", "tsv", "text",
 * "fasta", "jsonl" (holds everything but several targets); NULL: by the extension of path, else the simplest that can
 * hold the fields. "-" is standard output. MCR_BAD_CALL, and nothing is written, if the format would
 * give back something else; only where the caller names a format with fixed field names may those
 * change (libsvm "x", text "text", fasta "sequence"), and dense vectors become sparse in libsvm and
 * the other way round in csv and tsv. Without targets read back with the target "none", with weights
 * in csv and tsv with the weight "weight". */
MCR_API mcr_status mcr_data_write(const mcr_data *data, const char *path, const char *format);

/* ---- synthetic data --------------------------------------------------------------------------*/

/* The named data sets (moons rings spirals xor blobs line sinc motifs molecules ...): deterministic
 * by seed (the context's). count 0, noise < 0: the set's own default. */
MCR_API mcr_status mcr_data_sample(mcr_data **out, mcr *ctx, const char *name, int64_t count,
                                   double noise);
MCR_API const char *const *mcr_data_samples(void);             /* names, NULL-terminated */
MCR_API const char *mcr_data_sample_summary(const char *name); /* one line; NULL: unknown */

#ifdef __cplusplus
}
#endif
#endif
