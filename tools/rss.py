"""rss.py [SIZE...]: the peak memory of the program beside what the user allowed.

Runs every learner and verb on a9a and mnist (in MERCER_DATA) with --memory SIZE (default: 64M 256M 1G)
and prints a table in Markdown: the peak of the resident memory less that of reading the data alone, less
SIZE. Above 32 MB the line ends with an exclamation mark, and the exit status is 1. Trainings end after
RSS_SECONDS (10), as memory is asked for early; calls without such a limit are ended after 8 times that
("ended": the peak until then). RSS_SETS and RSS_CALLS name some of the sets and calls only. The data in
SQLite are the first 5,000 objects.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import itertools
import os
import signal
import sqlite3
import sys
import tempfile

PROGRAM = os.environ.get("MERCER", "build/mercer")
DATA = os.environ.get("MERCER_DATA", "../shared/data")
UNITS = {"M": 1 << 20, "G": 1 << 30}
SETS = {"a9a": "adult/a9a.gz", "mnist": "mnist/mnist.gz"}
LEARNERS = {
    "svm": [], "nu-svm": [], "one-class": [], "svr": [], "nu-svr": [], "ridge": [], "logistic": [],
    "erm": [], "knn": [], "gp": [], "l1-svm": [], "fisher": [], "pca": [],
    "kmeans": ["--clusters", "10"], "perceptron": [], "pegasos": [],
}
LIMITED = {name for name in LEARNERS if name not in ("knn", "ridge", "fisher")}
SECONDS = int(os.environ.get("RSS_SECONDS", "10"))


def peak(*words):
    """(status, bytes) of one call."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(8 * SECONDS)
        os.execv(PROGRAM, [PROGRAM] + [str(w) for w in words])
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def database(file, path):
    """The first objects of a LIBSVM file as a table of SQLite."""
    with gzip.open(file, "rt") as f:
        rows = [line.split() for line in itertools.islice(f, 5000)]
    width = max(int(pair.split(":")[0]) for row in rows for pair in row[1:])
    link = sqlite3.connect(path)
    link.execute("CREATE TABLE t (y, %s)" % ", ".join("x%d" % j for j in range(width)))
    for row in rows:
        values = [0.0] * width
        for pair in row[1:]:
            index, value = pair.split(":")
            values[int(index) - 1] = float(value)
        link.execute("INSERT INTO t VALUES (?%s)" % (", ?" * width), [int(float(row[0]))] + values)
    link.commit()
    link.close()
    return path + ":t"


def calls_of(file, folder):
    """{name: (words, data)} of one set."""
    model = os.path.join(folder, "m.mercer")
    falkon = os.path.join(folder, "falkon.mercer")
    pca = os.path.join(folder, "pca.mercer")
    kernel = ["-k", "rbf(gamma=0.01)"]
    limit = ["--time-limit", SECONDS]
    peak("fit", "svm", file, "-k", "linear", *limit, "-o", model)
    peak("fit", "ridge", file, *kernel, "--approx", "falkon", "--rank", "200", *limit, "-o", falkon)
    peak("fit", "pca", file, "-k", "linear", "--components", "5", *limit, "-o", pca)
    calls = {"fit " + l: ["fit", l, file, *kernel] + more + (limit if l in LIMITED else [])
             for l, more in LEARNERS.items()}
    calls["fit ridge --approx falkon"] = ["fit", "ridge", file, *kernel, "--approx", "falkon", *limit]
    calls["fit gp --approx sgpr"] = ["fit", "gp", file, *kernel, "--task", "regress", "--approx", "sgpr", *limit]
    calls["predict"] = ["predict", model, file, "-o", os.path.join(folder, "p")]
    calls["check"] = ["check", "rbf(gamma=0.01)", file]
    calls["verify"] = ["verify", model, file]
    calls["verify (falkon)"] = ["verify", falkon, file]
    calls["geometry"] = ["geometry", file, *kernel]
    calls["explain"] = ["explain", model, file]
    calls["cv svm"] = ["cv", "svm", file, *kernel, "--folds", "2", *limit]
    calls["tune svm"] = ["tune", "svm", file, "-k", "rbf(gamma=0.01:0.1:log2)", "--folds", "2", *limit,
                         "-o", os.path.join(folder, "tuned.mercer")]
    calls["transform"] = ["transform", pca, file, "-o", os.path.join(folder, "t.csv")]
    calls["features"] = ["features", file, "-k", "linear", "-o", os.path.join(folder, "f.svm")]
    calls["plot"] = ["plot", model, file, "-o", os.path.join(folder, "p.svg")]
    calls["report"] = ["report", model, file, "-o", os.path.join(folder, "r.html")]
    calls["export"] = ["export", model, "--to", "json", "-o", os.path.join(folder, "e.json")]
    calls = {name: (words, file) for name, words in calls.items()}
    if not wanted("CALLS", "predict (SQLite)"):
        return calls
    table = database(file, os.path.join(folder, os.path.basename(file) + ".sqlite"))
    small = os.path.join(folder, "sqlite.mercer")
    peak("fit", "svm", table, "--target", "y", "-k", "linear", *limit, "-o", small)
    calls["predict (SQLite)"] = (["predict", small, table, "-o", os.path.join(folder, "q")], table)
    return calls


def wanted(what, name):
    only = os.environ.get("RSS_" + what)
    return not only or name in only.split(",")


def main():
    sizes = [a for a in sys.argv[1:] if a[-1] in UNITS] or ["64M", "256M", "1G"]
    bad = 0
    folder = tempfile.mkdtemp()
    print("| set | call | " + " | ".join(sizes) + " |\n|---|---|" + "---|" * len(sizes))
    for name, path in SETS.items():
        file = os.path.join(DATA, path)
        if not os.path.exists(file):
            continue
        if not wanted("SETS", name):
            continue
        bases = {}
        for what, (words, data) in calls_of(file, folder).items():
            if not wanted("CALLS", what):
                continue
            if data not in bases:
                bases[data] = peak("info", data)[1]
            base = bases[data]
            if what == "transform":  # the model holds all objects once more
                base += os.path.getsize(words[1])
            cells = []
            for size in sizes:
                allowed = int(size[:-1]) * UNITS[size[-1]]
                status, bytes_ = peak(*words, "--memory", size)
                over = (bytes_ - base - allowed) / 1e6
                mark = "!" if over > 33.5 else ""
                bad += bool(mark)
                how = "ended, " if status == -signal.SIGALRM else "refused, " if status else ""
                cells.append("%s%+.0f MB%s" % (how, over, mark))
            print("| %s | %s | %s |" % (name, what, " | ".join(cells)), flush=True)
    sys.exit(1 if bad else 0)


main()
