"""svm_cases.py: the problems on which support vector machines are compared with LIBSVM, how their
data are made, and how LIBSVM is run. Used by svm.py (the test) and make_svm_reference.py.

A case is (data, learner, kernel, options). Kernels are pairs of Mercer's text and LIBSVM's options.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import gzip
import os
import pathlib
import shutil
import subprocess

import numpy as np

import tap

Case = collections.namedtuple("Case", "data learner kernel options")

TOLERANCE = "1e-6"
LEARNERS = {"svm": 0, "nu-svm": 1, "one-class": 2, "svr": 3, "nu-svr": 4}
LETTERS = {"C": "-c", "nu": "-n", "epsilon": "-p"}

# ---- data ---------------------------------------------------------------------------------------

# Made by `mercer sample`: name, arguments, and the labels that are kept (None: all).
SAMPLES = {
    "blobs2": ("blobs", ["-n", "240", "--noise", "1.2"], ("1", "2")),
    "blobs3": ("blobs", ["-n", "240", "--noise", "1.1", "--seed", "3"], None),
    "rings": ("rings", ["-n", "200", "--noise", "0.4"], None),
    "sparse": ("sparse", ["-n", "300"], None),
    "friedman": ("friedman", ["-n", "150"], None),
    "sinc": ("sinc", ["-n", "150"], None),
}

# Real sets: path below MERCER_DATA. "scaled": to [-1,1], as svm-scale does.
REAL = {
    "heart": "heart/heart_scale",
    "breast-cancer": "breast-cancer/breast-cancer_scale",
    "australian": "australian/australian_scale",
    "a1a": "adult/a1a",
    "w1a": "w1a/w1a",
    "ionosphere": "ionosphere/ionosphere_scale",
    "sonar": "sonar/sonar_scale",
    "svmguide1": "svmguide1/svmguide1",
    "abalone": "abalone/abalone_scale",
}
SCALED = {"svmguide1"}


def read_lines(path):
    path = pathlib.Path(path)
    if not path.exists():
        path = path.with_name(path.name + ".gz")
    if not path.exists():
        tap.skip("no data set %s (set MERCER_DATA)" % path.name)
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        return [line.split() for line in file if line.strip()]


def ranges_of(rows):
    """Smallest and largest value of each feature; values left out are 0."""
    low, high, seen = {}, {}, collections.Counter()
    for row in rows:
        for pair in row[1:]:
            index, value = pair.split(":")
            index, value = int(index), float(value)
            low[index] = min(low.get(index, value), value)
            high[index] = max(high.get(index, value), value)
            seen[index] += 1
    for index, count in seen.items():
        if count < len(rows):
            low[index], high[index] = min(low[index], 0.0), max(high[index], 0.0)
    return low, high


def scale(rows, ranges):
    """Each feature from its range to [-1,1], six digits, as svm-scale prints them."""
    low, high = ranges
    result = []
    for row in rows:
        given = {int(p.split(":")[0]): float(p.split(":")[1]) for p in row[1:]}
        out = [row[0]]
        for index in sorted(low):
            if low[index] == high[index]:
                continue
            value = given.get(index, 0.0)
            value = -1 + 2 * (value - low[index]) / (high[index] - low[index])
            if value != 0:
                out.append("%d:%g" % (index, value))
        result.append(out)
    return result


def write_lines(path, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(" ".join(row) + "\n")
    return path


def make_data(name):
    """Writes the data set into the current folder, once, and returns the file's name."""
    path = name + ".svm"
    if os.path.exists(path):
        return path
    if name in SAMPLES:
        sample, arguments, labels = SAMPLES[name]
        tap.mercer("sample", sample, *arguments, "-o", "all-" + path)
        rows = read_lines("all-" + path)
        return write_lines(path, [r for r in rows if labels is None or r[0] in labels])
    rows = read_lines(tap.DATA / REAL[name])
    return write_lines(path, scale(rows, ranges_of(rows)) if name in SCALED else rows)


def fingerprint(path):
    """Two sums of all numbers: distinguishes synthetic data that have changed from wrong results."""
    plain = weighted = 0.0
    for number, row in enumerate(read_lines(path), 1):
        values = [float(row[0])] + [float(p.split(":")[1]) * int(p.split(":")[0]) for p in row[1:]]
        plain += sum(values)
        weighted += number * sum(values)
    return [plain, weighted]


# ---- cases --------------------------------------------------------------------------------------

def rbf(gamma):
    return ("rbf(gamma=%r)" % gamma, ["-t", "2", "-g", repr(gamma)])


def poly(degree, c, factor):
    return ("poly(degree=%d,c=%r,scale=%r)" % (degree, c, factor),
            ["-t", "1", "-d", str(degree), "-r", repr(c), "-g", repr(factor)])


def sigmoid(a, b):
    return ("sigmoid(a=%r,b=%r)" % (a, b), ["-t", "3", "-g", repr(a), "-r", repr(b)])


