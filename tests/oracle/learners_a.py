"""learners_a.py: ridge, knn, kmeans, logistic and erm against scikit-learn (and scipy).

scikit-learn has no kernel machine for most of them, but it has the learner on features: the rows of a
Cholesky factor of the Gram matrix are features with exactly its inner products. New objects get theirs
from the same factor. Each test says to how many digits the programs agree; the tolerance is what the
weaker of the two stopping rules allows.

SPDX-License-Identifier: Apache-2.0
"""

import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small problems: threads that wait for each other

import numpy as np

import tap

try:
    import scipy.linalg
    import scipy.optimize
    import sklearn.cluster
    import sklearn.kernel_ridge
    import sklearn.linear_model
    import sklearn.metrics
    import sklearn.neighbors
    import sklearn.svm
except ImportError as fault:
    sklearn, why = None, str(fault)


def need():
    if sklearn is None:
        tap.skip("scikit-learn is not there (%s)" % why)
    warnings.simplefilter("ignore")


# ---- data and models ----------------------------------------------------------------------------


def sample(name, n, seed, path):
    tap.mercer("sample", name, "-n", n, "--seed", seed, "-o", path, "--quiet")
    return path


def gram(a, b, kernel):
    tap.mercer("gram", a, *([] if b is None else [b]), "-k", kernel, "-o", "k.npy", "--quiet")
    return np.load("k.npy")


def targets(path):
    with open(path) as lines:
        return np.array([float(line.split(",")[-1]) for line in list(lines)[1:]])


def table(model, path, *options):
    tap.mercer("predict", model, path, *options, "-o", "out.npy", "--quiet")
    return np.load("out.npy")


class Case:
    """Training and new objects with their kernel values, and features that have these."""

    def __init__(self, name, kernel, n=120, new=50):
        self.kernel = kernel
        self.train, self.new = sample(name, n, 1, "train.csv"), sample(name, new, 2, "new.csv")
        self.y, self.y_new = targets(self.train), targets(self.new)
        self.k, self.k_new = gram(self.train, None, kernel), gram(self.new, self.train, kernel)

    def features(self):
        jitter = 1e-12 * np.trace(self.k)
        low = np.linalg.cholesky(self.k + jitter * np.eye(len(self.k)))
        return low, scipy.linalg.solve_triangular(low, self.k_new.T, lower=True).T

    def fit(self, learner, *options):
        return tap.mercer_json("fit", learner, self.train, "-k", self.kernel, *options, "-o",
                               "m.mercer")

    def scores(self):
        return table("m.mercer", self.new, "--scores")


def near(got, wanted, tolerance, what):
    worst = np.abs(got - wanted).max() / max(1, np.abs(wanted).max())
    print("# %s: largest difference %.1e, allowed %.0e" % (what, worst, tolerance))
    assert worst <= tolerance, what


CASES = (("sinc", "rbf(gamma=0.5)"), ("friedman", "poly(degree=2, c=1)"),
         ("friedman", "matern(nu=1.5)"))
CLASSES = (("moons", "rbf(gamma=1)"), ("blobs", "rbf(gamma=0.5)"), ("blobs", "linear"))


# ---- ridge --------------------------------------------------------------------------------------


def test_ridge_is_kernel_ridge():
    need()
    for name, kernel in CASES:
        case = Case(name, kernel)
        for lam in (10, 0.1, 1e-3):
            case.fit("ridge", "--lambda", lam)
            other = sklearn.kernel_ridge.KernelRidge(alpha=lam, kernel="precomputed")
            other.fit(case.k, case.y)
            near(case.scores().ravel(), other.predict(case.k_new), 1e-8,
                 "ridge %s lambda %g" % (kernel, lam))


