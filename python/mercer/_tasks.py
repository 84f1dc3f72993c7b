"""Classification, regression, detection, clustering and coordinates: what `fit` and `predict` mean.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _compat, _data
from mercer._base import KernelEstimator, given


def check_pair(estimator: KernelEstimator, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
    """X and y of a call of fit."""
    if y is None:
        raise ValueError(f"requires y to be passed, but the target y is None: "
                         f"{type(estimator).__name__}.fit")
    X = estimator._as_table(X, True)
    if _data.is_structured(X):
        X = estimator._check_X(X, reset=True)
        y = np.asarray(y) if checks.get("multi_output") else _compat.column_or_1d(y, warn=True)
        if len(y) != _data.count_of(X):
            raise ValueError("Found input variables with inconsistent numbers of samples: "
                             f"{[_data.count_of(X), len(y)]}")
        return X, y
    estimator._structured_ = False
    X, y = _compat.validate_data(estimator, X, y, reset=True, accept_sparse="csr",
                                 dtype=[np.float64, np.float32], accept_large_sparse=False, **checks)
    estimator._check_square(X)
    return X, y


class VerifyMixin:
    """Certificates that can be recomputed."""

    def verify(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> dict[str, Any]:
        """Recompute the certificate from the training data alone.

        Parameters
        ----------
        X, y, sample_weight
            The training data, as they were given to `fit`.

        Returns
        -------
        dict
            "agrees": whether all numbers agree, None where rounding hides whether the certificate
            holds; "verdict": the same as "agrees", "disagrees" or "undecided"; "fault": the first
            that does not agree, or what is undecided; and for "value", "primal", "dual", "gap" and
            "objective" what was printed and what was recomputed.
        """
        X = self._ask_X(X)
        weights = self._weights(y, _compat.sample_weights(sample_weight, X)
                                if not _data.is_structured(X) else sample_weight)
        targets = self._targets(y)
        X, targets, weights = self._selected(X, targets, weights, self._rows_)
        with self._open_session() as session:
            found = self._fields(X, self._kernel_)
            data = session.data(found.count, found.fields, targets, weights)
            return session.verify(self._model, data)  # type: ignore[no-any-return]

    def _weights(self: Any, y: Any, sample_weight: Any) -> Any:
        return sample_weight

    def _targets(self: Any, y: Any) -> Any:
        return None if y is None else np.ascontiguousarray(y, dtype=np.float64)


# ---- classes -------------------------------------------------------------------------------------


class ClassifierBase(_compat.ClassifierMixin, VerifyMixin, KernelEstimator):  # type: ignore[misc]
    """Predicts classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on X and y.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Training objects: a matrix, a table, strings, graphs, or a dict of fields.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = check_pair(self, X, y)
        return self._fit_classes(X, y, sample_weight)

    def _fit_classes(self, X: Any, y: Any, sample_weight: Any) -> Any:
        weights = self._sample_weights(sample_weight, X)
        codes = self._encode(y)
        weights = self._weights(y, weights)
        kept = codes if weights is None else codes[weights > 0]
        self._present_ = np.unique(kept)
        if len(self._present_) < 2:
            if weights is not None and not np.any(weights > 0):
                raise ValueError("Invalid input - all samples have zero or negative weights.")
            raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
        self._train(X, self._class_targets(codes), weights)
        self._codes_: Any = None
        self._after_fit(X, codes)
        return self

    def _class_targets(self, codes: Any) -> Any:
        """Classes by number with their names, which the model keeps."""
        names = tuple(str(c) for c in self.classes_[self._present_])
        if len(set(names)) < len(names) or "" in names:
            names = tuple(str(i) for i in range(len(names)))
        self._names_ = names
        return np.searchsorted(self._present_, codes).astype(np.int64), names

    def _code_order(self, codes: Any) -> Any:
        """The order of the library's classes for these objects: ascending for numbers, of first
        appearance for words."""
        if self.classes_.dtype.kind in "iuf":
            return np.arange(len(self.classes_))
        return np.array(sorted(range(len(self.classes_)), key=lambda c: int(np.argmax(codes == c))))

    def _model_classes(self) -> Any:
        """For each class of the model, in its order (that of the first appearance for words), its place
        in classes_ among those that were trained on."""
        found = self._model.class_names()
        if set(found) <= set(self._names_):
            return np.array([self._names_.index(name) for name in found])
        values = [float(name) for name in self._names_]  # the library writes numbers its own way
        return np.array([values.index(float(name)) for name in found])

    def _after_fit(self, X: Any, codes: Any) -> None:
        pass

    def _sample_weights(self, sample_weight: Any, X: Any) -> Any:
        if sample_weight is None or not _data.is_structured(X):
            return _compat.sample_weights(sample_weight, X)
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (_data.count_of(X),):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(_data.count_of(X),)}!")
        return weights

    def _encode(self, y: Any) -> Any:
        """Classes as numbers; sets classes_."""
        _compat.check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("The number of classes has to be greater than one; got "
                             f"{len(self.classes_)} class")
        return codes

    def _weights(self, y: Any, sample_weight: Any) -> Any:
        """Weights of objects times weights of their classes."""
        class_weight = self._value("class_weight")
        if class_weight is None:
            return sample_weight
        codes = np.searchsorted(self.classes_, y)
        if isinstance(class_weight, str) and class_weight != "balanced":
            raise ValueError("class_weight must be dict, 'balanced', or None, "
                             f"got: {class_weight!r}")
        factor = _compat.compute_class_weight(class_weight, classes=self.classes_, y=y)
        self.class_weight_ = factor
        return factor[codes] if sample_weight is None else sample_weight * factor[codes]

    def _targets(self, y: Any) -> Any:
        return self._class_targets(np.searchsorted(self.classes_, y))

    def predict(self, X: Any) -> Any:
        """The class of each object.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Their classes.
        """
        value, _, _ = self._predicted(self._ask_X(X), value=True)
        return self.classes_[self._present_[self._model_classes()[value.astype(np.intp)]]]

    def decision_function(self, X: Any) -> Any:
        """Decision values: how much speaks for a class.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Of two classes one value, positive for ``classes_[1]``; of more one for each class.
        """
        return self._decide(self._scores(self._ask_X(X)))

    def _scores(self, X: Any) -> Any:
        """Decision values in the order of classes_: of two classes positive for the second, of pairs
        positive for the first of them."""
        scores = self._predicted(X, score=True)[1]
        places, signs = self._outputs()
        return scores[:, places] * signs

    def _outputs(self) -> tuple[Any, Any]:
        """Which output of the model each decision value is, and its sign."""
        k, outputs = len(self._present_), self._model.outputs
        order = self._model_classes()
        if outputs == 1:
            positive = self._model.sides(0)[0]
            return np.array([0]), np.array([-1.0 if order[1 if positive < 0 else positive] == 0 else 1.0])
        if not self._pairwise_outputs:
            return np.argsort(order) if outputs == k else np.arange(outputs), np.ones(outputs)
        place = {}
        for o in range(outputs):
            first, second = (int(order[c]) for c in self._model.sides(o))
            place[min(first, second), max(first, second)] = (o, 1.0 if first < second else -1.0)
        found = [place[i, j] for i in range(k) for j in range(i + 1, k)]
        return np.array([o for o, _ in found]), np.array([sign for _, sign in found])

    @property
    def _pairwise_outputs(self) -> bool:
        """Whether the outputs are those of pairs of classes."""
        k = len(self._present_)
        return k > 2 and self._model.outputs == k * (k - 1) // 2 and self._model.sides(0)[1] >= 0

    def _decide(self, scores: Any) -> Any:
        if len(self._present_) == 2 and scores.shape[1] == 1:
            return scores[:, 0]
        if len(self._present_) == 2 and scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        if self._pairwise_outputs:
            return one_vs_rest(scores, len(self._present_))
        return scores

    def _proba(self, X: Any) -> Any:
        proba = self._predicted(X, proba=True)[2][:, np.argsort(self._model_classes())]
        if len(self._present_) == len(self.classes_):
            return proba
        full = np.zeros((len(proba), len(self.classes_)))
        full[:, self._present_] = proba
        return full


