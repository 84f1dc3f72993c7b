"""Data larger than the memory: matrices that stay in their file while models are trained and applied.

SPDX-License-Identifier: Apache-2.0
"""

import os
import re
import shutil

import tap

try:
    import numpy as np
except ImportError:
    np = None

N = 6000


def write():
    if np is None:
        tap.skip("NumPy is not there")
    r = np.random.default_rng(1)
    x = r.random((N, 20))
    np.save("x.npy", x.astype(np.float32))
    np.save("y.npy", np.sin(7 * x[:, 0]) + x[:, 1])
    np.save("c.npy", np.where(x[:, 0] > x[:, 1], 1, -1))


def fit(memory, learner, *options):
    out = tap.mercer_json("fit", learner, "x.npy", "-k", "rbf(gamma=0.5)", "--rank", 40, "--memory",
                          memory, "-o", "m.mercer", "--quiet", *options)
    verb = "transform" if learner == "pca" else "predict"
    tap.mercer(verb, "m.mercer", "x.npy", "--memory", memory, "-o", "p.npy", "--quiet")
    return out, np.load("p.npy")


def test_models_of_data_in_a_file():
    """The data are 960 KB as doubles: a third of 2 MB is less."""
    write()
    for learner, *options in (["ridge", "--target", "y.npy", "--approx", "falkon"],
                              ["ridge", "--target", "y.npy", "--approx", "nystrom"],
                              ["ridge", "--target", "y.npy", "--approx", "rff"],
                              ["logistic", "--target", "c.npy", "--approx", "falkon"],
                              ["svm", "--target", "c.npy", "--approx", "nystrom"],
                              ["gp", "--target", "y.npy", "--approx", "sgpr", "--landmarks", "uniform",
                               "--restarts", "0", "--max-steps", "4"],
                              ["pca", "--components", "2", "--approx", "nystrom"],
                              ["kmeans", "--clusters", "2", "--restarts", "1", "--approx", "nystrom"]):
        want, p = fit("1G", learner, *options)
        got, q = fit("2M", learner, *options)
        tap.check_near(got["objective"], want["objective"], 1e-5 * abs(want["objective"]), learner)
        if learner in ("ridge", "gp", "pca"):
            assert np.abs(np.abs(p) - np.abs(q)).max() < 1e-4, learner
        else:
            assert (p == q).mean() > 0.999, learner


def some_of(options, number):
    """All of them; with sanitizers one, another for each number."""
    return [options[number % len(options)]] if tap.brief() else options


FEW = 600
SETTINGS = {"kmeans": ["--clusters", 2, "--restarts", 1], "erm": ["--task", "classify"],
            "nu-svm": ["--nu", 0.9], "pca": ["--components", 2]}


def test_every_learner_by_the_registry():
    """Every learner takes each approximation, from memory and from a file, or gives its reason."""
    write()
    np.save("few.npy", np.load("x.npy")[:FEW])
    for name in ("y", "c"):
        np.save(f"few-{name}.npy", np.load(f"{name}.npy")[:FEW])
    learners = tap.mercer_json("learners")["learners"]
    taken = 0
    for learner in learners:
        name, task = learner["name"], learner["task"]
        target = [] if task in ("clustering", "transformation", "detection") and name != "fisher" \
            else ["--target", "few-y.npy" if "regression" in task and name != "erm" else "few-c.npy"]
        has = any(p["name"] == "approx" for p in learner["params"]) and name != "gp"  # has its own
        taken += has
        for approx in some_of(("nystrom", "rff", "falkon"), taken):
            call = ["fit", name, "few.npy", *target, "-k", "rbf(gamma=0.1)", "--approx", approx,
                    "-o", "m.mercer"]
            if not has:
                done = tap.mercer(*call, status=2)
                assert re.search(f"{name} has no (primal form|approximation): ", done.stderr), done.stderr
                continue
            call += ["--rank", 40, *SETTINGS.get(name, [])]
            want = tap.mercer_json(*call, "--memory", "1G")
            got = tap.mercer_json(*call, "--memory", "200K")
            tap.check_near(got["objective"], want["objective"], 2e-4 * abs(want["objective"]),
                           f"{name} {approx}")
    assert taken == 13 and len(learners) == 17, (taken, len(learners))
    # What stays in its file is approximated, if the choice is left to the learner.
    got = tap.mercer_json("fit", "ridge", "few.npy", "--target", "few-y.npy", "-k", "rbf(gamma=0.1)",
                          "--approx", "auto", "--rank", 40, "--memory", "200K")
    tap.check_equal(got["approx"]["kind"], "falkon")


