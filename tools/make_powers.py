#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints base/powers.c, which the build makes: the leading 128 bits of the powers of five, for
reading and printing numbers.

Entry q holds 5^q scaled by a power of two to 2^127 <= x < 2^128. Powers with q >= 0 are cut off,
those with q < 0 are rounded up: that is what the error analysis of the reader asks for (Lemire 2021).
"""

FIRST, LAST = -342, 324


def leading_bits(q):
    if q >= 0:
        power = 5**q
        shift = power.bit_length() - 128
        return power >> shift if shift >= 0 else power << -shift
    power = 5**-q
    shift = power.bit_length() + 127
    scaled = -(-(1 << shift) // power)
    assert scaled >> 127 == 1
    return scaled


def main():
    print("/* powers.c: made by tools/make_powers.py. See powers.h.")
    print(" *")
    print(" * SPDX-License-Identifier: Apache-2.0")
    print(" */")
    print('#include "base/powers.h"')
    print()
    print("/* clang-format off */")
    print("const uint64_t mcr_powers_of_five[][2] = {")
    for q in range(FIRST, LAST + 1):
        bits = leading_bits(q)
        print(f"    {{0x{bits >> 64:016x}u, 0x{bits & (1 << 64) - 1:016x}u}}, /* {q} */")
    print("};")


if __name__ == "__main__":
    main()
