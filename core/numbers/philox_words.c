/* philox_words.c - Philox4x32-10 on eight blocks side by side.
 *
 * One block is a chain of ten rounds, each of which waits for the multiplications of the round
 * before; eight blocks at once fill the CPU's pipelines and vectors. From plain C the compiler
 * makes vectors of 128 bits on x86, so there is a second version for CPUs with 256.
 */
#include "philox_words.h"

#include "philox_core.h"

enum { SIDE = PHILOX_SIDE_BLOCKS };

static void plain_group(const uint32_t key[2], uint64_t sequence, uint64_t block, uint32_t *words)
{
    uint32_t c0[SIDE], c1[SIDE], c2[SIDE], c3[SIDE], k0 = key[0], k1 = key[1];
    for (int i = 0; i < SIDE; i++) {
        c0[i] = (uint32_t)(block + (uint64_t)i);
        c1[i] = (uint32_t)((block + (uint64_t)i) >> 32);
        c2[i] = (uint32_t)sequence;
        c3[i] = (uint32_t)(sequence >> 32);
    }
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        for (int i = 0; i < SIDE; i++) {
            uint64_t p0 = (uint64_t)PHILOX_MULTIPLIER_0 * c0[i];
            uint64_t p1 = (uint64_t)PHILOX_MULTIPLIER_1 * c2[i];
            c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
            c1[i] = (uint32_t)p1;
            c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
            c3[i] = (uint32_t)p0;
        }
        k0 += PHILOX_KEY_STEP_0;
        k1 += PHILOX_KEY_STEP_1;
    }
    for (int i = 0; i < SIDE; i++) {
        words[4 * i] = c0[i];
        words[4 * i + 1] = c1[i];
        words[4 * i + 2] = c2[i];
        words[4 * i + 3] = c3[i];
    }
}

void philox_words_plain(uint64_t seed, uint64_t sequence, uint64_t block, size_t n_groups,
                        uint32_t *words)
{
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    for (size_t g = 0; g < n_groups; g++)
        plain_group(key, sequence, block + g * SIDE, words + g * PHILOX_SIDE_WORDS);
}

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

/* Four blocks. A counter word takes 64 bits, whose upper half is ignored, so that products need no
 * rearranging between rounds. */
AVX2 static inline void avx2_quad(const uint32_t key[2], uint64_t sequence, uint64_t block,
                                  uint32_t *words)
{
    const __m256i m0 = _mm256_set1_epi64x(PHILOX_MULTIPLIER_0);
    const __m256i m1 = _mm256_set1_epi64x(PHILOX_MULTIPLIER_1);
    __m256i c0 = _mm256_add_epi64(_mm256_set1_epi64x((long long)block),
                                  _mm256_set_epi64x(3, 2, 1, 0));
    __m256i c1 = _mm256_srli_epi64(c0, 32);
    __m256i c2 = _mm256_set1_epi64x((long long)sequence), c3 = _mm256_srli_epi64(c2, 32);
    uint32_t k0 = key[0], k1 = key[1];
#pragma GCC unroll 10
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        __m256i p0 = _mm256_mul_epu32(c0, m0), p1 = _mm256_mul_epu32(c2, m1);
        c0 = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1);
        c0 = _mm256_xor_si256(c0, _mm256_set1_epi64x(k0));
        c1 = p1;
        c2 = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3);
        c2 = _mm256_xor_si256(c2, _mm256_set1_epi64x(k1));
        c3 = p0;
        k0 += PHILOX_KEY_STEP_0;
        k1 += PHILOX_KEY_STEP_1;
    }
    __m256i w01 = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), 0xAA);
    __m256i w23 = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), 0xAA);
    __m256i even = _mm256_unpacklo_epi64(w01, w23); /* blocks 0 and 2 */
    __m256i odd = _mm256_unpackhi_epi64(w01, w23);  /* 1 and 3 */
    _mm256_storeu_si256((__m256i *)words, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(words + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

AVX2 static void avx2_words(uint64_t seed, uint64_t sequence, uint64_t block, size_t n_groups,
                            uint32_t *words)
{
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    for (size_t i = 0; i < n_groups * SIDE; i += 4)
        avx2_quad(key, sequence, block + i, words + 4 * i);
}

void philox_words(uint64_t seed, uint64_t sequence, uint64_t block, size_t n_groups,
                  uint32_t *words)
{
    if (__builtin_cpu_supports("avx2"))
        avx2_words(seed, sequence, block, n_groups, words);
    else
        philox_words_plain(seed, sequence, block, n_groups, words);
}

#else

void philox_words(uint64_t seed, uint64_t sequence, uint64_t block, size_t n_groups,
                  uint32_t *words)
{
    philox_words_plain(seed, sequence, block, n_groups, words);
}

#endif
