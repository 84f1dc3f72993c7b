"""What figures show, against NumPy: each kind of `mercer plot --json`.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import math

import numpy as np

import tap

PIXELS = (640, 430)  # a plot's box in a picture of the usual size, or a little more


def table(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], np.array(rows[1:], dtype=float)


def write(path, x, y=None, names=None):
    x = np.asarray(x, dtype=float)
    cols = [x] if y is None else [x, np.asarray(y, dtype=float)[:, None]]
    names = names or ["x%d" % (k + 1) for k in range(x.shape[1])]
    with open(path, "w") as file:
        file.write(",".join(names + (["target"] if y is not None else [])) + "\n")
        for row in np.hstack(cols):
            file.write(",".join(repr(float(v)) for v in row) + "\n")


def sample(name, n, path, *more):
    tap.mercer("sample", name, "-n", n, "-o", path, *more)
    names, all_ = table(path)
    return all_[:, :-1], all_[:, -1]


def plot(*args):
    return tap.mercer_json("plot", *args)


def marks(figure, name, panel=0, kind=None):
    found = [m for m in figure["panels"][panel]["marks"]
             if m["name"] == name and (kind is None or m["type"] == kind)]
    assert found, "no mark %r among %s" % (
        name, [(m["type"], m["name"]) for m in figure["panels"][panel]["marks"]])
    return found


def mark(figure, name, panel=0, kind=None):
    return marks(figure, name, panel, kind)[0]


def xy(m):
    """The points of a mark; breaks of lines are NaN."""
    return np.array([[np.nan if v is None else v for v in m[k]] for k in ("x", "y")], dtype=float).T


def rbf(a, b, gamma):
    return np.exp(-gamma * ((a[:, None, :] - b[None, :, :]) ** 2).sum(2))


def libsvm_model(path):
    """f of a two-class model with an rbf kernel, from the text that LIBSVM's programs read."""
    tap.mercer("export", path, "--to", "libsvm", "-o", path + ".txt")
    lines = open(path + ".txt").read().splitlines()
    at = lines.index("SV")
    head = dict(line.split(" ", 1) for line in lines[:at])
    coef, sv = [], []
    for line in lines[at + 1:]:
        parts = line.split()
        coef.append(float(parts[0]))
        row = dict(p.split(":") for p in parts[1:])
        sv.append([float(row.get(k, 0)) for k in ("1", "2")])
    coef, sv, gamma, rho = np.array(coef), np.array(sv), float(head["gamma"]), float(head["rho"])
    sign = 1 if head["label"].split()[0] == "1" else -1
    return sv, lambda x: sign * (rbf(np.asarray(x, float), sv, gamma) @ coef - rho)


def pixel_size(figure, panel=0):
    p = figure["panels"][panel]
    return np.array([(p["x"]["max"] - p["x"]["min"]) / PIXELS[0],
                     (p["y"]["max"] - p["y"]["min"]) / PIXELS[1]])


def far_from_level(f, at, level, unit):
    """How many pixels a point is from f = level, to first order."""
    slope = np.zeros(len(at))
    for k in range(2):
        step = np.zeros(2)
        step[k] = 0.05 * unit[k]
        slope += ((f(at + step) - f(at - step)) / 0.1) ** 2
    return np.abs(f(at) - level) / np.sqrt(slope)


# ---- boundary and clusters -----------------------------------------------------------------------


def test_boundary_lines_and_rings():
    sample("moons", 200, "m.csv", "--noise", "0.2")
    tap.mercer("fit", "svm", "m.csv", "-k", "rbf(gamma=3)", "-C", "5", "-o", "m.mercer")
    figure = plot("m.mercer", "m.csv")
    sv, f = libsvm_model("m.mercer")
    unit = pixel_size(figure)
    for name, levels in (("boundary f = 0", [0]), ("margin f = ±1", [-1, 1])):
        for level, m in zip(levels, marks(figure, name)):
            line = xy(m)
            there = line[~np.isnan(line[:, 0])]
            assert len(there) > 100
            assert far_from_level(f, there, level, unit).max() < 0.05
            both = ~np.isnan(line[:-1, 0]) & ~np.isnan(line[1:, 0])
            middle = 0.5 * (line[:-1] + line[1:])[both]
            assert far_from_level(f, middle, level, unit).max() < 0.5
    rings = xy(mark(figure, "support vectors"))
    tap.check_equal(len(rings), len(sv), "rings")
    key = lambda a: a[np.lexsort(a.T)]
    assert np.allclose(key(rings), key(sv), rtol=0, atol=1e-12)
    # All places where f changes its sign on a fine grid are near the line.
    p = figure["panels"][0]
    gx = np.linspace(p["x"]["min"], p["x"]["max"], 300)
    gy = np.linspace(p["y"]["min"], p["y"]["max"], 200)
    grid = np.array([[x, y] for y in gy for x in gx])
    value = f(grid).reshape(200, 300)
    r, c = np.nonzero((value[:, 1:] > 0) != (value[:, :-1] > 0))
    places = np.array([0.5 * (gx[c] + gx[c + 1]), gy[r]]).T
    line = xy(mark(figure, "boundary f = 0"))
    line = line[~np.isnan(line[:, 0])]
    d = np.abs((places[:, None, :] - line[None, :, :]) / unit).max(2).min(1)
    assert d.max() < 6, d.max()


