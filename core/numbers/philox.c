/* philox.c - uniform and normal tensors from Philox4x32-10. philox_core.h has the arithmetic,
 * philox_words.c the fast loops. */
#include "philox.h"

#include <string.h>

#include "philox_core.h"
#include "philox_words.h"

enum { WORDS = 512, SIDE = PHILOX_SIDE_WORDS }; /* WORDS at a time */

static size_t groups_of(size_t n_words) { return (n_words + SIDE - 1) / SIDE; }

/* Element i is lane i % 4 of block i / 4. Whole groups are converted, since the compiler knows
 * their length. */
void philox_uniform(uint64_t seed, uint64_t sequence, uint64_t first, size_t n, float *out)
{
    uint32_t words[WORDS];
    float x[WORDS];
    while (n > 0) {
        const size_t skip = first % 4;
        const size_t count = n < WORDS - skip ? n : WORDS - skip;
        const size_t n_groups = groups_of(skip + count);
        philox_words(seed, sequence, first / 4, n_groups, words);
        for (size_t group = 0; group < n_groups; group++)
            for (size_t i = group * SIDE; i < (group + 1) * SIDE; i++)
                x[i] = philox_uniform_number(words[i]);
        memcpy(out, x + skip, count * sizeof *out);
        first += count;
        out += count;
        n -= count;
    }
}

/* Element i is made of words 2 (i % 2) and 2 (i % 2) + 1 of block i / 2. */
void philox_normal(uint64_t seed, uint64_t sequence, uint64_t first, size_t n, float *out)
{
    uint32_t words[WORDS];
    while (n > 0) {
        const size_t skip = first % 2;
        const size_t count = n < WORDS / 2 - skip ? n : WORDS / 2 - skip;
        philox_words(seed, sequence, first / 2, groups_of(2 * (skip + count)), words);
        for (size_t i = 0; i < count; i++)
            out[i] = philox_normal_number(words[2 * (skip + i)], words[2 * (skip + i) + 1]);
        first += count;
        out += count;
        n -= count;
    }
}
