"""rss.py [SIZE...]: the peak memory of the program beside what the user allowed.

Runs every learner and verb on a9a and mnist (in MERCER_DATA) with --memory SIZE (default: 64M 256M 1G)
and prints a table in Markdown: the peak of the resident memory less that of reading the data alone, less
SIZE. Above 32 MB the line ends with an exclamation mark, and the exit status is 1. Trainings end after
RSS_SECONDS (10), as memory is asked for early; calls without such a limit are ended after 8 times that
("ended": the peak until then).

SPDX-License-Identifier: Apache-2.0
"""

import os
import signal
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


def main():
    sizes = [a for a in sys.argv[1:] if a[-1] in UNITS] or ["64M", "256M", "1G"]
    bad = 0
    folder = tempfile.mkdtemp()
    print("| set | call | " + " | ".join(sizes) + " |\n|---|---|" + "---|" * len(sizes))
    for name, path in SETS.items():
        file = os.path.join(DATA, path)
        if not os.path.exists(file):
            continue
        _, base = peak("info", file)
        model = os.path.join(folder, "m.mercer")
        peak("fit", "svm", file, "-k", "linear", "--time-limit", SECONDS, "-o", model)
        calls = {"fit " + l: ["fit", l, file, "-k", "rbf(gamma=0.01)"] + more +
                 (["--time-limit", SECONDS] if l in LIMITED else [])
                 for l, more in LEARNERS.items()}
        calls["predict"] = ["predict", model, file, "-o", os.path.join(folder, "p")]
        calls["check"] = ["check", "rbf(gamma=0.01)", file]
        calls["verify"] = ["verify", model, file]
        calls["geometry"] = ["geometry", file, "-k", "rbf(gamma=0.01)"]
        calls["explain"] = ["explain", model, file]
        calls["cv svm"] = ["cv", "svm", file, "-k", "rbf(gamma=0.01)", "--folds", "2", "--time-limit",
                           SECONDS]
        calls["transform"] = ["transform", model, file, "-o", os.path.join(folder, "t.csv")]
        for what, words in calls.items():
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