LINEAR = ("linear", ["-t", "0"])

CLASSES = {"blobs2": [rbf(0.5), LINEAR, poly(3, 1.0, 0.5), sigmoid(0.02, 0.0)],
           "blobs3": [rbf(0.5), LINEAR, poly(2, 1.0, 1.0)],
           "rings": [rbf(1.0), poly(2, 0.0, 1.0), poly(4, 1.0, 0.2)],
           "sparse": [rbf(1 / 123), LINEAR, poly(2, 1.0, 0.05), sigmoid(0.005, 0.0)]}
NUMBERS = {"friedman": [rbf(0.1), LINEAR, poly(2, 1.0, 0.3), sigmoid(0.01, 0.0)],
           "sinc": [rbf(0.3), LINEAR, poly(2, 1.0, 0.05)]}


def around_origin(data, kernel):
    """Objects on all sides of the origin: the optimum of one-class is 0, which tells nothing."""
    return data in ("blobs2", "blobs3", "sinc") and kernel[0].startswith(("linear", "sigmoid"))


# Half of nu times the number of objects is no whole number: bounds that fill up exactly leave the
# bias open.

def sample_cases():
    for data, kernels in CLASSES.items():
        for kernel in kernels:
            yield Case(data, "svm", kernel, {"C": 1})
            yield Case(data, "nu-svm", kernel, {"nu": 0.2857})
            if not around_origin(data, kernel):
                yield Case(data, "one-class", kernel, {"nu": 0.2})
        yield Case(data, "svm", kernels[0], {"C": 100})
    yield Case("blobs2", "svm", rbf(0.5), {"C": 1, "class-weight": "1=3,2=0.5"})
    yield Case("blobs3", "svm", rbf(0.5), {"C": 2, "class-weight": "3=4"})
    for data, kernels in NUMBERS.items():
        for kernel in kernels:
            yield Case(data, "svr", kernel, {"C": 10, "epsilon": 0.1})
            yield Case(data, "nu-svr", kernel, {"C": 10, "nu": 0.4057})
            if not around_origin(data, kernel):
                yield Case(data, "one-class", kernel, {"nu": 0.5})
        yield Case(data, "svr", kernels[0], {"C": 1, "epsilon": 0})


def real_cases():
    gamma = {"heart": 1 / 13, "breast-cancer": 1 / 10, "australian": 1 / 14, "a1a": 1 / 119,
             "w1a": 1 / 300, "ionosphere": 1 / 34, "sonar": 1 / 60, "svmguide1": 2.0,
             "abalone": 1 / 8}
    nu = {"heart": 0.5, "breast-cancer": 0.1, "australian": 0.5, "a1a": 0.3, "w1a": 0.05,
          "ionosphere": 0.3, "sonar": 0.5, "svmguide1": 0.1, "abalone": 0.5}
    for data in REAL:
        kernel = rbf(gamma[data])
        if data != "abalone":
            yield Case(data, "svm", kernel, {"C": 2 if data == "svmguide1" else 1})
            yield Case(data, "nu-svm", kernel, {"nu": nu[data]})
        yield Case(data, "one-class", kernel, {"nu": nu[data]})
        yield Case(data, "svr", kernel, {"C": 1, "epsilon": 0.1})
        yield Case(data, "nu-svr", kernel, {"C": 1, "nu": nu[data]})


def name_of(case):
    options = " ".join("%s=%s" % pair for pair in case.options.items())
    return "%s %s %s %s" % (case.data, case.learner, case.kernel[0], options)


# ---- Mercer -------------------------------------------------------------------------------------

def mercer_options(case):
    result = ["-k", case.kernel[0], "--tol", TOLERANCE]
    for name, value in case.options.items():
        result += ["-C" if name == "C" else "--" + name, str(value)]
    return result


# ---- LIBSVM -------------------------------------------------------------------------------------

def program(name):
    """The path of svm-train or svm-predict, from LIBSVM_BIN or PATH; None: not there."""
    folder = os.environ.get("LIBSVM_BIN")
    return shutil.which(name, path=folder) if folder else shutil.which(name)


def libsvm_options(case, tolerance):
    result = ["-s", str(LEARNERS[case.learner]), "-e", tolerance, "-m", "200"] + case.kernel[1]
    for name, value in case.options.items():
        if name == "class-weight":
            for part in value.split(","):
                label, factor = part.split("=")
                result += ["-w" + label, factor]
        else:
            result += [LETTERS[name], str(value)]
    return result


def run_libsvm(case, path, model, tolerance=TOLERANCE):
    """Trains with svm-train."""
    call = [program("svm-train")] + libsvm_options(case, tolerance) + [path, model]
    subprocess.run(call, capture_output=True, text=True, timeout=600, check=True)