def test_rings_where_every_object_is_a_support_vector():
    sample("moons", 60, "m.csv")
    fit = tap.mercer_json("fit", "svm", "m.csv", "-k", "rbf(gamma=1)", "-C", "1e-3", "-o", "m.mercer")
    tap.check_equal(fit["support"], 60)
    tap.check_equal(mark(plot("m.mercer", "m.csv"), "support vectors")["count"], 60)


def test_boundary_is_in_the_users_units():
    x, y = sample("moons", 150, "m.csv")
    write("wide.csv", x * [1000, 0.01] + [5, -3], y)
    tap.mercer("fit", "svm", "wide.csv", "-k", "rbf(gamma=1)", "-C", "5", "--scale", "standard",
               "-o", "w.mercer")
    figure = plot("w.mercer", "wide.csv")
    rings = xy(mark(figure, "support vectors"))
    raw = x * [1000, 0.01] + [5, -3]
    d = np.abs((rings[:, None, :] - raw[None, :, :]) / raw.std(0)).max(2).min(1)
    assert len(rings) and d.max() < 1e-9
    line = xy(mark(figure, "boundary f = 0"))
    line = line[~np.isnan(line[:, 0])]
    write("line.csv", line)
    tap.mercer("predict", "w.mercer", "line.csv", "--scores", "-o", "f.npy", "--target", "none")
    assert np.abs(np.load("f.npy")).max() < 0.02


def test_boundary_of_sparse_vectors_and_chosen_columns():
    x, y = sample("friedman", 120, "f.csv")
    with open("f.svm", "w") as file:
        for row, t in zip(x, y):
            file.write("%d %s\n" % (1 if t > 14 else -1,
                                    " ".join("%d:%r" % (k + 1, float(v)) for k, v in enumerate(row))))
    tap.mercer("fit", "svm", "f.svm", "-k", "rbf(gamma=0.5)", "-C", "10", "-o", "s.mercer")
    figure = plot("s.mercer", "f.svm", "--x", "4", "--y", "x2")
    tap.check_equal(figure["panels"][0]["x"]["label"], "x4")
    line = xy(mark(figure, "boundary f = 0"))
    line = line[~np.isnan(line[:, 0])]
    full = np.tile(np.median(x, axis=0), (len(line), 1))
    full[:, 3], full[:, 1] = line[:, 0], line[:, 1]
    with open("line.svm", "w") as file:
        for row in full:
            file.write("1 " + " ".join("%d:%r" % (k + 1, float(v)) for k, v in enumerate(row)) + "\n")
    tap.mercer("predict", "s.mercer", "line.svm", "--scores", "-o", "f.npy")
    assert np.abs(np.load("f.npy")).max() < 0.02


def test_boundary_of_three_classes():
    sample("blobs", 150, "b.csv")
    tap.mercer("fit", "svm", "b.csv", "-k", "rbf(gamma=1)", "-o", "b.mercer")
    figure = plot("b.mercer", "b.csv")
    line = xy(mark(figure, "boundary"))
    line = line[~np.isnan(line[:, 0])]
    unit = pixel_size(figure)
    labels = []
    for shift in ([1, 0], [-1, 0], [0, 1], [0, -1]):
        write("near.csv", line + np.array(shift) * unit)
        tap.mercer("predict", "b.mercer", "near.csv", "--target", "none", "-o", "l.npy")
        labels.append(np.load("l.npy"))
    labels = np.array(labels)
    # Within a pixel of the line there are two classes (but for the middle, where lines are joined).
    assert ((labels != labels[0]).any(0)).mean() > 0.97
    counts = {m["name"]: m["count"] for m in figure["panels"][0]["marks"]
              if m["type"] == "points" and m["name"] != "support vectors"}
    tap.check_equal(counts, {"1": 50, "2": 50, "3": 50})


