-- NVIDIA GeForce RTX 4060 Laptop GPU (8 GB), under Linux, as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. It is the profile a100 with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others (docs/design/simulator.md names them)
--   estimate   from the measured H200, scaled by the data sheet where one says how, or a
--              plausible value
-- All that is not here is that of the A100: the other limits, which are the same (vendor), and
-- what is an estimate for both.
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "a100",
    name = "NVIDIA GeForce RTX 4060 Laptop GPU",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = { 8, 9 },          -- vendor
    sm_count = 24,                          -- vendor
    max_threads_per_sm = 1536,              -- vendor
    max_blocks_per_sm = 24,                 -- vendor
    shared_bytes_per_sm = 102400,           -- vendor: 100 KiB
    shared_bytes_per_block = 101376,        -- vendor: 99 KiB
    memory_bytes = 8589934592,              -- vendor: 8 GB, taken as GiB
    async_engine_count = 2,                 -- published (deviceQuery) of L4 and RTX 4090

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 14.6,                     -- vendor: 24 SMs at 2.37 GHz, the highest boost
    tf32_tflops = 14.6,                     -- estimate: as float32 on this generation
    bf16_tflops = 29.1,                     -- estimate: twice that
    gemm_efficiency = {
        float32 = 0.7,                      -- estimate: power and heat of a laptop
        tf32 = 0.8,                         -- estimate
        bfloat16 = 0.8,                     -- estimate
    },

    -- Device memory.
    hbm_gb_per_s = 230,                     -- estimate: 0.9 of 256 GB/s (GDDR6)
    l2_bytes = 33554432,                    -- vendor: 32 MiB
    l2_gb_per_s = 1200,                     -- estimate
    d2d_gb_per_s = 112,                     -- estimate
    memset_gb_per_s = 235,                  -- estimate

    -- Copies between host and device.
    h2d_gb_per_s = 12,                      -- estimate: PCIe 4 x8
    d2h_gb_per_s = 12.5,                    -- estimate: PCIe 4 x8
    duplex_factor = 0.85,                   -- estimate
    -- (bytes, GB/s) of the host's copy: estimates, the shape of the H200's.
    h2d_staging_gb_per_s = { { 65536, 11 }, { 16777216, 11 }, { 67108864, 7 }, { 268435456, 7 } },
    d2h_staging_gb_per_s = { { 1048576, 8.5 }, { 4194304, 10 }, { 16777216, 11 },
                             { 268435456, 11 } },
    host_gb_per_s = 10,                     -- estimate

    -- Latencies.
    submit_us = 2.9,                        -- estimate
    wake_us = 2.1,                          -- estimate

    -- What each call costs the host: estimates, 1.1 times the H200's.
    host = {
        launch_us = 4.18, matmul_us = 8.58, memcpy_async_us = 1.54, memset_us = 2.75,
        record_us = 1.35, record_untimed_us = 0.3, wait_us = 0.3, query_us = 0.33,
        synchronize_us = 0.43, host_func_us = 2.2, stream_create_us = 6.6,
        event_create_us = 0.55, tensor_alloc_us = 0.72, pinned_alloc_us = 1.1,
    },
    peer = {
        gb_per_s = 0,                       -- vendor: no NVLink
        host_gb_per_s = 7.4,                -- estimate: the H200's part of its PCIe rate
    },
    -- Collectives go through the host's memory (PCIe 4 x8): estimates; steps as in NCCL's model for
    -- PCIe.
    comm = { channels = 4, link_gb_per_s = 5.5, ll_link_gb_per_s = 2.75, step_us = 5.7,
             ll_step_us = 1.5,
             ll128_step_us = 2.5 },
}
