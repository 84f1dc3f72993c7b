"""certificates_more.py: certificates_all.py for the other learners and losses.

Recomputed with NumPy from the model files: l1-svm, fisher, cca, knn, Gaussian processes for classes and
with fitted scales, and all losses of erm.

    python3 certificates_more.py [WORD...]    one data set; with MERCER_ALL=1 twelve

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import certificates_all as base
import tap
from certificates_all import NUMBERS, SETS, TOLERANCES, check

ALL = os.environ.get("MERCER_ALL") == "1"


def over(sets, run):
    base.over(sets if ALL else sets[:3:2], run)


def tolerances():
    return TOLERANCES if ALL else TOLERANCES[1::2]


# ---- what a certificate should say --------------------------------------------------------------


def one_norm(s, m, o):
    """The prices that the file keeps bound the primal from below once they are feasible."""
    k, worst, primal, dual = s.k, 0, 0, 0
    two = len(s.labels) == 2
    pairs = [(1, 0)] if two else [(a, b) for a in range(len(s.labels))
                                  for b in range(a + 1, len(s.labels))]
    C, prices = o.get("C", 1.0), m.extra["prices"]
    # Where many objects are equal, the learner sees the first of each set with its count.
    rows, count = np.arange(len(s.y)), np.ones(len(s.y))
    if len(prices) < (len(s.labels) - 1) * len(rows):
        rows = np.sort(np.unique(s.group, return_index=True)[1])
        count = np.bincount(s.group)[s.group]
    for output, (a, b) in enumerate(pairs):
        part = np.isin(s.y, s.labels[[a, b]])
        y = np.where(s.y == s.labels[a], 1.0, -1.0)
        f = k @ m.coef[output] + m.offset[output]
        own = abs(m.coef[output]).sum() + C * np.maximum(0, 1 - y * f)[part].sum()
        own_rows = rows[part[rows]]
        if not two:
            own_rows = np.concatenate([own_rows[y[own_rows] > 0], own_rows[y[own_rows] < 0]])
        u, prices = prices[:len(own_rows)], prices[len(own_rows):]
        assert (u >= 0).all() and (u <= C * count[own_rows] * (1 + 1e-12)).all()
        assert abs(u @ y[own_rows]) <= 1e-9 * u.sum()
        rim = max(1, abs(k[np.ix_(own_rows, own_rows)] @ (u * y[own_rows])).max())
        primal, dual = primal + own, dual + u.sum() / rim
        worst = max(worst, (own - u.sum() / rim) / own)
    assert len(prices) == 0
    return {"value": worst, "primal": primal, "dual": dual, "gap": primal - dual,
            "objective": primal}


def centred(k):
    n = len(k)
    h = np.eye(n) - 1 / n
    return h @ k @ h / n


def fisher(s, m, o):
    """Directions a with (A + r I) a in the span of the classes."""
    a, n = centred(s.k), len(s.y)
    total = np.trace(a)
    r = o.get("lambda", 1e-3) * total
    e = (s.y[:, None] == s.labels[None]) / np.sqrt((s.y[:, None] == s.labels[None]).sum(0))
    h = np.linalg.solve(a + r * np.eye(n), e)
    rest = np.linalg.eigvalsh(r * (e.T @ h + h.T @ e) / 2)[:len(s.labels) - 1]
    worst = 0
    for c in m.coef:
        image = a @ c + r * c
        off = image - e @ (e.T @ image)
        worst = max(worst, abs(off).max() / (abs(c).max() * (total + r)))
    return {"value": worst, "objective": ((1 - rest) / rest).sum()}


def cca(s, m, o):
    """Singular vectors u of R Q, from the coefficients (A + r I)^-1 u of the first view."""
    n, lam = len(s.y), 0.1
    smooth, ridge = [], []
    for k in s.views:
        a = centred(k)
        ridge.append(lam * np.trace(a))
        smooth.append((a, np.linalg.solve(a + ridge[-1] * np.eye(n), a)))
    r, q = smooth[0][1], smooth[1][1]
    singular = np.linalg.svd(r @ q, compute_uv=False)
    worst, pairs = 0, len(m.coef) // 2
    for c in m.coef[:pairs]:
        u = smooth[0][0] @ c + ridge[0] * c
        u /= np.linalg.norm(u)
        image = r @ (q @ (q @ (r @ u)))
        worst = max(worst, np.linalg.norm(image - (u @ image) * u) / singular[0] ** 2)
    return {"value": worst, "objective": singular[:pairs].sum()}


def neighbours(s, m, o):
    k = s.extended()
    lengths = np.add.outer(np.diag(k), np.diag(k))
    return {"value": float(np.maximum(2 * k - lengths, 0).max() / lengths.max())}


def gp_parts(s, k, coef):
    """Slope at the modes and Laplace's likelihood, one problem for two classes, else one per class."""
    labels = s.labels[1:] if len(s.labels) == 2 else s.labels
    worst, sum_ = 0, 0
    for a, label in zip(coef, labels):
        y = np.where(s.y == label, 1.0, -1.0)
        f = k @ a
        p = 1 / (1 + np.exp(-f))
        worst = max(worst, abs((y > 0) - p - a).max())
        root = np.sqrt(p * (1 - p))
        _, logs = np.linalg.slogdet(np.eye(len(f)) + root[:, None] * k * root)
        sum_ += -np.logaddexp(0, -y * f).sum() - a @ f / 2 - logs / 2
    return worst, sum_


