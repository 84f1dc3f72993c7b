/* facts.h: the numbers and texts of a model, of options or of metrics, by enumeration.
 *
 * A fact has a name, a type and a value. A program can show or store all facts without knowing
 * which ones exist:
 *
 *     mcr_fact f = MCR_INIT(mcr_fact);
 *     for (int64_t i = 0; i < mcr_model_fact_count(model); i++)
 *         if (mcr_model_fact(model, i, &f) == MCR_OK && f.type == MCR_FACT_REAL)
 *             printf("%s = %g\n", f.name, f.real);
 *
 * Names never change; new ones may be added. Facts that belong together have the same prefix, up to
 * a dot ("certificate.kind", "certificate.value"). mcr_model_fact and mcr_metrics_fact are in
 * model.h, mcr_options_fact is in learner.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_FACTS_H
#define MERCER_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mcr_fact_type {
    MCR_FACT_NONE = 0, /* no value: an option that was not given */
    MCR_FACT_TEXT,     /* text; NULL: not known */
    MCR_FACT_INT,      /* integer */
    MCR_FACT_REAL,     /* real; NAN: not known */
    MCR_FACT_FLAG,     /* integer: 0 or 1 */
    MCR_FACT_REALS     /* reals[0 .. count-1] */
} mcr_fact_type;

/* The subject of a fact; the facts of options and metrics are all in group 0. */
typedef enum mcr_fact_group {
    MCR_FACTS_REPORT = 0, /* the result of training */
    MCR_FACTS_MODEL,      /* who made the model, and what it can do */
    MCR_FACTS_KEPT        /* numbers that the learner keeps in its models (mcr_model_number) */
} mcr_fact_group;

/* Texts and arrays are borrowed from the model, options or metrics. */
typedef struct mcr_fact {
    size_t size; /* sizeof(mcr_fact) */
    const char *name;
    mcr_fact_type type;
    mcr_fact_group group;
    const char *text;
    int64_t integer;
    double real;
    const double *reals;
    int64_t count;
} mcr_fact;

#ifdef __cplusplus
}
#endif
#endif
