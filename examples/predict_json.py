"""predict_json.py MODEL.json DATA.csv: predictions of an exported model, with nothing but Python.

Vectors in columns, a header line, no target. SPDX-License-Identifier: Apache-2.0
"""
import csv, json, math, sys  # noqa: E401

model = json.load(open(sys.argv[1]))
field = model["fields"][0]
scaling = field.get("scaling")
dot = lambda a, b: sum(u * v for u, v in zip(a, b))  # noqa: E731


def apart(k, name, a, b, f):  # with one number for all columns, or one per column
    by = k["params"][name] if len(k["params"][name]) > 1 else k["params"][name] * len(a)
    return sum(f(u - v, w) for u, v, w in zip(a, b, by))


def kernel(k, a, b):
    p, inner = k["params"], [kernel(c, a, b) for c in k["children"]]
    return {"constant": lambda: p["c"], "sum": lambda: sum(inner), "product": lambda: math.prod(inner),
            "power": lambda: inner[0] ** p["degree"], "exp": lambda: math.exp(inner[0]),
            "linear": lambda: dot(a, b), "poly": lambda: (p["scale"] * dot(a, b) + p["c"]) ** p["degree"],
            "rbf": lambda: math.exp(-apart(k, "gamma", a, b, lambda d, g: g * d * d)),
            "laplace": lambda: math.exp(-apart(k, "gamma", a, b, lambda d, g: g * abs(d))),
            "sigmoid": lambda: math.tanh(p["a"] * dot(a, b) + p["b"]),
            "intersection": lambda: sum(map(min, a, b))}[k["type"]]()


def scores(x):
    if scaling:
        x = [(v - s) * f for v, s, f in zip(x, scaling["shift"], scaling["factor"])]
    f = list(model["offset"])
    for part in model["segments"]:
        k = [kernel(model["kernel"], x, z) for z in field["support"][part["first"]:part["first"] + part["count"]]]
        for o, coef in zip(part["outputs"], part["coef"]):
            f[o] += dot(coef, k)
    return f


def decide(f, rule, names):
    if rule in ("value", "sign"):
        return f[0] if rule == "value" else 1 if f[0] >= 0 else -1
    if rule == "binary" or len(f) == 1:
        return names[f[0] > 0]
    if rule == "pairs":
        pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
        won = [a if s > 0 else b for s, (a, b) in zip(f, pairs)]
        f = [won.count(c) for c in range(len(names))]
    return (names or range(1, len(f) + 1))[f.index(max(f))]


for row in list(csv.reader(open(sys.argv[2])))[1:]:
    print(decide(scores([float(v) for v in row]), model["rule"], model["classes"]))
