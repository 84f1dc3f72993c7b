/* model.h: training, prediction, certificates, model files, exchange with LIBSVM.
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

typedef struct mcr_model mcr_model; /* may be shared between threads, unless it is calibrated */

/* ---- training ----------------------------------------------------------------------------------*/

/* Trains. kernel NULL: rbf with gamma = 1 / (features * variance) where the data are vectors. start:
 * a model of the same learner and data to start from (warm start), or NULL. When the progress
 * callback asks to stop, the best model so far is returned, and the numbers on the training data may
 * be NAN. */
MCR_API mcr_status mcr_fit(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                           const mcr_data *data, const mcr_model *start);

/* The options that a model was trained with, to be changed or not. */
MCR_API mcr_status mcr_options_of(mcr_options **out, mcr *ctx, const mcr_model *model);
/* Goes on with more data, from a model of an online learner (can_resume): its support vectors and the
 * new ones are all that is needed. kernel: NULL or the model's, no other. The classes must be among the model's; one of
 * them is enough. The report counts all objects so far; its numbers are those of the new ones. */
MCR_API mcr_status mcr_fit_more(mcr_model **out, const mcr_options *options,
                                const mcr_kernel *kernel, const mcr_data *data,
                                const mcr_model *model);

/* ---- what a model holds ------------------------------------------------------------------------*/

/* What training found. Numbers that do not apply are NAN. Borrowed from the model. */
typedef struct mcr_report_fit {
    size_t size;                  /* of what the library made */
    const char *learner, *kernel; /* kernel: canonical text */
    const char *options;          /* those that are not defaults: "C=10 tol=1e-06" */
    mcr_task task;
    int64_t n, features, classes, support, iterations;
    int64_t targets; /* numbers that are predicted of an object; 0: it predicts none */
    double seconds, objective;
    mcr_stop stop;
    /* The certificate, recomputed from scratch at the end: what was tested ("KKT violation"), its
     * value and the tolerance; primal and dual objective and their gap. Of several subproblems (one-
     * vs-one) the worst violation, and the sums of the others. */
    const char *certificate;
    double value, tolerance, primal, dual, gap;
    double accuracy, mse, r2;  /* on the training data; of several targets the means */
    double loo;                /* leave-one-out error: mean square, or share of wrong classes */
    int64_t variances;         /* components whose variance is known */
    const double *variance;    /* along each of them */
    double total_variance;     /* of the objects in feature space */
    double noise;              /* gp: variance of the noise in the targets */
    const char *second_kernel; /* of cca: that of the other fields; NULL otherwise */
    int64_t correlations;      /* pairs of coordinates: the k-th of either half */
    const double *correlation;
    const char *form;       /* "dual" (kernel values) or "primal" (features) */
    const char *why;        /* and why; NULL: there was no choice, or the model is from a file */
    const char *approx;     /* "nystrom" or "rff"; NULL: exact */
    int64_t map_features;   /* of the primal form */
    double kernel_error[3]; /* of an approximate kernel: mean, root mean square, largest */
    const char *remark;     /* what the user should know; NULL: nothing */
    const char *version;    /* of the Mercer that trained it; NULL: another program did */
    uint64_t seed;
} mcr_report_fit;

MCR_API void mcr_model_free(mcr_model *model); /* NULL allowed */
/* How it was made. Borrowed. */
MCR_API const mcr_report_fit *mcr_model_report(const mcr_model *model);
/* The same one after the other, and more (facts.h). The names of the report are the keys of
 * `fit --json`: learner options kernel task n features classes seconds objective iterations support stop
 * certificate.kind certificate.value ... */
MCR_API int64_t mcr_model_fact_count(const mcr_model *model);
MCR_API mcr_status mcr_model_fact(const mcr_model *model, int64_t number, mcr_fact *fact);
/* What the columns of its training data were, to read others like them; NULL: they were no table.
 * Borrowed. */
MCR_API const mcr_layout *mcr_model_layout(const mcr_model *model);
/* Category k of the model's table, from 0: its name, how many objects of data have a value in it that no
 * training object had, and the first such value (borrowed from data, NULL: none). 0: there is no category
 * k. One lookup per object. */
MCR_API int mcr_model_unseen(mcr *ctx, const mcr_model *model, const mcr_data *data, int64_t k,
                             const char **name, int64_t *count, const char **word, int64_t *length);
/* The table of a model that mcr_tune made, as lines of comma-separated values with a header; NULL: it
 * was not tuned. Borrowed. */
