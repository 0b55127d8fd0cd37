-- The host's part of a profile, measured by streamlab calibrate --host: on NVIDIA H200, driver
--   580.159.04, CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most
--   3201 MHz.
-- A day's factors are those of the base's figures with which the simulated host takes as long in
--   the same programs. The figures here are the base's times the median of the days' medians;
--   docs/design/calibration.md says more.
return {
    base = "h200",
    note = "streamlab calibrate --host, 2026-11-23 23:54, on NVIDIA H200, driver 580.159.04, \z
        CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most 3201 \z
        MHz",
    days = {
        { date = "2026-11-23 23:54", rounds = 52, calls = { low = 0.9623, median = 1.051, high =
            1.495 }, uploads_warm = { low = 0.7492, median = 0.8754, high = 0.9555 }, uploads_cold =
            { low = 0.7687, median = 0.9157, high = 1.036 }, downloads = { low = 0.8448, median =
            0.9156, high = 0.9774 } },
    },
    calls = {
        cublasCreate = { us = 106.901 },
        cublasDestroy = { us = 113.145 },
        cudaDeviceSetLimit = { us = 1.69991 },
        cudaFree = { us = 34.217 },
        cudaFreeAsync = { us = 2.28127 },
        cudaFreeHost = { us = 0 },
        cudaFuncSetCacheConfig = { us = 2.08059 },
        cudaHostRegister = { us = 46.9297 },
        cudaHostUnregister = { us = 29.8303 },
        cudaMalloc = { us = 40.7936 },
        cudaMallocAsync = { us = 2.91484 },
        cudaMallocHost = { us = 0 },
        cudaMemGetInfo = { us = 4.52784 },
    },
    d2h_staging_cold_gb_per_s = { { 4096, 0.973252 }, { 16384, 3.90208 }, { 65536, 7.81928 }, { 262144,
        11.0691 }, { 1048576, 13.0806 }, { 2097152, 12.9538 }, { 4194304, 14.0377 }, { 16777216, 13.8704 },
        { 67108864, 14.417 }, { 268435456, 14.9783 } },
    d2h_staging_gb_per_s = { { 4096, 1.21022 }, { 16384, 3.95989 }, { 65536, 8.37831 }, { 262144, 11.2129 },
        { 1048576, 12.9039 }, { 2097152, 13.0191 }, { 4194304, 13.9645 }, { 16777216, 14.3833 }, { 67108864,
        14.4673 }, { 268435456, 14.9783 } },
    h2d_staging_cold_gb_per_s = { { 4096, 2.84824 }, { 16384, 8.68793 }, { 65536, 6.50058 }, { 262144,
        7.97077 }, { 1048576, 8.11891 }, { 2097152, 8.49315 }, { 4194304, 7.97417 }, { 16777216, 7.84955 },
        { 67108864, 8.11552 }, { 268435456, 8.19155 } },
    h2d_staging_gb_per_s = { { 4096, 175.08 }, { 16384, 175.08 }, { 65536, 22.8553 }, { 262144, 21.016 },
        { 1048576, 16.9727 }, { 2097152, 15.3362 }, { 4194304, 13.729 }, { 16777216, 15.1245 }, { 67108864,
        7.94829 }, { 268435456, 7.45823 } },
    host = {
        event_create_us = 1.46089,
        host_func_us = 4.13758,
        launch_us = 8.29908,
        matmul_us = 11.9759,
        memcpy_async_us = 6.19805,
        memset_us = 12.6062,
        pinned_alloc_us = 1.8614,
        query_us = 1.95893,
        record_untimed_us = 2.00502,
        record_us = 3.73263,
        stream_create_us = 8.5313,
        synchronize_us = 3.42083,
        tensor_alloc_us = 2.64744,
        wait_us = 2.41806,
    },
    host_cold = {
        launch_us = 23.6133,
        matmul_us = 40.0696,
        memcpy_async_us = 17.493,
    },
}

-- Found besides, and no value of a profile:
-- the last day: pinned, 256 x 256, what calls cost: 809.1 us; simulated 794.3 us, once fitted
--   834.4 us
-- the last day: pinned, 512 x 512, what calls cost: 719.9 us; simulated 712.4 us, once fitted
--   748.3 us
-- the last day: pinned, 1024 x 1024, what calls cost: 725.5 us; simulated 647.4 us, once fitted
--   680.1 us
-- the last day: pageable, 256 x 256, cached pageable uploads: 354.3 us; simulated 283.3 us, once
--   fitted 312.9 us
-- the last day: pageable, 256 x 256, pageable downloads: 111.7 us; simulated 107.5 us, once
--   fitted 114.3 us
-- the last day: pageable, 512 x 512, cached pageable uploads: 808.4 us; simulated 626.3 us, once
--   fitted 702.6 us
-- the last day: pageable, 512 x 512, pageable downloads: 1463.4 us; simulated 1362.5 us, once
--   fitted 1456.6 us
-- the last day: pageable, 1024 x 1024, cached pageable uploads: 3942.1 us; simulated 4010.2 us,
--   once fitted 4524.0 us
-- the last day: pageable, 1024 x 1024, pageable downloads: 2310.9 us; simulated 2167.9 us, once
--   fitted 2349.3 us
-- the last day: pageable, 2048 x 2048, cached pageable uploads: 15212.8 us; simulated 14468.8 us,
--   once fitted 16152.3 us
-- the last day: pageable, 2048 x 2048, pageable downloads: 8376.6 us; simulated 7873.3 us, once
--   fitted 8577.2 us
-- the last day: uncached uploads of 1 MiB, uncached pageable uploads: 13151.9 us; simulated
--   12070.5 us, once fitted 13152.1 us
-- the last day: uncached uploads of 4 MiB, uncached pageable uploads: 18367.4 us; simulated
--   15795.9 us, once fitted 17234.3 us
-- the last day: uncached uploads of 16 MiB, uncached pageable uploads: 17628.7 us; simulated
--   15828.4 us, once fitted 17278.7 us
-- the last day: downloads of 256 KiB, pageable downloads: 635.7 us; simulated 581.6 us, once
--   fitted 618.8 us
-- the last day: downloads of 1 MiB, pageable downloads: 907.6 us; simulated 834.9 us, once fitted
--   892.7 us
-- the last day: downloads of 4 MiB, pageable downloads: 1378.9 us; simulated 1237.7 us, once
--   fitted 1341.3 us
-- the last day: downloads of 16 MiB, pageable downloads: 2413.5 us; simulated 2266.9 us, once
--   fitted 2470.1 us
