"""mercer transform: coordinates, pre-images, correlations; what cannot be done. And predict --sample.

SPDX-License-Identifier: Apache-2.0
"""

import json

import numpy as np

import tap
from test_fit import sample


def fitted(learner, file, *options, model="m.mercer"):
    tap.mercer("fit", learner, file, *options, "-o", model, "--quiet")
    return model


def transform(*args, **more):
    return tap.mercer("transform", *args, **more)


def test_text_csv_and_npy_hold_the_same():
    file = sample("rings", n=60)
    model = fitted("pca", file, "-k", "rbf(gamma=1)", "-n", 3)
    lines = transform(model, file).stdout.splitlines()
    tap.check_equal(lines[0], "# component 1\tcomponent 2\tcomponent 3")
    text = np.array([[float(v) for v in line.split("\t")] for line in lines[1:]])
    said = transform(model, file, "-o", "c.csv").stdout
    tap.check_equal(said, "c.csv: 60 x 3\n")
    transform(model, file, "-o", "c.npy", "--quiet")
    table = np.genfromtxt("c.csv", delimiter=",", skip_header=1)
    assert (text == table).all() and (table == np.load("c.npy")).all()
    assert abs(text.mean(0)).max() < 1e-12


def test_json():
    file = sample("rings", n=60)
    model = fitted("pca", file, "-k", "rbf(gamma=1)")
    got = tap.mercer_json("transform", model, file, "-o", "c.npy")
    tap.check_equal([got[k] for k in ("n", "cols", "preimage", "model", "output")],
                    [60, 2, False, "m.mercer", "c.npy"])
    assert 0 <= got["seconds"] <= got["seconds_total"]
    report = tap.mercer_json("fit", "pca", file, "-k", "rbf(gamma=1)")
    assert len(report["variance"]) == 2
    assert sum(report["variance"]) < report["total_variance"] < 1
    tap.check_near(report["objective"], sum(report["variance"]), 1e-12)


def test_preimages_are_vectors():
    file = sample("moons", n=100)
    for kernel in ("rbf(gamma=2)", "poly(degree=2, c=1)"):
        model = fitted("pca", file, "-k", kernel, "-n", 5)
        transform(model, file, "--preimage", "-o", "z.npy")
        assert np.load("z.npy").shape == (100, 2) and np.isfinite(np.load("z.npy")).all()
    transform(model, file, "--preimage", "-o", "z.csv")
    tap.check_equal(open("z.csv").readline(), "x1,x2\n")  # as in the training data


def test_discriminants_predict_and_transform():
    file = sample("blobs", n=90)
    model = fitted("fisher", file, "-k", "rbf(gamma=1)")
    transform(model, file, "-o", "c.npy")
    assert np.load("c.npy").shape == (90, 2)
    assert tap.mercer_json("predict", model, file)["metrics"]["accuracy"] > 0.9


def test_correlations_of_two_kernels():
    tap.mercer("sample", "mixed", "-n", 80, "-o", "mixed.jsonl")
    model = fitted("cca", "mixed.jsonl", "-k", "rbf(x, gamma=0.1)", "--kernel2",
                   "normalize(spectrum(sequence, p=3))")
    done = transform(model, "mixed.jsonl", "-o", "c.csv")
    assert done.stderr.startswith("correlations 0."), done.stderr
    header = open("c.csv").readline().strip()
    tap.check_equal(header, "first 1,first 2,second 1,second 2")
    c = np.genfromtxt("c.csv", delimiter=",", skip_header=1)
    got = tap.mercer_json("transform", model, "mixed.jsonl")["correlations"]
    for k in range(2):
        tap.check_near(got[k], np.corrcoef(c[:, k], c[:, 2 + k])[0, 1], 1e-9)
    info = tap.mercer("info", model).stdout
    assert "second     normalize(spectrum(sequence))" in info, info


def test_draws():
    file = sample("sinc", n=60)
    model = fitted("gp", file, "-k", "rbf(gamma=0.1)", "--optimize", "no")
    tap.mercer("predict", model, file, "--sample", 500, "-o", "d.npy")
    tap.mercer("predict", model, file, "--std", "-o", "s.npy")
    draws, shown = np.load("d.npy"), np.load("s.npy")
    tap.check_equal(draws.shape, (60, 500), "shape")
    assert abs(draws.mean(1) - shown[:, 0]).max() < 0.3 * shown[:, 1].max()
    assert (abs(draws.std(1) / shown[:, 1] - 1) < 0.2).all()
    tap.mercer("predict", model, file, "--sample", 500, "--seed", 2, "-o", "e.npy")
    assert not (np.load("e.npy") == draws).all()
    tap.mercer("predict", model, file, "--sample", 500, "--threads", 1, "-o", "e.npy")
    assert (np.load("e.npy") == draws).all()


