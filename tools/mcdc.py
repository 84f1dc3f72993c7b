#!/usr/bin/env python3
"""mcdc.py BUILD [FILE[:LINE[-LINE]]...]: does each condition of the readers decide something that a test sees?

Modified condition/decision coverage asks of each condition in a decision that it changes the outcome by itself. Here
that is tried: every condition of the files below (the operands of && and || in an if, a loop, a return or an
assignment) is replaced in turn by true and by false, still evaluated; the file is compiled with the address and
undefined-behaviour sanitizers and linked into the unit tests named, which must then fail. A change that they do not
see must stand in tests/mcdc.txt with the reason why it cannot matter. A file is compiled once, with all changes in it;
the environment says which one is made (MCDC_CHANGE).

BUILD: a tree that meson has set up with -Dtests=enabled, and built. With lines, only the conditions that begin there
are changed. Prints the counts; the exit status is 0 if all
changes are seen or explained. SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import itertools
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = {  # what is changed, and the tests that must see it
    "src/model/container.c": ["test_container"],
    "src/model/load.c": ["test_load"],
    "src/data/format/csv.c": ["test_csv_table", "test_format_csv"],
    "src/data/format/csv_dialect.c": ["test_csv_fields"],
    "src/data/format/csv_record.c": ["test_csv_fields"],
    "src/data/format/fasta.c": ["test_format_fasta", "test_join"],
    "src/data/format/jsonl.c": ["test_format_jsonl", "test_join"],
    "src/data/format/jsonl_value.c": ["test_format_jsonl", "test_join"],
    "src/data/format/libsvm.c": ["test_format_libsvm"],
    "src/data/format/npy.c": ["test_format_npy", "test_disk"],
    "src/data/format/npy_file.c": ["test_format_npy", "test_format_npz", "test_disk"],
    "src/data/format/svmline.c": ["test_svmline"],
    "src/data/format/text.c": ["test_format_text"],
    "src/data/format/tu.c": ["test_format_tu"],
    "src/data/format/zip.c": ["test_zip", "test_format_npz"],
}
SECONDS = 60  # of the processor for one test as it is; a change may take three times what that took, and 2 s
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def blank(text):
    """The text with comments and literals of the same length, but empty."""
    def hide(m):
        return re.sub(r"[^\n]", " ", m.group()) if m.group()[0] == "/" else "_" * len(m.group())
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', hide, text, flags=re.S)


def closing(text, at):
    """Where the bracket at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError("a bracket does not close")


def trim(text, first, end):
    while first < end and text[first].isspace():
        first += 1
    while end > first and text[end - 1].isspace():
        end -= 1
    return first, end


def operands(text, first, end):
    """The ranges of the conditions in text[first:end]: operands of && and ||, also within brackets."""
    first, end = trim(text, first, end)
    parts, depth, begin = [], 0, first
    for i in range(first, end):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0 and text[i] == "?":
            return [(first, end)]  # a choice is one condition
        if depth == 0 and text[i:i + 2] in ("&&", "||"):
            parts.append((begin, i))
            begin = i + 2
    parts.append((begin, end))
    if len(parts) > 1:
        return [range_ for part in parts for range_ in operands(text, *part)]
    at = first + 1 if text[first] == "!" else first
    if at < end and text[at] == "(" and closing(text, at) == end - 1 and re.search(r"&&|\|\|", text[at:end]):
        return operands(text, at + 1, end - 1)
    return [(first, end)]


def conditions(source):
    """Ranges of all conditions of a file."""
    text, found = blank(source), []
    body = text.find("\n{\n")
    for m in re.finditer(r"(?<!#)\b(if|while|for|return)\b|(?<![=!<>])=(?!=)", text):
        if m.start() < body:
            continue
        at = m.end()
        if m.group(1) in ("if", "while", "for"):
            at = text.index("(", at)
            end = closing(text, at)
            inner = (at + 1, end)
            if m.group(1) == "for":
                middle = [i for i in range(at + 1, end) if text[i] == ";"]
                if len(middle) != 2:
                    continue
                inner = (middle[0] + 1, middle[1])
            if text[inner[0]:inner[1]].strip():
                found += operands(text, *inner)
        else:  # a value that is a decision
            depth, end = 0, at
            while text[end] != ";" and not (text[end] == "," and depth == 0) and depth >= 0:
                depth += (text[end] in "([{") - (text[end] in ")]}")
                end += 1
            if depth == 0 and re.search(r"&&|\|\|", text[at:end]) and "?" not in text[at:end]:
                found += operands(text, at, end)
    return sorted(part for part in set(found) if not text[slice(*part)].isdigit())  # while (0)


# Condition c of the file is given the value v by MCDC_CHANGE=2c+v.
CHOOSE = """#include <stdlib.h>
static int mcdc_change = -1;
__attribute__((constructor)) static void mcdc_begin(void)
{
    const char *text = getenv("MCDC_CHANGE");
    mcdc_change = text != NULL ? atoi(text) : -1;
}
static int mcdc(int condition, int value)
{
    return mcdc_change >> 1 == condition && mcdc_change >= 0 ? mcdc_change & 1 : value;
}
#line 1
"""


