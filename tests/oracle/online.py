"""online.py: the perceptron against scikit-learn's, pegasos against the exact support vector machine on
the data sets a1a and a9a.

SPDX-License-Identifier: Apache-2.0
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import tap


def sample(name, n, seed, path):
    tap.mercer("sample", name, "-n", n, "--seed", seed, "-o", path, "--quiet")
    rows = [line.split(",") for line in open(path)][1:]
    table = np.array([[float(v) for v in row] for row in rows])
    return table[:, :-1], table[:, -1]


def test_perceptron_is_scikit_learns():
    """The same weights and intercepts, which shows that all mistakes were the same. For two classes:
    scikit-learn has several as one against the rest."""
    try:
        from sklearn.linear_model import Perceptron
    except ImportError as fault:
        tap.skip("scikit-learn is not there (%s)" % fault)
    for name, passes in (("moons", 1), ("moons", 7), ("xor", 3), ("rings", 5)):
        x, y = sample(name, 400, 3, "d.csv")
        theirs = Perceptron(shuffle=False, tol=None, max_iter=passes).fit(x, y)
        for form in ("dual", "primal"):
            report = tap.mercer_json("fit", "perceptron", "d.csv", "-k", "linear", "--passes", passes,
                                     "--form", form, "-o", "m.mercer")
            tap.mercer("predict", "m.mercer", "d.csv", "--scores", "-o", "s.npy", "--quiet")
            if report["stop"] == "optimal" and passes > 1:
                continue  # ours ends early, theirs goes on
            np.testing.assert_allclose(np.load("s.npy").ravel(),
                                       theirs.decision_function(x), rtol=1e-9, atol=1e-9)


def test_forms_make_the_same_mistakes():
    """Votes depend on every mistake and its moment: equal votes, equal mistakes. Data of zeros and ones
    have scores of exactly 0."""
    path = tap.data("adult", "a1a")
    for kernel in ("linear", "poly(degree=2, c=1)"):
        for options in (["--passes", 1], ["--passes", 4, "--bias", "no"], ["--order", "shuffle"]):
            votes = []
            for form in ("dual", "primal"):
                tap.mercer("fit", "perceptron", path, "-k", kernel, "--variant", "voted", *options,
                           "--form", form, "-o", "m.mercer", "--quiet")
                tap.mercer("predict", "m.mercer", path, "--scores", "-o", "s.npy", "--quiet")
                votes.append(np.load("s.npy"))
            assert np.array_equal(*votes), (kernel, options)


def reach(path, kernel, C, options, most):
    """How far pegasos is above the optimum of svm --bias no, as a share of it."""
    exact = tap.mercer_json("fit", "svm", path, "-k", kernel, "-C", C, "--bias", "no")
    ours = tap.mercer_json("fit", "pegasos", path, "-k", kernel, "-C", C, "--tol", "1e-6", *options,
                           timeout=250)
    over = ours["primal"] / exact["primal"] - 1
    print("# %s, %s, C = %g: %d steps, %.2f %% above the optimum, gap %.2f %%, %.1f s" % (
        path.name, kernel, C, ours["iterations"], 100 * over, 100 * ours["certificate"]["value"],
        ours["seconds"]))
    assert -1e-4 <= over <= most, (over, most)
    assert ours["dual"] <= exact["primal"] * (1 + 1e-4), (ours, exact)


def test_pegasos_on_a1a():
    reach(tap.data("adult", "a1a"), "rbf(gamma=0.05)", 1, ["--passes", 50], 0.01)
    reach(tap.data("adult", "a1a"), "rbf(gamma=0.05)", 1,
          ["--passes", 20, "--average", "weighted", "--batch", 10], 0.01)


def test_pegasos_on_a9a():
    reach(tap.data("adult", "a9a.gz"), "rbf(gamma=0.05)", 1, ["--passes", 15, "--average", "weighted"], 0.01)
    reach(tap.data("adult", "a9a.gz"), "linear", 0.1, ["--passes", 100], 0.005)


if __name__ == "__main__":
    tap.main(globals())
