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

/* ---- training ---------------------------------------------------------------------------------*/

/* Trains a model. kernel NULL: rbf with gamma = 1 / (features * variance) if the data are vectors.
 * start: a model of the same learner and data for a warm start, or NULL. When cancelled, returns
 * the best model so far, whose scores on the training data may be NAN. */
MCR_API mcr_status mcr_fit(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                           const mcr_data *data, const mcr_model *start);

/* The options that a model was trained with, as a copy that the caller may change. */
MCR_API mcr_status mcr_options_of(mcr_options **out, mcr *ctx, const mcr_model *model);
/* Continues training with more data, from a model of an online learner (can_resume). It needs only
 * the model's support vectors and the new objects. kernel: NULL or the model's. Every class in the
 * data must be one of the model's; a single class is enough. The report counts all objects so far;
 * its other numbers refer to the new objects. */
MCR_API mcr_status mcr_fit_more(mcr_model **out, const mcr_options *options,
                                const mcr_kernel *kernel, const mcr_data *data,
                                const mcr_model *model);

/* ---- contents of a model ----------------------------------------------------------------------*/

/* The result of training. Numbers that do not apply are NAN. Borrowed from the model. */
typedef struct mcr_report_fit {
    size_t size;                  /* set by the library */
    const char *learner, *kernel; /* kernel: canonical text */
    const char *options;          /* those that are not defaults: "C=10 tol=1e-06" */
    mcr_task task;
    int64_t n, features, classes, support, iterations;
    int64_t targets; /* numbers predicted for each object; 0: it predicts none */
    double seconds, objective;
    mcr_stop stop;
    /* The certificate, recomputed from scratch at the end: the condition that was tested ("KKT
     * violation"), its value and the tolerance; primal and dual objective and their gap. With
     * several subproblems (one-vs-one), the largest violation and the sums of the other numbers. */
    const char *certificate;
    double value, tolerance, primal, dual, gap;
    double accuracy, mse, r2;  /* on the training data; with several targets, their means */
    double loo;                /* leave-one-out error: mean square, or share of wrong classes */
    int64_t variances;         /* components whose variance is known */
    const double *variance;    /* along each of them */
    double total_variance;     /* of the objects in feature space */
    double noise;              /* gp: variance of the noise in the targets */
    const char *second_kernel; /* cca: the kernel of the other fields; NULL otherwise */
    int64_t correlations;      /* cca: pairs of coordinates, the k-th of each half */
    const double *correlation;
    const char *form;       /* "dual" (kernel values) or "primal" (features) */
    const char *why;        /* the reason; NULL: there was no choice, or the model is from a file */
    const char *approx;     /* "nystrom", "rff", "falkon" or "sgpr"; NULL: exact */
    int64_t map_features;   /* of the primal form */
    double kernel_error[3]; /* of an approximate kernel: mean, root mean square, largest */
    const char *remark;     /* something the user should know; NULL: nothing */
    const char *version;    /* of the Mercer that trained it; NULL: trained by another program */
    uint64_t seed;
    /* Bounds on the rounding error of value, and of objective, primal, dual and gap. 0: none that
     * shows. */
    double value_error, objective_error;
} mcr_report_fit;

MCR_API void mcr_model_free(mcr_model *model); /* NULL allowed */
/* The report of its training. Borrowed. */
MCR_API const mcr_report_fit *mcr_model_report(const mcr_model *model);
/* The same by enumeration (facts.h), and more: learner options kernel task n features classes
 * seconds objective iterations support stop certificate.kind certificate.value ... */
MCR_API int64_t mcr_model_fact_count(const mcr_model *model);
MCR_API mcr_status mcr_model_fact(const mcr_model *model, int64_t number, mcr_fact *fact);
/* The layout of its training data, for reading other data of the same layout; NULL: they were not a
 * table. Borrowed. */
MCR_API const mcr_layout *mcr_model_layout(const mcr_model *model);
/* For category k of the model's table, from 0: its name, the number of objects of data with a value
 * that no training object had, and the first such value (borrowed from data; NULL: none). Returns 0
 * if there is no category k. One lookup per object. */
MCR_API int mcr_model_unseen(mcr *ctx, const mcr_model *model, const mcr_data *data, int64_t k,
                             const char **name, int64_t *count, const char **word, int64_t *length);
/* The table of points of a model that mcr_tune made, as comma-separated values with a header; NULL:
 * it was not tuned. Borrowed. */
