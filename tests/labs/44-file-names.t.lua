-- 44-file-names.t.lua - a grade depends on nothing but the program: not on what its file is called,
-- whatever bytes that has. Names go into the source of kernels, messages, plans, command lines and
-- four formats of results.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local environment = debug.getregistry()["streamlab.environment"]
local bundle = environment.import "repl/labs/bundle.lua"
local find = environment.import("repl/labs/class.lua").find
local grade = environment.import("repl/labs/grader.lua").grade

local folder = shell.folder()

-- The longest name that a file can have is 255 bytes, with its suffix.
local worst <const> = { 'a"b', "a\\b", "a\tb", "a\nb", "a%sb%n", "-rf", "\xff\xfe", ("x"):rep(251) }
local others <const> = { "a\rb", "a'b", "a$b", "a`b`", " a b ", "--help", "a??)b", "a;b,c", "=1+1",
    "a:3:b", "<b>&amp;", "]]>", "a\1b", "a\127b", "a*b", "{a}", "a#b", "#line",
    "kernel.cu", "tests", "\u{e9}t\u{e9}", "a\u{2028}b", "\u{1f600}", "\27[31m", "~", "a|b",
    "ok 1 - a", "1..3", "a\\", "??'", "\xc3", "%", "$(touch b)", "''", '""' }
local all <const> = table.move(others, 1, #others, #worst + 1, table.move(worst, 1, #worst, 1, {}))

-- A class in which each of those names has that text, and "plain" has it, too.
local function make_class(class, names, source)
    shell.sh(("mkdir %s/%s"):format(folder, class))
    shell.write(("%s/%s/plain.lua"):format(folder, class), source)
    for _, name in ipairs(names) do
        shell.write(("%s/%s/%s.lua"):format(folder, class, name), source)
    end
end

-- What is the same for all: points, which tests passed; of the output, whether it has that text.
local function summary(graded, text)
    local parts = { ("%g"):format(graded.score) }
    for _, test in ipairs(graded.tests) do
        parts[#parts + 1] = ("%s %s"):format(test.passed, test.output:find(text, 1, true) ~= nil)
    end
    return table.concat(parts, ", ")
end

-- Grades it. Returns the results as the program has them.
local function check_class(class, names, lab_bundle, score, text)
    local by_name = {}
    local list = grade(lab_bundle, (find(folder .. "/" .. class)), { backend = "sim", jobs = 2 })
    for _, graded in ipairs(list) do
        by_name[graded.student] = graded
    end
    local wanted = summary(by_name.plain, text)
    tap.is(by_name.plain.score, score, class .. ": what such a program earns")
    tap.ok(text == "" or wanted:find("false true"), class .. ": its output has " .. text)
    for _, name in ipairs(names) do
        tap.is(by_name[name] and summary(by_name[name], text), wanted,
            ("%s: the same for a file called %q"):format(class, name:sub(1, 20)))
    end
    return list
end

-- ---- without kernels -------------------------------------------------------------------------

local attack_lab, kernel_lab = bundle.read "tests/labs/attack-lab",
    bundle.read "tests/labs/kernel-lab"
local solution = shell.read "tests/labs/attack-lab/solution.lua"
make_class("right", all, solution)
local right = check_class("right", all, attack_lab, 100, "")
make_class("wrong", all, "function answer() return nil + 1 end\nfunction work() end\n")
local wrong = check_class("wrong", all, attack_lab, 0,
                          "\n 1 | function answer() return nil + 1 end")

-- ---- with kernels ----------------------------------------------------------------------------

-- The first line is Lua's, so that lines of the kernel are others than the file's.
local function with_kernel(body)
    return ([==[
local twice = lab.kernel{source = [[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    %s
}
]], args = {"in f32*", "out f32*", "i32"}}

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
]==]):format(body)
end

local honest = shell.sh('"$P" lab grade tests/labs/kernel-lab tests/labs/kernel-lab/solution.lua '
    .. '--format tap 2>&1')
if honest:find("cannot be run", 1, true) then
    tap.skip(honest:match("cannot be run: ([^\n]*)"), 1)
else
    -- Each submission compiles its kernel in two builds.
    local three <const> = { 'a"b', "a\nb", worst[#worst] }
    local few, more = tap.sized({ "a\nb" }, three), tap.sized({ "a\nb", worst[#worst] }, worst)
    make_class("kernels", more, with_kernel "if (i < n) y[i] = 2 * x[i];")
    check_class("kernels", more, kernel_lab, 100, "")
    make_class("uncompiled", few, with_kernel "if (i < n) y[i] = 2 * z[i];")
    check_class("uncompiled", few, kernel_lab, 0, "5 |     if (i < n) y[i] = 2 * z[i];")
    if tap.sized(false, true) then
        make_class("refused", few, with_kernel "if (i < n) y[i] = emu_the_host;")
        check_class("refused", few, kernel_lab, 0, "5 |     if (i < n) y[i] = emu_the_host;")
        make_class("beyond", few, with_kernel "y[i] = 2 * x[i];")
        check_class("beyond", few, kernel_lab, 0, "element 100 of 100")
        -- What the compiler is told that the file is called is the same for all.
        make_class("named", few, with_kernel "if (i < n) y[i] = (2 * sizeof __FILE__ / sizeof \z
            \"kernel.cu\") * x[i];")
        check_class("named", few, kernel_lab, 100, "")
    end
end

-- ---- what is written ---------------------------------------------------------------------------

-- Each student is there once. How each format escapes what it holds, 61-lab-results tests.
local function count(text, pattern)
    return select(2, text:gsub(pattern, ""))
end
for _, list in ipairs { right, wrong } do
    local function written(format)
        return environment.import("repl/labs/results/" .. format .. ".lua").text(list, attack_lab)
    end
    tap.is(count(written "tap", "\n# Subtest: [^\n]+"), #all + 1, "TAP has a subtest a student")
    tap.is(count(written "junit", "<testsuite "), #all + 1, "JUnit a suite")
    tap.is(count(written "junit", "[%z\1-\8\11\12\14-\31\127]"), 0, "and no control characters")
    tap.is(count(written "csv", "\n[^\n]*,%d+,[^\n]*"), #all + 1, "CSV a line")
end

-- ---- the command line ------------------------------------------------------------------------

for _, name in ipairs(worst) do
    local path = ("%s/right/%s.lua"):format(folder, name)
    local out = shell.run { "lab", "check", "tests/labs/attack-lab", path }
    tap.ok(out:find("\nok 1", 1, true) and not out:find("not ok", 1, true),
        ("lab check reads %q"):format(name:sub(1, 20)))
end
local here = shell.sh("pwd"):gsub("\n", "")
for _, name in ipairs { "./-rf", "./--help", "%", "$(touch b)", "a\nb", "~" } do
    local out = shell.sh(([[P=$(realpath "$P")
cd %s/right && "$P" lab grade %s/tests/labs/attack-lab %s 2>&1]]):format(
        folder, here, shell.quote(name .. ".lua")))
    tap.like(out, " 100/100 ", ("and lab grade %q"):format(name))
end
tap.is(shell.sh(("ls %s/right/b 2>/dev/null"):format(folder)), "", "no name is a command")

shell.remove(folder)
tap.done()
