/* team.h: several processes that run one call: what a program for that (mpi/) does in place of
 * reading and writing alone. NULL in the context of `mercer`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include "cli.h"

typedef struct cli_team {
    int rank, count;
    int spread; /* each process has its own rows; else all have all of them */
    /* After the library was opened. Returns the exit status. */
    int (*open)(cli *c);
    /* The own rows of files. */
    mcr_status (*read)(cli *c, mcr_data **out, const char *const *path, int files,
                       const mcr_read_options *options);
    /* Sums over all processes, or the largest of each number. */
    mcr_status (*sum)(cli *c, double *x, int64_t count);
    mcr_status (*largest)(cli *c, double *x, int64_t count);
    /* Numbers of all processes, one after the other; *numbers, from malloc, is replaced. */
    mcr_status (*gather)(cli *c, double **numbers, int64_t count);
    /* The first process writes what the others have written to memory. */
    mcr_status (*collect)(cli *c, const char *bytes, size_t count, FILE *to);
} cli_team;

/* The team that shares the rows; NULL: there is none. */
static inline const cli_team *cli_team_of_rows(const cli *c)
{
    return c->team && c->team->spread ? c->team : NULL;
}

/* Whether this process writes what all have. */
static inline int cli_is_first(const cli *c)
{
    return !c->team || c->team->rank == 0;
}

#endif
