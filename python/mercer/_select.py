"""Cross-validation and tuning by the library, and model files.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mercer import _core, _data
from mercer._kernel import WORDS, Kernel, value_text
from mercer._table import Table
from mercer._tasks import ClassifierBase, check_pair

NAMES = {"svm": "SVC", "nu-svm": "NuSVC", "svr": "SVR", "nu-svr": "NuSVR", "one-class": "OneClassSVM",
         "pca": "KernelPCA", "kmeans": "KernelKMeans", "logistic": "KernelLogisticRegression",
         "perceptron": "KernelPerceptron", "pegasos": "Pegasos", "fisher": "KernelFisher"}
EITHER = {"ridge": ("RidgeClassifier", "KernelRidge"),
          "gp": ("GaussianProcessClassifier", "GaussianProcessRegressor"),
          "knn": ("KNeighborsClassifier", "KNeighborsRegressor")}


def estimator_for(learner: str, classes: bool) -> Any:
    """An estimator with the defaults for a learner of the library."""
    import mercer
    from mercer._generic import KernelClassifier, KernelRegressor
    if learner in NAMES:
        return getattr(mercer, NAMES[learner])()
    if learner in EITHER:
        return getattr(mercer, EITHER[learner][0 if classes else 1])()
    if learner == "erm":
        return mercer.ERM(loss="logistic" if classes else "squared")
    return KernelClassifier(learner) if classes else KernelRegressor(learner)


def copy_of(estimator: Any, y: Any) -> Any:
    """A fresh estimator with the same parameters, or one for the name of a learner."""
    if isinstance(estimator, str):
        kind = np.asarray(y).dtype.kind if y is not None else "f"
        return estimator_for(estimator, kind in "OUSbiu")
    return type(estimator)(**estimator.get_params(deep=False))


class Prepared:
    """An estimator with checked data."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self.estimator = copy_of(estimator, y)
        e = self.estimator
        e._rows_ = None
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if isinstance(e, ClassifierBase) and getattr(e, "_estimator_type", "classifier") == "classifier":
            self.X, y = check_pair(e, X, y)
            codes = e._encode(y)
            e._present_ = np.arange(len(e.classes_))
            self.targets: Any = e._class_targets(codes)
            self.weights = e._weights(y, weights)
            self.codes: Any = codes
        else:
            self.X, y = check_pair(e, X, y, y_numeric=True)
            e._flat_ = True
            self.targets, self.weights, self.codes = np.asarray(y, dtype=np.float64), weights, None

    def kernels(self, kernel: Any) -> tuple[str, ...]:
        if kernel is None:
            kernel = self.estimator._resolve_kernel(self.X)
        if isinstance(kernel, (str, Kernel)):
            kernel = [kernel]
        return () if kernel is None else tuple(str(k) for k in kernel)

    def data(self, session: _core.Session) -> _core.Data:
        found = _data.objects(self.X, columns=getattr(self.estimator, "feature_names_in_", None))
        return session.data(found.count, found.fields, self.targets, self.weights)


def split_arguments(cv: Any, repeats: int, groups: Any, shuffle_classes: bool) -> dict[str, Any]:
    """The library's words for a way to split."""
    found: dict[str, Any] = {"repeats": repeats, "plain": not shuffle_classes}
    if isinstance(cv, str):
        found["kind"] = cv
    else:
        found["folds"] = int(cv)
    if groups is not None:
        found["group"] = np.ascontiguousarray(np.unique(groups, return_inverse=True)[1], dtype=np.int64)
    return found


def cv(estimator: Any, X: Any, y: Any, *, cv: Any = 5, metrics: Any = None, repeats: int = 1,
       groups: Any = None, stratify: bool = True, sample_weight: Any = None) -> dict[str, Any]:
    """Cross-validate an estimator with the library, which shares kernel values between the folds.

    Parameters
    ----------
    estimator : estimator or str
        An estimator of this package, or the name of a learner.
    X, y
        Objects and their targets.
    cv : int, "ordered" or "leave-one-out", default=5
        How many folds; or tests on what comes later; or each object alone.
    metrics : list of str, default=None
        Names of metrics; None: all that apply.
    repeats : int, default=1
        How often, with other folds.
    groups : array-like, default=None
        Objects with equal values stay together.
    stratify : bool, default=True
        Whether folds keep the proportions of the classes.
    sample_weight : array-like, default=None
        Weights of the objects.

    Returns
    -------
    dict
        For each metric an array with one score for each test; "predictions": for each object what was
        predicted when it was tested; "fits": trainings; "seconds".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, cv
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = cv(SVC(C=10), X, y)
    >>> scores["accuracy"].shape, bool(scores["accuracy"].mean() > 0.9)
    ((5,), True)
    """
    made = Prepared(estimator, X, y, sample_weight)
    e = made.estimator
    with e._open_session() as session:
        report = session.cv(e._learner, e._option_texts(made.X), made.kernels(None), made.data(session),
                            metric=None if metrics is None else ",".join(metrics),
                            **split_arguments(cv, repeats, groups, stratify))
    found: dict[str, Any] = {name: np.array(values) for name, values in report["metrics"].items()}
    values = np.array(report["values"])
    if made.codes is not None:
        order = e._code_order(made.codes)
        values = np.array([e.classes_[order[int(v)]] if v == v else None for v in values])
    return {**found, "predictions": values, "fits": report["fits"], "seconds": report["seconds"]}


