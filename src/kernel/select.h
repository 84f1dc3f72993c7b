/* select.h (internal): leaves that work on columns of a table.
 *
 * A leaf may name columns, fields, patterns (x_*) and roles (number, category, date, text, set).
 * They are resolved on the first side (in a model, the training objects) and then looked up by name
 * on the other side. Numbers of several columns become one field of dense vectors; if there are
 * categories among them, each value is a separate 0/1 feature, and the vectors are sparse. A leaf
 * that processes columns one by one (equal, ordinal, tanimoto) reads them as words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SELECT_H
#define MCR_KERNEL_SELECT_H

#include "data/format/collect.h"
#include "kernel/kernel.h"

typedef struct mcr_selected {
    const mcr_store *store[2]; /* its field on both sides */
    int64_t column[2];         /* column of a dense field; -1: all columns, or strings */
} mcr_selected;

typedef struct mcr_selection {
    mcr *ctx;
    mcr_selected *part;
    int64_t parts, capacity;
    mcr_store *made[2]; /* vectors built from the columns; NULL: the field itself */
} mcr_selection;

/* Whether the leaf names anything other than a whole field of the data. */
bool mcr_selects(const mcr_kernel *kernel, const mcr_data *data);
/* Sets bound->selection and, unless the leaf processes columns one by one, its fields. */
mcr_status mcr_selection_bind(mcr_bound *bound);
void mcr_selection_close(mcr_selection *selection); /* NULL allowed */
/* Marks the fields of side 0 that the leaf reads: sets wanted[f] for each of them. */
void mcr_selection_mark(const mcr_selection *selection, const mcr_data *data, bool *wanted);

/* Whether a leaf processes its columns one by one. */
bool mcr_takes_columns(const mcr_kernel_type *type);
/* The word of object i in a part; a number becomes its shortest text, in buffer. */
enum { MCR_NUMBER_TEXT = 32 };
const char *mcr_selected_word(const mcr_bound *bound, int64_t part, int side, int64_t i,
                              char text[MCR_NUMBER_TEXT], size_t *length);
/* The number of that word in `words`, as "before=word". */
mcr_status mcr_selected_number(int32_t *out, const mcr_bound *bound, mcr_words *words,
                               const char *before, int64_t part, int side, int64_t i);
/* The name of a part for its features: "age". */
const char *mcr_selected_name(const mcr_selection *selection, int64_t part);

#endif
