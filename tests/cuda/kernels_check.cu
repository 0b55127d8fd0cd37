/* kernels_check.cu - the CUDA kernels on a GPU: fill, rand and randn against core/numbers,
 * arithmetic bit by bit, pow, softmax and sum against float64. Then pow's bandwidth next
 * to that of a copy kernel, as diagnostics. With STREAMLAB_MEMCHECK set it leaves out what
 * a memory checker would report, errors on purpose, and the times. */
#include "kernels_rig.cuh"
#include "kernels_cast.cuh"
#include "kernels_views.cuh"
#include "kernels_transpose.cuh"
#include "kernels_wide.cuh"
#include "kernels_times.cuh"

enum { MOST = 1000007 };

static const int64_t lengths[] = {
    0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 255, 1023, 1024, 1025, 4096, 4097, 12345, 131071, MOST,
};

/* ---- fill, rand, randn --------------------------------------------------------- */

static bool generates(sl_kernel kernel, sl_dtype dtype, double scalar)
{
    bool all = true;
    for (int64_t n : lengths) {
        const sl_work work = work_of(kernel, dtype, n, scalar);
        bytes want((size_t)n * numbers_dtype_bytes(dtype));
        numbers_generate(&work, 0, (size_t)n, want.data());
        all = all && run(&gpu.dev, work, want.size(), bytes(), bytes(), false) == want;
        all = all && run(&gpu.small, work, want.size(), bytes(), bytes(), false) == want;
    }
    return all;
}

static void generators()
{
    static const double scalars[] = { 2.5, 0, -0.0, 1.0 / 3, 1e-7, 300, 70000, -INFINITY, NAN };
    for (int d = SL_FLOAT32; d < SL_DTYPES; d++)
        for (double scalar : scalars)
            if (d != SL_INT32 || (scalar == floor(scalar) && fabs(scalar) < 1e9))
                ok(generates(SL_KERNEL_FILL, (sl_dtype)d, scalar),
                   "fill of %g in %s has the host's bits", scalar, dtype_names[d]);
    for (int d = SL_FLOAT32; d <= SL_FLOAT16; d++) {
        ok(generates(SL_KERNEL_RAND, (sl_dtype)d, 0), "rand in %s has the host's bits",
           dtype_names[d]);
        ok(generates(SL_KERNEL_RANDN, (sl_dtype)d, 0), "randn in %s has the host's bits",
           dtype_names[d]);
    }
}

/* ---- elementwise ------------------------------------------------------------------ */

static float power(float x, double exponent)
{
    const int count = (int)fabs(exponent);
    float product = 1;
    if (exponent == 0.5) return x == -INFINITY ? INFINITY : fabsf(sqrtf(x));
    for (int i = 0; i < count; i++)
        product *= x;
    return exponent < 0 ? 1 / product : product;
}

static float reference(sl_kernel kernel, float a, float b, double scalar)
{
    const float s = (float)scalar;
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
    case SL_KERNEL_RELU: return isnan(a) || a > 0 ? a : 0.0f;
    default: return power(a, scalar);
    }
}

static bool computes(sl_kernel kernel, sl_dtype dtype, double scalar)
{
    bool all = true;
    for (int64_t n : lengths) {
        const bytes in0 = mixed_data(dtype, n, 1), in1 = mixed_data(dtype, n, 2);
        const std::vector<float> a = floats_of(in0, dtype), b = floats_of(in1, dtype);
        const sl_work work = work_of(kernel, dtype, n, scalar);
        std::vector<float> want(a.size());
        for (size_t i = 0; i < a.size(); i++)
            want[i] = reference(kernel, a[i], b[i], scalar);
        all = all && same(run(&gpu.dev, work, in0.size(), in0, in1, false), want, dtype);
        all = all && same(run(&gpu.small, work, in0.size(), in0, in1, false), want, dtype);
        all = all && same(run(&gpu.small, work, in0.size(), in0, in1, true), want, dtype);
    }
    return all;
}

