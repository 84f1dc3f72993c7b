"""forge.py: model files taken apart and put together again with right checksums, for the tests.

SPDX-License-Identifier: Apache-2.0
"""

import struct
import zlib


def sections(whole):
    """[(tag, payload)] of a model file, in order."""
    found, at, tag = [], 12, None
    while tag != b"END ":
        tag, length = struct.unpack("<4sQ", whole[at:at + 12])
        found.append((tag, whole[at + 12:at + 12 + length]))
        at += 12 + length + 4
    return found


def join(parts):
    whole = b"MERCER\r\n" + struct.pack("<I", 1)
    for tag, payload in parts:
        section = tag + struct.pack("<Q", len(payload)) + payload
        whole += section + struct.pack("<I", zlib.crc32(section))
    return whole


def text(value):
    value = value.encode()
    return struct.pack("<q", len(value)) + value


def numbers(form, values):
    return struct.pack("<q%d%s" % (len(values), form), len(values), *values)


def replace(path, out, **payload):
    """The model at `path` with other sections, as the file `out`."""
    with open(path, "rb") as f:
        parts = sections(f.read())
    new = {tag.encode(): value for tag, value in payload.items()}
    with open(out, "wb") as f:
        f.write(join([(tag, new.get(tag, old)) for tag, old in parts]))
    return out


def sparse_objects(cols, rows, name="x"):
    """The section OBJS for sparse vectors; rows: lists of (index, value)."""
    start = [0]
    for row in rows:
        start.append(start[-1] + len(row))
    flat = [entry for row in rows for entry in row]
    return (struct.pack("<qq", len(rows), 1) + text(name) + struct.pack("<Iq", 2, cols) +
            numbers("q", start) + numbers("i", [i for i, _ in flat]) +
            numbers("d", [v for _, v in flat]))


def bare_graphs(nodes, rows, name="graph"):
    """OBJS for graphs without labels or edges; `nodes` of them in each."""
    start = [i * nodes for i in range(rows + 1)]
    return (struct.pack("<qq", rows, 1) + text(name) + struct.pack("<Iq", 8, 0) +
            numbers("q", start) + struct.pack("<I", 0) + numbers("q", [0] * (rows + 1)) +
            numbers("i", []) + struct.pack("<I", 0) + struct.pack("<q", 0))
