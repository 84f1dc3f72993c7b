"""make_svm_reference.py: writes svm_reference.json, the values that svm.py compares with, by LIBSVM.

    MERCER=build/mercer python3 tests/oracle/make_svm_reference.py

Needs Debian's libsvm-tools (or LIBSVM_BIN), and the real data sets (MERCER_DATA) for those parts.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import svm_cases as cases  # noqa: E402


TOLERANCE = "1e-9"  # finer than what is compared


def reference(case):
    result = cases.reference_of(case, cases.make_data(case.data), TOLERANCE)
    print("%-70s %.6f" % (cases.name_of(case), result["objective"]), flush=True)
    return result


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        all_cases = list(cases.sample_cases()) + list(cases.real_cases())
        result = {"made by": "LIBSVM's svm-train -e " + TOLERANCE,
                  "cases": {cases.name_of(c): reference(c) for c in all_cases},
                  "data": {d: cases.fingerprint(cases.make_data(d))
                           for d in sorted({c.data for c in all_cases})}}
    with open(HERE / "svm_reference.json", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
