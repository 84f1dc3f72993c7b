"""Output files: all of them are written by one writer, which keeps modes, syncs, refuses what must stay
as it is, and leaves nothing behind.

SPDX-License-Identifier: Apache-2.0
"""

import os
import resource
import stat
import subprocess

import tap

# What each verb writes with -o; words before it.
WRITERS = {
    "p.txt": ["predict", "m.mercer", "d.csv"],
    "s.csv": ["predict", "m.mercer", "d.csv", "--scores"],
    "k.npy": ["gram", "d.csv", "-k", "linear"],
    "t.csv": ["transform", "pca.mercer", "d.csv"],
    "f.csv": ["features", "d.csv", "-k", "poly(degree=2)"],
    "m.out": ["fit", "svm", "d.csv", "-k", "linear"],
    "u.out": ["tune", "svm", "d.csv", "-k", "linear", "-C", "1:10:log2", "--folds", "2"],
    "l.model": ["export", "m.mercer", "--to", "libsvm"],
    "moons.csv": ["sample", "moons", "-n", "20"],
}


def prepare():
    with open("d.csv", "w") as f:
        f.write("a,b,y\n" + "".join("%d,%d,%s\n" % (i, i * i % 7, "01"[i % 2]) for i in range(24)))
    tap.mercer("fit", "svm", "d.csv", "-k", "linear", "-o", "m.mercer", "--quiet")
    tap.mercer("fit", "pca", "d.csv", "-k", "linear", "-o", "pca.mercer", "--quiet")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_mode_is_kept():
    prepare()
    for name, call in WRITERS.items():
        for wanted in (0o600, 0o640, 0o666):
            with open(name, "w") as f:
                f.write("old")
            os.chmod(name, wanted)
            tap.mercer(*call, "-o", name, "--quiet")
            tap.check_equal(oct(mode(name)), oct(wanted), name)
            assert os.path.getsize(name) > 3


def test_new_files_follow_the_mask():
    prepare()
    old = os.umask(0o027)
    try:
        for name, call in WRITERS.items():
            tap.mercer(*call, "-o", name, "--quiet")
            tap.check_equal(oct(mode(name)), oct(0o640), name)
    finally:
        os.umask(old)


def test_protected_files_stay():
    prepare()
    for name, call in WRITERS.items():
        with open(name, "w") as f:
            f.write("old")
        os.chmod(name, 0o444)
        err = tap.mercer(*call, "-o", name, "--quiet", status=1).stderr
        assert "cannot be written" in err, err
        with open(name) as f:
            tap.check_equal(f.read(), "old", name)
        os.chmod(name, 0o644)


def test_links():
    """What a link names is replaced, not the link; a link to nothing is refused."""
    prepare()
    os.mkdir("there")
    for name, call in WRITERS.items():
        with open("there/" + name, "w") as f:
            f.write("old")
        os.symlink("there/" + name, name)
        tap.mercer(*call, "-o", name, "--quiet")
        assert os.path.islink(name) and os.path.getsize("there/" + name) > 3, name
        os.remove("there/" + name)
        err = tap.mercer(*call, "-o", name, "--quiet", status=1).stderr
        assert "a link to a file that does not exist" in err, err
        assert os.path.islink(name) and not os.listdir("there"), name
        os.remove(name)


def test_files_are_synced():
    prepare()
    for name, call in WRITERS.items():
        try:
            done = subprocess.run(["strace", "-f", "-e", "trace=fsync,rename,linkat", tap.MERCER] +
                                  call + ["-o", name, "--quiet"], capture_output=True, text=True)
        except FileNotFoundError:
            tap.skip("no strace")
        if "ptrace" in done.stderr and done.returncode:
            tap.skip("strace may not trace here")
        calls = [line for line in done.stderr.splitlines() if "fsync(" in line or "link" in line
                 or "rename" in line]
        # The file before it gets its name, the folder behind that.
        assert len(calls) >= 3 and "fsync(" in calls[0] and "fsync(" in calls[-1], (name, calls)


def test_limit_of_file_size():
    """SIGXFSZ ends nothing: the write fails, the old file stays and nothing is left over."""
    prepare()
    for name, call in WRITERS.items():
        if call[0] == "tune":
            continue  # its checkpoint fails first
        with open(name, "w") as f:
            f.write("old")
        before = set(os.listdir("."))
        done = subprocess.run([tap.MERCER] + call + ["-o", name, "--quiet"], capture_output=True,
                              text=True, preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_FSIZE, (20, 20)))
        tap.check_equal(done.returncode, 1, name)
        assert "File too large" in done.stderr, done.stderr
        with open(name) as f:
            tap.check_equal(f.read(), "old", name)
        tap.check_equal(set(os.listdir(".")), before, "the folder")


def test_left_over_files_are_removed():
    """Those of dead processes, by the name of the same target; those of living ones stay."""
    import fcntl
    prepare()
    names = ["p.txt.tmp-mercer-0123abcd", "p.txt.tmp-mercer-deadbeef"]
    others = ["p.txt.tmp-mercer-xyz", "q.txt.tmp-mercer-0123abcd", "p.txt.tmp01234567"]
    for name in names + others:
        with open(name, "w") as f:
            f.write("part")
    with open(names[1]) as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        tap.mercer("predict", "m.mercer", "d.csv", "-o", "p.txt", "--quiet")
        assert not os.path.exists(names[0]) and os.path.exists(names[1])
    assert all(os.path.exists(name) for name in others)


if __name__ == "__main__":
    tap.main(globals())