def refused(words, *args, status=2):
    done = tap.mercer(*args, status=status)
    assert words in done.stderr, done.stderr


def test_refusals():
    file = sample("moons", n=40)
    svm = fitted("svm", file, "-k", "rbf(gamma=2)", model="svm.mercer")
    pca = fitted("pca", file, "-k", "rbf(gamma=2)", model="pca.mercer")
    refused("has no coordinates", "transform", svm, file)
    refused("predicts nothing", "predict", pca, file)
    refused("pca has them", "transform", svm, file, "--preimage")
    refused("--kernel2", "fit", "cca", file, "-k", "linear")
    refused("did you mean \"rbf\"", "fit", "cca", file, "-k", "linear", "--kernel2", "rbff")
    refused("--sample", "predict", svm, file, "--sample", 3)
    refused("give one of them", "predict", svm, file, "--sample", 3, "--std")
    tap.mercer("sample", "motifs", "-n", 30, "-o", "motifs.txt")
    strings = fitted("pca", "motifs.txt", "-k", "spectrum(p=3)", model="strings.mercer")
    refused("one field of vectors", "transform", strings, "motifs.txt", "--preimage")


def test_precomputed_kernels():
    """What needs kernel values among the training objects is refused in words of its own."""
    file = sample("sinc", n=40)
    tap.mercer("gram", file, "-k", "rbf(gamma=1)", "-o", "k.npy", "--quiet")
    np.save("y.npy", np.genfromtxt(file, delimiter=",", skip_header=1)[:, -1])
    words = ("k.npy", "--format", "precomputed", "--target", "y.npy")
    gp, pca = fitted("gp", *words, model="gp.mercer"), fitted("pca", *words, model="pca.mercer")
    tap.mercer("predict", gp, *words)
    transform(pca, *words)
    refused("does not store", "predict", gp, *words, "--std", status=1)
    refused("one field of vectors", "transform", pca, *words, "--preimage")


def test_too_little_memory_is_reported():
    file = sample("moons", n=500)
    for learner, what, more in (("pca", "the kernel matrix", ()), ("fisher", "the kernel matrix", ()),
                                ("gp", "the kernel matrix", ()),
                                ("cca", "the matrix of directions", ("--kernel2", "linear"))):
        done = tap.mercer("fit", learner, file, "-k", "rbf(gamma=1)", *more, "--memory", "1M",
                          status=1)
        assert "%s: %s needs" % (learner, what) in done.stderr, done.stderr


def test_probabilities_do_not_depend_on_threads():
    """And the model tells about itself."""
    file = sample("moons", n=60)
    model = fitted("gp", file, "-k", "2*rbf(gamma=1)", "--task", "classify", "--optimize", "no")
    first = tap.mercer("predict", model, file, "--proba").stdout
    again = tap.mercer("predict", model, file, "--proba", "--threads", 1).stdout
    tap.check_equal(first, again)
    json.loads(tap.mercer("info", model, "--json").stdout)


def test_tables_without_targets():
    """The last column of a table that is like none with a target is no target either."""
    rows = np.random.RandomState(1).rand(12, 4)
    for file, names in (("abc.csv", "abc"), ("idabc.csv", ("id", "a", "b", "c")),
                        ("cabd.csv", ("c", "a", "b", "d")), ("acby.csv", ("a", "c", "b", "y"))):
        at = {"a": 0, "b": 1, "c": 2}
        np.savetxt(file, rows[:, [at.get(n, 3) for n in names]], "%.17g", ",",
                   header=",".join(names), comments="")
    tap.mercer("fit", "pca", "abc.csv", "--target", "none", "-o", "abc.mercer", "--quiet")
    want = tap.mercer("transform", "abc.mercer", "abc.csv").stdout
    tap.check_equal(len(want.splitlines()), 13)
    for file in ("idabc.csv", "cabd.csv", "acby.csv"):
        tap.check_equal(tap.mercer("transform", "abc.mercer", file).stdout, want, file)


if __name__ == "__main__":
    tap.main(globals())