def test_ridge_search():
    """Held-out values of all folds and penalties come from few inverses: the scores are those of a training for
    each fold, solved with NumPy. Ranges of 2^9 (one inverse), 10^7 (several) and of two values; 10 folds; weights; and penalties that are
    small against K, where an inverse would lose digits."""
    tap.mercer("sample", "sinc", "-n", 420, "--seed", 3, "-o", "s.csv", "--quiet")
    rows = np.genfromtxt("s.csv", delimiter=",", skip_header=1)
    y, weight = rows[:, -1], np.linspace(0.5, 2, len(rows))
    np.savetxt("w.csv", np.column_stack([rows[:, 0], weight, y]), delimiter=",", header="x1,weight,target", comments="",
               fmt="%.17g")
    for kernel in ("rbf(gamma=0.3)", "rbf(gamma=30)"):
        k = gram("s.csv", None, kernel)
        for penalty, folds, weighted in (("0.001:0.512:log10", 5, False), ("1e-5:100:log8", 10, False),
                                         ("0.01:1:log6", 5, True), ("0.1:0.2:2", 3, False),
                                         ("1e-6:1e-5:log2", 5, False)):
            options = ["w.csv", "--weight", "weight"] if weighted else ["s.csv"]
            options += ["-k", kernel, "--folds", folds]
            tap.mercer("cv", "ridge", *options, "-o", "cv.csv", "--quiet")
            fold = np.genfromtxt("cv.csv", delimiter=",", skip_header=1)[:, 0].astype(int)
            w = weight if weighted else np.ones(len(y))
            found = tap.mercer_json("tune", "ridge", *options, "--lambda", penalty, "--metric", "mse",
                                    "--search", "grid")
            assert len(found["table"]) >= 2
            for point in found["table"]:
                errors = []
                for f in sorted(set(fold)):
                    t, s = fold != f, fold == f
                    a = np.linalg.solve(k[np.ix_(t, t)] + point["options"]["lambda"] * np.diag(1 / w[t]), y[t])
                    errors.append(np.average((k[np.ix_(s, t)] @ a - y[s]) ** 2, weights=w[s]))
                error = abs(point["score"] / np.mean(errors) - 1)
                assert error < 1e-8, (kernel, penalty, point, error)


def test_ridge_on_strings_and_classes():
    need()
    case = Case("motifs", "normalize(spectrum(p=3))")
    case.fit("ridge", "--lambda", 0.1, "--task", "classify")
    other = sklearn.kernel_ridge.KernelRidge(alpha=0.1, kernel="precomputed").fit(case.k, case.y)
    near(case.scores().ravel(), other.predict(case.k_new), 1e-8, "ridge on strings")
    case = Case("blobs", "rbf(gamma=0.5)")
    case.fit("ridge", "--lambda", 0.1, "--task", "classify")
    y = np.where(case.y[:, None] == np.unique(case.y)[None, :], 1.0, -1.0)
    other = sklearn.kernel_ridge.KernelRidge(alpha=0.1, kernel="precomputed").fit(case.k, y)
    near(case.scores(), other.predict(case.k_new), 1e-8, "ridge, one against the rest")


def test_ridge_weights():
    need()
    case = Case("sinc", "rbf(gamma=0.5)")
    rows = np.loadtxt(case.train, delimiter=",", skiprows=1)
    weight = 1.0 + np.arange(len(rows)) % 4
    np.savetxt("w.csv", np.column_stack([rows[:, 0], weight, rows[:, 1]]), delimiter=",",
               header="x1,weight,target", comments="", fmt="%.17g")
    tap.mercer("fit", "ridge", "w.csv", "--weight", "weight", "-k", case.kernel, "--lambda", 0.1,
               "-o", "m.mercer", "--quiet")
    other = sklearn.kernel_ridge.KernelRidge(alpha=0.1, kernel="precomputed")
    other.fit(case.k, case.y, sample_weight=weight)
    near(case.scores().ravel(), other.predict(case.k_new), 1e-8, "ridge with weights")


def test_ridge_path_is_that_of_ridge_cv():
    need()
    case = Case("friedman", "linear")
    path = np.geomspace(1e-3, 1e3, 13)
    report = case.fit("ridge", "--lambda", "1e-3:1e3:log13")
    x = np.loadtxt(case.train, delimiter=",", skiprows=1)[:, :-1]
    other = sklearn.linear_model.RidgeCV(alphas=path, fit_intercept=False).fit(x, case.y)
    print("# lambda %r, scikit-learn %r" % (report["remark"], other.alpha_))
    assert "lambda = %.6g," % other.alpha_ in report["remark"]
    tap.check_near(report["loo"], -other.best_score_, 1e-8, "leave-one-out error")


def several(name, seed, path):
    """The sample with two more targets: functions of its own target and features."""
    rows = np.loadtxt(sample(name, 100, seed, "one.csv"), delimiter=",", skiprows=1)
    y = np.column_stack([rows[:, -1], 100 * np.cos(rows[:, 0]), 1e-3 * rows[:, :-1].sum(axis=1)])
    x = rows[:, :-1]
    head = ",".join("x%d" % j for j in range(x.shape[1])) + ",u,v,w"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=head, comments="", fmt="%.17g")
    return x, y


