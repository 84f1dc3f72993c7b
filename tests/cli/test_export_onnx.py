"""mercer export --to onnx: the graph passes ONNX's own checker, and onnxruntime predicts as the program does.

The runtime comes from npm (onnxruntime-node), with MERCER_ALL=1; the checker from Debian (python3-onnx).

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

import exports
import tap

HERE = pathlib.Path(__file__).resolve().parent
MODULES = []  # where onnxruntime-node is, once it is known


def runtime():
    """The folder of onnxruntime-node; installed for this run where it is missing."""
    if not exports.ALL:
        tap.skip("only with MERCER_ALL=1")
    if not shutil.which("node") or not shutil.which("npm"):
        tap.skip("no node and npm")
    if not MODULES:
        folder = os.environ.get("MERCER_NODE_MODULES")
        if not folder:
            home = tempfile.mkdtemp(prefix="mercer-node-")
            subprocess.run(["npm", "install", "--ignore-scripts", "--prefix", home, "onnxruntime-node"],
                           capture_output=True)
            folder = os.path.join(home, "node_modules")
        MODULES.append(folder if os.path.isdir(os.path.join(folder, "onnxruntime-node")) else None)
    if not MODULES[0]:
        tap.skip("onnxruntime-node cannot be installed")
    return MODULES[0]


def run_onnx(x, *options):
    modules = runtime()
    tap.mercer("export", "model.mercer", "--to", "onnx", "-o", "model.onnx", "--quiet", *options)
    x.tofile("new.bin")
    done = subprocess.run(["node", str(HERE / "run_onnx.js"), "model.onnx", "new.bin", str(x.shape[1])],
                          capture_output=True, text=True, env=dict(os.environ, NODE_PATH=modules))
    assert done.returncode == 0, done.stderr
    return {name: np.array(o["data"], dtype=object if o["type"] == "string" else float).reshape(o["dims"])
            for name, o in json.loads(done.stdout).items()}


def near(got, wanted, tolerance, what):
    scale = max(1.0, np.abs(wanted).max())
    off = np.abs(np.asarray(got, float) - wanted).max()
    assert off <= tolerance * scale, "%s: off by %g of %g" % (what, off, scale)


def check_model(x, tolerance=1e-12, options=("--double",), proba=1e-7, sure=False):
    """sure: labels need only be equal where no score is within the tolerance of the decision."""
    got, info = run_onnx(x, *options), tap.mercer_json("info", "model.mercer")
    if "coordinates" in got:
        near(got["coordinates"], exports.predict("transform"), tolerance, "coordinates")
        return
    words = exports.predict()
    if "value" in got:
        near(got["value"][:, 0], np.array([float(w) for w in words]), tolerance, "values")
        if "std" in got:
            near(got["std"], exports.predict("--std")[:, -1], 1e-7, "standard deviations")
        return
    first = info["task"] == "clustering"
    labels = [str(int(v) + first) if isinstance(v, float) else v for v in got["label"]]
    scores = exports.predict("--scores")
    least = tolerance * np.abs(scores).max() if sure else -1
    wrong = [i for i, pair in enumerate(zip(labels, words)) if pair[0] != pair[1] and np.abs(scores[i]).min() > least]
    assert not wrong, "object %d of %d: %s, expected %s" % (wrong[0], len(words), labels[wrong[0]], words[wrong[0]])
    mine = got["scores"] if got["scores"].shape[1] == scores.shape[1] else got["scores"][:, :1]
    if options == ("--double",):
        near(mine, scores, tolerance, "scores")
    elif scores.shape[1] == 1:
        near(np.abs(mine), np.abs(scores), tolerance, "scores")
    else:
        near(mine, scores, tolerance, "scores")
    if "probabilities" in got:
        near(got["probabilities"], exports.predict("--proba"), proba, "probabilities")


def case_of_kernel(name):
    def run():
        runtime()
        check_model(exports.fit_vectors("svm", ["-C", "5"], exports.KERNELS[name], "three"))
    return run


def case_of_learner(name):
    def run():
        runtime()
        learner, options, target = exports.LEARNERS[name]
        check_model(exports.fit_vectors(learner, options, "rbf(gamma=0.7)", target))
    return run


def test_every_learner_with_every_kernel():
    """Double graphs of all pairs; what cannot be trained (kernels that are not positive semidefinite) is left out."""
    runtime()
    x = exports.write_vectors("new.csv", 500, 2, "none")
    faults, checked = [], 0
    for learner, (name, options, target) in exports.LEARNERS.items():
        exports.write_vectors("train.csv", 60, 1, target)
        none = ["--target", "none"] if target == "none" else []
        for kernel, text in exports.KERNELS.items():
            done = tap.mercer("fit", name, "train.csv", "-k", text, "-o", "model.mercer", "--quiet", *options, *none,
                              status=None)
            if done.returncode:
                continue
            try:
                check_model(x, 1e-11, proba=1e-6)
                checked += 1
            except AssertionError as fault:
                if "accepts no negative values" in str(fault):  # scaled new objects, which the program refuses
                    continue
                faults.append("%s, %s: %s" % (learner, kernel, fault))
    assert not faults, "%d of %d:\n%s" % (len(faults), checked + len(faults), "\n".join(faults))
    assert checked > 600, checked


def case_of_operator(name, learner, options, target, kernel):
    def run():
        runtime()
        x = exports.fit_vectors(learner, options, kernel, target)
        check_model(x, 1e-5, ())  # by operators, or where these lose digits in double
        check_model(x, 1e-3, ("--float",), sure=True)  # where terms cancel as in any float sum
        assert b"SVM" in pathlib.Path("model.onnx").read_bytes()
    return run


def test_ties_go_the_same_way():
    runtime()
    with open("train.csv", "w") as out:
        out.write("a,b,y\n-1,0,-1\n1,0,1\n-1,1,-1\n1,1,1\n")
    tap.mercer("fit", "svm", "train.csv", "-k", "linear", "-C", "1", "-o", "model.mercer", "--quiet")
    x = np.array([[0, v] for v in range(-20, 20)] + [[v, 0] for v in range(-20, 20)], float)
    np.savetxt("new.csv", x, delimiter=",", header="a,b", comments="")
    check_model(x)
    check_model(x, 1e-5, ())


def test_the_checker_accepts_it():
    try:
        import onnx
    except ImportError:
        tap.skip("no python3-onnx")
    for learner, options, kernel, target in (("svm", [], "rbf(gamma=1)", "three"), ("svr", [], "poly", "number"),
                                             ("gp", ["--optimize", "no"], "matern", "number"),
                                             ("knn", [], "chi2", "three"), ("pca", [], "periodic", "none")):
        exports.fit_vectors(learner, options, kernel, target)
        for numbers in ((), ("--double",)):
            tap.mercer("export", "model.mercer", "--to", "onnx", "-o", "model.onnx", *numbers)
            model = onnx.load("model.onnx")
            onnx.checker.check_model(model, full_check=b"SVM" not in model.SerializeToString())
            tap.check_equal((model.ir_version, model.opset_import[0].version), (7, 13))


def test_what_onnx_cannot_express_is_refused():
    exports.write_strings("train.txt", 30, 1)
    tap.mercer("fit", "svm", "train.txt", "-k", "spectrum(p=2)", "-o", "model.mercer", "--quiet")
    done = tap.mercer("export", "model.mercer", "--to", "onnx", "-o", "model.onnx", status=2)
    assert "strings" in done.stderr and "C or JSON" in done.stderr
    assert not os.path.exists("model.onnx")
    exports.fit_vectors("svm", [], "rbf(gamma=1)", "two")
    done = tap.mercer("export", "model.mercer", "--to", "onnx", "--int8", status=2)
    assert 'onnx has no numbers "int8"' in done.stderr, done.stderr


for kernel in exports.KERNELS:
    globals()["test_kernel_" + kernel] = case_of_kernel(kernel)
for learner in exports.LEARNERS:
    globals()["test_learner_" + learner] = case_of_learner(learner)
for number, (learner, options, target) in enumerate((
        ("svm", ["-C", "5"], "two"), ("svm", ["-C", "5"], "three"), ("nu-svm", ["--nu", "0.2"], "three"),
        ("svm", ["--scale", "standard"], "three"), ("one-class", [], "none"), ("svr", [], "number"),
        ("nu-svr", ["--scale", "minmax"], "number"))):
    for kernel in ("linear", "rbf(gamma=0.7)", "poly(degree=2, c=1)", "sigmoid(a=0.1)"):
        name = "operator %s %s %s" % (learner, target, kernel)
        globals()["test_%s %d" % (name, number)] = case_of_operator(name, learner, options, target, kernel)

if __name__ == "__main__":
    tap.main(globals())