static const struct {
    sl_kernel kernel;
    const char *name;
    double scalar;
} operations[] = {
    { SL_KERNEL_ADD, "add", 0 },
    { SL_KERNEL_SUB, "sub", 0 },
    { SL_KERNEL_MUL, "mul", 0 },
    { SL_KERNEL_DIV, "div", 0 },
    { SL_KERNEL_ADD_SCALAR, "add_scalar", 0.3 },
    { SL_KERNEL_SUB_SCALAR, "sub_scalar", 0.3 },
    { SL_KERNEL_MUL_SCALAR, "mul_scalar", -0.3 },
    { SL_KERNEL_DIV_SCALAR, "div_scalar", 0.3 },
    { SL_KERNEL_RSUB_SCALAR, "rsub_scalar", 2.3 },
    { SL_KERNEL_RDIV_SCALAR, "rdiv_scalar", 0.3 },
    { SL_KERNEL_NEG, "neg", 0 },
    { SL_KERNEL_RELU, "relu", 0 },
};

static void exact_arithmetic()
{
    static const double exponents[] = { 0, 1, 2, 3, 4, 7, 16, -1, -2, -3, -16, 0.5 };
    for (int d = SL_FLOAT32; d <= SL_FLOAT16; d++) {
        const sl_dtype dtype = (sl_dtype)d;
        const char *name = dtype_names[d];
        for (auto &op : operations)
            ok(computes(op.kernel, dtype, op.scalar), "%s in %s is exact to the bit", op.name,
               name);
        for (double e : exponents)
            ok(computes(SL_KERNEL_POW, dtype, e), "pow %g in %s multiplies from the left", e, name);
    }
}

/* ---- errors in units of the last place -------------------------------------------- */

static double last_place(sl_dtype dtype, double x)
{
    static const int bits[] = { 24, 8, 11 }, least[] = { -126, -126, -14 };
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, std::max(exponent - 1, least[dtype]) - bits[dtype] + 1);
}

/* The larger; a NaN is the largest. */
static double worse(double a, double b) { return b <= a ? a : isnan(b) ? INFINITY : b; }

static double error_of(sl_dtype dtype, double got, double want)
{
    static const double largest[] = { 0x1.fffffep127, 0x1.fep127, 65504 };
    if ((isnan(got) && isnan(want)) || got == want) return 0;
    if (isinf(got) && got * want > 0 && fabs(want) >= largest[dtype] * (1 - 0x1p-20)) return 0;
    return fabs(got - want) / last_place(dtype, want);
}

static double pow_error(sl_dtype dtype, double exponent)
{
    const bytes in = mixed_data(dtype, MOST, 3);
    const std::vector<float> x = floats_of(in, dtype);
    const std::vector<float> got = floats_of(
        run(&gpu.dev, work_of(SL_KERNEL_POW, dtype, MOST, exponent), in.size(), in, in, false),
        dtype);
    double worst = 0;
    if (got.size() != x.size()) return INFINITY;
    for (size_t i = 0; i < x.size(); i++)
        worst = worse(worst, error_of(dtype, got[i], pow((double)x[i], (double)(float)exponent)));
    return worst;
}

static void general_powers()
{
    static const double exponents[] = { 1.5, -0.5, -0.3, 17, -20, 2.75, 0.25, 1.0 / 3 };
    for (int d = SL_FLOAT32; d <= SL_FLOAT16; d++)
        for (double exponent : exponents) {
            const double worst = pow_error((sl_dtype)d, exponent);
            ok(worst <= (d == SL_FLOAT32 ? 8 : 0.51), "pow %.3g in %s (%.4f last places)", exponent,
               dtype_names[d], worst);
        }
}

