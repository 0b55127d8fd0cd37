-- process.lua - figures of whole processes: from start to the first result, and a million
-- operations. Sections of bench.lua.

-- ms that each command takes, by turns, after a run that does not count.
local function processes(b, commands)
    local samples = {}
    for i = 0, b.size.starts do
        for side, command in ipairs(commands) do
            local text = b.output(b.quote(b.build .. "/tests/bench/timeit") .. " 1 " .. command)
            local ms = tonumber(text:match("^%S+"))
            if not ms then error("this failed: " .. command, 0) end
            samples[side] = samples[side] or {}
            if i >= 1 then samples[side][i] = ms end
        end
    end
    for side, list in ipairs(samples) do samples[side] = b.report.summary(list) end
    return samples
end

local function start(b)
    b.table:section("From the start of the process to the first result", ([[
Whole processes from fork to the end, by turns; median of %d (least to largest) after one each.
First a context alone. Then both multiply two matrices of 64 x 64; raw: a context, a cuBLAS handle,
cublasSgemm.]])
        :format(b.size.starts), "raw CUDA C", "streamlab -e")
    local raw = b.quote(b.build .. "/tests/bench/raw_first")
    local function ours(script)
        return b.quote(b.program) .. " --backend cuda -e " .. b.quote(script)
    end
    local took = processes(b, {
        raw .. " context", ours "lab.device()", raw,
        ours "print(lab.matmul(lab.rand(64, 64), lab.rand(64, 64)):sum():item())",
    })
    b.table:ratio("a context", took[1], took[2], "ms", nil)
    b.table:ratio("the first result", took[3], took[4], "ms", 1.05)
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

return { start = start, million = million }
