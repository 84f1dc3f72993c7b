"""Tables: roles, missing values, Arrow.

SPDX-License-Identifier: Apache-2.0
"""

import datetime
import gc
import pickle

import numpy as np
import pytest

import arrow_producer as arrow
import mercer
from mercer import SVC, SVR, KernelPCA, KernelRidge, cv, equal, gram, load, rbf, spectrum, tune

pandas = pytest.importorskip("pandas")
sklearn_svm = pytest.importorskip("sklearn.svm")


def people(n=240, seed=0):
    rng = np.random.RandomState(seed)
    table = pandas.DataFrame({
        "id": np.arange(n),
        "age": rng.uniform(20, 80, n).round(1),
        "income": rng.lognormal(3, .5, n).round(2),
        "city": rng.choice(["Rome", "Oslo", "Lima"], n),
        "joined": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.randint(0, 900, n), unit="D"),
        "plan": pandas.Categorical(rng.choice(["free", "paid"], n)),
        "text": ["".join(rng.choice(list("ACGT"), 12)) for _ in range(n)]})
    y = np.where((table.age > 60) | (table.city == "Rome"), "yes", "no")
    return table, y


TABLE, WANTED = people()
ROLES = {"id": "id", "age": "number", "income": "number", "city": "category", "joined": "date",
         "plan": "category", "text": "text"}


def test_roles_and_default_kernel_are_those_of_the_program():
    clf = SVC(C=10).fit(TABLE, WANTED)
    assert clf.roles_ == ROLES and list(clf.feature_names_in_) == list(TABLE.columns)
    assert clf.kernel_.startswith("rbf(number, date, gamma=") and clf.kernel_.endswith(") + equal(category)")
    assert clf.score(TABLE, WANTED) > 0.7 and clf.verify(TABLE, WANTED)["agrees"]


def test_default_kernel_by_numpy():
    """rbf of standardised numbers and dates, and the share of equal categories, from the formulas."""
    clf = SVC(C=10, tol=1e-8).fit(TABLE, WANTED)
    gamma = float(clf.kernel_.split("gamma=")[1].split(")")[0])
    days = TABLE.joined.to_numpy().astype("datetime64[D]").astype(float)
    parts = [days] + [f(2 * np.pi * (days / p % 1)) for p in (365.2425, 7, 1) for f in (np.sin, np.cos)]
    V = np.column_stack([TABLE.age, TABLE.income, *parts])
    spread = V.std(axis=0)
    V = (V - V.mean(axis=0)) / np.where(spread > 1e-12, spread, 1)
    K = np.exp(-gamma * ((V[:, None] - V[None]) ** 2).sum(axis=2))
    words = TABLE[["city", "plan"]].astype(str).to_numpy()
    K += (words[:, None] == words[None]).mean(axis=2)
    wanted = sklearn_svm.SVC(C=10, kernel="precomputed", tol=1e-8).fit(K, WANTED).decision_function(K)
    np.testing.assert_allclose(clf.decision_function(TABLE), wanted, atol=1e-4)


def test_columns_by_name_in_any_order():
    clf = SVC().fit(TABLE, WANTED)
    other = TABLE[list(TABLE.columns)[::-1]].assign(more=1).drop(columns="id")
    np.testing.assert_array_equal(clf.predict(other), clf.predict(TABLE))
    with pytest.raises(ValueError, match="- city"):
        clf.predict(TABLE.drop(columns="city"))
    with pytest.raises(ValueError, match="DataFrame with the columns"):
        clf.predict(np.zeros((2, 3)))