/* Zeros with their signs, infinities, NaNs: as the C library has them. */
static void special_powers()
{
    static const double exponents[] = {
        0, 1, 2, 3, -1, -2, -3, 15, 16, -15, -16, 0.5, -0.5, 1.5, 17, -17, INFINITY, -INFINITY, NAN,
    };
    const std::vector<float> x = {
        0,          -0.0f,           1,     -1, 2, -2, INFINITY, -INFINITY, NAN, 0x1p-149f,
        -0x1p-149f, 0x1.fffffep127f, 0.25f,
    };
    for (double exponent : exponents) {
        const bytes in = bytes_of(x, SL_FLOAT32);
        const sl_work work = work_of(SL_KERNEL_POW, SL_FLOAT32, (int64_t)x.size(), exponent);
        const std::vector<float> got = floats_of(run(&gpu.dev, work, in.size(), in, in, false),
                                                 SL_FLOAT32);
        bool all = got.size() == x.size();
        for (size_t i = 0; all && i < x.size(); i++) {
            const float want = powf(x[i], (float)exponent);
            const bool fits = error_of(SL_FLOAT32, got[i], want) <= 8
                              && (isnan(want) || signbit(got[i]) == signbit(want));
            if (!fits) diag("  pow(%g, %g): got %.9g, expected %.9g", x[i], exponent, got[i], want);
            all = all && fits;
        }
        ok(all, "pow %g of special values is what powf gives", exponent);
    }
}

/* ---- sum ----------------------------------------------------------------------------- */

static float sum_of(cuda_device *dev, sl_dtype dtype, int64_t n, const bytes &in)
{
    const size_t size = numbers_dtype_bytes(dtype);
    const bytes out = run(dev, work_of(SL_KERNEL_SUM, dtype, n, 0), size, in, bytes(), false);
    return out.size() == size ? floats_of(out, dtype)[0] : NAN;
}

static void sums()
{
    for (int d = SL_FLOAT32; d <= SL_FLOAT16; d++) {
        const sl_dtype dtype = (sl_dtype)d;
        bool whole = true, again = true;
        double worst = 0;
        std::vector<int64_t> all(lengths, lengths + sizeof lengths / sizeof *lengths);
        all.push_back(5000003); /* threads take more than one batch of vectors */
        for (int64_t n : all) {
            sl_work work = work_of(SL_KERNEL_RANDN, dtype, n, 0);
            bytes in((size_t)n * numbers_dtype_bytes(dtype));
            numbers_generate(&work, 0, (size_t)n, in.data());
            double want = 0;
            for (float x : floats_of(in, dtype))
                want += x;
            const float got = sum_of(&gpu.dev, dtype, n, in);
            worst = worse(worst, error_of(dtype, got, want));
            again = again && got == sum_of(&gpu.dev, dtype, n, in);
            const std::vector<float> ones((size_t)n, 1.0f), count(1, (float)n);
            want = floats_of(bytes_of(count, dtype), dtype)[0];
            whole = whole && sum_of(&gpu.dev, dtype, n, bytes_of(ones, dtype)) == want;
        }
        ok(whole, "the sum of ones in %s is their number, rounded once", dtype_names[d]);
        ok(worst <= 0.501, "sum in %s is rounded once (%.4f last places)", dtype_names[d], worst);
        ok(again, "sum in %s has the same bits every time", dtype_names[d]);
    }
    uint32_t counter = 1;
    CHECK(cudaMemcpy(&counter, gpu.scratch, sizeof counter, cudaMemcpyDeviceToHost));
    is_int(counter, 0, "sum leaves the scratch memory usable");
}

/* ---- softmax ------------------------------------------------------------------------- */

static const int64_t shapes[][2] = {
    { 1, 1 },    { 3, 5 },    { 70, 32 },  { 9, 33 },   { 2, 256 },   { 17, 257 },
    { 5, 1000 }, { 9, 1024 }, { 3, 1025 }, { 2, 5000 }, { 3, 20001 }, { 1, 100003 },
};

static std::vector<double> softmax_of(const float *x, int64_t n)
{
    std::vector<double> y((size_t)n);
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, x[i]);
    for (int64_t i = 0; i < n; i++)
        sum += y[(size_t)i] = exp(x[i] - largest);
    for (double &value : y)
        value /= sum;
    return y;
}

