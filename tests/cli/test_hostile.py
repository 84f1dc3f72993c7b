"""Files that mean harm: a small file takes neither memory nor time out of proportion, reaches no other
file, and what is refused says why. The files of ../shared/hostile are tried where they are.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import json
import os
import resource
import subprocess
import time

import forge
import tap

HOSTILE = tap.DATA.resolve().parent / "hostile"
SMALL = 64 << 20


def run(*args, status=(1,), env=None):
    """Runs the program; what it printed, and how long it took."""
    call = [tap.MERCER] + [str(a) for a in args]
    began = time.monotonic()
    child = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=dict(os.environ, **(env or {})))
    out, err = child.communicate(timeout=100)
    took = time.monotonic() - began
    assert child.returncode in status, (call, child.returncode, out[-500:], err[-500:])
    if child.returncode:
        assert err.startswith("mercer: ") and err.count("\n") >= 1, err
    return out, err, took


def peak(*args, status=(1,), env=None):
    """As run; also the peak of the resident memory in bytes, measured in a process of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            out, err, took = run(*args, status=status, env=env)
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
            os.write(writer, json.dumps([out[-2000:], err[-2000:], took, used]).encode())
            os._exit(0)
        except BaseException as fault:
            os.write(writer, json.dumps(str(fault)).encode())
            os._exit(1)
    os.close(writer)
    text = b""
    while True:
        piece = os.read(reader, 65536)
        if not piece:
            break
        text += piece
    os.close(reader)
    _, state = os.waitpid(pid, 0)
    value = json.loads(text)
    assert state == 0, value
    return value


def sanitized():
    with open(tap.MERCER, "rb") as f:
        return b"__asan_init" in f.read()


def check_small(*args, status=(1,), seconds=1.0):
    """Refused or done within 64 MB and a second."""
    out, err, took, used = peak(*args, status=status)
    if not sanitized():
        assert used <= SMALL, "%.0f MB: %s" % (used / 1e6, args)
        assert took <= seconds * 4, "%.1f s: %s" % (took, args)  # the machine may be busy
    return out, err


def make_model(kernel="linear", learner="svm"):
    with open("d.csv", "w") as f:
        f.write("a,b,y\n" + "".join("%d,%d,%s\n" % (i, i * i % 7, "pq"[i % 2]) for i in range(12)))
    tap.mercer("fit", learner, "d.csv", "-k", kernel, "-o", "m.mercer", "--quiet")
    return "m.mercer"


# ---- a model reaches no other file ---------------------------------------------------------------


def test_kernel_of_a_model_opens_no_file():
    """Also where quotes stand inside a value that is not quoted, so that the text alone misleads."""
    make_model()
    with open("q.csv", "w") as f:
        f.write("1,0\n0,1\n")
    for kernel in ('mahalanobis(file=q.csv)', 'mahalanobis(file = "q.csv")',
                   'conformal(f=a"b, mahalanobis(file="q.csv"))',
                   'linear + 2*mahalanobis(x, file=q.csv)'):
        forge.replace("m.mercer", "e.mercer", KERN=forge.text(kernel))
        for verb in (["info"], ["predict"]):
            words = verb + ["e.mercer"] + (["d.csv"] if verb == ["predict"] else [])
            call = ["strace", "-f", "-e", "trace=open,openat", tap.MERCER] + words
            done = tap.mercer(*words, status=1)
            assert "names a file" in done.stderr or "not known" in done.stderr, done.stderr
            try:
                traced = subprocess.run(call, capture_output=True, text=True)
            except FileNotFoundError:
                continue  # no strace here: the message is what there is
            assert "q.csv" not in traced.stderr, traced.stderr


def test_kernel_of_the_user_opens_its_file():
    make_model()
    with open("q.csv", "w") as f:
        f.write("1,0\n0,1\n")
    tap.mercer("fit", "svm", "d.csv", "-k", "mahalanobis(file=q.csv)", "-o", "n.mercer", "--quiet")
    os.remove("q.csv")
    assert "q.csv" not in tap.mercer("info", "n.mercer").stdout  # a model holds values
    tap.mercer("predict", "n.mercer", "d.csv")


# ---- memory ------------------------------------------------------------------------------------


def test_huge_index():
    with open("big.svm", "w") as f:
        f.write("1 1:1 268435456:1\n-1 1:2\n")
    for more in (["svm", "-k", "linear"], ["svm", "-k", "rbf(gamma=1)", "--scale", "standard"],
                 ["ridge", "-k", "linear"]):
        _, err = check_small("fit", more[0], "big.svm", *more[1:])
        assert "268435456" in err and "2.1 GB" in err and "--max-data" in err, err


