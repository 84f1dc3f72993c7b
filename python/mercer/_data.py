"""Python objects as fields of a data set.

A field is a tuple that `_core` understands: its kind, its name, its values. Vectors are the field
`x`, strings `text`, graphs `graph`; the entries of a dict have the names that they have there. Tables
are in _table.py.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Sequence

import numpy as np

from mercer._table import Table, is_frame, numeric_columns, read


@dataclasses.dataclass(frozen=True)
class Objects:
    """Fields of `count` objects."""

    count: int
    fields: tuple[Any, ...]
    columns: int  # features of vectors; 0: there are none


def is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_fields(X: Any) -> bool:
    """A dict of fields; some sparse matrices are dicts, too."""
    return isinstance(X, dict) and not is_sparse(X)


def is_graph(x: Any) -> bool:
    """A networkx graph, or a dict with the keys "nodes" (a number, or labels) and "edges"."""
    return (hasattr(x, "nodes") and hasattr(x, "edges")) or (
        isinstance(x, dict) and "nodes" in x and "edges" in x)


def is_text(x: Any) -> bool:
    return isinstance(x, (str, bytes))


def first(X: Any) -> Any:
    """The first object, or None."""
    try:
        return next(iter(X), None)
    except TypeError:
        return None


def is_structured(X: Any) -> bool:
    """Whether X holds something other than one matrix of numbers."""
    if is_fields(X):
        return True
    if is_sparse(X):
        return False
    if is_frame(X):
        return isinstance(X, Table) or not numeric_columns(X if hasattr(X, "iloc") else read(X))
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS" and (is_text(first(X)) or is_graph(first(X)))
    return isinstance(X, (list, tuple)) and (is_text(first(X)) or is_graph(first(X)))


def count_of(X: Any) -> int:
    if is_fields(X):
        return count_of(next(iter(X.values()))) if X else 0
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return len(X)


def rows_of(X: Any, rows: Any) -> Any:
    """Some objects of X, in the form of X."""
    if is_fields(X):
        return {name: rows_of(value, rows) for name, value in X.items()}
    if isinstance(X, Table):
        return X.take(rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if is_frame(X):  # of Arrow: pyarrow has take, polars an index, others neither
        return X.take(rows) if hasattr(X, "take") else X[rows] if hasattr(X, "__getitem__") else read(X).take(rows)
    if isinstance(X, np.ndarray) or is_sparse(X):
        return X[rows]
    return [X[i] for i in rows]


# ---- vectors -------------------------------------------------------------------------------------


def dense(name: str, X: Any, columns: Sequence[str] | None = None) -> tuple[Any, ...]:
    """A matrix of doubles or floats as it is, whatever its order; other numbers as doubles."""
    X = np.asarray(X)
    if X.dtype not in (np.float64, np.float32) or not X.dtype.isnative:
        X = X.astype(np.float64)
    return ("dense", name, X, None if columns is None else tuple(columns))


def sparse(name: str, X: Any) -> tuple[Any, ...]:
    """A CSR matrix as it is; other formats are converted."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = X.data if X.data.dtype in (np.float64, np.float32) else X.data.astype(np.float64)
    return ("sparse", name, X.shape[1], X.indptr, X.indices, values)


def matrix(name: str, X: Any) -> tuple[Any, ...]:
    return sparse(name, X) if is_sparse(X) else dense(name, X)


def precomputed(name: str, K: Any, square: bool) -> tuple[Any, ...]:
    K = np.asarray(K)
    if K.dtype not in (np.float64, np.float32):
        K = K.astype(np.float64)
    ids = np.arange(len(K), dtype=np.int64) if square else np.full(len(K), -1, dtype=np.int64)
    return ("precomputed", name, K, ids)


# ---- strings and graphs --------------------------------------------------------------------------


def strings(name: str, X: Iterable[Any]) -> tuple[Any, ...]:
    parts = []
    for x in X:
        if isinstance(x, str):
            parts.append(x.encode("utf-8", "surrogateescape"))
        elif isinstance(x, bytes):
            parts.append(x)
        else:
            raise TypeError(f"field {name!r}: strings or bytes are wanted, not {type(x).__name__}")
    start = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(p) for p in parts], out=start[1:])
    return ("strings", name, start, b"".join(parts) or b"\0")