/* The worst error relative to what it should be, over the dtype's rounding. Normal
 * numbers times 4, each row far beyond where exp overflows. */
static double softmax_error(sl_dtype dtype, int64_t m, int64_t n, bool in_place)
{
    static const double rounding[] = { 0x1p-24, 0x1p-8, 0x1p-11 };
    sl_work work = work_of(SL_KERNEL_RANDN, SL_FLOAT32, m * n, 0);
    std::vector<float> x((size_t)(m * n));
    numbers_generate(&work, 0, x.size(), x.data());
    for (size_t i = 0; i < x.size(); i++)
        x[i] = 4 * x[i] + 300.0f * (float)((int64_t)i / n % 7 - 3);
    const bytes in = bytes_of(x, dtype);
    x = floats_of(in, dtype);
    work = work_of(SL_KERNEL_SOFTMAX, dtype, n, 0);
    work.m = m;
    const std::vector<float> got = floats_of(run(&gpu.dev, work, in.size(), in, bytes(), in_place),
                                             dtype);
    double worst = 0;
    if (got.size() != x.size()) return INFINITY;
    for (int64_t row = 0; row < m; row++) {
        const std::vector<double> want = softmax_of(&x[(size_t)(row * n)], n);
        for (int64_t i = 0; i < n; i++) {
            const double w = want[(size_t)i], unit = last_place(dtype, w) / 2;
            const double error = fabs(got[(size_t)(row * n + i)] - w);
            worst = worse(worst, error / fmax(w * rounding[dtype], unit));
        }
    }
    return worst;
}

static void softmaxes()
{
    for (int d = SL_FLOAT32; d <= SL_FLOAT16; d++)
        for (const int64_t *shape : shapes) {
            const double apart = softmax_error((sl_dtype)d, shape[0], shape[1], false);
            const double over = softmax_error((sl_dtype)d, shape[0], shape[1], true);
            ok(apart <= (d == SL_FLOAT32 ? 64 : 1.1) && over == apart,
               "softmax of %lld rows of %lld in %s, also in place (%.2f roundings)",
               (long long)shape[0], (long long)shape[1], dtype_names[d], apart);
        }
}

/* A row of n that begins with the four numbers and goes on with -infinity. */
static std::vector<float> softmax_row(int64_t n, const float (&head)[4])
{
    std::vector<float> x((size_t)n, -INFINITY);
    std::copy(head, head + 4, x.begin());
    sl_work work = work_of(SL_KERNEL_SOFTMAX, SL_FLOAT32, n, 0);
    const bytes in = bytes_of(x, SL_FLOAT32);
    return floats_of(run(&gpu.dev, work, in.size(), in, bytes(), false), SL_FLOAT32);
}

static bool all_nan(const std::vector<float> &x)
{
    return std::all_of(x.begin(), x.end(), [](float value) { return isnan(value); });
}

static void special_softmaxes()
{
    for (int64_t n : { 4, 100, 1000, 3000, 40000 }) {
        std::vector<float> y = softmax_row(n, { 7, -INFINITY, 7, -INFINITY });
        double sum = 0;
        for (float value : y)
            sum += value;
        ok(y[0] == 0.5f && y[1] == 0 && y[2] == 0.5f && sum == 1,
           "softmax: -infinity in a row of %lld has no share", (long long)n);
        ok(all_nan(softmax_row(n, { -INFINITY, -INFINITY, -INFINITY, -INFINITY }))
               && all_nan(softmax_row(n, { 1, INFINITY, 2, 3 }))
               && all_nan(softmax_row(n, { 1, 2, NAN, 3 })),
           "softmax: no finite element, an infinity or a NaN in a row of %lld make all NaN",
           (long long)n);
    }
}