def with_changes(source, found):
    """The text of a file in which each condition can be given a value."""
    marks = [(first, 1, -end, "mcdc(%d, !!(" % i) for i, (first, end) in enumerate(found)]
    marks += [(end, 0, -first, "))") for first, end in found]
    parts, at = [CHOOSE], 0
    for place, _, _, text in sorted(marks):
        parts += [source[at:place], text]
        at = place
    return "".join(parts) + source[at:]


class Changes:
    """The tests of one file, linked with what with_changes makes of it."""

    def __init__(self, build, work, file, found):
        self.build = os.path.abspath(build)
        stem = os.path.join(work, file.replace("/", "_")[:-2])
        with open(os.path.join(ROOT, file)) as f, open(stem + ".c", "w") as out:
            out.write(with_changes(f.read(), found))
        self.compile(file, stem)
        self.tests = []
        for test in FILES[file]:
            lines = self.call(["ninja", "-C", build, "-t", "commands", "tests/unit/" + test], None).splitlines()
            link = shlex.split(lines[-1])
            at = link.index("-o") + 1
            link[at:at + 1] = [stem + "-" + test, stem + ".o"]
            self.call(link + SANITIZE, self.build)
            self.tests.append(stem + "-" + test)
        self.limit = 2
        began = os.times()
        if self.fails(-1):
            raise SystemExit("%s: its tests fail as it is" % file)
        spent = os.times()
        self.limit = 2 + int(3 * (spent.children_user + spent.children_system - began.children_user -
                                  began.children_system))

    @staticmethod
    def call(command, folder):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit("%s: %s" % (" ".join(command), done.stderr))
        return done.stdout

    def compile(self, file, stem):
        with open(os.path.join(self.build, "compile_commands.json")) as f:
            commands = {os.path.normpath(os.path.join(c["directory"], c["file"])): c["command"] for c in json.load(f)}
        drop = re.compile(r"-o$|-c$|-M|-Werror$|-D_FORTIFY|-U_FORTIFY|-O\d$")
        command, skip = [], False
        for word in shlex.split(commands[os.path.join(ROOT, file)]):
            if skip or drop.match(word):
                skip = not skip and word in ("-o", "-MQ", "-MF", "-c")
            else:
                command.append(word)
        self.call(command + ["-w", "-O1", "-I" + os.path.join(ROOT, os.path.dirname(file)), *SANITIZE, "-c",
                             stem + ".c", "-o", stem + ".o"], self.build)

    def fails(self, change):
        """Whether a test fails with that change; one that hangs does."""
        for test in self.tests:
            limit = self.limit if change >= 0 else SECONDS
            done = subprocess.run([test], cwd=self.build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
                                  env=dict(os.environ, MCDC_CHANGE=str(change), OPENBLAS_NUM_THREADS="1",
                                           CMOCKA_TEST_ABORT="1",  # the first failure is enough
                                           ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=1000"))
            if done.returncode:
                return True
        return False


def explained():
    """What need not be seen: (file, condition, value)."""
    with open(os.path.join(ROOT, "tests", "mcdc.txt")) as f:
        lines = [line.strip() for line in f if line.strip() and line[0] != "#"]
    return {tuple(part.strip() for part in line.split(" | ")[:3]) for line in lines}


COUNTS = "%d conditions, %d changes: %d seen, %d explained, %d neither"


def count(file, group, known):
    """Prints what no test sees in a file, and the counts; returns them."""
    counts = [0, 0, 0, 0]  # changes; seen, explained, neither
    for (_, _, _, line, text, value), good in group:
        reason = (file, text, value) in known
        counts[0] += 1
        counts[1 if good else 2 if reason else 3] += 1
        if not good and not reason:
            print("%s:%d: %s | %s: no test sees it" % (file, line, text, value))
    print(file + ": " + COUNTS % (counts[0] // 2, *counts), flush=True)
    return counts


def main():
    files = sys.argv[2:] or list(FILES)
    known, jobs = explained(), []
    with tempfile.TemporaryDirectory() as work:
        for argument in files:
            file, _, lines = argument.partition(":")
            begin, _, end = lines.partition("-")
            wanted = range(int(begin or 1), int(end or begin or 10**9) + 1)
            with open(os.path.join(ROOT, file)) as f:
                source = f.read()
            found = conditions(source)
            changes = Changes(sys.argv[1], work, file, found)
            for i, (first, end) in enumerate(found):
                line, text = source.count("\n", 0, first) + 1, " ".join(source[first:end].split())
                if line in wanted:
                    jobs += [(changes, 2 * i + value, file, line, text, str(value)) for value in range(2)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda job: job[0].fails(job[1]), jobs)
            total = [0, 0, 0, 0]
            for file, group in itertools.groupby(zip(jobs, results), lambda pair: pair[0][2]):
                total = [a + b for a, b in zip(total, count(file, group, known))]
    print("mcdc: " + COUNTS % (total[0] // 2, *total))
    sys.exit(total[3] > 0)


if __name__ == "__main__":
    main()