class Labels:
    """Labels of nodes or edges as small integers: integers as they are, other values by a hash that
    does not change between runs, so that training and prediction agree."""

    def __init__(self) -> None:
        self.any = False
        self.values: list[int] = []

    def add(self, label: Any) -> None:
        self.any = self.any or label is not None
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
            self.values.append(int(label))
        else:
            import zlib
            self.values.append(zlib.crc32(repr(label).encode()) & 0x7FFFFFFF)

    def array(self) -> Any:
        return np.array(self.values, dtype=np.int32) if self.any else None


def nodes_and_edges(graph: Any) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any, Any]]]:
    """[(node, label)], [(node, node, label)]; a label that is not there is None."""
    if isinstance(graph, dict):
        nodes = list(enumerate(graph["nodes"])) if not isinstance(graph["nodes"], int) else [
            (i, None) for i in range(graph["nodes"])]
        return nodes, [(e[0], e[1], e[2] if len(e) > 2 else None) for e in graph["edges"]]
    nodes = [(node, data.get("label")) for node, data in graph.nodes(data=True)]
    return nodes, [(a, b, data.get("label")) for a, b, data in graph.edges(data=True)]


def graphs(name: str, X: Sequence[Any]) -> tuple[Any, ...]:
    node_start, edge_start = [0], [0]
    node_label, edge_label, pairs = Labels(), Labels(), []
    for graph in X:
        nodes, edges = nodes_and_edges(graph)
        place = {}
        for number, (node, label) in enumerate(nodes):
            place[node] = number
            node_label.add(label)
        for a, b, label in edges:
            pairs.append((place[a], place[b]))
            edge_label.add(label)
        node_start.append(len(node_label.values))
        edge_start.append(len(pairs))
    edges_array = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    if not len(pairs):
        edges_array = np.zeros((0, 2), dtype=np.int32)
    return ("graphs", name, np.array(node_start, dtype=np.int64), node_label.array(),
            np.array(edge_start, dtype=np.int64), edges_array, edge_label.array())


# ---- all of them ---------------------------------------------------------------------------------


def field(name: str, X: Any) -> tuple[Any, ...]:
    """One field from whatever it holds."""
    if is_sparse(X):
        return sparse(name, X)
    if is_frame(X):
        return dense(name, read(X).matrix())
    if is_text(first(X)):
        return strings(name, X)
    if is_graph(first(X)):
        return graphs(name, X)
    values = np.asarray(X)
    if values.dtype.kind in "OUS":
        return strings(name, ["" if v is None or v != v else v if is_text(v) else str(v) for v in values])
    return dense(name, values.reshape(len(values), -1))


def table(X: Any, roles: dict[str, str] | None = None, missing: str | None = None) -> Table:
    """A DataFrame as a table, whose columns have the roles that are given or that they show."""
    made = read(X)
    if not isinstance(X, Table):
        made.assign(roles or {})
        made.rule = missing or "auto"
    return made


def objects(X: Any, *, columns: Sequence[str] | None = None, check: bool = True) -> Objects:
    """Any X as fields; columns: the names of a matrix's columns."""
    if isinstance(X, Objects):
        return X
    if is_fields(X):
        fields = tuple(field(str(name), value) for name, value in X.items())
        counts = {count_of(value) for value in X.values()}
        if len(counts) > 1:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: "
                             f"{[count_of(value) for value in X.values()]}")
        return Objects(counts.pop() if counts else 0, fields, 0)
    if is_frame(X):
        found = table(X)
        return Objects(found.count, found.fields(), len(found.has("number")))
    if is_structured(X):
        if is_text(first(X)):
            return Objects(count_of(X), (strings("text", X),), 0)
        return Objects(count_of(X), (graphs("graph", X),), 0)
    if check and not is_sparse(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
    found_field = sparse("x", X) if is_sparse(X) else dense("x", X, columns)
    return Objects(X.shape[0], (found_field,), X.shape[1])


def variance(X: Any) -> float:
    """Variance of all values of a matrix, without a copy of it."""
    rows, columns = X.shape
    if rows * columns == 0:
        return 0.0
    if is_sparse(X):
        total = float(X.sum()) / (rows * columns)
        square = float(np.square(X.data, dtype=np.float64).sum()) / (rows * columns)
        return float(max(0.0, square - total * total))
    step = max(1, (1 << 19) // max(1, columns))
    total = sum(float(X[i:i + step].sum(dtype=np.float64)) for i in range(0, rows, step))
    mean = total / (rows * columns)
    square = 0.0
    for i in range(0, rows, step):
        away = X[i:i + step].astype(np.float64) - mean
        square += float(np.einsum("ij,ij->", away, away))
    return float(square / (rows * columns))