static void empty_softmaxes()
{
    static const int64_t shapes[][2] = {
        { 5, 0 },     { (int64_t)1 << 40, 0 }, { 0, 5 }, { 0, 200 }, { 0, 1000 }, { 0, 2000 },
        { 0, 40000 },
    };
    for (auto &shape : shapes) {
        sl_work work = work_of(SL_KERNEL_SOFTMAX, SL_FLOAT32, shape[1], 0);
        uint32_t blocks = 0;
        uint16_t threads;
        work.m = shape[0];
        CHECK(launch_on(&gpu.dev, work, NULL, NULL, NULL, &blocks, &threads));
        ok(cudaDeviceSynchronize() == cudaSuccess && blocks == 1,
           "softmax of %lld rows of %lld runs one block, which touches nothing",
           (long long)shape[0], (long long)shape[1]);
    }
}

/* ---- spin, launching --------------------------------------------------------------------- */

static cudaError_t spin(int64_t duration_ns, int64_t blocks, size_t shared_bytes)
{
    sl_work work = work_of(SL_KERNEL_SPIN, SL_FLOAT32, 0, 0);
    uint32_t got_blocks;
    uint16_t threads;
    work.duration_ns = duration_ns;
    work.blocks = blocks;
    work.threads = 64;
    work.shared_bytes = shared_bytes;
    return launch_on(&gpu.dev, work, NULL, NULL, NULL, &got_blocks, &threads);
}

static double spin_us(int64_t duration_ns)
{
    cudaEvent_t start, end;
    float ms = 0;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start));
    CHECK(spin(duration_ns, 3, 0));
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventElapsedTime(&ms, start, end));
    return 1e3 * ms;
}

static void spins()
{
    const size_t most = (size_t)gpu.dev.base.info.max_shared_bytes_per_block;
    spin_us(0);
    for (int64_t ns : { 0, 2000, 50000, 2000000 }) {
        const double us = spin_us(ns);
        ok(us >= 0.98 * (double)ns / 1e3 - 2, "a spin of %.0f us is not over before (%.1f us)",
           (double)ns / 1e3, us);
    }
    ok(spin(0, 1, most) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
       "spin takes all the shared memory that a block may have, %zu bytes", most);
    ok(cuda_kernel_set_cache_config(true) == cudaSuccess
           && cuda_kernel_set_cache_config(false) == cudaSuccess,
       "cudaFuncSetCacheConfig takes a kernel");
}

static cudaError_t launch(sl_kernel kernel, sl_dtype dtype, int64_t n, void *out, uint32_t *blocks,
                          uint16_t *threads)
{
    return launch_on(&gpu.dev, work_of(kernel, dtype, n, 1), out, NULL, NULL, blocks, threads);
}

static void launches()
{
    uint32_t blocks = 0;
    uint16_t threads = 0;
    void *out;
    CHECK(cudaMalloc(&out, MOST * sizeof(float)));
    CHECK(launch(SL_KERNEL_FILL, SL_FLOAT32, MOST, out, &blocks, &threads));
    is_int(threads, 256, "a block has 256 threads");
    is_int(blocks, 977, "a million float32 take a block for each 1024");
    CHECK(launch(SL_KERNEL_FILL, SL_FLOAT32, 0, out, &blocks, &threads));
    is_int(blocks, 1, "no elements take one block");
    is_int(launch(SL_KERNEL_MATMUL, SL_FLOAT32, 1, out, &blocks, &threads), cudaErrorInvalidValue,
           "a matmul is none of these kernels");
    is_int(launch(SL_KERNEL_ADD, SL_UINT8, 1, out, &blocks, &threads), cudaErrorInvalidValue,
           "there is no add of uint8");
    CHECK(cudaFree(out));
}

static void large_grids()
{
    const int64_t most = INT32_MAX;
    for (int64_t n_blocks : { most + 1, 2 * most + 2, 2 * most + 3 })
        is_int(spin(0, n_blocks, 0), cudaErrorInvalidValue, "a grid does not have %lld blocks",
               (long long)n_blocks);
    sl_work work = work_of(SL_KERNEL_SOFTMAX, SL_FLOAT16, 1, 0);
    uint32_t blocks;
    uint16_t threads;
    sl_error why = {};
    work.m = 8 * most + 1;
    ok(cuda_kernel_launch(&gpu.dev, &work, NULL, NULL, NULL, NULL, 0, &blocks, &threads, &why)
               == SL_EBACKEND
           && strstr(why.msg, "2147483648 blocks") && strstr(why.msg, "2147483647"),
       "nor softmax as many as %lld rows need: %s", (long long)work.m, why.msg);
    ok(cudaDeviceSynchronize() == cudaSuccess, "and none of them ran");
}

