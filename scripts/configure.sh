#!/bin/sh
# scripts/configure.sh - finds what streamlab is built with on this machine.
#
#   sh scripts/configure.sh             print it as variables of make; the Makefile writes them
#                                       to build/config.mk
#   sh scripts/configure.sh --missing   print the names of what is missing, which
#                                       scripts/setup.sh can install
#
# Environment: CC, CPPFLAGS and CFLAGS look for headers and libraries; LUA_INCLUDE, LUA_LIBRARY
# and LUA win over the Lua that is found; NVCC is CUDA's compiler, empty for a build without;
# LIBSECCOMP=0 builds without that library, HARDEN=0 without a compiler's checks;
# GPUS is empty where there is no GPU to ask.
set -u

compiler=${CC:-cc}
command -v "${compiler%% *}" >/dev/null 2>&1 || {
    echo "streamlab needs a C compiler, and $compiler is not here: install gcc or clang, or give CC=" >&2
    exit 1
}
system=$(uname)
missing=

lacks() { # NAME
    missing="$missing $1"
}

any_of() { # FILE...: one of them exists
    for candidate; do
        [ -e "$candidate" ] && return 0
    done
    return 1
}

# ---- libraries --------------------------------------------------------------

has_header() { # HEADER; the flags are words of the shell, as in the Makefile's commands
    echo "#include <$1>" |
        eval "$compiler ${CPPFLAGS:-} ${CFLAGS:-} -fsyntax-only -xc - 2>/dev/null"
}

# What links the program with a library: its static library and those that it needs, where all
# are there, so that the program can be copied to a machine without; their names are hidden,
# because another library that the program loads may bring its own. Otherwise FLAG.
link() { # FLAG LIBRARY...
    flag=$1 archives='' hidden=''
    shift
    for library; do
        archive=$($compiler -print-file-name="lib$library.a")
        case $archive in
        /*) archives="$archives $archive" hidden="$hidden:lib$library.a" ;;
        *) archives='' && break ;;
        esac
    done
    case $archives:$system in
    :*) echo "$flag" ;;
    *:Darwin) echo "${archives# }" ;;
    *) echo "${archives# } -Wl,--exclude-libs,${hidden#:}" ;;
    esac
}

find_libraries() {
    has_zlib='' program_zlib=''
    call_filter='' program_filter=''
    if has_header zlib.h; then
        has_zlib=yes program_zlib=$(link -lz z)
    else
        lacks zlib
    fi
    if [ "$system" = Linux ] && [ "${LIBSECCOMP:-1}" != 0 ]; then
        if has_header seccomp.h; then
            call_filter=libseccomp program_filter=$(link -lseccomp seccomp)
        else
            lacks libseccomp
        fi
    fi
}

# ---- Lua --------------------------------------------------------------------

is_lua_54() { # FOLDER: holds the headers of Lua 5.4
    grep -q 'LUA_VERSION_NUM[[:space:]]*504' "$1/lua.h" 2>/dev/null && [ -f "$1/lualib.h" ]
}

ask_pkg_config() { # sets pc_include and pc_libdir
    pc_include='' pc_libdir=''
    command -v pkg-config >/dev/null 2>&1 || return
    for name in lua5.4 lua-5.4 lua54 lua; do
        pc_include=$(pkg-config --variable=includedir "$name" 2>/dev/null) || continue
        pc_libdir=$(pkg-config --variable=libdir "$name" 2>/dev/null)
        is_lua_54 "$pc_include" && return
    done
    pc_include='' pc_libdir=''
}

find_lua_library() { # sets lua_include and lua_library; empty where missing
    lua_include=${LUA_INCLUDE:-} lua_library=${LUA_LIBRARY:-}
    ask_pkg_config
    for prefix in "$pc_include" /usr /usr/local /opt/homebrew/opt/lua@5.4 /opt/homebrew/opt/lua \
        /usr/local/opt/lua@5.4 /usr/local/opt/lua; do
        for folder in "$prefix" "$prefix/include" "$prefix/include/lua5.4" \
            "$prefix/include/lua"; do
            [ -z "$lua_include" ] && is_lua_54 "$folder" && lua_include=$folder
        done
        for library in "$prefix"/lib/liblua5.4.a "$prefix"/lib/*/liblua5.4.a \
            "$prefix"/lib64/liblua5.4.a "$pc_libdir"/liblua*5.4.a "$pc_libdir"/liblua.a \
            "$prefix"/lib/liblua.a "$prefix"/lib64/liblua.a; do
            [ -z "$lua_library" ] && [ -f "$library" ] && lua_library=$library
        done
    done
    if [ -z "$lua_include" ] || [ -z "$lua_library" ]; then lacks lua; fi
}

find_lua_program() { # sets lua_program; empty where missing
    for program in ${LUA:-} lua5.4 lua-5.4 lua54 lua /opt/homebrew/opt/lua@5.4/bin/lua \
        /usr/local/opt/lua@5.4/bin/lua; do
        lua_program=$(command -v "$program" 2>/dev/null) || continue
        case $program in *5*4*) return ;; esac
        "$lua_program" -e 'os.exit(_VERSION == "Lua 5.4")' 2>/dev/null && return
    done
    lua_program=''
    lacks lua-program
}

# ---- what only runs need ------------------------------------------------------

look_for_programs() {
    # Accelerate and SQLite are part of macOS.
    [ "$system" = Darwin ] || any_of /usr/lib/*/libopenblas.so* /usr/lib64/libopenblas.so* \
        /usr/lib/libopenblas.so* /usr/lib/*/libcblas.so* /usr/lib64/libcblas.so* \
        /usr/local/lib*/libopenblas.so* || lacks blas
    [ "$system" = Darwin ] || any_of /usr/lib/*/libsqlite3.so.0 /usr/lib64/libsqlite3.so.0 \
        /usr/lib/libsqlite3.so.0 /usr/local/lib*/libsqlite3.so.0 || lacks sqlite
    command -v prove >/dev/null 2>&1 || lacks prove
}