def test_boundary_in_the_plane_of_two_components():
    x, y = sample("friedman", 90, "f.csv")
    write("c.csv", x, np.where(y > 14, 1, -1))
    tap.mercer("fit", "svm", "c.csv", "-k", "rbf(gamma=0.2)", "-C", "3", "-o", "c.mercer")
    figure = plot("c.mercer", "c.csv")
    tap.mercer("predict", "c.mercer", "c.csv", "--scores", "-o", "f.npy")
    f = np.load("f.npy").ravel()
    n = len(x)
    k = rbf(x, x, 0.2)
    h = np.eye(n) - 1 / n
    value, vector = np.linalg.eigh(h @ k @ h)
    a = vector[:, [-1, -2]] / np.sqrt(value[[-1, -2]])
    coordinates = h @ k @ h @ a
    slope = a.T @ (f - f.mean())
    shown = np.vstack([xy(m) for m in figure["panels"][0]["marks"]
                       if m["type"] == "points" and m["name"] in ("-1", "1")])
    order = np.concatenate([np.nonzero(y <= 14)[0], np.nonzero(y > 14)[0]])
    sign = np.sign((shown * coordinates[order]).sum(0))
    assert np.allclose(shown, coordinates[order] * sign, atol=1e-8)
    line = xy(mark(figure, "boundary f = 0"))
    line = line[~np.isnan(line[:, 0])]
    assert len(line) > 10
    assert np.abs(f.mean() + line @ (slope * sign)).max() < 2e-3 * np.abs(f).max()
    tap.check_near(figure["numbers"]["share1"], value[-1] / value.sum(), 1e-9)


def test_outlier_detection_shows_what_is_normal():
    sample("moons", 150, "m.csv")
    tap.mercer("fit", "one-class", "m.csv", "-k", "rbf(gamma=2)", "--nu", "0.2", "-o", "o.mercer")
    figure = plot("o.mercer", "m.csv")
    line = xy(mark(figure, "boundary f = 0"))
    write("line.csv", line[~np.isnan(line[:, 0])])
    tap.mercer("predict", "o.mercer", "line.csv", "--scores", "--target", "none", "-o", "f.npy")
    assert np.abs(np.load("f.npy")).max() < 0.05


def test_clusters_are_those_of_the_model():
    x, _ = sample("blobs", 150, "b.csv")
    tap.mercer("fit", "kmeans", "b.csv", "-k", "rbf(gamma=0.3)", "--clusters", "3", "-o", "k.mercer")
    figure = plot("k.mercer", "b.csv")
    tap.mercer("predict", "k.mercer", "b.csv", "-o", "l.npy")
    label = np.load("l.npy").astype(int)
    for c in np.unique(label):
        assert np.allclose(xy(mark(figure, "cluster %d" % c)), x[label == c])
    cells = mark(figure, "regions")
    value = np.array(cells["value"]).reshape(cells["rows"], cells["cols"])
    dx = (cells["x1"] - cells["x0"]) / cells["cols"]
    dy = (cells["y1"] - cells["y0"]) / cells["rows"]
    rows, cols = np.meshgrid(range(0, cells["rows"], 9), range(0, cells["cols"], 9), indexing="ij")
    write("g.csv", np.array([cells["x0"] + dx * (cols.ravel() + .5),
                             cells["y0"] + dy * (rows.ravel() + .5)]).T)
    tap.mercer("predict", "k.mercer", "g.csv", "--target", "none", "-o", "g.npy")
    assert (np.floor(value[rows.ravel(), cols.ravel()]) + 1 == np.load("g.npy")).all()


# ---- numbers -------------------------------------------------------------------------------------


