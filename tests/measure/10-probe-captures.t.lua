-- 10-probe-captures.t.lua - streamlab probe --capture: the table, its JSON, and what it refuses.
-- Whether the answers are right: tests/both/capture_rules.t.lua.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh, read = shell.sh, shell.read

local folder = shell.folder()

local function probe(line)
    return sh('"$P" probe --capture --backend sim ' .. line)
end

-- ---- the table ---------------------------------------------------------------------------

local text, err, code = probe ""
tap.is(err .. code, "0", "the table is printed")
local widest = 0
for line in text:gmatch("[^\n]+") do
    widest = math.max(widest, #line)
end
tap.ok(widest <= 80, "it fits in 80 columns")
local function has(part, name)
    tap.ok(text:find(part, 1, true), name)
end
tap.like(text, "^[^\n]+ %(simulated, profile %w+%)\n", "the device is named")
has([[
                                          global       thread_local relaxed
call                                      B    N       B    N       B    N
launches
]], "columns are modes, and kinds of captured streams")
has([[
  cudaLaunchKernel
    captured stream                       -    -       -    -       -    -
    blocking stream                       -    -       -    -       -    -
    non-blocking stream                   -    -       -    -       -    -
    NULL stream                           906* -       906* -       906* -
]], "a call has a line for each thing that it is given")
has([[
memory
  cudaMalloc                              900* 900*    900* 900*    -    -
]], "or one line, if that is one thing")
has("\n  cublasDestroy                           *    *       *    *       *    *\n",
    "a call that succeeds may spoil the capture")
has("\n    blocking fork, not joined             904e 904e    904e 904e    904e 904e\n",
    "or make its end fail")
has("\n    recorded in the capture               907  907     907  907     907  907\n",
    "an error need not spoil it")
has([[

401  cudaErrorIllegalState
900  cudaErrorStreamCaptureUnsupported
901  cudaErrorStreamCaptureInvalidated
902  cudaErrorStreamCaptureMerge
903  cudaErrorStreamCaptureUnmatched
904  cudaErrorStreamCaptureUnjoined
905  cudaErrorStreamCaptureIsolation
906  cudaErrorStreamCaptureImplicit
907  cudaErrorCapturedEvent
]], "below it are the names of the numbers that came")
tap.is(probe "", text, "it is the same every time")
tap.is(probe "--profile t4":gsub("^[^\n]*", ""), text:gsub("^[^\n]*", ""),
    "and on every simulated GPU")

-- ---- JSON --------------------------------------------------------------------------------

local rows = json.read((probe "--json"))
local keys = { "call", "of", "mode", "streams", "number", "error", "spoils", "end_number",
    "end_error" }
local odd = 0
for _, row in ipairs(rows) do
    local n = 0
    for _ in pairs(row) do
        n = n + 1
    end
    for _, key in ipairs(keys) do
        odd = odd + (row[key] == nil and 1 or 0)
    end
    odd = odd + (n == #keys and 0 or 1)
end
tap.is(odd, 0, "each object has the nine keys and no other")

local function row_of(call, mode, streams)
    for _, row in ipairs(rows) do
        if row.call == call and row.mode == mode and row.streams == streams then
            return row
        end
    end
end
local row = row_of("cudaMalloc", "global", "nonblocking")
tap.ok(row.number == 900 and row.error == "cudaErrorStreamCaptureUnsupported" and row.spoils
    and row.end_number == 901 and row.of == json.null, "a forbidden call")
row = row_of("cudaMalloc", "relaxed", "nonblocking")
tap.ok(row.number == 0 and row.error == json.null and not row.spoils and row.end_number == 0
    and row.end_error == json.null, "a permitted one")
row = row_of("cudaMallocAsync", "relaxed", "nonblocking")
tap.ok(row.number == json.null and row.error == "SL_EUNSUPPORTED" and not row.spoils,
    "one that streamlab does not have in captures")

-- ---- files and wrong use -------------------------------------------------------------------

local out
out, err, code = probe("-o " .. folder .. "/table.txt")
tap.is(out .. err .. code, "0", "-o prints nothing")
tap.is(read(folder .. "/table.txt"), text, "and writes the table")
out, err, code = probe("--save " .. folder .. "/x.lua")
tap.is(out .. code, "2", "--save is refused")
tap.like(err, "^streamlab: probe: %-%-capture measures nothing that a profile has: leave out "
    .. "%-%-save\n", "with a sentence")
tap.is(read(folder .. "/x.lua"), nil, "and writes nothing")

shell.remove(folder)
tap.done()
