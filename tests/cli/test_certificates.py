"""Certificates and what follows from them: verify, info --coefficients, fit --report bounds, intervals,
detection.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import zlib

import tap


def sample(name, n, seed=1, path=None):
    path = path or "%s-%d.csv" % (name, seed)
    tap.mercer("sample", name, "-n", n, "--seed", seed, "-o", path, "--quiet")
    return path


def fit(learner, *call, model="m.mercer"):
    return tap.mercer_json("fit", learner, *call, "-o", model)


# ---- how training ends --------------------------------------------------------------------------


def test_primal_svm_goes_on_until_it_is_proved():
    """The violation and what rounding may hide are compared with the tolerance in each solver, not only at the end."""
    for seed in range(24):
        draw = random.Random(seed)
        with open("far.csv", "w", encoding="ascii") as out:
            out.write("x,z,y\n")
            for _ in range(60):
                x, z = 30000 + 1000 * draw.gauss(0, 1), draw.gauss(0, 1)
                low = x / 1000 - 30 + z + 0.3 * draw.gauss(0, 1) < 0
                out.write("%r,%r,%s\n" % (x, z, "a" if low else "b"))
        out = fit("svm", "far.csv", "-k", "linear", "--form", "primal", "-C", "0.05", "--tol", "4e-9")
        said = out["certificate"]
        assert said["value"] + said["error"] <= said["tolerance"] and out["stop"] == "optimal", (seed, out["stop"], said)


# ---- verify -------------------------------------------------------------------------------------


CASES = [
    ("moons", ["svm", "-C", "10"]), ("moons", ["svm", "-C", "10", "--bias", "no"]),
    ("moons", ["svm", "-C", "inf", "-k", "rbf(gamma=20)"]), ("blobs", ["svm", "--multiclass", "ovr"]),
    ("blobs", ["svm", "--class-weight", "balanced", "--lambda", "0.01"]), ("moons", ["nu-svm"]),
    ("blobs", ["nu-svm", "--nu", "0.2"]), ("moons", ["l1-svm"]), ("blobs", ["l1-svm"]),
    ("moons", ["one-class", "--nu", "0.1"]), ("sinc", ["svr"]), ("sinc", ["nu-svr"]),
    ("moons", ["logistic"]), ("blobs", ["logistic"]), ("moons", ["pegasos"]),
    ("moons", ["perceptron"]), ("moons", ["perceptron", "--variant", "averaged"]),
    ("blobs", ["perceptron"]), ("moons", ["fisher"]), ("blobs", ["fisher"]), ("sinc", ["ridge"]),
    ("sinc", ["gp", "--optimize", "no"]), ("sinc", ["gp"]), ("moons", ["gp", "--task", "classify"]),
    ("blobs", ["pca", "--components", "4"]), ("blobs", ["kmeans", "--clusters", "4"]),
] + [("sinc", ["erm", "--loss", x]) for x in ("squared", "huber", "epsilon", "absolute", "quantile")] \
  + [("blobs", ["erm", "--task", "classify", "--loss", x]) for x in ("hinge", "squared-hinge")]


def near(a, b):
    return a is None or b is None or abs(a - b) <= 1e-4 * max(abs(a), abs(b)) + 1e-7


def change_coefficient(path, to, change):
    """By 1e-3, with the checksum mended."""
    raw, at = bytearray(pathlib.Path(path).read_bytes()), 12
    while raw[at:at + 4] != b"COEF":
        at += 16 + struct.unpack_from("<q", raw, at + 4)[0]
    length, = struct.unpack_from("<q", raw, at + 4)
    p = at + 12 + 8
    for size in (8, 8):  # objects, offsets
        p += 8 + size * struct.unpack_from("<q", raw, p)[0]
    p += 8 + 16
    p += 8 + 4 * struct.unpack_from("<q", raw, p)[0]
    count, = struct.unpack_from("<q", raw, p)
    values = struct.unpack_from("<%dd" % count, raw, p + 8)
    k = max(range(count), key=lambda i: abs(values[i]))
    struct.pack_into("<d", raw, p + 8 + 8 * k, values[k] + change)
    end = at + 12 + length
    struct.pack_into("<I", raw, end, zlib.crc32(bytes(raw[at:end])))
    pathlib.Path(to).write_bytes(raw)


def test_verify_recomputes_every_certificate():
    """All numbers to 1e-4; that they agree to the last printed digit is what oracle tests are for."""
    for data, call in CASES:
        file = sample(data, 150)
        kernel = [] if "-k" in call else ["-k", "rbf(gamma=1)"]
        if "was built without" in tap.mercer("fit", call[0], file, *call[1:], *kernel,
                                             status=None).stderr:
            continue
        fit(call[0], file, *call[1:], *kernel)
        done = tap.mercer("verify", "m.mercer", file, "--json", status=None)
        found = tap.json.loads(done.stdout)
        tap.check_equal(done.returncode, 0 if found["agrees"] else 1, str(call))
        assert {"agrees", "printed", "recomputed"} <= set(found), found
        assert {"primal", "dual", "gap", "violation"} <= set(found["recomputed"]), found
        for key, said in found["printed"].items():
            if key in ("primal", "dual", "objective") or call[0] in ("logistic", "ridge"):
                assert near(said, found["recomputed"][key]), (call, data, key, found)
        change_coefficient("m.mercer", "t.mercer", 1e-3)
        done = tap.mercer("verify", "t.mercer", file, status=1)
        assert "verdict    disagrees: " in done.stdout, (call, done.stdout)


def test_verify_shows_the_digits_that_fit_printed():
    """Also bounds, where no digit is certain; the recomputed number has the digits of its own bound."""
    tap.mercer("sample", "moons", "-n", 120, "-o", "digits.csv")
    for learner in ("svm", "logistic", "ridge", "nu-svm"):
        text = tap.mercer("fit", learner, "digits.csv", "-k", "rbf(gamma=2)", "-o", "digits.mercer").stdout
        table = tap.mercer("verify", "digits.mercer", "digits.csv").stdout
        names = dict(re.findall(r"\b(primal|dual|gap|objective) +((?:< )?[-\de.+]+)", text))
        names["value"] = re.search(r"certified +[A-Za-z -]+? ((?:< )?[\de.+-]+), tol", text).group(1)
        assert len(names) >= 2, text
        for name, digits in names.items():
            row = [line for line in table.split("\n") if line.startswith(name)] if name != "value" else [
                table.split("error <\n")[1].split("\n")[0]]
            assert len(row) == 1 and re.split("  +", row[0])[1] == digits, (name, digits, table)
            bound = float(row[0].split()[-1])
            shown = re.split("  +", row[0])[2]
            if not shown.startswith("<") and float(shown):
                # A unit of the last digit that is shown is not below the bound.
                last = shown.split("e")[0].replace("-", "")
                unit = 10.0 ** -len(last.split(".")[1] if "." in last else "")
                unit *= 10.0 ** int(shown.split("e")[1]) if "e" in shown else 1
                assert unit >= bound, row


def test_verify_agrees_where_nothing_is_rounded():
    """Integers: kernel values are exact in float too, and every digit must be right."""
    with open("d.csv", "w") as out:
        out.write("a,b,y\n" + "".join("%d,%d,%s\n" % (i % 7, i * i % 11, "uv"[(i % 7) * 2 > i * i % 11])
                                      for i in range(77)))
    for call in (["svm", "-C", "0.5"], ["svm", "-C", "0.5", "--bias", "no"], ["logistic"], ["l1-svm"],
                 ["one-class", "--nu", "0.25"], ["pca"], ["kmeans", "--clusters", "3"]):
        fit(call[0], "d.csv", *call[1:], "-k", "linear")
        done = tap.mercer("verify", "m.mercer", "d.csv")
        assert "verdict    agrees: the certificate holds" in done.stdout, done.stdout
    # Scaling, tuning and words as options are the model's.
    fit("svm", "d.csv", "-k", "linear", "--scale", "standard", "--class-weight", "u=2", "--tol", "1e-5")
    assert tap.mercer_json("verify", "m.mercer", "d.csv", status=None)["fault"] is None


def test_verify_refuses_other_data():
    file, other = sample("moons", 100), sample("moons", 100, 2)
    fit("svm", file, "-k", "rbf(gamma=1)")
    done = tap.mercer("verify", "m.mercer", other, status=1)
    assert "these are not the training data" in done.stderr, done.stderr
    done = tap.mercer("verify", "m.mercer", sample("moons", 90, 3), status=1)
    assert "they have 90 objects, and it was trained on 100" in done.stderr, done.stderr
    fit("svm", file, "-k", "rbf(gamma=1)", "--approx", "nystrom", "--rank", 20)
    assert "approximate" in tap.mercer("verify", "m.mercer", file, status=2).stderr
    done = tap.mercer("verify", "m.mercer", file, "-C", "1", status=2)
    assert "for models of LIBSVM" in done.stderr, done.stderr


def svm_train():
    train = shutil.which("svm-train", path=os.environ.get("LIBSVM_BIN"))
    return train or tap.skip("no svm-train (install libsvm-tools, or set LIBSVM_BIN)")


def test_verify_evaluates_models_of_libsvm():
    train = svm_train()
    file = sample("moons", 200, path="d.svm")
    numbers = sample("sinc", 150, path="n.svm")
    for kind, data in (("0", file), ("1", file), ("2", file), ("3", numbers), ("4", numbers)):
        subprocess.run([train, "-q", "-s", kind, "-g", "1", "-c", "2", "-e", "0.001", data, "l.model"],
                       check=True)
        found = tap.mercer_json("verify", "l.model", data, "--tol", "0.0011", status=None)
        assert found["agrees"], (kind, found)
        assert found["printed"]["primal"] is None and found["recomputed"]["dual"] is not None
        # Ended too early, it is not optimal, and that is said.
        subprocess.run([train, "-q", "-s", kind, "-g", "1", "-c", "2", "-e", "0.5", data, "l.model"],
                       check=True)
        found = tap.mercer_json("verify", "l.model", data, "--tol", "0.0001", status=1)
        assert "beyond the tolerance" in found["fault"], (kind, found)


def test_verify_tells_equal_objects_of_both_classes_apart():
    """A file of LIBSVM names no objects: the sign of a coefficient says of which class its object is."""
    train = svm_train()
    rows = ["%d 1:%g 2:%g" % (y, i % 5, i % 3) for i in range(30) for y in (1, -1)[:: 1 + (i % 2)]]
    rows += ["%d 1:%g 2:%g" % (1 if i % 5 > 1 else -1, i % 5, i % 3) for i in range(30)]
    open("equal.svm", "w").write("\n".join(rows) + "\n")
    subprocess.run([train, "-q", "-g", "0.5", "-c", "2", "equal.svm", "l.model"], check=True)
    found = tap.mercer_json("verify", "l.model", "equal.svm", "-C", "2", "--tol", "0.0011",
                            status=None)
    assert found["agrees"], found


def test_old_models_verify_or_say_why():
    """A model whose file has less than today's: never a wrong verdict."""
    folder = tap.ROOT / "tests" / "models" / "version-1"
    for path in sorted(folder.glob("*.mercer"))[:3]:
        assert os.path.getsize(path) > 0
        tap.mercer("info", path)


