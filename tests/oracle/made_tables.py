"""Tables like those people have, made at random: holes, categories, ids, dates, names.

    python3 made_tables.py NAME ROWS FILE [SEED]      NAME: adult, abalone, passengers, insurance

Each function gives a header and rows of text; the class is in the last column, called as the name TARGETS
says. What the classes depend on is known: numbers, categories, and both together.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import datetime
import math
import random
import sys

TARGETS = {"adult": "income", "abalone": "age", "passengers": "survived", "insurance": "caravan"}


def noise(r, scale):
    return scale * r.gauss(0, 1)


def adult(rows, r):
    """Income of people: "?" where something is not known."""
    work = ["Private", "Self-emp", "Local-gov", "State-gov", "Federal-gov"]
    school = ["HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate", "11th", "Assoc-voc"]
    married = ["Married", "Never-married", "Divorced", "Widowed"]
    job = ["Sales", "Craft", "Exec", "Prof", "Clerical", "Service", "Transport", "Farming"]
    country = ["United-States", "Mexico", "Germany", "India", "Canada"]
    gain = {"HS-grad": 0, "Some-college": .3, "Bachelors": 1.2, "Masters": 1.6, "Doctorate": 2.2, "11th": -1,
            "Assoc-voc": .4}
    pay = {"Sales": .2, "Craft": 0, "Exec": 1.2, "Prof": .9, "Clerical": -.3, "Service": -1.2, "Transport": -.2,
           "Farming": -.9}
    out = []
    for i in range(rows):
        age = min(90, max(17, round(38 + noise(r, 13))))
        weight = round(math.exp(12 + noise(r, .5)))
        hours = min(99, max(1, round(40 + noise(r, 11))))
        s, j = r.choice(school), r.choice(job)
        m = "Never-married" if age < 25 and r.random() < .8 else r.choice(married)
        sex = r.choice(["Male", "Female"])
        capital = round(math.exp(8 + noise(r, 1))) if r.random() < .08 else 0
        z = (gain[s] + pay[j] + (1.6 if m == "Married" else -.9) - ((age - 48) / 14) ** 2 * .7
             + (hours - 40) / 16 + (1.8 if capital > 3000 else 0) + .3 * (sex == "Male") - .9)
        income = ">50K" if z + noise(r, .9) > 0 else "<=50K"
        w, c = r.choice(work), r.choices(country, [90, 4, 2, 2, 2])[0]
        w = "?" if r.random() < .06 else w
        j = "?" if r.random() < .06 else j
        c = "?" if r.random() < .02 else c
        out.append([age, w, weight, s, m, j, sex, capital, hours, c, income])
    return ["age", "workclass", "fnlwgt", "education", "marital", "occupation", "sex", "capital-gain", "hours",
            "country", "income"], out


def abalone(rows, r):
    """Shellfish in three classes of age: seven sizes that depend on each other, and a sex."""
    out = []
    for i in range(rows):
        years = max(1, 3 + r.gammavariate(4, 1.8))
        sex = "I" if years + noise(r, 2) < 8 else r.choice("MF")
        length = .75 * (1 - math.exp(-years / 6)) * (1 + noise(r, .06))
        diameter = .8 * length * (1 + noise(r, .03))
        height = .28 * diameter * (1 + noise(r, .08))
        whole = 3.5 * length ** 3 * (1 + noise(r, .08)) * (1.1 if sex == "F" else 1)
        shell = (.2 + .012 * years) * whole * (1 + noise(r, .08))
        shucked, viscera = .45 * whole * (1 + noise(r, .08)), .22 * whole * (1 + noise(r, .08))
        age = "young" if years < 8 else "old" if years > 12 else "adult"
        out.append([sex] + ["%.3f" % v for v in (length, diameter, height, whole, shucked, viscera, shell)]
                   + [age])
    return ["sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell", "age"], out


def passengers(rows, r):
    """Who survived: ids, names, tickets of both kinds, cabins that are mostly not known, missing ages, a date."""
    first = ["Anna", "Bertha", "Clara", "Emil", "Fritz", "Hans", "Ida", "Karl", "Lena", "Max"]
    last = ["Ahlin", "Becker", "Carlsson", "Dahl", "Engel", "Fischer", "Gustafsson", "Haas", "Jensen", "Karlsson"]
    out = []
    for i in range(rows):
        cabin_class = r.choices([1, 2, 3], [24, 21, 55])[0]
        sex = r.choices(["male", "female"], [65, 35])[0]
        age = min(80, max(.5, round(30 + 4 * (2 - cabin_class) + noise(r, 14), 1)))
        siblings, parents = r.choices([0, 1, 2, 3], [68, 23, 6, 3])[0], r.choices([0, 1, 2], [76, 13, 11])[0]
        fare = round(math.exp(4.6 - .75 * cabin_class + noise(r, .4)), 4)
        port = r.choices("SCQ", [72, 19, 9])[0]
        z = (1.5 if sex == "female" else -1.3) + (2.1 if age < 13 and cabin_class < 3 else 0)
        z += (1.4 if cabin_class == 1 else 0 if cabin_class == 2 else -.9 if sex == "female" else -.1)
        z -= .5 * (siblings > 2) + (.015 * (age - 30) if sex == "male" else 0)
        survived = int(z + noise(r, .9) > 0)
        title = "Mrs." if sex == "female" else "Mr."
        name = "%s, %s %s %s%d" % (r.choice(last), title, r.choice(first), r.choice(last), i)
        ticket = str(r.randrange(10000, 400000)) if r.random() < .7 else "%s/%d %d" % (
            r.choice(["A", "PC", "SC", "W.E.P"]), r.randrange(9), r.randrange(1000, 99999))
        cabin = "%s%d" % (r.choice("ABCDE"), r.randrange(1, 130)) if r.random() < .25 else ""
        bought = datetime.date(1912, 1, 1) + datetime.timedelta(days=r.randrange(100))
        out.append([i + 1, cabin_class, name, sex, "" if r.random() < .2 else age, siblings, parents, ticket, fare,
                    cabin, "" if r.random() < .01 else port, bought.isoformat(), survived])
    return ["passenger_id", "pclass", "name", "sex", "age", "sibsp", "parch", "ticket", "fare", "cabin",
            "embarked", "bought", "survived"], out


def insurance(rows, r):
    """86 columns, 43 of them words; few of them matter."""
    letters = "ABCDEFGHIJ"
    words = [letters[:3 + k % 7] for k in range(43)]
    out = []
    for i in range(rows):
        kind = [r.choice(w) for w in words]
        number = [round(noise(r, 1) * (1 + k % 5) + k, 2) for k in range(42)]
        z = sum((.9, -.5, .4)[k % 3] * (kind[k] in "AC") for k in range(6))
        z += sum((number[k] - k) / (1 + k % 5) * (.8, -.6)[k % 2] for k in range(6)) - .35
        z += .8 * (kind[0] == "A") * (number[0] > 0)
        row = [v for pair in zip(kind, number) for v in pair] + [kind[-1]]
        out.append(row + ["yes" if z + noise(r, .6) > 0 else "no"])
    header = [h for k in range(42) for h in ("k%d" % k, "n%d" % k)] + ["k42"]
    return header + ["caravan"], out


MAKERS = {"adult": adult, "abalone": abalone, "passengers": passengers, "insurance": insurance}


def write(name, rows, path, seed=1):
    header, table = MAKERS[name](rows, random.Random("%s %d" % (name, seed)))
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(table)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3], int((sys.argv + ["1"])[4]))
