"""mercer check: verdicts, rules, counter-examples that hold.

SPDX-License-Identifier: Apache-2.0
"""

import json

import numpy as np

import tap

KEYS = {"kernel", "valid", "reason", "rules", "tested", "min_eigenvalue", "bound",
        "counterexample", "seconds"}


def points(n=40):
    tap.mercer("sample", "rings", "-n", n, "-o", "rings.csv")
    return "rings.csv"


def holds(found):
    """t'Gt is what is claimed, and negative."""
    g, t = np.array(found["gram"]), np.array(found["t"])
    assert g.shape == (len(found["objects"]),) * 2 and t.shape == g.shape[:1]
    tap.check_near(t @ g @ t, found["value"], 1e-9, "t'Gt")
    assert found["value"] < 0
    tap.check_equal(len(found["shown"]), len(found["objects"]))


def test_yes_by_the_rules():
    out = tap.mercer_json("check", "2*rbf(gamma=0.5) + poly(degree=2, c=1) * linear")
    assert KEYS <= set(out), KEYS - set(out)
    tap.check_equal(out["valid"], "yes")
    tap.check_equal(out["counterexample"], None)
    assert len(out["rules"]) >= 4, out["rules"]


def test_yes_on_data():
    out = tap.mercer_json("check", "rbf(gamma=2)", points())
    tap.check_equal([out["valid"], out["tested"]], ["yes", 40])
    assert out["min_eigenvalue"] >= -out["bound"]


def test_no_with_one_object():
    points()
    for words in (["-1*linear"], ["--", "-1*linear"], ["-1*linear", "rings.csv"]):
        out = json.loads(tap.mercer("check", "--json", *words).stdout)
        tap.check_equal(out["valid"], "no")
        tap.check_equal(len(out["counterexample"]["objects"]), 1)
        holds(out["counterexample"])


def test_no_with_the_fewest_objects():
    out = tap.mercer_json("check", "sigmoid(a=1, b=-1)", points())
    tap.check_equal(out["valid"], "no")
    holds(out["counterexample"])
    assert len(out["counterexample"]["objects"]) <= 2, out["counterexample"]


def test_series_and_transforms():
    """Functions of x.z by the signs of their power series, of the distance by their transform. What is
    refused is refused with an example."""
    for kernel, valid in (
            ("exp(linear) + -1*linear", "yes"),
            ("exp(linear) + -1.01*linear", "no"),
            ("exp(linear + -1)", "yes"),
            ("exp(-1*linear)", "no"),
            ("(linear + -1)^2", "no"),
            ("poly(degree=3, c=1) + -3*linear^2", "yes"),
            ("poly(degree=3, c=1) + -3.1*linear^2", "no"),
            ("exp(linear)*linear + -1*linear^2", "yes"),
            ("2*(exp(0.5*linear) + -0.5*linear + -1)*rbf(gamma=1)", "yes"),
            ("linear(x) + -0.5*linear(y)", "unknown"),
            ("2*rbf(gamma=1) + -1*rbf(gamma=1)", "yes"),
            ("rbf(gamma=2) + -0.5*rbf(gamma=1)^2", "yes"),
            ("rbf(gamma=1) + -0.1", "no"),
            ("rbf(gamma=1) + -0.5*rbf(gamma=2)", "no"),
            ("matern(nu=2.5) + -0.1*matern(nu=0.5)", "no"),
            ("-2^2*linear", "no")):
        out = tap.mercer_json("check", kernel)
        tap.check_equal(out["valid"], valid, kernel)
        if valid == "no":
            assert out["counterexample"], kernel
            holds(out["counterexample"])


def test_a_difference_is_found_on_data():
    out = tap.mercer_json("check", "linear + -1*rbf(gamma=1)", points())
    tap.check_equal(out["valid"], "no")
    holds(out["counterexample"])


def test_the_smallest_eigenvalue_of_many():
    """Of more than 512 objects by Lanczos' method: the value that NumPy finds, and the same verdict."""
    tap.mercer("sample", "friedman", "-n", 700, "-o", "many.csv")
    x = np.loadtxt("many.csv", delimiter=",", skiprows=1)[:, :-1]
    squares = ((x[:, None] - x[None]) ** 2).sum(2)
    for kernel, k in (
            ("rbf(gamma=0.5)", np.exp(-0.5 * squares)),
            ("linear", x @ x.T),
            ("rbf(gamma=1) + -0.9*rbf(gamma=1.1)", np.exp(-squares) - 0.9 * np.exp(-1.1 * squares)),
            ("rbf(gamma=0.01) + -0.00001*rbf(gamma=5)",
             np.exp(-0.01 * squares) - 1e-5 * np.exp(-5 * squares))):
        out = tap.mercer_json("check", kernel, "many.csv", "-n", 700)
        least = np.linalg.eigvalsh(k)[0]
        assert abs(out["min_eigenvalue"] - least) <= out["bound"] + 1e-7 * abs(least), (kernel, out)
        tap.check_equal(out["counterexample"] is None, bool(least > -out["bound"]), kernel)
        if out["counterexample"]:
            holds(out["counterexample"])


def test_text_for_people():
    done = tap.mercer("check", "-1*linear", status=0)
    assert "\nvalid      no: " in done.stdout, done.stdout
    assert done.stdout.startswith("kernel     -1*linear\nrules      "), done.stdout
    assert "Counter-example: 1 object with t'Gt = -" in done.stdout
    assert "\x1b" not in done.stdout
    tap.check_equal(done.stderr, "")
    assert "\nvalid      yes: " in tap.mercer("check", "linear").stdout


def test_fewer_objects():
    out = tap.mercer_json("check", "rbf(gamma=2)", points(), "-n", 10)
    tap.check_equal(out["tested"], 10)


def test_bad_calls():
    tap.mercer("check", "linear", "nowhere.csv", status=1)
    tap.mercer("check", "linear(", status=2)
    tap.mercer("check", "rbf(gamma=-1)", status=2)
    tap.mercer("check", "linear", points(), "-n", "0", status=2)


if __name__ == "__main__":
    tap.main(globals())
