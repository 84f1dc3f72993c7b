"""--join: the columns of another table, against tables that were joined by hand.

SPDX-License-Identifier: Apache-2.0
"""
import random
import subprocess

import tap

KERNEL = "rbf(number, date, gamma=0.3) + equal(category)"


def cell(text, separator=","):
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in separator + '"\n') else text


def save(path, header, rows, separator=","):
    with open(path, "w", newline="") as out:
        for row in [header] + rows:
            out.write(separator.join(cell(v, separator) for v in row) + "\n")


def make(seed=4, n=90):
    """The rows of two tables, of which the second lacks some keys, has others, and another order."""
    draw = random.Random(seed)
    ids = ["c%03d" % i for i in range(n)]
    left = [[k, str(draw.randrange(18, 80)), draw.choice(["Ulm", "Bonn, am Rhein", 'say "x"', "two\nlines"]),
             draw.choice(["yes", "no"])] for k in ids]
    right = {k: ["%.2f" % draw.gauss(0, 1), draw.choice(["red", "?", "green"]), "2024-%02d-11" % draw.randrange(1, 13)]
             for k in ids + ["z1", "z2"] if k not in ("c007", "c050")}
    keys = list(right)
    draw.shuffle(keys)
    head = ["id", "age", "city", "bought"], ["id", "mass", "colour", "seen"]
    both = [row + right.get(row[0], ["", "", ""]) for row in left]
    return head, left, [[k] + right[k] for k in keys], both


def write(**how):
    head, left, right, both = make()
    save("left.csv", head[0], left)
    save("right.csv", head[1], right)
    save("both.csv", head[0] + head[1][1:], both)
    return head, left, right, both



def scores(model, *words):
    return tap.mercer("predict", model, *words, "--scores").stdout


def test_same_as_a_table_that_was_joined():
    write()
    a = tap.mercer_json("info", "both.csv", "--target", "bought")
    b = tap.mercer_json("info", "left.csv", "--join", "right.csv", "--target", "bought")
    tap.check_equal(a["columns"], b["columns"])
    for words, model in (["both.csv"], "a.mercer"), (["left.csv", "--join", "right.csv"], "b.mercer"):
        tap.mercer("fit", "svm", *words, "--target", "bought", "-k", KERNEL, "-o", model)
    want = scores("a.mercer", "both.csv")
    tap.check_equal(scores("b.mercer", "left.csv", "--join", "right.csv"), want)
    tap.check_equal(scores("b.mercer", "both.csv"), want)  # needs no second table if all is there
    tap.check_equal(scores("a.mercer", "left.csv", "--join", "right.csv"), want)
    assert want.splitlines()[1].startswith("c000"), want[:100]
    for verb in "cv", "tune":
        point = ["-C", "1:10:log2"] if verb == "tune" else []
        outcome = [tap.mercer_json(verb, "svm", *words, "--target", "bought", "-k", KERNEL, *point)["metrics" if verb == "cv" else "best"]
                   for words in (["both.csv"], ["left.csv", "--join", "right.csv"])]
        tap.check_equal(outcome[0], outcome[1])
    tap.mercer("fit", "pca", "left.csv", "--join", "right.csv", "--target", "none", "--drop", "bought", "-k",
               "rbf(number, gamma=1)", "--components", "2", "-o", "p.mercer")
    lines = tap.mercer("transform", "p.mercer", "left.csv", "--join", "right.csv").stdout.splitlines()
    assert len(lines) == 91 and lines[1].startswith("c000\t"), lines[:2]


def test_says_what_has_no_partner():
    write()
    say = tap.mercer("fit", "svm", "left.csv", "--join", "right.csv", "--target", "bought", "-k", KERNEL, "-o", "b.mercer").stderr
    assert '2 of 90 objects have no row in right.csv, the first is "c007"' in say, say
    say = refused("predict", "b.mercer", "left.csv")
    assert 'left.csv:1: there is no column "mass"' in say and "--join FILE" in say, say


