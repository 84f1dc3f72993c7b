"""collection.py: the sets of bench/svm --all, as LIBSVM files: raw, scaled, synthetic.

Every classification set of vectors with 1,000 rows or more in the data folder. Where there is no test
file, the training file is predicted. *Raw* is what the file holds, with gamma = 1/(columns * variance
of all values). *Scaled* has every column in [-1, 1], or in [0, 1] times its sign where most values are
zero, and the gamma of the table, by default 1/columns. A file that is within [-1, 1] already is taken
as it is. C is the same for both.

The synthetic sets have the sizes, classes and support vectors of two well-known ones:

  pen-like      7,494 x 16, ten classes of integers 0..100, gamma 1e-4, C 2: about 1,028
  shuttle-like  43,500 x 9, seven very unequal classes of integers, C 2,048: about 261

SPDX-License-Identifier: Apache-2.0
"""
import gzip
import io
import os

import numpy
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

SETS = {  # name: train, test (None: the same), C, gamma when scaled (0: 1/columns)
    "ripley-synth": ("ripley-synth/synth.te.csv", None, 4, 0),
    "svmguide3": ("svmguide3/svmguide3", None, 128, 0.125),
    "a1a": ("adult/a1a", "adult/a1a.t", 1, 0),
    "digits": ("digits/digits.csv", None, 4, 0),
    "cardio": ("anomaly-cardio/anomaly-cardio.csv", None, 8, 0),
    "segment": ("segment/segment.scale", None, 64, 1),
    "w1a": ("w1a/w1a", None, 1, 0),
    "svmguide1": ("svmguide1/svmguide1", "svmguide1/svmguide1.t", 2, 2),
    "thyroid": ("anomaly-thyroid/anomaly-thyroid.csv", None, 16, 0),
    "satimage": ("satimage/satimage.scale", "satimage/satimage.scale.t", 16, 1),
    "spam": ("spam/spam", None, 16, 0),
    "covtype-10k": ("covtype-10k/covtype.train", "covtype-10k/covtype.test", 10, 0.5),
    "waveform": ("waveform/waveform", None, 1, 0),
    "banana": ("banana/banana", None, 4, 4),
    "usps": ("usps/usps", "usps/usps.t", 10, 1 / 128),
    "mammography": ("anomaly-mammography/anomaly-mammography.csv", None, 16, 0),
    "letter": ("letter/letter.scale", "letter/letter.scale.t", 16, 4),
    "a9a": ("adult/a9a", "adult/a9a.t", 1, 0.05),
    "ijcnn1": ("ijcnn1/ijcnn1", "ijcnn1/ijcnn1.t", 32, 2),
    "sector": ("sector/sector.scale", "sector/sector.t.scale", 16, 1),
    "mnist": ("mnist/mnist", "mnist/mnist.t", 10, 0.02),
}
SYNTHETIC = ["pen-like", "shuttle-like"]


def read(folder, name, columns=None):
    """x (sparse rows) and y of a LIBSVM file, or of a CSV file with the class in the last column."""
    path = os.path.join(folder, name)
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")
    with opened as file:
        if not name.endswith(".csv"):
            return load_svmlight_file(file, n_features=columns)
        text = file.read().decode()
    header = any(c.isalpha() and c not in "eE" for c in text.split("\n", 1)[0])
    table = numpy.loadtxt(io.StringIO(text), delimiter=",", skiprows=int(header))
    return sparse.csr_matrix(table[:, :-1]), table[:, -1]


def within_one(x):
    return abs(x).max() <= 1


def scaling(x):
    """What scales x and others like it."""
    if x.nnz < 0.5 * x.shape[0] * x.shape[1]:
        largest = abs(x).max(axis=0).toarray().ravel()
        factor = sparse.diags(1 / numpy.where(largest > 0, largest, 1))
        return lambda rows: sparse.csr_matrix(rows @ factor)
    low, high = x.min(axis=0).toarray().ravel(), x.max(axis=0).toarray().ravel()
    width = numpy.where(high > low, high - low, 1)
    return lambda rows: sparse.csr_matrix((rows.toarray() - low) / width * 2 - 1)


