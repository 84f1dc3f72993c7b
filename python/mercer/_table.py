"""Tables: columns with roles, from the DataFrames of any library.

The dtype of a column says its role: numbers and booleans are `number`, categories are `category`, dates
and times are `date`. Columns of strings get the role that the same column of a CSV file would get: `category`,
`text`, `date`, `set` or `id` (docs/tables.md). Columns of graphs, and of vectors, are fields of their own.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable

import numpy as np

from mercer import _core

ROLES = ("number", "category", "date", "text", "set", "id", "ignore")
WORDS_ROLES = ("category", "text", "set")
RULES = ("error", "mean", "median", "mode", "indicator", "kernel", "auto")
DAY_NS = 86400e9


# ---- columns -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Strings:
    """Strings one after the other; an empty one is missing."""

    start: Any  # int32 or int64, one more than there are strings
    data: Any  # buffer of bytes

    def __len__(self) -> int:
        return len(self.start) - 1

    def at(self, i: int) -> str:
        return bytes(memoryview(self.data)[int(self.start[i]):int(self.start[i + 1])]).decode(
            "utf-8", "surrogateescape")

    def take(self, rows: Any) -> Strings:
        view = memoryview(self.data)
        return join_bytes([bytes(view[int(self.start[i]):int(self.start[i + 1])]) for i in rows])


def join_bytes(parts: list[bytes]) -> Strings:
    start = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(p) for p in parts], out=start[1:])
    return Strings(start, b"".join(parts) or b"\0")


def join_words(values: Iterable[Any], missing: Any = None) -> Strings:
    """Values as text; missing: where there is none."""
    gone = iter(missing) if missing is not None else None
    parts = []
    for v in values:
        if gone is not None and next(gone):
            parts.append(b"")
        else:
            parts.append(v if isinstance(v, bytes) else word(v).encode("utf-8", "surrogateescape"))
    return join_bytes(parts)


def word(value: Any) -> str:
    """A value as a word; whole numbers are the same as integers and as floats."""
    if isinstance(value, str):
        return value
    if isinstance(value, (set, frozenset, list, tuple)):
        return ";".join(sorted(str(v) for v in value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


@dataclasses.dataclass
class Column:
    """A column as it was found: numbers, dates (days), words, or a field that is no column of a table."""

    name: str
    kind: str  # "number", "date", "words", "graphs", "vectors"
    values: Any  # an array, Strings, or a list of graphs
    role: str = ""
    category: bool = False  # its dtype says so

    def take(self, rows: Any) -> Column:
        if isinstance(self.values, Strings):
            values: Any = self.values.take(rows)
        elif isinstance(self.values, list):
            values = [self.values[i] for i in rows]
        else:
            values = self.values[rows]
        return dataclasses.replace(self, values=values)


def guess(column: Column, session: _core.Session) -> str:
    """The role of a column that nobody has given one."""
    if column.kind in ("graphs", "vectors", "date"):
        return column.kind
    if column.kind == "words":
        if column.category:
            return "category"
        words = column.values
        return session.guess_role(column.name, len(words), words.start, words.data)
    if column.values.dtype.kind in "iu" and len(column.values) > 1:
        words = join_words(column.values[:10_000].tolist())
        return session.guess_role(column.name, len(words), words.start, words.data, True)
    return "number"


def as_role(column: Column, role: str) -> Column:
    """The column with the values that its role wants."""
    if role in WORDS_ROLES and column.kind != "words":
        if column.kind == "date":
            gone = np.isnan(column.values)
            days = (np.where(gone, 0, column.values) * 86400).astype("datetime64[s]")
            values = join_words(days.astype(str), gone)
        else:
            values = join_words(column.values.tolist(), is_missing(column.values))
        return Column(column.name, "words", values, role)
    if role == "number" and column.kind == "words":
        return Column(column.name, "number", parse(column, float, "a number"), role)
    if role == "date" and column.kind == "words":
        return Column(column.name, "date", parse(column, days_of_text, "a date"), role)
    return dataclasses.replace(column, role=role)


def is_missing(values: Any) -> Any:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def parse(column: Column, read: Callable[[str], float], what: str) -> Any:
    """Words as numbers; empty ones are missing."""
    made = np.full(len(column.values), np.nan)
    for i in range(len(made)):
        text = column.values.at(i)
        try:
            made[i] = read(text) if text else np.nan
        except ValueError:
            raise ValueError(f"column {column.name!r}: {text!r} (row {i}) is not {what}") from None
    return made


def days_of_text(text: str) -> float:
    """Days since 1970 of an ISO date."""
    import datetime
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return float(np.datetime64(text, "ns").astype(np.int64)) / DAY_NS
    if found.tzinfo is None:
        found = found.replace(tzinfo=datetime.timezone.utc)
    return found.timestamp() / 86400


def days_of(values: Any) -> Any:
    """Days since 1970 of datetime64 values; NaT is NaN."""
    exact = values.astype("datetime64[ns]")
    made = exact.astype(np.int64) / DAY_NS
    made[np.isnat(exact)] = np.nan
    return made


# ---- pandas --------------------------------------------------------------------------------------


def pandas_column(name: str, values: Any) -> Column:
    """A Series."""
    dtype = values.dtype
    kind = getattr(dtype, "kind", "O")
    if hasattr(dtype, "categories"):
        codes = np.asarray(values.cat.codes)
        words = np.array([word(c) for c in values.cat.categories] + [""], dtype=object)
        return Column(name, "words", join_words(words[codes]), category=True)
    if kind in "fiub":
        if isinstance(dtype, np.dtype):
            return Column(name, "number", values.to_numpy())
        if not values.isna().any():
            return Column(name, "number", np.asarray(values.to_numpy(dtype=dtype.type)))
        return Column(name, "number", values.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "M":
        return Column(name, "date", days_of(values.to_numpy(dtype="datetime64[ns]")))
    if kind == "m":
        spans = values.to_numpy()
        days = spans.astype("timedelta64[ns]").astype(np.int64) / DAY_NS
        days[np.isnat(spans)] = np.nan
        return Column(name, "number", days)
    if hasattr(dtype, "freq"):  # periods
        return Column(name, "date", days_of(values.dt.to_timestamp().to_numpy()))
    return object_column(name, values.to_numpy(dtype=object), np.asarray(values.isna(), dtype=bool))


def object_column(name: str, values: Any, missing: Any) -> Column:
    """A column of Python objects, by what they are."""
    import datetime
    import decimal
    import numbers
    from mercer._data import is_graph
    present = [v for v, gone in zip(values, missing) if not gone]
    if all(isinstance(v, (str, bytes)) for v in present):
        return Column(name, "words", join_words(values, missing))
    if all(isinstance(v, (numbers.Real, decimal.Decimal)) for v in present):
        return Column(name, "number", np.array([np.nan if gone else float(v)
                                                for v, gone in zip(values, missing)]))
    if all(isinstance(v, (datetime.date, np.datetime64)) for v in present):
        return Column(name, "date", days_of(np.array(
            [np.datetime64("NaT") if gone else np.datetime64(naive(v)) for v, gone in zip(values, missing)],
            dtype="datetime64[ns]")))
    if all(is_graph(v) for v in present):
        return Column(name, "graphs", list(values))
    if all(isinstance(v, (list, tuple, np.ndarray)) and vector_of_numbers(v) for v in present):
        return Column(name, "vectors", np.array([np.asarray(v, dtype=np.float64) for v in values]))
    role = "set" if all(isinstance(v, (set, frozenset, list, tuple)) for v in present) else ""
    return Column(name, "words", join_words(values, missing), role)


def vector_of_numbers(value: Any) -> bool:
    return bool(np.asarray(value).dtype.kind in "fiub" and np.ndim(value) == 1)


def naive(value: Any) -> Any:
    """A date or time without its zone, in UTC."""
    if getattr(value, "tzinfo", None) is not None:
        import datetime
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value


# ---- tables --------------------------------------------------------------------------------------


def is_arrow(X: Any) -> bool:
    """An object with Arrow's PyCapsule interface (polars, pyarrow and others), other than pandas."""
    return (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")) and not hasattr(X, "iloc")


def is_frame(X: Any) -> bool:
    """A DataFrame."""
    return isinstance(X, Table) or is_arrow(X) or (hasattr(X, "columns") and hasattr(X, "iloc"))


def numeric_columns(X: Any) -> bool:
    """Whether all columns of a DataFrame are numbers by their dtypes."""
    if isinstance(X, Table):
        return X.is_numeric
    return all(getattr(dtype, "kind", "O") in "fiub" and not hasattr(dtype, "categories")
               for dtype in X.dtypes)


class Table:
    """Columns with their roles."""

    def __init__(self, columns: list[Column], count: int, source: Any) -> None:
        self.list, self.count, self.source = columns, count, source
        self.rule = "auto"

    @property
    def columns(self) -> list[str]:
        return [c.name for c in self.list]

    @property
    def shape(self) -> tuple[int, int]:
        return self.count, len(self.list)

    @property
    def is_numeric(self) -> bool:
        return all(c.kind == "number" for c in self.list)

    def __len__(self) -> int:
        return self.count

    @property
    def roles(self) -> dict[str, str]:
        return {c.name: c.role for c in self.list}

    def take(self, rows: Any) -> Table:
        from mercer._data import rows_of
        rows = np.asarray(rows)
        made = Table([c.take(rows) for c in self.list], len(rows), None)
        made.source = rows_of(self.source, rows) if self.source is not self and (
            hasattr(self.source, "__getitem__") or hasattr(self.source, "take")) else made
        made.rule = self.rule
        return made

    def named_matrix(self) -> NamedMatrix:
        return NamedMatrix(self.matrix(), self.columns)

    def matrix(self) -> Any:
        """All columns, if they are numbers."""
        made = np.column_stack([c.values for c in self.list])
        return made if made.dtype in (np.float32, np.float64) else made.astype(np.float64)

    def assign(self, given: dict[str, str]) -> None:
        """Sets the roles: those that are given, else those that the columns show."""
        names = set(self.columns)
        for name, role in given.items():
            if str(name) not in names:
                raise ValueError(f"roles: there is no column {name!r}; there are {', '.join(self.columns)}")
            if role not in ROLES:
                raise ValueError(f"roles: {role!r} is not a role; roles are {', '.join(ROLES)}")
        session = _core.Session(threads=1)
        wanted = {str(name): role for name, role in given.items()}
        self.list = [as_role(c, wanted.get(c.name) or c.role or guess(c, session)) for c in self.list]

    def like(self, roles: dict[str, str]) -> Table:
        """The columns of the training table, by their names, with their roles."""
        there = {c.name: c for c in self.list}
        gone = [name for name, role in roles.items() if name not in there and role not in ("id", "ignore")]
        if gone:
            raise ValueError("The feature names should match those that were passed during fit.\n"
                             "Feature names seen at fit time, yet now missing:\n"
                             + "\n".join(f"- {name}" for name in gone))
        made = [as_role(there[name], role) for name, role in roles.items() if name in there]
        return Table(made, self.count, self.source)

    def fields(self) -> tuple[Any, ...]:
        """The fields of a data set."""
        from mercer import _data
        found: list[Any] = [("missing", self.rule)]
        numbers = [c for c in self.list if c.role == "number"]
        if numbers:
            found.append(("numbers", "x", np.column_stack([c.values for c in numbers]),
                          tuple(c.name for c in numbers)))
        for c in self.list:
            if c.role == "date":
                found.append(("dates", c.name, np.ascontiguousarray(c.values, dtype=np.float64)))
            elif c.role in WORDS_ROLES:
                found.append(("words", c.name, c.role, c.values.start, c.values.data))
            elif c.role == "graphs":
                found.append(_data.graphs(c.name, c.values))
            elif c.role == "vectors":
                found.append(_data.dense(c.name, c.values))
        if all(c.role in ROLES for c in self.list):
            found.append(("columns", "table", tuple(self.columns), tuple(c.role for c in self.list)))
        return tuple(found)

    def has(self, *roles: str) -> list[str]:
        """Those of the roles that a column has."""
        there = {c.role for c in self.list}
        return [role for role in roles if role in there]


class NamedMatrix:
    """A matrix with names of its columns, as scikit-learn takes it for a DataFrame."""

    def __init__(self, values: Any, columns: list[str]) -> None:
        self.values, self.columns, self.shape = values, columns, values.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype, copy=False)

    def __dataframe__(self, **_: Any) -> NamedMatrix:
        return self

    def column_names(self) -> list[str]:
        return self.columns


def read(X: Any) -> Table:
    """A table from a DataFrame, before its columns have roles."""
    if isinstance(X, Table):
        return X
    if is_arrow(X):
        from mercer._arrow import read_columns
        columns, count = read_columns(X)
    else:
        columns = [pandas_column(str(name), X.iloc[:, i]) for i, name in enumerate(X.columns)]
        count = len(X)
    names = [c.name for c in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two columns are called {twice!r}")
    if not columns:
        raise ValueError("the table has no columns")
    return Table(columns, count, X)


def from_matrix(X: Any, names: Any = None) -> Table:
    """A table of numbers from an array; names: x0, x1, ... if there are none."""
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"Expected a 2D array of numbers, got a {X.ndim}D array of {X.dtype} instead")
    if names is None:
        names = [f"x{i}" for i in range(X.shape[1])]
    return Table([Column(str(name), "number", X[:, i]) for i, name in enumerate(names)], len(X), X)
