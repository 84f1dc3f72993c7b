"""Kernels on strings against kernlab's stringdot (R).

kernlab ends every string with a letter of its own: the strings here get one, too. Its "spectrum" is then
spectrum with counts, its "boundrange" blended with counts; its "string" and "fullstring" are weighted
sums of common substrings without that letter, lambda^(2p+2) and lambda^(2q) for each length q up to p (not
the subsequences of ssk).

SPDX-License-Identifier: Apache-2.0
"""

import shutil
import subprocess

import numpy as np

import tap

RNG = np.random.default_rng(11)
WORDS = ["car", "cat", "honolulu", "abracadabra", "banana bandana"] + [
    "".join(RNG.choice(list("abcd "), RNG.integers(5, 60))).strip() + "x" for _ in range(14)]


def kernlab(*kinds):
    """The matrices of some stringdot(...) of the words."""
    if not shutil.which("Rscript"):
        tap.skip("no Rscript (Debian: r-cran-kernlab)")
    text = ", ".join('"%s"' % w for w in WORDS)
    code = ["ok <- suppressMessages(require(kernlab, quietly=TRUE))", 'if (!ok) { cat("none"); quit() }',
            "x <- list(%s)" % text]
    for kind in kinds:
        code.append("write.table(format(kernelMatrix(stringdot(%s, normalized=FALSE), x)@.Data, "
                    "digits=17), quote=FALSE, row.names=FALSE, col.names=FALSE)" % kind)
    run = subprocess.run(["Rscript", "-e", "; ".join(code)], capture_output=True, text=True)
    if run.stdout.startswith("none"):
        tap.skip("no kernlab (Debian: r-cran-kernlab)")
    assert run.returncode == 0, run.stderr
    return np.array([[float(v) for v in line.split()] for line in run.stdout.splitlines()]).reshape(
        len(kinds), len(WORDS), len(WORDS))


def mercer(kernel, end):
    with open("words.txt", "w") as out:
        out.writelines(w + end + "\n" for w in WORDS)
    tap.mercer("gram", "words.txt", "--format", "text", "--target", "none", "-k", kernel, "-o", "k.npy")
    return np.load("k.npy")


def check(kind, kernel, end, given):
    found = mercer(kernel, end)
    worst = abs(found - given).max() / abs(given).max()
    assert worst < 1e-12, "%s and %s differ by %g" % (kernel, kind, worst)


def test_spectrum():
    lengths = (2, 3)  # kernlab refuses 1, and strings that are shorter
    given = kernlab(*["type='spectrum', length=%d" % p for p in lengths])
    for p, k in zip(lengths, given):
        check("spectrum", "spectrum(p=%d, mode=count)" % p, "$", k)


def test_blended():
    given = kernlab(*["type='boundrange', length=%d" % p for p in (2, 3, 4)])
    for p, k in zip((2, 3, 4), given):
        check("boundrange", "blended(p=%d, mode=count)" % p, "$", k)


def test_weighted_sums():
    cases = [(2, 0.5), (3, 0.7), (4, 0.9)]
    given = kernlab(*["type='%s', length=%d, lambda=%g" % (kind, p, decay)
                      for kind in ("string", "fullstring") for p, decay in cases])
    for (p, decay), k in zip(cases, given[:3]):
        check("string", "%.17g*spectrum(p=%d, mode=count)" % (decay ** (2 * p + 2), p), "", k)
    for (p, decay), k in zip(cases, given[3:]):
        check("fullstring", " + ".join("%.17g*spectrum(p=%d, mode=count)" % (decay ** (2 * q), q)
                                       for q in range(1, p + 1)), "", k)


if __name__ == "__main__":
    tap.main(globals())