def variance(x):
    mean = x.mean()
    return x.multiply(x).mean() - mean * mean


def forms(name, folder):
    """(form, (x, y), test (x, y), C, gamma) for each form of a set."""
    if name in SYNTHETIC:
        train, test, C, gamma = {"pen-like": pen_like, "shuttle-like": shuttle_like}[name]()
        yield "raw", train, test, C, gamma
        return
    source, tested, C, gamma = SETS[name]
    x, y = read(folder, source)
    columns = x.shape[1]
    u, v = read(folder, tested, None) if tested else (x, y)
    if u.shape[1] != columns:  # features that one of them never has
        columns = max(columns, u.shape[1])
        x.resize(x.shape[0], columns)
        u.resize(u.shape[0], columns)
    gamma = gamma or 1 / columns
    if within_one(x):
        yield "scaled", (x, y), (u, v), C, gamma
        return
    yield "raw", (x, y), (u, v), C, float("%.3g" % (1 / (columns * variance(x))))
    scaled = scaling(x)
    yield "scaled", (scaled(x), y), (scaled(u), v), C, gamma


def write(path, rows):
    dump_svmlight_file(rows[0], rows[1], path, zero_based=False)


# ---- synthetic -----------------------------------------------------------------------------------


def split(x, y, train, seed):
    order = numpy.random.default_rng(seed).permutation(len(y))
    x, y = sparse.csr_matrix(x[order]), y[order]
    return (x[:train], y[:train]), (x[train:], y[train:])


def pen_like(noise=0.28):
    """Ten classes of eight points along a stroke: each class has three ways to draw it, and each row
    bends, turns and stretches one of them. In units of a box of 0..100, as a tablet gives them."""
    random = numpy.random.default_rng(1996)
    rows, classes, styles, points = 7494 + 3498, 10, 3, 8
    t = numpy.linspace(0, 1, points)
    waves = numpy.array([numpy.cos(k * numpy.pi * t) for k in range(1, 5)])
    stroke = random.normal(size=(classes, styles, 2, 4)) @ waves
    y = random.integers(0, classes, rows)
    style = random.choice(styles, rows, p=[0.6, 0.3, 0.1])
    bend = random.normal(size=(rows, 2, 4)) * noise @ waves
    turn = random.normal(size=rows) * noise / 2
    stretch = 1 + random.normal(size=(rows, 2, 1)) * noise / 2
    xy = (stroke[y, style] + bend) * stretch
    c, s = numpy.cos(turn)[:, None], numpy.sin(turn)[:, None]
    xy = numpy.stack([c * xy[:, 0] - s * xy[:, 1], s * xy[:, 0] + c * xy[:, 1]], axis=1)
    low, high = xy.min(axis=2, keepdims=True), xy.max(axis=2, keepdims=True)
    xy = numpy.rint(100 * (xy - low) / (high - low).max(axis=1, keepdims=True))
    train, test = split(xy.transpose(0, 2, 1).reshape(rows, -1), y, 7494, 2)
    return train, test, 2, 1e-4


def shuttle_like(noise=7):
    """Seven classes in the proportions of a real machine's states: boxes that hardly touch, with
    columns that depend on each other and a few readings far from all others."""
    random = numpy.random.default_rng(1994)
    share = numpy.array([45586, 50, 171, 8903, 3267, 10, 13])
    rows = 43500 + 14500
    y = numpy.repeat(numpy.arange(1, 8), share * rows // share.sum())
    y = numpy.concatenate([y, numpy.ones(rows - len(y), int)])
    centre = random.normal(size=(8, 3)) * 30
    z = centre[y] + random.normal(size=(rows, 3)) * noise
    mix = random.normal(size=(3, 9)) / 2
    x = 50 + z @ mix + random.standard_t(4, size=(rows, 9))
    train, test = split(numpy.rint(x), y, 43500, 3)
    return train, test, 2048, 1e-3
