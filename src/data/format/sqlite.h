/* sqlite.h (internal): tables and queries of SQLite databases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_SQLITE_H
#define MCR_DATA_FORMAT_SQLITE_H

#include "data/data.h"

/* Whether the path is that of a database, alone or with ":table" or ":query" behind it. */
bool mcr_sqlite_is(const char *path);
/* The rows as text with commas, below the names of the columns. */
mcr_status mcr_sqlite_input(mcr_input **out, mcr *ctx, const char *path);

#endif