# ---- the dual -----------------------------------------------------------------------------------


def test_coefficients_of_svm():
    """Margins and slacks are those of the scores; what is at C violates the margin."""
    file = sample("moons", 150)
    fit("svm", file, "-k", "rbf(gamma=0.5)", "-C", "0.5", "--tol", "1e-6")
    tap.mercer("info", "m.mercer", "--coefficients", "-o", "dual.csv")
    tap.mercer("predict", "m.mercer", file, "--scores", "-o", "s.csv", "--quiet")
    score = [float(line) for line in open("s.csv").read().split("\n")[1:] if line]
    target = [float(line.split(",")[-1]) for line in open(file).read().split("\n")[1:] if line]
    rows = list(csv.DictReader(open("dual.csv")))
    report = tap.mercer_json("info", "m.mercer")
    tap.check_equal(len(rows), report["support"])
    free = bound = total = 0
    for row in rows:
        i = int(row["object"]) - 1
        tap.check_equal(float(row["target"]), target[i], "class")
        margin, a = target[i] * score[i], float(row["coefficient"])
        tap.check_near(float(row["margin"]), margin, 1e-9)
        tap.check_near(float(row["slack"]), max(0, 1 - margin), 1e-9)
        tap.check_equal(row["state"], "bound" if abs(a) == 0.5 else "free")
        free, bound, total = free + (abs(a) < 0.5), bound + (abs(a) == 0.5), total + a
        if abs(a) < 0.5:
            tap.check_near(margin, 1, 1e-5, "margin of a free support vector")
    assert free and bound, (free, bound)
    tap.check_near(total, 0, 1e-9, "sum")
    said = tap.mercer("info", "m.mercer", "--coefficients").stdout
    assert "  margin   " in said and "%d free, %d at their bounds" % (free, bound) in said, said
    got = tap.mercer_json("info", "m.mercer", "--coefficients")
    tap.check_equal(len(got["outputs"][0]["coefficients"]), len(rows))


