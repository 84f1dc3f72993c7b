"""mercer export --to c: the file compiles without a warning, predicts as the program does, and its own test
passes.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import shutil
import subprocess

import numpy as np

import exports
import tap

WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
            "-Wmissing-prototypes", "-Werror"]

# Reads the objects, writes label and scores (probabilities, standard deviation) as doubles.
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#ifndef MODEL_TEST /* then the model is above, and declares what it defines */
#include "model.h"
#endif
int main(int argc, char **argv)
{
    model_real score[MODEL_OUTPUTS], other[MODEL_CLASSES + 1];
    (void)argv;
#ifdef MODEL_TEST
    if (argc > 1)
        return model_self_test();
#endif
    (void)argc;
#ifdef STRINGS
    static char line[100000];
    while (fgets(line, sizeof line, stdin)) {
        long length = 0;
        while (line[length] && line[length] != '\n')
            length++;
#define OBJECT line, length
#else
    double in[MODEL_INPUTS];
    while (fread(in, sizeof in, 1, stdin)) {
        model_real x[MODEL_INPUTS];
        for (int i = 0; i < MODEL_INPUTS; i++)
            x[i] = (model_real)in[i];
#define OBJECT x
#endif
        model_scores(OBJECT, score);
#ifdef PREDICT
        printf("%.17g", (double)model_predict(OBJECT));
#else
        printf("0");
#endif
        for (int o = 0; o < MODEL_OUTPUTS; o++)
            printf(" %.17g", (double)score[o]);
#ifdef PROBA
        model_proba(OBJECT, other);
        for (int c = 0; c < MODEL_CLASSES; c++)
            printf(" %.17g", (double)other[c]);
#elif defined STD
        printf(" %.17g", (double)model_std(OBJECT));
#endif
        (void)other;
        printf("\n");
    }
    return 0;
}
"""


def compiler():
    found = shutil.which("gcc") or shutil.which("cc")
    if not found:
        tap.skip("no C compiler")
    return found


# The model with its own test and the program above in one call of the compiler.
BOTH = r"""
#define main model_self_test
int model_self_test(void);
#include "model.c"
#undef main
#include "main.c"
"""


def check_own_test(*call):
    own = subprocess.run(call, capture_output=True, text=True)
    assert own.returncode == 0, own.stdout
    assert re.fullmatch(r"model: (\d+) of \1 objects as expected\n", own.stdout), own.stdout


def run_exported(stdin, *options, strings=False):
    """Exports model.mercer, compiles it, runs its test; the rows of numbers for the objects."""
    tap.mercer("export", "model.mercer", "--to", "c", "-o", "model.c", "--quiet", *options)
    header = pathlib.Path("model.h").read_text()
    has = ["-D" + word for word, name in (("PREDICT", "_predict("), ("PROBA", "_proba("), ("STD", "_std("))
           if "model" + name in header.split("#ifndef")[1]]
    pathlib.Path("main.c").write_text(MAIN)
    pathlib.Path("both.c").write_text(BOTH)
    flags = [*WARNINGS, "-O2" if exports.ALL else "-O1", *has, *(["-DSTRINGS"] if strings else [])]
    if exports.ALL or "--int8" in options:  # as it is meant to be compiled
        subprocess.run([compiler(), *flags, "-DMODEL_TEST", "model.c", "-lm", "-o", "test"], check=True)
        check_own_test("./test")
        subprocess.run([compiler(), *flags, "model.c", "main.c", "-lm", "-o", "run"], check=True)
    else:
        subprocess.run([compiler(), *flags, "-DMODEL_TEST", "both.c", "-lm", "-o", "run"], check=True)
        check_own_test("./run", "test")
    done = subprocess.run(["./run"], input=stdin, capture_output=True, check=True)
    return np.array([[float(v) for v in line.split()] for line in done.stdout.decode().splitlines()]), has


