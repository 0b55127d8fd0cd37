-- 47-arguments.t.lua - arguments that are refused, calls that are refused in host functions, and
-- guards that close twice.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function wrong_indices_and_places()
    ideal.textbook()
    local t, column = lab.ones(2, 2), lab.ones(3)
    refuses(function() lab.event():record(lab.default_stream(), 1) end, "SL_EINVAL", "record",
            "an event is recorded in one stream")
    refuses(function() t:get(1, 1.5) end, "SL_EINVAL", "index 2 must be a whole number, got 1.5$",
            "an index that is no whole number is reported")
    refuses(function() t:set(1.5, 1, 9) end, "SL_EINVAL",
            "index 1 must be a whole number, got 1.5$", "also where an element is set")
    refuses(function() column:get(1, 1) end, "SL_ESHAPE", "has 1 dimension, got 2 indices$",
            "so is one too many")
    local sum = lab.sum(lab.ones(4)):to("cpu")
    refuses(function() sum:get(1) end, "SL_ESHAPE",
        "is a scalar, which has no index, got 1: t:item%(%) gives",
        "a scalar has no index, and item() gives its number")
    refuses(function() sum:set(1, 2) end, "SL_ESHAPE", "got 1: t:set%(value%) sets its number",
        "nor has it where it is set")
    local list <const> = lab.empty(1, { device = "cpu" })
    refuses(function() list:copy_(sum) end, "SL_ESHAPE",
        "the destination is 1, the source scalar; t:view%(sizes%) gives .* "
            .. "out:copy_%(t:view%(1%)%) takes a scalar",
        "a scalar is not copied into a list of one, and the message says how it is")
    list:copy_(sum:view(1))
    T.is(list:get(1), 4, "as it says")
    refuses(function() list:copy_(lab.zeros(4, { device = "cpu" })) end, "SL_ESHAPE",
        "the source 4$", "what has other elements has no view")
    refuses(function() t:get(1) end, "SL_ESHAPE", "has 2 dimensions, got 1 index$",
            "or one too few")
    refuses(function() lab.tensor{ 1, "x" } end, "SL_EINVAL",
            "element 2 must be a number, got string$", "an element that is no number is reported")
    refuses(function() lab.tensor{ { 1, 2 }, { 3, true } } end, "SL_EINVAL",
            "element 2, 2 must be a number, got boolean$", "in a matrix as well")
    refuses(function() lab.ones(2, { device = "cpu" }):to("cuda", { pinned = true }) end,
            "SL_EPLACE", "only host memory can be pinned", "a copy on the GPU cannot be pinned")
    refuses(function() t:cuda(2147483647) end, "SL_ENOTFOUND", "%-%-devices 2147483648 ",
            "the greatest index of a GPU that there can be")
    local memory = lab.cuda.malloc(2)
    lab.cuda.memset(memory, 255, 2)
    T.is(memory:get(2), 255, "255 is a byte")
    refuses(function() lab.cuda.memset(memory, 256, 2) end, "SL_EINVAL", "256", "256 is none")
    refuses(function() lab.cuda.memset(memory, -1, 2) end, "SL_EINVAL", "%-1", "nor is -1")
    lab.cuda.free(memory)
end

local function foreign_streams_are_refused()
    ideal.textbook()
    local foreign = lab.stream{}
    ideal.textbook()
    local here, host = lab.ones(2), lab.ones(2, { device = "cpu" })
    refuses(function() lab.cuda.memcpy_async(here, host, 8, foreign) end, "SL_EDEVICE", "device",
            "memcpy_async in another device's stream is refused")
    refuses(function() lab.cuda.memset_async(here, 0, 8, foreign) end, "SL_EDEVICE", "device",
            "so is memset_async")
    refuses(function() here:to("cpu", { stream = foreign }) end, "SL_EDEVICE", "device",
            "and to with another device's stream")
end

local function a_profile_may_have_other_priorities()
    local device = ideal.open{ priority_least = 2, priority_greatest = -1 }
    T.is_deeply(device.priority_range, { least = 2, greatest = -1 }, "the range is the profile's")
    T.is(lab.stream{}.priority, 2, "a stream has the least unless said")
    T.is(lab.stream{ priority = "high" }.priority, -1, "\"high\" is the greatest")
    T.is(lab.stream{ priority = 1 }.priority, 1, "and numbers between are themselves")
end

local function texts_with_a_zero_byte()
    ideal.textbook()
    refuses(function() lab.ones(2, { dtype = "float32\0" }) end, "SL_EINVAL",
            "option 'dtype' has a zero byte in it$", "a text with a zero byte is no option")
end

local function allocations_cost_the_host()
    ideal.open{ ["host.tensor_alloc_us"] = 3, ["host.pinned_alloc_us"] = 40 }
    local function host_us(options)
        local before = lab.now_us()
        lab.empty(4, options)
        return lab.now_us() - before
    end
    T.near(host_us{}, 3, 1e-6, "a tensor on the GPU costs host.tensor_alloc_us")
    lab.empty(4, { device = "cpu", pinned = true }):free()
    T.near(host_us{ device = "cpu", pinned = true }, 40, 1e-6,
           "a pinned one host.pinned_alloc_us, where memory is left over")
    T.near(host_us{ device = "cpu" }, 0, 1e-6, "a pageable one nothing")
