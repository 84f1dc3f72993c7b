"""mercer info: what data files hold.

SPDX-License-Identifier: Apache-2.0
"""

import gzip

import tap

SVM = "+1 1:0.5 3:1\n-1 2:2\n+1 1:1 2:1 3:1\n"


def write(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def test_sparse():
    out = tap.mercer_json("info", write("d.svm", SVM))
    tap.check_equal([out["file"], out["holds"], out["n"]], ["d.svm", "data", 3])
    tap.check_equal(len(out["fields"]), 1)
    field = out["fields"][0]
    tap.check_equal([field["kind"], field["cols"], field["entries"]], ["sparse", 3, 6])
    tap.check_equal([field["shortest"], field["longest"]], [1, 3])
    tap.check_near(field["density"], 6 / 9)
    targets = out["targets"]
    tap.check_equal([targets["kind"], targets["distinct"]], ["numbers", 2])
    tap.check_equal([targets["min"], targets["max"]], [-1, 1])
    assert out["seconds"] >= 0 and out["bytes"] > 0 and out["weights"] is False


def test_class_counts():
    rows = ["%d 1:%d" % (1 + i % 3, i + 1) for i in range(30)]
    out = tap.mercer_json("info", write("d.svm", "\n".join(rows) + "\n"))
    tap.check_equal([(c["name"], c["count"]) for c in out["targets"]["classes"]],
                    [("1", 10), ("2", 10), ("3", 10)])
    text = tap.mercer("info", "d.svm").stdout
    assert "classes    3\n" in text and "10 objects (33.3 %)" in text, text


def test_words_and_fields():
    write("d.csv", "height,name,class\n1,abc,cat\n2,de,dog\n3,f,cat\n")
    out = tap.mercer_json("info", "d.csv")
    tap.check_equal(sorted((f["name"], f["kind"]) for f in out["fields"]),
                    [("name", "strings"), ("x", "dense")])
    tap.check_equal([(c["name"], c["count"]) for c in out["targets"]["classes"]],
                    [("cat", 2), ("dog", 1)])
    tap.check_equal(out["targets"]["kind"], "words")
    text = tap.mercer("info", "d.csv").stdout
    for part in ("objects    3", "x: dense vectors, 1 feature", "name: strings, 1 to 3 bytes",
                 "classes    2"):
        assert part in text, (part, text)


def test_numbers_as_targets():
    write("d.csv", "a,y\n" + "".join("%d,%g\n" % (i, i * 0.37) for i in range(40)))
    out = tap.mercer_json("info", "d.csv")
    tap.check_equal(out["targets"]["distinct"], 40)
    assert "classes" not in out["targets"]
    tap.check_near(out["targets"]["max"], 39 * 0.37)
    assert "40 distinct values" in tap.mercer("info", "d.csv").stdout
    tap.check_equal(tap.mercer_json("info", "d.csv", "--target", "none")["targets"], None)


def test_gzip_and_standard_input_are_the_same():
    with gzip.open("d.svm.gz", "wt") as f:
        f.write(SVM)
    want = tap.mercer_json("info", write("d.svm", SVM))
    for got in (tap.mercer_json("info", "d.svm.gz"),
                tap.mercer_json("info", "-", "--format", "libsvm", stdin=SVM)):
        for key in ("n", "fields", "targets", "bytes"):
            tap.check_equal(got[key], want[key], key)


def test_graphs():
    tap.mercer("sample", "molecules", "-n", 20, "-o", "m.jsonl")
    out = tap.mercer_json("info", "m.jsonl")
    field = [f for f in out["fields"] if f["kind"] == "graphs"][0]
    assert field["nodes"] > 20 and field["node_labels"] > 0 and field["entries"] > 0
    assert "graphs, " in tap.mercer("info", "m.jsonl").stdout


def test_fasta_classes():
    write("pos.fa", ">a\nACGT\n>b\nACG\n")
    write("neg.fa", ">c\nTTT\n")
    out = tap.mercer_json("info", "--class", "pos.fa", "--class=neg.fa")
    tap.check_equal([out["n"], out["file"]], [3, None])
    tap.check_equal([(c["name"], c["count"]) for c in out["targets"]["classes"]],
                    [("pos", 2), ("neg", 1)])
    assert "objects    3" in tap.mercer("info", "--class", "pos.fa", "--class", "neg.fa").stdout


def test_refusals():
    write("empty.csv", "")
    assert "empty.csv" in tap.mercer("info", "empty.csv", status=1).stderr
    write("nan.csv", "a,y\n1,1\nnan,2\n")
    assert tap.mercer("info", "nan.csv", "--missing", "error", status=1).stderr.startswith("mercer: nan.csv:3: ")
    write("d.svm", SVM)
    with gzip.open("cut.svm.gz", "wt") as f:
        f.write(SVM * 1000)
    with open("cut.svm.gz", "rb") as f:
        whole = f.read()
    with open("cut.svm.gz", "wb") as f:
        f.write(whole[:len(whole) // 2])
    tap.mercer("info", "cut.svm.gz", status=1)
    done = tap.mercer("info", "d.svm", "--format", "libsvn", status=2)
    assert '(did you mean "libsvm"?)' in done.stderr, done.stderr


if __name__ == "__main__":
    tap.main(globals())
