-- kernel_costs.lua - a profile's `kernels`: what was measured of custom kernels on a GPU.
--
-- By the kernel's hash {name = "saxpy", registers = 16, shared_bytes = 0, launches = {{grid = 64,
-- block = 256, shared = 0, bytes = 1e6, numbers = {3, 1024}, us = 2.5, cold_us = 3, two_us = 4},
-- ...}}: blocks, threads of a block, dynamic shared memory, the bytes of all tensors, the arguments
-- that are none, how long such a launch took alone, with nothing of its tensors in the L2, and two
-- of them at a time; the latter two if they are known. `streamlab calibrate
-- --kernels` writes them.

local _, core = ...

local refuse, show_value = core.refuse, core.arguments.show_value
local sorted_keys, is_amount = core.arguments.sorted_keys, core.arguments.is_amount

local costs = {}

local most_kernels <const>, most_launches <const> = 1000, 1000

-- ---- checking ----------------------------------------------------------------------------

local function check_fields(t, fields, fail)
    if type(t) ~= "table" then fail("must be a table, got %s", show_value(t)) end
    for _, field in ipairs(fields) do
        if not is_amount(t[field]) then
            fail("needs '%s', a number from 0, got %s", field, show_value(t[field]))
        end
    end
end

local launch_fields <const> = { "grid", "block", "shared", "bytes", "us" }

local function check_kernel(kernel, fail)
    check_fields(kernel, {}, fail)
    for _, field in ipairs{ "registers", "shared_bytes" } do
        if kernel[field] ~= nil and not is_amount(kernel[field]) then
            fail("has '%s' = %s, which is no number from 0", field, show_value(kernel[field]))
        end
    end
    local launches = kernel.launches
    if type(launches) ~= "table" or rawlen(launches) > most_launches then
        fail("needs 'launches', a list of at most %d", most_launches)
    end
    for i = 1, rawlen(launches) do
        check_fields(launches[i], launch_fields, function(text, ...)
            fail("launch %d " .. text, i, ...)
        end)
        for _, field in ipairs{ "two_us", "cold_us" } do
            if launches[i][field] ~= nil and not is_amount(launches[i][field]) then
                fail("launch %d has '%s' = %s, which is no number from 0", i, field,
                     show_value(launches[i][field]))
            end
        end
        if launches[i].numbers ~= nil and type(launches[i].numbers) ~= "table" then
            fail("launch %d has 'numbers' that are no list", i)
        end
    end
end

-- Raises an error unless `kernels` is such a table, or nil; `label` begins its text.
function costs.check(kernels, label)
    if kernels == nil then return end
    if type(kernels) ~= "table" then
        refuse("open", "%s: 'kernels' must be a table, got %s", label, show_value(kernels))
    end
    for i, hash in ipairs(sorted_keys(kernels)) do
        local function fail(text, ...)
            refuse("open", "%s: kernel %s " .. text, label, show_value(hash), ...)
        end
        if i > most_kernels then fail("is one too many: at most %d", most_kernels) end
        if type(hash) ~= "string" then fail("must be named by its hash") end
        check_kernel(kernels[hash], fail)
    end
end

-- `base` with those of `kernels`; either may be nil.
function costs.merge(base, kernels)
    if not base or not kernels then return kernels or base end
    local all = {}
    for hash, kernel in next, base do all[hash] = kernel end
    for hash, kernel in next, kernels do all[hash] = kernel end
    return all
end

-- ---- a launch ----------------------------------------------------------------------------

-- What a launch's time goes with, among launches of one block size: its bytes, or its blocks if it
-- names no tensor.
local function amount(launch) return launch.bytes > 0 and launch.bytes or launch.grid end

-- Whether a launch was given the same numbers. How many elements there are is often one of them:
-- such launches differ in their bytes as well, and are compared by these.
local function has_numbers(launch, numbers)
    for i, number in ipairs(numbers) do
        if launch.numbers and launch.numbers[i] ~= number then return false end
    end
    return true
end

