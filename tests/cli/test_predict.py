"""mercer predict: labels, values, scores, probabilities, metrics.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import json
import os
import re

import numpy as np

import tap
from test_fit import read_csv, rbf, sample, write


def fitted(learner, file, *options, model="m.mercer"):
    tap.mercer("fit", learner, file, *options, "-o", model)
    return model


def predict(*args, **more):
    return tap.mercer("predict", *args, **more)


def lines(*args):
    return predict(*args).stdout.splitlines()


def table(*args):
    """Header and numbers of text with several columns."""
    out = lines(*args)
    assert out[0].startswith("# "), out[0]
    return out[0][2:].split("\t"), np.array([[float(v) for v in row.split("\t")]
                                             for row in out[1:]])


def test_labels_and_accuracy():
    file = sample("moons", n=150, noise=0.3)
    model = fitted("svm", file, "-k", "rbf(gamma=2)")
    done = predict(model, file)
    got = [float(v) for v in done.stdout.splitlines()]
    _, y = read_csv(file)
    right = int(np.sum(np.array(got) == y))
    assert done.stderr.startswith("accuracy %.6g (%d of 150), balanced_accuracy" % (right / 150, right)), done.stderr
    assert "\npositive class 1: precision " in done.stderr, done.stderr
    assert 100 < right <= 150
    out = tap.mercer_json("predict", model, file)
    tap.check_equal([out["n"], out["metrics"]["accuracy"]], [150, right / 150])
    assert 0 <= out["seconds"] <= out["seconds_total"]
    tap.check_equal(predict(model, file, "--quiet").stderr, "")


def test_metrics_of_scores():
    """Where there is little work, or they are requested; the predictions are the same."""
    few = sample("moons", n=300, noise=0.3)
    many = sample("moons", n=30000, noise=0.3, file="many.csv")
    model = fitted("svm", few, "-k", "rbf(gamma=2)")
    ranks = {"roc_auc", "average_precision"}
    assert ranks <= set(tap.mercer_json("predict", model, few)["metrics"])
    plain = tap.mercer_json("predict", model, many, "-o", "plain.txt")["metrics"]
    assert not ranks & set(plain), plain
    asked = tap.mercer_json("predict", model, many, "-o", "asked.txt", "--metric", "accuracy,roc_auc")["metrics"]
    assert 0.5 < asked["roc_auc"] <= 1, asked
    tap.check_equal(asked["accuracy"], plain["accuracy"])
    with open("plain.txt") as a, open("asked.txt") as b:
        tap.check_equal(a.read(), b.read())


def test_words_as_classes():
    x, y = read_csv(sample("moons", n=80))
    names = {1: "red, or so", -1: 'the "blue"'}
    with open("w.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["a", "b", "class"])
        out.writerows([*row, names[t]] for row, t in zip(x.tolist(), y))
    model = fitted("svm", "w.csv", "-k", "rbf(gamma=2)", "-C", 100)
    tap.check_equal(set(lines(model, "w.csv")), set(names.values()))
    predict(model, "w.csv", "-o", "p.csv")
    with open("p.csv", newline="") as f:
        rows = list(csv.reader(f))
    tap.check_equal(rows[0], ["label"])
    tap.check_equal([r[0] for r in rows[1:]], lines(model, "w.csv"))
    predict(model, "w.csv", "--scores", "-o", "s.csv")
    with open("s.csv", newline="") as f:
        head, *rows = csv.reader(f)
    first, second = (names[y[0]], names[-y[0]])
    tap.check_equal(head, ["%s : %s" % (second, first)])
    for row, label in zip(rows, lines(model, "w.csv")):
        tap.check_equal(label, second if float(row[0]) > 0 else first)
    done = predict(model, "w.csv", "-o", "p.npy", status=2)
    assert ".npy files hold numbers" in done.stderr and not os.path.exists("p.npy")


def test_names_of_sequences_are_no_classes():
    """Where no label is a class of the model, nothing is compared, and a remark says so."""
    def write(name, labels, form):
        with open(name, "w") as f:
            f.writelines(form % (w, "ACGTTGCA" if i % 2 else "TTTTGGGA") for i, w in enumerate(labels))
    fasta, text = ">%s\n%s\n", "%s\t%s\n"
    write("train.fa", ["s%d %s" % (i, "yes" if i % 2 else "no") for i in range(12)], fasta)
    tap.mercer("fit", "svm", "train.fa", "-k", "spectrum(p=2)", "-o", "m.mercer")
    write("names.fa", ["chr1:%d" % i for i in range(10)], fasta)
    write("words.fa", ["gene%d of E. coli" % i for i in range(5)], fasta)
    write("ids.txt", ["id%d" % i for i in range(5)], text)
    for file in ("names.fa", "words.fa", "ids.txt"):
        done = tap.mercer("predict", "m.mercer", file, "--json", "-o", "y.txt")
        tap.check_equal(json.loads(done.stdout)["metrics"], None)
        tap.check_equal(done.stderr, "mercer: warning: %s: no label is a class of the model: labels are treated as names, "
                        "and predictions are not evaluated\n" % file)
    # One of them is enough to compare with all.
    write("some.fa", ["s1 yes", "s2 perhaps"], fasta)
    done = tap.mercer("predict", "m.mercer", "some.fa", "--json")
    assert json.loads(done.stdout)["metrics"]["accuracy"] is not None and "does not know class" in done.stderr, done


def test_files_of_positive_and_negative_sequences():
    for name, motif in (("a.fa", "ACGTACGT"), ("b.fa", "TTGGTTGG"), ("c.fa", "ACGTACGA"), ("d.fa", "TTGGTTGA")):
        write(name, "".join(">s%d\n%s%s\n" % (i, motif, "ACGT"[i % 4]) for i in range(10)))
    tap.mercer("fit", "svm", "--pos", "a.fa", "--neg", "b.fa", "-k", "spectrum(p=3)", "-o", "m.mercer")
    tap.check_equal(set(lines("m.mercer", "--pos", "a.fa", "--neg", "b.fa")), {"pos", "neg"})
    found = tap.mercer_json("predict", "m.mercer", "--neg", "d.fa", "--pos", "c.fa")
    tap.check_equal((found["n"], found["metrics"]["accuracy"]), (20, 1))
    # Classes are named after files, and these have other names: the remark says how to name them.
    done = tap.mercer("predict", "m.mercer", "--class", "c.fa", "--class", "d.fa")
    assert "counted as wrong (--class NAME=FILE says which class a file holds)" in done.stderr, done.stderr


def test_scores_are_the_expansion():
    """Scores computed here from the training data and coefficients, by another road."""
    file = sample("sinc", n=60)
    model = fitted("svr", file, "-k", "rbf(gamma=0.7)", "-C", 2)
    tap.mercer("export", model, "--to", "libsvm", "-o", "m.model")
    with open("m.model") as f:
        head, rows = f.read().split("SV\n")
    rho = float(head.split("rho ")[1].split()[0])
    rows = [r.split() for r in rows.splitlines()]
    coef = np.array([float(r[0]) for r in rows])
    sv = np.array([[float(r[1].split(":")[1])] for r in rows])
    x, y = read_csv(file)
    want = rbf(x, sv, 0.7) @ coef - rho
    got = np.array([float(v) for v in lines(model, file)])
    assert np.allclose(got, want, rtol=1e-10, atol=1e-12), np.abs(got - want).max()
    tap.check_equal(lines(model, file, "--scores"), lines(model, file))
    metrics = tap.mercer_json("predict", model, file)["metrics"]
    tap.check_equal(set(metrics), {"mse", "rmse", "mae", "r2", "max_error"})
    tap.check_near(metrics["mse"], np.mean((y - want) ** 2), 1e-10)
    tap.check_near(metrics["mae"], np.mean(np.abs(y - want)), 1e-10)
    tap.check_near(metrics["r2"], 1 - np.mean((y - want) ** 2) / y.var(), 1e-10)
    assert predict(model, file).stderr.startswith("mse ")


def test_files_of_each_kind():
    file = sample("blobs", n=90)
    model = fitted("svm", file)
    labels = [float(v) for v in lines(model, file)]
    predict(model, file, "-o", "p.npy")
    loaded = np.load("p.npy")
    tap.check_equal(loaded.shape, (90,))
    tap.check_equal(loaded.tolist(), labels)
    predict(model, file, "-o", "p.txt")
    with open("p.txt") as f:
        tap.check_equal(f.read(), predict(model, file).stdout)
    head, scores = table(model, file, "--scores")
    predict(model, file, "--scores", "-o", "s.npy")
    tap.check_equal(np.load("s.npy").tolist(), scores.tolist())
    predict(model, file, "--scores", "-o", "s.csv")
    with open("s.csv") as f:
        tap.check_equal(next(csv.reader(f)), head)
    out = tap.mercer_json("predict", model, file, "-o", "j.txt")
    tap.check_equal(out["output"], "j.txt")
    with open("j.txt") as f:
        tap.check_equal(f.read(), predict(model, file).stdout)


def test_pairs_of_classes():
    file = sample("blobs", n=150, noise=1.5)
    model = fitted("svm", file, "-k", "linear")
    head, scores = table(model, file, "--scores")
    tap.check_equal(head, ["1 : 2", "1 : 3", "2 : 3"])
    votes = np.zeros((150, 3))
    for o, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        votes[:, a] += scores[:, o] > 0
        votes[:, b] += scores[:, o] <= 0
    tap.check_equal([int(v) for v in lines(model, file)], (votes.argmax(axis=1) + 1).tolist())
    rest = fitted("svm", file, "-k", "linear", "--multiclass", "ovr", model="rest.mercer")
    head, scores = table(rest, file, "--scores")
    tap.check_equal(head, ["1", "2", "3"])
    tap.check_equal([int(v) for v in lines(rest, file)], (scores.argmax(axis=1) + 1).tolist())


def test_probabilities_agree_with_labels():
    for name, options in (("moons", []), ("blobs", []), ("blobs", ["--multiclass", "ovr"])):
        file = sample(name, n=120, noise=0.8)
        model = fitted("svm", file, "--probability", *options)
        head, proba = table(model, file, "--proba")
        tap.check_equal(head, ["-1", "1"] if name == "moons" else ["1", "2", "3"])
        assert np.allclose(proba.sum(axis=1), 1, atol=1e-12) and (proba >= 0).all()
        best = proba.argmax(axis=1)
        sure = np.sort(proba, axis=1)[:, -1] - np.sort(proba, axis=1)[:, -2] > 1e-9
        labels = lines(model, file)
        assert all(head[b] == label for b, label, s in zip(best, labels, sure) if s)
        _, y = read_csv(file)
        chosen = proba[np.arange(120), [head.index("%g" % t) for t in y]]
        assert -np.log(chosen).mean() < 0.9 * np.log(len(head)), chosen
        again = fitted("svm", file, "--probability", *options, model="again.mercer")
        tap.check_equal(table(again, file, "--proba")[1].tolist(), proba.tolist())
    plain = fitted("svm", file)
    done = predict(plain, file, "--proba", status=2)
    assert "has no probabilities (fit it with --probability)" in done.stderr, done.stderr
    done = predict(plain, file, "--proba", "--scores", status=2)
    assert "give one of them" in done.stderr


def test_outliers():
    file = sample("blobs", n=200)
    model = fitted("one-class", file, "--nu", 0.1)
    got = lines(model, file)
    tap.check_equal(set(got), {"1", "-1"})
    assert 0.05 < got.count("-1") / 200 < 0.15, got.count("-1")
    for label, score in zip(got, lines(model, file, "--scores")):
        tap.check_equal(label, "1" if float(score) >= 0 else "-1")
    # The targets 1, 2, 3 say nothing about insides; +1 and -1 do.
    done = predict(model, file)
    assert "accuracy" not in done.stderr, done.stderr
    assert "%d of 200 objects are outside" % got.count("-1") in done.stderr, done.stderr
    assert tap.mercer_json("predict", model, file)["metrics"] is None
    with open(file) as f:
        head, *rows = f.read().split()
    write("sides.csv", "\n".join([head] + [r.rsplit(",", 1)[0] + ",+1" for r in rows]) + "\n")
    done = predict(model, "sides.csv")
    assert re.match(r"accuracy \S+ \(%d of 200; " % got.count("1"), done.stderr), done.stderr


def test_features_of_libsvm_files():
    write("d.svm", "".join("%d 1:%g 3:%g\n" % (1 - 2 * (i % 2), i % 7, i % 2) for i in range(40)))
    model = fitted("svm", "d.svm", "-k", "linear")
    write("narrow.svm", "1 1:2\n-1 1:2\n")
    write("explicit.svm", "1 1:2 3:0\n-1 1:2 3:0\n")
    tap.check_equal(lines(model, "narrow.svm", "--scores"), lines(model, "explicit.svm", "--scores"))
    write("wide.svm", "1 1:2 9:5\n-1 1:2 9:5\n")
    tap.check_equal(lines(model, "wide.svm", "--scores"), lines(model, "narrow.svm", "--scores"))


def test_libsvm_lines_without_labels():
    write("d.svm", "".join("%d 1:%g 3:%g\n" % (1 - 2 * (i % 2), i % 7, i % 2) for i in range(40)))
    model = fitted("svm", "d.svm", "-k", "linear")
    write("bare.svm", "1:2 3:1\n\t3:0.5\n-1 1:4\n")
    write("full.svm", "1 1:2 3:1\n1 3:0.5\n-1 1:4\n")
    tap.check_equal(lines(model, "bare.svm", "--scores", "--target", "none"),
                    lines(model, "full.svm", "--scores"))
    assert "label is missing" in predict(model, "bare.svm", status=1).stderr


def test_data_without_targets():
    file = sample("moons", n=50)
    model = fitted("svm", file)
    with open(file) as f:
        rows = [line.rsplit(",", 1)[0] for line in f.read().splitlines()]
    write("bare.csv", "\n".join(rows) + "\n")
    done = predict(model, "bare.csv", "--target", "none")
    tap.check_equal([done.stdout, done.stderr], [predict(model, file).stdout, ""])
    tap.check_equal(tap.mercer_json("predict", model, "bare.csv", "--target", "none")["metrics"],
                    None)
    # The model knows the table that it was trained on.
    done = predict(model, "bare.csv")
    tap.check_equal([done.stdout, done.stderr], [predict(model, file).stdout, ""])
    # Data that are not a table do not say so.
    x, y = read_csv(file)
    np.save("x.npy", x)
    np.save("y.npy", y)
    model = fitted("svm", "x.npy", "--target", "y.npy")
    done = predict(model, "bare.csv", status=1)
    tap.check_equal(done.stderr, "mercer: bare.csv: 1 feature and a target, but the model needs 2 "
                    "features: if there is no target, use --target none\n")


def rows_of(columns, names=None):
    """A table of these columns, with a header or not."""
    head = [",".join(names)] if names else []
    return "\n".join(head + [",".join("%r" % float(v) for v in row)
                             for row in np.column_stack(columns)]) + "\n"


def test_tables_are_read_as_in_training():
    """Target and weights are where they were: at the same places, or under the same names."""
    x, y = read_csv(sample("moons", n=60))
    w = np.arange(60) % 3 + 1.0
    a, b = x.T
    write("train.csv", rows_of([y, a, w, b]))
    model = fitted("svm", "train.csv", "--target", 1, "--weight", 3)
    want = predict(model, "train.csv", "--target", 1, "--weight", 3)
    assert want.stderr.startswith("accuracy 0.9") or want.stderr.startswith("accuracy 1"), want.stderr
    done = predict(model, "train.csv")
    tap.check_equal([done.stdout, done.stderr], [want.stdout, want.stderr])
    write("bare.csv", rows_of([a, b]))
    done = predict(model, "bare.csv")
    tap.check_equal([done.stdout, done.stderr], [want.stdout, ""])
    write("called.csv", rows_of([a, b], ["a", "y"]))  # too few columns for a target
    done = predict(model, "called.csv")
    tap.check_equal([done.stdout, done.stderr], [want.stdout, ""])
    write("part.csv", rows_of([y, a, b]))
    done = predict(model, "part.csv", status=1)
    tap.check_equal(done.stderr, "mercer: part.csv: 3 columns, but the model's training data had 4, 2 "
                    "of them for targets and weights: say which column is the target, or that none is "
                    "(--target COLUMN, or none)\n")
    tap.check_equal(predict(model, "part.csv", "--target", 1).stdout, want.stdout)
    # With names the places say nothing.
    write("named.csv", rows_of([y, a, w, b], ["sort", "a", "count", "b"]))
    named = fitted("svm", "named.csv", "--target", "sort", "--weight", "count", model="named.mercer")
    for file, columns, names in (("1.csv", [b, w, y, a], ["b", "count", "sort", "a"]),
                                 ("2.csv", [b, y, a], ["b", "sort", "a"]),
                                 ("3.csv", [b, y, w, a], ["b", "target", "count", "a"]),
                                 ("4.csv", [y, w, a, b, w], ["sort", "more", "a", "b", "count"])):
        write(file, rows_of(columns, names))
        done = predict(named, file)
        tap.check_equal(done.stdout, want.stdout, file)
        if file != "2.csv":  # which has no weights
            tap.check_equal(done.stderr, want.stderr, file)
    write("5.csv", rows_of([b, a], ["b", "a"]))
    done = predict(named, "5.csv")
    tap.check_equal([done.stdout, done.stderr], [want.stdout, ""])
    tap.check_equal(predict(named, "train.csv").stdout, want.stdout)  # and without them they do
    # A model of no targets has none in a table like its own.
    inside = fitted("one-class", "named.csv", "--target", "none", model="i.mercer")
    tap.check_equal(predict(inside, "named.csv").stdout,
                    predict(inside, "named.csv", "--target", "none").stdout)
    # Without names the place of a target is not guessed in another table.
    write("three.csv", rows_of([a, b, w]))
    write("four.csv", rows_of([a, b, w, y]))
    inside = fitted("one-class", "three.csv", "--target", "none", "--weight", 3, model="i.mercer")
    tap.check_equal(predict(inside, "three.csv").stdout, predict(inside, "bare.csv").stdout)
    done = predict(inside, "four.csv", status=1)
    assert "four.csv: 4 columns, but the model's training data had 3, 1 of them" in done.stderr, \
        done.stderr
    # A feature of the model is no target, whatever its name.
    write("y.csv", rows_of([a, b, y], ["a", "y", "sort"]))
    write("id.csv", rows_of([w, b, a], ["id", "y", "a"]))
    called_y = fitted("svm", "y.csv", "--target", "sort", model="y.mercer")
    done = predict(called_y, "id.csv")
    tap.check_equal([done.stdout, done.stderr], [predict(called_y, "y.csv").stdout, ""])
    # More data are read the same way.
    online = fitted("perceptron", "train.csv", "--target", 1, "--weight", 3, model="p.mercer")
    tap.mercer("fit", "--resume", online, "train.csv", "-o", "q.mercer")
    tap.check_equal(len(lines("q.mercer", "train.csv")), 60)
    # So are they after a search.
    tap.mercer("tune", "svm", "train.csv", "--target", 1, "--weight", 3, "-C", "1:10:log2", "-o",
               "t.mercer")
    assert predict("t.mercer", "train.csv").stderr.startswith("accuracy "), "no target"


def test_data_that_do_not_fit():
    model = fitted("svm", sample("moons", n=50))
    write("three.csv", "1,2,3,1\n4,5,6,-1\n")
    done = predict(model, "three.csv", "-o", "p.txt", status=1)
    assert done.stderr.startswith("mercer: three.csv: "), done.stderr
    assert "4 columns" in done.stderr and " had 3" in done.stderr and not os.path.exists("p.txt")
    done = predict(model, "three.csv", "--target", 4, "-o", "p.txt", status=1)
    assert "3 features" in done.stderr and " 2" in done.stderr and not os.path.exists("p.txt")
    tap.check_equal(tap.mercer_json("predict", model, "three.csv", status=1)["error"]["file"],
                    "three.csv")
    strings = sample("motifs", n=10, file="m.txt")
    assert "vector field" in predict(model, strings, status=1).stderr
    assert "DATA is missing" in predict(model, status=2).stderr
    assert "MODEL is missing" in predict(status=2).stderr


def test_targets_that_do_not_fit():
    file = sample("moons", n=40)
    model = fitted("svm", file)
    x, y = read_csv(file)
    write("other.csv", "x1,x2,y\n" + "".join("%r,%r,%d\n" % (*r, 7 + i % 2)
                                            for i, r in enumerate(x.tolist())))
    done = predict(model, "other.csv")
    tap.check_equal(done.stdout, predict(model, file).stdout)
    assert done.stderr.startswith('mercer: warning: the model does not know class "7" and 1 more: '
                                  "counted as wrong\naccuracy 0 (0 of 40), "), done.stderr
    rows = [row.split() for row in done.stderr.splitlines()[-4:]]
    tap.check_equal([sum(map(float, row[1:5])) for row in rows], [float(row[-1]) for row in rows])
    write("as_real.csv", "x1,x2,y\n" + "".join("%r,%r,%.1f\n" % (*r, t) for r, t in zip(x.tolist(), y)))
    tap.check_equal(predict(model, "as_real.csv").stderr, predict(model, file).stderr)
    write("words.csv", "a,y\n1,16\n2,b\n3,16\n4,b\n")
    write("hexadecimal.csv", "a,y\n1,0x10\n2,b\n3,0x10\n4,c\n") # no number, so not the class 16
    found = tap.mercer_json("predict", fitted("svm", "words.csv", model="w.mercer"),
                            "hexadecimal.csv")["metrics"]
    tap.check_equal([c["name"] for c in found["classes"]], ["16", "b", "0x10", "c"])
    tap.check_equal([sum(row) for row in found["confusion"]], [0, 1, 2, 1])
    curve = fitted("svr", sample("sinc", n=40), model="s.mercer")
    write("words.csv", "1,cat\n2,dog\n")
    done = predict(curve, "words.csv")
    tap.check_equal(len(done.stdout.splitlines()), 2)
    assert done.stderr.startswith("mercer: warning: the targets are words"), done.stderr


def test_several_files_and_standard_input():
    file = sample("moons", n=60)
    model = fitted("svm", file)
    other = sample("moons", n=30, seed=5, file="other.csv")
    tap.check_equal(lines(model, file, other), lines(model, file) + lines(model, other))
    with open(file) as f:
        text = f.read()
    tap.check_equal(predict(model, "-", "--format", "csv", stdin=text).stdout,
                    predict(model, file).stdout)


def test_every_kind_of_object():
    for name, file, kernel in (("motifs", "m.txt", "spectrum(p=3)"),
                               ("molecules", "g.jsonl", "wl(h=2)")):
        sample(name, n=40, file=file)
        model = fitted("svm", file, "-k", kernel, "-C", 10)
        out = tap.mercer_json("predict", model, file)
        want = tap.mercer_json("info", model)["train"]["accuracy"]
        tap.check_equal(out["metrics"]["accuracy"], want, name)
        assert want > 0.7, (name, want)


def test_known_accuracy():
    train, test = tap.data("svmguide1", "svmguide1.gz"), tap.data("svmguide1", "svmguide1.t.gz")
    table = {}

    def scaled(path, to):
        rows = []
        import gzip
        with gzip.open(path, "rt") as f:
            for line in f:
                y, *rest = line.split()
                rows.append((y, {int(k): float(v) for k, v in (p.split(":") for p in rest)}))
        if not table:
            for k in range(1, 5):
                values = [r.get(k, 0) for _, r in rows]
                table[k] = min(values), max(values)
        with open(to, "w") as f:
            for y, r in rows:
                f.write(y + "".join(" %d:%.17g" % (k, 2 * (r.get(k, 0) - lo) / (hi - lo) - 1)
                                    for k, (lo, hi) in table.items()) + "\n")
        return to

    model = fitted("svm", scaled(train, "train.svm"), "-k", "rbf(gamma=2)", "-C", 2)
    out = tap.mercer_json("predict", model, scaled(test, "test.svm"))
    tap.check_near(out["metrics"]["accuracy"], 0.96875, 1e-12)


def test_polynomials_of_wider_tables():
    """Features that the training objects do not have count for nothing, however they are computed."""
    tap.mercer("sample", "blobs", "-n", "120", "-o", "wide.csv")
    rows = [line.strip().split(",") for line in open("wide.csv")][1:]
    rows = [r for r in rows if r[2] != "3"]
    write("narrow.svm", "".join("%s 1:%s 2:%s\n" % (r[2], r[0], r[1]) for r in rows))
    tap.mercer("fit", "svm", "narrow.svm", "-k", "poly(degree=2, c=1)", "-C", "1e-4", "-o", "n.mercer",
               "--quiet")
    write("two.csv", "a,b\n" + "".join("%s,%s\n" % (r[0], r[1]) for r in rows))
    write("five.csv", "a,b,c,d,e\n" + "".join("%s,%s,7,-3,1e6\n" % (r[0], r[1]) for r in rows))
    scores = [tap.mercer("predict", "n.mercer", file, "--target", "none", "--scores").stdout
              for file in ("two.csv", "five.csv")]
    tap.check_equal(scores[0], scores[1])
    assert len(scores[0].splitlines()) in (len(rows), len(rows) + 1), scores[0]


if __name__ == "__main__":
    tap.main(globals())