def test_surface_of_two_columns_is_ridge_regression():
    x, y = sample("friedman", 60, "f.csv")
    write("two.csv", x[:, :2], y)
    tap.mercer("fit", "ridge", "two.csv", "-k", "rbf(gamma=2)", "--lambda", "0.1", "-o", "r.mercer")
    figure = plot("r.mercer", "two.csv", "--kind", "surface")
    cells = mark(figure, "prediction")
    dx = (cells["x1"] - cells["x0"]) / cells["cols"]
    dy = (cells["y1"] - cells["y0"]) / cells["rows"]
    gx = cells["x0"] + dx * (np.arange(cells["cols"]) + .5)
    gy = cells["y0"] + dy * (np.arange(cells["rows"]) + .5)
    places = np.array([[a, b] for b in gy for a in gx])
    alpha = np.linalg.solve(rbf(x[:, :2], x[:, :2], 2) + 0.1 * np.eye(60), y)
    assert np.allclose(cells["value"], rbf(places, x[:, :2], 2) @ alpha, atol=1e-4)
    shown = mark(figure, "data")
    assert np.allclose(xy(shown), x[:, :2]) and np.allclose(shown["value"], y)


def test_surface_of_one_column():
    x, y = sample("sinc", 80, "s.csv")
    tap.mercer("fit", "ridge", "s.csv", "-k", "rbf(gamma=0.3)", "--lambda", "0.1", "-o", "r.mercer")
    figure = plot("r.mercer", "s.csv")
    tap.check_equal(figure["kind"], "surface")
    line = xy(mark(figure, "prediction"))
    alpha = np.linalg.solve(rbf(x, x, 0.3) + 0.1 * np.eye(80), y)
    assert np.allclose(line[:, 1], rbf(line[:, :1], x, 0.3) @ alpha, atol=1e-5)


def test_bands_are_the_posterior():
    x, y = sample("sinc", 40, "s.csv")
    tap.mercer("fit", "gp", "s.csv", "-k", "0.5*rbf(gamma=0.3)", "--noise", "0.02", "--optimize", "no",
               "--standardize", "no", "-o", "g.mercer")
    figure = plot("g.mercer", "s.csv")
    tap.check_equal(figure["kind"], "band")
    mean = xy(mark(figure, "mean"))
    k = 0.5 * rbf(x, x, 0.3) + 0.02 * np.eye(40)
    cross = 0.5 * rbf(mean[:, :1], x, 0.3)
    wanted = cross @ np.linalg.solve(k, y)
    variance = 0.5 - np.einsum("ij,ji->i", cross, np.linalg.solve(k, cross.T))
    write("at.csv", mean[:, :1])
    tap.mercer("predict", "g.mercer", "at.csv", "--std", "--target", "none", "-o", "p.npy")
    said = np.load("p.npy")
    assert np.allclose(mean[:, 1], wanted, atol=1e-7)
    function = "% interval of the function (without noise)"
    for name, half in (("95 ", 1.959963984540054), ("50 ", 0.6744897501960817)):
        band = mark(figure, name + function)
        low, high = np.array(band["low"]), np.array(band["high"])
        assert np.allclose(high - mean[:, 1], half * said[:, -1], atol=1e-9)
        assert np.allclose(mean[:, 1] - low, half * said[:, -1], atol=1e-9)
        # The standard deviation is that of the function, without the noise.
        assert np.allclose((high - low) / (2 * half), np.sqrt(variance), atol=1e-6)
    # A new observation has the noise as well.
    band = mark(figure, "95 % of new observations (with noise)")
    width = 1.959963984540054 * np.sqrt(variance + 0.02)
    assert np.allclose(band["high"], wanted + width, atol=1e-6)
    assert np.allclose(band["low"], wanted - width, atol=1e-6)
    draws = marks(figure, "draws")
    tap.check_equal(len(draws), 6)
    band = mark(figure, "95 " + function)
    inside = np.mean([(xy(d)[:, 1] >= band["low"]) & (xy(d)[:, 1] <= band["high"]) for d in draws])
    assert inside > 0.75, inside
    assert np.allclose(xy(mark(figure, "data")), np.column_stack([x, y]))


def test_residuals_add_up():
    x, y = sample("friedman", 100, "f.csv")
    tap.mercer("fit", "ridge", "f.csv", "-k", "rbf(gamma=1)", "--lambda", "0.5", "-o", "r.mercer")
    figure = plot("r.mercer", "f.csv", "--kind", "residuals")
    alpha = np.linalg.solve(rbf(x, x, 1) + 0.5 * np.eye(100), y)
    said = rbf(x, x, 1) @ alpha
    assert np.allclose(xy(mark(figure, "objects")), np.column_stack([said, y]), atol=1e-3)
    assert np.allclose(xy(mark(figure, "objects", 1)), np.column_stack([said, y - said]), atol=1e-3)
    bars = mark(figure, "objects", 2)
    tap.check_equal(sum(bars["y"]), 100)
    tap.check_near(figure["numbers"]["mse"], np.mean((y - said) ** 2), 1e-4)


