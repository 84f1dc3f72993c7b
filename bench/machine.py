"""machine.py: what a comparison says about the machine, and what other programs get from it.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import time

# A comparison begins with what OpenBLAS does by itself, whatever the shell that starts it has set.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS"):
    os.environ.pop(name, None)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def core():
    """The value of OPENBLAS_CORETYPE by the processor's flags; None: leave it alone. Debian's OpenBLAS 0.3.21 takes
    its oldest code on some processors with AVX-512. Mercer asks for the right one when it starts; programs that it is
    compared with get the same."""
    flags = open("/proc/cpuinfo").read()
    return "SkylakeX" if " avx512vl" in flags else "Haswell" if " avx2" in flags else None


def describe():
    """Date, processor, cores and commit: the first line of every table."""
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                            text=True).stdout.strip()
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    return "%s, %s, %d cores, commit %s" % (time.strftime("%Y-%m-%d"), model, os.cpu_count(), commit)
