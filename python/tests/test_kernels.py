"""Kernels, data of all kinds, functions, files, pictures.

SPDX-License-Identifier: Apache-2.0
"""

import gc
import resource

import numpy as np
import pytest

import mercer
from mercer import (SVC, SVR, GaussianProcessRegressor, Kernel, KernelRidge, cv, from_callable, gram,
                    linear, load, normalize, rbf, spectrum, tune)

sklearn = pytest.importorskip("sklearn")
from sklearn.datasets import load_iris, make_moons  # noqa: E402
from sklearn.metrics import pairwise  # noqa: E402
import sklearn.svm  # noqa: E402

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("word", ["linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "chi2"])
def test_words_are_scikit_learns(word):
    np.testing.assert_allclose(gram(X, mercer._functions.as_kernel(word, X)),
                               pairwise.pairwise_kernels(X, metric=word) if word != "chi2"
                               else pairwise.chi2_kernel(X, gamma=0.25), rtol=1e-9)


def test_operators_and_text():
    k = 0.5 * rbf(gamma=0.1) + linear() ** 2 * 3
    assert str(k) == str(Kernel("0.5*rbf(gamma=0.1) + linear^2*3"))
    np.testing.assert_allclose(k(X), 0.5 * gram(X, "rbf(gamma=0.1)") + 3 * gram(X, "linear") ** 2)
    assert str(normalize(spectrum(p=3))) == "normalize(spectrum)"
    assert Kernel("linear") == linear() and hash(Kernel("linear")) == hash(linear())


@pytest.mark.parametrize("make", [
    lambda A: A.astype(np.float32), np.asfortranarray, lambda A: A[::-1], lambda A: np.hstack([A, A])[:, 4:],
    lambda A: A.tolist()], ids=["float32", "fortran", "reversed", "strided", "list"])
def test_layouts(make):
    A = make(X)
    np.testing.assert_allclose(gram(A, "rbf(gamma=1)"), pairwise.rbf_kernel(np.asarray(A), gamma=1),
                               rtol=1e-4, atol=1e-6)


def test_sparse_formats_are_the_same():
    import scipy.sparse as sp
    for make in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.lil_matrix):
        clf = SVC().fit(make(X), Y)
        np.testing.assert_allclose(clf.decision_function(X), SVC().fit(X, Y).decision_function(X), atol=2e-3)
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_allclose(gram(wide, "linear"), X @ X.T)


def test_strings_bytes_graphs_and_dicts():
    networkx = pytest.importorskip("networkx")
    words = ["ACGT", "ACGA", "TTTT", "TTTA"] * 5
    y = [0, 0, 1, 1] * 5
    assert SVC(kernel="spectrum(p=2)").fit(words, y).score(words, y) == 1
    assert SVC(kernel="spectrum(p=2)").fit([w.encode() for w in words], y).score(words, y) == 1
    graphs = [networkx.cycle_graph(5 + i) if i % 2 else networkx.path_graph(5 + i) for i in range(20)]
    both = {"g": graphs, "s": words, "x": X[:20]}
    odd = [i % 2 for i in range(20)]
    clf = SVC(kernel="wl(g, h=2) + 0.1*spectrum(s, p=2) + rbf(x, gamma=1)").fit(both, odd)
    assert clf.score(both, odd) == 1
    with pytest.raises(ValueError, match="inconsistent"):
        SVC(kernel="linear(x)").fit({"x": X[:3], "s": words}, y)


def test_tables():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"age": X[:, 0], "income": X[:, 1], "city": np.where(X[:, 2] > 3, "Rome", "Oslo")})
    k = 0.5 * rbf("age", "income", gamma=0.1) + spectrum("city", p=4)
    clf = SVC(kernel=k).fit(table, Y)
    assert list(clf.feature_names_in_) == ["age", "income", "city"] and clf.score(table, Y) > 0.7
    both = {"a": X[:, :2], "city": list(table.city)}
    same = SVC(kernel="0.5*rbf(a, gamma=0.1) + spectrum(city, p=4)").fit(both, Y)
    np.testing.assert_allclose(clf.decision_function(table), same.decision_function(both), atol=2e-3)
    numbers = table[["age", "income"]]
    clf = SVC().fit(numbers, Y)
    assert clf.n_features_in_ == 2 and list(clf.feature_names_in_) == ["age", "income"]


