-- 39-profile-parts.t.lua - a profile's two parts: the GPU of one with the host of another.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(options, code, pattern, name)
    ideal.refuses(T, function() lab.open(options) end, code, pattern, name)
end

-- How long the host takes for a launch, and the kernel of 100 us itself.
local function launch_us()
    local before = lab.now_us()
    lab.spin(0.1)
    local us = lab.now_us() - before
    return us, lab.profile(lab.spin, 0.1).makespan_us
end

local function figures()
    local device = lab.open{ profile = { base = "textbook", spin_fixed_us = 5 },
                             host = { host = { launch_us = 7 }, spin_fixed_us = 50 } }
    local host_us, kernel_us = launch_us()
    T.near(host_us, 7, 1e-9, "the host's figures are those of the host")
    T.near(kernel_us, 105, 1e-9, "the GPU's stay those of the profile")
    T.is(device.profile, "table with host table", "the device says both")
    T.is(lab.open{ profile = "a100", host = "t4" }.profile, "a100 with host t4", "with their names")
    T.is(lab.device().name, "NVIDIA A100-SXM4-80GB", "the GPU is that of the profile")
    lab.open{ host = { ["host.launch_us"] = 9 }, overrides = { spin_fixed_us = 1 } }
    T.near(launch_us(), 9, 1e-9, "a key may be written with dots; the profile is the default one")
    lab.open{ profile = "textbook", host = { ["host.launch_us"] = 9 },
              overrides = { host = { launch_us = 4 } } }
    T.near(launch_us(), 4, 1e-9, "overrides come last")
end

-- How long cudaFree takes when nothing runs, and whether it waits for a kernel of 1 ms.
local function free_us()
    local one, two = lab.cuda.malloc(4), lab.cuda.malloc(4)
    local before = lab.now_us()
    lab.cuda.free(one)
    local us = lab.now_us() - before
    lab.spin(1)
    before = lab.now_us()
    lab.cuda.free(two)
    return us, lab.now_us() - before > 500
end

local function calls()
    lab.open{ profile = { base = "textbook", calls = { cudaFree = { us = 3, waits = true } } },
              host = { calls = { cudaFree = { us = 11, waits = false } } } }
    local us, waits = free_us()
    T.near(us, 11, 1e-9, "what a call costs is the host's")
    T.ok(waits, "whether it waits is the driver's, and stays the profile's")
end

local function errors()
    refuses({ host = { sm_count = 3 } }, "SL_EINVAL", "host table: it has no figure of a host",
            "a host without any figure of a host")
    refuses({ host = { calls = { cudaFree = { waits = true } } } }, "SL_EINVAL",
            "no figure of a host", "of calls only the costs are the host's")
    refuses({ host = "t5" }, "SL_ENOTFOUND", "no profile \"t5\"", "a host that is not there")
    refuses({ host = 3 }, "SL_EINVAL", "'host' must be a profile's name, a file or a table, got 3",
            "and what is no host")
    refuses({ backend = "cuda", host = "t4" }, "SL_EINVAL", "a profile is for the simulator",
            "a real GPU has its own host")
    refuses({ host = { host = { lunch_us = 3 } } }, "SL_EINVAL", "host.lunch_us.*host.launch_us",
            "a mistyped figure of the host")
end

local function bases()
    local base = { base = "textbook", host = { launch_us = 7 } }
    lab.open{ profile = base }
    T.near(launch_us(), 7, 1e-9, "a host's table with a base is a profile by itself")
    lab.open{ profile = "t4", host = base }
    T.near(launch_us(), 7, 1e-9, "and a host")
    T.is(lab.device().name, "Tesla T4", "of which the GPU does not count")
    T.is(base.host.launch_us, 7, "the script's tables are as they were")
end

figures()
calls()
errors()
bases()
T.done()
