/* philox_core.h - the arithmetic of Philox4x32-10 and of uniform and normal numbers, for the CPU
 * and the GPU.
 *
 * Everything is integer arithmetic, except for one last conversion, which is exact (uniform) or
 * rounds to nearest even (normal), times a power of two. Compilers cannot contract or reorder it,
 * so all give the same bits.
 *
 * A CUDA file defines PHILOX_INLINE and PHILOX_TABLE_CONST, the qualifiers of functions and tables,
 * before it includes this.
 */
#ifndef NUMBERS_PHILOX_CORE_H
#define NUMBERS_PHILOX_CORE_H

#include <stdint.h>

#include "philox_table.h"

#ifndef PHILOX_INLINE
#define PHILOX_INLINE static inline
#endif

enum { PHILOX_ROUNDS = 10 };
#define PHILOX_MULTIPLIER_0 0xD2511F53u
#define PHILOX_MULTIPLIER_1 0xCD9E8D57u
#define PHILOX_KEY_STEP_0 0x9E3779B9u
#define PHILOX_KEY_STEP_1 0xBB67AE85u

/* The counter becomes the random words. */
PHILOX_INLINE void philox_rounds(uint32_t word[4], uint32_t key0, uint32_t key1)
{
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)PHILOX_MULTIPLIER_0 * word[0];
        uint64_t p1 = (uint64_t)PHILOX_MULTIPLIER_1 * word[2];
        word[0] = (uint32_t)(p1 >> 32) ^ word[1] ^ key0;
        word[1] = (uint32_t)p1;
        word[2] = (uint32_t)(p0 >> 32) ^ word[3] ^ key1;
        word[3] = (uint32_t)p0;
        key0 += PHILOX_KEY_STEP_0;
        key1 += PHILOX_KEY_STEP_1;
    }
}

/* In [0, 1). The 24 bits are exact in a float. */
PHILOX_INLINE float philox_uniform_number(uint32_t word)
{
    return (float)(int32_t)(word >> 8) * 0x1p-24f;
}

PHILOX_INLINE uint32_t philox_leading_zeros(uint32_t nonzero)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__clz((int)nonzero);
#else
    return (uint32_t)__builtin_clz(nonzero);
#endif
}

/* The quantile of the normal distribution at a probability made of two words:
 *
 *   octave z   = leading zeros of (w0 | 1), 0..31: an octave of the tail
 *   part j     = bits 31..29 of w1: an eighth of that octave
 *   sign       = bit 28 of w1: set is negative
 *   t          = bits 23..0 of w1: where in that eighth, in units of 2^-24
 *   c0, c1, c2 = row 8 z + j of philox_table.h
 *   y          = c0 + ((t (c1 + ((t c2) >> 24))) >> 24)       in unsigned 64 bits
 *   result     = (float)(sign ? -y : y) 2^-26                 from signed 32 bits
 *
 * Octave z has the probability 2^-(z+1), as the tail has. The last one also
 * takes what is beyond it (2^-32), so that no |value| exceeds 6.34. */
PHILOX_INLINE float philox_normal_number(uint32_t w0, uint32_t w1)
{
    uint32_t octave = philox_leading_zeros(w0 | 1u);
    const uint32_t *row = philox_normal_rows[PHILOX_PARTS * octave + (w1 >> 29)];
    uint64_t t = w1 & 0xFFFFFFu;
    uint64_t slope = row[1] + ((t * row[2]) >> 24);
    int32_t y = (int32_t)(row[0] + ((t * slope) >> 24));
    if (w1 & 0x10000000u) y = -y;
    return (float)y * 0x1p-26f;
}

#endif
