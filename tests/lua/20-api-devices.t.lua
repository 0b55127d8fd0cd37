-- 20-api-devices.t.lua - naming a device: "cuda:0", an object of lab.open, the fields that
-- tell where a tensor or a stream is, and the calls about several GPUs. Run on the simulator,
-- whose devices cannot copy to one another; tests/cuda has what needs real ones.
local T = require "tap"
package.path = "tests/lua/?.lua;" .. package.path
local ideal = require "ideal"
local lab = require "streamlab"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- Whether the tensor can be an operand on the device.
local function is_on(device, t)
    local before = lab.device()
    device:make_current()
    local ok = pcall(lab.add, lab.zeros(2), t)
    before:make_current()
    return ok
end

local function where_a_tensor_is()
    ideal.textbook()
    local t, h = lab.ones(2), lab.ones(2, { device = "cpu" })
    T.is(t.device .. t.device_index, "cuda0", "a tensor on the GPU has its number")
    T.is(h.device, "cpu", "a tensor on the host")
    T.is(h.device_index, nil, "has none")
    T.is(tostring(t), "tensor 2 float32 on cuda", "the first GPU prints without its number")
    T.is(t:cpu().device_index, nil, "a copy on the host has none either")
    t:free()
    T.ok(ideal.error_of(function() return t.device_index end), "a freed tensor is nowhere")
end

local function by_number()
    local device = ideal.textbook()
    local t = lab.tensor({ 1, 2 }, { device = "cuda:0" })
    T.ok(is_on(device, t), "\"cuda:0\" is the current device if that is its number")
    T.is(t:to("cuda:0"), t, "to(\"cuda:0\") of a tensor that is there gives itself")
    T.is(t:cuda(0), t, "cuda(0) as well")
    local h = lab.tensor({ 3, 4 }, { device = "cpu" })
    T.is_deeply(h:to("cuda:0"):totable(), { 3, 4 }, "a host tensor is copied there")
    T.is_deeply(h:cuda(0, { non_blocking = true }):totable(), { 3, 4 },
                "and by cuda(0), with options")
    local later = ideal.textbook()
    T.ok(is_on(later, lab.ones(2, { device = "cuda:0" })),
         "of two devices of that number the current one is meant")
    T.is(lab.device(), later, "and stays current")
    local s = lab.stream{ device = "cuda:0" }
    T.is(s.device, later, "a stream is made there too")
    for op, f in pairs{ ones = function() lab.ones(2, { device = "cuda:1" }) end,
                        to = function() h:to("cuda:1") end, cuda = function() h:cuda(1) end,
                        stream = function() lab.stream{ device = "cuda:1" } end } do
        refuses(f, "SL_ENOTFOUND", op .. ": there is no device 1: the simulated machine has 1; "
                .. "streamlab %-%-devices 2 SCRIPT gives it as many, or lab.open{ index = 1 } "
                .. "opens one beside it$",
                "a number that the backend does not have is refused by " .. op)
    end
    T.is(lab.device(), later, "and changes nothing")
end

local function by_object()
    local one = ideal.textbook()
    local a = lab.tensor({ 1, 2 })
    local two = ideal.textbook()
    local b = lab.tensor({ 1, 2 }, { device = one })
    T.ok(is_on(one, b) and not is_on(two, b), "device = d makes a tensor on that device")
    T.is(lab.device(), two, "which does not become current")
    T.ok(is_on(one, lab.rand(2, { device = one })), "also a random one")
    local h = lab.tensor({ 5, 6 }, { device = "cpu" })
    local moved = h:to(one)
    T.ok(is_on(one, moved), "to(d) copies there")
    T.is_deeply(moved:totable(), { 5, 6 }, "with the values")
    T.is(a:to(one), a, "and gives a tensor itself that is there")
    local s = lab.stream{ device = one, name = "there" }
    T.is(s.device, one, "a stream is made there")
    T.is_deeply(h:to(one, { stream = s, non_blocking = true }):totable(), { 5, 6 },
                "and takes copies to it")
    refuses(function() h:to(two, { stream = s }) end, "SL_EDEVICE", "device",
            "but not to the other device")
    refuses(function() lab.ones(2, { device = two, stream = s }) end, "SL_EDEVICE", "device",
            "a tensor of one device is not made on another's stream")
    collectgarbage()
    local live = lab.live().tensors
    for _, f in ipairs{ function() a:to(two) end, function() a:cuda() end,
                        function() a:to("cuda") end, function() lab.zeros(2):copy_(a) end } do
        refuses(f, "SL_EDEVICE", "another machine", "simulated machines do not copy to one another")
    end
    collectgarbage()
    T.is(lab.live().tensors, live, "and a copy that was refused leaves no tensor")
