"""Files that mean harm: a small file takes neither memory nor time out of proportion, reaches no other
file, and what is refused says why. The files of ../shared/hostile are tried where they are.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import ctypes.util
import gzip
import html.parser
import json
import os
import random
import re
import resource
import sqlite3
import struct
import subprocess
import time
import zlib

import forge
import tap

HOSTILE = tap.DATA.resolve().parent / "hostile"
SMALL = 64 << 20


def run(*args, status=(1,), env=None):
    """Runs the program; what it printed, and how long it took."""
    call = [tap.MERCER] + [str(a) for a in args]
    began = time.monotonic()
    child = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="replace", env=dict(os.environ, **(env or {})))
    out, err = child.communicate(timeout=600)
    took = time.monotonic() - began
    assert child.returncode in status, (call, child.returncode, out[-500:], err[-500:])
    if child.returncode:
        assert err.startswith("mercer: ") and err.count("\n") >= 1, err
    return out, err, took


def peak(*args, status=(1,), env=None):
    """As run, but with seconds of the processor; also the peak of the resident memory in bytes.
    Both are measured in a process of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            out, err, _ = run(*args, status=status, env=env)
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            took, used = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
            os.write(writer, json.dumps([out[-2000:], err[-2000:], took, used]).encode())
            os._exit(0)
        except BaseException as fault:
            os.write(writer, json.dumps(str(fault)).encode())
            os._exit(1)
    os.close(writer)
    text = b""
    while True:
        piece = os.read(reader, 65536)
        if not piece:
            break
        text += piece
    os.close(reader)
    _, state = os.waitpid(pid, 0)
    value = json.loads(text)
    assert state == 0, value
    return value


def sanitized():
    with open(tap.MERCER, "rb") as f:
        return b"__asan_init" in f.read()


def check_small(*args, status=(1,), seconds=1.0):
    """Refused or done within 64 MB and a second."""
    out, err, took, used = peak(*args, status=status)
    if not sanitized():
        assert used <= SMALL, "%.0f MB: %s" % (used / 1e6, args)
        assert took <= seconds, "%.1f s: %s" % (took, args)
    return out, err


def make_model(kernel="linear", learner="svm"):
    with open("d.csv", "w") as f:
        f.write("a,b,y\n" + "".join("%d,%d,%s\n" % (i, i * i % 7, "pq"[i % 2]) for i in range(12)))
    tap.mercer("fit", learner, "d.csv", "-k", kernel, "-o", "m.mercer", "--quiet")
    return "m.mercer"


# ---- a model reaches no other file ---------------------------------------------------------------


def test_kernel_of_a_model_opens_no_file():
    """Also where quotes stand inside a value that is not quoted, so that the text alone misleads."""
    make_model()
    with open("q.csv", "w") as f:
        f.write("1,0\n0,1\n")
    for kernel in ('mahalanobis(file=q.csv)', 'mahalanobis(file = "q.csv")',
                   'conformal(f=a"b, mahalanobis(file="q.csv"))',
                   'linear + 2*mahalanobis(x, file=q.csv)'):
        forge.replace("m.mercer", "e.mercer", KERN=forge.text(kernel))
        for verb in (["info"], ["predict"]):
            words = verb + ["e.mercer"] + (["d.csv"] if verb == ["predict"] else [])
            call = ["strace", "-f", "-e", "trace=open,openat", tap.MERCER] + words
            done = tap.mercer(*words, status=1)
            assert "names a file" in done.stderr or "does not know" in done.stderr, done.stderr
            try:
                traced = subprocess.run(call, capture_output=True, text=True)
            except FileNotFoundError:
                continue  # no strace here: the message is what there is
            assert "q.csv" not in traced.stderr, traced.stderr


def test_kernel_of_the_user_opens_its_file():
    make_model()
    with open("q.csv", "w") as f:
        f.write("1,0\n0,1\n")
    tap.mercer("fit", "svm", "d.csv", "-k", "mahalanobis(file=q.csv)", "-o", "n.mercer", "--quiet")
    os.remove("q.csv")
    assert "q.csv" not in tap.mercer("info", "n.mercer").stdout  # a model holds values
    tap.mercer("predict", "n.mercer", "d.csv")


# ---- memory ------------------------------------------------------------------------------------


def test_huge_index():
    with open("big.svm", "w") as f:
        f.write("1 1:1 268435456:1\n-1 1:2\n")
    for more in (["svm", "-k", "linear"], ["svm", "-k", "rbf(gamma=1)", "--scale", "standard"],
                 ["ridge", "-k", "linear"]):
        _, err = check_small("fit", more[0], "big.svm", *more[1:])
        assert "268435456" in err and "2.1 GB" in err and "--max-data" in err, err


