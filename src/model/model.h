/* model.h (internal): the members of a model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_MODEL_H
#define MCR_MODEL_MODEL_H

#include <mercer/model.h>

#include "learn/learner.h"

struct mcr_model {
    mcr *ctx;
    mcr_kernel *kernel;
    const mcr_learner_type *type; /* NULL: a learner unknown to this version */
    mcr_data *basis;              /* the support vectors */
    mcr_fitted *fitted;
    int64_t classes;
    char **class_name;
    char **output_name;  /* may be set before the model is complete: names of several targets */
    double *class_value; /* class names as numbers; NAN for other names */
    mcr_report_fit report;
    char *learner, *options, *certificate, *version; /* owned texts of the report */
    mcr_scaling *scaling; /* applied to new objects before the kernel; NULL: none */
    mcr_layout *layout;   /* layout of the training table; NULL: not a table */
    bool loaded;          /* from a file or bytes, which may be untrusted */
    char *tuning;         /* the table of the search that chose its parameters; NULL: none */
};

/* Training, with all inputs a caller may provide. */
typedef struct mcr_training {
    const mcr_options *options;
    const mcr_kernel *kernel; /* NULL: the default */
    const mcr_data *data;
    const mcr_model *start; /* warm start; NULL: none */
    bool unscored;          /* skip the score on the training objects */
    mcr_gram *gram;         /* as in mcr_learning; NULL: none */
    bool scaled;            /* the data are already scaled, whatever the options say */
} mcr_training;
mcr_status mcr_train(mcr_model **out, const mcr_training *how);
/* The value of the option time-limit, in seconds; 0: no limit. */
double mcr_time_limit(const mcr_options *options);
/* gamma of the default kernel, rbf: 1 / (features * variance of all values), as scikit-learn's
 * "scale"; MCR_BAD_CALL unless the data are one field of vectors. */
mcr_status mcr_default_gamma(double *gamma, mcr *ctx, const mcr_data *data);

/* A new model, complete except for basis and fitted; takes no ownership. */
mcr_status mcr_model_new(mcr_model **out, mcr *ctx, const mcr_kernel *kernel, const char *learner,
                         const char *options);
mcr_status mcr_model_set_classes(mcr_model *model, const char *const *name, int64_t count);
/* mse, mae and r2 of out->n numbers with stride `step`; weight NULL: 1 each. */
void mcr_numbers_score(const double *y, const double *value, int64_t step, const double *weight,
                       mcr_metrics *out);
/* The adjusted Rand index of out->n objects. */
typedef struct mcr_partition {
    int64_t clusters, classes;
    const double *cluster;
    const int32_t *class_of;    /* or, if NULL, */
    const double *class_number; /* the same as numbers */
} mcr_partition;
mcr_status mcr_clusters_score(mcr *ctx, const mcr_partition *p, mcr_metrics *out);
/* The end of making a model: with MCR_OK it becomes *out, else it is freed and *out NULL. Returns
 * the status. */
mcr_status mcr_model_give(mcr_model **out, mcr_model *model, mcr_status status);
/* Refuses to create dense vectors for a model whose sparse support vectors have far more features
 * than entries; readers of data files have the same check. */
mcr_status mcr_model_check_width(mcr *ctx, const mcr_model *model);
/* For a model with several targets, once its fitted is set: one name per output. */
mcr_status mcr_model_name_targets(mcr_model *model, const char *const *name);
/* How many numbers it predicts per object, if it predicts numbers: one output each. */
int64_t mcr_model_targets(const mcr_model *model);
/* Sets the names of outputs and the numbers of the report; basis, classes and fitted must be
 * set. */
mcr_status mcr_model_complete(mcr_model *model);

/* mcr_predict for prepared objects. across: K of the training objects, by their numbers, against
 * these, in double; NULL: computed. */
mcr_status mcr_predict_across(mcr *ctx, const mcr_model *model, const mcr_data *data,
                              mcr_gram *across, double *value, double *score, double *proba);

/* Whether a threshold would apply to its decision value (rather than a probability); and whether it
 * may have a threshold. */
bool mcr_model_decides_by_score(const mcr_model *model);
mcr_status mcr_model_check_threshold(mcr *ctx, const mcr_model *model);
/* Decisions for n objects by a threshold on score or proba, depending on the model. */
void mcr_threshold_decide(const mcr_model *model, const mcr_threshold *t, const double *score,
                          const double *proba, int64_t n, double *value);

/* Prepares new objects for the kernel: matches the model's columns by name, and scales. */
mcr_status mcr_model_prepare(mcr_data **out, mcr *ctx, const mcr_model *model,
                             const mcr_data *data);

/* The model's number for each class of the data; -1: unknown to the model. To be freed. */
mcr_status mcr_model_match(int64_t **out, mcr *ctx, const mcr_model *model, const mcr_data *data);
/* Trains; with: the data and what to start from. */
mcr_status mcr_model_train(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                           const mcr_learning *with, bool unscored);

#endif
