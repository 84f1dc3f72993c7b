"""Kernels on strings against plain enumeration, and against ls-gkm's own output.

Spectrum and blended by sets and counts of substrings; ssk by all subsequences; mismatch by all words
of the alphabet; gkm by all choices of places, its filters by the pseudo-inverse of the matrix that
takes counts of words to counts of gapped words.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import functools
import gzip
import itertools

import numpy as np

import tap

RNG = np.random.default_rng(5)
COMPLEMENT = str.maketrans("ACGTacgt", "TGCAtgca")


# ---- the definitions -----------------------------------------------------------------------------

def words(s, p):
    return [s[i:i + p] for i in range(len(s) - p + 1)]


# A string stands in many pairs: what is counted in it is kept.
@functools.cache
def counted(s, p):
    return collections.Counter(words(s, p))


def spectrum(s, t, p, mode="presence"):
    a, b = counted(s, p), counted(t, p)
    return sum(1 if mode == "presence" else a[w] * b[w] for w in a if w in b)


@functools.cache
def subsequences(s, p, decay):
    sums = collections.defaultdict(float)
    for places in itertools.combinations(range(len(s)), p):
        sums["".join(s[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
    return sums


def ssk(s, t, p, decay):
    a, b = subsequences(s, p, decay), subsequences(t, p, decay)
    return sum(a[u] * b[u] for u in a if u in b)


def difference(a, b):
    return sum(x != y for x, y in zip(a, b))


@functools.cache
def near_words(s, k, m, alphabet):
    return [sum(difference(word, w) <= m for w in words(s, k)) for word in itertools.product(alphabet, repeat=k)]


def mismatch(s, t, k, m, alphabet):
    return sum(a * b for a, b in zip(near_words(s, k, m, alphabet), near_words(t, k, m, alphabet)))


def both_strands(s):
    return [s, s[::-1].translate(COMPLEMENT)]


@functools.cache
def gapped_words(s, l, k, strands):
    return collections.Counter((places, tuple(w[i] for i in places)) for x in (both_strands(s) if strands == 2 else [s])
                               for w in words(x, l) for places in itertools.combinations(range(l), k))


def gapped(s, t, l, k, strands):
    """Inner product of the counts of the letters on each choice of k places of l."""
    a, b = gapped_words(s, l, k, 1), gapped_words(t, l, k, strands)
    return sum(a[f] * b[f] for f in a if f in b)


def estimates(l, k, alphabet, truncate):
    """By distance: the estimate of a word's count from one that occurs once."""
    whole = list(itertools.product(alphabet, repeat=l))
    features = [(places, letters) for places in itertools.combinations(range(l), k)
                for letters in itertools.product(alphabet, repeat=k)]
    a = np.array([[float(all(w[i] == c for i, c in zip(*f))) for w in whole] for f in features])
    project = np.linalg.pinv(a, rcond=1e-9) @ a
    by_distance = {difference(whole[0], w): project[0, j] for j, w in enumerate(whole)}
    if truncate:
        first = min([d for d in by_distance if by_distance[d] < 1e-12], default=l + 1)
        by_distance = {d: v if d < first else 0 for d, v in by_distance.items()}
    w = np.array([[by_distance[difference(x, y)] for y in whole] for x in whole])
    product = w @ w
    return {difference(whole[0], x): product[0, j] for j, x in enumerate(whole)}


# ---- against mercer ------------------------------------------------------------------------------

def random_strings(count, longest, alphabet):
    strings = ["".join(RNG.choice(list(alphabet), RNG.integers(0, longest + 1))) for _ in range(count)]
    return strings + ["", alphabet[0], alphabet[0] * longest]


def write(name, strings):
    with open(name, "w") as out:
        out.writelines("0\t%s\n" % s for s in strings)


def gram(kernel, *files):
    tap.mercer("gram", *files, "--format", "text", "-k", kernel, "-o", "g.npy")
    return np.load("g.npy")


def compare(kernel, value, x, z, tolerance=1e-12):
    write("x.txt", x)
    write("z.txt", z)
    for files, other in ((("x.txt",), x), (("x.txt", "z.txt"), z)):
        got = gram(kernel, *files)
        wanted = np.array([[value(s, t) for t in other] for s in x], float)
        error = np.abs(got - wanted) / np.maximum(1, np.abs(wanted))
        i, j = np.unravel_index(error.argmax(), error.shape)
        assert error[i, j] <= tolerance, "%s: K(%r, %r) is %r, expected %r" % (
            kernel, x[i], other[j], got[i, j], wanted[i, j])
    for threads in (1, 2):
        tap.mercer("gram", "x.txt", "--format", "text", "-k", kernel, "-o", "t%d.npy" % threads,
                   "--threads", threads)
    with open("t1.npy", "rb") as one, open("t2.npy", "rb") as two:
        assert one.read() == two.read(), kernel + " depends on the number of threads"


