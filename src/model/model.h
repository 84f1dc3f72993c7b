/* model.h (internal): a model's insides.
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
    const mcr_learner_type *type; /* NULL: a learner that this Mercer does not have */
    mcr_data *basis;              /* the objects that predictions are made from */
    mcr_fitted *fitted;
    int64_t classes;
    char **class_name;
    char **output_name;  /* may be there before the model is complete: names of several targets */
    double *class_value; /* class names as numbers; NAN where one is none */
    mcr_report_fit report;
    char *learner, *options, *certificate, *version; /* owned texts of the report */
    mcr_scaling *scaling; /* of new objects before the kernel sees them; NULL: none */
    mcr_layout *layout;   /* of the table that it was trained on; NULL: it was none */
    bool loaded;          /* from bytes, which may be foreign */
    char *tuning;         /* the table of the search that chose its parameters; NULL: none */
};

/* Training with all that a caller may say. */
typedef struct mcr_training {
    const mcr_options *options;
    const mcr_kernel *kernel; /* NULL: the default */
    const mcr_data *data;
    const mcr_model *start; /* NULL: from nothing */
    bool unscored;          /* leave the score on the training objects out */
    mcr_gram *gram;         /* as in mcr_learning; NULL: none */
    bool scaled;            /* the data are scaled already, whatever the options say */
} mcr_training;
mcr_status mcr_train(mcr_model **out, const mcr_training *how);
/* Seconds that the option time-limit allows; 0: no limit. */
double mcr_time_limit(const mcr_options *options);
/* gamma of the default kernel, rbf: 1 / (features * variance of all values), as users of
 * scikit-learn know it; MCR_BAD_CALL unless the data are one field of vectors. */
mcr_status mcr_default_gamma(double *gamma, mcr *ctx, const mcr_data *data);

/* A model with everything but basis and fitted still to be set; takes nothing over. */
mcr_status mcr_model_new(mcr_model **out, mcr *ctx, const mcr_kernel *kernel, const char *learner,
                         const char *options);
mcr_status mcr_model_set_classes(mcr_model *model, const char *const *name, int64_t count);
/* mse, mae and r2 of out->n numbers that stand `step` apart; weight NULL: 1 each. */
void mcr_numbers_score(const double *y, const double *value, int64_t step, const double *weight,
                       mcr_metrics *out);
/* The adjusted Rand index of out->n objects. */
typedef struct mcr_partition {
    int64_t clusters, classes;
    const double *cluster;
    const int32_t *class_of;    /* or, if it is NULL, */
    const double *class_number; /* the same as numbers */
} mcr_partition;
mcr_status mcr_clusters_score(mcr *ctx, const mcr_partition *p, mcr_metrics *out);
/* Of a model of several targets, after its fitted is set: one name per output. */
mcr_status mcr_model_name_targets(mcr_model *model, const char *const *name);
/* Numbers that it predicts of an object, if it predicts numbers: one output each. */
int64_t mcr_model_targets(const mcr_model *model);
/* Names of the outputs, numbers of the report, after basis, classes and fitted are set. */
mcr_status mcr_model_complete(mcr_model *model);

/* mcr_predict for objects as the kernel sees them. across: K of the objects it was trained on, by
 * their numbers, against these, in double; NULL: it is computed. */
mcr_status mcr_predict_across(mcr *ctx, const mcr_model *model, const mcr_data *data,
                              mcr_gram *across, double *value, double *score, double *proba);

/* Whether a threshold would be one of its decision value; and that it may have one. */
bool mcr_model_decides_by_score(const mcr_model *model);
mcr_status mcr_model_check_threshold(mcr *ctx, const mcr_model *model);
/* Decisions of n objects by a threshold; score or proba, as it says. */
void mcr_threshold_decide(const mcr_model *model, const mcr_threshold *t, const double *score,
                          const double *proba, int64_t n, double *value);

/* New objects as the kernel sees them: with the model's columns, by their names, and scaled. */
mcr_status mcr_model_prepare(mcr_data **out, mcr *ctx, const mcr_model *model,
                             const mcr_data *data);

/* The model's number for each class of the data, -1: unknown to the model. To be freed. */
mcr_status mcr_model_match(int64_t **out, mcr *ctx, const mcr_model *model, const mcr_data *data);
/* Trains; with: data, and what there is to start from. */
mcr_status mcr_model_train(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                           const mcr_learning *with, bool unscored);

#endif