MCR_API const char *mcr_model_tuning(const mcr_model *model);
/* Classes in the order of all outputs; 0 for models that do not predict classes. */
MCR_API int64_t mcr_model_classes(const mcr_model *model);
MCR_API const char *mcr_model_class_name(const mcr_model *model, int64_t c);
/* The number of support vectors, and the number of decision values (two classes: 1; one-vs-one: one
 * per pair; one-vs-rest: one per class; regression: one per target; detection: 1; clustering: one
 * per cluster; otherwise one per coordinate). */
MCR_API int64_t mcr_model_support(const mcr_model *model);
MCR_API int64_t mcr_model_outputs(const mcr_model *model);
/* The name of output o: "+1 : -1" (positive: the first class), a class, "value", or the name of one
 * of several targets. Borrowed. */
MCR_API const char *mcr_model_output_name(const mcr_model *model, int64_t o);
/* The classes that output o votes for if it is positive and if it is negative; -1: none (all other
 * classes, or the output does not decide between classes). */
MCR_API void mcr_model_sides(const mcr_model *model, int64_t o, int64_t *positive,
                             int64_t *negative);
MCR_API int mcr_model_has_probability(const mcr_model *model);
MCR_API int mcr_model_has_std(const mcr_model *model); /* its numbers have standard deviations */
/* The coefficients of output o, one per support vector, and its offset: f(x) = sum_i coef_i K(x_i,
 * x) + offset. number (one per support vector, may be NULL): the numbers of these training objects,
 * from 0; -1 if not known. */
MCR_API mcr_status mcr_model_coefficients(const mcr_model *model, int64_t o, double *coef,
                                          double *offset, int64_t *number);

/* The support vectors, in the order of the coefficients, as the kernel sees them (scaled, if
 * mcr_model_scales). Borrowed from the model; retain them to keep them longer. Their values come
 * from mcr_data_vector, mcr_data_entries and mcr_data_string. */
MCR_API const mcr_data *mcr_model_objects(const mcr_model *model);

/* The coefficients with the state of each support vector. */
typedef enum mcr_coef_state {
    MCR_COEF_PLAIN = 0, /* the coefficient is 0, or the learner's coefficients have no bounds */
    MCR_COEF_FREE,      /* strictly between its bounds */
    MCR_COEF_BOUND      /* at its bound: the object violates the margin or the tube */
} mcr_coef_state;
typedef struct mcr_coefficient {
    int64_t object; /* in the training data, from 0; -1: not known */
    double target;  /* its number, or the number of its class; NAN: not known */
    double coef;
    double value;  /* f(x), of this output, offset included */
    double margin; /* classes: y f(x); numbers: y - f(x); detection: f(x); else NAN */
    double slack;  /* how far beyond the margin or outside the tube; NAN: not defined */
    int state;     /* mcr_coef_state */
} mcr_coefficient;
/* row: one per support vector; square: |w|^2 of the output. */
MCR_API mcr_status mcr_model_dual(mcr *ctx, const mcr_model *model, int64_t o, mcr_coefficient *row,
                                  double *offset, double *square);
/* Numbers that a model keeps under a name ("epsilon" of nu-svr, "mistakes" of a perceptron's
 * passes, "variance" of components); NULL: it has none of that name. Borrowed. */
MCR_API const double *mcr_model_number(const mcr_model *model, const char *name, int64_t *count);

/* The support vectors as explicit features with names (features.h), and output o as a linear
 * function of the features: f(x) = offset + sum over the features of weight * phi(x). weight: one
 * per feature. MCR_BAD_CALL if the kernel has no finite feature map. */
MCR_API mcr_status mcr_model_features(mcr_features **out, mcr *ctx, const mcr_model *model);
/* 1: the model scales vectors before it uses them; its weights then refer to scaled columns. */
MCR_API int mcr_model_scales(const mcr_model *model);
MCR_API mcr_status mcr_model_weights(mcr *ctx, const mcr_model *model, const mcr_features *features,
                                     int64_t o, double *weight, double *offset);

/* Predicts, block by block. The caller provides the arrays, any of which may be NULL:
 *   value   n: class number, real value (the first of several targets), +1/-1, or the number of a
 *           cluster (from 0); MCR_BAD_CALL for a model that gives coordinates
 *   score   n x outputs: decision values, coordinates
 *   proba   n x classes: probabilities; MCR_BAD_CALL for a model without them
 * The data must have the fields that the kernel reads, with the columns of the training data. */
MCR_API mcr_status mcr_predict(mcr *ctx, const mcr_model *model, const mcr_data *data,
                               double *value, double *score, double *proba);
/* Values and their standard deviations (n each, either may be NULL); MCR_BAD_CALL for a model
 * without standard deviations. */
MCR_API mcr_status mcr_predict_std(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   double *value, double *std);

