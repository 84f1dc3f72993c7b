"""mercer cv and mercer tune: figures by hand, scaling without leaks, groups, tables, being killed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import signal
import subprocess
import time

import pathlib

import numpy as np

import tap


def sample(name="moons", n=200, file=None, **more):
    file = file or name + ".csv"
    words = [str(x) for key, value in more.items() for x in ("--" + key, value)]
    tap.mercer("sample", name, "-n", n, "-o", file, *words)
    return file


def cv(*args, **more):
    return tap.mercer_json("cv", *args, **more)


def tune(*args, **more):
    return tap.mercer_json("tune", *args, **more)


def test_out_of_fold_predictions_give_the_figures():
    """The mean of the folds' accuracies, weighted by their sizes, is that of the written predictions."""
    file = sample(n=200)
    found = cv("svm", file, "-k", "rbf(gamma=2)", "-C", 10, "-o", "out.csv")
    y = np.loadtxt(file, delimiter=",", skiprows=1)[:, -1]
    head = pathlib.Path("out.csv").read_text().splitlines()[0]
    tap.check_equal(head, "fold,target,prediction,score(1 : -1)")
    fold, target, said, score = np.loadtxt("out.csv", delimiter=",", skiprows=1).T
    tap.check_equal(list(target), list(y))
    tap.check_equal(list(score > 0), list(said > 0))
    tap.check_equal(sorted(set(fold)), [1, 2, 3, 4, 5])
    by_fold = [np.mean((y == said)[fold == f]) for f in range(1, 6)]
    np.testing.assert_allclose(by_fold, found["metrics"]["accuracy"]["folds"], atol=1e-12)
    tap.check_equal(found["confusion"], [[int(np.sum((y == a) & (said == b))) for b in (-1, 1)] for a in (-1, 1)])
    tap.check_equal(found["positive"], "1")
    tap.check_near(found["metrics"]["accuracy"]["mean"], np.mean(y == said))
    tap.check_equal(found["folds"], 5)
    folds = found["metrics"]["accuracy"]["folds"]
    tap.check_near(found["metrics"]["accuracy"]["mean"], np.mean(folds))
    tap.check_near(found["metrics"]["accuracy"]["std"], np.std(folds, ddof=1))


