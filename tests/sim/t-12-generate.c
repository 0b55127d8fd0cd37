/* FILL, RAND and RANDN as both backends make them on the host: every dtype, any slice,
 * any address. */
#include "../../core/numbers/elements.h"
#include "../../core/numbers/half.h"
#include "../../core/numbers/philox.h"

#include <string.h>

#include "../tap.h"

enum { N = 3000, MARK = 0x5a }; /* several pieces, and not a whole number of them */

static const char *const dtype_names[] = {
    "float32", "bfloat16", "float16", "uint8", "float64", "int32",
};

static sl_work work_of(sl_kernel kernel, sl_dtype dtype, double scalar)
{
    return (sl_work){ .kind = SL_WORK_KERNEL,
                      .kernel = (uint8_t)kernel,
                      .dtype = (uint8_t)dtype,
                      .scalar = scalar,
                      .seed = 11,
                      .sequence = 12 };
}

/* The elements by a way of their own. */
static void expect(const sl_work *work, float *x)
{
    for (size_t i = 0; i < N; i++)
        x[i] = (float)work->scalar;
    if (work->kernel == SL_KERNEL_RAND) philox_uniform(work->seed, work->sequence, 0, N, x);
    if (work->kernel == SL_KERNEL_RANDN) philox_normal(work->seed, work->sequence, 0, N, x);
}

static bool is_element(sl_dtype dtype, const uint8_t *at, float x)
{
    const uint16_t half = dtype == SL_BFLOAT16 ? half_bf16_of_float(x) : half_f16_of_float(x);
    const double wide = x;
    const int32_t whole = (int32_t)x;
    switch (dtype) {
    case SL_FLOAT64: return memcmp(at, &wide, 8) == 0;
    case SL_INT32: return memcmp(at, &whole, 4) == 0;
    case SL_FLOAT32: return memcmp(at, &x, 4) == 0;
    case SL_UINT8: return *at == (x < 0 ? 0 : x > 255 ? 255 : (uint8_t)x);
    default: return memcmp(at, &half, 2) == 0;
    }
}

/* Slices of several lengths, at addresses that are not aligned. */
static void slices(sl_kernel kernel, sl_dtype dtype, double scalar, const char *name)
{
    static const size_t firsts[] = { 0, 1, 2, 3, 5, 511, 513, 1700 },
                        counts[] = { 0, 1, 4, 513, 1300 };
    static float x[N];
    static uint8_t memory[N * sizeof(double) + 8];
    const sl_work work = work_of(kernel, dtype, scalar);
    const size_t size = numbers_dtype_bytes(dtype);
    bool same = true, within = true;
    expect(&work, x);
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            uint8_t *out = memory + 1 + f % 3;
            memset(memory, MARK, sizeof memory);
            numbers_generate(&work, firsts[f], counts[c], out);
            for (size_t i = 0; i < counts[c]; i++)
                same = same && is_element(dtype, out + i * size, x[firsts[f] + i]);
            within = within && out[-1] == MARK && out[counts[c] * size] == MARK;
        }
    ok(same, "%s in %s: every slice, at any address", name, dtype_names[dtype]);
    ok(within, "%s in %s: nothing around it is written", name, dtype_names[dtype]);
}

static void fills_by_hand(void)
{
    static const struct {
        double scalar;
        uint32_t float32;
        uint16_t bf16, f16;
        uint8_t byte;
    } cases[] = {
        { 0, 0, 0, 0, 0 },
        { -0.0, 0x80000000u, 0x8000, 0x8000, 0 },
        { 1, 0x3f800000, 0x3f80, 0x3c00, 1 },
        { -3, 0xc0400000u, 0xc040, 0xc200, 0 },
        { 257, 0x43808000, 0x4380, 0x5c04, 255 },
        { 1e6, 0x49742400, 0x4974, 0x7c00, 255 },
        { 2.75, 0x40300000, 0x4030, 0x4180, 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double scalar = cases[i].scalar;
        uint32_t float32;
        uint16_t bf16, f16;
        uint8_t byte;
        numbers_generate(&(sl_work){ .kernel = SL_KERNEL_FILL, .scalar = scalar }, 0, 1, &float32);
        const sl_work brain = work_of(SL_KERNEL_FILL, SL_BFLOAT16, scalar);
        const sl_work half = work_of(SL_KERNEL_FILL, SL_FLOAT16, scalar);
        const sl_work small = work_of(SL_KERNEL_FILL, SL_UINT8, scalar);
        numbers_generate(&brain, 7, 1, &bf16);
        numbers_generate(&half, 7, 1, &f16);
        numbers_generate(&small, 7, 1, &byte);
        ok(float32 == cases[i].float32 && bf16 == cases[i].bf16 && f16 == cases[i].f16
               && byte == cases[i].byte,
           "a fill of %g has these bits in every dtype", scalar);
    }
}

int main(void)
{
    plan(0);
    fills_by_hand();
    for (sl_dtype dtype = SL_FLOAT32; dtype < SL_DTYPES; dtype++) {
        slices(SL_KERNEL_FILL, dtype, dtype == SL_INT32 ? -25 : 2.5, "fill");
        if (dtype > SL_UINT8) continue;
        slices(SL_KERNEL_RAND, dtype, 0, "rand");
        slices(SL_KERNEL_RANDN, dtype, 0, "randn");
    }
    return done_testing();
}
