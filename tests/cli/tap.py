"""tap.py: a few lines that run test functions and print TAP, for the Python tests.

    import tap

    def test_says_hello():
        out = tap.mercer("help").stdout
        assert "mercer" in out

    if __name__ == "__main__":
        tap.main(globals())

Functions named test_* run in the order of the file, each in a fresh folder of its own. One fails
by an exception (assert, check_*), is skipped by tap.skip("why"). `python3 test_x.py NAME...` runs
only those whose names contain one of the words.

SPDX-License-Identifier: Apache-2.0
"""

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(os.environ.get("MERCER_ROOT") or pathlib.Path(__file__).resolve().parents[2])
DATA = pathlib.Path(os.environ.get("MERCER_DATA") or ROOT / ".." / "shared" / "data")
MERCER = os.environ.get("MERCER") or str(ROOT / "build" / "mercer")


class Skip(Exception):
    """The test cannot run here; the text says why."""


def skip(why):
    raise Skip(why)


def data(*names):
    """The path of a data set, e.g. data("a9a", "a9a"); skips the test where it is missing."""
    path = DATA.joinpath(*names)
    if not path.exists():
        skip("no data set " + "/".join(names) + " (set MERCER_DATA)")
    return path


@functools.cache
def brief():
    """With sanitizers, outside ./check --all: a test that has run whole without them takes fewer cases."""
    with open(MERCER, "rb") as program:
        return not os.environ.get("MERCER_ALL") and b"__asan_init" in program.read()


def mercer(*args, stdin=None, status=0, env=None, timeout=600, text=True):
    """Runs the program; fails unless it exits with `status` (None: any that is no crash).
    The timeout ends a program that hangs; a slow one on a busy machine gets all the time it needs."""
    call = [MERCER] + [str(a) for a in args]
    done = subprocess.run(call, input=stdin, capture_output=True, text=text, timeout=timeout,
                          env=dict(os.environ, **env) if env else None)
    wanted = (0, 1, 2) if status is None else (status,)
    if done.returncode not in wanted:
        raise AssertionError("exit status %d, expected %s: %s\nstdout: %s\nstderr: %s" % (
            done.returncode, " or ".join(map(str, wanted)), " ".join(call),
            done.stdout[-2000:], done.stderr[-4000:]))
    return done


def mercer_json(*args, **more):
    """Runs with --json and returns the object; standard output must hold nothing else."""
    return json.loads(mercer(*args, "--json", **more).stdout)


def check_equal(got, wanted, what="value"):
    assert got == wanted, "%s is %r, expected %r" % (what, got, wanted)


def check_near(got, wanted, tolerance=1e-9, what="value"):
    """Relative where |wanted| > 1, else absolute. NaN never passes."""
    assert abs(got - wanted) <= tolerance * max(1.0, abs(wanted)), (
        "%s is %r, expected %r within %g" % (what, got, wanted, tolerance))


class Tap:
    def __init__(self, out=sys.stdout):
        self.out, self.count, self.failed = out, 0, 0

    def line(self, text):
        print(text, file=self.out, flush=True)

    def result(self, good, name, note=""):
        self.count += 1
        self.failed += not good
        self.line("%s %d - %s%s" % ("ok" if good else "not ok", self.count, name, note))

    def run(self, name, function):
        home = os.getcwd()
        with tempfile.TemporaryDirectory(prefix="mercer-test-") as folder:
            os.chdir(folder)
            try:
                function()
                self.result(True, name)
            except Skip as why:
                self.result(True, name, " # SKIP " + str(why))
            except Exception:  # a failing test must not end the others
                self.result(False, name)
                for line in traceback.format_exc().splitlines():
                    self.line("# " + line)
            finally:
                os.chdir(home)


def main(names):
    """Runs all test_* functions found in `names` (pass globals()) and exits."""
    words = sys.argv[1:]
    tests = [(name[5:].replace("_", " "), f) for name, f in names.items()
             if name.startswith("test_") and callable(f)
             and (not words or any(w in name for w in words))]
    tap = Tap()
    if not tests:
        tap.line("1..0 # SKIP no tests chosen")
        sys.exit(77)
    tap.line("1..%d" % len(tests))
    for name, function in tests:
        tap.run(name, function)
    sys.exit(1 if tap.failed else 0)
