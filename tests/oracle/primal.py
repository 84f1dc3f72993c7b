"""primal.py: certificates of --form primal, recomputed exactly from the coefficients of the model files.

The data and the coefficients are doubles, so values of linear and polynomial kernels, and K a, are computed here without
any rounding, as whole numbers times a power of two; only the losses take long double. The certificate and the objective
that are printed must be right within the errors that are printed, and what is called optimal must be within its
tolerance. `mercer verify` must not disagree with a model, and must not agree with a copy in which a coefficient was
changed such that the certificate no longer holds. Columns have units of very different sizes, lambda and C go from tiny
to huge: the coefficients of ridge are residuals over lambda, and sums of them lose most of their digits.

./check draws a few models, ./check --all many; MERCER_SEED gives other ones. A failure prints the call and the seed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import os
import random
import shlex

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tap

try:
    import numpy as np

    import certificates_all as files
except ImportError as fault:
    np, why = None, str(fault)

SEED = int(os.environ.get("MERCER_SEED", 1))
COUNT = int(os.environ.get("MERCER_COUNT", 200 if os.environ.get("MERCER_ALL") else 25))


def need():
    if np is None:
        tap.skip("NumPy is not there (%s)" % why)
    if np.finfo(np.longdouble).nmant < 63:
        tap.skip("long double is no more than double here")


# ---- exact sums ---------------------------------------------------------------------------------


def places(values):
    """So many binary places the numbers have at most."""
    return max(float(v).as_integer_ratio()[1].bit_length() - 1 for v in values)


def whole(value, bits):
    """A double as a whole number of 2^-bits."""
    top, bottom = float(value).as_integer_ratio()
    return top * ((1 << bits) // bottom)


def long(number, bits):
    """A whole number of 2^-bits as a long double."""
    size = max(abs(number).bit_length() - 64, 0)
    return np.ldexp(np.longdouble(number >> size), size - bits)


def product(x, a, kernel):
    """K a, with K(x,z) = (x.z + c)^degree; degree 1 by way of the features."""
    degree, c = kernel
    bits, fine = places(sum(x, [c])), places(a)
    x = [[whole(v, bits) for v in row] for row in x]
    a = [whole(v, fine) for v in a]
    if degree == 1:
        w = [sum(row[k] * v for row, v in zip(x, a)) for k in range(len(x[0]))]
        return [long(sum(p * q for p, q in zip(row, w)), 2 * bits + fine) for row in x]
    found = []
    for row in x:
        sums = [sum(p * q for p, q in zip(row, other)) + whole(c, 2 * bits) for other in x]
        found.append(long(sum(s ** degree * v for s, v in zip(sums, a)), 2 * bits * degree + fine))
    return found


# ---- certificates -------------------------------------------------------------------------------


def ridge(f, a, y, lam):
    f, a, y = (np.array(v, dtype=np.longdouble) for v in (f, a, y))
    rest = y - f - lam * a
    return np.sqrt((rest ** 2).sum() / (y ** 2).sum()), ((y - f) ** 2).sum() + lam * (a * f).sum()


def gradient(rest, y, x, kernel):
    top, bottom = product(x, rest, kernel), product(x, y, kernel)
    return np.sqrt((np.array(top) ** 2).sum() / (np.array(bottom) ** 2).sum())


def logistic(f, a, y, lam):
    f, a, y = (np.array(v, dtype=np.longdouble) for v in (f, a, y))
    margin = y * f
    loss = np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin)))
    slope = -y * np.where(margin > 0, np.exp(-np.abs(margin)), 1) / (1 + np.exp(-np.abs(margin)))
    return np.abs(lam * a + slope).max(), loss.sum() + lam / 2 * (a * f).sum()


def svm(f, a, y, cost):
    f, a, y = (np.array(v, dtype=np.longdouble) for v in (f, a, y))
    low, high = np.where(y > 0, 0, -cost), np.where(y > 0, cost, 0)
    slope = f - y
    up, down = slope[a < high], slope[a > low]
    worst = max(down.max() - up.min(), 0) if len(up) and len(down) else np.longdouble(0)
    return worst, (a * f).sum() / 2 - (a * y).sum()


# ---- models -------------------------------------------------------------------------------------


def draw_data(draw, classes):
    """Rows, targets; columns in units of their own, some with an offset, some that nearly repeat others."""
    n, p = draw.choice((12, 30, 60, 120, 250)), draw.randint(1, 6)
    far = draw.random() < 0.5
    unit = [10 ** draw.uniform(-3, 3) if far else 1 for _ in range(p)]
    off = [draw.choice((0, 0, 1, 30)) if far else 0 for _ in range(p)]
    x = [[unit[k] * (off[k] + draw.gauss(0, 1)) for k in range(p)] for _ in range(n)]
    if p > 2 and draw.random() < 0.3:
        for row in x:
            row[1] = row[0] * (1 + 1e-6 * draw.gauss(0, 1))
    w = [draw.gauss(0, 1) / u for u in unit]
    noise = 10 ** draw.uniform(-3, 1)
    y = [sum(a * b for a, b in zip(row, w)) + noise * draw.gauss(0, 1) for row in x]
    if classes:
        middle = sorted(y)[n // 2]
        y = [1.0 if v >= middle else -1.0 for v in y]
        y = [-y[0] * v for v in y]  # the class that comes first is the negative one
    return x, y


def write(path, x, y, classes):
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join("x%d" % k for k in range(len(x[0]))) + ",y\n")
        for row, v in zip(x, y):
            out.write(",".join(map(repr, row)) + "," + (("a" if v < 0 else "b") if classes else repr(v)) + "\n")


def draw_call(draw, learner):
    degree = draw.choice((1, 1, 2, 3))
    c = draw.choice((0.0, 1.0)) if degree > 1 else 0.0
    text = "linear" if degree == 1 else "poly(degree=%d,c=%g)" % (degree, c)
    number = float("%.3g" % 10 ** draw.uniform(*{"svm": (-6, 6), "ridge": (-9, 5), "logistic": (-8, 4)}[learner]))
    call = ["fit", learner, "t.csv", "-k", text, "--form", "primal", "-o", "m.mercer",
            "-C" if learner == "svm" else "--lambda", "%.3g" % number]
    if draw.random() < 0.4:
        call += ["--tol", draw.choice(("1e-2", "1e-4", "1e-8"))]
    if learner != "ridge":
        call += ["--time-limit", "5"]
    return call, (degree, c), number


def exact(learner, kernel, number, x, y, path, kind):
    """Value and objective of the stored coefficients."""
    a = files.Model(path, len(y)).coef[0]
    f = product(x, a, kernel)
    value, objective = {"ridge": ridge, "logistic": logistic, "svm": svm}[learner](f, a, y, np.longdouble(number))
    if "gradient" in kind:
        rest = np.array(y, dtype=np.longdouble) - f - np.longdouble(number) * a
        value = gradient([float(v) for v in rest], y, x, kernel)
    return value, objective


def look(learner, draw, counts, faults):
    x, y = draw_data(draw, learner != "ridge")
    write("t.csv", x, y, learner != "ridge")
    call, kernel, number = draw_call(draw, learner)

    def say(what, *numbers):
        faults.append("%s: %s %s (n=%d)" % (shlex.join(call), what, " ".join("%.6g" % v for v in numbers), len(y)))

    done = tap.mercer(*call, "--json", status=None)
    if done.returncode:
        counts["refused"] += 1
        print("# refused: %s: %s" % (shlex.join(call), done.stderr.strip()))
        return
    out = json.loads(done.stdout)
    said = out["certificate"]
    value, objective = exact(learner, kernel, number, x, y, "m.mercer", said["kind"])
    counts[out["stop"]] = counts.get(out["stop"], 0) + 1
    if abs(value - said["value"]) > said["error"] + 1e-9 * value + 1e-300:
        say("value, its error, exactly", said["value"], said["error"], value)
    if out["stop"] == "optimal" and not value <= said["tolerance"]:
        say("optimal, and the value is", value, said["tolerance"])
    if abs(objective - out["objective"]) > out["objective_error"] + 1e-13 * abs(objective):
        say("objective, its error, exactly", out["objective"], out["objective_error"], objective)
    found = tap.mercer("verify", "m.mercer", "t.csv", "--json", status=None)
    verdict = json.loads(found.stdout)
    name = verdict["verdict"]
    counts[name] = counts.get(name, 0) + 1
    if name == "disagrees":
        say("verify: " + verdict["fault"])
    try:
        files.tamper("m.mercer", "bad.mercer", 1e-3)
    except AssertionError:
        return
    found = json.loads(tap.mercer("verify", "bad.mercer", "t.csv", "--json", status=None).stdout)
    counts["changed"] += 1
    counts["rejected"] += found["agrees"] is False
    worse, _ = exact(learner, kernel, number, x, y, "bad.mercer", said["kind"])
    if out["stop"] == "optimal" and worse > said["tolerance"] and found["agrees"]:
        say("verify agrees with a changed coefficient; the value is", worse, said["tolerance"])


def sweep(learner):
    need()
    draw = random.Random(SEED * 1000 + len(learner))
    counts, faults = {"refused": 0, "changed": 0, "rejected": 0}, []
    for _ in range(COUNT):
        look(learner, draw, counts, faults)
    print("# %s, seed %d: %s" % (learner, SEED, counts))
    assert not faults, "%d faults\n%s" % (len(faults), "\n".join(faults))


def test_ridge():
    sweep("ridge")


def test_svm():
    sweep("svm")


def test_logistic():
    sweep("logistic")


# ---- approximate maps ---------------------------------------------------------------------------


def draw_stored(draw):
    learner, approx = draw.choice(("svm", "svm", "ridge", "logistic")), draw.choice(("nystrom", "falkon"))
    approx = "nystrom" if learner != "svm" else approx
    gamma, number = 10 ** draw.uniform(-2.5, 0), 10 ** draw.uniform(-2, 6)
    number = number if learner == "svm" else 1 / number
    return learner, ["-k", "rbf(gamma=%.3g)" % gamma, "-C" if learner == "svm" else "--lambda", "%.3g" % number,
                     "--approx", approx, "--rank", draw.choice(("20", "60", "120"))]


def stored_function(gamma, model, x):
    """f(x) without the offset, |f|^2 and the offset of a model file, in long double."""
    z = np.array(model["fields"][0]["support"]).astype(np.longdouble)
    c = np.array(model["segments"][0]["coef"][0]).astype(np.longdouble)

    def kernel(a, b):
        return np.exp(-gamma * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))

    x = np.array(x).astype(np.longdouble)
    return kernel(x, z) @ c, c @ kernel(z, z) @ c, np.longdouble(model["offset"][0])


def stored_objective(learner, gamma, number, model, x, y):
    """The objective of the function of a model file."""
    f, square, offset = stored_function(gamma, model, x)
    y = np.array(y).astype(np.longdouble)
    if learner == "svm":
        f = f + offset
        return square / 2 + np.longdouble(number) * np.maximum(1 - y * f, 0).sum()
    if learner == "ridge":
        return ((y - f) ** 2).sum() + np.longdouble(number) * square
    margin = y * f
    loss = np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin)))
    return loss.sum() + np.longdouble(number) / 2 * square


LOSSES = {
    "hinge": lambda y, f: np.maximum(1 - y * f, 0),
    "squared-hinge": lambda y, f: np.maximum(1 - y * f, 0) ** 2,
    "squared": lambda y, f: (y - f) ** 2,
    "absolute": lambda y, f: np.abs(y - f),
}


def draw_on_features(draw):
    """A learner without forms of its own, whose features mcr_learn makes."""
    learner, approx = draw.choice(("nu-svm", "svr", "one-class", "erm")), draw.choice(("nystrom", "falkon"))
    gamma, number = float("%.3g" % 10 ** draw.uniform(-2.5, 0)), float("%.3g" % 10 ** draw.uniform(-2, 4))
    call = ["-k", "rbf(gamma=%.3g)" % gamma, "--approx", approx, "--rank", draw.choice(("20", "60", "120"))]
    loss = draw.choice(sorted(LOSSES)) if learner == "erm" else ""
    if learner == "svr":
        call += ["-C", "%.3g" % number]
    elif learner == "erm":
        call += ["--loss", loss, "--lambda", "%.3g" % (1 / number)]
        number = float("%.3g" % (1 / number))
    else:
        number = float("%.3g" % draw.uniform(0.05, 0.4))
        call += ["--nu", "%.3g" % number]
    return learner, loss, gamma, number, call + ["--time-limit", "5"]


def primal_on_features(learner, loss, number, square, f, y, offset):
    """The objective of a function at its training objects, with its offset."""
    if learner == "erm":
        return LOSSES[loss](y, f).sum() + number * square
    if learner == "svr":
        return square / 2 + number * np.maximum(np.abs(y - f - offset) - np.longdouble(0.1), 0).sum()
    return square / 2 + number * len(y) * offset + np.maximum(-offset - f, 0).sum()  # one-class


def test_functions_on_features():
    """The same of learners whose features mcr_learn makes."""
    need()
    draw, faults, worst = random.Random(SEED * 1000 + 1), [], 0
    for _ in range(2 * COUNT):
        learner, loss, gamma, number, call = draw_on_features(draw)
        classes = learner == "nu-svm" or loss.endswith("hinge")
        x = [[draw.uniform(-3, 3), draw.uniform(-3, 3)] for _ in range(300)]
        y = [math.sin(a) + 0.5 * math.cos(1.3 * b) + 0.2 * draw.gauss(0, 1) for a, b in x]
        if classes:
            y = [1.0 if v > 0 else -1.0 for v in y]
            y = [-y[0] * v for v in y]
        write("t.csv", x, y, classes)
        done = tap.mercer("fit", learner, "t.csv", *call, "-o", "m.mercer", "--json", status=None)
        if done.returncode:
            print("# refused: %s %s: %s" % (learner, shlex.join(call), done.stderr.strip()))
            continue
        out = json.loads(done.stdout)
        tap.mercer("export", "m.mercer", "--to", "json", "-o", "m.json", "--quiet")
        with open("m.json", encoding="utf-8") as file:
            model = json.load(file)
        f, square, offset = stored_function(np.longdouble(gamma), model, x)
        target, number = np.array(y).astype(np.longdouble), np.longdouble(number)
        if learner == "nu-svm":  # its primal takes the margin of the solver, which no model keeps
            found, said = -square / 2, np.longdouble(out["dual"])
        else:
            found = primal_on_features(learner, loss, number, square, f, target, offset)
            said = np.longdouble(out["primal"])
        off = abs(found - said)
        worst = max(worst, float(off / abs(found)))
        if not off <= out["objective_error"]:
            faults.append("%s %s: off by %.3g, objective_error %.3g (%s)" % (
                learner, shlex.join(call), off, out["objective_error"], out["stop"]))
    print("# seed %d: at most %.1e of the objective" % (SEED, worst))
    assert not faults, "%d faults\n%s" % (len(faults), "\n".join(faults))


def test_stored_functions():
    """With an approximate map, objective_error covers what the stored function makes of the objective."""
    need()
    draw, faults, worst = random.Random(SEED * 1000), [], 0
    for _ in range(COUNT):
        learner, call = draw_stored(draw)
        x = [[draw.uniform(-3, 3), draw.uniform(-3, 3)] for _ in range(300)]
        y = [math.sin(a) + 0.5 * math.cos(1.3 * b) + 0.2 * draw.gauss(0, 1) for a, b in x]
        if learner != "ridge":
            y = [1.0 if v > 0 else -1.0 for v in y]
            y = [-y[0] * v for v in y]
        write("t.csv", x, y, learner != "ridge")
        out = tap.mercer_json("fit", learner, "t.csv", *call, "-o", "m.mercer")
        tap.mercer("export", "m.mercer", "--to", "json", "-o", "m.json", "--quiet")
        with open("m.json", encoding="utf-8") as file:
            model = json.load(file)
        found = stored_objective(learner, np.longdouble(float(call[1][10:-1])), float(call[3]), model, x, y)
        said = out["primal"] if learner == "svm" else out["objective"]
        off = abs(found - np.longdouble(said))
        worst = max(worst, float(off / found))
        if off > out["objective_error"]:
            faults.append("%s %s: off by %.3g, objective_error %.3g" % (
                learner, shlex.join(call), off, out["objective_error"]))
    print("# seed %d: at most %.1e of the objective" % (SEED, worst))
    assert not faults, "%d faults\n%s" % (len(faults), "\n".join(faults))


if __name__ == "__main__":
    tap.main(globals())
