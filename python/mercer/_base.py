"""What all estimators share: sessions, kernels, data, models.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import Any, Iterator

import numpy as np

from mercer import _compat, _core, _data, _table
from mercer._kernel import WORDS, Kernel, as_blocks, from_sklearn, value_text


def threads_of(n_jobs: int | None) -> int:
    """Threads for scikit-learn's n_jobs; None and -1: all cores."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def seed_of(random_state: Any) -> int:
    """A seed; the same estimator on the same data gives the same model, also without random_state."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return int(random_state) if random_state > 0 else (1 << 32) - int(random_state)
    return int(_compat.check_random_state(random_state).randint(1, 2**31 - 1))


@contextlib.contextmanager
def open_session(*, n_jobs: int | None = None, random_state: Any = None, verbose: Any = 0,
                 keep: bool = False) -> Iterator[_core.Session]:
    """A session; in the main thread it can be interrupted by Ctrl-C."""
    from mercer._progress import Bar
    bar = Bar() if verbose else None
    watch = bar is not None or threading.current_thread() is threading.main_thread()
    try:
        yield _core.Session(threads=threads_of(n_jobs), seed=seed_of(random_state), watch=watch,
                            keep=keep, progress=bar)
    finally:
        if bar is not None:
            bar.close()


ORDERED_BYTES = 1 << 20


class KernelEstimator(_compat.BaseEstimator):  # type: ignore[misc]
    """Base of all estimators; each has a learner of the library."""

    _learner = ""
    _options: dict[str, str] = {}  # parameter -> option of the learner
    _fixed: dict[str, str] = {}  # options with one value
    _gamma_scale = True  # gamma of scikit-learn's words: "scale" and "auto"; else None is 1/features
    _in_order = False  # small data are trained on in an order of their own
    _xfail: dict[str, str] = {}  # scikit-learn's checks that do not hold by design
    _kernel_: Kernel | None
    _rows_: Any
    _reference_: Any
    _model: _core.Model
    roles_: dict[str, str]
    _pairs = False  # a callable kernel takes two objects, not two blocks

    # ---- parameters ------------------------------------------------------------------------------

    def _value(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    def _option_texts(self, X: Any = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The learner's options as names and values."""
        given = {**self._fixed, **self._scale_options(X)}
        for name, option in self._options.items():
            value = self._value(name)
            if value is None or (option in ("max-steps", "time-limit") and value < 0):
                continue
            if option in ("tol", "max-steps", "time-limit", "cache", "rank") and value == 0:
                continue
            given[option] = value_text(value)
        given.update(self._more_options())
        return tuple(given), tuple(given.values())

    def _more_options(self) -> dict[str, str]:
        return {}

    def _open_session(self) -> contextlib.AbstractContextManager[_core.Session]:
        if self._value("on_interrupt", "raise") not in ("raise", "keep"):
            raise ValueError(f"on_interrupt must be 'raise' or 'keep', not {self.on_interrupt!r}")
        return open_session(n_jobs=self._value("n_jobs"), random_state=self._value("random_state"),
                            verbose=self._value("verbose", 0),
                            keep=self._value("on_interrupt", "raise") == "keep")

    # ---- kernels ---------------------------------------------------------------------------------

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self._value("kernel"), str) and self._value("kernel") == "precomputed"

    def _gamma_number(self, X: Any) -> float:
        gamma = self._value("gamma")
        if isinstance(gamma, str) and gamma == "scale":
            variance = _data.variance(X)
            return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
        if (isinstance(gamma, str) and gamma == "auto") or gamma is None:
            return float(1.0 / X.shape[1])
        if isinstance(gamma, str):
            raise ValueError(f"When 'gamma' is a string, it should be either 'scale' or 'auto'. "
                             f"Got '{gamma}' instead.")
        return float(gamma)

    def _word_kernel(self, word: str, X: Any) -> str:
        """The expression of a word of scikit-learn."""
        text = WORDS[word]
        named: dict[str, str] = {}
        if isinstance(X, _table.Table):
            return self._table_kernel(word, X)
        if "{gamma}" in text:
            if _data.is_structured(X):
                raise ValueError(f"kernel={word!r} needs a matrix of numbers. Name a kernel for these objects, such "
                                 "as 'spectrum(p=3)' for strings or 'wl(h=3)' for graphs")
            self._gamma = self._gamma_number(X)
            named["gamma"] = value_text(self._gamma)
        degree, coef0 = self._value("degree", 3), self._value("coef0")
        named["degree"] = value_text(3 if degree is None else degree)
        named["coef0"] = value_text(float(1 if coef0 is None else coef0))
        return text.format(**named)

    def _table_kernel(self, word: str, X: _table.Table) -> str:
        """The same on a table: numbers, dates and categories, which become a 0/1 feature for each value."""
        columns = ", ".join(X.has("number", "date", "category"))
        gamma = self._value("gamma")
        if not columns:
            raise ValueError(f"kernel={word!r} reads numbers, dates and categories, and the table has none; "
                             "name a kernel and its columns, such as spectrum(\"text\", p=4)")
        if "{gamma}" in WORDS[word] and not isinstance(gamma, (int, float)):
            raise ValueError(f"kernel={word!r} on a table with categories or dates needs a number as gamma, "
                             f"not {gamma!r}")
        if word == "rbf" and X.has("category"):
            numbers = ", ".join(X.has("number", "date"))
            return (f"rbf({numbers}, gamma={value_text(gamma)}) + " if numbers else "") + "equal(category)"
        degree, coef0 = self._value("degree", 3), self._value("coef0")
        text = WORDS[word].format(gamma=value_text(gamma) if gamma is not None else "", degree=value_text(
            3 if degree is None else degree), coef0=value_text(float(1 if coef0 is None else coef0)))
        return on_columns(text, columns)

    def _default_for(self, X: Any) -> bool:
        """Whether the kernel of a table is left to the library, as the program `mercer fit` does."""
        kernel, gamma = self._value("kernel"), self._value("gamma", "scale")
        plain = kernel is None or (isinstance(kernel, str) and kernel == "rbf" and (
            gamma is None or (isinstance(gamma, str) and gamma == "scale")))
        return plain and isinstance(X, _table.Table)

    def _scale_options(self, X: Any) -> dict[str, str]:
        """Columns of a table are scaled, unless the kernel is an expression that knows them."""
        kernel = self._value("kernel")
        by_word = isinstance(kernel, str) and kernel in WORDS
        table = isinstance(X, _table.Table) and X.has("number", "date")
        return {"scale": "standard"} if table and (kernel is None or by_word) else {}

    def _resolve_kernel(self, X: Any) -> Kernel | None:
        """The kernel to train with; None: the library's default."""
        kernel = self._value("kernel")
        if kernel is None or self._default_for(X):
            return None
        if isinstance(kernel, Kernel):
            return kernel
        if isinstance(kernel, str):
            if kernel == "precomputed":
                return Kernel("precomputed")
            return Kernel(self._word_kernel(kernel, X) if kernel in WORDS else kernel)
        found = from_sklearn(kernel)
        if found is not None:
            return found
        if callable(kernel):
            params = self._value("kernel_params") or {}
            function = (lambda A, B: kernel(A, B, **params)) if params else kernel
            return Kernel("precomputed(function)", {"function": as_blocks(function, self._pairs)})
        raise ValueError(f"kernel must be a string, a mercer.Kernel or a function, not {kernel!r}")

    # ---- data ------------------------------------------------------------------------------------

    def _check_X(self, X: Any, *, reset: bool) -> Any:
        """X as it was given if it is structured, a table if it has columns of its own, else a checked
        matrix."""
        X = self._as_table(X, reset)
        if _data.is_structured(X):
            if reset:
                self._structured_ = True
                self._forget_features(X)
            return X
        if not reset and getattr(self, "_structured_", False):
            raise ValueError("X must have the fields of the training data")
        if reset:
            self._structured_ = False
        return _compat.validate_data(self, X, reset=reset, accept_sparse="csr", order=None,
                                     dtype=[np.float64, np.float32], accept_large_sparse=False)

    def _as_table(self, X: Any, reset: bool) -> Any:
        """A DataFrame with more than numbers, or one that has roles or a rule for missing values, as a
        table; an Arrow table of numbers as a matrix with names. Anything else as it is."""
        if isinstance(X, (_table.Table, _table.NamedMatrix)):
            return X
        roles, missing = self._value("roles"), self._value("missing")
        if missing is not None and missing not in _table.RULES:
            raise ValueError(f"missing must be one of {', '.join(_table.RULES)}, not {missing!r}")
        if not reset:
            trained = getattr(self, "roles_", None)
            if trained is not None:
                return self._like_training(X, trained)
            return _table.read(X).named_matrix() if _table.is_arrow(X) else X
        if hasattr(self, "roles_"):
            del self.roles_
        asked = bool(roles) or missing is not None
        if not _table.is_frame(X):
            if not asked or _data.is_structured(X) or _data.is_sparse(X):
                return X
            X = _table.from_matrix(X)
        elif not asked and hasattr(X, "iloc") and _table.numeric_columns(X):
            return X
        made = _table.read(X)
        if not asked and made.is_numeric:
            return made.named_matrix()
        made.assign(roles or {})
        made.rule = missing or "auto"
        self.roles_ = made.roles
        return made

    def _like_training(self, X: Any, roles: dict[str, str]) -> Any:
        if _table.is_frame(X):
            return _table.read(X).like(roles)
        if _data.is_structured(X) or _data.is_sparse(X) or np.ndim(X) != 2 or np.shape(X)[1] != len(roles):
            raise ValueError("X must be a DataFrame with the columns of the training data: " + ", ".join(roles))
        return _table.from_matrix(X, roles).like(roles)

    def _forget_features(self, X: Any) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if _table.is_frame(X):
            self.n_features_in_ = len(X.columns)
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)

    def _check_square(self, X: Any) -> None:
        if self._is_precomputed and _data.is_sparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        if self._is_precomputed and X.shape[0] != X.shape[1]:
            raise ValueError("Precomputed matrix must be a square matrix. "
                             f"Input is a {X.shape[0]}x{X.shape[1]} matrix.")

    def _fields(self, X: Any, kernel: Kernel | None, reference: Any = None) -> _data.Objects:
        """X as fields; reference: the training objects, for kernels that are functions."""
        if self._is_precomputed:
            return _data.Objects(X.shape[0], (_data.precomputed(
                "k", X.toarray() if _data.is_sparse(X) else X, reference is None),), X.shape[1])
        found = _data.objects(X, columns=getattr(self, "feature_names_in_", None))
        if kernel is None or not kernel.functions:
            return found
        against = X if reference is None else reference
        values = []
        for name, function in kernel.functions.items():
            K = np.asarray(function(given(X), given(against)), dtype=np.float64)
            if K.shape != (_data.count_of(X), _data.count_of(against)):
                raise ValueError(f"the kernel function gave a matrix of {K.shape}, not of "
                                 f"{(_data.count_of(X), _data.count_of(against))}")
            values.append(_data.precomputed(name, K, reference is None))
        only = not _has_other_leaves(kernel)
        return _data.Objects(found.count, tuple(values) if only else found.fields + tuple(values),
                             found.columns)

    # ---- training --------------------------------------------------------------------------------

    def _trained_rows(self, X: Any, targets: Any, weights: Any) -> Any:
        """The rows to train on, those of weight above 0; None: all, as they stand.

        Small matrices are brought into an order that depends on their values alone. A solver stops
        within its tolerance, and where depends on the order of the rows; so the model does not depend
        on that order, and a row of weight 0 is the same as no row, to the last bit."""
        rows = None if weights is None or np.all(weights > 0) else np.flatnonzero(weights > 0)
        if not self._in_order or not isinstance(X, np.ndarray) or X.nbytes > ORDERED_BYTES \
                or self._is_precomputed:
            return rows
        parts = [p for p in (X, targets[0] if isinstance(targets, tuple) else targets, weights)
                 if p is not None]
        table = np.ascontiguousarray(np.column_stack(parts)[slice(None) if rows is None else rows],
                                     dtype=np.float64)
        order = np.argsort(table.view([("", np.void, table.shape[1] * 8)])[:, 0], kind="stable")
        return order if rows is None else rows[order]

    def _selected(self, X: Any, targets: Any, weights: Any, rows: Any) -> tuple[Any, Any, Any]:
        """Those rows; weights that are all 1 are None."""
        if rows is not None:
            X = _data.rows_of(X, rows)
            if self._is_precomputed:
                X = X[:, rows]
            if isinstance(targets, tuple):
                targets = (targets[0][rows], targets[1])
            else:
                targets = None if targets is None else targets[rows]
            weights = None if weights is None else weights[rows]
        if weights is not None and np.all(weights == 1):
            weights = None
        return X, targets, weights

    def _train(self, X: Any, targets: Any = None, weights: Any = None, *, start: Any = None,
               more: bool = False, share: float = 0.0) -> None:
        """Trains on rows with weights above 0; sets _model and the attributes that all models have."""
        if weights is not None and (np.any(weights < 0) or not np.any(weights > 0)):
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        rows = self._trained_rows(X, targets, weights)
        X, targets, weights = self._selected(X, targets, weights, rows)
        kernel = self._kernel_ if more else self._resolve_kernel(X)
        with self._open_session() as session:
            found = self._fields(X, kernel)
            data = session.data(found.count, found.fields, targets, weights)
            self._model = self._fit_model(session, kernel, data, X, start=start, more=more, share=share)
            interrupted = session.interrupted
        self._kernel_ = kernel
        self._rows_ = rows
        self._reference_ = X if kernel is not None and kernel.functions else None
        self._set_results(interrupted)

    def _fit_model(self, session: _core.Session, kernel: Kernel | None, data: _core.Data, X: Any = None,
                   **more: Any) -> _core.Model:
        try:
            return session.fit(self._learner, self._option_texts(X),
                               None if kernel is None else kernel.text, data, **more)
        except _core.MercerValueError as refused:
            if len(data) == 1:
                raise _core.MercerValueError(f"{refused} (n_samples = 1)") from None
            raise

    def _set_results(self, interrupted: bool = False) -> None:
        report = self._model.report
        self.n_iter_: Any = max(1, int(report["iterations"]))
        self.kernel_ = report["kernel"]
        self.stop_ = report["stop"]
        self.certificate_ = {"kind": report["certificate"], "value": report["value"],
                             "tolerance": report["tolerance"], "primal": report["primal"],
                             "dual": report["dual"], "gap": report["gap"]}
        if interrupted:
            _compat.warn_not_converged("Interrupted: the best model so far is kept.")
        elif report["stop"] in ("steps", "time"):
            _compat.warn_not_converged(
                "Solver terminated early "
                + (f"(max_iter={self._value('max_iter')}).  " if report["stop"] == "steps" else "(time_limit).  ")
                + "Consider pre-processing your data with StandardScaler or MinMaxScaler.")

    # ---- predicting ------------------------------------------------------------------------------

    def _ask_X(self, X: Any) -> Any:
        _compat.check_is_fitted(self)
        return self._check_X(X, reset=False)

    def _reference_rows(self, X: Any) -> Any:
        """Of a precomputed kernel the columns of the objects that were trained on."""
        if self._is_precomputed and self._rows_ is not None:
            return X[:, self._rows_]
        return X

    def _objects(self, X: Any) -> _data.Objects:
        kernel = self._kernel_
        reference = self._reference_
        if self._is_precomputed:
            return self._fields(self._reference_rows(X), kernel, reference=X)
        return self._fields(X, kernel, reference)

    def _predicted(self, X: Any, *, value: bool = False, score: bool = False,
                   proba: bool = False) -> tuple[Any, Any, Any]:
        """Arrays of predictions for a checked X, None where they are not wanted."""
        with self._open_session() as session:
            found = self._objects(X)
            data = session.data(found.count, found.fields)
            n = found.count
            a = np.empty(n) if value else None
            b = np.empty((n, self._model.outputs)) if score else None
            c = np.empty((n, len(self._model.class_names()))) if proba else None
            session.predict(self._model, data, a, b, c)
        return a, b, c

    def _transformed(self, X: Any) -> Any:
        with self._open_session() as session:
            found = self._objects(X)
            data = session.data(found.count, found.fields)
            to = np.empty((found.count, self._model.outputs))
            session.transform(self._model, data, to)
        return to

    # ---- beyond scikit-learn ---------------------------------------------------------------------

    def save(self, path: Any, *, format: str | None = None) -> None:
        """Write the model to a file.

        Parameters
        ----------
        path : str or path-like
            Where to. Read it with `mercer.load`, or with the program ``mercer``.
        format : {"mercer", "libsvm"}, default=None
            The format; None is Mercer's own. LIBSVM's loses what LIBSVM cannot hold.
        """
        _compat.check_is_fitted(self)
        if format not in (None, "mercer", "libsvm"):
            raise ValueError(f"format must be 'mercer' or 'libsvm', not {format!r}")
        self._model.save(os.fspath(path), format == "libsvm")

    def explain(self, top: int | None = 10) -> list[dict[str, Any]]:
        """What the model looks for: features with the largest weights.

        Parameters
        ----------
        top : int or None, default=10
            Features of each sign; None: all.

        Returns
        -------
        list of dict
            One for each decision value, with keys "output", "offset", "positive" and "negative"; the
            last two are lists of (feature, weight).
        """
        _compat.check_is_fitted(self)
        found = []
        with self._open_session() as session:
            for output in range(self._model.outputs):
                offset, names, weights = session.explain(self._model, output)
                order = np.argsort(-np.asarray(weights), kind="stable")
                plus = [(names[i], weights[i]) for i in order if weights[i] > 0][:top]
                minus = [(names[i], weights[i]) for i in order[::-1] if weights[i] < 0][:top]
                found.append({"output": self._model.output_name(output), "offset": offset,
                              "positive": plus, "negative": minus})
        return found

    def plot(self, X: Any = None, y: Any = None, *, kind: str | None = None, ax: Any = None,
             **more: Any) -> Any:
        """Draw the model: its boundary, curve, ROC curve and others.

        Parameters
        ----------
        X, y : array-like, default=None
            Objects to show; None: the model's own, where they are enough.
        kind : str, default=None
            One of `mercer plot`'s kinds; None: what suits the model.
        ax : matplotlib axes, default=None
            Where to draw, if matplotlib is to be used.
        **more
            x, y, title, along, width, height, as of `mercer plot`.

        Returns
        -------
        mercer.Figure
            It shows itself as SVG in notebooks, and has `save` and `draw`.
        """
        from mercer._plot import plot_model
        return plot_model(self, X, y, kind=kind, ax=ax, **more)

    # ---- files and tags --------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_model" in state:
            state["_model"] = (state["_model"].to_bytes(), state["_model"].report)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "_model" in state:
            bytes_, report = state["_model"]
            state["_model"] = _core.Model.from_bytes(bytes_)
        super().__setstate__(state)

    def _more_tags(self) -> dict[str, Any]:
        return {"pairwise": self._is_precomputed, "_xfail_checks": self._xfail}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed
        return tags


def given(X: Any) -> Any:
    """X as the user gave it."""
    return X.source if isinstance(X, _table.Table) else X


def on_columns(text: str, columns: str) -> str:
    """An expression that begins with a leaf, on these columns."""
    name, rest = re.fullmatch(r"([a-z0-9]+)(.*)", text).groups()  # type: ignore[union-attr]
    return f"{name}({columns}, {rest[1:]}" if rest.startswith("(") else f"{name}({columns}){rest}"


def _has_other_leaves(kernel: Kernel) -> bool:
    """Whether an expression has leaves beside those that are functions."""
    names = set(re.findall(r"([a-z][a-z0-9_]*)", kernel.text))
    leaves = {k["name"] for k in _core.kernels() if k["kinds"]} - {"precomputed"}
    return bool(names & leaves)
