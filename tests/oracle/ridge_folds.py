"""ridge_folds.py: scores of `tune ridge`, whose held-out values of all folds come from one inverse
or eigendecomposition, against Cholesky factors of each fold in extended precision.

At the limit of the fastest way (src/solve/squares_folds.c) the largest error seen is 4e-8; the test
allows 1e-7. A table of errors:

    python3 ridge_folds.py --table friedman,sinc,gauss 150

SPDX-License-Identifier: Apache-2.0
"""

import sys

import numpy as np

import tap

FOLDS = 5
LIMIT = 1e-7
long = np.longdouble


def cholesky(a):
    a = a.copy()
    for k in range(len(a)):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k + 1:, k])
    return a


def solve(l, b):
    b = b.copy()
    for k in range(len(b)):
        b[k] /= l[k, k]
        b[k + 1:] -= l[k + 1:, k] * b[k]
    for k in range(len(b) - 1, -1, -1):
        b[k] = (b[k] - l[k + 1:, k] @ b[k + 1:]) / l[k, k]
    return b


def exact(x, y, fold, gamma, lambdas):
    """The mean over the folds of the mean squared error, for each lambda."""
    x, y = x.astype(long), y.astype(long)
    distance = sum((x[:, j][:, None] - x[:, j][None, :]) ** 2 for j in range(x.shape[1]))
    k = np.exp(-long(gamma) * distance)
    scores = []
    for penalty in lambdas:
        errors = []
        for f in range(FOLDS):
            train, test = fold != f, fold == f
            a = k[np.ix_(train, train)] + long(penalty) * np.eye(train.sum(), dtype=long)
            e = k[np.ix_(test, train)] @ solve(cholesky(a), y[train]) - y[test]
            errors.append((e * e).mean())
        scores.append(np.mean(errors))
    return scores


def tuned(x, y, fold, gamma, least, most, count):
    """{lambda: score}"""
    head = ",".join("x%d" % j for j in range(x.shape[1])) + ",y"
    np.savetxt("folds.csv", np.column_stack([x, y]), delimiter=",", header=head, comments="",
               fmt="%.17g")
    with open("folds.txt", "w") as out:
        out.writelines("g%d\n" % f for f in fold)
    report = tap.mercer_json("tune", "ridge", "folds.csv", "-k", "rbf(gamma=%r)" % gamma, "--lambda",
                             "%r:%r:log%d" % (least, most, count), "--folds", FOLDS, "--groups",
                             "folds.txt", "--metric", "mse", "--search", "grid", "-o", "folds.mercer")
    return {row["options"]["lambda"]: row["score"] for row in report["table"]}


def make(name, n):
    random = np.random.default_rng(5)
    if name == "friedman":
        x = random.random((n, 5))
        return x, (10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - .5) ** 2 + 10 * x[:, 3] +
                   5 * x[:, 4] + random.normal(size=n))
    if name == "sinc":
        x = random.uniform(-3, 3, (n, 1))
        return x, np.sinc(x[:, 0]) + .1 * random.normal(size=n)
    x = random.normal(size=(n, 10))
    return x, x[:, 0] * x[:, 1] + random.normal(size=n)


def worst(name, n, gamma, condition, span, count):
    """The largest relative error of the scores of the smallest lambda and of another one."""
    x, y = make(name, n)
    fold = np.arange(n) % FOLDS
    least = n / condition
    got = tuned(x, y, fold, gamma, least, least * span, count)
    some = [sorted(got)[0], sorted(got)[count // 3]]
    wanted = exact(x, y, fold, gamma, some)
    return max(float(abs(got[p] - w) / w) for p, w in zip(some, wanted))


def test_scores_of_folds():
    if np.finfo(long).eps > 1e-18:
        tap.skip("long double is not longer than double")
    for name, gamma in (("friedman", 0.05), ("sinc", 0.5), ("gauss", 0.005)):
        for condition, span, count in ((2.5e6, 500, 10), (1e6, 500, 10), (6e5, 2, 3), (2.5e6, 2, 3),
                                       (1e8, 500, 10)):
            error = worst(name, 100, gamma, condition, span, count)
            assert error <= LIMIT, "%s, trace / lambda %.0e, range %d: the score errs by %.1e" % (
                name, condition, span, error)


def print_table(names, n):
    for name in names:
        for gamma in (0.005, 0.05, 0.5, 5.0):
            for condition in (3e5, 1e6, 2.5e6, 1e7):
                print("%-9s gamma %-6g trace / lambda %.1e: range 500 %.1e, range 2 %.1e" % (
                    name, gamma, condition, worst(name, n, gamma, condition, 500, 10),
                    worst(name, n, gamma, condition, 2, 3)), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        print_table(sys.argv[2].split(","), int(sys.argv[3]))
    else:
        tap.main(globals())
