"""Data larger than the memory: matrices that stay in their file while models are trained and applied.

SPDX-License-Identifier: Apache-2.0
"""

import re

import tap

try:
    import numpy as np
except ImportError:
    np = None

N = 6000


def write():
    if np is None:
        tap.skip("NumPy is not there")
    r = np.random.default_rng(1)
    x = r.random((N, 20))
    np.save("x.npy", x.astype(np.float32))
    np.save("y.npy", np.sin(7 * x[:, 0]) + x[:, 1])
    np.save("c.npy", np.where(x[:, 0] > x[:, 1], 1, -1))


def fit(memory, learner, *options):
    out = tap.mercer_json("fit", learner, "x.npy", "-k", "rbf(gamma=0.5)", "--rank", 40, "--memory",
                          memory, "-o", "m.mercer", "--quiet", *options)
    verb = "transform" if learner == "pca" else "predict"
    tap.mercer(verb, "m.mercer", "x.npy", "--memory", memory, "-o", "p.npy", "--quiet")
    return out, np.load("p.npy")


def test_models_of_data_in_a_file():
    """The data are 960 KB as doubles: a third of 2 MB is less."""
    write()
    for learner, *options in (["ridge", "--target", "y.npy", "--approx", "falkon"],
                              ["ridge", "--target", "y.npy", "--approx", "nystrom"],
                              ["ridge", "--target", "y.npy", "--approx", "rff"],
                              ["logistic", "--target", "c.npy", "--approx", "falkon"],
                              ["svm", "--target", "c.npy", "--approx", "nystrom"],
                              ["gp", "--target", "y.npy", "--approx", "sgpr", "--landmarks", "uniform",
                               "--restarts", "0", "--max-steps", "4"],
                              ["pca", "--components", "2", "--approx", "nystrom"],
                              ["kmeans", "--clusters", "2", "--restarts", "1", "--approx", "nystrom"]):
        want, p = fit("1G", learner, *options)
        got, q = fit("2M", learner, *options)
        tap.check_near(got["objective"], want["objective"], 1e-5 * abs(want["objective"]), learner)
        if learner in ("ridge", "gp", "pca"):
            assert np.abs(np.abs(p) - np.abs(q)).max() < 1e-4, learner
        else:
            assert (p == q).mean() > 0.999, learner


FEW = 600
SETTINGS = {"kmeans": ["--clusters", 2, "--restarts", 1], "erm": ["--task", "classify"],
            "nu-svm": ["--nu", 0.9], "pca": ["--components", 2]}


def test_every_learner_by_the_registry():
    """Every learner takes each approximation, from memory and from a file, or gives its reason."""
    write()
    np.save("few.npy", np.load("x.npy")[:FEW])
    for name in ("y", "c"):
        np.save(f"few-{name}.npy", np.load(f"{name}.npy")[:FEW])
    learners = tap.mercer_json("learners")["learners"]
    taken = 0
    for learner in learners:
        name, task = learner["name"], learner["task"]
        target = [] if task in ("clustering", "transformation", "detection") and name != "fisher" \
            else ["--target", "few-y.npy" if "regression" in task and name != "erm" else "few-c.npy"]
        has = any(p["name"] == "approx" for p in learner["params"]) and name != "gp"  # has its own
        taken += has
        for approx in ("nystrom", "rff", "falkon"):
            call = ["fit", name, "few.npy", *target, "-k", "rbf(gamma=0.1)", "--approx", approx,
                    "-o", "m.mercer"]
            if not has:
                done = tap.mercer(*call, status=2)
                assert re.search(f"{name} has no (primal form|approximation): ", done.stderr), done.stderr
                continue
            call += ["--rank", 40, *SETTINGS.get(name, [])]
            want = tap.mercer_json(*call, "--memory", "1G")
            got = tap.mercer_json(*call, "--memory", "200K")
            tap.check_near(got["objective"], want["objective"], 2e-4 * abs(want["objective"]),
                           f"{name} {approx}")
    assert taken == 13 and len(learners) == 17, (taken, len(learners))
    # What stays in its file is approximated, if the choice is left to the learner.
    got = tap.mercer_json("fit", "ridge", "few.npy", "--target", "few-y.npy", "-k", "rbf(gamma=0.1)",
                          "--approx", "auto", "--rank", 40, "--memory", "200K")
    tap.check_equal(got["approx"]["kind"], "falkon")


def test_what_needs_memory_is_refused():
    write()
    done = tap.mercer("fit", "ridge", "x.npy", "--target", "y.npy", "-k", "rbf(gamma=1)", "--approx",
                      "falkon", "--rank", 40, "--scale", "standard", "--memory", "2M", status=1)
    assert "memory" in done.stderr and done.stderr.count("\n") == 1, done.stderr


if __name__ == "__main__":
    tap.main(globals())
