/* page.c: the bytes of the page. PAGE_FILE and PAGE_ALONE_FILE are files that the build made; the
 * assembler puts them in as they are, which takes no time, unlike a table of numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page.h"

/* These change with the pages. */
#include "page_hash.h"
#ifdef PAGE_ALONE_FILE
#include "alone_hash.h"
#endif

#define INCLUDE_BYTES(name, file)                                                                  \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #name "\n" #name ":\n"                                                      \
            ".incbin \"" file "\"\n"                                                               \
            ".global " #name "_end\n" #name "_end:\n"                                              \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern const char name[] __attribute__((visibility("hidden")));                                \
    extern const char name##_end[] __attribute__((visibility("hidden")))

INCLUDE_BYTES(studio_page_bytes, PAGE_FILE);

const char *studio_page(size_t *bytes)
{
    *bytes = (size_t)(studio_page_bytes_end - studio_page_bytes);
    return studio_page_bytes;
}

#ifdef PAGE_ALONE_FILE
INCLUDE_BYTES(studio_alone_bytes, PAGE_ALONE_FILE);

const char *studio_page_alone(size_t *bytes)
{
    *bytes = (size_t)(studio_alone_bytes_end - studio_alone_bytes);
    return studio_alone_bytes;
}
#else
const char *studio_page_alone(size_t *bytes)
{
    *bytes = 0;
    return NULL;
}
#endif