def test_coefficients_of_every_learner():
    for data, call in CASES:
        file = sample(data, 100)
        if "was built without" in tap.mercer("fit", call[0], file, *call[1:], status=None).stderr:
            continue
        fit(call[0], file, "-k", "rbf(gamma=2)", *call[1:]) if "-k" not in call else \
            fit(call[0], file, *call[1:])
        got = tap.mercer_json("info", "m.mercer", "--coefficients")
        assert got["outputs"] and got["outputs"][0]["coefficients"], call
        if call[0] == "nu-svr":
            assert got["epsilon"][0] > 0
        if call[0] == "perceptron":
            assert len(got["mistakes"]) > 0
        if call[0] == "pca":
            tap.check_equal(len(got["variance"]), 4)
    done = tap.mercer("info", file, "--coefficients", status=2)
    assert "is not a model" in done.stderr
    fit("svm", sample("moons", 100), "-k", "rbf(gamma=1)", "--approx", "rff", "--rank", "20")
    done = tap.mercer("info", "m.mercer", "--coefficients", status=2)
    assert "no coefficients of objects" in done.stderr, done.stderr


# ---- bounds -------------------------------------------------------------------------------------


def bounds(*call):
    found = tap.mercer_json("fit", *call, "--report", "bounds")["bounds"]
    return found, {b["name"]: b for b in found["list"]}


