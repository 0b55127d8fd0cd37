#!/bin/sh
# 80-install.t.sh - the program works where make install puts it, and make uninstall removes
# all of it; the rockspec is valid.
#
# The files come from the build under test; make itself is not run.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$root" || exit 1
build=$(dirname "${STREAMLAB:-build/streamlab}")
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
unset STREAMLAB_BACKEND STREAMLAB_CUDA_PLUGIN LUA_PATH LUA_CPATH LUA_PATH_5_4 LUA_CPATH_5_4
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

skip() { # NAME WHY
    run=$((run + 1))
    echo "ok $run - $1 # SKIP $2"
}

place() { # ACTION PREFIX [DESTDIR]
    DESTDIR=${3:-} PREFIX=$2 BINDIR=$2/bin LIBDIR=$2/lib DATADIR=$2/share MANDIR=$2/share/man \
        LUA_CMOD=$2/lib/lua/5.4 sh scripts/install.sh "$1" "$build"
}

# ---- installing -------------------------------------------------------------

here=$folder/a\ b/usr
place install "$here" >"$folder/said" 2>&1
check $? "installing works, also below a folder with a blank in its name"
said=$("$here/bin/streamlab" --backend sim -e 'print(lab.device().name)' 2>&1)
[ "$said" = "textbook GPU (simulated)" ] || [ "$said" = "textbook GPU" ]
check $? "the installed program runs"
for file in share/man/man1/streamlab.1 share/man/man3/streamlab-lua.3 \
    share/bash-completion/completions/streamlab share/streamlab/scripts/puzzler.lua \
    share/streamlab/luals/streamlab.d.lua share/doc/streamlab/README.md; do
    [ -s "$here/$file" ]
    check $? "$file is there"
done
[ "$(find "$here" -type f ! -perm -u=r | wc -l)" = 0 ] && [ -x "$here/bin/streamlab" ] &&
    [ ! -x "$here/share/streamlab/scripts/puzzler.lua" ]
check $? "programs are executable, and other files are not"
# What is in scripts/ and not installed builds and packs the program, and nothing else does.
(cd scripts && find . -type f ! -path './*.sh' ! -path ./gpus.c ! -path ./form.lua ! -path ./rock.py | sort) >"$folder/ours"
(cd "$here/share/streamlab/scripts" && find . -type f | sort) | diff "$folder/ours" - >"$folder/differs"
check $? "all scripts, labs and profiles are there, and no tool of the build"
sed 's/^/# /' "$folder/differs"
said=$(cd "$folder" && "$here/bin/streamlab" --backend sim "$here/share/streamlab/scripts/puzzler.lua" |
    grep -c '^makespan ')
[ "$said" -ge 3 ]
check $? "the installed puzzler runs from another folder"
(cd "$folder" && "$here/bin/streamlab" probe --profile textbook | grep -q cudaMalloc)
check $? "the installed program finds its instruments"

