"""coverage.py BUILD: lines and branches of src/ and cli/ that were reached, by gcov's JSON.

A line or branch counts as reached if any object that contains it reached it (code that is compiled for
several instruction sets runs for one of them). BUILD/report lists, file by file, what was not.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def apart(notes):
    """Batches in which no name occurs twice: gcov names its report after the object file, and code that
    is compiled for several instruction sets has several of one name."""
    batches = collections.defaultdict(list)
    seen = collections.Counter()
    for path in notes:
        batches[seen[path.name]].append(str(path.resolve()))
        seen[path.name] += 1
    return batches.values()


def read(build):
    """{file: {line: count}}, {file: {(line, branch): count}}"""
    lines, branches = (collections.defaultdict(lambda: collections.defaultdict(int)) for _ in "ab")
    notes = sorted(pathlib.Path(build).rglob("*.gcda"), key=lambda p: p.name)
    with tempfile.TemporaryDirectory() as folder:
        for batch in apart(notes):
            subprocess.run(["gcov", "--json-format", "--branch-probabilities"] + batch,
                           cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for path in pathlib.Path(folder).glob("*.gcov.json.gz"):
                with gzip.open(path) as f:
                    add(json.load(f), build, lines, branches)
                os.remove(path)
    return lines, branches


def add(report, build, lines, branches):
    for file in report["files"]:
        path = pathlib.Path(os.path.normpath(os.path.join(report["current_working_directory"],
                                                          file["file"])))
        try:
            name = str(path.relative_to(ROOT))
        except ValueError:
            continue
        if not name.startswith(("src/", "cli/")):
            continue
        for line in file["lines"]:
            number = line["line_number"]
            lines[name][number] += line["count"]
            for i, branch in enumerate(line["branches"]):
                if not branch["throw"]:
                    branches[name][number, i] += branch["count"]


def share(counts):
    return sum(c > 0 for c in counts), len(counts)


def main():
    build = sys.argv[1]
    lines, branches = read(build)
    total = [0, 0, 0, 0]
    with open(os.path.join(build, "report"), "w") as report:
        for name in sorted(lines):
            a, b = share(lines[name].values())
            c, d = share(branches[name].values())
            total = [x + y for x, y in zip(total, (a, b, c, d))]
            missed = [str(n) for n, count in sorted(lines[name].items()) if count == 0]
            report.write("%s: lines %d of %d, branches %d of %d%s\n" % (
                name, a, b, c, d, ": " + " ".join(missed) if missed else ""))
    print("lines %.1f %% (%d of %d), branches %.1f %% (%d of %d); not reached: %s/report" % (
        100 * total[0] / max(total[1], 1), total[0], total[1],
        100 * total[2] / max(total[3], 1), total[2], total[3], build))


main()
