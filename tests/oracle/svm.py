"""svm.py: support vector machines against LIBSVM: objective, bias, certificate on synthetic data and on
real ones, models exchanged in both directions; l1-svm against a linear program of scipy.

The values of svm_reference.json are LIBSVM's, so that this runs anywhere; where svm-train is there
(PATH, or the folder LIBSVM_BIN), the programs are compared side by side as well.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import subprocess

import numpy as np

import svm_cases as cases
import tap

REFERENCE = json.loads((pathlib.Path(__file__).parent / "svm_reference.json").read_text())


# ---- one case -----------------------------------------------------------------------------------

def fit(case, path, model="model.mercer"):
    return tap.mercer_json("fit", case.learner, path, *cases.mercer_options(case), "-o", model)


def exported(model, path="exported.model"):
    tap.mercer("export", model, "--to", "libsvm", "-o", path, "--quiet")
    return path


def compare_objective(case, report, coefficients, wanted, faults):
    """nu-svm divides its coefficients by the margin, and LIBSVM knows that no better than its floats
    allow: without it the objective must agree as it does for the others, with it to 1e-5."""
    pairs = [(report["objective"], wanted["objective"], 1e-5 if case.learner == "nu-svm" else 1e-6)]
    if "unscaled" in wanted:
        size = np.abs(coefficients).sum()
        pairs.append((report["objective"] / size ** 2, wanted["unscaled"], 1e-6))
    for ours, theirs, tolerance in pairs:
        if not abs(ours - theirs) <= tolerance * abs(theirs):
            faults.append("%s: objective %r, LIBSVM %r" % (cases.name_of(case), ours, theirs))


def compare(case, report, path, wanted, faults):
    """Notes what differs: objective, bias, certificate."""
    name = cases.name_of(case)
    model = cases.read_model(exported(path))
    compare_objective(case, report, model["coef"], wanted, faults)
    certificate = report["certificate"]
    known = "sigmoid" not in report["kernel"]  # to be positive semidefinite
    ended = report["stop"] == ("optimal" if known else "local")
    if not ended or not certificate["value"] <= certificate["tolerance"]:
        faults.append("%s: %s, %r" % (name, report["stop"], certificate))
    if not abs(report["gap"]) <= 1e-4 * max(1, abs(report["objective"])):
        faults.append("%s: gap %r" % (name, report["gap"]))
    rho = cases.same_signs(cases.rho_by_pair(model), wanted["rho"])
    pairs = zip(rho, wanted["rho"]) if isinstance(rho, list) else [
        (rho[k], wanted["rho"][k]) for k in rho]
    for ours, theirs in pairs:
        if not abs(ours - theirs) <= 1e-4 * max(1, abs(theirs)):
            faults.append("%s: rho %r, LIBSVM %r" % (name, ours, theirs))


def check_stored(some):
    faults = []
    for case in some:
        path = cases.make_data(case.data)
        got, stored = cases.fingerprint(path), REFERENCE["data"][case.data]
        if not np.allclose(got, stored, rtol=1e-10, atol=1e-9):
            faults.append("%s: the data are not those of the reference: make_svm_reference.py"
                          % case.data)
            continue
        compare(case, fit(case, path), "model.mercer", REFERENCE["cases"][cases.name_of(case)],
                faults)
    assert not faults, "\n".join(faults)


# ---- stored values ------------------------------------------------------------------------------

def sample_test(data):
    def run():
        check_stored(c for c in cases.sample_cases() if c.data == data)
    return run


def real_test(data):
    def run():
        check_stored(c for c in cases.real_cases() if c.data == data)
    return run


for _name in cases.SAMPLES:
    globals()["test_sample_%s" % _name] = sample_test(_name)
for _name in cases.REAL:
    globals()["test_real_%s" % _name] = real_test(_name)


# ---- published values ---------------------------------------------------------------------------

# LIBSVM 3.24 with -e 1e-6: objective and rho as it prints them.
PUBLISHED = {
    ("heart", "svm"): (-100.877292, 0.424508), ("heart", "nu-svm"): (9.563630, 0.226564),
    ("heart", "one-class"): (3366.935440, 54.425723),
    ("breast-cancer", "svm"): (-52.065016, 0.528218),
    ("australian", "svm"): (-201.642564, -0.044915), ("a1a", "svm"): (-673.031441, 0.628233),
    ("w1a", "svm"): (-140.822816, 0.597933), ("ionosphere", "svm"): (-91.888915, 2.630598),
    ("sonar", "svm"): (-123.272418, -0.315181), ("abalone", "svr"): (-6299.701305, -8.365273),
}


def test_published_values():
    for case in cases.real_cases():
        if (case.data, case.learner) not in PUBLISHED:
            continue
        objective, rho = PUBLISHED[case.data, case.learner]
        report = fit(case, cases.make_data(case.data))
        tap.check_near(report["objective"], objective, 1e-6, cases.name_of(case))
        ours = cases.read_model(exported("model.mercer"))["rho"]
        tap.check_near(abs(ours[0]), abs(rho), 1e-4, "rho of " + cases.name_of(case))


def dense(rows, features):
    x = np.zeros((len(rows), features))
    for i, row in enumerate(rows):
        for entry in row:
            index, value = entry.split(":")
            x[i, int(index) - 1] = float(value)
    return x


def test_polynomial_models_are_weights():
    """Predicted from monomials where that is less work; here against the sum over support vectors."""
    for features, degree, c in ((2, 2, 0), (2, 3, 1), (3, 4, 0.5), (5, 2, 2), (1, 5, 1)):
        rng = np.random.default_rng(degree)
        x = np.round(rng.normal(size=(700, features)), 3)
        x[::7, 0] = 0
        y = np.sin(x.sum(1)) + rng.normal(size=700)
        for form in ("dense.csv", "sparse.svm"):
            with open(form, "w") as out:
                for v, t in zip(x, y):
                    if form == "dense.csv":
                        out.write(",".join("%r" % float(a) for a in [t, *v]) + "\n")
                    else:
                        out.write("%r " % float(t) + " ".join(
                            "%d:%r" % (i + 1, float(a)) for i, a in enumerate(v) if a) + "\n")
            target = ["--target", "1"] if form == "dense.csv" else []
            tap.mercer("fit", "svr", form, *target, "-k",
                       "poly(degree=%d, c=%g, scale=0.5)" % (degree, c), "-C", 0.1, "--epsilon", 0.01,
                       "-o", "p.mercer", "--max-steps", 20000, "--quiet")
            model = cases.read_model(exported("p.mercer"))
            assert len(model["rows"]) > 300, "too few support vectors to be worth weights"
            support = dense(model["rows"], features)
            wanted = (0.5 * x @ support.T + c) ** degree @ model["coef"][:, 0] - model["rho"][0]
            tap.mercer("predict", "p.mercer", form, *target, "-o", "p.csv", "--quiet")
            with open("p.csv") as file:
                lines = [line.strip() for line in file if not line.startswith("#")]
            got = np.array([float(v) for v in lines if v.replace(".", "").strip("-")[:1].isdigit()])
            assert got.shape == wanted.shape, (got.shape, wanted.shape)
            worst = np.abs(got - wanted).max() / np.abs(wanted).max()
            assert worst < 1e-11, "%s, degree %d: off by %g" % (form, degree, worst)


# ---- side by side -------------------------------------------------------------------------------

def need_libsvm():
    if not cases.program("svm-train") or not cases.program("svm-predict"):
        tap.skip("no svm-train (install libsvm-tools, or set LIBSVM_BIN)")


def test_side_by_side_with_libsvm():
    need_libsvm()
    faults = []
    for case in cases.sample_cases():
        path = cases.make_data(case.data)
        compare(case, fit(case, path), "model.mercer", cases.reference_of(case, path, "1e-9"),
                faults)
    assert not faults, "\n".join(faults)


# ---- accuracy on test sets ----------------------------------------------------------------------

def accuracy(train, test, *options):
    report = tap.mercer_json("fit", "svm", train, *options, "-o", "a.mercer", timeout=300)
    assert report["certificate"]["value"] <= report["certificate"]["tolerance"], report
    return tap.mercer_json("predict", "a.mercer", test, timeout=300)["metrics"]["accuracy"]


def test_svmguide1_scaled():
    train = cases.read_lines(tap.DATA / "svmguide1" / "svmguide1")
    test = cases.read_lines(tap.DATA / "svmguide1" / "svmguide1.t")
    ranges = cases.ranges_of(train)
    cases.write_lines("train.svm", cases.scale(train, ranges))
    cases.write_lines("test.svm", cases.scale(test, ranges))
    tap.check_equal(accuracy("train.svm", "test.svm", "-k", "rbf(gamma=2)", "-C", "2"), 0.96875)
    tap.check_near(accuracy("train.svm", "test.svm", "-k", "rbf(gamma=0.25)"), 0.9615, 0.0005)


def test_a1a_accuracy():
    got = accuracy(tap.data("adult", "a1a"), tap.data("adult", "a1a.t.gz"), "-k",
                   "rbf(gamma=%r)" % (1 / 119), "--tol", "1e-6")
    tap.check_equal(round(got * 30956), 25875, "right of a1a.t")


def test_letter_accuracy():
    got = accuracy(tap.data("letter", "letter.scale.gz"), tap.data("letter", "letter.scale.t.gz"),
                   "-k", "rbf(gamma=4)", "-C", "16")
    assert got >= 0.979, got


def test_satimage_accuracy():
    got = accuracy(tap.data("satimage", "satimage.scale.gz"),
                   tap.data("satimage", "satimage.scale.t.gz"), "-k", "rbf(gamma=1)", "-C", "16")
    tap.check_near(got, 0.913, 0.0011)


# ---- models exchanged ---------------------------------------------------------------------------

def exchange_cases():
    yield cases.Case("blobs2", "svm", cases.rbf(0.5), {"C": 1})
    yield cases.Case("blobs2", "nu-svm", cases.poly(3, 1.0, 0.5), {"nu": 0.3})
    yield cases.Case("rings", "svm", cases.poly(2, 0.0, 1.0), {"C": 1})
    yield cases.Case("sparse", "svm", cases.sigmoid(0.005, 0.0), {"C": 1})
    yield cases.Case("sparse", "svm", cases.LINEAR, {"C": 1})
    yield cases.Case("blobs3", "svm", cases.rbf(0.5), {"C": 1})
    yield cases.Case("blobs3", "nu-svm", cases.LINEAR, {"nu": 0.3})
    yield cases.Case("blobs5", "svm", cases.rbf(0.5), {"C": 1})
    yield cases.Case("friedman", "svr", cases.rbf(0.1), {"C": 10})
    yield cases.Case("friedman", "nu-svr", cases.poly(2, 1.0, 0.3), {"C": 10})
    yield cases.Case("rings", "one-class", cases.rbf(1.0), {"nu": 0.2})
    yield cases.Case("sparse", "one-class", cases.LINEAR, {"nu": 0.2})


def make_exchange_data(name):
    """The case's data; blobs5: five classes, not numbered 1, 2, .. nor in rising order."""
    if name != "blobs5":
        return cases.make_data(name)
    rows = cases.read_lines(cases.make_data("blobs3"))
    names = ["7", "-2", "30", "4", "11"]
    for i, row in enumerate(rows):
        row[0] = names[(int(row[0]) + 2 * (i % 2 == 0)) % 5]
    return cases.write_lines("blobs5.svm", rows)


