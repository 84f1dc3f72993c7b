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
[ -n "$files" ] || files=$(find src include cli tests examples bench -name '*.[ch]')

count=0 failed=0
for file in $files; do
    [ -e "$file" ] || continue
    count=$((count + 1))
    if ! clang-format --dry-run -Werror "$file" > /dev/null 2>&1; then
        failed=$((failed + 1))
        echo "$file: not formatted"
    fi
done
echo "format: $count files, $failed not formatted"
[ "$failed" -eq 0 ]
