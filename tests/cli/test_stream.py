"""mercer predict of a table as it comes: the same answers, at once, in bounded memory.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import random
import subprocess

import tap

HEADER = "id,a,b,word,y\n"


def row(i, r):
    a, word = r.gauss(0, 1), r.choice(["red", "green", "blue"])
    y = "yes" if a + (word == "red") > .3 else "no"
    return "r%05d,%.3f,%s,%s,%s\n" % (i, a, "" if r.random() < .1 else "%.2f" % r.gauss(5, 2), word, y)


def table(n, seed, name):
    r = random.Random(seed)
    pathlib.Path(name).write_text(HEADER + "".join(row(i, r) for i in range(n)))
    return name


def model():
    tap.mercer("fit", "svm", table(120, 1, "train.csv"), "-C", "1", "-o", "m.mercer", "--quiet")
    return "m.mercer"


def piped(text, *options, status=0):
    done = subprocess.run([tap.MERCER, "predict", model(), "-", *options], input=text, text=True, capture_output=True)
    assert done.returncode == status, done.stderr
    return done


def test_the_same_as_from_a_file():
    text = pathlib.Path(table(3000, 2, "new.csv")).read_text()
    for options in ([], ["--scores"], ["--keep", "word"], ["--target", "none"]):
        whole = tap.mercer("predict", model(), "new.csv", *options).stdout
        tap.check_equal(piped(text, *options).stdout, whole)
    err = piped(text).stderr
    assert "missing values: filled as in training" in err and "accuracy " in err, err
    whole = tap.mercer("predict", "m.mercer", "new.csv", "-o", "p.csv").stderr
    pick = [line for line in err.splitlines() if line.startswith(("accuracy", "yes", "no"))]
    assert pick and all(line in whole for line in pick), (pick, whole)
    tap.check_equal(piped(text.replace("\n", "\r\n")).stdout, piped(text).stdout)


def test_one_row_gives_one_prediction():
    r = random.Random(3)
    at = subprocess.Popen([tap.MERCER, "predict", model(), "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    at.stdin.write(HEADER)
    for i in range(5):  # each answer is there before the next row is written
        at.stdin.write(row(i, r))
        at.stdin.flush()
        if i == 0:
            first = at.stdout.readline()
            answer = at.stdout.readline() if first.startswith("#") else first
        else:
            answer = at.stdout.readline()
        assert answer.startswith("r%05d\t" % i), answer
    at.stdin.close()
    tap.check_equal(at.wait(), 0)


def test_faults_have_the_line_of_the_table():
    r = random.Random(4)
    lines = [row(i, r) for i in range(200000)]  # more than one part
    lines[150000] = "r150000,x,1,red,yes\n"
    done = piped(HEADER + "".join(lines), "-o", "p.txt", status=1)
    assert "-:150002: " in done.stderr and '"x" is not a number' in done.stderr, done.stderr
    assert not os.path.exists("p.txt")
    done = piped(HEADER + "".join(lines), "-o", "p.txt", "--skip-bad")
    assert "1 row is skipped because of errors, the first in line 150002" in done.stderr, done.stderr
    tap.check_equal(sum(1 for line in open("p.txt") if not line.startswith("#")), 199999)


def test_bytes_that_are_not_utf8():
    """Reported once, with the line of the table."""
    r = random.Random(5)
    text = (HEADER + "".join(row(i, r) for i in range(9000))).encode()
    bad = b"r1,0.1,5,r\xe9d,yes\n"
    done = subprocess.run([tap.MERCER, "predict", model(), "-"], input=text + bad + text[len(HEADER):] + bad,
                          capture_output=True)
    err = done.stderr.decode(errors="replace")
    assert done.returncode == 0 and err.count("not UTF-8") == 1, err
    assert "-:9002: this line is not UTF-8" in err, err


def test_quotes_unknown_words_and_classes():
    text = HEADER + 'r1,1,2,"re\nd",yes\nr2,1,2,pink,maybe\n'
    done = piped(text)
    assert 'word: 2 values were not seen in training, the first is "re' in done.stderr, done.stderr
    assert "unknown" in done.stderr, done.stderr
    tap.check_equal(len([x for x in done.stdout.splitlines() if x.startswith("r")]), 2)
    assert "no objects in the file, only a header" in piped(HEADER, status=1).stderr


if __name__ == "__main__":
    tap.main(globals())
