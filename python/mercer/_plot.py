"""Figures: computed by the library, drawn by it or by matplotlib.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable

import numpy as np

from mercer import _compat

FORMATS = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".html": "html", ".json": "json", ".txt": "text"}


class Figure:
    """A picture of a model, a kernel or data.

    In notebooks it shows itself as SVG.

    Attributes
    ----------
    data : dict
        The figure in numbers: panels with axes and marks, as `mercer plot` writes it to JSON.
    ax : matplotlib axes or None
        Where matplotlib drew it.
    """

    def __init__(self, render: Callable[[str, int, int], bytes]) -> None:
        self._render = render
        self._svg = render("svg", 0, 0).decode()
        self.ax: Any = None

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._render("json", 0, 0))
        return found

    def draw(self, format: str = "svg", width: int = 0, height: int = 0) -> bytes:
        """The picture as bytes: "svg", "png", "pdf", "html", "json" or "text"."""
        return self._render(format, width, height)

    def save(self, path: Any, width: int = 0, height: int = 0) -> None:
        """Write the picture to a file; its ending says in which format."""
        ending = os.path.splitext(os.fspath(path))[1]
        if ending not in FORMATS:
            raise ValueError(f"the ending must be one of {', '.join(FORMATS)}, not {ending!r}")
        with open(path, "wb") as file:
            file.write(self._render(FORMATS[ending], width, height))

    def _repr_svg_(self) -> str:
        return self._svg

    def __str__(self) -> str:
        return self._render("text", 0, 0).decode()


def plot_model(estimator: Any, X: Any, y: Any, *, kind: str | None, ax: Any, **more: Any) -> Figure:
    """What `plot` of an estimator does."""
    _compat.check_is_fitted(estimator)
    if X is not None:
        X = estimator._ask_X(X)
    targets = None if y is None else estimator._targets(y) if hasattr(estimator, "_targets") else \
        np.asarray(y, dtype=np.float64)
    def render(format: str, width: int, height: int) -> bytes:
        with estimator._open_session() as session:
            data = None
            if X is not None:
                found = estimator._objects(X)
                data = session.data(found.count, found.fields, targets)
            return bytes(session.plot(model=estimator._model, data=data, kind=kind, format=format,
                                      **{"width": width, "height": height, **more}))

    figure = Figure(render)
    if ax is not None:
        draw_on(ax, figure.data)
        figure.ax = ax
    return figure


# ---- matplotlib ----------------------------------------------------------------------------------


def draw_on(ax: Any, figure: dict[str, Any]) -> None:
    """Draws the first panel of a figure on matplotlib axes."""
    panel = figure["panels"][0]
    for mark in panel["marks"]:
        draw_mark(ax, mark)
    for axis, set_label, set_limits in ((panel["x"], ax.set_xlabel, ax.set_xlim),
                                        (panel["y"], ax.set_ylabel, ax.set_ylim)):
        set_label(axis["label"] or "")
        set_limits(axis["min"], axis["max"])
    if panel["x"]["log"]:
        ax.set_xscale("log")
    if panel["y"]["log"]:
        ax.set_yscale("log")
    ax.set_title(figure["title"] or "")
    if ax.get_legend_handles_labels()[0]:
        ax.legend()


def draw_mark(ax: Any, mark: dict[str, Any]) -> None:
    """One mark; texts and arrows are left to the library's own drawing."""
    label = mark.get("name") if mark.get("legend") else None
    kind = mark["type"]
    if kind == "cells":
        value = np.array(mark["value"], dtype=float).reshape(mark["rows"], mark["cols"])
        ax.imshow(value, extent=(mark["x0"], mark["x1"], mark["y0"], mark["y1"]), origin="lower",
                  aspect="auto", alpha=0.35, interpolation="nearest")
    elif kind == "points":
        ax.scatter(mark["x"], mark["y"], s=12, label=label)
    elif kind == "line":
        ax.plot(mark["x"], mark["y"], label=label)
    elif kind == "band" and "y2" in mark:
        ax.fill_between(mark["x"], mark["y"], mark["y2"], alpha=0.2, label=label)
    elif kind == "bars" and "x" in mark and "y" in mark:
        ax.bar(mark["x"], mark["y"], label=label)