def their_predictions(model, path):
    subprocess.run([cases.program("svm-predict"), path, model, "theirs.txt"], check=True,
                   capture_output=True, timeout=100)
    return np.loadtxt("theirs.txt")


def our_predictions(model, path):
    tap.mercer("predict", model, path, "-o", "ours.txt", "--quiet")
    return np.loadtxt("ours.txt")


def check_same(case, which, ours, theirs):
    name = "%s, %s" % (cases.name_of(case), which)
    if case.learner in ("svr", "nu-svr"):
        assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-6), (
            "%s: values differ by %r" % (name, np.abs(ours - theirs).max()))
    else:
        assert len(set(theirs)) > 1, name + ": one class alone is predicted, which tests nothing"
        assert np.array_equal(ours, theirs), "%s: %d labels differ" % (
            name, np.sum(ours != theirs))


def test_our_models_in_svm_predict():
    need_libsvm()
    for case in exchange_cases():
        path = make_exchange_data(case.data)
        fit(case, path)
        check_same(case, "our model", our_predictions("model.mercer", path),
                   their_predictions(exported("model.mercer"), path))


def test_their_models_in_mercer_predict():
    need_libsvm()
    for case in exchange_cases():
        path = make_exchange_data(case.data)
        cases.run_libsvm(case, path, "theirs.model")
        theirs = their_predictions("theirs.model", path)
        check_same(case, "their model", our_predictions("theirs.model", path), theirs)
        # What we read we can write again, and it still says the same to both.
        exported("theirs.model", "again.model")
        check_same(case, "their model again", our_predictions("again.model", path), theirs)
        check_same(case, "their model again, in svm-predict", their_predictions("again.model", path),
                   theirs)