def program_says(has, data="new.csv"):
    """Labels as numbers (or values), scores, and what else the model has."""
    info = tap.mercer_json("info", "model.mercer")
    if "-DPREDICT" not in has:
        return None, exports.predict("transform", data=data), None
    words, score = exports.predict(data=data), exports.predict("--scores", data=data)
    names, first = info["class_names"], info["task"] == "clustering"  # the program counts from 1
    label = np.array([names.index(w) if names else float(w) - first for w in words])
    more = (exports.predict("--proba", data=data) if "-DPROBA" in has
            else exports.predict("--std", data=data)[:, -1:] if "-DSTD" in has else None)
    return label, score, more


def compare(got, label, score, more, tolerance, same_labels, jumps=0.0):
    """jumps: the share of objects whose scores may differ, for float votes."""
    outputs = score.shape[1]
    scale = max(1.0, np.abs(score).max())
    off = np.abs(got[:, 1:1 + outputs] - score).max(axis=1) > tolerance * scale
    assert off.mean() <= jumps, "scores of object %d are %r, expected %r" % (
        np.argmax(off), got[np.argmax(off), 1:], score[np.argmax(off)])
    if more is not None:
        off = np.abs(got[:, 1 + outputs:] - more).max(axis=1) > 10 * tolerance * max(1, np.abs(more).max())
        assert off.mean() <= jumps, "probabilities of object %d are %r, expected %r" % (
            np.argmax(off), got[np.argmax(off), 1 + outputs:], more[np.argmax(off)])
    if label is not None and same_labels:
        wrong = np.nonzero(got[:, 0] != label)[0]
        assert len(wrong) == 0, "object %d of %d: label %r, expected %r, scores %r" % (
            wrong[0], len(label), got[wrong[0], 0], label[wrong[0]], score[wrong[0]])


def check_case(stdin, data="new.csv", strings=False, jumps=0.0):
    got, has = run_exported(stdin, "--double", strings=strings)
    label, score, more = program_says(has, data)
    numbers = label is not None and not np.array_equal(label, np.round(label))
    compare(got, label, score, more, 1e-11, not numbers)
    got, has = run_exported(stdin, strings=strings)
    compare(got, label, score, more, 2e-4, not numbers, jumps)


def case_of_kernel(name):
    def run():
        x = exports.fit_vectors("svm", ["-C", "5"], exports.KERNELS[name], "three")
        check_case(x.tobytes())
    return run


def case_of_learner(name):
    def run():
        learner, options, target = exports.LEARNERS[name]
        x = exports.fit_vectors(learner, options, "rbf(gamma=0.7)", target)
        check_case(x.tobytes(), jumps=0.02 if "voted" in name or learner == "knn" else 0)
    return run


