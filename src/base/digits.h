/* digits.h (internal): decimal digits to whole numbers, eight at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_DIGITS_H
#define MCR_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Parses the digits among the 8 characters at p without a branch per digit: shifts them to the top,
 * as if after leading zeros, and combines neighbours: 8 x 1, 4 x 2, 2 x 4, 1 x 8. Returns their
 * count. */
static inline int mcr_take_digits(const char *p, uint64_t *w)
{
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t v;
    memcpy(&v, p, sizeof v);
    /* The high bit of a byte marks a non-digit; carries can only affect bytes after the first
     * one. */
    uint64_t other = ((v + 0x4646464646464646u) | (v - 0x3030303030303030u)) & 0x8080808080808080u;
    int count = other != 0 ? __builtin_ctzll(other) >> 3 : 8;
    if (count == 0)
        return 0;
    v = (v ^ 0x3030303030303030u) << (64 - 8 * count);
    v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ffu;
    v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffffu;
    v = (v * 10000 + (v >> 32)) & 0xffffffffu;
    *w = *w * tens[count] + v;
    return count;
}
#else
static inline int mcr_take_digits(const char *p, uint64_t *w)
{
    int count = 0;
    for (; count < 8 && (unsigned char)(p[count] - '0') <= 9; count++)
        *w = *w * 10 + (unsigned char)(p[count] - '0');
    return count;
}
#endif

/* Continues w with the digits at p, modulo 2^64; returns the end of the digits. */
static inline const char *mcr_scan_digits(const char *p, const char *end, uint64_t *w)
{
    uint64_t v = *w;
    while (end - p >= 8) {
        int count = mcr_take_digits(p, &v);
        p += count;
        if (count < 8) {
            *w = v;
            return p;
        }
    }
    for (; p < end && (unsigned char)(*p - '0') <= 9; p++)
        v = v * 10 + (unsigned char)(*p - '0');
    *w = v;
    return p;
}

#endif
