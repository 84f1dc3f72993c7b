"""Every format as a user has it: detected, named, compressed, from standard input.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import io
import json
import os

import numpy as np

import tap


def npy(values):
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def npz(**arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


# name of the file, --format, bytes, (number of objects, kind of the first field, classes or None)
FILES = [
    ("d.svm", "libsvm", b"+1 1:0.5 3:1\n-1 2:2\n", (2, "sparse", ["-1", "1"])),
    ("d.csv", "csv", b"a,b,class\n1,2,cat\n3,4,dog\n5,6,cat\n", (3, "dense", ["cat", "dog"])),
    ("d.tsv", "tsv", b"a\tb\tclass\n1\t2\tcat\n3\t4\tdog\n", (2, "dense", ["cat", "dog"])),
    ("d.npy", "npy", npy(np.eye(3)), (3, "dense", None)),
    ("d.npz", "npz", npz(X=np.eye(3), y=np.array(["a", "b", "a"])), (3, "dense", ["a", "b"])),
    ("d.txt", "text", b"spam\tbuy now\nham\thello you\n", (2, "strings", ["spam", "ham"])),
    ("d.fa", "fasta", b">one a\nACGT\n>two b\nAC\nGG\n", (2, "strings", ["a", "b"])),
    ("d.jsonl", "jsonl", b'{"y": "p", "x": [1, 2]}\n{"y": "q", "x": [3, 4]}\n',
     (2, "dense", ["p", "q"])),
    ("k.svm", "precomputed", b"1 0:1 1:2 2:1\n-1 0:2 1:1 2:3\n",
     (2, "precomputed", ["-1", "1"])),
]


def check(shown, wanted, what):
    n, kind, classes = wanted
    tap.check_equal([shown["n"], shown["fields"][0]["kind"]], [n, kind], what)
    found = shown["targets"]
    if classes is None:
        tap.check_equal(found, None, what)
    else:
        names = [c["name"] for c in found.get("classes", [])] or classes
        tap.check_equal(names, classes, what)
        tap.check_equal(found["distinct"], len(classes), what)


def write(name, content):
    with open(name, "wb") as f:
        f.write(content)


def test_detected_named_and_compressed():
    for name, form, content, wanted in FILES:
        write(name, content)
        check(tap.mercer_json("info", name), wanted, name)
        check(tap.mercer_json("info", name, "--format", form), wanted, name + " named")
        with gzip.open(name + ".gz", "wb") as f:
            f.write(content)
        check(tap.mercer_json("info", name + ".gz"), wanted, name + ".gz")


def test_standard_input():
    for name, form, content, wanted in FILES:
        out = tap.mercer("info", "-", "--format", form, "--json", stdin=content, text=False)
        check(json.loads(out.stdout), wanted, form)


def test_graph_set_in_a_folder():
    os.mkdir("DS")
    for part, text in (("A", "1, 2\n2, 1\n3, 4\n4, 3\n"), ("graph_indicator", "1\n1\n2\n2\n"),
                       ("graph_labels", "1\n-1\n"), ("node_labels", "0\n1\n0\n0\n")):
        write("DS/DS_%s.txt" % part, text.encode())
    shown = tap.mercer_json("info", "DS")
    tap.check_equal(shown["n"], 2)
    field = shown["fields"][0]
    tap.check_equal([field["kind"], field["nodes"], field["entries"], field["node_labels"]],
                    ["graphs", 4, 2, 2])


def test_a_target_of_npy():
    write("x.npy", npy(np.eye(4)))
    write("y.npy", npy(np.array([1.0, 2.0, 1.0, 2.0])))
    tap.check_equal(tap.mercer_json("info", "x.npy", "--target", "y.npy")["targets"]["distinct"], 2)
    write("y.npy", npy(np.array([1.0, 2.0])))
    tap.mercer("info", "x.npy", "--target", "y.npy", status=1)


def test_target_and_weight_columns():
    write("d.csv", b"y,a,w\n1,5,0.5\n2,6,1\n")
    shown = tap.mercer_json("info", "d.csv", "--target", "y", "--weight", "w")
    tap.check_equal([shown["weights"], shown["targets"]["max"]], [True, 2])
    tap.check_equal(tap.mercer_json("info", "d.csv", "--target", "2")["targets"]["max"], 6)
    done = tap.mercer("info", "d.csv", "--target", "yy", status=None)
    assert done.returncode in (1, 2) and "yy" in done.stderr, done.stderr


def test_tables_without_their_separator():
    for text, said in (("a|b|y\n1|2|1\n3|4|-1\n", "a comma, a semicolon or a tab"),
                       ("a b y\n1 2 1\n3 4 -1\n", "a comma, a semicolon or a tab"),
                       ("# made by me\n1,2,1\n3,4,-1\n", "no comments")):
        with open("t.csv", "w") as f:
            f.write(text)
        done = tap.mercer("info", "t.csv", status=1)
        assert "t.csv:1: " in done.stderr and said in done.stderr, done.stderr


def test_weights_are_not_ignored():
    with open("d.svm", "w") as f:
        f.write("1 1:1\n-1 2:1\n")
    done = tap.mercer("fit", "svm", "d.svm", "--weight", "1", status=2)
    assert "libsvm has no weights" in done.stderr, done.stderr


if __name__ == "__main__":
    tap.main(globals())