def test_huge_index_by_kernel_values():
    """Who allows it gets it, and kernel values need no dense vectors."""
    with open("big.svm", "w") as f:
        f.write("1 1:1 268435456:1\n-1 1:2\n")
    out, _, _, used = peak("fit", "svm", "big.svm", "-k", "rbf(gamma=1)", "--max-data", "8G", "-o",
                           "m.mercer", status=(0,))
    assert sanitized() or used < SMALL, used
    check_small("predict", "m.mercer", "big.svm", "--max-data", "8G", status=(0,))


def test_model_of_huge_vectors():
    with open("s.svm", "w") as f:
        f.write("1 1:1 3:1\n-1 1:2\n1 2:1\n-1 3:3\n")
    tap.mercer("fit", "svm", "s.svm", "-k", "rbf(gamma=1)", "-o", "m.mercer", "--quiet")
    rows = [[(0, 1.0), (2, 1.0)], [(0, 2.0)], [(1, 1.0)], [(2, 3.0), (2147483645, 1.0)]]
    forge.replace("m.mercer", "big.mercer", OBJS=forge.sparse_objects(2147483646, rows))
    check_small("predict", "big.mercer", "s.svm", status=(0, 1))
    check_small("info", "big.mercer", status=(0, 1))
    # Weights, and the vectors that exported programs read, would be dense.
    rows[3][1] = (99999999, 1.0)
    for kernel in ("rbf(gamma=1)", "linear", "cosine"):
        forge.replace("m.mercer", "wide.mercer", KERN=forge.text(kernel), OBJS=forge.sparse_objects(100000000, rows))
        calls = [["export", "wide.mercer", "--to", to, "-o", "w." + to] for to in ("c", "onnx")]
        for call in calls + ([["explain", "wide.mercer"]] if kernel != "rbf(gamma=1)" else []):
            _, err = check_small(*call)
            assert "out of all proportion" in err and "--max-data" in err, err
        assert not os.path.exists("w.c") and not os.path.exists("w.onnx")


def test_graph_of_nodes_alone():
    with open("g.jsonl", "w") as f:
        for i in range(8):
            f.write('{"y": %d, "graph": {"nodes": %d, "edges": [[0, 1]]}}\n' % (i % 2, 2 + i))
    tap.mercer("fit", "svm", "g.jsonl", "-k", "wl(h=1)", "-o", "m.mercer", "--quiet")
    support = tap.mercer_json("info", "m.mercer")["support"]
    forge.replace("m.mercer", "bomb.mercer", OBJS=forge.bare_graphs(100000000, support))
    _, err = check_small("info", "bomb.mercer")
    # The second where so much is more than half of the free memory.
    assert "out of all proportion" in err or "the limit for data is" in err, err
    assert "--max-data" in err, err


def bomb(name, head, piece, times, tail=b""):
    with gzip.open(name, "wb", compresslevel=9) as f:
        f.write(head)
        for _ in range(times):
            f.write(piece)
        f.write(tail)


def test_gzip_bombs():
    zeros = b"\0" * (1 << 20)
    make_model()
    bomb("model.mercer", b"MERCER\r\n\1\0\0\0INFO", zeros, 300)
    _, err = check_small("predict", "model.mercer", "d.csv")
    assert "unpacks to more than 250 times its size" in err, err
    bomb("data.csv.gz", b"a,y\n", b"0,0\n" * (1 << 18), 200)
    check_small("info", "data.csv.gz")
    check_small("predict", "m.mercer", "data.csv.gz")
    out, err = check_small("info", "data.csv.gz", "--max-data", "40M")
    assert "limit for data is" in err, err


def test_limit_for_data():
    with open("d.csv", "w") as f:
        f.write("a,b,c,y\n" + "1.5,2.5,3.5,1\n2,3,4,0\n" * 100000)
    _, err = check_small("fit", "ridge", "d.csv", "-k", "linear", "--max-data", "4M", seconds=5)
    assert "limit for data is 4.1 MB" in err, err
    tap.mercer("fit", "ridge", "d.csv", "-k", "linear", "--max-data", "100M", "--quiet")


def test_limits_fit_the_data():
    """What the limits allow by themselves is at least twice of what any file of the data sets takes."""
    if not tap.DATA.is_dir():
        tap.skip("no data sets in " + str(tap.DATA))
    read, most, program = 0, 0, peak("version", status=(0,))[3]
    for folder, _, files in os.walk(tap.DATA):
        for path in (os.path.join(folder, name) for name in files):
            out, err, _, used = peak("info", path, "--threads", "1", status=(0, 1))
            assert "limit" not in err and "proportion" not in err, err
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
                allowed = (32 << 20) + 64 * sum(len(piece) for piece in iter(lambda: f.read(1 << 20), b""))
            read += bool(out)
            if not sanitized():
                most = max(most, (used - program) / allowed)
                assert used - program <= allowed / 2, (path, used, allowed)
    print("# %d files of data, which take %.0f%% of what is allowed at most" % (read, 100 * most), flush=True)
    assert read > 50, read