def test_functions_as_kernels():
    blocks = SVC(kernel=lambda A, B: A @ B.T).fit(X, Y)
    np.testing.assert_allclose(blocks.decision_function(X),
                               SVC(kernel="linear").fit(X, Y).decision_function(X), atol=2e-2)
    pairs = KernelRidge(kernel=lambda a, b: float(a @ b)).fit(X, Y)
    np.testing.assert_allclose(pairs.predict(X), KernelRidge(kernel="linear").fit(X, Y).predict(X), atol=1e-6)
    k = 0.5 * from_callable(lambda a, b: float(a @ b), pairs=True) + rbf(gamma=1)
    np.testing.assert_allclose(gram(X[:9], k, X[:4]), 0.5 * X[:9] @ X[:4].T + gram(X[:9], "rbf(gamma=1)", X[:4]))
    assert SVC(kernel=k).fit(X, Y).score(X, Y) > 0.9


def test_precomputed():
    K = gram(X, "rbf(gamma=0.3)")
    clf = SVC(kernel="precomputed").fit(K[:100][:, :100], Y[:100])
    same = SVC(gamma=0.3).fit(X[:100], Y[:100])
    np.testing.assert_allclose(clf.decision_function(K[100:][:, :100]), same.decision_function(X[100:]), atol=2e-3)


def test_sklearn_gp_kernels():
    from sklearn.gaussian_process.kernels import DotProduct, Matern
    k = Matern(nu=1.5, length_scale=0.7) + DotProduct(sigma_0=0.5)
    found = GaussianProcessRegressor(k, optimizer=None).fit(X, Y)
    np.testing.assert_allclose(gram(X, found.kernel_), k(X), rtol=1e-9)


def test_certificates():
    clf = SVC(tol=1e-5).fit(X, Y)
    assert clf.stop_ == "optimal" and clf.certificate_["value"] <= 1e-5
    assert clf.verify(X, Y)["agrees"]
    with pytest.raises(ValueError, match="not the training data"):
        clf.verify(X + 1, Y)


def test_check():
    assert mercer.check("rbf(gamma=1)*linear")["valid"] == "yes"
    found = mercer.check("-1*rbf(gamma=1)", X)
    assert found["valid"] == "no"
    t, G = found["counterexample"]["t"], found["counterexample"]["gram"]
    assert t @ G @ t < 0


def test_cv_and_tune():
    words = np.array(["c", "a", "b"])[Y]
    scores = cv(SVC(C=10), X, words, metrics=["accuracy"], repeats=2)
    assert scores["accuracy"].shape == (10,)
    assert np.mean(scores["predictions"] == words) > 0.9
    best = tune(SVC(), X, words, kernel="rbf(gamma=0.01:1:log3)", C=(0.1, 100, 4))
    assert best.best_score_ == np.nanmax(best.cv_results_["mean_test_score"])
    assert best.C == best.best_params_["C"] and best.score(X, words) > 0.9
    again = sklearn.base.clone(best).fit(X, words)
    assert np.mean(again.predict(X) == best.predict(X)) > 0.98
    found = tune("svr", X[:, :3], X[:, 3], kernel="rbf(gamma=0.1:1:log2)", C=(1, 10, 2))
    assert isinstance(found, SVR) and found.best_score_ < 0.1


def test_files(tmp_path):
    words = np.array(["c", "a", "b"])[Y]
    clf = SVC(C=5).fit(X, words)
    clf.save(tmp_path / "m.mercer")
    again = load(tmp_path / "m.mercer")
    assert isinstance(again, SVC) and again.C == 5
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    binary = SVC(C=5).fit(X[:100], Y[:100])
    binary.save(tmp_path / "m.libsvm", format="libsvm")
    assert (tmp_path / "m.libsvm").read_text().startswith("svm_type c_svc")
    np.testing.assert_array_equal(load(tmp_path / "m.libsvm").predict(X), binary.predict(X))
    ridge = KernelRidge(alpha=0.1).fit(X, Y)
    ridge.save(tmp_path / "r.mercer")
    np.testing.assert_allclose(load(tmp_path / "r.mercer").predict(X), ridge.predict(X))


