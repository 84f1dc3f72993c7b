"""mercer sample: synthetic data.

SPDX-License-Identifier: Apache-2.0
"""

import os

import numpy as np

import tap


def names():
    return [s["name"] for s in tap.mercer_json("sample")["samples"]]


def test_list():
    found = names()
    for name in ("moons", "rings", "spirals", "xor", "blobs", "line", "sinc", "motifs",
                 "molecules"):
        assert name in found, name
    out = tap.mercer("sample").stdout.splitlines()
    tap.check_equal([line.split()[0] for line in out], found)
    assert all(len(line.split()) > 2 for line in out)


def test_every_set_is_written_and_read_back():
    for name in names():
        tap.mercer("sample", name, "-n", 20, "-o", "d.jsonl")
        tap.check_equal(tap.mercer_json("info", "d.jsonl")["n"], 20, name)


def test_standard_output_is_the_same_as_a_file():
    for name in names():
        text = tap.mercer("sample", name, "-n", 12, "--format", "jsonl").stdout
        tap.mercer("sample", name, "-n", 12, "-o", "d.jsonl")
        tap.check_equal(text, open("d.jsonl").read(), name)
        tap.check_equal(tap.mercer("sample", name, "-n", 12, "--format", "jsonl", "-o", "-").stdout,
                        text)


def test_seed_decides():
    first = tap.mercer("sample", "moons", "-n", 30).stdout
    tap.check_equal(tap.mercer("sample", "moons", "-n", 30, "--seed", 1).stdout, first)
    tap.check_equal(tap.mercer("sample", "moons", "-n", 30, "--threads", 1).stdout, first)
    assert tap.mercer("sample", "moons", "-n", 30, "--seed", 2).stdout != first


def test_noise_decides():
    tap.mercer("sample", "rings", "-n", 200, "--noise", 0, "-o", "d.csv")
    x = np.loadtxt("d.csv", delimiter=",", skiprows=1)
    radius = np.hypot(x[:, 0], x[:, 1])
    assert np.minimum(abs(radius - 1), abs(radius - 2)).max() < 1e-12
    tap.mercer("sample", "rings", "-n", 200, "--noise", "0.3", "-o", "d.csv")
    x = np.loadtxt("d.csv", delimiter=",", skiprows=1)
    radius = np.hypot(x[:, 0], x[:, 1])
    assert np.minimum(abs(radius - 1), abs(radius - 2)).max() > 0.05


def test_xor_is_the_four_points():
    tap.mercer("sample", "xor", "-o", "d.csv")
    x = np.loadtxt("d.csv", delimiter=",", skiprows=1)
    tap.check_equal(x[:, :2].tolist(), [[-1, -1], [-1, 1], [1, -1], [1, 1]])


def test_json_and_remarks():
    out = tap.mercer_json("sample", "moons", "-n", 10, "-o", "d.csv", "--seed", 9)
    tap.check_equal([out["name"], out["n"], out["seed"], out["output"]], ["moons", 10, 9, "d.csv"])
    assert os.path.exists("d.csv")
    tap.check_equal(tap.mercer_json("sample", "moons", "-n", 10)["output"], None)
    tap.check_equal(tap.mercer("sample", "moons", "-n", 10, "-o", "d.csv").stdout,
                    "d.csv: 10 objects\n")
    tap.check_equal(tap.mercer("sample", "moons", "-o", "d.csv", "--quiet").stdout, "")


def test_bad_calls():
    done = tap.mercer("sample", "mons", status=2)
    assert '(did you mean "moons"?)' in done.stderr, done.stderr
    tap.mercer("sample", "moons", "--format", "tu", status=2)
    tap.mercer("sample", "moons", "-o", "no/such/folder/d.csv", status=1)
    tap.mercer("sample", "molecules", "-o", "d.csv", status=2)
    tap.mercer("sample", "moons", "-o", "-", "--json", status=2)


if __name__ == "__main__":
    tap.main(globals())