# ---- databases ---------------------------------------------------------------------------------


def database(name, *statements):
    """A small SQLite database; refuses to be one where there is no library for it."""
    if not ctypes.util.find_library("sqlite3"):
        tap.skip("no libsqlite3")
    if os.path.exists(name):
        os.remove(name)
    db = sqlite3.connect(name)
    db.executescript("PRAGMA page_size = 512; CREATE TABLE t(a INTEGER, b REAL, y TEXT);"
                     "INSERT INTO t VALUES (1, 0.5, 'p'), (2, 1.5, 'q'), (3, 2.5, 'p'), (4, 0, 'q');")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return name


COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "


def test_views_without_end():
    """Rows, work and values that a view of a few bytes makes of nothing."""
    laughs = ["CREATE VIEW v0 AS SELECT a, y FROM t"]
    laughs += ["CREATE VIEW v%d AS SELECT * FROM v%d UNION ALL SELECT * FROM v%d" % (i, i - 1, i - 1)
               for i in range(1, 41)]
    wide = ["CREATE TABLE w(%s, y)" % ", ".join("c%d" % i for i in range(200))]
    wide += ["CREATE VIEW v0 AS SELECT * FROM w"] + laughs[1:]
    joins = ["CREATE VIEW v AS SELECT t1.a, t8.y FROM " + ", ".join("t t%d" % i for i in range(1, 20))]
    for what, statements, more, message in (
            ("rows", ["CREATE VIEW v AS " + COUNT + "SELECT x, x AS y FROM c"], [], "more than 250 times its size"),
            ("joins", joins, [], "more than 250 times its size"),
            ("work", ["CREATE VIEW v AS " + COUNT + "SELECT x, x AS y FROM c WHERE x < 0"], ["--max-work", "0.2"],
             "which is the limit for work"),
            ("sorted", ["CREATE VIEW v AS " + COUNT + "SELECT x, x AS y FROM c ORDER BY -x"], ["--max-work", "0.2"],
             "which is the limit for work"),
            ("blob", ["CREATE VIEW v AS SELECT hex(zeroblob(400000000)) AS a, y FROM t"], [], "too big"),
            ("text", ["CREATE VIEW v AS SELECT printf('%.900000000c', 'x') AS a, y FROM t"], [], "not authorized"),
            ("group", ["CREATE VIEW v AS SELECT group_concat(x) AS a, 1 AS y FROM (" + COUNT + "SELECT x FROM c)"],
             ["--max-work", "0.2"], "which is the limit for work"),
            ("views", laughs, [], ""), ("wide", wide, [], "SQLite needs more than")):
        file = database(what + ".sqlite", *statements)
        view = "v40" if what in ("views", "wide") else "v"
        _, err = check_small("info", "%s:%s" % (file, view), *more, seconds=3)
        assert message in err, (what, err)
        check_small("fit", "knn", "%s:%s" % (file, view), "-k", "linear", *more, seconds=3)


def test_forged_databases():
    """Any byte changed, cut anywhere, a cache without limit: read or refused."""
    file = database("d.sqlite", "CREATE VIEW v AS SELECT a, y FROM t")
    with open(file, "rb") as f:
        good = f.read()
    draw, runs = random.Random(7), 0
    cache = good[:48] + b"\x7f\xff\xff\xff" + good[52:]
    forged = [cache] + [good[:n] for n in (16, 20, 100, 511, 512, 700, len(good) - 1)]
    for _ in range(400 if os.environ.get("MERCER_ALL") else 40):
        bytes_ = bytearray(good)
        for _ in range(draw.randrange(1, 5)):
            bytes_[draw.randrange(16, len(bytes_))] = draw.randrange(256)
        forged.append(bytes(bytes_))
    for bytes_ in forged:
        with open("forged.sqlite", "wb") as f:
            f.write(bytes_)
        for what in ("t", "v"):
            check_small("info", "forged.sqlite:" + what, status=(0, 1), seconds=3)
            runs += 1
    tap.check_equal(sorted(f for f in os.listdir(".") if f.startswith("forged")), ["forged.sqlite"])
    print("# %d runs on forged databases" % runs, flush=True)


# ---- caches --------------------------------------------------------------------------------------

ENDING = "<16s12q"  # magic; size, time, checksum of the text, key; rows, cols, kind, weights, names; sum
ROWS, COLS, NAMES, NAME_BYTES = 5, 6, 9, 10  # among the numbers of it
CACHE = "t.csv.mercer-cache"
CACHED = ["fit", "logistic", "t.csv", "-k", "rbf(gamma=1)", "--approx", "falkon", "--rank", "5", "--memory", "1M",
          "--json", "--time-limit", "20"]