def test_what_needs_memory_is_refused():
    write()
    done = tap.mercer("fit", "ridge", "x.npy", "--target", "y.npy", "-k", "rbf(gamma=1)", "--approx",
                      "falkon", "--rank", 40, "--scale", "standard", "--memory", "2M", status=1)
    assert "memory" in done.stderr and done.stderr.count("\n") == 1, done.stderr


# ---- text larger than the memory ----------------------------------------------------------------

TEXT = 15000 if tap.brief() else 30000
CALL = ["-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", 30, "--quiet"]


def write_text():
    """Numbers, words and weights as csv, and LIBSVM lines; the first lines are not all that is looked at."""
    if np is None:
        tap.skip("NumPy is not there")
    r = np.random.default_rng(2)
    x = np.round(r.random((TEXT, 4)), 6)
    word = np.where(x[:, 0] > x[:, 1], "yes", "no")
    word[-3:] = "perhaps"  # a class that the head does not have
    with open("t.csv", "w") as out:
        out.write("a,b,c,w,y\n")
        out.writelines("%r,%r,%r,%r,%r\n" % (*row, row[0] + row[1] * row[2]) for row in x.tolist())
    with open("t.tsv", "w") as out:
        out.write("a\tb\tc\td\tclass\n")
        out.writelines("%r\t%r\t%r\t%r\t%s\n" % (*row, w) for row, w in zip(x.tolist(), word))
    with open("t.svm", "w") as out:  # the last column appears in the last line only
        out.writelines("%d 1:%r 3:%r\n" % (row[0] > row[1], row[0], row[1]) for row in x.tolist()[:-1])
        out.write("1 1:0.5 5:2\n")


def fit_text(memory, learner, name, *options, status=0):
    return tap.mercer("fit", learner, name, *CALL, "--memory", memory, "-o", "m.mercer", "--json", *options,
                      status=status)


def numbers(done):
    import json
    return json.loads(done.stdout)


def test_text_becomes_a_cache():
    """The same model from the cache as from memory, written once and used again."""
    write_text()
    for learner, name, *options in (["ridge", "t.csv", "--weight", "w"], ["logistic", "t.tsv"],
                                    ["logistic", "t.svm"], ["kmeans", "t.csv", "--target", "none", "--clusters",
                                                            "2", "--restarts", "1"]):
        cache = name + ".mercer-cache"
        want = numbers(fit_text("1G", learner, name, *options))
        assert not os.path.exists(cache), cache
        shutil.copy("m.mercer", "want.mercer")
        got = numbers(fit_text("1M", learner, name, *options))
        assert os.path.exists(cache), cache
        tap.check_equal([got[k] for k in ("n", "features", "classes")],
                        [want[k] for k in ("n", "features", "classes")], name)
        tap.check_near(got["objective"], want["objective"], 1e-6 * abs(want["objective"]), name)
        before = os.stat(cache).st_mtime_ns, os.stat(cache).st_ino
        again = numbers(fit_text("1M", learner, name, *options))
        tap.check_equal((os.stat(cache).st_mtime_ns, os.stat(cache).st_ino), before, "used again")
        tap.check_equal(again["objective"], got["objective"], name)
        tap.mercer("predict", "m.mercer", name, "-o", "p.txt", "--quiet")
        tap.mercer("predict", "want.mercer", name, "-o", "q.txt", "--quiet")
        a, b = open("p.txt").read().split(), open("q.txt").read().split()
        wrong = sum(v != w and (learner != "ridge" or abs(float(v) - float(w)) > 1e-5) for v, w in zip(a, b))
        assert wrong <= len(a) / 1000, (name, wrong)
        os.remove(cache)


