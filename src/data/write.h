/* write.h (internal to data): writing data sets, one writer per format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_WRITE_H
#define MCR_DATA_WRITE_H

#include "data/data.h"

enum { MCR_WHY = 200 };

typedef struct mcr_writer {
    /* Whether the format can represent the data set exactly; if not, says why. */
    bool (*holds)(const mcr_data *data, char why[MCR_WHY]);
    /* The header line; NULL: none. */
    void (*head)(mcr_text *to, const mcr_data *data);
    void (*row)(mcr_text *to, const mcr_data *data, int64_t i);
} mcr_writer;

extern const mcr_writer mcr_writer_libsvm, mcr_writer_csv, mcr_writer_tsv, mcr_writer_text,
    mcr_writer_fasta, mcr_writer_jsonl;

/* Writes "field \"x\" ..." to why and returns false, so that a check can end with it. */
bool mcr_writer_no(char why[MCR_WHY], const char *format, ...) MCR_PRINTF(2, 3);
/* The target of object i as text: its class name, or the number. */
void mcr_writer_target(mcr_text *to, const mcr_data *data, int64_t i);
struct mcr_json_writer;
/* As arrays: the values of a vector, its columns, the edges of a graph (each listed once). */
void mcr_write_values(struct mcr_json_writer *w, const mcr_vector *x);
void mcr_write_columns(struct mcr_json_writer *w, const char *key, const mcr_vector *x);
void mcr_write_edges(struct mcr_json_writer *w, const mcr_store *s, int64_t row);
/* The bytes of string i. */
typedef struct mcr_span {
    const char *bytes;
    size_t length;
} mcr_span;
mcr_span mcr_writer_string(const mcr_data *data, int64_t field, int64_t i);

#endif
