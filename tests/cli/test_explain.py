"""mercer explain and mercer features: models as weights, objects as vectors.

SPDX-License-Identifier: Apache-2.0
"""

import tap


def fit_motifs(kernel="spectrum(p=5)"):
    tap.mercer("sample", "motifs", "-n", "200", "-o", "motifs.csv")
    tap.mercer("fit", "svm", "motifs.csv", "-k", kernel, "-o", "m.mercer", "--quiet")


def test_the_motif_is_found():
    fit_motifs()
    out = tap.mercer_json("explain", "m.mercer", "--top", "3")
    tap.check_equal(out["features"], 1024)
    tap.check_equal([o["name"] for o in out["outputs"]], ["1 : -1"])
    found = [f["feature"] for f in out["outputs"][0]["positive"]]
    tap.check_equal(len(found), 3)
    assert all(word in "xTGACTCATx" or word[1:] in "TGACTCAT" for word in found), found
    text = tap.mercer("explain", "m.mercer", "--top", "3").stdout
    for word in found + ["for 1:", "for -1:", "offset"]:
        assert word in text, (word, text)


def test_all_weights_give_the_scores():
    fit_motifs("normalize(spectrum(p=3, mode=count))")
    out = tap.mercer_json("explain", "m.mercer", "--top", "0")["outputs"][0]
    weight = {f["feature"]: f["weight"] for sign in ("positive", "negative") for f in out[sign]}
    tap.mercer("predict", "m.mercer", "motifs.csv", "--scores", "-o", "s.txt", "--quiet")
    scores = [float(line.split()[-1]) for line in open("s.txt") if not line.startswith("#")]
    rows = [line.split(",")[0] for line in open("motifs.csv")][1:]
    for row, score in list(zip(rows, scores))[:50]:
        words = [row[i:i + 3] for i in range(len(row) - 2)]
        length = sum(words.count(w) ** 2 for w in set(words)) ** 0.5
        value = out["offset"] + sum(weight.get(w, 0) for w in words) / length
        tap.check_near(value, score, 1e-9, row)


def test_sides():
    tap.mercer("sample", "blobs", "-n", "90", "-o", "b.csv")
    for how, names in (("ovo", ["1 : 2", "1 : 3", "2 : 3"]), ("ovr", ["1", "2", "3"])):
        tap.mercer("fit", "svm", "b.csv", "-k", "linear", "--multiclass", how, "-o", "b.mercer",
                   "--quiet")
        out = tap.mercer_json("explain", "b.mercer")
        tap.check_equal([o["name"] for o in out["outputs"]], names)
        text = tap.mercer("explain", "b.mercer").stdout
        assert ("for 3:" in text) and (("against 3:" in text) == (how == "ovr")), text
    out = tap.mercer_json("explain", "b.mercer", "--of", "2")
    tap.check_equal(len(out["outputs"]), 1)
    tap.mercer("sample", "sinc", "-n", "50", "-o", "s.csv")
    tap.mercer("fit", "svr", "s.csv", "-k", "poly(degree=3, c=1)", "-o", "s.mercer", "--quiet")
    text = tap.mercer("explain", "s.mercer").stdout
    assert "higher:" in text and "x1^3" in text, text


def test_scaled_columns_are_reported():
    with open("f.csv", "w") as f:
        f.write("len,wid,kind\n1000,2,a\n2000,1,b\n1500,2.5,a\n1800,0.5,b\n")
    for scale in ("none", "standard"):
        tap.mercer("fit", "svm", "f.csv", "-k", "linear", "--scale", scale, "-o", "f.mercer", "--quiet")
        tap.check_equal(tap.mercer_json("explain", "f.mercer")["scaled"], scale != "none")
        tap.check_equal("scaled columns (--scale)" in tap.mercer("explain", "f.mercer").stdout, scale != "none")


def test_random_features_are_not_explained():
    tap.mercer("sample", "moons", "-n", "90", "-o", "r.csv")
    tap.mercer("fit", "svm", "r.csv", "-k", "rbf(gamma=1)", "--approx", "rff", "--rank", "20", "-o",
               "r.mercer", "--quiet")
    done = tap.mercer("explain", "r.mercer", status=2)
    assert "random Fourier features" in done.stderr, done.stderr


def test_other_learners():
    """What is a sum over features is shown with the right sides, anything else is refused."""
    tap.mercer("sample", "blobs", "-n", "90", "-o", "b.csv")
    for learner, words in (("ridge", "for 3:"), ("logistic", "for 2:"), ("fisher", "higher:"),
                           ("pca", "lower:"), ("kmeans", "higher:")):
        tap.mercer("fit", learner, "b.csv", "-k", "linear", "-o", "b.mercer", "--quiet",
                   *(["--task", "classify"] if learner == "ridge" else []))
        text = tap.mercer("explain", "b.mercer").stdout
        assert words in text and "x1" in text, (learner, text)
        assert (learner in ("ridge", "logistic")) == ("for " in text), (learner, text)
    tap.mercer("fit", "knn", "b.csv", "-k", "linear", "-o", "b.mercer", "--quiet", "--task", "classify")
    assert "no weights" in tap.mercer("explain", "b.mercer", status=2).stderr
    tap.mercer("sample", "mixed", "-n", "40", "-o", "m.jsonl")
    tap.mercer("fit", "cca", "m.jsonl", "-k", "linear(x)", "--kernel2", "spectrum(sequence)", "-o",
               "c.mercer", "--quiet")
    assert "two kernels" in tap.mercer("explain", "c.mercer", status=2).stderr


