-- Streams that are exempt and begin behind the caller's; an event for each step and slot, recorded
-- again and again: a wait means its latest record.
local S = {}
for _, n in ipairs{ "a", "b", "c", "d" } do
    S[#S + 1] = lab.stream{ name = n, non_blocking = true }
end
function pipeline(job)
    local n, slots = #job.input, #job.x
    local done = { {}, {}, {}, {} }         -- done[step][slot]
    for step = 1, 4 do for k = 1, slots do done[step][k] = lab.event{ timing = false } end end
    S[1]:wait_stream(lab.current_stream())
    local function k_of(i) return (i - 1) % slots + 1 end
    local act = {
        function(i, k, s) job.x[k]:copy_(job.input[i], { non_blocking = true, stream = s }) end,
        function(i, k, s) lab.with(s, job.first, job.x[k], job.y[k]) end,
        function(i, k, s) lab.with(s, job.second, job.y[k], job.z[k]) end,
        function(i, k, s) job.output[i]:copy_(job.z[k], { non_blocking = true, stream = s }) end,
    }
    for i = 1, n do
        local k = k_of(i)
        for step = 1, 4 do
            local s = S[step]
            if step > 1 then s:wait_event(done[step - 1][k]) end
            if step < 4 and i > slots then s:wait_event(done[step + 1][k]) end
            act[step](i, k, s)
            done[step][k]:record(s)
        end
    end
    S[4]:synchronize()
    local v = {}
    for i = 1, n do v[i] = job.output[i]:get(1) end
    return v
end
