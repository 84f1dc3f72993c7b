/* c_text.h (internal): writing C.
 *
 * In templates @ is replaced by the model's name and $ by the name in capitals; otherwise they are
 * printf formats.
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
    bool precise;  /* double instead of float */
    const char *f; /* suffix of functions and numbers: "f", or "" for double */
    int64_t owns;  /* numbers per object for normalize, cosine, conformal */
    bool sparse;   /* support vectors are stored as nonzero entries */
    char number[MCR_C_NUMBERS][MCR_C_NUMBER]; /* results of mcr_c_number */
    int next;
    mcr_status status;
} mcr_c_writer;

void mcr_c_put(mcr_c_writer *w, const char *format, ...) MCR_PRINTF(2, 3);
/* Writes a template without printf formats. */
void mcr_c_lines(mcr_c_writer *w, const char *text);
/* A number of the model's type; the writer fails if it does not fit. */
void mcr_c_real(mcr_c_writer *w, double value);
/* The same as a string; valid for the next eight calls. */
const char *mcr_c_number(mcr_c_writer *w, double value);
/* static const @_real @_NAME[count]. */
void mcr_c_reals(mcr_c_writer *w, const char *name, const double *value, int64_t count);
void mcr_c_ints(mcr_c_writer *w, const char *type, const char *name, const int64_t *value,
                int64_t count);

/* c_arrays.c: the numbers of the model, and the code that loads a support vector. */
mcr_status mcr_c_arrays(mcr_c_writer *w);
/* c_kernel.c: preprocessing of the input, and the kernel; the count of numbers per object. */
mcr_status mcr_c_kernel(mcr_c_writer *w);
int64_t mcr_c_owns(const mcr_portable *p);
/* c_strings.c: a function for a kernel on strings; the leaf's number distinguishes it from
 * others. */
mcr_status mcr_c_string_kernel(mcr_c_writer *w, const mcr_kernel *leaf, int64_t number);
/* Whether a table as long as the input is needed: then strings have a limit. */
bool mcr_c_has_limit(const mcr_portable *p);
/* c_decide.c: scores, predictions, probabilities, standard deviations. */
mcr_status mcr_c_decide(mcr_c_writer *w);
bool mcr_c_has_label(const mcr_portable *p); /* whether predict returns an int */
/* c_finish.c: the function @_finish of neighbours and voted perceptrons; variances and
 * probabilities of Gaussian processes. */
mcr_status mcr_c_neighbours(mcr_c_writer *w);
mcr_status mcr_c_voted(mcr_c_writer *w);
mcr_status mcr_c_posterior(mcr_c_writer *w);
void mcr_c_gp_probability(mcr_c_writer *w);
/* c_test.c: test objects with the expected results, under #ifdef $_TEST. */
mcr_status mcr_c_test(mcr_c_writer *w);

/* The parameters of functions that take an object; or, not declared, the arguments. */
void mcr_c_object(mcr_c_writer *w, bool declared);
void mcr_c_prototypes(mcr_c_writer *w);

/* The numbers of each support vector (owns), basis x owns; the caller frees *out. */
mcr_status mcr_c_own_numbers(double **out, mcr_c_writer *w);

#endif
