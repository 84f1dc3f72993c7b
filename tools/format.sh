#!/usr/bin/env bash
# format.sh ROOT: is all C code as clang-format would write it? `clang-format -i FILE` mends it.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$1" || exit 1
if ! command -v clang-format > /dev/null; then
    echo "1..0 # SKIP no clang-format"
    exit 77
fi
# Tracked files where git knows them, else (an unpacked archive) all of them.
files=$(git ls-files '*.c' '*.h' 2> /dev/null)
[ -n "$files" ] || files=$(find src include cli web compat tests examples bench -name '*.[ch]')
files=$(grep -v '^tests/abi/.*/include/' <<< "$files") # headers of releases stay as they were

# One call for many files: starting the program costs more than its work.
bad=$(for file in $files; do [ ! -e "$file" ] || echo "$file"; done |
    xargs -n 50 -P 2 clang-format --dry-run -Werror 2>&1 |
    sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error:.*/\1: not formatted/p' | sort -u)
[ -z "$bad" ] || echo "$bad"
echo "format: $(wc -w <<< "$files") files"
[ -z "$bad" ]
