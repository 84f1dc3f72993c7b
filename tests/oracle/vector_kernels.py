"""Every kernel on vectors, and what expressions make of them, against plain NumPy.

The values of `mercer gram` on dense (NumPy) and sparse (LIBSVM) files, with itself, with another
set and with the other form, must agree to 1e-12 (relative for values above 1).

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

import tap

RNG = np.random.default_rng(20)
TOLERANCE = 1e-12
Q = np.array([[2, 1, 0, 0, 0], [1, 2, -0.5, 0, 0], [0, -0.5, 1, 0, 0], [0, 0, 0, 0.5, 0.5],
              [0, 0, 0, 0.5, 0.5]])


# ---- the formulas --------------------------------------------------------------------------------

def differences(x, z):
    return x[:, None, :] - z[None, :, :]


def linear(x, z):
    return np.array([[float(np.dot(a, b)) for b in z] for a in x])


def square(x, z, scale=1.0):
    return ((differences(x, z) * scale) ** 2).sum(2)


def rbf(x, z, gamma):
    return np.exp(-(np.asarray(gamma) * differences(x, z) ** 2).sum(2))


def laplace(x, z, gamma):
    return np.exp(-(np.asarray(gamma) * np.abs(differences(x, z))).sum(2))


def matern(x, z, nu, length):
    r = np.sqrt(2 * nu * square(x, z, 1 / np.asarray(length)))
    return {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[nu] * np.exp(-r)


def rq(x, z, alpha, length):
    return (1 + square(x, z, 1 / np.asarray(length)) / (2 * alpha)) ** -alpha


def periodic(x, z, period, length):
    s = np.sin(np.pi * differences(x, z) / np.asarray(period)) / np.asarray(length)
    return np.exp(-2 * (s ** 2).sum(2))


def cosine(x, z):
    length = np.sqrt((x * x).sum(1))[:, None] * np.sqrt((z * z).sum(1))[None, :]
    with np.errstate(invalid="ignore"):
        return np.where(length > 0, linear(x, z) / np.where(length > 0, length, 1), 0)


def chi2(x, z, gamma):
    total = x[:, None, :] + z[None, :, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.where(total > 0, differences(x, z) ** 2 / np.where(total > 0, total, 1), 0)
    return np.exp(-gamma * parts.sum(2))


def intersection(x, z):
    return np.minimum(x[:, None, :], z[None, :, :]).sum(2)


def normalized(k):
    def value(x, z):
        own = [np.array([k(a[None], a[None])[0, 0] for a in side]) for side in (x, z)]
        return k(x, z) / np.sqrt(own[0][:, None] * own[1][None, :])
    return value


def times_norms(k):
    return lambda x, z: (np.sqrt((x * x).sum(1))[:, None] * k(x, z)
                         * np.sqrt((z * z).sum(1))[None, :])


GAMMAS = [0.1, 0.2, 0.3, 0.4, 0.5]
SIGNED = {  # kernels for numbers of either sign, on 5 features
    "linear": linear,
    "mahalanobis(diag=[0.1, 0.2, 0.3, 0.4, 0.5])": lambda x, z: linear(x * GAMMAS, z),
    "mahalanobis(file=q.npy)": lambda x, z: x @ Q @ z.T,
    "mahalanobis(file=\"q.csv\")": lambda x, z: x @ Q @ z.T,
    "poly": lambda x, z: linear(x, z) ** 3,
    "poly(degree=5, c=0.5, scale=0.25)": lambda x, z: (0.25 * linear(x, z) + 0.5) ** 5,
    "rbf(gamma=0.4)": lambda x, z: rbf(x, z, 0.4),
    "rbf(sigma=2)": lambda x, z: rbf(x, z, 1 / 8),
    "rbf(width=2)": lambda x, z: rbf(x, z, 1 / 4),
    "rbf(beta=0.5)": lambda x, z: rbf(x, z, 1 / 4),
    "rbf(gamma=[0.1, 0.2, 0.3, 0.4, 0.5])": lambda x, z: rbf(x, z, GAMMAS),
    "laplace": lambda x, z: laplace(x, z, 1),
    "laplace(gamma=[0.1, 0.2, 0.3, 0.4, 0.5])": lambda x, z: laplace(x, z, GAMMAS),
    "matern": lambda x, z: matern(x, z, 1.5, 1),
    "matern(nu=0.5, length=2)": lambda x, z: matern(x, z, 0.5, 2),
    "matern(nu=2.5, length=[1, 2, 3, 4, 5])": lambda x, z: matern(x, z, 2.5, [1, 2, 3, 4, 5]),
    "rq": lambda x, z: rq(x, z, 1, 1),
    "rq(alpha=0.3, length=2)": lambda x, z: rq(x, z, 0.3, 2),
    "periodic": lambda x, z: periodic(x, z, 1, 1),
    "periodic(period=3, length=0.5)": lambda x, z: periodic(x, z, 3, 0.5),
    "periodic(period=[1, 2, 3, 4, 5], length=[5, 4, 3, 2, 1])":
        lambda x, z: periodic(x, z, [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]),
    "sigmoid(a=0.3, b=-0.2)": lambda x, z: np.tanh(0.3 * linear(x, z) - 0.2),
    "cosine": cosine,
    # sums, products, powers, exp, normalize, conformal
    "2*rbf(gamma=0.4) + linear": lambda x, z: 2 * rbf(x, z, 0.4) + linear(x, z),
    "rbf(gamma=0.4)*matern(nu=2.5) + 0.5": lambda x, z: rbf(x, z, 0.4) * matern(x, z, 2.5, 1) + 0.5,
    "(linear + 1)^3": lambda x, z: (linear(x, z) + 1) ** 3,
    "exp(0.1*linear)": lambda x, z: np.exp(0.1 * linear(x, z)),
    "exp(cosine + rbf(gamma=1))": lambda x, z: np.exp(cosine(x, z) + rbf(x, z, 1)),
    "normalize(poly(degree=2, c=1))": normalized(lambda x, z: (linear(x, z) + 1) ** 2),
    "normalize(linear + rbf(gamma=0.4))": normalized(lambda x, z: linear(x, z) + rbf(x, z, 0.4)),
    "conformal(rbf(gamma=0.4), f=norm)": times_norms(lambda x, z: rbf(x, z, 0.4)),
    "conformal(linear, f=2)": lambda x, z: x[:, 1:2] * linear(x, z) * z[:, 1:2].T,
    "poly(degree=2)*linear + cosine*sigmoid(a=0.1) + rq^2":
        lambda x, z: (linear(x, z) ** 3 + cosine(x, z) * np.tanh(0.1 * linear(x, z))
                      + rq(x, z, 1, 1) ** 2),
}
POSITIVE = {  # kernels for numbers from 0 up
    "chi2": lambda x, z: chi2(x, z, 1),
    "chi2(gamma=0.3)": lambda x, z: chi2(x, z, 0.3),
    "intersection": intersection,
    "chi2*intersection + laplace": lambda x, z: (chi2(x, z, 1) * intersection(x, z)
                                                 + laplace(x, z, 1)),
}


# ---- files ---------------------------------------------------------------------------------------

def write(name, x):
    """x as name.npy and as name.svm; the last object has all features, so that both have as many."""
    np.save(name + ".npy", x)
    with open(name + ".svm", "w") as f:
        for row in x:
            f.write("1 " + " ".join("%d:%r" % (k + 1, float(v)) for k, v in enumerate(row) if v)
                    + "\n")


def vectors(n, d, density, positive=False, at=0.0):
    x = RNG.random((n, d)) if positive else RNG.normal(size=(n, d))
    x[RNG.random((n, d)) >= density] = 0
    x[-1] = 0.25
    return x + at


def write_matrix():
    np.save("q.npy", Q)
    np.savetxt("q.csv", Q, delimiter=",", fmt="%r")


def gram(kernel, *files):
    tap.mercer("gram", *files, "-k", kernel, "--target", "none", "-o", "g.npy")
    return np.load("g.npy")


def near(kernel, got, wanted, tolerance=TOLERANCE):
    assert got.shape == wanted.shape, (kernel, got.shape, wanted.shape)
    error = np.abs(got - wanted) / np.maximum(1, np.abs(wanted))
    i, j = np.unravel_index(error.argmax(), error.shape)
    assert error[i, j] <= tolerance, "%s: K(%d,%d) is %r, expected %r" % (
        kernel, i, j, got[i, j], wanted[i, j])


def compare(kernels, x, z, forms=("npy", "svm")):
    write("x", x)
    write("z", z)
    write_matrix()
    for kernel, value in kernels.items():
        own, other = value(x, x), value(x, z)
        for a in forms:
            g = gram(kernel, "x." + a)
            near(kernel, g, own)
            assert (g == g.T).all(), "%s is not exactly symmetric" % kernel
            for b in forms:
                near(kernel, gram(kernel, "x." + a, "z." + b), other)


# ---- tests ---------------------------------------------------------------------------------------

def test_signed_dense_values():
    compare(SIGNED, vectors(41, 5, 1), vectors(27, 5, 1))


def test_signed_sparse_values():
    compare(SIGNED, vectors(33, 5, 0.4), vectors(29, 5, 0.4))


def test_positive_values():
    compare(POSITIVE, vectors(37, 7, 1, True), vectors(21, 7, 1, True))
    compare(POSITIVE, vectors(37, 40, 0.2, True), vectors(21, 40, 0.2, True))


def test_many_features():
    chosen = ["linear", "rbf(gamma=0.4)", "laplace", "matern(nu=0.5, length=2)", "cosine",
              "2*rbf(gamma=0.4) + linear", "periodic(period=3, length=0.5)"]
    compare({k: SIGNED[k] for k in chosen}, vectors(70, 1500, 0.005), vectors(50, 1500, 0.005))
    compare(POSITIVE, vectors(70, 1500, 0.005, True), vectors(50, 1500, 0.005, True))


def test_wide_sparse_values():
    """As text has them: LIBSVM only, since each object lacks nearly all features."""
    chosen = ["rbf(gamma=0.4)", "linear", "cosine", "2*rbf(gamma=0.4) + linear", "laplace"]
    x, z = vectors(100, 4000, 0.002), vectors(150, 4000, 0.002)
    x[-1, :-1] = z[-1, :-1] = 0
    compare({k: SIGNED[k] for k in chosen}, x, z, ("svm",))


def test_more_objects_than_a_tile():
    chosen = ["rbf(gamma=0.4)", "poly(degree=5, c=0.5, scale=0.25)", "cosine",
              "rbf(gamma=0.4)*matern(nu=2.5) + 0.5"]
    compare({k: SIGNED[k] for k in chosen}, vectors(411, 5, 1), vectors(307, 5, 1), ("npy",))


def test_far_from_the_origin():
    """Points at 1e4 +- 1e-3: the distances are still good to all digits."""
    x = 1e4 + 1e-3 * RNG.uniform(-1, 1, size=(60, 4))
    kernels = {"rbf(gamma=1e6)": lambda a, b: rbf(a, b, 1e6),
               "matern(nu=0.5, length=0.001)": lambda a, b: matern(a, b, 0.5, 0.001)}
    compare(kernels, x, x[:20] + 1e-4)
    halves = x.copy()
    halves[::2] *= -1
    compare(kernels, halves, halves[:20] + 1e-4)


def test_refusals():
    write("x", vectors(10, 5, 1))
    np.save("bad.npy", np.array([[1.0, 2.0], [2.0, 1.0]]))
    for kernel, status, words in (
            ("chi2", 1, "negative"), ("intersection", 1, "negative"), ("rbf", 2, "gamma"),
            ("rbf(gamma=1, sigma=1)", 2, "only one"), ("rbf(gamma=[1, 2])", 1, "2 values"),
            ("mahalanobis(file=bad.npy)", 2, "smallest eigenvalue is -1"),
            ("matern(nu=2)", 2, "0.5, 1.5 or 2.5")):
        done = tap.mercer("gram", "x.npy", "-k", kernel, "--target", "none", "-o", "g.npy",
                          status=status)
        assert words in done.stderr, (kernel, done.stderr)


if __name__ == "__main__":
    tap.main(globals())
