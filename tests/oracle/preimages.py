"""preimages.py: vectors whose image is near a projection, against plain NumPy.

With all components a training object comes back; what is reached is the distance that NumPy computes,
and no training object is nearer.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

import tap

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 5)) * 0.5 + 0.3
NEW = RNG.normal(size=(12, 5)) * 0.5 + 0.3


def sq(a, b):
    return ((a[:, None] - b) ** 2).sum(-1)


def matern(t, nu, length):
    r = np.sqrt(2 * nu * t) / length
    return np.exp(-r) * {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[nu]


KERNELS = {
    "linear": lambda a, b: a @ b.T,
    "3*linear + 2": lambda a, b: 3 * a @ b.T + 2,
    "poly(degree=3, c=1)": lambda a, b: (a @ b.T + 1) ** 3,
    "poly(degree=3, c=0, scale=2)": lambda a, b: (2 * a @ b.T) ** 3,
    "poly(degree=2, c=1)": lambda a, b: (a @ b.T + 1) ** 2,
    "rbf(gamma=0.3)": lambda a, b: np.exp(-0.3 * sq(a, b)),
    "2*rbf(gamma=0.3)": lambda a, b: 2 * np.exp(-0.3 * sq(a, b)),
    "rbf(gamma=0.3) + 0.5*rbf(gamma=2)":
        lambda a, b: np.exp(-0.3 * sq(a, b)) + 0.5 * np.exp(-2 * sq(a, b)),
    "rbf(gamma=[0.2, 0.3, 0.5, 0.1, 1])":
        lambda a, b: np.exp(-(((a[:, None] - b) ** 2) * [0.2, 0.3, 0.5, 0.1, 1]).sum(-1)),
    "laplace(gamma=0.4)": lambda a, b: np.exp(-0.4 * np.abs(a[:, None] - b).sum(-1)),
    "matern(nu=0.5, length=2)": lambda a, b: matern(sq(a, b), 0.5, 2),
    "matern(length=2)": lambda a, b: matern(sq(a, b), 1.5, 2),
    "3*matern(nu=2.5, length=1.5)": lambda a, b: 3 * matern(sq(a, b), 2.5, 1.5),
    "rq(alpha=0.7, length=1.5)": lambda a, b: (1 + sq(a, b) / (2 * 0.7 * 1.5 ** 2)) ** -0.7,
    "linear + rbf(gamma=0.5)": lambda a, b: a @ b.T + np.exp(-0.5 * sq(a, b)),
    "exp(0.3*linear)": lambda a, b: np.exp(0.3 * a @ b.T),
    "cosine": lambda a, b: a @ b.T / np.sqrt((a * a).sum(1)[:, None] * (b * b).sum(1)),
}
EXACT = ("linear", "3*linear + 2")


def projections(k, f, parts):
    """|P|^2 and P.Phi(x_i) of the projections of `f`'s objects, from the training Gram alone."""
    n = len(k)
    j = np.eye(n) - 1 / n
    value, vector = np.linalg.eigh(j @ k @ j)
    order = np.argsort(value)[::-1][:parts]
    value, vector = value[order], vector[:, order]
    a = vector / np.sqrt(value)
    a = j @ a
    coordinate = (f - k.mean(1)) @ a
    return 1 / n + coordinate @ a.T


def run(kernel, parts):
    np.save("x.npy", X)
    np.save("new.npy", NEW)
    tap.mercer("fit", "pca", "x.npy", "--target", "none", "-k", kernel, "-n", parts, "-o", "m.mercer",
               "--quiet")
    out = []
    for name in ("x.npy", "new.npy"):
        report = tap.mercer_json("transform", "m.mercer", name, "--target", "none", "--preimage",
                                 "--distance", "-o", "z.npy")
        z = np.load("z.npy")
        tap.check_equal(z.shape[1], 6)
        tap.check_near(report["distance"]["max"], z[:, 5].max(), 1e-12)
        out.append((z[:, :5], z[:, 5]))
    return out


def rank(kernel, k):
    n = len(k)
    j = np.eye(n) - 1 / n
    value = np.linalg.eigvalsh(j @ k @ j)
    return int((value > 1e-9 * value.max()).sum())


def test_training_objects_come_back():
    for kernel, function in KERNELS.items():
        k = function(X, X)
        (z, distance), (new, _) = run(kernel, rank(kernel, k))
        if kernel == "cosine":  # the length of a vector does not matter
            z, x = z / np.linalg.norm(z, axis=1)[:, None], X / np.linalg.norm(X, axis=1)[:, None]
        else:
            x = X
        error = np.abs(z - x).max()
        print("# %-36s error %.1e, distance %.1e" % (kernel, error, distance.max()))
        assert error < 2e-5, (kernel, error)
        if kernel in EXACT:
            assert np.abs(new - NEW).max() < 1e-9, (kernel, np.abs(new - NEW).max())


def test_the_distance_is_what_it_says():
    for kernel, function in KERNELS.items():
        for parts in (3,):
            k = function(X, X)
            for x, (z, distance) in zip((X, NEW), run(kernel, parts)):
                g = projections(k, function(x, X), parts)
                own = np.array([function(v[None], v[None])[0, 0] for v in z])
                square = np.einsum("ij,jk,ik->i", g, k, g)
                reached = own - 2 * (function(z, X) * g).sum(1) + square
                best = (k.diagonal() - 2 * g @ k).min(1) + square
                size = k.diagonal().max()
                assert np.abs(reached - distance ** 2).max() < 1e-9 * size, kernel
                assert (reached <= best + 1e-9 * size).all(), (kernel, (reached - best).max())
                # Nor is any vector nearby.
                for step in (1e-2, 1e-3):
                    for j in range(5):
                        for sign in (-1, 1):
                            w = z.copy()
                            w[:, j] += sign * step
                            near = (np.array([function(v[None], v[None])[0, 0] for v in w]) -
                                    2 * (function(w, X) * g).sum(1) + square)
                            assert (near > reached - 1e-6 * size).all(), (kernel, parts)


if __name__ == "__main__":
    tap.main(globals())