def test_kernel_over_columns():
    k = 0.5 * rbf("age", "income", gamma=.1) + equal("city") * spectrum("text", p=4)
    assert str(k) == "0.5*rbf(age, income, gamma=0.1) + equal(city)*spectrum(text, p=4)"
    A = TABLE[["age", "income"]].to_numpy()
    D = ((A[:, None] - A[None]) ** 2).sum(axis=2)
    same = TABLE.city.to_numpy()[:, None] == TABLE.city.to_numpy()[None]
    wanted = 0.5 * np.exp(-.1 * D) + same * gram(list(TABLE.text), "spectrum(p=4)")
    np.testing.assert_allclose(gram(TABLE, k), wanted, rtol=1e-9, atol=1e-12)
    clf = SVC(kernel=k).fit(TABLE, WANTED)
    assert str(clf.kernel_) == str(k)
    numbers = TABLE[["age", "income"]]
    one = SVC(kernel=rbf("age", gamma=.1)).fit(numbers, WANTED)
    same = SVC(gamma=.1).fit(numbers[["age"]], WANTED)
    np.testing.assert_allclose(one.decision_function(numbers), same.decision_function(numbers[["age"]]), atol=2e-3)
    with pytest.raises(ValueError, match="agee"):
        SVC(kernel=rbf("agee", gamma=.1)).fit(numbers, WANTED)


def test_dtypes():
    table = pandas.DataFrame({
        "whole": pandas.array([1, None, 3] * 10, dtype="Int64"), "flag": pandas.array([True, False, None] * 10),
        "zone": pandas.date_range("2024-01-01", periods=30, tz="Europe/Rome"), "span": pandas.to_timedelta(range(30), "h"),
        "month": pandas.period_range("2020-01", periods=30, freq="M"),
        "day": [datetime.date(2024, 1, 1 + i) for i in range(30)], "iso": [f"2024-02-{1 + i % 28:02}" for i in range(30)],
        "tags": [{"a", "b"}, {"c"}, set()] * 10, "code": [f"K-{i}" for i in range(30)],
        "mixed": [1, "x", 2.5] * 10, "sorted": pandas.Categorical([3, 1, 2] * 10, ordered=True)})
    clf = SVC().fit(table, [0, 1] * 15)
    assert clf.roles_ == {
        "whole": "number", "flag": "number", "zone": "date", "span": "number", "month": "date", "day": "date",
        "iso": "date", "tags": "set", "code": "id", "mixed": "category", "sorted": "category"}
    from mercer._table import read
    columns = {c.name: c.values for c in read(table).list}
    assert columns["zone"][0] == (datetime.date(2023, 12, 31) - datetime.date(1970, 1, 1)).days + 23 / 24
    assert columns["day"][0] == 19723 and columns["span"][12] == 0.5 and np.isnan(columns["whole"][1])
    assert columns["tags"].at(0) == "a;b" and columns["sorted"].at(0) == "3" and columns["mixed"].at(0) == "1"


def test_given_roles():
    table = pandas.DataFrame({"zip": [100, 200, 300] * 30, "when": ["2024-01-01", "2024-05-05", "2024-09-09"] * 30,
                              "value": np.arange(90) % 7})
    clf = SVC(roles={"zip": "category", "when": "text"}).fit(table, [0, 1, 1] * 30)
    assert clf.roles_ == {"zip": "category", "when": "text", "value": "number"} and clf.score(table, [0, 1, 1] * 30) == 1
    floats = table.assign(zip=table.zip.astype(float))
    np.testing.assert_array_equal(clf.predict(floats), clf.predict(table))
    with pytest.raises(ValueError, match="no column 'zap'"):
        SVC(roles={"zap": "category"}).fit(table, [0, 1, 1] * 30)
    with pytest.raises(ValueError, match="not a role"):
        SVC(roles={"zip": "kategory"}).fit(table, [0, 1, 1] * 30)
    with pytest.raises(ValueError, match="is not a number"):
        SVC(roles={"when": "number"}).fit(table, [0, 1, 1] * 30)


def with_holes():
    table = TABLE.copy()
    table.loc[::7, "age"] = np.nan
    table.loc[::11, "city"] = None
    table.loc[::13, "joined"] = pandas.NaT
    return table