def test_huge_index_by_kernel_values():
    """Who allows it gets it, and kernel values need no dense vectors."""
    with open("big.svm", "w") as f:
        f.write("1 1:1 268435456:1\n-1 1:2\n")
    out, _, _, used = peak("fit", "svm", "big.svm", "-k", "rbf(gamma=1)", "--max-data", "8G", "-o",
                           "m.mercer", status=(0,))
    assert sanitized() or used < SMALL, used
    check_small("predict", "m.mercer", "big.svm", "--max-data", "8G", status=(0,))


def test_model_of_huge_vectors():
    with open("s.svm", "w") as f:
        f.write("1 1:1 3:1\n-1 1:2\n1 2:1\n-1 3:3\n")
    tap.mercer("fit", "svm", "s.svm", "-k", "rbf(gamma=1)", "-o", "m.mercer", "--quiet")
    rows = [[(0, 1.0), (2, 1.0)], [(0, 2.0)], [(1, 1.0)], [(2, 3.0), (2147483645, 1.0)]]
    forge.replace("m.mercer", "big.mercer", OBJS=forge.sparse_objects(2147483646, rows))
    check_small("predict", "big.mercer", "s.svm", status=(0, 1))
    check_small("info", "big.mercer", status=(0, 1))


def test_graph_of_nodes_alone():
    with open("g.jsonl", "w") as f:
        for i in range(8):
            f.write('{"y": %d, "graph": {"nodes": %d, "edges": [[0, 1]]}}\n' % (i % 2, 2 + i))
    tap.mercer("fit", "svm", "g.jsonl", "-k", "wl(h=1)", "-o", "m.mercer", "--quiet")
    support = tap.mercer_json("info", "m.mercer")["support"]
    forge.replace("m.mercer", "bomb.mercer", OBJS=forge.bare_graphs(100000000, support))
    _, err = check_small("info", "bomb.mercer")
    assert "out of all proportion" in err and "--max-data" in err, err


def bomb(name, head, piece, times, tail=b""):
    with gzip.open(name, "wb", compresslevel=9) as f:
        f.write(head)
        for _ in range(times):
            f.write(piece)
        f.write(tail)


def test_gzip_bombs():
    zeros = b"\0" * (1 << 20)
    make_model()
    bomb("model.mercer", b"MERCER\r\n\1\0\0\0INFO", zeros, 300)
    _, err = check_small("predict", "model.mercer", "d.csv")
    assert "unpacks to more than 250 times its size" in err, err
    bomb("data.csv.gz", b"a,y\n", b"0,0\n" * (1 << 18), 200)
    check_small("info", "data.csv.gz")
    check_small("predict", "m.mercer", "data.csv.gz")
    out, err = check_small("info", "data.csv.gz", "--max-data", "40M")
    assert "limit for data is" in err, err


def test_limit_for_data():
    with open("d.csv", "w") as f:
        f.write("a,b,c,y\n" + "1.5,2.5,3.5,1\n2,3,4,0\n" * 100000)
    _, err = check_small("fit", "ridge", "d.csv", "-k", "linear", "--max-data", "4M", seconds=5)
    assert "limit for data is 4.1 MB" in err, err
    tap.mercer("fit", "ridge", "d.csv", "-k", "linear", "--max-data", "100M", "--quiet")


def test_shared_files():
    """Every file of the collection, by the verbs that read it, under the limits that hold by
    themselves."""
    if not HOSTILE.is_dir():
        tap.skip("no hostile files in " + str(HOSTILE))
    make_model()
    with open("s.svm", "w") as f:
        f.write("1 1:1 5:1\n-1 1:2\n")
    for name in sorted(os.listdir(HOSTILE)):
        path, count = HOSTILE / name, 0
        data = [p for p in (HOSTILE / "m.jsonl", "s.svm", "d.csv") if str(p) != str(path)]
        calls = [["info", path], ["export", path, "--to", "libsvm"]]
        if name.endswith((".mercer", ".model")):
            calls += [["predict", path, d] for d in data]
            calls += [["explain", path]]
        elif not name.endswith(".md"):
            calls += [["fit", "ridge", path, "-k", "linear", "--task", "regress"]]
        for call in calls:
            check_small(*call, status=(0, 1, 2))
            count += 1
        print("# %s: %d calls" % (name, count), flush=True)


if __name__ == "__main__":
    tap.main(globals())