def take_cache(whole):
    """(values, classes, names, the numbers at the end) of a cache of two classes without weights."""
    size = struct.calcsize(ENDING)
    _, *numbers = struct.unpack(ENDING, whole[-size:])
    at = 16 + 8 * numbers[ROWS] * numbers[COLS]
    codes = at + 4 * numbers[ROWS]
    return whole[16:at], whole[at:codes], whole[codes:-size], numbers


def put_cache(values, codes, names, numbers):
    """The same put together again, with the checksum that it needs."""
    end = struct.pack(ENDING, b"mercer-cache 1\n\0", *numbers)[:-8]
    total = zlib.crc32(end, zlib.crc32(names, zlib.crc32(codes)))
    return b"mercer-cache 1\n\0" + values + codes + names + end + struct.pack("<q", total)


def write_cached():
    with open("t.csv", "w") as f:
        f.write("a,b,class\n")
        f.writelines("%r,%r,%s\n" % (i % 97 / 97, i % 31 / 31, "odd" if i % 7 < 3 else "even") for i in range(12000))
    out = json.loads(run(*CACHED, status=(0,))[0])
    with open(CACHE, "rb") as f:
        return out["objective"], f.read()


def test_forged_caches():
    """A cache that another has put beside a text: it is that of the text, or it is made again or refused."""
    objective, good = write_cached()
    values, codes, names, numbers = take_cache(good)
    assert put_cache(values, codes, names, numbers) == good and names == b"odd\0even\0", names

    def changed(at, value):
        return numbers[:at] + [value] + numbers[at + 1:]

    other = changed(ROWS, numbers[ROWS] // 2)
    other[COLS] *= 2
    empty = changed(ROWS, 0)
    empty[COLS] = 1 << 60
    made_again = [  # which are not that of the text
        put_cache(values, codes[:len(codes) // 2], names, other),
        put_cache(b"", b"", names, empty),
        put_cache(values[8 * numbers[COLS]:], codes, names, changed(ROWS, numbers[ROWS] - 1)),
        b"x" + good[1:], b"\x1f\x8b" + good[2:], good[:-1], good[100:],
    ]
    for bytes_ in made_again:
        with open(CACHE, "wb") as f:
            f.write(bytes_)
        out, _ = check_small(*CACHED, status=(0,), seconds=10)
        tap.check_equal(json.loads(out)["objective"], objective)
        with open(CACHE, "rb") as f:
            tap.check_equal(f.read() == good, True, "made again")
    nan = struct.pack("<d", float("nan"))
    for bytes_, message in [
            (put_cache(values[:-8] + nan, codes, names, numbers), "row 12000, column 2: the value is not finite"),
            (put_cache(values, codes[:-4] + b"\xff\xff\xff\xff", names, numbers), "damaged: remove it"),
            (put_cache(values, codes[:-4] + b"\2\0\0\0", names, numbers), "damaged: remove it"),
            (put_cache(values, codes, names, changed(NAMES, 3)), "damaged: remove it"),
            (put_cache(values, codes, b"odd\0evenx", changed(NAMES, 9)), "damaged: remove it"),
            (put_cache(values, codes, b"", [0 if i in (NAMES, NAME_BYTES) else n for i, n in enumerate(numbers)]),
             "damaged: remove it")]:
        with open(CACHE, "wb") as f:
            f.write(bytes_)
        _, err = check_small(*CACHED, seconds=10)
        assert message in err, err
    draw, runs = random.Random(3), 0
    for _ in range(200 if os.environ.get("MERCER_ALL") else 12):
        forged = numbers[:]
        for at in draw.sample(range(12), draw.randrange(1, 3)):
            forged[at] = draw.choice([-1, 0, 1, 2, forged[at] + 1, 1 << 31, 1 << 62, -1 << 63, draw.getrandbits(62)])
        with open(CACHE, "wb") as f:
            f.write(put_cache(values, codes, names, forged))
        check_small(*CACHED, status=(0, 1), seconds=10)
        runs += 1
    print("# %d runs on forged caches" % runs, flush=True)


def test_a_cache_is_no_link():
    """The user has not named it: no link is followed, and no pipe is waited for."""
    write_cached()
    with open("other", "w") as f:
        f.write("precious")
    for make in (lambda: os.symlink("other", CACHE), lambda: os.symlink("nowhere", CACHE), lambda: os.mkfifo(CACHE)):
        os.remove(CACHE)
        make()
        _, err = check_small(*CACHED, seconds=5)
        assert "this is not a plain file" in err and "--cache-dir" in err, err
    with open("other") as f:
        tap.check_equal(f.read(), "precious")
    assert not os.path.exists("nowhere")


# ---- work --------------------------------------------------------------------------------------


def strings(name, count, length):
    draw = random.Random(1)
    with open(name, "w") as f:
        for i in range(count):
            f.write("%d\t%s\n" % (i % 2, "".join(draw.choice("ACGT") for _ in range(length))))
    return name


def test_kernels_estimate_their_work():
    dna, long = strings("dna.txt", 40, 600), strings("long.txt", 4, 1000000)
    with open("star.jsonl", "w") as f:
        for i in range(2):
            f.write(json.dumps({"y": i, "graph": {
                "nodes": ["CO"[v % 2] for v in range(10000)],
                "edges": [[0, v] for v in range(1, 10000)]}}) + "\n")
    for file, kernel, more in ((dna, "gkm(l=20,k=10,d=20)", ["--max-work", "60"]),
                               (dna, "mismatch(k=20,m=8)", ["--max-work", "60"]),
                               (long, "ssk(p=5)", []),
                               ("star.jsonl", "graphlet(p=5,connected=yes)", [])):
        _, err = check_small("gram", file, "-k", kernel, "-o", "g.npy", *more)
        assert "this would take about" in err and "(--max-work SECONDS)" in err, err
    tap.mercer("gram", dna, "-k", "gkm", "-o", "g.npy", "--quiet")  # the usual one is no harm
    _, err = check_small("gram", long, "-k", "ssk(p=5)", "-o", "g.npy", "--max-work", "1e9",
                         "--memory", "64M")
    assert "needs 1.6 GB" in err or "needs" in err and "memory budget" in err, err
    _, err = check_small("gram", strings("many.txt", 100, 1500), "-k", "blended(p=1000)", "-o",
                         "g.npy", "--memory", "16M", seconds=3)
    assert "blended needs" in err, err


def test_a_model_is_given_less_work():
    """20 seconds by the estimate, where training may begin an hour of it."""
    with open("s.txt", "w") as f:
        f.write("1\tACGTACGTACGTACGTACGTACGT\n-1\tTTTTTTTTTTTTTTTTTTTTTTTT\n")
    tap.mercer("fit", "svm", "s.txt", "-k", "mismatch(k=20,m=3)", "-o", "m.mercer", "--quiet")
    forge.replace("m.mercer", "n.mercer", KERN=forge.text("mismatch(k=20,m=8)"))
    file = strings("dna.txt", 100, 200)
    _, err = check_small("predict", "n.mercer", file)
    assert "the limit for work is 20 s" in err, err


def test_features_estimate_their_work():
    """Explicit features of the user's own expression: only the features of a model were counted."""
    dna, deep = strings("short.txt", 2, 42), strings("deep.txt", 40, 300)
    with open("wide.csv", "w") as f:
        f.writelines(",".join(str(i * j % 7 + 1) for j in range(120)) + "\n" for i in range(3))
    with open("one.csv", "w") as f:
        f.write("1,a\n2,b\n")
    with open("many.csv", "w") as f:
        f.writelines("%d,%d,%d,%d,%d,%d,%s\n" % (*[i * j % 9 for j in range(1, 7)], "pq"[i % 2]) for i in range(20000))
    work, memory = "this would take about", "memory budget"
    small, short = ["--memory", "16M"], ["--memory", "8G", "--max-data", "8G", "--max-work", "0.1"]
    for file, kernel, more, words in (
            (dna, "spectrum(p=3)^20", [], "are possible"),
            ("one.csv", "linear^1000000", ["--names", "1"] + short, work),
            ("many.csv", "linear", ["--memory", "1M"], memory), (dna, "spectrum(p=3)^5", small, memory), (dna, "spectrum(p=3)^5", short, work),
            (dna, "spectrum(p=2)^2*spectrum(p=3)^3", short, work),
            (deep, "gkm(l=20,k=10,filter=none)", short, work), (deep, "ssk(p=12)", short, work),
            ("wide.csv", "poly(degree=4,c=1)", short, work),
            ("wide.csv", "poly(degree=3,c=1)", ["--memory", "12M", "--names", "1"], memory)):
        _, err = check_small("features", file, "-k", kernel, *more, status=(1, 2))
        assert words in err, (kernel, more, err)
    # The plan of a training lists features of some objects.
    check_small("fit", "svm", dna, "-k", "spectrum(p=3)^20", status=(0,))
    check_small("fit", "svm", dna, "-k", "spectrum(p=3)^6", *short, status=(0,))
    check_small("fit", "svm", dna, "-k", "spectrum(p=3)^6", "--form", "primal", *short)
    nested = "%s(linear + 1)%s" % (16 * "(", 16 * "^2)")
    with open("two.csv", "w") as f:
        f.writelines("%g,%g,%s\n" % (i / 9, i * i % 7 / 9, "pq"[i % 2]) for i in range(40))
    check_small("fit", "svm", "two.csv", "-k", "0.1*" + nested, status=(0, 1))
    check_small("fit", "svm", "two.csv", "-k", "*".join(900 * ["(0.1*linear + 0.5)"]), status=(0, 1))
    check_small("features", "two.csv", "-k", "*".join(900 * ["(linear + 1)"]))
    # Words that cannot be completed: 2^40 beginnings of none.
    out, _ = check_small("features", dna, "-k", "ssk(p=42)", status=(0,))
    assert "features   2," in out, out
    for kernel in ("spectrum(p=1)^12", "ssk(p=11)"):
        _, err, took, _ = peak("features", dna, "-k", kernel, "--memory", "4G", "--time-limit", "0.1")
        assert "interrupted" in err or "limit" in err, err
        assert sanitized() or took < 0.6, (kernel, took)


# ---- names that mean something elsewhere ---------------------------------------------------------

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&\x1b[31m\u009b31m"


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.handlers = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


def write_evil():
    with open("evil.csv", "w", newline="") as f:
        to = csv.writer(f)
        to.writerow(["a" + EVIL, "b" + EVIL, "y"])
        to.writerows([i % 7, i * i % 11, "pq"[i % 2] + EVIL] for i in range(60))
    tap.mercer("fit", "svm", "evil.csv", "-k", "rbf(gamma=1)", "-o", "evil.mercer", "--quiet")


def test_names_in_pages():
    """Names of classes and columns are text, not elements, handlers or scripts."""
    write_evil()
    tap.mercer("report", "evil.mercer", "evil.csv", "-o", "report.html", "--quiet")
    tap.mercer("plot", "evil.mercer", "evil.csv", "-o", "plot.html", "--quiet")
    tap.mercer("plot", "evil.csv", "-o", "data.html", "--quiet")
    tap.mercer("plot", "evil.csv", "-o", "data.svg", "--quiet")
    for name, scripts in (("report.html", 0), ("plot.html", 1), ("data.html", 1), ("data.svg", 0)):
        with open(name) as f:
            text = f.read()
        tags = Tags()
        tags.feed(text)
        assert "alert(1)" in text, name
        tap.check_equal((tags.seen.count("script"), tags.seen.count("img"), tags.handlers), (scripts, 0, []), name)


def test_names_on_terminals():
    """No control character of a name reaches a terminal, nor U+009B, which begins a command."""
    write_evil()
    for call in (["info", "evil.mercer"], ["info", "evil.csv"], ["predict", "evil.mercer", "evil.csv"],
                 ["predict", "evil.mercer", "evil.csv", "--json"], ["cv", "svm", "evil.csv", "-k", "linear"],
                 ["plot", "evil.csv"],
                 ["export", "evil.mercer", "--to", "libsvm", "-o", "e.model"]):
        done = tap.mercer(*call, status=None)
        text = done.stdout + done.stderr
        found = [c for c in text if ord(c) < 32 and c not in "\n\t" or 127 <= ord(c) < 160]
        assert not found and "alert(1)" in text, (call, found, text[-500:])
    lines = tap.mercer("predict", "evil.mercer", "evil.csv").stdout.splitlines()
    tap.check_equal(json.loads(lines[0]), "p" + EVIL)


def test_names_in_generated_code():
    """A comment ends where it should: compilers join lines at a backslash before they look for its end."""
    with open("s.svm", "w") as f:
        f.write("1 1:1 3:1\n-1 1:2\n1 2:1\n-1 3:3\n")
    tap.mercer("fit", "svm", "s.svm", "-k", "rbf(gamma=1)", "-o", "m.mercer", "--quiet")
    rows = [[(0, 1.0)]] * tap.mercer_json("info", "m.mercer")["support"]
    for name in ("x*\\\n/ injected", "x*/ injected", "x*??/\n/ injected", "x\n injected"):
        forge.replace("m.mercer", "n.mercer", OBJS=forge.sparse_objects(3, rows, name))
        tap.mercer("export", "n.mercer", "--to", "c", "-o", "n.c")
        for file in ("n.c", "n.h"):
            with open(file) as f:
                text = f.read().replace("??/", "\\").replace("\\\n", "")
            assert "injected" in text, (file, name)
            assert "injected" not in re.sub(r"/\*.*?\*/", "", text, flags=re.S), (file, name, text[:600])


# ---- tables of words -----------------------------------------------------------------------------


def test_colliding_labels():
    """Numbers that an earlier hash put into one slot: reading them took time with the square of their
    number, 30 s for these."""
    inverse, mask = pow(0xd6e8feb86659fd93, -1, 1 << 64), (1 << 64) - 1

    def number(i):
        h = i << 32 | 5
        for _ in range(2):
            h = (h ^ h >> 32) * inverse & mask
        return struct.unpack("<d", struct.pack("<Q", h ^ h >> 32))[0]

    some = [x for x in map(number, range(1, 210000)) if 1e-300 < abs(x) < 1e300]
    with open("c.svm", "w") as f:
        f.writelines("%r 1:1\n" % x for x in some)
    check_small("info", "c.svm", "--json", status=(0,), seconds=10)


# ---- numbers -----------------------------------------------------------------------------------


def test_overflow_is_an_error():
    """No certificate of numbers that overflowed, and no file that does not load."""
    with open("y.csv", "w") as f:
        f.write("a,y\n" + "".join("%g,%de155\n" % (i / 10, i) for i in range(40)))
    with open("h.csv", "w") as f:
        f.write("a,y\n" + "".join("%g,%s1.7e308\n" % (i, "-" * (i % 2)) for i in range(20)))
    done = tap.mercer("fit", "gp", "y.csv", "-k", "rbf(gamma=1)", "-o", "g.mercer", status=1)
    assert "scale the targets" in done.stderr and not os.path.exists("g.mercer"), done.stderr
    for learner in ("ridge", "svr", "nu-svr", "erm", "gp", "knn"):
        either = ["--task", "regress"] if learner in ("ridge", "erm", "gp", "knn") else []
        done = tap.mercer("fit", learner, "h.csv", "-k", "rbf(gamma=1)", "-o", "h.mercer", "--quiet",
                          *either, status=None)
        if done.returncode == 0:
            tap.mercer("info", "h.mercer")
            out = tap.mercer("predict", "h.mercer", "h.csv", status=None)
            assert "nan" not in out.stdout and "inf" not in out.stdout, (learner, out.stdout)
            os.remove("h.mercer")
        else:
            assert not os.path.exists("h.mercer"), learner


def test_scaling_of_any_magnitude():
    for unit in ("e160", "e-200", "e305", ""):
        with open("s.csv", "w") as f:
            f.write("a,y\n" + "".join("%d%s,%s\n" % (i, unit, "pq"[i > 0]) for i in range(-20, 21)))
        for how in ("standard", "minmax"):
            got = tap.mercer_json("fit", "svm", "s.csv", "-k", "linear", "-C", "100", "--scale", how)
            tap.check_equal(got["train"]["accuracy"], 1, "%s %s" % (unit, how))


def test_metrics_without_variance():
    with open("c.csv", "w") as f:
        f.write("a,y\n1,5\n2,5\n3,5\n4,5\n")
    tap.mercer("fit", "ridge", "c.csv", "-k", "linear", "--task", "regress", "-o", "c.mercer",
               "--quiet")
    err = tap.mercer("predict", "c.mercer", "c.csv").stderr
    assert "r2 undefined" in err and "nan" not in err, err


# ---- outputs and limits of the process ---------------------------------------------------------


def test_class_names_with_line_breaks():
    """One line per object, whatever its class is called."""
    with open("n.csv", "w") as f:
        f.write('a,y\n1,"p\nq"\n2,r\n3,"p\nq"\n4,"t\tu"\n')
    tap.mercer("fit", "knn", "n.csv", "-k", "linear", "--neighbors", "1", "-o", "n.mercer", "--quiet")
    lines = tap.mercer("predict", "n.mercer", "n.csv").stdout.splitlines()
    tap.check_equal(lines, ['"p\\nq"', "r", '"p\\nq"', '"t\\tu"'])
    tap.check_equal(json.loads(lines[0]), "p\nq")


def test_features_of_a_forged_power():
    """A few strings whose kernel has billions of features: explain listed them until memory ran out."""
    tap.mercer("sample", "motifs", "-n", "40", "-o", "few.txt")
    tap.mercer("fit", "svm", "few.txt", "-k", "spectrum(p=4)", "-o", "few.mercer")
    for power, words in ((20, "are possible"), (3, "if the model can be trusted")):
        forge.replace("few.mercer", "power.mercer", KERN=forge.text("spectrum(p=4)^%d" % power))
        _, err = check_small("explain", "power.mercer")
        assert words in err, err
    forge.replace("few.mercer", "square.mercer", KERN=forge.text("spectrum(p=2)^2"))
    assert " * " in tap.mercer("explain", "square.mercer").stdout


def test_learner_that_is_no_name():
    """The learner's name was copied into comments of exported programs."""
    tap.mercer("sample", "moons", "-n", "60", "-o", "near.csv")
    tap.mercer("fit", "svm", "near.csv", "-k", "rbf(gamma=1)", "-o", "near.mercer")
    info = dict(forge.sections(open("near.mercer", "rb").read()))[b"INFO"][len(forge.text("svm")):]
    for name in ("svm */ int injected = 1; /*", "s\x1bm", "s\nm", "", "SVM"):
        forge.replace("near.mercer", "odd.mercer", INFO=forge.text(name) + info)
        for call in (["export", "odd.mercer", "--to", "c", "-o", "n.c"], ["info", "odd.mercer"]):
            assert "how it was made" in run(*call)[1]
    forge.replace("near.mercer", "new.mercer", INFO=forge.text("next-svm") + info)
    assert "next-svm" in tap.mercer("info", "new.mercer").stdout
    kind = forge.text("KKT violation")
    cert = dict(forge.sections(open("near.mercer", "rb").read()))[b"CERT"]
    assert cert.startswith(kind)
    forge.replace("near.mercer", "loud.mercer", CERT=forge.text("K\x1b[31m violation") + cert[len(kind):])
    for verb in (["info", "loud.mercer"], ["verify", "loud.mercer", "near.csv"]):
        shown = tap.mercer(*verb).stdout
        assert "K?[31m violation" in shown and "\x1b" not in shown, shown


def test_target_that_is_no_class():
    """The target of a support vector is the number of a class; report looked up its name."""
    tap.mercer("sample", "moons", "-n", "60", "-o", "near.csv")
    tap.mercer("fit", "svm", "near.csv", "-k", "rbf(gamma=1)", "-o", "near.mercer")
    more = dict(forge.sections(open("near.mercer", "rb").read()))[b"MORE"]
    at = more.index(forge.text("target")) + len(forge.text("target")) + 8
    for value in (-7e41, 2, 0.5, 1e300):
        forged = more[:at] + struct.pack("<d", value) + more[at + 8:]
        forge.replace("near.mercer", "odd.mercer", MORE=forged)
        for call in (["report", "odd.mercer", "near.csv", "-o", "r.html"], ["info", "odd.mercer"]):
            assert "its numbers" in run(*call)[1]


def test_support_vector_without_number():
    with open("p.model", "w") as f:
        f.write("svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 3\nrho 0.5\n"
                "label 1 -1\nnr_sv 2 1\nSV\n1 0:3 \n1 \n-2 0:2 \n")
    err = tap.mercer("export", "p.model", "--to", "libsvm", status=1).stderr
    assert "p.model:10" in err and "0:number" in err, err


def limited(limit, *args):
    """The program with so many bytes of address space; its status and what it said."""
    done = subprocess.run([tap.MERCER] + [str(a) for a in args], capture_output=True, text=True,
                          timeout=60, preexec_fn=lambda: resource.setrlimit(
                              resource.RLIMIT_AS, (limit, limit)))
    return done.returncode, done.stdout, done.stderr


def test_little_address_space():
    """Every call ends, and says that memory is what is missing."""
    if sanitized():
        tap.skip("sanitizers need terabytes of address space")
    make_model()
    runs = 0
    for megabytes in (12, 16, 24, 32, 50, 100, 200, 400, 600):
        for call in (["fit", "ridge", "d.csv", "-k", "rbf(gamma=1)", "--task", "classify"],
                     ["fit", "gp", "d.csv", "-k", "rbf(gamma=1)"],
                     ["fit", "svm", "d.csv", "-k", "rbf(gamma=1)"],
                     ["predict", "m.mercer", "d.csv"], ["info", "d.csv"],
                     ["gram", "d.csv", "-k", "linear"]):
            status, out, err = limited(megabytes << 20, *call, "--threads", 2, "--json")
            runs += 1
            assert status in (0, 1, 127), (megabytes, call, status, err)
            if status == 1:
                assert "memory" in err or "address space" in err, (megabytes, call, err)
                assert "install" not in err, err
                json.loads(out)["error"]["message"]
    print("# %d runs with 12 to 600 MB of address space" % runs, flush=True)


def test_shared_files():
    """Every file of the collection, by the verbs that read it, under the limits that hold by
    themselves."""
    if not HOSTILE.is_dir():
        tap.skip("no hostile files in " + str(HOSTILE))
    make_model()
    with open("s.svm", "w") as f:
        f.write("1 1:1 5:1\n-1 1:2\n")
    files, count = sorted(os.listdir(HOSTILE)), 0
    for name in files:
        path = HOSTILE / name
        data = [p for p in (HOSTILE / "m.jsonl", "s.svm", "d.csv") if str(p) != str(path)]
        calls = [["info", path], ["export", path, "--to", "libsvm"]]
        if name.endswith((".mercer", ".model")):
            calls += [["predict", path, d] for d in data]
            calls += [["verify", path, d] for d in data]
            calls += [["explain", path], ["plot", path, "-o", "p.svg"]]
            calls += [["export", path, "--to", to, "-o", "e." + to] for to in ("c", "onnx", "json")]
        elif not name.endswith(".md"):
            calls += [["fit", "ridge", path, "-k", "linear", "--task", "regress"],
                      ["fit", "gp", path, "-k", "rbf(gamma=1)"],
                      ["fit", "svm", path, "-k", "linear", "-C", "100", "--scale", "standard"]]
        for call in calls:
            check_small(*call, status=(0, 1, 2))
            count += 1
    print("# %d calls on %d hostile files, each within 64 MB and 1 s" % (count, len(files)), flush=True)


if __name__ == "__main__":
    tap.main(globals())
