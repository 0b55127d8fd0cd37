/* half.h - bfloat16 and float16 as float32 and back, and TF32's rounding.
 *
 * Kernels compute in float32 and round to nearest even on store, as the GPU does. NaNs stay NaNs
 * and become quiet. The inputs of a TF32 matmul are rounded to nearest, ties away from zero (PTX:
 * cvt.rna.tf32).
 */
#ifndef NUMBERS_HALF_H
#define NUMBERS_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t half_bits_of_float(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float half_float_of_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline float half_float_of_bf16(uint16_t h) { return half_float_of_bits((uint32_t)h << 16); }

static inline uint16_t half_bf16_of_float(float x)
{
    uint32_t u = half_bits_of_float(x);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) /* NaN */
        return (uint16_t)((u >> 16) | 0x40u);
    return (uint16_t)((u + 0x7FFFu + ((u >> 16) & 1u)) >> 16);
}

static inline float half_float_of_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t exponent = (h >> 10) & 0x1Fu, fraction = h & 0x3FFu;
    if (exponent == 0) { /* zero, subnormal: fraction * 2^-24, exact */
        float x = (float)fraction * 0x1p-24f;
        return half_float_of_bits(half_bits_of_float(x) | sign);
    }
    if (exponent == 0x1Fu) /* infinity, NaN */
        return half_float_of_bits(sign | 0x7F800000u | (fraction << 13)
                                  | (fraction ? 0x400000u : 0));
    return half_float_of_bits(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

static inline uint16_t half_f16_of_float(float x)
{
    uint32_t u = half_bits_of_float(x);
    uint16_t sign = (uint16_t)((u >> 16) & 0x8000u);
    u &= 0x7FFFFFFFu;
    if (u > 0x7F800000u) /* NaN */
        return (uint16_t)(sign | 0x7E00u | ((u >> 13) & 0x3FFu));
    if (u >= 0x477FF000u) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7C00u);
    if (u < 0x38800000u) {   /* below 2^-14: subnormal or zero */
        if (u < 0x33000000u) /* below 2^-25 */
            return sign;
        uint32_t shift = 126u - (u >> 23); /* 14 .. 24 */
        uint32_t fraction = (u & 0x7FFFFFu) | 0x800000u;
        uint32_t h = fraction >> shift, rest = fraction & ((1u << shift) - 1);
        uint32_t half = 1u << (shift - 1);
        h += rest > half || (rest == half && (h & 1u));
        return (uint16_t)(sign | h);
    }
    u += 0xFFFu + ((u >> 13) & 1u); /* a carry into the exponent is right */
    return (uint16_t)(sign | ((u - 0x38000000u) >> 13));
}

/* TF32 keeps 10 bits of the fraction: to nearest, ties away from zero (cvt.rna). */
static inline float half_tf32_of_float(float x)
{
    uint32_t u = half_bits_of_float(x);
    if ((u & 0x7F800000u) == 0x7F800000u) /* infinity, NaN */
        return x;
    return half_float_of_bits((u + 0x1000u) & 0xFFFFE000u);
}

#endif
