"""Mercer: kernel machines with scikit-learn's interface.

Importing the package is cheap: estimators, and with them NumPy and scikit-learn, are loaded when they
are first used.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib
from typing import Any

from mercer._core import (MercerError, MercerFileError, MercerMemoryError, MercerValueError,
                          version as _version)

__version__ = _version()

_WHERE = {
    "_estimators": (
        "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "KernelRidge", "RidgeClassifier", "KernelPCA",
        "GaussianProcessRegressor", "GaussianProcessClassifier", "KernelKMeans",
        "KernelLogisticRegression", "KernelPerceptron", "Pegasos", "KernelFisher", "KernelCCA",
        "KNeighborsClassifier", "KNeighborsRegressor", "ERM", "Nystroem", "RFF"),
    "_generic": ("KernelClassifier", "KernelRegressor", "KernelTransformer"),
    "_select": ("cv", "load", "tune"),
    "_plot": ("Figure",),
    "_kernel": ("Kernel", "from_callable"),
    "_functions": ("gram", "check", "learners", "kernels"),
}
_MODULE = {name: module for module, names in _WHERE.items() for name in names}

__all__ = ["MercerError", "MercerFileError", "MercerMemoryError", "MercerValueError", *_MODULE]


def __getattr__(name: str) -> Any:
    module = _MODULE.get(name)
    if module is None:
        functions = importlib.import_module("mercer._kernel_functions")
        if name in functions.__all__:
            return getattr(functions, name)
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"mercer.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE])
