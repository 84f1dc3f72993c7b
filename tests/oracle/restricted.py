"""restricted.py: certificates on the span of landmarks (--approx falkon), in extended precision.

From the coefficients of a model file, and the data, NumPy's long double computes the objective of the stored function
and the optimum on its landmarks, by Newton's method in an orthonormal basis. The objective that is printed must be that
of the stored function within its error, and what it is above the optimum at most the gap that is printed, within its.
The landmarks nearly depend on each other, and lambda goes down to where double has few digits of the gradient.
`mercer verify` must agree with all of these models, and with none in which a coefficient was changed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import os
import random

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tap

try:
    import numpy as np

    import certificates_all as files
except ImportError as fault:
    np, why = None, str(fault)

GAMMA = 0.03
LAMBDAS = ("1", "1e-3", "1e-5", "1e-7", "1e-9", "1e-10")


def need():
    if np is None:
        tap.skip("NumPy is not there (%s)" % why)
    if np.finfo(np.longdouble).nmant < 63:
        tap.skip("long double is no more than double here")


# ---- linear algebra in long double --------------------------------------------------------------


def cholesky(a):
    low = np.zeros_like(a)
    for j in range(len(a)):
        low[j, j] = np.sqrt(a[j, j] - low[j, :j] @ low[j, :j])
        low[j + 1:, j] = (a[j + 1:, j] - low[j + 1:, :j] @ low[j, :j]) / low[j, j]
    return low


def solve_lower(low, b):
    x = b.copy()
    for i in range(len(low)):
        x[i] = (x[i] - low[i, :i] @ x[:i]) / low[i, i]
    return x


def solve(a, b):
    low = cholesky(a)
    x = solve_lower(low, b)
    for i in reversed(range(len(low))):
        x[i] = (x[i] - low[i + 1:, i] @ x[i + 1:]) / low[i, i]
    return x


def kernel(a, b):
    return np.exp(-np.longdouble(GAMMA) * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


# ---- losses: value, slopes, curvatures (n x k x k) ----------------------------------------------


def squared(y):
    return lambda f: (((f - y) ** 2).sum(), 2 * (f - y), np.full((len(y), 1, 1), 2, dtype=np.longdouble))


def two_classes(sign):
    def loss(f):
        margin = sign * f
        p = 1 / (1 + np.exp(margin))
        value = (np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin)))).sum()
        return value, -sign * p, (p * (1 - p))[:, :, None]
    return loss


def many_classes(own):
    def loss(f):
        top = f.max(axis=1, keepdims=True)
        p = np.exp(f - top)
        total = p.sum(axis=1, keepdims=True)
        p = p / total
        value = (np.log(total) + top - (f * own).sum(axis=1, keepdims=True)).sum()
        return value, p - own, p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]
    return loss


def optimum(d, loss, mu, w):
    """The least objective, by Newton's method from w."""
    m, k = w.shape
    for _ in range(80):
        value, slope, bend = loss(d @ w)
        value += mu / 2 * (w * w).sum()
        gradient = d.T @ slope + mu * w
        if (gradient ** 2).sum() / (2 * mu) < 1e-12 * value:
            break
        hessian = np.zeros((k * m, k * m), dtype=np.longdouble)
        for a in range(k):
            for b in range(k):
                hessian[a * m:(a + 1) * m, b * m:(b + 1) * m] = d.T @ (bend[:, a, b, None] * d)
        hessian[np.diag_indices(k * m)] += mu
        step = solve(hessian, gradient.T.reshape(-1)).reshape(k, m).T
        length = np.longdouble(1)
        while length > 1e-9:
            after = w - length * step
            if loss(d @ after)[0] + mu / 2 * (after * after).sum() <= value:
                break
            length /= 2
        w = w - length * step
    return value, (gradient ** 2).sum() / (2 * mu)


# ---- models -------------------------------------------------------------------------------------


