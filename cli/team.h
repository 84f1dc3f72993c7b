/* team.h: several processes that run one call: functions of a parallel program (mpi/) that replace
 * reading and writing. NULL in `mercer`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include "cli.h"

typedef struct cli_team {
    int rank, count;
    int spread; /* each process has its own rows; otherwise all processes have all rows */
    /* Called after the library was opened. Returns the exit status. */
    int (*open)(cli *c);
    /* Reads this process's rows of files. */
    mcr_status (*read)(cli *c, mcr_data **out, const char *const *path, int files,
                       const mcr_read_options *options);
    /* Sums over all processes, or the maximum of each number. */
    mcr_status (*sum)(cli *c, double *x, int64_t count);
    mcr_status (*largest)(cli *c, double *x, int64_t count);
    /* Numbers of all processes, concatenated; *numbers, from malloc, is replaced. */
    mcr_status (*gather)(cli *c, double **numbers, int64_t count);
    /* The first process writes what the others have written to memory. */
    mcr_status (*collect)(cli *c, const char *bytes, size_t count, FILE *to);
} cli_team;

/* The team that shares the rows; NULL: none. */
static inline const cli_team *cli_team_of_rows(const cli *c)
{
    return c->team && c->team->spread ? c->team : NULL;
}

/* Whether this process writes the common output. */
static inline int cli_is_first(const cli *c)
{
    return !c->team || c->team->rank == 0;
}

#endif
