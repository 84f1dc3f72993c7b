"""Columns of Arrow tables (polars, pyarrow and others), read where they are.

The producer hands over addresses (`_core.read_arrow`); what they hold follows from Arrow's format strings.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _core
from mercer._table import Column, Strings, join_bytes, join_words

NUMBERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
           "e": "f2", "f": "f4", "g": "f8"}
TICKS = {"s": 1.0, "m": 1e3, "u": 1e6, "n": 1e9}  # in a second
DAY = 86400


class Array:
    """One array of a record batch."""

    def __init__(self, schema: Any, batch: Any, tree: Any, first: int = 0, count: int | None = None) -> None:
        self.format, self.name, self.schema_children, self.schema_dictionary = schema
        self.batch = batch
        length, self.nulls, offset, self.addresses, self.children, self.dictionary = tree
        self.count = length if count is None else count
        self.first = offset + first
        if first + self.count > length:
            raise ValueError(f"column {self.name!r} of the Arrow table is shorter than the table")

    def buffer(self, number: int, dtype: str, count: int) -> Any:
        if number >= len(self.addresses):
            raise ValueError(f"column {self.name!r} of the Arrow table lacks a buffer")
        size = np.dtype(dtype).itemsize
        return np.frombuffer(_core.block(self.batch, self.addresses[number], count * size), dtype=dtype)

    def bits(self, number: int) -> Any:
        end = self.first + self.count
        found = np.unpackbits(self.buffer(number, "u1", (end + 7) // 8), bitorder="little")
        return found[self.first:end].astype(bool)

    def missing(self) -> Any:
        if self.format == "n":
            return np.ones(self.count, dtype=bool)
        if self.nulls == 0 or not self.addresses or self.addresses[0] == 0:
            return np.zeros(self.count, dtype=bool)
        return ~self.bits(0)

    def numbers(self, dtype: str) -> Any:
        return self.buffer(1, dtype, self.first + self.count)[self.first:]


def with_holes(values: Any, missing: Any) -> Any:
    """Numbers, with NaN where they are missing."""
    if not missing.any():
        return values
    made = values.astype(np.float64)
    made[missing] = np.nan
    return made


def times(array: Array) -> tuple[str, Any] | None:
    """Dates in days and times in days, or None: it holds something else. Kind: "date" or "number"."""
    f = array.format
    if f == "tdD":
        return "date", array.numbers("i4").astype(np.float64)
    if f == "tdm":
        return "date", array.numbers("i8") / (DAY * 1e3)
    if f[:2] == "ts" and f[2:3] in TICKS:
        return "date", array.numbers("i8") / (DAY * TICKS[f[2]])
    if f[:2] == "tD" and f[2:3] in TICKS:
        return "number", array.numbers("i8") / (DAY * TICKS[f[2]])
    if f[:2] == "tt" and f[2:3] in TICKS:
        return "number", array.numbers("i4" if f[2] in "sm" else "i8") / (DAY * TICKS[f[2]])
    return None


def strings(array: Array, missing: Any) -> Strings:
    if array.format in ("vu", "vz"):
        return view_strings(array, missing)
    dtype = "i4" if array.format in ("u", "z") else "i8"
    start = array.buffer(1, dtype, array.first + array.count + 1)[array.first:]
    data = array.buffer(2, "u1", int(start[-1])) if len(start) and start[-1] > 0 else b"\0"
    found = Strings(start, data)
    if not missing.any():
        return found
    view = memoryview(data)
    return join_bytes([b"" if gone else bytes(view[start[i]:start[i + 1]]) for i, gone in enumerate(missing)])


def view_strings(array: Array, missing: Any) -> Strings:
    """The layout of short strings in place: 16 bytes each, with a prefix or all of the string."""
    words = array.buffer(1, "i4", 4 * (array.first + array.count)).reshape(-1, 4)[array.first:]
    raw = words.view("u1")
    others = len(array.addresses) - 3
    sizes = array.buffer(len(array.addresses) - 1, "i8", others) if others > 0 else ()
    data = [memoryview(array.buffer(2 + k, "u1", int(size))) for k, size in enumerate(sizes)]
    parts = []
    for i, (length, _, which, offset) in enumerate(words.tolist()):
        if missing[i]:
            parts.append(b"")
        elif length <= 12:
            parts.append(raw[i, 4:4 + length].tobytes())
        else:
            parts.append(bytes(data[which][offset:offset + length]))
    return join_bytes(parts)


def dictionary_column(array: Array, missing: Any) -> Column:
    """A category: codes, and the words that they stand for."""
    inner = Array(array.schema_dictionary, array.batch, array.dictionary)
    plain = column_of(inner)
    words: list[Any] = [plain.values.at(i) for i in range(inner.count)] \
        if isinstance(plain.values, Strings) else plain.values.tolist()
    codes = np.where(missing, len(words), array.numbers(NUMBERS[array.format]))
    chosen = np.array([*words, ""], dtype=object)[codes]
    return Column(array.name, "words", join_words(chosen), category=True)


def column_of(array: Array) -> Column:
    missing = array.missing()
    if array.dictionary is not None:
        return dictionary_column(array, missing)
    if array.format in NUMBERS:
        return Column(array.name, "number", with_holes(array.numbers(NUMBERS[array.format]), missing))
    if array.format == "b":
        return Column(array.name, "number", with_holes(array.bits(1), missing))
    if array.format == "n":
        return Column(array.name, "number", np.full(array.count, np.nan))
    if array.format in ("u", "U", "z", "Z", "vu", "vz"):
        return Column(array.name, "words", strings(array, missing))
    found = times(array)
    if found is not None:
        return Column(array.name, found[0], with_holes(found[1], missing))
    if array.format.startswith("+w:"):
        return vectors(array, missing)
    raise TypeError(f"column {array.name!r} has the Arrow type {array.format!r}, which is not read; convert it "
                    "to numbers, dates, strings or categories")


def vectors(array: Array, missing: Any) -> Column:
    """A list of as many numbers in each row."""
    width = int(array.format[3:])
    inner = Array(array.schema_children[0], array.batch, array.children[0], array.first * width,
                  array.count * width)
    if missing.any() or inner.format not in NUMBERS:
        raise TypeError(f"column {array.name!r}: vectors must be lists of numbers, without missing ones")
    return Column(array.name, "vectors", inner.numbers(NUMBERS[inner.format]).reshape(array.count, width))


def join(parts: list[Column]) -> Column:
    """The same column of several record batches."""
    if len(parts) == 1:
        return parts[0]
    one = parts[0]
    if isinstance(one.values, Strings):
        values: Any = join_bytes([bytes(memoryview(p.values.data)[p.values.start[i]:p.values.start[i + 1]])
                                  for p in parts for i in range(len(p.values))])
    else:
        values = np.concatenate([p.values for p in parts])
    return Column(one.name, one.kind, values, one.role, one.category)


def read_columns(X: Any) -> tuple[list[Column], int]:
    """The columns of a table, and how many rows it has."""
    schema, batches = _core.read_arrow(X)
    if schema[0] != "+s":
        raise TypeError(f"a table is wanted, not a column of the Arrow type {schema[0]!r}")
    if not batches:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    found: list[list[Column]] = [[] for _ in schema[2]]
    total = 0
    for batch, tree in batches:
        length, _, offset = tree[:3]
        total += length
        for c, (child_schema, child) in enumerate(zip(schema[2], tree[4])):
            found[c].append(column_of(Array(child_schema, batch, child, offset, length)))
    return [join(parts) for parts in found], total


__all__ = ["read_columns"]
