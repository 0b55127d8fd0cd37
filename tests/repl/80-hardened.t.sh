#!/bin/sh
# 80-hardened.t.sh - what is built has what distributions build with: the program lies anywhere in
# memory, the stack and copies are checked, and tables of addresses cannot be written.
. tests/tap.sh

command -v readelf >/dev/null 2>&1 && [ "$(uname)" = Linux ] || skip_all "readelf (binutils) is not here"
[ -z "${STREAMLAB_SANITIZE:-}" ] || skip_all "a sanitizer checks instead"
program=${STREAMLAB:-build/streamlab}
folder=${program%/*}
config=$folder/config.mk
grep -q '^HARDEN_LINK *:= *-' "$config" 2>/dev/null || skip_all "it is built without, or this compiler knows none"

has() { # FILE OPTION PATTERN NAME
    readelf -W "$2" "$1" 2>/dev/null | grep -q "$3"
    check $? "$4"
}

for file in "$program" "$folder/streamlab.so" "$folder/streamlab_cuda.so" \
    "$folder/libstreamlab_record.so"; do
    [ -f "$file" ] || continue
    name=${file##*/}
    has "$file" -h 'Type: *DYN' "$name lies anywhere in memory"
    has "$file" -l GNU_RELRO "what the loader has filled in $name becomes read-only"
    has "$file" -d 'BIND_NOW\|FLAGS_1.*NOW' "and it fills in all at once"
    has "$file" -s '__stack_chk_fail' "functions of $name check their stack"
    has "$file" -s '_chk@GLIBC\|_chk$' "and their copies"
    ! readelf -lW "$file" | grep 'GNU_STACK' | grep -q E
    check $? "nothing on the stack of $name is code"
done
[ "$run" -gt 0 ] || skip_all "there is no $program"
echo "1..$run"
exit "$failed"
