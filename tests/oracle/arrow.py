"""Tables of Arrow's C data interface from a producer that shares nothing with the reader: structs built
in Python with ctypes (python/tests/arrow_producer.py), random values, slices, nulls, dictionaries.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import pathlib
import random
import sys

import tap

sys.path.insert(0, str(tap.ROOT / "python" / "tests"))
import numpy as np  # noqa: E402

import arrow_producer as arrow  # noqa: E402

P = ctypes.c_void_p
LIBRARY = pathlib.Path(tap.MERCER).parent / "libmercer.so"
WORDS = ["", "red", "grün", "a much longer word than twelve bytes", "blue"]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("weight", ctypes.c_char_p)]


class FieldInfo(ctypes.Structure):  # the beginning of mcr_field_info
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("kind", ctypes.c_int),
                ("cols", ctypes.c_int64)]


def open_library():
    if not LIBRARY.exists():
        tap.skip("no shared library beside the program")
    if b"__asan_init" in LIBRARY.read_bytes():
        tap.skip("a library with sanitizers cannot be loaded into Python")
    m = ctypes.CDLL(str(LIBRARY))
    for name in ("mcr_message", "mcr_data_column_name"):
        getattr(m, name).restype = ctypes.c_char_p
    m.mcr_data_count.restype = m.mcr_data_fields.restype = ctypes.c_int64
    for name in ("mcr_data_targets", "mcr_data_weights"):
        getattr(m, name).restype = ctypes.POINTER(ctypes.c_double)
    ctx = P()
    assert m.mcr_open(ctypes.byref(ctx), None) == 0
    return m, ctx


def read(m, ctx, batches, target=None, weight=None):
    """The status and the data set; batches: lists of columns."""
    schema = arrow.struct_schema(batches[0])
    arrays = (arrow.Array * len(batches))(*[arrow.struct_array(b) for b in batches])
    options = Options(ctypes.sizeof(Options), target, weight)
    data = P()
    status = m.mcr_data_arrow(ctypes.byref(data), ctx, ctypes.byref(schema), arrays,
                              ctypes.c_int64(len(batches)), ctypes.byref(options))
    assert all(not a.release for a in arrays), "the batches are taken over"
    return status, data


def fields(m, data):
    """name: number, kind, columns."""
    found = {}
    for f in range(m.mcr_data_fields(data)):
        info = FieldInfo(ctypes.sizeof(FieldInfo))
        assert m.mcr_data_field_info(data, ctypes.c_int64(f), ctypes.byref(info)) == 0
        found[info.name.decode()] = (f, info.kind, info.cols)
    return found


def matrix(m, data, field, cols):
    row, rows = (ctypes.c_double * cols)(), []
    for i in range(m.mcr_data_count(data)):
        assert m.mcr_data_vector(data, ctypes.c_int64(field), ctypes.c_int64(i), row) == 0
        rows.append(list(row))
    return np.array(rows)


def strings(m, data, field):
    start, length, found = P(), ctypes.c_int64(), []
    for i in range(m.mcr_data_count(data)):
        assert m.mcr_data_string(data, ctypes.c_int64(field), ctypes.c_int64(i), ctypes.byref(start),
                                 ctypes.byref(length)) == 0
        found.append(ctypes.string_at(start, length.value).decode() if length.value else "")
    return found


def random_columns(r, n, skip):
    """Columns with `skip` values before the slice, and what must be read."""
    count = n + skip
    numbers = {"double": ("g", [r.gauss(0, 1) for _ in range(count)]),
               "float": ("f", [float(np.float32(r.gauss(0, 1))) for _ in range(count)]),
               "long": ("l", [r.randrange(-2**40, 2**40) for _ in range(count)]),
               "int": ("i", [r.randrange(-2**31, 2**31) for _ in range(count)]),
               "tiny": ("c", [r.randrange(-128, 128) for _ in range(count)]),
               "yes": ("b", [r.random() < 0.5 for _ in range(count)]),
               "day": ("tdD", [r.randrange(0, 20000) for _ in range(count)])}
    texts = {"small": ("u", [r.choice(WORDS) for _ in range(count)]),
             "large": ("U", [r.choice(WORDS) for _ in range(count)])}
    codes = {"coded": [r.randrange(len(WORDS)) for _ in range(count)]}
    columns = [arrow.Column(k, f, v, skip=skip) for k, (f, v) in {**numbers, **texts}.items()]
    columns += [arrow.Column(k, "c", v, words=WORDS, skip=skip) for k, v in codes.items()]
    r.shuffle(columns)
    want = {k: v[skip:] for k, (_, v) in {**numbers, **texts}.items()}
    want["coded"] = [WORDS[c] for c in codes["coded"][skip:]]
    return columns, want, set(numbers)


def test_tables_by_another_producer():
    m, ctx = open_library()
    r = random.Random(5)
    for n, skip in ((1, 0), (7, 0), (40, 3), (65, 8), (130, 61)):
        columns, want, numbers = random_columns(r, n, skip)
        status, data = read(m, ctx, [columns])
        assert status == 0, m.mcr_message(ctx)
        tap.check_equal(m.mcr_data_count(data), n)
        found = fields(m, data)
        tap.check_equal(set(found), {"x", "small", "large", "coded"})
        field, _, cols = found["x"]
        x = matrix(m, data, field, cols)
        names = [m.mcr_data_column_name(data, ctypes.c_int64(field), ctypes.c_int64(c)).decode()
                 for c in range(cols)]
        tap.check_equal(set(names), numbers)
        for c, name in enumerate(names):
            np.testing.assert_array_equal(x[:, c], np.array(want[name], dtype=float), name)
        for name in ("small", "large", "coded"):
            tap.check_equal(strings(m, data, found[name][0]), want[name], name)
        m.mcr_data_free(data)
        tap.check_equal(arrow.open_arrays, 0)
    m.mcr_close(ctx)


def test_targets_weights_and_batches():
    m, ctx = open_library()
    parts = [[arrow.Column("a", "g", [1.5, 2.5]), arrow.Column("y", "c", [0, 1], words=["no", "yes"]),
              arrow.Column("w", "f", [1, 2])],
             [arrow.Column("a", "g", [9, 3.5], skip=1), arrow.Column("y", "c", [1, 0], words=["yes", "no"], skip=1),
              arrow.Column("w", "f", [7, 4], skip=1)]]
    status, data = read(m, ctx, parts, b"y", b"w")
    assert status == 0, m.mcr_message(ctx)
    np.testing.assert_array_equal(matrix(m, data, 0, 1)[:, 0], [1.5, 2.5, 3.5])
    y, w = m.mcr_data_targets(data), m.mcr_data_weights(data)
    tap.check_equal([y[i] for i in range(3)], [0, 1, 1])  # codes differ, words are the same
    tap.check_equal([w[i] for i in range(3)], [1, 2, 4])
    m.mcr_data_free(data)
    tap.check_equal(arrow.open_arrays, 0)
    m.mcr_close(ctx)


def test_nulls_within_and_before_slices():
    """A null before the slice is no fault; one in it is refused with its row, whatever the column's type."""
    m, ctx = open_library()
    for format, good, words in (("g", 1.0, None), ("b", True, None), ("u", "a", None), ("U", "a", None),
                                ("c", 0, ["a"])):
        for at in range(20):
            values = [good] * 20
            values[at] = None
            status, data = read(m, ctx, [[arrow.Column("column", format, values, words=words, skip=9)]])
            if at < 9:
                assert status == 0, (format, at, m.mcr_message(ctx))
                m.mcr_data_free(data)
            else:
                message = m.mcr_message(ctx).decode()
                assert status == 3 and "column" in message and str(at - 9 + 1) in message, (format, at, message)
            tap.check_equal(arrow.open_arrays, 0)
    m.mcr_close(ctx)


if __name__ == "__main__":
    tap.main(globals())
