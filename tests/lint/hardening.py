"""hardening.py COMMANDS FLAGS PROGRAM LIBRARY...: how the program and the shared library were built:
by readelf, and by the compiler's commands (compile_commands.json), which have all FLAGS.

  - the program is position-independent (PIE), full RELRO with BIND_NOW, no executable stack;
  - the stack protector and FORTIFY are used;
  - on x86-64 functions begin as CET (indirect branch tracking) wants it;
  - the micro-kernels load and store vectors without FORTIFY's checks, which would be calls;
  - every source is compiled with the flags, and no later flag takes one back; local variables are set
    to zero if the compiler can do that, but not in the SIMD sources, where it costs time.

Prints TAP. SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import platform
import re
import shlex
import subprocess
import sys


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, capture_output=True, text=True).stdout


def calls_of_kernels(code):
    """How many micro-kernels there are, and what they call."""
    kernels, calls, inside = 0, [], False
    for line in code.splitlines():
        head = re.match(r"[0-9a-f]+ <(\S+)>:", line)
        if head:
            inside = re.match(r"(dense|sparse)_|mcr_smo_run_|sum_(many|rows)", head[1]) is not None
            kernels += inside
        elif inside and "call" in line:
            calls.append(line.split()[-1])
    return kernels, calls


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
        yield "CET: functions begin with endbr64", code.count("endbr64") > 100
        if "<dense_rbf>:" in code:  # a stripped library has no names
            kernels, calls = calls_of_kernels(code)
            yield "micro-kernels without checked copies", kernels > 20 and not any(
                re.search("(memcpy|memset|memmove)_chk", call) for call in calls)


def softened(words, flags):
    """The flags that a command does not have, or takes back."""
    init, fortify = "-ftrivial-auto-var-init=", r"-[DU]_FORTIFY_SOURCE"
    simd = any(word.startswith("-DMCR_SIMD_NAME=") for word in words)
    for flag in flags:
        if flag.startswith(init):
            given = [word for word in words if word.startswith(init)]
            good = given[-1:] == [init + ("uninitialized" if simd else "zero")]
        elif flag.startswith("-D"):
            good = [word for word in words if re.match(fortify, word)][-1:] == [flag]
        else:
            good = flag in words and "-fno-" + flag[2:] not in words and flag + "=none" not in words
            good = good and "-fno-stack-protector" not in words
        if not good:
            yield flag


def results_of_commands(path, flags):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    folders = tuple(os.path.join(root, name) + os.sep
                    for name in ("src", "cli", "web", "mpi", "compat"))
    count = 0
    missing = set()
    for entry in json.load(open(path)):
        name = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
        if name.startswith(folders):
            count += 1
            missing.update((name, flag) for flag in softened(shlex.split(entry["command"]), flags))
    for name, flag in sorted(missing)[:20]:
        print("# %s: without %s" % (name, flag))
    yield "every source is compiled with " + " ".join(flags), count > 100 and not missing


def main():
    commands, flags = sys.argv[1:3]
    found = [(commands, name, good) for name, good in results_of_commands(commands, flags.split())]
    found += [(path, name, good) for path in sys.argv[3:] for name, good in results(path)]
    print("1..%d" % len(found))
    for number, (path, name, good) in enumerate(found, 1):
        print("%s %d - %s: %s" % ("ok" if good else "not ok", number, path.split("/")[-1], name))
    sys.exit(0 if all(good for _, _, good in found) else 1)


main()
