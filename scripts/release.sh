#!/bin/sh
# scripts/release.sh DIST - the four files of a release of the last commit, in DIST:
#
#   streamlab-VERSION.tar.gz          the source
#   streamlab-VERSION-1.src.rock      the module for LuaRocks, to be compiled
#   streamlab-VERSION-...whl          the program and the kernel for Jupyter, for pip
#   streamlab_VERSION_....deb         the same for Debian
#   SHA256SUMS                        their checksums
#
# The last three are built from the first one. The same commit, compilers and libraries give the same
# bytes, wherever and whenever it runs: times are those of the commit, names are sorted, owners are
# root, and no path of the machine is in a file. `make release` runs it. CC and NVCC as for make, of
# which it takes no other setting; JOBS is how many files are compiled at a time.
set -eu
umask 022
export LC_ALL=C TZ=UTC

fail() {
    echo "make release: $*" >&2
    exit 1
}

[ $# = 1 ] || fail 'usage: scripts/release.sh DIST'
cd "$(dirname "$0")/.."
mkdir -p "$1"
dist=$(cd "$1" && pwd)
git rev-parse -q --verify HEAD >/dev/null || fail 'a release is made from a commit of a clone'
[ -z "$(git status --porcelain)" ] || fail 'the clone has changes that no commit has'
for program in dpkg-deb dpkg-shlibdeps python3; do
    command -v "$program" >/dev/null || fail "needs $program (apt-get install dpkg-dev python3)"
done
version=$(cat VERSION)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
# What was given to the make that runs this: another BUILD has old objects, another CFLAGS paths.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$work/dist"
archive=$work/dist/streamlab-$version.tar.gz

git -c tar.umask=0022 archive --format=tar --prefix="streamlab-$version/" HEAD | gzip -9n >"$archive"
tar -xzf "$archive" -C "$work"
cd "$work/streamlab-$version"
python3 scripts/rock.py "$version" "$archive" "$work/dist"
# In the environment: the Makefile adds to them.
CFLAGS="-O2 -g -ffile-prefix-map=$PWD=."
export CFLAGS
make -j"$jobs" BUILD=build DIST="$work/dist" wheel deb

cd "$work/dist"
sha256sum streamlab* >SHA256SUMS
rm -f "$dist"/streamlab[-_]*
cp streamlab* SHA256SUMS "$dist"
cat SHA256SUMS
