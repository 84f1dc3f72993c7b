"""The report: partial dependence against scikit-learn, nearest support vectors and the paired bootstrap
against NumPy, McNemar's test against SciPy.

SPDX-License-Identifier: Apache-2.0
"""
import json
import re
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import tap  # noqa: E402

try:
    import numpy as np
    from scipy.stats import binomtest
    from sklearn.svm import SVC, SVR
except ImportError:
    print("1..0 # SKIP no scikit-learn")
    sys.exit(77)


def table(path, classes):
    r = np.random.RandomState(3)
    X = r.randn(120, 3)
    f = X[:, 0] ** 2 + X[:, 1] + .3 * r.randn(120)
    y = np.where(f > 1, "yes", "no") if classes else f
    with open(path, "w") as out:
        out.write("a,b,c,y\n")
        for x, t in zip(X, y):
            out.write(",".join("%.17g" % v for v in x) + ",%s\n" % (t if classes else "%.17g" % t))
    return X, y


def dependence(column):
    tap.mercer("plot", "m.mercer", "t.csv", "--kind", "dependence", "--x", column, "-o", "d.json")
    mark = json.load(open("d.json"))["panels"][0]["marks"][0]
    return np.array(mark["x"]), np.array(mark["y"])


def agrees(X, predict):
    for k, column in enumerate("abc"):
        x, got = dependence(column)
        assert len(x) == 25 and x[0] == X[:, k].min() and x[-1] == X[:, k].max()
        for value, mean in zip(x, got):
            Z = X.copy()
            Z[:, k] = value
            tap.check_near(mean, predict(Z).mean(), 2e-4)


def test_dependence_of_numbers():
    X, y = table("t.csv", False)
    tap.mercer("fit", "svr", "t.csv", "-k", "rbf(gamma=0.5)", "-C", 5, "--epsilon", 0.1, "--tol", 1e-6, "-o", "m.mercer")
    agrees(X, SVR(gamma=0.5, C=5, epsilon=0.1, tol=1e-6).fit(X, y).predict)


def test_dependence_of_classes():
    X, y = table("t.csv", True)
    tap.mercer("fit", "svm", "t.csv", "-k", "rbf(gamma=0.5)", "-C", 5, "--tol", 1e-6, "-o", "m.mercer")
    other = SVC(gamma=0.5, C=5, tol=1e-6).fit(X, y)
    own = float(tap.mercer("predict", "m.mercer", "t.csv", "--scores").stdout.splitlines()[1].split()[-1])
    sign = 1 if own * other.decision_function(X[:1])[0] > 0 else -1
    agrees(X, lambda Z: sign * other.decision_function(Z))


def test_nearest_support_vectors():
    X, y = table("t.csv", True)
    tap.mercer("fit", "svm", "t.csv", "-k", "rbf(gamma=0.5)", "-C", 5, "-o", "m.mercer")
    support = set(SVC(gamma=0.5, C=5).fit(X, y).support_)
    tap.mercer("report", "m.mercer", "t.csv", "-o", "r.html")
    page = open("r.html").read()
    rows = re.findall(r"<tr><td>(\d+)</td><td>\w+</td><td>\w+</td><td>[^<]*</td><td>([^<]*)</td></tr>", page)
    tap.check_equal(len(rows), 10)
    for number, text in rows:
        i = int(number) - 1
        d2 = 2 - 2 * np.exp(-0.5 * ((X - X[i]) ** 2).sum(1))
        near = [(int(n) - 1, word, float(d)) for n, word, d in re.findall(r"(\d+): (\w+) \(([^)]*)\)", text)]
        tap.check_equal(len(near), 3)
        want = sorted(support, key=lambda j: d2[j])[:3]
        for (j, word, distance), k in zip(near, want):
            tap.check_near(distance, np.sqrt(max(d2[k], 0)), 6e-3)
            tap.check_equal(word, y[j])


def comparison(*models):
    tap.mercer("report", *models, "t.csv", "-o", "r.html")
    return dict(re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td></tr>",
                           open("r.html").read().split('id="comparison"')[1].split("</table>")[0]))


def bootstrap(each, text):
    """The interval of the mean, within the error of 2,000 resamples."""
    r = np.random.RandomState(5)
    drawn = each[r.randint(len(each), size=(20000, len(each)))].mean(1)
    got = [float(x) for x in re.match(r"(\S+), 95 % interval (\S+) to (\S+)", text).groups()]
    tap.check_near(got[0], each.mean(), 1e-4)
    for value, want in zip(got[1:], np.quantile(drawn, [0.025, 0.975])):
        assert abs(value - want) < 0.15 * drawn.std() + 1.0 / len(each) * np.abs(each).max(), (value, want)


def test_comparison_of_classes():
    X, y = table("t.csv", True)
    for kernel, model in ("rbf(gamma=0.5)", "a.mercer"), ("linear", "b.mercer"):
        tap.mercer("fit", "svm", "t.csv", "-k", kernel, "-o", model)
    right = [np.array([line.split()[-1] for line in tap.mercer("predict", m, "t.csv").stdout.splitlines()
                       if line in ("yes", "no")]) == y for m in ("a.mercer", "b.mercer")]
    got = comparison("a.mercer", "b.mercer")
    only = [int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())]
    tap.check_equal([got["only the first is right"], got["only the second is right"]], ["%d objects" % n for n in only])
    assert only[0] > only[1] + 3, only
    p = float(re.match(r"p = (\S+)", got["McNemar&#39;s test" if "McNemar&#39;s test" in got else "McNemar's test"]).group(1))
    tap.check_near(p / binomtest(min(only), sum(only), 0.5).pvalue, 1, 1e-3)
    bootstrap(right[1] * 1.0 - right[0], got["accuracy, second less first"])


def test_comparison_of_numbers():
    X, y = table("t.csv", False)
    for kernel, model in ("rbf(gamma=0.5)", "a.mercer"), ("linear", "b.mercer"):
        tap.mercer("fit", "svr", "t.csv", "-k", kernel, "-o", model)
    errors = []
    for model in ("a.mercer", "b.mercer"):
        tap.mercer("predict", model, "t.csv", "-o", "p.npy")
        errors.append((np.load("p.npy").ravel() - y) ** 2)
    bootstrap(errors[1] - errors[0], comparison("a.mercer", "b.mercer")["mse, second less first"])


if __name__ == "__main__":
    tap.main(globals())