dead=
for link in $(cd docs && grep -oh '](\.\./\.\./scripts/[^)#]*' guide/*.md results/*.md | sort -u); do
    [ -e "$here/share/doc/streamlab/docs/guide/${link#](}" ] || dead="$dead ${link#](}"
done
[ -z "$dead" ]
check $? "links of the installed pages lead to the installed scripts"
[ -z "$dead" ] || echo "# dead:$dead"

grep -q "^plain lua5.4 finds the module with: export LUA_CPATH='$here/lib/lua/5.4/?.so;;'\$" "$folder/said"
check $? "what plain lua5.4 needs to find the module there is reported"

lua=${STREAMLAB_LUA:-lua5.4}
if [ -n "${STREAMLAB_SANITIZE:-}" ] || ! command -v "$lua" >/dev/null 2>&1; then
    skip "plain lua5.4 requires the installed module" "no lua5.4, or a sanitized build"
else
    said=$(LUA_CPATH="$here/lib/lua/5.4/?.so" "$lua" -e \
        'print(require("streamlab").open{backend = "sim"}.simulated)')
    [ "$said" = true ]
    check $? "plain lua5.4 requires the installed module"
fi

# A file in the plugin's place is looked at from the program and from the module.
mkdir -p "$here/lib/streamlab"
echo "no library" >"$here/lib/streamlab/streamlab_cuda.so"
"$here/bin/streamlab" -e 'lab.open{backend = "cuda"}' 2>&1 | grep -q 'streamlab_cuda\.so: .*cannot be loaded\|streamlab_cuda.so.*\(ELF\|short\|header\|loaded\)'
check $? "the program finds the plugin in lib/streamlab"

place uninstall "$here" >"$folder/said" 2>&1
check $? "uninstalling works"
rm -f "$here/lib/streamlab/streamlab_cuda.so"
rmdir "$here/lib/streamlab" 2>/dev/null
[ -z "$(find "$here" ! -type d)" ] && [ ! -d "$here/share/streamlab" ] &&
    [ ! -d "$here/share/doc/streamlab" ]
check $? "and leaves no file and no folder of its own"

place install /usr "$folder/stage" >"$folder/said" 2>&1 && [ -x "$folder/stage/usr/bin/streamlab" ]
check $? "DESTDIR stands in front of every path"
[ "$(find "$folder/stage" -type f ! -path "$folder/stage/usr/*" | wc -l)" = 0 ]
check $? "and nothing is put elsewhere"
place install relative "$folder/other" >"$folder/said" 2>&1
[ $? = 2 ] && grep -q 'PREFIX must be an absolute path' "$folder/said"
check $? "a relative PREFIX is refused with a sentence"

# ---- the rock ----------------------------------------------------------------

if command -v luarocks >/dev/null 2>&1; then
    luarocks lint streamlab-scm-1.rockspec >"$folder/said" 2>&1
    check $? "luarocks finds no fault in it"
else
    skip "luarocks finds no fault in it" "no luarocks"
fi

# ---- completion in bash --------------------------------------------------------

offered() { # WORD...: what is offered for the last one
    COMPLETION=$build/share/completion.bash bash -c '
        source "$COMPLETION"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _streamlab
        printf "%s\n" "${COMPREPLY[@]}" | LC_ALL=C sort | tr "\n" " "' \
        bash "${STREAMLAB:-build/streamlab}" "$@"
}
if command -v bash >/dev/null 2>&1; then
    [ "$(offered --ba)" = "--backend " ]
    check $? "bash completes an option"
    [ "$(offered --backend '')" = "cuda sim " ]
    check $? "and the values that it has"
    [ "$(offered --color = al)" = "always " ]
    check $? "also behind an equals sign"
    [ "$(offered --check = '')" = "error warn " ]
    check $? "where a value needs one"
    [ "$(offered --check scripts/puz)" = "scripts/puzzler.lua " ]
    check $? "and a script without one"
    case " $(offered --profile '')" in *" h200 "*" t4 "*) true ;; *) false ;; esac
    check $? "profiles by name"
    [ "$(offered dif)" = "diff " ]
    check $? "subcommands"
    [ "$(offered show --ex)" = "--explain " ]
    check $? "options of a subcommand"
    [ "$(offered lab '')" = "check grade new pack print " ] && [ "$(offered lab grade --for)" = "--format " ] &&
        [ "$(offered lab grade --format ju)" = "junit " ]
    check $? "and the words, options and formats of lab"
    [ "$(offered scripts/puz)" = "scripts/puzzler.lua " ]
    check $? "and files"
    missing=
    for option in $("${STREAMLAB:-build/streamlab}" --help | grep -o '^  --[a-z][a-z]*'); do
        case " $(offered "$option")" in *" $option "*) ;; *) missing="$missing $option" ;; esac
    done
    [ -z "$missing" ]
    check $? "no option of --help is missing"
    [ -z "$missing" ] || echo "# missing:$missing"
else
    for name in 1 2 3 4 5 6 7 8 9 10 11; do skip "completion in bash, $name" "no bash"; done
fi

echo "1..$run"
[ "$failed" = 0 ]
