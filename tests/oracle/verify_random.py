"""verify_random.py: trainings drawn at random, the ends of every range included, each held against `mercer verify`.

verify recomputes a certificate in double from the model file and the data and shares nothing with the
solvers but the kernel; certificates.py and certificates_all.py hold verify's own numbers against NumPy.
./check draws a few, ./check --all many; MERCER_SEED gives other ones. A failure prints the call.

SPDX-License-Identifier: Apache-2.0
"""

import os
import random
import shlex

import tap

SEED = int(os.environ.get("MERCER_SEED", 1))
COUNT = int(os.environ.get("MERCER_COUNT", 600 if os.environ.get("MERCER_ALL") else 40))
CLASSES, NUMBERS = ("moons", "blobs", "spirals"), ("sinc", "friedman")
LEARNERS = {  # what is drawn for each besides kernel and scale
    "svm": ("cost", "tol", "balanced"), "nu-svm": ("nu", "tol"), "one-class": ("nu", "tol"),
    "svr": ("cost", "epsilon", "tol"), "nu-svr": ("cost", "nu", "tol"), "l1-svm": ("cost",),
    "ridge": ("lambda",), "logistic": ("lambda", "tol", "balanced"), "erm": ("lambda", "loss", "tol"),
    "gp": (), "fisher": (), "pca": (), "kmeans": (), "perceptron": (), "pegasos": (),
}
CANNOT = ("could not solve", "not feasible", "the margin is 0", "was reached before", "unbounded", "numerically")


def spread(low, high):
    return "%.3g" % 10 ** random.uniform(low, high)


def draw_kernel():
    return random.choice((
        "rbf(gamma=%s)" % spread(-6, 3), "rbf(gamma=%s)" % spread(-3, 1), "linear",
        "poly(degree=%d,c=%s)" % (random.randint(1, 4), spread(-1, 1)),
        "laplace(gamma=%s)" % spread(-3, 1), "rbf(gamma=%s)+linear" % spread(-3, 1),
        "matern(nu=1.5,length=%s)" % spread(-1, 2)))


def draw_options(learner, numbers):
    losses = ("squared", "epsilon", "absolute", "huber", "quantile") if numbers else (
        "hinge", "squared-hinge", "logistic")
    drawn = {
        "cost": lambda: ["-C", spread(-3, 6)],
        "nu": lambda: ["--nu", random.choice((spread(-2, 0), "1", "0.01", "0.5"))],
        "epsilon": lambda: ["--epsilon", random.choice(("0", spread(-3, 1)))],
        "lambda": lambda: ["--lambda", spread(-8, 3)],
        "loss": lambda: ["--task", "regress" if numbers else "classify", "--loss", random.choice(losses)],
        "tol": lambda: ["--tol", random.choice(("1e-2", "1e-3", "1e-5", "1e-7"))],
        "balanced": lambda: ["--class-weight", "balanced"] if random.random() < 0.2 else [],
    }
    return sum((drawn[name]() for name in LEARNERS[learner]), [])


def stretch(path):
    """The same rows in units of very different sizes."""
    lines = open(path, encoding="ascii").read().split("\n")
    with open("far-" + path, "w", encoding="ascii") as out:
        for number, line in enumerate(lines):
            cells = line.split(",")
            if line and number > 0:
                cells[0] = repr(float(cells[0]) * 300 + 4000)
            out.write(",".join(cells) + "\n" if line else "")
    return "far-" + path


def test_what_is_printed_can_be_recomputed():
    random.seed(SEED)
    sets = {}
    for name in CLASSES + NUMBERS:
        path = name + ".csv"
        tap.mercer("sample", name, "-n", random.randint(60, 180), "--seed", SEED, "-o", path)
        sets[name] = (path, stretch(path))
    agreed, undecided, refused, faults = 0, 0, 0, []
    for _ in range(COUNT):
        learner = random.choice(tuple(LEARNERS))
        numbers = learner in ("svr", "nu-svr") or (
            learner in ("ridge", "erm", "gp") and random.random() < 0.5)
        path = random.choice(sets[random.choice(NUMBERS if numbers else CLASSES)])
        call = ["fit", learner, path, "-k", draw_kernel(), "-o", "m.mercer"]
        call += draw_options(learner, numbers)
        if "tol" in LEARNERS[learner]:
            call += ["--time-limit", "5"]
        if random.random() < 0.3:
            call += ["--scale", "standard"]
        done = tap.mercer(*call, status=None)
        if done.returncode:
            assert any(word in done.stderr for word in CANNOT), (
                "%s\n%s" % (shlex.join(call), done.stderr))
            refused += 1
            continue
        found = tap.mercer("verify", "m.mercer", path, status=None)
        undecided += "undecided" in found.stdout
        agreed += "agrees: " in found.stdout
        if found.returncode:
            faults.append("%s\n%s%s" % (shlex.join(call), found.stdout, found.stderr))
    print("# %d agree, %d undecided, %d refused, seed %d" % (agreed, undecided, refused, SEED))
    assert not faults, "\n".join(faults)
    assert agreed > COUNT * 0.8, "only %d of %d were trained" % (agreed, COUNT)


FOUND = (  # seed, rows, set, far or not, call: drawn with other seeds, each was false once
    (2, 168, "blobs", True, "logistic -k poly(degree=3,c=0.184) --lambda 2.42e-05 --tol 1e-2 --class-weight balanced"),
    (2, 67, "spirals", False, "svm -k laplace(gamma=4.21) -C 0.0618 --tol 1e-2 --class-weight balanced"),
    (3, 76, "sinc", True, "erm -k poly(degree=3,c=1.63) --lambda 30.3 --task regress --loss huber --tol 1e-5"),
    (4, 98, "blobs", True, "erm -k poly(degree=3,c=1.18) --lambda 957 --task classify --loss logistic --tol 1e-2"),
    (5, 139, "moons", False, "nu-svm -k rbf(gamma=0.00636) --nu 0.01 --tol 1e-7"),
    (8, 107, "blobs", True, "pca -k rbf(gamma=527)"),  # all eigenvalues are equal
)


def test_what_was_found_before():
    """Bounds far from the optimum, coefficients rounded after the solution, gaps of another dual point."""
    for seed, count, name, far, call in FOUND:
        path = name + ".csv"
        tap.mercer("sample", name, "-n", count, "--seed", seed, "-o", path)
        path = stretch(path) if far else path
        words = call.split()
        report = tap.mercer_json("fit", words[0], path, *words[1:], "-o", "m.mercer", "--time-limit", "5")
        assert report["stop"] != "optimal" or report["certificate"]["value"] <= report["certificate"]["tolerance"], (
            call, report)
        tap.mercer("verify", "m.mercer", path)


def test_an_empty_tube_costs_nothing():
    """nu = 1: the two levels of nu-svr cross within the tolerance, and epsilon is 0, not negative."""
    tap.mercer("sample", "friedman", "-n", "150", "-o", "f.csv")
    for kernel in ("rbf(gamma=1)", "rbf(gamma=0.001)", "linear"):
        for cost in ("1", "1000"):
            tap.mercer("fit", "nu-svr", "f.csv", "-k", kernel, "--nu", "1", "-C", cost, "-o", "m.mercer")
            tap.mercer("verify", "m.mercer", "f.csv")
            text = tap.mercer("info", "m.mercer", "--coefficients").stdout
            epsilon = [float(line.split()[1]) for line in text.split("\n") if line.startswith("epsilon")]
            assert len(epsilon) == 1 and epsilon[0] >= 0, text[:300]


if __name__ == "__main__":
    tap.main(globals())
