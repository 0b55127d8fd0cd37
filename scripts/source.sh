#!/bin/sh
# scripts/source.sh - the source of a Debian package, for what is built for another machine.
#
#   sh scripts/source.sh PACKAGE FOLDER    unpacks upstream's archive there, and makes FOLDER/.done
#
# apt checks the archive against Debian's signature. Its lists and cache lie beside the folder, so
# that this needs no root rights and changes nothing of the system's.
set -eu

package=$1 folder=$2
work=$(cd "$(dirname "$folder")" && pwd)/apt
keys=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
    echo "streamlab: the source of $package: $*" >&2
    exit 1
}

apt() { # with lists of its own
    apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
        -o APT::Sandbox::User="$(id -un)" "$@"
}

command -v apt-get >/dev/null 2>&1 || fail "comes from Debian with apt-get, which is not here"
[ -f "$keys" ] || fail "needs the package debian-archive-keyring"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$folder"
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
echo "deb-src [signed-by=$keys] http://deb.debian.org/debian $codename main" >"$work/sources.list"
[ -f "$work/updated" ] || { apt update && touch "$work/updated"; } || fail "no list of packages"
(cd "$work" && apt source --download-only "$package" >/dev/null) || fail "cannot be downloaded"
archive=$(find "$work" -name "${package}_*.orig.tar.*" ! -name '*.asc' | head -n 1)
[ -n "$archive" ] || fail "has no upstream archive"
tar -xf "$archive" -C "$folder" --strip-components=1
touch "$folder/.done"
