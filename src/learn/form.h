/* form.h (internal): whether a learner uses kernel values or features.
 *
 * For a kernel with a finite feature map, K = D D^T with a row of D for each object, and both forms
 * have the same solution: few features and many objects are cheaper with D, many features and few
 * objects with K. Either way the result is one coefficient per object (by the representer theorem
 * they follow from the weights: a = residual / lambda for ridge, a = -gradient / mu for logistic,
 * the dual variables for svm), so that both forms give the same kind of model: files, prediction,
 * explanation, export and warm starts do not depend on the form.
 *
 * With an approximate map the basis is that of the map: Nystroem's landmarks with coefficients T w,
 * again an ordinary model. Random Fourier features have no such basis; the weights are stored among
 * the model's extras, with the seed of the frequencies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_SIDE_H
#define MCR_LEARN_SIDE_H

#include "gram/factor.h"
#include "gram/map.h"
#include "learn/goal.h"

enum { MCR_FORM_AUTO, MCR_FORM_DUAL, MCR_FORM_PRIMAL };

typedef struct mcr_form_options {
    int form, approx, landmarks; /* approx: an mcr_approx, or auto; landmarks: an mcr_landmarks */
    int64_t rank;
} mcr_form_options;

#define MCR_FORM_PARAMS(S)                                                                         \
    {MCR_OPTION_FORM,                                                                              \
     MCR_CHOICE,                                                                                   \
     offsetof(S, form.form),                                                                       \
     "auto",                                                                                       \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     "auto|dual|primal",                                                                           \
     "compute with kernel values (dual) or with features (primal); auto: the cheaper one"},        \
    {                                                                                              \
        MCR_OPTION_FORM_OLD, MCR_CHOICE, offsetof(S, form.form), "auto", 0, 0, MCR_OLD_NAME,       \
            "auto|kernel|features", "the older name of form"                                       \
    }

/* Learners with a solver for it (restricted.h) use falkon for more than this many objects, and for
 * data that stay in their file. */
enum { MCR_APPROX_AUTO = MCR_APPROX_FALKON + 1, MCR_MANY_OBJECTS = 200000 };
/* What only models know: a sparse Gaussian process (gp_sparse.c). */
enum { MCR_APPROX_SGPR = MCR_APPROX_AUTO + 1 };

#define MCR_APPROX_PARAMS(S)                                                                       \
    MCR_APPROX_PARAMS_OF(S, "none", "none|nystrom|rff|falkon",                                     \
                         "features that approximate the kernel, for very many objects")
#define MCR_APPROX_AUTO_PARAMS(S)                                                                  \
    MCR_APPROX_PARAMS_OF(S, "auto", "none|nystrom|rff|falkon|auto",                                \
                         "features that approximate the kernel; auto: falkon for more than "       \
                         "200,000 objects, unless the kernel has a finite feature map")
#define MCR_APPROX_PARAMS_OF(S, USUAL, CHOICES, HELP)                                              \
    MCR_FORM_PARAMS(S),                                                                            \
        {MCR_OPTION_APPROX, MCR_CHOICE, offsetof(S, form.approx), USUAL, 0, 0, 0, CHOICES, HELP},  \
        {"rank", MCR_INT, offsetof(S, form.rank),                                                  \
         "1000", 1,       1e6,                                                                     \
         0,      NULL,    "how many features (nystrom, falkon: landmarks) the approximation has"}, \
    {                                                                                              \
        "landmarks", MCR_CHOICE, offsetof(S, form.landmarks), "uniform", 0, 0, 0,                  \
            "uniform|kmeans|leverage|greedy", "how nystrom and falkon choose landmarks"            \
    }

/* The problems to be solved, for the estimate: their number, and the objects of each.
 * MCR_WORK_SVM_SHARED: they have the same K, which is computed once. Those whose features are kept
 * as doubles come first, up to MCR_WORK_PCA. */
typedef struct mcr_form_work {
    enum {
        MCR_WORK_SVM,
        MCR_WORK_SVM_SHARED,
        MCR_WORK_RIDGE,
        MCR_WORK_SMOOTH,
        MCR_WORK_PCA,
        MCR_WORK_FISHER,
        MCR_WORK_KMEANS, /* problems: starts */
        MCR_WORK_ONLINE, /* problems: passes */
        MCR_WORK_VALUES  /* with kernel values, unless features are asked for */
    } kind;
    double problems, size;
    double columns; /* outputs solved for together; components, clusters */
} mcr_form_work;

