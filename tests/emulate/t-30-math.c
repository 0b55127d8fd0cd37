/* t-30-math.c - CUDA's functions for float and double on the host. Expected values are known ones, or
 * the processor's own arithmetic with its way of rounding set. */
#include "parts.h"

#include <fenv.h>
#include <math.h>

enum { KNOWN_PART, ROUNDED_PART, CONVERT_PART, PARTS };
static test_kernel *kernel; /* all of them: compiling takes most of the time */

/* ---- functions that the C library lacks, and overloads ---- */

#define KNOWN(X)                                                                              \
    X("rsqrt(4.0)", 0.5)                                                                      \
    X("rsqrtf(16.0f)", 0.25)                                                                  \
    X("rcbrt(27.0)", 1 / 3.0)                                                                 \
    X("exp10(3.0)", 1000)                                                                     \
    X("exp10f(-2.0f)", 0.01f)                                                                 \
    X("sinpi(0.5)", 1)                                                                        \
    X("sinpi(1.0 / 6)", 0.5)                                                                  \
    X("sinpi(-1000000.5)", -1)                                                                \
    X("cospi(1.0)", -1)                                                                       \
    X("cospi(0.5)", 0)                                                                        \
    X("cospi(1.0 / 3)", 0.5)                                                                  \
    X("sinpif(7.5f)", -1)                                                                     \
    X("normcdf(0.0)", 0.5)                                                                    \
    X("normcdf(1.959963984540054)", 0.975)                                                    \
    X("normcdfinv(0.975)", 1.959963984540054)                                                 \
    X("normcdfinv(1e-20)", -9.262340089798408)                                                \
    X("erfinv(0.5204998778130465)", 0.5)                                                      \
    X("erfinv(-0.9953222650189527)", -2)                                                      \
    X("erfcinv(1e-10)", 4.572824967389486)                                                    \
    X("erfcinv(1.5)", -0.4769362762044699)                                                    \
    X("erfcx(0.0)", 1)                                                                        \
    X("erfcx(10.0)", 0.05614099274382259)                                                     \
    X("erfcx(30.0)", 0.018795888861416751)                                                    \
    X("erfcx(-1.0)", 5.008980080762283)                                                       \
    X("rhypot(3.0, 4.0)", 0.2)                                                                \
    X("norm3d(2.0, 3.0, 6.0)", 7)                                                             \
    X("rnorm4df(2.0f, 4.0f, 4.0f, 8.0f)", 0.1f)                                               \
    X("pow(2.0f, 10)", 1024)                                                                  \
    X("fma(2.0f, 3.0f, 4.0f)", 10)                                                            \
    X("fmax(NAN, 1.0f)", 1)                                                                   \
    X("fminf(2.0f, NAN)", 2)                                                                  \
    X("1 / fmax(0.0f, -0.0f)", HUGE_VAL)                                                      \
    X("1 / fmin(0.0, -0.0)", -HUGE_VAL)                                                       \
    X("max(-1, 1u)", 4294967295.0)                                                            \
    X("min(-1, 1)", -1)                                                                       \
    X("max(1.5f, 2.5)", 2.5)                                                                  \
    X("abs(-5ll)", 5)                                                                         \
    X("ldexp(3.0f, 4)", 48)                                                                   \
    X("scalbn(1.0, -3)", 0.125)                                                               \
    X("ilogb(10.0f)", 3)                                                                      \
    X("lround(-2.5f)", -3)                                                                    \
    X("llrint(2.5)", 2)                                                                       \
    X("isnan(NAN) * 8 + isinf(-INFINITY) * 4 + isfinite(1.0) * 2 + signbit(-0.0f)", 15)       \
    X("__saturatef(7.0f) + __saturatef(-1.0f) + __saturatef(NAN) + __saturatef(0.25f)", 1.25) \
    X("__fdividef(1.0f, 4.0f)", 0.25)                                                         \
    X("__powf(2.0f, 3.0f)", 8)                                                                \
    X("__frsqrt_rn(0.25f)", 2)                                                                \
    X("sqrt(2.0f) == sqrt(2.0)", 0)                                                           \
    X("__int_as_float(0x40490fdb)", 3.14159274101257324)                                      \
    X("__hiloint2double(0x3ff80000, 0)", 1.5)                                                 \
    X("__double2hiint(-2.0) == (int)0xc0000000", 1)                                           \
    X("sizeof(make_float3(1, 2, 3)) + alignof(float4) + make_int2(3, 4).y", 32)               \
    X("alignof(int3) + alignof(double2) + alignof(uchar4) + alignof(short4)", 32)             \
    X("0.5 * M_PI", 1.5707963267948966)                                                       \
    X("__fadd_rn(__fmul_rn(near, near), far)", 0)                                             \
    X("__fadd_rn(near * near, far)", 0)                                                       \
    X("__fmul_rn(near, near) + far", 0)                                                       \
    X("__dsub_rn((double)near * (1.0 + 0x1p-50), near)", 0x1p-50)

