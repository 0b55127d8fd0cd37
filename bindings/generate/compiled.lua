-- compiled.lua FILE... - prints built-in Lua files, compiled, as a C file: those of bindings/ and
-- of the program, in a list each. The Makefile runs it with a program that does not have them yet,
-- and is linked with the same Lua.

-- ---- without names of local variables ----------------------------------------------------------

-- Bytecode has the names of local variables and upvalues, which only messages about mistakes in
-- these files use; to read them takes as long as to read the code. The lines of instructions stay.
-- What is read here goes to `out`, as Lua 5.4's ldump.c has written it, but for these names.
local code, at, out

local function copy(bytes)
    out[#out + 1] = code:sub(at, at + bytes - 1)
    at = at + bytes
end

-- An unsigned number, of seven bits a byte; the last one has its highest bit set.
local function number()
    local value = 0
    repeat
        value = value << 7 | code:byte(at) & 0x7f
        at = at + 1
    until code:byte(at - 1) & 0x80 ~= 0
    return value
end

local function copy_number()
    local from, value = at, number()
    out[#out + 1] = code:sub(from, at - 1)
    return value
end

local function copy_text() copy(math.max(0, copy_number() - 1)) end

local function times(n, f)
    for _ = 1, n do f() end
end

local fixed <const> = { [0x00] = 0, [0x01] = 0, [0x11] = 0, [0x03] = 8, [0x13] = 8 }

local function copy_constant()
    local bytes = fixed[code:byte(at)]
    copy(1)
    if bytes then copy(bytes) else copy_text() end
end

local function copy_function()
    copy_text()                                 -- its file
    times(2, copy_number)                       -- its lines
    copy(3)
    copy(4 * copy_number())                     -- instructions
    times(copy_number(), copy_constant)
    copy(3 * copy_number())                     -- upvalues
    times(copy_number(), copy_function)
    copy(copy_number())                         -- lines of instructions
    times(2 * copy_number(), copy_number)
    local copied = #out
    times(number(), function() copy_text() times(2, number) end)
    times(number(), copy_text)
    table.move(out, #out + 1, 2 * #out - copied, copied + 1)
    out[copied + 1] = "\x80\x80"                -- no names of either kind
end

local function without_names(whole)
    code, at, out = whole, 1, {}
    copy(4 + 1 + 1 + 6 + 3 + 8 + 8 + 1)         -- the header
    copy_function()
    local result = table.concat(out)
    assert(at == #whole + 1 and load(result, "=streamlab", "b"))
    return result
end

-- ---- the C file --------------------------------------------------------------------------------

print('#include "bindings/embedded_files.h"\n#include "repl/run/embedded.h"\n')
local rows = { bindings = {}, repl = {} }
local octal = {}
for byte = 0, 255 do octal[string.char(byte)] = ("\\%03o"):format(byte) end
for i, name in ipairs(arg) do
    local file <close> = assert(io.open(name, "rb"))
    local bytes = without_names(string.dump(assert(load(file:read("a"), "=streamlab", "t"))))
    print(("static const char file_%d[] ="):format(i))
    for from = 1, #bytes, 64 do   -- a C compiler reads strings eight times as fast as numbers
        print('"' .. bytes:sub(from, from + 63):gsub(".", octal) .. '"')
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
