#!/bin/sh
# scripts/install.sh install|uninstall BUILD - puts what was built in folder BUILD, with the
# scripts and the pages, below DESTDIR, or removes it from there.
# The Makefile calls it (make install, make uninstall) with these in the environment:
#   DESTDIR  in front of every path, for packagers; may be empty
#   PREFIX   /usr/local, or another absolute path; BINDIR, LIBDIR, DATADIR and MANDIR are
#            below it
#   LUA_CMOD where plain lua5.4 looks for modules in C
# The installed program finds its files relative to itself, so that the folder can be moved.
set -eu

action=$1 build=$2
: "${PREFIX:?}" "${BINDIR:?}" "${LIBDIR:?}" "${DATADIR:?}" "${MANDIR:?}" "${LUA_CMOD:?}"
case $PREFIX in
/*) ;;
*) echo "make $action: PREFIX must be an absolute path, got '$PREFIX'" >&2; exit 2 ;;
esac

# Prints "MODE SOURCE TARGET" for each file; of a link, MODE is "link". Names here have no blanks.
list() {
    echo "755 $build/streamlab $BINDIR/streamlab"
    echo "755 $build/streamlab.so $LUA_CMOD/streamlab.so"
    [ ! -f "$build/streamlab_cuda.so" ] ||
        echo "755 $build/streamlab_cuda.so $LIBDIR/streamlab/streamlab_cuda.so"
    echo "644 repl/commands/completion.bash $DATADIR/bash-completion/completions/streamlab"
    echo "644 $build/man/streamlab.1 $MANDIR/man1/streamlab.1"
    echo "644 $build/man/streamlab-lua.3 $MANDIR/man3/streamlab-lua.3"
    echo "644 $build/share/streamlab.d.lua $DATADIR/streamlab/luals/streamlab.d.lua"
    echo "644 docs/luarc.json $DATADIR/streamlab/luarc.json"
    find scripts \( -name '*.lua' -o -name '*.py' -o -name '*.md' \) | while read -r file; do
        echo "644 $file $DATADIR/streamlab/$file"
    done
    # The pages have links to scripts, as they lie in the repository.
    echo "link ../../streamlab/scripts $DATADIR/doc/streamlab/scripts"
    for file in README.md CONTRIBUTING.md LICENSE; do
        echo "644 $file $DATADIR/doc/streamlab/$file"
    done
    find docs \( -name '*.md' -o -name '*.svg' \) ! -path 'docs/api/*' | while read -r file; do
        echo "644 $file $DATADIR/doc/streamlab/$file"
    done
    echo "644 docs/results/benchmark.jsonl $DATADIR/doc/streamlab/docs/results/benchmark.jsonl"
}

put() { # MODE SOURCE TARGET
    [ -d "${3%/*}" ] || mkdir -p "${3%/*}"
    if [ "$1" = link ]; then ln -sfn "$2" "$3"; return; fi
    # Beside its name and then renamed: a program that runs keeps its file.
    case $2 in
    docs/luarc.json)
        sed "s|/usr/local/share|$DATADIR|" "$2" >"$3.new$$"
        chmod "$1" "$3.new$$"
        ;;
    *) install -m "$1" "$2" "$3.new$$" ;;
    esac
    mv -f "$3.new$$" "$3"
}

# Removes a file, and its folders as far up as they are streamlab's own and empty.
drop() { # TARGET
    rm -f "$1"
    folder=${1%/*}
    while case $folder in */streamlab | */streamlab/*) true ;; *) false ;; esac; do
        rmdir "$folder" 2>/dev/null || break
        folder=${folder%/*}
    done
}

list | LC_ALL=C sort | while read -r mode source target; do
    case $action in
    install) put "$mode" "$source" "${DESTDIR:-}$target" ;;
    uninstall) drop "${DESTDIR:-}$target" ;;
    *) echo "scripts/install.sh: unknown action '$action'" >&2; exit 2 ;;
    esac
done
case $action in
install)
    echo "streamlab is in ${DESTDIR:-}$BINDIR; man streamlab, streamlab --help"
    case $LUA_CMOD in
    /usr/local/lib/lua/5.4 | /usr/lib/lua/5.4) ;;      # plain lua5.4 looks there by itself
    *) echo "plain lua5.4 finds the module with: export LUA_CPATH='$LUA_CMOD/?.so;;'" ;;
    esac
    ;;
uninstall) echo "streamlab is gone from ${DESTDIR:-}$PREFIX" ;;
esac
