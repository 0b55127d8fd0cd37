-- NVIDIA A10 (24 GB, 150 W), as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. It is the profile a100 with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others
--   estimate   from the base, scaled by the data sheet where one says how, or a plausible value
-- All that is not here is that of the A100, of the same generation, which
-- has PCIe 4 x16 as well.
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "a100",
    name = "NVIDIA A10",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = { 8, 6 },          -- vendor
    sm_count = 72,                          -- vendor
    max_threads_per_sm = 1536,              -- vendor
    max_blocks_per_sm = 16,                 -- vendor
    shared_bytes_per_sm = 102400,           -- vendor: 100 KiB
    shared_bytes_per_block = 101376,        -- vendor: 99 KiB
    memory_bytes = 25769803776,             -- vendor: 24 GB, taken as GiB
    async_engine_count = 2,                 -- published (deviceQuery)

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 31.2,                     -- vendor
    tf32_tflops = 62.5,                     -- vendor
    bf16_tflops = 125,                      -- vendor
    gemm_efficiency = { float32 = 0.6, tf32 = 0.7, bfloat16 = 0.7 },   -- estimate: 150 W

    -- Device memory, of 600 GB/s (vendor, GDDR6).
    hbm_gb_per_s = 540,                     -- estimate: 0.9 of the peak
    l2_bytes = 6291456,                     -- vendor: 6 MB
    l2_gb_per_s = 1800,                     -- estimate
    d2d_gb_per_s = 255,                     -- estimate
    memset_gb_per_s = 565,                  -- estimate
    peer = { gb_per_s = 0 },                -- vendor: no NVLink
    -- Collectives go through the host's memory (PCIe 4 x16): estimates; steps as in NCCL's model
    -- for PCIe.
    comm = { channels = 4, link_gb_per_s = 11, ll_link_gb_per_s = 5.5, step_us = 5.7,
             ll_step_us = 1.5,
             ll128_step_us = 2.5 },
}