# ---- CUDA ---------------------------------------------------------------------

# Sets cuda_home, nvcc_arches, gpu_arches, and either cuda_lib, the folder of the run-time's static
# library, or cuda_lacks, which says what nvcc lacks to build the plugin.
find_cuda() {
    cuda_home='' cuda_lib='' nvcc_arches='' gpu_arches='' cuda_lacks=''
    [ -n "${NVCC:-}" ] || return
    nvcc=$(command -v "$NVCC") || { cuda_lacks=$NVCC && return; }
    cuda_home=$(readlink -f "$nvcc")
    cuda_home=${cuda_home%/bin/nvcc}
    for folder in lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib; do
        [ -z "$cuda_lib" ] && [ -e "$cuda_home/$folder/libcudart_static.a" ] &&
            cuda_lib=$cuda_home/$folder
    done
    [ -n "$cuda_lib" ] || cuda_lacks="$cuda_lacks libcudart_static.a"
    for header in cublasLt.h nvrtc.h nvtx3/nvToolsExt.h; do
        [ -e "$cuda_home/include/$header" ] || cuda_lacks="$cuda_lacks $header"
    done
    command -v g++ c++ clang++ >/dev/null || cuda_lacks="$cuda_lacks g++"
    if [ -n "$cuda_lacks" ]; then
        cuda_lib=''
    else
        nvcc_arches=$("$NVCC" --list-gpu-code | sed -n 's/^sm_//p' | tr '\n' ' ')
        [ -z "${GPUS:-}" ] || ask_gpus
    fi
}

# Sets cupti_h, CUPTI's header, which is all that the recorder of other programs (core/record) needs
# to be built, and cupti_inc, the flags that find it. From CUDA 12.8 on events have the numbers of their records.
find_cupti() {
    cupti_h='' cupti_inc=''
    for folder in "$cuda_home" "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        for below in include extras/CUPTI/include; do
            [ -z "$cupti_h" ] && [ -n "$folder" ] && [ -e "$folder/include/cuda.h" ] &&
                grep -qs CUpti_ActivityCudaEvent2 "$folder/$below/cupti_activity.h" &&
                cupti_h=$folder/$below/cupti_activity.h &&
                cupti_inc="-isystem $folder/$below -isystem $folder/include"
        done
    done
}

ask_gpus() { # sets gpu_arches: of each kind of GPU that answers, from the earliest on
    probe=$(mktemp -d) || return
    eval "$compiler -o '$probe/gpus' '${0%/*}/gpus.c' -ldl" &&
        gpu_arches=$("$probe/gpus" | sort -nu | tr '\n' ' ')
    rm -rf "$probe"
}

# ---- hardening ----------------------------------------------------------------

# What distributions build with, as far as this compiler knows it: the stack is checked where a
# function returns, copies into arrays of a known size are checked, and tables of addresses cannot
# be written once the program is loaded. The second needs optimisation, and may be in CFLAGS.
takes() { # FLAG...: compiles and links a program with them without a warning
    printf '#include <string.h>\nint main(int n, char **v) { char t[9]; return (int)(n && strcpy(t, *v)); }\n' \
        >"$probe/probe.c"
    eval "$compiler ${CPPFLAGS:-} ${CFLAGS:-} -Werror $* -o '$probe/probe' '$probe/probe.c'" 2>/dev/null
}

find_hardening() {
    harden_compile='' harden_link=''
    [ "${HARDEN:-1}" != 0 ] || return
    probe=$(mktemp -d) || return
    for flag in -fstack-protector-strong '-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2'; do
        case " ${CPPFLAGS:-} ${CFLAGS:-}:$flag" in
        *_FORTIFY_SOURCE*:*_FORTIFY_SOURCE*) continue ;;
        esac
        takes "$flag" && harden_compile="$harden_compile $flag"
    done
    for flag in -Wl,-z,relro -Wl,-z,now; do
        takes "$flag" && harden_link="$harden_link $flag"
    done
    takes -pie -fPIC && harden_pie=-pie
    rm -rf "$probe"
}

# ---- the answer -----------------------------------------------------------------

find_lua_library
find_lua_program
find_libraries
look_for_programs
missing=${missing# }
case ${1:-} in
--missing) echo "$missing" && exit ;;
'') ;;
*) echo "usage: scripts/configure.sh [--missing]" >&2 && exit 2 ;;
esac
find_cuda
find_cupti
harden_pie=''
find_hardening
cat <<END
HARDEN_COMPILE := ${harden_compile# }
HARDEN_LINK  := ${harden_link# }
HARDEN_PIE   := $harden_pie
MISSING      := $missing
SYSTEM       := $system
PROCESSORS   := $(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
LUA_INC      := $lua_include
LUA_LIB      := $lua_library
LUA_PROG     := $lua_program
HAS_ZLIB     := $has_zlib
PROGRAM_ZLIB := $program_zlib
CALL_FILTER  := $call_filter
PROGRAM_FILTER := $program_filter
CUDA_HOME    := $cuda_home
CUDA_LIB     := $cuda_lib
CUDA_LACKS   := ${cuda_lacks# }
CUPTI_H      := $cupti_h
CUPTI_INC    := $cupti_inc
NVCC_ARCHES  := $nvcc_arches
GPU_ARCHES   := $gpu_arches
END
