#!/bin/sh
# 80-embed.t.sh - texts as C source: scripts/embed.sh, what a compiler makes of it, and what comes
# out again; and the steps of make, of which these are two.
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

: >empty
printf '\n' >newline
printf 'a \\ "b" \\n %%d %%\n\t?\?=?\?/ \303\237 \001\n\n*/ // \\\n' >strange
cat >texts.h <<'END'
#include <stddef.h>
typedef struct { const char *name, *data; size_t len; } text;
extern const text texts[];
END
cat >main.c <<'END'
#include <stdio.h>
#include "texts.h"
int main(void)
{
    for (const text *t = texts; t->name; t++) {
        printf("%s %zu\n", t->name, t->len);
        fwrite(t->data, 1, t->len, stdout);
        if (t->data[t->len]) return 1;
    }
    return 0;
}
END
expect() { # FILE...
    for file; do
        echo "$file $(wc -c <"$file" | tr -d ' ')"
        cat "$file"
    done
}

set -- empty empty newline strange strange empty newline empty
sh "$root/scripts/embed.sh" texts.h text texts "$@" >texts.c &&
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o show main.c texts.c && ./show >shown
check $? "texts are compiled without a warning, and end with a NUL"
expect "$@" >expected
cmp -s shown expected
check $? "all bytes of strange texts come out again, and files without any"

mkdir below
echo other >below/strange
EMBED_FROM=below sh "$root/scripts/embed.sh" texts.h text texts strange |
    grep -q '{"strange", file_1'
check $? "the names are those given where files lie below another folder"

echo typed | sh "$root/scripts/embed.sh" texts.h text texts >texts.c &&
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o show main.c texts.c && ./show >shown && [ ! -s shown ]
check $? "of no files the list is empty, and nothing is read that somebody types"

printf 'no newline' >unfinished
said=$(sh "$root/scripts/embed.sh" texts.h text texts newline unfinished 2>&1 >texts.c)
[ $? = 1 ]
check $? "a file without a newline at its end is refused"
is "$said" "*scripts/embed.sh: one of these is no text, or does not end with a newline: newline unfinished" \
    "and said to be"
said=$(sh "$root/scripts/embed.sh" texts.h text texts newline missing 2>&1 >texts.c)
[ $? = 1 ]
check $? "so is a file that is missing"
is "$said" "*missing*" "and named"

# make says how much is left of what it has to do, and with -n it only counts.
unset MAKEFLAGS MFLAGS MAKELEVEL
texts() { # OPTION...
    make -C "$root" --no-print-directory NVCC= BUILD="$folder/build" "$@" \
        "$folder/build/report_page.c" "$folder/build/device_text.c" 2>&1 | sed "s|$folder/||"
}
is "$(texts -n | grep -c '^printf .*embed')" 2 "make -n counts what is to be done"
is "$(texts)" "[[]1/2] embed  build/report_page.c
[[]2/2] embed  build/device_text.c" "make says which step of how many it takes"
rm "$folder/build/report_page.c"
is "$(texts)" "[[]1/1] embed  build/report_page.c*" "and counts only what is left"
echo "1..$run"
exit "$failed"
