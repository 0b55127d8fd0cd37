-- process.lua - figures of whole processes: from start to the first result, and a million
-- operations. Sections of bench.lua.

local function start(b)
    local runs = b.size.starts
    b.table:section("From the start of the process to the first result", ([[
Whole processes from fork to the end, by turns; median of %d (least to largest) after one each.
Both multiply two matrices of 64 x 64; raw: a context, a cuBLAS handle, cublasSgemm.]])
        :format(runs), "raw CUDA C", "streamlab -e")
    local timeit = b.quote(b.build .. "/tests/bench/timeit") .. " 1 "
    local commands = {
        timeit .. b.quote(b.build .. "/tests/bench/raw_first"),
        timeit .. b.quote(b.program) .. " --backend cuda -e "
            .. b.quote("print(lab.matmul(lab.rand(64, 64), lab.rand(64, 64)):sum():item())"),
    }
    local samples = {{}, {}}
    for i = 0, runs do
        for side, command in ipairs(commands) do
            local text = b.output(command)
            local ms = tonumber(text:match("^%S+"))
            if not ms then error("this failed: " .. command, 0) end
            if i >= 1 then samples[side][i] = ms end
        end
    end
    b.table:ratio("process", b.report.summary(samples[1]), b.report.summary(samples[2]), "ms", 1.15)
end

local function million(b)
    local n = b.size.operations
    b.table:section("A million operations recorded", ([[
%d times pow of 32 elements in 4 streams, in a process of its own, first without recording.
Memory: the process's largest resident size before the recording, and after it with the timeline.]])
        :format(n), "not recorded", "recorded")
    local command = ("%s --backend cuda %smillion.lua %d"):format(
        b.quote(b.program), b.quote(b.folder), n)
    local text = b.output(command)
    local plain, in_calls, whole, spans, before, after = text:match(
        "(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)")
    if not after then error("this failed: " .. command, 0) end
    plain, in_calls, whole = tonumber(plain), tonumber(in_calls), tonumber(whole)
    before, after = tonumber(before), tonumber(after)
    b.table:row("calls and a synchronise", ("%.2f s"):format(plain), ("%.2f s"):format(in_calls),
                ("%.3f x"):format(in_calls / plain), "", nil)
    b.table:row("the same with delivery of all spans", "", ("%.2f s"):format(whole),
                ("%.3f x"):format(whole / plain), "", nil)
    b.table:row("spans", "", spans, "", tostring(n), tonumber(spans) == n)
    b.table:row("largest resident size", ("%.0f MB"):format(before / 1e6),
                ("%.0f MB"):format(after / 1e6), ("%+.0f B/op"):format((after - before) / n), "",
                nil)
end

return {start = start, million = million}
