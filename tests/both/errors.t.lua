-- errors.t.lua - every function refuses what it cannot do with an error object that has
-- the code, the function and the script's line, and leaves the device as it was.

local T = require "tap"
local ideal = require "lua.ideal"

T.open()

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function works(name)
    local x = lab.full(2, 100)
    T.is(lab.sum(lab.add(x, x)):item(), 400, name)
end

local function the_object()
    local a, b = lab.zeros(4, 3), lab.zeros(4, 3)
    local line = debug.getinfo(1, "l").currentline + 1
    local err = ideal.error_of(function() lab.matmul(a, b) end)
    T.is(err.code, "SL_ESHAPE", "code is the status by name")
    T.is(err.op, "matmul", "op the function that was called")
    T.is(err.message, "inner sizes differ: 4x3 times 4x3", "message the sentence")
    T.is(err.where, "errors.t.lua:" .. line, "where the script's line")
    T.is(tostring(err), err.where .. ": matmul: inner sizes differ: 4x3 times 4x3",
         "it prints as one line")
end

-- ---- every function, called with what none of them takes ------------------------------

local function sorted(names)
    table.sort(names)
    return names
end

-- Whether err is an error object of this file's `line`.
local function is_ours(err, line)
    return type(err) == "table" and type(err.code) == "string" and err.code:find("^SL_%u+$")
        and type(err.message) == "string" and #err.message > 0 and type(err.op) == "string"
        and err.where == "errors.t.lua:" .. line and tostring(err):find(err.message, 1, true)
end

local wrong_arguments = {
    { true, true, true, true, true, true, true, true, true, true },
    { "x", {}, "x", {}, "x", {}, "x", {}, "x", {} },
    { { colour = 1 }, { colour = 1 }, { colour = 1 } },
    { 0 / 0, -1, 0.5, -7, 0 / 0, -1, 0.5, -7, 0 / 0, -1 },
}

