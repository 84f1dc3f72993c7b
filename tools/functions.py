"""functions.py [--list N] [ROOT]: does every function of src/, cli/, web/, compat/ and mpi/ fit a screen?

Prints functions of more than 70 lines, from the name to the closing brace, and exits 1 if there are any.
--list N prints those of more than N lines in all folders, longest first.
Reads files as the tree's .clang-format lays them out: a function ends at the first brace in column 1.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import pathlib
import re
import sys

MOST_LINES = 70
START = re.compile(r"[A-Za-z_]\w*(?!\w|:$)")  # of a definition or declaration; not a label
NAME = re.compile(r"\b(\w+)\(")


def functions(path):
    """(name, first line, number of lines) of each function of a file."""
    first, name = 0, None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("}"):
            if name and first:
                yield name, first, number - first + 1
            name = None
        elif START.match(line):
            found = NAME.search(line)
            first, name = number, found and found[1]
        if line.endswith(";") and not line.startswith((" ", "}")):
            name = None


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    cli.add_argument("--list", type=int, metavar="N")
    ask = cli.parse_args()
    found = []
    for folder in ("src", "cli", "web", "compat", "mpi"):
        for path in sorted((ask.root / folder).rglob("*.[ch]")):
            found += [(lines, path.relative_to(ask.root), first, name)
                      for name, first, lines in functions(path)]
    limit = MOST_LINES if ask.list is None else ask.list
    faults = 0
    for lines, path, first, name in sorted(found, key=lambda f: (-f[0], f[1])):
        if lines > limit:
            faults += 1
            print("%s:%d: %s has %d lines" % (path, first, name, lines))
    print("functions: %d of them, %d too long" % (len(found), faults))
    return 1 if faults and ask.list is None else 0


if __name__ == "__main__":
    sys.exit(main())