# ---- kernels -------------------------------------------------------------------------------------


def test_projection_is_kernel_pca():
    x, y = sample("rings", 100, "r.csv")
    tap.mercer("fit", "pca", "r.csv", "-k", "rbf(gamma=0.7)", "-o", "p.mercer")
    figure = plot("p.mercer", "r.csv")
    n = len(x)
    h = np.eye(n) - 1 / n
    value, vector = np.linalg.eigh(h @ rbf(x, x, 0.7) @ h)
    wanted = vector[:, [-1, -2]] * np.sqrt(value[[-1, -2]])
    order = np.concatenate([np.nonzero(y == -1)[0], np.nonzero(y == 1)[0]])
    shown = np.vstack([xy(mark(figure, name)) for name in ("-1", "1")])
    sign = np.sign((shown * wanted[order]).sum(0))
    assert np.allclose(shown, wanted[order] * sign, atol=1e-7)
    tap.check_near(figure["numbers"]["share1"], value[-1] / value.sum(), 1e-9)
    assert "% of variance" in figure["panels"][0]["x"]["label"]


def test_projections_of_fisher_and_cca():
    sample("blobs", 90, "b.csv")
    tap.mercer("fit", "fisher", "b.csv", "-k", "rbf(gamma=0.5)", "-o", "f.mercer")
    figure = plot("f.mercer", "b.csv", "--kind", "projection")
    tap.mercer("transform", "f.mercer", "b.csv", "-o", "t.npy")
    z = np.load("t.npy")
    shown = np.vstack([xy(mark(figure, name)) for name in "123"])
    key = lambda a: a[np.lexsort(a.T)]
    assert np.allclose(key(shown), key(z[:, :2]))


def test_gram_is_the_kernel_matrix_in_order():
    x, y = sample("blobs", 60, "b.csv")
    figure = plot("b.csv", "-k", "rbf(gamma=0.4)", "--kind", "gram")
    m = mark(figure, "kernel")
    k = np.array(m["value"]).reshape(60, 60)[::-1]  # the first object is at the top
    whole = rbf(x, x, 0.4)
    order = []
    for row in k:  # each row is a row of K, with its columns in the same new order
        same = np.nonzero(np.abs(np.sort(whole, axis=1) - np.sort(row)).max(1) < 1e-12)[0]
        order.append([i for i in same if i not in order][0])
    assert np.allclose(k, whole[np.ix_(order, order)], atol=1e-12)
    assert (np.diff(y[order]) >= 0).all(), "objects are ordered by class"


def test_gram_without_classes_is_ordered_by_cluster():
    x, _ = sample("blobs", 60, "b.csv")
    write("u.csv", x)
    figure = plot("u.csv", "-k", "rbf(gamma=0.4)", "--kind", "gram", "--target", "none")
    groups = [math.floor(v) for v in marks(figure, "groups")[1]["value"]]
    tap.check_equal(groups, sorted(groups))
    assert len(set(groups)) == 4


def test_spectrum_is_that_of_numpy():
    x, _ = sample("moons", 80, "m.csv")
    figure = plot("m.csv", "-k", "rbf(gamma=1)", "--kind", "spectrum")
    wanted = np.linalg.eigvalsh(rbf(x, x, 1))[::-1] / 80
    line = xy(mark(figure, "eigenvalues"))
    assert np.allclose(line[:, 1], wanted[:len(line)], rtol=1e-6, atol=1e-15)
    d = xy(mark(figure, "effective dimension", 1))
    kept = wanted[:len(line)]
    assert np.allclose(d[:, 1], (kept / (kept + d[:, :1])).sum(1), atol=1e-3)
    tap.check_near(figure["numbers"]["participation"], wanted.sum() ** 2 / (wanted ** 2).sum(), 1e-9)


# ---- classes -------------------------------------------------------------------------------------


def classifier(*more):
    sample("moons", 150, "m.csv", "--noise", "0.35")
    _, y = sample("moons", 300, "new.csv", "--noise", "0.35", "--seed", "2")
    tap.mercer("fit", "svm", "m.csv", "-k", "rbf(gamma=1)", "-C", "1", "-o", "s.mercer", *more)
    tap.mercer("predict", "s.mercer", "new.csv", "--scores", "-o", "f.npy")
    return y, np.load("f.npy").ravel()


