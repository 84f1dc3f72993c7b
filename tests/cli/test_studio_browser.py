"""The studio in a real browser: one look with chromium alone; with MERCER_ALL=1 every check of tests/web/browser.js,
natively and, where it was built, as WebAssembly. puppeteer-core and axe-core come from npm, or from the folder that
MERCER_NODE_MODULES names; the package for Python, which runs the exported code, is built, or MERCER_PYTHON names an
interpreter that has it.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tap
import test_studio

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def chromium():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        tap.skip("no chromium")
    return found


def modules():
    if not shutil.which("node"):
        tap.skip("no node")
    folder = os.environ.get("MERCER_NODE_MODULES")
    if folder and pathlib.Path(folder, "puppeteer-core").exists():
        return folder
    if not os.environ.get("MERCER_ALL"):
        tap.skip("only with MERCER_ALL=1")
    if not shutil.which("npm"):
        tap.skip("no npm")
    home = tempfile.mkdtemp(prefix="mercer-node-")
    done = subprocess.run(["npm", "install", "--ignore-scripts", "--prefix", home, "puppeteer-core", "axe-core"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode:
        tap.skip("npm cannot fetch puppeteer-core and axe-core")
    return os.path.join(home, "node_modules")


def package():
    """An interpreter with the package of this build; None: it cannot be built here."""
    if os.environ.get("MERCER_PYTHON"):
        return os.environ["MERCER_PYTHON"]
    if not os.environ.get("MERCER_ALL"):
        return None
    sys.path.insert(0, str(tap.ROOT / "python"))
    import run_tests
    made = run_tests.Tests(os.path.dirname(os.path.abspath(tap.MERCER)), tempfile.mkdtemp(prefix="mercer-python-"))
    try:
        made.wheel()
        made.install()
    except (OSError, run_tests.Failed) as fault:
        print("# no package for Python: " + str(fault).splitlines()[-1])
        return None
    return str(made.python)


def browse(address, *more):
    done = subprocess.run(["node", str(tap.ROOT / "tests" / "web" / "browser.js"), modules(), chromium(), tap.MERCER,
                           address, os.getcwd(), *more], capture_output=True, text=True, timeout=1500)
    for line in done.stdout.splitlines():
        if line.startswith("#"):
            print(line)
    bad = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
    assert done.returncode == 0 and not bad, "\n".join(bad) + done.stderr[-2000:]
    assert done.stdout.count("\nok - ") > 1, done.stdout


def test_the_page_works_in_chromium():
    """Without any driver: the page as it is after some seconds. Its first machine is certified."""
    with test_studio.studio() as s:
        done = subprocess.run([chromium(), *FLAGS, "--user-data-dir=" + os.path.join(os.getcwd(), "profile"),
                               "--virtual-time-budget=20000", "--dump-dom", s.address],
                              capture_output=True, text=True, timeout=100)
        status = re.search(r'id="status"[^>]*>([^<]*)<', done.stdout)
        assert status and re.search(r"% right · \d+ support vectors · certified: ", status[1]), (
            done.stdout[-500:] + done.stderr[-1000:])
        assert 'id="learner"><optgroup' in done.stdout.replace("\n", "")


def test_everything_in_a_browser():
    modules()
    python = package()
    if python:
        os.environ["MERCER_PYTHON"] = python
    with test_studio.studio() as s:
        browse(s.address)


def test_everything_without_a_server():
    modules()
    made = tap.mercer("studio", "-o", "studio.html", status=None)
    if made.returncode:
        tap.skip("built without -Dweb=enabled")
    browse("file://" + os.path.join(os.getcwd(), "studio.html"))


if __name__ == "__main__":
    tap.main(globals())
