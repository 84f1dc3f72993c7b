"""Dual or primal form: --form, --approx, and mercer features with approximate maps.

SPDX-License-Identifier: Apache-2.0
"""

import math

import tap


def scores(model, data):
    tap.mercer("predict", model, data, "--scores", "-o", "s.txt", "--quiet")
    return [[float(v) for v in line.split()] for line in open("s.txt") if not line.startswith("#")]


def check_scores(a, b, limit, what):
    for x, y in zip(scores(a, what), scores(b, what)):
        for u, v in zip(x, y):
            tap.check_near(u, v, limit, what)


def test_both_forms_agree():
    tap.mercer("sample", "blobs", "-n", "300", "-o", "b.csv")
    for learner, options in (("svm", ["--tol", "1e-8"]), ("logistic", ["--tol", "1e-9"]),
                             ("ridge", ["--task", "classify"])):
        for kernel in ("linear", "poly(degree=2, c=1)"):
            for form in ("dual", "primal"):
                out = tap.mercer_json("fit", learner, "b.csv", "-k", kernel, "--form", form,
                                      "-o", form + ".mercer", *options)
                tap.check_equal((out["form"], out["stop"]), (form, "optimal"))
            check_scores("dual.mercer", "primal.mercer", 1e-6, "b.csv")


def test_both_forms_of_coordinates_and_clusters():
    for sample, kernel in (("blobs", "linear"), ("blobs", "poly(degree=2, c=1)"),
                           ("motifs", "spectrum(p=4)"), ("molecules", "wl(h=2)")):
        tap.mercer("sample", sample, "-n", "150", "-o", "d.jsonl")
        for learner, verb in (("pca", "transform"), ("fisher", "transform"), ("kmeans", "predict")):
            for form in ("dual", "primal"):
                out = tap.mercer_json("fit", learner, "d.jsonl", "-k", kernel, "--form", form, "-o",
                                      "m.mercer")
                tap.check_equal((out["form"], out["stop"]),
                                (form, "local" if learner == "kmeans" else "optimal"))
                tap.mercer(verb, "m.mercer", "d.jsonl", "-o", form + ".txt", "--quiet")
            for a, b in zip(open("dual.txt"), open("primal.txt")):
                if a.startswith("#"):
                    continue
                for u, v in zip(a.split(), b.split()):
                    tap.check_near(float(u), float(v), 1e-6, learner + " " + kernel)


def test_the_older_name():
    """--side kernel|features means --form dual|primal, and no help speaks of it."""
    tap.mercer("sample", "blobs", "-n", "60", "-o", "b.csv")
    for old, new in (("kernel", "dual"), ("features", "primal"), ("auto", "dual")):
        out = tap.mercer_json("fit", "svm", "b.csv", "-k", "linear", "--side", old)
        tap.check_equal((out["form"], out["options"]), (new, "" if old == "auto" else "form=" + new))
    for call in (["help", "fit"], ["fit", "svm", "--help"], ["learners", "svm"],
                 ["learners", "svm", "--json"], ["fit", "svm", "--help", "--json"]):
        text = tap.mercer(*call).stdout
        assert "--side" not in text and '"side"' not in text, call


def test_many_objects_in_little_memory():
    """Kernel values of 20,000 objects would be 3.2 GB."""
    tap.mercer("sample", "blobs", "-n", "20000", "-o", "b.csv")
    for learner, options in (("pca", []), ("fisher", []), ("perceptron", ["--passes", "2"]),
                             ("kmeans", ["--clusters", "3", "--restarts", "2"])):
        for approx in ("nystrom", "rff", "falkon"):
            out = tap.mercer_json("fit", learner, "b.csv", "-k", "rbf(gamma=0.5)", "--approx", approx,
                                  "--rank", "40", "--memory", "70M", "-o", "m.mercer", "--quiet",
                                  *options)
            tap.check_equal((out["form"], out["approx"]["kind"], out["n"]),
                            ("primal", approx, 20000))
            if learner in ("fisher", "perceptron"):
                assert out["train"]["accuracy"] > 0.9, out
            if learner != "perceptron":
                tap.check_equal(out["stop"], "local" if learner == "kmeans" else "optimal")
                assert "approximate" in out["certificate"]["kind"], out
            if learner == "kmeans":
                found = tap.mercer_json("predict", "m.mercer", "b.csv")["metrics"]
                assert found["adjusted_rand"] > 0.9, found


