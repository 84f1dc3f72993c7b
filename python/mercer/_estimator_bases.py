"""Bases of the estimators that differ in small ways from those of _tasks.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _compat
from mercer._tasks import ClassifierBase, ProbabilityMixin, RegressorBase, check_pair

CLASS_LOSSES = ("hinge", "squared-hinge", "logistic")
NUMBER_LOSSES = ("squared", "epsilon", "absolute", "huber", "quantile")


class LogisticBase(ProbabilityMixin, ClassifierBase):
    """KernelLogisticRegression."""

    def _more_options(self) -> dict[str, str]:
        scale = 1.0 if len(self._present_) == 2 else 0.5
        return {"lambda": repr(scale / float(self.C))}

    def decision_function(self, X: Any) -> Any:
        """Logarithms of the odds: of two classes those of ``classes_[1]``, of more one value for each."""
        return super().decision_function(X)


class OnlineClassifier(ClassifierBase):
    """Learners that see one object at a time."""

    _xfail = {"check_sample_weights_invariance": "what is learnt depends on the order of the objects"}

    def _more_options(self) -> dict[str, str]:
        shuffle = self._value("shuffle")
        return {} if shuffle is None else {"order": "shuffle" if shuffle else "given"}

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Go on with more objects.

        Parameters
        ----------
        X : array-like or sparse matrix
            New objects.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like, default=None
            All classes; the first call must show an object of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        self : object
            The estimator.
        """
        if not hasattr(self, "_model"):
            if classes is not None and len(np.setdiff1d(classes, y)) > 0:
                raise ValueError("the first call of partial_fit must have an object of each class")
            return self.fit(X, y, sample_weight)
        X = self._ask_X(X)
        y = _compat.column_or_1d(y)
        if len(np.setdiff1d(y, self.classes_)) > 0:
            raise ValueError("y has classes that the first call of fit or partial_fit did not have")
        self._train(X, self._targets(y), self._weights(y, _compat.sample_weights(sample_weight, X)),
                    start=self._model, more=True)
        return self


class ShuffledClassifier(OnlineClassifier):
    """Pegasos: where objects are shuffled or drawn anyway, their order in X is of no importance."""

    _xfail = {}

    @property
    def _in_order(self) -> bool:  # type: ignore[override]
        return bool(self.order != "given")


class NeighborsClassifier(ProbabilityMixin, ClassifierBase):
    """KNeighborsClassifier."""

    def decision_function(self, X: Any) -> Any:
        """Shares of the neighbours' votes."""
        found = self.predict_proba(X)
        return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found

    def _proba(self, X: Any) -> Any:
        if self._model.has_probability:
            return super()._proba(X)
        scores = self._scores(X)
        if scores.shape[1] == 1:
            share = (scores[:, 0] + 1) / 2
            scores = np.column_stack([1 - share, share])
        total = scores.sum(axis=1, keepdims=True)
        found = np.divide(scores, total, out=np.full_like(scores, 1 / scores.shape[1]), where=total > 0)
        if len(self._present_) == len(self.classes_):
            return found
        full = np.zeros((len(found), len(self.classes_)))
        full[:, self._present_] = found
        return full


class NeighborsRegressor(RegressorBase):
    """KNeighborsRegressor."""


class AnyLoss(ClassifierBase):
    """ERM: a classifier or a regressor, by its loss."""

    _in_order = True

    @property
    def _classifies(self) -> bool:
        loss = self.loss
        if loss not in CLASS_LOSSES + NUMBER_LOSSES:
            raise ValueError(f"loss must be one of {CLASS_LOSSES + NUMBER_LOSSES}, not {loss!r}")
        return loss in CLASS_LOSSES

    @property
    def _estimator_type(self) -> str:
        return "classifier" if self.loss in CLASS_LOSSES else "regressor"

    def _more_options(self) -> dict[str, str]:
        return {"loss": self.loss, "task": "classify" if self._classifies else "regress"}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on X and y.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Training objects.
        y : array-like of shape (n_samples,)
            Their classes or numbers, as the loss wants.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self._classifies:
            return super().fit(X, y, sample_weight)
        X, y = check_pair(self, X, y, y_numeric=True)
        return RegressorBase._fit_numbers(self, X, y, sample_weight)

    def _after_fit(self, X: Any, codes: Any = None) -> None:
        pass

    def _targets(self, y: Any) -> Any:
        if self._classifies:
            return super()._targets(y)
        return np.ascontiguousarray(y, dtype=np.float64)

    def predict(self, X: Any) -> Any:
        """The class or the number for each object.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predictions.
        """
        if self._classifies:
            return super().predict(X)
        return self._predicted(self._ask_X(X), value=True)[0]

    def _has_classes(self) -> bool:
        if self.loss not in CLASS_LOSSES:
            raise AttributeError("decision_function is there for losses of classes only")
        return True

    @_compat.available(_has_classes)
    def decision_function(self, X: Any) -> Any:
        """Decision values, where the loss is one of classes."""
        return ClassifierBase.decision_function(self, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or the coefficient of determination.

        Parameters
        ----------
        X, y
            Objects and their targets.
        sample_weight : array-like, default=None
            Weights.

        Returns
        -------
        float
            The score.
        """
        mixin = _compat.ClassifierMixin if self._classifies else _compat.RegressorMixin
        return float(mixin.score(self, X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self._estimator_type
        return tags
