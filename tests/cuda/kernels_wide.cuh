/* kernels_wide.cuh - kernels of float64 and int32, for kernels_check.cu: every operation bit by bit
 * against the same in C, at all alignments, and sums. */
#ifndef KERNELS_WIDE_CUH
#define KERNELS_WIDE_CUH

#include "kernels_rig.cuh"
#include "kernels_views.cuh"

static const int64_t wide_lengths[] = { 0, 1, 2, 3, 4, 5, 255, 1023, 1025, 4097, 131071 };

/* Random bits; of float64 every third one is a plain number, the others have all magnitudes. */
template <typename T> static std::vector<T> wide_data(int64_t n, uint32_t seed)
{
    std::vector<T> x((size_t)n);
    for (size_t i = 0; i < x.size(); i++) {
        uint32_t words[4] = { (uint32_t)i, seed, 0, 2 };
        philox_rounds(words, seed, 1);
        memcpy(&x[i], words, sizeof(T));
        if (sizeof(T) == sizeof(double) && i % 3 == 0) x[i] = (T)((int32_t)words[0] / 65536.0);
    }
    return x;
}

template <typename T> static bytes raw_of(const std::vector<T> &x)
{
    bytes data(x.size() * sizeof(T));
    memcpy(data.data(), x.data(), data.size());
    return data;
}

/* The same bits, or both not a number. */
static bool same_values(double got, double want)
{
    return (isnan(got) && isnan(want)) || memcmp(&got, &want, sizeof got) == 0;
}

static bool same_values(int32_t got, int32_t want) { return got == want; }

static double wide_power(double x, double exponent)
{
    const int count = (int)fabs(exponent);
    double product = 1;
    if (exponent == 0.5) return x == -INFINITY ? INFINITY : fabs(sqrt(x));
    for (int i = 0; i < count; i++)
        product *= x;
    return exponent < 0 ? 1 / product : product;
}

static double wide_reference(sl_kernel kernel, double a, double b, double s)
{
    switch (kernel) {
    case SL_KERNEL_ADD: return a + b;
    case SL_KERNEL_SUB: return a - b;
    case SL_KERNEL_MUL: return a * b;
    case SL_KERNEL_DIV: return a / b;
    case SL_KERNEL_ADD_SCALAR: return a + s;
    case SL_KERNEL_SUB_SCALAR: return a - s;
    case SL_KERNEL_MUL_SCALAR: return a * s;
    case SL_KERNEL_DIV_SCALAR: return a / s;
    case SL_KERNEL_RSUB_SCALAR: return s - a;
    case SL_KERNEL_RDIV_SCALAR: return s / a;
    case SL_KERNEL_NEG: return -a;
    case SL_KERNEL_RELU: return isnan(a) || a > 0 ? a : 0.0;
    default: return wide_power(a, s);
    }
}

/* Modulo 2^32, by unsigned numbers. */
static int32_t wide_reference(sl_kernel kernel, int32_t a, int32_t b, double number)
{
    const uint32_t x = (uint32_t)a, y = (uint32_t)b, s = (uint32_t)(int32_t)number;
    uint32_t product = 1;
    switch (kernel) {
    case SL_KERNEL_ADD: return (int32_t)(x + y);
    case SL_KERNEL_SUB: return (int32_t)(x - y);
    case SL_KERNEL_MUL: return (int32_t)(x * y);
    case SL_KERNEL_ADD_SCALAR: return (int32_t)(x + s);
    case SL_KERNEL_SUB_SCALAR: return (int32_t)(x - s);
    case SL_KERNEL_MUL_SCALAR: return (int32_t)(x * s);
    case SL_KERNEL_RSUB_SCALAR: return (int32_t)(s - x);
    case SL_KERNEL_NEG: return (int32_t)(0u - x);
    case SL_KERNEL_RELU: return a > 0 ? a : 0;
    default:
        for (uint32_t i = 0; i < s; i++)
            product *= x;
        return (int32_t)product;
    }
}

template <typename T>
static bool wide_computes(cuda_device *dev, sl_kernel kernel, sl_dtype dtype, double scalar,
                          bool in_place)
{
    for (int64_t n : wide_lengths) {
        const std::vector<T> a = wide_data<T>(n, 1), b = wide_data<T>(n, 2);
        const bytes in0 = raw_of(a), in1 = raw_of(b);
        const bytes out = run(dev, work_of(kernel, dtype, n, scalar), in0.size(), in0, in1,
                              in_place);
        std::vector<T> got((size_t)n);
        if (out.size() != in0.size()) return false;
        memcpy(got.data(), out.data(), out.size());
        for (size_t i = 0; i < got.size(); i++)
            if (!same_values(got[i], wide_reference(kernel, a[i], b[i], scalar))) {
                diag("  element %zu of %lld differs", i, (long long)n);
                return false;
            }
    }
    return true;
}

