/* t-31-integers.c - CUDA's functions of bits and integers on the host, compared with loops over bits
 * and bytes. */
#include "kernel.h"

/* X(name, expression in the kernel, expected value); x, y, z are unsigned. */
#define FUNCTIONS(X)                                                                       \
    X("__popc(x)", count(x, 32))                                                           \
    X("__popcll(w)", count(w, 64))                                                         \
    X("__clz(x)", zeros(x, 32))                                                            \
    X("__clzll(w)", zeros(w, 64))                                                          \
    X("__ffs(x)", first(x))                                                                \
    X("__ffsll(w)", first(w))                                                              \
    X("__brev(x)", reversed(x, 32))                                                        \
    X("__brevll(w) >> 32", reversed(w, 64) >> 32)                                          \
    X("__byte_perm(x, y, z)", permuted(x, y, z))                                           \
    X("__fns(x, z, 3)", nth(x, z & 31, 3))                                                 \
    X("__fns(x, z, -2)", nth(x, z & 31, -2))                                               \
    X("__fns(x, z, 0)", x >> (z & 31) & 1 ? (z & 31) : 0xffffffff)                         \
    X("__mulhi((int)x, (int)y)", ((int64_t)(int)x * (int)y) >> 32)                         \
    X("__umulhi(x, y)", (uint64_t)x *y >> 32)                                              \
    X("__mul64hi(w, v)", high(w, v) - ((int64_t)w < 0 ? v : 0) - ((int64_t)v < 0 ? w : 0)) \
    X("__umul64hi(w, v)", high(w, v))                                                      \
    X("__mul24(x, y)", (int64_t)((int)(x << 8) >> 8) * ((int)(y << 8) >> 8))               \
    X("__umul24(x, y)", (uint64_t)(x & 0xffffff) * (y & 0xffffff))                         \
    X("__sad(x, y, z)", llabs((int64_t)(int)x - (int)y) + z)                               \
    X("__usad(x, y, z)", llabs((int64_t)x - y) + z)                                        \
    X("__hadd((int)x, (int)y)", ((int64_t)(int)x + (int)y) >> 1)                           \
    X("__rhadd((int)x, (int)y)", ((int64_t)(int)x + (int)y + 1) >> 1)                      \
    X("__uhadd(x, y)", ((uint64_t)x + y) >> 1)                                             \
    X("__urhadd(x, y)", ((uint64_t)x + y + 1) >> 1)                                        \
    X("__funnelshift_l(x, y, z)", w_of(y, x) << (z & 31) >> 32)                            \
    X("__funnelshift_r(x, y, z)", w_of(y, x) >> (z & 31))                                  \
    X("__funnelshift_lc(x, y, z & 63)", (z & 63) >= 32 ? x : w_of(y, x) << (z & 31) >> 32) \
    X("__funnelshift_rc(x, y, z & 63)", (z & 63) >= 32 ? y : w_of(y, x) >> (z & 31))       \
    X("__dp4a((int)x, (int)y, (int)z)", dot(x, y, 4, 1, 1, 0, true) + z)                   \
    X("__dp4a(x, y, z)", dot(x, y, 4, 1, 1, 0, false) + z)                                 \
    X("__dp2a_lo((int)x, (int)y, (int)z)", dot(x, y, 2, 2, 1, 0, true) + z)                \
    X("__dp2a_hi((int)x, (int)y, (int)z)", dot(x, y, 2, 2, 1, 2, true) + z)                \
    X("__dp2a_lo(x, y, z)", dot(x, y, 2, 2, 1, 0, false) + z)                              \
    X("__dp2a_hi(x, y, z)", dot(x, y, 2, 2, 1, 2, false) + z)

