/* fields.h: a data set while it is built (data.c, table.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_PYTHON_FIELDS_H
#define MERCER_PYTHON_FIELDS_H

#include "core.h"

enum { MOST_LENT = 5 };

/* Buffers that a field of a data set reads. */
typedef struct lent {
    Py_buffer view[MOST_LENT];
    int views;
} lent;

typedef struct building {
    job j;
    mcr_builder *builder;
    int64_t count;
    PyObject *field; /* tuple, borrowed */
    lent *lent;      /* of the field that is being added; NULL: the library has it */
} building;

/* Releases the buffers; the library may call this from any thread. */
void core_give_back(void *user);
/* An element of the field's tuple, borrowed; None behind its end. */
PyObject *core_part(const building *b, Py_ssize_t at);
/* A buffer of the field, held for as long as the library reads it; any: whatever its items are.
 * None: NULL without an exception. */
Py_buffer *core_lend(building *b, Py_ssize_t at, const char *formats, int64_t count);
/* The library has the buffers from now on, whatever it says. */
void *core_hand_over(building *b);
/* The number type of a buffer's items; -1 with an exception set: there is none. */
int core_number_type(const Py_buffer *view, mcr_number *type);
/* A matrix with one row for each object, of items in `formats`; -1 with an exception set. */
int core_matrix(building *b, Py_ssize_t at, const char *formats, mcr_dense_view *to);

/* Fields of a table (table.c). They return MCR_OK where an exception is set. */
mcr_status core_add_missing(building *b, const char *rule);
mcr_status core_add_numbers(building *b, const char *name);
mcr_status core_add_dates(building *b, const char *name);
mcr_status core_add_words(building *b, const char *name);
mcr_status core_add_columns(building *b, const char *name);
PyObject *core_guess_role(PyObject *self, PyObject *args); /* a method of sessions */

#endif
