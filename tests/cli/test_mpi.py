"""mercer-mpi on 1, 2, 3 and 4 ranks against mercer: the same answers, faults in one rank, nothing half-written.

By default a few runs, for seconds; MERCER_ALL=1 (./check --all) has more ranks for every case.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import tap

ALL = bool(os.environ.get("MERCER_ALL"))
PROGRAM = os.environ.get("MERCER_MPI")
FALKON = ["-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", "60"]


def command(ranks, *args):
    if not PROGRAM or not shutil.which("mpirun"):
        tap.skip("mercer-mpi is not built: it needs libopenmpi-dev and libpetsc-real-dev")
    return ["mpirun", "-q", "--bind-to", "none", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), PROGRAM,
            *map(str, args)]


def mpi(ranks, *args, status=0):
    done = subprocess.run(command(ranks, *args), capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == status, "exit status %d, expected %d: %s\n%s\n%s" % (
        done.returncode, status, " ".join(map(str, args)), done.stdout[-2000:], done.stderr[-2000:])
    return done


def side_by_side(work, calls):
    """work(call) for all calls, four at a time: a call of mpirun waits most of its time."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(work, calls))


def numbers(path):
    """Without a header, which may name pairs of classes: 0 : 1."""
    return [[float(v) for v in line.replace(",", " ").split()] for line in open(path)
            if line[0] in "-0123456789" and ":" not in line]


def check_same(a, b, limit=1e-8):
    """Two files of numbers, relative to the largest of them."""
    a, b = numbers(a), numbers(b)
    tap.check_equal(len(a), len(b), "rows")
    most = max(abs(v) for row in b for v in row)
    for x, y in zip(a, b):
        tap.check_equal(len(x), len(y), "columns")
        for u, v in zip(x, y):
            assert abs(u - v) <= limit * most, (u, v)


def compare(learner, data, ranks, *options, more=("--scores",)):
    """Trains with one process and with several; predicts with several what one predicts."""
    one = tap.mercer_json("fit", learner, data, *options, "-o", "one.mercer")
    tap.mercer("predict", "one.mercer", data, *more, "-o", "one.csv", "--quiet")

    def check(p):
        model, scores, again = "p%d.mercer" % p, "p%d.csv" % p, "q%d.csv" % p
        out = json.loads(mpi(p, "fit", learner, data, *options, "-o", model, "--json").stdout)
        for key in ("n", "classes", "support", "stop", "kernel", "learner"):
            tap.check_equal(out[key], one[key], key)
        tap.check_near(out["objective"], one["objective"], 1e-8, "objective")
        for key in ("mse", "r2", "accuracy"):
            if one["train"].get(key) is not None:
                tap.check_near(out["train"][key], one["train"][key], 1e-8, key)
        tap.mercer("predict", model, data, *more, "-o", scores, "--quiet")
        check_same(scores, "one.csv")
        mpi(p, "predict", "one.mercer", data, *more, "-o", again, "--quiet")
        check_same(again, "one.csv", 1e-12)

    side_by_side(check, ranks)


def test_ridge():
    tap.mercer("sample", "friedman", "-n", "700", "-o", "f.csv")
    compare("ridge", "f.csv", (1, 2, 3, 4), *FALKON, "--lambda", "0.01", "--tol", "1e-10", more=())


def test_pca():
    """Leading eigenvectors by SLEPc: variances and coordinates, with their signs; more components than there are."""
    tap.mercer("sample", "friedman", "-n", "500", "-o", "f.csv")
    fit = ["fit", "pca", "f.csv", "--target", "none", *FALKON, "--components", "4", "--json"]
    one = tap.mercer_json(*fit[:-1], "-o", "one.mercer")
    tap.mercer("transform", "one.mercer", "f.csv", "-o", "one.csv", "--quiet")
    for p in (1, 2, 3, 4):
        out = json.loads(mpi(p, *fit, "-o", "p.mercer").stdout)
        tap.check_equal(out["stop"], "optimal")
        for key in ("objective", "total_variance"):
            tap.check_near(out[key], one[key], 1e-8, key)
        tap.mercer("transform", "p.mercer", "f.csv", "-o", "p.csv", "--quiet")
        check_same("p.csv", "one.csv", 1e-8)
    done = mpi(2, "fit", "pca", "f.csv", "--target", "none", *FALKON, "--components", "500", "--json")
    assert "components have a variance" in json.loads(done.stdout)["remark"], done.stdout


