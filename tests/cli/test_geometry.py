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


def test_distances():
    """The matrix of distances, of one data set and of two."""
    k, call = files()
    d = np.sqrt(np.maximum(0, k.diagonal()[:, None] + k.diagonal() - 2 * k))
    out = tap.mercer_json(*call, "--distances", "-o", "d.npy")
    tap.check_equal([out["rows"], out["cols"]], [25, 25])
    assert np.allclose(np.load("d.npy"), d, atol=1e-6)
    tap.check_near(out["distance"]["max"], d.max(), 1e-9)
    tap.check_equal(float(np.abs(np.load("d.npy").diagonal()).max()), 0.0)
    z = X[:7] + 0.5
    np.save("z.npy", z)
    other = np.sqrt(k.diagonal()[:, None] + ((z * z).sum(1) + 1) ** 2 - 2 * (X @ z.T + 1) ** 2)
    text = tap.mercer("geometry", "x.npy", "z.npy", *call[2:], "--distances").stdout
    lines = text.splitlines()
    tap.check_equal(lines[0].split("\t")[:2], ["# d0", "d1"])
    got = np.array([[float(t) for t in line.split("\t")] for line in lines[1:]])
    assert np.allclose(got, other, atol=1e-6)


def test_new_objects():
    """Distances of new objects to the mean of all, and of a class; a threshold for novelty."""
    rng = np.random.default_rng(3)
    x = np.r_[rng.normal(size=(40, 2)), rng.normal(size=(20, 2)) + 4]
    z = rng.normal(size=(15, 2)) * 3
    for name, data, label in (("x.csv", x, ["a"] * 40 + ["b"] * 20), ("z.csv", z, ["a"] * 15)):
        with open(name, "w") as f:
            f.write("u,v,class\n")
            f.writelines("%r,%r,%s\n" % (float(r[0]), float(r[1]), c) for r, c in zip(data, label))

    def rbf(a, b):
        return np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(-1))

    for words, of in (([], x), (["--mean-of", "b"], x[40:])):
        for share in (0.05, 0.25):
            own = np.sqrt(1 + rbf(of, of).mean() - 2 * rbf(of, of).mean(1))
            new = np.sqrt(1 + rbf(of, of).mean() - 2 * rbf(z, of).mean(1))
            out = tap.mercer_json("geometry", "x.csv", "z.csv", "-k", "rbf(gamma=0.5)", "--novelty",
                                  share, *words, "-o", "n.csv")
            got = np.loadtxt("n.csv", delimiter=",", skiprows=1)
            assert np.allclose(got[:, 0], new, atol=1e-9)
            threshold = np.sort(own)[int(np.ceil((1 - share) * len(of))) - 1]
            tap.check_near(out["threshold"], threshold, 1e-9, "threshold")
            assert ((own > threshold).mean() <= share)
            tap.check_equal(out["novel"], int((new > threshold).sum()))
            tap.check_equal(out["members"], len(of))
            assert (got[:, 1] == (new > threshold)).all()
    text = tap.mercer("geometry", "x.csv", "z.csv", "-k", "rbf(gamma=0.5)").stdout
    assert "threshold" in text and "novel" in text, text
    run = tap.mercer("geometry", "x.csv", "z.csv", "-k", "linear", "--mean-of", "c", status=2)
    assert "no class" in run.stderr, run.stderr
    tap.mercer("geometry", "x.csv", "-k", "linear", "--mean-of", "b", status=2)


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
