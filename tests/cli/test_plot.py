"""mercer plot as a user calls it: files, the terminal, names that try to break out, faults.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import xml.etree.ElementTree
import zlib

import tap

KINDS = {"boundary", "surface", "band", "projection", "clusters", "gram", "spectrum", "roc", "pr",
         "calibration", "confusion", "residuals", "tuning", "path", "learning", "importance",
         "dependence", "logo", "data"}


def moons(*more):
    tap.mercer("sample", "moons", "-n", 80, "-o", "m.csv")
    tap.mercer("fit", "svm", "m.csv", "-k", "rbf(gamma=2)", "-C", 10, "-o", "m.mercer", *more)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_svg(path):
    """Well-formed by Python's parser, and by xmllint where that is installed."""
    root = xml.etree.ElementTree.parse(path).getroot()
    tap.check_equal(root.tag, "{http://www.w3.org/2000/svg}svg")
    if shutil.which("xmllint"):
        subprocess.run(["xmllint", "--noout", path], check=True)
    return root


def texts(root):
    return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]


def png_rows(data):
    """Width, height and the pixels of a PNG, whose checksums must hold."""
    tap.check_equal(data[:8], b"\x89PNG\r\n\x1a\n")
    at, packed, size = 8, b"", None
    while at < len(data):
        count, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + count]
        tap.check_equal(struct.unpack(">I", data[at + 8 + count:at + 12 + count])[0],
                        zlib.crc32(kind + body), "checksum")
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        at += 12 + count
    return size, zlib.decompress(packed)


def need_cairo():
    tap.mercer("sample", "moons", "-n", 20, "-o", "probe.csv")
    done = tap.mercer("plot", "probe.csv", "-o", "probe.png", status=None)
    if done.returncode and "libcairo" in done.stderr:
        tap.skip("no libcairo.so.2")


# ---- files ---------------------------------------------------------------------------------------


def test_every_ending_gives_its_format():
    moons()
    tap.mercer("plot", "m.mercer", "m.csv", "-o", "m.svg")
    words = texts(check_svg("m.svg"))
    for word in ("Decision boundary", "x1", "x2", "support vectors"):
        assert word in words, words
    tap.mercer("plot", "m.mercer", "m.csv", "-o", "m.html")
    page = read("m.html").decode()
    assert page.startswith("<!doctype html>") and "<svg" in page and "http://" not in page.replace(
        "http://www.w3.org/2000/svg", ""), "self-contained"
    tap.mercer("plot", "m.mercer", "m.csv", "-o", "m.json")
    assert b'"kind":"boundary"' in read("m.json").replace(b" ", b"")
    tap.mercer("plot", "m.mercer", "m.csv", "-o", "m.txt")
    assert "Decision boundary" in read("m.txt").decode() and "\033" not in read("m.txt").decode()


def test_png_and_pdf_open():
    moons()
    need_cairo()
    for width in (400, 1600):
        tap.mercer("plot", "m.mercer", "m.csv", "-o", "m.png", "--width", width, "--theme", "dark")
        (wide, high), pixels = png_rows(read("m.png"))
        tap.check_equal(wide, width)
        assert len(set(pixels)) > 20, "something is drawn"
    tap.mercer("plot", "m.mercer", "m.csv", "-o", "m.pdf")
    assert read("m.pdf").startswith(b"%PDF-") and b"%%EOF" in read("m.pdf")[-32:]
    if not shutil.which("pdftoppm"):
        tap.skip("no pdftoppm: the PDF was not opened")
    subprocess.run(["pdftoppm", "-r", "50", "-png", "m.pdf", "page"], check=True)
    (wide, high), pixels = png_rows(read("page-1.png"))
    assert wide == 375 and len(set(pixels)) > 20
    words = subprocess.run(["pdftotext", "m.pdf", "-"], capture_output=True, text=True).stdout
    assert "Decision boundary" in words, "text stays text"


def test_themes_and_sizes():
    moons()
    for theme, dark, light in (("light", False, True), ("dark", True, False), ("auto", True, True)):
        tap.mercer("plot", "m.mercer", "m.csv", "-o", "m.svg", "--theme", theme, "--width", 500)
        style = read("m.svg").decode().split("</style>")[0]
        tap.check_equal("#14171b" in style, dark, theme + " has dark paper")
        tap.check_equal("#ffffff" in style, light, theme + " has light paper")
        tap.check_equal("prefers-color-scheme" in style, theme == "auto")
        assert 'width="500"' in style


