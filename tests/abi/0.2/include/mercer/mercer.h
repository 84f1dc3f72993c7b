/* mercer.h: the whole public interface of Mercer, kernel machines in C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_H
#define MERCER_H

#include <mercer/status.h>
#include <mercer/context.h>
#include <mercer/output.h>
#include <mercer/params.h>
#include <mercer/rows.h>
#include <mercer/text.h>
#include <mercer/facts.h>
#include <mercer/blas.h>
#include <mercer/data.h>
#include <mercer/borrow.h>
#include <mercer/arrow.h>
#include <mercer/kernel.h>
#include <mercer/features.h>
#include <mercer/gram.h>
#include <mercer/map.h>
#include <mercer/extend.h>
#include <mercer/learner.h>
#include <mercer/learning.h>
#include <mercer/model.h>
#include <mercer/export.h>
#include <mercer/select.h>
#include <mercer/plot.h>

#endif