def read_model(path):
    """The labels (first is positive), rho of each pair, and the coefficients: one row a vector, with
    the vectors as they stand in the file."""
    header = {}
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[0] == "SV":
                break
            header[words[0]] = words[1:]
        width = max(1, int(header["nr_class"][0]) - 1)
        rows = [line.split() for line in file]
    labels = [str(int(v)) for v in header.get("label", [])]
    counts = [int(v) for v in header.get("nr_sv", [])]
    return {"labels": labels, "counts": counts, "rho": [float(v) for v in header["rho"]],
            "coef": np.array([[float(v) for v in r[:width]] for r in rows]).reshape(-1, width),
            "rows": [r[width:] for r in rows]}


def rho_by_pair(model):
    """rho by "first label:second label", or a list of one."""
    labels = model["labels"]
    pairs = ["%s:%s" % (a, b) for i, a in enumerate(labels) for b in labels[i + 1:]]
    return dict(zip(pairs, model["rho"])) if pairs else model["rho"]


def same_signs(rho, like):
    """rho with its pairs of labels turned as those of `like`."""
    if isinstance(like, list):
        return rho
    turned = {":".join(reversed(k.split(":"))): -v for k, v in rho.items()}
    return {k: rho[k] if k in rho else turned[k] for k in like}


# ---- LIBSVM's solution, looked at in double -----------------------------------------------------
#
# LIBSVM keeps kernel values as floats, and prints an objective made of them. The true objective of
# its coefficients is nearer to the optimum (the error there is of second order), so this is what is
# compared. Each object is marked by a zero at an index of its own, which changes no kernel value
# and comes back in the model file.

MARK = 10000000


def mark(path, marked):
    rows = read_lines(path)
    return write_lines(marked, [r + ["%d:0" % (MARK + i)] for i, r in enumerate(rows)])


def load(path):
    """Targets and dense rows."""
    rows = read_lines(path)
    cols = max(int(p.split(":")[0]) for r in rows for p in r[1:])
    x = np.zeros((len(rows), cols))
    for i, row in enumerate(rows):
        for pair in row[1:]:
            index, value = pair.split(":")
            x[i, int(index) - 1] = float(value)
    return np.array([float(r[0]) for r in rows]), x


def gram(kernel, x):
    """K of LIBSVM's options, in double."""
    options = dict(zip(kernel[1][::2], map(float, kernel[1][1::2])))
    dot = x @ x.T
    if options["-t"] == 0:
        return dot
    if options["-t"] == 1:
        return (options["-g"] * dot + options["-r"]) ** int(options["-d"])
    if options["-t"] == 3:
        return np.tanh(options["-g"] * dot + options["-r"])
    square = np.sum(x * x, axis=1)
    return np.exp(-options["-g"] * np.maximum(square[:, None] + square[None, :] - 2 * dot, 0))


def pair_coefficients(model, n):
    """For each pair of classes the coefficients of all n objects (marked data)."""
    labels, counts = model["labels"], model["counts"]
    objects = np.array([int(r[-1].split(":")[0]) - MARK for r in model["rows"]])
    if not labels:
        b = np.zeros(n)
        b[objects] = model["coef"][:, 0]
        return [b]
    first = np.concatenate([[0], np.cumsum(counts)])
    result = []
    for i in range(len(labels)):
        for j in range(i + 1, len(labels)):
            b = np.zeros(n)
            b[objects[first[i]:first[i + 1]]] = model["coef"][first[i]:first[i + 1], j - 1]
            b[objects[first[j]:first[j + 1]]] = model["coef"][first[j]:first[j + 1], i]
            result.append(b)
    return result


def margin_of(b, g):
    """Half of the distance between the two margins, by the objects on them: 1 but for rounding."""
    free = (np.abs(b) > 0) & (np.abs(b) < np.abs(b).max() * (1 - 1e-9))
    sides = [g[free & (b > 0)], g[free & (b < 0)]]
    return 0.5 * (sides[0].mean() - sides[1].mean()) if len(sides[0]) and len(sides[1]) else 1.0


def objective_of(case, b, k, y):
    g = k @ b
    half = 0.5 * b @ g
    if case.learner == "svm":
        return half - np.abs(b).sum()
    if case.learner == "one-class":
        return half
    if case.learner == "nu-svm":
        return half / margin_of(b, g) ** 2
    epsilon = case.options.get("epsilon", 0.1) if case.learner == "svr" else 0
    return half - b @ y + epsilon * np.abs(b).sum()


def reference_of(case, path, tolerance):
    """What LIBSVM finds: the objective of its coefficients in double, rho."""
    run_libsvm(case, mark(path, "marked.svm"), "marked.model", tolerance)
    model = read_model("marked.model")
    y, x = load(path)
    k = gram(case.kernel, x)
    pairs = pair_coefficients(model, len(y))
    result = {"objective": float(sum(objective_of(case, b, k, y) for b in pairs)),
              "rho": rho_by_pair(model)}
    if case.learner == "nu-svm" and len(pairs) == 1:
        b = pairs[0]
        result["unscaled"] = float(0.5 * b @ k @ b / np.abs(b).sum() ** 2)
    return result
