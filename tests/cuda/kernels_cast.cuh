/* kernels_cast.cuh - cast between all dtypes, for kernels_check.cu: random bits and special
 * numbers, held against core/numbers/elements.c, which tests/both/casts.t.lua holds against Lua. */
#ifndef KERNELS_CAST_CUH
#define KERNELS_CAST_CUH

#include "kernels_rig.cuh"
#include "kernels_views.cuh"

static std::vector<double> doubles_of(const bytes &data, sl_dtype dtype)
{
    std::vector<double> x(data.size() / numbers_dtype_bytes(dtype));
    numbers_widen(x.data(), data.data(), dtype, 0, x.size());
    return x;
}

static bytes cast_data(sl_dtype dtype, int64_t n)
{
    static const double special[] = {
        0,    -0.0,  0.999,    -2.5,      254.99999999, 255.5,    256, 65520, 2147483647.5,
        -3e9, 1e300, INFINITY, -INFINITY, NAN,          16777217,
    };
    const size_t size = numbers_dtype_bytes(dtype), many = sizeof special / sizeof *special;
    bytes data((size_t)n * size);
    for (size_t i = 0; i < data.size(); i++)
        data[i] = (uint8_t)(i * 197 + i / 127 * 31);
    numbers_narrow(data.data(), special, dtype, 0, std::min((size_t)n, many));
    return data;
}

static bool casts_right(sl_dtype to, sl_dtype from, int64_t n)
{
    const bytes in = cast_data(from, n);
    const std::vector<double> x = doubles_of(in, from);
    const size_t size = numbers_dtype_bytes(to);
    bytes want((size_t)n * size);
    sl_work work = work_of(SL_KERNEL_CAST, to, n, 0);
    work.in_dtype = (uint8_t)from;
    numbers_narrow(want.data(), x.data(), to, 0, (size_t)n);
    const bytes got = run(&gpu.dev, work, want.size(), in, bytes(), false);
    if (got.size() != want.size()) return false;
    const std::vector<double> g = doubles_of(got, to), w = doubles_of(want, to);
    for (size_t i = 0; i < g.size(); i++)
        if (memcmp(&got[i * size], &want[i * size], size) != 0 && !(isnan(g[i]) && isnan(w[i]))) {
            diag("  %.17g became %.17g, expected %.17g", x[i], g[i], w[i]);
            return false;
        }
    return true;
}

static void casts()
{
    for (int to = 0; to < SL_DTYPES; to++)
        for (int from = 0; from < SL_DTYPES; from++) {
            bool all = true;
            for (int64_t n : { 0, 1, 3, 14, 255, 1025, 70001 })
                all = all && casts_right((sl_dtype)to, (sl_dtype)from, n);
            ok(all, "cast of dtype %d to dtype %d has the host's bits", from, to);
        }
}

#endif
