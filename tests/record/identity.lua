-- identity.lua FILE... - recorded programs played without a change: of each how long it took, by
-- how much more or less it takes when it is played, and why it carries no prediction, if so; then
-- the spread. Of a recording of pairs.sh each loop before its change is a program.
local errors, refused = {}, 0

local function add(name, tl)
    local fine, w = pcall(lab.whatif, tl)
    if not fine then
        print(("%-48s %s"):format(name, w))
        return
    end
    local identity = w:identity()
    refused = refused + (identity.problem and 1 or 0)
    errors[#errors + 1] = math.abs(identity.error)
    print(("%-48s %10.1f ms %+8.2f %%  %s"):format(name, identity.measured_us / 1000,
        100 * identity.error, identity.problem or ""))
end

for _, path in ipairs(arg) do
    local name = path:match "[^/]*$":sub(-36)
    local fine, tl = pcall(lab.load, path)
    local has_loops = false
    for step = 1, fine and 100 or 0 do
        local found, part = pcall(tl.part, tl, { step = step })
        if found and pcall(tl.part, tl, { step = step + 100 }) then
            has_loops = true
            add(("%s, step %d"):format(name, step), part)
        end
    end
    if not fine then
        print(("%-48s %s"):format(name, tl))
    elseif not has_loops then
        add(name, tl)
    end
end

table.sort(errors)
local function quantile(q) return 100 * errors[math.ceil(#errors * q)] end
if #errors > 0 then
    local text = "%d programs: median %.2f %%, p90 %.2f %%, worst %.2f %%; %d carry no prediction"
    print(text:format(#errors, quantile(0.5), quantile(0.9), quantile(1), refused))
end
