"""Model files through time and accidents: old ones stay readable, and one that is being replaced is the
old one or the new one whenever the program is killed.

SPDX-License-Identifier: Apache-2.0
"""

import glob
import json
import os
import random
import struct
import subprocess
import time
import zlib

import numpy as np

import tap

MODELS = tap.ROOT / "tests" / "models"

# ---- a reader of format 1 ----------------------------------------------------------------------
# On its own: it shares nothing with the program but the description in src/model/container.h.


class Part:
    """Values one after the other out of a section."""

    def __init__(self, payload):
        self.left = payload

    def take(self, form, count=1):
        form = "<%d%s" % (count, form)
        size = struct.calcsize(form)
        assert size <= len(self.left), "the section is too short"
        values = struct.unpack(form, self.left[:size])
        self.left = self.left[size:]
        return values

    def one(self, form):
        return self.take(form)[0]

    def list(self, form):
        return list(self.take(form, self.one("q")))

    def text(self):
        length = self.one("q")
        return None if length < 0 else self.take("s", length)[0].decode()


def sections(whole):
    """Tag -> payload; checks frame and checksums."""
    assert whole[:8] == b"MERCER\r\n" and struct.unpack("<I", whole[8:12]) == (1,), whole[:12]
    found, at, tag = {}, 12, None
    while tag != b"END ":
        tag, length = struct.unpack("<4sQ", whole[at:at + 12])
        end = at + 12 + length
        tap.check_equal(struct.unpack("<I", whole[end:end + 4])[0], zlib.crc32(whole[at:end]))
        found[tag.decode()] = whole[at + 12:end]
        at = end + 4
    tap.check_equal(at, len(whole), "the end")
    return found


def read_info(payload):
    part = Part(payload)
    info = {key: part.text() for key in ("learner", "options", "version")}
    info.update({key: part.one("q") for key in ("seed", "n", "features")})
    info.update(zip(("seconds", "accuracy", "mse", "r2"), part.list("d")))
    assert not part.left
    return info


def read_classes(payload):
    part = Part(payload)
    return [part.text() for _ in range(part.one("q"))]


def read_coefficients(payload):
    """Offsets, a matrix of coefficients (outputs x objects), slopes."""
    part = Part(payload)
    part.take("I", 2)  # task and rule
    count = len(part.list("q"))
    offset = np.array(part.list("d"))
    coef = np.zeros((len(offset), count))
    for _ in range(part.one("q")):
        first, n = part.take("q", 2)
        output = part.list("i")
        coef[output, first:first + n] = np.reshape(part.list("d"), (len(output), n))
    slope = part.list("d")
    assert not part.left
    return offset, coef, slope


def read_objects(payload):
    """Field -> list of its objects: rows of a matrix, or strings."""
    part, fields = Part(payload), {}
    count, number = part.take("q", 2)
    for _ in range(number):
        name, kind, cols = part.text(), part.one("I"), part.one("q")
        if kind == 1:
            fields[name] = np.reshape(part.list("d"), (count, cols))
        else:
            start, text = part.list("q"), b"".join(part.list("c"))
            fields[name] = [text[a:b].decode() for a, b in zip(start, start[1:])]
    assert not part.left
    return fields


# ---- old models --------------------------------------------------------------------------------


def old_models():
    """Folder, name, data file, and what is expected of it."""
    for folder in sorted(MODELS.glob("version-*")):
        with open(folder / "expected.json") as f:
            for name, expected in json.load(f).items():
                yield folder / (name + ".mercer"), folder / expected["data"], expected


def table(text):
    """Rows of numbers, without the header line."""
    return np.array([[float(v) for v in line.split("\t")]
                     for line in text.splitlines() if not line.startswith("#")])


def check_table(got, wanted, what, tolerance=1e-10):
    """Scores differ between instruction sets in their last digits."""
    tap.check_equal(got.shape, np.array(wanted).shape, what)
    for a, b in zip(got.flat, np.array(wanted).flat):
        tap.check_near(a, b, tolerance, what)