/* Intervals that contain a new target with the probability `level` (0.95). For gp they come from
 * the normal distribution of a new measurement, noise included. For any other model of one number,
 * and for a calibrated gp, they come from split conformal prediction with held-out objects; the
 * probability then holds on average over new objects if these and the held-out ones are
 * exchangeable. Arrays of n; value may be NULL. */
MCR_API int mcr_model_has_interval(const mcr_model *model);
MCR_API mcr_status mcr_predict_interval(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                        double level, double *value, double *lower, double *upper);
/* The same for classes: set (n x classes) is 1 for the classes that are not excluded. A set may be
 * empty or contain all classes. value may be NULL. */
MCR_API mcr_status mcr_predict_set(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   double level, double *value, unsigned char *set);
/* Calibrates with objects that the model was not trained on; replaces an earlier calibration. */
MCR_API mcr_status mcr_model_calibrate(mcr *ctx, mcr_model *model, const mcr_data *held);
/* Holds out a share of the objects, chosen by the context's seed, calls mcr_fit on the others, and
 * calibrates with the held-out ones. */
MCR_API mcr_status mcr_fit_conformal(mcr_model **out, const mcr_options *options,
                                     const mcr_kernel *kernel, const mcr_data *data, double share);

/* `count` functions drawn from the posterior of a gp regression model: their values at the objects
 * of data, n x count. The values of one draw are correlated: neighbouring objects have similar
 * values. Determined by the context's seed. Needs a matrix of n x n. */
MCR_API mcr_status mcr_predict_draws(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                     int64_t count, double *draws);
/* Coordinates of the objects of data, n x mcr_model_outputs, for models that have them (pca,
 * fisher, cca); else MCR_BAD_CALL. */
MCR_API int mcr_model_has_coordinates(const mcr_model *model);
MCR_API mcr_status mcr_transform(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                 double *coordinates);
/* Pre-images for a pca model whose kernel reads one field of vectors: for each object a vector
 * whose image is near the object's projection onto the components (n x features), found by descent
 * on that distance. The pre-image is exact if the projection has one and the kernel is linear or an
 * odd polynomial; kernels that are functions of the distance are inverted. The image is never
 * farther from the projection than that of the nearest support vector. */
MCR_API mcr_status mcr_preimage_features(mcr *ctx, const mcr_model *model, int64_t *features);
/* The names of these columns in the training data, borrowed; all NULL: they have none. */
MCR_API mcr_status mcr_preimage_names(mcr *ctx, const mcr_model *model, const char **name);
MCR_API mcr_status mcr_preimage(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                double *vectors);
/* The same, with the remaining distances in feature space, one per object (may be NULL). */
MCR_API mcr_status mcr_preimage_near(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                     double *vectors, double *distance);

typedef struct mcr_metrics {
    size_t size; /* sizeof(mcr_metrics) */
    int64_t n;
    double accuracy;     /* classes; NAN otherwise */
    double mse, mae, r2; /* numbers; NAN otherwise */
    double rand;         /* clusters: adjusted Rand index against the classes; NAN otherwise */
} mcr_metrics;
/* Those that apply, by enumeration (facts.h): n, and accuracy, or mse mae r2, or adjusted_rand. */
MCR_API int64_t mcr_metrics_fact_count(const mcr_metrics *metrics);
MCR_API mcr_status mcr_metrics_fact(const mcr_metrics *metrics, int64_t number, mcr_fact *fact);
/* Compares predicted values with the targets of data. A class that the model does not know counts
 * as wrong. MCR_BAD_DATA when there are no targets of the right kind. */
MCR_API mcr_status mcr_model_score(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   const double *value, mcr_metrics *out);

/* The n targets of data in the model's numbering: its class numbers, plain numbers, for detection
 * the targets themselves, for clustering the classes of the data. Classes that the model does not
 * know are numbered from mcr_model_classes on, in the order of the data. */
MCR_API mcr_status mcr_model_truth(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                   double *target);
/* The operating point of a model of two classes: an object is of the positive class if its decision
 * value for that class (the sign is that of the positive class) is above the threshold, or if its
 * probability of that class is at least the threshold. Models save it, and mcr_predict uses it. */
typedef struct mcr_threshold {
    size_t size;     /* sizeof(mcr_threshold) */
    double value;    /* NAN: the model has none */
    int probability; /* 1: a probability, 0: a decision value */
} mcr_threshold;
MCR_API mcr_status mcr_model_threshold(const mcr_model *model, mcr_threshold *out);
MCR_API mcr_status mcr_model_set_threshold(mcr *ctx, mcr_model *model,
                                           const mcr_threshold *threshold);
/* The positive class for precision, recall, F1 and curves: that of the training data
 * (mcr_data_positive); -1: none, since there are not two classes. */