end

local function no_places()
    ideal.textbook()
    local t = lab.ones(2)
    local wrong = { "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda: 1",
                    "cuda:99999", "cpu:0", "CUDA", "", "cuda\0", 0, 1.5, true, {}, t,
                    lab.stream{}, print }
    for _, place in ipairs(wrong) do
        local shown = type(place) == "string" and ("%q"):format(place) or type(place)
        refuses(function() t:to(place) end, "SL_EINVAL",
                "argument 2 %(place%) must be \"cuda\", \"cpu\"", "to refuses " .. shown)
        refuses(function() lab.ones(2, { device = place }) end, "SL_EINVAL",
                "option 'device' must be \"cuda\", \"cpu\"", "device = refuses " .. shown)
        refuses(function() lab.stream{ device = place } end, "SL_EINVAL",
                "option 'device' must be \"cuda\"", "a stream's device = refuses " .. shown)
    end
    refuses(function() lab.stream{ device = "cpu" } end, "SL_EINVAL", "got \"cpu\"",
            "there are no streams on the host")
    refuses(function() t:cuda(-1) end, "SL_EINVAL", "from 0", "cuda refuses a negative number")
    refuses(function() t:cuda(0.5) end, "SL_EINVAL", "whole", "and half a one")
    refuses(function() t:cuda("cuda:0") end, "SL_EINVAL", "options", "it takes a number or options")
    refuses(function() lab.ones(2, { device = "cuda:0", pinned = true }) end, "SL_EPLACE", "host",
            "memory of a numbered GPU cannot be pinned")
    refuses(function() t:cpu():to("cuda:0", { pinned = true }) end, "SL_EPLACE", "host",
            "by to either")
end

local function several_gpus()
    local one, two = ideal.textbook(), ideal.textbook()
    local cuda = lab.cuda
    local free, total = cuda.mem_get_info()
    T.is(total, two.memory_bytes, "mem_get_info tells the device's memory")
    T.ok(math.type(free) == "integer" and free >= 0 and free <= total, "and how much of it is free")
    refuses(function() cuda.mem_get_info(1) end, "SL_EINVAL", "one too many",
            "it takes no argument")
    refuses(function() cuda.device_can_access_peer(one) end, "SL_EINVAL", "argument 2 %(peer%)",
            "device_can_access_peer takes two devices")
    refuses(function() cuda.device_can_access_peer(0, 1) end, "SL_EINVAL", "argument 1 %(device%)",
            "and not their numbers")
    refuses(function() cuda.device_enable_peer_access() end, "SL_EINVAL", "argument 1 %(peer%)",
            "device_enable_peer_access takes one")
    refuses(function() cuda.device_enable_peer_access(one, { device = 1 }) end, "SL_EINVAL",
            "option 'device' must be a device", "its device = is an object too")
    refuses(function() cuda.device_disable_peer_access(one, { stream = 1 }) end, "SL_EINVAL",
            "unknown option 'stream'; known: device", "and its only option")
    for _, call in ipairs{ "device_enable_peer_access", "device_disable_peer_access" } do
        T.is(ideal.error_of(cuda[call], one).op, "cuda." .. call, call .. " names itself")
    end
end

local function trap()
    ideal.textbook()
    refuses(function() lab.cuda.trap() end, "SL_EUNSUPPORTED", "cuda.trap",
            "a simulated device cannot be made to fail")
    refuses(function() lab.cuda.trap({ stream = lab.stream{} }) end, "SL_EUNSUPPORTED", "trap",
            "in no stream")
    refuses(function() lab.cuda.trap(5) end, "SL_EINVAL", "stream", "a number is no stream")
    T.is(lab.ones(1):get(1), 1, "and it still works")
end

local function recording_names()
    ideal.textbook()
    local tl <close> = lab.record{ name = "my range" }
    lab.spin(1)
    T.is(tl:stop().span_count, 1, "a recording may have a name")
    T.is(tl:spans()[1].symbol, nil, "a simulated kernel has no symbol")
    refuses(function() lab.record{ name = 5 } end, "SL_EINVAL", "name", "the name is text")
    refuses(function() lab.record("x") end, "SL_EINVAL", "options", "in a table")
    T.is(lab.record():stop().span_count, 0, "and need not be given")
end

for _, test in ipairs{ where_a_tensor_is, by_number, by_object, no_places, several_gpus, trap,
                       recording_names } do
    test()
end
T.done()
