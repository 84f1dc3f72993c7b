/* text.h: what the library prints, and numbers as text whatever the locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_TEXT_H
#define COMPAT_TEXT_H

#include <locale.h>

/* Through the caller's print function; standard output where there is none. */
__attribute__((format(printf, 1, 2))) void compat_info(const char *format, ...);
/* On standard error, as one line with "WARNING: " in front, as LIBSVM warns. */
__attribute__((format(printf, 1, 2))) void compat_warn(const char *format, ...);

/* The C locale for this thread alone, from enter to leave. */
typedef struct compat_locale {
    locale_t plain, before;
} compat_locale;
compat_locale compat_locale_enter(void);
void compat_locale_leave(compat_locale locale);

#endif
