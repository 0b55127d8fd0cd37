-- NVIDIA GeForce RTX 4090 (24 GB), under Linux, as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. It is the profile rtx4060_laptop with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others
--   estimate   from the base, scaled by the data sheet where one says how, or a plausible value
-- All that is not here is that of the RTX 4060 Laptop GPU, of the same
-- generation, whose SM has the same limits.
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "rtx4060_laptop",
    name = "NVIDIA GeForce RTX 4090",
    note = "not measured: data sheet and estimates",

    -- The chip.
    sm_count = 128,                         -- vendor
    memory_bytes = 25769803776,             -- vendor: 24 GB, taken as GiB
    async_engine_count = 2,                 -- published (deviceQuery); under Windows 1

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 82.6,                     -- vendor
    tf32_tflops = 82.6,                     -- vendor
    bf16_tflops = 165.2,                    -- vendor: with sums in float32
    gemm_efficiency = { float32 = 0.75, tf32 = 0.85, bfloat16 = 0.85 },  -- estimate

    -- Device memory, of 1008 GB/s (vendor, GDDR6X).
    hbm_gb_per_s = 907,                     -- estimate: 0.9 of the peak
    l2_bytes = 75497472,                    -- vendor: 72 MB
    l2_gb_per_s = 5000,                     -- estimate
    d2d_gb_per_s = 425,                     -- estimate
    memset_gb_per_s = 940,                  -- estimate

    -- Copies between host and device: PCIe 4 x16.
    h2d_gb_per_s = 25,                      -- published: as on the A100
    d2h_gb_per_s = 25.5,                    -- published: as on the A100
    peer = { host_gb_per_s = 15.5 },        -- estimate: the H200's part of its PCIe rate
    duplex_factor = 0.715,                  -- published: as on the A100
    comm = { link_gb_per_s = 11, ll_link_gb_per_s = 5.5 }, -- estimate: PCIe 4 x16
}
