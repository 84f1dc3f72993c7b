"""Clusters, coordinates, explicit features.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _compat, _core, _data
from mercer._base import KernelEstimator, given, open_session
from mercer._kernel import Kernel
from mercer._tasks import ClassifierBase, VerifyMixin, check_pair


# ---- clusters ------------------------------------------------------------------------------------


class Clusterer(_compat.ClusterMixin, VerifyMixin, KernelEstimator):  # type: ignore[misc]
    """KernelKMeans."""

    _in_order = True
    _few_ = 0  # clusters, where there are fewer distinct objects than n_clusters

    def _more_options(self) -> dict[str, str]:
        return {"clusters": str(self._few_)} if self._few_ else {}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find clusters.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the objects.

        Returns
        -------
        self : object
            The fitted estimator, with `labels_` and `inertia_`.
        """
        X = self._check_X(X, reset=True)
        if not _data.is_structured(X):
            self._check_square(X)
            sample_weight = _compat.sample_weights(sample_weight, X)
        count = _data.count_of(X) if sample_weight is None else int(np.sum(np.asarray(sample_weight) > 0))
        if count < self.n_clusters:
            raise ValueError(f"n_samples={count} should be >= "
                             f"n_clusters={self.n_clusters}.")
        self._few_ = 0
        try:
            self._train(X, None, sample_weight)
        except _core.MercerValueError as refused:
            self._train_few(X, sample_weight, refused)
        self.labels_ = self._predicted(X, value=True)[0].astype(np.int32)
        self.inertia_ = self._model.report["objective"]
        return self

    def _train_few(self, X: Any, sample_weight: Any, refused: Exception) -> None:
        """After a failure: again with as many clusters as there are distinct objects, if these are few."""
        shown = X if sample_weight is None else _data.rows_of(X, np.flatnonzero(sample_weight > 0))
        distinct = len(np.unique(shown, axis=0)) if isinstance(X, np.ndarray) else 0
        if not 0 < distinct < self.n_clusters:
            raise refused
        _compat.warn_not_converged(f"Number of distinct clusters ({distinct}) found smaller than n_clusters "
                                   f"({self.n_clusters}). "
                                   "Possibly due to duplicate points in X.")
        self._few_ = distinct
        self._train(X, None, sample_weight)

    def predict(self, X: Any) -> Any:
        """The cluster whose centre is nearest to each object."""
        return self._predicted(self._ask_X(X), value=True)[0].astype(np.int32)


# ---- coordinates ---------------------------------------------------------------------------------


class NamesOutMixin:
    """Names of coordinates, for set_output and pipelines."""

    def get_feature_names_out(self: Any, input_features: Any = None) -> Any:
        """Names of the coordinates: the class's name and a number."""
        _compat.check_is_fitted(self)
        prefix = type(self).__name__.lower()
        return np.asarray([f"{prefix}{i}" for i in range(self._n_features_out)], dtype=object)

    @property
    def _n_features_out(self: Any) -> int:
        return int(self._model.outputs)


