"""Does CONTRIBUTING.md tell the truth about adding a kernel, a learner, a reader and a verb?

Takes the files and registry lines that it shows, adds them to a copy of the tree and of what was
built from it, builds the program and the conformance tests there (only what includes a registry is
compiled again) and uses the new parts. Also holds the pieces of code in docs/extending.md against
the example program that they explain.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tap

TARGETS = ["mercer"] + ["tests/conformance/conform_" + name
                        for name in ("kernels", "faults", "learners")]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"`((?:src|cli)/[\w/.]+)`")
BUILD = pathlib.Path(tap.MERCER).resolve().parent
work = None  # the folder of the copy, once it is built


def parts(text):
    """(path, language, code) of each fenced block that the text before it gives a file for."""
    end = 0
    for found in FENCE.finditer(text):
        paths = NAMED.findall(text[end:found.start()])
        end = found.end()
        if paths and found[1] in ("c", "def"):
            yield paths[-1], found[1], found[2]


def run(*call, folder=None, **more):
    done = subprocess.run([str(c) for c in call], capture_output=True, text=True, cwd=folder,
                          timeout=280, **more)
    assert done.returncode == 0, "%s\n%s%s" % (" ".join(map(str, call)), done.stdout[-3000:],
                                               done.stderr[-3000:])
    return done.stdout


def copy_tree(to):
    """All but what is hidden and seeds for fuzzing. Times of files are kept: ninja goes by them."""
    left_out = shutil.ignore_patterns("corpus", "__pycache__", "build")
    for path in tap.ROOT.iterdir():
        if path.name.startswith((".", "build")) or (path / "build.ninja").exists():
            continue
        if path.is_dir():
            shutil.copytree(path, to / path.name, ignore=left_out)
        else:
            shutil.copy2(path, to / path.name)
    shutil.copytree(BUILD, to / "build", symlinks=True,
                    ignore=shutil.ignore_patterns("*work*", "meson-logs", "fuzz-*", "*.sock"))


def test_the_four_parts_are_there():
    found = list(parts((tap.ROOT / "CONTRIBUTING.md").read_text()))
    tap.check_equal([(path, language) for path, language, _ in found], [
        ("src/kernel/jaccard.c", "c"), ("src/kernel/kernels.def", "def"),
        ("src/learn/means.c", "c"), ("src/learn/learners.def", "def"),
        ("src/data/format/lines.c", "c"), ("src/data/format/formats.def", "def"),
        ("cli/verb_count.c", "c"), ("cli/verbs.def", "def")], "the parts")


def test_they_build_without_a_warning():
    global work
    tree = pathlib.Path(tempfile.mkdtemp(prefix="mercer-new-parts-"))
    try:
        copy_tree(tree)
        for path, language, code in parts((tap.ROOT / "CONTRIBUTING.md").read_text()):
            if language == "c":
                assert not (tree / path).exists(), path + " exists already"
                (tree / path).write_text(code)
            else:
                with open(tree / path, "a", encoding="utf-8") as registry:
                    registry.write(code)
        run("meson", "setup", "--reconfigure", tree / "build", tree, "-Dwerror=true")
        run("ninja", "-C", tree / "build", "-j2", *TARGETS)
        run(sys.executable, tap.ROOT / "tools" / "layers.py", tree)
    except BaseException:
        shutil.rmtree(tree)
        raise
    work = tree
    tap.MERCER = str(tree / "build" / "mercer")


def test_they_are_formatted():
    if not shutil.which("clang-format"):
        tap.skip("no clang-format")
    for path, language, code in parts((tap.ROOT / "CONTRIBUTING.md").read_text()):
        if language == "c":
            name = "--assume-filename=%s" % (tap.ROOT / path)
            tap.check_equal(run("clang-format", name, input=code), code, path)


def conform(program, name):
    if not work:
        tap.skip("it was not built")
    out = run(work / "build" / "tests" / "conformance" / program,
              env=dict(os.environ, CONFORM_ONLY=name, CMOCKA_MESSAGE_OUTPUT="TAP"))
    assert re.search(r"^ok\b.*\b%s$" % name, out, re.M), out


def test_the_kernel_works():
    if not work:
        tap.skip("it was not built")
    pathlib.Path("sets.csv").write_text("a,b,c,y\n1,0,1,1\n1,1,0,1\n0,0,0,0\n0,1,0,0\n")
    tap.mercer("gram", "sets.csv", "-k", "jaccard", "-o", "k.csv")
    rows = [[float(v) for v in line.split(",")]
            for line in pathlib.Path("k.csv").read_text().splitlines()[-4:]]
    wanted = [[1, 1 / 3, 0, 0], [1 / 3, 1, 0, 1 / 2], [0, 0, 0, 0], [0, 1 / 2, 0, 1]]
    for row, expected in zip(rows, wanted):
        for value, right in zip(row, expected):
            tap.check_near(value, right, 1e-15)
    assert "jaccard" in [k["name"] for k in tap.mercer_json("kernels")["kernels"]]
    report = tap.mercer_json("check", "jaccard(shared=0.5)*linear + 1", "sets.csv")
    tap.check_equal(report["valid"], "yes")
    pathlib.Path("below.csv").write_text("a,b,y\n1,0,1\n1,-1,0\n")
    bad = tap.mercer("gram", "below.csv", "-k", "jaccard", status=1).stderr
    assert "jaccard" in bad and "negative" in bad, bad


def test_the_kernel_conforms():
    conform("conform_kernels", "jaccard")
    conform("conform_faults", "jaccard")


def test_the_learner_works():
    if not work:
        tap.skip("it was not built")
    tap.mercer("sample", "moons", "-n", "200", "-o", "moons.csv")
    fitted = tap.mercer_json("fit", "means", "moons.csv", "-k", "rbf(gamma=5)", "-o", "m.mercer")
    assert fitted["train"]["accuracy"] > 0.8, fitted
    assert fitted["certificate"]["value"] <= fitted["certificate"]["tolerance"], fitted
    predicted = tap.mercer_json("predict", "m.mercer", "moons.csv")
    tap.check_equal(predicted["metrics"]["accuracy"], fitted["train"]["accuracy"])


def test_the_learner_conforms():
    conform("conform_learners", "means")


def test_the_reader_works():
    if not work:
        tap.skip("it was not built")
    pathlib.Path("words.lines").write_text("car\ncat\n\n")
    tap.mercer("gram", "words.lines", "-k", "spectrum(p=2)", "-o", "k.csv")
    assert pathlib.Path("k.csv").read_text().splitlines()[-3:] == ["2,1,0", "1,2,0", "0,0,0"]
    pathlib.Path("none.lines").write_text("")
    assert "none.lines" in tap.mercer("gram", "none.lines", "-k", "spectrum(p=2)", status=1).stderr


def test_the_verb_works():
    if not work:
        tap.skip("it was not built")
    tap.mercer("sample", "moons", "-n", "30", "-o", "moons.csv")
    tap.check_equal(tap.mercer("count", "moons.csv").stdout, "30\n")
    tap.check_equal(tap.mercer_json("count", "moons.csv"), {"n": 30})
    assert "count" in tap.mercer("help").stdout
    assert "prints the number of objects" in tap.mercer("help", "count").stdout
    tap.mercer("count", status=2)


def test_the_pieces_in_extending_are_of_the_example():
    """Blank lines and "..." may stand for what is left out."""
    program = "".join((tap.ROOT / "examples" / name).read_text() for name in
                      ("kernel_jaccard.c", "callback_kernel.c", "own_learner.c"))
    pieces = [code for _, language, code in
              [(0, found[1], found[2])
               for found in FENCE.finditer((tap.ROOT / "docs" / "extending.md").read_text())]
              if language == "c"]
    assert len(pieces) >= 4, "%d pieces" % len(pieces)
    for code in pieces:
        for part in re.split(r"^\s*\.\.\.\n", code, flags=re.M):
            assert part.strip("\n") in program, "not in the examples:\n" + part


if __name__ == "__main__":
    try:
        tap.main(globals())
    finally:
        if work:
            shutil.rmtree(work, ignore_errors=True)
