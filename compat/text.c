/* text.c: what the library prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "svm.h"

typedef void print_function(const char *text);

static void print_stdout(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

/* Training in one thread may print while another sets the function. */
static _Atomic(print_function *) print = print_stdout;

void svm_set_print_string_function(print_function *print_func)
{
    atomic_store(&print, print_func ? print_func : print_stdout);
}

void compat_info(const char *format, ...)
{
    char text[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    atomic_load (&print)(text);
}

void compat_warn(const char *format, ...)
{
    char text[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    fprintf(stderr, "WARNING: %s\n", text);
}

compat_locale compat_locale_enter(void)
{
    compat_locale locale = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
    if (locale.plain != (locale_t)0)
        locale.before = uselocale(locale.plain);
    return locale;
}

void compat_locale_leave(compat_locale locale)
{
    if (locale.plain == (locale_t)0)
        return;
    uselocale(locale.before);
    freelocale(locale.plain);
}