def test_dialects():
    """Semicolons, tabs, decimal commas and databases on either side."""
    head, left, right, _ = write()
    comma = [[k, mass.replace(".", ","), colour, seen] for k, mass, colour, seen in right]
    save("right2.csv", head[1], comma, ";")
    save("right3.tsv", head[1], right, "\t")
    save("left2.csv", head[0], left, ";")
    tap.mercer("fit", "svm", "both.csv", "--target", "bought", "-k", KERNEL, "-o", "a.mercer")
    want = scores("a.mercer", "both.csv")
    for l in "left.csv", "left2.csv":
        for r in "right.csv", "right2.csv", "right3.tsv":
            tap.check_equal(scores("a.mercer", l, "--join", r), want)
    # numbers with a decimal comma in the first table, without one in the second
    price = [[k, "%d,%02d" % (i, i), bought] for i, (k, _, _, bought) in enumerate(left)]
    save("price.csv", ["id", "price", "bought"], price, ";")
    out = {c["name"]: c["role"] for c in tap.mercer_json("info", "price.csv", "--join", "right.csv", "--target", "bought")["columns"]}
    tap.check_equal(out, {"id": "id", "price": "number", "bought": "target", "mass": "number", "colour": "category", "seen": "date"})


def test_stream_joins_too():
    write()
    tap.mercer("fit", "svm", "left.csv", "--join", "right.csv", "--target", "bought", "-k", KERNEL, "-o", "b.mercer")
    want = scores("b.mercer", "left.csv", "--join", "right.csv")
    with open("left.csv", "rb") as rows:
        got = subprocess.run([tap.MERCER, "predict", "b.mercer", "-", "--join", "right.csv", "--scores"], stdin=rows,
                             capture_output=True, text=True, check=True)
    tap.check_equal(got.stdout, want)
    assert "2 of 90 objects have no row" in got.stderr, got.stderr


def refused(*words, status=1):
    say = tap.mercer(*words, status=status).stderr
    assert say.count("\n") == 1, say
    return say


def test_refusals():
    head, left, right, _ = write()
    save("twice.csv", head[1], right + [right[3]])
    say = refused("info", "left.csv", "--join", "twice.csv")
    assert "twice.csv:92" in say and "occurs twice in the key" in say and right[3][0] in say, say
    save("other.csv", ["key"] + head[1][1:], right)
    say = refused("info", "left.csv", "--join", "other.csv")
    assert "it has no column in common with left.csv" in say and "--id COLUMN" in say, say
    save("age.csv", ["id", "age"], [[k, "1"] for k, *_ in right])
    say = refused("info", "left.csv", "--join", "age.csv")
    assert "both tables have the columns id, age" in say, say
    say = refused("info", "left.csv", "--join", "age.csv", "--id", "id")
    assert 'column "age" is in both tables' in say, say
    say = refused("info", "left.csv", "--join", "age.csv", "--drop", "age")
    assert "there is nothing to add" in say, say
    say = refused("info", "left.csv", "--join", "right.csv", "--id", "city")
    assert 'right.csv: there is no column "city" to join by' in say, say
    save("none.csv", head[1], [["q%d" % i, *row[1:]] for i, row in enumerate(right)])
    say = refused("info", "left.csv", "--join", "none.csv")
    assert "none of the 90 objects has a row" in say and '"c000"' in say, say
    save("bare.csv", ["id"], [[row[0]] for row in right])
    say = refused("info", "left.csv", "--join", "bare.csv")
    assert "there is nothing to add" in say, say
    save("short.csv", head[1], right[:2] + [["s", "1"]])
    say = refused("info", "left.csv", "--join", "short.csv")
    assert "short.csv:4: 2 values, but the first line has 4" in say, say
    save("hole.csv", head[1], right[:2] + [["", "1", "red", "2024-01-01"]])
    say = refused("info", "left.csv", "--join", "hole.csv")
    assert "hole.csv:4: the key" in say and "is missing" in say, say
    say = refused("info", "left.csv", "--join", "gone.csv")
    assert "gone.csv" in say, say
    tap.mercer("sample", "moons", "-n", "20", "-o", "moons.svm")
    say = refused("info", "moons.svm", "--join", "right.csv", status=2)
    assert "libsvm have no names" in say, say
    say = refused("info", "left.csv", "--join", "moons.svm")
    assert "only a table" in say, say
    with open("left.csv", "a") as out:
        out.write("c900,3\n")
    say = refused("info", "left.csv", "--join", "right.csv")
    assert "2 values, but the first line has 4" in say, say
    tap.mercer("info", "left.csv", "--join", "right.csv", "--skip-bad", "--target", "bought")


def sequences():
    draw = random.Random(9)
    name = ["s%02d" % i for i in range(40)]
    with open("seq.fa", "w") as out:
        for i, k in enumerate(name):
            out.write(">%s some words %s\n%s\n" % (k, "ab"[i % 2], "".join(draw.choice("ACGT") for _ in range(20))))
    save("prop.csv", ["name", "mass", "family", "activity"],
         [[k, "%.2f" % (i % 2 + draw.random()), draw.choice("xyz"), str(i * 0.5)] for i, k in enumerate(name)])


