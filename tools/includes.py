"""includes.py [ROOT]: what the solvers include, also through other headers.

Asks the compiler ($CC, else cc) for everything that each file of src/solve reads, and exits 1 if kernels
or data are among it: a solver takes a Gram and nothing else. layers.py looks at single #include lines;
this looks at what they lead to.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shlex
import subprocess
import sys

REFUSED = {"src/solve": ("src/kernel/", "src/data/", "include/mercer/kernel.h",
                         "include/mercer/data.h")}


def reached(root, source):
    """The files of the tree that `source` reads, relative to root."""
    command = shlex.split(os.environ.get("CC", "cc"))
    done = subprocess.run(command + ["-MM", "-D_GNU_SOURCE", "-Iinclude", "-Isrc", source], cwd=root,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (source, done.stderr.strip()))
    names = done.stdout.replace("\\\n", " ").split(":", 1)[1].split()
    return sorted({os.path.normpath(name) for name in names})


def main(root):
    faults, looked = [], 0
    for folder, refused in REFUSED.items():
        for path in sorted((root / folder).glob("*.c")):
            looked += 1
            source = str(path.relative_to(root))
            found = [name for name in reached(root, source) if name.startswith(refused)]
            if found:
                faults.append("%s: reaches %s" % (source, " ".join(found)))
    print("\n".join(faults + ["includes: %d files, %d faults" % (looked, len(faults))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
