/* t-33-half.c - __half and __nv_bfloat16 on the host. Expected values are whole numbers of a unit that
 * is smaller than any last bit, and are rounded by a search among all numbers of the type. */
#include "parts.h"

#include <math.h>

typedef __int128 units; /* of 2^-70 */
enum { UNIT = -70, PATTERNS = 65536 };

typedef struct narrow {
    const char *type, *name, *type2; /* "__half", "half" */
    int mantissa, bias;
    double values[PATTERNS]; /* by their bits */
} narrow;

static narrow half_type = { "__half", "half", "__half2", 10, 15, { 0 } };
static narrow bfloat16_type = { "__nv_bfloat16", "bfloat16", "__nv_bfloat162", 7, 127, { 0 } };

/* One kernel is all of them, for both types: compiling takes most of the time. */
enum { ALL, ARITHMETIC, CASES_OF, KINDS };
static test_kernel *kernel;

typedef struct tensors { /* what a part does not use is empty */
    test_arg x, between, value, y, z;
} tensors;

static sl_status run_on(const narrow *n, int kind, test_launch launch, tensors used)
{
    test_arg args[] = { used.x, used.between, used.value,
                        used.y, used.z,       test_i32(kind + (n == &half_type ? 0 : KINDS)) };
    for (int i = 0; i < 5; i++)
        if (!args[i].data) args[i] = test_unused();
    return kernel->status ? kernel->status : test_run(kernel, launch, args);
}

/* What the formats say: sign, exponent, mantissa. */
static void fill(narrow *n)
{
    const int infinite = (1 << (15 - n->mantissa)) - 1;
    for (int bits = 0; bits < PATTERNS; bits++) {
        int exponent = (bits & 0x7fff) >> n->mantissa, mantissa = bits & ((1 << n->mantissa) - 1);
        double value = exponent == 0
                           ? ldexp(mantissa, 1 - n->bias - n->mantissa)
                           : ldexp(mantissa + (1 << n->mantissa), exponent - n->bias - n->mantissa);
        if (exponent == infinite) value = mantissa ? NAN : HUGE_VAL;
        n->values[bits] = bits & 0x8000 ? -value : value;
    }
}

static int infinity_bits(const narrow *n) { return 0x7fff & ~((1 << n->mantissa) - 1); }

