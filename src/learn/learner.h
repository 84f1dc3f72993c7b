/* learner.h (internal): the input and the result of a learner.
 *
 * A learner sees a kernel, data (for targets, weights and views of rows) and Grams; never files. It
 * returns a `fitted`, which the model layer wraps, saves and predicts with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_LEARNER_H
#define MCR_LEARN_LEARNER_H

#include <stdbool.h>

#include <mercer/learner.h>
#include <mercer/learning.h>

#include "data/data.h"
#include "data/scaling.h"
#include "gram/gram.h"
#include "kernel/kernel.h"

/* How decision values become predictions. */
typedef enum mcr_rule {
    MCR_RULE_VALUE,   /* regression: output 0, or one output a target */
    MCR_RULE_SIGN,    /* detection: +1 where output 0 >= 0 */
    MCR_RULE_BINARY,  /* class 1 where output 0 > 0, else class 0 */
    MCR_RULE_PAIRS,   /* one-vs-one: outputs (0,1), (0,2), ..., (1,2), ...; most votes, ties to the
                          lower class; > 0 votes for the first */
    MCR_RULE_LARGEST, /* one-vs-rest, clusters: number of the largest output */
    MCR_RULE_SOFTMAX, /* class of the largest output, with probabilities in proportion to exp of
                              them; two classes: one output, as if that of class 0 were 0 */
    MCR_RULE_OWN,     /* the learner's predictor decides */
    MCR_RULE_COORDINATES /* there is no decision: the outputs are the result */
} mcr_rule;

/* Whether training converged within the tolerance. */
static inline bool mcr_stop_is_end(mcr_stop stop)
{
    return stop == MCR_STOP_OPTIMAL || stop == MCR_STOP_LOCAL;
}

/* The output of classes a < b by MCR_RULE_PAIRS. */
static inline int64_t mcr_pair_output(int64_t classes, int64_t a, int64_t b)
{
    return a * classes - a * (a + 1) / 2 + (b - a - 1);
}

/* Some of the basis objects with their coefficients: coef[o * count + i] belongs to output
 * output[o] and basis object first + i. */
typedef struct mcr_segment {
    int64_t first, count, outputs;
    int32_t *output;
    double *coef;
} mcr_segment;

/* Additional numbers of a learner, stored in its models: class means, targets of the basis,
 * noise. */
typedef struct mcr_extra {
    char *name;
    int64_t count;
    double *value;
} mcr_extra;

/* f_o(x) = offset_o + sum over segments of coef K(basis, x). */
struct mcr_fitted {
    mcr *ctx;
    mcr_task task;
    mcr_rule rule;
    int64_t objects; /* of the training data; set for learners that a program registered */
    int64_t basis;   /* objects */
    int64_t *object; /* their numbers in the training data, rising within a segment */
    int64_t outputs;
    double *offset;
    int64_t segments;
    mcr_segment *segment;
    int64_t object_capacity, segment_capacity;
    int64_t classes; /* of the training data; 0: none */
    /* Probabilities: of the first class of output o, 1 / (1 + exp(-(a f + b))); the most probable
     * class is the prediction. NULL: none. */
    double *curve; /* 2 x outputs: a > 0, b */
    /* In files of early models: 1 / (1 + exp(-slope f)), with its own slope for f > 0 and f < 0. */
    double *slope; /* 2 x outputs: above, below; NULL: none */
    int64_t extras;
    mcr_extra *extra;
    /* The learner's predictions for the training objects, if known, so that they need not be
     * recomputed: NULL, or one per object. right: 1 right, 0 wrong, 2 not known. */
    unsigned char *right;
    double *trained; /* regression: n x outputs, f(x_i) */
    /* n x outputs: leave-one-out decision values, if the learner computes them without training
     * again (option loo); else NULL. */
    double *left_out;
    /* Of a trial. held_out: held objects x outputs, decision values; sum: of each output the values
     * of K b, for the next trial. */
    double *held_out, **sum;
    /* For the report. */
    int64_t iterations;
    double objective;
    mcr_stop stop;
    mcr_kernel *kernel; /* owned: the kernel as changed by the learner; NULL: unchanged */
    /* A second kernel, on other fields of the same objects (cca), NULL: none. Then there are two
     * segments of the whole basis each, the second for it. */
    mcr_kernel *second;
    const char *certificate; /* static text */
    double value, tolerance, primal, dual, gap;
    /* Bounds on the rounding error of the value, and of objective, primal, dual and gap. 0: none
     * that shows. */
    double value_error, objective_error;
    /* Of a learner that leaves the form to mcr_learn, on a Gram of features (else NULL), n x
     * outputs: if f(x_i) moves by d, the loss of object i changes by at most loss_slope_i |d| +
     * loss_bend / 2 d^2. The penalty is mu / 2 |w|^2. */
    double *loss_slope;
    double loss_bend, mu;
    /* The certificate is a residual with the kernel matrix as computed: the rounding error, a
     * rough bound for some kernels, is reported and does not change the verdict. */
    bool as_computed;
    bool of_stored; /* right, trained: of the function that a model stores, not of features */
    char *remark;   /* owned; NULL: none */
    char *why;      /* owned: kernel values or features, and why; NULL: there was no choice */
};