@pytest.mark.parametrize("rule", [None, "median", "mean", "mode", "indicator", "kernel"])
def test_missing_values(rule):
    table = with_holes()
    clf = SVC(missing=rule).fit(table, WANTED)
    value = {"mean": table.age.mean(), "mode": table.age.mode()[0]}.get(rule, table.age.median())
    filled = table.assign(age=table.age.fillna(value), joined=TABLE.joined,
                          city=table.city.fillna(table.city.mode()[0]) if rule == "mode" else table.city)
    others = table.joined.notna().to_numpy()
    if rule in (None, "indicator", "kernel"):
        others &= table.age.notna().to_numpy()
    np.testing.assert_allclose(clf.decision_function(filled[others]), clf.decision_function(table[others]), atol=1e-9)


def test_missing_values_that_training_did_not_have():
    clf = SVC().fit(TABLE, WANTED)
    with pytest.raises(ValueError, match="missing"):
        clf.predict(with_holes())
    SVC(missing="median").fit(TABLE, WANTED).predict(with_holes())
    with pytest.raises(ValueError, match="age.*missing"):
        SVC(missing="error").fit(with_holes(), WANTED)
    with pytest.raises(ValueError, match="missing must be one of"):
        SVC(missing="average").fit(TABLE, WANTED)
    numbers = with_holes()[["age", "income"]]
    with pytest.raises(ValueError, match="NaN"):
        SVC().fit(numbers, WANTED)
    clf = SVR(missing="median").fit(numbers, TABLE.income)
    filled = numbers.fillna(numbers.median())
    np.testing.assert_allclose(clf.predict(numbers), clf.predict(filled))
    np.testing.assert_allclose(clf.predict(numbers.to_numpy()), clf.predict(filled))


def test_tools_take_tables(tmp_path):
    from sklearn.model_selection import GridSearchCV, cross_val_score
    assert cross_val_score(SVC(C=10), TABLE, WANTED, cv=3).mean() > 0.6
    grid = GridSearchCV(SVC(), {"gamma": [.01, .1], "C": [1, 10]}, cv=3, error_score="raise").fit(TABLE, WANTED)
    assert grid.best_estimator_.kernel_.endswith("+ equal(category)")
    assert cv(SVC(C=10), TABLE, WANTED)["accuracy"].mean() > 0.6
    best = tune(SVC(), TABLE, WANTED, cv=3)
    assert best.best_score_ > 0.8 and best.score(TABLE, WANTED) > 0.8
    clf = SVC(C=10).fit(with_holes(), WANTED)
    assert isinstance(clf.support_vectors_, pandas.DataFrame)
    clf.save(tmp_path / "t.mercer")
    for again in (load(tmp_path / "t.mercer"), pickle.loads(pickle.dumps(clf))):
        assert again.roles_ == ROLES and again.n_features_in_ == 7
        np.testing.assert_array_equal(again.predict(TABLE), clf.predict(TABLE))
    assert KernelPCA(2).fit_transform(TABLE).shape == (240, 2)
    assert KernelRidge().fit(TABLE, TABLE.age).score(TABLE, TABLE.age) > 0.9
    own = SVC(kernel=lambda A, B: np.equal.outer(A.city.to_numpy(), B.city.to_numpy()) * 1.0).fit(TABLE, WANTED)
    np.testing.assert_allclose(own.decision_function(TABLE),
                               SVC(kernel=equal("city")).fit(TABLE, WANTED).decision_function(TABLE), atol=2e-3)
    with pytest.raises(ValueError, match="number as gamma"):
        SVC(kernel="poly").fit(TABLE, WANTED)


# ---- Arrow ---------------------------------------------------------------------------------------


def arrow_columns(table, skip=0, strings="u"):
    def plain(name):
        found = table[name]
        return [None if v is None or v != v else v for v in found]
    days = [None if pandas.isna(v) else (v - pandas.Timestamp(0)).days for v in table.joined]
    codes = [None if c < 0 else c for c in table.plan.cat.codes]
    return [arrow.Column("id", "l", plain("id"), skip=skip), arrow.Column("age", "g", plain("age"), skip=skip),
            arrow.Column("income", "g", plain("income"), skip=skip), arrow.Column("city", strings, plain("city"), skip=skip),
            arrow.Column("joined", "tdD", days, skip=skip),
            arrow.Column("plan", "c", codes, words=list(table.plan.cat.categories), skip=skip),
            arrow.Column("text", strings, plain("text"), skip=skip)]


