"""Tables: roles, columns in kernels, missing values, ids in outputs, refusals.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import random
import sys

import tap

sys.path.insert(0, str(tap.ROOT / "tests" / "oracle"))
import made_tables  # noqa: E402


def made(name, rows=200, seed=1):
    path = "%s%d.csv" % (name, seed)
    made_tables.write(name, rows, path, seed)
    return path


def roles(path, *options):
    return {c["name"]: c["role"] for c in tap.mercer_json("info", path, *options)["columns"]}


def test_bytes_that_are_not_utf8():
    rows = [b"%d,M\xfcller,%s\n" % (i, b"yes" if i % 2 else b"no") if i > 6 else
            "{},Müller,{}\n".format(i, "yes" if i % 2 else "no").encode() for i in range(40)]
    pathlib.Path("latin.csv").write_bytes(b"x,name,y\n" + b"".join(rows))
    said = b"mercer: warning: latin.csv:9: this line is not UTF-8"
    for call in (["info", "latin.csv"], ["info", "latin.csv", "--json"],
                 ["fit", "svm", "latin.csv", "-k", "rbf(gamma=1)", "--json", "-o", "latin.mercer"]):
        done = tap.mercer(*call, text=False)
        tap.check_equal(done.stderr.count(b"not UTF-8"), 1)
        assert said in done.stderr and b"not UTF-8" not in done.stdout, done.stderr
    tap.check_equal(tap.mercer("info", "latin.csv", "--quiet", text=False).stderr, b"")
    pathlib.Path("utf.csv").write_bytes(b"\xef\xbb\xbfx,name,y\n" + b"".join(rows[:7]))
    tap.check_equal(tap.mercer("info", "utf.csv").stderr, "")
    pathlib.Path("header.tsv").write_bytes(b"gr\xf6\xdfe\ty\n1\ta\n2\tb\n")
    assert b"header.tsv:1: this line is not UTF-8" in tap.mercer("info", "header.tsv", text=False).stderr
    pathlib.Path("lines.txt").write_bytes(b"a\tone\nb\ttw\xf3\na\tthr\xe9e\n")
    assert b"lines.txt:2: this line is not UTF-8" in tap.mercer("info", "lines.txt", text=False).stderr


def test_bytes_of_a_large_table():
    """In a later block of the file, and after quotes with line ends."""
    rows = "".join('%d,"two\nlines",%s\n' % (i, "yes" if i % 2 else "no") for i in range(40000))
    pathlib.Path("large.csv").write_bytes(b"x,name,y\n" + rows.encode() + b"1,\xe9,no\n")
    assert b"large.csv:80002: this line is not UTF-8" in tap.mercer("info", "large.csv", text=False).stderr


def test_columns_in_different_units():
    r = random.Random(4)
    rows = [(r.gauss(40, 12), r.gauss(50000, 20000), r.gauss(0, 1), 5) for _ in range(80)]
    pathlib.Path("units.csv").write_text("age,income,z,fixed,y\n" + "".join(
        "%.1f,%.0f,%.3f,%d,%s\n" % (*x, "a" if x[0] > 40 else "b") for x in rows))
    for kernel in ("rbf(gamma=0.1)", "linear", "2 * poly(degree=2) + rbf(gamma=1e-3)"):
        err = tap.mercer("fit", "svm", "units.csv", "-k", kernel, "--max-steps", 1000).stderr
        assert err.count("--scale standard") == 1 and "mercer: warning: the standard deviation" in err, err
        assert 'of column "income" is' in err and 'of column "z"' in err, err
    fit = ("fit", "svm", "units.csv", "--max-steps", 1000)
    for call in ([], ["-C", "1"]):
        assert "the default kernel sees little of the second; consider --scale standard" in tap.mercer(*fit, *call).stderr
    for call in (["-k", "rbf(gamma=0.1)", "--scale", "standard"], ["-k", "rbf(gamma=0.1)", "--quiet"],
                 ["-k", "rbf(age, z, gamma=0.1)"], ["-k", "rbf(gamma=0.1)", "--only", "age,z"], ["-C", "1", "--scale", "none"]):
        assert "--scale" not in tap.mercer(*fit, *call).stderr, call


def test_thousands_are_refused():
    rows = "".join('%d,"%d,%03d.5",%s\n' % (i, 1 + i % 9, i * 37 % 1000, "yes" if i % 2 else "no") for i in range(60))
    pathlib.Path("thousands.csv").write_text("id,amount,buys\n" + rows)
    done = tap.mercer("fit", "svm", "thousands.csv", "--target", "buys", status=1)
    assert "amount" in done.stderr and "thousands separators" in done.stderr, done.stderr
    pathlib.Path("sizes.csv").write_text("id,sizes,buys\n" + rows.replace(".5", ";7"))  # text with commas is text
    tap.mercer("info", "sizes.csv")


def test_metrics_are_checked_before_predictions():
    pathlib.Path("m.csv").write_text("a,b,y\n" + "".join("%d,%d,%s\n" % (i, i * i % 7, "u" if i % 3 else "v") for i in range(60)))
    tap.mercer("fit", "svm", "m.csv", "-o", "m.mercer")
    done = tap.mercer("predict", "m.mercer", "m.csv", "--metric", "acuracy", status=2)
    assert 'did you mean "accuracy"' in done.stderr, done.stderr
    tap.check_equal(done.stdout, "")


def test_roles_are_guessed_and_changed():
    path = made("passengers")
    found = roles(path)
    tap.check_equal(found, {
        "passenger_id": "id", "pclass": "number", "name": "text", "sex": "category", "age": "number",
        "sibsp": "number", "parch": "number", "ticket": "text", "fare": "number", "cabin": "text",
        "embarked": "category", "bought": "date", "survived": "target"})
    found = roles(path, "--role", "pclass=category", "--role", "name=id",
                  "--drop", "ticket,cabin")
    tap.check_equal([found[c] for c in ("pclass", "name", "ticket", "cabin")],
                    ["category", "id", "ignore", "ignore"])
    found = roles(path, "--only", "age,sex", "--id", "name")
    tap.check_equal(sorted(c for c in found if found[c] in ("number", "category")), ["age", "sex"])
    tap.check_equal((found["name"], found["fare"]), ("id", "ignore"))
    lines = tap.mercer("info", path).stdout.splitlines()
    assert any(line.split()[:4] == ["age", "number", "129", "34"] or line.split()[:2] == ["age", "number"]
               for line in lines), lines


def test_sets_and_codes():
    rows = ["code,tags,y"] + ["A%03d,%s,%d" % (i, ";".join("abc"[:1 + i % 3]), i % 2) for i in range(30)]
    pathlib.Path("s.csv").write_text("\n".join(rows) + "\n")
    tap.check_equal(roles("s.csv"), {"code": "id", "tags": "set", "y": "target"})
    tap.mercer("gram", "s.csv", "-k", "tanimoto(tags)", "-o", "k.csv")
    k = [[float(v) for v in line.split(",")] for line in pathlib.Path("k.csv").read_text().splitlines()[1:4]]
    tap.check_equal(k[0][:3], [1, 0.5, 1 / 3])


def test_the_default_kernel_is_a_valid_one():
    path = made("adult")
    report = tap.mercer_json("fit", "logistic", path, "--target", "income", "-o", "m.mercer")
    assert report["kernel"].startswith("rbf(number, gamma="), report["kernel"]
    assert report["kernel"].endswith(" + equal(category)"), report["kernel"]
    again = tap.mercer_json("fit", "logistic", path, "--target", "income", "-k", report["kernel"], "--scale",
                            "standard")
    tap.check_equal(again["objective"], report["objective"])


def test_fit_chooses_for_a_table():
    path = made("adult", 300)
    report = tap.mercer_json("fit", "svm", path, "--target", "income", "-o", "m.mercer")
    chosen = report["chosen"]
    tap.check_equal(chosen["kernel"], report["kernel"])
    assert chosen["points"] == 90 and chosen["objects"] == 300, chosen
    same = ["-k", chosen["kernel"], "-C", repr(chosen["options"]["C"]), "--scale", chosen["options"]["scale"]]
    again = tap.mercer_json("fit", "svm", path, "--target", "income", *same)
    tap.check_equal(again["objective"], report["objective"])
    assert "chosen" not in again
    # Its score is that of cv with the same folds.
    cv = tap.mercer_json("cv", "svm", path, "--target", "income", *same)
    tap.check_near(cv["metrics"]["accuracy"]["mean"], chosen["score"], 1e-12)
    threads = tap.mercer_json("fit", "svm", path, "--target", "income", "--threads", "1")
    tap.check_equal(threads["chosen"]["score"], chosen["score"])
    tap.check_equal(threads["kernel"], report["kernel"])
    for given in (["-C", "1"], ["-k", "rbf(number, gamma=0.1)"], ["--lambda", "0.01"]):
        assert "chosen" not in tap.mercer_json("fit", "svm", path, "--target", "income", *given), given
    # cv chooses on the training objects of each fold; several metrics are possible.
    nested = tap.mercer_json("cv", "svm", path, "--target", "income", "--metric", "accuracy,f1", "--folds", "3")
    tap.check_equal(len(nested["chosen"]), 3)


def test_a_choice_on_many_objects_takes_some_of_them():
    path = made("adult", 4000)
    chosen = tap.mercer_json("fit", "svm", path, "--target", "income")["chosen"]
    assert chosen["fits"] <= 90 + 30 + 3 * 10, chosen
    words = tap.mercer("fit", "svm", path, "--target", "income").stdout
    assert "chosen     -k '" in words and "5 folds of 1000 objects, drawn from all 4000" in words, words


def test_a_table_without_a_column_of_the_model():
    path = made("passengers")
    tap.mercer("fit", "svm", path, "-o", "m.mercer", "--quiet")
    pathlib.Path("other.csv").write_text("length,width\n1,2\n3,4\n")
    done = tap.mercer("predict", "m.mercer", "other.csv", status=1)
    tap.check_equal(done.stderr, 'mercer: other.csv:1: there is no column "pclass", which the model needs\n')


def test_a_column_that_is_dropped_is_no_target():
    """The last column is the target if the call has no other use for it."""
    pathlib.Path("t.csv").write_text("a,b,kind,note\n" + "".join("%d,%d,%s,%s\n" % (i, i * i % 7, "uv"[i % 2], "pq"[i // 30])
                                                              for i in range(60)))
    tap.check_equal(roles("t.csv")["note"], "target")
    for call in (["--drop", "note"], ["--role", "note=ignore"], ["--role", "note=group"], ["--id", "note"]):
        found = roles("t.csv", *call)
        assert found["kind"] == "target" and found["note"] in ("ignore", "group", "id"), (call, found)
    pathlib.Path("y.csv").write_text(pathlib.Path("t.csv").read_text().replace("kind", "y"))
    tap.check_equal(roles("y.csv", "--drop", "y")["note"], "target")
    done = tap.mercer("fit", "svm", "t.csv", "--drop", "a,b,kind,note", status=1)
    assert "no column is left" in done.stderr, done.stderr


def test_columns_that_are_not_used_are_named():
    """Texts that the default kernel leaves out; also dates and numbers that are written in other ways."""
    rows = "".join("%d;%02d.%02d.2023;1.%03d,50;item %d;%s\n" % (i, 1 + i % 28, 1 + i % 12, i * 37 % 1000, i, "ab"[i % 2])
                   for i in range(60))
    pathlib.Path("shop.csv").write_text("age;bought;amount;what;kind\n" + rows)
    for call in (["fit", "svm"], ["cv", "svm"], ["fit", "ridge", "--task", "classify"]):
        said = tap.mercer(*call[:2], "shop.csv", *call[2:]).stderr.splitlines()
        said = [line.replace("mercer: warning: column ", "") for line in said if " not used: " in line]
        tap.check_equal([line.split(" is not used: ")[0] for line in said], ["what", "bought", "amount"])
        assert "--role what=category" in said[0] and "2024-12-31" in said[1] and "1234.5" in said[2], said
    # A kernel of the call says what is used; long texts and categories are used.
    assert "not used" not in tap.mercer("fit", "svm", "shop.csv", "-k", "rbf(number, gamma=1)").stderr
    pathlib.Path("long.csv").write_text("age,note,kind\n" + "".join(
        "%d,%s %d,%s\n" % (i, "a note that has fifty bytes or a few more than that", i, "ab"[i % 2]) for i in range(60)))
    tap.check_equal(tap.mercer("fit", "svm", "long.csv").stderr, "")


def test_ids_that_are_plain_numbers_are_no_amounts():
    rows = "".join("%d,%d,%s\n" % (1000 + i, i * 7 % 60, "ab"[i % 2]) for i in range(60))
    pathlib.Path("t.csv").write_text("id,age,kind\n" + rows)
    tap.check_equal(roles("t.csv")["id"], "id")
    assert "id is not used" not in tap.mercer("fit", "svm", "t.csv", "-k", "rbf").stderr
    rows = "".join("%d,%d,%s,%s\n" % (1000 + i, i * 7 % 60, "uv"[i % 2], "ab"[i % 3 == 0]) for i in range(60))
    pathlib.Path("t.csv").write_text("id,age,colour,kind\n" + rows)
    tap.check_equal(tap.mercer("fit", "svm", "t.csv").stderr, "")


def test_warnings_of_a_table_are_one_line():
    path = made("adult")
    err = tap.mercer("fit", "svm", path).stderr
    assert "missing values: " in err and " of occupation" in err, err
    assert len(err.splitlines()) == 1, err


def test_a_model_reads_tables_as_it_was_trained():
    train, new = made("passengers"), made("passengers", seed=2)
    tap.mercer("fit", "svm", train, "-o", "m.mercer", "--role", "pclass=category")
    tap.mercer("predict", "m.mercer", new, "-o", "a.txt")
    # Other columns, another order, no target, an unknown port.
    lines = [line.split(",") for line in pathlib.Path(new).read_text().replace(", ", " ").splitlines()]
    header = lines[0]
    order = [header.index(c) for c in reversed(header) if c != "survived"]
    moved = [[row[i] for i in order] + ["more"] for row in lines]
    pathlib.Path("moved.csv").write_text("\n".join(",".join(row) for row in moved) + "\n")
    tap.mercer("predict", "m.mercer", "moved.csv", "-o", "b.txt")
    tap.check_equal(pathlib.Path("a.txt").read_text(), pathlib.Path("b.txt").read_text())
    lines[1][header.index("embarked")] = "X"
    pathlib.Path("port.csv").write_text("\n".join(",".join(row) for row in lines) + "\n")
    err = tap.mercer("predict", "m.mercer", "port.csv", "-o", "c.txt").stderr
    assert 'embarked: 1 value was not seen in training, the first is "X"' in err, err
    gone = [[row[i] for i in order if header[i] != "sex"] for row in lines]
    pathlib.Path("gone.csv").write_text("\n".join(",".join(row) for row in gone) + "\n")
    err = tap.mercer("predict", "m.mercer", "gone.csv", status=1).stderr
    assert 'no column "sex"' in err, err


def test_ids_are_no_features():
    path = made("passengers")
    text = pathlib.Path(path).read_text().splitlines()
    other = [text[0]] + ["%d,%s" % (7 * i, line.split(",", 1)[1]) for i, line in enumerate(text[1:])]
    pathlib.Path("other.csv").write_text("\n".join(other) + "\n")
    a = tap.mercer_json("fit", "svm", path)
    b = tap.mercer_json("fit", "svm", "other.csv")
    tap.check_equal(a["objective"], b["objective"])


def test_ids_and_kept_columns_are_written():
    path = made("passengers")
    tap.mercer("fit", "svm", path, "-o", "m.mercer")
    lines = tap.mercer("predict", "m.mercer", path, "--keep", "name,fare", "--quiet").stdout.splitlines()
    tap.check_equal(lines[0], "# passenger_id\tname\tfare\tlabel")
    first = pathlib.Path(path).read_text().splitlines()[1]
    tap.check_equal(lines[1].split("\t")[0], "1")
    assert lines[1].split("\t")[1] in first and lines[1].split("\t")[2] in first, (lines[1], first)
    tap.mercer("predict", "m.mercer", path, "--scores", "-o", "s.csv")
    tap.check_equal(pathlib.Path("s.csv").read_text().splitlines()[0].split(",")[0], "passenger_id")


def test_missing_values():
    rows = ["a,b,c,y", "1,2,u,0", ",3,u,1", "3,?,v,0", "9,5,,1", "4,6,u,0", "5,7,v,1"]
    pathlib.Path("m.csv").write_text("\n".join(rows) + "\n")
    err = tap.mercer("fit", "ridge", "m.csv", "--missing", "error", status=1).stderr
    assert err.startswith('mercer: m.csv:3: column "a": the value is missing'), err
    err = tap.mercer("info", "m.csv", "--missing", "drop").stdout
    assert "objects    3" in err, err

    def gram(rule, kernel="linear(a)"):
        tap.mercer("gram", "m.csv", "--missing", rule, "-k", kernel, "-o", "k.csv")
        return [[float(v) for v in line.split(",")]
                for line in pathlib.Path("k.csv").read_text().splitlines()[1:]]

    tap.check_equal(gram("median")[1][1], 16.0)  # of 1 3 4 5 9
    assert abs(gram("mean")[1][1] - 4.4 ** 2) < 1e-12
    tap.check_equal(gram("mode")[1][1], 1.0)
    tap.check_equal(gram("indicator", 'linear("a is missing")')[1][1], 1.0)
    tap.check_equal(gram("mode", "equal(c)")[3][0], 1.0)  # u is the most frequent word
    tap.check_equal(gram("median", "equal(c)")[3], [0, 0, 0, 1, 0, 0])
    err = tap.mercer("fit", "ridge", "m.csv", "--missing", "zero", status=2).stderr
    assert "error, drop, mean" in err, err


def test_a_model_without_holes_says_what_to_do():
    pathlib.Path("f.csv").write_text("a,y\n1,0\n2,1\n3,0\n")
    pathlib.Path("h.csv").write_text("a,y\n1,0\n,1\n")
    tap.mercer("fit", "ridge", "f.csv", "-o", "f.mercer")
    err = tap.mercer("predict", "f.mercer", "h.csv", status=1).stderr
    assert 'object 2: the value of "a" is missing' in err and "--missing median" in err, err
    tap.mercer("fit", "ridge", "f.csv", "--missing", "median", "-o", "f.mercer")
    out = tap.mercer("predict", "f.mercer", "h.csv", "--quiet").stdout.splitlines()
    tap.check_equal(len(out), 2)


def test_nothing_leaks_from_held_out_rows():
    """Held-out rows with values that would move the median, the scale and the categories."""
    base = [[i % 7, "uv"[i % 2], i % 3] for i in range(60)]
    scores = []
    for value, word in (("", "w"), ("", "u")):
        rows = [list(row) for row in base]
        for i in range(48, 60):
            rows[i][0], rows[i][1] = value, word
        rows[0][0] = ""
        text = "a,c,y\n" + "\n".join(",".join(map(str, r)) for r in rows) + "\n"
        pathlib.Path("train.csv").write_text("\n".join(text.splitlines()[:49]) + "\n")
        pathlib.Path("test.csv").write_text("a,c,y\n" + "\n".join(text.splitlines()[49:]) + "\n")
        tap.mercer("fit", "svr", "train.csv", "-o", "m.mercer")
        scores.append(tap.mercer_json("info", "m.mercer")["objective"])
    tap.check_equal(scores[0], scores[1])
    # In ordered folds the last one is held out: what a cv says of it is what a fit on the others
    # says.
    for k in ("rbf(number, gamma=0.3) + equal(category)", None):
        rows = [list(row) for row in base]
        for i in range(48, 60):
            rows[i][0] = 1000 + i
        rows[3][0] = rows[50][0] = ""
        body = "\n".join(",".join(map(str, r)) for r in rows)
        pathlib.Path("all.csv").write_text("a,c,y\n" + body + "\n")
        pathlib.Path("train.csv").write_text("a,c,y\n" + "\n".join(body.splitlines()[:50]) + "\n")
        pathlib.Path("test.csv").write_text("a,c,y\n" + "\n".join(body.splitlines()[50:]) + "\n")
        kernel = ["-k", k] if k else []
        scale = ["--scale", "standard"]
        got = tap.mercer_json("cv", "ridge", "all.csv", "--folds", "5", "--ordered", "--metric", "mse", *kernel,
                              *scale)
        tap.mercer("fit", "ridge", "train.csv", "-o", "m.mercer", *kernel, *scale)
        alone = tap.mercer_json("predict", "m.mercer", "test.csv", "-o", "p.txt")["metrics"]["mse"]
        last = got["metrics"]["mse"]["folds"][-1]
        assert abs(last - alone) <= 1e-9 * max(1, abs(alone)), (last, alone, k)


def test_refusals():
    path = made("adult", 60)
    cases = [
        (["--role", "age=date"], "age\" is not a date: row 1 has"),
        (["--role", "age"], "write column=role"),
        (["--role", "age=height"], "write column=role"),
        (["--role", "agee=number"], 'no column "agee" for the role (did you mean "age"?)'),
        (["--drop", "hour"], "(did you mean \"hours\"?)"),
        (["--role", "sex=number"], '"Male" is not a number' if "Male" in open(path).read().split("\n")[1]
         else '"Female" is not a number'),
        (["--role", "age=id", "--id", "age"], "has two roles"),
        (["-k", "rbf(age, age, gamma=1)"], 'column "age" is named twice'),
        (["-k", "rbf(agee, gamma=1)"], '(did you mean "age"?)'),
        (["-k", "rbf(q_*, gamma=1)"], "no field or column like q_*"),
        (["-k", "rbf(date, gamma=1)"], "no column of the role date"),
        (["-k", "ordinal(sex)"], 'order="low;medium;high"'),
    ]
    for options, message in cases:
        done = tap.mercer("fit", "svm", path, *options, status=None)
        assert done.returncode in (1, 2), (options, done)
        assert message in done.stderr, (options, done.stderr)
        assert "Traceback" not in done.stderr


def test_rows_that_cannot_be_read():
    pathlib.Path("bad.csv").write_text("a,b,y\n1,2,0\n3,x,1\n4,5\n6,7,1\n8,9,0\n1,1,1\n")
    assert tap.mercer("fit", "svm", "bad.csv", status=1).stderr.startswith("mercer: bad.csv:3: ")
    err = tap.mercer("fit", "svm", "bad.csv", "--skip-bad").stderr
    assert "2 rows are skipped because of errors, the first in line 3" in err, err


def test_dialects():
    pathlib.Path("de.csv").write_text("\ufeffgr\u00f6\u00dfe;ort;y\n1,5;\"K\u00f6ln\nam Rhein\";0\n2,25;Ulm;1\n"
                                      "3,5;Ulm;1\n4,5;Ulm;0\n", encoding="utf-8")
    report = tap.mercer_json("info", "de.csv")
    tap.check_equal([c["role"] for c in report["columns"]], ["number", "category", "target"])
    tap.mercer("gram", "de.csv", "-k", "linear(gr\u00f6\u00dfe)", "-o", "k.csv")
    assert pathlib.Path("k.csv").read_text().splitlines()[2].split(",")[1] == "5.0625"


def one_line(*call, status):
    done = tap.mercer(*call, status=status)
    lines = [x for x in done.stderr.splitlines() if not x.startswith(" ")]
    tap.check_equal(len(lines), 1, done.stderr)
    return lines[0]


def test_bad_input_is_one_clear_line():
    good = "a,c,d,y\n" + "".join("%d,%s,2024-01-%02d,%d\n" % (i, "uv"[i % 2], i + 1, i % 2) for i in range(20))
    pathlib.Path("good.csv").write_text(good)
    tap.mercer("fit", "svm", "good.csv", "-o", "m.mercer", "--quiet")
    pathlib.Path("twice.csv").write_text(good.replace("a,c,d,y", "a,c,a,y"))
    assert 'twice.csv:1: column "a" occurs twice, as columns 1 and 3' in one_line("fit", "svm", "twice.csv", status=1)
    # A role that does not fit, with the row.
    bad = good.splitlines()
    bad[7] = "6,u,soon,0"
    pathlib.Path("bad.csv").write_text("\n".join(bad) + "\n")
    line = one_line("fit", "svm", "bad.csv", "--role", "d=date", status=1)
    assert 'column "d" is not a date: row 7 has "soon"' in line, line
    line = one_line("fit", "svm", "good.csv", "--role", "c=number", status=1)
    assert 'good.csv:2: column "c": "u" is not a number' in line, line
    # A category that training did not have.
    pathlib.Path("new.csv").write_text(good.replace(",v,", ",w,"))
    line = one_line("predict", "m.mercer", "new.csv", "--target", "none", "-o", "p.txt", status=0)
    assert 'c: 10 values were not seen in training, the first is "w": treated as different from all others' in line, line
    tap.check_equal(len(pathlib.Path("p.txt").read_text().split()), 20)
    # A column that is not there.
    for column, name in ((0, "a"), (1, "c"), (2, "d")):
        rows = [",".join(v for k, v in enumerate(x.split(",")) if k != column) for x in good.splitlines()]
        pathlib.Path("less.csv").write_text("\n".join(rows) + "\n")
        line = one_line("predict", "m.mercer", "less.csv", status=1)
        assert 'less.csv: there is no column "%s' % name in line and "which the model needs" in line, line
    # A column without values.
    empty = "\n".join([good.splitlines()[0]] + [x[x.index(","):] for x in good.splitlines()[1:]])
    pathlib.Path("empty.csv").write_text(empty + "\n")
    done = tap.mercer("fit", "svm", "empty.csv", "--role", "a=number")
    assert "column a has no values" in done.stderr, done.stderr


def test_a_million_categories():
    n = 1000000 if os.environ.get("MERCER_ALL") else 100000
    with open("many.csv", "w") as out:
        out.write("c,a,y\n")
        out.writelines("v%d,%d,%d\n" % (i, i % 9, i % 2) for i in range(n))
    columns = tap.mercer_json("info", "many.csv", "--role", "c=category")["columns"]
    tap.check_equal((columns[0]["role"], columns[0]["distinct"]), ("category", n))


def test_many_categories():
    rows = ["v%d,%d,%d" % (i % 5000, i % 9, i % 2) for i in range(60000)]
    pathlib.Path("many.csv").write_text("c,a,y\n" + "\n".join(rows) + "\n")
    columns = tap.mercer_json("info", "many.csv")["columns"]
    tap.check_equal(columns[0]["distinct"], 5000)


def test_folds_learn_nothing_from_what_they_test():
    """Scaling, imputation and categories come from the training folds: the score of an object does not change,
    but for rounding, when all others of its fold become absurd."""
    import csv
    import random
    r = random.Random(5)
    rows = []
    for i in range(90):
        a, word = r.gauss(0, 1), r.choice(["red", "green", "blue"])
        y = "yes" if a + (word == "red") + r.gauss(0, .3) > .4 else "no"
        rows.append(["" if r.random() < .2 else "%.3f" % a, "" if r.random() < .1 else word, "%.3f" % r.gauss(5, 2), y])

    fixed = ["-k", "rbf(a, b, gamma=0.3) + equal(word)", "--scale", "standard"]

    def scores(table, missing, options):
        with open("t.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["a", "word", "b", "y"]] + table)
        tap.mercer("cv", "svm", "t.csv", "--plain", "--role", "word=category", "--missing", missing, "-o", "o.csv",
                   "--quiet", *options)
        with open("o.csv", newline="") as file:
            return list(csv.DictReader(file))

    cases = [(missing, fixed) for missing in ("indicator", "mean", "median", "mode", "kernel")]
    cases += [("indicator", []),  # without options, the kernel is chosen, too
              ("indicator", fixed + ["--threshold", "cost:FN=3,FP=1"])]
    for missing, options in cases:
        before = scores(rows, missing, options)
        name = next(k for k in before[0] if k.startswith("score("))
        changed = [list(row) for row in rows]
        kept = next(i for i, line in enumerate(before) if line["fold"] == "2" and rows[i][0] == "")
        others = [i for i, line in enumerate(before) if line["fold"] == "2" and i != kept]
        for i in others:
            changed[i][:3] = ["1e6" if rows[i][0] else "", "martian", "-1e7"]
        after = scores(changed, missing, options)
        tap.check_equal([line["fold"] for line in after], [line["fold"] for line in before])
        tap.check_near(float(after[kept][name]), float(before[kept][name]), 1e-12, missing)
        tap.check_equal(after[kept]["prediction"], before[kept]["prediction"])
        # The check can fail: objects of other folds were trained with them.
        assert any(abs(float(after[i][name]) - float(before[i][name])) > .01 for i, line in enumerate(before) if line["fold"] != "2")



def test_several_files_with_the_same_columns():
    draw = random.Random(5)
    rows = [[str(i), str(draw.randrange(18, 80)), "%.2f" % draw.random(), draw.choice(["Ulm", "Kiel"]), draw.choice(["yes", "no"])]
            for i in range(80)]
    names = ["id", "age", "pay", "city", "bought"]

    def save(path, some, columns):
        with open(path, "w") as out:
            for row in [names] + some:
                out.write(",".join(row[c] for c in columns) + "\n")

    for columns, other in ([0, 1, 2, 3, 4], [4, 3, 0, 2, 1]), ([1, 2, 4], [2, 4, 1]):  # with roles, and numbers alone
        save("all.csv", rows, columns)
        save("a.csv", rows[:40], columns)
        save("b.csv", rows[40:], other)
        for path in ["all.csv"], ["a.csv", "b.csv"]:
            tap.mercer("fit", "svm", *path, "--target", "bought", "-k", "rbf(number, gamma=0.1)", "-o", "%d.mercer" % len(path))
        want = tap.mercer("predict", "1.mercer", "all.csv", "--scores").stdout
        tap.check_equal(tap.mercer("predict", "2.mercer", "all.csv", "--scores").stdout, want)
        tap.check_equal(tap.mercer("predict", "1.mercer", "a.csv", "b.csv", "--scores").stdout, want)
        for c in columns[1:]:
            save("less.csv", rows[40:], [k for k in columns if k != c])
            for path in ["a.csv", "less.csv"], ["less.csv", "a.csv"]:
                say = tap.mercer("fit", "svm", *path, "--target", "bought", "-k", "rbf(gamma=0.1)", status=None).stderr
                assert say.count("\n") == 1 and '"%s"' % names[c] in say, say



def rare():
    """Two classes of which the first word of the file is the rarer one; texts in quotes may be empty."""
    draw = random.Random(8)
    with open("rare.csv", "w") as out:
        out.write("age,city,note,y\n")
        for i in range(120):
            y = "sick" if i % 6 == 0 else "well"
            out.write('%.2f,%s,"%s",%s\n' % (draw.gauss(2 * (y == "sick"), 1), draw.choice("abc"), draw.choice(["", "x"]), y))


def test_pictures_are_of_the_positive_class():
    rare()
    for more in [], ["--positive", "well"]:
        tap.mercer("fit", "svm", "rare.csv", "-k", "rbf(number, gamma=0.3)", "--probability", *more, "-o", "m.mercer")
        metrics = tap.mercer_json("predict", "m.mercer", "rare.csv", "-o", "p.csv")["metrics"]
        for kind, number, metric in ("pr", "average_precision", "average_precision"), ("roc", "auc", "roc_auc"), ("calibration", "brier", "brier"):
            figure = tap.mercer_json("plot", "m.mercer", "rare.csv", "--kind", kind)
            tap.check_near(figure["numbers"][number], metrics[metric], 1e-12, (kind, more))
    figure = tap.mercer_json("plot", "m.mercer", "rare.csv", "--kind", "importance")
    tap.check_equal(sorted(figure["panels"][0]["y"]["names"]), ["age", "city", "note"])
    lost = {c["column"]: c["mean"] for c in tap.mercer_json("explain", "m.mercer", "rare.csv", "--repeats", "4")["importance"]}
    bars = {figure["panels"][0]["y"]["names"][int(at)]: v for m in figure["panels"][0]["marks"] for at, v in zip(m["x"], m["y"])}
    for name in lost:
        tap.check_near(bars[name], lost[name], 1e-12, name)


def test_weights_of_classes_choose_by_balanced_accuracy():
    rare()
    for more, metric in ([], "accuracy"), (["--balance"], "balanced_accuracy"), (["--class-weight", "balanced"], "balanced_accuracy"):
        tap.check_equal(tap.mercer_json("fit", "svm", "rare.csv", *more)["chosen"]["metric"], metric)
    note = [c for c in tap.mercer_json("info", "rare.csv")["columns"] if c["name"] == "note"][0]
    tap.check_equal((note["missing"], note["distinct"]), (0, 2))


if __name__ == "__main__":
    tap.main(globals())
