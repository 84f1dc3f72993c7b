"""Help: every verb has usage, options and examples, and the examples work.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import subprocess

import tap


def verbs():
    return [v["name"] for v in tap.mercer_json("help")["verbs"]]


def examples_of(text):
    """The lines below "Examples:", up to an empty one."""
    lines = text.split("\nExamples:\n", 1)[1].split("\n\n", 1)[0].splitlines()
    found = [line.strip() for line in lines]
    assert found and all(line.startswith("mercer ") for line in found), found
    return found


def shell(script):
    """Runs a script in which `mercer` is the program under test."""
    if not os.path.exists("bin/mercer"):
        os.mkdir("bin")
        os.symlink(os.path.abspath(tap.MERCER), "bin/mercer")
    path = os.path.abspath("bin") + os.pathsep + os.environ["PATH"]
    return subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True,
                          env=dict(os.environ, PATH=path), timeout=100)


def run_in_shell(line):
    done = shell(line)
    assert done.returncode == 0, "%s\nstatus %d\n%s" % (line, done.returncode, done.stderr)


def test_overview_lists_every_verb():
    out = tap.mercer("help").stdout
    for verb in ("gram", "check", "geometry", "info", "sample", "kernels", "help", "version"):
        assert re.search(r"^  %s +\S" % verb, out, re.M), verb
        assert verb in verbs()
    tap.check_equal(tap.mercer("--help").stdout, out)
    tap.check_equal(tap.mercer("-h").stdout, out)


def test_each_verb_explains_itself():
    for verb in verbs():
        out = tap.mercer("help", verb).stdout
        assert out.startswith("usage: mercer " + verb), out
        assert "\nCommon options:\n" in out
        tap.check_equal(tap.mercer(verb, "--help").stdout, out, verb + " --help")
        tap.check_equal(tap.mercer(verb, "--nonsense", "-h").stdout, out, verb + " -h")
        tap.check_equal(tap.mercer("--help", verb).stdout, out, "--help " + verb)
        assert max(map(len, out.splitlines())) <= 100, [x for x in out.splitlines()
                                                        if len(x) > 100]


def test_json_of_the_help_has_the_options():
    for verb in verbs():
        shown = tap.mercer_json("help", verb)
        tap.check_equal(shown["name"], verb)
        text = tap.mercer("help", verb).stdout
        tap.check_equal(shown["examples"], examples_of(text))
        for option in shown["options"]:
            assert "--" + option["name"] in text
            assert option["help"]


def test_examples_of_the_overview_work():
    for line in examples_of(tap.mercer("help").stdout):
        run_in_shell(line)


def test_examples_of_the_verbs_work():
    for verb in verbs():
        for line in examples_of(tap.mercer("help", verb).stdout):
            run_in_shell(line)


def test_examples_of_the_manual_work():
    text = (tap.ROOT / "man" / "mercer.1").read_text()
    lines = re.findall(r"^mercer .*$", text.split(".Sh EXAMPLES")[1], re.M)
    assert len(lines) >= 8
    for line in lines:
        run_in_shell(line)


def test_manual_knows_every_verb_and_option():
    text = (tap.ROOT / "man" / "mercer.1").read_text()
    for verb in verbs():
        assert ".Cm " + verb in text, verb
        for option in tap.mercer_json("help", verb)["options"]:
            assert ".It Fl -%s" % option["name"] in text or (
                option["letter"] and "Fl -%s" % option["name"] in text), option["name"]


def test_version():
    out = tap.mercer("version").stdout
    assert re.fullmatch(r"mercer \d+\.\d+\.\d+\n", out), out
    tap.check_equal(tap.mercer("--version").stdout, out)
    tap.check_equal(tap.mercer("-V").stdout, out)
    tap.check_equal(tap.mercer_json("version"), {"version": out.split()[1]})
    tap.check_equal(tap.mercer_json("--version"), {"version": out.split()[1]})


def test_completion_offers_words():
    script = tap.ROOT / "share" / "completions" / "mercer.bash"

    def offered(*words):
        call = ("source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _mercer; echo \"${COMPREPLY[*]}\""
                % (script, " ".join("'%s'" % w for w in words), len(words) - 1))
        return shell(call).stdout.split()

    tap.check_equal(offered("mercer", "ge"), ["geometry"])
    tap.check_equal(offered("mercer", "gram", "d.csv", "--ker"), ["--kernel"])
    assert "moons" in offered("mercer", "sample", "")
    assert "rbf" in offered("mercer", "gram", "d.csv", "-k", "r")


if __name__ == "__main__":
    tap.main(globals())
