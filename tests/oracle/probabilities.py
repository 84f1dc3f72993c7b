"""probabilities.py: calibrated probabilities against scikit-learn, on classes of very different size.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import tap

try:
    from sklearn.metrics import log_loss, roc_auc_score
    from sklearn.svm import SVC
except ImportError as fault:
    SVC, why = None, str(fault)


def halves():
    path = tap.data("anomaly-mammography", "anomaly-mammography.csv.gz")
    with gzip.open(path, "rt") as lines:
        table = np.array([[float(v) for v in line.split(",")] for line in lines])
    order = np.random.RandomState(0).permutation(len(table))
    half = len(table) // 2
    head = ",".join("f%d" % j for j in range(table.shape[1] - 1)) + ",y"
    for name, rows in (("train.csv", order[:half]), ("new.csv", order[half:])):
        np.savetxt(name, table[rows], delimiter=",", header=head, comments="", fmt="%.17g")
    return table[order[:half]], table[order[half:]]


def test_mammography_with_class_weights():
    """The ranking is that of the scores, and the log-loss is scikit-learn's, to 2 %."""
    if SVC is None:
        tap.skip("scikit-learn is not there (%s)" % why)
    train, new = halves()
    tap.mercer("fit", "svm", "train.csv", "--class-weight", "balanced", "--probability", "-o",
               "m.mercer", "--quiet")
    tap.mercer("predict", "m.mercer", "new.csv", "--proba", "-o", "p.npy", "--quiet")
    tap.mercer("predict", "m.mercer", "new.csv", "--scores", "-o", "s.npy", "--quiet")
    tap.mercer("predict", "m.mercer", "new.csv", "-o", "y.npy", "--quiet")
    p, s, label = np.load("p.npy"), np.load("s.npy").ravel(), np.load("y.npy").ravel()
    y = new[:, -1]
    peer = SVC(class_weight="balanced", probability=True, random_state=0)
    q = peer.fit(train[:, :-1], train[:, -1]).predict_proba(new[:, :-1])
    tap.check_near(roc_auc_score(y, p[:, 1]), roc_auc_score(y, s), 1e-12, "AUC")
    assert log_loss(y, p) <= 1.02 * log_loss(y, q), (log_loss(y, p), log_loss(y, q))
    assert roc_auc_score(y, p[:, 1]) >= roc_auc_score(y, q[:, 1]) - 1e-3
    assert (p[:, 1] == 0.5).sum() == 0, "a pile at 1/2"
    # As many different probabilities as scores, but for what the logistic function rounds together.
    assert len(np.unique(p[:, 1])) >= 0.99 * len(np.unique(s))
    tap.check_equal((label == (p[:, 1] > p[:, 0])).all(), True, "labels follow the probabilities")


if __name__ == "__main__":
    tap.main(globals())
