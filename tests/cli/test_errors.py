"""Calls that are off: exit status, one line that says what, the nearest valid word.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess

import tap


def refused(args, said, status=2, **more):
    """The call ends with `status`, says exactly `said` on standard error, nothing on output; under
    --json an error object with the same text."""
    done = tap.mercer(*args, status=status, **more)
    tap.check_equal(done.stderr, "mercer: " + said + "\n", "standard error")
    tap.check_equal(done.stdout, "", "standard output")
    done = tap.mercer("--json", *args, status=status, **more)
    tap.check_equal(done.stderr, "mercer: " + said + "\n", "standard error")
    error = json.loads(done.stdout)["error"]
    tap.check_equal(sorted(set(error) & {"message", "file", "line"}), ["file", "line", "message"])
    assert said.split("\n")[0].endswith(error["message"]), error
    return error


def data():
    with open("d.csv", "w") as f:
        f.write("a,b,y\n1,2,1\n3,4,-1\n5,7,1\n")
    return "d.csv"


def test_no_verb_shows_the_verbs():
    done = tap.mercer(status=2)
    assert done.stderr.startswith("usage: mercer VERB"), done.stderr
    tap.check_equal(done.stdout, "")
    error = json.loads(tap.mercer("--json", status=2).stdout)["error"]
    assert "verb is missing" in error["message"]


def test_unknown_verb():
    refused(["gramm"], 'unknown verb "gramm" (did you mean "gram"?)')
    refused(["geo"], 'unknown verb "geo" (did you mean "geometry"?)')
    refused(["xyzzy", "--foo"], 'unknown verb "xyzzy" (see mercer help)')
    refused(["help", "chekc"], 'help: unknown verb "chekc" (did you mean "check"?)')
    refused(["help", "qqqq"], 'help: unknown verb "qqqq" (mercer help lists them)')


def test_parentheses_are_missing():
    for kernel, said in (("rbf gamma=1", "write rbf(gamma=...)"),
                         ("rbf[gamma=1]", "write rbf(name=value)"),
                         ("rbf(linear)", '"linear" is read as the name of a field')):
        done = tap.mercer("gram", data(), "-k", kernel, status=2)
        assert said in done.stderr.split("\n")[0], done.stderr


def test_unknown_option():
    refused(["gram", data(), "--kernle", "linear"],
            'gram: unknown option "--kernle" (did you mean "--kernel"?)')
    refused(["gram", data(), "--kernle=linear"],
            'gram: unknown option "--kernle" (did you mean "--kernel"?)')
    refused(["gram", "d.csv", "-x"], 'gram: unknown option "-x" (see mercer help gram)')
    refused(["gram", "d.csv", "--qqqqqq"],
            'gram: unknown option "--qqqqqq" (see mercer help gram)')
    refused(["kernels", "-k", "linear"], 'kernels: unknown option "-k" (see mercer help kernels)')
    # What users of LIBSVM write.
    for call, said in ((["-c", "100"], '"-c" (did you mean -C 100?)'),
                       (["-c10"], '"-c" (did you mean -C 10?)'),
                       (["-g", "0.25"], "\"-g\" (did you mean -k 'rbf(gamma=0.25)'?)"),
                       (["--gamma=2"], "\"--gamma\" (did you mean -k 'rbf(gamma=2)'?)"),
                       (["--gamma", "scale"], "\"--gamma\" (did you mean -k 'rbf(gamma=0.5)'?)"),
                       (["-d"], "\"-d\" (did you mean -k 'poly(degree=3)'?)")):
        refused(["fit", "svm", "d.csv", *call], "fit: unknown option " + said)
    refused(["gram", "d.csv", "-g", "1"], 'gram: unknown option "-g" (see mercer help gram)')
    refused(["--kernel", "linear", "gram"], 'unknown option "--kernel" (options follow '
            'the verb: see mercer help)')


def test_options_without_or_with_odd_values():
    refused(["gram", data(), "-k"], "gram: -k needs a value: -k KERNEL")
    refused(["gram", "d.csv", "-k", "--center"], "gram: -k needs a value: -k KERNEL")
    refused(["gram", "d.csv", "--kernel="], "gram: --kernel: the value is empty")
    refused(["gram", "d.csv", "-k", ""], "gram: -k: the value is empty")
    refused(["gram", "d.csv", "--center=yes"], "gram: --center takes no value")
    refused(["info", "d.csv", "--threads", "two"],
            'info: --threads: "two" is not a whole number')
    refused(["info", "d.csv", "--threads=1.5"], 'info: --threads: "1.5" is not a whole number')
    refused(["info", "d.csv", "--threads", "0"], "info: --threads: 0 is too small (at least 1)")
    refused(["info", "d.csv", "--threads", "99999999999999999999"],
            "info: --threads: 99999999999999999999 does not fit in 64 bits")
    refused(["info", "d.csv", "--memory", "lots"],
            'info: --memory: "lots" is not a size (write 500K, 64M or 2G)')
    refused(["info", "d.csv", "--memory", "64Q"],
            'info: --memory: "64Q" is not a size (write 500K, 64M or 2G)')
    refused(["info", "d.csv", "--memory", "0"], "info: --memory: 0 is too small")
    refused(["info", "d.csv", "--seed", "-3"],
            'info: --seed: "-3" is not a seed (a whole number from 1 to 2^64 - 1)')
    refused(["info", "d.csv", "--seed", "0"],
            'info: --seed: "0" is not a seed (a whole number from 1 to 2^64 - 1)')
    refused(["sample", "moons", "--noise", "loud"], 'sample: --noise: "loud" is not a number')
    refused(["sample", "moons", "--noise", "nan"], 'sample: --noise: "nan" is not a number')
    refused(["sample", "moons", "--noise", "-1"],
            "sample: --noise: -1 is too small (at least 0)")
    refused(["sample", "moons", "-n", "0"], "sample: -n: 0 is too small (at least 1)")


def test_words_too_few_or_too_many():
    usage = "(usage: mercer gram DATA [DATA2] -k KERNEL [-o FILE.npy] [--center])"
    refused(["gram", "-k", "linear"], "gram: DATA is missing " + usage)
    refused(["gram", "a", "b", "c", "-k", "linear"], 'gram: unexpected word "c" ' + usage)
    refused(["gram", data()], "gram: -k KERNEL is missing (the kernel, e.g. 'rbf(gamma=0.5)'; "
            "mercer kernels lists them)")
    refused(["gram", "-", "-", "-k", "linear"],
            "gram: DATA and DATA2 cannot both be standard input")
    refused(["check"], "check: KERNEL is missing (usage: mercer check KERNEL [DATA])")
    refused(["info"], "info: DATA is missing (usage: mercer info FILE)")
    refused(["version", "now"], 'version: unexpected word "now" (usage: mercer version)')
    refused(["geometry", "-k", "linear"],
            "geometry: DATA is missing (usage: mercer geometry DATA [DATA2] -k KERNEL [--distances] [-o FILE])")


def test_kernel_faults_are_underlined():
    error = refused(["gram", data(), "-k", "rbff(gamma=1) + linear"],
                    'kernel: unknown kernel "rbff" (did you mean "rbf"?)\n'
                    "    rbff(gamma=1) + linear\n"
                    "    ^~~~")
    tap.check_equal([error["expression"], error["column"], error["length"]],
                    ["rbff(gamma=1) + linear", 0, 4])
    done = tap.mercer("check", "linear + rbff(gamma=1)", status=2)
    lines = done.stderr.splitlines()
    tap.check_equal(lines[1:], ["    linear + rbff(gamma=1)", "             ^~~~"])
    long = " + ".join(["linear"] * 40) + " + rbff(gamma=1) + " + " + ".join(["linear"] * 40)
    lines = tap.mercer("check", long, status=2).stderr.splitlines()
    tap.check_equal(len(lines), 3)
    at = lines[2].index("^~~~")
    tap.check_equal(lines[1][at:at + 4], "rbff")
    assert len(lines[1]) < 120


def test_files_that_are_not_there():
    done = tap.mercer("info", "nowhere.csv", "--json", status=1)
    assert done.stderr.startswith("mercer: nowhere.csv: "), done.stderr
    error = json.loads(done.stdout)["error"]
    tap.check_equal(error["file"], "nowhere.csv")
    tap.check_equal(error["line"], None)
    done = tap.mercer("gram", data(), "nowhere.csv", "-k", "linear", status=1)
    assert done.stderr.startswith("mercer: nowhere.csv: "), done.stderr


def test_bad_data_names_file_and_line():
    with open("bad.svm", "w") as f:
        f.write("1 1:0.5 2:1\n-1 1:0.1 2:x\n")
    done = tap.mercer("info", "bad.svm", "--json", status=1)
    assert done.stderr.startswith("mercer: bad.svm:2: "), done.stderr
    error = json.loads(done.stdout)["error"]
    tap.check_equal([error["file"], error["line"]], ["bad.svm", 2])
    assert not error["message"].startswith("bad.svm"), error
    tap.check_equal(done.stderr, "mercer: bad.svm:2: " + error["message"] + "\n")


def test_one_line_whatever_is_in_the_words():
    done = tap.mercer("gra\nm\x1b[31m", status=2)
    tap.check_equal(done.stderr.count("\n"), 1)
    assert "\x1b" not in done.stderr
    done = tap.mercer("no\nsuch", "--json", status=2)
    json.loads(done.stdout)
    odd = subprocess.run([tap.MERCER, "info", b"\xff\xfe", "--json"], capture_output=True)
    tap.check_equal(odd.returncode, 1)
    tap.check_equal(json.loads(odd.stdout)["error"]["file"], "\ufffd\ufffd")


def test_options_stand_anywhere():
    data()
    wanted = tap.mercer("gram", "d.csv", "-k", "linear", "--json").stdout
    wanted = json.loads(wanted)
    for call in (["gram", "-k", "linear", "d.csv"], ["gram", "-klinear", "d.csv"],
                 ["gram", "--kernel=linear", "d.csv"],
                 ["gram", "--kernel", "linear", "--", "d.csv"],
                 ["--threads", "1", "gram", "d.csv", "-k", "linear"],
                 ["--threads=1", "--quiet", "gram", "-k", "linear", "d.csv", "--memory", "64M"],
                 ["gram", "d.csv", "-k", "rbf(gamma=1)", "-k", "linear", "--memory", "64MiB"]):
        got = json.loads(tap.mercer("--json", *call).stdout)
        for key in ("rows", "cols", "kernel", "min", "max", "mean"):
            tap.check_equal(got[key], wanted[key], key)


def test_two_dashes_end_the_options():
    os.mkdir("-k")
    with open("--json", "w") as f:
        f.write("a,y\n1,1\n2,-1\n")
    out = tap.mercer("info", "--format", "csv", "--", "--json").stdout
    assert "objects    2" in out, out


def test_standard_output_that_is_full():
    if not os.path.exists("/dev/full"):
        tap.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([tap.MERCER, "kernels"], stdout=full, stderr=subprocess.PIPE,
                              text=True)
    tap.check_equal(done.returncode, 1)
    tap.check_equal(done.stderr, "mercer: standard output: No space left on device\n")


def test_a_reader_that_goes_away():
    call = "'%s' kernels | true; echo ${PIPESTATUS[0]}" % tap.MERCER
    done = subprocess.run(["bash", "-c", call], capture_output=True, text=True)
    tap.check_equal(done.stderr, "")
    call = "trap '' PIPE; '%s' sample moons -n 100000 | true" % tap.MERCER
    done = subprocess.run(["bash", "-c", call], capture_output=True, text=True)
    assert "Aborted" not in done.stderr and "fault" not in done.stderr


if __name__ == "__main__":
    tap.main(globals())
