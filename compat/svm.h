/* svm.h: LIBSVM's binary interface, for the library that takes LIBSVM's place.
 *
 * LIBSVM_ABI 3 is that of Debian's libsvm.so.3 (LIBSVM 3.24); 4 that of LIBSVM's own libsvm.so.4
 * (3.34 and later), whose models have one field more. Programs include LIBSVM's header: the names,
 * types and layouts here are the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_SVM_H
#define COMPAT_SVM_H

#ifndef LIBSVM_ABI
#define LIBSVM_ABI 3
#endif
#if LIBSVM_ABI >= 4
#define LIBSVM_VERSION 337
#else
#define LIBSVM_VERSION 324
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { C_SVC, NU_SVC, ONE_CLASS, EPSILON_SVR, NU_SVR };
enum { LINEAR, POLY, RBF, SIGMOID, PRECOMPUTED };

/* A vector is a list of these with rising indices; the index -1 ends it. A row of a precomputed
 * kernel is 0:number 1:K(row, 1) 2:K(row, 2) ..., its own number counted from 1. */
struct svm_node {
    int index;
    double value;
};

struct svm_problem {
    int l;
    double *y;
    struct svm_node **x;
};

struct svm_parameter {
    int svm_type, kernel_type;
    int degree;
    double gamma, coef0;
    /* for training only */
    double cache_size; /* MB */
    double eps, C;
    int nr_weight;
    int *weight_label;
    double *weight;
    double nu, p;
    int shrinking, probability;
};

struct svm_model {
    struct svm_parameter param;
    int nr_class; /* 2 where there are no classes */
    int l;        /* support vectors: first those of class 0, then those of class 1, ... */
    struct svm_node **SV;
    double **sv_coef; /* nr_class - 1 rows of l: of an object of class i against class j > i in row
                         j - 1, against class j < i in row j */
    double *rho;      /* one per pair of classes: 0-1, 0-2, ..., 1-2, ... */
    double *probA, *probB;
#if LIBSVM_ABI >= 4
    double *prob_density_marks; /* ONE_CLASS: ten of them */
#endif
    int *sv_indices; /* from 1; NULL in a model from a file */
    int *label, *nSV;
    int free_sv; /* 1: SV[0] is the start of one block that the model owns */
};

extern int libsvm_version;

struct svm_model *svm_train(const struct svm_problem *prob, const struct svm_parameter *param);
void svm_cross_validation(const struct svm_problem *prob, const struct svm_parameter *param,
                          int nr_fold, double *target);

int svm_save_model(const char *model_file_name, const struct svm_model *model);
struct svm_model *svm_load_model(const char *model_file_name);

int svm_get_svm_type(const struct svm_model *model);
int svm_get_nr_class(const struct svm_model *model);
void svm_get_labels(const struct svm_model *model, int *label);
void svm_get_sv_indices(const struct svm_model *model, int *sv_indices);
int svm_get_nr_sv(const struct svm_model *model);
double svm_get_svr_probability(const struct svm_model *model);

double svm_predict_values(const struct svm_model *model, const struct svm_node *x,
                          double *dec_values);
double svm_predict(const struct svm_model *model, const struct svm_node *x);
double svm_predict_probability(const struct svm_model *model, const struct svm_node *x,
                               double *prob_estimates);

void svm_free_model_content(struct svm_model *model_ptr);
void svm_free_and_destroy_model(struct svm_model **model_ptr_ptr);
void svm_destroy_param(struct svm_parameter *param);

const char *svm_check_parameter(const struct svm_problem *prob, const struct svm_parameter *param);
int svm_check_probability_model(const struct svm_model *model);

void svm_set_print_string_function(void (*print_func)(const char *));

#ifdef __cplusplus
}
#endif
#endif
