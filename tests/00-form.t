#!/bin/sh
# 00-form.t - scripts/form.lua finds what it says that it finds, in the line where it is, and --fix changes
# spaces alone, so that what was aligned still is. `make lint` runs it over the repository.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
program=$(cd "$root" && readlink -f "${STREAMLAB:-build/streamlab}")

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

form() { # ARGUMENT...
    "$program" "$root/scripts/form.lua" "$@"
}

# What the checker says of a file with the text of stdin.
said_of() { # FILE
    cat >"$1"
    form "$1"
}

columns() { # N TEXT: the text, and so many x
    awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) text = text "x"; print text }'
}

# ---- what is found ------------------------------------------------------------------------------

brace="a brace and its neighbour need a space between them"
is "$(said_of a.lua <<'END'
local a = 1
local t = {a = 1 }
END
)" "a.lua:2: $brace" "a brace that opens a table wants a space behind it"
is "$(echo 'f{ a = 1}' | said_of a.lua)" "a.lua:1: $brace" "one that closes it, before it"
is "$(echo 'local t = {{ 1 }, { 2 } }' | said_of a.lua)" "a.lua:1: $brace" "two braces want one between them"
is "$(printf 'if a then\n\tb()\nend\n' | said_of a.lua)" "a.lua:2: a tab in its indentation" "a tab is found"
is "$(printf 'int a; \n' | said_of a.c)" "a.c:1: blanks at its end" "blanks at the end of a line, in C"
is "$(printf '\nwords \n' | said_of a.md)" "a.md:2: blanks at its end" "and in a text"
is "$(columns 99 -- | said_of a.lua)" "a.lua:1: 101 columns, and 100 may be" "a line of Lua has 100 columns"
is "$(columns 99 // | said_of a.c)" "a.c:1: 101 columns, and 100 may be" "one of C as well"
is "$(columns 119 'a ' | said_of a.md)" "a.md:1: 121 columns, and 120 may be" "one of Markdown 120"
is "$(printf 'x\n\n```lua\nf{a = 1}\n```\n' | said_of a.md)" "a.md:4: $brace" "a listing in Lua is Lua"
mkdir -p docs/api
is "$(printf 'return { example = [[\nf{a = 1}]] }\n' | said_of docs/api/a.lua)" \
    "docs/api/a.lua:2: $brace" "so is an example of the help"
form a.lua >/dev/null
check $((1 - $?)) "the status is 1 then"

# ---- what is not --------------------------------------------------------------------------------

is "$(said_of a.lua <<'END'
#!/usr/bin/env {a}
local t, s = {}, "{a}" .. '\'{a}' .. [[{a
	{b}]] -- {c}
local u = t[s] --[==[ {d}
{e} ]] ]==]
local v = { { 1, f{ 2 } }, {
    3,
} }
END
)" "" "braces in texts and comments, and empty ones, are as they are"
is "$(columns 98 -- | said_of a.lua)" "" "a line may have 100 columns"
is "$(columns 97 '--é' | said_of a.lua)" "" "which are characters, not bytes"
is "$({ columns 130 '| ' && columns 130 '> '; } | said_of a.md)" "" "tables and quotations have as many as they need"
is "$(printf '```sh\nf{a}\n```\n{b}\n' | said_of a.md)" "" "what is not Lua is not looked at"
form a.md
check $? "the status is 0 then"

# ---- --fix --------------------------------------------------------------------------------------

cat >b.lua <<'END'
local list = {10, 20,
              {30}}               -- a list
local option = {seed = 7}         -- an option
local long = {seed = 7, name = 8} -- as far as it goes
                                  -- and goes on
f({a = 1,
   b = 2})
if a then
    g{1, 2}   -- {x}
end
END
cat >expected <<'END'
local list = { 10, 20,
               { 30 } }             -- a list
local option = { seed = 7 }         -- an option
local long = { seed = 7, name = 8 } -- as far as it goes
                                    -- and goes on
f({ a = 1,
    b = 2 })
if a then
    g{ 1, 2 }  -- {x}
end
END
form --fix b.lua
cmp b.lua expected >&2
check $? "--fix puts spaces inside braces, and what was aligned is so again"
form --fix b.lua && cmp b.lua expected >&2
check $? "it leaves alone what has them"
form b.lua >&2
check $? "in which nothing is found any more"
printf 'f{a}\n```lua\nf{a}\n```\n' >b.md
form --fix b.md
is "$(cat b.md)" "f{a}?\`\`\`lua?f{ a }?\`\`\`" "in Markdown it changes listings alone"

# ---- what it needs ------------------------------------------------------------------------------

# Where luacheck's package brings Lua 5.1.
mkdir tools
for tool in sh dirname env; do
    ln -s "$(command -v $tool)" tools
done
for tool in clang-format luacheck shellcheck lua id apt-get; do
    printf '#!/bin/sh\n' >tools/$tool
done
echo 'exit 1' >>tools/lua
echo 'echo 0' >>tools/id
cat >>tools/apt-get <<END
echo "asked: \$*"
[ "\$1" = update ] || { echo '#!/bin/sh' >$folder/tools/lua5.4 && /bin/chmod +x $folder/tools/lua5.4; }
END
chmod +x tools/*
is "$(PATH=$folder/tools sh "$root/scripts/setup.sh" --lint)" "*asked: install *lua5.4" \
    "make lint has Lua 5.4 installed where lua is an older one"
is "$(PATH=$folder/tools sh "$root/scripts/setup.sh" --lint)" "" "and nothing where it is there"

echo "1..$run"
[ "$failed" = 0 ]