class Projector(_compat.TransformerMixin, NamesOutMixin, VerifyMixin, KernelEstimator):  # type: ignore[misc]
    """KernelPCA."""

    _gamma_scale = False
    _pairs = True

    def _more_options(self) -> dict[str, str]:
        return {"components": str(self._components_)}

    def _wanted(self, X: Any) -> int:
        return min(_data.count_of(X), self.n_components or _data.count_of(X))

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the principal components.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Training objects.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._check_X(X, reset=True)
        if not _data.is_structured(X):
            self._check_square(X)
        self._components_ = self._wanted(X)
        self._train(X)
        n = _data.count_of(X)
        self.eigenvalues_ = np.maximum(0, np.asarray(self._model.report["variance"])) * n
        keep = self.eigenvalues_ > 1e-12 * max(self.eigenvalues_.max(initial=0), 1e-300)
        wants_all = self.n_components is None or self.remove_zero_eig
        self._kept_ = np.flatnonzero(keep) if wants_all else np.arange(len(self.eigenvalues_))
        self.eigenvalues_ = self.eigenvalues_[self._kept_]
        self.X_fit_ = given(X)
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self._kept_)

    def transform(self, X: Any) -> Any:
        """Coordinates of the objects along the components."""
        return self._transformed(self._ask_X(X))[:, self._kept_]

    @property
    def eigenvectors_(self) -> Any:
        """Eigenvectors of the centred kernel matrix."""
        scale = np.sqrt(np.where(self.eigenvalues_ > 0, self.eigenvalues_, 1))
        return self.transform(self.X_fit_) / scale

    def _can_invert(self) -> bool:
        if not self.fit_inverse_transform:
            raise AttributeError("inverse_transform is not available when fit_inverse_transform=False")
        return True

    def denoise(self, X: Any) -> Any:
        """Vectors whose images are nearest to the projections of X (pre-images).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Objects.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The pre-images.
        """
        X = self._ask_X(X)
        with self._open_session() as session:
            found = self._objects(X)
            to = np.empty((found.count, found.columns))
            session.preimage(self._model, session.data(found.count, found.fields), to)
        return to

    @_compat.available(_can_invert)
    def inverse_transform(self, X: Any) -> Any:
        """Vectors for coordinates, by ridge regression from the training coordinates, as scikit-learn
        learns it; `denoise` finds pre-images without it."""
        from mercer._functions import gram
        Z = self.transform(self.X_fit_)
        kernel = Kernel(self.kernel_)
        K = gram(Z, kernel)
        K[np.diag_indices_from(K)] += self.alpha
        fit = self.X_fit_.toarray() if _data.is_sparse(self.X_fit_) else self.X_fit_
        return gram(np.asarray(X, dtype=np.float64), kernel, Z) @ np.linalg.solve(K, fit)


class Discriminant(NamesOutMixin, _compat.TransformerMixin, ClassifierBase):  # type: ignore[misc]
    """KernelFisher: coordinates that separate classes, and the nearest class mean."""

    def transform(self, X: Any) -> Any:
        """Coordinates of the objects along the discriminants."""
        return self._transformed(self._ask_X(X))

    def decision_function(self, X: Any) -> Any:
        """Minus half the squared distances to the class means in the space of the discriminants; of two
        classes their difference."""
        Z = self.transform(X)
        found = -0.5 * ((Z[:, None, :] - self._means_[None]) ** 2).sum(axis=2)
        return found[:, 1] - found[:, 0] if len(self._present_) == 2 else found

    def _after_fit(self, X: Any, codes: Any) -> None:
        Z = self._transformed(X)
        if self._rows_ is not None:
            Z, codes = Z[self._rows_], codes[self._rows_]
        self._means_ = np.array([Z[codes == c].mean(axis=0) for c in self._present_])