def test_roc_area_is_the_auc():
    y, f = classifier()
    figure = plot("s.mercer", "new.csv", "--kind", "roc")
    positive, negative = f[y == 1], f[y == -1]
    auc = np.mean((positive[:, None] > negative[None, :]) + 0.5 * (positive[:, None] == negative))
    curve = xy([m for m in figure["panels"][0]["marks"] if m["legend"]][0])
    area = ((curve[1:, 0] - curve[:-1, 0]) * 0.5 * (curve[1:, 1] + curve[:-1, 1])).sum()
    tap.check_near(figure["numbers"]["auc"], auc, 1e-12)
    tap.check_near(area, auc, 1e-12)
    # Each corner is what some threshold gives.
    given = {(round(float((negative >= t).mean()), 12), round(float((positive >= t).mean()), 12))
             for t in f}
    assert all((round(a, 12), round(b, 12)) in given for a, b in curve[1:].tolist())
    assert (np.diff(curve, axis=0) >= 0).all()
    tap.check_equal(curve[0].tolist() + curve[-1].tolist(), [0, 0, 1, 1])


def test_roc_of_more_classes_is_the_mean():
    sample("blobs", 150, "b.csv", "--noise", "1.5")
    tap.mercer("fit", "logistic", "b.csv", "-k", "rbf(gamma=0.3)", "-o", "l.mercer")
    figure = plot("l.mercer", "b.csv", "--kind", "roc")
    _, all_ = table("b.csv")
    tap.mercer("predict", "l.mercer", "b.csv", "--proba", "-o", "p.npy")
    proba, y = np.load("p.npy"), all_[:, -1]
    areas = []
    for k, c in enumerate((1, 2, 3)):
        a, b = proba[y == c, k], proba[y != c, k]
        areas.append(np.mean((a[:, None] > b[None, :]) + 0.5 * (a[:, None] == b)))
    tap.check_near(figure["numbers"]["auc"], np.mean(areas), 1e-12)


def test_pr_is_average_precision():
    y, f = classifier()
    figure = plot("s.mercer", "new.csv", "--kind", "pr")
    order = np.argsort(-f, kind="stable")
    hit = np.cumsum(y[order] == 1)
    precision = hit / np.arange(1, len(y) + 1)
    recall = hit / hit[-1]
    wanted = (np.diff(np.concatenate([[0], recall])) * precision).sum()
    tap.check_near(figure["numbers"]["average_precision"], wanted, 1e-12)


def test_calibration_counts():
    y, _ = classifier("--probability")
    figure = plot("s.mercer", "new.csv", "--kind", "calibration")
    tap.mercer("predict", "s.mercer", "new.csv", "--proba", "-o", "p.npy")
    q = np.load("p.npy")[:, 1]
    which = np.minimum((q * 10).astype(int), 9)
    used = np.unique(which)
    wanted = [[q[which == b].mean(), (y[which == b] == 1).mean()] for b in used]
    assert np.allclose(xy(mark(figure, "1", 0, "line")), wanted)
    tap.check_equal(mark(figure, "1", 1)["y"], [float((which == b).sum()) for b in range(10)])
    error = sum((which == b).sum() * abs(w[0] - w[1]) for b, w in zip(used, wanted)) / len(y)
    tap.check_near(figure["numbers"]["calibration_error"], error, 1e-12)
    tap.check_near(figure["numbers"]["brier"], np.mean((q - (y == 1)) ** 2), 1e-12)


def test_confusion_counts():
    y, f = classifier()
    figure = plot("s.mercer", "new.csv", "--kind", "confusion")
    said = np.where(f > 0, 1, -1)
    shown = {}
    for m in marks(figure, "counts"):
        for x, row, text in zip(m["x"], m["y"], m["text"]):
            shown[int(row), int(x)] = int(text)
    axis = figure["panels"][0]
    for r, true in enumerate(axis["y"]["names"]):
        for c, predicted in enumerate(axis["x"]["names"]):
            wanted = ((y == int(true)) & (said == int(predicted))).sum()
            tap.check_equal(shown[r, c], wanted, "%s as %s" % (true, predicted))
    tap.check_near(figure["numbers"]["accuracy"], (y == said).mean(), 1e-12)


# ---- curves --------------------------------------------------------------------------------------


