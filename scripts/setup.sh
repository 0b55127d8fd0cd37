#!/bin/sh
# scripts/setup.sh - installs what streamlab needs and this machine lacks, with apt-get,
# dnf or brew. Prints nothing when nothing is missing.
#
#   sh scripts/setup.sh              what scripts/configure.sh says is missing
#   sh scripts/setup.sh --browser    what the .html report is tested in
#   sh scripts/setup.sh --notebook   what `make check-notebook` runs
#   sh scripts/setup.sh --playground  what `make playground` needs, and what tests it
#   sh scripts/setup.sh --slurm      what `make check-slurm` runs
#   sh scripts/setup.sh --lint       what `make lint` runs
#   sh scripts/setup.sh --aarch64    what `make check-aarch64` compiles with, and runs in
#
# The Makefile runs it. It gets root rights through sudo, and only when it needs them.
set -u

# ---- what is missing --------------------------------------------------------

# Sets `missing` to the names of what is missing.
look() {
    missing=$(sh "$(dirname "$0")/configure.sh" --missing) || exit 1
    missing=${missing:+ $missing}
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

# The same for make playground, and for its tests.
look_for_playground() {
    look_for_browser
    command -v emcc >/dev/null 2>&1 || missing="$missing emscripten"
    command -v wasm-opt >/dev/null 2>&1 || missing="$missing binaryen"
    command -v esbuild >/dev/null 2>&1 || missing="$missing esbuild"
    [ -d /usr/share/javascript/codemirror ] || missing="$missing codemirror"
}

# The same for make check-slurm.
look_for_slurm() {
    missing=
    PATH=$PATH:/usr/sbin command -v slurmctld >/dev/null 2>&1 || missing="$missing slurm"
    command -v parallel >/dev/null 2>&1 || missing="$missing parallel"
}

# The same for make check-notebook: one of the Pythons has Jupyter.
look_for_notebook() {
    missing=
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import ipykernel, nbclient, numpy' 2>/dev/null && return 0
    done
    missing=" jupyter"
}

# The same for make check-aarch64.
look_for_aarch64() {
    missing=
    command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || missing="$missing gcc-aarch64-linux-gnu"
    command -v aarch64-linux-gnu-g++ >/dev/null 2>&1 || missing="$missing g++-aarch64-linux-gnu"
    command -v qemu-aarch64 >/dev/null 2>&1 || missing="$missing qemu-user"
}

# The same for make lint.
look_for_linters() {
    missing=
    command -v clang-format >/dev/null 2>&1 || missing="$missing clang-format"
    command -v luacheck >/dev/null 2>&1 || missing="$missing luacheck"
    command -v shellcheck >/dev/null 2>&1 || missing="$missing shellcheck"
    # For form.lua. luacheck may bring an older one.
    command -v lua5.4 >/dev/null 2>&1 || lua -e 'assert(_VERSION == "Lua 5.4")' >/dev/null 2>&1 ||
        missing="$missing lua-program"
}

# ---- installing -----------------------------------------------------------

package() { # MANAGER NAME: the packages of that package manager
    case $1:$2 in
    apt-get:lua) echo liblua5.4-dev ;;
    apt-get:lua-program) echo lua5.4 ;;
    apt-get:blas) echo libopenblas0 ;;
    apt-get:sqlite) echo libsqlite3-0 ;;
    apt-get:zlib) echo zlib1g-dev ;;
    apt-get:libseccomp) echo libseccomp-dev ;;
    apt-get:prove) echo perl ;;
    apt-get:python) echo python3 ;;
    apt-get:chromium) echo chromium ;;
    apt-get:chromedriver) echo chromium-driver ;;
    apt-get:luacheck) echo lua-check ;;
    apt-get:codemirror) echo libjs-codemirror ;;
    apt-get:emscripten | apt-get:binaryen | apt-get:esbuild) echo "$2" ;;
    apt-get:*-aarch64-linux-gnu | apt-get:qemu-user) echo "$2" ;;
    apt-get:slurm) echo slurmctld slurmd slurm-client munge ;;
    apt-get:jupyter) echo python3-ipykernel python3-nbclient python3-numpy ;;
    apt-get:parallel) echo parallel ;;
    apt-get:clang-format | apt-get:shellcheck) echo "$2" ;;
    dnf:lua) echo lua-devel lua-static ;;
    dnf:lua-program) echo lua ;;
    dnf:blas) echo openblas-serial ;;
    dnf:sqlite) echo sqlite-libs ;;
    dnf:zlib) echo zlib-devel ;;
    dnf:libseccomp) echo libseccomp-devel libseccomp-static ;;
    dnf:prove) echo perl-Test-Harness ;;
    dnf:python) echo python3 ;;
    dnf:clang-format) echo clang-tools-extra ;;
    dnf:shellcheck) echo ShellCheck ;;
    dnf:slurm) echo slurm-slurmctld slurm-slurmd slurm munge ;;
    dnf:jupyter) echo python3-ipykernel python3-nbclient python3-numpy ;;
    dnf:parallel) echo parallel ;;
    dnf:chromium | dnf:chromedriver | dnf:luacheck) echo "$2" ;;
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

# shellcheck disable=SC2086 # packages, root and apt hold several words
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
        # A source that does not answer may not be needed; the installation shows it.
        apt="$root env DEBIAN_FRONTEND=noninteractive apt-get"
        run $apt update -qq || echo "streamlab setup: going on with the package lists of before."
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
--browser) ensure look_for_browser ;;
--notebook) ensure look_for_notebook ;;
--playground) ensure look_for_playground ;;
--slurm) ensure look_for_slurm ;;
--lint) ensure look_for_linters ;;
--aarch64) ensure look_for_aarch64 ;;
'') ensure look ;;
*)
    echo "usage: scripts/setup.sh [--browser | --notebook | --playground | --slurm | --lint | --aarch64]" >&2
    exit 2
    ;;
esac