def range_text(value: Any) -> str:
    """A range as the library reads it: text as it is, (first, last, count) with equal ratios."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and len(value) == 3:
        return f"{value_text(value[0])}:{value_text(value[1])}:log{int(value[2])}"
    raise ValueError(f"a range is a text such as '0.1:100:log4' or (first, last, count), not {value!r}")


def gamma_range(e: Any, gamma: Any, X: Any) -> str:
    """The kernel of an estimator's word, with a range of gamma."""
    word = e._value("kernel")
    if isinstance(X, Table) or not isinstance(word, str) or "{gamma}" not in WORDS.get(word, ""):
        raise ValueError("gamma can be searched where X is a matrix and the kernel is a word such as 'rbf'; else "
                         "write the range into the kernel: kernel='rbf(gamma=1e-3:10:log5)'")
    return str(WORDS[word].format(gamma=range_text(gamma), degree=value_text(e.degree),
                                  coef0=value_text(float(e.coef0))))


def tune(estimator: Any, X: Any, y: Any, *, kernel: Any = None, cv: Any = 5, metric: str | None = None,
         adaptive: bool = False, scales: bool | None = None, repeats: int = 1, groups: Any = None,
         stratify: bool = True, sample_weight: Any = None, **ranges: Any) -> Any:
    """Search kernels and options by cross-validation, and train with the best.

    The search runs in the library: kernel values are shared between points and folds, and each
    solution is the start of the next.

    Parameters
    ----------
    estimator : estimator or str
        An estimator of this package, or the name of a learner.
    X, y
        Objects and their targets.
    kernel : str, Kernel or list of them, default=None
        Expressions to choose from; a number in one may be a range, ``"rbf(gamma=1e-3:10:log5)"``.
        None: kernels that suit the data.
    cv : int, "ordered" or "leave-one-out", default=5
        The splits, as of `cv`.
    metric : str, default=None
        What is best; None: accuracy, or mean squared error.
    adaptive : bool, default=False
        From coarse to fine around the best, and not every point.
    scales : bool, default=None
        Whether to try scaled columns as well; None: where X is a table and no kernel is given.
    repeats, groups, stratify, sample_weight
        As of `cv`.
    **ranges
        Parameters of the estimator, and gamma: text such as ``"0.1:100:log4"``, or (first, last, count).

    Returns
    -------
    estimator
        Fitted with the best point, and with `best_params_`, `best_score_`, `best_index_` and
        `cv_results_`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, tune
    >>> X, y = load_iris(return_X_y=True)
    >>> best = tune(SVC(), X, y, kernel="rbf(gamma=0.01:1:log3)", C=(0.1, 100, 4))
    >>> best.best_score_ > 0.9, len(best.cv_results_["params"])
    (True, 12)
    """
    made = Prepared(estimator, X, y, sample_weight)
    e = made.estimator
    if "gamma" in ranges and kernel is None:
        kernel = gamma_range(e, ranges.pop("gamma"), made.X)
    unknown = [name for name in ranges if name not in e._options]
    if unknown:
        raise ValueError(f"{type(e).__name__} has no option {unknown[0]!r} to search; it has "
                         + ", ".join(sorted(e._options)))
    names, values = e._option_texts()
    searched = {e._options[name]: range_text(value) for name, value in ranges.items()}
    fixed = {n: v for n, v in zip(names, values) if n not in searched}
    if "C" not in searched and "C" in fixed and "C" in e._options and e.C == 1.0:
        del fixed["C"]  # its default is no choice: the library searches it
    with e._open_session() as session:
        model, report = session.tune(
            e._learner, (tuple(fixed), tuple(fixed.values())),
            made.kernels(kernel) if kernel is not None else (), made.data(session),
            ranges=(tuple(searched), tuple(searched.values())), metric=metric, adaptive=adaptive,
            scales=isinstance(made.X, Table) and kernel is None if scales is None else scales, **split_arguments(cv, repeats, groups, stratify))
    return tuned(made, model, report)


