#!/bin/sh
# 00-plugin.t.sh - the plugin as a file: what it exports, what it and the program link.
program=${STREAMLAB:-build/streamlab}
plugin=$(dirname "$program")/streamlab_cuda.so
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

[ -f "$plugin" ] || skip_all "this build has no CUDA backend"
command -v nm >/dev/null 2>&1 && command -v readelf >/dev/null 2>&1 ||
    skip_all "nm and readelf (binutils) are not here"

exported=$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | LC_ALL=C sort | tr '\n' ' ')
[ "$exported" = "sl_backend_entry " ]
check $? "the plugin exports sl_backend_entry and nothing else"
[ "$exported" = "sl_backend_entry " ] || echo "# it exports: $exported" >&2

needed() { # FILE
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}
cuda='^lib(cuda|cudart|cublas|cublasLt|cupti|nv[a-zA-Z]*)\.so'
! needed "$plugin" | grep -Eq "$cuda"
check $? "the plugin links none of CUDA's shared libraries"
! needed "$program" | grep -Eq "$cuda"
check $? "the program links none of CUDA's libraries"
! needed "$(dirname "$program")/streamlab.so" | grep -Eq "$cuda"
check $? "the module links none of CUDA's libraries"
! needed "$plugin" | grep -q 'libstdc++'
check $? "the plugin does without the C++ run-time"
! nm -D --undefined-only "$plugin" | grep -Eq ' (lua|luaL)_'
check $? "the plugin knows no Lua"
# Its segment is aligned to a page, which the loader's spare room rarely has: it would not be loaded.
! readelf -d "$plugin" | grep -q STATIC_TLS
check $? "the plugin's thread-local variables can be anywhere"

code=$(command -v cuobjdump || ls /usr/local/cuda/bin/cuobjdump 2>/dev/null)
if [ -n "$code" ]; then
    elf=$("$code" --list-elf "$plugin")
    arches=$(cat "$(dirname "$program")/cuda_arches")
    for arch in $arches; do
        echo "$elf" | grep -q "sm_$arch\."
        check $? "the plugin has code for sm_$arch, for which it was built"
    done
    lowest() { # OPTION
        "$code" "$1" "$plugin" | sed -n 's/.*sm_\([0-9]*\).*/\1/p' | sort -n | head -1
    }
    [ "$(lowest --list-elf)" = "$(lowest --list-ptx)" ]
    check $? "and PTX for all GPUs from the earliest on that it has code for"
fi
echo "1..$run"