def test_subsequences():
    """ssk and gkm(filter=none) are explained by their words."""
    fit_motifs("ssk(p=2)")
    assert "features   16 in" in tap.mercer("explain", "m.mercer").stdout
    fit_motifs("gkm(l=4, k=2, filter=none)")
    text = tap.mercer("explain", "m.mercer").stdout
    assert "features   " in text and ".." in text.split("for ")[1], text


def test_refusals():
    fit_motifs("exp(ssk(p=2))")
    run = tap.mercer("explain", "m.mercer", status=2)
    assert "exp" in run.stderr and "no finite feature map" in run.stderr, run.stderr
    fit_motifs()
    run = tap.mercer("explain", "m.mercer", "--of", "a", status=2)
    assert "1 : -1" in run.stderr, run.stderr
    run = tap.mercer("features", "motifs.csv", "-k", "exp(ssk(p=2))", status=2)
    assert "no finite feature map" in run.stderr, run.stderr


def test_features_are_the_kernel():
    fit_motifs()
    out = tap.mercer_json("features", "motifs.csv", "-k", "spectrum(p=2, mode=count)", "--names",
                          "3", "-o", "f.svm")
    tap.check_equal((out["n"], out["features"], out["names"]), (200, 16, ["AA", "AC", "AG"]))
    tap.mercer("gram", "f.svm", "-k", "linear", "-o", "a.csv")
    tap.mercer("gram", "motifs.csv", "-k", "spectrum(p=2, mode=count)", "-o", "b.csv")
    tap.check_equal(open("a.csv").read(), open("b.csv").read())
    text = tap.mercer("features", "motifs.csv", "-k", "spectrum(p=2)", "--names", "2").stdout
    assert "AA" in text and "AC" in text and "16" in text, text


def test_features_as_tables():
    """By the ending: CSV and TSV with names, an array; else LIBSVM, whatever the name."""
    tap.mercer("sample", "blobs", "-n", "30", "-o", "b.csv")
    call = ["features", "b.csv", "-k", "poly(degree=2, c=1)", "--quiet", "-o"]
    for path, separator in (("f.csv", ","), ("f.tsv", "\t"), ("f.CSV", ",")):
        tap.mercer(*call, path)
        lines = open(path).read().splitlines()
        tap.check_equal(lines[0].replace('"', "").split(separator),
                        ["1", "x1", "x1^2", "x2", "x1 * x2", "x2^2", "target"])
        tap.check_equal(len(lines), 31)
        tap.mercer("gram", path, "-k", "linear", "-o", "a.csv")
        tap.mercer("gram", "b.csv", "-k", "poly(degree=2, c=1)", "-o", "k.csv")
        for a, b in zip(list(open("a.csv"))[1:], list(open("k.csv"))[1:]):
            for u, v in zip(a.split(","), b.split(",")):
                tap.check_near(float(u), float(v), 1e-9 * (1 + abs(float(v))), path)
    tap.mercer(*call, "f.txt")
    assert open("f.txt").readline().split()[1] == "1:1", open("f.txt").readline()
    tap.mercer(*call, "f.npy")
    tap.mercer("gram", "f.npy", "-k", "linear", "--target", "none", "-o", "n.csv")
    tap.check_equal(open("n.csv").read(), open("a.csv").read())
    # Names of strings; one that the table's own column has.
    open("s.csv", "w").write("text,target\nabc,one\nabd,two\n")
    tap.mercer("features", "s.csv", "-k", "spectrum(p=2)", "-o", "t.csv", "--quiet")
    tap.check_equal(open("t.csv").read(), "ab,bc,bd,target\n1,1,0,one\n1,0,1,two\n")
    open("w.csv", "w").write("weight_,Target,y\n1,2,a\n3,4,b\n")
    tap.mercer("features", "w.csv", "--target", "y", "-k", "linear", "-o", "v.csv", "--quiet")
    tap.check_equal(open("v.csv").read(), "x1,x2,target\n1,2,a\n3,4,b\n")
    # Approximate features.
    near = ["features", "b.csv", "-k", "rbf(gamma=1)", "--approx", "rff", "--rank", "4", "--quiet", "-o"]
    tap.mercer(*near, "r.csv")
    tap.check_equal(open("r.csv").readline(), "x1,x2,x3,x4,target\n")
    tap.mercer(*near, "r.npy")
    tap.mercer("gram", "r.npy", "-k", "linear", "--target", "none", "-o", "n.csv")
    tap.mercer("gram", "r.csv", "-k", "linear", "-o", "a.csv")
    tap.check_equal(open("n.csv").read(), open("a.csv").read())


if __name__ == "__main__":
    tap.main(globals())