-- Calls f, after `self` if there is one, with each list; true if it always raised.
local function always_refuses(f, self)
    for _, list in ipairs(wrong_arguments) do
        local arguments = table.move(list, 1, #list, self and 2 or 1, { self })
        local ok, err = pcall(function()
            f(table.unpack(arguments))      -- the line that errors name
        end)
        local line = debug.getinfo(1, "l").currentline - 2
        if ok or not is_ours(err, line) then return false, ok and "nothing" or tostring(err) end
    end
    return true
end

local function check_all(space, prefix)
    local names = {}
    for name, f in pairs(space) do
        if type(f) == "function" then names[#names + 1] = name end
    end
    for _, name in ipairs(sorted(names)) do
        local right, raised = always_refuses(space[name])
        if not T.ok(right, prefix .. name .. " refuses wrong arguments") then
            T.diag("  raised " .. tostring(raised))
        end
    end
end

local methods = {
    tensor = { "size", "numel", "nbytes", "get", "set", "item", "totable", "to", "cpu", "cuda",
               "copy_", "pin_memory", "pin", "unpin", "fill_", "zero_", "free", "sum", "allclose",
               "matmul", "pow", "add", "sub", "mul", "div", "neg", "relu", "softmax",
               "transpose", "t", "float", "int" },
    stream = { "synchronize", "query", "wait_event", "wait_stream", "record_event",
               "launch_host_func", "close" },
    event = { "record", "query", "synchronize", "elapsed_time" },
    timeline = { "stop", "spans", "busy_us", "overlap_us", "concurrency", "gaps", "bounds", "show",
                 "text", "summary", "json", "save" },
}

local function every_function()
    check_all(lab, "lab.")
    check_all(lab.cuda, "lab.cuda.")
    local objects = { tensor = lab.ones(2, 2), stream = lab.stream{}, event = lab.event{},
                      timeline = lab.profile(function() end) }
    for _, kind in ipairs{ "tensor", "stream", "event", "timeline" } do
        for _, name in ipairs(methods[kind]) do
            local right, raised = always_refuses(objects[kind][name], objects[kind])
            if not T.ok(right, ("%s:%s refuses wrong arguments"):format(kind, name)) then
                T.diag("  raised " .. tostring(raised))
            end
            right, raised = always_refuses(objects[kind][name])
            if not T.ok(right, ("and %s.%s without its %s"):format(kind, name, kind)) then
                T.diag("  raised " .. tostring(raised))
            end
        end
    end
    T.is_deeply(objects.tensor:totable(), { { 1, 1 }, { 1, 1 } }, "the tensor is as it was")
    T.is(objects.stream:query(), true, "and the stream")
end

-- ---- what each one cannot do ----------------------------------------------------------

local function cases()
    local a, b, host = lab.ones(2, 3), lab.ones(3, 2), lab.ones(2, 3, { device = "cpu" })
    local half, bytes = lab.ones(2, 3, { dtype = "float16" }), lab.ones(2, 3, { dtype = "uint8" })
    local freed, closed, gone = lab.ones(2, 3), lab.stream{}, lab.event{}
    local s, e = lab.stream{}, lab.event{}
    freed:free()
    closed:close()
    gone:close()
    local most = lab.device().max_threads_per_block
    return {
        { "SL_ESHAPE", "2x3 times 2x3", function() lab.matmul(a, a) end },
        { "SL_ESHAPE", "2x2", function() lab.matmul(a, b, { out = lab.empty(3, 3) }) end },
        { "SL_ESHAPE", "matrices", function() lab.matmul(lab.ones(6), b) end },
        { "SL_EINVAL", "out", function() lab.matmul(a, b, { out = 1 }) end },
        { "SL_EPLACE", "cpu", function() lab.matmul(host, b) end },
        { "SL_EDTYPE", "float16", function() lab.matmul(half, b) end },
        { "SL_EDTYPE", "uint8", function() lab.add(bytes, bytes) end },
        { "SL_ESHAPE", "2x3.*3x2", function() lab.add(a, b) end },
        { "SL_ESHAPE", "2x3", function() lab.mul(a, 2, { out = b }) end },
        { "SL_EPLACE", "cpu", function() lab.pow(host, 2) end },
        { "SL_EDTYPE", "uint8", function() lab.softmax(bytes) end },
        { "SL_EDTYPE", "uint8", function() lab.rand(3, { dtype = "uint8" }) end },
        { "SL_ESHAPE", "one element", function() lab.sum(a, { out = b }) end },
        { "SL_ECLOSED", "freed", function() lab.sum(freed) end },
        { "SL_ECLOSED", "closed", function() lab.add(a, a, { stream = closed }) end },
        { "SL_EINVAL", "strem", function() lab.add(a, a, { strem = s }) end },
        { "SL_EINVAL", "%-1", function() lab.spin(-1) end },
        { "SL_EINVAL", "blocks", function() lab.spin(1, { blocks = 0 }) end },
        { "SL_EINVAL", tostring(most), function() lab.spin(1, { threads = most + 1 }) end },
        { "SL_EINVAL", "shared_bytes", function() lab.spin(1, { shared_bytes = 1 << 30 }) end },
        { "SL_ESHAPE", "2x3.*3x2", function() a:copy_(b) end },
        { "SL_EDTYPE", "float16", function() a:copy_(half) end },
        { "SL_EINVAL", "gpu", function() a:to("gpu") end },
        { "SL_EPLACE", "pin", function() a:pin() end },
        { "SL_ESTATE", "pin", function() host:unpin() end },
        { "SL_ESHAPE SL_EINVAL", "3", function() a:get(3, 1) end },
        { "SL_ESHAPE", "2", function() a:get(1) end },
        { "SL_ESHAPE", "one element", function() a:item() end },
        { "SL_ESHAPE", "64 bits", function() lab.empty(1 << 40, 1 << 40) end },
        { "SL_ESHAPE", "%-3", function() lab.empty(-3) end },
        { "SL_EDTYPE", "int8", function() lab.empty(3, { dtype = "int8" }) end },
        { "SL_EPLACE", "pinned", function() lab.empty(3, { pinned = true }) end },
        { "SL_ESHAPE", "row 2", function() lab.tensor{ { 1, 2 }, { 3 } } end },
        { "SL_ESTATE", "record", function() e:elapsed_time(e) end },
        { "SL_ECLOSED", "closed", function() gone:query() end },
        { "SL_ECLOSED", "closed", function() s:wait_event(gone) end },
        { "SL_ECLOSED", "closed", function() s:wait_stream(closed) end },
        { "SL_EINVAL", "default stream", function() lab.default_stream():close() end },
        { "SL_EINVAL", "9.*6", function() lab.cuda.memset(bytes, 0, 9) end },
        { "SL_EINVAL", "256", function() lab.cuda.memset(bytes, 256) end },
        { "SL_EPLACE", "pageable", function() lab.cuda.memset(host, 0) end },
        { "SL_EPLACE", "host", function() lab.cuda.free(host) end },
        { "SL_EPLACE", "cudaFree", function() lab.cuda.free_host(a) end },
        { "SL_EINVAL", "negative", function() lab.host_work(-1) end, "from 0" },
        { "SL_EINVAL", "backend", function() lab.open{ backend = 5 } end },
        { "SL_ENOTFOUND", "opencl", function() lab.open{ backend = "opencl" } end },
        { "SL_ENOTFOUND", "device 999",
          function() lab.open{ backend = lab.device().backend, index = 999 } end },
        { "SL_EINVAL", "not indexed", function() return a[1] end },
        { "SL_EINVAL", "shape", function() return a.shape end },
        { "SL_ESHAPE", "sub: ", function() return a - b end, "2x3.*3x2" },
        { "SL_EPLACE", "neg: ", function() return -host end },
    }
end

local function each_refusal()
    local list = cases()
    local device = lab.device()
    lab.synchronize()
    local tl = lab.profile(function()
        for i, case in ipairs(list) do
            refuses(case[3], case[1], case[4] or case[2],
                    ("refusal %d is %s and tells of %s"):format(i, case[1], case[2]))
        end
    end)
    -- The products' operands are made in the calls, so kernels of their own are there.
    for _, span in ipairs(tl:spans()) do
        if not (span.name:find("fill") or span.kind == "memset") then
            T.ok(false, "a refused operation is not enqueued: " .. span.name)
        end
    end
    T.is(lab.device(), device, "the device is the same")
    works("and works")
end

-- However often refused, nothing is left.
local function nothing_leaks()
    local a, s = lab.ones(2, 3), lab.stream{}
    collectgarbage()
    collectgarbage()
    lab.synchronize()
    local before = lab.live()
    for _ = 1, 200 do
        pcall(lab.matmul, a, a)
        pcall(lab.add, a, a, { stream = 5 })
        pcall(s.wait_event, s, s)
        pcall(lab.empty, -1)
        pcall(lab.tensor, { { 1, 2 }, { 3 } })
        pcall(lab.cuda.malloc, 1 << 60)
    end
    collectgarbage()
    collectgarbage()
    lab.synchronize()
    T.is_deeply(lab.live(), before, "1200 refusals leave nothing behind")
    works("and the device works")
end

-- What a script that fails says, and its status. Not of a process that compute-sanitizer
-- watches from another one: its status is not the script's.
local function a_script()
    if T.launches_block then return end
    local status, text, name = ideal.run_text([[
local t = lab.ones(4, 3)
lab.matmul(t, t)
]], { options = "--backend " .. (os.getenv("STREAMLAB_BACKEND") or "sim") })
    T.is(status, 1, "a script that fails has status 1")
    T.ok(text:find(name .. ":2: matmul: inner sizes differ: 4x3 times 4x3", 1, true),
         "and says where and why")
end

the_object()
every_function()
each_refusal()
nothing_leaks()
a_script()
T.done()