def test_the_same_call_gives_the_same_file():
    moons()
    for threads in (1, 2):
        tap.mercer("plot", "m.mercer", "m.csv", "-o", "%d.svg" % threads, "--threads", threads)
    tap.check_equal(read("1.svg"), read("2.svg"))


def test_animation_moves_and_has_a_slider():
    moons()
    tap.mercer("plot", "m.mercer", "m.csv", "--animate", "C=0.1:100:log4", "-o", "a.svg")
    root = check_svg("a.svg")
    frames = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "frame"]
    tap.check_equal(len(frames), 4)
    tap.check_equal([f.get("visibility") for f in frames].count("visible"), 1)
    for frame in frames:
        times = frame.find("{http://www.w3.org/2000/svg}animate")
        tap.check_equal(len(times.get("values").split(";")), len(times.get("keyTimes").split(";")))
    assert "C = 10" in texts(root)
    tap.mercer("plot", "m.mercer", "m.csv", "--animate", "C=0.1:100:log4", "-o", "a.html")
    page = read("a.html").decode()
    assert 'type="range"' in page and 'max="3"' in page and "<animate" not in page


# ---- hostile names -------------------------------------------------------------------------------

HOSTILE = ['<script>alert(1)</script>', 'a&b"c\'d', 'x\u202e\u0001y', '</svg><b>', ']]>', '%s%n', "Größe µm"]


def test_hostile_names_are_escaped():
    with open("h.csv", "w", newline="") as file:
        file.write('"%s","%s",class\n' % (HOSTILE[0].replace('"', '""'), HOSTILE[1].replace('"', '""')))
        for i in range(40):
            label = HOSTILE[3] if i % 2 else HOSTILE[4]
            file.write("%g,%g,%s\n" % (i % 2 + i / 50, (i * 7 % 10) / 10, label))
    tap.mercer("fit", "svm", "h.csv", "-k", "rbf(gamma=1)", "-o", "h.mercer")
    for call in (["h.mercer", "h.csv"], ["h.csv"], ["h.mercer", "h.csv", "--kind", "confusion"],
                 ["h.mercer", "h.csv", "--kind", "roc"],
                 ["h.mercer", "h.csv", "--title", "".join(HOSTILE)]):
        tap.mercer("plot", *call, "-o", "h.svg")
        root = check_svg("h.svg")
        assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
        tap.mercer("plot", *call, "-o", "h.html")
        page = read("h.html").decode()
        assert "<script>alert" not in page and "<b>" not in page
        tap.check_equal(page.count("</script>"), 1)
        drawing = tap.mercer("plot", *call).stdout
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", drawing), "no control characters"
    tap.mercer("plot", "h.csv", "-o", "h.svg")
    for name in HOSTILE[0], HOSTILE[1], HOSTILE[3]:
        assert name in texts(check_svg("h.svg")), "the name is shown as it is"


def sparse(path, *columns):
    with open(path, "w") as file:
        for i in range(60):
            entries = " ".join("%d:%g" % (c, i % 2 + (i * c % 17) / 20) for c in columns)
            file.write("%d %s\n" % (i % 2, entries))


def test_sparse_files_may_have_more_and_fewer_columns_than_the_model():
    sparse("n.svm", 1, 2, 3)
    tap.mercer("fit", "svm", "n.svm", "-k", "rbf(gamma=0.3)", "-o", "n.mercer")
    for columns in (1, 2, 3, 5000), (1,):
        sparse("other.svm", *columns)
        for kind in ["boundary", "--x", "1", "--y", "2"], ["importance"], ["roc"]:
            tap.mercer("plot", "n.mercer", "other.svm", "--kind", *kind, "-o", "n.svg")
            check_svg("n.svg")


def test_numbers_of_any_size_are_drawn():
    with open("big.csv", "w") as file:
        file.write("a,b,y\n" + "".join("%r,%r,%d\n" % ((-1) ** i * 1.7e308, 10.0 ** (i % 601 - 300), i % 2)
                                       for i in range(700)))
    for more in [], ["--width", "60"]:
        assert tap.mercer("plot", "big.csv", *more).stdout.count("\n") > 10
    tap.mercer("plot", "big.csv", "-o", "big.svg")
    check_svg("big.svg")


def test_data_come_through_a_pipe_whole():
    tap.mercer("sample", "moons", "-n", 300, "-o", "moons.csv")
    text = read("moons.csv")
    os.mkfifo("pipe")
    with subprocess.Popen([tap.MERCER, "plot", "pipe", "--json"], stdout=subprocess.PIPE) as run:
        with open("pipe", "wb") as file:
            file.write(text)
        figure = json.loads(run.stdout.read())
    tap.check_equal(run.returncode, 0)
    assert "%d objects" % (text.count(b"\n") - 1) in json.dumps(figure), figure.get("subtitle")


