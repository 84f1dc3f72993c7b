"""abi.py: is the binary interface still what programs were compiled against?

  abi.py check ROOT      compares the headers with those of every release kept in tests/abi (TAP)
  abi.py keep ROOT       keeps the headers and symbols of now as those of the newest version of
                         src/mercer.map, in place of what was kept of it

Both sets of headers become a library of empty functions with debug information, and abidiff
(abigail-tools) compares these. So nothing but text is kept, and no build with debug information is
needed; symbols.py tests that the library exports what the headers declare. What programs do not notice
is allowed: new functions, new enumerators, and new fields at the end of a struct that begins with `size`.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"\bMCR_API\b\s+((?!__attribute__)[^;{}]*\))\s*;")
SIZED = re.compile(r"typedef struct (\w+) \{(\s*size_t size;[^}]*)\}")
ENUM = re.compile(r"\benum(?:\s+\w+)?\s*\{([^}]*)\}")


def text_of(folder):
    return "\n".join(COMMENT.sub(" ", path.read_text(encoding="utf-8"))
                     for path in sorted((folder / "mercer").glob("*.h")))


def library(include, to):
    """A library with the types and functions of the headers, whose functions do nothing."""
    functions = FUNCTION.findall(text_of(include))
    source = to.with_suffix(".c")
    source.write_text("#include <mercer/mercer.h>\n" + "".join(
        "%s\n{\n    __builtin_trap();\n}\n" % text for text in functions), encoding="utf-8")
    done = subprocess.run(["gcc", "-std=c11", "-g", "-shared", "-fPIC", "-w", "-I", include,
                           "-Wl,-soname,libmercer.so.0", "-o", to, source],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit("abi: the headers in %s do not compile:\n%s" % (include, done.stderr))
    return to


def lists(include):
    """{name: [what stands in it]} of the structs that may grow, and of enumerations."""
    text = text_of(include)
    found = {name: body.split(";") for name, body in SIZED.findall(text)}
    for body in ENUM.findall(text):
        found["enum of " + re.search(r"\w+", body)[0]] = body.split(",")
    return {name: ["".join(part.split()) for part in parts if part.strip()]
            for name, parts in found.items()}


def differences(old, new, work):
    """What is wrong with the new headers for programs made with the old ones; empty: nothing.

    abidiff looks neither at fields before those that were added nor at the order of enumerators, so
    their text is compared.
    """
    before, now = lists(old), lists(new)
    changed = ["%s: may only be added to at its end" % name for name, parts in before.items()
               if now.get(name, [])[:len(parts)] != parts]
    sized = [name for name, _ in SIZED.findall(text_of(old))]
    rules = work / "growing"
    rules.write_text("".join(
        "[suppress_type]\n  type_kind = struct\n  name = %s\n  has_data_member_inserted_at = end\n\n"
        % name for name in sized), encoding="utf-8")
    done = subprocess.run(["abidiff", "--no-added-syms", "--suppressions", rules,
                           library(old, work / "old.so"), library(new, work / "new.so")],
                          capture_output=True, text=True)
    return "\n".join(changed + ([(done.stdout + done.stderr).strip()] if done.returncode else []))


def newest(root):
    return re.findall(r"^MERCER_([0-9.]+) \{", (root / "src/mercer.map").read_text(), re.M)[-1]


def keep(root):
    version = newest(root)
    folder = root / "tests/abi" / version
    shutil.rmtree(folder / "include", ignore_errors=True)
    shutil.copytree(root / "include", folder / "include")
    names = {re.search(r"\b(\w+)\s*\(", text)[1] for text in FUNCTION.findall(text_of(root / "include"))}
    known = set()
    for other in (root / "tests/abi").glob("*/symbols"):
        if other.parent.name != version:
            known |= {line.split("@")[0] for line in other.read_text().split()}
    (folder / "symbols").write_text("".join("%s@MERCER_%s\n" % (name, version)
                                            for name in sorted(names - known)))
    print("abi: kept %d functions of %s in %s" % (len(names), version, folder.relative_to(root)))
    return 0


def check(root):
    versions = sorted(p.name for p in (root / "tests/abi").iterdir() if (p / "include").is_dir())
    if not shutil.which("abidiff"):
        print("1..0 # SKIP no abidiff (Debian: abigail-tools)")
        return 77
    print("1..%d" % len(versions))
    failed = 0
    for number, version in enumerate(versions, 1):
        with tempfile.TemporaryDirectory() as work:
            found = differences(root / "tests/abi" / version / "include", root / "include",
                                pathlib.Path(work))
        failed += bool(found)
        print("%s %d - programs made for %s run" % ("not ok" if found else "ok", number, version))
        for line in found.splitlines():
            print("#   " + line)
    if failed:
        print("# Is the change meant, and %s not released yet? Then tools/abi.py keep . takes it over."
              % newest(root))
    return 1 if failed or not versions else 0


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("check", "keep"):
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[2]).resolve()
    return check(root) if sys.argv[1] == "check" else keep(root)


if __name__ == "__main__":
    sys.exit(main())
