"""Explanations against scikit-learn and against the definition: importance by shuffling, slopes, Shapley values.

SPDX-License-Identifier: Apache-2.0
"""
import itertools
import math
import pathlib

import tap

try:
    import numpy as np
    from sklearn.inspection import permutation_importance
    from sklearn.svm import SVC, SVR
except ImportError as missing:
    np = None
    WHY = str(missing)


def made(n=250, words=True):
    if np is None:
        tap.skip(WHY)
    r = np.random.default_rng(3)
    x = r.normal(size=(n, 4)) * [1, 2, .5, 1]
    f = np.sin(x[:, 0]) + .4 * x[:, 1] * (x[:, 2] > 0) + .2 * r.normal(size=n)
    y = np.where(f > 0, "up", "down") if words else f
    pathlib.Path("t.csv").write_text("a,b,c,d,y\n" + "".join(
        ",".join(map(repr, row.tolist())) + ",%s\n" % t for row, t in zip(x, y)))
    return x, y


def importance(*more):
    return tap.mercer_json("explain", "m.mercer", "t.csv", "--repeats", 40, *more)


def same(mine, theirs):
    """Two means over shuffles differ by no more than their errors allow."""
    for k, name in enumerate("abcd"):
        own = next(i for i in mine["importance"] if i["column"] == name)
        error = math.sqrt(own["std"] ** 2 / 40 + theirs.importances_std[k] ** 2 / 40) + 1e-9
        assert abs(own["mean"] - theirs.importances_mean[k]) < 4.5 * error, (name, own, theirs.importances_mean[k])
        assert own["lower"] <= own["mean"] <= own["upper"]


def test_classes():
    x, y = made()
    tap.mercer("fit", "svm", "t.csv", "-k", "rbf(gamma=0.3)", "-C", 2, "--tol", 1e-6, "-o", "m.mercer", "--quiet")
    other = SVC(gamma=.3, C=2, tol=1e-6).fit(x, y)
    same(importance(), permutation_importance(other, x, y, n_repeats=40, random_state=1))
    same(importance("--metric", "roc_auc"),
         permutation_importance(other, x, y, n_repeats=40, random_state=1, scoring="roc_auc"))


def test_numbers_and_slopes():
    x, y = made(words=False)
    tap.mercer("fit", "svr", "t.csv", "-k", "rbf(gamma=0.3)", "-C", 2, "--epsilon", 0.1, "--tol", 1e-6, "-o",
               "m.mercer", "--quiet")
    other = SVR(gamma=.3, C=2, epsilon=.1, tol=1e-6).fit(x, y)
    mine = importance()
    same(mine, permutation_importance(other, x, y, n_repeats=40, random_state=1))
    z, coef = other.support_vectors_, other.dual_coef_[0]
    k = np.exp(-.3 * ((x[:, None] - z[None]) ** 2).sum(2))
    for c, name in enumerate("abcd"):
        slope = (k * -.6 * (x[:, None, c] - z[None, :, c])) @ coef  # of the rbf expansion, by hand
        wanted = np.mean(abs(slope)) * x[:, c].std()
        own = next(i for i in mine["importance"] if i["column"] == name)
        assert abs(own["sensitivity"] - wanted) < 1e-3 * wanted, (name, own["sensitivity"], wanted)


def test_shapley():
    """Against all orders and all other objects; and the sum is f(x) - the mean."""
    x, y = made(60)
    tap.mercer("fit", "svm", "t.csv", "-k", "rbf(gamma=0.3)", "-C", 2, "--tol", 1e-6, "-o", "m.mercer", "--quiet")
    f = SVC(gamma=.3, C=2, tol=1e-6).fit(x, y)
    sign = 1  # classes in the order of their names, as scikit-learn has them
    got = tap.mercer_json("explain", "m.mercer", "t.csv", "--shap", 5, "--samples", 4000)
    if got["output"].startswith("down"):
        sign = -1
    exact = np.zeros(4)
    for order in itertools.permutations(range(4)):
        z = x.copy()
        before = f.decision_function(z)
        for c in order:
            z[:, c] = x[4, c]
            now = f.decision_function(z)
            exact[c] += np.mean(now - before) / math.factorial(4)
            before = now
    total = 0
    for c, name in enumerate("abcd"):
        own = next(i for i in got["shap"] if i["column"] == name)
        assert abs(own["mean"] - sign * exact[c]) < 5 * own["std"] / math.sqrt(4000) + 1e-4, (name, own, exact[c])
        total += own["mean"]
    tap.check_near(total, got["value"] - got["base"], 1e-9)
    tap.check_near(got["value"], sign * f.decision_function(x[4:5])[0], 1e-4)


def test_every_kind_of_field():
    """Text, categories, graphs: what a kernel does not read has importance 0 exactly."""
    if np is None:
        tap.skip(WHY)
    rows = ["%d,%s,%s" % (i % 7, "red" if i % 3 else "blue", "yes" if (i % 3 == 0) != (i % 11 == 0) else "no")
            for i in range(120)]
    pathlib.Path("t.csv").write_text("n,colour,y\n" + "\n".join(rows) + "\n")
    tap.mercer("fit", "svm", "t.csv", "-k", "equal(colour)", "--role", "colour=category", "-o", "m.mercer", "--quiet")
    got = {i["column"]: i for i in importance()["importance"]}
    tap.check_equal((got["n"]["mean"], got["n"]["std"]), (0, 0))
    assert got["colour"]["mean"] > .2 and got["colour"]["sensitivity"] is None, got
    for name, kernel in (("motifs", "gkm"), ("molecules", "wl")):
        file = "t.jsonl"
        tap.mercer("sample", name, "-n", 60, "-o", file)
        tap.mercer("fit", "svm", file, "-k", kernel, "-o", "m.mercer", "--quiet")
        got = tap.mercer_json("explain", "m.mercer", file)
        assert got["importance"][0]["mean"] > .2, got
        tap.mercer("explain", "m.mercer", file, "--shap", 60, "--samples", 10)
    said = tap.mercer("explain", "m.mercer", file, "--shap", 61, status=2).stderr
    assert "no object 61: there are 60" in said, said
    said = tap.mercer("explain", "m.mercer", "--shap", 1, status=2).stderr
    assert "with DATA" in said, said


if __name__ == "__main__":
    tap.main(globals())
