"""Does tools/abi.py see the changes that break programs, and only those?

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import sys

import tap

sys.path.insert(0, str(tap.ROOT / "tools"))
import abi  # noqa: E402

# (what, header, old text, new text, whether old programs break)
CHANGES = [
    ("nothing", "plot.h", "mcr_plot;", "mcr_plot;", False),
    ("a new function", "plot.h", "MCR_API void mcr_figure_close",
     "MCR_API int mcr_figure_new(mcr_figure *figure);\nMCR_API void mcr_figure_close", False),
    ("a new enumerator at the end", "plot.h", "MCR_THEME_DARK\n", "MCR_THEME_DARK,\n    MCR_THEME_NEW\n",
     False),
    ("a field at the end of a sized struct", "plot.h", "} mcr_draw;", "    int newer;\n} mcr_draw;", False),
    ("a field in the middle of one", "plot.h", "    mcr_theme theme;", "    int newer;\n    mcr_theme theme;",
     True),
    ("a field at the end of a struct without size", "model.h", "} mcr_coefficient;",
     "    double newer;\n} mcr_coefficient;", True),
    ("a field that is gone", "plot.h", "    mcr_theme theme;\n", "", True),
    ("a field of another type", "plot.h", "    mcr_theme theme;", "    double theme;", True),
    ("a function that is gone", "plot.h", "MCR_API void mcr_figure_close(mcr_figure *figure);", "", True),
    ("another parameter", "plot.h", "mcr_figure_close(mcr_figure *figure)",
     "mcr_figure_close(mcr_figure *figure, int how)", True),
    ("another result", "plot.h", "MCR_API void mcr_figure_close", "MCR_API double mcr_figure_close", True),
    ("enumerators in another order", "plot.h", "MCR_THEME_LIGHT,\n    MCR_THEME_DARK",
     "MCR_THEME_DARK,\n    MCR_THEME_LIGHT", True),
]


def test_changes():
    if not shutil.which("abidiff"):
        tap.skip("no abidiff (Debian: abigail-tools)")
    include = tap.ROOT / "include"
    for what, header, old, new, breaks in CHANGES:
        shutil.rmtree("changed", ignore_errors=True)
        shutil.copytree(include, "changed")
        path = pathlib.Path("changed/mercer") / header
        text = path.read_text(encoding="utf-8")
        assert old in text, "%s: %s does not hold %r" % (what, header, old)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        found = abi.differences(include, pathlib.Path("changed"), pathlib.Path("."))
        assert bool(found) == breaks, "%s: %s" % (what, found or "not seen")


if __name__ == "__main__":
    tap.main(globals())
