/* load.c: svm_load_model: LIBSVM's model files, with every size tested against the file before it
 * is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "panels.h"
#include "svm.h"
#include "text.h"

typedef struct reader {
    char *text;     /* the whole file, with a zero at the end */
    const char *at; /* what comes next */
    const char *end;
    struct svm_model *model;
} reader;

static bool read_whole(reader *r, FILE *from)
{
    size_t size = 0, capacity = 1 << 16;
    r->text = malloc(capacity);
    while (r->text) {
        size += fread(r->text + size, 1, capacity - 1 - size, from);
        if (size < capacity - 1)
            break;
        char *more = capacity > SIZE_MAX / 4 ? NULL : realloc(r->text, capacity *= 2);
        if (more == NULL) {
            free(r->text);
            r->text = NULL;
            return false;
        }
        r->text = more;
    }
    if (r->text == NULL)
        return false;
    r->text[size] = '\0';
    r->at = r->text;
    r->end = r->text + size;
    return !ferror(from);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static bool read_word(reader *r, char word[81])
{
    size_t length = 0;
    while (is_blank(*r->at))
        r->at++;
    while (length < 80 && *r->at && !is_blank(*r->at))
        word[length++] = *r->at++;
    word[length] = '\0';
    return length > 0;
}

static bool read_real(reader *r, double *value)
{
    char *stop;
    *value = strtod(r->at, &stop);
    bool found = stop != r->at;
    r->at = stop;
    return found;
}

static bool read_integer(reader *r, int *value)
{
    char *stop;
    long number = strtol(r->at, &stop, 10);
    bool found = stop != r->at && number >= INT_MIN && number <= INT_MAX;
    *value = found ? (int)number : 0;
    r->at = stop;
    return found;
}

/* A number takes two bytes of the file at least. */
static bool fits(const reader *r, int64_t count)
{
    return count >= 0 && count <= (r->end - r->at) / 2 + 1;
}

static bool read_reals(reader *r, double **value, int64_t count)
{
    if (*value || !fits(r, count) || !(*value = malloc(((size_t)count + 1) * sizeof **value)))
        return false;
    bool good = true;
    for (int64_t i = 0; i < count && good; i++)
        good = read_real(r, *value + i);
    return good;
}

static bool read_integers(reader *r, int **value, int64_t count)
{
    if (*value || !fits(r, count) || !(*value = malloc(((size_t)count + 1) * sizeof **value)))
        return false;
    bool good = true;
    for (int64_t i = 0; i < count && good; i++)
        good = read_integer(r, *value + i);
    return good;
}

static bool read_choice(reader *r, const char *const *names, int *choice, const char *fault)
{
    char word[81];
    if (!read_word(r, word))
        return false;
    for (*choice = 0; names[*choice]; ++*choice)
        if (strcmp(names[*choice], word) == 0)
            return true;
    *choice = 0;
    fprintf(stderr, "%s\n", fault);
    return false;
}

static bool read_field(reader *r, const char *word)
{
    struct svm_model *m = r->model;
    int64_t pairs = (int64_t)m->nr_class * (m->nr_class - 1) / 2;
    if (strcmp(word, "svm_type") == 0)
        return read_choice(r, compat_type_name, &m->param.svm_type, "unknown svm type.");
    if (strcmp(word, "kernel_type") == 0)
        return read_choice(r, compat_kernel_name, &m->param.kernel_type,
                           "unknown kernel function.");
    if (strcmp(word, "degree") == 0)
        return read_integer(r, &m->param.degree);
    if (strcmp(word, "gamma") == 0)
        return read_real(r, &m->param.gamma);
    if (strcmp(word, "coef0") == 0)
        return read_real(r, &m->param.coef0);
    if (strcmp(word, "nr_class") == 0) /* only before what it is the size of */
        return !m->rho && !m->label && !m->nSV && !m->probA && !m->probB &&
               read_integer(r, &m->nr_class) && m->nr_class >= 0;
    if (strcmp(word, "total_sv") == 0)
        return read_integer(r, &m->l) && m->l >= 0;
    if (strcmp(word, "rho") == 0)
        return read_reals(r, &m->rho, pairs);
    if (strcmp(word, "label") == 0)
        return read_integers(r, &m->label, m->nr_class);
    if (strcmp(word, "probA") == 0)
        return read_reals(r, &m->probA, pairs);
    if (strcmp(word, "probB") == 0)
        return read_reals(r, &m->probB, pairs);
#if LIBSVM_ABI >= 4
    if (strcmp(word, "prob_density_marks") == 0)
        return read_reals(r, &m->prob_density_marks, 10);
#endif
    if (strcmp(word, "nr_sv") == 0)
        return read_integers(r, &m->nSV, m->nr_class);
    fprintf(stderr, "unknown text in model file: [%s]\n", word);
    return false;
}

/* Whether the fields go together: what prediction reads is there. */
static bool is_whole(const struct svm_model *m)
{
    bool classes = m->param.svm_type == C_SVC || m->param.svm_type == NU_SVC;
    if (m->rho == NULL || (!classes && m->nr_class != 2))
        return false;
    if (!classes)
        return true;
    int64_t sum = 0;
    for (int i = 0; m->nSV && i < m->nr_class; i++) {
        if (m->nSV[i] < 0)
            return false;
        sum += m->nSV[i];
    }
    return m->label && m->nSV && sum == m->l;
}

static bool read_header(reader *r)
{
    char word[81];
    do {
        if (!read_word(r, word))
            return false;
        if (strcmp(word, "SV") != 0 && !read_field(r, word))
            return false;
    } while (strcmp(word, "SV") != 0);
    const char *line = strchr(r->at, '\n');
    r->at = line ? line + 1 : r->end;
    return is_whole(r->model);
}

/* index:value pairs up to the end of the line; how many, or -1. */
static int64_t read_nodes(const char *at, const char *line, struct svm_node *node)
{
    int64_t count = 0;
    for (;;) {
        while (at < line && is_blank(*at))
            at++;
        if (at == line)
            break;
        char *stop;
        node[count].index = (int)strtol(at, &stop, 10);
        if (stop == at || *stop != ':')
            return -1;
        at = stop + 1;
        node[count].value = strtod(at, &stop);
        if (stop == at || stop > line)
            return -1;
        at = stop;
        count++;
    }
    node[count].index = -1;
    node[count].value = 0;
    return count + 1;
}

static bool read_vectors(reader *r)
{
    struct svm_model *m = r->model;
    int64_t rows = m->nr_class - 1, lines = 1, nodes = m->l;
    for (const char *c = r->at; c < r->end; c++) {
        lines += *c == '\n';
        nodes += *c == ':';
    }
    if (m->l > lines || (m->l > 0 && rows < 1) || (rows > 0 && !fits(r, rows * m->l)))
        return false;
    m->sv_coef = calloc((size_t)(rows > 0 ? rows : 1), sizeof *m->sv_coef);
    m->SV = calloc((size_t)m->l + 1, sizeof *m->SV);
    if (m->sv_coef == NULL || m->SV == NULL)
        return false;
    for (int64_t k = 0; k < rows; k++)
        if (!(m->sv_coef[k] = malloc(((size_t)m->l + 1) * sizeof **m->sv_coef)))
            return false;
    struct svm_node *node = m->l > 0 ? malloc(((size_t)nodes + 1) * sizeof *node) : NULL;
    if (m->l > 0 && node == NULL)
        return false;
    m->SV[0] = node;
    for (int i = 0; i < m->l; i++) {
        const char *line = memchr(r->at, '\n', (size_t)(r->end - r->at));
        line = line ? line : r->end;
        for (int64_t k = 0; k < rows; k++)
            if (!read_real(r, &m->sv_coef[k][i]) || r->at > line)
                return false;
        int64_t count = read_nodes(r->at, line, node);
        if (count < 0)
            return false;
        m->SV[i] = node;
        node += count;
        r->at = line < r->end ? line + 1 : r->end;
    }
    if (m->l > 0)
        compat_panels_add(m, (size_t)(node - m->SV[0]) * sizeof *node);
    return true;
}

struct svm_model *svm_load_model(const char *model_file_name)
{
    FILE *from = model_file_name ? fopen(model_file_name, "rb") : NULL;
    if (from == NULL)
        return NULL;
    reader r = {.model = calloc(1, sizeof *r.model)};
    bool good = r.model && read_whole(&r, from);
    fclose(from);
    if (good) {
        compat_locale locale = compat_locale_enter();
        r.model->free_sv = 1;
        good = read_header(&r) && read_vectors(&r);
        compat_locale_leave(locale);
        if (!good)
            fprintf(stderr, "ERROR: fscanf failed to read model\n");
    }
    free(r.text);
    if (!good)
        svm_free_and_destroy_model(&r.model);
    return r.model;
}