def test_old_models_say_the_same():
    seen = 0
    for model, data, expected in old_models():
        name = model.parent.name + "/" + model.name
        out = tap.mercer("predict", model, data).stdout.split()
        if expected["learner"] == "svr":
            check_table(np.array([[float(v)] for v in out]), expected["scores"], name)
        else:
            tap.check_equal(out, expected["labels"], name)
        out = tap.mercer("predict", model, data, "--scores").stdout
        check_table(table(out), expected["scores"], name + " scores")
        if "proba" in expected:
            out = tap.mercer("predict", model, data, "--proba").stdout
            check_table(table(out), expected["proba"], name + " probabilities")
        shown = tap.mercer_json("info", model)
        for key in ("learner", "kernel", "class_names", "support", "objective", "version"):
            tap.check_equal(shown[key], expected[key], name + " " + key)
        seen += 1
    assert seen >= 4, "models are missing"


def test_old_models_of_all_learners_say_the_same():
    """One model of each learner at least. Training may find other numbers one day, what these say may
    not change."""
    learners = set()
    for folder in sorted(MODELS.glob("version-*")):
        with open(folder / "learners.json") as f:
            models = json.load(f)
        for name, expected in models.items():
            model, data = folder / (name + ".mercer"), folder / expected["data"]
            for ask, wanted in expected["asks"].items():
                verb, *options = ask.split()
                out = tap.mercer(verb, model, data, *options, "--quiet").stdout
                # Pre-images are iterated to 1e-9; standard deviations are roots of small
                # differences.
                tolerance = 1e-6 if "preimage" in ask or "std" in ask else 1e-9
                check_table(table(out), wanted, name + ": " + ask, tolerance)
            shown = tap.mercer_json("info", model)
            for key in ("learner", "kernel", "class_names", "support", "objective", "version"):
                tap.check_equal(shown[key], expected[key], name + " " + key)
            learners.add(expected["learner"])
    with open(MODELS / "version-1" / "expected.json") as f:
        learners |= {expected["learner"] for expected in json.load(f).values()}
    listed = {learner["name"] for learner in tap.mercer_json("learners")["learners"]}
    tap.check_equal(sorted(listed - learners), [], "learners without a model in tests/models")


def data_of(path):
    """The fields x and sequence of a data file of tests/models."""
    if path.suffix == ".jsonl":
        with open(path) as f:
            lines = [json.loads(line) for line in f]
        return {"x": np.array([v["x"] for v in lines]), "sequence": [v["sequence"] for v in lines]}
    with open(path) as f:
        rows = [line.strip().split(",")[:-1] for line in f][1:]
    return {"x": np.array(rows, dtype=float)}


def rbf(gamma, x, z):
    return np.exp(-gamma * ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2))


def spectrum(p, x, z):
    """How many different substrings two strings have in common."""
    def words(text):
        return {text[i:i + p] for i in range(len(text) - p + 1)}
    return np.array([[len(words(a) & words(b)) for b in z] for a in x], dtype=float)


KERNELS = {
    "rbf(gamma=2)": lambda a, b: rbf(2, a["x"], b["x"]),
    "rbf(gamma=0.5)": lambda a, b: rbf(0.5, a["x"], b["x"]),
    "rbf(gamma=0.1) + 0.1*spectrum": lambda a, b: rbf(0.1, a["x"], b["x"])
                                     + 0.1 * spectrum(3, a["sequence"], b["sequence"]),
}


def test_format_1_is_what_it_is_said_to_be():
    for path, data, expected in old_models():
        if path.parent.name != "version-1":
            continue
        with open(path, "rb") as f:
            part = sections(f.read())
        info, kernel = read_info(part["INFO"]), Part(part["KERN"]).text()
        tap.check_equal([info["learner"], kernel, info["version"], info["seed"]],
                        [expected["learner"], expected["kernel"], expected["version"], 1])
        tap.check_equal(read_classes(part["CLAS"]), expected["class_names"])
        offset, coef, slope = read_coefficients(part["COEF"])
        tap.check_equal(len(slope), 2 * len(offset) if "proba" in expected else 0)
        basis, objects = read_objects(part["OBJS"]), data_of(data)
        tap.check_equal(set(basis), set(objects))  # no field that the kernel does not read
        tap.check_equal(coef.shape[1], expected["support"])
        scores = offset + KERNELS[kernel](objects, basis) @ coef.T
        check_table(scores, expected["scores"], path.name)


