/* t-18-dtype.c - element types: names, and every rounding that goes wrong easily. */
#include "../../core/dtype.h"
#include "fake_backend.h"

static uint16_t pack(sl_dtype dtype, double value)
{
    uint16_t raw;
    sl__dtype_from_double(dtype, &value, 1, &raw);
    return raw;
}

static double unpack(sl_dtype dtype, uint16_t raw)
{
    double value;
    sl__dtype_to_double(dtype, &raw, 1, &value);
    return value;
}

static bool survives_round_trip(sl_dtype dtype)
{
    for (uint32_t raw = 0; raw <= 0xffff; raw++) {
        double value = unpack(dtype, (uint16_t)raw);
        if (!isnan(value) && pack(dtype, value) != raw) {
            diag("0x%04x comes back as 0x%04x", (unsigned)raw, (unsigned)pack(dtype, value));
            return false;
        }
    }
    return true;
}

static void test_halves(void)
{
    is_int(pack(SL_FLOAT16, 1), 0x3c00, "1 is 0x3c00 in float16");
    is_int(pack(SL_BFLOAT16, 1), 0x3f80, "and 0x3f80 in bfloat16");
    is_int(pack(SL_FLOAT16, -0.0), 0x8000, "-0.0 keeps its sign");
    is_int(pack(SL_FLOAT16, 65504), 0x7bff, "65504 is the largest float16");
    is_int(pack(SL_FLOAT16, 65519.99), 0x7bff, "what rounds down to it does");
    is_int(pack(SL_FLOAT16, 65520), 0x7c00, "what rounds up is infinite");
    is_int(pack(SL_FLOAT16, 1e300), 0x7c00, "as is all beyond");
    is_int(pack(SL_FLOAT16, 2049), 0x6800, "a tie goes to even, down");
    is_int(pack(SL_FLOAT16, 2051), 0x6802, "and up");
    is_int(pack(SL_FLOAT16, 2049.0000000001), 0x6801, "a double is rounded once, not twice");
    is_int(pack(SL_FLOAT16, ldexp(1, -24)), 1, "the least subnormal is there");
    is_int(pack(SL_FLOAT16, ldexp(1, -25)), 0, "half of it is a tie, to 0");
    is_int(pack(SL_FLOAT16, ldexp(1023.75, -24)), 0x0400, "subnormals round into normals");
    is_int(pack(SL_BFLOAT16, 3e-320), 0, "double's subnormals are 0");
    ok(isnan(unpack(SL_BFLOAT16, pack(SL_BFLOAT16, (double)NAN))), "NaN stays NaN");
    ok(isinf(unpack(SL_BFLOAT16, pack(SL_BFLOAT16, 3.4e38))), "bfloat16 overflows by rounding");
    ok(survives_round_trip(SL_FLOAT16), "every float16 survives the way to double and back");
    ok(survives_round_trip(SL_BFLOAT16), "so does every bfloat16");
}

static void test_bytes(void)
{
    const double values[6] = { -1, 0.5, 1.5, 254.6, 1e9, (double)NAN };
    const uint8_t wanted[6] = { 0, 0, 2, 255, 255, 0 };
    uint8_t raw[6];
    sl__dtype_from_double(SL_UINT8, values, 6, raw);
    ok(!memcmp(raw, wanted, 6), "uint8 rounds to even and saturates");
}

static void test_wide(void)
{
    const double values[] = {
        -0.5, 2.5, 3.5, 16777217, -2147483648.4, 2147483647.4, 1e300, -INFINITY, (double)NAN,
    };
    const int32_t wanted[] = { 0, 2, 4, 16777217, INT32_MIN, INT32_MAX, INT32_MAX, INT32_MIN, 0 };
    enum { N = sizeof wanted / sizeof *wanted };
    int32_t raw[N];
    double back[N];
    sl__dtype_from_double(SL_INT32, values, N, raw);
    ok(!memcmp(raw, wanted, sizeof raw), "int32 rounds to even and saturates");
    sl__dtype_to_double(SL_INT32, wanted, N, back);
    ok(back[3] == 16777217 && back[4] == INT32_MIN, "int32 becomes double exactly");
    sl__dtype_from_double(SL_FLOAT64, values, N, back);
    ok(!memcmp(back, values, sizeof back), "float64 is what a double is");
    sl__dtype_to_double(SL_FLOAT64, (const char *)values + 8, N - 1, back);
    ok(!memcmp(back, values + 1, sizeof back - 8), "also on the way back");
}

static void test_names(void)
{
    sl_dtype dtype = SL_UINT8;
    ok(sl_dtype_parse("bfloat16", &dtype) && dtype == SL_BFLOAT16, "a dtype is found by name");
    ok(sl_dtype_parse("int32", &dtype) && dtype == SL_INT32, "a later one as well");
    ok(!sl_dtype_parse("int64", &dtype), "int64 is none of them");
    ok(!sl_dtype_parse(NULL, &dtype), "nor is no name");
    is_str(sl_dtype_name(SL_FLOAT16), "float16", "a dtype has its name");
    is_int(sl_dtype_bytes(SL_FLOAT16), 2, "and its bytes");
    is_int(sl_dtype_bytes((sl_dtype)-1), 0, "a wrong number has none");
}

int main(void)
{
    plan(0);
    test_halves();
    test_bytes();
    test_wide();
    test_names();
    fake_close(fake_open());
    return done_testing();
}
