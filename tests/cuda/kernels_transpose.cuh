/* kernels_transpose.cuh - transpose of elements of every size, for kernels_check.cu: element by
 * element, also where tensors begin at odd addresses. */
#ifndef KERNELS_TRANSPOSE_CUH
#define KERNELS_TRANSPOSE_CUH

#include "kernels_rig.cuh"
#include "kernels_views.cuh"

/* outer, m, middle, n, k */
static const int64_t transpose_shapes[][5] = {
    { 1, 1, 1, 1, 1 },    { 1, 2, 1, 3, 1 },    { 1, 33, 1, 65, 1 },   { 1, 32, 1, 32, 1 },
    { 1, 1000, 1, 7, 1 }, { 3, 40, 1, 35, 1 },  { 2, 33, 3, 34, 1 },   { 2, 5, 3, 7, 4 },
    { 1, 33, 2, 65, 3 },  { 1, 1, 1, 1, 5000 }, { 0, 5, 3, 7, 1 },     { 1, 0, 1, 7, 1 },
    { 1, 5, 1, 0, 1 },    { 1, 5, 1, 7, 0 },    { 7, 129, 1, 257, 1 },
};

static bytes transposed(const bytes &in, const int64_t (&s)[5], size_t size)
{
    bytes out(in.size());
    size_t at = 0;
    for (int64_t o = 0; o < s[0]; o++)
        for (int64_t j = 0; j < s[3]; j++)
            for (int64_t b = 0; b < s[2]; b++)
                for (int64_t i = 0; i < s[1]; i++) {
                    const int64_t from = (((o * s[1] + i) * s[2] + b) * s[3] + j) * s[4];
                    const size_t cell = (size_t)s[4] * size;
                    if (cell > 0) memcpy(&out[at], &in[(size_t)from * size], cell);
                    at += cell;
                }
    return out;
}

static bool transposes_right(sl_dtype dtype, const int64_t (&s)[5])
{
    const size_t size = numbers_dtype_bytes(dtype);
    sl_work work = work_of(SL_KERNEL_TRANSPOSE, dtype, s[3], 0);
    work.outer = s[0];
    work.m = s[1];
    work.middle = s[2];
    work.k = s[4];
    bytes in((size_t)(s[0] * s[1] * s[2] * s[3] * s[4]) * size);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (uint8_t)(i * 7 + i / 251);
    return run(&gpu.dev, work, in.size(), in, bytes(), false) == transposed(in, s, size)
           && same_anywhere_of(&gpu.dev, work, in, in);
}

static void transposes()
{
    for (sl_dtype dtype : { SL_UINT8, SL_FLOAT16, SL_INT32, SL_FLOAT64 })
        for (auto &s : transpose_shapes)
            ok(transposes_right(dtype, s), "transpose of [%lld, %lld, %lld, %lld, %lld], dtype %d",
               (long long)s[0], (long long)s[1], (long long)s[2], (long long)s[3], (long long)s[4],
               (int)dtype);
}

#endif
