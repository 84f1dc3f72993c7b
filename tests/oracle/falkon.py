"""falkon.py: problems restricted to the span of landmarks, against dense solutions by NumPy and SciPy.

The landmarks are those of the model file; K_nm and K_mm come from NumPy. Ridge regression then is
(K_mn K_nm + lambda K_mm) c = K_mn y, solved by QR; logistic regression is minimised by SciPy in a basis where the
penalty is a multiple of |w|^2.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small problems: threads that wait for each other

import numpy as np

import tap

try:
    import scipy.optimize
except ImportError as fault:
    scipy, why = None, str(fault)

GAMMA = 0.5


def need():
    if scipy is None:
        tap.skip("SciPy is not there (%s)" % why)


def sample(name, n, path):
    tap.mercer("sample", name, "-n", n, "-o", path, "--quiet")
    with open(path) as lines:
        table = np.array([[float(word) for word in line.split(",")] for line in list(lines)[1:]])
    return table[:, :-1], table[:, -1]


def kernel(a, b):
    return np.exp(-GAMMA * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def solve(nm, mm, lam, goal):
    """Coefficients of ridge regression on landmarks, by QR rather than normal equations."""
    root = np.sqrt(lam) * np.linalg.cholesky(mm).T
    zero = np.zeros((len(mm),) + goal.shape[1:])
    return np.linalg.lstsq(np.vstack([nm, root]), np.concatenate([goal, zero]), rcond=None)[0]


def fit(learner, data, *options):
    """The report, the landmarks, and the scores of the training objects."""
    out = tap.mercer_json("fit", learner, data, "-k", "rbf(gamma=%g)" % GAMMA, "--approx", "falkon",
                          "-o", "m.mercer", *options)
    tap.check_equal(out["approx"]["kind"], "falkon")
    known = out["certificate"]  # a tolerance below what rounding leaves of the bound is not proved
    assert out["stop"] == "optimal" or known["error"] > known["tolerance"] < 1e-10, out
    tap.mercer("export", "m.mercer", "--to", "json", "-o", "m.json", "--quiet")
    with open("m.json") as file:
        landmarks = np.array(json.load(file)["fields"][0]["support"])
    tap.mercer("predict", "m.mercer", data, "--scores", "-o", "s.npy", "--quiet")
    return out, landmarks, np.load("s.npy")


def test_ridge_is_the_dense_solution():
    need()
    x, y = sample("friedman", 1500, "f.csv")
    lam = 0.1
    for landmarks in ("uniform", "leverage"):
        for memory in ("1G", "50M"):
            out, z, f = fit("ridge", "f.csv", "--rank", 120, "--lambda", lam, "--tol", 1e-18,
                            "--landmarks", landmarks, "--memory", memory)
            tap.check_equal("computed in each pass" in out["form_reason"], True)
            nm, mm = kernel(x, z), kernel(z, z)
            c = solve(nm, mm, lam, y)
            want = nm @ c
            objective = ((y - want) ** 2).sum() + lam * c @ mm @ c
            tap.check_near(np.abs(f.reshape(-1) - want).max(), 0, 1e-8 * np.abs(want).max(), landmarks)
            tap.check_near(out["objective"], objective, 1e-10 * objective, landmarks)


def test_the_gap_bounds_the_distance():
    """A loose tolerance: the objective is above the optimum by less than the gap that is printed."""
    need()
    x, y = sample("friedman", 4000, "f.csv")
    for tol in (1e-2, 1e-4, 1e-6):
        out, z, f = fit("ridge", "f.csv", "--rank", 100, "--lambda", 1e-3, "--tol", tol)
        nm, mm = kernel(x, z), kernel(z, z)
        c = solve(nm, mm, 1e-3, y)
        best = ((y - nm @ c) ** 2).sum() + 1e-3 * c @ mm @ c
        above = out["objective"] - best
        gap = out["certificate"]["value"] * out["objective"]
        assert -1e-9 * best <= above <= gap * (1 + 1e-6) + 1e-9 * best, (tol, above, gap)
        assert gap <= tol * out["objective"], (tol, gap)
        # verify recomputes it: |gradient|^2 / (2 mu) on the span, mu = 2 lambda.
        found = tap.mercer_json("verify", "m.mercer", "f.csv")
        c = np.linalg.lstsq(nm, f.reshape(-1), rcond=None)[0]
        u = mm @ (2e-3 * c) - 2 * nm.T @ (y - f.reshape(-1))
        want = u @ np.linalg.solve(mm, u) / 4e-3
        tap.check_near(found["recomputed"]["gap"], want, 1e-3 * want + 1e-7, "verify")


def test_classes_by_ridge_and_logistic():
    need()
    x, label = sample("blobs", 900, "b.csv")
    names = np.unique(label)
    out, z, f = fit("ridge", "b.csv", "--task", "classify", "--rank", 50, "--lambda", 0.5, "--tol",
                    1e-18)
    nm, mm = kernel(x, z), kernel(z, z)
    goal = np.where(label[:, None] == names[None, :], 1.0, -1.0)
    want = nm @ solve(nm, mm, 0.5, goal)
    tap.check_near(np.abs(f - want).max(), 0, 1e-8, "classes by ridge")
    lam = 0.3
    out, z, f = fit("logistic", "b.csv", "--rank", 50, "--lambda", lam, "--tol", 1e-15)
    basis = kernel(x, z) @ np.linalg.inv(np.linalg.cholesky(kernel(z, z))).T
    shape = (basis.shape[1], len(names))
    own = goal > 0

    def objective(w):
        scores = basis @ w.reshape(shape)
        top = scores.max(axis=1, keepdims=True)
        p = np.exp(scores - top)
        total = p.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) + top[:, 0] - scores[own]).sum()
        slope = basis.T @ (p / total - own) + 2 * lam * w.reshape(shape)
        return loss + lam * w @ w, slope.reshape(-1)

    best = scipy.optimize.minimize(objective, np.zeros(shape).reshape(-1), jac=True, method="L-BFGS-B",
                                   options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-16,
                                            "gtol": 1e-9})
    tap.check_near(out["objective"], best.fun, 1e-9 * best.fun, "logistic")
    tap.check_near(np.abs(f - basis @ best.x.reshape(shape)).max(), 0, 1e-5, "logistic scores")


def test_all_objects_as_landmarks_are_the_exact_problem():
    need()
    sample("sinc", 150, "s.csv")
    out, z, f = fit("ridge", "s.csv", "--rank", 150, "--lambda", 0.05, "--tol", 1e-16)
    tap.mercer("fit", "ridge", "s.csv", "-k", "rbf(gamma=%g)" % GAMMA, "--lambda", 0.05, "-o",
               "e.mercer", "--quiet")
    tap.mercer("predict", "e.mercer", "s.csv", "--scores", "-o", "e.npy", "--quiet")
    tap.check_near(np.abs(f - np.load("e.npy")).max(), 0, 1e-6, "exact")


if __name__ == "__main__":
    tap.main(globals())