def test_ridge_of_several_targets():
    need()
    x, y = several("friedman", 1, "several.csv")
    x_new, y_new = several("friedman", 2, "several-new.csv")
    other = sklearn.kernel_ridge.KernelRidge(alpha=0.05, kernel="rbf", gamma=0.5).fit(x, y)
    want = other.predict(x_new)
    tap.mercer("fit", "ridge", "several.csv", "--target", "u,v,w", "-k", "rbf(gamma=0.5)",
               "--lambda", 0.05, "-o", "m.mercer", "--quiet")
    got = table("m.mercer", "several-new.csv", "--target", "u,v,w")
    for t in range(3):
        near(got[:, t] / np.abs(y[:, t]).max(), want[:, t] / np.abs(y[:, t]).max(), 1e-8,
             "target %d" % t)
    shown = tap.mercer_json("predict", "m.mercer", "several-new.csv", "--target", "u,v,w")["metrics"]
    tap.check_equal([t["name"] for t in shown["targets"]], ["u", "v", "w"])
    for key, score in (("mse", sklearn.metrics.mean_squared_error),
                       ("mae", sklearn.metrics.mean_absolute_error), ("r2", sklearn.metrics.r2_score)):
        each = score(y_new, want, multioutput="raw_values")
        for t in range(3):
            tap.check_near(shown["targets"][t][key], each[t], 1e-8, key)
        tap.check_near(shown[key], score(y_new, want), 1e-8, "mean " + key)
    # The same from NumPy's files.
    np.save("x.npy", x)
    np.save("y.npy", y)
    np.save("x-new.npy", x_new)
    tap.mercer("fit", "ridge", "x.npy", "--target", "y.npy", "-k", "rbf(gamma=0.5)", "--lambda",
               0.05, "-o", "n.mercer", "--quiet")
    near(table("n.mercer", "x-new.npy", "--target", "none"), got, 1e-12, "from .npy")


def test_ridge_path_of_several_targets():
    need()
    x, y = several("friedman", 1, "several.csv")
    report = tap.mercer_json("fit", "ridge", "several.csv", "--target", "u,v,w", "-k", "linear",
                             "--lambda", "1e-3:1e3:log13")
    other = sklearn.linear_model.RidgeCV(alphas=np.geomspace(1e-3, 1e3, 13), fit_intercept=False)
    other.fit(x, y)
    assert "lambda = %.6g," % other.alpha_ in report["remark"], (report["remark"], other.alpha_)
    tap.check_near(report["loo"], -other.best_score_, 1e-8, "leave-one-out error")


# ---- knn ----------------------------------------------------------------------------------------


def distances(case):
    own = np.diag(case.k)
    tap.mercer("gram", case.new, "-k", case.kernel, "-o", "own.npy", "--quiet")
    other = np.diag(np.load("own.npy"))
    return (np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * case.k, 0)),
            np.sqrt(np.maximum(other[:, None] + own[None, :] - 2 * case.k_new, 0)))


def test_knn_is_k_neighbors():
    need()
    for votes in ("uniform", "distance"):
        for name, kernel in CLASSES:
            case = Case(name, kernel)
            d, d_new = distances(case)
            case.fit("knn", "--task", "classify", "--neighbors", 7, "--vote", votes)
            other = sklearn.neighbors.KNeighborsClassifier(7, metric="precomputed", weights=votes)
            other.fit(d, case.y)
            near(table("m.mercer", case.new, "--proba"), other.predict_proba(d_new), 1e-10,
                 "knn %s %s" % (kernel, votes))
        for name, kernel in CASES:
            case = Case(name, kernel)
            d, d_new = distances(case)
            case.fit("knn", "--neighbors", 5, "--vote", votes)
            other = sklearn.neighbors.KNeighborsRegressor(5, metric="precomputed", weights=votes)
            near(case.scores().ravel(), other.fit(d, case.y).predict(d_new), 1e-9,
                 "knn %s %s" % (kernel, votes))


# ---- kmeans -------------------------------------------------------------------------------------


def test_kmeans_is_not_worse_than_k_means():
    need()
    for name, kernel in CLASSES + (("motifs", "normalize(spectrum(p=3))"),):
        case = Case(name, kernel)
        x, _ = case.features()
        for clusters in (2, 6):
            report = case.fit("kmeans", "--clusters", clusters, "--restarts", 40)
            other = sklearn.cluster.KMeans(clusters, n_init=20, random_state=1, tol=0).fit(x)
            print("# kmeans %s, %d clusters: objective %.6f, scikit-learn %.6f" % (
                kernel, clusters, report["objective"], other.inertia_))
            assert report["objective"] <= other.inertia_ * (1 + 1e-6)
            # From our partition scikit-learn's steps must not move.
            ours = table("m.mercer", case.train).astype(int)
            centres = np.array([x[ours == c].mean(axis=0) for c in range(1, clusters + 1)])
            again = sklearn.cluster.KMeans(clusters, init=centres, n_init=1, tol=0).fit(x)
            tap.check_near(report["objective"], again.inertia_, 1e-6, "objective")