mcr_status mcr_fitted_new(mcr_fitted **out, mcr *ctx, int64_t outputs);
void mcr_fitted_free(mcr_fitted *fitted); /* NULL allowed */
/* The end of a fit: with MCR_OK it becomes *out, else it is freed and *out NULL. Returns the
 * status. */
mcr_status mcr_fitted_give(mcr_fitted **out, mcr_fitted *fitted, mcr_status status);
/* Adds a segment for outputs output[0..]; coef is outputs x count (row o). Objects whose
 * coefficients are all 0 are left out; with no outputs all are kept, for a learner with a
 * predictor. Objects or outputs NULL: 0, 1, ... Copies. */
mcr_status mcr_fitted_add(mcr_fitted *fitted, const int64_t *object, int64_t count,
                          const int32_t *output, int64_t outputs, const double *coef);
/* The same for all outputs; coef is count x outputs. */
mcr_status mcr_fitted_add_table(mcr_fitted *fitted, const int64_t *object, int64_t count,
                                const double *coef);

void mcr_fitted_clear(mcr_fitted *fitted); /* no basis, no segments */
/* Allocates loss_slope, zeros, if the Gram that a learner was given (NULL: none) has features. */
mcr_status mcr_fitted_open_slope(mcr_fitted *fitted, mcr_gram *gram, double mu);

/* known.c: the errors of the certificate of a smooth loss. relative: the value is the gap as a
 * share of the objective, else the error of the identity mu a = -gradient. */
typedef struct mcr_known_loss {
    const struct mcr_smooth *of; /* the problem that was solved */
    const double *a, *f;         /* n x columns; f = G a, as the certificate took it */
    int64_t n;
    bool relative, logistic; /* logistic: probabilities say more of the second derivative */
    /* The gap with the coefficients as the dual point, and the effect of errors of f and of
     * rounding; root: sqrt(K_ii). NULL: only the gradient is a dual point. */
    double (*gap)(const void *self, const double *root, const double *error, double *slip);
} mcr_known_loss;
mcr_status mcr_known_smooth(mcr_fitted *fitted, mcr_gram *gram, const mcr_known_loss *loss);

/* A fitted whose basis is all n objects, also those with coefficients of 0; coef is outputs x n. */
mcr_status mcr_fitted_whole(mcr_fitted **out, mcr *ctx, int64_t n, int64_t outputs,
                            const double *coef);

/* Adds to it further outputs, of a second kernel; coef is outputs x n. */
mcr_status mcr_fitted_add_second(mcr_fitted *fitted, const mcr_kernel *kernel, int64_t outputs,
                                 const double *coef);

/* Numbers kept by mcr_fitted_keep (in place of older ones of the name); NULL: there are none of
 * that name. */
const double *mcr_fitted_find(const mcr_fitted *fitted, const char *name, int64_t *count);
/* The same where exactly `count` numbers must be there: else MCR_BAD_DATA, the model is damaged. */
mcr_status mcr_fitted_need(const double **out, const mcr_fitted *fitted, const char *name,
                           int64_t count);
/* The one number kept under a name; NAN: there is none. */
double mcr_fitted_number(const mcr_fitted *fitted, const char *name);
/* What a model of neighbours keeps, checked (knn.c): how many of them vote, and of each object
 * K(x,x), the target (or its class) and the weight. */