def case_of_strings(name):
    def run():
        exports.write_strings("train.txt", 60, 1)
        tap.mercer("fit", "svm", "train.txt", "-k", exports.STRINGS[name], "-o", "model.mercer", "--quiet")
        new = exports.write_strings("new.txt", exports.new_count() // 5, 2)
        check_case("".join(s + "\n" for _, s in new).encode(), "new.txt", strings=True)
    return run


def test_int8_keeps_its_bound():
    for kernel in ("rbf(gamma=0.7)", "linear", "poly(degree=2, c=1)", "normalize(rbf(gamma=1)) + linear"):
        x = exports.fit_vectors("svm", ["-C", "5", "--scale", "minmax"], kernel, "two")
        done = tap.mercer_json("export", "model.mercer", "--to", "c", "--int8", "-o", "model.c")
        got, has = run_exported(x.tobytes(), "--int8")
        label, score, _ = program_says(has)
        bound = np.full(len(x), done["error"])
        if done["self"] is None:  # K(x,x) of the scaled vectors
            low, high = exports.draw_vectors(90, 1)[0].min(0), exports.draw_vectors(90, 1)[0].max(0)
            z = (x - low) / (high - low)
            dot = (z * z).sum(1)
            bound = bound * np.sqrt({"l": dot, "p": (dot + 1) ** 2, "n": 1 + dot}[kernel[0]])
        off = np.abs(got[:, 1] - score[:, 0])
        assert (off <= bound).all(), "%s: off by %g, bound %g" % (kernel, off.max(), bound.min())
        sure = np.abs(score[:, 0]) > bound
        assert (got[:, 0] == label)[sure].all()


def test_int8_of_what_has_no_bound_is_refused():
    for learner, kernel in (("svm", "sigmoid(a=0.1)"), ("knn", "rbf(gamma=1)")):
        exports.fit_vectors(learner, [], kernel, "two")
        done = tap.mercer("export", "model.mercer", "--to", "c", "--int8", "-o", "model.c", status=2)
        assert "int8: no bound on the error is known" in done.stderr and "float or double" in done.stderr
        assert not pathlib.Path("model.c").exists()


def test_several_fields_and_strings_together():
    tap.mercer("sample", "mixed", "-o", "mixed.jsonl")
    tap.mercer("fit", "svm", "mixed.jsonl", "-o", "model.mercer", "--quiet", "-k",
               "rbf(x, gamma=.1) + 0.5*normalize(spectrum(sequence, p=3))")
    tap.mercer("export", "model.mercer", "--to", "c", "-o", "model.c")
    subprocess.run([compiler(), *WARNINGS, "-DMODEL_TEST", "model.c", "-lm", "-o", "test"], check=True)
    subprocess.run(["./test"], check=True)
    assert "model_scores(const model_real x[5], const char *text0, long length0" in \
        pathlib.Path("model.h").read_text()


def test_cca_has_two_kernels():
    random = np.random.default_rng(3)
    with open("pairs.jsonl", "w") as out:
        for a in random.normal(size=(40, 3)):
            out.write('{"a": %s, "b": %s}\n' % (a.tolist(), [a[0] + a[1], a[2] ** 2]))
    tap.mercer("fit", "cca", "pairs.jsonl", "-k", "rbf(a, gamma=1)", "--kernel2", "linear(b)", "-o",
               "model.mercer", "--quiet")
    tap.mercer("export", "model.mercer", "--to", "c", "--double", "-o", "model.c")
    subprocess.run([compiler(), *WARNINGS, "-DMODEL_TEST", "model.c", "-lm", "-o", "test"], check=True)
    subprocess.run(["./test"], check=True)


def test_sparse_vectors():
    random = np.random.default_rng(5)
    rows = [(random.choice(60, 5, replace=False), random.normal(size=5)) for _ in range(80)]
    for name, some in (("train.svm", rows[:60]), ("new.svm", rows[60:])):
        with open(name, "w") as out:
            for at, value in some:
                pairs = sorted(zip((at + 1).tolist(), value.astype(np.float32).tolist()))
                out.write("%+d %s\n" % (1 if value.sum() > 0 else -1,
                                        " ".join("%d:%r" % pair for pair in pairs)))
    dense = np.zeros((20, 60))
    for row, (at, value) in zip(dense, rows[60:]):
        row[at] = value.astype(np.float32)
    for options in ([], ["--scale", "standard"]):
        tap.mercer("fit", "svm", "train.svm", "-k", "rbf(gamma=0.1)", "-o", "model.mercer", "--quiet", *options)
        cols = tap.mercer_json("info", "model.mercer")["features"]
        check_case(np.ascontiguousarray(dense[:, :cols]).tobytes(), "new.svm")
    assert "model_column" in pathlib.Path("model.c").read_text()


def test_json_is_enough_for_a_short_script():
    script = tap.ROOT / "examples" / "predict_json.py"
    for learner, options, kernel, target in (
            ("svm", ["--scale", "standard"], "rbf(gamma=0.5) + 0.1*poly(degree=2, c=1)", "three"),
            ("logistic", ["--lambda", "0.01"], "laplace(gamma=[1, 2, 3, 4])", "two"),
            ("kmeans", ["--clusters", "4"], "rbf(gamma=1)", "none"),
            ("one-class", [], "intersection*0.1", "none"), ("ridge", [], "exp(0.1*linear)^2", "number")):
        exports.fit_vectors(learner, options, kernel, target)
        tap.mercer("export", "model.mercer", "--to", "json", "-o", "model.json")
        done = subprocess.run(["/usr/bin/python3", script, "model.json", "new.csv"], capture_output=True, text=True,
                              check=True).stdout.split()
        wanted = exports.predict()
        if target == "number":
            assert np.allclose([float(v) for v in done], [float(v) for v in wanted], rtol=1e-11, atol=1e-11)
        else:
            tap.check_equal(done, wanted, learner)


def test_json_holds_every_kind_of_object():
    tap.mercer("sample", "mixed", "-n", "30", "-o", "mixed.jsonl")
    tap.mercer("fit", "svm", "mixed.jsonl", "-o", "model.mercer", "--quiet", "--scale", "standard", "-k",
               "rbf(x, gamma=.1) * wl(molecule) + 0.5*spectrum(sequence, p=4, mode=count)")
    model = json.loads(tap.mercer("export", "model.mercer", "--to", "json").stdout)
    kind = {f["name"]: f["kind"] for f in model["fields"]}
    tap.check_equal(kind, {"x": "dense", "sequence": "strings", "molecule": "graphs"})
    tap.check_equal([c["type"] for c in model["kernel"]["children"]], ["product", "product"])
    lines = {}
    for line in open("mixed.jsonl"):
        row = json.loads(line)
        lines[row["sequence"]] = row
    field = {f["name"]: f for f in model["fields"]}
    for x, text, graph in zip(field["x"]["support"], field["sequence"]["support"], field["molecule"]["support"]):
        row = lines[text]
        scaled = [(v - s) * f for v, s, f in zip(row["x"], field["x"]["scaling"]["shift"],
                                                 field["x"]["scaling"]["factor"])]
        assert np.allclose(x, scaled, rtol=1e-12)
        tap.check_equal(graph["nodes"], len(row["molecule"]["nodes"]))
        names = field["molecule"]["label_names"]
        tap.check_equal([names[c] for c in graph["labels"]], row["molecule"]["nodes"])
        tap.check_equal({frozenset(e[:2]) for e in graph["edges"]},
                        {frozenset(e[:2]) for e in row["molecule"]["edges"]})


def test_what_c_cannot_express_is_refused():
    tap.mercer("sample", "mixed", "-n", "60", "-o", "mixed.jsonl")
    for kernel, why in (("wl(molecule)", "it reads graphs"), ("1", "reads no field")):
        tap.mercer("fit", "svm", "mixed.jsonl", "-k", kernel, "-o", "model.mercer", "--quiet")
        done = tap.mercer("export", "model.mercer", "--to", "c", status=2)
        assert why in done.stderr and done.stdout == "", done.stderr
    exports.fit_vectors("svm", ["--approx", "rff", "--rank", "50"], "rbf(gamma=1)", "two")
    assert "random Fourier" in tap.mercer("export", "model.mercer", "--to", "c", status=2).stderr
    done = tap.mercer("export", "model.mercer", "--to", "c", "--name", "2x", status=2)
    assert "cannot begin names in C" in done.stderr


def test_a_number_too_large_for_float_is_refused():
    with open("big.csv", "w") as out:
        out.writelines("%g,%g\n" % (i * 1e300, i % 2) for i in range(1, 9))
    tap.mercer("fit", "knn", "big.csv", "-k", "laplace(gamma=1e-300)", "--neighbors", "1", "-o", "model.mercer",
               "--quiet")
    done = tap.mercer("export", "model.mercer", "--to", "c", "-o", "model.c", status=1)
    assert "too large for float: export it with double numbers" in done.stderr, done.stderr
    tap.mercer("export", "model.mercer", "--to", "c", "--double", "-o", "model.c")


def test_form_by_the_name_of_the_file():
    exports.fit_vectors("svm", [], "rbf(gamma=1)", "two")
    for form in "c", "onnx", "json":
        tap.mercer("export", "model.mercer", "--to", form, "-o", "model." + form)
        given = pathlib.Path("model." + form).read_bytes()
        found = tap.mercer_json("export", "model.mercer", "-o", "model." + form)
        tap.check_equal(found["to"], form)
        assert pathlib.Path("model." + form).read_bytes() == given, form
    assert tap.mercer("export", "model.mercer", "--to", "json", "-o", "odd.c") and pathlib.Path(
        "odd.c").read_bytes() == pathlib.Path("model.json").read_bytes(), "--to decides"
    for more in [], ["-o", "model.txt"], ["-o", "json"], ["-o", "model."], ["-o", "-"]:
        done = tap.mercer("export", "model.mercer", *more, status=2)
        assert "--to FORM is missing, and -o FILE does not end with .c, .onnx or .json" in done.stderr, done.stderr


def test_to_standard_output_there_is_no_header():
    exports.fit_vectors("svm", [], "rbf(gamma=1)", "two")
    text = tap.mercer("export", "model.mercer", "--to", "c", "--name", "abc").stdout
    assert "int abc_predict(const abc_real x[4]);" in text and "#ifdef ABC_TEST" in text
    assert not list(pathlib.Path(".").glob("*.h"))


# ---- other machines ------------------------------------------------------------------------------

CROSS = [("svm", ["-C", "5"], "rbf(gamma=0.7)", "three"), ("svm", ["--probability"], "laplace", "three"),
         ("gp", ["--optimize", "no"], "matern", "number"), ("knn", [], "chi2", "three"),
         ("ridge", ["--scale", "standard"], "rq + normalize(poly)", "number"),
         ("perceptron", ["--variant", "voted"], "linear", "three"), ("pca", [], "periodic", "none")]


def cross(program, *flags):
    """Every model compiled for another machine, without a warning."""
    if not exports.ALL:
        tap.skip("only with MERCER_ALL=1")
    if not shutil.which(program):
        tap.skip("no " + program)
    for learner, options, kernel, target in CROSS:
        for numbers in ([], ["--int8"]):
            if numbers and learner in ("gp", "knn", "perceptron"):
                continue
            exports.fit_vectors(learner, options, kernel, target, rows=40)
            tap.mercer("export", "model.mercer", "--to", "c", "-o", "model.c", "--quiet", *numbers)
            subprocess.run([program, *WARNINGS, "-Os", *flags, "-c", "model.c", "-o", "model.o"], check=True)
            yield


def test_cortex_m4():
    list(cross("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"))


def test_avr():
    list(cross("avr-gcc", "-mmcu=atmega2560"))


def test_arm_runs():
    if not shutil.which("qemu-arm"):
        tap.skip("no qemu-arm")
    for _ in cross("arm-linux-gnueabihf-gcc"):
        subprocess.run(["arm-linux-gnueabihf-gcc", "-static", "-O2", "-DMODEL_TEST", "model.c", "-lm", "-o",
                        "test.arm"], check=True)
        subprocess.run(["qemu-arm", "./test.arm"], check=True, capture_output=True)


for kernel in exports.chosen(exports.KERNELS):
    globals()["test_kernel_" + kernel] = case_of_kernel(kernel)
for learner in exports.chosen(exports.LEARNERS):
    globals()["test_learner_" + learner] = case_of_learner(learner)
for kernel in exports.chosen(exports.STRINGS):
    globals()["test_strings_" + kernel] = case_of_strings(kernel)

if __name__ == "__main__":
    tap.main(globals())