def test_tuning_map_is_the_table():
    sample("moons", 80, "m.csv", "--noise", "0.3")
    tuned = tap.mercer_json("tune", "svm", "m.csv", "-k", "rbf(gamma=0.1:10:log3)", "-C",
                            "1:100:log3", "-o", "t.mercer")
    figure = plot("t.mercer", "--kind", "tuning")
    cells = mark(figure, "accuracy")
    value = np.array([np.nan if v is None else v for v in cells["value"]]).reshape(3, 3)
    for point in tuned["table"]:
        gamma = float(point["kernel"].split("gamma=")[1].rstrip(")"))
        col, row = round(math.log10(gamma)) + 1, round(math.log10(point["options"]["C"]))
        tap.check_near(value[row, col], point["score"], 1e-12)
    best = tuned["best"]
    chosen = xy(mark(figure, "chosen"))[0]
    tap.check_near(chosen[0], float(best["kernel"].split("gamma=")[1].rstrip(")")), 1e-12)
    tap.check_near(chosen[1], best["options"]["C"], 1e-12)


def test_tuning_line_of_one_parameter():
    sample("moons", 80, "m.csv", "--noise", "0.3")
    tuned = tap.mercer_json("tune", "svm", "m.csv", "-k", "rbf(gamma=1)", "-C", "0.1:1000:log5", "-o",
                            "t.mercer")
    line = xy(mark(plot("t.mercer", "--kind", "tuning"), "accuracy", 0, "line"))
    wanted = sorted((p["options"]["C"], p["score"]) for p in tuned["table"] if p["score"] is not None)
    assert np.allclose(line, wanted)


def test_path_is_cross_validation():
    sample("moons", 80, "m.csv", "--noise", "0.3")
    tap.mercer("fit", "svm", "m.csv", "-k", "rbf(gamma=1)", "-o", "s.mercer")
    figure = plot("s.mercer", "m.csv", "--kind", "path", "--along", "C=0.1:10:log3")
    held = xy(mark(figure, "held-out objects", 0, "line"))
    trained = xy(mark(figure, "training objects", 0, "line"))
    tap.check_equal(held[:, 0].tolist(), [0.1, 1, 10])
    for c, (error, fit_error) in zip((0.1, 1, 10), zip(held[:, 1], trained[:, 1])):
        cv = tap.mercer_json("cv", "svm", "m.csv", "-k", "rbf(gamma=1)", "-C", c)
        fit = tap.mercer_json("fit", "svm", "m.csv", "-k", "rbf(gamma=1)", "-C", c)
        tap.check_near(error, 1 - cv["metrics"]["accuracy"]["mean"], 1e-12)
        tap.check_near(fit_error, 1 - fit["train"]["accuracy"], 1e-12)


def test_learning_curve_of_learners_whose_curve_is_known():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(120, 2))
    write("line.csv", x, 3 * x[:, 0] - x[:, 1])
    tap.mercer("fit", "ridge", "line.csv", "-k", "linear", "--lambda", "1e-9", "-o", "r.mercer")
    figure = plot("r.mercer", "line.csv", "--kind", "learning")
    held = xy(mark(figure, "held-out objects", 0, "line"))
    assert held[0, 0] == 8 and held[-1, 0] == 96 and (np.diff(held[:, 0]) > 0).all()
    assert np.abs(held[:, 1]).max() < 1e-9, "a linear function needs few objects"
    write("noise.csv", x, rng.choice([-1, 1], 120))
    tap.mercer("fit", "knn", "noise.csv", "-k", "linear", "--neighbors", "1", "--task",
               "classify", "-o", "k.mercer")
    figure = plot("k.mercer", "noise.csv", "--kind", "learning")
    assert np.abs(xy(mark(figure, "training objects", 0, "line"))[:, 1]).max() == 0
    held = xy(mark(figure, "held-out objects", 0, "line"))[:, 1]
    assert 0.3 < held.mean() < 0.7, "pure chance stays chance"


# ---- what matters --------------------------------------------------------------------------------