def one_vs_rest(pairs: Any, classes: int) -> Any:
    """Votes of pairs of classes, with the sum of their confidences, brought below 1/3, as a tie-breaker:
    what scikit-learn does for decision_function_shape="ovr"."""
    votes = np.zeros((len(pairs), classes))
    sums = np.zeros((len(pairs), classes))
    output = 0
    for i in range(classes):
        for j in range(i + 1, classes):
            value = pairs[:, output]
            sums[:, i] += value
            sums[:, j] -= value
            votes[value >= 0, i] += 1
            votes[value < 0, j] += 1
            output += 1
    return votes + sums / (3 * (np.abs(sums) + 1))


class ProbabilityMixin:
    """Learners that always have probabilities."""

    def predict_proba(self: Any, X: Any) -> Any:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of `classes_`.
        """
        return self._proba(self._ask_X(X))

    def predict_log_proba(self: Any, X: Any) -> Any:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))


# ---- support vectors -----------------------------------------------------------------------------


class SupportMixin:
    """Attributes of support vector machines, with the shapes that scikit-learn gives them."""

    _in_order = True

    def _numbers(self: Any) -> tuple[Any, Any]:
        """Rows of the model's support vectors in X, and their order here: by class and row."""
        coef = np.empty(self._model.support)
        number = np.empty(self._model.support, dtype=np.int64)
        self._model.coefficients(0, coef, number)
        if self._rows_ is not None:
            number = self._rows_[number]
        return number, np.lexsort((number, self._support_codes(number)))

    def _support_codes(self: Any, number: Any) -> Any:
        return np.zeros(len(number), dtype=np.int64)

    def _set_support(self: Any, X: Any) -> None:
        number, order = self._numbers()
        number = number[order]
        self.support_ = number.astype(np.int32)
        if self._is_precomputed or self._reference_ is not None:
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = _data.rows_of(given(X), self.support_)
        self.fit_status_ = 0 if self.stop_ in ("optimal", "local") else 1
        if not _data.is_structured(X):
            self.shape_fit_ = X.shape

    def _outputs(self: Any) -> tuple[Any, Any]:
        return np.arange(self._model.outputs), np.ones(self._model.outputs)

    def _output(self: Any, o: int) -> tuple[Any, float]:
        """Coefficients of a decision value in the order of support_, and its offset."""
        places, signs = self._outputs()
        coef = np.empty(self._model.support)
        number = np.empty(self._model.support, dtype=np.int64)
        offset = self._model.coefficients(int(places[o]), coef, number)
        return signs[o] * coef[self._numbers()[1]], float(signs[o]) * offset

    @property
    def dual_coef_(self: Any) -> Any:
        """Coefficients of the support vectors."""
        _compat.check_is_fitted(self)
        return self._shaped(self._output(0)[0][np.newaxis, :])

    def _shaped(self: Any, coef: Any) -> Any:
        """Sparse where the support vectors are, as scikit-learn has it."""
        if not _data.is_sparse(self.support_vectors_):
            return coef
        from scipy.sparse import csr_matrix
        return csr_matrix(coef)

    @property
    def intercept_(self: Any) -> Any:
        """Offsets of the decision values."""
        _compat.check_is_fitted(self)
        return np.array([self._output(0)[1]])

    @property
    def coef_(self: Any) -> Any:
        """Weights of the columns; of a linear kernel only."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError("coef_ is only available when using a linear kernel")
        _compat.check_is_fitted(self)
        made = self._column_weights()
        made.flags.writeable = False
        return made

    def _column_weights(self: Any) -> Any:
        made = self.dual_coef_ @ self.support_vectors_
        return made.toarray() if _data.is_sparse(made) else np.asarray(made)


class SupportClassifier(SupportMixin, ClassifierBase):
    """SVC and NuSVC."""

    def _outputs(self) -> tuple[Any, Any]:
        return ClassifierBase._outputs(self)

    def _after_fit(self, X: Any, codes: Any) -> None:
        self._codes_ = codes
        self._set_support(X)
        counts = np.bincount(self._support_codes(self._numbers()[0]), minlength=len(self.classes_))
        self.n_support_ = counts.astype(np.int32)
        pairs = len(self.classes_) * (len(self.classes_) - 1) // 2
        self.n_iter_ = np.full(pairs, self.n_iter_, dtype=np.int32)

    def _support_codes(self, number: Any) -> Any:
        return self._codes_[number]

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors, of shape (n_classes - 1, n_SV), as LIBSVM has them."""
        _compat.check_is_fitted(self)
        return self._shaped(self._dual())

    def _dual(self) -> Any:
        k = len(self._present_)
        if k == 2:
            return self._output(0)[0][np.newaxis, :]
        if not self._pairwise_outputs:
            return np.array([self._output(o)[0] for o in range(self._model.outputs)])
        coef = np.zeros((k - 1, len(self.support_)))
        number, order = self._numbers()
        codes = np.searchsorted(self._present_, self._codes_[number[order]])
        for o, (i, j) in enumerate((i, j) for i in range(k) for j in range(i + 1, k)):
            row = self._output(o)[0]
            coef[j - 1, codes == i] = row[codes == i]
            coef[i, codes == j] = row[codes == j]
        return coef

    @property
    def intercept_(self) -> Any:
        """Offsets of the decision values, one for each pair of classes."""
        _compat.check_is_fitted(self)
        if len(self._present_) == 2:
            return np.array([self._output(0)[1]])
        return np.array([self._output(o)[1] for o in range(self._model.outputs)])

    def _column_weights(self) -> Any:
        if len(self._present_) == 2 or not self._pairwise_outputs:
            return super()._column_weights()
        rows = []
        for o in range(self._model.outputs):
            made = self._output(o)[0][np.newaxis, :] @ self.support_vectors_
            rows.append(np.asarray(made).ravel())
        return np.array(rows)

    def _decide(self, scores: Any) -> Any:
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError("decision_function_shape must be either 'ovr' or 'ovo', "
                             f"got {self.decision_function_shape}.")
        if self._pairwise_outputs and self.decision_function_shape == "ovo":
            return scores
        return super()._decide(scores)

    def predict(self, X: Any) -> Any:
        """The class of each object.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Their classes.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if (self.break_ties and len(self.classes_) > 2
                and self.decision_function_shape == "ovr"):
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return super().predict(X)

    def _has_probability(self) -> bool:
        if not self.probability:
            raise AttributeError("predict_proba is not available when probability=False")
        return True

    @_compat.available(_has_probability)
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, calibrated on held-out decision values.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column for each of `classes_`.
        """
        X = self._ask_X(X)
        if not self._model.has_probability:
            raise _compat.NotFittedError("predict_proba is not available when fitted with probability=False")
        return self._proba(X)

    @_compat.available(_has_probability)
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))