def test_sequences():
    sequences()
    shape = tap.mercer_json("info", "seq.fa", "--join", "prop.csv", "--id", "name")
    tap.check_equal([f["name"] for f in shape["fields"]], ["sequence", "x", "family"])
    k = "normalize(spectrum(sequence, p=3)) + rbf(mass, gamma=1) + equal(family)"
    tap.mercer("fit", "svm", "seq.fa", "--join", "prop.csv", "--id", "name", "--drop", "activity", "-k", k, "-o", "s.mercer")
    lines = tap.mercer("predict", "s.mercer", "seq.fa", "--join", "prop.csv").stdout.splitlines()
    assert len(lines) == 41 and lines[1].startswith("s00\t"), lines[:3]
    say = refused("predict", "s.mercer", "seq.fa", status=2)
    assert "trained with a table that was joined" in say and "--join FILE" in say, say
    # the target may be in the joined table
    tap.mercer("fit", "ridge", "seq.fa", "--join", "prop.csv", "--id", "name", "--target", "activity", "-k", k, "-o", "r.mercer")
    got = tap.mercer_json("predict", "r.mercer", "seq.fa", "--join", "prop.csv")
    assert "r2" in got["metrics"] if "metrics" in got else "r2" in got, got
    with open("seq.fa") as rows:
        lines = subprocess.run([tap.MERCER, "predict", "r.mercer", "-", "--join", "prop.csv"], stdin=rows,
                               capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == 41, lines[:3]
    say = refused("info", "seq.fa", "--join", "prop.csv", "--id", "name", "--missing", "drop", status=2)
    assert "cannot be dropped" in say, say
    save("plain.csv", ["kind", "mass"], [["a", "1"], ["b", "2"]])
    say = refused("info", "seq.fa", "--join", "plain.csv")
    assert "no column is recognised as one of ids" in say and "--id COLUMN" in say, say
    save("clash.csv", ["id", "sequence"], [["s00", "ACGT"], ["s01", "TT"]])
    say = refused("info", "seq.fa", "--join", "clash.csv")
    assert 'the objects already have a field "sequence"' in say, say


def test_molecules_and_json():
    tap.mercer("sample", "molecules", "-n", "30", "-o", "mol.jsonl")
    with open("mol.jsonl") as lines:
        plain = lines.read().splitlines()
    for form, path in ('"m%d"', "words.jsonl"), ("%d", "numbers.jsonl"):
        with open(path, "w") as out:
            for i, line in enumerate(plain):
                out.write("{" + '"id": ' + form % i + ", " + line[1:] + "\n")
    save("words.csv", ["id", "logp"], [["m%d" % i, str(i * 0.1)] for i in range(30)])
    save("numbers.csv", ["id", "logp"], [["%d" % i, str(i * 0.1)] for i in range(30)])
    for what in "words", "numbers":
        shape = tap.mercer_json("info", what + ".jsonl", "--join", what + ".csv")
        tap.check_equal(sorted(f["name"] for f in shape["fields"]), ["molecule", "x"])
        tap.mercer("fit", "svm", what + ".jsonl", "--join", what + ".csv", "-k", "normalize(wl(molecule, h=2)) + rbf(logp, gamma=1)",
                   "-o", what + ".mercer")
    one, two = (tap.mercer("predict", w + ".mercer", w + ".jsonl", "--join", w + ".csv", "--scores").stdout.splitlines()
                for w in ("words", "numbers"))
    tap.check_equal([l.split("\t", 1)[1] for l in one], [l.split("\t", 1)[1] for l in two])
    say = refused("info", "mol.jsonl", "--join", "words.csv")
    assert 'the objects have no "id"' in say, say


def test_graphs_by_number():
    import os
    os.makedirs("G", exist_ok=True)
    for part, text in ("A", "1, 2\n2, 1\n3, 4\n"), ("graph_indicator", "1\n1\n2\n2\n2\n"), ("graph_labels", "1\n-1\n"):
        with open("G/G_%s.txt" % part, "w") as out:
            out.write(text)
    save("g.csv", ["graph_id", "mass"], [["2", "20.5"], ["1", "10.5"]])
    tap.mercer("gram", "G", "--join", "g.csv", "-k", "linear(mass)", "-o", "k.csv")
    with open("k.csv") as lines:
        values = [float(v) for line in lines if line[0].isdigit() for v in line.split(",")]
    tap.check_equal(values, [10.5 * 10.5, 10.5 * 20.5, 10.5 * 20.5, 20.5 * 20.5])


if __name__ == "__main__":
    tap.main(globals())
