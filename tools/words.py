"""words.py [ROOT]: the vocabulary: words that the project does not use, and what stands for them.

Code, comments, messages and documents use the field's words (CONTRIBUTING.md, "Words"). This lists
each place in the library, the program, the headers, the tests and the documents with words that have
better ones. Sentences are read across the ends of lines.

SPDX-License-Identifier: Apache-2.0
"""

import bisect
import pathlib
import re
import sys

FOLDERS = ["src", "include", "cli", "web", "docs", "man", "examples", "python", "compat", "tests"]
SKIPPED = {"__pycache__", "build", "corpus", "models"}  # and headers of releases, which stay as they were
TOP = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "quickstart", "check"]
SUFFIXES = {".c", ".h", ".def", ".md", ".1", ".py", ".build", ""}

UNITS = ("worker|thread|line|class|field|object|feature|column|row|file|leaf|kernel|learner|verb|step|"
         "pair|fold|node|output|group|parameter|tile|store|string|graph|entry|round|job|model|"
         "name|word|character|byte|page|core|call|target|cluster|panel|reader|split|value|point|problem|"
         "scale|item|axis|letter|lane|text|pass|batch|setting|second|sample|category|task")
# "one file a kernel", "a line an object", "5 values an axis", "once a row"
COUNTS = r"one|two|three|four|five|six|eight|ten|few|so many|\d+|a|an"
NOUNS = (r"files?|lines?|rows?|columns?|words?|names?|numbers?|values?|bits?|bytes?|flags?|weights?|digits?|"
         r"objects?|features?|vectors?|products?|scales?|gammas?|lengths?|matrix|matrices|ideas?|labels?|"
         r"targets?|steps?|rounds?|seconds?|entries|entry|tests?|points?|strings?|pointers?|problems?")
RULES = [  # a pattern, and what to write instead
    (r"\b[a-z_]*twins?\b", "duplicates, copies"),
    (r"\b(\w+_)?rooms?(_\w+)?\b", "buffer, workspace, capacity; in prose: space"),
    (r"\bdear(er|est)?\b", "expensive"),
    (r"\banew\b", "again, re-"),
    (r"\bmade data\b", "synthetic data"),
    (r"\bsupport objects?\b", "support vectors"),
    (r"(?<![a-z])told(?![a-z])|\b\w+_tell\b|\btell_\w+", "report, distinguish"),
    (r"(?<![a-z])judge[sd]?(?![a-z])|\bjudging\b", "evaluate, check, score"),
    (r"\bwhat (it |they |that )?rests? on\b", "verified against, based on"),
    (r"\b(gives?|gave|given) way\b", "is dropped, is pruned"),
    (r"\bha[sd] had enough\b", "is cancelled"),
    (r"(?<!standard )(?<!absolute )(?<!squared )\bdeviations?\b", "standard deviation"),
    (r"\b(kernel|features?) side\b|\bmcr_side\w*", "dual form, primal form"),
    (r"\bwhat is said of\b", "the prediction for"),
    (r"(?<!there )\b(is|are|was|were) no (vectors?|tables?|fields?|neighbou?rs|support vectors?|numbers|words|kernels?)\b",
     "is not a, are not"),
    (r"(?<!-vs-)(?<!UTF-)(?<!- )\b(%s)(?<!,) an? (%s)\b" % (COUNTS.removesuffix("|a|an"), UNITS), "per: one per thread"),
    (r"(?<!- )\b(%s) (%s) an? (%s)\b(?! (has|have|had|is|holds|brings|makes))" % (COUNTS, NOUNS, UNITS),
     "per: one file per kernel"),
    (r"\bonce an? (%s)\b(?! (has|is))" % UNITS, "once per"),
]
RULES = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in RULES]


def files(root):
    for name in TOP:
        if (root / name).is_file():
            yield root / name
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            parts = set(path.relative_to(root).parts)
            kept = {"abi", "include"} <= parts
            if path.is_file() and path.suffix in SUFFIXES and not SKIPPED & parts and not kept:
                yield path


def flatten(text):
    """The text in one line, without what begins lines of comments; and where its lines begin in it."""
    lines, starts, at = [], [], 0
    for line in text.splitlines():
        line = re.sub(r"^[ \t]*(\*(?!/)|#|//)?[ \t]*", "", line).rstrip() + " "
        starts.append(at)
        lines.append(line)
        at += len(line)
    return "".join(lines), starts


def faults(root):
    for path in files(root):
        try:
            text, starts = flatten(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue  # a picture
        for pattern, instead in RULES:
            for found in pattern.finditer(text):
                yield '%s:%d: "%s": write %s' % (path.relative_to(root), bisect.bisect(starts, found.start()),
                                                 found[0], instead)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(faults(root))
    for line in found:
        print(line)
    print("words: %d to mend" % len(found) if found else "words: the vocabulary is kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
