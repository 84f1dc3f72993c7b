"""certificates.py: every number of a certificate recomputed from the model file and the training data.

Nothing is shared with the program but the definition of the learners: kernel values are computed here
from differences of doubles, sums are those of numpy. A printed number must not be off by more than
its last printed digit, and a model that is called optimal must be so within its tolerance.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import pathlib
import re
import struct

import numpy as np

import tap


# ---- data, kernels, models ----------------------------------------------------------------------


def open_set(name):
    path = tap.DATA / name
    if not path.exists():
        tap.skip("no data set %s (set MERCER_DATA)" % path.name)
    return path


def read_sparse(path):
    lines = (gzip.open if path.suffix == ".gz" else open)(path, "rt").read().split("\n")
    rows = [line.split() for line in lines if line.strip()]
    y = np.array([float(row[0]) for row in rows])
    pairs = [[pair.split(":") for pair in row[1:]] for row in rows]
    x = np.zeros((len(rows), max((int(k) for row in pairs for k, _ in row), default=0)))
    for i, row in enumerate(pairs):
        for k, value in row:
            x[i, int(k) - 1] = float(value)
    return x, y


def gram(kernel, a, b):
    name, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?", kernel).groups()
    p = {k: float(v) for k, v in (word.split("=") for word in (arguments or "").split(",") if word)}
    if name == "linear":
        return a @ b.T
    if name == "poly":
        return (p.get("scale", 1) * (a @ b.T) + p.get("c", 0)) ** p["degree"]
    assert name == "rbf"
    k = np.empty((len(a), len(b)))
    for i, row in enumerate(a):
        k[i] = np.exp(-p["gamma"] * ((b - row) ** 2).sum(axis=1))
    return k


def sections(path):
    raw, at, found = pathlib.Path(path).read_bytes(), 12, {}
    while raw[at:at + 4] != b"END ":
        length, = struct.unpack_from("<q", raw, at + 4)
        found[raw[at:at + 4]] = raw[at + 12:at + 12 + length]
        at += 12 + length + 4
    return found


def read_coefficients(path, n):
    """One output: coefficients of all n training objects, and the bias."""
    raw, at = sections(path)[b"COEF"], 8

    def array(kind, size):
        nonlocal at
        count, = struct.unpack_from("<q", raw, at)
        values = struct.unpack_from("<%d%s" % (count, kind), raw, at + 8)
        at += 8 + size * count
        return np.array(values)

    objects, offset = array("q", 8), array("d", 8)
    segments, = struct.unpack_from("<q", raw, at)
    at += 8
    coef = np.zeros(n)
    for _ in range(segments):
        first, count = struct.unpack_from("<2q", raw, at)
        at += 16
        outputs = array("i", 4)
        assert len(outputs) == 1
        coef[objects[first:first + count]] += array("d", 8)
    return coef, offset[0]


# ---- the learners -------------------------------------------------------------------------------


def merge(x, y, b, bound):
    """Equal objects with equal targets share a coefficient; the model keeps it with one of them."""
    _, where = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    where = where.ravel()
    total = np.bincount(where, weights=b)
    most = np.bincount(where, weights=bound)
    return total[where], most[where]


def extremes(slope_up, slope_down, can_up, can_down):
    low = slope_up[can_up].min() if can_up.any() else np.inf
    high = slope_down[can_down].max() if can_down.any() else -np.inf
    return max(high - low, 0)


def recompute(learner, o, x, y, kernel, b, bias):
    """violation, primal, dual; o: the options as numbers."""
    used = b != 0
    g = gram(kernel, x, x[used]) @ b[used]
    square = b[used] @ g[used]
    C, n = o.get("C", 1.0), len(y)
    if learner == "svm":
        slope, (total, most) = g - y, merge(x, y, b, np.full(n, C))
        up = np.where(y > 0, total < most, total < 0)
        down = np.where(y > 0, total > 0, total > -most)
        primal = square / 2 + C * np.maximum(0, 1 - y * (g + bias)).sum()
        return extremes(slope, slope, up, down), primal, b @ y - square / 2
    if learner == "svr":
        e, (total, most) = o.get("epsilon", 0.1), merge(x, y, b, np.full(n, C))
        up, down = g - y + np.where(total >= 0, e, -e), g - y + np.where(total > 0, e, -e)
        primal = square / 2 + C * np.maximum(0, abs(y - g - bias) - e).sum()
        return (extremes(up, down, total < most, total > -most), primal,
                b @ y - e * abs(b).sum() - square / 2)
    if learner == "one-class":
        total, most = merge(x, 0 * y, b, np.ones(n))
        primal = square / 2 + o["nu"] * n * bias + np.maximum(0, -bias - g).sum()
        return extremes(g, g, total < most, total > 0), primal, -square / 2
    if learner == "nu-svm":  # scaled by 1 / rho: sum |b| = nu n / rho
        rho = o["nu"] * n / abs(b).sum()
        total, most = merge(x, y, b, np.full(n, 1 / rho))
        violation = 0
        for sign in (1, -1):
            of = y == sign
            up = np.where(sign > 0, total < most * (1 - 1e-12), total < 0)
            down = np.where(sign > 0, total > 0, total > -most * (1 - 1e-12))
            violation = max(violation, extremes(g, g, up & of, down & of))
        loss = np.maximum(0, 1 - y * (g + bias)).sum() / rho
        return violation, square / 2 - o["nu"] * n / rho + loss, -square / 2
    if learner == "nu-svr":  # the tube is the one that costs least
        error, most = abs(y - g - bias), np.sort(abs(y - g - bias))[::-1]
        costs = [o["nu"] * n * e + np.maximum(0, error - e).sum() for e in [*most, 0.0]]
        return None, square / 2 + C * min(costs), b @ y - square / 2
    if learner == "erm":  # sum loss + lambda |w|^2, no bias; the dual in the same units
        q, lam = o["quantile"], o["lambda"]
        loss = np.where(y > g, q * (y - g), (1 - q) * (g - y)).sum()
        primal = loss + lam * square
        return None, primal, 2 * lam * (b @ y) - lam * square
    raise AssertionError(learner)


def last_digit(text):
    """The weight of the last digit of a printed number."""
    mantissa, _, exponent = text.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def printed(said, word):
    return re.search(r"%s ((?:< )?-?[0-9.]+(?:e[-+]?[0-9]+)?)" % word, said).group(1)


def check_one(learner, path, kernel, options, faults):
    x, y = read_sparse(path)
    done = tap.mercer("fit", learner, path, "-k", kernel, *options, "-o", "c.mercer")
    said = done.stdout + done.stderr
    o = {}
    for name, value in zip(options[::2], options[1::2]):
        try:
            o[name.lstrip("-")] = float(value)
        except ValueError:
            pass
    if learner in ("svm", "nu-svm"):
        y = np.where(y == max(y), 1.0, -1.0)
    b, bias = read_coefficients("c.mercer", len(y))
    violation, primal, dual = recompute(learner, o, x, y, kernel, b, bias)
    scale = 1e-12 * (abs(primal) + abs(dual))
    name = "%s %s %s %s" % (learner, path.name, kernel, " ".join(options))
    numbers = [("dual", dual), ("KKT violation", violation)]
    if learner == "nu-svr":  # its own tube may cost a little more than the best
        text = printed(said, "primal")
        assert float(text) >= primal - 1e-8 * abs(primal) - last_digit(text)
    else:
        numbers += [("primal", primal), (", gap", primal - dual)]
    for word, true in numbers:
        if true is None:
            continue
        text = printed(said, word)
        # Where rounding hides all digits, a bound is printed.
        if text.startswith("<"):
            if true > float(text[2:]) + scale:
                faults.append("%s: %s is printed as %s, but is %.12g" % (name, word, text, true))
            continue
        if abs(float(text) - true) > 1.01 * last_digit(text) + scale:
            faults.append("%s: %s is printed as %s, but is %.12g" % (name, word, text, true))
    if violation is not None and "optimal" in said and violation > o["tol"] * (1 + 1e-6) + scale:
        faults.append("%s: optimal, but the violation is %.6g" % (name, violation))


TOLERANCES = ["1e-2", "1e-3", "1e-4", "3e-5", "1e-6", "1e-8"]


def check_set(name, learner, kernel, *options, tolerances=TOLERANCES):
    path, faults = open_set(name), []
    for tolerance in tolerances:
        check_one(learner, path, kernel, ["--tol", tolerance, *options], faults)
    assert not faults, "\n".join(faults)


def test_svm_svmguide1_unscaled():
    check_set("svmguide1/svmguide1.gz", "svm", "rbf(gamma=0.001)", "-C", "10")


def test_svm_unscaled():
    check_set("heart/heart", "svm", "rbf(gamma=0.0001)", "-C", "10")
    check_set("australian/australian", "svm", "rbf(gamma=0.000001)", "-C", "100")


def test_svm_linear():
    for form in ("dual", "primal"):
        more = ["-C", "0.001", "--form", form]
        check_set("heart/heart", "svm", "linear", *more)
        check_set("adult/a1a", "svm", "linear", "-C", "1", "--form", form)
        check_set("svmguide1/svmguide1.gz", "svm", "linear", *more)


def test_svm_poly():
    check_set("heart/heart_scale", "svm", "poly(degree=3,c=1)", "-C", "0.1")
    check_set("australian/australian_scale", "svm", "poly(degree=2,c=1,scale=0.1)", "-C", "1")


def test_svm_rbf_scaled():
    check_set("adult/a1a", "svm", "rbf(gamma=0.05)", "-C", "1")
    check_set("fourclass/fourclass_scale", "svm", "rbf(gamma=8)", "-C", "100")


def test_nu_svr():
    check_set("mpg/mpg_scale", "nu-svr", "rbf(gamma=0.5)", "-C", "10", "--nu", "0.4")
    check_set("mpg/mpg", "nu-svr", "rbf(gamma=0.000001)", "-C", "10", "--nu", "0.4")


def test_one_class_svmguide1():
    check_set("svmguide1/svmguide1.gz", "one-class", "rbf(gamma=0.001)", "--nu", "0.1")


def test_svr_mpg():
    check_set("mpg/mpg", "svr", "rbf(gamma=0.000001)", "-C", "10")
    check_set("mpg/mpg_scale", "svr", "rbf(gamma=0.5)", "-C", "10")


def test_nu_svm():
    check_set("svmguide1/svmguide1.gz", "nu-svm", "rbf(gamma=0.001)", "--nu", "0.2")
    check_set("heart/heart_scale", "nu-svm", "rbf(gamma=0.1)", "--nu", "0.3")


def test_erm_quantile():
    check_set("mpg/mpg_scale", "erm", "rbf(gamma=0.5)", "--loss", "quantile", "--quantile", "0.8",
              "--lambda", "0.2", "--task", "regress")


# ---- the hard margin ----------------------------------------------------------------------------


def write(path, lines):
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    return pathlib.Path(path)


def test_small_margins_are_found():
    """The classes are near beside their distance from the origin, but apart."""
    path = write("near.svm", ["-1 1:1000", "1 1:1000.001"])
    report = tap.mercer_json("fit", "svm", path, "-k", "linear", "-C", "inf")
    assert report["stop"] == "optimal" and abs(report["objective"] + 2e6) < 1e-3 * 2e6, report
    path = write("flat.svm", ["1 1:1 2:0.0005", "-1 1:1 2:-0.0005"])
    report = tap.mercer_json("fit", "svm", path, "-k", "linear", "-C", "inf", "--bias", "no")
    assert report["stop"] == "optimal" and abs(report["objective"] + 2e6) < 1e-6 * 2e6, report


def test_no_margin_is_found():
    path = write("between.svm", ["1 1:1", "-1 1:2", "1 1:3"])
    for bias in ("yes", "no"):
        done = tap.mercer("fit", "svm", path, "-k", "linear", "-C", "inf", "--bias", bias, status=1)
        assert "not separable" in done.stderr, done.stderr
    path = write("equal.svm", ["1 1:1e6 2:1", "-1 1:1e6 2:1"])
    done = tap.mercer("fit", "svm", path, "-k", "linear", "-C", "inf", status=1)
    assert "not separable" in done.stderr, done.stderr


# ---- problems on which steps make no progress ----------------------------------------------------


def test_collinear_objects():
    """Twenty objects on a line: a kernel matrix of rank 4 with values up to 8e9."""
    at = np.arange(1, 21)
    path = write("line.svm", ["%.17g 1:%d 2:%d" % (3 * np.sin(v) + v, v, 2 * v) for v in at])
    faults = []
    for learner, options in (("svr", []), ("nu-svr", ["--nu", "0.5"])):
        check_one(learner, path, "poly(degree=3,c=1)", ["--tol", "1e-3", *options], faults)
        report = tap.mercer_json("fit", learner, path, "-k", "poly(degree=3,c=1)", *options)
        if report["stop"] != "optimal":
            faults.append("%s: %s" % (learner, report["stop"]))
    assert not faults, "\n".join(faults)


def test_tiny_values_and_huge_bounds():
    """The same problem in other units has the same solution."""
    path = open_set("heart/heart_scale")
    usual = tap.mercer_json("fit", "svm", path, "-k", "rbf(gamma=1)", "-C", "1")
    other = tap.mercer_json("fit", "svm", path, "-k", "1e-300*rbf(gamma=1)", "-C", "1e300")
    assert other["stop"] == "optimal", other
    tap.check_near(other["objective"] / 1e300, usual["objective"], 1e-3)


def test_hopeless_problems_end():
    path = open_set("fourclass/fourclass")
    report = tap.mercer_json("fit", "svm", path, "-k", "linear", "-C", "1e9")
    assert report["stop"] in ("optimal", "stuck"), report
    assert (report["stop"] == "optimal") == (
        report["certificate"]["value"] <= report["certificate"]["tolerance"]), report


def test_searches_among_hopeless_problems_end():
    """Tiny nu and gamma, and a large C: points of a search may be stuck, all of them end."""
    for path, call in (("heart/heart_scale", ["nu-svm", "-k", "rbf(gamma=1e-6:1:log3)", "--nu",
                                              "0.001:0.4:log3"]),
                       ("mpg/mpg_scale", ["svr", "-k", "rbf(gamma=0.01:1:log2)", "-C", "1e6"])):
        found = tap.mercer_json("tune", call[0], open_set(path), *call[1:])
        tap.check_equal(found["evaluated"], found["possible"], call[0])
        assert np.isfinite(found["best"]["score"]), found["best"]


def test_l1_svm_with_nothing_to_gain():
    """So small a gamma that no coefficient pays: the optimum is the bias alone."""
    path = open_set("heart/heart_scale")
    x, y = read_sparse(path)
    report = tap.mercer_json("fit", "l1-svm", path, "-k", "rbf(gamma=0.001)", "-C", "1")
    assert report["stop"] == "optimal", report
    tap.check_near(report["primal"], 2 * min(sum(y > 0), sum(y < 0)), 1e-9)


if __name__ == "__main__":
    tap.main(globals())
