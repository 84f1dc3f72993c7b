"""symbols.py LIBMERCER.SO LIBMERCER.A ROOT: what do the libraries export, use and keep?

  - the shared library exports exactly the functions declared MCR_API in the public headers, each with
    a version (src/mercer.map), and those of earlier releases (tests/abi) with the version of then;
  - its soname is libmercer.so.0;
  - every global name of the static one starts with mcr_;
  - the library neither exits, prints, traps signals nor calls what depends on the locale or on
    hidden state; only src/base touches the allocator;
  - it keeps no variables (read-only tables are fine).

Prints TAP. SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys

FORBIDDEN = set("""
    exit _exit quick_exit atexit abort printf vprintf puts putchar perror stdout stderr stdin
    signal sigaction raise setlocale localeconv strtod strtof strtold atof atoi atol scanf sscanf
    fscanf rand srand random srandom drand48 strtok getenv system popen fork sleep usleep
    __printf_chk __vprintf_chk __isoc99_sscanf __isoc99_fscanf
""".split())
ALLOCATOR = set("malloc calloc realloc free aligned_alloc posix_memalign memalign strdup strndup "
                "asprintf vasprintf getline getdelim reallocarray".split())
# file of src/ (as its object is named) -> (names it may use, why)
ALLOWED = {
    "src_base_system.c.o": ({"getenv"}, "reads limits of the system"),
}
# Variables that must exist, with the reason.
KEPT = {
    "src_base_threads.c.o": "a flag that a fork() happened, set by pthread_atfork",
}


def tool(*call):
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


def exported(shared):
    """{name: version} of the library's symbols; the versions themselves are symbols of type A."""
    rows = (line.split() for line in
            tool("nm", "-D", "--defined-only", "--with-symbol-versions", shared).splitlines())
    return {row[-1].split("@")[0]: row[-1].split("@")[-1] if "@" in row[-1] else ""
            for row in rows if row and row[-2] != "A"}


def version_faults(exports, root):
    nodes = set(re.findall(r"^(MERCER_[0-9.]+) \{", (root / "src/mercer.map").read_text(), re.M))
    faults = ["%s has the version \"%s\"" % (name, version) for name, version in exports.items()
              if version not in nodes]
    for path in sorted((root / "tests/abi").glob("*/symbols")):
        for name, version in (line.split("@") for line in path.read_text().split()):
            if exports.get(name) != version:
                faults.append("%s of %s is %s" % (name, version, exports.get(name, "gone")))
    return faults


def declared(include):
    names = set()
    for path in sorted(pathlib.Path(include).rglob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S)
        for part in re.findall(r"\bMCR_API\b([^;{]*)", text):
            found = re.search(r"\b(\w+)\s*\(", part) or re.search(r"\b(\w+)\s*(?:\[|$)", part)
            if found and not part.lstrip().startswith("__attribute__"):
                names.add(found[1])
    return names


def members(static):
    """(object, kind, name, section) of every symbol in the archive."""
    for line in tool("objdump", "-t", static).splitlines():
        found = re.match(r"^(\S+):\s+file format", line)
        if found:
            member = found[1].rsplit("/", 1)[-1]
            continue
        found = re.match(r"^[0-9a-f]{8,}\s(.{7})\s(\S+)\s+[0-9a-f]+\s+(?:\.hidden\s+)?(\S+)$", line)
        if found:
            yield member, found[1], found[3], found[2]


def main(shared, static, root):
    cases = []
    root = pathlib.Path(root)
    versions, headers = exported(shared), declared(root / "include")
    exports = set(versions)
    soname = re.search(r"SONAME.*\[(.*)\]", tool("readelf", "-d", shared))
    cases.append(("the soname is libmercer.so.0",
                  [] if soname and soname[1] == "libmercer.so.0" else [str(soname and soname[1])]))
    cases.append(("symbols have the versions of src/mercer.map and tests/abi",
                  version_faults(versions, root)))
    cases.append(("exported names start with mcr_",
                  sorted(n for n in exports if not n.startswith("mcr_"))))
    cases.append(("exported names are declared in the public headers", sorted(exports - headers)))
    cases.append(("declared functions are exported", sorted(headers - exports)))

    globals_, used, allocating, kept = set(), set(), set(), set()
    for member, flags, name, section in members(static):
        here = member + ": " + name
        if section == "*UND*":
            plain = name.split("@")[0]
            if plain in FORBIDDEN and plain not in ALLOWED.get(member, (set(),))[0]:
                used.add(here)
            if plain in ALLOCATOR and not member.startswith("src_base_"):
                allocating.add(here)
        elif flags[0] in "gu!" and not name.startswith("mcr_"):
            globals_.add(here)
        if flags[6] == "O" and re.match(r"^(\.data(?!\.rel\.ro)|\.bss|\.tbss|\.tdata|\*COM\*)", section):
            if member not in KEPT:
                kept.add(here)
    cases.append(("global names of the static library start with mcr_", sorted(globals_)))
    cases.append(("no exit, print, signal or locale", sorted(used)))
    cases.append(("only base allocates", sorted(allocating)))
    cases.append(("no variables are kept", sorted(kept)))

    print("1..%d" % len(cases))
    for number, (name, faults) in enumerate(cases, 1):
        print("%s %d - %s" % ("not ok" if faults else "ok", number, name))
        for fault in faults:
            print("#   " + fault)
    print("# %d functions exported" % len(exports))
    return 1 if any(faults for _, faults in cases) or not exports else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
