"""A small producer of Arrow tables by the PyCapsule interface, for tests: no library that has one is in
Debian. It counts the arrays that were not released.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes

import numpy as np


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))

Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", RELEASE_ARRAY),
                  ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_ERROR),
                   ("release", RELEASE_STREAM), ("private_data", ctypes.c_void_p)]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

open_arrays = 0
KEPT = []  # what the structs point at; freed with the process


@RELEASE_SCHEMA
def release_schema(schema):
    schema[0].release = RELEASE_SCHEMA()


@RELEASE_ARRAY
def release_array(array):
    global open_arrays
    open_arrays -= 1
    array[0].release = RELEASE_ARRAY()


@RELEASE_STREAM
def release_stream(stream):
    stream[0].release = RELEASE_STREAM()


@GET_ERROR
def no_error(stream):
    return b"no more"


def bitmap(flags):
    return np.packbits(np.asarray(flags, dtype=bool), bitorder="little")


def string_buffers(values, dtype):
    parts = [v.encode() if v is not None else b"" for v in values]
    start = np.zeros(len(parts) + 1, dtype=dtype)
    np.cumsum([len(p) for p in parts], out=start[1:])
    return [start, np.frombuffer(b"".join(parts) + b"\0", dtype="u1")]


def view_buffers(values):
    views, data = np.zeros((len(values), 4), dtype="i4"), b""
    for i, v in enumerate(values):
        part = (v or "").encode()
        views[i, 0] = len(part)
        if len(part) <= 12:
            views[i].view("u1")[4:4 + len(part)] = np.frombuffer(part, dtype="u1")
        else:
            views[i, 2:] = 0, len(data)
            data += part
    return [views, np.frombuffer(data + b"\0", dtype="u1"), np.array([len(data)], dtype="i8")]


class Column:
    """format: Arrow's; values: with None where they are missing; words: of a dictionary."""

    def __init__(self, name, format, values, words=None, skip=0):
        self.name, self.format, self.words, self.skip = name, format, words, skip
        self.values = list(values)

    def buffers(self):
        missing = [v is None for v in self.values]
        first = [bitmap([not m for m in missing]) if any(missing) else None]
        if self.format in ("u", "U"):
            return first + string_buffers(self.values, "i4" if self.format == "u" else "i8")
        if self.format == "vu":
            return first + view_buffers(self.values)
        plain = [0 if v is None else v for v in self.values]
        if self.format == "b":
            return first + [bitmap(plain)]
        dtype = {"tdD": "i4", "tsu:UTC": "i8", "tDm": "i8", "g": "f8", "f": "f4", "l": "i8", "i": "i4", "c": "i1"}
        return first + [np.array(plain, dtype=dtype[self.format])]

    def schema(self):
        made = Schema(self.format.encode(), self.name.encode(), None, 2, 0, None, None, release_schema, None)
        if self.words is not None:
            inner = Column("", "u", self.words).schema()
            made.dictionary = ctypes.pointer(inner)
            KEPT.append(inner)
        KEPT.append(made)
        return made

    def array(self):
        buffers = self.buffers()
        pointers = (ctypes.c_void_p * len(buffers))(*[None if b is None else b.ctypes.data for b in buffers])
        nulls = sum(v is None for v in self.values)
        made = Array(len(self.values) - self.skip, nulls, self.skip, len(buffers), 0, pointers, None, None,
                     RELEASE_ARRAY(), None)
        if self.words is not None:
            inner = Column("", "u", self.words).array()
            made.dictionary = ctypes.pointer(inner)
            KEPT.append(inner)
        KEPT.extend([buffers, pointers, made])
        return made


def struct_schema(columns):
    children = [c.schema() for c in columns]
    pointers = (ctypes.POINTER(Schema) * len(children))(*[ctypes.pointer(c) for c in children])
    KEPT.append((children, pointers))
    return Schema(b"+s", b"", None, 0, len(children), pointers, None, release_schema, None)


def struct_array(columns):
    global open_arrays
    open_arrays += 1
    children = [c.array() for c in columns]
    pointers = (ctypes.POINTER(Array) * len(children))(*[ctypes.pointer(c) for c in children])
    none = (ctypes.c_void_p * 1)(None)
    KEPT.append((children, pointers, none))
    count = len(columns[0].values) - columns[0].skip
    return Array(count, 0, 0, 1, len(children), none, pointers, None, release_array, None)


class StreamTable:
    """Record batches, each a list of columns."""

    def __init__(self, *batches):
        self.batches = batches

    def __arrow_c_stream__(self, requested_schema=None):
        left = list(self.batches)

        def get_schema(stream, out):
            ctypes.memmove(out, ctypes.byref(struct_schema(self.batches[0])), ctypes.sizeof(Schema))
            return 0

        def get_next(stream, out):
            made = struct_array(left.pop(0)) if left else Array()
            ctypes.memmove(out, ctypes.byref(made), ctypes.sizeof(Array))
            return 0

        stream = Stream(GET_SCHEMA(get_schema), GET_NEXT(get_next), no_error, release_stream, None)
        KEPT.append(stream)
        return new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


class ArrayTable:
    """One record batch."""

    def __init__(self, columns):
        self.columns_ = columns

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = struct_schema(self.columns_), struct_array(self.columns_)
        KEPT.extend([schema, array])
        return (new_capsule(ctypes.addressof(schema), b"arrow_schema", None),
                new_capsule(ctypes.addressof(array), b"arrow_array", None))
