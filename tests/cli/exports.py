"""exports.py: models of every kernel and learner, for the tests of `mercer export`.

A case is a training call and data. Data are made from a seed: vectors from 0 up (histogram kernels want
that), three classes or two, numbers; DNA strings. Quick runs have a few hundred new objects, MERCER_ALL=1
has 10,000.

SPDX-License-Identifier: Apache-2.0
"""

import os

import numpy as np

import tap

ALL = bool(os.environ.get("MERCER_ALL"))
FEATURES = 4

KERNELS = {
    "linear": "linear",
    "mahalanobis": "mahalanobis(diag=[1, 0.5, 2, 0.1])",
    "mahalanobis matrix": "mahalanobis(q=[2,1,0,0, 1,2,0,0, 0,0,1,0, 0,0,0,0])",
    "poly": "poly(degree=3, c=1, scale=0.5)",
    "rbf": "rbf(gamma=0.7)",
    "rbf list": "rbf(gamma=[0.1, 1, 2, 0.5])",
    "laplace": "laplace(gamma=0.8)",
    "laplace list": "laplace(gamma=[0.1, 1, 2, 0.5])",
    "matern 1/2": "matern(nu=0.5, length=2)",
    "matern 3/2": "matern(length=[1, 2, 3, 4])",
    "matern 5/2": "matern(nu=2.5)",
    "rq": "rq(alpha=0.7, length=1.5)",
    "rq list": "rq(alpha=1000, length=[1, 2, 3, 4])",
    "periodic": "periodic(period=3, length=2)",
    "periodic list": "periodic(period=[1, 2, 3, 40], length=[1, 2, 3, 4])",
    "sigmoid": "sigmoid(a=0.1, b=-1)",
    "cosine": "cosine",
    "chi2": "chi2(gamma=0.5)",
    "intersection": "intersection",
    "constant": "rbf(gamma=1) + 0.5",
    "sum": "rbf(gamma=1) + 0.1*linear",
    "product": "rbf(gamma=0.2) * laplace(gamma=0.1)",
    "power": "(0.1*linear + 1)^3",
    "exp": "exp(0.05*linear)",
    "normalize": "normalize(poly(degree=2, c=1)) + normalize(normalize(linear) + 1)",
    "conformal": "conformal(rbf(gamma=1), f=norm) + conformal(linear, f=2)",
}

# Learner, options, target ("three", "two", "number", "none").
LEARNERS = {
    "svm two classes": ("svm", ["-C", "5"], "two"),
    "svm three classes": ("svm", ["-C", "5"], "three"),
    "svm probability": ("svm", ["--probability"], "two"),
    "svm probability three": ("svm", ["--probability"], "three"),
    "svm scaled": ("svm", ["--scale", "standard"], "three"),
    "svm minmax": ("svm", ["--scale", "minmax"], "two"),
    "nu-svm": ("nu-svm", ["--nu", "0.3"], "three"),
    "one-class": ("one-class", ["--nu", "0.2"], "none"),
    "svr": ("svr", ["--epsilon", "0.05"], "number"),
    "nu-svr": ("nu-svr", ["--scale", "standard"], "number"),
    "l1-svm": ("l1-svm", [], "three"),
    "ridge": ("ridge", ["--lambda", "0.1"], "number"),
    "ridge classes": ("ridge", ["--lambda", "0.1"], "three"),
    "logistic": ("logistic", ["--lambda", "0.01"], "two"),
    "logistic three": ("logistic", ["--lambda", "0.01"], "three"),
    "erm": ("erm", ["--lambda", "0.01"], "two"),
    "knn": ("knn", ["--neighbors", "4"], "three"),
    "knn distance": ("knn", ["--neighbors", "3", "--vote", "distance"], "three"),
    "knn numbers": ("knn", ["--neighbors", "3", "--vote", "distance"], "number"),
    "kmeans": ("kmeans", ["--clusters", "5"], "none"),
    "perceptron": ("perceptron", ["--passes", "3"], "three"),
    "perceptron averaged": ("perceptron", ["--variant", "averaged"], "two"),
    "perceptron voted": ("perceptron", ["--variant", "voted"], "two"),
    "perceptron voted three": ("perceptron", ["--variant", "voted"], "three"),
    "pegasos": ("pegasos", [], "two"),
    "fisher": ("fisher", [], "three"),
    "pca": ("pca", ["-n", "3"], "none"),
    "gp": ("gp", ["--noise", "0.05", "--optimize", "no"], "number"),
    "gp two classes": ("gp", ["--optimize", "no"], "two"),
    "gp three classes": ("gp", ["--optimize", "no"], "three"),
}