static const char *const names[] = {
#define X(text, value) text,
    KNOWN(X)
#undef X
};
static const double values[] = {
#define X(text, value) value,
    KNOWN(X)
#undef X
};
enum { N_KNOWN = sizeof values / sizeof *values };

static const char known_source[] = KERNEL
    "(double *y)\n"
    "{\n"
    "    float near = blockDim.x + 0x1p-12f, far = -1 - 0x1p-11f;\n"
#define X(text, value) "    *y++ = " text ";\n"
    KNOWN(X)
#undef X
        "    float s, c, m; int n;\n"
        "    sincosf(0.0f, &s, &c); *y++ = s + 2 * c;\n"
        "    *y++ = frexp(12.0f, &n) + n;\n"
        "    *y++ = modff(3.25f, &m) + m;\n"
        "}\n";

static void test_known(void)
{
    double y[N_KNOWN + 3] = { 0 };
    const test_arg values_of[] = { test_unused(), test_unused(),
                                   test_unused(), test_tensor(y, sizeof y),
                                   test_unused(), test_i32(KNOWN_PART) };
    is_int(test_run(kernel, (test_launch){ 0 }, values_of), SL_OK, "known values are computed");
    for (int i = 0; i < N_KNOWN; i++) {
        double near = 4e-16 * fabs(values[i]) + 1e-300;
        ok(y[i] == values[i] || fabs(y[i] - values[i]) <= 4 * near, "%s is %.17g", names[i], y[i]);
    }
    ok(y[N_KNOWN] == 2 && y[N_KNOWN + 1] == 4.75 && y[N_KNOWN + 2] == 3.25,
       "sincosf, frexp and modff give both parts");
}

/* ---- ways of rounding ---- */

static const int fenv_ways[] = { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };
enum { WAYS = 4, N_ROUNDED = 1500, FLOAT_OPS = 7, TO_INTS = 4, FROM_INTS = 4 };

#define ROUNDED_WAY(way)                                                                           \
    "    *g++ = __fadd_" way "(a, b); *g++ = __fsub_" way "(a, b); *g++ = __fmul_" way "(a, b);\n" \
    "    *g++ = __fdiv_" way "(a, b); *g++ = __fsqrt_" way "(a); *g++ = __fmaf_" way               \
    "(a, b, c);\n"                                                                                 \
    "    *g++ = __frcp_" way "(b);\n"                                                              \
    "    *e++ = __dadd_" way "(d, f); *e++ = __dsub_" way "(d, f); *e++ = __dmul_" way "(d, f);\n" \
    "    *e++ = __ddiv_" way "(d, f); *e++ = __dsqrt_" way "(d); *e++ = __fma_" way "(d, f, h);\n" \
    "    *e++ = __drcp_" way "(f);\n"