def test_logistic_of_words():
    """Classes that are words, some of them in the rows of one rank only; scaled columns, balanced weights. Scores differ
    by the square root of the gap, so the tolerance is that of 1e-9."""
    tap.mercer("sample", "blobs", "-n", "400", "--seed", "3", "-o", "b.csv")
    lines = open("b.csv").read().splitlines()
    rows = sorted(line.rpartition(",")[0] + ",class" + line.rpartition(",")[2] for line in lines[1:])
    rows.sort(key=lambda line: line.rpartition(",")[2])
    pathlib.Path("w.csv").write_text("\n".join([lines[0]] + rows) + "\n")
    compare("logistic", "w.csv", (1, 2, 3, 4) if ALL else (3,), "--scale", "standard", "--class-weight", "balanced",
            *FALKON, "--lambda", "0.1", "--tol", "1e-18")


def test_nystrom_and_the_default_kernel():
    """Nystroem's span is solved by falkon's steps there; sparse vectors, weights of columns as in one place."""
    tap.mercer("sample", "friedman", "-n", "500", "-o", "f.csv")
    rows = [line.split(",") for line in open("f.csv").read().splitlines()[1:]]
    with open("f.libsvm", "w") as out:
        for i, row in enumerate(rows):
            print(row[-1], *("%d:%s" % (k + 1, v) for k, v in enumerate(row[:-1]) if k < 9 or i == 450), file=out)
    options = ["--approx", "nystrom", "--rank", "40", "--lambda", "0.1", "--landmarks", "leverage"]
    one = tap.mercer_json("fit", "ridge", "f.libsvm", *options, "-o", "one.mercer")
    tap.mercer("predict", "one.mercer", "f.libsvm", "-o", "one.csv", "--quiet")
    for p in (2, 4) if ALL else (2,):
        out = json.loads(mpi(p, "fit", "ridge", "f.libsvm", *options, "--tol", "1e-13", "-o", "p.mercer",
                             "--json").stdout)
        tap.check_equal(out["approx"]["kind"], "nystrom")
        gamma, wanted = (float(o["kernel"].split("=")[1][:-1]) for o in (out, one))
        tap.check_near(gamma, wanted, 1e-10, "gamma")
        tap.mercer("predict", "p.mercer", "f.libsvm", "-o", "p.csv", "--quiet")
        check_same("p.csv", "one.csv")


def test_nystrom_of_several_data():
    """ridge and pca, whose features one process keeps as doubles."""
    options = ["-k", "rbf(gamma=0.5)", "--approx", "nystrom", "--rank", "40"]
    for seed in (1, 2, 3) if ALL else (1,):
        tap.mercer("sample", "friedman", "-n", "500", "--seed", seed, "-o", "f.csv")
        for learner, verb, more in (("ridge", "predict", ["--lambda", "0.1"]),
                                    ("pca", "transform", ["--target", "none", "--components", "4"])):
            fit = ["fit", learner, "f.csv", *options, *more, "--quiet"]
            tap.mercer(*fit, "-o", "one.mercer")
            tap.mercer(verb, "one.mercer", "f.csv", "-o", "one.csv", "--quiet")
            for p in (1, 2, 3, 4) if ALL else (3,):
                mpi(p, *fit, "-o", "p.mercer")
                tap.mercer(verb, "p.mercer", "f.csv", "-o", "p.csv", "--quiet")
                check_same("p.csv", "one.csv")


