-- The host's part of a profile, measured by streamlab calibrate --host: on NVIDIA H200, driver
--   580.159.04, CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most
--   3201 MHz.
-- A day's factors are those of the base's figures with which the simulated host takes as long in
--   the same programs. The figures here are the base's times the median of the days' medians;
--   docs/design/calibration.md says more.
return {
    base = "h200",
    note = "streamlab calibrate --host, 2026-11-30 16:29, on NVIDIA H200, driver 580.159.04, \z
        CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most 3201 \z
        MHz",
    days = {
        { date = "2026-11-30 16:29", rounds = 55, calls = { low = 0.8387, median = 0.8809, high =
            1.162 }, uploads_warm = { low = 0.8012, median = 0.8754, high = 0.9074 }, uploads_cold =
            { low = 0.8459, median = 0.9684, high = 1.019 }, downloads = { low = 0.902, median =
            0.9397, high = 0.9638 } },
    },
    calls = {
        cublasCreate = { us = 89.6412 },
        cublasDestroy = { us = 94.8773 },
        cudaDeviceSetLimit = { us = 1.42546 },
        cudaFree = { us = 28.6926 },
        ["cudaFree.malloc_async"] = { us = 59.0208 },
        cudaFreeAsync = { us = 1.91295 },
        cudaFreeHost = { us = 0 },
        cudaFuncSetCacheConfig = { us = 1.74467 },
        cudaHostRegister = { us = 39.3528 },
        cudaHostUnregister = { us = 25.0141 },
        cudaMalloc = { us = 34.2073 },
        cudaMallocAsync = { us = 2.44423 },
        cudaMallocHost = { us = 0 },
        cudaMemGetInfo = { us = 3.79681 },
    },
    d2h_staging_cold_gb_per_s = { { 4096, 0.998831 }, { 16384, 4.00464 }, { 65536, 8.02479 },
        { 262144, 11.36 }, { 1048576, 13.4244 }, { 2097152, 13.2942 }, { 4194304, 14.4067 },
        { 16777216, 14.235 }, { 67108864, 14.7959 }, { 268435456, 15.3719 } },
    d2h_staging_gb_per_s = { { 4096, 1.24203 }, { 16384, 4.06396 }, { 65536, 8.59851 }, { 262144,
        11.5076 }, { 1048576, 13.243 }, { 2097152, 13.3612 }, { 4194304, 14.3315 }, { 16777216,
        14.7613 }, { 67108864, 14.8476 }, { 268435456, 15.3719 } },
    h2d_staging_cold_gb_per_s = { { 4096, 3.01217 }, { 16384, 9.18799 }, { 65536, 6.87474 },
        { 262144, 8.42955 }, { 1048576, 8.58621 }, { 2097152, 8.982 }, { 4194304, 8.43314 },
        { 16777216, 8.30135 }, { 67108864, 8.58263 }, { 268435456, 8.66304 } },
    h2d_staging_gb_per_s = { { 4096, 175.073 }, { 16384, 175.073 }, { 65536, 22.8544 }, { 262144,
        21.0152 }, { 1048576, 16.9721 }, { 2097152, 15.3356 }, { 4194304, 13.7285 }, { 16777216,
        15.1239 }, { 67108864, 7.94799 }, { 268435456, 7.45794 } },
    host = {
        event_create_us = 1.22503,
        host_func_us = 3.46955,
        launch_us = 6.95917,
        matmul_us = 10.0423,
        memcpy_async_us = 5.19735,
        memset_us = 10.5709,
        pinned_alloc_us = 1.56087,
        query_us = 1.64265,
        record_untimed_us = 1.6813,
        record_us = 3.12999,
        stream_create_us = 7.15389,
        synchronize_us = 2.86853,
        tensor_alloc_us = 2.22,
        wait_us = 2.02766,
    },
    host_cold = {
        launch_us = 19.8009,
        matmul_us = 33.6003,
        memcpy_async_us = 14.6687,
    },
}

-- Found besides, and no value of a profile:
-- the last day: pinned, 256 x 256, what calls cost: 714.4 us; simulated 794.3 us, once fitted
--   699.7 us
-- the last day: pinned, 512 x 512, what calls cost: 619.1 us; simulated 712.4 us, once fitted
--   627.5 us
-- the last day: pinned, 1024 x 1024, what calls cost: 561.7 us; simulated 647.4 us, once fitted
--   570.3 us
-- the last day: pageable, 256 x 256, cached pageable uploads: 340.6 us; simulated 283.3 us, once
--   fitted 294.0 us
-- the last day: pageable, 256 x 256, pageable downloads: 109.4 us; simulated 107.5 us, once
--   fitted 109.3 us
-- the last day: pageable, 512 x 512, cached pageable uploads: 730.1 us; simulated 626.3 us, once
--   fitted 683.3 us
-- the last day: pageable, 512 x 512, pageable downloads: 1369.4 us; simulated 1362.5 us, once
--   fitted 1412.6 us
-- the last day: pageable, 1024 x 1024, cached pageable uploads: 3829.7 us; simulated 4010.2 us,
--   once fitted 4447.2 us
-- the last day: pageable, 1024 x 1024, pageable downloads: 2291.5 us; simulated 2167.9 us, once
--   fitted 2281.5 us
-- the last day: pageable, 2048 x 2048, cached pageable uploads: 14769.8 us; simulated 14468.8 us,
--   once fitted 15693.5 us
-- the last day: pageable, 2048 x 2048, pageable downloads: 8306.0 us; simulated 7873.3 us, once
--   fitted 8339.2 us
-- the last day: uncached uploads of 1 MiB, uncached pageable uploads: 12375.3 us; simulated
--   12070.5 us, once fitted 12355.6 us
-- the last day: uncached uploads of 4 MiB, uncached pageable uploads: 16223.2 us; simulated
--   15795.9 us, once fitted 16253.2 us
-- the last day: uncached uploads of 16 MiB, uncached pageable uploads: 15997.4 us; simulated
--   15828.4 us, once fitted 16319.0 us
-- the last day: downloads of 256 KiB, pageable downloads: 622.8 us; simulated 581.6 us, once
--   fitted 590.9 us
-- the last day: downloads of 1 MiB, pageable downloads: 867.1 us; simulated 834.9 us, once fitted
--   865.1 us
-- the last day: downloads of 4 MiB, pageable downloads: 1297.9 us; simulated 1237.7 us, once
--   fitted 1302.3 us
-- the last day: downloads of 16 MiB, pageable downloads: 2363.9 us; simulated 2266.9 us, once
--   fitted 2402.8 us