MCR_API const char *mcr_model_tuning(const mcr_model *model);
/* Classes in the order of all outputs; 0 for models that predict something else. */
MCR_API int64_t mcr_model_classes(const mcr_model *model);
MCR_API const char *mcr_model_class_name(const mcr_model *model, int64_t c);
/* The objects that predictions are made from, and how many decision values there are (two classes: 1;
 * one-vs-one: one per pair; one-vs-rest: one per class; regression: one per target; detection: 1; clusters:
 * one each; otherwise one per coordinate). */
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

/* The objects that predictions are made from, in the order of the coefficients: the support vectors,
 * as the kernel sees them (scaled, if mcr_model_scales). Borrowed from the model; who
 * needs them longer retains them. Values come from mcr_data_vector, mcr_data_entries and
 * mcr_data_string. */
MCR_API const mcr_data *mcr_model_objects(const mcr_model *model);

/* The same with what they say of the objects. */
typedef enum mcr_coef_state {
    MCR_COEF_PLAIN = 0, /* the learner's coefficients have no bounds, or it is 0 */
    MCR_COEF_FREE,      /* strictly between its bounds */
    MCR_COEF_BOUND      /* at its bound: the object violates the margin or the tube */
} mcr_coef_state;
typedef struct mcr_coefficient {
    int64_t object; /* in the training data, from 0; -1: not known */
    double target;  /* its number, or the number of its class; NAN: not known */
    double coef;
    double value;  /* f(x), of this output, offset included */
    double margin; /* classes: y f(x); numbers: y - f(x); detection: f(x); else NAN */
    double
        slack; /* by how much it is on the wrong side of the margin or out of the tube; NAN: none */
    int state; /* mcr_coef_state */
} mcr_coefficient;
/* row: support values; square: |w|^2 of the output. */
MCR_API mcr_status mcr_model_dual(mcr *ctx, const mcr_model *model, int64_t o, mcr_coefficient *row,
                                  double *offset, double *square);
/* Numbers that a model keeps under a name ("epsilon" of nu-svr, "mistakes" of a perceptron's passes,
 * "variance" of components); NULL: it has none. Borrowed. */
MCR_API const double *mcr_model_number(const mcr_model *model, const char *name, int64_t *count);

/* The model's objects as explicit features with names (features.h), and output o as a function of them:
 * f(x) = offset + sum over the features of weight phi(x). weight: one per feature. MCR_BAD_CALL if the
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

/* Intervals that hold a new target with the probability `level` (0.95). From gp: normal, of a new
 * measurement, noise included. From any other model of one number, and from gp if it was calibrated: by
 * split conformal prediction from objects that it was not trained on; the probability holds on average
 * over new objects if these and the held-out ones are exchangeable. Arrays of n; value may be NULL. */
MCR_API int mcr_model_has_interval(const mcr_model *model);
MCR_API mcr_status mcr_predict_interval(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                        double level, double *value, double *lower, double *upper);
/* The same for classes: set (n x classes) is 1 for the classes that are not excluded. A set may be empty,
 * or hold all. value may be NULL. */
MCR_API mcr_status mcr_predict_set(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   double level, double *value, unsigned char *set);
/* Calibrates by objects that the model was not trained on; in place of an earlier calibration. */
MCR_API mcr_status mcr_model_calibrate(mcr *ctx, mcr_model *model, const mcr_data *held);
/* mcr_fit on all but a share of the objects, by the context's seed, and mcr_model_calibrate by these. */
MCR_API mcr_status mcr_fit_conformal(mcr_model **out, const mcr_options *options,
                                     const mcr_kernel *kernel, const mcr_data *data, double share);

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
    size_t size; /* sizeof(mcr_metrics) */
    int64_t n;
    double accuracy;     /* classes; NAN otherwise */
    double mse, mae, r2; /* numbers; NAN otherwise */
    double rand;         /* clusters: adjusted Rand index against the classes; NAN otherwise */
} mcr_metrics;
/* Those that apply, one after the other (facts.h): n, and accuracy, or mse mae r2, or adjusted_rand. */
MCR_API int64_t mcr_metrics_fact_count(const mcr_metrics *metrics);
MCR_API mcr_status mcr_metrics_fact(const mcr_metrics *metrics, int64_t number, mcr_fact *fact);
/* Compares predicted values with the targets of data. A class that the model does not know counts as
 * wrong. MCR_BAD_DATA when there are no targets of the right kind. */
MCR_API mcr_status mcr_model_score(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   const double *value, mcr_metrics *out);

