/* sqlite.h (internal): tables and queries of SQLite databases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_SQLITE_H
#define MCR_DATA_FORMAT_SQLITE_H

#include "data/data.h"

/* Whether the path names a database, optionally followed by ":table" or ":query". */
bool mcr_sqlite_is(const char *path);
/* The rows as comma-separated text below a header. */
mcr_status mcr_sqlite_input(mcr_input **out, mcr *ctx, const char *path);

#endif
