-- A graph shall read something else: copy into its tensors, update it, or capture it anew?
--
-- It is often said that "a graph is static: when an argument changes, capture it again". A chain of
-- additions reads one tensor, and from now on it shall read another. Expected: capturing and
-- instantiating anew costs most. An update captures too, and saves the instantiation, if the new
-- graph has the same kernels in the same order. Where only the values are new, a copy into the
-- tensor that was captured does it, and nothing is captured.
local lab = require "streamlab"
local inputs, sums = { lab.ones(1024), lab.full(2, 1024) }, lab.zeros(1024)

local function chain(input, kernels)
    return function() for _ = 1, kernels do lab.add(sums, input, { out = sums }) end end
end

local function host_us(f)                   -- the median of 5
    local times = {}
    for i = 1, 5 do
        lab.synchronize()
        local start_us = lab.now_us()
        f(i)
        times[i] = lab.now_us() - start_us
    end
    table.sort(times)
    return times[3]
end

local function row(kernels)
    local r, kept = { kernels = kernels, right = true }, nil
    local g = lab.graph(chain(inputs[1], kernels))
    local function check(value)             -- of the input that a launch reads
        sums:zero_()
        g:launch()
        r.right = r.right and sums:get(1) == value * kernels
    end
    check(1)
    r.anew_us = host_us(function(i) kept = lab.graph(chain(inputs[i % 2 + 1], kernels)) end)
    r.update_us = host_us(function(i) assert(g:update(chain(inputs[i % 2 + 1], kernels))) end)
    check(2)                                -- i is 5 in the last one
    r.copy_us = host_us(function() inputs[2]:copy_(inputs[1], { non_blocking = true }) end)
    check(1)
    inputs[2]:fill_(2)
    local done, why = g:update(chain(inputs[1], kernels + 1))
    return r, not done and why, kept:free()
end

local rows, why = {}, nil
lab.with(lab.stream{ name = "s" }, function()
    lab.add(sums, inputs[1])                -- the first launch loads the kernel
    row(1)                                  -- and the first graph is dearer
    for i, kernels in ipairs{ 1, 10, 100, 1000 } do rows[i], why = row(kernels) end
end)
lab.table(rows, { columns = { "kernels", "anew_us", "update_us", "copy_us", "right" },
    title = "us of the host until the graph reads something else" }):show()
print("An update with one kernel more: " .. tostring(why))
local r = rows[#rows]
print(("Verdict: %s: a changed argument needs a new capture: 1000 kernels captured and "
    .. "instantiated anew %.0f us, captured for an update %.0f, their input overwritten "
    .. "%.1f"):format(
    r.right and r.copy_us < r.anew_us / 10 and "no longer holds" or "holds", r.anew_us,
    r.update_us, r.copy_us))