def gp_classes(s, m, o):
    worst, likelihood = gp_parts(s, s.k, m.coef)
    return {"value": worst, "objective": likelihood}


def find_mode(k, y):
    """Newton's method for the mode (Rasmussen and Williams, algorithm 3.1); gives a."""
    f = np.zeros(len(y))
    for _ in range(60):
        p = 1 / (1 + np.exp(-f))
        w = p * (1 - p)
        b = w * f + (y > 0) - p
        a = b - w * np.linalg.solve(np.eye(len(y)) + k * w, k @ b)
        f = k @ a
    return a


def slope(value, at, n):
    """The largest slope against the logarithms of the scales, per object, by central differences."""
    step, worst = 1e-4, 0
    for i in range(len(at)):
        up, down = np.array(at), np.array(at)
        up[i], down[i] = at[i] * np.exp(step), at[i] * np.exp(-step)
        worst = max(worst, abs(value(up) - value(down)) / (2 * step))
    return worst / n


def gp_fitted(s, m, o):
    """Scales at a maximum of the likelihood: of a regression with noise, or of two classes."""
    found = tap.mercer_json("info", "c.mercer")["kernel"]
    gamma = float(found.split("gamma=")[1].rstrip(")"))
    d2 = np.array([((s.x - row) ** 2).sum(axis=1) for row in s.x])
    n = len(s.y)
    if o["task"] == "classify":
        y = np.where(s.y == s.labels[1], 1.0, -1.0)

        def value(at):
            k = np.exp(-at[0] * d2)
            return gp_parts(s, k, [find_mode(k, y)])[1]
        at = [gamma]
    else:
        scale, noise = m.extra["scale"][0], m.extra["noise"][0]
        y = (s.y - m.offset[0]) / scale

        def value(at):
            c = np.exp(-at[0] * d2) + at[1] * np.eye(n)
            return -(y @ np.linalg.solve(c, y) + np.linalg.slogdet(c)[1] + n * np.log(2 * np.pi)) / 2
        at = [gamma, noise]
    return {"value": slope(value, at, n), "objective": value(at)}


def loss_of(o, y, f):
    """Losses, and their derivatives where they have one."""
    name, e, delta, q = o["loss"], f - y, o.get("delta", 1.0), o.get("quantile", 0.5)
    if name == "squared":
        return e ** 2, 2 * e
    if name == "huber":
        return (np.where(abs(e) <= delta, e ** 2 / 2, delta * (abs(e) - delta / 2)),
                np.clip(e, -delta, delta))
    if name == "squared-hinge":
        return np.maximum(0, 1 - y * f) ** 2, -2 * y * np.maximum(0, 1 - y * f)
    if name == "logistic":
        return np.logaddexp(0, -y * f), -y / (1 + np.exp(y * f))
    if name == "hinge":
        return np.maximum(0, 1 - y * f), None
    if name == "quantile":
        return np.where(e < 0, -q * e, (1 - q) * e), None
    return np.maximum(abs(e) - (o.get("epsilon", 0.1) if name == "epsilon" else 0), 0), None