def test_bounds_hold():
    """Against the true leave-one-out error, and against formulas by hand."""
    file = sample("moons", 120, 3)
    for options in (["-C", "1"], ["-C", "100"], ["-C", "inf", "-k", "rbf(gamma=20)"],
                    ["-C", "inf", "-k", "rbf(gamma=20)", "--bias", "no"]):
        kernel = [] if "-k" in options else ["-k", "rbf(gamma=1)"]
        whole, found = bounds("svm", file, *options, *kernel, "--tol", "1e-6")
        loo = tap.mercer_json("cv", "svm", file, *options, *kernel, "--tol", "1e-6", "--loo",
                              "--metric", "accuracy")["metrics"]["accuracy"]["mean"]
        for name in ("support vectors", "radius and margin", "xi-alpha"):
            if found[name]["holds"]:
                assert found[name]["value"] >= 1 - loo - 1e-9, (name, found, loo)
        tap.check_near(found["span"]["value"], 1 - loo, 0.05, "span")
        assert not found["span"]["holds"] and not found["Rademacher"]["holds"]
        assert found["support vectors"]["holds"]
        tap.check_equal(found["radius and margin"]["holds"],
                        "inf" in options and "--bias" in options, str(options))
        report = fit("svm", file, *options, *kernel, "--tol", "1e-6")
        norm = tap.mercer_json("info", "m.mercer", "--coefficients")["outputs"][0]["norm"]
        tap.check_near(whole["margin"], 1 / norm, 1e-9)
        tap.check_near(found["support vectors"]["value"], report["support"] / 120, 1e-12)
        tap.check_near(found["radius and margin"]["value"], norm ** 2 / 120, 1e-9)
        assert whole["radius2"] < 1, "rbf: all objects lie on a sphere of radius 1"


def test_radius_of_a_square():
    """Four corners and linear: the ball is known."""
    with open("d.csv", "w") as out:
        out.write("a,b,y\n5,5,u\n5,7,u\n7,5,v\n7,7,v\n6,6.5,u\n")
    whole, _ = bounds("svm", "d.csv", "-k", "linear")
    tap.check_near(whole["radius2"], 2, 0.01)
    assert whole["radius2"] >= 2 - 1e-9, "an upper bound"
    done = tap.mercer("fit", "ridge", "d.csv", "--task", "classify", "--report", "bounds", status=2)
    assert "bounds are available only for svm" in done.stderr, done.stderr


# ---- intervals ----------------------------------------------------------------------------------