static const char rounded_source[] = KERNEL
    "(const float *x, const double *y, float *g, double *e)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    float a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];\n"
    "    double d = y[3 * i], f = y[3 * i + 1], h = y[3 * i + 2];\n"
    "    g += 28 * i, e += 28 * i;\n" ROUNDED_WAY("rn") ROUNDED_WAY("rz") ROUNDED_WAY("ru")
        ROUNDED_WAY("rd") "}\n";

static uint64_t seed = 1;
static uint64_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 11 ^ seed >> 33;
}

/* Of all kinds: any bits, near to one another, whole, zeros. */
static float draw_float(void)
{
    static const float special[] = { 0.0f, -0.0f, 1.0f, 0x1p-149f, -0x1p-140f, 0x1.fffffep127f };
    uint32_t bits = (uint32_t)draw();
    float x;
    if (draw() % 8 == 0) return special[draw() % 6];
    if (draw() % 2) bits = (bits & 0x80ffffff) | 0x3f000000;
    memcpy(&x, &bits, sizeof x);
    return isnan(x) ? (float)(draw() % 100) : x;
}
static double draw_double(void)
{
    uint64_t bits = draw() << 32 ^ draw();
    double x;
    if (draw() % 8 == 0) return (double)draw_float();
    if (draw() % 2) bits = (bits & UINT64_C(0x803fffffffffffff)) | UINT64_C(0x3fc0000000000000);
    memcpy(&x, &bits, sizeof x);
    return isnan(x) ? 3 : x;
}

static void expect_floats(const float *x, float *g)
{
    volatile float a = x[0], b = x[1], c = x[2];
    for (int way = 0; way < WAYS; way++, g += FLOAT_OPS) {
        fesetround(fenv_ways[way]);
        volatile float got[FLOAT_OPS] = { a + b, a - b, a * b, a / b, 0, 0, 1 / b };
        got[4] = sqrtf(a);
        got[5] = fmaf(a, b, c);
        fesetround(FE_TONEAREST);
        for (int i = 0; i < FLOAT_OPS; i++)
            g[i] = got[i];
    }
}
static void expect_doubles(const double *x, double *g)
{
    volatile double a = x[0], b = x[1], c = x[2];
    for (int way = 0; way < WAYS; way++, g += FLOAT_OPS) {
        fesetround(fenv_ways[way]);
        volatile double got[FLOAT_OPS] = { a + b, a - b, a * b, a / b, 0, 0, 1 / b };
        got[4] = sqrt(a);
        got[5] = fma(a, b, c);
        fesetround(FE_TONEAREST);
        for (int i = 0; i < FLOAT_OPS; i++)
            g[i] = got[i];
    }
}

static const char *const op_names[FLOAT_OPS] = { "add", "sub", "mul", "div", "sqrt", "fma", "rcp" };
static const char *const way_names[WAYS] = { "rn", "rz", "ru", "rd" };

static bool is_same(double got, double expected)
{
    return isnan(expected) ? isnan(got) : got == expected && signbit(got) == signbit(expected);
}

static void test_rounded(void)
{
    static float x[3 * N_ROUNDED], g[28 * N_ROUNDED], expected_g[28];
    static double y[3 * N_ROUNDED], e[28 * N_ROUNDED], expected_e[28];
    const test_launch launch = { .grid = { N_ROUNDED / 50 }, .block = { 50 } };
    int wrong = 0;
    for (int i = 0; i < 3 * N_ROUNDED; i++) {
        x[i] = draw_float();
        y[i] = draw_double();
        if (i % 3 == 1 && draw() % 8 == 0) x[i] = -x[i - 1], y[i] = -y[i - 1];
    }
    const test_arg values_of[] = { test_tensor(x, sizeof x),
                                   test_tensor(y, sizeof y),
                                   test_tensor(g, sizeof g),
                                   test_tensor(e, sizeof e),
                                   test_unused(),
                                   test_i32(ROUNDED_PART) };
    is_int(test_run(kernel, launch, values_of), SL_OK, "arithmetic is rounded in four ways");
    for (int i = 0; i < N_ROUNDED; i++) {
        expect_floats(x + 3 * i, expected_g);
        expect_doubles(y + 3 * i, expected_e);
        for (int j = 0; j < 28; j++) {
            bool right = is_same(g[28 * i + j], expected_g[j]);
            if (!right && wrong++ < 5)
                diag("float %s_%s(%a, %a, %a): %a, not %a", op_names[j % 7], way_names[j / 7],
                     x[3 * i], x[3 * i + 1], x[3 * i + 2], g[28 * i + j], expected_g[j]);
            right = is_same(e[28 * i + j], expected_e[j]);
            if (!right && wrong++ < 5)
                diag("double %s_%s(%a, %a, %a): %a, not %a", op_names[j % 7], way_names[j / 7],
                     y[3 * i], y[3 * i + 1], y[3 * i + 2], e[28 * i + j], expected_e[j]);
        }
    }
    is_int(wrong, 0, "each result is the processor's with its way of rounding set");
}

