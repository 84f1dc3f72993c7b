"""Kernel objects, and what an estimator's `kernel` parameter means.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import itertools
import re
from typing import Any, Callable, Union

from mercer import _core

_numbers = itertools.count(1)


def value_text(value: Any) -> str:
    """A parameter as the library reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)) or (hasattr(value, "ndim") and value.ndim == 1):
        return "[" + ", ".join(value_text(v) for v in value) + "]"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    return repr(float(value))


def quoted(name: str) -> str:
    """A field or column as it stands in an expression."""
    if re.fullmatch(r"[A-Za-z_*][A-Za-z0-9_*]*", name):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Kernel:
    """A kernel: an expression that can be added, multiplied and raised to a power.

    Parameters
    ----------
    expression : str
        A kernel expression of Mercer, such as ``"2*poly(degree=3, c=1) + linear"``.

    Examples
    --------
    >>> from mercer import Kernel, rbf, linear
    >>> k = 0.5*rbf(gamma=0.1) + linear()**2
    >>> k
    Kernel('0.5*rbf(gamma=0.1) + linear^2')
    >>> k.check()["valid"]
    'yes'
    """

    def __init__(self, expression: str, functions: dict[str, Callable[..., Any]] | None = None) -> None:
        self.functions = dict(functions or {})
        self.text = _core.kernel_text(expression)

    def __repr__(self) -> str:
        return f"Kernel({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and (self.text, self.functions) == (other.text, other.functions)

    def __hash__(self) -> int:
        return hash(self.text)

    def _join(self, sign: str, other: Any, swap: bool = False) -> Kernel:
        if isinstance(other, str):
            other = Kernel(other)
        elif isinstance(other, (int, float)) and not isinstance(other, bool):
            other = Kernel(value_text(other))
        elif not isinstance(other, Kernel):
            return NotImplemented
        left, right = (other, self) if swap else (self, other)
        return Kernel(f"({left.text}) {sign} ({right.text})", {**left.functions, **right.functions})

    def __add__(self, other: Any) -> Kernel:
        return self._join("+", other)

    def __radd__(self, other: Any) -> Kernel:
        return self._join("+", other, swap=True)

    def __mul__(self, other: Any) -> Kernel:
        return self._join("*", other)

    def __rmul__(self, other: Any) -> Kernel:
        return self._join("*", other, swap=True)

    def __pow__(self, power: int) -> Kernel:
        return Kernel(f"({self.text})^{int(power)}", self.functions)

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """The kernel matrix of X, or of X and Y."""
        from mercer._functions import gram
        return gram(X, self, Y)

    def check(self, X: Any = None) -> dict[str, Any]:
        """Whether it is a kernel; see `mercer.check`."""
        from mercer._functions import check
        return check(self, X)


def from_callable(function: Callable[..., Any], *, pairs: bool = False) -> Kernel:
    """A Python function as a kernel, which can be combined with others.

    Parameters
    ----------
    function : callable
        Gets two blocks of objects and returns the matrix of their kernel values; with `pairs` two
        objects, and returns a number.
    pairs : bool, default=False
        Whether the function takes single objects.

    Returns
    -------
    Kernel
        Its values are computed by the function for all pairs of training objects, as
        scikit-learn does, and kept while training.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import from_callable, gram, linear
    >>> k = from_callable(lambda A, B: A @ B.T) + linear()
    >>> gram(np.eye(2), k)
    array([[2., 0.],
           [0., 2.]])
    """
    name = f"function{next(_numbers)}"
    return Kernel(f"precomputed({name})", {name: as_blocks(function, pairs)})


class Pairs:
    """A function of two objects as one of two blocks."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, X: Any, Y: Any) -> Any:
        import numpy as np
        return np.array([[float(self.function(x, z)) for z in each(Y)] for x in each(X)])


def as_blocks(function: Callable[..., Any], pairs: bool) -> Callable[..., Any]:
    if pairs:
        return Pairs(function)
    return function


def each(X: Any) -> Any:
    return X.iloc if hasattr(X, "iloc") else X


KernelLike = Union[str, Kernel, Callable[..., Any], None]

# scikit-learn's words: the expression for gamma, degree and coef0.
WORDS = {
    "linear": "linear",
    "linear + 1": "linear + 1",
    "rbf": "rbf(gamma={gamma})",
    "poly": "poly(degree={degree}, scale={gamma}, c={coef0})",
    "polynomial": "poly(degree={degree}, scale={gamma}, c={coef0})",
    "sigmoid": "sigmoid(a={gamma}, b={coef0})",
    "laplacian": "laplace(gamma={gamma})",
    "cosine": "cosine",
    "chi2": "chi2(gamma={gamma})",
}


def from_sklearn(kernel: Any) -> Kernel | None:
    """A kernel of sklearn.gaussian_process as an expression; None: it is something else."""
    kind = type(kernel).__name__
    if not type(kernel).__module__.startswith("sklearn.gaussian_process"):
        return None
    if kind in ("Sum", "Product"):
        a, b = from_sklearn(kernel.k1), from_sklearn(kernel.k2)
        if a is None or b is None:
            return None
        return a + b if kind == "Sum" else a * b
    if kind == "Exponentiation":
        base = from_sklearn(kernel.kernel)
        return None if base is None else base ** int(kernel.exponent)
    makers: dict[str, Callable[[Any], str]] = {
        "ConstantKernel": lambda k: value_text(k.constant_value),
        "RBF": lambda k: f"rbf(gamma={value_text(_gamma(k.length_scale))})",
        "Matern": lambda k: f"matern(nu={value_text(k.nu)}, length={value_text(_plain(k.length_scale))})",
        "RationalQuadratic": lambda k: f"rq(alpha={value_text(k.alpha)}, length={value_text(k.length_scale)})",
        "ExpSineSquared": lambda k: f"periodic(period={value_text(k.periodicity)}, "
                                    f"length={value_text(k.length_scale)})",
        "DotProduct": lambda k: f"linear + {value_text(k.sigma_0 ** 2)}",
    }
    if kind not in makers:
        raise ValueError(f"There is no kernel here that is scikit-learn's {kind}; write a Mercer expression")
    return Kernel(makers[kind](kernel))


def _plain(length: Any) -> Any:
    return list(length) if hasattr(length, "__len__") else length


def _gamma(length: Any) -> Any:
    if hasattr(length, "__len__"):
        return [0.5 / float(v) ** 2 for v in length]
    return 0.5 / float(length) ** 2


def arguments(parts: list[str], params: dict[str, Any]) -> str:
    parts = parts + [f"{name}={value_text(value)}" for name, value in params.items() if value is not None]
    return f"({', '.join(parts)})" if parts else ""


def leaf(name: str, fields: tuple[str, ...], params: dict[str, Any]) -> Kernel:
    """A kernel on fields, columns (also patterns such as "x_*") or roles of columns."""
    return Kernel(name + arguments([quoted(f) for f in fields], params))


def combined(name: str, kernels: tuple[Kernel | str, ...], params: dict[str, Any]) -> Kernel:
    """A kernel made of others."""
    made = [k if isinstance(k, Kernel) else Kernel(k) for k in kernels]
    functions = {key: f for k in made for key, f in k.functions.items()}
    return Kernel(name + arguments([k.text for k in made], params), functions)
