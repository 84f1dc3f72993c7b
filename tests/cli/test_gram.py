"""mercer gram against NumPy.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import os

import numpy as np

import tap

RNG = np.random.default_rng(5)


def write_csv(name, x, header=True):
    with open(name, "w") as f:
        if header:
            f.write(",".join("f%d" % j for j in range(x.shape[1])) + ",y\n")
        for i, row in enumerate(x):
            f.write(",".join(repr(float(v)) for v in row) + ",%d\n" % (1 - 2 * (i % 2)))


def two_sets(n=30, m=7, d=4):
    x, z = RNG.normal(size=(n, d)), RNG.normal(size=(m, d))
    write_csv("x.csv", x)
    write_csv("z.csv", z)
    return x, z


def rbf(x, z, gamma):
    return np.exp(-gamma * ((x[:, None, :] - z[None, :, :]) ** 2).sum(2))


def centred(k, training):
    """K(x, z) centred by the mean of the columns' objects, whose own matrix is `training`."""
    return (k - k.mean(1, keepdims=True) - training.mean(0, keepdims=True) + training.mean())


def near(got, wanted, tolerance=1e-12):
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    worst = np.abs(got - wanted).max()
    assert worst <= tolerance * max(1, np.abs(wanted).max()), worst


def test_npy_symmetric():
    x, _ = two_sets()
    out = tap.mercer_json("gram", "x.csv", "-k", "rbf(gamma=0.3)", "-o", "g.npy")
    tap.check_equal([out["rows"], out["cols"], out["kernel"]], [30, 30, "rbf(gamma=0.3)"])
    assert 0 <= out["seconds"] <= out["seconds_total"]
    tap.check_equal(out["output"], "g.npy")
    g = np.load("g.npy")
    tap.check_equal(g.dtype, np.dtype("<f8"))
    near(g, rbf(x, x, 0.3))
    assert (g == g.T).all()
    tap.check_equal(sorted(os.listdir(".")), ["g.npy", "x.csv", "z.csv"])


def test_npy_two_sets():
    x, z = two_sets()
    tap.mercer("gram", "z.csv", "x.csv", "-k", "2*poly(degree=3, c=1) + linear", "-o", "g.npy")
    near(np.load("g.npy"), 2 * (z @ x.T + 1) ** 3 + z @ x.T)


def test_float():
    x, z = two_sets()
    tap.mercer("gram", "x.csv", "-k", "rbf(gamma=0.3)", "--float", "-o", "g.npy")
    g = np.load("g.npy")
    tap.check_equal(g.dtype, np.dtype("<f4"))
    near(g, rbf(x, x, 0.3), 1e-6)
    tap.mercer("gram", "z.csv", "x.csv", "-k", "rbf(gamma=0.3)", "--float", "-o", "g.npy")
    near(np.load("g.npy"), rbf(z, x, 0.3), 1e-6)
    tap.mercer("gram", "x.csv", "-k", "rbf(gamma=0.3)", "--float", "--center", "-o", "c.npy")
    k = rbf(x, x, 0.3)
    near(np.load("c.npy"), centred(k, k), 1e-6)
    tap.check_equal(np.load("c.npy").dtype, np.dtype("<f4"))
    tap.mercer("gram", "x.csv", "-k", "rbf(gamma=0.3)", "--float", "-o", "g.csv")
    again = np.loadtxt("g.csv", delimiter=",", skiprows=1).astype("f4")
    tap.mercer("gram", "x.csv", "-k", "rbf(gamma=0.3)", "--float", "-o", "g.npy")
    assert (again == np.load("g.npy")).all()


def test_center():
    x, z = two_sets()
    k = rbf(x, x, 0.3)
    tap.mercer("gram", "x.csv", "-k", "rbf(gamma=0.3)", "--center", "-o", "g.npy")
    g = np.load("g.npy")
    near(g, centred(k, k))
    assert abs(g.sum(0)).max() < 1e-12
    tap.mercer("gram", "z.csv", "x.csv", "-k", "rbf(gamma=0.3)", "--center", "-o", "g.npy")
    near(np.load("g.npy"), centred(rbf(z, x, 0.3), k))