/* The targets of data as the model has them, n numbers: its class numbers, numbers, or for detection what the
 * data say. Classes that it does not know, in the order of the data, are numbered from mcr_model_classes on;
 * of clusters: the classes of the data. */
MCR_API mcr_status mcr_model_truth(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   double *target);
/* The class that precision, recall, F1 and curves speak of: as the training data had it
 * (mcr_data_positive); -1: none, there are not two. */
MCR_API int64_t mcr_model_positive(const mcr_model *model);

/* The same of a model of several targets: score (n x outputs) against all targets of data. each: one for
 * every target, with the size set in the first; mean: what they are on average (r2 of the targets that vary). Both may be NULL.
 * MCR_BAD_DATA when the data have other targets. */
MCR_API mcr_status mcr_model_score_targets(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                           const double *score, mcr_metrics *each,
                                           mcr_metrics *mean);

/* ---- certificates ------------------------------------------------------------------------------*/

/* A number of a certificate: as the model has it, and recomputed. NAN: there is none. */
typedef struct mcr_verified {
    double printed, recomputed;
    double error; /* bound on the error of the recomputed number */
    int agrees; /* 1: they differ by no more than the last digit that is printed, or one is missing */
} mcr_verified;

typedef struct mcr_verification {
    size_t size;      /* sizeof(mcr_verification) */
    const char *kind; /* what is certified; borrowed from the model */
    double tolerance;
    mcr_verified value, primal, dual, gap, objective;
    int agrees;      /* 1: all of them do, the verdict holds, and nothing else was wrong */
    char fault[256]; /* the first thing that is wrong, in one line; "": nothing */
} mcr_verification;

/* Of a model that another program made: what its file does not hold; in each field NAN: to be
 * inferred. */
typedef struct mcr_verify_given {
    size_t size; /* sizeof(mcr_verify_given) */
    double C, epsilon, tol;
} mcr_verify_given;

/* Recomputes the certificate of a model from its training data alone: kernel values in double, compensated
 * sums, nothing from the solvers. data: all training objects, in their order. given: may be NULL.
 * MCR_BAD_DATA when these cannot be the training data, MCR_BAD_CALL when the model has no certificate that
 * can be recomputed; a certificate that is wrong is an outcome, not an error. Takes a pass or two over K. */
MCR_API mcr_status mcr_model_verify(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                    const mcr_verify_given *given, mcr_verification *out);

/* ---- what a model promises about new data ------------------------------------------------------*/

enum { MCR_MOST_BOUNDS = 8 };
typedef struct mcr_bound_of_error {
    const char *name, *formula, *assumption; /* static */
    double value;                            /* 1 or more says nothing */
    int holds; /* 0: its assumption is not met, or it is an estimate: no guarantee */
} mcr_bound_of_error;
typedef struct mcr_bounds {
    size_t size;   /* sizeof(mcr_bounds) */
    double margin; /* 1 / |w| */
    double
        radius2; /* squared, of a ball around all objects in feature space; an upper bound of the least */
    double ratio; /* radius2 / margin^2 */
    double delta; /* bounds of new data hold with probability 1 - delta */
    int count;
    mcr_bound_of_error item[MCR_MOST_BOUNDS];
} mcr_bounds;
/* Of a model of svm with two classes, from its training data. All of them assume that kernel and C were
 * chosen without these data. Takes a few thousand kernel rows, and a matrix of the free support vectors. */
MCR_API mcr_status mcr_model_bounds(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                    double delta, mcr_bounds *out);

/* Files: written beside the old one, synced and renamed; read back whole or refused. Model
 * files of LIBSVM, and ONNX files of a support vector machine, are recognised and read as they are. */
MCR_API mcr_status mcr_model_save(mcr *ctx, const mcr_model *model, const char *path);
MCR_API mcr_status mcr_model_load(mcr_model **out, mcr *ctx, const char *path);
MCR_API mcr_status mcr_model_load_memory(mcr_model **out, mcr *ctx, const char *name,
                                         const void *bytes, size_t count);
/* The same bytes without a file, for mcr_model_load_memory; the caller's: mcr_bytes_free. */
MCR_API mcr_status mcr_model_save_memory(void **bytes, size_t *count, mcr *ctx,
                                         const mcr_model *model);
/* As LIBSVM's svm-train would have written it; MCR_BAD_CALL if LIBSVM has no such model. */
MCR_API mcr_status mcr_model_save_libsvm(mcr *ctx, const mcr_model *model, const char *path);
/* 1: the bytes begin like a model file of Mercer or LIBSVM, or like an ONNX file. */
MCR_API int mcr_model_recognise(const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
