-- 39-profiles.t.lua - what NVIDIA's data sheets say of each GPU that can be simulated.
--
-- A profile says what differs from its base, so a figure that is missing in one is its base's and
-- not an error. These figures were taken from the data sheets, the CUDA programming guide's table
-- of compute capabilities and deviceQuery, and not from the profiles.

require "lua.quiet" ()

local T = require "tap"

local GB <const> = 2^30

-- name, compute capability, SMs, memory in GiB, threads and blocks an SM, shared memory an SM and a
-- block in KiB, float32 in TFLOP/s, PCIe generation and lanes
local gpus <const> = {
    t4 = { "Tesla T4", 7.5, 40, 16, 1024, 16, 64, 64, 8.1, 3, 16 },
    v100 = { "Tesla V100-SXM2-16GB", 7.0, 80, 16, 2048, 32, 96, 96, 15.7, 3, 16 },
    a100 = { "NVIDIA A100-SXM4-80GB", 8.0, 108, 80, 2048, 32, 164, 163, 19.5, 4, 16 },
    a10 = { "NVIDIA A10", 8.6, 72, 24, 1536, 16, 100, 99, 31.2, 4, 16 },
    l4 = { "NVIDIA L4", 8.9, 58, 24, 1536, 24, 100, 99, 30.3, 4, 16 },
    rtx4090 = { "NVIDIA GeForce RTX 4090", 8.9, 128, 24, 1536, 24, 100, 99, 82.6, 4, 16 },
    rtx4060_laptop = { "NVIDIA GeForce RTX 4060 Laptop GPU", 8.9, 24, 8, 1536, 24, 100,
                       99, 14.6, 4, 8 },
    h100 = { "NVIDIA H100 80GB HBM3", 9.0, 132, 80, 2048, 32, 228, 227, 66.9, 5, 16 },
    h200 = { "NVIDIA H200", 9.0, 132, nil, 2048, 32, 228, 227, 66.9, 5, 16 },
    h200_nvlink = { "NVIDIA H200", 9.0, 132, nil, 2048, 32, 228, 227, 66.9, 5, 16 },
    textbook = { "textbook GPU", 9.0, 132, nil, 2048, 32, 228, 227, 66.9, 5, 16 },
}

-- GB/s that a PCIe link of that generation carries each way before its protocol, a lane.
local lane_gb_per_s <const> = { [3] = 0.985, [4] = 1.969, [5] = 3.938 }

local load_profile <const> = debug.getregistry()["streamlab.internals"].load_profile

local names <const> = {}
for profile in pairs(gpus) do names[#names + 1] = profile end
table.sort(names)
for _, profile in ipairs(names) do
    local is <const> = gpus[profile]
    local p = load_profile(profile)
    T.is(p.name, is[1], profile .. " is a " .. is[1])
    T.is(p.compute_capability[1] .. "." .. p.compute_capability[2], tostring(is[2]),
         profile .. ": its compute capability")
    T.is(p.sm_count, is[3], profile .. ": its SMs")
    if is[4] then T.is(p.memory_bytes, is[4] * GB, profile .. ": its memory") end
    T.is(p.max_threads_per_sm, is[5], profile .. ": threads that an SM holds")
    T.is(p.max_blocks_per_sm, is[6], profile .. ": blocks that an SM holds")
    T.is(p.shared_bytes_per_sm, is[7] * 1024, profile .. ": an SM's shared memory")
    T.is(p.shared_bytes_per_block, is[8] * 1024, profile .. ": a block's")
    T.is(p.registers_per_sm, 65536, profile .. ": an SM's registers")
    T.near(p.fp32_tflops, is[9], 0.05, profile .. ": float32")
    local link = lane_gb_per_s[is[10]] * is[11]
    T.ok(p.h2d_gb_per_s < link and p.h2d_gb_per_s > 0.7 * link, profile .. ": PCIe, up")
    T.ok(p.d2h_gb_per_s < link and p.d2h_gb_per_s > 0.7 * link, profile .. ": PCIe, down")
    T.ok(p.peer.host_gb_per_s < math.min(p.h2d_gb_per_s, p.d2h_gb_per_s),
         profile .. ": what goes through the host from GPU to GPU is no faster than copies to and "
             .. "from it")
    T.ok(p.gemm_efficiency.float32 < 1 and p.hbm_gb_per_s > p.d2d_gb_per_s, profile
         .. ": shares of the peaks")
    T.is(p.base, nil, profile .. ": no base is left to look up")
    local device = lab.open{ backend = "sim", profile = profile }
    T.is(device.profile or profile, profile, profile .. " can be opened")
end
for _, profile in ipairs{ "t4", "v100", "a100", "a10", "l4", "rtx4090", "rtx4060_laptop" } do
    T.is(load_profile(profile).gemm_us, nil, profile .. ": no measured matmuls of another GPU")
end
T.done()
