/* view.h (internal): some rows and columns of another Gram.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_VIEW_H
#define MCR_GRAM_VIEW_H

#include "gram/gram.h"

enum { MCR_VIEW_RUNS = 2 };

/* The Gram of some runs of the objects of a symmetric bound Gram, one run after the other, on both
 * sides. Values in float come from the vectors that this Gram has packed (prepare it beforehand;
 * runs that begin at a multiple of MCR_ROW_PAD are fastest); for values in double the objects are
 * bound again, when these are first requested. `of` must outlive the view, and only one thread may
 * use both. */
mcr_status mcr_gram_view(mcr_gram **out, mcr_gram *of, const mcr_rows run[MCR_VIEW_RUNS]);

#endif