/* Nothing is known to be loaded on this device, which is the same GPU by another number. */
static void pending_host_functions()
{
    cuda_device other = gpu.dev;
    const sl_work fill = work_of(SL_KERNEL_FILL, SL_UINT8, 1, 7);
    sl_work large_spin = work_of(SL_KERNEL_SPIN, SL_FLOAT32, 0, 0);
    uint32_t blocks;
    uint16_t threads;
    sl_error why = {};
    uint8_t *out, got = 0;
    other.base.info.index = 1;
    other.base.info.max_shared_bytes_per_block = 1 << 30;
    large_spin.blocks = 1;
    large_spin.threads = 32;
    large_spin.shared_bytes = 1 << 30;
    CHECK(cudaMalloc(&out, 1));
    CHECK(cudaMemset(out, 0, 1));
    cuda_funcs_pending = 1;
    rest = { 0, true };
    sl_status status = cuda_kernel_launch(&other, &fill, out, NULL, NULL, NULL, 0, &blocks,
                                          &threads, &why);
    CHECK(cudaMemcpy(&got, out, 1, cudaMemcpyDeviceToHost));
    ok(status == SL_EINTERRUPT && strcmp(why.msg, "interrupted") == 0 && got == 0,
       "a Ctrl-C while host functions run before a kernel is loaded launches nothing");
    is_int(
        cuda_kernel_launch(&other, &large_spin, NULL, NULL, NULL, NULL, 0, &blocks, &threads, NULL),
        SL_EINTERRUPT,
        "they run before a call sets the shared memory of a kernel, which loads it too");
    rest = { 0, false };
    for (int i = 0; i < 3; i++)
        CHECK(launch_on(&other, fill, out, NULL, NULL, &blocks, &threads));
    CHECK(cudaMemcpy(&got, out, 1, cudaMemcpyDeviceToHost));
    ok(got == 7 && rest.settles == 1, "three launches let them run once, before the first");
    cuda_funcs_pending = 0;
    CHECK(cudaFree(out));
}

/* What a memory checker would report: errors on purpose. The device is lost behind it. */
static void errors()
{
    const size_t most = (size_t)gpu.dev.base.info.max_shared_bytes_per_block;
    uint32_t blocks;
    uint16_t threads;
    void *out;
    CHECK(cudaMalloc(&out, 64));
    cudaSetDevice(12345); /* an error of somebody else's */
    ok(launch(SL_KERNEL_FILL, SL_FLOAT32, 16, out, &blocks, &threads) == cudaSuccess
           && cudaPeekAtLastError() == cudaErrorInvalidDevice,
       "a launch neither reports nor clears an earlier error");
    cudaGetLastError();
    ok(spin(0, 1, most + 1024) != cudaSuccess, "a spin with too much shared memory is refused");
    cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    CHECK(launch(SL_KERNEL_TRAP, SL_FLOAT32, 0, NULL, &blocks, &threads));
    is_int(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "a trap is an illegal address");
}

int main()
{
    int n_gpus = 0;
    if (cudaGetDeviceCount(&n_gpus) != cudaSuccess || n_gpus == 0) {
        printf("1..0 # SKIP no GPU\n");
        return 0;
    }
    plan(0);
    open_gpu();
    generators();
    exact_arithmetic();
    wide_kernels();
    transposes();
    casts();
    general_powers();
    special_powers();
    sums();
    softmaxes();
    special_softmaxes();
    empty_softmaxes();
    views();
    spins();
    launches();
    large_grids();
    pending_host_functions();
    if (!getenv("STREAMLAB_MEMCHECK")) {
        times();
        errors();
    }
    return done_testing();
}
