"""--json: one object on standard output with the keys that never change, and nothing else there.

SPDX-License-Identifier: Apache-2.0
"""

import json

import tap


def prepare():
    tap.mercer("sample", "moons", "-n", 30, "-o", "d.csv")


def one_object(*call):
    out = tap.mercer(*call, "--json")
    tap.check_equal(out.stderr, "")
    assert out.stdout.endswith("}\n") and out.stdout.count("\n") == 1
    found = json.loads(out.stdout, parse_constant=lambda word: 1 / 0)
    assert isinstance(found, dict)
    return found


def test_every_verb():
    prepare()
    for call, keys in (
            (["gram", "d.csv", "-k", "linear"], "rows cols kernel seconds seconds_total"),
            (["gram", "d.csv", "-k", "linear", "-o", "g.npy"], "rows cols kernel seconds output"),
            (["check", "linear"], "valid reason rules min_eigenvalue counterexample"),
            (["check", "-1*linear", "d.csv"], "valid reason rules min_eigenvalue counterexample"),
            (["geometry", "d.csv", "-k", "linear"], "n kernel length to_mean nearest farthest"),
            (["info", "d.csv"], "n fields targets seconds"),
            (["sample"], "samples"), (["sample", "xor"], "name n seed"),
            (["kernels"], "kernels"), (["kernels", "rbf"], "kernels"),
            (["help"], "verbs"), (["help", "gram"], "name usage options examples"),
            (["gram", "--help"], "name usage options examples"), (["version"], "version")):
        found = one_object(*call)
        for key in keys.split():
            assert key in found, (call, key, sorted(found))


def test_counterexample_keys():
    found = one_object("check", "-1*linear")["counterexample"]
    assert {"objects", "gram", "t", "value"} <= set(found), found


def test_strings_are_escaped():
    with open('a "b"\\\t.csv', "w") as f:
        f.write('x,y\n1,"q""\\é"\n2,b\n')
    found = one_object("info", 'a "b"\\\t.csv')
    tap.check_equal(found["file"], 'a "b"\\\t.csv')
    tap.check_equal(found["targets"]["classes"][0]["name"], 'q"\\é')


def test_numbers_are_exact():
    with open("d.csv", "w") as f:
        f.write("x,y\n0.1,1\n0.3,2\n")
    found = one_object("gram", "d.csv", "-k", "linear")
    tap.check_equal(found["max"], 0.3 * 0.3)


if __name__ == "__main__":
    tap.main(globals())
