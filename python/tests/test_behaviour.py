"""What the package does beside fitting: import, errors, pickling, threads, forks, interrupts.

SPDX-License-Identifier: Apache-2.0
"""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mercer
from mercer import SVC, SVR, KernelPCA


def points(n=200, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


def test_import_loads_neither_numpy_nor_sklearn():
    code = ("import sys, mercer; bad = [m for m in ('numpy', 'sklearn', 'scipy', 'pandas') if m in sys.modules]; "
            "assert not bad, bad")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_works_without_sklearn():
    code = """
import sys
for name in ("sklearn", "scipy", "pandas"):
    sys.modules[name] = None
import numpy as np
from mercer import SVC, SVR, gram
X = np.random.RandomState(0).randn(60, 2)
y = (X[:, 0] > 0).astype(int)
clf = SVC(C=10).fit(X, y)
assert clf.score(X, y) > 0.95 and clf.get_params()["C"] == 10
assert SVR().fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
assert gram(X, "linear").shape == (60, 60)
try:
    SVC().predict(X)
    raise SystemExit("predicts before fit")
except ValueError:
    pass
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_errors_are_value_errors_with_the_message():
    X, y = points()
    with pytest.raises(ValueError, match="C"):
        SVC(C=-1).fit(X, y)
    with pytest.raises(mercer.MercerValueError) as caught:
        SVC(kernel="rbf(gama=1)").fit(X, y)
    assert "gamma" in str(caught.value) and "^" in str(caught.value)
    with pytest.raises(OSError):
        SVC().fit(X, y).save("/nowhere/at/all.mercer")


def test_pickle_and_deepcopy_keep_the_model():
    X, y = points()
    for estimator in (SVC(probability=True), SVR(), KernelPCA(2, kernel="rbf")):
        fitted = estimator.fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        ask = "transform" if hasattr(fitted, "transform") else "predict"
        np.testing.assert_array_equal(getattr(fitted, ask)(X), getattr(again, ask)(X))
        assert again.certificate_ == fitted.certificate_


def test_a_model_owns_its_support_vectors():
    X, y = points()
    clf = SVC().fit(X, y)
    Z = X.copy()
    before = clf.decision_function(Z)
    X[:] = 7
    np.testing.assert_array_equal(before, clf.decision_function(Z))


def test_threads_share_a_model():
    X, y = points(500)
    clf = SVC(gamma=1).fit(X, y)
    wanted, results = clf.decision_function(X), []

    def ask():
        for _ in range(5):
            results.append(np.array_equal(clf.decision_function(X), wanted))
            SVC(n_jobs=1).fit(X[:100], y[:100])

    workers = [threading.Thread(target=ask) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [True] * 20


def _in_child(seed):
    X, y = points(seed=seed)
    return float(SVC().fit(X, y).decision_function(X).sum())


def test_fork_after_use():
    here = [_in_child(seed) for seed in range(3)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_in_child, range(3)) == here


def test_joblib():
    joblib = pytest.importorskip("joblib")
    here = [_in_child(seed) for seed in range(3)]
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(_in_child)(seed) for seed in range(3)) == here


SLOW = """
import numpy as np, signal, os, threading, time, sys
from mercer import SVC
rng = np.random.RandomState(0)
X = rng.randn({n}, 20); y = rng.randint(0, 2, {n})
SVC().fit(X[:50], y[:50])
sent = []
def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer({after}, send).start()
"""


def test_interrupt_raises_quickly():
    code = SLOW.format(n=20000, after=0.7) + """
try:
    SVC(C=1e4, gamma=0.5, tol=1e-9).fit(X, y)
    print("finished")
except KeyboardInterrupt:
    print("seconds", time.monotonic() - sent[0])
os._exit(0)
"""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.startswith("seconds"), out


def test_interrupt_keeps_the_best_so_far():
    code = SLOW.format(n=8000, after=1.0) + """
clf = SVC(C=1e4, gamma=0.5, tol=1e-9, on_interrupt="keep").fit(X, y)
print(clf.stop_, clf.predict(X[:5]).shape)
"""
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True,
                         text=True).stdout
    assert out.split()[0] in ("interrupted", "optimal", "stuck") and "(5,)" in out


def test_the_interpreter_runs_while_training():
    X, y = points(4000)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    SVC(C=100, gamma=10, tol=1e-9, time_limit=0.3).fit(X, y + (np.arange(len(y)) % 3 == 0))
    stop.set()
    thread.join()
    assert len(ticks) > 3


def test_verbose_draws_a_bar(capfd):
    from mercer._progress import line
    assert "50%" in line("svm", 0.5, 3.0, 3.0, 10, 0.1) and "00:03<00:03" in line("svm", 0.5, 3.0, 3.0, 10, 0.1)
    X, y = points(3000)
    SVC(C=1e3, gamma=5, tol=1e-8, verbose=1, time_limit=0.5).fit(X, np.random.RandomState(0).randint(0, 2, len(X)))
    assert "svm" in capfd.readouterr().err


def test_time_limit_warns():
    X, _ = points(3000)
    y = np.random.RandomState(0).randint(0, 2, len(X))
    with pytest.warns(UserWarning, match="terminated early"):
        clf = SVC(C=1e4, gamma=5, tol=1e-10, max_iter=3).fit(X, y)
    assert clf.stop_ == "steps"
