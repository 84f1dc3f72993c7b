"""fit --checkpoint: killed at any point and run again, a training ends with the bytes of one that was never
interrupted. The kill comes at a count of files that are written, and the clock leaps, so that the state is
written at every chance there is: no test depends on time.

SPDX-License-Identifier: Apache-2.0
"""

import os
import random
import re
import signal
import struct
import subprocess
import zlib

import tap

SHIM, CLOCK = os.environ.get("MERCER_SHIM", ""), os.environ.get("MERCER_CLOCK", "")
ALL = bool(os.environ.get("MERCER_ALL"))

# What is sampled, and the words of the training. svm: rounds with a small cache and shrinking, a
# set that is everything, pairs with probabilities, one-vs-rest, features.
RBF = ["-k", "rbf(gamma=0.5)"]
CASES = {
    "svm": ("moons -n 12000 --noise 0.3", ["svm", *RBF, "-C", "10", "--cache", "3"]),
    "svm small": ("moons -n 600 --noise 0.4", ["svm", *RBF, "-C", "1e6"]),
    "svm pairs": ("blobs -n 900", ["svm", *RBF, "--probability"]),
    "svm rest": ("blobs -n 700", ["svm", *RBF, "--multiclass", "ovr"]),
    "svm falkon": ("moons -n 3000", ["svm", *RBF, "--approx", "falkon", "--rank", "60"]),
    "svm sample": ("moons -n 20000 --noise 0.3", ["svm", *RBF, "--approx", "rff", "--rank", "40"]),
    "svm left out": ("moons -n 24000 --noise 0.3", ["svm", "-k", "rbf(gamma=30)", "--approx", "falkon", "--rank", "60"]),
    "svm sparse": ("motifs -n 400", ["svm", "-k", "spectrum(p=6)", "--form", "primal"]),
    "nu-svm": ("moons -n 3000", ["nu-svm", *RBF]),
    "svr": ("friedman -n 3000", ["svr", *RBF, "-C", "10"]),
    "svr free": ("friedman -n 1500", ["svr", *RBF, "-C", "100"]),  # the working set becomes everything
    "nu-svr": ("friedman -n 1500", ["nu-svr", *RBF]),
    "one-class": ("moons -n 4000", ["one-class", *RBF]),
    "l1-svm": ("blobs -n 300", ["l1-svm", *RBF]),
    "ridge": ("friedman -n 3000", ["ridge", *RBF, "--lambda", "0.01", "--memory", "20M"]),
    "ridge falkon": ("friedman -n 4000", ["ridge", *RBF, "--lambda", "1e-5", "--approx", "falkon", "--rank", "200",
                                          "--tol", "1e-12"]),
    "ridge features": ("motifs -n 400", ["ridge", "-k", "spectrum(p=8)", "--form", "primal", "--lambda", "0.1"]),
    "logistic": ("moons -n 1500 --noise 0.3", ["logistic", *RBF, "--lambda", "1e-4"]),
    "logistic falkon": ("blobs -n 3000 --noise 1.5", ["logistic", *RBF, "--lambda", "1e-4", "--approx", "falkon",
                                                      "--rank", "100"]),
    "erm": ("friedman -n 800", ["erm", *RBF, "--loss", "absolute"]),
    "erm huber": ("friedman -n 1500", ["erm", *RBF, "--loss", "huber"]),
    "gp": ("friedman -n 300", ["gp", *RBF, "--restarts", "1"]),
    "gp samples": ("sinc -n 1600", ["gp", *RBF, "--restarts", "1", "--max-steps", "4"]),
    "gp classes": ("moons -n 200", ["gp", *RBF]),
    "gp sgpr": ("friedman -n 800", ["gp", *RBF, "--approx", "sgpr", "--rank", "30", "--restarts", "1"]),
    "gp large": ("friedman -n 2000", ["gp", *RBF, "--optimize", "no", "--memory", "15M"]),
    "kmeans": ("moons -n 1500", ["kmeans", *RBF, "--clusters", "5", "--restarts", "3"]),
    "kmeans rff": ("moons -n 1500", ["kmeans", *RBF, "--clusters", "5", "--restarts", "2", "--approx", "rff",
                                     "--rank", "50"]),
    "pegasos": ("moons -n 7000 --noise 0.3", ["pegasos", *RBF, "--passes", "6"]),
    "pegasos rff": ("moons -n 3000", ["pegasos", *RBF, "--approx", "rff", "--rank", "50"]),
    "perceptron": ("blobs -n 7000 --noise 2", ["perceptron", *RBF, "--passes", "4"]),
    "perceptron voted": ("moons -n 1500 --noise 0.3", ["perceptron", *RBF, "--variant", "voted", "--passes", "5"]),
}
USUAL = {"svm", "svm pairs", "svr free", "ridge", "logistic", "gp", "kmeans", "perceptron"}  # the others by --all


