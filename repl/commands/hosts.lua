-- hosts.lua - streamlab hosts [TRACE...]: what recordings on real GPUs have shown of the host.

local command = import "repl/run/command.lua"

local hosts = internals.need("kept_hosts")

local options, words = command.read(import "repl/usage/hosts.lua", { ... })
if options.forget and #words > 0 then
    command.refuse("--forget takes no trace")
end

local function print_row(what, row)
    print(("%s  relative to %s: %s"):format(command.clean(what), row.base,
        hosts.factors_text(row)))
end

local function print_trace(path)
    local tl = command.try(lab.load, path)
    local row, base = hosts.seen(tl)
    row.base = base
    print_row(path, row)
end

local function print_kept()
    local rows, problem = hosts.list()
    local here = hosts.latest()
    for _, row in ipairs(rows) do
        local is_here = here and row.at == here.at and row.host == here.host and row.gpu == here.gpu
        print_row(("%s %s  %s  %s, %d recording%s"):format(is_here and "*" or " ", row.at, row.host,
            row.gpu, row.recordings, row.recordings == 1 and "" or "s"), row)
    end
    if problem then
        command.fail(problem)
    elseif #rows == 0 then
        print("nothing is kept" .. (hosts.path() and " in " .. command.clean(hosts.path())
            or ": STREAMLAB_HOSTS is empty"))
    end
end

if options.forget then
    local done, problem = not hosts.path()
    if not done then done, problem = hosts.forget() end
    if not done then command.fail(problem or "cannot write " .. hosts.path()) end
elseif #words == 0 then
    print_kept()
end
for _, path in ipairs(words) do
    print_trace(path)
end