/* ---- conversions ---- */

#define CONVERT_WAY(way)                                                                     \
    "    *i++ = __float2int_" way "(x); *i++ = (int)__float2uint_" way "(x);\n"              \
    "    *i++ = __double2int_" way "(y); *i++ = (int)__double2uint_" way "(y);\n"            \
    "    put(i, __float2ll_" way "(x)); put(i, (long long)__float2ull_" way "(x));\n"        \
    "    put(i, __double2ll_" way "(y)); put(i, (long long)__double2ull_" way "(y));\n"      \
    "    *f++ = __int2float_" way "((int)n); *f++ = __uint2float_" way "((unsigned)n);\n"    \
    "    *f++ = __ll2float_" way "(n); *f++ = __ull2float_" way "((unsigned long long)n);\n" \
    "    *f++ = __double2float_" way "(y);\n"                                                \
    "    *d++ = __ll2double_" way "(n); *d++ = __ull2double_" way "((unsigned long long)n);\n"

enum { INTS = 12, FLOATS = 5, DOUBLES = 2, N_CONVERTED = 1500 };

static const char convert_source[] =
    "__device__ void put(int *&i, long long n) { *i++ = (int)n; *i++ = (int)(n >> 32); }\n" KERNEL
    "(const double *in, int *i, float *f, double *d)\n"
    "{\n"
    "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    double y = in[2 * t];\n"
    "    float x = (float)y;\n"
    "    long long n = __double_as_longlong(in[2 * t + 1]);\n"
    "    i += 48 * t, f += 20 * t, d += 8 * t;\n" CONVERT_WAY("rn") CONVERT_WAY("rz")
        CONVERT_WAY("ru") CONVERT_WAY("rd") "}\n";

