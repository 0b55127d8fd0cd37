/* philox.c - Philox4x32-10, and the uniform and normal tensors made of it.
 *
 * Everything here is integer arithmetic up to one last conversion, which is
 * exact (uniform) or rounds to nearest even (normal), times a power of two. So
 * there is nothing for a compiler to contract or reorder: a CUDA kernel that
 * follows the two comments below gives the same bits.
 */
#include "philox.h"

#include "philox_table.h"

void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static void block_words(uint64_t seed, uint64_t tensor_id, uint64_t block, uint32_t words[4])
{
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)tensor_id,
                                 (uint32_t)(tensor_id >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    philox4x32_10(counter, key, words);
}

/* Element i is lane i % 4 of block i / 4: (word >> 8) * 2^-24. */
void philox_uniform(uint64_t seed, uint64_t tensor_id, uint64_t first, size_t n, float *out)
{
    uint32_t words[4];
    for (size_t i = 0; i < n; i++) {
        uint64_t element = first + i;
        if (i == 0 || element % 4 == 0)
            block_words(seed, tensor_id, element / 4, words);
        out[i] = (float)(words[element % 4] >> 8) * 0x1p-24f;
    }
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
float philox_normal_of(uint32_t w0, uint32_t w1)
{
    uint32_t octave = (uint32_t)__builtin_clz(w0 | 1u);
    const uint32_t *row = philox_normal_rows[PHILOX_PARTS * octave + (w1 >> 29)];
    uint64_t t = w1 & 0xFFFFFFu;
    uint64_t slope = row[1] + ((t * row[2]) >> 24);
    int32_t y = (int32_t)(row[0] + ((t * slope) >> 24));
    if (w1 & 0x10000000u)
        y = -y;
    return (float)y * 0x1p-26f;
}

/* Element i is made of words 2 (i % 2) and 2 (i % 2) + 1 of block i / 2. */
void philox_normal(uint64_t seed, uint64_t tensor_id, uint64_t first, size_t n, float *out)
{
    uint32_t words[4];
    for (size_t i = 0; i < n; i++) {
        uint64_t element = first + i;
        if (i == 0 || element % 2 == 0)
            block_words(seed, tensor_id, element / 2, words);
        uint32_t lane = 2 * (uint32_t)(element % 2);
        out[i] = philox_normal_of(words[lane], words[lane + 1]);
    }
}
