"""run_tests.py BUILD: builds the wheel, installs it into a fresh environment and tests it there.

BUILD is the Meson build folder whose library the wheel is linked with. Prints TAP: one line for each
part, with counts. MERCER_ALL=1 runs what takes minutes, too (every notebook, the long leak test, all data
sets). Needs no network: the environment sees the system's packages.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ALL = os.environ.get("MERCER_ALL") == "1"


class Failed(Exception):
    """What a part said."""


def run(*call, cwd, env=None):
    done = subprocess.run([str(c) for c in call], cwd=cwd, text=True, capture_output=True,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise Failed((done.stdout + done.stderr)[-6000:])
    return done.stdout


class Tests:
    def __init__(self, build, folder):
        self.build, self.folder = pathlib.Path(build).resolve(), pathlib.Path(folder)
        self.python = self.folder / "venv" / "bin" / "python"
        self.site = None

    def wheel(self):
        """the wheel is built (cp311-abi3)"""
        source = self.folder / "python"
        shutil.copytree(HERE, source, ignore=shutil.ignore_patterns(
            "build", "*.so", "*.egg-info", "_estimators.py", "_kernel_functions.py", "__pycache__"))
        for name in ("include", "meson.build"):
            (self.folder / name).symlink_to(HERE.parent / name)
        run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q",
            "-w", self.folder / "dist", source, cwd=self.folder, env={"MERCER_BUILD": str(self.build)})
        found = [p.name for p in (self.folder / "dist").glob("*.whl")]
        if len(found) != 1 or "cp311-abi3" not in found[0]:
            raise Failed(f"wheels: {found}")
        return found[0]

    def install(self):
        """it installs into a fresh environment"""
        run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip",
            self.folder / "venv", cwd=self.folder)
        run(self.python, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
            *(self.folder / "dist").glob("*.whl"), cwd=self.folder)
        self.site = run(self.python, "-c", "import mercer, os; print(os.path.dirname(mercer.__file__))",
                        cwd=self.folder).strip()
        if not self.site.startswith(str(self.folder)):
            raise Failed(f"another package is found first: {self.site}")

    def pytest(self, *what):
        out = run(self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *what,
                  cwd=HERE / "tests")
        return re.findall(r"^.*passed.*$", out, re.M)[-1].strip("= ")

    def checks(self):
        """scikit-learn's checks of every estimator"""
        return self.pytest("test_checks.py")

    def own(self):
        """our own tests"""
        return self.pytest("--ignore=test_checks.py", ".")

    def swapped(self):
        """scikit-learn's tests of support vector machines with our classes"""
        return run(self.python, "sklearn_svm.py", cwd=HERE / "tests").split("\n  ")[0].splitlines()[-1]

    def doctests(self):
        """examples in docstrings"""
        return self.pytest("--doctest-modules", "--ignore=" + self.site + "/_core.abi3.so", self.site)

    def types(self):
        """type hints: mypy --strict"""
        if not shutil.which("mypy"):
            raise Failed("mypy is not installed")
        shutil.copytree(self.site, self.folder / "types" / "mercer")
        return run("mypy", "--strict", "--config-file", HERE / "pyproject.toml", "-p", "mercer",
                   cwd=self.folder / "types").strip().splitlines()[-1]

    def parts(self):
        return [self.wheel, self.install, self.checks, self.own, self.swapped, self.doctests, self.types]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(sys.argv[1], folder)
        parts = tests.parts()
        print(f"1..{len(parts)}")
        for number, part in enumerate(parts, 1):
            try:
                said = part()
                print(f"ok {number} - {part.__doc__}" + (f": {said}" if said else ""), flush=True)
            except Failed as failed:
                bad += 1
                print(f"not ok {number} - {part.__doc__}", flush=True)
                print("\n".join("# " + line for line in str(failed).splitlines()), flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
