"""Do the tools that check the tree see what they should? SPDX-License-Identifier: Apache-2.0"""

import json
import pathlib
import subprocess
import sys

import tap

TOOLS = tap.ROOT / "tools"


def run(tool, *args):
    return subprocess.run([sys.executable, TOOLS / tool, *args], capture_output=True, text=True)


def tree(files):
    for folder in ("src/base", "include/mercer", "cli", "examples"):
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = pathlib.Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def layer_fault(files, words):
    tree(files)
    done = run("layers.py", ".")
    assert done.returncode == 1 and words in done.stdout, done.stdout


def test_layers_allow_what_stands_before():
    tree({"src/base/a.h": "", "src/gram/g.c": '#include "base/a.h"\n#include <mercer/kernel.h>\n',
          "cli/main.c": '#include <mercer/mercer.h>\n#include "own.h"\n', "cli/own.h": ""})
    done = run("layers.py", ".")
    tap.check_equal(done.returncode, 0, done.stdout)


def test_layers_refuse_what_stands_after():
    layer_fault({"src/gram/g.h": "", "src/base/b.c": '#include "gram/g.h"\n'},
                "src/base/b.c:1: of layer base")


def test_layers_refuse_solvers_that_see_kernels():
    layer_fault({"src/solve/s.c": "#include <mercer/kernel.h>\n"}, "of layer kernel")


def test_layers_refuse_a_program_that_looks_inside():
    layer_fault({"src/base/a.h": "", "cli/main.c": '#include "base/a.h"\n'}, "cli/main.c:1")


def test_layers_refuse_public_headers_beyond_standard_c():
    layer_fault({"include/mercer/data.h": "#include <unistd.h>\n"}, "not standard C")


def test_layers_refuse_blas_outside_linalg():
    layer_fault({"src/gram/g.c": "#include <cblas.h>\n"}, "only linalg")


def test_layers_refuse_headers_that_declare_for_others():
    body = "mcr_status mcr_fit(int a,\n                   int b)\n{\n    return 0;\n}\n"
    layer_fault({"src/model/m.c": body, "include/mercer/learner.h": "MCR_API mcr_status mcr_fit(int a,\n"
                 "                           int b);\n"},
                "include/mercer/learner.h:1: of layer learn declares mcr_fit, which model defines")
    pathlib.Path("include/mercer/learner.h").rename("include/mercer/model.h")
    done = run("layers.py", ".")
    tap.check_equal(done.returncode, 0, done.stdout)


def test_layers_refuse_what_nobody_defines():
    layer_fault({"include/mercer/data.h": "MCR_API const char *const *mcr_names(void);\n"},
                "declares mcr_names, which no layer defines")


def test_includes_see_through_headers():
    tree({"include/mercer/data.h": "", "src/base/a.h": "", "src/solve/good.c": '#include "base/a.h"\n',
          "src/gram/g.h": "#include <mercer/data.h>\n", "src/solve/bad.c": '#include "gram/g.h"\n'})
    done = run("includes.py", ".")
    assert done.returncode == 1, done.stdout
    tap.check_equal(done.stdout, "src/solve/bad.c: reaches include/mercer/data.h\n"
                                 "includes: 2 files, 1 faults\n", "what it says")
    pathlib.Path("src/gram/g.h").write_text("")
    done = run("includes.py", ".")
    tap.check_equal(done.returncode, 0, done.stdout)


def test_functions_that_do_not_fit_a_screen():
    def long(name, lines):
        return "int %s(int a,\n      int b)\n{\n%s}\n" % (name, "done:\n" + "    a += b;\n" * (lines - 5))
    tree({"src/base/b.c": long("fits", 70) + "int declared(int a);\nstruct s {\n" + 80 * "    int a;\n" + "};\n"})
    done = run("functions.py", ".")
    tap.check_equal(done.returncode, 0, done.stdout)
    tree({"src/solve/s.c": "\n" + long("endless", 71), "mpi/m.c": long("vast", 72)})
    done = run("functions.py", ".")
    assert done.returncode == 1 and "src/solve/s.c:2: endless has 71 lines\n" in done.stdout, done.stdout
    assert "mpi/m.c:1: vast has 72 lines\n" in done.stdout, done.stdout
    assert "fits" not in done.stdout and "declared" not in done.stdout, done.stdout


