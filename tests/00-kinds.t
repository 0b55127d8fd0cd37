#!/bin/sh
# 00-kinds.t - no `default:` stands where kinds (of operations, calls, spans, causes, kernels,
# collectives, reductions, values, events of a trace) are switched on: it would hide a new kind from the
# compiler, which finds the switches that lack it.
# The checker (layers/kinds.awk) is checked itself, on files with a planted sin.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

sins() { # FILE...
    awk -f "$root/tests/layers/kinds.awk" "$@"
}

found=$(cd "$root" && find core bindings repl -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' |
    LC_ALL=C sort | xargs awk -f tests/layers/kinds.awk)
[ -z "$found" ]
check $? "no default: hides a new kind"
[ -z "$found" ] || echo "$found" | sed 's/^/#   /' >&2

planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT

# A switch with these lines in it.
plant() { # NAME LINE...
    name=$1
    shift
    {
        echo 'int f(int kind)'
        echo '{'
        echo '    switch (kind) {'
        for line in "$@"; do echo "    $line"; done
        echo '    }'
        echo '    return 0;'
        echo '}'
    } >"$planted/$name.c"
}

plant work 'case SL_WORK_KERNEL: return 1;' 'default: return 2;'
plant first 'default: return 2;' 'case SL_CALL_PLAIN: return 1;'
plant inner 'case SL_SPAN_KERNEL:' '    switch (kind) {' '    case 1: return 3;' '    }' '    break;' \
    'default: break;'
plant collective 'case SL_SEND: return 1;' 'default: return 2;'
plant reduction 'case SL_MAX: return 1;' 'default: return 2;'
plant called 'case SL__CALLED_EVENT: return 1;' 'default: return 2;'
plant value 'case VALUE_SPLICE: return 1;' 'default: return 2;'
plant other 'case 1: return 1;' 'default: return 2;'
plant all 'case SL_CAUSE_UNKNOWN:' 'case SL_CAUSES: break;'
plant outer 'case SL_FAMILY_SUM:' '    switch (kind) {' '    default: return 3;' '    }' '    break;'

for name in work first inner collective reduction called value; do
    [ -n "$(sins "$planted/$name.c")" ]
    check $? "the checker finds the default: of $name.c"
done
for name in other all outer; do
    [ -z "$(sins "$planted/$name.c")" ]
    check $? "the checker allows $name.c"
done

echo "1..$run"
[ "$failed" = 0 ]