class NuClassifier(SupportClassifier):
    """NuSVC."""

    _xfail = {"check_class_weight_classifiers": "weights as unequal as these leave no feasible nu of 0.5"}


# ---- numbers -------------------------------------------------------------------------------------


class RegressorBase(_compat.RegressorMixin, VerifyMixin, KernelEstimator):  # type: ignore[misc]
    """Predicts numbers."""

    _multi_output = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on X and y.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Training objects: a matrix, a table, strings, graphs, or a dict of fields.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets; several where the learner takes several.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = check_pair(self, X, y, y_numeric=True, multi_output=self._multi_output)
        return self._fit_numbers(X, y, sample_weight)

    def _fit_numbers(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if sample_weight is not None and _data.is_structured(X):
            weights = np.asarray(sample_weight, dtype=np.float64)
        else:
            weights = _compat.sample_weights(sample_weight, X)
        self._flat_ = y.ndim == 1
        self._train(X, self._targets(y), weights)
        self._after_fit(X)
        return self

    def _after_fit(self, X: Any) -> None:
        pass

    def predict(self, X: Any) -> Any:
        """The number for each object.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Objects like those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            The predictions.
        """
        X = self._ask_X(X)
        if self._flat_:
            return self._predicted(X, value=True)[0]
        return self._predicted(X, score=True)[1]


class SupportRegressor(SupportMixin, RegressorBase):
    """SVR and NuSVR."""

    def _after_fit(self, X: Any) -> None:
        self._set_support(X)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)


