"""Estimators for any learner of the library, by its name.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

from mercer import _compat, _core, _data
from mercer._kernel import KernelLike, value_text
from mercer._transformers import NamesOutMixin
from mercer._tasks import ClassifierBase, RegressorBase, VerifyMixin
from mercer._base import KernelEstimator


def learner_task(name: str) -> str:
    """What a learner of the library predicts."""
    for learner in _core.learners():
        if learner["name"] == name:
            return str(learner["task"])
    raise ValueError(f"There is no learner {name!r}; there are "
                     + ", ".join(sorted(x["name"] for x in _core.learners())))


class GenericMixin:
    """The learner and its options come from parameters."""

    _task_word = ""

    @property
    def _learner(self: Any) -> str:
        return str(self.learner)

    def _more_options(self: Any) -> dict[str, str]:
        found = {name.replace("_", "-"): value_text(value) for name, value in (self.options or {}).items()}
        task = learner_task(self.learner)
        if self._task_word.rstrip("y") not in task and not task.startswith(self._task_word[:7]):
            raise ValueError(f"The learner {self.learner!r} is for {task}")
        if " or " in task:
            found.setdefault("task", self._task_word)
        return found


_PARAMETERS = """
    Parameters
    ----------
    learner : str, default={learner!r}
        A learner of the library (`mercer.learners`).
    kernel : str, Kernel, callable or None, default="rbf"
        As of `SVC`.
    options : dict, default=None
        Options of the learner, with the library's names and defaults: ``{{"C": 10}}``.
    degree, gamma, coef0
        Parameters of scikit-learn's words for kernels, as of `SVC`.
    class_weight : dict or "balanced", default=None
        Weights of classes (classifier).
    verbose : bool, default=False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Seed of everything that is random; None is a fixed one.
    n_jobs : int or None, default=None
        Threads; None and -1 are all cores.
    on_interrupt : {{"raise", "keep"}}, default="raise"
        What Ctrl-C does.
    roles : dict or None, default=None
        Roles of columns of a DataFrame, as of `SVC`.
    missing : str or None, default=None
        What becomes of missing values, as of `SVC`.
"""


class KernelClassifier(GenericMixin, ClassifierBase):  # type: ignore[misc]
    __doc__ = "Any learner for classes, by its name.\n" + _PARAMETERS.format(learner="svm") + """
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelClassifier("fisher", kernel="rbf(gamma=0.1)").fit(X, y).score(X, y) > 0.9
    True
    """

    _task_word = "classify"

    def __init__(self, learner: str = "svm", *, kernel: KernelLike = "rbf",
                 options: dict[str, Any] | None = None, degree: int = 3, gamma: Any = "scale",
                 coef0: float = 0.0, class_weight: Any = None, verbose: Any = False,
                 random_state: Any = None, n_jobs: int | None = None,
                 on_interrupt: str = "raise", roles: dict[str, str] | None = None,
                 missing: str | None = None) -> None:
        self.learner = learner
        self.kernel = kernel
        self.options = options
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.on_interrupt = on_interrupt
        self.roles = roles
        self.missing = missing

    def _has_probability(self) -> bool:
        asked = (self.options or {}).get("probability") in (True, "yes")
        if not asked and self.learner not in ("logistic", "gp"):
            raise AttributeError('predict_proba needs options={"probability": True}, or the learner '
                                 '"logistic" or "gp"')
        return True

    @_compat.available(_has_probability)
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, where the learner has them."""
        return self._proba(self._ask_X(X))


class KernelRegressor(GenericMixin, RegressorBase):  # type: ignore[misc]
    __doc__ = "Any learner for numbers, by its name.\n" + _PARAMETERS.format(learner="svr") + """
    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRegressor
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelRegressor("ridge", options={"lambda": 0.01}).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.99
    True
    """

    _task_word = "regress"

    def __init__(self, learner: str = "svr", *, kernel: KernelLike = "rbf",
                 options: dict[str, Any] | None = None, degree: int = 3, gamma: Any = "scale",
                 coef0: float = 0.0, verbose: Any = False, random_state: Any = None,
                 n_jobs: int | None = None, on_interrupt: str = "raise",
                 roles: dict[str, str] | None = None, missing: str | None = None) -> None:
        self.learner = learner
        self.kernel = kernel
        self.options = options
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.on_interrupt = on_interrupt
        self.roles = roles
        self.missing = missing


class KernelTransformer(GenericMixin, NamesOutMixin, _compat.TransformerMixin, VerifyMixin,  # type: ignore[misc]
                        KernelEstimator):
    __doc__ = "Any learner of coordinates, by its name.\n" + _PARAMETERS.format(learner="pca") + """
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelTransformer
    >>> X, _ = load_iris(return_X_y=True)
    >>> KernelTransformer("pca", options={"components": 3}).fit_transform(X).shape
    (150, 3)
    """

    _task_word = "transform"

    def __init__(self, learner: str = "pca", *, kernel: KernelLike = "rbf",
                 options: dict[str, Any] | None = None, degree: int = 3, gamma: Any = "scale",
                 coef0: float = 0.0, verbose: Any = False, random_state: Any = None,
                 n_jobs: int | None = None, on_interrupt: str = "raise",
                 roles: dict[str, str] | None = None, missing: str | None = None) -> None:
        self.learner = learner
        self.kernel = kernel
        self.options = options
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.on_interrupt = on_interrupt
        self.roles = roles
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the coordinates.

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
        self._train(X)
        return self

    def transform(self, X: Any) -> Any:
        """Coordinates of the objects."""
        return self._transformed(self._ask_X(X))