def test_a_cache_belongs_to_its_file():
    write_text()
    want = numbers(fit_text("1M", "ridge", "t.csv"))
    made = os.stat("t.csv.mercer-cache").st_ino
    os.utime("t.csv", (1, 1))  # another time, the same bytes: the checksum decides
    tap.check_equal(numbers(fit_text("1M", "ridge", "t.csv"))["objective"], want["objective"])
    tap.check_equal(os.stat("t.csv.mercer-cache").st_ino, made, "kept")
    text = open("t.csv").read()
    lines = text.split("\n")
    lines[5] = lines[5].replace("0.", "9.", 1)
    open("t.csv", "w").write("\n".join(lines))  # as many bytes
    other = numbers(fit_text("1M", "ridge", "t.csv"))
    assert other["objective"] != want["objective"] and len("\n".join(lines)) == len(text)
    # Other options, and damaged files, are not mistaken for it.
    exact = numbers(fit_text("1G", "ridge", "t.csv", "--drop", "b"))
    tap.check_near(numbers(fit_text("1M", "ridge", "t.csv", "--drop", "b"))["objective"],
                   exact["objective"], 1e-6 * exact["objective"])
    fit_text("1M", "ridge", "t.csv")
    whole = open("t.csv.mercer-cache", "rb").read()
    for damaged in (whole[:-1], whole[:40], b"", whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:]):
        open("t.csv.mercer-cache", "wb").write(damaged)
        tap.check_equal(numbers(fit_text("1M", "ridge", "t.csv"))["objective"], other["objective"])
        assert open("t.csv.mercer-cache", "rb").read() == whole
    os.mkdir("caches")
    os.remove("t.csv.mercer-cache")
    fit_text("1M", "ridge", "t.csv", "--cache-dir", "caches")
    tap.check_equal((len(os.listdir("caches")), os.path.exists("t.csv.mercer-cache")), (1, False))


def test_a_file_that_changes():
    """Somebody adds a row while the cache is written, or while it or the file itself is read: one line says so,
    and no model and no cache stay; or it was early or late enough for one of both files."""
    shim = os.environ.get("MERCER_SHIM", "")
    with open(tap.MERCER, "rb") as f:
        if not os.path.exists(shim) or b"__asan_init" in f.read():
            tap.skip("no library that changes files (MERCER_SHIM): not with sanitizers")
    write_text()
    line = "0.1,0.2,0.3,0.4,0.5"
    shutil.copy("t.csv", "kept.csv")
    models = [numbers(fit_text("1M", "ridge", "t.csv"))]
    with open("t.csv", "a") as out:
        out.write(line + "\n")
    models.append(numbers(fit_text("1M", "ridge", "t.csv")))
    words = ["fit", "ridge", "t.csv", *CALL, "--memory", "1M", "-o", "m.mercer", "--json"]
    env = {"LD_PRELOAD": shim, "FAULT": "stat-grow", "FAULT_FILE": "t.csv", "FAULT_LINE": line, "FAULT_COUNT": "count"}
    refused = 0
    for cached in (False, True):
        count, at = 1, 0
        while at <= min(count, 30):
            shutil.copy("kept.csv", "t.csv")
            for name in ("m.mercer", "t.csv.mercer-cache"):
                if os.path.exists(name):
                    os.remove(name)
            if cached:
                fit_text("1M", "ridge", "t.csv")
                os.remove("m.mercer")
            done = tap.mercer(*words, env=dict(env, FAULT_AT=str(at)), status=None)
            if at == 0:
                count = int(open("count").read())
            if done.returncode == 0:
                tap.check_equal(numbers(done)["objective"], models[numbers(done)["n"] - TEXT]["objective"])
            else:
                refused += 1
                assert "t.csv: the file was changed while" in done.stderr and done.stderr.count("\n") == 1, done.stderr
                assert not os.path.exists("m.mercer")
                assert cached or not os.path.exists("t.csv.mercer-cache")
            at += 1
    assert refused >= 2, "no change was seen"


