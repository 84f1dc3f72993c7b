#!/usr/bin/env bash
# headers.sh ROOT: each public header compiles alone, without a warning, as C99, C11 and C++, with
# gcc and with clang. Prints TAP. SPDX-License-Identifier: Apache-2.0
set -u
cd "$1" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

warn="-Wall -Wextra -Wshadow -Wconversion -Wpedantic -Werror -fsyntax-only -Iinclude"
count=0 failed=0
try() { # NAME FILE STANDARDS COMPILER...
    local name=$1 file=$2 standards=$3 used=0 bad=0 compiler std
    shift 3
    : > "$work/log"
    for compiler in "$@"; do
        command -v "$compiler" > /dev/null || continue
        for std in $standards; do
            used=$((used + 1))
            "$compiler" "-std=$std" $warn "$file" >> "$work/log" 2>&1 || bad=1
        done
    done
    count=$((count + 1))
    if [ "$used" -eq 0 ]; then
        echo "ok $count - $name # SKIP none of $* is here"
    elif [ "$bad" -eq 0 ]; then
        echo "ok $count - $name"
    else
        failed=1
        echo "not ok $count - $name"
        sed 's/^/# /' "$work/log"
    fi
}

for header in include/mercer/*.h; do
    name=${header#include/}
    # Twice, so that a missing include guard shows.
    printf '#include <%s>\n#include <%s>\nextern int one;\n' "$name" "$name" > "$work/alone.c"
    cp "$work/alone.c" "$work/alone.cc"
    try "$name as C" "$work/alone.c" "c99 c11" gcc clang
    try "$name as C++" "$work/alone.cc" "c++11 c++17" g++ clang++
done
echo "1..$count"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
