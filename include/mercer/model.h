/* model.h: trained models: prediction, files, exchange with LIBSVM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_MODEL_H
#define MERCER_MODEL_H

#include <mercer/features.h>
#include <mercer/learner.h>

#ifdef __cplusplus
extern "C" {
#endif

MCR_API void mcr_model_free(mcr_model *model); /* NULL allowed */
/* How it was made. Borrowed. */
MCR_API const mcr_report_fit *mcr_model_report(const mcr_model *model);
/* What the columns of its training data were, to read others like them; NULL: they were no table.
 * Borrowed. */
MCR_API const mcr_layout *mcr_model_layout(const mcr_model *model);
/* The table of a model that mcr_tune made, as lines of comma-separated values with a header; NULL: it
 * was not tuned. Borrowed. */
MCR_API const char *mcr_model_tuning(const mcr_model *model);
/* Classes in the order of all outputs; 0 for models that predict something else. */
MCR_API int64_t mcr_model_classes(const mcr_model *model);
MCR_API const char *mcr_model_class_name(const mcr_model *model, int64_t c);
/* The objects that predictions are made from, and how many decision values there are (two classes: 1;
 * one-vs-one: one a pair; one-vs-rest: one a class; regression: one a target; detection: 1; clusters:
 * one each; otherwise one a coordinate). */
MCR_API int64_t mcr_model_support(const mcr_model *model);
MCR_API int64_t mcr_model_outputs(const mcr_model *model);
/* What output o decides between: "+1 : -1" (positive: the first named), a class, "value", or of several
 * targets the name. Borrowed. */
MCR_API const char *mcr_model_output_name(const mcr_model *model, int64_t o);
/* The classes that output o speaks for where it is positive and where it is negative; -1: none (the rest,
 * or it decides no class). */
MCR_API void mcr_model_sides(const mcr_model *model, int64_t o, int64_t *positive,
                             int64_t *negative);
MCR_API int mcr_model_has_probability(const mcr_model *model);
MCR_API int mcr_model_has_std(const mcr_model *model); /* it knows how sure it is of its numbers */
/* Coefficients of output o (support values) and its offset: f(x) = sum_i coef_i K(x_i, x) + offset.
 * number (support values, may be NULL): which training objects they are, from 0; -1 if not known. */
MCR_API mcr_status mcr_model_coefficients(const mcr_model *model, int64_t o, double *coef,
                                          double *offset, int64_t *number);

/* The model's objects as explicit features with names (features.h), and output o as a function of them:
 * f(x) = offset + sum over the features of weight phi(x). weight: one a feature. MCR_BAD_CALL if the
 * kernel has no finite feature map. */
MCR_API mcr_status mcr_model_features(mcr_features **out, mcr *ctx, const mcr_model *model);
/* Whether the model scales vectors before it looks at them: the weights are then those of scaled
 * columns. */
MCR_API int mcr_model_scales(const mcr_model *model);
MCR_API mcr_status mcr_model_weights(mcr *ctx, const mcr_model *model, const mcr_features *features,
                                     int64_t o, double *weight, double *offset);

/* Predictions for the objects of data, by blocks. Arrays of the caller, any may be NULL:
 *   value   n: class number, real value (of several targets the first), +1/-1, or number of a cluster
 *           (from 0); a model that gives coordinates has none: MCR_BAD_CALL
 *   score   n x outputs: decision values, coordinates
 *   proba   n x classes: probabilities (models that have them; else MCR_BAD_CALL)
 * The fields the kernel names must be there, with the training data's features. */
MCR_API mcr_status mcr_predict(mcr *ctx, const mcr_model *model, const mcr_data *data,
                               double *value, double *score, double *proba);
/* Values and their standard deviations (n each, any may be NULL), from a model that has them; else
 * MCR_BAD_CALL. */
MCR_API mcr_status mcr_predict_std(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   double *value, double *std);

/* `count` functions drawn from what a model of gp, trained on numbers, believes: their values at the
 * objects of data, n x count. The draws of one call go together: neighbouring objects have similar
 * values in each. By the context's seed. Takes a matrix of n x n. */
MCR_API mcr_status mcr_predict_draws(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                     int64_t count, double *draws);
/* Coordinates of the objects of data, n x mcr_model_outputs, from a model that has them (pca, fisher,
 * cca); else MCR_BAD_CALL. */
MCR_API int mcr_model_has_coordinates(const mcr_model *model);
MCR_API mcr_status mcr_transform(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                 double *coordinates);
/* Pre-images in a model of pca whose kernel reads one field of vectors: for each object a vector
 * whose image is near the object's projection onto the components (n x features), found by descent
 * on that distance. Exact where the projection has a pre-image and the kernel is linear or an odd
 * polynomial; for functions of the distance by their inverse; never farther than the image of a
 * support vector. */
MCR_API mcr_status mcr_preimage_features(mcr *ctx, const mcr_model *model, int64_t *features);
/* The names that the features have as columns of the training data, borrowed; all NULL: they have none. */
MCR_API mcr_status mcr_preimage_names(mcr *ctx, const mcr_model *model, const char **name);
MCR_API mcr_status mcr_preimage(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                double *vectors);
/* The same, with the distances that were reached in feature space, one per object (NULL: not
 * wanted). */
MCR_API mcr_status mcr_preimage_near(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                     double *vectors, double *distance);

typedef struct mcr_metrics {
    int64_t n;
    double accuracy;     /* classes; NAN otherwise */
    double mse, mae, r2; /* numbers; NAN otherwise */
    double rand;         /* clusters: adjusted Rand index against the classes; NAN otherwise */
} mcr_metrics;
/* Compares predicted values with the targets of data. A class that the model does not know counts as
 * wrong. MCR_BAD_DATA when there are no targets of the right kind. */
MCR_API mcr_status mcr_model_score(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   const double *value, mcr_metrics *out);

/* The same of a model of several targets: score (n x outputs) against all targets of data. each: one for
 * every target; mean: what they are on average (r2 of the targets that vary). Both may be NULL.
 * MCR_BAD_DATA when the data have other targets. */
MCR_API mcr_status mcr_model_score_targets(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                           const double *score, mcr_metrics *each,
                                           mcr_metrics *mean);

/* Files: written beside the old one, synced and renamed; read back whole or refused. A LIBSVM model
 * file is recognised and read as it is. */
MCR_API mcr_status mcr_model_save(mcr *ctx, const mcr_model *model, const char *path);
MCR_API mcr_status mcr_model_load(mcr_model **out, mcr *ctx, const char *path);
MCR_API mcr_status mcr_model_load_memory(mcr_model **out, mcr *ctx, const char *name,
                                         const void *bytes, size_t count);
/* As LIBSVM's svm-train would have written it; MCR_BAD_CALL if LIBSVM has no such model. */
MCR_API mcr_status mcr_model_save_libsvm(mcr *ctx, const mcr_model *model, const char *path);
/* 1: the bytes begin like a model file of Mercer or LIBSVM. */
MCR_API int mcr_model_recognise(const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