-- Those with as many threads and as much shared memory, in order of their amounts.
local function alike(launches, asked, fits)
    local list = {}
    for _, launch in ipairs(launches) do
        if launch.block == asked.block and launch.shared == asked.shared
            and (not fits or has_numbers(launch, asked.numbers)) then
            list[#list + 1] = launch
        end
    end
    table.sort(list, function(a, b) return amount(a) < amount(b) end)
    return list
end

-- Between two measured launches on the straight line through them, beyond them on it, too; with one
-- alone in proportion, but not below its time, since what a small launch takes is fixed.
local function interpolate(list, x)
    if #list == 1 then return list[1].us * math.max(1, x / amount(list[1])) end
    local i = 1
    while i < #list - 1 and amount(list[i + 1]) < x do i = i + 1 end
    local a, b = list[i], list[i + 1]
    local from, to = amount(a), amount(b)
    if to == from then return b.us end
    if x < from then return a.us * math.max(0.5, x / from) end
    return math.max(a.us, a.us + (b.us - a.us) * (x - from) / (to - from))
end

local function exact(list, asked)
    for _, launch in ipairs(list) do
        if launch.grid == asked.grid and launch.bytes == asked.bytes then return launch end
    end
end

local function nearest(list, x)
    local best = list[1]
    for _, launch in ipairs(list) do
        if math.abs(amount(launch) - x) < math.abs(amount(best) - x) then best = launch end
    end
    return best
end

-- How long {grid =, block =, shared =, bytes =, numbers =} takes, and the measured launch that is
-- most like it; nil: nothing like it was measured. A launch with the same numbers comes first, then
-- one of the same size, then those of other sizes.
function costs.us(kernel, asked)
    local same = alike(kernel.launches, asked, true)
    local list = alike(kernel.launches, asked)
    local launch = exact(same, asked) or exact(list, asked)
    if launch then return launch.us, launch end
    if #same > 1 then list = same end
    if #list == 0 then return nil end
    return interpolate(list, amount(asked)), nearest(list, amount(asked))
end

-- How long it takes with nothing of its tensors in the L2: as much longer as the measured launch;
-- nil: not known.
function costs.cold_us(launch, us)
    return launch.cold_us and launch.us > 0 and us * math.max(1, launch.cold_us / launch.us) or nil
end

-- ---- beside other kernels ----------------------------------------------------------------

-- A kernel is bound by memory if its tensors' bytes explain this part of its time.
local bound_by_memory <const> = 0.4

-- The figures of a profile that matter here, of those that profiles.lua has flattened; nil if one
-- is missing.
local function read_figures(flat)
    local figures = { shared_reserved_bytes = 0 }
    for _, name in ipairs{ "l2_bytes", "l2_gb_per_s", "hbm_gb_per_s", "fp32_tflops",
                           "kernel_fixed_us", "sm_count", "max_threads_per_sm", "max_blocks_per_sm",
                           "registers_per_sm", "shared_bytes_per_sm", "shared_reserved_bytes" } do
        figures[name] = flat[name] and flat[name][1] or figures[name]
        if not figures[name] then return nil end
    end
    return figures
end

-- Bytes a us that the GPU moves, of so many.
local function speed(figures, bytes)
    local in_l2 = bytes <= figures.l2_bytes / 2
    return 1e3 * (in_l2 and math.max(figures.l2_gb_per_s, figures.hbm_gb_per_s)
        or figures.hbm_gb_per_s)
end

-- How many blocks of a launch fit on an SM.
local function fit(kernel, launch, figures)
    local warps = math.ceil(launch.block / 32)
    local registers = math.max(1, math.ceil((kernel.registers or 32) / 8) * 8 * 32 * warps)
    local shared = math.max(1, launch.shared + (kernel.shared_bytes or 0)
        + figures.shared_reserved_bytes)
    return math.max(1, math.min(figures.max_blocks_per_sm,
                                figures.max_threads_per_sm // (32 * warps),
                                figures.registers_per_sm // registers,
                                figures.shared_bytes_per_sm // shared))
end

-- How long two at a time take, as a part of two one after the other. What a kernel takes after its
-- last block is left out: it needs no place on an SM.
local function part_of_two(launch, figures)
    local fixed = math.min(figures.kernel_fixed_us, launch.us / 2)
    return math.max(0.5, math.min(1, (launch.two_us - fixed) / (launch.us - fixed) / 2))
end

-- The blocks of a launch on the SM that has the most.
local function layers(launch, figures) return math.ceil(launch.grid / figures.sm_count) end

-- How far a measured launch is from telling what part of its SM's issue slots a block of `asked`
-- takes; nil: it does not tell. Both of two must be on each SM, and meet there. Those with the
-- fewest blocks on an SM leave the most unused, and those of the nearest amount are most like it.
local function distance(kernel, launch, asked, figures)
    if launch.block ~= asked.block or not launch.two_us or launch.us <= 0
            or launch.grid < figures.sm_count then
        return nil
    end
    local n = layers(launch, figures)
    local meet = 2 * n <= fit(kernel, launch, figures)
    local ratio = math.abs(math.log(amount(launch) / amount(asked)))
    return (meet and 0 or 1e6) + n + ratio / (1 + ratio)
end

local function most_telling(kernel, asked, figures)
    local best, least
    for _, launch in ipairs(kernel.launches) do
        local far = distance(kernel, launch, asked, figures)
        if far and (not best or far < least) then best, least = launch, far end
    end
    return best
end

-- What part of its SM's issue slots a launch takes; nil: not known, since it is below half.
local function issue_part(kernel, asked, figures)
    local launch = most_telling(kernel, asked, figures)
    if not launch then return nil end
    local part = part_of_two(launch, figures)
    if part < 0.53 then return nil end
    local measured = math.min(layers(launch, figures), fit(kernel, launch, figures))
    return math.min(1, part / measured * math.min(layers(asked, figures),
        fit(kernel, asked, figures)))
end

-- The bytes and the operations with which a launch of `us` takes from kernels beside it as much as
-- the measured one takes from another of its kind; nil for what it takes none of. Two at a time
-- that last twice as long as one leave nothing over, of memory's bandwidth or of the issue slots of
-- its SMs; two that last as long as one disturb nobody.
function costs.shares(kernel, launch, asked, us, flat)
    local figures = read_figures(flat)
    if not figures then return nil end
    if launch.two_us and launch.us > 0 and asked.bytes / speed(figures, asked.bytes)
            >= bound_by_memory * us then
        return math.max(0.5, math.min(1, launch.two_us / launch.us / 2)) * us
            * speed(figures, asked.bytes)
    end
    local part = issue_part(kernel, asked, figures)
    if not part then return nil end
    local busy_us = us - math.min(figures.kernel_fixed_us, us / 2)
    return nil, part * busy_us * figures.fp32_tflops * 1e6 * asked.grid
        / (layers(asked, figures) * figures.sm_count)
end

return costs
