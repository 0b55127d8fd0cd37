-- 47-saved-ranges.t.lua - what the host was about in a trace of PyTorch is there, too, in
-- the trace that streamlab writes of it.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local kineto_check = require "kineto_check"
local sh, quote = shell.sh, shell.quote

local folder = shell.folder()
local public <const> = "tests/timeline/data/torch_puzzler_blocking.json.gz"
local packed, plain = folder .. "/a.json.gz", folder .. "/a.json"

local function show(arguments)
    local out, err, code = sh('"$P" show ' .. arguments)
    if code ~= 0 then tap.diag(err) end
    return out
end

show("-o " .. quote(packed) .. " " .. public)
local operators = show("--by operator " .. public)
tap.like(operators, "aten::mm\n", "a trace of PyTorch has operators")
tap.is(show("--by operator " .. quote(packed)), operators,
    "and so has the trace that is written of it, with the same times")

-- Another way to ask: tl:ranges lists all of them.
local list <const> = [[for _, r in ipairs(lab.load(arg[1]):ranges()) do
    print(r.kind, r.thread, r.start_us, r.end_us, r.name)
end]]
local lister = shell.write(folder .. "/list.lua", list)
local function ranges(path) return (sh('"$P" ' .. quote(lister) .. " " .. quote(path))) end

local all = ranges(public)
tap.like(all, "operator\t0\t.*\taten::mm\n", "tl:ranges lists them")
tap.is(ranges(packed), all, "and the same ones of the other trace")

show("-o " .. quote(plain) .. " " .. public)
tap.is_deeply(kineto_check.complaints(shell.read(plain)), {},
    "in which slices nest as its readers need")

-- ---- sentences ------------------------------------------------------------------------

-- The same with a range of NVTX around all of it, as a recording has.
local nvtx <const> = '\n{"ph":"X","cat":"user_annotation","name":"forward","pid":4242,'
    .. '"tid":1100007,"ts":0,"dur":1e9,"args":{"range":"nvtx"}},'
local marked = shell.write(folder .. "/marked.json",
    (shell.read(plain):gsub('"traceEvents":%[', "%0" .. nvtx, 1)))
tap.like(show("--explain " .. quote(marked)), 'in range "forward"', "sentences name a range")
local report = json.read(show("--json " .. quote(marked)))
local cause = report.causes[1]
tap.like(cause.sentence, 'in range "forward"', "those of a report do, too")
tap.is((cause.operands.by or cause.operands.waiter).range, "forward", "as a field of the operand")
tap.is(show("--json " .. quote(plain)):find('"range"', 1, true), nil,
    "which is not there without a range")

shell.remove(folder)
tap.done()
