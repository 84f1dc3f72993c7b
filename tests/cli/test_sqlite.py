"""Tables and queries of SQLite databases, against the same table as CSV.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import ctypes.util
import random
import sqlite3

import tap


def write():
    """The same rows as a database and as a CSV file, with all that needs quotes."""
    if not ctypes.util.find_library("sqlite3"):
        tap.skip("no libsqlite3")
    draw = random.Random(3)
    names = ["key", "age", "pay", "city", "2nd", "joined", "bought"]
    rows = []
    for i in range(120):
        age = None if i % 17 == 0 else draw.randrange(18, 80)
        city = draw.choice(["Ulm", "Bonn, am Rhein", 'say "x"', "two\nlines", None])
        rows.append(["K%03d" % i, age, draw.gauss(0, 1) / 3, city, draw.choice("ab"),
                     "2024-%02d-11" % (1 + i % 12), draw.choice(["yes", "no"])])
    db = sqlite3.connect("shop.sqlite")
    db.execute("DROP TABLE IF EXISTS shop")
    db.execute('CREATE TABLE shop(key TEXT, age INTEGER, pay REAL, city TEXT, "2nd" TEXT, joined TEXT, bought TEXT)')
    db.executemany("INSERT INTO shop VALUES (?,?,?,?,?,?,?)", rows)
    db.commit()
    db.close()
    with open("shop.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(names)
        for row in rows:
            table.writerow(["" if v is None else repr(v) if isinstance(v, float) else v for v in row])


def test_same_as_csv():
    write()
    def columns(path):
        return tap.mercer_json("info", path)["columns"]
    tap.check_equal(columns("shop.sqlite"), columns("shop.csv"))
    tap.check_equal(columns("shop.sqlite:shop"), columns("shop.csv"))
    for path, model in ("shop.csv", "a.mercer"), ("shop.sqlite:shop", "b.mercer"):
        tap.mercer("fit", "svm", path, "-k", "rbf(number, date, gamma=0.3) + equal(category)", "-o", model)
    a = tap.mercer("predict", "a.mercer", "shop.csv", "--scores").stdout
    b = tap.mercer("predict", "b.mercer", "shop.sqlite:shop", "--scores").stdout
    assert a.splitlines()[1].startswith("K000"), a[:200]
    tap.check_equal(a, b)


def test_queries():
    write()
    found = tap.mercer_json("info", "shop.sqlite:SELECT age, bought FROM shop WHERE age >= 30")
    want = sum(1 for row in csv.DictReader(open("shop.csv")) if row["age"] and int(row["age"]) >= 30)
    tap.check_equal(found["n"], want)
    tap.check_equal([c["name"] for c in found["columns"]], ["age", "bought"])


def test_refusals():
    write()
    db = sqlite3.connect("two.sqlite")
    db.executescript("DROP TABLE IF EXISTS a; DROP TABLE IF EXISTS b;"
                     "CREATE TABLE a(x INTEGER, y BLOB); INSERT INTO a VALUES (1, x'00ff'); CREATE TABLE b(x INTEGER);")
    db.close()
    before = open("two.sqlite", "rb").read()
    for path, message in (
            ("two.sqlite", "two.sqlite: which table? write FILE:TABLE; there are: a, b"),
            ("two.sqlite:c", "SQLite: no such table: c"),
            ("two.sqlite:a", 'column "y", row 1 contains bytes (a BLOB), not text or a number'),
            ("two.sqlite:SELECT x, x AS y FROM b", "there are no objects in the file, only a header"),
            ("two.sqlite:SELECT x FROM a; DROP TABLE a", 'one query at a time, not "DROP TABLE a"'),
            ("two.sqlite:WITH q AS (SELECT 1) DELETE FROM a", "not authorized"),
            ("two.sqlite:SELECT load_extension('/x')", "not authorized"),
            ("two.sqlite:SELECT FROM", "SQLite: near"),
            ("missing.sqlite:a", "cannot be opened")):
        done = tap.mercer("info", path, status=None)
        assert done.returncode and message in done.stderr, (path, done.stderr)
        tap.check_equal(len(done.stderr.strip().splitlines()), 1)
    tap.check_equal(open("two.sqlite", "rb").read(), before)
    with open("damaged.sqlite", "wb") as out:
        out.write(open("shop.sqlite", "rb").read()[:5000])
    done = tap.mercer("info", "damaged.sqlite:shop", status=None)
    assert done.returncode and "SQLite: database disk image is malformed" in done.stderr, done.stderr
    with open("two.sqlite", "rb") as pipe:
        done = tap.mercer("info", "-", stdin=pipe.read(), status=None, text=False)
    assert b"is read from a file of its own" in done.stderr, done.stderr


if __name__ == "__main__":
    tap.main(globals())