def test_values_beyond_float():
    """The class alone is found in float first; where that is too small, double must take over."""
    with open("m.model", "w") as f:
        f.write("svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 2\nrho 0.5\n"
                "label 1 -1\nnr_sv 1 1\nSV\n1 1:2e30\n-1 2:1 \n")
    with open("x.svm", "w") as f:
        f.write("1 1:2e30\n-1 2:1\n")
    tap.check_equal(tap.mercer("predict", "m.model", "x.svm").stdout.split(), ["1", "-1"])
    tap.check_equal(tap.mercer("predict", "m.model", "x.svm", "--scores").stdout.split(),
                    ["0.5", "-1.5"])


# ---- killed while writing ----------------------------------------------------------------------

ROUNDS, SECONDS = 200, 20


def content(path):
    """What a model file says, but for how long training took. Fails unless the file is whole."""
    with open(path, "rb") as f:
        part = sections(f.read())
    return dict(part, INFO=str(dict(read_info(part["INFO"]), seconds=None)))


def temporaries():
    return set(glob.glob("m.mercer.tmp*"))


def is_writing(pid):
    """Whether the process has a file without a name open, or one with the name of a temporary one."""
    try:
        for fd in os.listdir("/proc/%d/fd" % pid):
            link = os.readlink("/proc/%d/fd/%s" % (pid, fd))
            if "m.mercer.tmp" in link or ("(deleted)" in link and os.getcwd() in link):
                return True
    except OSError:
        pass  # it has ended meanwhile
    return False


def kill_later(call, watch, delay):
    """Starts the call and kills it after `delay` seconds; watch: counted from when it writes. The
    status, and whether it was writing."""
    with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while watch and child.poll() is None and not is_writing(child.pid):
            pass
        end = time.monotonic() + delay
        while child.poll() is None and time.monotonic() < end:
            pass
        writing = is_writing(child.pid)
        child.kill()
    return child.returncode, writing and child.returncode == -9


def test_killed_while_replacing_a_model():
    """The file holds the old or the new model after every SIGKILL. The file that was being written has no
    name, so that it is gone with the program, but for the moment between its name and its place."""
    rng, draw = np.random.default_rng(1), random.Random(1)
    x = rng.normal(size=(2, 100, 1000))  # about 800 kB: writing takes a while
    np.save("y.npy", np.sign(x[0, :, 0] + x[1, :, 0]))
    calls = []
    for i in range(2):
        np.save("x%d.npy" % i, x[i])
        calls.append([tap.MERCER, "fit", "svm", "x%d.npy" % i, "--target", "y.npy", "-k",
                      "rbf(gamma=0.001)", "--threads", "1", "--quiet", "-o", "m.mercer"])
    models, began = [], 0
    for call in calls:
        began = time.monotonic()
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        models.append(content("m.mercer"))
    whole = time.monotonic() - began
    assert models[0] != models[1]
    now, killed, replaced, rounds, met = 1, 0, 0, 0, 0
    start = time.monotonic()
    while rounds < ROUNDS and time.monotonic() - start < SECONDS:
        watch = rounds % 4 != 0  # most of them while writing, the others at any time
        delay = draw.uniform(0, 0.003) if watch else draw.uniform(0, whole)
        status, writing = kill_later(calls[1 - now], watch, delay)
        assert status in (0, -9), status
        found = content("m.mercer")
        assert found in models, "neither the old nor the new model"
        changed = found == models[1 - now]
        assert status != 0 or changed, "a run that ended well did not replace the model"
        rounds, killed, replaced = rounds + 1, killed + (status == -9), replaced + changed
        met += writing
        now = 1 - now if changed else now
    left = temporaries()
    print("# %d runs, %d killed, %d of them while writing, %d models replaced, %d files left over"
          % (rounds, killed, met, replaced, len(left)), flush=True)
    assert killed > rounds // 8
    assert met or rounds < 100, "no kill met the writing: this test says nothing"
    assert len(left) <= 1 + met // 10, left
    subprocess.run(calls[1 - now], check=True, stdout=subprocess.DEVNULL)
    assert content("m.mercer") == models[1 - now], "the next run does not work"
    tap.check_equal(temporaries(), set(), "temporary files")


if __name__ == "__main__":
    tap.main(globals())
