/* c_text.h (internal): writing C.
 *
 * In templates @ stands for the model's name and $ for the same in capitals; the rest is printf's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_EXPORT_C_TEXT_H
#define MCR_EXPORT_C_TEXT_H

#include "export/portable.h"

enum { MCR_C_NUMBERS = 8, MCR_C_NUMBER = 40 };

typedef struct mcr_c_writer {
    mcr *ctx;
    mcr_text text;
    const mcr_portable *p;
    const mcr_exporting *call;
    mcr_quantised int8; /* q NULL: not quantised */
    const char *name;
    char capitals[64];
    bool precise;  /* double */
    const char *f; /* suffix of functions and numbers: "f", or "" for double */
    int64_t owns;  /* numbers that an object brings to normalize, cosine, conformal */
    bool sparse;   /* support vectors as their entries that are not 0 */
    char number[MCR_C_NUMBERS][MCR_C_NUMBER]; /* of mcr_c_number */
    int next;
    mcr_status status;
} mcr_c_writer;

void mcr_c_put(mcr_c_writer *w, const char *format, ...) MCR_PRINTF(2, 3);
/* A template as it is, without printf. */
void mcr_c_lines(mcr_c_writer *w, const char *text);
/* A number of the model's type; one that does not fit makes the writer fail. */
void mcr_c_real(mcr_c_writer *w, double value);
/* The same in text of its own; valid until the next eight calls. */
const char *mcr_c_number(mcr_c_writer *w, double value);
/* static const @_real @_NAME[count]. */
void mcr_c_reals(mcr_c_writer *w, const char *name, const double *value, int64_t count);
void mcr_c_ints(mcr_c_writer *w, const char *type, const char *name, const int64_t *value,
                int64_t count);

/* c_arrays.c: the numbers of the model, and how a support vector is loaded. */
mcr_status mcr_c_arrays(mcr_c_writer *w);
/* c_kernel.c: the input's preparation, and the kernel; how many numbers an object brings to it. */
mcr_status mcr_c_kernel(mcr_c_writer *w);
int64_t mcr_c_owns(const mcr_portable *p);
/* c_strings.c: a function for a kernel on strings; the leaf's number tells it from others. */
mcr_status mcr_c_string_kernel(mcr_c_writer *w, const mcr_kernel *leaf, int64_t number);
/* A table as long as the input is needed: strings have a limit. */
bool mcr_c_has_limit(const mcr_portable *p);
/* c_decide.c: scores, predictions, probabilities, standard deviations. */
mcr_status mcr_c_decide(mcr_c_writer *w);
bool mcr_c_has_label(const mcr_portable *p); /* predict returns an int */
/* c_finish.c: the function @_finish of neighbours and voted perceptrons; variances and
 * probabilities of Gaussian processes. */
mcr_status mcr_c_neighbours(mcr_c_writer *w);
mcr_status mcr_c_voted(mcr_c_writer *w);
mcr_status mcr_c_posterior(mcr_c_writer *w);
void mcr_c_gp_probability(mcr_c_writer *w);
/* c_test.c: objects with what the program says of them, under #ifdef $_TEST. */
mcr_status mcr_c_test(mcr_c_writer *w);

/* Parameters of the functions that take an object, and the same as arguments. */
void mcr_c_parameters(mcr_c_writer *w);
void mcr_c_arguments(mcr_c_writer *w);
void mcr_c_prototypes(mcr_c_writer *w);

/* The own numbers of the support vectors, basis x owns; *out is the caller's to free. */
mcr_status mcr_c_own_numbers(double **out, mcr_c_writer *w);

#endif
