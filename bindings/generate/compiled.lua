-- compiled.lua FILE... - prints built-in Lua files, compiled, as a C file: those of bindings/ and
-- of the program, in a list each. The Makefile runs it with a program that does not have them yet,
-- and is linked with the same Lua.
print('#include "bindings/embedded_files.h"\n#include "repl/run/embedded.h"\n')
local rows = { bindings = {}, repl = {} }
local octal = {}
for byte = 0, 255 do octal[string.char(byte)] = ("\\%03o"):format(byte) end
for i, name in ipairs(arg) do
    local file <close> = assert(io.open(name, "rb"))
    local code = string.dump(assert(load(file:read("a"), "=streamlab", "t")))
    print(("static const char file_%d[] ="):format(i))
    for at = 1, #code, 64 do   -- a C compiler reads strings eight times as fast as numbers
        print('"' .. code:sub(at, at + 63):gsub(".", octal) .. '"')
    end
    print(";")
    table.insert(rows[name:match("^bindings") or "repl"],
        ('    { "%s", file_%d, sizeof file_%d - 1 },'):format(name, i, i))
end

local function list(array, of)
    print(("\nconst %s[] = {"):format(array))
    print(table.concat(of, "\n"))
    print("    { NULL, NULL, 0 },\n};")
end
list("lsl_embedded lsl_compiled_files", rows.bindings)
list("embedded_file compiled_files", rows.repl)