def test_the_choice_is_reported():
    tap.mercer("sample", "friedman", "-n", "20000", "-o", "f.csv")
    text = tap.mercer("fit", "ridge", "f.csv", "-k", "linear + 1", "-o", "f.mercer").stdout
    assert "form       primal: 11 features, 11 of them non-zero per object; estimated" in text, text
    out = tap.mercer_json("fit", "ridge", "f.csv", "-k", "linear + 1")
    tap.check_equal(out["form"], "primal")
    assert "with kernel values" in out["form_reason"], out
    out = tap.mercer_json("info", "f.mercer")
    tap.check_equal(out["form"], "primal")
    tap.mercer("sample", "friedman", "-n", "100", "-o", "g.csv")
    out = tap.mercer_json("fit", "ridge", "g.csv", "-k", "linear + 1")
    tap.check_equal(out["form"], "dual")
    out = tap.mercer_json("fit", "ridge", "g.csv", "-k", "rbf(gamma=1)")
    tap.check_equal((out["form"], out["form_reason"]), ("dual", None))


def test_features_are_refused_where_there_are_none():
    tap.mercer("sample", "moons", "-n", "100", "-o", "m.csv")
    for call, words in (
            (["svm", "m.csv", "-k", "rbf(gamma=1)", "--form", "primal"], "no finite feature map"),
            (["svm", "m.csv", "-k", "linear", "-C", "inf", "--form", "primal"], "hard margin"),
            (["svm", "m.csv", "-k", "linear", "--approx", "rff"], "random Fourier features"),
            (["svm", "m.csv", "-k", "rbf(gamma=1) + 2*linear", "--approx", "rff"], "linear has none; use"),
            (["svm", "m.csv", "-k", "rbf(gamma=1) + matern", "--approx", "rff"], "not for sums and products"),
            (["svm", "m.csv", "-k", "linear", "--approx", "nystrom", "--form", "dual"],
             "omit one of the two"),
            (["ridge", "m.csv", "-k", "linear", "--form", "primal", "--loo"], "leave-one-out")):
        done = tap.mercer("fit", *call, status=2)
        assert words in done.stderr, done.stderr
    done = tap.mercer("fit", "svm", "m.csv", "--approx", "fourier", status=2)
    assert "nystrom" in done.stderr, done.stderr


def test_approximate_models():
    tap.mercer("sample", "rings", "-n", "2000", "-o", "r.csv")
    exact = tap.mercer_json("fit", "svm", "r.csv", "-k", "rbf(gamma=2)", "-C", "10")
    for approx in ("nystrom", "rff"):
        for learner in ("svm", "logistic"):
            out = tap.mercer_json("fit", learner, "r.csv", "-k", "rbf(gamma=2)", "--approx", approx,
                                  "--rank", "100", "-o", approx + ".mercer")
            tap.check_equal((out["form"], out["approx"]["kind"], out["approx"]["features"]),
                            ("primal", approx, 100))
            assert "approximate" in out["certificate"]["kind"], out
            assert 0 < out["approx"]["rms"] <= out["approx"]["largest"] < 0.5, out
            assert abs(out["train"]["accuracy"] - exact["train"]["accuracy"]) < 0.02, (out, exact)
            metrics = tap.mercer_json("predict", approx + ".mercer", "r.csv")["metrics"]
            tap.check_near(metrics["accuracy"], out["train"]["accuracy"], 1e-12, approx)
        info = tap.mercer("info", approx + ".mercer").stdout
        assert "primal by " + approx in info, info


