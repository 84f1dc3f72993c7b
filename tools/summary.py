"""summary.py TITLE TESTLOG.JSON COUNTS: what a run of `meson test` amounts to.

Prints a line for each program (its subtests counted where it prints TAP), what the failed ones said
and why skipped ones were skipped; appends "passed failed skipped" to the file COUNTS.
summary.py --total COUNTS prints the sums as the closing line and exits 1 if anything failed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import re
import sys

RESULT = re.compile(r"^(not )?ok\b(?:\s+\d+)?\s*-?\s*(.*?)\s*(?:#\s*(SKIP)\S*\s*(.*))?$", re.I)
WHY = re.compile(r"^#\s*skip(?:ped)?:\s*(.*)$", re.I)
PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\s*(.*))?$", re.I)
COUNT = re.compile(r"^# \d+ [a-z]")
MOST_LINES = 60


def read_tap(text):
    """(passed, [failed names], [(skipped name, why)], planned); planned None: it is no TAP."""
    passed, failed, skipped, planned, reason = 0, [], [], None, ""
    for line in text.splitlines():
        plan, result, why = PLAN.match(line), RESULT.match(line), WHY.match(line)
        if why:
            reason = why[1]
        elif plan:
            planned = (planned or 0) + int(plan[1])
            if plan[2]:
                skipped.append(("all of it", plan[2]))
        elif result and result[3]:
            # cmocka writes "not ok 2 # SKIP name"; our C tests print "# skip: why" before that.
            name, note = (result[2], result[4]) if result[2] else (result[4], reason)
            skipped.append((name, note or "the test does not say why"))
            reason = ""
        elif result and result[1]:
            failed.append(result[2])
        elif result:
            passed += 1
    return passed, failed, skipped, planned


def outcome(test):
    """(passed, [failed], [(skipped, why)], what to show) of one program."""
    output, good = test.get("stdout") or "", test["result"] in ("OK", "EXPECTEDFAIL")
    passed, failed, skipped, planned = read_tap(output)
    show = (output + "\n" + (test.get("stderr") or "")).strip().splitlines()
    if test["result"] == "SKIP":
        why = skipped[0][1] if skipped else (show[-1] if show else "no reason given")
        return 0, [], [(test["name"], why)], []
    if planned is None:
        return (1, [], [], []) if good else (0, [test["name"]], [], show)
    ran = passed + len(failed) + len([s for s in skipped if s[0] != "all of it"])
    if test["result"] == "TIMEOUT" or not good and not failed:
        failed = failed + ["it ended early (%s)" % test["result"].lower()]
    elif good and ran != planned:
        failed.append("%d tests of %d planned" % (ran, planned))
    return passed, failed, skipped, show if failed else []


def report(title, log, counts):
    total = [0, 0, 0]
    with open(log, encoding="utf-8") as lines:
        tests = [json.loads(line) for line in lines]
    for test in sorted(tests, key=lambda t: t["name"]):
        name = test["name"].split(":", 1)[-1].replace(" / ", " ")
        passed, failed, skipped, show = outcome(test)
        total = [total[0] + passed, total[1] + len(failed), total[2] + len(skipped)]
        print("  %-4s %-32s %4d passed%s%s  %.1f s" % (
            "FAIL" if failed else "ok", name, passed,
            ", %d failed" % len(failed) if failed else "",
            ", %d skipped" % len(skipped) if skipped else "", test["duration"]))
        for line in (test.get("stdout") or "").splitlines():
            if COUNT.match(line):  # what a sweep tried
                print("       " + line[2:])
        for what, why in skipped:
            print("       skipped: %s: %s" % (what, why))
        for what in failed:
            print("       FAILED: %s: %s" % (title, what))
        show = [line for line in show if not line.startswith("ok ")]
        for line in show[:MOST_LINES]:
            print("       | " + line)
        if len(show) > MOST_LINES:
            print("       | ... and %d more lines in %s" % (len(show) - MOST_LINES, log))
    with open(counts, "a", encoding="utf-8") as out:
        print(*total, file=out)


def closing(counts):
    with open(counts, encoding="utf-8") as lines:
        passed, failed, skipped = map(sum, zip(*(map(int, line.split()) for line in lines)))
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if sys.argv[1] == "--total":
        sys.exit(closing(sys.argv[2]))
    report(*sys.argv[1:])
