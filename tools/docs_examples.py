"""docs_examples.py FILE.md|FOLDER...: do the examples in the documents still give what they show?

In fenced blocks marked ```console each line that starts with "$ " is run by sh; a line ending in a
backslash goes on in the next one. The lines below it, up to the next command, are what it must
print (standard output and error together). "..." stands for any text within a line and, alone on a
line, for any number of lines. A command must succeed, unless a line of error ("mercer: ...") is
expected. The blocks of one document run in order in one scratch folder, with the folder of the
program $MERCER first in PATH. Other fences (```sh, ```c) are not run.

Prints TAP, one test a block. SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 120


def blocks(text):
    """(line number, lines) of each console block."""
    inside, start, held = False, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if not inside and re.match(r"^\s*```console\s*$", line):
            inside, start, held = True, number + 1, []
        elif inside and re.match(r"^\s*```\s*$", line):
            inside = False
            yield start, held
        elif inside:
            held.append(line)


def steps(start, lines):
    """(line number, command, expected lines) of each command in a block."""
    found, more = [], False
    for number, line in enumerate(lines, start):
        if more:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([number, line[2:], []])
        elif found:
            found[-1][2].append(line)
        more = found and not found[-1][2] and line.endswith("\\")
    return found


def line_matches(wanted, got):
    pattern = ".*".join(re.escape(part) for part in wanted.rstrip().split("..."))
    return re.fullmatch(pattern, got.rstrip()) is not None


def matches(wanted, got):
    """Both lists of lines; a wanted "..." eats any number of lines."""
    reach = {0}  # how many lines of `got` may be used up so far
    for line in wanted:
        if line.strip() == "...":
            reach = set(range(min(reach), len(got) + 1)) if reach else reach
        else:
            reach = {at + 1 for at in reach if at < len(got) and line_matches(line, got[at])}
    return len(got) in reach


def trim(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def fault_of(step, folder, env):
    """None, or the lines that say what went wrong."""
    number, command, wanted = step
    try:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, text=True, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return ["line %d: took more than %d s: %s" % (number, SECONDS, command)]
    got, wanted = trim(done.stdout.splitlines()), trim(wanted)
    may_fail = any(line.startswith("mercer: ") for line in wanted)
    if done.returncode != 0 and not may_fail:
        return ["line %d: exit status %d: %s" % (number, done.returncode, command)] + got
    if not matches(wanted, got):
        return (["line %d: the output of `%s` differs; expected:" % (number, command)]
                + ["  | " + line for line in wanted] + ["got:"] + ["  | " + line for line in got])
    return None


def main(names):
    env = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="100")
    program = env.get("MERCER")
    if program:
        env["PATH"] = str(pathlib.Path(program).resolve().parent) + os.pathsep + env["PATH"]
    count = failed = 0
    given = map(pathlib.Path, names)
    for path in (p for g in given for p in (sorted(g.glob("*.md")) if g.is_dir() else [g])):
        if not path.exists():
            count += 1
            print("ok %d - %s # SKIP it is not written yet" % (count, path.name))
            continue
        with tempfile.TemporaryDirectory(prefix="mercer-docs-") as folder:
            for start, lines in blocks(path.read_text(encoding="utf-8")):
                count += 1
                faults = (fault_of(step, folder, env) for step in steps(start, lines))
                fault = next((f for f in faults if f), None)
                failed += fault is not None
                print("%s %d - %s:%d" % ("not ok" if fault else "ok", count, path.name, start))
                for line in fault or []:
                    print("# " + line)
    print("1..%d" % count)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
