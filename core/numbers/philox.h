/* philox.h - Philox4x32-10 (Salmon et al., SC'11), the laboratory's random numbers.
 *
 * key = seed; counter = (block low, block high, sequence low, sequence high);
 * element i is lane i % 4 of block i / 4. So any slice of any tensor can be
 * computed by itself, and the CUDA backend gives the same bits.
 */
#ifndef NUMBERS_PHILOX_H
#define NUMBERS_PHILOX_H

#include <stddef.h>
#include <stdint.h>

/* Elements [first, first + n) of the uniform tensor: (x >> 8) * 2^-24, in [0, 1). */
void philox_uniform(uint64_t seed, uint64_t sequence, uint64_t first, size_t n, float *out);

/* The same for a standard normal tensor, by integer arithmetic up to a last
 * conversion, so that CPU and GPU agree to the bit: element i from two words of
 * block i / 2 (see philox_core.h). */
void philox_normal(uint64_t seed, uint64_t sequence, uint64_t first, size_t n, float *out);

#endif
