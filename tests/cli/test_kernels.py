"""mercer kernels: the list, one kernel, its parameters.

SPDX-License-Identifier: Apache-2.0
"""

import re

import tap


def kernels():
    return tap.mercer_json("kernels")["kernels"]


def test_list_for_programs():
    found = kernels()
    names = [k["name"] for k in found]
    assert "linear" in names and "rbf" in names and "poly" in names
    tap.check_equal(len(names), len(set(names)), "distinct names")
    for k in found:
        assert {"name", "summary", "params", "kinds", "indefinite", "features"} <= set(k), k
        assert k["summary"]
        for p in k["params"]:
            assert {"name", "default", "min", "max", "help"} <= set(p), p
            assert p["help"], (k["name"], p["name"])
            if p["min"] is not None and isinstance(p["default"], (int, float)):
                assert p["min"] <= p["default"], p
            if p["type"] == "choice" and p["default"] is not None:
                assert p["default"] in p["choices"].split("|"), p


def test_limits_and_defaults():
    poly = [k for k in kernels() if k["name"] == "poly"][0]
    degree = [p for p in poly["params"] if p["name"] == "degree"][0]
    tap.check_equal([degree["type"], degree["min"]], ["integer", 1])
    rbf = [k for k in kernels() if k["name"] == "rbf"][0]
    assert {"gamma", "sigma", "width", "beta"} <= {p["name"] for p in rbf["params"]}


def test_list_for_people():
    out = tap.mercer("kernels").stdout
    assert out.startswith("On vectors:\n"), out
    for k in kernels():
        assert re.search(r"^  %s  +\S" % re.escape(k["name"]), out, re.M), k["name"]


def test_every_kernel_on_its_own():
    for k in kernels():
        out = tap.mercer("kernels", k["name"]).stdout
        assert out.startswith("kernel     %s\n" % k["name"]), out
        for p in k["params"]:
            assert re.search(r"^%s  +\S" % re.escape(p["name"]), out, re.M), (p["name"], out)
        tap.check_equal(tap.mercer_json("kernels", k["name"])["kernels"], [k])
        assert not re.search(r" $", out, re.M), out


def test_bad_calls():
    done = tap.mercer("kernels", "rbff", status=2)
    tap.check_equal(done.stderr, 'mercer: kernels: unknown kernel "rbff" (did you mean "rbf"?)\n')
    tap.mercer("kernels", "rbf", "poly", status=2)


if __name__ == "__main__":
    tap.main(globals())