typedef struct mcr_knn {
    int64_t neighbors;
    bool by_distance; /* a vote counts 1 / distance */
    const double *diagonal, *target, *weight;
} mcr_knn;
mcr_status mcr_knn_find(mcr_knn *out, const mcr_fitted *fitted);
/* If not 0, bounds on the rounding error of the value, and of the objectives. */
#define MCR_EXTRA_ERRORS "errors"
/* The leave-one-out error is kept under this name. */
#define MCR_EXTRA_LOO "loo"
/* Of coordinates: their variances, the variance in all, and the mean's coefficients of the
 * basis. */
#define MCR_EXTRA_VARIANCE "variance"
#define MCR_EXTRA_TOTAL    "total"
#define MCR_EXTRA_MEAN     "mean"
/* The variance of the noise in the targets. */
#define MCR_EXTRA_NOISE "noise_variance"
/* Of the primal form: the mcr_approx, how many features, and of an approximate kernel the mean,
 * root mean square and largest error, and the mean of K(x,x). */
#define MCR_EXTRA_FORM "side"
/* Of a restricted problem: bounds on |f - f*|, for the optimum f*, and on the gradient. */
#define MCR_EXTRA_DISTANCE "distance"
/* Random Fourier features: how many, and the seed (low, high); and the weights, features x
 * outputs. */
#define MCR_EXTRA_FOURIER "fourier"
#define MCR_EXTRA_WEIGHTS "fourier_weights"
/* Targets of the basis objects, numbers or numbers of classes. */
#define MCR_EXTRA_TARGET "target"
/* Of l1-svm: the dual variables of each problem, its objects by class, that bound its optimum. */
#define MCR_EXTRA_PRICES "prices"
/* The width of the tube that nu-svr found. */
#define MCR_EXTRA_EPSILON "epsilon"
/* nu-svr: of each object, what its two multipliers have in common beyond their difference, the
 * coefficient; not kept where it is 0 for all. */
#define MCR_EXTRA_COMMON "common"
/* Objects of the data that were given, by number, that were not trained on but held out for
 * intervals; and their nonconformity scores, rising. */
#define MCR_EXTRA_HELD_OUT  "held_out"
#define MCR_EXTRA_CONFORMAL "conformal"
/* The class that metrics of two classes speak of; and the operating point: its kind and value. */
#define MCR_EXTRA_POSITIVE "positive"
/* From which value on an object is of the positive class; 1: a probability, 0: a decision value. */
#define MCR_EXTRA_THRESHOLD "threshold"
/* Of pairs of coordinates: their correlations on the training data. */
#define MCR_EXTRA_CORRELATION "correlation"

/* What every learner is given. */
struct mcr_learning {
    mcr *ctx;
    const struct mcr_learner_type *type; /* set by mcr_learn */
    const void *params;                  /* of the learner's table */
    const mcr_kernel *kernel;
    const mcr_data *data;
    const mcr_fitted *start;        /* warm start, NULL: none; objects number the same data */
    const mcr_kernel *start_kernel; /* of that model */
    /* K of the data's objects where the caller has it, as several trainings share it; NULL: it is
     * to be computed from kernel and data. Learners that say takes_k may get values in float. A
     * fold (mcr_gram_as_fold) of floats alone: only what is predicted for the objects held out is
     * wanted. */
    mcr_gram *gram;
    /* Training that continues with more data: objects before this one are the start's support
     * vectors, included only for their kernel values; their targets are meaningless, and their
     * weights are 0. */
    int64_t first;
};

/* Predictions that are more than offset + sum of coef K and a rule. A model is opened, then
 * queried with blocks of new objects, and closed. */
typedef struct mcr_query {
    mcr *ctx;
    const mcr_fitted *fitted;
    void *state;    /* from open */
    mcr_gram *gram; /* the basis x the block's objects; NULL: there is no basis */
    int64_t count;  /* objects of the block */
    /* count x outputs: offset + sum of coef K, in double; may be changed. */
    double *score;
    /* To be filled where they are not NULL. value (count) and proba (count x classes) hold what the
     * rule says already, unless it is MCR_RULE_OWN; std (count) is the standard deviation of
     * value. */
    double *value, *proba, *std;
} mcr_query;

enum { MCR_GIVES_PROBA = 1, MCR_GIVES_STD = 2 }; /* of classes; of numbers */