def prepare():
    for name in (SHIM, CLOCK):
        if not os.path.exists(name):
            tap.skip("no library that kills and one that has another clock: not with sanitizers")
    with open(tap.MERCER, "rb") as f:
        if b"__asan_init" in f.read():
            tap.skip("the sanitizers have an allocator of their own")


def fit(words, kill=None, status=0, **more):
    """kill: at which file that is written; 0: at none, and they are counted."""
    env = dict(more)
    if kill is not None:
        env.update(LD_PRELOAD=SHIM + ":" + CLOCK, CLOCK="leap", FAULT="fsync-kill", FAULT_AT=str(kill),
                   FAULT_COUNT="count")
    done = subprocess.run([tap.MERCER, "fit", *words, "--quiet", "--threads", "1"], capture_output=True, text=True,
                          timeout=600, env=dict(os.environ, **env))
    wanted = (0, -signal.SIGKILL) if status is None else (status,)
    assert done.returncode in wanted, (done.returncode, words, done.stderr)


def content(name):
    with open(name, "rb") as f:
        return f.read()


def one_case(name):
    prepare()
    made, words = CASES[name]
    tap.mercer("sample", *made.split(), "-o", "d.csv", "--seed", "1")
    words = [words[0], "d.csv", *words[1:]]
    fit([*words, "-o", "whole.mercer"])
    wanted = content("whole.mercer")
    kept = [*words, "--checkpoint", "c", "-o", "m.mercer"]
    fit(kept, kill=0)
    assert content("m.mercer") == wanted, "a checkpoint changes the model"
    count = int(content("count")) - 1  # the last file is the model
    assert count >= 2, "%d files were written: the state was not kept on the way" % count
    print("# %s: %d states" % (name, count))
    for kill in range(2, count + 2) if ALL and count < 40 else sorted({2, (count + 3) // 2, count + 1}):
        os.remove("c")
        fit(kept, kill=kill, status=-signal.SIGKILL)
        os.remove("m.mercer")
        fit(kept)
        assert content("m.mercer") == wanted, "another model after a kill at file %d of %d" % (kill, count)
    # Killed again and again, each time after one more state.
    os.remove("c")
    os.remove("m.mercer")
    runs = 0
    for run in range(5):
        if not os.path.exists("m.mercer"):
            fit(kept, kill=3 if run < 4 else None, status=-signal.SIGKILL if run == 0 else None)
            runs += 1
    assert content("m.mercer") == wanted, "another model after %d runs" % runs
    # Once more: what is done is there.
    fit(kept)
    assert content("m.mercer") == wanted


def add(name):
    def run():
        one_case(name)
    run.__doc__ = "%s, killed and resumed" % name
    globals()["test_" + name.replace(" ", "_").replace("-", "_")] = run


for case in CASES:
    if ALL or case in USUAL:
        add(case)


def test_again():
    """From a state of the beginning, with another number of threads; also with sanitizers."""
    for name, (made, words) in CASES.items():
        tap.mercer("sample", *made.split(), "-o", "d.csv", "--seed", "1")
        words = [words[0], "d.csv", *words[1:], "--quiet", "--memory", "2G"] if "--memory" not in words else [
            words[0], "d.csv", *words[1:], "--quiet"]
        tap.mercer("fit", *words, "-o", "whole.mercer")
        for threads in (2, 1):
            tap.mercer("fit", *words, "--checkpoint", "c", "-o", "m.mercer", "--threads", threads)
            assert content("m.mercer") == content("whole.mercer"), "%s with %d threads" % (name, threads)
        os.remove("c")


def refused(words, text):
    done = tap.mercer("fit", *words, "--quiet", status=1)
    tap.check_equal(len(done.stderr.splitlines()), 1, "lines")
    assert "c: " in done.stderr and text in done.stderr, done.stderr


def test_refused():
    """The checkpoint of other data, options, seed, kernel, version; a damaged one; what is none."""
    tap.mercer("sample", "moons", "-n", "300", "-o", "d.csv", "--seed", "1")
    tap.mercer("sample", "moons", "-n", "300", "-o", "e.csv", "--seed", "2")
    kmeans = ["kmeans", "d.csv", *RBF, "--clusters", "3"]
    tap.mercer("fit", *kmeans, "--checkpoint", "c", "--quiet")
    with_c = ["--checkpoint", "c"]
    others = [["kmeans", "e.csv", *RBF, "--clusters", "3"], ["kmeans", "d.csv", *RBF, "--clusters", "4"],
              [*kmeans, "--seed", "7"], ["kmeans", "d.csv", "-k", "rbf(gamma=0.6)", "--clusters", "3"],
              ["svm", "d.csv", *RBF]]
    for words in others:
        refused([*words, *with_c], "this is not the checkpoint of this training")
    whole = content("c")
    lines = whole.split(b"\n", 2)
    tap.check_equal(lines[0], b"mercer checkpoint")
    for made, text in ((b"\n".join([lines[0], b"0.0.1", lines[2]]), 'was written by version "0.0.1"'),
                       (whole[:-20], "damaged"), (whole[:200] + b"x" + whole[201:], "damaged"),
                       (whole + b"x", "damaged"), (b"", "not the checkpoint of a training"),
                       (b"x,y\n1,2\n", "not the checkpoint of a training")):
        with open("c", "wb") as f:
            f.write(made)
        refused([*kmeans, *with_c], text)
        tap.check_equal(content("c"), made, "the file")
    with open("c", "wb") as f:
        f.write(whole)
    tap.mercer("fit", *kmeans, *with_c, "--quiet")


def forge(state, places):
    """The state with other bytes at some places behind the first lines, and the checksum of that."""
    head = len(b"\n".join(state.split(b"\n", 3)[:3])) + 1
    made = bytearray(state[:-4])
    for at, value in places:
        made[head + at:head + at + len(value)] = value
    return bytes(made) + struct.pack("<I", zlib.crc32(made))


def kept_state(name):
    """The words of a training, and the third state that it keeps."""
    made, words = CASES[name]
    tap.mercer("sample", *made.split(), "-o", "d.csv", "--seed", "1")
    words = [words[0], "d.csv", *words[1:], "--checkpoint", "c", "-o", "m.mercer"]
    if os.path.exists("c"):
        os.remove("c")
    fit(words, kill=4, status=-signal.SIGKILL)
    return words, content("c")


def go_on_from(words, state, seconds=None):
    """It ends with a model or a message; or, after so many seconds, it is ended: what is forged may take any time."""
    with open("c", "wb") as f:
        f.write(state)
    call = [tap.MERCER, "fit", *words, "--quiet", "--threads", "1"]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    assert done.returncode == 0 or (done.returncode == 1 and done.stderr.startswith("mercer: ")), (
        words, done.returncode, done.stderr)
    assert "other settings" not in done.stderr or "or is damaged" in done.stderr, done.stderr
    return done.returncode


PART = 48 + 8  # a name and a length
WORDS = [-1, 0, 1, 2, 1 << 31, 1 << 62, -1 << 63, (1 << 63) - 1]


def test_forged():
    """States with other numbers and the right checksum are gone on with or refused."""
    prepare()
    words, state = kept_state("svm small")
    nan = struct.pack("<d", float("nan"))
    # Two coefficients; elsewhere between them the bytes could be two tiny numbers.
    tap.check_equal(go_on_from(words, forge(state, [(PART + 806, nan * 2)])), 1, "no number as a coefficient")
    words, state = kept_state("gp")
    for count, status, what in ((3, 1, "a value without its slope"), (1, 0, "scales without a value")):
        tap.check_equal(go_on_from(words, forge(state, [(PART + 8, struct.pack("<q", count))])), status, what)
    words, state = kept_state("svm sample")  # at the end of its one part: no list of objects, no preconditioner
    head = len(b"\n".join(state.split(b"\n", 3)[:3])) + 1
    rest = 8 + 2048 + 8 + 4  # an error, a byte per object of the sample, no rows, the checksum
    tap.check_equal(struct.unpack("<q", state[-rest - 40:-rest - 32])[0], -1, "all objects take part")
    longer = (state[:-rest - 40] + struct.pack("<qqddd", 1, 0, 1e9, 0, 0) + state[-rest:-12] +
              struct.pack("<q", 1 << 40) + state[-12:])
    length = struct.unpack_from("<q", state, head + 48)[0] + 8
    tap.check_equal(go_on_from(words, forge(longer, [(48, struct.pack("<q", length))])), 1, "no such object")
    draw, runs = random.Random(1), 0
    for name in CASES if ALL else ("svm pairs", "nu-svr", "logistic", "kmeans", "perceptron voted"):
        words, state = kept_state(name)
        for _ in range(20 if ALL else 4):
            space = max(len(state) - 200, 8)
            places = [(draw.randrange(min(space, draw.choice((400, 1 << 20)))),
                       draw.choice((struct.pack("<q", draw.choice(WORDS)), nan, bytes([draw.choice((2, 7, 255))]))))
                      for _ in range(draw.choice((1, 1, 3)))]
            go_on_from(words, forge(state, places), seconds=5)
            runs += 1
    print("# %d runs on forged checkpoints" % runs, flush=True)


def test_said():
    """A continued training says so, and at which step; a checkpoint never replaces the data."""
    tap.mercer("sample", "moons", "-n", "500", "--noise", "0.3", "-o", "d.csv")
    words = ["fit", "svm", "d.csv", *RBF, "-C", "100", "--checkpoint", "said"]
    assert "continues" not in tap.mercer(*words).stderr
    done = tap.mercer(*words)
    assert re.match(r"mercer: continues from said( at step \d+)?\n", done.stderr), done.stderr
    assert "continues" not in tap.mercer(*words, "--quiet").stderr
    for verb in ("fit", "tune"):
        done = tap.mercer(verb, "svm", "d.csv", "--checkpoint", "d.csv", status=2)
        assert "--checkpoint: d.csv would overwrite the input d.csv" in done.stderr, done.stderr


def test_learners_without():
    """Learners that keep none say why; nothing is written."""
    tap.mercer("sample", "moons", "-n", "60", "-o", "d.csv")
    for name in ("knn", "pca", "fisher"):
        done = tap.mercer("fit", name, "d.csv", *RBF, "--checkpoint", "c", status=2)
        assert name + " keeps no checkpoint: " in done.stderr, done.stderr
        assert not os.path.exists("c")


def test_limits():
    """A training that its time limit ends is not done: the same call continues."""
    prepare()
    tap.mercer("sample", "moons", "-n", "4000", "--noise", "0.3", "-o", "d.csv", "--seed", "1")
    words = ["svm", "d.csv", *RBF, "-C", "100", "--max-steps", "2000000", "--time-limit", "600"]
    fit([*words, "-o", "whole.mercer"])
    stopped = ["--checkpoint", "c", "-o", "m.mercer"]
    tap.mercer("fit", *words, *stopped, "--quiet", "--threads", "1",
               env={"LD_PRELOAD": CLOCK, "CLOCK": "jump:60"}, status=None)
    fit([*words, *stopped])
    tap.check_equal(content("m.mercer"), content("whole.mercer"), "the model")
    os.remove("c")
    tap.mercer("fit", *words, *stopped, "--quiet", "--threads", "1",
               env={"LD_PRELOAD": CLOCK, "CLOCK": "jump:60"}, status=None)
    for other in (["--time-limit", "6000"], []):  # as the message of the first call says: allow more
        fit([*words[:-2], *other, *stopped])
        steps, whole = (tap.mercer_json("info", m)["iterations"] for m in ("m.mercer", "whole.mercer"))
        tap.check_equal(steps, whole, "steps with " + " ".join(other))
    # gp: the search on samples ends by the clock, so another run begins on all objects elsewhere.
    tap.mercer("sample", "sinc", "-n", "1600", "-o", "e.csv", "--seed", "1")
    words = ["gp", "e.csv", *RBF, "--restarts", "1", "--time-limit", "600"]
    fit([*words, "-o", "whole.mercer"])
    for look in (40, 200):
        if os.path.exists("c"):
            os.remove("c")
        tap.mercer("fit", *words, *stopped, "--quiet", "--threads", "1",
                   env={"LD_PRELOAD": CLOCK, "CLOCK": "jump:%d" % look}, status=None)
        fit([*words, *stopped])
        tap.check_equal(content("m.mercer"), content("whole.mercer"), "gp after a stop at look %d" % look)
    os.remove("c")
    words = ["logistic", "d.csv", "-k", "rbf(gamma=2)", "--lambda", "1e-4", "--approx", "falkon", "--rank", "100",
             "--time-limit", "600"]
    fit([*words, "-o", "whole.mercer"])
    for look in (110, 140, 170, 200):  # within a step, which is not taken as it was left
        if os.path.exists("c"):
            os.remove("c")
        tap.mercer("fit", *words, *stopped, "--quiet", "--threads", "1",
                   env={"LD_PRELOAD": CLOCK, "CLOCK": "jump:%d" % look}, status=None)
        fit([*words, *stopped])
        tap.check_equal(content("m.mercer"), content("whole.mercer"), "the model after a stop at look %d" % look)


if __name__ == "__main__":
    tap.main(globals())