@pytest.mark.parametrize("strings", ["u", "U", "vu"])
def test_arrow_tables_are_the_same(strings):
    table = with_holes()
    clf = SVC(C=10).fit(table, WANTED)
    wanted = clf.decision_function(table)
    parts = [arrow_columns(part, strings=strings) for part in (table[:100], table[100:])]
    made = SVC(C=10).fit(arrow.StreamTable(*parts), WANTED)
    assert made.roles_ == clf.roles_ and made.kernel_ == clf.kernel_
    np.testing.assert_allclose(made.decision_function(arrow.StreamTable(*parts)), wanted, atol=1e-9)
    one = arrow.ArrayTable(arrow_columns(table, skip=9, strings=strings))
    np.testing.assert_allclose(clf.decision_function(one), wanted[9:], atol=1e-9)
    assert clf.score(one, WANTED[9:]) == clf.score(table[9:], WANTED[9:])


def test_arrow_numbers_are_a_matrix():
    table = TABLE[["age", "income"]]
    columns = [arrow.Column(name, "g", table[name]) for name in table]
    clf, made = SVC().fit(table, WANTED), SVC().fit(arrow.ArrayTable(columns), WANTED)
    assert list(made.feature_names_in_) == ["age", "income"] and made.kernel_ == clf.kernel_
    np.testing.assert_array_equal(made.decision_function(arrow.ArrayTable(columns)), clf.decision_function(table))
    np.testing.assert_array_equal(made.decision_function(table), clf.decision_function(table))
    with pytest.raises(ValueError, match="feature names"):
        made.predict(arrow.ArrayTable(columns[::-1]))
    np.testing.assert_allclose(gram(arrow.ArrayTable(columns), "linear"), table.to_numpy() @ table.to_numpy().T)


def test_arrow_types_and_release():
    columns = [arrow.Column("b", "b", [True, None, False]), arrow.Column("i", "i", [1, 2, None]),
               arrow.Column("f", "f", [1.5, None, 3]), arrow.Column("t", "tsu:UTC", [0, 43200 * 10**6, None]),
               arrow.Column("d", "tDm", [86400000, 0, 1])]
    from mercer._table import read
    found = {c.name: c for c in read(arrow.ArrayTable(columns)).list}
    np.testing.assert_array_equal(found["b"].values, [1, np.nan, 0])
    np.testing.assert_array_equal(found["i"].values, [1, 2, np.nan])
    np.testing.assert_array_equal(found["t"].values, [0, .5, np.nan])
    assert found["t"].kind == "date" and found["d"].values[0] == 1 and found["f"].values[2] == 3
    del found
    gc.collect()
    assert arrow.open_arrays == 0
    with pytest.raises(TypeError, match="not read"):
        read(arrow.ArrayTable([StrangeColumn("x", "g", [1.0])]))


class StrangeColumn(arrow.Column):
    def schema(self):
        made = super().schema()
        made.format = b"+l"
        return made


def test_columns_of_graphs_and_vectors():
    networkx = pytest.importorskip("networkx")
    table = pandas.DataFrame({"g": [networkx.cycle_graph(5 + i) if i % 2 else networkx.path_graph(5 + i) for i in range(20)],
                              "v": [np.array([i, 1.0]) for i in range(20)], "a": np.arange(20.0)})
    clf = SVC(kernel="wl(g, h=2) + linear(v) + rbf(a, gamma=1)").fit(table, [i % 2 for i in range(20)])
    assert clf.score(table, [i % 2 for i in range(20)]) == 1


def test_mistakes():
    with pytest.raises(ValueError, match="two columns"):
        SVC().fit(pandas.DataFrame([["a", "b"], ["c", "d"]], columns=["x", "x"]), [0, 1])
    assert mercer.SVC().fit(TABLE[["city"]], WANTED).kernel_ == "equal(category)"
    with pytest.raises(ValueError, match="kernel"):
        SVC().fit(TABLE[["text"]], WANTED)
