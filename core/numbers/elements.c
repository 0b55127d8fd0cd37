/* elements.c - elements of any dtype as float32 and back.
 *
 * Buffers have no type of their own (plain memory holds what was copied there),
 * so halves are moved with memcpy, which compilers turn into plain loads.
 */
#include "elements.h"

#include <string.h>

#include "half.h"

size_t numbers_dtype_bytes(sl_dtype dtype)
{
    static const uint8_t bytes[SL_DTYPES] = {
        [SL_FLOAT32] = 4, [SL_BFLOAT16] = 2, [SL_FLOAT16] = 2,
        [SL_UINT8] = 1,   [SL_FLOAT64] = 8,  [SL_INT32] = 4,
    };
    return bytes[dtype];
}

static uint16_t half_at(const void *from, size_t i)
{
    uint16_t half;
    memcpy(&half, (const uint8_t *)from + 2 * i, sizeof half);
    return half;
}

static void put_half(void *to, size_t i, uint16_t half)
{
    memcpy((uint8_t *)to + 2 * i, &half, sizeof half);
}

static uint8_t byte_of_float(float x)
{
    if (!(x > 0)) return 0;
    return x < 255 ? (uint8_t)x : 255;
}

void numbers_load(float *to, const void *from, sl_dtype dtype, int64_t first, size_t n)
{
    from = (const uint8_t *)from + (size_t)first * numbers_dtype_bytes(dtype);
    switch (dtype) {
    case SL_BFLOAT16:
        for (size_t i = 0; i < n; i++)
            to[i] = half_float_of_bf16(half_at(from, i));
        break;
    case SL_FLOAT16:
        for (size_t i = 0; i < n; i++)
            to[i] = half_float_of_f16(half_at(from, i));
        break;
    case SL_UINT8:
        for (size_t i = 0; i < n; i++)
            to[i] = ((const uint8_t *)from)[i];
        break;
    default: memcpy(to, from, n * sizeof(float));
    }
}

void numbers_store(void *to, const float *from, sl_dtype dtype, int64_t first, size_t n)
{
    to = (uint8_t *)to + (size_t)first * numbers_dtype_bytes(dtype);
    switch (dtype) {
    case SL_BFLOAT16:
        for (size_t i = 0; i < n; i++)
            put_half(to, i, half_bf16_of_float(from[i]));
        break;
    case SL_FLOAT16:
        for (size_t i = 0; i < n; i++)
            put_half(to, i, half_f16_of_float(from[i]));
        break;
    case SL_UINT8:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)to)[i] = byte_of_float(from[i]);
        break;
    default: memcpy(to, from, n * sizeof(float));
    }
}

void numbers_store_number(void *to, double number, sl_dtype dtype)
{
    const float narrow = (float)number;
    const int32_t whole = dtype == SL_INT32 ? (int32_t)number : 0;
    switch (dtype) {
    case SL_FLOAT64: memcpy(to, &number, sizeof number); break;
    case SL_INT32: memcpy(to, &whole, sizeof whole); break;
    default: numbers_store(to, &narrow, dtype, 0, 1);
    }
}

/* Cut off in double: float32 would round 254.99999999 up first. */
static double cut_off(double x, int32_t least, int32_t most)
{
    if (!(x > least)) return x <= least ? least : 0; /* 0: NaN */
    return x < most ? (int32_t)x : most;
}

static double held_by(double x, sl_dtype dtype)
{
    switch (dtype) {
    case SL_INT32: return cut_off(x, INT32_MIN, INT32_MAX);
    case SL_UINT8: return cut_off(x, 0, UINT8_MAX);
    default: return x;
    }
}

/* How many elements pass through float32 at a time. */
enum { PART_ELEMS = 256 };

static void widen_floats(double *to, const void *from, sl_dtype dtype, int64_t first, size_t n)
{
    float part[PART_ELEMS];
    for (size_t done = 0, len; done < n; done += len) {
        len = n - done < PART_ELEMS ? n - done : PART_ELEMS;
        numbers_load(part, from, dtype, first + (int64_t)done, len);
        for (size_t i = 0; i < len; i++)
            to[done + i] = part[i];
    }
}

static void widen_wholes(double *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t whole;
        memcpy(&whole, from + i * sizeof whole, sizeof whole);
        to[i] = whole;
    }
}

void numbers_widen(double *to, const void *from, sl_dtype dtype, int64_t first, size_t n)
{
    const uint8_t *bytes = (const uint8_t *)from + (size_t)first * numbers_dtype_bytes(dtype);
    switch (dtype) {
    case SL_FLOAT64: memcpy(to, bytes, n * sizeof *to); break;
    case SL_INT32: widen_wholes(to, bytes, n); break;
    default: widen_floats(to, from, dtype, first, n);
    }
}

static void narrow_floats(void *to, const double *from, sl_dtype dtype, int64_t first, size_t n)
{
    float part[PART_ELEMS];
    for (size_t done = 0, len; done < n; done += len) {
        len = n - done < PART_ELEMS ? n - done : PART_ELEMS;
        for (size_t i = 0; i < len; i++)
            part[i] = (float)held_by(from[done + i], dtype);
        numbers_store(to, part, dtype, first + (int64_t)done, len);
    }
}

static void narrow_wholes(uint8_t *to, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t whole = (int32_t)held_by(from[i], SL_INT32);
        memcpy(to + i * sizeof whole, &whole, sizeof whole);
    }
}

void numbers_narrow(void *to, const double *from, sl_dtype dtype, int64_t first, size_t n)
{
    uint8_t *bytes = (uint8_t *)to + (size_t)first * numbers_dtype_bytes(dtype);
    switch (dtype) {
    case SL_FLOAT64: memcpy(bytes, from, n * sizeof *from); break;
    case SL_INT32: narrow_wholes(bytes, from, n); break;
    default: narrow_floats(to, from, dtype, first, n);
    }
}