def test_explain_and_plot(tmp_path):
    two = SVC(kernel="linear").fit(X[:, :2], Y)
    assert {"output", "offset", "positive", "negative"} <= set(two.explain()[0])
    figure = two.plot(X[:, :2], Y)
    assert figure._repr_svg_().startswith("<svg") or "<svg" in figure._repr_svg_()
    figure.save(tmp_path / "a.svg")
    assert figure.data["kind"] == "boundary"
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    axes = plt.figure().add_subplot()
    two.plot(X[:, :2], Y, ax=axes)
    assert axes.collections or axes.images


@pytest.mark.parametrize("names", [[1.0, 2.0, 3.0], [3, 10, 200], [True, False, True],
                                   ["10", "9", "x"], ["b", "a", "c d"]])
def test_labels_of_any_kind(names):
    y = np.array(names)[Y]
    clf = SVC().fit(X, y)
    assert clf.score(X, y) > 0.6 and clf.classes_.dtype == y.dtype and set(clf.predict(X)) <= set(y)
    np.testing.assert_allclose(clf.decision_function(X), sklearn.svm.SVC().fit(X, y).decision_function(X), atol=5e-3)


def test_composition_with_sklearn():
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    grid = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10], "svc__gamma": ["scale", 0.1]}, cv=3)
    assert grid.fit(X, Y).best_score_ > 0.9
    assert CalibratedClassifierCV(SVC(), cv=2).fit(X, Y).predict_proba(X).shape == (150, 3)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcd"))
    out = mercer.KernelPCA(2, kernel="rbf").set_output(transform="pandas").fit_transform(table)
    assert list(out.columns) == ["kernelpca0", "kernelpca1"]
    assert "SVC" in SVC()._repr_html_()


def test_online():
    A, y = make_moons(200, noise=0.1, random_state=0)
    clf = mercer.KernelPerceptron(gamma=2.0, max_iter=3)
    for part in range(4):
        clf.partial_fit(A[part::4], y[part::4])
    assert clf.score(A, y) > 0.9


def test_gram_into_an_array():
    """Arrays that begin anywhere, of both types; what does not fit is refused."""
    K = gram(X, "rbf(gamma=0.3)")
    for dtype, tolerance in ((np.float64, 1e-15), (np.float32, 1e-5)):
        for first in range(4):
            memory = np.full(first + K.size + 5, -1, dtype=dtype)
            out = memory[first:first + K.size].reshape(K.shape)
            assert gram(X, "rbf(gamma=0.3)", out=out) is out
            np.testing.assert_allclose(out, K, atol=tolerance)
            assert (memory[:first] == -1).all() and (memory[first + K.size:] == -1).all()
    out = np.empty((3, len(X)))
    gram(X[:3], lambda a, b: a @ b.T, X, out=out)
    np.testing.assert_allclose(out, X[:3] @ X.T)
    for bad in (np.empty((2, 2)), np.empty(K.shape[::-1] + (1,)), np.empty(K.shape, order="F")):
        with pytest.raises(ValueError, match="C order"):
            gram(X, "rbf(gamma=0.3)", out=bad)
    with pytest.raises(TypeError, match="float64 or float32"):
        gram(X, "rbf(gamma=0.3)", out=np.empty(K.shape, dtype=int))


def test_no_leak():
    """Resident memory after many fits and predictions; MERCER_ALL=1 makes it 10,000 cycles."""
    import os
    A, y = X[:40, :2], Y[:40] + (np.arange(40) % 2)
    cycles = 10000 if os.environ.get("MERCER_ALL") == "1" else 600

    def cycle(count):
        for _ in range(count):
            SVC(n_jobs=1).fit(A, y).predict(A)
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    cycle(200)
    before = cycle(200)
    assert cycle(cycles) - before < 3000, "kilobytes"


def test_no_copy_of_large_arrays():
    """The peak of resident memory while a large float array is read; 1 GB with MERCER_ALL=1."""
    import os
    import subprocess
    import sys
    rows = 2_500_000 if os.environ.get("MERCER_ALL") == "1" else 250_000
    code = f"""
import resource, numpy as np
from mercer import SVC, gram
import mercer._estimators
X = np.ones(({rows}, 100), dtype=np.float32)
X[:, 0] = np.arange({rows}) % 7
clf = SVC(gamma=0.1).fit(X[:50], np.arange(50) % 7 > 3)
clf.predict(X[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
clf.predict(X)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    assert grown < rows * 100 * 4 / 1024 / 5, f"{grown} KB more for an array of {rows * 400 // 1024} KB"
