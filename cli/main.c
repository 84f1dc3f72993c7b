/* main.c: the program mercer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

int main(int argc, char **argv)
{
    return cli_run(argc, argv, NULL);
}