end

local function failed_fills_are_not_silent()
    ideal.textbook()
    for _, make in ipairs{ "rand", "randn" } do
        refuses(function() lab[make](2, { dtype = "uint8" }) end, "SL_EDTYPE", "uint8",
                make .. " of bytes is refused")
    end
end

-- What would change the device or the script's view of it behind the script's back.
local function host_functions_change_nothing()
    ideal.textbook()
    local device, s, t, tl = lab.device(), lab.stream{}, lab.ones(2), lab.record()
    local cases = {
        { "freeing a tensor", function() t:free() end }, { "lab.use", function() lab.use(s) end },
        { "opening a device", function() lab.open{ backend = "sim" } end },
        { "stopping a recording", function() tl:stop() end },
        { "cudaFree", function() lab.cuda.free(t) end }, { "pinning", function() t:pin() end },
        { "a new stream", function() lab.stream{} end },
    }
    local errors = {}
    s:launch_host_func(function()
        for i, case in ipairs(cases) do errors[i] = ideal.error_of(case[2]) or false end
    end)
    s:synchronize()
    for i, case in ipairs(cases) do
        T.is(errors[i] and errors[i].code, "SL_ESTATE",
             "in a host function, " .. case[1] .. " is refused")
    end
    T.is(tl.recording, true, "the recording goes on")
    tl:stop()
    T.is(tl.span_count, 1, "and has the host function")
    T.is(t.freed, false, "the tensor is there")
    T.is(lab.device(), device, "and the device is the current one")
end

local function broken_overrides()
    local cases = {
        { { wake_us = print }, "'wake_us' is a function", "a function" },
        { { [7] = 1 }, "'7' must be named", "a list item" },
        { { ["host.launch_us"] = 1, host = { launch_us = 2 } }, "'host.launch_us' is given twice",
          "a key that is given twice" },
        { { h2d_staging_gb_per_s = { 1, "x" } },
          "'h2d_staging_gb_per_s' has an item that is a string",
          "a text among numbers" },
        { { h2d_staging_gb_per_s = { 1, x = 2 } },
          "'h2d_staging_gb_per_s' mixes list items and named ones", "a list with a name in it" },
    }
    for _, case in ipairs(cases) do
        refuses(function()
            lab.open{ backend = "sim", profile = "textbook", overrides = case[1] }
        end,
                "SL_EINVAL", "overrides: " .. case[2] .. "$", case[3] .. " is no override")
    end
end

local function profiles_are_for_the_simulator()
    for _, key in ipairs{ "profile", "overrides" } do
        local options = { backend = "cuda", [key] = key == "profile" and "h200" or { wake_us = 1 } }
        refuses(function() lab.open(options) end, "SL_EINVAL",
                "a profile is for the simulator, not for backend \"cuda\"$",
                key .. " alone is refused for a real GPU")
    end
end

local function a_guard_closes_once()
    ideal.textbook()
    local before, s, other = lab.current_stream(), lab.stream{}, lab.stream{}
    do
        local first <close> = lab.use(s)
        local again <close> = first
        T.is(lab.current_stream(), s, "lab.use makes a stream current")
    end
    T.is(lab.current_stream(), before, "the stream before is current again")
    local guard = lab.use(s)
    do local first <close> = guard end
    local outer <close> = lab.use(other)
    do local again <close> = guard end
    T.is(lab.current_stream(), other, "a guard that is closed again changes nothing")
end

-- A check names the argument by its index, which is none below the top of the stack.
local function checks_name_arguments()
    local names <const> = { "luaL_check%a+", "luaL_opt%a+", "luaL_arg%a+",
                            "lsl_check_%a+", "lsl_opt_%a+", "lsl_type_error", "lsl_fail_box" }
    local n, wrong = 0, {}
    local list = io.popen("ls bindings/*.c bindings/*.h repl/*/*.c")
    for path in list:lines() do
        for line in io.lines(path) do
            for _, name in ipairs(names) do
                local index = line:match("%f[%w_]" .. name .. "%(%s*L,%s*([^,()]*)")
                if index then n = n + 1 end
                if index and index:find "^%-" then wrong[#wrong + 1] = path .. ": " .. line end
            end
        end
    end
    list:close()
    T.ok(n > 200, "the checks of arguments were found: " .. n)
    T.is(table.concat(wrong, "\n"), "", "none is of an index from the top of the stack")
end

local function selections_name_what_they_were_given()
    ideal.textbook()
    local tl = lab.profile(lab.spin, 1)
    for _, id in ipairs{ 1.5, 2 ^ 40 } do
        refuses(function() tl:overlap_us("h2d", { stream = id }) end, "SL_EINVAL",
                "overlap_us: a stream's id is a whole number from 0 to 4294967295, not [%d.]+$",
                "a stream's id in a selection, and no argument of the call")
    end
end

for _, test in ipairs{ checks_name_arguments, selections_name_what_they_were_given,
                       wrong_indices_and_places, foreign_streams_are_refused,
                       a_profile_may_have_other_priorities, texts_with_a_zero_byte,
                       allocations_cost_the_host, failed_fills_are_not_silent,
                       host_functions_change_nothing, broken_overrides,
                       profiles_are_for_the_simulator, a_guard_closes_once } do
    test()
end
T.done()
