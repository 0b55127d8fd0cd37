#!/bin/sh
# setup.sh - makes a container ready for grading; Gradescope runs it once, as root.
#
# The program beside it needs nothing but the C library, and no network. With OpenBLAS the
# matrices of large tests are multiplied faster; without it they are multiplied all the same.
here=$(cd "$(dirname "$0")" && pwd) || exit 1

fail() { # WORD...
    echo "setup.sh: $*" >&2
    exit 1
}

chmod 755 "$here/streamlab" "$here/run_autograder" 2>/dev/null

said=$("$here/streamlab" --backend sim -e 'print(lab.ones(2):sum():item())' 2>&1)
status=$?
case $status:$said in
0:*2.0*) ;;
*GLIBC_*)
    needed=$(echo "$said" | sed -n 's/.*\(GLIBC_[0-9.]*\).*/\1/p' | sort -V | tail -n 1)
    fail "the streamlab in this zip was built on a newer Linux than this container has:" \
        "it needs $needed. Choose a newer base image in the autograder's settings, or build" \
        "streamlab on a Linux as old as this one (for example in a container of the same image)" \
        "and run 'streamlab lab pack' there."
    ;;
*'shared librar'*)
    fail "the streamlab in this zip needs a library that this container does not have:" "$said" \
        "Build streamlab where the static libraries are (sh scripts/setup.sh installs them)," \
        "and pack again."
    ;;
*[Ee]'xec format'* | 126:*)
    fail "the streamlab in this zip is for another kind of machine than this container" \
        "($(uname -sm)): run 'streamlab lab pack' on Linux with the same kind of processor."
    ;;
*) fail "streamlab does not run in this container (exit status $status):" "$said" ;;
esac

apt() { # ARGUMENT...: does not wait for a network that is not there
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=15 \
        -o DPkg::Lock::Timeout=60 "$@" >/dev/null 2>&1
}
install_blas() {
    apt install -y --no-install-recommends libopenblas0
}
if ! ls /usr/lib/*/libopenblas.so* >/dev/null 2>&1; then
    install_blas || { apt update && install_blas; } ||
        echo "setup.sh: libopenblas0 could not be installed; going on without it."
fi

# A lab with kernels of the students' own needs a C++ compiler.
install_compiler() {
    apt install -y --no-install-recommends g++
}
if grep -q '^[^-]*kernels *= *true' "$here/lab/lab.lua" && ! command -v g++ >/dev/null &&
    ! command -v clang++ >/dev/null; then
    install_compiler || { apt update && install_compiler; } ||
        fail "this lab grades kernels of the students' own, which needs a C++ compiler, and g++" \
            "could not be installed."
fi

# What a submission needs besides: processes, pipes, and to find the program again.
trial=$(mktemp -d) && : >"$trial/nothing.lua" || fail "no temporary file can be made."
said=$("$here/streamlab" lab grade "$here/lab" "$trial/nothing.lua" -o "$trial/results.json" 2>&1)
status=$?
rm -rf "$trial"
[ "$status" -eq 0 ] ||
    fail "an empty submission could not be graded in this container (exit status $status):" "$said"
echo "setup.sh: streamlab runs, and has graded an empty submission; ready for grading."
