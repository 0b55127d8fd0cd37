# tests/tap.sh - what tests in sh share: results with numbers, and how many have failed. Sourced; a test
# ends with: echo "1..$run"; exit "$failed".
run=0
failed=0

skip_all() { # WHY
    echo "1..0 # SKIP $1"
    exit 0
}

check() { # PASSED(0|1) NAME
    run=$((run + 1))
    if [ "$1" = 0 ]; then
        echo "ok $run - $2"
    else
        failed=$((failed + 1))
        echo "not ok $run - $2"
    fi
}

is() { # GOT PATTERN NAME
    # shellcheck disable=SC2254 # the pattern is meant
    case $1 in
    $2) check 0 "$3" ;;
    *) check 1 "$3"; echo "#   got $1" >&2 ;;
    esac
}
