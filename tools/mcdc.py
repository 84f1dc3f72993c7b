#!/usr/bin/env python3
"""mcdc.py BUILD [FILE...]: does each condition of the readers decide something that a test sees?

Modified condition/decision coverage asks of each condition in a decision that it changes the outcome by itself. Here
that is tried: every condition of the files below (the operands of && and || in an if, a loop, a return or an
assignment) is replaced in turn by true and by false, still evaluated; the file is compiled with the address and
undefined-behaviour sanitizers and linked into the unit tests named, which must then fail. A change that they do not
see must stand in tests/mcdc.txt with the reason why it cannot matter.

BUILD: a tree that meson has set up with -Dtests=enabled, and built. Prints the counts; the exit status is 0 if all
changes are seen or explained. SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = {  # what is changed, and the tests that must see it
    "src/model/container.c": ["test_container"],
    "src/model/load.c": ["test_container"],
    "src/data/format/npy_file.c": ["test_format_npy", "test_format_npz"],
    "src/data/format/svmline.c": ["test_format_libsvm"],
    "src/data/format/zip.c": ["test_zip", "test_format_npz"],
}
SECONDS = 60  # for one test; a change that makes it hang is seen


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
    for m in re.finditer(r"\b(if|while|for|return)\b|(?<![=!<>])=(?!=)", text):
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
    return sorted(set(found))


class Changes:
    def __init__(self, build, work, files):
        self.build, self.work = os.path.abspath(build), work
        with open(os.path.join(build, "compile_commands.json")) as f:
            self.commands = {os.path.normpath(os.path.join(c["directory"], c["file"])): c for c in json.load(f)}
        self.links = {}
        for file in files:
            for test in FILES[file]:
                lines = subprocess.run(["ninja", "-C", build, "-t", "commands", "tests/unit/" + test], check=True,
                                       capture_output=True, text=True).stdout.splitlines()
                self.links[test] = shlex.split(lines[-1])

    def fails(self, file, source, number):
        """Whether a test fails with that text in place of the file."""
        stem = os.path.join(self.work, "%d" % number)
        with open(stem + ".c", "w") as f:
            f.write(source)
        sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        drop = re.compile(r"-o$|-c$|-M|-Werror$|-D_FORTIFY|-U_FORTIFY|-O\d$")
        words, command = shlex.split(self.commands[os.path.join(ROOT, file)]["command"]), []
        skip = False
        for word in words:
            if skip or drop.match(word):
                skip = not skip and word in ("-o", "-MQ", "-MF", "-c")
            else:
                command.append(word)
        command += ["-w", "-O1", "-I" + os.path.join(ROOT, os.path.dirname(file)), *sanitize, "-c", stem + ".c", "-o",
                    stem + ".o"]
        done = subprocess.run(command, cwd=self.build, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit("%s does not compile: %s" % (file, done.stderr))
        for test in FILES[file]:
            link = list(self.links[test])
            link[link.index("-o") + 1] = stem
            link.insert(link.index("-o") + 2, stem + ".o")
            done = subprocess.run(link + sanitize, cwd=self.build, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit("%s does not link: %s" % (test, done.stderr))
            try:
                done = subprocess.run([stem], cwd=self.build, capture_output=True, timeout=SECONDS,
                                      env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=1000"))
            except subprocess.TimeoutExpired:
                return True
            if done.returncode:
                return True
        for end in (".c", ".o", ""):
            os.remove(stem + end)
        return False


def explained():
    """What need not be seen: (file, condition, value)."""
    with open(os.path.join(ROOT, "tests", "mcdc.txt")) as f:
        lines = [line.strip() for line in f if line.strip() and line[0] != "#"]
    return {tuple(part.strip() for part in line.split(" | ")[:3]) for line in lines}


def main():
    files = sys.argv[2:] or list(FILES)
    known, jobs = explained(), []
    for file in files:
        with open(os.path.join(ROOT, file)) as f:
            source = f.read()
        for first, end in conditions(source):
            line, text = source.count("\n", 0, first) + 1, " ".join(source[first:end].split())
            for value in "01":
                changed = source[:first] + "((%s), %s)" % (source[first:end], value) + source[end:]
                jobs.append((file, line, text, value, changed))
    with tempfile.TemporaryDirectory() as work:
        changes = Changes(sys.argv[1], work, files)
        for file in files:  # as it is, it must pass
            with open(os.path.join(ROOT, file)) as f:
                if changes.fails(file, f.read(), 0):
                    raise SystemExit("%s: its tests fail as it is" % file)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            seen = list(pool.map(lambda j: changes.fails(jobs[j][0], jobs[j][4], j + 1), range(len(jobs))))
    bad = 0
    for (file, line, text, value, _), good in zip(jobs, seen):
        if not good and (file, text, value) not in known:
            print("%s:%d: %s | %s: no test sees it" % (file, line, text, value))
            bad += 1
    print("mcdc: %d conditions, %d changes: %d seen, %d explained, %d neither" % (
        len(jobs) // 2, len(jobs), sum(seen), len(jobs) - sum(seen) - bad, bad))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