def test_nystrom_of_classes():
    """logistic with two and three classes: the same scores at a tight tolerance, and the same certificate at any."""
    options = ["-k", "rbf(gamma=0.5)", "--approx", "nystrom", "--rank", "60", "--lambda", "0.1"]
    tap.mercer("sample", "moons", "-n", "400", "--noise", "0.3", "-o", "two.csv")
    tap.mercer("sample", "blobs", "-n", "400", "--seed", "3", "-o", "three.csv")
    for data in ("two.csv", "three.csv"):
        compare("logistic", data, (1, 2, 3, 4), *options, "--tol", "1e-18")
        fit = ["fit", "logistic", data, *options]
        one = tap.mercer_json(*fit)["certificate"]
        out = json.loads(mpi(2, *fit, "--json").stdout)["certificate"]
        for key in ("kind", "tolerance"):
            tap.check_equal(out[key], one[key], key)
        assert max(out["value"], one["value"]) <= one["tolerance"], (out, one)
    one_line(mpi(2, "fit", "logistic", "two.csv", "-k", "rbf(gamma=0.5)", "--approx", "rff", status=2), "--approx falkon")


def terciles(path):
    """Three classes of numbers with noise, in order of class: of three ranks each has the objects of one."""
    tap.mercer("sample", "friedman", "-n", "450", "-o", "f.csv")
    head, *rows = open("f.csv").read().splitlines()
    rows.sort(key=lambda line: float(line.rpartition(",")[2]))
    names = ("low", "middle", "high")
    with open(path, "w") as out:
        print(head, *("%s,%s" % (row.rpartition(",")[0], names[3 * i // len(rows)]) for i, row in enumerate(rows)),
              sep="\n", file=out)


def compare_svm(data, ranks, *options):
    """The same scores, and a certificate of all rows: primal, dual and violation."""
    compare("svm", data, ranks, *options)
    for p in ranks[:1]:
        one = tap.mercer_json("fit", "svm", data, *options)
        out = json.loads(mpi(p, "fit", "svm", data, *options, "--json").stdout)
        for key in ("primal", "dual"):
            tap.check_near(out[key], one[key], 1e-8, key)
        tap.check_equal(out["certificate"]["kind"], one["certificate"]["kind"])
        assert 0 <= out["certificate"]["value"] <= out["certificate"]["tolerance"], out


def test_svm():
    """One-vs-one and one-vs-rest, weights of classes, with and without a bias; ranks without objects of a class."""
    terciles("t.csv")
    tap.mercer("sample", "moons", "-n", "400", "--noise", "0.3", "-o", "m.csv")
    three = ["-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", "40"]
    compare_svm("t.csv", (3, 1, 2, 4), *three, "--tol", "1e-8", "--class-weight", "high=2")
    compare_svm("m.csv", (1, 2, 3, 4) if ALL else (4,), *FALKON, "--tol", "1e-8", "--bias", "no", "-C", "10")
    nystrom = ["-k", "rbf(gamma=0.5)", "--approx", "nystrom", "--rank", "60", "--tol", "1e-8"]
    compare_svm("m.csv", (1, 2, 3, 4), *nystrom)
    if ALL:
        compare_svm("t.csv", (2, 3), *nystrom, "--multiclass", "ovr")
        compare_svm("t.csv", (2, 3), *three, "--tol", "1e-7", "--multiclass", "ovr", "--scale", "standard")
        compare_svm("m.csv", (1, 2, 3, 4), *FALKON, "--tol", "1e-8", "--class-weight", "balanced", "--lambda", "0.01")
        lines = open("t.csv").read().splitlines()
        pathlib.Path("few.csv").write_text("\n".join(lines[:3] + lines[-2:]) + "\n")
        compare_svm("few.csv", (4,), *three, "--tol", "1e-8", "--class-weight", "balanced")


def test_svm_of_small_bounds():
    """All coefficients at their bounds, of classes that are not equally large: which ones are at 0? An interval of
    biases is optimal, so scores are the same but for a constant."""
    tap.mercer("sample", "moons", "-n", "400", "--noise", "0.3", "-o", "m.csv")
    lines = open("m.csv").read().splitlines()
    pathlib.Path("u.csv").write_text("\n".join(lines[:350] + [v for v in lines[350:] if v.endswith(",1")]) + "\n")
    fit = ["fit", "svm", "u.csv", *FALKON, "--tol", "1e-8", "-C", "0.0015"]
    one = tap.mercer_json(*fit, "-o", "one.mercer")
    for p in (1, 2, 3, 4) if ALL else (2,):
        out = json.loads(mpi(p, *fit, "-o", "p.mercer", "--json").stdout)
        tap.check_equal(out["stop"], "optimal")
        tap.check_near(out["objective"], one["objective"], 1e-8, "objective")
        for name in ("one", "p"):
            tap.mercer("predict", name + ".mercer", "u.csv", "--scores", "-o", name + ".csv", "--quiet")
        apart = np.array(numbers("p.csv")) - np.array(numbers("one.csv"))
        assert np.ptp(apart) <= 1e-8 and abs(apart).max() <= 1e-4, (apart.min(), apart.max())


def test_svm_of_many_objects():
    """Samples, conjugate gradients, and objects that are left out."""
    tap.mercer("sample", "moons", "-n", "30000", "--noise", "0.3", "-o", "m.csv")
    fit = ["-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", "40", "--tol", "1e-6"]
    compare_svm("m.csv", (2, 1, 3, 4) if ALL else (2,), *fit)


def test_why_falkon_is_chosen():
    """Not because of the size of the data, and approx=none would be refused."""
    tap.mercer("sample", "friedman", "-n", "200", "-o", "f.csv")
    out = mpi(2, "fit", "ridge", "f.csv", "-k", "rbf(gamma=0.5)").stdout
    assert "rows are spread over processes" in out and "approx=none" not in out, out


def test_values_that_stay_in_their_file():
    """A memory budget below the size of the matrix: landmarks are loaded from the file."""
    r = np.random.default_rng(5)
    x = r.standard_normal((20000, 8))
    np.save("x.npy", x)
    np.save("y.npy", x[:, 0] + np.sin(x[:, 1]) + 0.1 * r.standard_normal(len(x)))
    fit = ["fit", "ridge", "x.npy", "--target", "y.npy", "-k", "rbf(gamma=0.1)", "--lambda", "0.1", "--approx", "falkon",
           "--rank", "100", "--tol", "1e-12", "--memory", "3M", "--quiet"]
    tap.mercer(*fit, "-o", "one.mercer")
    tap.mercer("predict", "one.mercer", "x.npy", "-o", "one.csv", "--quiet")
    for p in (1, 2):
        mpi(p, *fit, "-o", "p.mercer")
        tap.mercer("predict", "p.mercer", "x.npy", "-o", "p.csv", "--quiet")
        check_same("p.csv", "one.csv")


def test_predictions_in_order():
    """Several files, more ranks than rows, tables with ids, arrays of NumPy, metrics of all rows."""
    tap.mercer("sample", "blobs", "-n", "200", "-o", "b.csv")
    tap.mercer("fit", "svm", "b.csv", "-k", "rbf(gamma=1)", "-o", "m.mercer")
    lines = open("b.csv").read().splitlines()
    parts = [[lines[0] + ",name"] + [line + ",r%d" % i for i, line in enumerate(lines) if i % 3 == k and i]
             for k in range(3)]
    for k, part in enumerate(parts):
        pathlib.Path("part%d.csv" % k).write_text("\n".join(part[:3 if k == 1 else None]) + "\n")
    files = ["part%d.csv" % k for k in range(3)]
    wanted = tap.mercer("predict", "m.mercer", *files, "--id", "name", "-o", "one.csv")
    for p in (2, 3, 4) if ALL else (4,):
        names = ["part[0-9].csv"] if p == 4 else files
        got = mpi(p, "predict", "m.mercer", *names, "--id", "name", "-o", "p.csv")
        tap.check_equal(open("p.csv").read(), open("one.csv").read())
        tap.check_equal(got.stderr, wanted.stderr, "metrics")
    pathlib.Path("few.csv").write_text("\n".join(lines[:3]) + "\n")
    tap.check_equal(mpi(4, "predict", "m.mercer", "few.csv", "--quiet").stdout,
                    tap.mercer("predict", "m.mercer", "few.csv", "--quiet").stdout)
    tap.mercer("predict", "m.mercer", "b.csv", "--scores", "-o", "one.npy", "--quiet")
    mpi(3, "predict", "m.mercer", "b.csv", "--scores", "-o", "p.npy", "--quiet")
    one, several = (open(name, "rb").read() for name in ("one.npy", "p.npy"))
    tap.check_equal((len(several), several[:128]), (len(one), one[:128]))


def one_line(done, *words):
    text = done.stderr.strip()
    assert text.count("\n") == 0 and all(w in text for w in words), done.stderr


def test_faults():
    """One line from one rank, the status of mercer, and no file."""
    tap.mercer("sample", "friedman", "-n", "3500", "-o", "f.csv")
    lines = open("f.csv").read().splitlines()
    lines[3400] = "0.5,what"
    pathlib.Path("bad.csv").write_text("\n".join(lines) + "\n")
    fit = ["fit", "ridge", "bad.csv", *FALKON, "-o", "m.mercer"]
    tap.mercer("sample", "moons", "-n", "100", "-o", "m.csv")
    lines = open("m.csv").read().splitlines()
    pathlib.Path("same.csv").write_text("\n".join([lines[0], *(v for v in lines if v.endswith(",1"))]) + "\n")
    pathlib.Path("alone.csv").write_text("x%s,y\n1,2\n" % ("x" * 100))  # all lines of the first rank are the header
    pathlib.Path("words.csv").write_text("x,y\n" + "".join("%d,w%099d\n" % (i, i) for i in range(22000)))
    rbf = ["-k", "rbf(gamma=1)"]
    faults = [
        (3, 1, fit, ["rank 2", "bad.csv:3401"]),
        (2, 2, ["fit", "svr", "f.csv"], ["svr", "spread"]),
        (2, 2, ["fit", "ridge", "f.csv", "-k", "linear", "--approx", "none"], ["--approx falkon"]),
        (2, 2, ["fit", "svm", "m.csv", *rbf], ["svm", "--approx falkon"]),
        (2, 1, ["fit", "svm", "same.csv", *FALKON], ["all 50 objects are of class"]),
        (2, 1, ["fit", "svm", "alone.csv", *FALKON], ['there is one object, of class "2"']),
        (2, 1, ["fit", "svm", "words.csv", *FALKON], ["22000 classes in 22000 objects"]),
        (2, 2, ["fit", "svm", "m.csv", *FALKON, "--probability", "yes"], ["probabilities", "logistic"]),
        (2, 2, ["fit", "svm", "m.csv", "-C", "inf"], ["hard margin", "finite C"]),
        (2, 2, ["info", "f.csv"], ["run mercer for info"]),
        (2, 1, ["fit", "ridge", "f.csv", *FALKON, "--memory", "10K"], ["landmarks", "--memory"]),
        (2, 1, ["fit", "ridge", "nothing.csv", *FALKON], ["nothing.csv", "No such file"]),
        (2, 2, ["fit", "ridge", "f.csv", *FALKON, "--timeout", "soon"], ["--timeout", "soon"]),
    ]
    side_by_side(lambda f: one_line(mpi(f[0], *f[2], status=f[1]), *f[3]), faults)
    call = command(1, "fit", "ridge", "f.csv", *FALKON, "-o", "m.mercer")
    done = subprocess.run(call + [":", "-n", "1", *call[call.index(PROGRAM):], "--seed", "7"], capture_output=True,
                          text=True, timeout=600)
    one_line(done, "different words")
    assert not os.path.exists("m.mercer")


def test_no_colors():
    """mpirun gives ranks a terminal, even if its own output is a file."""
    tap.mercer("sample", "sinc", "-n", "50", "-o", "s.csv")
    env = {**os.environ, "TERM": "xterm"}
    env.pop("NO_COLOR", None)
    done = subprocess.run(command(1, "fit", "ridge", "s.csv", "-k", "rbf(gamma=1)", "--approx", "falkon", "--rank", "5"),
                          capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL, env=env)
    assert "certified  relative gap" in done.stdout and "\x1b" not in done.stdout, done.stdout


def children(pid):
    """Ranks under an mpirun, as soon as they are there."""
    for _ in range(600):
        found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True).stdout
        ranks = [int(line.split()[0]) for line in found.splitlines() if PROGRAM in line]
        if len(ranks) > 1:
            return ranks
        time.sleep(0.05)
    raise AssertionError("no ranks: " + found)


def test_cuts_at_odd_places():
    """A last line without an end, which other lines follow in a part; a first part that is the header alone."""
    tap.mercer("sample", "moons", "-n", "60", "-o", "m.csv")
    text = open("m.csv").read()
    pathlib.Path("open.csv").write_text(text.rstrip("\n"))
    pathlib.Path("long.csv").write_text(text.replace("x1", "x" * 9000, 1))
    tap.mercer("fit", "svm", "m.csv", *FALKON, "-o", "m.mercer", "--quiet")
    tap.mercer("predict", "m.mercer", "m.csv", "--scores", "-o", "one.csv", "--quiet")
    for p in (1, 2, 3, 4) if ALL else (3,):
        mpi(p, "predict", "m.mercer", "open.csv", "--scores", "-o", "p.csv", "--quiet")
        check_same("p.csv", "one.csv", 1e-12)
        tap.check_equal(json.loads(mpi(p, "fit", "svm", "long.csv", *FALKON, "--json").stdout)["n"], 60, "objects")


def test_a_rank_that_dies():
    tap.mercer("sample", "friedman", "-n", "20000", "-o", "f.csv")
    call = command(2, "fit", "ridge", "f.csv", "-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", "1500", "--tol",
                   "1e-14", "-o", "m.mercer")
    call.remove("-q")
    job = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    os.kill(children(job.pid)[1], signal.SIGKILL)
    out, err = job.communicate(timeout=600)
    assert job.returncode != 0, out
    assert "signal 9" in err or "aborted" in err or "lost" in err, err
    assert not [name for name in os.listdir(".") if name.startswith("m.mercer")], os.listdir(".")


def test_a_clock_that_jumps():
    """The time limit of one rank is over before those of the others: all of them stop, and there is a model."""
    if not os.environ.get("MERCER_CLOCK"):
        tap.skip("no library that has another clock: not with sanitizers")
    tap.mercer("sample", "blobs", "-n", "900", "--noise", "2", "-o", "b.csv")
    shim = os.environ["MERCER_SHIM"] + ":" + os.environ["MERCER_CLOCK"]
    for learner in ("svm", "logistic") if ALL else ("svm",):
        call = command(1, "fit", learner, "b.csv", *FALKON, "--threads", "1", "--time-limit", "100000", "--timeout", "1e9",
                       "--json")
        stops = []
        for look in range(100, 500, 20) if ALL else (180, 260, 340):
            jump = ["-n", "1", "-x", "LD_PRELOAD=" + shim, "-x", "CLOCK=jump:%d" % look]
            done = subprocess.run(call + [":", *jump, *call[call.index(PROGRAM):]], capture_output=True, text=True,
                                  timeout=600, stdin=subprocess.DEVNULL)
            if done.returncode:
                one_line(done, "before there was a model to keep")
                continue
            stops.append(json.loads(done.stdout)["stop"])
        assert "time" in stops and set(stops) <= {"time", "optimal"}, stops


def continue_elsewhere(fit, data, *more):
    """Killed in the middle on 3 ranks, and finished on 2 and on one: the same model to 1e-8."""
    tap.mercer(*fit, "-o", "one.mercer")
    tap.mercer("predict", "one.mercer", data, *more, "-o", "one.csv", "--quiet")
    call = command(3, *fit, "--checkpoint", "c", "-o", "p.mercer")
    job = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    ranks = children(job.pid)
    while job.poll() is None and not os.path.exists("c"):
        time.sleep(0.01)
    if job.poll() is None:
        os.kill(ranks[1], signal.SIGKILL)
    job.wait(timeout=600)
    tap.check_equal(open("c", "rb").readline(), b"mercer checkpoint\n")
    for p in (2, 0):
        shutil.copy("c", "d")
        given = ["--checkpoint", "d", "-o", "p.mercer"]
        mpi(p, *fit, *given) if p else tap.mercer(*fit, *given)
        tap.mercer("predict", "p.mercer", data, *more, "-o", "p.csv", "--quiet")
        check_same("p.csv", "one.csv")


def test_checkpoint_on_other_ranks():
    tap.mercer("sample", "friedman", "-n", "5000", "-o", "f.csv")
    fit = ["fit", "ridge", "f.csv", "-k", "rbf(gamma=0.2)", "--approx", "falkon", "--rank", "200", "--lambda", "1e-5",
           "--tol", "1e-13", "--quiet"]
    continue_elsewhere(fit, "f.csv")
    one_line(mpi(2, *fit, "--seed", "9", "--checkpoint", "c", status=1), "c: this is not the checkpoint of this training")
    tap.mercer("fit", "pca", "f.csv", "--checkpoint", "c", status=2)


def test_checkpoint_of_many_numbers():
    """Different targets in each rank, more than ranks exchange: mercer's checkpoint is good for 2 ranks, too."""
    tap.mercer("sample", "friedman", "-n", "24000", "-o", "f.csv")
    fit = ["fit", "ridge", "f.csv", "-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", "20", "--memory", "200M",
           "--checkpoint", "c"]
    tap.mercer(*fit, "-o", "one.mercer")
    out = mpi(2, *fit, "-o", "p.mercer")
    assert "continues from c" in out.stderr, out.stderr
    for name in ("one", "p"):
        tap.mercer("predict", name + ".mercer", "f.csv", "-o", name + ".csv", "--quiet")
    check_same("p.csv", "one.csv")


def test_checkpoint_of_svm():
    """The first ranks keep weights only; mercer's own checkpoint, which has all, is good for ranks, too."""
    terciles("t.csv")
    fit = ["fit", "svm", "t.csv", "-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", "40", "--tol", "1e-8", "--quiet"]
    continue_elsewhere(fit, "t.csv", "--scores")
    tap.mercer(*fit, "--max-steps", "30", "--checkpoint", "e", "-o", "rough.mercer")
    mpi(2, *fit, "--max-steps", "30", "--checkpoint", "e", "-o", "p.mercer")
    for name in ("rough", "p"):
        tap.mercer("predict", name + ".mercer", "t.csv", "--scores", "-o", name + ".csv", "--quiet")
    check_same("p.csv", "rough.csv")


def steady(text):
    """A report without what differs from run to run."""
    def drop(key, value):
        return "seconds" in key or key in ("output", "model") and isinstance(value, str)
    return json.loads(text, object_pairs_hook=lambda pairs: {k: v for k, v in pairs if not drop(k, v)})


def same_tasks(ranks, *call):
    """cv and tune: the same report and the same files, byte by byte."""
    one = steady(tap.mercer(*call, "-o", "one", "--json").stdout)
    for p in ranks:
        got = steady(mpi(p, *call, "-o", "several", "--json").stdout)
        tap.check_equal(got, one, " ".join(call))
        if call[0] == "cv":
            tap.check_equal(open("several").read(), open("one").read())
        assert not os.path.exists("several.tuning")


def test_folds_and_points():
    """Trainings are spread over the ranks: folds, nested searches, grids, from coarse to fine."""
    tap.mercer("sample", "moons", "-n", "300", "--noise", "0.3", "-o", "m.csv")
    tap.mercer("sample", "sinc", "-n", "100", "-o", "s.csv")
    rbf = ["-k", "rbf(gamma=0.1:10:log3)"]
    same_tasks((1, 2, 3, 4) if ALL else (4,), "cv", "svm", "m.csv", "-k", "rbf(gamma=2)", "-C", "10")
    same_tasks((1, 2, 3, 4) if ALL else (3,), "tune", "ridge", "s.csv", *rbf, "--lambda", "1e-3:1:log3")
    if ALL:
        same_tasks((2, 3), "cv", "svm", "m.csv", *rbf, "-C", "1:100:log3", "--folds", "4")
        same_tasks((2, 4), "tune", "svm", "m.csv")
        same_tasks((2,), "cv", "ridge", "s.csv", "-k", "rbf(gamma=1)", "--loo")
    one_line(mpi(2, "tune", "svm", "m.csv", "--memory", "1K", status=1), "--memory")
    one_line(mpi(2, "cv", "svm", "m.csv", "--plot", status=2), "run mercer")


def test_ranks_with_other_data():
    """Not the same file for all ranks, as if it had been changed in the meantime."""
    for folder in ("a", "b"):
        os.mkdir(folder)
        tap.mercer("sample", "moons", "-n", "100", "--seed", len(os.listdir(".")), "-o", folder + "/m.csv")
    for words, said in ((["cv", "svm", "m.csv"], "have not read the same data"),
                        (["fit", "logistic", "m.csv", *FALKON], "m.csv: the file is not the same in all ranks")):
        call = command(1, *words)
        at = call.index(PROGRAM)
        first, second = ([*call[:at], "--wdir", folder, *call[at:]] for folder in ("a", "b"))
        done = subprocess.run(first + [":"] + second[second.index("-n"):], capture_output=True, text=True, timeout=600)
        tap.check_equal(done.returncode, 1)
        one_line(done, said)


def test_a_search_that_is_killed():
    """Killed on 3 ranks and continued on 2 and on one: the table of a search that was not."""
    tap.mercer("sample", "moons", "-n", "700", "--noise", "0.3", "-o", "m.csv")
    tune = ["tune", "svm", "m.csv", "-k", "rbf(gamma=0.01:100:log9)", "-C", "0.1:1000:log9", "--quiet"]
    tap.mercer(*tune, "--table", "one.csv")
    job = subprocess.Popen(command(3, *tune, "-o", "p.mercer"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           stdin=subprocess.DEVNULL)
    ranks = children(job.pid)
    while job.poll() is None and not (os.path.exists("p.mercer.tuning") and
                                      open("p.mercer.tuning", "rb").read().count(b"\n") > 3):
        time.sleep(0.002)
    if job.poll() is None:
        os.kill(ranks[1], signal.SIGKILL)
    job.wait(timeout=600)
    if not os.path.exists("p.mercer.tuning"):
        tap.skip("the search had ended before it could be killed")
    for p in (2, 0):
        shutil.copy("p.mercer.tuning", "d")
        more = ["--checkpoint", "d", "--resume", "--table", "p.csv"]
        mpi(p, *tune, *more) if p else tap.mercer(*tune, *more)
        tap.check_equal(open("p.csv").read(), open("one.csv").read())


def test_a_rank_that_hangs():
    """One that is stopped is given up after --timeout seconds, in one line."""
    tap.mercer("sample", "friedman", "-n", "20000", "-o", "f.csv")
    call = command(2, "fit", "ridge", "f.csv", "-k", "rbf(gamma=0.5)", "--approx", "falkon", "--rank", "1500", "--tol",
                   "1e-14", "--timeout", "2", "-o", "m.mercer", "--checkpoint", "c")
    for early in (True, False) if ALL else (False,):
        job = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               stdin=subprocess.DEVNULL)
        stopped = children(job.pid)[1]
        while job.poll() is None and not early and not os.path.exists("c"):
            time.sleep(0.01)
        os.kill(stopped, signal.SIGSTOP)
        try:
            err = job.communicate(timeout=30)[1]
        finally:
            if os.path.exists("/proc/%d" % stopped):
                os.kill(stopped, signal.SIGCONT)
        assert job.returncode != 0 and err.count("--timeout SECONDS") == 1, err
        assert not os.path.exists("m.mercer")


def test_the_job_for_slurm():
    """The script, with mpirun in place of srun: options, a model, no checkpoint left."""
    tap.mercer("sample", "friedman", "-n", "300", "-o", "part-1.csv")
    call = command(2)
    done = subprocess.run([str(tap.ROOT / "mpi" / "slurm.sh")], capture_output=True, text=True, timeout=600,
                          env=dict(os.environ, LAUNCH=" ".join(call[:-1]), PROGRAM=PROGRAM, MEMORY="1G",
                                   OPTIONS="-k rbf(gamma=0.5) --approx falkon --rank 30"), stdin=subprocess.DEVNULL)
    tap.check_equal(done.returncode, 0, done.stderr)
    tap.check_equal(tap.mercer_json("info", "model.mercer")["learner"], "ridge")
    tap.check_equal(sorted(os.listdir(".")), ["model.mercer", "part-1.csv"])


if __name__ == "__main__":
    tap.main(globals())
