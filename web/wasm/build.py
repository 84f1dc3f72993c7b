"""build.py EMCC SOURCE_ROOT WORK_DIR OUTPUT SOURCES...: the engine as one script for a Web Worker.

Compiles the library and the engine with emcc, a file at a time on all cores, and only those that changed, and
links them into a script that holds its WebAssembly as text. A source NAME@ARGS is compiled with more arguments,
with commas between them.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys

FLAGS = ["-O3", "-std=gnu11", "-D_GNU_SOURCE", "-ffp-contract=off", "-fno-math-errno", "-DNDEBUG", "-w"]
LINK = ["-O3", "-sMODULARIZE=1", "-sEXPORT_NAME=createStudio", "-sSINGLE_FILE=1", "-sENVIRONMENT=worker",
        "-sALLOW_MEMORY_GROWTH=1", "-sMAXIMUM_MEMORY=2GB", "-sINITIAL_MEMORY=64MB", "-sTOTAL_STACK=4MB",
        "-sFILESYSTEM=1", "-sEXPORTED_FUNCTIONS=_studio_ask,_malloc,_free"]


def compile_one(emcc, root, work, source):
    """The object of a source; made again if the source or a header that it reads has changed."""
    path, _, more = source.partition("@")
    # clang 14 does not come to an end with the logarithm of vmath.c in vectors of doubles.
    simd = [] if path.endswith("vmath.c") else ["-msimd128"]
    call = [*emcc, *FLAGS, *simd, *[a for a in more.split(",") if a], "-I" + str(root / "web/wasm"),
            "-I" + str(root / "include"), "-I" + str(root / "src"), "-I" + str(root / "cli"), "-c", path]
    name = hashlib.sha256(" ".join(call).encode()).hexdigest()[:24]
    obj, deps = work / (name + ".o"), work / (name + ".d")
    if obj.exists() and deps.exists():
        words = deps.read_text().replace("\\\n", " ").split()[1:]
        made = obj.stat().st_mtime
        if all(os.path.exists(w) and os.stat(w).st_mtime <= made for w in words):
            return obj, ""
    done = subprocess.run([*call, "-MMD", "-MF", str(deps), "-o", str(obj)], capture_output=True, text=True)
    return obj, done.stderr if done.returncode else ""


def direct(emcc):
    """The compiler that emcc calls, with its arguments: starting emcc takes longer than most files do."""
    try:
        flags = subprocess.run([emcc, "--cflags"], capture_output=True, text=True, check=True).stdout.split()
        folder = subprocess.run([os.path.join(os.path.dirname(emcc), "em-config"), "LLVM_ROOT"],
                                capture_output=True, text=True, check=True).stdout.strip()
        clang = os.path.join(folder, "clang")
        return [clang, *flags] if flags and os.path.exists(clang) else [emcc]
    except (OSError, subprocess.CalledProcessError):
        return [emcc]


def main():
    emcc, root, work, output, *sources = sys.argv[1:]
    root, work = pathlib.Path(root), pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("NODE_PATH", "/usr/share/nodejs")
    objects, compiler = [], direct(emcc)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for obj, fault in pool.map(lambda s: compile_one(compiler, root, work, s), sources):
            if fault:
                pool.shutdown(cancel_futures=True)
                return fault
            objects.append(str(obj))
    made = work / "engine.js"
    done = subprocess.run([emcc, *LINK, *objects, "-o", str(made)], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    worker = (root / "web/wasm/worker.js").read_text()
    pathlib.Path(output).write_text(made.read_text() + worker)
    return 0


if __name__ == "__main__":
    sys.exit(main())
