#!/bin/sh
# tests/fuzz/lua_source.sh FOLDER - puts Lua 5.4's C sources into FOLDER/src, unless they are there.
#
# LUA_SOURCE=folder in the environment names the folder of Lua's lapi.c and is copied. Else they
# are the ones of the distribution's source package, which apt-get fetches without root rights;
# where there is neither, this fails with a sentence.
set -u
folder=$1
[ -f "$folder/src/lapi.c" ] && exit 0
mkdir -p "$folder/apt/lists/partial" "$folder/apt/sources" "$folder/new"

if [ -n "${LUA_SOURCE:-}" ]; then
    [ -f "$LUA_SOURCE/lapi.c" ] || { echo "LUA_SOURCE: there is no $LUA_SOURCE/lapi.c" >&2; exit 1; }
    cp "$LUA_SOURCE"/*.[ch] "$folder/new" && mv "$folder/new" "$folder/src"
    exit
fi

fail() {
    echo "Lua's sources cannot be had ($*): give LUA_SOURCE=folder, the one of Lua 5.4's lapi.c" >&2
    exit 1
}

command -v apt-get >/dev/null 2>&1 || fail "there is no apt-get"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $list in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" ;;
    *.list) sed -n 's/^deb \|^deb-src /deb-src /p' "$list" ;;
    esac >"$folder/apt/sources/$(basename "$list")" 2>/dev/null
done
cd "$folder/apt" || exit 1
apt() {
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$PWD/sources" \
        -o "Dir::State::Lists=$PWD/lists" -o "Dir::Cache=$PWD" "$@" >messages 2>&1
}
apt update          # one source that does not answer need not matter
apt source --download-only lua5.4 || fail "apt-get source: $(tail -n 1 messages)"
tar xf lua5.4_*.orig.tar.* --strip-components=1 -C ../new || fail "tar"
mv ../new/src ../src