def test_rff_models_refuse_other_columns():
    tap.mercer("sample", "moons", "-n", "100", "-o", "m.csv")
    tap.mercer("sample", "friedman", "-n", "10", "-o", "f.csv")
    tap.mercer("fit", "svm", "m.csv", "-k", "rbf(gamma=1)", "--approx", "rff", "--rank", "20", "-o",
               "m.mercer", "--quiet")
    rows = list(open("f.csv"))[1:]
    with open("f.csv", "w") as out:
        out.writelines(rows)
    done = tap.mercer("predict", "m.mercer", "f.csv", "--target", "none", status=1)
    assert "features" in done.stderr, done.stderr
    done = tap.mercer("export", "m.mercer", "--to", "libsvm", "-o", "m.model", status=2)
    assert "random Fourier features" in done.stderr, done.stderr
    done = tap.mercer("explain", "m.mercer", status=2)
    assert "random Fourier features" in done.stderr, done.stderr


def test_features_near_a_kernel():
    tap.mercer("sample", "moons", "-n", "400", "-o", "m.csv")
    for options in (["rff"], ["nystrom"], ["nystrom", "--landmarks", "kmeans"],
                    ["nystrom", "--landmarks", "leverage"]):
        call = ["features", "m.csv", "-k", "rbf(gamma=5)", "--rank", "60", "--approx", *options]
        out = tap.mercer_json(*call, "-o", "m.svm")
        tap.check_equal((out["n"], out["approx"], out["features"]), (400, options[0], 60))
        error = out["error"]
        assert 0 <= error["mean"] <= error["rms"] <= error["largest"], error
        assert error["rms"] < (0.2 if options[0] == "rff" else 0.02), (options, error)
        tap.check_equal(error["pairs"], 256 * 257 // 2)
        tap.check_near(error["scale"], 1, 1e-12, "K(x,x)")
        first = open("m.svm").read()
        tap.check_equal(len(first.splitlines()), 400)
        tap.mercer(*call, "-o", "again.svm", "--threads", "1", "--quiet")
        tap.check_equal(open("again.svm").read(), first)
        tap.mercer(*call, "-o", "other.svm", "--seed", "2", "--quiet")
        assert open("other.svm").read() != first
        text = tap.mercer(*call).stdout
        assert "error      mean" in text and "pairs" in text, text
    done = tap.mercer("features", "m.csv", "-k", "linear", "--approx", "rff", status=2)
    assert "nystrom" in done.stderr, done.stderr
    done = tap.mercer("features", "m.csv", "-k", "linear", "--approx", "nystrom", "--names", "2",
                      status=2)
    assert "--names" in done.stderr, done.stderr


def test_options_without_effect_are_refused():
    tap.mercer("sample", "moons", "-n", "40", "-o", "m.csv")
    for verb, *call in (["fit", "svm"], ["cv", "ridge"], ["features", "-k", "linear"]):
        for options, said in ((["--rank", "10"], "which is not given: add --approx nystrom,"),
                              (["--approx", "none", "--rank", "10"], "which is not given"),
                              (["--landmarks", "kmeans"], "--landmarks is for --approx nystrom and falkon (gp: sgpr):"),
                              (["--approx", "rff", "--landmarks", "uniform"], "and rff has none")):
            done = tap.mercer(verb, *call, "m.csv", *options, status=2)
            assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    for options in (["rff", "--rank", "10"], ["nystrom", "--rank", "10", "--landmarks", "uniform"]):
        tap.mercer("fit", "svm", "m.csv", "-k", "rbf(gamma=1)", "--approx", *options)


def test_random_features_are_the_kernel():
    """Inner products of what is written, against the formula."""
    tap.mercer("sample", "moons", "-n", "40", "-o", "m.csv")
    tap.mercer("features", "m.csv", "-k", "rbf(gamma=1)", "--approx", "rff", "--rank", "20000",
               "-o", "m.svm", "--quiet")
    points = [[float(v) for v in line.split(",")[:2]] for line in list(open("m.csv"))[1:]]
    rows = [[float(v.split(":")[1]) for v in line.split()[1:]] for line in open("m.svm")]
    for i in range(0, 40, 7):
        for j in range(i):
            near = sum(a * b for a, b in zip(rows[i], rows[j]))
            exact = math.exp(-sum((a - b) ** 2 for a, b in zip(points[i], points[j])))
            tap.check_near(near, exact, 0.05, "pair")


if __name__ == "__main__":
    tap.main(globals())
