"""Builds the wheel of the Python package.

The extension is linked with the static library that Meson builds from this tree: one file that needs
nothing but libc and zlib, with the code for every instruction set, and no second description of how
the C sources are compiled. Where there is no tree around (an sdist), the installed library is used, as
pkg-config finds it. setuptools, because its py_limited_api gives a wheel for CPython 3.11 and all later
versions (cp311-abi3); meson-python 0.12, as Debian has it, makes one for each version.

    MERCER_BUILD=DIR   a Meson build folder that has libmercer.a already (else one is made)

SPDX-License-Identifier: Apache-2.0
"""

import importlib.util
import os
import pathlib
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-cast-function-type"]


def meson_library(folder):
    """The static library of this tree, built into folder if MERCER_BUILD names no other."""
    given = os.environ.get("MERCER_BUILD")
    build = pathlib.Path(given).resolve() if given else pathlib.Path(folder).resolve() / "library"
    if not given:
        if not (build / "build.ninja").exists():
            subprocess.run(["meson", "setup", str(build), str(ROOT), "-Dbuildtype=release",
                            "-Dtests=disabled", "-Dexamples=false"], check=True)
        subprocess.run(["ninja", "-C", str(build), "libmercer.a"], check=True)
    return build / "libmercer.a"


def pkg_config(*ask):
    return subprocess.run(["pkg-config", *ask, "mercer"], check=True, text=True,
                          capture_output=True).stdout.split()


class BuildExtension(build_ext):
    def build_extension(self, ext):
        if (ROOT / "meson.build").exists():
            library = meson_library(self.build_temp)
            ext.include_dirs.append(str(ROOT / "include"))
            ext.extra_objects.append(str(library))
            ext.extra_link_args += ["-Wl,--exclude-libs,ALL", "-lz", "-lm", "-ldl", "-lpthread"]
            ext.depends.append(str(library))
        else:
            ext.extra_compile_args += pkg_config("--cflags")
            ext.extra_link_args += pkg_config("--libs")
        super().build_extension(ext)

    def run(self):
        super().run()
        self.generate()

    def generate(self):
        """Writes _estimators.py beside the extension, from the library's tables of parameters."""
        core = pathlib.Path(self.get_ext_fullpath("mercer._core"))
        spec = importlib.util.spec_from_file_location("mercer._core", core)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.path.insert(0, str(HERE / "codegen"))
        import generate
        generate.write(module.learners(), module.kernels(), core.parent)


setup(
    ext_modules=[Extension(
        "mercer._core", sources=sorted("src/" + p.name for p in (HERE / "src").glob("*.c")),
        depends=["src/core.h"], extra_compile_args=["-std=gnu11", "-O2", "-fvisibility=hidden"] + WARNINGS,
        py_limited_api=True)],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    cmdclass={"build_ext": BuildExtension},
)
