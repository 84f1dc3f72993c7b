"""learners_b.py: pca, fisher, cca and gp against scikit-learn, kernlab and plain linear algebra.

Each test says to how many digits the programs agree: 1e-8 or better where both solve the same
equations, less where one of them stops early or approximates; the comment says which.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import json
import shutil
import subprocess
import warnings

import numpy as np

import tap

try:
    import scipy.linalg
    import sklearn.cross_decomposition
    import sklearn.decomposition
    import sklearn.discriminant_analysis
    from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, RBF, WhiteKernel
except ImportError as fault:
    sklearn, why = None, str(fault)


def need():
    if sklearn is None:
        tap.skip("scikit-learn is not there (%s)" % why)
    warnings.simplefilter("ignore")


def need_kernlab():
    need()
    if shutil.which("Rscript") is None:
        tap.skip("R is not there")
    if subprocess.run(["Rscript", "-e", "library(kernlab)"], capture_output=True).returncode:
        tap.skip("R has no package kernlab")


def kernlab(script):
    done = subprocess.run(["Rscript", "-e", "library(kernlab); " + script], capture_output=True,
                          text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]


# ---- data and models ----------------------------------------------------------------------------


def read(path):
    """Vectors and targets of a csv file."""
    rows = np.genfromtxt(path, delimiter=",", skip_header=1)
    return rows[:, :-1], rows[:, -1]


def sample(name, n, seed=1):
    path = "%s-%d.csv" % (name, seed)
    tap.mercer("sample", name, "-n", n, "--seed", seed, "-o", path, "--quiet")
    return path


def write(path, x, y):
    head = ",".join("f%d" % j for j in range(x.shape[1])) + ",y"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=head, comments="", fmt="%.17g")
    return path


def fit(learner, path, kernel, *options):
    report = tap.mercer_json("fit", learner, path, "-k", kernel, *options, "-o", "model.mercer")
    local = learner == "kmeans" or (learner == "gp" and "--optimize" not in options)
    assert report["stop"] == ("local" if local else "optimal"), report
    assert report["certificate"]["value"] <= report["certificate"]["tolerance"], report
    return report


def coordinates(path, *options, model="model.mercer"):
    tap.mercer("transform", model, path, *options, "-o", "out.npy", "--quiet")
    return np.load("out.npy")


def predict(path, *options, model="model.mercer"):
    tap.mercer("predict", model, path, *options, "-o", "out.npy", "--quiet")
    return np.load("out.npy")


def check_close(got, wanted, tolerance, what):
    scale = max(1.0, np.abs(wanted).max())
    worst = np.abs(np.asarray(got) - wanted).max() / scale
    assert worst <= tolerance, "%s differs by %.2e, allowed %.0e" % (what, worst, tolerance)


def check_up_to_signs(got, wanted, tolerance, what):
    check_close(got * np.sign((got * wanted).sum(0)), wanted, tolerance, what)


# ---- pca ----------------------------------------------------------------------------------------


def compare_pca(n, components):
    """Dense against dense or block Krylov: 1e-8."""
    train, new = sample("rings", n), sample("rings", 100, 2)
    for kernel, peer in (("rbf(gamma=0.5)", dict(kernel="rbf", gamma=0.5)),
                         ("poly(degree=3, c=1)", dict(kernel="poly", degree=3, gamma=1, coef0=1))):
        report = fit("pca", train, kernel, "--components", components)
        other = sklearn.decomposition.KernelPCA(components, eigen_solver="dense", **peer)
        wanted = other.fit_transform(read(train)[0])
        check_close(report["variance"], other.eigenvalues_ / n, 1e-10, kernel + ": variances")
        check_up_to_signs(coordinates(train), wanted, 1e-8, kernel + ": coordinates")
        check_up_to_signs(coordinates(new), other.transform(read(new)[0]), 1e-8,
                          kernel + ": coordinates of new objects")


def test_pca_by_lapack():
    need()
    compare_pca(150, 5)


def test_pca_by_krylov():
    need()
    compare_pca(600, 5)


def test_pca_against_kernlab():
    """kernlab divides by the root of the variance, not of the eigenvalue: 1e-8 after that."""
    need_kernlab()
    train = sample("moons", 120)
    report = fit("pca", train, "rbf(gamma=0.8)", "--components", 3)
    kernlab("""d <- read.csv('%s'); k <- kpca(as.matrix(d[, 1:2]), kernel='rbfdot',
               kpar=list(sigma=0.8), features=3);
               write.csv(rotated(k), 'rotated.csv', row.names=FALSE);
               write.csv(eig(k), 'eig.csv', row.names=FALSE)""" % train)
    rotated = np.genfromtxt("rotated.csv", delimiter=",", skip_header=1)
    check_close(report["variance"], np.genfromtxt("eig.csv", skip_header=1), 1e-10, "variances")
    check_up_to_signs(coordinates(train), rotated / np.sqrt(120), 1e-8, "coordinates")


def test_pca_cleans_digits():
    """Pre-images of noisy digits are nearer to the clean ones than the noisy ones are: the worked
    example of Mika et al., 1999."""
    need()
    with gzip.open(tap.data("usps", "usps.gz"), "rt") as file:
        lines = [line.split() for line in file]
    digits = np.zeros((len(lines), 256))
    for row, line in zip(digits, lines):
        for word in line[1:]:
            index, value = word.split(":")
            row[int(index) - 1] = float(value)
    train, clean = digits[:1500], digits[3000:3100]
    noisy = clean + 0.5 * np.random.default_rng(1).normal(size=clean.shape)
    np.save("train.npy", train)
    np.save("noisy.npy", noisy)
    tap.mercer("fit", "pca", "train.npy", "--target", "none", "-k", "rbf(gamma=0.004)",
               "--components", 64, "-o", "model.mercer", "--quiet")
    got = coordinates("noisy.npy", "--target", "none", "--preimage")
    before, after = ((noisy - clean) ** 2).mean(), ((got - clean) ** 2).mean()
    assert after < 0.6 * before, (before, after)


# ---- fisher -------------------------------------------------------------------------------------


def test_fisher_linear_against_lda():
    """With the linear kernel and next to no regularisation: directions of LDA to 1e-6, the nearest
    mean as with equal priors."""
    need()
    rng = np.random.default_rng(2)
    means = 3 * rng.normal(size=(4, 5))
    labels = rng.integers(0, 4, 400)
    x = means[labels] + rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    path = write("classes.csv", x, labels)
    fit("fisher", path, "linear", "--lambda", "1e-10")
    got = coordinates(path)
    peer = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver="eigen",
                                                                    priors=[0.25] * 4)
    plain = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver="eigen").fit(x, labels)
    wanted = plain.transform(x)
    check_up_to_signs((got - got.mean(0)) / got.std(0), (wanted - wanted.mean(0)) / wanted.std(0),
                      1e-6, "coordinates")
    assert (predict(path) == peer.fit(x, labels).predict(x)).all()


def test_fisher_with_a_kernel():
    """Against the generalised eigenproblem (B + W + r K) of the coefficients, by scipy: 1e-6."""
    need()
    train = sample("blobs", 150)
    fit("fisher", train, "rbf(gamma=0.5)", "--lambda", 0.01)
    x, y = read(train)
    n = len(y)
    k = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(-1))
    centred = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
    means = np.array([centred[y == c].mean(0) for c in np.unique(y)])
    share = np.array([(y == c).mean() for c in np.unique(y)])
    between = (means.T * share) @ means
    all_of_it = centred @ centred / n + 0.01 * np.trace(centred) / n * centred
    values, vectors = scipy.linalg.eigh(between, all_of_it + 1e-13 * np.eye(n))
    wanted = centred @ vectors[:, ::-1][:, :2]
    got = coordinates(train)
    check_up_to_signs(got / got.std(0), wanted / wanted.std(0), 1e-5, "coordinates")


# ---- cca ----------------------------------------------------------------------------------------


def two_views(n, seed, path):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-2, 2, n)
    a = np.column_stack([np.cos(1.5 * t), np.sin(1.5 * t)]) + 0.1 * rng.normal(size=(n, 2))
    b = np.column_stack([t ** 2, t, rng.normal(size=n)]) + 0.2 * rng.normal(size=(n, 3))
    with open(path, "w") as out:
        for u, v in zip(a, b):
            out.write(json.dumps({"a": u.tolist(), "b": v.tolist()}) + "\n")
    return a, b


def smoothed(x, gamma, share):
    n = len(x)
    k = np.exp(-gamma * ((x[:, None] - x[None]) ** 2).sum(-1))
    a = (k - k.mean(0) - k.mean(1)[:, None] + k.mean()) / n
    return a @ np.linalg.inv(a + share * np.trace(a) * np.eye(n))


def test_cca_against_plain_algebra():
    """Singular vectors of R Q, small and large: 1e-8. What is correlated stays so on new objects."""
    need()
    for n in (120, 500):
        a, b = two_views(n, 3, "train.jsonl")
        r, q = smoothed(a, 1, 0.1), smoothed(b, 0.5, 0.1)
        u, s, v = np.linalg.svd(r @ q)
        report = fit("cca", "train.jsonl", "rbf(a, gamma=1)", "--kernel2", "rbf(b, gamma=0.5)",
                     "--components", 3, "--target", "none")
        tap.check_near(report["objective"], s[:3].sum(), 1e-9, "objective")
        got = coordinates("train.jsonl", "--target", "none")
        first, second = r @ u[:, :3], q @ v[:3].T
        signs = np.sign((got[:, :3] * first).sum(0))
        check_close(got[:, :3] * signs, first / first.std(0), 1e-8, "first")
        check_close(got[:, 3:] * signs, second / second.std(0), 1e-8, "second")
        two_views(300, 4, "new.jsonl")
        held_out = tap.mercer_json("transform", "model.mercer", "new.jsonl", "--target", "none")
        assert min(held_out["correlations"]) > 0.7, held_out


def test_cca_linear():
    """Next to no regularisation and linear kernels: the classical correlations, to 1e-6 against
    scikit-learn (whose iteration stops there) and kernlab (which adds 1e-6 to a diagonal)."""
    need()
    rng = np.random.default_rng(5)
    t = rng.normal(size=(200, 2))
    a = np.column_stack([t, rng.normal(size=(200, 1))]) @ rng.normal(size=(3, 3))
    b = np.column_stack([t + 0.7 * rng.normal(size=(200, 2)), rng.normal(size=(200, 2))])
    with open("train.jsonl", "w") as out:
        for u, v in zip(a, b):
            out.write(json.dumps({"a": u.tolist(), "b": v.tolist()}) + "\n")
    report = fit("cca", "train.jsonl", "linear(a)", "--kernel2", "linear(b)", "--components", 2,
                 "--lambda", "1e-9", "--target", "none")
    peer = sklearn.cross_decomposition.CCA(2, max_iter=5000, tol=1e-12).fit(a, b)
    u, v = peer.transform(a, b)
    wanted = [np.corrcoef(u[:, k], v[:, k])[0, 1] for k in range(2)]
    check_close(report["correlations"], np.array(wanted), 1e-6, "correlations")
    need_kernlab()
    np.savetxt("a.csv", a - a.mean(0), delimiter=",")
    np.savetxt("b.csv", b - b.mean(0), delimiter=",")
    kernlab("""a <- as.matrix(read.csv('a.csv', header=FALSE));
               b <- as.matrix(read.csv('b.csv', header=FALSE));
               k <- kcca(a, b, kernel='vanilladot', kpar=list(), gamma=1e-7, ncomps=4);
               write.csv(kcor(k), 'kcor.csv', row.names=FALSE)""")
    pairs = np.abs(np.genfromtxt("kcor.csv", skip_header=1))  # each with both signs
    check_close(report["correlations"], pairs[::2], 1e-5, "kernlab")


# ---- gp -----------------------------------------------------------------------------------------


def test_gp_regression():
    """The same equations: 1e-9 for values, standard deviations and the likelihood."""
    need()
    train, new = sample("friedman", 200), sample("friedman", 60, 2)
    x, y = read(train)
    for kernel, peer in (("rbf(gamma=0.5)", RBF(1)),
                         ("4*matern(nu=2.5, length=1.5)", ConstantKernel(4) * Matern(1.5, nu=2.5))):
        for standardise in (False, True):
            report = fit("gp", train, kernel, "--optimize", "no", "--noise", 0.2, "--standardize",
                         "yes" if standardise else "no")
            other = GaussianProcessRegressor(peer, alpha=0.2, optimizer=None,
                                             normalize_y=standardise).fit(x, y)
            mean, std = other.predict(read(new)[0], return_std=True)
            tap.check_near(report["objective"], other.log_marginal_likelihood_value_, 1e-9)
            got = predict(new, "--std")
            check_close(got[:, 0], mean, 1e-9, kernel + ": mean")
            check_close(got[:, 1], std, 1e-8, kernel + ": standard deviation")


def test_gp_against_kernlab():
    need_kernlab()
    train, new = sample("sinc", 100), sample("sinc", 40, 2)
    fit("gp", train, "rbf(gamma=0.3)", "--optimize", "no", "--noise", 0.05, "--standardize", "no")
    kernlab("""d <- read.csv('%s'); e <- read.csv('%s');
               g <- gausspr(as.matrix(d[, 1]), d[, 2], kernel='rbfdot', kpar=list(sigma=0.3),
                            var=0.05, scaled=FALSE, variance.model=TRUE, type='regression');
               z <- as.matrix(e[, 1]);
               write.csv(cbind(predict(g, z), predict(g, z, type='sdeviation')), 'out.csv',
                         row.names=FALSE)""" % (train, new))
    check_close(predict(new, "--std"), np.genfromtxt("out.csv", delimiter=",", skip_header=1), 1e-7,
                "mean and standard deviation")


def test_gp_scales():
    """Both maximise the likelihood: it agrees to 1e-4 or is larger, predictions to 1e-3."""
    need()
    train, new = sample("friedman", 150), sample("friedman", 50, 2)
    x, y = read(train)
    each = "2*rbf(gamma=[%s])" % ", ".join(["0.5"] * x.shape[1])
    for kernel, peer in (("rbf(gamma=0.5)", RBF(1)),
                         (each, ConstantKernel(2) * RBF([1] * x.shape[1]))):
        report = fit("gp", train, kernel, "--noise", 0.1, "--restarts", 2)
        other = GaussianProcessRegressor(peer + WhiteKernel(0.1), alpha=0, normalize_y=True,
                                         n_restarts_optimizer=2, random_state=1).fit(x, y)
        wanted = other.log_marginal_likelihood_value_
        assert report["objective"] > wanted - 1e-4 * abs(wanted), (report["objective"], wanted)
        if abs(report["objective"] - wanted) < 1e-3:  # else it found a better one
            check_close(predict(new), other.predict(read(new)[0]), 1e-3, kernel)


def test_gp_classes():
    """The same mode and likelihood: 1e-8. Probabilities to 3e-4: scikit-learn approximates the
    integral by five error functions."""
    need()
    train, new = sample("moons", 150), sample("moons", 60, 2)
    x, y = read(train)
    report = fit("gp", train, "3*rbf(gamma=1)", "--task", "classify", "--optimize", "no")
    other = GaussianProcessClassifier(ConstantKernel(3) * RBF(np.sqrt(0.5)), optimizer=None)
    other.fit(x, y)
    tap.check_near(report["objective"], other.log_marginal_likelihood_value_, 1e-8)
    check_close(predict(new, "--proba"), other.predict_proba(read(new)[0]), 3e-4, "probabilities")
    report = fit("gp", train, "3*rbf(gamma=1)", "--task", "classify", "--restarts", 0)
    other.set_params(optimizer="fmin_l_bfgs_b").fit(x, y)
    tap.check_near(report["objective"], other.log_marginal_likelihood_value_, 1e-5)


def test_gp_several_classes():
    """One class against the others, as scikit-learn does it: probabilities to 1e-3."""
    need()
    train, new = sample("blobs", 120), sample("blobs", 60, 2)
    x, y = read(train)
    fit("gp", train, "3*rbf(gamma=1)", "--task", "classify", "--optimize", "no")
    other = GaussianProcessClassifier(ConstantKernel(3) * RBF(np.sqrt(0.5)), optimizer=None)
    check_close(predict(new, "--proba"), other.fit(x, y).predict_proba(read(new)[0]), 1e-3,
                "probabilities")


# ---- kmeans -------------------------------------------------------------------------------------


def test_kmeans_against_kernlab():
    """Both minimise the same sum of squares in feature space, kernlab from one start of its own: ours is
    not larger; and where clusters are plain, both find the same."""
    need_kernlab()
    train = sample("blobs", 150)
    x = read(train)[0]
    k = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(-1))
    for clusters in (3, 5):
        kernlab("""set.seed(1); d <- read.csv('%s');
                   k <- kkmeans(as.matrix(d[, 1:2]), centers=%d, kernel='rbfdot',
                                kpar=list(sigma=0.5));
                   write.csv(k@.Data, 'of.csv', row.names=FALSE)""" % (train, clusters))
        theirs = np.genfromtxt("of.csv", skip_header=1)
        report = fit("kmeans", train, "rbf(gamma=0.5)", "--clusters", clusters)
        ours = predict(train)
        cost = [np.trace(k) - sum(k[np.ix_(of == c, of == c)].sum() / (of == c).sum()
                                  for c in np.unique(of)) for of in (ours, theirs)]
        tap.check_near(report["objective"], cost[0], 1e-9, "objective")
        print("# %d clusters: objective %.6f, kernlab %.6f" % (clusters, cost[0], cost[1]))
        assert cost[0] <= cost[1] * (1 + 1e-9), cost
        if clusters == 3:
            same = (ours[:, None] == ours[None]) == (theirs[:, None] == theirs[None])
            assert same.mean() > 0.99, same.mean()


def test_kmeans_on_rings():
    """Two rings: by their lengths the adjusted Rand index is above 0.95, in the plane below 0.1."""
    tap.mercer("sample", "rings", "-n", 300, "--noise", 0.02, "-o", "rings.csv", "--quiet")
    for kernel, least, most in (("conformal(1)", 0.95, 1.01), ("linear", -0.1, 0.1)):
        fit("kmeans", "rings.csv", kernel, "--clusters", 2)
        index = tap.mercer_json("predict", "model.mercer", "rings.csv")["metrics"]["adjusted_rand"]
        assert least < index < most, (kernel, index)


# ---- textbook sets ------------------------------------------------------------------------------


def test_pca_on_moons():
    """The first component of rbf(gamma=10) tells the moons apart: a threshold on it is right for
    more than 97 %; no direction of the plane is for 90 %."""
    tap.mercer("sample", "moons", "-n", 300, "--noise", 0.05, "-o", "moons.csv", "--quiet")
    y = read("moons.csv")[1] > 0
    best = {}
    for kernel in ("rbf(gamma=10)", "linear"):
        fit("pca", "moons.csv", kernel, "--components", 1)
        ordered = y[np.argsort(coordinates("moons.csv")[:, 0])]
        right = [ordered[:k].sum() + (~ordered[k:]).sum() for k in range(len(y) + 1)]
        best[kernel] = max(max(right), len(y) - min(right)) / len(y)
    assert best["rbf(gamma=10)"] > 0.97 and best["linear"] < 0.9, best


def test_gp_on_mcycle():
    """Silverman's motorcycle: r2 of 0.7 to 0.85, noise of 20 to 27 g, log likelihood (of the
    standardised targets) of -106.5 to -105.5, as scikit-learn finds."""
    path = tap.data("gp-1d", "mcycle.csv")
    report = fit("gp", path, "rbf(gamma=0.01)")
    assert 0.7 < report["train"]["r2"] < 0.85, report
    assert 20 < report["noise"] ** 0.5 < 27, report["noise"]
    assert -106.5 < report["objective"] < -105.5, report["objective"]
    need()
    x, y = read(path)
    other = GaussianProcessRegressor(RBF(7) + WhiteKernel(0.1), alpha=0, normalize_y=True).fit(x, y)
    tap.check_near(report["objective"], other.log_marginal_likelihood_value_, 1e-5, "likelihood")


def test_gp_on_co2():
    """A trend, a yearly wave and irregularities explain the series of Mauna Loa, and continue it: trained
    on 1959 to 1992, the log likelihood is 940 to 980; the five years after that are predicted with
    an r2 of more than 0.9, and nearly all within two standard deviations."""
    lines = tap.data("gp-1d", "co2-mauna-loa.csv").read_text().splitlines()
    open("early.csv", "w").write("\n".join(lines[:409]) + "\n")
    open("late.csv", "w").write("\n".join([lines[0]] + lines[409:]) + "\n")
    kernel = ("2*rbf(gamma=0.0005) + 0.1*periodic(period=1, length=1)*rbf(gamma=0.0001) + "
              "0.01*rq(alpha=1, length=1)")
    report = fit("gp", "early.csv", kernel, "--noise", 0.001, "--restarts", 0)
    print("# log likelihood %.3f" % report["objective"])
    assert report["train"]["r2"] > 0.999 and report["noise"] < 1, report
    assert 940 < report["objective"] < 980, report["objective"]
    assert tap.mercer_json("predict", "model.mercer", "late.csv")["metrics"]["r2"] > 0.9
    got, y = predict("late.csv", "--std"), read("late.csv")[1]
    band = 2 * np.sqrt(got[:, 1] ** 2 + report["noise"])
    assert (np.abs(got[:, 0] - y) < band).mean() > 0.9, np.abs(got[:, 0] - y) / band


def test_fisher_on_wine():
    """Three cultivars: more than 95 % of held-out wines are right."""
    lines = tap.data("wine", "wine.scale").read_text().splitlines()
    even, odd = lines[::2], lines[1::2]
    open("even.svm", "w").write("\n".join(even) + "\n")
    open("odd.svm", "w").write("\n".join(odd) + "\n")
    tap.mercer("fit", "fisher", "even.svm", "-k", "rbf(gamma=0.1)", "-o", "model.mercer")
    got = tap.mercer_json("predict", "model.mercer", "odd.svm")
    assert got["metrics"]["accuracy"] > 0.95, got


if __name__ == "__main__":
    tap.main(globals())
