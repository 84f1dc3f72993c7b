"""Model files: mercer info, mercer export, files of LIBSVM, files that are damaged.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import json
import os

import tap
from test_fit import read_csv, sample, write


def fit(learner, file, *options, model="m.mercer"):
    return tap.mercer_json("fit", learner, file, *options, "-o", model)


def test_a_constant_kernel_is_kept():
    """It reads no field, and still the model must load and predict."""
    with open("coll.csv", "w") as out:
        out.write("x,y\n" + "".join("%d,%s\n" % (i, "ab"[i % 2]) for i in range(9)))
    for kernel in ("1", "2 + 3", "0"):
        tap.mercer("fit", "svm", "coll.csv", "-k", kernel, "-o", "c.mercer", "--quiet")
        said = tap.mercer("predict", "c.mercer", "coll.csv", "--quiet").stdout.split()
        assert len(said) == 9 and set(said) <= {"a", "b"}, said


def test_info_shows_what_fit_reported():
    for learner, name in (("svm", "moons"), ("svm", "blobs"), ("svr", "sinc"),
                          ("one-class", "moons")):
        made = fit(learner, sample(name), "--tol", "1e-5", "--seed", 7)
        shown = tap.mercer_json("info", "m.mercer")
        tap.check_equal([shown["file"], shown["holds"]], ["m.mercer", "model"])
        for key in set(made) - {"model", "seconds", "seconds_total"}:
            tap.check_equal(shown[key], made[key], key)
        tap.check_equal(shown["bytes"], os.path.getsize("m.mercer"))
        tap.check_equal(shown["version"], tap.mercer_json("version")["version"])
        tap.check_equal(shown["seed"], 7)
        tap.check_equal(len(shown["class_names"]), shown["classes"])
        text = tap.mercer("info", "m.mercer").stdout
        for part in ("learner    %s, tol=1e-05" % learner, "kernel     " + made["kernel"],
                     "stop       optimal", "certified  ", "support    %d" % made["support"]):
            assert part.replace("1e-05", "1e-5") in text.replace("1e-05", "1e-5"), (part, text)


def test_info_names_the_classes():
    write("d.csv", "a,y\n" + "".join("%d,%s\n" % (i, "hot" if i > 9 else "cold")
                                     for i in range(20)))
    fit("svm", "d.csv", "--probability")
    shown = tap.mercer_json("info", "m.mercer")
    tap.check_equal([shown["class_names"], shown["probability"], shown["outputs"]],
                    [["cold", "hot"], True, 1])
    text = tap.mercer("info", "m.mercer").stdout
    assert "classes    cold\n           hot\n" in text, text


def test_export_and_back():
    cases = (("svm", "moons", ["-k", "rbf(gamma=2)"]), ("svm", "blobs", ["-k", "linear"]),
             ("nu-svm", "moons", ["-k", "poly(degree=3, c=1, scale=0.5)"]),
             ("one-class", "moons", ["-k", "rbf(gamma=1)"]),
             ("svr", "sinc", ["-k", "rbf(gamma=1)"]), ("nu-svr", "sinc", ["-k", "sigmoid(a=0.1, b=0)"]))
    for learner, name, options in cases:
        file = sample(name, n=80)
        fit(learner, file, *options)
        done = tap.mercer("export", "m.mercer", "--to", "libsvm", "-o", "m.model")
        tap.check_equal(done.stdout, "m.model: m.mercer exported as LIBSVM\n")
        with open("m.model") as f:
            tap.check_equal(tap.mercer("export", "m.mercer", "--to", "libsvm").stdout, f.read())
        want, got = (tap.mercer("predict", m, file) for m in ("m.mercer", "m.model"))
        if name == "sinc":
            for a, b in zip(got.stdout.split(), want.stdout.split()):
                tap.check_near(float(a), float(b), 1e-9)
        else:
            tap.check_equal(got.stdout, want.stdout, learner)
        shown = tap.mercer_json("info", "m.model")
        tap.check_equal([shown["holds"], shown["learner"], shown["version"], shown["seed"]],
                        ["model", learner, None, None])


def test_model_of_libsvm_by_hand():
    write("hand.model", "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\n"
          "label 1 -1\nnr_sv 1 1\nSV\n1 1:2\n-1 2:1 \n")
    write("x.svm", "1 1:1\n-1 2:3\n1 1:1 2:1\n")
    out = tap.mercer("predict", "hand.model", "x.svm", "--scores").stdout.split()
    tap.check_equal([float(v) for v in out], [1.5, -3.5, 0.5])
    tap.check_equal(tap.mercer("predict", "hand.model", "x.svm").stdout.split(), ["1", "-1", "1"])
    assert "made by    another program" in tap.mercer("info", "hand.model").stdout


def test_export_refuses():
    fit("svm", sample("motifs", n=20, file="m.txt"), "-k", "spectrum(p=3)")
    done = tap.mercer("export", "m.mercer", "--to", "libsvm", "-o", "m.model", status=2)
    assert "LIBSVM" in done.stderr and not os.path.exists("m.model"), done.stderr
    done = tap.mercer("export", "m.mercer", "--to", "pickle", status=2)
    assert done.stderr.startswith('mercer: export: --to: models cannot be written as "pickle" (there is: c, ')
    done = tap.mercer("export", "m.mercer", "--to", "libsvn", status=2)
    assert '(did you mean "libsvm"?)' in done.stderr
    assert "--to FORM is missing" in tap.mercer("export", "m.mercer", status=2).stderr
    assert "--json needs -o" in tap.mercer("export", "m.mercer", "--to", "libsvm", "--json",
                                           status=2).stderr


def test_compressed_models_are_read():
    file = sample("moons", n=40)
    fit("svm", file)
    with open("m.mercer", "rb") as f, gzip.open("c.mercer.gz", "wb") as g:
        g.write(f.read())
    tap.check_equal(tap.mercer("predict", "c.mercer.gz", file).stdout,
                    tap.mercer("predict", "m.mercer", file).stdout)
    tap.check_equal(tap.mercer_json("info", "c.mercer.gz")["holds"], "model")


def test_damaged_models_are_refused():
    file = sample("moons", n=30)
    fit("svm", file)
    with open("m.mercer", "rb") as f:
        whole = f.read()
    cases = [whole[:n] for n in (0, 4, 9, 40, len(whole) // 2, len(whole) - 1)]
    cases += [whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:]
              for at in range(8, len(whole), len(whole) // 23)]
    cases.append(b"svm_type c_svc\nkernel_type rbf\n")
    cases.append(b"a,b\n1,2\n")
    for bytes_ in cases:
        with open("bad.mercer", "wb") as f:
            f.write(bytes_)
        done = tap.mercer("predict", "bad.mercer", file, "--json", status=1)
        assert done.stderr.startswith("mercer: bad.mercer: ") or \
            done.stderr.startswith("mercer: bad.mercer:"), done.stderr
        tap.check_equal(done.stderr.count("\n"), 1)
        tap.check_equal(json.loads(done.stdout)["error"]["file"], "bad.mercer")
    assert tap.mercer("predict", "nowhere", file, status=1).stderr.startswith("mercer: nowhere: ")


def test_names_of_columns_are_kept():
    with open("people.csv", "w") as out:
        out.write("age,height,target\n1,2,a\n2,1,b\n3,5,a\n5,3,b\n1,3,a\n4,2,b\n")
    with open("same.csv", "w") as out:
        out.write("age,height\n2,1\n1,2\n")
    with open("other.csv", "w") as out:
        out.write("height,age\n1,2\n2,1\n")
    with open("more.csv", "w") as out:
        out.write("name,height,shoes,age\nann,1,40,2\nbob,2,41,1\n")
    with open("bare.csv", "w") as out:
        out.write("2,1\n1,2\n")
    tap.mercer("fit", "svm", "people.csv", "-k", "linear", "-o", "m.mercer", "--quiet")
    names = [f["feature"] for sign in ("positive", "negative")
             for f in tap.mercer_json("explain", "m.mercer")["outputs"][0][sign]]
    tap.check_equal(names, ["age", "height"])
    for file in ("same.csv", "bare.csv", "other.csv", "more.csv"):
        out = tap.mercer("predict", "m.mercer", file, "--target", "none", "--quiet").stdout
        tap.check_equal(out.split(), ["b", "a"])
    for header, said in (("age,size", 'other.csv: there is no column "height", which the model needs'),
                         ("a,b,c", 'there is no column "age"'),
                         ("height,age,height", 'column "height" occurs twice, as columns 1 and 3')):
        columns = header.count(",") + 1
        with open("other.csv", "w") as out:
            out.write(header + "\n" + ",".join(["1", "2", "3"][:columns]) + "\n")
        run = tap.mercer("predict", "m.mercer", "other.csv", "--target", "none", status=1)
        assert said in run.stderr and run.stderr.count("\n") == 1, run.stderr


def test_missing_columns_are_named():
    """Also where the target was found by its name: that is not the fault then."""
    def put(file, header, *rows):
        with open(file, "w") as out:
            out.write("\n".join((header,) + rows) + "\n")
        return file
    put("abt.csv", "a,b,y", "1,2,1", "2,1,-1", "3,5,1", "5,3,-1")
    tap.mercer("fit", "svm", "abt.csv", "-k", "linear", "-o", "m.mercer", "--quiet")
    done = tap.mercer("predict", "m.mercer", put("ay.csv", "a,y", "1,1", "2,-1"), status=1)
    tap.check_equal(done.stderr, 'mercer: ay.csv: there is no column "b", which the model needs: add '
                    "it, or rename the column that contains it\n")
    done = tap.mercer("predict", "m.mercer", put("yy.csv", "a,y,b,y", "1,1,1,1"), status=1)
    tap.check_equal(done.stderr, 'mercer: yy.csv:1: column "y" occurs twice, as columns 2 and 4: '
                    "rename one of them\n")
    # The column of row numbers that pandas writes has no name.
    put("pandas.csv", ",a,b,y", "0,1,2,1", "1,2,1,-1", "2,3,5,1", "3,5,3,-1")
    tap.mercer("fit", "svm", "pandas.csv", "-k", "linear", "-o", "m.mercer", "--quiet")
    tap.mercer("predict", "m.mercer", put("same.csv", ",a,b,y", "0,1,2,1"))
    done = tap.mercer("predict", "m.mercer", put("ab.csv", "a,b,y", "1,2,1"), status=1)
    tap.check_equal(done.stderr, "mercer: ab.csv: numeric column 1 of the model's training data has no "
                    "name to match it by: put the columns in the order of the training data, or "
                    "give that column a name (or remove it) and train again\n")


def test_columns_by_name_are_scaled_and_learned_by_name():
    """The same table with its columns in another order: the same predictions, coordinates, model."""
    x, y = read_csv(sample("rings", n=60))

    def put(file, order, rows):
        with open(file, "w") as out:
            out.write(",".join("uv"[c] for c in order) + ",target\n")
            for i in rows:
                out.write(",".join(repr(float(x[i, c])) for c in order) + ",%d\n" % y[i])
    put("one.csv", (0, 1), range(30))
    put("two.csv", (0, 1), range(30, 60))
    put("swapped.csv", (1, 0), range(30, 60))
    tap.mercer("fit", "svm", "one.csv", "--scale", "standard", "-o", "s.mercer", "--quiet")
    tap.mercer("fit", "pca", "one.csv", "-o", "c.mercer", "--quiet")
    tap.mercer("fit", "perceptron", "one.csv", "-k", "rbf(gamma=1)", "-o", "p.mercer", "--quiet")
    out = {}
    for file in ("two.csv", "swapped.csv"):
        tap.mercer("fit", "--resume", "p.mercer", file, "-o", file + ".mercer", "--quiet")
        out[file] = (tap.mercer("predict", "s.mercer", file, "--scores").stdout,
                     tap.mercer("transform", "c.mercer", file).stdout,
                     tap.mercer("predict", file + ".mercer", "one.csv", "--scores").stdout)
    tap.check_equal(out["two.csv"], out["swapped.csv"])


if __name__ == "__main__":
    tap.main(globals())