/* The largest number that is not above x, by its bits. x is positive and finite. */
static int below(const narrow *n, double x)
{
    int low = 0, high = infinity_bits(n);
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (n->values[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

enum { RN, RZ, RU, RD };

/* `size` is exact. Infinity stands for the number that would follow the largest. */
static int rounded(const narrow *n, double size, bool negative, int way)
{
    const int sign = negative ? 0x8000 : 0;
    if (isnan(size)) return 0x7fff;
    if (isinf(size)) return sign | infinity_bits(n);
    int low = below(n, size);
    double here = n->values[low], step = here - n->values[low ? low - 1 : 0];
    double next = low + 1 == infinity_bits(n) ? here + step : n->values[low + 1];
    if (size == here) return sign | low;
    if (way == RZ || way == (negative ? RU : RD)) return sign | low;
    if (way == RU || way == RD) return sign | (low + 1);
    double middle = here + (next - here) / 2;
    if (size == middle) return sign | (low + (low & 1));
    return sign | (low + (size > middle));
}

static int rounded_double(const narrow *n, double x, int way)
{
    return rounded(n, fabs(x), signbit(x), way);
}

/* A sum as whole units, which may have more bits than a double: what is lost is kept as one bit. */
static int rounded_units(const narrow *n, units x, bool negative_zero)
{
    unsigned __int128 size = x < 0 ? -(unsigned __int128)x : (unsigned __int128)x;
    int shift = 0;
    if (x == 0) return negative_zero ? 0x8000 : 0;
    for (; size >> 50; shift++)
        size = size >> 1 | (size & 1);
    return rounded(n, ldexp((double)(uint64_t)size, shift + UNIT), x < 0, RN);
}

static units to_units(double x)
{
    return (units)ldexp(x, -UNIT > 60 ? 60 : -UNIT) * ((units)1 << (-UNIT - 60));
}

static uint64_t seed = 1;
static uint32_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33);
}

/* ---- all patterns, and what lies between them ---- */

static const char all_source[] =
    "__device__ void all(const TYPE *x, const float *between, float *value, TYPE *y, int *z)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    TYPE a = x[i];\n"
    "    value[i] = NAME(__, TYPENAME, 2float)(a);\n"
    "    y[i] = TYPE(value[i]);\n"
    "    z[2 * i] = NAME(__, TYPENAME, 2int_rn)(a);\n"
    "    z[2 * i + 1] = NAME(__, TYPENAME, 2ushort_ru)(a);\n"
    "    float f = between[i];\n"
    "    y[65536 + i] = f;\n"
    "    y[131072 + i] = NAME(__float2, TYPENAME, _rz)(f);\n"
    "    y[196608 + i] = NAME(__float2, TYPENAME, _ru)(f);\n"
    "    y[262144 + i] = NAME(__float2, TYPENAME, _rd)(f);\n"
    "}\n";

/* Beside a number, beside the middle to the next one, or just there. */
static float near_number(const narrow *n, int bits)
{
    float here = (float)n->values[bits], next = (float)n->values[(bits + 1) & 0xffff];
    if (!isfinite(here) || !isfinite(next)) return isnan(here) ? here : 3e38f * (here > 0 ? 1 : -1);
    float middle = (float)(((double)here + next) / 2);
    switch (draw() % 5) {
    case 0: return nextafterf(middle, 0);
    case 1: return nextafterf(middle, here * 4);
    case 2: return nextafterf(here, here * 4);
    default: return middle;
    }
}

static int to_int(double x, double low, double high)
{
    return isnan(x) ? 0 : x < low ? (int)low : x > high ? (int)high : (int)x;
}

static void test_all(const narrow *n)
{
    static uint16_t x[PATTERNS], y[5 * PATTERNS];
    static float between[PATTERNS], value[PATTERNS];
    static int z[2 * PATTERNS];
    const test_launch launch = { .grid = { PATTERNS / 256 }, .block = { 256 } };
    int wrong[4] = { 0 };
    for (int i = 0; i < PATTERNS; i++) {
        x[i] = (uint16_t)i;
        between[i] = near_number(n, i);
    }
    const tensors used = { test_tensor(x, sizeof x), test_tensor(between, sizeof between),
                           test_tensor(value, sizeof value), test_tensor(y, sizeof y),
                           test_tensor(z, sizeof z) };
    is_int(run_on(n, ALL, launch, used), SL_OK, "%s: all of them are converted", n->type);
    for (int i = 0; i < PATTERNS; i++) {
        double exact = n->values[i];
        bool is_nan = isnan(exact);
        wrong[0] += is_nan ? !isnan(value[i])
                           : value[i] != exact || !signbit(value[i]) != !signbit(exact);
        wrong[1] += y[i] != (is_nan ? 0x7fff : i);
        wrong[2] += z[2 * i] != to_int(nearbyint(exact), -2147483648.0, 2147483647.0)
                    || z[2 * i + 1] != to_int(ceil(exact), 0, 65535);
        for (int way = RN; way <= RD; way++)
            wrong[3] += y[(1 + way) * PATTERNS + i] != rounded_double(n, between[i], way);
    }
    is_int(wrong[0], 0, "%s: each is the float that its bits say", n->type);
    is_int(wrong[1], 0, "%s: and comes back; NaN is 0x7fff", n->type);
    is_int(wrong[2], 0, "%s: integers are rounded and saturate", n->type);
    is_int(wrong[3], 0, "%s: floats between two of them are rounded in four ways", n->type);
}

/* ---- arithmetic ---- */

static const char arithmetic_source[] =
    "__device__ void arithmetic(const TYPE *x, TYPE *y, int *z)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    TYPE a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];\n"
    "    y += 8 * i;\n"
    "    y[0] = a + b, y[1] = a - b, y[2] = a * b, y[3] = __hfma(a, b, c);\n"
    "    y[4] = __hmax(a, b), y[5] = __hmin(a, b), y[6] = -a, y[7] = __habs(b);\n"
    "    z[i] = (a < b) | (a == b) << 1 | (a != b) << 2 | __hgeu(a, b) << 3 | __hne(a, b) << 4;\n"
    "}\n";

enum { N = 40000, RESULTS = 8 };

/* Of a size whose products are whole units, and whose sums meet in their last bits. */
static uint16_t draw_narrow(const narrow *n, int kind)
{
    uint16_t bits = (uint16_t)draw();
    if (kind % 8 == 0) return bits;
    if (n == &half_type) return kind % 2 ? bits : (bits & 0x8fff) | 0x3000;
    return (uint16_t)((bits & 0x87ff) | 0x3b80);
}

static bool has_units(const narrow *n, uint16_t bits)
{
    double x = fabs(n->values[bits]);
    return x == 0 || (x < 0x1p20 && x >= 0x1p-24);
}

/* Special values by C's rules for double, which are the same. */
static int expect_fused(const narrow *n, const uint16_t *x)
{
    double a = n->values[x[0]], b = n->values[x[1]], c = n->values[x[2]], plain = a * b + c;
    bool negative = signbit(a * b) && signbit(c);
    if (!isfinite(plain)) return rounded_double(n, plain, RN);
    if (!has_units(n, x[0]) || !has_units(n, x[1]) || !has_units(n, x[2])) return -1;
    units left = (units)ldexp(a, 35) * (units)ldexp(b, 35);
    if (ldexp(a, 35) != floor(ldexp(a, 35)) || ldexp(b, 35) != floor(ldexp(b, 35))) return -1;
    return rounded_units(n, left + to_units(c), negative);
}

static void expect(const narrow *n, const uint16_t *x, int *y)
{
    double a = n->values[x[0]], b = n->values[x[1]];
    /* A double holds a product, and a sum but for what is far below the last bit. */
    y[0] = rounded_double(n, a + b, RN);
    y[1] = rounded_double(n, a - b, RN);
    y[2] = rounded_double(n, a * b, RN);
    y[3] = expect_fused(n, x);
    y[4] = isnan(a) ? x[1] : isnan(b) ? x[0] : a > b || (a == b && !signbit(a)) ? x[0] : x[1];
    y[5] = isnan(a) ? x[1] : isnan(b) ? x[0] : a < b || (a == b && signbit(a)) ? x[0] : x[1];
    if (isnan(a) && isnan(b)) y[4] = y[5] = 0x7fff;
    y[6] = x[0] ^ 0x8000;
    y[7] = x[1] & 0x7fff;
}

static void test_arithmetic(const narrow *n)
{
    static const char *const names[RESULTS] = { "sums",   "differences", "products",  "fused sums",
                                                "maxima", "minima",      "negatives", "sizes" };
    static uint16_t x[3 * N], y[RESULTS * N];
    static int z[N];
    const test_launch launch = { .grid = { N / 200 }, .block = { 200 } };
    int wrong[RESULTS + 1] = { 0 }, seen = 0, expected[RESULTS];
    for (int i = 0; i < 3 * N; i++)
        x[i] = draw_narrow(n, i / 3);
    for (int i = 1; i < 3 * N; i += 30) /* equal ones */
        x[i] = x[i - 1];
    const tensors used = { .x = test_tensor(x, sizeof x),
                           .y = test_tensor(y, sizeof y),
                           .z = test_tensor(z, sizeof z) };
    is_int(run_on(n, ARITHMETIC, launch, used), SL_OK, "%s: arithmetic", n->type);
    for (int i = 0; i < N; i++) {
        double a = n->values[x[3 * i]], b = n->values[x[3 * i + 1]];
        expect(n, x + 3 * i, expected);
        seen += expected[3] >= 0;
        for (int k = 0; k < RESULTS; k++) {
            if (expected[k] < 0 || y[RESULTS * i + k] == expected[k] || wrong[k]++) continue;
            diag("%04x %04x %04x: %04x, not %04x", x[3 * i], x[3 * i + 1], x[3 * i + 2],
                 y[RESULTS * i + k], (unsigned)expected[k]);
        }
        wrong[RESULTS] += z[i]
                          != ((a < b) | (a == b) << 1 | (a != b) << 2 | !(a < b) << 3
                              | (a < b || a > b) << 4);
    }
    for (int k = 0; k < RESULTS; k++)
        is_int(wrong[k], 0, "%s: %s have the right bits", n->type, names[k]);
    is_int(wrong[RESULTS], 0, "%s: comparisons know NaN", n->type);
    ok(seen > N / 2, "%s: %d fused sums had an exact expectation", n->type, seen);
}

/* ---- single cases ---- */

#define CASES(X)                                                                                  \
    X("__hfma(TYPE(17.0f), TYPE(17.0f), TYPE(0.0f))", 0x5c84, 0x4390)                             \
    X("__hfma(TYPE(17.0f), TYPE(17.0f), NAME(__ushort_as_, TYPENAME, )(0x0080))", 0x5c84, 0x4391) \
    X("__hfma(TYPE(17.0f), TYPE(17.0f), NAME(__ushort_as_, TYPENAME, )(0x8080))", 0x5c84, 0x4390) \
    X("TYPE(1.0 + 0x1p-11 + 0x1p-50)", 0x3c01, 0x3f80)                                            \
    X("TYPE(1.0 + 0x1p-8 + 0x1p-50)", 0x3c04, 0x3f81)                                             \
    X("TYPE(16777217 * 64 + 1)", 0x7c00, 0x4e80)                                                  \
    X("NAME(__ll2, TYPENAME, _rn)((257ll << 40) + 1)", 0x7c00, 0x5781)                            \
    X("NAME(__int2, TYPENAME, _rz)(-70000)", 0xfbff, 0xc788)                                      \
    X("NAME(__int2, TYPENAME, _rd)(-70000)", 0xfc00, 0xc789)                                      \
    X("hsqrt(TYPE(6.25f))", 0x4100, 0x4020)                                                       \
    X("hexp(TYPE(0.0f))", 0x3c00, 0x3f80)                                                         \
    X("h2rcp(NAME2(__float2, TYPENAME, 2_rn)(4.0f)).y", 0x3400, 0x3e80)                           \
    X("hfloor(TYPE(-1.5f))", 0xc000, 0xc000)                                                      \
    X("__hfma2(pair, pair, pair).x", 0x4600, 0x40c0)                                              \
    X("__hadd2(pair, pair).y", 0x4600, 0x40c0)                                                    \
    X("__heq2(pair, TYPE2(2, 2)).x", 0x3c00, 0x3f80)                                              \
    X("__lowhigh2highlow(pair).x", 0x4200, 0x4040)                                                \
    X("__hmul_sat(pair.x, pair.y)", 0x3c00, 0x3f80)                                               \
    X("__hfma_relu(pair.x, -pair.y, pair.x)", 0, 0)                                               \
    X("__hmax_nan(pair.x, TYPE(NAN))", 0x7fff, 0x7fff)                                            \
    X("pair.x / pair.y", 0x3955, 0x3f2b)                                                          \
    X("TYPE(__hbgt2(pair, TYPE2(1, 3)) * 2 + __hble2(pair, pair))", 0x3c00, 0x3f80)               \
    X("atomicAdd(sum, TYPE(1.5f))", 0x3c00, 0x3f80)                                               \
    X("*sum", 0x4100, 0x4020)                                                                     \
    X("TYPE(OTHER(0.5f))", 0x3800, 0x3f00)                                                        \
    X("__ldg(sum) + TYPE((int)TYPE(-2.75f))", 0x3800, 0x3f00)

static const char case_source[] = "__device__ void cases(TYPE *y, TYPE *sum)\n"
                                  "{\n"
                                  "    TYPE2 pair = NAME(make_, TYPENAME, 2)(2.0f, 3.0f);\n"
                                  "    *sum = 1;\n"
#define X(text, half, bfloat16) "    *y++ = TYPE(" text ");\n"
    CASES(X)
#undef X
        "}\n";

enum {
#define X(...) +1
    N_CASES = 0 CASES(X)
#undef X
};

static void test_cases(const narrow *n)
{
    static const char *const names[] = {
#define X(text, half, bfloat16) text,
        CASES(X)
#undef X
    };
    static const int expected[][2] = {
#define X(text, half, bfloat16) { half, bfloat16 },
        CASES(X)
#undef X
    };
    const bool is_half = n == &half_type;
    uint16_t y[N_CASES + 1] = { 0 };
    const tensors used = { .y = test_tensor(y, sizeof y) };
    is_int(run_on(n, CASES_OF, (test_launch){ 0 }, used), SL_OK, "%s: single cases", n->type);
    for (int i = 0; i < N_CASES; i++)
        is_int(y[i], expected[i][!is_half], "%s: %s", n->type, names[i]);
}

static void add_type(char *text, const narrow *n, const narrow *other)
{
    test_add(text,
             "#undef TYPE\n#undef TYPENAME\n#undef TYPE2\n#undef OTHER\n"
             "#define TYPE %s\n#define TYPENAME %s\n#define TYPE2 %s\n#define OTHER %s\n",
             n->type, n->name, n->type2, other->type);
    test_add(text, "namespace of_%s {\n%s%s%s}\n", n->name, all_source, arithmetic_source,
             case_source);
}

static void add_calls(char *text, const narrow *n, int first)
{
    test_add(text, "    case %d: of_%s::all((%s *)x, between, value, (%s *)y, z); break;\n",
             first + ALL, n->name, n->type, n->type);
    test_add(text, "    case %d: of_%s::arithmetic((%s *)x, (%s *)y, z); break;\n",
             first + ARITHMETIC, n->name, n->type, n->type);
    test_add(text, "    case %d: of_%s::cases((%s *)y, (%s *)y + %d); break;\n", first + CASES_OF,
             n->name, n->type, n->type, (int)N_CASES);
}

static test_kernel *make(void)
{
    static const char *const args[] = { "in f16*",  "in f32*", "out f32*", "inout f16*",
                                        "out i32*", "i32",     NULL };
    static char text[TEST_SOURCE_BYTES];
    test_add(text, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                   "#define PASTE(a, b, c) a##b##c\n"
                   "#define NAME(a, b, c) PASTE(a, b, c)\n"
                   "#define NAME2(a, b, c) PASTE(a, b, c)\n");
    add_type(text, &half_type, &bfloat16_type);
    add_type(text, &bfloat16_type, &half_type);
    test_add(text, "__global__ void parts(const __half *x, const float *between, float *value,\n"
                   "                      __half *y, int *z, int which)\n"
                   "{\n    switch (which) {\n");
    add_calls(text, &half_type, 0);
    add_calls(text, &bfloat16_type, KINDS);
    test_add(text, "    }\n}\n");
    return test_kernel_new("parts", args, text);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    narrow *const types[] = { &half_type, &bfloat16_type };
    kernel = make();
    for (int i = 0; i < 2; i++) {
        fill(types[i]);
        test_all(types[i]);
        test_arithmetic(types[i]);
        test_cases(types[i]);
    }
    test_kernel_free(kernel);
    return done_testing();
}
