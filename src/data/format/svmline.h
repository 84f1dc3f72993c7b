/* svmline.h (internal to the readers): the parts of a line "label index:value index:value ...".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_SVMLINE_H
#define MCR_DATA_FORMAT_SVMLINE_H

#include "data/data.h"
#include "data/scan.h"

typedef enum mcr_svm_kind {
    MCR_SVM_FINE = 0,
    MCR_SVM_BLANK,
    MCR_SVM_NO_LABEL,
    MCR_SVM_MANY_LABELS,
    MCR_SVM_LABEL_NOT_FINITE,
    MCR_SVM_QID,
    MCR_SVM_NO_PAIR,
    MCR_SVM_ZERO_INDEX,
    MCR_SVM_LARGE_INDEX,
    MCR_SVM_FALLING_INDEX,
    MCR_SVM_NO_VALUE,
    MCR_SVM_NO_NUMBER,
    MCR_SVM_NOT_FINITE
} mcr_svm_kind;

typedef struct mcr_svm_fault {
    mcr_svm_kind kind;
    const char *token; /* borrowed */
    size_t length;
    int64_t index, before; /* the index, and the previous one */
} mcr_svm_fault;

/* Every line must end with '\n'. */

/* The end of the label at p; an error in the label is recorded. If labels are not wanted, they are
 * optional. */
const char *mcr_svm_label(const char *p, bool wanted, mcr_svm_fault *fault);
/* Finds the error in the pair at token, which follows index `before`. */
void mcr_svm_explain(mcr_svm_fault *fault, const char *token, const char *end, int64_t before);
mcr_status mcr_svm_fail(const mcr_svm_fault *fault, mcr *ctx, const char *file, int64_t line);
/* Whether labels are wanted; a target option other than "none" is refused here. */
mcr_status mcr_svm_target(bool *labelled, mcr *ctx, const mcr_read_options *options);

/* Properties of the first lines of a file. */
typedef struct mcr_svm_look {
    bool first_fits, all_fit; /* an optional label, then words with a colon */
    int64_t pairs;            /* number of such words */
    bool serial;              /* the lines begin with 0:1, 0:2, 0:3 ... */
} mcr_svm_look;
mcr_svm_look mcr_svm_look_at(const char *bytes, size_t count);

#endif
