"""--missing kernel: distances to missing values against NumPy, and that kernels stay positive semidefinite.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

import tap


def make(n, seed, rate=.25):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 4)) * [1, 5, 100, .01] + [0, 3, -50, 1]
    holes = r.random(x.shape) < rate
    holes[:, 3] = False  # a column that is complete
    x[holes] = np.nan
    return x, np.where(r.random(n) + (np.nan_to_num(x[:, 0]) > 0) > 1, "a", "b")


def save(path, x, y):
    with open(path, "w") as out:
        out.write("u,v,w,full,y\n")
        for row, label in zip(x, y):
            out.write(",".join(["" if np.isnan(v) else repr(float(v)) for v in row] + [label]) + "\n")


def squared_distances(a, b, mean, variance):
    """Column by column: the difference, or what it is on average if one value is missing; both missing: alike."""
    d = np.zeros((len(a), len(b)))
    for c in range(a.shape[1]):
        x, z = a[:, c][:, None], b[:, c][None, :]
        one = np.isnan(x) ^ np.isnan(z)
        known = np.where(np.isnan(x), z, x)
        d += np.where(one, (known - mean[c]) ** 2 + variance[c], np.where(np.isnan(x) & np.isnan(z), 0, (x - z) ** 2))
    return d


def test_distances():
    x, y = make(60, 1)
    save("t.csv", x, y)
    d = squared_distances(x, x, np.nanmean(x, axis=0), np.nanvar(x, axis=0))
    for expression, wanted in ("rbf(gamma=0.0003)", np.exp(-.0003 * d)), ("laplace(gamma=0.01)", None), ("linear", None):
        tap.mercer("gram", "t.csv", "--missing", "kernel", "-k", expression, "-o", "k.npy")
        k = np.load("k.npy")
        if wanted is not None:
            assert np.abs(k - wanted).max() < 1e-12, np.abs(k - wanted).max()
        assert np.linalg.eigvalsh(k).min() > -1e-10 * np.abs(k).max(), expression
    # the distance over the observed columns alone is no such distance
    share = (~np.isnan(x))[:, None, :] & (~np.isnan(x))[None, :, :]
    part = np.where(share, (np.nan_to_num(x)[:, None, :] - np.nan_to_num(x)[None, :, :]) ** 2, 0).sum(2) * 4 / share.sum(2)
    assert np.linalg.eigvalsh(np.exp(-.0003 * part)).min() < -1e-3


def test_learnt_in_training():
    """New rows are measured by the training rows, with their scale, as if the columns had been made by hand."""
    x, y = make(120, 2)
    new, other = make(50, 3)
    mean, sd = np.nanmean(x, axis=0), np.nanstd(x, axis=0)

    def by_hand(v):
        filled = np.where(np.isnan(v), mean, v)
        unit = np.where(np.isnan(x), mean, x).std(axis=0)
        flags = np.isnan(v)[:, :3] * (sd / unit)[:3]
        return np.hstack([(filled - np.where(np.isnan(x), mean, x).mean(axis=0)) / unit, flags])

    save("train.csv", x, y)
    save("new.csv", new, other)
    for path, v, label in ("train_hand.svm", x, y), ("new_hand.svm", new, other):
        with open(path, "w") as out:
            for row, name in zip(by_hand(v), label):
                out.write(name + "".join(f" {i + 1}:{float(e)!r}" for i, e in enumerate(row)) + "\n")
    scores = []
    for train, test, more in ("train.csv", "new.csv", ["--missing", "kernel", "--scale", "standard"]), ("train_hand.svm", "new_hand.svm", []):
        tap.mercer("fit", "svm", train, *more, "-k", "rbf(gamma=0.2)", "-C", "3", "--tol", "1e-8", "-o", "m.mercer")
        out = tap.mercer("predict", "m.mercer", test, "--scores").stdout.splitlines()[1:]
        scores.append([float(line.split("\t")[-1]) for line in out])
    assert np.abs(np.subtract(*scores)).max() < 1e-6, np.abs(np.subtract(*scores)).max()


if __name__ == "__main__":
    tap.main(globals())