def test_spectrum():
    for alphabet, longest in (("ab", 12), ("ACGT", 30), ("abcdefghijklmnop qrstuvwxyz", 40)):
        x, z = random_strings(20, longest, alphabet), random_strings(15, longest, alphabet)
        for p in (1, 2, 3, 7):
            for mode in ("presence", "count"):
                compare("spectrum(p=%d, mode=%s)" % (p, mode),
                        lambda s, t: spectrum(s, t, p, mode), x, z)
                compare("blended(p=%d, mode=%s)" % (p, mode), lambda s, t: sum(
                    spectrum(s, t, q, mode) for q in range(1, p + 1)), x, z)


def test_long_substrings():
    """Longer than fit into a number: with repeats, so that they do occur twice."""
    base = "".join(RNG.choice(list("ab"), 400))
    x = [base[i:i + 300] for i in range(0, 100, 7)] + [base, "", "a" * 300]
    for p in (65, 100, 129, 280):
        compare("spectrum(p=%d, mode=count)" % p, lambda s, t: spectrum(s, t, p, "count"), x, x[3:9])


def test_ssk():
    for decay in (0.5, 1, 0.125):
        x, z = random_strings(12, 9, "abc"), random_strings(9, 9, "abc")
        for p in (1, 2, 3, 4, 5, 7, 8):
            compare("ssk(p=%d, lambda=%g)" % (p, decay), lambda s, t: ssk(s, t, p, decay), x, z)


def test_ssk_known_values():
    """car and cat; honolulu, whose third lu spans four letters."""
    decay = 0.5
    write("x.txt", ["car", "cat", "honolulu", "lu"])
    g = gram("ssk(p=2, lambda=0.5)", "x.txt")
    tap.check_near(g[0, 1], decay ** 4, 1e-15)
    tap.check_near(g[0, 0], 2 * decay ** 4 + decay ** 6, 1e-15)
    tap.check_near(g[2, 3], decay ** 2 * (2 * decay ** 2 + decay ** 4), 1e-15)
    g = gram("normalize(ssk(p=2, lambda=0.5))", "x.txt")
    tap.check_near(g[0, 1], 1 / (2 + decay ** 2), 1e-15)


def test_mismatch():
    for alphabet in ("ab", "abc"):
        x, z = random_strings(10, 12, alphabet), random_strings(8, 12, alphabet)
        for k, m in ((1, 0), (2, 1), (3, 1), (4, 2), (5, 1)):
            letters = max(2, len(alphabet))
            compare("mismatch(k=%d, m=%d, letters=%d)" % (k, m, letters),
                    lambda s, t: mismatch(s, t, k, m, alphabet), x, z)
    compare("mismatch(k=3, m=1, letters=4)", lambda s, t: mismatch(s, t, 3, 1, "abcd"), x, z)


def test_gapped_words():
    x, z = random_strings(10, 25, "ACGT"), random_strings(8, 25, "ACGT")
    for l, k in ((1, 1), (4, 2), (5, 5), (6, 3)):
        for strands in (1, 2):
            compare("gkm(l=%d, k=%d, filter=none, strands=%d)" % (l, k, strands),
                    lambda s, t: gapped(s, t, l, k, strands), x, z)
    proteins = random_strings(8, 30, "ACDEFGHIKLMNPQRSTVWY")
    compare("gkm(l=5, k=2, filter=none, strands=1)", lambda s, t: gapped(s, t, 5, 2, 1), proteins,
            proteins[:5])


def test_gkm_filters():
    x, z = random_strings(8, 14, "abc"), random_strings(7, 14, "abc")
    for l, k, name in ((4, 2, "full"), (4, 2, "truncated"), (5, 3, "truncated"), (4, 4, "full")):
        weight = estimates(l, k, "abc", name == "truncated")
        for d in (1, l):
            compare("gkm(l=%d, k=%d, d=%d, filter=%s, strands=1, letters=3)" % (l, k, d, name),
                    lambda s, t: sum(weight[difference(a, b)] for a in words(s, l)
                                     for b in words(t, l) if difference(a, b) <= d), x, z, 1e-10)


