"""scikit-learn's own checks, on every estimator.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

import mercer
from mercer._estimators import __all__ as names

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

ESTIMATORS = [getattr(mercer, name)() for name in names] + [
    mercer.ERM(loss="hinge"), mercer.SVC(kernel="linear"), mercer.SVC(probability=True)]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn(estimator, check):
    check(estimator)
