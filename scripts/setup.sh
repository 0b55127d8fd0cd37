#!/bin/sh
# scripts/setup.sh - finds what streamlab needs on this machine, and installs
# what is missing with apt-get, dnf or brew. Prints nothing when nothing is.
#
#   sh scripts/setup.sh              install what is missing
#   sh scripts/setup.sh --find-lua   print Lua's include folder, library and
#                                    interpreter ("-" for one that is missing)
#   sh scripts/setup.sh --browser    install what the .html report is tested in
#   sh scripts/setup.sh --plots      install what plots are drawn with
#
# The Makefile calls both. LUA_INCLUDE, LUA_LIBRARY and LUA in the environment
# win over what is found. Root rights are had through sudo, and only when needed.
set -u

# ---- what is there --------------------------------------------------------

is_lua_54() { # FOLDER: holds the headers of Lua 5.4
    grep -q 'LUA_VERSION_NUM[[:space:]]*504' "$1/lua.h" 2>/dev/null && [ -f "$1/lualib.h" ]
}

find_lua() { # sets lua_include, lua_library, lua_program; "-" where missing
    lua_include=${LUA_INCLUDE:--} lua_library=${LUA_LIBRARY:--} lua_program=-
    pc_include= pc_libdir=
    if command -v pkg-config >/dev/null 2>&1; then
        for name in lua5.4 lua-5.4 lua54 lua; do
            pc_include=$(pkg-config --variable=includedir "$name" 2>/dev/null) || continue
            pc_libdir=$(pkg-config --variable=libdir "$name" 2>/dev/null)
            is_lua_54 "$pc_include" && break
            pc_include= pc_libdir=
        done
    fi
    for prefix in "$pc_include" /usr /usr/local /opt/homebrew/opt/lua@5.4 /opt/homebrew/opt/lua \
        /usr/local/opt/lua@5.4 /usr/local/opt/lua; do
        for folder in "$prefix" "$prefix/include" "$prefix/include/lua5.4" \
            "$prefix/include/lua"; do
            [ "$lua_include" = - ] && is_lua_54 "$folder" && lua_include=$folder
        done
        for library in "$prefix"/lib/liblua5.4.a "$prefix"/lib/*/liblua5.4.a \
            "$prefix"/lib64/liblua5.4.a "$pc_libdir"/liblua*5.4.a "$pc_libdir"/liblua.a \
            "$prefix"/lib/liblua.a "$prefix"/lib64/liblua.a; do
            [ "$lua_library" = - ] && [ -f "$library" ] && lua_library=$library
        done
    done
    for program in ${LUA:-} lua5.4 lua-5.4 lua54 lua /opt/homebrew/opt/lua@5.4/bin/lua \
        /usr/local/opt/lua@5.4/bin/lua; do
        if [ "$lua_program" = - ] && path=$(command -v "$program" 2>/dev/null); then
            case $program in
            *5*4*) lua_program=$path ;;
            *) "$path" -e 'os.exit(_VERSION == "Lua 5.4")' 2>/dev/null && lua_program=$path ;;
            esac
        fi
    done
    return 0
}

any_of() { # FILE...: one of them is there
    for candidate; do
        [ -e "$candidate" ] && return 0
    done
    return 1
}

have_blas() {
    [ "$(uname)" = Darwin ] && return 0 # Accelerate is part of the system
    any_of /usr/lib/*/libopenblas.so* /usr/lib64/libopenblas.so* /usr/lib/libopenblas.so* \
        /usr/lib/*/libcblas.so* /usr/lib64/libcblas.so* /usr/local/lib*/libopenblas.so*
}

