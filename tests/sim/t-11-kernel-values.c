/* t-11-kernel-values.c - the kernels on the CPU against double-precision references and cases worked
 * by hand: every kernel but matmul (t-11-matmul-values.c), every floating dtype, and rounding. */

#include "../../core/numbers/elements.h"

#include <math.h>

#include "../tap.h"
#include "kernel_jobs.h"

/* ---- conversions ------------------------------------------------------------ */

static void halves_round_to_nearest_even(void)
{
    static const struct {
        float x;
        uint16_t bf16, f16;
    } cases[] = {
        { 0, 0, 0 },
        { -0.0f, 0x8000, 0x8000 },
        { 1, 0x3f80, 0x3c00 },
        { -2, 0xc000, 0xc000 },
        { 256, 0x4380, 0x5c00 },
        { 257, 0x4380, 0x5c04 },
        { 259, 0x4382, 0x5c0c },
        { 2049, 0x4500, 0x6800 },
        { 2051, 0x4500, 0x6802 },
        { 65504, 0x4780, 0x7bff },
        { 65519, 0x4780, 0x7bff },
        { 65520, 0x4780, 0x7c00 },
        { -1e30f, 0xf14a, 0xfc00 },
        { INFINITY, 0x7f80, 0x7c00 },
        { 3.4028235e38f, 0x7f80, 0x7c00 },
        { 0x1p-14f, 0x3880, 0x0400 },
        { 0x1p-24f, 0x3380, 0x0001 },
        { 0x1p-25f, 0x3300, 0x0000 },
        { 0x1.8p-25f, 0x3340, 0x0001 },
        { 0x1.8p-24f, 0x33c0, 0x0002 },
        { 0x1.ffep-15f, 0x3880, 0x0400 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_int(half_bf16_of_float(cases[i].x), cases[i].bf16, "%g as bfloat16", (double)cases[i].x);
        is_int(half_f16_of_float(cases[i].x), cases[i].f16, "%g as float16", (double)cases[i].x);
    }
    bool same = true;
    for (uint32_t h = 0; h < 0x10000; h++) {
        const float b = half_float_of_bf16((uint16_t)h), f = half_float_of_f16((uint16_t)h);
        same = same
               && (isnan(b) ? isnan(half_float_of_bf16(half_bf16_of_float(b)))
                            : half_bf16_of_float(b) == h);
        same = same
               && (isnan(f) ? isnan(half_float_of_f16(half_f16_of_float(f)))
                            : half_f16_of_float(f) == h);
    }
    ok(same, "every bfloat16 and every float16 comes back from float32");
    is_double(half_float_of_f16(0x3555), 0.333251953125, 0, "a float16 by hand");
    is_double(half_float_of_f16(0x03ff), 1023 * 0x1p-24, 0, "the largest subnormal float16");
    is_double(half_tf32_of_float(2048), 2048, 0, "TF32 keeps 2048");
    is_double(half_tf32_of_float(2049), 2050, 0, "TF32 rounds a tie away from zero");
    is_double(half_tf32_of_float(-2049), -2050, 0, "also below zero");
    is_double(half_tf32_of_float(0x1.0013p0f), 0x1.0p0, 0, "TF32 rounds to nearest");
    ok(isinf(half_tf32_of_float(INFINITY)) && isnan(half_tf32_of_float(NAN)),
       "TF32 keeps infinities and NaNs");
}

/* ---- kernels ------------------------------------------------------------------ */

enum { ELEMS = 1300 }; /* more than two blocks, and not a whole number of them */

static double reference(sl_kernel kernel, double a, double b, double scalar)
{
    switch (kernel) {
    case SL_KERNEL_POW: return pow(a, scalar);
    case SL_KERNEL_ADD: return a + b;
    case SL_KERNEL_SUB: return a - b;
    case SL_KERNEL_MUL: return a * b;
    case SL_KERNEL_DIV: return a / b;
    case SL_KERNEL_ADD_SCALAR: return a + (double)(float)scalar;
    case SL_KERNEL_SUB_SCALAR: return a - (double)(float)scalar;
    case SL_KERNEL_DIV_SCALAR: return a / (double)(float)scalar;
    case SL_KERNEL_RSUB_SCALAR: return (double)(float)scalar - a;
    case SL_KERNEL_RDIV_SCALAR: return (double)(float)scalar / a;
    case SL_KERNEL_NEG: return -a;
    case SL_KERNEL_RELU: return a > 0 ? a : 0;
    default: return a * (double)(float)scalar;
    }
}

/* The worst error in units of the result's last place. */
static double elementwise_error(sl_kernel kernel, sl_dtype dtype, double scalar, bool in_place)
{
    float a[ELEMS], b[ELEMS], a_before[ELEMS], out[ELEMS];
    const sim_job job = make_job(kernel, dtype, 0, ELEMS, 0, scalar);
    for (size_t i = 0; i < ELEMS; i++) {
        set_element(dtype, a, i, 0.5 + (double)i / ELEMS);
        set_element(dtype, b, i, 1.7 - (double)i / ELEMS);
    }
    memcpy(a_before, a, sizeof a);
    void *to = in_place ? a : out;
    if (sim_job_run(&job, to, SIM_INPUTS(a, b))) return INFINITY;
    double worst = 0;
    for (size_t i = 0; i < ELEMS; i++) {
        const double want = reference(kernel, element(dtype, a_before, i), element(dtype, b, i),
                                      scalar);
        worst = fmax(worst, fabs(element(dtype, to, i) - want) / fabs(want) / unit_roundoff[dtype]);
    }
    return worst;
}

static void elementwise_kernels(void)
{
    static const struct {
        sl_kernel kernel;
        const char *name;
        double scalar;
    } others[] = {
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
    static const double exponents[] = { 0, 1, 2, 3, 16, -1, -2, 0.5, 1.5, -0.3, 17, 2.75 };
    for (sl_dtype dtype = SL_FLOAT32; dtype <= SL_FLOAT16; dtype++) {
        for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
            double error = elementwise_error(SL_KERNEL_POW, dtype, exponents[i], false);
            ok(error <= 18, "pow %g in %s (%.2f roundings)", exponents[i], dtype_names[dtype],
               error);
        }
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            for (int in_place = 0; in_place < 2; in_place++)
                ok(elementwise_error(others[i].kernel, dtype, others[i].scalar, in_place) <= 1.01,
                   "%s in %s, %s", others[i].name, dtype_names[dtype],
                   in_place ? "in place" : "out of place");
    }
}

static void pow_by_hand(void)
{
    static const struct {
        float x;
        double exponent;
        float want;
    } cases[] = {
        { 3, 2, 9 },
        { -3, 3, -27 },
        { 2, 16, 65536 },
        { 4, -1, 0.25f },
        { 9, 0.5, 3 },
        { 0, 0, 1 },
        { -2, -2, 0.25f },
        { 0, -1, INFINITY },
        { 2, 0.25, 1.18920707f },
        { -8, 1.0 / 3, NAN },
        { -INFINITY, 0.5, INFINITY },
        { -4, 0.5, NAN },
        { NAN, 0, 1 },
        { NAN, 0.5, NAN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sim_job job = make_job(SL_KERNEL_POW, SL_FLOAT32, 0, 1, 0, cases[i].exponent);
        float got;
        sim_job_run(&job, &got, SIM_INPUTS(&cases[i].x));
        is_double(got, cases[i].want, 0, "%g to the %g", (double)cases[i].x, cases[i].exponent);
    }
    const float minus_zero = -0.0f;
    float root;
    const sim_job half = make_job(SL_KERNEL_POW, SL_FLOAT32, 0, 1, 0, 0.5);
    sim_job_run(&half, &root, SIM_INPUTS(&minus_zero));
    ok(root == 0 && !signbit(root), "-0 to the 0.5 is 0, not the root of -0");
    /* In float32 ((x x) x) differs from x (x x) rounded once: the order is fixed. */
    const float x = 1.1f, square = x * x, cube = square * x;
    float got;
    const sim_job job = make_job(SL_KERNEL_POW, SL_FLOAT32, 0, 1, 0, 3);
    sim_job_run(&job, &got, SIM_INPUTS(&x));
    is_double(got, cube, 0, "x^3 is (x x) x to the bit");
}

static void bytes_saturate(void)
{
    const uint8_t in[4] = { 0, 7, 100, 250 };
    uint8_t out[4];
    sim_job job = make_job(SL_KERNEL_ADD_SCALAR, SL_UINT8, 0, 4, 0, 10);
    sim_job_run(&job, out, SIM_INPUTS(in));
    ok(out[0] == 10 && out[1] == 17 && out[3] == 255, "uint8 saturates above");
    job = make_job(SL_KERNEL_ADD_SCALAR, SL_UINT8, 0, 4, 0, -20);
    sim_job_run(&job, out, SIM_INPUTS(in));
    ok(out[0] == 0 && out[1] == 0 && out[2] == 80, "uint8 saturates below");
}

/* 3^21 = 10460353203 = 2 * 2^32 + 1870418611; 2^31 - 1 squared is 2^62 - 2^32 + 1. */
static void whole_numbers_wrap(void)
{
    static const struct {
        sl_kernel kernel;
        double scalar;
        int32_t x, y, want;
    } cases[] = {
        { SL_KERNEL_ADD, 0, INT32_MAX, 1, INT32_MIN },
        { SL_KERNEL_SUB, 0, INT32_MIN, 1, INT32_MAX },
        { SL_KERNEL_MUL, 0, INT32_MAX, INT32_MAX, 1 },
        { SL_KERNEL_NEG, 0, INT32_MIN, 0, INT32_MIN },
        { SL_KERNEL_RSUB_SCALAR, INT32_MIN, 1, 0, INT32_MAX },
        { SL_KERNEL_POW, 21, 3, 0, 1870418611 },
        { SL_KERNEL_SUB_SCALAR, INT32_MIN, 0, 0, INT32_MIN },
        { SL_KERNEL_POW, 0, 0, 0, 1 },
        { SL_KERNEL_POW, INT32_MAX, -1, 0, -1 },
        { SL_KERNEL_RELU, 0, INT32_MIN, 0, 0 },
        { SL_KERNEL_ADD_SCALAR, 1, 16777216, 0, 16777217 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sim_job job = make_job(cases[i].kernel, SL_INT32, 0, 1, 0, cases[i].scalar);
        int32_t got = 7;
        sim_job_run(&job, &got, SIM_INPUTS(&cases[i].x, &cases[i].y));
        is_int(got, cases[i].want, "int32 wraps, case %zu", i);
    }
    static int32_t many[70000];
    for (size_t i = 0; i < 70000; i++)
        many[i] = INT32_MAX;
    int32_t sum;
    const sim_job job = make_job(SL_KERNEL_SUM, SL_INT32, 0, 70000, 0, 0);
    sim_job_run(&job, &sum, SIM_INPUTS(many));
    is_int(sum, -70000, "70000 times 2^31 - 1 is 35000 times 2^32 less 70000");
}

/* Where float32 would lose something. */
static void doubles_are_computed_in_double(void)
{
    enum { N = ELEMS };
    static double x[N], y[N], out[N];
    for (int i = 0; i < N; i++) {
        x[i] = 1 + i * 0x1p-40;
        y[i] = i + 3;
    }
    sim_job job = make_job(SL_KERNEL_DIV, SL_FLOAT64, 0, N, 0, 0);
    sim_job_run(&job, out, SIM_INPUTS(x, y));
    bool same = true;
    for (int i = 0; i < N; i++)
        same = same && out[i] == x[i] / y[i];
    ok(same, "div in float64");
    job = make_job(SL_KERNEL_POW, SL_FLOAT64, 0, N, 0, 3);
    sim_job_run(&job, x, SIM_INPUTS(x));
    ok(x[N - 1] == (1 + (N - 1) * 0x1p-40) * (1 + (N - 1) * 0x1p-40) * (1 + (N - 1) * 0x1p-40),
       "pow in float64, in place");
    job = make_job(SL_KERNEL_FILL, SL_FLOAT64, 0, N, 0, 1.0 / 3);
    sim_job_run(&job, out, SIM_INPUTS(NULL));
    ok(out[0] == 1.0 / 3 && out[N - 1] == 1.0 / 3, "fill in float64");
    job = make_job(SL_KERNEL_SUM, SL_FLOAT64, 0, N, 0, 0);
    sim_job_run(&job, x, SIM_INPUTS(y));
    is_double(x[0], N * (N + 5) / 2.0, 0, "sum in float64");
}

/* outer, m, middle, n, k; more than a tile, and cells of every size. */
static void transposes(void)
{
    static const int64_t shapes[][5] = {
        { 1, 2, 1, 3, 1 },   { 1, 70, 1, 130, 1 }, { 2, 65, 3, 66, 1 }, { 2, 3, 4, 5, 6 },
        { 1, 1, 1, 1, 100 }, { 1, 65, 1, 64, 3 },  { 0, 2, 1, 3, 1 },   { 1, 2, 1, 0, 4 },
    };
    static uint8_t in[2 * 65 * 3 * 66 * 8], out[sizeof in];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 7 + i / 251);
    for (sl_dtype dtype = 0; dtype < SL_DTYPES; dtype++)
        for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
            const int64_t *s = shapes[c];
            const sl_work work = {
                .kernel = SL_KERNEL_TRANSPOSE,
                .dtype = (uint8_t)dtype,
                .outer = s[0],
                .m = s[1],
                .middle = s[2],
                .n = s[3],
                .k = s[4],
            };
            const size_t cell = (size_t)s[4] * numbers_dtype_bytes(dtype);
            sim_job job;
            sim_job_init(&job, &work);
            bool right = sim_job_run(&job, out, SIM_INPUTS(in)) == SL_OK;
            for (int64_t o = 0; o < s[0]; o++)
                for (int64_t i = 0; i < s[1]; i++)
                    for (int64_t b = 0; b < s[2]; b++)
                        for (int64_t j = 0; j < s[3]; j++) {
                            const int64_t from = ((o * s[1] + i) * s[2] + b) * s[3] + j;
                            const int64_t to = ((o * s[3] + j) * s[2] + b) * s[1] + i;
                            right = right
                                    && memcmp(out + (size_t)to * cell, in + (size_t)from * cell,
                                              cell)
                                           == 0;
                        }
            ok(right && sim_job_bytes(&job, 0) == sim_job_bytes(&job, SL_OUTPUT)
                   && sim_job_bytes(&job, SL_OUTPUT) == (size_t)(s[0] * s[1] * s[2] * s[3]) * cell,
               "transpose %zu of dtype %d", c, (int)dtype);
        }
}

static void softmax_rows(void)
{
    enum { ROWS = 3, COLS = 700 };
    static float in[ROWS * COLS], out[ROWS * COLS];
    for (sl_dtype dtype = SL_FLOAT32; dtype <= SL_FLOAT16; dtype++) {
        const sim_job job = make_job(SL_KERNEL_SOFTMAX, dtype, ROWS, COLS, 0, 0);
        for (size_t i = 0; i < ROWS * COLS; i++) /* far beyond where exp overflows */
            set_element(dtype, in, i, 1000.0 * (double)(i / COLS) + sin((double)i) * 4);
        sim_job_run(&job, out, SIM_INPUTS(in));
        double worst = 0;
        for (size_t row = 0; row < ROWS; row++) {
            double largest = -INFINITY, sum = 0;
            for (size_t i = row * COLS; i < (row + 1) * COLS; i++)
                largest = fmax(largest, element(dtype, in, i));
            for (size_t i = row * COLS; i < (row + 1) * COLS; i++)
                sum += exp(element(dtype, in, i) - largest);
            for (size_t i = row * COLS; i < (row + 1) * COLS; i++) {
                const double want = exp(element(dtype, in, i) - largest) / sum;
                worst = fmax(worst, fabs(element(dtype, out, i) - want) / 0.02);
            }
        }
        ok(worst <= 8 * unit_roundoff[dtype], "softmax in %s (%.2g)", dtype_names[dtype], worst);
        sim_job_run(&job, in, SIM_INPUTS(in));
        ok(memcmp(in, out, ROWS * COLS * numbers_dtype_bytes(dtype)) == 0, "softmax in place in %s",
           dtype_names[dtype]);
    }
    const sim_job pair = make_job(SL_KERNEL_SOFTMAX, SL_FLOAT32, 2, 2, 0, 0);
    const float x[4] = { 0, 0, -INFINITY, 5 };
    float got[4];
    sim_job_run(&pair, got, SIM_INPUTS(x));
    ok(got[0] == 0.5f && got[1] == 0.5f && got[2] == 0 && got[3] == 1, "softmax by hand");
}

static void sums(void)
{
    enum { N = 100003 };
    float *x = malloc(N * sizeof *x);
    if (!ok(x != NULL, "memory for %d numbers", N)) return;
    sim_job job = make_job(SL_KERNEL_SUM, SL_FLOAT32, 0, N, 0, 0);
    float got;
    double want = 0;
    for (size_t i = 0; i < N; i++)
        want += x[i] = (float)(i % 7) + 0.125f;
    sim_job_run(&job, &got, SIM_INPUTS(x));
    is_double(got, (float)want, 0, "sum is right to the last bit");
    is_int(sim_job_bytes(&job, SL_OUTPUT), 4, "sum gives one element");
    for (size_t i = 0; i < N; i++)
        set_element(SL_BFLOAT16, x, i, 1);
    uint16_t half;
    job = make_job(SL_KERNEL_SUM, SL_BFLOAT16, 0, N, 0, 0);
    sim_job_run(&job, &half, SIM_INPUTS(x));
    is_double(half_float_of_bf16(half), 99840, 0, "a bfloat16 sum is rounded once, at the end");
    job = make_job(SL_KERNEL_SUM, SL_FLOAT32, 0, 0, 0, 0);
    sim_job_run(&job, &got, SIM_INPUTS(x));
    is_double(got, 0, 0, "the sum of nothing is 0");
    free(x);
}

static void generators(void)
{
    enum { N = 1000 };
    float whole[N], part[N];
    static const sl_kernel kernels[] = { SL_KERNEL_RAND, SL_KERNEL_RANDN, SL_KERNEL_FILL };
    for (size_t i = 0; i < 3; i++) {
        const sim_job job = make_job(kernels[i], SL_FLOAT32, 0, N, 0, 2.5);
        sim_job_run(&job, whole, SIM_INPUTS(NULL));
        sim_job_generate(&job, 333, 600, part);
        ok(memcmp(part, whole + 333, 600 * sizeof *part) == 0, "generator %zu in parts", i);
    }
    is_double(whole[N - 1], 2.5, 0, "fill fills");
    const sim_job half = make_job(SL_KERNEL_RAND, SL_BFLOAT16, 0, N, 0, 0);
    const sim_job full = make_job(SL_KERNEL_RAND, SL_FLOAT32, 0, N, 0, 0);
    sim_job_run(&full, whole, SIM_INPUTS(NULL));
    sim_job_run(&half, part, SIM_INPUTS(NULL));
    bool same = true;
    for (size_t i = 0; i < N; i++)
        same = same
               && element(SL_BFLOAT16, part, i) == half_float_of_bf16(half_bf16_of_float(whole[i]));
    ok(same, "random bfloat16 are the random float32, rounded");
}

int main(void)
{
    plan(0);
    halves_round_to_nearest_even();
    elementwise_kernels();
    pow_by_hand();
    bytes_saturate();
    whole_numbers_wrap();
    doubles_are_computed_in_double();
    transposes();
    softmax_rows();
    sums();
    generators();
    return done_testing();
}