def test_the_positive_class_does_not_depend_on_the_order():
    """Of words the rarer one, on a tie the later in the alphabet; --positive chooses another."""
    x, y = np.arange(60) % 12, np.array(["no", "yes", "no"] * 20)
    rows = ["%d,%s" % row for row in zip(x, y)]

    def figures(lines, *more):
        pathlib.Path("p.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
        return cv("svm", "p.csv", "-k", "rbf(gamma=0.1)", "--folds", 3, *more)

    for lines in (rows, rows[1:] + rows[:1]):
        tap.check_equal(figures(lines)["positive"], "yes")
    other = figures(rows, "--positive", "no")
    tap.check_equal(other["positive"], "no")
    tap.check_near(other["metrics"]["recall"]["mean"], np.mean(
        [c["recall"] for c in other["classes"] if c["name"] == "no"]), 1e-9)
    tie = [row for row in rows if row.endswith("yes")] + [row for row in rows if row.endswith("no")][:20]
    for lines in (tie, tie[::-1]):
        tap.check_equal(figures(lines)["positive"], "yes")
    said = tap.mercer("cv", "svm", "p.csv", "--positive", "maybe", status=2).stderr
    assert 'no class "maybe": there are' in said, said
    tap.mercer("fit", "svm", "p.csv", "--positive", "no", "-o", "m.mercer", "--quiet")
    tap.check_equal(tap.mercer_json("predict", "m.mercer", "p.csv")["metrics"]["positive"], "no")
    got = tap.mercer_json("predict", "m.mercer", "p.csv", "--positive", "yes", "--metric", "f1,auc")["metrics"]
    tap.check_equal(got["positive"], "yes")
    assert set(got) == {"f1", "roc_auc", "positive", "classes", "confusion"}, got
    said = tap.mercer("predict", "m.mercer", "p.csv", "--metric", "acuracy", status=2).stderr
    assert 'did you mean "accuracy"' in said, said
    said = tap.mercer("predict", "m.mercer", "p.csv", "--metric", "brier", status=2).stderr
    assert "needs probabilities" in said, said


def test_regression_and_clusters_have_their_metrics():
    keys = set(cv("ridge", sample("sinc"), "-k", "rbf(gamma=0.5)", "--lambda", 0.1)["metrics"])
    tap.check_equal(keys, {"mse", "rmse", "mae", "r2", "max_error"})
    keys = set(cv("kmeans", sample("blobs"), "--clusters", 3)["metrics"])
    tap.check_equal(keys, {"adjusted_rand"})


def test_groups_and_order():
    file = sample(n=60)
    with open("groups.txt", "w") as f:
        f.write("".join("g%d\n" % (i % 6) for i in range(60)))
    tap.check_equal(cv("svm", file, "--groups", "groups.txt", "--folds", 6)["folds"], 6)
    done = tap.mercer("cv", "svm", file, "--groups", "groups.txt", "--folds", 7, status=1)
    assert "6 groups are too few for 7 folds" in done.stderr, done.stderr
    done = tap.mercer("cv", "svm", file, "--groups", "nothing.txt", status=2)
    assert "no column of that name" in done.stderr, done.stderr
    # A column of groups is not learnt from, be it text or numbers.
    lines = open(file).read().split("\n")
    for name, word in (("site", "g%d"), ("visit", "%d")):
        with open("grouped.csv", "w") as f:
            f.write("%s,%s\n" % (name, lines[0]))
            f.write("".join("%s,%s\n" % (word % (i % 6), line) for i, line in enumerate(lines[1:61])))
        by_column = cv("svm", "grouped.csv", "--groups", name, "--folds", 6)
        by_file = cv("svm", file, "--groups", "groups.txt", "--folds", 6)
        tap.check_equal(by_column["metrics"], by_file["metrics"])
    tap.check_equal(cv("ridge", sample("sinc", n=60), "-k", "rbf(gamma=1)", "--ordered", "--folds", 4)["folds"], 4)


def test_scaling_is_learnt_on_the_training_folds():
    """With one object that is far away, scaling on all data would give other figures in its fold."""
    file = sample(n=100)
    lines = open(file).read().splitlines()
    a = cv("svm", file, "-k", "rbf(gamma=1)", "--scale", "standard", "--plain")
    x, y, label = lines[1].split(",")
    with open("far.csv", "w") as f:
        f.write("\n".join([lines[0], "1e9,1e9," + label] + lines[2:]) + "\n")
    b = cv("svm", "far.csv", "-k", "rbf(gamma=1)", "--scale", "standard", "--plain", "-o", "far.out")
    # The fold that tests the object is the same but for that object; in all others it trains.
    same = [abs(p - q) <= 1 / 20 + 1e-12
            for p, q in zip(a["metrics"]["accuracy"]["folds"], b["metrics"]["accuracy"]["folds"])]
    assert any(same) and not all(same), (a, b)


def test_the_table_is_everywhere():
    file = sample(n=200)
    words = ("svm", file, "-k", "rbf(gamma=0.1:10:log3)", "-C", "1:100:log3", "--tol", 1e-8, "-o",
             "m.mercer", "--table", "t.csv")
    found = tune(*words)
    tap.check_equal(found["evaluated"], 9)
    tap.check_equal(len(found["table"]), 9)
    best = found["best"]
    assert best["metric"] == "accuracy" and best["options"]["C"] in (1, 10, 100), best
    tap.check_near(best["score"], max(p["score"] for p in found["table"] if p["state"] == "done"))
    lines = open("t.csv").read().splitlines()
    tap.check_equal(len(lines), 10)
    tap.check_equal(sum(line.endswith(",best") for line in lines), 1)
    info = tap.mercer("info", "m.mercer").stdout
    assert "tuned" in info and best["kernel"] in info, info
    tap.mercer("tune", *words[:-1], "t.json", "--quiet")
    tap.check_equal(json.load(open("t.json"))["best"]["kernel"], best["kernel"])
    # Each figure is that of cv.
    for point in found["table"]:
        own = cv("svm", file, "-k", point["kernel"], "-C", point["options"]["C"], "--tol",
                 1e-8)["metrics"]["accuracy"]
        tap.check_near(np.mean(own["folds"][: point["folds"]]), point["score"], 1e-12)


def test_without_hints():
    file = sample("spirals", n=300)
    found = tune("svm", file, "-o", "m.mercer")
    assert found["best"]["score"] > 0.9, found["best"]
    assert found["evaluated"] < found["possible"] / 5, found["evaluated"]
    done = tap.mercer("predict", "m.mercer", file)
    assert "accuracy" in done.stderr, done.stderr
    found = tune("ridge", sample("sinc", n=150))
    assert found["best"]["metric"] == "mse" and found["best"]["score"] < 0.05, found["best"]
    assert re.fullmatch(r"lambda=[-.e\d]+ scale=\w+", found["fit"]["options"]), found["fit"]["options"]
    found = tune("svm", sample("motifs", n=80, file="motifs.tsv"), "-k", "normalize(spectrum(p=2:4))")
    assert found["best"]["score"] > 0.7, found["best"]
    found = tune("svm", sample("motifs", n=80, file="again.tsv"))
    assert found["best"]["score"] > 0.7, found["best"]


def test_rbf_without_gamma_has_a_range():
    data = sample(n=120, noise=0.2)
    found = tune("svm", data, "-k", " rbf( )", "-k", "linear", "-C", "1:10:log2")
    kernels = {p["kernel"] for p in found["table"]}
    tap.check_equal(len(kernels), 18)
    assert "linear" in kernels and found["best"]["kernel"].startswith("rbf(gamma="), found["best"]
    gammas = sorted(float(k[len("rbf(gamma="):-1]) for k in kernels - {"linear"})
    tap.check_equal(gammas[-1] / gammas[0], 65536)
    assert tune("svm", data, "-k", "rbf", "-C", "1")["best"]["score"] > 0.9
    with open("mail.txt", "w") as f:
        f.write("".join("%s\tabc%d\n" % ("uv"[i % 2], i) for i in range(20)))
    for verb in ["tune"], ["cv", "-k", "linear"]:
        done = tap.mercer(verb[0], "svm", "mail.txt", "-k", "rbf", *verb[1:], status=2)
        assert "rbf is a kernel on vectors" in done.stderr, done.stderr


def test_ridge_with_relevance():
    """Runs of the design hold lambda; the model names the lambda that it was trained with."""
    file = sample("friedman", n=150)
    found = tune("ridge", file, "-k", "rbf(gamma=0.125:4:log3)", "--search", "adaptive", "--relevance", "yes",
                 "--scale", "minmax", "--metric", "mse", "-o", "r.mercer")
    lists = [p for p in found["table"] if "[" in p["kernel"]]
    assert lists and all(p["folds"] == 5 and p["score"] > 0 for p in lists), found["table"]
    assert len({p["kernel"] for p in lists}) == len(lists), "a run was repeated"
    options = dict(o.split("=") for o in found["fit"]["options"].split())
    again = tap.mercer_json("fit", "ridge", file, "-k", found["best"]["kernel"], "--scale", "minmax", "--lambda",
                            options["lambda"])
    tap.check_near(again["objective"], found["fit"]["objective"], 1e-6 * again["objective"])


def test_nested():
    found = cv("svm", sample(n=150), "-k", "rbf(gamma=0.1:10:log3)", "-C", "1:100:log2", "--folds", 3)
    tap.check_equal(len(found["chosen"]), 3)
    assert all("gamma" in c["kernel"] and c["options"].startswith("C=") for c in found["chosen"]), found


def test_a_best_point_at_the_edge_is_reported():
    file = sample(n=60)
    at_end = tap.mercer("tune", "svm", file, "-k", "rbf(gamma=1e-6:1e-4:log3)", "-C", "1e-4:1e-2:log3")
    assert "at an end of the range of gamma, C: a wider range" in at_end.stdout, at_end.stdout
    ranges = ("-k", "rbf(gamma=1e-4:1e4:log9)", "-C", 1)
    found = json.loads(tap.mercer("tune", "svm", file, *ranges, "--json").stdout)
    assert found["edge"] is None, found["best"]


def test_threads_do_not_change_the_table():
    file, tables = sample("spirals", n=700), []
    for threads in (1, 3):
        tap.mercer("tune", "svm", file, "-k", "rbf(gamma=0.5:50:log4)", "-k", "poly(degree=2:3, c=1)",
                   "-C", "1:100:log4", "--folds", 4, "--threads", threads, "--table", "t%d.csv" % threads)
        tables.append(open("t%d.csv" % threads).read())
    tap.check_equal(tables[0], tables[1])


def test_unfinished_trainings_of_an_inner_search_are_counted():
    file = sample(n=60)
    words = ("svm", file, "-k", "rbf(gamma=1)", "-C", "1:100:log3", "--folds", 2, "--inner-folds", 2, "--max-steps", 1)
    found = cv(*words)
    tap.check_equal(found["fits"], 2 * (3 * 2 + 1))
    tap.check_equal(found["unfinished"], found["fits"])


def test_what_is_refused():
    file = sample(n=50)
    for words, message in (
            (("tune", "svm", file, "-k", "rbf(gamma=1:2:x)"), "gamma must be a number or a range"),
            (("tune", "svm", file, "-C", "0:1:3"), "C must be"),
            (("tune", "svm", file, "--metric", "acuracy"), "did you mean"),
            (("tune", "svm", file, "--search", "random"), "grid and adaptive"),
            (("tune", "svm", file, "--relevance", "maybe"), "yes and no"),
            (("tune", "svm", file, "--resume"), "use -o MODEL"),
            (("tune", "pca", file), "coordinates"),
            (("tune", "svm", file, "-k", "rfb(gamma=0.1:10:log3)"), 'did you mean "rbf"'),
            (("tune", "svm", file, "-k", "rbf(gama=0.1:10:log3)"), "gamma"),
            (("cv", "svm", file, "--loo", "--metric", "auc"), "use folds"),
            (("cv", "svm", file, "--loo", "--folds", 5), "omit --folds"),
            (("tune", "svm", file, "--loo", "--folds", 5), "omit --folds"),
            (("tune", "svm", file, "--table", "nowhere/t.csv"), "cannot be written"),
            (("cv", "svm", file, "--folds", 60), "too few"),
            (("cv", "svm", file, "--scale", "max"), "scale"),
            (("cv", "svm", file, "--metric", "log-loss"), "--probability")):
        done = tap.mercer(*words, status=None)
        assert done.returncode in (1, 2) and message in done.stderr, (words, done.stderr)
    assert not os.path.exists("m.mercer")


def board(file, n):
    """Two columns are places on a board of 3 x 3 squares, black or white; four are noise."""
    x = np.random.default_rng(3).uniform(-1, 1, (n, 6))
    y = np.floor(1.5 * x[:, :2] + 1.5).sum(axis=1) % 2
    np.savetxt(file, np.column_stack([x, y]), "%.6g", ",", header="a,b,c,d,e,f,y", comments="")
    return file


def test_one_gamma_a_column():
    file, words = board("board.csv", 400), ("-k", "rbf(gamma=0.25:4:log5)", "-C", "0.1:10:log3")
    found = tune("svm", file, *words, "--relevance", "yes", "-o", "m.mercer")
    best = found["best"]
    gamma = [float(g) for g in best["kernel"].split("[")[1].split("]")[0].split(",")]
    assert len(gamma) == 6 and max(gamma[2:]) < min(gamma[:2]), best
    without = tune("svm", file, *words)
    assert best["score"] > without["best"]["score"] + 0.05, without["best"]
    assert not any("[" in point["kernel"] for point in without["table"]), without
    # By hand: the same figure, the same model.
    options = [x for key, value in best["options"].items()
               for x in ("-C" if key == "C" else "--" + key, value)]
    own = cv("svm", file, "-k", best["kernel"], *options)["metrics"]["accuracy"]
    tap.check_near(own["mean"], best["score"], 1e-12)
    tap.mercer("fit", "svm", file, "-k", best["kernel"], *options, "-o", "own.mercer")
    new = board("new.csv", 100)
    tap.check_equal(tap.mercer("predict", "own.mercer", new, "--scores").stdout,
                    tap.mercer("predict", "m.mercer", new, "--scores").stdout)
    # Without being asked only where nothing is said of kernel and ranges; never with too few
    # objects.
    for n, words, weighs in ((60, (), True), (60, ("--relevance", "no"), False), (60, ("--weigh", "no"), False), (59, (), False),
                             (59, ("-k", "rbf(gamma=0.1:10:log3)", "--relevance", "yes"), False)):
        table = tune("svm", board("few.csv", n), *words)["table"]
        tap.check_equal(any("[" in point["kernel"] for point in table), weighs)


def killed_and_resumed(words):
    began = time.monotonic()
    tap.mercer(*words, "-o", "whole.mercer", "--table", "whole.csv")
    seconds = time.monotonic() - began
    whole = open("whole.mercer", "rb").read()
    # The moments follow the speed of the machine. A run that ends first is tried again.
    killed = 0
    for share in 4 * (0.1, 0.25, 0.5):
        run = subprocess.Popen([tap.MERCER] + words + ["-o", "cut.mercer", "--table", "cut.csv"])
        began = time.monotonic()
        while time.monotonic() - began < share * seconds or not os.path.exists("cut.mercer.tuning"):
            if run.poll() is not None:
                break
            time.sleep(0.001)
        if run.poll() is None:
            run.send_signal(signal.SIGKILL)
        killed += run.wait() == -signal.SIGKILL
        if killed == 3:
            break
    assert killed
    if os.path.exists("cut.mercer.tuning"):
        tap.mercer(*words, "-o", "cut.mercer", "--table", "cut.csv", "--resume")
    assert open("cut.mercer", "rb").read() == whole
    tap.check_equal(open("cut.csv").read(), open("whole.csv").read())
    assert not os.path.exists("cut.mercer.tuning")
    tap.mercer(*words, "-o", "one.mercer", "--threads", 1)
    assert open("one.mercer", "rb").read() == whole


def stopped_search(how):
    """A search that is stopped, and the same call again: its table is that of a search in one go."""
    words = ["tune", "svm", sample(n=500), "-k", "rbf(gamma=0.01:1000:log15)", "-C", "0.01:1e5:log15"]
    began = time.monotonic()
    whole = tap.mercer_json(*words, "-o", "whole.mercer")
    more = ["--time-limit", "%.3f" % ((time.monotonic() - began) / 3)] if how == "time" else []
    run = subprocess.Popen([tap.MERCER] + words + more + ["-o", "cut.mercer", "--json"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    if how == "interrupted":
        while not (os.path.exists("cut.mercer.tuning") and os.path.getsize("cut.mercer.tuning") > 500):
            if run.poll() is not None:
                break
            time.sleep(0.005)
        run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=600)
    if run.returncode == 0 and how == "interrupted":
        tap.skip("too fast to be interrupted")
    found = json.loads(out)
    if found["stopped"] is None:
        tap.skip("too fast to be stopped")
    tap.check_equal((run.returncode, found["stopped"]), (130 if how == "interrupted" else 0, how))
    assert "the model is the best so far" in err and "the same call continues" in err, err
    tested = [p for p in found["table"] if p["folds"] > 0]
    assert 0 < len(tested) == found["evaluated"], found["evaluated"]
    most = max(p["folds"] for p in tested)
    best = max(p["score"] for p in tested if p["folds"] == most)
    tap.check_near(found["best"]["score"], best, 1e-12)
    tap.check_equal(tap.mercer_json("info", "cut.mercer")["kernel"], found["best"]["kernel"])
    assert os.path.exists("cut.mercer.tuning")
    again = tap.mercer_json(*words, "-o", "cut.mercer") if not more else None
    if again:
        tap.check_equal((again["table"], again["stopped"]), (whole["table"], None))
        assert open("cut.mercer", "rb").read() == open("whole.mercer", "rb").read()
        assert not os.path.exists("cut.mercer.tuning")


def test_interrupted_keeps_the_best_so_far():
    stopped_search("interrupted")


def test_time_limit_is_of_the_whole_search():
    stopped_search("time")


def test_killed_before_anything_was_written():
    """A checkpoint that ends in its first line is one without results."""
    words = ["tune", "svm", sample(n=60), "-k", "rbf(gamma=0.1:10:log3)", "--quiet"]
    tap.mercer(*words, "-o", "whole.mercer")
    for begun in ("", "mercer-sea"):
        with open("begun.mercer.tuning", "w") as f:
            f.write(begun)
        tap.mercer(*words, "-o", "begun.mercer", "--resume")
        assert open("begun.mercer", "rb").read() == open("whole.mercer", "rb").read()
        assert not os.path.exists("begun.mercer.tuning")


def test_killed_and_resumed():
    """Kill -9 at several moments, then --resume: the same table and the same model, byte for byte."""
    killed_and_resumed(["tune", "svm", sample(n=600), "-k", "rbf(gamma=0.01:100:log9)", "-C", "0.1:1e4:log9",
                        "--quiet"])


def test_killed_while_weighing():
    killed_and_resumed(["tune", "svm", board("board.csv", 500), "-k", "rbf(gamma=1:4:log3)", "-C", "100", "--relevance",
                        "yes", "--quiet"])
    assert "[" in open("whole.csv").read()


def test_a_checkpoint_of_another_search_is_refused():
    file = sample(n=100)
    for resume in ([], ["--resume"]):
        open("m.mercer.tuning", "w").write("mercer-search 1 00000000 00000000\n")
        done = tap.mercer("tune", "svm", file, "-C", "1:10:log2", "-o", "m.mercer", *resume, status=1)
        assert "not the checkpoint of the same search" in done.stderr, done.stderr


if __name__ == "__main__":
    tap.main(globals())
