-- NVIDIA H100 (SXM, 80 GB), as the simulator sees it.
--
-- Nobody has calibrated this GPU for streamlab. It is the profile textbook with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others
--   estimate   from the base, scaled by the data sheet where one says how, or a plausible value
-- All that is not here is that of the H200, which has the same chip at the same
-- clocks, and other memory.
-- Only the link to a second one and collectives (the base's peer, comm and comm_us) were measured
-- on H100s. streamlab calibrate --backend cuda -o my_h100.lua measures one in 90 s, of two also the
-- link.
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "textbook",
    name = "NVIDIA H100 80GB HBM3",
    note = "not measured: data sheet and estimates",

    -- The chip: that of the H200.
    memory_bytes = 85899345920,             -- vendor: 80 GB, taken as GiB
    async_engine_count = 3,                 -- published (device properties of an H100 PCIe)

    -- Kernels of one's own. Estimates: as on the H200.
    thread = { shared_ns = 10.1, l1_ns = 33.1, l2_ns = 189.5, memory_ns = 381 },
    block_start_ns = 0.616,

    -- Device memory, of 3350 GB/s (vendor; the H200 has 4800).
    hbm_gb_per_s = 2965,                    -- estimate: 0.885 of the peak, as on the H200
    l2_bytes = 52428800,                    -- vendor: 50 MB
    d2d_gb_per_s = 1430,                    -- estimate: 0.427 of the peak, as on the H200
    memset_gb_per_s = 3210,                 -- estimate: 0.958 of the peak, as on the H200
}