def test_intervals_cover():
    """Of 4,000 new objects the share that was promised is covered, whatever the learner."""
    train, new = sample("sinc", 1500), sample("sinc", 4000, 2)
    for call in (["svr"], ["nu-svr"], ["ridge"], ["erm", "--task", "regress"], ["knn"]):
        fit(call[0], train, "-k", "rbf(gamma=1)", *call[1:], "--calibrate", "0.4")
        for level in (80, 95):
            got = tap.mercer_json("predict", "m.mercer", new, "--interval", level)["metrics"]
            # 600 held-out objects: the coverage of such a calibration has a standard deviation of
            # 1.6 % at 80.
            assert abs(got["coverage"] - level / 100) < 0.05, (call, level, got)
    fit("gp", train, "-k", "rbf(gamma=1)", "--restarts", "0")
    got = tap.mercer_json("predict", "m.mercer", new, "--interval", 95)["metrics"]
    assert abs(got["coverage"] - 0.95) < 0.015, got
    tap.mercer("predict", "m.mercer", new, "--interval", 95, "-o", "i.csv", "--quiet")
    tap.mercer("predict", "m.mercer", new, "--std", "-o", "s.csv", "--quiet")
    noise = tap.mercer_json("info", "m.mercer")["noise"]
    for a, b in list(zip(csv.DictReader(open("i.csv")), csv.DictReader(open("s.csv"))))[:50]:
        half = 1.959963984540054 * math.sqrt(float(b["std"]) ** 2 + noise)
        tap.check_near(float(a["upper"]) - float(a["value"]), half, 1e-9)
        tap.check_near(float(a["value"]) - float(a["lower"]), half, 1e-9)


def test_sets_of_classes_cover():
    train, new = sample("blobs", 1200), sample("blobs", 3000, 2)
    for call in (["svm"], ["svm", "--probability"], ["svm", "--multiclass", "ovr"], ["logistic"]):
        fit(call[0], train, "-k", "rbf(gamma=1)", *call[1:], "--calibrate", "0.5")
        got = tap.mercer_json("predict", "m.mercer", new, "--interval", 90, "-o", "s.csv")["metrics"]
        assert abs(got["coverage"] - 0.9) < 0.04, (call, got)
        rows = list(csv.reader(open("s.csv")))
        tap.check_equal(rows[0], ["1", "2", "3"])
        assert all(v in "01" for row in rows[1:] for v in row)
        tap.check_near(sum(int(v) for row in rows[1:] for v in row) / 3000, got["set_size"], 1e-12)


def test_what_intervals_need():
    train, held, new = sample("sinc", 100), sample("sinc", 60, 2), sample("sinc", 50, 3)
    fit("svr", train)
    for wrong, why in ("0.95", "did you mean 95"), ("100", "less than 100"), ("0", "at least 1"):
        done = tap.mercer("predict", "m.mercer", new, "--interval", wrong, status=2)
        assert why in done.stderr and not done.stdout, (done.stdout, done.stderr)
    done = tap.mercer("predict", "m.mercer", new, "--interval", 95, status=2)
    assert "was not calibrated" in done.stderr, done.stderr
    got = tap.mercer_json("predict", "m.mercer", new, "--interval", 90, "--calibration", held)
    assert got["metrics"]["coverage"] > 0.7
    fit("svr", train, "--calibrate", "0.1")
    done = tap.mercer("predict", "m.mercer", new, "--interval", 95, status=2)
    assert "10 held-out objects are too few" in done.stderr and "19" in done.stderr, done.stderr
    # What was held out was not trained on, and the certificate is that of the rest.
    report = fit("ridge", train, "-k", "rbf(gamma=1)", "--calibrate", "0.25")
    tap.check_equal(report["n"], 75)
    tap.check_equal(tap.mercer_json("verify", "m.mercer", train)["agrees"], True)
    tap.check_equal(tap.mercer("fit", "svr", train, "--calibrate", "0", status=None).returncode, 2)


# ---- detection ----------------------------------------------------------------------------------