def test_gkm_verdicts():
    """The verdict of `check` is that of the eigenvalues on all words."""
    every = ["".join(w) for w in itertools.product("abc", repeat=4)]
    apart = np.array([[difference(a, b) for b in every] for a in every])
    seen = set()
    for k, name in ((2, "full"), (2, "truncated"), (3, "truncated"), (3, "full")):
        weight = estimates(4, k, "abc", name == "truncated")
        for d in (0, 1, 2, 3, None):
            most = 4 if d is None else d
            h = np.array([weight[i] if i <= most else 0 for i in range(5)])
            low = np.linalg.eigvalsh(h[apart])[0]
            kernel = "gkm(l=4, k=%d%s, filter=%s, strands=1, letters=3)" % (
                k, "" if d is None else ", d=%d" % d, name)
            valid = tap.mercer_json("check", kernel)["valid"]
            tap.check_equal(valid, "no" if low < -1e-9 else "yes", kernel)
            seen.add(valid)
    tap.check_equal(seen, {"yes", "no"})


def test_gkm_without_far_pairs():
    """ls-gkm's d=3 is not positive semidefinite: all words of 11 letters over two of them."""
    every = ["".join(w) for w in itertools.product("AC", repeat=11)]
    with open("words.txt", "w") as f:
        f.writelines("%d\t%s\n" % (i % 2, w) for i, w in enumerate(every))
    tap.mercer("gram", "words.txt", "-k", "gkm(d=3)", "-o", "g.npy")
    g = np.load("g.npy")
    t = np.array([(-1) ** w.count("C") for w in every])
    value = t @ g @ t / (t @ t)
    assert value < -0.004, value
    out = tap.mercer_json("check", "gkm(d=3)", "words.txt", "--objects", "2048")
    tap.check_equal([out["valid"], out["tested"]], ["no", 2048])
    tap.check_near(out["min_eigenvalue"], value, 1e-9, "smallest eigenvalue")
    example = out["counterexample"]
    v = np.array(example["t"])
    tap.check_near(v @ g[np.ix_(example["objects"], example["objects"])] @ v, example["value"], 1e-9)
    assert example["value"] < 0
    out = tap.mercer_json("check", "gkm", "words.txt")
    assert out["valid"] == "yes" and out["min_eigenvalue"] > 0, out


def read_fasta(path):
    names, sequences = [], []
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as lines:
        for line in lines:
            if line.startswith(">"):
                names.append(line[1:].split()[0])
                sequences.append("")
            else:
                sequences[-1] += line.strip()
    return names, sequences


def test_gkm_is_that_of_ls_gkm():
    """The scores that its gkmpredict printed, from the support vectors that its gkmtrain kept."""
    folder = tap.data("dna-nfe2-gm12878")
    with gzip.open(folder / "nfe2.ref.model.txt.gz", "rt") as lines:
        head, body = lines.read().split("SV\n")
    options = dict(line.split(" ", 1) for line in head.splitlines())
    support = [line.split() for line in body.splitlines() if line]
    write("sv.txt", [s for _, s in support])
    kernel = "normalize(gkm(l=%s, k=%s, d=%s))" % (options["L"], options["k"], options["d"])
    for part in ("pos", "neg"):
        names, sequences = read_fasta(folder / ("nfe2.%s.test.fa" % part))
        write("test.txt", sequences)
        got = gram(kernel, "test.txt", "sv.txt") @ [float(a) for a, _ in support] - float(
            options["rho"])
        with open(folder / ("nfe2.ref.%s.pred.txt" % part)) as lines:
            wanted = dict(line.split() for line in lines)
        for name, score in zip(names, got):
            tap.check_near(score, float(wanted[name]), 6e-6, name)  # six digits


def test_bad_input():
    write("x.txt", ["ACGT", "ACNNT", "AC", "", "acgt"])
    g = gram("gkm(l=3, k=2, filter=none)", "x.txt")
    assert (g[2] == 0).all() and (g[3] == 0).all(), "strings shorter than a word have none"
    assert (g[1] == 0).all(), "words with other letters than ACGT do not count"
    assert (g[0] == g[4]).all(), "small letters are letters"
    for kernel, words_of_it in (("mismatch(k=2, m=1, letters=3)", "letters="),
                                ("mismatch(k=2, m=2)", "less than k"),
                                ("gkm(l=3, k=4)", "at most l"), ("ssk(p=2, lambda=0)", "lambda"),
                                ("gkm(l=64, k=3, strands=1, filter=none)", "too long"),
                                ("gkm(l=5, k=3, letters=20)", "strands=1")):
        shown = tap.mercer("gram", "x.txt", "--format", "text", "-k", kernel, status=None)
        assert shown.returncode in (1, 2) and words_of_it in shown.stderr, (kernel, shown.stderr)


if __name__ == "__main__":
    tap.main(globals())
