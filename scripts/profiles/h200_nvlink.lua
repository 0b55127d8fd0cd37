-- Two NVIDIA H200s of one machine with NVLink, as the simulator sees them: h200 with their link.
--
-- Measured by streamlab calibrate on 30 November 2026, in 88 s with all else: driver 580.159.04,
--   CUDA 13.0. Spreads are those of 3 passes, of collectives of 2. Left out are host_piece_bytes
--   and what calls cost the host, which differed too much from pass to pass.
-- What is not here is h200's: its own link was measured on two H100s.
return {
    base = "h200",
    name = "NVIDIA H200",
    note = "link and collectives measured on two H200s; all else from h200",

    peer = {
        -- 64 MiB with peer access in 173.3 us, 256 MiB in 679.5; both ways at once 176.6 and 689.1
        gb_per_s = 397.4,
        latency_us = 1.58822,               -- line through 1 KiB to 256 MiB; spread 1.7 %
        pull_us = 11.1396,                  -- 1 KiB in a stream of the destination; spread 1.8 %
        pull_latency_us = 9.12052,          -- 4 and 16 MiB in a stream of the destination, their
                                            --   bytes off; spread 6.1 %
        host_gb_per_s = 34.2834,            -- copies without peer access of 16 to 256 MiB; 0.4 %
        host_latency_us = 21.8046,          -- of 1 KiB, the bytes off twice; spread 7.4 %
        host_duplex_factor = 0.841193,      -- 256 MiB without peer access both ways, to one way;
                                            --   spread 1.5 %
        event_us = 3.41536,                 -- kernel, event, kernel on the other GPU: end to start,
                                            --   less cross_stream_us; spread 5.5 %
    },
    comm = {
        channels = 24,                      -- blocks of the largest all_reduce's kernel
        channel_gb_per_s = 32.1069,         -- fitted: all_reduce of 256 MiB with 1 to 32 channels,
                                            --   all_reduce and reduce_scatter of 4 MiB; 0.2 %
        link_gb_per_s = 380.032,            -- the same; spread 0.1 %
        base_us = 12.2469,                  -- the same; spread 8.3 %
        step_us = 2.93413,                  -- the same; spread 22.7 %
        ll_channel_gb_per_s = 11.804,       -- fitted: all_reduce of 1 MiB with 1 to 32 channels,
                                            --   all_reduce and all_gather of 1 KiB; spread 0.3 %
        ll_link_gb_per_s = 228.819,         -- the same; spread 2.8 %
        ll_base_us = 3.80878,               -- the same; spread 3.2 %
        ll_step_us = 0.956577,              -- the same; spread 1.7 %
    },
    comm_us = {                             -- one after the other in a stream, behind a hold;
                                            --   spread at most 4.7 %
        all_reduce = { { 1024, 7 }, { 4096, 7.088 }, { 16384, 7.768 }, { 65536, 7.992 },
            { 262144, 9.136 }, { 1048576, 13.9997 }, { 4194304, 32.9915 }, { 16777216, 74.2075 },
            { 67108864, 247.992 }, { 268435456, 892.288 }, { 1073741824, 3224.9 } },
        all_gather = { { 1024, 6 }, { 4096, 6.248 }, { 16384, 6.896 }, { 65536, 7.1515 },
            { 262144, 7.8395 }, { 1048576, 11.288 }, { 4194304, 26.288 }, { 16777216, 52.992 },
            { 67108864, 156.952 }, { 268435456, 544.608 }, { 1073741824, 1969.28 } },
        reduce_scatter = { { 1024, 5.8805 }, { 4096, 6.112 }, { 16384, 6.536 }, { 65536, 6.664 },
            { 262144, 7.36 }, { 1048576, 10.384 }, { 4194304, 24.08 }, { 16777216, 50.624 },
            { 67108864, 159.344 }, { 268435456, 562.552 }, { 1073741824, 1916.14 } },
        broadcast = { { 1024, 5.4 }, { 4096, 5.52 }, { 16384, 5.952 }, { 65536, 6 },
            { 262144, 6.88 }, { 1048576, 11.3598 }, { 4194304, 24.384 }, { 16777216, 58.368 },
            { 67108864, 199.544 }, { 268435456, 740.368 }, { 1073741824, 2904.82 } },
    },
}