def test_text_that_has_no_cache():
    """One line says what is wrong, at its line in the file; nothing half-written stays."""
    write_text()
    lines = open("t.csv").read().split("\n")
    number = TEXT // 6 * 5
    for line, said in (("0.1,0.2,oops,1,1", "t.csv:%d: " % number), ("0.1,0.2,,1,1", "values are missing"),
                       ("0.1,0.2,0.3,1,word", "targets are words")):
        bad = lines[:number - 1] + [line] + lines[number:]
        open("t.csv", "w").write("\n".join(bad))
        done = fit_text("1M", "ridge", "t.csv", status=1)
        assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr
        tap.check_equal([f for f in os.listdir(".") if "cache" in f], [], "left over")
    open("t.csv", "w").write("\n".join(lines))
    done = fit_text("1M", "ridge", "t.csv", "--cache-dir", "nowhere", status=1)
    assert "nowhere/t.csv" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    shim = os.environ.get("MERCER_SHIM", "")
    if os.path.exists(shim):  # a full disk
        os.environ.update(LD_PRELOAD=shim, FAULT="write-enospc", FAULT_AT="2")
        try:
            done = fit_text("1M", "ridge", "t.csv", status=1)
        finally:
            for key in ("LD_PRELOAD", "FAULT", "FAULT_AT"):
                del os.environ[key]
        assert "t.csv.mercer-cache" in done.stderr and "No space left" in done.stderr, done.stderr
        tap.check_equal(done.stderr.count("\n"), 1, done.stderr)
        tap.check_equal([f for f in os.listdir(".") if "cache" in f], [], "left over")
    # Words among the columns are read into the memory, as before.
    open("w.csv", "w").write("city,y\n" + "\n".join("place%d,%d" % (i % 7, i % 5) for i in range(40000)))
    tap.mercer("fit", "ridge", "w.csv", "-k", "equal(city)", "--approx", "nystrom", "--rank", 5, "--memory",
               "1M", "--quiet")
    tap.check_equal([f for f in os.listdir(".") if "cache" in f], [], "words")


APPROXIMATE = [("svm", []), ("logistic", []), ("ridge", ["--task", "classify"]), ("fisher", []), ("perceptron", []),
               ("pegasos", []), ("pca", ["--components", "3"]), ("kmeans", [])]


def test_training_figures_and_verdicts_of_approximations():
    """Columns of very different scale, so that nearly all kernel values are 0 and rounding would decide ties: the printed
    accuracy is that of the model. Optimal means that the certificate with its rounding error is within the tolerance."""
    r = np.random.default_rng(1)
    with open("t.csv", "w") as out:
        print("a,b,c,d,y", file=out)
        for x, y in zip(r.standard_normal((1500, 4)) * [1, 100, 1e4, 3], r.integers(0, 3, 1500)):
            print(*("%.6g" % v for v in x), y, sep=",", file=out)
    for number, (learner, more) in enumerate(APPROXIMATE):
        for approx in some_of(("nystrom", "rff", "falkon"), number):
            o = tap.mercer_json("fit", learner, "t.csv", "-k", "rbf(gamma=0.5)", "--approx", approx, "--rank", "60", *more,
                                "-o", "m.mercer")
            c = o["certificate"]
            assert o["stop"] != "optimal" or c["value"] + c["error"] <= c["tolerance"], (learner, approx, c)
            if o["train"].get("accuracy") is not None:
                found = tap.mercer_json("predict", "m.mercer", "t.csv", "-o", "p.csv")["metrics"]["accuracy"]
                tap.check_equal(o["train"]["accuracy"], found, "accuracy of %s %s" % (learner, approx))
    np.save("x.npy", r.standard_normal((20000, 20)))
    c = tap.mercer_json("fit", "pca", "x.npy", "-k", "rbf(gamma=0.05)", "--approx", "nystrom", "--rank", "300", "--memory",
                        "5M", "--components", "3")
    assert c["stop"] == "optimal" and c["certificate"]["value"] + c["certificate"]["error"] <= 1e-10, c


if __name__ == "__main__":
    tap.main(globals())
