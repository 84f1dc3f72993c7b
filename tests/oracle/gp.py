"""gp.py: the search for the scales of a Gaussian process ends, and ends at what it says.

The likelihood at the scales found is computed again with NumPy, and its slopes by differences.

SPDX-License-Identifier: Apache-2.0
"""

import re

import numpy as np

import tap


def likelihood(k, noise, y):
    y = (y - y.mean()) / y.std()
    c = np.linalg.cholesky(k + noise * np.eye(len(y)))
    a = np.linalg.solve(c.T, np.linalg.solve(c, y))
    return -0.5 * y @ a - np.log(np.diag(c)).sum() - 0.5 * len(y) * np.log(2 * np.pi)


def numbers(kernel):
    return [float(t) for t in re.findall(r"(?<![a-z])[0-9][0-9.e+-]*", kernel)]


def carbon(n=300):
    """A series like that of Mauna Loa: a trend, a yearly wave that grows, slow and fast noise."""
    rng = np.random.default_rng(1)
    t = 1958 + np.arange(n) / 12
    y = 315 + 0.8 * (t - 1958) + 0.012 * (t - 1958) ** 2
    y += (2.5 + 0.02 * (t - 1958)) * np.sin(2 * np.pi * t) + 0.8 * np.sin(4 * np.pi * t)
    y += 0.05 * np.cumsum(np.cumsum(rng.normal(0, 0.02, n)))
    y += np.convolve(rng.normal(0, 0.3, n + 12), np.ones(6) / 6, "same")[:n]
    y += rng.normal(0, 0.15, n)
    np.savetxt("co2.csv", np.c_[t, y], delimiter=",", header="t,y", comments="", fmt="%.17g")
    return t, y


def test_a_sum_of_four_terms():
    t, y = carbon()
    apart = t[:, None] - t
    report = tap.mercer_json(
        "fit", "gp", "co2.csv", "--target", "y", "--restarts", "0", "-o", "m.mercer", "-k",
        "1*rbf(gamma=0.0002) + 0.1*rbf(gamma=0.00005)*periodic(period=1, length=1.3) + "
        "0.01*rq(alpha=2, length=1.5) + 0.01*rbf(gamma=5)")
    print("# %d steps, log likelihood %.3f, %s" % (report["iterations"], report["objective"],
                                                  report["kernel"]))
    tap.check_equal(report["stop"], "local")
    assert report["iterations"] < 400, report["iterations"]

    def matrix(p):
        a, ga, b, gb, period, length, c, alpha, wide, d, gd = p
        s = apart ** 2
        return (a * np.exp(-ga * s) + b * np.exp(-gb * s) *
                np.exp(-2 * np.sin(np.pi * apart / period) ** 2 / length ** 2) +
                c * (1 + s / (2 * alpha * wide ** 2)) ** -alpha + d * np.exp(-gd * s))

    found = np.array(numbers(report["kernel"]))
    tap.check_equal(len(found), 11)
    noise = report["noise"] / y.var()
    at_end = likelihood(matrix(found), noise, y)
    tap.check_near(report["objective"], at_end, 1e-5, "log likelihood")
    # No scale alone can gain anything that matters any more.
    for i in range(len(found)):
        for factor in (0.97, 1.03):
            if report["kernel"].count("periodic") and i == 4:
                factor = 1 + (factor - 1) / 300
            moved = found.copy()
            moved[i] *= factor
            assert likelihood(matrix(moved), noise, y) < at_end + 0.05, (i, factor)


def test_one_scale_a_column():
    """rbf(gamma=[...]): the likelihood is that of NumPy, and the columns that matter are found."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(150, 12))
    y = np.sin(2 * x[:, 3]) + 0.5 * x[:, 7] + 0.05 * rng.normal(size=150)
    np.savetxt("x.csv", np.c_[x, y], delimiter=",", fmt="%.17g",
               header=",".join("x%d" % i for i in range(12)) + ",y", comments="")
    for kernel in ("2*rbf(gamma=[%s])" % ",".join(["0.1"] * 12),
                   "2*matern(nu=2.5, length=[%s])" % ",".join(["2"] * 12)):
        report = tap.mercer_json("fit", "gp", "x.csv", "--target", "y", "-k", kernel, "--restarts",
                                 "0", "-o", "m.mercer")
        tap.check_equal(report["stop"], "local")
        p = numbers(report["kernel"])
        if kernel.startswith("2*matern"):
            length = np.array(p[2:])
            r = np.sqrt(5 * (((x[:, None] - x) / length) ** 2).sum(-1))
            k, relevance = p[0] * (1 + r + r ** 2 / 3) * np.exp(-r), 1 / length
        else:
            relevance = np.array(p[1:])
            k = p[0] * np.exp(-((x[:, None] - x) ** 2 * relevance).sum(-1))
        tap.check_near(report["objective"], likelihood(k, report["noise"] / y.var(), y), 1e-5, kernel)
        tap.check_equal(set(np.argsort(relevance)[-2:]), {3, 7})


def test_the_error_of_the_likelihood():
    """With little noise the matrix is nearly singular, and rounding changes leading digits."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3))
    y = np.sin(x[:, 0]) + rng.normal(0, 0.2, 60)
    np.savetxt("few.csv", np.c_[x, y], delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    wide, t = x.astype(np.longdouble), (y - y.mean()) / y.std()
    k = np.exp(-np.longdouble("0.003") * ((wide[:, None] - wide) ** 2).sum(axis=2))
    for noise in ("1e-8", "1e-6", "1e-3"):
        report = tap.mercer_json("fit", "gp", "few.csv", "-k", "rbf(gamma=0.003)", "--noise", noise,
                                 "--optimize", "no", "-o", "m.mercer")
        c = k + np.longdouble(noise) * np.eye(60)
        low, rest = np.zeros_like(c), t.astype(np.longdouble)
        for i in range(60):
            low[i, i] = np.sqrt(c[i, i] - low[i, :i] @ low[i, :i])
            low[i + 1:, i] = (c[i + 1:, i] - low[i + 1:, :i] @ low[i, :i]) / low[i, i]
            rest[i] = (rest[i] - low[i, :i] @ rest[:i]) / low[i, i]
        want = -rest @ rest / 2 - np.log(np.diag(low)).sum() - 30 * np.log(2 * np.pi)
        off, error = abs(report["objective"] - want), report["objective_error"]
        print("# noise %s: off by %.1e, at most %.1e" % (noise, off, error))
        assert off <= error < 1e-4 * abs(want), (noise, report["objective"], want, error)
        check = tap.mercer_json("verify", "m.mercer", "few.csv")
        assert check["agrees"] is True, check
        again, error = check["recomputed"]["objective"], check["error"]["objective"]
        assert abs(again - want) <= error, (noise, again, want, error)


def test_constant_targets():
    """Their standard deviation is 0, and its rounding error is no scale."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(41, 1))
    np.savetxt("flat.csv", np.c_[x, np.full(41, 0.1)], delimiter=",", header="a,y", comments="", fmt="%.17g")
    tap.mercer("fit", "gp", "flat.csv", "-k", "rbf(gamma=1)", "--optimize", "no", "-o", "flat.mercer")
    np.savetxt("far.csv", [[90, 0], [95, 0]], delimiter=",", header="a,y", comments="", fmt="%.17g")
    tap.mercer("predict", "flat.mercer", "far.csv", "--std", "-o", "far.txt")
    found = np.loadtxt("far.txt")
    assert np.allclose(found, [[0.1, 1], [0.1, 1]]), found


if __name__ == "__main__":
    tap.main(globals())
