-- The host's part of a profile, measured by streamlab calibrate --host: on NVIDIA H200, driver
--   580.159.04, CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most
--   3201 MHz.
-- A day's factors are those of the base's figures with which the simulated host takes as long in
--   the same programs. The figures here are the base's times the median of the days' medians;
--   docs/design/calibration.md says more.
return {
    base = "h200",
    note = "streamlab calibrate --host, 2026-11-23 23:59, on NVIDIA H200, driver 580.159.04, \z
        CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most 3201 \z
        MHz",
    days = {
        { date = "2026-11-23 23:59", rounds = 52, calls = { low = 1.027, median = 1.404, high =
            1.509 }, uploads_warm = { low = 0.7862, median = 0.8509, high = 0.9872 }, uploads_cold =
            { low = 0.8083, median = 0.9603, high = 1.054 }, downloads = { low = 0.9494, median =
            0.9996, high = 1.053 } },
    },
    calls = {
        cublasCreate = { us = 142.892 },
        cublasDestroy = { us = 151.238 },
        cudaDeviceSetLimit = { us = 2.27224 },
        cudaFree = { us = 45.7371 },
        cudaFreeAsync = { us = 3.04932 },
        cudaFreeHost = { us = 0 },
        cudaFuncSetCacheConfig = { us = 2.78108 },
        cudaHostRegister = { us = 62.7299 },
        cudaHostUnregister = { us = 39.8734 },
        cudaMalloc = { us = 54.5278 },
        cudaMallocAsync = { us = 3.8962 },
        cudaMallocHost = { us = 0 },
        cudaMemGetInfo = { us = 6.05227 },
    },
    d2h_staging_cold_gb_per_s = { { 4096, 1.06248 }, { 16384, 4.25981 }, { 65536, 8.53612 }, { 262144,
        12.0839 }, { 1048576, 14.2798 }, { 2097152, 14.1413 }, { 4194304, 15.3246 }, { 16777216, 15.142 },
        { 67108864, 15.7387 }, { 268435456, 16.3514 } },
    d2h_staging_gb_per_s = { { 4096, 1.32117 }, { 16384, 4.32291 }, { 65536, 9.1464 }, { 262144, 12.2409 },
        { 1048576, 14.0868 }, { 2097152, 14.2126 }, { 4194304, 15.2447 }, { 16777216, 15.7019 }, { 67108864,
        15.7936 }, { 268435456, 16.3514 } },
    h2d_staging_cold_gb_per_s = { { 4096, 2.98708 }, { 16384, 9.11146 }, { 65536, 6.81748 }, { 262144,
        8.35934 }, { 1048576, 8.5147 }, { 2097152, 8.90719 }, { 4194304, 8.3629 }, { 16777216, 8.23221 },
        { 67108864, 8.51115 }, { 268435456, 8.59088 } },
    h2d_staging_gb_per_s = { { 4096, 170.17 }, { 16384, 170.17 }, { 65536, 22.2144 }, { 262144, 20.4266 },
        { 1048576, 16.4967 }, { 2097152, 14.9061 }, { 4194304, 13.344 }, { 16777216, 14.7003 }, { 67108864,
        7.72538 }, { 268435456, 7.24906 } },
    host = {
        event_create_us = 1.95274,
        host_func_us = 5.5306,
        launch_us = 11.0932,
        matmul_us = 16.0079,
        memcpy_async_us = 8.28479,
        memset_us = 16.8504,
        pinned_alloc_us = 2.48809,
        query_us = 2.61846,
        record_untimed_us = 2.68006,
        record_us = 4.98933,
        stream_create_us = 11.4036,
        synchronize_us = 4.57255,
        tensor_alloc_us = 3.53877,
        wait_us = 3.23216,
    },
    host_cold = {
        launch_us = 31.5634,
        matmul_us = 53.5602,
        memcpy_async_us = 23.3825,
    },
}

-- Found besides, and no value of a profile:
-- the last day: pinned, 256 x 256, what calls cost: 1091.9 us; simulated 794.3 us, once fitted
--   1115.4 us
-- the last day: pinned, 512 x 512, what calls cost: 953.7 us; simulated 712.4 us, once fitted
--   1000.3 us
-- the last day: pinned, 1024 x 1024, what calls cost: 959.6 us; simulated 647.4 us, once fitted
--   909.1 us
-- the last day: pageable, 256 x 256, cached pageable uploads: 359.3 us; simulated 283.3 us, once
--   fitted 352.3 us
-- the last day: pageable, 256 x 256, pageable downloads: 108.3 us; simulated 107.5 us, once
--   fitted 115.1 us
-- the last day: pageable, 512 x 512, cached pageable uploads: 772.6 us; simulated 626.3 us, once
--   fitted 733.4 us
-- the last day: pageable, 512 x 512, pageable downloads: 1335.4 us; simulated 1362.5 us, once
--   fitted 1403.2 us
-- the last day: pageable, 1024 x 1024, cached pageable uploads: 3782.1 us; simulated 4010.2 us,
--   once fitted 4635.5 us
-- the last day: pageable, 1024 x 1024, pageable downloads: 2234.6 us; simulated 2167.9 us, once
--   fitted 2202.2 us
-- the last day: pageable, 2048 x 2048, cached pageable uploads: 17073.7 us; simulated 14468.8 us,
--   once fitted 16116.2 us
-- the last day: pageable, 2048 x 2048, pageable downloads: 8032.5 us; simulated 7873.3 us, once
--   fitted 7940.2 us
-- the last day: uncached uploads of 1 MiB, uncached pageable uploads: 12873.2 us; simulated
--   12070.5 us, once fitted 12829.4 us
-- the last day: uncached uploads of 4 MiB, uncached pageable uploads: 16904.8 us; simulated
--   15795.9 us, once fitted 16587.5 us
-- the last day: uncached uploads of 16 MiB, uncached pageable uploads: 17251.2 us; simulated
--   15828.4 us, once fitted 16544.5 us
-- the last day: downloads of 256 KiB, pageable downloads: 626.1 us; simulated 581.6 us, once
--   fitted 625.2 us
-- the last day: downloads of 1 MiB, pageable downloads: 858.8 us; simulated 834.9 us, once fitted
--   861.5 us
-- the last day: downloads of 4 MiB, pageable downloads: 1290.5 us; simulated 1237.7 us, once
--   fitted 1258.1 us
-- the last day: downloads of 16 MiB, pageable downloads: 2281.8 us; simulated 2266.9 us, once
--   fitted 2282.4 us