def test_importance_of_shuffled_columns():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(800, 4))
    write("l.csv", x, 2 * x[:, 1] - 1 * x[:, 3])
    tap.mercer("fit", "ridge", "l.csv", "-k", "linear", "--lambda", "1e-6", "-o", "l.mercer")
    figure = plot("l.mercer", "l.csv", "--kind", "importance")
    bars = {}
    for m in figure["panels"][0]["marks"]:
        for at, v in zip(m["x"], m["y"]):
            bars[figure["panels"][0]["y"]["names"][int(at)]] = v
    # Shuffling adds (w x_i - w x_j)^2, which is 2 w^2 on average.
    assert abs(bars["x2"] / 8 - 1) < 0.15 and abs(bars["x4"] / 2 - 1) < 0.15, bars
    assert abs(bars["x1"]) < 1e-6 and abs(bars["x3"]) < 1e-6, bars
    weights = plot("l.mercer", "--kind", "importance")["panels"][0]
    shown = {weights["y"]["names"][int(a)]: v for m in weights["marks"] for a, v in zip(m["x"], m["y"])}
    tap.check_near(shown["x2"], 2, 1e-3)
    tap.check_near(shown["x4"], -1, 1e-3)


def test_logo_finds_the_motif():
    tap.mercer("sample", "motifs", "-n", 300, "-o", "m.txt")
    tap.mercer("fit", "svm", "m.txt", "-k", "spectrum(p=4)", "-o", "m.mercer")
    for kernel in ("spectrum(p=4)", "gkm(l=8, k=5)"):
        tap.mercer("fit", "svm", "m.txt", "-k", kernel, "-o", "m.mercer")
        letters = mark(plot("m.mercer"), "letters")
        top = {}
        for x, low, high, text in zip(letters["x"], letters["low"], letters["high"], letters["text"]):
            if high - low > top.get(x, (0, ""))[0]:
                top[x] = (high - low, text)
        word = "".join(top[x][1] for x in sorted(top))
        assert "GACTCA" in word, word


def test_logo_of_data_is_information():
    words = ["ACGT", "ACGA", "ACTT", "ACGT", "GCGT", "ACGT"]
    with open("w.txt", "w") as file:
        file.writelines("1\t%s\n" % w for w in words)
    letters = mark(plot("w.txt", "--kind", "logo"), "letters")
    height = {}
    for x, low, high, text in zip(letters["x"], letters["low"], letters["high"], letters["text"]):
        height[int(x), text] = high - low
    for position in range(4):
        column = [w[position] for w in words]
        share = {c: column.count(c) / 6 for c in set(column)}
        bits = 2 - 3 / (2 * math.log(2) * 6) + sum(q * math.log2(q) for q in share.values())
        for c, q in share.items():
            tap.check_near(height[position + 1, c], max(bits, 0) * q, 1e-12)


# ---- data ----------------------------------------------------------------------------------------


def test_data_shows_columns_and_counts():
    x, y = sample("blobs", 90, "b.csv")
    figure = plot("b.csv")
    tap.check_equal([(p["row"], p["col"]) for p in figure["panels"]], [(0, 0), (1, 0), (1, 1)])
    for c in (1, 2, 3):
        assert np.allclose(xy(mark(figure, str(c), 1)), x[y == c])
        tap.check_equal(sum(mark(figure, str(c), 0)["y"]), 30)


def test_many_points_become_a_density():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30000, 2))
    np.savetxt("n.csv", x, delimiter=",", header="a,b", comments="")
    figure = plot("n.csv", "--target", "none")
    cells = mark(figure, "objects")
    tap.check_equal(cells["type"], "cells")
    count, _, _ = np.histogram2d(x[:, 1], x[:, 0], bins=(cells["rows"], cells["cols"]),
                                 range=[[cells["y0"], cells["y1"]], [cells["x0"], cells["x1"]]])
    filled = np.array([v is not None for v in cells["value"]]).reshape(count.shape)
    assert (filled == (count > 0)).mean() > 0.9999
    tap.mercer("plot", "n.csv", "--target", "none", "-o", "n.svg")
    import os
    assert os.path.getsize("n.svg") < 200000


def test_animation_has_a_frame_for_each_value():
    sample("moons", 60, "m.csv")
    tap.mercer("fit", "svm", "m.csv", "-k", "rbf(gamma=1)", "-o", "s.mercer")
    figure = plot("s.mercer", "m.csv", "--animate", "gamma=0.1:10:log3")
    tap.check_equal([f["label"] for f in figure["frames"]], ["gamma = 0.1", "gamma = 1", "gamma = 10"])
    for gamma, frame in zip((0.1, 1, 10), figure["frames"]):
        fit = tap.mercer_json("fit", "svm", "m.csv", "-k", "rbf(gamma=%g)" % gamma)
        tap.check_equal(frame["numbers"]["support_vectors"], fit["support"])
        tap.check_equal(frame["panels"][0]["x"], figure["frames"][0]["panels"][0]["x"])


if __name__ == "__main__":
    tap.main(globals())
