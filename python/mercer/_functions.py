"""Functions: kernel matrices, checks, files.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _core, _data, _table
from mercer._base import _has_other_leaves, given, open_session
from mercer._kernel import WORDS, Kernel


def as_kernel(kernel: Any, X: Any = None) -> Kernel:
    """A kernel from whatever names one; words have the defaults of scikit-learn's pairwise kernels."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Kernel("precomputed(function)", {"function": kernel})
    if kernel in WORDS and "{" in WORDS[kernel]:
        gamma = 1.0 / X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else 1.0
        return Kernel(WORDS[kernel].format(gamma=repr(gamma), degree="3", coef0="1.0"))
    return Kernel(kernel)


def _check_out(out: Any, shape: tuple[int, int]) -> Any:
    """An array that kernel values can be written into."""
    if not isinstance(out, np.ndarray) or out.dtype not in (np.float64, np.float32):
        raise TypeError("out must be an array of float64 or float32")
    if out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(f"out must be a writeable array of shape {shape} in C order")
    return out


def gram(X: Any, kernel: Any = "linear", Y: Any = None, *, dtype: Any = np.float64,
         n_jobs: int | None = None, out: Any = None) -> Any:
    """The kernel matrix.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame, list or dict
        Objects: rows of the matrix.
    kernel : str, Kernel or callable, default="linear"
        The kernel.
    Y : like X, default=None
        Columns of the matrix; None: X.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the values; float32 is faster and has 5 to 7 digits.
    n_jobs : int, default=None
        Threads; None: all cores.
    out : ndarray of shape (n_samples_X, n_samples_Y), default=None
        Where to write the values, in C order; its type is used instead of dtype. Reusing an array
        saves what the system needs to provide fresh memory, which takes longer than the values.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        K(x, y); out, if it is given.

    Examples
    --------
    >>> from mercer import gram
    >>> gram([[0.0, 0.0], [1.0, 0.0]], "rbf(gamma=1)").round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    >>> gram(["banana", "bandana"], "spectrum(p=2)")
    array([[3., 3.],
           [3., 5.]])
    """
    if not (_table.is_frame(X) or _data.is_sparse(X) or _data.is_structured(X)):
        X = np.asarray(X)
    k = as_kernel(kernel, X)
    if k.functions:
        values = function_gram(X, k, Y, n_jobs)
        if out is None:
            return values
        _check_out(out, values.shape)[...] = values
        return out
    x, z = both(X, Y)
    shape = (x.count, x.count if z is None else z.count)
    out = np.empty(shape, dtype=dtype) if out is None else _check_out(out, shape)
    with open_session(n_jobs=n_jobs) as session:
        a = session.data(x.count, x.fields)
        b = None if z is None else session.data(z.count, z.fields)
        session.gram(k.text, a, b, out)
    return out


def both(X: Any, Y: Any) -> tuple[_data.Objects, _data.Objects | None]:
    """X and Y as fields; the columns of Y have the roles of those of X."""
    if not _table.is_frame(X):
        return _data.objects(X), None if Y is None else _data.objects(Y)
    table = _data.table(X)
    other = None if Y is None else _table.read(Y).like(table.roles)
    return _data.objects(table), None if other is None else _data.objects(other)


def function_gram(X: Any, kernel: Kernel, Y: Any, n_jobs: int | None) -> Any:
    """The matrix of a kernel that has Python functions in it."""
    other = X if Y is None else Y
    n, m = _data.count_of(X), _data.count_of(other)
    rows = _data.objects(X).fields if _has_other_leaves(kernel) else ()
    columns = _data.objects(other).fields if rows else ()
    for name, function in kernel.functions.items():
        K = np.asarray(function(given(X), given(other)), dtype=np.float64)
        rows += (_data.precomputed(name, K, False),)
        columns += (("precomputed", name, np.zeros((m, m)), np.arange(m, dtype=np.int64)),)
    out = np.empty((n, m))
    with open_session(n_jobs=n_jobs) as session:
        session.gram(kernel.text, session.data(n, rows), session.data(m, columns), out)
    return out


def check(kernel: Any, X: Any = None, *, max_objects: int = 0) -> dict[str, Any]:
    """Whether an expression is a kernel: symmetric and positive semidefinite.

    Parameters
    ----------
    kernel : str or Kernel
        The expression.
    X : array-like, sparse matrix, DataFrame, list or dict, default=None
        Objects whose kernel matrix is tested as well.
    max_objects : int, default=0
        Objects that are tested at most; 0: as many as take seconds.

    Returns
    -------
    dict
        "valid": "yes", "no" or "unknown"; "reason"; "rules"; "min_eigenvalue"; and
        "counterexample", where there is one: objects, their kernel matrix, and a vector t with
        t'Gt < 0.

    Examples
    --------
    >>> from mercer import check
    >>> check("rbf(gamma=1) + linear^2")["valid"]
    'yes'
    >>> found = check("-1*linear", [[1.0], [2.0]])
    >>> found["valid"], found["counterexample"]["value"] < 0
    ('no', True)
    """
    k = as_kernel(kernel, X)
    with open_session() as session:
        data = None
        if X is not None:
            found = _data.objects(X)
            data = session.data(found.count, found.fields)
        result = session.check(k.text, data, max_objects)
    example = result["counterexample"]
    if example is not None:
        size = len(example["objects"])
        example["gram"] = np.array(example["gram"]).reshape(size, size)
        example["t"] = np.array(example["t"])
    return result


def learners() -> list[dict[str, Any]]:
    """The learners of the library with their options."""
    return _core.learners()


def kernels() -> list[dict[str, Any]]:
    """The kernels of the library with their parameters."""
    return _core.kernels()