MCR_API int64_t mcr_model_positive(const mcr_model *model);

/* The same for a model of several targets: compares score (n x outputs) with all targets of data.
 * each: one per target, with the size set in the first; mean: the average over the targets (r2:
 * over those that vary). Both may be NULL. MCR_BAD_DATA if the data have other targets. */
MCR_API mcr_status mcr_model_score_targets(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                           const double *score, mcr_metrics *each,
                                           mcr_metrics *mean);

/* ---- certificates -----------------------------------------------------------------------------*/

/* A number of a certificate, as the model reports it and recomputed. NAN: there is none. */
typedef struct mcr_verified {
    double printed, recomputed;
    double error; /* bound on the error of the recomputed number */
    int agrees;   /* 1: they differ by at most the last printed digit, or one is missing */
} mcr_verified;

typedef enum mcr_verify_verdict {
    MCR_VERIFY_DISAGREES,
    MCR_VERIFY_AGREES,
    MCR_VERIFY_UNDECIDED /* nothing is wrong, but rounding hides whether the certificate holds */
} mcr_verify_verdict;

typedef struct mcr_verification {
    size_t size;      /* sizeof(mcr_verification) */
    const char *kind; /* the condition that is certified; borrowed from the model */
    double tolerance;
    mcr_verified value, primal, dual, gap, objective;
    int agrees;      /* 1: all of them agree, the verdict holds, and nothing else is wrong */
    char fault[256]; /* the first fault, or what is undecided, in one line; "": none */
    mcr_verify_verdict verdict;
} mcr_verification;

/* For a model of another program: the parameters that its file does not contain. A field that is
 * NAN is inferred. */
typedef struct mcr_verify_given {
    size_t size; /* sizeof(mcr_verify_given) */
    double C, epsilon, tol;
} mcr_verify_given;

/* Recomputes the certificate of a model from its training data alone, with kernel values in double
 * and compensated sums, and without any code of the solvers. data: all training objects, in their
 * original order. given: may be NULL. MCR_BAD_DATA if these cannot be the training data,
 * MCR_BAD_CALL if the model has no certificate that can be recomputed. A wrong certificate is a
 * result, not an error. Takes one or two passes over K. */
MCR_API mcr_status mcr_model_verify(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                    const mcr_verify_given *given, mcr_verification *out);

/* ---- bounds on the error on new data ----------------------------------------------------------*/

enum { MCR_MOST_BOUNDS = 8 };
typedef struct mcr_bound_of_error {
    const char *name, *formula, *assumption; /* static */
    double value;                            /* 1 or more: the bound is vacuous */
    int holds; /* 0: its assumption does not hold, or it is an estimate: not a guarantee */
} mcr_bound_of_error;
typedef struct mcr_bounds {
    size_t size;   /* sizeof(mcr_bounds) */
    double margin; /* 1 / |w| */
    /* Squared radius of a ball around all objects in feature space: at least that of the
     * smallest. */
    double radius2;
    double ratio; /* radius2 / margin^2 */
    double delta; /* the bounds hold with probability 1 - delta */
    int count;
    mcr_bound_of_error item[MCR_MOST_BOUNDS];
} mcr_bounds;
/* Bounds for an svm model of two classes, from its training data. All of them assume that kernel
 * and C were chosen without these data. Takes a few thousand kernel rows, and a matrix over the
 * free support vectors. */
MCR_API mcr_status mcr_model_bounds(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                    double delta, mcr_bounds *out);

/* Files are replaced atomically (output.h); a damaged file is refused. Model files of LIBSVM and
 * ONNX files of a support vector machine are also recognised and read. */
MCR_API mcr_status mcr_model_save(mcr *ctx, const mcr_model *model, const char *path);
MCR_API mcr_status mcr_model_load(mcr_model **out, mcr *ctx, const char *path);
/* The same from the bytes of a file, which are needed only during the call. name: for messages; may
 * be NULL. */
MCR_API mcr_status mcr_model_load_memory(mcr_model **out, mcr *ctx, const char *name,
                                         const void *bytes, size_t count);
/* The bytes of a model file, for mcr_model_load_memory. The caller frees them with
 * mcr_bytes_free. */
MCR_API mcr_status mcr_model_save_memory(void **bytes, size_t *count, mcr *ctx,
                                         const mcr_model *model);
/* Writes the model in LIBSVM's format, for svm-predict; MCR_BAD_CALL if LIBSVM has no such
 * model. */
MCR_API mcr_status mcr_model_save_libsvm(mcr *ctx, const mcr_model *model, const char *path);
/* 1: the bytes begin like a model file of Mercer or LIBSVM, or like an ONNX file. */
MCR_API int mcr_model_recognise(const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
