/* text.c: colours, aligned lines.
 *
 * The program never calls setlocale, so that printf uses a point.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NAME_WIDTH = 11, LINE_BYTES = 4096 };

const char *cli_style_code(FILE *to, cli_style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[1;32m", "\033[1;31m",
                                        "\033[1;33m"};
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    if (!isatty(fileno(to)) || (no && *no) || !term || strcmp(term, "dumb") == 0)
        return "";
    return codes[style];
}

static void put_name(const char *name)
{
    printf("%s%-*s%s", cli_style_code(stdout, CLI_BOLD), NAME_WIDTH, name,
           cli_style_code(stdout, CLI_PLAIN));
}

void cli_say(const char *name, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_name(name);
    cli_put_clean(stdout, text, sizeof text);
    putchar('\n');
}

void cli_say_word(const char *name, cli_style style, const char *word, const char *rest)
{
    put_name(name);
    printf("%s%s%s: ", cli_style_code(stdout, style), word, cli_style_code(stdout, CLI_PLAIN));
    cli_put_clean(stdout, rest, LINE_BYTES);
    putchar('\n');
}

int cli_control_bytes(const char *at)
{
    unsigned char byte = (unsigned char)*at, next = byte ? (unsigned char)at[1] : 0;
    return byte < 0x20 || byte == 0x7f ? 1 : byte == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

void cli_put_clean(FILE *to, const char *text, size_t most)
{
    for (size_t i = 0; i < most && text[i]; i++) {
        int control = cli_control_bytes(text + i);
        putc(control ? '?' : text[i], to);
        i += control == 2;
    }
}

void cli_put_matrix(const double *value, int64_t rows, int64_t cols, int64_t ld, int indent)
{
    int width = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            int length = snprintf(NULL, 0, "%.6g", value[i * ld + j]);
            width = length > width ? length : width;
        }
    for (int64_t i = 0; i < rows; i++) {
        printf("%*s", indent, "");
        for (int64_t j = 0; j < cols; j++)
            printf("%s%*.6g", j ? "  " : "", width, value[i * ld + j]);
        putchar('\n');
    }
}

const char *cli_count_text(char *text, int64_t count, const char *noun)
{
    snprintf(text, 64, "%" PRId64 " %s%s", count, noun, count == 1 ? "" : "s");
    return text;
}

const char *cli_bytes_text(char *text, double bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, 32, "%.3g %s", bytes, bytes == 1 && unit == 0 ? "byte" : units[unit]);
    return text;
}

int cli_width(FILE *of)
{
    struct winsize size;
    if (ioctl(fileno(of), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}
