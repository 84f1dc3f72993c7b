"""Metrics against scikit-learn, to 1e-12: random cases with ties, a class that is missing, weights.

The library is called directly; the last tests go through the program.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import pathlib
import warnings

import tap

try:
    import numpy as np
    from sklearn import metrics as sk
    from sklearn.preprocessing import label_binarize
except ImportError as missing:
    np = None
    WHY = str(missing)

CLASSIFY, REGRESS = 1, 2
CASES = 200


class Evaluated(ctypes.Structure):
    """mcr_evaluated of <mercer/select.h>."""
    _fields_ = ([("size", ctypes.c_size_t), ("task", ctypes.c_int)]
                + [(n, ctypes.c_int64) for n in ("n", "classes", "outputs", "positive")]
                + [(n, ctypes.c_void_p) for n in ("target", "value", "score", "proba", "weight", "lower", "upper")])


class Library:
    def __init__(self):
        if np is None:
            tap.skip(WHY)
        path = pathlib.Path(tap.MERCER).with_name("libmercer.so")
        if not path.exists():
            tap.skip("no libmercer.so beside the program")
        self.lib = ctypes.CDLL(str(path))
        self.lib.mcr_message.restype = ctypes.c_char_p
        self.ctx = ctypes.c_void_p()
        assert self.lib.mcr_open(ctypes.byref(self.ctx), None) == 0
        self.lib.mcr_task_name.restype = ctypes.c_char_p
        names = [self.lib.mcr_task_name(number) for number in (CLASSIFY, REGRESS)]
        assert names == [b"classification", b"regression"], names

    def describe(self, task, n, positive=-1, outputs=1, classes=0, **arrays):
        self.kept = {k: np.ascontiguousarray(v, dtype=float) for k, v in arrays.items() if v is not None}
        e = Evaluated(ctypes.sizeof(Evaluated), task, n, classes, outputs, positive)
        for k, v in self.kept.items():
            setattr(e, k, v.ctypes.data)
        return e

    def metric(self, name, e):
        out = ctypes.c_double()
        status = self.lib.mcr_evaluate(self.ctx, name.encode(), ctypes.byref(e), ctypes.byref(out))
        assert status == 0, self.lib.mcr_message(self.ctx)
        return out.value


def near(got, wanted, what):
    assert abs(got - wanted) <= 1e-12 * max(1, abs(wanted)), (what, got, wanted)


def weights(r, n):
    """None, counts, or any numbers."""
    return [None, r.integers(1, 4, n).astype(float), r.gamma(1.0, 1.0, n) + 1e-3][r.integers(3)]


def classes_case(r):
    k, n = int(r.integers(2, 6)), int(r.integers(2, 60))
    used = k if r.random() < .7 else max(1, k - 1)  # a class that does not occur
    y = r.integers(0, used, n)
    value = np.where(r.random(n) < .6, y, r.integers(0, k, n))
    return k, n, y, value, weights(r, n)


def test_decisions():
    lib, r = Library(), np.random.default_rng(1)
    task = CLASSIFY
    for case in range(CASES):
        k, n, y, value, w = classes_case(r)
        positive = int(r.integers(0, k)) if k == 2 or r.random() < .3 else -1
        e = lib.describe(task, n, positive, classes=k, target=y, value=value, weight=w)
        near(lib.metric("accuracy", e), sk.accuracy_score(y, value, sample_weight=w), "accuracy")
        near(lib.metric("mcc", e), sk.matthews_corrcoef(y, value, sample_weight=w), "mcc")
        seen = np.unique(y)
        recalls = [(w if w is not None else np.ones(n))[(y == c) & (value == c)].sum()
                   / (w if w is not None else np.ones(n))[y == c].sum() for c in seen]
        wanted = (sk.balanced_accuracy_score(y, value, sample_weight=w) if set(value) <= set(y)
                  else np.mean(recalls))  # it warns of predictions that are no class of the targets
        near(lib.metric("balanced_accuracy", e), wanted, "balanced_accuracy")
        how = (dict(average="macro") if positive < 0
               else dict(average="macro", labels=[positive]))
        p, q, f, _ = sk.precision_recall_fscore_support(y, value, sample_weight=w, zero_division=0, **how)
        for name, wanted in (("precision", p), ("recall", q), ("f1", f)):
            near(lib.metric(name, e), wanted, name)
        matrix = np.zeros((k, k))
        assert lib.lib.mcr_confusion(lib.ctx, ctypes.byref(e), matrix.ctypes.data_as(ctypes.c_void_p)) == 0
        np.testing.assert_allclose(matrix, sk.confusion_matrix(y, value, labels=range(k), sample_weight=w),
                                   rtol=1e-12, atol=1e-12)
        each = np.zeros((k, 4))
        assert lib.lib.mcr_class_scores(lib.ctx, ctypes.byref(e), each.ctypes.data_as(ctypes.c_void_p)) == 0
        wanted = np.array(sk.precision_recall_fscore_support(y, value, labels=range(k), sample_weight=w,
                                                             zero_division=0), dtype=float).T
        np.testing.assert_allclose(each, wanted, rtol=1e-12, atol=1e-12)


def test_ranks():
    """Two classes: the score is for the second, ties included."""
    lib, r = Library(), np.random.default_rng(2)
    task = CLASSIFY
    for case in range(CASES):
        n, positive = int(r.integers(2, 60)), int(r.integers(0, 2))
        y = r.integers(0, 2, n) if r.random() < .85 else np.zeros(n, int)
        score = r.normal(size=n) + y
        score = np.round(score, 0) if r.random() < .5 else score
        w = weights(r, n)
        e = lib.describe(task, n, positive, classes=2, target=y, value=(score > 0), score=score, weight=w)
        sign = 1 if positive else -1
        got = lib.metric("roc_auc", e)
        if len(set(y)) == 2:
            near(got, sk.roc_auc_score(y == positive, sign * score, sample_weight=w), "roc_auc")
        else:
            assert np.isnan(got), got
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = sk.average_precision_score(y == positive, sign * score, sample_weight=w)
        near(lib.metric("average_precision", e), wanted, "average_precision")


def test_probabilities():
    lib, r = Library(), np.random.default_rng(3)
    task = CLASSIFY
    for case in range(CASES):
        k, n, y, value, w = classes_case(r)
        p = r.dirichlet(np.full(k, .3), n)
        p[r.random(n) < .1] = np.eye(k)[0]  # certain, and often wrong
        e = lib.describe(task, n, 1 if k == 2 else -1, classes=k, target=y, value=value, proba=p, weight=w)
        near(lib.metric("log_loss", e), sk.log_loss(y, p, sample_weight=w, labels=range(k)), "log_loss")
        if k == 2:
            near(lib.metric("brier", e), sk.brier_score_loss(y == 1, p[:, 1], sample_weight=w, pos_label=True), "brier")
            continue
        one = np.eye(k)[y]
        near(lib.metric("brier", e), np.average(((p - one) ** 2).sum(1), weights=w), "brier")
        if len(set(y)) == k:
            near(lib.metric("roc_auc", e), sk.roc_auc_score(y, p, multi_class="ovr", sample_weight=w,
                                                           labels=range(k)), "roc_auc")
            near(lib.metric("average_precision", e),
                 sk.average_precision_score(label_binarize(y, classes=range(k)), p, sample_weight=w),
                 "average_precision")


def test_numbers():
    lib, r = Library(), np.random.default_rng(4)
    task = REGRESS
    for case in range(CASES):
        n = int(r.integers(2, 60))
        y = r.normal(size=n) * 10.0 ** r.integers(-3, 4) + r.normal()
        value, w = y + r.normal(size=n), weights(r, n)
        half = r.random(n)
        e = lib.describe(task, n, target=y, value=value, weight=w, lower=value - half, upper=value + half)
        mse = sk.mean_squared_error(y, value, sample_weight=w)
        for name, wanted in (("mse", mse), ("rmse", mse ** .5),
                             ("mae", sk.mean_absolute_error(y, value, sample_weight=w)),
                             ("r2", sk.r2_score(y, value, sample_weight=w)),
                             ("max_error", sk.max_error(y, value)),
                             ("coverage", np.average(abs(y - value) <= half, weights=w))):
            near(lib.metric(name, e), wanted, name)


def test_program():
    """predict prints what scikit-learn says of its own predictions, scores and probabilities."""
    Library()
    r = np.random.default_rng(5)
    x = np.round(r.normal(size=(240, 2)), 1)
    y = np.where(x[:, 0] * x[:, 1] + .5 * r.normal(size=240) > .6, "ill", "well")
    w = r.integers(1, 4, 240)
    pathlib.Path("t.csv").write_text("a,b,w,y\n" + "".join("%r,%r,%d,%s\n" % (a, b, c, d) for (a, b), c, d in zip(x, w, y)))
    tap.mercer("fit", "svm", "t.csv", "--weight", "w", "--probability", "-o", "m.mercer", "--quiet")
    got = tap.mercer_json("predict", "m.mercer", "t.csv", "-o", "p.csv")["metrics"]
    tap.mercer("predict", "m.mercer", "t.csv", "-o", "s.csv", "--scores", "--quiet")
    tap.mercer("predict", "m.mercer", "t.csv", "-o", "q.csv", "--proba", "--quiet")
    tap.check_equal(got["positive"], "ill")  # the rarer
    said = np.array(pathlib.Path("p.csv").read_text().split()[1:])
    head, *lines = pathlib.Path("s.csv").read_text().splitlines()
    score = np.array(lines, dtype=float) * (1 if head.startswith("ill") else -1)
    head, *lines = pathlib.Path("q.csv").read_text().splitlines()
    proba = np.array([line.split(",") for line in lines], dtype=float)[:, head.split(",").index("ill")]
    for name, wanted in (
            ("accuracy", sk.accuracy_score(y, said, sample_weight=w)),
            ("precision", sk.precision_score(y, said, pos_label="ill", sample_weight=w)),
            ("recall", sk.recall_score(y, said, pos_label="ill", sample_weight=w)),
            ("f1", sk.f1_score(y, said, pos_label="ill", sample_weight=w)),
            ("mcc", sk.matthews_corrcoef(y, said, sample_weight=w)),
            ("balanced_accuracy", sk.balanced_accuracy_score(y, said, sample_weight=w)),
            ("roc_auc", sk.roc_auc_score(y == "ill", score, sample_weight=w)),
            ("average_precision", sk.average_precision_score(y == "ill", score, sample_weight=w)),
            ("brier", sk.brier_score_loss(y == "ill", proba, sample_weight=w)),
            ("log_loss", sk.log_loss(y == "ill", proba, sample_weight=w))):
        near(got[name], wanted, name)


if __name__ == "__main__":
    tap.main(globals())