/* Rounded by the processor, then to the range of the type. */
static double whole(double x)
{
    volatile double y = x;
    return nearbyint(y);
}
static uint64_t expect_int(double x, bool is_signed, int bits, bool from_double)
{
    const double low = is_signed ? -ldexp(1, bits - 1) : 0;
    const double end = ldexp(1, bits - is_signed);
    const uint64_t top = UINT64_C(1) << (bits - 1);
    if (isnan(x)) return from_double || bits == 64 ? top : 0;
    if (x >= end) return is_signed ? top - 1 : top * 2 - 1;
    if (x < low) return is_signed ? top : 0;
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static void expect_converted(double y, int64_t n, int *i, float *f, double *d)
{
    volatile float x = (float)y;
    volatile int64_t m = n;
    for (int way = 0; way < WAYS; way++, i += INTS, f += FLOATS, d += DOUBLES) {
        fesetround(fenv_ways[way]);
        double rounded[2] = { whole(x), whole(y) };
        volatile float from[FLOATS] = { (float)(int32_t)m, (float)(uint32_t)m, (float)m,
                                        (float)(uint64_t)m, (float)(double)y };
        volatile double wide[DOUBLES] = { (double)m, (double)(uint64_t)m };
        volatile double narrow = y;
        from[4] = (float)narrow;
        fesetround(FE_TONEAREST);
        for (int k = 0; k < 4; k++) {
            uint64_t big = expect_int(rounded[k / 2], k % 2 == 0, 64, k >= 2);
            i[k] = (int)expect_int(rounded[k / 2], k % 2 == 0, 32, k >= 2);
            i[4 + 2 * k] = (int)big;
            i[5 + 2 * k] = (int)(big >> 32);
        }
        for (int k = 0; k < FLOATS; k++)
            f[k] = from[k];
        for (int k = 0; k < DOUBLES; k++)
            d[k] = wide[k];
    }
}

static double draw_for_int(void)
{
    static const double special[] = { NAN,           HUGE_VAL,     -HUGE_VAL, 2147483647.5,
                                      -2147483648.5, 4294967295.5, 0x1p63,    -0x1p63,
                                      0x1p64,        -0.5 };
    if (draw() % 8 == 0) return special[draw() % 10];
    double x = ((double)draw() - 0x1p52) / (double)(UINT64_C(1) << draw() % 60);
    return draw() % 4 ? x : x * 0x1p12;
}

static void test_conversions(void)
{
    static double in[2 * N_CONVERTED], d[8 * N_CONVERTED], expected_d[8];
    static int i[48 * N_CONVERTED], expected_i[48];
    static float f[20 * N_CONVERTED], expected_f[20];
    const test_launch launch = { .grid = { N_CONVERTED / 50 }, .block = { 50 } };
    int wrong = 0;
    for (int t = 0; t < N_CONVERTED; t++) {
        int64_t n = (int64_t)(draw() << 32 ^ draw()) >> draw() % 63;
        in[2 * t] = draw_for_int();
        memcpy(&in[2 * t + 1], &n, sizeof n);
    }
    const test_arg values_of[] = { test_unused(),
                                   test_tensor(in, sizeof in),
                                   test_tensor(f, sizeof f),
                                   test_tensor(d, sizeof d),
                                   test_tensor(i, sizeof i),
                                   test_i32(CONVERT_PART) };
    is_int(test_run(kernel, launch, values_of), SL_OK, "numbers are converted in four ways");
    for (int t = 0; t < N_CONVERTED; t++) {
        int64_t n;
        memcpy(&n, &in[2 * t + 1], sizeof n);
        expect_converted(in[2 * t], n, expected_i, expected_f, expected_d);
        for (int k = 0; k < 48; k++)
            if (i[48 * t + k] != expected_i[k] && wrong++ < 5)
                diag("%a to an integer, %d: %x, not %x", in[2 * t], k, (unsigned)i[48 * t + k],
                     (unsigned)expected_i[k]);
        for (int k = 0; k < 20; k++)
            if (!is_same(f[20 * t + k], expected_f[k]) && wrong++ < 5)
                diag("%lld or %a to float, %d: %a, not %a", (long long)n, in[2 * t], k,
                     f[20 * t + k], expected_f[k]);
        for (int k = 0; k < 8; k++)
            if (!is_same(d[8 * t + k], expected_d[k]) && wrong++ < 5)
                diag("%lld to double, %d: %a, not %a", (long long)n, k, d[8 * t + k],
                     expected_d[k]);
    }
    is_int(wrong, 0, "each is rounded as the processor rounds, and saturates");
}

static test_kernel *make(void)
{
    static const char *const args[] = { "in f32*",  "in f64*", "out f32*", "out f64*",
                                        "out i32*", "i32",     NULL };
    static const test_part parts[PARTS] = {
        [KNOWN_PART] = { known_source, "e" },
        [ROUNDED_PART] = { rounded_source, "x, y, g, e" },
        [CONVERT_PART] = { convert_source, "y, i, g, e" },
    };
    return test_parts_new(args, "#include <math.h>\n",
                          "const float *x, const double *y, float *g, double *e, int *i", parts,
                          PARTS);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    kernel = make();
    test_known();
    test_rounded();
    test_conversions();
    test_kernel_free(kernel);
    return done_testing();
}