typedef struct mcr_form {
    mcr *ctx;
    bool features;  /* else kernel values */
    bool chosen;    /* the approximation was not asked for by its name */
    mcr_gram *gram; /* of all objects: known by its factor, if features; else see mcr_form_gram */
    mcr_map *map;   /* NULL: exact */
    mcr_map_error error;
    char why[320]; /* "": there was nothing to choose */
} mcr_form;

/* Chooses the form, and computes the features if these are chosen. Fails if features are requested
 * but not available. Must be closed even after a failure. */
mcr_status mcr_form_open(mcr_form *form, const mcr_learning *in, const mcr_form_options *options,
                         const mcr_form_work *work);
void mcr_form_close(mcr_form *form);
/* With kernel values the Gram is opened on demand, for learners that need one of all objects. */
mcr_status mcr_form_gram(mcr_form *form, const mcr_learning *in);
/* Whether kernel values are exact: no approximation is requested, and falkon is not chosen. */
bool mcr_form_is_exact(const mcr_form_options *options, const mcr_learning *in);
/* If the kernel matrix does not fit into memory: an approximation of K by this many landmarks, for
 * a preconditioner. Both must be closed, the Gram first, even after a failure. */
mcr_status mcr_form_near(mcr_gram **near, mcr_map **map, const mcr_learning *in, int64_t rank);
/* For a learner with an operation that needs kernel values: uses these, unless features are
 * requested; then MCR_BAD_CALL: "svm: WHAT works with kernel values only: ...". */
mcr_status mcr_form_refuse(mcr *ctx, const mcr_form_options *options, const char *learner,
                           const char *what);

/* w = D^T a (p x outputs, to be freed): weights of the features from coefficients (n x outputs). */
mcr_status mcr_form_weights(double **w, const mcr_form *form, const double *a, int64_t outputs);
/* A basis for the weights of an approximate map: w is p x outputs. */
mcr_status mcr_form_add(const mcr_form *form, mcr_fitted *fitted, const double *w, int64_t outputs);
/* The same as a new fitted, with task, rule and classes of the goal. */
mcr_status mcr_form_goal(mcr_fitted **out, const mcr_form *form, const mcr_goal *goal,
                         const double *w);
/* Replaces the basis of a fitted that was trained on the Gram of an approximate map by that of the
 * map, and adds what that changes in the objective to its error (loss_slope). */
mcr_status mcr_form_rebase(const mcr_form *form, const mcr_data *data, mcr_fitted *fitted);
/* Form, reason and measured errors, for the report. */
mcr_status mcr_form_report(const mcr_form *form, mcr_fitted *fitted);

/* ---- the function that is stored (stored.c) ---------------------------------------------------*/

/* sum_i loss_i(f(x_i)) + mu / 2 |f|^2 of some objects: loss gives the sum of `count` of them from
 * `first` on, and the slopes, at least as large as those within rounding of f; value: what is to be
 * printed. */
typedef struct mcr_form_objective {
    int64_t outputs;
    double (*loss)(const void *self, int64_t first, int64_t count, const double *f, double *slope);
    const void *self;
    double mu, value;
} mcr_form_objective;
/* With an approximate map: how far that of the function that the model stores for the weights w may
 * be from the value; *slip (may be NULL): what rounding changes in f(x), at most. Takes a pass over
 * kernel values with the landmarks. */
mcr_status mcr_form_apart(const mcr_form *form, const mcr_data *data, mcr_rows rows,
                          const double *w, const mcr_form_objective *of, double *apart,
                          double *slip);
/* Coefficients a (n x outputs) as a fitted of the goal, or what an approximate map makes of their
 * weights; *apart: how far its objective may be from that of the features. */
mcr_status mcr_form_fitted(mcr_fitted **out, const mcr_form *form, const mcr_goal *goal,
                           const mcr_data *data, const double *a, const mcr_form_objective *of,
                           double *apart);
/* As mcr_form_apart, for a fitted with loss_slope, of coefficients a and weights w = D'a: its
 * objective is that of f = Dw. */
mcr_status mcr_form_apart_fitted(const mcr_form *form, const mcr_data *data, const double *a,
                                 const double *w, const mcr_fitted *fitted, double *apart);

#endif