def test_latin_1_class_names_do_not_break_anything():
    with open("l.csv", "wb") as file:
        file.write(b"a,b,class\n" + b"".join(
            b"%d,%d,%s\n" % (i, i * i % 7, b"gr\xfcn" if i % 2 else b"rot\xff") for i in range(30)))
    tap.mercer("plot", "l.csv", "-o", "l.svg")
    assert "gr?n" in texts(check_svg("l.svg"))
    tap.mercer("plot", "l.csv", "-o", "l.html")
    read("l.html").decode()  # is UTF-8
    tap.mercer("plot", "l.csv", "--json")
    tap.mercer("plot", "l.csv")
    need_cairo()
    tap.mercer("plot", "l.csv", "-o", "l.png")
    png_rows(read("l.png"))


# ---- the terminal --------------------------------------------------------------------------------


def on_terminal(args, answer=b"", env=None):
    """Runs on a terminal of 80 x 24 that answers questions with `answer`; what it printed."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, **(env or {}))
        os.execv(tap.MERCER, [tap.MERCER] + args)
    seen = b""
    while True:
        ready, _, _ = select.select([fd], [], [], 30)
        if not ready:
            break
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        if not got:
            break
        seen += got
        if answer and b"\033[c" in seen:
            os.write(fd, answer)
            answer = b""
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    tap.check_equal(status, 0, "exit status")
    return seen


def test_terminals_get_what_they_can():
    moons()
    plain = on_terminal(["plot", "m.mercer", "m.csv"], b"\033[?62;22c")
    assert b"\033[38;2;" in plain and "⠁".encode()[:2] in plain and b"\033P" not in plain
    nothing = on_terminal(["plot", "m.mercer", "m.csv"], b"\033[?1c", {"NO_COLOR": "1"})
    assert b"\033[38" not in nothing
    need_cairo()
    sixel = on_terminal(["plot", "m.mercer", "m.csv"], b"\033[?62;4;22c")
    assert b"\033Pq" in sixel and sixel.rstrip().endswith(b"\033\\")
    kitty = on_terminal(["plot", "m.mercer", "m.csv"], b"\033_Gi=31;OK\033\\\033[?62c")
    assert b"\033_Ga=T,f=100," in kitty


def test_without_a_terminal_it_is_plain_text():
    moons()
    for call in (["m.mercer", "m.csv"], ["m.csv"], ["m.mercer", "m.csv", "--kind", "roc"],
                 ["m.csv", "-k", "rbf(gamma=1)"]):
        out = tap.mercer("plot", *call, "--width", 60, "--height", 20).stdout
        assert "\033" not in out and 8 < len(out.splitlines()) <= 20
        assert max(map(len, out.splitlines())) <= 60


def test_a_small_terminal_gets_the_whole_picture():
    tap.mercer("sample", "friedman", "-n", 60, "-o", "f.csv")
    out = tap.mercer("plot", "f.csv", "--width", 79, "--height", 12).stdout
    tap.check_equal(out.count("└"), 15, "panels of five columns")


def test_classes_without_colours_have_characters():
    tap.mercer("sample", "moons", "-n", 60, "-o", "m.csv")
    tap.mercer("fit", "svm", "m.csv", "-k", "linear", "-o", "m.mercer")
    out = tap.mercer("plot", "m.mercer", "m.csv").stdout
    assert re.search("boundary.* o -1 +x 1", out), out
    assert "⊗" in out and "◎" in out, "support vectors of both classes"


def test_weights_name_the_classes_they_speak_for():
    with open("t.csv", "w") as file:
        file.write("class,text\n" + "yes,all of it\nno,none of it\n" * 10)
    tap.mercer("fit", "svm", "t.csv", "-k", "spectrum(p=3)", "-o", "t.mercer")
    out = tap.mercer("plot", "t.mercer", "--kind", "importance", "--height", 12).stdout
    assert "for class yes" in out and "for class no" in out
    assert len(re.findall("^[^ ]{3}┤", out, re.M)) >= 8, "a line for each bar: " + out
    assert "ll␣┤" in out


def test_fisher_is_a_projection():
    tap.mercer("sample", "moons", "-n", 60, "-o", "m.csv")
    tap.mercer("fit", "fisher", "m.csv", "-k", "rbf(gamma=1)", "-o", "f.mercer")
    assert "Projection by fisher" in tap.mercer("plot", "f.mercer", "m.csv").stdout
    assert "boundary" in tap.mercer("plot", "f.mercer", "m.csv", "--kind", "boundary").stdout


def test_fit_cv_and_tune_draw_curves():
    tap.mercer("sample", "moons", "-n", 60, "-o", "m.csv")
    for verb in ("fit", "cv"):
        out = tap.mercer(verb, "svm", "m.csv", "-k", "rbf(gamma=2)", "--plot").stdout
        assert "Learning curve" in out and "held-out objects" in out and "└" in out
    out = tap.mercer("tune", "svm", "m.csv", "-k", "rbf(gamma=0.1:10:log3)", "-C", "1:100:log3",
                     "--plot").stdout
    assert "Search: best accuracy" in out and "chosen" in out
    for verb in ("fit", "cv", "tune"):
        fault = tap.mercer(verb, "svm", "m.csv", "--plot", "--json", status=2).stderr
        assert "--plot" in fault and fault.count("\n") == 1


def test_a_learning_curve_needs_something_to_learn():
    tap.mercer("sample", "moons", "-n", 40, "-o", "m.csv")
    fault = tap.mercer("fit", "pca", "m.csv", "-k", "rbf(gamma=1)", "--plot", "-o", "p.mercer",
                       status=2).stderr
    assert "pca" in fault and fault.count("\n") == 1
    assert not os.path.exists("p.mercer"), "refused before the work"


# ---- faults --------------------------------------------------------------------------------------


def refused(words, *args, status=2):
    done = tap.mercer("plot", *args, status=status)
    tap.check_equal(done.stderr.count("\n"), 1, "lines on standard error")
    assert words in done.stderr, done.stderr
    assert not done.stdout


def test_faults_are_one_line_that_says_what_is_possible():
    moons()
    tap.mercer("sample", "sinc", "-n", 40, "-o", "s.csv")
    tap.mercer("fit", "svr", "s.csv", "-k", "rbf(gamma=1)", "-o", "s.mercer")
    tap.mercer("sample", "line", "-n", 40, "-o", "l.csv")
    tap.mercer("fit", "svm", "l.csv", "-k", "rbf(gamma=1)", "-o", "l.mercer")
    refused("DATA is missing")
    refused("possible here: surface, gram", "s.mercer", "s.csv", "--kind", "roc")
    refused("needs data in addition to the model", "m.mercer", "--kind", "roc")
    refused("did you mean roc? there are", "m.mercer", "m.csv", "--kind", "rco")
    refused("two columns", "l.mercer", "l.csv", "--kind", "boundary")
    refused("did you mean confusion?", "m.mercer", "m.csv", "--kind", "confusio")
    refused("probabilities", "m.mercer", "m.csv", "--kind", "calibration")
    refused("tune", "m.mercer", "--kind", "tuning")
    refused("needs a kernel", "m.csv", "--kind", "gram")
    refused("needs a model of a classifier", "m.csv", "--kind", "boundary")
    refused("no column \"height\"", "m.mercer", "m.csv", "--x", "height")
    refused("the extension selects the format", "m.mercer", "-o", "m.gif")
    refused("m.mercer is a model: name it first", "m.csv", "m.mercer")
    refused("160 pixels at least", "m.csv", "-o", "m.svg", "--width", 159)
    refused("100 pixels at least", "m.csv", "-o", "m.svg", "--height", 99)
    refused("use -o", "m.mercer", "m.csv", "--animate", "gamma=1:2:3")
    refused("neither an option", "m.mercer", "m.csv", "--animate", "colour=1:3", "-o", "a.svg")
    refused("cannot be animated", "m.mercer", "m.csv", "--kind", "learning", "--animate", "gamma=1:2:3",
            "-o", "a.svg")
    refused("has its own kernel", "m.mercer", "m.csv", "-k", "linear")
    with open("n.csv", "w") as file:
        file.write("x1,x2\n" + "".join("%g,%g\n" % (i, -i) for i in range(10)))
    refused("needs targets", "m.mercer", "n.csv", "--kind", "roc", status=1)
    refused("cannot", "m.mercer", "m.csv", "-o", "no/such/folder/m.svg", status=1)


def test_help_names_every_kind():
    text = tap.mercer("plot", "--help").stdout
    for kind in KINDS:
        assert re.search(r"\b%s\b" % kind, text), kind


def test_a_missing_cairo_is_said():
    moons()
    with open("libcairo.so.2", "w"):
        pass
    done = tap.mercer("plot", "m.csv", "-o", "m.png", env={"LD_LIBRARY_PATH": os.getcwd()}, status=1)
    assert "install libcairo2" in done.stderr and done.stderr.count("\n") == 1
    assert not os.path.exists("m.png")


if __name__ == "__main__":
    tap.main(globals())