class RidgeRegressor(RegressorBase):
    """KernelRidge."""

    _gamma_scale = False
    _pairs = True
    _multi_output = True

    def _after_fit(self, X: Any) -> None:
        self.X_fit_ = given(X)

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the training objects."""
        _compat.check_is_fitted(self)
        outputs = self._model.outputs
        count = _data.count_of(self.X_fit_)
        made = np.zeros((count, outputs))
        for o in range(outputs):
            coef = np.empty(self._model.support)
            number = np.empty(self._model.support, dtype=np.int64)
            self._model.coefficients(o, coef, number)
            made[number if self._rows_ is None else self._rows_[number], o] = coef
        return made[:, 0] if self._flat_ else made

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


# ---- detection -----------------------------------------------------------------------------------


class Detector(_compat.OutlierMixin, SupportMixin, VerifyMixin, KernelEstimator):  # type: ignore[misc]
    """OneClassSVM."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find a region that holds most of the objects.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame, list or dict
            Training objects.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the objects.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._check_X(X, reset=True)
        if not _data.is_structured(X):
            self._check_square(X)
            sample_weight = _compat.sample_weights(sample_weight, X)
        self._train(X, None, sample_weight)
        self._set_support(X)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        return self

    @property
    def offset_(self) -> Any:
        """decision_function = score_samples - offset_."""
        return -self.intercept_

    def decision_function(self, X: Any) -> Any:
        """Signed distances to the boundary, positive inside."""
        return self._predicted(self._ask_X(X), score=True)[1][:, 0]

    def score_samples(self, X: Any) -> Any:
        """Decision values without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> Any:
        """1 for objects inside the region, -1 for others."""
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
