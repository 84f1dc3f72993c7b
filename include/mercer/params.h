/* params.h: tables that describe parameters.
 *
 * One table describes the parameters of a kernel, a learner or a synthetic data set. The parser,
 * the options and help of programs and bindings, messages and model files all use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_PARAMS_H
#define MERCER_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mcr_param_type {             /* C type of the value at `offset` */
                              MCR_REAL,   /* double; NAN: not given */
                              MCR_INT,    /* int64_t; INT64_MIN: not given */
                              MCR_FLAG,   /* int: 0 or 1, written no | yes */
                              MCR_CHOICE, /* int: position in `choices` ("presence|count") */
                              MCR_TEXT,   /* char *, owned by the value struct; NULL: not given */
                              MCR_REALS   /* mcr_reals, owned: a number or a list; count 0: none */
} mcr_param_type;

typedef struct mcr_reals {
    int64_t count;
    double *values;
} mcr_reals;

enum {
    MCR_MIN_OPEN = 1, /* the limit itself is excluded */
    MCR_MAX_OPEN = 2,
    MCR_NAMES_FILE = 4, /* the text names a file: refused in kernels that come from a model */
    MCR_MAY_RANGE = 8,  /* the text may be a range of numbers (1e-6:1e3:log20) */
    MCR_OLD_NAME = 16,  /* an older name of the one at this offset: accepted, never listed */
    MCR_PERIOD = 32     /* a period: kernel values oscillate with it, so it does not measure
                         * relevance */
};

typedef struct mcr_param {
    const char *name; /* NULL ends a table */
    mcr_param_type type;
    size_t offset;        /* of the value in the value struct */
    const char *standard; /* the default as text; NULL: none */
    double min, max;      /* for numbers; -INFINITY, INFINITY: no limit */
    unsigned flags;
    const char *choices;
    const char *help; /* one line */
} mcr_param;

#ifdef __cplusplus
}
#endif
#endif
