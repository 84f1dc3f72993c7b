"""layers.py [ROOT]: does each folder include only what stands before it?

Data flows one way, base -> linalg, data -> kernel -> gram -> solve -> learn -> model -> select -> plot,
and the program, web/ and compat/ use public headers only. Looks at the #include lines, and at the functions that each
public header declares: the folder of its layer must define them. Prints what breaks the rule and exits 1
if anything does.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

SEES = {
    "base": set(),
    "linalg": {"base"},
    "data": {"base"},
    "kernel": {"base", "data", "linalg"},
    "gram": {"base", "data", "linalg", "kernel"},
    "solve": {"base", "linalg", "gram"},
    "learn": {"base", "data", "linalg", "kernel", "gram", "solve"},
    "model": {"base", "data", "linalg", "kernel", "gram", "solve", "learn"},
    "export": {"base", "data", "linalg", "kernel", "gram", "solve", "learn", "model"},
    "select": {"base", "data", "linalg", "kernel", "gram", "solve", "learn", "model"},
    "plot": {"base", "data", "linalg", "kernel", "gram", "solve", "learn", "model", "select"},
}

# The layer each public header belongs to. The umbrella mercer.h is for users, not for src/.
PUBLIC = {
    "status": "base", "context": "base", "output": "base", "params": "base", "rows": "base",
    "text": "base", "facts": "base", "blas": "linalg", "data": "data", "borrow": "data",
    "arrow": "data", "kernel": "kernel", "extend": "kernel", "features": "kernel", "gram": "gram",
    "map": "gram", "learner": "learn", "learning": "learn", "model": "model", "select": "select",
    "plot": "plot",
    "export": "export",
}

# Foreign headers that have one home.
HOME = {
    "cblas.h": {"linalg"}, "lapacke.h": {"linalg"}, "lapack.h": {"linalg"},
    "zlib.h": {"base", "model", "plot"}, "pthread.h": {"base"}, "omp.h": {"base"}, "threads.h": {"base"},
}

# What a public header may ask of a C99 or C++ compiler.
STANDARD = {
    "assert.h", "complex.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h",
    "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found[1] == "<", found[2]


def sources(folder):
    return sorted(p for end in ("*.c", "*.h", "*.def") for p in folder.rglob(end))


def public_fault(name, layer):
    """Why a file of `layer` may not include <mercer/NAME>; None if it may."""
    stem = name[len("mercer/"):].removesuffix(".h")
    if stem == "mercer":
        return "includes the umbrella header; name the one that is needed"
    if stem not in PUBLIC:
        return "includes <%s>, which has no layer yet: give it one in tools/layers.py" % name
    if PUBLIC[stem] != layer and PUBLIC[stem] not in SEES[layer]:
        return "of layer %s includes <%s> of layer %s" % (layer, name, PUBLIC[stem])
    return None


def library_fault(path, layer, src, angled, name):
    if angled:
        if name.startswith("mercer/"):
            return public_fault(name, layer)
        if name in HOME and layer not in HOME[name]:
            return "includes <%s>, which only %s may" % (name, " and ".join(sorted(HOME[name])))
        return None
    if name.startswith("mercer/"):
        return 'includes "%s"; public headers go in <>' % name
    target = (src / name) if (src / name).exists() else (path.parent / name).resolve()
    if not target.exists():
        return 'includes "%s", which does not exist' % name
    seen = target.resolve().relative_to(src.resolve()).parts[0]
    if seen != layer and seen not in SEES[layer]:
        return 'of layer %s includes "%s" of layer %s' % (layer, name, seen)
    return None


# What the program and the studio's engine share: the program's writers of JSON, and the engine's
# doors.
SHARED = {
    "web": {"../cli/json.h", "../cli/registry.h", "../cli/report.h"},
    "cli": {"../web/page.h", "../web/server.h"},
    "wasm": {"../engine.h"},
}


def user_fault(path, angled, name):
    """cli/, web/, compat/ and examples/: public headers, the system's, their own."""
    if name.startswith("../") and name not in SHARED.get(path.parent.name, set()):
        return 'includes "%s" of another folder' % name
    if angled or (path.parent / name).exists() or name in ("page_hash.h", "alone_hash.h"):
        return None
    return 'includes "%s": only <mercer/...>, system headers and its own folder\'s are allowed' % name


# mpi/ is the only folder that knows of several machines.
FOREIGN = re.compile(r"^(mpi|petsc\w*|slepc\w*)\.h$")


def foreign_fault(path, angled, name):
    return "includes <%s>, which only mpi/ may" % name if FOREIGN.match(name) else None


def header_fault(path, angled, name):
    if not angled:
        return 'includes "%s"; public headers include each other as <mercer/...>' % name
    if not name.startswith("mercer/"):
        return None if name in STANDARD else "includes <%s>, which is not standard C" % name
    if path.stem == "mercer":
        return None
    if path.stem not in PUBLIC:
        return "has no layer yet: give it one in tools/layers.py"
    return public_fault(name, PUBLIC[path.stem])


# A function begins in column 1, as .clang-format lays it out; its parameters hold no braces.
FUNCTION = re.compile(r"^[a-z][\w *]*[ *](mcr_\w+)\(([^;{}]*)\)\s*\{", re.M)
DECLARED = re.compile(r"^MCR_API\b[^;{}(]*?\b(mcr_\w+)\(", re.M)


def declaration_faults(root):
    """Public headers that declare what another layer implements, or what nobody does."""
    home = {}
    for layer in SEES:
        for path in sorted((root / "src" / layer).rglob("*.c")):
            for found in FUNCTION.finditer(path.read_text(encoding="utf-8")):
                home[found[1]] = layer
    for path in sorted((root / "include" / "mercer").glob("*.h")):
        text = path.read_text(encoding="utf-8")
        for found in DECLARED.finditer(text):
            where = home.get(found[1], "no layer")
            if where != PUBLIC.get(path.stem):
                yield "%s:%d: of layer %s declares %s, which %s defines" % (
                    path.relative_to(root), text.count("\n", 0, found.start()) + 1,
                    PUBLIC.get(path.stem), found[1], where)


def main(root):
    faults, looked = list(declaration_faults(root)), 0
    src = root / "src"
    for folder in sorted(p for p in src.iterdir() if p.is_dir()):
        if folder.name not in SEES:
            faults.append("src/%s: a folder that is in no layer" % folder.name)
    rules = [(src / layer, lambda p, a, n, l=layer: library_fault(p, l, src, a, n))
             for layer in SEES]
    rules += [(root / "cli", user_fault), (root / "web", user_fault), (root / "compat", user_fault), (root / "examples", user_fault),
              (root / "include" / "mercer", header_fault)]
    rules += [(root / folder, foreign_fault) for folder in ("src", "cli", "web", "compat", "include")]
    for folder, rule in rules:
        for path in sources(folder):
            looked += 1
            for number, angled, name in includes(path):
                fault = rule(path, angled, name)
                if fault:
                    faults.append("%s:%d: %s" % (path.relative_to(root), number, fault))
    print("\n".join(faults + ["layers: %d files, %d faults" % (looked, len(faults))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