/* X(name, of signed parts, formula of the parts a and b). */
#define PARTS(X)                                               \
    X("vadd", "", false, a + b)                                \
    X("vsub", "", false, a - b)                                \
    X("vadd", "ss", true, limit(a + b, -top / 2, top / 2 - 1)) \
    X("vadd", "us", false, limit(a + b, 0, top - 1))           \
    X("vsub", "ss", true, limit(a - b, -top / 2, top / 2 - 1)) \
    X("vsub", "us", false, limit(a - b, 0, top - 1))           \
    X("vabsdiff", "s", true, llabs(a - b))                     \
    X("vabsdiff", "u", false, llabs(a - b))                    \
    X("vmax", "s", true, a > b ? a : b)                        \
    X("vmax", "u", false, a > b ? a : b)                       \
    X("vmin", "s", true, a < b ? a : b)                        \
    X("vmin", "u", false, a < b ? a : b)                       \
    X("vcmpeq", "", false, -(a == b))                          \
    X("vcmpne", "", false, -(a != b))                          \
    X("vcmpge", "s", true, -(a >= b))                          \
    X("vcmpge", "u", false, -(a >= b))                         \
    X("vcmpgt", "s", true, -(a > b))                           \
    X("vcmpgt", "u", false, -(a > b))                          \
    X("vcmple", "s", true, -(a <= b))                          \
    X("vcmple", "u", false, -(a <= b))                         \
    X("vcmplt", "s", true, -(a < b))                           \
    X("vcmplt", "u", false, -(a < b))

enum {
#define X(...) +1
    N_FUNCTIONS = 0 FUNCTIONS(X),
    N_PARTS = 0 PARTS(X),
#undef X
    ALL = N_FUNCTIONS + 2 * N_PARTS,
    N = 400,
};

static const char *const names[ALL] = {
#define X(text, value) text,
    FUNCTIONS(X)
#undef X
#define X(name, letters, is_signed, formula) name letters "4", name letters "2",
        PARTS(X)
#undef X
};

static const char source[] =
    "__global__ void integers(const int *in, int *out)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    unsigned x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];\n"
    "    unsigned long long w = (unsigned long long)x << 32 | y, v = (unsigned long long)z << 32 | x;\n"
    "    out += "
    "i * n_functions;\n"
#define X(text, value) "    *out++ = " text ";\n"
    FUNCTIONS(X)
#undef X
#define X(name, letters, is_signed, formula) \
    "    *out++ = __" name letters "4(x, y); *out++ = __" name letters "2(x, y);\n"
        PARTS(X)
#undef X
            "}\n";

/* ---- the same, slowly ---- */

static uint64_t count(uint64_t x, int bits)
{
    uint64_t n = 0;
    for (int i = 0; i < bits; i++)
        n += x >> i & 1;
    return n;
}
static uint64_t zeros(uint64_t x, int bits)
{
    uint64_t n = 0;
    for (int i = bits - 1; i >= 0 && !(x >> i & 1); i--)
        n++;
    return n;
}
static uint64_t first(uint64_t x)
{
    for (int i = 0; i < 64; i++)
        if (x >> i & 1) return (uint64_t)i + 1;
    return 0;
}
static uint64_t reversed(uint64_t x, int bits)
{
    uint64_t y = 0;
    for (int i = 0; i < bits; i++)
        y |= (x >> i & 1) << (bits - 1 - i);
    return y;
}
static uint64_t w_of(uint32_t high_part, uint32_t low) { return (uint64_t)high_part << 32 | low; }
static uint64_t permuted(uint32_t x, uint32_t y, uint32_t z)
{
    uint64_t result = 0;
    for (int i = 0; i < 4; i++) {
        int digit = z >> 4 * i & 7;
        uint64_t byte = (digit < 4 ? x >> 8 * digit : y >> 8 * (digit - 4)) & 255;
        if (z >> 4 * i & 8) byte = byte >= 128 ? 255 : 0;
        result += byte << 8 * i;
    }
    return result;
}
static uint64_t nth(uint32_t x, unsigned from, int n)
{
    for (int i = (int)from; i >= 0 && i<32; i += n> 0 ? 1 : -1) {
        if (!(x >> i & 1)) continue;
        n += n > 0 ? -1 : 1;
        if (n == 0) return (uint64_t)i;
    }
    return 0xffffffff;
}
/* By halves of 32 bits. */
static uint64_t high(uint64_t x, uint64_t y)
{
    uint64_t a = x >> 32, b = (uint32_t)x, c = y >> 32, d = (uint32_t)y;
    uint64_t middle = a * d + (b * d >> 32), other = b * c + (uint32_t)middle;
    return a * c + (middle >> 32) + (other >> 32);
}
static int64_t part(uint32_t x, int i, int bytes, bool is_signed)
{
    int64_t top = INT64_C(1) << 8 * bytes, value = (int64_t)(x >> 8 * bytes * i) % top;
    return is_signed && value >= top / 2 ? value - top : value;
}
static uint64_t dot(uint32_t x, uint32_t y, int n, int x_bytes, int y_bytes, int from,
                    bool is_signed)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += part(x, i, x_bytes, is_signed) * part(y, from + i, y_bytes, is_signed);
    return (uint64_t)sum;
}
static int64_t limit(int64_t x, int64_t low, int64_t most)
{
    return x < low ? low : x > most ? most : x;
}

