-- NVIDIA B200 (SXM, 180 GB), as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. It is the profile textbook with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others
--   estimate   from the base, scaled by the data sheet where one says how, or a plausible value
-- All that is not here is that of the H200, whose SM has the same limits, and
-- which has PCIe 5 x16 as well.
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "textbook",
    name = "NVIDIA B200",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = { 10, 0 },         -- vendor
    sm_count = 148,                         -- published (device properties)
    memory_bytes = 193273528320,            -- vendor: 180 GB in an HGX B200, taken as GiB
    async_engine_count = 3,                 -- estimate: as on the H200

    -- Arithmetic: dense peaks; an HGX B200 has eight times as much.
    fp32_tflops = 75,                       -- vendor
    tf32_tflops = 1125,                     -- vendor: half of the figure with sparsity
    bf16_tflops = 2250,                     -- vendor: half of the figure with sparsity
    fp64_tflops = 37,                       -- vendor
    -- The part that a product reaches is the H200's. Its tables are not: the formula serves.
    gemm_us = { float32 = {}, tf32 = {}, bfloat16 = {} },

    -- Kernels of one's own. Estimates: as on the H200.
    thread = { shared_ns = 10.1, l1_ns = 33.1, l2_ns = 189.5, memory_ns = 381 },
    block_start_ns = 0.616,

    -- Device memory, of 8000 GB/s (vendor).
    hbm_gb_per_s = 7080,                    -- estimate: 0.885 of the peak, as on the H200
    l2_bytes = 132120576,                   -- published: 126 MiB
    l2_gb_per_s = 8600,                     -- estimate: the H200's, by the number of SMs
    d2d_gb_per_s = 3400,                    -- estimate: 0.427 of the peak, as on the H200
    memset_gb_per_s = 7660,                 -- estimate: 0.958 of the peak, as on the H200
    peer = { gb_per_s = 790 },              -- estimate: NVLink 5 has 1800 GB/s for the H100's 900
    -- Collectives: estimates, the H100's by the link.
    comm = { channels = 32, channel_gb_per_s = 46, link_gb_per_s = 732, ll_channel_gb_per_s = 16,
             ll_link_gb_per_s = 500 },
    comm_us = { all_reduce = {}, all_gather = {}, reduce_scatter = {}, broadcast = {} },
}