class Correlator(_compat.TransformerMixin, NamesOutMixin, KernelEstimator):  # type: ignore[misc]
    """KernelCCA: coordinates that two descriptions of the same objects have in common."""

    _gamma_scale = False

    def _more_options(self) -> dict[str, str]:
        return {"kernel2": self._second_, "components": str(self._components_)}

    def _sides(self, X: Any, Y: Any, *, reset: bool) -> dict[str, Any]:
        X = _compat.check_array(X, dtype=np.float64) if reset else X
        return {"x": X, "y": Y}

    def fit(self, X: Any, Y: Any = None, y: Any = None) -> Any:
        """Find the coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One description of the objects.
        Y : array-like of shape (n_samples, n_targets)
            The other.
        y : array-like, default=None
            Another name of Y.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        Y = y if Y is None else Y
        X, Y = check_pair(self, X, Y, multi_output=True, y_numeric=True)
        Y = np.ascontiguousarray(Y.reshape(len(Y), -1), dtype=np.float64)
        first = self._resolve_kernel(X)
        second = self._second_kernel(Y)
        self._second_ = second
        self._components_ = min(self.n_components, len(Y))
        text = on_field("linear" if first is None else first.text, "x")
        with self._open_session() as session:
            fields = (_data.matrix("x", X), _data.dense("y", Y))
            self._model = self._fit_model(session, Kernel(text), session.data(len(Y), fields))
        self._kernel_, self._rows_, self._reference_ = Kernel(text), None, None
        self._set_results()
        self._targets_ = Y.shape[1]
        self.correlations_ = np.asarray(self._model.report["correlation"])
        return self

    def _second_kernel(self, Y: Any) -> str:
        kernel = self._value("kernel2")
        if kernel is None:
            kernel = self._value("kernel")
        gamma = self.gamma
        number = 1.0 / Y.shape[1] if gamma is None else gamma
        from mercer._kernel import WORDS, value_text
        text = WORDS[kernel].format(gamma=value_text(number), degree="3", coef0="1.0") \
            if isinstance(kernel, str) and kernel in WORDS else str(kernel)
        return on_field(Kernel(text).text, "y")

    @property
    def _n_features_out(self) -> int:
        return int(self._model.outputs) // 2

    def transform(self, X: Any, Y: Any = None) -> Any:
        """Coordinates of X; with Y those of both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One description of the objects.
        Y : array-like of shape (n_samples, n_targets), default=None
            The other.

        Returns
        -------
        ndarray, or tuple of two
            The coordinates.
        """
        X = self._ask_X(X)
        other = np.zeros((X.shape[0], self._targets_)) if Y is None else \
            np.asarray(Y, dtype=np.float64).reshape(len(Y), -1)
        with self._open_session() as session:
            data = session.data(X.shape[0], (_data.matrix("x", X), _data.dense("y", other)))
            to = np.empty((X.shape[0], self._model.outputs))
            session.transform(self._model, data, to)
        half = self._n_features_out
        return to[:, :half] if Y is None else (to[:, :half], to[:, half:])

    def fit_transform(self, X: Any, y: Any = None, **more: Any) -> Any:
        """Fit, and give the coordinates of X."""
        return self.fit(X, y, **more).transform(X)


def on_field(text: str, field: str) -> str:
    """An expression of one leaf, on a field."""
    if text.isidentifier():
        return f"{text}({field})"
    name, _, rest = text.partition("(")
    if not name.isidentifier() or rest.startswith(field + ","):
        return text
    return f"{name}({field}, {rest}"


# ---- explicit features ---------------------------------------------------------------------------


class FeatureBase(_compat.TransformerMixin, NamesOutMixin, KernelEstimator):  # type: ignore[misc]
    """Approximate features of a kernel."""

    _gamma_scale = False
    _pairs = True

    @property
    def _n_features_out(self) -> int:
        return int(self._count_)


class LandmarkFeatures(FeatureBase):
    """Nystroem."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Choose landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects to choose from.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        from mercer._functions import gram
        X = self._check_X(X, reset=True)
        n = _data.count_of(X)
        wanted = self.n_components
        if wanted > n:
            import warnings
            warnings.warn("n_components > n_samples. This is not possible.\nn_components was set to "
                          "n_samples, which results in inefficient evaluation of the full kernel.")
        chance = _compat.check_random_state(self._value("random_state"))
        self.component_indices_ = chance.permutation(n)[:min(n, wanted)]
        self.components_ = _data.rows_of(X, self.component_indices_)
        self._kernel_ = self._resolve_kernel(X)
        if self._is_precomputed:
            K = np.asarray(X)[np.ix_(self.component_indices_, self.component_indices_)]
        else:
            K = gram(self.components_, self._kernel_, n_jobs=self._value("n_jobs"))
        U, S, V = np.linalg.svd(K)
        self.normalization_ = np.dot(U / np.sqrt(np.maximum(S, 1e-12)), V)
        self._count_ = len(self.component_indices_)
        return self

    def transform(self, X: Any) -> Any:
        """Features of the objects."""
        from mercer._functions import gram
        X = self._ask_X(X)
        if self._is_precomputed:
            K = np.asarray(X)[:, self.component_indices_]
        else:
            K = gram(X, self._kernel_, self.components_, n_jobs=self._value("n_jobs"))
        return np.dot(K, self.normalization_.T)


class FourierFeatures(FeatureBase):
    """RFF."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Draw frequencies.

        Parameters
        ----------
        X : array-like or sparse matrix
            Objects: their number of columns counts, and with gamma="scale" their variance.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._check_X(X, reset=True)
        self._kernel_ = self._resolve_kernel(X)
        from mercer._base import seed_of
        self._seed_ = seed_of(self._value("random_state"))
        self._count_ = self.n_components
        return self

    def transform(self, X: Any) -> Any:
        """Features of the objects."""
        X = self._ask_X(X)
        with open_session(n_jobs=self._value("n_jobs"), random_state=self._seed_) as session:
            found = _data.objects(X)
            data = session.data(found.count, found.fields)
            like = session.data(1, (_data.dense("x", np.zeros((1, found.columns))),))
            to = np.empty((found.count, self._count_))
            session.fourier(str(self._kernel_), self._count_, like, data, to)
        return to
