"""style.py [ROOT]: the small rules no compiler knows.

Each source file names its licence, ends in a newline, has no tabs or trailing blanks and no notes
to self; lines of C and comments of scripts have at most 100 columns; the version in the header is
the build's; C files outside tests/ stay under 800 lines; every test is in the list of its folder.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

FOLDERS = ["src", "include", "cli", "web", "compat", "tests", "examples", "bench", "tools", "docs", "man", "python"]
TOP = ["meson.build", "meson_options.txt", "check", "quickstart", ".ci/run", "README.md",
       "CONTRIBUTING.md", "CHANGELOG.md"]
SKIPPED = {"build", "corpus", "data", "__pycache__", ".mypy_cache", "mercer.egg-info"}
CODE = {".c", ".h", ".py", ".sh", ".build", ".def"}
NOTES = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
MOST_LINES, MOST_COLUMNS = 800, 100


def files(root):
    for name in TOP:
        if (root / name).is_file():
            yield root / name
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not SKIPPED & set(path.relative_to(root).parts):
                yield path


def is_narrow(path, line):
    """C, and comments of scripts: tables and strings of Python may be wider. Headers of releases stay as
    they were."""
    if "abi" in path.parts and "include" in path.parts:
        return False
    if path.suffix in {".c", ".h"}:
        return True
    return path.suffix in {".py", ".sh", ".build", ""} and line.lstrip().startswith("#")


def faults_of(path):
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return  # a picture
    lines = text.splitlines()
    if path.suffix in CODE - {".build"}:
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:40]):
            yield 1, "no SPDX-License-Identifier line"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and path.suffix != ".md":
            yield number, "blanks at the end of the line"
        if "\t" in line and path.suffix in CODE:
            yield number, "a tab"
        if len(line) > MOST_COLUMNS and is_narrow(path, line):
            yield number, "%d columns: at most %d" % (len(line), MOST_COLUMNS)
        if path.suffix in CODE and NOTES.search(line):
            yield number, "a note to self: finish it or open an issue"
    if path.suffix == ".c" and "tests" not in path.parts and len(lines) > MOST_LINES:
        yield len(lines), "more than %d lines: one idea per file" % MOST_LINES


def version_fault(root):
    build = re.search(r"version: '([0-9.]+)'", (root / "meson.build").read_text())[1]
    text = (root / "include/mercer/context.h").read_text()
    header = ".".join(re.search(r"MCR_VERSION_%s (\d+)" % part, text)[1]
                      for part in ("MAJOR", "MINOR", "PATCH"))
    return None if build == header else "version %s in meson.build, %s in context.h" % (build, header)


def unlisted_tests(root):
    """Test programs that the build does not know: they would never run."""
    for folder, pattern in (("unit", "test_*.c"), ("conformance", "conform_*.c"),
                            ("cli", "test_*.py"), ("oracle", "*.py"), ("fuzz", "fuzz_*.c")):
        path = root / "tests" / folder
        if not path.is_dir():
            continue
        names = set(re.findall(r"'([\w-]+)'", (path / "meson.build").read_text()))
        for test in sorted(path.glob(pattern)):
            if test.suffix == ".py" and "tap.main(" not in test.read_text():
                continue  # a module or a script that made reference values: no test
            if test.stem.removeprefix(pattern.split("*")[0]) not in names:
                yield "%s: not in the list of tests/%s/meson.build" % (test.relative_to(root), folder)


def main(root):
    found = ["%s:%d: %s" % (path.relative_to(root), number, what)
             for path in files(root) for number, what in faults_of(path)]
    found += unlisted_tests(root)
    found += [fault for fault in [version_fault(root)] if fault]
    print("\n".join(found + ["style: %d faults" % len(found)]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