def test_kmeans_scores_by_the_adjusted_rand_index():
    need()
    case = Case("blobs", "linear")
    case.fit("kmeans", "--clusters", 4)
    shown = tap.mercer_json("predict", "m.mercer", case.new, "-o", "c.npy")
    want = sklearn.metrics.adjusted_rand_score(case.y_new, np.load("c.npy"))
    tap.check_near(shown["metrics"]["adjusted_rand"], want, 1e-12)


# ---- logistic -----------------------------------------------------------------------------------


def test_logistic_is_logistic_regression():
    need()
    for name, kernel in CLASSES + (("motifs", "normalize(spectrum(p=3))"),):
        case = Case(name, kernel)
        x, x_new = case.features()
        for lam in (2, 0.1):
            case.fit("logistic", "--lambda", lam, "--tol", "1e-9")
            two = len(np.unique(case.y)) == 2
            other = sklearn.linear_model.LogisticRegression(
                C=1 / lam if two else 1 / (2 * lam), fit_intercept=False, solver="newton-cg",
                tol=1e-10, max_iter=1000)
            near(table("m.mercer", case.new, "--proba"),
                 other.fit(x, case.y).predict_proba(x_new), 1e-6,
                 "logistic %s lambda %g" % (kernel, lam))


# ---- erm ----------------------------------------------------------------------------------------


def test_erm_is_linear_svm_on_features():
    need()
    case = Case("moons", "rbf(gamma=1)")
    x, x_new = case.features()
    for loss, theirs in (("squared-hinge", "squared_hinge"), ("hinge", "hinge")):
        case.fit("erm", "--loss", loss, "--lambda", 0.25, "--task", "classify", "--tol", "1e-9")
        other = sklearn.svm.LinearSVC(loss=theirs, C=2, fit_intercept=False, tol=1e-9, dual=True,
                                      max_iter=1000000)
        near(case.scores().ravel(), other.fit(x, case.y).decision_function(x_new), 1e-4,
             "erm " + loss)
    case = Case("sinc", "rbf(gamma=0.5)")
    x, x_new = case.features()
    for loss, epsilon in (("epsilon", 0.05), ("absolute", 0)):
        case.fit("erm", "--loss", loss, "--lambda", 0.25, "--tol", "1e-9", "--epsilon", epsilon)
        other = sklearn.svm.LinearSVR(epsilon=epsilon, C=2, fit_intercept=False, tol=1e-9,
                                      max_iter=1000000)
        near(case.scores().ravel(), other.fit(x, case.y).predict(x_new), 1e-3, "erm " + loss)


def test_erm_minimises_what_it_says():
    """Huber and quantile losses against a general minimiser: the objective, and for the smooth one the
    function."""
    need()
    case = Case("sinc", "rbf(gamma=0.5)", n=60)
    x, x_new = case.features()

    def huber(w):
        e = x @ w - case.y
        big = np.abs(e) > 0.1
        value = np.where(big, 0.1 * (np.abs(e) - 0.05), e * e / 2).sum() + 0.25 * w @ w
        return value, x.T @ np.where(big, 0.1 * np.sign(e), e) + 0.5 * w

    report = case.fit("erm", "--loss", "huber", "--delta", 0.1, "--lambda", 0.25, "--tol", "1e-10")
    best = scipy.optimize.minimize(huber, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B",
                                   options={"maxiter": 10000, "ftol": 1e-15, "gtol": 1e-10})
    tap.check_near(report["objective"], best.fun, 1e-8, "objective of huber")
    near(case.scores().ravel(), x_new @ best.x, 1e-4, "erm huber")

    report = case.fit("erm", "--loss", "quantile", "--quantile", 0.8, "--lambda", 0.25, "--tol",
                      "1e-8")
    # The dual of the quantile loss: a box, a quadratic function.
    k, y, most = case.k, case.y, 1 / 0.5

    def dual(b):
        return 0.5 * b @ k @ b - y @ b, k @ b - y

    best = scipy.optimize.minimize(dual, np.zeros(len(y)), jac=True, method="L-BFGS-B",
                                   bounds=[(-0.2 * most, 0.8 * most)] * len(y),
                                   options={"maxiter": 100000, "maxfun": 100000, "ftol": 1e-15})
    tap.check_near(report["objective"], -2 * 0.25 * best.fun, 1e-6, "objective of quantile")


if __name__ == "__main__":
    tap.main(globals())
