"""Output files: by extension, whole or not at all.

SPDX-License-Identifier: Apache-2.0
"""

import os
import signal
import stat
import subprocess
import time

import numpy as np

import tap

CALL = ["gram", "x.npy", "-k", "linear", "--target", "none", "--quiet"]


def values(n=6):
    x = np.random.default_rng(2).normal(size=(n, 3))
    np.save("x.npy", x)
    return x


def test_numbers_read_back_the_same():
    np.save("x.npy", np.array([[0.1], [1 / 3], [1e-300], [2.0], [1e150], [-1.5e-7]]))
    for name in ("g.csv", "g.txt"):
        tap.mercer(*CALL, "-o", name)
        tap.mercer(*CALL, "-o", "g.npy")
        with open(name) as f:
            rows = [line.replace(",", "\t").split("\t") for line in f.read().splitlines()[1:]]
        got = np.array([[float(v) for v in row] for row in rows])
        assert (got == np.load("g.npy")).all()


def test_permissions_follow_the_mask():
    values()
    old = os.umask(0o027)
    try:
        tap.mercer(*CALL, "-o", "g.npy")
    finally:
        os.umask(old)
    tap.check_equal(stat.S_IMODE(os.stat("g.npy").st_mode), 0o640)


def test_links_are_followed():
    x = values()
    os.mkdir("there")
    open("there/real.npy", "w").close()
    os.symlink("there/real.npy", "g.npy")
    tap.mercer(*CALL, "-o", "g.npy")
    assert os.path.islink("g.npy")
    assert np.allclose(np.load("there/real.npy"), x @ x.T)
    tap.check_equal(os.listdir("there"), ["real.npy"])


def test_devices_are_written_in_place():
    values()
    tap.mercer(*CALL, "-o", "/dev/null")
    out = tap.mercer(*CALL, "-o", "/dev/stdout").stdout
    tap.check_equal(out, tap.mercer(*CALL).stdout)


def test_names_that_cannot_be_written():
    values()
    os.mkdir("folder.npy")
    done = tap.mercer(*CALL, "-o", "folder.npy", status=1)
    tap.check_equal(done.stderr, "mercer: folder.npy: cannot be written: Is a directory\n")
    done = tap.mercer(*CALL, "-o", "no/such/g.npy", status=1)
    tap.check_equal(done.stderr, "mercer: no/such/g.npy: cannot be written: No such file or directory\n")
    done = tap.mercer(*CALL, "-o", "g.csv.gz", status=2)
    assert "run gzip on it" in done.stderr
    done = tap.mercer(*CALL, "-o", "-", "--json", status=2)
    assert "both write to standard output" in done.stderr
    tap.check_equal(sorted(os.listdir(".")), ["folder.npy", "x.npy"])


def test_a_full_disk_is_said():
    if not os.path.exists("/dev/full"):
        tap.skip("no /dev/full")
    values(200)
    done = tap.mercer(*CALL, "-o", "/dev/full", status=1)
    tap.check_equal(done.stderr, "mercer: /dev/full: cannot be written: No space left on device\n")


def is_writing(run):
    """Whether it has the new file open, which has no name, or that of a temporary one; or has ended."""
    if run.poll() is not None or any(n.startswith("g.csv.") for n in os.listdir(".")):
        return True
    try:
        return any(os.getcwd() in link and "(deleted)" in link for link in (
            os.readlink("/proc/%d/fd/%s" % (run.pid, fd))
            for fd in os.listdir("/proc/%d/fd" % run.pid)))
    except OSError:
        return False  # a file was closed meanwhile


def test_the_old_file_stays_until_the_new_one_is_whole():
    np.save("x.npy", np.random.default_rng(2).normal(size=(4000, 3)))
    with open("g.csv", "w") as f:
        f.write("old\n")
    for number in (signal.SIGTERM, signal.SIGINT):
        run = subprocess.Popen([tap.MERCER] + CALL + ["-o", "g.csv"], stderr=subprocess.PIPE,
                               text=True)
        until = time.time() + 30
        while time.time() < until and not is_writing(run):
            time.sleep(0.001)
        run.send_signal(number)
        said = run.communicate(timeout=30)[1]
        tap.check_equal(run.returncode, -signal.SIGTERM if number == signal.SIGTERM else 130)
        tap.check_equal(said, "" if number == signal.SIGTERM else "mercer: interrupted\n")
        tap.check_equal(open("g.csv").read(), "old\n")
        tap.check_equal(sorted(os.listdir(".")), ["g.csv", "x.npy"])


def test_endings_of_other_programs():
    values()
    for name in ("g.npz", "g.xlsx"):
        assert ".npy, .csv" in tap.mercer(*CALL, "-o", name, status=2).stderr
    assert ".csv" in tap.mercer("sample", "moons", "-o", "x.npy", status=2).stderr
    tap.check_equal(os.listdir("."), ["x.npy"])


def contents(*names):
    return [open(name, "rb").read() for name in names]


def test_inputs_are_not_overwritten():
    tap.mercer("sample", "moons", "-n", "40", "-o", "d.csv")
    tap.mercer("fit", "svm", "d.csv", "-o", "m.mercer")
    tap.mercer("sample", "motifs", "-n", "8", "--format", "fasta", "-o", "s.fa")
    os.symlink("d.csv", "soft.csv")
    os.link("d.csv", "hard.csv")
    os.mkdir("sub")
    names = ("d.csv", "m.mercer", "s.fa")
    before = contents(*names)
    kernel = ["-k", "linear"]
    calls = [["fit", "svm", "d.csv", "-o", "d.csv"],
             ["fit", "svm", "d.csv", "-o", "./sub/../d.csv"],
             ["fit", "svm", "soft.csv", "-o", "d.csv"],
             ["fit", "svm", "hard.csv", "d.csv", "-o", "soft.csv"],
             ["fit", "svm", "--class", "a=s.fa", "-k", "spectrum(p=2)", "-o", "s.fa"],
             ["predict", "m.mercer", "d.csv", "-o", "hard.csv"],
             ["predict", "m.mercer", "d.csv", "-o", "m.mercer"],
             ["gram", "d.csv", *kernel, "-o", "d.csv"],
             ["gram", "s.fa", "d.csv", *kernel, "-o", os.path.abspath("d.csv")],
             ["geometry", "d.csv", *kernel, "-o", "soft.csv"],
             ["export", "m.mercer", "--to", "libsvm", "-o", "m.mercer"]]
    for call in calls:
        done = tap.mercer(*call, status=2)
        assert "would overwrite the input" in done.stderr, (call, done.stderr)
        tap.check_equal(done.stdout, "")
    assert contents(*names) == before
    # The place of a model to go on from is free, and so is that of anything else.
    tap.mercer("fit", "svm", "d.csv", "--start", "m.mercer", "-o", "m.mercer")
    tap.mercer("predict", "m.mercer", "d.csv", "-o", "new.csv")


if __name__ == "__main__":
    tap.main(globals())
