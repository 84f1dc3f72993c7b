"""mercer geometry against NumPy.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

import tap

X = np.random.default_rng(8).normal(size=(25, 3))


def files():
    np.save("x.npy", X)
    k = (X @ X.T + 1) ** 2
    return k, ["geometry", "x.npy", "-k", "poly(degree=2, c=1)", "--target", "none"]


def test_json():
    k, call = files()
    out = tap.mercer_json(*call)
    n = len(k)
    length = np.sqrt(k.diagonal())
    to_mean = np.sqrt(k.diagonal() + k.mean() - 2 * k.mean(1))
    d = np.sqrt(np.maximum(0, length[:, None] ** 2 + length ** 2 - 2 * k))
    i, j = np.triu_indices(n, 1)
    tap.check_equal(out["n"], n)
    for name, value in (("length", length), ("to_mean", to_mean)):
        for key in ("min", "max", "mean"):
            tap.check_near(out[name][key], getattr(value, key)(), 1e-9, name + " " + key)
    tap.check_near(out["mean_length"], np.sqrt(k.mean()), 1e-9)
    tap.check_near(out["variance"], (to_mean ** 2).mean(), 1e-9)
    tap.check_near(out["nearest"], d[i, j].min(), 1e-6)
    tap.check_near(out["farthest"], d[i, j].max(), 1e-9)
    tap.check_near(d[tuple(out["nearest_pair"])], out["nearest"], 1e-6)
    tap.check_near(d[tuple(out["farthest_pair"])], out["farthest"], 1e-9)


def test_output_columns():
    k, call = files()
    wanted = np.stack([np.sqrt(k.diagonal()), np.sqrt(k.diagonal() + k.mean() - 2 * k.mean(1))], 1)
    tap.mercer(*call, "-o", "g.csv")
    tap.check_equal(open("g.csv").readline(), "length,to_mean\n")
    assert np.allclose(np.loadtxt("g.csv", delimiter=",", skiprows=1), wanted, atol=1e-9)
    tap.mercer(*call, "-o", "g.npy")
    assert np.allclose(np.load("g.npy"), wanted, atol=1e-9)
    out = tap.mercer(*call, "-o", "-").stdout
    tap.check_equal(out.splitlines()[0], "# length\tto_mean")
    tap.check_equal(len(out.splitlines()), 26)


def test_text_for_people():
    _, call = files()
    out = tap.mercer(*call).stdout
    for name in ("kernel", "objects", "length", "to mean", "variance", "nearest", "farthest"):
        assert any(line.startswith(name) for line in out.splitlines()), (name, out)


def test_what_is_no_kernel_is_remarked_on():
    _, call = files()
    tap.check_equal(tap.mercer(*call).stderr, "")
    call[3] = "-1*linear"
    done = tap.mercer(*call)
    assert "not positive semidefinite" in done.stderr and "count as 0" in done.stderr, done.stderr
    tap.check_equal(tap.mercer(*call, "--quiet").stderr, "")


def test_one_object():
    np.save("x.npy", X[:1])
    out = tap.mercer_json("geometry", "x.npy", "-k", "linear", "--target", "none")
    tap.check_equal(out["n"], 1)
    tap.check_near(out["to_mean"]["max"], 0, 1e-7)
    assert "nearest" not in out


def test_threads_agree():
    _, call = files()
    one, two = (tap.mercer(*call, "--threads", t, "-o", "-").stdout for t in (1, 2))
    tap.check_equal(one, two)


def test_bad_calls():
    files()
    tap.mercer("geometry", "x.npy", status=2)
    tap.mercer("geometry", "x.npy", "-k", "nonsense", status=2)
    tap.mercer("geometry", "none.npy", "-k", "linear", status=1)
    tap.mercer("geometry", "x.npy", "-k", "linear", "--json", "-o", "-", status=2)


if __name__ == "__main__":
    tap.main(globals())
