"""Time limits, by clocks that depend on what the program does (tests/faults/clock.c): one that jumps
beyond the limit at a chosen look, and one that runs by the time of the processor.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import random

import tap

CLOCK = os.environ.get("MERCER_CLOCK")
ALL = bool(os.environ.get("MERCER_ALL"))
LEARNERS = {
    "svm": [], "nu-svm": ["--nu", "0.3"], "one-class": ["--nu", "0.2"], "svr": [], "nu-svr": [],
    "l1-svm": [], "logistic": [], "erm": ["--task", "classify", "--loss", "logistic"],
    "ridge": ["--task", "classify"], "gp": ["--task", "classify"], "knn": ["--task", "classify", "--loo"],
    "fisher": [], "pca": [], "kmeans": ["--clusters", "4"], "perceptron": [], "pegasos": [],
}
NUMBERS = ("svr", "nu-svr")


def table(name, n, classes, width=4, seed=5):
    """Objects around a centre for each class; the target is the class, or a number."""
    draw = random.Random(seed)
    with open(name, "w") as f:
        f.write(",".join("x%d" % c for c in range(width)) + ",y\n")
        for i in range(n):
            k = i % max(classes, 1)
            row = ["%.4f" % (draw.gauss(0, 1) + (k if c % 2 else -k)) for c in range(width)]
            f.write(",".join(row) + ",%s\n" % ("abcdef"[k] if classes else "%.4f" % draw.gauss(0, 1)))
    return name


def run(how, *args, status=(0, 1)):
    """Runs with another clock; the result, how many looks there were, and the most work between two."""
    if not CLOCK:
        tap.skip("no clock to preload here (MERCER_CLOCK)")
    env = {"LD_PRELOAD": CLOCK, "CLOCK": how, "CLOCK_COUNT": "looks", "OPENBLAS_NUM_THREADS": "1"}
    done = tap.mercer(*args, "--threads", 1, env=env, status=None)
    assert done.returncode in status, (args, done.returncode, done.stderr)
    with open("looks") as f:
        looks, most = f.read().split()
    return done, int(looks), float(most)


def places(looks):
    """Some looks of all: the first ones, and then fewer and fewer."""
    found = {1, 2, 3, looks // 2, looks - 1} | {int(looks * (1 - 0.5 ** i)) for i in range(1, 6)}
    if ALL:
        found |= set(range(1, min(looks, 200)))
    return sorted(p for p in found if p >= 1)


def test_training_ends_at_any_look():
    """With a model whose certificate holds, or without one; a model without support vectors is none."""
    runs = kept = 0
    for classes in (2, 4):
        table("c.csv", 240, classes)
        table("n.csv", 240, 0)
        for learner, more in LEARNERS.items():
            call = ["fit", learner, "n.csv" if learner in NUMBERS else "c.csv", "-k", "rbf(gamma=0.5)", *more,
                    "--time-limit", "1000", "--quiet", "-o", "m.mercer"]
            _, looks, _ = run("jump:0", *call, status=(0,))
            for at in places(looks):
                if os.path.exists("m.mercer"):
                    os.remove("m.mercer")
                done, _, _ = run("jump:%d" % at, *call)
                runs += 1
                if done.returncode == 1:
                    assert "time limit of 1000 s was reached before there was a model" in done.stderr, (call, at, done)
                    assert not os.path.exists("m.mercer"), (call, at)
                    continue
                kept += 1
                model = tap.mercer_json("info", "m.mercer")
                assert model["stop"] != "interrupted", (call, at, model)
                assert model["stop"] != "time" or "--time-limit" in done.stderr, (call, at, done.stderr)
                begun = model["certificate"]["value"] is not None  # as far as is known of all problems
                assert model["support"] > 0 or begun, (call, at, model)
    print("# %d trainings ended at a look at the clock, %d with a model" % (runs, kept), flush=True)
    assert runs > 200 and kept > 50, (runs, kept)


def test_a_solution_on_features_is_kept():
    """The pass that bounds the error of the stored function comes after the limit: the solution is kept without it."""
    table("c.csv", 600, 2, width=4)
    for learner in ("svm", "logistic"):
        call = ["fit", learner, "c.csv", "-k", "rbf(gamma=0.5)", "--approx", "nystrom", "--rank", "40", "--time-limit",
                "1000", "--quiet", "-o", "m.mercer"]
        _, looks, _ = run("jump:0", *call, status=(0,))
        kept = sum(run("jump:%d" % at, *call)[0].returncode == 0 for at in range(looks // 2, looks))
        assert kept > (looks - looks // 2) // 2, (learner, looks, kept)


def test_a_solved_process_is_kept():
    """The product that bounds the error of the likelihood may come after the limit: the model stays without it."""
    table("n.csv", 300, 0)
    call = ["fit", "gp", "n.csv", "-k", "rbf(gamma=0.5)", "--max-steps", "2", "--time-limit", "1000", "--quiet",
            "-o", "m.mercer"]
    _, looks, _ = run("jump:0", *call, status=(0,))
    kept = sum(run("jump:%d" % at, *call)[0].returncode == 0 for at in range(looks // 2, looks))
    assert kept > (looks - looks // 2) // 2, (looks, kept)


def test_nothing_long_follows():
    """After the limit few looks follow: the score of the training objects is not computed to its end, though
    each of its loops is too short to report progress."""
    table("c.csv", 3000, 6, width=8)
    call = ["fit", "svm", "c.csv", "-k", "rbf(gamma=0.5)", "--time-limit", "1000", "--quiet", "-o", "m.mercer"]
    _, looks, _ = run("jump:0", *call, status=(0,))
    for back in (40, 36, 32, 28):
        _, all_looks, _ = run("jump:%d" % (looks - back), *call, status=(0,))
        assert all_looks - (looks - back) < 40, (looks, back, all_looks)


def test_no_problem_begun():
    """Several classes, and the limit is over before the first pair has a gradient: no model."""
    table("c.csv", 300, 4)
    for learner in ("svm", "nu-svm", "l1-svm"):
        none = 0
        for at in range(1, 30):
            done, _, _ = run("jump:%d" % at, "fit", learner, "c.csv", "-k", "rbf(gamma=0.5)", *LEARNERS[learner],
                             "--time-limit", "1000", "--json", "-o", "m.mercer")
            none += done.returncode == 1 and "before there was a model" in done.stderr
            assert done.returncode == 1 or json.loads(done.stdout)["support"] > 0, (learner, at)
        assert none > 0, learner


def test_cross_validation_ends():
    """Also where a training does not watch the limit by itself: before, cv of ridge never looked at it."""
    table("n.csv", 400, 0)
    table("c.csv", 200, 3)
    for call in (["ridge", "n.csv", "-k", "rbf(gamma=0.5)"], ["fisher", "c.csv", "-k", "rbf(gamma=0.5)"],
                 ["svm", "c.csv", "-k", "rbf(gamma=0.1:1:log3)"]):
        call = ["cv", *call, "--time-limit", "1000", "--folds", "3"]
        _, looks, _ = run("jump:0", *call, status=(0,))
        late = 0
        for at in places(looks):
            done, _, _ = run("jump:%d" % at, *call)
            late += "the time limit of 1000 s for each of 3 trainings was reached" in done.stderr
            assert done.returncode == 0 or "time limit" in done.stderr, (call, at, done.stderr)
        assert late > 0, (call, looks)


def test_search_goes_on_after_a_limit():
    """Trainings that the limit cuts short, because it is near, are repeated: in the end the table is that of a search
    without a limit."""
    tap.mercer("sample", "moons", "-n", 900, "--noise", 0.35, "-o", "c.csv")
    call = ["tune", "svm", "c.csv", "-k", "rbf(gamma=0.1:10:log3)", "-C", "1:1000:log4", "--quiet", "-o", "m.mercer",
            "--table", "t.csv"]
    _, looks, _ = run("jump:0", *call, "--time-limit", "1000", status=(0,))
    with open("t.csv") as f:
        whole = f.read()
    cut, near = 0, random.Random(1)
    for at in sorted(near.sample(range(1, looks), 60)):
        for name in ("m.mercer", "m.mercer.tuning", "t.csv"):
            if os.path.exists(name):
                os.remove(name)
        run("jump:%d:999.96" % at, *call, "--time-limit", "1000")
        cut += os.path.exists("m.mercer.tuning")
        tap.mercer(*call, "--threads", 1)
        with open("t.csv") as f:
            assert f.read() == whole, at
    assert cut > 30, cut


def test_ridge_without_the_matrix():
    """K does not fit: the limit ends conjugate gradients without a model, and is not taken for rounding."""
    table("n.csv", 1500, 0)
    call = ["fit", "ridge", "n.csv", "-k", "rbf(gamma=0.5)", "--memory", "8M", "--time-limit", "1000", "--json"]
    done, looks, _ = run("jump:0", *call, status=(0,))
    assert "conjugate gradients" in done.stdout and json.loads(done.stdout)["stop"] == "optimal", done.stdout
    none = 0
    for at in places(looks):
        done, _, _ = run("jump:%d" % at, *call)
        assert done.returncode == 1 or json.loads(done.stdout)["stop"] == "optimal", (at, done.stdout)
        none += "time limit of 1000 s was reached before there was a model" in done.stderr
    assert none >= 3, (looks, none)


def test_verbs_end_at_any_look():
    """With all of the result or with status 1, the option in the message, and no file."""
    table("c.csv", 400, 3)
    tap.mercer("fit", "svm", "c.csv", "-k", "rbf(gamma=0.5)", "-o", "m.mercer", "--quiet")
    tap.mercer("fit", "pca", "c.csv", "-k", "rbf(gamma=0.5)", "--components", "3", "-o", "p.mercer", "--quiet")
    runs = cut = 0
    for call in (["predict", "m.mercer", "c.csv", "--scores", "-o", "out"], ["transform", "p.mercer", "c.csv", "-o", "out"],
                 ["gram", "c.csv", "-k", "rbf(gamma=0.5)", "-o", "out"],
                 ["features", "c.csv", "-k", "poly(degree=5, c=1)", "-o", "out"], ["check", "rbf(gamma=0.5)", "c.csv"],
                 ["geometry", "c.csv", "-k", "rbf(gamma=0.5)"], ["explain", "m.mercer", "c.csv"],
                 ["verify", "m.mercer", "c.csv"], ["report", "m.mercer", "c.csv", "-o", "out"],
                 ["plot", "c.csv", "-k", "rbf(gamma=0.5)", "--kind", "spectrum", "-o", "out.svg"],
                 ["info", "c.csv"]):
        _, looks, _ = run("jump:0", *call, "--time-limit", "1000", status=(0,))
        for at in places(looks):
            for name in ("out", "out.svg"):
                if os.path.exists(name):
                    os.remove(name)
            done, _, _ = run("jump:%d" % at, *call, "--time-limit", "1000")
            runs += 1
            if done.returncode:
                assert "the time limit of 1000 s was reached (--time-limit SECONDS)" in done.stderr, (call, at, done.stderr)
                assert not os.path.exists("out") and not os.path.exists("out.svg"), (call, at)
                cut += 1
    print("# %d verbs ended at a look at the clock, %d without a result" % (runs, cut), flush=True)
    assert cut > 20, cut


def test_work_between_two_looks():
    """0.2 s on the machine that it was measured on; here five times that."""
    most = {}
    n = 20000 if ALL else 6000
    table("c.csv", n, 3, width=40)
    table("n.csv", n, 0, width=40)
    for learner, more in LEARNERS.items():
        call = ["fit", learner, "n.csv" if learner in NUMBERS else "c.csv", "-k", "rbf(gamma=0.01)", *more,
                "--time-limit", "0.4", "--quiet", "--memory", "4G"]
        done, looks, gap = run("work", *call)
        most[learner] = gap
        assert gap < 1, (learner, gap)
    print("# most work between two looks at the clock: " + json.dumps(most), flush=True)


if __name__ == "__main__":
    tap.main(globals())
