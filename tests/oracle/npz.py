"""Archives written by NumPy: whatever the types, orders and compression, the objects and targets are NumPy's.

SPDX-License-Identifier: Apache-2.0
"""

import io
import zipfile

import numpy as np

import tap

TYPES = ["f2", "f4", "f8", ">f4", ">f8", "i1", "<i2", ">i4", "i8", "u1", "u2", "u4", "?"]


class Pipe(io.RawIOBase):
    """A file that cannot seek: members then have their sizes behind them."""

    def __init__(self, path):
        super().__init__()
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(bytes(data))

    def close(self):
        self.file.close()
        super().close()


def check_objects(path, wanted, *options):
    """The kernel linear has the objects as its features."""
    tap.mercer("features", path, "-k", "linear", "-o", "found.npy", *options)
    found = np.load("found.npy")
    wanted = np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape, f"{path}: {found.shape} instead of {wanted.shape}"
    assert np.array_equal(found, wanted), f"{path} {options}: values differ"


def save(path, number, **arrays):
    if number % 3 == 0:
        np.savez(path, **arrays)
    elif number % 3 == 1:
        np.savez_compressed(path, **arrays)
    else:
        with Pipe(path) as pipe:
            np.savez_compressed(pipe, **arrays)


def test_random_arrays():
    rng = np.random.default_rng(18)
    for number, dtype in enumerate(TYPES * 2):
        shape = (int(rng.integers(2, 40)), int(rng.integers(1, 30)))
        x = rng.integers(0, 100, shape).astype(dtype)
        if dtype.endswith(("f4", "f8")):
            x = rng.normal(size=shape).astype(dtype)
        x[0, :] = 1  # no empty column
        if number % 2:
            x = np.asfortranarray(x)
        y = rng.integers(0, 3, shape[0])
        save("a.npz", number, noise=rng.normal(size=7), X=x, y=y)
        check_objects("a.npz", x)
        shown = tap.mercer_json("info", "a.npz")["targets"]
        tap.check_equal(shown["distinct"], len(set(y.tolist())), "classes")


def test_named_arrays():
    rng = np.random.default_rng(19)
    train, test = rng.normal(size=(50, 3)), rng.normal(size=(20, 3))
    words = np.array(["ja", "nein"])
    np.savez_compressed("n.npz", x_train=train, y_train=words[(train[:, 0] > 0).astype(int)],
                        x_test=test, y_test=words[(test[:, 0] > 0).astype(int)])
    check_objects("n.npz", test, "--only", "x_test", "--target", "y_test")
    tap.mercer("fit", "svm", "n.npz", "--only", "x_train", "--target", "y_train", "-k", "linear",
               "-o", "n.mercer")
    named = tap.mercer_json("predict", "n.mercer", "n.npz", "--only", "x_test", "--target", "y_test",
                            "-o", "named.txt")
    np.savez("t.npz", X=test, y=words[(test[:, 0] > 0).astype(int)])
    usual = tap.mercer_json("predict", "n.mercer", "t.npz", "-o", "usual.txt")
    tap.check_equal(named["metrics"], usual["metrics"], "metrics")
    with open("named.txt") as a, open("usual.txt") as b:
        tap.check_equal(a.read(), b.read(), "predictions")
    refused = tap.mercer("fit", "svm", "n.npz", "-k", "linear", status=1).stderr
    assert "--only NAME" in refused and "x_train, y_train" in refused, refused


def test_large_array():
    """More than one window, stored and deflated."""
    x = np.random.default_rng(20).normal(size=(20000, 30)).round(2)
    for write in (np.savez, np.savez_compressed):
        write("l.npz", data=x)
        check_objects("l.npz", x)


def test_other_archives():
    """Other methods of compression are refused, and members that are no arrays do no harm."""
    x = np.arange(8.0).reshape(4, 2) + 1
    out = io.BytesIO()
    np.save(out, x)
    for method, fine in ((zipfile.ZIP_STORED, True), (zipfile.ZIP_DEFLATED, True),
                         (zipfile.ZIP_BZIP2, False), (zipfile.ZIP_LZMA, False)):
        with zipfile.ZipFile("o.npz", "w", method) as archive:
            archive.writestr("README", "what this is")
            archive.writestr("X.npy", out.getvalue())
            archive.comment = b"a comment"
        if fine:
            check_objects("o.npz", x)
        else:
            refused = tap.mercer("info", "o.npz", status=1).stderr
            assert "o.npz:X: compression method" in refused, refused


if __name__ == "__main__":
    tap.main(globals())
