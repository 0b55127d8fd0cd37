-- NVIDIA T4 (16 GB, 70 W), as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. It is the profile v100 with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others (docs/design/simulator.md names them)
--   estimate   from the measured H200, scaled by the data sheet where one says how, or a
--              plausible value
-- All that is not here is that of the V100, whose host, PCIe 3 x16 and driver are those of a T4.
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "v100",
    name = "Tesla T4",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = { 7, 5 },          -- vendor
    sm_count = 40,                          -- vendor
    max_threads_per_sm = 1024,              -- vendor
    max_blocks_per_sm = 16,                 -- vendor
    shared_bytes_per_sm = 65536,            -- vendor: 64 KiB
    shared_bytes_per_block = 65536,         -- vendor: 64 KiB
    async_engine_count = 3,                 -- published (deviceQuery)

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 8.1,                      -- vendor
    tf32_tflops = 8.1,                      -- no such units: float32's
    bf16_tflops = 65,                       -- vendor: float16 (no bfloat16 units)
    gemm_efficiency = {
        float32 = 0.55,                     -- estimate: 70 W lower the clock under load
        tf32 = 0.55,                        -- estimate
        bfloat16 = 0.4,                     -- estimate: 70 W
    },

    -- Device memory.
    hbm_gb_per_s = 250,                     -- estimate: 0.78 of 320 GB/s (GDDR6)
    l2_bytes = 4194304,                     -- vendor
    l2_gb_per_s = 900,                      -- estimate
    d2d_gb_per_s = 120,                     -- estimate
    memset_gb_per_s = 270,                  -- estimate

    -- Copies between host and device.
    h2d_gb_per_s = 12,                      -- published: PCIe 3 x16
    d2h_gb_per_s = 12.5,                    -- estimate: PCIe 3 x16

    -- Latencies.
    event_tick_ns = 32,                     -- estimate
    peer = {
        gb_per_s = 0,                       -- vendor: no NVLink
        host_gb_per_s = 7.4,                -- estimate: the H200's part of its PCIe rate
    },
    -- Collectives go through the host's memory (PCIe 3 x16): estimates; steps as in NCCL's model
    -- for PCIe.
    comm = { channels = 4, link_gb_per_s = 6, ll_link_gb_per_s = 3, step_us = 5.7, ll_step_us = 1.5,
             ll128_step_us = 2.5 },
}