have_header() { # PATH below an include folder
    any_of "/usr/include/$1" /usr/include/*-linux-gnu*/"$1" "/usr/local/include/$1" \
        "/opt/homebrew/include/$1" /opt/homebrew/opt/*/include/"$1" \
        /Library/Developer/*/*/*/usr/include/"$1"
}

# Sets `missing` to the names of what is not there.
look() {
    missing=
    find_lua
    [ "$lua_include" = - ] || [ "$lua_library" = - ] && missing="$missing lua"
    [ "$lua_program" = - ] && missing="$missing lua-program"
    have_blas || missing="$missing blas"
    have_header histedit.h || missing="$missing libedit"
    have_header zlib.h || missing="$missing zlib"
    have_header minizip/zip.h || missing="$missing minizip"
    command -v prove >/dev/null 2>&1 || missing="$missing prove"
    return 0
}

# The same for the tests that need a browser.
look_for_browser() {
    missing=
    command -v python3 >/dev/null 2>&1 || missing="$missing python"
    command -v chromedriver >/dev/null 2>&1 || missing="$missing chromedriver"
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    missing="$missing chromium"
}

# The same for the tests of plots.
look_for_gnuplot() {
    missing=
    command -v gnuplot >/dev/null 2>&1 || missing=" gnuplot"
}

# ---- how it is had --------------------------------------------------------

package() { # MANAGER NAME: the packages of that package manager
    case $1:$2 in
    apt-get:lua) echo liblua5.4-dev ;;
    apt-get:lua-program) echo lua5.4 ;;
    apt-get:blas) echo libopenblas0 ;;
    apt-get:libedit) echo libedit-dev ;;
    apt-get:zlib) echo zlib1g-dev ;;
    apt-get:minizip) echo libminizip-dev ;;
    apt-get:prove) echo perl ;;
    apt-get:gnuplot) echo gnuplot-nox ;;
    apt-get:python) echo python3 ;;
    apt-get:chromium) echo chromium ;;
    apt-get:chromedriver) echo chromium-driver ;;
    dnf:lua) echo lua-devel lua-static ;;
    dnf:lua-program) echo lua ;;
    dnf:blas) echo openblas-serial ;;
    dnf:libedit) echo libedit-devel ;;
    dnf:zlib) echo zlib-devel ;;
    dnf:minizip) echo minizip-compat-devel ;;
    dnf:prove) echo perl-Test-Harness ;;
    dnf:gnuplot) echo gnuplot-minimal ;;
    dnf:python) echo python3 ;;
    dnf:chromium | dnf:chromedriver) echo "$2" ;;
    brew:lua | brew:lua-program) echo lua@5.4 ;;
    brew:prove) echo perl ;;
    brew:*) echo "$2" ;;
    esac
}

fail() {
    echo "streamlab setup: $*" >&2
    exit 1
}

run() { # prints a command, then runs it
    echo "streamlab setup: running: $*"
    "$@"
}

install_missing() {
    manager=
    for candidate in apt-get dnf brew; do
        [ -z "$manager" ] && command -v "$candidate" >/dev/null 2>&1 && manager=$candidate
    done
    [ -n "$manager" ] || fail "missing:$missing; neither apt-get nor dnf nor brew is here" \
        "to install them, so install them by hand, then run make again."
    packages=
    for name in $missing; do
        packages="$packages $(package "$manager" "$name")"
    done
    root=
    if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || fail "missing:$missing; this needs root rights and" \
            "there is no sudo: run '$manager install$packages' as root, then run make again."
        root=sudo
    fi
    echo "streamlab setup: missing:$missing"
    trap 'echo "streamlab setup: interrupted; run make again to go on." >&2; exit 130' INT TERM
    case $manager in
    apt-get)
        # One source that does not answer need not matter: the install tells.
        apt="$root env DEBIAN_FRONTEND=noninteractive apt-get"
        run $apt update -qq || echo "streamlab setup: going on without fresh package lists."
        run $apt install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 $packages
        ;;
    dnf) run $root dnf install -y $packages ;;
    brew) run brew install $packages ;;
    esac || fail "$manager could not install$packages (its messages are above);" \
        "install them by hand, then run make again."
    trap - INT TERM
}

ensure() { # LOOK: a function that sets `missing`
    "$1"
    [ -z "$missing" ] && exit 0
    install_missing
    "$1"
    [ -z "$missing" ] || fail "the packages were installed, but this is still missing:$missing."
}

case ${1:-} in
--find-lua)
    find_lua
    echo "$lua_include $lua_library $lua_program"
    ;;
--browser) ensure look_for_browser ;;
--plots) ensure look_for_gnuplot ;;
'') ensure look ;;
*)
    echo "usage: scripts/setup.sh [--find-lua | --browser | --plots]" >&2
    exit 2
    ;;
esac
