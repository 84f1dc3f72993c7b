"""mercer report: what is on the page, the comparison of two models, and the page in a browser.

SPDX-License-Identifier: Apache-2.0
"""
import html.parser
import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile

import tap

BROWSER = shutil.which("chromium")
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr")

# Appended to a copy of the page: what the browser made of it.
MEASURE = """<script>
const box = e => { const r = e.getBoundingClientRect(); return [r.width, r.height]; };
document.title = JSON.stringify({wide: document.documentElement.scrollWidth, window: innerWidth,
 pictures: [...document.querySelectorAll('figure')].map(f => [f.id, ...box(f.querySelector('svg'))]),
 cells: [...document.querySelectorAll('td')].map(e => box(e)[1])});
</script>"""


def made():
    for name, seed in (("train.csv", 1), ("new.csv", 2)):
        tap.mercer("sample", "moons", "-n", 300, "--noise", 0.3, "--seed", seed, "-o", name)
    tap.mercer("fit", "svm", "train.csv", "-k", "rbf(gamma=2)", "--probability", "-o", "m.mercer", "--quiet")
    tap.mercer("fit", "svm", "train.csv", "-k", "linear", "-o", "line.mercer", "--quiet")


class Page(html.parser.HTMLParser):
    """Texts of the cells, ids, and whether anything comes from elsewhere."""

    def __init__(self, path):
        super().__init__()
        self.cells, self.ids, self.links, self.open = [], [], [], []
        self.feed(pathlib.Path(path).read_text())

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.ids += [of["id"]] if "id" in of else []
        self.links += [of[k] for k in ("src", "href") if k in of and not of[k].startswith(("data:", "#"))]
        if tag == "td":
            self.cells.append("")
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, text):
        if "td" in self.open:
            self.cells[-1] += text

    def value(self, name):
        return self.cells[self.cells.index(name) + 1]


def test_page():
    made()
    tap.mercer("report", "m.mercer", "new.csv", "-o", "r.html")
    page = Page("r.html")
    tap.check_equal(page.links, [])
    for kind in ("confusion", "roc", "pr", "calibration", "scores", "importance"):
        assert kind in page.ids, kind
    metrics = tap.mercer_json("predict", "m.mercer", "new.csv")["metrics"]
    for name in ("accuracy", "f1", "roc_auc", "average_precision", "brier", "log_loss", "mcc"):
        tap.check_equal(page.value(name), "%.5g" % metrics[name], name)
    own = {i["column"]: i for i in tap.mercer_json("explain", "m.mercer", "new.csv")["importance"]}
    for name in ("x1", "x2"):
        at = page.cells.index(name)
        tap.check_equal(page.cells[at + 2], "%.4g" % own[name]["mean"])
    # The hardest object is that with the least probability of its class.
    tap.mercer("predict", "m.mercer", "new.csv", "--proba", "-o", "p.csv", "--quiet")
    rows = [list(map(float, line.split(","))) for line in pathlib.Path("p.csv").read_text().splitlines()[1:]]
    targets = [line.split(",")[-1] for line in pathlib.Path("new.csv").read_text().splitlines()[1:]]
    loss = [1 - row[float(t) > 0] for row, t in zip(rows, targets)]
    at = len(page.cells) - 50
    tap.check_equal(page.cells[at], str(1 + max(range(300), key=loss.__getitem__)))
    tap.check_equal(page.cells[at + 3], "%.5g" % max(loss))


def test_names_are_no_markup():
    """Words of a file stay words."""
    pathlib.Path("t.csv").write_text("<b>n,y\n" + "".join(
        "%d,%s\n" % (i % 9, "<script>alert(1)</script>" if i % 9 > 4 else "a&b") for i in range(60)))
    tap.mercer("fit", "svm", "t.csv", "-k", "rbf(gamma=1)", "-o", "m.mercer", "--quiet")
    tap.mercer("report", "m.mercer", "t.csv", "-o", "r.html")
    text = pathlib.Path("r.html").read_text()
    assert "<script" not in text and "&lt;script&gt;" in text and "<b>n" not in text


