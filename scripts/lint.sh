#!/bin/sh
# scripts/lint.sh - what compilers do not report: luacheck over all Lua, shellcheck over all
# shell scripts, the form of Lua and of pages (form.lua), and whether all C and CUDA is formatted.
# The settings, with the exceptions, are .luacheckrc, .shellcheckrc, form.lua and .clang-format.
#
#   sh scripts/lint.sh            the check; the status is 1 where it finds something
#   sh scripts/lint.sh --format   formats all C and CUDA in place, as .clang-format says
#
# It installs nothing: sh scripts/setup.sh --lint does. `make lint` and `make format` run it.
set -u
cd "$(dirname "$0")/.." || exit 1
# Other versions of clang-format break lines elsewhere.
version=14
failed=0

files() { # PATTERN...: those in git, and new ones
    git ls-files --cached --others --exclude-standard -- "$@"
}

shell_scripts() {
    files | while read -r file; do
        case $(head -c 20 "$file" 2>/dev/null | tr -d '\0' | head -n 1) in
        '#!'*/sh | '#!'*/env\ bash | '#!'*/bash) echo "$file" ;;
        esac
    done
    files '*.bash'
}

need() { # PROGRAM
    command -v "$1" >/dev/null 2>&1 && return
    echo "make lint: $1 is missing; sh scripts/setup.sh --lint installs it" >&2
    failed=1
    return 1
}

clang_format() { # OPTION...: over all C and CUDA
    program=$(command -v clang-format-$version || echo clang-format)
    need "$program" || return
    case $("$program" --version) in
    *"version $version."*) files '*.c' '*.h' '*.cu' '*.cuh' | xargs "$program" "$@" || failed=1 ;;
    *)
        echo "make lint: formatting needs clang-format $version and is left out; this is" \
            "$("$program" --version)" >&2
        if [ "$1" = -i ]; then failed=1; fi
        ;;
    esac
}

form() { # of all but pages that are generated, and submissions that try to cheat
    lua=lua5.4
    lua -e 'assert(_VERSION == "Lua 5.4")' >/dev/null 2>&1 && lua=lua
    need "$lua" || return
    files '*.lua' '*.change' '*.md' '*.c' '*.h' '*.cu' '*.cuh' ':!docs/reference' ':!tests/labs/attacks' |
        xargs "$lua" scripts/form.lua || failed=1
}

case ${1:-} in
--format) clang_format -i ;;
'')
    need luacheck && { files '*.lua' | xargs luacheck -q || failed=1; }
    need shellcheck && { shell_scripts | xargs shellcheck || failed=1; }
    form
    clang_format --dry-run -Werror
    ;;
*) echo "usage: scripts/lint.sh [--format]" >&2 && exit 2 ;;
esac
exit $failed