def test_blocks_when_memory_is_short():
    n = 900
    x = RNG.normal(size=(n, 3))
    write_csv("x.csv", x)
    call = ["gram", "x.csv", "-k", "rbf(gamma=0.3)"]
    tap.mercer(*call, "-o", "whole.npy")
    tap.mercer(*call, "-o", "parts.npy", "--memory", "1M")
    near(np.load("parts.npy"), np.load("whole.npy"), 1e-14)
    tap.mercer(*call, "--center", "-o", "whole.npy")
    tap.mercer(*call, "--center", "-o", "parts.npy", "--memory", "1M")
    near(np.load("parts.npy"), np.load("whole.npy"), 1e-12)
    shown = tap.mercer_json(*call, "--memory", "1M")
    near(np.array([shown["mean"], shown["max"]]), np.array([rbf(x, x, 0.3).mean(), 1]), 1e-12)


def test_threads_give_the_same_bytes():
    write_csv("x.csv", RNG.normal(size=(700, 21)))
    for kernel in ("rbf(gamma=0.03)", "poly(degree=3, c=1) * rbf(gamma=0.01)"):
        for more in ([], ["--float"], ["--center"]):
            tap.mercer("gram", "x.csv", "-k", kernel, "--threads", 1, "-o", "one.npy", *more)
            tap.mercer("gram", "x.csv", "-k", kernel, "--threads", 2, "-o", "two.npy", *more)
            with open("one.npy", "rb") as one, open("two.npy", "rb") as two:
                assert one.read() == two.read(), (kernel, more)


def test_text_and_csv():
    x, z = two_sets(5, 3)
    tap.mercer("gram", "z.csv", "x.csv", "-k", "linear", "-o", "g.npy")
    g = np.load("g.npy")
    tap.mercer("gram", "z.csv", "x.csv", "-k", "linear", "-o", "g.csv")
    lines = open("g.csv").read().splitlines()
    tap.check_equal(lines[0], "k0,k1,k2,k3,k4")
    tap.check_equal(len(lines), 4)
    assert (np.loadtxt("g.csv", delimiter=",", skiprows=1) == g).all()
    tap.mercer("gram", "z.csv", "x.csv", "-k", "linear", "-o", "g.txt")
    lines = open("g.txt").read().splitlines()
    tap.check_equal(lines[0], "# k0\tk1\tk2\tk3\tk4")
    assert (np.loadtxt("g.txt") == g).all()
    out = tap.mercer("gram", "z.csv", "x.csv", "-k", "linear").stdout
    tap.check_equal(out, open("g.txt").read())
    tap.check_equal(tap.mercer("gram", "z.csv", "x.csv", "-k", "linear", "-o", "-").stdout, out)


def test_one_column_has_no_header():
    write_csv("x.csv", np.array([[2.0, 1.0], [0.5, 0.25]]))
    write_csv("z.csv", np.array([[3.0, -1.0]]))
    tap.check_equal(tap.mercer("gram", "x.csv", "z.csv", "-k", "linear").stdout, "5\n1.25\n")


def test_standard_input_and_gzip():
    x, _ = two_sets()
    text = open("x.csv").read()
    with gzip.open("x.csv.gz", "wt") as f:
        f.write(text)
    tap.mercer("gram", "x.csv", "-k", "linear", "-o", "a.npy")
    tap.mercer("gram", "x.csv.gz", "-k", "linear", "-o", "b.npy")
    tap.mercer("gram", "-", "-k", "linear", "-o", "c.npy", "--format", "csv", stdin=text)
    a = open("a.npy", "rb").read()
    assert a == open("b.npy", "rb").read() and a == open("c.npy", "rb").read()
    near(np.load("a.npy"), x @ x.T)


def test_json_without_output_has_a_summary():
    x, z = two_sets()
    out = tap.mercer_json("gram", "x.csv", "-k", "linear")
    k = x @ x.T
    for key, wanted in (("min", k.min()), ("max", k.max()), ("mean", k.mean())):
        tap.check_near(out[key], wanted, 1e-12, key)
    out = tap.mercer_json("gram", "x.csv", "-k", "linear", "--center")
    tap.check_near(out["mean"], 0, 1e-12)
    tap.check_equal(out["centered"], True)


