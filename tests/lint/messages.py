"""messages.py LIBMERCER.SO ROOT: the library names concepts, never words of the program.

Looks at every string in the library's read-only data: none may hold an option of the program (--memory,
-k) or one of its commands (mercer check). The program adds these by mcr_message_id (cli/faults.c), and
must know every id. Prints TAP. SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys


def strings(library):
    out = subprocess.run(["readelf", "-p", ".rodata", library], check=True, capture_output=True,
                         text=True, errors="replace").stdout
    return re.findall(r"^ +\[ *[0-9a-f]+\]  (.*)$", out, re.M)


def program_words(texts, verbs):
    word = re.compile(r"(?<![-\w])--[a-z]|(?:^|[ (`'])-[A-Za-z](?=[ ,.;:)'`]|$)|\bmercer (?:%s)\b"
                      % "|".join(verbs))
    return [text for text in texts if word.search(text)]


def last_argument(text, start):
    """What stands between the last comma of a call and its end; start: behind its parenthesis."""
    depth, quoted, comma = 1, False, start
    for at in range(start, len(text)):
        char = text[at]
        if char == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (char == "(") - (char == ")")
            if char == "," and depth == 1:
                comma = at
            if depth == 0:
                return text[comma:at]
    return ""


def unknown_ids(root):
    """Ids that src/ gives and the header does not list, or for which the program has no words."""
    given = set()
    for path in sorted((root / "src").rglob("*.c")):
        text = path.read_text(encoding="utf-8")
        for call in re.finditer(r"\bmcr_advise\(", text):
            given |= set(re.findall(r'"([^"]+)"', last_argument(text, call.end())))
    known = set(re.findall(r'\{"([a-z0-9-]+)",', (root / "cli/faults.c").read_text(encoding="utf-8")))
    header = (root / "include/mercer/context.h").read_text(encoding="utf-8")
    listed = set(re.findall(r"[a-z0-9-]+", header[header.index("*   memory,"):
                                                  header.index("mcr_message_id(")]))
    named = {id for id in given if not id.startswith("option ")}
    return (["%s: not in <mercer/context.h>" % id for id in sorted(named - listed)] +
            ["%s: no words in cli/faults.c" % id for id in sorted(named - known)] +
            ["%s: nobody gives it" % id for id in sorted(known - named)])


def main(library, root):
    root = pathlib.Path(root)
    verbs = re.findall(r"^VERB\((\w+)\)", (root / "cli/verbs.def").read_text(), re.M)
    texts = strings(library)
    cases = [("there are messages", [] if any("memory budget" in text for text in texts) else ["none"]),
             ("no string names an option or a command", program_words(texts, verbs)),
             ("words of the program are seen", [] if len(program_words(
                 ["use --memory", "give one (-k)", "see mercer check", "well-known -1, x - y, --"],
                 verbs)) == 3 else ["the pattern"]),
             ("every id is known", unknown_ids(root))]
    print("1..%d" % len(cases))
    for number, (name, faults) in enumerate(cases, 1):
        print("%s %d - %s" % ("not ok" if faults else "ok", number, name))
        for fault in faults:
            print("#   " + fault)
    return 1 if any(faults for _, faults in cases) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