def test_two_models():
    """McNemar's p by the binomial distribution; the interval holds the difference."""
    made()
    tap.mercer("report", "m.mercer", "line.mercer", "new.csv", "-o", "r.html")
    page = Page("r.html")
    said = []
    for model in ("m", "line"):
        tap.mercer("predict", model + ".mercer", "new.csv", "-o", "p.txt", "--quiet")
        said.append(list(map(float, pathlib.Path("p.txt").read_text().split())))
    y = [float(line.split(",")[-1]) for line in pathlib.Path("new.csv").read_text().splitlines()[1:]]
    first = sum(a == t != b for a, b, t in zip(*said, y))
    second = sum(b == t != a for a, b, t in zip(*said, y))
    tap.check_equal(page.value("only the first is right"), "%d objects" % first)
    tap.check_equal(page.value("only the second is right"), "%d objects" % second)
    n, few = first + second, min(first, second)
    p = min(1, 2 * sum(math.comb(n, k) for k in range(few + 1)) / 2 ** n)
    tap.check_near(float(page.value("McNemar's test").split()[2]), p, 1e-3)
    numbers = list(map(float, re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", page.value("accuracy, second less first"))))
    difference, low, high = numbers[0], numbers[2], numbers[3]
    tap.check_near(difference, (second - first) / 300, 1e-4)
    error = math.sqrt((first + second) / 300 - difference ** 2) / math.sqrt(300)
    assert abs(low - (difference - 1.96 * error)) < .4 * error, (low, difference, error)
    assert abs(high - (difference + 1.96 * error)) < .4 * error, (high, difference, error)


def test_numbers_and_refusals():
    tap.mercer("sample", "sinc", "-n", 80, "-o", "s.csv")
    tap.mercer("fit", "ridge", "s.csv", "-k", "rbf(gamma=1)", "-o", "s.mercer", "--quiet")
    tap.mercer("report", "s.mercer", "s.csv", "-o", "r.html", "--learning")
    page = Page("r.html")
    assert "residuals" in page.ids and "learning" in page.ids and "rmse" in page.cells
    tap.mercer("fit", "pca", "s.csv", "-k", "rbf(gamma=1)", "-o", "p.mercer", "--quiet")
    for call, why in ((("p.mercer", "s.csv"), "of classes or numbers"), (("s.mercer",), "DATA is missing")):
        said = tap.mercer("report", *call, "-o", "x.html", status=2).stderr
        assert why in said, said
    pathlib.Path("bare.csv").write_text("x\n1\n2\n")
    assert "targets" in tap.mercer("report", "s.mercer", "bare.csv", "--target", "none", "-o", "x.html", status=1).stderr


def browse(path, width):
    folder = tempfile.mkdtemp(prefix="profile")
    try:
        done = subprocess.run([BROWSER, *QUIET, "--user-data-dir=" + folder, "--window-size=%d,2000" % width,
                               "--dump-dom", pathlib.Path(path).resolve().as_uri()],
                              capture_output=True, text=True, timeout=100)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert "CONSOLE" not in done.stderr, done.stderr
    title = re.search(r"<title>(\{.*?\})</title>", done.stdout)
    assert title, done.stdout[:300] + done.stderr[-600:]
    return json.loads(title.group(1).replace("&quot;", '"'))


def test_in_a_browser():
    if not BROWSER:
        tap.skip("no chromium")
    made()
    tap.mercer("report", "m.mercer", "new.csv", "-o", "r.html")
    pathlib.Path("measured.html").write_text(
        pathlib.Path("r.html").read_text().replace("</body>", MEASURE + "</body>"))
    for width in (375, 1440):
        seen = browse("measured.html", width)
        tap.check_equal([name for name, *_ in seen["pictures"]], ["confusion", "roc", "pr", "calibration", "scores", "dependence1", "dependence2"])
        assert seen["wide"] <= seen["window"], "wider than the window: %r" % seen
        for name, wide, high in seen["pictures"]:
            assert wide >= min(width, 500) - 60 and high >= 100, (name, wide, high)
        assert max(seen["cells"]) < 120, "a cell is broken into many lines"


if __name__ == "__main__":
    tap.main(globals())
