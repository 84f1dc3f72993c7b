"""Support vector machines in ONNX files as models: Mercer's own, and graphs that the package onnx writes from
scikit-learn's machines, as converters do.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib

import numpy as np

import exports
import tap

CASES = (("svm", ["-C", "5"], "two", "rbf(gamma=0.7)"), ("svm", ["-C", "5"], "three", "poly(degree=2, c=1)"),
         ("nu-svm", ["--nu", "0.3", "--scale", "standard"], "three", "linear"),
         ("one-class", ["--nu", "0.2"], "none", "sigmoid(a=0.1)"), ("svr", ["--scale", "minmax"], "number",
                                                                    "rbf(gamma=0.5)"),
         ("nu-svr", [], "number", "linear"))


def scores_of(model):
    return exports.predict("--scores", model=model)


def test_what_was_exported_comes_back():
    for learner, options, target, kernel in CASES:
        exports.fit_vectors(learner, options, kernel, target)
        tap.mercer("export", "model.mercer", "--to", "onnx", "--float", "-o", "model.onnx", "--quiet")
        info, old = tap.mercer_json("info", "model.onnx"), tap.mercer_json("info", "model.mercer")
        for name in ("learner", "task", "class_names", "features"):
            tap.check_equal(info[name], old[name], name)
        wanted, got = scores_of("model.mercer"), scores_of("model.onnx")
        near = 5e-5 * max(1.0, np.abs(wanted).max())
        assert np.abs(got - wanted).max() <= near, (learner, np.abs(got - wanted).max())
        if target != "number":
            sure = np.abs(wanted).min(axis=1) > near
            words = zip(exports.predict(model="model.onnx"), exports.predict())
            assert all(a == b for (a, b), known in zip(words, sure) if known), learner


def test_it_goes_on_to_every_target():
    exports.fit_vectors("svm", ["-C", "5"], "rbf(gamma=0.5)", "three")
    tap.mercer("export", "model.mercer", "--to", "onnx", "--float", "-o", "model.onnx", "--quiet")
    for target, name in (("c", "m.c"), ("json", "m.json"), ("onnx", "again.onnx")):
        tap.mercer("export", "model.onnx", "--to", target, "-o", name, "--quiet")
    # All numbers are floats already: nothing is lost the second time.
    tap.check_equal(scores_of("again.onnx").tolist(), scores_of("model.onnx").tolist())
    tap.check_equal(len(json.loads(pathlib.Path("m.json").read_text())["classes"]), 3)


# ---- files of another writer ---------------------------------------------------------------------


def packages():
    try:
        import onnx.helper
        import onnx.numpy_helper
        import sklearn.svm
    except ImportError:
        tap.skip("no python3-onnx and python3-sklearn")
    return onnx, sklearn.svm


def write_graph(onnx, nodes, constants=(), name="foreign.onnx"):
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(nodes, "g", [onnx.helper.make_tensor_value_info("X", kind, [None, 4])],
                                   [onnx.helper.make_tensor_value_info("label", kind, [None])], list(constants))
    model = onnx.helper.make_model(graph, producer_name="test", opset_imports=[
        onnx.helper.make_opsetid("", 15), onnx.helper.make_opsetid("ai.onnx.ml", 1)])
    pathlib.Path(name).write_bytes(model.SerializeToString())


def machine_node(onnx, m, entry="X", **more):
    """SVMClassifier or SVMRegressor of a fitted machine, as converters write it."""
    degree = m.degree if m.kernel == "poly" else 0
    common = dict(kernel_type=m.kernel.upper(), kernel_params=[float(m._gamma), float(m.coef0), float(degree)],
                  support_vectors=m.support_vectors_.ravel().tolist(), post_transform="NONE",
                  coefficients=m._dual_coef_.ravel().tolist(), rho=m._intercept_.tolist(), domain="ai.onnx.ml")
    common.update(more)
    if hasattr(m, "classes_"):
        return onnx.helper.make_node("SVMClassifier", [entry], ["label", "scores"], classlabels_ints=m.classes_.tolist(),
                                     vectors_per_class=m.n_support_.tolist(), **common)
    return onnx.helper.make_node("SVMRegressor", [entry], ["label"], n_supports=len(m.support_), **common)


def test_machines_of_scikit_learn():
    onnx, svm = packages()
    x, kind = exports.draw_vectors(120, 1)
    new = exports.write_vectors("new.csv", exports.new_count(), 2, "none")
    value = np.sin(x[:, 0]) + x[:, 1]
    for m, y in ((svm.SVC(kernel="rbf", gamma=0.5), kind), (svm.SVC(kernel="poly", degree=2, coef0=1), kind),
                 (svm.SVC(kernel="linear"), np.minimum(kind, 1) + 4), (svm.NuSVC(kernel="sigmoid", nu=0.3, gamma=0.01),
                                                                       kind),
                 (svm.SVR(kernel="rbf", gamma=0.3), value), (svm.NuSVR(kernel="poly", degree=2), value),
                 (svm.OneClassSVM(gamma=0.2, nu=0.2), None)):
        m.fit(x, y)
        write_graph(onnx, [machine_node(onnx, m, **(dict(one_class=1) if y is None else {}))])
        got = exports.predict(model="foreign.onnx")
        if y is value:
            near = 2e-5 * np.abs(m.predict(new)).max()
            assert np.allclose([float(v) for v in got], m.predict(new), atol=near), m
        else:
            wanted = m.predict(new)
            score = m.decision_function(new).reshape(len(new), -1)
            sure = np.abs(score).min(axis=1) > 1e-4
            assert sure.mean() > 0.9
            tap.check_equal([int(v) for v, s in zip(got, sure) if s], wanted[sure].tolist(), str(m))


def test_scaling_of_other_writers():
    onnx, svm = packages()
    x, kind = exports.draw_vectors(100, 1)
    new = exports.write_vectors("new.csv", 200, 2, "none")
    shift, width = x.mean(0).astype(np.float32), x.std(0).astype(np.float32)
    m = svm.SVC(gamma=0.5).fit((x - shift) / width, kind)
    wanted = m.predict((new - shift) / width)
    make = onnx.helper.make_node
    tensor = [onnx.helper.make_tensor(n, onnx.TensorProto.FLOAT, [1, 4], v.tolist())
              for n, v in (("shift", shift), ("width", width))]
    raw = onnx.numpy_helper.from_array((-shift).reshape(1, 4), "minus")
    machine = machine_node(onnx, m, "z")
    after = make("ZipMap", ["scores"], ["map"], domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2])
    for nodes, constants in (
            ([make("Scaler", ["X"], ["z"], domain="ai.onnx.ml", offset=shift.tolist(), scale=(1 / width).tolist()),
              machine, after], ()),
            ([make("Sub", ["X", "shift"], ["y"]), make("Div", ["y", "width"], ["z"]), machine], tensor),
            ([make("Cast", ["X"], ["x"], to=1), make("Constant", [], ["minus"], value=raw),
              make("Add", ["minus", "x"], ["y"]), make("Div", ["y", "width"], ["z"]), machine], tensor)):
        write_graph(onnx, nodes, constants)
        got = np.array([int(v) for v in exports.predict(model="foreign.onnx")])
        assert (got != wanted).mean() < 0.01, (got != wanted).sum()


def test_what_mercer_does_not_read_is_refused_with_the_reason():
    onnx, svm = packages()
    x, kind = exports.draw_vectors(60, 1)
    m, make = svm.SVC(gamma=0.5).fit(x, kind), onnx.helper.make_node
    machine = machine_node(onnx, m)
    outside = onnx.helper.make_tensor("shift", onnx.TensorProto.FLOAT, [4], [0.0] * 4)
    outside.data_location = onnx.TensorProto.EXTERNAL
    for nodes, constants, why in (
            ([make("Identity", ["X"], ["label"])], (), "SVMClassifier and SVMRegressor of ai.onnx.ml"),
            ([make("PCA", ["X"], ["z"]), machine_node(onnx, m, "z")], (), "operator PCA before"),
            ([machine, make("Exp", ["scores"], ["e"])], (), "operator Exp after"),
            ([machine, machine], (), "several support vector machines"),
            ([machine_node(onnx, m, post_transform="SOFTMAX")], (), "must be NONE"),
            ([machine_node(onnx, m, kernel_type="COSINE")], (), "kernel_type"),
            ([machine_node(onnx, m, rho=[0.5])], (), "do not fit"),
            ([machine_node(onnx, m, coefficients=[float("nan")] * 4)], (), "not finite"),
            ([machine_node(onnx, m, support_vectors=[1.0])], (), "damaged"),
            ([machine_node(onnx, m, kernel_type="POLY", kernel_params=[-1.0, 0.0, 2.0])], (), "parameters"),
            ([make("Sub", ["X", "shift"], ["z"]), machine_node(onnx, m, "z")], [outside], "in another file")):
        write_graph(onnx, nodes, constants)
        said = tap.mercer("info", "foreign.onnx", status=1).stderr
        assert why in said, (why, said)


def test_cut_and_altered_files():
    exports.fit_vectors("svm", [], "rbf(gamma=1)", "two", rows=20)
    tap.mercer("export", "model.mercer", "--to", "onnx", "--float", "-o", "model.onnx", "--quiet")
    whole = pathlib.Path("model.onnx").read_bytes()
    random = np.random.default_rng(4)
    for turn in range(60):
        bytes_ = bytearray(whole)
        if turn % 2:
            bytes_[random.integers(8, len(whole))] ^= 1 << random.integers(8)
        else:
            del bytes_[random.integers(8, len(whole)):]
        pathlib.Path("altered.onnx").write_bytes(bytes_)
        done = tap.mercer("info", "altered.onnx", status=None)
        assert done.returncode in (0, 1) and (done.returncode == 0 or "altered.onnx" in done.stderr), done.stderr


def test_graphs_of_plain_operators_are_refused():
    exports.fit_vectors("ridge", [], "rbf(gamma=1)", "number", rows=20)
    said = tap.mercer("export", "model.mercer", "--to", "onnx", "--float", "-o", "model.onnx", status=2).stderr
    assert "ONNX has float operators for svm" in said
    tap.mercer("export", "model.mercer", "--to", "onnx", "-o", "model.onnx", "--quiet")
    assert "this one has neither" in tap.mercer("info", "model.onnx", status=1).stderr


if __name__ == "__main__":
    tap.main(globals())
