"""perceptron and pegasos on the command line: going on with more data, budgets, what is refused.

SPDX-License-Identifier: Apache-2.0
"""

import tap
from test_fit import sample, write


def fit(*call, model="m.mercer"):
    return tap.mercer_json("fit", *call, "-o", model)


def lines(path):
    with open(path) as f:
        return f.read().splitlines()


def parts(name, n, count):
    """The sample in one file, and in `count` files of equal parts."""
    head, *rows = lines(sample(name, n=n))
    files = []
    for p in range(count):
        files.append("part%d.csv" % p)
        write(files[-1], "\n".join([head] + rows[p * n // count:(p + 1) * n // count]) + "\n")
    return name + ".csv", files


def test_a_stream_in_parts_is_one_pass():
    whole, files = parts("moons", 600, 3)
    for options in (["--variant", "averaged"], ["--variant", "voted"], ["--budget", "12"]):
        fit("perceptron", whole, "-k", "rbf(gamma=2)", "--passes", 1, *options, model="all.mercer")
        report = fit("perceptron", files[0], "-k", "rbf(gamma=2)", "--passes", 1, *options)
        for f in files[1:]:
            report = fit("--resume", "m.mercer", f)  # learner, kernel and options are the model's
        tap.check_equal([report["learner"], report["n"], report["kernel"]],
                        ["perceptron", 600, "rbf(gamma=2)"])
        out = [tap.mercer("predict", m, whole, "--quiet").stdout for m in ("all.mercer", "m.mercer")]
        tap.check_equal(out[0], out[1])
        if "--budget" in options:
            tap.check_equal(report["support"], 12)
            assert "dropped to keep the budget of 12" in report["remark"], report


def test_support_stays_within_the_budget():
    _, files = parts("spirals", 1200, 6)
    for learner in ("perceptron", "pegasos"):
        report = fit(learner, files[0], "-k", "rbf(gamma=1)", "--passes", 2, "--budget", 40)
        for f in files[1:]:
            report = fit("--resume", "m.mercer", f)
            assert report["support"] <= 40, report
        tap.check_equal(report["n"], 1200)
        assert len(open("m.mercer", "rb").read()) < 10000
        report = fit("--resume", "m.mercer", files[0], "--budget", 10)
        tap.check_equal(report["support"], 10)


def test_the_learner_may_be_named_and_options_changed():
    _, files = parts("blobs", 300, 2)
    fit("pegasos", files[0], "--lambda", 0.01, "--passes", 3)
    report = fit("pegasos", "--resume", "m.mercer", files[1], "--passes", 1, "--batch", 5)
    tap.check_equal(report["options"], "lambda=0.01 passes=1 batch=5")
    tap.check_equal([report["stop"], report["certificate"]["value"]], ["steps", None])
    done = tap.mercer("fit", "--resume", "m.mercer", files[1])
    assert done.stderr == "" and "new objects alone" in done.stdout, done


def test_another_C_is_used():
    """lambda = 1 / (C n), with the n that the model began with."""
    _, files = parts("blobs", 300, 2)
    fit("pegasos", files[0], "-k", "rbf(gamma=1)", "--passes", 3, model="one.mercer")
    for c, text in ((1, "lambda = 0.00666667"), (4, "lambda = 0.00166667")):
        report = fit("--resume", "one.mercer", files[1], "-C", c, "--passes", 2, model="m.mercer")
        assert text in report["remark"], report
        report = fit("--resume", "m.mercer", files[0], model="n.mercer")
        assert text in report["remark"], report
    report = fit("--resume", "m.mercer", files[0], "-C", 2, model="n.mercer")
    assert "lambda = 0.00333333" in report["remark"], report
    done = tap.mercer("fit", "--resume", "one.mercer", files[1], "--lambda", "1", "-C", "1", status=2)
    assert "set the same parameter" in done.stderr, done.stderr


def test_approximate_features():
    whole, files = parts("rings", 600, 2)
    for approx in ("nystrom", "rff"):
        report = fit("perceptron", whole, "-k", "rbf(gamma=2)", "--approx", approx, "--rank", 60,
                     "--variant", "averaged")
        tap.check_equal([report["form"], report["approx"]["kind"], report["approx"]["features"]],
                        ["primal", approx, 60])
        assert report["train"]["accuracy"] > 0.95, report
        metrics = tap.mercer_json("predict", "m.mercer", whole)["metrics"]
        tap.check_near(metrics["accuracy"], report["train"]["accuracy"], 1e-12, approx)
        done = tap.mercer("fit", "--resume", "m.mercer", files[0], status=2)
        assert "cannot continue with an approximate kernel" in done.stderr, done.stderr
    for option in (["--variant", "voted"], ["--budget", "5"]):
        done = tap.mercer("fit", "perceptron", whole, "--approx", "nystrom", *option, status=2)
        assert "omit one of the two" in done.stderr, done.stderr


def test_what_cannot_go_on_is_refused():
    _, files = parts("blobs", 120, 2)
    write("wide.csv", "1,2,3,1\n4,5,6,2\n")
    write("other.csv", lines(files[0])[0] + "\n1,2,9\n")
    fit("perceptron", files[0])
    fit("svm", files[0], model="svm.mercer")
    for call, status, said in (
            (["--resume", "svm.mercer", files[1]], 2, "svm.mercer is a model of svm, which cannot"),
            (["pegasos", "--resume", "m.mercer", files[1]], 2, "a model of perceptron, not of pegasos"),
            (["--resume", "m.mercer", "wide.csv", "--target", "4"], 1, "wide.csv: cannot join"),
            (["--resume", "m.mercer", "other.csv"], 1, 'other.csv: perceptron: the model has no class "9"'),
            (["--resume", "m.mercer", files[1], "--budget", "0"], 2, "budget must be"),
            (["--resume", "m.mercer", files[1], "--start", "m.mercer"], 2, "give one of them"),
            (["--resume", "m.mercer", files[1], "-C", "1"], 2, "perceptron has no option -C"),
            (["--resume", "m.mercer", files[1], "-k", "rbf(gamma=7)"], 2, "with its own kernel, rbf(gamma="),
            (["--resume", "m.mercer", files[1], "--bias", "no"], 2, "was trained with it (bias=yes)"),
            (["--resume", "none.mercer", files[1]], 1, "none.mercer"),
            (["--resume", "m.mercer", files[1], "--target", "none"], 1, ""),
            (["perceptron", files[1], "--budget", "0"], 2, "budget must be")):
        done = tap.mercer("fit", *call, status=status)
        assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    kernel = tap.mercer_json("info", "m.mercer")["kernel"]
    tap.mercer("fit", "--resume", "m.mercer", files[1], "-k", kernel, "--bias", "yes")
    fit("pegasos", files[0], model="p.mercer")
    done = tap.mercer("fit", "--resume", "p.mercer", files[1], "--average", "last", status=2)
    assert "the average cannot change" in done.stderr, done.stderr
    before = open("m.mercer", "rb").read()
    tap.mercer("fit", "--resume", "m.mercer", "wide.csv", "-o", "m.mercer", status=1)
    assert open("m.mercer", "rb").read() == before


def test_forms_agree_and_say_so():
    file = sample("moons", n=300)
    found = {}
    for form in ("dual", "primal", "auto"):
        found[form] = fit("perceptron", file, "-k", "poly(degree=3, c=1)", "--form", form)
    tap.check_equal(len({(r["support"], r["iterations"], r["objective"]) for r in found.values()}), 1)
    tap.check_equal([found[s]["form"] for s in ("dual", "primal")], ["dual", "primal"])
    assert "trained on kernel values" in found["dual"]["remark"]
    assert "trained on 10 explicit features" in found["primal"]["remark"]
    done = tap.mercer("fit", "perceptron", file, "-k", "rbf(gamma=1)", "--form", "primal", status=2)
    assert "no finite feature map" in done.stderr, done.stderr


def test_a_limit_is_reported():
    file = sample("moons", n=200)
    done = tap.mercer("fit", "perceptron", file, "-k", "linear", "--passes", 2, "-o", "m.mercer")
    assert "allow more (--passes) (--start m.mercer continues" in done.stderr, done.stderr
    report = fit("perceptron", file, "-k", "linear", "--passes", 1, "--start", "m.mercer",
                 model="n.mercer")
    whole = fit("perceptron", file, "-k", "linear", "--passes", 3, model="o.mercer")
    tap.check_equal([report["iterations"], report["objective"]],
                    [whole["iterations"], whole["objective"]])


if __name__ == "__main__":
    tap.main(globals())