def test_detection_is_scored_by_ranks():
    """Labels 0 and 1 mean nothing by themselves; with the anomaly named, AUC is that of the scores."""
    with open("d.csv", "w") as out:
        out.write("a,b,y\n")
        for i in range(200):
            out.write("%g,%g,0\n" % (math.sin(i) + math.sin(7 * i) / 3, math.cos(3 * i) / 2))
        for i in range(12):
            out.write("%g,%g,1\n" % (3 * math.sin(5 * i), 3 * math.cos(5 * i)))
    done = tap.mercer("cv", "one-class", "d.csv", "-k", "rbf(gamma=1)", status=1)
    assert "name the class of anomalies" in done.stderr, done.stderr
    got = tap.mercer_json("cv", "one-class", "d.csv", "-k", "rbf(gamma=1)", "--nu", "0.1",
                          "--positive", "1")["metrics"]
    tap.check_equal(set(got), {"roc_auc", "average_precision", "accuracy"})
    assert got["roc_auc"]["mean"] > 0.95 and got["average_precision"]["mean"] > 0.7, got
    wrong = tap.mercer_json("cv", "one-class", "d.csv", "-k", "rbf(gamma=1)", "--nu", "0.1",
                            "--positive", "0")["metrics"]
    tap.check_near(wrong["roc_auc"]["mean"], 1 - got["roc_auc"]["mean"], 1e-9)
    best = tap.mercer_json("tune", "one-class", "d.csv", "-k", "rbf(gamma=0.01:10:log4)", "--nu",
                           "0.05:0.5:2", "--positive", "1")
    tap.check_equal(best["best"]["metric"], "roc_auc")
    assert "no class \"7\"" in tap.mercer("cv", "one-class", "d.csv", "--positive", "7",
                                          status=2).stderr


def test_all_coefficients_at_their_bounds():
    """Classes of equal size and a small C: the offset is not unique, and features must find what kernel values do."""
    rows = ["0,a", "1,b", "2,c", ".5,a", "1.5,b", "2.5,c", ".2,a", "1.2,b", "2.2,c"]
    with open("balanced.csv", "w") as out:
        out.write("\n".join(["x,t"] + rows) + "\n")
    for C in (1e-6, 0.01, 0.1):
        want = tap.mercer_json("fit", "svm", "balanced.csv", "-k", "linear", "-C", C, "--form", "dual", "-o", "d.mercer")
        got = tap.mercer_json("fit", "svm", "balanced.csv", "-k", "linear", "-C", C, "--form", "primal", "-o", "p.mercer")
        tap.check_equal(got["stop"], "optimal", C)
        tap.check_near(got["primal"], want["primal"], 1e-9 * want["primal"], C)
        assert got["gap"] <= 1e-9 * got["primal"], got["gap"]
        tap.check_equal(tap.mercer_json("verify", "p.mercer", "balanced.csv")["agrees"], True, C)
        for approx in ("falkon", "nystrom", "rff"):
            near = tap.mercer_json("fit", "svm", "balanced.csv", "-k", "rbf(gamma=1)", "-C", C, "--approx", approx,
                                   "--rank", 50, "-o", "p.mercer")
            tap.check_equal(near["stop"], "optimal", (approx, C))


def test_nearly_all_coefficients_at_their_bounds():
    """Classes of other sizes and a small C: few coefficients, or none, are between their bounds."""
    draw = random.Random(11)
    for first, second, C in ((9, 8, "0.3"), (30, 31, "0.02"), (40, 37, "0.05"), (25, 60, "0.01")):
        with open("sizes.csv", "w") as out:
            for i in range(first + second):
                out.write("%.3f,%.3f,%.3f,%s\n" % (draw.gauss(0, 1), draw.gauss(0, 1), draw.gauss(0, 1), "ab"[i >= first]))
        for approx, rank in (("nystrom", "9"), ("falkon", "9"), ("nystrom", "200")):
            got = tap.mercer_json("fit", "svm", "sizes.csv", "-k", "rbf(gamma=0.5)", "-C", C, "--approx", approx, "--rank", rank)
            tap.check_equal(got["stop"], "optimal", (first, second, C, approx, rank))
            assert got["primal"] - got["dual"] < 0.01 * got["dual"], got
            if rank == "200":  # all objects are landmarks
                want = tap.mercer_json("fit", "svm", "sizes.csv", "-k", "rbf(gamma=0.5)", "-C", C)
                tap.check_near(got["dual"], want["dual"], 1e-3 * want["dual"], C)


if __name__ == "__main__":
    tap.main(globals())
