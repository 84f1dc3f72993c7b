/* save.c: svm_save_model: the same bytes as LIBSVM writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "file.h"
#include "svm.h"
#include "text.h"

const char *const compat_type_name[] = {"c_svc",       "nu_svc", "one_class",
                                        "epsilon_svr", "nu_svr", NULL};
const char *const compat_kernel_name[] = {"linear",  "polynomial",  "rbf",
                                          "sigmoid", "precomputed", NULL};

static void write_numbers(FILE *to, const char *name, const double *value, int64_t count)
{
    if (value == NULL)
        return;
    fputs(name, to);
    for (int64_t i = 0; i < count; i++)
        fprintf(to, " %.17g", value[i]);
    putc('\n', to);
}

static void write_integers(FILE *to, const char *name, const int *value, int count)
{
    if (value == NULL)
        return;
    fputs(name, to);
    for (int i = 0; i < count; i++)
        fprintf(to, " %d", value[i]);
    putc('\n', to);
}

static void write_header(FILE *to, const struct svm_model *m)
{
    const struct svm_parameter *p = &m->param;
    int64_t pairs = (int64_t)m->nr_class * (m->nr_class - 1) / 2;
    fprintf(to, "svm_type %s\n", compat_type_name[p->svm_type]);
    fprintf(to, "kernel_type %s\n", compat_kernel_name[p->kernel_type]);
    if (p->kernel_type == POLY)
        fprintf(to, "degree %d\n", p->degree);
    if (p->kernel_type == POLY || p->kernel_type == RBF || p->kernel_type == SIGMOID)
        fprintf(to, "gamma %.17g\n", p->gamma);
    if (p->kernel_type == POLY || p->kernel_type == SIGMOID)
        fprintf(to, "coef0 %.17g\n", p->coef0);
    fprintf(to, "nr_class %d\ntotal_sv %d\n", m->nr_class, m->l);
    write_numbers(to, "rho", m->rho, pairs);
    write_integers(to, "label", m->label, m->nr_class);
    write_numbers(to, "probA", m->probA, pairs);
    write_numbers(to, "probB", m->probB, pairs);
#if LIBSVM_ABI >= 4
    write_numbers(to, "prob_density_marks", m->prob_density_marks, 10);
#endif
    write_integers(to, "nr_sv", m->nSV, m->nr_class);
    fputs("SV\n", to);
}

/* Most values of sparse data are small whole numbers, which %.8g writes as %d does. */
static void write_node(FILE *to, const struct svm_node *node)
{
    if (fabs(node->value) < 1e8 && node->value == (int)node->value &&
        (node->value != 0 || !signbit(node->value)))
        fprintf(to, "%d:%d ", node->index, (int)node->value);
    else
        fprintf(to, "%d:%.8g ", node->index, node->value);
}

static void write_vectors(FILE *to, const struct svm_model *m)
{
    for (int i = 0; i < m->l; i++) {
        for (int j = 0; j < m->nr_class - 1; j++)
            fprintf(to, "%.17g ", m->sv_coef[j][i]);
        const struct svm_node *node = m->SV[i];
        if (node && m->param.kernel_type == PRECOMPUTED)
            fprintf(to, "0:%d ", (int)node->value);
        else
            for (; node && node->index != -1; node++)
                write_node(to, node);
        putc('\n', to);
    }
}

int svm_save_model(const char *model_file_name, const struct svm_model *m)
{
    if (model_file_name == NULL || m == NULL || m->param.svm_type < C_SVC ||
        m->param.svm_type > NU_SVR || m->param.kernel_type < LINEAR ||
        m->param.kernel_type > PRECOMPUTED || (m->l > 0 && (m->SV == NULL || m->sv_coef == NULL)))
        return -1;
    FILE *to = fopen(model_file_name, "w");
    if (to == NULL)
        return -1;
    compat_locale locale = compat_locale_enter();
    write_header(to, m);
    write_vectors(to, m);
    compat_locale_leave(locale);
    int failed = ferror(to);
    return fclose(to) || failed ? -1 : 0;
}
