"""Everything that can fail is made to fail, one call after the other, in the program as it is run:
allocations, reads, writes, syncs, renames; and signals that come in the middle. After each the old file
or the new one is there, nothing else, and the program has said what happened.

By default a part of all calls, spread evenly; MERCER_ALL=1 (./check --all) tries every one of them. The
counts are printed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import signal
import subprocess

import tap

SHIM = os.environ.get("MERCER_SHIM", "")
ALL = bool(os.environ.get("MERCER_ALL"))
FEW = 6

LEARNERS = {
    "svm": [], "nu-svm": [], "one-class": [], "svr": [], "nu-svr": [], "l1-svm": [], "ridge": [],
    "logistic": [], "erm": [], "gp": [], "knn": [], "fisher": [], "pca": [], "kmeans": [],
    "perceptron": [], "pegasos": [], "cca": ["--kernel2", "linear"],
}


def prepare():
    if not os.path.exists(SHIM):
        tap.skip("no library that makes calls fail (MERCER_SHIM): not with sanitizers")
    with open(tap.MERCER, "rb") as f:
        if b"__asan_init" in f.read():
            tap.skip("the sanitizers have an allocator of their own")
    with open("d.csv", "w") as f:
        f.write("a,b,y\n" + "".join("%d,%g,%d\n" % (i, i * i % 7 / 3, i % 2) for i in range(24)))
    with open("s.txt", "w") as f:
        f.write("".join("%d\t%s\n" % (i % 2, "ACGT"[i % 4:] + "GATTACA"[i % 5:]) for i in range(8)))
    with open("g.jsonl", "w") as f:
        for i in range(6):
            f.write('{"y": %d, "graph": {"nodes": ["C", "O", "C"], "edges": [[0, 1], [1, %d]]}}\n'
                    % (i % 2, 2 * (i % 3 > 0)))
    with open("d.svm", "w") as f:
        f.write("".join("%d 1:%d 3:%g\n" % (i % 2, i, i * i % 7 / 3) for i in range(16)))
    tap.mercer("fit", "svm", "d.csv", "-k", "linear", "-o", "m.mercer", "--quiet")
    tap.mercer("fit", "pca", "d.csv", "-k", "linear", "-o", "pca.mercer", "--quiet")


def calls():
    """Name -> words; each writes the file `out`."""
    made = {"fit " + name: ["fit", name, "d.csv", "-k", "rbf(gamma=1)"] + more
            for name, more in LEARNERS.items()}
    made.update({
        "fit on strings": ["fit", "svm", "s.txt", "-k", "normalize(ssk(p=2)) + spectrum(p=2)"],
        "fit on graphs": ["fit", "svm", "g.jsonl", "-k", "wl(h=2) + shortestpath"],
        "fit with probabilities": ["fit", "svm", "d.svm", "-k", "linear", "--probability", "--scale",
                                   "standard"],
        "predict": ["predict", "m.mercer", "d.csv", "--scores"],
        "transform": ["transform", "pca.mercer", "d.csv"],
        "gram": ["gram", "d.csv", "-k", "linear + rbf(gamma=1)^2"],
        "features": ["features", "d.csv", "-k", "poly(degree=2)"],
        "export": ["export", "m.mercer", "--to", "libsvm"],
        "tune": ["tune", "svm", "d.csv", "-k", "rbf(gamma=1:2:log2)", "--folds", "2"],
        "sample": ["sample", "moons", "-n", "10"],
        "plot": ["plot", "m.mercer", "d.csv"],
        "report": ["report", "m.mercer", "d.csv"],
    })
    return made


# Verbs that write no file: the object they print is what must be right.
PRINTING = {
    "cv": ["cv", "svm", "d.csv", "-k", "linear", "--folds", "2"],
    "check": ["check", "linear + rbf(gamma=1)", "d.csv"],
    "info": ["info", "m.mercer"],
    "info of data": ["info", "g.jsonl"],
    "geometry": ["geometry", "d.csv", "-k", "rbf(gamma=1)"],
    "explain": ["explain", "m.mercer"],
    "verify": ["verify", "m.mercer", "d.csv"],
    "kernels": ["kernels"],
    "learners": ["learners"],
}
ENDINGS = {"features": ".csv", "sample": ".csv", "transform": ".csv", "plot": ".svg", "report": ".html"}
OTHERS = ("studio", "help", "version")  # a server, and what allocates nothing that can fail


def test_nothing_is_left_out():
    """Every learner and every verb is among the calls."""
    listed = {learner["name"] for learner in tap.mercer_json("learners")["learners"]}
    tap.check_equal(sorted(listed), sorted(LEARNERS), "learners")
    tried = {words[0] for words in list(calls().values()) + list(PRINTING.values())}
    verbs = {verb["name"] for verb in tap.mercer_json("help")["verbs"]}
    tap.check_equal(sorted(verbs - tried), sorted(OTHERS), "verbs without a sweep")


def run(words, kind, at, name="out"):
    """One run with one fault; (status, what it said, how many calls of the kind there were)."""
    env = dict(os.environ, LD_PRELOAD=SHIM, FAULT=kind, FAULT_AT=str(at), FAULT_COUNT="count")
    for old in ["count"] + [x for x in os.listdir(".") if x.endswith(".tuning")]:
        if os.path.exists(old):
            os.remove(old)
    more = ["--threads", "1", "--json"] + (["-o", name] if name else [])
    done = subprocess.run([tap.MERCER] + words + more, capture_output=True, text=True, env=env,
                          timeout=60)
    count = 0
    if os.path.exists("count"):
        with open("count") as f:
            count = int(f.read() or 0)
        os.remove("count")
    return done, count


def content(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def places(count, few=FEW):
    if ALL or count <= few:
        return range(1, count + 1)
    return sorted({1 + (count - 1) * i // (few - 1) for i in range(few)})


def without_times(text):
    value = json.loads(text)
    return json.dumps({k: v for k, v in value.items() if not k.startswith("seconds")}, sort_keys=True)


def sweep(what, words, kind, memory, name="out"):
    """Each place in turn; how many runs there were, and how many of them failed."""
    ends = "".join(c for c in what if c.isalnum())
    name = ends + ENDINGS.get(words[0], "") if name else None
    whole, count = run(words, kind, 0, name)
    assert whole.returncode == 0, (what, whole.stderr)
    good, printed = content(name) if name else None, whole.stdout
    failed = runs = 0
    before = set(os.listdir("."))
    for at in places(count, FEW if name else 100):
        if name:
            with open(name, "w") as f:
                f.write("old")
        done, _ = run(words, kind, at, name)
        runs += 1
        where = "%s, %s %d of %d: " % (what, kind, at, count)
        assert done.returncode in (0, 1), where + "status %d: %s" % (done.returncode, done.stderr)
        after = set(os.listdir("."))
        extra = {x for x in after - before if not x.endswith(".tuning")}  # a checkpoint is meant to stay
        assert not extra, where + "left over: %s" % extra
        now = content(name) if name else None
        if done.returncode == 0:
            assert now == good, where + "a silent success with another file"
            if not name:
                assert without_times(done.stdout) == without_times(printed), where + "another answer"
        else:
            failed += 1
            assert now in (b"old", good) if name else True, where + "the old file is lost"
            assert done.stderr.startswith("mercer: "), where + done.stderr
            message = json.loads(done.stdout)["error"]["message"] if done.stdout else ""
            assert message, where + "no object: %r %r" % (done.stdout, done.stderr)
            if memory:
                assert "memory" in done.stderr, where + done.stderr
    return runs, failed


def test_allocations():
    prepare()
    with open(tap.MERCER, "rb") as f:
        if b"__gcov" in f.read():
            tap.skip("the counters of a coverage build allocate at the end, and do not look at the result")
    runs = failed = 0
    for what, words in calls().items():
        a, b = sweep(what, words, "alloc", True)
        runs, failed = runs + a, failed + b
    for what, words in PRINTING.items():
        a, b = sweep(what, words, "alloc", True, None)
        runs, failed = runs + a, failed + b
    print("# %d allocations failed in %d calls of the program: %d refused, %d done without"
          % (runs, len(calls()) + len(PRINTING), failed, runs - failed), flush=True)
    assert failed > runs // 2


def test_file_system_calls():
    prepare()
    runs = failed = 0
    chosen = {k: v for k, v in calls().items()
              if ALL or k in ("fit svm", "predict", "gram", "export", "sample", "features", "transform")}
    for what, words in chosen.items():
        for way in ("", "no-tmpfile,"):
            for kind in ("write-eintr", "write-short", "write-enospc", "write-eio", "fsync-eio",
                         "rename-eio", "link-eio", "open-emfile", "read-eintr", "read-short",
                         "read-eio"):
                a, b = sweep(what, words, way + kind, False)
                runs, failed = runs + a, failed + b
                # A part of a checkpoint's line is a fault: lines of several threads must not mix.
                if kind in ("write-eintr", "write-short", "read-eintr", "read-short") and (
                        kind, words[0]) != ("write-short", "tune"):
                    assert b == 0, (what, kind, "what can be tried again is no fault")
    print("# %d faults of files: %d refused, %d overcome" % (runs, failed, runs - failed), flush=True)
    assert failed > 0


def test_signals_while_writing():
    """SIGTERM at each write and each sync: the program ends by it, behind a whole file or before any."""
    prepare()
    runs = 0
    for what, words in calls().items():
        if words[0] == "tune":
            continue  # its checkpoint is written at any time
        for way in ("", "no-tmpfile,"):
            for kind in ("fsync-term", "write-term"):
                name = "t" + ENDINGS.get(words[0], "")
                whole, count = run(words, way + kind, 0, name)
                good = content(name)
                assert whole.returncode == 0 and good, (what, whole.stderr)
                for at in places(count, 3):
                    with open(name, "w") as f:
                        f.write("old")
                    before = set(os.listdir("."))
                    done, _ = run(words, way + kind, at, name)
                    runs += 1
                    assert done.returncode in (0, -signal.SIGTERM), (what, kind, done)
                    assert content(name) in (b"old", good), (what, kind, at)
                    assert set(os.listdir(".")) == before, (what, kind, set(os.listdir(".")) - before)
                os.remove(name)
    print("# %d signals while writing" % runs, flush=True)


def test_extreme_magnitudes():
    """Features and targets of 1e+-300 for every learner: a model that loads and predicts finite numbers,
    or a reason."""
    if not LEARNERS:
        tap.skip("no learners")
    runs = refused = 0
    for power in (300, -155) if tap.brief() else (300, 155, -155, -300):
        for where in ("both",) if tap.brief() else ("x", "y", "both"):
            with open("e.csv", "w") as f:
                f.write("a,b,y\n")
                for i in range(14):
                    x = "%de%d,%de%d" % (i + 1, power, (i * i) % 7 - 3, power) \
                        if where != "y" else "%d,%d" % (i + 1, (i * i) % 7 - 3)
                    y = "%de%d" % (i % 2 * 2 - 1, power) if where != "x" else str(i % 2 * 2 - 1)
                    f.write("%s,%s\n" % (x, y))
            for name, more in LEARNERS.items():
                for kernel in ("linear", "rbf(gamma=1)"):
                    done = tap.mercer("fit", name, "e.csv", "-k", kernel, "-o", "e.mercer", "--quiet",
                                      "--max-work", "10", *more,
                                      *(["--time-limit", "2"] if name != "knn" and name != "ridge"
                                        and name != "fisher" else []), status=None)
                    runs += 1
                    if done.returncode:
                        refused += 1
                        assert len(done.stderr) > 20 and not os.path.exists("e.mercer"), done
                        continue
                    tap.mercer("info", "e.mercer")
                    verb = "transform" if name in ("pca", "cca") else "predict"
                    said = tap.mercer(verb, "e.mercer", "e.csv", "--quiet", status=None)
                    assert said.returncode in (0, 1), said
                    assert "nan" not in said.stdout and "inf" not in said.stdout, (name, said.stdout)
                    os.remove("e.mercer")
    print("# %d trainings on extreme numbers, %d refused" % (runs, refused), flush=True)


if __name__ == "__main__":
    tap.main(globals())