def write_data():
    draw = random.Random(11)
    x = [(draw.uniform(-3, 3), draw.uniform(-3, 3)) for _ in range(300)]
    y = [math.sin(a) + 0.5 * math.cos(1.3 * b) for a, b in x]
    noisy = [v + 0.2 * draw.gauss(0, 1) for v in y]
    label = {"ridge": ["%.6f" % v for v in y],
             "two": ["ab"[v > 0] for v in noisy],
             "three": ["abc"[(v > -0.4) + (v > 0.5)] for v in noisy]}
    for name, column in label.items():
        with open(name + ".csv", "w") as out:
            out.write("u,v,y\n" + "".join("%.6f,%.6f,%s\n" % (a, b, c) for (a, b), c in zip(x, column)))
    points = np.array([[float("%.6f" % a), float("%.6f" % b)] for a, b in x]).astype(np.longdouble)
    return points, label


def state(name, label, names, lam):
    """Loss and mu; names: of the classes, in the model's order."""
    if name == "ridge":
        return squared(np.array([float(v) for v in label])[:, None].astype(np.longdouble)), 2 * lam
    classes = np.array(label)[:, None] == np.array(names)[None, :]
    if name == "two":
        return two_classes(np.where(classes[:, 1:], 1, -1).astype(np.longdouble)), lam
    return many_classes(classes.astype(np.longdouble)), 2 * lam


def check(name, x, label, lam):
    out = tap.mercer_json("fit", "ridge" if name == "ridge" else "logistic", name + ".csv", "-k",
                          "rbf(gamma=%g)" % GAMMA, "--lambda", lam, "--approx", "falkon", "--rank", 90, "-o", "m.mercer")
    tap.mercer("export", "m.mercer", "--to", "json", "-o", "m.json", "--quiet")
    with open("m.json") as file:
        model = json.load(file)
    z = np.array(model["fields"][0]["support"]).astype(np.longdouble)
    c = np.array(model["segments"][0]["coef"]).T.astype(np.longdouble)
    loss, mu = state(name, label, model["classes"], np.longdouble(float(lam)))
    nm, low = kernel(x, z), cholesky(kernel(z, z))
    w = low.T @ c
    primal = loss(nm @ c)[0] + mu / 2 * (w * w).sum()
    best, left = optimum(solve_lower(low, nm.T).T, loss, mu, w)
    known, case = out["certificate"], (name, lam, out["stop"])
    off = abs(primal - np.longdouble(out["objective"]))
    assert off <= out["objective_error"] + 1e-9 * primal, (case, off, out["objective_error"])
    gap, bound = primal - best, (known["value"] + known["error"]) * out["objective"]
    assert gap <= bound + left, (case, gap, bound)
    if out["stop"] == "optimal":
        assert known["value"] <= known["tolerance"] and known["error"] <= known["tolerance"], case
    return out


# ---- tests --------------------------------------------------------------------------------------


def test_the_certificate_is_that_of_the_stored_function():
    need()
    x, label = write_data()
    for name in label:
        for lam in LAMBDAS:
            out = check(name, x, label[name], lam)
            tap.check_equal(tap.mercer_json("verify", "m.mercer", name + ".csv")["agrees"], True, (name, lam))
            if float(lam) >= (1e-7 if name == "ridge" else 1e-5):  # below rounding may leave too little
                tap.check_equal(out["stop"], "optimal", (name, lam))


def test_verify_rejects_changed_coefficients():
    """By 0.001, where they are up to 1e8; by 10 where a certificate would hold in spite of less."""
    need()
    _, label = write_data()
    for name in label:
        for lam in LAMBDAS:
            tap.mercer("fit", "ridge" if name == "ridge" else "logistic", name + ".csv", "-k", "rbf(gamma=%g)" % GAMMA,
                       "--lambda", lam, "--approx", "falkon", "--rank", 90, "-o", "m.mercer", "--quiet")
            files.tamper("m.mercer", "bad.mercer", 1e-3 if name == "ridge" or float(lam) >= 1e-5 else 10)
            out = tap.mercer("verify", "bad.mercer", name + ".csv", "--json", status=None)
            tap.check_equal(json.loads(out.stdout)["agrees"], False, (name, lam))


if __name__ == "__main__":
    tap.main(globals())
