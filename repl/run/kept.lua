-- kept.lua - the program keeps what recordings on real GPUs show of the host
-- (bindings/kept_hosts.lua): each of the first ones of a process, then now and then.

local command = import "repl/run/command.lua"

local hosts = internals.need("kept_hosts")

local kept = {}

local first <const>, every_ns <const> = 20, 500000000
local pending, seen, since_ns = {}, 0, 0
local most_pending <const> = 100

-- For main.c: a recording on a real GPU has ended.
function kept.note(tl)
    local now_ns = internals.wall_ns()
    seen = seen + 1
    if not hosts.path() or seen > first and now_ns - since_ns < every_ns then
        return
    end
    since_ns = now_ns
    local found = hosts.seen(tl)
    if next(found) ~= nil and #pending < most_pending then
        pending[#pending + 1] = { gpu = tl.device_name, found = found }
    end
    if #pending > 0 and hosts.add(pending) then
        pending = {}
    end
end

-- The host of predictions where the command line names neither profile nor host, and nothing else
-- does: a table with what this machine's recordings have shown, on a machine whose GPU answers and
-- is that of the default profile; else nil, as where they have shown too little. It is said on
-- stderr.
function kept.host()
    local profile, host = internals.chosen_profile()
    local fine, count = pcall(internals.device_count, "cuda")
    if host or internals.default("profile") or not fine or (count or 0) == 0 then
        return nil
    end
    local gpu = internals.device_name("cuda", 0)
    local row = gpu == internals.load_profile(profile).name and hosts.latest(gpu)
    if not row then
        return nil
    end
    local of_host, factors = hosts.table(row)
    if of_host then
        command.warn(("the host's part is %s's times what recordings on this machine showed beyond "
            .. "what hosts change by within minutes, the last at %s: %s; --host %s leaves it out")
            :format(row.base, row.at, hosts.factors_text(factors), profile))
    end
    return of_host
end

return kept