STRINGS = {
    "spectrum": "spectrum(p=3)",
    "spectrum count": "normalize(spectrum(p=2, mode=count))",
    "blended": "blended(p=3)",
    "ssk": "ssk(p=3, lambda=0.6)",
    "ssk normalize": "normalize(ssk(p=2)) + 0.5*ssk(p=1)",
    "mismatch": "mismatch(k=4, m=1)",
    "gkm": "normalize(gkm(l=6, k=4))",
    "gkm one strand": "gkm(l=5, k=3, filter=none, strands=1)",
}


# What the quick run has of each: one of each way to compute.
QUICK = {"poly", "rbf list", "matern 3/2", "chi2", "normalize",  # kernels
         "svm probability three", "svm scaled", "one-class", "ridge classes", "knn distance", "kmeans",
         "perceptron voted three", "pca", "gp", "gp three classes",  # learners
         "ssk normalize", "gkm"}  # strings


def chosen(cases):
    return [name for name in cases if ALL or name in QUICK]


def new_count():
    return 10000 if ALL else 300


def draw_vectors(rows, seed):
    """Vectors from 0 up and their three classes; float numbers, so that all precisions see the same."""
    random = np.random.default_rng(seed)
    centre = np.array([[1, 1, 2, 3], [3, 1, 1, 2], [1.5, 3, 2, 1]], float)
    kind = random.integers(0, 3, rows)
    x = np.abs(centre[kind] + random.normal(0, 0.8, (rows, FEATURES)))
    return x.astype(np.float32).astype(float), kind


def targets(kind, x, target):
    if target == "number":
        return [repr(float(v)) for v in np.sin(x[:, 0]) + 0.1 * x[:, 1] * x[:, 2]]
    if target == "none":
        return None
    return [["red", "green", "blue"][c if target == "three" else min(c, 1)] for c in kind]


def write_vectors(name, rows, seed, target):
    x, kind = draw_vectors(rows, seed)
    y = targets(kind, x, target)
    with open(name, "w") as out:
        out.write(",".join(["a", "b", "c", "d"] + (["y"] if y else [])) + "\n")
        for i, row in enumerate(x):
            out.write(",".join([repr(float(v)) for v in row] + ([y[i]] if y else [])) + "\n")
    return x


def draw_strings(rows, seed):
    random = np.random.default_rng(seed)
    found = []
    for i in range(rows):
        letters = random.choice(list("ACGT"), random.integers(8, 25), p=[.4, .2, .2, .2] if i % 2
                                else [.2, .2, .2, .4])
        found.append(("yes" if i % 2 else "no", "".join(letters)))
    return found


def write_strings(name, rows, seed):
    found = draw_strings(rows, seed)
    with open(name, "w") as out:
        out.writelines("%s\t%s\n" % pair for pair in found)
    return found


def fit_vectors(learner, options, kernel, target, rows=90):
    """Trains into model.mercer; returns new vectors, in new.csv."""
    write_vectors("train.csv", rows, 1, target)
    none = ["--target", "none"] if target == "none" else []
    tap.mercer("fit", learner, "train.csv", "-k", kernel, "-o", "model.mercer", "--quiet", *options,
               *none)
    return write_vectors("new.csv", new_count(), 2, "none")


def read_table(name):
    """Numbers of a text file with tabs."""
    return np.array([[float(v) for v in line.split("\t")] for line in open(name)
                     if not line.startswith("#")])


def predict(*what, model="model.mercer", data="new.csv"):
    verb = "transform" if what == ("transform",) else "predict"
    none = ["--target", "none"] if data.endswith(".csv") else []
    more = [] if what == ("transform",) else list(what)
    tap.mercer(verb, model, data, "-o", "out.txt", "--quiet", *more, *none)
    if not what:
        return [line.rstrip("\n") for line in open("out.txt")]
    return read_table("out.txt")
