#!/usr/bin/env bash
# install-test.sh BUILD: installs into a scratch folder and uses what is there as a stranger would:
# pkg-config, shared and static, the program. Prints TAP. SPDX-License-Identifier: Apache-2.0
set -u
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DESTDIR=$work/root
cc=${CC:-cc}

count=0 failed=0
try() { # NAME COMMAND...
    local name=$1
    shift
    count=$((count + 1))
    if "$@" > "$work/log" 2>&1; then
        echo "ok $count - $name"
    else
        failed=1
        echo "not ok $count - $name"
        tail -n 20 "$work/log" | sed 's/^/# /'
    fi
}

try "meson install" meson install -C "$build" --no-rebuild
pc=$(find "$DESTDIR" -name mercer.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$DESTDIR LD_LIBRARY_PATH=$libdir
unset DESTDIR

cat > "$work/user.c" << 'EOF'
#include <mercer/context.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    mcr *ctx;
    char wanted[32];
    if (mcr_open(&ctx, NULL) != MCR_OK)
        return 1;
    mcr_close(ctx);
    snprintf(wanted, sizeof wanted, "%d.%d.%d", MCR_VERSION_MAJOR, MCR_VERSION_MINOR,
             MCR_VERSION_PATCH);
    puts(mcr_version());
    return strcmp(mcr_version(), wanted) != 0;
}
EOF
only_shared() {
    $cc -o "$work/user" "$work/user.c" $(pkg-config --cflags --libs mercer) &&
        readelf -d "$work/user" | grep -q 'NEEDED.*libmercer\.so\.0\b'
}
static_libs() { # the archive, with what it stands on as shared libraries
    $cc -o "$work/user-static" "$work/user.c" $(pkg-config --cflags mercer) "$libdir/libmercer.a" \
        $(pkg-config --libs $(pkg-config --print-requires-private mercer)) -lm -pthread
}
same_version() {
    [ "$(pkg-config --modversion mercer)" = "$("$work/user")" ]
}
headers_there() {
    local header
    for header in "$(dirname "$0")"/../include/mercer/*.h; do
        cmp "$header" "$(find "$PKG_CONFIG_SYSROOT_DIR" -path "*/mercer/${header##*/}")" || return 1
    done
}
try "all public headers are installed" headers_there
try "a program builds against the shared library" only_shared
try "and runs" "$work/user"
try "a program builds against the static library" static_libs
try "and runs without the shared one" env LD_LIBRARY_PATH= "$work/user-static"
try "pkg-config and the library agree about the version" same_version
compat_apart() { # never where a linker or a loader looks by itself
    local found
    found=$(find "$libdir" -name 'libsvm*' | sed "s|^$libdir/||" | sort | tr '\n' ' ')
    [ "$found" = "mercer/libsvm.so.3 mercer/libsvm.so.4 " ] || [ -z "$found" ]
}
try "libsvm.so.3 and .4 are in a folder of their own" compat_apart
program=$(find "$PKG_CONFIG_SYSROOT_DIR" -path '*/bin/mercer')
if [ -n "$program" ]; then
    try "the installed program runs" env LD_LIBRARY_PATH= "$program" --version
fi
echo "1..$count"
exit $failed