def tuned(made: Prepared, model: _core.Model, report: dict[str, Any]) -> Any:
    """The estimator with the results of a search."""
    e = made.estimator
    points = [{"kernel": p["kernel"], **options_of(p["options"])} for p in report["points"]]
    score = np.array([np.nan if p["score"] is None else p["score"] for p in report["points"]])
    order = np.where(np.isnan(score), -np.inf, score if report["larger"] else -score)
    rank = np.empty(len(score), dtype=np.int32)
    rank[np.argsort(-order, kind="stable")] = np.arange(1, len(score) + 1)
    e.cv_results_ = {"params": points, "mean_test_score": score,
                     "std_test_score": np.array([np.nan if p["std"] is None else p["std"]
                                                 for p in report["points"]]),
                     "rank_test_score": rank, "state": [p["state"] for p in report["points"]]}
    e.best_index_ = report["best"]
    e.best_params_ = points[report["best"]]
    e.best_score_ = float(score[report["best"]])
    e.metric_ = report["metric"]
    e.n_fits_ = report["fits"]
    attach(e, model, made.X, made.codes)
    e.kernel = model.report["kernel"]
    back = {option: name for name, option in e._options.items()}
    for option, value in options_of(report["points"][report["best"]]["options"]).items():
        if option in back:
            setattr(e, back[option], value)
    return e


def options_of(text: str | None) -> dict[str, Any]:
    """Options that were printed as "C=10 tol=1e-06"."""
    found: dict[str, Any] = {}
    for part in (text or "").split():
        name, _, value = part.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = {"yes": True, "no": False}.get(value, value.strip('"'))
    return found


def attach(e: Any, model: _core.Model, X: Any, codes: Any) -> None:
    """Makes a model the fitted one of an estimator."""
    e._model, e._kernel_ = model, Kernel(model.report["kernel"])
    e._rows_ = e._reference_ = None
    if not hasattr(e, "_structured_"):
        e._structured_ = False
    e._set_results()
    e._codes_ = codes
    if X is not None and hasattr(e, "_after_fit"):
        e._after_fit(X) if codes is None else e._after_fit(X, codes)


def load(path: Any) -> Any:
    """Read a model of Mercer or LIBSVM from a file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        A fitted estimator of the learner's class. `support_` is known where the file has it; attributes
        that need the training data (`support_vectors_`) are not there.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, load
    >>> X, y = load_iris(return_X_y=True)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.mercer")
    >>> SVC().fit(X, y).save(path)
    >>> load(path).score(X, y) > 0.9
    True
    """
    model = _core.Model.load(os.fspath(path))
    report = model.report
    names = model.class_names()
    e = estimator_for(report["learner"], bool(names))
    e.kernel = report["kernel"]
    back = {option: name for name, option in e._options.items()}
    for option, value in options_of(report["options"]).items():
        if option in back:
            setattr(e, back[option], value)
    if names:
        e.classes_ = class_values(names)
        e._present_ = np.arange(len(names))
        e._names_ = tuple(names)
    e._flat_ = model.outputs == 1
    e._codes_ = None
    attach(e, model, None, None)
    columns(e, model)
    return e


def columns(e: Any, model: _core.Model) -> None:
    """What is known of the columns of a model's training data."""
    found = [(name, role) for name, role in model.columns() if role not in ("target", "weight", "group")]
    flags = {f"{name} is missing" for name, _ in found}
    found = [(name, role) for name, role in found if name not in flags]
    if any(role != "number" for _, role in found):
        e.roles_, e._structured_ = dict(found), True
    if found:
        e.feature_names_in_ = np.array([name for name, _ in found], dtype=object)
    count = len(found) or int(model.report["features"] or 0)
    if count:
        e.n_features_in_ = count


def class_values(names: list[str]) -> Any:
    """Class names as whole numbers, numbers or words."""
    try:
        values = np.array([float(n) for n in names])
    except ValueError:
        return np.array(names)
    whole = values.astype(np.int64)
    return whole if np.all(whole == values) else values


__all__ = ["cv", "load", "tune"]
