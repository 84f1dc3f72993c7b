"""Gaussian processes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._base import open_session
from mercer._tasks import ClassifierBase, ProbabilityMixin, RegressorBase


class GaussianMixin:
    """What both Gaussian processes know."""

    def _more_options(self: Any) -> dict[str, str]:
        return {"optimize": "no" if self.optimizer is None else "yes",
                "restarts": str(self.n_restarts_optimizer)}

    @property
    def log_marginal_likelihood_value_(self: Any) -> float:
        """Logarithm of the marginal likelihood of the training targets."""
        return -float(self._model.report["objective"])


class GaussianRegressor(GaussianMixin, RegressorBase):
    """GaussianProcessRegressor."""

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Means of the process at X, with standard deviations or covariances.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.
        return_std : bool, default=False
            Also the standard deviation of each.
        return_cov : bool, default=False
            Not available: the library has standard deviations and draws (`sample_y`).

        Returns
        -------
        ndarray of shape (n_samples,), or tuple of two
            Means, and standard deviations where they are wanted.
        """
        if return_cov:
            raise NotImplementedError("return_cov is not available; use return_std or sample_y")
        if not return_std:
            return super().predict(X)
        X = self._ask_X(X)
        with self._open_session() as session:
            found = self._objects(X)
            mean, std = np.empty(found.count), np.empty(found.count)
            session.predict_std(self._model, session.data(found.count, found.fields), mean, std)
        return mean, std

    def predict_interval(self, X: Any, level: float = 0.95) -> Any:
        """Intervals that hold a new measurement with the probability `level`.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.
        level : float, default=0.95
            The probability.

        Returns
        -------
        tuple of two ndarrays
            Lower and upper ends.
        """
        X = self._ask_X(X)
        with self._open_session() as session:
            found = self._objects(X)
            low, high = np.empty(found.count), np.empty(found.count)
            session.predict_interval(level, self._model, session.data(found.count, found.fields),
                                     None, low, high)
        return low, high

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Any:
        """Functions drawn from the process after training.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Where.
        n_samples : int, default=1
            How many functions.
        random_state : int or RandomState, default=0
            The seed.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples)
            One column for each function.
        """
        X = self._ask_X(X)
        with open_session(random_state=random_state, n_jobs=self._value("n_jobs")) as session:
            found = self._objects(X)
            to = np.empty((found.count, n_samples))
            session.draws(n_samples, self._model, session.data(found.count, found.fields), to)
        return to


class GaussianClassifier(GaussianMixin, ProbabilityMixin, ClassifierBase):
    """GaussianProcessClassifier."""

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)