static const struct wide_case {
    sl_kernel kernel;
    const char *name;
    double scalar;
    bool whole;
} wide_cases[] = {
    { SL_KERNEL_ADD, "add", 0, true },
    { SL_KERNEL_SUB, "sub", 0, true },
    { SL_KERNEL_MUL, "mul", 0, true },
    { SL_KERNEL_DIV, "div", 0, false },
    { SL_KERNEL_ADD_SCALAR, "add_scalar", 2147483647, true },
    { SL_KERNEL_SUB_SCALAR, "sub_scalar", -2147483648.0, true },
    { SL_KERNEL_MUL_SCALAR, "mul_scalar", -3, true },
    { SL_KERNEL_RSUB_SCALAR, "rsub_scalar", 7, true },
    { SL_KERNEL_DIV_SCALAR, "div_scalar", 0.1, false },
    { SL_KERNEL_RDIV_SCALAR, "rdiv_scalar", 0.1, false },
    { SL_KERNEL_NEG, "neg", 0, true },
    { SL_KERNEL_RELU, "relu", 0, true },
    { SL_KERNEL_POW, "pow 0", 0, true },
    { SL_KERNEL_POW, "pow 2", 2, true },
    { SL_KERNEL_POW, "pow 3", 3, true },
    { SL_KERNEL_POW, "pow 7", 7, true },
    { SL_KERNEL_POW, "pow -1", -1, false },
    { SL_KERNEL_POW, "pow -3", -3, false },
    { SL_KERNEL_POW, "pow 0.5", 0.5, false },
};

template <typename T> static void wide_operations(sl_dtype dtype, const char *name)
{
    for (const wide_case &c : wide_cases) {
        if (dtype == SL_INT32 && !c.whole) continue;
        ok(wide_computes<T>(&gpu.dev, c.kernel, dtype, c.scalar, false)
               && wide_computes<T>(&gpu.small, c.kernel, dtype, c.scalar, false)
               && wide_computes<T>(&gpu.small, c.kernel, dtype, c.scalar, true),
           "%s in %s is exact to the bit", c.name, name);
    }
    static const sl_kernel anywhere[] = {
        SL_KERNEL_SUB,
        SL_KERNEL_RELU,
        SL_KERNEL_SUM,
        SL_KERNEL_FILL,
    };
    for (sl_kernel kernel : anywhere) {
        bool all = true;
        for (int64_t n : { 1, 2, 3, 255, 1024, 4099, 70001 })
            for (cuda_device *dev : { &gpu.dev, &gpu.small })
                all = all
                      && same_anywhere_of(dev, work_of(kernel, dtype, n, 2),
                                          raw_of(wide_data<T>(n, 5)), raw_of(wide_data<T>(n, 6)));
        ok(all, "kernel %d in %s gives the same bits wherever its operands begin", (int)kernel,
           name);
    }
}

static void wide_sums()
{
    bool whole = true, ones = true;
    for (int64_t n : { 0, 1, 2, 3, 5, 255, 1025, 131071, 5000003 }) {
        const std::vector<int32_t> x = wide_data<int32_t>(n, 9);
        const std::vector<double> one((size_t)n, 1 + 0x1p-30);
        uint32_t want = 0, got = 1;
        double total = -1;
        for (int32_t v : x)
            want += (uint32_t)v;
        memcpy(&got,
               run(&gpu.dev, work_of(SL_KERNEL_SUM, SL_INT32, n, 0), 4, raw_of(x), bytes(), false)
                   .data(),
               sizeof got);
        memcpy(
            &total,
            run(&gpu.dev, work_of(SL_KERNEL_SUM, SL_FLOAT64, n, 0), 8, raw_of(one), bytes(), false)
                .data(),
            sizeof total);
        whole = whole && got == want;
        ones = ones && total == (double)n + (double)n * 0x1p-30;
    }
    ok(whole, "the sum of int32 is exact modulo 2^32");
    ok(ones, "the sum of float64 is added in float64");
}

static void wide_kernels()
{
    wide_operations<double>(SL_FLOAT64, "float64");
    wide_operations<int32_t>(SL_INT32, "int32");
    wide_sums();
}

#endif