def test_exported_models_load_here_too():
    for case in exchange_cases():
        path = make_exchange_data(case.data)
        fit(case, path)
        first = our_predictions("model.mercer", path)
        check_same(case, "exported and read", our_predictions(exported("model.mercer"), path),
                   first)


def test_precomputed_models_exchange():
    need_libsvm()
    path = cases.make_data("rings")
    tap.mercer("gram", path, "-k", "rbf(gamma=1)", "-o", "k.npy")
    k = np.load("k.npy")
    labels = [row[0] for row in cases.read_lines(path)]
    cases.write_lines("pre.txt", [[labels[i], "0:%d" % (i + 1)] +
                                  ["%d:%r" % (j + 1, float(v)) for j, v in enumerate(k[i])]
                                  for i in range(len(k))])
    tap.mercer("fit", "svm", "pre.txt", "--format", "precomputed", "-k", "precomputed", "--tol",
               "1e-6", "-o", "p.mercer", "--quiet")
    tap.mercer("predict", "p.mercer", "pre.txt", "--format", "precomputed", "-o", "ours.txt",
               "--quiet")
    ours = np.loadtxt("ours.txt")
    assert np.array_equal(ours, their_predictions(exported("p.mercer"), "pre.txt"))
    case = cases.Case("rings", "svm", ("precomputed", ["-t", "4"]), {"C": 1})
    cases.run_libsvm(case, "pre.txt", "theirs.model")
    tap.mercer("predict", "theirs.model", "pre.txt", "--format", "precomputed", "-o", "again.txt",
               "--quiet")
    assert np.array_equal(np.loadtxt("again.txt"), their_predictions("theirs.model", "pre.txt"))


