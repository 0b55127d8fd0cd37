/* dtype.c - element types. bfloat16 and float16 are converted straight from
 * double, not by way of float32: rounding twice is not rounding once. */
#include "dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *short_name;
    size_t bytes;
} dtypes[SL_DTYPES] = {
    [SL_FLOAT32] = { "float32", "f32", 4 }, [SL_BFLOAT16] = { "bfloat16", "bf16", 2 },
    [SL_FLOAT16] = { "float16", "f16", 2 }, [SL_UINT8] = { "uint8", "u8", 1 },
    [SL_FLOAT64] = { "float64", "f64", 8 }, [SL_INT32] = { "int32", "i32", 4 },
};

const char *sl_dtype_name(sl_dtype dtype)
{
    return (unsigned)dtype < SL_DTYPES ? dtypes[dtype].name : "unknown";
}

const char *sl__dtype_short_name(sl_dtype dtype)
{
    return (unsigned)dtype < SL_DTYPES ? dtypes[dtype].short_name : "unknown";
}

size_t sl_dtype_bytes(sl_dtype dtype)
{
    return (unsigned)dtype < SL_DTYPES ? dtypes[dtype].bytes : 0;
}

bool sl_dtype_parse(const char *name, sl_dtype *dtype)
{
    for (int i = 0; name && i < SL_DTYPES; i++) {
        if (!strcmp(dtypes[i].name, name)) {
            *dtype = (sl_dtype)i;
            return true;
        }
    }
    return false;
}

bool sl__dtype_is_float(sl_dtype dtype) { return dtype != SL_UINT8 && dtype != SL_INT32; }

/* A 16-bit float of `fraction_bits` and 15 - fraction_bits exponent bits, laid out as a double is:
 * with bits of zero behind it and another bias, a normal one is the double of the same value. */
enum { DOUBLE_FRACTION_BITS = 52, DOUBLE_BIAS = 1023 };

static double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int bias_of(int fraction_bits) { return (1 << (14 - fraction_bits)) - 1; }

/* What is added to the bits of a normal 16-bit float's magnitude for another bias. */
static uint64_t rebias(int fraction_bits)
{
    return (uint64_t)(DOUBLE_BIAS - bias_of(fraction_bits)) << DOUBLE_FRACTION_BITS;
}

static double unpack_float16(uint16_t raw)
{
    enum { FRACTION_BITS = 10 };
    uint32_t magnitude = raw & 0x7FFFu, infinity = 0x8000u - (1u << FRACTION_BITS);
    double value;
    if (magnitude > infinity)
        value = (double)NAN;
    else if (magnitude == infinity)
        value = (double)INFINITY;
    else if (magnitude < 1u << FRACTION_BITS)
        value = ldexp(magnitude, 1 - bias_of(FRACTION_BITS) - FRACTION_BITS);
    else
        value = double_of_bits(((uint64_t)magnitude << (DOUBLE_FRACTION_BITS - FRACTION_BITS))
                               + rebias(FRACTION_BITS));
    return raw & 0x8000 ? -value : value;
}

/* Rounded to even; a carry out of rounding adds one to the exponent by itself, up to infinity. */
static uint32_t pack_normal(double magnitude, int fraction_bits)
{
    int cut = DOUBLE_FRACTION_BITS - fraction_bits;
    uint64_t bits = bits_of_double(magnitude) - rebias(fraction_bits);
    return (uint32_t)((bits + ((uint64_t)1 << (cut - 1)) - 1 + ((bits >> cut) & 1)) >> cut);
}

static uint16_t pack16(double value, int fraction_bits)
{
    int bias = bias_of(fraction_bits);
    uint32_t sign = signbit(value) ? 0x8000 : 0, infinity = 0x8000u - (1u << fraction_bits);
    double magnitude = fabs(value);
    if (isnan(value)) return (uint16_t)(sign | infinity | 1u << (fraction_bits - 1));
    if (magnitude >= double_of_bits((uint64_t)(DOUBLE_BIAS + bias + 1) << DOUBLE_FRACTION_BITS))
        return (uint16_t)(sign | infinity);
    if (magnitude < double_of_bits((uint64_t)(DOUBLE_BIAS + 1 - bias) << DOUBLE_FRACTION_BITS))
        return (uint16_t)(sign | (uint32_t)rint(ldexp(magnitude, fraction_bits + bias - 1)));
    return (uint16_t)(sign | pack_normal(magnitude, fraction_bits));
}

/* To the nearest whole number from `least` to `most`, which are whole. */
static double nearest_whole(double value, double least, double most)
{
    if (isnan(value)) return 0;
    value = rint(value);
    return value < least ? least : value > most ? most : value;
}

/* A bfloat16 is the first half of a float32. */
static void unpack_bfloat16(const unsigned char *bytes, size_t n, double *values)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        float whole;
        memcpy(&half, bytes + i * sizeof half, sizeof half);
        uint32_t bits = (uint32_t)half << 16;
        memcpy(&whole, &bits, sizeof whole);
        values[i] = whole;
    }
}

void sl__dtype_to_double(sl_dtype dtype, const void *raw, size_t n, double *values)
{
    if (dtype == SL_BFLOAT16) {
        unpack_bfloat16(raw, n, values);
        return;
    }
    const unsigned char *bytes = raw;
    size_t each = sl_dtype_bytes(dtype);
    float f32;
    uint16_t f16;
    int32_t i32;

    for (size_t i = 0; i < n; i++, bytes += each) {
        switch (dtype) {
        case SL_FLOAT32:
            memcpy(&f32, bytes, sizeof f32);
            values[i] = f32;
            break;
        case SL_FLOAT64: memcpy(&values[i], bytes, sizeof values[i]); break;
        case SL_UINT8: values[i] = *bytes; break;
        case SL_INT32:
            memcpy(&i32, bytes, sizeof i32);
            values[i] = i32;
            break;
        default: memcpy(&f16, bytes, sizeof f16); values[i] = unpack_float16(f16);
        }
    }
}

void sl__dtype_from_double(sl_dtype dtype, const double *values, size_t n, void *raw)
{
    unsigned char *bytes = raw;
    size_t each = sl_dtype_bytes(dtype);
    float f32;
    uint16_t f16;
    int32_t i32;
    for (size_t i = 0; i < n; i++, bytes += each) {
        switch (dtype) {
        case SL_FLOAT32:
            f32 = (float)values[i]; /* IEEE 754: nearest even, infinite beyond the range */
            memcpy(bytes, &f32, sizeof f32);
            break;
        case SL_FLOAT64: memcpy(bytes, &values[i], sizeof values[i]); break;
        case SL_UINT8: *bytes = (uint8_t)nearest_whole(values[i], 0, UINT8_MAX); break;
        case SL_INT32:
            i32 = (int32_t)nearest_whole(values[i], INT32_MIN, INT32_MAX);
            memcpy(bytes, &i32, sizeof i32);
            break;
        default:
            f16 = pack16(values[i], dtype == SL_BFLOAT16 ? 7 : 10);
            memcpy(bytes, &f16, sizeof f16);
        }
    }
}
