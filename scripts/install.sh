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

# Prints "MODE SOURCE FOLDER" for each file; of a link, MODE is "link", and FOLDER the link itself.
# Sources have no blanks.
list() {
    echo "755 $build/streamlab $BINDIR"
    echo "755 $build/streamlab.so $LUA_CMOD"
    for library in streamlab_cuda.so libstreamlab_record.so; do
        [ ! -f "$build/$library" ] || echo "755 $build/$library $LIBDIR/streamlab"
    done
    echo "644 $build/share/completion.bash $DATADIR/bash-completion/completions"
    echo "644 $build/man/streamlab.1 $MANDIR/man1"
    echo "644 $build/man/streamlab-lua.3 $MANDIR/man3"
    echo "644 $build/share/streamlab.d.lua $DATADIR/streamlab/luals"
    echo "644 docs/luarc.json $DATADIR/streamlab"
    # All but the tools of the build.
    find scripts \( -name '*.lua' -o -name '*.change' -o -name '*.py' -o -name '*.md' \) \
        ! -path scripts/form.lua ! -path scripts/rock.py | while read -r file; do
        echo "644 $file $DATADIR/streamlab/${file%/*}"
    done
    # The pages have links to scripts, as they lie in the repository.
    echo "link ../../streamlab/scripts $DATADIR/doc/streamlab/scripts"
    for file in README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md LICENSE VERSION; do
        echo "644 $file $DATADIR/doc/streamlab"
    done
    find docs \( -name '*.md' -o -name '*.svg' \) ! -path 'docs/api/*' | while read -r file; do
        echo "644 $file $DATADIR/doc/streamlab/${file%/*}"
    done
    echo "644 docs/results/benchmark.jsonl $DATADIR/doc/streamlab/docs/results"
}

# Puts files into a folder, by a few processes for all of them. They are copied beside it and then
# renamed: a program that runs keeps its file.
put() ( # MODE FOLDER SOURCE...
    mode=$1 folder=$2 beside=$2/.streamlab.$$
    shift 2
    trap 'rm -rf "$beside"' EXIT
    mkdir -p "$beside"
    install -m "$mode" "$@" "$beside"
    # bash looks for the command's own name, and editors in the folder of this installation.
    [ ! -f "$beside/completion.bash" ] || mv "$beside/completion.bash" "$beside/streamlab"
    [ ! -f "$beside/luarc.json" ] ||
        sed "s|/usr/local/share|$DATADIR|" docs/luarc.json >"$beside/luarc.json"
    mv -f "$beside"/* "$folder"
)

install_all() {
    into=''
    set --
    while read -r mode source folder; do
        if [ $# -gt 0 ] && [ "$mode ${DESTDIR:-}$folder" != "$into" ]; then
            put "${into%% *}" "${into#* }" "$@"
            set --
        fi
        into="$mode ${DESTDIR:-}$folder"
        if [ "$mode" = link ]; then
            mkdir -p "${DESTDIR:-}${folder%/*}"
            ln -sfn "$source" "${DESTDIR:-}$folder"
        else
            set -- "$@" "$source"
        fi
    done
    [ $# = 0 ] || put "${into%% *}" "${into#* }" "$@"
}

# The path of each file.
targets() {
    list | while read -r mode source folder; do
        case $mode/$source in
        link/*) echo "${DESTDIR:-}$folder" ;;
        */completion.bash) echo "${DESTDIR:-}$folder/streamlab" ;;
        *) echo "${DESTDIR:-}$folder/${source##*/}" ;;
        esac
    done
}

# Removes the files, and their folders as far up as they are streamlab's own and empty: those inside
# others first.
uninstall_all() {
    targets | tr '\n' '\0' | xargs -0 rm -f
    targets | sed 's|/[^/]*$||' | LC_ALL=C sort -ru | while read -r folder; do
        while case $folder in */streamlab | */streamlab/*) true ;; *) false ;; esac; do
            rmdir "$folder" 2>/dev/null || break
            folder=${folder%/*}
        done
    done
}

case $action in
install) list | LC_ALL=C sort -k 3 -k 1,1 | install_all ;;
uninstall) uninstall_all ;;
*) echo "scripts/install.sh: unknown action '$action'" >&2; exit 2 ;;
esac
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
