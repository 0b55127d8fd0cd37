-- .luacheckrc: what `make lint` asks of Lua.
std = "lua54"
max_line_length = false
self = false                        -- a method need not use self
read_globals = { "lab" }            -- the program sets it for scripts
ignore = {
    "213",                          -- a loop counts without looking at its variable
    "211/closer", "211/guard", "211/scope",     -- <close> variables: closing is their use
    "581",                          -- not (x <= y) differs from x > y where x is NaN
}

-- Globals that the program gives to its own files; import loads another of them.
files["bindings"].read_globals = { "import", "internals" }
files["bindings/prelude.lua"].globals = { "io", "os" }
files["repl"].read_globals = { "import", "internals", "program", "embedded", "embedded_text" }
files["scripts/measure"].read_globals = { "import" }
files["docs"].read_globals = { "import", "embedded_text" }

-- A submission defines globals; the tests of its lab call test and include.
local lab = { allow_defined_top = true, ignore = { "131", "211", "212" },
              read_globals = { "test", "include", "program" } }
files["repl/labs/template"] = lab
files["scripts/labs"] = lab
files["tests/labs"] = lab
files["scripts/guide"] = { allow_defined_top = true, ignore = { "113", "131", "211", "311" } }

-- Tests may leave results unused, reuse a variable, and replace what the program gives.
files["tests"] = { globals = { "_", "lab", "arg", "print", "type", "next", "table", "import" },
                   ignore = { "211", "231", "241", "311", "431" } }
exclude_files = { "tests/labs/attacks", "build" }