def test_remark_after_writing():
    two_sets()
    out = tap.mercer("gram", "x.csv", "-k", "linear", "-o", "g.npy").stdout
    assert out.startswith("g.npy: 30 x 30, linear, "), out
    tap.check_equal(tap.mercer("gram", "x.csv", "-k", "linear", "-o", "g.npy", "--quiet").stdout,
                    "")


def test_fasta_with_a_file_a_class():
    for name, lines in (("pos", "ACGTACGT\n>b\nACGG"), ("neg", "TTTTAA")):
        with open(name + ".fa", "w") as f:
            f.write(">a\n" + lines + "\n")
    kernels = [k["name"] for k in tap.mercer_json("kernels")["kernels"]]
    if "spectrum" not in kernels:
        tap.skip("no kernel on strings yet")
    out = tap.mercer_json("gram", "--class", "pos.fa", "--class", "neg.fa", "-k", "spectrum(p=2)")
    tap.check_equal(out["rows"], 3)


def test_a_data_set_of_the_shelf():
    path = tap.data("iris")
    files = [p for p in path.iterdir() if p.suffix in (".csv", ".svm", ".libsvm", ".scale", "")]
    if not files:
        tap.skip("no file in iris that this test knows")
    out = tap.mercer_json("gram", files[0], "-k", "rbf(gamma=0.5)", "-o", "g.npy")
    g = np.load("g.npy")
    tap.check_equal(out["rows"], len(g))
    assert (g.diagonal() == 1).all() and np.linalg.eigvalsh(g)[0] > -1e-10


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


def test_columns_must_have_the_same_names():
    write("a.csv", "x1,x2,target\n1,2,1\n3,4,-1\n0,1,1\n")
    write("b.csv", "x2,x1,target\n2,1,1\n4,3,-1\n")
    write("none.csv", "1,2,1\n3,4,-1\n")
    write("same.csv", "x1,x2,label\n1,2,1\n3,4,-1\n")
    for call in (["gram", "a.csv", "b.csv", "-k", "linear"], ["geometry", "a.csv", "b.csv", "-k", "linear"]):
        done = tap.mercer(*call, status=1)
        assert '"x1"' in done.stderr and '"x2"' in done.stderr, done.stderr
        assert "a.csv and b.csv" in done.stderr, done.stderr
        tap.check_equal(done.stdout, "")
    for files in (["a.csv", "b.csv"], ["none.csv", "a.csv", "b.csv"]):  # one table, by the names
        tap.mercer("fit", "svm", *files, "-k", "linear", "-o", "ordered")
        tap.mercer("fit", "svm", *[f.replace("b.csv", "same.csv") for f in files], "-k", "linear", "-o", "same")
        tap.check_equal(*[tap.mercer("predict", m, "a.csv", "--scores", "--quiet").stdout for m in ("ordered", "same")])
    for other in ("none.csv", "same.csv"):
        got = tap.mercer("gram", "a.csv", other, "-k", "linear").stdout.split("\n")
        tap.check_equal(got[1:4], ["5\t11", "11\t25", "2\t4"])
        tap.mercer("fit", "svm", "a.csv", other)


def test_files_of_different_width_are_named():
    write("a.csv", "x1,x2,target\n1,2,1\n3,4,-1\n")
    write("wide.svm", "1 1:1 5:2\n-1 2:1\n")
    write("narrow.svm", "1 2:1\n-1 1:1\n")
    for x, z in (("a.csv", "wide.svm"), ("wide.svm", "a.csv")):
        done = tap.mercer("gram", x, z, "-k", "linear", status=1)
        assert "model" not in done.stderr, done.stderr
        for part in ("a.csv has 2 features", "wide.svm has 5"):
            assert part.replace(" features", "") in done.stderr, done.stderr
    tap.mercer("gram", "a.csv", "narrow.svm", "-k", "linear")


if __name__ == "__main__":
    tap.main(globals())
