"""Kernels on graphs against plain NumPy: wl by strings, shortest paths by Floyd's algorithm, graphlets by
all subsets and all orders of their nodes, walks by the whole product graph.

Small random graphs with words for labels, as JSON lines, with themselves and with others; and the sets
MUTAG, ENZYMES and PTC_MR where they are, some of their values against the same slow code.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import gzip
import itertools
import json

import numpy as np

import tap

RNG = np.random.default_rng(8)


class Graph:
    def __init__(self, labels, edges):
        """labels: one per node, or their number; edges: {(a, b): label or None}, a <= b."""
        self.plain = isinstance(labels, int)
        self.n = labels if self.plain else len(labels)
        self.label = [""] * self.n if self.plain else list(labels)
        self.bond = {}
        for (a, b), bond in edges.items():
            self.bond[a, b] = self.bond[b, a] = bond
        self.near = [[b for b in range(self.n) if (a, b) in self.bond] for a in range(self.n)]

    def json(self):
        return {"nodes": self.n if self.plain else self.label,
                "edges": [[a, b] + ([] if bond is None else [bond])
                          for (a, b), bond in self.bond.items() if a <= b]}


# ---- the definitions -----------------------------------------------------------------------------

def inner(a, b):
    return sum(times * b[key] for key, times in a.items() if key in b)


def wl(g, h):
    now = [str(len(g.near[v])) if g.plain else g.label[v] for v in range(g.n)]
    found = collections.Counter((0, x) for x in now)
    for k in range(1, h + 1):
        now = [repr((now[v], sorted((g.bond[v, u] or 0, now[u]) for u in g.near[v])))
               for v in range(g.n)]
        found.update((k, x) for x in now)
    return found


def shortestpath(g):
    d = np.full((g.n, g.n), np.inf)
    for a, b in g.bond:
        d[a, b] = 1
    np.fill_diagonal(d, 0)
    for c in range(g.n):
        d = np.minimum(d, d[:, c:c + 1] + d[c:c + 1, :])
    return collections.Counter((*sorted((g.label[a], g.label[b])), d[a, b])
                               for a, b in itertools.combinations(range(g.n), 2)
                               if np.isfinite(d[a, b]))


def is_connected(g, nodes):
    reached, new = set(), {nodes[0]}
    while new:
        reached |= new
        new = {u for v in new for u in g.near[v] if u in nodes} - reached
    return len(reached) == len(nodes)


def graphlet(g, p, connected):
    found = collections.Counter()
    for nodes in itertools.combinations(range(g.n), p):
        if connected and not is_connected(g, nodes):
            continue
        found[min((tuple(g.label[v] for v in order),
                   tuple((a, b) in g.bond for a, b in itertools.combinations(order, 2)))
                  for order in itertools.permutations(nodes))] += 1
    return found


def walk(g, h, decay):
    pairs = [(u, v) for u in range(g.n) for v in range(h.n) if g.label[u] == h.label[v]]
    if not pairs:
        return 0.0
    a = np.array([[(u, s) in g.bond and (v, t) in h.bond and g.bond[u, s] == h.bond[v, t]
                   for s, t in pairs] for u, v in pairs], dtype=float)
    return np.linalg.solve(np.eye(len(pairs)) - decay * a, np.ones(len(pairs))).sum()


# ---- graphs --------------------------------------------------------------------------------------

def random_graphs(count, labels, bonds):
    graphs = []
    for i in range(count):
        n = i if i < 2 else int(RNG.integers(2, 9))
        density = RNG.random()
        edges = {(a, b): int(RNG.integers(-1, 2)) if bonds else None
                 for a, b in itertools.combinations_with_replacement(range(n), 2)
                 if RNG.random() < density}
        graphs.append(Graph([str(x) for x in RNG.choice(["C", "", "Cl", "7"], n)] if labels else n,
                            edges))
    return graphs


def write(name, graphs):
    with open(name, "w") as file:
        for g in graphs:
            file.write(json.dumps({"x": [1.0, g.n], "g": g.json()}) + "\n")


def read_tu(name):
    folder = tap.data(name)

    def lines(part):
        path = folder / ("%s_%s.txt" % (name, part))
        if path.exists():
            return path.read_text().split("\n")[:-1]
        path = folder / ("%s_%s.txt.gz" % (name, part))
        return gzip.open(path, "rt").read().split("\n")[:-1] if path.exists() else None

    owner = [int(x) - 1 for x in lines("graph_indicator")]
    first = {g: owner.index(g) for g in set(owner)}
    labels, edges = collections.defaultdict(list), collections.defaultdict(dict)
    for v, label in zip(owner, lines("node_labels")):
        labels[v].append(label.strip())
    pairs = lines("A")
    for pair, bond in zip(pairs, lines("edge_labels") or [None] * len(pairs)):
        a, b = (int(x) - 1 for x in pair.split(","))
        g = owner[a]
        key = tuple(sorted((a - first[g], b - first[g])))
        edges[g].setdefault(key, None if bond is None else int(bond))
    return [Graph(labels[g], edges[g]) for g in sorted(first)]


def gram(kernel, *files):
    tap.mercer("gram", *files, "-k", kernel, "-o", "k.npy", "--quiet")
    return np.load("k.npy")


def check(kernel, value, files, x, z, tolerance=0.0):
    got = gram(kernel, *files)
    wanted = np.array([[float(value(a, b)) for b in z] for a in x])
    off = np.abs(got - wanted) / np.maximum(1, np.abs(wanted))
    assert got.shape == wanted.shape and off.max() <= tolerance, (
        "%s: value %s differs by %g" % (kernel, np.unravel_index(off.argmax(), off.shape), off.max()))


def kernels(p=None):
    """Text, value of a pair (features of objects are kept), tolerance."""
    def of(features, *args, presence=False):
        known = {}

        def get(g):
            if g not in known:
                found = features(g, *args)
                known[g] = {k: 1 for k in found} if presence else found
            return known[g]
        return lambda g, h: inner(get(g), get(h))

    for h in (0, 1, 3):
        yield "wl(h=%d)" % h, of(wl, h), 0.0
    yield "shortestpath", of(shortestpath), 0.0
    yield "walk(lambda=0.012)", lambda g, h: walk(g, h, 0.012), 1e-12
    for size in p or (2, 3, 4, 5):
        for only in (True, False):
            text = "graphlet(p=%d, connected=%s" % (size, "yes" if only else "no")
            yield text + ")", of(graphlet, size, only, presence=True), 0.0
            yield text + ", mode=count)", of(graphlet, size, only), 0.0


# ---- tests ---------------------------------------------------------------------------------------

def test_random_graphs():
    for labels, bonds in itertools.product((False, True), repeat=2):
        x, z = random_graphs(12, labels, bonds), random_graphs(9, labels, bonds)
        write("x.jsonl", x)
        write("z.jsonl", z)
        for text, value, tolerance in kernels():
            check(text, value, ("x.jsonl",), x, x, tolerance)
            check(text, value, ("x.jsonl", "z.jsonl"), x, z, tolerance)


def test_with_other_fields():
    x = random_graphs(10, True, False)
    write("x.jsonl", x)
    size = np.array([g.n for g in x])
    rbf = np.exp(-0.1 * (size[:, None] - size[None, :]) ** 2)
    for text in ("wl(g, h=3)", "shortestpath(g)", "graphlet(g, p=4)", "walk(g)"):
        both = gram(text + " + rbf(x, gamma=0.1)", "x.jsonl")
        assert np.abs(both - gram(text, "x.jsonl") - rbf).max() < 1e-9, text
        unit = gram("normalize(%s)" % text, "x.jsonl")
        own = np.diag(gram(text, "x.jsonl"))
        assert np.array_equal(np.diag(unit), (own > 0).astype(float)), text
        one, two = (gram(text, "x.jsonl", "--threads", t) for t in ("1", "2"))
        assert np.array_equal(one, two), text


def check_set(name, skip="-"):
    graphs = read_tu(name)
    some = sorted(range(len(graphs)), key=lambda i: (graphs[i].n, i))[:40:4]
    for text, value, tolerance in kernels(p=(3, 4)):
        if text.startswith(skip):
            continue
        k = gram(text, tap.data(name))
        tap.check_equal(k.shape, (len(graphs), len(graphs)), "shape")
        assert np.array_equal(k, k.T), text
        for i, j in itertools.combinations_with_replacement(some, 2):
            if text.startswith("walk") and graphs[i].n * graphs[j].n > 200:
                continue
            tap.check_near(k[i, j], value(graphs[i], graphs[j]), max(tolerance, 1e-15),
                           "%s of %s, %s" % (text, i, j))


def test_mutag():
    check_set("MUTAG")


def test_ptc():
    check_set("PTC_MR")


def test_enzymes():
    check_set("ENZYMES", skip="walk")  # which takes seconds


def test_all_subgraphs_are_counted():
    """Sets of nodes of a path without edges between them: a binomial coefficient."""
    x = [Graph(n, {(a, a + 1): None for a in range(n - 1)}) for n in (5, 40, 200)]
    write("x.jsonl", x)
    write("empty.jsonl", [Graph(p, {}) for p in (2, 3, 4, 5)])
    for p in (2, 3, 4, 5):
        apart = [np.prod([(n - p + 1 - i) / (i + 1) for i in range(p)]) for n in (5, 40, 200)]
        got = gram("graphlet(p=%d, mode=count)" % p, "empty.jsonl", "x.jsonl")[p - 2]
        assert np.allclose(got, np.maximum(apart, 0), rtol=1e-12), (p, got, apart)


if __name__ == "__main__":
    tap.main(globals())
