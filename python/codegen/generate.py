"""Writes the estimators' classes and the kernels' functions from the tables of the library.

The result are two modules of plain Python with signatures, type hints and docstrings: _estimators.py
and _kernel_functions.py. They are made when the package is built, so that a new option of a learner
needs no change here.

SPDX-License-Identifier: Apache-2.0
"""

import keyword
import pathlib
import textwrap

import spec

HEAD = '''"""{about} Written by codegen/generate.py; do not edit.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

'''
WIDTH = 100
TYPES = {"real": "float", "integer": "int", "flag": "bool", "choice": "str", "text": "str",
         "reals": "float | list[float]"}


def python_name(option):
    name = option.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def default_of(param):
    """The default of an option as a Python value."""
    text = param["default"]
    if text is None:
        return None
    if param["type"] == "flag":
        return text == "yes"
    if param["type"] == "integer":
        return int(text)
    if param["type"] in ("real", "reals"):
        return float(text)
    return text


def annotation(kind, default):
    return kind if default is not None or "None" in kind or kind in ("Any", "KernelLike") else kind + " | None"


def more_params(entry, table):
    """Options of the learner that the spec does not name."""
    used = {p.option for p in entry["params"]} | set(entry.get("skip", [])) | {"class-weight", "kernel2", "side"}
    return [spec.P(python_name(p["name"]), default_of(p), p["name"], TYPES[p["type"]])
            for p in table if p["name"] not in used]


def about(p, table):
    if p.about:
        return p.about
    found = next(q for q in table if q["name"] == p.option)
    text = found["help"][0].upper() + found["help"][1:] + "."
    if found["choices"]:
        text += " One of " + ", ".join('"%s"' % c for c in found["choices"].split("|")) + "."
    return text


def wrapped(text, indent):
    return textwrap.fill(text, WIDTH - 4, initial_indent=indent, subsequent_indent=indent,
                         break_long_words=False)


def docstring(entry, params, table, summary):
    lines = ['    """' + summary[0].upper() + summary[1:] + ".", ""]
    if entry.get("note"):
        lines += [wrapped(entry["note"], "    "), ""]
    lines += ["    Parameters", "    ----------"]
    for p in params:
        shown = annotation(p.kind, p.default).replace("KernelLike", "str, Kernel, callable or None")
        lines += [f"    {p.name} : {shown}, default={p.default!r}", wrapped(about(p, table), "        ")]
    lines += ["", "    Attributes", "    ----------",
              "    n_features_in_ : int", "        Columns of the training data."]
    if entry["learner"]:
        lines += ["    certificate_ : dict",
                  "        How near the optimum is: kind, value, tolerance, primal, dual, gap.",
                  "    stop_ : str",
                  '        Why training ended: "optimal", "local", "steps", "time", "interrupted" or "stuck".',
                  "    kernel_ : str", "        The kernel as an expression.",
                  "    roles_ : dict", "        Roles of the columns, where X was a table with more than numbers."]
    lines += ["", "    Examples", "    --------", entry["example"].lstrip("\n"), '    """']
    return "\n".join(lines)


def signature(params, positional):
    parts = ["self"]
    for i, p in enumerate(params):
        if i == positional:
            parts.append("*")
        parts.append(f"{p.name}: {annotation(p.kind, p.default)} = {p.default!r}")
    text = ",\n                 ".join(parts)
    return f"    def __init__({text}) -> None:"


def estimator(entry, learners):
    found = next((x for x in learners if x["name"] == entry["learner"]), None)
    table = found["params"] if found else []
    params = list(entry["params"]) + more_params(entry, table) + [spec.JOBS]
    if found:
        params += [spec.INTERRUPT, spec.ROLES, spec.MISSING]
    summary = entry.get("summary") or found["summary"]
    options = {p.name: p.option for p in params if p.option}
    lines = [f"class {entry['name']}({entry['base']}):", docstring(entry, params, table, summary), "",
             f"    _learner = {entry['learner'] or ''!r}",
             "    _options = {"]
    lines += [f"        {k!r}: {v!r}," for k, v in options.items()]
    lines += ["    }", f"    _fixed = {entry.get('fixed', {})!r}", "",
              signature(params, entry.get("positional", 0))]
    lines += [f"        self.{p.name} = {p.name}" for p in params]
    return "\n".join(lines)


def estimators(learners):
    by_module = {}
    for entry in spec.CLASSES:
        by_module.setdefault(entry["module"], set()).add(entry["base"])
    lines = [HEAD.format(about="The estimators."), "from typing import Any", "",
             "from mercer._kernel import KernelLike"]
    lines += [f"from mercer.{module} import {', '.join(sorted(bases))}"
              for module, bases in sorted(by_module.items())]
    lines += ["", "__all__ = ["] + [f"    {entry['name']!r}," for entry in spec.CLASSES] + ["]", "", ""]
    return "\n".join(lines) + "\n\n\n".join(estimator(entry, learners) for entry in spec.CLASSES) + "\n"


# ---- kernels -------------------------------------------------------------------------------------


def kernel_function(kernel):
    """A function that makes a kernel; leaves take fields or columns, combinators kernels."""
    leaf = bool(kernel["kinds"]) or kernel["name"] == "constant"
    params = [(python_name(p["name"]), p) for p in kernel["params"]]
    what = "fields" if leaf else "kernels"
    kind = "str" if leaf else "Kernel | str"
    signature = [f"*{what}: {kind}"] + [
        f"{name}: {annotation(TYPES[p['type']], None)} = None" for name, p in params]
    lines = [f"def {kernel['name']}({', '.join(signature)}) -> Kernel:",
             '    """' + kernel["summary"][0].upper() + kernel["summary"][1:] + ".", "",
             "    Parameters", "    ----------",
             f"    *{what} : {'str' if leaf else 'Kernel or str'}",
             "        " + ("Fields or columns that it reads; none: the only one of its kind." if leaf
                           else "The kernels that it is made of.")]
    for name, p in params:
        lines += [f"    {name} : {TYPES[p['type']]}, default={p['default']}",
                  wrapped(p["help"][0].upper() + p["help"][1:] + ".", "        ")]
    given = "{" + ", ".join(f"{p['name']!r}: {name}" for name, p in params) + "}"
    lines += ["", "    Returns", "    -------", "    Kernel", "        The kernel.", '    """',
              f"    return {'leaf' if leaf else 'combined'}({kernel['name']!r}, {what}, {given})"]
    return "\n".join(lines)


def kernel_functions(kernels):
    skip = {"precomputed", "sum", "product", "power"}
    chosen = [k for k in kernels if k["name"] not in skip]
    lines = [HEAD.format(about="Functions that make kernels."),
             "from mercer._kernel import Kernel, combined, leaf", "", "__all__ = ["]
    lines += [f"    {k['name']!r}," for k in chosen] + ["]", "", ""]
    return "\n".join(lines) + "\n\n\n".join(kernel_function(k) for k in chosen) + "\n"


def write(learners, kernels, folder):
    folder = pathlib.Path(folder)
    (folder / "_estimators.py").write_text(estimators(learners), encoding="utf-8")
    (folder / "_kernel_functions.py").write_text(kernel_functions(kernels), encoding="utf-8")
