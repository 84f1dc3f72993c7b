/* model.c: memory of models and parameters, and what a model says of itself.
 *
 * All memory is malloc's, array by array: callers build and take apart models by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "panels.h"
#include "svm.h"

int libsvm_version = LIBSVM_VERSION;

void svm_free_model_content(struct svm_model *m)
{
    if (m == NULL)
        return;
    if (m->free_sv && m->l > 0 && m->SV) {
        compat_panels_forget(m);
        free(m->SV[0]);
    }
    for (int i = 0; m->sv_coef && i < m->nr_class - 1; i++)
        free(m->sv_coef[i]);
    free(m->SV);
    free(m->sv_coef);
    free(m->rho);
    free(m->label);
    free(m->probA);
    free(m->probB);
#if LIBSVM_ABI >= 4
    free(m->prob_density_marks);
    m->prob_density_marks = NULL;
#endif
    free(m->sv_indices);
    free(m->nSV);
    m->SV = NULL;
    m->sv_coef = NULL;
    m->rho = m->probA = m->probB = NULL;
    m->label = m->sv_indices = m->nSV = NULL;
}

void svm_free_and_destroy_model(struct svm_model **model_ptr_ptr)
{
    if (model_ptr_ptr == NULL || *model_ptr_ptr == NULL)
        return;
    svm_free_model_content(*model_ptr_ptr);
    free(*model_ptr_ptr);
    *model_ptr_ptr = NULL;
}

void svm_destroy_param(struct svm_parameter *param)
{
    if (param == NULL)
        return;
    free(param->weight_label);
    free(param->weight);
}

int svm_get_svm_type(const struct svm_model *model)
{
    return model ? model->param.svm_type : C_SVC;
}

int svm_get_nr_class(const struct svm_model *model)
{
    return model ? model->nr_class : 0;
}

int svm_get_nr_sv(const struct svm_model *model)
{
    return model ? model->l : 0;
}

void svm_get_labels(const struct svm_model *model, int *label)
{
    for (int i = 0; model && model->label && label && i < model->nr_class; i++)
        label[i] = model->label[i];
}

void svm_get_sv_indices(const struct svm_model *model, int *sv_indices)
{
    for (int i = 0; model && model->sv_indices && sv_indices && i < model->l; i++)
        sv_indices[i] = model->sv_indices[i];
}

double svm_get_svr_probability(const struct svm_model *model)
{
    if (model && (model->param.svm_type == EPSILON_SVR || model->param.svm_type == NU_SVR) &&
        model->probA)
        return model->probA[0];
    fprintf(stderr, "Model doesn't contain information for SVR probability inference\n");
    return 0;
}