# ---- l1-svm -------------------------------------------------------------------------------------

def solve_program(k, y, cost):
    """min sum |a| + sum cost xi,  y (K a + b) >= 1 - xi, by scipy: a = p - q, all at least 0."""
    from scipy.optimize import linprog
    n = len(y)
    objective = np.concatenate([np.ones(2 * n), [0.0], cost])
    rows = -np.hstack([y[:, None] * k, -y[:, None] * k, y[:, None], np.eye(n)])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * n
    found = linprog(objective, A_ub=rows, b_ub=-np.ones(n), bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return found.fun


def check_l1(data, kernel, C, weights):
    path = cases.make_data(data)
    tap.mercer("gram", path, "-k", kernel, "-o", "k.npy")
    k = np.load("k.npy")
    labels = np.array([row[0] for row in cases.read_lines(path)])
    y = np.where(labels == sorted(set(labels), key=float)[1], 1.0, -1.0)
    more = ["--class-weight", ",".join("%s=%g" % w for w in weights.items())] if weights else []
    done = tap.mercer("fit", "l1-svm", path, "-k", kernel, "-C", C, "--tol", "1e-7", "--json",
                      *more, status=None)
    if done.returncode and "CLP" in done.stderr:
        tap.skip("this Mercer has no CLP")
    report = json.loads(done.stdout)
    cost = C * np.array([weights.get(v, 1.0) for v in labels])
    wanted = solve_program(k, y, cost)
    tap.check_near(report["objective"], wanted, 1e-6, "objective of l1-svm on %s" % data)
    assert report["certificate"]["value"] <= report["certificate"]["tolerance"], report
    assert report["stop"] == "optimal", report


def test_l1_svm_against_a_linear_program():
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        tap.skip("no scipy")
    check_l1("rings", "rbf(gamma=1)", 1.0, {})
    check_l1("rings", "rbf(gamma=1)", 0.3, {"-1": 2.5})
    check_l1("rings", "rbf(gamma=0.01)", 1e4, {})
    check_l1("blobs2", "linear", 0.1, {})
    check_l1("blobs2", "poly(degree=2,c=1)", 5.0, {"1": 0.5})
    check_l1("sparse", "sigmoid(a=0.05,b=0)", 1.0, {})


if __name__ == "__main__":
    tap.main(globals())
