"""hardening.py PROGRAM LIBRARY...: how the program and the shared library were built, by readelf.

  - the program is position-independent (PIE), full RELRO with BIND_NOW, no executable stack;
  - the stack protector and FORTIFY are used;
  - on x86-64 functions begin as CET (indirect branch tracking) wants it, and FORTIFY has made no calls in the
    loops over tiles.

Prints TAP. SPDX-License-Identifier: Apache-2.0
"""

import platform
import re
import subprocess
import sys


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, capture_output=True, text=True).stdout


def results(path):
    head, dynamic, segments = readelf("-h", path), readelf("-d", path), readelf("-l", path)
    symbols = readelf("--dyn-syms", path)
    yield "position-independent", "DYN" in head
    yield "RELRO", "GNU_RELRO" in segments
    yield "BIND_NOW", "BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic) is not None
    stack = [line for line in segments.splitlines() if "GNU_STACK" in line]
    yield "stack is not executable", bool(stack) and "RWE" not in stack[0]
    yield "no segment is writable and executable", " RWE " not in segments
    yield "stack protector", "__stack_chk_fail" in symbols
    yield "FORTIFY", re.search(r"__\w+_chk\b", symbols.replace("__stack_chk_fail", "")) is not None
    if platform.machine() == "x86_64":
        # The note that says so is missing where the C library's own start files were not built for
        # it.
        code = subprocess.run(["objdump", "-d", path], check=True, capture_output=True, text=True).stdout
        tiles = re.findall(r"<(?:dense|sparse)_\w+>:\n(.*?)\n\n", code, re.S)
        yield "no checked copies in the innermost loops", not any(re.search(r"<__mem\w+_chk", t) for t in tiles)
        yield "CET: functions begin with endbr64", code.count("endbr64") > 100


def main():
    found = [(path, name, good) for path in sys.argv[1:]
             for name, good in results(path)]
    print("1..%d" % len(found))
    for number, (path, name, good) in enumerate(found, 1):
        print("%s %d - %s: %s" % ("ok" if good else "not ok", number, path.split("/")[-1], name))
    sys.exit(0 if all(good for _, _, good in found) else 1)


main()