def documents(text):
    pathlib.Path("doc.md").write_text(text)
    return run("docs_examples.py", "doc.md")


def style_faults(files):
    tree({"meson.build": "project('a', version: '0.1.0')\n",
          "include/mercer/context.h": "/* SPDX-License-Identifier: Apache-2.0 */\n" + "".join(
              "#define MCR_VERSION_%s %d\n" % part for part in (("MAJOR", 0), ("MINOR", 1), ("PATCH", 0))),
          **files})
    return run("style.py", ".").stdout


def test_style_sees_wide_lines():
    licence = "SPDX-License-Identifier: Apache-2.0"
    narrow = "/* %s%s */\n" % (licence, "a" * (94 - len(licence)))
    tap.check_equal(style_faults({"src/base/a.c": narrow, "tools/a.py": "# %s\nx = '%s'\n" % (licence, "a" * 110)}),
                    "style: 0 faults\n")
    out = style_faults({"src/base/a.c": narrow + " /* %s */\n" % ("a" * 94),
                        "tools/a.py": "# %s\n# %s\n" % (licence, "a" * 99)})
    for fault in ("src/base/a.c:2: 101 columns", "tools/a.py:2: 101 columns", "style: 2 faults"):
        assert fault in out, out


def test_documents_wildcards():
    done = documents("```console\n$ printf 'a 1\\nb\\nc\\nd 2.5 s\\n'\na ...\n...\nd ... s\n```\n")
    assert done.returncode == 0 and "ok 1 - doc.md:2" in done.stdout, done.stdout


def test_documents_see_other_output():
    done = documents("```console\n$ echo one\ntwo\n```\n")
    assert done.returncode == 1 and "not ok 1" in done.stdout, done.stdout


def test_documents_see_missing_and_extra_lines():
    for shown in ("one\n", "one\ntwo\nthree\n", ""):
        done = documents("```console\n$ printf 'one\\ntwo\\n'\n%s```\n" % shown)
        tap.check_equal(done.returncode, 1, done.stdout)


def test_documents_see_failing_commands():
    tap.check_equal(documents("```console\n$ false\n```\n").returncode, 1)
    shown = "```console\n$ echo 'mercer: no'; exit 1\nmercer: no\n```\n"
    tap.check_equal(documents(shown).returncode, 0)


def test_documents_keep_the_folder_between_blocks():
    done = documents("```console\n$ echo hi > f\n```\n\n```sh\n$ false\n```\n\n"
                     "```console\n$ cat \\\n  f\nhi\n```\n")
    assert done.returncode == 0 and "1..2" in done.stdout, done.stdout


def counted(*tests):
    with open("log.json", "w", encoding="utf-8") as out:
        for name, result, output in tests:
            print(json.dumps({"name": name, "result": result, "stdout": output, "duration": 0}),
                  file=out)
    pathlib.Path("counts").unlink(missing_ok=True)
    shown = run("summary.py", "x", "log.json", "counts")
    tap.check_equal(shown.returncode, 0, shown.stderr)
    total = run("summary.py", "--total", "counts")
    return total.returncode, total.stdout.strip(), shown.stdout


def test_summary_counts_subtests():
    status, line, shown = counted(
        ("a", "OK", "1..3\nok 1 - p\n# skip: no data\nnot ok 2 # SKIP q\nok 3 - r\n"),
        ("b", "OK", "plain words\n"), ("c", "SKIP", "1..0 # SKIP no tool\n"))
    tap.check_equal((status, line), (0, "3 passed, 0 failed, 2 skipped"))
    assert "q: no data" in shown and "no tool" in shown, shown


def test_summary_sees_failures():
    status, line, shown = counted(("a", "FAIL", "1..2\nok 1 - p\nnot ok 2 - bad one\n"))
    tap.check_equal((status, line), (1, "1 passed, 1 failed"))
    assert "bad one" in shown, shown


def test_summary_sees_programs_that_end_early():
    tap.check_equal(counted(("a", "FAIL", "1..9\nok 1 - p\n"))[:2], (1, "1 passed, 1 failed"))
    tap.check_equal(counted(("a", "OK", "1..2\nok 1 - p\n"))[:2], (1, "1 passed, 1 failed"))
    tap.check_equal(counted(("a", "TIMEOUT", ""))[:2], (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    tap.main(globals())