static void expect(const int *in, uint32_t *out)
{
    uint32_t x = (uint32_t)in[0], y = (uint32_t)in[1], z = (uint32_t)in[2];
    uint64_t w = w_of(x, y), v = w_of(z, x);
#define X(text, value) *out++ = (uint32_t)(value);
    FUNCTIONS(X)
#undef X
#define X(name, letters, is_signed, formula)                                            \
    for (int bytes = 1; bytes <= 2; bytes++, out++) {                                   \
        const int64_t top = INT64_C(1) << 8 * bytes;                                    \
        *out = 0;                                                                       \
        for (int i = 0; i < 4 / bytes; i++) {                                           \
            int64_t a = part(x, i, bytes, is_signed), b = part(y, i, bytes, is_signed); \
            *out |= (uint32_t)((formula) & (top - 1)) << 8 * bytes * i;                 \
        }                                                                               \
    }
    PARTS(X)
#undef X
    (void)limit;
}

static uint32_t draw(uint64_t *seed)
{
    static const uint32_t special[] = { 0, 1, 0x80000000, 0xffffffff, 0x7fffffff, 0x80808080 };
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t bits = (uint32_t)(*seed >> 32);
    return bits % 8 == 0 ? special[bits / 8 % 6] : bits;
}

static void test_integers(void)
{
    static const char *const args[] = { "in i32*", "out i32*", NULL };
    static int in[3 * N], out[ALL * N];
    char text[sizeof source + 64];
    uint32_t expected[ALL];
    int wrong[ALL] = { 0 };
    uint64_t seed = 1;
    snprintf(text, sizeof text, "enum { n_functions = %d };\n%s", (int)ALL, source);
    test_kernel *kernel = test_kernel_new("integers", args, text);
    for (int i = 0; i < 3 * N; i++)
        in[i] = (int)draw(&seed);
    const test_arg values[] = { test_tensor(in, sizeof in), test_tensor(out, sizeof out) };
    const test_launch launch = { .grid = { N / 50 }, .block = { 50 } };
    is_int(test_run(kernel, launch, values), SL_OK, "functions of integers are computed");
    for (int i = 0; i < N; i++) {
        expect(in + 3 * i, expected);
        for (int k = 0; k < ALL; k++) {
            if ((uint32_t)out[ALL * i + k] == expected[k] || wrong[k]++) continue;
            diag("x = %08x, y = %08x, z = %08x: %08x, not %08x", (unsigned)in[3 * i],
                 (unsigned)in[3 * i + 1], (unsigned)in[3 * i + 2], (unsigned)out[ALL * i + k],
                 (unsigned)expected[k]);
        }
    }
    for (int k = 0; k < ALL; k++)
        is_int(wrong[k], 0, "%s is what a loop computes", names[k]);
    test_kernel_free(kernel);
}

int main(void)
{
    plan(0);
    if (test_lacks_compiler()) return done_testing();
    test_integers();
    return done_testing();
}
