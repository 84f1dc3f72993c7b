/* file.h: the words of LIBSVM's model files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_FILE_H
#define COMPAT_FILE_H

/* By svm_type and kernel_type; NULL ends them. */
extern const char *const compat_type_name[];
extern const char *const compat_kernel_name[];

#endif
