"""mercer fit and mercer learners: options, summaries, certificates, what is refused.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re

import numpy as np

import tap
from test_terminal import on_terminal, plain

KEYS = {"learner", "kernel", "n", "features", "classes", "seconds", "objective", "iterations",
        "support", "form", "stop", "certificate", "train"}


def write(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def sample(name="moons", n=120, **options):
    file = options.pop("file", name + ".csv")
    more = [str(x) for key, value in options.items() for x in ("--" + key, value)]
    tap.mercer("sample", name, "-n", n, "-o", file, *more)
    return file


def fit(*args, **more):
    return tap.mercer_json("fit", *args, **more)


def learners():
    return tap.mercer_json("learners")["learners"]


TASKS = ("classification", "regression", "classification or regression", "detection", "clustering",
         "transformation")


def data_for(task):
    return sample("sinc") if "regression" in task else sample("moons")


def read_csv(name):
    """x, y of a file with a header and the target last."""
    table = np.loadtxt(name, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def rbf(x, z, gamma):
    return np.exp(-gamma * ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2))


# ---- what there is -----------------------------------------------------------------------------


def test_rbf_without_gamma():
    """-k rbf is the default kernel for vectors; elsewhere gamma must be given."""
    tap.mercer("sample", "moons", "-n", "60", "-o", "plain.csv")
    default = tap.mercer_json("fit", "svm", "plain.csv")
    for kernel in ("rbf", " rbf( ) "):
        found = tap.mercer_json("fit", "svm", "plain.csv", "-k", kernel)
        tap.check_equal((found["kernel"], found["objective"]), (default["kernel"], default["objective"]))
    folds = [tap.mercer_json("cv", "svm", "plain.csv", *k)["metrics"] for k in ([], ["-k", "rbf"])]
    tap.check_equal(folds[0], folds[1])
    with open("words.csv", "w") as f:
        f.write("a,city,y\n" + "".join("%d,%s,%d\n" % (i, "Ulm" if i % 3 else "Kiel", i % 2) for i in range(60)))
    for verb in ("fit", "cv"):
        done = tap.mercer(verb, "svm", "words.csv", "-k", "rbf", status=2)
        assert "gamma has a default only for data of one field of vectors" in done.stderr, done.stderr
        assert "such as rbf(x, gamma=0.1), or omit -k" in done.stderr, done.stderr
    with open("mail.txt", "w") as f:
        f.write("".join("%s\tabc%d\n" % ("uv"[i % 2], i) for i in range(20)))
    done = tap.mercer("fit", "svm", "mail.txt", "-k", "rbf", status=2)
    tap.check_equal(done.stderr, "mercer: fit: rbf is a kernel on vectors, and the data have text (strings); "
                                 "for example -k 'spectrum(p=3)'\n")


def test_table_of_one_class():
    """There is nothing to choose a kernel by: the reason is not that of a search."""
    with open("one.csv", "w") as f:
        f.write("size,colour,kind\n" + "".join("%d,%s,yes\n" % (i * 7 % 60, "uvw"[i % 3]) for i in range(120)))
    for verb, n in ("fit", 120), ("cv", 96):
        tap.check_equal(tap.mercer(verb, "svm", "one.csv", status=1).stderr, 'mercer: one.csv: svm: all %d objects '
                        'are of class "yes"; two classes or more are needed\n' % n)


def test_one_line_of_words():
    """A header alone, unless a model says that the line is an object."""
    with open("head.csv", "w") as f:
        f.write("height,weight\n")
    for verb in (["info", "head.csv"], ["fit", "svm", "head.csv"]):
        assert "there are no objects in the file, only a header" in tap.mercer(*verb, status=1).stderr
    with open("words.csv", "w") as f:
        f.write("".join("%s,%s,%s\n" % ("uv"[i % 2], "pqr"[i % 3], "ab"[i % 2]) for i in range(30)))
    tap.mercer("fit", "svm", "words.csv", "-k", "equal(column1) + equal(column2)", "-o", "words.mercer")
    with open("row.csv", "w") as f:
        f.write("v,q,b\n")
    tap.check_equal(tap.mercer("predict", "words.mercer", "row.csv").stdout, "b\n")


def test_leave_one_out_of_a_singular_system():
    """The remark says that its error is not that of the lambda which was given."""
    with open("far.csv", "w") as f:
        f.write("a,b,y\n" + "".join("%d,%d,%d\n" % (100000 + i, 100000 + i * i % 7, i % 3) for i in range(24)))
    call = ["fit", "ridge", "far.csv", "-k", "poly(degree=3, c=1)", "--lambda", "1"]
    plain, loo = (tap.mercer_json(*call, *more)["remark"] for more in ([], ["--loo"]))
    assert "added to its diagonal for the factorisation; " in plain or plain.startswith("G +"), plain
    assert "for the factorisation and the leave-one-out error; " in loo, loo


def test_list_of_learners():
    names = [entry["name"] for entry in learners()]
    assert {"svm", "nu-svm", "one-class", "svr", "nu-svr"} <= set(names), names
    out = tap.mercer("learners").stdout
    for entry in learners():
        assert re.search(r"^  %s  +\S" % re.escape(entry["name"]), out, re.M), entry["name"]
        assert entry["summary"] and entry["task"] in TASKS
        for p in entry["params"]:
            assert {"name", "default", "min", "max", "help"} <= set(p) and p["help"], p


def test_every_learner_on_its_own():
    for entry in learners():
        out = tap.mercer("learners", entry["name"]).stdout
        assert out.startswith("learner    %s\n" % entry["name"]), out
        for p in entry["params"]:
            assert re.search(r"^%s  +\S" % re.escape(p["name"]), out, re.M), (p["name"], out)
        tap.check_equal(tap.mercer_json("learners", entry["name"])["learners"], [entry])
    done = tap.mercer("learners", "svn", status=2)
    tap.check_equal(done.stderr, 'mercer: learners: unknown learner "svn" (did you mean "svm"?)\n')
    done = tap.mercer("learners", "qqqqqq", status=2)
    assert "(mercer learners lists them)" in done.stderr


def test_help_of_a_learner_has_its_options():
    general = tap.mercer("fit", "--help").stdout
    for entry in learners():
        out = tap.mercer("fit", entry["name"], "--help").stdout
        shown = {o["name"]: o for o in tap.mercer_json("fit", entry["name"], "--help")["options"]}
        for p in entry["params"]:
            dashes = "-" if len(p["name"]) == 1 else "--"
            assert re.search(r"^ +(-., )?%s%s " % (dashes, re.escape(p["name"])), out, re.M), p["name"]
            assert p["help"] in out and p["help"] not in general
            assert p["name"] in shown
            if p["default"] is not None and p["type"] in ("choice", "flag"):
                tap.check_equal(shown[p["name"]]["default"], p["default"])


# ---- results -----------------------------------------------------------------------------------


# What a learner needs, or what it must not do here: gp would find another kernel.
MORE = {"gp": ["--optimize", "no"], "cca": ["--kernel2", "linear"],
        "pegasos": ["--tol", "0.001", "--passes", "20000"], "perceptron": ["--passes", "1000"]}


def test_every_learner_fits_and_is_certified():
    for entry in learners():
        file = data_for(entry["task"])
        call = [entry["name"], file, "-k", "rbf(gamma=1)", *MORE.get(entry["name"], [])]
        if "was built without" in tap.mercer("fit", *call, status=None).stderr:
            continue
        out = fit(*call, "-o", "m.mercer")
        assert KEYS <= set(out), KEYS - set(out)
        searched = "--optimize" not in call if entry["name"] == "gp" else entry["name"] == "kmeans"
        ends = "local" if searched else "optimal"
        tap.check_equal([out["learner"], out["n"], out["form"], out["stop"]],
                        [entry["name"], 120, "dual", ends])
        tap.check_equal(set(out["certificate"]), {"kind", "value", "tolerance", "error"})
        assert out["certificate"]["value"] <= out["certificate"]["tolerance"] <= 0.001, out
        if out["gap"] is not None:
            tap.check_near(out["gap"], out["primal"] - out["dual"], 1e-9)
            assert -1e-6 <= out["gap"] / max(1, abs(out["primal"])) < 0.1, out
        assert 0 < out["support"] <= 120 and out["iterations"] > 0
        tap.check_equal(set(out["train"]), {"accuracy"} if out["task"] == "classification" else
                        {"mse", "r2"} if out["task"] == "regression" else set())
        tap.check_equal(out["classes"], 2 if entry["task"] == "classification" else 0)
        assert os.path.getsize("m.mercer") > 100
        text = tap.mercer("fit", *call).stdout
        for part in ("learner    " + entry["name"], "kernel     rbf(gamma=1)\n", "120 objects",
                     "stop       %s: " % ends, "certified  ", "not kept (-o FILE saves it)"):
            assert part in text, (part, text)


def test_known_objective():
    file = tap.data("heart", "heart_scale")
    out = fit("svm", file, "-k", "rbf(gamma=0.0769230769)", "-C", 1, "--tol", "1e-6")
    tap.check_near(out["objective"], -100.877292, 1e-7, "objective")
    tap.check_equal([out["support"], out["n"], out["features"]], [132, 270, 13])
    assert out["certificate"]["value"] <= 1e-6


def test_certificate_is_what_it_says():
    """Primal and dual objective, computed here from the coefficients of the model."""
    file = sample("moons", noise=0.4)
    out = fit("svm", file, "-k", "rbf(gamma=2)", "-C", 3, "--tol", "1e-8", "-o", "m.mercer")
    tap.mercer("export", "m.mercer", "--to", "libsvm", "-o", "m.model")
    with open("m.model") as f:
        head, rows = f.read().split("SV\n")
    rho = float(re.search(r"^rho (\S+)", head, re.M).group(1))
    rows = [row.split() for row in rows.splitlines()]
    coef = np.array([float(row[0]) for row in rows])
    sv = np.array([[float(dict(p.split(":") for p in row[1:]).get(k, 0)) for k in "12"]
                   for row in rows])
    x, y = read_csv(file)
    square = coef @ rbf(sv, sv, 2) @ coef
    margin = y * (rbf(x, sv, 2) @ coef - rho)
    primal = square / 2 + 3 * np.maximum(0, 1 - margin).sum()
    dual = np.abs(coef).sum() - square / 2
    tap.check_near(out["primal"], primal, 1e-9, "primal")
    tap.check_near(out["dual"], dual, 1e-9, "dual")
    tap.check_near(out["objective"], -dual, 1e-9, "objective")
    tap.check_near(out["train"]["accuracy"], np.mean(margin > 0), 1e-12)


def test_default_kernel_is_scaled_to_the_data():
    file = sample("blobs", n=90)
    x, _ = read_csv(file)
    gamma = float(re.fullmatch(r"rbf\(gamma=(\S+)\)", fit("svm", file)["kernel"]).group(1))
    tap.check_near(gamma, 1 / (x.shape[1] * x.var()), 1e-12)
    strings = sample("motifs", file="motifs.txt")
    done = tap.mercer("fit", "svm", strings, status=2)
    assert "no kernel given (-k)" in done.stderr, done.stderr
    kernel = re.search(r"have (\w+) \(strings\); for example -k '(.*)'$", done.stderr.strip())
    assert kernel, done.stderr
    tap.mercer("fit", "svm", strings, "-k", kernel.group(2))
    mixed = sample("mixed", n=20, file="mixed.jsonl")
    done = tap.mercer("fit", "svm", mixed, status=2)
    for part in ("x (vectors)", "sequence (strings)", "molecule (graphs)"):
        assert part in done.stderr, done.stderr
    tap.mercer("fit", "svm", mixed, "-k", done.stderr.split("'")[1])
    with open("huge.csv", "w") as f:
        f.write("1e200,2,1\n-1e200,4,-1\n")
    done = tap.mercer("fit", "svm", "huge.csv", status=1)
    assert "default kernel" in done.stderr and "scale" in done.stderr, done.stderr


def test_precomputed_needs_no_kernel():
    file = sample("blobs", n=40)
    _, y = read_csv(file)
    tap.mercer("gram", file, "-k", "linear", "-o", "k.npy")
    np.save("y.npy", np.asarray(y, dtype=float))
    more = ["--format", "precomputed", "--target", "y.npy"]
    got, wanted = fit("svm", "k.npy", *more), fit("svm", file, "-k", "linear")
    tap.check_equal(got["kernel"], "precomputed")
    tap.check_near(got["objective"], wanted["objective"], 1e-6)
    np.save("oblong.npy", np.load("k.npy")[:, :30])
    done = tap.mercer("fit", "svm", "oblong.npy", *more, status=1)
    assert "40 x 30" in done.stderr and "square" in done.stderr, done.stderr
    done = tap.mercer("fit", "svm", "k.npy", "--target", "y.npy", "-k", "precomputed", status=1)
    assert "--format precomputed" in done.stderr, done.stderr
    # Kernel values that are taken for vectors are remarked on, other squares are not.
    said = ("if these are kernel values, use --format precomputed, which reads .npy files and LIBSVM "
            "lines")
    assert said in tap.mercer("fit", "svm", "k.npy", "--target", "y.npy").stderr
    assert said in tap.mercer("fit", "svm", "k.npy", status=1).stderr
    x = np.load("k.npy")
    x[0, 1] += 1
    np.save("x.npy", x)
    for call in (["x.npy", "--target", "y.npy"], ["k.npy", "--target", "y.npy", "-k", "linear"]):
        tap.check_equal(tap.mercer("fit", "svm", *call).stderr, "")


def write_labels(file, labels):
    with open(file, "w") as f:
        f.write("a,b,grade\n" + "".join("%d,%d,%s\n" % (i % 7, i * i % 11, y) for i, y in enumerate(labels)))
    return file


def test_measurements_are_no_classes():
    file = sample("sinc", n=30, file="sinc.csv")
    for learner in ("svm", "nu-svm", "l1-svm", "logistic", "perceptron", "pegasos", "fisher"):
        for verb in ("fit", "cv", "tune"):
            said = tap.mercer(verb, learner, file, status=1).stderr
            assert said.startswith("mercer: sinc.csv: the targets are 30 different numbers, and " + learner), said
            assert "use svr, ridge or gp (mercer %s ridge ...)" % verb in said, said
            assert "--role COLUMN=category" in said, said
    for call in (["svr", "sinc.csv"], ["svm", sample("blobs", n=30, file="blobs.csv")]):
        tap.check_equal(tap.mercer("fit", *call).stderr, "")


def test_numbers_that_are_classes():
    """Codes go on as they were; whole numbers with gaps are remarked on, and a role says that they are classes."""
    for classes, labels in ((11, [i % 11 for i in range(60)]), (26, [i % 26 + 1 for i in range(60)])):
        done = tap.mercer("fit", "svm", write_labels("codes.csv", labels), "-k", "linear", "--json")
        tap.check_equal((done.stderr, json.loads(done.stdout)["classes"]), ("", classes))
    done = tap.mercer("fit", "svm", write_labels("gaps.csv", [i % 20 * 100 for i in range(60)]), "-k", "linear")
    assert "warning: the targets are 20 different numbers" in done.stderr, done.stderr
    tap.mercer("fit", "svm", write_labels("prices.csv", [i * i * 37 for i in range(60)]), status=1)
    done = tap.mercer("fit", "svm", write_labels("faces.csv", [i // 2 for i in range(59)]), "-k", "linear")
    assert "warning: the targets are 30 different numbers" in done.stderr, done.stderr
    write_labels("grades.csv", ["%.2f" % (i % 12 / 4) for i in range(60)])
    call = ["fit", "svm", "grades.csv", "-k", "rbf(gamma=1)", "--json", "-o", "m.mercer"]
    assert "12 different numbers" in tap.mercer(*call).stderr
    done = tap.mercer(*call, "--role", "grade=category")
    tap.check_equal((done.stderr, json.loads(done.stdout)["classes"]), ("", 12))
    # New data are read as numbers, and have the same classes.
    accuracy = tap.mercer_json("predict", "m.mercer", "grades.csv", "-o", "y.txt")["metrics"]["accuracy"]
    tap.check_equal(accuracy, json.loads(done.stdout)["train"]["accuracy"])
    # A learner of both takes them for classes without more words.
    assert "classes" in tap.mercer_json("fit", "knn", "grades.csv", "--role", "grade=category")


def test_many_classes_of_words():
    """Most of them once: words are classes, however many there are."""
    many = 60 if tap.brief() else 150
    for learner, classes in ("svm", many // 3), ("logistic", many), ("fisher", many), ("knn", many):
        write_labels("words.csv", ["w%d" % (i % classes) for i in range(classes + 10)])
        done = tap.mercer_json("fit", learner, "words.csv", "-k", "linear")
        tap.check_equal(done["classes"], classes)


def test_same_answer_on_any_number_of_threads():
    file = sample("spirals", n=400)
    one, two = (fit("svm", file, "-k", "rbf(gamma=3)", "-C", 50, "--threads", t) for t in (1, 2))
    for key in set(one) - {"seconds", "seconds_total"}:
        tap.check_equal(one[key], two[key], key)


def test_several_files_are_one_data_set():
    rows = ["%d 1:%g 2:%g%s\n" % (1 - 2 * (i % 2), i % 7, i % 5, " 3:1" if i > 30 else "")
            for i in range(60)]
    write("a.svm", "".join(rows[:25]))
    write("b.svm", "".join(rows[25:]))
    write("all.svm", "".join(rows))
    want, got = fit("svm", "all.svm"), fit("svm", "a.svm", "b.svm")
    for key in ("n", "features", "classes", "objective", "kernel", "support"):
        tap.check_equal(got[key], want[key], key)
    write("other.csv", "a,y\n1,1\n2,-1\n")
    assert "cannot join" in tap.mercer("fit", "svm", "a.svm", "other.csv", status=1).stderr


def test_fasta_classes():
    write("pos.fa", "".join(">p%d\nACGTACGT%s\n" % (i, "AC" * i) for i in range(5)))
    write("neg.fa", "".join(">n%d\nTTTTGGGG%s\n" % (i, "TG" * i) for i in range(5)))
    out = fit("svm", "--class", "pos.fa", "--class", "neg.fa", "-k", "spectrum(p=2)", "-o", "m")
    tap.check_equal([out["n"], out["classes"], out["train"]["accuracy"]], [10, 2, 1])


# ---- options -----------------------------------------------------------------------------------


def test_forms_of_options():
    file = sample()
    want = fit("svm", file, "-C", 10, "--tol", "1e-5")
    assert want["objective"] != fit("svm", file)["objective"]
    for call in (["svm", file, "-C10", "--tol=1e-5"], ["svm", "--C=10", file, "--tol", "0.00001"],
                 ["-C", "10", "--tol", "1e-5", "svm", file],
                 ["svm", file, "--C", "10", "--tol", "1e-5", "--bias", "--probability", "no"]):
        got = fit(*call)
        tap.check_equal(got["objective"], want["objective"], " ".join(call))
    free = fit("svm", file, "--bias=no")
    tap.check_equal(fit("svm", "--bias", "no", file)["objective"], free["objective"])
    assert free["objective"] != fit("svm", file)["objective"]
    tap.check_equal(fit("svm", file, "-C", 10)["options"], "C=10")


def test_lambda_is_another_scale_of_C():
    file = sample(n=100)
    want = fit("svm", file, "-C", 5, "--tol", "1e-6")["objective"]
    got = fit("svm", file, "--lambda", 1 / (2 * 5 * 100), "--tol", "1e-6")["objective"]
    tap.check_near(got, want, 1e-9)
    assert "not both" in tap.mercer("fit", "svm", file, "-C", 5, "--lambda", 1, status=2).stderr


def test_weights():
    """A weight of 3 is the same as three copies, and a class weight the same as weights."""
    x, y = read_csv(sample(n=60, noise=0.5))
    row = ["%r,%r,%g" % (a, b, t) for (a, b), t in zip(x.tolist(), y)]
    heavy = [i % 4 == 0 for i in range(60)]
    write("w.csv", "a,b,w,y\n" + "".join("%s,%d,%s\n" % (
        r.rsplit(",", 1)[0], 3 if h else 1, r.rsplit(",", 1)[1]) for r, h in zip(row, heavy)))
    write("c.csv", "a,b,y\n" + "".join((r + "\n") * (3 if h else 1) for r, h in zip(row, heavy)))
    options = ["-k", "rbf(gamma=1)", "--tol", "1e-7"]
    tap.check_near(fit("svm", "w.csv", "--weight", "w", *options)["objective"],
                   fit("svm", "c.csv", *options)["objective"], 1e-7)
    write("p.csv", "a,b,w,y\n" + "".join("%s,%g,%s\n" % (
        r.rsplit(",", 1)[0], 2.5 if t > 0 else 1, r.rsplit(",", 1)[1]) for r, t in zip(row, y)))
    want = fit("svm", "p.csv", "--weight", "w", *options)["objective"]
    write("r.csv", "a,b,y\n" + "".join(r + "\n" for r in row))
    tap.check_near(fit("svm", "r.csv", "--class-weight", "1=2.5", *options)["objective"], want,
                   1e-7)
    tap.check_near(fit("svm", "r.csv", "--class-weight", "1=2.5,-1=1", *options)["objective"], want,
                   1e-7)
    done = tap.mercer("fit", "svm", "r.csv", "--class-weight", "7=2", status=2)
    assert '"7"' in done.stderr


def test_words_of_the_call_that_are_off():
    file = sample()
    having = {o: ", ".join(e["name"] for e in learners() if o in [p["name"] for p in e["params"]])
              for o in ("nu", "C")}
    for call, said in (
            ([], "fit: LEARNER is missing (usage: mercer fit LEARNER DATA... [-k KERNEL] "
             "[-o MODEL])"),
            (["svm"], "fit: DATA is missing (usage: mercer fit LEARNER DATA... [-k KERNEL] "
             "[-o MODEL])"),
            (["svn", file], 'unknown learner "svn" (did you mean "svm"?)'),
            (["svr", file, "--nu", "1"], "fit: svr has no option --nu (it is one of %s; see mercer "
             "fit svr --help)" % having["nu"]),
            (["nu-svm", file, "-C", "1"], "fit: nu-svm has no option -C (it is one of %s; see "
             "mercer fit nu-svm --help)" % having["C"]),
            (["svm", file, "--tool", "1"],
             'fit: unknown option "--tool" (did you mean "--tol"?)'),
            (["svm", file, "-C"], "fit: -C needs a value: -C X"),
            (["svm", file, "-C", "0"], 'svm: C must be a number above 0, not "0"'),
            (["svm", file, "-C", "-1"], 'svm: C must be a number above 0, not "-1"'),
            (["svm", file, "-C", "1e400"], 'svm: C must be a number above 0, not "1e400", which is '
             "too large for a number (infinity is written inf)"),
            (["svm", file, "-C", "ten"], 'svm: C must be a number above 0, not "ten"'),
            (["svm", file, "--bias=maybe"], 'svm: bias must be yes or no, not "maybe"')):
        done = tap.mercer("fit", *call, status=2)
        tap.check_equal(done.stderr, "mercer: %s\n" % said)
        tap.check_equal(done.stdout, "")
        error = tap.mercer_json("fit", *call, status=2)["error"]
        assert said.endswith(error["message"]), error
    done = tap.mercer("fit", "svm", file, "-k", "rbff(gamma=1)", status=2)
    tap.check_equal(done.stderr.splitlines()[1:], ["    rbff(gamma=1)", "    ^~~~"])


# ---- bad data, and models that stay whole ------------------------------------------------------


def test_bad_data():
    write("one.svm", "1 1:1\n1 1:2\n")
    write("words.csv", "a,y\n1,cat\n2,dog\n3,cat\n")
    write("nan.svm", "1 1:1\n-1 1:nan\n")
    write("none.csv", "")
    for call, start, part in ((["svm", "one.svm"], "one.svm: ", 'class "1"'),
                              (["svr", "words.csv"], "words.csv: ", '"cat"'),
                              (["nu-svr", "words.csv"], "words.csv: ", '"cat"'),
                              (["svm", "nan.svm"], "nan.svm:2: ", "nan"),
                              (["svm", "none.csv"], "none.csv: ", ""),
                              (["svm", "nowhere.csv"], "nowhere.csv: ", "")):
        done = tap.mercer("fit", *call, "-o", "m.mercer", status=1)
        assert done.stderr.startswith("mercer: " + start) and part in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
        assert not os.path.exists("m.mercer")
    error = tap.mercer_json("fit", "svm", "one.svm", status=1)["error"]
    tap.check_equal(error["file"], "one.svm")


def test_infeasible_nu_names_the_largest():
    write("d.svm", "".join("%d 1:%d\n" % (-1 if i < 2 else 1, i) for i in range(10)))
    done = tap.mercer("fit", "nu-svm", "d.svm", "--nu", "0.6", status=2)
    most = float(re.search(r"largest feasible value is (\S+)", done.stderr).group(1))
    tap.check_near(most, 0.4, 1e-12)
    tap.check_equal(fit("nu-svm", "d.svm", "--nu", most)["stop"], "optimal")


def test_hard_margin():
    file = sample("xor", n=80, noise=0)
    out = fit("svm", file, "-k", "poly(degree=2, c=0)", "-C", "inf")
    tap.check_equal([out["stop"], out["train"]["accuracy"]], ["optimal", 1])
    assert out["certificate"]["value"] <= out["certificate"]["tolerance"]
    done = tap.mercer("fit", "svm", file, "-k", "linear", "-C", "inf", "-o", "m", status=1)
    assert "not separable" in done.stderr and not os.path.exists("m"), done.stderr


def test_old_model_stays_when_the_new_one_fails():
    good = sample()
    tap.mercer("fit", "svm", good, "-o", "m.mercer")
    with open("m.mercer", "rb") as f:
        before = f.read()
    write("one.svm", "1 1:1\n1 1:2\n")
    tap.mercer("fit", "svm", "one.svm", "-o", "m.mercer", status=1)
    tap.mercer("fit", "svm", good, "-k", "linear", "-C", "inf", "-o", "m.mercer", status=1)
    with open("m.mercer", "rb") as f:
        assert f.read() == before
    tap.check_equal([n for n in os.listdir(".") if n.startswith("m.mercer")], ["m.mercer"])


def test_places_where_no_model_can_be():
    file = sample()
    os.mkdir("folder")
    done = tap.mercer("fit", "svm", file, "-o", "folder", status=1)
    tap.check_equal(done.stderr, "mercer: folder: this is a folder, not a file\n")
    done = tap.mercer("fit", "svm", "nowhere.csv", "-o", "no/where.mercer", status=1)
    tap.check_equal(done.stderr, "mercer: no/where.mercer: cannot be written: No such file or "
                    "directory\n")
    assert "compressed" in tap.mercer("fit", "svm", file, "-o", "m.gz", status=2).stderr
    assert "standard output" in tap.mercer("fit", "svm", file, "-o", "-", "--json",
                                           status=2).stderr


def test_model_on_standard_output():
    file = sample()
    tap.mercer("fit", "svm", file, "-o", "m.mercer")
    model = tap.mercer("fit", "svm", file, "-o", "-", text=False).stdout
    write("piped", "")
    with open("piped", "wb") as f:
        f.write(model)
    want = tap.mercer("predict", "m.mercer", file).stdout
    tap.check_equal(tap.mercer("predict", "piped", file).stdout, want)
    tap.check_equal(tap.mercer("fit", "svm", file, "-o", "q.mercer", "--quiet").stdout, "")


# ---- training that ends early ------------------------------------------------------------------

# Rounding allows a violation of about 1e-9 here: coefficients of 1e4 in sums of hundreds.
HARD = ["-k", "rbf(gamma=5)", "-C", "1e4", "--tol", "1e-5"]


def test_steps_and_going_on():
    file = sample("moons", n=600, noise=0.5)
    done = tap.mercer("fit", "svm", file, *HARD, "--max-steps", 300, "-o", "part.mercer")
    assert re.fullmatch(r"mercer: warning: not optimal: KKT violation \S+, tolerance 1e-05: .*"
                        r"--max-steps.*--start part\.mercer.*\n", done.stderr), done.stderr
    assert "stop       steps: " in done.stdout
    part = tap.mercer_json("info", "part.mercer")
    tap.check_equal(part["stop"], "steps")
    assert part["certificate"]["value"] > 1e-5
    whole = fit("svm", file, *HARD)
    tap.check_equal(whole["stop"], "optimal")
    assert whole["objective"] < part["objective"] < 0
    again = fit("svm", file, *HARD, "--start", "part.mercer", "-o", "whole.mercer")
    tap.check_equal(again["stop"], "optimal")
    tap.check_near(again["objective"], whole["objective"], 1e-9)
    easy = ["-k", "rbf(gamma=1)", "-C", 10, "--tol", "1e-4"]
    whole = fit("svm", file, *easy, "-o", "whole.mercer")
    quick = fit("svm", file, *easy, "--start", "whole.mercer")
    tap.check_near(quick["objective"], whole["objective"], 1e-9)
    assert quick["iterations"] < whole["iterations"] / 4, (quick, whole)


def test_a_start_must_fit():
    file = sample(n=50)
    tap.mercer("fit", "svm", file, "-o", "m.mercer")
    done = tap.mercer("fit", "nu-svm", file, "--start", "m.mercer", status=2)
    assert "must be the same" in done.stderr, done.stderr
    done = tap.mercer("fit", "svm", sample(n=60), "--start", "m.mercer", status=2)
    assert "50 objects" in done.stderr and "60" in done.stderr, done.stderr


def test_time_limit():
    file = sample("moons", n=3000, noise=0.7)
    out = tap.mercer("fit", "svm", file, *HARD, "--time-limit", "0.05", "--json")
    got = json.loads(out.stdout)
    if got["stop"] == "optimal":
        tap.skip("too fast for a limit")
    tap.check_equal(got["stop"], "time")
    assert "--time-limit" in out.stderr and out.stderr.count("\n") == 1, out.stderr
    assert got["gap"] > 0 and got["certificate"]["value"] > 1e-5
    quiet = tap.mercer("fit", "svm", file, *HARD, "--time-limit", "0.05", "--quiet")
    assert "not optimal" in quiet.stderr and quiet.stdout, quiet  # a warning is no progress


def test_time_limit_within_a_product():
    """One product with K takes longer than the limit: no model, or one whose certificate holds."""
    file = sample("moons", n=6000, noise=0.5)
    for learner in (["logistic", "--form", "dual"], ["erm", "--loss", "squared-hinge", "--task", "classify"]):
        done = tap.mercer("fit", *learner, file, "-k", "rbf(gamma=2)", "--memory", "64M", "--time-limit",
                          "0.05", "-o", "limit.mercer", "--quiet", status=None)
        if done.returncode:
            assert "before there was a model" in done.stderr, done.stderr
            assert not os.path.exists("limit.mercer")
        else:
            tap.mercer("verify", "limit.mercer", file)
            os.remove("limit.mercer")


def test_time_limit_before_the_first_gradient():
    """Each pair of classes needs rows of K before its first step: a limit is no interruption."""
    file = sample("blobs", n=15000)
    done = tap.mercer("fit", "nu-svm", file, "-k", "rbf(gamma=2)", "--nu", "0.9", "--time-limit", "0.1",
                      "--json", "--quiet", status=None)
    assert done.returncode in (0, 1), done
    if done.returncode == 0:
        assert json.loads(done.stdout)["stop"] in ("time", "optimal"), done.stdout
    else:
        assert "before there was a model" in done.stderr, done.stderr


LONG = 2500 if tap.brief() else 6000


def long_training():
    return sample("moons", n=LONG, noise=0.9)


def test_interrupt_keeps_the_best_so_far():
    file = long_training()
    status, text = on_terminal("fit", "svm", file, *HARD, "-o", "m.mercer",
                               stop_after=b"violation")
    text = plain(text)
    if "stop       optimal" in text:
        tap.skip("too fast to be interrupted")
    tap.check_equal(status, 130)
    assert re.search(r"svm .*objective \S+  violation \S+  active \d+/%d  \d" % LONG, text), text[:400]
    assert "stop       interrupted: " in text and "interrupted; call it again" in text, text
    tap.check_equal(tap.mercer_json("info", "m.mercer")["stop"], "interrupted")
    tap.check_equal(len(tap.mercer("predict", "m.mercer", file).stdout.splitlines()), LONG)


def test_interrupt_keeps_a_better_model():
    """A file that is there stays; the same call replaces its own unfinished result."""
    file = long_training()
    tap.mercer("fit", "svm", file, "-k", "linear", "-o", "m.mercer", "--quiet")
    with open("m.mercer", "rb") as f:
        better = f.read()
    status, text = on_terminal("fit", "svm", file, *HARD, "-o", "m.mercer", stop_after=b"violation")
    if "stop       optimal" in plain(text):
        tap.skip("too fast to be interrupted")
    tap.check_equal(status, 130)
    with open("m.mercer", "rb") as f:
        assert f.read() == better
    assert "m.mercer.interrupted" in plain(text), text
    tap.check_equal(tap.mercer_json("info", "m.mercer.interrupted")["stop"], "interrupted")
    os.rename("m.mercer.interrupted", "m.mercer")
    status, text = on_terminal("fit", "svm", file, *HARD, "-o", "m.mercer", stop_after=b"violation")
    assert not os.path.exists("m.mercer.interrupted") or "optimal:" in text, text


def test_require_optimal():
    file = sample("moons", n=600, noise=0.7)
    call = ["fit", "svm", file, *HARD, "-o", "m.mercer", "--require", "optimal"]
    tap.mercer(*call, "-C", "1", "--tol", "1e-3", "--quiet")
    with open("m.mercer", "rb") as f:
        better = f.read()
    done = tap.mercer(*call, "--max-steps", "3", "--quiet", status=3)
    assert "--require optimal" in done.stderr and "m.mercer is left as it was" in done.stderr, done
    with open("m.mercer", "rb") as f:
        assert f.read() == better
    tap.mercer("fit", "svm", file, *HARD, "--max-steps", "3", "-o", "n.mercer", "--quiet")  # status 0
    tap.mercer("fit", "svm", file, "--require", "best", status=2)
    tap.mercer("tune", "svm", file, "-k", "rbf(gamma=1:2:log2)", "--max-steps", "3", "--folds", "2",
               "--require", "optimal", "-o", "t.mercer", status=3)
    assert not os.path.exists("t.mercer")


if __name__ == "__main__":
    tap.main(globals())
