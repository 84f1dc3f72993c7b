/* page.h: the studio's page, part of the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include <stddef.h>

/* The page that asks a server. */
const char *studio_page(size_t *bytes);
/* The page that holds the engine as WebAssembly; NULL: not built. */
const char *studio_page_alone(size_t *bytes);

#endif
