-- main.lua OUTDIR STREAMLAB [PYTHON] - runs each pair in programs/ under PyTorch's stream
-- sanitizer and under `streamlab --check`, on the GPU and on the simulator. Writes to OUTDIR
--   table.md            the table
--   said.md             exit status and first line of what each said
--   races-pytorch.md    docs/results/races-pytorch.md with the new table in it
--   NAME.TOOL.out .err  all that each printed
-- A tool that is not there, and a program that failed, have cells of their own. run.sh calls it;
-- both paths are absolute.
--
-- Exit status 0; 1 if streamlab was wrong somewhere or could not be run; 2 for wrong usage.

local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/?.lua;" .. package.path
local compare = require "compare"

local outdir, streamlab, python = table.unpack(arg)
if not streamlab or arg[4] then
    io.stderr:write("usage: main.lua OUTDIR STREAMLAB [PYTHON]\n")
    os.exit(2, true)
end

local function write(name, text)
    local file = assert(io.open(outdir .. "/" .. name, "wb"))
    assert(file:write(text))
    assert(file:close())
end

local tools = compare.tools(streamlab, python or "python3")
for _, tool in ipairs(tools) do compare.ask(tool, outdir) end
local rows = compare.run_all(tools, outdir)
local text, counts = compare.table(tools, rows)
text = compare.header(tools) .. "\n" .. text
io.write(text)
write("table.md", text)
write("said.md", compare.said(tools, rows))

local docs <close> = assert(io.open(here .. "/../../../../docs/results/races-pytorch.md"))
write("races-pytorch.md", assert(compare.page(docs:read("a"), text)))
for _, line in ipairs(compare.misread(rows)) do
    print("not as PyTorch's source reads: " .. line)
end

local sim, cuda = counts.sim, counts.cuda
local right = sim.wrong + sim.open + cuda.wrong == 0 and (tools[2].missing or cuda.open == 0)
os.exit(right and 0 or 1, true)