def erm(s, m, o):
    """Fenchel duality: smooth losses at the gradient, the others at the coefficients."""
    lam, primal, gap = o["lambda"], 0, 0
    targets = [s.y]
    if o["task"] == "classify":
        labels = s.labels[1:] if len(s.labels) == 2 else s.labels
        targets = [np.where(s.y == label, 1.0, -1.0) for label in labels]
    for b, y in zip(m.coef, targets):
        f = s.k @ b
        value, first = loss_of(o, y, f)
        own = value.sum() + lam * b @ f
        primal += own
        if first is not None:
            rest = 2 * lam * b + first
            gap += rest @ s.k @ rest / (4 * lam)
        else:
            width = o.get("epsilon", 0.1) if o["loss"] == "epsilon" else 0
            gap += own - lam * (2 * b @ y - 2 * width * abs(b).sum() - b @ f)
    return {"value": max(gap, 0) / abs(primal), "primal": primal, "gap": gap, "dual": primal - gap}


# ---- the tests ----------------------------------------------------------------------------------


def test_l1_svm():
    def run(s, faults):
        for tol in tolerances():
            check(s, "l1-svm", one_norm, ["--tol", tol, "-C", "1"], faults, floor=1e-10)
    over(SETS, run)


def test_fisher_and_neighbours():
    def run(s, faults):
        for lam in ("1e-3", "0.1"):
            check(s, "fisher", fisher, ["--lambda", lam], faults, floor=1e-9)
        check(s, "knn", neighbours, ["--task", "classify"], faults)
    over(SETS, run)
    over(NUMBERS, lambda s, faults: check(s, "knn", neighbours, ["--task", "regress"], faults))


def test_cca():
    """The two halves of the columns."""
    def run(s, faults):
        half, gamma = s.x.shape[1] // 2, s.kernel.split("gamma=")[-1].rstrip(")")
        if not s.kernel.startswith("rbf"):
            gamma = "0.1"
        with open(s.path, "w") as file:
            for row in s.x:
                file.write(json.dumps({"a": list(row[:half]), "b": list(row[half:])}) + "\n")
        os.replace(s.path, "two.jsonl")
        s.path, s.kernel = "two.jsonl", "rbf(a, gamma=%s)" % gamma
        s.views = [base.gram("rbf(gamma=%s)" % gamma, x) for x in (s.x[:, :half], s.x[:, half:])]
        for tol in ("1e-4", "1e-8"):
            check(s, "cca", cca, ["--kernel2", "rbf(b, gamma=%s)" % gamma, "--tol", tol, "--target",
                                  "none"], faults, floor=1e-10, given=["--target", "none"])
    over(SETS + NUMBERS, run)


def test_gaussian_processes():
    def classes(s, faults):
        check(s, "gp", gp_classes, ["--task", "classify", "--optimize", "no"], faults, floor=1e-9)
        if len(s.labels) == 2 and s.kernel.startswith("rbf"):
            check(s, "gp", gp_fitted, ["--task", "classify", "--tol", "1e-3"], faults, floor=1e-6)

    def numbers(s, faults):
        check(s, "gp", gp_fitted, ["--task", "regress", "--tol", "1e-3"], faults, floor=1e-6)
    over(SETS, classes)
    over(NUMBERS, numbers)


def test_losses_of_classes():
    def run(s, faults):
        for tol in tolerances():
            for loss in ("hinge", "squared-hinge", "logistic"):
                check(s, "erm", erm, ["--tol", tol, "--task", "classify", "--loss", loss, "--lambda",
                                      "0.2"], faults)
    over(SETS, run)


def test_losses_of_numbers():
    def run(s, faults):
        for tol in tolerances():
            for loss in ("epsilon", "absolute", "huber", "squared", "quantile"):
                check(s, "erm", erm, ["--tol", tol, "--task", "regress", "--loss", loss, "--lambda",
                                      "0.2", "--quantile", "0.8"], faults)
    over(NUMBERS, run)


if __name__ == "__main__":
    tap.main(globals())
