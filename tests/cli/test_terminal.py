"""What is different on a terminal: summaries, colours, progress, Ctrl-C.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pty
import random
import re
import select
import signal
import subprocess
import time

import numpy as np

import tap


def on_terminal(*args, env=None, stop_after=None, stdin=subprocess.DEVNULL):
    """Runs with both outputs on a terminal; returns (status, text). stop_after: sends SIGINT when
    that text has been seen."""
    ours, theirs = pty.openpty()
    more = dict(os.environ, TERM="xterm", **(env or {}))
    if not env:
        more.pop("NO_COLOR", None)
    run = subprocess.Popen([tap.MERCER] + [str(a) for a in args], stdin=stdin, stdout=theirs,
                           stderr=theirs, env=more)
    os.close(theirs)
    seen = b""
    until = time.time() + 60
    while time.time() < until:
        if select.select([ours], [], [], 0.05)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        if stop_after and stop_after in seen:
            run.send_signal(signal.SIGINT)
            stop_after = None
    os.close(ours)
    return run.wait(timeout=30), seen.decode().replace("\r\n", "\n")


def points(n=30, d=3):
    np.save("x.npy", np.random.default_rng(3).normal(size=(n, d)))
    return ["x.npy", "--target", "none", "-k", "linear"]


def plain(text):
    return re.sub(r"\033\[[0-9;]*[mK]", "", text)


def test_gram_shows_a_summary():
    status, text = on_terminal("gram", *points())
    tap.check_equal(status, 0)
    lines = plain(text).splitlines()
    tap.check_equal(lines[0], "kernel     linear")
    tap.check_equal(lines[1], "matrix     30 x 30, symmetric")
    assert [len(line.split()) for line in lines[-5:]] == [5] * 5, lines
    x = np.load("x.npy")
    got = np.array([[float(v) for v in line.split()] for line in lines[-5:]])
    assert np.allclose(got, (x @ x.T)[:5, :5], rtol=1e-5)
    status, text = on_terminal("gram", *points(3))
    assert "the first 3 rows and 3 columns" in text


def test_colours_only_where_wanted():
    assert "\033[1m" in on_terminal("check", "linear")[1]
    assert "\033" not in on_terminal("check", "linear", env={"NO_COLOR": "1"})[1]
    assert "\033[1;31mmercer:" in on_terminal("chekc")[1]
    assert "\033" not in tap.mercer("check", "linear").stdout


def slow(n):
    """A call that takes long: a matrix as text, which is computed and written in parts."""
    np.save("x.npy", np.random.default_rng(3).normal(size=(n, 40)))
    return ["gram", "x.npy", "x.npy", "--target", "none", "-k", "rbf(gamma=0.1)", "--threads", "1",
            "--memory", "1M"]


def test_progress_is_one_line_and_goes_away():
    status, text = on_terminal(*slow(3000), "-o", "g.csv")
    tap.check_equal(status, 0)
    assert re.search(r"\r\S+  \[=*>? *\] +\d+%.*\d s", plain(text)), text[:300]
    last = text.rstrip("\n").split("\n")[-1]
    assert last.split("\r\033[K")[-1].startswith("g.csv: 3000 x 3000"), last
    status, text = on_terminal(*slow(1500), "-o", "g.csv", "--quiet")
    tap.check_equal([status, text], [0, ""])


def test_interrupt_stops_cleanly():
    status, text = on_terminal(*slow(5000), "-o", "g.csv", stop_after=b"%")
    tap.check_equal(status, 130)
    tap.check_equal(plain(text).split("\r")[-1].strip(), "mercer: interrupted")
    tap.check_equal(os.listdir("."), ["x.npy"])


def test_slow_kernels_can_be_interrupted():
    """gkm does its work before the first value: that shows progress, and stops when asked to."""
    chance = random.Random(3)
    with open("dna.txt", "w") as out:
        for _ in range(1500):
            out.write("".join(chance.choice("ACGT") for _ in range(300)) + "\n")
    status, text = on_terminal("gram", "dna.txt", "--format", "text", "--target", "none", "-k", "gkm",
                               "-o", "g.npy", stop_after=b"%")
    tap.check_equal(status, 130)
    assert "gkm" in text, text
    tap.check_equal(plain(text).split("\r")[-1].strip(), "mercer: interrupted")
    tap.check_equal(os.listdir("."), ["dna.txt"])


def test_interrupt_while_waiting_for_input():
    reading, writing = os.pipe()
    run = subprocess.Popen([tap.MERCER, "info", "-", "--json"], stdin=reading,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    out, said = run.communicate(timeout=30)
    os.close(writing)
    os.close(reading)
    tap.check_equal(run.returncode, 130)
    tap.check_equal(said, "mercer: interrupted\n")
    tap.check_equal(out, '{"error": {"message": "interrupted", "file": null, "line": null}}\n')


if __name__ == "__main__":
    tap.main(globals())
