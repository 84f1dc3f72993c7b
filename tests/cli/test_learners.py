"""ridge, logistic, erm, knn and kmeans on the command line: options, output, advice, limits.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import json
import os
import shutil
import subprocess

import exports
import tap
from test_fit import sample, write


def fit(learner, file, *options, model="m.mercer"):
    return tap.mercer_json("fit", learner, file, *options, "-o", model)


def test_clusters_are_numbered_from_1():
    file = sample("blobs", n=90)
    assert "remark     8 clusters of " in tap.mercer("fit", "kmeans", file).stdout
    report = fit("kmeans", file, "--clusters", 3)
    assert report["remark"].startswith("3 clusters of "), report
    tap.check_equal([report["task"], report["classes"], report["train"]], ["clustering", 0, {}])
    done = tap.mercer("predict", "m.mercer", file)
    tap.check_equal(set(done.stdout.split()), {"1", "2", "3"})
    assert done.stderr.startswith("adjusted_rand 0.8"), done.stderr
    shown = tap.mercer_json("predict", "m.mercer", file)["metrics"]
    assert set(shown) == {"adjusted_rand"} and shown["adjusted_rand"] > 0.8, shown
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
        assert "use --task classify" in done.stderr, done.stderr
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
    assert "has no standard deviations" in done.stderr, done.stderr
    assert "does not predict classes" in tap.mercer("predict", "m.mercer", file, "--proba",
                                                    status=2).stderr
    assert "give one of them" in tap.mercer("predict", "m.mercer", file, "--scores", "--std",
                                            status=2).stderr
    fit("ridge", sample("blobs", n=40), "--task", "classify")
    assert "has no probabilities" in tap.mercer("predict", "m.mercer", "blobs.csv", "--proba",
                                                status=2).stderr


def test_needed_memory_is_reported():
    done = tap.mercer("fit", "ridge", sample("sinc", n=400), "--memory", "1M", status=1)
    assert "ridge: the kernel matrix needs 1.2 MB" in done.stderr, done.stderr
    assert "--memory" in done.stderr


def test_several_targets():
    write("t.csv", "x,a,b\n" + "".join("%g,%g,%g\n" % (i / 10, i % 7, 3 - i / 5) for i in range(40)))
    report = fit("ridge", "t.csv", "--target", "a,b", "--lambda", 0.01)
    tap.check_equal([report["targets"], report["features"], report["task"]], [2, 1, "regression"])
    done = tap.mercer("predict", "m.mercer", "t.csv", "--target", "a,b")
    lines = done.stdout.splitlines()
    tap.check_equal([lines[0], len(lines)], ["# a\tb", 41])
    said = done.stderr.splitlines()
    assert said[0].startswith("a: mse ") and said[1].startswith("b: mse "), said
    assert said[2].endswith("(40 objects, mean of 2 targets)"), said
    shown = tap.mercer_json("predict", "m.mercer", "t.csv", "--target", "a,b", "-o", "p.csv")
    each = shown["metrics"]["targets"]
    tap.check_near(shown["metrics"]["mse"], (each[0]["mse"] + each[1]["mse"]) / 2)
    tap.check_near(shown["metrics"]["mse"], report["train"]["mse"], 1e-9)
    with open("p.csv") as f:
        rows = list(csv.reader(f))
    tap.check_equal([rows[0], len(rows)], [["a", "b"], 41])
    tap.check_equal(tap.mercer("predict", "m.mercer", "t.csv", "--target", "a,b", "--scores").stdout,
                    done.stdout)
    info = tap.mercer_json("info", "m.mercer")
    tap.check_equal([info["target_names"], info["outputs"]], [["a", "b"], 2])
    assert "targets    a\n           b\n" in tap.mercer("info", "m.mercer").stdout
    data = tap.mercer_json("info", "t.csv", "--target", "a,b")["targets"]
    tap.check_equal([t["name"] for t in data["several"]], ["a", "b"])
    assert "targets    a: numbers, 0 to 6" in tap.mercer("info", "t.csv", "--target", "a,b").stdout
    # Fewer targets than the model predicts: reported, and no reason not to predict.
    write("u.csv", "x,b\n1,2\n2,3\n")
    done = tap.mercer("predict", "m.mercer", "u.csv", "--target", "b")
    assert "the model predicts 2 targets, and the data have 1" in done.stderr, done.stderr
    tap.check_equal(len(done.stdout.splitlines()), 3)
    # Words, other learners, other formats.
    done = tap.mercer("fit", "svr", "t.csv", "--target", "a,b", status=1)
    assert "svr learns one target, and the data have 2" in done.stderr, done.stderr
    done = tap.mercer("fit", "ridge", "t.csv", "--target", "a,b", "--task", "classify", status=1)
    assert "the data have 2 targets" in done.stderr, done.stderr
    done = tap.mercer("export", "m.mercer", "--to", "libsvm", status=2)
    assert "LIBSVM has no such model" in done.stderr, done.stderr


def test_no_option_is_suggested_that_is_not_there():
    file = sample("moons", n=60)
    for call in (["knn", "--task", "classify"], ["svm"], ["ridge", "--task", "classify"]):
        learner = call[0]
        done = tap.mercer("fit", *call, file, "-k", "sigmoid(a=1, b=-1)", status=None)
        options = tap.mercer("fit", learner, "--help").stdout
        for word in done.stderr.replace(",", " ").replace(";", " ").replace(")", " ").split():
            if word.startswith("--"):
                assert word in options, (learner, done.stderr)


def test_a_kernel_that_is_0():
    write("zero.txt", "".join("%s\t%s\n" % ("pq"[i % 2], "abcdefgh"[i % 8]) for i in range(24)))
    for learner in ("ridge", "logistic", "erm", "gp", "knn", "kmeans"):
        extra = ["--clusters", 1] if learner == "kmeans" else []
        report = fit(learner, "zero.txt", "-k", "spectrum(p=3)", *extra)
        assert "all kernel values are 0" in (report["remark"] or ""), (learner, report)
    done = tap.mercer("fit", "kmeans", "zero.txt", "-k", "spectrum(p=3)", "--clusters", 2, status=1)
    assert "only 1 object (by this kernel)" in done.stderr, done.stderr
    for learner in ("pca", "fisher"):
        done = tap.mercer("fit", learner, "zero.txt", "-k", "spectrum(p=3)", status=1)
        assert "there is no variance" in done.stderr, done.stderr


def test_corners():
    """One object, one value, the same object again and again, values beyond numbers."""
    write("one.csv", "x,y\n1,2\n")
    write("same.csv", "x,y\n" + "1,5\n1,6\n" * 4)
    write("flat.csv", "x,y\n" + "".join("%d,5\n" % i for i in range(8)))
    write("big.csv", "x,y\n" + "".join("%de200,%g\n" % (i + 1, i / 3) for i in range(8)))
    for learner in ("ridge", "erm", "gp"):
        for file in ("one.csv", "same.csv", "flat.csv"):
            report = fit(learner, file, "-k", "rbf(gamma=1) + 1", "--task", "regress")
            tap.check_equal(report["stop"], "local" if learner == "gp" else "optimal",
                            learner + " " + file)
    for learner in ("ridge", "erm", "gp", "knn", "kmeans", "pca"):
        done = tap.mercer("fit", learner, "big.csv", "-k", "linear", status=1)
        assert "scale the data" in done.stderr, (learner, done.stderr)
    for learner in ("logistic", "gp", "erm", "ridge"):
        extra = [] if learner == "logistic" else ["--task", "classify"]
        tap.check_equal(fit(learner, "same.csv", *extra, "-k", "linear")["stop"], "optimal", learner)
        done = tap.mercer("fit", learner, "one.csv", "-k", "linear", *extra, status=1)
        assert "there is one object, of class" in done.stderr, done.stderr
        done = tap.mercer("fit", learner, "flat.csv", "-k", "linear", *extra, status=1)
        assert 'all 8 objects are of class "5"' in done.stderr, done.stderr
    assert "only 1 object:" in tap.mercer("fit", "knn", "one.csv", status=1).stderr
    assert "only 1 object:" in tap.mercer("fit", "kmeans", "one.csv", status=1).stderr
    assert "only 1 object (by this kernel)" in tap.mercer("fit", "kmeans", "same.csv", "--clusters",
                                                          2, status=1).stderr
    assert "there is no variance" in tap.mercer("fit", "pca", "same.csv", status=1).stderr
    assert "only 1 component has a variance" in fit("pca", "flat.csv", "-k", "linear")["remark"]
    assert tap.mercer("fit", "ridge", "flat.csv").stderr == ""  # one value names no classes


def test_memory_of_draws_and_preimages():
    file = sample("sinc", n=300)
    fit("gp", file, "-k", "rbf(gamma=1)", "--restarts", 0)
    done = tap.mercer("predict", "m.mercer", file, "--sample", 2, "--memory", "1.6M", status=1)
    assert "gp: " in done.stderr and "--memory" in done.stderr, done.stderr
    tap.mercer("predict", "m.mercer", file, "--sample", 2, "--memory", "8M", "-o", "d.csv")
    tap.mercer("predict", "m.mercer", file, "--std", "--memory", "1M", "-o", "s.csv")  # without a factor
    tap.mercer("predict", "m.mercer", file, "--std", "--memory", "8M", "-o", "f.csv")
    few, much = (open(name).read().replace(",", " ").split()[2:] for name in ("s.csv", "f.csv"))
    assert len(few) == len(much) == 600, (len(few), len(much))
    for a, b in zip(few, much):
        assert abs(float(a) - float(b)) <= 1e-5 * max(1, abs(float(b))), (a, b)
    tap.mercer("predict", "m.mercer", file, "--memory", "1M", "-o", "v.csv")  # needs no factor
    fit("pca", file, "-k", "rbf(gamma=1)")
    done = tap.mercer("transform", "m.mercer", file, "--preimage", "--memory", "1M", status=1)
    assert "pre-images: vectors and kernel values needs 3" in done.stderr, done.stderr
    tap.mercer("transform", "m.mercer", file, "--preimage", "--memory", "8M", "-o", "p.csv")


def test_a_local_optimum_is_called_so():
    """k-means from one start ends where no move helps; better clusters exist, and others find them."""
    file = sample("blobs", n=150)
    ends = [fit("kmeans", file, "--clusters", 6, "--restarts", 1, "--seed", seed)
            for seed in range(1, 9)]
    assert len({round(e["objective"], 6) for e in ends}) > 1, "no two optima: the test shows nothing"
    tap.check_equal({e["stop"] for e in ends}, {"local"})
    tap.check_equal(fit("kmeans", file, "--clusters", 1)["stop"], "optimal")
    # A kernel that is not known to be positive semidefinite proves nothing.
    moons = sample("moons", n=100)
    tap.check_equal(fit("svm", moons, "-k", "sigmoid(a=0.1,b=-1)")["stop"], "local")
    tap.check_equal(fit("svm", moons, "-k", "rbf(gamma=1)")["stop"], "optimal")
    tap.check_equal(fit("gp", moons, "-k", "rbf(gamma=1)", "--optimize", "no", "--task", "classify")
                    ["stop"], "optimal")


def test_going_on_from_a_model():
    file = sample("blobs", n=150)
    for call in (["logistic", "--lambda", "0.001"], ["kmeans", "--clusters", "5", "--restarts", "1"],
                 ["erm", "--task", "classify", "--loss", "squared-hinge", "--lambda", "0.001"]):
        first = fit(call[0], file, *call[1:], "--max-steps", 1)
        tap.check_equal(first["stop"], "steps")
        then = fit(call[0], file, *call[1:], "--start", "m.mercer", model="n.mercer")
        tap.check_equal(then["stop"], "local" if call[0] == "kmeans" else "optimal")
        again = fit(call[0], file, *call[1:], "--start", "n.mercer", model="o.mercer")
        assert again["iterations"] <= 2, again
        assert then["objective"] <= first["objective"] + 1e-9


def test_blas_is_loaded_by_those_who_need_it():
    file = sample("blobs", n=90)
    none = {"MERCER_BLAS": "/nowhere/libblas.so"}
    done = tap.mercer("fit", "ridge", file, "-o", "r.mercer", env=none, status=1)
    assert "/nowhere/libblas.so: not found" in done.stderr and "libopenblas0-openmp" in done.stderr, done.stderr
    tap.mercer("fit", "svm", file, "-o", "m.mercer", env=none)
    tap.mercer("predict", "m.mercer", file, env=none)


def test_openblas_is_loaded_with_the_code_for_the_processor():
    if not shutil.which("cc"):
        tap.skip("no compiler")
    file = sample("blobs", n=90)
    write("core.c", """#include <stdio.h>
        #include <stdlib.h>
        __attribute__((constructor)) static void load(void)
        {
            const char *core = getenv("OPENBLAS_CORETYPE");
            fprintf(stderr, "code for %s\\n", core ? core : "any");
        }""")
    subprocess.run(["cc", "-shared", "-fPIC", "core.c", "-o", "libopenblas.so.0"], check=True)
    for name in ("OPENBLAS_CORETYPE", "MERCER_BLAS"):
        os.environ.pop(name, None)
    flags = open("/proc/cpuinfo").read()
    best = "SkylakeX" if " avx512vl" in flags else "Haswell" if " avx2" in flags else "any"
    env = {"LD_LIBRARY_PATH": os.getcwd()}
    done = tap.mercer("fit", "ridge", file, "-o", "r.mercer", env=env, status=None)
    assert "code for %s\n" % best in done.stderr, done.stderr
    env["OPENBLAS_CORETYPE"] = "Zen"
    done = tap.mercer("fit", "ridge", file, "-o", "r.mercer", env=env, status=None)
    assert "code for Zen\n" in done.stderr, done.stderr
    env["MERCER_BLAS"] = "/nowhere/libblas.so"
    done = tap.mercer("fit", "ridge", file, "-o", "r.mercer", env=env, status=1)
    assert "code for" not in done.stderr and "/nowhere/libblas.so: not found" in done.stderr, done.stderr


def test_kmeans_ends_with_kernels_that_are_not_positive_semidefinite():
    exports.write_vectors("train.csv", 60, 1, "none")
    done = tap.mercer_json("fit", "kmeans", "train.csv", "-k", "sigmoid(a=0.1, b=-1)", "--clusters", "5", "--target", "none",
                           "-o", "m.mercer", timeout=60)
    tap.check_equal(done["stop"], "local")


if __name__ == "__main__":
    tap.main(globals())
