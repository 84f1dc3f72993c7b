"""mercer fit, cv and predict --threshold: chosen as by hand from out-of-fold scores, kept, obeyed.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import json
import pathlib

import tap

KERNEL = ["-k", "rbf(gamma=1)"]


def moons(n=200, seed=1, name="m.csv"):
    tap.mercer("sample", "moons", "-n", str(n), "--noise", "0.5", "--seed", str(seed), "-o", name, "--quiet")
    return name


def folds(path, positive, *options):
    """Out-of-fold scores for the positive class and whether objects are of it."""
    tap.mercer("cv", "svm", path, *KERNEL, "-o", "o.csv", "--quiet", *options)
    with open("o.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    name = next(k for k in rows[0] if k.startswith("score("))
    sign = 1 if name[len("score("):].split(" ")[0].rstrip(")") == positive else -1
    return [(sign * float(r[name]), r["target"] == positive) for r in rows]


def cost(scored, threshold, miss, alarm):
    return sum(miss if y else alarm for s, y in scored if (s > threshold) != y)


def test_costs_and_false_alarms():
    path = moons()
    for positive in ("1", "-1"):
        scored = folds(path, positive, "--positive", positive)
        cuts = sorted(s for s, _ in scored)
        report = tap.mercer_json("fit", "svm", path, *KERNEL, "--positive", positive, "--threshold",
                                 "cost:FN=10,FP=1", "-o", "m.mercer")
        t = report["threshold"]
        tap.check_equal((t["of"], t["positive"]), ("score", positive))
        least = min(cost(scored, c, 10, 1) for c in cuts + [cuts[0] - 1])
        tap.check_equal(cost(scored, t["value"], 10, 1), least)
        assert cost(scored, 0, 10, 1) > least  # it is of use
        t = tap.mercer_json("fit", "svm", path, *KERNEL, "--positive", positive, "--threshold", "fpr:0.05")["threshold"]
        negatives = sum(not y for _, y in scored)
        allowed = [c for c in cuts if sum(s > c and not y for s, y in scored) <= .05 * negatives]
        most = max(sum(s > c and y for s, y in scored) for c in allowed)
        tap.check_equal(sum(s > t["value"] and y for s, y in scored), most)
        assert sum(s > t["value"] and not y for s, y in scored) <= .05 * negatives


def test_predictions_obey_it():
    path, new = moons(), moons(100, 2, "new.csv")
    tap.mercer("fit", "svm", path, *KERNEL, "--threshold", "cost:FN=10,FP=1", "-o", "m.mercer")
    t = tap.mercer_json("info", "m.mercer")["threshold"]["value"]
    tap.mercer("predict", "m.mercer", new, "--scores", "-o", "s.csv", "--quiet")
    scores = [float(v) for v in pathlib.Path("s.csv").read_text().splitlines()[1:]]
    name = pathlib.Path("s.csv").read_text().splitlines()[0].strip('"')
    sign = 1 if name.split(" ")[0] == "1" else -1
    tap.mercer("predict", "m.mercer", new, "-o", "p.csv", "--quiet")
    got = pathlib.Path("p.csv").read_text().split()[1:]
    tap.check_equal(got, ["1" if sign * s > t else "-1" for s in scores])
    assert got != ["1" if sign * s > 0 else "-1" for s in scores]
    err = tap.mercer("predict", "m.mercer", new, "-o", "p.csv").stderr
    assert "threshold  " in err and " for class 1" in err, err
    done = tap.mercer("predict", "m.mercer", new, "--threshold", "0", "-o", "q.csv", "--json")
    tap.check_equal(json.loads(done.stdout)["threshold"]["value"], 0)
    assert "with a threshold cannot be exported" in tap.mercer("export", "m.mercer", "--to", "c", "-o", "m.c",
                                                               status=2).stderr


def test_probabilities():
    path, new = moons(), moons(100, 2, "new.csv")
    tap.mercer("fit", "logistic", path, *KERNEL, "-o", "m.mercer", "--quiet")
    tap.mercer("predict", "m.mercer", new, "--proba", "-o", "p.csv", "--quiet")
    with open("p.csv", newline="") as file:
        proba = [float(r["1"]) for r in csv.DictReader(file)]
    for rule, least in (("0.3", .3), ("cost:FN=9,FP=1", .1), ("cost:FP=4", .8)):
        tap.mercer("predict", "m.mercer", new, "--threshold", rule, "-o", "q.csv", "--quiet")
        tap.check_equal(pathlib.Path("q.csv").read_text().split()[1:], ["1" if p >= least else "-1" for p in proba])


def test_objects_that_were_not_trained_on():
    path, held, new = moons(), moons(150, 3, "held.csv"), moons(50, 2, "new.csv")
    tap.mercer("fit", "svm", path, *KERNEL, "-o", "m.mercer", "--quiet")
    report = tap.mercer_json("predict", "m.mercer", new, "--threshold", "fpr:0.1", "--calibration", held)
    t = report["threshold"]["value"]
    tap.mercer("predict", "m.mercer", held, "--scores", "-o", "s.csv", "--quiet")
    lines = pathlib.Path("s.csv").read_text().splitlines()
    sign = 1 if lines[0].strip('"').split(" ")[0] == "1" else -1
    truth = [line.split(",")[-1] for line in pathlib.Path(held).read_text().splitlines()[1:]]
    negatives = [sign * float(s) for s, y in zip(lines[1:], truth) if y == "-1"]
    assert sum(s > t for s in negatives) <= .1 * len(negatives)
    above = sorted((sign * float(s) for s in lines[1:] if sign * float(s) < t), reverse=True)[0]
    assert sum(s >= above for s in negatives) > .1 * len(negatives)  # one step lower would be too many


def test_cv_learns_it_within_the_training_folds():
    path = moons()
    plain = tap.mercer_json("cv", "svm", path, *KERNEL, "--metric", "recall", "--positive", "1")
    keen = tap.mercer_json("cv", "svm", path, *KERNEL, "--metric", "recall", "--positive", "1", "--threshold",
                           "cost:FN=10,FP=1")
    assert keen["metrics"]["recall"]["mean"] > plain["metrics"]["recall"]["mean"] + .02


def test_balance():
    path = moons()
    lines = pathlib.Path(path).read_text().splitlines()
    few = [lines[0]] + [x for x in lines[1:] if x.endswith(",1")] + [x for x in lines[1:] if x.endswith(",-1")][:15]
    pathlib.Path("few.csv").write_text("\n".join(few) + "\n")
    one = tap.mercer_json("fit", "svm", "few.csv", *KERNEL, "--balance")
    two = tap.mercer_json("fit", "svm", "few.csv", *KERNEL, "--class-weight", "balanced")
    tap.check_equal(one["objective"], two["objective"])
    recall = [tap.mercer_json("cv", "svm", "few.csv", *KERNEL, "--metric", "recall", "--positive", "-1",
                              *b)["metrics"]["recall"]["mean"] for b in ([], ["--balance"])]
    assert recall[1] > recall[0] + .1, recall
    assert "--balance: svr has no" in tap.mercer("fit", "svr", "few.csv", "--balance", status=2).stderr


def test_refusals():
    path = moons()
    tap.mercer("sample", "blobs", "-n", "90", "-o", "b.csv", "--quiet")
    tap.mercer("fit", "svm", path, *KERNEL, "-o", "m.mercer", "--quiet")
    for call, message in (
            (["fit", "svm", path, *KERNEL, "--threshold", "cost:FN"], "cost:FN=10,FP=1"),
            (["fit", "svm", path, *KERNEL, "--threshold", "fpr:2"], "fpr:0.01"),
            (["fit", "svm", "b.csv", *KERNEL, "--threshold", "fpr:0.1"], "models of two classes"),
            (["fit", "svr", path, *KERNEL, "--threshold", "1"], "models of two classes"),
            (["fit", "logistic", path, *KERNEL, "--threshold", "3"], "between 0 and 1"),
            (["predict", "m.mercer", path, "--threshold", "fpr:0.1"], "--calibration FILE"),
            (["predict", "m.mercer", path, "--threshold", "cost:FN=2"], "must be learnt: give it to fit")):
        done = tap.mercer(*call, status=None)
        assert done.returncode in (1, 2) and message in done.stderr, (call, done.stderr)


if __name__ == "__main__":
    tap.main(globals())