typedef struct mcr_predictor {
    unsigned gives;
    /* Whether this model needs it; NULL: all do. */
    bool (*needed)(const mcr_fitted *fitted);
    /* Called once with the whole model. Extras come from files: check their counts
     * (mcr_fitted_need). NULL: nothing to do; *state is then NULL. */
    mcr_status (*open)(void **state, mcr *ctx, const mcr_fitted *fitted, const mcr_kernel *kernel,
                       const mcr_data *basis);
    void (*close)(mcr *ctx, void *state); /* NULL with open */
    mcr_status (*block)(const mcr_query *query);
    /* Functions drawn from the model's posterior, at the objects of data: adds to draws (objects x
     * count), which hold the predicted values. NULL: the model has no posterior. */
    mcr_status (*draw)(mcr *ctx, const mcr_fitted *fitted, const mcr_kernel *kernel,
                       const mcr_data *basis, const mcr_data *data, int64_t count, double *draws);
} mcr_predictor;

/* Cross-validation from one K of all objects: the predictions for each fold by training on its
 * complement, for several settings of the options. */
typedef struct mcr_folds {
    mcr *ctx;
    const mcr_kernel *kernel;
    const mcr_data *data;
    mcr_gram *gram;      /* K of all objects, where the caller has it; NULL */
    const int32_t *fold; /* of each object, 0 .. folds - 1 */
    int64_t folds;
    const void *const *params; /* one per setting, of the learner's table */
    int64_t settings;
    bool *solved; /* filled, one per setting: false: it must be trained fold by fold */
    /* Filled; score (settings x objects x outputs) is the caller's to free, also after a
     * failure. */
    mcr_task task;
    mcr_rule rule;
    int64_t classes, outputs;
    double *score;
} mcr_folds;

/* Options that several learners have. */
#define MCR_OPTION_TASK         "task"
#define MCR_OPTION_TIME_LIMIT   "time-limit"
#define MCR_OPTION_CLASS_WEIGHT "class-weight"
#define MCR_OPTION_LOO          "loo"
#define MCR_OPTION_FORM         "form"
#define MCR_OPTION_FORM_OLD     "side"
#define MCR_OPTION_APPROX       "approx"

/* S: the value struct. */
#define MCR_TIME_LIMIT_PARAM(S, text)                                                              \
    {                                                                                              \
        .name = MCR_OPTION_TIME_LIMIT, .type = MCR_REAL, .offset = offsetof(S, time_limit),        \
        .min = 0, .max = INFINITY, .flags = MCR_MIN_OPEN, .help = (text)                           \
    }
#define MCR_MAX_STEPS_PARAM(S, text)                                                               \
    {                                                                                              \
        .name = "max-steps", .type = MCR_INT, .offset = offsetof(S, max_steps), .min = 1,          \
        .max = INFINITY, .help = (text)                                                            \
    }

/* The values of this option that a search tries if the caller names no range. */
typedef struct mcr_usual {
    const char *option, *range; /* NULL: none */
    const char *table;          /* the range for tables of mixed columns; NULL: the same */
    const char *quick;          /* the range of a quick search; NULL: the learner has none */
    const char *instead;        /* not where this option is given; NULL: always */
    bool own_path; /* the learner itself chooses the best value of the range, from kernel values
                    * only */
} mcr_usual;

/* One learner: one file, one line LEARNER(name) in learners.def (dashes become underscores in
 * C). */
