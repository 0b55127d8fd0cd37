-- quiet.lua - a test whose laboratory reports much on stderr: it runs in a process of its own,
-- of whose stderr only the diagnostics are shown.

-- In the outer process this does not return.
return function()
    if os.getenv("TAP_QUIET") then return end
    local i = -1
    while arg[i - 1] do i = i - 1 end
    local log = os.tmpname()
    local ok, _, status = os.execute(("TAP_QUIET=1 '%s' '%s' 2> '%s'"):format(arg[i], arg[0], log))
    local rest, told = {}, false
    for line in io.lines(log) do
        if line:find("^#") then
            io.stderr:write(line, "\n")
            told = true
        else
            table.insert(rest, line)
        end
    end
    os.remove(log)
    if not ok and not told then      -- it ended early
        for k = math.max(1, #rest - 30), #rest do io.stderr:write("# ", rest[k], "\n") end
    end
    os.exit(status, true)
end
