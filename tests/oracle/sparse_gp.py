"""sparse_gp.py: sparse Gaussian processes (gp --approx sgpr) against dense formulas by NumPy, and their likelihood
against the exact one.

The landmarks are those of the model file; everything else is computed from the data: Q = K_nm (K_m + jitter)^-1 K_mn,
log N(y; 0, Q + s) - tr(K - Q)/(2s) below, s + tr(K - Q) in the quadratic form above (Titsias 2009, 2014).

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small problems: threads that wait for each other

import numpy as np

import tap

try:
    import scipy.optimize
except ImportError as fault:
    scipy, why = None, str(fault)

JITTER = 1e-8


def sample(name, n, path):
    tap.mercer("sample", name, "-n", n, "-o", path, "--quiet")
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def kernel(a, b, factor, gamma):
    return factor * np.exp(-gamma * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def bounds(x, y, z, factor, gamma, noise):
    """Both bounds, the mean and the variance at x."""
    km = kernel(z, z, factor, gamma)
    km += JITTER * factor * np.eye(len(z))
    nm = kernel(x, z, factor, gamma)
    v = np.linalg.solve(np.linalg.cholesky(km), nm.T)
    q = v.T @ v
    left = len(x) * factor - np.trace(q)
    n = len(x)
    c = q + noise * np.eye(n)
    a = np.linalg.solve(c, y)
    log = np.linalg.slogdet(c)[1] + n * np.log(2 * np.pi)
    lower = -0.5 * (log + y @ a + left / noise)
    upper = -0.5 * (log + y @ np.linalg.solve(c + left * np.eye(n), y))
    variance = factor - np.einsum("ij,ji->i", q, np.linalg.solve(c, q))
    return lower, upper, q @ a, variance


def exact(x, y, factor, gamma, noise):
    c = kernel(x, x, factor, gamma) + noise * np.eye(len(x))
    return -0.5 * (np.linalg.slogdet(c)[1] + len(x) * np.log(2 * np.pi) + y @ np.linalg.solve(c, y))


def fit(data, expression, *options):
    """The report, the landmarks, and value and standard deviation of the training objects."""
    out = tap.mercer_json("fit", "gp", data, "-k", expression, "--approx", "sgpr", "-o", "m.mercer",
                          *options)
    tap.check_equal(out["approx"]["kind"], "sgpr")
    tap.mercer("export", "m.mercer", "--to", "json", "-o", "m.json", "--quiet")
    with open("m.json") as file:
        landmarks = np.array(json.load(file)["fields"][0]["support"])
    tap.mercer("predict", "m.mercer", data, "--std", "-o", "p.npy", "--quiet")
    return out, landmarks, np.load("p.npy")


def test_bounds_are_the_dense_ones():
    x, y = sample("friedman", 500, "f.csv")
    t = (y - y.mean()) / y.std()
    for landmarks in ("greedy", "uniform", "kmeans", "leverage"):
        for rank in (20, 120):
            out, z, p = fit("f.csv", "2*rbf(gamma=0.3)", "--rank", rank, "--optimize", "no", "--noise",
                            0.05, "--landmarks", landmarks)
            lower, upper, mean, variance = bounds(x, t, z, 2, 0.3, 0.05)
            tap.check_near(out["objective"], lower, 1e-6 * abs(lower), landmarks)
            tap.check_near(out["dual"], lower, 1e-6 * abs(lower), landmarks)
            tap.check_near(out["primal"], upper, 1e-6 * abs(lower), landmarks)
            assert lower < exact(x, t, 2, 0.3, 0.05) < upper, (landmarks, rank)
            tap.check_near(np.abs(p[:, 0] - y.mean() - y.std() * mean).max(), 0, 1e-6, "mean")
            tap.check_near(np.abs(p[:, 1] - y.std() * np.sqrt(variance)).max(), 0, 1e-5, "std")
            found = tap.mercer_json("verify", "m.mercer", "f.csv")
            assert found["agrees"], found
            tap.check_near(found["recomputed"]["dual"], lower, 1e-6 * abs(lower), "verify")
            tap.check_near(found["recomputed"]["primal"], upper, 1e-6 * abs(lower), "verify")


def test_greedy_landmarks_are_better():
    """Of uneven data, most in one place: what they leave is less than with landmarks drawn at random."""
    r = np.random.default_rng(3)
    x = np.vstack([0.1 * r.normal(size=(450, 2)), 3 * r.normal(size=(50, 2))])
    np.savetxt("u.csv", np.column_stack([x, np.sin(x[:, 0])]), delimiter=",", header="a,b,y", comments="")
    gap = {}
    for how in ("greedy", "uniform"):
        for rank in (20, 40, 80):
            gap[how, rank] = fit("u.csv", "rbf(gamma=0.3)", "--rank", rank, "--optimize", "no",
                                 "--landmarks", how)[0]["gap"]
        assert gap[how, 20] > gap[how, 40] > gap[how, 80] > 0, gap
    for rank in (20, 40, 80):
        assert gap["greedy", rank] < gap["uniform", rank], gap


def test_scales_are_the_best():
    """From what is found, SciPy finds nothing better with the same landmarks."""
    if scipy is None:
        tap.skip("SciPy is not there (%s)" % why)
    x, y = sample("friedman", 400, "f.csv")
    t = (y - y.mean()) / y.std()
    out, z, p = fit("f.csv", "2*rbf(gamma=0.3)", "--rank", 60, "--restarts", 0)
    factor, gamma = (float(w) for w in re.fullmatch(r"(.*)\*rbf\(gamma=(.*)\)", out["kernel"]).groups())
    noise = out["noise"] / y.var()
    lower = bounds(x, t, z, factor, gamma, noise)[0]
    tap.check_near(out["objective"], lower, 1e-6 * abs(lower), "bound")

    def objective(v):
        return -bounds(x, t, z, *np.exp(v))[0]

    found = scipy.optimize.minimize(objective, np.log([factor, gamma, noise]), method="Nelder-Mead",
                                    options={"maxfev": 150, "initial_simplex": None})
    assert -found.fun <= lower + 1e-2, (found.fun, lower)


def test_with_few_needed_it_is_exact():
    """One smooth function of one number: 40 landmarks bracket the likelihood, and both models agree."""
    sample("sinc", 600, "s.csv")
    out, z, p = fit("s.csv", "rbf(gamma=0.1)", "--rank", 40, "--optimize", "no", "--noise", 0.1)
    whole = tap.mercer_json("fit", "gp", "s.csv", "-k", "rbf(gamma=0.1)", "--optimize", "no", "--noise",
                            0.1, "-o", "e.mercer")
    tap.mercer("predict", "e.mercer", "s.csv", "--std", "-o", "e.npy", "--quiet")
    assert out["dual"] <= whole["objective"] <= out["primal"], (out, whole)
    assert out["gap"] < 5e-2, out["gap"]
    tap.check_near(np.abs(np.load("e.npy") - p).max(), 0, 1e-4, "predictions")


def test_without_the_kernel_matrix():
    """By conjugate gradients: the mean is the exact one, variances are upper bounds and no farther off than reported."""
    for name, kernel_text, gamma in (("friedman", "rbf(gamma=0.5)", 0.5), ("sinc", "rbf(gamma=0.1)", 0.1)):
        x, y = sample(name, 1500, "l.csv")
        t = (y - y.mean()) / y.std()
        call = ["l.csv", "-k", kernel_text, "--optimize", "no", "--noise", 0.1]
        out = tap.mercer_json("fit", "gp", *call, "--memory", "9M", "-o", "l.mercer")
        assert "does not fit into memory" in out["remark"], out
        assert out["certificate"]["value"] <= 1e-6 and out["stop"] == "optimal", out
        tap.mercer("predict", "l.mercer", "l.csv", "--std", "-o", "l.npy", "--memory", "9M", "--quiet")
        p = np.load("l.npy")
        k = kernel(x, x, 1, gamma)
        c = k + 0.1 * np.eye(len(x))
        mean = k @ np.linalg.solve(c, t)
        variance = 1 - np.einsum("ij,ji->i", k, np.linalg.solve(c, k))
        tap.check_near(np.abs((p[:, 0] - y.mean()) / y.std() - mean).max(), 0, 2e-5, name)
        excess = (p[:, 1] / y.std()) ** 2 - variance
        assert excess.min() > -1e-9, (name, excess.min())
        most, mean_excess = (float(w) for w in re.search(
            r"at most (\S+) of K\(x,x\), on average by ([^\s;]+)", out["remark"]).groups())
        assert excess.mean() <= 1.3 * mean_excess + 1e-9, (name, excess.mean(), mean_excess)
        assert np.quantile(excess, 0.99) <= 1.05 * most + 1e-9, (name, excess.max(), most)
        likely = exact(x, t, 1, gamma, 0.1)
        assert out["dual"] <= likely + 1e-6 and likely - 1e-6 <= out["primal"], (out, likely)
        found = tap.mercer_json("verify", "l.mercer", "l.csv")
        assert found["agrees"], found


if __name__ == "__main__":
    tap.main(globals())
