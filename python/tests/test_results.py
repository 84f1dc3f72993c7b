"""Results against scikit-learn's, on eight sets, to the solver's tolerance.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np
import pytest

import mercer

pytest.importorskip("sklearn")
from sklearn import datasets, decomposition, gaussian_process, kernel_ridge, svm  # noqa: E402
from sklearn.preprocessing import scale  # noqa: E402

TIGHT = 1e-6


def class_sets():
    yield "iris", *datasets.load_iris(return_X_y=True)
    yield "wine", *datasets.load_wine(return_X_y=True)
    yield "breast", *datasets.load_breast_cancer(return_X_y=True)
    X, y = datasets.load_digits(return_X_y=True)
    yield "digits", X[:500], y[:500]
    yield "moons", *datasets.make_moons(300, noise=0.2, random_state=0)
    yield "circles", *datasets.make_circles(300, noise=0.1, factor=0.5, random_state=0)
    yield "blobs", *datasets.make_blobs(300, centers=5, cluster_std=2.0, random_state=0)
    X, y = datasets.make_classification(400, 20, n_informative=8, n_classes=3, random_state=0)
    yield "made", X, y.astype(str)


def number_sets():
    yield "diabetes", *datasets.load_diabetes(return_X_y=True)
    for name, make in (("friedman1", datasets.make_friedman1), ("friedman2", datasets.make_friedman2),
                       ("friedman3", datasets.make_friedman3)):
        yield name, *make(200, noise=0.1, random_state=0)
    yield "linear", *datasets.make_regression(200, 10, noise=5.0, random_state=0)
    for seed in range(3):
        rng = np.random.RandomState(seed)
        X = rng.uniform(-3, 3, (150, 2))
        yield f"sines{seed}", X, np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.randn(150)


CLASSES = [pytest.param(scale(X), y, id=name) for name, X, y in class_sets()]
NUMBERS = [pytest.param(scale(X), scale(y), id=name) for name, X, y in number_sets()]


@pytest.mark.parametrize("X, y", CLASSES)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_svc(X, y, kernel):
    ours = mercer.SVC(kernel=kernel, tol=TIGHT, decision_function_shape="ovo").fit(X, y)
    theirs = svm.SVC(kernel=kernel, tol=TIGHT, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.995


@pytest.mark.parametrize("X, y", CLASSES)
def test_nu_svc(X, y):
    ours = mercer.NuSVC(nu=0.5, tol=TIGHT, decision_function_shape="ovo").fit(X, y)
    theirs = svm.NuSVC(nu=0.5, tol=TIGHT, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("X, y", CLASSES)
def test_one_class(X, y):
    ours, theirs = (c(nu=0.3, tol=TIGHT).fit(X) for c in (mercer.OneClassSVM, svm.OneClassSVM))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)


@pytest.mark.parametrize("X, y", NUMBERS)
def test_svr(X, y):
    ours, theirs = (c(C=10, tol=TIGHT).fit(X, y) for c in (mercer.SVR, svm.SVR))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("X, y", NUMBERS)
def test_nu_svr(X, y):
    ours, theirs = (c(C=10, nu=0.4, tol=TIGHT).fit(X, y) for c in (mercer.NuSVR, svm.NuSVR))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)


@pytest.mark.parametrize("X, y", NUMBERS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
def test_kernel_ridge(X, y, kernel):
    ours, theirs = (c(alpha=0.5, kernel=kernel).fit(X, y)
                    for c in (mercer.KernelRidge, kernel_ridge.KernelRidge))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


@pytest.mark.parametrize("X, y", CLASSES)
def test_kernel_pca(X, y):
    ours, theirs = (c(3, kernel="rbf", gamma=0.1).fit(X) for c in (mercer.KernelPCA, decomposition.KernelPCA))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-6)
    a, b = ours.transform(X), theirs.transform(X)
    np.testing.assert_allclose(a * np.sign((a * b).sum(axis=0)), b, atol=1e-5)


@pytest.mark.parametrize("X, y", NUMBERS)
def test_gaussian_process(X, y):
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    kernel = ConstantKernel(1.5) * RBF(1.3)
    ours, theirs = (c(kernel, alpha=0.1, optimizer=None, normalize_y=True).fit(X, y) for c in (
        mercer.GaussianProcessRegressor, gaussian_process.GaussianProcessRegressor))
    for a, b in zip(ours.predict(X[:50] + 0.1, return_std=True), theirs.predict(X[:50] + 0.1, return_std=True)):
        np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("X, y", CLASSES[:2])
def test_nystroem(X, y):
    from sklearn.kernel_approximation import Nystroem
    ours, theirs = (c(gamma=0.2, n_components=20, random_state=0).fit(X) for c in (mercer.Nystroem, Nystroem))
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)


def test_random_features_are_near_the_kernel():
    X = np.random.RandomState(0).randn(100, 3)
    Z = mercer.RFF(gamma=0.5, n_components=4000, random_state=1).fit_transform(X)
    assert np.abs(Z @ Z.T - mercer.gram(X, "rbf(gamma=0.5)")).max() < 0.15


def test_weights_and_class_weights():
    X, y = datasets.make_moons(200, noise=0.3, random_state=1)
    w = np.random.RandomState(0).uniform(0, 2, 200)
    ours, theirs = (c(tol=TIGHT, class_weight={0: 3.0}).fit(X, y, sample_weight=w)
                    for c in (mercer.SVC, svm.SVC))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    ours, theirs = (c(tol=TIGHT, class_weight="balanced").fit(X[:120], y[:120]) for c in (mercer.SVC, svm.SVC))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
