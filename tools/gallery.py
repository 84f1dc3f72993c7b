"""gallery.py GALLERY.md [--write]: are the pictures of the gallery those that its commands make?

Runs the console blocks of the document in a scratch folder, as docs_examples.py does, and compares
each picture that the document shows with the one that was made: the same texts, the same number of
elements of each kind, about the same size. (Not the same bytes: the last digits of a coordinate may
differ between processors.) --write puts the new ones in their place.

Prints TAP. SPDX-License-Identifier: Apache-2.0
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import docs_examples

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 600_000


def pictures(text):
    return re.findall(r"!\[[^\]]*\]\(([^)]+\.svg)\)", text)


def run(text, folder):
    """Runs all commands; returns the fault, or None."""
    env = dict(os.environ)
    env["PATH"] = str(pathlib.Path(os.environ["MERCER"]).parent) + os.pathsep + env["PATH"]
    for start, lines in docs_examples.blocks(text):
        for number, command, _ in docs_examples.steps(start, lines):
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
            if done.returncode:
                return "line %d: %s: %s" % (number, command, done.stderr.strip())
    return None


def content(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    texts = [e.text for e in root.iter(SVG + "text")]
    return texts, collections.Counter(e.tag for e in root.iter())


def difference(old, new):
    """Why two pictures are not the same, or None."""
    if not old.exists():
        return "is not there: tools/gallery.py docs/gallery.md --write"
    (old_texts, old_tags), (new_texts, new_tags) = content(old), content(new)
    for a, b in zip(old_texts, new_texts):
        if a != b:
            return "says %r, and the command now says %r" % (a, b)
    if len(old_texts) != len(new_texts) or old_tags != new_tags:
        return "has other elements than the command now gives"
    sizes = old.stat().st_size, new.stat().st_size
    if abs(sizes[0] - sizes[1]) > 0.05 * sizes[1] + 200:
        return "has %d bytes, and the command now gives %d" % sizes
    return None


def main(path, write):
    text = path.read_text(encoding="utf-8")
    names = pictures(text)
    print("1..%d" % (len(names) + 1))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mercer-gallery-") as folder:
        fault = run(text, folder)
        for number, name in enumerate(names, 1):
            new, old = pathlib.Path(folder) / pathlib.Path(name).name, path.parent / name
            why = fault or (None if new.exists() else "no command makes it")
            if write and not why:
                old.parent.mkdir(exist_ok=True)
                shutil.copyfile(new, old)
            why = why or difference(old, new)
            failed += why is not None
            print("%s %d - %s%s" % ("not ok" if why else "ok", number, name, ": " + why if why else ""))
    total = sum((path.parent / name).stat().st_size for name in set(names)
                if (path.parent / name).exists())
    small = total <= MOST_BYTES
    print("%s %d - %d bytes in all, at most %d" % ("ok" if small else "not ok", len(names) + 1, total,
                                                   MOST_BYTES))
    return 1 if failed or not small else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), "--write" in sys.argv[2:]))
