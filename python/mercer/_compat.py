"""What differs between versions of scikit-learn, and what stands in where it is not installed.

Everything of scikit-learn that the package uses is imported here.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable

import numpy as np

try:
    import sklearn
    from sklearn.base import (BaseEstimator, ClassifierMixin, ClusterMixin, OutlierMixin,
                              RegressorMixin, TransformerMixin)
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils import check_array, check_random_state, compute_class_weight
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

    HAVE_SKLEARN = True
    VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
except ImportError:  # the plain interface: the same classes, without scikit-learn's services
    HAVE_SKLEARN = False
    VERSION = (0, 0)

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator is used before it is fitted."""

    class ConvergenceWarning(UserWarning):  # type: ignore[no-redef]
        """Training ended before the optimum."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name, as scikit-learn's estimators have them."""

        @classmethod
        def _parameter_names(cls) -> list[str]:
            return [p for p in inspect.signature(cls.__init__).parameters if p != "self"]

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: getattr(self, name) for name in self._parameter_names()}

        def set_params(self, **params: Any) -> Any:
            for name, value in params.items():
                if name not in self._parameter_names():
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self}.")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self).__init__).parameters
            shown = [f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k].default]
            return f"{type(self).__name__}({', '.join(shown)})"

        def __getstate__(self) -> dict[str, Any]:
            return self.__dict__.copy()

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)

    class ClassifierMixin:  # type: ignore[no-redef]
        _estimator_type = "classifier"

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            right = self.predict(X) == np.asarray(y)  # type: ignore[attr-defined]
            return float(np.average(right, weights=sample_weight))

    class RegressorMixin:  # type: ignore[no-redef]
        _estimator_type = "regressor"

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            y = np.asarray(y, dtype=float)
            error = np.average((y - self.predict(X)) ** 2,  # type: ignore[attr-defined]
                               weights=sample_weight)
            mean = np.average(y, weights=sample_weight)
            return float(1 - error / np.average((y - mean) ** 2, weights=sample_weight))

    class OutlierMixin:  # type: ignore[no-redef]
        _estimator_type = "outlier_detector"

        def fit_predict(self, X: Any, y: Any = None) -> Any:
            return self.fit(X).predict(X)  # type: ignore[attr-defined]

    class ClusterMixin:  # type: ignore[no-redef]
        _estimator_type = "clusterer"

        def fit_predict(self, X: Any, y: Any = None) -> Any:
            self.fit(X)  # type: ignore[attr-defined]
            return self.labels_  # type: ignore[attr-defined]

    class TransformerMixin:  # type: ignore[no-redef]
        def fit_transform(self, X: Any, y: Any = None, **more: Any) -> Any:
            return self.fit(X, y, **more).transform(X)  # type: ignore[attr-defined]

    def check_array(X: Any, **more: Any) -> Any:
        if hasattr(X, "tocsr"):
            return X.tocsr()
        X = np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
        return X

    def check_random_state(seed: Any) -> Any:
        return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)

    def compute_class_weight(class_weight: Any, *, classes: Any, y: Any) -> Any:
        if class_weight is None:
            return np.ones(len(classes))
        if isinstance(class_weight, dict):
            return np.array([class_weight.get(c, 1.0) for c in classes])
        count = np.array([np.sum(y == c) for c in classes])
        return len(y) / (len(classes) * count)

    def available_if(check: Callable[[Any], bool]) -> Any:
        def wrap(method: Any) -> Any:
            return method
        return wrap

    def check_classification_targets(y: Any) -> None:
        if np.asarray(y).dtype.kind == "f" and np.any(y != np.floor(y)):
            raise ValueError("Unknown label type: continuous")

    def _check_sample_weight(sample_weight: Any, X: Any, dtype: Any = None) -> Any:
        return np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), (X.shape[0],)).copy()

    def column_or_1d(y: Any, **more: Any) -> Any:
        return np.asarray(y).ravel()

    def check_is_fitted(estimator: Any) -> None:
        if not any(name.endswith("_") and not name.startswith("__") for name in vars(estimator)):
            raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet. Call "
                                 "'fit' with appropriate arguments before using this estimator.")


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True,
                  **checks: Any) -> Any:
    """X, or X and y, checked; sets or tests n_features_in_ and feature_names_in_."""
    if not HAVE_SKLEARN:
        X = check_array(X)
        if reset:
            estimator.n_features_in_ = X.shape[1]
        return X if isinstance(y, str) else (X, y)
    if VERSION >= (1, 6):
        from sklearn.utils.validation import validate_data as validate
        return validate(estimator, X, y, reset=reset, **checks)
    return estimator._validate_data(X, y, reset=reset, **checks)


def available(check: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """A decorator: the method is there where check says so."""
    made: Callable[[Any], Any] = available_if(check)
    return made


def sample_weights(sample_weight: Any, X: Any) -> Any:
    """Weights as an array of doubles, one per row of X; None stays None."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64)


def warn_not_converged(text: str) -> None:
    warnings.warn(text, ConvergenceWarning, stacklevel=4)


__all__ = [
    "BaseEstimator", "ClassifierMixin", "ClusterMixin", "ConvergenceWarning", "HAVE_SKLEARN",
    "NotFittedError", "OutlierMixin", "RegressorMixin", "TransformerMixin", "VERSION",
    "available", "check_array", "check_classification_targets", "check_is_fitted",
    "check_random_state", "column_or_1d", "compute_class_weight", "sample_weights",
    "validate_data", "warn_not_converged",
]
