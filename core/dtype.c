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

/* An IEEE-like 16-bit float of `fraction_bits` and 15 - fraction_bits exponent bits. */
static double unpack16(uint16_t raw, int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits;
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (raw >> fraction_bits) & ((1 << exponent_bits) - 1);
    int fraction = raw & ((1 << fraction_bits) - 1);
    double value;

    if (exponent == (1 << exponent_bits) - 1)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - bias - fraction_bits);
    else
        value = ldexp(fraction | 1 << fraction_bits, exponent - bias - fraction_bits);
    return raw & 0x8000 ? -value : value;
}

static uint16_t pack16(double value, int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits;
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    uint32_t infinity = (((1u << exponent_bits) - 1) << fraction_bits);
    uint32_t magnitude;
    int exponent;

    if (isnan(value)) return (uint16_t)(sign | infinity | 1u << (fraction_bits - 1));
    if (isinf(value)) return (uint16_t)(sign | infinity);
    frexp(value, &exponent); /* |value| in [2^(exponent-1), 2^exponent) */
    exponent--;
    if (exponent > bias) return (uint16_t)(sign | infinity);
    if (value == 0 || exponent < 1 - bias)
        exponent = 1 - bias; /* subnormal: the least exponent, no hidden bit */
    /* rint rounds to even. The hidden bit, or a carry out of rounding, adds one
     * to the exponent field by itself, up to infinity. */
    magnitude = (uint32_t)rint(ldexp(fabs(value), fraction_bits - exponent));
    magnitude += (uint32_t)(exponent + bias - 1) << fraction_bits;
    return (uint16_t)(sign | magnitude);
}

/* To the nearest whole number from `least` to `most`, which are whole. */
static double nearest_whole(double value, double least, double most)
{
    if (isnan(value)) return 0;
    value = rint(value);
    return value < least ? least : value > most ? most : value;
}

void sl__dtype_to_double(sl_dtype dtype, const void *raw, size_t n, double *values)
{
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
        default:
            memcpy(&f16, bytes, sizeof f16);
            values[i] = unpack16(f16, dtype == SL_BFLOAT16 ? 7 : 10);
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
