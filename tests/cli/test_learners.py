"""ridge, logistic, erm, knn and kmeans on the command line: options, output, advice, limits.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import json

import tap
from test_fit import sample, write


def fit(learner, file, *options, model="m.mercer"):
    return tap.mercer_json("fit", learner, file, *options, "-o", model)


def test_clusters_are_numbered_from_1():
    file = sample("blobs", n=90)
    report = fit("kmeans", file, "--clusters", 3)
    tap.check_equal([report["task"], report["classes"], report["train"]], ["clustering", 0, {}])
    done = tap.mercer("predict", "m.mercer", file)
    tap.check_equal(set(done.stdout.split()), {"1", "2", "3"})
    assert done.stderr.startswith("adjusted Rand index 0.8"), done.stderr
    told = tap.mercer_json("predict", "m.mercer", file)["metrics"]
    assert set(told) == {"adjusted_rand"} and told["adjusted_rand"] > 0.8, told
    tap.mercer("predict", "m.mercer", file, "--scores", "-o", "s.csv")
    with open("s.csv") as f:
        rows = list(csv.reader(f))
    tap.check_equal(rows[0], ["cluster 1", "cluster 2", "cluster 3"])
    labels = [int(v) for v in done.stdout.split()]
    for label, row in zip(labels, rows[1:]):
        tap.check_equal(label, 1 + max(range(3), key=lambda c: float(row[c])))


def test_whole_numbers_raise_the_question():
    file = sample("moons", n=60)
    for learner in ("ridge", "knn", "erm"):
        done = tap.mercer("fit", learner, file)
        assert "say --task classify" in done.stderr, done.stderr
        for task, kind in (("classify", "classification"), ("regress", "regression")):
            done = tap.mercer("fit", learner, file, "--task", task, "--json")
            tap.check_equal([done.stderr, json.loads(done.stdout)["task"]], ["", kind])
    assert tap.mercer("fit", "ridge", sample("sinc", n=60)).stderr == ""


def test_words_are_classes():
    write("w.csv", "a,y\n" + "".join("%d,%s\n" % (i, "hot" if i > 9 else "cold")
                                     for i in range(20)))
    for learner in ("ridge", "knn", "erm", "logistic"):
        tap.check_equal(fit(learner, "w.csv")["classes"], 2)
        out = tap.mercer("predict", "m.mercer", "w.csv", "--quiet").stdout.split()
        tap.check_equal([out[0], out[-1]], ["cold", "hot"])


def test_lambda_by_leaving_out():
    report = fit("ridge", sample("sinc", n=80), "-k", "rbf(gamma=0.5)", "--lambda", "1e-6:1e3:log10")
    assert "of 10 by the leave-one-out error" in report["remark"] and report["loo"] > 0, report
    tap.check_equal(tap.mercer_json("info", "m.mercer")["loo"], report["loo"])
    assert "left out   mse" in tap.mercer("info", "m.mercer").stdout
    assert fit("ridge", sample("sinc", n=80))["loo"] is None
    done = tap.mercer("fit", "ridge", "sinc.csv", "--lambda", "many", status=2)
    assert "ridge: lambda must be a number or a range" in done.stderr, done.stderr


def test_what_a_model_does_not_have():
    file = sample("sinc", n=40)
    fit("ridge", file)
    done = tap.mercer("predict", "m.mercer", file, "--std", status=2)
    assert "does not know how sure it is" in done.stderr, done.stderr
    assert "does not predict classes" in tap.mercer("predict", "m.mercer", file, "--proba",
                                                    status=2).stderr
    assert "give one of them" in tap.mercer("predict", "m.mercer", file, "--scores", "--std",
                                            status=2).stderr
    fit("ridge", sample("blobs", n=40), "--task", "classify")
    assert "has no probabilities" in tap.mercer("predict", "m.mercer", "blobs.csv", "--proba",
                                                status=2).stderr


def test_needed_memory_is_told():
    done = tap.mercer("fit", "ridge", sample("sinc", n=400), "--memory", "1M", status=1)
    assert "ridge: the kernel matrix needs 1.2 MB" in done.stderr, done.stderr
    assert "--memory" in done.stderr


def test_going_on_from_a_model():
    file = sample("blobs", n=150)
    for call in (["logistic", "--lambda", "0.001"], ["kmeans", "--clusters", "5", "--restarts", "1"],
                 ["erm", "--task", "classify", "--loss", "squared-hinge", "--lambda", "0.001"]):
        first = fit(call[0], file, *call[1:], "--max-steps", 1)
        tap.check_equal(first["stop"], "steps")
        then = fit(call[0], file, *call[1:], "--start", "m.mercer", model="n.mercer")
        tap.check_equal(then["stop"], "optimal")
        again = fit(call[0], file, *call[1:], "--start", "n.mercer", model="o.mercer")
        assert again["iterations"] <= 2, again
        assert then["objective"] <= first["objective"] + 1e-9


if __name__ == "__main__":
    tap.main(globals())
