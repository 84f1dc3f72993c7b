"""words.py [ROOT]: the vocabulary: words that the project does not use, and what stands for them.

Code, comments, messages and documents use the field's words (CONTRIBUTING.md, "Words"). This lists
each line of the library, the program, the headers and the documents with a word that has a better one.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

FOLDERS = ["src", "include", "cli", "web", "docs", "man", "examples", "python", "compat"]
TOP = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "quickstart", "check"]
SUFFIXES = {".c", ".h", ".def", ".md", ".1", ".py", ".build", ""}

UNITS = ("worker|thread|line|class|field|object|feature|column|row|file|leaf|kernel|learner|verb|step|"
         "pair|fold|node|output|group|parameter|tile|store|string|graph|entry|round|job|model|"
         "name|word|character|byte|page|core|call|target|cluster|panel|reader")
RULES = [  # a pattern, and what to write instead
    (r"\b[a-z_]*twins?\b", "duplicates, copies"),
    (r"\b(\w+_)?rooms?(_\w+)?\b", "buffer, workspace, capacity; in prose: space"),
    (r"\bdear(er|est)?\b", "expensive"),
    (r"\btold\b", "reported, distinguished"),
    (r"\banew\b", "again, re-"),
    (r"\bmade data\b", "synthetic data"),
    (r"\bsupport objects?\b", "support vectors"),
    (r"\bjudge[sd]?\b|\bjudging\b", "evaluate, check, score"),
    (r"\bwhat (it |they |that )?rests? on\b", "verified against, based on"),
    (r"\b(gives?|gave|given) way\b", "is dropped, is pruned"),
    (r"\bha[sd] had enough\b", "is cancelled"),
    (r"(?<!standard )(?<!absolute )(?<!squared )\bdeviations?\b", "standard deviation"),
    (r"\b(kernel|features?) side\b|\bmcr_side\w*", "dual form, primal form"),
    (r"(?<!-vs-)(?<!UTF-)\b(one|two|three|few|\d+|value|number|bit|pointer) an? (%s)\b" % UNITS, "per: one per thread"),
]
RULES = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in RULES]


def files(root):
    for name in TOP:
        if (root / name).is_file():
            yield root / name
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in SUFFIXES and "__pycache__" not in path.parts:
                yield path


def faults(root):
    for path in files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, instead in RULES:
                found = pattern.search(line)
                if found:
                    yield '%s:%d: "%s": write %s' % (path.relative_to(root), number, found[0], instead)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(faults(root))
    for line in found:
        print(line)
    print("words: %d to mend" % len(found) if found else "words: the vocabulary is kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