typedef struct mcr_learner_type {
    const char *name, *summary;
    mcr_task task;
    const mcr_param *params;
    size_t params_size;
    mcr_status (*check)(mcr *ctx, const void *params); /* parameters together; NULL: fine */
    /* *out is NULL before; what it holds where this fails is freed by mcr_learn. */
    mcr_status (*fit)(mcr_fitted **out, const mcr_learning *in);
    /* Missing abilities and their reasons; NULL: not missing. */
    const char *no_primal; /* the primal form: --form primal, --approx */
    const char *no_approx; /* has that form, but not for approximate features */
    /* The offset of the options of the form in its parameters, if it leaves the form to mcr_learn;
     * 0: it has one form, or handles forms itself. */
    size_t form;
    const char *no_checkpoint; /* its state during a training in a file: --checkpoint */
    const char *no_folds;      /* trainings on folds of one K: cv and tune */
    bool weights_count; /* a weight of 2 is the same as two objects: equal ones may be merged */
    bool dense;         /* factorises n x n matrices: BLAS should run its best code */
    bool factorises;    /* smaller matrices, for most of its time: the same */
    double (*bytes)(int64_t n); /* of the budget that a training takes, at most; NULL: dense says */
    bool no_start;              /* has no use for a model to start from */
    bool convex;  /* its problem is convex if K is PSD: else the optimum is a local one */
    bool spreads; /* can be trained if rows are spread over several processes (base/team.h) */
    bool takes_k; /* it can use values of K in float */
    /* Whether, with these parameters, it can learn on a fold of a K in float (mcr_gram_fold) and
     * return the decision values of the held-out objects (mcr_fitted.held_out); NULL: it cannot. */
    bool (*takes_fold)(const void *params);
    /* What the buffer of a fold holds at most, for any split of the data; NULL: nothing. */
    mcr_status (*fold_bytes)(size_t *bytes, mcr *ctx, const void *params, const mcr_data *data);
    /* Held-out decision values of all folds at once; NULL: it must be trained fold by fold. */
    mcr_status (*folds)(mcr_folds *plan);
    mcr_usual usual;
    const char *kernel_search; /* the flag that makes it optimise the kernel's scales; NULL: none */
    bool leaves_out;           /* it can tell left_out (MCR_OPTION_LOO) */
    bool own_kernel;           /* it reads the kernel's expression, and may change it */
    bool coordinates;          /* its outputs are coordinates: mcr_transform gives them */
    bool online;               /* can go on with more data: mcr_fit_more */
    bool several_targets;      /* it learns several numbers an object at once */
    const mcr_predictor *predictor; /* NULL: offset + sum of coef K, and the rule */
} mcr_learner_type;

/* K of the training objects: a Gram that the caller must close. */
mcr_status mcr_learning_gram(mcr_gram **out, const mcr_learning *in);
/* How many objects there are, each counted by its weight. */
double mcr_learning_weight(const mcr_data *data);

/* Runs the learner; objects that occur several times are merged where it allows that. */
mcr_status mcr_learn(mcr_fitted **out, const mcr_learner_type *type, const mcr_learning *in);

/* Built in, or registered in the context. */
const mcr_learner_type *mcr_learner_find(const mcr *ctx, const char *name);
/* Whether it may be the name of a learner: small letters, digits and dashes. Files may name
 * learners that are not there. */
bool mcr_learner_names(const char *name);
const mcr_learner_type *mcr_learner_at(int64_t number); /* NULL: past the end */

struct mcr_options {
    mcr *ctx;
    const mcr_learner_type *type;
    void *params;
    mcr_scale scale; /* of the data, before the kernel sees them */
    mcr_text shown;  /* the last fact that is a choice */
};

mcr_status mcr_options_copy(mcr_options **out, const mcr_options *from);
/* The description of an option of the learner; NULL: there is none of that name. */
const mcr_param *mcr_options_find(const mcr_options *options, const char *name);
/* Its value; NULL: there is none of that type. */
const void *mcr_options_at(const mcr_options *options, const char *name, mcr_param_type type);
/* Sets an option to a number. */
mcr_status mcr_options_set_real(mcr_options *options, const char *name, double value);
/* Those that are not at their default, as "C=10 tol=1e-06". */
mcr_status mcr_options_print(const mcr_options *options, mcr_text *to);
/* The same without the time limit, which may change when a training or a search is continued. */
mcr_status mcr_options_print_problem(const mcr_options *options, mcr_text *to);

bool mcr_fitted_has_probability(const mcr_fitted *fitted, const mcr_predictor *predictor);
/* The rule (not MCR_RULE_OWN) applied to one object's decision values: class number or value. If it
 * is calibrated, proba (classes) and work (classes^2 + classes) must be given: the predicted class
 * is then the most probable one. */
double mcr_fitted_decide(const mcr_fitted *fitted, const double *score, double *proba,
                         double *work);
bool mcr_all_finite(const double *v, int64_t count);
int64_t mcr_largest(const double *v, int64_t count); /* which one; of equal ones the first */
static inline bool mcr_fitted_is_calibrated(const mcr_fitted *f)
{
    return f->curve || f->slope;
}

#endif
