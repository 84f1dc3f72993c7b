"""blas.py: the BLAS code for other programs in a comparison.

Debian's OpenBLAS 0.3.21 takes its oldest code on some processors with AVX-512. Mercer asks for the
right one when it starts; programs that it is compared with get the same.

SPDX-License-Identifier: Apache-2.0
"""


def core():
    """The value of OPENBLAS_CORETYPE by the processor's flags; None: leave it alone."""
    flags = open("/proc/cpuinfo").read()
    return "SkylakeX" if " avx512vl" in flags else "Haswell" if " avx2" in flags else None
